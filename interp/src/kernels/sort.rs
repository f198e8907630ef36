//! Sorting, and random numbers.

use super::nn::{each_line, noise, of_axis};
use super::scan::picked;
use super::unary::number;
use super::{IntList, Kernel, Outputs, Prepare, Spec, around, dims, one, take};
use crate::tensor::Storage;
use crate::tensor::buffer::{filled, gathered, scratch};
use crate::tensor::{DType, Shape, Tensor, checked_count};
use pir_dialects::pd;

pub(super) const KERNELS: &[(&str, Prepare)] = &[
    (pd::Argsort::NAME, |s| {
        let (at, descending) = (s.int("axis", -1), s.flag("descending", false));
        Ok(Box::new(move |inputs| {
            let [x] = take(inputs)?;
            sorted(&x, at, descending, None)
        }))
    }),
    (pd::Topk::NAME, |s| {
        let (k, at, largest) = (s.ints_or_operand("k"), s.int("axis", -1), s.flag("largest", true));
        Ok(Box::new(move |inputs| {
            let k = k.get(&inputs)?.and_then(|v| v.first().copied()).unwrap_or(1);
            let k = usize::try_from(k).map_err(|_| "`k` cannot be negative")?;
            let [x] = take(inputs)?;
            sorted(&x, at, largest, Some(k))
        }))
    }),
    (pd::Kthvalue::NAME, |s| {
        let (k, at, keepdim) = (s.int("k", 1), s.int("axis", -1), s.flag("keepdim", false));
        Ok(Box::new(move |inputs| {
            let [x] = take(inputs)?;
            let (axis, lines) = of_axis(at, x.shape())?;
            let k = usize::try_from(k).ok().filter(|k| (1..=lines[axis]).contains(k));
            let k = k.ok_or_else(|| format!("`k` is from 1 to {}", lines[axis]))?;
            let (outer, n, inner) = around(&lines, axis);
            let _scratch = scratch::<usize>(outer * inner)?;
            let places: Vec<usize> = (0..outer * inner)
                .map(|line| (line / inner * n + k - 1) * inner + line % inner)
                .collect();
            let mut shape: Shape = x.shape().into();
            if axis < shape.len() {
                match keepdim {
                    true => shape[axis] = 1,
                    false => drop(shape.remove(axis)),
                }
            }
            let part = |all: &Tensor| {
                let data = crate::each_type!(all.data(), v => picked(v, &places))?;
                Ok(Tensor::from_parts(shape.clone(), data))
            };
            sorted(&x, at, false, None)?.iter().map(part).collect()
        }))
    }),
    (pd::Uniform::NAME, |s| {
        let bounds = [("min", -1.0), ("max", 1.0)].map(|(n, d)| (s.operand_called(n), s.float(n, d)));
        generated(s, move |inputs, seed, count| {
            let [low, high] = bounds.map(|(place, value)| number(inputs, place, value));
            let (low, high) = (low?, high?);
            gathered((0..count).map(|at| low + (high - low) * noise(seed, at as u64)))
        })
    }),
    (pd::Gaussian::NAME, |s| {
        let (mean, deviation) = (s.float("mean", 0.0), s.float("std", 1.0));
        generated(s, move |_, seed, count| {
            // Box-Muller transform: the radius and the angle of a point of a two-dimensional normal distribution.
            let point = |at: usize| {
                let (u, v) = (noise(seed, 2 * at as u64), noise(seed, 2 * at as u64 + 1));
                (-2.0 * (1.0 - u).ln()).sqrt() * (2.0 * std::f64::consts::PI * v).cos()
            };
            gathered((0..count).map(|at| mean + deviation * point(at)))
        })
    }),
    (pd::Randint::NAME, |s| {
        let (low, high) = (s.int("low", 0), s.int("high", 0));
        if low >= high {
            return Err(format!("the range from {low} to {high} is empty"));
        }
        generated(s, move |_, seed, count| {
            let span = high as f64 - low as f64;
            let number = |at| (low as f64 + (span * noise(seed, at as u64)).floor()).min(high as f64 - 1.0);
            gathered((0..count).map(number))
        })
    }),
    (pd::Randperm::NAME, |s| {
        let n = usize::try_from(s.int("n", 0)).map_err(|_| "`n` cannot be negative")?;
        let (seed, dtype) = (s.int("seed", 0) as u64, s.result_dtype(0)?);
        Ok(Box::new(move |_| {
            checked_count(&[n], 8)?;
            let mut values = gathered(0..n as i64)?;
            for at in (1..n).rev() {
                values.swap(at, (noise(seed, at as u64) * (at + 1) as f64) as usize);
            }
            one(Tensor::of(&[n], values)?.cast(dtype)?)
        }))
    }),
    (pd::Bernoulli::NAME, |s| {
        let seed = s.int("seed", 0) as u64;
        Ok(Box::new(move |inputs| {
            let [x] = take(inputs)?;
            let mut values = x.own_doubles()?;
            let places = values.iter_mut().enumerate();
            places.for_each(|(at, p)| *p = f64::from(u8::from(noise(seed, at as u64) < *p)));
            one(Tensor::of(x.shape(), values)?.cast(x.dtype())?)
        }))
    }),
    (pd::Eye::NAME, |s| {
        let sizes = [s.ints_or_operand("num_rows"), s.ints_or_operand("num_columns")];
        let dtype = s.result_dtype(0)?;
        Ok(Box::new(move |inputs| {
            let get = |list: &IntList| Ok::<_, String>(list.get(&inputs)?.and_then(|v| v.first().copied()));
            let rows = get(&sizes[0])?.ok_or("`num_rows` is missing")?;
            let columns = get(&sizes[1])?.filter(|&n| n != -1).unwrap_or(rows);
            let shape = dims(&[rows, columns])?;
            let mut values = filled(checked_count(&shape, 8)?, 0.0)?;
            let step = shape[1] + 1;
            values
                .iter_mut()
                .step_by(step)
                .take(shape[0].min(shape[1]))
                .for_each(|v| *v = 1.0);
            one(Tensor::of(&shape, values)?.cast(dtype)?)
        }))
    }),
];

