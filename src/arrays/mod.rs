//! Tensors in files: numpy's `.npz`, `.safetensors`, PaddlePaddle's `.pdiparams` and TensorFlow's checkpoints.

mod bytes;
mod checkpoint;
mod npy;
mod npz;
mod params;
mod tensors;

use std::path::Path;

use pir_interp::Tensor;
use pir_ir::Diagnostic;

pub use npz::write as write_npz;

/// The elements of a tensor as bytes, the lowest of each number first.
pub fn bytes_of(tensor: &Tensor) -> Vec<u8> {
    let mut out = Vec::with_capacity(tensor.bytes());
    bytes::write(tensor, &mut out);
    out
}

/// The tensors of a file, in its order.
#[derive(Debug)]
pub enum Arrays {
    /// With names.
    Named(Vec<(String, Tensor)>),
    /// The parameters of a program, in the order of their names.
    Parameters(Vec<Tensor>),
}

/// Reads a file of tensors, or of the parameters of a program.
///
/// # Errors
/// Why it cannot be read, for the user.
pub fn read_inputs(path: &str) -> Result<Arrays, Diagnostic> {
    if let Some(index) = checkpoint::index_of(path) {
        return checkpoint::read(&index).map(Arrays::Named);
    }
    let (bytes, _held) = crate::source::read_file(path)?;
    if params::is(&bytes) {
        return params::read(&bytes)
            .map(Arrays::Parameters)
            .map_err(|problem| unreadable(path, &problem));
    }
    named(path, &bytes).map(Arrays::Named)
}

/// Reads all tensors of a file, in its order, or the variables of a SavedModel. The format is detected from the content: `.npz`, `.npy` and
/// `.safetensors` apart.
///
/// # Errors
/// Why it cannot be read, for the user.
pub fn read_arrays(path: &str) -> Result<Vec<(String, Tensor)>, Diagnostic> {
    if let Some(index) = checkpoint::index_of(path) {
        return checkpoint::read(&index);
    }
    let (bytes, _held) = crate::source::read_file(path)?;
    named(path, &bytes)
}

fn named(path: &str, bytes: &[u8]) -> Result<Vec<(String, Tensor)>, Diagnostic> {
    let stem = Path::new(path).file_stem().unwrap_or_default();
    read_bytes(&stem.to_string_lossy(), bytes).map_err(|problem| unreadable(path, &problem))
}

fn unreadable(path: &str, problem: &str) -> Diagnostic {
    Diagnostic::error("input-file", format!("cannot read tensors from `{path}`: {problem}"))
        .help("tensors are read from `.npz` files (numpy.savez), `.safetensors` and `.pdiparams` files")
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
