//! Loops and branches of `scf` in terms of those of `pd`, which derivatives are built of; `from_pd` is the way back.

use pir_ir::{OpId, RegionId, Rewriter, Type, ValueId};

use super::values::{EQ, SLT, compare};
use super::{arith, index_constant, parallel, scf};
use crate::control::{Control, Made, Parts, choose, splice};
use crate::{cf, pd};

pub(super) fn find(name: &str) -> Option<Control> {
    match name {
        scf::WHILE => Some(Control::new(|r, parts| {
            rename_end(r, parts.regions[0], scf::CONDITION, cf::COND_YIELD)?;
            rename_end(r, parts.regions[1], scf::YIELD, cf::YIELD)?;
            let op = make(r, pd::While::NAME, parts.operands, parts.types, parts.regions);
            Ok(r.body.results(op).collect())
        })),
        scf::IF => Some(Control::new(|r, parts| {
            for &region in parts.regions {
                if !r.body.region_blocks(region).is_empty() {
                    rename_end(r, region, scf::YIELD, cf::YIELD)?;
                }
            }
            let op = make(r, pd::If::NAME, parts.operands, parts.types, parts.regions);
            Ok(r.body.results(op).collect())
        })),
        scf::FOR => Some(Control::new(count)),
        scf::INDEX_SWITCH => Some(Control::new(switch)),
        scf::EXECUTE_REGION => Some(Control::new(|r, parts| {
            let &[region] = parts.regions else {
                return Err("expected a region".to_owned());
            };
            if r.body.region_blocks(region).len() > 1 {
                return Err("an `scf.execute_region` of several blocks is not structured control flow".to_owned());
            }
            splice(r, region, scf::YIELD)
        })),
        scf::PARALLEL => Some(Control::new(parallel::reduced)),
        scf::FORALL => Some(Control::new(parallel::tiled)),
        _ => None,
    }
}

pub(super) fn make(
    r: &mut Rewriter<'_>,
    name: &str,
    operands: &[ValueId],
    types: &[Type],
    regions: &[RegionId],
) -> OpId {
    let op = r
        .op(name)
        .operands(operands.iter().copied())
        .results(types.iter().copied());
    regions.iter().fold(op, |op, &region| op.region(region)).build()
}

/// Gives the terminator of a region another name.
pub(super) fn rename_end(r: &mut Rewriter<'_>, region: RegionId, from: &str, to: &str) -> Result<OpId, String> {
    let end = r.body.region_terminator(region);
    let end = end.filter(|&end| r.ctx.op_str(r.body.op_name(end)) == from);
    let end = end.ok_or_else(|| format!("a region does not have one block that ends in `{from}`"))?;
    let name = r.ctx.op_name(to);
    r.body.set_op_name(end, name);
    Ok(end)
}

/// A loop that counts carries its counter.
fn count(r: &mut Rewriter<'_>, parts: &Parts<'_>) -> Made {
    let (&[lower, upper, step, ref inits @ ..], &[body]) = (parts.operands, parts.regions) else {
        return Err("expected bounds, a step and a region".to_owned());
    };
    let (here, ty) = (r.point(), r.body.value_type(lower));
    let types: Vec<Type> = std::iter::once(ty).chain(parts.types.iter().copied()).collect();
    let test = r.body.create_region();
    let block = r.body.create_block(test);
    let args: Vec<ValueId> = types.iter().map(|&ty| r.body.add_block_arg(block, ty, None)).collect();
    let inner = r.body.entry_block(body).map(|block| r.body.block_args(block).to_vec());
    for (&arg, like) in args.iter().zip(inner.iter().flatten()) {
        r.take_name(*like, arg);
    }
    r.at_end(block);
    let go_on = compare(r, SLT, args[0], upper);
    r.op(cf::COND_YIELD)
        .operand(go_on)
        .operands(args.iter().copied())
        .build();
    let end = rename_end(r, body, scf::YIELD, cf::YIELD)?;
    let counter = inner
        .and_then(|args| args.first().copied())
        .ok_or("its region has no argument")?;
    r.before(end);
    let next = r.op(arith::Addi::NAME).operands([counter, step]).result(ty).value();
    r.body.insert_operands(end, 0, &[next]);
    r.set_point(here);
    let operands: Vec<ValueId> = std::iter::once(lower).chain(inits.iter().copied()).collect();
    let op = make(r, pd::While::NAME, &operands, &types, &[test, body]);
    // The last value of the counter is not a result.
    Ok(r.body.results(op).skip(1).collect())
}

/// A branch for each number, and the first region for all others.
fn switch(r: &mut Rewriter<'_>, parts: &Parts<'_>) -> Made {
    let cases = r
        .ctx
        .dict_get(parts.attrs, "cases")
        .and_then(|cases| crate::mlir::ints(r.ctx, cases));
    let (&[number], Some((&default, others)), Some(cases)) = (parts.operands, parts.regions.split_first(), cases)
    else {
        return Err("expected a number and a region for each case".to_owned());
    };
    if others.is_empty() {
        return splice(r, default, scf::YIELD);
    }
    let is = |r: &mut Rewriter<'_>, at: usize| {
        let case = cases.get(at).ok_or("there are more regions than cases")?;
        let case = index_constant(r, i128::from(*case));
        Ok(compare(r, EQ, number, case))
    };
    let terminate = |r: &mut Rewriter<'_>, region| rename_end(r, region, scf::YIELD, cf::YIELD).map(|_| ());
    choose(r, parts.types, (others, default), &is, &terminate)
}
