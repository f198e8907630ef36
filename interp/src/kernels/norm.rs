//! Normalizations: computed in double precision where the elements are, and rounded once.
//!
//! The memory is a row of segments of one length. A group, whose elements are normalized together, consists of one or
//! several of them.

use pir_dialects::pd;

use super::broadcast::in_floats;
use super::math::fused;
use super::sums::{Middle, differences, sum};
use super::{Inputs, Kernel, Outputs, Prepare, Spec, axis};
use crate::parallel;
use crate::simd::{self, Task};
use crate::tensor::buffer::{Buffer, done, filled};
use crate::tensor::{DType, Data, Element, Shape, Storage, Tensor};

pub(super) const KERNELS: &[(&str, Prepare)] = &[
    (pd::LayerNorm::NAME, |s| {
        let begin = s.int("begin_norm_axis", 1);
        normalised(s, move |shape| {
            let begin = axis(begin, shape.len())?;
            let rows: usize = shape[..begin].iter().product();
            let size: usize = shape[begin..].iter().product();
            Ok(Layout {
                groups: rows,
                length: size,
                width: size,
                ..Layout::of(&shape[..begin], size)
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
                return Err(format!("{c} channels cannot be divided into {groups} groups"));
            }
            let area: usize = match last {
                false => shape[2..].iter().product(),
                true => shape[1..shape.len() - 1].iter().product(),
            };
            let layout = Layout::of(&[n, groups], c);
            let width = c / groups;
            Ok(match last {
                false => Layout {
                    groups: n * groups,
                    length: area,
                    segments: width,
                    period: c,
                    ..layout
                },
                true => Layout {
                    groups: n * groups,
                    length: width,
                    segments: area,
                    across: groups,
                    period: groups,
                    width,
                    ..layout
                },
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
                groups: n * c,
                length: area,
                period: *c,
                inverse: true,
                ..Layout::of(&[n * c], *c)
            })
        })
    }),
    (pd::BatchNorm::NAME, batch_norm),
];

/// The number of elements that a thread normalizes at once.
const BLOCK: usize = 1 << 14;

/// Where the groups are, and which scales and shifts belong to them.
struct Layout {
    /// The shape of the means.
    rows: Shape,
    /// The number of scales.
    scales: usize,
    groups: usize,
    /// The number of elements of a segment.
    length: usize,
    /// The number of segments of a group.
    segments: usize,
    /// The number of groups whose segments take turns.
    across: usize,
    /// The number of segments after which the scales repeat.
    period: usize,
    /// The number of scales of a segment: one for all elements, or one for each.
    width: usize,
    /// Whether the last result is the reciprocal of the standard deviation.
    inverse: bool,
}

impl Layout {
    /// One segment in each group, and one scale for all.
    fn of(rows: &[usize], scales: usize) -> Layout {
        Layout {
            rows: rows.into(),
            scales,
            groups: rows.iter().product(),
            length: 1,
            segments: 1,
            across: 1,
            period: 1,
            width: 1,
            inverse: false,
        }
    }

    /// The number of elements of a group.
    fn size(&self) -> usize {
        self.segments * self.length
    }

    /// The index of the first element of a segment of a group.
    #[inline(always)]
    fn start(&self, group: usize, segment: usize) -> usize {
        let turn = group / self.across * self.segments + segment;
        (turn * self.across + group % self.across) * self.length
    }

    /// The group of the segment of this number.
    #[inline(always)]
    fn group(&self, segment: usize) -> usize {
        segment / self.across / self.segments.max(1) * self.across + segment % self.across
    }
}

/// A mean and the reciprocal of a standard deviation.
type Moments = [f64; 2];

/// The mean and the variance of a group.
struct Group<'v, T>(&'v [T], &'v Layout, usize);

impl<T: Element> Task for Group<'_, T> {
    type Output = [f64; 2];

    #[inline(always)]
    fn run<const FMA: bool>(self) -> [f64; 2] {
        let Group(values, layout, group) = self;
        let segment = |at| &values[layout.start(group, at)..][..layout.length];
        let n = layout.size() as f64;
        if T::DTYPE == DType::F32 && layout.size() > 0 {
            // In one pass: the square of the distance of any element from the mean is at most `n` times the variance,
            // so the difference below has digits enough for a result in single precision.
            let first = segment(0)[0].to_f64();
            let mut sums = [0.0; 2];
            for at in 0..layout.segments {
                let part = differences::<T, FMA>(segment(at), first);
                sums = [0, 1].map(|at| sums[at] + part[at]);
            }
            let distance = sums[0] / n;
            let variance = sums[1] / n - distance * distance;
            return [first + distance, if variance < 0.0 { 0.0 } else { variance }];
        }
        let mut total = 0.0;
        for at in 0..layout.segments {
            total += sum(segment(at), T::to_f64);
        }
        let mean = total / n;
        let mut squares = 0.0;
        for at in 0..layout.segments {
            squares += sum(segment(at), |v: T| {
                let d = v.to_f64() - mean;
                d * d
            });
        }
        [mean, squares / n]
    }
}

