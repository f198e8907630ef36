//! The elements of a tensor as bytes, in row-major and little-endian order.

use half::{bf16, f16};
use pir_interp::tensor::{Complex, Data, checked_count};
use pir_interp::{DType, Tensor};

/// Decodes a tensor from the beginning of `bytes`.
pub(super) fn read(dtype: DType, shape: &[usize], bytes: &[u8]) -> Result<Tensor, String> {
    let expected = checked_count(shape, dtype.size())? * dtype.size();
    let bytes = bytes
        .get(..expected)
        .ok_or_else(|| format!("it ends after {} of {expected} bytes", bytes.len()))?;
    // Checks the budget; the tensor reserves its own memory when it is created.
    drop(pir_ir::budget::reserve(expected)?);
    macro_rules! read {
        ($ty:ty) => {
            Tensor::new(
                shape,
                bytes
                    .as_chunks()
                    .0
                    .iter()
                    .map(|&chunk| <$ty>::from_le_bytes(chunk))
                    .collect::<Vec<$ty>>(),
            )
        };
    }
    macro_rules! complex {
        ($ty:ty) => {{
            let parts = bytes.as_chunks().0.iter().map(|&chunk| <$ty>::from_le_bytes(chunk));
            let parts: Vec<$ty> = parts.collect();
            let numbers = parts.as_chunks().0.iter().map(|&[re, im]| Complex::new(re, im));
            Tensor::new(shape, numbers.collect::<Vec<Complex<$ty>>>())
        }};
    }
    match dtype {
        DType::I1 => Tensor::new(shape, bytes.iter().map(|&byte| byte != 0).collect::<Vec<bool>>()),
        DType::UI8 => Tensor::new(shape, bytes.to_vec()),
        DType::I8 => read!(i8),
        DType::UI16 => read!(u16),
        DType::UI32 => read!(u32),
        DType::UI64 => read!(u64),
        DType::I16 => read!(i16),
        DType::I32 => read!(i32),
        DType::I64 => read!(i64),
        DType::F16 => read!(f16),
        DType::BF16 => read!(bf16),
        DType::F32 => read!(f32),
        DType::F64 => read!(f64),
        DType::C64 => complex!(f32),
        DType::C128 => complex!(f64),
    }
}

/// Appends the elements of a tensor.
pub(super) fn write(tensor: &Tensor, out: &mut Vec<u8>) {
    macro_rules! write {
        ($values:expr) => {
            out.extend($values.iter().flat_map(|value| value.to_le_bytes()))
        };
    }
    macro_rules! write_parts {
        ($values:expr) => {
            out.extend(
                $values
                    .iter()
                    .flat_map(|value| [value.re.to_le_bytes(), value.im.to_le_bytes()])
                    .flatten(),
            )
        };
    }
    match tensor.data() {
        Data::I1(values) => out.extend(values.iter().map(|&value| u8::from(value))),
        Data::UI8(values) => out.extend_from_slice(values),
        Data::I8(values) => write!(values),
        Data::UI16(values) => write!(values),
        Data::UI32(values) => write!(values),
        Data::UI64(values) => write!(values),
        Data::I16(values) => write!(values),
        Data::I32(values) => write!(values),
        Data::I64(values) => write!(values),
        Data::F16(values) => write!(values),
        Data::BF16(values) => write!(values),
        Data::F32(values) => write!(values),
        Data::F64(values) => write!(values),
        Data::C64(values) => write_parts!(values),
        Data::C128(values) => write_parts!(values),
    }
}
