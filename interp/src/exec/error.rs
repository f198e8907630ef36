//! Errors at run time.

use pir_ir::{Body, Context, Diagnostic, OpId, Span};

/// A run-time error.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExecError {
    /// The message.
    pub message: String,
    /// The failing operation, if any.
    pub op: Option<String>,
    /// Its place in the source.
    pub span: Option<Span>,
    /// A suggestion for fixing it.
    pub help: Option<String>,
    /// Additional notes, one per line.
    pub notes: Vec<String>,
}

impl ExecError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        ExecError {
            message: message.into(),
            op: None,
            span: None,
            help: None,
            notes: Vec::new(),
        }
    }

    /// The error for a dataflow graph in a structured program.
    pub(crate) fn graph() -> Self {
        ExecError::new("this is a dataflow graph").help("`pir-run --dataflow` runs it")
    }

    pub(crate) fn at(mut self, ctx: &Context, body: &Body, op: OpId) -> Self {
        self.op.get_or_insert_with(|| ctx.op_str(body.op_name(op)).to_owned());
        self.span.get_or_insert(body.op_span(op));
        self
    }

    pub(crate) fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }

    /// Converts it to a diagnostic.
    pub fn into_diagnostic(self) -> Diagnostic {
        let message = match &self.op {
            Some(op) => format!("`{op}` failed: {}", self.message),
            None => self.message,
        };
        let mut diagnostic = Diagnostic::error("execution", message);
        if let Some(span) = self.span {
            diagnostic = diagnostic.label(span, "executed here");
        }
        diagnostic.help = self.help;
        diagnostic.notes = self.notes;
        diagnostic
    }
}

impl From<Diagnostic> for ExecError {
    fn from(diagnostic: Diagnostic) -> Self {
        ExecError {
            message: diagnostic.message,
            op: None,
            span: diagnostic.labels.first().map(|label| label.span),
            help: diagnostic.help,
            notes: diagnostic.notes,
        }
    }
}
