//! Simplifications of `pd.if` and `pd.condition_branch`.
//!
//! Operations with an init region are left alone: their branches record on the stack created there, and the pushes
//! correspond to pops in the branches of the dual.

use crate::{cf, pd};
use std::sync::Arc;

use pir_ir::{
    Attr, BlockId, Body, Context, ContextBuilder, OpId, RegionId, Rewriter, Speculatability, Traits, Type, ValueId,
};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::condition::{is_condition, truth};

/// The maximal number of operations in both branches for replacing them with `pd.where`, and the maximal size of its
/// results.
const MAX_SELECTED: usize = 4;
const MAX_ELEMENTS: i64 = 64;
/// The maximal number of operations between branches on one condition that are merged.
const MAX_BETWEEN: usize = 16;
/// The maximal nesting depth at which uses of a merged branch's results are searched.
const MAX_DEPTH: usize = 64;

type Rule = fn(&mut Rewriter<'_>, OpId) -> bool;

/// The patterns of `pd.if`, in the order in which they are tried.
const RULES: [Rule; 6] = [
    drop_empty_else,
    swap_negated,
    results_that_are_the_condition,
    select,
    merge_nested,
    merge_adjacent,
];

pub(super) fn register_patterns(builder: &mut ContextBuilder) {
    for rule in RULES {
        let pattern = move |r: &mut Rewriter<'_>, op: OpId, constants: &[Option<Attr>]| {
            // The region flow already determines the branch that a constant condition takes.
            let open = branches(r.body, op).is_some() && constants.first().is_none_or(Option::is_none);
            open && rule(r, op)
        };
        builder.register_pattern(pd::If::NAME, 1, Arc::new(pattern));
    }
    builder.register_pattern(pd::ConditionBranch::NAME, 1, Arc::new(simplify_condition_branch));
}

/// The branches of an `if` without a stack.
fn branches(body: &Body, op: OpId) -> Option<[RegionId; 2]> {
    body.op_regions(op).try_into().ok()
}

/// Whether an operation is an `if` without a stack.
fn is_plain_if(ctx: &Context, body: &Body, op: OpId) -> bool {
    ctx.op_str(body.op_name(op)) == pd::If::NAME && branches(body, op).is_some()
}

/// The values that a branch yields; none if it is empty.
fn yielded(body: &Body, region: RegionId) -> SmallVec<[ValueId; 4]> {
    let end = body.region_terminator(region);
    end.map(|end| body.operands(end).collect()).unwrap_or_default()
}

/// Whether a branch does nothing and yields nothing.
fn does_nothing(body: &Body, region: RegionId) -> bool {
    match body.single_block(region) {
        Some(block) => body.first_op(block) == body.last_op(block) && yielded(body, region).is_empty(),
        None => body.region_blocks(region).is_empty(),
    }
}

/// The operations of a branch without its terminator.
fn content(body: &Body, region: RegionId) -> Vec<OpId> {
    let mut ops = body
        .single_block(region)
        .map_or_else(Vec::new, |b| body.block_ops_vec(b));
    ops.pop();
    ops
}

/// The constant boolean of a value, if known.
fn known(ctx: &Context, body: &Body, value: ValueId) -> Option<bool> {
    truth(ctx, body.constant(ctx, value)?)
}

/// The operand of a negation.
fn negated(ctx: &Context, body: &Body, value: ValueId) -> Option<ValueId> {
    let not = body.defining_op(value)?;
    let x = (ctx.op_str(body.op_name(not)) == pd::LogicalNot::NAME).then(|| body.operands(not).next())??;
    is_condition(ctx, body.value_type(x)).then_some(x)
}

fn drop_empty_else(rewriter: &mut Rewriter<'_>, op: OpId) -> bool {
    let body = &mut *rewriter.body;
    let Some([_, other]) = branches(body, op) else {
        return false;
    };
    let Some(block) = body.single_block(other).filter(|_| does_nothing(body, other)) else {
        return false;
    };
    body.clear_region(other);
    body.unlink_block(block);
    true
}

/// `if (not c) A else B` is `if (c) B else A`. Without an else there would be an empty branch.
fn swap_negated(rewriter: &mut Rewriter<'_>, op: OpId) -> bool {
    let body = &mut *rewriter.body;
    let Some([_, other]) = branches(body, op) else {
        return false;
    };
    let Some(x) = negated(rewriter.ctx, body, body.operand(op, 0)) else {
        return false;
    };
    if body.region_blocks(other).is_empty() {
        return false;
    }
    let regions = body.take_regions(op);
    for &region in &regions {
        body.insert_region(op, 0, region);
    }
    body.set_operand(op, 0, x);
    true
}

