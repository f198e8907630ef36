//! Convolutions of groups of one channel, whose filters have too few elements for a matrix.
//!
//! A channel is copied with its padding, so that rows of windows need no bounds checks. With a stride, columns at that
//! distance become adjacent. The contributions of a window position to neighbouring results are then contiguous, and
//! the results are summed in registers.

use std::ops::Range;

use pulp::{Simd, WithSimd};

use super::conv::Sizes;
use super::gemm::Real;
use crate::simd::{self, Task};
use crate::tensor::buffer::{done, filled};

/// The results that are computed together.
const LANES: usize = 16;
/// The places of the windows whose gradients are computed together.
const TERMS: usize = 3;

/// How copies of a channel and of a result are laid out.
pub(super) struct Layout<'s> {
    s: &'s Sizes,
    strides: [usize; 2],
    /// The columns of a row of a copied channel that are a stride apart, with room for whole vectors.
    columns: usize,
    /// The columns in front of a row of a copied result, and all of them.
    before: usize,
    wide: usize,
    /// For each place: its row, and the column in a row of a copied channel.
    places: Vec<(usize, usize)>,
}

impl<'s> Layout<'s> {
    pub(super) fn new(s: &'s Sizes) -> Layout<'s> {
        let [ay, ax] = &s.axes;
        let strides = [ay, ax].map(|axis| axis.stride.max(1) as usize);
        let far = |k: i64| (k * ax.dilation) as usize;
        let before = far(ax.kernel - 1) / strides[1];
        let whole = s.windows[1].next_multiple_of(LANES);
        let columns = whole + before;
        // A row of the image has as many columns that are a stride apart.
        let most = ((ax.size + ax.before).max(0) as usize).div_ceil(strides[1]) + LANES;
        let wide = before + whole.max(most).next_multiple_of(LANES);
        let places = (0..ay.kernel).flat_map(|ky| {
            (0..ax.kernel).map(move |kx| {
                let x = far(kx);
                ((ky * ay.dilation) as usize, x % strides[1] * columns + x / strides[1])
            })
        });
        Layout {
            s,
            strides,
            columns,
            before,
            wide,
            places: places.collect(),
        }
    }

    /// The elements of a row of a copied channel.
    fn row(&self) -> usize {
        self.strides[1].saturating_mul(self.columns)
    }

    /// The elements of a copied channel.
    fn channel(&self) -> usize {
        let far = (self.s.axes[0].kernel - 1) * self.s.axes[0].dilation;
        let rows = (self.s.windows[0].max(1) - 1) * self.strides[0] + far as usize + 1;
        rows.saturating_mul(self.row())
    }

    /// The columns of the image that a phase, the columns of one remainder by the stride, has: theirs in the copy.
    fn phase(&self, phase: usize, most: usize) -> Range<usize> {
        let (ax, stride) = (&self.s.axes[1], self.strides[1] as i64);
        let first = (ax.before - phase as i64)
            .max(0)
            .unsigned_abs()
            .div_ceil(stride.unsigned_abs()) as usize;
        let last = (ax.size + ax.before - phase as i64).max(0).unsigned_abs();
        let last = (last.div_ceil(stride.unsigned_abs()) as usize).min(most);
        first.min(last)..last
    }

    /// The column of the image that one of a phase is.
    fn column(&self, phase: usize, at: usize) -> usize {
        (at * self.strides[1] + phase).wrapping_sub(self.s.axes[1].before as usize)
    }
}

/// A computation on the copies.
pub(super) enum Job<'v, T> {
    /// The result of a channel and its filters.
    Out { image: &'v [T], filters: &'v [T] },
    /// The gradient of a channel by its filters and the gradient of the result.
    Image { filters: &'v [T], g: &'v [T] },
    /// The gradient of the filters, which is added to.
    Filter { image: &'v [T], g: &'v [T] },
}

