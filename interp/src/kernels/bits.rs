//! Kernels of bits: shifts, counts, other types of the same bits.

use std::cmp::Ordering;

use half::{bf16, f16};
use pir_dialects::stablehlo::{chlo, ops};
use pir_ir::DYNAMIC;

use super::broadcast::{map, zip_in_place};
use super::{Kernel, Prepare, Spec, one, take};
use crate::tensor::buffer::gathered;
use crate::tensor::{DType, Data, Element, Shape, Tensor};

pub(super) const KERNELS: &[(&str, Prepare)] = &[
    (ops::ShiftLeft::NAME, |_| {
        shift(|v, by, _, width| if by < width { v << by } else { 0 })
    }),
    (ops::ShiftRightLogical::NAME, |_| {
        shift(|v, by, _, width| if by < width { v >> by } else { 0 })
    }),
    (ops::ShiftRightArithmetic::NAME, |_| {
        shift(|_, by, signed, width| (signed >> by.min(width - 1)) as u64)
    }),
    (ops::Popcnt::NAME, |_| count(|v, _| v.count_ones())),
    (ops::CountLeadingZeros::NAME, |_| {
        count(|v, width| v.leading_zeros() + width - 64)
    }),
    (ops::BitcastConvert::NAME, bitcast),
    (chlo::NextAfter::NAME, |_| {
        Ok(Box::new(|inputs| {
            let [x, y] = take(inputs)?;
            one(match x.data() {
                Data::F64(_) => zip_in_place(x, y, next_after64)?,
                Data::F32(_) => zip_in_place(x, y, next_after32)?,
                _ => return Err("the operands must have element type `f32` or `f64`".to_owned()),
            })
        }))
    }),
    (ops::ReducePrecision::NAME, |s| {
        let (exponent, mantissa) = (s.int("exponent_bits", 8), s.int("mantissa_bits", 23));
        if !(1..=63).contains(&exponent) || !(0..=63).contains(&mantissa) {
            return Err("the bit widths are out of range".to_owned());
        }
        Ok(Box::new(move |inputs| {
            let [x] = take(inputs)?;
            let (shape, data) = x.into_parts();
            let round = |v: f64, own| reduced(v, exponent as i32, (mantissa as u32).min(own));
            let data = match data {
                Data::F64(_) => map(data, |v: f64| round(v, 52))?,
                Data::F32(_) => map(data, |v: f32| round(v.into(), 23) as f32)?,
                Data::F16(_) => map(data, |v: f16| f16::from_f64(round(v.into(), 10)))?,
                Data::BF16(_) => map(data, |v: bf16| bf16::from_f64(round(v.into(), 7)))?,
                _ => return Err("the operand must have a float element type".to_owned()),
            };
            one(Tensor::from_parts(shape, data))
        }))
    }),
];

/// Runs the same code for integers of each type.
macro_rules! integers {
    ($data:expr, $map:ident) => {
        match $data {
            Data::I8(_) => $map!(i8, u8),
            Data::I16(_) => $map!(i16, u16),
            Data::I32(_) => $map!(i32, u32),
            Data::I64(_) => $map!(i64, u64),
            Data::UI8(_) => $map!(u8, u8),
            Data::UI16(_) => $map!(u16, u16),
            Data::UI32(_) => $map!(u32, u32),
            Data::UI64(_) => $map!(u64, u64),
            _ => return Err("the operands must have an integer element type".to_owned()),
        }
    };
}

/// A function of the bits, the number to shift by, the bits under copies of the highest one, and their number.
fn shift(f: fn(u64, u32, i64, u32) -> u64) -> Result<Kernel, String> {
    Ok(Box::new(move |inputs| {
        let [x, y] = take(inputs)?;
        macro_rules! each {
            ($ty:ty, $bits:ty) => {
                zip_in_place(x, y, |a: $ty, b: $ty| {
                    let by = u32::try_from(b as $bits).unwrap_or(u32::MAX);
                    // An arithmetic shift is one of signed numbers, whatever the type is.
                    let width = <$ty>::BITS;
                    let signed = ((a as u64) << (64 - width)) as i64 >> (64 - width);
                    f((a as $bits).into(), by, signed, width) as $ty
                })
            };
        }
        one(integers!(x.data(), each)?)
    }))
}

/// A number of bits.
fn count(f: fn(u64, u32) -> u32) -> Result<Kernel, String> {
    Ok(Box::new(move |inputs| {
        let [x] = take(inputs)?;
        let (shape, data) = x.into_parts();
        macro_rules! each {
            ($ty:ty, $bits:ty) => {
                map(data, |v: $ty| f((v as $bits).into(), <$ty>::BITS) as $ty)
            };
        }
        one(Tensor::from_parts(shape, integers!(&data, each)?))
    }))
}

