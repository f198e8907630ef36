//! Vectors in buffers and in tensors.

use pir_ir::{AttrData, Rewriter, Type, ValueId};
use smallvec::smallvec;

use super::super::emit::{Emit, Expand, add, all, branch, element, fold, is_buffer, of, read, result, shape, write};
use super::super::map::{Expr, Map};
use crate::control::{Made, Parts};
use crate::mlir::values::{SGE, SLT, compare, dim};
use crate::mlir::{arith, index_constant};

pub(super) const EXPANSIONS: &[(&str, Expand)] = &[
    ("vector.load", load),
    ("vector.store", store),
    ("vector.maskedload", |r, parts| masked_read(r, parts, moved)),
    ("vector.maskedstore", |r, parts| masked_write(r, parts, moved)),
    ("vector.gather", |r, parts| masked_read(r, parts, indexed)),
    ("vector.scatter", |r, parts| masked_write(r, parts, indexed)),
    ("vector.transfer_read", transfer_read),
    ("vector.transfer_write", transfer_write),
];

/// A place in the last dimensions from one on.
fn moved(r: &mut Rewriter<'_>, from: &[ValueId], by: &[ValueId]) -> Emit<Vec<ValueId>> {
    let lead = from
        .len()
        .checked_sub(by.len())
        .ok_or("the vector has more dimensions than what it is in")?;
    let mut place = from.to_vec();
    for (at, &by) in place[lead..].iter_mut().zip(by) {
        *at = add(r, *at, by);
    }
    Ok(place)
}

fn load(r: &mut Rewriter<'_>, parts: &Parts<'_>) -> Made {
    let (&base, at) = parts.operands.split_first().ok_or("expected a buffer")?;
    let made = of(r, result(parts)?, &mut |r, place| {
        let place = moved(r, at, place)?;
        read(r, base, &place)
    })?;
    Ok(smallvec![made])
}

fn store(r: &mut Rewriter<'_>, parts: &Parts<'_>) -> Made {
    let &[value, base, ref at @ ..] = parts.operands else {
        return Err("expected a vector and a buffer".to_owned());
    };
    let extents = shape(r, value);
    fold(r, 0, &extents, &[], &mut |r, place, _| {
        let value = element(r, value, place)?;
        let place = moved(r, at, place)?;
        Ok(Vec::from_iter(write(r, value, base, &place)))
    })?;
    Ok(smallvec![])
}

/// Where an element of a vector is in a buffer: of the operands after the buffer, and of the place in the vector.
type Where = fn(&mut Rewriter<'_>, &[ValueId], &[ValueId]) -> Emit<Vec<ValueId>>;

/// The place of an element whose last index is given by a vector, the last of the operands.
fn indexed(r: &mut Rewriter<'_>, at: &[ValueId], place: &[ValueId]) -> Emit<Vec<ValueId>> {
    let (&indices, at) = at.split_last().ok_or("expected a vector of indices")?;
    let mut index = element(r, indices, place)?;
    if r.body.value_type(index) != Type::INDEX {
        index = r.op(arith::IndexCast::NAME).operand(index).result(Type::INDEX).value();
    }
    moved(r, at, &[index])
}

/// `maskedload` and `gather`: what the mask leaves out is taken from the last operand.
fn masked_read(r: &mut Rewriter<'_>, parts: &Parts<'_>, there: Where) -> Made {
    let [base, at @ .., mask, otherwise] = parts.operands else {
        return Err("expected a buffer, a mask and a vector".to_owned());
    };
    let made = of(r, result(parts)?, &mut |r, place| {
        let (go, otherwise) = (element(r, *mask, place)?, element(r, *otherwise, place)?);
        let ty = r.body.value_type(otherwise);
        let read = &mut |r: &mut Rewriter<'_>| {
            let place = there(r, at, place)?;
            Ok(vec![read(r, *base, &place)?])
        };
        Ok(branch(r, Some(go), &[ty], read, &[otherwise])?[0])
    })?;
    Ok(smallvec![made])
}

/// `maskedstore` and `scatter`: what the mask leaves out is not stored.
fn masked_write(r: &mut Rewriter<'_>, parts: &Parts<'_>, there: Where) -> Made {
    let [base, at @ .., mask, value] = parts.operands else {
        return Err("expected a buffer, a mask and a vector".to_owned());
    };
    let extents = shape(r, *value);
    fold(r, 0, &extents, &[], &mut |r, place, _| {
        let (go, value) = (element(r, *mask, place)?, element(r, *value, place)?);
        let write = &mut |r: &mut Rewriter<'_>| {
            let place = there(r, at, place)?;
            Ok(Vec::from_iter(write(r, value, *base, &place)))
        };
        branch(r, Some(go), &[], write, &[])
    })?;
    Ok(smallvec![])
}

