//! `.safetensors`.

use pir_interp::{DType, Tensor};
use safetensors::{Dtype, SafeTensors};

use super::bytes;

/// Reads all tensors of a file, by name.
pub(super) fn read(file: &[u8]) -> Result<Vec<(String, Tensor)>, String> {
    let file = SafeTensors::deserialize(file).map_err(|e| e.to_string())?;
    let mut tensors = Vec::new();
    for (name, view) in file.tensors() {
        let dtype = match view.dtype() {
            Dtype::BOOL => DType::I1,
            Dtype::I8 => DType::I8,
            Dtype::I16 => DType::I16,
            Dtype::I32 => DType::I32,
            Dtype::I64 => DType::I64,
            Dtype::U8 => DType::UI8,
            Dtype::U16 => DType::UI16,
            Dtype::U32 => DType::UI32,
            Dtype::U64 => DType::UI64,
            Dtype::F16 => DType::F16,
            Dtype::BF16 => DType::BF16,
            Dtype::F32 => DType::F32,
            Dtype::F64 => DType::F64,
            other => {
                return Err(format!("the element type {other:?} of `{name}` is not supported"));
            }
        };
        let tensor = bytes::read(dtype, view.shape(), view.data()).map_err(|e| format!("`{name}`: {e}"))?;
        tensors.push((name, tensor));
    }
    tensors.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(tensors)
}

#[cfg(test)]
mod tests {
    use super::*;
    use safetensors::tensor::{TensorView, serialize};

    #[test]
    fn files_are_read() {
        let data = [1.5f32, -2.0].map(f32::to_le_bytes).concat();
        let view = TensorView::new(Dtype::F32, vec![2, 1], &data).unwrap();
        let bytes = serialize([("x", view)], None).unwrap();
        let tensors = read(&bytes).unwrap();
        assert_eq!(tensors[0].0, "x");
        assert!(
            tensors[0]
                .1
                .same_bits(&Tensor::new(&[2, 1], vec![1.5f32, -2.0]).unwrap())
        );
        assert!(read(b"text").is_err());
        assert!(read(b"").is_err());
    }
}
