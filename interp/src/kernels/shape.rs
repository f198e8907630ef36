//! Kernels that move elements.

use pir_dialects::pd;
use smallvec::SmallVec;

use super::broadcast::{MIXED, Rows, expand, strides_of, transpose};
use super::unary::number;
use super::{Inputs, Ints, Kernel, Outputs, Prepare, Spec, around, axis, dims, one, take};
use crate::tensor::buffer::{gathered, room, stale};
use crate::tensor::{Data, Element, Shape, Tensor, checked_count};

pub(super) const KERNELS: &[(&str, Prepare)] = &[
    (pd::Transpose::NAME, |s| {
        let perm = s.ints("perm").ok_or("`perm` is missing")?;
        Ok(Box::new(move |inputs| {
            let [x] = take(inputs)?;
            let perm: Shape = perm.iter().map(|&p| axis(p, x.rank())).collect::<Result<_, _>>()?;
            one(transpose(&x, &perm)?)
        }))
    }),
    (pd::Reshape::NAME, |s| {
        let shape = s.ints_or_operand("shape");
        Ok(Box::new(move |inputs| {
            let shape = shape.get(&inputs)?.ok_or("`shape` is missing")?;
            let [x] = take(inputs)?;
            let shape = reshape(x.shape(), &shape)?;
            one(x.reshaped(&shape)?)
        }))
    }),
    (pd::Squeeze::NAME, |s| {
        let axes = s.ints_or_operand("axis");
        Ok(Box::new(move |inputs| {
            let axes = axes.get(&inputs)?.unwrap_or_default();
            let [x] = take(inputs)?;
            let mut gone: SmallVec<[bool; 8]> = x.shape().iter().map(|&d| axes.is_empty() && d == 1).collect();
            for a in axes {
                let at = axis(a, x.rank().max(1))?;
                if let Some(gone) = gone.get_mut(at) {
                    *gone = x.shape()[at] == 1;
                }
            }
            let shape: Shape = x
                .shape()
                .iter()
                .zip(gone)
                .filter(|(_, g)| !g)
                .map(|(&d, _)| d)
                .collect();
            one(x.reshaped(&shape)?)
        }))
    }),
    (pd::Unsqueeze::NAME, |s| {
        let axes = s.ints_or_operand("axis");
        Ok(Box::new(move |inputs| {
            let axes = axes.get(&inputs)?.unwrap_or_default();
            let [x] = take(inputs)?;
            let mut shape: Shape = x.shape().into();
            for a in axes {
                let at = axis(a, shape.len() + 1)?;
                shape.insert(at, 1);
            }
            one(x.reshaped(&shape)?)
        }))
    }),
    (pd::Flatten::NAME, |s| {
        let ends = [("start_axis", 1), ("stop_axis", -1)]
            .map(|(n, d)| s.ints(n).and_then(|v| v.first().copied()).unwrap_or(d));
        Ok(Box::new(move |inputs| {
            let [x] = take(inputs)?;
            if x.rank() == 0 {
                return one(x.reshaped(&[1])?);
            }
            let (start, stop) = (axis(ends[0], x.rank())?, axis(ends[1], x.rank())?);
            if start > stop {
                return Err("`start_axis` is after `stop_axis`".to_owned());
            }
            let mut shape: Shape = x.shape()[..start].into();
            shape.push(x.shape()[start..=stop].iter().product());
            shape.extend_from_slice(&x.shape()[stop + 1..]);
            one(x.reshaped(&shape)?)
        }))
    }),
    (pd::Expand::NAME, |s| {
        let shape = s.ints_or_operand("shape");
        Ok(Box::new(move |inputs| {
            let shape = shape.get(&inputs)?.ok_or("`shape` is missing")?;
            let [x] = take(inputs)?;
            let lead = shape
                .len()
                .checked_sub(x.rank())
                .ok_or("the shape has fewer dimensions than the operand")?;
            let shape: Shape = shape
                .iter()
                .enumerate()
                .map(|(i, &d)| match (d, i.checked_sub(lead)) {
                    (-1, Some(at)) => Ok(x.shape()[at]),
                    (d, _) => usize::try_from(d).map_err(|_| format!("a dimension cannot be {d}")),
                })
                .collect::<Result<_, _>>()?;
            one(expand(&x, &shape)?)
        }))
    }),
    (pd::ExpandAs::NAME, |_| {
        Ok(Box::new(|inputs| {
            let [x, y] = take(inputs)?;
            one(expand(&x, y.shape())?)
        }))
    }),
    (pd::Tile::NAME, |s| {
        let repeat = s.ints_or_operand("repeat_times");
        Ok(Box::new(move |inputs| {
            let repeat = dims(&repeat.get(&inputs)?.ok_or("`repeat_times` is missing")?)?;
            let [x] = take(inputs)?;
            let rank = x.rank().max(repeat.len());
            let pad = |v: &[usize]| -> Shape {
                std::iter::repeat_n(1, rank - v.len())
                    .chain(v.iter().copied())
                    .collect()
            };
            let (shape, repeat) = (pad(x.shape()), pad(&repeat));
            // y[r, n] = x[n] along each dimension: broadcast to a new dimension and join the two.
            let split: Shape = shape.iter().flat_map(|&d| [1, d]).collect();
            let wide: Shape = repeat.iter().zip(&shape).flat_map(|(&r, &d)| [r, d]).collect();
            let out: Shape = repeat
                .iter()
                .zip(&shape)
                .map(|(&r, &d)| r.checked_mul(d).ok_or("the result is too large"))
                .collect::<Result<_, _>>()?;
            one(expand(&x.reshaped(&split)?, &wide)?.reshaped(&out)?)
        }))
    }),
    (pd::Concat::NAME, |s| {
        let at = s.ints("axis").and_then(|v| v.first().copied()).unwrap_or(0);
        Ok(Box::new(move |inputs| one(concat(&inputs, at)?)))
    }),
    (pd::Stack::NAME, |s| {
        let at = s.ints("axis").and_then(|v| v.first().copied()).unwrap_or(0);
        Ok(Box::new(move |inputs| {
            let rank = inputs.first().ok_or("at least one operand is needed")?.rank() + 1;
            let at = axis(at, rank)?;
            let parts = inputs
                .into_iter()
                .map(|x| {
                    let mut shape: Shape = x.shape().into();
                    shape.insert(at, 1);
                    x.reshaped(&shape)
                })
                .collect::<Result<Inputs, _>>()?;
            one(concat(&parts, at as i64)?)
        }))
    }),
    (pd::Split::NAME, |s| {
        let (sections, at) = (s.ints_or_operand("sections"), s.ints_or_operand("axis"));
        Ok(Box::new(move |inputs| {
            let sections = sections.get(&inputs)?.ok_or("`sections` is missing")?;
            let at = at.get(&inputs)?.and_then(|v| v.first().copied()).unwrap_or(0);
            let [x] = take(inputs)?;
            let at = axis(at, x.rank())?;
            let known = sections.iter().filter(|&&n| n != -1);
            let known = known.fold(0i64, |sum, &n| sum.saturating_add(n));
            let rest = (x.shape()[at] as i64).saturating_sub(known);
            let sizes: Ints = sections.iter().map(|&n| if n == -1 { rest } else { n }).collect();
            let sizes = dims(&sizes)?;
            pieces(&x, at, &sizes)
        }))
    }),
    (pd::SplitWithNum::NAME, |s| {
        let at = s.ints_or_operand("axis");
        let num = s
            .ints("num")
            .and_then(|v| v.first().copied())
            .filter(|&n| n > 0)
            .ok_or("`num` must be positive")? as usize;
        Ok(Box::new(move |inputs| {
            let at = at.get(&inputs)?.and_then(|v| v.first().copied()).unwrap_or(0);
            let [x] = take(inputs)?;
            let at = axis(at, x.rank())?;
            if num > MAX_PIECES || x.shape()[at] % num != 0 {
                return Err(format!(
                    "{} elements cannot be divided into {num} equal pieces",
                    x.shape()[at]
                ));
            }
            let size = x.shape()[at] / num;
            pieces(&x, at, &Shape::from_elem(size, num))
        }))
    }),
    (pd::Unstack::NAME, |s| {
        let at = s.ints("axis").and_then(|v| v.first().copied()).unwrap_or(0);
        Ok(Box::new(move |inputs| {
            let [x] = take(inputs)?;
            let at = axis(at, x.rank())?;
            let mut shape: Shape = x.shape().into();
            let n = shape.remove(at);
            if n > MAX_PIECES {
                return Err(format!("{n} slices are too many"));
            }
            pieces(&x, at, &Shape::from_elem(1, n))?
                .into_iter()
                .map(|p| p.reshaped(&shape))
                .collect()
        }))
    }),
    (pd::Tril::NAME, |s| triangle(s, |row, column, d| column <= row + d)),
    (pd::Triu::NAME, |s| triangle(s, |row, column, d| column >= row + d)),
    (pd::Flip::NAME, |s| {
        let axes = s.ints("axis").ok_or("`axis` is missing")?;
        Ok(Box::new(move |inputs| {
            let [x] = take(inputs)?;
            let axes: Shape = axes.iter().map(|&a| axis(a, x.rank())).collect::<Result<_, _>>()?;
            permuted(&x, |index, shape| {
                for &a in &axes {
                    index[a] = shape[a] - 1 - index[a];
                }
            })
        }))
    }),
    (pd::Roll::NAME, |s| {
        let (shifts, axes) = (s.ints_or_operand("shifts"), s.ints("axis").unwrap_or_default());
        Ok(Box::new(move |inputs| {
            let shifts = shifts.get(&inputs)?.ok_or("`shifts` is missing")?;
            let [x] = take(inputs)?;
            if axes.is_empty() {
                let shape: Shape = x.shape().into();
                let n = x.len();
                let flat = x.reshaped(&[n])?;
                let by = shifts.first().copied().unwrap_or(0);
                let rolled = permuted(&flat, |index, shape| index[0] = shifted(index[0], by, shape[0]))?;
                return rolled.into_iter().map(|t| t.reshaped(&shape)).collect();
            }
            let axes: Shape = axes.iter().map(|&a| axis(a, x.rank())).collect::<Result<_, _>>()?;
            if axes.len() != shifts.len() {
                return Err(format!(
                    "expected one shift for each axis, found {} shifts for {} axes",
                    shifts.len(),
                    axes.len()
                ));
            }
            permuted(&x, |index, shape| {
                for (&a, &by) in axes.iter().zip(&shifts) {
                    index[a] = shifted(index[a], by, shape[a]);
                }
            })
        }))
    }),
    (pd::Pad::NAME, |s| {
        let paddings = dims(&s.ints("paddings").ok_or("`paddings` is missing")?)?;
        let (value, at) = (s.float("pad_value", 0.0), s.operand_called("pad_value"));
        Ok(Box::new(move |inputs| {
            let value = number(&inputs, at, value)?;
            let [x] = take(inputs)?;
            if paddings.len() != 2 * x.rank() {
                return Err("`paddings` needs two numbers for each dimension".to_owned());
            }
            let ends = paddings.chunks_exact(2);
            let shape: Shape = (x.shape().iter().zip(ends.clone()))
                .map(|(&d, p)| p.iter().try_fold(d, |sum, &p| sum.checked_add(p)))
                .collect::<Option<_>>()
                .ok_or("the result is too large")?;
            let starts: Shape = ends.map(|p| p[0]).collect();
            one(place(Tensor::full(&shape, x.dtype(), value)?, &x, &starts)?)
        }))
    }),
];

