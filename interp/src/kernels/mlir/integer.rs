//! Integers: operations on copies that are sign-extended to 64 bits, wrapped to the width of the type in the end.

use std::cmp::Ordering;

use half::{bf16, f16};
use pir_dialects::mlir::{arith, index, math};
use pir_ir::AttrData;

use crate::kernels::{Inputs, Kernel, Prepare, Spec, one, take};
use crate::tensor::{DType, Tensor};

/// What is computed of two integers of a width, or why it cannot be.
type Binary = fn(i64, i64, u32) -> Result<i64, &'static str>;

const ZERO: &str = "division by zero";
const OVERFLOW: &str = "the quotient does not fit";

macro_rules! binary {
    ($($name:expr, $f:expr;)*) => { &[$(($name, |_| integers($f))),*] };
}

const BINARY: &[(&str, Prepare)] = binary! {
    arith::Addi::NAME, |a, b, _| Ok(a.wrapping_add(b));
    arith::Subi::NAME, |a, b, _| Ok(a.wrapping_sub(b));
    arith::Muli::NAME, |a, b, _| Ok(a.wrapping_mul(b));
    arith::Divsi::NAME, divide;
    arith::Divui::NAME, |a, b, w| unsigned(a, b, w, |a, b| a.checked_div(b));
    arith::Ceildivsi::NAME, ceil_divide;
    arith::Ceildivui::NAME, |a, b, w| unsigned(a, b, w, |a, b| (b != 0).then(|| a.div_ceil(b)));
    arith::Floordivsi::NAME, floor_divide;
    arith::Remsi::NAME, remainder;
    arith::Remui::NAME, |a, b, w| unsigned(a, b, w, |a, b| a.checked_rem(b));
    arith::Andi::NAME, |a, b, _| Ok(a & b);
    arith::Ori::NAME, |a, b, _| Ok(a | b);
    arith::Xori::NAME, |a, b, _| Ok(a ^ b);
    arith::Shli::NAME, shift_left;
    arith::Shrsi::NAME, |a, b, w| Ok(a >> mask(b, w).min(63));
    arith::Shrui::NAME, shift_right;
    arith::Maxsi::NAME, |a, b, _| Ok(a.max(b));
    arith::Minsi::NAME, |a, b, _| Ok(a.min(b));
    arith::Maxui::NAME, |a, b, w| unsigned(a, b, w, |a, b| Some(a.max(b)));
    arith::Minui::NAME, |a, b, w| unsigned(a, b, w, |a, b| Some(a.min(b)));
    index::Add::NAME, |a, b, _| Ok(a.wrapping_add(b));
    index::Sub::NAME, |a, b, _| Ok(a.wrapping_sub(b));
    index::Mul::NAME, |a, b, _| Ok(a.wrapping_mul(b));
    index::Divs::NAME, divide;
    index::Divu::NAME, |a, b, w| unsigned(a, b, w, |a, b| a.checked_div(b));
    index::Ceildivs::NAME, ceil_divide;
    index::Ceildivu::NAME, |a, b, w| unsigned(a, b, w, |a, b| (b != 0).then(|| a.div_ceil(b)));
    index::Floordivs::NAME, floor_divide;
    index::Rems::NAME, remainder;
    index::Remu::NAME, |a, b, w| unsigned(a, b, w, |a, b| a.checked_rem(b));
    index::And::NAME, |a, b, _| Ok(a & b);
    index::Or::NAME, |a, b, _| Ok(a | b);
    index::Xor::NAME, |a, b, _| Ok(a ^ b);
    index::Shl::NAME, shift_left;
    index::Shrs::NAME, |a, b, w| Ok(a >> mask(b, w).min(63));
    index::Shru::NAME, shift_right;
    index::Maxs::NAME, |a, b, _| Ok(a.max(b));
    index::Mins::NAME, |a, b, _| Ok(a.min(b));
    index::Maxu::NAME, |a, b, w| unsigned(a, b, w, |a, b| Some(a.max(b)));
    index::Minu::NAME, |a, b, w| unsigned(a, b, w, |a, b| Some(a.min(b)));
    math::Ipowi::NAME, power;
};

