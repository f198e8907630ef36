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
mod tests {
    use super::*;
    use crate::options::{OptionKind, OptionSpec};
    use crate::pass::{Changed, PassContext};
    use pir_ir::Module;

    struct Plain;
    impl Pass for Plain {
        fn name(&self) -> &'static str {
            "plain"
        }
        fn summary(&self) -> &'static str {
            "without options"
        }
        fn description(&self) -> &'static str {
            ""
        }
        fn run(&self, _: &mut Module, _: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
            Ok(Changed::No)
        }
    }

    struct Rich;
    impl Pass for Rich {
        fn name(&self) -> &'static str {
            "rich"
        }
        fn summary(&self) -> &'static str {
            "with options"
        }
        fn description(&self) -> &'static str {
            ""
        }
        fn options(&self) -> &'static [OptionSpec] {
            const fn opt(name: &'static str, kind: OptionKind, default: Option<&'static str>) -> OptionSpec {
                OptionSpec {
                    name,
                    kind,
                    default,
                    help: "some help",
                }
            }
            const ALL: &[OptionSpec] = &[
                opt("of", OptionKind::List, None),
                opt("wrt", OptionKind::List, Some("[a, \"b c\"]")),
                opt("seed", OptionKind::Str, None),
                opt("slots", OptionKind::Int(0, i64::MAX), Some("4")),
                opt("fast", OptionKind::Bool, Some("false")),
                opt("mode", OptionKind::Enum(&["eager", "lazy"]), Some("lazy")),
            ];
            ALL
        }
        fn run(&self, _: &mut Module, _: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
            Ok(Changed::No)
        }
    }

    const PASSES: &[&dyn Pass] = &[&Plain, &Rich];

    fn parse(text: &str) -> Pipeline {
        Pipeline::parse_with(text, PASSES).unwrap()
    }

    /// The code, message, first label with the text under it, and help of the errors.
    fn errors(text: &str) -> Vec<(&'static str, String, String, String)> {
        let errors = Pipeline::parse_with(text, PASSES).unwrap_err();
        errors
            .into_iter()
            .map(|e| {
                let label = &e.labels[0];
                let under = &text[label.span.start as usize..label.span.end as usize];
                (e.code, e.message, format!("{under}: {}", label.text), e.help.unwrap())
            })
            .collect()
    }

    #[test]
    fn reads_bare_quoted_and_list_values() {
        let p = parse(
            " plain , rich{ of=out:1 , wrt=[%x,\"w_0\" b] seed=\"a \\\"b\\\"\", fast mode=eager slots = 7 },plain{}",
        );
        assert_eq!(p.invocations.len(), 3);
        let o = &p.invocations[1].options;
        assert_eq!(o.list("of"), Some(vec!["out:1".to_owned()]));
        assert_eq!(o.list("wrt"), Some(vec!["%x".into(), "w_0".into(), "b".into()]));
        assert_eq!(o.text("seed").as_deref(), Some("a \"b\""));
        assert!(o.flag("fast"));
        assert_eq!(o.text("mode").as_deref(), Some("eager"));
        assert_eq!(o.int("slots"), Some(7));
        assert!(parse("").invocations.is_empty());
        assert!(parse("  ").invocations.is_empty());
    }

    #[test]
    fn options_that_are_not_given_have_their_defaults() {
        let p = parse("rich");
        let o = &p.invocations[0].options;
        assert_eq!(o.list("of"), None);
        assert_eq!(o.list("wrt"), Some(vec!["a".to_owned(), "b c".to_owned()]));
        assert_eq!(o.int("slots"), Some(4));
        assert!(!o.flag("fast"));
        assert!(!o.is_given("fast"));
    }

    #[test]
    fn printing_and_reading_gives_the_same() {
        for text in [
            "plain,rich,plain",
            "rich{of=[out:1, \"a b\", \"\", \"q\\\"\\\\\\n\"], fast=true, slots=9},plain",
            "rich{seed=\"\", mode=eager}",
            "rich{wrt=[]}",
        ] {
            let p = parse(text);
            assert_eq!(p.to_string(), text);
            assert_eq!(parse(&p.to_string()).to_string(), text);
        }
    }

    #[test]
    fn unknown_names_are_answered_with_the_nearest() {
        assert_eq!(
            errors("plian,rich{seedd=1, zzzz=2},plain{x=1}"),
            [
                (
                    "unknown-pass",
                    "there is no pass `plian`".into(),
                    "plian: no such pass".into(),
                    "did you mean `plain`?".into()
                ),
                (
                    "unknown-option",
                    "the pass `rich` has no option `seedd`".into(),
                    "seedd: no such option".into(),
                    "did you mean `seed`?".into()
                ),
                (
                    "unknown-option",
                    "the pass `rich` has no option `zzzz`".into(),
                    "zzzz: no such option".into(),
                    "`rich` takes of, wrt, seed, slots, fast, mode".into()
                ),
                (
                    "unknown-option",
                    "the pass `plain` has no option `x`".into(),
                    "x: no such option".into(),
                    "`plain` takes no options".into()
                ),
            ]
        );
    }

    #[test]
    fn bad_values_say_what_is_expected() {
        let found: Vec<_> = errors("rich{slots=-1 fast=maybe mode=\"x\" seed=[a] of slots=3,slots=4}")
            .into_iter()
            .map(|e| (e.0, e.2))
            .collect();
        assert_eq!(
            found,
            [
                ("bad-option", "-1: expected a whole number of at least 0".to_owned()),
                ("bad-option", "maybe: expected true or false".into()),
                ("bad-option", "\"x\": expected `eager` or `lazy`".into()),
                ("bad-option", "[a]: expected a text, not a list".into()),
                ("bad-option", "of: expected a list of texts behind `of=`".into()),
                ("duplicate-option", "slots: given again here".into()),
            ]
        );
    }

    #[test]
    fn syntax_errors_point_at_the_place() {
        let found = |text: &str| -> Vec<String> { errors(text).into_iter().map(|e| e.2).collect() };
        assert_eq!(found("plain,,plain"), [",: expected the name of a pass"]);
        assert_eq!(found("plain,"), [": expected the name of a pass"]);
        assert_eq!(found("plain rich"), ["r: expected `,` or the end"]);
        assert_eq!(found("rich{seed=a"), [": expected `}`"]);
        assert_eq!(found("rich{seed=\"a}"), [": expected `\"`", ": expected `}`"]);
        assert_eq!(found("rich{of=[a"), [": expected `]`", ": expected `}`"]);
        assert_eq!(found("rich{of=[[a]], fast}"), ["[: expected a value"]);
        assert_eq!(
            found("rich{=a, fast=3x}"),
            ["=: expected the name of an option", "3x: expected true or false"]
        );
        assert_eq!(found("rich}"), ["}: expected `,` or the end"]);
        assert_eq!(found("rich{seed=}"), ["}: expected a value"]);
    }

    #[test]
    fn any_text_is_read_or_refused_without_panic() {
        let pieces = [
            "rich", "{", "}", "[", "]", "=", ",", "\"", "\\", " ", "é", "of", "\u{0}",
        ];
        let mut state = 1u64;
        for _ in 0..20_000 {
            let mut text = String::new();
            for _ in 0..8 {
                state = state
                    .wrapping_mul(6364136223846793005)
                    .wrapping_add(1442695040888963407);
                text.push_str(pieces[(state >> 33) as usize % pieces.len()]);
            }
            if let Ok(p) = Pipeline::parse_with(&text, PASSES) {
                let again = Pipeline::parse_with(&p.to_string(), PASSES).unwrap();
                assert_eq!(again.to_string(), p.to_string());
            }
        }
    }

    #[test]
    fn forwarding_takes_what_the_pass_declares() {
        let p = parse("rich{seed=s, fast}");
        let i = Invocation::forwarding(&Rich, &p.invocations[0].options);
        assert_eq!(i.to_string(), "rich{seed=s, fast=true}");
        assert_eq!(
            Invocation::forwarding(&Plain, &p.invocations[0].options).to_string(),
            "plain"
        );
    }
}