/// The maximal number of results.
const MAX_PIECES: usize = 1 << 20;

fn reshape(old: &[usize], new: &[i64]) -> Result<Shape, String> {
    let total: usize = old.iter().product();
    let mut shape = Shape::new();
    let mut open = None;
    for (i, &d) in new.iter().enumerate() {
        shape.push(match d {
            -1 if open.is_none() => {
                open = Some(i);
                1
            }
            0 if total != 0 => *old.get(i).ok_or("a dimension of 0 beyond those of the operand")?,
            d => usize::try_from(d).map_err(|_| format!("a dimension cannot be {d}"))?,
        });
    }
    if let Some(at) = open {
        let rest = checked_count(&shape, 1)?;
        if !total.is_multiple_of(rest) || rest == 0 {
            return Err(format!("{total} elements do not match shape {new:?}"));
        }
        shape[at] = total / rest;
    }
    Ok(shape)
}

pub(super) fn concat(parts: &[Tensor], at: i64) -> Result<Tensor, String> {
    let first = parts.first().ok_or("at least one operand is needed")?;
    let at = axis(at, first.rank())?;
    let mut shape: Shape = first.shape().into();
    shape[at] = 0;
    for part in parts {
        let fits = part.rank() == shape.len()
            && part.dtype() == first.dtype()
            && part
                .shape()
                .iter()
                .enumerate()
                .all(|(i, &d)| i == at || d == first.shape()[i]);
        if !fits {
            return Err(format!(
                "shapes {:?} and {:?} differ in a dimension other than axis {at}",
                first.shape(),
                part.shape()
            ));
        }
        shape[at] = shape[at]
            .checked_add(part.shape()[at])
            .ok_or("the result is too large")?;
    }
    let count = checked_count(&shape, first.dtype().size())?;
    if count == 0 {
        // The loop below would iterate over empty dimensions.
        return Tensor::full(&shape, first.dtype(), 0.0);
    }
    fn join<T: Element>(_: &[T], parts: &[Tensor], at: usize, count: usize) -> Result<Data, String> {
        let outer: usize = parts[0].shape()[..at].iter().product();
        let runs = parts.iter().map(|part| {
            let run: usize = part.shape()[at..].iter().product();
            (part.view::<T>().unwrap_or_default(), run)
        });
        let runs: SmallVec<[_; 8]> = runs.collect();
        if outer > 1 && runs.iter().all(|&(_, run)| run < SHORT) {
            return join_short(&runs, count / outer, count);
        }
        let mut out = room::<T>(count)?;
        for o in 0..outer {
            for (v, run) in &runs {
                out.extend_from_slice(&v[o * run..(o + 1) * run]);
            }
        }
        Ok(T::wrap(out))
    }
    let data = crate::each_type!(first.data(), v => join(v, parts, at, count))?;
    Ok(Tensor::from_parts(shape, data))
}

