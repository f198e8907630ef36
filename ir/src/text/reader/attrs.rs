//! Attributes in the text.

use super::parser::{Failure, Parser};
use crate::diagnostics::Span;
use crate::float_kind::FloatKind;
use crate::text::cursor::{self, balanced_end, string_end};
use crate::types::{Attr, AttrData, Type, TypeData};

impl<'s> Parser<'s> {
    /// Says that the string that begins at `start` does not end.
    pub(super) fn unclosed_string(&self, start: usize) -> Failure {
        let line = cursor::line_end(self.src, start);
        self.error_at(start, line, "unclosed-string", "this string is not closed".to_owned())
            .with_help("add a `\"`")
    }

    /// A string, without its quotes and escapes.
    pub(super) fn parse_string(&mut self) -> Result<String, Failure> {
        let start = self.pos;
        let Some(end) = string_end(self.src, start) else {
            return Err(self.unclosed_string(start));
        };
        self.pos = end;
        let raw = &self.src[start + 1..end - 1];
        let mut bytes = Vec::with_capacity(raw.len());
        let mut at = 0;
        while at < raw.len() {
            if raw[at] != b'\\' {
                bytes.push(raw[at]);
                at += 1;
                continue;
            }
            let hex = |b: Option<&u8>| b.and_then(|&b| (b as char).to_digit(16));
            match (raw.get(at + 1), hex(raw.get(at + 1)), hex(raw.get(at + 2))) {
                (_, Some(high), Some(low)) => {
                    bytes.push((high * 16 + low) as u8);
                    at += 3;
                    continue;
                }
                (Some(b'n'), ..) => bytes.push(b'\n'),
                (Some(b't'), ..) => bytes.push(b'\t'),
                (Some(b @ (b'"' | b'\\')), ..) => bytes.push(*b),
                _ => {
                    return Err(self
                        .error_at(start + 1 + at, start + 3 + at, "escape", "unknown escape".to_owned())
                        .with_help("escapes are `\\n`, `\\t`, `\\\\`, `\\\"` and two hexadecimal digits"));
                }
            }
            at += 2;
        }
        String::from_utf8(bytes).map_err(|_| {
            self.error_at(start, end, "utf8", "this string is not UTF-8".to_owned())
                .with_help("strings must be UTF-8; write bytes as hexadecimal text")
        })
    }

    /// An attribute value.
    pub(super) fn parse_attr(&mut self) -> Result<Attr, Failure> {
        self.nest(Self::parse_attr_inner)
    }

    /// Reads what may nest in itself as deep as the input does. To look for the end of the stack takes a system call, and most
    /// programs have nothing that is nested deep.
    pub(super) fn nest<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> T {
        self.nested += 1;
        let result = match self.nested > 8 {
            true => stacker::maybe_grow(64 * 1024, 1024 * 1024, || read(self)),
            false => read(self),
        };
        self.nested -= 1;
        result
    }

    fn parse_attr_inner(&mut self) -> Result<Attr, Failure> {
        self.skip();
        self.expanded += 1;
        let start = self.pos;
        match self.peek() {
            b'"' => {
                let text = match self.parse_string() {
                    // Bytes that are not UTF-8 are kept as escapes.
                    Err(failure)
                        if failure.code() == "utf8" && std::str::from_utf8(&self.src[start..self.pos]).is_ok() =>
                    {
                        return self.typed_text(start);
                    }
                    text => text?,
                };
                self.skip();
                if self.peek() == b':' && !self.starts_with(b"::") {
                    // A typed string is kept as it is written.
                    self.pos += 1;
                    self.parse_type()?;
                    return Ok(self.text_attr(start));
                }
                Ok(self.ctx.str_attr(&text))
            }
            b'[' => self.array(),
            b'{' => {
                let mut entries = Vec::new();
                self.parse_dict(&mut entries)?;
                let dict = self.ctx.dict(&entries);
                Ok(self.ctx.attr(AttrData::Dict(dict)))
            }
            b'@' => self.symbol(),
            b'#' => self.hash(start),
            b'-' | b'0'..=b'9' => self.numeric(start),
            b'!' | b'(' => {
                let ty = self.parse_type()?;
                Ok(self.ctx.type_attr(ty))
            }
            b if b.is_ascii_alphabetic() || b == b'_' => self.word(start),
            _ => Err(self.expected(
                "an attribute",
                "for example `1`, `0.5 : f32`, `\"text\"`, `[1, 2]`, `true`, `f32`, `@name`",
            )),
        }
    }

