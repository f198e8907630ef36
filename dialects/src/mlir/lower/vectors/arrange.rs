//! Vectors made of numbers and of the elements of others.

use pir_ir::{Rewriter, ValueId};
use smallvec::smallvec;

use super::super::emit::{
    Emit, Expand, add, all, binary, element, ints, of, position, result, select, shape, shaped, shifted,
};
use crate::control::{Made, Parts};
use crate::mlir::values::{EQ, SGE, SLT, compare};
use crate::mlir::{arith, index_constant, math, tensor};

pub(super) const EXPANSIONS: &[(&str, Expand)] = &[
    ("vector.splat", broadcast),
    ("vector.broadcast", broadcast),
    ("vector.extract", extract),
    ("vector.insert", insert),
    ("vector.extractelement", extract_element),
    ("vector.insertelement", insert_element),
    ("vector.from_elements", from_elements),
    ("vector.extract_strided_slice", extract_slice),
    ("vector.insert_strided_slice", insert_slice),
    ("vector.shape_cast", shape_cast),
    ("vector.transpose", transpose),
    ("vector.shuffle", shuffle),
    ("vector.interleave", interleave),
    ("vector.deinterleave", deinterleave),
    ("vector.step", step),
    ("vector.create_mask", create_mask),
    ("vector.constant_mask", constant_mask),
    ("vector.fma", |r, parts| {
        let ty = result(parts)?;
        let op = r.op(math::Fma::NAME).operands(parts.operands.iter().copied());
        Ok(smallvec![op.result(ty).value()])
    }),
];

/// The dimensions of the operand are the last ones; those of extent one are repeated.
fn broadcast(r: &mut Rewriter<'_>, parts: &Parts<'_>) -> Made {
    let &[source] = parts.operands else {
        return Err("expected a value".to_owned());
    };
    let extents = shape(r, source);
    let made = of(r, result(parts)?, &mut |r, place| {
        let lead = place
            .len()
            .checked_sub(extents.len())
            .ok_or("it has fewer dimensions than its operand")?;
        let place: Vec<ValueId> = place[lead..]
            .iter()
            .zip(&extents)
            .map(|(&at, &extent)| if extent == 1 { index_constant(r, 0) } else { at })
            .collect();
        element(r, source, &place)
    })?;
    Ok(smallvec![made])
}

fn extract(r: &mut Rewriter<'_>, parts: &Parts<'_>) -> Made {
    let (&source, dynamic) = parts.operands.split_first().ok_or("expected a vector")?;
    let at = position(r, parts, dynamic)?;
    let made = of(r, result(parts)?, &mut |r, place| {
        element(r, source, &[&at, place].concat())
    })?;
    Ok(smallvec![made])
}

fn insert(r: &mut Rewriter<'_>, parts: &Parts<'_>) -> Made {
    let &[source, into, ref dynamic @ ..] = parts.operands else {
        return Err("expected a value and a vector".to_owned());
    };
    let at = position(r, parts, dynamic)?;
    put(r, parts, source, into, &at)
}

/// The vector with another one, or a number, at a place.
fn put(r: &mut Rewriter<'_>, parts: &Parts<'_>, source: ValueId, into: ValueId, at: &[ValueId]) -> Made {
    let made = of(r, result(parts)?, &mut |r, place| {
        let behind = place.get(at.len()..).ok_or("its position has too many dimensions")?;
        let mut conditions = Vec::new();
        for (&here, &wanted) in place.iter().zip(at) {
            conditions.push(compare(r, EQ, here, wanted));
        }
        let inside = all(r, &conditions);
        let (new, old) = (element(r, source, behind)?, element(r, into, place)?);
        Ok(select(r, inside, new, old))
    })?;
    Ok(smallvec![made])
}

/// The place that is given by an operand of any integer type; none without one.
fn element_place(r: &mut Rewriter<'_>, at: &[ValueId]) -> Vec<ValueId> {
    at.iter()
        .map(|&at| match r.body.value_type(at) {
            pir_ir::Type::INDEX => at,
            _ => r
                .op(arith::IndexCastui::NAME)
                .operand(at)
                .result(pir_ir::Type::INDEX)
                .value(),
        })
        .collect()
}

fn extract_element(r: &mut Rewriter<'_>, parts: &Parts<'_>) -> Made {
    let (&source, at) = parts.operands.split_first().ok_or("expected a vector")?;
    let at = element_place(r, at);
    Ok(smallvec![element(r, source, &at)?])
}