/// Scales and shifts, in double precision.
struct Params {
    scale: Storage<f64>,
    bias: Storage<f64>,
}

impl Params {
    fn of(inputs: &Inputs, places: [Option<usize>; 2], count: usize) -> Result<Params, String> {
        let [scale, bias] = [(places[0], 1.0), (places[1], 0.0)].map(|(place, default)| {
            let Some(tensor) = place.and_then(|at| inputs.get(at)) else {
                return filled(count, default);
            };
            match tensor.len() == count {
                true => tensor.own_doubles(),
                false => Err(format!("expected {count} parameters, found {}", tensor.len())),
            }
        });
        Ok(Params {
            scale: scale?,
            bias: bias?,
        })
    }

    /// Gives their memory back.
    fn done(self) {
        done(self.scale);
        done(self.bias);
    }
}

/// Normalizes, scales and shifts segments; `first` is the number of the first one.
struct Apply<'v, T> {
    values: &'v mut [T],
    first: usize,
    layout: &'v Layout,
    /// The moments of all groups.
    moments: &'v [Moments],
    params: &'v Params,
}

impl<T: Element> Task for Apply<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let Apply { first, layout, .. } = self;
        for (at, segment) in self.values.chunks_mut(layout.length.max(1)).enumerate() {
            let at = first + at;
            let [mean, factor] = self.moments[layout.group(at)];
            let param = at % layout.period * layout.width;
            let scale = &self.params.scale[param..][..layout.width];
            let bias = &self.params.bias[param..][..layout.width];
            normalize_segment::<T, FMA>(segment, [mean, factor], scale, bias);
        }
    }
}

/// Normalizes, scales and shifts the elements of a segment.
#[inline(always)]
fn normalize_segment<T: Element, const FMA: bool>(
    segment: &mut [T],
    [mean, factor]: Moments,
    scale: &[f64],
    bias: &[f64],
) {
    // For single precision, double precision has digits enough for what cancels.
    let single = T::DTYPE == DType::F32;
    if let (&[scale], &[bias]) = (scale, bias) {
        let factor = factor * scale;
        let shift = bias - mean * factor;
        for v in segment {
            *v = T::from_f64(match single {
                true => fused::<FMA>(v.to_f64(), factor, shift),
                false => (v.to_f64() - mean) * factor + bias,
            });
        }
    } else {
        let shift = -mean * factor;
        for (v, (&scale, &bias)) in segment.iter_mut().zip(scale.iter().zip(bias)) {
            *v = T::from_f64(match single {
                true => fused::<FMA>(fused::<FMA>(v.to_f64(), factor, shift), scale, bias),
                false => (v.to_f64() - mean) * factor * scale + bias,
            });
        }
    }
}

/// Computes the moments of groups, each in one row, and normalizes them while they are in the nearest cache.
struct Together<'v, T> {
    values: &'v mut [T],
    /// The number of the first group.
    first: usize,
    layout: &'v Layout,
    moments: &'v mut [Moments],
    params: &'v Params,
    epsilon: f64,
}

impl<T: Element> Task for Together<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let Together { layout, params, .. } = self;
        let groups = self.values.chunks_exact_mut(layout.size().max(1));
        for (at, (values, moments)) in groups.zip(self.moments).enumerate() {
            *moments = Group(values, layout, 0).run::<FMA>();
            let [mean, variance] = *moments;
            let factor = 1.0 / (variance + self.epsilon).sqrt();
            let number = (self.first + at) * layout.segments;
            for (at, segment) in values.chunks_exact_mut(layout.length.max(1)).enumerate() {
                let param = (number + at) % layout.period * layout.width;
                let scale = &params.scale[param..][..layout.width];
                let bias = &params.bias[param..][..layout.width];
                normalize_segment::<T, FMA>(segment, [mean, factor], scale, bias);
            }
        }
    }
}

/// The same for channels that are the last dimension.
struct Columns<'v, T> {
    values: &'v mut [T],
    means: &'v [f64],
    factors: &'v [f64],
    params: &'v Params,
}

