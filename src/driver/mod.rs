//! The steps that all tools share: read it, verify it, run passes on it.

mod diff;
pub mod dump;
pub mod emission;
pub mod locations;
pub(crate) mod print_scope;
pub mod reproducer;
pub mod roundtrip;
pub mod select;
pub mod show;
mod stablehlo;
pub mod statistics;
pub mod times;

use std::borrow::Cow;
use std::sync::Arc;

use pir_dialects::cf;
use pir_ir::text::{self, ParseOptions};
use pir_ir::verify::{VerifyOptions, verify_with};
use pir_ir::{Context, Diagnostic, Module, OpView, Severity, expand_composites, has_composites};
use pir_passes::{Invocation, Observer, PassManager, Pipeline, VerifyEach};
use pir_translate::paddle;

use crate::cli;
use crate::driver::emission::Emission;
use crate::evaluate::KernelEvaluator;
use crate::formats::To;
use crate::output::write_output;
use crate::progress;
use crate::source::Source;

/// The size from which reading and printing with several threads pays off.
pub const MANY_BYTES: usize = 1 << 15;

/// Options for reading and verifying.
#[derive(Clone, Default, Debug)]
pub struct LoadOptions {
    /// Accept operations that no dialect defines.
    pub allow_unregistered: bool,
    /// Options of reading a TensorFlow graph.
    pub graph: pir_translate::graphdef::Options,
}

impl LoadOptions {
    /// The options for a program in this format. PaddlePaddle's files may contain any of its operations: unknown ones
    /// are kept.
    #[must_use]
    pub fn of_format(self, format: Option<pir_translate::Format>) -> Self {
        let saved = format == Some(pir_translate::Format::PaddleJson);
        LoadOptions {
            allow_unregistered: self.allow_unregistered || saved,
            ..self
        }
    }

    /// The same for the verifier.
    pub fn verify(&self) -> VerifyOptions {
        VerifyOptions {
            allow_unregistered: self.allow_unregistered,
        }
    }
}

/// Reads and verifies a program, whose format is detected from its content. The second part of the result are warnings.
///
/// # Errors
/// Everything wrong with the program; may contain warnings.
pub fn load(
    ctx: &Arc<Context>,
    source: &Source,
    options: LoadOptions,
) -> Result<(Module, Vec<Diagnostic>), Vec<Diagnostic>> {
    load_as(ctx, source, pir_translate::detect(source.bytes()), options)
}

/// Reads and verifies a program in a format; `None` is the text format. The second part of the result are warnings.
///
/// # Errors
/// Everything wrong with the program; may contain warnings.
pub fn load_as(
    ctx: &Arc<Context>,
    source: &Source,
    format: Option<pir_translate::Format>,
    options: LoadOptions,
) -> Result<(Module, Vec<Diagnostic>), Vec<Diagnostic>> {
    let options = options.of_format(format);
    let (module, mut diagnostics) = read_as(ctx, source, format, &options)?;
    diagnostics.extend(verify_source(&module, source, &options));
    if has_errors(&diagnostics) {
        Err(diagnostics)
    } else {
        Ok((module, diagnostics))
    }
}

/// Reads a program in a format without verifying it; `None` is the text format. The second part of the result are
/// warnings.
///
/// # Errors
/// Everything wrong with the text; may contain warnings.
pub fn read_as(
    ctx: &Arc<Context>,
    source: &Source,
    format: Option<pir_translate::Format>,
    options: &LoadOptions,
) -> Result<(Module, Vec<Diagnostic>), Vec<Diagnostic>> {
    use pir_translate::Format::{PaddleProgramText, PaddleText};
    if let Some(why) = pir_translate::keras_archive(source.name(), source.bytes()) {
        return Err(vec![why]);
    }
    let allow_unregistered = options.allow_unregistered;
    let is_text = matches!(format, None | Some(PaddleText | PaddleProgramText));
    source.reserve_program(is_text).map_err(|e| vec![e.into()])?;
    let (module, diagnostics) = match format {
        None => {
            let mut parsed = text::parse(ctx, source.bytes(), &ParseOptions { allow_unregistered });
            text::locate(source.bytes(), &mut parsed.diagnostics);
            (parsed.module, parsed.diagnostics)
        }
        Some(format) => {
            let options = pir_translate::Options {
                paddle: paddle::Options { allow_unregistered },
                graph: options.graph.clone(),
            };
            (format.read(ctx, source.bytes(), &options)?, Vec::new())
        }
    };
    if has_errors(&diagnostics) {
        Err(diagnostics)
    } else {
        Ok((module, diagnostics))
    }
}

/// Verifies a program that was just read from a source.
pub fn verify_source(module: &Module, source: &Source, options: &LoadOptions) -> Vec<Diagnostic> {
    let mut diagnostics = verify(module, options);
    text::locate(source.bytes(), &mut diagnostics);
    diagnostics
}

/// Verifies a program.
pub fn verify(module: &Module, options: &LoadOptions) -> Vec<Diagnostic> {
    verify_with(module, options.verify())
}

/// Whether there is an error among them.
pub fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(|d| d.severity == Severity::Error)
}

