//! Derivatives along a line by finite differences, with an error estimate.
//!
//! The step is halved repeatedly. After each halving, the difference quotients are extrapolated to step zero
//! (Richardson's tableau, in the order of Ridders), and the entry that agrees best with its neighbours is kept. So
//! neither the step size nor the smoothness of the function has to be guessed. One-sided quotients are extrapolated as
//! well: at the edge of a domain, one of them is used, and if they differ, there is a kink.

/// The maximal number of steps: from a fiftieth of the value to its last bits.
const MAX_LEVELS: usize = 64;
/// The columns of the tableau: further ones would contain only rounding errors.
const COLUMNS: usize = 7;

/// The change of the function from its value in the middle of the line.
#[derive(Clone, Copy, Debug)]
pub struct Change {
    /// The change.
    pub value: f64,
    /// The rounding error in it.
    pub noise: f64,
}

/// A derivative with an error bound.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Estimate {
    /// The derivative.
    pub value: f64,
    /// The error.
    pub error: f64,
    /// The largest step used.
    pub step: f64,
}

/// The estimates of the derivative along a line.
#[derive(Clone, Copy, Default, Debug)]
pub struct Found {
    /// From central differences.
    pub central: Option<Estimate>,
    /// From one-sided differences: right and left.
    pub sides: [Option<Estimate>; 2],
}

/// Extrapolates quotients to step zero.
struct Tableau {
    /// The error of a quotient is a series in this power of the step.
    power: i32,
    /// The magnitude of intermediate numbers in the program.
    inside: f64,
    steps: Vec<f64>,
    row: Vec<f64>,
    best: Option<Estimate>,
}

impl Tableau {
    fn new(power: i32, inside: f64) -> Self {
        Tableau {
            power,
            inside,
            steps: Vec::new(),
            row: Vec::new(),
            best: None,
        }
    }

    /// A step without a quotient: earlier quotients are not combined with later ones.
    fn gap(&mut self) {
        self.steps.clear();
        self.row.clear();
    }

    fn push(&mut self, step: f64, quotient: f64, noise: f64) {
        let mut row = vec![quotient];
        for (column, &above) in self.row.iter().enumerate().take(COLUMNS - 1) {
            let before = row[column];
            let ratio = (self.steps[self.steps.len() - 1 - column] / step).powi(self.power);
            row.push(before + (before - above) / (ratio - 1.0));
        }
        // An entry is trusted as far as its two sources and the corresponding entry of the previous step agree with it:
        // all three are unlikely to be near it by chance.
        let mut here: Option<Estimate> = None;
        for column in 1..row.len().min(self.row.len()) {
            let (value, others) = (row[column], [row[column - 1], self.row[column - 1], self.row[column]]);
            let apart = others.iter().map(|other| (value - other).abs()).fold(0.0, f64::max);
            let error = apart + 4.0 * noise + 4.0 * f64::EPSILON * value.abs();
            if value.is_finite() && error.is_finite() && here.is_none_or(|best| error < best.error) {
                let step = self.steps[self.steps.len() - column];
                here = Some(Estimate { value, error, step });
            }
        }
        // Large steps may agree on a value that smaller ones refute, unless only rounding differs. Among equal
        // estimates, a smaller step must be much better: it may agree with others because of common rounding.
        let rank = |e: Estimate| e.error + 2.0 * f64::EPSILON * self.inside / e.step;
        let better = |here: Estimate, best: Estimate| {
            let apart = (here.value - best.value).abs();
            match apart <= 3.0 * (here.error + best.error) {
                true => rank(here) < rank(best),
                false => apart * here.step > 4.0 * f64::EPSILON * self.inside,
            }
        };
        if let Some(here) = here
            && self.best.is_none_or(|best| better(here, best))
        {
            self.best = Some(here);
        }
        self.steps.push(step);
        self.row = row;
    }
}