/// The length from which on copying a run takes longer than finding it.
const SHORT: usize = 8;

/// Joins runs of a few elements, of which `width` are a row: some rows at a time, so that what is written stays in the nearest cache
/// while each part is read.
fn join_short<T: Element>(runs: &[(&[T], usize)], width: usize, count: usize) -> Result<Data, String> {
    const ROWS: usize = 16;
    let mut out = stale::<T>(count)?;
    for (at, rows) in out.chunks_mut(ROWS * width).enumerate() {
        let first = at * ROWS;
        let mut column = 0;
        for &(v, run) in runs {
            let from = &v[first * run..];
            if run == 1 {
                let places = rows.iter_mut().skip(column).step_by(width);
                places.zip(from).for_each(|(to, &v)| *to = v);
            } else {
                for (row, from) in rows.chunks_exact_mut(width).zip(from.chunks_exact(run.max(1))) {
                    row[column..column + run].copy_from_slice(&from[..run]);
                }
            }
            column += run;
        }
    }
    Ok(T::wrap(out))
}

/// The elements `start..end` along an axis.
pub(super) fn cut(x: &Tensor, at: usize, start: usize, end: usize) -> Result<Tensor, String> {
    let (outer, n, inner) = around(x.shape(), at);
    fn copy<T: Element>(
        v: &[T],
        outer: usize,
        n: usize,
        inner: usize,
        start: usize,
        end: usize,
    ) -> Result<Data, String> {
        let run = (end - start) * inner;
        let mut out = room::<T>(outer * run)?;
        // An empty tensor stays empty, whatever the count.
        let outer = if run == 0 { 0 } else { outer };
        for o in 0..outer {
            out.extend_from_slice(&v[(o * n + start) * inner..(o * n + end) * inner]);
        }
        Ok(T::wrap(out))
    }
    let mut shape: Shape = x.shape().into();
    shape[at] = end - start;
    let data = crate::each_type!(x.data(), v => copy(v, outer, n, inner, start, end))?;
    Ok(Tensor::from_parts(shape, data))
}

