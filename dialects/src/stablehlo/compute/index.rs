//! Operations that read and write windows at computed indices.

use pir_ir::Type;

use super::super::attrs::List;
use super::super::dims::Gather;
use super::super::ops;
use super::shape::{expand, ints, inverse, permuted};
use super::{Cx, One};
use crate::pd::Expr;

pub(super) const TABLE: &[(&str, One)] = &[
    (ops::DynamicSlice::NAME, |c| {
        let (mut x, sizes) = (c.x(0), c.attrs.list("slice_sizes")?);
        for (axis, &size) in sizes.iter().enumerate() {
            let dim = c.x(0).dims()[axis];
            if size != dim {
                let rows = c.scope.arange_with(|o| o.start(0).end(size).step(1).dtype(Type::I64));
                let start = clamped(c.x(1 + axis), dim - size).reshape([1]);
                x = x.index_select_with(rows + start, |o| o.axis(axis as i64));
            }
        }
        Ok(x)
    }),
    (ops::DynamicUpdateSlice::NAME, dynamic_update_slice),
    (ops::Gather::NAME, |c| {
        let (x, starts) = (c.x(0), c.x(1));
        let gather = Gather::read(c.attrs, x.dims(), starts.dims())?;
        let (flat, _) = flat_indices(c, &gather, x.dims(), starts);
        let rows = x.reshape([-1]).index_select_with(flat.reshape([-1]), |o| o.axis(0));
        Ok(windows_in_place(rows, &gather, starts.dims(), false))
    }),
    (ops::Scatter::NAME, scatter),
];

fn dynamic_update_slice<'c>(c: &Cx<'c>) -> Result<Expr<'c>, String> {
    let (x, update) = (c.x(0), c.x(1));
    let sizes = update.dims();
    let axes: List = (0..sizes.len() as i64)
        .filter(|&at| sizes[at as usize] != x.dims()[at as usize])
        .collect();
    if axes.is_empty() {
        return Ok(update);
    }
    let starts: Vec<Expr<'c>> = axes
        .iter()
        .map(|&axis| clamped(c.x(2 + axis as usize), x.dims()[axis as usize] - sizes[axis as usize]).reshape([1]))
        .collect();
    let starts = match starts[..] {
        [one] => one,
        _ => c.scope.concat_with(&starts, |o| o.axis(0)),
    };
    let windows: Vec<i64> = axes.iter().map(|&axis| sizes[axis as usize]).collect();
    let ends = starts + ints(c, &windows);
    Ok(x.set_value_with_tensor(update, starts, ends, vec![1; axes.len()], &axes))
}

/// A start index as an i64, moved so that the window lies inside.
fn clamped<'c>(start: Expr<'c>, last: i64) -> Expr<'c> {
    let start = start.to(Some(Type::I64));
    start.maximum(start.filled(0.0)).minimum(start.filled(last as f64))
}

/// For each window and each of its elements the place in the flat operand, and whether the window lies inside.
fn flat_indices<'c>(c: &Cx<'c>, gather: &Gather, dims: &[i64], starts: Expr<'c>) -> (Expr<'c>, Expr<'c>) {
    let batch = gather.batch(starts.dims());
    let count: i64 = batch.iter().product();
    // One row for each window, with the components of its index.
    let vector = gather.vector as usize;
    let starts = match vector < starts.rank() {
        true => {
            let others = (0..starts.rank() as i64).filter(|&at| at as usize != vector);
            let order: Vec<i64> = others.chain([vector as i64]).collect();
            permuted(starts, &order).reshape([count, gather.map.len() as i64])
        }
        false => starts.reshape([count, 1]),
    };
    let starts = starts.to(Some(Type::I64));
    let stride = |at: i64| dims[at as usize + 1..].iter().product::<i64>();
    let mut flat = c.scope.full_with(&[count, 1], 0, |o| o.dtype(Type::I64));
    let mut inside = c
        .scope
        .full_with(&[count, 1], 1, |o| o.dtype(Type::I64))
        .greater_than(flat);
    for (component, &at) in gather.map.iter().enumerate() {
        let last = dims[at as usize] - gather.slice_sizes[at as usize];
        let start = starts.cut(1, component as i64, component as i64 + 1);
        let moved = clamped(start, last);
        inside = inside.logical_and(moved.equal(start));
        flat = flat + moved * c.scope.full_with(&[1, 1], stride(at), |o| o.dtype(Type::I64));
    }
    // The dimensions that operand and indices have in common are those of the window itself.
    for (&at, &of) in gather.operand_batch.iter().zip(&gather.indices_batch) {
        let at_batch = (0..of).filter(|&other| other != gather.vector).count();
        let inner: i64 = batch[at_batch + 1..].iter().product();
        let numbers: Vec<i64> = (0..count)
            .map(|row| row / inner % batch[at_batch] * stride(at))
            .collect();
        flat = flat + ints(c, &numbers).reshape([count, 1]);
    }
    let window = gather.window();
    let sizes: List = window.iter().map(|&at| gather.slice_sizes[at as usize]).collect();
    let elements: i64 = sizes.iter().product();
    let offset = |mut element: i64| -> i64 {
        let mut place = 0;
        for (&at, &size) in window.iter().zip(&sizes).rev() {
            place += element % size * stride(at);
            element /= size;
        }
        place
    };
    let offsets: Vec<i64> = (0..elements).map(offset).collect();
    (flat + ints(c, &offsets).reshape([1, elements]), inside)
}

