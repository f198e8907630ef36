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
    (ops::SelectAndScatter::NAME, select_and_scatter),
    (ops::OptimizationBarrier::NAME, |c| Ok(c.operands.clone())),
    (chlo::TopK::NAME, |c| {
        let k = c.attrs.int("k")?;
        let [values, indices] = c.x(0).topk_with(|o| o.k(k).axis(-1));
        Ok(vec![values, indices.to(Some(c.tensor(1).1))])
    }),
    (ops::Sort::NAME, sort),
    (ops::BatchNormInference::NAME, super::norm::inference),
    (ops::BatchNormTraining::NAME, super::norm::training),
    (ops::BatchNormGrad::NAME, super::norm::grad),
    (ops::CustomCall::NAME, super::linalg::custom_call),
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
        // Their product has no derivative but that of its factors.
        (ops::Multiply::NAME, _) if x.is_complex() => return None,
        (ops::Multiply::NAME, _) => x.prod_with(|o| o.axis(axes)).to(x.elem()),
        // Equal elements share the cotangent.
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
    if let Some(running) = running(c, [&window, &strides, &base, &dilations], &low, &high)? {
        return Ok(vec![running]);
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
    for at in all_places(&window) {
        let starts: Vec<i64> = at.iter().zip(&dilations).map(|(at, by)| at * by).collect();
        let part: Vec<Expr<'c>> = padded
            .iter()
            .map(|&x| window_part(x, &starts, c.dims(), &strides))
            .collect();
        sum = match (c.region.combiner(), &sum[..], &part[..]) {
            // The cotangent of an extremum goes to the first of equals, as in JAX.
            (Some(ops::Maximum::NAME), &[best], &[new]) if c.is_float() => {
                vec![first(best.greater_equal(new), best, new)]
            }
            (Some(ops::Minimum::NAME), &[best], &[new]) if c.is_float() => {
                vec![first(best.less_equal(new), best, new)]
            }
            _ => c.region.apply(c, &[sum, part].concat())?,
        };
    }
    Ok(sum)
}

/// The earlier of two elements if it is as good or not a number, else the later.
fn first<'c>(is_as_good: Expr<'c>, best: Expr<'c>, new: Expr<'c>) -> Expr<'c> {
    is_as_good.logical_or(best.isnan()).select(best, new)
}

/// A running reduction from the front or the back, which JAX writes as a window of all elements.
fn running<'c>(
    c: &Cx<'c>,
    [window, strides, base, dilations]: [&List; 4],
    low: &[i64],
    high: &[i64],
) -> Result<Option<Expr<'c>>, String> {
    let is_plain = [strides, base, dilations]
        .iter()
        .all(|list| list.iter().all(|&n| n == 1));
    let (x, combiner) = (c.x(0), c.region.combiner().unwrap_or_default());
    let at = window.iter().position(|&n| n != 1).filter(|_| is_plain);
    let Some(at) = at.filter(|_| c.operands.len() == 2 && is_neutral(combiner, c.splat(1))) else {
        return Ok(None);
    };
    let size = x.dims()[at];
    let others_are_plain =
        (0..x.rank()).all(|other| other == at || (window[other], low[other], high[other]) == (1, 0, 0));
    let from_back = match (low[at], high[at]) {
        _ if window[at] != size || !others_are_plain => return Ok(None),
        (low, 0) if low == size - 1 => false,
        (0, high) if high == size - 1 => true,
        _ => return Ok(None),
    };
    let axis = at as i64;
    let turned = |x: Expr<'c>| if from_back { x.flip(&[axis]) } else { x };
    let out = match combiner {
        ops::Add::NAME if !c.is_bool() && !c.is_complex() => turned(x).cumsum_with(|o| o.axis(axis)),
        _ => scanned(c, turned(x), at)?,
    };
    Ok(Some(turned(out)))
}

/// All prefixes along an axis: those of pairs are every other one, and what is between follows from them. The order is that of
/// `jax.lax.associative_scan`, and so is the share of each of equal elements of a cotangent.
fn scanned<'c>(c: &Cx<'c>, x: Expr<'c>, at: usize) -> Result<Expr<'c>, String> {
    let axis = at as i64;
    let mut levels = vec![x];
    while levels.last().is_some_and(|x| x.dims()[at] > 1) {
        let x = levels[levels.len() - 1];
        let end = x.dims()[at] / 2 * 2;
        let every_other = |first: i64| x.strided_slice(&[axis], [first], [end - 1 + first], [2]);
        levels.push(combined(c, every_other(0), every_other(1))?);
    }
    let mut out = levels.pop().ok_or("an operand is missing")?;
    while let Some(x) = levels.pop() {
        let size = x.dims()[at];
        let mut even = x.cut(at, 0, 1);
        if size > 2 {
            let before = out.cut(at, 0, (size - 1) / 2);
            let rest = combined(c, before, x.strided_slice(&[axis], [2], [size], [2]))?;
            even = c.scope.concat_with(&[even, rest], |o| o.axis(axis));
        }
        let pairs = size / 2;
        let mut shape = x.dims().to_vec();
        shape[at] = pairs;
        let joined = shape
            .iter()
            .enumerate()
            .map(|(d, &n)| if d == at { 2 * n } else { n })
            .collect::<Vec<_>>();
        shape.insert(at + 1, 1);
        let both = [even.cut(at, 0, pairs).reshape(&shape[..]), out.reshape(&shape[..])];
        let last = (size % 2 == 1).then(|| even.cut(at, pairs, pairs + 1));
        out = c.scope.concat_with(&both, |o| o.axis(axis + 1)).reshape(joined);
        if let Some(last) = last {
            out = c.scope.concat_with(&[out, last], |o| o.axis(axis));
        }
    }
    Ok(out)
}

