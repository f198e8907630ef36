//! Sorting, scatter and gather operations.

use pir_dialects::pd::{self, Expr};
use pir_dialects::window::{set_axes, stretch};
use pir_ir::Type;

use super::Rule;
use super::formula::{Op, adjoint, composite, derivative};
use super::index::{add_rows, shaped_like};
use super::reduce::normalise;

pub(super) const RULES: &[Rule] = &[
    derivative!(Topk, |op, g| put_back(op.x(), op.indices(), g, op.axis())),
    derivative!(Argsort, |op, g| put_back(op.x(), op.indices(), g, op.axis())),
    derivative!(Cummax, |op, g| put_back(op.x(), op.indices(), g, op.axis())),
    derivative!(Cummin, |op, g| put_back(op.x(), op.indices(), g, op.axis())),
    derivative!(Kthvalue, |op, g| {
        let (x, axis) = (op.x(), op.axis());
        match op.keepdim() || x.rank() == 0 {
            true => put_back(x, op.indices(), g, axis),
            false => {
                let at = [normalise(axis, x.rank())? as i64];
                let (g, index) = (
                    g.unsqueeze_with(|o| o.axis(at)),
                    op.indices().unsqueeze_with(|o| o.axis(at)),
                );
                put_back(x, index, g, axis)
            }
        }
    }),
    derivative!(Embedding, |op, g| {
        let (index, padding) = (op.x(), op.padding_idx());
        let shape = op.weight().static_shape().ok_or("it needs a static shape")?;
        // Rows for the padding are constant.
        let g = if padding < 0 {
            g
        } else {
            let counts = index.not_equal(index.full_like_with(|o| o.value(padding)));
            counts.unsqueeze_with(|o| o.axis([-1])).select(g, g.zeros())
        };
        let (index, rows) = (index.reshape([-1]), g.reshape([-1, shape[1]]));
        let back = || index.gather_grad_with(rows, |o| o.axis(0).x_shape(&shape));
        (!add_rows(*op, pd::Embedding::weight, 0, index, rows)).then(back)
    }),
    derivative!(Scatter, |op, g| let index = op.index(); {
        // The cotangent of the updates is read before the cotangent is overwritten, which then is unshared.
        updates: {
            let picked = g.gather_with(index, |o| o.axis(0));
            // One row overwrites no other.
            let is_one = index.static_shape().is_some_and(|shape| shape.iter().product::<i64>() == 1);
            let picked = if is_one || !op.overwrite() { picked } else { only_last(op, picked)? };
            picked.reshape_like(op.updates())
        },
        x: {
            // As many zeros as there are updated rows, rather than rows in total.
            let zeros = match (op.updates().static_shape(), g.elem()) {
                (Some(shape), Some(elem)) => op.scope().full_with(&shape, 0.0, |o| o.dtype(elem)),
                _ => g.zeros().gather_with(index, |o| o.axis(0)),
            };
            g.scatter(index, zeros)
        },
    })
    .complex(),
    derivative!(ScatterNdAdd, |op, g| { x: g, updates: g.gather_nd(op.index()) }).complex(),
    derivative!(IndexAdd, |op, g| { x: g, add_value: g.index_select_with(op.index(), |o| o.axis(op.axis())) })
        .complex(),
    derivative!(PutAlongAxis, |op, g|
        let (index, axis) = (op.indices(), op.axis().unwrap_or(0));
        let (assigns, selects, multiplies) = match &*op.reduce() {
            "assign" => (true, false, false),
            "add" | "mean" => (false, false, false),
            "amax" | "amin" => (false, true, false),
            "mul" => (false, false, true),
            mode => return Err(format!("`pd.put_along_axis` has no derivative for `reduce` = \"{mode}\"")),
        };
        let g = match &*op.reduce() {
            "mean" => {
                let ones = op.values().filled(1.0).expand_like(index).cast_like(g);
                let own = own_part(op, g.filled(1.0));
                g / own.put_along_axis_with(index, ones, axis, |o| o.reduce("add"))
            }
            _ if selects => share_of_equals(op, g),
            _ => g,
        };
        let picked = g.take_along_axis_with(index, |o| o.axis(axis));
        {
            arr: match (assigns, selects) {
                _ if multiplies => own_part(op, g * Factors::of(op).product()),
                (true, _) => g.put_along_axis(index, picked.zeros(), axis),
                (_, true) => own_part(op, op.arr().equal(op.out()).select(g, g.zeros())),
                _ => own_part(op, g),
            },
            values: match (assigns, selects) {
                _ if multiplies => {
                    let rest = if op.include_self() { g * op.arr() } else { g };
                    rest.take_along_axis_with(index, |o| o.axis(axis)) * Factors::of(op).others()
                }
                (true, _) => only_last_along(op, picked)?,
                (_, true) => {
                    let out = op.out().take_along_axis_with(index, |o| o.axis(axis));
                    op.values().equal(out).select(picked, picked.zeros())
                }
                _ => picked,
            }.reduce_like(op.values()),
        }
    ),
    derivative!(IndexSample, |op, g| put_back(op.x(), op.index(), g, 1)),
    derivative!(MaskedSelect, |op, g| {
        let shape = op.x().static_shape().ok_or("it needs a static shape")?;
        let masked = op.mask().static_shape().ok_or("it needs a mask of a static shape")?;
        // Either may be spread over the other.
        let rank = shape.len().max(masked.len());
        let padded = |of: &[i64]| [vec![1; rank - of.len()], of.to_vec()].concat();
        let both = padded(&shape).into_iter().zip(padded(&masked));
        let both: Vec<i64> = both.map(|(a, b)| if a == 1 { b } else { a }).collect();
        let mask = if masked == both {
            op.mask()
        } else {
            op.mask().expand(&both)
        };
        mask.nonzero().gather_nd_grad_with(g, |o| o.x_shape(&both))
    }),
    composite!(MaskedFill, |op| op.mask().select(op.value().cast_like(op.x()), op.x())),
    derivative!(StridedSlice, |op, g| cut_out(op, g)).complex(),
    derivative!(SetValueWithTensor, |op, g| { x: emptied(op, g), values: window(op, g) }).complex(),
    derivative!(RepeatInterleave, |op, g| {
        let mut split = op.x().static_shape().ok_or("it needs a static shape")?;
        let at = normalise(op.axis(), split.len())?;
        split.insert(at + 1, op.repeats().unwrap_or(1));
        g.reshape(split).sum_with(|o| o.axis([at as i64 + 1]))
    }),
    adjoint!(Meshgrid, |op| {
        op.settle_rest();
        let (elements, grads) = (op.elements(), op.grads());
        let count = elements.len();
        for (at, element) in elements.into_iter().enumerate() {
            let Some(&Some(g)) = grads.get(at).filter(|_| op.wants_at(element.index)) else {
                continue;
            };
            let others: Vec<i64> = (0..count).filter(|&i| i != at).map(|i| i as i64).collect();
            let sum = if others.is_empty() {
                g
            } else {
                g.sum_with(|o| o.axis(others))
            };
            let is_scalar = op
                .context()
                .as_tensor(element.ty)
                .is_none_or(|(shape, _)| shape.is_empty());
            op.add_to(element, if is_scalar { sum.reshape([]) } else { sum });
        }
    }),
    derivative!(Pad3d, pad3d),
];

