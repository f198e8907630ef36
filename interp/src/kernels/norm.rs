//! Normalizations, where the elements are. Moments are computed in double precision; elements of single precision are
//! normalized with the mean in two parts, since most digits cancel where it is large.
//!
//! The memory is a row of segments of one length. A group, whose elements are normalized together, consists of one or
//! several of them.

use pir_dialects::pd;

use super::broadcast::in_floats;
use super::channel_norm;
use super::normal::{self, Group, Layout, Moments, Params, factor, normalize_segment, of_singles};
use super::sums::{Middle, sum_of_singles};
use super::vector::Lane;
use super::{Kernel, Outputs, Prepare, Spec, axis};
use crate::parallel::{self, Division};
use crate::simd::{self, Task};
use crate::tensor::buffer::Buffer;
use crate::tensor::{DType, Data, Element, Shape, Tensor};

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

/// All of them flush subnormal results.
pub(super) const FLUSHING: &[&str] = &[
    pd::LayerNorm::NAME,
    pd::GroupNorm::NAME,
    pd::InstanceNorm::NAME,
    pd::BatchNorm::NAME,
];

/// The number of groups whose moments are computed together.
const TOGETHER: usize = 8;

/// The number of elements that are copied before they are normalized.
const PIECE: usize = 1 << 11;

/// The number of elements that a thread normalizes at once.
const BLOCK: usize = 1 << 14;

/// Normalizes, scales and shifts segments; `first` is the number of the first one.
struct Apply<'v, T> {
    values: &'v mut [T],
    first: usize,
    layout: &'v Layout,
    /// The moments of all groups.
    moments: &'v [Moments],
    params: &'v Params,
    /// Whether subnormal results become zeros.
    flush: bool,
}

impl<T: Element + Lane> Task for Apply<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let Apply { first, layout, .. } = self;
        for (at, segment) in self.values.chunks_mut(layout.length.max(1)).enumerate() {
            let at = first + at;
            let moments = self.moments[layout.group(at)];
            normalize_segment::<T, FMA>(segment, moments, self.params.of_segment(at, layout), self.flush);
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
    flush: bool,
}

impl<T: Element + Lane> Task for Together<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let Together { layout, params, .. } = self;
        let size = layout.size().max(1);
        let blocks = self.values.chunks_mut(TOGETHER * size);
        for (block, (values, moments)) in blocks.zip(self.moments.chunks_mut(TOGETHER)).enumerate() {
            let first = block * TOGETHER;
            // Step by step for all groups: the steps of one wait for each other.
            let mut abouts = [None; TOGETHER];
            if FMA
                && layout.segments == 1
                && let Some(values) = T::singles(values)
            {
                for (about, values) in abouts.iter_mut().zip(values.chunks_exact(size)) {
                    *about = Some((sum_of_singles(values) / size as f64) as f32);
                }
            }
            for ((moments, about), values) in moments.iter_mut().zip(abouts).zip(values.chunks_exact(size)) {
                let singles = match (about, T::singles(values)) {
                    (Some(about), Some(singles)) => of_singles(singles, about),
                    _ => None,
                };
                *moments = match singles {
                    Some(moments) => moments,
                    None => Group(values, layout, 0).run::<FMA>(),
                };
            }
            let mut factors = [0.0; TOGETHER];
            for (factor, [_, variance]) in factors.iter_mut().zip(&*moments) {
                *factor = normal::factor(*variance, self.epsilon);
            }
            let number = (self.first + first) * layout.segments;
            for (at, values) in values.chunks_exact_mut(layout.length.max(1)).enumerate() {
                let group = at / layout.segments;
                let parts = params.of_segment(number + at, layout);
                normalize_segment::<T, FMA>(values, [moments[group][0], factors[group]], parts, self.flush);
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
    flush: bool,
}

impl<T: Element + Lane> Task for Columns<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let mask = if self.flush { T::ON } else { T::OFF };
        let params = self.params.scale.iter().zip(self.params.bias.iter());
        let moments = self.means.iter().zip(self.factors);
        for row in self.values.chunks_exact_mut(self.means.len().max(1)) {
            for (v, ((mean, factor), (scale, bias))) in row.iter_mut().zip(moments.clone().zip(params.clone())) {
                *v = T::from_f64((v.to_f64() - mean) * (factor * scale) + bias).flushed(mask);
            }
        }
    }
}

