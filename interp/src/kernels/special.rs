//! Scalar functions that Rust's library lacks.

pub(super) fn sigmoid(v: f64) -> f64 {
    // Neither form overflows on its side.
    if v >= 0.0 {
        1.0 / (1.0 + (-v).exp())
    } else {
        v.exp() / (1.0 + v.exp())
    }
}

pub(super) fn sigmoid32(v: f32) -> f32 {
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

/// A power of an integer with a real exponent, truncated.
pub(super) fn mixed_pow(base: i64, exponent: f64) -> i64 {
    if exponent == exponent.trunc() && exponent.abs() < 9e18 {
        whole_pow(base, exponent as i64)
    } else {
        (base as f64).powf(exponent) as i64
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
        assert_eq!(mixed_pow(9, 0.5), 3);
        assert_eq!(mixed_pow(2, -0.5), 0);
    }
}
