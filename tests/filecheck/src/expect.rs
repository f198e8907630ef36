//! `expected-error` comments against the diagnostics of a tool.
//!
//! ```text
//! %y = pd.tahn (%x)        // expected-error {{is not an operation}}
//! // expected-warning@+1 {{never used}}
//! // expected-note@below {{defined here}}
//! // expected-error-re@above {{takes {{[0-9]+}} operands}}
//! // expected-error@unknown {{of the file as a whole}}
//! ```
//!
//! Every error, warning and note must be expected, and every expectation met; help may be expected.

use regex_lite::Regex;

use crate::CheckError;
use crate::ere;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Severity {
    Error,
    Warning,
    Note,
    Help,
}

const SEVERITIES: &[(Severity, &str)] = &[
    (Severity::Error, "error"),
    (Severity::Warning, "warning"),
    (Severity::Note, "note"),
    (Severity::Help, "help"),
];

/// Other words for the same in expectations.
const SYNONYMS: &[(Severity, &str)] = &[(Severity::Note, "remark")];

impl Severity {
    fn word(self) -> &'static str {
        SEVERITIES
            .iter()
            .find(|(other, _)| *other == self)
            .map_or("", |(_, word)| word)
    }
}

struct Diagnostic<'a> {
    /// The whole line.
    shown: &'a str,
    /// Where it is in the file; nowhere when it has no place, and the outer option is empty for another file.
    line: Option<usize>,
    foreign: bool,
    severity: Severity,
    message: &'a str,
}

struct Expectation<'a> {
    /// The line of the comment.
    written: usize,
    line: Option<usize>,
    severity: Severity,
    text: &'a str,
    pattern: Option<Regex>,
}

/// Compares the comments in a file with lines of the form `file:line:column: error: message`; others are skipped.
/// `names` are what the file may be called in them.
///
/// # Errors
/// If a comment cannot be read, or a diagnostic is missing or not expected.
pub fn check_expected(names: &[&str], file_text: &str, diagnostics: &str) -> Result<(), CheckError> {
    let name = names.first().copied().unwrap_or_default();
    let mut expectations = parse_expectations(file_text)
        .map_err(|(line, error)| CheckError::Invalid(format!("{name}:{line}: {error}")))?;
    let mut wrong = Vec::new();
    for diagnostic in diagnostics.lines().filter_map(|line| parse_diagnostic(names, line)) {
        let met = expectations
            .iter()
            .position(|expectation| expectation.is_met_by(&diagnostic));
        match met {
            Some(at) => drop(expectations.remove(at)),
            None if diagnostic.severity == Severity::Help => {}
            None => wrong.push(format!("unexpected: {}", diagnostic.shown)),
        }
    }
    for missing in &expectations {
        let place = match missing.line {
            Some(line) => format!("line {line}"),
            None => "an unknown place".to_owned(),
        };
        wrong.push(format!(
            "{name}:{}: expected {} not found at {place}: `{}`",
            missing.written,
            missing.severity.word(),
            missing.text
        ));
    }
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(CheckError::Mismatch(wrong.join("\n"))),
    }
}

impl Expectation<'_> {
    fn is_met_by(&self, diagnostic: &Diagnostic<'_>) -> bool {
        !diagnostic.foreign
            && self.line == diagnostic.line
            && self.severity == diagnostic.severity
            && match &self.pattern {
                // An expression that is given up on does not match.
                Some(pattern) => pattern.is_match(diagnostic.message),
                None => diagnostic.message.contains(self.text),
            }
    }
}

