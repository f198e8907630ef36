//! Gathering kernels, and their gradients.

use pir_dialects::pd;
use smallvec::SmallVec;

use super::broadcast::strides_of;
use super::shape::{cut, place};
use super::{Kernel, Prepare, Spec, around, axis, dims, one, take};
use crate::tensor::buffer::{filled, gathered, room, scratch};
use crate::tensor::{Data, Element, Shape, Tensor, checked_count};

pub(super) const KERNELS: &[(&str, Prepare)] = &[
    (pd::Slice::NAME, |s| {
        let axes = s.ints("axes").ok_or("`axes` is missing")?;
        let (starts, ends) = (s.ints_or_operand("starts"), s.ints_or_operand("ends"));
        let decrease = s.ints("decrease_axis").unwrap_or_default();
        Ok(Box::new(move |inputs| {
            let (starts, ends) = (
                starts.get(&inputs)?.unwrap_or_default(),
                ends.get(&inputs)?.unwrap_or_default(),
            );
            let [mut x] = take(inputs)?;
            for (i, &a) in axes.iter().enumerate() {
                let at = axis(a, x.rank())?;
                let (Some(&start), Some(&end)) = (starts.get(i), ends.get(i)) else {
                    return Err(LENGTHS.to_owned());
                };
                let (start, end) = stretch(x.shape()[at], start, end, decrease.contains(&a));
                x = cut(&x, at, start, end)?;
            }
            let shape = without(x.shape(), &decrease)?;
            one(x.reshaped(&shape)?)
        }))
    }),
    (pd::SliceGrad::NAME, slice_grad),
    (pd::Gather::NAME, |s| {
        let at = s.ints_or_operand("axis");
        Ok(Box::new(move |inputs| {
            let at = at.get(&inputs)?.and_then(|v| v.first().copied()).unwrap_or(0);
            let [x, index] = take(inputs)?;
            let at = axis(at, x.rank())?;
            let mut shape: Shape = x.shape()[..at].into();
            if index.rank() > 0 {
                shape.push(index.len());
            }
            shape.extend_from_slice(&x.shape()[at + 1..]);
            let count = checked_count(&shape, x.dtype().size())?;
            let places = positions(&index, x.shape()[at])?;
            let (outer, n, inner) = around(x.shape(), at);
            let outer = if count == 0 { 0 } else { outer };
            fn copy<T: Element>(
                v: &[T],
                (outer, n, inner): (usize, usize, usize),
                places: &[usize],
            ) -> Result<Data, String> {
                let mut out = room::<T>(outer * places.len() * inner)?;
                for o in 0..outer {
                    for &p in places {
                        out.extend_from_slice(&v[(o * n + p) * inner..(o * n + p + 1) * inner]);
                    }
                }
                Ok(T::wrap(out))
            }
            let data = crate::each_type!(x.data(), v => copy(v, (outer, n, inner), &places))?;
            one(Tensor::from_parts(shape, data))
        }))
    }),
    (pd::IndexSelect::NAME, index_select),
    (pd::GatherGrad::NAME, gather_grad),
    (pd::IndexSelectGrad::NAME, gather_grad),
    (pd::TakeAlongAxis::NAME, |s| {
        let at = s.ints("axis").and_then(|v| v.first().copied()).unwrap_or(0);
        Ok(Box::new(move |inputs| {
            let [x, index] = take(inputs)?;
            let at = axis(at, x.rank())?;
            let places = along(&index, x.shape(), at)?;
            fn copy<T: Element>(v: &[T], places: &[usize]) -> Result<Data, String> {
                Ok(T::wrap(gathered(places.iter().map(|&p| v[p]))?))
            }
            let data = crate::each_type!(x.data(), v => copy(v, &places))?;
            one(Tensor::from_parts(index.shape().into(), data))
        }))
    }),
    (pd::TakeAlongAxisGrad::NAME, |s| {
        let at = s.ints("axis").and_then(|v| v.first().copied()).unwrap_or(0);
        scatter_back(s, 1, move |g, shape, index| {
            let at = axis(at, shape.len())?;
            let places = along(index, shape, at)?;
            add_at(&g, shape, places.iter().copied())
        })
    }),
    (pd::GatherNd::NAME, |_| {
        Ok(Box::new(|inputs| {
            let [x, index] = take(inputs)?;
            let (places, run, lead) = tuples(&index, x.shape())?;
            let depth = index.shape().last().copied().unwrap_or(0);
            let shape: Shape = lead.iter().chain(&x.shape()[depth..]).copied().collect();
            checked_count(&shape, x.dtype().size())?;
            fn copy<T: Element>(v: &[T], places: &[usize], run: usize) -> Result<Data, String> {
                let mut out = room(places.len() * run)?;
                places.iter().for_each(|&p| out.extend_from_slice(&v[p..p + run]));
                Ok(T::wrap(out))
            }
            let data = crate::each_type!(x.data(), v => copy(v, &places, run))?;
            one(Tensor::from_parts(shape, data))
        }))
    }),
    (pd::GatherNdGrad::NAME, |s| {
        scatter_back(s, 1, |g, shape, index| {
            let (places, run, _) = tuples(index, shape)?;
            add_at(&g, shape, places.iter().flat_map(|&p| p..p + run))
        })
    }),
    (pd::SequenceMask::NAME, |s| {
        let width = s.ints_or_operand("max_len");
        let dtype = s.result_dtype(0)?;
        Ok(Box::new(move |inputs| {
            let width = width.get(&inputs)?.and_then(|v| v.first().copied()).unwrap_or(-1);
            let lengths = inputs.first().ok_or("an operand is missing")?;
            let shape: Shape = lengths.shape().into();
            let lengths = lengths.to_i64();
            let longest = lengths.iter().copied().max().unwrap_or(0).max(0);
            let width =
                usize::try_from(if width < 0 { longest } else { width }).map_err(|_| "`maxlen` is out of range")?;
            let shape: Shape = shape.into_iter().chain([width]).collect();
            let _scratch = scratch::<i64>(checked_count(&shape, 8)?)?;
            let row = |&length: &i64| (0..width as i64).map(move |at| i64::from(at < length));
            let values: Vec<i64> = lengths.iter().flat_map(row).collect();
            one(Tensor::new(&shape, values)?.cast(dtype)?)
        }))
    }),
    (pd::OneHot::NAME, |s| {
        let classes = s.ints_or_operand("num_classes");
        let dtype = s.result_dtype(0)?;
        Ok(Box::new(move |inputs| {
            let classes = classes
                .get(&inputs)?
                .and_then(|v| v.first().copied())
                .ok_or("`num_classes` is missing")?;
            let classes = usize::try_from(classes).map_err(|_| "`num_classes` cannot be negative")?;
            let [x] = take(inputs)?;
            // Classes are not counted from the end.
            if let Some(class) = x.wholes()?.iter().find(|&&class| class < 0) {
                return Err(format!("there is no class {class}"));
            }
            let places = positions(&x, classes)?;
            let mut shape: Shape = x.shape().into();
            shape.push(classes);
            let mut values = filled(checked_count(&shape, 8)?, 0.0)?;
            for (row, &p) in places.iter().enumerate() {
                values[row * classes + p] = 1.0;
            }
            one(Tensor::of(&shape, values)?.cast(dtype)?)
        }))
    }),
];

