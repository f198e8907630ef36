//! Activation functions, normalisation by exponentials, and losses.

use super::elementwise::{like, limited};
use super::hlo::{reshaped, vector};
use super::{Rows, axis, rows};
use crate::pd::Expr;

pub(super) const ROWS: Rows = rows! {
    Softplus |c, op| {
        let x = c.x(0);
        let scaled = times(x, op.beta());
        scaled.greater_than(like(x, op.threshold())).select(x, log_one_plus_exp(scaled) / like(x, op.beta()))
    };
    Elu |c, op| exponential(c.x(0), 1.0, op.alpha(), 1.0);
    Selu |c, op| exponential(c.x(0), op.scale(), op.alpha(), 1.0);
    Celu |c, op| exponential(c.x(0), 1.0, op.alpha(), op.alpha());
    LeakyRelu |c, op| c.x(0).above(0.0).select(c.x(0), times(c.x(0), op.negative_slope()));
    Relu6 |c, _| limited(c.x(0), like(c.x(0), 0.0), like(c.x(0), 6.0));
    // The upper bound wins where they are the wrong way round.
    Hardtanh |c, op| limited(c.x(0), like(c.x(0), op.t_min().min(op.t_max())), like(c.x(0), op.t_max()));
    Hardsigmoid |c, op| {
        let x = c.x(0).affine(op.slope(), op.offset());
        limited(x, like(x, 0.0), like(x, 1.0))
    };
    Logsigmoid |c, _| {
        let x = c.x(0);
        x.minimum(like(x, 0.0)) - x.abs().neg().exp().log1p()
    };
    Softsign |c, _| c.x(0) / c.x(0).abs().affine(1.0, 1.0);
    Softcap |c, op| {
        let cap = like(c.x(0), op.cap());
        (c.x(0) / cap).tanh() * cap
    };
    Softshrink |c, op| {
        let (x, t) = (c.x(0), op.threshold());
        let below = x.less_than(like(x, -t)).select(x.affine(1.0, t), times(x, 0.0));
        x.above(t).select(x.affine(1.0, -t), below)
    };
    Hardshrink |c, op| c.x(0).abs().above(op.threshold()).select(c.x(0), times(c.x(0), 0.0));
    ThresholdedRelu |c, op| {
        let x = c.x(0);
        x.above(op.threshold()).logical_or(x.isnan()).select(x, like(x, op.value()))
    };
    Softmax |c, op| {
        let (x, axes) = shifted(c.x(0), op.axis())?;
        let all = x.exp();
        reshaped(all / all.sum_with(|o| o.axis(axes).keepdim(true)), c.dims())
    };
    LogSoftmax |c, op| {
        let (x, axes) = shifted(c.x(0), op.axis())?;
        reshaped(x - x.exp().sum_with(|o| o.axis(axes).keepdim(true)).log(), c.dims())
    };
    BceLoss |_, op| {
        let (p, label) = (op.input(), op.label());
        let logs = [p, 1.0 - p].map(|x| x.log().fmax(like(x, -100.0)));
        (label * logs[0] + (1.0 - label) * logs[1]).neg()
    };
};

fn times(x: Expr<'_>, factor: f64) -> Expr<'_> {
    x * like(x, factor)
}

/// `scale * (x if x > 0 else alpha * (exp(x / width) - 1))`
fn exponential(x: Expr<'_>, scale: f64, alpha: f64, width: f64) -> Expr<'_> {
    let inner = if width == 1.0 { x } else { x / like(x, width) };
    let both = x.above(0.0).select(x, times(inner.expm1(), alpha));
    if scale == 1.0 { both } else { times(both, scale) }
}

/// The logarithm of 1 + exp(x) without an overflow.
fn log_one_plus_exp(x: Expr<'_>) -> Expr<'_> {
    x.maximum(like(x, 0.0)) + x.abs().neg().exp().log1p()
}

/// Less the greatest element along an axis, and that axis; a scalar is a vector of one element.
fn shifted(x: Expr<'_>, along: i64) -> Result<(Expr<'_>, [i64; 1]), String> {
    let x = vector(x);
    let axes = [axis(along, x.rank())? as i64];
    let most = x.max_with(|o| o.axis(axes).keepdim(true));
    Ok((x - most, axes))
}