fn parse_diagnostic<'a>(names: &[&str], shown: &'a str) -> Option<Diagnostic<'a>> {
    let (severity, head, message) = SEVERITIES
        .iter()
        .filter_map(|(severity, word)| {
            let (at, _) = shown
                .match_indices(&format!("{word}: "))
                .find(|(at, _)| *at == 0 || shown[..*at].ends_with(": "))?;
            Some((*severity, &shown[..at], &shown[at + word.len() + 2..]))
        })
        .min_by_key(|(_, head, _)| head.len())?;
    let place = head.strip_suffix(": ").unwrap_or(head);
    let mut parts = place.rsplitn(3, ':');
    let column = parts.next().and_then(|part| part.parse::<usize>().ok());
    let line = parts.next().and_then(|part| part.parse::<usize>().ok());
    let (file, line) = match (column, line, parts.next()) {
        (Some(_), Some(line), Some(file)) => (file, Some(line)),
        _ => (place, None),
    };
    // Without a place it may be about a file as a whole, or about nothing in particular; but `x: error: y` with some
    // other text in front is not of this form.
    if line.is_none() && !file.is_empty() && !names.contains(&file) {
        return None;
    }
    Some(Diagnostic {
        shown,
        line,
        foreign: line.is_some() && !names.contains(&file),
        severity,
        message,
    })
}

type Parsed<T> = Result<T, (usize, String)>;

fn parse_expectations(text: &str) -> Parsed<Vec<Expectation<'_>>> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let mut rest = *line;
        while let Some((_, after)) = rest.split_once("expected-") {
            rest = after;
            let named = SEVERITIES
                .iter()
                .chain(SYNONYMS)
                .find_map(|(severity, word)| Some((*severity, after.strip_prefix(word)?)));
            let Some((severity, after)) = named else { continue };
            let (expectation, after) = parse_one(&lines, at, severity, after).map_err(|error| (at + 1, error))?;
            rest = after;
            // `expected-errors` in a RUN line is the name of a command.
            found.extend(expectation);
        }
    }
    Ok(found)
}

