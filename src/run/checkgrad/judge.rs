//! Compares a derivative with finite differences.

use super::Verdict;
use super::estimate::{Estimate, Found};

/// The relative error up to which an estimate is still useful.
const COARSE: f64 = 1e-3;

/// The result of a comparison.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Judged {
    pub(super) verdict: Verdict,
    pub(super) gradient: f64,
    pub(super) estimate: Option<Estimate>,
    pub(super) absolute: f64,
    pub(super) relative: f64,
    pub(super) reason: Option<String>,
}

/// Whether a gradient agrees with a good estimate.
pub(super) fn agrees(gradient: f64, estimate: Estimate, tolerance: f64, rounding: f64) -> bool {
    let size = gradient.abs().max(estimate.value.abs());
    gradient.is_finite()
        && estimate.error <= 0.1 * tolerance.min(COARSE) * size
        && (gradient - estimate.value).abs() <= tolerance * size + rounding
}

/// Magnitudes that determine rounding errors.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    /// Errors below this times the tolerance are small even if the gradient is.
    pub(super) floor: f64,
    /// The change of the outputs if they are proportional to the input.
    pub(super) base: f64,
    /// The rounding error of the gradient.
    pub(super) rounding: f64,
    /// The magnitude of intermediate numbers in the program.
    pub(super) inside: f64,
}

/// The rounding error of numbers of a magnitude.
fn rounded(inside: f64) -> f64 {
    64.0 * f64::EPSILON * inside
}

/// Judges a gradient.
pub(super) fn judge(gradient: f64, found: &Found, tolerance: f64, sizes: Sizes) -> Judged {
    let Sizes {
        floor,
        base,
        rounding,
        inside,
    } = sizes;
    let [right, left] = found.sides;
    let good = |estimate: &Estimate| {
        let size = gradient.abs().max(estimate.value.abs());
        let size = if size.is_finite() { size } else { estimate.value.abs() };
        estimate.error <= COARSE * size
            || estimate.error <= tolerance * floor
            || estimate.error * estimate.step <= rounded(inside)
    };
    if let Some(central) = found.central.filter(|e| good(e) && gradient.is_finite()) {
        let size = gradient.abs().max(central.value.abs());
        if (gradient - central.value).abs() <= tolerance * size + rounding + 3.0 * central.error {
            return told(Verdict::Ok, gradient, Some(central), None);
        }
    }
    let (right, left) = (right.filter(good), left.filter(good));
    // The sides differ: there is no derivative, and any value between them is valid.
    if let (Some(right), Some(left)) = (right, left) {
        let apart = (right.value - left.value).abs();
        let unsure = 10.0 * (right.error + left.error) + tolerance.max(1e-6) * right.value.abs().max(left.value.abs());
        if apart > unsure {
            let (low, high) = (right.value.min(left.value), right.value.max(left.value));
            let between = gradient >= low - unsure && gradient <= high + unsure;
            let verdict = if between { Verdict::Inconclusive } else { Verdict::Wrong };
            let value = if (gradient - high).abs() < (gradient - low).abs() {
                high
            } else {
                low
            };
            let estimate = Estimate {
                value,
                error: right.error + left.error,
                step: right.step.max(left.step),
            };
            let (below, above) = (left.value, right.value);
            let reason = format!("there is no derivative: {below:?} from below, {above:?} from above");
            return told(verdict, gradient, Some(estimate), Some(reason));
        }
    }
    let estimate = found.central.or_else(|| match found.sides {
        [Some(right), Some(left)] => Some(if right.error < left.error { right } else { left }),
        [right, left] => right.or(left),
    });
    let Some(estimate) = estimate else {
        let reason = "control flow changes within every step";
        return told(Verdict::Inconclusive, gradient, None, Some(reason.to_owned()));
    };
    if !good(&estimate) {
        return told(
            Verdict::Inconclusive,
            gradient,
            Some(estimate),
            Some("the differences do not converge".to_owned()),
        );
    }
    let size = gradient.abs().max(estimate.value.abs());
    let gap = (gradient - estimate.value).abs();
    let limit = tolerance * size + rounding;
    let verdict = if !gradient.is_finite() {
        Verdict::Wrong
    } else if gap <= limit + 3.0 * estimate.error {
        Verdict::Ok
    } else if gap <= limit + 10.0 * estimate.error {
        Verdict::Inconclusive
    } else if estimate.error <= COARSE * estimate.value.abs()
        || estimate.error <= tolerance * base
        || estimate.error * estimate.step <= rounded(inside)
    {
        Verdict::Wrong
    } else {
        // Even if they are far from the gradient: they may not have converged.
        Verdict::Inconclusive
    };
    let reason = (verdict == Verdict::Inconclusive).then(|| "the differences are not accurate enough".to_owned());
    told(verdict, gradient, Some(estimate), reason)
}

