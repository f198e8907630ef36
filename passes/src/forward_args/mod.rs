//! `forward-args`: arguments and results that always represent the same value.
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
//! value that all its sources represent. The search is optimistic: at first every slot represents anything, so cycles
//! of slots that only feed each other do not count against it. A slot is looked at again when a source changes. In the
//! end a slot represents either one value outside or itself. (This is the removal of redundant φ functions, by a
//! worklist.) The same constant, computed in different places, counts as one value; if no instance of it is visible
//! where it is needed, it is computed again there.
//!
//! Slots that change, but always alike (two counters that start and step alike), are found by refining a partition:
//! see [`congruence`].
//!
//! The uses of a slot that represents a value become uses of that value. Then the slots that no operation reads any
//! more are removed together with what feeds them.
//!
//! # Conditions
//! * The value must be visible at the operation whose slot it replaces, and have the same type.
//! * Regions of one block only, since the one terminator determines where values come from.
//! * Slots of handles may be forwarded, but stay in place.
//! * What a region that runs once before the others (`init`) forwards are its arguments, and remain so: operations are
//!   built on that. Such an argument is only replaced where it is read.

mod congruence;
mod solver;
#[cfg(test)]
mod tests;

use pir_ir::{Body, Context, Diagnostic, FlowPoint, Module, OpId, Use, ValueId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::analysis::{Effects, FlowOps, Liveness, Roots, Variables, Ways, has_simple_regions, sweep};
use crate::bodies::for_each_different_body_mut;
use crate::pass::{Changed, Pass, PassContext, Scope};
use solver::Found;

/// Replacing one slot may show that another is redundant; more rounds than this have not been seen to matter.
const MAX_ROUNDS: usize = 8;

/// The pass `forward-args`.
pub struct ForwardArgs;

impl Pass for ForwardArgs {
    fn name(&self) -> &'static str {
        "forward-args"
    }

    fn summary(&self) -> &'static str {
        "Replace loop-carried values that never change with their initial values"
    }

    fn description(&self) -> &'static str {
        "Finds arguments of regions and blocks, and results of `if` and `while`, that are always bound to the same \
         value or constant. Uses that value instead, and removes the argument or result. The usual case is a value that \
         a loop carries unchanged; values that a loop permutes are handled too."
    }

    fn scope(&self) -> Scope {
        Scope::Body
    }

    fn is_pure(&self) -> bool {
        true
    }

    fn run(&self, module: &mut Module, _: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
        for_each_different_body_mut(module, |ctx, body| Ok(forward_args(ctx, body).into()))
    }
}

/// The result of forwarding slots.
#[derive(Clone, Copy, Default)]
pub(crate) struct Forwarded {
    /// Whether uses were replaced.
    pub(crate) changed: bool,
    /// Whether all was found that there is.
    pub(crate) settled: bool,
}

/// Replaces the uses of slots that represent another value, or that are equal to another slot. The slots stay.
pub(crate) fn forward_slots(ctx: &Context, body: &mut Body) -> bool {
    // Binding a variable binds its value at that time.
    let constant = body.analysis::<Variables>(ctx).is_empty();
    constant && forward_constant_slots(ctx, body, &body.analysis::<FlowOps>(ctx)).changed
}

/// [`forward_slots`], in a body in which nothing changes in place.
pub(crate) fn forward_constant_slots(ctx: &Context, body: &mut Body, flow: &FlowOps) -> Forwarded {
    let mut done = Forwarded::default();
    for round in 0..MAX_ROUNDS {
        // Slots that nothing uses are nowhere needed, unless they are equal to others.
        let which = if round == 0 { Which::All } else { Which::Used };
        let mut slots = PhiGraph::new(ctx, body, flow, which);
        let found = solver::forward_once(ctx, body, &slots);
        let forwarded = !found.is_empty();
        // Merging again finds nothing unless something else was done: what has become the same operand was equal before.
        if !forwarded && round > 0 {
            done.settled = true;
            break;
        }
        if forwarded {
            drop(slots);
            slots = PhiGraph::new(ctx, body, flow, Which::AllBut(&found));
        }
        if !congruence::merge_equal_slots(ctx, body, &slots) && !forwarded {
            done.settled = true;
            break;
        }
        done.changed = true;
    }
    done
}

/// Runs the pass on one body.
fn forward_args(ctx: &Context, body: &mut Body) -> bool {
    let changed = forward_slots(ctx, body);
    let effects = body.analysis::<Effects>(ctx);
    let live = Liveness::new(ctx, body, &effects, Roots::AllOps);
    changed | sweep(ctx, body, &live)
}

/// The slots of a body that come from somewhere, those of one place (the results of an operation, or the arguments of a
/// block) next to each other. There may be about as many as values, so that little is kept for each.
struct PhiGraph {
    slots: Vec<Slot>,
    /// The operands that the slots come from, those of one slot next to each other.
    sources: Vec<ValueId>,
}

struct Slot {
    value: ValueId,
    /// The operation where what the slot represents must be visible.
    anchor: OpId,
    /// Where its sources end; they begin where those of the slot before end.
    end: u32,
}

/// Which slots are entered.
#[derive(Clone, Copy)]
enum Which<'a> {
    All,
    /// Those that something uses.
    Used,
    /// Those for which others have been found: what equals one of these, equals that too.
    AllBut(&'a Found),
}

