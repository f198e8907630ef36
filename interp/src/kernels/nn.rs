//! Softmax, cross entropy, dropout, and lists of parameters.

use super::broadcast::in_floats;
use super::line::{LogSoftmax, LogSoftmaxGrad, OnLine, Softmax, SoftmaxGrad, along};
use super::{Kernel, Outputs, Prepare, Spec, around, attr_dtype, axis, one, take};
use crate::tensor::buffer::{Buffer, gathered, room};
use crate::tensor::{Data, Element, Shape, Tensor};
use pir_dialects::pd;

/// Kernels that flush subnormal results.
pub(super) const FLUSHING: &[&str] = &[
    pd::Softmax::NAME,
    pd::LogSoftmax::NAME,
    pd::SoftmaxGrad::NAME,
    pd::LogSoftmaxGrad::NAME,
];

pub(super) const KERNELS: &[(&str, Prepare)] = &[
    (pd::Softmax::NAME, |s| lines(s, Softmax)),
    (pd::LogSoftmax::NAME, |s| lines(s, LogSoftmax)),
    (pd::SoftmaxGrad::NAME, |s| paired_lines(s, SoftmaxGrad)),
    (pd::LogSoftmaxGrad::NAME, |s| paired_lines(s, LogSoftmaxGrad)),
    (pd::CrossEntropyWithSoftmax::NAME, cross_entropy),
    (pd::Dropout::NAME, dropout),
    (pd::CoalesceTensor::NAME, |s| {
        let fill = s.flag("set_constant", false).then(|| s.float("constant", 0.0));
        let dtype = attr_dtype(s, "dtype");
        Ok(Box::new(move |inputs| {
            let first = inputs.first().ok_or("at least one operand is needed")?;
            let dtype = dtype.unwrap_or(first.dtype());
            let mut out = Outputs::new();
            let mut all = Vec::new();
            for x in &inputs {
                let x = match fill {
                    Some(value) => Tensor::full(x.shape(), x.dtype(), value)?,
                    None => x.clone(),
                };
                all.extend(x.to_f64());
                out.push(x);
            }
            out.push(Tensor::new(&[all.len()], all)?.cast(dtype)?);
            Ok(out)
        }))
    }),
];

/// Calls `f` for each line along an axis, with the offset of the first element, the stride and the length.
pub(super) fn each_line(shape: &[usize], at: usize, mut f: impl FnMut(usize, usize, usize)) {
    let (outer, n, inner) = around(shape, at);
    for o in 0..if n == 0 { 0 } else { outer } {
        for i in 0..inner {
            f(o * n * inner + i, inner, n);
        }
    }
}

/// The axis of an attribute; a scalar is treated as a vector of one element.
pub(super) fn of_axis(at: i64, shape: &[usize]) -> Result<(usize, Shape), String> {
    let shape: Shape = if shape.is_empty() {
        Shape::from_slice(&[1])
    } else {
        shape.into()
    };
    Ok((axis(at, shape.len())?, shape))
}

/// The elements in double precision.
fn doubles(data: Data) -> Result<Buffer<f64>, String> {
    match data {
        Data::F64(values) => Ok(values),
        data => Ok(data.into_doubles()?.into()),
    }
}

fn lines(s: &Spec<'_>, f: impl OnLine + 'static) -> Result<Kernel, String> {
    let (at, flush) = (s.int("axis", -1), s.flush);
    Ok(Box::new(move |inputs| {
        let [x] = take(inputs)?;
        let (at, extents) = of_axis(at, x.shape())?;
        let (shape, data) = x.into_parts();
        let data = in_floats(data, |data| match data {
            Data::F32(v) => Ok(f32::wrap_shared(along(v, None, &extents, at, f, flush)?)),
            data => Ok(f64::wrap_shared(along(doubles(data)?, None, &extents, at, f, flush)?)),
        })?;
        one(Tensor::from_parts(shape, data))
    }))
}

/// A gradient computed from lines of the result and of its gradient.
fn paired_lines(s: &Spec<'_>, f: impl OnLine + 'static) -> Result<Kernel, String> {
    let (at, flush) = (s.int("axis", -1), s.flush);
    Ok(Box::new(move |inputs| {
        let [out, g] = take(inputs)?;
        if out.shape() != g.shape() {
            return Err(format!("shapes {:?} and {:?} differ", out.shape(), g.shape()));
        }
        let (at, extents) = of_axis(at, out.shape())?;
        let (shape, data) = g.cast(out.dtype())?.into_parts();
        let data = in_floats(data, |data| {
            let out = out.cast(data.dtype())?;
            match data {
                Data::F32(v) => Ok(f32::wrap_shared(along(v, out.view(), &extents, at, f, flush)?)),
                data => Ok(f64::wrap_shared(along(
                    doubles(data)?,
                    out.view(),
                    &extents,
                    at,
                    f,
                    flush,
                )?)),
            }
        })?;
        one(Tensor::from_parts(shape, data))
    }))
}

