//! Operations with numbers that may be operands of one element: factors, bounds, exponents, fillings.
//!
//! Such an operand has a derivative like any other: what its uses ask for is summed up.

use std::cell::LazyCell;

use pir_dialects::pd::{self, Expr, Number};

use super::Rule;
use super::formula::{Op, derivative};

pub(super) const RULES: &[Rule] = &[
    // scale * x + bias, or scale * (x + bias)
    derivative!(Scale, |op, g| let after = op.bias_after_scale(); let scaled = LazyCell::new(|| g * op.scale()); {
        x: *scaled,
        bias: if after { g } else { *scaled },
        scale: g * if after { op.x() } else { op.x() + op.bias() },
    })
    .complex(),
    derivative!(Pow, |op, g| {
        x: op.x().pow_grad(g, op.y()),
        y: slope_in_exponent(op.x(), op.x().number(op.y()), op.out(), g),
    }),
    derivative!(Clip, |op, g|
        let x = op.x();
        let zeros = LazyCell::new(|| g.zeros());
        let below = LazyCell::new(|| bound(op.min(), x).map(|low| x.less_than(low)));
        {
            x: x.clip_grad(g, op.min(), op.max()),
            min: { let zeros = *zeros; below.map(|below| below.select(g, zeros)) },
            // The lower bound comes first, if they contradict each other.
            max: {
                let (zeros, below) = (*zeros, *below);
                bound(op.max(), x).map(|high| {
                    let above = x.greater_than(high).select(g, zeros);
                    below.map_or(above, |below| below.select(zeros, above))
                })
            },
        }
    ),
    derivative!(Pad, |op, g| let paddings = op.paddings().unwrap_or_default(); {
        x: unpadded(op, g, &paddings),
        pad_value: g * op.x().zeros().pad_with(&paddings, |o| o.pad_value(1.0)),
    })
    .complex(),
    derivative!(Full, |_, g| g).complex(),
    derivative!(Const, |_, g| g),
    derivative!(Constant, |_, g| g),
    derivative!(FullLike, |_, g| g).complex(),
    derivative!(Arange, |op, g| let out = op.out(); {
        start: g,
        step: {
            let (start, step) = (out.number(op.start()), out.number(op.step()));
            g * ((out - start) / step)
        },
    }),
    // min + (max - min) * u
    derivative!(Uniform, |op, g|
        let out = op.out();
        let (low, high) = (out.number(op.min()), out.number(op.max()));
        let part = (out - low) / (high - low);
        { max: g * part, min: g * (1.0 - part) }
    ),
];

/// A bound of a value, if there is one.
pub(super) fn bound<'c>(bound: Number, x: Expr<'c>) -> Option<Expr<'c>> {
    (!matches!(bound, Number::Missing)).then(|| x.number(bound))
}

/// The part of a cotangent inside the padding.
fn unpadded<'c>(op: Op<'c, pd::Pad>, g: Expr<'c>, paddings: &[i64]) -> Result<Expr<'c>, String> {
    let at = |place: usize| paddings.get(place).copied().unwrap_or(0);
    match op.x().static_shape() {
        Some(shape) => Ok((0..shape.len()).fold(g, |g, axis| g.cut(axis, at(2 * axis), at(2 * axis) + shape[axis]))),
        None if paddings.iter().any(|&count| count < 0) => Err("it needs a static shape".to_owned()),
        None => Ok((0..g.rank()).fold(g, |g, axis| g.trimmed(axis, at(2 * axis), at(2 * axis + 1)))),
    }
}

/// `g` times the derivative of `out`, the power of `x` with exponent `y`, in the exponent: `out * log(x)`. It is zero where
/// the base is zero, unless the exponent is negative, which is a pole.
pub(super) fn slope_in_exponent<'c>(x: Expr<'c>, y: Expr<'c>, out: Expr<'c>, g: Expr<'c>) -> Expr<'c> {
    // Complex numbers have no order.
    let is_no_pole = match y.is_complex() {
        true => out.isfinite(),
        false => y.greater_equal(y.zeros()),
    };
    let is_flat = x.equal(x.zeros()).logical_and(is_no_pole);
    g * (out * is_flat.select(x.ones(), x).log())
}

/// `g` times the derivative of a power in its base: `y * x^(y-1)`, rather than `out * y / x`, which fails at `x = 0`. A power
/// with exponent zero is constant, at zero as well.
pub(super) fn slope_in_base<'c>(x: Expr<'c>, y: Expr<'c>, g: Expr<'c>) -> Expr<'c> {
    let zeros = y.zeros();
    let is_constant = y.equal(zeros);
    g * (y * x.elementwise_pow(is_constant.select(zeros, y - 1.0)))
}
