//! Element types with TensorFlow's codes, and constant tensors.

use std::borrow::Cow;

use half::{bf16, f16};
use pir_ir::{Context, FloatKind, Signedness, Type, TypeData};

use super::proto::{TensorProto, TensorShape};

/// `DT_RESOURCE`, the handles of stacks.
pub(super) const RESOURCE: i32 = 20;
/// `DT_VARIANT`, lists.
pub(super) const VARIANT: i32 = 21;
pub(super) const INT32: i32 = 3;
pub(super) const INT64: i32 = 9;
pub(super) const COMPLEX64: i32 = 8;
pub(super) const COMPLEX128: i32 = 18;
pub(super) const BOOL: i32 = 10;

/// The numbers of larger constants stay bytes.
const LISTED: usize = 1 << 10;
/// Uniform constants with more elements than this are written as one number.
const SPELLED: usize = 64;

/// The code of an element type.
pub(super) fn code(ctx: &Context, elem: Type) -> Option<i32> {
    Some(match ctx.type_data(elem) {
        TypeData::Float(kind) => match kind {
            FloatKind::F32 => 1,
            FloatKind::F64 => 2,
            FloatKind::BF16 => 14,
            FloatKind::F16 => 19,
            _ => return None,
        },
        TypeData::Integer { width, sign } => match (width, sign) {
            (1, _) => BOOL,
            (8, Signedness::Unsigned) => 4,
            (16, Signedness::Unsigned) => 17,
            (32, Signedness::Unsigned) => 22,
            (64, Signedness::Unsigned) => 23,
            (8, _) => 6,
            (16, _) => 5,
            (32, _) => INT32,
            (64, _) => INT64,
            _ => return None,
        },
        TypeData::Complex(part) => match ctx.type_data(*part) {
            TypeData::Float(FloatKind::F32) => COMPLEX64,
            TypeData::Float(FloatKind::F64) => COMPLEX128,
            _ => return None,
        },
        _ => return None,
    })
}

/// The element type of a code.
pub fn elem(ctx: &Context, code: i32) -> Option<Type> {
    let float = |kind| ctx.intern_type(TypeData::Float(kind));
    let integer = |width, sign| ctx.intern_type(TypeData::Integer { width, sign });
    Some(match code {
        1 => Type::F32,
        2 => Type::F64,
        INT32 => Type::I32,
        4 => integer(8, Signedness::Unsigned),
        5 => integer(16, Signedness::Signless),
        6 => integer(8, Signedness::Signless),
        INT64 => Type::I64,
        BOOL => Type::I1,
        14 => float(FloatKind::BF16),
        17 => integer(16, Signedness::Unsigned),
        19 => float(FloatKind::F16),
        COMPLEX64 => ctx.intern_type(TypeData::Complex(Type::F32)),
        COMPLEX128 => ctx.intern_type(TypeData::Complex(Type::F64)),
        22 => integer(32, Signedness::Unsigned),
        23 => integer(64, Signedness::Unsigned),
        _ => return None,
    })
}

/// The codes that have names are below.
pub(super) const CODES: i32 = 32;

/// The name of a code, for messages and the text form.
pub(super) fn name(code: i32) -> &'static str {
    match code {
        1 => "DT_FLOAT",
        2 => "DT_DOUBLE",
        INT32 => "DT_INT32",
        4 => "DT_UINT8",
        5 => "DT_INT16",
        6 => "DT_INT8",
        7 => "DT_STRING",
        COMPLEX64 => "DT_COMPLEX64",
        INT64 => "DT_INT64",
        BOOL => "DT_BOOL",
        14 => "DT_BFLOAT16",
        17 => "DT_UINT16",
        COMPLEX128 => "DT_COMPLEX128",
        19 => "DT_HALF",
        RESOURCE => "DT_RESOURCE",
        VARIANT => "DT_VARIANT",
        22 => "DT_UINT32",
        23 => "DT_UINT64",
        _ => "DT_INVALID",
    }
}

/// A number of a constant: integers may exceed the range of exact doubles.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Number {
    Int(i128),
    Float(f64),
}

impl Number {
    pub(super) fn f64(self) -> f64 {
        match self {
            Number::Int(value) => value as f64,
            Number::Float(value) => value,
        }
    }

    /// Whether an integer is in the range of a type.
    fn fits(self, code: i32) -> bool {
        let (low, high) = match code {
            4 => (0, u8::MAX.into()),
            5 => (i16::MIN.into(), i16::MAX.into()),
            6 => (i8::MIN.into(), i8::MAX.into()),
            17 => (0, u16::MAX.into()),
            22 => (0, u32::MAX.into()),
            23 => (0, u64::MAX.into()),
            INT32 => (i32::MIN.into(), i32::MAX.into()),
            INT64 => (i64::MIN.into(), i64::MAX.into()),
            _ => return true,
        };
        match self {
            Number::Int(value) => (low..=high).contains(&value),
            Number::Float(value) => value.is_finite() && (low..=high).contains(&(value as i128)),
        }
    }

    fn i128(self) -> i128 {
        match self {
            Number::Int(value) => value,
            Number::Float(value) => value as i128,
        }
    }

