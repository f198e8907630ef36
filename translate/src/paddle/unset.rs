//! Tensors that Paddle never fills: the state of an unused random generator, reserved memory, variables that a loop
//! sets before it reads them. Saved programs give them no dimensions, printed ones a dimension of 0. They get the
//! inferred types.

use pir_dialects::{cf, pd};
use pir_ir::{Body, Context, DYNAMIC, OpId, Type, TypeData};
use smallvec::SmallVec;

/// Operations with such results, and the index of an operand of that kind.
const FILLED_LATE: &[(&str, Option<usize>)] = &[
    (pd::Rnn::NAME, Some(3)),
    (pd::CoalesceTensor::NAME, None),
    (pd::BatchNorm::NAME, None),
    (pd::RmspropInplace::NAME, None),
    ("builtin.split", None),
];

/// Gives tensors that are never filled their types.
pub(crate) fn retype(ctx: &Context, body: &mut Body) {
    for op in body.walk_all().collect::<Vec<_>>() {
        let name = ctx.op_str(body.op_name(op));
        if name == pd::Full::NAME {
            fill(ctx, body, op);
            continue;
        }
        let Some(&(_, input)) = FILLED_LATE.iter().find(|(n, _)| *n == name) else {
            continue;
        };
        let operand = input.and_then(|at| body.operands(op).nth(at));
        if let Some(value) = operand {
            let ty = body.value_type(value);
            if is_unset(ctx, ty) {
                let empty = ctx.tensor(&[0], ctx.elem_type(ty));
                body.set_value_type(value, empty);
            }
        }
        let view = body.view(ctx, op);
        let inferred = view.with_infer_args(|args| view.def().and_then(|def| def.infer).map(|infer| infer(args)));
        let Some(Some(Ok(types))) = inferred else { continue };
        let results: SmallVec<[_; 4]> = body.results(op).collect();
        for (value, ty) in results.into_iter().zip(types) {
            if is_unset(ctx, body.value_type(value)) {
                body.set_value_type(value, ty);
            }
        }
    }
}

/// A variable that Python code first sets in the body of a loop still has an initial value: one element, typed with the
/// shape that the body gives it. Its `full` gets that shape.
fn fill(ctx: &Context, body: &mut Body, op: OpId) {
    if body.view(ctx, op).ints("shape") != Some(&[]) {
        return;
    }
    let Some(value) = body.results(op).next() else { return };
    let Some((shape, elem)) = ctx.as_tensor(body.value_type(value)) else {
        return;
    };
    let passes_on = |op: OpId| matches!(ctx.op_str(body.op_name(op)), pd::While::NAME | cf::YIELD);
    if shape.is_empty() || !body.uses(value).all(|at| passes_on(at.op)) {
        return;
    }
    // It is never read: any extent will do for a dynamic dimension.
    let shape: SmallVec<[i64; 4]> = shape.iter().map(|&d| if d == DYNAMIC { 1 } else { d }).collect();
    let attrs = ctx.dict_with(body.attrs(op), "shape", ctx.ints_attr(&shape));
    body.set_attrs(op, attrs);
    body.set_value_type(value, ctx.tensor(&shape, elem));
}

fn is_unset(ctx: &Context, ty: Type) -> bool {
    match ctx.type_data(ty) {
        TypeData::Tensor { shape, .. } => matches!(shape[..], [] | [0] | [DYNAMIC]),
        _ => false,
    }
}
