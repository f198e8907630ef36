//! Layers: softmax, losses, normalizations, dropout.

use super::super::value::V;
use super::elementwise::failed;
use super::{Cx, OUTPUTS, Rule, composite, one};
use crate::kernels::{around, axis};
use crate::tensor::{DType, Tensor as Dense};
use pir_dialects::pd;

pub(super) const RULES: &[Rule] = &[
    composite(pd::Softmax::NAME, |c| vec![along(c, |x, at| exponentials(x, at).0)]),
    composite(pd::LogSoftmax::NAME, |c| vec![along(c, log_softmax)]),
    composite(pd::SoftmaxGrad::NAME, |c| {
        vec![along(c, |out, at| {
            let g = c.y().reshape(&out.shape());
            out.clone() * (g.clone() - (g * out.clone()).sum(&[at], true))
        })]
    }),
    composite(pd::LogSoftmaxGrad::NAME, |c| {
        vec![along(c, |out, at| {
            let g = c.y().reshape(&out.shape());
            g.clone() - out.exp() * g.sum(&[at], true)
        })]
    }),
    composite(pd::LayerNorm::NAME, |c| {
        let shape = c.shape(0);
        let begin = c.int("begin_norm_axis", 1);
        match axis(begin, shape.len()) {
            Ok(begin) => {
                let (rows, size) = (shape[..begin].iter().product(), shape[begin..].iter().product());
                let n = Normal::of(c, &widened(c.x()).reshape(&[rows, size]));
                let out = scaled(c, n.normal, 1, &[1, size]).reshape(&shape).cast(c.x().dtype());
                vec![
                    out,
                    n.mean.reshape(&c.out_shape(1)),
                    n.variance.reshape(&c.out_shape(2)),
                ]
            }
            Err(e) => vec![failed(c, &e)],
        }
    }),
    composite(pd::GroupNorm::NAME, |c| {
        let groups = usize::try_from(c.int("groups", -1)).unwrap_or(1);
        let n = channels(c, 1, |_| groups);
        vec![
            n.normal.cast(c.x().dtype()),
            n.mean.reshape(&c.out_shape(1)),
            n.variance.reshape(&c.out_shape(2)),
        ]
    }),
    composite(pd::InstanceNorm::NAME, |c| {
        let n = channels(c, 1, |channels| channels);
        vec![
            n.normal.cast(c.x().dtype()),
            n.mean.reshape(&c.out_shape(1)),
            n.factor.reshape(&c.out_shape(2)),
        ]
    }),
    composite(pd::BatchNorm::NAME, batch_norm),
    composite(pd::CrossEntropyWithSoftmax::NAME, cross_entropy),
    one(pd::Dropout::NAME, OUTPUTS, |c| {
        let p = c.float("p", 0.5);
        let upscale = c.text("mode").is_none_or(|mode| mode == "upscale_in_train");
        let factor = match (c.bool("is_test", false), upscale) {
            (false, true) if p < 1.0 => 1.0 / (1.0 - p),
            (true, false) => 1.0 - p,
            _ => 1.0,
        };
        c.grad() * c.result(1).cast(c.dtype(0)) * factor
    }),
    composite(pd::CoalesceTensor::NAME, |c| {
        let inputs: Vec<V<'_>> = (0..c.num_inputs()).map(|at| c.arg(at)).collect();
        if c.bool("set_constant", false) {
            return inputs
                .iter()
                .map(|x| x.filled(0.0))
                .chain([c.g(inputs.len()).filled(0.0)])
                .collect();
        }
        let flat: Vec<V<'_>> = inputs
            .iter()
            .map(|x| x.reshape(&[x.shape().iter().product()]))
            .collect();
        let fused = V::concat(c.engine, &flat, 0).cast(c.g(inputs.len()).dtype());
        inputs.into_iter().chain([fused]).collect()
    }),
];

/// Applies a function along the axis of an attribute; a scalar is treated as a vector of one element.
fn along<'e>(c: &Cx<'e>, f: impl FnOnce(&V<'e>, usize) -> V<'e>) -> V<'e> {
    let shape = c.shape(0);
    let x = if shape.is_empty() { c.x().reshape(&[1]) } else { c.x() };
    match axis(c.int("axis", -1), shape.len().max(1)) {
        Ok(at) => f(&x, at).reshape(&shape),
        Err(e) => failed(c, &e),
    }
}

/// The exponentials divided by their sum, the logarithm of that sum, and the shifted operand: the maximum is
/// subtracted, and treated as a constant since it does not affect the result.
fn exponentials<'e>(x: &V<'e>, at: usize) -> (V<'e>, V<'e>, V<'e>) {
    let shifted = x.clone() - x.detached().maximum(at);
    let e = shifted.exp();
    let sum = e.sum(&[at], true);
    (e / sum.clone(), sum.call("log"), shifted)
}

fn log_softmax<'e>(x: &V<'e>, at: usize) -> V<'e> {
    let (_, log, shifted) = exponentials(x, at);
    shifted - log
}

/// Rows normalized to mean 0 and variance 1.
struct Normal<'e> {
    normal: V<'e>,
    mean: V<'e>,
    variance: V<'e>,
    /// The reciprocal of the standard deviation.
    factor: V<'e>,
}

