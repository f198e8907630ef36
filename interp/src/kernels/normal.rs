//! Groups of elements that are normalized together: their moments, and their scales and shifts.

use super::Inputs;
use super::math::fused;
use super::sums::{differences, differences_of_singles, sum};
use super::vector::Lane;
use crate::simd::Task;
use crate::tensor::buffer::{done, filled, gathered};
use crate::tensor::subnormal::Flush;
use crate::tensor::{DType, Element, Shape, Storage};

/// Where the groups are, and which scales and shifts belong to them.
pub(super) struct Layout {
    /// The shape of the means.
    pub(super) rows: Shape,
    /// The number of scales.
    pub(super) scales: usize,
    pub(super) groups: usize,
    /// The number of elements of a segment.
    pub(super) length: usize,
    /// The number of segments of a group.
    pub(super) segments: usize,
    /// The number of groups whose segments take turns.
    pub(super) across: usize,
    /// The number of segments after which the scales repeat.
    pub(super) period: usize,
    /// The number of scales of a segment: one for all elements, or one for each.
    pub(super) width: usize,
    /// Whether the last result is the reciprocal of the standard deviation.
    pub(super) inverse: bool,
}

impl Layout {
    /// One segment in each group, and one scale for all.
    pub(super) fn of(rows: &[usize], scales: usize) -> Layout {
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
    pub(super) fn size(&self) -> usize {
        self.segments * self.length
    }

    /// The index of the first element of a segment of a group.
    #[inline(always)]
    pub(super) fn start(&self, group: usize, segment: usize) -> usize {
        let turn = group / self.across * self.segments + segment;
        (turn * self.across + group % self.across) * self.length
    }

    /// The group of the segment of this number.
    #[inline(always)]
    pub(super) fn group(&self, segment: usize) -> usize {
        segment / self.across / self.segments.max(1) * self.across + segment % self.across
    }
}

/// A mean and the reciprocal of a standard deviation.
pub(super) type Moments = [f64; 2];

/// The reciprocal of a standard deviation.
#[inline(always)]
pub(super) fn factor(variance: f64, epsilon: f64) -> f64 {
    1.0 / (variance + epsilon).sqrt()
}

/// The mean and the variance of a group.
pub(super) struct Group<'v, T>(pub(super) &'v [T], pub(super) &'v Layout, pub(super) usize);

impl<T: Element + Lane> Task for Group<'_, T> {
    type Output = [f64; 2];

    #[inline(always)]
    fn run<const FMA: bool>(self) -> [f64; 2] {
        let Group(values, layout, group) = self;
        let segments = (0..layout.segments).map(|at| &values[layout.start(group, at)..][..layout.length]);
        moments_of::<T, FMA>(segments, layout.size())
    }
}

/// The mean and the variance of the elements of segments, which are so many.
#[inline(always)]
pub(super) fn moments_of<'v, T: Element + Lane, const FMA: bool>(
    segments: impl Iterator<Item = &'v [T]> + Clone,
    count: usize,
) -> [f64; 2] {
    let n = count as f64;
    let first = segments.clone().find_map(|segment| segment.first());
    if let (DType::F32, Some(first)) = (T::DTYPE, first) {
        // In one pass: the square of the distance of any element from the mean is at most `n` times the variance,
        // so the difference below has digits enough for a result in single precision.
        let first = first.to_f64();
        let mut sums = [0.0; 2];
        for segment in segments {
            let part = differences::<T, FMA>(segment, first);
            sums = [0, 1].map(|at| sums[at] + part[at]);
        }
        let distance = sums[0] / n;
        let variance = sums[1] / n - distance * distance;
        return [first + distance, if variance < 0.0 { 0.0 } else { variance }];
    }
    let mut total = 0.0;
    for segment in segments.clone() {
        total += sum(segment, T::to_f64);
    }
    let mean = total / n;
    let mut squares = 0.0;
    for segment in segments {
        squares += sum(segment, |v: T| {
            let d = v.to_f64() - mean;
            d * d
        });
    }
    [mean, squares / n]
}

/// The mean and the variance of numbers in single precision from the differences from about their mean. `None` where their squares
/// are too large or small.
#[inline(always)]
pub(super) fn of_singles(values: &[f32], about: f32) -> Option<[f64; 2]> {
    moments_of_differences(differences_of_singles(values, about), values.len(), about)
}

/// The mean and the variance of so many numbers, given the sums of their differences from about the mean and of the squares of these.
#[inline(always)]
pub(super) fn moments_of_differences(sums: [f64; 2], count: usize, about: f32) -> Option<[f64; 2]> {
    let [sum, squares] = sums.map(|sum| sum / count as f64);
    let variance = squares - sum * sum;
    let fits = (1e-30..1e30).contains(&squares);
    fits.then_some([f64::from(about) + sum, if variance < 0.0 { 0.0 } else { variance }])
}