/// Zeros of the shape of the operand, with a cotangent added at indices along an axis.
fn put_back<'c>(x: Expr<'c>, index: Expr<'c>, g: Expr<'c>, axis: i64) -> Result<Expr<'c>, String> {
    if x.rank() == 0 {
        return Ok(g);
    }
    let axis = normalise(axis, x.rank())? as i64;
    Ok(index.take_along_axis_grad_with(g, |o| shaped_like!(o.axis(axis), x)))
}

/// The numbers from zero.
fn numbers<'c, M>(op: Op<'c, M>, count: i64) -> Expr<'c> {
    op.scope().arange_with(|o| o.end(count))
}

/// Zeros of the type of indices.
fn no_indices<'c, M>(op: Op<'c, M>, shape: &[i64]) -> Expr<'c> {
    op.scope().full_with(shape, 0, |o| o.dtype(Type::I64))
}

/// Zeros in place of the cotangents of rows that a later row with the same index overwrote. The row numbers are
/// scattered in order: the last row of each index finds its own number there.
fn only_last<'c>(op: Op<'c, pd::Scatter>, picked: Expr<'c>) -> Result<Expr<'c>, String> {
    let (Some(rows), Some(count)) = (op.x().static_shape(), op.index().static_shape()) else {
        return Err("it needs a static shape".to_owned());
    };
    let count: i64 = count.iter().product();
    let (number, empty) = (numbers(op, count), no_indices(op, &rows[..1]));
    let index = op.index().reshape([count]);
    let found = empty.scatter(index, number).gather_with(index, |o| o.axis(0));
    let mut shape = vec![count];
    shape.resize(picked.rank().max(1), 1);
    Ok(found.equal(number).reshape(shape).select(picked, picked.zeros()))
}