fn insert_element(r: &mut Rewriter<'_>, parts: &Parts<'_>) -> Made {
    let &[source, into, ref at @ ..] = parts.operands else {
        return Err("expected a number and a vector".to_owned());
    };
    let at = element_place(r, at);
    put(r, parts, source, into, &at)
}

fn from_elements(r: &mut Rewriter<'_>, parts: &Parts<'_>) -> Made {
    let op = r
        .op(tensor::FromElements::NAME)
        .operands(parts.operands.iter().copied());
    Ok(smallvec![op.result(result(parts)?).value()])
}

/// Refuses strides other than one, of which MLIR has none.
fn check_strides(r: &Rewriter<'_>, parts: &Parts<'_>) -> Emit<()> {
    match ints(r, parts, "strides")?.iter().all(|&stride| stride == 1) {
        true => Ok(()),
        false => Err("its strides are not one".to_owned()),
    }
}

fn extract_slice(r: &mut Rewriter<'_>, parts: &Parts<'_>) -> Made {
    let &[source] = parts.operands else {
        return Err("expected a vector".to_owned());
    };
    check_strides(r, parts)?;
    let offsets = ints(r, parts, "offsets")?;
    let made = of(r, result(parts)?, &mut |r, place| {
        let offsets = offsets.iter().copied().chain(std::iter::repeat(0));
        let place: Vec<ValueId> = place
            .iter()
            .zip(offsets)
            .map(|(&at, offset)| shifted(r, at, offset))
            .collect();
        element(r, source, &place)
    })?;
    Ok(smallvec![made])
}

fn insert_slice(r: &mut Rewriter<'_>, parts: &Parts<'_>) -> Made {
    let &[source, into] = parts.operands else {
        return Err("expected two vectors".to_owned());
    };
    check_strides(r, parts)?;
    let (offsets, extents) = (ints(r, parts, "offsets")?, shape(r, source));
    let lead = offsets
        .len()
        .checked_sub(extents.len())
        .ok_or("it has too few offsets")?;
    let made = of(r, result(parts)?, &mut |r, place| {
        let (mut conditions, mut inner) = (Vec::new(), Vec::new());
        for (at, (&here, &offset)) in place.iter().zip(&offsets).enumerate() {
            let first = index_constant(r, offset.into());
            let Some(&extent) = at.checked_sub(lead).and_then(|at| extents.get(at)) else {
                conditions.push(compare(r, EQ, here, first));
                continue;
            };
            let last = index_constant(r, i128::from(offset) + i128::from(extent));
            conditions.extend([compare(r, SGE, here, first), compare(r, SLT, here, last)]);
            inner.push(shifted(r, here, -offset));
        }
        // Elsewhere, any place inside of the part will do.
        let inside = all(r, &conditions);
        let zero = index_constant(r, 0);
        let inner: Vec<ValueId> = inner.into_iter().map(|at| select(r, inside, at, zero)).collect();
        let (new, old) = (element(r, source, &inner)?, element(r, into, place)?);
        Ok(select(r, inside, new, old))
    })?;
    Ok(smallvec![made])
}

/// The same elements in the same order, in another shape.
fn shape_cast(r: &mut Rewriter<'_>, parts: &Parts<'_>) -> Made {
    let &[source] = parts.operands else {
        return Err("expected a vector".to_owned());
    };
    let (ty, from) = (result(parts)?, shape(r, source));
    let to = shaped(r, ty).map_or(Vec::new(), |shaped| shaped.0);
    let made = of(r, ty, &mut |r, place| {
        let mut number = index_constant(r, 0);
        for (&at, &extent) in place.iter().zip(&to) {
            let extent = index_constant(r, extent.into());
            let before = binary(r, arith::Muli::NAME, number, extent);
            number = add(r, before, at);
        }
        let mut inner = Vec::new();
        for &extent in from.iter().rev() {
            let extent = index_constant(r, extent.into());
            inner.push(binary(r, arith::Remui::NAME, number, extent));
            number = binary(r, arith::Divui::NAME, number, extent);
        }
        inner.reverse();
        element(r, source, &inner)
    })?;
    Ok(smallvec![made])
}

