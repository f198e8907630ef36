//! Diagnostics drawn inside the source, by miette.

use std::fmt;
use std::io::{self, Write};

use miette::{
    GraphicalReportHandler, GraphicalTheme, LabeledSpan, Severity as Level, SourceCode, ThemeCharacters, ThemeStyles,
};
use pir_ir::{Diagnostic, Severity};

use super::excerpt::{CONTEXT, Excerpt};
use super::{Look, clean};
use crate::source::Source;

pub(super) fn render(
    source: Option<&Source>,
    diagnostic: &Diagnostic,
    look: Look,
    out: &mut dyn Write,
) -> io::Result<()> {
    let view = View {
        message: clean(&diagnostic.message),
        excerpt: source
            .filter(|_| !diagnostic.labels.is_empty())
            .map(|source| Excerpt::new(source, &diagnostic.labels)),
        diagnostic,
    };
    let mut text = String::new();
    handler(look)
        .render_report(&mut text, &view)
        .map_err(|_| io::Error::other("a diagnostic cannot be drawn"))?;
    if let (None, Some(source)) = (&view.excerpt, source) {
        text.push_str(&format!("  in {}\n", source.name()));
    }
    for note in &diagnostic.notes {
        text.push_str(&format!("  note: {}\n", clean(note).replace('\n', "\n        ")));
    }
    if let Some(help) = &diagnostic.help {
        text.push_str(&format!("  help: {}\n", clean(help).replace('\n', "\n        ")));
    }
    writeln!(out, "{text}")
}

fn handler(look: Look) -> GraphicalReportHandler {
    let theme = GraphicalTheme {
        characters: if look.unicode {
            ThemeCharacters::unicode()
        } else {
            ThemeCharacters::ascii()
        },
        styles: if look.color {
            ThemeStyles::ansi()
        } else {
            ThemeStyles::none()
        },
    };
    GraphicalReportHandler::new_themed(theme)
        .with_width(look.width)
        .with_context_lines(CONTEXT)
        .with_links(false)
        .without_syntax_highlighting()
}

/// A diagnostic as miette expects it. Help and notes are written after it, since miette has no notes.
#[derive(Debug)]
struct View<'a> {
    diagnostic: &'a Diagnostic,
    message: String,
    excerpt: Option<Excerpt>,
}

impl fmt::Display for View<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for View<'_> {}

impl miette::Diagnostic for View<'_> {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(self.diagnostic.code))
    }

    fn severity(&self) -> Option<Level> {
        Some(match self.diagnostic.severity {
            Severity::Error => Level::Error,
            Severity::Warning => Level::Warning,
            Severity::Note => Level::Advice,
        })
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.excerpt.as_ref().map(|e| e as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let marks = &self.excerpt.as_ref()?.marks;
        Some(Box::new(marks.iter().map(|mark| {
            let text = (!mark.text.is_empty()).then(|| mark.text.clone());
            if mark.primary {
                LabeledSpan::new_primary_with_span(text, (mark.start, mark.len))
            } else {
                LabeledSpan::new_with_span(text, (mark.start, mark.len))
            }
        })))
    }
}
