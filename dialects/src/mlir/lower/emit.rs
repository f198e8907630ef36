//! What the expansions are made of.

use pir_ir::{DYNAMIC, Rewriter, Type, TypeData, ValueId};

use crate::control::{Made, Parts};
use crate::mlir::parallel::nest;
use crate::mlir::{Count, arith, index_constant, memref, scf, tensor};

pub(super) type Emit<T> = Result<T, String>;

/// What an operation becomes.
pub(super) type Expand = fn(&mut Rewriter<'_>, &Parts<'_>) -> Made;

/// The shape of a tensor or a buffer, and the type of its elements.
pub(super) fn shaped(r: &Rewriter<'_>, ty: Type) -> Option<(Vec<i64>, Type)> {
    r.ctx.as_shaped(ty).map(|(shape, elem)| (shape.to_vec(), elem))
}

/// The shape of a value; none of a number.
pub(super) fn shape(r: &Rewriter<'_>, value: ValueId) -> Vec<i64> {
    shaped(r, r.body.value_type(value)).map_or(Vec::new(), |shaped| shaped.0)
}

pub(super) fn result(parts: &Parts<'_>) -> Emit<Type> {
    parts
        .types
        .first()
        .copied()
        .ok_or_else(|| "expected a result".to_owned())
}

/// The numbers of an attribute: a list of them, or an array.
pub(super) fn ints(r: &Rewriter<'_>, parts: &Parts<'_>, name: &str) -> Emit<Vec<i64>> {
    let found = super::attr(r, parts, name).and_then(|attr| crate::mlir::ints(r.ctx, attr));
    found.ok_or_else(|| format!("its `{name}` are unknown"))
}

/// The numbers of a list of dimensions.
pub(super) fn dimensions(r: &Rewriter<'_>, parts: &Parts<'_>, name: &str) -> Emit<Vec<usize>> {
    let dims = ints(r, parts, name)?;
    let dims: Option<Vec<usize>> = dims.into_iter().map(|dim| usize::try_from(dim).ok()).collect();
    dims.ok_or_else(|| format!("its `{name}` are not dimensions"))
}

/// A position of numbers and operands.
pub(super) fn position(r: &mut Rewriter<'_>, parts: &Parts<'_>, dynamic: &[ValueId]) -> Emit<Vec<ValueId>> {
    let numbers = ints(r, parts, "static_position")?;
    let list = Count::list(numbers, &mut dynamic.iter().copied()).ok_or("its position has too few operands")?;
    Ok(list.into_iter().map(|count| count.value(r)).collect())
}

/// An operation of two numbers of one type.
pub(super) fn binary(r: &mut Rewriter<'_>, name: &str, a: ValueId, b: ValueId) -> ValueId {
    let ty = r.body.value_type(a);
    r.op(name).operands([a, b]).result(ty).value()
}

pub(super) fn add(r: &mut Rewriter<'_>, a: ValueId, b: ValueId) -> ValueId {
    binary(r, arith::Addi::NAME, a, b)
}

/// `a + number`.
pub(super) fn shifted(r: &mut Rewriter<'_>, a: ValueId, number: i64) -> ValueId {
    match number {
        0 => a,
        number => {
            let number = index_constant(r, number.into());
            add(r, a, number)
        }
    }
}

/// Whether all of these hold; `None` for none.
pub(super) fn all(r: &mut Rewriter<'_>, conditions: &[ValueId]) -> Option<ValueId> {
    let (&first, others) = conditions.split_first()?;
    Some(
        others
            .iter()
            .fold(first, |all, &one| binary(r, arith::Andi::NAME, all, one)),
    )
}

/// One of two values, if there is a condition at all.
pub(super) fn select(r: &mut Rewriter<'_>, condition: Option<ValueId>, a: ValueId, b: ValueId) -> ValueId {
    let Some(condition) = condition else { return a };
    let ty = r.body.value_type(a);
    r.op(arith::Select::NAME).operands([condition, a, b]).result(ty).value()
}

/// The element of a tensor at a place; a number is its own element.
pub(super) fn element(r: &mut Rewriter<'_>, value: ValueId, place: &[ValueId]) -> Emit<ValueId> {
    match shaped(r, r.body.value_type(value)) {
        None if place.is_empty() => Ok(value),
        Some((shape, elem)) if shape.len() == place.len() => {
            let op = r.op(tensor::Extract::NAME).operand(value);
            Ok(op.operands(place.iter().copied()).result(elem).value())
        }
        _ => Err("a place has another number of dimensions than what it is in".to_owned()),
    }
}

/// Whether a value is a buffer.
pub(super) fn is_buffer(r: &Rewriter<'_>, value: ValueId) -> bool {
    matches!(r.ctx.type_data(r.body.value_type(value)), TypeData::MemRef { .. })
}

