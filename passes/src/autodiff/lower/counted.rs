//! Loops in which the number of held values follows from the number of iterations.
//!
//! If each iteration pushes equally many values on each stack, the held iterations are the first ones, as many as the
//! buffers have room for: `kept = min (trips, room)`, and a lane of `n` pushes holds `n * kept` values. So the loop
//! carries neither: each number that a loop carries costs a copy and a kernel per iteration in XLA.

use pir_dialects::{pd, stablehlo};
use pir_ir::{BlockId, Body, FlowKind, OpId, Relation, Signedness, Type, TypeData, ValueDef, ValueId};

use super::emit::{count_type, full, two};
use super::thread::{Var, Walk};
use crate::analysis::{chain, compared};
use crate::autodiff::plumbing::place_in_loop;
use crate::autodiff::structure::Names;

/// A loop whose iterations a `cf.commit` counts, and that pushes as many values in each.
pub(super) struct Counted {
    /// How many iterations there is room for.
    room: u64,
    /// The arguments that number the iteration, and count the held ones.
    trip: ValueId,
    kept: ValueId,
    /// The argument in which the program itself numbers the iteration, if it does.
    own: Option<ValueId>,
    /// The counts of its lanes, and how many values an iteration pushes there.
    counts: Vec<(Var, u64)>,
}

impl Walk<'_, '_, '_> {
    /// Finds the loops in which the counts of values follow from the iteration.
    pub(super) fn find_counted(&mut self) {
        for (&block, (commit, lanes)) in &self.plan.commits {
            if let Some(counted) = self.counted_loop(block, *commit, lanes) {
                self.counted.insert(block, counted);
            }
        }
    }

    /// The loop whose iterations a `cf.commit` in a block counts, if its counts follow from the iteration.
    fn counted_loop(&self, block: BlockId, commit: OpId, lanes: &[usize]) -> Option<Counted> {
        let body = &*self.r.body;
        let around = body.block_parent(block)?;
        let form = self.names.form(body, around)?;
        let [_, repeated] = form.loop_blocks().filter(|_| form.kind == FlowKind::Loop)?;
        if repeated != block || form.entry.is_some() {
            return None;
        }
        let &[_, kept, trip] = body.operands(commit).collect::<Vec<_>>().as_slice() else {
            return None;
        };
        // Both begin with zero, one counts the iterations, and nothing but `cf.commit` reads the other.
        let counts_from_zero = |value: ValueId, is_next: &dyn Fn(ValueId) -> bool| {
            let place = place_in_loop(self.names, body, around, value)?;
            let is_zero = body.constant_int(self.r.ctx, place.start) == Some(0);
            (is_zero && is_next(place.next)).then_some(place)
        };
        counts_from_zero(trip, &|next| chain(self.r.ctx, body, next) == Some((trip, 1)))?;
        let kept_place = counts_from_zero(kept, &|next| body.defining_op(next) == Some(commit))?;
        let is_read_once = |v: ValueId| body.only_use(v).is_some();
        let kept_next = body.result(commit, 0);
        if ![kept, kept_next, kept_place.tested].into_iter().all(is_read_once) {
            return None;
        }
        let mut room = u64::MAX;
        let mut counts = Vec::new();
        for &lane in lanes {
            let (of, store) = (&self.plan.lanes[lane], &self.stores[lane]);
            if store.unread {
                continue;
            }
            let class = &self.plan.classes[of.class];
            let in_block = of.pushes.iter().all(|&push| body.op_block(push) == Some(block));
            let &[create] = &class.creates[..] else { return None };
            if class.outer.is_some() || body.op_block(create) != body.op_block(around) || !in_block {
                return None;
            }
            let pushes = of.pushes.len() as u64;
            if let Some(limit) = store.limit {
                room = room.min(limit / pushes.max(1));
            }
            counts.push((store.count, pushes));
        }
        // Between its creation and the end of the loop, nothing else is done with a stack.
        let handles = lanes.iter().map(|&lane| self.plan.lanes[lane].class);
        let classes: Vec<usize> = handles.collect();
        let uses = self.plan.ops.iter().filter(|&&op| {
            let first = body.operands(op).next();
            first
                .and_then(|handle| self.plan.class_of.get(&handle))
                .is_some_and(|class| classes.contains(class))
        });
        for &op in uses {
            let is_inside = body.ancestor_in_block(op, body.op_block(around)?) == Some(around);
            let is_push = body.op_name(op) == self.names.push || op == commit;
            if is_inside != is_push {
                return None;
            }
        }
        let known = room < i32::MAX as u64
            && counts
                .iter()
                .all(|&(_, pushes)| room.saturating_mul(pushes) < i32::MAX as u64);
        known.then_some(Counted {
            room,
            trip,
            kept,
            own: own_counter(self.names, body, around, trip),
            counts,
        })
    }

    /// The loop that sets the count of a lane when it ends, in place of a push in it.
    pub(super) fn counting_loop(&self, push: OpId, var: Var) -> Option<OpId> {
        let block = self.r.body.op_block(push)?;
        let counts = &self.counted.get(&block)?.counts;
        counts
            .iter()
            .any(|&(count, _)| count == var)
            .then(|| self.r.body.block_parent(block))?
    }

    /// The number of held iterations.
    fn held_of(&mut self, iterations: ValueId, room: u64) -> ValueId {
        let ty = self.r.body.value_type(iterations);
        let room = full(self.r, ty, room as f64);
        two(self.r, pd::Minimum::NAME, iterations, room, ty)
    }

    /// An integer in another type.
    fn cast(&mut self, value: ValueId, ty: Type) -> ValueId {
        if self.r.body.value_type(value) == ty {
            return value;
        }
        let elem = self.r.ctx.elem_type(ty);
        let cast = self.r.op(pd::Cast::NAME).operand(value);
        cast.attr("dtype", self.names.ctx.type_attr(elem)).result(ty).value()
    }

    /// Sets the counts after this many held iterations.
    fn set_counts(&mut self, held: ValueId, counts: &[(Var, u64)]) {
        let ty = count_type(self.r.ctx);
        let held = self.cast(held, ty);
        self.r.name(held, &self.names.spelled("size"));
        for &(count, pushes) in counts {
            let value = match pushes {
                1 => held,
                _ => {
                    let pushes = full(self.r, ty, pushes as f64);
                    two(self.r, pd::Multiply::NAME, held, pushes, ty)
                }
            };
            self.env[count] = Some(value);
        }
    }

    /// Sets the counts as they are when an iteration begins.
    pub(super) fn begin_iteration(&mut self, block: BlockId) {
        let Some(counted) = self.counted.get(&block) else {
            return;
        };
        let trip = counted.own.unwrap_or(counted.trip);
        let (room, counts) = (counted.room, counted.counts.clone());
        self.r.at_start(block);
        let held = self.held_of(trip, room);
        self.set_counts(held, &counts);
    }

    /// Replaces the counter of held iterations, and sets the counts after the loop.
    pub(super) fn end_iterations(&mut self, op: OpId, block: BlockId) {
        let Some(counted) = self.counted.remove(&block) else {
            return;
        };
        let result = |v: ValueId| match self.r.body.value_def(v) {
            ValueDef::Arg(_, at) => Some(self.r.body.result(op, at as usize)),
            _ => None,
        };
        let (Some(trips), Some(kept)) = (result(counted.trip), result(counted.kept)) else {
            return;
        };
        let own = counted.own.and_then(result);
        let ty = self.r.body.value_type(trips);
        self.r.after(op);
        if let Some(own) = own {
            // The other count is then unused.
            let same = self.cast(own, ty);
            self.r.take_name(trips, same);
            self.r.replace_value(trips, same);
        }
        let held = self.held_of(own.unwrap_or(trips), counted.room);
        let as_count = self.cast(held, ty);
        self.r.take_name(kept, as_count);
        self.r.replace_value(kept, as_count);
        self.set_counts(held, &counted.counts);
    }
}