/// A result that is true in `then` and false in `else` is the condition, or with exchanged values its negation.
fn results_that_are_the_condition(rewriter: &mut Rewriter<'_>, op: OpId) -> bool {
    let (ctx, body) = (rewriter.ctx, &*rewriter.body);
    let Some([then, other]) = branches(body, op) else {
        return false;
    };
    let condition = body.operand(op, 0);
    let (a, b) = (yielded(body, then), yielded(body, other));
    let mut same: SmallVec<[ValueId; 4]> = SmallVec::new();
    let mut opposite: SmallVec<[ValueId; 4]> = SmallVec::new();
    for (result, (&a, &b)) in body.results(op).zip(a.iter().zip(&b)) {
        if !body.has_uses(result) || body.value_type(result) != body.value_type(condition) {
            continue;
        }
        match (known(ctx, body, a), known(ctx, body, b)) {
            (Some(true), Some(false)) => same.push(result),
            (Some(false), Some(true)) => opposite.push(result),
            _ => {}
        }
    }
    if let Some(&first) = opposite.first() {
        let ty = rewriter.body.value_type(condition);
        let not = rewriter.op(pd::LogicalNot::NAME).operand(condition).result(ty).value();
        rewriter.take_name(first, not);
        for &result in &opposite {
            rewriter.body.replace_all_uses(result, not);
        }
    }
    for &result in &same {
        rewriter.body.replace_all_uses(result, condition);
    }
    !same.is_empty() || !opposite.is_empty()
}

/// Whether an operation may be speculated at little cost. Only operations with constant derivatives qualify: for a
/// branch that is not taken, the cotangent is zero, and zero times infinity would be NaN.
fn is_cheap(ctx: &Context, body: &Body, op: OpId) -> bool {
    let view = body.view(ctx, op);
    let Some(def) = view.def() else { return false };
    let constant = def.has(Traits::CONSTANT) && body.num_operands(op) == 0;
    let linear = matches!(
        view.name(),
        pd::Add::NAME | pd::Subtract::NAME | pd::Neg::NAME | pd::Assign::NAME
    );
    let exact = |v| !ctx.is_continuous(body.value_type(v));
    (constant || linear || def.has(Traits::ELEMENTWISE) && body.results(op).chain(body.operands(op)).all(exact))
        && body.results(op).all(|r| is_small(ctx, body.value_type(r)))
        && body.op_regions(op).is_empty()
        && view.own_effects().is_empty()
        && view.speculatability() == Speculatability::Always
}

fn is_small(ctx: &Context, ty: Type) -> bool {
    let dims = ctx.as_tensor(ty).map_or(&[][..], |(dims, _)| dims);
    let known = ctx.is_static(ty) && ctx.elem_type(ty) != Type::NONE;
    let count = dims.iter().try_fold(1i64, |n, &d| n.checked_mul(d));
    known && count.is_some_and(|n| n <= MAX_ELEMENTS)
}

/// Small results of branches with few operations are selected by `pd.where`.
fn select(rewriter: &mut Rewriter<'_>, op: OpId) -> bool {
    let (ctx, body) = (rewriter.ctx, &*rewriter.body);
    let Some([then, other]) = branches(body, op) else {
        return false;
    };
    let (a, b) = (yielded(body, then), yielded(body, other));
    let count = body.num_results(op);
    if count == 0 || a.len() != count || b.len() != count {
        return false;
    }
    let fits = |(result, (&a, &b)): (ValueId, (&ValueId, &ValueId))| {
        let ty = body.value_type(result);
        body.value_type(a) == ty && body.value_type(b) == ty && is_small(ctx, ty) && ctx.as_tensor(ty).is_some()
    };
    if !body.results(op).zip(a.iter().zip(&b)).all(fits) {
        return false;
    }
    let mut cost = count - 1;
    for region in [then, other] {
        let Some(block) = body.single_block(region) else {
            return false;
        };
        for inner in body.block_ops(block).filter(|&o| Some(o) != body.last_op(block)) {
            cost += usize::from(!body.view(ctx, inner).has(Traits::CONSTANT));
            if cost > MAX_SELECTED || !is_cheap(ctx, body, inner) {
                return false;
            }
        }
    }
    // The condition must not have a higher rank than the results.
    let condition = body.operand(op, 0);
    let rank = |v| ctx.as_tensor(body.value_type(v)).map_or(0, |(dims, _)| dims.len());
    if body.results(op).any(|r| rank(r) < rank(condition)) {
        return false;
    }
    for region in [then, other] {
        for inner in content(rewriter.body, region) {
            rewriter.move_here(inner);
            rewriter.touch(inner);
        }
    }
    for (result, (a, b)) in rewriter.body.results(op).zip(a.into_iter().zip(b)) {
        if !rewriter.body.has_uses(result) {
            continue;
        }
        let ty = rewriter.body.value_type(result);
        let selected = if a == b {
            a
        } else {
            let operands = [condition, a, b];
            rewriter.op(pd::Where::NAME).operands(operands).result(ty).value()
        };
        if a != b {
            rewriter.take_name(result, selected);
        }
        rewriter.replace_value(result, selected);
    }
    rewriter.erase_op(op);
    true
}

