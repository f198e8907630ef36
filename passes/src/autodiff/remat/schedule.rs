//! The binomial schedule, as control flow.
//!
//! To reverse the iterations of a loop without a record of them, some of its states are kept, and the others are
//! recomputed from those. With room for `c` states, `l` iterations and the `r` for which `C(c + r - 1, c) < l <= C(c +
//! r, c)`, every schedule takes at least `r·l - C(c + r, c + 1)` forward steps (Griewank and Walther, "Algorithm 799:
//! revolve", ACM TOMS 26, 2000). This number is achieved by keeping the state after `min(C(c + r - 1, c), l - C(c + r -
//! 2, c - 1))` of them, reversing the later iterations with room for one state less, and then the earlier ones. Only
//! the kept states and their iterations have to be stored: on a stack.

use pir_dialects::pd;
use pir_ir::{InsertPoint, Rewriter, Type, ValueId};

use crate::autodiff::plumbing::count_type;

/// The states of a loop that are kept.
pub(super) struct Kept {
    /// The stack that they are on, each below its number.
    pub(super) stack: ValueId,
    /// How many more there is room for.
    pub(super) room: ValueId,
    /// The state before iteration 0, which need not be on the stack.
    pub(super) first: Vec<ValueId>,
    /// Values after which to call those of the state.
    pub(super) like: Vec<ValueId>,
    /// The numbers 0 and 1.
    pub(super) numbers: [ValueId; 2],
}

/// How many states to keep for so many iterations: the logarithm to base 2, rounded up.
pub(super) fn default_room(r: &mut Rewriter<'_>, trips: ValueId, [zero, one]: [ValueId; 2]) -> ValueId {
    let ends = repeat(
        r,
        &[one, zero],
        &["reached", "room"],
        |r, args| compare(r, pd::LessThan::NAME, args[0], trips),
        |r, args| {
            let twice = int(r, pd::Add::NAME, args[0], args[0]);
            vec![twice, int(r, pd::Add::NAME, args[1], one)]
        },
    );
    ends[1]
}

