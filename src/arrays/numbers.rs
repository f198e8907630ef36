//! Elements of arrays as numbers, and as text.

use std::fmt::Write;

use half::{bf16, f16};

use super::{Array, Element, byte_len};

/// A number, as it is written or computed with.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Number {
    /// `true`, `false`.
    Bool(bool),
    /// `3`.
    Int(i64),
    /// `0.5`, `1e-3`, `inf`, `nan`.
    Float(f64),
}

impl Number {
    /// The number as a float; truth values are 0 and 1.
    pub fn as_f64(self) -> f64 {
        match self {
            Number::Bool(value) => f64::from(u8::from(value)),
            Number::Int(value) => value as f64,
            Number::Float(value) => value,
        }
    }

    /// The number as an integer, if it is a whole one.
    pub fn as_i64(self) -> Option<i64> {
        match self {
            Number::Bool(value) => Some(i64::from(value)),
            Number::Int(value) => Some(value),
            Number::Float(value) => {
                // The bounds are powers of two, so exact; the upper one is just beyond the range.
                let fits = value.fract() == 0.0 && (-(2f64.powi(63))..2f64.powi(63)).contains(&value);
                fits.then_some(value as i64)
            }
        }
    }
}

impl Array {
    /// An array of the given numbers, row by row; `None` when they are not as many as the shape says.
    ///
    /// # Errors
    /// Which number the element type does not have.
    pub fn from_numbers(element: Element, shape: Vec<usize>, numbers: &[Number]) -> Result<Option<Self>, Number> {
        let mut data = Vec::with_capacity(numbers.len() * element.size());
        for &number in numbers {
            encode(element, number, &mut data).ok_or(number)?;
        }
        let fits = byte_len(element, &shape) == Some(data.len());
        Ok(fits.then_some(Array { element, shape, data }))
    }

    /// The number of elements.
    pub fn count(&self) -> usize {
        self.data.len() / self.element.size()
    }

    /// The element with this index, row by row; zero beyond the end.
    pub fn number(&self, index: usize) -> Number {
        let size = self.element.size();
        let mut bytes = [0; 8];
        if let Some(found) = self.data.get(index * size..(index + 1) * size) {
            bytes[..size].copy_from_slice(found);
        }
        let bits = u64::from_le_bytes(bytes);
        match self.element {
            Element::Bool => Number::Bool(bits != 0),
            Element::U8 => Number::Int(bits as i64),
            Element::I8 => Number::Int(i64::from(bits as i8)),
            Element::I16 => Number::Int(i64::from(bits as i16)),
            Element::I32 => Number::Int(i64::from(bits as i32)),
            Element::I64 => Number::Int(bits as i64),
            Element::F16 => Number::Float(f16::from_bits(bits as u16).to_f64()),
            Element::BF16 => Number::Float(bf16::from_bits(bits as u16).to_f64()),
            Element::F32 => Number::Float(f64::from(f32::from_bits(bits as u32))),
            Element::F64 => Number::Float(f64::from_bits(bits)),
        }
    }

    /// All elements as `f64`.
    pub fn to_f64(&self) -> Vec<f64> {
        (0..self.count()).map(|index| self.number(index).as_f64()).collect()
    }

    /// The array as nested lists, `[[1, 2], [3, 4]]`. Of more than `limit` elements only the first are shown.
    pub fn to_text(&self, limit: usize) -> String {
        let mut out = String::new();
        let count = self.count();
        // Every list that ends at an element, for each of them; without recursion, since the rank is the input's.
        if count == 0 {
            return "[]".to_owned();
        }
        let mut sizes: Vec<usize> = self.shape.clone();
        for axis in (1..sizes.len()).rev() {
            sizes[axis - 1] *= sizes[axis];
        }
        for index in 0..count.min(limit) {
            if index > 0 {
                out.push_str(", ");
            }
            out.extend(sizes.iter().filter(|&&size| index % size == 0).map(|_| '['));
            self.write_element(index, &mut out);
            out.extend(sizes.iter().filter(|&&size| (index + 1) % size == 0).map(|_| ']'));
        }
        if count > limit {
            // Writing to a string does not fail, here and below.
            let _ = write!(out, ", … {} more", count - limit);
        }
        out
    }

