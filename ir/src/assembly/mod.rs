//! Assembly formats: how an operation is written in MLIR's custom assembly, as data.
//!
//! A format is a string like those of MLIR's `assemblyFormat`; `docs/dialects.md` describes it. It is read here into a list of
//! elements, which the reader goes through with a place in it: regions in between need no recursion.

mod compile;
mod cursor;
mod format;
mod hook;

use std::sync::OnceLock;

use crate::declare::Text;

pub(crate) use cursor::Cursor;
pub(crate) use format::{Element, Format, TypeOf};
pub(crate) use hook::array_text;
pub use hook::{AssemblyHook, AssemblyReader, TextReader, Unreadable};

/// How an operation is written in MLIR's custom assembly.
#[derive(Clone, Debug)]
pub struct Assembly {
    format: Text,
    hooks: &'static [(&'static str, AssemblyHook)],
    compiled: OnceLock<Result<Format, String>>,
}

impl Assembly {
    /// A format, and what its `custom<NAME>` are read by.
    pub fn new(format: impl Into<Text>, hooks: &'static [(&'static str, AssemblyHook)]) -> Self {
        Assembly {
            format: format.into(),
            hooks,
            compiled: OnceLock::new(),
        }
    }

    /// The format.
    pub fn format(&self) -> &str {
        &self.format
    }
}
