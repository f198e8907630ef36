//! Scalar functions that Rust's library lacks.

use pir_dialects::pd::BERNOULLI;

pub(super) fn sigmoid(v: f64) -> f64 {
    // Neither form overflows on its side.
    if v >= 0.0 {
        1.0 / (1.0 + (-v).exp())
    } else {
        v.exp() / (1.0 + v.exp())
    }
}

/// The remainder with the sign of the divisor.
pub(super) fn remainder(a: f64, b: f64) -> f64 {
    let r = a % b;
    if r != 0.0 && (r < 0.0) != (b < 0.0) { r + b } else { r }
}

/// The same in single precision.
pub(super) fn remainder32(a: f32, b: f32) -> f32 {
    let r = a % b;
    if r != 0.0 && (r < 0.0) != (b < 0.0) { r + b } else { r }
}

/// The quotient rounded down. Rounding the floating-point quotient may give one too much: 1 / 0.1 rounds to 10, but 0.1
/// is a little more than a tenth.
pub(super) fn floor_divide(a: f64, b: f64) -> f64 {
    let quotient = a / b;
    if b == 0.0 || !quotient.is_finite() {
        // The remainder of infinity is undefined.
        return if a.is_infinite() && b != 0.0 {
            f64::NAN
        } else {
            quotient
        };
    }
    let r = a % b;
    let down = r != 0.0 && (r < 0.0) != (b < 0.0);
    let whole = ((a - r) / b).round() - f64::from(u8::from(down));
    if whole == 0.0 { 0f64.copysign(quotient) } else { whole }
}

/// The same in single precision.
pub(super) fn floor_divide32(a: f32, b: f32) -> f32 {
    let quotient = a / b;
    if b == 0.0 || !quotient.is_finite() {
        return if a.is_infinite() && b != 0.0 {
            f32::NAN
        } else {
            quotient
        };
    }
    let r = a % b;
    let down = r != 0.0 && (r < 0.0) != (b < 0.0);
    let whole = ((a - r) / b).round() - f32::from(u8::from(down));
    if whole == 0.0 { 0f32.copysign(quotient) } else { whole }
}

/// A power of an integer, modulo 2^64; for a negative exponent it is truncated, and that of zero saturates.
pub(super) fn whole_pow(base: i64, exponent: i64) -> i64 {
    match (base, exponent) {
        (_, 0..) => {
            let (mut result, mut square, mut rest) = (1i64, base, exponent);
            while rest != 0 {
                if rest & 1 != 0 {
                    result = result.wrapping_mul(square);
                }
                square = square.wrapping_mul(square);
                rest >>= 1;
            }
            result
        }
        (0, _) => i64::MAX,
        (1, _) => 1,
        (-1, _) => 1 - 2 * (exponent & 1),
        _ => 0,
    }
}

/// The error function: the Maclaurin series near zero, a continued fraction (by the modified Lentz algorithm) beyond.
/// Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.5 and 7.1.14.
pub(super) fn erf(x: f64) -> f64 {
    let a = x.abs();
    if x.is_nan() || x == 0.0 {
        return x;
    }
    if a > 6.0 {
        return x.signum();
    }
    if a < 2.5 {
        let (mut term, mut sum) = (x, x);
        for n in 1..200 {
            term *= -x * x / f64::from(n);
            let part = term / f64::from(2 * n + 1);
            sum += part;
            if part.abs() < 1e-17 * sum.abs() {
                break;
            }
        }
        return sum * std::f64::consts::FRAC_2_SQRT_PI;
    }
    (1.0 - erfc_tail(a)).copysign(x)
}

/// One minus the error function, accurate also where it is small.
pub(super) fn erfc(x: f64) -> f64 {
    if x < 2.5 { 1.0 - erf(x) } else { erfc_tail(x) }
}

/// erfc(a) = exp(-a²)/√π · 1/(a + (1/2)/(a + 1/(a + (3/2)/(a + …)))), for a large a.
fn erfc_tail(a: f64) -> f64 {
    let mut f = a;
    for n in (1..=120).rev() {
        f = a + f64::from(n) / 2.0 / f;
    }
    (-a * a).exp() / (f * std::f64::consts::PI.sqrt())
}

