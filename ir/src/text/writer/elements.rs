//! Printing of the elements of constants, as MLIR prints them.

use std::fmt::Write;

use crate::context::Context;
use crate::elements::{ElementKind, Elements, ElementsForm, extend};
use crate::float_kind::FloatKind;
use crate::text::writer::attr::{push_int, write_type};
use crate::types::Signedness;

/// A constant with more elements than this is written as its bytes.
const MOST_NUMBERS: usize = 100;

/// Writes `dense<…>` or `array<…>`, without the type of the former.
pub(super) fn write_elements(ctx: &Context, out: &mut String, elements: &Elements, elide: Option<usize>) {
    let size = elements.kind().bytes();
    let numbers = elements.bytes().chunks_exact(size);
    let is_bool = matches!(elements.kind(), ElementKind::Integer { width: 1, .. });
    let width = 1 + usize::from(elements.is_complex());
    let write_one = |out: &mut String, element: &[&[u8]]| match element {
        [re, im] => {
            out.push('(');
            number(out, elements.kind(), re);
            out.push(',');
            number(out, elements.kind(), im);
            out.push(')');
        }
        _ => element.iter().for_each(|bytes| number(out, elements.kind(), bytes)),
    };
    if elements.form() == ElementsForm::Array {
        out.push_str("array<");
        write_type(ctx, out, elements.ty(), false);
        for (at, bytes) in numbers.enumerate() {
            out.push_str(if at == 0 { ": " } else { ", " });
            number(out, elements.kind(), bytes);
        }
        out.push('>');
        return;
    }
    let is_list = !elements.is_splat() && !elements.is_empty();
    if is_list && elide.is_some_and(|limit| elements.len() > limit) {
        out.push_str("dense_resource<__elided__>");
        return;
    }
    out.push_str("dense<");
    // Old and new versions of MLIR read booleans in bytes differently.
    if is_list && elements.len() > MOST_NUMBERS && !is_bool {
        write_bytes(out, elements.bytes());
    } else {
        let numbers: Vec<&[u8]> = numbers.collect();
        let shape = ctx.as_elements(elements.ty()).map_or(&[][..], |(shape, _)| shape);
        let shape = if is_list { shape } else { &[] };
        // How many elements a list of each depth has.
        let mut sizes: Vec<usize> = Vec::with_capacity(shape.len());
        for &dim in shape.iter().rev() {
            let inner = sizes.last().copied().unwrap_or(1);
            sizes.push(inner.saturating_mul(usize::try_from(dim).unwrap_or(0)));
        }
        for (at, element) in numbers.chunks_exact(width).enumerate() {
            if at > 0 {
                out.push_str(", ");
            }
            let lists = || sizes.iter().filter(|&&size| size > 0);
            lists().filter(|&&size| at % size == 0).for_each(|_| out.push('['));
            write_one(out, element);
            lists()
                .filter(|&&size| (at + 1) % size == 0)
                .for_each(|_| out.push(']'));
        }
    }
    out.push('>');
}

/// `"0x…"`.
fn write_bytes(out: &mut String, bytes: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    out.reserve(2 * bytes.len() + 4);
    out.push_str("\"0x");
    let mut buffer = [0u8; 4096];
    for part in bytes.chunks(buffer.len() / 2) {
        for (pair, &byte) in buffer.chunks_exact_mut(2).zip(part) {
            pair[0] = DIGITS[usize::from(byte >> 4)];
            pair[1] = DIGITS[usize::from(byte & 15)];
        }
        out.push_str(std::str::from_utf8(&buffer[..2 * part.len()]).unwrap_or_default());
    }
    out.push('"');
}

fn number(out: &mut String, kind: ElementKind, bytes: &[u8]) {
    let mut wide = [0; 16];
    let used = bytes.len().min(16);
    wide[..used].copy_from_slice(&bytes[..used]);
    let bits = u128::from_le_bytes(wide);
    match kind {
        ElementKind::Integer { width: 1, .. } => out.push_str(if bits == 0 { "false" } else { "true" }),
        ElementKind::Integer { width, sign } => push_int(
            out,
            match sign {
                Signedness::Unsigned => bits as i128,
                _ => i128::from(extend(bits as u64, width, sign)),
            },
        ),
        ElementKind::Float(kind) => match kind.decode(bits as u64).filter(|value| value.is_finite()) {
            Some(value) => float(out, kind, bits as u64, value),
            None => {
                let _ = write!(out, "0x{bits:X}");
            }
        },
    }
}

