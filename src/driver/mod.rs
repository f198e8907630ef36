//! What all tools do with a program: read it, verify it, run passes on it.

mod diff;
pub mod dump;
pub(crate) mod print_scope;
pub mod reproducer;
pub mod select;
pub mod show;
pub mod statistics;
pub mod times;

use std::borrow::Cow;
use std::sync::Arc;

use pir_ir::text::{self, ParseOptions};
use pir_ir::verify::{VerifyOptions, verify_with};
use pir_ir::{Context, Diagnostic, Module, Severity, expand_composites, has_composites};
use pir_passes::{Invocation, Observer, PassManager, Pipeline, VerifyEach};
use pir_translate::paddle;

use crate::cli;
use crate::evaluate::KernelEvaluator;
use crate::progress;
use crate::source::Source;
use crate::translate::To;

/// Less is read and printed before the threads have started.
pub const MANY_BYTES: usize = 1 << 15;

/// What is accepted in a program.
#[derive(Clone, Copy, Default, Debug)]
pub struct LoadOptions {
    /// Operations that no dialect defines.
    pub allow_unregistered: bool,
}

impl LoadOptions {
    /// The same for a program in this format. What PaddlePaddle saved may have any of its operations: those that are
    /// not known here are kept as they are.
    #[must_use]
    pub fn of_format(self, format: Option<pir_translate::Format>) -> Self {
        let saved = format == Some(pir_translate::Format::PaddleJson);
        LoadOptions {
            allow_unregistered: self.allow_unregistered || saved,
        }
    }

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
    let options = options.of_format(format);
    let (module, mut diagnostics) = read_as(ctx, source, format, options)?;
    diagnostics.extend(verify(&module, options));
    if has_errors(&diagnostics) {
        Err(diagnostics)
    } else {
        Ok((module, diagnostics))
    }
}

/// Reads a program in the given format, the text format for `None`, and does not verify it. The second part are
/// warnings.
///
/// # Errors
/// What is wrong with the text; may contain warnings too.
pub fn read_as(
    ctx: &Arc<Context>,
    source: &Source,
    format: Option<pir_translate::Format>,
    options: LoadOptions,
) -> Result<(Module, Vec<Diagnostic>), Vec<Diagnostic>> {
    use pir_translate::Format::{PaddleProgramText, PaddleText};
    let allow_unregistered = options.allow_unregistered;
    let is_text = matches!(format, None | Some(PaddleText | PaddleProgramText));
    source.reserve_program(is_text).map_err(|e| vec![e.into()])?;
    let (module, diagnostics) = match format {
        None => {
            let parsed = text::parse(ctx, source.bytes(), &ParseOptions { allow_unregistered });
            (parsed.module, parsed.diagnostics)
        }
        Some(format) => {
            let options = paddle::Options { allow_unregistered };
            (format.read(ctx, source.bytes(), options)?, Vec::new())
        }
    };
    if has_errors(&diagnostics) {
        Err(diagnostics)
    } else {
        Ok((module, diagnostics))
    }
}

/// What is wrong with a program that has been read.
pub fn verify(module: &Module, options: LoadOptions) -> Vec<Diagnostic> {
    verify_with(module, options.verify())
}

/// Whether there is an error among them.
pub fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(|d| d.severity == Severity::Error)
}

/// The program in the form of another system, if that is asked for.
///
/// # Errors
/// What cannot be said there.
pub fn emit(module: &Module, to: To) -> Result<Option<Vec<u8>>, Vec<Diagnostic>> {
    let mut module = Cow::Borrowed(module);
    if matches!(to, To::Text | To::Generic) {
        return Ok(None);
    }
    // No other system knows an operation that says what it computes.
    if has_composites(&module, &|_| false) {
        expand_composites(module.to_mut(), &|_| false)?;
    }
    let module = module.as_ref();
    match to {
        To::Text | To::Generic => Ok(None),
        To::PaddleJson => paddle::write(without_calls(module)?.as_ref()).map(|text| Some(text.into_bytes())),
        To::PaddleText => paddle::write_printed(without_calls(module)?.as_ref()).map(|text| Some(text.into_bytes())),
        To::Graphdef => pir_translate::graphdef::write(module).map(Some),
        To::GraphdefText => pir_translate::graphdef::write_text(module).map(|text| Some(text.into_bytes())),
    }
}

/// The program with the bodies of functions in the place of calls: for a form that has no functions.
fn without_calls(module: &Module) -> Result<Cow<'_, Module>, Vec<Diagnostic>> {
    let body = &module.body;
    let calls = |op| module.ctx.op_str(body.op_name(op)) == "func.call";
    if !body.walk_all().any(calls) {
        return Ok(Cow::Borrowed(module));
    }
    let mut module = module.clone();
    let pipeline = Pipeline::parse("inline{max-size=4294967295, custom-vjp=true},symbol-dce")?;
    run_passes(&mut module, &pipeline, RunOptions::default())?;
    Ok(Cow::Owned(module))
}

/// How passes are run, and who watches.
#[derive(Default)]
pub struct RunOptions<'a> {
    /// Verify after each pass that changed something, with these options.
    pub verify: Option<VerifyOptions>,
    /// Those who are told what happens.
    pub observers: Vec<&'a mut dyn Observer>,
}

/// Runs passes. The result are warnings and notes.
///
/// # Errors
/// What the pass said that failed, with warnings of the passes before it. The module must not be used then.
pub fn run_passes(
    module: &mut Module,
    pipeline: &Pipeline,
    options: RunOptions<'_>,
) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
    let evaluator = KernelEvaluator::default();
    let mut remember = Remember;
    let mut manager = PassManager::new();
    manager.set_evaluator(&evaluator);
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
            Err(reports)
        }
    }
}

/// Says which pass it was that crashed.
struct Remember;

impl Observer for Remember {
    fn before(&mut self, invocation: &Invocation, _: &Module) {
        cli::remember("pass", invocation.to_string());
        progress::doing(|| format!("running {invocation}"));
    }
}

/// Starts the threads for a program that is so large that it is read by several.
///
/// # Errors
/// When the system does not give the threads.
pub fn threads_for(source: &Source) -> Result<(), Diagnostic> {
    match source.bytes().len() > MANY_BYTES {
        true => set_threads(None),
        false => Ok(()),
    }
}

/// Sets how many threads work on a program; without a number, as many as the machine has. Nothing that a tool writes
/// depends on it.
///
/// # Errors
/// When the system does not give the threads.
pub fn set_threads(threads: Option<usize>) -> Result<(), Diagnostic> {
    // Types may be nested deeply; the stacks of threads are smaller than that of a process by default.
    const STACK: usize = 16 << 20;
    let pool = rayon::ThreadPoolBuilder::new()
        .stack_size(STACK)
        .num_threads(threads.unwrap_or(0));
    match pool.build_global() {
        // Without a cause, threads are running already, and those are used.
        Err(error) if std::error::Error::source(&error).is_some() => {
            let problem = format!("the threads cannot be started: {error}");
            Err(Diagnostic::error("threads", problem)
                .help("`--threads=1` needs one; is there a limit on processes or memory?"))
        }
        _ => Ok(()),
    }
}
