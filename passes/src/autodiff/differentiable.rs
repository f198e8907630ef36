//! Which types have cotangents, and which operands a derivative passes through.

use pir_ir::{Body, Context, Dependence, Type, TypeData, Use, ValueId};

/// Whether values of the type can have a cotangent: floats, complex numbers, tensors of such, and lists with such elements.
pub(crate) fn is_differentiable(ctx: &Context, ty: Type) -> bool {
    match ctx.type_data(ty) {
        TypeData::List(items) => stacker::maybe_grow(32 * 1024, 256 * 1024, || {
            items.iter().any(|&t| is_differentiable(ctx, t))
        }),
        _ => ctx.is_continuous(ty),
    }
}

/// Whether all that is in values of the type has a cotangent, or needs none.
pub(crate) fn has_cotangent(ctx: &Context, ty: Type) -> bool {
    let known = |&t: &Type| ctx.is_continuous(t) || ctx.is_discrete(t) || matches!(ctx.type_data(t), TypeData::List(_));
    match ctx.type_data(ty) {
        TypeData::List(items) => is_differentiable(ctx, ty) && items.iter().all(known),
        _ => ctx.is_continuous(ty),
    }
}

/// Whether a derivative passes from an operand of an ordinary operation to one of its results, by what the operation
/// declares: nothing declared means that it does.
pub(crate) fn carries(ctx: &Context, body: &Body, at: Use, result: ValueId) -> bool {
    match body.view(ctx, at.op).dependence(at.index) {
        Dependence::Undeclared => true,
        Dependence::Constant => false,
        // A differentiable operation has no derivative as an integer; an integer from an unknown operation is passed on.
        Dependence::Differentiable => {
            let (from, to) = (body.value_type(body.operand(at.op, at.index)), body.value_type(result));
            from == to || !ctx.is_discrete(to) || ctx.is_discrete(from)
        }
    }
}
