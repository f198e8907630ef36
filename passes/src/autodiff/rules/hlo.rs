//! Windows of StableHLO at computed indices. Their derivatives are windows at the same indices: written in operations of `pd` they
//! would be gathered and scattered element by element.

use pir_dialects::stablehlo::from_pd::array;
use pir_dialects::stablehlo::ops::{CustomCall, DynamicSlice, DynamicUpdateSlice};
use pir_ir::{Arith, ValueId};
use smallvec::SmallVec;

use super::super::cotangent::zeros_like;
use super::composite::{by_attributes, expand};
use super::{Rule, RuleCx, rule};

pub(super) const RULES: &[Rule] = &[
    rule(DynamicSlice::NAME, dynamic_slice).complex(),
    rule(DynamicUpdateSlice::NAME, dynamic_update_slice).complex(),
    // The name of the function selects whether a formula or the expansion is differentiated.
    rule(CustomCall::NAME, by_attributes).of(expand).complex(),
];

type Indices = SmallVec<[ValueId; 4]>;

fn put(cx: &mut RuleCx<'_, '_>, into: ValueId, window: ValueId, at: &Indices) -> ValueId {
    let ty = cx.r.body.value_type(into);
    let op = cx.r.op(DynamicUpdateSlice::NAME).operand(into).operand(window);
    op.operands(at.iter().copied()).result(ty).value()
}

/// The window of a tensor that is as large as another one.
fn take(cx: &mut RuleCx<'_, '_>, from: ValueId, like: ValueId, at: &Indices) -> ValueId {
    let ty = cx.r.body.value_type(like);
    let sizes = cx.ctx().as_tensor(ty).map_or(&[][..], |(shape, _)| shape);
    let sizes = array(cx.ctx(), sizes);
    let op = cx.r.op(DynamicSlice::NAME).operand(from).operands(at.iter().copied());
    op.attr("slice_sizes", sizes).result(ty).value()
}

/// Adds the cotangent to that of the operand, at the position of the window; only the window is updated if there is a
/// cotangent already.
fn dynamic_slice(cx: &mut RuleCx<'_, '_>) -> Result<(), String> {
    let Some(grad) = cx.grads.first().copied().flatten() else {
        return Ok(());
    };
    let at: Indices = (1..cx.num_operands()).map(|index| cx.operand(index)).collect();
    if let Some(sum) = cx.accumulator(0) {
        let before = take(cx, sum, grad, &at);
        let window = cx.r.compute(Arith::Add, &[before, grad])?;
        let sum = put(cx, sum, window, &at);
        return cx.accumulated(0, sum);
    }
    let operand = cx.operand(0);
    let zeros = zeros_like(cx.r, operand)?;
    let whole = put(cx, zeros, grad, &at);
    cx.add(0, whole)
}

/// The cotangent of the operand is zero in the window; that of the update is the window.
fn dynamic_update_slice(cx: &mut RuleCx<'_, '_>) -> Result<(), String> {
    let Some(grad) = cx.grads.first().copied().flatten() else {
        return Ok(());
    };
    let at: Indices = (2..cx.num_operands()).map(|index| cx.operand(index)).collect();
    let update = cx.operand(1);
    if cx.wants(1) {
        let window = take(cx, grad, update, &at);
        cx.add(1, window)?;
    }
    if cx.wants(0) {
        let zeros = zeros_like(cx.r, update)?;
        let rest = put(cx, grad, zeros, &at);
        cx.add(0, rest)?;
    }
    Ok(())
}
