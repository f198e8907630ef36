//! Segments: a checkpointed loop that is run again in runs of iterations, which record.
//!
//! The schedule then has runs in place of iterations: the dual finds the state at the start of the run whose turn it is,
//! executes the run once more as a loop that records, and reverses that as it would have reversed the whole. So the dual
//! stays as it is, in a loop over the runs:
//!
//! ```text
//! while (left > 0) {
//!   start = (left - 1) / S * S
//!   state = ...                            // before iteration `start`, from the kept states
//!   stack = create                         // of so many values as a run has iterations
//!   for left - start iterations: the loop's body from `state`, which pushes on `stack`
//!   while_grad until `stack` is empty      // the dual
//!   left = start
//! }
//! ```
//!
//! There are exactly as many iterations as the loop counted; its condition is not tested again.

use pir_dialects::cf;
use pir_dialects::marks::CAPACITY;
use pir_ir::{Arith, BlockId, FlowKind, OpId, Rewriter, Type, Use, ValueId, ValueMap};
use rustc_hash::{FxHashMap, FxHashSet};

use super::schedule::{Kept, default_room, repeat, state_before};
use super::slots::{Loop, Needs, bounded_stack, snapshots};
use super::spill;
use crate::analysis::Counter;
use crate::autodiff::control_ops::{ControlOps, Kit};
use crate::autodiff::loop_editing::Trips;
use crate::autodiff::tapes::Tapes;
use crate::made::Made;

/// How a loop is run again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Again {
    /// The loop continues to record.
    Not,
    /// Each iteration from a state.
    Iterations,
    /// In segments of this many iterations.
    Runs(i64),
}

/// How the loop of a tape is best run again.
pub(super) fn choose(r: &Rewriter<'_>, names: &ControlOps, tapes: &Tapes, at: usize, segment: i64) -> Again {
    let trips = |at: usize| {
        let op = r.body.block_parent(tapes.all[at].forward)?;
        Counter::of(names.ctx, r.body, op)?.trips(names.ctx, r.body)
    };
    // The operation that already records a run.
    let made = r.body.defining_op(tapes.all[at].handle);
    if made.is_some_and(|op| r.view(op).int(&CAPACITY.name).is_some()) {
        return Again::Not;
    }
    // A run that records would record all of an inner loop for each of its iterations.
    let mut inside: FxHashSet<usize> = FxHashSet::from_iter([at]);
    for inner in at + 1..tapes.all.len() {
        let pop = r.body.defining_op(tapes.all[inner].handle);
        let outer = pop.and_then(|pop| tapes.partner(pop)).map(|(_, outer)| outer);
        if outer.is_some_and(|outer| inside.contains(&outer)) {
            inside.insert(inner);
            let tape = &tapes.all[inner];
            if tape.kind == FlowKind::Loop && !tape.pairs.is_empty() && trips(inner).is_none() {
                return Again::Iterations;
            }
        }
    }
    match trips(at) {
        Some(trips) if trips <= segment.unsigned_abs() => Again::Not,
        _ if !is_plain(r, names, tapes, at) => Again::Iterations,
        _ => Again::Runs(segment),
    }
}

/// Whether the dual of a loop does nothing in its condition, so that it can be left and entered again between two iterations.
pub(super) fn is_plain(r: &Rewriter<'_>, names: &ControlOps, tapes: &Tapes, at: usize) -> bool {
    let Ok(this) = Loop::new(r, names, tapes, at) else {
        return false;
    };
    let [test, _] = this.dual;
    let (Some(dual), Some(end)) = (r.body.block_parent(test), r.body.last_op(test)) else {
        return false;
    };
    let Some(form) = names.form(r.body, dual) else {
        return false;
    };
    let forwards = r
        .body
        .operands(end)
        .skip(form.passes[0])
        .eq(r.body.block_args(test).iter().copied());
    let types =
        |values: &mut dyn Iterator<Item = ValueId>| -> Vec<Type> { values.map(|v| r.body.value_type(v)).collect() };
    let same = types(&mut r.body.operands(dual)) == types(&mut r.body.results(dual))
        && types(&mut r.body.operands(dual)) == types(&mut r.body.block_args(test).iter().copied());
    let in_body = |&(push, _): &(OpId, OpId)| r.body.op_block(push) == Some(this.body);
    // Whether the stack is empty, its negation, and the end.
    r.body.block_ops(test).count() == 3
        && tapes.all[at].empties().len() == 1
        && forwards
        && same
        && form.entry.is_none()
        && tapes.all[at].pairs.iter().all(in_body)
}

