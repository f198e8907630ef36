//! Softmax, cross entropy, dropout, and lists of parameters.

use super::{Kernel, Outputs, Prepare, Spec, around, attr_dtype, axis, one, take};
use crate::tensor::buffer::{done, gathered, room};
use crate::tensor::{Shape, Tensor};
use pir_dialects::pd;

pub(super) const KERNELS: &[(&str, Prepare)] = &[
    (pd::Softmax::NAME, |s| lines(s, softmax)),
    (pd::LogSoftmax::NAME, |s| lines(s, log_softmax)),
    (pd::SoftmaxGrad::NAME, |s| {
        paired_lines(s, |out, g| {
            let sum: f64 = out.iter().zip(&*g).map(|(o, g)| o * g).sum();
            g.iter_mut().zip(out).for_each(|(g, o)| *g = (*g - sum) * o);
        })
    }),
    (pd::LogSoftmaxGrad::NAME, |s| {
        paired_lines(s, |out, g| {
            let sum: f64 = g.iter().sum();
            g.iter_mut().zip(out).for_each(|(g, o)| *g -= o.exp() * sum);
        })
    }),
    (pd::CrossEntropyWithSoftmax::NAME, cross_entropy),
    (pd::Dropout::NAME, dropout),
    (pd::CoalesceTensor::NAME, |s| {
        let fill = s.flag("set_constant", false).then(|| s.float("constant", 0.0));
        let dtype = attr_dtype(s, "dtype");
        Ok(Box::new(move |inputs| {
            let first = inputs.first().ok_or("there is nothing to put together")?;
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

fn softmax(line: &mut [f64]) {
    let most = line.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    line.iter_mut().for_each(|v| *v = (*v - most).exp());
    let sum: f64 = line.iter().sum();
    line.iter_mut().for_each(|v| *v /= sum);
}

fn log_softmax(line: &mut [f64]) {
    let most = line.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = line.iter().map(|v| (v - most).exp()).sum();
    let all = most + sum.ln();
    line.iter_mut().for_each(|v| *v -= all);
}

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

fn over_lines(values: &mut [f64], shape: &[usize], at: usize, f: impl Fn(&mut [f64])) -> Result<(), String> {
    let mut line = room(shape[at])?;
    each_line(shape, at, |first, step, n| {
        line.clear();
        line.extend(values[first..].iter().step_by(step).take(n));
        f(&mut line);
        let places = values[first..].iter_mut().step_by(step);
        places.zip(line.iter()).for_each(|(place, &v)| *place = v);
    });
    done(line);
    Ok(())
}

fn lines(s: &Spec<'_>, f: fn(&mut [f64])) -> Result<Kernel, String> {
    let at = s.int("axis", -1);
    Ok(Box::new(move |inputs| {
        let [x] = take(inputs)?;
        let (at, shape) = of_axis(at, x.shape())?;
        let mut values = x.own_doubles()?;
        over_lines(&mut values, &shape, at, f)?;
        one(Tensor::of(x.shape(), values)?.cast(x.dtype())?)
    }))
}

/// A gradient computed from lines of the result and of its gradient, which it overwrites.
fn paired_lines(s: &Spec<'_>, f: fn(&[f64], &mut [f64])) -> Result<Kernel, String> {
    let at = s.int("axis", -1);
    Ok(Box::new(move |inputs| {
        let [out, g] = take(inputs)?;
        if out.shape() != g.shape() {
            return Err(format!("shapes {:?} and {:?} differ", out.shape(), g.shape()));
        }
        let (at, shape) = of_axis(at, out.shape())?;
        let (values, mut grads) = (out.doubles()?, g.own_doubles()?);
        let (mut line, mut grad) = (room(shape[at])?, room(shape[at])?);
        each_line(&shape, at, |first, step, n| {
            line.clear();
            line.extend(values[first..].iter().step_by(step).take(n));
            grad.clear();
            grad.extend(grads[first..].iter().step_by(step).take(n));
            f(&line, &mut grad);
            let places = grads[first..].iter_mut().step_by(step);
            places.zip(grad.iter()).for_each(|(place, &v)| *place = v);
        });
        done(line);
        done(grad);
        one(Tensor::of(g.shape(), grads)?.cast(out.dtype())?)
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
            return Err(format!("a label of shape {:?} for {:?}", label.shape(), x.shape()));
        }
        let (mut probabilities, mut logs) = (x.to_f64(), x.to_f64());
        if with_softmax {
            over_lines(&mut probabilities, x.shape(), at, softmax)?;
            over_lines(&mut logs, x.shape(), at, log_softmax)?;
        } else {
            logs.iter_mut().for_each(|v| *v = v.ln());
        }
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
        out.push(Tensor::new(x.shape(), probabilities)?.cast(x.dtype())?);
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
        return Err(format!("`p` is a probability, not {p}"));
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