/// Computes one channel.
///
/// # Errors
/// If memory for the copies is exhausted.
pub(super) fn channel<T: Real>(layout: &Layout<'_>, job: Job<'_, T>, to: &mut [T]) -> Result<(), String> {
    let s = layout.s;
    let size = match job {
        Job::Image { .. } => 0,
        _ => layout.channel(),
    };
    let mut copy = filled(size, T::default())?;
    let filters = match job {
        Job::Out { filters, .. } => Some(filters),
        _ => None,
    };
    let others = match job {
        Job::Out { .. } => 0,
        _ => (s.filters * s.windows[0]).saturating_mul(layout.wide),
    };
    let mut results = filled(others, T::default())?;
    simd::run(Channel {
        layout,
        job,
        copy: &mut copy,
        results: &mut results,
        to: &mut *to,
    });
    if let Some(filters) = filters {
        let copy = &copy;
        simd::dispatch(Forward {
            layout,
            copy,
            filters,
            to,
        });
    }
    done(copy);
    done(results);
    Ok(())
}

/// The results of a channel, from its copy.
struct Forward<'v, T> {
    layout: &'v Layout<'v>,
    copy: &'v [T],
    filters: &'v [T],
    to: &'v mut [T],
}

impl<T: Real> WithSimd for Forward<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Forward {
            layout,
            copy,
            filters,
            to,
        } = self;
        let [rows, width] = layout.s.windows;
        let lanes = size_of::<T::Vector<S>>() / size_of::<T>();
        let whole = width.next_multiple_of(LANES);
        let all = filters.chunks_exact(layout.places.len().max(1));
        for (weights, to) in all.zip(to.chunks_exact_mut((rows * width).max(1))) {
            for (y, to) in to.chunks_exact_mut(width.max(1)).enumerate() {
                let copy = &copy[y * layout.strides[0] * layout.row()..];
                let mut at = 0;
                while at < width {
                    // Several vectors at once, since the sums of one depend on each other.
                    at += match (whole - at) / lanes {
                        4.. => results::<S, T, 4>(simd, layout, weights, &copy[at..], &mut to[at..]),
                        2.. => results::<S, T, 2>(simd, layout, weights, &copy[at..], &mut to[at..]),
                        _ => results::<S, T, 1>(simd, layout, weights, &copy[at..], &mut to[at..]),
                    };
                }
            }
        }
    }
}

/// Computes `N` vectors of results, the last of which may be partial; returns the number of elements.
#[inline(always)]
fn results<S: Simd, T: Real, const N: usize>(
    simd: S,
    layout: &Layout<'_>,
    weights: &[T],
    copy: &[T],
    to: &mut [T],
) -> usize {
    let width = N * size_of::<T::Vector<S>>() / size_of::<T>();
    let mut sums = [T::splat(simd, T::default()); N];
    for (&(down, across), &weight) in layout.places.iter().zip(weights) {
        let from = &copy[down * layout.row() + across..][..width];
        let Some(from) = T::vectors::<S>(from).0.first_chunk::<N>() else {
            break;
        };
        let weight = T::splat(simd, weight);
        for at in 0..N {
            sums[at] = T::fused(simd, weight, from[at], sums[at]);
        }
    }
    if to.len() >= width {
        T::vectors_mut::<S>(&mut to[..width]).0[..N].copy_from_slice(&sums);
    } else {
        let mut edge = [T::default(); 4 * LANES];
        T::vectors_mut::<S>(&mut edge[..width]).0[..N].copy_from_slice(&sums);
        to.copy_from_slice(&edge[..to.len()]);
    }
    width
}

struct Channel<'v, T> {
    layout: &'v Layout<'v>,
    job: Job<'v, T>,
    copy: &'v mut [T],
    results: &'v mut [T],
    to: &'v mut [T],
}

impl<T: Real> Task for Channel<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let Channel {
            layout,
            job,
            copy,
            results,
            to,
        } = self;
        match job {
            Job::Out { image, .. } => copy_image(layout, image, copy),
            Job::Image { filters, g } => {
                copy_results(layout, g, results);
                backward(layout, filters, results, to);
            }
            Job::Filter { image, g } => {
                copy_image(layout, image, copy);
                copy_results(layout, g, results);
                let (groups, rest) = layout.places.as_chunks::<TERMS>();
                let places = layout.places.len();
                for (filter, to) in to.chunks_exact_mut(places.max(1)).enumerate() {
                    let g = &results[filter * layout.s.windows[0] * layout.wide..];
                    for (places, to) in groups.iter().zip(to.chunks_exact_mut(TERMS)) {
                        filters(layout, places, copy, g, to);
                    }
                    for (place, to) in rest.iter().zip(to[places - rest.len()..].chunks_exact_mut(1)) {
                        filters(layout, &[*place], copy, g, to);
                    }
                }
            }
        }
    }
}

