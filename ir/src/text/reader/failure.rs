//! Errors of the reader.

use crate::assembly::Unreadable;
use crate::diagnostics::{Diagnostic, Span};

/// An error on its way to the list.
#[derive(Debug)]
pub(super) struct Failure(pub(super) Box<Diagnostic>);

impl Failure {
    pub(super) fn of(diagnostic: Diagnostic) -> Self {
        Failure(Box::new(diagnostic))
    }

    pub(super) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.0.help = Some(help.into());
        self
    }

    pub(super) fn with_edit(mut self, span: Span, text: impl Into<String>) -> Self {
        self.0 = Box::new(self.0.edit(span, text));
        self
    }

    /// Suggests the word that was probably meant, which begins with `prefix`.
    pub(super) fn suggesting(mut self, prefix: &str, near: &str) -> Self {
        self.0 = Box::new(self.0.suggest(prefix, near));
        self
    }

    pub(super) fn with_label(mut self, span: Span, text: impl Into<String>) -> Self {
        self.0 = Box::new(self.0.label(span, text));
        self
    }

    pub(super) fn code(&self) -> &'static str {
        self.0.code
    }
}

impl From<Failure> for Unreadable {
    fn from(failure: Failure) -> Self {
        Unreadable(failure.0)
    }
}

impl From<Unreadable> for Failure {
    fn from(unreadable: Unreadable) -> Self {
        Failure(unreadable.0)
    }
}
