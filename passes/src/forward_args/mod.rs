//! `forward-args`: arguments and results that always stand for the same value.
//!
//! ```text
//! %i_2, %ten2 = pd.while (%i, %ten) cond (%a, %b) {     %i_2 = pd.while (%i) cond (%a) {
//!   %go = pd.less_than (%a, %b)                           %go = pd.less_than (%a, %ten)
//!   cf.cond_yield (%go, %a, %b)                  ==>      cf.cond_yield (%go, %a)
//! } body (%c, %d) {                                     } body (%c) {
//!   %n = pd.add (%c, %one)                                %n = pd.add (%c, %one)
//!   cf.yield (%n, %d)                                     cf.yield (%n)
//! }                                                     }
//! ```
//!
//! # Algorithm
//! Region arguments, results of operations with region flow, and block arguments are bound by control: each has a set
//! of sources (`Body::flow_sources`, or the operands that predecessors pass). For each such slot we look for the one
//! value that all its sources stand for. The search is optimistic: at first every slot stands for anything, so cycles
//! of slots that only feed each other do not count against it. A slot is looked at again when a source changes. In the
//! end a slot stands either for one value outside or for itself. (This is the removal of redundant φ functions, by a
//! worklist.) The same constant, computed in different places, counts as one value; if no instance of it is visible
//! where it is needed, it is computed again there.
//!
//! Slots that change, but always alike (two counters that start and step alike), are found by refining a partition:
//! see [`congruence`].
//!
//! The uses of a slot that stands for a value become uses of that value. Then the slots that no operation reads any
//! more are removed together with what feeds them.
//!
//! # Conditions
//! * The value must be visible at the operation whose slot it replaces, and have the same type.
//! * Regions of one block only, since the one terminator tells where values come from.
//! * Slots of handles may be forwarded, but stay in place.
//! * What a region that runs once before the others (`init`) hands on are its arguments, and stay them: operations are
//!   built on that. Such an argument is only replaced where it is read.

mod congruence;
mod solver;
#[cfg(test)]
mod tests;

use pir_ir::{Body, Context, Diagnostic, FlowPoint, Module, OpId, Use, ValueId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::analysis::{Facts, Liveness, Roots, Variables, has_simple_regions, sweep};
use crate::bodies::for_each_body_mut;
use crate::pass::{Changed, Pass, PassContext, Scope};

/// Replacing one slot may show that another is redundant; more rounds than this have not been seen to matter.
const MAX_ROUNDS: usize = 8;

/// The pass `forward-args`.
pub struct ForwardArgs;

impl Pass for ForwardArgs {
    fn name(&self) -> &'static str {
        "forward-args"
    }

    fn summary(&self) -> &'static str {
        "Replace loop-carried values that never change by the value itself"
    }

    fn description(&self) -> &'static str {
        "Finds arguments of regions and blocks, and results of `if` and `while`, that are always bound to the same \
         value or constant, uses that value in their place and removes them. Values carried around a loop unchanged \
         are the usual case, also when they change places among themselves on the way."
    }

    fn scope(&self) -> Scope {
        Scope::Body
    }

    fn run(&self, module: &mut Module, _: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
        for_each_body_mut(module, |ctx, body| Ok(forward_args(ctx, body).into()))
    }
}

/// Replaces the uses of slots that stand for another value, or that are equal to another slot. The slots stay.
pub(crate) fn forward_slots(ctx: &Context, body: &mut Body) -> bool {
    // What is bound to something that changes in place is the value that this has at that time.
    Variables::new(ctx, body).is_empty() && forward_constant_slots(ctx, body)
}

/// [`forward_slots`], in a body in which nothing changes in place.
pub(crate) fn forward_constant_slots(ctx: &Context, body: &mut Body) -> bool {
    let mut changed = false;
    for _ in 0..MAX_ROUNDS {
        let mut slots = all_slots(ctx, body);
        let forwarded = solver::forward_once(ctx, body, &slots);
        if forwarded {
            slots = all_slots(ctx, body);
        }
        if !forwarded & !congruence::merge_equal_slots(ctx, body, slots) {
            break;
        }
        changed = true;
    }
    changed
}

