//! The lines of a source that a diagnostic is about, as a small source.
//!
//! miette scans the whole source for every label and panics on labels beyond column 65,535. So it gets an excerpt: the
//! lines with labels and their neighbours, cropped if they are long, in *chunks* of adjacent lines. Labels are
//! adjusted. A label over several lines is truncated to the first: a whole loop is too long to print.

use std::ops::Range;

use miette::{MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents};
use pir_ir::Label;

use super::{clean_line, is_treacherous};
use crate::source::Source;

/// Lines before and after one with a label.
pub(super) const CONTEXT: usize = 1;
/// Longer lines are cropped to about this many bytes.
const MAX_LINE: usize = 160;
/// The bytes kept before a label in a long line.
const LEAD: usize = 50;
/// More labels than this are confusing.
const MAX_LABELS: usize = 8;

/// A line of the excerpt.
#[derive(Debug)]
struct Row {
    /// The index of the line in the source.
    line: usize,
    /// The part of the source that it shows.
    shown: Range<usize>,
    /// Rows of one chunk are printed together.
    chunk: usize,
    /// Its start in the text of the excerpt.
    start: usize,
    /// Maps each character of the row from its offset in the source to that in the text.
    map: Vec<(usize, usize)>,
}

/// A label of the excerpt.
#[derive(Debug)]
pub(super) struct Mark {
    pub(super) start: usize,
    pub(super) len: usize,
    pub(super) text: String,
    pub(super) primary: bool,
    /// The column in the source, from zero.
    column: usize,
}

/// See the module documentation.
#[derive(Debug)]
pub(super) struct Excerpt {
    name: String,
    text: String,
    rows: Vec<Row>,
    /// The number of the first line of the source.
    first_number: usize,
    pub(super) marks: Vec<Mark>,
}

impl Excerpt {
    pub(super) fn new(source: &Source, labels: &[Label]) -> Self {
        let mut excerpt = Excerpt {
            name: source.name().to_owned(),
            text: String::new(),
            rows: Vec::new(),
            first_number: source.line_number(0),
            marks: Vec::new(),
        };
        let mut wanted: Vec<(usize, usize, &Label)> = labels
            .iter()
            .take(MAX_LABELS)
            .enumerate()
            .map(|(at, label)| ((label.span.start as usize).min(source.bytes().len()), at, label))
            .collect();
        wanted.sort_by_key(|&(start, at, _)| (start, at));
        for (start, at, label) in wanted {
            let row = excerpt.row_for(source, start);
            let end = (label.span.end as usize).max(start);
            let mark = excerpt.mark(source, row, start..end, label, at == 0);
            excerpt.marks.push(mark);
        }
        // A chunk ends with the lines after its last label.
        if let Some(last) = excerpt.rows.last() {
            let (line, chunk) = (last.line, last.chunk);
            excerpt.context(source, line + 1..line + 1 + CONTEXT, chunk);
        }
        excerpt.put_primary_first();
        excerpt
    }

    /// Moves the chunk with the primary label to the front, so that the first position shown is that of the error.
    /// Snippets are drawn in the order of the text.
    fn put_primary_first(&mut self) {
        let primary = self.marks.iter().find(|mark| mark.primary);
        let Some(chunk) = primary
            .and_then(|mark| self.row_at(mark.start))
            .map(|row| self.rows[row].chunk)
        else {
            return;
        };
        let first = self.rows.partition_point(|row| row.chunk < chunk);
        let after = self.rows.partition_point(|row| row.chunk <= chunk);
        let start_of = |row: usize| self.rows.get(row).map_or(self.text.len(), |row| row.start);
        let moved = start_of(first)..start_of(after);
        let place = |offset: usize| match offset {
            _ if moved.contains(&offset) => offset - moved.start,
            _ if offset < moved.start => offset + moved.len(),
            _ => offset,
        };
        for row in &mut self.rows {
            row.start = place(row.start);
        }
        for mark in &mut self.marks {
            mark.start = place(mark.start);
        }
        self.rows[..after].rotate_left(first);
        let text = &self.text;
        self.text = [&text[moved.clone()], &text[..moved.start], &text[moved.end..]].concat();
    }

