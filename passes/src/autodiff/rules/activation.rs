//! Activation functions, and losses by element.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI};

use pir_dialects::pd::{self, Expr};

use super::Rule;
use super::formula::{Op, composite, derivative, slope};

/// In the approximation of gelu, the coefficient of the cube, and the slope of what tanh is of, the root of 2 / π.
const CUBIC: f64 = 0.044715;
const SLOPE_AT_ZERO: f64 = FRAC_2_SQRT_PI * FRAC_1_SQRT_2;

const GELU: Rule = composite!(Gelu, |op| op.x() * gelu_part(op).affine(0.5, 0.5));

/// Twice the share of x, minus one.
fn gelu_part<'c>(op: Op<'c, pd::Gelu>) -> Expr<'c> {
    let x = op.x();
    match op.approximate() {
        true => (x * x.square().affine(CUBIC, 1.0) * SLOPE_AT_ZERO).tanh(),
        false => (x * FRAC_1_SQRT_2).erf(),
    }
}

pub(super) const RULES: &[Rule] = &[
    // Of the composition, the derivative has a third more operations.
    Rule {
        made_of: GELU.made_of,
        ..slope!(Gelu, |op| {
            let (x, part) = (op.x(), gelu_part(op));
            let part_slope = match op.approximate() {
                true => {
                    part.square().affine(-SLOPE_AT_ZERO / 2.0, SLOPE_AT_ZERO / 2.0)
                        * x.square().affine(3.0 * CUBIC, 1.0)
                }
                false => (x * -0.5 * x).exp() * (SLOPE_AT_ZERO / 2.0),
            };
            part.affine(0.5, 0.5) + x * part_slope
        })
    },
    composite!(Silu, |op| silu(op.x())),
    composite!(Swish, |op| silu(op.x())),
    composite!(Swiglu, |op| {
        let halves = || op.x().split_with_num_with(2, |o| o.axis(-1));
        match (op.y(), op.y().is_none().then(halves).as_deref()) {
            (Some(y), _) => silu(op.x()) * y,
            (_, Some(&[x, y])) => silu(x) * y,
            _ => op.scope().fail("it cannot be split into two halves"),
        }
    }),
    composite!(Hardswish, |op| op.x() * (op.x() + 3.0).relu6() * (1.0 / 6.0)),
    composite!(Mish, |op| op.x()
        * op.x().softplus_with(|o| o.threshold(op.lambda())).tanh()),
    composite!(TanhShrink, |op| op.x() - op.x().tanh()),
    composite!(Stanh, |op| (op.x() * op.scale_a()).tanh() * op.scale_b()),
    composite!(Prelu, prelu),
    derivative!(Softsign, |op, g| g / (op.x().abs() + 1.0).square()),
    slope!(Softplus, |op| {
        let scaled = op.x() * op.beta();
        let is_linear = scaled.above(op.threshold());
        let slope = scaled.sigmoid();
        is_linear.select(op.x().ones(), slope)
    }),
    slope!(Elu, |op| exponential(op.x(), 1.0, op.alpha(), 1.0)),
    slope!(Selu, |op| exponential(op.x(), op.scale(), op.scale() * op.alpha(), 1.0)),
    slope!(Celu, |op| exponential(op.x(), 1.0, 1.0, 1.0 / op.alpha())),
    derivative!(LeakyRelu, |op, g| op.x().above(0.0).select(g, g * op.negative_slope())),
    derivative!(Relu6, |op, g| (6.0 - op.out()).relu_grad(op.out().relu_grad(g))),
    derivative!(Hardtanh, |op, g| between(op.x(), g, op.t_min(), op.t_max())),
    derivative!(Hardsigmoid, |op, g| {
        let (slope, offset) = (op.slope(), op.offset());
        let ends = [-offset / slope, (1.0 - offset) / slope];
        let inside = |g| between(op.x(), g, ends[0].min(ends[1]), ends[0].max(ends[1]));
        (slope != 0.0).then(|| inside(if slope == 1.0 { g } else { g * slope }))
    }),
    slope!(Logsigmoid, |op| (-op.x()).sigmoid()),
    derivative!(Softshrink, |op, g| op
        .x()
        .abs()
        .above(op.threshold())
        .select(g, g.zeros())),
    derivative!(Hardshrink, |op, g| op
        .x()
        .abs()
        .above(op.threshold())
        .select(g, g.zeros())),
    derivative!(ThresholdedRelu, |op, g| op
        .x()
        .above(op.threshold())
        .select(g, g.zeros())),
    derivative!(Softcap, |op, g| g * (1.0 - (op.out() * (1.0 / op.cap())).square())),
    slope!(Asinh, |op| (op.x().square() + 1.0).rsqrt()),
    slope!(Acosh, |op| (op.x().square() - 1.0).rsqrt()),
    derivative!(Atanh, |op, g| g / (1.0 - op.x().square())),
    // (p - t) / (p * (1 - p)), finite where a probability is saturated; the logarithms for the label are at least -100.
    derivative!(BceLoss, |op, g| let (p, q) = (op.input(), 1.0 - op.input()); {
        input: {
            let (difference, product) = (p - op.label(), p * q);
            g * (difference / product.maximum(product.filled(1e-12)))
        },
        label: {
            let [q, p] = [q, p].map(|x| x.log().maximum(x.filled(-100.0)));
            g * (q - p)
        },
    }),
    composite!(LogLoss, |op| {
        let e = op.epsilon().unwrap_or(1e-4);
        cross_entropy_of_two(op.label(), op.input() + e, (1.0 + e) - op.input())
    }),
    composite!(HuberLoss, |op| {
        let (residual, delta) = (op.label() - op.input(), op.delta().unwrap_or(1.0));
        let size = residual.abs();
        let is_far = size.above(delta);
        let near = residual.square() * 0.5;
        [is_far.select(size.affine(delta, -0.5 * delta * delta), near), residual]
    }),
    composite!(KldivLoss, kldiv_loss),
    composite!(NllLoss, nll_loss),
    composite!(SigmoidCrossEntropyWithLogits, logits),
];

