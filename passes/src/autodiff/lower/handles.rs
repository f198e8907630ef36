//! Handles without detours: operations on stacks use what made the stack, and control takes no handles along.

use pir_dialects::cf;
use pir_ir::{Diagnostic, FlowEdit, FlowPoint, OpId, Rewriter, ValueDef, ValueId};
use rustc_hash::FxHashMap;

use crate::analysis::{Provenance, is_handle_type};
use crate::autodiff::control_ops::ControlOps;

/// An error about a stack.
pub(super) fn refused(r: &Rewriter<'_>, value: ValueId, why: &str) -> Diagnostic {
    let block = |value| r.body.value_block(value).and_then(|b| r.body.block_parent(b));
    let op = r.body.defining_op(value).or_else(|| block(value));
    let error = Diagnostic::error("stack-unknown", format!("a stack cannot become a tensor: {why}"))
        .help("use the result of `cf.create_stack`, or of the pop that removes the stack from another one");
    match op {
        Some(op) => error.label(r.body.op_span(op), "this stack"),
        None => error,
    }
}

/// Makes every use of a handle one of what made the stack: `cf.create_stack`, or the pop that took it off another one.
///
/// # Errors
/// When it is not known of a handle which stack it is.
pub(super) fn make_direct(r: &mut Rewriter<'_>, names: &ControlOps) -> Result<(), Vec<Diagnostic>> {
    let provenance = r.body.analysis::<Provenance>(names.ctx);
    let mut errors = Vec::new();
    for &handle in provenance.handles() {
        if !names.is_stack(r.body, handle) {
            // Other handles are unrelated, except lists that contain stacks.
            if is_handle_type(names.ctx, r.body.value_type(handle)) && holds_stack(r, names, handle) {
                errors.push(refused(r, handle, "it is in a list"));
            }
            continue;
        }
        let root = provenance.root(handle);
        let maker = r.body.defining_op(root).map(|op| r.body.op_name(op));
        if provenance.doubt(handle).is_some() {
            errors.push(refused(r, handle, "it may be one of several stacks"));
        } else if maker == Some(names.copy) {
            errors.push(refused(r, handle, "it is a copy"));
        } else if maker != Some(names.create) && maker != Some(names.pop) {
            errors.push(refused(r, handle, "its origin is unknown"));
        }
    }
    if !errors.is_empty() {
        errors.dedup();
        return Err(errors);
    }
    let mut roots: FxHashMap<ValueId, ValueId> = FxHashMap::default();
    for &handle in provenance.handles() {
        if names.is_stack(r.body, handle) {
            roots.insert(handle, provenance.root(handle));
        }
    }
    // Operations of an entry region move before the operation.
    let ops: Vec<OpId> = r.body.walk_all().collect();
    let mut moved: FxHashMap<ValueId, ValueId> = FxHashMap::default();
    for &op in &ops {
        let parent = r.body.parent_op(op).filter(|_| r.body.op_name(op) == names.create);
        let Some(parent) = parent else { continue };
        let entry = names.form(r.body, parent).and_then(|form| form.entry);
        if entry.is_some() && r.body.op_region(op) == entry {
            let attrs = r.body.attrs(op);
            let stack = r.before(parent).op(cf::CREATE_STACK).attrs(attrs);
            let stack = stack.result(names.stack).value();
            r.name_like(stack, r.body.result(op, 0), "");
            moved.insert(r.body.result(op, 0), stack);
        }
    }
    let resolved = |handle: &ValueId| {
        let root = roots.get(handle).copied().unwrap_or(*handle);
        moved.get(&root).copied().unwrap_or(root)
    };
    for op in ops {
        if r.body.op_regions(op).is_empty() || !r.body.is_alive(op) {
            for at in 0..r.body.num_operands(op) {
                let old = r.body.operand(op, at);
                let hands_on = r.body.flow_of_operands(names.ctx, op).is_some();
                if roots.contains_key(&old) && !hands_on && resolved(&old) != old {
                    r.body.set_operand(op, at, resolved(&old));
                }
            }
            continue;
        }
        carry_none(r, names, op, &resolved)?;
    }
    Ok(())
}

fn holds_stack(r: &Rewriter<'_>, names: &ControlOps, handle: ValueId) -> bool {
    pir_ir::text::print_type(names.ctx, r.body.value_type(handle)).contains("cf.stack")
}

/// Takes the handles out of what control takes along through an operation.
fn carry_none(
    r: &mut Rewriter<'_>,
    names: &ControlOps,
    op: OpId,
    resolved: &dyn Fn(&ValueId) -> ValueId,
) -> Result<(), Vec<Diagnostic>> {
    let points = std::iter::once(FlowPoint::Parent).chain((0..r.body.op_regions(op).len()).map(FlowPoint::Region));
    let points: Vec<FlowPoint> = points.collect();
    let is_stack = |value: &ValueId| names.is_stack(r.body, *value);
    let entry = names.form(r.body, op).and_then(|form| form.entry);
    let has_stacks = |point: &FlowPoint| r.body.flow_inputs(op, *point).iter().any(is_stack);
    if !points.iter().any(has_stacks) {
        return Ok(());
    }
    let error = |refused: pir_ir::Refused, r: &Rewriter<'_>| vec![refused.diagnostic(r.body)];
    let mut edit = FlowEdit::new(names.ctx, r.body, op).map_err(|e| error(e, r))?;
    for &point in &points {
        for (at, value) in r.body.flow_inputs(op, point).into_iter().enumerate() {
            if names.is_stack(r.body, value) {
                edit.replace(r.body, point, at, resolved(&value));
            }
        }
    }
    let makes_stack = entry
        .and_then(|entry| r.body.region_terminator(entry))
        .and_then(|end| r.body.operands(end).next_back())
        .is_some_and(|value| names.is_stack(r.body, value) && matches!(r.body.value_def(value), ValueDef::Result(..)));
    if makes_stack {
        edit.remove_entry(r.body);
    }
    let ready = edit.check(r.body).map_err(|e| error(e, r))?;
    ready.apply(r, &[]);
    Ok(())
}