const LENGTHS: &str = "`axes`, `starts` and `ends` differ in length";

fn index_select(s: &Spec<'_>) -> Result<Kernel, String> {
    match KERNELS.iter().find(|(name, _)| *name == pd::Gather::NAME) {
        Some((_, gather)) => gather(s),
        None => Err("there is no kernel for `pd.gather`".to_owned()),
    }
}

/// A range in a dimension: bounds are clamped, negative ones count from the end. In a dimension that is removed, the
/// range from -1 to the place after it is the last element, though that place is 0.
fn stretch(n: usize, start: i64, end: i64, is_removed: bool) -> (usize, usize) {
    let end = if is_removed && (start, end) == (-1, 0) {
        i64::MAX
    } else {
        end
    };
    let clamp = |v: i64| {
        if v < 0 {
            v.saturating_add(n as i64).max(0) as usize
        } else {
            (v as usize).min(n)
        }
    };
    let (start, end) = (clamp(start), clamp(end));
    (start, end.max(start))
}

fn without(shape: &[usize], axes: &[i64]) -> Result<Shape, String> {
    let mut gone: SmallVec<[bool; 8]> = SmallVec::from_elem(false, shape.len());
    for &a in axes {
        let at = axis(a, shape.len())?;
        if shape[at] != 1 {
            return Err(format!("axis {a} has {} elements and cannot be removed", shape[at]));
        }
        gone[at] = true;
    }
    Ok(shape.iter().zip(gone).filter(|(_, g)| !g).map(|(&d, _)| d).collect())
}

