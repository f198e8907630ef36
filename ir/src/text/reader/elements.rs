//! The elements of constants: what is in the brackets of `dense<…>` and `array<…>`.

use super::parser::{Failure, Parser};
use super::scalars::{Scalar, scalar};
use super::shape::ElementLists;
use crate::diagnostics::Span;
use crate::elements::{ElementKind, ElementsForm};
use crate::elements_builder::{ElementsBuilder, ElementsError, element_kind};
use crate::float_kind::FloatKind;
use crate::text::writer::attr::print_type;
use crate::types::{Attr, AttrData, DYNAMIC, Signedness, Type, TypeData};

/// Numbers as they are read.
struct Numbers {
    kind: ElementKind,
    is_complex: bool,
    builder: ElementsBuilder,
    /// One was met that only a format wider than `f64` holds, and that is not written as bits.
    unread: bool,
}

impl Parser<'_> {
    /// The attribute `dense<…> : ty`; nothing if it is to be kept as text.
    pub(super) fn dense(&mut self, inside: Span, ty: Type) -> Result<Option<Attr>, Failure> {
        let Some((shape, elem)) = self.ctx.as_elements(ty) else {
            if self.ctx.is_of_dialect(ty) {
                return Ok(None);
            }
            return Err(self.wrong_literal(
                inside,
                format!("`{}` has no elements", print_type(self.ctx, ty)),
                "an elements literal has a tensor or vector type",
            ));
        };
        if shape.contains(&DYNAMIC) {
            return Err(self.wrong_literal(
                inside,
                format!("`{}` has a dynamic dimension", print_type(self.ctx, ty)),
                "write the number of elements for the `?`",
            ));
        }
        let text = self.src[inside.start as usize..inside.end as usize].trim_ascii();
        let wrong = |why: String| self.wrong_literal(inside, why, "each element must have the element type");
        let mut numbers = match element_kind(self.ctx, elem) {
            Some((kind, is_complex)) => Some(Numbers::new(kind, is_complex, text.len()).map_err(wrong)?),
            None => None,
        };
        if let (Some(hex), Some(numbers)) = (hex_string(text), &mut numbers) {
            let count = shape
                .iter()
                .try_fold(1usize, |n, &dim| n.checked_mul(usize::try_from(dim).ok()?));
            numbers.read_hex(hex, count.unwrap_or(usize::MAX)).map_err(wrong)?;
        } else {
            let found = ElementLists::read(text, |word| match &mut numbers {
                Some(numbers) => numbers.push(word),
                None => check_other(self.ctx, elem, word),
            })
            .map_err(wrong)?;
            let wanted: Vec<usize> = shape.iter().map(|&dim| usize::try_from(dim).unwrap_or(0)).collect();
            if let Some(dims) = found.filter(|dims| *dims != wanted) {
                let ty = print_type(self.ctx, ty);
                let message = format!("the elements have shape {dims:?}, but the type is `{ty}`");
                let help = "write a list for each dimension, or one element for all";
                return Err(self.wrong_literal(inside, message, help));
            }
        }
        numbers.map_or(Ok(None), |numbers| {
            self.finish_elements(inside, numbers, ty, ElementsForm::Dense)
        })
    }

    /// The attribute `array<i64: 1, 2>`; nothing if it is to be kept as text.
    pub(super) fn dense_array(&mut self, inside: Span) -> Result<Option<Attr>, Failure> {
        let text = &self.src[inside.start as usize..inside.end as usize];
        let colon = memchr::memchr(b':', text).unwrap_or(text.len());
        let ty = match scalar(text[..colon].trim_ascii()) {
            Some(Scalar::Type(ty)) => ty,
            Some(Scalar::Integer(width, sign)) => self.ctx.intern_type(TypeData::Integer { width, sign }),
            Some(Scalar::Float(kind)) => self.ctx.float_type(kind),
            None => return Ok(None),
        };
        let Some((kind, false)) = element_kind(self.ctx, ty).filter(|_| ty != Type::INDEX) else {
            return Ok(None);
        };
        let wrong = |why: String| self.wrong_literal(inside, why, "an array is written `array<i64: 1, 2>`");
        let list = text.get(colon + 1..).unwrap_or_default().trim_ascii();
        let mut numbers = Numbers::new(kind, false, list.len()).map_err(wrong)?;
        if !list.is_empty() {
            for word in list.split(|&b| b == b',') {
                numbers.push(word.trim_ascii()).map_err(wrong)?;
            }
        }
        self.finish_elements(inside, numbers, ty, ElementsForm::Array)
    }

    fn finish_elements(
        &mut self,
        inside: Span,
        numbers: Numbers,
        ty: Type,
        form: ElementsForm,
    ) -> Result<Option<Attr>, Failure> {
        if numbers.unread {
            return Ok(None);
        }
        match numbers.builder.finish(self.ctx, ty, form) {
            Ok(elements) => Ok(Some(self.ctx.attr(AttrData::Elements(elements)))),
            Err(why) => {
                let ty = print_type(self.ctx, ty);
                let why = match why {
                    ElementsError::Type => format!("`{ty}` has no elements that a constant can hold"),
                    ElementsError::Len(wanted, found) => format!("{found} bytes, but `{ty}` has {wanted}"),
                    ElementsError::Memory(why) => why.to_string(),
                };
                Err(self.wrong_literal(inside, why, "each element must have the element type"))
            }
        }
    }
}

