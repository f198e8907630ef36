//! Adding and removing what passes a stack or a counter through a loop or a branch.

use pir_dialects::pd;
use pir_ir::{BlockId, OpId, Rewriter, Type, ValueId};

use super::structure::{Kind, Names, Structure, types_of};

/// Removes the stack that the init region of an operation makes, if its handle is not used. Gives the operation that
/// takes its place.
pub(crate) fn remove_stack(r: &mut Rewriter<'_>, names: &Names, op: OpId) -> Option<OpId> {
    let structure = Structure::of(names, r.body, op)?;
    let init = structure.init?;
    let results: Vec<ValueId> = r.body.results(op).collect();
    let (&handle, kept) = results.split_last()?;
    if !names.is_stack(r.body, handle) || r.body.has_uses(handle) {
        return None;
    }
    for block in structure.present() {
        let &arg = r.body.block_args(block).last()?;
        let terminator = r.body.last_op(block)?;
        let forwarded = r.body.num_operands(terminator).checked_sub(1)?;
        if r.body.operand(terminator, forwarded) != arg || !r.body.has_one_use(arg) {
            return None;
        }
    }
    for block in structure.present() {
        if let Some(terminator) = r.body.last_op(block) {
            let last = r.body.num_operands(terminator) - 1;
            r.body.erase_operand(terminator, last);
        }
        let last = r.body.block_args(block).len() - 1;
        r.body.erase_block_arg(block, last);
    }
    let operands = r.body.operands_vec(op);
    let types = types_of(r.body, kept.iter().copied());
    let regions = r.body.take_regions(op);
    r.body.clear_region(init);
    let new = r.recreate(op, &operands, &types);
    for &region in regions.iter().filter(|&&region| region != init) {
        let at = r.body.op_regions(new).len();
        r.body.insert_region(new, at, region);
    }
    for (&old, value) in kept.iter().zip(r.body.results(new)) {
        r.stand_in(old, value);
    }
    r.erase_op(op);
    Some(new)
}

/// The number type of trip counts.
pub(crate) fn count_type(r: &Rewriter<'_>) -> Type {
    r.ctx.tensor(&[], Type::I64)
}

pub(crate) fn count_constant(r: &mut Rewriter<'_>, value: i64, name: &str) -> ValueId {
    let ctx = r.ctx;
    let ty = count_type(r);
    let constant = r
        .op(pd::Full::NAME)
        .attr("shape", ctx.ints_attr(&[]))
        .attr("value", ctx.int_attr(value))
        .attr("dtype", ctx.type_attr(Type::I64))
        .result(ty)
        .value();
    r.name(constant, name);
    constant
}

fn step(r: &mut Rewriter<'_>, names: &Names, block: BlockId, count: ValueId, by: f64) -> Option<ValueId> {
    let terminator = r.body.last_op(block)?;
    let ctx = r.ctx;
    let ty = count_type(r);
    let next = r
        .before(terminator)
        .op(pd::Increment::NAME)
        .operand(count)
        .attr("value", ctx.float_attr(by))
        .result(ty)
        .value();
    r.name(next, &names.spelled("trip_next"));
    Some(next)
}

/// Makes a loop count how often its body runs. Gives the operation that takes its place and the count.
pub(crate) fn count_trips(r: &mut Rewriter<'_>, names: &Names, op: OpId) -> Option<(OpId, ValueId)> {
    let structure = Structure::of(names, r.body, op)?;
    let [Some(cond), Some(body)] = structure.blocks else {
        return None;
    };
    let (cond_end, body_end) = (r.body.last_op(cond)?, r.body.last_op(body)?);
    let ty = count_type(r);
    let operands = r.body.operands_vec(op);
    // Before the stack, if there is one: that stays the last of everything.
    let args_at = operands.len();
    let results_at = r.body.num_results(op) - usize::from(structure.init.is_some());
    let zero = count_constant(r.before(op), 0, &names.spelled("no_trips"));
    let arg = |r: &mut Rewriter<'_>, block, at| {
        let value = r.body.insert_block_arg(block, at, ty, None);
        r.name(value, &names.spelled("trip"));
        value
    };
    if let Some(init) = structure.init {
        let block = r.body.single_block(init)?;
        let value = arg(r, block, args_at);
        let end = r.body.last_op(block)?;
        r.body.insert_operand(end, args_at, value);
    }
    let value = arg(r, cond, args_at);
    r.body.insert_operand(cond_end, results_at + 1, value);
    let value = arg(r, body, results_at);
    let next = step(r, names, body, value, 1.0)?;
    r.body.insert_operand(body_end, args_at, next);

    let mut new_operands = operands.to_vec();
    new_operands.push(zero);
    let mut types = types_of(r.body, r.body.results(op));
    types.insert(results_at, ty);
    let new = r.recreate(op, &new_operands, &types);
    for (at, old) in r.body.results(op).enumerate() {
        let value = r.body.result(new, at + usize::from(at >= results_at));
        r.stand_in(old, value);
    }
    r.erase_op(op);
    let trips = r.body.result(new, results_at);
    r.name(trips, &names.spelled("trips"));
    Some((new, trips))
}