/// Puts the dimensions of windows among those of the indices: rows of window elements to the result, or back.
fn windows_in_place<'c>(x: Expr<'c>, gather: &Gather, starts: &[i64], back: bool) -> Expr<'c> {
    let batch = gather.batch(starts);
    let rank = (batch.len() + gather.offset.len()) as i64;
    // Where each dimension of the result is among those of the indices and then those of the window.
    let (mut next_batch, mut next_window) = (0..batch.len() as i64, batch.len() as i64..rank);
    let order: Vec<i64> = (0..rank)
        .map(|at| match gather.offset.contains(&at) {
            true => next_window.next().unwrap_or_default(),
            false => next_batch.next().unwrap_or_default(),
        })
        .collect();
    if back {
        return permuted(x, &inverse(&order));
    }
    let sizes = gather.window().into_iter().map(|at| gather.slice_sizes[at as usize]);
    let shape: Vec<i64> = batch.iter().copied().chain(sizes).collect();
    permuted(x.reshape(shape), &order)
}

/// How many windows are combined one after the other.
const MAX_WINDOWS: i64 = 64;

/// Combines windows with the elements at their positions by any region, one after the other in XLA's order, since each
/// may change what the next one reads.
fn one_by_one<'c>(
    c: &Cx<'c>,
    mut all: Expr<'c>,
    windows: i64,
    flat: Expr<'c>,
    updates: Expr<'c>,
) -> Result<Expr<'c>, String> {
    if windows > MAX_WINDOWS {
        return Err(format!(
            "a region that is no sum, product, extremum or update is supported for unique indices, and for up to {MAX_WINDOWS} others"
        ));
    }
    let size = flat.dims().first().map_or(0, |count| count / windows.max(1));
    for window in 0..windows {
        let part = |x: Expr<'c>| {
            if windows == 1 {
                x
            } else {
                x.cut(0, window * size, (window + 1) * size)
            }
        };
        let (at, new) = (part(flat), part(updates));
        let old = all.index_select_with(at, |o| o.axis(0));
        let combined = c.region.apply(c, &[old, new])?;
        let combined = combined.first().ok_or("the region has no result")?;
        all = all.scatter_with(at, expand(*combined, new.dims()), |o| o.overwrite(true));
    }
    Ok(all)
}

fn scatter<'c>(c: &Cx<'c>) -> Result<Expr<'c>, String> {
    let [x, starts, updates] = c.operands[..] else {
        return Err("scatter with several operands is not supported".to_owned());
    };
    let gather = Gather::of_scatter(c.attrs, x.dims(), starts.dims(), updates.dims())?;
    let (flat, inside) = flat_indices(c, &gather, x.dims(), starts);
    let count: i64 = x.dims().iter().product();
    // Windows that are not wholly inside go to an extra element at the end, which is removed.
    let flat = inside.select(flat, flat.filled(count as f64)).reshape([-1]);
    let updates = windows_in_place(updates, &gather, starts.dims(), true).reshape([-1]);
    // One is in the domain of what a region may compute.
    let spare = c.scope.full_with(&[1], 1, |o| o.dtype(c.elem()));
    let all = c.scope.concat_with(&[x.reshape([-1]), spare], |o| o.axis(0));
    let all = match c.region.combiner() {
        Some(ops::Add::NAME) => all.index_add_with(flat, updates, |o| o.axis(0)),
        Some(ops::Maximum::NAME) => all.put_along_axis_with(flat, updates, 0, |o| o.reduce("amax")),
        Some(ops::Minimum::NAME) => all.put_along_axis_with(flat, updates, 0, |o| o.reduce("amin")),
        // Where no element is multiplied twice, this has a derivative that divides by nothing.
        Some(ops::Multiply::NAME) if c.attrs.is_set("unique_indices") => {
            let rows = all.index_select_with(flat, |o| o.axis(0));
            all.scatter_with(flat, rows * updates, |o| o.overwrite(true))
        }
        Some(ops::Multiply::NAME) => all.put_along_axis_with(flat, updates, 0, |o| o.reduce("mul")),
        _ if c.region.takes_new() => all.scatter_with(flat, updates, |o| o.overwrite(true)),
        _ => {
            let windows = if c.attrs.is_set("unique_indices") {
                1
            } else {
                gather.batch(starts.dims()).iter().product()
            };
            one_by_one(c, all, windows, flat, updates)?
        }
    };
    Ok(all.cut(0, 0, count).reshape(x.dims()))
}