/// Writes the program in the format of another system, if `to` is one.
///
/// # Errors
/// Everything that the format cannot express.
pub fn emit(module: &mut Module, to: To, emission: &Emission) -> Result<Option<Vec<u8>>, Vec<Diagnostic>> {
    if matches!(to, To::Text | To::Generic) {
        return Ok(None);
    }
    if emission.embeds() {
        emission.embed(module).map_err(|error| vec![error])?;
    }
    if to == To::Stablehlo {
        return stablehlo::write(module).map(Some);
    }
    // Other systems know few of the operations that are defined by composition; PaddlePaddle knows its own.
    let is_theirs = |op: OpView<'_>| match to {
        To::PaddleJson | To::PaddleText => paddle::knows(op),
        _ => pir_translate::graphdef::knows(op),
    };
    if has_composites(module, &is_theirs) {
        expand_composites(module, &is_theirs)?;
    }
    match to {
        To::Text | To::Generic | To::Stablehlo => Ok(None),
        To::PaddleJson => paddle::write(for_paddle(module)?.as_ref()).map(|text| Some(text.into_bytes())),
        To::PaddleText => paddle::write_printed(for_paddle(module)?.as_ref()).map(|text| Some(text.into_bytes())),
        To::Graphdef => pir_translate::graphdef::write(module, emission.cluster.as_ref()).map(Some),
        To::GraphdefText => {
            let text = pir_translate::graphdef::write_text(module, emission.cluster.as_ref())?;
            Ok(Some(text.into_bytes()))
        }
        To::SavedModel => emission.saved_model(module).map(Some),
    }
}

/// A module without calls and joined stacks, which PaddlePaddle does not have.
fn for_paddle(module: &Module) -> Result<Cow<'_, Module>, Vec<Diagnostic>> {
    let body = &module.body;
    let is_foreign = |op| matches!(module.ctx.op_str(body.op_name(op)), "func.call" | cf::JOIN_STACK);
    if !body.walk_all().any(is_foreign) {
        return Ok(Cow::Borrowed(module));
    }
    let mut module = module.clone();
    let passes = "inline{always=true, max-growth=4000000, custom-vjp=true},symbol-dce,unbatch-weight-grads";
    run_passes(&mut module, &Pipeline::parse(passes)?, RunOptions::default())?;
    Ok(Cow::Owned(module))
}

/// How passes are run, and who observes them.
#[derive(Default)]
pub struct RunOptions<'a> {
    /// Verify after each pass that changed something, with these options.
    pub verify: Option<VerifyOptions>,
    /// Observers, in the order of notification.
    pub observers: Vec<&'a mut dyn Observer>,
}

/// Runs passes. Returns warnings and notes.
///
/// # Errors
/// The errors of the pass that failed, after the warnings of the passes before it. The module must not be used then.
pub fn run_passes(
    module: &mut Module,
    pipeline: &Pipeline,
    options: RunOptions<'_>,
) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
    let evaluator = KernelEvaluator;
    let mut remember = Remember;
    let mut manager = PassManager::new();
    manager.set_evaluator(&evaluator);
    manager.set_write_file(&|path, text| write_output(Some(path), |out| out.write_all(text.as_bytes())));
    manager.observe(&mut remember);
    for observer in options.observers {
        manager.observe(observer);
    }
    manager.verify_each(match options.verify {
        Some(verify) => VerifyEach::Changed(verify),
        None => VerifyEach::Never,
    });
    let result = manager.run(module, pipeline);
    cli::forget("pass");
    let mut reports = manager.take_reports();
    match result {
        Ok(_) => Ok(reports),
        Err(errors) => {
            reports.extend(errors);
            // The edits refer to the original source, which has changed.
            reports.iter_mut().for_each(|report| report.edits.clear());
            Err(reports)
        }
    }
}

/// Records the current pass, for the report of a crash.
struct Remember;

impl Observer for Remember {
    fn before(&mut self, invocation: &Invocation, _: &Module) {
        cli::remember("pass", invocation.to_string());
        progress::doing(|| format!("running {invocation}"));
    }
}

/// Starts the threads, if the program is large enough to be read in parallel.
///
/// # Errors
/// If the system cannot create the threads.
pub fn threads_for(source: &Source) -> Result<(), Diagnostic> {
    match source.bytes().len() > MANY_BYTES {
        true => set_threads(None),
        false => Ok(()),
    }
}

/// Sets the number of worker threads; `None` is one per core. The output of the tools does not depend on it.
///
/// # Errors
/// If the system cannot create the threads.
pub fn set_threads(threads: Option<usize>) -> Result<(), Diagnostic> {
    // Types may be deeply nested, and the default stack of threads is smaller than that of the main thread.
    const STACK: usize = 16 << 20;
    // This thread is one of them, so that it computes a part instead of waiting for the others.
    let pool = rayon::ThreadPoolBuilder::new()
        .stack_size(STACK)
        .use_current_thread()
        .num_threads(threads.unwrap_or(0));
    match pool.build_global() {
        // Without a source, the error means that the threads already exist; those are used.
        Err(error) if std::error::Error::source(&error).is_some() => {
            let problem = format!("cannot start threads: {error}");
            Err(Diagnostic::error("threads", problem)
                .help("check the limits on processes and memory; `--threads=1` needs only one thread"))
        }
        _ => Ok(()),
    }
}
