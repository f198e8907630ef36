//! Options of the reader and the printer, and the result of reading.

use crate::diagnostics::Diagnostic;
use crate::module::Module;

/// The visibilities that may precede the name of a function.
pub(super) const VISIBILITIES: [&str; 3] = ["private", "public", "nested"];

/// The options of the parser.
#[derive(Clone, Copy, Default, Debug)]
pub struct ParseOptions {
    /// Operations that no dialect defines are accepted.
    pub allow_unregistered: bool,
}

/// The result of parsing.
#[derive(Debug)]
pub struct Parsed {
    /// The module; of no use when there are errors.
    pub module: Module,
    /// Errors and warnings, in the order of the source.
    pub diagnostics: Vec<Diagnostic>,
}

/// How a module is printed.
#[derive(Clone, Copy, Default, Debug)]
pub struct PrintOptions {
    /// The generic form, which other tools of the family read.
    pub generic: bool,
    /// MLIR's custom assembly, of operations whose text MLIR declares.
    pub mlir: bool,
    /// Lists and texts with more elements than this are elided; the output cannot be parsed.
    pub elide_large: Option<usize>,
}