    /// The row that shows `offset`. Offsets are requested in ascending order.
    fn row_for(&mut self, source: &Source, offset: usize) -> usize {
        let line = source.line_index(offset);
        let chunk = match self.rows.last() {
            None => 0,
            Some(last) if last.line == line => {
                let whole = last.shown == source.line_range(line);
                if whole || (last.shown.start <= offset && offset <= last.shown.end) {
                    return self.rows.len() - 1;
                }
                // Another window of the same long line.
                last.chunk + 1
            }
            // miette joins adjacent snippets; they are in one chunk exactly if it does.
            Some(last) if line <= last.line + 2 * CONTEXT + 1 => {
                let (from, chunk) = (last.line + 1, last.chunk);
                self.context(source, from..line, chunk);
                chunk
            }
            Some(last) => {
                let (after, chunk) = (last.line + 1, last.chunk);
                self.context(source, after..after + CONTEXT, chunk);
                chunk + 1
            }
        };
        if self
            .rows
            .last()
            .is_none_or(|last| last.chunk != chunk && last.line != line)
        {
            self.context(source, line.saturating_sub(CONTEXT)..line, chunk);
        }
        let range = source.line_range(line);
        let shown = if range.len() <= MAX_LINE {
            range
        } else {
            let start = offset.saturating_sub(LEAD).max(range.start);
            start..(start + MAX_LINE).min(range.end)
        };
        self.push_row(source, line, shown, chunk);
        self.rows.len() - 1
    }

    fn context(&mut self, source: &Source, lines: Range<usize>, chunk: usize) {
        for line in lines {
            if line >= source.line_count() {
                break;
            }
            let range = source.line_range(line);
            let end = range.end.min(range.start + MAX_LINE);
            // The empty line after the final line break is not shown.
            if range.is_empty() && line + 1 == source.line_count() {
                break;
            }
            self.push_row(source, line, range.start..end, chunk);
        }
    }

    fn push_row(&mut self, source: &Source, line: usize, shown: Range<usize>, chunk: usize) {
        let whole = source.line_range(line);
        let start = self.text.len();
        let mut map = Vec::with_capacity(shown.len() + 1);
        let mut at = shown.start;
        if shown.start > whole.start {
            self.text.push('…');
        }
        // The window may cut a character in two: its bytes are replaced like any invalid UTF-8.
        for piece in source.bytes()[shown.clone()].utf8_chunks() {
            for c in piece.valid().chars() {
                map.push((at, self.text.len()));
                at += c.len_utf8();
                self.text.push(if c != '\t' && is_treacherous(c) {
                    char::REPLACEMENT_CHARACTER
                } else {
                    c
                });
            }
            if !piece.invalid().is_empty() {
                map.push((at, self.text.len()));
                at += piece.invalid().len();
                self.text.push(char::REPLACEMENT_CHARACTER);
            }
        }
        map.push((at, self.text.len()));
        if shown.end < whole.end {
            self.text.push('…');
        }
        self.text.push('\n');
        self.rows.push(Row {
            line,
            shown,
            chunk,
            start,
            map,
        });
    }

    fn mark(&self, source: &Source, row: usize, span: Range<usize>, label: &Label, primary: bool) -> Mark {
        let row = &self.rows[row];
        let place = |offset: usize| {
            let at = row.map.partition_point(|&(from, _)| from <= offset).saturating_sub(1);
            row.map.get(at).map_or(row.start, |&(_, to)| to)
        };
        let start = place(span.start);
        // The end is rounded up to a character boundary.
        let end = match row.map.iter().find(|&&(from, _)| from >= span.end) {
            Some(&(_, to)) => to,
            None => row.map.last().map_or(start, |&(_, to)| to),
        };
        Mark {
            start,
            len: end.saturating_sub(start),
            text: clean_line(&label.text),
            primary,
            column: source.position(span.start).column - 1,
        }
    }

    fn row_at(&self, offset: usize) -> Option<usize> {
        self.rows.partition_point(|row| row.start <= offset).checked_sub(1)
    }
}

impl SourceCode for Excerpt {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        context_lines_before: usize,
        context_lines_after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        // Marks end before the line break of their row, so even an empty mark's end is inside the row.
        let end = span.offset() + span.len();
        let (Some(first), Some(last)) = (self.row_at(span.offset()), self.row_at(end)) else {
            return Err(MietteError::OutOfBounds);
        };
        let chunk = self.rows[first].chunk;
        // An error makes miette draw two separate snippets.
        if self.rows[last].chunk != chunk {
            return Err(MietteError::OutOfBounds);
        }
        let same = |row: &usize| self.rows.get(*row).is_some_and(|r| r.chunk == chunk);
        let from = (first.saturating_sub(context_lines_before)..=first)
            .find(same)
            .unwrap_or(first);
        let to = (last..=last + context_lines_after).rev().find(same).unwrap_or(last);
        let start = self.rows[from].start;
        let end = self.rows.get(to + 1).map_or(self.text.len(), |row| row.start);
        // miette reads a span without context to determine the position of a label.
        let column = match self.marks.iter().find(|mark| mark.start == span.offset()) {
            Some(mark) if context_lines_before == 0 => mark.column,
            _ => 0,
        };
        Ok(Box::new(MietteSpanContents::new_named(
            self.name.clone(),
            &self.text.as_bytes()[start..end],
            (start, end - start).into(),
            self.first_number - 1 + self.rows[from].line,
            column,
            to - from + 1,
        )))
    }
}
