//! Functions in single precision, where multiplication and addition are fused.
//!
//! What is lost in rounding a sum is kept where it counts: results are at most two units in the last place off.
//!
//! Arguments close to zero must not be squared: the squares would be subnormal, or zero, and some processors take more than a hundred
//! cycles for each of these. [`square`] is that of a larger number, where it makes no difference.

/// Added to a number below 2^22, it leaves the nearest integer in the low bits.
pub(crate) const ROUND: f32 = 12_582_912.0;
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
/// `(ln(1 + f) - f) / f²` for `1 + f` from `√½` to `√2`.
const LOG: [f32; 9] = [
    -0.076_336_8,
    0.129_236_33,
    -0.132_478_24,
    0.141_793_19,
    -0.166_082_43,
    0.200_020_69,
    -0.250_016_18,
    0.333_333_25,
    -0.499_999_88,
];
/// `erf √z / √z - 1` for `√z` up to [`NEAR`].
const ERF: [f32; 6] = [
    -0.000_609_036,
    0.005_011_962_7,
    -0.026_778_908,
    0.112_821_41,
    -0.376_125_25,
    0.128_379_17,
];
/// `-ln(erfc a) / a` for `a` from [`NEAR`] to four.
const ERFC: [f32; 6] = [
    -0.000_214_594_95,
    0.003_219_975,
    -0.022_906_03,
    0.105_286_85,
    0.635_699_4,
    1.128_52,
];
const NEAR: f32 = 0.9;
/// `(1 + a/4) e^(a²/2) Φ(-a)` of `t = 1 / (1 + a/4)` for `a` up to 13, where `Φ` is the distribution function of the
/// normal distribution: the highest powers, and the others.
const TAIL: [f32; 6] = [
    0.016_088_363,
    -0.060_035_51,
    0.044_932_023,
    0.037_763_077,
    0.004_603_382_7,
    0.091_227_86,
];
const TAIL_WIDE: [f64; 4] = [0.070_331_18, 0.095_895_25, 0.099_443_78, 0.099_750_6];
/// `(sin √z / √z - 1) / z` for `√z` up to `π/4`.
const SIN: [f32; 3] = [-0.000_195_169_78, 0.008_332_176, -0.166_666_55];
/// `(cos √z - 1) / z` for `√z` up to `π/4`.
const COS: [f32; 4] = [0.000_024_383_146, -0.001_388_667_7, 0.041_666_62, -0.5];
/// `π/2` in three parts.
const PI_2: [f32; 3] = [
    f32::from_bits(0x3fc9_0fdb),
    f32::from_bits(0xb33b_bd2e),
    f32::from_bits(0xa6f7_2ced),
];
/// Up to here, multiples of `π/2` are subtracted exactly enough.
pub(crate) const TURNS: f32 = 8192.0;
/// From here, `e^-x` is a normal number.
pub(crate) const LEAST: f32 = -87.0;
/// From here, `x Φ(x)` is a normal number.
pub(crate) const LEAST_GELU: f32 = -13.0;

#[inline(always)]
fn horner<const N: usize>(x: f32, terms: [f32; N]) -> f32 {
    let mut sum = terms[0];
    for &term in &terms[1..] {
        sum = sum.mul_add(x, term);
    }
    sum
}

/// `a²` of an absolute value, or more than that where `1 + a²` is one.
#[inline(always)]
fn square(a: f32) -> f32 {
    // 2⁻⁴⁰
    const LEAST: f32 = f32::from_bits((127 - 40) << 23);
    let a = if a > LEAST { a } else { LEAST };
    a * a
}

/// The same with the bias of an exponent, which comes into the low bits too.
const ROUND_EXPONENT: f32 = ROUND + 127.0;

/// `2^n` for an integer that was rounded by [`ROUND_EXPONENT`], from -126 to 127.
#[inline(always)]
fn power(rounded: f32) -> f32 {
    f32::from_bits(rounded.to_bits() << 23)
}

/// `e^(x + rest) = p + p s`, where `p` is a power of two: `p` and `s`.
#[inline(always)]
fn reduced(x: f32, rest: f32) -> [f32; 2] {
    let rounded = x.mul_add(std::f32::consts::LOG2_E, ROUND_EXPONENT);
    let n = rounded - ROUND_EXPONENT;
    let r = (-n).mul_add(LN_2[1], (-n).mul_add(LN_2[0], x) + rest);
    [power(rounded), r.mul_add(r * horner(r, EXP), r)]
}

/// `e^x` of a number from [`LEAST`] to `-LEAST`.
#[inline(always)]
pub(crate) fn exp_of_normal(x: f32, rest: f32) -> f32 {
    let [p, s] = reduced(x, rest);
    p.mul_add(s, p)
}

/// `1 + e^-x` of a number not below [`LEAST`].
#[inline(always)]
fn one_plus_exp(x: f32) -> f32 {
    let negative = -x;
    let [p, s] = reduced(if negative < LEAST { LEAST } else { negative }, 0.0);
    // In this order, one is not lost where the power is a little larger than what is precise to one.
    p.mul_add(s, 1.0) + p
}

/// `1 / (1 + e^-x)` of a number not below [`LEAST`].
#[inline(always)]
pub(crate) fn sigmoid(x: f32) -> f32 {
    1.0 / one_plus_exp(x)
}

/// `x / (1 + e^-x)` of a number not below [`LEAST`].
#[inline(always)]
pub(crate) fn silu(x: f32) -> f32 {
    x / one_plus_exp(x)
}

