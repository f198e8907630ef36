//! The operations of buffers and counters.

use pir_dialects::{pd, stablehlo};
use pir_ir::{Context, Rewriter, Type, ValueId};

/// The type of counters.
pub(super) fn count_type(ctx: &Context) -> Type {
    ctx.tensor(&[], Type::I32)
}

/// The type of conditions.
pub(super) fn flag_type(ctx: &Context) -> Type {
    ctx.tensor(&[], Type::I1)
}

/// The type of a buffer for `rows` values of a type.
pub(super) fn rows_of(ctx: &Context, ty: Type, rows: u64) -> Type {
    let (shape, elem) = ctx.as_tensor(ty).unwrap_or((&[], ty));
    let mut all = vec![i64::try_from(rows).unwrap_or(i64::MAX)];
    all.extend(shape);
    ctx.tensor(&all, elem)
}

/// A constant.
pub(super) fn full(r: &mut Rewriter<'_>, ty: Type, value: f64) -> ValueId {
    let ctx = r.ctx;
    let (shape, elem) = ctx.as_tensor(ty).unwrap_or((&[], ty));
    let value = match ctx.is_continuous(elem) {
        true => ctx.float_attr(value),
        false if elem == Type::I1 => ctx.bool_attr(value != 0.0),
        false => ctx.int_attr(value as i64),
    };
    r.op(pd::Full::NAME)
        .attr("shape", ctx.ints_attr(shape))
        .attr("value", value)
        .attr("dtype", ctx.type_attr(elem))
        .result(ty)
        .value()
}

pub(super) fn reshape(r: &mut Rewriter<'_>, value: ValueId, ty: Type) -> ValueId {
    if r.body.value_type(value) == ty {
        return value;
    }
    let shape = r.ctx.as_tensor(ty).map_or(&[][..], |(shape, _)| shape);
    let shape = r.ctx.ints_attr(shape);
    let value = r.op(pd::Reshape::NAME).operand(value).attr("shape", shape);
    value.result(ty).value()
}

/// An operation on two values.
pub(super) fn two(r: &mut Rewriter<'_>, name: &str, a: ValueId, b: ValueId, ty: Type) -> ValueId {
    r.op(name).operands([a, b]).result(ty).value()
}

/// The start indices of a row: its number, followed by zeros.
fn starts(rank: usize, row: ValueId, zero: ValueId) -> impl Iterator<Item = ValueId> {
    std::iter::once(row).chain(std::iter::repeat_n(zero, rank))
}

/// A buffer with another row.
pub(super) fn write(r: &mut Rewriter<'_>, buffer: ValueId, value: ValueId, at: ValueId, zero: ValueId) -> ValueId {
    let ty = r.body.value_type(value);
    let rank = r.ctx.as_tensor(ty).map_or(0, |(shape, _)| shape.len());
    let row_type = rows_of(r.ctx, ty, 1);
    let row = reshape(r, value, row_type);
    let whole = r.body.value_type(buffer);
    let update = r
        .op(stablehlo::ops::DynamicUpdateSlice::NAME)
        .operand(buffer)
        .operand(row);
    update.operands(starts(rank, at, zero)).result(whole).value()
}

/// A row of a buffer.
pub(super) fn read(r: &mut Rewriter<'_>, buffer: ValueId, ty: Type, at: ValueId, zero: ValueId) -> ValueId {
    let shape = r.ctx.as_tensor(ty).map_or(&[][..], |(shape, _)| shape);
    let row_type = rows_of(r.ctx, ty, 1);
    let sizes: Vec<i64> = std::iter::once(1).chain(shape.iter().copied()).collect();
    let sizes = stablehlo::from_pd::array(r.ctx, &sizes);
    let slice = r
        .op(stablehlo::ops::DynamicSlice::NAME)
        .operand(buffer)
        .operands(starts(shape.len(), at, zero));
    let row = slice.attr("slice_sizes", sizes).result(row_type).value();
    reshape(r, row, ty)
}