/// The same for `put_along_axis`.
fn only_last_along<'c>(op: Op<'c, pd::PutAlongAxis>, picked: Expr<'c>) -> Result<Expr<'c>, String> {
    let (index, axis) = (op.indices(), op.axis().unwrap_or(0));
    let (Some(whole), Some(shape)) = (op.arr().static_shape(), index.static_shape()) else {
        return Err("it needs a static shape".to_owned());
    };
    let number = numbers(op, shape.iter().product()).reshape(shape);
    let owner = no_indices(op, &whole).put_along_axis(index, number, axis);
    let found = owner.take_along_axis_with(index, |o| o.axis(axis));
    Ok(found.equal(number).select(picked, picked.zeros()))
}

/// Zeros at the updated positions, if the previous values do not count.
fn own_part<'c>(op: Op<'c, pd::PutAlongAxis>, x: Expr<'c>) -> Expr<'c> {
    match op.include_self() {
        true => x,
        false => {
            let none = op.values().zeros().expand_like(op.indices()).cast_like(x);
            x.put_along_axis(op.indices(), none, op.axis().unwrap_or(0))
        }
    }
}

/// The factors by which `put_along_axis` multiplies.
struct Factors<'c> {
    op: Op<'c, pd::PutAlongAxis>,
    values: Expr<'c>,
    is_zero: Expr<'c>,
    /// For each element, the product of its factors that are not zero, and how many are.
    nonzero: Expr<'c>,
    zeros: Expr<'c>,
}

impl<'c> Factors<'c> {
    fn of(op: Op<'c, pd::PutAlongAxis>) -> Self {
        let (index, axis, arr) = (op.indices(), op.axis().unwrap_or(0), op.arr());
        let values = op.values().expand_like(index).cast_like(arr);
        let is_zero = values.equal(values.zeros());
        let factors = is_zero.select(values.ones(), values);
        Factors {
            op,
            values,
            is_zero,
            nonzero: arr
                .ones()
                .put_along_axis_with(index, factors, axis, |o| o.reduce("mul")),
            zeros: arr
                .zeros()
                .put_along_axis_with(index, is_zero.cast_like(arr), axis, |o| o.reduce("add")),
        }
    }

    /// For each element, the product of its factors.
    fn product(&self) -> Expr<'c> {
        let none = self.nonzero.zeros();
        self.zeros.equal(none).select(self.nonzero, none)
    }

    /// For each factor, the product of the others of its element: no division by zero.
    fn others(&self) -> Expr<'c> {
        let picked = |x: Expr<'c>| x.take_along_axis_with(self.op.indices(), |o| o.axis(self.op.axis().unwrap_or(0)));
        let (nonzero, zeros) = (picked(self.nonzero), picked(self.zeros));
        let (ones, none) = (self.values.ones(), self.values.zeros());
        let own = self.is_zero.select(ones, self.values);
        let other_zeros = zeros - self.is_zero.cast_like(zeros);
        other_zeros.equal(none).select(nonzero / own, none)
    }
}

/// The cotangent of each greatest or least element, divided among those that are equal to it.
fn share_of_equals<'c>(op: Op<'c, pd::PutAlongAxis>, g: Expr<'c>) -> Expr<'c> {
    let (index, axis) = (op.indices(), op.axis().unwrap_or(0));
    let picked = op.out().take_along_axis_with(index, |o| o.axis(axis));
    let is_chosen = op.values().equal(picked).cast_like(g);
    let kept = own_part(op, op.arr().equal(op.out()).cast_like(g));
    g / kept.put_along_axis_with(index, is_chosen, axis, |o| o.reduce("add"))
}

/// Zeros around the cotangent of what was cut out of a tensor.
fn cut_out<'c>(op: Op<'c, pd::StridedSlice>, g: Expr<'c>) -> Result<Expr<'c>, String> {
    let axes = op.axes().ok_or("it needs constant `axes`")?;
    let constant = [op.starts(), op.ends(), op.strides()].map(pd::Ints::constant);
    let (Some(shape), [Some(starts), Some(ends), Some(strides)]) = (op.x().static_shape(), constant) else {
        // A window with computed bounds is returned to its position.
        let (starts, ends, strides) = (op.starts(), op.ends(), op.strides());
        return Ok(op.x().zeros().set_value_with_tensor(g, starts, ends, strides, &axes));
    };
    // The last axis was cut last: what it was cut from has the sizes of all before.
    let mut sizes = shape;
    let mut cuts = Vec::new();
    for (i, &axis) in axes.iter().enumerate() {
        let at = normalise(axis, sizes.len())?;
        let (start, count) = stretch(sizes[at], starts[i], ends[i], strides[i])?;
        let rows: Vec<i64> = (0..count).map(|k| start + k * strides[i]).collect();
        cuts.push((at as i64, rows, sizes.clone()));
        sizes[at] = count;
    }
    Ok(cuts.into_iter().rev().fold(g, |g, (at, rows, before)| {
        op.scope()
            .full_int_array(&rows)
            .gather_grad_with(g, |o| o.axis(at).x_shape(&before))
    }))
}