/// The number with an error function: a rational start, and steps that triple the digits.
pub(super) fn erf_inv(y: f64) -> f64 {
    if y.is_nan() || y.abs() > 1.0 {
        return f64::NAN;
    }
    if y == 0.0 || y.abs() == 1.0 {
        return if y == 0.0 { y } else { f64::INFINITY.copysign(y) };
    }
    let a = y.abs();
    // Winitzki's approximation, to three digits.
    let (log, c) = ((-y * y).ln_1p(), 0.147);
    let half = 2.0 / (std::f64::consts::PI * c) + log / 2.0;
    let mut x = ((half * half - log / c).sqrt() - half).sqrt();
    for _ in 0..3 {
        // The difference of the complements does not cancel near one.
        let error = if a > 0.5 { (1.0 - a) - erfc(x) } else { erf(x) - a };
        let step = error * FRAC_PI_SQRT_2 * (x * x).exp();
        x -= step / (1.0 + x * step);
    }
    x.copysign(y)
}

/// √π / 2.
const FRAC_PI_SQRT_2: f64 = 0.886_226_925_452_758;

/// From where on the asymptotic series below have all digits.
const LARGE: f64 = 12.0;

/// The logarithm of the absolute value of the gamma function.
pub(super) fn lgamma(x: f64) -> f64 {
    use std::f64::consts::PI;
    if x.is_infinite() || x <= 0.0 && x == x.floor() {
        return f64::INFINITY;
    }
    if x < 0.5 {
        return (PI / (PI * x).sin().abs()).ln() - lgamma(1.0 - x);
    }
    let (mut x, mut product) = (x, 1.0);
    while x < LARGE {
        product *= x;
        x += 1.0;
    }
    let terms = BERNOULLI.iter().zip(1..).map(|(b, k)| {
        let n = f64::from(2 * k);
        b / (n * (n - 1.0) * x.powi(2 * k - 1))
    });
    (x - 0.5) * x.ln() - x + 0.5 * (2.0 * PI).ln() + terms.sum::<f64>() - product.ln()
}

/// The derivative of [`lgamma`].
pub(super) fn digamma(x: f64) -> f64 {
    use std::f64::consts::PI;
    if x <= 0.0 {
        return match x == x.floor() {
            true => f64::NAN,
            false => digamma(1.0 - x) - PI / (PI * x).tan(),
        };
    }
    let (mut x, mut sum) = (x, 0.0);
    while x < LARGE {
        sum -= 1.0 / x;
        x += 1.0;
    }
    let terms = BERNOULLI
        .iter()
        .zip(1..)
        .map(|(b, k)| b / (f64::from(2 * k) * x.powi(2 * k)));
    sum + x.ln() - 0.5 / x - terms.sum::<f64>()
}

/// The `n`-th derivative of [`digamma`], of a positive number: (-1)^(n+1) n! Σ 1/(x+k)^(n+1).
pub(super) fn polygamma(n: f64, x: f64) -> f64 {
    if n == 0.0 {
        return digamma(x);
    }
    if n < 0.0 || n != n.floor() || x <= 0.0 || n > 170.0 || x.is_nan() {
        return f64::NAN;
    }
    let factorial = (1..=n as u32).map(f64::from).product::<f64>();
    let sign = if n % 2.0 == 0.0 { -1.0 } else { 1.0 };
    sign * factorial * zeta(n + 1.0, x)
}