/// The integer `n` with `2^n` nearest to a number, relatively, and `2^-n`.
#[inline(always)]
fn exponent(u: f32) -> [f32; 2] {
    const SQRT_HALF: u32 = 0x3f35_04f3;
    let n = (u.to_bits().wrapping_sub(SQRT_HALF) as i32) >> 23;
    [n as f32, f32::from_bits((127 - n).wrapping_shl(23) as u32)]
}

/// `n ln 2 + ln(1 + f)`.
#[inline(always)]
fn ln_sum(n: f32, f: f32) -> f32 {
    /// `ln 2` in two parts; the first has so few digits that products with exponents are exact.
    const LN_2: [f32; 2] = [0.693_145_75, 1.428_606_8e-6];
    let whole = n * LN_2[0];
    let high = whole + f;
    let lost = f - (high - whole);
    // The logarithm of what is this close to one is the difference from it.
    let g = if f.abs() > 1e-15 { f } else { 0.0 };
    high + (g * g).mul_add(horner(f, LOG), n.mul_add(LN_2[1], lost))
}

/// Whether [`ln_1p`] of a number is accurate: there is a logarithm, and the power of two has a reciprocal.
#[inline(always)]
pub(crate) fn has_ln_1p(x: f32) -> bool {
    (x > -1.0) & (x < 1e38)
}

/// `ln(1 + x)` of a number that [`has_ln_1p`].
#[inline(always)]
pub(crate) fn ln_1p(x: f32) -> f32 {
    let [n, scale] = exponent(1.0 + x);
    ln_sum(n, x.mul_add(scale, scale - 1.0)).copysign(x)
}

/// `ln(1 + e^x)` of a number not below [`LEAST`].
#[inline(always)]
pub(crate) fn softplus(x: f32) -> f32 {
    let a = x.abs();
    let [p, s] = reduced(if a > -LEAST { LEAST } else { -a }, 0.0);
    let [n, scale] = exponent(1.0 + p.mul_add(s, p));
    let p = p * scale;
    let log = ln_sum(n, p.mul_add(s, p + (scale - 1.0)));
    (if x > 0.0 { x } else { 0.0 }) + log
}

#[inline(always)]
pub(crate) fn erf(x: f32) -> f32 {
    let a = x.abs();
    let a = if a > 4.0 { 4.0 } else { a };
    let near = x.mul_add(horner(square(a), ERF), x);
    let far = 1.0 - exp_of_normal(-a * horner(a, ERFC), 0.0);
    (if a < NEAR { near } else { far }).copysign(x)
}

/// `x Φ(x)` of a number not below [`LEAST_GELU`].
#[inline(always)]
pub(crate) fn gelu(x: f32) -> f32 {
    let a = x.abs();
    let a = if a > -LEAST_GELU { -LEAST_GELU } else { a };
    // The square is precise to twice as many digits; close to zero, its exponential is one.
    let b = if a > 1e-6 { a } else { 1e-6 };
    let high = b * b;
    let [p, s] = reduced(-0.5 * high, -0.5 * b.mul_add(b, -high));
    // In double precision: the tail is a product of several factors whose errors add up.
    let (wide, rough) = (f64::from(a), 1.0 / 0.25f32.mul_add(a, 1.0));
    let (d, t) = (0.25f64.mul_add(wide, 1.0), f64::from(rough));
    let t = t.mul_add((-d).mul_add(t, 1.0), t);
    let sum = TAIL_WIDE
        .into_iter()
        .fold(f64::from(horner(rough, TAIL)), |sum, term| sum.mul_add(t, term));
    let g = (wide * t * sum) as f32;
    let tail = p * g.mul_add(s, g);
    if x < 0.0 { -tail } else { x - tail }
}

/// Whether [`ln`] of a number is accurate: it is normal, and its power of two has a reciprocal.
#[inline(always)]
pub(crate) fn has_ln(x: f32) -> bool {
    (x > 1.2e-38) & (x < 1e38)
}

/// `ln x` of a number that [`has_ln`].
#[inline(always)]
pub(crate) fn ln(x: f32) -> f32 {
    let [n, scale] = exponent(x);
    ln_sum(n, x.mul_add(scale, -1.0))
}

/// The sine of `x + quarters π/2` of a number up to [`TURNS`].
#[inline(always)]
fn sine(x: f32, quarters: u32) -> f32 {
    let rounded = x.mul_add(std::f32::consts::FRAC_2_PI, ROUND);
    let n = ROUND - rounded;
    let r = PI_2.into_iter().fold(x, |r, part| n.mul_add(part, r));
    let z = square(r.abs());
    let sin = r.mul_add(z * horner(z, SIN), r);
    let cos = z.mul_add(horner(z, COS), 1.0);
    let turn = rounded.to_bits().wrapping_add(quarters);
    let y = if turn & 1 == 0 { sin } else { cos };
    f32::from_bits(y.to_bits() ^ (turn & 2) << 30)
}

#[inline(always)]
pub(crate) fn sin(x: f32) -> f32 {
    // Minus zero keeps its sign.
    if x == 0.0 { x } else { sine(x, 0) }
}

#[inline(always)]
pub(crate) fn cos(x: f32) -> f32 {
    sine(x, 1)
}

#[inline(always)]
pub(crate) fn tanh(x: f32) -> f32 {
    let a = x.abs();
    let z = square(a);
    let near = x.mul_add(z * horner(z, TANH), x);
    let a = if a > 10.0 { 10.0 } else { a };
    let [p, s] = reduced(a + a, 0.0);
    // From 2^24, where one is lost, the quotient is too.
    let far = 1.0 - 2.0 / p.mul_add(s, 1.0 + p);
    (if a < 0.625 { near } else { far }).copysign(x)
}
