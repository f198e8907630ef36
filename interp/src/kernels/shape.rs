//! Products, constants, and kernels that move elements about.

use super::elementwise::{attr_dtype, expand};
use super::reduce::{dims, strides_of};
use super::{Kernel, Outputs, Prepare, Spec, around, axis, one, take};
use crate::tensor::{DType, Data, Element, Shape, Tensor, checked_count};

pub(super) const KERNELS: &[(&str, Prepare)] = &[
    ("pd.matmul", |s| {
        let (tx, ty) = (s.flag("transpose_x", false), s.flag("transpose_y", false));
        Ok(Box::new(move |inputs| {
            let [x, y] = take(inputs)?;
            one(matmul(x, y, tx, ty)?)
        }))
    }),
    ("pd.transpose", |s| {
        let perm = s.ints("perm").ok_or("`perm` is missing")?;
        Ok(Box::new(move |inputs| {
            let [x] = take(inputs)?;
            let perm: Vec<usize> = perm.iter().map(|&p| axis(p, x.rank())).collect::<Result<_, _>>()?;
            one(transpose(&x, &perm)?)
        }))
    }),
    ("pd.reshape", |s| {
        let shape = s.ints_or_operand("shape");
        Ok(Box::new(move |inputs| {
            let shape = shape.get(&inputs)?.ok_or("`shape` is missing")?;
            let [x] = take(inputs)?;
            let shape = reshape(x.shape(), &shape)?;
            one(x.reshaped(&shape)?)
        }))
    }),
    ("pd.squeeze", |s| {
        let axes = s.ints_or_operand("axis");
        Ok(Box::new(move |inputs| {
            let axes = axes.get(&inputs)?.unwrap_or_default();
            let [x] = take(inputs)?;
            let mut gone: Vec<bool> = x.shape().iter().map(|&d| axes.is_empty() && d == 1).collect();
            for a in axes {
                let at = axis(a, x.rank())?;
                gone[at] = x.shape()[at] == 1;
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
    ("pd.unsqueeze", |s| {
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
    ("pd.flatten", |s| {
        let ends = [("start_axis", 1), ("stop_axis", -1)]
            .map(|(n, d)| s.ints(n).and_then(|v| v.first().copied()).unwrap_or(d));
        Ok(Box::new(move |inputs| {
            let [x] = take(inputs)?;
            if x.rank() == 0 {
                return one(x.reshaped(&[1])?);
            }
            let (start, stop) = (axis(ends[0], x.rank())?, axis(ends[1], x.rank())?);
            if start > stop {
                return Err("`start_axis` is behind `stop_axis`".to_owned());
            }
            let mut shape: Shape = x.shape()[..start].into();
            shape.push(x.shape()[start..=stop].iter().product());
            shape.extend_from_slice(&x.shape()[stop + 1..]);
            one(x.reshaped(&shape)?)
        }))
    }),
    ("pd.expand", |s| {
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
    ("pd.expand_as", |_| {
        Ok(Box::new(|inputs| {
            let [x, y] = take(inputs)?;
            let shape = super::elementwise::broadcast(x.shape(), y.shape())?;
            one(expand(&x, &shape)?)
        }))
    }),
    ("pd.tile", |s| {
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
            // y[r, n] = x[n] along each dimension: broadcast over a new dimension and join the two.
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
    ("pd.concat", |s| {
        let at = s.ints("axis").and_then(|v| v.first().copied()).unwrap_or(0);
        Ok(Box::new(move |inputs| one(concat(&inputs, at)?)))
    }),
    ("pd.stack", |s| {
        let at = s.ints("axis").and_then(|v| v.first().copied()).unwrap_or(0);
        Ok(Box::new(move |inputs| {
            let rank = inputs.first().ok_or("there is nothing to stack")?.rank() + 1;
            let at = axis(at, rank)?;
            let parts = inputs
                .into_iter()
                .map(|x| {
                    let mut shape: Shape = x.shape().into();
                    shape.insert(at, 1);
                    x.reshaped(&shape)
                })
                .collect::<Result<Vec<_>, _>>()?;
            one(concat(&parts, at as i64)?)
        }))
    }),
    ("pd.split", |s| {
        let (sections, at) = (s.ints_or_operand("sections"), s.ints_or_operand("axis"));
        Ok(Box::new(move |inputs| {
            let sections = sections.get(&inputs)?.ok_or("`sections` is missing")?;
            let at = at.get(&inputs)?.and_then(|v| v.first().copied()).unwrap_or(0);
            let [x] = take(inputs)?;
            let at = axis(at, x.rank())?;
            let known: i64 = sections.iter().filter(|&&n| n != -1).sum();
            let rest = x.shape()[at] as i64 - known;
            let sizes = dims(
                &sections
                    .iter()
                    .map(|&n| if n == -1 { rest } else { n })
                    .collect::<Vec<_>>(),
            )?;
            pieces(&x, at, &sizes)
        }))
    }),
    ("pd.split_with_num", |s| {
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
            if x.shape()[at] % num != 0 {
                return Err(format!("{} elements do not make {num} equal pieces", x.shape()[at]));
            }
            let size = x.shape()[at] / num;
            pieces(&x, at, &vec![size; num])
        }))
    }),
    ("pd.unstack", |s| {
        let at = s.ints("axis").and_then(|v| v.first().copied()).unwrap_or(0);
        Ok(Box::new(move |inputs| {
            let [x] = take(inputs)?;
            let at = axis(at, x.rank())?;
            let mut shape: Shape = x.shape().into();
            let n = shape.remove(at);
            pieces(&x, at, &vec![1; n])?
                .into_iter()
                .map(|p| p.reshaped(&shape))
                .collect()
        }))
    }),
    ("pd.tril", |s| triangle(s, |row, column, d| column <= row + d)),
    ("pd.triu", |s| triangle(s, |row, column, d| column >= row + d)),
    ("pd.flip", |s| {
        let axes = s.ints("axis").ok_or("`axis` is missing")?;
        Ok(Box::new(move |inputs| {
            let [x] = take(inputs)?;
            let axes: Vec<usize> = axes.iter().map(|&a| axis(a, x.rank())).collect::<Result<_, _>>()?;
            permuted(&x, |index, shape| {
                for &a in &axes {
                    index[a] = shape[a] - 1 - index[a];
                }
            })
        }))
    }),
    ("pd.roll", |s| {
        let (shifts, axes) = (
            s.ints("shifts").ok_or("`shifts` is missing")?,
            s.ints("axis").unwrap_or_default(),
        );
        Ok(Box::new(move |inputs| {
            let [x] = take(inputs)?;
            if axes.is_empty() {
                let shape: Shape = x.shape().into();
                let n = x.len();
                let flat = x.reshaped(&[n])?;
                let by = shifts.first().copied().unwrap_or(0);
                let rolled = permuted(&flat, |index, shape| index[0] = shifted(index[0], by, shape[0]))?;
                return rolled.into_iter().map(|t| t.reshaped(&shape)).collect();
            }
            let axes: Vec<usize> = axes.iter().map(|&a| axis(a, x.rank())).collect::<Result<_, _>>()?;
            permuted(&x, |index, shape| {
                for (&a, &by) in axes.iter().zip(&shifts) {
                    index[a] = shifted(index[a], by, shape[a]);
                }
            })
        }))
    }),
    ("pd.pad", |s| {
        let paddings = dims(&s.ints("paddings").ok_or("`paddings` is missing")?)?;
        let value = s.float("pad_value", 0.0);
        Ok(Box::new(move |inputs| {
            let [x] = take(inputs)?;
            let shape: Shape = x
                .shape()
                .iter()
                .enumerate()
                .map(|(i, &d)| paddings[2 * i] + d + paddings[2 * i + 1])
                .collect();
            let starts: Shape = (0..x.rank()).map(|i| paddings[2 * i]).collect();
            let mut out = Tensor::full(&shape, x.dtype(), value)?;
            out = place(out, &x, &starts)?;
            one(out)
        }))
    }),
    ("pd.full", |s| {
        let shape = dims(&s.ints("shape").ok_or("`shape` is missing")?)?;
        filled(s, &shape, "value")
    }),
    ("pd.const", constant),
    ("pd.constant", constant),
    ("pd.full_int_array", |s| {
        let values = s.ints("value").ok_or("`value` is missing")?;
        let dtype = s.result_dtype(0)?;
        let tensor = Tensor::new(&[values.len()], values)?.cast(dtype);
        Ok(Box::new(move |_| one(tensor.clone())))
    }),
    ("pd.full_like", |s| {
        let value = s.float("value", 0.0);
        let dtype = s.result_dtype(0)?;
        Ok(Box::new(move |inputs| {
            let [x] = take(inputs)?;
            one(Tensor::full(x.shape(), dtype, value)?)
        }))
    }),
    ("pd.arange", |s| {
        let dtype = attr_dtype(s, "dtype").unwrap_or(DType::I64);
        let names = ["start", "end", "step"];
        let known = names.map(|n| s.view.f64(n));
        let places = names.map(|n| s.operand_called(n));
        Ok(Box::new(move |inputs| {
            let value = |i: usize, default: f64| match (known[i], places[i].and_then(|p| inputs.get(p))) {
                (Some(v), _) => v,
                (None, Some(t)) => t.to_f64().first().copied().unwrap_or(default),
                (None, None) => default,
            };
            let (start, end, step) = (value(0, 0.0), value(1, 0.0), value(2, 1.0));
            let n = ((end - start) / step).ceil().max(0.0);
            if !n.is_finite() || n > 1e12 {
                return Err("the range has no end".to_owned());
            }
            let count = checked_count(&[n as usize], 8)?;
            let values: Vec<f64> = (0..count).map(|i| start + step * i as f64).collect();
            one(Tensor::new(&[count], values)?.cast(dtype))
        }))
    }),
    ("pd.shape", |_| shape_of()),
    ("pd.shape64", |_| shape_of()),
    ("pd.numel", |_| {
        Ok(Box::new(|inputs| {
            let [x] = take(inputs)?;
            one(Tensor::scalar(x.len() as i64))
        }))
    }),
];

fn shape_of() -> Result<Kernel, String> {
    Ok(Box::new(|inputs| {
        let [x] = take(inputs)?;
        let shape: Vec<i64> = x.shape().iter().map(|&d| d as i64).collect();
        one(Tensor::new(&[shape.len()], shape)?)
    }))
}

fn constant(s: &Spec<'_>) -> Result<Kernel, String> {
    let shape = dims(&s.ints("shape").unwrap_or_default())?;
    filled(s, &shape, "value")
}

/// A constant: made once, shared ever after.
fn filled(s: &Spec<'_>, shape: &[usize], name: &str) -> Result<Kernel, String> {
    let dtype = s.result_dtype(0)?;
    let value = s.view.attr(name).ok_or_else(|| format!("`{name}` is missing"))?;
    let tensor = match s.view.ctx.attr_data(value) {
        // Integers beyond 2^53 are no floats.
        pir_ir::AttrData::Int { value, .. } if !dtype.is_float() => {
            let value = i64::try_from(*value).map_err(|_| "the number does not fit")?;
            let one = Tensor::scalar(value).cast(dtype);
            expand(&one, shape)?
        }
        _ => Tensor::full(
            shape,
            dtype,
            s.view.ctx.attr_f64(value).ok_or("the value is no number")?,
        )?,
    };
    Ok(Box::new(move |_| one(tensor.clone())))
}

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
            0 if total != 0 => *old.get(i).ok_or("a dimension of 0 behind those of the operand")?,
            d => usize::try_from(d).map_err(|_| format!("a dimension cannot be {d}"))?,
        });
    }
    if let Some(at) = open {
        let rest = checked_count(&shape, 1)?;
        if !total.is_multiple_of(rest) || rest == 0 {
            return Err(format!("{total} elements do not fit shape {new:?}"));
        }
        shape[at] = total / rest;
    }
    Ok(shape)
}

pub(super) fn transpose(x: &Tensor, perm: &[usize]) -> Result<Tensor, String> {
    if perm.len() != x.rank() {
        return Err(format!("{} axes for rank {}", perm.len(), x.rank()));
    }
    let old = strides_of(x.shape());
    let shape: Shape = perm.iter().map(|&p| x.shape()[p]).collect();
    let s: Shape = perm.iter().map(|&p| old[p]).collect();
    fn copy<T: Element>(v: &[T], shape: &[usize], s: &[usize]) -> Data {
        let n = shape.last().copied().unwrap_or(1);
        let step = s.last().copied().unwrap_or(0);
        let mut out = Vec::with_capacity(v.len());
        super::elementwise::rows(shape, s, s, |p, _| out.extend((0..n).map(|i| v[p + i * step])));
        T::wrap(out)
    }
    let data = crate::each_type!(x.data(), v => copy(v, &shape, &s));
    Ok(Tensor::from_parts(shape, data))
}

fn concat(parts: &[Tensor], at: i64) -> Result<Tensor, String> {
    let first = parts.first().ok_or("there is nothing to put together")?;
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
                "shapes {:?} and {:?} differ off axis {at}",
                first.shape(),
                part.shape()
            ));
        }
        shape[at] += part.shape()[at];
    }
    checked_count(&shape, first.dtype().size())?;
    fn join<T: Element>(_: &[T], parts: &[Tensor], at: usize) -> Data {
        let outer: usize = parts[0].shape()[..at].iter().product();
        let mut out: Vec<T> = Vec::new();
        for o in 0..outer {
            for part in parts {
                let v = part.view::<T>().unwrap_or_default();
                let run: usize = part.shape()[at..].iter().product();
                out.extend_from_slice(&v[o * run..(o + 1) * run]);
            }
        }
        T::wrap(out)
    }
    let data = crate::each_type!(first.data(), v => join(v, parts, at));
    Ok(Tensor::from_parts(shape, data))
}

/// The elements `start..end` along an axis.
pub(super) fn cut(x: &Tensor, at: usize, start: usize, end: usize) -> Tensor {
    let (outer, n, inner) = around(x.shape(), at);
    fn copy<T: Element>(v: &[T], outer: usize, n: usize, inner: usize, start: usize, end: usize) -> Data {
        let mut out: Vec<T> = Vec::with_capacity(outer * (end - start) * inner);
        for o in 0..outer {
            out.extend_from_slice(&v[(o * n + start) * inner..(o * n + end) * inner]);
        }
        T::wrap(out)
    }
    let mut shape: Shape = x.shape().into();
    shape[at] = end - start;
    let data = crate::each_type!(x.data(), v => copy(v, outer, n, inner, start, end));
    Tensor::from_parts(shape, data)
}

fn pieces(x: &Tensor, at: usize, sizes: &[usize]) -> Result<Outputs, String> {
    let mut start = 0usize;
    let mut out = Outputs::new();
    for &size in sizes {
        let end = start
            .checked_add(size)
            .filter(|&e| e <= x.shape()[at])
            .ok_or("the pieces are more than the whole")?;
        out.push(cut(x, at, start, end));
        start = end;
    }
    if start != x.shape()[at] {
        return Err("the pieces are less than the whole".to_owned());
    }
    Ok(out)
}

/// Writes a tensor into another at an offset; it must fit.
pub(super) fn place(into: Tensor, x: &Tensor, starts: &[usize]) -> Result<Tensor, String> {
    let (shape, data) = into.into_parts();
    let full = strides_of(&shape);
    fn write<T: Element>(_: &[T], data: Data, x: &Tensor, full: &[usize], starts: &[usize]) -> Result<Data, String> {
        let mut out = T::take(data).ok_or("different element types")?;
        let v = x.view::<T>().ok_or("different element types")?;
        let base: usize = full.iter().zip(starts).map(|(s, o)| s * o).sum();
        let n = x.shape().last().copied().unwrap_or(1);
        let mut from = 0;
        super::elementwise::rows(x.shape(), full, full, |p, _| {
            out[base + p..base + p + n].copy_from_slice(&v[from..from + n]);
            from += n;
        });
        Ok(T::wrap(out))
    }
    let data = crate::each_type!(x.data(), v => write(v, data, x, &full, starts))?;
    Ok(Tensor::from_parts(shape, data))
}

fn shifted(index: usize, by: i64, n: usize) -> usize {
    (index as i64 - by).rem_euclid(n.max(1) as i64) as usize
}

/// A tensor whose element at each index is that at another index.
fn permuted(x: &Tensor, source: impl Fn(&mut Shape, &[usize])) -> Result<Outputs, String> {
    let shape: Shape = x.shape().into();
    let full = strides_of(&shape);
    let places: Vec<usize> = (0..x.len())
        .map(|n| {
            let mut index: Shape = (0..shape.len()).map(|i| n / full[i] % shape[i]).collect();
            source(&mut index, &shape);
            index.iter().zip(&full).map(|(i, s)| i * s).sum()
        })
        .collect();
    fn copy<T: Element>(v: &[T], places: &[usize]) -> Data {
        T::wrap(places.iter().map(|&p| v[p]).collect())
    }
    let data = crate::each_type!(x.data(), v => copy(v, &places));
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
        fn clear<T: Element>(v: &[T], rows: usize, columns: usize, keep: impl Fn(i64, i64) -> bool) -> Data {
            let pick = |(n, &v): (usize, &T)| {
                if keep((n / columns % rows) as i64, (n % columns) as i64) {
                    v
                } else {
                    T::default()
                }
            };
            T::wrap(v.iter().enumerate().map(pick).collect())
        }
        let data = crate::each_type!(x.data(), v => clear(v, rows, columns, |r, c| inside(r, c, diagonal)));
        one(Tensor::from_parts(x.shape().into(), data))
    }))
}

