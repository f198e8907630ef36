//! The directives of a check file.

use super::numeric::Format;
use super::options::Options;
use super::pattern::{Known, Pattern, Style};
use super::variables::Variables;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Plain,
    Next,
    Same,
    Not,
    Dag,
    Label,
    Empty,
    /// Is after the last directive when that does not match a place itself.
    EndOfInput,
}

#[derive(Clone, Debug)]
pub(crate) struct Directive {
    pub(crate) kind: Kind,
    /// How often it must match.
    pub(crate) count: usize,
    /// How it is written, without the colon.
    pub(crate) name: String,
    /// The number of its line, zero for an option.
    pub(crate) line: usize,
    pub(crate) pattern: Pattern,
}

/// A directive that matches a place, and the DAG and NOT directives since the last such one.
#[derive(Clone, Debug)]
pub(crate) struct Check {
    pub(crate) before: Vec<Directive>,
    pub(crate) directive: Directive,
}

/// A mistake in a check file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ParseError {
    pub(crate) line: usize,
    pub(crate) message: String,
}

/// The part of a directive before its colon.
struct Head {
    kind: Kind,
    count: usize,
    literal: bool,
    /// Where its pattern begins.
    end: usize,
}

pub(crate) fn parse(options: &Options, text: &str) -> Result<(Vec<Check>, Variables), ParseError> {
    let mut known = Known::default();
    let variables = defines(options, &mut known).map_err(|message| ParseError { line: 0, message })?;
    let implicit = implicit_nots(options, &mut known).map_err(|message| ParseError { line: 0, message })?;
    let mut checks: Vec<Check> = Vec::new();
    let mut before = implicit.clone();
    let mut used = vec![false; options.prefixes.len()];
    for (at, line) in text.lines().enumerate() {
        let number = at + 1;
        let error = |message: String| ParseError { line: number, message };
        let Some((prefix, start, head)) = find_directive(line, options).map_err(error)? else {
            continue;
        };
        used[prefix] = true;
        let prefix = options.prefixes[prefix].as_str();
        let name = line[start..head.end - 1].to_owned();
        let keep_blanks = options.strict_whitespace && options.match_full_lines;
        let body = match keep_blanks {
            true => &line[head.end..],
            false => line[head.end..].trim_matches([' ', '\t']),
        };
        let pattern = match (head.kind, body.is_empty()) {
            (Kind::Empty, true) => Pattern::EmptyLine,
            (Kind::Empty, false) => return Err(error(format!("`{name}:` takes no pattern"))),
            (_, true) => return Err(error(format!("`{name}:` has no pattern"))),
            _ => {
                let style = Style {
                    literal: head.literal,
                    full_lines: options.match_full_lines && head.kind != Kind::Not,
                    line: number,
                };
                Pattern::parse(body, style, options, &mut known).map_err(error)?
            }
        };
        if head.kind == Kind::Label && pattern.has_variables() {
            return Err(error(format!("`{name}:` cannot define or use variables")));
        }
        if matches!(head.kind, Kind::Next | Kind::Same | Kind::Empty) && checks.is_empty() {
            return Err(error(format!("`{name}:` needs a `{prefix}:` line before it")));
        }
        let directive = Directive {
            kind: head.kind,
            count: head.count,
            name,
            line: number,
            pattern,
        };
        if matches!(head.kind, Kind::Dag | Kind::Not) {
            before.push(directive);
        } else {
            let before = std::mem::replace(&mut before, implicit.clone());
            checks.push(Check { before, directive });
        }
    }
    let explicit = checks.len() + before.len() - implicit.len();
    let unused = options.prefixes.iter().zip(&used).find(|(_, used)| !**used);
    if let Some((prefix, _)) = unused
        && (explicit == 0 && implicit.is_empty() || options.prefixes_given && !options.allow_unused_prefixes)
    {
        return Err(ParseError {
            line: 1,
            message: format!("no directive begins with `{prefix}`"),
        });
    }
    if !before.is_empty() {
        checks.push(Check {
            before,
            directive: Directive {
                kind: Kind::EndOfInput,
                count: 1,
                name: "end of input".to_owned(),
                line: 0,
                pattern: Pattern::EndOfInput,
            },
        });
    }
    Ok((checks, variables))
}

fn defines(options: &Options, known: &mut Known) -> Result<Variables, String> {
    let mut variables = Variables::default();
    for (name, value) in &options.defines {
        if let Some(name) = name.strip_prefix('#') {
            let number = value.parse().map_err(|_| format!("`{value}` is not a number"))?;
            known.numbers.insert(name.to_owned(), Format::UNSIGNED);
            variables.set_number(name, number, Format::UNSIGNED);
        } else {
            known.strings.push(name.clone());
            variables.set_string(name, value);
        }
    }
    Ok(variables)
}

