//! A short way for what most lines are: `%a = dialect.op (%b, %c) {k = 1} : type`, spelled as it is printed.
//!
//! Nothing in the body changes until all of the operation was read. What is out of the ordinary, errors above all, is
//! left to the general way, which begins at the same place again.

use smallvec::SmallVec;

use super::cursor;
use super::parser::Parser;
use crate::context::{Context, Sym};
use crate::diagnostics::Span;
use crate::edit::OpSpec;
use crate::entity::ValueId;
use crate::types::{AttrDict, Type};

/// How many attribute lists the parser remembers, and how long they are at most.
const DICTS: usize = 256;
const MAX_DICT: usize = 128;

/// Attributes that were read, whose text ends at its first closing brace and means the same wherever it stands.
#[derive(Clone, Copy)]
pub(super) struct RecentDict<'s> {
    text: &'s [u8],
    attrs: AttrDict,
    /// How many attributes and types were read.
    size: usize,
}

impl Default for RecentDict<'_> {
    fn default() -> Self {
        RecentDict {
            text: &[],
            attrs: AttrDict::EMPTY,
            size: 0,
        }
    }
}

/// Values that an operation uses.
pub(super) type Operands = SmallVec<[ValueId; 6]>;

/// Whether a text means the same wherever it stands: `#word` and `!word` may be aliases, which means something from their
/// definition on, but not with a `<` behind them. (Inside strings, where they are none, they count too.)
pub(super) fn is_fixed(text: &[u8]) -> bool {
    memchr::memchr2_iter(b'#', b'!', text).all(|at| {
        let behind = text[at + 1..].iter().find(|&&b| !cursor::is_suffix_byte(b));
        behind == Some(&b'<')
    })
}

impl<'s> Parser<'s> {
    /// Reads an operation without regions and successors; `false` if it is not that simple, and then nothing is done.
    pub(super) fn plain_operation(&mut self, comment: &str) -> bool {
        let (start, expanded) = (self.pos, self.expanded);
        let done = self.try_plain(comment).is_some();
        if !done {
            (self.pos, self.expanded) = (start, expanded);
        }
        done
    }

    fn try_plain(&mut self, comment: &str) -> Option<()> {
        let mut names: SmallVec<[(Sym, Span); 2]> = SmallVec::new();
        while self.peek() == b'%' {
            names.push(self.plain_name()?);
            if self.eat(b" = ") {
                break;
            }
            if !self.eat(b", ") || self.peek() != b'%' {
                return None;
            }
        }
        if self.peek() == b'"' {
            return self.try_generic(&names, comment);
        }
        let start = self.pos;
        let (rest, word) = cursor::name(&self.src[start..]).ok()?;
        let known = self.known_op(word);
        let name = known.name.filter(|_| known.plain)?;
        self.pos = self.src.len() - rest.len();
        let span = Span::new(start, self.pos);
        let operands = self.plain_operands()?;
        let attrs = self.plain_attributes()?;
        let results = self.plain_types()?;
        let fits = match &results {
            Some(types) => names.is_empty() || names.len() == types.len(),
            None => names.is_empty() && known.resultless,
        };
        if !fits || self.goes_on(results.is_some()) {
            return None;
        }
        let op = self.body().create_op(OpSpec {
            name,
            operands: &operands,
            results: results.as_deref().unwrap_or_default(),
            attrs,
            regions: &[],
            successors: &[],
            span,
        });
        self.append(op, comment);
        let results = self.body().results(op);
        for ((sym, span), value) in names.into_iter().zip(results) {
            self.define(sym, value, 1, span);
        }
        Some(())
    }

    /// A name that ends before what cannot be a part of it; the `%` is next.
    fn plain_name(&mut self) -> Option<(Sym, Span)> {
        let start = self.pos;
        let src = self.src;
        let (rest, text) = cursor::suffix(src.get(start + 1..)?).ok()?;
        self.pos = src.len() - rest.len();
        Some((self.sym(text), Span::new(start, self.pos)))
    }

    /// ` (%a, %b)`, of values that are visible; nothing in front of attributes.
    fn plain_operands(&mut self) -> Option<Operands> {
        if self.eat(b" (") {
            self.operands_inside()
        } else {
            self.starts_with(b" {").then(Operands::new)
        }
    }

    /// `%a, %b#1)`, of values that are visible; the bracket is behind.
    pub(super) fn operands_inside(&mut self) -> Option<Operands> {
        let mut operands = Operands::new();
        while !self.eat(b")") {
            if !operands.is_empty() && !self.eat(b", ") || self.peek() != b'%' {
                return None;
            }
            let (sym, _) = self.plain_name()?;
            let binding = self.scopes.get(sym)?;
            let mut at = binding.first.index();
            if self.eat(b"#") {
                let digits = cursor::digits(&self.src[self.pos..]);
                let index: u32 = digits.parse().ok().filter(|&index| index < binding.count)?;
                self.pos += digits.len();
                at += index as usize;
            }
            operands.push(ValueId::new(at));
        }
        Some(operands)
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
        let at = text.map(|text| Context::sym_hash(text) as usize % DICTS);
        if let (Some(text), Some(at)) = (text, at)
            && let Some(known) = self.recent_dicts.get(at)
            && known.text == text
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
            if self.recent_dicts.is_empty() {
                self.recent_dicts = vec![RecentDict::default(); DICTS].into();
            }
            self.recent_dicts[at] = RecentDict {
                text,
                attrs,
                size: self.expanded - expanded,
            };
        }
        Some(attrs)
    }

    /// ` : type, type`; nothing in it if no colon is next.
    fn plain_types(&mut self) -> Option<Option<SmallVec<[Type; 4]>>> {
        if !self.eat(b" : ") {
            return Some(None);
        }
        let mut types = SmallVec::new();
        loop {
            if self.peek() == b'(' {
                return None;
            }
            types.push(self.parse_type().ok()?);
            if !self.eat(b", ") {
                return Some(Some(types));
            }
        }
    }

    /// Whether the line, or what stands on the next ones, may still belong to the operation.
    fn goes_on(&self, typed: bool) -> bool {
        if !matches!(self.src.get(self.pos), None | Some(b'\n' | b'\r')) {
            return true;
        }
        let next = &self.src[self.after(self.pos)..];
        match next.first() {
            Some(b',' | b'-') => typed,
            Some(b'{' | b':') => !typed,
            Some(b'a') => !typed && next.starts_with(b"attributes"),
            Some(b'l') => next.starts_with(b"loc("),
            _ => false,
        }
    }
}
