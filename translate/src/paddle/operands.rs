//! Reorders operands.
//!
//! Some of PaddlePaddle's operations have another operand order, and have operands that are attributes here, constant
//! or not.

use smallvec::SmallVec;

use pir_dialects::formats::{self, PaddleForm, PaddleOperand};
use pir_dialects::marks::ABSENT_OPERANDS;
use pir_ir::{Arity, Body, Context, Diagnostic, OpDef, OpId, ValueId};

use super::constants;

/// Orders the operands of known operations as in their definitions.
pub(crate) fn reorder(ctx: &Context, body: &mut Body, errors: &mut Vec<Diagnostic>) {
    for op in body.walk_all().collect::<Vec<_>>() {
        let name = body.op_name(op);
        let form = ctx.op_str(name).strip_prefix("pd.").and_then(formats::paddle);
        let (Some(form), Some(def)) = (form, ctx.op_def(name)) else {
            continue;
        };
        if let Err(name) = reorder_op(ctx, body, op, def, form) {
            let message = format!("the operand `{name}` of `{}` must be a constant", def.name);
            errors.push(
                Diagnostic::error("paddle-operand", message)
                    .label(body.op_span(op), "the program computes the operand")
                    .help("it is an attribute in pir-opt: use a number, or the result of `paddle.full`"),
            );
        }
    }
}

/// The operands at PaddlePaddle's positions; an absent one has an empty position.
fn places(ctx: &Context, body: &Body, op: OpId, count: usize) -> Option<SmallVec<[Option<ValueId>; 6]>> {
    let view = body.view(ctx, op);
    let absent = view.ints("absent_operands").unwrap_or(&[]);
    let mut operands = body.operands(op);
    let mut places: SmallVec<[Option<ValueId>; 6]> = SmallVec::new();
    for at in 0..count {
        let left_out = absent.contains(&(at as i64));
        places.push(if left_out { None } else { operands.next() });
    }
    operands.next().is_none().then_some(places)
}

fn reorder_op<'d>(ctx: &Context, body: &mut Body, op: OpId, def: &'d OpDef, form: &PaddleForm) -> Result<(), &'d str> {
    let Some(operands) = places(ctx, body, op, form.operands.len()) else {
        return Ok(());
    };
    let place = |name: &str| {
        form.operands.iter().position(|operand| match *operand {
            PaddleOperand::Value(n)
            | PaddleOperand::Shaped(n, _)
            | PaddleOperand::Ints(n)
            | PaddleOperand::Number(n, _) => n == name,
        })
    };
    let given = |name: &str| place(name).and_then(|at| operands.get(at).copied().flatten());
    let mut ours: SmallVec<[ValueId; 6]> = SmallVec::new();
    let mut absent: SmallVec<[i64; 2]> = SmallVec::new();
    // The number of declared operands up to the last one that is present.
    let mut end = 0;
    for (at, spec) in (0i64..).zip(def.operands.iter()) {
        match given(&spec.name) {
            Some(value) => {
                ours.push(value);
                end = at + 1;
            }
            None if spec.arity == Arity::Optional => absent.push(at),
            None => return Ok(()),
        }
    }
    absent.retain(|at| *at < end);
    let mut attrs = body.attrs(op);
    for spec in def.attrs.iter() {
        let Some(value) = given(&spec.name) else { continue };
        // Attributes that may be operands are among the declared operands too.
        if !def.operands.iter().any(|operand| operand.name == spec.name) {
            let constant = constants::constant(ctx, body, value).ok_or(&*spec.name)?;
            attrs = ctx.dict_with(attrs, &spec.name, constants::of_type(ctx, constant, &spec.ty));
        }
    }
    if ours == body.operands_vec(op) {
        return Ok(());
    }
    attrs = ABSENT_OPERANDS.remove(ctx, attrs);
    if !absent.is_empty() {
        attrs = ABSENT_OPERANDS.set(ctx, attrs, ctx.ints_attr(&absent));
    }
    body.set_operands(op, &ours);
    body.set_attrs(op, attrs);
    Ok(())
}
