//! Writes one JSON object per line.

use std::io::{self, Write};

use pir_ir::{Diagnostic, Edit, Label};
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
    /// Replacements in the source that implement the help when all are applied; `pir-opt --fix` makes them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    edits: Vec<Replacement<'a>>,
}

#[derive(Serialize)]
struct Replacement<'a> {
    start: Point,
    end: Point,
    text: &'a str,
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
    let edits = match source {
        Some(source) => diagnostic.edits.iter().map(|edit| replacement(source, edit)).collect(),
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
        edits,
    };
    serde_json::to_writer(&mut *out, &report)?;
    writeln!(out)
}

fn point(source: &Source, offset: u32) -> Point {
    let at = source.position(offset as usize);
    Point {
        line: at.line,
        column: at.column,
        offset,
    }
}

fn replacement<'a>(source: &Source, edit: &'a Edit) -> Replacement<'a> {
    Replacement {
        start: point(source, edit.span.start),
        end: point(source, edit.span.end),
        text: &edit.text,
    }
}

fn place<'a>(source: &Source, label: &'a Label) -> Place<'a> {
    Place {
        start: point(source, label.span.start),
        end: point(source, label.span.end),
        label: &label.text,
    }
}
