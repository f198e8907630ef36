//! `file:line:column: error: message [code]`, and lines of the same form for help and notes.

use std::io::{self, Write};

use pir_ir::Diagnostic;

use super::{clean_line, severity_word};
use crate::source::Source;

pub(super) fn render(source: Option<&Source>, diagnostic: &Diagnostic, out: &mut dyn Write) -> io::Result<()> {
    let place = |offset: usize| match source {
        Some(source) => {
            let at = source.position(offset);
            format!("{}:{}:{}: ", source.name(), at.line, at.column)
        }
        None => String::new(),
    };
    let (primary, others) = match diagnostic.labels.split_first() {
        Some((first, rest)) => (Some(first), rest),
        None => (None, &[][..]),
    };
    let here = match (primary, source) {
        (Some(label), _) => place(label.span.start as usize),
        (None, Some(source)) => format!("{}: ", source.name()),
        (None, None) => String::new(),
    };
    let detail = match primary {
        // Labels that only repeat the message are omitted.
        Some(label) if label.text != "here" && !diagnostic.message.contains(&label.text) => {
            format!(": {}", clean_line(&label.text))
        }
        _ => String::new(),
    };
    writeln!(
        out,
        "{here}{}: {}{detail} [{}]",
        severity_word(diagnostic.severity),
        clean_line(&diagnostic.message),
        diagnostic.code
    )?;
    for label in others {
        writeln!(
            out,
            "{}note: {}",
            place(label.span.start as usize),
            clean_line(&label.text)
        )?;
    }
    for note in &diagnostic.notes {
        writeln!(out, "{here}note: {}", clean_line(note))?;
    }
    if let Some(help) = &diagnostic.help {
        writeln!(out, "{here}help: {}", clean_line(help))?;
    }
    Ok(())
}
