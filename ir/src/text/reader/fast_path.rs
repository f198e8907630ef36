//! A short way for what most lines are: `%a = dialect.op (%b, %c) {k = 1} : type`, spelled as it is printed.
//!
//! Nothing in the body changes until all of the operation was read. What is out of the ordinary, errors above all, is
//! left to the general way, which begins at the same place again.

use super::caches::{MAX_DICT, RecentDict, Scratch, is_fixed};
use super::parser::Parser;
use crate::context::Context;
use crate::diagnostics::Span;
use crate::edit::OpSpec;
use crate::entity::{OpName, ValueId};
use crate::names::Name;
use crate::text::cursor;
use crate::types::{AttrDict, Type};

impl<'s> Parser<'s> {
    /// Reads an operation without regions and successors; `false` if it is not that simple, and then nothing is done.
    pub(super) fn plain_operation(&mut self, comment: &str) -> bool {
        let (start, expanded) = (self.pos, self.expanded);
        let mut parts = std::mem::take(&mut self.scratch);
        let done = self.try_plain(&mut parts, comment).is_some();
        self.scratch = parts;
        if !done {
            (self.pos, self.expanded) = (start, expanded);
        }
        done
    }

    fn try_plain(&mut self, parts: &mut Scratch, comment: &str) -> Option<()> {
        parts.names.clear();
        while self.peek() == b'%' {
            parts.names.push(self.plain_name()?);
            if self.eat(b" = ") {
                break;
            }
            if !self.eat(b", ") || self.peek() != b'%' {
                return None;
            }
        }
        if self.peek() == b'"' {
            return self.try_generic(parts, comment);
        }
        let start = self.pos;
        let (rest, word) = cursor::name(&self.src[start..]).ok()?;
        let known = self.known_op(word);
        let name = known.name.filter(|_| known.plain)?;
        self.pos = self.src.len() - rest.len();
        // MLIR's custom assembly has no blank there.
        if known.ods && self.peek() == b'(' {
            return None;
        }
        let span = Span::new(start, self.pos);
        self.plain_operands(&mut parts.operands)?;
        let attrs = self.plain_attributes()?;
        if !self.are_declared(word, name, attrs) {
            return None;
        }
        let typed = self.plain_types(&mut parts.results)?;
        let fits = match typed {
            // Those of operands.
            true if known.resultless => return None,
            true => parts.names.is_empty() || parts.names.len() == parts.results.len(),
            false => parts.names.is_empty() && known.resultless,
        };
        if !fits || self.goes_on(typed) {
            return None;
        }
        self.create_plain(parts, name, attrs, span, comment);
        Some(())
    }

    /// Creates an operation without regions and successors.
    #[inline]
    pub(super) fn create_plain(&mut self, parts: &Scratch, name: OpName, attrs: AttrDict, span: Span, comment: &str) {
        let body = self.body();
        let op = body.create_op(OpSpec {
            name,
            operands: &parts.operands,
            results: &parts.results,
            attrs,
            regions: &[],
            successors: &[],
            span,
        });
        let results = body.results(op);
        self.append(op, comment);
        for (&(name, span), value) in parts.names.iter().zip(results) {
            self.define(name, value, 1, span);
        }
    }

    /// A name that ends before what cannot be a part of it; the `%` is next.
    fn plain_name(&mut self) -> Option<(Name, Span)> {
        let start = self.pos;
        let src = self.src;
        let (rest, text) = cursor::suffix(src.get(start + 1..)?).ok()?;
        self.pos = src.len() - rest.len();
        Some((self.name_of(text), Span::new(start, self.pos)))
    }

    /// ` (%a, %b)`, of values that are visible; nothing in front of attributes.
    fn plain_operands(&mut self, operands: &mut Vec<ValueId>) -> Option<()> {
        if self.eat(b" (") {
            self.operands_inside(operands)
        } else {
            operands.clear();
            self.starts_with(b" {").then_some(())
        }
    }