impl<T: Element> Task for Columns<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let params = self.params.scale.iter().zip(self.params.bias.iter());
        let moments = self.means.iter().zip(self.factors);
        for row in self.values.chunks_exact_mut(self.means.len().max(1)) {
            for (v, ((mean, factor), (scale, bias))) in row.iter_mut().zip(moments.clone().zip(params.clone())) {
                *v = T::from_f64((v.to_f64() - mean) * (factor * scale) + bias);
            }
        }
    }
}

/// Normalizes the groups; the results, and the means and variances.
fn normalise<T: Element>(
    values: Buffer<T>,
    layout: &Layout,
    params: &Params,
    epsilon: f64,
) -> Result<(Buffer<T>, Vec<Moments>), String> {
    let work = values.len();
    if layout.across > 1 || layout.size() == 0 {
        let shared = &*values;
        let all = parallel::map(layout.groups, work, |group| simd::run(Group(shared, layout, group)));
        let factor = |&[mean, variance]: &Moments| [mean, 1.0 / (variance + epsilon).sqrt()];
        let moments: Vec<Moments> = all.iter().map(factor).collect();
        return Ok((apply(values, layout, &moments, params)?, all));
    }
    let mut all = vec![[0.0; 2]; layout.groups];
    let groups = (BLOCK / layout.size()).max(1);
    let sizes = [groups * layout.size(), groups];
    let values = parallel::changed(values, &mut all, sizes, work, |at, values, moments| {
        simd::run(Together {
            values,
            first: at * groups,
            layout,
            moments,
            params,
            epsilon,
        });
        Ok(())
    })?;
    Ok((values, all))
}

/// Normalizes with the means and factors of all groups.
fn apply<T: Element>(
    values: Buffer<T>,
    layout: &Layout,
    moments: &[Moments],
    params: &Params,
) -> Result<Buffer<T>, String> {
    let (length, work) = (layout.length.max(1), values.len());
    let segments = (BLOCK / length).max(1);
    parallel::changed_parts(values, segments * length, work, |at, values| {
        simd::run(Apply {
            values,
            first: at * segments,
            layout,
            moments,
            params,
        });
        Ok(())
    })
}

/// Calls `$f` with the elements; half precision is computed in single precision.
macro_rules! floats {
    ($data:expr, $f:expr) => {
        in_floats($data, |data| match data {
            Data::F32(v) => Ok(f32::wrap_shared($f(v)?)),
            Data::F64(v) => Ok(f64::wrap_shared($f(v)?)),
            data => Ok(f64::wrap_shared($f(data.into_doubles()?.into())?)),
        })?
    };
}

