//! Operands in the text, and what branches pass to blocks.

use super::parser::{Failure, Parser};
use super::pending::Pending;
use crate::body::Successor;
use crate::declare::Traits;
use crate::diagnostics::Span;
use crate::entity::{BlockId, Sym};
use crate::text::cursor;

impl Parser<'_> {
    /// Operands up to the closing parenthesis, with optional types after a colon.
    pub(super) fn operand_list(&mut self, op: &mut Pending) -> Result<(), Failure> {
        if self.peek() != b'%' {
            self.skip();
            if self.eat(b")") {
                return Ok(());
            }
        }
        let first = op.operands.len();
        loop {
            self.next_operand(op)?;
            if self.eat(b", ") {
                continue;
            }
            if self.eat(b")") || self.list_ends(op, first)? {
                return Ok(());
            }
        }
    }

    /// Whether a list of operands ends here, after the types of those from `first` on; a comma has been read if it does not.
    #[cold]
    fn list_ends(&mut self, op: &Pending, first: usize) -> Result<bool, Failure> {
        self.skip();
        if self.peek() == b':' && !self.starts_with(b"::") {
            self.pos += 1;
            for at in first.. {
                let ty = self.parse_type()?;
                self.check_operand(op, at, ty);
                self.skip();
                if !self.eat(b",") {
                    break;
                }
            }
            self.skip();
        }
        if self.eat(b")") {
            return Ok(true);
        }
        self.expect(b",", "`,` or `)`", "operands are separated by commas")?;
        Ok(false)
    }

    /// An operand in an assembly format; its location is recorded.
    pub(super) fn operand(&mut self, op: &mut Pending) -> Result<(), Failure> {
        self.skip();
        op.operand_starts.push(self.pos as u32);
        self.next_operand(op)?;
        op.operand_starts.truncate(op.operands.len());
        Ok(())
    }

    #[inline(always)]
    pub(super) fn next_operand(&mut self, op: &mut Pending) -> Result<(), Failure> {
        if self.peek() != b'%' && self.is_constant(op)? {
            return Ok(());
        }
        let value = self.value()?;
        op.operands.push(value);
        Ok(())
    }

    /// Reads the value of a constant, if it is written instead of an operand; blanks before it are skipped.
    #[cold]
    fn is_constant(&mut self, op: &mut Pending) -> Result<bool, Failure> {
        self.skip();
        match self.peek() {
            // `pd.const(1)`.
            b'-' | b'0'..=b'9' if op.has(self.ctx, Traits::CONSTANT) => {
                let value = self.parse_attr()?;
                op.attrs.push((self.ctx.sym("value"), value));
                Ok(true)
            }
            b if b.is_ascii_alphabetic() => {
                let start = self.pos;
                let text = cursor::name(&self.src[start..])
                    .map_or(String::new(), |(_, w)| String::from_utf8_lossy(w).into_owned());
                Err(self
                    .error_at(start, start + text.len(), "syntax", format!("`{text}` is not a value"))
                    .with_help(format!("values are written with a percent sign: `%{text}`")))
            }
            _ => Ok(false),
        }
    }

    /// Successors after operands, on the line of the name of the operation.
    pub(super) fn successors(&mut self, op: &mut Pending) -> Result<(), Failure> {
        let line = cursor::line_end(self.src, op.span.end as usize);
        let branches = op.def(self.ctx).is_some_and(|d| d.successors > 0);
        let starts = |p: &Self| {
            let next = p.src.get(p.after(p.pos)).copied().unwrap_or(0);
            (next == b'^' || branches && next.is_ascii_alphabetic()) && p.after(p.pos) < line
        };
        while starts(self) {
            self.successor(op)?;
            if !self.next_is(b',') {
                break;
            }
            self.skip();
            self.pos += 1;
        }
        Ok(())
    }

    /// `^name` or `^name(%a, %b)` or `^name(%a, %b : T, U)`.
    pub(super) fn successor(&mut self, op: &mut Pending) -> Result<(), Failure> {
        self.skip();
        let start = self.pos;
        // The specification leaves the sigil out now and then.
        if !self.peek().is_ascii_alphabetic() {
            self.expect(b"^", "a block", "successors are written `^name(%operand)`")?;
        }
        let (sym, span) = self.block_name(start)?;
        let block = self.block_of_label(sym, span);
        let before = op.operands.len();
        if self.next_is(b'(') {
            self.skip();
            self.pos += 1;
            self.operand_list(op)?;
        }
        let types = op.operands[before..]
            .iter()
            .map(|&v| self.body().value_type(v))
            .collect();
        if let Some(region) = self.scopes.region() {
            region.passed.entry(block).or_insert(types);
        }
        op.successors.push(Successor {
            block,
            operands: (op.operands.len() - before) as u32,
        });
        Ok(())
    }

    pub(super) fn block_of_label(&mut self, sym: Sym, span: Span) -> BlockId {
        if let Some(&(block, _, _)) = self.scopes.region().and_then(|r| r.blocks.get(&sym)) {
            return block;
        }
        let block = self.body().create_detached_block();
        if let Some(region) = self.scopes.region() {
            region.blocks.insert(sym, (block, false, span));
        }
        block
    }

    /// Whether the next byte that is neither blank nor comment is this one. Nothing is skipped: the comments may belong
    /// to the next operation.
    pub(super) fn next_is(&self, byte: u8) -> bool {
        self.src.get(self.after(self.pos)) == Some(&byte)
    }
}
