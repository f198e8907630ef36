//! Operations of MLIR's `arith` and `math` on numbers. At a kink the derivative is that of the operand that the result equals, and of two
//! equal ones that of the first.

use std::f64::consts::{FRAC_2_SQRT_PI, LN_2, LN_10};

use pir_dialects::mlir::{arith, math};
use pir_dialects::pd::Expr;

use super::scalars::{slope_in_base, slope_in_exponent};
use super::{Differentiated, Rule, rule};

/// For each operation the cotangents of operands, by their places.
macro_rules! rules {
    ($($op:path, |$cx:ident, $g:ident| { $($at:literal: $grad:expr),+ $(,)? };)*) => {
        &[$(rule(<$op>::NAME, |cx| cx.formula(|$cx| {
            let $g = $cx.grad();
            $(if $cx.wants_at($at) {
                let grad: Expr<'_> = $grad;
                $cx.add_at($at, grad);
            })+
        }))),*]
    };
}

pub(super) const RULES: &[Rule] = rules! {
    arith::Addf, |_op, g| { 0: g, 1: g };
    arith::Subf, |_op, g| { 0: g, 1: -g };
    arith::Mulf, |op, g| { 0: g * op.operand(1), 1: g * op.operand(0) };
    arith::Divf, |op, g| { 0: g / op.operand(1), 1: -(g / op.operand(1) * op.result(0)) };
    arith::Negf, |_op, g| { 0: -g };
    // x - y · trunc(x / y)
    arith::Remf, |op, g| { 0: g, 1: -(g * ((op.operand(0) - op.result(0)) / op.operand(1))) };
    arith::Maximumf, |op, g| { 0: first(op, g, true, false), 1: first(op, g, true, true) };
    arith::Minimumf, |op, g| { 0: first(op, g, false, false), 1: first(op, g, false, true) };
    arith::Maxnumf, |op, g| { 0: number(op, g, true, false), 1: number(op, g, true, true) };
    arith::Minnumf, |op, g| { 0: number(op, g, false, false), 1: number(op, g, false, true) };
    arith::Select, |op, g| {
        1: op.operand(0).select(g, g.zeros()),
        2: op.operand(0).select(g.zeros(), g),
    };
    arith::Extf, |op, g| { 0: g.to(op.operand(0).elem()) };
    arith::Truncf, |op, g| { 0: g.to(op.operand(0).elem()) };
    math::Absf, |op, g| { 0: negative(op.operand(0)).select(-g, g) };
    math::Copysign, |op, g| { 0: negative(op.operand(0)).logical_xor(negative(op.operand(1))).select(-g, g) };
    math::Exp, |op, g| { 0: g * op.result(0) };
    math::Exp2, |op, g| { 0: g * op.result(0) * LN_2 };
    math::Expm1, |op, g| { 0: g * (op.result(0) + 1.0) };
    math::Log, |op, g| { 0: g / op.operand(0) };
    math::Log2, |op, g| { 0: g / (op.operand(0) * LN_2) };
    math::Log10, |op, g| { 0: g / (op.operand(0) * LN_10) };
    math::Log1p, |op, g| { 0: g / (op.operand(0) + 1.0) };
    math::Sin, |op, g| { 0: g * op.operand(0).cos() };
    math::Cos, |op, g| { 0: -(g * op.operand(0).sin()) };
    math::Tan, |op, g| { 0: g * (op.result(0) * op.result(0) + 1.0) };
    math::Sinh, |op, g| { 0: g * op.operand(0).cosh() };
    math::Cosh, |op, g| { 0: g * op.operand(0).sinh() };
    math::Tanh, |op, g| { 0: g * (1.0 - op.result(0) * op.result(0)) };
    math::Asin, |op, g| { 0: g / (1.0 - op.operand(0) * op.operand(0)).sqrt() };
    math::Acos, |op, g| { 0: -(g / (1.0 - op.operand(0) * op.operand(0)).sqrt()) };
    math::Atan, |op, g| { 0: g / (op.operand(0) * op.operand(0) + 1.0) };
    math::Asinh, |op, g| { 0: g / (op.operand(0) * op.operand(0) + 1.0).sqrt() };
    math::Acosh, |op, g| { 0: g / (op.operand(0) * op.operand(0) - 1.0).sqrt() };
    math::Atanh, |op, g| { 0: g / (1.0 - op.operand(0) * op.operand(0)) };
    math::Sqrt, |op, g| { 0: g * 0.5 / op.result(0) };
    math::Rsqrt, |op, g| { 0: g * -0.5 * op.result(0) * op.result(0) * op.result(0) };
    math::Cbrt, |op, g| { 0: g / (op.result(0) * op.result(0) * 3.0) };
    math::Erf, |op, g| { 0: g * (-(op.operand(0) * op.operand(0))).exp() * FRAC_2_SQRT_PI };
    math::Atan2, |op, g| {
        0: g * op.operand(1) / squares(op),
        1: -(g * op.operand(0) / squares(op)),
    };
    math::Powf, |op, g| {
        0: slope_in_base(op.operand(0), op.operand(1), g),
        1: slope_in_exponent(op.operand(0), op.operand(1), op.result(0), g),
    };
    math::Fpowi, |op, g| { 0: slope_in_base(op.operand(0), op.operand(1).cast_like(op.operand(0)), g) };
    math::Fma, |op, g| { 0: g * op.operand(1), 1: g * op.operand(0), 2: g };
};

fn negative(x: Expr<'_>) -> Expr<'_> {
    x.less_than(x.zeros())
}

fn squares<'c>(op: Differentiated<'c>) -> Expr<'c> {
    let (y, x) = (op.operand(0), op.operand(1));
    x * x + y * y
}

/// The cotangent if the first operand is the greatest (or the least) one, or if it is not.
fn first<'c>(op: Differentiated<'c>, g: Expr<'c>, greatest: bool, not: bool) -> Expr<'c> {
    chosen(wins(op, greatest), g, not)
}

/// The same where a NaN loses.
fn number<'c>(op: Differentiated<'c>, g: Expr<'c>, greatest: bool, not: bool) -> Expr<'c> {
    let y = op.operand(1);
    chosen(wins(op, greatest).logical_or(y.not_equal(y)), g, not)
}

/// Whether the first operand is the greatest (or the least) one, or equal.
fn wins<'c>(op: Differentiated<'c>, greatest: bool) -> Expr<'c> {
    let (x, y) = (op.operand(0), op.operand(1));
    match greatest {
        true => x.greater_equal(y),
        false => x.less_equal(y),
    }
}

fn chosen<'c>(wins: Expr<'c>, g: Expr<'c>, not: bool) -> Expr<'c> {
    match not {
        false => wins.select(g, g.zeros()),
        true => wins.select(g.zeros(), g),
    }
}
