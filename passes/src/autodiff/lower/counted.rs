//! Loops in which the number of held values follows from the number of iterations.
//!
//! If each iteration pushes equally many values on each stack, the held iterations are the first ones, as many as the
//! buffers have room for: `kept = min (trips, room)`, and a lane of `n` pushes holds `n * kept` values. So the loop
//! carries neither: each number that a loop carries costs a copy and a kernel per iteration in XLA. A loop whose buffers have room
//! for all of its iterations, which it numbers itself, holds `n * trips` values.

use pir_dialects::pd;
use pir_ir::{BlockId, FlowKind, OpId, ValueDef, ValueId};
use rustc_hash::FxHashMap;

use super::emit::{count_type, full, two};
use super::thread::{Var, Walk};
use crate::analysis::chain;
use crate::autodiff::loop_editing::{cast, own_counter, place_in_loop};

/// A loop that pushes as many values in each iteration.
pub(super) struct Counted {
    /// How many iterations there is room for, if there may be more.
    room: Option<u64>,
    /// The arguments that number the iteration, and count the held ones, if a `cf.commit` does.
    commit: Option<(ValueId, ValueId)>,
    /// The argument in which the program itself numbers the iteration, if it does.
    own: Option<ValueId>,
    /// The counts of its lanes, and how many values an iteration pushes there.
    counts: Vec<(Var, u64)>,
}

