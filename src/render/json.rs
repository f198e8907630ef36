//! Writes one JSON object per line.

use std::io::{self, Write};

use pir_ir::{Diagnostic, Label};
use serde::Serialize;

use super::severity_word;
use crate::source::Source;

#[derive(Serialize)]
struct Report<'a> {
    severity: &'static str,
    code: &'static str,
    message: &'a str,
    file: Option<&'a str>,
    /// The first is the position of the error.
    spans: Vec<Place<'a>>,
    help: Option<&'a str>,
    notes: &'a [String],
}

#[derive(Serialize)]
struct Place<'a> {
    start: Point,
    end: Point,
    label: &'a str,
}

#[derive(Serialize)]
struct Point {
    /// One-based.
    line: usize,
    /// In characters, one-based.
    column: usize,
    /// In bytes, zero-based.
    offset: u32,
}

pub(super) fn render(source: Option<&Source>, diagnostic: &Diagnostic, out: &mut dyn Write) -> io::Result<()> {
    let spans = match source {
        Some(source) => diagnostic.labels.iter().map(|label| place(source, label)).collect(),
        None => Vec::new(),
    };
    let report = Report {
        severity: severity_word(diagnostic.severity),
        code: diagnostic.code,
        message: &diagnostic.message,
        file: source.map(Source::name),
        spans,
        help: diagnostic.help.as_deref(),
        notes: &diagnostic.notes,
    };
    serde_json::to_writer(&mut *out, &report)?;
    writeln!(out)
}

fn place<'a>(source: &Source, label: &'a Label) -> Place<'a> {
    let point = |offset: u32| {
        let at = source.position(offset as usize);
        Point {
            line: at.line,
            column: at.column,
            offset,
        }
    };
    Place {
        start: point(label.span.start),
        end: point(label.span.end),
        label: &label.text,
    }
}
