//! The rule across iterations: a value that another iteration records is not recorded again.
//!
//! What the body yields is the argument of the next iteration. The dual of a loop runs from the last iteration to the
//! first; so where an argument of the body is recorded, its dual hands the popped value on to the dual of the iteration
//! before, as a carried value, and there it is what was yielded. The carried value starts from the loop's result, which
//! is the argument that no iteration saw. In the same way the dual of the condition finds what the condition handed to
//! the body. One carried value takes the place of a record in every iteration.
//!
//! Precisely: *slot* `i` is what the condition forwards as its operand `i`, which the body gets as its argument `i` and
//! which is result `i` of the loop. If the dual carries slot `i`, then its cond region, run for iteration `k`, has the value
//! of the slot in iteration `k` (in the last run, the result), and its body region has that of iteration `k + 1` until it
//! replaces it by that of iteration `k`. A slot can be carried if the dual's body can do that: the argument is recorded; or
//! it is itself what the body yields to a slot that can be carried (values that move from slot to slot); or it is a
//! counter, an integer to which the same is added every time, and is counted down. These conditions refer to each other;
//! the largest solution is right, since every carried value starts from a result.
//!
//! The same for a branch: what a branch yields is a result of the operation, which needs no record where that is known.

use pir_ir::{BlockId, OpId, Rewriter, Traits, Type, ValueDef, ValueId, ValueMap};
use rustc_hash::{FxHashMap, FxHashSet};

use super::plumbing::{Carried, can_carry, carry};
use super::prune::Tapes;
use super::structure::{Kind, Names, Structure};

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
    /// For each slot the argument of the condition that is forwarded as it is.
    through: Vec<Option<usize>>,
    sources: Vec<Option<Source>>,
    /// The slots that hold a value in the next iteration that this one yields.
    next: FxHashMap<ValueId, usize>,
    /// The slots by what the condition forwards.
    forwarded: FxHashMap<ValueId, usize>,
}

/// Removes from a tape what other iterations, or the results of a branch, tell as well.
pub(crate) fn run(r: &mut Rewriter<'_>, names: &Names, tapes: &mut Tapes, at: usize) {
    if tapes.all[at].pairs.is_empty() {
        return;
    }
    match tapes.all[at].kind {
        Kind::While => run_loop(r, names, tapes, at),
        Kind::If => run_branch(r, names, tapes, at),
    };
}

impl Slots {
    /// The slots of the loop of a tape.
    pub(crate) fn new(r: &Rewriter<'_>, names: &Names, tapes: &Tapes, at: usize) -> Option<Slots> {
        let tape = &tapes.all[at];
        let op = r.body.block_parent(tape.forward)?;
        let structure = Structure::of(names, r.body, op)?;
        let ([Some(cond), Some(body)], Kind::While) = (structure.blocks, structure.kind) else {
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
            through: vec![None; count],
            sources: vec![None; count],
            next: FxHashMap::default(),
            forwarded: FxHashMap::default(),
        };
        for slot in 0..count {
            if names.is_stack(r.body, this.arg(r, slot)) {
                continue;
            }
            let value = r.body.operand(cond_end, slot + 1);
            this.forwarded.entry(value).or_insert(slot);
            this.through[slot] = cond_args.get(&value).copied();
        }
        this.find_sources(r, tapes, at);
        Some(this)
    }

    fn arg(&self, r: &Rewriter<'_>, slot: usize) -> ValueId {
        r.body.block_args(self.body)[slot]
    }