fn silu(x: Expr<'_>) -> Expr<'_> {
    x * x.sigmoid()
}

/// The slope `scale` where x is positive, else `factor * exp(rate * x)`.
fn exponential(x: Expr<'_>, scale: f64, factor: f64, rate: f64) -> Expr<'_> {
    let (is_positive, zeros) = (x.above(0.0), x.zeros());
    // The exponential must not overflow where it is not selected.
    let safe = is_positive.select(zeros, x);
    let slope = (safe * rate).exp() * factor;
    is_positive.select(x.filled(scale), slope)
}

/// `g` between two numbers, else zero.
fn between<'c>(x: Expr<'c>, g: Expr<'c>, low: f64, high: f64) -> Expr<'c> {
    let above = x.above(low);
    let below = x.less_than(x.filled(high));
    above.logical_and(below).select(g, g.zeros())
}

/// `-t * log(p) - (1 - t) * log(q)`
fn cross_entropy_of_two<'c>(t: Expr<'c>, p: Expr<'c>, q: Expr<'c>) -> Expr<'c> {
    let (p, q) = (p.log(), q.log());
    let rest = 1.0 - t;
    -(t * p + rest * q)
}

fn prelu<'c>(op: Op<'c, pd::Prelu>) -> Result<Expr<'c>, String> {
    let (x, rank) = (op.x(), op.x().rank());
    let mut shape = vec![1; rank];
    match &*op.mode() {
        "channel" if op.data_format() == "NHWC" => shape[rank - 1] = -1,
        "channel" => shape[1] = -1,
        "element" => {
            let whole = x.static_shape();
            let whole = whole.ok_or("the derivative of `pd.prelu` by element needs a static shape")?;
            shape[1..].copy_from_slice(&whole[1..]);
        }
        _ => {}
    }
    let slope = op.alpha().reshape(shape);
    let is_positive = x.above(0.0);
    Ok(is_positive.select(x, slope * x))
}

fn kldiv_loss<'c>(op: Op<'c, pd::KldivLoss>) -> Result<Expr<'c>, String> {
    let (x, label) = (op.x(), op.label());
    let parts = if op.log_target() {
        label.exp() * (label - x)
    } else {
        // Where the label is zero, so is the part; its logarithm must not be taken there.
        let is_there = label.above(0.0);
        let (ones, zeros) = (label.ones(), label.zeros());
        let safe = is_there.select(label, ones);
        is_there.select(safe * (safe.log() - x), zeros)
    };
    Ok(match &*op.reduction() {
        "none" => parts,
        "mean" => parts.mean(),
        "batchmean" => {
            let shape = x.static_shape().ok_or("it needs a static shape")?;
            parts.sum() * (1.0 / shape.first().copied().unwrap_or(1) as f64)
        }
        _ => parts.sum(),
    })
}

/// `(1 - t) * x - w * log(sigmoid(x))`: the weight comes as 1 + (pos_weight - 1) * t
fn logits<'c>(op: Op<'c, pd::SigmoidCrossEntropyWithLogits>) -> Expr<'c> {
    let (x, label) = (op.x(), op.label());
    let linear = (1.0 - label) * x;
    let log = x.logsigmoid();
    let loss = linear - op.pos_weight().map_or(log, |weight| weight * log);
    let counts = label.not_equal(label.filled(op.ignore_index() as f64));
    let out = counts.select(loss, loss.zeros());
    if !op.normalize() {
        return out;
    }
    let count = counts.cast_like(x).sum();
    out / count.maximum(count.ones())
}

/// Minus what the label picks along axis 1, weighted.
fn nll_loss<'c>(op: Op<'c, pd::NllLoss>) -> [Expr<'c>; 2] {
    let (x, label) = (op.input(), op.label());
    let counts = label.not_equal(label.full_like_with(|o| o.value(op.ignore_index())));
    let class = counts.select(label, label.zeros());
    let mut weights = counts.cast_like(x);
    if let Some(weight) = op.weight() {
        let own = weight.gather_with(class.reshape([-1]), |o| o.axis(0));
        weights = own.reshape_like(label) * weights;
    }
    let index = class.unsqueeze_with(|o| o.axis([1]));
    let picked = x.take_along_axis_with(index, |o| o.axis(1));
    let losses = -(picked.squeeze_with(|o| o.axis([1])) * weights);
    if op.reduction() == "none" {
        let scalar = |elem| op.scope().full_with(&[], 0.0, |o| o.dtype(elem));
        return [losses, x.elem().map_or(op.scope().nothing(), scalar)];
    }
    let (sum, total) = (losses.sum(), weights.sum());
    [if op.reduction() == "sum" { sum } else { sum / total }, total]
}
