//! Rewrite patterns of `scf`, and of `cf.assert`, beside what the canonicalizer knows by the interfaces of control flow: branches on constants, loops that do not
//! run, what is carried unchanged or not used.

use std::sync::Arc;

use pir_ir::{Attr, Body, Context, ContextBuilder, OpId, RegionId, Rewriter, Traits, Type, TypeData, ValueId};

use super::{arith, branch, scf};

type Rule = fn(&mut Rewriter<'_>, OpId) -> bool;

const RULES: [(&str, Rule); 6] = [
    (scf::FOR, run_once),
    (scf::FOR, gives_what_is_outside),
    (scf::IF, select),
    (scf::IF, drop_empty_else),
    (scf::WHILE, forward_outer),
    (branch::ASSERT, holds),
];

pub(super) fn register(builder: &mut ContextBuilder) {
    for (name, rule) in RULES {
        let pattern = move |r: &mut Rewriter<'_>, op: OpId, _: &[Option<Attr>]| rule(r, op);
        builder.register_pattern(name, 1, Arc::new(pattern));
    }
}

/// A loop that counts and runs once is its body.
fn run_once(r: &mut Rewriter<'_>, op: OpId) -> bool {
    let number = |at| r.body.constant_int(r.ctx, r.body.get_operand(op, at)?);
    let (Some(lower), Some(upper), Some(step)) = (number(0), number(1), number(2)) else {
        return false;
    };
    let once = step > 0 && lower < upper && lower.checked_add(step).is_some_and(|next| next >= upper);
    let region = r.body.op_regions(op).first().copied();
    let block = region.and_then(|region| r.body.single_block(region)).filter(|_| once);
    let Some((block, end)) = block.and_then(|block| Some((block, r.body.last_op(block)?))) else {
        return false;
    };
    let args = r.body.block_args(block).to_vec();
    let operands = r.body.operands_vec(op);
    let values = operands.iter().take(1).chain(operands.iter().skip(3));
    for (&arg, &value) in args.iter().zip(values) {
        r.replace_value(arg, value);
    }
    let results = r.body.operands_vec(end);
    r.before(op);
    for inner in r.body.block_ops_vec(block) {
        if inner != end {
            r.move_here(inner);
        }
    }
    r.replace_op(op, &results);
    true
}

/// Puts the bodies of the loops that count and run once in their places: what happens once is neither recorded nor counted in a derivative.
pub fn inline_single_trips(ctx: &Context, body: &mut Body) {
    let is_loop = |&op: &OpId| ctx.op_str(body.op_name(op)) == scf::FOR;
    let loops: Vec<OpId> = body.post_order().into_iter().filter(is_loop).collect();
    for op in loops {
        run_once(&mut Rewriter::new(ctx, body), op);
    }
}

/// A truth value, if it is a constant.
fn truth(r: &Rewriter<'_>, value: ValueId) -> Option<bool> {
    let made = constant(r, value).filter(|_| r.body.value_type(value) == Type::I1)?;
    r.body.view(r.ctx, made).bool("value")
}

/// A loop that counts, runs, and only gives what is defined outside of it.
fn gives_what_is_outside(r: &mut Rewriter<'_>, op: OpId) -> bool {
    let number = |at| r.body.constant_int(r.ctx, r.body.get_operand(op, at)?);
    let runs = number(0).zip(number(1)).is_some_and(|(lower, upper)| lower < upper);
    let region = r
        .body
        .op_regions(op)
        .first()
        .copied()
        .filter(|_| runs && r.body.num_results(op) > 0);
    let Some(end) = region.and_then(|region| r.body.first_op(r.body.single_block(region)?)) else {
        return false;
    };
    let values = r.body.operands_vec(end);
    let ends = r.body.next_op(end).is_none() && number(2).is_some_and(|step| step > 0);
    if !ends || values.iter().any(|&value| is_inside(r.body, op, value)) {
        return false;
    }
    r.replace_op(op, &values);
    true
}

/// A branch without results needs no `else` that does nothing.
fn drop_empty_else(r: &mut Rewriter<'_>, op: OpId) -> bool {
    let other = r
        .body
        .op_regions(op)
        .get(1)
        .copied()
        .filter(|_| r.body.num_results(op) == 0);
    let Some((other, block)) = other.and_then(|other| Some((other, r.body.single_block(other)?))) else {
        return false;
    };
    if r.body.first_op(block) != r.body.last_op(block) {
        return false;
    }
    r.body.clear_region(other);
    r.body.unlink_block(block);
    true
}

/// A check of what is known to be true.
fn holds(r: &mut Rewriter<'_>, op: OpId) -> bool {
    let is_true = truth(r, r.body.operand(op, 0)) == Some(true);
    if is_true {
        r.erase_op(op);
    }
    is_true
}

/// Whether a value is defined in the regions of an operation.
fn is_inside(body: &Body, op: OpId, value: ValueId) -> bool {
    let within = |region: RegionId| {
        body.value_region(value)
            .is_some_and(|inner| body.region_contains(region, inner))
    };
    body.op_regions(op).iter().any(|&region| within(region))
}

/// Whether a value is known before a branch: a value from there, or a constant.
fn known_before(r: &mut Rewriter<'_>, op: OpId, value: ValueId) -> bool {
    !is_inside(r.body, op, value) || constant(r, value).is_some()
}

fn constant(r: &Rewriter<'_>, value: ValueId) -> Option<OpId> {
    let made = r.body.defining_op(value)?;
    let is_constant = r.body.view(r.ctx, made).has(Traits::CONSTANT) && r.body.num_operands(made) == 0;
    is_constant.then_some(made)
}

/// The value in front of a branch.
fn before(r: &mut Rewriter<'_>, op: OpId, value: ValueId) -> ValueId {
    if is_inside(r.body, op, value)
        && let Some(made) = constant(r, value)
    {
        r.before(op);
        r.move_here(made);
    }
    value
}

/// A result is chosen by the condition, where both branches yield what is known before.
fn select(r: &mut Rewriter<'_>, op: OpId) -> bool {
    let (condition, regions) = (r.body.operand(op, 0), r.body.op_regions(op).to_vec());
    let ends: Option<Vec<OpId>> = regions.iter().map(|&region| r.body.region_terminator(region)).collect();
    // The way that a constant condition takes is known to the canonicalizer.
    let (Some(ends), None) = (ends, truth(r, condition)) else {
        return false;
    };
    let mut changed = false;
    for at in 0..r.body.num_results(op) {
        let result = r.body.result(op, at);
        let yielded: Option<Vec<ValueId>> = ends.iter().map(|&end| r.body.get_operand(end, at)).collect();
        let Some(&[yes, no]) = yielded.as_deref() else { continue };
        let ty = r.body.value_type(result);
        let of_numbers = !matches!(
            r.ctx.type_data(ty),
            TypeData::MemRef { .. } | TypeData::Dialect { .. } | TypeData::List(_)
        );
        if !r.body.has_uses(result) || !of_numbers || ![yes, no].into_iter().all(|v| known_before(r, op, v)) {
            continue;
        }
        let chosen = match (truth(r, yes), truth(r, no)) {
            _ if yes == no => before(r, op, yes),
            (Some(true), Some(false)) => condition,
            _ => {
                let operands = [condition, before(r, op, yes), before(r, op, no)];
                r.before(op);
                let chosen = r.op(arith::Select::NAME).operands(operands).result(ty).value();
                r.take_name(result, chosen);
                chosen
            }
        };
        r.replace_value(result, chosen);
        changed = true;
    }
    changed
}

/// An outer value that the condition of a loop forwards is used directly in the loop and after it.
fn forward_outer(r: &mut Rewriter<'_>, op: OpId) -> bool {
    let regions = r.body.op_regions(op).to_vec();
    let &[before, after] = &regions[..] else { return false };
    let (Some(end), Some(block)) = (r.body.region_terminator(before), r.body.single_block(after)) else {
        return false;
    };
    let forwarded = r.body.operands_vec(end);
    let mut changed = false;
    for (at, &value) in forwarded.iter().skip(1).enumerate() {
        let arg = r.body.block_args(block).get(at).copied();
        let same: Vec<ValueId> = arg.into_iter().chain(r.body.get_result(op, at)).collect();
        if !is_inside(r.body, op, value) && same.iter().any(|&v| r.body.has_uses(v)) {
            same.into_iter().for_each(|v| r.replace_value(v, value));
            changed = true;
        }
    }
    changed
}
