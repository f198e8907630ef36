//! Builtin types with parameters: `tensor<4x?xf32>`, `memref<2xf32, strided<[1]>, 3>`, `vector<[4]xi8>`, `complex<f32>`.

use super::caches::is_fixed;
use super::parser::{Failure, Parser};
use crate::text::cursor::{self, balanced_end};
use crate::types::{Attr, AttrData, DYNAMIC, Type, TypeData};

/// How many bytes a type has that is looked up by its text.
const LONGEST_LOOKED_UP: usize = 256;

impl Parser<'_> {
    /// A type with parameters after its name, which begins at `start`.
    pub(super) fn bracketed_type(&mut self, start: usize) -> Result<Type, Failure> {
        // The same few types are written again and again: those that were read once are looked up by their text. Long texts are
        // not: each type in a deep one would be a long text.
        let near = self.src.len().min(start + LONGEST_LOOKED_UP);
        let text = match balanced_end(&self.src[..near], self.pos) {
            Some(end) => Some(&self.src[start..end]),
            None if near == self.src.len() => return Err(self.unclosed()),
            None => None,
        };
        if let Some((text, &ty)) = text.and_then(|text| Some((text, self.type_cache.get(text)?))) {
            self.pos = start + text.len();
            return Ok(ty);
        }
        let word = self.src[start..self.pos].trim_ascii_end();
        self.pos += 1;
        self.skip();
        let data = match word {
            b"tensor" => self.tensor()?,
            b"memref" => self.memref()?,
            b"vector" => self.vector()?,
            b"complex" => self.complex()?,
            _ => TypeData::Tuple(self.type_list("a tuple is written `tuple<T, U>`")?.into()),
        };
        let ty = self.ctx.intern_type(data);
        if let Some(text) = text.filter(|text| is_fixed(text)) {
            self.type_cache.insert(text, ty);
        }
        Ok(ty)
    }

    fn tensor(&mut self) -> Result<TypeData, Failure> {
        let unranked = self.starts_with(b"*");
        let shape = if unranked { self.unranked()? } else { self.parse_dims()? };
        let elem = self.element_type("a tensor", |data| {
            !matches!(
                data,
                TypeData::None
                    | TypeData::Tensor { .. }
                    | TypeData::EncodedTensor { .. }
                    | TypeData::UnrankedTensor(_)
                    | TypeData::MemRef { .. }
                    | TypeData::Function { .. }
                    | TypeData::Tuple(_)
                    | TypeData::List(_)
            )
        })?;
        self.skip();
        if self.peek() != b',' || unranked {
            self.expect(b">", "`>`", "a tensor type is written `tensor<2x3xf32>`")?;
            return Ok(match unranked {
                true => TypeData::UnrankedTensor(elem),
                false => TypeData::Tensor {
                    shape: shape.into(),
                    elem,
                },
            });
        }
        self.pos += 1;
        let encoding = self.parse_attr()?;
        self.skip();
        self.expect(b">", "`>`", "a tensor type is written `tensor<2x3xf32, #encoding>`")?;
        Ok(TypeData::EncodedTensor {
            shape: shape.into(),
            elem,
            encoding,
        })
    }

    fn memref(&mut self) -> Result<TypeData, Failure> {
        const SYNTAX: &str =
            "a type is written `memref<2x3xf32>`, `memref<2x3xf32, strided<[3, 1]>, 1>` or `memref<*xf32>`";
        let ranked = !self.starts_with(b"*");
        let shape = if ranked { self.parse_dims()? } else { self.unranked()? };
        let elem = self.element_type("a memref", |data| {
            matches!(
                data,
                TypeData::Integer { .. }
                    | TypeData::Float(_)
                    | TypeData::Index
                    | TypeData::Complex(_)
                    | TypeData::Vector { .. }
                    | TypeData::MemRef { .. }
                    | TypeData::Dialect { .. }
                    | TypeData::Unregistered(_)
            )
        })?;
        let (mut layout, mut space) = (None, None);
        loop {
            self.skip();
            if self.eat(b">") {
                break;
            }
            self.expect(b",", "`,` or `>`", SYNTAX)?;
            self.skip();
            let start = self.pos;
            let attr = self.parse_attr()?;
            self.skip();
            let is_layout = ranked && self.is_layout(attr, self.peek() == b',');
            let place = if is_layout { &mut layout } else { &mut space };
            if place.replace(attr).is_some() || is_layout && space.is_some() {
                let what = if is_layout {
                    "a layout comes once, before the memory space"
                } else {
                    "there are two memory spaces"
                };
                let failure = self.error_at(start, self.pos, "memref-type", what.to_owned());
                return Err(failure.with_help(SYNTAX));
            }
        }
        // As MLIR prints them, those that are the default are not there.
        let is_zero = |attr: &Attr| matches!(self.ctx.attr_data(*attr), AttrData::Int { value: 0, .. });
        Ok(TypeData::MemRef {
            layout: layout.filter(|&attr| !self.is_identity_map(attr)),
            space: space.filter(|attr| !is_zero(attr)),
            shape: ranked.then(|| shape.into()),
            elem,
        })
    }

    /// Whether an attribute is the memory space of a memref. An unknown one does if another parameter follows.
    fn is_layout(&self, attr: Attr, followed: bool) -> bool {
        match self.ctx.attr_data(attr) {
            AttrData::Opaque(text) => {
                text.starts_with("affine_map<") || text.starts_with("strided<") || followed && text.starts_with('#')
            }
            _ => false,
        }
    }

    /// Whether an attribute is `affine_map<(d0, d1) -> (d0, d1)>`.
    fn is_identity_map(&self, attr: Attr) -> bool {
        let AttrData::Opaque(text) = self.ctx.attr_data(attr) else {
            return false;
        };
        let inside = text.strip_prefix("affine_map<").and_then(|text| text.strip_suffix('>'));
        let sides = inside.and_then(|inside| inside.split_once("->"));
        let words = |side: &str| side.split_whitespace().collect::<String>();
        sides.is_some_and(|(dims, results)| words(dims) == words(results))
    }

    fn vector(&mut self) -> Result<TypeData, Failure> {
        let (mut shape, mut scalable) = (Vec::new(), Vec::new());
        loop {
            self.skip();
            let start = self.pos;
            let bracket = self.eat(b"[");
            let digits = cursor::digits(&self.src[self.pos..]);
            if digits.is_empty() && !bracket {
                break;
            }
            self.pos += digits.len();
            match digits.parse::<i64>() {
                Ok(dim) if dim > 0 => shape.push(dim),
                _ => {
                    let message = "a dimension of a vector is a positive number".to_owned();
                    let failure = self.error_at(start, self.pos.max(start + 1), "dimension", message);
                    return Err(failure.with_help("a vector type is written `vector<[4]x2xf32>`"));
                }
            }
            scalable.push(bracket);
            if bracket {
                self.expect(b"]", "`]`", "a scalable dimension is written `[4]`")?;
            }
            self.expect(b"x", "`x`", "dimensions are separated by `x`: `vector<2x3xf32>`")?;
        }
        let elem = self.element_type("a vector", |data| {
            matches!(data, TypeData::Integer { .. } | TypeData::Float(_) | TypeData::Index)
        })?;
        self.skip();
        self.expect(b">", "`>`", "a vector type is written `vector<[4]x2xf32>`")?;
        Ok(TypeData::Vector {
            shape: shape.into(),
            scalable: scalable.into(),
            elem,
        })
    }

    fn complex(&mut self) -> Result<TypeData, Failure> {
        let elem = self.element_type("a complex number", |data| {
            matches!(data, TypeData::Integer { .. } | TypeData::Float(_))
        })?;
        self.skip();
        self.expect(b">", "`>`", "a complex type is written `complex<f32>`")?;
        Ok(TypeData::Complex(elem))
    }

    /// The type of elements.
    fn element_type(&mut self, of: &str, fits: impl Fn(&TypeData) -> bool) -> Result<Type, Failure> {
        self.skip();
        let start = self.pos;
        let ty = self.parse_type()?;
        if fits(self.ctx.type_data(ty)) {
            return Ok(ty);
        }
        let message = format!("this cannot be the element type of {of}");
        Err(self
            .error_at(start, self.pos, "element-type", message)
            .with_help("element types are numeric: `f32`, `i64`, `complex<f32>`"))
    }

    /// Types separated by commas, up to the `>`.
    pub(super) fn type_list(&mut self, help: &str) -> Result<Vec<Type>, Failure> {
        let mut items = Vec::new();
        self.skip();
        if self.eat(b">") {
            return Ok(items);
        }
        loop {
            items.push(self.parse_type()?);
            self.skip();
            if self.eat(b">") {
                return Ok(items);
            }
            self.expect(b",", "`,` or `>`", help)?;
        }
    }

    /// `*x`.
    fn unranked(&mut self) -> Result<Vec<i64>, Failure> {
        self.pos += 1;
        self.skip();
        self.expect(b"x", "`x`", "an unranked type is written `tensor<*xf32>`")?;
        Ok(Vec::new())
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
                        .with_help("a dimension is a number below 2^63, or `?` for a dynamic dimension"));
                };
                self.pos += digits.len();
                shape.push(dim);
            } else if negative {
                return Err(self
                    .error_at(at, at + 2, "dimension", "a dimension cannot be negative".to_owned())
                    .with_help("write `?` for a dynamic dimension"));
            } else {
                return Ok(shape);
            }
            self.skip();
            self.expect(b"x", "`x`", "dimensions are separated by `x`: `2x3xf32`")?;
        }
    }
}