/// A loop that is run again in runs.
struct Runs<'n> {
    this: Loop,
    kit: Kit,
    numbers: [ValueId; 2],
    /// The places of the values of the state, and all that has to be computed for a record of the next one.
    state: Vec<usize>,
    records: FxHashSet<OpId>,
    again: Needs,
    pairs: Vec<(OpId, OpId)>,
    names: &'n ControlOps<'n>,
}

/// Recomputes the loop of a tape in segments of `segment` iterations, from a limited number of snapshots. Like
/// [`slots::apply`](super::slots::apply).
pub(super) fn apply(
    r: &mut Rewriter<'_>,
    names: &ControlOps,
    tapes: &mut Tapes,
    at: usize,
    (slots, segment): (i64, i64),
    spills: bool,
    counts: &FxHashMap<BlockId, Vec<usize>>,
) -> Option<Vec<(BlockId, usize)>> {
    let mut this = Loop::new(r, names, tapes, at).ok()?;
    let (sides, again, state) = this.needs_of(r, tapes, at).ok()?;
    let op = r.body.block_parent(this.cond)?;
    let dual = r.body.block_parent(this.dual[0])?;
    let &empty = tapes.all[at].empties().first()?;
    let kit = names.kit?;
    let trips = Trips::plan(r, names, op, spills)?;
    // From here on, nothing can fail.
    let (op, trips) = trips.apply(r, names);
    let first = state.iter().map(|&j| r.body.operand(op, j)).collect();
    let (mut trips, mut first) = this.take_along(
        r,
        tapes,
        at,
        &[&sides[0].ops, &sides[1].ops, &again.ops],
        (trips, first),
    );
    let like: Vec<ValueId> = state.iter().map(|&j| r.body.block_args(this.cond)[j]).collect();
    let mut copies = Vec::new();
    let mut numbers = None;
    if spills {
        r.before(dual);
        let both = [kit.count(r, 0, "zero"), kit.count(r, 1, "one")];
        let rest = spill::apply(
            r,
            names,
            tapes,
            at,
            (&this, kit, both),
            (trips, &first),
            &mut |r, values| this.advance(r, &state, values, &again.ops, &mut copies),
        )?;
        (trips, first) = (rest.trips, rest.first);
        numbers = Some(both);
    }
    let uses: Vec<(Use, usize)> = r
        .body
        .results(dual)
        .enumerate()
        .flat_map(|(i, v)| r.body.uses(v).map(move |at| (at, i)).collect::<Vec<_>>())
        .collect();
    r.after(dual);
    let numbers = numbers.unwrap_or_else(|| [kit.count(r, 0, "zero"), kit.count(r, 1, "one")]);
    let stride = kit.count(r, segment, "run_length");
    let room = match slots {
        0 => {
            let more = kit.int(r, Arith::Add, trips, stride);
            let last = kit.int(r, Arith::Subtract, more, numbers[1]);
            let runs = kit.int(r, Arith::FloorDivide, last, stride);
            r.name(runs, "runs");
            default_room(r, kit, runs, numbers)
        }
        _ => kit.count(r, slots, "room"),
    };
    let types: Vec<Type> = first.iter().map(|&v| r.body.value_type(v)).collect();
    let stack = snapshots(r, names, slots, &first, numbers[0]);
    let records = [&sides[0].ops, &sides[1].ops, &again.ops]
        .into_iter()
        .flatten()
        .copied()
        .collect();
    let pairs = std::mem::take(&mut tapes.all[at].pairs);
    let runs = Runs {
        this,
        kit,
        numbers,
        state,
        records,
        again,
        pairs,
        names,
    };
    let mut initial: Vec<ValueId> = r.body.operands(dual).collect();
    initial.extend([trips, room]);
    let mut results = repeat(
        r,
        kit,
        &initial,
        &[],
        |r, args| kit.compare(r, Arith::Greater, args[args.len() - 2], numbers[0]),
        |r, args| {
            let kept = Kept {
                kit,
                stack,
                room: args[args.len() - 1],
                types,
                like,
                numbers,
                stride: Some(stride),
            };
            runs.one(r, &kept, args, (dual, empty), segment, &mut copies)
        },
    );
    if spills && let Some(given) = only_if_any(r, kit, trips, numbers[0], &initial, &results) {
        results = given;
    }
    for (at, i) in uses {
        r.body.set_operand(at.op, at.index, results[i]);
    }
    for &(push, _) in runs.pairs.iter().filter(|_| !spills) {
        r.erase_op(push);
    }
    runs.this.drop_handle(r, tapes, at);
    Some(runs.this.copied_counts(r, &copies, counts))
}

