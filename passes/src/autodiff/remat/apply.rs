//! Records the chosen values, and recomputes the others.

use pir_dialects::cf;
use pir_ir::{BlockId, OpId, Rewriter, ValueId, ValueMap};
use rustc_hash::{FxHashMap, FxHashSet};

use super::plan::{Plan, Problem, RecomputeKind};
use crate::autodiff::control_ops::ControlOps;
use crate::autodiff::loop_carried_reuse::{CarrierPlan, Slots};
use crate::autodiff::tapes::{Side, Tapes};

/// What changes, found to be possible.
struct Changes<'s, 'c> {
    /// The nodes of the plan whose values the duals read.
    used: Vec<bool>,
    /// In each dual, the operation in front of which values are recomputed: the first one that is no pop.
    anchors: FxHashMap<BlockId, OpId>,
    /// The values to record: the tape, the regions, the end of the one that records.
    records: Vec<(usize, Side, OpId, ValueId)>,
    carried: Option<CarrierPlan<'s, 'c>>,
    /// The operations to clone, and in front of what.
    clones: Vec<(OpId, OpId)>,
}

impl<'s, 'c> Changes<'s, 'c> {
    /// The changes that a plan makes; none, if nothing changes or something prevents it.
    fn new(
        r: &Rewriter<'_>,
        names: &ControlOps<'c>,
        tapes: &Tapes,
        problem: &Problem,
        slots: Option<&'s Slots>,
        plan: &Plan,
        recorded: &[bool],
    ) -> Option<Self> {
        // The values in use, backwards: needed values, and their operands.
        let mut used: Vec<bool> = plan.nodes.iter().map(|n| n.needed).collect();
        let is_computed = |at: usize| !recorded[at] && plan.nodes[at].again && plan.nodes[at].cost > 0;
        for at in (0..plan.nodes.len()).rev().filter(|&at| is_computed(at)) {
            if used[at] {
                plan.nodes[at].from.iter().for_each(|&from| used[from] = true);
            }
        }
        let changes = |at: usize| match plan.how[at] {
            RecomputeKind::Pair(..) => plan.nodes[at].needed && !recorded[at] && plan.nodes[at].cost > 0,
            RecomputeKind::Here(_) | RecomputeKind::Outside(..) => used[at] && recorded[at],
            RecomputeKind::Carried(_) | RecomputeKind::Counted(_) => used[at],
            _ => false,
        };
        if !(0..plan.nodes.len()).any(changes) {
            return None;
        }
        // Recomputed values are inserted after the pops.
        let mut anchors: FxHashMap<BlockId, OpId> = FxHashMap::default();
        for place in &problem.places {
            let (dual, handle) = (place.side.dual, tapes.all[place.tape].handle);
            let anchor = r.body.block_ops(dual).find(|&op| !is_pop(r, names, op, handle))?;
            anchors.insert(dual, anchor);
        }
        let mut records = Vec::new();
        for at in (0..plan.nodes.len()).filter(|&at| used[at]) {
            let (tape, side) = match plan.how[at] {
                RecomputeKind::Here(place) if recorded[at] => (problem.places[place].tape, problem.places[place].side),
                RecomputeKind::Outside(tape, which) => (tape, tapes.all[tape].sides[which]?),
                _ => continue,
            };
            records.push((tape, side, r.body.last_op(side.forward)?, plan.values[at]));
        }
        let wanted: Vec<usize> = (0..plan.nodes.len())
            .filter(|&at| used[at])
            .filter_map(|at| match plan.how[at] {
                RecomputeKind::Carried(slot) | RecomputeKind::Counted(slot) => Some(slot),
                _ => None,
            })
            .collect();
        let carried = match slots.filter(|_| !wanted.is_empty()) {
            Some(slots) => Some(CarrierPlan::new(r, names, tapes, problem.at, slots, &wanted)?),
            None => None,
        };
        let first = problem.places.first()?.side.dual;
        let dual_of: FxHashMap<BlockId, BlockId> =
            problem.places.iter().map(|p| (p.side.forward, p.side.dual)).collect();
        let mut cloned: FxHashSet<OpId> = FxHashSet::default();
        let mut clones = Vec::new();
        for at in (0..plan.nodes.len()).filter(|&at| used[at]) {
            if plan.how[at] == RecomputeKind::Constant || is_computed(at) {
                let op = r.body.defining_op(plan.values[at])?;
                let home = r.body.op_block(op).and_then(|block| dual_of.get(&block));
                let anchor = *anchors.get(home.unwrap_or(&first))?;
                clones.extend(cloned.insert(op).then_some((op, anchor)));
            }
        }
        Some(Changes {
            used,
            anchors,
            records,
            carried,
            clones,
        })
    }
}

/// The pairs of the values that will not be popped any more, by the nodes of the plan; the values that still are become the images.
fn unrecorded(
    r: &Rewriter<'_>,
    tapes: &mut Tapes,
    problem: &Problem,
    plan: &Plan,
    recorded: &[bool],
) -> Vec<(usize, (OpId, OpId))> {
    let mut replaced: Vec<(usize, (OpId, OpId))> = Vec::new();
    let pairs = problem.places.iter().flat_map(|p| &tapes.all[p.tape].pairs);
    let pairs: FxHashMap<ValueId, (OpId, OpId)> = pairs.map(|&pair| (r.body.operand(pair.0, 1), pair)).collect();
    for at in (0..plan.nodes.len()).filter(|&at| plan.nodes[at].needed) {
        let value = plan.values[at];
        // A value that is free may be recorded all the same.
        let pair = match plan.how[at] {
            RecomputeKind::Pair(push, pop) => Some((push, pop)),
            _ => pairs.get(&value).copied(),
        };
        match pair {
            Some(pair)
                if recorded[at] || plan.nodes[at].cost == 0 && matches!(plan.how[at], RecomputeKind::Pair(..)) =>
            {
                tapes.primal_at.insert(value, r.body.result(pair.1, 0));
            }
            Some(pair) => {
                tapes.primal_at.remove(value);
                replaced.push((at, pair));
            }
            None => {}
        }
    }
    replaced
}

