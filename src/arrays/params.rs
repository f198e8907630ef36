//! `.pdiparams`: the parameters of a program that PaddlePaddle saved, without their names.
//!
//! Tensors follow each other. Each begins with a version, levels of details that are not used any more, and another
//! version, and has a description, a protobuf message `{1: element type, 2: dimensions}`, before its elements.

use pir_interp::{DType, Tensor};
use pir_translate::Cursor;

use super::bytes;

/// The beginning of a file: the version 0 and no levels. No other kind of file does.
const MAGIC: &[u8] = &[0; 12];

/// Whether a file is of this kind.
pub(super) fn is(file: &[u8]) -> bool {
    file.starts_with(MAGIC)
}

/// Reads all tensors of a file.
pub(super) fn read(file: &[u8]) -> Result<Vec<Tensor>, String> {
    let mut rest = Cursor(file);
    let mut tensors = Vec::new();
    while !rest.0.is_empty() {
        let tensor = tensor(&mut rest).map_err(|problem| format!("tensor {}: {problem}", tensors.len()))?;
        tensors.push(tensor);
    }
    Ok(tensors)
}

fn tensor(rest: &mut Cursor<'_>) -> Result<Tensor, String> {
    for (what, size) in [("version", 4), ("number of levels", 8), ("version of the tensor", 4)] {
        if take(rest, size)?.iter().any(|&byte| byte != 0) {
            return Err(format!("its {what} is not 0"));
        }
    }
    let size = take(rest, 4)?.try_into().map_or(0, u32::from_le_bytes);
    let (dtype, shape) = description(take(rest, size as usize)?)?;
    let tensor = bytes::read(dtype, &shape, rest.0)?;
    take(rest, tensor.len() * dtype.size())?;
    Ok(tensor)
}

fn take<'a>(rest: &mut Cursor<'a>, size: usize) -> Result<&'a [u8], String> {
    rest.take(size).ok_or_else(|| "the file ends in it".to_owned())
}

/// The element type and the dimensions.
fn description(message: &[u8]) -> Result<(DType, Vec<usize>), String> {
    let (mut dtype, mut shape) = (None, Vec::new());
    let mut message = Cursor(message);
    while !message.0.is_empty() {
        match varint(&mut message)? {
            // Field 1 and field 2, as numbers, and field 2 as a packed list.
            0x08 => dtype = Some(element(varint(&mut message)?)?),
            0x10 => shape.push(dimension(varint(&mut message)?)?),
            0x12 => {
                let size = varint(&mut message)?;
                let mut list = Cursor(take(&mut message, usize::try_from(size).unwrap_or(usize::MAX))?);
                while !list.0.is_empty() {
                    shape.push(dimension(varint(&mut list)?)?);
                }
            }
            key => return Err(format!("its description has an unknown field {}", key >> 3)),
        }
    }
    Ok((dtype.ok_or("its description has no element type")?, shape))
}

fn dimension(value: u64) -> Result<usize, String> {
    usize::try_from(value)
        .ok()
        .filter(|&dim| isize::try_from(dim).is_ok())
        .ok_or_else(|| "it has a negative dimension".to_owned())
}

fn varint(rest: &mut Cursor<'_>) -> Result<u64, String> {
    let number = rest.varint();
    number.ok_or_else(|| "its description has a truncated or oversized number".to_owned())
}

/// PaddlePaddle's numbers of element types (`VarType.Type`).
fn element(number: u64) -> Result<DType, String> {
    Ok(match number {
        0 => DType::I1,
        1 => DType::I16,
        2 => DType::I32,
        3 => DType::I64,
        4 => DType::F16,
        5 => DType::F32,
        6 => DType::F64,
        20 => DType::UI8,
        21 => DType::I8,
        22 => DType::BF16,
        other => return Err(format!("its element type {other} is not supported")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A vector of 2 floats as PaddlePaddle saves it.
    fn file() -> Vec<u8> {
        let mut bytes = vec![0; 16];
        bytes.extend([4, 0, 0, 0, 0x08, 5, 0x10, 2]);
        bytes.extend([1.5f32, -2.0].map(f32::to_le_bytes).concat());
        bytes
    }

    #[test]
    fn files_are_read() {
        let twice = [file(), file()].concat();
        assert!(is(&twice));
        let tensors = read(&twice).unwrap();
        assert_eq!(tensors.len(), 2);
        assert!(tensors[1].same_bits(&Tensor::new(&[2], vec![1.5f32, -2.0]).unwrap()));
    }

    #[test]
    fn errors_tell_which_tensor() {
        let whole = file();
        for end in 1..whole.len() {
            assert!(read(&whole[..end]).is_err(), "{end}");
        }
        let mut other = whole.clone();
        other[21] = 23;
        assert_eq!(
            read(&[whole, other].concat()).unwrap_err(),
            "tensor 1: its element type 23 is not supported"
        );
    }
}
