//! Checkpointed loops: a loop that records nothing but how often it ran, and a dual that runs it again.
//!
//! The dual goes through the iterations from the last to the first. It needs what the loop recorded in an iteration, which
//! follows from the *state* before that: the values that the loop carries. So in front of each iteration of the dual is
//! what finds the state again, from states that are [kept](super::schedule); then what computes from that what was
//! recorded. Only what that depends on is computed, and only such values are part of the state.

use pir_dialects::cf;
use pir_dialects::marks::CAPACITY;
use pir_ir::{BlockId, EffectTarget, FlowKind, OpId, Rewriter, ValueDef, ValueId, ValueMap};
use rustc_hash::{FxHashMap, FxHashSet};

use super::around::branch_around;
use super::schedule::{Kept, advanced, default_room, keep, state_before};
use super::spill;
use crate::autodiff::control_ops::ControlOps;
use crate::autodiff::loop_editing::{CountDown, CountTrips, Trips};
use crate::autodiff::tapes::{Side, Tapes};

/// Why a loop goes on recording.
pub(super) struct Refusal {
    pub(super) op: OpId,
    pub(super) why: &'static str,
}

/// A loop that can be run again.
pub(super) struct Loop {
    pub(super) cond: BlockId,
    pub(super) body: BlockId,
    pub(super) cond_end: OpId,
    pub(super) body_end: OpId,
    /// Which operand of the condition's terminator is the first that is forwarded.
    pub(super) passes: usize,
    /// The regions of the dual that face `cond` and `body`.
    pub(super) dual: [BlockId; 2],
    /// The operations of the two regions that use each stack that an iteration makes.
    users: FxHashMap<ValueId, Vec<OpId>>,
    /// The tape of the branch that contains the loop, if its dual is in the dual of the branch.
    pub(super) branch: Option<usize>,
    /// Values around the loop, and their counterparts at the dual.
    pub(super) outer: Vec<(ValueId, ValueId)>,
}

/// The values to recompute.
#[derive(Default)]
pub(super) struct Needs {
    pub(super) ops: FxHashSet<OpId>,
    /// The values of the state, by the arguments of the condition.
    state: FxHashSet<usize>,
}

/// Whether the loop of a tape can be checkpointed.
pub(super) fn check(r: &Rewriter<'_>, names: &ControlOps, tapes: &Tapes, at: usize) -> Result<(), Refusal> {
    let this = Loop::new(r, names, tapes, at)?;
    this.needs_of(r, tapes, at).map(|_| ())
}