/// Puts what runs the `rest` of the iterations again, up to the loop with these `results`, into a branch: most often there
/// are none, and the snapshots need not be made. Gives what the branch gives. A branch in a loop is not worth its copies.
fn only_if_any(
    r: &mut Rewriter<'_>,
    kit: Kit,
    rest: ValueId,
    zero: ValueId,
    initial: &[ValueId],
    results: &[ValueId],
) -> Option<Vec<ValueId>> {
    let (first, last) = (r.body.defining_op(rest)?, r.body.defining_op(*results.first()?)?);
    if r.body.parent_op(last).is_some() || r.body.op_block(first) != r.body.op_block(last) {
        return None;
    }
    let mut inside = Vec::new();
    let mut at = first;
    while at != last {
        at = r.body.next_op(at)?;
        inside.push(at);
    }
    // The last two are the counts of the loop.
    let lanes = results.len().checked_sub(2)?;
    let types: Vec<Type> = results[..lanes].iter().map(|&v| r.body.value_type(v)).collect();
    r.after(last);
    let any = kit.compare(r, Arith::Greater, rest, zero);
    let mut made = Made::new(r, kit.flow);
    made.region(r, &[]);
    inside.into_iter().for_each(|op| r.move_here(op));
    made.yields(r, results[..lanes].iter().copied());
    made.region(r, &[]);
    made.yields(r, initial[..lanes].iter().copied());
    let branch = made.branch(r, any, &types);
    let given: Vec<ValueId> = r.body.results(branch).collect();
    for (&value, &like) in given.iter().zip(results) {
        r.name_like(value, like, "");
    }
    Some(given)
}

impl Runs<'_> {
    /// Emits one run: gives what the dual gives, how many iterations are left, and the room for states.
    fn one(
        &self,
        r: &mut Rewriter<'_>,
        kept: &Kept,
        args: &[ValueId],
        (dual, empty): (OpId, OpId),
        segment: i64,
        copies: &mut Vec<ValueMap>,
    ) -> Vec<ValueId> {
        let (kit, [_, one]) = (self.kit, self.numbers);
        let (lanes, left) = (&args[..args.len() - 2], args[args.len() - 2]);
        let Some(stride) = kept.stride else {
            return args.to_vec();
        };
        let last = kit.int(r, Arith::Subtract, left, one);
        let run = kit.int(r, Arith::FloorDivide, last, stride);
        r.name(run, "run");
        let start = kit.int(r, Arith::Multiply, run, stride);
        r.name(start, "start");
        let length = kit.int(r, Arith::Subtract, left, start);
        // It is never more, but that is not seen from the difference.
        let length = kit.int(r, Arith::Minimum, length, stride);
        r.name(length, "length");
        let (values, room) = match self.state.is_empty() {
            true => (Vec::new(), kept.room),
            false => state_before(r, run, kept, |r, values| {
                self.this.advance(r, &self.state, values, &self.again.ops, copies)
            }),
        };
        let stack = bounded_stack(r, self.names, segment, "stack");
        self.record(r, stack, length, &values);
        r.move_here(dual);
        for (at, &lane) in lanes.iter().enumerate() {
            r.body.set_operand(dual, at, lane);
        }
        r.body.set_operand(empty, 0, stack);
        for &(_, pop) in &self.pairs {
            r.body.set_operand(pop, 0, stack);
        }
        r.after(dual);
        r.body.results(dual).chain([start, room]).collect()
    }

    /// Emits the iterations of a run, which record.
    fn record(&self, r: &mut Rewriter<'_>, stack: ValueId, length: ValueId, values: &[ValueId]) {
        let (kit, [zero, one]) = (self.kit, self.numbers);
        let initial: Vec<ValueId> = std::iter::once(zero).chain(values.iter().copied()).collect();
        repeat(
            r,
            kit,
            &initial,
            &["step"],
            |r, args| kit.compare(r, Arith::Less, args[0], length),
            |r, args| {
                let mut next = vec![kit.int(r, Arith::Add, args[0], one)];
                let mut map = self.this.around();
                self.this.iterate(r, &mut map, &self.state, &args[1..], &self.records);
                for &(push, _) in &self.pairs {
                    let value = map.get_or_self(r.body.operand(push, 1));
                    r.op(cf::PUSH_BACK).operand(stack).operand(value).build();
                }
                next.extend(self.this.next(r, &self.state, &map));
                next
            },
        );
    }
}
