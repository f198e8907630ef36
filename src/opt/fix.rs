//! `--fix`: makes the edits that diagnostics offer.

use std::sync::Arc;

use pir_ir::{Context, Diagnostic, Edit, Severity};

use crate::cli;
use crate::driver::{self, LoadOptions};
use crate::source::Source;

/// How often a program is read again at most.
const MAX_ROUNDS: usize = 200;

/// A source with edits made, and what is still wrong with it.
pub(super) struct Fixed {
    pub(super) source: Source,
    pub(super) made: usize,
    pub(super) left: Vec<Diagnostic>,
}

/// Makes the edits that the errors of a program offer. An edit is kept only if the program is read and verified further with
/// it: the errors are fewer, or the first of them is after the place of the edit.
///
/// # Errors
/// Those of `context`.
pub(super) fn fix<E>(
    source: &Source,
    options: LoadOptions,
    mut context: impl FnMut() -> Result<Arc<Context>, E>,
) -> Result<Fixed, E> {
    let mut errors_of = |source: &Source| Ok(errors(&context()?, source, options.clone()));
    let mut fixed = Fixed {
        source: Source::new(source.name(), source.bytes()),
        made: 0,
        left: errors_of(source)?,
    };
    let mut rounds = 0;
    // All at once is tried first: usually nothing is wrong with the edits, and the program may be long.
    let all: Vec<&Diagnostic> = fixed.left.iter().filter(|error| !error.edits.is_empty()).collect();
    if all.len() > 1
        && let Some((text, made)) = apply(fixed.source.bytes(), &all)
    {
        let changed = Source::new(source.name(), text);
        let left = errors_of(&changed)?;
        if left.len() + made <= fixed.left.len() {
            fixed = Fixed {
                source: changed,
                made,
                left,
            };
        }
    }
    'again: while rounds < MAX_ROUNDS {
        for error in &fixed.left {
            let Some((text, made)) = apply(fixed.source.bytes(), &[error]) else {
                continue;
            };
            rounds += 1;
            let changed = Source::new(source.name(), text);
            let left = errors_of(&changed)?;
            if is_progress(error, &fixed.left, &left) {
                fixed = Fixed {
                    source: changed,
                    made: fixed.made + made,
                    left,
                };
                continue 'again;
            }
            if rounds >= MAX_ROUNDS {
                break;
            }
        }
        break;
    }
    Ok(fixed)
}

fn errors(ctx: &Arc<Context>, source: &Source, options: LoadOptions) -> Vec<Diagnostic> {
    let mut errors = driver::load_as(ctx, source, None, options).err().unwrap_or_default();
    errors.retain(|error| error.severity == Severity::Error);
    errors
}

fn place(error: &Diagnostic) -> Option<u32> {
    error.labels.first().map(|label| label.span.start)
}

/// Whether the errors `after` an edit for `error` are fewer than those `before`, or begin later.
fn is_progress(error: &Diagnostic, before: &[Diagnostic], after: &[Diagnostic]) -> bool {
    let Some(first) = after.iter().filter_map(place).min() else {
        return after.len() < before.len();
    };
    let last_edit = error
        .edits
        .iter()
        .map(|edit| edit.span.start + edit.text.len() as u32)
        .max();
    let is_same = |other: &&Diagnostic| other.code == error.code && other.message == error.message;
    let count = |errors: &[Diagnostic]| errors.iter().filter(is_same).count();
    count(after) < count(before) && (after.len() < before.len() || last_edit < Some(first))
}

/// The text with the edits of diagnostics, and of how many; those that overlap an earlier one are omitted.
fn apply(text: &[u8], diagnostics: &[&Diagnostic]) -> Option<(Vec<u8>, usize)> {
    let mut made = 0;
    let mut edits: Vec<&Edit> = Vec::new();
    for diagnostic in diagnostics.iter().filter(|d| !d.edits.is_empty()) {
        let inside = |edit: &Edit| edit.span.start <= edit.span.end && edit.span.end as usize <= text.len();
        // Two edits at one position might depend on their order.
        let apart = |a: &Edit, b: &Edit| a.span.end < b.span.start || b.span.end < a.span.start;
        let free = |edit: &Edit| edits.iter().all(|other| apart(other, edit));
        if diagnostic.edits.iter().all(|edit| inside(edit) && free(edit)) {
            edits.extend(&diagnostic.edits);
            made += 1;
        }
    }
    edits.sort_by_key(|edit| edit.span.start);
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    for edit in edits {
        out.extend_from_slice(text.get(at..edit.span.start as usize)?);
        out.extend_from_slice(edit.text.as_bytes());
        at = edit.span.end as usize;
    }
    out.extend_from_slice(&text[at..]);
    (made > 0).then_some((out, made))
}

/// Says what was done.
pub(super) fn report(fixed: &Fixed) {
    let what = match (fixed.made, fixed.left.len()) {
        (0, _) => return,
        (1, 0) => "1 error was fixed".to_owned(),
        (made, 0) => format!("{made} errors were fixed"),
        (made, left) => format!("{made} of {} errors fixed", made + left),
    };
    cli::say(&format!("{}: {what}\n", fixed.source.name()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use pir_ir::Span;

    #[test]
    fn edits_that_overlap_are_left_for_later() {
        let error = |start, end, text: &str| Diagnostic::error("t", "m").edit(Span::new(start, end), text);
        let (a, b, c) = (error(0, 1, "xy"), error(1, 2, "z"), error(3, 3, "!"));
        let (text, made) = apply(b"abcd", &[&a, &b, &c]).unwrap();
        assert_eq!((text.as_slice(), made), (&b"xybc!d"[..], 2));
        assert!(apply(b"abcd", &[&error(3, 9, "")]).is_none());
        assert!(apply(b"abcd", &[&Diagnostic::error("t", "m")]).is_none());
    }
}