/// Checkpoints the loop of a tape with `slots` snapshots, or, for 0, as many as the logarithm of the trip count.
/// `counts` are positions of counts that are redundant if nothing reads them; returns those of their copies.
pub(super) fn apply(
    r: &mut Rewriter<'_>,
    names: &ControlOps,
    tapes: &mut Tapes,
    at: usize,
    slots: i64,
    spills: bool,
    counts: &FxHashMap<BlockId, Vec<usize>>,
) -> Option<Vec<(BlockId, usize)>> {
    let mut this = Loop::new(r, names, tapes, at).ok()?;
    let (sides, again, state) = this.needs_of(r, tapes, at).ok()?;
    let op = r.body.block_parent(this.cond)?;
    let &empty = tapes.all[at].empties().first()?;
    let dual = r.body.block_parent(this.dual[0])?;
    let dual_end = r.body.last_op(this.dual[1])?;
    let results: FxHashMap<ValueId, usize> = r
        .body
        .operands(this.cond_end)
        .skip(this.passes)
        .enumerate()
        .map(|(i, v)| (v, i))
        .collect();
    let args = r.body.block_args(this.cond).to_vec();
    // The dual of the condition runs once more than that of the body: it starts from where the loop ended.
    let by_cond: Vec<usize> = (0..state.len())
        .filter(|&i| sides[0].state.contains(&state[i]))
        .collect();
    let known: Option<Vec<usize>> = by_cond.iter().map(|&i| results.get(&args[state[i]]).copied()).collect();
    let known = known.filter(|_| this.branch.is_none());
    let kit = names.kit?;
    let mut types = vec![kit.arith.count_type(r.ctx)];
    match &known {
        Some(known) => types.extend(known.iter().map(|&at| r.body.value_type(r.body.result(op, at)))),
        None => types.extend(by_cond.iter().map(|&i| r.body.value_type(args[state[i]]))),
    }
    let trips = Trips::plan(r, names, op, spills)?;
    let left = CountDown::plan(r, names, dual, empty, &types)?;
    // From here on, nothing can fail.
    let (mut op, trips) = trips.apply(r, names);
    let first = state.iter().map(|&j| r.body.operand(op, j)).collect();
    let (mut trips, mut first) = this.take_along(
        r,
        tapes,
        at,
        &[&sides[0].ops, &sides[1].ops, &again.ops],
        (trips, first),
    );

    let mut copies: Vec<ValueMap> = Vec::new();
    let mut advance = |r: &mut Rewriter<'_>, values: &[ValueId]| -> Vec<ValueId> {
        this.advance(r, &state, values, &again.ops, &mut copies)
    };

    let zero = left.zero(r, names);
    let numbers = [kit.count(r, 0, "zero"), kit.count(r, 1, "one")];
    if spills {
        let rest = spill::apply(
            r,
            names,
            tapes,
            at,
            (&this, kit, numbers),
            (trips, &first),
            &mut advance,
        )?;
        (op, trips, first) = (r.body.block_parent(this.cond)?, rest.trips, rest.first);
    }
    let room = match slots {
        0 => default_room(r, kit, trips, numbers),
        _ => kit.count(r, slots, "room"),
    };
    let stack = snapshots(r, names, slots, &first, numbers[0]);
    let mut initial = vec![trips, room];
    match known {
        Some(known) => initial.extend(known.into_iter().map(|at| r.body.result(op, at))),
        None => {
            let ends = advanced(r, kit, numbers, &first, trips, &mut advance);
            initial.extend(by_cond.iter().map(|&i| ends[i]));
        }
    }
    let (next, carried) = left.apply(r, names, zero, &initial);
    for slot in &carried {
        let from = match slot.result_at == carried[0].result_at {
            true => room,
            false => slot.in_cond,
        };
        r.take_name(from, slot.in_cond);
        r.take_name(from, slot.in_body);
    }

    // The iteration whose turn it is, and the state before it.
    if r.body.first_op(this.dual[1]) != Some(next) {
        r.at_start(this.dual[1]).move_here(next);
    }
    r.after(next);
    let at_iteration = r.body.result(next, 0);
    r.name(at_iteration, "at");
    let kept = Kept {
        kit,
        stack,
        room: carried[0].in_body,
        types: first.iter().map(|&v| r.body.value_type(v)).collect(),
        like: state.iter().map(|&j| args[j]).collect(),
        numbers,
        stride: None,
    };
    let (values, left) = match state.is_empty() {
        true => (Vec::new(), kept.room),
        false => state_before(r, at_iteration, &kept, &mut advance),
    };
    let mut maps = [this.around(), this.around()];
    this.iterate(r, &mut maps[1], &state, &values, &sides[1].ops);
    // The next run of its dual reads the value that the condition recorded in this iteration.
    r.body.set_operand(dual_end, carried[0].yielded.index, left);
    for (slot, &i) in carried[1..].iter().zip(&by_cond) {
        r.body.set_operand(dual_end, slot.yielded.index, values[i]);
        maps[0].insert(args[state[i]], slot.in_cond);
    }
    if let Some(front) = r.body.first_op(this.dual[0]) {
        r.before(front);
        for op in needed_ops(r, this.cond, &sides[0].ops) {
            r.clone_op(op, &mut maps[0]);
        }
    }
    this.replace_records(r, tapes, at, &maps, spills);
    Some(this.copied_counts(r, &copies, counts))
}

/// The operations of a block that are needed.
fn needed_ops(r: &Rewriter<'_>, block: BlockId, needed: &FxHashSet<OpId>) -> Vec<OpId> {
    r.body.block_ops(block).filter(|op| needed.contains(op)).collect()
}

