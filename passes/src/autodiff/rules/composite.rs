//! Rules of operations whose rows hold programs: their own vector-Jacobian product, or the derivative of what they compute;
//! and of calls that have a derivative of their own.

use pir_dialects::func;
use pir_dialects::marks::NO_VJP;
use pir_ir::verify::compatible;
use pir_ir::{AttrData, OpDef, Restated, Semantics, ValueId, VjpArgs};
use smallvec::SmallVec;

use super::super::cotangent::{zeros_like, zeros_of};
use super::expand::expanded;
use super::{Rule, RuleCx, rule};

/// The rule of an operation with a program for its vector-Jacobian product.
const VJP: Rule = rule("", vjp).complex();
/// The rule of an operation whose semantics is a program.
pub(super) const EXPANDED: Rule = rule("", expanded).of(expand).complex();

/// The rule of a call with a user-defined derivative.
pub(super) static CUSTOM: Rule = rule("", custom).complex();

/// The rule that follows from the row of an operation.
pub(super) fn rule_of(def: &OpDef) -> Option<Rule> {
    match def.semantics.as_deref()? {
        semantics if semantics.has_vjp() => Some(VJP),
        semantics if semantics.has_expansion() => Some(EXPANDED),
        _ => None,
    }
}

fn semantics<'a>(cx: &RuleCx<'_, 'a>) -> Result<&'a dyn Semantics, String> {
    let def = cx.ctx().op_def(cx.r.body.op_name(cx.op));
    let semantics = def.and_then(|def| def.semantics.as_deref());
    semantics.ok_or_else(|| "it has no expansion".to_owned())
}

/// Differentiates the composition of the operation, if its attributes select one, and otherwise applies its
/// vector-Jacobian product.
pub(super) fn by_attributes(cx: &mut RuleCx<'_, '_>) -> Result<(), String> {
    match cx.r.view(cx.op).is_composite() {
        true => expanded(cx),
        false => vjp(cx),
    }
}

/// Emits what the operation computes.
pub(super) fn expand(cx: &mut RuleCx<'_, '_>) -> Result<SmallVec<[ValueId; 2]>, String> {
    let semantics = semantics(cx)?;
    let operands: SmallVec<[ValueId; 4]> = (0..cx.num_operands()).map(|index| cx.operand(index)).collect();
    semantics.expand(cx.r, cx.op, &operands)
}

/// The operands, the results, and the cotangents of the results, with zeros for absent ones.
fn read(cx: &mut RuleCx<'_, '_>) -> Result<[SmallVec<[ValueId; 4]>; 3], String> {
    let operands = (0..cx.num_operands()).map(|index| cx.operand(index)).collect();
    let results = (0..cx.r.body.num_results(cx.op)).map(|index| cx.result(index));
    let results: SmallVec<[ValueId; 4]> = results.collect();
    let mut cotangents: SmallVec<[ValueId; 4]> = SmallVec::new();
    for (index, &result) in results.iter().enumerate() {
        cotangents.push(match cx.grads.get(index).copied().flatten() {
            Some(grad) => grad,
            None => zeros_like(cx.r, result)?,
        });
    }
    Ok([operands, results, cotangents])
}

/// Refuses a call whose mark excludes the derivative of an operand that needs one.
fn refuse(cx: &RuleCx<'_, '_>) -> Result<(), String> {
    let (ctx, body) = (cx.ctx(), &*cx.r.body);
    let refused = NO_VJP.get(ctx, body.attrs(cx.op)).map(|attr| ctx.attr_data(attr));
    let Some(AttrData::Ints(refused)) = refused else {
        return Ok(());
    };
    let needed = |&index: &i64| {
        let operand = usize::try_from(index).ok().filter(|&i| i < body.num_operands(cx.op));
        operand.is_some_and(|i| (cx.active)(body.operand(cx.op, i)))
    };
    match refused.iter().find(|&index| needed(index)) {
        None => Ok(()),
        Some(index) => {
            let callee = func::callee(ctx, body, cx.op).unwrap_or_default();
            let callee: Vec<&str> = callee.iter().map(|&sym| ctx.str(sym)).collect();
            Err(format!(
                "`@{}` has no derivative with respect to operand {index}",
                callee.join("::@")
            ))
        }
    }
}

fn custom(cx: &mut RuleCx<'_, '_>) -> Result<(), String> {
    let custom = cx.rules.custom(cx.op).cloned();
    let custom = custom.ok_or("the function has no derivative of its own")?;
    if custom.adjoint {
        let args = read_for_adjoint(cx)?;
        let grads = custom.emit(cx.r, &args);
        return add_all(cx, false, grads);
    }
    refuse(cx)?;
    let [operands, results, mut cotangents] = read(cx)?;
    let args = match custom.marked {
        false => [operands, results, cotangents].concat(),
        true => {
            for (index, cotangent) in cotangents.iter_mut().enumerate() {
                // In the place of the cotangent of an integer there may be anything.
                let wanted = custom.cotangent_type(operands.len(), index);
                if let Some(ty) = wanted.filter(|&ty| !cx.ctx().is_continuous(ty))
                    && !compatible(cx.ctx(), cx.r.body.value_type(*cotangent), ty)
                {
                    *cotangent = zeros_of(cx.r, ty)?;
                }
            }
            [operands, cotangents].concat()
        }
    };
    let grads = custom.emit(cx.r, &args);
    add_all(cx, custom.marked, grads)
}

/// The tape, which is the last result, and the cotangents of the results that are floats: zeros for those that have none.
fn read_for_adjoint(cx: &mut RuleCx<'_, '_>) -> Result<Vec<ValueId>, String> {
    let last = cx.r.body.num_results(cx.op).checked_sub(1);
    let mut args = vec![cx.result(last.ok_or("the call returns no tape")?)];
    for (index, result) in cx.r.body.results(cx.op).enumerate() {
        if !cx.ctx().is_continuous(cx.r.body.value_type(result)) {
            continue;
        }
        args.push(match cx.grads.get(index).copied().flatten() {
            Some(grad) => grad,
            None => {
                let result = cx.result(index);
                zeros_like(cx.r, result)?
            }
        });
    }
    Ok(args)
}

/// Adds cotangents to those of the operands, of `all` or of the ones that are floats.
fn add_all(cx: &mut RuleCx<'_, '_>, all: bool, grads: impl IntoIterator<Item = ValueId>) -> Result<(), String> {
    let mut grads = grads.into_iter();
    for index in 0..cx.num_operands() {
        let ty = cx.operand_type(index);
        if (all || cx.ctx().is_continuous(ty))
            && let Some(grad) = grads.next()
            && cx.wants(index)
        {
            let grad = Restated::default().state(cx.r, grad, ty);
            cx.add(index, grad)?;
        }
    }
    Ok(())
}

fn vjp(cx: &mut RuleCx<'_, '_>) -> Result<(), String> {
    let semantics = semantics(cx)?;
    let [operands, results, cotangents] = read(cx)?;
    let args = VjpArgs {
        operands: &operands,
        results: &results,
        cotangents: &cotangents,
    };
    for (index, cotangent) in semantics.vjp(cx.r, cx.op, args)? {
        if cx.wants(index) {
            cx.add(index, cotangent)?;
        }
    }
    Ok(())
}
