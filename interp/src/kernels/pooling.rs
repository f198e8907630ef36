//! The loops of poolings over one channel.
//!
//! Windows that are equally far apart are computed place by place: the elements that neighbouring windows have at one place are
//! equally far apart too, so that vectors of windows are computed at once. Those of adaptive pooling are computed one by one.

use std::ops::Range;

use super::gemm::Real;
use crate::simd::Task;
use crate::tensor::{Element, Shape};

/// The range of a window along one axis.
#[derive(Clone, Copy)]
pub(super) struct Stretch {
    pub(super) start: usize,
    pub(super) end: usize,
    /// The number of elements that an average counts.
    pub(super) count: usize,
}

/// The windows of a channel.
pub(super) struct Windows {
    pub(super) rows: Vec<Stretch>,
    pub(super) columns: Vec<Stretch>,
    /// Of windows that are equally far apart: the columns at each place.
    pub(super) runs: Option<Vec<Run>>,
    /// The extents of the channel.
    pub(super) height: usize,
    pub(super) width: usize,
}

/// What windows have at one place: the windows that have it in the image, its column in the first of them, and how far apart these are.
pub(super) struct Run {
    pub(super) windows: Range<usize>,
    pub(super) first: usize,
    pub(super) step: usize,
}

impl Run {
    /// Calls `f` with the elements of a line and the numbers of their windows among those of the run.
    #[inline(always)]
    fn each<T: Copy>(&self, line: &[T], mut f: impl FnMut(usize, T)) {
        let count = self.windows.len();
        let line = line.get(self.first..).unwrap_or(&[]);
        match self.step {
            1 => line.iter().enumerate().take(count).for_each(|(at, &v)| f(at, v)),
            2 => {
                let (pairs, rest) = line.as_chunks::<2>();
                let whole = pairs.len().min(count);
                pairs[..whole].iter().enumerate().for_each(|(at, pair)| f(at, pair[0]));
                if let Some(&v) = rest.first()
                    && whole < count
                {
                    f(whole, v);
                }
            }
            step => line
                .iter()
                .step_by(step)
                .enumerate()
                .take(count)
                .for_each(|(at, &v)| f(at, v)),
        }
    }
}

impl Windows {
    pub(super) fn area(&self) -> usize {
        self.height * self.width
    }

    /// The shape of the result for images of a shape.
    pub(super) fn pooled(&self, images: &[usize]) -> Shape {
        let extents = [self.rows.len(), self.columns.len()];
        images.iter().take(2).copied().chain(extents).collect()
    }

    fn line<'v, T>(&self, channel: &'v [T], y: usize) -> &'v [T] {
        &channel[y * self.width..][..self.width]
    }
}

/// Whether `v` takes the place of the largest element before it: the first that is not a number stays.
#[inline(always)]
fn wins<T: PartialOrd>(v: T, best: T) -> bool {
    #[expect(
        clippy::neg_cmp_op_on_partial_ord,
        clippy::eq_op,
        reason = "numbers that are not ordered win"
    )]
    let (more, settled) = (!(v <= best), best != best);
    more & !settled
}

fn least<T: Element>() -> T {
    T::from_f64(f64::NEG_INFINITY)
}

/// Combines the elements of each window of a row of windows: first those of a column of the image, in `line`.
#[inline(always)]
fn combined<T: Copy, U: Copy>(
    (windows, row): (&Windows, &Stretch),
    channel: &[T],
    line: &mut [U],
    out: &mut [U],
    start: U,
    of: impl Fn(T) -> U,
    join: impl Fn(U, U) -> U,
) {
    line.fill(start);
    for y in row.start..row.end {
        let from = windows.line(channel, y);
        line.iter_mut().zip(from).for_each(|(all, &v)| *all = join(*all, of(v)));
    }
    out.fill(start);
    match &windows.runs {
        Some(runs) => {
            for run in runs {
                let out = &mut out[run.windows.clone()];
                run.each(line, |at, v| out[at] = join(out[at], v));
            }
        }
        None => {
            for (out, column) in out.iter_mut().zip(&windows.columns) {
                *out = line[column.start..column.end]
                    .iter()
                    .fold(start, |all, &v| join(all, v));
            }
        }
    }
}