/// A stack with a capacity.
pub(super) fn bounded_stack(r: &mut Rewriter<'_>, names: &ControlOps, capacity: i64, name: &str) -> ValueId {
    let capacity = r.ctx.int_attr(capacity);
    let stack = r.op(cf::CREATE_STACK).attr(&CAPACITY.name, capacity);
    let stack = stack.result(names.stack).value();
    r.name(stack, name);
    stack
}

/// The stack of kept states, with the first. There is room for `slots` more, or for the logarithm of the number of iterations,
/// which is less than its bits.
pub(super) fn snapshots(
    r: &mut Rewriter<'_>,
    names: &ControlOps,
    slots: i64,
    first: &[ValueId],
    zero: ValueId,
) -> ValueId {
    let room = if slots == 0 { 64 } else { slots };
    let stack = bounded_stack(r, names, room.saturating_add(1), "snapshots");
    if !first.is_empty() {
        keep(r, stack, first, zero);
    }
    stack
}

impl Loop {
    /// The counterparts, at the dual, of the values around the loop.
    pub(super) fn around(&self) -> ValueMap {
        let mut map = ValueMap::new();
        for &(value, known) in &self.outer {
            map.insert(value, known);
        }
        map
    }

    /// Emits the condition, what it hands to the body, and the body, as far as that is needed, from a state.
    pub(super) fn iterate(
        &self,
        r: &mut Rewriter<'_>,
        map: &mut ValueMap,
        state: &[usize],
        values: &[ValueId],
        needed: &FxHashSet<OpId>,
    ) {
        let args = r.body.block_args(self.cond).to_vec();
        for (&j, &value) in state.iter().zip(values) {
            map.insert(args[j], value);
        }
        for op in needed_ops(r, self.cond, needed) {
            r.clone_op(op, map);
        }
        for (i, arg) in r.body.block_args(self.body).to_vec().into_iter().enumerate() {
            let forwarded = map.get_or_self(r.body.operand(self.cond_end, i + self.passes));
            map.insert(arg, forwarded);
        }
        for op in needed_ops(r, self.body, needed) {
            r.clone_op(op, map);
        }
    }

    /// The state after an iteration that was emitted with a map.
    pub(super) fn next(&self, r: &Rewriter<'_>, state: &[usize], map: &ValueMap) -> Vec<ValueId> {
        let yielded = state.iter().map(|&j| r.body.operand(self.body_end, j));
        yielded.map(|value| map.get_or_self(value)).collect()
    }

    /// Emits an iteration from a state, as far as the next state depends on it, and returns that state.
    pub(super) fn advance(
        &self,
        r: &mut Rewriter<'_>,
        state: &[usize],
        values: &[ValueId],
        needed: &FxHashSet<OpId>,
        copies: &mut Vec<ValueMap>,
    ) -> Vec<ValueId> {
        let mut map = self.around();
        self.iterate(r, &mut map, state, values, needed);
        let next = self.next(r, state, &map);
        copies.push(map);
        next
    }

    /// What was recorded is what was computed again, by the maps of the condition and the body.
    fn replace_records(&self, r: &mut Rewriter<'_>, tapes: &mut Tapes, at: usize, maps: &[ValueMap; 2], spills: bool) {
        for pair in std::mem::take(&mut tapes.all[at].pairs) {
            let value = r.body.operand(pair.0, 1);
            let which = usize::from(r.body.op_block(pair.0) == Some(self.body));
            let again = maps[which].get_or_self(value);
            match spills {
                true => {
                    let popped = r.body.result(pair.1, 0);
                    r.replace_value(popped, again);
                    r.erase_op(pair.1);
                }
                false => tapes.remove(r, pair, Some(again)),
            }
        }
        self.drop_handle(r, tapes, at);
    }

    /// The places of counts in copies of the loop's regions.
    pub(super) fn copied_counts(
        &self,
        r: &Rewriter<'_>,
        copies: &[ValueMap],
        counts: &FxHashMap<BlockId, Vec<usize>>,
    ) -> Vec<(BlockId, usize)> {
        let Some(op) = r.body.block_parent(self.cond) else {
            return Vec::new();
        };
        let mut copied = Vec::new();
        for &region in r.body.op_regions(op) {
            for op in r.body.walk(region) {
                let block = r
                    .body
                    .op_regions(op)
                    .last()
                    .and_then(|&region| r.body.entry_block(region));
                let Some((block, places)) = block.and_then(|block| Some((block, counts.get(&block)?))) else {
                    continue;
                };
                for (map, &index) in copies.iter().flat_map(|map| places.iter().map(move |at| (map, at))) {
                    let copy = r.body.block_args(block).get(index).and_then(|&arg| map.get(arg));
                    copied.extend(
                        copy.and_then(|copy| r.body.value_block(copy))
                            .map(|block| (block, index)),
                    );
                }
            }
        }
        copied
    }