/// `if (a) { if (b) A }` is `if (a and b) A`.
fn merge_nested(rewriter: &mut Rewriter<'_>, op: OpId) -> bool {
    let (ctx, body) = (rewriter.ctx, &*rewriter.body);
    let Some([then, other]) = branches(body, op) else {
        return false;
    };
    if body.num_results(op) != 0 || !does_nothing(body, other) {
        return false;
    }
    let (Some(block), Some(end)) = (body.single_block(then), body.region_terminator(then)) else {
        return false;
    };
    let Some(inner) = body.first_op(block).filter(|&o| body.next_op(o) == Some(end)) else {
        return false;
    };
    if !is_plain_if(ctx, body, inner) || body.num_results(inner) != 0 {
        return false;
    }
    let Some([inner_then, inner_other]) = branches(body, inner) else {
        return false;
    };
    let (a, b) = (body.operand(op, 0), body.operand(inner, 0));
    let visible = body.value_block(b) != Some(block);
    if !visible || !does_nothing(body, inner_other) || body.single_block(inner_then).is_none() {
        return false;
    }
    let Ok(both) = rewriter.op(pd::LogicalAnd::NAME).operands([a, b]).infer() else {
        return false;
    };
    let both = rewriter.body.result(both, 0);
    rewriter.body.set_operand(op, 0, both);
    for moved in content(rewriter.body, inner_then) {
        rewriter.body.unlink_op(moved);
        rewriter.body.insert_before(inner, moved);
        rewriter.touch(moved);
    }
    rewriter.body.erase_op(inner);
    true
}

/// The subsequent branches on the same condition (`true`) or on its negation, and the operations between them that can
/// be moved before the first.
fn followers(ctx: &Context, body: &Body, op: OpId) -> (Vec<(OpId, bool)>, Vec<OpId>) {
    let condition = body.operand(op, 0);
    let (mut found, mut between): (Vec<(OpId, bool)>, Vec<OpId>) = (Vec::new(), Vec::new());
    let mut members: FxHashSet<OpId> = [op].into_iter().collect();
    let mut pending: Vec<OpId> = Vec::new();
    let mut next = body.next_op(op);
    while let Some(at) = next {
        next = body.next_op(at);
        if is_plain_if(ctx, body, at) {
            let other = body.operand(at, 0);
            let same = other == condition;
            if !same && negated(ctx, body, other) != Some(condition) && negated(ctx, body, condition) != Some(other) {
                break;
            }
            found.push((at, same));
            members.insert(at);
            between.append(&mut pending);
            continue;
        }
        let view = body.view(ctx, at);
        let of_branch = |v: ValueId| body.defining_op(v).is_some_and(|d| members.contains(&d));
        let movable = view.def().is_some()
            && body.op_regions(at).is_empty()
            && view.own_effects().is_empty()
            && view.speculatability() == Speculatability::Always
            && !view.has(Traits::TERMINATOR);
        if !movable || pending.len() == MAX_BETWEEN || body.operands(at).any(of_branch) {
            break;
        }
        pending.push(at);
    }
    (found, between)
}

