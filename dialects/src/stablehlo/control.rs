//! Control flow in terms of that of `pd`.

use pir_ir::{RegionId, Rewriter, Type, ValueId};

use super::ops;
use crate::control::{Control, Made, Parts, choose, splice};
use crate::{cf, pd};

pub(super) fn find(name: &str) -> Option<Control> {
    match name {
        ops::While::NAME => Some(Control::new(make_while)),
        ops::If::NAME => Some(Control::new(|r, parts| {
            make_if(r, parts.operands[0], parts.types, [parts.regions[0], parts.regions[1]])
        })),
        ops::Case::NAME => Some(Control::new(case)),
        ops::Composite::NAME => Some(Control::new(composite)),
        _ => None,
    }
}

/// Replaces the terminator of a region, with additional leading values.
fn terminate(r: &mut Rewriter<'_>, region: RegionId, name: &str, more: &[ValueId]) -> Result<(), String> {
    let block = r.body.single_block(region);
    let last = block.and_then(|block| r.body.last_op(block));
    let last = last.filter(|&op| r.ctx.op_str(r.body.op_name(op)) == ops::Return::NAME);
    let last = last.ok_or("a region does not end in `stablehlo.return`")?;
    let values: Vec<ValueId> = r.body.operands(last).chain(more.iter().copied()).collect();
    let (point, span) = (r.point(), r.body.op_span(last));
    r.before(last).set_span(span).op(name).operands(values).build();
    r.erase_op(last);
    r.set_point(point);
    Ok(())
}

/// A composite computes the function that it names.
fn composite(r: &mut Rewriter<'_>, parts: &Parts<'_>) -> Made {
    let callee = r.ctx.dict_get(parts.attrs, "decomposition");
    let callee = callee.ok_or("`decomposition` must name a function")?;
    let op = r.op("func.call").attr("callee", callee);
    let op = op.operands(parts.operands.iter().copied());
    let op = op.results(parts.types.iter().copied()).build();
    Ok(r.body.results(op).collect())
}

/// The condition forwards the carried values.
fn make_while(r: &mut Rewriter<'_>, parts: &Parts<'_>) -> Made {
    let &[cond, body] = parts.regions else {
        return Err("expected two regions".to_owned());
    };
    let args = r.body.entry_block(cond).map(|block| r.body.block_args(block).to_vec());
    terminate(r, cond, cf::COND_YIELD, &args.unwrap_or_default())?;
    terminate(r, body, cf::YIELD, &[])?;
    let op = r.op(pd::While::NAME).operands(parts.operands.iter().copied());
    let op = op.results(parts.types.iter().copied());
    let op = op.region(cond).region(body).build();
    Ok(r.body.results(op).collect())
}

fn make_if(r: &mut Rewriter<'_>, condition: ValueId, types: &[Type], regions: [RegionId; 2]) -> Made {
    for region in regions {
        terminate(r, region, cf::YIELD, &[])?;
    }
    let op = r.op(pd::If::NAME).operand(condition).results(types.iter().copied());
    let op = op.region(regions[0]).region(regions[1]).build();
    Ok(r.body.results(op).collect())
}

/// Nested branches: an index without a branch selects the last one.
fn case(r: &mut Rewriter<'_>, parts: &Parts<'_>) -> Made {
    let (&index, Some((&last, others))) = (&parts.operands[0], parts.regions.split_last()) else {
        return Err("expected a branch".to_owned());
    };
    if others.is_empty() {
        return splice(r, last, ops::Return::NAME);
    }
    // If the index was converted from a boolean, that is the condition.
    if let (&[first], Some(truth)) = (others, truth_of(r, index)) {
        return make_if(r, truth, parts.types, [last, first]);
    }
    let elem = r.ctx.elem_type(r.body.value_type(index));
    let is = |r: &mut Rewriter<'_>, number: usize| {
        let number = pd::full_with(r, &[], number as i64, |o| o.dtype(elem))?;
        pd::equal(r, index, number)
    };
    let terminate = |r: &mut Rewriter<'_>, region| terminate(r, region, cf::YIELD, &[]);
    choose(r, parts.types, (others, last), &is, &terminate)
}

/// The truth value that an index was made from.
fn truth_of(r: &Rewriter<'_>, index: ValueId) -> Option<ValueId> {
    let op = r.view(r.body.defining_op(index)?);
    let truth = op.operand(0).filter(|_| op.name() == ops::Convert::NAME)?;
    (r.ctx.elem_type(r.body.value_type(truth)) == Type::I1).then_some(truth)
}