/// Hurwitz's zeta function: Σ 1/(x+k)^s.
pub(super) fn zeta(s: f64, x: f64) -> f64 {
    /// Further left, there are too many terms.
    const LEFT: f64 = -1e5;
    if s == 1.0 || (s > 1.0 && x <= 0.0 && x == x.floor()) {
        return f64::INFINITY;
    }
    // A power of a negative number is real if the exponent is whole.
    if s.is_nan() || x.is_nan() || s < 1.0 || x < LEFT || (x < 0.0 && s != s.floor()) {
        return f64::NAN;
    }
    let (mut x, mut sum) = (x, 0.0);
    while x < LARGE + s {
        sum += x.powf(-s);
        x += 1.0;
    }
    // Euler and Maclaurin's series of the rest.
    sum += x.powf(1.0 - s) / (s - 1.0) + 0.5 * x.powf(-s);
    let mut factor = s / 2.0 * x.powf(-s - 1.0);
    for (b, k) in BERNOULLI.iter().zip(1..) {
        sum += b * factor;
        let at = f64::from(2 * k);
        factor *= (s + at - 1.0) * (s + at) / ((at + 1.0) * (at + 2.0) * x * x);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn erf_is_accurate() {
        // Values to 16 digits from tables.
        for (x, y) in [
            (0.1, 0.112_462_916_018_284_9),
            (1.0, 0.842_700_792_949_714_9),
            (2.0, 0.995_322_265_018_952_7),
            (3.0, 0.999_977_909_503_001_4),
        ] {
            assert!((erf(x) - y).abs() < 2e-16 * 4.0, "{x}: {} for {y}", erf(x));
            assert_eq!(erf(-x), -erf(x));
        }
    }

    #[test]
    fn functions_of_gamma() {
        // Values from tables.
        for (found, wanted) in [
            (lgamma(0.5), 0.572_364_942_924_700_1),
            (lgamma(10.0), 12.801_827_480_081_469),
            (lgamma(-1.5), 0.860_047_015_376_481),
            (digamma(1.0), -0.577_215_664_901_532_9),
            (digamma(0.25), -4.227_453_533_376_265),
            (polygamma(1.0, 1.0), 1.644_934_066_848_226_4),
            (polygamma(2.0, 1.0), -2.404_113_806_319_188_6),
            (zeta(2.0, 1.0), 1.644_934_066_848_226_4),
            (zeta(3.0, 1.0), 1.202_056_903_159_594_2),
            (zeta(2.0, 0.5), 4.934_802_200_544_679),
            // 1/(-1/2)² more than that.
            (zeta(2.0, -0.5), 8.934_802_200_544_679),
            (zeta(1.5, 1.0), 2.612_375_348_685_488),
            (erf_inv(0.5), 0.476_936_276_204_469_9),
            (erf_inv(-0.9), -1.163_087_153_676_674_3),
            (erf_inv(1e-12), 8.862_269_254_527_58e-13),
        ] {
            assert!(
                (found - wanted).abs() < 1e-13 * (1.0 + wanted.abs()),
                "{found} for {wanted}"
            );
        }
        for x in [1e-9, 0.1, 0.7, 1.9, 2.6, 4.0] {
            assert!(
                (erf_inv(erf(x)) - x).abs() < 1e-8 * x.powi(6).exp().min(100.0) * x,
                "{x}"
            );
        }
    }

    #[test]
    fn quotients_rounded_down() {
        for (a, b, q) in [
            (1.0, 0.1, 9.0),
            (7.0, 2.0, 3.0),
            (-7.0, 2.0, -4.0),
            (7.0, -2.0, -4.0),
            (-7.0, -2.0, 3.0),
            (1e20, 3.0, 33_333_333_333_333_333_333.0),
            (1.0, f64::INFINITY, 0.0),
            (-1.0, 0.0, f64::NEG_INFINITY),
        ] {
            assert_eq!(floor_divide(a, b), q, "{a} by {b}");
        }
        assert_eq!(floor_divide32(1.0, 0.1), 9.0);
        assert_eq!(floor_divide(-1.0, f64::INFINITY), -1.0);
        assert!(floor_divide(0.0, 0.0).is_nan());
        assert!(floor_divide(f64::INFINITY, -2.0).is_nan() && floor_divide32(f32::NEG_INFINITY, 3.0).is_nan());
    }

    #[test]
    fn powers_of_integers() {
        for (base, exponent, power) in [
            (3, 4, 81),
            (-2, 63, i64::MIN),
            (2, -1, 0),
            (-1, -3, -1),
            (1, -9, 1),
            (0, 0, 1),
        ] {
            assert_eq!(whole_pow(base, exponent), power, "{base} to {exponent}");
        }
        assert_eq!(whole_pow(3, i64::MAX), whole_pow(3, i64::MAX - 1).wrapping_mul(3));
    }
}
