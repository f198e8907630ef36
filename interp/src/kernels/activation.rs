//! Activation functions and elementwise losses, computed in double precision and rounded once.

use super::broadcast::{broadcast, expand, map as each, through};
use super::math::{Math, single};
use super::pieces;
use super::shape::cut;
use super::special::sigmoid;
use super::vector::{Function, Mapping, PrepareMapping, function, mapping};
use super::{Kernel, Outputs, Prepare, one, take};
use crate::tensor::buffer::{gathered, scratch};
use crate::tensor::{DType, Data, Tensor};
use pir_dialects::pd;

/// Functions of one float.
pub(super) const FUNCTIONS: &[(&str, PrepareMapping)] = &[
    (pd::Gelu::NAME, |s| match s.flag("approximate", false) {
        false => {
            mapping(function!(|m, x| x * m.normal(x); |x| single::gelu(x), x >= single::LEAST_GELU; &pieces::GELU))
        }
        // As its derivative has it, with the rounding of tanh near -1.
        true => mapping(function!(|m, x| {
            let inner = GELU * (x + 0.044715 * x * x * x);
            0.5 * x * (1.0 + Math::<FMA, true>.tanh(inner))
        })),
    }),
    (pd::Silu::NAME, |_| silu()),
    (pd::Swish::NAME, |_| silu()),
    (pd::Softplus::NAME, |s| {
        let (beta, threshold) = (s.float("beta", 1.0), s.float("threshold", 20.0));
        if beta == 1.0 {
            return mapping(Softplus { threshold });
        }
        mapping(function!(
            [beta, threshold] | m,
            x | {
                let v = beta * x;
                if v > threshold { x } else { m.softplus(v) / beta }
            }
        ))
    }),
    (pd::Elu::NAME, |s| {
        let alpha = s.float("alpha", 1.0);
        mapping(function!(
            [alpha] | m,
            x | if x > 0.0 { x } else { alpha * m.exp_m1(x) }
        ))
    }),
    (pd::Selu::NAME, |s| {
        let (scale, alpha) = (s.float("scale", SELU.0), s.float("alpha", SELU.1));
        mapping(function!(
            [scale, alpha] | m,
            x | scale * if x > 0.0 { x } else { alpha * m.exp_m1(x) }
        ))
    }),
    (pd::Celu::NAME, |s| {
        let alpha = s.float("alpha", 1.0);
        mapping(function!(
            [alpha] | m,
            x | if x > 0.0 { x } else { alpha * m.exp_m1(x / alpha) }
        ))
    }),
    (pd::LeakyRelu::NAME, |s| {
        let slope = s.float("negative_slope", 0.02);
        mapping(function!([slope] | m, x | if x > 0.0 { x } else { slope * x }))
    }),
    (pd::Relu6::NAME, |_| mapping(function!(|m, x| limited(x, 0.0, 6.0)))),
    (pd::Hardswish::NAME, |_| {
        mapping(function!(|m, x| x * limited(x + 3.0, 0.0, 6.0) / 6.0))
    }),
    (pd::Hardsigmoid::NAME, |s| {
        let (slope, offset) = (s.float("slope", 0.2), s.float("offset", 0.5));
        mapping(function!(
            [slope, offset] | m,
            x | limited(slope * x + offset, 0.0, 1.0)
        ))
    }),
    (pd::Hardtanh::NAME, |s| {
        let (low, high) = (s.float("t_min", 0.0), s.float("t_max", 24.0));
        mapping(function!([low, high] | m, x | limited(x, low, high)))
    }),
    (pd::Mish::NAME, |s| {
        let threshold = s.float("lambda", 20.0);
        mapping(function!(
            [threshold] | m,
            x | x * m.tanh(if x > threshold { x } else { m.softplus(x) })
        ))
    }),
    (pd::Logsigmoid::NAME, |_| mapping(function!(|m, x| -m.softplus(-x)))),
    (pd::Softsign::NAME, |_| mapping(function!(|m, x| x / (1.0 + x.abs())))),
    (pd::TanhShrink::NAME, |_| {
        mapping(function!(|m, x| x - Math::<FMA, true>.tanh(x)))
    }),
    (pd::Softshrink::NAME, |s| {
        let t = s.float("threshold", 0.5);
        mapping(function!(
            [t] | m,
            x | {
                let low = if x < -t { x + t } else { 0.0 * x };
                if x > t { x - t } else { low }
            }
        ))
    }),
    (pd::Hardshrink::NAME, |s| {
        let t = s.float("threshold", 0.5);
        mapping(function!([t] | m, x | if x.abs() > t { x } else { 0.0 * x }))
    }),
    (pd::ThresholdedRelu::NAME, |s| {
        let (t, value) = (s.float("threshold", 1.0), s.float("value", 0.0));
        mapping(function!(
            [t, value] | m,
            x | if (x > t) | x.is_nan() { x } else { value }
        ))
    }),
    (pd::Stanh::NAME, |s| {
        let (a, b) = (s.float("scale_a", 0.67), s.float("scale_b", 1.7159));
        mapping(function!([a, b] | m, x | b * m.tanh(a * x)))
    }),
    (pd::Softcap::NAME, |s| {
        let cap = s.float("cap", 30.0);
        mapping(function!([cap] | m, x | cap * m.tanh(x / cap)))
    }),
];

