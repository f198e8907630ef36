//! Activation functions and elementwise losses.
//!
//! A piecewise function evaluates each piece only where it is selected: an overflow elsewhere would turn the gradient
//! into NaN.

use pir_dialects::pd;
use std::f64::consts::{FRAC_1_SQRT_2, PI};

use super::super::value::V;
use super::{Rule, X, Y, composite, one, two};

pub(super) const RULES: &[Rule] = &[
    composite(pd::Gelu::NAME, |c| {
        let x = c.x();
        let share = match c.bool("approximate", false) {
            false => (x.clone() * FRAC_1_SQRT_2).call("erf"),
            true => ((x.clone() + x.square() * x.clone() * 0.044_715) * (2.0 / PI).sqrt()).call("tanh"),
        };
        vec![x * (share + 1.0) * 0.5]
    }),
    composite(pd::Silu::NAME, |c| vec![c.x() * c.x().call("sigmoid")]),
    composite(pd::Swish::NAME, |c| vec![c.x() * c.x().call("sigmoid")]),
    composite(pd::Softplus::NAME, |c| {
        let (beta, threshold) = (c.float("beta", 1.0), c.float("threshold", 20.0));
        vec![softplus(&(c.x() * beta), threshold) * (1.0 / beta)]
    }),
    composite(pd::Elu::NAME, |c| vec![elu(&c.x(), c.float("alpha", 1.0), 1.0)]),
    composite(pd::Selu::NAME, |c| {
        let (scale, alpha) = (
            c.float("scale", 1.050_700_987_355_480_5),
            c.float("alpha", 1.673_263_242_354_377_2),
        );
        vec![elu(&c.x(), alpha, 1.0) * scale]
    }),
    composite(pd::Celu::NAME, |c| {
        let alpha = c.float("alpha", 1.0);
        vec![elu(&c.x(), alpha, alpha)]
    }),
    composite(pd::LeakyRelu::NAME, |c| {
        let x = c.x();
        let steep = x.clone() * c.float("negative_slope", 0.02);
        vec![above(&x, 0.0).choose(&x, &steep)]
    }),
    composite(pd::Relu6::NAME, |c| vec![limited(&c.x(), 0.0, 6.0)]),
    composite(pd::Hardswish::NAME, |c| {
        vec![c.x() * limited(&(c.x() + 3.0), 0.0, 6.0) * (1.0 / 6.0)]
    }),
    composite(pd::Hardsigmoid::NAME, |c| {
        vec![limited(
            &c.x().affine(c.float("slope", 0.2), c.float("offset", 0.5)),
            0.0,
            1.0,
        )]
    }),
    composite(pd::Hardtanh::NAME, |c| {
        vec![limited(&c.x(), c.float("t_min", 0.0), c.float("t_max", 24.0))]
    }),
    composite(pd::Mish::NAME, |c| {
        vec![c.x() * softplus(&c.x(), c.float("lambda", 20.0)).call("tanh")]
    }),
    composite(pd::Logsigmoid::NAME, |c| vec![-softplus(&-c.x(), 40.0)]),
    one(pd::Softsign::NAME, X, |c| {
        let share = (c.x().call("abs") + 1.0).call("reciprocal");
        c.grad() * share.square()
    }),
    composite(pd::TanhShrink::NAME, |c| vec![c.x() - c.x().call("tanh")]),
    composite(pd::Softshrink::NAME, |c| {
        let (x, t) = (c.x(), c.float("threshold", 0.5));
        let low = below(&x, -t).choose(&(x.clone() + t), &x.filled(0.0));
        vec![above(&x, t).choose(&(x + -t), &low)]
    }),
    composite(pd::Hardshrink::NAME, |c| {
        let x = c.x();
        vec![above(&x.call("abs"), c.float("threshold", 0.5)).choose(&x, &x.filled(0.0))]
    }),
    composite(pd::ThresholdedRelu::NAME, |c| {
        let x = c.x();
        vec![above(&x, c.float("threshold", 1.0)).choose(&x, &x.filled(c.float("value", 0.0)))]
    }),
    composite(pd::Stanh::NAME, |c| {
        vec![(c.x() * c.float("scale_a", 0.67)).call("tanh") * c.float("scale_b", 1.7159)]
    }),
    one(pd::Asinh::NAME, X, |c| c.grad() * (c.x().square() + 1.0).call("rsqrt")),
    one(pd::Acosh::NAME, X, |c| c.grad() * (c.x().square() + -1.0).call("rsqrt")),
    one(pd::Atanh::NAME, X, |c| c.grad() / (1.0 - c.x().square())),
    composite(pd::Swiglu::NAME, |c| {
        let (x, y) = match c.num_inputs() {
            1 => {
                let (axis, n) = (c.rank(0).max(1) - 1, c.shape(0).last().copied().unwrap_or(0));
                (c.x().part(axis, 0, n / 2), c.x().part(axis, n / 2, n))
            }
            _ => (c.x(), c.y()),
        };
        vec![x.clone() * x.call("sigmoid") * y]
    }),
    two(
        pd::BceLoss::NAME,
        X | Y,
        |c| {
            // A lower bound for p(1 - p) keeps the gradient finite where the probability is 0 or 1.
            let spread = c.x() * (1.0 - c.x());
            let spread = spread.with("maximum", &spread.filled(1e-12));
            c.grad() * ((c.x() - c.y()) / spread)
        },
        |c| c.grad() * (log_of(&(1.0 - c.x())) - log_of(&c.x())),
    ),
    composite(pd::Prelu::NAME, |c| {
        let (x, mut shape) = (c.x(), vec![1; c.rank(0)]);
        let channel = if c.text("data_format") == Some("NHWC") {
            shape.len() - 1
        } else {
            1
        };
        match c.text("mode") {
            Some("channel") => shape[channel] = c.shape(0)[channel],
            Some("element") => shape[1..].copy_from_slice(&c.shape(0)[1..]),
            _ => {}
        }
        let less = c.y().reshape(&shape) * x.clone();
        vec![above(&x, 0.0).choose(&x, &less)]
    }),
    composite(pd::LogLoss::NAME, |c| {
        let (p, t, e) = (c.x(), c.y(), c.float("epsilon", 1e-4));
        let (yes, no) = ((p.clone() + e).call("log"), p.affine(-1.0, 1.0 + e).call("log"));
        vec![-(t.clone() * yes + (1.0 - t) * no)]
    }),
    composite(pd::HuberLoss::NAME, |c| {
        let (r, delta) = (c.y() - c.x(), c.float("delta", 1.0));
        let size = r.call("abs");
        let steep = size.affine(delta, -0.5 * delta * delta);
        vec![above(&size, delta).choose(&steep, &(r.square() * 0.5)), r]
    }),
    composite(pd::KldivLoss::NAME, |c| {
        let (x, t) = (c.x(), c.y());
        let parts = if c.bool("log_target", false) {
            t.exp() * (t - x)
        } else {
            let some = above(&t, 0.0);
            let log = some.choose(&t, &t.filled(1.0)).call("log");
            let part = t.clone() * (log - x);
            some.choose(&part, &part.filled(0.0))
        };
        let shape = parts.shape();
        let count = match c.text("reduction").unwrap_or("mean") {
            "none" => return vec![parts],
            "mean" => shape.iter().product(),
            "batchmean" => c.shape(0).first().copied().unwrap_or(1),
            _ => 1,
        };
        let axes: Vec<usize> = (0..shape.len()).collect();
        vec![parts.sum(&axes, false) * (1.0 / count as f64)]
    }),
    composite(pd::SigmoidCrossEntropyWithLogits::NAME, |c| {
        let (x, t) = (c.x(), c.y());
        let none = t.filled(c.int("ignore_index", -100) as f64);
        let rest = 1.0 - t.clone();
        let mut soft = softplus(&-x.clone(), 40.0);
        if let Some(at) = c.declared(2) {
            soft = c.arg(at) * soft;
        }
        let loss = rest * x + soft;
        let mut loss = t.with("equal", &none).choose(&loss.filled(0.0), &loss);
        if c.bool("normalize", false) {
            let counted = t
                .with("not_equal", &none)
                .tensor
                .map(|t| t.to_i64().iter().sum::<i64>());
            loss = loss * (1.0 / counted.unwrap_or(1).max(1) as f64);
        }
        vec![loss]
    }),
];

