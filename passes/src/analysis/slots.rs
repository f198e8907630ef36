//! Removal of what is dead: operations, and slots of control flow.
//!
//! A slot is an argument or a result that control binds: a region argument, a result of an operation with region
//! flow, an argument of a block with predecessors. Removing one means removing the operands that feed it too.

use pir_ir::{Analysis, BlockId, Body, Context, FlowPoint, OpId, Rewriter, Successor, ValueId};
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
        for op in body.walk_all() {
            if body.region_flow(ctx, op).is_some() {
                all.ops.push(op);
            }
            all.has_successors |= !body.successors(op).is_empty();
            all.has_blocks |= body.op_regions(op).iter().any(|&r| has_blocks(r));
        }
        all
    }
}

impl FlowOps {
    /// Whether there is nothing that binds values.
    pub(crate) fn is_empty(&self) -> bool {
        self.ops.is_empty() && !self.has_successors
    }
}

/// What is to go of one operation with region flow.
struct Plan {
    op: OpId,
    /// Of the operation and of terminators of its regions: the operands that stay.
    operands: Vec<(OpId, SmallVec<[ValueId; 6]>)>,
    args: Vec<(BlockId, SmallVec<[bool; 6]>)>,
    keep_results: Option<Vec<usize>>,
}

/// Removes the operations that are not live, and the slots that are not, with the operands that feed them. Gives
/// whether something was removed.
pub fn sweep(ctx: &Context, body: &mut Body, live: &Liveness) -> bool {
    if live.is_all_live() {
        return false;
    }
    let mut plans = Vec::new();
    let mut dead_ops = Vec::new();
    for op in body.walk_all() {
        if !live.is_op_live(op) {
            dead_ops.push(op);
        } else {
            plans.extend(plan(ctx, body, live, op));
        }
    }
    let mut args = Vec::new();
    let mut changed = !plans.is_empty() || !dead_ops.is_empty();
    for plan in &mut plans {
        for (op, operands) in &plan.operands {
            body.set_operands(*op, operands);
        }
        args.append(&mut plan.args);
    }
    changed |= drop_successor_operands(body, live, &mut args);
    // Nothing alive uses what they define any more; users stand behind definitions, so the last one goes first.
    for &op in dead_ops
        .iter()
        .rev()
        .filter(|&&op| body.is_alive(op))
        .collect::<Vec<_>>()
    {
        body.erase_op(op);
    }
    for (block, dead) in args {
        body.retain_block_args(block, |at| !dead.get(at).copied().unwrap_or(false));
    }
    for plan in plans {
        if let Some(keep) = plan.keep_results {
            Rewriter::new(ctx, body).keep_results(plan.op, &keep);
        }
    }
    changed
}

fn plan(ctx: &Context, body: &Body, live: &Liveness, op: OpId) -> Option<Plan> {
    let flow = body.region_flow(ctx, op)?;
    let points = std::iter::once(FlowPoint::Parent).chain((0..body.op_regions(op).len()).map(FlowPoint::Region));
    let dead: SmallVec<[(FlowPoint, SmallVec<[bool; 6]>); 4]> = points
        .map(|p| {
            (
                p,
                body.flow_inputs(op, p)
                    .iter()
                    .map(|&v| !live.is_value_live(v))
                    .collect(),
            )
        })
        .collect();
    if !dead.iter().any(|(_, slots)| slots.contains(&true)) {
        return None;
    }
    // Edges speak of operands by their places, so all places are noted before anything moves.
    let mut gone: Vec<(OpId, SmallVec<[bool; 6]>)> = Vec::new();
    for edge in flow.edges(body.view(ctx, op)) {
        let Some(source) = body.flow_source_op(op, edge.from) else {
            continue;
        };
        let at = gone.iter().position(|(s, _)| *s == source).unwrap_or_else(|| {
            gone.push((source, SmallVec::from_elem(false, body.num_operands(source))));
            gone.len() - 1
        });
        let slots = dead
            .iter()
            .find(|(p, _)| *p == edge.to)
            .map_or(&[][..], |(_, slots)| slots);
        for (operand, &dead) in edge.operands.clone().zip(slots.iter().skip(edge.at)) {
            if let Some(flag) = gone[at].1.get_mut(operand) {
                *flag |= dead;
            }
        }
    }
    let mut plan = Plan {
        op,
        operands: Vec::new(),
        args: Vec::new(),
        keep_results: None,
    };
    for (source, gone) in gone.iter().filter(|(_, gone)| gone.contains(&true)) {
        let kept = body
            .operands(*source)
            .zip(gone)
            .filter(|(_, gone)| !**gone)
            .map(|(v, _)| v)
            .collect();
        plan.operands.push((*source, kept));
    }
    for (point, slots) in &dead {
        match *point {
            FlowPoint::Parent if slots.contains(&true) => {
                plan.keep_results = Some((0..slots.len()).filter(|&i| !slots[i]).collect());
            }
            FlowPoint::Parent => {}
            FlowPoint::Region(region) => {
                let block = body.op_regions(op).get(region).and_then(|&r| body.entry_block(r));
                if slots.contains(&true) {
                    plan.args.extend(block.map(|b| (b, slots.clone())));
                }
            }
        }
    }
    Some(plan)
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
