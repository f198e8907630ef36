//! Elementwise operations.

use std::f64::consts::{FRAC_2_SQRT_PI, LN_2, LN_10};

use super::super::value::V;
use super::{Cx, NONE, OUT, Rule, X, Y, all_of, moves, one, two, zero};

pub(super) const RULES: &[Rule] = &[
    two("pd.add", NONE, |c| c.grad(), |c| c.grad()),
    two("pd.inplace_add", NONE, |c| c.grad(), |c| c.grad()),
    two("pd.subtract", NONE, |c| c.grad(), |c| -c.grad()),
    two("pd.multiply", X | Y, |c| c.grad() * c.y(), |c| c.grad() * c.x()),
    two(
        "pd.divide",
        X | Y,
        |c| c.grad() / c.y(),
        |c| -(c.grad() * c.x() / c.y().square()),
    ),
    two(
        "pd.elementwise_pow",
        X | Y,
        |c| c.grad() * slope_in_base(&c.x(), &c.y()),
        |c| c.grad() * slope_in_exponent(&c.x(), &c.y()),
    ),
    two(
        "pd.remainder",
        X | Y,
        |c| c.grad(),
        |c| -(c.grad() * (c.x() / c.y()).call("floor")),
    ),
    two(
        "pd.maximum",
        X | Y,
        |c| share(c, "greater_than", false),
        |c| share(c, "greater_than", true),
    ),
    two(
        "pd.fmax",
        X | Y,
        |c| first_choice(c, "greater_equal", true),
        |c| first_choice(c, "greater_equal", false),
    ),
    two(
        "pd.minimum",
        X | Y,
        |c| share(c, "less_than", false),
        |c| share(c, "less_than", true),
    ),
    two(
        "pd.fmin",
        X | Y,
        |c| first_choice(c, "less_equal", true),
        |c| first_choice(c, "less_equal", false),
    ),
    two(
        "pd.atan2",
        X | Y,
        |c| c.grad() * (c.y() / (c.x().square() + c.y().square())),
        |c| -(c.grad() * (c.x() / (c.x().square() + c.y().square()))),
    ),
    moves("pd.where"),
    one("pd.tanh", OUT, |c| c.grad() * (1.0 - c.out().square())),
    one("pd.sigmoid", OUT, |c| c.grad() * c.out() * (1.0 - c.out())),
    one("pd.relu", X, |c| {
        let x = c.x();
        x.with("greater_than", &x.filled(0.0)).choose(&c.grad(), &x.filled(0.0))
    }),
    one("pd.sqrt", OUT, |c| c.grad() / (c.out() * 2.0)),
    one("pd.rsqrt", OUT, |c| c.grad() * c.out().square() * c.out() * -0.5),
    one("pd.exp", OUT, |c| c.grad() * c.out()),
    one("pd.expm1", X, |c| c.grad() * c.x().exp()),
    one("pd.reciprocal", X, |c| -(c.grad() / c.x().square())),
    one("pd.abs", X, |c| slope_of_abs(&c.x(), &c.grad())),
    one("pd.neg", NONE, |c| -c.grad()),
    one("pd.square", X, |c| c.grad() * c.x() * 2.0),
    one("pd.log", X, |c| c.grad() / c.x()),
    one("pd.log2", X, |c| c.grad() / (c.x() * LN_2)),
    one("pd.log10", X, |c| c.grad() / (c.x() * LN_10)),
    one("pd.log1p", X, |c| c.grad() / (c.x() + 1.0)),
    one("pd.sin", X, |c| c.grad() * c.x().call("cos")),
    one("pd.cos", X, |c| -(c.grad() * c.x().call("sin"))),
    one("pd.tan", X, |c| c.grad() / c.x().call("cos").square()),
    one("pd.sinh", X, |c| c.grad() * c.x().call("cosh")),
    one("pd.cosh", X, |c| c.grad() * c.x().call("sinh")),
    one("pd.asin", X, |c| c.grad() * (1.0 - c.x().square()).call("rsqrt")),
    one("pd.acos", X, |c| -(c.grad() * (1.0 - c.x().square()).call("rsqrt"))),
    one("pd.atan", X, |c| c.grad() / (c.x().square() + 1.0)),
    one("pd.erf", X, |c| c.grad() * (-c.x().square()).exp() * FRAC_2_SQRT_PI),
    one("pd.assign", NONE, |c| c.grad()),
    one("pd.increment", NONE, |c| c.grad()),
    one("pd.cast", NONE, |c| c.grad().cast(c.dtype(0))),
    all_of("pd.add_n", NONE, |c| {
        Ok((0..c.num_inputs()).map(|at| c.wants(at).then(|| c.grad())).collect())
    }),
    zero("pd.detach"),
    zero("pd.floor"),
    zero("pd.ceil"),
    zero("pd.round"),
    zero("pd.trunc"),
    zero("pd.sign"),
    zero("pd.floor_divide"),
    zero("pd.shape"),
    zero("pd.shape64"),
    zero("pd.numel"),
    zero("pd.argmax"),
    zero("pd.argmin"),
    zero("pd.equal"),
    zero("pd.not_equal"),
    zero("pd.less_than"),
    zero("pd.less_equal"),
    zero("pd.greater_than"),
    zero("pd.greater_equal"),
    zero("pd.logical_and"),
    zero("pd.logical_or"),
    zero("pd.logical_xor"),
    zero("pd.logical_not"),
    zero("pd.bitwise_and"),
    zero("pd.bitwise_or"),
    zero("pd.bitwise_xor"),
    zero("pd.bitwise_not"),
    zero("pd.isnan"),
    zero("pd.isinf"),
    zero("pd.isfinite"),
    zero("pd.any"),
    zero("pd.all"),
    zero("pd.one_hot"),
    zero("pd.sequence_mask"),
];

