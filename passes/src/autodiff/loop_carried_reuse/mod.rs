//! Reuse across iterations: a value that another iteration records is not recorded again.
//!
//! What the body yields is the argument of the next iteration. The dual of a loop runs from the last iteration to the
//! first; so if an argument of the body is recorded, its dual forwards the popped value, as a carried value, to the
//! dual of the preceding iteration, where it is the yielded value. The carried value starts from the loop's result,
//! which no iteration received as an argument. Similarly, the dual of the condition obtains what the condition
//! forwarded to the body. One carried value replaces a record in every iteration.
//!
//! Precisely: *slot* `i` is what the condition forwards as its operand `i`, which the body gets as its argument `i` and
//! which is result `i` of the loop. If the dual carries slot `i`, then its cond region, run for iteration `k`, has the
//! value of the slot in iteration `k` (in the last run, the result), and its body region has that of iteration `k + 1`
//! until it replaces it by that of iteration `k`. A slot can be carried if the dual's body can do that: the argument is
//! recorded; or it is itself what the body yields to a slot that can be carried (values that move from slot to slot);
//! or it is a counter, an integer with a constant increment, and is counted down. These conditions refer to each other;
//! the largest solution is correct, since every carried value starts from a result.
//!
//! The same holds for a branch: a yielded value is a result of the operation, and needs no record if the result is
//! known.

mod carrier;

use pir_ir::{Arith, BlockId, FlowKind, OpId, Rewriter, Traits, Type, ValueDef, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::control_ops::ControlOps;
use super::tapes::Tapes;
pub(crate) use carrier::CarrierPlan;
use carrier::record_beside;

/// Where the values of a slot come from, when the dual's body brings it from an iteration to the one before.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Source {
    /// The argument is recorded.
    Recorded,
    /// The condition recorded what it forwards; the body will record it instead.
    RecordedByCond(OpId, OpId),
    /// The argument is yielded to another slot, and is that in the next iteration.
    Yielded(usize),
    /// The argument is an integer that grows by the same amount every time.
    Counter(Step),
    /// The argument is where an inner loop starts from, which is where its dual, with this block, ends: in this result.
    Inner(BlockId, usize),
}

/// By how much an integer changes in an iteration.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Step {
    /// A number.
    Attr(f64),
    Added(ValueId),
    Subtracted(ValueId),
}

/// The slots of a loop.
pub(crate) struct Slots {
    op: OpId,
    cond: BlockId,
    body: BlockId,
    cond_end: OpId,
    body_end: OpId,
    stack: Type,
    /// Which operand of the condition's terminator is the first that is forwarded.
    passes: usize,
    /// For each slot the argument of the condition that is forwarded as it is.
    through: Vec<Option<usize>>,
    sources: Vec<Option<Source>>,
    /// The slots that hold a value in the next iteration that this one yields.
    next: FxHashMap<ValueId, usize>,
    /// The slots by what the condition forwards.
    forwarded: FxHashMap<ValueId, usize>,
}

/// Removes values from a tape that other iterations, or the results of a branch, provide.
pub(crate) fn run(r: &mut Rewriter<'_>, names: &ControlOps, tapes: &mut Tapes, at: usize) {
    if tapes.all[at].pairs.is_empty() {
        return;
    }
    tapes.enter_primals(r.body, at);
    match tapes.all[at].kind {
        FlowKind::Loop => run_loop(r, names, tapes, at),
        FlowKind::Branch => run_branch(r, names, tapes, at),
    };
}