/// Merges adjacent branches on the same condition, or on its negation.
fn merge_adjacent(rewriter: &mut Rewriter<'_>, op: OpId) -> bool {
    let ctx = rewriter.ctx;
    let (followers, between) = followers(ctx, rewriter.body, op);
    if followers.is_empty() {
        return false;
    }
    let mut members = vec![(op, true)];
    members.extend(followers);
    let Some(uses) = uses_inside(rewriter.body, &members) else {
        return false;
    };
    for at in between {
        rewriter.move_here(at);
    }
    for (user, index, value) in uses {
        rewriter.body.set_operand(user, index, value);
    }
    let sides = sides(rewriter.body, &members);
    let results: SmallVec<[ValueId; 8]> = members.iter().flat_map(|&(m, _)| rewriter.body.results(m)).collect();
    for regions in &sides {
        let ends: SmallVec<[ValueId; 8]> = regions.iter().flat_map(|&r| yielded(rewriter.body, r)).collect();
        if regions.iter().all(|&r| does_nothing(rewriter.body, r)) {
            continue;
        }
        let target = target_block(rewriter, regions[0]);
        for &region in &regions[1..] {
            for moved in content(rewriter.body, region) {
                rewriter.body.unlink_op(moved);
                if let Some(end) = rewriter.body.last_op(target) {
                    rewriter.body.insert_before(end, moved);
                }
                rewriter.touch(moved);
            }
        }
        if let Some(end) = rewriter.body.last_op(target) {
            rewriter.body.set_operands(end, &ends);
        }
    }
    let types: SmallVec<[Type; 8]> = results.iter().map(|&r| rewriter.body.value_type(r)).collect();
    let operands = rewriter.body.operands_vec(op);
    let merged = rewriter.recreate(op, &operands, &types);
    for (&old, new) in results.iter().zip(rewriter.body.results(merged)) {
        rewriter.take_name(old, new);
        rewriter.body.replace_all_uses(old, new);
    }
    for &(member, _) in members.iter().rev() {
        rewriter.erase_op(member);
    }
    true
}

/// The regions of all members that run when the condition of the first is true, and those when it is false.
fn sides(body: &Body, members: &[(OpId, bool)]) -> [Vec<RegionId>; 2] {
    let mut sides = [Vec::new(), Vec::new()];
    for &(member, same) in members {
        if let Some([then, other]) = branches(body, member) {
            let (holds, fails) = if same { (then, other) } else { (other, then) };
            sides[0].push(holds);
            sides[1].push(fails);
        }
    }
    sides
}

/// The uses of members' results in later members, each with the value yielded on the side of the use.
fn uses_inside(body: &Body, members: &[(OpId, bool)]) -> Option<Vec<(OpId, usize, ValueId)>> {
    let home = body.op_block(members.first()?.0)?;
    let by_op: FxHashMap<OpId, bool> = members.iter().copied().collect();
    // The values of the results on each side. A member may yield the result of an earlier one.
    let mut stands: [FxHashMap<ValueId, ValueId>; 2] = Default::default();
    let mut found = Vec::new();
    for &(member, same) in members {
        let [then, other] = branches(body, member)?;
        let [holds, fails] = if same { [then, other] } else { [other, then] };
        for (stands, region) in stands.iter_mut().zip([holds, fails]) {
            for (result, end) in body.results(member).zip(yielded(body, region)) {
                let end = stands.get(&end).copied().unwrap_or(end);
                stands.insert(result, end);
            }
        }
        for result in body.results(member) {
            for used in body.uses(result) {
                let mut at = used.op;
                let mut region = None;
                let mut depth = 0;
                while body.op_block(at) != Some(home) {
                    depth += 1;
                    if depth > MAX_DEPTH {
                        return None;
                    }
                    region = body.op_region(at);
                    match body.parent_op(at) {
                        Some(outer) => at = outer,
                        None => break,
                    }
                }
                let (Some(region), Some(&user_same)) = (region, by_op.get(&at)) else {
                    continue;
                };
                let first = body.op_regions(at).first() == Some(&region);
                let value = stands[usize::from(first != user_same)].get(&result)?;
                found.push((used.op, used.index, *value));
            }
        }
    }
    Some(found)
}

/// The block of a branch, created if the branch is empty.
fn target_block(rewriter: &mut Rewriter<'_>, region: RegionId) -> BlockId {
    if let Some(block) = rewriter.body.single_block(region) {
        return block;
    }
    let block = rewriter.body.create_block(region);
    let point = rewriter.point();
    rewriter.at_end(block).op(cf::YIELD).build();
    rewriter.set_point(point);
    block
}

/// A `pd.condition_branch` with a single possible target becomes a `pd.branch`.
pub(super) fn simplify_condition_branch(rewriter: &mut Rewriter<'_>, op: OpId, constants: &[Option<Attr>]) -> bool {
    let &[yes, no] = rewriter.body.successors(op) else {
        return false;
    };
    let passed = |index| {
        rewriter
            .body
            .successor_operands(op, index)
            .collect::<SmallVec<[ValueId; 4]>>()
    };
    let (left, right) = (passed(0), passed(1));
    let condition = constants.first().copied().flatten();
    let (to, values) = match condition.and_then(|c| truth(rewriter.ctx, c)) {
        Some(true) => (yes, left),
        Some(false) => (no, right),
        None if yes == no && left == right => (yes, left),
        None => return false,
    };
    let branch = rewriter.op(pd::Branch::NAME).operands(values).build();
    rewriter.body.set_successors(branch, &[to]);
    rewriter.erase_op(op);
    true
}
