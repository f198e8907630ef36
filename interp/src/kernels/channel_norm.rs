//! Normalizing channels by the moments of their batch, and the gradient of that. Each channel is written right after its sums are
//! known, while it is in the cache. Sums are in double precision but for those of four, and what is written, in that of the elements.

use pir_dialects::pd;
use smallvec::SmallVec;

use super::broadcast::MIXED;
use super::norm::{channels, flushed};
use super::normal::{Layout, Moments, Params, factor, moments_of, moments_of_differences, normalize_segment};
use super::sums::{differences_of_singles, products, products_of_singles, sum_of_singles};
use super::vector::Lane;
use super::{Inputs, Kernel, Outputs, Prepare, Spec};
use crate::parallel::{self, Division};
use crate::simd::{self, Task};
use crate::tensor::buffer::{Buffer, stale};
use crate::tensor::subnormal::Flush;
use crate::tensor::{DType, Element, Tensor};

pub(super) const KERNELS: &[(&str, Prepare)] = &[(pd::ChannelNormGrad::NAME, channel_norm_grad)];

/// All of them flush subnormal results.
pub(super) const FLUSHING: &[&str] = &[pd::ChannelNormGrad::NAME];

/// The number of elements that a thread changes at once.
const BLOCK: usize = 1 << 14;

/// The moments and the scale of a channel.
#[derive(Clone, Copy)]
struct Channel {
    mean: f64,
    /// The reciprocal of the standard deviation.
    factor: f64,
    scale: f64,
}

fn channel_norm_grad(s: &Spec<'_>) -> Result<Kernel, String> {
    let (last, flush) = (s.text("data_format", "NCHW") == "NHWC", s.flush);
    Ok(Box::new(move |inputs| match inputs.first().map(Tensor::dtype) {
        Some(DType::F32) => run::<f32>(inputs, last, flush),
        Some(DType::F64) => run::<f64>(inputs, last, flush),
        Some(half @ (DType::F16 | DType::BF16)) => {
            let wide = inputs.into_iter().map(|v| v.cast(DType::F32));
            let results = run::<f32>(wide.collect::<Result<Inputs, String>>()?, last, false)?;
            results.into_iter().map(|v| v.cast(half)).collect()
        }
        _ => Err("the operand must have a float element type".to_owned()),
    }))
}

fn run<T: Element + Lane>(inputs: Inputs, last: bool, flush: bool) -> Result<Outputs, String> {
    let mut inputs = inputs.into_iter();
    let mut next = || inputs.next().ok_or("an operand is missing");
    let (x, mean, factor, g) = (next()?, next()?, next()?, next()?);
    if g.shape() != x.shape() {
        return Err("`out_grad` must have the shape of `x`".to_owned());
    }
    let layout = channels(x.shape(), last)?;
    let count = layout.groups;
    let [means, factors] = [&mean, &factor].map(Tensor::to_f64);
    let scales = next().map_or_else(|_| vec![1.0; count], |scale| scale.to_f64());
    if [&means, &factors, &scales].iter().any(|values| values.len() != count) {
        return Err(format!(
            "expected a mean, a factor and a scale for each of {count} channels"
        ));
    }
    let moments = means.into_iter().zip(factors);
    let of_channels = moments
        .zip(scales)
        .map(|((mean, factor), scale)| Channel { mean, factor, scale });
    let all: Vec<Channel> = of_channels.collect();
    let (shape, data) = g.into_parts();
    let g = T::shared(data).ok_or(MIXED)?;
    let values = x.view::<T>().ok_or(MIXED)?;
    let (grads, sums) = match last {
        false => by_channel(g, values, &all, layout.length, flush)?,
        true => by_column(g, values, &all, flush)?,
    };
    let mut results = Outputs::new();
    results.push(Tensor::from_parts(shape, T::wrap_shared(grads)));
    for at in [1, 0] {
        let sums = Tensor::new(&[count], sums.iter().map(|sums| sums[at]).collect::<Vec<f64>>())?;
        results.push(flushed(sums.cast(T::DTYPE)?, flush)?);
    }
    Ok(results)
}

/// The sums of the cotangents of a channel, and of their products with what is normalized.
type Sums = [f64; 2];

/// A channel whose elements in an image are contiguous.
struct OfChannel<'v, T> {
    /// What is changed: a segment for each image.
    segments: SmallVec<[&'v mut [T]; 1]>,
    number: usize,
    /// What becomes known of the channel: its moments, or sums.
    found: [f64; 2],
}