/// What determines the places that a transfer accesses.
struct Transfer<'a> {
    memory: ValueId,
    at: &'a [ValueId],
    mask: Option<ValueId>,
    /// The dimension of the memory for each one of the vector; none where all elements of the vector are the same.
    dims: Vec<Option<usize>>,
    in_bounds: Vec<bool>,
}

impl<'a> Transfer<'a> {
    fn of(
        r: &Rewriter<'_>,
        parts: &Parts<'_>,
        memory: ValueId,
        at: &'a [ValueId],
        mask: Option<ValueId>,
    ) -> Emit<Transfer<'a>> {
        let map = super::super::attr(r, parts, "permutation_map").ok_or("its map is unknown")?;
        let map = Map::of(r.ctx, map)?;
        let dim = |expr: &Expr| match expr {
            Expr::Input(at) => Ok(Some(*at)),
            Expr::Number(0) => Ok(None),
            _ => Err("its map is not of dimensions".to_owned()),
        };
        let dims: Vec<Option<usize>> = map.results.iter().map(dim).collect::<Result<_, _>>()?;
        let is_minor = dims
            .iter()
            .rev()
            .zip((0..at.len()).rev())
            .all(|(&dim, at)| dim == Some(at));
        if mask.is_some() && !is_minor {
            return Err("a mask of permuted dimensions has no meaning here".to_owned());
        }
        let in_bounds = super::super::attr(r, parts, "in_bounds").map(|attr| r.ctx.attr_data(attr));
        let in_bounds = match in_bounds {
            Some(AttrData::Array(list)) => {
                let is_true = |attr: &pir_ir::Attr| *r.ctx.attr_data(*attr) == AttrData::Bool(true);
                list.iter().map(is_true).collect()
            }
            _ => vec![false; dims.len()],
        };
        if map.inputs != at.len() || in_bounds.len() != dims.len() {
            return Err("its map does not fit its operands".to_owned());
        }
        Ok(Transfer {
            memory,
            at,
            mask,
            dims,
            in_bounds,
        })
    }

    /// Where an element of the vector is, and whether it is there.
    fn place(&self, r: &mut Rewriter<'_>, place: &[ValueId]) -> Emit<(Vec<ValueId>, Option<ValueId>)> {
        let (mut there, mut conditions) = (self.at.to_vec(), Vec::new());
        if place.len() != self.dims.len() {
            return Err("its map does not fit the vector".to_owned());
        }
        for ((&at, &axis), &in_bounds) in place.iter().zip(&self.dims).zip(&self.in_bounds) {
            let Some(axis) = axis else { continue };
            there[axis] = add(r, there[axis], at);
            if !in_bounds {
                let extent = dim(r, self.memory, axis);
                let zero = index_constant(r, 0);
                conditions.extend([compare(r, SGE, there[axis], zero), compare(r, SLT, there[axis], extent)]);
            }
        }
        if let Some(mask) = self.mask {
            conditions.push(element(r, mask, place)?);
        }
        Ok((there, all(r, &conditions)))
    }
}

fn transfer_read(r: &mut Rewriter<'_>, parts: &Parts<'_>) -> Made {
    let groups = super::super::segments(r, parts, 4)?;
    let (&[memory], at, &[padding], mask) = (groups[0], groups[1], groups[2], groups[3]) else {
        return Err("expected a source and a padding".to_owned());
    };
    let transfer = Transfer::of(r, parts, memory, at, mask.first().copied())?;
    let ty = r.body.value_type(padding);
    let made = of(r, result(parts)?, &mut |r, place| {
        let (there, is_there) = transfer.place(r, place)?;
        let read = &mut |r: &mut Rewriter<'_>| Ok(vec![read(r, memory, &there)?]);
        Ok(branch(r, is_there, &[ty], read, &[padding])?[0])
    })?;
    Ok(smallvec![made])
}

/// Into a buffer, or into a tensor, which is the result then.
fn transfer_write(r: &mut Rewriter<'_>, parts: &Parts<'_>) -> Made {
    let groups = super::super::segments(r, parts, 4)?;
    let (&[value], &[memory], at, mask) = (groups[0], groups[1], groups[2], groups[3]) else {
        return Err("expected a vector and where it goes".to_owned());
    };
    let transfer = Transfer::of(r, parts, memory, at, mask.first().copied())?;
    let inits = if is_buffer(r, memory) { vec![] } else { vec![memory] };
    let extents = shape(r, value);
    let made = fold(r, 0, &extents, &inits, &mut |r, place, carried| {
        let (there, is_there) = transfer.place(r, place)?;
        let value = element(r, value, place)?;
        let into = carried.first().copied().unwrap_or(memory);
        let types: Vec<Type> = carried.iter().map(|&value| r.body.value_type(value)).collect();
        let write = &mut |r: &mut Rewriter<'_>| Ok(Vec::from_iter(write(r, value, into, &there)));
        branch(r, is_there, &types, write, carried)
    })?;
    Ok(made.into())
}
