//! The pattern of a directive, and finding it in a text.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use fancy_regex::Regex;

use super::numeric::{self, Format, Numeric};
use super::options::Options;
use super::variables::Variables;
use crate::ere::{self, Ere};

/// The variables that are defined above the place that is being read, by the check file alone.
#[derive(Debug, Default)]
pub(crate) struct Known {
    pub(crate) strings: Vec<String>,
    pub(crate) numbers: BTreeMap<String, Format>,
}

/// Which form a pattern is written in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    /// Nothing in the text has a meaning.
    pub(crate) literal: bool,
    /// It matches whole lines.
    pub(crate) full_lines: bool,
    /// The number of its line.
    pub(crate) line: usize,
}

#[derive(Clone, Debug)]
pub(crate) enum Pattern {
    Fixed(String),
    Regex(Box<Template>),
    EmptyLine,
    EndOfInput,
}

/// A pattern with parts that are not fixed.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    pieces: Vec<Piece>,
    full_lines: bool,
    strict: bool,
    ignore_case: bool,
    alternatives: bool,
    /// The expressions, when no variable's value is in them.
    compiled: Option<Compiled>,
}

#[derive(Clone, Debug)]
enum Piece {
    /// A pattern of fancy-regex.
    Regex(String),
    Define(String, String),
    Use(String),
    /// The use of a variable that an earlier piece defines.
    Again(usize),
    Number(Numeric),
}

/// An expression to search with, and for patterns with alternatives one that indicates whether a longer match exists.
#[derive(Clone, Debug)]
struct Compiled {
    search: Regex,
    exact: Option<Regex>,
}

/// Searching failed for a reason other than the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PatternError(pub(crate) String);

impl Pattern {
    /// Reads the text after the colon, blanks at its ends removed already.
    pub(crate) fn parse(text: &str, style: Style, options: &Options, known: &mut Known) -> Result<Pattern, String> {
        let plain = style.literal || !style.full_lines && !text.contains("{{") && !text.contains("[[");
        if plain && !options.ignore_case {
            return Ok(Pattern::Fixed(text.to_owned()));
        }
        let (pieces, alternatives) = if plain {
            (vec![literal(text)], false)
        } else {
            parse_pieces(text, style, known)?
        };
        let mut template = Template {
            pieces,
            full_lines: style.full_lines && !style.literal,
            strict: options.strict_whitespace,
            ignore_case: options.ignore_case,
            alternatives,
            compiled: None,
        };
        if !template.needs_values() {
            template.compiled = Some(template.compile(&Variables::default()).map_err(|e| e.0)?);
        }
        Ok(Pattern::Regex(Box::new(template)))
    }

    /// Whether it defines a string variable or uses any variable. (A numeric one may be defined where others may not.)
    pub(crate) fn has_variables(&self) -> bool {
        let Pattern::Regex(template) = self else { return false };
        template.pieces.iter().any(|piece| match piece {
            Piece::Regex(_) => false,
            Piece::Number(number) => number.expr.is_some(),
            Piece::Define(..) | Piece::Use(_) | Piece::Again(_) => true,
        })
    }

    /// The first place in `text` where it matches. Variables that it defines are set.
    pub(crate) fn find(&self, text: &str, variables: &mut Variables) -> Result<Option<Range<usize>>, PatternError> {
        match self {
            Pattern::Fixed(fixed) => Ok(text.find(fixed.as_str()).map(|at| at..at + fixed.len())),
            Pattern::EndOfInput => Ok(Some(text.len()..text.len())),
            Pattern::EmptyLine => Ok(empty_line(text)),
            Pattern::Regex(template) => template.find(text, variables),
        }
    }

    /// What was substituted for the variables that it uses, and why one could not be.
    pub(crate) fn substitutions(&self, variables: &Variables) -> Vec<String> {
        let Pattern::Regex(template) = self else {
            return Vec::new();
        };
        let mut lines = Vec::new();
        for piece in &template.pieces {
            let line = match piece {
                Piece::Use(name) => variables.string(name).map(|value| format!("`{name}` is `{value}`")),
                Piece::Number(number) => {
                    if let Some(expr) = &number.expr {
                        expr.for_each_variable(&mut |name| {
                            if let Some(value) = variables.number(name) {
                                lines.push(format!("`{name}` is {value}"));
                            }
                        });
                    }
                    None
                }
                Piece::Regex(_) | Piece::Define(..) | Piece::Again(_) => None,
            };
            lines.extend(line);
        }
        lines.dedup();
        lines
    }
}

/// The place after the next line break that ends an empty line or the text.
fn empty_line(text: &str) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    (1..=bytes.len())
        .find(|&at| bytes[at - 1] == b'\n' && matches!(bytes.get(at), None | Some(b'\n')))
        .map(|at| at..at)
}