/// Differentiates along a line at zero. `change` gives the change of the function, or `None` where it is undefined or
/// takes another path; `first` is the first step, `least` a step that is too small, `inside` the magnitude of
/// intermediate numbers, and `enough` decides when a derivative is accurate enough to stop.
pub fn derivative(
    mut change: impl FnMut(f64) -> Option<Change>,
    first: f64,
    least: f64,
    inside: f64,
    enough: impl Fn(Estimate) -> bool,
) -> Found {
    let mut central = Tableau::new(2, inside);
    let mut sides = [Tableau::new(1, inside), Tableau::new(1, inside)];
    let mut step = first;
    for _ in 0..MAX_LEVELS {
        if step < least {
            break;
        }
        let mut noise = 0.0_f64;
        let mut at = [None; 2];
        for (side, sign) in [1.0, -1.0].into_iter().enumerate() {
            at[side] = change(sign * step).filter(|c| c.value.is_finite());
            match at[side] {
                Some(c) => {
                    noise = noise.max(c.noise / step);
                    sides[side].push(step, sign * c.value / step, c.noise / step);
                }
                None => sides[side].gap(),
            }
        }
        match at {
            [Some(above), Some(below)] => {
                central.push(
                    step,
                    (above.value - below.value) / (2.0 * step),
                    (above.noise + below.noise) / (2.0 * step),
                );
                if central.best.is_some_and(&enough) {
                    break;
                }
            }
            [None, None] => {
                central.gap();
                // Far from the domain, the step shrinks faster.
                step /= 4.0;
            }
            [right, _] => {
                central.gap();
                let one = if right.is_some() { &sides[0] } else { &sides[1] };
                // The step may still be too large for the other side.
                if step < first * 1e-6 && one.best.is_some_and(&enough) {
                    break;
                }
            }
        }
        // Smaller steps only add rounding errors.
        let known = match (central.best, &sides) {
            (Some(best), _) => Some(best),
            (None, [Tableau { best: Some(a), .. }, Tableau { best: Some(b), .. }]) => {
                Some(if a.error > b.error { *a } else { *b })
            }
            (None, [a, b]) => a.best.or(b.best),
        };
        if known.is_some_and(|best| noise > 20.0 * best.error) {
            break;
        }
        step /= 2.0;
    }
    Found {
        central: central.best,
        sides: sides.map(|side| side.best),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(f: impl Fn(f64) -> f64, x: f64) -> Found {
        let base = f(x);
        let change = |t: f64| {
            let value = f(x + t);
            value.is_finite().then(|| Change {
                value: value - base,
                noise: f64::EPSILON * value.abs().max(base.abs()),
            })
        };
        let scale = x.abs().max(1.0);
        let first = 2f64.powi((0.02 * scale).log2().floor() as i32);
        derivative(change, first, x.abs() * 1e-15, base.abs().max(x.abs()), |e| {
            e.error <= 1e-8 * e.value.abs()
        })
    }

    #[track_caller]
    fn near(f: impl Fn(f64) -> f64, x: f64, wanted: f64, tolerance: f64) {
        let e = found(f, x).central.unwrap();
        let off = (e.value - wanted).abs();
        assert!(
            off <= tolerance * wanted.abs() && off <= 3.0 * e.error,
            "{e:?}, not {wanted}"
        );
        assert!(e.error <= 100.0 * tolerance * wanted.abs(), "{e:?}");
    }

    #[test]
    fn far_from_one() {
        near(f64::sqrt, 1e-9, 0.5 / 1e-9_f64.sqrt(), 1e-7);
        near(f64::ln, 1e-12, 1e12, 1e-7);
        near(f64::exp, 700.0, 700f64.exp(), 1e-7);
        near(|x| 1.0 / x, 1e-5, -1e10, 1e-7);
        near(|x| (1e3 * x).sin(), 0.4, 1e3 * 400f64.cos(), 1e-7);
        near(|x| x * 1e-20, 3.0, 1e-20, 1e-9);
        near(|x| x.powi(2), 1e150, 2e150, 1e-7);
        near(f64::tanh, 1e-14, 1.0, 1e-7);
        // Near -5, this is one minus nearly one: small steps only measure rounding.
        let slope = found(|x| 0.5 * x * (1.0 + (0.8 * x * (1.0 + 0.045 * x * x)).tanh()), -5.5);
        let central = slope.central.unwrap();
        assert!((central.value / -4.136604e-8 - 1.0).abs() < 1e-3, "{central:?}");
        // A kink nearby.
        near(
            |x: f64| x.max(0.0) * x.cos(),
            1e-4,
            1e-4_f64.cos() - 1e-4 * 1e-4_f64.sin(),
            1e-7,
        );
    }

    #[test]
    fn sides() {
        let kink = found(|x| if x > 0.0 { 3.0 * x } else { -x }, 0.0);
        let [right, left] = kink.sides.map(|side| side.unwrap());
        assert!(
            (right.value - 3.0).abs() <= right.error && right.error < 1e-9,
            "{right:?}"
        );
        assert!((left.value + 1.0).abs() <= left.error && left.error < 1e-9, "{left:?}");
        let edge = found(|x| if x < 0.0 { f64::NAN } else { x * x + 2.0 * x }, 0.0);
        assert!(edge.central.is_none() && edge.sides[1].is_none());
        let right = edge.sides[0].unwrap();
        assert!(
            (right.value - 2.0).abs() <= 3.0 * right.error && right.error < 1e-7,
            "{right:?}"
        );
        let nowhere = found(|x| if x == 0.0 { 0.0 } else { f64::NAN }, 0.0);
        assert!(nowhere.central.is_none() && nowhere.sides == [None, None]);
        // The derivative is infinite: there is no reliable estimate.
        let steep = found(|x| x.abs().sqrt(), 0.0);
        assert!(
            steep
                .sides
                .iter()
                .flatten()
                .all(|side| side.error > 0.1 * side.value.abs())
        );
    }
}
