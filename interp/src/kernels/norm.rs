//! Normalizations: means and variances are computed in double precision, and rounded once.

use super::{Inputs, Kernel, Outputs, Prepare, Spec, axis, take};
use crate::tensor::Storage;
use crate::tensor::buffer::{filled, gathered, scratch};
use crate::tensor::{DType, Shape, Tensor};
use pir_dialects::pd;

pub(super) const KERNELS: &[(&str, Prepare)] = &[
    (pd::LayerNorm::NAME, |s| {
        let begin = s.int("begin_norm_axis", 1);
        normalised(s, move |shape| {
            let begin = axis(begin, shape.len())?;
            let rows: usize = shape[..begin].iter().product();
            let size: usize = shape[begin..].iter().product();
            Ok(Layout {
                rows: shape[..begin].into(),
                params: Params::of(size, 1, size),
                groups: Places::Rows { count: rows, size },
                inverse: false,
            })
        })
    }),
    (pd::GroupNorm::NAME, |s| {
        let groups = usize::try_from(s.int("groups", -1)).map_err(|_| "`groups` must be positive")?;
        let last = s.text("data_format", "NCHW") == "NHWC";
        normalised(s, move |shape| {
            let (&n, &c) = match (shape, last) {
                ([n, c, ..], false) => (n, c),
                ([n, .., c], true) => (n, c),
                _ => return Err("the operand needs a batch and channels".to_owned()),
            };
            if groups == 0 || c % groups != 0 {
                return Err(format!("{c} channels do not make {groups} groups"));
            }
            let area: usize = match last {
                false => shape[2..].iter().product(),
                true => shape[1..shape.len() - 1].iter().product(),
            };
            Ok(Layout {
                rows: Shape::from_slice(&[n, groups]),
                params: if last {
                    Params::of(c, 1, c)
                } else {
                    Params::of(c, area, c)
                },
                groups: match last {
                    false => Places::Rows {
                        count: n * groups,
                        size: c / groups * area,
                    },
                    true => Places::Strided {
                        outer: n,
                        groups,
                        width: c / groups,
                        area,
                    },
                },
                inverse: false,
            })
        })
    }),
    (pd::InstanceNorm::NAME, |s| {
        normalised(s, |shape| {
            let [n, c, area @ ..] = shape else {
                return Err("the operand needs a batch and channels".to_owned());
            };
            let area: usize = area.iter().product();
            Ok(Layout {
                rows: Shape::from_slice(&[n * c]),
                params: Params::of(*c, area, *c),
                groups: Places::Rows {
                    count: n * c,
                    size: area,
                },
                inverse: true,
            })
        })
    }),
    (pd::BatchNorm::NAME, batch_norm),
];

/// Which scale and shift belong to an element: every `run` elements the next of `count`.
#[derive(Clone, Copy)]
struct Params {
    count: usize,
    run: usize,
    length: usize,
}

impl Params {
    fn of(count: usize, run: usize, length: usize) -> Params {
        Params {
            count: count.max(1),
            run: run.max(1),
            length,
        }
    }

    fn at(self, place: usize) -> usize {
        place / self.run % self.count
    }
}

/// The groups of elements that are normalized together.
enum Places {
    /// Contiguous elements.
    Rows { count: usize, size: usize },
    /// `width` contiguous elements at each of `area` offsets.
    Strided {
        outer: usize,
        groups: usize,
        width: usize,
        area: usize,
    },
}

impl Places {
    /// The offsets of the elements of each group.
    fn all(&self) -> Vec<Vec<usize>> {
        match *self {
            Places::Rows { count, size } => (0..count).map(|at| (at * size..(at + 1) * size).collect()).collect(),
            Places::Strided {
                outer,
                groups,
                width,
                area,
            } => (0..outer * groups)
                .map(|at| {
                    let (n, group) = (at / groups, at % groups);
                    let start = move |cell: usize| ((n * area + cell) * groups + group) * width;
                    (0..area).flat_map(|cell| start(cell)..start(cell) + width).collect()
                })
                .collect(),
        }
    }
}

struct Layout {
    /// The shape of the means.
    rows: Shape,
    params: Params,
    groups: Places,
    /// Whether the last result is the reciprocal of the standard deviation.
    inverse: bool,
}

/// An optional operand with one number per parameter.
fn parameter(inputs: &Inputs, place: Option<usize>, length: usize, default: f64) -> Result<Vec<f64>, String> {
    let Some(tensor) = place.and_then(|at| inputs.get(at)) else {
        return Ok(vec![default; length]);
    };
    if tensor.len() != length {
        return Err(format!("{} parameters are given, {length} are needed", tensor.len()));
    }
    Ok(tensor.to_f64())
}

fn mean_and_variance(values: impl Iterator<Item = f64> + Clone, count: usize) -> (f64, f64) {
    let n = count as f64;
    let mean = values.clone().sum::<f64>() / n;
    let variance = values.map(|v| (v - mean) * (v - mean)).sum::<f64>() / n;
    (mean, variance)
}