impl Slots {
    /// The slots of the loop of a tape. The arguments in `also` count as recorded.
    pub(crate) fn new(
        r: &Rewriter<'_>,
        names: &ControlOps,
        tapes: &Tapes,
        at: usize,
        also: &FxHashSet<ValueId>,
    ) -> Option<Slots> {
        let tape = &tapes.all[at];
        let op = r.body.block_parent(tape.forward)?;
        let structure = names.form(r.body, op)?;
        let ([Some(cond), Some(body)], FlowKind::Loop) = (structure.blocks, structure.kind) else {
            return None;
        };
        let (cond_end, body_end) = (r.body.last_op(cond)?, r.body.last_op(body)?);
        let count = r.body.block_args(body).len();
        let cond_args: FxHashMap<ValueId, usize> = r
            .body
            .block_args(cond)
            .iter()
            .enumerate()
            .map(|(j, &a)| (a, j))
            .collect();
        let mut this = Slots {
            op,
            cond,
            body,
            cond_end,
            body_end,
            stack: names.stack,
            passes: structure.passes[0],
            through: vec![None; count],
            sources: vec![None; count],
            next: FxHashMap::default(),
            forwarded: FxHashMap::default(),
        };
        for slot in 0..count {
            if names.is_stack(r.body, this.arg(r, slot)) {
                continue;
            }
            let value = this.forwards(r, slot);
            this.forwarded.entry(value).or_insert(slot);
            this.through[slot] = cond_args.get(&value).copied();
        }
        this.find_sources(r, tapes, at, also);
        Some(this)
    }

    /// The value that the condition forwards in a slot.
    fn forwards(&self, r: &Rewriter<'_>, slot: usize) -> ValueId {
        r.body.operand(self.cond_end, slot + self.passes)
    }

    fn arg(&self, r: &Rewriter<'_>, slot: usize) -> ValueId {
        r.body.block_args(self.body)[slot]
    }

    fn find_sources(&mut self, r: &Rewriter<'_>, tapes: &Tapes, at: usize, also: &FxHashSet<ValueId>) {
        // A loop may record most of what it computes, and has few slots.
        let forwarded = r.body.operands(self.cond_end).skip(self.passes);
        let args = r.body.block_args(self.body).iter().copied();
        let asked_for: FxHashSet<ValueId> = forwarded.chain(args).collect();
        // Unread values are about to be removed.
        let pairs = tapes.all[at]
            .pairs
            .iter()
            .map(|&pair| (r.body.operand(pair.0, 1), pair));
        let recorded: FxHashMap<ValueId, (OpId, OpId)> = pairs
            .filter(|(value, (_, pop))| asked_for.contains(value) && r.body.has_uses(r.body.result(*pop, 0)))
            .collect();
        let is_recorded = |value: ValueId| recorded.contains_key(&value) || also.contains(&value);
        // Among slots that hold the same value, prefer one with a record.
        for only_recorded in [true, false] {
            for slot in 0..self.through.len() {
                if let Some(j) = self.through[slot]
                    && only_recorded <= is_recorded(self.arg(r, slot))
                {
                    self.next.entry(r.body.operand(self.body_end, j)).or_insert(slot);
                }
            }
        }
        let own = |this: &Self, slot: usize| {
            if let Some(step) = this.counter(r, tapes, at, slot) {
                return Some(Source::Counter(step));
            }
            let forwarded = this.forwards(r, slot);
            let first = this.forwarded.get(&forwarded) == Some(&slot);
            match (is_recorded(this.arg(r, slot)), recorded.get(&forwarded)) {
                (true, _) => Some(Source::Recorded),
                (false, Some(&(push, pop))) if stands_in(r, push, this.cond) && first => {
                    Some(Source::RecordedByCond(push, pop))
                }
                _ => this
                    .inner_result(r, tapes, at, slot)
                    .map(|(dual, result)| Source::Inner(dual, result)),
            }
        };
        let possible: Vec<bool> = (0..self.through.len())
            .map(|slot| {
                r.body.value_type(self.arg(r, slot)) != self.stack && self.initial(r, tapes, at, slot).is_some()
            })
            .collect();
        for slot in (0..self.through.len()).filter(|&slot| possible[slot]) {
            self.sources[slot] = match self.next.get(&self.arg(r, slot)) {
                Some(&next) => Some(Source::Yielded(next)),
                None => own(self, slot),
            };
        }
        // The largest solution: a slot that refers to one without a source has none, unless it has its own.
        let mut readers: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
        for (slot, source) in self.sources.iter().enumerate() {
            if let Some(Source::Yielded(next)) = *source {
                readers.entry(next).or_default().push(slot);
            }
        }
        let mut pending: Vec<usize> = (0..self.sources.len()).filter(|&s| self.sources[s].is_none()).collect();
        while let Some(without) = pending.pop() {
            for slot in readers.remove(&without).unwrap_or_default() {
                self.sources[slot] = own(self, slot);
                if self.sources[slot].is_none() {
                    pending.push(slot);
                }
            }
        }
    }