fn above<'e>(x: &V<'e>, bound: f64) -> V<'e> {
    x.with("greater_than", &x.filled(bound))
}

fn below<'e>(x: &V<'e>, bound: f64) -> V<'e> {
    x.with("less_than", &x.filled(bound))
}

/// Constant outside of its bounds, and for NaN.
fn limited<'e>(x: &V<'e>, low: f64, high: f64) -> V<'e> {
    let (bottom, top) = (x.filled(low), x.filled(high));
    let inside = x
        .with("greater_than", &bottom)
        .with("logical_and", &x.with("less_than", &top));
    let edge = x.with("less_equal", &bottom).choose(&bottom, &x.detached());
    let edge = x.with("greater_equal", &top).choose(&top, &edge);
    inside.choose(x, &edge)
}

/// `log(1 + exp(x))`, or x itself above a threshold.
fn softplus<'e>(x: &V<'e>, threshold: f64) -> V<'e> {
    let large = above(x, threshold);
    let small = large.choose(&x.filled(0.0), x);
    large.choose(x, &small.exp().call("log1p"))
}

/// x, or `alpha * (exp(x / width) - 1)` below zero.
fn elu<'e>(x: &V<'e>, alpha: f64, width: f64) -> V<'e> {
    let positive = above(x, 0.0);
    let negative = positive.choose(&x.filled(0.0), x) * (1.0 / width);
    positive.choose(x, &(negative.call("expm1") * alpha))
}

/// The logarithm, bounded below by -100.
fn log_of<'e>(p: &V<'e>) -> V<'e> {
    let log = p.call("log");
    log.with("maximum", &log.filled(-100.0))
}
