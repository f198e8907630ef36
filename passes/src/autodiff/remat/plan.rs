//! The candidates for recording: the values that the dual of a region reads, and all that these could be computed from.

use pir_ir::{BlockId, Body, Context, FlowKind, OpId, RegionId, Rewriter, Traits, Type, ValueDef, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::Recompute;
use super::cut::{Node, UNLIMITED};
use crate::autodiff::control_ops::ControlOps;
use crate::autodiff::loop_carried_reuse::{Slots, is_constant, visible};
use crate::autodiff::tapes::{Side, Tapes};

/// How much more often a region is taken to run than the one around it, as a power of two.
const LOOP: u32 = 4;

/// The weight of a byte in the region that is being looked at; half in a branch.
const WEIGHT: u64 = 1 << LOOP;

/// As many bytes are recorded rather than a loop run again.
const SMALL: u64 = 16;

/// A region that faces its dual, in one iteration of a loop or outside of loops.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) tape: usize,
    pub(super) side: Side,
    weight: u64,
}

/// A region of a loop, with the branches in it.
pub(super) struct Problem {
    /// The tape of the loop.
    pub(super) at: usize,
    /// Which of its regions: 0 is the condition.
    pub(super) which: usize,
    pub(super) places: Vec<Place>,
}

/// How a value can be obtained without another record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RecomputeKind {
    /// Recorded by this push and this pop.
    Pair(OpId, OpId),
    /// May be recorded instead of this number.
    Here(usize),
    /// May be recorded by an outer tape.
    Outside(usize, usize),
    /// Available without a record.
    Known,
    /// A constant from outside.
    Constant,
    /// The dual can carry it, in this slot.
    Carried(usize),
    /// The counter of this slot.
    Counted(usize),
    /// Only by computing it.
    No,
}

/// The most operations in the regions of one that is computed again: they are copied, and those of nested loops would
/// be once for each loop around them.
const MOST_AGAIN: usize = 1000;

/// The values of a problem; what is computed from others is after them.
#[derive(Default)]
pub(super) struct Plan {
    pub(super) values: Vec<ValueId>,
    pub(super) nodes: Vec<Node>,
    pub(super) how: Vec<RecomputeKind>,
    index: FxHashMap<ValueId, usize>,
}

/// The lookup tables of planning.
pub(super) struct Planner {
    pub(super) level: Recompute,
    /// The branches that are in a block, and their duals in the dual block, by tape.
    branches: FxHashMap<(BlockId, BlockId), Vec<usize>>,
    /// The region that faces each block, by tape and side.
    sides: FxHashMap<BlockId, Vec<(usize, usize)>>,
}

impl Planner {
    pub(super) fn new(body: &Body, tapes: &Tapes, level: Recompute) -> Self {
        let mut this = Planner {
            level,
            branches: FxHashMap::default(),
            sides: FxHashMap::default(),
        };
        for (at, tape) in tapes.all.iter().enumerate() {
            for (which, side) in tape.sides.iter().enumerate() {
                if let Some(side) = side {
                    this.sides.entry(side.forward).or_default().push((at, which));
                }
            }
            let block_of = |block: BlockId| body.block_parent(block).and_then(|op| body.op_block(op));
            if tape.kind == FlowKind::Branch
                && let (Some(forward), Some(dual)) = (block_of(tape.forward), block_of(tape.dual))
            {
                this.branches.entry((forward, dual)).or_default().push(at);
            }
        }
        this
    }

    /// The problems of a tape: for each region of a loop, or of a branch that is in nothing recorded, one.
    pub(super) fn problems(&self, body: &Body, tapes: &Tapes, at: usize) -> Vec<Problem> {
        let tape = &tapes.all[at];
        let inside = |block: BlockId| {
            let outer = body.block_parent(block).and_then(|op| body.op_block(op));
            outer.is_some_and(|outer| self.sides.contains_key(&outer))
        };
        if tape.kind == FlowKind::Branch && inside(tape.forward) {
            return Vec::new();
        }
        let problem = |which: usize| {
            let first = Place {
                tape: at,
                side: tape.sides[which]?,
                weight: WEIGHT,
            };
            let mut places = vec![first];
            let mut next = 0;
            while let Some(&place) = places.get(next) {
                next += 1;
                let branches = self.branches.get(&(place.side.forward, place.side.dual));
                for &tape in branches.into_iter().flatten() {
                    places.extend(tapes.all[tape].sides.iter().flatten().map(|&side| Place {
                        tape,
                        side,
                        weight: (place.weight / 2).max(1),
                    }));
                }
            }
            Some(Problem { at, which, places })
        };
        [1, 0].into_iter().filter_map(problem).collect()
    }