/// Removes a counter that [`count_trips`] made, if the count is not used: the one that is the result `at`. Gives the
/// operation that takes its place.
pub(crate) fn uncount_trips(r: &mut Rewriter<'_>, names: &Names, op: OpId, at: usize) -> Option<OpId> {
    let structure = Structure::of(names, r.body, op)?;
    let ([Some(cond), Some(body)], Kind::While) = (structure.blocks, structure.kind) else {
        return None;
    };
    let (cond_end, body_end) = (r.body.last_op(cond)?, r.body.last_op(body)?);
    let constant = |r: &Rewriter<'_>, value: ValueId, name: &str, expected: f64| {
        let of = r.body.defining_op(value).map(|op| r.view(op));
        of.is_some_and(|view| view.name() == name && view.f64("value") == Some(expected))
    };
    if at >= r.body.num_results(op) || r.body.has_uses(r.body.result(op, at)) {
        return None;
    }
    // The count goes straight through the condition, and one is added to it in the body.
    let through = r.body.operand(cond_end, at + 1);
    let slot = r.body.block_args(cond).iter().position(|&arg| arg == through)?;
    let zero = r.body.operand(op, slot);
    let (count, next) = (*r.body.block_args(body).get(at)?, r.body.operand(body_end, slot));
    let adds_one = constant(r, next, pd::Increment::NAME, 1.0) && r.body.has_one_use(next);
    let increment = r.body.only_use(count)?.op;
    let starts = constant(r, zero, pd::Full::NAME, 0.0) && r.body.value_type(zero) == count_type(r);
    if !starts || !adds_one || r.body.defining_op(next) != Some(increment) || r.body.only_use(through)?.op != cond_end {
        return None;
    }
    if let Some(init) = structure.init {
        let block = r.body.single_block(init)?;
        let end = r.body.last_op(block)?;
        let arg = *r.body.block_args(block).get(slot)?;
        if r.body.operand(end, slot) != arg || !r.body.has_one_use(arg) {
            return None;
        }
        r.body.erase_operand(end, slot);
        r.body.erase_block_arg(block, slot);
    }
    r.body.erase_operand(cond_end, at + 1);
    r.body.erase_operand(body_end, slot);
    r.body.erase_block_arg(cond, slot);
    r.erase_op(increment);
    r.body.erase_block_arg(body, at);
    r.body.erase_operand(op, slot);
    let keep: Vec<usize> = (0..r.body.num_results(op)).filter(|&i| i != at).collect();
    let new = drop_results(r, op, &keep);
    if let Some(constant) = r.body.defining_op(zero).filter(|_| !r.body.has_uses(zero)) {
        r.erase_op(constant);
    }
    Some(new)
}

/// [`Rewriter::keep_results`], which also keeps packs of results together.
fn drop_results(r: &mut Rewriter<'_>, op: OpId, keep: &[usize]) -> OpId {
    let kept: Vec<ValueId> = keep.iter().map(|&at| r.body.result(op, at)).collect();
    let names: Vec<_> = kept.iter().map(|&v| r.body.value_name(v)).collect();
    let new = r.keep_results(op, keep);
    for (value, name) in r.body.results(new).zip(names) {
        r.body.set_value_name(value, name);
    }
    new
}

/// The count of the trips that a dual has left.
pub(crate) struct CountDown {
    /// What takes one off in the body: gives the number of the iteration whose turn it is.
    pub(crate) next: OpId,
}

/// Makes a dual run as often as `trips` says, in place of as long as a stack is not empty.
pub(crate) fn count_down(
    r: &mut Rewriter<'_>,
    names: &Names,
    dual: OpId,
    empty: OpId,
    trips: ValueId,
) -> Option<CountDown> {
    let structure = Structure::of(names, r.body, dual)?;
    let ([Some(_), Some(body)], Kind::While) = (structure.blocks, structure.kind) else {
        return None;
    };
    let negation = negation_of(r, empty)?;
    can_carry(r, names, dual)?;
    let zero = count_constant(r.before(dual), 0, &names.spelled("no_trips"));
    let carried = carry(r, names, dual, &[trips])?.pop()?;
    r.name(carried.in_cond, &names.spelled("trip"));
    r.name(carried.in_body, &names.spelled("trip"));
    let truth = r.ctx.tensor(&[], Type::I1);
    let more = r
        .before(negation)
        .op(pd::GreaterThan::NAME)
        .operand(carried.in_cond)
        .operand(zero)
        .result(truth)
        .value();
    let old = r.body.result(negation, 0);
    r.name(more, "more");
    r.replace_value(old, more);
    r.erase_op(negation);
    r.erase_op(empty);
    let next = step(r, names, body, carried.in_body, -1.0)?;
    let end = r.body.last_op(body)?;
    r.body.set_operand(end, carried.yielded_at, next);
    let next = r.body.defining_op(next)?;
    Some(CountDown { next })
}

/// The only use of `cf.is_empty`, when that is a negation.
pub(crate) fn negation_of(r: &Rewriter<'_>, empty: OpId) -> Option<OpId> {
    let result = r.body.result(empty, 0);
    let user = r.body.only_use(result)?;
    (r.ctx.op_str(r.body.op_name(user.op)) == pd::LogicalNot::NAME).then_some(user.op)
}

