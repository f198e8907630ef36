//! Scattering kernels, and some that select or repeat elements.

use crate::tensor::buffer::{gathered, room, scratch};
use half::{bf16, f16};
use pir_dialects::pd;
use pir_dialects::window::{set_axes, stretch};
use smallvec::SmallVec;

use super::broadcast::{broadcast, expand, transpose};
use super::index::{along, positions, tuples};
use super::shape::cut;
use super::{Kernel, Outputs, Prepare, Spec, around, axis, one, take};
use crate::tensor::subnormal::Flush;
use crate::tensor::{Complex, DType, Data, Element, Shape, Tensor, checked_count};

/// Kernels that flush subnormal numbers themselves: searching the whole result would take longer than writing a part of it.
pub(super) const FLUSHING: &[&str] = &[
    pd::Scatter::NAME,
    pd::ScatterNdAdd::NAME,
    pd::IndexAdd::NAME,
    pd::PutAlongAxis::NAME,
    pd::SetValueWithTensor::NAME,
];

pub(super) const KERNELS: &[(&str, Prepare)] = &[
    (pd::Scatter::NAME, |s| {
        let (overwrite, flush) = (s.flag("overwrite", true), s.flush);
        Ok(Box::new(move |inputs| {
            let [x, index, updates] = take(inputs)?;
            let &n = x.shape().first().ok_or("the operand needs at least one dimension")?;
            let rows = positions(&index, n)?;
            let run: usize = x.shape()[1..].iter().product();
            let places: Vec<usize> = rows.iter().flat_map(|&r| r * run..(r + 1) * run).collect();
            // The sum starts from zero, not from the previous element.
            put(
                x,
                &updates,
                &places,
                if overwrite {
                    ScatterMode::Assign
                } else {
                    ScatterMode::Replace
                },
                flush,
            )
        }))
    }),
    (pd::ScatterNdAdd::NAME, |s| {
        let flush = s.flush;
        Ok(Box::new(move |inputs| {
            let [x, index, updates] = take(inputs)?;
            let (starts, run, _) = tuples(&index, x.shape())?;
            let places: Vec<usize> = starts.iter().flat_map(|&p| p..p + run).collect();
            put(x, &updates, &places, ScatterMode::Add, flush)
        }))
    }),
    (pd::IndexAdd::NAME, |s| {
        let (at, flush) = (s.int("axis", 0), s.flush);
        Ok(Box::new(move |inputs| {
            let [x, index, updates] = take(inputs)?;
            let at = axis(at, x.rank())?;
            let (outer, n, inner) = around(x.shape(), at);
            let rows = positions(&index, n)?;
            let outer = if updates.is_empty() { 0 } else { outer };
            let _scratch = scratch::<usize>(updates.len())?;
            let places: Vec<usize> = (0..outer)
                .flat_map(|o| {
                    let start = move |p: usize| (o * n + p) * inner;
                    rows.iter().flat_map(move |&p| start(p)..start(p) + inner)
                })
                .collect();
            put(x, &updates, &places, ScatterMode::Add, flush)
        }))
    }),
    (pd::PutAlongAxis::NAME, |s| {
        let (at, flush) = (s.int("axis", 0), s.flush);
        let is_mean = s.text("reduce", "assign") == "mean";
        let mode = match s.text("reduce", "assign") {
            "assign" => ScatterMode::Assign,
            "add" | "mean" => ScatterMode::Add,
            "mul" | "multiply" => ScatterMode::Multiply,
            "amax" => ScatterMode::Greatest,
            "amin" => ScatterMode::Least,
            other => {
                return Err(format!(
                    "`reduce` must be `assign`, `add`, `mean`, `mul`, `amax` or `amin`, not `{other}`"
                ));
            }
        };
        let has_self = s.flag("include_self", true) || mode == ScatterMode::Assign;
        Ok(Box::new(move |inputs| {
            let [mut x, index, values] = take(inputs)?;
            let at = axis(at, x.rank())?;
            let places = along(&index, x.shape(), at)?;
            let values = expand(&values, index.shape())?;
            if !has_self {
                // The neutral element replaces the old values.
                let neutral = match mode {
                    ScatterMode::Add => Tensor::full(values.shape(), values.dtype(), 0.0)?,
                    ScatterMode::Multiply => Tensor::full(values.shape(), values.dtype(), 1.0)?,
                    _ => values.clone(),
                };
                let replaced = put(x, &neutral, &places, ScatterMode::Assign, false)?;
                x = replaced.into_iter().next().ok_or("a result is missing")?;
            }
            if !is_mean {
                return put(x, &values, &places, mode, flush);
            }
            let mut counts = vec![0.0; x.len()];
            places.iter().for_each(|&place| counts[place] += 1.0);
            let own = f64::from(u8::from(has_self));
            let sums = put(x, &values, &places, mode, flush)?
                .into_iter()
                .next()
                .ok_or("a result is missing")?;
            let shares = sums.to_f64().into_iter().zip(counts);
            let means = shares.map(|(sum, count)| if count == 0.0 { sum } else { sum / (count + own) });
            let mut means = Tensor::new(sums.shape(), means.collect())?.cast(sums.dtype())?;
            if flush {
                means.flush_subnormals()?;
            }
            one(means)
        }))
    }),
    (pd::IndexSample::NAME, |_| {
        Ok(Box::new(|inputs| {
            let [x, index] = take(inputs)?;
            let places = along(&index, x.shape(), axis(1, x.rank())?)?;
            one(picked(&x, index.shape(), &places)?)
        }))
    }),
    (pd::Embedding::NAME, |s| {
        let padding = s.int("padding_idx", -1);
        Ok(Box::new(move |inputs| {
            let [x, weight] = take(inputs)?;
            let &[n, width] = weight.shape() else {
                return Err("the weight must be a matrix".to_owned());
            };
            let mut shape: Shape = x.shape().into();
            shape.push(width);
            checked_count(&shape, weight.dtype().size())?;
            let ids = x.wholes()?;
            if let Some(id) = ids.iter().find(|&&id| id < 0 || id >= n as i64) {
                return Err(format!("index {id} is out of range for {n} elements"));
            }
            fn rows<T: Element>(v: &[T], ids: &[i64], width: usize, padding: i64) -> Result<Data, String> {
                let mut out = room::<T>(ids.len() * width)?;
                for &id in ids {
                    let start = id as usize * width;
                    match id == padding {
                        true => out.extend(std::iter::repeat_n(T::default(), width)),
                        false => out.extend_from_slice(&v[start..start + width]),
                    }
                }
                Ok(T::wrap(out))
            }
            let data = crate::each_type!(weight.data(), v => rows(v, &ids, width, padding))?;
            one(Tensor::from_parts(shape, data))
        }))
    }),
    (pd::MaskedSelect::NAME, |_| {
        Ok(Box::new(|inputs| {
            let [x, mask] = take(inputs)?;
            let shape = broadcast(x.shape(), mask.shape())?;
            let (x, mask) = (expand(&x, &shape)?, expand(&mask, &shape)?.wholes()?);
            let _scratch = scratch::<usize>(mask.len())?;
            let places: Vec<usize> = (0..mask.len()).filter(|&at| mask[at] != 0).collect();
            one(picked(&x, &[places.len()], &places)?)
        }))
    }),
    (pd::MaskedFill::NAME, |_| {
        Ok(Box::new(|inputs| {
            let [x, mask, value] = take(inputs)?;
            let shape = broadcast(x.shape(), mask.shape())?;
            let (x, mask) = (expand(&x, &shape)?, expand(&mask, &shape)?.wholes()?);
            let _scratch = scratch::<usize>(mask.len())?;
            let value = expand(&value.cast(x.dtype())?, &shape)?;
            let places: Vec<usize> = (0..mask.len()).filter(|&at| mask[at] != 0).collect();
            let values = picked(&value, &[places.len()], &places)?;
            put(x, &values, &places, ScatterMode::Assign, false)
        }))
    }),
    (pd::Nonzero::NAME, |_| {
        Ok(Box::new(|inputs| {
            let [x] = take(inputs)?;
            let full = super::broadcast::strides_of(x.shape());
            let truth = x.cast(DType::I1)?.wholes()?;
            let _scratch = scratch::<usize>(truth.len())?;
            let found: Vec<usize> = (0..truth.len()).filter(|&at| truth[at] != 0).collect();
            let mut values = room(found.len() * x.rank())?;
            for at in &found {
                values.extend((0..x.rank()).map(|i| (at / full[i] % x.shape()[i]) as i64));
            }
            one(Tensor::of(&[found.len(), x.rank()], values)?)
        }))
    }),
    (pd::StridedSlice::NAME, |s| {
        let axes = s.ints("axes").ok_or("`axes` is missing")?;
        let lists = ["starts", "ends", "strides"].map(|name| s.ints_or_operand(name));
        Ok(Box::new(move |inputs| {
            let mut numbers = Vec::new();
            for list in &lists {
                let list = list.get(&inputs)?.unwrap_or_default();
                if list.len() != axes.len() {
                    return Err("`axes`, `starts`, `ends` and `strides` differ in length".to_owned());
                }
                numbers.push(list);
            }
            let [mut x] = take(inputs)?;
            for (i, &a) in axes.iter().enumerate() {
                let at = axis(a, x.rank())?;
                let stride = numbers[2][i];
                let (start, count) = stretch(x.shape()[at] as i64, numbers[0][i], numbers[1][i], stride)?;
                let rows: Vec<usize> = (0..count).map(|k| (start + k * stride) as usize).collect();
                x = selected(&x, at, &rows)?;
            }
            one(x)
        }))
    }),
    (pd::SetValueWithTensor::NAME, set_value),
    (pd::RepeatInterleave::NAME, |s| {
        let (at, repeats) = (s.int("axis", 0), s.int("repeats", 1));
        let repeats = usize::try_from(repeats).map_err(|_| "`repeats` cannot be negative")?;
        Ok(Box::new(move |inputs| {
            let [x] = take(inputs)?;
            let at = axis(at, x.rank())?;
            let _scratch = scratch::<usize>(checked_count(&[x.shape()[at], repeats], 8)?)?;
            let rows: Vec<usize> = (0..x.shape()[at])
                .flat_map(|k| std::iter::repeat_n(k, repeats))
                .collect();
            one(selected(&x, at, &rows)?)
        }))
    }),
    (pd::Unbind::NAME, |s| {
        let at = s.int("axis", 0);
        Ok(Box::new(move |inputs| {
            let [x] = take(inputs)?;
            let at = axis(at, x.rank())?;
            let mut shape: Shape = x.shape().into();
            let n = shape.remove(at);
            (0..n).map(|k| cut(&x, at, k, k + 1)?.reshaped(&shape)).collect()
        }))
    }),
    (pd::Meshgrid::NAME, |_| {
        Ok(Box::new(|inputs| {
            let shape: Shape = inputs.iter().map(Tensor::len).collect();
            let mut out = Outputs::new();
            for (at, x) in inputs.into_iter().enumerate() {
                let own: Shape = (0..shape.len()).map(|i| if i == at { shape[i] } else { 1 }).collect();
                out.push(expand(&x.reshaped(&own)?, &shape)?);
            }
            Ok(out)
        }))
    }),
    (pd::Pad3d::NAME, pad3d),
];

