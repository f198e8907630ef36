//! Functions in single precision, where multiplication and addition are fused.
//!
//! What is lost in rounding a sum is kept where it counts: results are at most 1.75 units in the last place off.

/// Added to a number below 2^22, it leaves the nearest integer in the low bits.
const ROUND: f32 = 12_582_912.0;
/// `ln 2` in two parts.
const LN_2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];
/// `(e^r - 1 - r) / r²`.
const EXP: [f32; 5] = [0.001_395_06, 0.008_368_954, 0.041_666_206, 0.166_665_18, 0.5];
/// `(tanh √z / √z - 1) / z`.
const TANH: [f32; 5] = [
    -0.005_704_978_5,
    0.020_639_08,
    -0.053_739_71,
    0.133_314_42,
    -0.333_332_83,
];
/// From here, `e^-x` is a normal number.
pub(crate) const LEAST: f32 = -87.0;

#[inline(always)]
fn horner<const N: usize>(x: f32, terms: [f32; N]) -> f32 {
    let mut sum = terms[0];
    for &term in &terms[1..] {
        sum = sum.mul_add(x, term);
    }
    sum
}

/// `2^n` for an integer that was rounded by [`ROUND`], from -126 to 127.
#[inline(always)]
fn power(rounded: f32) -> f32 {
    f32::from_bits(rounded.to_bits().wrapping_add(127) << 23)
}

/// `e^x = 2^n (y + z)`, where `y` is rounded: `2^n`, `y` and `z`.
#[inline(always)]
fn exp(x: f32) -> [f32; 3] {
    let rounded = x.mul_add(std::f32::consts::LOG2_E, ROUND);
    let n = rounded - ROUND;
    let t = (-n).mul_add(LN_2[0], x);
    let r = (-n).mul_add(LN_2[1], t);
    let lost = (-n).mul_add(LN_2[1], t - r);
    let high = 1.0 + r;
    let low = (r * r).mul_add(horner(r, EXP), (r - (high - 1.0)) + lost);
    let y = high + low;
    [power(rounded), y, low - (y - high)]
}

/// `1 / (1 + e^-x)` of a number not below [`LEAST`].
#[inline(always)]
pub(crate) fn sigmoid(x: f32) -> f32 {
    let a = x.abs();
    let [power, y, z] = exp(if a > -LEAST { LEAST } else { -a });
    let (e, rest) = (y * power, z * power);
    let sum = 1.0 + e;
    let lost = (e - (sum - 1.0)) + rest;
    let inverse = 1.0 / sum;
    let (top, more) = if x >= 0.0 { (1.0, 0.0) } else { (e, rest) };
    let quotient = top * inverse;
    let remainder = (-quotient).mul_add(sum, top) + (-quotient).mul_add(lost, more);
    remainder.mul_add(inverse, quotient)
}

#[inline(always)]
pub(crate) fn tanh(x: f32) -> f32 {
    let a = x.abs();
    let z = x * x;
    let near = (x * z).mul_add(horner(z, TANH), x);
    let a = if a > 10.0 { 10.0 } else { a };
    let [power, y, z] = exp(a + a);
    let far = 1.0 - 2.0 / (z.mul_add(power, y * power) + 1.0);
    (if a < 0.625 { near } else { far }).copysign(x)
}
