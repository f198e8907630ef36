//! Special functions as sums over the points of a quadrature.
//!
//! The trapezoidal rule converges exponentially for periodic integrands and for those that decay at both ends, as they do here after a
//! change of variables. Everything is computed in f64, whatever the type of the operands, and the derivatives by all operands, the
//! orders of incomplete gamma functions among them, are those of the sums.

use std::f64::consts::{FRAC_2_PI, FRAC_PI_4, PI};

use pir_dialects::pd::{self, Expr};
use pir_ir::{AttrData, Type};

use super::reader::{Reader, Result};
use super::row::Row;

/// Euler's constant.
const GAMMA: f64 = 0.577_215_664_901_532_9;
/// Bernoulli's numbers of even index, from the second.
const BERNOULLI: [f64; 8] = [
    1.0 / 6.0,
    -1.0 / 30.0,
    1.0 / 42.0,
    -1.0 / 30.0,
    5.0 / 66.0,
    -691.0 / 2730.0,
    7.0 / 6.0,
    -3617.0 / 510.0,
];

pub(super) const TABLE: &[Row] = &[
    ("BesselJ0", "T", "", |r, at| cylinder(r, at, |x| Ok(first_kind(x, 0)))),
    ("BesselJ1", "T", "", |r, at| cylinder(r, at, |x| Ok(first_kind(x, 1)))),
    ("BesselK0", "T", "", |r, at| {
        cylinder(r, at, |x| Ok(modified(x, 0, false)))
    }),
    ("BesselK0e", "T", "", |r, at| {
        cylinder(r, at, |x| Ok(modified(x, 0, true)))
    }),
    ("BesselK1", "T", "", |r, at| {
        cylinder(r, at, |x| Ok(modified(x, 1, false)))
    }),
    ("BesselK1e", "T", "", |r, at| {
        cylinder(r, at, |x| Ok(modified(x, 1, true)))
    }),
    ("BesselY0", "T", "", |r, at| cylinder(r, at, |x| Ok(second_kind(x, 0)))),
    ("BesselY1", "T", "", |r, at| cylinder(r, at, |x| Ok(second_kind(x, 1)))),
    ("Betainc", "T T T", "", |r, at| {
        // TensorFlow has the derivative by the last operand only.
        wide(r, at, 3, |x| Ok(beta(x[0].detach(), x[1].detach(), x[2])))
    }),
    ("Igamma", "T T", "", |r, at| {
        wide(r, at, 2, |x| Ok(Gamma::new(x[0], x[1]).lower()))
    }),
    ("IgammaGradA", "T T", "", |r, at| {
        wide(r, at, 2, |x| Ok(Gamma::new(x[0], x[1]).slope()))
    }),
    ("Igammac", "T T", "", |r, at| {
        let order = r.input(at, 0)?;
        let fixed = r.is(order.node, &["Const", "StopGradient"]);
        wide(r, at, 2, |x| {
            let (a, x) = (x[0] + x[1].zeros(), x[1] + x[0].zeros());
            let made = match (a.id(), x.id(), x.ty()) {
                (Some(order), Some(place), Some(ty)) => {
                    let order = if fixed { order } else { a.detach().id().unwrap_or(order) };
                    x.scope().build(pd::Gammaincc::NAME, &[order, place], &[], Some(ty))
                }
                _ => return Err("its operands are missing".to_owned()),
            };
            let value = made.first().copied().ok_or("it has no value")?;
            // What is subtracted is zero, and has the derivative by the order.
            Ok(match fixed {
                true => value,
                false => value - (a - a.detach()) * Gamma::new(a.detach(), x.detach()).slope(),
            })
        })
    }),
    ("Polygamma", "T T", "", |r, at| {
        let order = r.constant(at, 0).and_then(|(_, numbers, _)| match numbers[..] {
            [number] => Some(number.f64()),
            _ => None,
        });
        // Whole orders have an operation, and others are no derivatives.
        if let Some(order) = order.filter(|n| *n >= 1.0 && n.fract() == 0.0 && *n <= 12.0) {
            r.input(at, 0)?;
            let x = r.operand(at, 1)?;
            return r.op(at, pd::Polygamma::NAME, &[x], &[("n", r.ctx.int_attr(order as i64))]);
        }
        wide(r, at, 2, |x| {
            let (n, x) = (x[0].detach() + x[1].zeros(), x[1] + x[0].zeros());
            let is_zero = n.equal(n.zeros());
            // Odd orders are positive.
            let sign = (n - (n * 0.5).floor() * 2.0).affine(2.0, -1.0);
            let order = is_zero.select(n.ones(), n).affine(1.0, 1.0);
            let above = sign * order.lgamma().exp() * zeta(order, x);
            let is_whole = n.equal(n.floor()).logical_and(n.greater_equal(n.zeros()));
            Ok(within(is_whole, is_zero.select(x.digamma(), above), f64::NAN))
        })
    }),
    // TensorFlow has the derivative by the second operand only.
    ("Zeta", "T T", "", |r, at| {
        wide(r, at, 2, |x| {
            let (s, q) = (x[0].detach() + x[1].zeros(), x[1] + x[0].zeros());
            let value = within(s.above(1.0), zeta(s, q), f64::NAN);
            Ok(within(s.not_equal(s.ones()), value, f64::INFINITY))
        })
    }),
];

