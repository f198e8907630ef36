//! Elementwise operations.

use std::f64::consts::FRAC_2_SQRT_PI;

use pir_ir::{Type, ValueId};

use super::super::{chlo, ops};
use super::{Cx, One, Vjp, complex, conjugate, imaginary, is_integer, is_unsigned, real};
use crate::pd::Expr;

pub(super) const TABLE: &[(&str, One)] = &[
    (ops::Abs::NAME, |c| Ok(c.x(0).abs())),
    (ops::Cbrt::NAME, |c| Ok(c.x(0).sign() * c.x(0).abs().pow(1.0 / 3.0))),
    (ops::Ceil::NAME, |c| Ok(c.x(0).ceil())),
    (ops::Cosine::NAME, |c| Ok(c.x(0).cos())),
    (ops::Exponential::NAME, |c| Ok(c.x(0).exp())),
    (ops::ExponentialMinusOne::NAME, |c| Ok(c.x(0).expm1())),
    (ops::Floor::NAME, |c| Ok(c.x(0).floor())),
    (ops::Log::NAME, |c| Ok(c.x(0).log())),
    (ops::LogPlusOne::NAME, |c| Ok(c.x(0).log1p())),
    (ops::Logistic::NAME, |c| Ok(c.x(0).sigmoid())),
    (ops::Negate::NAME, |c| Ok(c.x(0).neg())),
    (ops::Not::NAME, |c| {
        Ok(if c.is_bool() {
            c.x(0).logical_not()
        } else {
            c.x(0).bitwise_not()
        })
    }),
    (ops::RoundNearestAfz::NAME, |c| {
        // Half is not added first: the sum may be rounded up itself.
        let (x, whole) = (c.x(0), c.x(0).trunc());
        let is_up = (x - whole).abs().greater_equal(x.filled(0.5));
        Ok(is_up.select(whole + x.sign(), whole))
    }),
    (ops::RoundNearestEven::NAME, |c| Ok(c.x(0).round())),
    (ops::Rsqrt::NAME, |c| Ok(c.x(0).rsqrt())),
    (ops::Sign::NAME, |c| Ok(c.x(0).sign())),
    (ops::Sine::NAME, |c| Ok(c.x(0).sin())),
    (ops::Sqrt::NAME, |c| Ok(c.x(0).sqrt())),
    (ops::Tan::NAME, |c| Ok(c.x(0).tan())),
    (ops::Tanh::NAME, |c| Ok(c.x(0).tanh())),
    (ops::IsFinite::NAME, |c| Ok(c.x(0).isfinite())),
    (ops::Convert::NAME, convert),
    (ops::Add::NAME, |c| Ok(truth_or(c, Expr::logical_or, Expr::add))),
    (ops::Subtract::NAME, |c| Ok(c.x(0) - c.x(1))),
    (ops::Multiply::NAME, |c| {
        Ok(truth_or(c, Expr::logical_and, Expr::multiply))
    }),
    (ops::Divide::NAME, |c| {
        Ok(match c.is_float() || c.is_complex() {
            true => c.x(0) / c.x(1),
            false => quotient(c),
        })
    }),
    (ops::Maximum::NAME, |c| Ok(truth_or(c, Expr::logical_or, Expr::maximum))),
    (ops::Minimum::NAME, |c| {
        Ok(truth_or(c, Expr::logical_and, Expr::minimum))
    }),
    (ops::Power::NAME, |c| Ok(c.x(0).elementwise_pow(c.x(1)))),
    (ops::Remainder::NAME, |c| {
        if !c.is_float() {
            // By zero it is the dividend, because of the quotient below.
            let zero = c.x(1).equal(c.x(1).zeros());
            return Ok(zero.select(c.x(0), c.x(0) - quotient(c) * c.x(1)));
        }
        let size = c.x(0).abs().remainder(c.x(1).abs());
        Ok(c.x(0).less_than(c.x(0).zeros()).select(size.neg(), size))
    }),
    (ops::Atan2::NAME, |c| Ok(c.x(0).atan2(c.x(1)))),
    (ops::And::NAME, |c| {
        Ok(truth_or(c, Expr::logical_and, Expr::bitwise_and))
    }),
    (ops::Or::NAME, |c| Ok(truth_or(c, Expr::logical_or, Expr::bitwise_or))),
    (ops::Xor::NAME, |c| {
        Ok(truth_or(c, Expr::logical_xor, Expr::bitwise_xor))
    }),
    (ops::Compare::NAME, compare),
    (ops::Select::NAME, |c| Ok(c.x(0).select(c.x(1), c.x(2)))),
    (ops::Clamp::NAME, |c| Ok(c.x(1).maximum(c.x(0)).minimum(c.x(2)))),
    (chlo::Conj::NAME, |c| Ok(conjugate(c.x(0)))),
    (chlo::Acos::NAME, |c| Ok(c.x(0).acos())),
    (chlo::Acosh::NAME, |c| Ok(c.x(0).acosh())),
    (chlo::Asin::NAME, |c| Ok(c.x(0).asin())),
    (chlo::Asinh::NAME, |c| Ok(c.x(0).asinh())),
    (chlo::Atan::NAME, |c| Ok(c.x(0).atan())),
    (chlo::Atanh::NAME, |c| Ok(c.x(0).atanh())),
    (chlo::Cosh::NAME, |c| Ok(c.x(0).cosh())),
    (chlo::Sinh::NAME, |c| Ok(c.x(0).sinh())),
    (chlo::Tan::NAME, |c| Ok(c.x(0).tan())),
    (chlo::Square::NAME, |c| Ok(c.x(0) * c.x(0))),
    (chlo::Erf::NAME, |c| Ok(c.x(0).erf())),
    // There is a kernel that is accurate where this cancels.
    (chlo::Erfc::NAME, |c| Ok(1.0 - c.x(0).erf())),
];