fn normalised(
    s: &Spec<'_>,
    layout: impl Fn(&[usize]) -> Result<Layout, String> + Send + Sync + 'static,
) -> Result<Kernel, String> {
    let epsilon = s.float("epsilon", 1e-5);
    let places = [s.place(1), s.place(2)];
    Ok(Box::new(move |inputs| {
        let layout = layout(inputs.first().ok_or("an operand is missing")?.shape())?;
        let params = Params::of(&inputs, places, layout.scales)?;
        // Only the first one is held, so that it may be overwritten.
        let x = inputs.into_iter().next().ok_or("an operand is missing")?;
        let rows = statistics(x.dtype());
        let (shape, data) = x.into_parts();
        let mut moments = Vec::new();
        fn each<T: Element>(
            values: Buffer<T>,
            (layout, params, epsilon): (&Layout, &Params, f64),
            moments: &mut Vec<Moments>,
        ) -> Result<Buffer<T>, String> {
            let (values, all) = normalise(values, layout, params, epsilon)?;
            *moments = all;
            Ok(values)
        }
        let data = floats!(data, |values| each(values, (&layout, &params, epsilon), &mut moments));
        params.done();
        let mut all = Outputs::new();
        all.push(Tensor::from_parts(shape, data));
        let last = |&[_, variance]: &Moments| match layout.inverse {
            true => 1.0 / (variance + epsilon).sqrt(),
            false => variance,
        };
        let means = moments.iter().map(|&[mean, _]| mean).collect();
        for values in [means, moments.iter().map(last).collect::<Vec<f64>>()] {
            all.push(Tensor::new(&layout.rows, values)?.cast(rows)?);
        }
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

/// The means and variances of the channels of a batch.
fn of_batch<T: Element>(values: &[T], layout: &Layout, last: bool) -> Result<[Vec<f64>; 2], String> {
    let channels = layout.groups;
    if !last {
        let all = parallel::map(channels, values.len(), |group| simd::run(Group(values, layout, group)));
        return Ok([0, 1].map(|at| all.iter().map(|moments| moments[at]).collect()));
    }
    let rows = values.len() / channels.max(1);
    let middle = |f: &(dyn Fn(f64, usize) -> f64 + Sync)| -> Result<Vec<f64>, String> {
        let sums = Middle {
            values,
            shape: [1, rows, channels],
            divisor: rows as f64,
        }
        .sums_of::<f64>(f)?;
        Ok(sums.into_values())
    };
    let means = middle(&|v, _| v)?;
    let variances = middle(&|v, column| (v - means[column]) * (v - means[column]))?;
    Ok([means, variances])
}

fn batch_norm(s: &Spec<'_>) -> Result<Kernel, String> {
    let (epsilon, momentum) = (s.float("epsilon", 1e-5), s.float("momentum", 0.9));
    let test = s.flag("is_test", false) && !s.flag("trainable_statistics", false);
    let fixed = test || s.flag("use_global_stats", false);
    let last = s.text("data_format", "NCHW") == "NHWC";
    let places = [s.place(3), s.place(4)];
    Ok(Box::new(move |inputs| {
        let [Some(x), Some(mean), Some(variance)] = [0, 1, 2].map(|at| inputs.get(at)) else {
            return Err("expected an input, a mean and a variance".to_owned());
        };
        let layout = channels(x.shape(), last)?;
        let c = layout.groups;
        let params = Params::of(&inputs, places, c)?;
        let [mut mean_out, mut variance_out] = [mean, variance].map(Tensor::to_f64);
        if mean_out.len() != c || variance_out.len() != c {
            return Err(format!("expected {c} running statistics"));
        }
        let (shape, dtype, of) = (Shape::from(mean.shape()), mean.dtype(), x.dtype());
        let [mut means, mut variances] = [&mean_out, &variance_out].map(Clone::clone);
        let x = inputs.into_iter().next().ok_or("an operand is missing")?;
        let (extents, data) = x.into_parts();
        if !fixed {
            [means, variances] = match &data {
                Data::F32(v) => of_batch(v, &layout, last)?,
                Data::F64(v) => of_batch(v, &layout, last)?,
                Data::F16(_) | Data::BF16(_) => of_batch(&data.doubles()?, &layout, last)?,
                _ => return Err("the operand must have a float element type".to_owned()),
            };
            for (running, new) in [(&mut mean_out, &means), (&mut variance_out, &variances)] {
                for (running, new) in running.iter_mut().zip(new) {
                    *running = *running * momentum + new * (1.0 - momentum);
                }
            }
        }
        let factors: Vec<f64> = variances.iter().map(|v| 1.0 / (v + epsilon).sqrt()).collect();
        let moments: Vec<Moments> = means
            .iter()
            .zip(&factors)
            .map(|(&mean, &factor)| [mean, factor])
            .collect();
        let data = floats!(data, |values| with_moments(values, &layout, &moments, &params, last));
        params.done();
        let mut all = Outputs::new();
        all.push(Tensor::from_parts(extents, data));
        for values in [mean_out, variance_out, means, factors] {
            all.push(Tensor::new(&shape, values)?.cast(dtype)?);
        }
        all.push(Tensor::full(&[0], of, 0.0)?);
        Ok(all)
    }))
}

/// The channels of images as groups; if they are the last dimension, their elements are not contiguous.
fn channels(shape: &[usize], last: bool) -> Result<Layout, String> {
    let (n, c, area): (usize, usize, &[usize]) = match (shape, last) {
        ([n, c, area @ ..], false) => (*n, *c, area),
        ([n, area @ .., c], true) => (*n, *c, area),
        _ => return Err("the operand needs a batch and channels".to_owned()),
    };
    Ok(Layout {
        length: area.iter().product(),
        segments: n,
        across: c.max(1),
        period: c.max(1),
        ..Layout::of(&[c], c)
    })
}

/// Normalizes with the given means and factors of the channels.
fn with_moments<T: Element>(
    values: Buffer<T>,
    layout: &Layout,
    moments: &[Moments],
    params: &Params,
    last: bool,
) -> Result<Buffer<T>, String> {
    if !last {
        return apply(values, layout, moments, params);
    }
    let work = values.len();
    let [means, factors] = &[0, 1].map(|at| moments.iter().map(|m| m[at]).collect::<Vec<f64>>());
    let size = (BLOCK / means.len().max(1)).max(1) * means.len().max(1);
    parallel::changed_parts(values, size, work, |_, values| {
        simd::run(Columns {
            values,
            means,
            factors,
            params,
        });
        Ok(())
    })
}
