//! numpy's `.npy`: a header in Python's syntax, then the elements.

use super::{Array, Element, byte_len};

pub(super) const MAGIC: &[u8] = b"\x93NUMPY";

/// Reads an array.
pub(super) fn read(bytes: &[u8]) -> Result<Array, String> {
    let rest = bytes.strip_prefix(MAGIC).ok_or("it is no `.npy` file")?;
    let (length, rest) = match rest {
        [1, _, a, b, rest @ ..] => (usize::from(u16::from_le_bytes([*a, *b])), rest),
        [2 | 3, _, a, b, c, d, rest @ ..] => (u32::from_le_bytes([*a, *b, *c, *d]) as usize, rest),
        _ => return Err("its version is unknown".to_owned()),
    };
    let (header, data) = rest.split_at_checked(length).ok_or("its header is cut off")?;
    let header = std::str::from_utf8(header).map_err(|_| "its header is no text")?;
    let descr = field(header, "descr")?;
    let fortran = field(header, "fortran_order")?.starts_with("True");
    let shape = shape(field(header, "shape")?)?;
    let (element, big) = element(descr)?;
    let expected = byte_len(element, &shape).ok_or("it is too large")?;
    let data = data
        .get(..expected)
        .ok_or_else(|| format!("it ends after {} of {expected} bytes", data.len()))?;
    let mut data = data.to_vec();
    if big {
        data.chunks_exact_mut(element.size()).for_each(<[u8]>::reverse);
    }
    if fortran && shape.len() > 1 {
        data = from_fortran(&data, &shape, element.size());
    }
    Ok(Array { element, shape, data })
}

/// What stands behind the key, without blanks.
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

/// The element type, and whether its bytes are in big-endian order.
fn element(descr: &str) -> Result<(Element, bool), String> {
    let name: String = descr
        .trim_start_matches(['\'', '"'])
        .chars()
        .take_while(|c| !matches!(c, '\'' | '"'))
        .collect();
    let (order, kind) = name.split_at_checked(1).unwrap_or(("", ""));
    let element = match kind {
        "b1" => Element::Bool,
        "i1" => Element::I8,
        "i2" => Element::I16,
        "i4" => Element::I32,
        "i8" => Element::I64,
        "u1" => Element::U8,
        "f2" => Element::F16,
        "f4" => Element::F32,
        "f8" => Element::F64,
        _ => return Err(format!("its element type `{name}` is none that tensors have")),
    };
    Ok((element, order == ">"))
}

/// The same elements with the last dimension running fastest in place of the first.
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

/// Appends an array. numpy has no `bf16`: it is written as the `f32` of the same value.
pub(super) fn write(array: &Array, out: &mut Vec<u8>) {
    let descr = match array.element {
        Element::Bool => "|b1",
        Element::I8 => "|i1",
        Element::I16 => "<i2",
        Element::I32 => "<i4",
        Element::I64 => "<i8",
        Element::U8 => "|u1",
        Element::F16 => "<f2",
        Element::BF16 | Element::F32 => "<f4",
        Element::F64 => "<f8",
    };
    let extents: String = array.shape.iter().map(|e| format!("{e},")).collect();
    let extents = match array.shape.len() {
        1 => &extents,
        _ => extents.trim_end_matches(','),
    };
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({extents}), }}");
    // The data is aligned to 64 bytes, and the header ends in a line break.
    let unpadded = MAGIC.len() + 2 + 2 + header.len() + 1;
    header.extend(std::iter::repeat_n(' ', unpadded.next_multiple_of(64) - unpadded));
    header.push('\n');
    out.extend_from_slice(MAGIC);
    // A tensor has far fewer dimensions than would overflow the 16 bits.
    let length = u16::try_from(header.len()).unwrap_or(u16::MAX);
    out.extend_from_slice(&[1, 0]);
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(header.as_bytes());
    if array.element == Element::BF16 {
        for half in array.data.chunks_exact(2) {
            out.extend_from_slice(&[0, 0, half[0], half[1]]);
        }
    } else {
        out.extend_from_slice(&array.data);
    }
}

#[cfg(test)]
mod tests {
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
        let array = read(&file(header, &data)).unwrap();
        let values: Vec<_> = array
            .data
            .chunks_exact(2)
            .map(|c| i16::from_le_bytes([c[0], c[1]]))
            .collect();
        assert_eq!(
            (array.element, array.shape, values),
            (Element::I16, vec![2, 3], vec![1, 2, 3, 4, 5, 6])
        );
    }

    #[test]
    fn arrays_survive() {
        for (element, shape) in [
            (Element::F64, vec![2, 3]),
            (Element::Bool, vec![5]),
            (Element::F16, vec![]),
            (Element::I64, vec![3, 0, 2]),
        ] {
            let data = (0..byte_len(element, &shape).unwrap()).map(|i| (i % 2) as u8).collect();
            let array = Array { element, shape, data };
            let mut out = Vec::new();
            write(&array, &mut out);
            assert_eq!((out.len() - array.data.len()) % 64, 0);
            assert_eq!(read(&out), Ok(array));
        }
    }

    #[test]
    fn wrong_files_are_refused() {
        let header =
            |shape: &str, descr: &str| format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}}}");
        for (bytes, error) in [
            (b"text".to_vec(), "it is no `.npy` file"),
            (MAGIC.to_vec(), "its version is unknown"),
            (file("{}", &[]), "its header has no `descr`"),
            (file(&header("(2,)", "<f4"), &[0; 7]), "it ends after 7 of 8 bytes"),
            (
                file(&header("(99999999999, 99999999999)", "<f4"), &[]),
                "it is too large",
            ),
            (file(&header("(x,)", "<f4"), &[]), "its shape has the extent `x`"),
            (file(&header("3", "<f4"), &[]), "its shape is not a tuple"),
            (
                file(&header("()", "|O"), &[]),
                "its element type `|O` is none that tensors have",
            ),
        ] {
            assert_eq!(read(&bytes), Err(error.to_owned()));
        }
        let cut = &file(&header("()", "<f4"), &[0; 4])[..20];
        assert_eq!(read(cut), Err("its header is cut off".to_owned()));
    }
}
