//! Types in the text.

use super::caches::is_fixed;
use super::parser::{Failure, Parser};
use super::scalars::{Scalar, scalar};
use crate::text::cursor;
use crate::types::{Type, TypeData};

/// The types that most values have, and how long they are in the text.
#[inline]
fn frequent_scalar(text: &[u8]) -> Option<(Type, usize)> {
    let (ty, len) = match text {
        [b'f', b'6', b'4', ..] => (Type::F64, 3),
        [b'f', b'3', b'2', ..] => (Type::F32, 3),
        [b'i', b'n', b'd', b'e', b'x', ..] => (Type::INDEX, 5),
        [b'i', b'6', b'4', ..] => (Type::I64, 3),
        [b'i', b'3', b'2', ..] => (Type::I32, 3),
        [b'i', b'1', ..] => (Type::I1, 2),
        _ => return None,
    };
    let goes_on = text.get(len).is_some_and(|&b| cursor::is_name_byte(b));
    (!goes_on).then_some((ty, len))
}

impl<'s> Parser<'s> {
    /// A type.
    pub(super) fn parse_type(&mut self) -> Result<Type, Failure> {
        self.skip();
        if let Some((ty, len)) = frequent_scalar(&self.src[self.pos..]) {
            self.expanded += 1;
            self.pos += len;
            return Ok(ty);
        }
        // The same types come again and again; what ends in `>` does not go on.
        let letter = |at: usize| self.src.get(self.pos + at).copied().unwrap_or(0);
        let at = usize::from(letter(7) ^ letter(8).rotate_left(2) ^ letter(9).rotate_left(3));
        let src = &self.src[self.pos..];
        if let Some(&(text, ty)) = self.recent_types.find(at, |known| src.starts_with(known)) {
            self.pos += text.len();
            return Ok(ty);
        }
        let start = self.pos;
        let ty = self.nest(Self::parse_type_inner)?;
        let text = &self.src[start..self.pos];
        let is_shaped = [&b"tensor<"[..], b"memref<", b"vector<"]
            .iter()
            .any(|word| text.starts_with(word));
        if text.len() < 64 && is_shaped && text.ends_with(b">") && is_fixed(text) {
            self.recent_types.keep(at, text, ty);
        }
        Ok(ty)
    }

    fn parse_type_inner(&mut self) -> Result<Type, Failure> {
        self.skip();
        self.expanded += 1;
        let start = self.pos;
        match self.peek() {
            b'(' => {
                let (inputs, results) = self.parse_signature()?;
                Ok(self.ctx.function_type(&inputs, &results))
            }
            b'!' => {
                self.pos += 1;
                self.dialect_type(start)
            }
            b if b.is_ascii_alphabetic() => self.named_type(start),
            _ => Err(self.expected("a type", "for example `tensor<4xf32>`, `i64` or `cf.stack`")),
        }
    }

    /// `(T, …) -> U` or `(T, …) -> (U, …)`.
    pub(super) fn parse_signature(&mut self) -> Result<(Vec<Type>, Vec<Type>), Failure> {
        let inputs = self.parse_type_parens()?;
        self.expect(
            b"->",
            "`->`",
            "a full signature is written `(operand types) -> result types`",
        )?;
        let results = self.parse_result_types()?;
        Ok((inputs, results))
    }

    /// The types after an arrow: a type, or a list of types in parentheses.
    pub(super) fn parse_result_types(&mut self) -> Result<Vec<Type>, Failure> {
        self.skip();
        if self.peek() != b'(' {
            return Ok(vec![self.parse_type()?]);
        }
        let start = self.pos;
        let types = self.parse_type_parens()?;
        if self.src[self.after(self.pos)..].starts_with(b"->") {
            // A function type as the only result.
            self.pos = start;
            return Ok(vec![self.parse_type()?]);
        }
        Ok(types)
    }

    fn parse_type_parens(&mut self) -> Result<Vec<Type>, Failure> {
        self.expect(b"(", "`(`", "a list of types is written in parentheses")?;
        let mut types = Vec::new();
        self.skip();
        if self.eat(b")") {
            return Ok(types);
        }
        loop {
            types.push(self.parse_type()?);
            self.skip();
            if self.eat(b")") {
                return Ok(types);
            }
            self.expect(b",", "`,` or `)`", "separate types by commas")?;
        }
    }

    fn named_type(&mut self, start: usize) -> Result<Type, Failure> {
        let Some(word) = self.name() else {
            return Err(self.expected("a type", "for example `tensor<4xf32>`"));
        };
        match word {
            b"tensor" | b"memref" | b"vector" | b"complex" | b"tuple" if self.next_is(b'<') => {
                self.pos = self.after(self.pos);
                return self.bracketed_type(start);
            }
            b"vec" if self.peek() == b'<' => {
                self.pos += 1;
                return self.list_type();
            }
            b"none" => return Ok(Type::NONE),
            _ => {}
        }
        if let Some(ty) = scalar(word) {
            return Ok(match ty {
                Scalar::Type(ty) => ty,
                Scalar::Integer(width, sign) => self.ctx.intern_type(TypeData::Integer { width, sign }),
                Scalar::Float(kind) => self.ctx.float_type(kind),
            });
        }
        let name = std::str::from_utf8(word).unwrap_or_default();
        match self.ctx.find_type_def(name) {
            Some(declared) => self.declared_type(start, declared),
            None => {
                let failure = self.unknown_type(start, name);
                self.pos = start;
                Err(failure)
            }
        }
    }

    pub(super) fn list_type(&mut self) -> Result<Type, Failure> {
        let items = self.type_list("a list of types is written `vec<T, U>`")?;
        Ok(self.ctx.intern_type(TypeData::List(items.into())))
    }

    /// A name, in place.
    pub(super) fn name(&mut self) -> Option<&'s [u8]> {
        let src = self.src;
        let (rest, found) = cursor::name(&src[self.pos..]).ok()?;
        self.pos = src.len() - rest.len();
        Some(found)
    }
}
