//! `.safetensors`.

use safetensors::{Dtype, SafeTensors};

use super::{Array, Element};

/// Reads all arrays of a file, by name.
pub(super) fn read(bytes: &[u8]) -> Result<Vec<(String, Array)>, String> {
    let file = SafeTensors::deserialize(bytes).map_err(|e| e.to_string())?;
    let mut arrays = Vec::new();
    for (name, view) in file.tensors() {
        let element = match view.dtype() {
            Dtype::BOOL => Element::Bool,
            Dtype::I8 => Element::I8,
            Dtype::I16 => Element::I16,
            Dtype::I32 => Element::I32,
            Dtype::I64 => Element::I64,
            Dtype::U8 => Element::U8,
            Dtype::F16 => Element::F16,
            Dtype::BF16 => Element::BF16,
            Dtype::F32 => Element::F32,
            Dtype::F64 => Element::F64,
            other => {
                return Err(format!(
                    "`{name}` has elements of the type {other:?}, which tensors have not"
                ));
            }
        };
        let array = Array {
            element,
            shape: view.shape().to_vec(),
            data: view.data().to_vec(),
        };
        arrays.push((name, array));
    }
    arrays.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(arrays)
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
        let expected = Array {
            element: Element::F32,
            shape: vec![2, 1],
            data,
        };
        assert_eq!(read(&bytes).unwrap(), [("x".to_owned(), expected)]);
        assert!(read(b"text").is_err());
        assert!(read(b"").is_err());
    }
}
