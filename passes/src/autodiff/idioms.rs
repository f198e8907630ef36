//! Formulas whose derivative is not that of the function that they compute.

use pir_dialects::stablehlo::ops::{Add, BroadcastInDim, Constant, Divide, Exponential, Logistic, Negate};
use pir_ir::{Body, Context, Module, OpId, Rewriter, ValueId};

use crate::bodies::inner_bodies_mut;

/// Puts `logistic` in the places of `1 / (1 + exp(-x))`, to which JAX lowers it. Where the power is infinite, in f32 below -89, the
/// derivative of the quotient is zero times infinity, and that of the function is zero.
pub(super) fn recognize(module: &mut Module) {
    let ctx = module.ctx.clone();
    let divide = ctx.op_name(Divide::NAME);
    let mut pending = vec![&mut module.body];
    while let Some(body) = pending.pop() {
        let quotients: Vec<OpId> = body.walk_all().filter(|&op| body.op_name(op) == divide).collect();
        for op in quotients {
            let Some((x, parts)) = logistic(&ctx, body, op) else {
                continue;
            };
            let out = body.result(op, 0);
            let ty = body.value_type(out);
            let mut r = Rewriter::new(&ctx, body);
            r.before(op);
            let value = r.op(Logistic::NAME).operand(x).result(ty).value();
            r.take_name(out, value);
            r.replace_value(out, value);
            for part in std::iter::once(op).chain(parts) {
                if r.body.results(part).all(|result| !r.body.has_uses(result)) {
                    r.erase_op(part);
                }
            }
        }
        pending.extend(inner_bodies_mut(&ctx, body));
    }
}

/// If a quotient is a logistic function: the argument, and the sum, power and negation in it.
fn logistic(ctx: &Context, body: &Body, op: OpId) -> Option<(ValueId, [OpId; 3])> {
    let made_by = |value: ValueId, name: &str| {
        let op = body.defining_op(value)?;
        (ctx.op_str(body.op_name(op)) == name).then_some(op)
    };
    let is_float = ctx.is_float(ctx.elem_type(body.value_type(body.operand(op, 0))));
    (is_float && is_one(ctx, body, body.operand(op, 0))).then_some(())?;
    let sum = made_by(body.operand(op, 1), Add::NAME)?;
    let (one, power) = match [body.operand(sum, 0), body.operand(sum, 1)] {
        [power, one] if is_one(ctx, body, one) => (one, power),
        [one, power] => (one, power),
    };
    is_one(ctx, body, one).then_some(())?;
    let power = made_by(power, Exponential::NAME)?;
    let negative = made_by(body.operand(power, 0), Negate::NAME)?;
    Some((body.operand(negative, 0), [sum, power, negative]))
}

/// Whether all elements are the constant one.
fn is_one(ctx: &Context, body: &Body, mut value: ValueId) -> bool {
    while let Some(op) = body.defining_op(value) {
        match ctx.op_str(body.op_name(op)) {
            BroadcastInDim::NAME => value = body.operand(op, 0),
            Constant::NAME => {
                let elements = body
                    .view(ctx, op)
                    .attr("value")
                    .and_then(|attr| ctx.attr_elements(attr));
                let one = elements.filter(|elements| elements.is_splat());
                return one.and_then(|elements| elements.floats()?.next()) == Some(1.0);
            }
            _ => return false,
        }
    }
    false
}