    fn find_sources(&mut self, r: &Rewriter<'_>, tapes: &Tapes, at: usize) {
        // What nobody reads any more is about to go.
        let read = tapes.all[at]
            .pairs
            .iter()
            .filter(|&&(_, pop)| r.body.has_uses(r.body.result(pop, 0)));
        let recorded: FxHashMap<ValueId, (OpId, OpId)> = read.map(|&pair| (r.body.operand(pair.0, 1), pair)).collect();
        // Of several slots that hold the same value, one with a record.
        for only_recorded in [true, false] {
            for slot in 0..self.through.len() {
                if let Some(j) = self.through[slot]
                    && only_recorded <= recorded.contains_key(&self.arg(r, slot))
                {
                    self.next.entry(r.body.operand(self.body_end, j)).or_insert(slot);
                }
            }
        }
        let own = |this: &Self, slot: usize| {
            if let Some(step) = this.counter(r, tapes, at, slot) {
                return Some(Source::Counter(step));
            }
            let forwarded = r.body.operand(this.cond_end, slot + 1);
            let first = this.forwarded.get(&forwarded) == Some(&slot);
            match (recorded.contains_key(&this.arg(r, slot)), recorded.get(&forwarded)) {
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
        // The largest solution: what refers to a slot without a source has none, unless it has one of its own.
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
    fn start(&self, r: &Rewriter<'_>, names: &Names, slot: usize) -> Option<ValueId> {
        let index = self.through[slot]?;
        if let Some(init) = Structure::of(names, r.body, self.op)?.init {
            let block = r.body.single_block(init)?;
            let forwarded = r.body.operands(r.body.last_op(block)?).nth(index)?;
            if r.body.block_args(block).get(index) != Some(&forwarded) {
                return None;
            }
        }
        r.body.operands(self.op).nth(index)
    }

    /// The step of a slot that the body counts up by the same integer in every iteration.
    fn counter(&self, r: &Rewriter<'_>, tapes: &Tapes, at: usize, slot: usize) -> Option<Step> {
        let arg = self.arg(r, slot);
        let ty = r.body.value_type(arg);
        if !matches!(r.ctx.elem_type(ty), Type::I64 | Type::I32) || !r.ctx.is_static(ty) {
            return None;
        }
        let yielded = r.body.operand(self.body_end, self.through[slot]?);
        let op = r.body.defining_op(yielded)?;
        let step = match r.ctx.op_str(r.body.op_name(op)) {
            "pd.increment" if r.body.operand(op, 0) == arg => Step::Attr(r.view(op).f64("value").unwrap_or(1.0)),
            "pd.add" if r.body.operand(op, 0) == arg => Step::Added(r.body.operand(op, 1)),
            "pd.add" if r.body.operand(op, 1) == arg => Step::Added(r.body.operand(op, 0)),
            "pd.subtract" if r.body.operand(op, 0) == arg => Step::Subtracted(r.body.operand(op, 1)),
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

    /// The slot of which a value is the argument, if that is a counter.
    fn counted(&self, r: &Rewriter<'_>, value: ValueId) -> Option<usize> {
        let ValueDef::Arg(block, slot) = r.body.value_def(value) else {
            return None;
        };
        let slot = slot as usize;
        let is_counter = matches!(self.sources.get(slot), Some(Some(Source::Counter(_))));
        (block == self.body && is_counter).then_some(slot)
    }

    /// What the carried value starts from, where the dual stands: the result, or a place to record it.
    fn initial(&self, r: &Rewriter<'_>, tapes: &Tapes, at: usize, slot: usize) -> Option<Initial> {
        let result = r.body.results(self.op).nth(slot)?;
        if let Some(value) = visible(r, tapes, at, result) {
            return Some(Initial::Known(value));
        }
        // Where the handle was recorded, the result can be as well.
        let pop = r.body.defining_op(tapes.all[at].handle)?;
        let &(push, outer) = tapes.partner.get(&pop)?;
        (r.body.op_block(push) == r.body.op_block(self.op)).then_some(Initial::Recorded { push, pop, outer })
    }

    /// The slot whose value, an iteration later, is that of a value of the body.
    pub(crate) fn yielded_to(&self, value: ValueId) -> Option<usize> {
        self.next
            .get(&value)
            .copied()
            .filter(|&slot| self.sources[slot].is_some())
    }
}

enum Initial {
    Known(ValueId),
    Recorded { push: OpId, pop: OpId, outer: usize },
}

fn stands_in(r: &Rewriter<'_>, op: OpId, block: BlockId) -> bool {
    r.body.op_block(op) == Some(block)
}

fn is_constant(r: &Rewriter<'_>, value: ValueId) -> bool {
    r.body
        .defining_op(value)
        .is_some_and(|op| r.view(op).has(Traits::CONSTANT))
}

/// What stands for a value where the dual of a tape stands, if that is known without a further record.
fn visible(r: &Rewriter<'_>, tapes: &Tapes, at: usize, value: ValueId) -> Option<ValueId> {
    let dual = r.body.block_parent(tapes.all[at].dual)?;
    let here = r.body.op_region(dual)?;
    [Some(value), tapes.image.get(value)].into_iter().flatten().find(|&w| {
        r.body
            .value_region(w)
            .is_some_and(|region| r.body.region_contains(region, here))
    })
}

fn run_loop(r: &mut Rewriter<'_>, names: &Names, tapes: &mut Tapes, at: usize) -> Option<()> {
    let slots = Slots::new(r, names, tapes, at)?;
    // What each recorded value is in terms of carried slots.
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
    let Some(mut carrier) = Carrier::build(r, names, tapes, at, &slots, &wanted) else {
        kept.extend(found.into_iter().map(|(pair, _)| pair));
        tapes.all[at].pairs = kept;
        return None;
    };
    tapes.all[at].pairs.extend(kept);
    for (pair, slot) in found {
        let value = r.body.operand(pair.0, 1);
        let other = match stands_in(r, pair.0, slots.cond) {
            true => carrier.in_cond(slot),
            false if slots.yielded_to(value).is_some() => carrier.in_body(slot),
            false => carrier.counted_down(r, tapes, slot),
        };
        tapes.remove(r, pair, other);
    }
    carrier.close(r, tapes);
    Some(())
}

/// The carried slots of a dual that is being extended.
pub(crate) struct Carrier<'s> {
    at: usize,
    slots: &'s Slots,
    carried: FxHashMap<usize, Carried>,
    order: Vec<usize>,
    counted: FxHashMap<usize, ValueId>,
}

impl<'s> Carrier<'s> {
    /// Makes the dual of tape `at` carry the slots `wanted` and those that these come from.
    pub(crate) fn build(
        r: &mut Rewriter<'_>,
        names: &Names,
        tapes: &mut Tapes,
        at: usize,
        slots: &'s Slots,
        wanted: &[usize],
    ) -> Option<Self> {
        let mut order = Vec::new();
        let mut seen = FxHashSet::default();
        let mut pending: Vec<usize> = wanted.iter().rev().copied().collect();
        while let Some(slot) = pending.pop() {
            if !seen.insert(slot) {
                continue;
            }
            order.push(slot);
            if let Some(Source::Yielded(next)) = slots.sources[slot] {
                pending.push(next);
            }
        }
        let dual = r.body.block_parent(tapes.all[at].dual)?;
        can_carry(r, names, dual)?;
        let mut initial = Vec::new();
        for &slot in &order {
            initial.push(match slots.initial(r, tapes, at, slot)? {
                Initial::Known(value) => value,
                Initial::Recorded { push, pop, outer } => {
                    let result = r.body.result(slots.op, slot);
                    record_beside(r, tapes, outer, (push, pop), result)
                }
            });
        }
        let carried = carry(r, names, dual, &initial)?;
        for (&slot, carried) in order.iter().zip(&carried) {
            if let Some(start) = slots.start(r, names, slot) {
                tapes
                    .started_from
                    .insert(start, (tapes.all[at].dual, carried.result_at));
            }
            let yielded = slots.through[slot].map(|j| r.body.operand(slots.body_end, j));
            r.take_name(r.body.operand(slots.cond_end, slot + 1), carried.in_cond);
            r.take_name(yielded.unwrap_or(slots.arg(r, slot)), carried.in_body);
        }
        let mut this = Carrier {
            at,
            slots,
            carried: order.iter().copied().zip(carried).collect(),
            order,
            counted: FxHashMap::default(),
        };
        this.move_records(r, tapes);
        Some(this)
    }

    fn in_cond(&self, slot: usize) -> Option<ValueId> {
        self.carried.get(&slot).map(|c| c.in_cond)
    }

    /// The value of a slot in the next iteration, in the body of the dual.
    pub(crate) fn in_body(&self, slot: usize) -> Option<ValueId> {
        self.carried.get(&slot).map(|c| c.in_body)
    }

    /// Lets the body record what the condition did, once less.
    fn move_records(&mut self, r: &mut Rewriter<'_>, tapes: &mut Tapes) {
        let slots = self.slots;
        for &slot in &self.order {
            let Some(Source::RecordedByCond(push, pop)) = slots.sources[slot] else {
                continue;
            };
            let arg = slots.arg(r, slot);
            let inside = r.body.operand(push, 0);
            let inside = match r.body.value_def(inside) {
                ValueDef::Arg(block, _) if block == slots.cond => r.body.block_args(slots.body).last().copied(),
                _ => Some(inside),
            };
            let Some(inside) = inside else { continue };
            let handle = r.body.operand(pop, 0);
            let push = r
                .before(slots.body_end)
                .op("cf.push_back")
                .operand(inside)
                .operand(arg)
                .build();
            let ty = r.body.value_type(arg);
            let yields = self.carried.get(&slot).and_then(|c| r.body.value_block(c.in_body));
            let Some(dual_body) = yields else { continue };
            let popped = r
                .at_start(dual_body)
                .op("cf.pop_back")
                .operand(handle)
                .result(ty)
                .value();
            r.take_name(arg, popped);
            if let Some(pop) = r.body.defining_op(popped) {
                tapes.add(r, self.at, push, pop);
            }
        }
    }

    /// The value of a counter in this iteration, in the body of the dual.
    pub(crate) fn counted_down(&mut self, r: &mut Rewriter<'_>, tapes: &Tapes, slot: usize) -> Option<ValueId> {
        if let Some(&value) = self.counted.get(&slot) {
            return Some(value);
        }
        let Some(Source::Counter(step)) = self.slots.sources[slot] else {
            return None;
        };
        let after = self.in_body(slot)?;
        let block = r.body.value_block(after)?;
        r.at_start(block);
        let value = match step {
            Step::Attr(by) => {
                let by = r.ctx.float_attr(-by);
                let ty = r.body.value_type(after);
                r.op("pd.increment").operand(after).attr("value", by).result(ty).value()
            }
            Step::Added(by) | Step::Subtracted(by) => {
                let by = match visible(r, tapes, self.at, by) {
                    Some(by) => by,
                    None => {
                        let op = r.body.defining_op(by)?;
                        let clone = r.clone_op(op, &mut ValueMap::new());
                        r.body.result(clone, 0)
                    }
                };
                let name = if matches!(step, Step::Added(_)) {
                    "pd.subtract"
                } else {
                    "pd.add"
                };
                let ty = r.body.value_type(after);
                r.op(name).operand(after).operand(by).result(ty).value()
            }
        };
        r.take_name(self.slots.arg(r, slot), value);
        self.counted.insert(slot, value);
        Some(value)
    }

    /// Makes the body of the dual hand on the values of this iteration.
    pub(crate) fn close(mut self, r: &mut Rewriter<'_>, tapes: &Tapes) {
        for slot in std::mem::take(&mut self.order) {
            let value = match self.slots.sources[slot] {
                Some(Source::Yielded(next)) => self.in_body(next),
                Some(Source::Counter(_)) => self.counted_down(r, tapes, slot),
                Some(Source::Inner(dual, result)) => r.body.block_parent(dual).map(|dual| r.body.result(dual, result)),
                _ => tapes.image.get(self.slots.arg(r, slot)),
            };
            if let (Some(value), Some(carried)) = (value, self.carried.get(&slot))
                && let Some(end) = r.body.value_block(carried.in_body).and_then(|b| r.body.last_op(b))
            {
                r.body.set_operand(end, carried.yielded_at, value);
            }
        }
    }
}

/// Records a value on the stack that a handle is recorded on, right behind the handle.
fn record_beside(
    r: &mut Rewriter<'_>,
    tapes: &mut Tapes,
    outer: usize,
    (push, pop): (OpId, OpId),
    value: ValueId,
) -> ValueId {
    let (inside, handle) = (r.body.operand(push, 0), r.body.operand(pop, 0));
    let new_push = r.after(push).op("cf.push_back").operand(inside).operand(value).build();
    let ty = r.body.value_type(value);
    let new_pop = r.before(pop).op("cf.pop_back").operand(handle).result(ty).build();
    let popped = r.body.result(new_pop, 0);
    r.take_name(value, popped);
    tapes.add(r, outer, new_push, new_pop);
    popped
}

/// What a branch yields is a result of the operation: no record where that is known, or will be for nothing.
fn run_branch(r: &mut Rewriter<'_>, names: &Names, tapes: &mut Tapes, at: usize) -> Option<()> {
    let op = r.body.block_parent(tapes.all[at].forward)?;
    let mut outer_slots: Option<Option<Slots>> = None;
    for pair in std::mem::take(&mut tapes.all[at].pairs) {
        let value = r.body.operand(pair.0, 1);
        let yielded = r.body.op_block(pair.0).and_then(|b| r.body.last_op(b)).and_then(|end| {
            let slot = r.body.operands(end).position(|v| v == value)?;
            r.body.results(op).nth(slot)
        });
        let known = yielded.and_then(|result| {
            // A branch that runs once may as well record: only what loops repeat is worth it.
            let pop = r.body.defining_op(tapes.all[at].handle)?;
            let &(push, outer) = tapes.partner.get(&pop)?;
            if let Some(known) = visible(r, tapes, at, result) {
                return Some(known);
            }
            let slots = outer_slots
                .get_or_insert_with(|| Slots::new(r, names, tapes, outer))
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
