//! Functions of MLIR's dialects: `cf.br`, `cf.cond_br` and `cf.switch` in place of the branches of `pd`, and `scf` in place of its loops.

use pir_dialects::mlir::{arith, branch, from_pd, scf};
use pir_dialects::pd;
use pir_ir::{
    AttrData, AttrDict, BlockId, Body, Context, Diagnostic, OpId, Rewriter, Successor, Type, ValueId,
    expand_composites_in,
};

use super::branch_to;

/// Whether the function that a body is of is one of MLIR's dialects.
pub(super) fn is_mlir(ctx: &Context, body: &Body) -> bool {
    let is_branch = |op: OpId| {
        matches!(
            ctx.op_str(body.op_name(op)),
            branch::BR | branch::COND_BR | branch::SWITCH
        )
    };
    crate::autodiff::is_mlir(ctx, body) || body.walk_all().any(is_branch)
}

/// Converts loops and branches of `scf` to a form that blocks can express, and merges the blocks of
/// `scf.execute_region` into those of the function.
pub(super) fn simplify(ctx: &Context, body: &mut Body) -> Result<(), Vec<Diagnostic>> {
    let several = |body: &Body, op: OpId| {
        body.op_regions(op)
            .iter()
            .any(|&region| body.region_blocks(region).len() > 1)
    };
    expand_composites_in(ctx, body, &|view| {
        !view.name().starts_with("scf.") || several(view.body, view.op)
    })?;
    Ok(())
}

/// Puts the blocks of an `scf.execute_region` in the place of the operation, which is in a block of the function; gives them.
pub(super) fn execute(ctx: &Context, body: &mut Body, op: OpId) -> Option<Vec<BlockId>> {
    let &[region] = body.op_regions(op) else { return None };
    if ctx.op_str(body.op_name(op)) != scf::EXECUTE_REGION {
        return None;
    }
    let (blocks, root) = (body.region_blocks(region).to_vec(), body.root());
    let ends: Option<Vec<OpId>> = blocks.iter().map(|&block| body.last_op(block)).collect();
    let rest = super::lower::rest_of(body, op);
    let mut r = Rewriter::new(ctx, body);
    branch_to(r.before(op), *blocks.first()?, &[]);
    for end in ends? {
        if ctx.op_str(r.body.op_name(end)) == scf::YIELD {
            let values = r.body.operands_vec(end);
            branch_to(r.before(end), rest, &values);
            r.erase_op(end);
        }
    }
    body.set_region_blocks(region, Vec::new());
    for &block in &blocks {
        body.append_block(root, block);
    }
    body.erase_op(op);
    Some(blocks)
}

/// Gives the branches of `pd` their names in `cf`.
pub(super) fn to_cf(ctx: &Context, body: &mut Body) {
    rename(
        ctx,
        body,
        &[
            (pd::Branch::NAME, branch::BR),
            (pd::ConditionBranch::NAME, branch::COND_BR),
        ],
    );
}

fn rename(ctx: &Context, body: &mut Body, names: &[(&str, &str)]) {
    for block in body.region_blocks(body.root()).to_vec() {
        let Some(end) = body.last_op(block) else { continue };
        let name = ctx.op_str(body.op_name(end));
        if let Some(&(_, twin)) = names.iter().find(|entry| entry.0 == name) {
            let twin = ctx.op_name(twin);
            body.set_op_name(end, twin);
            // Weights of branches mean nothing to loops.
            body.set_attrs(end, AttrDict::EMPTY);
        }
    }
}

/// Gives the branches of `cf` their names in `pd`, and makes a chain of branches of each `cf.switch`.
pub(super) fn from_cf(ctx: &Context, body: &mut Body) {
    for block in body.region_blocks(body.root()).to_vec() {
        if let Some(end) = body.last_op(block)
            && ctx.op_str(body.op_name(end)) == branch::SWITCH
        {
            chain(ctx, body, end);
        }
    }
    rename(
        ctx,
        body,
        &[
            (branch::BR, pd::Branch::NAME),
            (branch::COND_BR, pd::ConditionBranch::NAME),
        ],
    );
}

/// A block for each comparison with a case.
fn chain(ctx: &Context, body: &mut Body, switch: OpId) {
    let (root, flag) = (body.root(), body.operand(switch, 0));
    let ty = body.value_type(flag);
    let cases = branch::case_values(body.view(ctx, switch)).unwrap_or_default();
    let ways: Vec<(BlockId, Vec<ValueId>)> = body
        .successors(switch)
        .to_vec()
        .iter()
        .enumerate()
        .map(|(at, successor)| (successor.block, body.successor_operands(switch, at).collect()))
        .collect();
    let Some((default, ways)) = ways.split_first().filter(|(_, ways)| ways.len() == cases.len()) else {
        return;
    };
    let mut r = Rewriter::new(ctx, body);
    r.before(switch);
    for (case, (block, values)) in cases.into_iter().zip(ways) {
        let next = r.body.create_block(root);
        let value = match ty {
            Type::I1 => ctx.bool_attr(case != 0),
            ty => ctx.attr(AttrData::Int { value: case.into(), ty }),
        };
        let value = r.op(arith::Constant::NAME).attr("value", value).result(ty).value();
        let equal = ctx.int_attr(0);
        let is = r.op(arith::Cmpi::NAME).operands([flag, value]).attr("predicate", equal);
        let is = is.result(Type::I1).value();
        let end = r
            .op(pd::ConditionBranch::NAME)
            .operand(is)
            .operands(values.iter().copied())
            .build();
        let count = |operands: usize| operands as u32;
        let successors = [(*block, values.len()), (next, 0)].map(|(block, operands)| Successor {
            block,
            operands: count(operands),
        });
        r.body.set_successors(end, &successors);
        r.at_end(next);
    }
    branch_to(&mut r, default.0, &default.1);
    r.erase_op(switch);
}

/// Converts what `lift-cfg` made.
pub(super) fn to_scf(ctx: &Context, body: &mut Body) -> Result<(), Vec<Diagnostic>> {
    from_pd::convert(ctx, body)
}

/// Makes loops and branches of `pd` of the blocks of a function of MLIR's dialects that is going to be differentiated, if it has several.
///
/// # Errors
/// What `lift-cfg` refuses.
pub(crate) fn lift_copy(ctx: &Context, body: &mut Body) -> Result<(), Vec<Diagnostic>> {
    let executed = |body: &Body, op: OpId| {
        let several = body
            .op_regions(op)
            .iter()
            .any(|&region| body.region_blocks(region).len() > 1);
        several && ctx.op_str(body.op_name(op)) == scf::EXECUTE_REGION
    };
    // Behind each there is the rest of its block, with those that are there.
    let mut pending: Vec<BlockId> = body.region_blocks(body.root()).to_vec();
    while let Some(block) = pending.pop() {
        let ops = body.block_ops_vec(block).into_iter().rev();
        for op in ops.filter(|&op| executed(body, op)).collect::<Vec<_>>() {
            pending.extend(execute(ctx, body, op).into_iter().flatten());
        }
    }
    if body.region_blocks(body.root()).len() > 1 {
        from_cf(ctx, body);
        super::lift::lift(ctx, body).map_err(|error| vec![error])?;
    }
    Ok(())
}