/// The value where it is defined.
fn within<'c>(is_defined: Expr<'c>, value: Expr<'c>, elsewhere: f64) -> Expr<'c> {
    is_defined.select(value, value.filled(elsewhere))
}

/// The value of a function of positive numbers.
fn beyond_zero<'c>(x: Expr<'c>, value: Expr<'c>, elsewhere: f64) -> Expr<'c> {
    // Not a number stays so.
    within(x.less_equal(x.zeros()).logical_not(), value, elsewhere)
}

/// Reads a function of several operands, which is computed in f64.
fn wide(
    r: &mut Reader<'_>,
    at: usize,
    count: usize,
    build: impl for<'x> FnOnce(&[Expr<'x>]) -> Result<Expr<'x>>,
) -> Result<()> {
    let elem = {
        let first = r.operand(at, 0)?;
        r.dims(first)?.1
    };
    if !r.ctx.is_float(elem) {
        return Err("its operands must be floats".to_owned());
    }
    r.build(at, count, |x| {
        let wide: Vec<Expr<'_>> = x.iter().map(|x| x.to(Some(Type::F64))).collect();
        Ok(vec![build(&wide)?.to(Some(elem))])
    })
}

/// The same of one operand.
fn cylinder(r: &mut Reader<'_>, at: usize, build: impl for<'x> FnOnce(Expr<'x>) -> Result<Expr<'x>>) -> Result<()> {
    wide(r, at, 1, |x| build(x[0]))
}

/// Numbers along an axis of their own, after those of an operand.
fn table<'c>(x: Expr<'c>, numbers: &[f64]) -> Expr<'c> {
    let scope = x.scope();
    let ctx = scope.context();
    let numbers: Box<[_]> = numbers.iter().map(|&n| ctx.float_attr(n)).collect();
    let attrs = [
        ("shape", ctx.ints_attr(&[numbers.len() as i64])),
        ("dtype", ctx.type_attr(Type::F64)),
        ("values", ctx.attr(AttrData::Array(numbers))),
    ];
    let made = scope.build(pd::AssignValue::NAME, &[], &attrs, None);
    made.first().copied().unwrap_or_else(|| scope.nothing())
}