/// The cotangent of the tensor that the window replaces.
fn emptied<'c>(op: Op<'c, pd::SetValueWithTensor>, g: Expr<'c>) -> Expr<'c> {
    let zero = op
        .x()
        .elem()
        .map(|elem| op.scope().full_with(&[], 0.0, |o| o.dtype(elem)));
    let zero = zero.unwrap_or(op.scope().nothing());
    g.set_value_with_tensor_with(
        zero,
        op.starts(),
        op.ends(),
        op.steps(),
        &op.axes().unwrap_or_default(),
        |o| o.like(op),
    )
}

/// The cotangent of the values in the window.
fn window<'c>(op: Op<'c, pd::SetValueWithTensor>, g: Expr<'c>) -> Expr<'c> {
    let (axes, lost) = (op.axes().unwrap_or_default(), op.decrease_axes());
    let all = |value: i64| vec![value; axes.len()];
    let or = |bound: pd::Ints, missing: i64| match bound {
        pd::Ints::Missing => all(missing).into(),
        given => given,
    };
    let mut window = g;
    if !axes.is_empty() {
        let (starts, ends) = (or(op.starts(), 0), or(op.ends(), i64::MAX));
        let by_one = match op.steps() {
            pd::Ints::Value(_) => false,
            steps => steps.constant().is_none_or(|steps| steps.iter().all(|&step| step == 1)),
        };
        window = match by_one {
            true => g.slice(&axes, starts, ends),
            false => g.strided_slice(&axes, starts, ends, or(op.steps(), 1)),
        };
    }
    if !lost.is_empty() {
        window = window.squeeze_with(|o| o.axis(&lost));
    }
    let new = (0..).zip(set_axes(op.x().rank(), &lost, &op.none_axes()));
    let new: Vec<i64> = new.filter_map(|(at, axis)| axis.is_none().then_some(at)).collect();
    if !new.is_empty() {
        window = window.unsqueeze_with(|o| o.axis(new));
    }
    // The values may have dimensions of extent 1 in front of those of the window.
    let more = op.values().rank().saturating_sub(window.rank());
    if more > 0 {
        window = window.unsqueeze_with(|o| o.axis((0..more as i64).collect::<Vec<i64>>()));
    }
    window.reduce_like(op.values())
}

fn pad3d<'c>(op: Op<'c, pd::Pad3d>, g: Expr<'c>) -> Result<Expr<'c>, String> {
    let paddings = op.paddings().constant().ok_or("it needs constant `paddings`")?;
    let mode = op.mode();
    let first = if op.data_format() == "NDHWC" { 1 } else { 2 };
    let Some(shape) = op.x().static_shape() else {
        // What was added at the borders, if it was constant, depends on nothing.
        if &*mode != "constant" || paddings.iter().any(|&count| count < 0) {
            return Err("it needs a static shape".to_owned());
        }
        let axes = (first..first + 3).rev().zip(paddings.chunks_exact(2));
        return Ok(axes.fold(g, |g, (axis, pair)| g.trimmed(axis, pair[0], pair[1])));
    };
    // The last axis was padded first.
    let mut before = shape.clone();
    let mut steps = Vec::new();
    for (at, pair) in (first..first + 3).rev().zip(paddings.chunks(2)) {
        let (n, size) = (shape[at], shape[at] + pair[0] + pair[1]);
        steps.push((at as i64, pair[0], n, size, before.clone()));
        before[at] = size;
    }
    Ok(steps.into_iter().rev().fold(g, |g, (axis, shift, n, size, before)| {
        let place = |k: i64| match (k - shift, &*mode) {
            (k, _) if (0..n).contains(&k) => Some(k),
            (_, "constant") => None,
            (k, "reflect") if k < 0 => Some(-k),
            (k, "reflect") => Some(2 * (n - 1) - k),
            (k, "circular") => Some(k.rem_euclid(n.max(1))),
            (k, _) => Some(k.clamp(0, (n - 1).max(0))),
        };
        let kept: Vec<i64> = (0..size).filter(|&k| place(k).is_some()).collect();
        let sources: Vec<i64> = kept.iter().filter_map(|&k| place(k)).collect();
        let (kept, sources) = (op.scope().full_int_array(&kept), op.scope().full_int_array(&sources));
        let shown = g.index_select_with(kept, |o| o.axis(axis));
        sources.index_select_grad_with(shown, |o| o.axis(axis).x_shape(&before))
    }))
}
