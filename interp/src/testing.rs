//! What the tests of several modules need.

use pir_ir::Module;
use pir_ir::text::{ParseOptions, parse};

/// A program from text.
#[track_caller]
pub(crate) fn parsed(text: &str) -> Module {
    let parsed = parse(&pir_dialects::context(), text.as_bytes(), &ParseOptions::default());
    assert!(parsed.diagnostics.is_empty(), "{text}: {:?}", parsed.diagnostics);
    parsed.module
}
