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
    /// For each row of the image: the rows of copied results that meet it, and where their rows of the filters begin.
    rows: Vec<Vec<(usize, usize)>>,
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
            rows: Vec::new(),
        }
    }

    /// One for gradients of images.
    pub(super) fn of_images(s: &'s Sizes) -> Layout<'s> {
        let mut layout = Layout::new(s);
        let (ay, down) = (&s.axes[0], layout.strides[0]);
        let kernel = s.axes[1].kernel.max(1) as usize;
        let meet = |y: i64| {
            let far = (0..ay.kernel).map(move |ky| (ky, y + ay.before - ky * ay.dilation));
            let met = far.filter_map(|(ky, far)| Some((ky as usize, usize::try_from(far).ok()?)));
            let met = met.filter(|(_, far)| far % down == 0 && far / down < s.windows[0]);
            let rows = met.flat_map(|(ky, far)| {
                let (layout, places) = (&layout, layout.places.len());
                (0..s.filters).map(move |filter| {
                    let row = (filter * s.windows[0] + far / down) * layout.wide + layout.before;
                    (row, filter * places + ky * kernel)
                })
            });
            rows.collect()
        };
        layout.rows = (0..ay.size).map(meet).collect();
        layout
    }

    /// The first column of the image that is in its copy, and its place there, if all phases were one row.
    fn first(&self) -> (usize, usize) {
        let before = self.s.axes[1].before;
        ((-before).max(0) as usize, before.max(0) as usize)
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
    phases: Option<Storage<T>>,
}

impl<T: Real> Room<T> {
    /// Gives it back.
    pub(super) fn done(self) {
        [self.copy, self.results, self.phases]
            .into_iter()
            .flatten()
            .for_each(done);
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
    let wide = match job {
        Job::Image { .. } if layout.strides[1] > 1 => layout.strides[1].saturating_mul(layout.wide),
        _ => 0,
    };
    let phases = kept(&mut room.phases, wide)?;
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
            phases,
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
            for y in 0..rows {
                let copy = &copy[y * layout.strides[0] * layout.row()..];
                let to = &mut to[y * width..];
                let mut at = 0;
                while at < width {
                    let (copy, to, count) = (&copy[at..], &mut to[at..], width - at);
                    // Several vectors at once, since the sums of one depend on each other.
                    at += match (whole - at) / lanes {
                        4.. => results::<S, T, 4>(simd, layout, weights, copy, to, count),
                        2.. => results::<S, T, 2>(simd, layout, weights, copy, to, count),
                        _ => results::<S, T, 1>(simd, layout, weights, copy, to, count),
                    };
                }
            }
        }
    }
}

/// Computes `N` vectors of results, of which so many elements count; returns the number of elements. What is behind these may be written
/// over.
#[inline(always)]
fn results<S: Simd, T: Real, const N: usize>(
    simd: S,
    layout: &Layout<'_>,
    weights: &[T],
    copy: &[T],
    to: &mut [T],
    count: usize,
) -> usize {
    let width = N * size_of::<T::Vector<S>>() / size_of::<T>();
    let mut sums = [T::splat(simd, T::default()); N];
    for (&(down, across), &weight) in layout.places.iter().zip(weights) {
        add::<S, T, N>(simd, &mut sums, weight, &copy[down * layout.row() + across..][..width]);
    }
    write::<S, T, N>(simd, sums, to, count);
    width
}

/// Writes vectors, of which so many elements count: others too, over what is behind these, unless that is the end.
#[inline(always)]
fn write<S: Simd, T: Real, const N: usize>(simd: S, vectors: [T::Vector<S>; N], to: &mut [T], count: usize) {
    let lanes = size_of::<T::Vector<S>>() / size_of::<T>();
    for (at, vector) in vectors.into_iter().enumerate() {
        if at * lanes >= count {
            break;
        }
        let to = &mut to[at * lanes..];
        match T::vectors_mut::<S>(to).0.first_mut() {
            Some(to) => *to = vector,
            None => T::put(simd, to, vector),
        }
    }
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
    let rows = copy.chunks_exact_mut(layout.row()).enumerate();
    let rows = rows.map(|(at, row)| (at as i64 - ay.before, row));
    let rows = rows.filter(|&(y, _)| (0..ay.size).contains(&y));
    if layout.strides[1] == 2 {
        let (first, place) = layout.first();
        for (y, row) in rows {
            let from = &image[(y * ax.size) as usize..][..ax.size as usize];
            let [one, other] = in_turn(row, layout.columns, place);
            split(from.get(first..).unwrap_or_default(), one, other);
        }
        return;
    }
    for (y, row) in rows {
        for phase in 0..layout.strides[1] {
            let there = layout.phase(phase, layout.columns);
            if there.is_empty() {
                continue;
            }
            let first = layout.column(phase, there.start);
            let from = &image[(y * ax.size) as usize..][first..ax.size as usize];
            let to = &mut row[phase * layout.columns..][there];
            if layout.strides[1] == 1 {
                to.copy_from_slice(&from[..to.len()]);
            } else {
                let from = from.iter().step_by(layout.strides[1]);
                to.iter_mut().zip(from).for_each(|(to, &v)| *to = v);
            }
        }
    }
}