    /// The operands of an operation, if it may be recomputed.
    fn again(&self, r: &Rewriter<'_>, names: &ControlOps, op: OpId) -> Option<Vec<ValueId>> {
        let view = r.view(op);
        let regions = r.body.op_regions(op);
        let pure = |op: OpId| {
            let view = r.view(op);
            view.def().is_some() && view.own_effects().is_empty() && r.body.successors(op).is_empty()
        };
        let cheap = Traits::ELEMENTWISE | Traits::MOVEMENT | Traits::CONSTANT;
        let allowed = match self.level {
            Recompute::None => view.has(Traits::CONSTANT),
            Recompute::Cheap => view.has(Traits::CHEAP) || view.has(Traits::CONSTANT),
            Recompute::Elementwise => regions.is_empty() && view.def().is_some_and(|def| def.traits.intersects(cheap)),
            Recompute::All => true,
        };
        if !allowed || !pure(op) || view.has(Traits::TERMINATOR) {
            return None;
        }
        let mut from: Vec<ValueId> = r.body.operands(op).collect();
        let mut seen: FxHashSet<ValueId> = FxHashSet::default();
        let inner: Vec<OpId> = regions
            .iter()
            .flat_map(|&region| r.body.walk(region))
            .take(MOST_AGAIN + 1)
            .collect();
        if inner.len() > MOST_AGAIN {
            return None;
        }
        let inside: FxHashSet<RegionId> = inner
            .iter()
            .flat_map(|&op| r.body.op_regions(op))
            .chain(regions)
            .copied()
            .collect();
        let is_inside = |value: ValueId| {
            r.body
                .value_region(value)
                .is_some_and(|region| inside.contains(&region))
        };
        for inner in inner {
            // A loop that records is computed again with its record.
            let records = r.body.op_name(inner) == names.create
                || r.body.op_name(inner) == names.push && is_inside(r.body.operand(inner, 0));
            if !records && !pure(inner) {
                return None;
            }
            let captured = r.body.operands(inner).filter(|&v| !is_inside(v));
            from.extend(captured.filter(|&v| seen.insert(v)));
        }
        from.iter().all(|&v| !names.is_stack(r.body, v)).then_some(from)
    }

