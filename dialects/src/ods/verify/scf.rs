//! `scf`: parallel loops and their reductions.

use crate::mlir::arith;
use pir_ir::{Diagnostic, OpId, OpView, Type};

use super::{Checked, as_many, ensure, entry, int, ints, length, plural, report, segments, types};
use crate::mlir::scf;

pub(in crate::ods) fn verify(op: OpView<'_>, errors: &mut Vec<Diagnostic>) {
    let checked = match op.name() {
        scf::PARALLEL => parallel(op),
        scf::REDUCE => reduce(op),
        scf::REDUCE_RETURN => returned(op),
        scf::EXECUTE_REGION => ensure(
            entry(op, 0).is_none_or(|block| op.body.block_args(block).is_empty()),
            || "its region must have no arguments".to_owned(),
        ),
        scf::INDEX_SWITCH => {
            let cases = ints(op, "cases").unwrap_or_default();
            let twice = cases.iter().enumerate().find(|&(at, case)| cases[..at].contains(case));
            ensure(twice.is_none(), || {
                format!("the case {} is there twice", twice.map_or(0, |(_, &case)| case))
            })
        }
        scf::FORALL => {
            let rank = ints(op, "staticLowerBound").map(|bounds| bounds.len());
            let mapping = length(op, "mapping");
            ensure(mapping.is_none() || rank.is_none() || mapping == rank, || {
                format!("its mapping must have {}", plural(rank.unwrap_or(0), "entry"))
            })
        }
        scf::IN_PARALLEL => ensure(only_inserts(op), || {
            "its region may only have `tensor.parallel_insert_slice`".to_owned()
        }),
        _ => Ok(()),
    };
    report(op, checked, errors);
}

fn only_inserts(op: OpView<'_>) -> bool {
    let name = |inner: OpId| op.body.view(op.ctx, inner).name() == "tensor.parallel_insert_slice";
    entry(op, 0).is_none_or(|block| op.body.block_ops(block).all(name))
}

fn parallel(op: OpView<'_>) -> Checked {
    let Some([lower, upper, step, inits]) = segments(op) else {
        return Ok(());
    };
    ensure(lower > 0, || "it needs a bound".to_owned())?;
    ensure(lower == upper && lower == step, || {
        format!(
            "it has {}, {} and {}",
            plural(lower, "lower bound"),
            plural(upper, "upper bound"),
            plural(step, "step")
        )
    })?;
    let Some(block) = entry(op, 0) else { return Ok(()) };
    let args = types(op, op.body.block_args(block).iter().copied());
    ensure(args.len() == lower && args.iter().all(|&ty| ty == Type::INDEX), || {
        format!("its region must have {} of type `index`", plural(lower, "argument"))
    })?;
    for value in op.body.operands(op.op).skip(lower + upper).take(step) {
        let constant = op.body.defining_op(value).map(|maker| op.body.view(op.ctx, maker));
        let number = constant
            .filter(|maker| maker.name() == arith::Constant::NAME)
            .and_then(|maker| int(maker, "value"));
        ensure(number.is_none_or(|step| step > 0), || {
            "a step must be positive".to_owned()
        })?;
    }
    let results = op.body.num_results(op.op);
    as_many(inits, "initial value", results, "result")?;
    let end = op.body.last_op(block).map(|end| op.body.view(op.ctx, end));
    let end = end
        .filter(|end| end.name() == scf::REDUCE)
        .ok_or("its region must end with `scf.reduce`")?;
    let reduced = types(op, op.body.operands(end.op));
    ensure(reduced == types(op, op.body.results(op.op)), || {
        match reduced.len() == results {
            true => "its results must have the types of what is reduced".to_owned(),
            false => format!(
                "it has {}, and reduces {}",
                plural(results, "result"),
                plural(reduced.len(), "value")
            ),
        }
    })
}

fn reduce(op: OpView<'_>) -> Checked {
    let regions = op.body.op_regions(op.op).len();
    ensure(regions == op.body.num_operands(op.op), || {
        format!(
            "it reduces {} in {}",
            plural(op.body.num_operands(op.op), "value"),
            plural(regions, "region")
        )
    })?;
    for (at, value) in op.body.operands(op.op).enumerate() {
        let ty = op.body.value_type(value);
        let Some(block) = entry(op, at) else { continue };
        let args = types(op, op.body.block_args(block).iter().copied());
        ensure(args[..] == [ty, ty], || {
            format!("region {at} must have two arguments of the type of operand {at}")
        })?;
        let end = op.body.last_op(block).map(|end| op.body.view(op.ctx, end));
        ensure(end.is_some_and(|end| end.name() == scf::REDUCE_RETURN), || {
            format!("region {at} must end with `scf.reduce.return`")
        })?;
    }
    Ok(())
}

fn returned(op: OpView<'_>) -> Checked {
    let parent = op.body.parent_op(op.op).map(|parent| op.body.view(op.ctx, parent));
    let parent = parent
        .filter(|parent| parent.name() == scf::REDUCE)
        .ok_or("it must be in `scf.reduce`")?;
    let block = op.body.op_block(op.op);
    let place = (0..parent.body.op_regions(parent.op).len()).find(|&at| entry(parent, at) == block);
    let wanted = place.and_then(|at| parent.operand_type(at));
    ensure(wanted.is_none() || op.operand_type(0) == wanted, || {
        "it must give what is reduced".to_owned()
    })
}
