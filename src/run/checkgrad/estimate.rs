//! A derivative along a line by differences, with an estimate of its error.
//!
//! Steps are halved from a large one on. After each, the difference quotients so far are extrapolated to a step of zero
//! (Richardson's tableau, in the order of Ridders), and the entry is kept whose neighbours agree best. So neither the
//! size of a step has to be guessed, nor how smooth the function is. The quotients of both sides are extrapolated as well:
//! where only one side is there, at the edge of a domain, it counts, and where the sides differ, there is a kink.

/// Steps that are tried: from a fiftieth of the value to the last bits of it.
const MAX_LEVELS: usize = 64;
/// Columns of a tableau: of more, the numbers only tell of rounding.
const COLUMNS: usize = 7;

/// By how much the function differs from its value in the middle of the line.
#[derive(Clone, Copy, Debug)]
pub struct Change {
    /// The difference.
    pub value: f64,
    /// What rounding may have changed of it.
    pub noise: f64,
}

/// A derivative, and by how much it may be off.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Estimate {
    /// The derivative.
    pub value: f64,
    /// The error.
    pub error: f64,
    /// The largest step that is in it.
    pub step: f64,
}

/// What is known of the derivative along a line.
#[derive(Clone, Copy, Default, Debug)]
pub struct Found {
    /// By differences to both sides.
    pub central: Option<Estimate>,
    /// By differences to the right, and to the left.
    pub sides: [Option<Estimate>; 2],
}

/// Extrapolates quotients to a step of zero.
struct Tableau {
    /// The errors of the quotients are a series in this power of the step.
    power: i32,
    /// How large the numbers may be that the program works with.
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

    /// There is no quotient for a step: those before it tell nothing about those behind.
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
        // An entry is believed as far as those that it is made of agree with it, and the same one of a step before:
        // that all three are near it by chance does not happen.
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
        // Large steps may agree on something that smaller ones refute, if not only in what is rounded inside. Of those that
        // say the same, a small step has to be much better: it may agree with others on how something is rounded.
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

/// Differentiates along a line at zero. `change` gives the function beside it, or nothing where it is not defined or
/// is another one; `first` is the first step, `least` one that is too small, `inside` the size of
/// the numbers that are computed with, and `enough` says whether a derivative is
/// good enough to end with.
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
                // Far from where the function is defined, larger strides.
                step /= 4.0;
            }
            [right, _] => {
                central.gap();
                let one = if right.is_some() { &sides[0] } else { &sides[1] };
                // It may only be that the step is too large for the other side.
                if step < first * 1e-6 && one.best.is_some_and(&enough) {
                    break;
                }
            }
        }
        // From here on there is only rounding.
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
        // Near -5, this is one minus nearly one: small steps only see how that is rounded.
        let slope = found(|x| 0.5 * x * (1.0 + (0.8 * x * (1.0 + 0.045 * x * x)).tanh()), -5.5);
        let central = slope.central.unwrap();
        assert!((central.value / -4.136604e-8 - 1.0).abs() < 1e-3, "{central:?}");
        // A kink near by.
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
        // No finite derivative: no estimate that could be believed.
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