fn implicit_nots(options: &Options, known: &mut Known) -> Result<Vec<Directive>, String> {
    let style = Style {
        literal: false,
        full_lines: false,
        line: 0,
    };
    let directive = |text: &String| {
        Ok(Directive {
            kind: Kind::Not,
            count: 1,
            name: format!("--implicit-check-not={text}"),
            line: 0,
            pattern: Pattern::parse(text.trim(), style, options, known)?,
        })
    };
    options.implicit_check_not.iter().map(directive).collect()
}

/// The first directive in a line: the number of its prefix, where it begins, and its head.
fn find_directive(line: &str, options: &Options) -> Result<Option<(usize, usize, Head)>, String> {
    let mut from = 0;
    loop {
        let comments = options.comment_prefixes.iter();
        // If several prefixes match at one position, the longest one counts.
        let next = (options.prefixes.iter().chain(comments).enumerate())
            .filter_map(|(at, prefix)| {
                let start = word_start(line, prefix, from)?;
                Some((start, usize::MAX - prefix.len(), at, prefix))
            })
            .min();
        let Some((start, _, prefix, text)) = next else {
            return Ok(None);
        };
        let end = start + text.len();
        if prefix >= options.prefixes.len() {
            if line[end..].starts_with(':') {
                return Ok(None);
            }
        } else if let Some(head) = parse_head(line, end, text)? {
            return Ok(Some((prefix, start, head)));
        }
        from = end;
    }
}

/// The next place where a prefix is that is not the end of a longer word.
fn word_start(line: &str, prefix: &str, from: usize) -> Option<usize> {
    let in_word = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
    line[from..]
        .match_indices(prefix)
        .map(|(at, _)| from + at)
        .find(|&at| at == 0 || !in_word(line.as_bytes()[at - 1]))
}

fn parse_head(line: &str, prefix_end: usize, prefix: &str) -> Result<Option<Head>, String> {
    let rest = &line[prefix_end..];
    let head = |kind, count, literal, rest: &str| {
        let end = line.len() - rest.len();
        Some(Head {
            kind,
            count,
            literal,
            end,
        })
    };
    if let Some((literal, rest)) = colon(rest) {
        return Ok(head(Kind::Plain, 1, literal, rest));
    }
    let misspelled = rest.starts_with('_');
    let Some(rest) = rest.strip_prefix(['-', '_']) else {
        return Ok(None);
    };
    if let Some(rest) = rest.strip_prefix("COUNT-") {
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (digits, rest) = rest.split_at(end);
        let count = digits.parse().ok().filter(|&n: &usize| n > 0);
        return match (count, colon(rest)) {
            (Some(_), Some(_)) if misspelled => Err(misspelling(line, prefix_end - prefix.len())),
            (Some(count), Some((literal, rest))) => Ok(head(Kind::Plain, count, literal, rest)),
            _ => Err(format!("`{prefix}-COUNT-` needs a number above zero and a colon")),
        };
    }
    const KINDS: &[(&str, Kind)] = &[
        ("NEXT", Kind::Next),
        ("SAME", Kind::Same),
        ("NOT", Kind::Not),
        ("DAG", Kind::Dag),
        ("LABEL", Kind::Label),
        ("EMPTY", Kind::Empty),
    ];
    for (name, kind) in KINDS {
        let Some(rest) = rest.strip_prefix(name) else { continue };
        if let Some((literal, rest)) = colon(rest) {
            if misspelled {
                return Err(misspelling(line, prefix_end - prefix.len()));
            }
            return Ok(head(*kind, 1, literal, rest));
        }
        let second = rest.strip_prefix('-').and_then(|rest| rest.split_once(':'));
        if let Some((second, _)) = second
            && (second == "NOT" && !matches!(kind, Kind::Label | Kind::Not)
                || *kind == Kind::Not && ["DAG", "NEXT", "SAME", "EMPTY"].contains(&second))
        {
            return Err(format!("`{name}` and `{second}` cannot be combined"));
        }
    }
    Ok(None)
}

fn misspelling(line: &str, start: usize) -> String {
    let word = line[start..].split(':').next().unwrap_or_default();
    format!("`{word}` is misspelled: `{}`", word.replace('_', "-"))
}

/// What follows a colon, and whether `{LITERAL}` is before it.
fn colon(rest: &str) -> Option<(bool, &str)> {
    if let Some(rest) = rest.strip_prefix(':') {
        return Some((false, rest));
    }
    let (modifiers, rest) = rest.strip_prefix('{')?.split_once('}')?;
    let rest = rest.strip_prefix(':')?;
    let literal = modifiers.split(',').all(|modifier| modifier.trim() == "LITERAL");
    literal.then_some((true, rest))
}
