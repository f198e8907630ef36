//! Elementwise kernels, with broadcasting.

use half::{bf16, f16};

use super::{Inputs, Kernel, Outputs, Prepare, Spec, dtype_of, one, take};
use crate::tensor::{DType, Data, Element, Shape, Tensor, checked_count};

pub(super) const KERNELS: &[(&str, Prepare)] = &[
    ("pd.exp", |_| floats(|v| v.exp(), |v| v.exp())),
    ("pd.expm1", |_| floats(|v| v.exp_m1(), |v| v.exp_m1())),
    ("pd.log", |_| floats(|v| v.ln(), |v| v.ln())),
    ("pd.log2", |_| floats(|v| v.log2(), |v| v.log2())),
    ("pd.log10", |_| floats(|v| v.log10(), |v| v.log10())),
    ("pd.log1p", |_| floats(|v| v.ln_1p(), |v| v.ln_1p())),
    ("pd.sqrt", |_| floats(|v| v.sqrt(), |v| v.sqrt())),
    ("pd.rsqrt", |_| floats(|v| 1.0 / v.sqrt(), |v| 1.0 / v.sqrt())),
    ("pd.reciprocal", |_| floats(|v| 1.0 / v, |v| 1.0 / v)),
    ("pd.tanh", |_| floats(|v| v.tanh(), |v| v.tanh())),
    ("pd.sinh", |_| floats(|v| v.sinh(), |v| v.sinh())),
    ("pd.cosh", |_| floats(|v| v.cosh(), |v| v.cosh())),
    ("pd.sin", |_| floats(|v| v.sin(), |v| v.sin())),
    ("pd.cos", |_| floats(|v| v.cos(), |v| v.cos())),
    ("pd.tan", |_| floats(|v| v.tan(), |v| v.tan())),
    ("pd.asin", |_| floats(|v| v.asin(), |v| v.asin())),
    ("pd.acos", |_| floats(|v| v.acos(), |v| v.acos())),
    ("pd.atan", |_| floats(|v| v.atan(), |v| v.atan())),
    ("pd.sigmoid", |_| floats(sigmoid32, sigmoid)),
    ("pd.erf", |_| floats(|v| erf(f64::from(v)) as f32, erf)),
    ("pd.relu", |_| {
        numbers(
            |v| if v > 0.0 || v.is_nan() { v } else { 0.0 },
            |v| if v > 0.0 || v.is_nan() { v } else { 0.0 },
            |v| v.max(0),
        )
    }),
    ("pd.square", |_| numbers(|v| v * v, |v| v * v, |v| v.wrapping_mul(v))),
    ("pd.abs", |_| numbers(f32::abs, f64::abs, |v| v.wrapping_abs())),
    ("pd.neg", |_| numbers(|v| -v, |v| -v, |v| v.wrapping_neg())),
    ("pd.sign", |_| {
        numbers(
            |v| if v == 0.0 { v } else { v.signum() },
            |v| if v == 0.0 { v } else { v.signum() },
            |v| v.signum(),
        )
    }),
    ("pd.floor", |_| numbers(f32::floor, f64::floor, |v| v)),
    ("pd.ceil", |_| numbers(f32::ceil, f64::ceil, |v| v)),
    ("pd.round", |_| numbers(f32::round, f64::round, |v| v)),
    ("pd.trunc", |_| numbers(f32::trunc, f64::trunc, |v| v)),
    ("pd.bitwise_not", |_| bits_not()),
    ("pd.assign", |_| same()),
    ("pd.isnan", |_| test(f64::is_nan)),
    ("pd.isinf", |_| test(f64::is_infinite)),
    ("pd.isfinite", |_| test(f64::is_finite)),
    ("pd.logical_not", |_| test(|v| v == 0.0)),
    ("pd.cast", |s| {
        let dtype = s.result_dtype(0)?;
        Ok(Box::new(move |inputs| {
            let [x] = take(inputs)?;
            one(x.cast(dtype))
        }))
    }),
    ("pd.increment", |s| {
        let by = s.float("value", 1.0);
        numbers_with(
            move |v| v + by as f32,
            move |v| v + by,
            move |v| v.wrapping_add(by as i64),
        )
    }),
    ("pd.pow", |s| {
        let y = s.float("y", 1.0);
        if s.operand_called("y").is_some() {
            return Err("an exponent that is not constant: use `pd.elementwise_pow`".to_owned());
        }
        numbers_with(
            move |v| {
                if y == y.trunc() && y.abs() < 64.0 {
                    v.powi(y as i32)
                } else {
                    v.powf(y as f32)
                }
            },
            move |v| {
                if y == y.trunc() && y.abs() < 64.0 {
                    v.powi(y as i32)
                } else {
                    v.powf(y)
                }
            },
            move |v| v.wrapping_pow(y.max(0.0) as u32),
        )
    }),
    ("pd.clip", |s| {
        let (min, max) = (s.float("min", f64::NEG_INFINITY), s.float("max", f64::INFINITY));
        // A NaN stays one.
        numbers_with(
            move |v| {
                if v < min as f32 {
                    min as f32
                } else if v > max as f32 {
                    max as f32
                } else {
                    v
                }
            },
            move |v| {
                if v < min {
                    min
                } else if v > max {
                    max
                } else {
                    v
                }
            },
            move |v| v.max(min as i64).min(max as i64),
        )
    }),
    ("pd.scale", scale),
    ("pd.add", |_| {
        arithmetic(|a, b| a + b, |a, b| a + b, |a, b| Ok(a.wrapping_add(b)))
    }),
    ("pd.inplace_add", |_| {
        arithmetic(|a, b| a + b, |a, b| a + b, |a, b| Ok(a.wrapping_add(b)))
    }),
    ("pd.subtract", |_| {
        arithmetic(|a, b| a - b, |a, b| a - b, |a, b| Ok(a.wrapping_sub(b)))
    }),
    ("pd.multiply", |_| {
        arithmetic(|a, b| a * b, |a, b| a * b, |a, b| Ok(a.wrapping_mul(b)))
    }),
    ("pd.divide", |_| {
        arithmetic(|a, b| a / b, |a, b| a / b, |a, b| a.checked_div(b).ok_or(DIVISION))
    }),
    ("pd.remainder", |_| {
        arithmetic(remainder32, remainder, |a, b| {
            let r = a.checked_rem(b).ok_or(DIVISION)?;
            Ok(if r != 0 && (r < 0) != (b < 0) { r + b } else { r })
        })
    }),
    ("pd.floor_divide", |_| {
        arithmetic(
            |a, b| (a / b).floor(),
            |a, b| (a / b).floor(),
            |a, b| {
                let q = a.checked_div(b).ok_or(DIVISION)?;
                Ok(if a % b != 0 && (a < 0) != (b < 0) { q - 1 } else { q })
            },
        )
    }),
    ("pd.elementwise_pow", |_| {
        arithmetic(f32::powf, f64::powf, |a, b| {
            u32::try_from(b)
                .map(|b| a.wrapping_pow(b))
                .map_err(|_| "an integer to a negative power")
        })
    }),
    ("pd.atan2", |_| {
        arithmetic(f32::atan2, f64::atan2, |_, _| Err("`pd.atan2` is for floats"))
    }),
    ("pd.maximum", |_| {
        arithmetic(
            |a, b| if a >= b || a.is_nan() { a } else { b },
            |a, b| if a >= b || a.is_nan() { a } else { b },
            |a, b| Ok(a.max(b)),
        )
    }),
    ("pd.minimum", |_| {
        arithmetic(
            |a, b| if a <= b || a.is_nan() { a } else { b },
            |a, b| if a <= b || a.is_nan() { a } else { b },
            |a, b| Ok(a.min(b)),
        )
    }),
    ("pd.fmax", |_| arithmetic(f32::max, f64::max, |a, b| Ok(a.max(b)))),
    ("pd.fmin", |_| arithmetic(f32::min, f64::min, |a, b| Ok(a.min(b)))),
    ("pd.bitwise_and", |_| {
        arithmetic(|_, _| f32::NAN, |_, _| f64::NAN, |a, b| Ok(a & b))
    }),
    ("pd.bitwise_or", |_| {
        arithmetic(|_, _| f32::NAN, |_, _| f64::NAN, |a, b| Ok(a | b))
    }),
    ("pd.bitwise_xor", |_| {
        arithmetic(|_, _| f32::NAN, |_, _| f64::NAN, |a, b| Ok(a ^ b))
    }),
    ("pd.equal", |_| compare(|a, b| a == b, |a, b| a == b)),
    ("pd.not_equal", |_| compare(|a, b| a != b, |a, b| a != b)),
    ("pd.less_than", |_| compare(|a, b| a < b, |a, b| a < b)),
    ("pd.less_equal", |_| compare(|a, b| a <= b, |a, b| a <= b)),
    ("pd.greater_than", |_| compare(|a, b| a > b, |a, b| a > b)),
    ("pd.greater_equal", |_| compare(|a, b| a >= b, |a, b| a >= b)),
    ("pd.logical_and", |_| {
        compare(|a, b| a != 0.0 && b != 0.0, |a, b| a != 0 && b != 0)
    }),
    ("pd.logical_or", |_| {
        compare(|a, b| a != 0.0 || b != 0.0, |a, b| a != 0 || b != 0)
    }),
    ("pd.logical_xor", |_| {
        compare(|a, b| (a != 0.0) != (b != 0.0), |a, b| (a != 0) != (b != 0))
    }),
    ("pd.where", |_| Ok(Box::new(select))),
    ("pd.add_n", |_| Ok(Box::new(add_n))),
    // Gradients.
    ("pd.tanh_grad", |_| {
        arithmetic(|o, g| g * (1.0 - o * o), |o, g| g * (1.0 - o * o), |_, _| Err(FLOATS))
    }),
    ("pd.sigmoid_grad", |_| {
        arithmetic(|o, g| g * o * (1.0 - o), |o, g| g * o * (1.0 - o), |_, _| Err(FLOATS))
    }),
    ("pd.relu_grad", |_| {
        arithmetic(
            |o, g| if o > 0.0 { g } else { 0.0 },
            |o, g| if o > 0.0 { g } else { 0.0 },
            |_, _| Err(FLOATS),
        )
    }),
    ("pd.sqrt_grad", |_| {
        arithmetic(|o, g| g * 0.5 / o, |o, g| g * 0.5 / o, |_, _| Err(FLOATS))
    }),
    ("pd.rsqrt_grad", |_| {
        arithmetic(
            |o, g| -0.5 * g * o * o * o,
            |o, g| -0.5 * g * o * o * o,
            |_, _| Err(FLOATS),
        )
    }),
    ("pd.abs_grad", |_| {
        arithmetic(
            |x, g| {
                if x > 0.0 {
                    g
                } else if x < 0.0 {
                    -g
                } else {
                    x * 0.0
                }
            },
            |x, g| {
                if x > 0.0 {
                    g
                } else if x < 0.0 {
                    -g
                } else {
                    x * 0.0
                }
            },
            |_, _| Err(FLOATS),
        )
    }),
    ("pd.pow_grad", |s| {
        let y = s.float("y", 1.0);
        // A constant has derivative zero at zero too, where the formula says 0 * inf.
        arithmetic(
            move |x, g| {
                if y == 0.0 {
                    0.0
                } else {
                    g * y as f32 * x.powf(y as f32 - 1.0)
                }
            },
            move |x, g| if y == 0.0 { 0.0 } else { g * y * x.powf(y - 1.0) },
            |_, _| Err(FLOATS),
        )
    }),
    ("pd.clip_grad", |s| {
        let (min, max) = (s.float("min", f64::NEG_INFINITY), s.float("max", f64::INFINITY));
        arithmetic(
            move |x, g| if x >= min as f32 && x <= max as f32 { g } else { 0.0 },
            move |x, g| if x >= min && x <= max { g } else { 0.0 },
            |_, _| Err(FLOATS),
        )
    }),
    ("pd.maximum_grad", |_| {
        Ok(Box::new(|inputs| extremum_grad(inputs, |x, y| x > y)))
    }),
    ("pd.minimum_grad", |_| {
        Ok(Box::new(|inputs| extremum_grad(inputs, |x, y| x < y)))
    }),
];

