//! What a `custom<NAME>` of an assembly format reads with.

use super::format::array_text;
use super::parser::{Failure, Parser};
use super::pending::Pending;
use crate::assembly::Format;
use crate::diagnostics::Span;
use crate::registry::OpDef;
use crate::text::cursor;

/// Why something could not be read.
#[derive(Debug)]
pub struct Unreadable(pub(super) Failure);

/// The text at the place of a `custom<NAME>`, and the operation that is being read.
pub struct AssemblyReader<'r, 's> {
    parser: &'r mut Parser<'s>,
    pending: &'r mut Pending,
    def: &'r OpDef,
    format: &'r Format,
}

type Read<T> = Result<T, Unreadable>;

impl<'r, 's> AssemblyReader<'r, 's> {
    pub(super) fn new(
        parser: &'r mut Parser<'s>,
        pending: &'r mut Pending,
        def: &'r OpDef,
        format: &'r Format,
    ) -> Self {
        AssemblyReader {
            parser,
            pending,
            def,
            format,
        }
    }

    /// Reads a word or a sign, if it is next.
    pub fn eat(&mut self, text: &str) -> bool {
        self.parser.eat_literal(text)
    }

    /// Reads a word or a sign.
    ///
    /// # Errors
    /// When something else is next.
    pub fn expect(&mut self, text: &str) -> Read<()> {
        match self.eat(text) {
            true => Ok(()),
            false => Err(self.expected(&format!("`{text}`"))),
        }
    }

    /// Says what was expected here.
    pub fn expected(&mut self, what: &str) -> Unreadable {
        Unreadable(self.parser.expected_in(self.def, self.format, what))
    }

    /// Whether a sign is next.
    pub fn is_next(&self, sign: char) -> bool {
        u8::try_from(sign).is_ok_and(|sign| self.parser.next_is(sign))
    }

    /// Reads a word, dots included.
    ///
    /// # Errors
    /// When none is next.
    pub fn word(&mut self, what: &str) -> Read<String> {
        self.parser.skip();
        match cursor::name(&self.parser.src[self.parser.pos..]) {
            Ok((_, word)) => {
                self.parser.pos += word.len();
                Ok(String::from_utf8_lossy(word).into_owned())
            }
            Err(_) => Err(self.expected(what)),
        }
    }

    /// Reads an integer.
    ///
    /// # Errors
    /// When none is next.
    pub fn int(&mut self) -> Read<i64> {
        self.parser.int(self.def, self.format).map_err(Unreadable)
    }

    /// Reads `[1, 2]`.
    ///
    /// # Errors
    /// When something else is next.
    pub fn ints(&mut self) -> Read<Vec<i64>> {
        self.parser.int_list(self.def, self.format).map_err(Unreadable)
    }

    /// Reads the content of brackets, `<` for example, whatever it is.
    ///
    /// # Errors
    /// When no such bracket is next, or nothing closes it.
    pub fn bracketed(&mut self, open: char) -> Read<String> {
        if !self.is_next(open) {
            return Err(self.expected(&format!("`{open}`")));
        }
        self.parser.skip();
        let start = self.parser.pos;
        let end = cursor::balanced_end(self.parser.src, start).ok_or_else(|| Unreadable(self.parser.unclosed()))?;
        self.parser.pos = end;
        Ok(self.parser.text(Span::new(start, end)))
    }

    /// Gives the operation an attribute, of a text in MLIR's syntax.
    ///
    /// # Errors
    /// When there is one of this name, or the text is not an attribute.
    pub fn set(&mut self, name: &str, text: &str) -> Read<()> {
        let start = self.parser.pos;
        let value = self.parser.composed(text, start).map_err(Unreadable)?;
        self.parser.set(self.pending, name, value, start).map_err(Unreadable)
    }

    /// Gives the operation an attribute `array<TYPE: 1, 2>`.
    ///
    /// # Errors
    /// When there is one of this name.
    pub fn set_array(&mut self, name: &str, ty: &str, list: &[i64]) -> Read<()> {
        self.set(name, &array_text(ty, list))
    }

    /// Reads an operand.
    ///
    /// # Errors
    /// When no value is next.
    pub fn operand(&mut self) -> Read<()> {
        match self.is_next('%') {
            true => self.parser.operand(self.pending).map_err(Unreadable),
            false => Err(self.expected("a value")),
        }
    }

    /// Puts operands that were read alternately, a first and a second one, in the order all first ones, all second ones.
    pub fn separate_operands(&mut self) {
        separate(&mut self.pending.operands);
        separate(&mut self.pending.operand_starts);
    }

    /// Reads `%name: type`, an argument of the next region.
    ///
    /// # Errors
    /// When something else is next.
    pub fn argument(&mut self) -> Read<()> {
        if !self.is_next('%') {
            return Err(self.expected("the name of an argument"));
        }
        let (name, start) = self.parser.new_name().map_err(Unreadable)?;
        self.expect(":")?;
        let ty = self.parser.parse_type().map_err(Unreadable)?;
        self.parser.skip();
        let loc = self.parser.location().map_err(Unreadable)?;
        self.pending.function_args.push((name, ty, loc, start));
        Ok(())
    }

    /// Puts arguments that were read alternately in the order all first ones, all second ones.
    pub fn separate_arguments(&mut self) {
        separate(&mut self.pending.function_args);
    }

    /// Reads the name of an operation that the region consists of; `applied` in the format makes it.
    ///
    /// # Errors
    /// When no word is next.
    pub fn applied(&mut self) -> Read<()> {
        self.parser.skip();
        let start = self.parser.pos;
        let name = match self.is_next('"') {
            true => self.parser.parse_string().map_err(Unreadable)?,
            false => self.word("an operation")?,
        };
        let span = Span::new(start, self.parser.pos);
        if let Some(state) = self.pending.format.as_mut() {
            state.applied = Some((name.into(), span));
        }
        Ok(())
    }

    /// Whether the region consists of an operation that was named.
    pub fn is_applied(&self) -> bool {
        self.pending
            .format
            .as_ref()
            .is_some_and(|state| state.applied.is_some())
    }
}

/// `a0 b0 a1 b1` to `a0 a1 b0 b1`.
fn separate<T: Clone>(list: &mut (impl std::ops::DerefMut<Target = [T]> + ?Sized)) {
    let second = list.iter().skip(1).step_by(2).cloned();
    let all: Vec<T> = list.iter().step_by(2).cloned().chain(second).collect();
    list.clone_from_slice(&all);
}
