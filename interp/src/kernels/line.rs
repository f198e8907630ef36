//! Softmax and its like: functions of the elements along an axis.

use super::around;
use super::math::{Math, single};
use super::sums::{folded, products_of_singles, sum, sum_of_singles};
use super::vector::Lane;
use crate::parallel::{self, Division};
use crate::simd::{self, Task};
use crate::tensor::buffer::{Buffer, done, stale};
use crate::tensor::subnormal::Flush;
use crate::tensor::{DType, Element, Storage};

/// The number of elements that a thread computes at once.
const PART: usize = 1 << 14;

/// The number of lines that are computed together.
const TOGETHER: usize = 8;

/// A function of a line of elements, in double precision.
pub(super) trait OnLine: Copy + Send + Sync {
    /// Overwrites the line. `other` is the line of another tensor, if there is one; `room` is as long, for use in
    /// between.
    fn change<const FMA: bool, const WIDE: bool>(
        self,
        m: Math<FMA, WIDE>,
        line: &mut [f64],
        other: &[f64],
        room: &mut [f64],
    );

    /// Overwrites lines of `n` numbers in single precision, up to [`TOGETHER`], where multiplication and addition are fused; false if
    /// that would not be accurate, and nothing has been changed. `others` are the lines of the other tensor.
    #[inline(always)]
    fn singles(self, _: &mut [f32], _others: &[f32], _n: usize, _: <f32 as Flush>::Mask) -> bool {
        false
    }
}

/// The least number that is not NaN, or with `MOST` the largest one. One at a time: of two, the compiler shuffles the vectors with each
/// other (in profile `dist`), which takes as long as all exponentials of a softmax.
#[inline(always)]
fn extreme<T: Lane, const MOST: bool>(line: &[T]) -> T {
    const LANES: usize = 16;
    let first = if MOST { f64::NEG_INFINITY } else { f64::INFINITY };
    let mut ends = [T::narrow(first); LANES];
    let (chunks, rest) = line.as_chunks::<LANES>();
    for chunk in chunks {
        for (end, &v) in ends.iter_mut().zip(chunk) {
            *end = if is_beyond::<T, MOST>(v, *end) { v } else { *end };
        }
    }
    for (end, &v) in ends.iter_mut().zip(rest) {
        *end = if is_beyond::<T, MOST>(v, *end) { v } else { *end };
    }
    folded(ends, |a, b| if is_beyond::<T, MOST>(b, a) { b } else { a })
}

#[inline(always)]
fn is_beyond<T: PartialOrd, const MOST: bool>(v: T, end: T) -> bool {
    if MOST { v > end } else { v < end }
}

/// The [`extreme`] of each line.
#[inline(never)]
fn extremes<const MOST: bool>(lines: &[f32], n: usize) -> [f32; TOGETHER] {
    simd::run(Extremes::<MOST> { lines, n })
}

struct Extremes<'v, const MOST: bool> {
    lines: &'v [f32],
    n: usize,
}

impl<const MOST: bool> Task for Extremes<'_, MOST> {
    type Output = [f32; TOGETHER];

    #[inline(always)]
    fn run<const FMA: bool>(self) -> Self::Output {
        let mut ends = [0.0; TOGETHER];
        for (end, line) in ends.iter_mut().zip(self.lines.chunks_exact(self.n)) {
            *end = extreme::<f32, MOST>(line);
        }
        ends
    }
}

/// The difference of two numbers and its rounding error.
#[inline(always)]
fn difference(a: f32, b: f32) -> [f32; 2] {
    let d = a - b;
    let part = d - a;
    [d, (a - (d - part)) - (b + part)]
}

#[derive(Clone, Copy)]
pub(super) struct Softmax;

impl OnLine for Softmax {
    #[inline(always)]
    fn change<const FMA: bool, const WIDE: bool>(self, m: Math<FMA, WIDE>, line: &mut [f64], _: &[f64], _: &mut [f64]) {
        let most = extreme::<f64, true>(line);
        for v in &mut *line {
            *v = m.exp(*v - most);
        }
        let sum = sum(line, |v| v);
        if WIDE {
            line.iter_mut().for_each(|v| *v /= sum);
        } else {
            // Rounded twice, but in double precision.
            let inverse = 1.0 / sum;
            line.iter_mut().for_each(|v| *v *= inverse);
        }
    }

