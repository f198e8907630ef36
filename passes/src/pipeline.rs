//! The text of a pipeline: `licm,backward{of="out:1" wrt=[%x, "w_0"]},dce`.
//!
//! ```text
//! pipeline ::= [ pass { "," pass } ]
//! pass     ::= name [ "{" [ option { sep option } ] "}" ]
//! option   ::= name [ "=" value ]
//! value    ::= word | string | "[" [ ( word | string ) { sep ( word | string ) } ] "]"
//! sep      ::= white space and at most one ","
//! ```
//!
//! Blanks are allowed everywhere between these. A word is anything without blanks, quotes, commas, `=` and brackets.
//! All errors of a text are reported, with spans into that text.

use std::fmt;

use pir_ir::{Diagnostic, Span, nearest};

use crate::options::{OptionValue, Options, RawValue, is_word_char};
use crate::pass::Pass;
use crate::registry::{all_passes, find_in};

/// One run of a pass, with its options.
#[derive(Clone)]
pub struct Invocation {
    /// The pass.
    pub pass: &'static dyn Pass,
    /// The options.
    pub options: Options,
}

impl Invocation {
    /// A run with the default options.
    pub fn new(pass: &'static dyn Pass) -> Self {
        Invocation {
            pass,
            options: Options::new(pass.options()),
        }
    }

    /// A run that takes over those of `options` that the pass declares too.
    pub fn forwarding(pass: &'static dyn Pass, options: &Options) -> Self {
        let mut new = Self::new(pass);
        new.options.forward_from(options);
        new
    }

    /// Sets an option; one that the pass does not declare is ignored.
    #[must_use]
    pub fn with(mut self, name: &str, value: OptionValue) -> Self {
        let known = self.options.set(name, value);
        debug_assert!(known, "`{}` has no option `{name}`", self.pass.name());
        self
    }
}

impl fmt::Display for Invocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.pass.name())?;
        let mut open = false;
        for (name, value) in self.options.given() {
            write!(f, "{}{name}={value}", if open { ", " } else { "{" })?;
            open = true;
        }
        f.write_str(if open { "}" } else { "" })
    }
}

impl fmt::Debug for Invocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// A list of passes to run in order. Its `Display` is what [`Pipeline::parse`] reads.
#[derive(Clone, Debug, Default)]
pub struct Pipeline {
    /// The runs.
    pub invocations: Vec<Invocation>,
}