    pub(super) fn text_attr(&mut self, start: usize) -> Attr {
        self.aliases.mention(&self.src[start..self.pos]);
        let text = String::from_utf8_lossy(&self.src[start..self.pos]).into_owned();
        self.ctx.attr(AttrData::Opaque(text.into()))
    }

    fn array(&mut self) -> Result<Attr, Failure> {
        let open = self.pos;
        self.pos += 1;
        let mut items = Vec::new();
        self.skip();
        if self.eat(b"]") {
            return Ok(self.ctx.ints_attr(&[]));
        }
        loop {
            // `[4, dtype = f32}`: what follows is an entry of the dictionary around.
            if let Some(word) = self.entry_name() {
                return Err(self.unclosed_list(open).with_label(word, "this is not an element"));
            }
            items.push(self.parse_attr()?);
            self.skip();
            if self.eat(b"]") {
                return Ok(self.ctx.attr(AttrData::Array(items.into())));
            }
            if !self.eat(b",") {
                return Err(match self.peek() {
                    b'}' | b')' | b':' | b'=' | 0 => self.unclosed_list(open),
                    _ => self.expected("`,` or `]`", "list elements are separated by commas"),
                });
            }
        }
    }

    /// The error for an unclosed list that begins at `open`; its elements end before the current position.
    fn unclosed_list(&self, open: usize) -> Failure {
        let before = self.src[open..self.pos].trim_ascii_end();
        let end = open + before.strip_suffix(b",").unwrap_or(before).trim_ascii_end().len();
        self.error_at(open, open + 1, "unclosed", "this list is not closed".to_owned())
            .with_help("add a `]` after its last element")
            .with_edit(Span::new(end, end), "]")
    }

    /// The name of an entry, with its `=`, if one is next.
    fn entry_name(&self) -> Option<Span> {
        let start = self.after(self.pos);
        let (_, word) = cursor::name(&self.src[start..]).ok()?;
        let end = start + word.len();
        let behind = self.src.get(self.after(end)..)?;
        (behind.first() == Some(&b'=') && behind.get(1) != Some(&b'=')).then(|| Span::new(start, end))
    }

    /// `@a::@b`.
    fn symbol(&mut self) -> Result<Attr, Failure> {
        let mut path = Vec::new();
        loop {
            let name = self.parse_symbol_name()?;
            path.push(self.ctx.sym(&name));
            if !(self.starts_with(b"::@")) {
                break;
            }
            self.pos += 2;
        }
        Ok(self.ctx.attr(AttrData::Symbol(path.into())))
    }

    /// `@name` or `@"any text"`.
    pub(super) fn parse_symbol_name(&mut self) -> Result<String, Failure> {
        self.expect(b"@", "`@`", "a symbol is written `@name`")?;
        if self.peek() == b'"' {
            return self.parse_string();
        }
        match cursor::suffix(&self.src[self.pos..]) {
            Ok((rest, found)) => {
                self.pos = self.src.len() - rest.len();
                Ok(String::from_utf8_lossy(found).into_owned())
            }
            Err(_) => Err(self.expected("the name of a symbol", "a symbol is written `@name`")),
        }
    }

    fn hash(&mut self, start: usize) -> Result<Attr, Failure> {
        self.pos += 1;
        let word_start = self.pos;
        while cursor::is_suffix_byte(self.peek()) {
            self.pos += 1;
        }
        let word = &self.src[word_start..self.pos];
        if self.peek() == b'<' {
            self.pos = balanced_end(self.src, self.pos).ok_or_else(|| self.unclosed())?;
        } else if let Some((attr, size)) = self.aliases.attr(word) {
            self.expand(start, size)?;
            return Ok(attr);
        } else if !word.contains(&b'.') {
            self.later.push((b'#', word, Span::new(start, self.pos)));
        }
        self.typed_text(start)
    }

    /// Text with an optional type after it.
    fn typed_text(&mut self, start: usize) -> Result<Attr, Failure> {
        let end = self.pos;
        self.skip();
        if self.peek() == b':' && !self.starts_with(b"::") {
            self.pos += 1;
            self.parse_type()?;
        } else {
            self.pos = end;
        }
        Ok(self.text_attr(start))
    }