/// The argument in which a loop itself numbers its iterations from zero: an integer that is less than something in each
/// of them, so that adding one does not overflow. Not `other`.
fn own_counter(names: &Names<'_>, body: &Body, op: OpId, other: ValueId) -> Option<ValueId> {
    let [cond, repeated] = names.form(body, op)?.loop_blocks()?;
    // The conditions of which all must hold.
    let mut holds = vec![body.get_operand(body.last_op(cond)?, 0)?];
    let mut next = 0;
    while let Some(&flag) = holds.get(next).filter(|_| next < MAX_CONDITIONS) {
        next += 1;
        if let Some(op) = body.defining_op(flag)
            && BOTH.contains(&body.view(names.ctx, op).name())
        {
            holds.extend(body.operands(op));
        }
    }
    let is_less = |value: ValueId| {
        holds.iter().any(|&flag| match compared(names.ctx, body, flag) {
            Some((x, Relation::Less, _)) => x == value,
            Some((_, Relation::Greater, y)) => y == value,
            _ => false,
        })
    };
    let is_signed = |value: ValueId| match *names.ctx.type_data(names.ctx.elem_type(body.value_type(value))) {
        TypeData::Integer { width, sign } => width >= 32 && sign != Signedness::Unsigned,
        _ => false,
    };
    let scalar = |value: ValueId| {
        let shape = names.ctx.as_tensor(body.value_type(value));
        shape.is_some_and(|(shape, _)| shape.is_empty())
    };
    let mut args = body.block_args(repeated).iter().copied();
    args.find(|&arg| {
        arg != other
            && is_signed(arg)
            && scalar(arg)
            && place_in_loop(names, body, op, arg).is_some_and(|place| {
                body.constant_int(names.ctx, place.start) == Some(0)
                    && chain(names.ctx, body, place.next) == Some((arg, 1))
                    && is_less(place.tested)
            })
    })
}

/// How many conditions of a loop are looked at.
const MAX_CONDITIONS: usize = 16;

/// The operations that tell of truth values whether both hold.
const BOTH: [&str; 3] = [pd::LogicalAnd::NAME, pd::BitwiseAnd::NAME, stablehlo::ops::And::NAME];