/// Copies a channel into zeros.
#[inline(always)]
fn copy_image<T: Real>(layout: &Layout<'_>, image: &[T], copy: &mut [T]) {
    let [ay, ax] = &layout.s.axes;
    for phase in 0..layout.strides[1] {
        let there = layout.phase(phase, layout.columns);
        if there.is_empty() {
            continue;
        }
        let first = layout.column(phase, there.start);
        for (at, row) in copy.chunks_exact_mut(layout.row()).enumerate() {
            let y = at as i64 - ay.before;
            if y < 0 || y >= ay.size {
                continue;
            }
            let from = &image[(y * ax.size) as usize..][first..ax.size as usize];
            let to = &mut row[phase * layout.columns..][there.clone()];
            if layout.strides[1] == 1 {
                to.copy_from_slice(&from[..to.len()]);
            } else {
                let from = from.iter().step_by(layout.strides[1]);
                to.iter_mut().zip(from).for_each(|(to, &v)| *to = v);
            }
        }
    }
}

/// Copies what a channel gives into zeros.
#[inline(always)]
fn copy_results<T: Real>(layout: &Layout<'_>, g: &[T], results: &mut [T]) {
    let width = layout.s.windows[1];
    for (to, g) in results.chunks_exact_mut(layout.wide).zip(g.chunks_exact(width.max(1))) {
        to[layout.before..][..width].copy_from_slice(g);
    }
}

/// Adds multiples of numbers.
#[inline(always)]
fn add<T: Real>(sums: &mut [T; LANES], factor: T, from: &[T]) {
    if let Some(from) = from.first_chunk::<LANES>() {
        for at in 0..LANES {
            sums[at] += factor * from[at];
        }
    }
}

#[inline(always)]
fn backward<T: Real>(layout: &Layout<'_>, filters: &[T], results: &[T], to: &mut [T]) {
    let s = layout.s;
    let [ay, ax] = &s.axes;
    let [down, across] = layout.strides;
    let (places, kernel) = (layout.places.len().max(1), ax.kernel.max(1) as usize);
    for (y, to) in to.chunks_exact_mut((ax.size as usize).max(1)).enumerate() {
        // The rows of the result and of the filters that meet in this row of the image.
        let meeting = |ky: usize| {
            let far = y as i64 + ay.before - ky as i64 * ay.dilation;
            let at = usize::try_from(far).ok().filter(|far| far % down == 0)? / down;
            (at < s.windows[0]).then_some(at)
        };
        for phase in 0..across {
            let there = layout.phase(phase, usize::MAX);
            for first in there.clone().step_by(LANES) {
                let mut sums = [T::default(); LANES];
                for (filter, weights) in filters.chunks_exact(places).enumerate() {
                    for (ky, weights) in weights.chunks_exact(kernel).enumerate() {
                        let Some(at) = meeting(ky) else { continue };
                        let row = &results[(filter * s.windows[0] + at) * layout.wide..][..layout.wide];
                        for (kx, &weight) in weights.iter().enumerate() {
                            let x = kx * ax.dilation as usize;
                            if x % across == phase {
                                add(&mut sums, weight, &row[layout.before + first - x / across..]);
                            }
                        }
                    }
                }
                let to = &mut to[layout.column(phase, first)..];
                let count = LANES.min(there.end - first);
                if across == 1 {
                    to[..count].copy_from_slice(&sums[..count]);
                } else {
                    to.iter_mut()
                        .step_by(across)
                        .zip(&sums[..count])
                        .for_each(|(to, &v)| *to = v);
                }
            }
        }
    }
}