/// Assigns values to a slice of a tensor.
fn set_value(s: &Spec<'_>) -> Result<Kernel, String> {
    let axes = s.ints("axes").ok_or("`axes` is missing")?;
    let lists = ["starts", "ends", "steps"].map(|name| s.ints_or_operand(name));
    let lost = s.ints("decrease_axes").unwrap_or_default();
    let new = s.ints("none_axes").unwrap_or_default();
    Ok(Box::new(move |inputs| {
        let mut numbers = Vec::new();
        for (list, missing) in lists.iter().zip([0, i64::MAX, 1]) {
            let list = list.get(&inputs)?.unwrap_or_default();
            // By default the whole axis.
            let list = if list.is_empty() {
                SmallVec::from_elem(missing, axes.len())
            } else {
                list
            };
            if list.len() != axes.len() {
                return Err("`axes`, `starts`, `ends` and `steps` differ in length".to_owned());
            }
            numbers.push(list);
        }
        let [x, values] = take(inputs)?;
        let mut places = vec![0usize];
        let mut window: Vec<(usize, usize, i64)> = x.shape().iter().map(|&n| (n, 0, 1)).collect();
        for (i, &a) in axes.iter().enumerate() {
            let at = axis(a, x.rank())?;
            let step = numbers[2][i];
            let (start, count) = stretch(x.shape()[at] as i64, numbers[0][i], numbers[1][i], step)?;
            window[at] = (count as usize, start.max(0) as usize, step);
        }
        let count = checked_count(&window.iter().map(|w| w.0).collect::<Vec<_>>(), x.dtype().size())?;
        // The last list of offsets, and the one before.
        let _scratch = scratch::<usize>(count.saturating_mul(2))?;
        for (&n, &(count, start, step)) in x.shape().iter().zip(&window) {
            let along = |base: usize| (0..count as i64).map(move |k| (base * n) as i64 + start as i64 + k * step);
            places = places.into_iter().flat_map(along).map(|at| at as usize).collect();
        }
        let axes = set_axes(window.len(), &lost, &new);
        let gone = |at: &usize| !axes.contains(&Some(*at));
        if let Some(at) = (0..window.len()).filter(gone).find(|&at| window[at].0 != 1) {
            return Err(format!(
                "axis {at} of the window has {} elements and cannot be removed",
                window[at].0
            ));
        }
        let shape: Shape = axes.iter().map(|axis| axis.map_or(1, |at| window[at].0)).collect();
        // Dimensions beyond those of the slice have extent 1.
        let surplus = values.rank().saturating_sub(shape.len());
        if values.shape()[..surplus].iter().any(|&n| n != 1) {
            return Err(format!(
                "the values have shape {:?}, but the window has shape {shape:?}",
                values.shape()
            ));
        }
        let fitted: Shape = values.shape()[surplus..].into();
        let fitting = values.reshaped(&fitted)?;
        put(x, &expand(&fitting, &shape)?, &places, ScatterMode::Assign, false)
    }))
}