    pub(super) fn new(r: &Rewriter<'_>, names: &ControlOps, tapes: &Tapes, at: usize) -> Result<Loop, Refusal> {
        let tape = &tapes.all[at];
        let (Some(op), Some(dual)) = (r.body.block_parent(tape.forward), r.body.block_parent(tape.dual)) else {
            return Err(Refusal {
                op: r.body.block_ops(tape.forward).next().unwrap_or(OpId::new(0)),
                why: "it is in no operation",
            });
        };
        let refusal = |op: OpId, why: &'static str| Refusal { op, why };
        let branch = match r.body.op_block(op) == r.body.op_block(dual) {
            true => None,
            false => {
                Some(branch_around(r, tapes, at, op, dual).ok_or_else(|| refusal(op, "it is in a loop that records"))?)
            }
        };
        let parts = || {
            let structure = names.form(r.body, op).filter(|s| s.kind == FlowKind::Loop)?;
            let [Some(cond), Some(body)] = structure.blocks else {
                return None;
            };
            let [
                Some(Side { dual: dual_cond, .. }),
                Some(Side {
                    dual: dual_body,
                    inside,
                    ..
                }),
            ] = tape.sides
            else {
                return None;
            };
            CountTrips::plan(r, names, op)?;
            let &[empty] = tape.empties() else { return None };
            CountDown::plan(r, names, dual, empty, &[])?;
            // The initial values must be its operands.
            if let Some(init) = structure.entry {
                let block = r.body.single_block(init)?;
                let end = r.body.last_op(block)?;
                let count = r.body.num_operands(op);
                let handed_on = r.body.operands(end).take(count);
                if !handed_on.eq(r.body.block_args(block).iter().copied()) {
                    return None;
                }
            }
            let this = Loop {
                cond,
                body,
                cond_end: r.body.last_op(cond)?,
                body_end: r.body.last_op(body)?,
                passes: structure.passes[0],
                dual: [dual_cond, dual_body],
                users: FxHashMap::default(),
                branch,
                outer: Vec::new(),
            };
            Some((this, inside))
        };
        let Some((mut this, _)) = parts() else {
            return Err(refusal(op, "it does not have the form of loops of `backward`"));
        };
        this.find_effects(r, names)?;
        Ok(this)
    }