    /// The result of an inner dual that is the argument of a slot.
    fn inner_result(&self, r: &Rewriter<'_>, tapes: &Tapes, at: usize, slot: usize) -> Option<(BlockId, usize)> {
        let &(block, result) = tapes.started_from.get(&self.arg(r, slot))?;
        let inner = r.body.block_parent(block)?;
        let dual = r.body.block_parent(tapes.all[at].dual)?;
        (r.body.parent_op(inner) == Some(dual) && r.body.op_block(inner) != Some(tapes.all[at].dual))
            .then_some((block, result))
    }

    /// The operand of the loop that a slot starts from.
    fn start(&self, r: &Rewriter<'_>, names: &ControlOps, slot: usize) -> Option<ValueId> {
        let index = self.through[slot]?;
        if let Some(init) = names.form(r.body, self.op)?.entry {
            let block = r.body.single_block(init)?;
            let forwarded = r.body.get_operand(r.body.last_op(block)?, index)?;
            if r.body.block_args(block).get(index) != Some(&forwarded) {
                return None;
            }
        }
        r.body.get_operand(self.op, index)
    }

    /// The step of a slot that the body counts up by the same integer in every iteration.
    fn counter(&self, r: &Rewriter<'_>, tapes: &Tapes, at: usize, slot: usize) -> Option<Step> {
        let arg = self.arg(r, slot);
        let ty = r.body.value_type(arg);
        if !matches!(r.ctx.elem_type(ty), Type::I64 | Type::I32 | Type::INDEX) || !r.ctx.is_static(ty) {
            return None;
        }
        let yielded = r.body.operand(self.body_end, self.through[slot]?);
        let op = r.body.defining_op(yielded)?;
        let (view, arith) = (r.view(op), r.ctx.arithmetic(ty)?);
        let step = match (view.operand(0)? == arg, view.operand(1)) {
            (true, _) if arith.offset_of(view).is_some() => Step::Attr(arith.offset_of(view)?),
            (true, Some(by)) if arith.is(view, Arith::Add) => Step::Added(by),
            (true, Some(by)) if arith.is(view, Arith::Subtract) => Step::Subtracted(by),
            (false, Some(other)) if other == arg && arith.is(view, Arith::Add) => Step::Added(view.operand(0)?),
            _ => return None,
        };
        let known = match step {
            Step::Attr(by) => by.fract() == 0.0 && by.abs() < 1e9,
            Step::Added(by) | Step::Subtracted(by) => {
                r.body.value_type(by) == ty && (is_constant(r, by) || visible(r, tapes, at, by).is_some())
            }
        };
        (known && stands_in(r, op, self.body)).then_some(step)
    }

    /// The slot whose argument is the value, if it is a counter.
    pub(crate) fn counted(&self, r: &Rewriter<'_>, value: ValueId) -> Option<usize> {
        let ValueDef::Arg(block, slot) = r.body.value_def(value) else {
            return None;
        };
        let slot = slot as usize;
        let is_counter = matches!(self.sources.get(slot), Some(Some(Source::Counter(_))));
        (block == self.body && is_counter).then_some(slot)
    }

    /// The initial value of the carried value, at the dual: the result, or a place to record it.
    fn initial(&self, r: &Rewriter<'_>, tapes: &Tapes, at: usize, slot: usize) -> Option<Initial> {
        let result = r.body.get_result(self.op, slot)?;
        if let Some(value) = visible(r, tapes, at, result) {
            return Some(Initial::Known(value));
        }
        // Where the handle was recorded, the result can be as well.
        let pop = r.body.defining_op(tapes.all[at].handle)?;
        let (push, outer) = tapes.partner(pop)?;
        (r.body.op_block(push) == r.body.op_block(self.op)).then_some(Initial::Recorded { push, pop, outer })
    }

