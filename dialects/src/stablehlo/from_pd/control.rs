//! Loops and branches of `pd` as those of StableHLO.

use crate::cf;
use pir_ir::{BlockId, OpId, RegionId, Rewriter, Type, ValueId, ValueMap};

use rustc_hash::FxHashMap;

use super::super::ops;
use super::hlo::reshaped;
use crate::pd::{Building, is_if, is_while};

/// Converts a loop or a branch; `None` for another operation.
pub(super) fn convert(r: &mut Rewriter<'_>, op: OpId, budget: &mut usize) -> Option<Result<(), String>> {
    let name = r.ctx.op_str(r.body.op_name(op));
    if !is_while(name) && !is_if(name) {
        return None;
    }
    Some(match r.body.op_regions(op).len() {
        3 => Err("it records values on a stack".to_owned()),
        _ if is_if(name) => make_if(r, op),
        _ => make_while(r, op, budget),
    })
}

fn block(r: &Rewriter<'_>, region: RegionId) -> Result<(BlockId, OpId), String> {
    let block = r.body.single_block(region).ok_or("a region has several blocks")?;
    let last = r.body.last_op(block).ok_or("a region is empty")?;
    Ok((block, last))
}

/// A condition as StableHLO has it, without dimensions.
fn scalar(r: &mut Rewriter<'_>, condition: ValueId) -> Result<ValueId, String> {
    let building = Building::new(r);
    let value = reshaped(building.scope().expr(condition), &[]).id();
    building.finish()?;
    value.ok_or_else(|| "the condition is missing".to_owned())
}

/// Ends a region with these values.
fn end(r: &mut Rewriter<'_>, last: OpId, values: &[ValueId]) {
    let span = r.body.op_span(last);
    r.before(last)
        .set_span(span)
        .op(ops::Return::NAME)
        .operands(values.iter().copied())
        .build();
    r.erase_op(last);
}

fn types(r: &Rewriter<'_>, values: &[ValueId]) -> Vec<Type> {
    values.iter().map(|&value| r.body.value_type(value)).collect()
}

fn make_if(r: &mut Rewriter<'_>, op: OpId) -> Result<(), String> {
    let condition = r.body.operand(op, 0);
    let results: Vec<ValueId> = r.body.results(op).collect();
    let of = types(r, &results);
    for region in r.body.op_regions(op).to_vec() {
        if r.body.region_blocks(region).is_empty() {
            let block = r.body.create_block(region);
            r.at_end(block).op(ops::Return::NAME).build();
            continue;
        }
        let (_, last) = block(r, region)?;
        let values = r.body.operands_vec(last);
        if types(r, &values) != of {
            return Err("a branch yields values of other types".to_owned());
        }
        end(r, last, &values);
    }
    r.before(op);
    let condition = scalar(r, condition)?;
    let regions = r.body.take_regions(op);
    let mut new = r.op(ops::If::NAME).operand(condition).results(of);
    for region in regions {
        new = new.region(region);
    }
    let new = new.build();
    replace(r, op, new, 0..results.len());
    Ok(())
}

/// Replaces the results of an operation.
fn replace(r: &mut Rewriter<'_>, op: OpId, new: OpId, places: impl IntoIterator<Item = usize>) {
    for (old, at) in r.body.results(op).collect::<Vec<_>>().into_iter().zip(places) {
        let new = r.body.result(new, at);
        r.take_name(old, new);
        r.replace_value(old, new);
    }
    r.erase_op(op);
}

/// The condition of `pd` hands values on, to the body and as results; that of StableHLO decides only, and both get what it was given.
fn make_while(r: &mut Rewriter<'_>, op: OpId, budget: &mut usize) -> Result<(), String> {
    let (cond, test) = block(r, r.body.op_regions(op)[0])?;
    let forwarded: Vec<ValueId> = r.body.operands(test).skip(1).collect();
    let args = r.body.block_args(cond).to_vec();
    let results: Vec<ValueId> = r.body.results(op).collect();
    let of = types(r, &results);
    if types(r, &forwarded) != of {
        return Err("the loop carries values of changing types".to_owned());
    }
    // Where among the arguments what is forwarded is.
    let place: FxHashMap<ValueId, usize> = args.iter().enumerate().map(|(at, &arg)| (arg, at)).collect();
    let places: Option<Vec<usize>> = forwarded.iter().map(|value| place.get(value).copied()).collect();
    let places = match places {
        Some(places) => places,
        None => {
            // Conditions in conditions are copied again and again.
            let size = r
                .body
                .block_region(cond)
                .map_or(0, |region| r.body.walk(region).count());
            *budget = budget
                .checked_sub(2 * size)
                .ok_or("its condition computes the forwarded values, and is too large to be copied")?;
            rotate(r, op)?
        }
    };
    finish_while(r, op, &places)
}

