//! Operands in our order.
//!
//! Some operations take their operands in another order there, and have as operands what is an attribute here, whether
//! it may be computed or not.

use smallvec::SmallVec;

use pir_ir::{Arity, Body, Context, Diagnostic, OpDef, OpId, ValueId};

use super::constants;
use super::table::{self, Input, Row};

/// Gives known operations their operands in the order of their definitions.
pub(crate) fn reorder(ctx: &Context, body: &mut Body, errors: &mut Vec<Diagnostic>) {
    let rows = table::rows();
    for op in body.walk_all().collect::<Vec<_>>() {
        let name = body.op_name(op);
        let row = ctx.op_str(name).strip_prefix("pd.").and_then(|name| rows.get(name));
        let (Some(row), Some(def)) = (row, ctx.op_def(name)) else {
            continue;
        };
        // One that is left out has no place among the operands.
        if body.num_operands(op) != row.inputs.len() || body.attr(ctx, op, "absent_operands").is_some() {
            continue;
        }
        if let Err(name) = reorder_op(ctx, body, op, def, row) {
            let message = format!("`{name}` of `{}` is computed, and is an attribute here", def.name);
            errors.push(Diagnostic::error("paddle-operand", message).label(body.op_span(op), "here"));
        }
    }
}

fn reorder_op<'d>(ctx: &Context, body: &mut Body, op: OpId, def: &'d OpDef, row: &'d Row) -> Result<(), &'d str> {
    let operands = body.operands_vec(op);
    let place = |name: &str| {
        row.inputs.iter().position(|input| match *input {
            Input::Value(n) | Input::Shaped(n, _) | Input::Ints(n) | Input::Number(n) => n == name,
        })
    };
    let mut ours: SmallVec<[ValueId; 6]> = SmallVec::new();
    for spec in &def.operands {
        match place(&spec.name).and_then(|at| operands.get(at)) {
            Some(&value) => ours.push(value),
            // Nothing here is known to be left out: a declared operand that Paddle does not have.
            None if spec.arity == Arity::Optional => {}
            None => return Ok(()),
        }
    }
    let mut attrs = body.attrs(op);
    for spec in &def.attrs {
        let Some(&value) = place(&spec.name).and_then(|at| operands.get(at)) else {
            continue;
        };
        // What may be computed is among the declared operands too.
        if !def.operands.iter().any(|operand| operand.name == spec.name) {
            let constant = constants::constant(ctx, body, value).ok_or(spec.name.as_str())?;
            attrs = ctx.dict_with(attrs, &spec.name, constants::of_type(ctx, constant, &spec.ty));
        }
    }
    if ours != operands {
        body.set_operands(op, &ours);
        body.set_attrs(op, attrs);
    }
    Ok(())
}
