//! Cumulative operations, and indices of extrema.

use super::broadcast::through;
use super::nn::{each_line, of_axis};
use super::reduce::{Axes, Groups};
use super::{IntList, Kernel, Outputs, Prepare, Spec, around, attr_dtype, axis, one, take};
use crate::tensor::buffer::{filled, gathered, scratch};
use crate::tensor::{DType, Data, Element, Tensor};
use pir_dialects::pd;

pub(super) const KERNELS: &[(&str, Prepare)] = &[
    (pd::Argmax::NAME, |s| arg_extremum(s, |a, b| a > b, |a, b| a > b)),
    (pd::Argmin::NAME, |s| arg_extremum(s, |a, b| a < b, |a, b| a < b)),
    (pd::Cumsum::NAME, cumsum),
    (pd::Cummax::NAME, |s| so_far(s, |a, b| a >= b, |a, b| a >= b)),
    (pd::Cummin::NAME, |s| so_far(s, |a, b| a <= b, |a, b| a <= b)),
];

fn arg_extremum(s: &Spec<'_>, float: fn(f64, f64) -> bool, whole: fn(i64, i64) -> bool) -> Result<Kernel, String> {
    let axes = Axes::of(s);
    let flatten = s.flag("flatten", false) || matches!(axes.axes, IntList::Missing);
    let dtype = attr_dtype(s, "dtype").unwrap_or(DType::I64);
    Ok(Box::new(move |inputs| {
        let over = if flatten {
            (0..inputs.first().map_or(0, Tensor::rank)).collect()
        } else {
            axes.get(&inputs)?
        };
        let [x] = take(inputs)?;
        let shape = axes.shape(x.shape(), &over);
        if over.iter().any(|&a| x.shape()[a] == 0) && !shape.contains(&0) {
            return Err("the extremum of an empty set is undefined".to_owned());
        }
        let groups = Groups::new(&x, &over)?;
        // The first of equal elements; NaN exceeds everything.
        let better = |v: f64, best: f64| float(v, best) || (v.is_nan() && !best.is_nan());
        let data = match groups.x.data() {
            Data::F32(v) => groups.each(v, |g| place_of(g.iter().map(|&v| v.into()), better))?,
            data if data.dtype().is_float() => {
                groups.each(&data.doubles()?, |g| place_of(g.iter().copied(), better))?
            }
            data => groups.each(&data.ranks()?, |g| place_of(g.iter().copied(), whole))?,
        };
        one(Tensor::from_parts(shape, data).cast(dtype)?)
    }))
}

/// The index of the first value that no other one exceeds.
fn place_of<T: Copy>(values: impl Iterator<Item = T>, better: impl Fn(T, T) -> bool) -> i64 {
    let mut best = None;
    for (at, v) in values.enumerate() {
        match best {
            Some((_, so_far)) if !better(v, so_far) => {}
            _ => best = Some((at, v)),
        }
    }
    best.map_or(0, |(at, _)| at as i64)
}

/// The cumulative extremum along an axis and its index: the last of equal elements; NaN exceeds everything.
fn so_far(s: &Spec<'_>, float: fn(f64, f64) -> bool, whole: fn(i64, i64) -> bool) -> Result<Kernel, String> {
    let at = s.int("axis", -1);
    let dtype = attr_dtype(s, "dtype").unwrap_or(DType::I64);
    Ok(Box::new(move |inputs| {
        let [x] = take(inputs)?;
        let (at, shape) = of_axis(at, x.shape())?;
        let _scratch = scratch::<usize>(x.len())?;
        let (mut sources, mut places) = (vec![0usize; x.len()], filled(x.len(), 0i64)?);
        let mut scan = |better: &dyn Fn(usize, usize) -> bool| {
            each_line(&shape, at, |first, step, n| {
                let mut best = 0;
                for k in 0..n {
                    if better(first + k * step, first + best * step) {
                        best = k;
                    }
                    sources[first + k * step] = first + best * step;
                    places[first + k * step] = best as i64;
                }
            });
        };
        if x.dtype().is_float() {
            let v = x.doubles()?;
            scan(&|a, b| float(v[a], v[b]) && !v[b].is_nan() || v[a].is_nan());
        } else {
            let v = x.ranks()?;
            scan(&|a, b| whole(v[a], v[b]));
        }
        let data = crate::each_type!(x.data(), v => picked(v, &sources))?;
        let mut out = Outputs::new();
        out.push(Tensor::from_parts(x.shape().into(), data));
        out.push(Tensor::of(x.shape(), places)?.cast(dtype)?);
        Ok(out)
    }))
}

/// The elements at indices.
pub(super) fn picked<T: Element>(v: &[T], places: &[usize]) -> Result<Data, String> {
    Ok(T::wrap(gathered(places.iter().map(|&p| v[p]))?))
}

pub(super) fn cumsum(s: &Spec<'_>) -> Result<Kernel, String> {
    let (flatten, exclusive, reverse) = (
        s.flag("flatten", false),
        s.flag("exclusive", false),
        s.flag("reverse", false),
    );
    let at = s.ints_or_operand("axis");
    Ok(Box::new(move |inputs| {
        let at = at.get(&inputs)?.and_then(|v| v.first().copied()).unwrap_or(-1);
        let [mut x] = take(inputs)?;
        if flatten {
            let n = x.len();
            x = x.reshaped(&[n])?;
        }
        if x.is_empty() {
            return one(x);
        }
        let (outer, n, inner) = match x.rank() {
            0 => (1, 1, 1),
            rank => around(x.shape(), axis(at, rank)?),
        };
        fn run<T: Element>(
            v: &[T],
            (outer, n, inner): (usize, usize, usize),
            exclusive: bool,
            reverse: bool,
        ) -> Result<Data, String> {
            let mut out = gathered(v.iter().copied())?;
            let float = T::DTYPE.is_float();
            for o in 0..outer {
                for i in 0..inner {
                    let (mut sum, mut whole) = (0.0, 0i64);
                    for k in 0..n {
                        let k = if reverse { n - 1 - k } else { k };
                        let at = (o * n + k) * inner + i;
                        let before = if float { T::from_f64(sum) } else { T::from_i64(whole) };
                        sum += v[at].to_f64();
                        whole = whole.wrapping_add(v[at].to_i64());
                        let after = if float { T::from_f64(sum) } else { T::from_i64(whole) };
                        out[at] = if exclusive { before } else { after };
                    }
                }
            }
            Ok(T::wrap(out))
        }
        let extents = (outer, n, inner);
        let wide = if x.dtype().is_float() { DType::F64 } else { DType::I64 };
        let data = match x.data() {
            Data::F32(v) => run(v, extents, exclusive, reverse)?,
            data => through(wide, data.clone(), |data| match data {
                Data::F64(v) => run(&v, extents, exclusive, reverse),
                data => run(&data.wholes()?, extents, exclusive, reverse),
            })?,
        };
        one(Tensor::from_parts(x.shape().into(), data))
    }))
}
