//! numpy's `.npz`: a zip archive of `.npy` files.

use std::io::{Cursor, Read, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::{Array, npy};

/// An array may be compressed to almost nothing; this is what one may unpack to.
const MAX_ARRAY: u64 = 1 << 36;

/// Reads all arrays of an archive, in its order.
pub(super) fn read(bytes: &[u8]) -> Result<Vec<(String, Array)>, String> {
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
pub fn write<'a>(arrays: impl IntoIterator<Item = (&'a str, &'a Array)>, out: &mut dyn Write) -> std::io::Result<()> {
    // The archive needs to seek back, which a pipe cannot.
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, array) in arrays {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            .large_file(array.data.len() > 1 << 31);
        archive.start_file(format!("{name}.npy"), options)?;
        let mut bytes = Vec::with_capacity(array.data.len() + 128);
        npy::write(array, &mut bytes);
        archive.write_all(&bytes)?;
    }
    out.write_all(archive.finish()?.get_ref())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrays::Element;

    #[test]
    fn archives_survive() {
        let x = Array {
            element: Element::F32,
            shape: vec![2],
            data: vec![0, 0, 128, 63, 0, 0, 0, 64],
        };
        let arrays = [("out:0".to_owned(), x.clone()), ("x_grad".to_owned(), x)];
        let mut bytes = Vec::new();
        write(arrays.iter().map(|(n, a)| (n.as_str(), a)), &mut bytes).unwrap();
        assert_eq!(read(&bytes).unwrap(), arrays);
        let mut again = Vec::new();
        write(arrays.iter().map(|(n, a)| (n.as_str(), a)), &mut again).unwrap();
        assert_eq!(bytes, again);
    }

    #[test]
    fn damaged_archives_are_refused() {
        assert!(read(b"PK").is_err());
        assert!(read(b"PK\x05\x06").is_err());
        let mut bytes = Vec::new();
        write([], &mut bytes).unwrap();
        assert_eq!(read(&bytes), Ok(vec![]));
    }
}
