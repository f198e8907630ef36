//! The backward part of a function, and the values that it takes over.

use pir_ir::{Body, Context, OpId, Traits, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::autodiff::control_ops::ControlOps;
use crate::autodiff::remat::cut::{LARGEST, Node, choose_within};
use crate::autodiff::remat::plan::bytes;

/// The parts of a function, by the operations of its block.
pub(super) struct Parts {
    /// Operations that depend on cotangents.
    pub(super) dual: FxHashSet<OpId>,
    /// Operations of the backward part that are recomputed, or occur only there.
    pub(super) again: FxHashSet<OpId>,
    /// The values that it takes from the forward part, in order of definition.
    pub(super) residuals: Vec<ValueId>,
}

/// The operations of a block with what each reads, in its regions too.
struct Ops {
    ops: Vec<OpId>,
    reads: FxHashMap<OpId, SmallVec<[ValueId; 4]>>,
}

impl Ops {
    fn new(body: &Body) -> Self {
        let block = body.single_block(body.root());
        let ops = block.map(|block| body.block_ops_vec(block)).unwrap_or_default();
        let reads = |op: OpId| {
            let inner = body.op_regions(op).iter().flat_map(|&region| body.walk(region));
            let values = std::iter::once(op).chain(inner).flat_map(|op| body.operands(op));
            let mut seen = FxHashSet::default();
            let outer = values.filter(|&v| body.value_block(v) == block && seen.insert(v));
            (op, outer.collect())
        };
        let reads = ops.iter().map(|&op| reads(op)).collect();
        Ops { ops, reads }
    }

    fn of(&self, op: OpId) -> &[ValueId] {
        self.reads.get(&op).map_or(&[], |reads| reads)
    }
}

impl Parts {
    pub(super) fn new(ctx: &Context, body: &Body, arguments: usize, results: usize) -> Self {
        let ops = Ops::new(body);
        let (entry, end) = (body.entry_block(body.root()), ops.ops.last().copied());
        let args: Vec<ValueId> = entry.map(|entry| body.block_args(entry).to_vec()).unwrap_or_default();
        let mut varied: FxHashSet<ValueId> = args.iter().skip(arguments).copied().collect();
        let mut dual: FxHashSet<OpId> = FxHashSet::default();
        for &op in ops.ops.iter().filter(|&&op| Some(op) != end) {
            if ops.of(op).iter().any(|v| varied.contains(v)) {
                dual.insert(op);
                varied.extend(body.results(op));
            }
        }
        let returned: Vec<ValueId> = end.map(|end| body.operands(end).collect()).unwrap_or_default();
        let (results, gradients) = returned.split_at(results.min(returned.len()));
        let forward: Vec<OpId> = ops
            .ops
            .iter()
            .copied()
            .filter(|op| Some(*op) != end && !dual.contains(op))
            .collect();
        let primal = needed(ctx, body, &ops, &forward, results);

        let mut read: FxHashSet<ValueId> = gradients.iter().copied().collect();
        for op in &dual {
            read.extend(ops.of(*op));
        }
        let mut values: Vec<ValueId> = args.iter().take(arguments).copied().collect();
        values.extend(forward.iter().flat_map(|&op| body.results(op)));
        let index: FxHashMap<ValueId, usize> = values.iter().enumerate().map(|(i, &v)| (v, i)).collect();
        let names = ControlOps::new(ctx);
        let given: FxHashSet<ValueId> = results.iter().copied().collect();
        let node = |&value: &ValueId| {
            let op = body.defining_op(value);
            let again = op.filter(|&op| may_be_again(ctx, &names, body, op, primal.contains(&op)));
            // Among selections of equal size, prefer values that are available anyway.
            let is_there = op.is_none() || given.contains(&value);
            Node {
                cost: 2 * bytes(ctx, body, value).max(1) - u64::from(is_there),
                again: again.is_some(),
                from: again
                    .map(|op| ops.of(op).iter().filter_map(|v| index.get(v).copied()).collect())
                    .unwrap_or_default(),
                needed: read.contains(&value),
            }
        };
        let nodes: Vec<Node> = values.iter().map(node).collect();
        let (recorded, _) = choose_within(&nodes, LARGEST);
        let residuals: FxHashSet<ValueId> = (0..values.len()).filter(|&i| recorded[i]).map(|i| values[i]).collect();
        let mut again = FxHashSet::default();
        let mut pending: Vec<ValueId> = values.iter().copied().filter(|v| read.contains(v)).collect();
        while let Some(value) = pending.pop() {
            if let Some(op) = body.defining_op(value).filter(|_| !residuals.contains(&value))
                && again.insert(op)
            {
                pending.extend(ops.of(op));
            }
        }
        Parts {
            dual,
            again,
            residuals: values.into_iter().filter(|v| residuals.contains(v)).collect(),
        }
    }
}

/// The operations of the forward part that the results need, or that have effects.
fn needed(ctx: &Context, body: &Body, ops: &Ops, forward: &[OpId], results: &[ValueId]) -> FxHashSet<OpId> {
    let mut needed = FxHashSet::default();
    let mut pending: Vec<OpId> = results.iter().filter_map(|&v| body.defining_op(v)).collect();
    pending.extend(forward.iter().filter(|&&op| !is_pure(ctx, body, op)));
    while let Some(op) = pending.pop() {
        if needed.insert(op) {
            pending.extend(ops.of(op).iter().filter_map(|&v| body.defining_op(v)));
        }
    }
    needed
}

/// Whether an operation only computes, whatever is in its regions.
fn is_pure(ctx: &Context, body: &Body, op: OpId) -> bool {
    let inner = body.op_regions(op).iter().flat_map(|&region| body.walk(region));
    std::iter::once(op).chain(inner).all(|op| {
        let view = body.view(ctx, op);
        view.def().is_some() && view.own_effects().is_empty() && !view.has_unknown_effects()
    })
}

/// Whether the backward part may compute an operation. What is cheap it may compute again, but no comparisons: rounded
/// otherwise they might be decided otherwise.
fn may_be_again(ctx: &Context, names: &ControlOps<'_>, body: &Body, op: OpId, is_primal: bool) -> bool {
    let reads_stacks = body
        .operands(op)
        .chain(body.results(op))
        .any(|v| names.is_stack(body, v));
    if reads_stacks || !is_pure(ctx, body, op) {
        return false;
    }
    let is_float = |v: ValueId| ctx.is_continuous(body.value_type(v));
    let cheap = Traits::ELEMENTWISE | Traits::MOVEMENT | Traits::CONSTANT;
    let is_cheap = || body.view(ctx, op).def().is_some_and(|def| def.traits.intersects(cheap));
    let decides = || body.operands(op).any(is_float) && !body.results(op).all(is_float);
    !is_primal || body.op_regions(op).is_empty() && is_cheap() && !decides()
}