pub(super) fn apply(
    r: &mut Rewriter<'_>,
    names: &ControlOps,
    tapes: &mut Tapes,
    problem: &Problem,
    slots: Option<&Slots>,
    plan: &Plan,
    recorded: &[bool],
) -> Option<()> {
    let changes = Changes::new(r, names, tapes, problem, slots, plan, recorded)?;
    let Changes { used, anchors, .. } = changes;
    // From here on, nothing can fail.
    for place in &problem.places {
        let dual = place.side.dual;
        hoist_pops(r, names, dual, tapes.all[place.tape].handle, anchors[&dual]);
    }
    // Nothing may be computed from values that will not be popped.
    let mut replaced = unrecorded(r, tapes, problem, plan, recorded);
    for (tape, side, end, value) in changes.records {
        add_pair(r, tapes, tape, side, end, value);
    }
    let mut carrier = changes.carried.map(|plan| plan.apply(r, names, tapes));
    if let Some(built) = &mut carrier {
        for at in (0..plan.nodes.len()).filter(|&at| used[at]) {
            let value = match plan.how[at] {
                RecomputeKind::Carried(slot) if problem.which == 0 => built.in_cond(slot),
                RecomputeKind::Carried(slot) => built.in_body(slot),
                RecomputeKind::Counted(slot) => built.counted_down(r, tapes, slot),
                _ => continue,
            };
            value
                .into_iter()
                .for_each(|value| tapes.primal_at.insert(plan.values[at], value));
        }
    }
    for (op, anchor) in changes.clones {
        clone(r, tapes, op, anchor);
    }
    // A value without a counterpart after all continues to be recorded.
    replaced.retain(|&(at, _)| tapes.primal_at.get(plan.values[at]).is_some());
    let gone: FxHashSet<OpId> = replaced.iter().map(|&(_, (push, _))| push).collect();
    for place in &problem.places {
        tapes.all[place.tape].pairs.retain(|(push, _)| !gone.contains(push));
    }
    for (at, pair) in replaced {
        let other = tapes.primal_at.get(plan.values[at]);
        tapes.remove(r, pair, other);
    }
    if let Some(carrier) = carrier {
        carrier.close(r, tapes);
    }
    Some(())
}

/// Removes pairs of a problem whose values are now recomputed.
pub(super) fn drop_unread(r: &mut Rewriter<'_>, tapes: &mut Tapes, problem: &Problem) {
    for place in &problem.places {
        for pair in std::mem::take(&mut tapes.all[place.tape].pairs) {
            if r.body.has_uses(r.body.result(pair.1, 0)) {
                tapes.all[place.tape].pairs.push(pair);
            } else {
                tapes.remove(r, pair, None);
            }
        }
    }
}

fn is_pop(r: &Rewriter<'_>, names: &ControlOps, op: OpId, handle: ValueId) -> bool {
    r.body.op_name(op) == names.pop && r.body.operand(op, 0) == handle
}

/// Moves the pops of a region to its front, in their order: before `anchor`, the first operation that is none.
fn hoist_pops(r: &mut Rewriter<'_>, names: &ControlOps, block: BlockId, handle: ValueId, anchor: OpId) {
    let ops = r.body.block_ops_vec(block).into_iter();
    for op in ops.skip_while(|&op| op != anchor) {
        if is_pop(r, names, op, handle) {
            r.before(anchor).move_here(op);
        }
    }
}

/// Records a value, before the end of the region that records.
pub(super) fn add_pair(r: &mut Rewriter<'_>, tapes: &mut Tapes, tape: usize, side: Side, end: OpId, value: ValueId) {
    let handle = tapes.all[tape].handle;
    let push = r.before(end).op(cf::PUSH_BACK).operand(side.inside);
    let push = push.operand(value).build();
    let ty = r.body.value_type(value);
    let pop = r.at_start(side.dual).op(cf::POP_BACK).operand(handle);
    let pop = pop.result(ty).build();
    r.take_name(value, r.body.result(pop, 0));
    tapes.add(r, tape, push, pop);
}

/// Clones an operation with the counterparts of its operands.
fn clone(r: &mut Rewriter<'_>, tapes: &mut Tapes, op: OpId, anchor: OpId) {
    let inner: Vec<OpId> = r
        .body
        .op_regions(op)
        .iter()
        .flat_map(|&region| r.body.walk(region))
        .collect();
    let here = r.body.op_region(anchor);
    let mut map = ValueMap::new();
    for used in std::iter::once(op).chain(inner) {
        for value in r.body.operands(used) {
            let home = r.body.value_region(value);
            let is_inside =
                home.is_some_and(|h| r.body.op_regions(op).iter().any(|&own| r.body.region_contains(own, h)));
            let is_visible = home
                .zip(here)
                .is_some_and(|(home, here)| r.body.region_contains(home, here));
            if let Some(primal_at) = tapes.primal_at.get(value).filter(|_| !is_inside && !is_visible) {
                map.insert(value, primal_at);
            }
        }
    }
    let clone = r.before(anchor).clone_op(op, &mut map);
    for (from, to) in r.body.results(op).zip(r.body.results(clone)) {
        tapes.primal_at.insert(from, to);
    }
}
