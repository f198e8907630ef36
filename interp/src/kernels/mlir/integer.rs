//! Integers: each element is sign-extended to 64 bits, and the result wrapped to the width of the type.

use std::cell::Cell;
use std::cmp::Ordering;

use half::{bf16, f16};
use pir_dialects::mlir::{arith, index, math};
use pir_ir::AttrData;

use super::{alike, each};
use crate::kernels::broadcast::{map, zip, zip_in_place};
use crate::kernels::{Inputs, Kernel, Outputs, Prepare, Spec, one, take};
use crate::tensor::{DType, Element, Tensor};

/// An operation on two integers of a width, or the reason why it has no result.
type Binary = fn(i64, i64, u32) -> Result<i64, &'static str>;

const ZERO: &str = "division by zero";
const OVERFLOW: &str = "the quotient does not fit";

/// The function of two operands, for each operation that computes it.
macro_rules! binary {
    ($($($op:path),+ => $f:expr;)*) => { &[$($((<$op>::NAME, |_| integers($f))),+),*] };
}

const BINARY: &[(&str, Prepare)] = binary! {
    arith::Addi, index::Add => |a, b, _| Ok(a.wrapping_add(b));
    arith::Subi, index::Sub => |a, b, _| Ok(a.wrapping_sub(b));
    arith::Muli, index::Mul => |a, b, _| Ok(a.wrapping_mul(b));
    arith::Divsi, index::Divs => divide;
    arith::Divui, index::Divu => |a, b, w| unsigned(a, b, w, |a, b| a.checked_div(b));
    arith::Ceildivsi, index::Ceildivs => ceil_divide;
    arith::Ceildivui, index::Ceildivu => |a, b, w| unsigned(a, b, w, |a, b| (b != 0).then(|| a.div_ceil(b)));
    arith::Floordivsi, index::Floordivs => floor_divide;
    arith::Remsi, index::Rems => remainder;
    arith::Remui, index::Remu => |a, b, w| unsigned(a, b, w, |a, b| a.checked_rem(b));
    arith::Andi, index::And => |a, b, _| Ok(a & b);
    arith::Ori, index::Or => |a, b, _| Ok(a | b);
    arith::Xori, index::Xor => |a, b, _| Ok(a ^ b);
    arith::Shli, index::Shl => shift_left;
    arith::Shrsi, index::Shrs => |a, b, w| Ok(a >> mask(b, w).min(63));
    arith::Shrui, index::Shru => shift_right;
    arith::Maxsi, index::Maxs => |a, b, _| Ok(a.max(b));
    arith::Minsi, index::Mins => |a, b, _| Ok(a.min(b));
    arith::Maxui, index::Maxu => |a, b, w| unsigned(a, b, w, |a, b| Some(a.max(b)));
    arith::Minui, index::Minu => |a, b, w| unsigned(a, b, w, |a, b| Some(a.min(b)));
    math::Ipowi => power;
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

/// A signless integer type.
trait Whole: Element {
    const WIDTH: u32;

    /// The number with a sign.
    fn wide(self) -> i64 {
        self.to_i64()
    }

    /// The number that the lowest bits are.
    fn narrow(value: i64) -> Self {
        Self::from_i64(wrap(value, Self::WIDTH))
    }
}

impl Whole for bool {
    const WIDTH: u32 = 1;

    fn wide(self) -> i64 {
        -i64::from(self)
    }
}

impl Whole for i8 {
    const WIDTH: u32 = 8;
}

impl Whole for i16 {
    const WIDTH: u32 = 16;
}

impl Whole for i32 {
    const WIDTH: u32 = 32;
}

impl Whole for i64 {
    const WIDTH: u32 = 64;
}

/// Runs the same code for integers of each width.
macro_rules! each_width {
    ($dtype:expr, $ty:ident => $body:expr) => {{
        macro_rules! with {
            ($actual:ty) => {{
                type $ty = $actual;
                $body
            }};
        }
        match $dtype {
            DType::I1 => with!(bool),
            DType::I8 => with!(i8),
            DType::I16 => with!(i16),
            DType::I32 => with!(i32),
            DType::I64 => with!(i64),
            _ => Err("signless integers were expected".to_owned()),
        }
    }};
}

/// Runs the same code for floating-point numbers of each width.
macro_rules! each_float {
    ($dtype:expr, $ty:ident => $body:expr) => {{
        macro_rules! with {
            ($actual:ty) => {{
                type $ty = $actual;
                $body
            }};
        }
        match $dtype {
            DType::F64 => with!(f64),
            DType::F32 => with!(f32),
            DType::F16 => with!(f16),
            DType::BF16 => with!(bf16),
            _ => Err("a floating-point number was expected".to_owned()),
        }
    }};
}

fn integers(f: Binary) -> Result<Kernel, String> {
    fn combined<T: Whole>(x: Tensor, y: Tensor, f: Binary) -> Result<Tensor, String> {
        // The error of an element is reported at the end: the loop has no early exit.
        let failure = Cell::new(None);
        let z = zip_in_place(x, y, |a: T, b: T| {
            T::narrow(f(a.wide(), b.wide(), T::WIDTH).unwrap_or_else(|error| {
                failure.set(Some(error));
                0
            }))
        })?;
        failure.get().map_or(Ok(z), |error| Err(error.to_owned()))
    }
    Ok(Box::new(move |inputs| {
        let [x, y] = alike(inputs)?;
        one(each_width!(x.dtype(), T => combined::<T>(x, y, f))?)
    }))
}

fn unary(f: fn(i64, u32) -> i64) -> Result<Kernel, String> {
    Ok(Box::new(move |inputs| {
        let [x] = take(inputs)?;
        let (dtype, (shape, data)) = (x.dtype(), x.into_parts());
        let data = each_width!(dtype, T => map(data, |a: T| T::narrow(f(a.wide(), T::WIDTH))))?;
        one(Tensor::from_parts(shape, data))
    }))
}

fn convert(s: &Spec<'_>, f: fn(i64, u32) -> i64) -> Result<Kernel, String> {
    fn converted<T: Whole>(x: &Tensor, dtype: DType, f: fn(i64, u32) -> i64) -> Result<Tensor, String> {
        each_width!(dtype, U => each(x, |a: T| U::narrow(f(a.wide(), T::WIDTH))))
    }
    let dtype = s.result_dtype(0)?;
    Ok(Box::new(move |inputs| {
        let [x] = take(inputs)?;
        one(each_width!(x.dtype(), T => converted::<T>(&x, dtype, f))?)
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
        _ => return Err("the predicate is unknown".to_owned()),
    };
    Ok(Box::new(move |inputs| {
        let [x, y] = alike(inputs)?;
        one(each_width!(x.dtype(), T => zip(&x, &y, |a: T, b: T| {
            let (a, b) = (a.wide(), b.wide());
            holds(match predicate {
                6.. => mask(a, T::WIDTH).cmp(&mask(b, T::WIDTH)),
                _ => a.cmp(&b),
            })
        }))?)
    }))
}

fn add_extended(inputs: Inputs) -> Result<Outputs, String> {
    fn added<T: Whole>(x: Tensor, y: Tensor) -> Result<Outputs, String> {
        let sum = |a: T, b: T| u128::from(mask(a.wide(), T::WIDTH)) + u128::from(mask(b.wide(), T::WIDTH));
        let overflow = zip(&x, &y, |a, b| sum(a, b) >> T::WIDTH != 0)?;
        let low = zip_in_place(x, y, |a, b| T::narrow(sum(a, b) as i64))?;
        Ok(Outputs::from_iter([low, overflow]))
    }
    let [x, y] = alike(inputs)?;
    each_width!(x.dtype(), T => added::<T>(x, y))
}

fn mul_extended(inputs: Inputs, wide: fn(i64, u32) -> i128) -> Result<Outputs, String> {
    fn multiplied<T: Whole>(x: Tensor, y: Tensor, wide: fn(i64, u32) -> i128) -> Result<Outputs, String> {
        // The product of two numbers of 64 bits without signs may have 128 bits.
        let product = |a: T, b: T| wide(a.wide(), T::WIDTH).wrapping_mul(wide(b.wide(), T::WIDTH)) as u128;
        let high = zip(&x, &y, |a, b| T::narrow((product(a, b) >> T::WIDTH) as i64))?;
        let low = zip_in_place(x, y, |a, b| T::narrow(product(a, b) as i64))?;
        Ok(Outputs::from_iter([low, high]))
    }
    let [x, y] = alike(inputs)?;
    each_width!(x.dtype(), T => multiplied::<T>(x, y, wide))
}

/// A floating-point number that integers are rounded to, once.
trait Rounded: Element {
    fn rounded(value: i128) -> Self;
}

impl Rounded for f64 {
    fn rounded(value: i128) -> f64 {
        value as f64
    }
}

impl Rounded for f32 {
    fn rounded(value: i128) -> f32 {
        value as f32
    }
}

impl Rounded for f16 {
    fn rounded(value: i128) -> f16 {
        f16::from_f64(value as f64)
    }
}

impl Rounded for bf16 {
    fn rounded(value: i128) -> bf16 {
        bf16::from_f64(value as f64)
    }
}

fn to_float(s: &Spec<'_>, f: fn(i64, u32) -> i128) -> Result<Kernel, String> {
    fn converted<T: Whole>(x: &Tensor, dtype: DType, f: fn(i64, u32) -> i128) -> Result<Tensor, String> {
        each_float!(dtype, U => each(x, |a: T| U::rounded(f(a.wide(), T::WIDTH))))
    }
    let dtype = s.result_dtype(0)?;
    Ok(Box::new(move |inputs| {
        let [x] = take(inputs)?;
        one(each_width!(x.dtype(), T => converted::<T>(&x, dtype, f))?)
    }))
}

fn from_float(s: &Spec<'_>, f: fn(f64, u32) -> i64) -> Result<Kernel, String> {
    fn converted<T: Element>(x: &Tensor, dtype: DType, f: fn(f64, u32) -> i64) -> Result<Tensor, String> {
        each_width!(dtype, U => each(x, |v: T| U::narrow(f(v.to_f64(), U::WIDTH))))
    }
    let dtype = s.result_dtype(0)?;
    Ok(Box::new(move |inputs| {
        let [x] = take(inputs)?;
        one(each_float!(x.dtype(), T => converted::<T>(&x, dtype, f))?)
    }))
}