fn normalised(
    s: &Spec<'_>,
    layout: impl Fn(&[usize]) -> Result<Layout, String> + Send + Sync + 'static,
) -> Result<Kernel, String> {
    let epsilon = s.float("epsilon", 1e-5);
    let places = [s.place(1), s.place(2)];
    Ok(Box::new(move |inputs| {
        let x = inputs.first().ok_or("an operand is missing")?.clone();
        if !x.dtype().is_float() {
            return Err("the operand must hold floats".to_owned());
        }
        let layout = layout(x.shape())?;
        let scale = parameter(&inputs, places[0], layout.params.length, 1.0)?;
        let bias = parameter(&inputs, places[1], layout.params.length, 0.0)?;
        let values = x.doubles()?;
        let mut out = filled(values.len(), 0.0)?;
        let _scratch = scratch::<usize>(values.len())?;
        let (mut means, mut variances) = (Vec::new(), Vec::new());
        for group in layout.groups.all() {
            let (mean, variance) = mean_and_variance(group.iter().map(|&at| values[at]), group.len());
            let factor = 1.0 / (variance + epsilon).sqrt();
            for at in group {
                let p = layout.params.at(at);
                out[at] = (values[at] - mean) * factor * scale[p] + bias[p];
            }
            means.push(mean);
            variances.push(if layout.inverse { factor } else { variance });
        }
        let mut all = results(x.dtype(), [(x.shape(), out)])?;
        let rows = [Storage::adopt(means)?, Storage::adopt(variances)?];
        all.extend(results(
            statistics(x.dtype()),
            rows.map(|values| (&*layout.rows, values)),
        )?);
        Ok(all)
    }))
}

/// The type of means and variances, which are not of low precision.
fn statistics(dtype: DType) -> DType {
    match dtype {
        DType::F16 | DType::BF16 => DType::F32,
        other => other,
    }
}

fn results<'a>(dtype: DType, parts: impl IntoIterator<Item = (&'a [usize], Storage<f64>)>) -> Result<Outputs, String> {
    parts
        .into_iter()
        .map(|(shape, values)| Tensor::of(shape, values)?.cast(dtype))
        .collect()
}

fn batch_norm(s: &Spec<'_>) -> Result<Kernel, String> {
    let (epsilon, momentum) = (s.float("epsilon", 1e-5), s.float("momentum", 0.9));
    let test = s.flag("is_test", false) && !s.flag("trainable_statistics", false);
    let fixed = test || s.flag("use_global_stats", false);
    let last = s.text("data_format", "NCHW") == "NHWC";
    let places = [s.place(3), s.place(4)];
    Ok(Box::new(move |inputs| {
        let [x, mean, variance] = take::<3>(inputs.clone())?;
        let (c, run): (usize, usize) = match (x.shape(), last) {
            ([_, c, area @ ..], false) => (*c, area.iter().product()),
            ([_, .., c], true) => (*c, 1),
            _ => return Err("the operand needs a batch and channels".to_owned()),
        };
        let scale = parameter(&inputs, places[0], c, 1.0)?;
        let bias = parameter(&inputs, places[1], c, 0.0)?;
        let (running_mean, running_variance) = (mean.to_f64(), variance.to_f64());
        if running_mean.len() != c || running_variance.len() != c {
            return Err(format!("{c} running statistics are needed"));
        }
        let params = Params::of(c, run, c);
        let values = x.doubles()?;
        let (mut means, mut variances) = (running_mean.clone(), running_variance.clone());
        let (mut mean_out, mut variance_out) = (running_mean, running_variance);
        if !fixed {
            let n = values.len() / c.max(1);
            means = vec![0.0; c];
            values.iter().enumerate().for_each(|(at, v)| means[params.at(at)] += v);
            means.iter_mut().for_each(|v| *v /= n as f64);
            variances = vec![0.0; c];
            for (at, v) in values.iter().enumerate() {
                let p = params.at(at);
                variances[p] += (v - means[p]) * (v - means[p]);
            }
            variances.iter_mut().for_each(|v| *v /= n as f64);
            for p in 0..c {
                mean_out[p] = mean_out[p] * momentum + means[p] * (1.0 - momentum);
                variance_out[p] = variance_out[p] * momentum + variances[p] * (1.0 - momentum);
            }
        }
        let factors: Vec<f64> = variances.iter().map(|v| 1.0 / (v + epsilon).sqrt()).collect();
        let element = |(at, v): (usize, &f64)| {
            let p = params.at(at);
            (v - means[p]) * factors[p] * scale[p] + bias[p]
        };
        let out = gathered(values.iter().enumerate().map(element))?;
        let mut all = results(x.dtype(), [(x.shape(), out)])?;
        let shape = mean.shape();
        let statistics = [mean_out, variance_out, means, factors];
        for values in statistics {
            all.push(Tensor::new(shape, values)?.cast(mean.dtype())?);
        }
        all.push(Tensor::full(&[0], x.dtype(), 0.0)?);
        Ok(all)
    }))
}
