//! Signatures of functions that return gradients: after their results, and with `seed=args` of cotangents that are arguments,
//! after their own.
//!
//! The attribute `pir.cotangents = [2, 3]` of such a function states that its last two arguments are cotangents of results,
//! and its last three results the gradients.

use pir_dialects::func;
use pir_dialects::marks::COTANGENTS;
use pir_ir::{BlockId, Body, Context, Module, OpId, Rewriter, Traits, Type, TypeData, ValueId};

use super::functions::is_adjoint;
use super::memory::is_buffer;
use crate::bodies::inner_bodies_mut;

/// Adds the argument that is the cotangent of an output, the one at this place.
pub(super) fn add_cotangent(r: &mut Rewriter<'_>, block: BlockId, output: ValueId, at: usize) -> ValueId {
    let argument = r.body.add_block_arg(block, r.body.value_type(output), None);
    r.name(argument, &format!("ct{at}"));
    argument
}

/// Adds the argument that is the shadow of one that is a buffer.
pub(super) fn add_shadow(r: &mut Rewriter<'_>, block: BlockId, buffer: ValueId) -> ValueId {
    let argument = r.body.add_block_arg(block, r.body.value_type(buffer), None);
    r.name_like(argument, buffer, "_grad");
    argument
}

/// How many of the last arguments of a function are cotangents, and how many of its last results gradients.
pub(super) fn cotangents(ctx: &Context, body: &Body, function: OpId) -> Option<(usize, usize)> {
    let counts = COTANGENTS.get(ctx, body.attrs(function))?;
    let &[arguments, gradients] = ctx.attr_ints(counts)? else {
        return None;
    };
    Some((usize::try_from(arguments).ok()?, usize::try_from(gradients).ok()?))
}

/// Takes the attribute away.
pub(super) fn forget(ctx: &Context, body: &mut Body, function: OpId) {
    let attrs = COTANGENTS.remove(ctx, body.attrs(function));
    body.set_attrs(function, attrs);
}

/// Updates function types to the arguments and results after differentiation.
pub(super) fn extend(module: &mut Module) {
    for_each_function(module, |ctx, body, function, new, old| {
        let (added, gradients) = (
            new.0.len().checked_sub(old.0.len()),
            new.1.len().checked_sub(old.1.len()),
        );
        let (Some(added), Some(gradients)) = (added, gradients) else {
            return;
        };
        if gradients > 0 || added > 0 {
            func::set_type(ctx, body, function, new.0, new.1);
        }
        // Shadows of buffers are given back in place.
        let cotangents = new.0[old.0.len()..].iter().any(|&ty| !is_buffer(ctx, ty));
        if added > 0 && (cotangents || is_adjoint(ctx, body, function)) {
            let counts = ctx.ints_attr(&[added as i64, gradients as i64]);
            let attrs = COTANGENTS.set(ctx, body.attrs(function), counts);
            body.set_attrs(function, attrs);
        }
    });
}

/// Makes the types of functions agree with what they return after gradients were removed, and removes the cotangents
/// that they were computed from.
pub(super) fn restore(module: &mut Module) {
    for_each_function(module, |ctx, body, function, new, old| {
        if new.1.len() >= old.1.len() {
            return;
        }
        let mut inputs = old.0;
        if let Some((arguments, gradients)) = cotangents(ctx, body, function)
            && new.1.len() + gradients == old.1.len()
            && let Some(kept) = erase_last_arguments(body, function, arguments)
        {
            inputs = &inputs[..kept];
            forget(ctx, body, function);
        }
        func::set_type(ctx, body, function, inputs, new.1);
    });
}

/// Takes the last arguments of a function away, if nothing uses them; gives how many are left.
fn erase_last_arguments(body: &mut Body, function: OpId, count: usize) -> Option<usize> {
    let inner = body.isolated_mut(function)?;
    let entry = inner.entry_block(inner.root())?;
    let kept = inner.block_args(entry).len().checked_sub(count)?;
    if inner.block_args(entry)[kept..].iter().any(|&v| inner.has_uses(v)) {
        return None;
    }
    inner.retain_block_args(entry, |at| at < kept);
    Some(kept)
}

/// The types of the arguments and of the results.
type Types<'t> = (&'t [Type], &'t [Type]);

/// Visits the functions of one block, with their actual and their declared types.
fn for_each_function(module: &mut Module, mut f: impl FnMut(&Context, &mut Body, OpId, Types<'_>, Types<'_>)) {
    let ctx = module.ctx.clone();
    let mut pending = vec![&mut module.body];
    while let Some(body) = pending.pop() {
        if !body.has_isolated() {
            continue;
        }
        let is_function = |&op: &OpId| body.view(&ctx, op).has(Traits::FUNCTION);
        for op in body.walk_all().filter(is_function).collect::<Vec<_>>() {
            let new = body.isolated(op).and_then(|inner| {
                let block = inner.single_block(inner.root())?;
                let end = inner.last_op(block)?;
                let types = |values: &mut dyn Iterator<Item = ValueId>| -> Vec<Type> {
                    values.map(|v| inner.value_type(v)).collect()
                };
                let taken = types(&mut inner.block_args(block).iter().copied());
                Some((taken, types(&mut inner.operands(end))))
            });
            if let Some((taken, returned)) = new
                && let Some(attr) = body.attr(&ctx, op, "function_type")
                && let Some(ty) = ctx.attr_type(attr)
                && let TypeData::Function { inputs, results } = ctx.type_data(ty)
            {
                f(&ctx, body, op, (&taken, &returned), (inputs, results));
            }
        }
        pending.extend(inner_bodies_mut(&ctx, body));
    }
}