pub(super) const KERNELS: &[(&str, Prepare)] = &[
    (pd::Asinh::NAME, |_| map(asinh)),
    (pd::Acosh::NAME, |_| map(acosh)),
    (pd::Atanh::NAME, |_| map(f64::atanh)),
    (pd::Swiglu::NAME, |_| {
        Ok(Box::new(|inputs| {
            let (x, y) = match &inputs[..] {
                [x, y] => (x.clone(), y.clone()),
                [both] if both.rank() > 0 => {
                    let at = both.rank() - 1;
                    let n = both.shape()[at];
                    if n % 2 != 0 {
                        return Err(format!("{n} elements cannot be halved"));
                    }
                    (cut(both, at, 0, n / 2)?, cut(both, at, n / 2, n)?)
                }
                _ => return Err("the operand needs at least one dimension".to_owned()),
            };
            one(zip(&x, &y, |x, y| x * sigmoid(x) * y)?)
        }))
    }),
    (pd::BceLoss::NAME, |_| {
        pair(|p, t| -(t * p.ln().max(-100.0) + (1.0 - t) * (1.0 - p).ln().max(-100.0)))
    }),
    (pd::Prelu::NAME, |s| {
        let last = s.text("data_format", "NCHW") == "NHWC";
        let mode = s.text("mode", "all").to_owned();
        Ok(Box::new(move |inputs| {
            let [x, alpha] = take(inputs)?;
            let mut shape = vec![1; x.rank()];
            match &*mode {
                "channel" if last => shape.iter_mut().rev().take(1).for_each(|d| *d = alpha.len()),
                "channel" => shape.iter_mut().skip(1).take(1).for_each(|d| *d = alpha.len()),
                "element" => shape.iter_mut().zip(x.shape()).skip(1).for_each(|(d, &n)| *d = n),
                _ => {}
            }
            let alpha = alpha.reshaped(&shape)?;
            one(zip(&x, &alpha, |x, slope| if x > 0.0 { x } else { slope * x })?)
        }))
    }),
    (pd::NllLoss::NAME, |s| {
        let ignored = s.int("ignore_index", -100);
        let (reduction, weight) = (s.text("reduction", "mean").to_owned(), s.place(2));
        Ok(Box::new(move |inputs| {
            let (Some(x), Some(label)) = (inputs.first(), inputs.get(1)) else {
                return Err("expected an input and a label".to_owned());
            };
            let &[_, classes, ref rest @ ..] = x.shape() else {
                return Err("the input needs dimension 1 for the classes".to_owned());
            };
            let inner: usize = rest.iter().product();
            // The values, the labels and the losses.
            let _scratch = scratch::<f64>(x.len().saturating_add(label.len().saturating_mul(2)))?;
            let weights = weight.and_then(|at| inputs.get(at)).map(Tensor::to_f64);
            let (values, labels) = (x.to_f64(), label.to_i64());
            let (mut losses, mut total) = (Vec::with_capacity(labels.len()), 0.0);
            for (at, &class) in labels.iter().enumerate() {
                if class == ignored {
                    losses.push(0.0);
                    continue;
                }
                let class = usize::try_from(class).ok().filter(|&c| c < classes);
                let class = class.ok_or_else(|| format!("label {} is out of range", labels[at]))?;
                let place = (at / inner * classes + class) * inner + at % inner;
                let weight = match &weights {
                    Some(weights) => *weights.get(class).ok_or("there are fewer weights than classes")?,
                    None => 1.0,
                };
                let value = values.get(place).ok_or("the label has more elements than the input")?;
                losses.push(-weight * value);
                total += weight;
            }
            let sum: f64 = losses.iter().sum();
            let (shape, losses, total) = match &*reduction {
                "none" => (label.shape(), losses, 0.0),
                "sum" => (&[][..], vec![sum], total),
                _ => (&[][..], vec![sum / total], total),
            };
            let mut out = Outputs::new();
            out.push(Tensor::new(shape, losses)?.cast(x.dtype())?);
            out.push(Tensor::scalar(total).cast(x.dtype())?);
            Ok(out)
        }))
    }),
    (pd::LogLoss::NAME, |s| {
        let e = s.float("epsilon", 1e-4);
        pair(move |p, t| -t * (p + e).ln() - (1.0 - t) * (1.0 - p + e).ln())
    }),
    (pd::HuberLoss::NAME, |s| {
        let delta = s.float("delta", 1.0);
        Ok(Box::new(move |inputs| {
            let [x, label] = take(inputs)?;
            let residual = zip(&x, &label, |x, t| t - x)?;
            let loss = |r: f64| match r.abs() {
                a if a <= delta => 0.5 * r * r,
                a => delta * (a - 0.5 * delta),
            };
            let mut out = Outputs::new();
            out.extend([zip(&x, &label, |x, t| loss(t - x))?, residual]);
            Ok(out)
        }))
    }),
    (pd::KldivLoss::NAME, |s| {
        let logarithmic = s.flag("log_target", false);
        let reduction = s.text("reduction", "mean").to_owned();
        Ok(Box::new(move |inputs| {
            let [x, label] = take(inputs)?;
            let parts = zip(&x.cast(DType::F64)?, &label.cast(DType::F64)?, |x, t| {
                match (logarithmic, t) {
                    (true, t) => t.exp() * (t - x),
                    (false, t) if t > 0.0 => t * (t.ln() - x),
                    _ => 0.0,
                }
            })?;
            if reduction == "none" {
                return one(parts.cast(x.dtype())?);
            }
            let sum: f64 = parts.to_f64().iter().sum();
            let count = match &*reduction {
                "mean" => parts.len(),
                "batchmean" => x.shape().first().copied().unwrap_or(1),
                _ => 1,
            };
            one(Tensor::scalar(sum / count as f64).cast(x.dtype())?)
        }))
    }),
    (pd::SigmoidCrossEntropyWithLogits::NAME, |s| {
        let (normalize, ignored) = (s.flag("normalize", false), s.int("ignore_index", -100) as f64);
        let weight = s.place(2);
        Ok(Box::new(move |inputs| {
            let weight = weight.and_then(|at| inputs.get(at)).cloned();
            let [x, label] = take(inputs)?;
            let _scratch = scratch::<f64>(x.len().saturating_mul(3))?;
            let weights = match weight {
                Some(w) => expand(&w, x.shape())?.to_f64(),
                None => vec![1.0; x.len()],
            };
            let labels = expand(&label, x.shape())?.to_f64();
            let mut out = x.to_f64();
            for ((v, &t), w) in out.iter_mut().zip(&labels).zip(weights) {
                // (1 - t) * x - w * log σ(x), where log σ(x) = -softplus(-x)
                *v = match t == ignored {
                    true => 0.0,
                    false => (1.0 - t) * *v + w * log_one_plus_exp(-*v),
                };
            }
            let count = labels.iter().filter(|&&t| t != ignored).count();
            if normalize && count > 0 {
                out.iter_mut().for_each(|v| *v /= count as f64);
            }
            one(Tensor::new(x.shape(), out)?.cast(x.dtype())?)
        }))
    }),
];