impl Which<'_> {
    fn contains(self, body: &Body, value: ValueId) -> bool {
        match self {
            Which::All => true,
            Which::Used => body.has_uses(value),
            Which::AllBut(found) => !found.contains(value),
        }
    }
}

impl PhiGraph {
    fn new(ctx: &Context, body: &Body, flow: &FlowOps, which: Which<'_>) -> Self {
        // About two sources each. What grows bit by bit is moved each time it doubles.
        let slots = flow.ops.iter().map(|&op| {
            let regions = body.op_regions(op).iter();
            let args = regions.filter_map(|&region| body.entry_block(region));
            body.num_results(op) + args.map(|block| body.block_args(block).len()).sum::<usize>()
        });
        let slots = slots.sum();
        let mut all = PhiGraph {
            slots: Vec::with_capacity(slots),
            sources: Vec::with_capacity(2 * slots),
        };
        let is_entered = |value| which.contains(body, value);
        for &op in &flow.ops {
            all.add_flow(ctx, body, op, is_entered);
        }
        if flow.has_successors {
            all.add_block_args(body, is_entered);
        }
        all
    }

    fn sources(&self, index: usize) -> &[ValueId] {
        let start = index.checked_sub(1).map_or(0, |before| self.slots[before].end);
        &self.sources[start as usize..self.slots[index].end as usize]
    }

    /// Enters a slot whose sources are at the end of the list, unless there are none.
    fn push(&mut self, value: ValueId, anchor: OpId) {
        let end = self.sources.len() as u32;
        if self.slots.last().map_or(0, |s| s.end) < end {
            self.slots.push(Slot { value, anchor, end });
        }
    }

    /// Enters the slots of an operation with region flow.
    fn add_flow(&mut self, ctx: &Context, body: &Body, op: OpId, is_entered: impl Fn(ValueId) -> bool) {
        if body.region_flow(ctx, op).is_none() || !has_simple_regions(body, op) {
            return;
        }
        let all_ways = Ways::of(ctx, body, op);
        // Results come last: they come from what regions forward, so that they need not be looked at again.
        let points = (0..body.op_regions(op).len()).map(FlowPoint::Region);
        for point in points.chain([FlowPoint::Parent]) {
            let inputs = body.flow_inputs(op, point);
            let ways = all_ways.to(point);
            let ways: SmallVec<[_; 4]> = ways
                .filter_map(|e| Some((body.flow_source_op(op, e.from)?, e)))
                .collect();
            for (index, value) in inputs.into_iter().enumerate().filter(|&(_, value)| is_entered(value)) {
                for (source, edge) in &ways {
                    let operand = edge.operand_of(index).and_then(|at| body.get_operand(*source, at));
                    self.sources.extend(operand);
                }
                self.push(value, op);
            }
        }
    }

    /// Enters the arguments of blocks with predecessors, which are visible from the first operation of the block on.
    fn add_block_args(&mut self, body: &Body, is_entered: impl Fn(ValueId) -> bool) {
        let mut passed: FxHashMap<ValueId, SmallVec<[ValueId; 4]>> = FxHashMap::default();
        let mut blocks = Vec::new();
        for op in body.walk_all() {
            for (index, successor) in body.successors(op).iter().enumerate() {
                blocks.push(successor.block);
                for (value, &arg) in body.successor_operands(op, index).zip(body.block_args(successor.block)) {
                    passed.entry(arg).or_default().push(value);
                }
            }
        }
        for block in blocks {
            if let Some(first) = body.first_op(block) {
                for &arg in body.block_args(block).iter().filter(|&&arg| is_entered(arg)) {
                    self.sources.extend(passed.remove(&arg).into_iter().flatten());
                    self.push(arg, first);
                }
            }
        }
    }
}

/// Replaces slots by values, except where a region that only leads to others hands them on.
#[derive(Default)]
pub(crate) struct Replacer {
    /// The end of a block that was met last, and whether it hands on. One may use thousands of slots.
    last_end: Option<(OpId, bool)>,
}

impl Replacer {
    /// Gives whether there was something to replace.
    pub(crate) fn replace(&mut self, ctx: &Context, body: &mut Body, slot: ValueId, value: ValueId) -> bool {
        if !body.has_uses(slot) {
            return false;
        }
        if !body.uses(slot).any(|at| self.is_kept(ctx, body, at.op)) {
            body.replace_all_uses(slot, value);
            return true;
        }
        let uses: SmallVec<[Use; 8]> = body.uses(slot).collect();
        let mut changed = false;
        for at in uses {
            if !self.is_kept(ctx, body, at.op) {
                body.set_operand(at.op, at.index, value);
                changed = true;
            }
        }
        changed
    }

    fn is_kept(&mut self, ctx: &Context, body: &Body, op: OpId) -> bool {
        if body.next_op(op).is_some() {
            return false;
        }
        match self.last_end {
            Some((end, is_kept)) if end == op => is_kept,
            _ => {
                let is_kept = is_entry_end(ctx, body, op);
                self.last_end = Some((op, is_kept));
                is_kept
            }
        }
    }
}

/// Whether an operation is the terminator of a region that runs at most once and leads to other regions only.
pub(crate) fn is_entry_end(ctx: &Context, body: &Body, op: OpId) -> bool {
    let Some(region) = body.op_region(op).filter(|&r| body.region_terminator(r) == Some(op)) else {
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
    !flow.is_repeated(view, index) && flow.edges_from(view, here).iter().all(|e| e.to != FlowPoint::Parent)
}
