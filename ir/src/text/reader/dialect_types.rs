//! Types of dialects in the text: `cf.stack`, `!pd.dense_tensor_array<2xf32>`, and as text those of other tools.

use super::parser::{Failure, Parser};
use crate::diagnostics::{Span, nearest};
use crate::text::cursor::balanced_end;
use crate::type_def::TypeParamKind;
use crate::types::{Type, TypeData, TypeName, TypeParam};

impl Parser<'_> {
    /// A type after its `!`.
    pub(super) fn dialect_type(&mut self, start: usize) -> Result<Type, Failure> {
        let Some(word) = self.name() else {
            return Err(self.expected("the name of a type", "for example `!cf.stack`"));
        };
        let has_params = self.peek() == b'<';
        if has_params && word == self.ctx.list_type().as_bytes() {
            self.pos += 1;
            return self.list_type();
        }
        if !has_params && let Some((ty, size)) = self.aliases.ty(word) {
            self.expand(start, size)?;
            return Ok(ty);
        }
        let name = std::str::from_utf8(word).unwrap_or_default();
        if let Some(declared) = self.ctx.find_type_def(name) {
            return self.declared_type(start, declared);
        }
        match name.split_once('.') {
            Some((dialect, _)) if self.ctx.dialect(dialect).is_some_and(|dialect| !dialect.other_types) => {
                return Err(self.unknown_type(start, name));
            }
            None if !has_params => self.later.push((b'!', word, Span::new(start, self.pos))),
            _ => {}
        }
        if has_params {
            self.pos = balanced_end(self.src, self.pos).ok_or_else(|| self.unclosed())?;
        }
        self.aliases.mention(&self.src[start..self.pos]);
        let text = String::from_utf8_lossy(&self.src[start + 1..self.pos]).into_owned();
        Ok(self.ctx.intern_type(TypeData::Unregistered(text.into())))
    }

    /// The error for a type that a registered dialect does not have; its name ends here.
    pub(super) fn unknown_type(&self, start: usize, name: &str) -> Failure {
        let error = self.error_at(start, self.pos, "unknown-type", format!("`{name}` is not a type"));
        match nearest(name, self.ctx.type_defs().iter().map(|def| &*def.name)) {
            Some(near) => error.suggesting(if self.src.get(start) == Some(&b'!') { "!" } else { "" }, near),
            None => error.with_help(
                "types are `tensor<4x?xf32>`, `i1`, `i64`, `f32`, `f64`, `index`, `cf.stack`, `(A) -> B`; those of a dialect \
                 start with `!`",
            ),
        }
    }

    /// The parameters of a type of a registered dialect, after its name.
    pub(super) fn declared_type(&mut self, start: usize, name: TypeName) -> Result<Type, Failure> {
        let shared = self.ctx;
        let def = shared.type_def(name);
        let mut params = Vec::new();
        if self.eat(b"<") {
            let mut separated = true;
            for spec in def.params.iter() {
                self.skip();
                if self.peek() == b'>' && (spec.optional || spec.kind == TypeParamKind::Types) {
                    break;
                }
                if !separated {
                    self.parameter_comma(&def.syntax())?;
                }
                separated = spec.kind == TypeParamKind::Shape;
                params.push(match spec.kind {
                    TypeParamKind::Type => TypeParam::Type(self.parse_type()?),
                    TypeParamKind::Int => TypeParam::Int(self.parse_int()?),
                    TypeParamKind::Shape => TypeParam::Shape(self.parse_dims()?.into()),
                    TypeParamKind::Attr => TypeParam::Attr(self.parse_attr()?),
                    TypeParamKind::Types => {
                        loop {
                            params.push(TypeParam::Type(self.parse_type()?));
                            self.skip();
                            if self.peek() == b'>' {
                                break;
                            }
                            self.parameter_comma(&def.syntax())?;
                        }
                        break;
                    }
                });
            }
            self.skip();
            self.expect(b">", "`>`", &format!("the type is written `{}`", def.syntax()))?;
        }
        if let Err(why) = def.check(shared, &params) {
            let help = format!("the type is written `{}`", def.syntax());
            return Err(self.error_at(start, self.pos, "type-parameters", why).with_help(help));
        }
        let ty = self.ctx.intern_type(TypeData::Dialect {
            name,
            params: params.into(),
        });
        let dialect = def.name.split('.').next().unwrap_or_default();
        if let Some(constraints) = shared.constraints(dialect)
            && let Err(why) = constraints.verify_value(shared, shared.type_attr(ty))
        {
            return Err(self.error_at(start, self.pos, "constraint", why));
        }
        Ok(ty)
    }

    fn parameter_comma(&mut self, syntax: &str) -> Result<(), Failure> {
        self.skip();
        self.expect(b",", "`,`", &format!("the type is written `{syntax}`"))
    }

    /// An integer that is a parameter.
    fn parse_int(&mut self) -> Result<i64, Failure> {
        self.skip();
        let start = self.pos;
        self.eat(b"-");
        self.pos += crate::text::cursor::digits(&self.src[self.pos..]).len();
        let text = std::str::from_utf8(&self.src[start..self.pos]).unwrap_or_default();
        match text.parse() {
            Ok(value) => Ok(value),
            Err(_) => {
                self.pos = start;
                Err(self.expected("an integer", "a number of at most 64 bits"))
            }
        }
    }
}
