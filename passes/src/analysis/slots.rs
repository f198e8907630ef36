//! Removal of what is dead: operations, and slots of control flow.
//!
//! A slot is an argument or a result that control binds: a region argument, a result of an operation with region
//! flow, an argument of a block with predecessors. Removing one means removing the operands that feed it too.

use pir_ir::{
    Analysis, BlockId, Body, Context, Detached, FlowEdit, FlowPoint, OpId, Ready, Refused, Rewriter, Successor, ValueId,
};
use smallvec::SmallVec;

use super::edges::{predecessors, successor_start};
use super::liveness::Liveness;

/// Where control binds values in a body: what has to be looked at to find slots.
#[derive(Default, PartialEq)]
pub(crate) struct FlowOps {
    /// The operations with region flow, each before those inside it.
    pub(crate) ops: Vec<OpId>,
    /// Whether some operation goes on to another block.
    pub(crate) has_successors: bool,
    /// Whether some region has several blocks.
    pub(crate) has_blocks: bool,
}

impl Analysis for FlowOps {
    fn compute(ctx: &Context, body: &Body) -> Self {
        let has_blocks = |region| body.region_blocks(region).len() > 1;
        let mut all = FlowOps {
            has_blocks: has_blocks(body.root()),
            ..FlowOps::default()
        };
        for op in body.ops_with_regions() {
            if body.region_flow(ctx, op).is_some() {
                all.ops.push(op);
            }
            all.has_blocks |= body.op_regions(op).iter().any(|&r| has_blocks(r));
        }
        all.has_successors = body.may_have_successors() && body.walk_all().any(|op| !body.successors(op).is_empty());
        all
    }
}

impl FlowOps {
    /// Whether there is nothing that binds values.
    pub(crate) fn is_empty(&self) -> bool {
        self.ops.is_empty() && !self.has_successors
    }
}

/// Removes the operations that are not live, and the slots that are not, with the operands that feed them. Nothing changes
/// where a slot cannot be removed. Gives whether something was removed.
pub fn sweep(ctx: &Context, body: &mut Body, live: &Liveness) -> bool {
    if live.is_all_live() {
        return false;
    }
    let mut edits = Vec::new();
    let mut dead_ops = Vec::new();
    for op in body.walk_all() {
        if !live.is_op_live(op) {
            dead_ops.push(op);
            continue;
        }
        if body.region_flow(ctx, op).is_none() {
            continue;
        }
        match plan(ctx, body, live, op) {
            Ok(edit) => edits.extend(edit),
            Err(_) => return false,
        }
    }
    let mut args = Vec::new();
    let mut changed = !edits.is_empty() || !dead_ops.is_empty();
    let mut r = Rewriter::new(ctx, body);
    let edits: Vec<Detached<'_>> = edits.into_iter().map(|edit| edit.detach(&mut r, &[])).collect();
    changed |= drop_successor_operands(r.body, live, &mut args);
    // Nothing alive uses what they define any more; users are after definitions, so the last one goes first.
    for op in dead_ops.into_iter().rev() {
        if r.body.is_alive(op) {
            r.body.erase_op(op);
        }
    }
    for (block, dead) in args {
        r.body
            .retain_block_args(block, |at| !dead.get(at).copied().unwrap_or(false));
    }
    for edit in edits {
        edit.finish(&mut r);
    }
    changed
}

/// Plans the removal of the dead slots of an operation with region flow.
fn plan<'c>(ctx: &'c Context, body: &Body, live: &Liveness, op: OpId) -> Result<Option<Ready<'c>>, Refused> {
    let points = std::iter::once(FlowPoint::Parent).chain((0..body.op_regions(op).len()).map(FlowPoint::Region));
    let mut edit = None;
    for to in points {
        for (at, value) in body.flow_inputs(op, to).into_iter().enumerate() {
            if live.is_value_live(value) {
                continue;
            }
            let edit = match &mut edit {
                Some(edit) => edit,
                None => edit.insert(FlowEdit::new(ctx, body, op)?),
            };
            edit.remove(to, at);
        }
    }
    let Some(edit) = edit else { return Ok(None) };
    // A user of a dead value is dead, or forwards it to a dead slot.
    edit.check_among(body, &|_| true).map(Some)
}

/// Removes operands that terminators pass to dead arguments of blocks, and notes these arguments.
fn drop_successor_operands(body: &mut Body, live: &Liveness, args: &mut Vec<(BlockId, SmallVec<[bool; 6]>)>) -> bool {
    let mut changed = false;
    let mut all: Vec<_> = predecessors(body).into_iter().collect();
    all.sort_by_key(|(block, _)| *block);
    for (block, mut from) in all {
        let dead: SmallVec<[bool; 6]> = body.block_args(block).iter().map(|&a| !live.is_value_live(a)).collect();
        if !dead.contains(&true) {
            continue;
        }
        changed = true;
        // A branch may go to the same block twice: later successors first, so that places stay right.
        from.sort_by_key(|&(op, successor)| (op, std::cmp::Reverse(successor)));
        for (op, successor) in from {
            let start = successor_start(body, op, successor);
            let kept: SmallVec<[ValueId; 6]> = body
                .operands(op)
                .enumerate()
                .filter(|&(at, _)| at < start || !dead.get(at - start).copied().unwrap_or(false))
                .map(|(_, value)| value)
                .collect();
            let mut successors: SmallVec<[Successor; 2]> = body.successors(op).into();
            successors[successor].operands -= (body.num_operands(op) - kept.len()) as u32;
            body.set_operands(op, &kept);
            body.set_successors(op, &successors);
        }
        args.push((block, dead));
    }
    changed
}