    fn write_element(&self, index: usize, out: &mut String) {
        let _ = match (self.number(index), self.element) {
            (Number::Bool(value), _) => write!(out, "{value}"),
            (Number::Int(value), _) => write!(out, "{value}"),
            // The shortest text of the narrow type, which is much shorter than that of the same number as an `f64`.
            (Number::Float(value), Element::F32) => write!(out, "{:?}", value as f32),
            (Number::Float(value), Element::F16) => write!(out, "{}", f16::from_f64(value)),
            (Number::Float(value), Element::BF16) => write!(out, "{}", bf16::from_f64(value)),
            (Number::Float(value), _) => write!(out, "{value:?}"),
        };
    }
}

/// Appends a number; nothing when the type does not have it. Floats are rounded.
fn encode(element: Element, number: Number, data: &mut Vec<u8>) -> Option<()> {
    match element {
        Element::Bool => data.push(match number.as_i64()? {
            0 => 0,
            1 => 1,
            _ => return None,
        }),
        Element::U8 => data.push(u8::try_from(number.as_i64()?).ok()?),
        Element::I8 => data.extend(i8::try_from(number.as_i64()?).ok()?.to_le_bytes()),
        Element::I16 => data.extend(i16::try_from(number.as_i64()?).ok()?.to_le_bytes()),
        Element::I32 => data.extend(i32::try_from(number.as_i64()?).ok()?.to_le_bytes()),
        Element::I64 => data.extend(number.as_i64()?.to_le_bytes()),
        Element::F16 => data.extend(f16::from_f64(number.as_f64()).to_le_bytes()),
        Element::BF16 => data.extend(bf16::from_f64(number.as_f64()).to_le_bytes()),
        Element::F32 => data.extend((number.as_f64() as f32).to_le_bytes()),
        Element::F64 => data.extend(number.as_f64().to_le_bytes()),
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(element: Element, shape: &[usize], numbers: &[f64]) -> String {
        let numbers: Vec<_> = numbers.iter().map(|&n| Number::Float(n)).collect();
        Array::from_numbers(element, shape.to_vec(), &numbers)
            .unwrap()
            .unwrap()
            .to_text(5)
    }

    #[test]
    fn arrays_are_written_as_lists() {
        assert_eq!(text(Element::F64, &[], &[0.5]), "0.5");
        assert_eq!(text(Element::F32, &[1], &[0.1]), "[0.1]");
        assert_eq!(text(Element::I64, &[2, 2], &[1.0, 2.0, 3.0, -4.0]), "[[1, 2], [3, -4]]");
        assert_eq!(
            text(Element::F32, &[2, 1, 2], &[1.0, 2.0, 3.0, 4.0]),
            "[[[1.0, 2.0]], [[3.0, 4.0]]]"
        );
        assert_eq!(text(Element::Bool, &[2], &[0.0, 1.0]), "[false, true]");
        assert_eq!(text(Element::F16, &[1], &[0.5]), "[0.5]");
        assert_eq!(text(Element::F32, &[0, 3], &[]), "[]");
        assert_eq!(text(Element::U8, &[7], &[1.0; 7]), "[1, 1, 1, 1, 1, … 2 more");
        assert_eq!(text(Element::F64, &[2], &[f64::NAN, f64::INFINITY]), "[NaN, inf]");
    }

    #[test]
    fn numbers_that_a_type_does_not_have_are_refused() {
        let one = |element, number| Array::from_numbers(element, vec![], &[number]).map(|a| a.unwrap().number(0));
        assert_eq!(one(Element::I8, Number::Int(-128)), Ok(Number::Int(-128)));
        assert_eq!(one(Element::I8, Number::Int(128)), Err(Number::Int(128)));
        assert_eq!(one(Element::U8, Number::Int(-1)), Err(Number::Int(-1)));
        assert_eq!(one(Element::I64, Number::Float(0.5)), Err(Number::Float(0.5)));
        assert_eq!(one(Element::I64, Number::Float(3.0)), Ok(Number::Int(3)));
        assert_eq!(one(Element::Bool, Number::Int(2)), Err(Number::Int(2)));
        assert_eq!(one(Element::F32, Number::Bool(true)), Ok(Number::Float(1.0)));
        assert_eq!(Array::from_numbers(Element::F32, vec![2], &[Number::Int(1)]), Ok(None));
    }

    #[test]
    fn whole_numbers_are_integers() {
        assert_eq!(Number::Float(3.0).as_i64(), Some(3));
        assert_eq!(Number::Float(0.5).as_i64(), None);
        assert_eq!(Number::Float(f64::NAN).as_i64(), None);
        assert_eq!(Number::Float(9.3e18).as_i64(), None);
    }
}
