//! The interface for parsing `custom<NAME>` of an assembly format.

use crate::diagnostics::Diagnostic;

/// Reads what a format calls `custom<NAME>`.
pub type AssemblyHook = fn(&mut dyn AssemblyReader) -> Result<(), Unreadable>;

/// The reason why parsing failed.
#[derive(Debug)]
pub struct Unreadable(pub(crate) Box<Diagnostic>);

type Read<T> = Result<T, Unreadable>;

/// The text at the place of a `custom<NAME>` of any format, and the operation that is being read.
pub trait TextReader {
    /// Reads a word or a sign, if it is next.
    fn eat(&mut self, text: &str) -> bool;

    /// Reads a word or a sign.
    ///
    /// # Errors
    /// When something else is next.
    fn expect(&mut self, text: &str) -> Read<()> {
        match self.eat(text) {
            true => Ok(()),
            false => Err(self.expected(&format!("`{text}`"))),
        }
    }

    /// An error that names the expected text.
    fn expected(&mut self, what: &str) -> Unreadable;

    /// Whether a sign is next.
    fn is_next(&self, sign: char) -> bool;

    /// Reads an integer.
    ///
    /// # Errors
    /// When none is next.
    fn int(&mut self) -> Read<i64>;

    /// Reads the content of brackets, `<` for example, whatever it is.
    ///
    /// # Errors
    /// When no such bracket is next, or nothing closes it.
    fn bracketed(&mut self, open: char) -> Read<String>;

    /// Gives the operation an attribute, of a text in MLIR's syntax.
    ///
    /// # Errors
    /// When there is one of this name, or the text is not an attribute.
    fn set(&mut self, name: &str, text: &str) -> Read<()>;

    /// Gives the operation an attribute `array<TYPE: 1, 2>`.
    ///
    /// # Errors
    /// When there is one of this name.
    fn set_array(&mut self, name: &str, ty: &str, list: &[i64]) -> Read<()> {
        self.set(name, &array_text(ty, list))
    }
}

/// The interface for parsing `custom<NAME>` of an assembly format.
pub trait AssemblyReader: TextReader {
    /// Reads a word, dots included.
    ///
    /// # Errors
    /// When none is next.
    fn word(&mut self, what: &str) -> Read<String>;

    /// Reads `[1, 2]`.
    ///
    /// # Errors
    /// When something else is next.
    fn ints(&mut self) -> Read<Vec<i64>>;

    /// Reads an operand.
    ///
    /// # Errors
    /// When no value is next.
    fn operand(&mut self) -> Read<()>;

    /// Puts operands that were read alternately, a first and a second one, in the order all first ones, all second ones.
    fn separate_operands(&mut self);

    /// Reads `%name: type`, an argument of the next region.
    ///
    /// # Errors
    /// When something else is next.
    fn argument(&mut self) -> Read<()>;

    /// Puts arguments that were read alternately in the order all first ones, all second ones.
    fn separate_arguments(&mut self);

    /// Reads the name of an operation that the region consists of; `applied` in the format makes it.
    ///
    /// # Errors
    /// When no word is next.
    fn applied(&mut self) -> Read<()>;

    /// Whether the region consists of an operation that was named.
    fn is_applied(&self) -> bool;
}

/// `array<TYPE: 1, 2>`.
pub(crate) fn array_text(ty: &str, list: &[i64]) -> String {
    let items: Vec<String> = list.iter().map(i64::to_string).collect();
    match items.is_empty() {
        true => format!("array<{ty}>"),
        false => format!("array<{ty}: {}>", items.join(", ")),
    }
}
