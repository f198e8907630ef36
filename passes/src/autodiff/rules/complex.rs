//! Complex numbers of PaddlePaddle's, where the gradient operations that its declarations name do not exist: it applies the other
//! operation instead.

use pir_dialects::pd;

use super::super::cotangent::conjugated;
use super::{Rule, RuleCx, rule};

pub(super) const RULES: &[Rule] = &[
    rule(pd::Conj::NAME, |cx| by(cx, None)).complex(),
    rule(pd::AsComplex::NAME, |cx| by(cx, Some(pd::AsReal::NAME))).complex(),
    rule(pd::AsReal::NAME, |cx| by(cx, Some(pd::AsComplex::NAME))).complex(),
];

/// The cotangent is the conjugate of that of the result, as numbers of the other form.
fn by(cx: &mut RuleCx<'_, '_>, other: Option<&str>) -> Result<(), String> {
    let Some(grad) = cx.grads.first().copied().flatten() else {
        return Ok(());
    };
    let (ty, grad) = (cx.operand_type(0), conjugated(cx.r, grad));
    let grad = match other {
        // One of both forms is complex.
        Some(name) => {
            let out = cx.r.op(name).operand(grad).result(ty).value();
            conjugated(cx.r, out)
        }
        None => grad,
    };
    cx.add(0, grad)
}
