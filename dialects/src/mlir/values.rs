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

/// The dynamic extents of a tensor or buffer, in order; none if its rank is unknown.
pub fn sizes(r: &mut Rewriter<'_>, value: ValueId) -> Vec<ValueId> {
    let shape = r.ctx.as_shaped(r.body.value_type(value));
    let shape = shape.map_or(&[][..], |(shape, _)| shape);
    let dynamic = shape.iter().enumerate().filter(|(_, extent)| **extent == DYNAMIC);
    dynamic.map(|(at, _)| dim(r, value, at)).collect()
}

/// The extent of a tensor or buffer in one dimension, asked of the value itself.
pub(super) fn dim(r: &mut Rewriter<'_>, value: ValueId, at: usize) -> ValueId {
    let name = match r.ctx.type_data(r.body.value_type(value)) {
        TypeData::MemRef { .. } => memref::Dim::NAME,
        _ => tensor::Dim::NAME,
    };
    let at = index_constant(r, at as i128);
    r.op(name).operands([value, at]).result(Type::INDEX).value()
}

/// The numbers of relations in `arith.cmpi`.
pub(super) const EQ: i64 = 0;
pub(super) const SLT: i64 = 2;
pub(super) const SGE: i64 = 5;

/// Whether two integers are in a relation.
pub(super) fn compare(r: &mut Rewriter<'_>, predicate: i64, left: ValueId, right: ValueId) -> ValueId {
    let predicate = r.ctx.int_attr(predicate);
    let op = r.op(arith::Cmpi::NAME).operands([left, right]);
    op.attr("predicate", predicate).result(Type::I1).value()
}

/// The numbers of an attribute, a list or an array.
pub fn ints(ctx: &Context, attr: Attr) -> Option<Vec<i64>> {
    if let Some(list) = ctx.attr_ints(attr) {
        return Some(list.to_vec());
    }
    Some(ctx.attr_elements(attr)?.ints()?.collect())
}

/// Marks an operand in a list of numbers: in `static_offsets`, for example.
pub const OPERAND: i64 = i64::MIN;

/// A number, or a value of the program.
#[derive(Clone, Copy, Debug)]
pub enum Count {
    /// A number that is known.
    Number(i64),
    /// A value that is known at run time.
    Value(ValueId),
}

impl Count {
    /// The numbers of a list, and in their order the operands that it marks by [`OPERAND`]; nothing if there are too few.
    pub fn list(numbers: Vec<i64>, operands: &mut dyn Iterator<Item = ValueId>) -> Option<Vec<Count>> {
        let count = |number| match number {
            OPERAND => operands.next().map(Count::Value),
            number => Some(Count::Number(number)),
        };
        numbers.into_iter().map(count).collect()
    }

    /// The value, a constant of type index for a number.
    pub fn value(self, r: &mut Rewriter<'_>) -> ValueId {
        match self {
            Count::Number(number) => index_constant(r, number.into()),
            Count::Value(value) => value,
        }
    }
}
