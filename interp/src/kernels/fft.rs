//! Fourier transforms of any length, computed in double precision.

use pir_dialects::stablehlo::fft::{Fft, FftKind};
use pir_dialects::stablehlo::ops;
use rustfft::FftPlanner;
use rustfft::num_complex::Complex64;

use super::{Prepare, around, one, take};
use crate::tensor::buffer::{gathered, scratch};
use crate::tensor::{Complex, DType, Data, Element, Shape, Tensor, checked_count};

pub(super) const KERNELS: &[(&str, Prepare)] = &[(ops::Fft::NAME, |s| {
    let fft = Fft::of(s.view)?;
    Ok(Box::new(move |inputs| {
        let [x] = take(inputs)?;
        one(transform(&x, &fft)?)
    }))
})];

/// The elements of a tensor while its dimensions are transformed.
struct Lines {
    shape: Shape,
    values: Vec<Complex64>,
}

impl Lines {
    fn of(x: &Tensor) -> Result<Self, String> {
        let wide = x.cast(DType::C128)?;
        let values = wide.view::<Complex<f64>>().unwrap_or_default();
        Ok(Lines {
            shape: x.shape().into(),
            values: values.iter().map(|v| Complex64::new(v.re, v.im)).collect(),
        })
    }

    /// Transforms along a dimension of `n` elements; the inverse divides by as many.
    fn along(&mut self, axis: usize, n: usize, inverse: bool) {
        let (outer, _, inner) = around(&self.shape, axis);
        if n == 0 || self.values.is_empty() {
            return;
        }
        let mut planner = FftPlanner::new();
        let plan = match inverse {
            true => planner.plan_fft_inverse(n),
            false => planner.plan_fft_forward(n),
        };
        let scale = if inverse { 1.0 / n as f64 } else { 1.0 };
        let mut line = vec![Complex64::default(); n];
        let mut room = vec![Complex64::default(); plan.get_inplace_scratch_len()];
        for first in (0..outer).flat_map(|o| (0..inner).map(move |i| o * n * inner + i)) {
            let places = || (first..).step_by(inner).take(n);
            line.iter_mut().zip(places()).for_each(|(v, at)| *v = self.values[at]);
            plan.process_with_scratch(&mut line, &mut room);
            line.iter()
                .zip(places())
                .for_each(|(v, at)| self.values[at] = v * scale);
        }
    }

    /// Gives the last dimension another size: each new element is one of its line, or nothing.
    fn resized(&mut self, size: usize, element: impl Fn(&[Complex64], usize) -> Complex64) {
        let Some(last) = self.shape.last_mut() else { return };
        let before = std::mem::replace(last, size);
        let lines = self.values.chunks_exact(before.max(1));
        self.values = lines
            .flat_map(|line| (0..size).map(|at| element(line, at)).collect::<Vec<_>>())
            .collect();
    }
}

fn transform(x: &Tensor, fft: &Fft) -> Result<Tensor, String> {
    let rank = x.rank();
    let first = rank
        .checked_sub(fft.lengths.len())
        .ok_or("the operand has too few dimensions")?;
    let &length = fft.lengths.last().ok_or("`fft_length` has too few numbers")?;
    let mut shape: Shape = x.shape().into();
    shape[rank - 1] = length;
    let count = checked_count(&shape, DType::C128.size())?;
    let _scratch = scratch::<Complex64>(2 * count.max(x.len()))?;
    let mut lines = Lines::of(x)?;
    let inverse = matches!(fft.kind, FftKind::Ifft | FftKind::Irfft);
    // The last dimension is the first of real numbers, and the last that becomes real.
    let others = |lines: &mut Lines| {
        for (at, &n) in fft.lengths.iter().enumerate().take(fft.lengths.len() - 1) {
            lines.along(first + at, n, inverse);
        }
    };
    match fft.kind {
        FftKind::Fft | FftKind::Ifft => {
            others(&mut lines);
            lines.along(rank - 1, length, inverse);
        }
        FftKind::Rfft => {
            lines.along(rank - 1, length, false);
            lines.resized(if length == 0 { 0 } else { length / 2 + 1 }, |line, at| line[at]);
            others(&mut lines);
        }
        FftKind::Irfft => {
            others(&mut lines);
            lines.resized(length, |line, at| match line.get(at) {
                Some(&v) if at <= length / 2 => v,
                _ => line[length - at].conj(),
            });
            // Frequencies without a mirror image are taken for real.
            if let Some(&n) = lines.shape.last().filter(|&&n| n > 0) {
                for line in lines.values.chunks_exact_mut(n) {
                    line[0].im = 0.0;
                    if n % 2 == 0 {
                        line[n / 2].im = 0.0;
                    }
                }
            }
            lines.along(rank - 1, length, true);
        }
    }
    let single = matches!(x.dtype(), DType::F32 | DType::C64);
    let values = lines.values.iter();
    let data: Data = match (fft.kind, single) {
        (FftKind::Irfft, true) => f32::wrap(gathered(values.map(|v| v.re as f32))?),
        (FftKind::Irfft, false) => f64::wrap(gathered(values.map(|v| v.re))?),
        (_, true) => Element::wrap(gathered(values.map(|v| Complex::new(v.re as f32, v.im as f32)))?),
        (_, false) => Element::wrap(gathered(values.map(|v| Complex::new(v.re, v.im)))?),
    };
    Ok(Tensor::from_parts(lines.shape, data))
}