    fn word(&mut self, start: usize) -> Result<Attr, Failure> {
        let word = cursor::name(&self.src[start..]).map_or(&b""[..], |(_, w)| w);
        let plain = match word {
            b"true" => Some(AttrData::Bool(true)),
            b"false" => Some(AttrData::Bool(false)),
            b"unit" => Some(AttrData::Unit),
            b"inf" => Some(AttrData::Float {
                bits: f64::INFINITY.to_bits(),
                ty: Type::F64,
            }),
            b"nan" => Some(AttrData::Float {
                bits: f64::NAN.to_bits(),
                ty: Type::F64,
            }),
            _ => None,
        };
        if let Some(data) = plain {
            self.pos = start + word.len();
            let attr = self.ctx.attr(data.clone());
            return match data {
                AttrData::Float { bits, .. } => self.float_with_type(start, f64::from_bits(bits)),
                _ => Ok(attr),
            };
        }
        let open = match word {
            b"dense" | b"sparse" | b"array" => self.after(start + word.len()),
            _ => start + word.len(),
        };
        let next = self.src.get(open).copied().unwrap_or(0);
        let bracketed = match word {
            b"dense" | b"sparse" | b"array" | b"affine_map" | b"affine_set" | b"strided" | b"opaque"
            | b"dense_resource" | b"distinct" => matches!(next, b'<' | b'['),
            b"loc" => next == b'(',
            _ => false,
        };
        if bracketed {
            self.pos = balanced_end(self.src, open).ok_or_else(|| self.unclosed())?;
            if word == b"distinct" && self.peek() == b'<' {
                self.pos = balanced_end(self.src, self.pos).ok_or_else(|| self.unclosed())?;
            }
            let inside = Span::new(open + 1, self.pos - 1);
            match word {
                b"affine_map" | b"affine_set" => self.check_affine(inside, word == b"affine_map")?,
                b"loc" => self.check_location(inside)?,
                b"strided" => {
                    let text = strided(&self.text(inside));
                    return Ok(self.ctx.attr(AttrData::Opaque(text.into())));
                }
                b"dense" => {
                    if let Some(ty) = self.type_behind_colon()?
                        && let Some(attr) = self.dense(inside, ty)?
                    {
                        return Ok(attr);
                    }
                    return Ok(self.text_attr(start));
                }
                b"array" => {
                    if let Some(attr) = self.dense_array(inside)? {
                        return Ok(attr);
                    }
                }
                _ => {}
            }
            return self.typed_text(start);
        }
        match self.parse_type() {
            Ok(ty) => Ok(self.ctx.type_attr(ty)),
            Err(failure) if failure.code() == "unknown-type" && self.pos == start => {
                let text = String::from_utf8_lossy(word).into_owned();
                Err(self
                    .error_at(
                        start,
                        start + word.len(),
                        "unknown-attribute-value",
                        format!("`{text}` is not an attribute"),
                    )
                    .with_help(format!("write strings in quotes: `\"{text}\"`")))
            }
            Err(failure) => Err(failure),
        }
    }

    fn numeric(&mut self, start: usize) -> Result<Attr, Failure> {
        let negative = self.eat(b"-");
        if let Ok((rest, digits)) = cursor::hex(&self.src[self.pos..]) {
            self.pos = self.src.len() - rest.len();
            return self.hex_number(start, negative, digits);
        }
        if negative && self.starts_with(b"inf") {
            self.pos += 3;
            return self.float_with_type(start, f64::NEG_INFINITY);
        }
        let Ok((rest, (digits, float))) = cursor::number(&self.src[self.pos..]) else {
            return Err(self.expected("a number", "for example `-1` or `2.5e-3`"));
        };
        self.pos = self.src.len() - rest.len();
        let text = std::str::from_utf8(digits).unwrap_or_default();
        if float {
            let value: f64 = text.parse().unwrap_or(f64::NAN);
            return self.float_with_type(start, if negative { -value } else { value });
        }
        let ty = self.type_behind_colon()?;
        if let Some(kind) = ty.and_then(|t| t.float_kind(self.ctx)).filter(|kind| kind.fits_f64()) {
            let value: f64 = text.parse().unwrap_or(f64::NAN);
            return Ok(self.float_attr(if negative { -value } else { value }, kind, ty));
        }
        if let Some(ty) = ty {
            self.check_number_type(start, ty, false)?;
        }
        match text.parse::<i128>() {
            Ok(value) if !ty.is_some_and(|t| self.is_strange(t)) => {
                let value = if negative { -value } else { value };
                self.check_integer(start, value, ty.unwrap_or(Type::I64))?;
                Ok(self.ctx.attr(AttrData::Int {
                    value,
                    ty: ty.unwrap_or(Type::I64),
                }))
            }
            // An integer wider than anything computes with: kept as it is written.
            _ => Ok(self.text_attr(start)),
        }
    }

