//! Tensors that Paddle never fills: the state of a generator that is not asked for numbers, memory that is reserved for
//! nothing. Saved programs say that they have no dimensions, printed ones that they have one of 0. They get the types
//! that our operations give.

use pir_ir::{Body, Context, DYNAMIC, Type, TypeData};
use smallvec::SmallVec;

/// Operations with such results, and the place of an operand of that sort.
const FILLED_LATE: &[(&str, Option<usize>)] = &[
    ("pd.rnn", Some(3)),
    ("pd.coalesce_tensor", None),
    ("pd.batch_norm", None),
];

/// Gives tensors that are never filled their types.
pub(crate) fn retype(ctx: &Context, body: &mut Body) {
    for op in body.walk_all().collect::<Vec<_>>() {
        let name = ctx.op_str(body.op_name(op));
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

fn is_unset(ctx: &Context, ty: Type) -> bool {
    match ctx.type_data(ty) {
        TypeData::Tensor { shape, .. } => matches!(shape[..], [] | [0] | [DYNAMIC]),
        _ => false,
    }
}