/// The averages of a channel. The elements of a column that are in the same windows are added first.
pub(super) struct Means<'v, T> {
    pub(super) windows: &'v Windows,
    pub(super) channel: &'v [T],
    /// Room for a line of the image and one of the result.
    pub(super) sums: &'v mut [f64],
    pub(super) out: &'v mut [T],
}

impl<T: Real> Task for Means<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let Windows {
            rows, columns, width, ..
        } = self.windows;
        let (line, sums) = self.sums.split_at_mut(*width);
        for (row, out) in rows.iter().zip(self.out.chunks_exact_mut(columns.len().max(1))) {
            let of = (self.windows, row);
            combined(of, self.channel, line, sums, 0.0, T::to_f64, |sum, v| sum + v);
            for ((out, column), sum) in out.iter_mut().zip(columns).zip(&*sums) {
                *out = T::from_f64(sum / (row.count * column.count).max(1) as f64);
            }
        }
    }
}

/// The largest elements of the windows of a channel: first of each column.
pub(super) struct Largest<'v, T> {
    pub(super) windows: &'v Windows,
    pub(super) channel: &'v [T],
    pub(super) line: &'v mut [T],
    pub(super) out: &'v mut [T],
}

impl<T: Real> Task for Largest<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let Windows { rows, columns, .. } = self.windows;
        let larger = |best: T, v: T| if wins(v, best) { v } else { best };
        for (row, out) in rows.iter().zip(self.out.chunks_exact_mut(columns.len().max(1))) {
            combined(
                (self.windows, row),
                self.channel,
                self.line,
                out,
                least(),
                |v| v,
                larger,
            );
        }
    }
}

/// The same with the index of the first of the largest elements.
pub(super) struct Marked<'v, T> {
    pub(super) windows: &'v Windows,
    pub(super) channel: &'v [T],
    pub(super) out: &'v mut [T],
    pub(super) places: &'v mut [i32],
}

impl<T: Real> Task for Marked<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let Windows {
            rows,
            columns,
            runs,
            width,
            ..
        } = self.windows;
        let count = columns.len().max(1);
        let parts = self
            .out
            .chunks_exact_mut(count)
            .zip(self.places.chunks_exact_mut(count));
        for (row, (out, places)) in rows.iter().zip(parts) {
            out.fill(least());
            // Where no element is larger, the first one counts; a window without elements has index 0.
            for (place, column) in places.iter_mut().zip(columns) {
                let is_empty = row.start >= row.end || column.start >= column.end;
                *place = if is_empty {
                    0
                } else {
                    (row.start * width + column.start) as i32
                };
            }
            for y in row.start..row.end {
                let (line, first) = (self.windows.line(self.channel, y), y * width);
                let Some(runs) = runs else {
                    for (column, (out, place)) in columns.iter().zip(out.iter_mut().zip(&mut *places)) {
                        for (x, &v) in line.iter().enumerate().take(column.end).skip(column.start) {
                            if wins(v, *out) {
                                (*out, *place) = (v, (first + x) as i32);
                            }
                        }
                    }
                    continue;
                };
                for run in runs {
                    let places = &mut places[run.windows.clone()];
                    let out = &mut out[run.windows.clone()];
                    let first = (first + run.first) as i32;
                    run.each(line, |at, v| {
                        let is_larger = wins(v, out[at]);
                        out[at] = if is_larger { v } else { out[at] };
                        let place = first + (at * run.step) as i32;
                        places[at] = if is_larger { place } else { places[at] };
                    });
                }
            }
        }
    }
}

/// Adds to each element its shares of the gradients of averages.
pub(super) struct Shares<'v, T> {
    pub(super) windows: &'v Windows,
    pub(super) g: &'v [T],
    pub(super) sums: &'v mut [f64],
}

impl<T: Real> Task for Shares<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let Windows {
            rows, columns, width, ..
        } = self.windows;
        for (row, g) in rows.iter().zip(self.g.chunks_exact(columns.len().max(1))) {
            for y in row.start..row.end {
                let line = &mut self.sums[y * width..][..*width];
                for (column, g) in columns.iter().zip(g) {
                    let share = g.to_f64() / (row.count * column.count).max(1) as f64;
                    line[column.start..column.end].iter_mut().for_each(|sum| *sum += share);
                }
            }
        }
    }
}
