//! Floating-point numbers.

use half::{bf16, f16};
use pir_dialects::mlir::{arith, math};

use super::alike;
use crate::kernels::activation::{acosh, asinh};
use crate::kernels::broadcast::{both_through, in_floats, map, through, zip, zip_in_place};
use crate::kernels::special::erf;
use crate::kernels::{Kernel, Prepare, one, take};
use crate::tensor::buffer::gathered;
use crate::tensor::{DType, Data, Element, Tensor};

/// The same expression for both widths.
macro_rules! unary {
    ($($op:ident, |$x:ident| $f:expr;)*) => {
        &[$((math::$op::NAME, |_| one_of(|$x: f64| $f, |$x: f32| $f))),*]
    };
}

macro_rules! binary {
    ($($name:expr, |$x:ident, $y:ident| $f:expr;)*) => {
        &[$(($name, |_| two_of(|$x: f64, $y: f64| $f, |$x: f32, $y: f32| $f))),*]
    };
}

const UNARY: &[(&str, Prepare)] = unary! {
    Absf, |x| x.abs();
    Acos, |x| x.acos();
    Asin, |x| x.asin();
    Atan, |x| x.atan();
    Atanh, |x| x.atanh();
    Cbrt, |x| x.cbrt();
    Ceil, |x| x.ceil();
    Cos, |x| x.cos();
    Cosh, |x| x.cosh();
    Exp, |x| x.exp();
    Exp2, |x| x.exp2();
    Expm1, |x| x.exp_m1();
    Floor, |x| x.floor();
    Log, |x| x.ln();
    Log10, |x| x.log10();
    Log1p, |x| x.ln_1p();
    Log2, |x| x.log2();
    Round, |x| x.round();
    Roundeven, |x| x.round_ties_even();
    Rsqrt, |x| 1.0 / x.sqrt();
    Sin, |x| x.sin();
    Sinh, |x| x.sinh();
    Sqrt, |x| x.sqrt();
    Tan, |x| x.tan();
    Tanh, |x| x.tanh();
    Trunc, |x| x.trunc();
};

const BINARY: &[(&str, Prepare)] = binary! {
    arith::Addf::NAME, |x, y| x + y;
    arith::Subf::NAME, |x, y| x - y;
    arith::Mulf::NAME, |x, y| x * y;
    arith::Divf::NAME, |x, y| x / y;
    arith::Remf::NAME, |x, y| x % y;
    arith::Maxnumf::NAME, |x, y| x.max(y);
    arith::Minnumf::NAME, |x, y| x.min(y);
    arith::Maximumf::NAME, |x, y| if x.is_nan() || y.is_nan() {
        x + y
    } else if x == y {
        if x.is_sign_positive() { x } else { y }
    } else {
        x.max(y)
    };
    arith::Minimumf::NAME, |x, y| if x.is_nan() || y.is_nan() {
        x + y
    } else if x == y {
        if x.is_sign_negative() { x } else { y }
    } else {
        x.min(y)
    };
    math::Atan2::NAME, |x, y| x.atan2(y);
    math::Copysign::NAME, |x, y| x.copysign(y);
    math::Powf::NAME, |x, y| x.powf(y);
};

const OTHERS: &[(&str, Prepare)] = &[
    (arith::Negf::NAME, |_| one_of(|x| -x, |x| -x)),
    (math::Acosh::NAME, |_| one_of(acosh, |x| acosh(x.into()) as f32)),
    (math::Asinh::NAME, |_| one_of(asinh, |x| asinh(x.into()) as f32)),
    (math::Erf::NAME, |_| one_of(erf, |x| erf(x.into()) as f32)),
    (math::Fma::NAME, |_| Ok(Box::new(|inputs| one(fused(take(inputs)?)?)))),
    (math::Fpowi::NAME, |_| {
        Ok(Box::new(|inputs| one(powers(take(inputs)?)?)))
    }),
    (arith::Cmpf::NAME, |s| compare(s.int("predicate", -1))),
];

pub(in crate::kernels) const KERNELS: [&[(&str, Prepare)]; 3] = [UNARY, BINARY, OTHERS];

fn one_of(wide: fn(f64) -> f64, narrow: fn(f32) -> f32) -> Result<Kernel, String> {
    Ok(Box::new(move |inputs| {
        let [x] = take(inputs)?;
        let (shape, data) = x.into_parts();
        let data = match data {
            Data::F64(_) => map(data, wide)?,
            Data::F32(_) => map(data, narrow)?,
            Data::F16(_) | Data::BF16(_) => through(DType::F32, data, |data| map(data, narrow))?,
            _ => return Err("a floating-point number was expected".to_owned()),
        };
        one(Tensor::from_parts(shape, data))
    }))
}