/// Scales and shifts, in double and in single precision.
pub(super) struct Params {
    pub(super) scale: Storage<f64>,
    pub(super) bias: Storage<f64>,
    singles: [Storage<f32>; 2],
}

/// The scales and shifts of a segment.
#[derive(Clone, Copy)]
pub(super) struct Parts<'v> {
    scale: &'v [f64],
    bias: &'v [f64],
    singles: [&'v [f32]; 2],
}

impl Params {
    pub(super) fn of(inputs: &Inputs, places: [Option<usize>; 2], count: usize) -> Result<Params, String> {
        let [scale, bias] = [(places[0], 1.0), (places[1], 0.0)].map(|(place, default)| {
            let Some(tensor) = place.and_then(|at| inputs.get(at)) else {
                return filled(count, default);
            };
            match tensor.len() == count {
                true => tensor.own_doubles(),
                false => Err(format!("expected {count} parameters, found {}", tensor.len())),
            }
        });
        let (scale, bias) = (scale?, bias?);
        let single = |values: &[f64]| gathered(values.iter().map(|&v| v as f32));
        let singles = [single(&scale)?, single(&bias)?];
        Ok(Params { scale, bias, singles })
    }

    /// Those of a segment of a layout.
    #[inline(always)]
    pub(super) fn of_segment(&self, at: usize, layout: &Layout) -> Parts<'_> {
        let first = at % layout.period * layout.width;
        let [scale, bias] = &self.singles;
        Parts {
            scale: &self.scale[first..][..layout.width],
            bias: &self.bias[first..][..layout.width],
            singles: [&scale[first..][..layout.width], &bias[first..][..layout.width]],
        }
    }

    /// Gives their memory back.
    pub(super) fn done(self) {
        done(self.scale);
        done(self.bias);
        self.singles.into_iter().for_each(done);
    }
}

/// Normalizes, scales and shifts the elements of a segment; small results become zeros.
#[inline(always)]
pub(super) fn normalize_segment<T: Element + Lane, const FMA: bool>(
    segment: &mut [T],
    [mean, factor]: Moments,
    Parts { scale, bias, singles }: Parts<'_>,
    flush: bool,
) {
    if FMA
        && let Some(segment) = T::singles_mut(segment)
        && normalize_singles(segment, [mean, factor], singles, flush)
    {
        return;
    }
    let mask = if flush { T::ON } else { T::OFF };
    // For single precision, double precision has digits enough for what cancels.
    let single = T::DTYPE == DType::F32;
    if let (&[scale], &[bias]) = (scale, bias) {
        let factor = factor * scale;
        let shift = bias - mean * factor;
        for v in segment {
            let y = match single {
                true => fused::<FMA>(v.to_f64(), factor, shift),
                false => (v.to_f64() - mean) * factor + bias,
            };
            *v = T::from_f64(y).flushed(mask);
        }
    } else {
        let shift = -mean * factor;
        for (v, (&scale, &bias)) in segment.iter_mut().zip(scale.iter().zip(bias)) {
            let y = match single {
                true => fused::<FMA>(fused::<FMA>(v.to_f64(), factor, shift), scale, bias),
                false => (v.to_f64() - mean) * factor * scale + bias,
            };
            *v = T::from_f64(y).flushed(mask);
        }
    }
}

/// The same in single precision; false, and nothing changed, if numbers might be too large or small for that.
#[inline(always)]
fn normalize_singles(segment: &mut [f32], [mean, factor]: Moments, [scale, bias]: [&[f32]; 2], flush: bool) -> bool {
    let mask = if flush { f32::ON } else { f32::OFF };
    let about = mean as f32;
    let rest = mean - f64::from(about);
    let fits = |factor: f64| (1e-30..1e30).contains(&factor.abs());
    if !(fits(factor) && mean.abs() < 1e30) {
        return false;
    }
    if let (&[scale], &[bias]) = (scale, bias) {
        let factor = factor * f64::from(scale);
        if !fits(factor) {
            return false;
        }
        let shift = (f64::from(bias) - rest * factor) as f32;
        let factor = factor as f32;
        for v in segment {
            *v = (*v - about).mul_add(factor, shift).flushed(mask);
        }
    } else {
        let (factor, shift) = (factor as f32, (-rest * factor) as f32);
        for (v, (&scale, &bias)) in segment.iter_mut().zip(scale.iter().zip(bias)) {
            *v = (*v - about).mul_add(factor, shift).mul_add(scale, bias).flushed(mask);
        }
    }
    true
}
