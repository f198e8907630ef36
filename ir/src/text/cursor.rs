//! The lowest level of the parser: bytes, blanks, words.
//!
//! The parts are nom parsers over `&[u8]` with an empty error type; the level above, which knows what it expected,
//! reports the error and its location.

use memchr::memchr2;
use nom::IResult;
use nom::bytes::complete::take_while;
use nom::character::complete::{digit1, hex_digit1};
use smallvec::SmallVec;

pub(crate) type Scan<'a> = IResult<&'a [u8], &'a [u8], ()>;

/// In [`WORDS`]: brackets, and what precedes text in which brackets mean nothing.
const NESTING: u8 = 4;

/// For each byte whether it is one of a name, whether it is one of the name of a value, and whether it is of
/// [`NESTING`].
const WORDS: [u8; 256] = {
    let mut kinds = [0; 256];
    let mut at = 0;
    while at < 256 {
        let byte = at as u8;
        if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.') {
            kinds[at] = 3;
        } else if byte == b'-' {
            kinds[at] = 2 | NESTING;
        } else if matches!(
            byte,
            b'"' | b'/' | b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'<' | b'>'
        ) {
            kinds[at] = NESTING;
        }
        at += 1;
    }
    kinds
};

/// Bytes of a name: `[A-Za-z0-9_$.]`.
#[inline]
pub(crate) fn is_name_byte(b: u8) -> bool {
    WORDS[b as usize] & 1 != 0
}

/// Bytes of the name of a value or a block: also `-`.
#[inline]
pub(crate) fn is_suffix_byte(b: u8) -> bool {
    WORDS[b as usize] & 2 != 0
}

/// How many bytes precede the first one that is none of these.
#[inline]
fn len(input: &[u8], is_inside: impl Fn(u8) -> bool) -> usize {
    let outside = |b: &u8| !is_inside(*b);
    // Most names are short: nearly all of them end within these bytes.
    let mut at = 0;
    while let Some(chunk) = input[at..].first_chunk::<8>() {
        if let Some(len) = chunk.iter().position(outside) {
            return at + len;
        }
        at += 8;
    }
    input[at..].iter().position(outside).map_or(input.len(), |len| at + len)
}

/// How long the name is that the input begins with; 0 for none.
pub(crate) fn name_len(input: &[u8]) -> usize {
    match input.first() {
        Some(b) if b.is_ascii_alphabetic() || *b == b'_' => len(input, is_name_byte),
        _ => 0,
    }
}

pub(crate) fn name(input: &[u8]) -> Scan<'_> {
    word(input, name_len(input))
}

/// How long the part of a value's or a block's name after its sigil is; 0 for none. `->` ends it.
pub(crate) fn suffix_len(input: &[u8]) -> usize {
    let mut len = len(input, is_suffix_byte);
    while len > 0 && input[len - 1] == b'-' && input.get(len) == Some(&b'>') {
        len -= 1;
    }
    len
}

/// The same of a name of letters, digits and underscores that ends before the eighth of these bytes, of which the first is the lowest one of
/// `word`; nothing for other names.
#[inline]
pub(crate) fn short_suffix_len(word: u64) -> Option<usize> {
    const EACH: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x80 * EACH;
    if word & HIGH != 0 {
        return None;
    }
    // The highest bit of each byte: whether the others are at least `least`. No sum carries into the next byte.
    let from = |bytes: u64, least: u8| bytes + u64::from(0x80 - least) * EACH;
    let lower = word | (0x20 * EACH);
    let is_letter = from(lower, b'a') & !from(lower, b'z' + 1);
    let is_digit = from(word, b'0') & !from(word, b'9' + 1);
    let is_other = from(word ^ (u64::from(b'_') * EACH), 1);
    let ends = !is_letter & !is_digit & is_other & HIGH;
    let len = ends.trailing_zeros() as usize / 8;
    // The remaining bytes that names may have are treated by the general way, which knows arrows too.
    let is_short = ends != 0 && !is_suffix_byte((word >> (8 * len)) as u8);
    is_short.then_some(len)
}

/// The part of a value's or a block's name after its sigil.
pub(crate) fn suffix(input: &[u8]) -> Scan<'_> {
    word(input, suffix_len(input))
}

fn word(input: &[u8], len: usize) -> Scan<'_> {
    match input.split_at(len) {
        ([], _) => Err(nom::Err::Error(())),
        (found, rest) => Ok((rest, found)),
    }
}

/// An unsigned decimal number, integer or floating point; `true` for floating point.
pub(crate) fn number(input: &[u8]) -> IResult<&[u8], (&[u8], bool), ()> {
    let (mut rest, _) = digit1(input)?;
    let mut float = false;
    if rest.first() == Some(&b'.') {
        float = true;
        rest = take_while(|b: u8| b.is_ascii_digit())(&rest[1..])
            .map(|(r, _): (&[u8], &[u8])| r)
            .map_err(|e: nom::Err<()>| e)?;
    }
    if matches!(rest.first(), Some(b'e' | b'E')) {
        let exponent = match rest.get(1) {
            Some(b'+' | b'-') => &rest[2..],
            _ => &rest[1..],
        };
        if let Ok((after, _)) = digit1::<&[u8], ()>(exponent) {
            float = true;
            rest = after;
        }
    }
    Ok((rest, (&input[..input.len() - rest.len()], float)))
}

