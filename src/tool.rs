//! Building tools.

use std::sync::Arc;

use pir_dialects::user::{DialectFile, context_with};
use pir_interp::Lowering;
use pir_ir::{Context, ContextBuilder, Diagnostic};
use pir_passes::{Pass, PassRegistry};

use crate::run::lower_gradients;

/// A tool: its dialects, with their patterns, kernels and gradient rules, and its passes. `pir-opt` is
///
/// ```no_run
/// # use std::process::ExitCode;
/// use pir_tools::Tool;
///
/// fn main() -> ExitCode {
///     Tool::new("pir-opt").opt()
/// }
/// ```
///
/// A tool with more is built by adding it first: `Tool::new("my-opt").dialect(my::register).pass(&MyPass).opt()`.
/// `examples/standalone` is a complete one.
#[derive(Clone)]
pub struct Tool {
    name: &'static str,
    dialects: Vec<fn(&mut ContextBuilder)>,
    /// The passes.
    pub passes: PassRegistry,
}

impl Tool {
    /// A tool with the dialects and passes of these crates.
    pub fn new(name: &'static str) -> Self {
        Tool {
            name,
            dialects: vec![pir_dialects::register_all],
            passes: PassRegistry::standard(),
        }
    }

    /// The same with another dialect, or with more for operations that there are.
    #[must_use]
    pub fn dialect(mut self, register: fn(&mut ContextBuilder)) -> Self {
        self.dialects.push(register);
        self
    }

    /// The same with another pass.
    #[must_use]
    pub fn pass(mut self, pass: &'static dyn Pass) -> Self {
        self.passes.add(pass);
        self
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// A context with the dialects.
    pub fn context(&self) -> Arc<Context> {
        self.builder().build()
    }

    /// The same, with the dialects of files.
    ///
    /// # Errors
    /// The index of the first file with errors, and the errors.
    pub fn context_with(&self, files: &[DialectFile<'_>]) -> Result<Arc<Context>, (usize, Vec<Diagnostic>)> {
        context_with(self.builder(), files)
    }

    fn builder(&self) -> ContextBuilder {
        let mut builder = ContextBuilder::new();
        self.dialects.iter().for_each(|register| register(&mut builder));
        builder.extension::<Lowering>().0 = Some(lower_gradients);
        builder
    }
}