/// How an element is combined with an update.
#[derive(Clone, Copy, PartialEq)]
enum ScatterMode {
    Assign,
    Add,
    Multiply,
    Greatest,
    Least,
    /// Replaced by the sum of its updates.
    Replace,
}

/// Applies updates at offsets, in place if the tensor is unshared, so that the cost depends on the updates only.
/// `flush`: whether subnormal results become zeros; only updated elements are checked.
fn put(x: Tensor, updates: &Tensor, places: &[usize], mode: ScatterMode, flush: bool) -> Result<Outputs, String> {
    fn at<T: Element + Flush>(values: Option<&mut [T]>, places: &[usize]) {
        if let Some(values) = values {
            places.iter().for_each(|&p| values[p] = values[p].flushed(T::ON));
        }
    }
    let mut out = updated(x, updates, places, mode)?;
    // Assigned values have been flushed before.
    if flush && mode != ScatterMode::Assign {
        for tensor in &mut out {
            at(tensor.unique::<f32>(), places);
            at(tensor.unique::<f64>(), places);
        }
    }
    Ok(out)
}

fn updated(mut x: Tensor, updates: &Tensor, places: &[usize], mode: ScatterMode) -> Result<Outputs, String> {
    if updates.len() != places.len() || updates.dtype() != x.dtype() {
        return Err(format!(
            "found {} updates of type {} for {} elements of type {}",
            updates.len(),
            updates.dtype().name(),
            places.len(),
            x.dtype().name()
        ));
    }
    fn write<T: Element>(out: &mut [T], updates: &Tensor, places: &[usize], mode: ScatterMode) {
        let updates = updates.view::<T>().unwrap_or_default();
        if mode == ScatterMode::Replace {
            places.iter().for_each(|&p| out[p] = T::default());
        }
        let is_nan = |v: T| v.partial_cmp(&v).is_none();
        for (&p, &v) in places.iter().zip(updates) {
            out[p] = match mode {
                ScatterMode::Assign => v,
                // NaN is greater and less than all others.
                ScatterMode::Greatest if out[p] >= v || is_nan(out[p]) => out[p],
                ScatterMode::Least if out[p] <= v || is_nan(out[p]) => out[p],
                ScatterMode::Greatest | ScatterMode::Least => v,
                ScatterMode::Multiply => out[p].times(v),
                _ => out[p].plus(v),
            };
        }
    }
    fn run<T: Element>(v: &[T], updates: &Tensor, places: &[usize], mode: ScatterMode) -> Result<Data, String> {
        let mut out = gathered(v.iter().copied())?;
        write(&mut out, updates, places, mode);
        Ok(T::wrap(out))
    }
    fn own<T: Element>(x: &mut Tensor, updates: &Tensor, places: &[usize], mode: ScatterMode) -> bool {
        let Some(out) = x.unique::<T>() else { return false };
        write(out, updates, places, mode);
        true
    }
    let own = match x.dtype() {
        DType::I1 => own::<bool>,
        DType::I8 => own::<i8>,
        DType::I16 => own::<i16>,
        DType::I32 => own::<i32>,
        DType::I64 => own::<i64>,
        DType::UI8 => own::<u8>,
        DType::UI16 => own::<u16>,
        DType::UI32 => own::<u32>,
        DType::UI64 => own::<u64>,
        DType::F16 => own::<f16>,
        DType::BF16 => own::<bf16>,
        DType::F32 => own::<f32>,
        DType::F64 => own::<f64>,
        DType::C64 => own::<Complex<f32>>,
        DType::C128 => own::<Complex<f64>>,
    };
    if own(&mut x, updates, places, mode) {
        return one(x);
    }
    let shape: Shape = x.shape().into();
    let data = crate::each_type!(x.data(), v => run(v, updates, places, mode))?;
    one(Tensor::from_parts(shape, data))
}

