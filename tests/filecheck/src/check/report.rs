//! Failures in words.

use std::collections::BTreeSet;
use std::ops::Range;

use super::directive::Kind;
use super::engine::{Failure, Problem};

/// How many lines are compared to find the nearest one.
const CANDIDATES: usize = 2000;
/// How much of a line is shown.
const WIDTH: usize = 160;

pub(crate) fn render(failure: &Failure, check_name: &str, check_text: &str, input: &str) -> String {
    let directive = &failure.directive;
    let name = &directive.name;
    let mut out = match directive.line {
        0 => format!("{check_name}: {name}: "),
        line => format!("{check_name}:{line}: {name}: "),
    };
    match &failure.problem {
        Problem::NotFound { matched: 0 } => out.push_str("not found in the input"),
        Problem::NotFound { matched } => out.push_str(&format!("found only {matched} of {} times", directive.count)),
        Problem::WrongLine { lines_between: 0, .. } => out.push_str("is on the same line as the previous match"),
        Problem::WrongLine { lines_between, .. } if directive.kind == Kind::Same => out.push_str(&format!(
            "is not on the same line as the previous match, but {lines_between} below"
        )),
        Problem::WrongLine { lines_between, .. } => out.push_str(&format!(
            "is not on the line after the previous match, but {lines_between} below"
        )),
        Problem::Excluded { .. } => out.push_str("must not match here, and does"),
        Problem::Unusable(message) => out.push_str(message),
    }
    out.push('\n');
    if let Some(line) = directive.line.checked_sub(1).and_then(|at| check_text.lines().nth(at)) {
        out.push_str(&format!("    {}\n", crop(line.trim())));
    }
    for line in &failure.variables {
        out.push_str(&format!("  with {line}\n"));
    }
    let region = &failure.region;
    match &failure.problem {
        Problem::WrongLine { found, .. } | Problem::Excluded { found } => {
            if directive.kind != Kind::Not {
                out.push_str(&format!(
                    "  the previous match ends in {}\n",
                    place(input, region.start)
                ));
            }
            out.push_str(&format!("  it matches in {}\n", place(input, found.start)));
            out.push_str(&mark(input, found));
        }
        Problem::NotFound { .. } | Problem::Unusable(_) => {
            out.push_str(&format!("  searched from {}", place(input, region.start)));
            match region.end < input.len() {
                true => out.push_str(&format!(" to {}\n", place(input, region.end))),
                false => out.push_str(" to the end\n"),
            }
            let sample = directive.line.checked_sub(1).and_then(|at| check_text.lines().nth(at));
            let nearest = sample.and_then(|sample| nearest(sample, input, region));
            let (_, start_line, _) = locate(input, region.start);
            if let Some((number, line)) = nearest {
                if number != start_line {
                    out.push_str(&context(input, region.start));
                }
                out.push_str(&format!("  the nearest line:\n{number:>6} | {}\n", crop(line)));
            } else {
                out.push_str(&context(input, region.start));
            }
        }
    }
    out
}

/// The line that an offset is in, its number and the column, from one.
fn locate(input: &str, offset: usize) -> (&str, usize, usize) {
    let start = input[..offset].rfind('\n').map_or(0, |at| at + 1);
    let end = input[offset..].find('\n').map_or(input.len(), |at| offset + at);
    let number = input[..start].matches('\n').count() + 1;
    (&input[start..end], number, input[start..offset].chars().count() + 1)
}

fn place(input: &str, offset: usize) -> String {
    let (_, line, column) = locate(input, offset);
    format!("line {line}, column {column}")
}

/// A line with a part of it underlined.
fn mark(input: &str, range: &Range<usize>) -> String {
    let (line, number, column) = locate(input, range.start);
    if column + 10 > WIDTH {
        return format!("{number:>6} | …{}\n", crop(&input[range.start..]));
    }
    let length = input[range.clone()].lines().next().unwrap_or_default().chars().count();
    let carets = "^".repeat(length.clamp(1, WIDTH - column));
    // A blank is between the bar and the first column.
    let indent = " ".repeat(column);
    format!("{number:>6} | {}\n       |{indent}{carets}\n", crop(line))
}

/// A few lines from an offset on.
fn context(input: &str, offset: usize) -> String {
    let (line, number, _) = locate(input, offset);
    let start = input[..offset].rfind('\n').map_or(0, |at| at + 1);
    if line.is_empty() && start >= input.len() {
        return String::new();
    }
    (input[start..].lines().take(4).zip(number..))
        .map(|(line, number)| format!("{number:>6} | {}\n", crop(line)))
        .collect()
}

fn crop(line: &str) -> String {
    let line = line.lines().next().unwrap_or_default();
    match line.char_indices().nth(WIDTH) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.to_owned(),
    }
}

/// The line in the region that shares most with the text of a directive.
fn nearest<'a>(sample: &str, input: &'a str, region: &Range<usize>) -> Option<(usize, &'a str)> {
    let wanted = sample.split_once(':').map_or(sample, |(_, pattern)| pattern);
    let wanted = pairs(wanted);
    let first = locate(input, region.start).1;
    let mut best: Option<(f64, usize, &str)> = None;
    for (line, number) in input[region.clone()].lines().zip(first..).take(CANDIDATES) {
        let line = if number == first {
            locate(input, region.start).0
        } else {
            line
        };
        let have = pairs(line);
        let total = wanted.len() + have.len();
        if total == 0 {
            continue;
        }
        let common = wanted.intersection(&have).count();
        let score = 2.0 * common as f64 / total as f64;
        if score > 0.4 && best.is_none_or(|(before, ..)| score > before) {
            best = Some((score, number, line));
        }
    }
    best.map(|(_, number, line)| (number, line))
}

/// The pairs of neighbouring characters in a text.
fn pairs(text: &str) -> BTreeSet<(char, char)> {
    let text = text.trim();
    text.chars().zip(text.chars().skip(1)).take(400).collect()
}
