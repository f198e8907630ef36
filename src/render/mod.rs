//! Renders diagnostics for people and for programs.
//!
//! [`Style::Fancy`] draws them inside the source, [`Style::Short`] uses lines that editors recognize, [`Style::Json`]
//! one object per line. None of them prints overlong lines of the source in full.

mod excerpt;
mod fancy;
mod json;
mod origin;
mod short;

use std::io::{self, IsTerminal, Write};

use pir_ir::{Diagnostic, Severity};

use crate::source::Source;

/// Diagnostics beyond this number are only counted.
const LIMIT: usize = 100;

/// Messages may contain names and strings of the input, which may be arbitrarily long.
const MAX_MESSAGE: usize = 2000;

/// The style of diagnostics.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub enum Style {
    /// Drawn inside the source
    Fancy,
    /// `file:line:column: error: message [code]`
    Short,
    /// One JSON object per line
    Json,
}

/// When colours are used.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, clap::ValueEnum)]
pub enum ColorWhen {
    /// On a terminal
    #[default]
    Auto,
    /// Also in files and pipes
    Always,
    /// Never
    Never,
}

/// The capabilities of the output device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Look {
    /// Colours.
    pub color: bool,
    /// Box-drawing characters.
    pub unicode: bool,
    /// The width in columns.
    pub width: usize,
}

impl Look {
    /// No colours, 100 columns: the same everywhere.
    pub const PLAIN: Look = Look {
        color: false,
        unicode: true,
        width: 100,
    };

    /// The capabilities of standard error.
    pub fn of_stderr(color: ColorWhen) -> Self {
        let stderr = io::stderr();
        let look = match stderr.is_terminal() {
            true => Look::of_terminal(),
            false => Look::PLAIN,
        };
        Look {
            color: match color {
                ColorWhen::Auto => look.color,
                ColorWhen::Always => true,
                ColorWhen::Never => false,
            },
            ..look
        }
    }

    fn of_terminal() -> Self {
        let set = |name| std::env::var_os(name).is_some_and(|v| !v.is_empty());
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
            .iter()
            .find_map(|name| std::env::var(name).ok().filter(|v| !v.is_empty()))
            .unwrap_or_default();
        let width = terminal_size::terminal_size_of(io::stderr());
        Look {
            color: !set("NO_COLOR") && std::env::var_os("TERM").is_some_and(|t| t != "dumb"),
            unicode: cfg!(windows) || locale.to_ascii_uppercase().replace('-', "").contains("UTF8"),
            width: width.map_or(100, |(width, _)| usize::from(width.0).max(40)),
        }
    }
}

/// Renders diagnostics.
#[derive(Clone, Copy, Debug)]
pub struct Renderer {
    style: Style,
    look: Look,
}

impl Renderer {
    /// A renderer of the given style.
    pub fn new(style: Style, look: Look) -> Self {
        Renderer { style, look }
    }

    /// The requested style; by default fancy on a terminal and short otherwise.
    pub fn for_stderr(style: Option<Style>, color: ColorWhen) -> Self {
        let default = if io::stderr().is_terminal() {
            Style::Fancy
        } else {
            Style::Short
        };
        Renderer::new(style.unwrap_or(default), Look::of_stderr(color))
    }

    /// Whether it uses colours.
    pub fn color(&self) -> bool {
        self.look.color
    }

    /// Writes diagnostics whose spans are offsets into `source`.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn render(&self, source: &Source, diagnostics: &[Diagnostic], out: &mut dyn Write) -> io::Result<()> {
        let (shown, hidden) = diagnostics.split_at(diagnostics.len().min(LIMIT));
        for diagnostic in shown {
            self.render_one(Some(source), diagnostic, out)?;
        }
        if !hidden.is_empty() {
            let errors = hidden.iter().filter(|d| d.severity == Severity::Error).count();
            let what = match (errors, hidden.len() - errors) {
                (errors, 0) => format!("{errors} more errors"),
                (errors, others) => format!("{errors} more errors and {others} other diagnostics"),
            };
            let summary = Diagnostic {
                severity: Severity::Note,
                ..Diagnostic::error("too-many", format!("{what} in `{}` are not shown", source.name()))
            };
            self.render_one(None, &summary, out)?;
        }
        Ok(())
    }

    /// Writes a diagnostic without a source.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn render_plain(&self, diagnostic: &Diagnostic, out: &mut dyn Write) -> io::Result<()> {
        self.render_one(None, diagnostic, out)
    }

    fn render_one(&self, source: Option<&Source>, diagnostic: &Diagnostic, out: &mut dyn Write) -> io::Result<()> {
        let place = |source: &Source| origin::origin(source.bytes(), diagnostic.labels.first()?.span.start as usize);
        let noted = source.and_then(place).map(|place| Diagnostic {
            notes: [vec![format!("written at {place}")], diagnostic.notes.clone()].concat(),
            ..diagnostic.clone()
        });
        let diagnostic = noted.as_ref().unwrap_or(diagnostic);
        match self.style {
            Style::Fancy => fancy::render(source, diagnostic, self.look, out),
            Style::Short => short::render(source, diagnostic, out),
            Style::Json => json::render(source, diagnostic, out),
        }
    }
}

fn severity_word(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

/// Whether a character could move the cursor, change colours or reorder the line on a terminal.
fn is_treacherous(c: char) -> bool {
    c.is_control() || matches!(c, '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// Replaces characters that could affect a terminal, and truncates long text. Line breaks are kept.
fn clean(text: &str) -> String {
    let mut out: String = text
        .chars()
        .take(MAX_MESSAGE)
        .map(|c| match c {
            '\n' => c,
            '\t' => ' ',
            c if is_treacherous(c) => char::REPLACEMENT_CHARACTER,
            c => c,
        })
        .collect();
    if text.chars().nth(MAX_MESSAGE).is_some() {
        out.push('…');
    }
    out
}

/// The same as [`clean`], on one line.
fn clean_line(text: &str) -> String {
    clean(text).replace('\n', " ")
}

#[cfg(test)]
mod tests;