/// The derivative of a power in its base. With exponent zero it is constant, whatever the base.
pub(super) fn slope_in_base<'e>(x: &V<'e>, y: &V<'e>) -> V<'e> {
    let nothing = y.with("equal", &y.filled(0.0));
    // Where it is not chosen, the power must not be a pole: its own derivative would be no number.
    let exponent = nothing.choose(&y.filled(1.0), y);
    let slope = exponent.clone() * x.with("elementwise_pow", &exponent.affine(1.0, -1.0));
    nothing.choose(&slope.filled(0.0), &slope)
}

/// The derivative of a power in its exponent. Of zero the power is constant but at its pole.
pub(super) fn slope_in_exponent<'e>(x: &V<'e>, y: &V<'e>) -> V<'e> {
    let power = x.with("elementwise_pow", y);
    let constant = x
        .with("equal", &x.filled(0.0))
        .with("logical_and", &y.with("greater_equal", &y.filled(0.0)));
    let base = constant.choose(&x.filled(1.0), x);
    base.call("log") * power
}

/// What fails.
pub(super) fn failed<'e>(c: &Cx<'e>, why: &str) -> V<'e> {
    V::new(c.engine, Err(why.to_owned()))
}

/// Of the larger or the smaller of two: the winner gets the gradient, each half of it if they are equal.
fn share<'e>(c: &Cx<'e>, wins: &str, of_y: bool) -> V<'e> {
    let (x, y) = if of_y { (c.y(), c.x()) } else { (c.x(), c.y()) };
    share_of(&x, &y, &c.grad(), wins)
}

/// What loses gets nothing, even of an infinite gradient.
pub(super) fn share_of<'e>(x: &V<'e>, y: &V<'e>, g: &V<'e>, wins: &str) -> V<'e> {
    let nothing = g.filled(0.0);
    let even = x.with("equal", y).choose(&(g.clone() * 0.5), &nothing);
    x.with(wins, y).choose(g, &even)
}

/// A NaN loses; of equals, and of two NaNs, the first is taken.
fn first_choice<'e>(c: &Cx<'e>, wins: &str, first: bool) -> V<'e> {
    let taken = c.x().with(wins, &c.y()).with("logical_or", &c.y().call("isnan"));
    let (g, nothing) = (c.grad(), c.grad().filled(0.0));
    match first {
        true => taken.choose(&g, &nothing),
        false => taken.choose(&nothing, &g),
    }
}

/// Flat at zero.
pub(super) fn slope_of_abs<'e>(x: &V<'e>, g: &V<'e>) -> V<'e> {
    let nothing = x.filled(0.0);
    let falling = x.with("less_than", &nothing).choose(&-g.clone(), &nothing);
    x.with("greater_than", &nothing).choose(g, &falling)
}