const DIVISION: &str = "an integer is divided by zero, or the quotient does not fit";
const FLOATS: &str = "a gradient is of floats";

fn sigmoid(v: f64) -> f64 {
    // Neither form overflows on its side.
    if v >= 0.0 {
        1.0 / (1.0 + (-v).exp())
    } else {
        v.exp() / (1.0 + v.exp())
    }
}

fn sigmoid32(v: f32) -> f32 {
    if v >= 0.0 {
        1.0 / (1.0 + (-v).exp())
    } else {
        v.exp() / (1.0 + v.exp())
    }
}

fn remainder(a: f64, b: f64) -> f64 {
    let r = a % b;
    if r != 0.0 && (r < 0.0) != (b < 0.0) { r + b } else { r }
}

fn remainder32(a: f32, b: f32) -> f32 {
    let r = a % b;
    if r != 0.0 && (r < 0.0) != (b < 0.0) { r + b } else { r }
}

/// The error function: the Maclaurin series near zero, a continued fraction (by the modified Lentz algorithm) beyond.
/// Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.5 and 7.1.14.
fn erf(x: f64) -> f64 {
    let a = x.abs();
    if x.is_nan() {
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
    // erfc(a) = exp(-a²)/√π · 1/(a + (1/2)/(a + 1/(a + (3/2)/(a + …))))
    let mut f = a;
    for n in (1..=120).rev() {
        f = a + f64::from(n) / 2.0 / f;
    }
    let erfc = (-a * a).exp() / (f * std::f64::consts::PI.sqrt());
    (1.0 - erfc).copysign(x)
}

fn same() -> Result<Kernel, String> {
    Ok(Box::new(|inputs| {
        let [x] = take(inputs)?;
        one(x)
    }))
}

/// Applies a function in place where the buffer is not shared.
fn map<T: Element>(data: Data, f: impl Fn(T) -> T) -> Data {
    let mut values = T::take(data).unwrap_or_default();
    for v in &mut values {
        *v = f(*v);
    }
    T::wrap(values)
}

fn floats(f: fn(f32) -> f32, d: fn(f64) -> f64) -> Result<Kernel, String> {
    Ok(Box::new(move |inputs| {
        let [x] = take(inputs)?;
        let (shape, data) = x.into_parts();
        let data = match data {
            Data::F32(_) => map(data, f),
            Data::F64(_) => map(data, d),
            Data::F16(_) => map(data, |v: f16| f16::from_f32(f(v.to_f32()))),
            Data::BF16(_) => map(data, |v: bf16| bf16::from_f32(f(v.to_f32()))),
            _ => return Err("the operand must hold floats".to_owned()),
        };
        one(Tensor::from_parts(shape, data))
    }))
}

fn numbers(f: fn(f32) -> f32, d: fn(f64) -> f64, i: fn(i64) -> i64) -> Result<Kernel, String> {
    numbers_with(f, d, i)
}

fn numbers_with(
    f: impl Fn(f32) -> f32 + Send + Sync + 'static,
    d: impl Fn(f64) -> f64 + Send + Sync + 'static,
    i: impl Fn(i64) -> i64 + Send + Sync + 'static,
) -> Result<Kernel, String> {
    Ok(Box::new(move |inputs| {
        let [x] = take(inputs)?;
        let (shape, data) = x.into_parts();
        let data = match data {
            Data::F32(_) => map(data, &f),
            Data::F64(_) => map(data, &d),
            Data::F16(_) => map(data, |v: f16| f16::from_f32(f(v.to_f32()))),
            Data::BF16(_) => map(data, |v: bf16| bf16::from_f32(f(v.to_f32()))),
            Data::I64(_) => map(data, &i),
            Data::I32(_) => map(data, |v: i32| i(i64::from(v)) as i32),
            Data::I16(_) => map(data, |v: i16| i(i64::from(v)) as i16),
            Data::I8(_) => map(data, |v: i8| i(i64::from(v)) as i8),
            Data::UI8(_) => map(data, |v: u8| i(i64::from(v)) as u8),
            Data::I1(_) => return Err("the operand must hold numbers, not truth values".to_owned()),
        };
        one(Tensor::from_parts(shape, data))
    }))
}

fn bits_not() -> Result<Kernel, String> {
    Ok(Box::new(|inputs| {
        let [x] = take(inputs)?;
        let (shape, data) = x.into_parts();
        let data = match data {
            Data::I1(_) => map(data, |v: bool| !v),
            Data::I64(_) => map(data, |v: i64| !v),
            Data::I32(_) => map(data, |v: i32| !v),
            Data::I16(_) => map(data, |v: i16| !v),
            Data::I8(_) => map(data, |v: i8| !v),
            Data::UI8(_) => map(data, |v: u8| !v),
            _ => return Err("the operand must hold integers".to_owned()),
        };
        one(Tensor::from_parts(shape, data))
    }))
}

fn test(f: fn(f64) -> bool) -> Result<Kernel, String> {
    Ok(Box::new(move |inputs| {
        let [x] = take(inputs)?;
        let values = match x.data() {
            Data::I1(v) => v.iter().map(|&v| f(f64::from(u8::from(v)))).collect(),
            data => crate::each_type!(data, v => v.iter().map(|&v| f(v.to_f64())).collect::<Vec<bool>>()),
        };
        one(Tensor::from_parts(x.shape().into(), bool::wrap(values)))
    }))
}

fn scale(s: &Spec<'_>) -> Result<Kernel, String> {
    let factor = s.float("scale", 1.0);
    let bias = s.float("bias", 0.0);
    let after = s.flag("bias_after_scale", true);
    let dynamic = s.operand_called("scale");
    Ok(Box::new(move |inputs| {
        let factor = match dynamic {
            Some(at) => {
                let value = inputs.get(at).map(Tensor::to_f64).unwrap_or_default();
                *value.first().ok_or("the factor is an empty tensor")?
            }
            None => factor,
        };
        let [x] = take(inputs)?;
        let (shape, data) = x.into_parts();
        let d = |v: f64| if after { v * factor + bias } else { (v + bias) * factor };
        let (ff, fb) = (factor as f32, bias as f32);
        let f = |v: f32| if after { v * ff + fb } else { (v + fb) * ff };
        let (fi, bi) = (factor as i64, bias as i64);
        // Whole numbers are computed as such: a float would lose the low bits.
        let whole = factor == factor.trunc() && bias == bias.trunc();
        let i = |v: i64| match (whole, after) {
            (true, true) => v.wrapping_mul(fi).wrapping_add(bi),
            (true, false) => v.wrapping_add(bi).wrapping_mul(fi),
            (false, _) => d(v as f64) as i64,
        };
        let data = match data {
            Data::F32(_) => map(data, f),
            Data::F64(_) => map(data, d),
            Data::F16(_) => map(data, |v: f16| f16::from_f32(f(v.to_f32()))),
            Data::BF16(_) => map(data, |v: bf16| bf16::from_f32(f(v.to_f32()))),
            Data::I64(_) => map(data, i),
            Data::I32(_) => map(data, |v: i32| i(i64::from(v)) as i32),
            Data::I16(_) => map(data, |v: i16| i(i64::from(v)) as i16),
            Data::I8(_) => map(data, |v: i8| i(i64::from(v)) as i8),
            Data::UI8(_) => map(data, |v: u8| i(i64::from(v)) as u8),
            Data::I1(_) => return Err("the operand must hold numbers".to_owned()),
        };
        one(Tensor::from_parts(shape, data))
    }))
}

/// The shape that two broadcast to.
pub(super) fn broadcast(a: &[usize], b: &[usize]) -> Result<Shape, String> {
    let rank = a.len().max(b.len());
    let dim = |d: &[usize], at: usize| (at + d.len()).checked_sub(rank).map_or(1, |i| d[i]);
    (0..rank)
        .map(|at| match (dim(a, at), dim(b, at)) {
            (x, y) if x == y => Ok(x),
            (1, y) => Ok(y),
            (x, 1) => Ok(x),
            (x, y) => Err(format!(
                "shapes {a:?} and {b:?} do not broadcast: {x} and {y} at dimension {at}"
            )),
        })
        .collect()
}

/// How far the place in the elements moves along each dimension of `shape`; 0 where the tensor is broadcast.
pub(super) fn strides(of: &[usize], shape: &[usize]) -> Shape {
    let mut out: Shape = std::iter::repeat_n(0, shape.len()).collect();
    let mut step = 1;
    for (i, &d) in of.iter().enumerate().rev() {
        let at = i + shape.len() - of.len();
        out[at] = if d == 1 { 0 } else { step };
        step *= d;
    }
    out
}

/// Calls `f` with the start of each row of the last dimension, for two tensors that are broadcast to `shape`.
pub(super) fn rows(shape: &[usize], sa: &[usize], sb: &[usize], mut f: impl FnMut(usize, usize)) {
    let outer = shape.len().saturating_sub(1);
    if shape.contains(&0) {
        return;
    }
    let mut index: Shape = std::iter::repeat_n(0, outer).collect();
    let (mut a, mut b) = (0, 0);
    loop {
        f(a, b);
        let mut at = outer;
        loop {
            if at == 0 {
                return;
            }
            at -= 1;
            index[at] += 1;
            a += sa[at];
            b += sb[at];
            if index[at] < shape[at] {
                break;
            }
            a -= sa[at] * shape[at];
            b -= sb[at] * shape[at];
            index[at] = 0;
        }
    }
}

/// Combines two tensors of one element type.
fn zip<T: Element, U: Element>(x: &Tensor, y: &Tensor, f: impl Fn(T, T) -> U) -> Result<Tensor, String> {
    let (Some(a), Some(b)) = (x.view::<T>(), y.view::<T>()) else {
        return Err(MIXED.to_owned());
    };
    if x.shape() == y.shape() {
        let values = a.iter().zip(b).map(|(&p, &q)| f(p, q)).collect();
        return Ok(Tensor::from_parts(x.shape().into(), U::wrap(values)));
    }
    let shape = broadcast(x.shape(), y.shape())?;
    let count = checked_count(&shape, U::DTYPE.size())?;
    let values: Vec<U> = match (a, b) {
        (&[p], _) if b.len() == count => b.iter().map(|&q| f(p, q)).collect(),
        (_, &[q]) if a.len() == count => a.iter().map(|&p| f(p, q)).collect(),
        _ => {
            let (sa, sb) = (strides(x.shape(), &shape), strides(y.shape(), &shape));
            let (&n, last) = (shape.last().unwrap_or(&1), shape.len() - 1);
            let (da, db) = (sa[last], sb[last]);
            let mut out = Vec::with_capacity(count);
            rows(&shape, &sa, &sb, |p, q| {
                out.extend((0..n).map(|i| f(a[p + i * da], b[q + i * db])))
            });
            out
        }
    };
    Ok(Tensor::from_parts(shape, U::wrap(values)))
}

const MIXED: &str = "the operands have different element types";

/// Combines in place where the first buffer is not shared and has the shape of the result.
fn zip_in_place<T: Element>(x: Tensor, y: Tensor, f: impl Fn(T, T) -> T) -> Result<Tensor, String> {
    if x.shape() != y.shape() {
        return zip::<T, T>(&x, &y, f);
    }
    let (shape, data) = x.into_parts();
    let Some(b) = y.view::<T>() else {
        return Err(MIXED.to_owned());
    };
    let mut a = T::take(data).ok_or(MIXED)?;
    for (p, &q) in a.iter_mut().zip(b) {
        *p = f(*p, q);
    }
    Ok(Tensor::from_parts(shape, T::wrap(a)))
}

fn arithmetic(
    f: impl Fn(f32, f32) -> f32 + Send + Sync + 'static,
    d: impl Fn(f64, f64) -> f64 + Send + Sync + 'static,
    i: impl Fn(i64, i64) -> Result<i64, &'static str> + Send + Sync + 'static,
) -> Result<Kernel, String> {
    Ok(Box::new(move |inputs| {
        let [x, y] = take(inputs)?;
        // An error of an element is kept until the end: the loops have no exits.
        let failure = std::cell::Cell::new(None);
        let whole = |a: i64, b: i64| match i(a, b) {
            Ok(v) => v,
            Err(why) => {
                failure.set(Some(why));
                0
            }
        };
        let out = match x.data() {
            Data::F32(_) => zip_in_place(x, y, &f)?,
            Data::F64(_) => zip_in_place(x, y, &d)?,
            Data::F16(_) => zip_in_place(x, y, |a: f16, b: f16| f16::from_f32(f(a.to_f32(), b.to_f32())))?,
            Data::BF16(_) => zip_in_place(x, y, |a: bf16, b: bf16| bf16::from_f32(f(a.to_f32(), b.to_f32())))?,
            Data::I64(_) => zip_in_place(x, y, whole)?,
            Data::I32(_) => zip_in_place(x, y, |a: i32, b: i32| whole(a.into(), b.into()) as i32)?,
            Data::I16(_) => zip_in_place(x, y, |a: i16, b: i16| whole(a.into(), b.into()) as i16)?,
            Data::I8(_) => zip_in_place(x, y, |a: i8, b: i8| whole(a.into(), b.into()) as i8)?,
            Data::UI8(_) => zip_in_place(x, y, |a: u8, b: u8| whole(a.into(), b.into()) as u8)?,
            Data::I1(_) => zip_in_place(x, y, |a: bool, b: bool| whole(a.into(), b.into()) & 1 != 0)?,
        };
        match failure.get() {
            Some(why) => Err(why.to_owned()),
            None => one(out),
        }
    }))
}

fn compare(d: fn(f64, f64) -> bool, i: fn(i64, i64) -> bool) -> Result<Kernel, String> {
    Ok(Box::new(move |inputs| {
        let [x, y] = take(inputs)?;
        let out = match x.data() {
            Data::F64(_) => zip(&x, &y, d)?,
            Data::F32(_) => zip(&x, &y, |a: f32, b: f32| d(a.into(), b.into()))?,
            Data::F16(_) => zip(&x, &y, |a: f16, b: f16| d(a.to_f64(), b.to_f64()))?,
            Data::BF16(_) => zip(&x, &y, |a: bf16, b: bf16| d(a.to_f64(), b.to_f64()))?,
            Data::I64(_) => zip(&x, &y, i)?,
            Data::I32(_) => zip(&x, &y, |a: i32, b: i32| i(a.into(), b.into()))?,
            Data::I16(_) => zip(&x, &y, |a: i16, b: i16| i(a.into(), b.into()))?,
            Data::I8(_) => zip(&x, &y, |a: i8, b: i8| i(a.into(), b.into()))?,
            Data::UI8(_) => zip(&x, &y, |a: u8, b: u8| i(a.into(), b.into()))?,
            Data::I1(_) => zip(&x, &y, |a: bool, b: bool| i(a.into(), b.into()))?,
        };
        one(out)
    }))
}

/// Copies a tensor to a shape that it broadcasts to.
pub(super) fn expand(x: &Tensor, shape: &[usize]) -> Result<Tensor, String> {
    if x.shape() == shape {
        return Ok(x.clone());
    }
    let count = checked_count(shape, x.dtype().size())?;
    if broadcast(x.shape(), shape)?[..] != *shape {
        return Err(format!("shape {:?} does not broadcast to {shape:?}", x.shape()));
    }
    let s = strides(x.shape(), shape);
    let n = shape.last().copied().unwrap_or(1);
    let step = s.last().copied().unwrap_or(0);
    fn copy<T: Element>(v: &[T], shape: &[usize], s: &[usize], n: usize, step: usize, count: usize) -> Data {
        let mut out = Vec::with_capacity(count);
        rows(shape, s, s, |p, _| out.extend((0..n).map(|i| v[p + i * step])));
        T::wrap(out)
    }
    let data = crate::each_type!(x.data(), v => copy(v, shape, &s, n, step, count));
    Ok(Tensor::from_parts(shape.into(), data))
}

fn select(inputs: Inputs) -> Result<Outputs, String> {
    let [c, x, y] = take(inputs)?;
    let shape = broadcast(c.shape(), &broadcast(x.shape(), y.shape())?)?;
    let (c, x, y) = (expand(&c, &shape)?, expand(&x, &shape)?, expand(&y, &shape)?);
    let c = c.view::<bool>().ok_or("the condition must hold truth values")?;
    fn pick<T: Element>(c: &[bool], x: &[T], y: &Tensor) -> Result<Data, String> {
        let y = y.view::<T>().ok_or(MIXED)?;
        Ok(T::wrap(
            c.iter()
                .zip(x.iter().zip(y))
                .map(|(&c, (&x, &y))| if c { x } else { y })
                .collect(),
        ))
    }
    let data = crate::each_type!(x.data(), v => pick(c, v, &y))?;
    one(Tensor::from_parts(shape, data))
}

fn add_n(inputs: Inputs) -> Result<Outputs, String> {
    let mut inputs = inputs.into_iter();
    let mut sum = inputs.next().ok_or("there is nothing to add")?;
    let add = arithmetic(|a, b| a + b, |a, b| a + b, |a, b| Ok(a.wrapping_add(b)))?;
    for x in inputs {
        let mut pair = Inputs::new();
        pair.extend([sum, x]);
        let [s] = take(add(pair)?.into_iter().collect())?;
        sum = s;
    }
    one(sum)
}

fn extremum_grad(inputs: Inputs, wins: fn(f64, f64) -> bool) -> Result<Outputs, String> {
    let [x, y, g] = take(inputs)?;
    let shape: Shape = g.shape().into();
    let (ex, ey) = (expand(&x, &shape)?.to_f64(), expand(&y, &shape)?.to_f64());
    let gs = g.to_f64();
    // The share of x: all, none, or half of a tie.
    let share = |a: f64, b: f64| {
        if wins(a, b) {
            1.0
        } else if a == b {
            0.5
        } else {
            0.0
        }
    };
    let gx: Vec<f64> = gs
        .iter()
        .zip(ex.iter().zip(&ey))
        .map(|(&g, (&a, &b))| g * share(a, b))
        .collect();
    let gy: Vec<f64> = gs
        .iter()
        .zip(ex.iter().zip(&ey))
        .map(|(&g, (&a, &b))| g * share(b, a))
        .collect();
    let back = |values: Vec<f64>, like: &Tensor| -> Result<Tensor, String> {
        let full = Tensor::from_parts(shape.clone(), f64::wrap(values));
        Ok(super::reduce::reduce_as(&full, like.shape())?.cast(like.dtype()))
    };
    let mut out = Outputs::new();
    out.extend([back(gx, &x)?, back(gy, &y)?]);
    Ok(out)
}

/// The element type that a type attribute names.
pub(super) fn attr_dtype(s: &Spec<'_>, name: &str) -> Option<DType> {
    s.view.ty(name).and_then(|t| dtype_of(s.view.ctx, t))
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
    fn broadcasting() {
        let x = Tensor::new(&[2, 1], vec![1.0, 2.0]).unwrap();
        let y = Tensor::new(&[3], vec![10.0, 20.0, 30.0]).unwrap();
        let z = zip(&x, &y, |a: f64, b: f64| a + b).unwrap();
        assert_eq!(z.shape(), [2, 3]);
        assert_eq!(z.to_f64(), [11.0, 21.0, 31.0, 12.0, 22.0, 32.0]);
        let none = Tensor::new::<f64>(&[0, 3], vec![]).unwrap();
        assert_eq!(zip(&none, &y, |a: f64, b: f64| a + b).unwrap().shape(), [0, 3]);
        assert!(zip(&x, &Tensor::new(&[3, 2], vec![0.0; 6]).unwrap(), |a: f64, _: f64| a).is_err());
    }
}