/// Normalizes the groups; the results, and the means and variances.
fn normalise<T: Element + Lane>(
    values: Buffer<T>,
    layout: &Layout,
    params: &Params,
    epsilon: f64,
    flush: bool,
) -> Result<(Buffer<T>, Vec<Moments>), String> {
    let work = values.len();
    if layout.across > 1 || layout.size() == 0 {
        let shared = &*values;
        let all = parallel::map(layout.groups, work, |group| simd::run(Group(shared, layout, group)));
        let factor = |&[mean, variance]: &Moments| [mean, factor(variance, epsilon)];
        let moments: Vec<Moments> = all.iter().map(factor).collect();
        return Ok((apply(values, layout, &moments, params, flush)?, all));
    }
    let mut all = vec![[0.0; 2]; layout.groups];
    let division = Division {
        piece: TOGETHER,
        ..Division::of(layout.size(), BLOCK)
    };
    let values = parallel::changed(values, &mut all, division, work, |first, values, moments| {
        simd::run(Together {
            values,
            first,
            layout,
            moments,
            params,
            epsilon,
            flush,
        });
        Ok(())
    })?;
    Ok((values, all))
}

/// Normalizes with the means and factors of all groups.
fn apply<T: Element + Lane>(
    values: Buffer<T>,
    layout: &Layout,
    moments: &[Moments],
    params: &Params,
    flush: bool,
) -> Result<Buffer<T>, String> {
    let (length, work) = (layout.length.max(1), values.len());
    let division = Division {
        piece: (PIECE / length).max(1),
        ..Division::of(length, BLOCK)
    };
    parallel::changed_parts(values, division, work, |first, values| {
        simd::run(Apply {
            values,
            first,
            layout,
            moments,
            params,
            flush,
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
    let (epsilon, flush) = (s.float("epsilon", 1e-5), s.flush);
    let places = [s.place(1), s.place(2)];
    Ok(Box::new(move |inputs| {
        let layout = layout(inputs.first().ok_or("an operand is missing")?.shape())?;
        let params = Params::of(&inputs, places, layout.scales)?;
        // Only the first one is held, so that it may be overwritten.
        let x = inputs.into_iter().next().ok_or("an operand is missing")?;
        let rows = statistics(x.dtype());
        let (shape, data) = x.into_parts();
        let mut moments = Vec::new();
        fn each<T: Element + Lane>(
            values: Buffer<T>,
            (layout, params, epsilon, flush): (&Layout, &Params, f64, bool),
            moments: &mut Vec<Moments>,
        ) -> Result<Buffer<T>, String> {
            let (values, all) = normalise(values, layout, params, epsilon, flush)?;
            *moments = all;
            Ok(values)
        }
        let data = floats!(data, |values| each(
            values,
            (&layout, &params, epsilon, flush),
            &mut moments
        ));
        params.done();
        let mut all = Outputs::new();
        all.push(Tensor::from_parts(shape, data));
        let last = |&[_, variance]: &Moments| match layout.inverse {
            true => factor(variance, epsilon),
            false => variance,
        };
        let means = moments.iter().map(|&[mean, _]| mean).collect();
        for values in [means, moments.iter().map(last).collect::<Vec<f64>>()] {
            all.push(flushed(Tensor::new(&layout.rows, values)?.cast(rows)?, flush)?);
        }
        Ok(all)
    }))
}

/// A tensor whose subnormal numbers are zeros, if they are to be.
pub(super) fn flushed(mut tensor: Tensor, flush: bool) -> Result<Tensor, String> {
    if flush {
        tensor.flush_subnormals()?;
    }
    Ok(tensor)
}

/// The type of means and variances, which are not of low precision.
fn statistics(dtype: DType) -> DType {
    match dtype {
        DType::F16 | DType::BF16 => DType::F32,
        other => other,
    }
}

/// Normalizes the channels of a batch with these means and variances, which are computed if they are not fixed.
fn normalised_batch<T: Element + Lane>(
    values: Buffer<T>,
    (layout, params, epsilon): (&Layout, &Params, f64),
    [fixed, last, flush]: [bool; 3],
    moments: &mut Vec<Moments>,
) -> Result<Buffer<T>, String> {
    match (fixed, last) {
        (false, false) => {
            let (values, all) = channel_norm::normalized(values, layout, params, epsilon, flush)?;
            *moments = all;
            return Ok(values);
        }
        (false, true) => *moments = of_columns(&values, layout.groups)?,
        _ => {}
    }
    let factors: Vec<Moments> = moments
        .iter()
        .map(|&[mean, variance]| [mean, factor(variance, epsilon)])
        .collect();
    with_moments(values, layout, &factors, params, [last, flush])
}

/// The means and variances of the channels of a batch, which are the last dimension.
fn of_columns<T: Element + Lane>(values: &[T], channels: usize) -> Result<Vec<Moments>, String> {
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
    Ok(means
        .into_iter()
        .zip(variances)
        .map(|(mean, variance)| [mean, variance])
        .collect())
}

fn batch_norm(s: &Spec<'_>) -> Result<Kernel, String> {
    let (epsilon, momentum) = (s.float("epsilon", 1e-5), s.float("momentum", 0.9));
    let test = s.flag("is_test", false) && !s.flag("trainable_statistics", false);
    let fixed = test || s.flag("use_global_stats", false);
    let (last, flush) = (s.text("data_format", "NCHW") == "NHWC", s.flush);
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
        let mut moments: Vec<Moments> = Vec::new();
        if fixed {
            moments = mean_out
                .iter()
                .zip(&variance_out)
                .map(|(&mean, &variance)| [mean, variance])
                .collect();
        }
        let x = inputs.into_iter().next().ok_or("an operand is missing")?;
        let (extents, data) = x.into_parts();
        let data = floats!(data, |values| normalised_batch(
            values,
            (&layout, &params, epsilon),
            [fixed, last, flush],
            &mut moments,
        ));
        if !fixed {
            for (at, running) in [&mut mean_out, &mut variance_out].into_iter().enumerate() {
                for (running, new) in running.iter_mut().zip(&moments) {
                    *running = *running * momentum + new[at] * (1.0 - momentum);
                }
            }
        }
        let means = moments.iter().map(|&[mean, _]| mean).collect();
        let factors = moments.iter().map(|&[_, variance]| factor(variance, epsilon)).collect();
        params.done();
        let mut all = Outputs::new();
        all.push(Tensor::from_parts(extents, data));
        for values in [mean_out, variance_out, means, factors] {
            all.push(flushed(Tensor::new(&shape, values)?.cast(dtype)?, flush)?);
        }
        all.push(Tensor::full(&[0], of, 0.0)?);
        Ok(all)
    }))
}

/// The channels of images as groups; if they are the last dimension, their elements are not contiguous.
pub(super) fn channels(shape: &[usize], last: bool) -> Result<Layout, String> {
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
fn with_moments<T: Element + Lane>(
    values: Buffer<T>,
    layout: &Layout,
    moments: &[Moments],
    params: &Params,
    [last, flush]: [bool; 2],
) -> Result<Buffer<T>, String> {
    if !last {
        return apply(values, layout, moments, params, flush);
    }
    let work = values.len();
    let [means, factors] = &[0, 1].map(|at| moments.iter().map(|m| m[at]).collect::<Vec<f64>>());
    parallel::changed_parts(values, Division::of(means.len(), BLOCK), work, |_, values| {
        simd::run(Columns {
            values,
            means,
            factors,
            params,
            flush,
        });
        Ok(())
    })
}