/// With an axis after the others.
fn apart(x: Expr<'_>) -> Expr<'_> {
    x.reshape([x.dims(), &[1]].concat())
}

/// The sum along the last axis.
fn total(x: Expr<'_>) -> Expr<'_> {
    x.sum_with(|o| o.axis([-1]))
}

// ----- Bessel functions -----

/// From here on, asymptotic series have all digits.
const FAR: f64 = 50.0;

/// The coefficients of Hankel's expansions, of which those of odd places belong to the sine.
fn hankel(order: i32, count: i32) -> Vec<f64> {
    let mu = f64::from(4 * order * order);
    let mut all = vec![1.0];
    for k in 1..count {
        let odd = f64::from(2 * k - 1);
        all.push(all[all.len() - 1] * (mu - odd * odd) / (8.0 * f64::from(k)));
    }
    all
}

fn polynomial<'c>(x: Expr<'c>, coefficients: &[f64]) -> Expr<'c> {
    let sum = |sum: Expr<'c>, &c: &f64| sum * x + c;
    coefficients.iter().rev().fold(x.zeros(), sum)
}

/// The wave of a Bessel function far from zero: the cosine's part, and the sine's, with the phase.
fn wave(x: Expr<'_>, order: i32) -> [Expr<'_>; 4] {
    let inverse = x.ones() / x;
    let square = inverse * inverse;
    let all = hankel(order, 24);
    let part = |first: usize| -> Vec<f64> {
        let of = all.iter().skip(first).step_by(2).enumerate();
        of.map(|(k, c)| if k % 2 == 0 { *c } else { -c }).collect()
    };
    let (even, odd) = (polynomial(square, &part(0)), polynomial(square, &part(1)) * inverse);
    let phase = x.affine(1.0, -f64::from(order) * 2.0 * FRAC_PI_4 - FRAC_PI_4);
    let size = (inverse * FRAC_2_PI).sqrt();
    [size * even, size * odd, phase.cos(), phase.sin()]
}

/// `x` where it is near zero, and elsewhere where nothing overflows; and the same far from it.
fn divided(x: Expr<'_>) -> (Expr<'_>, Expr<'_>, Expr<'_>) {
    let near = x.less_than(x.filled(FAR));
    (near, near.select(x, x.ones()), near.select(x.filled(FAR), x))
}

