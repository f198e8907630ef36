//! Arrays in files: numpy's `.npz` and `.safetensors`.

mod npy;
mod npz;
mod numbers;
mod tensors;

use std::path::Path;

use pir_ir::Diagnostic;

pub use npz::write as write_npz;
pub use numbers::Number;

/// The type of the elements of an array.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Element {
    /// Truth values, a byte each.
    Bool,
    /// Signed integers of 8 bits.
    I8,
    /// Signed integers of 16 bits.
    I16,
    /// Signed integers of 32 bits.
    I32,
    /// Signed integers of 64 bits.
    I64,
    /// Unsigned integers of 8 bits.
    U8,
    /// IEEE half precision.
    F16,
    /// The upper half of an `f32`.
    BF16,
    /// IEEE single precision.
    F32,
    /// IEEE double precision.
    F64,
}

impl Element {
    /// Bytes.
    pub fn size(self) -> usize {
        match self {
            Element::Bool | Element::I8 | Element::U8 => 1,
            Element::I16 | Element::F16 | Element::BF16 => 2,
            Element::I32 | Element::F32 => 4,
            Element::I64 | Element::F64 => 8,
        }
    }
}

/// An array of numbers.
#[derive(Clone, PartialEq, Debug)]
pub struct Array {
    /// The type of the elements.
    pub element: Element,
    /// The extents.
    pub shape: Vec<usize>,
    /// The elements, the last dimension running fastest, in little-endian order.
    pub data: Vec<u8>,
}

/// The bytes that an array of this shape has; `None` when there is no such number.
fn byte_len(element: Element, shape: &[usize]) -> Option<usize> {
    shape
        .iter()
        .try_fold(element.size(), |product, &extent| product.checked_mul(extent))
}

/// Reads all arrays of a file, in its order: `.npz` or `.safetensors`, told by the content.
///
/// # Errors
/// The reason why it cannot be read, for the user.
pub fn read_arrays(path: &str) -> Result<Vec<(String, Array)>, Diagnostic> {
    let bytes = crate::source::read_file(path)?;
    let result = if bytes.starts_with(b"PK") {
        npz::read(&bytes)
    } else if bytes.starts_with(npy::MAGIC) {
        let stem = Path::new(path).file_stem().unwrap_or_default();
        npy::read(&bytes).map(|array| vec![(stem.to_string_lossy().into_owned(), array)])
    } else {
        tensors::read(&bytes)
    };
    result.map_err(|problem| {
        Diagnostic::error("input-file", format!("cannot read arrays from `{path}`: {problem}"))
            .help("arrays are read from `.npz` files (numpy.savez) and `.safetensors` files")
    })
}