/// Changes channels whose elements in an image are contiguous, of which some are given to `f` at once, and what becomes known of each. If the
/// elements are shared, they are copied right before.
fn changed_channels<T: Element>(
    values: Buffer<T>,
    [count, length]: [usize; 2],
    f: impl Fn(&mut [OfChannel<'_, T>]) + Sync,
) -> Result<(Buffer<T>, Vec<[f64; 2]>), String> {
    let work = values.len();
    let (mut out, given) = match values.is_unique() {
        true => (values, None),
        false => (stale(work)?.into(), Some(values)),
    };
    let of_channel = |number| OfChannel {
        segments: SmallVec::new(),
        number,
        found: [0.0; 2],
    };
    let mut all: Vec<OfChannel<'_, T>> = (0..count).map(of_channel).collect();
    let places = out.get_mut().ok_or("an operand is shared")?;
    for (at, segment) in places.chunks_mut(length.max(1)).enumerate() {
        all[at % count].segments.push(segment);
    }
    parallel::chunks(
        &mut all,
        BLOCK.div_ceil((work / count.max(1)).max(1)),
        work,
        |_, part| {
            if let Some(given) = &given {
                for of in &mut *part {
                    for (at, segment) in of.segments.iter_mut().enumerate() {
                        segment.copy_from_slice(&given[(at * count + of.number) * length..][..length]);
                    }
                }
            }
            f(part);
        },
    );
    let found = all.into_iter().map(|of| of.found).collect();
    Ok((out, found))
}

/// Normalizes, scales and shifts each channel, whose elements in an image are contiguous; the results, and the means and variances.
pub(super) fn normalized<T: Element + Lane>(
    values: Buffer<T>,
    layout: &Layout,
    params: &Params,
    epsilon: f64,
    flush: bool,
) -> Result<(Buffer<T>, Vec<Moments>), String> {
    changed_channels(values, [layout.groups, layout.length], |part| {
        simd::run(Normalize {
            part,
            layout,
            params,
            epsilon,
            flush,
        });
    })
}

struct Normalize<'p, 'v, T> {
    part: &'p mut [OfChannel<'v, T>],
    layout: &'p Layout,
    params: &'p Params,
    epsilon: f64,
    flush: bool,
}

impl<T: Element + Lane> Task for Normalize<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        for of in self.part {
            let segments = || of.segments.iter().map(|segment| &**segment);
            let count = self.layout.size();
            let singles = || segments().filter_map(T::singles);
            let mut moments = None;
            if FMA && T::DTYPE == DType::F32 {
                let about = (singles().map(sum_of_singles).sum::<f64>() / count as f64) as f32;
                let mut sums = [0.0; 2];
                for segment in singles() {
                    let own = differences_of_singles(segment, about);
                    sums = [0, 1].map(|at| sums[at] + own[at]);
                }
                moments = moments_of_differences(sums, count, about);
            }
            of.found = moments.unwrap_or_else(|| moments_of::<T, FMA>(segments(), count));
            let [mean, variance] = of.found;
            let factor = factor(variance, self.epsilon);
            let parts = self.params.of_segment(of.number, self.layout);
            for segment in &mut of.segments {
                normalize_segment::<T, FMA>(segment, [mean, factor], parts, self.flush);
            }
        }
    }
}

/// The gradients for channels whose elements in an image are contiguous.
fn by_channel<T: Element + Lane>(
    g: Buffer<T>,
    x: &[T],
    channels: &[Channel],
    length: usize,
    flush: bool,
) -> Result<(Buffer<T>, Vec<Sums>), String> {
    changed_channels(g, [channels.len(), length], |part| {
        simd::run(Gradients {
            part,
            x,
            channels,
            flush,
        });
    })
}

struct Gradients<'p, 'v, T> {
    part: &'p mut [OfChannel<'v, T>],
    x: &'p [T],
    /// All of them.
    channels: &'p [Channel],
    flush: bool,
}

impl<T: Element + Lane> Task for Gradients<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        for of in self.part {
            let (number, count) = (of.number, self.channels.len());
            let channel = self.channels[number];
            let values = |at: usize, length: usize| &self.x[(at * count + number) * length..][..length];
            let pairs = || (of.segments.iter().enumerate()).map(|(at, g)| (&**g, values(at, g.len())));
            let add = |sums: Sums, own: Sums| [sums[0] + own[0], sums[1] + own[1]];
            let mut singles = FMA && T::DTYPE == DType::F32 && channel.fits();
            let mut sums = [0.0; 2];
            if singles {
                for (g, x) in pairs().filter_map(|(g, x)| T::singles(g).zip(T::singles(x))) {
                    sums = add(
                        sums,
                        products_of_singles(g, x, [channel.mean as f32, channel.factor as f32]),
                    );
                }
                // Numbers, or sums of some, may be too large for single precision.
                singles = sums.iter().all(|sum| sum.abs() < 1e30);
            }
            if !singles {
                sums = [0.0; 2];
                for (g, x) in pairs() {
                    sums = add(sums, products::<T, FMA>(g, x, [channel.mean, channel.factor]));
                }
            }
            of.found = sums;
            let elements: usize = of.segments.iter().map(|segment| segment.len()).sum();
            let means = sums.map(|sum| sum / elements as f64);
            for (at, g) in of.segments.iter_mut().enumerate() {
                let x = values(at, g.len());
                match T::singles(x).filter(|_| singles) {
                    Some(x) => {
                        gradients_of_singles(T::singles_mut(g).unwrap_or_default(), x, channel, means, self.flush)
                    }
                    None => gradients(g, x, channel, means, self.flush),
                }
            }
        }
    }
}