/// Checks an element that is kept as text.
fn check_other(ctx: &crate::Context, elem: Type, word: &[u8]) -> Result<(), String> {
    let digits = word.strip_prefix(b"-").unwrap_or(word);
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_alphanumeric);
    match ctx.type_data(elem) {
        TypeData::Integer { .. } if !is_number => Err(format!("`{}` is not an integer", String::from_utf8_lossy(word))),
        _ => Ok(()),
    }
}

/// The digits of `"0x…"`.
fn hex_string(text: &[u8]) -> Option<&[u8]> {
    let inside = text.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    inside.strip_prefix(b"0x").or_else(|| inside.strip_prefix(b"0X"))
}

/// The values of hexadecimal digits, and 255 of other letters.
const HEX: [u8; 256] = {
    let mut table = [255; 256];
    let mut digit = 0u8;
    while digit < 16 {
        let letter = if digit < 10 { b'0' + digit } else { b'a' + digit - 10 };
        table[letter as usize] = digit;
        table[letter.to_ascii_uppercase() as usize] = digit;
        digit += 1;
    }
    table
};

impl Numbers {
    /// The maximum number of elements in a text of this length.
    fn new(kind: ElementKind, is_complex: bool, text: usize) -> Result<Self, String> {
        // A number and its comma take two bytes.
        let guess = (text / 2).min(64 << 10);
        Ok(Numbers {
            kind,
            is_complex,
            builder: ElementsBuilder::new(guess).map_err(|why| why.to_string())?,
            unread: false,
        })
    }

    /// The bytes of all elements, of one for all, or truth values with eight in a byte.
    fn read_hex(&mut self, digits: &[u8], count: usize) -> Result<(), String> {
        if !digits.len().is_multiple_of(2) {
            return Err("the last byte has one digit".to_owned());
        }
        let len = digits.len() / 2;
        let is_bool = matches!(self.kind, ElementKind::Integer { width: 1, .. });
        let byte = |pair: &[u8]| HEX[pair[0] as usize] << 4 | HEX[pair[1] as usize] & 15;
        let known = |digits: &[u8]| digits.iter().fold(0, |all, &b| all | HEX[b as usize]) < 16;
        if !known(digits) {
            return Err("these are not hexadecimal digits".to_owned());
        }
        if is_bool && len != count && len == count.div_ceil(8) {
            let all = self.builder.fill(count).map_err(|why| why.to_string())?;
            for (at, out) in all.iter_mut().enumerate() {
                *out = byte(&digits[at / 8 * 2..]) >> (at % 8) & 1;
            }
            return Ok(());
        }
        let all = self.builder.fill(len).map_err(|why| why.to_string())?;
        for (out, pair) in all.iter_mut().zip(digits.chunks_exact(2)) {
            *out = byte(pair);
        }
        if is_bool {
            all.iter_mut().for_each(|b| *b = u8::from(*b != 0));
        }
        Ok(())
    }

