//! numpy's `.npy`: a header in Python's syntax, then the elements.

use pir_interp::tensor::{Data, checked_count};
use pir_interp::{DType, Tensor};

use super::bytes;

pub(super) const MAGIC: &[u8] = b"\x93NUMPY";

/// The bytes before the header in any version.
pub(super) const START: usize = MAGIC.len() + 6;

/// The length of the header, and the bytes after that length.
fn header(file: &[u8]) -> Result<(usize, &[u8]), String> {
    let rest = file.strip_prefix(MAGIC).ok_or("it is not a `.npy` file")?;
    match rest {
        [1, _, a, b, rest @ ..] => Ok((usize::from(u16::from_le_bytes([*a, *b])), rest)),
        [2 | 3, _, a, b, c, d, rest @ ..] => Ok((u32::from_le_bytes([*a, *b, *c, *d]) as usize, rest)),
        _ => Err("its version is unknown".to_owned()),
    }
}

/// The maximal size of the header including the start, from the first [`START`] bytes of a file.
pub(super) fn header_end(start: &[u8]) -> Result<usize, String> {
    Ok(START + header(start)?.0)
}

/// The parsed header.
struct About {
    dtype: DType,
    big: bool,
    fortran: bool,
    shape: Vec<usize>,
}

impl About {
    fn bytes(&self) -> Result<usize, String> {
        Ok(checked_count(&self.shape, self.dtype.size())? * self.dtype.size())
    }
}

/// Parses the header. Returns it with the bytes after it.
fn about(file: &[u8]) -> Result<(About, &[u8]), String> {
    let (length, rest) = header(file)?;
    let (header, data) = rest.split_at_checked(length).ok_or("its header is truncated")?;
    let header = std::str::from_utf8(header).map_err(|_| "its header is not text")?;
    let (dtype, big) = element(field(header, "descr")?)?;
    let fortran = field(header, "fortran_order")?.starts_with("True");
    let shape = shape(field(header, "shape")?)?;
    let about = About {
        dtype,
        big,
        fortran: fortran && shape.len() > 1,
        shape,
    };
    Ok((about, data))
}

/// The size of the elements in bytes, from the beginning of a file.
pub(super) fn elements(start: &[u8]) -> Result<usize, String> {
    about(start)?.0.bytes()
}

/// Reads a tensor.
pub(super) fn read(file: &[u8]) -> Result<Tensor, String> {
    let (about, data) = about(file)?;
    let expected = about.bytes()?;
    let About {
        dtype,
        big,
        fortran,
        shape,
    } = about;
    if !big && !fortran {
        return bytes::read(dtype, &shape, data);
    }
    let _held = pir_ir::budget::reserve(expected.saturating_mul(2))?;
    let mut data = data.get(..expected).unwrap_or(data).to_vec();
    if big {
        let number = dtype.size() / (1 + usize::from(dtype.is_complex()));
        data.chunks_exact_mut(number).for_each(<[u8]>::reverse);
    }
    if fortran && data.len() == expected {
        data = from_fortran(&data, &shape, dtype.size());
    }
    bytes::read(dtype, &shape, &data)
}

/// The text after the key, without leading blanks.
fn field<'a>(header: &'a str, key: &str) -> Result<&'a str, String> {
    ['\'', '"']
        .into_iter()
        .find_map(|quote| {
            let key = format!("{quote}{key}{quote}");
            let (_, behind) = header.split_once(&key)?;
            Some(behind.trim_start().strip_prefix(':')?.trim_start())
        })
        .ok_or_else(|| format!("its header has no `{key}`"))
}

fn shape(text: &str) -> Result<Vec<usize>, String> {
    let inside = text
        .strip_prefix('(')
        .and_then(|t| t.split_once(')'))
        .ok_or("its shape is not a tuple")?
        .0;
    inside
        .split(',')
        .map(str::trim)
        .filter(|t| !t.is_empty())
        .map(|t| {
            t.trim_end_matches('L')
                .parse()
                .map_err(|_| format!("its shape has the extent `{t}`"))
        })
        .collect()
}

/// The element type, and whether the byte order is big-endian.
fn element(descr: &str) -> Result<(DType, bool), String> {
    let name: String = descr
        .trim_start_matches(['\'', '"'])
        .chars()
        .take_while(|c| !matches!(c, '\'' | '"'))
        .collect();
    let (order, kind) = name.split_at_checked(1).unwrap_or(("", ""));
    let dtype = match kind {
        "b1" => DType::I1,
        "i1" => DType::I8,
        "i2" => DType::I16,
        "i4" => DType::I32,
        "i8" => DType::I64,
        "u1" => DType::UI8,
        "u2" => DType::UI16,
        "u4" => DType::UI32,
        "u8" => DType::UI64,
        "f2" => DType::F16,
        "f4" => DType::F32,
        "f8" => DType::F64,
        "c8" => DType::C64,
        "c16" => DType::C128,
        _ => return Err(format!("its element type `{name}` is not supported")),
    };
    Ok((dtype, order == ">"))
}

/// Converts column-major to row-major order.
fn from_fortran(data: &[u8], shape: &[usize], size: usize) -> Vec<u8> {
    let mut strides = vec![size; shape.len()];
    for axis in 1..shape.len() {
        strides[axis] = strides[axis - 1] * shape[axis - 1];
    }
    let mut out = Vec::with_capacity(data.len());
    let mut index = vec![0; shape.len()];
    while out.len() < data.len() {
        let at: usize = index.iter().zip(&strides).map(|(i, s)| i * s).sum();
        out.extend_from_slice(&data[at..at + size]);
        for axis in (0..shape.len()).rev() {
            index[axis] += 1;
            if index[axis] < shape[axis] {
                break;
            }
            index[axis] = 0;
        }
    }
    out
}

