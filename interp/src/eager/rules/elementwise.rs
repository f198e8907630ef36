//! Elementwise operations.

use pir_dialects::pd;
use std::f64::consts::{FRAC_2_SQRT_PI, LN_2, LN_10};

use super::super::value::V;
use super::{Cx, NONE, OUT, Rule, X, Y, all_of, data_movement, one, two, zero};

pub(super) const RULES: &[Rule] = &[
    two(pd::Add::NAME, NONE, |c| c.grad(), |c| c.grad()),
    two(pd::InplaceAdd::NAME, NONE, |c| c.grad(), |c| c.grad()),
    two(pd::Subtract::NAME, NONE, |c| c.grad(), |c| -c.grad()),
    two(pd::Multiply::NAME, X | Y, |c| c.grad() * c.y(), |c| c.grad() * c.x()),
    two(
        pd::Divide::NAME,
        X | Y,
        |c| c.grad() / c.y(),
        |c| -(c.grad() * c.x() / c.y().square()),
    ),
    two(
        pd::ElementwisePow::NAME,
        X | Y,
        |c| c.grad() * slope_in_base(&c.x(), &c.y()),
        |c| c.grad() * slope_in_exponent(&c.x(), &c.y()),
    ),
    two(
        pd::Remainder::NAME,
        X | Y,
        |c| c.grad(),
        |c| -(c.grad() * (c.x() / c.y()).call("floor")),
    ),
    two(
        pd::Maximum::NAME,
        X | Y,
        |c| share(c, "greater_than", false),
        |c| share(c, "greater_than", true),
    ),
    two(
        pd::Fmax::NAME,
        X | Y,
        |c| first_choice(c, "greater_equal", true),
        |c| first_choice(c, "greater_equal", false),
    ),
    two(
        pd::Minimum::NAME,
        X | Y,
        |c| share(c, "less_than", false),
        |c| share(c, "less_than", true),
    ),
    two(
        pd::Fmin::NAME,
        X | Y,
        |c| first_choice(c, "less_equal", true),
        |c| first_choice(c, "less_equal", false),
    ),
    two(
        pd::Atan2::NAME,
        X | Y,
        |c| c.grad() * (c.y() / (c.x().square() + c.y().square())),
        |c| -(c.grad() * (c.x() / (c.x().square() + c.y().square()))),
    ),
    data_movement(pd::Where::NAME),
    one(pd::Tanh::NAME, OUT, |c| c.grad() * (1.0 - c.out().square())),
    one(pd::Sigmoid::NAME, OUT, |c| c.grad() * c.out() * (1.0 - c.out())),
    one(pd::Relu::NAME, X, |c| {
        let x = c.x();
        x.with("greater_than", &x.filled(0.0)).choose(&c.grad(), &x.filled(0.0))
    }),
    one(pd::Sqrt::NAME, OUT, |c| c.grad() / (c.out() * 2.0)),
    one(pd::Rsqrt::NAME, OUT, |c| c.grad() * c.out().square() * c.out() * -0.5),
    one(pd::Exp::NAME, OUT, |c| c.grad() * c.out()),
    one(pd::Expm1::NAME, X, |c| c.grad() * c.x().exp()),
    one(pd::Reciprocal::NAME, X, |c| -(c.grad() / c.x().square())),
    one(pd::Abs::NAME, X, |c| slope_of_abs(&c.x(), &c.grad())),
    one(pd::Neg::NAME, NONE, |c| -c.grad()),
    one(pd::Square::NAME, X, |c| c.grad() * c.x() * 2.0),
    one(pd::Log::NAME, X, |c| c.grad() / c.x()),
    one(pd::Log2::NAME, X, |c| c.grad() / (c.x() * LN_2)),
    one(pd::Log10::NAME, X, |c| c.grad() / (c.x() * LN_10)),
    one(pd::Log1p::NAME, X, |c| c.grad() / (c.x() + 1.0)),
    one(pd::Sin::NAME, X, |c| c.grad() * c.x().call("cos")),
    one(pd::Cos::NAME, X, |c| -(c.grad() * c.x().call("sin"))),
    one(pd::Tan::NAME, X, |c| c.grad() / c.x().call("cos").square()),
    one(pd::Sinh::NAME, X, |c| c.grad() * c.x().call("cosh")),
    one(pd::Cosh::NAME, X, |c| c.grad() * c.x().call("sinh")),
    one(pd::Asin::NAME, X, |c| c.grad() * (1.0 - c.x().square()).call("rsqrt")),
    one(pd::Acos::NAME, X, |c| {
        -(c.grad() * (1.0 - c.x().square()).call("rsqrt"))
    }),
    one(pd::Atan::NAME, X, |c| c.grad() / (c.x().square() + 1.0)),
    one(pd::Erf::NAME, X, |c| {
        c.grad() * (-c.x().square()).exp() * FRAC_2_SQRT_PI
    }),
    one(pd::Assign::NAME, NONE, |c| c.grad()),
    one(pd::Increment::NAME, NONE, |c| c.grad()),
    one(pd::Cast::NAME, NONE, |c| c.grad().cast(c.dtype(0))),
    all_of(pd::AddN::NAME, NONE, |c| {
        Ok((0..c.num_inputs()).map(|at| c.wants(at).then(|| c.grad())).collect())
    }),
    zero(pd::Detach::NAME),
    zero(pd::Floor::NAME),
    zero(pd::Ceil::NAME),
    zero(pd::Round::NAME),
    zero(pd::Trunc::NAME),
    zero(pd::Sign::NAME),
    zero(pd::FloorDivide::NAME),
    zero(pd::Shape::NAME),
    zero(pd::Shape64::NAME),
    zero(pd::Numel::NAME),
    zero(pd::Argmax::NAME),
    zero(pd::Argmin::NAME),
    zero(pd::Equal::NAME),
    zero(pd::NotEqual::NAME),
    zero(pd::LessThan::NAME),
    zero(pd::LessEqual::NAME),
    zero(pd::GreaterThan::NAME),
    zero(pd::GreaterEqual::NAME),
    zero(pd::LogicalAnd::NAME),
    zero(pd::LogicalOr::NAME),
    zero(pd::LogicalXor::NAME),
    zero(pd::LogicalNot::NAME),
    zero(pd::BitwiseAnd::NAME),
    zero(pd::BitwiseOr::NAME),
    zero(pd::BitwiseXor::NAME),
    zero(pd::BitwiseNot::NAME),
    zero(pd::Isnan::NAME),
    zero(pd::Isinf::NAME),
    zero(pd::Isfinite::NAME),
    zero(pd::Any::NAME),
    zero(pd::All::NAME),
    zero(pd::OneHot::NAME),
    zero(pd::SequenceMask::NAME),
];