    /// The plan of a problem.
    pub(super) fn plan(
        &self,
        r: &Rewriter<'_>,
        names: &ControlOps,
        tapes: &Tapes,
        problem: &Problem,
        slots: Option<&Slots>,
        also: &FxHashSet<ValueId>,
    ) -> Plan {
        let places: FxHashMap<BlockId, usize> = problem
            .places
            .iter()
            .enumerate()
            .map(|(i, p)| (p.side.forward, i))
            .collect();
        let mut pairs: FxHashMap<ValueId, (OpId, OpId)> = FxHashMap::default();
        let mut needed: Vec<ValueId> = also.iter().copied().collect();
        needed.sort_unstable();
        let tapes_of: FxHashSet<usize> = problem.places.iter().map(|p| p.tape).collect();
        let mut tapes_of: Vec<usize> = tapes_of.into_iter().collect();
        tapes_of.sort_unstable();
        for tape in tapes_of {
            pairs.reserve(tapes.all[tape].pairs.len());
            for &(push, pop) in &tapes.all[tape].pairs {
                let here = r.body.op_block(push).is_some_and(|b| places.contains_key(&b));
                if here && r.body.has_uses(r.body.result(pop, 0)) {
                    pairs.insert(r.body.operand(push, 1), (push, pop));
                    needed.push(r.body.operand(push, 1));
                }
            }
        }
        let cx = Lookup {
            planner: self,
            names,
            tapes,
            problem,
            slots,
            places: &places,
            pairs: &pairs,
        };
        let mut plan = Plan::default();
        plan.index.reserve(needed.len());
        let mut pending: Vec<(ValueId, Option<Entry>)> = needed.iter().rev().map(|&v| (v, None)).collect();
        let mut seen: FxHashSet<ValueId> = FxHashSet::default();
        seen.reserve(needed.len());
        while let Some((value, entry)) = pending.pop() {
            match entry {
                Some(entry) => {
                    let from = entry.from.iter().filter_map(|v| plan.index.get(v).copied()).collect();
                    plan.index.insert(value, plan.nodes.len());
                    plan.values.push(value);
                    plan.how.push(entry.how);
                    plan.nodes.push(Node {
                        cost: entry.cost,
                        again: entry.again,
                        from,
                        needed: false,
                    });
                }
                None if seen.insert(value) => {
                    let entry = cx.entry(r, value);
                    let from = entry.from.clone();
                    pending.push((value, Some(entry)));
                    pending.extend(from.into_iter().rev().map(|v| (v, None)));
                }
                None => {}
            }
        }
        for value in needed {
            if let Some(&at) = plan.index.get(&value) {
                plan.nodes[at].needed = true;
            }
        }
        plan
    }
}

/// The entry of a value.
struct Entry {
    how: RecomputeKind,
    cost: u64,
    again: bool,
    from: SmallVec<[ValueId; 3]>,
}

struct Lookup<'a> {
    planner: &'a Planner,
    names: &'a ControlOps<'a>,
    tapes: &'a Tapes,
    problem: &'a Problem,
    slots: Option<&'a Slots>,
    places: &'a FxHashMap<BlockId, usize>,
    pairs: &'a FxHashMap<ValueId, (OpId, OpId)>,
}