    /// The slot that holds what the condition forwards.
    pub(crate) fn forwarded_to(&self, value: ValueId) -> Option<usize> {
        self.forwarded
            .get(&value)
            .copied()
            .filter(|&slot| self.sources[slot].is_some())
    }

    /// The slot whose value, an iteration later, is that of a value of the body.
    pub(crate) fn yielded_to(&self, value: ValueId) -> Option<usize> {
        self.next
            .get(&value)
            .copied()
            .filter(|&slot| self.sources[slot].is_some())
    }
}

/// Finds the slots that duals carry already, from an earlier run.
pub(crate) fn find_carried(r: &Rewriter<'_>, names: &ControlOps, tapes: &mut Tapes) {
    for at in 0..tapes.all.len() {
        if tapes.all[at].kind == FlowKind::Loop
            && let Some(slots) = Slots::new(r, names, tapes, at, &FxHashSet::default())
        {
            find_carried_by(r, names, tapes, at, &slots);
        }
    }
}

fn find_carried_by(r: &Rewriter<'_>, names: &ControlOps, tapes: &mut Tapes, at: usize, slots: &Slots) -> Option<()> {
    let dual = r.body.block_parent(tapes.all[at].dual)?;
    let structure = names.form(r.body, dual)?;
    let [Some(cond), Some(body)] = structure.blocks else {
        return None;
    };
    let (cond_end, body_end) = (r.body.last_op(cond)?, r.body.last_op(body)?);
    if structure.entry.is_some() {
        return None;
    }
    let place: FxHashMap<ValueId, usize> = r.body.operands(dual).enumerate().map(|(p, v)| (v, p)).collect();
    let ends: FxHashMap<ValueId, usize> = r
        .body
        .operands(cond_end)
        .skip(structure.passes[0])
        .enumerate()
        .map(|(q, v)| (v, q))
        .collect();
    let mut found = true;
    let mut left: Vec<usize> = (0..slots.through.len()).collect();
    // One slot may come from another, which must be known first.
    while std::mem::take(&mut found) {
        left.retain(|&slot| {
            let carried = || {
                let initial = visible(r, tapes, at, r.body.get_result(slots.op, slot)?)?;
                let &p = place.get(&initial)?;
                let in_cond = *r.body.block_args(cond).get(p)?;
                let &q = ends.get(&in_cond)?;
                let handed_on = r.body.get_operand(body_end, p)?;
                let known = tapes.primal_at.get(slots.arg(r, slot)) == Some(handed_on);
                known.then_some((in_cond, *r.body.block_args(body).get(q)?, q))
            };
            let Some((in_cond, in_body, result)) = carried() else {
                return true;
            };
            let forwarded = slots.forwards(r, slot);
            tapes.primal_at.insert(forwarded, in_cond);
            if let Some(j) = slots.through[slot] {
                tapes.primal_at.insert(r.body.operand(slots.body_end, j), in_body);
            }
            if let Some(start) = slots.start(r, names, slot) {
                tapes.started_from.insert(start, (tapes.all[at].dual, result));
            }
            found = true;
            false
        });
    }
    Some(())
}

enum Initial {
    Known(ValueId),
    Recorded { push: OpId, pop: OpId, outer: usize },
}

fn stands_in(r: &Rewriter<'_>, op: OpId, block: BlockId) -> bool {
    r.body.op_block(op) == Some(block)
}

pub(super) fn is_constant(r: &Rewriter<'_>, value: ValueId) -> bool {
    r.body
        .defining_op(value)
        .is_some_and(|op| r.view(op).has(Traits::CONSTANT))
}

/// The counterpart of a value at the dual of a tape, if one is known without another record.
pub(super) fn visible(r: &Rewriter<'_>, tapes: &Tapes, at: usize, value: ValueId) -> Option<ValueId> {
    let dual = r.body.block_parent(tapes.all[at].dual)?;
    let here = r.body.op_region(dual)?;
    [Some(value), tapes.primal_at.get(value)]
        .into_iter()
        .flatten()
        .find(|&w| {
            r.body
                .value_region(w)
                .is_some_and(|region| tapes.tree.contains(r.body, region, here))
        })
}

