//! Elementwise kernels of one tensor.

use pir_dialects::pd;
use pir_dialects::stablehlo::chlo;

use super::broadcast::{map, through};
use super::math::single;
use super::pieces;
use super::single::{Direct, tested};
use super::special::{digamma, erf_inv, lgamma, whole_pow};
use super::vector::{Cos, Power, PrepareMapping, Sin, apply, function, mapping};
use super::{Kernel, Outputs, Prepare, Spec, one, take};
use crate::tensor::buffer::gathered;
use crate::tensor::{DType, Data, Element, Tensor};

/// Functions of one float.
pub(super) const FUNCTIONS: &[(&str, PrepareMapping)] = &[
    (pd::Exp::NAME, |_| {
        mapping(function!(|m, x| m.exp(x); |x| single::exp_of_normal(x, 0.0), x.abs() <= -single::LEAST))
    }),
    (pd::Expm1::NAME, |_| mapping(function!(|m, x| m.exp_m1(x)))),
    (pd::Log::NAME, |_| {
        mapping(function!(|m, x| m.ln(x); |x| single::ln(x), single::has_ln(x)))
    }),
    (pd::Log1p::NAME, |_| {
        mapping(function!(|m, x| m.ln_1p(x); |x| single::ln_1p(x), single::has_ln_1p(x)))
    }),
    (pd::Tanh::NAME, |_| {
        mapping(function!(|m, x| m.tanh(x); |x| single::tanh(x), true; &pieces::TANH))
    }),
    (pd::Sin::NAME, |_| mapping(Sin)),
    (pd::Cos::NAME, |_| mapping(Cos)),
    (pd::Sigmoid::NAME, |_| {
        mapping(function!(|m, x| m.sigmoid(x); |x| single::sigmoid(x), x >= single::LEAST))
    }),
    (chlo::Erfc::NAME, |_| mapping(function!(|m, x| m.erfc(x)))),
    (pd::Erf::NAME, |_| {
        mapping(function!(|m, x| m.erf(x); |x| single::erf(x), true))
    }),
];