impl<'e> Normal<'e> {
    fn of(c: &Cx<'e>, rows: &V<'e>) -> Self {
        let count = rows.shape().get(1).copied().unwrap_or(1) as f64;
        let mean = rows.sum(&[1], true) * (1.0 / count);
        let centred = rows.clone() - mean.clone();
        let variance = centred.square().sum(&[1], true) * (1.0 / count);
        let factor = (variance.clone() + c.float("epsilon", 1e-5)).call("rsqrt");
        Normal {
            normal: centred * factor.clone(),
            mean,
            variance,
            factor,
        }
    }
}

/// In single precision what is of a lower one.
fn widened<'e>(x: V<'e>) -> V<'e> {
    match x.dtype() {
        DType::F16 | DType::BF16 => x.cast(DType::F32),
        _ => x,
    }
}

/// Applies the scale and the shift, declared at `first` and `first + 1`.
fn scaled<'e>(c: &Cx<'e>, x: V<'e>, first: usize, shape: &[usize]) -> V<'e> {
    let mut out = x;
    if let Some(at) = c.declared(first) {
        out = out.clone() * c.arg(at).cast(out.dtype()).reshape(shape);
    }
    if let Some(at) = c.declared(first + 1) {
        out = out.clone() + c.arg(at).cast(out.dtype()).reshape(shape);
    }
    out
}

/// Moves the channels to the second dimension, or back.
fn channels_first<'e>(c: &Cx<'e>, x: &V<'e>, back: bool) -> V<'e> {
    let rank = x.rank();
    if c.text("data_format") != Some("NHWC") || rank < 2 {
        return x.clone();
    }
    let mut perm: Vec<usize> = (0..rank).collect();
    if back {
        perm[1..].rotate_left(1);
    } else {
        perm[1..].rotate_right(1);
    }
    x.transpose(&perm)
}

/// Normalizes groups of channels of each image.
fn channels<'e>(c: &Cx<'e>, first: usize, groups: impl FnOnce(usize) -> usize) -> Normal<'e> {
    let x = channels_first(c, &widened(c.x()), false);
    let shape = x.shape();
    let (n, count) = (shape.first().copied().unwrap_or(1), shape.get(1).copied().unwrap_or(1));
    let area: usize = shape.iter().skip(2).product();
    let groups = groups(count).max(1);
    let mut normal = Normal::of(c, &x.reshape(&[n * groups, count / groups * area]));
    let out = scaled(c, normal.normal.reshape(&[n, count, area]), first, &[1, count, 1]);
    normal.normal = channels_first(c, &out.reshape(&shape), true);
    normal
}

fn batch_norm<'e>(c: &Cx<'e>) -> Vec<V<'e>> {
    let x = channels_first(c, &c.x(), false);
    let shape = x.shape();
    let (n, count) = (shape.first().copied().unwrap_or(1), shape.get(1).copied().unwrap_or(1));
    let area: usize = shape.iter().skip(2).product();
    let by_channel = x
        .reshape(&[n, count, area])
        .transpose(&[1, 0, 2])
        .reshape(&[count, n * area]);
    let (mean, variance) = (c.arg(1), c.arg(2));
    let test = c.bool("is_test", false) && !c.bool("trainable_statistics", false);
    let (normal, statistics) = if test || c.bool("use_global_stats", false) {
        let column = |v: &V<'e>| v.cast(x.dtype()).reshape(&[count, 1]);
        let factor = (variance.clone() + c.float("epsilon", 1e-5)).call("rsqrt");
        let normal = (by_channel - column(&mean)) * column(&factor);
        (normal, [mean.clone(), variance, mean, factor])
    } else {
        let own = Normal::of(c, &by_channel);
        let momentum = c.float("momentum", 0.9);
        let flat = |v: V<'e>| v.reshape(&[count]).cast(c.dtype(1));
        let (own_mean, own_variance) = (flat(own.mean), flat(own.variance));
        let running = |old: V<'e>, new: &V<'e>| old * momentum + new.clone() * (1.0 - momentum);
        let statistics = [
            running(mean, &own_mean),
            running(variance, &own_variance),
            own_mean,
            flat(own.factor),
        ];
        (own.normal, statistics)
    };
    let out = scaled(c, normal, 3, &[count, 1]);
    let out = out.reshape(&[count, n, area]).transpose(&[1, 0, 2]).reshape(&shape);
    std::iter::once(channels_first(c, &out, true))
        .chain(statistics)
        .collect()
}

fn cross_entropy<'e>(c: &Cx<'e>) -> Vec<V<'e>> {
    let shape = c.shape(0);
    let at = match axis(c.int("axis", -1), shape.len()) {
        Ok(at) => at,
        Err(e) => return vec![failed(c, &e)],
    };
    let x = c.x();
    let (softmax, logs) = match c.bool("use_softmax", true) {
        true => (exponentials(&x, at).0, log_softmax(&x, at)),
        false => (x.clone(), x.call("log")),
    };
    if c.bool("soft_label", false) {
        return vec![softmax, -(c.y() * logs).sum(&[at], true)];
    }
    let label = match c.input(1) {
        Ok(label) => label.to_i64(),
        Err(e) => return vec![failed(c, &e)],
    };
    let (_, classes, inner) = around(&shape, at);
    let ignored = c.int("ignore_index", -100);
    let place = |(row, &class): (usize, &i64)| match class {
        _ if class == ignored => -1,
        _ => ((row / inner * classes) as i64 + class) * inner as i64 + (row % inner) as i64,
    };
    let places = label.iter().enumerate().map(place).collect();
    let places = V::constant(c.engine, Dense::new(&c.out_shape(1), places));
    vec![softmax, -logs.take(&places)]
}