/// A function of the first kind: the mean of cos(nθ - x sin θ).
fn first_kind(x: Expr<'_>, order: i32) -> Expr<'_> {
    const POINTS: i32 = 96;
    let size = x.abs();
    let (near, inner, outer) = divided(size);
    let angle = |k: i32| PI * (f64::from(k) + 0.5) / f64::from(POINTS);
    let sines: Vec<f64> = (0..POINTS).map(|k| angle(k).sin()).collect();
    let turns: Vec<f64> = (0..POINTS).map(|k| f64::from(order) * angle(k)).collect();
    let waves = (table(x, &turns) - apart(inner) * table(x, &sines)).cos();
    let mean = total(waves).affine(1.0 / f64::from(POINTS), 0.0);
    let [even, odd, cosine, sine] = wave(outer, order);
    let value = near.select(mean, even * cosine - odd * sine);
    // Odd orders are odd functions.
    match order % 2 {
        0 => value,
        _ => (-x).above(0.0).select(-value, value),
    }
}

/// A function of the second kind, by Neumann's series of those of the first kind, which are summed point by point.
fn second_kind(x: Expr<'_>, order: i32) -> Expr<'_> {
    const POINTS: i32 = 64;
    const TERMS: i32 = 62;
    let (near, inner, outer) = divided(x);
    // A quarter of the period.
    let angle = |k: i32| PI * (f64::from(k) + 0.5) / f64::from(2 * POINTS);
    let sines: Vec<f64> = (0..POINTS).map(|k| angle(k).sin()).collect();
    let weight = |k: i32| {
        let sign = |n: i32| if n % 2 == 0 { 1.0 } else { -1.0 };
        let term = |n: i32| sign(n) * (f64::from(2 * n) * angle(k)).cos() / f64::from(n);
        -4.0 / PI * (1..=TERMS).map(term).sum::<f64>() / f64::from(POINTS)
    };
    let weights: Vec<f64> = (0..POINTS).map(weight).collect();
    let log = (inner * 0.5).log().affine(1.0, GAMMA) * FRAC_2_PI;
    let turned = apart(inner) * table(x, &sines);
    let value = match order {
        0 => log * first_kind(inner, 0) + total(turned.cos() * table(x, &weights)),
        // Minus the derivative of that.
        _ => {
            let slopes: Vec<f64> = weights.iter().zip(&sines).map(|(w, s)| w * s).collect();
            let rest = total(turned.sin() * table(x, &slopes));
            log * first_kind(inner, 1) - first_kind(inner, 0) / inner * FRAC_2_PI + rest
        }
    };
    let [even, odd, cosine, sine] = wave(outer, order);
    let value = near.select(value, even * sine + odd * cosine);
    match order {
        0 => beyond_zero(x, value, f64::NEG_INFINITY),
        // Of negative numbers there is none.
        _ => within(x.not_equal(x.zeros()), value, f64::NEG_INFINITY),
    }
}

/// A modified function of the second kind, with a factor e^x if it is scaled.
fn modified(x: Expr<'_>, order: i32, is_scaled: bool) -> Expr<'_> {
    let decaying = decaying(x, order);
    let value = if is_scaled { decaying } else { decaying * (-x).exp() };
    beyond_zero(x, value, f64::INFINITY)
}

/// The modified function of the second kind with a factor e^x: the integral of e^(-x (cosh t - 1)) cosh(nt).
fn decaying(x: Expr<'_>, order: i32) -> Expr<'_> {
    const STEP: f64 = 0.1;
    const POINTS: i32 = 400;
    let (near, inner, outer) = divided(x);
    let at = |k: i32| STEP * f64::from(k);
    // cosh t - 1, without its cancellation near zero.
    let bends: Vec<f64> = (0..POINTS).map(|k| 2.0 * (at(k) / 2.0).sinh().powi(2)).collect();
    let logs = |k: i32| match order {
        0 => 0.0,
        _ => at(k).cosh().ln(),
    };
    let logs: Vec<f64> = (0..POINTS)
        .map(|k| logs(k) + (if k == 0 { STEP / 2.0 } else { STEP }).ln())
        .collect();
    let value = total((table(x, &logs) - apart(inner) * table(x, &bends)).exp());
    let inverse = outer.ones() / outer;
    let series = polynomial(inverse, &hankel(order, 24)) * (inverse * (PI / 2.0)).sqrt();
    near.select(value, series)
}

// ----- incomplete functions -----

/// Distances r, evenly spaced in their logarithms, and the logarithms of their weights: x e^-r covers all below x, and x e^r all above.
fn points() -> (Vec<f64>, Vec<f64>) {
    const STEP: f64 = 0.125;
    let logs: Vec<f64> = (-320..=128).map(|k| STEP * f64::from(k)).collect();
    let sizes = logs.iter().map(|s| s.exp()).collect();
    (sizes, logs.iter().map(|s| s + STEP.ln()).collect())
}

/// The parts of an incomplete gamma function: the integrals below and above the place, each where its integrand has no peak inside.
struct Gamma<'c> {
    /// Whether the place is not far above the order.
    below: Expr<'c>,
    /// The terms of the sum of that side.
    terms: Expr<'c>,
    /// The derivative of the logarithm of each term by the order.
    slopes: Expr<'c>,
    /// Where the place is zero, and infinite.
    ends: [Expr<'c>; 2],
    /// Where the order is positive and the place is, too, or the place is zero.
    is_defined: Expr<'c>,
}

impl<'c> Gamma<'c> {
    fn new(a: Expr<'c>, x: Expr<'c>) -> Self {
        let (a, x) = (a + x.zeros(), x + a.zeros());
        let ends = [x.equal(x.zeros()), x.equal(x.filled(f64::INFINITY))];
        let is_defined = a.above(0.0).logical_and(x.above(0.0)).logical_or(ends[0]);
        let x = ends[0].logical_or(ends[1]).select(x.ones(), x);
        let (sizes, logs) = points();
        let both = |sign: f64| {
            // Further up, nothing is left of the integrand.
            let powers: Vec<f64> = sizes.iter().map(|r| (sign * r).min(600.0).exp()).collect();
            let moved: Vec<f64> = sizes.iter().map(|r| sign * r).collect();
            (table(x, &powers), table(x, &moved))
        };
        let below = x.less_than(a + a.sqrt() + 1.0);
        let ((shrunk, inward), (grown, outward)) = (both(-1.0), both(1.0));
        let side = apart(below);
        let (powers, moved) = (side.select(shrunk, grown), side.select(inward, outward));
        let front = a * x.log() - a.lgamma();
        let inside = apart(front) + table(x, &logs) + apart(a) * moved - apart(x) * powers;
        Gamma {
            below,
            terms: inside.exp(),
            slopes: apart(x.log() - a.digamma()) + moved,
            ends,
            is_defined,
        }
    }

    fn lower(self) -> Expr<'c> {
        let sum = total(self.terms);
        let value = self.below.select(sum, sum.affine(-1.0, 1.0));
        let value = self.ends[1].select(value.ones(), self.ends[0].select(value.zeros(), value));
        within(self.is_defined, value, f64::NAN)
    }

    fn slope(self) -> Expr<'c> {
        let sum = total(self.terms * self.slopes);
        let value = self.below.select(sum, -sum);
        let value = self.ends[0].logical_or(self.ends[1]).select(value.zeros(), value);
        within(self.is_defined, value, f64::NAN)
    }
}

/// The regularized incomplete beta function: below its mean as it is, and above as the rest of its mirror image.
fn beta<'c>(a: Expr<'c>, b: Expr<'c>, x: Expr<'c>) -> Expr<'c> {
    let (a, b, x) = (a + x.zeros(), b + x.zeros(), x + a.zeros());
    let is_between = x.greater_equal(x.zeros()).logical_and(x.less_equal(x.ones()));
    let is_defined = a.above(0.0).logical_and(b.above(0.0)).logical_and(is_between);
    let (empty, full) = (x.equal(x.zeros()), x.equal(x.ones()));
    let inner = empty.logical_or(full).select(x.filled(0.5), x);
    let below = (inner * (a + b)).less_than(a);
    let other = inner.affine(-1.0, 1.0);
    let (inner, other) = (below.select(inner, other), below.select(other, inner));
    let (a, b) = (below.select(a, b), below.select(b, a));
    let (sizes, logs) = points();
    let front = a * inner.log() + (a + b).lgamma() - a.lgamma() - b.lgamma();
    // 1 - x e^-r, as (1 - x) + x (1 - e^-r).
    let rest: Vec<f64> = sizes.iter().map(|r| -(-r).exp_m1()).collect();
    let other = apart(other) + apart(inner) * table(x, &rest);
    let inside = apart(front) + table(x, &logs) - apart(a) * table(x, &sizes);
    let sum = total((inside + apart(b.affine(1.0, -1.0)) * other.log()).exp());
    let value = below.select(sum, sum.affine(-1.0, 1.0));
    let value = full.select(value.ones(), empty.select(value.zeros(), value));
    within(is_defined, value, f64::NAN)
}

/// Hurwitz's zeta function, by Euler and Maclaurin's series after some terms.
fn zeta<'c>(s: Expr<'c>, q: Expr<'c>) -> Expr<'c> {
    const TERMS: i32 = 16;
    let shifts: Vec<f64> = (0..TERMS).map(f64::from).collect();
    let sum = total((apart(q) + table(q, &shifts)).elementwise_pow(apart(-s)));
    let far = q.affine(1.0, f64::from(TERMS));
    let power = far.elementwise_pow(-s);
    let mut sum = sum + power * far / s.affine(1.0, -1.0) + power * 0.5;
    let mut term = power * s / far * 0.5;
    for (k, b) in (1..).zip(BERNOULLI) {
        sum = sum + term * b;
        let at = f64::from(2 * k);
        let next = s.affine(1.0, at - 1.0) * s.affine(1.0, at) / (far * far);
        term = term * next * (1.0 / ((at + 1.0) * (at + 2.0)));
    }
    sum
}
