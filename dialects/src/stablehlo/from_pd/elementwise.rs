//! Elementwise operations.

use std::f64::consts::{LN_2, LN_10};

use pir_ir::Type;

use super::super::{chlo, ops};
use super::hlo::{Num, binary, compare, converted, filled, spread, unary};
use super::{Cx, Results, Rows, is_bool, is_float, rows};
use crate::pd::{self, Expr, Number};

/// An operation with the same meaning in StableHLO.
#[derive(Clone, Copy)]
pub(super) enum Twin {
    /// A function of floats.
    Float(&'static str),
    /// A rounding function of floats; the identity for integers.
    Rounding(&'static str),
    /// A function of signed numbers.
    Number(&'static str),
    /// A function of two tensors, with broadcasting.
    Binary(&'static str),
    /// A comparison of two tensors that are broadcast.
    Compare(&'static str),
    /// A logical function of two tensors, with broadcasting.
    Logical(&'static str),
}

const NOT_COMPLEX: &str = "it is not supported for complex numbers";

const TWINS: &[(&str, Twin)] = &[
    (pd::Exp::NAME, Twin::Float(ops::Exponential::NAME)),
    (pd::Expm1::NAME, Twin::Float(ops::ExponentialMinusOne::NAME)),
    (pd::Log::NAME, Twin::Float(ops::Log::NAME)),
    (pd::Log1p::NAME, Twin::Float(ops::LogPlusOne::NAME)),
    (pd::Sqrt::NAME, Twin::Float(ops::Sqrt::NAME)),
    (pd::Rsqrt::NAME, Twin::Float(ops::Rsqrt::NAME)),
    (pd::Tanh::NAME, Twin::Float(ops::Tanh::NAME)),
    (pd::Sin::NAME, Twin::Float(ops::Sine::NAME)),
    (pd::Cos::NAME, Twin::Float(ops::Cosine::NAME)),
    (pd::Tan::NAME, Twin::Float(ops::Tan::NAME)),
    (pd::Sigmoid::NAME, Twin::Float(ops::Logistic::NAME)),
    (pd::Sinh::NAME, Twin::Float(chlo::Sinh::NAME)),
    (pd::Cosh::NAME, Twin::Float(chlo::Cosh::NAME)),
    (pd::Asin::NAME, Twin::Float(chlo::Asin::NAME)),
    (pd::Acos::NAME, Twin::Float(chlo::Acos::NAME)),
    (pd::Atan::NAME, Twin::Float(chlo::Atan::NAME)),
    (pd::Asinh::NAME, Twin::Float(chlo::Asinh::NAME)),
    (pd::Acosh::NAME, Twin::Float(chlo::Acosh::NAME)),
    (pd::Atanh::NAME, Twin::Float(chlo::Atanh::NAME)),
    (pd::Erf::NAME, Twin::Float(chlo::Erf::NAME)),
    (pd::Floor::NAME, Twin::Rounding(ops::Floor::NAME)),
    (pd::Ceil::NAME, Twin::Rounding(ops::Ceil::NAME)),
    (pd::Abs::NAME, Twin::Number(ops::Abs::NAME)),
    (pd::Neg::NAME, Twin::Number(ops::Negate::NAME)),
    (pd::Sign::NAME, Twin::Number(ops::Sign::NAME)),
    (pd::Add::NAME, Twin::Binary(ops::Add::NAME)),
    (pd::Multiply::NAME, Twin::Binary(ops::Multiply::NAME)),
    (pd::Maximum::NAME, Twin::Binary(ops::Maximum::NAME)),
    (pd::Minimum::NAME, Twin::Binary(ops::Minimum::NAME)),
    (pd::BitwiseAnd::NAME, Twin::Binary(ops::And::NAME)),
    (pd::BitwiseOr::NAME, Twin::Binary(ops::Or::NAME)),
    (pd::BitwiseXor::NAME, Twin::Binary(ops::Xor::NAME)),
    (pd::ElementwisePow::NAME, Twin::Binary(ops::Power::NAME)),
    (pd::Divide::NAME, Twin::Binary(ops::Divide::NAME)),
    (pd::Equal::NAME, Twin::Compare("EQ")),
    (pd::NotEqual::NAME, Twin::Compare("NE")),
    (pd::LessThan::NAME, Twin::Compare("LT")),
    (pd::LessEqual::NAME, Twin::Compare("LE")),
    (pd::GreaterThan::NAME, Twin::Compare("GT")),
    (pd::GreaterEqual::NAME, Twin::Compare("GE")),
    (pd::LogicalAnd::NAME, Twin::Logical(ops::And::NAME)),
    (pd::LogicalOr::NAME, Twin::Logical(ops::Or::NAME)),
    (pd::LogicalXor::NAME, Twin::Logical(ops::Xor::NAME)),
];

/// The operations that have one.
pub(super) fn twins() -> impl Iterator<Item = &'static str> {
    TWINS.iter().map(|entry| entry.0)
}

fn twin(name: &str) -> Option<Twin> {
    TWINS.iter().find(|entry| entry.0 == name).map(|entry| entry.1)
}

/// The row of an operation with a twin.
pub(super) fn convert_twin<'c>(c: &Cx<'c>) -> Results<'c> {
    let (x, y, dims) = (c.x(0), c.x(1), c.dims());
    Ok(vec![match twin(c.name).ok_or("it has no counterpart")? {
        Twin::Float(name) if c.is_float() || c.is_complex() => unary(name, x),
        Twin::Float(_) => return Err("the operand must have a float element type".to_owned()),
        Twin::Rounding(name) if c.is_float() => unary(name, x),
        Twin::Rounding(_) => x,
        Twin::Number(_) if is_bool(x) => return Err("the operand must have a numeric element type".to_owned()),
        // The absolute value of a complex number is a real one.
        Twin::Number(name) => super::hlo::emit(c.scope, name, &[x], &[], c.types[0]),
        Twin::Binary(name) => binary(name, x, y, dims),
        Twin::Compare(direction) => compare(direction, x, y, dims),
        Twin::Logical(name) => binary(name, truth(x), truth(y), dims),
    }])
}

/// Whether elements are not zero.
pub(super) fn truth(x: Expr<'_>) -> Expr<'_> {
    match is_bool(x) {
        true => x,
        false => compare("NE", x, like(x, 0.0), x.dims()),
    }
}

/// A constant of the type of an expression.
pub(super) fn like(x: Expr<'_>, number: f64) -> Expr<'_> {
    filled(x.scope(), x.dims(), x.elem().unwrap_or(Type::NONE), Num::Float(number))
}

pub(super) const ROWS: Rows = rows! {
    Square |c, _| c.x(0) * c.x(0);
    Reciprocal |c, _| like(c.x(0), 1.0) / c.x(0);
    Log2 |c, _| c.x(0).log() / like(c.x(0), LN_2);
    Log10 |c, _| c.x(0).log() / like(c.x(0), LN_10);
    Relu |c, _| c.x(0).maximum(like(c.x(0), 0.0));
    Trunc |c, _| if c.is_float() { c.x(0).sign() * c.x(0).abs().floor() } else { c.x(0) };
    Round |c, op| {
        let x = c.x(0);
        match op.decimals() {
            _ if !c.is_float() => x,
            0 => unary(ops::RoundNearestEven::NAME, x),
            decimals => {
                let unit = like(x, 10f64.powi(i32::try_from(decimals).unwrap_or(i32::MAX)));
                unary(ops::RoundNearestEven::NAME, x * unit) / unit
            }
        }
    };
    Assign |c, _| c.x(0);
    AssignOutInplace |c, _| c.x(0);
    Detach |c, _| c.x(0);
    Cast |c, _| converted(c.x(0), c.elem());
    Isnan |c, _| match c.is_float() || c.is_complex() {
        true => compare("NE", c.x(0), c.x(0), c.dims()),
        false => filled(c.scope, c.dims(), Type::I1, Num::Int(0)),
    };
    Isinf |c, _| match c.is_float() {
        false if c.is_complex() => return Err(NOT_COMPLEX.to_owned()),
        true => compare("EQ", c.x(0).abs(), like(c.x(0), f64::INFINITY), c.dims()),
        false => filled(c.scope, c.dims(), Type::I1, Num::Int(0)),
    };
    Isfinite |c, _| match c.is_float() {
        false if c.is_complex() => return Err(NOT_COMPLEX.to_owned()),
        true => {
            let ty = c.ctx().tensor(c.dims(), Type::I1);
            super::hlo::emit(c.scope, ops::IsFinite::NAME, &[c.x(0)], &[], ty)
        }
        false => filled(c.scope, c.dims(), Type::I1, Num::Int(1)),
    };
    LogicalNot |c, _| unary(ops::Not::NAME, truth(c.x(0)));
    BitwiseNot |c, _| unary(ops::Not::NAME, c.x(0));
    Dropout |c, op| {
        // In test mode, dropout draws no random numbers.
        if !op.is_test() {
            return Err("it draws random numbers; `is_test = true` avoids this".to_owned());
        }
        let x = c.x(0);
        let out = if op.mode() == "upscale_in_train" { x } else { x * like(x, 1.0 - op.p()) };
        let (dims, elem) = c.tensor(1);
        vec![out, filled(c.scope, dims, elem, Num::Int(1))]
    };
    Increment |c, op| c.x(0) + like(c.x(0), op.value());
    Scale |c, op| {
        let (x, factor, bias) = (c.x(0), op.scale(), op.bias());
        match op.bias_after_scale() {
            true => shifted(scaled(x, factor), bias),
            false => scaled(shifted(x, bias), factor),
        }
    };
    Clip |c, op| {
        let x = c.x(0);
        limited(x, x.number(op.min()), x.number(op.max()))
    };
    Pow |c, op| match op.y().constant() {
        Some(1.0) => c.x(0),
        Some(2.0) => c.x(0) * c.x(0),
        // Exponents of integers are truncated.
        Some(y) if !c.is_float() => binary(ops::Power::NAME, c.x(0), c.x(0).filled(y.trunc()), c.dims()),
        _ => binary(ops::Power::NAME, c.x(0), spread(c.x(0).number(op.y()), c.dims()), c.dims()),
    };
    Subtract |c, _| match is_bool(c.x(0)) {
        true => c.x(0).logical_xor(c.x(1)),
        false => binary(ops::Subtract::NAME, c.x(0), c.x(1), c.dims()),
    };
    // With the sign of the divisor; that of StableHLO has the dividend's.
    Remainder |c, _| {
        let (x, y) = (spread(c.x(0), c.dims()), spread(c.x(1), c.dims()));
        let rest = binary(ops::Remainder::NAME, x, y, c.dims());
        is_behind(rest, y).select(rest + y, rest)
    };
    FloorDivide |c, _| floor_divide(c);
    Fmax |c, _| unless_nan(c, Expr::maximum);
    Fmin |c, _| unless_nan(c, Expr::minimum);
    Atan2 |c, _| binary(ops::Atan2::NAME, converted(c.x(0), c.elem()), converted(c.x(1), c.elem()), c.dims());
    Where |c, _| {
        let [p, x, y] = [0, 1, 2].map(|at| spread(c.x(at), c.dims()));
        super::hlo::emit(c.scope, ops::Select::NAME, &[p, x, y], &[], c.types[0])
    };
    AddN |c, _| c.operands.iter().copied().reduce(|sum, x| sum + x).ok_or_else(|| "there is nothing to add".to_owned());
};

/// Within bounds, as the kernel does it, also where these are the wrong way round; NaN stays.
pub(super) fn limited<'c>(x: Expr<'c>, low: Expr<'c>, high: Expr<'c>) -> Expr<'c> {
    x.less_than(low).select(low, x.greater_than(high).select(high, x))
}

fn scaled(x: Expr<'_>, factor: Number) -> Expr<'_> {
    match factor.constant() {
        Some(1.0) => x,
        Some(-1.0) if is_float(x) => x.neg(),
        _ => x * x.number(factor),
    }
}

fn shifted(x: Expr<'_>, bias: Number) -> Expr<'_> {
    match bias.constant() {
        Some(0.0) => x,
        _ => x + x.number(bias),
    }
}

/// Whether a remainder with the sign of the dividend has another sign than the divisor.
fn is_behind<'c>(rest: Expr<'c>, divisor: Expr<'c>) -> Expr<'c> {
    let zero = like(rest, 0.0);
    let differs = rest.less_than(zero).logical_xor(divisor.less_than(zero));
    rest.not_equal(zero).logical_and(differs)
}

fn floor_divide<'c>(c: &Cx<'c>) -> Expr<'c> {
    let (x, y) = (spread(c.x(0), c.dims()), spread(c.x(1), c.dims()));
    let rest = binary(ops::Remainder::NAME, x, y, c.dims());
    let (down, quotient) = (is_behind(rest, y), x / y);
    if !c.is_float() {
        return down.select(quotient - like(x, 1.0), quotient);
    }
    // Rounding the quotient may give one too much: 1 / 0.1 rounds to 10, but 0.1 is a little more than a tenth.
    let (zero, one) = (like(x, 0.0), like(x, 1.0));
    let whole = unary(ops::RoundNearestAfz::NAME, (x - rest) / y) - down.select(one, zero);
    let whole = whole.equal(zero).select(quotient * zero, whole);
    let undefined = x.isinf().logical_and(y.not_equal(zero));
    let odd = y.equal(zero).logical_or(quotient.isfinite().logical_not());
    odd.select(undefined.select(like(x, f64::NAN), quotient), whole)
}

fn unless_nan<'c>(c: &Cx<'c>, of: fn(Expr<'c>, Expr<'c>) -> Expr<'c>) -> Expr<'c> {
    let (x, y) = (spread(c.x(0), c.dims()), spread(c.x(1), c.dims()));
    let both = of(x, y);
    match c.is_float() {
        true => x.isnan().select(y, y.isnan().select(x, both)),
        false => both,
    }
}
