//! Elementwise operations.

use std::f64::consts::{FRAC_2_SQRT_PI, LN_2, LN_10};

use super::super::value::V;
use super::{Cx, NONE, OUT, REST, Rule, X, Y, all_of, moves, one, two, zero};

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
        |c| c.grad() * c.y() * c.x().with("elementwise_pow", &c.y().affine(1.0, -1.0)),
        |c| c.grad() * c.x().call("log") * c.x().with("elementwise_pow", &c.y()),
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
        |c| share(c, "greater_than", false),
        |c| share(c, "greater_than", true),
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
        |c| share(c, "less_than", false),
        |c| share(c, "less_than", true),
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
    one("pd.rsqrt", X, |c| c.grad() * c.x().pow(-1.5) * -0.5),
    one("pd.exp", OUT, |c| c.grad() * c.out()),
    one("pd.expm1", X, |c| c.grad() * c.x().exp()),
    one("pd.reciprocal", X, |c| -(c.grad() / c.x().square())),
    one("pd.abs", X, |c| c.grad() * c.x().call("sign")),
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
    one("pd.pow", X | REST, |c| match c.number("y") {
        // Not 0 * x^-1, which is no number at zero.
        Ok(Some(0.0)) => c.x().filled(0.0),
        Ok(Some(y)) => c.grad() * c.x().pow(y - 1.0) * y,
        Ok(None) => failed(c, "the exponent is missing"),
        Err(e) => failed(c, &e),
    }),
    one("pd.clip", X | REST, |c| {
        let bound = |name, default| c.number(name).map(|v| c.x().filled(v.unwrap_or(default)));
        match (bound("min", f64::NEG_INFINITY), bound("max", f64::INFINITY)) {
            (Ok(low), Ok(high)) => c.grad() * c.x().test("greater_equal", &low) * c.x().test("less_equal", &high),
            (Err(e), _) | (_, Err(e)) => failed(c, &e),
        }
    }),
    one("pd.scale", REST, |c| match c.number("scale") {
        Ok(factor) => c.grad() * factor.unwrap_or(1.0),
        Err(e) => failed(c, &e),
    }),
    one("pd.assign", NONE, |c| c.grad()),
    one("pd.increment", NONE, |c| c.grad()),
    one("pd.print", NONE, |c| c.grad()),
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
    zero("pd.full_like"),
    zero("pd.shape"),
    zero("pd.shape64"),
    zero("pd.numel"),
    zero("pd.argmax"),
    zero("pd.argmin"),
];

/// What fails.
pub(super) fn failed<'e>(c: &Cx<'e>, why: &str) -> V<'e> {
    V::new(c.engine, Err(why.to_owned()))
}

/// Of the larger or the smaller of two: the winner gets the gradient, each half of it if they are equal.
fn share<'e>(c: &Cx<'e>, wins: &str, of_y: bool) -> V<'e> {
    let (x, y) = if of_y { (c.y(), c.x()) } else { (c.x(), c.y()) };
    c.grad() * (x.test(wins, &y) + x.test("equal", &y) * 0.5)
}