    fn bytes(self, code: i32, out: &mut Vec<u8>) {
        match code {
            1 => out.extend((self.f64() as f32).to_le_bytes()),
            2 => out.extend(self.f64().to_le_bytes()),
            14 => out.extend(bf16::from_f64(self.f64()).to_le_bytes()),
            19 => out.extend(f16::from_f64(self.f64()).to_le_bytes()),
            BOOL => out.push(u8::from(self.f64() != 0.0)),
            COMPLEX64 => [self.f64() as f32, 0.0]
                .iter()
                .for_each(|v| out.extend(v.to_le_bytes())),
            COMPLEX128 => [self.f64(), 0.0].iter().for_each(|v| out.extend(v.to_le_bytes())),
            _ => {
                let bytes = self.i128().to_le_bytes();
                out.extend(&bytes[..size(code).unwrap_or(8)]);
            }
        }
    }
}

/// The size of an element in bytes.
fn size(code: i32) -> Option<usize> {
    Some(match code {
        4 | 6 | BOOL => 1,
        5 | 14 | 17 | 19 => 2,
        1 | INT32 | 22 => 4,
        2 | INT64 | 23 | COMPLEX64 => 8,
        COMPLEX128 => 16,
        _ => return None,
    })
}

/// A tensor with one number for all elements, or one per element.
pub(super) fn tensor(code: i32, dims: &[i64], values: &[Number]) -> Result<TensorProto, String> {
    let count = dims
        .iter()
        .try_fold(1usize, |n, &d| n.checked_mul(usize::try_from(d).ok()?))
        .ok_or("its shape is unknown")?;
    if let Some(value) = values.iter().find(|v| !v.fits(code)) {
        return Err(format!("{} is no {}", value.f64(), name(code)));
    }
    let mut proto = TensorProto {
        dtype: code,
        shape: Some(TensorShape::of(dims)),
        ..TensorProto::default()
    };
    match *values {
        [value] if count > SPELLED && code != 22 && code != 23 => splat(&mut proto, value),
        [value] => (0..count).for_each(|_| value.bytes(code, &mut proto.content)),
        _ if values.len() == count => values.iter().for_each(|v| v.bytes(code, &mut proto.content)),
        _ => return Err(format!("{} numbers cannot fill {count} elements", values.len())),
    }
    Ok(proto)
}

/// A tensor of these bytes, the lowest of each number first.
pub(super) fn dense(code: i32, dims: &[i64], content: Vec<u8>) -> TensorProto {
    TensorProto {
        dtype: code,
        shape: Some(TensorShape::of(dims)),
        content,
        ..TensorProto::default()
    }
}

/// The bytes of the numbers of a tensor, if all of them are there.
pub(super) fn content(proto: &TensorProto) -> Option<Cow<'_, [u8]>> {
    if !proto.content.is_empty() {
        return Some(Cow::Borrowed(&proto.content));
    }
    let mut bytes = Vec::new();
    match proto.dtype {
        1 => bytes.extend(proto.floats.iter().flat_map(|v| v.to_le_bytes())),
        2 => bytes.extend(proto.doubles.iter().flat_map(|v| v.to_le_bytes())),
        INT64 => bytes.extend(proto.longs.iter().flat_map(|v| v.to_le_bytes())),
        code => listed(proto).into_iter().for_each(|v| v.bytes(code, &mut bytes)),
    }
    Some(Cow::Owned(bytes))
}

/// Whether a tensor is large enough to be stored as bytes, and not a splat.
fn is_dense(proto: &TensorProto, count: usize) -> bool {
    let Some(size) = size(proto.dtype).filter(|_| count > LISTED) else {
        return false;
    };
    let all = match proto.content.len() {
        0 => spelled(proto) == count,
        bytes => Some(bytes) == count.checked_mul(size),
    };
    all && content(proto).is_some_and(|bytes| bytes.len() > size && bytes[size..] != bytes[..bytes.len() - size])
}

/// How many numbers are listed.
fn spelled(proto: &TensorProto) -> usize {
    match proto.dtype {
        1 => proto.floats.len(),
        2 => proto.doubles.len(),
        14 | 19 => proto.halves.len(),
        BOOL => proto.bools.len(),
        INT64 => proto.longs.len(),
        22 => proto.unsigned.len(),
        23 => proto.unsigned_longs.len(),
        _ => proto.ints.len(),
    }
}

/// The real parts of a tensor of complex numbers, then the imaginary ones: one of each that fills it, or one per element. Nothing
/// where it holds other numbers.
pub(super) fn parts(proto: &TensorProto) -> Option<[Vec<Number>; 2]> {
    let size = match proto.dtype {
        COMPLEX64 => 4,
        COMPLEX128 => 8,
        _ => return None,
    };
    let code = if size == 4 { 1 } else { 2 };
    let all: Vec<Number> = match (proto.content.is_empty(), code) {
        (false, _) => proto
            .content
            .chunks(size)
            .map(|b| read(code, b))
            .collect::<Option<_>>()?,
        (true, 1) => proto.complexes.iter().map(|&v| Number::Float(v.into())).collect(),
        (true, _) => proto.double_complexes.iter().map(|&v| Number::Float(v)).collect(),
    };
    let of = |first: usize| all.iter().skip(first).step_by(2).copied().collect();
    Some([of(0), of(1)])
}

