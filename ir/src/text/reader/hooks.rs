//! The interface for parsing `custom<NAME>` of an assembly format.

use super::parser::{Failure, Parser};
use super::pending::Pending;
use crate::assembly::{AssemblyReader, Format, TextReader, Unreadable};
use crate::diagnostics::Span;
use crate::registry::OpDef;
use crate::text::cursor;

/// The text at the place of a `custom<NAME>`, and the operation that is being read.
pub(super) struct FormatReader<'r, 's> {
    parser: &'r mut Parser<'s>,
    pending: &'r mut Pending,
    def: &'r OpDef,
    format: &'r Format,
}

type Read<T> = Result<T, Unreadable>;

impl<'r, 's> FormatReader<'r, 's> {
    pub(super) fn new(
        parser: &'r mut Parser<'s>,
        pending: &'r mut Pending,
        def: &'r OpDef,
        format: &'r Format,
    ) -> Self {
        FormatReader {
            parser,
            pending,
            def,
            format,
        }
    }
}

impl TextReader for FormatReader<'_, '_> {
    fn eat(&mut self, text: &str) -> bool {
        self.parser.eat_literal(text)
    }

    fn expected(&mut self, what: &str) -> Unreadable {
        Unreadable::from(self.parser.expected_in(self.def, self.format, what))
    }

    fn is_next(&self, sign: char) -> bool {
        self.parser.sign_is_next(sign)
    }

    fn int(&mut self) -> Read<i64> {
        self.parser.int(self.def, self.format).map_err(Unreadable::from)
    }

    fn bracketed(&mut self, open: char) -> Read<String> {
        let text = self.parser.bracketed_text(open).map_err(Unreadable::from)?;
        text.ok_or_else(|| self.expected(&format!("`{open}`")))
    }

    fn set(&mut self, name: &str, text: &str) -> Read<()> {
        let start = self.parser.pos;
        let value = self.parser.composed(text, start).map_err(Unreadable::from)?;
        self.parser
            .set(self.pending, name, value, start)
            .map_err(Unreadable::from)
    }
}

impl AssemblyReader for FormatReader<'_, '_> {
    fn word(&mut self, what: &str) -> Read<String> {
        self.parser.skip();
        match cursor::name(&self.parser.src[self.parser.pos..]) {
            Ok((_, word)) => {
                self.parser.pos += word.len();
                Ok(String::from_utf8_lossy(word).into_owned())
            }
            Err(_) => Err(self.expected(what)),
        }
    }

    fn ints(&mut self) -> Read<Vec<i64>> {
        self.parser.int_list(self.def, self.format).map_err(Unreadable::from)
    }

    fn operand(&mut self) -> Read<()> {
        match self.is_next('%') {
            true => self.parser.operand(self.pending).map_err(Unreadable::from),
            false => Err(self.expected("a value")),
        }
    }

    fn separate_operands(&mut self) {
        separate(&mut self.pending.operands);
        separate(&mut self.pending.operand_starts);
    }

    fn argument(&mut self) -> Read<()> {
        if !self.is_next('%') {
            return Err(self.expected("the name of an argument"));
        }
        let (name, start) = self.parser.new_name().map_err(Unreadable::from)?;
        self.expect(":")?;
        let ty = self.parser.parse_type().map_err(Unreadable::from)?;
        self.parser.skip();
        let loc = self.parser.location().map_err(Unreadable::from)?;
        self.pending.function_args.push((name, ty, loc, start));
        Ok(())
    }

    fn separate_arguments(&mut self) {
        separate(&mut self.pending.function_args);
    }

    fn applied(&mut self) -> Read<()> {
        self.parser.skip();
        let start = self.parser.pos;
        let name = match self.is_next('"') {
            true => self.parser.parse_string().map_err(Unreadable::from)?,
            false => self.word("an operation")?,
        };
        let span = Span::new(start, self.parser.pos);
        if let Some(state) = self.pending.format.as_mut() {
            state.applied = Some((name.into(), span));
        }
        Ok(())
    }

    fn is_applied(&self) -> bool {
        self.pending
            .format
            .as_ref()
            .is_some_and(|state| state.applied.is_some())
    }
}

impl Parser<'_> {
    /// Whether a sign is next.
    pub(super) fn sign_is_next(&self, sign: char) -> bool {
        u8::try_from(sign).is_ok_and(|sign| self.next_is(sign))
    }

    /// The bracketed text that follows, brackets included, if there is any.
    pub(super) fn bracketed_text(&mut self, open: char) -> Result<Option<String>, Failure> {
        if !self.sign_is_next(open) {
            return Ok(None);
        }
        self.skip();
        let start = self.pos;
        let end = cursor::balanced_end(self.src, start).ok_or_else(|| self.unclosed())?;
        self.pos = end;
        Ok(Some(self.text(Span::new(start, end))))
    }
}

/// `a0 b0 a1 b1` to `a0 a1 b0 b1`.
fn separate<T: Clone>(list: &mut (impl std::ops::DerefMut<Target = [T]> + ?Sized)) {
    let second = list.iter().skip(1).step_by(2).cloned();
    let all: Vec<T> = list.iter().step_by(2).cloned().chain(second).collect();
    list.clone_from_slice(&all);
}
