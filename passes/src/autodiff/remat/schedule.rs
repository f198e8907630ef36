//! The binomial schedule, as control flow.
//!
//! To reverse the iterations of a loop without a record of them, some of its states are kept, and the others are
//! recomputed from those. With room for `c` states, `l` iterations and the `r` for which `C(c + r - 1, c) < l <= C(c +
//! r, c)`, every schedule takes at least `r·l - C(c + r, c + 1)` forward steps (Griewank and Walther, "Algorithm 799:
//! revolve", ACM TOMS 26, 2000). This number is achieved by keeping the state after `min(C(c + r - 1, c), l - C(c + r -
//! 2, c - 1))` of them, reversing the later iterations with room for one state less, and then the earlier ones. Only
//! the kept states and their iterations have to be stored: on a stack. That it is never empty saves a branch in each step, in which
//! compilers of StableHLO would copy the state.

use pir_dialects::cf;
use pir_ir::{Arith, Rewriter, Type, ValueId};

use crate::autodiff::control_ops::Kit;
use crate::made::Made;

/// The states of a loop that are kept.
pub(super) struct Kept {
    /// The stack that they are on, each below its number. The state before iteration 0 is the lowest; it takes no room.
    pub(super) stack: ValueId,
    /// How many more there is room for.
    pub(super) room: ValueId,
    /// The types of the values of a state.
    pub(super) types: Vec<Type>,
    /// Values after which to call those of the state.
    pub(super) like: Vec<ValueId>,
    /// The operations for counting.
    pub(super) kit: Kit,
    /// The numbers 0 and 1.
    pub(super) numbers: [ValueId; 2],
    /// How many steps there are between two states that may be kept, if not one.
    pub(super) stride: Option<ValueId>,
}