/// One number, which fills the tensor.
fn splat(proto: &mut TensorProto, value: Number) {
    match proto.dtype {
        1 => proto.floats.push(value.f64() as f32),
        2 => proto.doubles.push(value.f64()),
        14 => proto.halves.push(i32::from(bf16::from_f64(value.f64()).to_bits())),
        19 => proto.halves.push(i32::from(f16::from_f64(value.f64()).to_bits())),
        BOOL => proto.bools.push(value.f64() != 0.0),
        COMPLEX64 => proto.complexes.extend([value.f64() as f32, 0.0]),
        COMPLEX128 => proto.double_complexes.extend([value.f64(), 0.0]),
        INT64 => proto.longs.push(value.i128() as i64),
        _ => proto.ints.push(value.i128() as i32),
    }
}

/// The numbers of a tensor: one that fills it, or one per element; none of a large tensor, which has bytes.
pub(super) fn numbers(proto: &TensorProto) -> Option<(Vec<i64>, Vec<Number>)> {
    let dims = proto.shape.clone().unwrap_or_default().known()?;
    let count = dims
        .iter()
        .try_fold(1usize, |n, &d| n.checked_mul(usize::try_from(d).ok()?))?;
    if is_dense(proto, count) || parts(proto).is_some() {
        return Some((dims, Vec::new()));
    }
    let values: Vec<Number> = if proto.content.is_empty() {
        listed(proto)
    } else {
        let size = size(proto.dtype)?;
        (proto.content.len() == count.checked_mul(size)?).then_some(())?;
        proto
            .content
            .chunks_exact(size)
            .map(|bytes| read(proto.dtype, bytes))
            .collect::<Option<_>>()?
    };
    if values.len() > count {
        return None;
    }
    // Without any number, all are zero.
    let zero = match proto.dtype {
        1 | 2 | 14 | 19 => Number::Float(0.0),
        _ => Number::Int(0),
    };
    let first = *values.first().unwrap_or(&zero);
    if values.iter().all(|v| same(*v, first)) {
        return Some((dims, vec![first]));
    }
    // The last number is repeated for omitted elements; bounded so that a file cannot exhaust the memory.
    let mut values = values;
    if let Some(&last) = values.last()
        && values.len() < count
    {
        (count <= 1 << 20).then_some(())?;
        values.resize(count, last);
    }
    Some((dims, values))
}

pub(super) fn same(a: Number, b: Number) -> bool {
    match (a, b) {
        (Number::Float(a), Number::Float(b)) => a.to_bits() == b.to_bits(),
        _ => a == b,
    }
}

fn listed(proto: &TensorProto) -> Vec<Number> {
    let half = |&bits: &i32| {
        let bits = bits as u16;
        Number::Float(match proto.dtype {
            14 => bf16::from_bits(bits).to_f64(),
            _ => f16::from_bits(bits).to_f64(),
        })
    };
    let int = |v: i128| Number::Int(v);
    match proto.dtype {
        1 => proto.floats.iter().map(|&v| Number::Float(v.into())).collect(),
        2 => proto.doubles.iter().map(|&v| Number::Float(v)).collect(),
        14 | 19 => proto.halves.iter().map(half).collect(),
        BOOL => proto.bools.iter().map(|&v| int(v.into())).collect(),
        INT64 => proto.longs.iter().map(|&v| int(v.into())).collect(),
        22 => proto.unsigned.iter().map(|&v| int(v.into())).collect(),
        23 => proto.unsigned_longs.iter().map(|&v| int(v.into())).collect(),
        _ => proto.ints.iter().map(|&v| int(v.into())).collect(),
    }
}

fn read(code: i32, bytes: &[u8]) -> Option<Number> {
    Some(match code {
        1 => Number::Float(f32::from_le_bytes(bytes.try_into().ok()?).into()),
        2 => Number::Float(f64::from_le_bytes(bytes.try_into().ok()?)),
        14 => Number::Float(bf16::from_le_bytes(bytes.try_into().ok()?).to_f64()),
        19 => Number::Float(f16::from_le_bytes(bytes.try_into().ok()?).to_f64()),
        BOOL => Number::Int((*bytes.first()? != 0).into()),
        4 => Number::Int((*bytes.first()?).into()),
        6 => Number::Int((*bytes.first()? as i8).into()),
        5 => Number::Int(i16::from_le_bytes(bytes.try_into().ok()?).into()),
        17 => Number::Int(u16::from_le_bytes(bytes.try_into().ok()?).into()),
        INT32 => Number::Int(i32::from_le_bytes(bytes.try_into().ok()?).into()),
        22 => Number::Int(u32::from_le_bytes(bytes.try_into().ok()?).into()),
        INT64 => Number::Int(i64::from_le_bytes(bytes.try_into().ok()?).into()),
        23 => Number::Int(u64::from_le_bytes(bytes.try_into().ok()?).into()),
        _ => return None,
    })
}
