//! Step 1, `stack-locals`: records the locals of every loop and branch that the derivative passes through.
//!
//! The operation gets an init region that makes a stack; each of its other regions pushes all of its locals, in order
//! of definition, right before its terminator; the stack becomes the last result. What need not be recorded is not
//! decided here but by [`prune`](super::prune), when it is known what the derivative reads. An operation that has a
//! stack already (it was differentiated before) gets a second one, made in front of it and captured.

use pir_dialects::cf;
use pir_ir::{BlockId, Body, Context, FlowEdit, OpId, OpSpec, Rewriter, ValueId};
use smallvec::SmallVec;

use super::activity::Activity;
use super::control_ops::{ControlOps, locals};
use super::dense::DenseMap;

/// What recording changes apart from pushes.
#[derive(Default)]
pub(crate) struct Changes {
    /// The results of operations that were recreated with a stack, and the new results that replace them.
    pub(crate) renamed: DenseMap,
    /// The operations that got an entry region.
    pub(crate) entered: Vec<OpId>,
}

/// Records the locals of the active operations of a body.
pub(crate) fn run(ctx: &Context, body: &mut Body, activity: &Activity) -> Changes {
    let names = ControlOps::avoiding(ctx, body, &["stack"]);
    // Inner operations first: their results and stacks are locals of the outer ones.
    let ops: Vec<OpId> = body
        .ops_with_regions_inside_out()
        .into_iter()
        .filter(|&op| names.kind(body, op).is_some() && activity.passes_through(body, op))
        .collect();
    if !ops.is_empty() {
        // For the pushes, and for the three operations for each that `build-backward` reserves: a large body is moved once.
        body.reserve_ops(7 * body.num_op_slots());
    }
    let mut r = Rewriter::new(ctx, body);
    let mut changes = Changes::default();
    for op in ops {
        add_else(&mut r, &names, op);
        let Some(form) = names.form(r.body, op) else {
            continue;
        };
        let stack = match form.entry {
            Some(_) => Some(create_stack(&mut r, &names, op)),
            None if add_entry(&mut r, &names, op, &mut changes) => None,
            None => continue,
        };
        for block in form.present() {
            let own = r.body.block_args(block).last().copied();
            if let Some(stack) = stack.or(own) {
                push_locals(&mut r, &names, block, stack);
            }
        }
    }
    changes
}

/// A branch without results may lack its else; its dual has results where it pushes on a stack.
pub(super) fn add_else(r: &mut Rewriter<'_>, names: &ControlOps, op: OpId) {
    if let Some(&[.., first, last]) = Some(r.body.op_regions(op))
        && r.body.region_blocks(last).is_empty()
        && let Some(end) = r.body.region_terminator(first)
    {
        let block = r.body.create_block(last);
        r.set_span(r.body.op_span(op));
        let end = names.ctx.op_str(r.body.op_name(end));
        r.at_end(block).op(end).build();
    }
}

fn create_stack(r: &mut Rewriter<'_>, names: &ControlOps, before: OpId) -> ValueId {
    let stack = r.before(before).op(cf::CREATE_STACK).result(names.stack).value();
    r.name(stack, &names.spelled("stack"));
    stack
}

fn push_locals(r: &mut Rewriter<'_>, names: &ControlOps, block: BlockId, stack: ValueId) {
    let Some(terminator) = r.body.last_op(block) else {
        return;
    };
    let values: Vec<ValueId> = locals(names, r.body, block).collect();
    r.before(terminator);
    for value in values {
        r.create(OpSpec {
            operands: &[stack, value],
            ..OpSpec::new(names.push)
        });
    }
}

/// Gives an operation an entry region that makes a stack, unless it can have none.
fn add_entry(r: &mut Rewriter<'_>, names: &ControlOps, op: OpId, changes: &mut Changes) -> bool {
    let edit = FlowEdit::new(names.ctx, r.body, op).and_then(|mut edit| {
        edit.add_entry(cf::CREATE_STACK, names.stack);
        edit.check(r.body)
    });
    let Ok(ready) = edit else { return false };
    let before: SmallVec<[ValueId; 4]> = r.body.results(op).collect();
    let op = ready.apply(r, &[]).op;
    // The stack comes last.
    for (old, new) in before.into_iter().zip(r.body.results(op)) {
        changes.renamed.insert(old, new);
    }
    changes.entered.push(op);
    let regions = r.body.op_regions(op).iter();
    let ends = regions.filter_map(|&region| r.body.operands(r.body.region_terminator(region)?).next_back());
    let handles: Vec<ValueId> = ends.chain(r.body.results(op).next_back()).collect();
    for handle in handles {
        r.name(handle, &names.spelled("stack"));
    }
    true
}