/// The default number of snapshots: the logarithm of the trip count to base 2, rounded up.
pub(super) fn default_room(r: &mut Rewriter<'_>, kit: Kit, trips: ValueId, [zero, one]: [ValueId; 2]) -> ValueId {
    let ends = repeat(
        r,
        kit,
        &[one, zero],
        &["reached", "room"],
        |r, args| kit.compare(r, Arith::Less, args[0], trips),
        |r, args| {
            let twice = kit.int(r, Arith::Add, args[0], args[0]);
            vec![twice, kit.int(r, Arith::Add, args[1], one)]
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
    let ([_, one], kit) = (kept.numbers, kept.kit);
    let count = kit.arith.count_type(r.ctx);
    // The newest state that is kept: at least the first, which takes no room.
    let stack = kept.stack;
    let from = pop(r, stack, count);
    r.name(from, "from");
    let mut start: Vec<ValueId> = kept.types.iter().rev().map(|&ty| pop(r, stack, ty)).collect();
    for (&value, &like) in start.iter().rev().zip(&kept.like) {
        r.take_name(like, value);
    }
    let taken = kit.int(r, Arith::Minimum, from, one);
    let room = kit.int(r, Arith::Add, kept.room, taken);
    r.name(room, "room");
    start.extend([room, from]);
    start.reverse();
    // From there to where it is wanted, with as many of the states on the way kept as there is room for.
    let ends = repeat(
        r,
        kit,
        &start,
        &["from", "room"],
        |r, args| kit.compare(r, Arith::Less, args[0], at),
        |r, args| {
            let (from, state) = (args[0], &args[2..]);
            keep(r, stack, state, from);
            let taken = kit.int(r, Arith::Minimum, from, one);
            let left = kit.int(r, Arith::Subtract, args[1], taken);
            r.name(left, "room");
            let distance = kit.int(r, Arith::Subtract, at, from);
            let length = kit.int(r, Arith::Add, distance, one);
            r.name(length, "length");
            let states = kit.int(r, Arith::Add, left, one);
            let steps = steps(r, kit, kept.numbers, length, states);
            let advances = match kept.stride {
                Some(stride) => kit.int(r, Arith::Multiply, steps, stride),
                None => steps,
            };
            let reached = advanced(r, kit, kept.numbers, state, advances, &mut advance);
            let mut next = vec![kit.int(r, Arith::Add, from, steps), left];
            next.extend(&reached);
            next
        },
    );
    (ends[2..].to_vec(), ends[1])
}

/// Emits a loop that advances a state by a number of steps, and returns the final state.
pub(super) fn advanced(
    r: &mut Rewriter<'_>,
    kit: Kit,
    [zero, one]: [ValueId; 2],
    state: &[ValueId],
    steps: ValueId,
    mut advance: impl FnMut(&mut Rewriter<'_>, &[ValueId]) -> Vec<ValueId>,
) -> Vec<ValueId> {
    let mut initial = vec![zero];
    initial.extend(state);
    let mut reached = repeat(
        r,
        kit,
        &initial,
        &["step"],
        |r, args| kit.compare(r, Arith::Less, args[0], steps),
        |r, args| {
            let mut next = vec![kit.int(r, Arith::Add, args[0], one)];
            next.extend(advance(r, &args[1..]));
            next
        },
    );
    r.name(reached[0], "replayed");
    reached.split_off(1)
}

/// Emits how many steps to take from the first of `length` iterations to the next state that is kept, with room for `states`
/// of them, this one included.
fn steps(r: &mut Rewriter<'_>, kit: Kit, [zero, one]: [ValueId; 2], length: ValueId, states: ValueId) -> ValueId {
    // More states than iterations are of no use, and would only lead to large numbers.
    let states = kit.int(r, Arith::Minimum, states, length);
    let ends = repeat(
        r,
        kit,
        &[zero, one, one],
        &["rounds", "covered_before", "covered"],
        |r, args| kit.compare(r, Arith::Less, args[2], length),
        |r, args| {
            let rounds = kit.int(r, Arith::Add, args[0], one);
            let sum = kit.int(r, Arith::Add, states, rounds);
            let product = kit.int(r, Arith::Multiply, args[2], sum);
            let covered = kit.int(r, Arith::FloorDivide, product, rounds);
            vec![rounds, args[2], covered]
        },
    );
    let (rounds, before) = (ends[0], ends[1]);
    let product = kit.int(r, Arith::Multiply, before, states);
    let sum = kit.int(r, Arith::Add, states, rounds);
    let divisor = kit.int(r, Arith::Subtract, sum, one);
    let behind = kit.int(r, Arith::FloorDivide, product, divisor);
    let rest = kit.int(r, Arith::Subtract, length, behind);
    let steps = kit.int(r, Arith::Minimum, before, rest);
    r.name(steps, "steps");
    steps
}

/// Keeps a state below its number.
pub(super) fn keep(r: &mut Rewriter<'_>, stack: ValueId, state: &[ValueId], number: ValueId) {
    for &value in state.iter().chain([&number]) {
        r.op(cf::PUSH_BACK).operand(stack).operand(value).build();
    }
}

fn pop(r: &mut Rewriter<'_>, stack: ValueId, ty: Type) -> ValueId {
    r.op(cf::POP_BACK).operand(stack).result(ty).value()
}

/// A loop that starts from `initial`; the first of its values are called `names`.
pub(super) fn repeat(
    r: &mut Rewriter<'_>,
    kit: Kit,
    initial: &[ValueId],
    names: &[&str],
    cond: impl FnOnce(&mut Rewriter<'_>, &[ValueId]) -> ValueId,
    body: impl FnOnce(&mut Rewriter<'_>, &[ValueId]) -> Vec<ValueId>,
) -> Vec<ValueId> {
    let types: Vec<Type> = initial.iter().map(|&v| r.body.value_type(v)).collect();
    let name = |r: &mut Rewriter<'_>, values: &[ValueId]| {
        for (at, (&value, &like)) in values.iter().zip(initial).enumerate() {
            match names.get(at) {
                Some(name) => r.name(value, name),
                None => r.name_like(value, like, ""),
            }
        }
    };
    let mut made = Made::new(r, kit.flow);
    let args = made.region(r, &types);
    name(r, &args);
    let more = cond(r, &args);
    made.tests(r, more, args);
    let args = made.region(r, &types);
    name(r, &args);
    let next = body(r, &args);
    made.yields(r, next);
    let op = made.repeat(r, initial, &types);
    let results: Vec<ValueId> = r.body.results(op).collect();
    name(r, &results);
    results
}