/// Offsets of elements, without an allocation for a few.
pub(super) type Places = SmallVec<[usize; 16]>;

/// Converts indices to offsets; negative ones count from the end.
pub(super) fn positions(index: &Tensor, n: usize) -> Result<Places, String> {
    index
        .wholes()?
        .iter()
        .map(|&i| {
            let at = if i < 0 { i.saturating_add(n as i64) } else { i };
            usize::try_from(at)
                .ok()
                .filter(|&a| a < n)
                .ok_or_else(|| format!("index {i} is out of range for {n} elements"))
        })
        .collect()
}

/// The offsets of the elements of `take_along_axis`.
pub(super) fn along(index: &Tensor, shape: &[usize], at: usize) -> Result<Places, String> {
    if index.rank() != shape.len() {
        return Err("the index has the wrong rank".to_owned());
    }
    if index
        .shape()
        .iter()
        .zip(shape)
        .enumerate()
        .any(|(i, (&a, &b))| i != at && a > b)
    {
        return Err(format!(
            "the index has shape {:?}, which does not match {shape:?}",
            index.shape()
        ));
    }
    let (own, full) = (strides_of(index.shape()), strides_of(shape));
    let places = positions(index, shape[at])?;
    let place = |(n, p): (usize, usize)| -> usize {
        (0..shape.len())
            .map(|i| {
                if i == at {
                    p * full[i]
                } else {
                    n / own[i] % index.shape()[i] * full[i]
                }
            })
            .sum()
    };
    Ok(places.into_iter().enumerate().map(place).collect())
}

/// For `gather_nd`: the offset of each slice, the length of slices, and the leading dimensions.
pub(super) fn tuples(index: &Tensor, shape: &[usize]) -> Result<(Places, usize, Shape), String> {
    let (&depth, lead) = index.shape().split_last().ok_or("the index has no dimensions")?;
    if depth > shape.len() {
        return Err("the index tuples are longer than the shape".to_owned());
    }
    let full = strides_of(shape);
    let run = shape[depth..].iter().product();
    let values = index.wholes()?;
    // Empty tuples take no memory, but their offsets do.
    let count = checked_count(lead, size_of::<usize>())?;
    let _scratch = scratch::<usize>(count)?;
    let mut places = Places::with_capacity(count);
    for n in 0..count {
        let mut place = 0;
        for i in 0..depth {
            let v = values[n * depth + i];
            let at = if v < 0 { v.saturating_add(shape[i] as i64) } else { v };
            let at = usize::try_from(at).ok().filter(|&a| a < shape[i]);
            place += at.ok_or_else(|| format!("index {v} is out of range for {} elements", shape[i]))? * full[i];
        }
        places.push(place);
    }
    Ok((places, run, lead.into()))
}