/// Six digits with an exponent if that is exact, otherwise as many as distinguish the number from its neighbours, like
/// LLVM's `APFloat::toString`.
pub(super) fn float(out: &mut String, kind: FloatKind, bits: u64, value: f64) {
    if !value.is_finite() {
        let _ = write!(out, "0x{bits:0width$X}", width = kind.bits() as usize / 4);
        return;
    }
    let (digits, exponent) = decimal(value, 6);
    let mut text = String::new();
    if value.is_sign_negative() {
        text.push('-');
    }
    let (first, rest) = digits.split_at(1);
    let sign = if exponent < 0 { '-' } else { '+' };
    let _ = write!(text, "{first}.{rest:0<6}e{sign}{:02}", exponent.abs());
    let again = match kind {
        FloatKind::F32 => text.parse().ok().map(|value: f32| u64::from(value.to_bits())),
        _ => text.parse().ok().and_then(|value| kind.encode(value)),
    };
    if again == Some(bits) {
        out.push_str(&text);
        return;
    }
    let most = kind.decimal_digits();
    let (digits, exponent) = decimal(value, most);
    let sign = if value.is_sign_negative() { "-" } else { "" };
    // The power of ten of the last digit.
    let last = exponent - (digits.len() as i32 - 1);
    let (first, rest) = digits.split_at(1);
    if last > 3 || last >= 0 && digits.len() as i32 + last > most as i32 || last < 0 && exponent < -3 {
        let rest = if rest.is_empty() { "0" } else { rest };
        let exponent_sign = if exponent < 0 { '-' } else { '+' };
        let _ = write!(out, "{sign}{first}.{rest}E{exponent_sign}{}", exponent.abs());
    } else if last >= 0 {
        // Without a point it would be read as an integer: the bits are.
        let _ = write!(out, "0x{bits:X}");
    } else if exponent >= 0 {
        let (whole, fraction) = digits.split_at(exponent as usize + 1);
        let _ = write!(out, "{sign}{whole}.{fraction}");
    } else {
        let _ = write!(out, "{sign}0.{:0<1$}{digits}", "", (-exponent - 1) as usize);
    }
}

/// The first `most` significant digits of a number, without trailing zeros, and the power of ten of the first. As in
/// LLVM, remote digits are truncated before the rest is rounded, half up.
fn decimal(value: f64, most: usize) -> (String, i32) {
    if value == 0.0 {
        return ("0".to_owned(), 0);
    }
    // An odd integer times a power of two.
    let bits = value.abs().to_bits();
    let (field, fraction) = ((bits >> 52) as i32, bits & ((1 << 52) - 1));
    let (odd, power) = match field {
        0 => (fraction, -1074),
        _ => (fraction | 1 << 52, field - 1075),
    };
    let power = power + odd.trailing_zeros() as i32;
    // All its digits: of an integer, those of the integer, else those of the integer times a power of ten.
    let text = format!("{:.0e}", value.abs());
    let estimate: i32 = text.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
    let text = format!("{:.*e}", (estimate + (-power).max(0) + 1).max(0) as usize, value.abs());
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let mut digits: Vec<u8> = mantissa.bytes().filter(u8::is_ascii_digit).map(|b| b - b'0').collect();
    let len = (exponent + (-power).max(0) + 1) as usize;
    digits.resize(len, 0);
    let leading = digits
        .iter()
        .take(17)
        .fold(0.0, |number, &digit| number * 10.0 + f64::from(digit));
    let log = leading.log2() + (len - len.min(17)) as f64 * std::f64::consts::LOG2_10;
    let bits = match power {
        0.. => (64 - (odd >> odd.trailing_zeros()).leading_zeros()) as i32 + power,
        _ => log as i32 + 1,
    };
    // As many bits as the digits that are wanted take, a little more than their logarithm.
    let wanted = (most * 196).div_ceil(59) as i32;
    digits.truncate(len - ((bits - wanted).max(0) * 59 / 196) as usize);
    let trim = |digits: &mut Vec<u8>| {
        while digits.len() > 1 && digits.last() == Some(&0) {
            digits.pop();
        }
    };
    trim(&mut digits);
    let mut exponent = exponent;
    if digits.len() > most {
        let up = digits[most] >= 5;
        digits.truncate(most);
        if up {
            while digits.last() == Some(&9) {
                digits.pop();
            }
            match digits.last_mut() {
                Some(last) => *last += 1,
                None => {
                    digits.push(1);
                    exponent += 1;
                }
            }
        }
        trim(&mut digits);
    }
    (
        digits.into_iter().map(|digit| char::from(b'0' + digit)).collect(),
        exponent,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn print(value: f32) -> String {
        let mut out = String::new();
        number(&mut out, ElementKind::Float(FloatKind::F32), &value.to_le_bytes());
        out
    }

    #[test]
    fn floats_are_printed_as_llvm_prints_them() {
        for (value, text) in [
            (0.0, "0.000000e+00"),
            (-0.0, "-0.000000e+00"),
            (1.5, "1.500000e+00"),
            (0.1, "1.000000e-01"),
            (-4.25e-7, "-4.250000e-07"),
            (1.234567, "1.23456705"),
            (0.012345678, "0.0123456782"),
            (1.0e-5, "9.99999974E-6"),
            (1e-45, "1.401300e-45"),
            (123456.79, "123456.789"),
            (778.128_36, "778.128356"),
            (16777215.0, "0x4B7FFFFF"),
            (3.4028235e38, "3.40282347E+38"),
            (f32::INFINITY, "0x7F800000"),
        ] {
            assert_eq!(print(value), text);
        }
    }
}