const OTHERS: &[(&str, Prepare)] = &[
    (math::Absi::NAME, |_| unary(|a, _| a.wrapping_abs())),
    (math::Ctlz::NAME, |_| {
        unary(|a, w| i64::from(mask(a, w).leading_zeros() + w) - 64)
    }),
    (math::Cttz::NAME, |_| {
        unary(|a, w| i64::from(mask(a, w).trailing_zeros().min(w)))
    }),
    (math::Ctpop::NAME, |_| unary(|a, w| i64::from(mask(a, w).count_ones()))),
    (arith::Extsi::NAME, |s| convert(s, |a, _| a)),
    (arith::Extui::NAME, |s| convert(s, |a, w| mask(a, w) as i64)),
    (arith::Trunci::NAME, |s| convert(s, |a, _| a)),
    (arith::IndexCast::NAME, |s| convert(s, |a, _| a)),
    (arith::IndexCastui::NAME, |s| convert(s, |a, w| mask(a, w) as i64)),
    (index::Casts::NAME, |s| convert(s, |a, _| a)),
    (index::Castu::NAME, |s| convert(s, |a, w| mask(a, w) as i64)),
    (arith::Cmpi::NAME, |s| compare(s.int("predicate", -1))),
    (index::Cmp::NAME, |s| compare(relation(s).unwrap_or(-1))),
    (arith::AdduiExtended::NAME, |_| Ok(Box::new(add_extended))),
    (arith::MulsiExtended::NAME, |_| {
        Ok(Box::new(|inputs| mul_extended(inputs, |a, _| a.into())))
    }),
    (arith::MuluiExtended::NAME, |_| {
        Ok(Box::new(|inputs| mul_extended(inputs, |a, w| mask(a, w).into())))
    }),
    (arith::Sitofp::NAME, |s| to_float(s, |a, _| a.into())),
    (arith::Uitofp::NAME, |s| to_float(s, |a, w| mask(a, w).into())),
    (arith::Fptosi::NAME, |s| {
        from_float(s, |v, w| (v as i64).clamp(i64::MIN >> (64 - w), i64::MAX >> (64 - w)))
    }),
    (arith::Fptoui::NAME, |s| {
        from_float(s, |v, w| (v as u64).min(u64::MAX >> (64 - w)) as i64)
    }),
];

pub(in crate::kernels) const KERNELS: [&[(&str, Prepare)]; 2] = [BINARY, OTHERS];

/// The number without a sign that has these bits.
fn mask(value: i64, width: u32) -> u64 {
    value as u64 & (u64::MAX >> (64 - width))
}

/// The number with a sign that the lowest bits are.
fn wrap(value: i64, width: u32) -> i64 {
    value << (64 - width) >> (64 - width)
}

fn fits(value: Option<i64>, width: u32) -> Result<i64, &'static str> {
    value.filter(|&v| wrap(v, width) == v).ok_or(OVERFLOW)
}

fn unsigned(a: i64, b: i64, width: u32, f: fn(u64, u64) -> Option<u64>) -> Result<i64, &'static str> {
    f(mask(a, width), mask(b, width)).map(|v| v as i64).ok_or(ZERO)
}

fn divide(a: i64, b: i64, width: u32) -> Result<i64, &'static str> {
    match b {
        0 => Err(ZERO),
        _ => fits(a.checked_div(b), width),
    }
}

fn ceil_divide(a: i64, b: i64, width: u32) -> Result<i64, &'static str> {
    let towards_zero = divide(a, b, width)?;
    Ok(towards_zero + i64::from(a.wrapping_rem(b) != 0 && (a < 0) == (b < 0)))
}

fn floor_divide(a: i64, b: i64, width: u32) -> Result<i64, &'static str> {
    let towards_zero = divide(a, b, width)?;
    Ok(towards_zero - i64::from(a.wrapping_rem(b) != 0 && (a < 0) != (b < 0)))
}