fn picked(x: &Tensor, shape: &[usize], places: &[usize]) -> Result<Tensor, String> {
    fn copy<T: Element>(v: &[T], places: &[usize]) -> Result<Data, String> {
        Ok(T::wrap(gathered(places.iter().map(|&p| v[p]))?))
    }
    let data = crate::each_type!(x.data(), v => copy(v, places))?;
    Ok(Tensor::from_parts(shape.into(), data))
}

/// The slices at `rows` along an axis.
pub(super) fn selected(x: &Tensor, at: usize, rows: &[usize]) -> Result<Tensor, String> {
    let (outer, n, inner) = around(x.shape(), at);
    let mut shape: Shape = x.shape().into();
    shape[at] = rows.len();
    let count = checked_count(&shape, x.dtype().size())?;
    let outer = if count == 0 { 0 } else { outer };
    let _scratch = scratch::<usize>(count)?;
    let places: Vec<usize> = (0..outer)
        .flat_map(|o| {
            let start = move |r: usize| (o * n + r) * inner;
            rows.iter().flat_map(move |&r| start(r)..start(r) + inner)
        })
        .collect();
    picked(x, &shape, &places)
}

/// The index of the source of each element of a padded axis; `None` for the constant.
fn source(at: i64, n: i64, mode: &str) -> Result<Option<usize>, String> {
    let inside = (0..n).contains(&at);
    let shown = match mode {
        _ if inside => at,
        "constant" => return Ok(None),
        "reflect" if at < 0 => -at,
        "reflect" => 2 * (n - 1) - at,
        "replicate" => at.clamp(0, (n - 1).max(0)),
        "circular" => at.rem_euclid(n.max(1)),
        other => {
            return Err(format!(
                "`mode` must be `constant`, `reflect`, `replicate` or `circular`, not `{other}`"
            ));
        }
    };
    match (0..n).contains(&shown) {
        true => Ok(Some(shown as usize)),
        false => Err(format!("a border is wider than the {n} elements that it repeats")),
    }
}