fn cross_entropy(s: &Spec<'_>) -> Result<Kernel, String> {
    let at = s.int("axis", -1);
    let (soft, with_softmax) = (s.flag("soft_label", false), s.flag("use_softmax", true));
    let ignored = s.int("ignore_index", -100);
    Ok(Box::new(move |inputs| {
        let [x, label] = take(inputs)?;
        let at = axis(at, x.rank())?;
        let mut shape: Shape = x.shape().into();
        let classes = shape[at];
        shape[at] = 1;
        let count: usize = shape.iter().product();
        let fits = if soft {
            label.shape() == x.shape()
        } else {
            label.len() == count
        };
        if !fits {
            return Err(format!(
                "a label of shape {:?} does not match an input of shape {:?}",
                label.shape(),
                x.shape()
            ));
        }
        let values = || Ok::<Buffer<f64>, String>(x.own_doubles()?.into());
        let (probabilities, logs) = match with_softmax {
            true => (
                along(values()?, None, x.shape(), at, Softmax, false)?,
                along(values()?, None, x.shape(), at, LogSoftmax, false)?,
            ),
            false => (values()?, gathered(values()?.iter().map(|v| v.ln()))?.into()),
        };
        let mut loss = room(count)?;
        if soft {
            let weights = label.own_doubles()?;
            each_line(x.shape(), at, |first, step, n| {
                let places = (0..n).map(|k| first + k * step);
                loss.push(
                    -places
                        .map(|p| if weights[p] == 0.0 { 0.0 } else { weights[p] * logs[p] })
                        .sum::<f64>(),
                );
            });
        } else {
            let labels = label.wholes()?;
            let mut wrong = None;
            each_line(x.shape(), at, |first, step, n| {
                let label = labels[loss.len()];
                loss.push(match usize::try_from(label) {
                    _ if label == ignored => 0.0,
                    Ok(class) if class < n => -logs[first + class * step],
                    _ => {
                        wrong = Some(label);
                        0.0
                    }
                });
            });
            if let Some(label) = wrong {
                return Err(format!("label {label} is out of range for {classes} classes"));
            }
        }
        loss.resize(count, 0.0);
        let mut out = Outputs::new();
        out.push(Tensor::from_parts(x.shape().into(), f64::wrap_shared(probabilities)).cast(x.dtype())?);
        out.push(Tensor::of(&shape, loss)?.cast(x.dtype())?);
        Ok(out)
    }))
}

/// A number from `[0, 1)`, determined by a seed and an index: the finalizer of SplitMix64.
pub(super) fn noise(seed: u64, place: u64) -> f64 {
    let mut v = seed
        .wrapping_mul(0xD134_2543_DE82_EF95)
        .wrapping_add(place.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    v = (v ^ (v >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    v = (v ^ (v >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    v ^= v >> 31;
    (v >> 11) as f64 / (1u64 << 53) as f64
}

fn dropout(s: &Spec<'_>) -> Result<Kernel, String> {
    let p = s.float("p", 0.5);
    if !(0.0..=1.0).contains(&p) {
        return Err(format!("`p` must be a probability, not {p}"));
    }
    let test = s.flag("is_test", false);
    let upscale = s.text("mode", "upscale_in_train") == "upscale_in_train";
    let (seed, place) = (s.int("seed", 0), s.place(1));
    Ok(Box::new(move |inputs| {
        let given = place
            .and_then(|at| inputs.get(at))
            .and_then(|t| t.to_i64().first().copied());
        let seed = given.unwrap_or(seed) as u64;
        let [x] = take(inputs)?;
        let keep = gathered((0..x.len() as u64).map(|at| u8::from(test || noise(seed, at) >= p)))?;
        let factor = match (test, upscale) {
            (false, true) if p < 1.0 => 1.0 / (1.0 - p),
            (true, false) => 1.0 - p,
            _ => 1.0,
        };
        let mut values = x.own_doubles()?;
        let pairs = values.iter_mut().zip(keep.iter());
        pairs.for_each(|(v, &k)| *v = if k == 0 { 0.0 } else { *v * factor });
        let mut out = Outputs::new();
        out.push(Tensor::of(x.shape(), values)?.cast(x.dtype())?);
        out.push(Tensor::of(x.shape(), keep)?);
        Ok(out)
    }))
}