fn pieces(x: &Tensor, at: usize, sizes: &[usize]) -> Result<Outputs, String> {
    let mut start = 0usize;
    let mut out = Outputs::new();
    for &size in sizes {
        let end = start
            .checked_add(size)
            .filter(|&e| e <= x.shape()[at])
            .ok_or("the pieces have more elements than the operand")?;
        out.push(cut(x, at, start, end)?);
        start = end;
    }
    if start != x.shape()[at] {
        return Err("the pieces have fewer elements than the operand".to_owned());
    }
    Ok(out)
}

/// Copies a tensor into another one at an offset.
pub(super) fn place(into: Tensor, x: &Tensor, starts: &[usize]) -> Result<Tensor, String> {
    let fits = |((&d, &n), &start): ((&usize, &usize), &usize)| start.checked_add(d).is_some_and(|end| end <= n);
    let dims = x.shape().iter().zip(into.shape()).zip(starts);
    if x.rank() != into.rank() || starts.len() != x.rank() || !dims.into_iter().all(fits) {
        return Err(format!(
            "shape {:?} at {starts:?} does not fit in {:?}",
            x.shape(),
            into.shape()
        ));
    }
    let (shape, data) = into.into_parts();
    let full = strides_of(&shape);
    fn write<T: Element>(_: &[T], data: Data, x: &Tensor, full: &[usize], starts: &[usize]) -> Result<Data, String> {
        let mut out = T::take(data)?.ok_or(MIXED)?;
        let v = x.view::<T>().ok_or(MIXED)?;
        let base: usize = full.iter().zip(starts).map(|(s, o)| s * o).sum();
        let rows = Rows::new(x.shape(), full, &strides_of(x.shape()));
        let n = rows.length;
        // A row of one element may have any stride; all others are contiguous.
        for (to, from) in rows.offsets() {
            match rows.steps[0] {
                0 | 1 => out[base + to..base + to + n].copy_from_slice(&v[from..from + n]),
                step => {
                    let places = out[base + to..].iter_mut().step_by(step);
                    places.zip(&v[from..from + n]).for_each(|(p, &v)| *p = v);
                }
            }
        }
        Ok(T::wrap(out))
    }
    let data = crate::each_type!(x.data(), v => write(v, data, x, &full, starts))?;
    Ok(Tensor::from_parts(shape, data))
}

