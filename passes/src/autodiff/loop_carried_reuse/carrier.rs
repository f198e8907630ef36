//! The carried values of a dual, for the [rule across iterations](super): adding them, and handing them on.

use pir_dialects::cf;
use pir_ir::{Arith, OpId, Rewriter, ValueDef, ValueId, ValueMap};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Initial, Slots, Source, Step, visible};
use crate::autodiff::control_ops::ControlOps;
use crate::autodiff::loop_editing::{Carried, Carry};
use crate::autodiff::tapes::Tapes;

/// The carried slots of a dual that is being extended.
pub(crate) struct Carrier<'s> {
    at: usize,
    slots: &'s Slots,
    carried: FxHashMap<usize, Carried>,
    order: Vec<usize>,
    counted: FxHashMap<usize, ValueId>,
}

/// A dual that can be made to carry slots.
pub(crate) struct CarrierPlan<'s, 'c> {
    at: usize,
    slots: &'s Slots,
    order: Vec<usize>,
    initial: Vec<Initial>,
    carry: Carry<'c>,
}

impl<'s, 'c> CarrierPlan<'s, 'c> {
    /// The dual of tape `at` is to carry the slots `wanted` and those that these come from.
    pub(crate) fn new(
        r: &Rewriter<'_>,
        names: &ControlOps<'c>,
        tapes: &Tapes,
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
        let initial: Vec<Initial> = order
            .iter()
            .map(|&slot| slots.initial(r, tapes, at, slot))
            .collect::<Option<_>>()?;
        let like = order.iter().zip(&initial).map(|(&slot, initial)| match *initial {
            Initial::Known(value) => r.body.value_type(value),
            Initial::Recorded { .. } => r.body.value_type(r.body.result(slots.op, slot)),
        });
        let carry = Carry::plan(r, names, dual, like)?;
        Some(CarrierPlan {
            at,
            slots,
            order,
            initial,
            carry,
        })
    }

    /// Makes the dual carry them.
    pub(crate) fn apply(self, r: &mut Rewriter<'_>, names: &ControlOps, tapes: &mut Tapes) -> Carrier<'s> {
        let CarrierPlan {
            at,
            slots,
            order,
            initial,
            carry,
        } = self;
        let mut values = Vec::new();
        for (&slot, initial) in order.iter().zip(initial) {
            values.push(match initial {
                Initial::Known(value) => value,
                Initial::Recorded { push, pop, outer } => {
                    let result = r.body.result(slots.op, slot);
                    record_beside(r, tapes, outer, (push, pop), result)
                }
            });
        }
        let carried = carry.apply(r, &values);
        for (&slot, carried) in order.iter().zip(&carried) {
            if let Some(start) = slots.start(r, names, slot) {
                tapes
                    .started_from
                    .insert(start, (tapes.all[at].dual, carried.result_at));
            }
            let yielded = slots.through[slot].map(|j| r.body.operand(slots.body_end, j));
            r.take_name(slots.forwards(r, slot), carried.in_cond);
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
        this
    }
}

impl Carrier<'_> {
    /// The value of a slot, in the condition of the dual.
    pub(crate) fn in_cond(&self, slot: usize) -> Option<ValueId> {
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
                .op(cf::PUSH_BACK)
                .operand(inside)
                .operand(arg)
                .build();
            let ty = r.body.value_type(arg);
            let yields = self.carried.get(&slot).and_then(|c| r.body.value_block(c.in_body));
            let Some(dual_body) = yields else { continue };
            let popped = r
                .at_start(dual_body)
                .op(cf::POP_BACK)
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
        let arith = r.ctx.arithmetic(r.body.value_type(after))?;
        let value = match step {
            Step::Attr(by) => {
                let op = arith.offset(r, after, -by);
                r.body.result(op, 0)
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
                let back = match step {
                    Step::Added(_) => Arith::Subtract,
                    _ => Arith::Add,
                };
                let ty = r.body.value_type(after);
                arith.emit(r, back, &[after, by], ty)
            }
        };
        r.take_name(self.slots.arg(r, slot), value);
        self.counted.insert(slot, value);
        Some(value)
    }

    /// Makes the body of the dual forward the values of this iteration.
    pub(crate) fn close(mut self, r: &mut Rewriter<'_>, tapes: &Tapes) {
        for slot in std::mem::take(&mut self.order) {
            let value = match self.slots.sources[slot] {
                Some(Source::Yielded(next)) => self.in_body(next),
                Some(Source::Counter(_)) => self.counted_down(r, tapes, slot),
                Some(Source::Inner(dual, result)) => r.body.block_parent(dual).map(|dual| r.body.result(dual, result)),
                _ => tapes.primal_at.get(self.slots.arg(r, slot)),
            };
            if let (Some(value), Some(Carried { yielded, .. })) = (value, self.carried.get(&slot)) {
                r.body.set_operand(yielded.op, yielded.index, value);
            }
        }
    }
}

/// Records a value on the stack that a handle is recorded on, right after the handle.
pub(super) fn record_beside(
    r: &mut Rewriter<'_>,
    tapes: &mut Tapes,
    outer: usize,
    (push, pop): (OpId, OpId),
    value: ValueId,
) -> ValueId {
    let (inside, handle) = (r.body.operand(push, 0), r.body.operand(pop, 0));
    let new_push = r.after(push).op(cf::PUSH_BACK).operand(inside).operand(value).build();
    let ty = r.body.value_type(value);
    let new_pop = r.before(pop).op(cf::POP_BACK).operand(handle).result(ty).build();
    let popped = r.body.result(new_pop, 0);
    r.take_name(value, popped);
    tapes.add(r, outer, new_push, new_pop);
    popped
}