/// The type of the elements of a buffer, of known rank or not.
pub(super) fn buffer_elem(r: &Rewriter<'_>, buffer: ValueId) -> Emit<Type> {
    match r.ctx.type_data(r.body.value_type(buffer)) {
        TypeData::MemRef { elem, .. } => Ok(*elem),
        _ => Err("expected a buffer".to_owned()),
    }
}

/// The element of a buffer or a tensor; a number is its own element.
pub(super) fn read(r: &mut Rewriter<'_>, from: ValueId, place: &[ValueId]) -> Emit<ValueId> {
    if !is_buffer(r, from) {
        return element(r, from, place);
    }
    let elem = shaped(r, r.body.value_type(from))
        .ok_or("the rank of a buffer is unknown")?
        .1;
    let op = r.op(memref::Load::NAME).operand(from).operands(place.iter().copied());
    Ok(op.result(elem).value())
}

/// Changes an element: of a buffer, or of a tensor, which is given with the new element.
pub(super) fn write(r: &mut Rewriter<'_>, value: ValueId, into: ValueId, place: &[ValueId]) -> Option<ValueId> {
    let place = place.iter().copied();
    if is_buffer(r, into) {
        let op = r.op(memref::Store::NAME).operands([value, into]);
        op.operands(place).build();
        return None;
    }
    let ty = r.body.value_type(into);
    let op = r.op(tensor::Insert::NAME).operands([value, into]);
    Some(op.operands(place).result(ty).value())
}

/// A tensor whose elements `make` computes of their places; a number for a type without dimensions.
pub(super) fn of(
    r: &mut Rewriter<'_>,
    ty: Type,
    make: &mut dyn FnMut(&mut Rewriter<'_>, &[ValueId]) -> Emit<ValueId>,
) -> Emit<ValueId> {
    let shape = match r.ctx.type_data(ty) {
        TypeData::Tensor { shape, .. } => shape,
        _ => return make(r, &[]),
    };
    if shape.contains(&DYNAMIC) {
        return Err("its size is not known".to_owned());
    }
    if shape.is_empty() {
        let value = make(r, &[])?;
        return Ok(r.op(tensor::FromElements::NAME).operand(value).result(ty).value());
    }
    let here = r.point();
    let region = r.body.create_region();
    let block = r.body.create_block(region);
    let place: Vec<ValueId> = shape
        .iter()
        .map(|_| r.body.add_block_arg(block, Type::INDEX, None))
        .collect();
    r.at_end(block);
    let value = make(r, &place)?;
    r.op(tensor::Yield::NAME).operand(value).build();
    r.set_point(here);
    Ok(r.op(tensor::Generate::NAME).result(ty).region(region).value())
}

/// What an iteration of a loop gives to the next one, of its place and of what the one before gave.
pub(super) type Iteration<'f> = dyn FnMut(&mut Rewriter<'_>, &[ValueId], &[ValueId]) -> Emit<Vec<ValueId>> + 'f;

/// What loops over all places compute, of which each iteration takes the values of the one before, the last dimension fastest.
pub(super) fn fold(
    r: &mut Rewriter<'_>,
    from: i64,
    extents: &[i64],
    inits: &[ValueId],
    make: &mut Iteration<'_>,
) -> Emit<Vec<ValueId>> {
    let constants = |r: &mut Rewriter<'_>, numbers: &mut dyn Iterator<Item = i64>| -> Vec<ValueId> {
        numbers.map(|number| index_constant(r, number.into())).collect()
    };
    let lower = constants(r, &mut extents.iter().map(|_| from));
    let upper = constants(r, &mut extents.iter().copied());
    let step = constants(r, &mut extents.iter().map(|_| 1));
    let nest = nest(r, [&lower, &upper, &step], inits);
    let values = make(r, &nest.counters.clone(), &nest.carried.clone())?;
    Ok(nest.finish(r, &values)?.into_vec())
}

/// `scf.if`: runs one of two pieces of code, which give values of these types.
pub(super) fn branch(
    r: &mut Rewriter<'_>,
    condition: Option<ValueId>,
    types: &[Type],
    then: &mut dyn FnMut(&mut Rewriter<'_>) -> Emit<Vec<ValueId>>,
    otherwise: &[ValueId],
) -> Emit<Vec<ValueId>> {
    let Some(condition) = condition else { return then(r) };
    let here = r.point();
    let regions = [r.body.create_region(), r.body.create_region()];
    for (at, &region) in regions.iter().enumerate() {
        let block = r.body.create_block(region);
        r.at_end(block);
        let values = if at == 0 { then(r)? } else { otherwise.to_vec() };
        r.op(scf::YIELD).operands(values).build();
    }
    r.set_point(here);
    let op = r.op(scf::IF).operand(condition).results(types.iter().copied());
    let op = op.region(regions[0]).region(regions[1]).build();
    Ok(r.body.results(op).collect())
}