/// Runs the pass on one body.
fn forward_args(ctx: &Context, body: &mut Body) -> bool {
    let changed = forward_slots(ctx, body);
    let facts = Facts::new(ctx, body);
    let live = Liveness::new(ctx, body, &facts, Roots::AllOps);
    changed | sweep(ctx, body, &live)
}

/// A slot, the operation where what it stands for must be visible, and the operands that it comes from.
type SlotSources = (ValueId, OpId, SmallVec<[ValueId; 4]>);

/// The slots of a body that come from somewhere.
fn all_slots(ctx: &Context, body: &Body) -> Vec<SlotSources> {
    let mut slots = Vec::new();
    let mut has_blocks = false;
    for op in body.walk_all() {
        flow_slots(ctx, body, op, &mut slots);
        has_blocks |= !body.successors(op).is_empty();
    }
    if has_blocks {
        block_sources(body, |first, value, sources| slots.push((value, first, sources)));
    }
    slots.retain(|(.., sources)| !sources.is_empty());
    slots
}

/// The slots of an operation with region flow.
fn flow_slots(ctx: &Context, body: &Body, op: OpId, slots: &mut Vec<SlotSources>) {
    if !has_simple_regions(body, op) {
        return;
    }
    let Some(edges) = body.flow_edges(ctx, op) else { return };
    let points = (0..body.op_regions(op).len()).map(FlowPoint::Region);
    for point in std::iter::once(FlowPoint::Parent).chain(points) {
        for (index, value) in body.flow_inputs(op, point).into_iter().enumerate() {
            let ways = edges.iter().filter(|e| e.to == point);
            let sources = ways.filter_map(|e| body.edge_source(op, e, index));
            slots.push((value, op, sources.map(|s| body.operand(s.op, s.index)).collect()));
        }
    }
}

/// Calls `found` with each argument of a block with predecessors, the first operation of the block before it, and what
/// the predecessors pass.
fn block_sources(body: &Body, mut found: impl FnMut(OpId, ValueId, SmallVec<[ValueId; 4]>)) {
    let mut sources: FxHashMap<ValueId, SmallVec<[ValueId; 4]>> = FxHashMap::default();
    let mut blocks = Vec::new();
    for op in body.walk_all() {
        for (index, successor) in body.successors(op).iter().enumerate() {
            blocks.push(successor.block);
            for (value, &arg) in body.successor_operands(op, index).zip(body.block_args(successor.block)) {
                sources.entry(arg).or_default().push(value);
            }
        }
    }
    for block in blocks {
        if let Some(first) = body.first_op(block) {
            for &arg in body.block_args(block) {
                if let Some(sources) = sources.remove(&arg) {
                    found(first, arg, sources);
                }
            }
        }
    }
}

/// Replaces a slot by a value, except where a region that only leads to others hands it on.
pub(crate) fn replace_uses(ctx: &Context, body: &mut Body, slot: ValueId, value: ValueId) -> bool {
    let uses: SmallVec<[Use; 8]> = body.uses(slot).collect();
    let mut changed = false;
    for at in uses {
        if !is_handed_on_by_entry(ctx, body, at) {
            body.set_operand(at.op, at.index, value);
            changed = true;
        }
    }
    changed
}

/// Whether a use stands in the terminator of a region that runs at most once and leads to other regions only.
pub(crate) fn is_handed_on_by_entry(ctx: &Context, body: &Body, at: Use) -> bool {
    let Some(region) = body
        .op_region(at.op)
        .filter(|&r| body.region_terminator(r) == Some(at.op))
    else {
        return false;
    };
    let (Some(op), Some(index)) = (body.region_parent(region), body.region_index(region)) else {
        return false;
    };
    let Some(flow) = body.region_flow(ctx, op) else {
        return false;
    };
    let view = body.view(ctx, op);
    let here = FlowPoint::Region(index);
    !flow.is_repeated(view, index)
        && flow
            .edges(view)
            .iter()
            .filter(|e| e.from == here)
            .all(|e| e.to != FlowPoint::Parent)
}