/// Adds the gradients of some places of a filter.
#[inline(always)]
fn filters<T: Real, const N: usize>(
    layout: &Layout<'_>,
    places: &[(usize, usize); N],
    copy: &[T],
    g: &[T],
    to: &mut [T],
) {
    let [rows, width] = layout.s.windows;
    let row = layout.row();
    let mut sums = [[T::default(); LANES]; N];
    for y in 0..rows {
        let (copy, g) = (
            &copy[y * layout.strides[0] * row..],
            &g[y * layout.wide + layout.before..],
        );
        for first in (0..width).step_by(LANES) {
            let Some(g) = g[first..].first_chunk::<LANES>() else {
                break;
            };
            let left = width - first;
            for (sums, &(down, across)) in sums.iter_mut().zip(places) {
                let Some(from) = copy[down * row + across + first..].first_chunk::<LANES>() else {
                    break;
                };
                if left >= LANES {
                    for at in 0..LANES {
                        sums[at] += g[at] * from[at];
                    }
                } else {
                    // Elements after the last window may be infinite.
                    for at in 0..LANES {
                        let v = if at < left { from[at] } else { T::default() };
                        sums[at] += g[at] * v;
                    }
                }
            }
        }
    }
    for (to, sums) in to.iter_mut().zip(sums) {
        *to += sums.into_iter().fold(T::default(), |sum, v| sum + v);
    }
}

#[cfg(test)]
mod tests {
    use pir_dialects::window::Axis;

    use super::*;

    fn axis([size, kernel, stride, dilation, before, after]: [i64; 6]) -> Axis {
        Axis {
            size,
            kernel,
            stride,
            dilation,
            before,
            after,
        }
    }

    /// Numbers whose products and sums are exact.
    fn numbers(count: usize, factor: usize) -> Vec<f32> {
        (0..count).map(|at| (at * factor % 15) as f32 - 7.0).collect()
    }

    #[test]
    fn they_are_what_their_sums_say() {
        for (high, wide, filters) in [
            ([5, 3, 1, 1, 1, 1], [5, 3, 1, 1, 1, 1], 1),
            ([7, 3, 2, 1, 1, 1], [40, 3, 2, 1, 1, 1], 2),
            ([9, 5, 2, 1, 2, 2], [33, 4, 3, 2, 5, 1], 1),
            ([4, 1, 1, 1, 0, 0], [70, 1, 2, 1, 0, 0], 3),
            ([6, 2, 1, 3, 4, 0], [17, 5, 1, 2, 9, 8], 1),
            ([3, 2, 3, 1, 0, 0], [50, 2, 4, 1, 0, 0], 2),
            ([8, 2, 1, 1, -1, 0], [20, 3, 2, 1, -2, 0], 1),
        ] {
            let s = Sizes::new(1, 1, 1, filters, [axis(high), axis(wide)]).unwrap();
            let [ay, ax] = &s.axes;
            let (area, places) = ((ay.size * ax.size) as usize, (ay.kernel * ax.kernel) as usize);
            let count = s.windows[0] * s.windows[1];
            let (image, weights, g) = (
                numbers(area, 7),
                numbers(filters * places, 11),
                numbers(filters * count, 4),
            );
            let mut wanted = [vec![0.0; filters * count], vec![0.0; area], vec![0.0; filters * places]];
            for filter in 0..filters {
                for at in 0..count {
                    for place in 0..places {
                        let (oy, ox) = ((at / s.windows[1]) as i64, (at % s.windows[1]) as i64);
                        let (ky, kx) = (place as i64 / ax.kernel, place as i64 % ax.kernel);
                        let y = oy * ay.stride + ky * ay.dilation - ay.before;
                        let x = ox * ax.stride + kx * ax.dilation - ax.before;
                        if y < 0 || x < 0 || y >= ay.size || x >= ax.size {
                            continue;
                        }
                        let (pixel, out, weight) =
                            ((y * ax.size + x) as usize, filter * count + at, filter * places + place);
                        wanted[0][out] += weights[weight] * image[pixel];
                        wanted[1][pixel] += weights[weight] * g[out];
                        wanted[2][weight] += g[out] * image[pixel];
                    }
                }
            }
            let layout = Layout::new(&s);
            let mut found = wanted.clone().map(|values| vec![0.0; values.len()]);
            let (image, filters, g) = (&image[..], &weights[..], &g[..]);
            channel(&layout, Job::Out { image, filters }, &mut found[0]).unwrap();
            channel(&layout, Job::Image { filters, g }, &mut found[1]).unwrap();
            channel(&layout, Job::Filter { image, g }, &mut found[2]).unwrap();
            assert_eq!(found, wanted, "{high:?} {wide:?}");
        }
    }
}