fn two_of(wide: fn(f64, f64) -> f64, narrow: fn(f32, f32) -> f32) -> Result<Kernel, String> {
    Ok(Box::new(move |inputs| {
        let [x, y] = alike(inputs)?;
        one(match x.dtype() {
            DType::F64 => zip_in_place(x, y, wide)?,
            DType::F32 => zip_in_place(x, y, narrow)?,
            DType::F16 | DType::BF16 => both_through(DType::F32, x, y, |x, y| zip_in_place(x, y, narrow))?,
            _ => return Err("floating-point numbers were expected".to_owned()),
        })
    }))
}

/// Powers with exponents that are integers of any width.
fn powers([x, n]: [Tensor; 2]) -> Result<Tensor, String> {
    if x.shape() != n.shape() || n.dtype().is_float() {
        return Err("the operands must have the same shape, and the exponents must be integers".to_owned());
    }
    fn each<T: Element>(x: &[T], n: &[i64], f: impl Fn(T, i64) -> T) -> Result<Data, String> {
        Ok(T::wrap(gathered(x.iter().zip(n).map(|(&x, &n)| f(x, n)))?))
    }
    let wide = |x: f64, n: i64| i32::try_from(n).map_or_else(|_| x.powf(n as f64), |n| x.powi(n));
    let narrow = |x: f32, n: i64| i32::try_from(n).map_or_else(|_| x.powf(n as f32), |n| x.powi(n));
    let n = n.data().wholes()?;
    let (shape, data) = x.into_parts();
    let data = in_floats(data, |data| match &data {
        Data::F32(x) => each(x, &n, narrow),
        data => each(&data.doubles()?, &n, wide),
    })?;
    Ok(Tensor::from_parts(shape, data))
}

fn fused([a, b, c]: [Tensor; 3]) -> Result<Tensor, String> {
    if a.shape() != b.shape() || a.shape() != c.shape() || a.dtype() != b.dtype() || a.dtype() != c.dtype() {
        return Err("the operands must have the same type".to_owned());
    }
    fn each<T: Element>([a, b, c]: [&Tensor; 3], f: impl Fn(T, T, T) -> T) -> Result<Tensor, String> {
        let (Some(x), Some(y), Some(z)) = (a.view::<T>(), b.view::<T>(), c.view::<T>()) else {
            return Err("the operands must have the same type".to_owned());
        };
        let values = x.iter().zip(y).zip(z).map(|((&a, &b), &c)| f(a, b, c));
        Ok(Tensor::from_parts(a.shape().into(), T::wrap(gathered(values)?)))
    }
    let all = [&a, &b, &c];
    // An f64 holds the products of f16 and of bf16.
    let wide = f64::mul_add;
    match a.dtype() {
        DType::F64 => each(all, wide),
        DType::F32 => each(all, f32::mul_add),
        DType::F16 => each(all, |a: f16, b, c| f16::from_f64(wide(a.into(), b.into(), c.into()))),
        DType::BF16 => each(all, |a: bf16, b, c| bf16::from_f64(wide(a.into(), b.into(), c.into()))),
        _ => Err("floating-point numbers were expected".to_owned()),
    }
}

fn compare(predicate: i64) -> Result<Kernel, String> {
    // Bit by bit: equal, greater, less, unordered. The numbers of the relations are in another order.
    const EQ: u8 = 1;
    const GT: u8 = 2;
    const LT: u8 = 4;
    const NAN: u8 = 8;
    const HOLDS: [u8; 16] = [
        0,
        EQ,
        GT,
        GT | EQ,
        LT,
        LT | EQ,
        LT | GT,
        LT | GT | EQ,
        NAN | EQ,
        NAN | GT,
        NAN | GT | EQ,
        NAN | LT,
        NAN | LT | EQ,
        NAN | LT | GT,
        NAN,
        NAN | EQ | LT | GT,
    ];
    let holds = usize::try_from(predicate).ok().and_then(|at| HOLDS.get(at));
    let holds = *holds.ok_or("the predicate is unknown")?;
    let relation = move |a: f64, b: f64| {
        let met = match a.partial_cmp(&b) {
            Some(std::cmp::Ordering::Equal) => EQ,
            Some(std::cmp::Ordering::Greater) => GT,
            Some(std::cmp::Ordering::Less) => LT,
            None => NAN,
        };
        holds & met != 0
    };
    Ok(Box::new(move |inputs| {
        let [x, y] = alike(inputs)?;
        one(match x.data() {
            Data::F64(_) => zip(&x, &y, relation)?,
            Data::F32(_) => zip(&x, &y, |a: f32, b: f32| relation(a.into(), b.into()))?,
            Data::F16(_) | Data::BF16(_) => zip(&x.cast(DType::F64)?, &y.cast(DType::F64)?, relation)?,
            _ => return Err("floating-point numbers were expected".to_owned()),
        })
    }))
}
