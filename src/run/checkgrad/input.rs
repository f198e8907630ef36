//! Compares the gradient of one input with differences, and with tangents.

use pir_interp::Tensor;
use pir_ir::{Diagnostic, Module};

use super::estimate::{Change, derivative};
use super::forward::Tangents;
use super::judge::{self, Judged, Sizes, judge};
use super::{Base, Check, Row, Verdict, numbers};
use crate::progress;

/// Inputs with more elements are sampled.
const MANY: usize = 2048;
/// The number of random directions, and of elements, that are sampled.
const SAMPLES: usize = 24;
/// The relative difference allowed between gradients and tangents, with respect to the terms of the sum.
const ROUNDING: f64 = 1e-9;

/// An input with its gradient.
pub(super) struct Input<'a> {
    pub(super) check: &'a Check<'a>,
    pub(super) primal: &'a Module,
    pub(super) base: &'a Base,
    pub(super) values: &'a [Tensor],
    pub(super) at: usize,
    pub(super) original: Vec<f64>,
    pub(super) gradient: Vec<f64>,
}

/// The largest power of two up to a number: adding it rounds least.
fn power_below(value: f64) -> f64 {
    let power = value.log2().floor();
    if power.is_finite() { power.exp2() } else { 1.0 }
}

impl Input<'_> {
    pub(super) fn row(&self) -> Row {
        let name = &self.check.inputs[self.at].name;
        let mut row = Row::new(name, &self.values[self.at]);
        let count = self.original.len();
        let mut numbers = Numbers(0x9E37_79B9_7F4A_7C15 ^ count as u64);
        let (directions, elements): (usize, Vec<usize>) = if count <= MANY || self.check.full {
            (0, (0..count).collect())
        } else {
            let elements: Vec<usize> = (0..SAMPLES).map(|_| numbers.next() as usize % count).collect();
            row.directions = Some((SAMPLES, SAMPLES));
            (SAMPLES, elements)
        };
        let all = directions + elements.len();
        for done in 0..directions {
            progress::count(done, all, || {
                format!("`{name}`, direction {} of {directions}", done + 1)
            });
            let direction = self.direction(&mut numbers);
            row.take(None, self.along(&direction));
        }
        for (done, &index) in elements.iter().enumerate() {
            progress::count(directions + done, all, || {
                format!("`{name}`, {done} of {} elements", elements.len())
            });
            row.take(Some(index), self.along(&[(index, 1.0)]));
            if self.check.one && row.verdict == Verdict::Wrong {
                break;
            }
        }
        row
    }

    /// A random direction, scaled with the values: signed powers of two.
    fn direction(&self, numbers: &mut Numbers) -> Vec<(usize, f64)> {
        let largest = self
            .original
            .iter()
            .map(|v| v.abs())
            .filter(|v| v.is_finite())
            .fold(0.0, f64::max);
        let least = if largest == 0.0 { 1.0 } else { 1e-3 * largest };
        let part = |(index, value): (usize, &f64)| {
            let bits = numbers.next();
            let size = power_below(value.abs().max(least)) * [0.5, 1.0][(bits >> 1 & 1) as usize];
            (index, if bits & 1 == 0 { size } else { -size })
        };
        self.original.iter().enumerate().map(part).collect()
    }

    fn moved(&self, direction: &[(usize, f64)], by: f64) -> Option<Change> {
        let mut numbers = self.original.clone();
        for &(index, part) in direction {
            numbers[index] += by * part;
        }
        let mut values = self.values.to_vec();
        values[self.at] = numbers::back(&self.values[self.at], numbers).ok()?;
        // Where the program fails, the function is undefined.
        let outcome = self.check.execute(self.primal, &values, Vec::new()).ok()?;
        self.base.change(&outcome)
    }

    /// Compares the derivative along a direction.
    fn along(&self, direction: &[(usize, f64)]) -> Judged {
        let part = |&(index, v): &(usize, f64)| self.gradient.get(index).map_or(f64::NAN, |g| g * v);
        let gradient: f64 = direction.iter().map(part).sum();
        let terms: f64 = direction.iter().map(|d| part(d).abs()).sum();
        // The ratio of the step to the value.
        let ratio = |&(index, v): &(usize, f64)| self.original[index].abs() / v.abs();
        let scale = direction.iter().map(ratio).fold(0.0, f64::max);
        let first = power_below(0.02 * scale.max(1.0));
        let least = direction.iter().map(ratio).fold(f64::INFINITY, f64::min) * 1e-15;
        let tolerance = self.check.tolerance;
        let rounding = 1e-13 * terms;
        // Cancelling terms were rounded before: estimate their magnitude from the other elements.
        let others = match direction {
            [_] => self.largest() * scale.min(1e150),
            _ => terms,
        };
        let noise = f64::EPSILON * if others.is_finite() { others } else { 0.0 };
        let parts = direction.iter().map(|&(index, _)| self.original[index].abs());
        let inside = parts.fold(self.base.size, f64::max);
        let sizes = Sizes {
            // Below this, differences consist of rounding errors.
            floor: (self.base.size / scale.max(1.0)).max(self.largest()),
            base: self.base.size / scale.max(1.0),
            rounding,
            inside,
        };
        let estimated = |first: f64, inside: f64, noise: f64| {
            derivative(
                |by| {
                    let mut change = self.moved(direction, by)?;
                    change.noise = change.noise.max(noise);
                    Some(change)
                },
                first,
                least,
                inside,
                |estimate| judge::agrees(gradient, estimate, tolerance, rounding),
            )
        };
        let found = estimated(first, inside, noise);
        let judged = judge(gradient, &found, tolerance, sizes);
        if judged.verdict == Verdict::Ok {
            return judged;
        }
        // Near a pole, or the edge of a domain, all these steps may be too large for a small value: then steps
        // proportional to the value decide, if they agree exactly.
        if let &[(index, _)] = direction
            && self.original[index] != 0.0
            && self.original[index].abs() < 1e-3
        {
            let size = self.original[index].abs();
            let by_itself = size * gradient.abs();
            let close = estimated(
                power_below(0.02 * size),
                by_itself.max(size),
                f64::EPSILON * by_itself.min(1e300),
            );
            if close
                .central
                .is_some_and(|e| judge::agrees(gradient, e, tolerance, 0.0))
            {
                return judge(gradient, &close, tolerance, sizes);
            }
        }
        if judged.verdict != Verdict::Wrong {
            return judged;
        }
        // A wrong result must be confirmed with other steps.
        let again = judge(gradient, &estimated(first * 0.6875, inside, noise), tolerance, sizes);
        judged.confirmed(again, inside)
    }

    /// The largest absolute value in the gradient.
    pub(super) fn largest(&self) -> f64 {
        let sizes = self.gradient.iter().map(|g| g.abs());
        sizes.filter(|g| g.is_finite()).fold(0.0, f64::max)
    }

    /// Compares with the forward-mode derivative along a direction in this input.
    pub(super) fn compare_tangents(
        &self,
        row: &mut Row,
        tangents: &Tangents,
        active: &[usize],
    ) -> Result<(), Vec<Diagnostic>> {
        let mut numbers = Numbers(0xD1B5_4A32_D192_ED03 ^ self.at as u64);
        let mut directions = Vec::with_capacity(active.len());
        let (mut sum, mut terms) = (0.0, 0.0);
        for &at in active {
            let mut direction = vec![0.0; numbers::of(&self.values[at]).len()];
            if at == self.at {
                for (index, v) in self.direction(&mut numbers) {
                    direction[index] = v;
                    let part = self.gradient.get(index).map_or(f64::NAN, |g| g * v);
                    sum += part;
                    terms += part.abs();
                }
            }
            let tensor = numbers::back(&self.values[at], direction);
            directions.push(tensor.map_err(|e| vec![Diagnostic::error("input-mismatch", e)])?);
        }
        let Some(tangent) = tangents.along(self.check, self.values, active, &directions) else {
            return Ok(());
        };
        if (tangent - sum).abs() <= ROUNDING * terms.max(tangent.abs()) + f64::EPSILON * self.base.size {
            return Ok(());
        }
        if sum.is_finite() {
            row.note = Some(format!(
                "along a direction, forward mode gives {tangent:?}, `backward` {sum:?}"
            ));
            // One of two exact derivatives is wrong, unless there is no derivative.
            let kink = row.worst.as_ref().is_some_and(|worst| worst.reason.is_some());
            if !(row.verdict == Verdict::Inconclusive && kink) {
                row.verdict = Verdict::Wrong;
            }
        }
        Ok(())
    }
}

/// A deterministic pseudo-random generator.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 11
    }
}