/// Bits are not read as complex numbers.
const NO_BITS: &str = "bit casts of complex numbers are not supported";

/// The bits of all elements, the lowest first, as elements of another type: of a larger one those of a line make one, and the other
/// way round.
fn bitcast(s: &Spec<'_>) -> Result<Kernel, String> {
    let dtype = s.result_dtype(0)?;
    let dims = s
        .view
        .result_type(0)
        .and_then(|ty| s.view.ctx.as_tensor(ty))
        .map(|tensor| tensor.0);
    let dims = dims
        .filter(|dims| !dims.contains(&DYNAMIC))
        .ok_or("the shape of the result must be static")?;
    let shape: Shape = dims.iter().map(|&dim| dim as usize).collect();
    Ok(Box::new(move |inputs| {
        let [x] = take(inputs)?;
        if x.bytes() != shape.iter().product::<usize>() * dtype.size() {
            return Err("operand and result do not have the same number of bits".to_owned());
        }
        let bytes = bytes_of(&x);
        macro_rules! read {
            ($ty:ty) => {
                <$ty>::wrap(gathered(
                    bytes
                        .as_chunks()
                        .0
                        .iter()
                        .map(|&chunk| <$ty>::from_le_bytes(chunk)),
                )?)
            };
        }
        let data = match dtype {
            DType::I1 => bool::wrap(gathered(bytes.iter().map(|&byte| byte != 0))?),
            DType::I8 => read!(i8),
            DType::I16 => read!(i16),
            DType::I32 => read!(i32),
            DType::I64 => read!(i64),
            DType::UI8 => read!(u8),
            DType::UI16 => read!(u16),
            DType::UI32 => read!(u32),
            DType::UI64 => read!(u64),
            DType::F16 => read!(f16),
            DType::BF16 => read!(bf16),
            DType::F32 => read!(f32),
            DType::F64 => read!(f64),
            DType::C64 | DType::C128 => return Err(NO_BITS.to_owned()),
        };
        one(Tensor::from_parts(shape.clone(), data))
    }))
}

fn bytes_of(x: &Tensor) -> Vec<u8> {
    macro_rules! bytes {
        ($values:expr) => {
            $values.iter().flat_map(|v| v.to_le_bytes()).collect()
        };
    }
    match x.data() {
        // They are not cast to other types.
        Data::C64(_) | Data::C128(_) => Vec::new(),
        Data::I1(values) => values.iter().map(|&v| u8::from(v)).collect(),
        Data::I8(values) => bytes!(values),
        Data::I16(values) => bytes!(values),
        Data::I32(values) => bytes!(values),
        Data::I64(values) => bytes!(values),
        Data::UI8(values) => values.to_vec(),
        Data::UI16(values) => bytes!(values),
        Data::UI32(values) => bytes!(values),
        Data::UI64(values) => bytes!(values),
        Data::F16(values) => bytes!(values),
        Data::BF16(values) => bytes!(values),
        Data::F32(values) => bytes!(values),
        Data::F64(values) => bytes!(values),
    }
}

macro_rules! next_after {
    ($name:ident, $ty:ty) => {
        /// The next number in the direction of another.
        fn $name(from: $ty, to: $ty) -> $ty {
            match from.partial_cmp(&to) {
                None => <$ty>::NAN,
                Some(Ordering::Equal) => to,
                Some(Ordering::Less) => from.next_up(),
                Some(Ordering::Greater) => from.next_down(),
            }
        }
    };
}

next_after!(next_after32, f32);
next_after!(next_after64, f64);

/// A number rounded to a float with fewer bits, halves to the even one. What is too large is infinite, and what is smaller than the
/// least normal number zero.
fn reduced(value: f64, exponent: i32, mantissa: u32) -> f64 {
    if !value.is_finite() || value == 0.0 {
        return value;
    }
    let drop = 52 - mantissa;
    let bits = value.to_bits();
    let rounded = match drop {
        0 => value,
        _ => {
            let last = bits >> drop & 1;
            let half = (1u64 << (drop - 1)) - 1;
            f64::from_bits((bits + half + last) & !((1 << drop) - 1))
        }
    };
    if exponent >= 11 {
        return rounded;
    }
    let bias = (1i32 << (exponent - 1)) - 1;
    let power = (rounded.to_bits() >> 52 & 0x7ff) as i32 - 1023;
    match power {
        _ if power > bias => f64::INFINITY.copysign(value),
        _ if power < 1 - bias => 0f64.copysign(value),
        _ => rounded,
    }
}