    #[inline(always)]
    fn singles(self, lines: &mut [f32], _: &[f32], n: usize, flush: <f32 as Flush>::Mask) -> bool {
        /// Exponentials of smaller numbers are zero.
        const NOTHING: f32 = -104.0;
        /// Exponentials of larger numbers are normal, and so are their quotients by a sum of up to 2^64.
        const NORMAL: f32 = -40.0;
        // Step by step for all lines: the steps of one wait for each other.
        let ends: [[f32; 2]; TOGETHER] = {
            let (least, most) = (extremes::<false>(lines, n), extremes::<true>(lines, n));
            std::array::from_fn(|at| [least[at], most[at]])
        };
        let mut all = true;
        for ([least, most], line) in ends.iter().zip(lines.chunks_exact(n)) {
            let accurate = |v: f32| (v - most >= single::LEAST) | (v - most < NOTHING);
            all &= least - most >= single::LEAST || line.iter().fold(true, |all, &v| all & accurate(v));
        }
        if !all {
            return false;
        }
        for ([least, most], line) in ends.iter().zip(lines.chunks_exact_mut(n)) {
            if least - most >= single::LEAST {
                for v in line {
                    let [d, lost] = difference(*v, *most);
                    *v = single::exp_of_normal(d, lost);
                }
                continue;
            }
            for v in line {
                let [d, lost] = difference(*v, *most);
                let there = d >= single::LEAST;
                let e = single::exp_of_normal(if there { d } else { 0.0 }, if there { lost } else { 0.0 });
                *v = if there { e } else { 0.0 };
            }
        }
        let mut inverses = [0.0; TOGETHER];
        for (inverse, line) in inverses.iter_mut().zip(lines.chunks_exact(n)) {
            *inverse = (1.0 / sum_of_singles(line)) as f32;
        }
        for ((inverse, [least, most]), line) in inverses.into_iter().zip(ends).zip(lines.chunks_exact_mut(n)) {
            if least - most >= NORMAL {
                for v in line {
                    *v *= inverse;
                }
            } else {
                for v in line {
                    *v = (*v * inverse).flushed(flush);
                }
            }
        }
        true
    }
}

#[derive(Clone, Copy)]
pub(super) struct LogSoftmax;

impl OnLine for LogSoftmax {
    #[inline(always)]
    fn change<const FMA: bool, const WIDE: bool>(
        self,
        m: Math<FMA, WIDE>,
        line: &mut [f64],
        _: &[f64],
        room: &mut [f64],
    ) {
        let most = extreme::<f64, true>(line);
        for (e, v) in room.iter_mut().zip(&*line) {
            *e = m.exp(*v - most);
        }
        let all = most + sum(room, |v| v).ln();
        line.iter_mut().for_each(|v| *v -= all);
    }
}

/// The derivative as a function of the result's gradient and the result.
#[derive(Clone, Copy)]
pub(super) struct SoftmaxGrad;

impl OnLine for SoftmaxGrad {
    #[inline(always)]
    fn change<const FMA: bool, const WIDE: bool>(
        self,
        _: Math<FMA, WIDE>,
        line: &mut [f64],
        other: &[f64],
        room: &mut [f64],
    ) {
        for (product, (g, o)) in room.iter_mut().zip(line.iter().zip(other)) {
            *product = o * g;
        }
        let sum = sum(room, |v| v);
        line.iter_mut().zip(other).for_each(|(g, o)| *g = (*g - sum) * o);
    }

    #[inline(always)]
    fn singles(self, lines: &mut [f32], others: &[f32], n: usize, flush: <f32 as Flush>::Mask) -> bool {
        /// Less than half the distance of the largest numbers.
        const SMALL: f64 = 1e30;
        let mut sums = [0.0; TOGETHER];
        for ((sum, g), o) in sums.iter_mut().zip(lines.chunks_exact(n)).zip(others.chunks_exact(n)) {
            let [_, products] = products_of_singles(g, o, [0.0, 1.0]);
            *sum = products;
        }
        // Products, and differences from larger sums, may overflow where they do not in double precision.
        if !sums.iter().all(|sum| sum.abs() <= SMALL) {
            return false;
        }
        for ((sum, g), o) in sums
            .into_iter()
            .zip(lines.chunks_exact_mut(n))
            .zip(others.chunks_exact(n))
        {
            let high = sum as f32;
            let low = (sum - f64::from(high)) as f32;
            for (g, o) in g.iter_mut().zip(o) {
                *g = (((*g - high) - low) * o).flushed(flush);
            }
        }
        true
    }
}

/// The derivative as a function of the result's gradient and the result.
#[derive(Clone, Copy)]
pub(super) struct LogSoftmaxGrad;

impl OnLine for LogSoftmaxGrad {
    #[inline(always)]
    fn change<const FMA: bool, const WIDE: bool>(
        self,
        m: Math<FMA, WIDE>,
        line: &mut [f64],
        other: &[f64],
        _: &mut [f64],
    ) {
        let sum = sum(line, |v| v);
        for (g, o) in line.iter_mut().zip(other) {
            *g -= m.exp(*o) * sum;
        }
    }
}

