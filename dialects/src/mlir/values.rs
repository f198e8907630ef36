//! Constants, and the sizes of tensors and buffers.

use pir_ir::{Attr, AttrData, Context, DYNAMIC, Rewriter, Type, TypeData, ValueId};

use super::fold;
use super::ops::{arith, memref, tensor};

/// The attribute of an `arith.constant`, if there are constants of the type.
pub fn number(ctx: &Context, value: f64, ty: Type) -> Option<Attr> {
    match ctx.is_float(ty) {
        true => fold::typed(ctx, ctx.float_attr(value), ty),
        false => fold::typed(ctx, ctx.int_attr(value as i64), ty),
    }
}

/// A constant of type index.
pub fn index_constant(r: &mut Rewriter<'_>, value: i128) -> ValueId {
    let ty = Type::INDEX;
    let value = r.ctx.attr(AttrData::Int { value, ty });
    r.op(arith::Constant::NAME).attr("value", value).result(ty).value()
}

/// The extents of a tensor or a buffer that its type does not say, in their order; none of what has no known rank.
pub fn sizes(r: &mut Rewriter<'_>, value: ValueId) -> Vec<ValueId> {
    let ty = r.body.value_type(value);
    let shape = r.ctx.as_shaped(ty).map_or(&[][..], |(shape, _)| shape);
    let dim = match r.ctx.type_data(ty) {
        TypeData::MemRef { .. } => memref::Dim::NAME,
        _ => tensor::Dim::NAME,
    };
    let mut sizes = Vec::new();
    for (at, _) in shape.iter().enumerate().filter(|(_, extent)| **extent == DYNAMIC) {
        let at = index_constant(r, at as i128);
        sizes.push(r.op(dim).operands([value, at]).result(Type::INDEX).value());
    }
    sizes
}