fn told(verdict: Verdict, gradient: f64, estimate: Option<Estimate>, reason: Option<String>) -> Judged {
    let absolute = estimate.map_or(f64::NAN, |estimate| (gradient - estimate.value).abs());
    let size = estimate.map_or(f64::NAN, |estimate| gradient.abs().max(estimate.value.abs()));
    // If the derivative is zero, the estimates consist of rounding errors.
    let is_rounding = |e: Estimate| absolute <= 3.0 * e.error && size <= 100.0 * e.error;
    let relative = match estimate {
        _ if absolute == 0.0 => 0.0,
        Some(estimate) if is_rounding(estimate) => 0.0,
        _ => absolute / size,
    };
    Judged {
        verdict,
        gradient,
        estimate,
        absolute,
        relative,
        reason,
    }
}

impl Judged {
    /// An error must be confirmed by a second series of steps with the same result. If the difference hardly changes
    /// the sum over the steps, it may be due to intermediate rounding.
    pub(super) fn confirmed(self, again: Judged, inside: f64) -> Judged {
        if self
            .estimate
            .is_some_and(|estimate| self.absolute * estimate.step <= rounded(inside))
        {
            return Judged {
                verdict: Verdict::Inconclusive,
                reason: Some("it is below rounding errors".to_owned()),
                ..self
            };
        }
        let same = match (self.estimate, again.estimate) {
            (Some(a), Some(b)) => {
                let gap = (self.gradient - a.value).abs();
                gap.is_nan() || (a.value - b.value).abs() <= 0.1 * gap
            }
            _ => false,
        };
        if again.verdict == Verdict::Wrong && same {
            return self;
        }
        Judged {
            verdict: Verdict::Inconclusive,
            reason: Some("differences with other steps disagree".to_owned()),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: Sizes = Sizes {
        base: 1.0,
        floor: 1.0,
        rounding: 0.0,
        inside: 1e-3,
    };

    fn of(gradient: f64, value: f64, error: f64) -> Verdict {
        let central = Some(Estimate {
            value,
            error,
            step: 1.0,
        });
        let found = Found {
            central,
            sides: [None; 2],
        };
        judge(gradient, &found, 1e-6, SIZES).verdict
    }

    #[test]
    fn verdicts() {
        assert_eq!(of(1.0, 1.0 + 1e-9, 1e-10), Verdict::Ok);
        assert_eq!(of(1.0, 1.001, 1e-10), Verdict::Wrong);
        assert_eq!(of(1.0, 1.001, 2e-4), Verdict::Inconclusive);
        // Even if it is very small.
        assert_eq!(of(1e-9, 1.01e-9, 1e-14), Verdict::Wrong);
        assert_eq!(of(0.0, 1e-14, 1e-13), Verdict::Ok);
        assert_eq!(of(1.0, 3.0, 2.0), Verdict::Inconclusive);
        assert_eq!(of(f64::NAN, 3.0, 1e-9), Verdict::Wrong);
        assert_eq!(of(f64::INFINITY, 3.0, 1e-9), Verdict::Wrong);
        let nothing = judge(1.0, &Found::default(), 1e-6, SIZES);
        assert_eq!(nothing.verdict, Verdict::Inconclusive);
        assert!(nothing.relative.is_nan());
    }

    #[test]
    fn kinks() {
        let side = |value| {
            Some(Estimate {
                value,
                error: 1e-12,
                step: 1.0,
            })
        };
        let found = Found {
            central: side(0.5),
            sides: [side(1.0), side(0.0)],
        };
        let verdict = |gradient| judge(gradient, &found, 1e-6, SIZES).verdict;
        assert_eq!(verdict(0.0), Verdict::Inconclusive);
        assert_eq!(verdict(1.0), Verdict::Inconclusive);
        assert_eq!(verdict(0.5), Verdict::Ok);
        assert_eq!(verdict(-1.0), Verdict::Wrong);
    }

    #[test]
    fn two_series_have_to_agree() {
        let wrong = |value| {
            let central = Some(Estimate {
                value,
                error: 1e-9,
                step: 1.0,
            });
            let found = Found {
                central,
                sides: [None; 2],
            };
            judge(1.0, &found, 1e-6, SIZES)
        };
        assert_eq!(wrong(2.0).confirmed(wrong(2.01), 1e-3).verdict, Verdict::Wrong);
        assert_eq!(wrong(2.0).confirmed(wrong(3.0), 1e-3).verdict, Verdict::Inconclusive);
        assert_eq!(wrong(2.0).confirmed(wrong(1.0), 1e-3).verdict, Verdict::Inconclusive);
        assert_eq!(wrong(2.0).confirmed(wrong(2.0), 1e14).verdict, Verdict::Inconclusive);
    }
}