    fn push(&mut self, word: &[u8]) -> Result<(), String> {
        if !self.is_complex {
            return self.push_number(word);
        }
        let parts = word.strip_prefix(b"(").and_then(|word| word.strip_suffix(b")"));
        let mut parts = parts.unwrap_or_default().split(|&b| b == b',');
        match (parts.next(), parts.next(), parts.next()) {
            (Some(re), Some(im), None) => {
                self.push_number(re.trim_ascii())?;
                self.push_number(im.trim_ascii())
            }
            _ => Err(format!(
                "`{}` is not a complex number; write `(1.0, 2.0)`",
                String::from_utf8_lossy(word)
            )),
        }
    }

    fn push_number(&mut self, word: &[u8]) -> Result<(), String> {
        let text = std::str::from_utf8(word).map_err(|_| "this is not a number".to_owned())?;
        let bits = match self.kind {
            ElementKind::Integer { width, sign } => integer(text, width, sign)?,
            ElementKind::Float(kind) => match self.float(text, kind)? {
                Some(bits) => bits,
                None => return Ok(()),
            },
        };
        self.builder
            .push(bits, self.kind.bytes())
            .map_err(|why| why.to_string())
    }

    /// The bits of a float; nothing if they are more than 64, which are added.
    fn float(&mut self, text: &str, kind: FloatKind) -> Result<Option<u64>, String> {
        let digits = text.strip_prefix('-').unwrap_or(text);
        if let Some(hex) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
            let bits = u128::from_str_radix(hex, 16).ok();
            let bits =
                bits.filter(|bits| digits.len() == text.len() && (kind.bits() == 128 || bits >> kind.bits() == 0));
            let bits = bits.ok_or_else(|| format!("`{text}` is not a number of {} bits", kind.bits()))?;
            if kind.fits_f64() {
                return Ok(Some(bits as u64));
            }
            let bytes = self.kind.bytes();
            let low = self.builder.push(bits as u64, 8);
            low.and_then(|()| self.builder.push((bits >> 64) as u64, bytes - 8))
                .map_err(|why| why.to_string())?;
            return Ok(None);
        }
        if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) {
            return Err(format!("`{text}` is an integer, and the elements are floats"));
        }
        let is_number = digits.starts_with(|c: char| c.is_ascii_digit()) || matches!(digits, "inf" | "nan");
        let value = text.parse::<f64>().ok().filter(|_| is_number);
        let value = value.ok_or_else(|| format!("`{text}` is not a number"))?;
        if !kind.fits_f64() {
            self.unread = true;
            return Ok(None);
        }
        // Not by way of an `f64`, which would round twice.
        match (kind, text.parse::<f32>()) {
            (FloatKind::F32, Ok(value)) => Ok(Some(u64::from(value.to_bits()))),
            _ => Ok(kind.encode(value)),
        }
    }
}

/// The bits of an integer.
fn integer(text: &str, width: u32, sign: Signedness) -> Result<u64, String> {
    match text {
        "true" | "false" if width == 1 => return Ok(u64::from(text == "true")),
        _ => {}
    }
    let digits = text.strip_prefix('-').unwrap_or(text);
    let value = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) if hex.starts_with(|c: char| c.is_ascii_hexdigit()) => i128::from_str_radix(hex, 16).ok(),
        _ if digits.starts_with(|c: char| c.is_ascii_digit()) => digits.parse::<i128>().ok(),
        _ => None,
    };
    let value = value.ok_or_else(|| format!("`{text}` is not an integer"))?;
    let value = if digits.len() < text.len() { -value } else { value };
    if !super::literals::fits(value, width, sign) {
        return Err(format!("{value} does not fit in {width} bits"));
    }
    Ok(if width == 1 {
        u64::from(value != 0)
    } else {
        value as u64
    })
}
