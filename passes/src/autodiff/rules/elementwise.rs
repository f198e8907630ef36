//! Rules of elementwise operations, with broadcasting.

use pir_ir::ValueId;

use super::{Rule, RuleCx, rule};

pub(super) const RULES: &[Rule] = &[
    rule("pd.add", |cx| both(cx, |_, g| Ok(g), |_, g| Ok(g))),
    rule("pd.subtract", |cx| both(cx, |_, g| Ok(g), |cx, g| cx.scaled(g, -1.0))),
    rule("pd.multiply", |cx| {
        if cx.wants(0) && cx.r.body.operand(cx.op, 0) == cx.r.body.operand(cx.op, 1) {
            // A square that is written as a product.
            let (g, x) = (cx.grad()?, cx.operand(0));
            let t = cx.multiply(g, x)?;
            let t = cx.scaled(t, 2.0)?;
            return cx.add(0, t);
        }
        both(
            cx,
            |cx, g| {
                let y = cx.operand(1);
                cx.multiply(g, y)
            },
            |cx, g| {
                let x = cx.operand(0);
                cx.multiply(g, x)
            },
        )
    }),
    rule("pd.divide", |cx| {
        // d(x/y)/dy = -(x/y)/y: reads the result and the divisor, not the dividend, unless that is there anyway.
        let (g, y) = (cx.grad()?, cx.operand(1));
        let quotient = cx.divide(g, y)?;
        if cx.wants(0) {
            cx.add_reduced(0, quotient)?;
        }
        if cx.wants(1) {
            let out = if cx.is_captured(0) {
                let x = cx.operand(0);
                cx.divide(x, y)?
            } else {
                cx.result(0)
            };
            let t = cx.multiply(quotient, out)?;
            let t = cx.scaled(t, -1.0)?;
            cx.add_reduced(1, t)?;
        }
        Ok(())
    }),
    rule("pd.elementwise_pow", |cx| {
        both(
            cx,
            |cx, g| {
                // y * x^(y-1), rather than out * y / x, which fails at x = 0.
                let (x, y) = (cx.operand(0), cx.operand(1));
                super::scalars::of_base(cx, x, y, g)
            },
            |cx, g| {
                let (x, y, out) = (cx.operand(0), cx.operand(1), cx.result(0));
                super::scalars::logarithmic(cx, x, y, out, g)
            },
        )
    }),
    rule("pd.remainder", |cx| {
        both(
            cx,
            |_, g| Ok(g),
            |cx, g| {
                let (x, y) = (cx.operand(0), cx.operand(1));
                let q = cx.divide(x, y)?;
                let q = cx.unary("pd.floor", q)?;
                let t = cx.multiply(g, q)?;
                cx.scaled(t, -1.0)
            },
        )
    }),
    rule("pd.maximum", |cx| extremum(cx, "pd.maximum_grad")),
    rule("pd.minimum", |cx| extremum(cx, "pd.minimum_grad")),
    rule("pd.fmax", |cx| first_of_equals(cx, "pd.greater_equal")),
    rule("pd.fmin", |cx| first_of_equals(cx, "pd.less_equal")),
    rule("pd.atan2", |cx| {
        // With x = operand 0 over y = operand 1: dx = g*y/(x²+y²), dy = -g*x/(x²+y²).
        both(
            cx,
            |cx, g| {
                let (x, y) = (cx.operand(0), cx.operand(1));
                let n = sum_of_squares(cx, x, y)?;
                let t = cx.multiply(g, y)?;
                cx.divide(t, n)
            },
            |cx, g| {
                let (x, y) = (cx.operand(0), cx.operand(1));
                let n = sum_of_squares(cx, x, y)?;
                let t = cx.multiply(g, x)?;
                let t = cx.divide(t, n)?;
                cx.scaled(t, -1.0)
            },
        )
    }),
    rule("pd.where", |cx| {
        let g = cx.grad()?;
        let c = cx.operand(0);
        let zeros = super::super::cotangent::zeros_like(cx.r, g)?;
        if cx.wants(1) {
            let t = cx.emit("pd.where", &[c, g, zeros], &[])?;
            cx.add_reduced(1, t)?;
        }
        if cx.wants(2) {
            let t = cx.emit("pd.where", &[c, zeros, g], &[])?;
            cx.add_reduced(2, t)?;
        }
        Ok(())
    }),
    // Elementary functions that are best told from their result.
    rule("pd.tanh", |cx| from_result(cx, "pd.tanh_grad")),
    rule("pd.sigmoid", |cx| from_result(cx, "pd.sigmoid_grad")),
    rule("pd.relu", |cx| from_result(cx, "pd.relu_grad")),
    rule("pd.sqrt", |cx| from_result(cx, "pd.sqrt_grad")),
    rule("pd.rsqrt", |cx| from_result(cx, "pd.rsqrt_grad")),
    rule("pd.exp", |cx| {
        let (g, out) = (cx.grad()?, cx.result(0));
        let t = cx.multiply(g, out)?;
        cx.add(0, t)
    }),
    rule("pd.expm1", |cx| {
        let (g, out) = (cx.grad()?, cx.result(0));
        let e = cx.affine(out, 1.0, 1.0)?;
        let t = cx.multiply(g, e)?;
        cx.add(0, t)
    }),
    rule("pd.reciprocal", |cx| {
        let (g, out) = (cx.grad()?, cx.result(0));
        let sq = cx.unary("pd.square", out)?;
        let t = cx.multiply(g, sq)?;
        let t = cx.scaled(t, -1.0)?;
        cx.add(0, t)
    }),
    // And from their operand.
    rule("pd.abs", |cx| {
        let (g, x) = (cx.grad()?, cx.operand(0));
        let t = cx.emit("pd.abs_grad", &[x, g], &[])?;
        cx.add(0, t)
    }),
    rule("pd.neg", |cx| {
        let g = cx.grad()?;
        let t = cx.scaled(g, -1.0)?;
        cx.add(0, t)
    }),
    rule("pd.square", |cx| times(cx, |cx, x| cx.scaled(x, 2.0))),
    rule("pd.log", |cx| over(cx, |_, x| Ok(x))),
    rule("pd.log2", |cx| over(cx, |cx, x| cx.scaled(x, std::f64::consts::LN_2))),
    rule("pd.log10", |cx| over(cx, |cx, x| cx.scaled(x, std::f64::consts::LN_10))),
    rule("pd.log1p", |cx| over(cx, |cx, x| cx.affine(x, 1.0, 1.0))),
    rule("pd.sin", |cx| times(cx, |cx, x| cx.unary("pd.cos", x))),
    rule("pd.cos", |cx| {
        times(cx, |cx, x| {
            let s = cx.unary("pd.sin", x)?;
            cx.scaled(s, -1.0)
        })
    }),
    rule("pd.tan", |cx| {
        let (g, out) = (cx.grad()?, cx.result(0));
        let sq = cx.unary("pd.square", out)?;
        let d = cx.affine(sq, 1.0, 1.0)?;
        let t = cx.multiply(g, d)?;
        cx.add(0, t)
    }),
    rule("pd.sinh", |cx| times(cx, |cx, x| cx.unary("pd.cosh", x))),
    rule("pd.cosh", |cx| times(cx, |cx, x| cx.unary("pd.sinh", x))),
    rule("pd.asin", |cx| {
        over(cx, |cx, x| {
            let sq = cx.unary("pd.square", x)?;
            let d = cx.affine(sq, -1.0, 1.0)?;
            cx.unary("pd.sqrt", d)
        })
    }),
    rule("pd.acos", |cx| {
        let (g, x) = (cx.grad()?, cx.operand(0));
        let sq = cx.unary("pd.square", x)?;
        let d = cx.affine(sq, -1.0, 1.0)?;
        let s = cx.unary("pd.sqrt", d)?;
        // Negated behind the division: minus zero would turn the infinity at the ends around.
        let t = cx.divide(g, s)?;
        let t = cx.scaled(t, -1.0)?;
        cx.add(0, t)
    }),
    rule("pd.atan", |cx| {
        over(cx, |cx, x| {
            let sq = cx.unary("pd.square", x)?;
            cx.affine(sq, 1.0, 1.0)
        })
    }),
    rule("pd.erf", |cx| {
        times(cx, |cx, x| {
            let sq = cx.unary("pd.square", x)?;
            let n = cx.scaled(sq, -1.0)?;
            let e = cx.unary("pd.exp", n)?;
            cx.scaled(e, std::f64::consts::FRAC_2_SQRT_PI)
        })
    }),
    rule("pd.assign", pass_on),
    rule("pd.increment", pass_on),
    rule("pd.print", pass_on),
    rule("pd.cast", |cx| {
        let g = cx.grad()?;
        let dtype = cx.ctx().type_attr(cx.ctx().elem_type(cx.operand_type(0)));
        let t = cx.emit("pd.cast", &[g], &[("dtype", dtype)])?;
        cx.add(0, t)
    }),
    rule("pd.add_n", |cx| {
        let g = cx.grad()?;
        for index in 0..cx.num_operands() {
            if let pir_ir::TypeData::List(items) = cx.ctx().type_data(cx.operand_type(index)) {
                for element in 0..items.len() {
                    cx.add_element(index, element, g)?;
                }
            } else if cx.wants(index) {
                cx.add(index, g)?;
            }
        }
        Ok(())
    }),
];