fn literal(text: &str) -> Piece {
    let mut quoted = String::new();
    ere::quote(text, &mut quoted);
    Piece::Regex(quoted)
}

fn parse_pieces(text: &str, style: Style, known: &mut Known) -> Result<(Vec<Piece>, bool), String> {
    let mut pieces = Vec::new();
    let mut alternatives = false;
    let mut translate = |ere: &str| -> Result<String, String> {
        let Ere {
            text,
            alternatives: has,
        } = ere::translate(ere)?;
        alternatives |= has;
        Ok(text)
    };
    let mut here = Known::default();
    let mut rest = text;
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix("{{") {
            let (ere, after) = after.split_once("}}").ok_or("a `{{` has no `}}`")?;
            if ere.is_empty() {
                return Err("the expression in `{{}}` is empty".to_owned());
            }
            pieces.push(Piece::Regex(format!("(?:{})", translate(ere)?)));
            rest = after;
        } else if rest.starts_with("[[") && !rest.starts_with("[[[") {
            let after = &rest[2..];
            if let Some(after) = after.strip_prefix('#') {
                let (inner, after) = after.split_once("]]").ok_or("a `[[#` has no `]]`")?;
                pieces.push(parse_number(inner, style.line, known, &mut here)?);
                rest = after;
                continue;
            }
            let end = block_end(after).ok_or("a `[[` has no `]]`; a literal one is written `{{\\[\\[}}`")?;
            let inner = &after[..end];
            rest = &after[end + 2..];
            pieces.push(parse_variable(
                inner,
                style.line,
                &pieces,
                &mut translate,
                known,
                &mut here,
            )?);
        } else {
            let step = rest.chars().next().map_or(0, char::len_utf8);
            let next = ["{{", "[["]
                .iter()
                .filter_map(|open| rest[step..].find(open))
                .min()
                .map_or(rest.len(), |at| at + step);
            pieces.push(literal(&rest[..next]));
            rest = &rest[next..];
        }
    }
    known.strings.append(&mut here.strings);
    known.numbers.append(&mut here.numbers);
    Ok((pieces, alternatives))
}

/// The position of the `]]` that ends a block, after nested brackets.
fn block_end(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut depth = 0_usize;
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            b'[' => depth += 1,
            b']' if depth > 0 => depth -= 1,
            b']' if bytes.get(at + 1) == Some(&b']') => return Some(at),
            _ => {}
        }
        at += 1;
    }
    None
}

fn parse_number(inner: &str, line: usize, known: &Known, here: &mut Known) -> Result<Piece, String> {
    let number = numeric::parse(inner, line, &|name| known.numbers.get(name).copied())?;
    if let Some(expr) = &number.expr {
        let mut early = None;
        expr.for_each_variable(&mut |name| {
            if here.numbers.contains_key(name) {
                early = Some(name.to_owned());
            }
        });
        if let Some(name) = early {
            return Err(format!(
                "the numeric variable `{name}` is defined in the same directive"
            ));
        }
    }
    if let Some(name) = &number.define {
        if known.strings.contains(name) || here.strings.contains(name) {
            return Err(format!("`{name}` is a string variable already"));
        }
        here.numbers.insert(name.clone(), number.format);
    }
    Ok(Piece::Number(number))
}

fn parse_variable(
    inner: &str,
    line: usize,
    pieces: &[Piece],
    translate: &mut dyn FnMut(&str) -> Result<String, String>,
    known: &Known,
    here: &mut Known,
) -> Result<Piece, String> {
    if inner.starts_with('@') {
        let expr = numeric::parse_line_reference(inner, line)?;
        return Ok(Piece::Number(Numeric {
            define: None,
            format: Format::UNSIGNED,
            expr: Some(expr),
        }));
    }
    let (name, ere) = match inner.split_once(':') {
        Some((name, ere)) => (name, Some(ere)),
        None => (inner, None),
    };
    if !numeric::is_name(name) {
        return Err(format!(
            "`{name}` is not the name of a variable; a literal `[[` is written `{{{{\\[\\[}}}}`"
        ));
    }
    let Some(ere) = ere else {
        let earlier = pieces
            .iter()
            .rposition(|piece| matches!(piece, Piece::Define(defined, _) if defined == name));
        return Ok(match earlier {
            Some(at) => Piece::Again(at),
            None => Piece::Use(name.to_owned()),
        });
    };
    if known.numbers.contains_key(name) || here.numbers.contains_key(name) {
        return Err(format!("`{name}` is a numeric variable already"));
    }
    here.strings.push(name.to_owned());
    Ok(Piece::Define(name.to_owned(), translate(ere)?))
}