fn parse_one<'a>(
    lines: &[&str],
    at: usize,
    severity: Severity,
    text: &'a str,
) -> Result<(Option<Expectation<'a>>, &'a str), String> {
    let (is_pattern, rest) = match text.strip_prefix("-re") {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let Some(end) = rest.find("{{") else {
        // Not a comment of ours unless it looks like one.
        return match rest.starts_with('@') {
            true => Err("the text in `{{` and `}}` is missing".to_owned()),
            false => Ok((None, rest)),
        };
    };
    let place = rest[..end].trim();
    if !place.is_empty() && !place.starts_with('@') {
        return Ok((None, rest));
    }
    let line = resolve(lines, at, place)?;
    let (text, after) = braced(&rest[end + 2..], is_pattern)?;
    let pattern = if is_pattern { Some(pattern(text)?) } else { None };
    let expectation = Expectation {
        written: at + 1,
        line,
        severity,
        text,
        pattern,
    };
    Ok((Some(expectation), after))
}

/// The number of the line that `@…` means.
fn resolve(lines: &[&str], at: usize, place: &str) -> Result<Option<usize>, String> {
    let plain = |line: &str| !line.contains("expected-");
    let line = match place {
        "" => Some(at),
        "@unknown" => return Ok(None),
        "@below" => (at + 1..lines.len()).find(|&other| plain(lines[other])),
        "@above" => (0..at).rev().find(|&other| plain(lines[other])),
        _ => {
            let offset = place.strip_prefix('@').and_then(|offset| offset.parse::<isize>().ok());
            let offset = offset.ok_or_else(|| {
                format!("`{place}` is not a place: `@+1`, `@-1`, `@above`, `@below` and `@unknown` are")
            })?;
            at.checked_add_signed(offset)
        }
    };
    let line = line.ok_or_else(|| format!("`{place}` is outside of the file"))?;
    Ok(Some(line + 1))
}

/// The text up to the matching `}}`; in a pattern, pairs may be nested.
fn braced(text: &str, nested: bool) -> Result<(&str, &str), String> {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(here) = text.get(at..) {
        if here.is_empty() {
            break;
        }
        if nested && here.starts_with("{{") {
            depth += 1;
            at += 2;
        } else if let Some(after) = here.strip_prefix("}}") {
            if depth == 0 {
                return Ok((&text[..at], after));
            }
            depth -= 1;
            at += 2;
        } else {
            at += here.chars().next().map_or(1, char::len_utf8);
        }
    }
    Err("a `{{` has no `}}`".to_owned())
}

fn pattern(text: &str) -> Result<Regex, String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        ere::quote(before, &mut out);
        let (inner, after) = after.split_once("}}").ok_or("a `{{` has no `}}`")?;
        out.push_str(&format!("(?:{})", ere::translate(inner)?.text));
        rest = after;
    }
    ere::quote(rest, &mut out);
    Regex::new(&out).map_err(|error| format!("the regular expression cannot be used: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(file: &str, diagnostics: &str) -> Result<(), CheckError> {
        check_expected(&["f.pir", "<stdin>"], file, diagnostics)
    }

    #[track_caller]
    fn fails(file: &str, diagnostics: &str, said: &str) {
        match checked(file, diagnostics) {
            Err(CheckError::Mismatch(message)) if message.contains(said) => {}
            other => panic!("not a mismatch with `{said}`: {other:#?}"),
        }
    }

    #[test]
    fn places() {
        let file = "a // expected-error {{one}}\n// expected-warning@+1 {{two}}\nb\n// expected-note@-1 {{three}}\n\
                    // expected-error@below {{four}}\n// expected-error@below {{five}}\nc\n\
                    // expected-error@above {{six}}\n// expected-error@unknown {{seven}}\n";
        let said = "f.pir:1:1: error: one two [code]\nf.pir:3:4: warning: two\n<stdin>:3:5: note: three\n\
                    f.pir:7:1: error: five\nf.pir:7:2: error: four\nf.pir:7:1: error: six\nerror: seven\n\
                    f.pir:7:1: help: try\nother text: error: no\n";
        checked(file, said).unwrap();
        for missing in 0..7 {
            let fewer: Vec<&str> = said
                .lines()
                .enumerate()
                .filter(|(at, _)| *at != missing)
                .map(|(_, l)| l)
                .collect();
            fails(file, &fewer.join("\n"), "f.pir:");
        }
    }

    #[test]
    fn everything_must_agree() {
        let file = "// expected-error@+1 {{one}}\na\n";
        checked(file, "f.pir:2:1: error: one\n").unwrap();
        fails(file, "", "f.pir:1: expected error not found at line 2: `one`");
        fails(file, "f.pir:1:1: error: one\n", "unexpected: f.pir:1:1");
        fails(file, "f.pir:2:1: warning: one\n", "unexpected");
        fails(file, "f.pir:2:1: error: two\n", "unexpected");
        fails(file, "g.pir:2:1: error: one\n", "unexpected: g.pir");
        fails(file, "f.pir:2:1: error: one\nf.pir:2:1: error: one\n", "unexpected");
        fails("a\n", "f.pir:1:1: note: x\n", "unexpected");
        fails("a\n", "error: x\n", "unexpected");
        checked("// RUN: x | expected-errors %s\n", "").unwrap();
    }

    #[test]
    fn several_on_a_line_and_help() {
        let file = "a // expected-error {{x}} expected-error{{y}} expected-help {{z}}\n";
        checked(
            file,
            "f.pir:1:1: error: y\nf.pir:1:1: help: z: error: no\nf.pir:1:1: error: x\n",
        )
        .unwrap();
    }

    #[test]
    fn remarks_are_notes() {
        checked("a // expected-remark {{x}}\n", "f.pir:1:1: note: x\n").unwrap();
    }

    #[test]
    fn patterns() {
        let file = "a // expected-error-re {{takes {{[0-9]+|no}} (a)}} tail\n";
        checked(file, "f.pir:1:1: error: it takes 12 (a)\n").unwrap();
        fails(file, "f.pir:1:1: error: it takes x (a)\n", "unexpected");
    }

    #[test]
    fn mistakes() {
        for wrong in [
            "// expected-error@+1 none\n",
            "// expected-error {{a\n",
            "// expected-error@+9 {{a}}\n// expected-error@-1 {{a}}\n",
            "// expected-error@next {{a}}\n",
            "// expected-error@below {{a}}\n",
            "// expected-error-re {{ {{(}} }}\n",
        ] {
            assert!(
                matches!(
                    checked(wrong, ""),
                    Err(CheckError::Invalid(_) | CheckError::Mismatch(_))
                ),
                "{wrong}"
            );
        }
    }
}
