//! Reductions, and what else has several results.

use pir_ir::Type;

use super::super::attrs::{Attrs, List};
use super::super::{chlo, ops, sdy};
use super::shape::{cut, expand, spread};
use super::{All, Cx, Results};
use crate::pd::Expr;

pub(super) const TABLE: &[(&str, All)] = &[
    (sdy::Mesh::NAME, |_| Ok(Vec::new())),
    (ops::Reduce::NAME, reduce),
    (ops::ReduceWindow::NAME, reduce_window),
    (ops::OptimizationBarrier::NAME, |c| Ok(c.operands.clone())),
    (chlo::TopK::NAME, |c| {
        let k = c.attrs.int("k")?;
        let [values, indices] = c.x(0).topk_with(|o| o.k(k).axis(-1));
        Ok(vec![values, indices.to(Some(c.tensor(1).1))])
    }),
    (ops::Sort::NAME, sort),
];

/// Whether combining with a number changes nothing.
fn is_neutral(combiner: &str, number: Option<f64>) -> bool {
    match combiner {
        ops::Add::NAME | ops::Or::NAME => number == Some(0.0),
        ops::Multiply::NAME | ops::And::NAME => number == Some(1.0),
        ops::Maximum::NAME => number == Some(f64::NEG_INFINITY),
        ops::Minimum::NAME => number == Some(f64::INFINITY),
        _ => false,
    }
}

/// A reduction that `pd` has.
fn known<'c>(x: Expr<'c>, combiner: &str, axes: &[i64]) -> Option<Expr<'c>> {
    let is_bool = x.elem() == Some(Type::I1);
    Some(match (combiner, is_bool) {
        (ops::Or::NAME | ops::Add::NAME | ops::Maximum::NAME, true) => x.any_with(|o| o.axis(axes)),
        (ops::And::NAME | ops::Multiply::NAME | ops::Minimum::NAME, true) => x.all_with(|o| o.axis(axes)),
        (ops::Add::NAME, _) => x.sum_with(|o| o.axis(axes)).to(x.elem()),
        (ops::Multiply::NAME, _) => x.prod_with(|o| o.axis(axes)).to(x.elem()),
        // Of equals each gets the same share of the cotangent.
        (ops::Maximum::NAME, _) => x.amax_with(|o| o.axis(axes)),
        (ops::Minimum::NAME, _) => x.amin_with(|o| o.axis(axes)),
        _ => return None,
    })
}

fn reduce<'c>(c: &Cx<'c>) -> Results<'c> {
    let (inputs, inits) = c.operands.split_at(c.operands.len() / 2);
    let axes = c.attrs.list("dimensions")?;
    let dims = inputs.first().ok_or("an operand is missing")?.dims();
    let inits: Vec<Expr<'c>> = inits
        .iter()
        .map(|&init| expand(init.reshape(vec![1; c.dims().len()]), c.dims()))
        .collect();
    if dims.contains(&0) {
        return Ok(inits);
    }
    if let ([x], Some(combiner)) = (inputs, c.region.combiner())
        && let Some(out) = if axes.is_empty() {
            Some(*x)
        } else {
            known(*x, combiner, &axes)
        }
    {
        let out = out.reshape(c.dims());
        return match is_neutral(combiner, c.splat(1)) {
            true => Ok(vec![out]),
            false => c.region.apply(c, &[out, inits[0]]),
        };
    }
    let mut parts = inputs.to_vec();
    for &axis in &axes {
        parts = halved(c, parts, axis)?;
    }
    let parts: Vec<Expr<'c>> = parts.into_iter().map(|part| part.reshape(c.dims())).collect();
    c.region.apply(c, &[inits, parts].concat())
}

/// Combines the halves along an axis until one element is left. The order of elements is kept, since the region is associative but need
/// not be commutative.
fn halved<'c>(c: &Cx<'c>, mut parts: Vec<Expr<'c>>, axis: i64) -> Results<'c> {
    loop {
        let size = parts
            .first()
            .and_then(|part| part.dims().get(axis as usize).copied())
            .unwrap_or(1);
        if size <= 1 {
            return Ok(parts);
        }
        let pairs = size / 2;
        let every_other = |first: i64| -> Vec<Expr<'c>> {
            let end = first + 2 * pairs - 1;
            parts
                .iter()
                .map(|part| part.strided_slice(&[axis], [first], [end], [2]))
                .collect()
        };
        let mut next = c.region.apply(c, &[every_other(0), every_other(1)].concat())?;
        if size % 2 == 1 {
            let last = parts.iter().map(|part| part.cut(axis as usize, size - 1, size));
            next = next
                .into_iter()
                .zip(last)
                .map(|(x, y)| c.scope.concat_with(&[x, y], |o| o.axis(axis)))
                .collect();
        }
        parts = next;
    }
}

/// How many elements a window may have.
const MAX_WINDOW: i64 = 1024;