/// Derivatives that are JAX's where those of `pd` differ: at kinks.
pub(super) const VJPS: &[(&str, Vjp)] = &[
    // The cotangent of a complex number is one that is multiplied with its tangent, as in JAX: that of a real function is the conjugate
    // of its gradient, and holomorphic functions have the formulas of real ones.
    (ops::Real::NAME, |c, _, g| match c.is_complex() {
        true => vec![complex(g, g.zeros())],
        false => vec![g],
    }),
    (ops::Imag::NAME, |c, _, g| match c.is_complex() {
        true => vec![complex(g.zeros(), g.neg())],
        false => vec![g.zeros()],
    }),
    (ops::Complex::NAME, |_, _, g| vec![real(g), imaginary(g).neg()]),
    (ops::Abs::NAME, |c, y, g| {
        let x = c.x(0);
        if c.is_complex() {
            let size = y.equal(y.zeros()).select(y.ones(), y);
            return vec![(g / size).to(x.elem()) * conjugate(x)];
        }
        vec![x.greater_equal(x.zeros()).select(g, g.neg())]
    }),
    (ops::Cbrt::NAME, |_, y, g| vec![g / (y * y * 3.0)]),
    (ops::Remainder::NAME, |c, _, g| {
        vec![g, -(g * (c.x(0) / c.x(1)).trunc())]
    }),
    (ops::Maximum::NAME, |c, _, g| {
        vec![share(c.x(0), c.x(1), g), share(c.x(1), c.x(0), g)]
    }),
    (ops::Minimum::NAME, |c, _, g| {
        vec![share(c.x(1), c.x(0), g), share(c.x(0), c.x(1), g)]
    }),
    (ops::Power::NAME, |c, y, g| {
        let (a, b) = (c.x(0), c.x(1));
        let base = a.equal(a.zeros()).select(a.ones(), a);
        vec![g * b * a.elementwise_pow(b - 1.0), g * base.log() * y]
    }),
    (ops::Clamp::NAME, |c, _, g| {
        let (low, x, high) = (c.x(0), c.x(1), c.x(2));
        let (below, above) = (x.less_than(low), x.greater_than(high));
        let inside = x.greater_than(low).logical_and(x.less_than(high));
        let zero = g.zeros();
        vec![below.select(g, zero), inside.select(g, zero), above.select(g, zero)]
    }),
    (ops::ReducePrecision::NAME, |c, _, g| {
        let attrs = ["exponent_bits", "mantissa_bits"].map(|name| Some((name, c.attrs.get(name)?)));
        let attrs: Vec<_> = attrs.into_iter().flatten().collect();
        c.scope.build(ops::ReducePrecision::NAME, &ids(&[g]), &attrs, g.ty())
    }),
    (chlo::ErfInv::NAME, |_, y, g| {
        vec![g * (y * y).exp() * (1.0 / FRAC_2_SQRT_PI)]
    }),
    (chlo::Lgamma::NAME, |c, _, g| {
        let x = c.x(0);
        let slope = c.scope.build(chlo::Digamma::NAME, &ids(&[x]), &[], x.ty());
        slope.into_iter().map(|slope| g * slope).collect()
    }),
    (chlo::Digamma::NAME, |c, _, g| {
        vec![g * polygamma(c, c.x(0).ones(), c.x(0))]
    }),
    // The order is a whole number.
    // The derivative with respect to the order is not a function of CHLO.
    (chlo::Polygamma::NAME, |c, _, g| {
        vec![c.scope.nothing(), g * polygamma(c, c.x(0) + 1.0, c.x(1))]
    }),
    // Nor is that with respect to the exponent.
    (chlo::Zeta::NAME, |c, _, g| {
        let (x, q) = (c.x(0), c.x(1));
        vec![
            c.scope.nothing(),
            (g * x * binary(c, chlo::Zeta::NAME, x + 1.0, q)).neg(),
        ]
    }),
    (chlo::Erfc::NAME, |c, _, g| {
        vec![g * ((c.x(0) * c.x(0)).neg().exp() * -FRAC_2_SQRT_PI)]
    }),
];