pub(super) const KERNELS: &[(&str, Prepare)] = &[
    (pd::Log2::NAME, |_| floats(|v| v.log2(), |v| v.log2())),
    (pd::Log10::NAME, |_| floats(|v| v.log10(), |v| v.log10())),
    (pd::Sqrt::NAME, |_| floats(|v| v.sqrt(), |v| v.sqrt())),
    (pd::Rsqrt::NAME, |_| floats(|v| 1.0 / v.sqrt(), |v| 1.0 / v.sqrt())),
    (pd::Reciprocal::NAME, |_| floats(|v| 1.0 / v, |v| 1.0 / v)),
    (pd::Sinh::NAME, |_| floats(|v| v.sinh(), |v| v.sinh())),
    (pd::Cosh::NAME, |_| floats(|v| v.cosh(), |v| v.cosh())),
    (pd::Tan::NAME, |_| floats(|v| v.tan(), |v| v.tan())),
    (pd::Asin::NAME, |_| floats(|v| v.asin(), |v| v.asin())),
    (pd::Acos::NAME, |_| floats(|v| v.acos(), |v| v.acos())),
    (pd::Atan::NAME, |_| floats(|v| v.atan(), |v| v.atan())),
    (chlo::ErfInv::NAME, |_| {
        floats(|v| erf_inv(f64::from(v)) as f32, erf_inv)
    }),
    (chlo::Lgamma::NAME, |_| floats(|v| lgamma(f64::from(v)) as f32, lgamma)),
    (chlo::Digamma::NAME, |_| {
        floats(|v| digamma(f64::from(v)) as f32, digamma)
    }),
    (pd::Relu::NAME, |_| {
        numbers(
            |v| if v > 0.0 || v.is_nan() { v } else { 0.0 },
            |v| if v > 0.0 || v.is_nan() { v } else { 0.0 },
            |v| v.max(0),
        )
    }),
    (pd::Square::NAME, |_| {
        numbers(|v| v * v, |v| v * v, |v| v.wrapping_mul(v))
    }),
    (pd::Abs::NAME, |_| numbers(f32::abs, f64::abs, |v| v.wrapping_abs())),
    (pd::Neg::NAME, |_| numbers(|v| -v, |v| -v, |v| v.wrapping_neg())),
    (pd::Sign::NAME, |_| {
        numbers(
            |v| if v == 0.0 { v } else { v.signum() },
            |v| if v == 0.0 { v } else { v.signum() },
            |v| v.signum(),
        )
    }),
    (pd::Floor::NAME, |_| numbers(f32::floor, f64::floor, |v| v)),
    (pd::Ceil::NAME, |_| numbers(f32::ceil, f64::ceil, |v| v)),
    (pd::Round::NAME, |s| match s.int("decimals", 0) {
        0 => numbers(f32::round_ties_even, f64::round_ties_even, |v| v),
        decimals => {
            let unit = 10f64.powi(i32::try_from(decimals).unwrap_or(i32::MAX));
            numbers(
                move |x| (x * unit as f32).round_ties_even() / unit as f32,
                move |x| (x * unit).round_ties_even() / unit,
                |v| v,
            )
        }
    }),
    (pd::Trunc::NAME, |_| numbers(f32::trunc, f64::trunc, |v| v)),
    (pd::BitwiseNot::NAME, |_| bits_not()),
    (pd::Assign::NAME, |_| same()),
    (pd::Detach::NAME, |_| same()),
    (pd::Isnan::NAME, |_| test(f64::is_nan)),
    (pd::Isinf::NAME, |_| test(f64::is_infinite)),
    (pd::Isfinite::NAME, |_| test(f64::is_finite)),
    (pd::LogicalNot::NAME, |_| test(|v| v == 0.0)),
    (pd::Cast::NAME, |s| {
        let dtype = s.result_dtype(0)?;
        Ok(Box::new(move |inputs| {
            let [x] = take(inputs)?;
            one(x.cast(dtype)?)
        }))
    }),
    (pd::Increment::NAME, |s| {
        let by = s.float("value", 1.0);
        numbers(
            move |v| v + by as f32,
            move |v| v + by,
            move |v| v.wrapping_add(by as i64),
        )
    }),
    (pd::Pow::NAME, |s| {
        // An exponent that is an operand is read at run time.
        let (y, place) = (s.float("y", 1.0), s.operand_called("y"));
        let power = |y: f64| mapping(Power(f64::from(y as f32)));
        let known = power(y);
        Ok(Box::new(move |inputs| {
            let y = number(&inputs, place, y)?;
            let [x] = take(inputs)?;
            // The most frequent exponents are computed exactly, and faster.
            match y {
                1.0 => one(x),
                2.0 => numbers_of(x, |v| v * v, |v| v * v, |v| v.wrapping_mul(v)),
                _ if x.dtype() == DType::F32 && place.is_none() => apply(x, &known),
                _ if x.dtype() == DType::F32 => apply(x, &power(y)),
                _ => numbers_of(x, |v| v.powf(y as f32), |v| v.powf(y), |v| whole_pow(v, y as i64)),
            }
        }))
    }),
    (pd::Clip::NAME, |s| {
        let bounds = (s.float("min", f64::NEG_INFINITY), s.float("max", f64::INFINITY));
        let places = (s.operand_called("min"), s.operand_called("max"));
        Ok(Box::new(move |inputs| {
            let min = number(&inputs, places.0, bounds.0)?;
            let max = number(&inputs, places.1, bounds.1)?;
            let [x] = take(inputs)?;
            let (low, high) = (min as f32, max as f32);
            let (least, most) = (min as i64, max as i64);
            // Propagates NaN.
            numbers_of(
                x,
                |v| match v {
                    _ if v < low => low,
                    _ if v > high => high,
                    _ => v,
                },
                |v| match v {
                    _ if v < min => min,
                    _ if v > max => max,
                    _ => v,
                },
                |v| match v {
                    _ if v < least => least,
                    _ if v > most => most,
                    _ => v,
                },
            )
        }))
    }),
    (pd::Scale::NAME, scale),
];

/// A number from an attribute, or from a one-element operand.
pub(super) fn number(inputs: &[Tensor], place: Option<usize>, attr: f64) -> Result<f64, String> {
    match place {
        None => Ok(attr),
        Some(at) => match inputs.get(at) {
            Some(tensor) if tensor.len() == 1 => Ok(crate::each_type!(tensor.data(), v => v[0].to_f64())),
            Some(tensor) => Err(format!("an operand must have one element, not {}", tensor.len())),
            None => Err("an operand is missing".to_owned()),
        },
    }
}

fn floats(
    f: impl Fn(f32) -> f32 + Send + Sync + 'static,
    d: impl Fn(f64) -> f64 + Send + Sync + 'static,
) -> Result<Kernel, String> {
    Ok(Box::new(move |inputs| {
        let [x] = take(inputs)?;
        let (shape, data) = x.into_parts();
        let data = match data {
            Data::F32(_) => map(data, &f)?,
            Data::F64(_) => map(data, &d)?,
            Data::F16(_) | Data::BF16(_) => through(DType::F32, data, |data| map(data, &f))?,
            _ => return Err("the operand must have a float element type".to_owned()),
        };
        one(Tensor::from_parts(shape, data))
    }))
}

