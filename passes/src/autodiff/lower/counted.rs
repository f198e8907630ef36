//! Loops in which the number of held values follows from the number of iterations.
//!
//! If each iteration pushes equally many values on each stack, the held iterations are the first ones, as many as the
//! buffers have room for: `kept = min (trips, room)`, and a lane of `n` pushes holds `n * kept` values. So the loop
//! carries neither: each number that a loop carries costs a copy and a kernel per iteration in XLA.

use pir_dialects::pd;
use pir_ir::{BlockId, FlowKind, OpId, Type, ValueDef, ValueId};

use super::emit::{count_type, full, two};
use super::thread::{Var, Walk};
use crate::analysis::chain;
use crate::autodiff::plumbing::place_in_loop;

/// A loop whose iterations a `cf.commit` counts, and that pushes as many values in each.
pub(super) struct Counted {
    /// How many iterations there is room for.
    room: u64,
    /// The arguments that number the iteration, and count the held ones.
    trip: ValueId,
    kept: ValueId,
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

    /// Sets the counts after this many held iterations.
    fn set_counts(&mut self, held: ValueId, counts: &[(Var, u64)]) {
        let ty = count_type(self.r.ctx);
        let cast = self.r.op(pd::Cast::NAME).operand(held);
        let dtype = cast.attr("dtype", self.names.ctx.type_attr(Type::I32));
        let held = dtype.result(ty).value();
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
        let (room, trip, counts) = (counted.room, counted.trip, counted.counts.clone());
        self.r.at_start(block);
        let held = self.held_of(trip, room);
        self.set_counts(held, &counts);
    }

    /// Replaces the counter of held iterations, and sets the counts after the loop.
    pub(super) fn end_iterations(&mut self, op: OpId, block: BlockId) {
        let Some(counted) = self.counted.remove(&block) else {
            return;
        };
        let results = [counted.trip, counted.kept].map(|v| match self.r.body.value_def(v) {
            ValueDef::Arg(_, at) => Some(self.r.body.result(op, at as usize)),
            _ => None,
        });
        let [Some(trips), Some(kept)] = results else { return };
        self.r.after(op);
        let held = self.held_of(trips, counted.room);
        self.r.take_name(kept, held);
        self.r.replace_value(kept, held);
        self.set_counts(held, &counted.counts);
    }
}