fn ids(values: &[Expr<'_>]) -> Vec<ValueId> {
    values.iter().filter_map(|value| value.id()).collect()
}

fn polygamma<'c>(c: &Cx<'c>, n: Expr<'c>, x: Expr<'c>) -> Expr<'c> {
    binary(c, chlo::Polygamma::NAME, n, x)
}

/// An operation of two operands of the type of the second.
fn binary<'c>(c: &Cx<'c>, name: &str, x: Expr<'c>, y: Expr<'c>) -> Expr<'c> {
    let made = c.scope.build(name, &ids(&[x, y]), &[], y.ty());
    made.first().copied().unwrap_or(c.scope.nothing())
}

/// One function of truth values, another of numbers.
fn truth_or<'c>(
    c: &Cx<'c>,
    truth: fn(Expr<'c>, Expr<'c>) -> Expr<'c>,
    number: fn(Expr<'c>, Expr<'c>) -> Expr<'c>,
) -> Expr<'c> {
    let compute = if c.is_bool() { truth } else { number };
    compute(c.x(0), c.x(1))
}

/// The share of a cotangent that belongs to `a`, which is selected where it is greater; equal operands get half each.
fn share<'c>(a: Expr<'c>, b: Expr<'c>, g: Expr<'c>) -> Expr<'c> {
    let half = a.equal(b).select(g * 0.5, g.zeros());
    a.greater_than(b).select(g, half)
}

/// The quotient of integers towards zero; by zero it is -1.
fn quotient<'c>(c: &Cx<'c>) -> Expr<'c> {
    let (x, y) = (c.x(0), c.x(1));
    if y.elem().is_some_and(|elem| is_unsigned(c.ctx(), elem)) {
        let by_zero = y.equal(y.zeros());
        return by_zero.select(y.zeros().bitwise_not(), x.floor_divide(by_zero.select(y.ones(), y)));
    }
    let (zero, minus_one) = (y.zeros(), y.filled(-1.0));
    let (by_zero, by_minus_one) = (y.equal(zero), y.equal(minus_one));
    // The least integer has no negative: -x wraps around, where a division would trap.
    let divisor = by_zero.logical_or(by_minus_one).select(y.ones(), y);
    let floor = x.floor_divide(divisor);
    let is_exact = (floor * divisor).equal(x);
    let is_negative = x.less_than(zero).logical_xor(divisor.less_than(zero));
    let quotient = is_exact
        .logical_or(is_negative.logical_not())
        .select(floor, floor + y.ones());
    by_zero.select(minus_one, by_minus_one.select(zero - x, quotient))
}