type Side = fn(&mut RuleCx<'_, '_>, ValueId) -> Result<ValueId, String>;

/// A binary operation with broadcasting, by the two partial derivatives.
fn both(cx: &mut RuleCx<'_, '_>, x: Side, y: Side) -> Result<(), String> {
    let g = cx.grad()?;
    for (index, side) in [x, y].into_iter().enumerate() {
        if cx.wants(index) {
            let t = side(cx, g)?;
            cx.add_reduced(index, t)?;
        }
    }
    Ok(())
}

/// The larger or the smaller: a `_grad` twin that splits ties evenly.
fn extremum(cx: &mut RuleCx<'_, '_>, twin: &str) -> Result<(), String> {
    let (g, x, y) = (cx.grad()?, cx.operand(0), cx.operand(1));
    let op = cx.r.op(twin).operands([x, y, g]).infer()?;
    for index in 0..2 {
        if cx.wants(index) {
            let t = cx.r.body.result(op, index);
            cx.add_reduced(index, t)?;
        }
    }
    Ok(())
}

/// The larger or the smaller, where a NaN loses: the first of equal ones gets the cotangent, and of two NaNs.
fn first_of_equals(cx: &mut RuleCx<'_, '_>, test: &str) -> Result<(), String> {
    let (g, x, y) = (cx.grad()?, cx.operand(0), cx.operand(1));
    let (wins, unknown) = (cx.emit(test, &[x, y], &[])?, cx.unary("pd.isnan", y)?);
    let first = cx.emit("pd.logical_or", &[wins, unknown], &[])?;
    let zeros = super::super::cotangent::zeros_like(cx.r, g)?;
    for (index, parts) in [[g, zeros], [zeros, g]].into_iter().enumerate() {
        if cx.wants(index) {
            let t = cx.select(first, parts[0], parts[1])?;
            cx.add_reduced(index, t)?;
        }
    }
    Ok(())
}