fn combined<'c>(c: &Cx<'c>, x: Expr<'c>, y: Expr<'c>) -> Result<Expr<'c>, String> {
    c.region
        .apply(c, &[x, y])?
        .first()
        .copied()
        .ok_or_else(|| "the region has no result".to_owned())
}

/// The source of each window is added where the element is that the first region chooses; the first of equals, if it compares by GE.
fn select_and_scatter<'c>(c: &Cx<'c>) -> Results<'c> {
    let (x, source, init) = (c.x(0), c.x(1), c.x(2));
    let (rank, windows) = (x.rank(), source.dims());
    let list = |name| c.attrs.list_or(name, 1, rank);
    let (window, strides) = (list("window_dimensions")?, list("window_strides")?);
    let paddings = c.attrs.list_or("padding", 0, 2 * rank)?;
    if windows.len() != rank || window.iter().product::<i64>() > MAX_WINDOW {
        return Err(format!(
            "the source must have the rank of the operand, and windows at most {MAX_WINDOW} elements"
        ));
    }
    if c.second.combiner() != Some(ops::Add::NAME) {
        return Err("only a second region that adds is supported".to_owned());
    }
    let low: Vec<i64> = (0..rank).map(|at| paddings[2 * at]).collect();
    let count: i64 = windows.iter().product();
    // Of each window, in which dimension it has how many elements before it.
    let place = |number: i64, at: &[i64]| -> bool {
        let mut rest = number;
        (0..rank).rev().all(|d| {
            let own = rest % windows[d] * strides[d] + at[d] - low[d];
            rest /= windows[d];
            (0..x.dims()[d]).contains(&own)
        })
    };
    let inner: Vec<i64> = strides.iter().map(|&n| n - 1).collect();
    let reach = |d: usize| (windows[d] - 1) * strides[d] + window[d];
    let high: Vec<i64> = (0..rank).map(|d| reach(d) - low[d] - x.dims()[d]).collect();
    let zero = c.scope.full_with(&[], 0, |o| o.dtype(c.elem()));
    let padded = spread(x, zero, &low, &high, &vec![0; rank]);
    let places = all_places(&window);
    let truth = |list: Vec<i64>| {
        c.list(&list, Type::I64)
            .greater_than(c.list(&[0], Type::I64))
            .reshape(windows)
    };
    let mut seen = vec![false; count as usize];
    let (mut best, mut chosen) = (
        zero.expand(windows),
        c.scope.full_with(windows, -1, |o| o.dtype(Type::I64)),
    );
    for (number, at) in places.iter().enumerate() {
        let part = window_part(padded, at, windows, &strides);
        let inside: Vec<bool> = (0..count).map(|number| place(number, at)).collect();
        let is_first = inside
            .iter()
            .zip(&seen)
            .map(|(&inside, &seen)| i64::from(inside && !seen));
        let is_later = inside
            .iter()
            .zip(&seen)
            .map(|(&inside, &seen)| i64::from(inside && seen));
        let (is_first, is_later) = (truth(is_first.collect()), truth(is_later.collect()));
        let stays = combined(c, best, part)?;
        let takes = is_first.logical_or(is_later.logical_and(stays.logical_not()));
        best = takes.select(part, best);
        let number = c.scope.full_with(windows, number as i64, |o| o.dtype(Type::I64));
        chosen = takes.select(number, chosen);
        seen.iter_mut().zip(inside).for_each(|(seen, inside)| *seen |= inside);
    }
    let mut sum = expand(init.reshape(vec![1; rank]), padded.dims());
    for (number, at) in places.iter().enumerate() {
        let number = c.scope.full_with(windows, number as i64, |o| o.dtype(Type::I64));
        let part = chosen.equal(number).select(source, source.zeros());
        let behind: Vec<i64> = (0..rank).map(|d| window[d] - 1 - at[d]).collect();
        sum = sum + spread(part, zero, at, &behind, &inner);
    }
    let ends: Vec<i64> = (0..rank).map(|d| low[d] + x.dims()[d]).collect();
    let back: Vec<i64> = (0..rank).map(|d| (ends[d] - sum.dims()[d]).max(0)).collect();
    let sum = spread(sum, init, &vec![0; rank], &back, &vec![0; rank]);
    Ok(vec![cut(sum, &low, &ends, &vec![1; rank])])
}

/// The indices of a window, the last dimension running fastest.
fn all_places(window: &[i64]) -> Vec<Vec<i64>> {
    let count: i64 = window.iter().product();
    let of = |mut number: i64| {
        let mut at = vec![0; window.len()];
        for (d, &size) in window.iter().enumerate().rev() {
            (at[d], number) = (number % size, number / size);
        }
        at
    };
    (0..count).map(of).collect()
}

/// The elements at one position of all windows.
fn window_part<'c>(x: Expr<'c>, at: &[i64], windows: &[i64], strides: &[i64]) -> Expr<'c> {
    let ends: Vec<i64> = (0..at.len())
        .map(|d| at[d] + (windows[d] - 1) * strides[d] + 1)
        .collect();
    cut(x, at, &ends, strides)
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
            "comparators of more than one key are supported for up to {MAX_PAIRS} elements"
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
        return Err("the comparator must return one boolean".to_owned());
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
