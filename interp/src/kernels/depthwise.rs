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
use crate::tensor::Storage;
use crate::tensor::buffer::{done, filled};

/// The results that are computed together.
const LANES: usize = 16;

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
    /// For the columns of each remainder by the stride: the columns of the filters that meet there, and how many columns of the result
    /// before it.
    meetings: Vec<Vec<(usize, usize)>>,
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
        let mut meetings = vec![Vec::new(); strides[1]];
        for kx in 0..ax.kernel {
            let x = far(kx);
            meetings[x % strides[1]].push((kx as usize, x / strides[1]));
        }
        Layout {
            s,
            strides,
            columns,
            before,
            wide,
            places: places.collect(),
            meetings,
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

/// Memory for the copies of a channel, which others of the same layout use again: what is around a copy is zero.
#[derive(Default)]
pub(super) struct Room<T> {
    copy: Option<Storage<T>>,
    results: Option<Storage<T>>,
}

impl<T: Real> Room<T> {
    /// Gives it back.
    pub(super) fn done(self) {
        [self.copy, self.results].into_iter().flatten().for_each(done);
    }
}

/// So many zeros, or what there is already.
fn kept<T: Real>(room: &mut Option<Storage<T>>, size: usize) -> Result<&mut [T], String> {
    if room.is_none() {
        *room = Some(filled(size, T::default())?);
    }
    Ok(room.as_mut().map_or(&mut [], |kept| &mut kept[..]))
}

/// Computes one channel.
///
/// # Errors
/// If memory for the copies is exhausted.
pub(super) fn channel<T: Real>(
    layout: &Layout<'_>,
    job: Job<'_, T>,
    room: &mut Room<T>,
    to: &mut [T],
) -> Result<(), String> {
    let s = layout.s;
    let size = match job {
        Job::Image { .. } => 0,
        _ => layout.channel(),
    };
    let copy = kept(&mut room.copy, size)?;
    let others = match job {
        Job::Out { .. } => 0,
        _ => (s.filters * s.windows[0]).saturating_mul(layout.wide),
    };
    let results = kept(&mut room.results, others)?;
    simd::run(Copies {
        layout,
        job: &job,
        copy: &mut *copy,
        results: &mut *results,
    });
    let (copied, given) = (&*copy, &*results);
    match job {
        Job::Out { filters, .. } => simd::dispatch(Forward {
            layout,
            copy: copied,
            filters,
            to,
        }),
        Job::Image { filters, .. } => simd::dispatch(Backward {
            layout,
            filters,
            results: given,
            to,
        }),
        Job::Filter { .. } => simd::dispatch(Filters {
            layout,
            copy: copied,
            g: given,
            to,
        }),
    }
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
        add::<S, T, N>(simd, &mut sums, weight, &copy[down * layout.row() + across..][..width]);
    }
    let lanes = width / N;
    for (to, &sum) in to.chunks_mut(lanes).zip(&sums) {
        match T::vectors_mut::<S>(to).0.first_mut() {
            Some(to) => *to = sum,
            None => T::put(simd, to, sum),
        }
    }
    width
}

/// Adds multiples of numbers.
#[inline(always)]
fn add<S: Simd, T: Real, const N: usize>(simd: S, sums: &mut [T::Vector<S>; N], factor: T, from: &[T]) {
    if let Some(from) = T::vectors::<S>(from).0.first_chunk::<N>() {
        let factor = T::splat(simd, factor);
        for at in 0..N {
            sums[at] = T::fused(simd, factor, from[at], sums[at]);
        }
    }
}

/// Makes the copies that a computation reads.
struct Copies<'v, T> {
    layout: &'v Layout<'v>,
    job: &'v Job<'v, T>,
    copy: &'v mut [T],
    results: &'v mut [T],
}

impl<T: Real> Task for Copies<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let Copies {
            layout,
            job,
            copy,
            results,
        } = self;
        match job {
            Job::Out { image, .. } => copy_image(layout, image, copy),
            Job::Image { g, .. } => copy_results(layout, g, results),
            Job::Filter { image, g } => {
                copy_image(layout, image, copy);
                copy_results(layout, g, results);
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

/// The gradient of a channel, from the copy of that of its results.
struct Backward<'v, T> {
    layout: &'v Layout<'v>,
    filters: &'v [T],
    results: &'v [T],
    to: &'v mut [T],
}

impl<T: Real> WithSimd for Backward<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Backward {
            layout,
            filters,
            results,
            to,
        } = self;
        let s = layout.s;
        let [ay, ax] = &s.axes;
        let [down, across] = layout.strides;
        let (places, kernel) = (layout.places.len(), ax.kernel.max(1) as usize);
        let lanes = size_of::<T::Vector<S>>() / size_of::<T>();
        // The rows of the result that meet a row of the image, with those of the filters.
        let mut rows = Vec::with_capacity(s.filters * ay.kernel as usize);
        let mut edge = [T::default(); 4 * LANES];
        for (y, to) in to.chunks_exact_mut((ax.size as usize).max(1)).enumerate() {
            rows.clear();
            for ky in 0..ay.kernel {
                let far = y as i64 + ay.before - ky * ay.dilation;
                let Ok(far) = usize::try_from(far) else { continue };
                if far % down == 0 && far / down < s.windows[0] {
                    rows.extend((0..s.filters).map(|filter| {
                        let row = (filter * s.windows[0] + far / down) * layout.wide + layout.before;
                        (row, filter * places + ky as usize * kernel)
                    }));
                }
            }
            for (phase, meetings) in layout.meetings.iter().enumerate() {
                let there = layout.phase(phase, usize::MAX);
                let end = there.start + there.len().next_multiple_of(LANES);
                let mut first = there.start;
                while first < there.end {
                    let given = |row: usize, back: usize, width: usize| &results[row + first - back..][..width];
                    let of = Meeting {
                        rows: &rows,
                        columns: meetings,
                        filters,
                    };
                    let width = match (end - first) / lanes {
                        4.. => of.sums::<S, 4>(simd, given, &mut edge),
                        2.. => of.sums::<S, 2>(simd, given, &mut edge),
                        _ => of.sums::<S, 1>(simd, given, &mut edge),
                    };
                    let from = &edge[..width.min(there.end - first)];
                    let to = &mut to[layout.column(phase, first)..];
                    if across == 1 {
                        to[..from.len()].copy_from_slice(from);
                    } else {
                        let to = to.iter_mut().step_by(across);
                        to.zip(from).for_each(|(to, &v)| *to = v);
                    }
                    first += width;
                }
            }
        }
    }
}

