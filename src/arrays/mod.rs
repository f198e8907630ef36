//! Tensors in files: numpy's `.npz` and `.safetensors`.

mod bytes;
mod npy;
mod npz;
mod tensors;

use std::path::Path;

use pir_interp::Tensor;
use pir_ir::Diagnostic;

pub use npz::write as write_npz;

/// Reads all tensors of a file, in its order. The content tells `.npz`, `.npy` and `.safetensors` apart.
///
/// # Errors
/// Why it cannot be read, for the user.
pub fn read_arrays(path: &str) -> Result<Vec<(String, Tensor)>, Diagnostic> {
    let (bytes, _held) = crate::source::read_file(path)?;
    let stem = Path::new(path).file_stem().unwrap_or_default();
    read_bytes(&stem.to_string_lossy(), &bytes).map_err(|problem| {
        Diagnostic::error("input-file", format!("cannot read tensors from `{path}`: {problem}"))
            .help("tensors are read from `.npz` files (numpy.savez) and `.safetensors` files")
    })
}

/// Reads the tensors of a file's content; a `.npy` file has no names, so `name` is used.
///
/// # Errors
/// Why it cannot be read.
pub fn read_bytes(name: &str, bytes: &[u8]) -> Result<Vec<(String, Tensor)>, String> {
    if bytes.starts_with(b"PK") {
        npz::read(bytes)
    } else if bytes.starts_with(npy::MAGIC) {
        npy::read(bytes).map(|tensor| vec![(name.to_owned(), tensor)])
    } else {
        tensors::read(bytes)
    }
}
