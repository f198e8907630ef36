//! Elementary functions without branches, from which the compiler makes vectors.
//!
//! All but those in [`single`] are computed in double precision. A result for `f32` is rounded once, from fewer terms of each polynomial, and is
//! off by little more than half a unit in the last place; for `f64` it is off by one or two. The results do not depend
//! on the place in a tensor, or on the number of threads; they may differ in the last bit between processors with and
//! without fused multiplication and addition.

pub(crate) mod single;
mod tables;

use std::f64::consts::{FRAC_2_PI, LOG2_E};

use tables::*;

/// The functions. `FMA`: whether to use fused multiplication and addition. `WIDE`: whether all digits of `f64` are
/// needed.
#[derive(Clone, Copy)]
pub(crate) struct Math<const FMA: bool, const WIDE: bool>;

/// Added to a number below 2^51, it leaves the nearest integer in the low bits.
const ROUND: f64 = 6_755_399_441_055_744.0;
/// `ln 2` in two parts; the first has so few digits that products with exponents are exact.
const LN_2: [f64; 2] = [
    f64::from_bits(0x3fe6_2e42_fee0_0000),
    f64::from_bits(0x3dea_39ef_3579_3c76),
];
/// `π/2` in three parts, the first two of 33 digits.
const PI_2: [f64; 3] = [
    f64::from_bits(0x3ff9_21fb_5440_0000),
    f64::from_bits(0x3dd0_b461_1a60_0000),
    f64::from_bits(0x3ba3_198a_2e03_7073),
];
/// Below this, `sin`, `tanh`, … of a number are that number.
const TINY: f64 = 1.0 / (1u64 << 54) as f64;
/// Up to here, multiples of `π/2` are subtracted exactly enough.
pub(super) const TURNS: f64 = 1e6;

/// The lower or upper bound of a number; NaN stays.
#[inline(always)]
fn at_least(x: f64, low: f64) -> f64 {
    if x < low { low } else { x }
}

#[inline(always)]
fn at_most(x: f64, high: f64) -> f64 {
    if x > high { high } else { x }
}

/// `2^n` for an integer that was rounded by [`ROUND`], from -1022 to 1023.
#[inline(always)]
fn power(rounded: f64) -> f64 {
    f64::from_bits(rounded.to_bits().wrapping_add(1023) << 52)
}

/// `a * b + c`, rounded once where the processor does both at once.
#[inline(always)]
pub(super) fn fused<const FMA: bool>(a: f64, b: f64, c: f64) -> f64 {
    if FMA { a.mul_add(b, c) } else { a * b + c }
}

impl<const FMA: bool, const WIDE: bool> Math<FMA, WIDE> {
    /// `a * b + c`.
    #[inline(always)]
    fn add(self, a: f64, b: f64, c: f64) -> f64 {
        fused::<FMA>(a, b, c)
    }

    #[inline(always)]
    fn horner<const N: usize>(self, x: f64, terms: [f64; N]) -> f64 {
        let mut sum = terms[0];
        for &term in &terms[1..] {
            sum = self.add(sum, x, term);
        }
        sum
    }

    /// The value of one of two polynomials.
    #[inline(always)]
    fn polynomial<const N: usize, const M: usize>(self, x: f64, wide: [f64; N], narrow: [f64; M]) -> f64 {
        if WIDE {
            self.horner(x, wide)
        } else {
            self.horner(x, narrow)
        }
    }

    /// `x = n ln 2 + r`: `n` plus [`ROUND`], and `r` and `e^r - 1`.
    #[inline(always)]
    fn reduced(self, x: f64) -> (f64, f64) {
        let rounded = self.add(x, LOG2_E, ROUND);
        let n = rounded - ROUND;
        let r = self.add(-n, LN_2[1], self.add(-n, LN_2[0], x));
        let q = self.polynomial(r, EXP, EXP_NARROW);
        (rounded, self.add(r * r, q, r))
    }

    #[inline(always)]
    pub(crate) fn exp(self, x: f64) -> f64 {
        if !WIDE {
            // Arguments whose result rounds to zero or infinity: a factor may be infinite.
            let (rounded, less) = self.reduced(x);
            let y = (1.0 + less) * power(rounded);
            let y = if x < -200.0 { 0.0 } else { y };
            return if x > 200.0 { f64::INFINITY } else { y };
        }
        let (rounded, less) = self.reduced(at_most(at_least(x, -1000.0), 1000.0));
        // In two steps, since the power of two alone may be too large or small.
        let half = self.add(rounded - ROUND, 0.5, ROUND);
        let rest = (rounded - ROUND) - (half - ROUND) + ROUND;
        (1.0 + less) * power(half) * power(rest)
    }

    #[inline(always)]
    pub(crate) fn exp_m1(self, x: f64) -> f64 {
        let (rounded, less) = self.reduced(at_most(at_least(x, -60.0), 710.0));
        // Computed from half the power, which does not overflow.
        let half = power(rounded - 1.0);
        let all = 2.0 * self.add(less, half, half - 0.5);
        if x.abs() < TINY { x } else { all }
    }

    #[inline(always)]
    pub(crate) fn ln(self, x: f64) -> f64 {
        // A subnormal number is scaled.
        let small = WIDE && x < f64::MIN_POSITIVE;
        let scaled = if small { x * 18_014_398_509_481_984.0 } else { x };
        let log = self.ln_of_normal(scaled, if small { -54.0 } else { 0.0 }, 0.0);
        limits(x, log)
    }

