//! The types of an operation in the text.
//!
//! Operations of a kind mostly have the same types: the text of the signature that was read last is kept at the place of
//! their name.

use smallvec::SmallVec;

use super::caches::{KnownOp, is_fixed};
use super::parser::{Failure, Parser};
use super::pending::{Pending, Types};
use crate::diagnostics::Span;
use crate::entity::ValueId;
use crate::text::cursor;
use crate::types::Type;

/// How long a signature is at most that is kept.
const MAX_SIGNATURE: usize = 128;

impl<'s> Parser<'s> {
    /// Reads ` : type, type`, or in the generic form ` : (type, type) -> type`; `false` if it is not written so, does not fit the
    /// names of the results, or the operands have other types.
    #[inline(always)]
    pub(super) fn plain_types(&mut self, op: &mut Pending, place: usize, known: KnownOp) -> Result<bool, Failure> {
        if !self.eat(b" : ") {
            return Ok(!op.generic && known.resultless && op.num_named == 0);
        }
        if op.generic {
            if !self.plain_signature(op, place)? {
                return Ok(false);
            }
        } else {
            // The types of operands, or a signature.
            if known.resultless || self.peek() == b'(' {
                return Ok(false);
            }
            loop {
                let ty = self.parse_type()?;
                op.results.push(ty);
                if !self.eat(b", ") {
                    break;
                }
            }
        }
        Ok(op.num_named == 0 || op.num_named == op.results.len())
    }

    /// Reads `(type, type) -> type`; `false` if the types of the operands are others.
    #[inline(never)]
    fn plain_signature(&mut self, op: &mut Pending, place: usize) -> Result<bool, Failure> {
        let (src, start) = (self.src, self.pos);
        let recent = self.recent_ops.find(place, |_| true).filter(|(_, recent)| {
            let behind = src[start..].strip_prefix(recent.signature);
            !recent.signature.is_empty()
                && behind.is_some_and(|rest| matches!(rest.first(), None | Some(b'\n' | b'\r')))
        });
        if let Some((_, recent)) = recent {
            self.pos += recent.signature.len();
            op.results.extend_from_slice(&recent.results);
            return Ok(self.have_types(&op.operands, &recent.operands));
        }
        let Types { operands, results, .. } = self.types()?;
        let Some(operands) = operands else { return Ok(false) };
        op.results.extend_from_slice(&results);
        let fits = self.have_types(&op.operands, &operands);
        let text = &src[start..self.pos];
        if text.len() <= MAX_SIGNATURE
            && is_fixed(text)
            && let Some((_, recent)) = self.recent_ops.at(place)
        {
            (recent.signature, recent.operands, recent.results) = (text, operands, results);
        }
        Ok(fits)
    }

    fn have_types(&self, values: &[ValueId], types: &[Type]) -> bool {
        let body = self.bodies.last();
        body.is_some_and(|body| {
            values
                .iter()
                .map(|&value| body.value_type(value))
                .eq(types.iter().copied())
        })
    }

    fn line_ends(&self, at: usize) -> bool {
        matches!(self.src.get(at), None | Some(b'\n' | b'\r'))
    }

    /// Whether the rest of the line, or the next lines, may belong to the operation.
    #[inline(always)]
    pub(super) fn goes_on(&mut self, op: &Pending, known: KnownOp) -> bool {
        let Some(next) = self.next_line() else { return true };
        let typed = op.generic || !known.resultless;
        match next.first() {
            Some(b',' | b'-') => typed,
            Some(b'{') => op.generic || !typed,
            Some(b':') => !typed,
            Some(b'a') => !typed && next.starts_with(b"attributes"),
            Some(b'l') => next.starts_with(b"loc("),
            _ => false,
        }
    }

    /// The text of the following lines, after blanks and comments, if this line ends here. Blanks are skipped unless comments follow.
    #[inline]
    fn next_line(&mut self) -> Option<&'s [u8]> {
        if !self.line_ends(self.pos) {
            return None;
        }
        let src = self.src;
        // Without indentation, the next line begins after the line feed.
        let at = match src.get(self.pos + 1) {
            Some(&next) if next > b' ' => self.pos + 1,
            _ => cursor::blanks(src, self.pos),
        };
        if src.get(at) == Some(&b'/') {
            return Some(&src[self.after(at)..]);
        }
        self.pos = at;
        Some(&src[at..])
    }

    pub(super) fn types(&mut self) -> Result<Types, Failure> {
        self.skip();
        let start = self.pos;
        let parens = self.peek() == b'(';
        if parens {
            self.pos += 1;
            self.skip();
        }
        let mut list = SmallVec::new();
        if !(parens && self.eat(b")")) {
            loop {
                list.push(self.parse_type()?);
                let end = self.pos;
                self.skip();
                if parens && self.eat(b")") {
                    break;
                }
                if !self.eat(b",") {
                    if parens {
                        return Err(self.expected("`,` or `)`", "separate types by commas"));
                    }
                    self.pos = end;
                    break;
                }
            }
        }
        let end = self.pos;
        self.skip();
        if !self.eat(b"->") {
            if parens {
                return Err(self.expected("`->`", "a full signature is written `(operand types) -> result types`"));
            }
            self.pos = end;
            return Ok(Types {
                operands: None,
                results: list,
                span: Span::new(start, end),
            });
        }
        let results = self.parse_result_types()?.into();
        Ok(Types {
            operands: Some(list),
            results,
            span: Span::new(start, self.pos),
        })
    }
}