fn reduce_window<'c>(c: &Cx<'c>) -> Results<'c> {
    let (inputs, inits) = c.operands.split_at(c.operands.len() / 2);
    let rank = inputs.first().ok_or("an operand is missing")?.rank();
    let list = |name| c.attrs.list_or(name, 1, rank);
    let window = c.attrs.list_of("window_dimensions", rank)?;
    if c.dims().len() != rank {
        return Err("the result must have the rank of the operands".to_owned());
    }
    let (strides, base, dilations) = (
        list("window_strides")?,
        list("base_dilations")?,
        list("window_dilations")?,
    );
    let paddings = c.attrs.list_or("padding", 0, 2 * rank)?;
    let side = |last: usize| -> Vec<i64> { (0..rank).map(|at| paddings[2 * at + last]).collect() };
    let (low, high) = (side(0), side(1));
    if let Some(sums) = running_sum(c, [&window, &strides, &base, &dilations], &low, &high) {
        return Ok(vec![sums]);
    }
    if window.iter().product::<i64>() > MAX_WINDOW {
        return Err(format!("windows of more than {MAX_WINDOW} elements are not supported"));
    }
    let interior: Vec<i64> = base.iter().map(|&n| n - 1).collect();
    let padded: Vec<Expr<'c>> = inputs
        .iter()
        .zip(inits)
        .map(|(&x, &init)| spread(x, init, &low, &high, &interior))
        .collect();
    let mut sum: Vec<Expr<'c>> = inits
        .iter()
        .map(|&init| expand(init.reshape(vec![1; rank]), c.dims()))
        .collect();
    let mut at = vec![0; rank];
    loop {
        let starts: Vec<i64> = (0..rank).map(|d| at[d] * dilations[d]).collect();
        let ends: Vec<i64> = (0..rank)
            .map(|d| starts[d] + (c.dims()[d] - 1) * strides[d] + 1)
            .collect();
        let part = padded.iter().map(|&x| cut(x, &starts, &ends, &strides));
        sum = c.region.apply(c, &sum.into_iter().chain(part).collect::<Vec<_>>())?;
        // The next element of the window, the last dimension running fastest.
        let Some(d) = (0..rank).rev().find(|&d| at[d] + 1 < window[d]) else {
            return Ok(sum);
        };
        at[d] += 1;
        at[d + 1..].fill(0);
    }
}

/// Sums from the front or the back to each element, which JAX writes as a window of all elements.
fn running_sum<'c>(
    c: &Cx<'c>,
    [window, strides, base, dilations]: [&List; 4],
    low: &[i64],
    high: &[i64],
) -> Option<Expr<'c>> {
    let x = c.x(0);
    let is_plain = [strides, base, dilations]
        .iter()
        .all(|list| list.iter().all(|&n| n == 1));
    let is_sum = is_neutral(ops::Add::NAME, c.splat(1)) && c.region.combiner() == Some(ops::Add::NAME);
    let at = window.iter().position(|&n| n != 1).filter(|_| is_plain && is_sum)?;
    let size = x.dims()[at];
    let others_are_plain =
        (0..x.rank()).all(|other| other == at || (window[other], low[other], high[other]) == (1, 0, 0));
    let axis = at as i64;
    match (low[at], high[at]) {
        _ if window[at] != size || !others_are_plain => None,
        (low, 0) if low == size - 1 => Some(x.cumsum_with(|o| o.axis(axis))),
        (0, high) if high == size - 1 => Some(x.flip(&[axis]).cumsum_with(|o| o.axis(axis)).flip(&[axis])),
        _ => None,
    }
}

/// Up to how many elements are compared each with each, where the order is not one that is known.
const MAX_PAIRS: i64 = 2048;

fn sort<'c>(c: &Cx<'c>) -> Results<'c> {
    let rank = c.x(0).rank() as i64;
    let axis = c.attrs.int("dimension").unwrap_or(-1);
    let axis = if axis < 0 { axis + rank } else { axis };
    if !(0..rank).contains(&axis) {
        return Err("`dimension` is out of range".to_owned());
    }
    let direction = |dict| Attrs { dict, ..c.attrs }.word("comparison_direction");
    let order = match c.region.comparison().and_then(direction) {
        Some("LT") => c.x(0).argsort_with(|o| o.axis(axis).stable(true))[1],
        Some("GT") => c.x(0).argsort_with(|o| o.axis(axis).descending(true).stable(true))[1],
        _ => places(c, axis)?.argsort_with(|o| o.axis(axis).stable(true))[1],
    };
    Ok(c.operands
        .iter()
        .map(|x| x.take_along_axis_with(order, |o| o.axis(axis)))
        .collect())
}

/// The place of each element in the order of the region: how many are before it.
fn places<'c>(c: &Cx<'c>, axis: i64) -> Result<Expr<'c>, String> {
    let (dims, at) = (c.x(0).dims(), axis as usize);
    let size = dims[at];
    if size > MAX_PAIRS {
        return Err(format!(
            "orders of more than one key are supported for up to {MAX_PAIRS} elements"
        ));
    }
    let mut pairs = dims.to_vec();
    pairs.insert(at, size);
    let along = |x: Expr<'c>, hidden: usize| {
        let mut shape = pairs.clone();
        shape[hidden] = 1;
        expand(x.reshape(shape), &pairs)
    };
    // Along the first of the two axes is the other element.
    let both = |first: usize, second: usize| -> Vec<Expr<'c>> {
        c.operands
            .iter()
            .flat_map(|&x| [along(x, first), along(x, second)])
            .collect()
    };
    let is_before = c.region.apply(c, &both(at + 1, at))?;
    let is_behind = c.region.apply(c, &both(at, at + 1))?;
    let (&[is_before], &[is_behind]) = (&is_before[..], &is_behind[..]) else {
        return Err("the comparator must give one truth value".to_owned());
    };
    let numbers = c.scope.arange_with(|o| o.start(0).end(size).step(1).dtype(Type::I64));
    let mut shape = vec![1; pairs.len()];
    shape[at] = size;
    let other = numbers.reshape(&shape[..]);
    shape.swap(at, at + 1);
    let comes_first = other.less_than(numbers.reshape(&shape[..]));
    let is_equal = is_before.logical_or(is_behind).logical_not();
    let counts = is_before
        .logical_or(is_equal.logical_and(comes_first))
        .to(Some(Type::I64));
    Ok(counts.sum_with(|o| o.axis([axis])))
}
