//! The short way for the generic form: `%a = "dialect.op"(%b, %c) <{k = 1}> {l} : (type, type) -> type`.
//!
//! Operations of a kind mostly have the same types: the text of the signature that was read last is kept beside their name.

use smallvec::SmallVec;

use super::caches::{RecentSignature, Scratch, is_fixed, op_place};
use super::parser::Parser;
use crate::diagnostics::Span;
use crate::types::{AttrData, AttrDict, Type};

/// How long a signature is at most that is kept.
const MAX_SIGNATURE: usize = 128;

impl<'s> Parser<'s> {
    /// Goes on after the names of the results; the quote is next.
    #[inline(never)]
    pub(super) fn try_generic(&mut self, parts: &mut Scratch, comment: &str) -> Option<()> {
        let (src, start) = (self.src, self.pos + 1);
        let len = memchr::memchr2(b'"', b'\\', &src[start..])?;
        // Escapes are rare.
        if src[start + len] == b'\\' {
            return None;
        }
        let word = &src[start..start + len];
        let known = self.known_op(word);
        let name = known.name.filter(|_| known.plain || known.unregistered)?;
        let span = Span::new(start, start + len);
        self.pos = start + len;
        if !self.eat(b"\"(") {
            return None;
        }
        self.operands_inside(&mut parts.operands)?;
        let attrs = match self.starts_with(b" <{") {
            false => self.plain_attributes()?,
            true if known.ods => self.properties(true)?,
            true if known.unregistered => self.properties(false)?,
            true => return None,
        };
        if !known.unregistered && !self.are_declared(word, name, attrs) {
            return None;
        }
        self.plain_signature(op_place(word), parts)?;
        let fits = parts.names.is_empty() || parts.names.len() == parts.results.len();
        if !fits || self.generic_goes_on() {
            return None;
        }
        self.create_plain(parts, name, attrs, span, comment);
        Some(())
    }

    /// ` <{k = 1}>`. Of an operation that nothing is known of they are kept apart from its attributes.
    fn properties(&mut self, inherent: bool) -> Option<AttrDict> {
        // What is kept of a text does not tell them apart: they begin at different letters.
        self.pos += if inherent { 2 } else { 1 };
        self.recent_dict(b"}>", |p| {
            p.pos += usize::from(!inherent);
            let mut entries = Vec::new();
            p.parse_dict(&mut entries).ok()?;
            if inherent {
                return p.eat(b">").then(|| p.ctx.dict(&entries));
            }
            let dict = p.ctx.dict(&entries);
            let dict = p.ctx.attr(AttrData::Dict(dict));
            p.eat(b">").then(|| p.ctx.dict(&[(p.ctx.sym("<{}>"), dict)]))
        })
    }

    /// ` : (type, type) -> type`, when the types of the operands are theirs.
    fn plain_signature(&mut self, place: usize, parts: &mut Scratch) -> Option<()> {
        if !self.eat(b" : ") {
            return None;
        }
        let known = self.recent_signatures.find(place, |known| {
            let text = known.text;
            !text.is_empty() && self.starts_with(text) && self.line_ends(self.pos + text.len())
        });
        match known {
            Some(known) => self.pos += known.text.len(),
            None => self.read_signature(place)?,
        }
        let known = self.recent_signatures.find(place, |_| true)?;
        let body = self.bodies.last()?;
        let types = parts.operands.iter().map(|&v| body.value_type(v));
        parts.results.clear();
        parts.results.extend_from_slice(&known.results);
        types.eq(known.operands.iter().copied()).then_some(())
    }

    /// Reads a signature and keeps it at its place, the text only where it is likely to come again.
    fn read_signature(&mut self, place: usize) -> Option<()> {
        let start = self.pos;
        let mut read = RecentSignature::default();
        self.plain_list(&mut read.operands)?;
        if !self.eat(b" -> ") {
            return None;
        }
        if self.peek() != b'(' {
            read.results.push(self.parse_type().ok()?);
        } else {
            self.plain_list(&mut read.results)?;
        }
        let text = &self.src[start..self.pos];
        if text.len() <= MAX_SIGNATURE && is_fixed(text) {
            read.text = text;
        }
        *self.recent_signatures.place(place) = read;
        Some(())
    }

    /// `(type, type)`.
    fn plain_list(&mut self, types: &mut SmallVec<[Type; 4]>) -> Option<()> {
        if !self.eat(b"(") {
            return None;
        }
        while !self.eat(b")") {
            if !types.is_empty() && !self.eat(b", ") {
                return None;
            }
            types.push(self.parse_type().ok()?);
        }
        Some(())
    }

    fn line_ends(&self, at: usize) -> bool {
        matches!(self.src.get(at), None | Some(b'\n' | b'\r'))
    }

    /// Whether the line, or what is on the next ones, may still belong to the operation.
    fn generic_goes_on(&mut self) -> bool {
        let Some(next) = self.next_line() else { return true };
        match next.first() {
            Some(b',' | b'-' | b'{') => true,
            Some(b'l') => next.starts_with(b"loc("),
            _ => false,
        }
    }
}