/// The digits of a hexadecimal number, without the `0x`.
pub(crate) fn hex(input: &[u8]) -> Scan<'_> {
    match input {
        [b'0', b'x' | b'X', rest @ ..] => hex_digit1(rest),
        _ => Err(nom::Err::Error(())),
    }
}

/// The decimal digits that the input begins with.
pub(crate) fn digits(input: &[u8]) -> &str {
    let len = input.iter().take_while(|b| b.is_ascii_digit()).count();
    std::str::from_utf8(&input[..len]).unwrap_or_default()
}

/// Skips blanks.
pub(crate) fn blanks(src: &[u8], mut pos: usize) -> usize {
    loop {
        // Lines are indented.
        while src.get(pos..).is_some_and(|rest| rest.starts_with(b"    ")) {
            pos += 4;
        }
        match src.get(pos) {
            Some(b' ' | b'\t' | b'\n' | b'\r') => pos += 1,
            _ => return pos,
        }
    }
}

/// The end of the line that `pos` is in, before the line break: a line feed, a carriage return, or both.
pub(crate) fn line_end(src: &[u8], pos: usize) -> usize {
    memchr2(b'\n', b'\r', &src[pos..]).map_or(src.len(), |at| pos + at)
}

/// The place after the closing quote of a string whose opening quote is at `pos`; `None` if it is not closed.
pub(crate) fn string_end(src: &[u8], pos: usize) -> Option<usize> {
    let mut at = pos + 1;
    loop {
        at += memchr2(b'"', b'\\', src.get(at..)?)?;
        if src[at] == b'"' {
            return Some(at + 1);
        }
        at += 2;
    }
}

/// The place after the symbol whose `@` is at `pos`; `None` if no name follows.
pub(crate) fn symbol_end(src: &[u8], pos: usize) -> Option<usize> {
    match src.get(pos + 1)? {
        b'"' => string_end(src, pos + 1),
        _ => Some(pos + 1 + suffix(&src[pos + 1..]).ok()?.1.len()),
    }
}

/// The place after the bracket that closes the one at `pos`, whatever is between; `None` if nothing does.
pub(crate) fn balanced_end(src: &[u8], pos: usize) -> Option<usize> {
    let mut open: SmallVec<[u8; 16]> = SmallVec::new();
    let mut at = pos;
    loop {
        while src.get(at).is_some_and(|&b| WORDS[b as usize] & NESTING == 0) {
            at += 1;
        }
        match *src.get(at)? {
            b'"' => {
                at = string_end(src, at)?;
                continue;
            }
            b'/' if src.get(at + 1) == Some(&b'/') => {
                at = line_end(src, at);
                continue;
            }
            b'-' if src.get(at + 1) == Some(&b'>') => at += 1,
            b'(' => open.push(b')'),
            b'[' => open.push(b']'),
            b'{' => open.push(b'}'),
            // A comparison in an affine set.
            b'<' if src.get(at + 1) == Some(&b'=') => {}
            b'<' => open.push(b'>'),
            b @ (b')' | b']' | b'}' | b'>') => {
                // Comparison signs occur in affine constraints: `>` alone closes nothing.
                if open.last() == Some(&b) {
                    open.pop();
                } else if b != b'>' {
                    return None;
                }
                if open.is_empty() {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
        at += 1;
    }
}

/// Whether a text begins with a sign, or with a word that ends there.
#[inline]
pub(super) fn is_literal(rest: &[u8], text: &str) -> bool {
    match text.as_bytes() {
        // Most are signs of one byte.
        &[sign] if !sign.is_ascii_alphanumeric() => rest.first() == Some(&sign),
        text => {
            let is_word = text.last().is_some_and(u8::is_ascii_alphanumeric);
            let ends = |rest: &[u8]| !is_word || rest.first().is_none_or(|&b| !is_name_byte(b));
            (text.is_empty() || rest.first() == text.first()) && rest.strip_prefix(text).is_some_and(ends)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names() {
        assert_eq!(number(b"12)"), Ok((&b")"[..], (&b"12"[..], false))));
        assert_eq!(number(b"1.5e+21 "), Ok((&b" "[..], (&b"1.5e+21"[..], true))));
        assert_eq!(number(b"4x"), Ok((&b"x"[..], (&b"4"[..], false))));
        assert_eq!(number(b"3.e"), Ok((&b"e"[..], (&b"3."[..], true))));
        assert!(number(b"x").is_err());
        assert_eq!(suffix(b"a-b->c"), Ok((&b"->c"[..], &b"a-b"[..])));
        assert_eq!(name(b"pd.add("), Ok((&b"("[..], &b"pd.add"[..])));
    }

    #[test]
    fn short_names_end_where_names_do() {
        for end in 0..=u8::MAX {
            for inside in 0..=u8::MAX {
                for len in 0..8 {
                    let mut text = *b"aZ0_9zA5";
                    text[len / 2] = inside;
                    text[len] = end;
                    let (short, all) = (short_suffix_len(u64::from_le_bytes(text)), suffix_len(&text));
                    assert!(short.is_none_or(|short| short == all), "{text:?}: {short:?}, {all}");
                    if inside.is_ascii_alphanumeric() && matches!(end, b' ' | b',' | b')' | b':' | b'#' | b'\n') {
                        assert_eq!(short, Some(len), "{text:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn brackets() {
        assert_eq!(balanced_end(b"<a, \">\" -> [x]> y", 0), Some(15));
        assert_eq!(balanced_end(b"(a]", 0), None);
        assert_eq!(balanced_end(b"(a", 0), None);
    }
}