struct Lines<'v, T, F> {
    values: &'v mut [T],
    others: Option<&'v [T]>,
    shape: (usize, usize, usize),
    f: F,
    /// Whether subnormal results become zeros.
    flush: bool,
}

/// A line of each operand, and one for use in between, in double precision.
struct Rooms {
    line: Storage<f64>,
    other: Storage<f64>,
    room: Storage<f64>,
}

#[inline(always)]
fn load<T: Element>(line: &mut [f64], values: &[T], first: usize, step: usize) {
    if step == 1 {
        for (l, v) in line.iter_mut().zip(&values[first..]) {
            *l = v.to_f64();
        }
    } else {
        for (l, v) in line.iter_mut().zip(values[first..].iter().step_by(step)) {
            *l = v.to_f64();
        }
    }
}

impl<T: Element + Lane, F: OnLine> Task for Lines<'_, T, F> {
    type Output = Result<(), String>;

    #[inline(always)]
    fn run<const FMA: bool>(mut self) -> Result<(), String> {
        let (outer, n, inner) = self.shape;
        let mask = if self.flush { f32::ON } else { f32::OFF };
        let mut rooms = None;
        for first in (0..outer).step_by(TOGETHER) {
            let count = TOGETHER.min(outer - first);
            // Those together that fit, and else each that does.
            let mut there = [false; TOGETHER];
            let range = first * n * inner..(first + count) * n * inner;
            let others = self
                .others
                .and_then(T::singles)
                .map_or(&[][..], |others| &others[range.clone()]);
            let lines = &mut self.values[range];
            if FMA
                && inner == 1
                && let Some(lines) = T::singles_mut(lines)
            {
                if self.f.singles(lines, others, n, mask) {
                    continue;
                }
                for (at, (there, line)) in there.iter_mut().zip(lines.chunks_exact_mut(n)).enumerate() {
                    let other = others.get(at * n..(at + 1) * n).unwrap_or_default();
                    *there = self.f.singles(line, other, n, mask);
                }
            }
            for (o, there) in (first..first + count).zip(there) {
                for i in 0..if there { 0 } else { inner } {
                    let rooms = match &mut rooms {
                        Some(rooms) => rooms,
                        none => none.insert(Rooms::new(n)?),
                    };
                    self.line_at::<FMA>(o * n * inner + i, rooms);
                }
            }
        }
        if let Some(rooms) = rooms {
            rooms.done();
        }
        Ok(())
    }
}

impl Rooms {
    fn new(n: usize) -> Result<Rooms, String> {
        Ok(Rooms {
            line: stale(n)?,
            other: stale(n)?,
            room: stale(n)?,
        })
    }

    /// Gives their memory back.
    fn done(self) {
        [self.line, self.other, self.room].into_iter().for_each(done);
    }
}

impl<T: Element + Lane, F: OnLine> Lines<'_, T, F> {
    /// Computes the line that begins at an index, in double precision.
    #[inline(always)]
    fn line_at<const FMA: bool>(&mut self, first: usize, rooms: &mut Rooms) {
        let (_, _, inner) = self.shape;
        let mask = if self.flush { T::ON } else { T::OFF };
        let [line, other, room] = [&mut rooms.line, &mut rooms.other, &mut rooms.room].map(|room| &mut room[..]);
        load(line, self.values, first, inner);
        if let Some(others) = self.others {
            load(other, others, first, inner);
        }
        match T::DTYPE {
            DType::F64 => self.f.change(Math::<FMA, true>, line, other, room),
            _ => self.f.change(Math::<FMA, false>, line, other, room),
        }
        if inner == 1 {
            for (v, l) in self.values[first..].iter_mut().zip(&*line) {
                *v = T::from_f64(*l).flushed(mask);
            }
        } else {
            for (v, l) in self.values[first..].iter_mut().step_by(inner).zip(&*line) {
                *v = T::from_f64(*l).flushed(mask);
            }
        }
    }
}

/// The softmax of each row of `n` elements, in place.
///
/// # Errors
/// If there is no memory for a row.
pub(super) fn softmax_of_rows<T: Element + Lane>(values: &mut [T], n: usize) -> Result<(), String> {
    if values.is_empty() {
        return Ok(());
    }
    simd::run(Lines {
        shape: (values.len() / n, n, 1),
        others: None,
        values,
        f: Softmax,
        flush: false,
    })
}

/// The derivative of that, given the softmax of each row: of the gradients of the results, in place.
///
/// # Errors
/// If there is no memory for a row.
pub(super) fn softmax_grad_of_rows<T: Element + Lane>(values: &mut [T], softmax: &[T], n: usize) -> Result<(), String> {
    simd::run(Lines {
        shape: (values.len() / n, n, 1),
        others: Some(softmax),
        values,
        f: SoftmaxGrad,
        flush: false,
    })
}