fn numbers(
    f: impl Fn(f32) -> f32 + Send + Sync + 'static,
    d: impl Fn(f64) -> f64 + Send + Sync + 'static,
    i: impl Fn(i64) -> i64 + Send + Sync + 'static,
) -> Result<Kernel, String> {
    Ok(Box::new(move |inputs| {
        let [x] = take(inputs)?;
        numbers_of(x, &f, &d, &i)
    }))
}

fn same() -> Result<Kernel, String> {
    Ok(Box::new(|inputs| {
        let [x] = take(inputs)?;
        one(x)
    }))
}

fn numbers_of(
    x: Tensor,
    f: impl Fn(f32) -> f32,
    d: impl Fn(f64) -> f64,
    i: impl Fn(i64) -> i64,
) -> Result<Outputs, String> {
    let (shape, data) = x.into_parts();
    let data = match data {
        Data::F32(_) => map(data, f)?,
        Data::F64(_) => map(data, d)?,
        Data::F16(_) | Data::BF16(_) => through(DType::F32, data, |data| map(data, f))?,
        Data::I64(_) => map(data, i)?,
        Data::I32(_) => map(data, |v: i32| i(i64::from(v)) as i32)?,
        Data::I1(_) => return Err("the operand must have a numeric element type, not booleans".to_owned()),
        Data::C64(_) | Data::C128(_) => return Err("the operand must have a real element type".to_owned()),
        _ => through(DType::I64, data, |data| map(data, i))?,
    };
    one(Tensor::from_parts(shape, data))
}

fn bits_not() -> Result<Kernel, String> {
    Ok(Box::new(|inputs| {
        let [x] = take(inputs)?;
        let (shape, data) = x.into_parts();
        let data = match data {
            Data::I1(_) => map(data, |v: bool| !v)?,
            Data::I64(_) => map(data, |v: i64| !v)?,
            Data::I32(_) => map(data, |v: i32| !v)?,
            Data::I16(_) => map(data, |v: i16| !v)?,
            Data::I8(_) => map(data, |v: i8| !v)?,
            Data::UI8(_) => map(data, |v: u8| !v)?,
            Data::UI16(_) => map(data, |v: u16| !v)?,
            Data::UI32(_) => map(data, |v: u32| !v)?,
            Data::UI64(_) => map(data, |v: u64| !v)?,
            _ => return Err("the operand must have an integer element type".to_owned()),
        };
        one(Tensor::from_parts(shape, data))
    }))
}

/// What loops ask of one element.
pub(super) const TESTS: &[(&str, Direct)] = &[(
    pd::LogicalNot::NAME,
    |to, of| matches!(of, &[x] if tested(to, x, |v| v == 0.0)),
)];

fn test(f: impl Fn(f64) -> bool + Send + Sync + 'static) -> Result<Kernel, String> {
    Ok(Box::new(move |inputs| {
        let [x] = take(inputs)?;
        let values = match x.data() {
            Data::F32(values) => gathered(values.iter().map(|&v| f(v.into())))?,
            Data::I1(values) => gathered(values.iter().map(|&v| f(v.to_f64())))?,
            _ => gathered(x.doubles()?.iter().map(|&v| f(v)))?,
        };
        one(Tensor::from_parts(x.shape().into(), bool::wrap(values)))
    }))
}

fn scale(s: &Spec<'_>) -> Result<Kernel, String> {
    let factor = s.float("scale", 1.0);
    let bias = s.float("bias", 0.0);
    let after = s.flag("bias_after_scale", true);
    let places = (s.operand_called("scale"), s.operand_called("bias"));
    Ok(Box::new(move |inputs| {
        let factor = number(&inputs, places.0, factor)?;
        let bias = number(&inputs, places.1, bias)?;
        let [x] = take(inputs)?;
        let (ff, fb) = (factor as f32, bias as f32);
        let (fi, bi) = (factor as i64, bias as i64);
        // For integers, the factor and the bias are integers too, as in PaddlePaddle.
        if after {
            let i = |v: i64| v.wrapping_mul(fi).wrapping_add(bi);
            let d = |v| v * factor + bias;
            numbers_of(x, |v| v * ff + fb, d, i)
        } else {
            let i = |v: i64| v.wrapping_add(bi).wrapping_mul(fi);
            let d = |v| (v + bias) * factor;
            numbers_of(x, |v| (v + fb) * ff, d, i)
        }
    }))
}
