//! Dictionaries of attributes in the text.

use rustc_hash::FxHashSet;

use super::caches::{KnownOp, MAX_DICT, is_fixed};
use super::parser::{Failure, Parser};
use super::pending::Pending;
use crate::context::Context;
use crate::diagnostics::Span;
use crate::entity::Sym;
use crate::text::cursor;
use crate::types::{Attr, AttrData, AttrDict};

/// Whether no entry has the name. Of many, the names are in a set.
fn is_new(entries: &[(Sym, Attr)], many: &mut FxHashSet<Sym>, name: Sym) -> bool {
    const FEW: usize = 32;
    if entries.len() < FEW {
        return entries.iter().all(|&(n, _)| n != name);
    }
    if many.is_empty() {
        many.extend(entries.iter().map(|&(n, _)| n));
    }
    many.insert(name)
}

impl Parser<'_> {
    /// ` {k = 1}`, or ` <{k = 1}>` in the generic form, if it is next.
    #[inline]
    pub(super) fn plain_attributes(&mut self, generic: bool, known: KnownOp) -> Result<AttrDict, Failure> {
        if self.starts_with(b" {") && !self.starts_with(b" {-#") {
            self.pos += 1;
            return self.recent_dict(b"}", |p| {
                let mut entries = std::mem::take(&mut p.entries);
                entries.clear();
                let read = p.parse_dict(&mut entries);
                let attrs = p.ctx.dict(&entries);
                p.entries = entries;
                read.map(|()| attrs)
            });
        }
        if generic && self.starts_with(b" <{") {
            self.pos += 1;
            return self.properties(known.ods || !known.unregistered);
        }
        Ok(AttrDict::EMPTY)
    }

    /// Attributes of an operation; their brace is next.
    pub(super) fn attributes(&mut self, op: &mut Pending) -> Result<(), Failure> {
        op.dicts.push(self.pos as u32);
        self.parse_dict(&mut op.attrs)
    }

    /// `<{k = 1}>`. Of an operation that nothing is known of, they are kept apart from its attributes.
    pub(super) fn properties(&mut self, inherent: bool) -> Result<AttrDict, Failure> {
        // The cache cannot confuse them: they begin with different letters.
        self.pos += usize::from(inherent);
        self.recent_dict(b"}>", |p| {
            p.pos += usize::from(!inherent);
            let mut entries = Vec::new();
            p.parse_dict(&mut entries)?;
            p.expect(b">", "`>`", "properties are written `<{name = value}>`")?;
            let dict = p.ctx.dict(&entries);
            if inherent {
                return Ok(dict);
            }
            let dict = p.ctx.attr(AttrData::Dict(dict));
            Ok(p.ctx.dict(&[(p.ctx.sym("<{}>"), dict)]))
        })
    }

    /// The dictionary that `read` parses. That is looked up if the same text was read before, up to the first `end`: much is written again
    /// and again, like `{shape = [], value = 1, dtype = i64}`.
    fn recent_dict(
        &mut self,
        end: &[u8],
        read: impl FnOnce(&mut Self) -> Result<AttrDict, Failure>,
    ) -> Result<AttrDict, Failure> {
        let (src, start, expanded) = (self.src, self.pos, self.expanded);
        let near = &src[start..src.len().min(start + MAX_DICT)];
        let brace = memchr::memchr(b'}', near).filter(|&at| near[at..].starts_with(end));
        let text = brace.map(|at| &near[..at + end.len()]);
        let at = text.map(|text| Context::sym_hash(text) as usize);
        if let (Some(text), Some(at)) = (text, at)
            && let Some(&(_, (attrs, size))) = self.recent_dicts.find(at, |&known| known == text)
        {
            self.pos += text.len();
            self.expanded += size;
            return Ok(attrs);
        }
        let attrs = read(self)?;
        if let (Some(text), Some(at)) = (text, at)
            && text.len() == self.pos - start
            && is_fixed(text)
        {
            self.recent_dicts.keep(at, text, (attrs, self.expanded - expanded));
        }
        Ok(attrs)
    }

    /// `{name = value, …}`, the brace included.
    pub(super) fn parse_dict(&mut self, entries: &mut Vec<(Sym, Attr)>) -> Result<(), Failure> {
        self.expect(b"{", "`{`", "attributes are written in braces")?;
        let open = self.pos - 1;
        self.skip();
        if self.eat(b"}") {
            return Ok(());
        }
        let mut many = FxHashSet::default();
        loop {
            self.skip();
            let start = self.pos;
            let name = if self.peek() == b'"' {
                let text = self.parse_string()?;
                self.ctx.sym(&text)
            } else {
                match cursor::name(&self.src[self.pos..]) {
                    Ok((rest, word)) => {
                        self.pos = self.src.len() - rest.len();
                        self.sym(word)
                    }
                    Err(_) => {
                        return Err(
                            self.expected("the name of an attribute", "attributes are written `{name = value}`")
                        );
                    }
                }
            };
            let end = self.pos;
            self.skip();
            // The places of nested dictionaries are not recorded.
            let (behind, places) = (self.after(self.pos + 1), self.attr_places.take());
            let value = if self.eat(b"=") || (self.peek() == b':' && !self.starts_with(b"::") && self.eat(b":")) {
                self.parse_attr()?
            } else {
                self.ctx.attr(AttrData::Unit)
            };
            if !is_new(entries, &mut many, name) {
                return Err(self
                    .error_at(
                        start,
                        end,
                        "duplicate-attribute",
                        format!("attribute `{}` is given twice", self.ctx.str(name)),
                    )
                    .with_help("remove one of them"));
            }
            entries.push((name, value));
            self.attr_places = places;
            if let Some(places) = &mut self.attr_places {
                let value = Span::new(behind.min(self.pos), self.pos);
                places.push((name, Span::new(start, end), value));
            }
            self.skip();
            if self.eat(b"}") {
                return Ok(());
            }
            if !self.eat(b",") {
                let failure = self.expected("`,` or `}`", "separate attributes by commas, and end them with a `}`");
                return Err(failure.with_label(Span::new(open, open + 1), "to close this brace"));
            }
        }
    }
}