/// Copies numbers that take turns, as far as there is room for them.
#[inline(always)]
fn split<T: Copy>(from: &[T], one: &mut [T], other: &mut [T]) {
    const BLOCK: usize = 8;
    // Of one size, so that the compiler makes vectors.
    let blocks = from.as_chunks::<{ 2 * BLOCK }>().0.iter();
    let places = one
        .as_chunks_mut::<BLOCK>()
        .0
        .iter_mut()
        .zip(other.as_chunks_mut::<BLOCK>().0);
    let mut done = 0;
    for (from, (one, other)) in blocks.zip(places) {
        for at in 0..BLOCK {
            (one[at], other[at]) = (from[2 * at], from[2 * at + 1]);
        }
        done += BLOCK;
    }
    let (rest, one, other) = (&from[2 * done..], &mut one[done..], &mut other[done..]);
    one.iter_mut().zip(rest.iter().step_by(2)).for_each(|(to, &v)| *to = v);
    let odd = rest.iter().skip(1).step_by(2);
    other.iter_mut().zip(odd).for_each(|(to, &v)| *to = v);
}

/// The phases of a stride of two, which take turns from a place on: that of the place first. Each has so many columns.
#[inline(always)]
fn in_turn<T>(row: &mut [T], columns: usize, place: usize) -> [&mut [T]; 2] {
    let (even, odd) = row.split_at_mut(columns);
    let odd = &mut odd[..columns];
    let (from, next) = (place / 2, place.div_ceil(2));
    match place % 2 {
        0 => [&mut even[from..], &mut odd[next..]],
        _ => [&mut odd[from..], &mut even[next..]],
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
    /// Room for the elements of a row by phases.
    phases: &'v mut [T],
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
            phases,
            to,
        } = self;
        let across = layout.strides[1];
        let lanes = size_of::<T::Vector<S>>() / size_of::<T>();
        let width = layout.s.axes[1].size as usize;
        let (skipped, place) = layout.first();
        if skipped >= width {
            return;
        }
        let ranges: Vec<Range<usize>> = (0..across).map(|phase| layout.phase(phase, usize::MAX)).collect();
        for (y, rows) in layout.rows.iter().enumerate() {
            for (phase, (meetings, there)) in layout.meetings.iter().zip(&ranges).enumerate() {
                let of = Meeting {
                    rows,
                    columns: meetings,
                    filters,
                };
                let end = there.start + there.len().next_multiple_of(LANES);
                let mut first = there.start;
                while first < there.end {
                    let given = |row: usize, back: usize, width: usize| &results[row + first - back..][..width];
                    let count = there.end - first;
                    let to = match across {
                        // What is behind a row is the next one, which is written later, if it begins with what is written.
                        1 if skipped == 0 => &mut to[y * width + first - place..],
                        1 => &mut to[y * width + skipped + first - place..][..count],
                        _ => &mut phases[phase * layout.wide + first..][..end - first],
                    };
                    first += match (end - first) / lanes {
                        4.. => of.sums::<S, 4>(simd, given, to, count),
                        2.. => of.sums::<S, 2>(simd, given, to, count),
                        _ => of.sums::<S, 1>(simd, given, to, count),
                    };
                }
            }
            let to = &mut to[y * width..][skipped..width];
            match across {
                1 => {}
                2 => {
                    let [one, other] = in_turn(phases, layout.wide, place);
                    let (pairs, rest) = to.as_chunks_mut::<2>();
                    let both = pairs.len();
                    for (pair, (&mut one, &mut other)) in pairs.iter_mut().zip(one.iter_mut().zip(other)) {
                        *pair = [one, other];
                    }
                    rest.iter_mut().zip(&one[both..]).for_each(|(to, &one)| *to = one);
                }
                _ => {
                    for (phase, there) in ranges.iter().enumerate().filter(|(_, there)| !there.is_empty()) {
                        let column = layout.column(phase, there.start) - skipped;
                        let from = &phases[phase * layout.wide..][there.clone()];
                        let to = to[column..].iter_mut().step_by(across);
                        to.zip(from).for_each(|(to, &v)| *to = v);
                    }
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
    /// Writes the sums of `N` vectors, of which so many elements count; returns the number of elements. `given` are those of a row of the
    /// result, so many columns before.
    #[inline(always)]
    fn sums<'r, S: Simd, const N: usize>(
        &self,
        simd: S,
        given: impl Fn(usize, usize, usize) -> &'r [T],
        to: &mut [T],
        count: usize,
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
        write::<S, T, N>(simd, sums, to, count);
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
    let mut sums = sums_of_places::<S, T, N, true>(simd, layout, places, copy, g);
    // Zeros after the last result make numbers of what is there, unless these are infinite.
    if !T::are_finite(&sums) {
        sums = sums_of_places::<S, T, N, false>(simd, layout, places, copy, g);
    }
    for (to, sum) in to.iter_mut().zip(sums) {
        *to += sum;
    }
    N
}

/// The gradients of the first `N` places of a filter. `WHOLE`: also of columns after the last window, where the cotangents are zero.
#[inline(always)]
fn sums_of_places<S: Simd, T: Real, const N: usize, const WHOLE: bool>(
    simd: S,
    layout: &Layout<'_>,
    places: &[(usize, usize)],
    copy: &[T],
    g: &[T],
) -> [T; N] {
    let [rows, width] = layout.s.windows;
    let (row, lanes) = (layout.row(), size_of::<T::Vector<S>>() / size_of::<T>());
    let starts: [usize; N] = std::array::from_fn(|at| places[at].0 * row + places[at].1);
    let mut sums = [T::splat(simd, T::default()); N];
    for y in 0..rows {
        let copy = &copy[y * layout.strides[0] * row..];
        let g = &g[y * layout.wide + layout.before..][..width.next_multiple_of(LANES)];
        for first in (0..width).step_by(lanes) {
            let there = if WHOLE { lanes } else { lanes.min(width - first) };
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
    // A closure would not be compiled for the instruction set.
    let mut totals = [T::default(); N];
    for at in 0..N {
        totals[at] = T::total(simd, sums[at]);
    }
    totals
}

#[cfg(test)]
pub(super) mod tests;