    /// `%a, %b#1)`, of values that are visible; the bracket has been read.
    pub(super) fn operands_inside(&mut self, operands: &mut Vec<ValueId>) -> Option<()> {
        operands.clear();
        if self.eat(b")") {
            return Some(());
        }
        loop {
            if self.peek() != b'%' {
                return None;
            }
            let (name, _) = self.plain_name()?;
            let binding = self.scopes.get(name)?;
            let mut at = binding.first.index();
            if self.eat(b"#") {
                let digits = cursor::digits(&self.src[self.pos..]);
                let index: u32 = digits.parse().ok().filter(|&index| index < binding.count)?;
                self.pos += digits.len();
                at += index as usize;
            }
            operands.push(ValueId::new(at));
            if self.eat(b")") {
                return Some(());
            }
            if !self.eat(b", ") {
                return None;
            }
        }
    }

    /// ` {k = 1}`, if it is next.
    pub(super) fn plain_attributes(&mut self) -> Option<AttrDict> {
        if !self.starts_with(b" {") || self.starts_with(b" {-#") {
            return Some(AttrDict::EMPTY);
        }
        self.pos += 1;
        self.recent_dict(b"}", |p| {
            let mut entries = std::mem::take(&mut p.entries);
            entries.clear();
            let read = p.parse_dict(&mut entries);
            let attrs = p.ctx.dict(&entries);
            p.entries = entries;
            read.ok().map(|()| attrs)
        })
    }

    /// What `read` reads. That is looked up if the same text was read before, up to the first `end`: much is written
    /// again and again, like `{shape = [], value = 1, dtype = i64}`.
    pub(super) fn recent_dict(
        &mut self,
        end: &[u8],
        read: impl FnOnce(&mut Self) -> Option<AttrDict>,
    ) -> Option<AttrDict> {
        let (src, start, expanded) = (self.src, self.pos, self.expanded);
        let near = &src[start..src.len().min(start + MAX_DICT)];
        let brace = memchr::memchr(b'}', near).filter(|&at| near[at..].starts_with(end));
        let text = brace.map(|at| &near[..at + end.len()]);
        let at = text.map(|text| Context::sym_hash(text) as usize);
        if let (Some(text), Some(at)) = (text, at)
            && let Some(known) = self.recent_dicts.find(at, |known| known.text == text)
        {
            self.pos += text.len();
            self.expanded += known.size;
            return Some(known.attrs);
        }
        let attrs = read(self)?;
        if let (Some(text), Some(at)) = (text, at)
            && text.len() == self.pos - start
            && is_fixed(text)
        {
            *self.recent_dicts.place(at) = RecentDict {
                text,
                attrs,
                size: self.expanded - expanded,
            };
        }
        Some(attrs)
    }

    /// ` : type, type`; `false` if no colon is next.
    fn plain_types(&mut self, types: &mut Vec<Type>) -> Option<bool> {
        types.clear();
        if !self.eat(b" : ") {
            return Some(false);
        }
        loop {
            if self.peek() == b'(' {
                return None;
            }
            types.push(self.parse_type().ok()?);
            if !self.eat(b", ") {
                return Some(true);
            }
        }
    }

    /// Whether the line, or what is on the next ones, may still belong to the operation.
    fn goes_on(&mut self, typed: bool) -> bool {
        let Some(next) = self.next_line() else { return true };
        match next.first() {
            Some(b',' | b'-') => typed,
            Some(b'{' | b':') => !typed,
            Some(b'a') => !typed && next.starts_with(b"attributes"),
            Some(b'l') => next.starts_with(b"loc("),
            _ => false,
        }
    }

    /// What is on the next lines, blanks and comments passed over, if this line ends here. Blanks are skipped unless
    /// comments follow.
    #[inline]
    pub(super) fn next_line(&mut self) -> Option<&'s [u8]> {
        if !matches!(self.src.get(self.pos), None | Some(b'\n' | b'\r')) {
            return None;
        }
        let src = self.src;
        let at = cursor::blanks(src, self.pos);
        if src.get(at) == Some(&b'/') {
            return Some(&src[self.after(at)..]);
        }
        self.pos = at;
        Some(&src[at..])
    }
}