/// Zeros of a shape with the elements of `g` added at offsets.
fn add_at(g: &Tensor, shape: &[usize], places: impl Iterator<Item = usize>) -> Result<Tensor, String> {
    if let Some((re, im)) = g.parts()? {
        let places: Vec<usize> = places.collect();
        let part = |part| add_at(&part, shape, places.iter().copied());
        return Tensor::of_parts(&part(re)?, &part(im)?);
    }
    // Accumulated in doubles and rounded once: many elements may be added at one offset.
    let mut out = filled(checked_count(shape, 8)?, 0.0)?;
    let mut places = places.fuse();
    for &v in g.doubles()?.iter() {
        let place = places.next().and_then(|p| out.get_mut(p));
        *place.ok_or("the gradient has more elements than were picked")? += v;
    }
    if places.next().is_some() {
        return Err("the gradient has fewer elements than were picked".to_owned());
    }
    Tensor::of(shape, out)?.cast(g.dtype())
}

/// A gradient of the shape of the gathered tensor, which is after `before` operands.
fn scatter_back(
    s: &Spec<'_>,
    before: usize,
    f: impl Fn(Tensor, &[usize], &Tensor) -> Result<Tensor, String> + Send + Sync + 'static,
) -> Result<Kernel, String> {
    let shape = s.ints("x_shape").map(|v| dims(&v)).transpose()?;
    Ok(Box::new(move |inputs| {
        let grad = inputs.get(before).ok_or("the gradient is missing")?.clone();
        let shape: Shape = match (inputs.get(before + 1), &shape) {
            (Some(x), _) => x.shape().into(),
            (None, Some(shape)) => shape.clone(),
            (None, None) => return Err("it needs `x` or `x_shape`".to_owned()),
        };
        let index = inputs.first().ok_or("the index is missing")?;
        one(f(grad, &shape, index)?)
    }))
}

fn slice_grad(s: &Spec<'_>) -> Result<Kernel, String> {
    let axes = s.ints("axes").ok_or("`axes` is missing")?;
    let (starts, ends) = (s.ints_or_operand("starts"), s.ints_or_operand("ends"));
    let shape = s.ints("x_shape").map(|v| dims(&v)).transpose()?;
    let decrease = s.ints("decrease_axis").unwrap_or_default();
    Ok(Box::new(move |inputs| {
        let (starts, ends) = (
            starts.get(&inputs)?.ok_or("`starts` is missing")?,
            ends.get(&inputs)?.ok_or("`ends` is missing")?,
        );
        if starts.len() != axes.len() || ends.len() != axes.len() {
            return Err(LENGTHS.to_owned());
        }
        let g = inputs.first().ok_or("the gradient is missing")?.clone();
        let shape: Shape = match (inputs.get(1), &shape) {
            (Some(x), _) => x.shape().into(),
            (None, Some(shape)) => shape.clone(),
            (None, None) => return Err("it needs `x` or `x_shape`".to_owned()),
        };
        let mut offsets: Shape = shape.iter().map(|_| 0).collect();
        let mut sizes: Shape = shape.clone();
        for ((&a, &start), &end) in axes.iter().zip(starts.iter()).zip(ends.iter()) {
            let at = axis(a, shape.len())?;
            let (start, end) = stretch(shape[at], start, end, decrease.contains(&a));
            offsets[at] = start;
            sizes[at] = end - start;
        }
        let zeros = Tensor::full(&shape, g.dtype(), 0.0)?;
        one(place(zeros, &g.reshaped(&sizes)?, &offsets)?)
    }))
}

fn gather_grad(s: &Spec<'_>) -> Result<Kernel, String> {
    let at = s.ints("axis").and_then(|v| v.first().copied()).unwrap_or(0);
    scatter_back(s, 1, move |g, shape, index| {
        let at = axis(at, shape.len())?;
        let places = positions(index, shape[at])?;
        let (outer, n, inner) = around(shape, at);
        let outer = if g.is_empty() { 0 } else { outer };
        let all = (0..outer).flat_map(|o| {
            places.iter().flat_map(move |&p| {
                let base = (o * n + p) * inner;
                base..base + inner
            })
        });
        add_at(&g, shape, all)
    })
}