/// The first `count` elements of each line in order, with their indices. The sort is stable; NaN exceeds everything.
fn sorted(x: &Tensor, at: i64, descending: bool, count: Option<usize>) -> Result<Outputs, String> {
    let (at, shape) = of_axis(at, x.shape())?;
    let n = shape[at];
    let count = count.unwrap_or(n);
    if count > n {
        return Err(format!("cannot select {count} of {n} elements"));
    }
    let mut out_shape: Shape = shape.clone();
    out_shape[at] = count;
    let total = checked_count(&out_shape, 8)?;
    // Integers beyond 2^53 cannot be represented as floats, so they are compared as integers.
    let (floats, whole) = match x.dtype().is_float() {
        true => (x.own_doubles()?, Storage::default()),
        false => (Storage::default(), gathered(x.ranks()?.iter().copied())?),
    };
    let order = |a: usize, b: usize| match whole.is_empty() {
        true => {
            let (a, b) = (floats[a], floats[b]);
            a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
        }
        false => whole[a].cmp(&whole[b]),
    };
    let _scratch = scratch::<usize>(total.saturating_add(n))?;
    let (mut sources, mut places) = (vec![0usize; total], filled(total, 0i64)?);
    let inner: usize = shape[at + 1..].iter().product();
    each_line(&shape, at, |first, step, n| {
        let mut line: Vec<usize> = (0..n).collect();
        let place = |k: usize| first + k * step;
        line.sort_by(|&a, &b| match descending {
            true => order(place(b), place(a)),
            false => order(place(a), place(b)),
        });
        // The offset of this line in the result, which may be shorter.
        let start = first / (n * inner) * count * inner + first % (n * inner);
        for (k, &source) in line.iter().take(count).enumerate() {
            sources[start + k * inner] = place(source);
            places[start + k * inner] = source as i64;
        }
    });
    let data = match total {
        0 => Tensor::full(&[0], x.dtype(), 0.0)?.into_parts().1,
        _ => crate::each_type!(x.data(), v => picked(v, &sources))?,
    };
    let mut result: Shape = x.shape().into();
    if let Some(d) = result.get_mut(at) {
        *d = count;
    }
    let mut out = Outputs::new();
    out.push(Tensor::from_parts(result.clone(), data));
    out.push(Tensor::of(&result, places)?);
    Ok(out)
}

/// A tensor of numbers that are determined by a seed.
fn generated(
    s: &Spec<'_>,
    f: impl Fn(&[Tensor], u64, usize) -> Result<Storage<f64>, String> + Send + Sync + 'static,
) -> Result<Kernel, String> {
    let (shape, seed) = (s.ints_or_operand("shape"), s.int("seed", 0) as u64);
    let dtype: DType = s.result_dtype(0)?;
    Ok(Box::new(move |inputs| {
        let shape = dims(&shape.get(&inputs)?.ok_or("`shape` is missing")?)?;
        let count = checked_count(&shape, 8)?;
        one(Tensor::of(&shape, f(&inputs, seed, count)?)?.cast(dtype)?)
    }))
}