fn pad3d(s: &Spec<'_>) -> Result<Kernel, String> {
    let paddings = s.ints_or_operand("paddings");
    let (mode, value) = (s.text("mode", "constant").to_owned(), s.float("pad_value", 0.0));
    let last = s.text("data_format", "NCDHW") == "NDHWC";
    Ok(Box::new(move |inputs| {
        let paddings = paddings.get(&inputs)?.ok_or("`paddings` is missing")?;
        let [x] = take(inputs)?;
        if x.rank() != 5 || paddings.len() != 6 {
            return Err("it needs five dimensions and six paddings".to_owned());
        }
        let mut x = if last { transpose(&x, &[0, 4, 1, 2, 3])? } else { x };
        for (at, pair) in [4, 3, 2].into_iter().zip(paddings.chunks(2)) {
            let n = x.shape()[at] as i64;
            let size = n.saturating_add(pair[0]).saturating_add(pair[1]);
            let count = checked_count(&[usize::try_from(size).map_err(|_| "a negative size")?], 16)?;
            let _scratch = scratch::<[usize; 3]>(count)?;
            let sources: Vec<Option<usize>> = (0..size)
                .map(|k| source(k - pair[0], n, &mode))
                .collect::<Result<_, _>>()?;
            // The constant is appended as an additional slice.
            let mut shape: Shape = x.shape().into();
            shape[at] = 1;
            let border = Tensor::full(&shape, x.dtype(), value)?;
            let whole = super::shape::concat(&[x, border], at as i64)?;
            let rows: Vec<usize> = sources.into_iter().map(|r| r.unwrap_or(n as usize)).collect();
            x = selected(&whole, at, &rows)?;
        }
        one(if last { transpose(&x, &[0, 2, 3, 4, 1])? } else { x })
    }))
}