fn remainder(a: i64, b: i64, width: u32) -> Result<i64, &'static str> {
    divide(a, b, width).map(|_| a.wrapping_rem(b))
}

fn shift_left(a: i64, b: i64, width: u32) -> Result<i64, &'static str> {
    let by = mask(b, width);
    Ok(if by < width.into() { a << by } else { 0 })
}

fn shift_right(a: i64, b: i64, width: u32) -> Result<i64, &'static str> {
    let by = mask(b, width);
    Ok(if by < width.into() {
        (mask(a, width) >> by) as i64
    } else {
        0
    })
}

/// Negative powers of all but 1 and -1 are less than 1.
fn power(base: i64, exponent: i64, _: u32) -> Result<i64, &'static str> {
    let (mut result, mut square, mut left) = (1i64, base, exponent.unsigned_abs());
    match (exponent < 0, base) {
        (true, 0) => return Err(ZERO),
        (true, 1 | -1) | (false, _) => {}
        (true, _) => return Ok(0),
    }
    while left > 0 {
        if left & 1 == 1 {
            result = result.wrapping_mul(square);
        }
        square = square.wrapping_mul(square);
        left >>= 1;
    }
    Ok(result)
}

/// The width of integers.
fn width(dtype: DType) -> Result<u32, String> {
    Ok(match dtype {
        DType::I1 => 1,
        DType::I8 => 8,
        DType::I16 => 16,
        DType::I32 => 32,
        DType::I64 => 64,
        _ => return Err("integers without signs were expected".to_owned()),
    })
}

/// The elements, sign-extended, and their width.
fn wide(tensor: &Tensor) -> Result<(Vec<i64>, u32), String> {
    let width = width(tensor.dtype())?;
    let mut values = tensor.to_i64();
    if width == 1 {
        values.iter_mut().for_each(|v| *v = -*v);
    }
    Ok((values, width))
}

/// A tensor of the lowest bits.
fn narrow(like: &Tensor, mut values: Vec<i64>, dtype: DType) -> Result<Tensor, String> {
    let width = width(dtype)?;
    values.iter_mut().for_each(|v| *v = wrap(*v, width));
    let tensor = Tensor::new(like.shape(), values)?;
    match dtype {
        DType::I64 => Ok(tensor),
        _ => tensor.cast(dtype),
    }
}

/// The first of two tensors, the elements of both, and their width.
type Pairs = (Tensor, Vec<(i64, i64)>, u32);

/// The elements of two tensors of one shape.
fn pairs(inputs: Inputs) -> Result<Pairs, String> {
    let [x, y] = take(inputs)?;
    if x.shape() != y.shape() || x.dtype() != y.dtype() {
        return Err("the operands must have one type".to_owned());
    }
    let ((a, width), (b, _)) = (wide(&x)?, wide(&y)?);
    Ok((x, a.into_iter().zip(b).collect(), width))
}

fn integers(f: Binary) -> Result<Kernel, String> {
    Ok(Box::new(move |inputs| {
        let (like, pairs, width) = pairs(inputs)?;
        let values = pairs
            .into_iter()
            .map(|(a, b)| f(a, b, width))
            .collect::<Result<_, _>>()?;
        one(narrow(&like, values, like.dtype())?)
    }))
}

fn unary(f: fn(i64, u32) -> i64) -> Result<Kernel, String> {
    Ok(Box::new(move |inputs| {
        let [x] = take(inputs)?;
        let (values, width) = wide(&x)?;
        let values = values.into_iter().map(|a| f(a, width)).collect();
        one(narrow(&x, values, x.dtype())?)
    }))
}

fn convert(s: &Spec<'_>, f: fn(i64, u32) -> i64) -> Result<Kernel, String> {
    let dtype = s.result_dtype(0)?;
    width(dtype)?;
    Ok(Box::new(move |inputs| {
        let [x] = take(inputs)?;
        let (values, width) = wide(&x)?;
        let values = values.into_iter().map(|a| f(a, width)).collect();
        one(narrow(&x, values, dtype)?)
    }))
}