fn convert<'c>(c: &Cx<'c>) -> Result<Expr<'c>, String> {
    let (x, elem) = (c.x(0), c.elem());
    if elem == Type::I1 {
        return Ok(x.not_equal(x.zeros()));
    }
    if !c.is_float() || !is_integer(c.ctx(), elem) {
        return Ok(x.to(Some(elem)));
    }
    let (least, most, limit) = match elem {
        Type::I8 => (i8::MIN.into(), i8::MAX.into(), 128.0),
        Type::I16 => (i16::MIN.into(), i16::MAX.into(), 32_768.0),
        Type::I32 => (i32::MIN.into(), i32::MAX.into(), 2_147_483_648.0),
        Type::I64 => (i64::MIN, i64::MAX, 9_223_372_036_854_775_808.0),
        Type::UI8 => (0, u8::MAX.into(), 256.0),
        Type::UI16 => (0, u16::MAX.into(), 65_536.0),
        Type::UI32 => (0, u32::MAX.into(), 4_294_967_296.0),
        // All bits are set.
        Type::UI64 => (0, -1, 18_446_744_073_709_551_616.0),
        _ => return Err("this element type is not supported".to_owned()),
    };
    let is_below = x.less_equal(x.filled(if least == 0 { 0.0 } else { -limit }));
    let is_above = x.greater_equal(x.filled(limit));
    let is_inside = is_below.logical_or(is_above).logical_or(x.isnan()).logical_not();
    let number = is_inside.select(x, x.zeros()).to(Some(elem));
    let bound = |value: i64| c.list(&[value], elem).reshape([]);
    Ok(is_below.select(bound(least), is_above.select(bound(most), number)))
}

fn compare<'c>(c: &Cx<'c>) -> Result<Expr<'c>, String> {
    let (x, y) = (c.x(0), c.x(1));
    if c.attrs.word("compare_type") == Some("TOTALORDER") && c.is_float() {
        return compare_in_total_order(c);
    }
    if c.is_complex() && !matches!(c.attrs.word("comparison_direction"), Some("EQ" | "NE")) {
        return Err("complex numbers have no order".to_owned());
    }
    // Comparisons of truth values are of 0 and 1.
    let (x, y) = match c.is_bool() {
        true => (x.to(Some(Type::I32)), y.to(Some(Type::I32))),
        false => (x, y),
    };
    Ok(match c.attrs.word("comparison_direction") {
        Some("EQ") => x.equal(y),
        Some("NE") => x.not_equal(y),
        Some("GE") => x.greater_equal(y),
        Some("GT") => x.greater_than(y),
        Some("LE") => x.less_equal(y),
        Some("LT") => x.less_than(y),
        _ => return Err("`comparison_direction` is unknown".to_owned()),
    })
}

/// The order of floats in which -0 is before 0, and NaN after all others.
fn compare_in_total_order<'c>(c: &Cx<'c>) -> Result<Expr<'c>, String> {
    let less = |x: Expr<'c>, y: Expr<'c>| {
        // One over a zero has its sign.
        let both_zero = x.equal(x.zeros()).logical_and(y.equal(y.zeros()));
        let signs = (x.ones() / x).less_than(y.ones() / y);
        let is_last = x.isnan().logical_not().logical_and(y.isnan());
        x.less_than(y)
            .logical_or(is_last)
            .logical_or(both_zero.logical_and(signs))
    };
    let (x, y) = (c.x(0), c.x(1));
    let neither = || less(x, y).logical_or(less(y, x)).logical_not();
    Ok(match c.attrs.word("comparison_direction") {
        Some("LT") => less(x, y),
        Some("GT") => less(y, x),
        Some("LE") => less(y, x).logical_not(),
        Some("GE") => less(x, y).logical_not(),
        Some("EQ") => neither(),
        Some("NE") => neither().logical_not(),
        _ => return Err("`comparison_direction` is unknown".to_owned()),
    })
}