/// What meets in neighbouring elements of a row of an image.
struct Meeting<'v, T> {
    /// Where the rows of the result begin, and where those of the filters do.
    rows: &'v [(usize, usize)],
    columns: &'v [(usize, usize)],
    filters: &'v [T],
}

impl<T: Real> Meeting<'_, T> {
    /// Writes the sums of `N` vectors; returns the number of elements. `given` are those of a row of the result, so many columns before.
    #[inline(always)]
    fn sums<'r, S: Simd, const N: usize>(
        &self,
        simd: S,
        given: impl Fn(usize, usize, usize) -> &'r [T],
        to: &mut [T],
    ) -> usize
    where
        T: 'r,
    {
        let width = N * size_of::<T::Vector<S>>() / size_of::<T>();
        let mut sums = [T::splat(simd, T::default()); N];
        for &(row, weights) in self.rows {
            for &(kx, back) in self.columns {
                add::<S, T, N>(simd, &mut sums, self.filters[weights + kx], given(row, back, width));
            }
        }
        T::vectors_mut::<S>(&mut to[..width]).0[..N].copy_from_slice(&sums);
        width
    }
}

/// The gradients of the filters of a channel, from its copy and that of the gradient of the result.
struct Filters<'v, T> {
    layout: &'v Layout<'v>,
    copy: &'v [T],
    g: &'v [T],
    to: &'v mut [T],
}

impl<T: Real> WithSimd for Filters<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Filters { layout, copy, g, to } = self;
        let places = layout.places.len().max(1);
        for (filter, to) in to.chunks_exact_mut(places).enumerate() {
            let g = &g[filter * layout.s.windows[0] * layout.wide..];
            let (mut places, mut to) = (&layout.places[..], to);
            // As many as there are in windows of usual sizes.
            while !places.is_empty() {
                let count = match places.len() {
                    9.. => filters::<S, T, 9>(simd, layout, places, copy, g, to),
                    5.. => filters::<S, T, 5>(simd, layout, places, copy, g, to),
                    2.. => filters::<S, T, 2>(simd, layout, places, copy, g, to),
                    _ => filters::<S, T, 1>(simd, layout, places, copy, g, to),
                };
                places = &places[count..];
                to = &mut to[count..];
            }
        }
    }
}

/// Adds the gradients of the first `N` places of a filter; returns `N`.
#[inline(always)]
fn filters<S: Simd, T: Real, const N: usize>(
    simd: S,
    layout: &Layout<'_>,
    places: &[(usize, usize)],
    copy: &[T],
    g: &[T],
    to: &mut [T],
) -> usize {
    let [rows, width] = layout.s.windows;
    let (row, lanes) = (layout.row(), size_of::<T::Vector<S>>() / size_of::<T>());
    let starts: [usize; N] = std::array::from_fn(|at| places[at].0 * row + places[at].1);
    let mut sums = [T::splat(simd, T::default()); N];
    for y in 0..rows {
        let copy = &copy[y * layout.strides[0] * row..];
        let g = &g[y * layout.wide + layout.before..][..width];
        for first in (0..width).step_by(lanes) {
            // Elements after the last window, which may be infinite, count for nothing.
            let there = lanes.min(width - first);
            let vector = |values: &[T]| match T::vectors::<S>(&values[..there]).0.first() {
                Some(&whole) => whole,
                None => T::partial(simd, &values[..there]),
            };
            let g = vector(&g[first..]);
            for at in 0..N {
                sums[at] = T::fused(simd, g, vector(&copy[starts[at] + first..]), sums[at]);
            }
        }
    }
    for (to, sum) in to.iter_mut().zip(sums) {
        *to += T::total(simd, sum);
    }
    N
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
            let mut rooms = [(); 3].map(|()| Room::default());
            let mut found = wanted.clone().map(|values| vec![0.0; values.len()]);
            let (image, filters, g) = (&image[..], &weights[..], &g[..]);
            // Twice, since the copies of the first time are used again.
            for _ in 0..2 {
                found[2].fill(0.0);
                channel(&layout, Job::Out { image, filters }, &mut rooms[0], &mut found[0]).unwrap();
                channel(&layout, Job::Image { filters, g }, &mut rooms[1], &mut found[1]).unwrap();
                channel(&layout, Job::Filter { image, g }, &mut rooms[2], &mut found[2]).unwrap();
            }
            assert_eq!(found, wanted, "{high:?} {wide:?}");
        }
    }
}