/// Appends a tensor. numpy has no `bf16`: it is written as the `f32` of the same value.
pub(super) fn write(tensor: &Tensor, out: &mut Vec<u8>) {
    let descr = match tensor.dtype() {
        DType::I1 => "|b1",
        DType::I8 => "|i1",
        DType::I16 => "<i2",
        DType::I32 => "<i4",
        DType::I64 => "<i8",
        DType::UI8 => "|u1",
        DType::UI16 => "<u2",
        DType::UI32 => "<u4",
        DType::UI64 => "<u8",
        DType::F16 => "<f2",
        DType::BF16 | DType::F32 => "<f4",
        DType::F64 => "<f8",
        DType::C64 => "<c8",
        DType::C128 => "<c16",
    };
    let extents: Vec<String> = tensor.shape().iter().map(ToString::to_string).collect();
    let extents = match &extents[..] {
        [one] => format!("{one},"),
        several => several.join(", "),
    };
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({extents}), }}");
    // Version 2 has a wider length field, for headers of tensors with very many dimensions.
    let prefix = MAGIC.len() + 2 + if header.len() < 65_000 { 2 } else { 4 };
    // The data is aligned to 64 bytes, and the header ends in a line break.
    let unpadded = prefix + header.len() + 1;
    header.extend(std::iter::repeat_n(' ', unpadded.next_multiple_of(64) - unpadded));
    header.push('\n');
    out.extend_from_slice(MAGIC);
    match u16::try_from(header.len()) {
        Ok(length) if prefix == MAGIC.len() + 4 => {
            out.extend_from_slice(&[1, 0]);
            out.extend_from_slice(&length.to_le_bytes());
        }
        _ => {
            out.extend_from_slice(&[2, 0]);
            out.extend_from_slice(&(header.len() as u32).to_le_bytes());
        }
    }
    out.extend_from_slice(header.as_bytes());
    match tensor.data() {
        Data::BF16(values) => out.extend(values.iter().flat_map(|value| value.to_f32().to_le_bytes())),
        _ => bytes::write(tensor, out),
    }
}

#[cfg(test)]
mod tests {
    use pir_interp::tensor::Complex;

    use super::*;

    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        out.extend_from_slice(&[1, 0]);
        out.extend_from_slice(&(header.len() as u16).to_le_bytes());
        out.extend_from_slice(header.as_bytes());
        out.extend_from_slice(data);
        out
    }

    #[test]
    fn orders_are_undone() {
        let header = "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }\n";
        // Columns (1, 4), (2, 5), (3, 6).
        let data: Vec<u8> = [1i16, 4, 2, 5, 3, 6].iter().flat_map(|v| v.to_be_bytes()).collect();
        let tensor = read(&file(header, &data)).unwrap();
        assert_eq!(tensor.shape(), [2, 3]);
        assert_eq!(tensor.view::<i16>(), Some(&[1, 2, 3, 4, 5, 6][..]));
        assert!(read(&file(header, &data[..11])).is_err());
    }

    #[test]
    fn tensors_survive() {
        let mut out = Vec::new();
        for tensor in [
            Tensor::new(&[2, 3], vec![1.5f64, f64::NAN, -0.0, f64::INFINITY, 1e300, 5.0]).unwrap(),
            Tensor::new(&[2], vec![true, false]).unwrap(),
            Tensor::scalar(half::f16::from_f32(0.1)),
            Tensor::new(&[3, 0, 2], Vec::<i64>::new()).unwrap(),
            Tensor::new(&[1], vec![i64::MIN]).unwrap(),
            Tensor::new(&[2], vec![255u8, 1]).unwrap(),
            Tensor::new(&[2], vec![-128i8, 1]).unwrap(),
            Tensor::new(&[2], vec![Complex::new(1.5f32, -0.0), Complex::new(0.0, 2.0)]).unwrap(),
            Tensor::scalar(Complex::new(-1.0f64, f64::INFINITY)),
            Tensor::new(&[1; 20_000], vec![1.0f32]).unwrap(),
        ] {
            out.clear();
            write(&tensor, &mut out);
            assert_eq!((out.len() - tensor.bytes()) % 64, 0);
            assert!(read(&out).unwrap().same_bits(&tensor));
        }
        out.clear();
        write(&Tensor::scalar(half::bf16::from_f32(1.5)), &mut out);
        assert_eq!(read(&out).unwrap().view::<f32>(), Some(&[1.5][..]));
    }

    #[test]
    fn wrong_files_are_refused() {
        let header =
            |shape: &str, descr: &str| format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}}}");
        for (bytes, error) in [
            (b"text".to_vec(), "it is not a `.npy` file"),
            (MAGIC.to_vec(), "its version is unknown"),
            (file("{}", &[]), "its header has no `descr`"),
            (file(&header("(2,)", "<f4"), &[0; 7]), "it ends after 7 of 8 bytes"),
            (file(&header("(x,)", "<f4"), &[]), "its shape has the extent `x`"),
            (file(&header("3", "<f4"), &[]), "its shape is not a tuple"),
            (file(&header("()", "|O"), &[]), "its element type `|O` is not supported"),
        ] {
            assert_eq!(read(&bytes).unwrap_err(), error);
        }
        let large = read(&file(&header("(99999999999, 99999999999)", "<f4"), &[])).unwrap_err();
        assert!(large.contains("larger than"), "{large}");
        let cut = &file(&header("()", "<f4"), &[0; 4])[..20];
        assert_eq!(read(cut).unwrap_err(), "its header is truncated");
    }
}