impl Walk<'_, '_, '_> {
    /// Finds the loops in which the counts of values follow from the iteration.
    pub(super) fn find_counted(&mut self) {
        // What uses the stacks of each class.
        let mut users: Vec<Vec<OpId>> = vec![Vec::new(); self.plan.classes.len()];
        for &op in &self.plan.ops {
            let handle = self.r.body.operands(op).next();
            if let Some(&class) = handle.and_then(|handle| self.plan.class_of.get(&handle)) {
                users[class].push(op);
            }
        }
        for (&block, (commit, lanes)) in &self.plan.commits {
            if let Some(counted) = self.counted_loop(block, *commit, lanes, &users) {
                self.counted.insert(block, counted);
            }
        }
        let mut numbered: FxHashMap<BlockId, Vec<usize>> = FxHashMap::default();
        for (at, lane) in self.plan.lanes.iter().enumerate() {
            let is_kept = self.stores[at].limit.is_none() && !self.stores[at].unread;
            let block = lane.pushes.first().and_then(|&push| self.r.body.op_block(push));
            if let Some(block) = block.filter(|_| is_kept && self.plan.commit(lane.class).is_none()) {
                numbered.entry(block).or_default().push(at);
            }
        }
        for (block, lanes) in numbered {
            if !self.plan.commits.contains_key(&block)
                && let Some(counted) = self.numbered_loop(block, &lanes, &users)
            {
                self.counted.insert(block, counted);
            }
        }
    }

    /// The loop whose body a block is, if each iteration begins and ends there.
    fn loop_of(&self, block: BlockId) -> Option<OpId> {
        let body = &*self.r.body;
        let around = body.block_parent(block)?;
        let form = self.names.form(body, around)?;
        let [_, repeated] = form.loop_blocks().filter(|_| form.kind == FlowKind::Loop)?;
        (repeated == block && form.entry.is_none()).then_some(around)
    }

    /// How many values each iteration of a loop pushes on a lane, of stacks that are created beside it, if nothing else pushes there.
    fn pushes_of(&self, lane: usize, block: BlockId, around: OpId) -> Option<u64> {
        let (body, of) = (&*self.r.body, &self.plan.lanes[lane]);
        let class = &self.plan.classes[of.class];
        let &[create] = &class.creates[..] else { return None };
        let in_block = of.pushes.iter().all(|&push| body.op_block(push) == Some(block));
        let beside = class.outer.is_none() && body.op_block(create) == body.op_block(around);
        (in_block && beside).then_some(of.pushes.len() as u64)
    }

    /// Whether, between the creation of the stacks of a lane and the end of a loop, nothing is done with them but pushes in the loop, and
    /// `commit`.
    fn is_only_pushed(&self, lane: usize, around: OpId, commit: Option<OpId>, users: &[Vec<OpId>]) -> bool {
        let body = &*self.r.body;
        let Some(block) = body.op_block(around) else {
            return false;
        };
        users[self.plan.lanes[lane].class].iter().all(|&op| {
            let is_inside = body.ancestor_in_block(op, block) == Some(around);
            let is_push = body.op_name(op) == self.names.push || Some(op) == commit;
            is_inside == is_push
        })
    }

    /// The loop that a block is the body of, if it numbers its iterations and all that they push is held.
    fn numbered_loop(&self, block: BlockId, lanes: &[usize], users: &[Vec<OpId>]) -> Option<Counted> {
        let around = self.loop_of(block)?;
        let own = own_counter(self.names, self.r.body, around, None)?;
        let counts = lanes.iter().filter_map(|&lane| {
            let pushes = self.pushes_of(lane, block, around)?;
            let is_only_pushed = self.is_only_pushed(lane, around, None, users);
            is_only_pushed.then_some((self.stores[lane].count, pushes))
        });
        let counts: Vec<(Var, u64)> = counts.collect();
        (!counts.is_empty()).then_some(Counted {
            room: None,
            commit: None,
            own: Some(own),
            counts,
        })
    }

    /// The loop whose iterations a `cf.commit` in a block counts, if its counts follow from the iteration.
    fn counted_loop(&self, block: BlockId, commit: OpId, lanes: &[usize], users: &[Vec<OpId>]) -> Option<Counted> {
        let body = &*self.r.body;
        let around = self.loop_of(block)?;
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
            let store = &self.stores[lane];
            if store.unread {
                continue;
            }
            let pushes = self.pushes_of(lane, block, around)?;
            if let Some(limit) = store.limit {
                room = room.min(limit / pushes.max(1));
            }
            counts.push((store.count, pushes));
        }
        let is_only_pushed = |&lane: &usize| self.is_only_pushed(lane, around, Some(commit), users);
        if !lanes.iter().all(is_only_pushed) {
            return None;
        }
        let known = room < i32::MAX as u64
            && counts
                .iter()
                .all(|&(_, pushes)| room.saturating_mul(pushes) < i32::MAX as u64);
        known.then_some(Counted {
            room: Some(room),
            commit: Some((trip, kept)),
            own: own_counter(self.names, body, around, Some(trip)),
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
    fn held_of(&mut self, iterations: ValueId, room: Option<u64>) -> ValueId {
        let Some(room) = room else { return iterations };
        let ty = self.r.body.value_type(iterations);
        let room = full(self.r, ty, room as f64);
        two(self.r, pd::Minimum::NAME, iterations, room, ty)
    }

    /// Sets the counts after this many held iterations.
    fn set_counts(&mut self, held: ValueId, counts: &[(Var, u64)]) {
        let ty = count_type(self.r.ctx);
        let held = cast(self.r, held, ty);
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
        let Some(trip) = counted.own.or(counted.commit.map(|(trip, _)| trip)) else {
            return;
        };
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
        let own = counted.own.and_then(result);
        let commit = counted
            .commit
            .and_then(|(trip, kept)| Some((result(trip)?, result(kept)?)));
        let Some(iterations) = own.or(commit.map(|(trips, _)| trips)) else {
            return;
        };
        self.r.after(op);
        if let (Some(own), Some((trips, _))) = (own, commit) {
            // The other count is then unused.
            let same = cast(self.r, own, self.r.body.value_type(trips));
            self.r.take_name(trips, same);
            self.r.replace_value(trips, same);
        }
        let held = self.held_of(iterations, counted.room);
        if let Some((trips, kept)) = commit {
            let as_count = cast(self.r, held, self.r.body.value_type(trips));
            self.r.take_name(kept, as_count);
            self.r.replace_value(kept, as_count);
        }
        self.set_counts(held, &counted.counts);
    }
}