/// Batched matrix product.
fn matmul(x: Tensor, y: Tensor, tx: bool, ty: bool) -> Result<Tensor, String> {
    if x.dtype() != y.dtype() {
        return Err(format!(
            "element types {} and {} differ",
            x.dtype().name(),
            y.dtype().name()
        ));
    }
    if x.rank() == 0 || y.rank() == 0 {
        return Err("a matrix product needs at least one dimension".to_owned());
    }
    let (rx, ry) = (x.rank(), y.rank());
    let (tx, ty) = (tx && rx > 1, ty && ry > 1);
    let x = if rx == 1 {
        let n = x.len();
        x.reshaped(&[1, n])?
    } else {
        x
    };
    let y = if ry == 1 {
        let n = y.len();
        y.reshaped(&[n, 1])?
    } else {
        y
    };
    let split = |t: &Tensor| -> (Shape, usize, usize) {
        let n = t.rank();
        (t.shape()[..n - 2].into(), t.shape()[n - 2], t.shape()[n - 1])
    };
    let ((xb, a, b), (yb, c, d)) = (split(&x), split(&y));
    let ((m, k), (k2, n)) = (if tx { (b, a) } else { (a, b) }, if ty { (d, c) } else { (c, d) });
    if k != k2 {
        return Err(format!(
            "the inner dimensions {k} and {k2} of {:?} and {:?} differ",
            x.shape(),
            y.shape()
        ));
    }
    let batch = super::elementwise::broadcast(&xb, &yb)?;
    let mut shape = batch.clone();
    shape.extend([m, n]);
    let count = checked_count(&shape, x.dtype().size())?;
    // The last "row" of the batch dimensions is one matrix.
    let mut outer = batch.clone();
    outer.push(1);
    let (mut sx, mut sy) = (
        super::elementwise::strides(&xb, &batch),
        super::elementwise::strides(&yb, &batch),
    );
    sx.push(0);
    sy.push(0);
    let mut pairs = Vec::new();
    super::elementwise::rows(&outer, &sx, &sy, |p, q| pairs.push((p, q)));
    let dims = Product { m, k, n, tx, ty };
    let data = match x.data() {
        Data::F32(v) => f32::wrap(products(
            v,
            y.view::<f32>().unwrap_or_default(),
            &pairs,
            count,
            dims,
            gemm32,
        )),
        Data::F64(v) => f64::wrap(products(
            v,
            y.view::<f64>().unwrap_or_default(),
            &pairs,
            count,
            dims,
            gemm64,
        )),
        _ if x.dtype().is_float() => {
            // Half precision is computed in single and rounded once.
            let (wx, wy) = (x.cast(DType::F32), y.cast(DType::F32));
            let (wx, wy) = (
                wx.view::<f32>().unwrap_or_default(),
                wy.view::<f32>().unwrap_or_default(),
            );
            let wide = f32::wrap(products(wx, wy, &pairs, count, dims, gemm32));
            Tensor::from_parts(shape.clone(), wide).cast(x.dtype()).into_parts().1
        }
        _ => {
            let (wx, wy) = (x.to_i64(), y.to_i64());
            let wide = i64::wrap(products(&wx, &wy, &pairs, count, dims, gemm_whole));
            Tensor::from_parts(shape.clone(), wide).cast(x.dtype()).into_parts().1
        }
    };
    let out = Tensor::from_parts(shape.clone(), data);
    if rx > 1 && ry > 1 {
        return Ok(out);
    }
    let rank = shape.len();
    let kept: Shape = shape
        .iter()
        .enumerate()
        .filter(|&(i, _)| !(ry == 1 && i == rank - 1 || rx == 1 && i == rank - 2))
        .map(|(_, &d)| d)
        .collect();
    out.reshaped(&kept)
}