    /// Checks that the loop can be repeated: it may only use its own stacks, and record.
    fn find_effects(&mut self, r: &Rewriter<'_>, names: &ControlOps) -> Result<(), Refusal> {
        let mut made: FxHashSet<ValueId> = FxHashSet::default();
        let is_stack = |value: ValueId| names.is_stack(r.body, value);
        for block in [self.cond, self.body] {
            for top in r.body.block_ops_vec(block) {
                if top == self.cond_end || top == self.body_end {
                    continue;
                }
                let records = r.body.op_name(top) == names.push && !made.contains(&r.body.operand(top, 0));
                if records {
                    continue;
                }
                made.extend(r.body.results(top).filter(|&v| is_stack(v)));
                for op in std::iter::once(top).chain(nested(r, top)) {
                    for &region in r.body.op_regions(op) {
                        let blocks = r.body.region_blocks(region).iter();
                        made.extend(blocks.flat_map(|&b| r.body.block_args(b)).filter(|&&v| is_stack(v)));
                    }
                    made.extend(r.body.results(op).filter(|&v| is_stack(v)));
                    for value in r.body.operands(op).filter(|&v| is_stack(v)) {
                        if !made.contains(&value) {
                            return Err(Refusal {
                                op,
                                why: "this uses a stack from outside of the iteration",
                            });
                        }
                        if self.is_local(r, value) {
                            self.users.entry(value).or_default().push(top);
                        }
                    }
                    let own = r.view(op).own_effects().into_iter().all(|effect| match effect.target {
                        EffectTarget::Operand(i) => i < r.body.num_operands(op) && is_stack(r.body.operand(op, i)),
                        EffectTarget::Result(i) => i < r.body.num_results(op) && is_stack(r.body.result(op, i)),
                        EffectTarget::World | EffectTarget::Memory => false,
                    });
                    if !own {
                        return Err(Refusal {
                            op,
                            why: "this has an effect, which would be repeated",
                        });
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether a value is defined by the condition or the body, and by no region in them.
    fn is_local(&self, r: &Rewriter<'_>, value: ValueId) -> bool {
        let block = r.body.value_block(value);
        block == Some(self.cond) || block == Some(self.body)
    }

    /// The values that the records of the two regions need from their own iteration, those they need from earlier ones, and the state.
    pub(super) fn needs_of(
        &self,
        r: &Rewriter<'_>,
        tapes: &Tapes,
        at: usize,
    ) -> Result<([Needs; 2], Needs, Vec<usize>), Refusal> {
        let mut sides = [Needs::default(), Needs::default()];
        for &(push, _) in &tapes.all[at].pairs {
            let which = usize::from(r.body.op_block(push) == Some(self.body));
            self.need(r, &mut sides[which], vec![r.body.operand(push, 1)], false);
        }
        let mut again = Needs::default();
        let args = sides.iter().flat_map(|side| &side.state);
        let mut yielded: Vec<ValueId> = Vec::new();
        for &j in args {
            again.state.insert(j);
            yielded.push(r.body.operand(self.body_end, j));
        }
        self.need(r, &mut again, yielded, true);
        let mut state: Vec<usize> = again.state.iter().copied().collect();
        state.sort_unstable();
        let refusal = |why: &'static str| {
            r.body
                .block_parent(self.cond)
                .map_or(Ok(()), |op| Err(Refusal { op, why }))
        };
        let op = r.body.block_parent(self.cond);
        for &j in &state {
            let arg = r.body.block_args(self.cond)[j];
            let ty = r.body.value_type(arg);
            let start = op.map(|op| r.body.value_type(r.body.operand(op, j)));
            if start != Some(ty) || r.body.value_type(r.body.operand(self.body_end, j)) != ty {
                refusal("the type of a value that it carries changes")?;
            }
        }
        Ok((sides, again, state))
    }

    /// Adds to what is needed what some values follow from, in an iteration or `across` iterations.
    fn need(&self, r: &Rewriter<'_>, needs: &mut Needs, mut pending: Vec<ValueId>, across: bool) {
        let mut seen: FxHashSet<ValueId> = FxHashSet::default();
        while let Some(value) = pending.pop() {
            if !self.is_local(r, value) || !seen.insert(value) {
                continue;
            }
            match r.body.value_def(value) {
                ValueDef::Arg(block, i) if block == self.body => {
                    pending.push(r.body.operand(self.cond_end, i as usize + self.passes));
                }
                ValueDef::Arg(_, j) => {
                    needs.state.insert(j as usize);
                    if across {
                        pending.push(r.body.operand(self.body_end, j as usize));
                    }
                }
                ValueDef::Result(op, _) => self.need_op(r, needs, op, &mut pending),
                ValueDef::None => {}
            }
            // The content of a stack comes from its users.
            for &user in self.users.get(&value).into_iter().flatten() {
                self.need_op(r, needs, user, &mut pending);
            }
        }
    }

    fn need_op(&self, r: &Rewriter<'_>, needs: &mut Needs, op: OpId, pending: &mut Vec<ValueId>) {
        if needs.ops.insert(op) {
            for inner in std::iter::once(op).chain(nested(r, op)) {
                pending.extend(r.body.operands(inner));
            }
            pending.extend(r.body.results(op).filter(|v| self.users.contains_key(v)));
        }
    }
}

pub(super) fn nested<'r>(r: &'r Rewriter<'_>, op: OpId) -> impl Iterator<Item = OpId> + 'r {
    r.body.op_regions(op).iter().flat_map(|&region| r.body.walk(region))
}
