//! Types in the text.

use super::caches::is_fixed;
use super::parser::{Failure, Parser};
use super::scalars::{Scalar, scalar};
use crate::text::cursor::{self, balanced_end};
use crate::types::{DYNAMIC, Type, TypeData};

impl<'s> Parser<'s> {
    /// A type.
    pub(super) fn parse_type(&mut self) -> Result<Type, Failure> {
        self.skip();
        // The same types come again and again; what ends in `>` does not go on.
        let letter = |at: usize| self.src.get(self.pos + at).copied().unwrap_or(0);
        let at = usize::from(letter(7) ^ letter(8).rotate_left(2) ^ letter(9).rotate_left(3));
        let src = &self.src[self.pos..];
        let is_next = |known: &Option<(&[u8], Type)>| known.is_some_and(|known| src.starts_with(known.0));
        if let Some(&Some((text, ty))) = self.recent_types.find(at, is_next) {
            self.pos += text.len();
            return Ok(ty);
        }
        let start = self.pos;
        let ty = stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.parse_type_inner())?;
        let text = &self.src[start..self.pos];
        if text.len() < 64 && text.starts_with(b"tensor<") && text.ends_with(b">") && is_fixed(text) {
            *self.recent_types.place(at) = Some((text, ty));
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

    /// What comes after an arrow: a type, or a list of types in parentheses.
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
        self.expect(b"(", "`(`", "a list of types stands in parentheses")?;
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
            b"tensor" if self.peek() == b'<' => return self.tensor_type(start),
            b"vec" if self.peek() == b'<' => {
                self.pos += 1;
                return self.list_type();
            }
            b"none" => return Ok(Type::NONE),
            b"memref" | b"vector" | b"complex" | b"tuple" if self.peek() == b'<' => return self.opaque_type(start),
            _ => {}
        }
        if let Some(ty) = scalar(word) {
            return Ok(match ty {
                Scalar::Type(ty) => ty,
                Scalar::Integer(width, sign) => self.ctx.intern_type(TypeData::Integer { width, sign }),
                Scalar::Other => self.text_type(start),
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

    /// A type whose text is all that is known of it.
    fn text_type(&mut self, start: usize) -> Type {
        self.aliases.mention(&self.src[start..self.pos]);
        let text = String::from_utf8_lossy(&self.src[start..self.pos]).into_owned();
        self.ctx.intern_type(TypeData::Opaque(text.into()))
    }

    fn opaque_type(&mut self, start: usize) -> Result<Type, Failure> {
        let end = balanced_end(self.src, self.pos).ok_or_else(|| self.unclosed())?;
        let text = &self.src[start..end];
        if let Some(&ty) = self.type_cache.get(text) {
            self.pos = end;
            return Ok(ty);
        }
        let brings = self.aliases.pause();
        let read = self.opaque_parameters(start);
        self.aliases.resume(brings);
        read?;
        self.pos = end;
        let ty = self.text_type(start);
        if is_fixed(text) {
            self.type_cache.insert(text, ty);
        }
        Ok(ty)
    }

    /// Looks at what the brackets of a type begin with that is kept as text: dimensions and the type of elements.
    fn opaque_parameters(&mut self, start: usize) -> Result<(), Failure> {
        let word = self.src[start..self.pos].to_vec();
        self.pos += 1;
        self.skip();
        match &*word {
            b"tuple" => {
                if self.eat(b">") {
                    return Ok(());
                }
                loop {
                    self.parse_type()?;
                    self.skip();
                    if self.eat(b">") {
                        return Ok(());
                    }
                    self.expect(b",", "`,` or `>`", "a tuple is written `tuple<T, U>`")?;
                }
            }
            b"complex" => {
                let at = self.pos;
                let ty = self.parse_type()?;
                let data = self.ctx.type_data(ty);
                if !matches!(
                    data,
                    TypeData::Integer { .. } | TypeData::Float(_) | TypeData::Opaque(_)
                ) {
                    return Err(self
                        .error_at(
                            at,
                            self.pos,
                            "element-type",
                            "this is no element type of a complex number".to_owned(),
                        )
                        .with_help("a complex type is written `complex<f32>`"));
                }
                return self.expect(b">", "`>`", "a complex type is written `complex<f32>`");
            }
            _ => {}
        }
        let is_vector = word == b"vector";
        loop {
            self.skip();
            let before = self.pos;
            let bracket = is_vector && self.eat(b"[");
            let digits = cursor::digits(&self.src[self.pos..]).len();
            self.pos += digits;
            if digits == 0 && (is_vector || !(self.eat(b"?") || self.eat(b"*"))) {
                self.pos = before;
                break;
            }
            if bracket {
                self.expect(b"]", "`]`", "a scalable dimension is written `[4]`")?;
            }
            self.expect(b"x", "`x`", "dimensions are separated by `x`: `memref<2x3xf32>`")?;
        }
        self.parse_type()?;
        self.skip();
        match self.peek() {
            b',' if !is_vector => Ok(()),
            _ => self.expect(b">", "`>`", "a type is written `memref<2x3xf32>`"),
        }
    }

    pub(super) fn list_type(&mut self) -> Result<Type, Failure> {
        let mut items = Vec::new();
        self.skip();
        if !self.eat(b">") {
            loop {
                items.push(self.parse_type()?);
                self.skip();
                if self.eat(b">") {
                    break;
                }
                self.expect(b",", "`,` or `>`", "a list of types is written `vec<T, U>`")?;
            }
        }
        Ok(self.ctx.intern_type(TypeData::List(items.into())))
    }

    fn tensor_type(&mut self, start: usize) -> Result<Type, Failure> {
        // The same few types are written again and again: those that were read once are looked up by their text.
        let Some(end) = balanced_end(self.src, self.pos) else {
            return Err(self.unclosed());
        };
        let text = &self.src[start..end];
        if let Some(&ty) = self.type_cache.get(text) {
            self.pos = end;
            return Ok(ty);
        }
        self.pos += 1;
        self.skip();
        if self.peek() == b'*' {
            self.pos = start + 6;
            return self.opaque_type(start);
        }
        let shape = self.parse_dims()?;
        let elem = self.parse_type()?;
        self.skip();
        if self.peek() == b',' {
            // An encoding: kept as text.
            self.pos = start + 6;
            return self.opaque_type(start);
        }
        self.expect(b">", "`>`", "a tensor type is written `tensor<2x3xf32>`")?;
        let ty = self.ctx.tensor(&shape, elem);
        if is_fixed(text) {
            self.type_cache.insert(text, ty);
        }
        Ok(ty)
    }

    /// Dimensions, an `x` after each.
    pub(super) fn parse_dims(&mut self) -> Result<Vec<i64>, Failure> {
        let mut shape: Vec<i64> = Vec::new();
        loop {
            self.skip();
            let negative = self.peek() == b'-';
            let at = self.pos;
            if self.eat(b"?") || (negative && self.starts_with(b"-1")) {
                if negative {
                    self.pos += 2;
                }
                shape.push(DYNAMIC);
            } else if self.peek().is_ascii_digit() {
                let digits = cursor::digits(&self.src[self.pos..]);
                let Ok(dim) = digits.parse::<i64>() else {
                    return Err(self
                        .error_at(
                            at,
                            at + digits.len(),
                            "dimension",
                            "this dimension is too large".to_owned(),
                        )
                        .with_help("a dimension is a number below 2^63, or `?` when it is only known at run time"));
                };
                self.pos += digits.len();
                shape.push(dim);
            } else if negative {
                return Err(self
                    .error_at(at, at + 2, "dimension", "a dimension cannot be negative".to_owned())
                    .with_help("write `?` for a dimension that is only known at run time"));
            } else {
                return Ok(shape);
            }
            self.skip();
            self.expect(b"x", "`x`", "dimensions are separated by `x`: `2x3xf32`")?;
        }
    }

    /// A name, in place.
    pub(super) fn name(&mut self) -> Option<&'s [u8]> {
        let src = self.src;
        let (rest, found) = cursor::name(&src[self.pos..]).ok()?;
        self.pos = src.len() - rest.len();
        Some(found)
    }
}