impl fmt::Display for Pipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, invocation) in self.invocations.iter().enumerate() {
            write!(f, "{}{invocation}", if at == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

impl Pipeline {
    /// Reads a pipeline of the passes in [`all_passes`].
    ///
    /// # Errors
    /// Everything that is wrong with it, with spans into `text`.
    pub fn parse(text: &str) -> Result<Self, Vec<Diagnostic>> {
        Self::parse_with(text, all_passes())
    }

    /// Reads a pipeline of the given passes.
    ///
    /// # Errors
    /// Everything that is wrong with it, with spans into `text`.
    pub fn parse_with(text: &str, passes: &[&'static dyn Pass]) -> Result<Self, Vec<Diagnostic>> {
        let mut parser = Parser {
            text,
            at: 0,
            errors: Vec::new(),
        };
        let invocations = parser.pipeline(passes);
        if parser.errors.is_empty() {
            Ok(Pipeline { invocations })
        } else {
            Err(parser.errors)
        }
    }

    /// Adds the passes of another pipeline at the end.
    pub fn extend(&mut self, other: Pipeline) {
        self.invocations.extend(other.invocations);
    }
}

/// Reads a single value, as it stands in an option or as the default of one.
pub(crate) fn read_value(text: &str) -> Option<RawValue> {
    let mut parser = Parser {
        text,
        at: 0,
        errors: Vec::new(),
    };
    let value = parser.value()?;
    (parser.errors.is_empty() && parser.at == text.len()).then_some(value)
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    errors: Vec<Diagnostic>,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<char> {
        self.text.get(self.at..).and_then(|rest| rest.chars().next())
    }

    fn bump(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn eat(&mut self, c: char) -> bool {
        let found = self.peek() == Some(c);
        if found {
            self.at += c.len_utf8();
        }
        found
    }

    fn blanks(&mut self) {
        while self.peek().is_some_and(char::is_whitespace) {
            self.bump();
        }
    }

    /// White space with at most one comma in it.
    fn separator(&mut self) {
        self.blanks();
        if self.eat(',') {
            self.blanks();
        }
    }

    fn word(&mut self) -> (&'a str, Span) {
        let start = self.at;
        while self.peek().is_some_and(is_word_char) {
            self.bump();
        }
        (&self.text[start..self.at], Span::new(start, self.at))
    }

    /// The character here, or an empty span at the end.
    fn here(&self) -> Span {
        Span::new(self.at, self.at + self.peek().map_or(0, char::len_utf8))
    }

    fn syntax(&mut self, expected: &str, help: &str) {
        let found = match self.peek() {
            Some(c) => format!("`{}`", c.escape_debug()),
            None => "the end".to_owned(),
        };
        let error = Diagnostic::error("pipeline-syntax", format!("expected {expected}, found {found}"))
            .label(self.here(), format!("expected {expected}"))
            .help(help);
        self.errors.push(error);
    }

    fn pipeline(&mut self, passes: &[&'static dyn Pass]) -> Vec<Invocation> {
        let mut out = Vec::new();
        self.blanks();
        if self.peek().is_none() {
            return out;
        }
        loop {
            self.blanks();
            let (name, span) = self.word();
            if name.is_empty() {
                self.syntax(
                    "the name of a pass",
                    "a pipeline is a list like `licm,dce,backward{of=loss}`",
                );
            }
            let pass = find_in(passes, name);
            if pass.is_none() && !name.is_empty() {
                let mut error =
                    Diagnostic::error("unknown-pass", format!("there is no pass `{name}`")).label(span, "no such pass");
                error.help = Some(match nearest(name, passes.iter().map(|p| p.name())) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "`--list-passes` shows all passes".to_owned(),
                });
                self.errors.push(error);
            }
            let mut invocation = pass.map(Invocation::new);
            self.blanks();
            if self.eat('{') && !self.options(name, invocation.as_mut()) {
                return out;
            }
            out.extend(invocation);
            self.blanks();
            if self.peek().is_none() {
                return out;
            }
            if !self.eat(',') {
                self.syntax(
                    "`,` or the end",
                    "passes are separated by commas, options stand in braces: `dce,licm`",
                );
                // What follows is read as the next pass when it may be one.
                if self.peek().is_none_or(|c| !is_word_char(c)) {
                    return out;
                }
            }
        }
    }

    /// What is between the braces; `false` when they are not closed.
    fn options(&mut self, pass: &str, mut invocation: Option<&mut Invocation>) -> bool {
        let open = self.at - 1;
        self.blanks();
        loop {
            if self.eat('}') {
                return true;
            }
            if self.peek().is_none() {
                self.errors.push(
                    Diagnostic::error("pipeline-syntax", "the options are not closed")
                        .label(self.here(), "expected `}`")
                        .label(Span::new(open, open + 1), "opened here")
                        .help("options stand in braces: `backward{of=loss}`; mind that shells eat unquoted quotes"),
                );
                return false;
            }
            let (name, span) = self.word();
            if name.is_empty() {
                self.syntax("the name of an option", "an option is written `name=value`");
                self.recover();
                continue;
            }
            self.blanks();
            let mut value_span = span;
            let value = if self.eat('=') {
                self.blanks();
                let start = self.at;
                let value = self.value();
                value_span = Span::new(start, self.at);
                match value {
                    Some(value) => Some(value),
                    None => {
                        self.recover();
                        continue;
                    }
                }
            } else {
                None
            };
            if let Some(invocation) = invocation.as_deref_mut() {
                self.set_option(pass, invocation, (name, span), (value, value_span));
            }
            self.separator();
        }
    }

    fn set_option(
        &mut self,
        pass: &str,
        invocation: &mut Invocation,
        (name, span): (&str, Span),
        (value, value_span): (Option<RawValue>, Span),
    ) {
        let specs = invocation.pass.options();
        let Some(spec) = invocation.options.spec(name) else {
            let names: Vec<&str> = specs.iter().map(|s| s.name).collect();
            let error = Diagnostic::error("unknown-option", format!("the pass `{pass}` has no option `{name}`"))
                .label(span, "no such option")
                .help(match nearest(name, names.iter().copied()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None if names.is_empty() => format!("`{pass}` takes no options"),
                    None => format!("`{pass}` takes {}", names.join(", ")),
                });
            self.errors.push(error);
            return;
        };
        if invocation.options.is_given(name) {
            self.errors.push(
                Diagnostic::error("duplicate-option", format!("the option `{name}` is given twice"))
                    .label(span, "given again here")
                    .help("give it once; several values are written as a list: `[a, b]`"),
            );
            return;
        }
        let read = match value {
            Some(raw) => spec.kind.read(raw),
            None if spec.kind == crate::options::OptionKind::Bool => Ok(OptionValue::Bool(true)),
            None => Err(format!("expected {} behind `{name}=`", spec.kind)),
        };
        match read {
            Ok(value) => {
                invocation.options.set(name, value);
            }
            Err(expected) => {
                self.errors.push(
                    Diagnostic::error(
                        "bad-option",
                        format!("a wrong value for the option `{name}` of `{pass}`"),
                    )
                    .label(value_span, expected)
                    .help(format!("{name}: {}", spec.help)),
                );
            }
        }
    }

    /// Skips to the next place where an option may begin.
    fn recover(&mut self) {
        while let Some(c) = self.peek() {
            match c {
                '}' => return,
                '"' => {
                    self.string();
                }
                ',' => {
                    self.separator();
                    return;
                }
                _ => {
                    self.bump();
                }
            }
        }
    }

    fn text_value(&mut self) -> Option<String> {
        if self.peek() == Some('"') {
            return self.string();
        }
        let (word, _) = self.word();
        if word.is_empty() {
            self.syntax(
                "a value",
                "a value is a word, a quoted text or a list: `a`, `\"a b\"`, `[a, \"b c\"]`",
            );
            return None;
        }
        Some(word.to_owned())
    }

    fn value(&mut self) -> Option<RawValue> {
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
                self.errors.push(
                    Diagnostic::error("pipeline-syntax", "the list is not closed")
                        .label(self.here(), "expected `]`")
                        .label(Span::new(open, open + 1), "opened here")
                        .help("a list is written `[a, \"b c\"]`"),
                );
                return None;
            }
            items.push(self.text_value()?);
            self.separator();
        }
    }

    fn string(&mut self) -> Option<String> {
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
                    self.errors.push(
                        Diagnostic::error("pipeline-syntax", "the text is not closed")
                            .label(self.here(), "expected `\"`")
                            .label(Span::new(open, open + 1), "opened here")
                            .help("write `\\\"` for a quote in a text"),
                    );
                    return None;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