/// Applies a function to each line along an axis, in place if the elements are not shared. `flush`: whether subnormal results become
/// zeros.
pub(super) fn along<T: Element + Lane>(
    values: Buffer<T>,
    others: Option<&[T]>,
    shape: &[usize],
    at: usize,
    f: impl OnLine,
    flush: bool,
) -> Result<Buffer<T>, String> {
    let (_, n, inner) = around(shape, at);
    if values.is_empty() {
        return Ok(values);
    }
    let (work, size) = (values.len().saturating_mul(2), n * inner);
    let division = Division {
        piece: TOGETHER,
        ..Division::of(size, PART)
    };
    parallel::changed_parts(values, division, work, |first, values| {
        simd::run(Lines {
            shape: (values.len() / size, n, inner),
            others: others.map(|others| &others[first * size..][..values.len()]),
            values,
            f,
            flush,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn softmax<T: Element + Lane>(values: &[T], n: usize) -> Vec<f64> {
        let values = crate::tensor::buffer::gathered(values.iter().copied()).unwrap();
        let found = along(values.into(), None, &[n], 0, Softmax, false).unwrap();
        found.iter().map(|v| v.to_f64()).collect()
    }

    #[test]
    fn softmax_in_single_precision() {
        for n in [1, 2, 15, 16, 33, 128, 1000] {
            for scale in [0.1, 1.0, 20.0] {
                let values: Vec<f32> = (0..n)
                    .map(|at| (at * 37 % 101) as f32 / 50.0 * scale - scale + 0.3)
                    .collect();
                let wide: Vec<f64> = values.iter().map(|&v| v.into()).collect();
                for (found, wanted) in softmax(&values, n).into_iter().zip(softmax(&wide, n)) {
                    assert!(
                        (found - wanted).abs() <= 2.0 * f64::from(f32::EPSILON) * wanted,
                        "{found} for {wanted}"
                    );
                }
            }
        }
    }

    #[test]
    fn gradients_of_softmax_in_single_precision() {
        let gathered = |values: Vec<f64>| crate::tensor::buffer::gathered(values.into_iter()).unwrap();
        // Of the cotangents; the sum and the differences of the largest overflow in single precision.
        for size in [1.0, 1e-30, 1e29, 3e38] {
            for n in [1, 2, 15, 16, 33, 128, 1000] {
                let count = 11 * n;
                let number = |at: usize| f64::from((at * 37 % 101) as f32 / 50.0 - 1.0);
                let g: Vec<f64> = (0..count).map(|at| f64::from((number(at) * size) as f32)).collect();
                let weights: Vec<f64> = (0..count)
                    .map(|at| f64::from((number(at * 7 + 3).exp() / n as f64) as f32))
                    .collect();
                let single =
                    |values: &[f64]| crate::tensor::buffer::gathered(values.iter().map(|&v| v as f32)).unwrap();
                let found = along(
                    single(&g).into(),
                    Some(&single(&weights)),
                    &[11, n],
                    1,
                    SoftmaxGrad,
                    false,
                )
                .unwrap();
                let wanted = along(
                    gathered(g.clone()).into(),
                    Some(&weights),
                    &[11, n],
                    1,
                    SoftmaxGrad,
                    false,
                )
                .unwrap();
                for (row, (found, wanted)) in found.chunks(n).zip(wanted.chunks(n)).enumerate() {
                    // The sum has the error of its largest term.
                    let terms = (row * n..(row + 1) * n).map(|at| (g[at] * weights[at]).abs());
                    let limit = 2.0 * f64::from(f32::EPSILON) * terms.sum::<f64>();
                    for ((found, wanted), weight) in found.iter().zip(wanted).zip(&weights[row * n..]) {
                        let limit = limit * weight + 2.0 * f64::from(f32::EPSILON) * wanted.abs();
                        let found = f64::from(*found);
                        assert!(
                            (found - wanted).abs() <= limit || wanted.abs() > f64::from(f32::MAX),
                            "{size} {n}: {found} for {wanted}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn softmax_of_what_has_no_accurate_exponential() {
        const NOT: f32 = f32::NEG_INFINITY;
        assert_eq!(softmax(&[1.0, NOT, 1.0], 3), [0.5, 0.0, 0.5]);
        assert_eq!(softmax(&[0.0, -1e9f32], 2), [1.0, 0.0]);
        // A subnormal result.
        assert_eq!(softmax(&[0.0, -95.0f32], 2)[1], f64::from((-95.0f64).exp() as f32));
        for odd in [[f32::NAN, 1.0], [f32::INFINITY, 1.0], [NOT, NOT]] {
            assert!(softmax(&odd, 2).iter().all(|v| v.is_nan()), "{odd:?}");
        }
    }
}