impl Lookup<'_> {
    fn entry(&self, r: &Rewriter<'_>, value: ValueId) -> Entry {
        let known = |how| Entry {
            how,
            cost: 0,
            again: false,
            from: SmallVec::new(),
        };
        let Some(&place) = r.body.value_block(value).and_then(|b| self.places.get(&b)) else {
            let (how, cost) = self.outside(r, value);
            return Entry { cost, ..known(how) };
        };
        let pair = self.pairs.get(&value);
        if pair.is_none() && self.is_there(r, value, place) {
            return known(RecomputeKind::Known);
        }
        let at_root = place == 0;
        if let Some(slots) = self.slots.filter(|_| at_root) {
            let carried = match self.problem.which {
                0 => slots.forwarded_to(value),
                _ => slots.yielded_to(value),
            };
            if let Some(slot) = carried {
                return known(RecomputeKind::Carried(slot));
            }
            if let Some(slot) = slots.counted(r, value) {
                return known(RecomputeKind::Counted(slot));
            }
        }
        let how = match pair {
            Some(&(push, pop)) => RecomputeKind::Pair(push, pop),
            None => RecomputeKind::Here(place),
        };
        let from = match r.body.value_def(value) {
            // The stack of a branch costs nothing: what it would hold is chosen here, value by value.
            ValueDef::Result(op, _)
                if self.names.is_stack(r.body, value) && self.names.kind(r.body, op) != Some(FlowKind::Loop) =>
            {
                None
            }
            // Rounded in another way, it might choose another branch than the one that was taken.
            ValueDef::Result(op, _) if compares_floats(r, op) && chooses(r, self.names, value, 4) => None,
            // Nor is it worth running a loop again for a number.
            ValueDef::Result(op, _)
                if !r.body.op_regions(op).is_empty()
                    && !self.names.is_stack(r.body, value)
                    && bytes(r.ctx, r.body, value) <= SMALL =>
            {
                None
            }
            ValueDef::Result(op, _) => self.planner.again(r, self.names, op),
            _ => None,
        };
        let again = from.is_some();
        let cost = match self.names.is_stack(r.body, value) {
            // A handle has no bytes, but an inner loop records on it.
            true if again => self.bytes_on(r, value) << LOOP,
            true => 0,
            false => bytes(r.ctx, r.body, value).max(1),
        };
        Entry {
            how,
            cost: cost
                .saturating_mul(self.problem.places[place].weight)
                .min(UNLIMITED / 1024),
            again,
            from: from.unwrap_or_default().into(),
        }
    }

    /// Whether a value of the problem already has a counterpart in the dual. (It may also be in another dual.)
    fn is_there(&self, r: &Rewriter<'_>, value: ValueId, place: usize) -> bool {
        let primal_at = self
            .tapes
            .primal_at
            .get(value)
            .and_then(|primal_at| r.body.value_region(primal_at));
        let here = r.body.block_region(self.problem.places[place].side.dual);
        primal_at
            .zip(here)
            .is_some_and(|(primal_at, here)| r.body.region_contains(primal_at, here))
    }

    /// A value from outside of the problem: what it costs to have it, if it is not there.
    fn outside(&self, r: &Rewriter<'_>, value: ValueId) -> (RecomputeKind, u64) {
        if visible(r, self.tapes, self.problem.at, value).is_some() {
            return (RecomputeKind::Known, 0);
        }
        if is_constant(r, value) {
            return (RecomputeKind::Constant, 0);
        }
        let here = self.problem.places[0].side.dual;
        let sides = r.body.value_block(value).and_then(|b| self.planner.sides.get(&b));
        let around = sides.into_iter().flatten().find(|&&(tape, which)| {
            let dual = self.tapes.all[tape].sides[which].and_then(|s| r.body.block_region(s.dual));
            dual.zip(r.body.block_region(here))
                .is_some_and(|(outer, inner)| outer != inner && r.body.region_contains(outer, inner))
        });
        match around {
            Some(&(tape, which)) if !self.names.is_stack(r.body, value) => {
                (RecomputeKind::Outside(tape, which), bytes(r.ctx, r.body, value).max(1))
            }
            _ => (RecomputeKind::No, UNLIMITED),
        }
    }

    /// The bytes recorded by each push on the stack of a handle.
    fn bytes_on(&self, r: &Rewriter<'_>, handle: ValueId) -> u64 {
        let Some(&(_, pop)) = self.pairs.get(&handle) else {
            return 1;
        };
        let popped = r.body.result(pop, 0);
        let tapes = self.tapes.all.iter().filter(|t| t.handle == popped);
        let values = tapes
            .flat_map(|t| &t.pairs)
            .map(|&(push, _)| bytes(r.ctx, r.body, r.body.operand(push, 1)));
        values.sum::<u64>().max(1)
    }
}

/// Whether an operation makes truth values of floats.
fn compares_floats(r: &Rewriter<'_>, op: OpId) -> bool {
    let elem = |value: ValueId| r.ctx.elem_type(r.body.value_type(value));
    r.body.results(op).any(|v| elem(v) == Type::I1) && r.body.operands(op).any(|v| r.ctx.is_continuous(elem(v)))
}

/// Whether a branch depends on a truth value, by way of a few other ones.
fn chooses(r: &Rewriter<'_>, names: &ControlOps, value: ValueId, depth: usize) -> bool {
    r.body.uses(value).any(|at| {
        if names.kind(r.body, at.op) == Some(FlowKind::Branch) {
            return true;
        }
        let truth = |v: ValueId| r.ctx.elem_type(r.body.value_type(v)) == Type::I1;
        depth > 0
            && r.body
                .results(at.op)
                .any(|v| truth(v) && chooses(r, names, v, depth - 1))
    })
}

/// The bytes of a value; a dimension that is not known counts as some.
pub(in crate::autodiff) fn bytes(ctx: &Context, body: &Body, value: ValueId) -> u64 {
    let ty = body.value_type(value);
    let (shape, elem) = ctx.as_tensor(ty).map_or((&[][..], ty), |(shape, elem)| (shape, elem));
    let count = shape.iter().fold(1u64, |product, &dim| {
        product.saturating_mul(u64::try_from(dim).unwrap_or(64))
    });
    count.saturating_mul(ctx.elem_bytes(elem)).min(1 << 30)
}