fn shifted(index: usize, by: i64, n: usize) -> usize {
    let n = n.max(1) as i64;
    (index as i64 - by.rem_euclid(n)).rem_euclid(n) as usize
}

/// Permutes elements: `source` maps each index to that of the source element.
fn permuted(x: &Tensor, source: impl Fn(&mut Shape, &[usize])) -> Result<Outputs, String> {
    let shape: Shape = x.shape().into();
    let full = strides_of(&shape);
    let places = (0..x.len()).map(|n| -> usize {
        let mut index: Shape = (0..shape.len()).map(|i| n / full[i] % shape[i]).collect();
        source(&mut index, &shape);
        index.iter().zip(&full).map(|(i, s)| i * s).sum()
    });
    fn copy<T: Element>(v: &[T], places: impl Iterator<Item = usize>) -> Result<Data, String> {
        Ok(T::wrap(gathered(places.map(|p| v[p]))?))
    }
    let data = crate::each_type!(x.data(), v => copy(v, places))?;
    one(Tensor::from_parts(shape, data))
}

fn triangle(s: &Spec<'_>, inside: fn(i64, i64, i64) -> bool) -> Result<Kernel, String> {
    let diagonal = s.ints("diagonal").and_then(|v| v.first().copied()).unwrap_or(0);
    Ok(Box::new(move |inputs| {
        let [x] = take(inputs)?;
        if x.rank() < 2 {
            return Err("a triangle needs two dimensions".to_owned());
        }
        let columns = x.shape()[x.rank() - 1];
        let rows = x.shape()[x.rank() - 2];
        fn clear<T: Element>(
            v: &[T],
            rows: usize,
            columns: usize,
            keep: impl Fn(i64, i64) -> bool,
        ) -> Result<Data, String> {
            let pick = |(n, &v): (usize, &T)| {
                if keep((n / columns % rows) as i64, (n % columns) as i64) {
                    v
                } else {
                    T::default()
                }
            };
            Ok(T::wrap(gathered(v.iter().enumerate().map(pick))?))
        }
        let data = crate::each_type!(x.data(), v => clear(v, rows, columns, |r, c| inside(r, c, diagonal)))?;
        one(Tensor::from_parts(x.shape().into(), data))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::DType;

    /// Runs of any length are joined as elements are, one by one.
    #[test]
    fn runs_are_joined() {
        for outer in [1, 2, 15, 16, 17, 40] {
            for lengths in [&[1, 1, 1][..], &[1], &[0, 1, 0], &[3, 1, 7, 2], &[7, 8], &[9, 20]] {
                let parts: Vec<Tensor> = (0..)
                    .zip(lengths)
                    .map(|(number, &length)| {
                        let values = (0..outer * length * 2).map(|at| f64::from(at as u32 + 1000 * number));
                        Tensor::new(&[outer, length, 2], values.collect::<Vec<_>>()).unwrap()
                    })
                    .collect();
                let mut expected = Vec::new();
                for o in 0..outer {
                    for (part, &length) in parts.iter().zip(lengths) {
                        expected.extend_from_slice(&part.to_f64()[o * length * 2..(o + 1) * length * 2]);
                    }
                }
                let joined = concat(&parts, 1).unwrap();
                assert_eq!(joined.shape(), [outer, lengths.iter().sum(), 2]);
                assert_eq!(joined.to_f64(), expected, "{outer} {lengths:?}");
                // Single elements, of another type.
                let flat: Vec<Tensor> = parts
                    .iter()
                    .map(|part| {
                        part.clone()
                            .reshaped(&[part.len(), 1])
                            .unwrap()
                            .cast(DType::I32)
                            .unwrap()
                    })
                    .filter(|part| part.len() == outer * 2)
                    .collect();
                if let Some(first) = flat.first() {
                    let joined = concat(&flat, -1).unwrap().to_f64();
                    let expected = (0..first.len()).flat_map(|o| flat.iter().map(move |part| part.to_f64()[o]));
                    assert_eq!(joined, expected.collect::<Vec<_>>());
                }
            }
        }
    }
}