/// The gradients of a segment, in place of the cotangents.
#[inline(always)]
fn gradients<T: Element + Lane>(g: &mut [T], x: &[T], channel: Channel, [mean, slope]: Sums, flush: bool) {
    let mask = if flush { T::ON } else { T::OFF };
    let factor = channel.factor * channel.scale;
    for (g, x) in g.iter_mut().zip(x) {
        let normal = (x.to_f64() - channel.mean) * channel.factor;
        *g = T::from_f64((g.to_f64() - mean - normal * slope) * factor).flushed(mask);
    }
}

/// The same in single precision.
#[inline(always)]
fn gradients_of_singles(g: &mut [f32], x: &[f32], channel: Channel, means: Sums, flush: bool) {
    let mask = if flush { f32::ON } else { f32::OFF };
    let [about, narrow] = [channel.mean, channel.factor].map(|v| v as f32);
    let [mean, slope] = means.map(|v| v as f32);
    let factor = (channel.factor * channel.scale) as f32;
    for (g, &x) in g.iter_mut().zip(x) {
        let normal = (x - about) * narrow;
        *g = (normal.mul_add(-slope, *g - mean) * factor).flushed(mask);
    }
}

impl Channel {
    /// Whether numbers of usual size are neither too large nor too small for single precision on the way.
    fn fits(self) -> bool {
        let fits = |v: f64| (1e-30..1e30).contains(&v.abs());
        fits(self.factor) && (fits(self.factor * self.scale) || self.scale == 0.0) && self.mean.abs() < 1e30
    }
}

/// For channels that are the last dimension.
fn by_column<T: Element + Lane>(
    g: Buffer<T>,
    x: &[T],
    channels: &[Channel],
    flush: bool,
) -> Result<(Buffer<T>, Vec<Sums>), String> {
    let (count, work) = (channels.len(), x.len());
    let size = (BLOCK / count.max(1)).max(1) * count.max(1);
    let parts = parallel::map(work.div_ceil(size), work, |at| {
        let end = ((at + 1) * size).min(work);
        let range = at * size..end;
        simd::run(SumsOfColumns(&g[range.clone()], &x[range], channels))
    });
    let mut sums = vec![[0.0; 2]; count];
    for part in parts {
        for (sum, own) in sums.iter_mut().zip(part) {
            *sum = [0, 1].map(|at| sum[at] + own[at]);
        }
    }
    let rows = (work / count.max(1)) as f64;
    let means: Vec<Sums> = sums.iter().map(|sums| sums.map(|sum| sum / rows)).collect();
    let grads = parallel::changed_parts(g, Division::of(count, BLOCK), work, |first, values| {
        simd::run(Columns {
            x: &x[first * count..][..values.len()],
            values,
            channels,
            means: &means,
            flush,
        });
        Ok(())
    })?;
    Ok((grads, sums))
}

struct SumsOfColumns<'v, T>(&'v [T], &'v [T], &'v [Channel]);

impl<T: Element + Lane> Task for SumsOfColumns<'_, T> {
    type Output = Vec<Sums>;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> Vec<Sums> {
        let SumsOfColumns(g, x, channels) = self;
        let mut sums = vec![[0.0; 2]; channels.len()];
        let rows = g.chunks(channels.len().max(1)).zip(x.chunks(channels.len().max(1)));
        for (g, x) in rows {
            for (([sum, slope], channel), (g, x)) in sums.iter_mut().zip(channels).zip(g.iter().zip(x)) {
                let g = g.to_f64();
                *sum += g;
                *slope += g * ((x.to_f64() - channel.mean) * channel.factor);
            }
        }
        sums
    }
}

struct Columns<'v, T> {
    values: &'v mut [T],
    x: &'v [T],
    channels: &'v [Channel],
    means: &'v [Sums],
    flush: bool,
}

impl<T: Element + Lane> Task for Columns<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let mask = if self.flush { T::ON } else { T::OFF };
        let length = self.channels.len().max(1);
        for (g, x) in self.values.chunks_mut(length).zip(self.x.chunks(length)) {
            let of_columns = self.channels.iter().zip(self.means);
            for ((g, x), (channel, [sum, slope])) in g.iter_mut().zip(x).zip(of_columns) {
                let normal = (x.to_f64() - channel.mean) * channel.factor;
                let grad = (g.to_f64() - sum - normal * slope) * channel.factor * channel.scale;
                *g = T::from_f64(grad).flushed(mask);
            }
        }
    }
}
