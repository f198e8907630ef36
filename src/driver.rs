//! What all tools do with a program: read it, verify it, run passes on it.

use std::io::Write;
use std::sync::Arc;

use pir_ir::text::{self, ParseOptions, PrintOptions};
use pir_ir::verify::{VerifyOptions, verify_with};
use pir_ir::{Context, Diagnostic, Module, Severity};
use pir_passes::{Invocation, Observer, PassManager, Pipeline, Ran, VerifyEach};

use crate::evaluate::KernelEvaluator;
use crate::source::Source;

/// What is accepted in a program.
#[derive(Clone, Copy, Default, Debug)]
pub struct LoadOptions {
    /// Operations that no dialect defines.
    pub allow_unregistered: bool,
}

impl LoadOptions {
    /// The same for the verifier.
    pub fn verify(self) -> VerifyOptions {
        VerifyOptions {
            allow_unregistered: self.allow_unregistered,
        }
    }
}

/// Reads a program in any format that is known by its content, and verifies it. The second part are warnings.
///
/// # Errors
/// What is wrong with the program; may contain warnings too.
pub fn load(
    ctx: &Arc<Context>,
    source: &Source,
    options: LoadOptions,
) -> Result<(Module, Vec<Diagnostic>), Vec<Diagnostic>> {
    load_as(ctx, source, pir_translate::detect(source.bytes()), options)
}

/// Reads a program in the given format, the text format for `None`, and verifies it. The second part are warnings.
///
/// # Errors
/// What is wrong with the program; may contain warnings too.
pub fn load_as(
    ctx: &Arc<Context>,
    source: &Source,
    format: Option<pir_translate::Format>,
    options: LoadOptions,
) -> Result<(Module, Vec<Diagnostic>), Vec<Diagnostic>> {
    let allow_unregistered = options.allow_unregistered;
    let (module, mut diagnostics) = match format {
        None => {
            let parsed = text::parse(ctx, source.bytes(), &ParseOptions { allow_unregistered });
            (parsed.module, parsed.diagnostics)
        }
        Some(format) => {
            let options = pir_translate::paddle::Options { allow_unregistered };
            (format.read(ctx, source.bytes(), options)?, Vec::new())
        }
    };
    if !has_errors(&diagnostics) {
        diagnostics.extend(verify_with(&module, options.verify()));
    }
    if has_errors(&diagnostics) {
        Err(diagnostics)
    } else {
        Ok((module, diagnostics))
    }
}

fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(|d| d.severity == Severity::Error)
}

/// How passes are run.
#[derive(Clone, Copy, Debug)]
pub struct RunOptions {
    /// Verify after each pass that changed something, with these options.
    pub verify: Option<VerifyOptions>,
    /// Print the program to standard error after each pass.
    pub print_after: Option<PrintOptions>,
}

/// Runs passes. The result are warnings and notes.
///
/// # Errors
/// What the pass said that failed, with warnings of the passes before it. The module must not be used then.
pub fn run_passes(
    module: &mut Module,
    pipeline: &Pipeline,
    options: RunOptions,
) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
    let mut printer = options.print_after.map(PrintAfter);
    let evaluator = KernelEvaluator::default();
    let mut manager = PassManager::new();
    manager.set_evaluator(&evaluator);
    if let Some(printer) = &mut printer {
        manager.observe(printer);
    }
    manager.verify_each(match options.verify {
        Some(verify) => VerifyEach::Changed(verify),
        None => VerifyEach::Never,
    });
    let result = manager.run(module, pipeline);
    let mut reports = manager.take_reports();
    match result {
        Ok(_) => Ok(reports),
        Err(errors) => {
            reports.extend(errors);
            Err(reports)
        }
    }
}

struct PrintAfter(PrintOptions);

impl Observer for PrintAfter {
    fn after(&mut self, invocation: &Invocation, module: &Module, _: &Ran) {
        let mut err = std::io::stderr().lock();
        // Nothing can be done when standard error is closed.
        let _ = writeln!(err, "// -----// IR after {invocation} //----- //")
            .and_then(|()| text::print_to(module, &self.0, &mut err))
            .and_then(|()| writeln!(err));
    }
}