impl Template {
    fn needs_values(&self) -> bool {
        self.pieces.iter().any(|piece| match piece {
            Piece::Use(_) => true,
            Piece::Number(number) => number.expr.is_some(),
            Piece::Regex(_) | Piece::Define(..) | Piece::Again(_) => false,
        })
    }

    fn compile(&self, variables: &Variables) -> Result<Compiled, PatternError> {
        let mut body = String::new();
        for (at, piece) in self.pieces.iter().enumerate() {
            match piece {
                Piece::Regex(text) => body.push_str(text),
                Piece::Define(_, ere) => body.push_str(&format!("(?P<v{at}>{ere})")),
                Piece::Again(definition) => body.push_str(&format!("(?-i:(?P=v{definition}))")),
                Piece::Use(name) => match variables.string(name) {
                    Some(value) => ere::quote(value, &mut body),
                    None if variables.is_number(name) => {
                        return Err(PatternError(format!(
                            "the variable `{name}` is numeric: `[[#{name}]]` uses it"
                        )));
                    }
                    None => return Err(PatternError(format!("the variable `{name}` is not defined"))),
                },
                Piece::Number(number) => {
                    let mut text = Cow::Owned(number.format.any());
                    if let Some(expr) = &number.expr {
                        let written = expr
                            .value(variables)
                            .and_then(|value| number.format.write(value))
                            .map_err(PatternError)?;
                        text = Cow::Owned(written);
                    }
                    if number.define.is_some() {
                        body.push_str(&format!("(?P<v{at}>{text})"));
                    } else {
                        body.push_str(&text);
                    }
                }
            }
        }
        let body = match (self.full_lines, self.strict) {
            (false, _) => body,
            (true, true) => format!("^{body}$"),
            (true, false) => format!("^ *{body} *$"),
        };
        let flags = if self.ignore_case { "(?mi)" } else { "(?m)" };
        let regex = |text: &str| {
            Regex::new(text).map_err(|error| PatternError(format!("the regular expression cannot be used: {error}")))
        };
        Ok(Compiled {
            search: regex(&format!("{flags}{body}"))?,
            exact: match self.alternatives {
                true => Some(regex(&format!("{flags}\\A(?:{body})\\z"))?),
                false => None,
            },
        })
    }

    fn find(&self, text: &str, variables: &mut Variables) -> Result<Option<Range<usize>>, PatternError> {
        let fresh;
        let compiled = match &self.compiled {
            Some(compiled) => compiled,
            None => {
                fresh = self.compile(variables)?;
                &fresh
            }
        };
        let failed = |error: fancy_regex::Error| PatternError(format!("the search was given up: {error}"));
        let Some(first) = compiled.search.captures(text).map_err(failed)? else {
            return Ok(None);
        };
        let Some(found) = first.get(0).map(|whole| whole.range()) else {
            return Ok(None);
        };
        let (captures, range) = match &compiled.exact {
            Some(exact) => match longest(exact, text, found.clone()).map_err(failed)? {
                Some((captures, end)) => (captures, found.start..end),
                None => (first, found),
            },
            None => (first, found),
        };
        for (at, piece) in self.pieces.iter().enumerate() {
            let (Piece::Define(name, _) | Piece::Number(Numeric { define: Some(name), .. })) = piece else {
                continue;
            };
            let value = captures.name(&format!("v{at}")).map_or("", |value| value.as_str());
            match piece {
                Piece::Number(number) => {
                    let read = number.format.read(value).map_err(PatternError)?;
                    variables.set_number(name, read, number.format);
                }
                _ => variables.set_string(name, value),
            }
        }
        Ok(Some(range))
    }
}

/// The longest match that begins where `found` does, when it is longer. POSIX takes the longest, fancy-regex the one
/// whose alternatives come first.
fn longest<'t>(
    exact: &Regex,
    text: &'t str,
    found: Range<usize>,
) -> Result<Option<(fancy_regex::Captures<'t, str>, usize)>, fancy_regex::Error> {
    // The end of a line is the farthest: classes and the dot stop there.
    let line_end = text[found.end..].find('\n').map_or(text.len(), |at| found.end + at);
    for end in (found.end + 1..=line_end).rev() {
        if !text.is_char_boundary(end) {
            continue;
        }
        let part = &text[found.start..end];
        // A `$` must not take the cut for the end of a line, nor a `^` for its beginning: of expressions with them only
        // matches of whole lines can be distinguished.
        if exact.as_str().contains(['$', '^']) && (end != line_end) {
            continue;
        }
        if let Some(captures) = exact.captures(part)? {
            return Ok(Some((captures, end)));
        }
    }
    Ok(None)
}