/// Dimension `i` of the result is `permutation[i]` of the operand.
fn transpose(r: &mut Rewriter<'_>, parts: &Parts<'_>) -> Made {
    let &[source] = parts.operands else {
        return Err("expected a vector".to_owned());
    };
    let permutation = ints(r, parts, "permutation")?;
    let made = of(r, result(parts)?, &mut |r, place| {
        let mut inner = place.to_vec();
        for (&at, &dim) in place.iter().zip(&permutation) {
            let dim = usize::try_from(dim).ok().and_then(|dim| inner.get_mut(dim));
            *dim.ok_or("its `permutation` is not a permutation")? = at;
        }
        element(r, source, &inner)
    })?;
    Ok(smallvec![made])
}

/// Numbers of elements of two vectors of one dimension, one after the other.
fn shuffle(r: &mut Rewriter<'_>, parts: &Parts<'_>) -> Made {
    let &[first, second] = parts.operands else {
        return Err("expected two vectors".to_owned());
    };
    let &[extent] = &shape(r, first)[..] else {
        return Err("vectors of several dimensions are not shuffled".to_owned());
    };
    let mut elements = Vec::new();
    for number in ints(r, parts, "mask")? {
        let (from, at) = if number < extent {
            (first, number)
        } else {
            (second, number - extent)
        };
        // An unused element may have any value.
        let at = index_constant(r, at.max(0).into());
        elements.push(element(r, from, &[at])?);
    }
    let op = r.op(tensor::FromElements::NAME).operands(elements);
    Ok(smallvec![op.result(result(parts)?).value()])
}

/// The elements of two vectors alternately.
fn interleave(r: &mut Rewriter<'_>, parts: &Parts<'_>) -> Made {
    let &[first, second] = parts.operands else {
        return Err("expected two vectors".to_owned());
    };
    let made = of(r, result(parts)?, &mut |r, place| {
        let (&last, lead) = place.split_last().ok_or("it has no dimensions")?;
        let two = index_constant(r, 2);
        let half = binary(r, arith::Divui::NAME, last, two);
        let which = binary(r, arith::Remui::NAME, last, two);
        let zero = index_constant(r, 0);
        let is_even = compare(r, EQ, which, zero);
        let place = [lead, &[half]].concat();
        let (even, odd) = (element(r, first, &place)?, element(r, second, &place)?);
        Ok(select(r, Some(is_even), even, odd))
    })?;
    Ok(smallvec![made])
}

/// Every other element, and those between.
fn deinterleave(r: &mut Rewriter<'_>, parts: &Parts<'_>) -> Made {
    let &[source] = parts.operands else {
        return Err("expected a vector".to_owned());
    };
    let mut results = smallvec![];
    for (at, &ty) in parts.types.iter().enumerate() {
        results.push(of(r, ty, &mut |r, place| {
            let (&last, lead) = place.split_last().ok_or("it has no dimensions")?;
            let two = index_constant(r, 2);
            let twice = binary(r, arith::Muli::NAME, last, two);
            let place = [lead, &[shifted(r, twice, at as i64)]].concat();
            element(r, source, &place)
        })?);
    }
    Ok(results)
}

/// 0, 1, 2, …
fn step(r: &mut Rewriter<'_>, parts: &Parts<'_>) -> Made {
    let made = of(r, result(parts)?, &mut |_, place| {
        place.first().copied().ok_or_else(|| "it has no dimension".to_owned())
    })?;
    Ok(smallvec![made])
}

fn mask(r: &mut Rewriter<'_>, parts: &Parts<'_>, limits: &[ValueId]) -> Made {
    let made = of(r, result(parts)?, &mut |r, place| {
        let conditions: Vec<ValueId> = place
            .iter()
            .zip(limits)
            .map(|(&at, &limit)| compare(r, SLT, at, limit))
            .collect();
        all(r, &conditions).ok_or_else(|| "it has no dimensions".to_owned())
    })?;
    Ok(smallvec![made])
}

fn create_mask(r: &mut Rewriter<'_>, parts: &Parts<'_>) -> Made {
    mask(r, parts, parts.operands)
}

fn constant_mask(r: &mut Rewriter<'_>, parts: &Parts<'_>) -> Made {
    let limits = ints(r, parts, "mask_dim_sizes")?;
    let limits: Vec<ValueId> = limits.iter().map(|&limit| index_constant(r, limit.into())).collect();
    mask(r, parts, &limits)
}
