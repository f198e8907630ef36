//! The syntax of values: words, quoted strings, and lists. Used in pipelines and for defaults of options.

use pir_ir::{Diagnostic, Span};

/// The syntax of a value, before the option's kind determines its meaning.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum RawValue {
    Text(String),
    List(Vec<String>),
}

/// Whether a character may occur in a word; everything else needs quotes.
pub(crate) fn is_word_char(c: char) -> bool {
    !c.is_whitespace() && !c.is_control() && !matches!(c, ',' | '{' | '}' | '[' | ']' | '=' | '"')
}

/// Reads a single value, as the default of an option has it.
pub(crate) fn read_value(text: &str) -> Option<RawValue> {
    let mut reader = ValueReader::new(text);
    let value = reader.value()?;
    (reader.errors.is_empty() && reader.at == text.len()).then_some(value)
}

/// A place in a text, and the errors that were found up to there.
pub(crate) struct ValueReader<'a> {
    pub(crate) text: &'a str,
    pub(crate) at: usize,
    pub(crate) errors: Vec<Diagnostic>,
}

impl<'a> ValueReader<'a> {
    /// At the beginning of a text.
    pub(crate) fn new(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            errors: Vec::new(),
        }
    }

    /// The next character.
    pub(crate) fn peek(&self) -> Option<char> {
        self.text.get(self.at..).and_then(|rest| rest.chars().next())
    }

    /// Takes the next character.
    pub(crate) fn bump(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    /// Takes a character if it is the next one.
    pub(crate) fn eat(&mut self, c: char) -> bool {
        let found = self.peek() == Some(c);
        if found {
            self.at += c.len_utf8();
        }
        found
    }

    /// Skips white space.
    pub(crate) fn blanks(&mut self) {
        while self.peek().is_some_and(char::is_whitespace) {
            self.bump();
        }
    }

    /// White space with at most one comma in it.
    pub(crate) fn separator(&mut self) {
        self.blanks();
        if self.eat(',') {
            self.blanks();
        }
    }

    /// Takes a word, which may be empty.
    pub(crate) fn word(&mut self) -> (&'a str, Span) {
        let start = self.at;
        while self.peek().is_some_and(is_word_char) {
            self.bump();
        }
        (&self.text[start..self.at], Span::new(start, self.at))
    }

    /// The character here, or an empty span at the end.
    pub(crate) fn here(&self) -> Span {
        Span::new(self.at, self.at + self.peek().map_or(0, char::len_utf8))
    }

    /// Reports the expected text at the next character.
    pub(crate) fn syntax(&mut self, expected: &str, help: &str) {
        let found = match self.peek() {
            Some(c) => format!("`{}`", c.escape_debug()),
            None => "the end".to_owned(),
        };
        let error = Diagnostic::error("pipeline-syntax", format!("expected {expected}, found {found}"))
            .label(self.here(), format!("expected {expected}"))
            .help(help);
        self.errors.push(error);
    }

    /// Reports that what begins with the character at `open` does not end.
    pub(crate) fn unclosed(&mut self, message: &str, expected: &str, open: usize, help: &str) {
        self.errors.push(
            Diagnostic::error("pipeline-syntax", message)
                .label(self.here(), expected)
                .label(Span::new(open, open + 1), "opened here")
                .help(help),
        );
    }

    /// A word or a string.
    pub(crate) fn text_value(&mut self) -> Option<String> {
        if self.peek() == Some('"') {
            return self.string();
        }
        let (word, _) = self.word();
        if word.is_empty() {
            self.syntax(
                "a value",
                "a value is a word, a quoted string or a list: `a`, `\"a b\"`, `[a, \"b c\"]`",
            );
            return None;
        }
        Some(word.to_owned())
    }

    /// A word, a string or a list of these.
    pub(crate) fn value(&mut self) -> Option<RawValue> {
        let open = self.at;
        if !self.eat('[') {
            return self.text_value().map(RawValue::Text);
        }
        let mut items = Vec::new();
        self.blanks();
        loop {
            if self.eat(']') {
                return Some(RawValue::List(items));
            }
            if self.peek().is_none() {
                self.unclosed(
                    "the list is not closed",
                    "expected `]`",
                    open,
                    "a list is written `[a, \"b c\"]`",
                );
                return None;
            }
            items.push(self.text_value()?);
            self.separator();
        }
    }

    /// A string in quotation marks.
    pub(crate) fn string(&mut self) -> Option<String> {
        let open = self.at;
        self.bump();
        let mut out = String::new();
        loop {
            match self.bump() {
                Some('"') => return Some(out),
                Some('\\') => match self.bump() {
                    Some('n') => out.push('\n'),
                    Some('t') => out.push('\t'),
                    Some(c @ ('"' | '\\')) => out.push(c),
                    Some(c) => {
                        // A path or a pattern was meant literally.
                        out.push('\\');
                        out.push(c);
                    }
                    None => {}
                },
                Some(c) => out.push(c),
                None => {
                    let help = "write `\\\"` for a quotation mark in a string";
                    self.unclosed("the string is not closed", "expected `\"`", open, help);
                    return None;
                }
            }
        }
    }
}