    /// The logarithm of a positive normal number, plus `more` times `ln 2` plus `rest`.
    #[inline(always)]
    fn ln_of_normal(self, x: f64, more: f64, rest: f64) -> f64 {
        const SQRT_HALF: u64 = 0x3fe6_a09e_667f_3bcd;
        let moved = x.to_bits().wrapping_add(0x3ff0_0000_0000_0000 - SQRT_HALF);
        // The exponent with its bias, as a float, by the bits of 2^52 plus that integer.
        let n = f64::from_bits(moved >> 52 | 0x4330_0000_0000_0000) - (4_503_599_627_370_496.0 + 1023.0) + more;
        let f = f64::from_bits((moved & 0x000f_ffff_ffff_ffff).wrapping_add(SQRT_HALF)) - 1.0;
        let s = f / (2.0 + f);
        let z = s * s;
        let r = z * self.polynomial(z, LN, LN_NARROW);
        let half = 0.5 * f * f;
        let low = self.add(n, LN_2[1], self.add(s, half + r, rest));
        self.add(n, LN_2[0], f - (half - low))
    }

    #[inline(always)]
    pub(crate) fn ln_1p(self, x: f64) -> f64 {
        let u = 1.0 + x;
        // The rounding error; it does not count where `u` is not a normal number.
        let lost = (x - (u - 1.0)) / u;
        let log = limits(u, self.ln_of_normal(u, 0.0, lost));
        if x.abs() < TINY { x } else { log }
    }

    #[inline(always)]
    pub(crate) fn tanh(self, x: f64) -> f64 {
        let t = self.exp_m1(2.0 * at_most(x.abs(), 22.0));
        let y = t / (t + 2.0);
        if x.abs() < TINY { x } else { y.copysign(x) }
    }

    #[inline(always)]
    pub(crate) fn sigmoid(self, x: f64) -> f64 {
        // Neither form overflows on its side.
        let e = self.exp(-x.abs());
        let top = if x >= 0.0 { 1.0 } else { e };
        top / (1.0 + e)
    }

    /// `ln(1 + e^x)`.
    #[inline(always)]
    pub(crate) fn softplus(self, x: f64) -> f64 {
        at_least(x, 0.0) + self.ln_1p(self.exp(-x.abs()))
    }

    /// Sine and cosine of a number up to [`TURNS`].
    #[inline(always)]
    fn sin_cos(self, x: f64) -> (f64, f64, u64) {
        let rounded = self.add(x, FRAC_2_PI, ROUND);
        let n = rounded - ROUND;
        let r = self.add(-n, PI_2[2], self.add(-n, PI_2[1], self.add(-n, PI_2[0], x)));
        let z = r * r;
        let sin = self.add(r * z, self.polynomial(z, SIN, SIN_NARROW), r);
        let cos = 1.0 - (0.5 * z - z * z * self.polynomial(z, COS, COS_NARROW));
        (sin, cos, rounded.to_bits())
    }

    #[inline(always)]
    pub(crate) fn sin(self, x: f64) -> f64 {
        let (sin, cos, n) = self.sin_cos(x);
        let y = turned(if n & 1 == 0 { sin } else { cos }, n);
        if x.abs() < 1e-150 { x } else { y }
    }

    #[inline(always)]
    pub(crate) fn cos(self, x: f64) -> f64 {
        let (sin, cos, n) = self.sin_cos(x);
        turned(if n & 1 == 0 { cos } else { -sin }, n)
    }

    /// `exp(-x² s)` for a power of two.
    #[inline(always)]
    fn gauss(self, x: f64, s: f64) -> f64 {
        let square = x * x;
        let e = self.exp(-square * s);
        if !WIDE {
            return e;
        }
        // The rounding of the square, relatively, is an error of the result; the parts multiply exactly.
        let high = f64::from_bits(x.to_bits() & 0xffff_ffff_f800_0000);
        let low = x - high;
        let lost = ((high * high - square) + 2.0 * high * low) + low * low;
        self.add(-e, lost * s, e)
    }

    /// `erfc(a)` for `a` not negative, where `a² = x² s`.
    #[inline(always)]
    fn tail(self, a: f64, x: f64, s: f64) -> f64 {
        let t = (a - 3.0) / (a + 3.0);
        self.gauss(x, s) * self.polynomial(t, TAIL, TAIL_NARROW) / self.add(2.0, a, 1.0)
    }

    #[inline(always)]
    pub(crate) fn erfc(self, x: f64) -> f64 {
        let a = at_most(x.abs(), 28.0);
        let tail = self.tail(a, a, 1.0);
        if x < 0.0 { 2.0 - tail } else { tail }
    }

    #[inline(always)]
    pub(crate) fn erf(self, x: f64) -> f64 {
        let a = at_most(x.abs(), 7.0);
        let near = x * self.polynomial(x * x, ERF, ERF_NARROW);
        let far = (1.0 - self.tail(a, a, 1.0)).copysign(x);
        if a < 1.0 { near } else { far }
    }

    /// The distribution function of the normal distribution.
    #[inline(always)]
    pub(crate) fn normal(self, x: f64) -> f64 {
        let a = at_most(x.abs(), 39.0);
        let tail = 0.5 * self.tail(a * std::f64::consts::FRAC_1_SQRT_2, a, 0.5);
        if x < 0.0 { tail } else { 1.0 - tail }
    }
}

/// A logarithm of a number, or what it is where there is none.
#[inline(always)]
fn limits(x: f64, log: f64) -> f64 {
    let log = if x > 0.0 { log } else { f64::NAN };
    let log = if x == 0.0 { f64::NEG_INFINITY } else { log };
    if x == f64::INFINITY { x } else { log }
}

/// The sign that a turn by `n` right angles gives.
#[inline(always)]
fn turned(y: f64, n: u64) -> f64 {
    f64::from_bits(y.to_bits() ^ (n & 2) << 62)
}
