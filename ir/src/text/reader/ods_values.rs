//! Values of attributes in MLIR's custom assembly, in the form that their kind has there.

use super::parser::{Failure, Parser};
use super::pending::Pending;
use crate::ods::{AttrKind, OdsRow};
use crate::text::cursor;
use crate::types::{Attr, AttrData};

impl Parser<'_> {
    pub(super) fn ods_attribute(&mut self, pending: &mut Pending, row: &OdsRow, at: usize) -> Result<(), Failure> {
        let attr = &row.attrs[at];
        let start = self.after(self.pos);
        let value = self.ods_value(pending, &attr.kind)?;
        self.set_sym(pending, attr.sym(self.ctx), value, start)
    }

    /// The value of an attribute, in the form that its kind has in formats.
    pub(super) fn ods_value(&mut self, pending: &Pending, kind: &AttrKind) -> Result<Attr, Failure> {
        self.skip();
        let start = self.pos;
        Ok(match kind {
            AttrKind::Unit => self.ctx.attr(AttrData::Unit),
            AttrKind::Any => self.parse_attr()?,
            AttrKind::Bool => match (self.eat_literal("true"), self.eat_literal("false")) {
                (false, false) => return Err(self.expected_in_ods(pending, "`true` or `false`")),
                (value, _) => self.ctx.attr(AttrData::Bool(value)),
            },
            AttrKind::Str if self.peek() == b'"' => {
                let text = self.parse_string()?;
                self.ctx.str_attr(&text)
            }
            AttrKind::Str => return Err(self.expected_in_ods(pending, "a string")),
            AttrKind::SymName => {
                let name = self.parse_symbol_name()?;
                self.ctx.str_attr(&name)
            }
            AttrKind::SymRef if self.peek() == b'@' => self.parse_attr()?,
            AttrKind::SymRef => return Err(self.expected_in_ods(pending, "a symbol")),
            AttrKind::Type => {
                let ty = self.parse_type()?;
                self.ctx.type_attr(ty)
            }
            &AttrKind::Int(ty) => {
                let value = i128::from(self.ods_int(pending)?);
                self.ctx.attr(AttrData::Int { value, ty })
            }
            AttrKind::Ints(elem) => {
                let end = cursor::balanced_end(self.src, start).filter(|_| self.peek() == b'[');
                let Some(end) = end else {
                    return Err(self.expected_in_ods(pending, "`[`"));
                };
                let inside = String::from_utf8_lossy(&self.src[start + 1..end - 1]).trim().to_owned();
                self.pos = end;
                let colon = if inside.is_empty() { "" } else { ": " };
                self.composed(&format!("array<{elem}{colon}{inside}>"), start)?
            }
            AttrKind::Enum { ty, words } => {
                let quoted = self.peek() == b'"';
                let text = match quoted {
                    true => self.parse_string()?,
                    false => {
                        let word = cursor::name(&self.src[start..]).map_or(&b""[..], |(_, word)| word);
                        self.pos += word.len();
                        String::from_utf8_lossy(word).into_owned()
                    }
                };
                let Some(found) = words.iter().find(|word| *word.0 == *text) else {
                    self.pos = start;
                    let known: Vec<String> = words.iter().map(|word| format!("`{}`", word.0)).collect();
                    return Err(self.expected_in_ods(pending, &format!("one of {}", known.join(", "))));
                };
                let value = i128::from(found.1);
                self.ctx.attr(AttrData::Int { value, ty: *ty })
            }
            AttrKind::Words {
                words,
                angle,
                separator,
                ..
            } => {
                if self.peek() == b'#' {
                    return self.parse_attr();
                }
                if *angle && !self.eat(b"<") {
                    return Err(self.expected_in_ods(pending, "`<`"));
                }
                let mut found = vec![false; words.len()];
                loop {
                    self.skip();
                    let rest = &self.src[self.pos..];
                    let Some(at) = words.iter().position(|word| cursor::is_literal(rest, word)) else {
                        let known: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
                        return Err(self.expected_in_ods(pending, &format!("one of {}", known.join(", "))));
                    };
                    found[at] = true;
                    self.pos += words[at].len();
                    self.skip();
                    if !*angle || !(self.eat(b",") || self.eat(b"|")) {
                        break;
                    }
                }
                if *angle && !self.eat(b">") {
                    return Err(self.expected_in_ods(pending, "`>`"));
                }
                let found: Vec<&str> = words
                    .iter()
                    .zip(found)
                    .filter(|word| word.1)
                    .map(|word| &**word.0)
                    .collect();
                self.composed(&crate::ods::words_text(kind, &found.join(separator)), start)?
            }
        })
    }

    pub(super) fn ods_int(&mut self, pending: &Pending) -> Result<i64, Failure> {
        self.skip();
        let (start, negative) = (self.pos, self.eat(b"-"));
        if let Ok((rest, digits)) = cursor::hex(&self.src[self.pos..])
            && let Ok(value) = i64::from_str_radix(std::str::from_utf8(digits).unwrap_or_default(), 16)
        {
            self.pos = self.src.len() - rest.len();
            return Ok(if negative { value.wrapping_neg() } else { value });
        }
        let digits = cursor::digits(&self.src[self.pos..]);
        // Negative ones have one more.
        let value = digits.parse::<u64>().ok().and_then(|value| match negative {
            true => 0i64.checked_sub_unsigned(value),
            false => i64::try_from(value).ok(),
        });
        match value {
            Some(value) => {
                self.pos += digits.len();
                Ok(value)
            }
            None => {
                self.pos = start;
                Err(self.expected_in_ods(pending, "an integer"))
            }
        }
    }
}