/// Emits the state before iteration `at`, where the states before later iterations are not needed any more, and the
/// remaining room for states. `advance` emits one iteration.
pub(super) fn state_before(
    r: &mut Rewriter<'_>,
    at: ValueId,
    kept: &Kept,
    mut advance: impl FnMut(&mut Rewriter<'_>, &[ValueId]) -> Vec<ValueId>,
) -> (Vec<ValueId>, ValueId) {
    let [zero, one] = kept.numbers;
    let count = count_type(r);
    let types: Vec<Type> = kept.first.iter().map(|&v| r.body.value_type(v)).collect();
    // The newest state that is kept.
    let stack = kept.stack;
    let nothing = r.op("cf.is_empty").operand(stack).result(Type::I1).value();
    r.name(nothing, "none");
    let start = branch(
        r,
        nothing,
        |_| {
            let mut first = vec![zero, kept.room];
            first.extend(&kept.first);
            first
        },
        |r| {
            let from = pop(r, stack, count);
            r.name(from, "from");
            let mut state: Vec<ValueId> = types.iter().rev().map(|&ty| pop(r, stack, ty)).collect();
            let room = int(r, pd::Add::NAME, kept.room, one);
            for (&value, &like) in state.iter().rev().zip(&kept.like) {
                r.take_name(like, value);
            }
            state.extend([room, from]);
            state.reverse();
            state
        },
    );
    r.name(start[0], "from");
    r.name(start[1], "room");
    for (&value, &like) in start[2..].iter().zip(&kept.like) {
        r.take_name(like, value);
    }
    // From there to where it is wanted, with as many of the states on the way kept as there is room for.
    let ends = repeat(
        r,
        &start,
        &["from", "room"],
        |r, args| compare(r, pd::LessThan::NAME, args[0], at),
        |r, args| {
            let (from, state) = (args[0], &args[2..]);
            let is_first = compare(r, pd::Equal::NAME, from, zero);
            r.name(is_first, "is_first");
            let left = branch(
                r,
                is_first,
                |_| vec![args[1]],
                |r| {
                    for &value in state.iter().chain([&from]) {
                        r.op("cf.push_back").operand(stack).operand(value).build();
                    }
                    vec![int(r, pd::Subtract::NAME, args[1], one)]
                },
            )[0];
            r.name(left, "room");
            let distance = int(r, pd::Subtract::NAME, at, from);
            let length = int(r, pd::Add::NAME, distance, one);
            r.name(length, "length");
            let states = int(r, pd::Add::NAME, left, one);
            let steps = steps(r, kept.numbers, length, states);
            let reached = advanced(r, kept.numbers, state, steps, &mut advance);
            let mut next = vec![int(r, pd::Add::NAME, from, steps), left];
            next.extend(&reached);
            next
        },
    );
    (ends[2..].to_vec(), ends[1])
}

/// Emits so many steps from a state, and gives the one that they lead to.
pub(super) fn advanced(
    r: &mut Rewriter<'_>,
    [zero, one]: [ValueId; 2],
    state: &[ValueId],
    steps: ValueId,
    mut advance: impl FnMut(&mut Rewriter<'_>, &[ValueId]) -> Vec<ValueId>,
) -> Vec<ValueId> {
    let mut initial = vec![zero];
    initial.extend(state);
    let mut reached = repeat(
        r,
        &initial,
        &["step"],
        |r, args| compare(r, pd::LessThan::NAME, args[0], steps),
        |r, args| {
            let mut next = vec![int(r, pd::Add::NAME, args[0], one)];
            next.extend(advance(r, &args[1..]));
            next
        },
    );
    r.name(reached[0], "replayed");
    reached.split_off(1)
}

/// Emits how many steps to take from the first of `length` iterations to the next state that is kept, with room for `states`
/// of them, this one included.
fn steps(r: &mut Rewriter<'_>, [zero, one]: [ValueId; 2], length: ValueId, states: ValueId) -> ValueId {
    // More states than iterations are of no use, and would only lead to large numbers.
    let states = int(r, pd::Minimum::NAME, states, length);
    let ends = repeat(
        r,
        &[zero, one, one],
        &["rounds", "covered_before", "covered"],
        |r, args| compare(r, pd::LessThan::NAME, args[2], length),
        |r, args| {
            let rounds = int(r, pd::Add::NAME, args[0], one);
            let sum = int(r, pd::Add::NAME, states, rounds);
            let product = int(r, pd::Multiply::NAME, args[2], sum);
            let covered = int(r, pd::FloorDivide::NAME, product, rounds);
            vec![rounds, args[2], covered]
        },
    );
    let (rounds, before) = (ends[0], ends[1]);
    let product = int(r, pd::Multiply::NAME, before, states);
    let sum = int(r, pd::Add::NAME, states, rounds);
    let divisor = int(r, pd::Subtract::NAME, sum, one);
    let behind = int(r, pd::FloorDivide::NAME, product, divisor);
    let rest = int(r, pd::Subtract::NAME, length, behind);
    let steps = int(r, pd::Minimum::NAME, before, rest);
    r.name(steps, "steps");
    steps
}

fn truth(r: &Rewriter<'_>) -> Type {
    r.ctx.tensor(&[], Type::I1)
}

fn int(r: &mut Rewriter<'_>, op: &str, a: ValueId, b: ValueId) -> ValueId {
    let ty = count_type(r);
    r.op(op).operand(a).operand(b).result(ty).value()
}

fn compare(r: &mut Rewriter<'_>, op: &str, a: ValueId, b: ValueId) -> ValueId {
    let ty = truth(r);
    r.op(op).operand(a).operand(b).result(ty).value()
}

fn pop(r: &mut Rewriter<'_>, stack: ValueId, ty: Type) -> ValueId {
    r.op("cf.pop_back").operand(stack).result(ty).value()
}

/// A loop that starts from `initial`; the first of its values are called `names`.
fn repeat(
    r: &mut Rewriter<'_>,
    initial: &[ValueId],
    names: &[&str],
    cond: impl FnOnce(&mut Rewriter<'_>, &[ValueId]) -> ValueId,
    body: impl FnOnce(&mut Rewriter<'_>, &[ValueId]) -> Vec<ValueId>,
) -> Vec<ValueId> {
    let here = r.point();
    let types: Vec<Type> = initial.iter().map(|&v| r.body.value_type(v)).collect();
    let region = |r: &mut Rewriter<'_>| {
        let region = r.body.create_region();
        let block = r.body.create_block(region);
        for (at, &ty) in types.iter().enumerate() {
            let arg = r.body.add_block_arg(block, ty, None);
            match names.get(at) {
                Some(name) => r.name(arg, name),
                None => r.name_like(arg, initial[at], ""),
            }
        }
        r.at_end(block);
        (region, r.body.block_args(block).to_vec())
    };
    let (first, args) = region(r);
    let more = cond(r, &args);
    r.op("cf.cond_yield").operand(more).operands(args).build();
    let (second, args) = region(r);
    let next = body(r, &args);
    r.op("cf.yield").operands(next).build();
    close(r, here, pd::While::NAME, initial, types, [first, second], names)
}

/// A branch on a condition.
fn branch(
    r: &mut Rewriter<'_>,
    condition: ValueId,
    yes: impl FnOnce(&mut Rewriter<'_>) -> Vec<ValueId>,
    no: impl FnOnce(&mut Rewriter<'_>) -> Vec<ValueId>,
) -> Vec<ValueId> {
    let here = r.point();
    let region = |r: &mut Rewriter<'_>| {
        let region = r.body.create_region();
        let block = r.body.create_block(region);
        r.at_end(block);
        region
    };
    let first = region(r);
    let values = yes(r);
    let types: Vec<Type> = values.iter().map(|&v| r.body.value_type(v)).collect();
    r.op("cf.yield").operands(values).build();
    let second = region(r);
    let values = no(r);
    r.op("cf.yield").operands(values).build();
    close(r, here, pd::If::NAME, &[condition], types, [first, second], &[])
}

fn close(
    r: &mut Rewriter<'_>,
    here: InsertPoint,
    name: &str,
    operands: &[ValueId],
    types: Vec<Type>,
    [first, second]: [pir_ir::RegionId; 2],
    names: &[&str],
) -> Vec<ValueId> {
    r.set_point(here);
    let op = r
        .op(name)
        .operands(operands.iter().copied())
        .results(types)
        .region(first)
        .region(second)
        .build();
    let results: Vec<ValueId> = r.body.results(op).collect();
    for (at, &value) in results.iter().enumerate() {
        match (names.get(at), operands.get(at)) {
            (Some(name), _) => r.name(value, name),
            (None, Some(&operand)) if results.len() == operands.len() => r.name_like(value, operand, ""),
            _ => {}
        }
    }
    results
}