/// A value that a loop was made to carry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Carried {
    pub(crate) in_cond: ValueId,
    pub(crate) in_body: ValueId,
    /// The operand of the body's terminator that becomes the next one; until that is set, it stays the same.
    pub(crate) yielded_at: usize,
    /// The result of the loop that it ends in.
    pub(crate) result_at: usize,
}

/// Whether values can be added to what a loop carries.
pub(crate) fn can_carry(r: &Rewriter<'_>, names: &Names, op: OpId) -> Option<()> {
    let structure = Structure::of(names, r.body, op)?;
    let ([Some(cond), Some(body)], Kind::While) = (structure.blocks, structure.kind) else {
        return None;
    };
    r.body.last_op(cond)?;
    r.body.last_op(body)?;
    if let Some(init) = structure.init {
        r.body.last_op(r.body.single_block(init)?)?;
    }
    Some(())
}

/// Makes a loop carry more values, in front of its stack if it has one.
pub(crate) fn carry(r: &mut Rewriter<'_>, names: &Names, op: OpId, initial: &[ValueId]) -> Option<Vec<Carried>> {
    let structure = Structure::of(names, r.body, op)?;
    let ([Some(cond), Some(body)], Kind::While) = (structure.blocks, structure.kind) else {
        return None;
    };
    let (cond_end, body_end) = (r.body.last_op(cond)?, r.body.last_op(body)?);
    let mut operands = r.body.operands_vec(op);
    let args_at = operands.len();
    let results_at = r.body.num_results(op) - usize::from(structure.init.is_some());
    let types = types_of(r.body, initial.iter().copied());
    if let Some(block) = structure.init.and_then(|init| r.body.single_block(init)) {
        let end = r.body.last_op(block)?;
        let args: Vec<ValueId> = (args_at..)
            .zip(&types)
            .map(|(at, &ty)| r.body.insert_block_arg(block, at, ty, None))
            .collect();
        r.body.insert_operands(end, args_at, &args);
    }
    let mut out: Vec<Carried> = Vec::new();
    for (at, &ty) in types.iter().enumerate() {
        let in_cond = r.body.insert_block_arg(cond, args_at + at, ty, None);
        let in_body = r.body.insert_block_arg(body, results_at + at, ty, None);
        out.push(Carried {
            in_cond,
            in_body,
            yielded_at: args_at + at,
            result_at: results_at + at,
        });
    }
    let handed_on = |pick: fn(&Carried) -> ValueId| out.iter().map(pick).collect::<Vec<_>>();
    let (by_cond, by_body) = (handed_on(|c| c.in_cond), handed_on(|c| c.in_body));
    r.body.insert_operands(cond_end, results_at + 1, &by_cond);
    r.body.insert_operands(body_end, args_at, &by_body);
    operands.extend(initial.iter().copied());
    let mut result_types = types_of(r.body, r.body.results(op));
    result_types.insert_many(results_at, types);
    let new = r.recreate(op, &operands, &result_types);
    for (at, old) in r.body.results(op).enumerate() {
        let value = r
            .body
            .result(new, if at < results_at { at } else { at + initial.len() });
        r.stand_in(old, value);
    }
    r.erase_op(op);
    Some(out)
}

/// Drops a value that a loop carries unchanged, whose result is not used: the result and the operand at these places.
pub(crate) fn drop_slot(r: &mut Rewriter<'_>, names: &Names, op: OpId, result: usize, operand: usize) -> Option<OpId> {
    let structure = Structure::of(names, r.body, op)?;
    let ([Some(cond), Some(body)], Kind::While) = (structure.blocks, structure.kind) else {
        return None;
    };
    let (cond_end, body_end) = (r.body.last_op(cond)?, r.body.last_op(body)?);
    let (through, back) = (
        *r.body.block_args(cond).get(operand)?,
        *r.body.block_args(body).get(result)?,
    );
    let once = |r: &Rewriter<'_>, value| r.body.has_one_use(value);
    if r.body.has_uses(r.body.result(op, result))
        || r.body.operand(cond_end, result + 1) != through
        || r.body.operand(body_end, operand) != back
        || !once(r, through)
        || !once(r, back)
    {
        return None;
    }
    if let Some(init) = structure.init {
        let block = r.body.single_block(init)?;
        let end = r.body.last_op(block)?;
        let arg = *r.body.block_args(block).get(operand)?;
        if r.body.operand(end, operand) != arg || !once(r, arg) {
            return None;
        }
        r.body.erase_operand(end, operand);
        r.body.erase_block_arg(block, operand);
    }
    r.body.erase_operand(cond_end, result + 1);
    r.body.erase_operand(body_end, operand);
    r.body.erase_block_arg(cond, operand);
    r.body.erase_block_arg(body, result);
    r.body.erase_operand(op, operand);
    let keep: Vec<usize> = (0..r.body.num_results(op)).filter(|&i| i != result).collect();
    Some(drop_results(r, op, &keep))
}