#[derive(Clone, Copy)]
struct Product {
    m: usize,
    k: usize,
    n: usize,
    tx: bool,
    ty: bool,
}

type Gemm<T> = fn(Product, &[T], &[T], &mut [T]);

fn products<T: Element>(x: &[T], y: &[T], pairs: &[(usize, usize)], count: usize, p: Product, gemm: Gemm<T>) -> Vec<T> {
    let mut out = vec![T::default(); count];
    let size = p.m * p.n;
    if size == 0 || p.k == 0 {
        return out;
    }
    for (&(a, b), z) in pairs.iter().zip(out.chunks_exact_mut(size)) {
        let (a, b) = (a * p.m * p.k, b * p.k * p.n);
        gemm(p, &x[a..a + p.m * p.k], &y[b..b + p.k * p.n], z);
    }
    out
}

impl Product {
    /// Row and column steps of the operands.
    fn steps(self) -> [isize; 4] {
        let (m, k, n) = (self.m as isize, self.k as isize, self.n as isize);
        let [rx, cx] = if self.tx { [1, m] } else { [k, 1] };
        let [ry, cy] = if self.ty { [1, k] } else { [n, 1] };
        [rx, cx, ry, cy]
    }
}

macro_rules! gemm {
    ($name:ident, $ty:ty, $gemm:path) => {
        #[allow(unsafe_code)]
        fn $name(p: Product, x: &[$ty], y: &[$ty], z: &mut [$ty]) {
            assert!(x.len() == p.m * p.k && y.len() == p.k * p.n && z.len() == p.m * p.n);
            let [rx, cx, ry, cy] = p.steps();
            // SAFETY: the slices hold m*k, k*n and m*n elements (asserted above). The steps address, for row i < m and
            // column j < k of x, element i*k + j or, transposed, i + j*m, both below m*k; likewise for y below k*n; and
            // i*n + j < m*n for z, which no other reference aliases.
            unsafe {
                $gemm(
                    p.m,
                    p.k,
                    p.n,
                    1.0,
                    x.as_ptr(),
                    rx,
                    cx,
                    y.as_ptr(),
                    ry,
                    cy,
                    0.0,
                    z.as_mut_ptr(),
                    p.n as isize,
                    1,
                );
            }
        }
    };
}

gemm!(gemm32, f32, matrixmultiply::sgemm);
gemm!(gemm64, f64, matrixmultiply::dgemm);

fn gemm_whole(p: Product, x: &[i64], y: &[i64], z: &mut [i64]) {
    let [rx, cx, ry, cy] = p.steps().map(|s| s as usize);
    for i in 0..p.m {
        for j in 0..p.n {
            z[i * p.n + j] = (0..p.k).fold(0i64, |sum, l| {
                sum.wrapping_add(x[i * rx + l * cx].wrapping_mul(y[l * ry + j * cy]))
            });
        }
    }
}