/// A unary operation whose `_grad` twin reads the result and its cotangent.
fn from_result(cx: &mut RuleCx<'_, '_>, twin: &str) -> Result<(), String> {
    let (g, out) = (cx.grad()?, cx.result(0));
    let t = cx.emit(twin, &[out, g], &[])?;
    cx.add(0, t)
}

/// A unary operation with derivative `d(x)`.
fn times(cx: &mut RuleCx<'_, '_>, d: Side) -> Result<(), String> {
    let (g, x) = (cx.grad()?, cx.operand(0));
    let mark = cx.r.created_mark();
    let d = d(cx, x)?;
    // What ends in a sum gets ones, which need not be multiplied with.
    let emitted = cx.r.created_since(mark).last().copied();
    let is_new = emitted.is_some() && emitted == cx.r.body.defining_op(d);
    let t = match is_new && is_ones(cx, g) && cx.r.body.value_type(g) == cx.r.body.value_type(d) {
        true => d,
        false => cx.multiply(g, d)?,
    };
    cx.add(0, t)
}

/// Whether a value is known to be ones.
fn is_ones(cx: &RuleCx<'_, '_>, value: ValueId) -> bool {
    let defined = |value: ValueId| cx.r.body.defining_op(value).map(|op| cx.r.view(op));
    let mut at = defined(value);
    if let Some(view) = at.filter(|view| view.name() == "pd.expand") {
        at = view.operand(0).and_then(defined);
    }
    at.is_some_and(|view| view.name() == "pd.full" && view.f64("value") == Some(1.0))
}

/// A unary operation with derivative `1 / d(x)`.
fn over(cx: &mut RuleCx<'_, '_>, d: Side) -> Result<(), String> {
    let (g, x) = (cx.grad()?, cx.operand(0));
    let d = d(cx, x)?;
    let t = cx.divide(g, d)?;
    cx.add(0, t)
}

/// The cotangent goes through unchanged.
fn pass_on(cx: &mut RuleCx<'_, '_>) -> Result<(), String> {
    let g = cx.grad()?;
    cx.add(0, g)
}

fn sum_of_squares(cx: &mut RuleCx<'_, '_>, x: ValueId, y: ValueId) -> Result<ValueId, String> {
    let (a, b) = (cx.unary("pd.square", x)?, cx.unary("pd.square", y)?);
    cx.emit("pd.add", &[a, b], &[])
}
