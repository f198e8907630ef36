//! Softmax and its like: functions of the elements along an axis.

use super::around;
use super::math::{Math, single};
use super::sums::{folded, sum, sum_of_singles};
use super::vector::Lane;
use crate::parallel;
use crate::simd::{self, Task};
use crate::tensor::buffer::{Buffer, done, stale};
use crate::tensor::{DType, Element};

/// The number of elements that a thread computes at once.
const PART: usize = 1 << 14;

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

    /// Overwrites a line in single precision, where multiplication and addition are fused; false if that would not be
    /// accurate, and nothing has been changed.
    #[inline(always)]
    fn single(self, _: &mut [f32]) -> bool {
        false
    }
}

/// The largest number that is not NaN.
#[inline(always)]
fn most<T: Lane>(line: &[T]) -> T {
    const LANES: usize = 16;
    let mut lanes = [T::narrow(f64::NEG_INFINITY); LANES];
    let (chunks, rest) = line.as_chunks::<LANES>();
    for chunk in chunks {
        for (most, &v) in lanes.iter_mut().zip(chunk) {
            *most = if v > *most { v } else { *most };
        }
    }
    for (most, &v) in lanes.iter_mut().zip(rest) {
        *most = if v > *most { v } else { *most };
    }
    folded(lanes, |a, b| if b > a { b } else { a })
}

#[derive(Clone, Copy)]
pub(super) struct Softmax;

impl OnLine for Softmax {
    #[inline(always)]
    fn change<const FMA: bool, const WIDE: bool>(self, m: Math<FMA, WIDE>, line: &mut [f64], _: &[f64], _: &mut [f64]) {
        let most = most(line);
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
    fn single(self, line: &mut [f32]) -> bool {
        /// Exponentials of smaller numbers are zero.
        const NOTHING: f32 = -104.0;
        let most = most(line);
        let accurate = |v: f32| (v - most >= single::LEAST) | (v - most < NOTHING);
        if !line.iter().fold(true, |all, &v| all & accurate(v)) {
            return false;
        }
        for v in &mut *line {
            let d = *v - most;
            // The rounding error of the difference.
            let part = d - *v;
            let lost = (*v - (d - part)) - (most + part);
            let there = d >= single::LEAST;
            let e = single::exp_of_normal(if there { d } else { 0.0 }, if there { lost } else { 0.0 });
            *v = if there { e } else { 0.0 };
        }
        let inverse = (1.0 / sum_of_singles(line)) as f32;
        line.iter_mut().for_each(|v| *v *= inverse);
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
        let most = most(line);
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
    line: &'v mut [f64],
    other: &'v mut [f64],
    room: &'v mut [f64],
    f: F,
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
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let (outer, n, inner) = self.shape;
        let lines = (0..outer).flat_map(|o| (0..inner).map(move |i| o * n * inner + i));
        for first in lines {
            if FMA
                && inner == 1
                && let Some(line) = T::singles(&mut self.values[first..][..n])
                && self.f.single(line)
            {
                continue;
            }
            load(self.line, self.values, first, inner);
            if let Some(others) = self.others {
                load(self.other, others, first, inner);
            }
            match T::DTYPE {
                DType::F64 => self.f.change(Math::<FMA, true>, self.line, self.other, self.room),
                _ => self.f.change(Math::<FMA, false>, self.line, self.other, self.room),
            }
            if inner == 1 {
                for (v, l) in self.values[first..].iter_mut().zip(&*self.line) {
                    *v = T::from_f64(*l);
                }
            } else {
                for (v, l) in self.values[first..].iter_mut().step_by(inner).zip(&*self.line) {
                    *v = T::from_f64(*l);
                }
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
    let (mut line, mut room) = (stale(n)?, stale(n)?);
    simd::run(Lines {
        shape: (values.len() / n, n, 1),
        others: None,
        values,
        line: &mut line,
        other: &mut [],
        room: &mut room,
        f: Softmax,
    });
    done(line);
    done(room);
    Ok(())
}

/// Applies a function to each line along an axis, in place if the elements are not shared.
pub(super) fn along<T: Element + Lane>(
    values: Buffer<T>,
    others: Option<&[T]>,
    shape: &[usize],
    at: usize,
    f: impl OnLine,
) -> Result<Buffer<T>, String> {
    let (_, n, inner) = around(shape, at);
    if values.is_empty() {
        return Ok(values);
    }
    let (work, line) = (values.len().saturating_mul(2), n * inner);
    let size = (PART / line).max(1) * line;
    parallel::changed_parts(values, size, work, |at, values| {
        let (first, size) = (at * size, line);
        let (mut line, mut other, mut room) = (stale(n)?, stale(n)?, stale(n)?);
        simd::run(Lines {
            shape: (values.len() / size, n, inner),
            others: others.map(|others| &others[first..][..values.len()]),
            values,
            line: &mut line,
            other: &mut other,
            room: &mut room,
            f,
        });
        done(line);
        done(other);
        done(room);
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn softmax<T: Element + Lane>(values: &[T], n: usize) -> Vec<f64> {
        let values = crate::tensor::buffer::gathered(values.iter().copied()).unwrap();
        let found = along(values.into(), None, &[n], 0, Softmax).unwrap();
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
