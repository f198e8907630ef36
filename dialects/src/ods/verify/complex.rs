//! `complex`: constants have two parts, and `bitcast` a complex side.

use pir_ir::{AttrData, Diagnostic, OpView};

use super::{Checked, attr, ensure, report};

pub(in crate::ods) fn verify(op: OpView<'_>, errors: &mut Vec<Diagnostic>) {
    let checked = match op.name() {
        "complex.constant" => constant(op),
        "complex.bitcast" => {
            let is_complex = |ty| op.ctx.is_complex(ty);
            ensure(
                op.operand_type(0).is_some_and(is_complex) || op.result_type(0).is_some_and(is_complex),
                || "the operand or the result must be complex".to_owned(),
            )
        }
        _ => Ok(()),
    };
    report(op, checked, errors);
}

fn constant(op: OpView<'_>) -> Checked {
    let Some(part) = op.result_type(0).and_then(|ty| op.ctx.complex_part(ty)) else {
        return Ok(());
    };
    let parts = match attr(op, "value") {
        Some(AttrData::Array(parts)) => parts,
        _ => return Err("its value must be an array of two numbers".to_owned()),
    };
    ensure(parts.len() == 2, || {
        format!("its value must have two numbers, found {}", parts.len())
    })?;
    let fits = parts.iter().all(|&number| match op.ctx.attr_data(number) {
        AttrData::Float { ty, .. } | AttrData::Int { ty, .. } => *ty == part,
        // Attributes of other dialects may represent numbers.
        _ => true,
    });
    ensure(fits, || {
        "its numbers must have the type of the parts of the result".to_owned()
    })
}