/// The derivative of a power by its base. For exponent zero it is zero, whatever the base.
pub(super) fn slope_in_base<'e>(x: &V<'e>, y: &V<'e>) -> V<'e> {
    let nothing = y.with("equal", &y.filled(0.0));
    // The power must not be a pole where it is not selected: its derivative would be NaN.
    let exponent = nothing.choose(&y.filled(1.0), y);
    let slope = exponent.clone() * x.with("elementwise_pow", &exponent.affine(1.0, -1.0));
    nothing.choose(&slope.filled(0.0), &slope)
}

/// The derivative of a power by its exponent. A power of zero is constant except at its pole.
pub(super) fn slope_in_exponent<'e>(x: &V<'e>, y: &V<'e>) -> V<'e> {
    let power = x.with("elementwise_pow", y);
    let is_no_pole = match y.dtype().is_complex() {
        true => power.call("isfinite"),
        false => y.with("greater_equal", &y.filled(0.0)),
    };
    let constant = x.with("equal", &x.filled(0.0)).with("logical_and", &is_no_pole);
    let base = constant.choose(&x.filled(1.0), x);
    base.call("log") * power
}

/// A value that carries an error.
pub(super) fn failed<'e>(c: &Cx<'e>, why: &str) -> V<'e> {
    V::new(c.engine, Err(why.to_owned()))
}

/// The gradient of a maximum or minimum goes to the selected operand; ties are split.
fn share<'e>(c: &Cx<'e>, wins: &str, of_y: bool) -> V<'e> {
    let (x, y) = if of_y { (c.y(), c.x()) } else { (c.x(), c.y()) };
    share_of(&x, &y, &c.grad(), wins)
}

/// An operand that is not selected gets zero, even from an infinite gradient.
pub(super) fn share_of<'e>(x: &V<'e>, y: &V<'e>, g: &V<'e>, wins: &str) -> V<'e> {
    let nothing = g.filled(0.0);
    let even = x.with("equal", y).choose(&(g.clone() * 0.5), &nothing);
    x.with(wins, y).choose(g, &even)
}

/// A NaN is not selected; of equal operands, and of two NaNs, the first is.
fn first_choice<'e>(c: &Cx<'e>, wins: &str, first: bool) -> V<'e> {
    let taken = c.x().with(wins, &c.y()).with("logical_or", &c.y().call("isnan"));
    let (g, nothing) = (c.grad(), c.grad().filled(0.0));
    match first {
        true => taken.choose(&g, &nothing),
        false => taken.choose(&nothing, &g),
    }
}

/// Zero at zero.
pub(super) fn slope_of_abs<'e>(x: &V<'e>, g: &V<'e>) -> V<'e> {
    let nothing = x.filled(0.0);
    let falling = x.with("less_than", &nothing).choose(&-g.clone(), &nothing);
    x.with("greater_than", &nothing).choose(g, &falling)
}