/// Makes the loop carry its condition, and the forwarded values: both are computed before the loop and at the end of its body.
fn rotate(r: &mut Rewriter<'_>, op: OpId) -> Result<Vec<usize>, String> {
    let [cond, body] = [0, 1].map(|at| r.body.op_regions(op)[at]);
    let ((cond, test), (_, last)) = (block(r, cond)?, block(r, body)?);
    let operands = r.body.operands_vec(op);
    let args = r.body.block_args(cond).to_vec();
    let computed = r.body.operands_vec(test);
    let copy = |r: &mut Rewriter<'_>, values: &[ValueId]| -> Vec<ValueId> {
        let mut map = ValueMap::new();
        args.iter()
            .zip(values)
            .for_each(|(&arg, &value)| map.insert(arg, value));
        for inner in r.body.block_ops_vec(cond).into_iter().filter(|&inner| inner != test) {
            let made = r.clone_op(inner, &mut map);
            // Its regions are to be converted as well.
            let regions = r.body.op_regions(made).to_vec();
            let inside: Vec<OpId> = regions.into_iter().flat_map(|region| r.body.walk(region)).collect();
            inside.into_iter().for_each(|op| r.touch(op));
        }
        computed.iter().map(|&value| map.get_or_self(value)).collect()
    };
    let mut first = copy(r.before(op), &operands);
    let yielded = r.body.operands_vec(last);
    let mut next = copy(r.before(last), &yielded);
    first[0] = scalar(r.before(op), first[0])?;
    next[0] = scalar(r.before(last), next[0])?;
    r.body.set_operands(op, &first);
    r.body.set_operands(last, &next);
    // The old condition forwards its arguments.
    for inner in r.body.block_ops_vec(cond).into_iter().rev() {
        r.erase_op(inner);
    }
    r.body.retain_block_args(cond, |_| false);
    let handed: Vec<ValueId> = types(r, &first)
        .into_iter()
        .map(|ty| r.body.add_block_arg(cond, ty, None))
        .collect();
    r.at_end(cond).op(cf::COND_YIELD).operands(handed).build();
    Ok((1..first.len()).collect())
}

/// Makes the loop, whose results and arguments of the body are these of what it carries.
fn finish_while(r: &mut Rewriter<'_>, op: OpId, places: &[usize]) -> Result<(), String> {
    let [cond, body] = [0, 1].map(|at| r.body.op_regions(op)[at]);
    let ((cond, test), (body, last)) = (block(r, cond)?, block(r, body)?);
    let operands = r.body.operands_vec(op);
    let of = types(r, &operands);
    let yielded = r.body.operands_vec(last);
    if types(r, r.body.block_args(cond)) != of || types(r, &yielded) != of {
        return Err("the loop carries values of changing types".to_owned());
    }
    let condition = r.body.operand(test, 0);
    let condition = scalar(r.before(test), condition)?;
    end(r, test, &[condition]);
    end(r, last, &yielded);
    let old = r.body.block_args(body).to_vec();
    let new: Vec<ValueId> = of.iter().map(|&ty| r.body.add_block_arg(body, ty, None)).collect();
    for (at, &arg) in r.body.block_args(cond).to_vec().iter().enumerate() {
        r.take_name(arg, new[at]);
    }
    for (&arg, &at) in old.iter().zip(places) {
        r.take_name(arg, new[at]);
        r.replace_value(arg, new[at]);
    }
    r.body.retain_block_args(body, |at| at >= old.len());
    let regions = r.body.take_regions(op);
    let mut made = r.before(op).op(ops::While::NAME).operands(operands).results(of);
    for region in regions {
        made = made.region(region);
    }
    let made = made.build();
    replace(r, op, made, places.iter().copied());
    Ok(())
}
