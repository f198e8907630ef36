//! numpy's `.npz`: a zip archive of `.npy` files.

use std::io::{Cursor, Read, Write};

use pir_interp::Tensor;
use pir_ir::budget::{self, Reservation};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::npy;

/// The maximal size of an unpacked header.
const LONGEST_HEADER: usize = 1 << 24;

/// Unpacks an array. The size is bounded by the header, since a few bytes may unpack to very many.
fn unpack(file: &mut dyn Read) -> Result<(Vec<u8>, Reservation), String> {
    let mut bytes = Vec::new();
    let mut read = |bytes: &mut Vec<u8>, end: usize| {
        let missing = end.saturating_sub(bytes.len());
        file.take(missing as u64)
            .read_to_end(bytes)
            .map_err(|error| error.to_string())
    };
    // The unpacked bytes exist at the same time as the resulting tensor.
    read(&mut bytes, npy::START)?;
    let end = npy::header_end(&bytes)?;
    if end > LONGEST_HEADER {
        return Err("its header is too long".to_owned());
    }
    read(&mut bytes, end)?;
    let elements = npy::elements(&bytes)?;
    let fits = budget::reserve(elements)?;
    bytes
        .try_reserve_exact(elements)
        .map_err(|_| budget::Budget::current().system_refused(elements as u64))?;
    read(&mut bytes, end.saturating_add(elements))?;
    Ok((bytes, fits))
}

/// Reads all arrays of an archive, in its order.
pub(super) fn read(bytes: &[u8]) -> Result<Vec<(String, Tensor)>, String> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|e| e.to_string())?;
    let mut arrays = Vec::with_capacity(archive.len());
    for index in 0..archive.len() {
        let mut file = archive.by_index(index).map_err(|e| e.to_string())?;
        let entry = file.name().map_err(|e| e.to_string())?.into_owned();
        let array = unpack(&mut file).and_then(|(bytes, _held)| npy::read(&bytes));
        let array = array.map_err(|e| format!("`{entry}`: {e}"))?;
        let name = entry.strip_suffix(".npy").unwrap_or(&entry);
        arrays.push((name.to_owned(), array));
    }
    Ok(arrays)
}

/// Writes an archive that `numpy.load` reads. The output is deterministic.
///
/// # Errors
/// Those of the writer.
pub fn write<'a>(tensors: impl IntoIterator<Item = (&'a str, &'a Tensor)>, out: &mut dyn Write) -> std::io::Result<()> {
    // Writing an archive needs to seek, which a pipe cannot.
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
    fn no_more_is_unpacked_than_the_header_says() {
        let mut packed = ZipWriter::new(Cursor::new(Vec::new()));
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
        packed.start_file("x.npy", options).unwrap();
        let mut array = Vec::new();
        npy::write(&Tensor::new(&[2], vec![1.0f32, 2.0]).unwrap(), &mut array);
        packed.write_all(&array).unwrap();
        packed.write_all(&vec![0; 1 << 24]).unwrap();
        let bytes = packed.finish().unwrap().into_inner();
        assert!(bytes.len() < 1 << 16);
        assert_eq!(read(&bytes).unwrap()[0].1.view::<f32>(), Some(&[1.0, 2.0][..]));
        let mut archive = ZipArchive::new(Cursor::new(&bytes)).unwrap();
        let (unpacked, _held) = unpack(&mut archive.by_index(0).unwrap()).unwrap();
        assert!(unpacked.len() < 1 << 10, "{}", unpacked.len());
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
