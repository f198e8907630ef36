//! numpy's `.npz`: a zip archive of `.npy` files.

use std::io::{Cursor, Read, Write};

use pir_interp::Tensor;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::npy;

/// An array may be compressed to almost nothing; this is what one may unpack to.
const MAX_ARRAY: u64 = 1 << 36;

/// Reads all arrays of an archive, in its order.
pub(super) fn read(bytes: &[u8]) -> Result<Vec<(String, Tensor)>, String> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|e| e.to_string())?;
    let mut arrays = Vec::with_capacity(archive.len());
    for index in 0..archive.len() {
        let file = archive.by_index(index).map_err(|e| e.to_string())?;
        let entry = file.name().map_err(|e| e.to_string())?.into_owned();
        let mut bytes = Vec::new();
        file.take(MAX_ARRAY)
            .read_to_end(&mut bytes)
            .map_err(|e| format!("`{entry}`: {e}"))?;
        let array = npy::read(&bytes).map_err(|e| format!("`{entry}`: {e}"))?;
        let name = entry.strip_suffix(".npy").unwrap_or(&entry);
        arrays.push((name.to_owned(), array));
    }
    Ok(arrays)
}

/// Writes an archive that `numpy.load` reads. The same arrays give the same bytes.
///
/// # Errors
/// Those of the writer.
pub fn write<'a>(tensors: impl IntoIterator<Item = (&'a str, &'a Tensor)>, out: &mut dyn Write) -> std::io::Result<()> {
    // The archive needs to seek back, which a pipe cannot.
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, tensor) in tensors {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            .large_file(tensor.bytes() > 1 << 31);
        archive.start_file(format!("{name}.npy"), options)?;
        let mut bytes = Vec::with_capacity(tensor.bytes() + 128);
        npy::write(tensor, &mut bytes);
        archive.write_all(&bytes)?;
    }
    out.write_all(archive.finish()?.get_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn archives_survive() {
        let tensor = Tensor::new(&[2], vec![1.0f32, 2.0]).unwrap();
        let tensors = [("out:0", &tensor), ("x_grad", &tensor)];
        let mut bytes = Vec::new();
        write(tensors, &mut bytes).unwrap();
        let read = read(&bytes).unwrap();
        assert_eq!(read.len(), 2);
        for ((name, tensor), (read_name, read_tensor)) in tensors.into_iter().zip(&read) {
            assert_eq!(name, read_name);
            assert!(read_tensor.same_bits(tensor));
        }
        let mut again = Vec::new();
        write(tensors, &mut again).unwrap();
        assert_eq!(bytes, again);
    }

    #[test]
    fn damaged_archives_are_refused() {
        assert!(read(b"PK").is_err());
        assert!(read(b"PK\x05\x06").is_err());
        let mut bytes = Vec::new();
        write([], &mut bytes).unwrap();
        assert!(read(&bytes).unwrap().is_empty());
    }
}
