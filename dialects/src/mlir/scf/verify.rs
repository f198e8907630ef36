//! The rules of loops and branches.

use pir_ir::{Diagnostic, OpView, RegionId, Type, ValueId};

use super::{CONDITION, YIELD};
use crate::mlir::types::int_width;

pub(super) fn report(op: OpView<'_>, why: String, errors: &mut Vec<Diagnostic>) {
    let message = format!("`{}`: {why}", op.name());
    errors.push(
        Diagnostic::error("control-flow", message)
            .label(op.body.op_span(op.op), "this operation")
            .help(super::super::HELP),
    );
}

/// Checks that values are of the types of others.
pub(super) fn expect_types(
    op: OpView<'_>,
    given: impl Iterator<Item = ValueId> + Clone,
    wanted: impl Iterator<Item = ValueId> + Clone,
    what: &str,
    errors: &mut Vec<Diagnostic>,
) {
    let type_of = |value| op.body.value_type(value);
    if !given.clone().map(type_of).eq(wanted.clone().map(type_of)) {
        let spelled = |values: &mut dyn Iterator<Item = ValueId>| {
            let types: Vec<String> = values
                .map(|value| pir_ir::text::print_type(op.ctx, type_of(value)))
                .collect();
            format!("({})", types.join(", "))
        };
        let (mut given, mut wanted) = (given, wanted);
        let message = format!(
            "{what} yields {}, expected {}",
            spelled(&mut given),
            spelled(&mut wanted)
        );
        report(op, message, errors);
    }
}

/// Checks that a region ends in an `scf.yield` of the results.
pub(super) fn expect_yield(op: OpView<'_>, region: RegionId, errors: &mut Vec<Diagnostic>) {
    match op.body.region_terminator(region) {
        Some(end) if op.body.view(op.ctx, end).name() == YIELD => {
            expect_types(op, op.body.operands(end), op.body.results(op.op), "a region", errors);
        }
        _ => report(
            op,
            "its regions must have one block, which ends in `scf.yield`".to_owned(),
            errors,
        ),
    }
}

pub(super) fn args(op: OpView<'_>, region: usize) -> &[ValueId] {
    let entry = op
        .body
        .op_regions(op.op)
        .get(region)
        .and_then(|&r| op.body.entry_block(r));
    entry.map_or(&[], |block| op.body.block_args(block))
}

pub(super) fn verify_for(op: OpView<'_>, errors: &mut Vec<Diagnostic>) {
    let counter = op.operand_type(0).unwrap_or(Type::NONE);
    if int_width(op.ctx, counter).is_none() || (1..3).any(|at| op.operand_type(at) != Some(counter)) {
        report(
            op,
            "the bounds and the step must have the same type, `index` or an integer type".to_owned(),
            errors,
        );
        return;
    }
    let inits = || op.body.operands(op.op).skip(3);
    let body = args(op, 0);
    if body.first().is_none_or(|&v| op.body.value_type(v) != counter) {
        report(
            op,
            "the first argument of its region must have the type of the bounds".to_owned(),
            errors,
        );
        return;
    }
    expect_types(op, inits(), op.body.results(op.op), "its initial values", errors);
    expect_types(op, inits(), body[1..].iter().copied(), "its initial values", errors);
    if let Some(&region) = op.body.op_regions(op.op).first() {
        expect_yield(op, region, errors);
    }
}

pub(super) fn verify_while(op: OpView<'_>, errors: &mut Vec<Diagnostic>) {
    let regions = op.body.op_regions(op.op);
    let end = |at: usize, name: &str| {
        let end = regions.get(at).and_then(|&r| op.body.region_terminator(r));
        end.filter(|&end| op.body.view(op.ctx, end).name() == name)
    };
    let (Some(test), Some(back)) = (end(0, CONDITION), end(1, YIELD)) else {
        let why = "its first region must have one block that ends in `scf.condition`, its second one that ends in `scf.yield`";
        report(op, why.to_owned(), errors);
        return;
    };
    let forwarded = || op.body.operands(test).skip(1);
    expect_types(
        op,
        op.body.operands(op.op),
        args(op, 0).iter().copied(),
        "its initial values",
        errors,
    );
    expect_types(op, forwarded(), op.body.results(op.op), "`scf.condition`", errors);
    expect_types(op, forwarded(), args(op, 1).iter().copied(), "`scf.condition`", errors);
    expect_types(
        op,
        op.body.operands(back),
        args(op, 0).iter().copied(),
        "the second region",
        errors,
    );
}

pub(super) fn verify_if(op: OpView<'_>, errors: &mut Vec<Diagnostic>) {
    if op.operand_type(0) != Some(Type::I1) {
        report(op, "the condition must be `i1`".to_owned(), errors);
        return;
    }
    for (at, &region) in op.body.op_regions(op.op).iter().enumerate() {
        if at == 1 && op.body.region_blocks(region).is_empty() {
            if op.body.num_results(op.op) > 0 {
                report(op, "with results it needs an else region".to_owned(), errors);
            }
            continue;
        }
        if !args(op, at).is_empty() {
            report(op, "its regions have no arguments".to_owned(), errors);
        }
        expect_yield(op, region, errors);
    }
}
