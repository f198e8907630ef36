//! Gradients of elementwise functions, as TensorFlow's own gradients have them: graphs that contain a training step, and gradients of
//! gradients.

use pir_dialects::pd::Expr;

use super::row::{Read, Row};
use super::select::{ALPHA, SCALE};

/// In terms of the result.
const RECIPROCAL: Read = |r, at| r.build(at, 2, |x| Ok(vec![-(x[1] * x[0] * x[0])]));

pub(super) const TABLE: &[Row] = &[
    // In terms of the result.
    ("EluGrad", "T T", "", |r, at| {
        r.build(at, 2, |x| Ok(vec![below(x[1], x[0] * (x[1] + 1.0), x[0])]))
    }),
    ("InvGrad", "T T", "", RECIPROCAL),
    // In terms of the operand, or of the result, which has the same sign.
    ("LeakyReluGrad", "T T", "alpha=0.2", |r, at| {
        let alpha = r.float(at, "alpha", 0.2);
        r.build(at, 2, |x| Ok(vec![x[1].above(0.0).select(x[0], x[0] * alpha)]))
    }),
    ("ReciprocalGrad", "T T", "", RECIPROCAL),
    ("Relu6Grad", "T T", "", |r, at| {
        r.build(at, 2, |x| {
            let inside = x[1].above(0.0).logical_and((-x[1]).above(-6.0));
            Ok(vec![inside.select(x[0], x[0].zeros())])
        })
    }),
    // In terms of the result.
    ("SeluGrad", "T T", "", |r, at| {
        r.build(at, 2, |x| {
            Ok(vec![below(x[1], x[0] * (x[1] + SCALE * ALPHA), x[0] * SCALE)])
        })
    }),
    ("SoftplusGrad", "T T", "", |r, at| {
        r.build(at, 2, |x| Ok(vec![x[0] * x[1].sigmoid()]))
    }),
    ("SoftsignGrad", "T T", "", |r, at| {
        r.build(at, 2, |x| Ok(vec![x[0] / x[1].abs().affine(1.0, 1.0).square()]))
    }),
];

/// One value where a number is negative, and the other elsewhere.
fn below<'c>(x: Expr<'c>, yes: Expr<'c>, no: Expr<'c>) -> Expr<'c> {
    (-x).above(0.0).select(yes, no)
}