/// The number in `arith` of the relation of an `index.cmp`.
fn relation(s: &Spec<'_>) -> Option<i64> {
    let AttrData::Opaque(text) = s.view.ctx.attr_data(s.view.attr("pred")?) else {
        return None;
    };
    let word = text.trim_end_matches([')', '>']).rsplit([' ', '<', '(']).next()?;
    let words = ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"];
    words.iter().position(|&relation| relation == word).map(|at| at as i64)
}

fn compare(predicate: i64) -> Result<Kernel, String> {
    let holds: fn(Ordering) -> bool = match predicate {
        0 => Ordering::is_eq,
        1 => Ordering::is_ne,
        2 | 6 => Ordering::is_lt,
        3 | 7 => Ordering::is_le,
        4 | 8 => Ordering::is_gt,
        5 | 9 => Ordering::is_ge,
        _ => return Err("there is no such relation".to_owned()),
    };
    Ok(Box::new(move |inputs| {
        let (like, pairs, width) = pairs(inputs)?;
        let order = |(a, b): (i64, i64)| match predicate {
            6.. => mask(a, width).cmp(&mask(b, width)),
            _ => a.cmp(&b),
        };
        one(Tensor::new(
            like.shape(),
            pairs.into_iter().map(|pair| holds(order(pair))).collect(),
        )?)
    }))
}

fn add_extended(inputs: Inputs) -> Result<crate::kernels::Outputs, String> {
    let (like, pairs, width) = pairs(inputs)?;
    let sum = |&(a, b): &(i64, i64)| u128::from(mask(a, width)) + u128::from(mask(b, width));
    let low = narrow(&like, pairs.iter().map(|pair| sum(pair) as i64).collect(), like.dtype())?;
    let overflow = Tensor::new(like.shape(), pairs.iter().map(|pair| sum(pair) >> width != 0).collect())?;
    Ok([low, overflow].into_iter().collect())
}

fn mul_extended(inputs: Inputs, wide: fn(i64, u32) -> i128) -> Result<crate::kernels::Outputs, String> {
    let (like, pairs, width) = pairs(inputs)?;
    // The product of two numbers of 64 bits without signs may have 128 bits.
    let product = |&(a, b): &(i64, i64)| wide(a, width).wrapping_mul(wide(b, width)) as u128;
    let part = |shift: u32| pairs.iter().map(|pair| (product(pair) >> shift) as i64).collect();
    let (low, high) = (part(0), part(width));
    Ok([narrow(&like, low, like.dtype())?, narrow(&like, high, like.dtype())?]
        .into_iter()
        .collect())
}

fn to_float(s: &Spec<'_>, f: fn(i64, u32) -> i128) -> Result<Kernel, String> {
    let dtype = s.result_dtype(0)?;
    Ok(Box::new(move |inputs| {
        let [x] = take(inputs)?;
        let (values, width) = wide(&x)?;
        let values = values.into_iter().map(|a| f(a, width));
        one(match dtype {
            DType::F64 => Tensor::new(x.shape(), values.map(|v| v as f64).collect())?,
            DType::F32 => Tensor::new(x.shape(), values.map(|v| v as f32).collect())?,
            DType::F16 => Tensor::new(x.shape(), values.map(|v| f16::from_f64(v as f64)).collect())?,
            DType::BF16 => Tensor::new(x.shape(), values.map(|v| bf16::from_f64(v as f64)).collect())?,
            _ => return Err("a floating-point number was expected".to_owned()),
        })
    }))
}

fn from_float(s: &Spec<'_>, f: fn(f64, u32) -> i64) -> Result<Kernel, String> {
    let dtype = s.result_dtype(0)?;
    let bits = width(dtype)?;
    Ok(Box::new(move |inputs| {
        let [x] = take(inputs)?;
        let values = x.to_f64().into_iter().map(|v| f(v, bits)).collect();
        one(narrow(&x, values, dtype)?)
    }))
}
