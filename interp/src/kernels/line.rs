//! Softmax and its like: functions of the elements along an axis.

use super::around;
use super::math::Math;
use super::sums::sum;
use crate::parallel;
use crate::simd::{self, Task};
use crate::tensor::buffer::{done, stale};
use crate::tensor::{DType, Data, Element, Storage};

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
}

/// The largest number that is not NaN.
#[inline(always)]
fn most(line: &[f64]) -> f64 {
    const LANES: usize = 16;
    let mut lanes = [f64::NEG_INFINITY; LANES];
    let (chunks, rest) = line.as_chunks::<LANES>();
    for chunk in chunks {
        for (most, &v) in lanes.iter_mut().zip(chunk) {
            *most = if v > *most { v } else { *most };
        }
    }
    for (most, &v) in lanes.iter_mut().zip(rest) {
        *most = if v > *most { v } else { *most };
    }
    lanes.into_iter().fold(f64::NEG_INFINITY, f64::max)
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

/// Of the gradient of the result, and the result.
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

/// Of the gradient of the result, and the result.
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

impl<T: Element, F: OnLine> Task for Lines<'_, T, F> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let (outer, n, inner) = self.shape;
        let lines = (0..outer).flat_map(|o| (0..inner).map(move |i| o * n * inner + i));
        for first in lines {
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

/// Applies a function to each line along an axis.
pub(super) fn along<T: Element>(
    values: &mut [T],
    others: Option<&[T]>,
    shape: &[usize],
    at: usize,
    f: impl OnLine,
) -> Result<(), String> {
    let (_, n, inner) = around(shape, at);
    if values.is_empty() {
        return Ok(());
    }
    let (work, size) = (values.len().saturating_mul(2), n * inner);
    parallel::try_chunks(values, (PART / size).max(1) * size, work, |first, values| {
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

/// The same for elements that are not shared.
pub(super) fn changed<T: Element>(
    mut values: Storage<T>,
    others: Option<&[T]>,
    shape: &[usize],
    at: usize,
    f: impl OnLine,
) -> Result<Data, String> {
    along(&mut values, others, shape, at, f)?;
    Ok(T::wrap(values))
}