fn run_loop(r: &mut Rewriter<'_>, names: &ControlOps, tapes: &mut Tapes, at: usize) -> Option<()> {
    let slots = Slots::new(r, names, tapes, at, &FxHashSet::default())?;
    // Each recorded value in terms of carried slots.
    let mut found: Vec<((OpId, OpId), usize)> = Vec::new();
    let mut kept = Vec::new();
    for pair in std::mem::take(&mut tapes.all[at].pairs) {
        let value = r.body.operand(pair.0, 1);
        let by_cond = stands_in(r, pair.0, slots.cond);
        let slot = match by_cond {
            true => slots
                .forwarded
                .get(&value)
                .copied()
                .filter(|&s| slots.sources[s].is_some()),
            false => slots.yielded_to(value).or_else(|| slots.counted(r, value)),
        };
        match slot {
            Some(slot) => found.push((pair, slot)),
            None => kept.push(pair),
        }
    }
    let wanted: Vec<usize> = found.iter().map(|&(_, slot)| slot).collect();
    let Some(plan) = CarrierPlan::new(r, names, tapes, at, &slots, &wanted) else {
        kept.extend(found.into_iter().map(|(pair, _)| pair));
        tapes.all[at].pairs = kept;
        return None;
    };
    tapes.all[at].pairs.extend(kept);
    let mut carrier = plan.apply(r, names, tapes);
    for (pair, slot) in found {
        let value = r.body.operand(pair.0, 1);
        let other = match stands_in(r, pair.0, slots.cond) {
            true => carrier.in_cond(slot),
            false if slots.yielded_to(value).is_some() => carrier.in_body(slot),
            false => carrier.counted_down(r, tapes, slot),
        };
        match other {
            Some(_) => tapes.remove(r, pair, other),
            None => tapes.all[at].pairs.push(pair),
        }
    }
    carrier.close(r, tapes);
    Some(())
}

/// A value that a branch yields is a result of the operation: no record where that is known, or will be for nothing.
fn run_branch(r: &mut Rewriter<'_>, names: &ControlOps, tapes: &mut Tapes, at: usize) -> Option<()> {
    let op = r.body.block_parent(tapes.all[at].forward)?;
    let mut outer_slots: Option<Option<Slots>> = None;
    // The yielded values of each branch, with the first position of each.
    let mut yields: FxHashMap<OpId, FxHashMap<ValueId, usize>> = FxHashMap::default();
    for pair in std::mem::take(&mut tapes.all[at].pairs) {
        let value = r.body.operand(pair.0, 1);
        let yielded = r.body.op_block(pair.0).and_then(|b| r.body.last_op(b)).and_then(|end| {
            let places = yields.entry(end).or_insert_with(|| {
                let yielded = r.body.operands(end).enumerate().rev();
                yielded.map(|(slot, v)| (v, slot)).collect()
            });
            r.body.get_result(op, *places.get(&value)?)
        });
        let known = yielded.and_then(|result| {
            // A branch that runs once may record: only repeated records matter.
            let pop = r.body.defining_op(tapes.all[at].handle)?;
            let (push, outer) = tapes.partner(pop)?;
            if let Some(known) = visible(r, tapes, at, result) {
                return Some(known);
            }
            let slots = outer_slots
                .get_or_insert_with(|| Slots::new(r, names, tapes, outer, &FxHashSet::default()))
                .as_ref()?;
            let for_nothing = r.body.op_block(push) == Some(slots.body)
                && r.body.op_block(op) == Some(slots.body)
                && slots.yielded_to(result).is_some();
            for_nothing.then(|| record_beside(r, tapes, outer, (push, pop), result))
        });
        match known {
            Some(known) => tapes.remove(r, pair, Some(known)),
            None => tapes.all[at].pairs.push(pair),
        }
    }
    Some(())
}
