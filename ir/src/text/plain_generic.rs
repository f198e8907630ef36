//! The short way for the generic form: `%a = "dialect.op"(%b, %c) <{k = 1}> {l} : (type, type) -> type`.
//!
//! Operations of a kind mostly have the same types: the text of the signature that was read last is kept beside their name.

use smallvec::SmallVec;

use super::known::op_place;
use super::parser::Parser;
use super::plain::{Operands, is_fixed};
use crate::context::Sym;
use crate::diagnostics::Span;
use crate::edit::OpSpec;
use crate::types::{AttrData, AttrDict, Type};

/// How long a signature is at most that is kept.
const MAX_SIGNATURE: usize = 128;

/// A signature that was read, `(type, type) -> type`, and means the same wherever it stands; no text for none.
#[derive(Default)]
pub(super) struct RecentSignature<'s> {
    text: &'s [u8],
    operands: SmallVec<[Type; 4]>,
    results: SmallVec<[Type; 4]>,
}

impl<'s> Parser<'s> {
    /// Goes on behind the names of the results; the quote is next.
    pub(super) fn try_generic(&mut self, names: &[(Sym, Span)], comment: &str) -> Option<()> {
        let (src, start) = (self.src, self.pos + 1);
        let len = src[start..].iter().position(|&b| matches!(b, b'"' | b'\\'))?;
        let word = &src[start..start + len];
        let known = self.known_op(word);
        let name = known.name.filter(|_| known.plain || known.unregistered)?;
        let span = Span::new(start, start + len);
        self.pos = start + len;
        if !self.eat(b"\"(") {
            return None;
        }
        let operands = self.operands_inside()?;
        let attrs = match self.starts_with(b" <{") {
            false => self.plain_attributes()?,
            true if known.unregistered => self.properties()?,
            true => return None,
        };
        let results = self.plain_signature(op_place(word), &operands)?;
        if !names.is_empty() && names.len() != results.len() || self.generic_goes_on() {
            return None;
        }
        let op = self.body().create_op(OpSpec {
            name,
            operands: &operands,
            results: &results,
            attrs,
            regions: &[],
            successors: &[],
            span,
        });
        self.append(op, comment);
        let results = self.body().results(op);
        for (&(sym, span), value) in names.iter().zip(results) {
            self.define(sym, value, 1, span);
        }
        Some(())
    }

    /// ` <{k = 1}>`, of an operation that nothing is known of: kept apart from its attributes.
    fn properties(&mut self) -> Option<AttrDict> {
        self.pos += 1;
        self.recent_dict(b"}>", |p| {
            p.pos += 1;
            let mut entries = Vec::new();
            p.parse_dict(&mut entries).ok()?;
            let dict = p.ctx.dict(&entries);
            let dict = p.ctx.attr(AttrData::Dict(dict));
            p.eat(b">").then(|| p.ctx.dict(&[(p.ctx.sym("<{}>"), dict)]))
        })
    }

    /// ` : (type, type) -> type`, when the types of the operands are theirs. Gives those of the results.
    fn plain_signature(&mut self, place: usize, operands: &Operands) -> Option<SmallVec<[Type; 4]>> {
        if !self.eat(b" : ") {
            return None;
        }
        let known = &self.recent_signatures[place];
        if known.text.is_empty() || !self.starts_with(known.text) || !self.line_ends(self.pos + known.text.len()) {
            self.read_signature(place)?;
        } else {
            self.pos += known.text.len();
        }
        let known = &self.recent_signatures[place];
        let body = self.bodies.last()?;
        let fits = known.operands.len() == operands.len()
            && operands
                .iter()
                .zip(&known.operands)
                .all(|(&v, &ty)| body.value_type(v) == ty);
        fits.then(|| SmallVec::from_slice(&known.results))
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
        self.recent_signatures[place] = read;
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

    /// Whether the line, or what stands on the next ones, may still belong to the operation.
    fn generic_goes_on(&self) -> bool {
        if !self.line_ends(self.pos) {
            return true;
        }
        let next = &self.src[self.after(self.pos)..];
        match next.first() {
            Some(b',' | b'-' | b'{') => true,
            Some(b'l') => next.starts_with(b"loc("),
            _ => false,
        }
    }
}