    fn hex_number(&mut self, start: usize, negative: bool, digits: &[u8]) -> Result<Attr, Failure> {
        let ty = self.type_behind_colon()?;
        let text = std::str::from_utf8(digits).unwrap_or_default();
        let bits = u64::from_str_radix(text, 16);
        if let Some(ty) = ty {
            self.check_number_type(start, ty, false)?;
        }
        match (ty.and_then(|t| t.float_kind(self.ctx)), bits) {
            (Some(FloatKind::F64), Ok(bits)) => Ok(self.ctx.attr(AttrData::Float { bits, ty: Type::F64 })),
            (Some(FloatKind::F32), Ok(bits)) if bits <= u64::from(u32::MAX) => {
                let bits = widen_f32(bits as u32);
                Ok(self.ctx.attr(AttrData::Float { bits, ty: Type::F32 }))
            }
            (None, _) if ty.is_some_and(|t| self.is_strange(t)) => Ok(self.text_attr(start)),
            (None, _) => match i128::from_str_radix(text, 16) {
                Ok(value) => {
                    let value = if negative { -value } else { value };
                    self.check_integer(start, value, ty.unwrap_or(Type::I64))?;
                    Ok(self.ctx.attr(AttrData::Int {
                        value,
                        ty: ty.unwrap_or(Type::I64),
                    }))
                }
                Err(_) => Ok(self.text_attr(start)),
            },
            _ => Ok(self.text_attr(start)),
        }
    }

    /// Whether numbers of the type are kept as they are written, since an `f64` cannot hold them.
    fn is_strange(&self, ty: Type) -> bool {
        match self.ctx.type_data(ty) {
            TypeData::Float(kind) => !kind.fits_f64(),
            _ => self.ctx.is_of_dialect(ty),
        }
    }

    fn type_behind_colon(&mut self) -> Result<Option<Type>, Failure> {
        let end = self.pos;
        self.skip();
        if self.peek() == b':' && !self.starts_with(b"::") {
            self.pos += 1;
            return self.parse_type().map(Some);
        }
        self.pos = end;
        Ok(None)
    }

    fn float_with_type(&mut self, start: usize, value: f64) -> Result<Attr, Failure> {
        let ty = self.type_behind_colon()?;
        if let Some(ty) = ty {
            self.check_number_type(start, ty, true)?;
        }
        if ty.is_some_and(|t| self.is_strange(t)) {
            return Ok(self.text_attr(start));
        }
        let kind = ty.and_then(|t| t.float_kind(self.ctx)).unwrap_or(FloatKind::F64);
        Ok(self.float_attr(value, kind, ty))
    }

    fn float_attr(&mut self, value: f64, kind: FloatKind, ty: Option<Type>) -> Attr {
        // A number of a narrow type is that type's nearest.
        let value = if kind == FloatKind::F32 {
            f64::from(value as f32)
        } else {
            value
        };
        self.ctx.attr(AttrData::Float {
            bits: value.to_bits(),
            ty: ty.unwrap_or(Type::F64),
        })
    }
}

/// A layout as MLIR prints it: `strided<[4, 1], offset: 2>`, however it is written.
fn strided(inside: &str) -> String {
    let text: String = inside.split_whitespace().collect();
    let (strides, offset) = match text.split_once("],offset:") {
        Some((strides, offset)) => (strides.to_owned() + "]", offset),
        None => (text, "0"),
    };
    let strides = strides.replace(',', ", ");
    match offset {
        "0" => format!("strided<{strides}>"),
        offset => format!("strided<{strides}, offset: {offset}>"),
    }
}

/// The bits of an `f64` with the value of an `f32`; a NaN keeps its payload.
pub(super) fn widen_f32(bits: u32) -> u64 {
    let value = f32::from_bits(bits);
    if value.is_nan() {
        let sign = u64::from(bits >> 31) << 63;
        return sign | (0x7ff << 52) | (u64::from(bits & 0x007f_ffff) << 29);
    }
    f64::from(value).to_bits()
}