/// `ln(1 + e^x)`, or `x` above a threshold.
#[derive(Clone, Copy)]
struct Softplus {
    threshold: f64,
}

impl Function for Softplus {
    #[inline(always)]
    fn at<const FMA: bool, const WIDE: bool>(self, m: Math<FMA, WIDE>, x: f64) -> f64 {
        if x > self.threshold { x } else { m.softplus(x) }
    }

    const SINGLE: bool = true;

    #[inline(always)]
    fn single(self, x: f32) -> f32 {
        let y = single::softplus(x);
        if x > self.threshold as f32 { x } else { y }
    }

    #[inline(always)]
    fn fits(self, x: f32) -> bool {
        x >= single::LEAST
    }
}

fn silu() -> Mapping {
    mapping(function!(|m, x| x * m.sigmoid(x); |x| single::silu(x), x >= single::LEAST))
}

/// √(2/π)
const GELU: f64 = 0.797_884_560_802_865_4;

const SELU: (f64, f64) = (1.050_700_987_355_480_5, 1.673_263_242_354_377_2);

/// `log(1 + exp(x))` without overflow.
fn log_one_plus_exp(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

/// Propagates NaN.
#[inline(always)]
fn limited(x: f64, low: f64, high: f64) -> f64 {
    let x = if x < low { low } else { x };
    if x > high { high } else { x }
}

fn map(f: impl Fn(f64) -> f64 + Send + Sync + 'static) -> Result<Kernel, String> {
    Ok(Box::new(move |inputs| {
        let [x] = take(inputs)?;
        if !x.dtype().is_float() {
            return Err("the operand must have a float element type".to_owned());
        }
        let (shape, data) = x.into_parts();
        let data = match data {
            Data::F32(_) => each(data, |v: f32| f(v.into()) as f32)?,
            data => through(DType::F64, data, |data| each(data, &f))?,
        };
        one(Tensor::from_parts(shape, data))
    }))
}

/// Combines two tensors elementwise, with broadcasting.
pub(super) fn zip(x: &Tensor, y: &Tensor, f: impl Fn(f64, f64) -> f64) -> Result<Tensor, String> {
    let shape = broadcast(x.shape(), y.shape())?;
    let (a, b) = (expand(x, &shape)?.doubles()?, expand(y, &shape)?.doubles()?);
    let values = gathered(a.iter().zip(b.iter()).map(|(&a, &b)| f(a, b)))?;
    Tensor::of(&shape, values)?.cast(x.dtype())
}

fn pair(f: impl Fn(f64, f64) -> f64 + Send + Sync + 'static) -> Result<Kernel, String> {
    Ok(Box::new(move |inputs| {
        let [x, y] = take(inputs)?;
        one(zip(&x, &y, &f)?)
    }))
}

/// Beyond this, the square of a number would overflow, and its logarithm is negligible beside it.
const HUGE: f64 = 1e150;

pub(super) fn asinh(x: f64) -> f64 {
    match x.abs() > HUGE {
        true => (x.abs().ln() + std::f64::consts::LN_2).copysign(x),
        false => x.asinh(),
    }
}

pub(super) fn acosh(x: f64) -> f64 {
    match x > HUGE {
        true => x.ln() + std::f64::consts::LN_2,
        false => x.acosh(),
    }
}
