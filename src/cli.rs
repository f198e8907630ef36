//! Shared by the command lines of all tools: exit statuses, completions, and the handling of internal errors.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use clap::builder::PossibleValuesParser;
use clap::{CommandFactory, Parser, ValueEnum};
use clap_complete::Shell;
use pir_dialects::user::DialectFile;
use pir_ir::{Context, Diagnostic, Severity};

use crate::codes;
use crate::memory::parse_size;
use crate::output::stdout_is_open;
use crate::progress;
use crate::render::{ColorWhen, Renderer, Style};
use crate::source::Source;
use crate::tool::Tool;

/// The exit status of a tool.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exit {
    /// Success.
    Success,
    /// The input is wrong or a pass failed; the error has been reported.
    Failure,
    /// The command line is wrong.
    Usage,
    /// A comparison is inconclusive.
    Inconclusive,
    /// Internal error of the tool.
    Internal,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(match exit {
            Exit::Success => 0,
            Exit::Failure => 1,
            Exit::Usage | Exit::Inconclusive => 2,
            Exit::Internal => 70,
        })
    }
}

/// The context of the run, for the message on an internal error.
static DOING: Mutex<Vec<(&'static str, String)>> = Mutex::new(Vec::new());

/// Adds to the context for a report of an internal error.
pub fn remember(what: &'static str, value: impl Into<String>) {
    let mut doing = DOING.lock().unwrap_or_else(PoisonError::into_inner);
    doing.retain(|(name, _)| *name != what);
    doing.push((what, value.into()));
}

/// Removes it again.
pub fn forget(what: &'static str) {
    let mut doing = DOING.lock().unwrap_or_else(PoisonError::into_inner);
    doing.retain(|(name, _)| *name != what);
}

/// Whether panics are expected at the moment.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Runs a function that may panic, without reporting the panic.
pub(crate) fn quietly<R>(f: impl FnOnce() -> R) -> R {
    QUIET.store(true, Ordering::Relaxed);
    let result = f();
    QUIET.store(false, Ordering::Relaxed);
    result
}

/// Parses the command line. Prints errors and help.
///
/// # Errors
/// The exit status, if the tool is to end.
pub fn parse<Args: Parser>(tool: &Tool) -> Result<Args, Exit> {
    parse_words(tool, std::env::args_os())
}

/// The same for given words; the first one is the name of the tool.
///
/// # Errors
/// Those of [`parse`].
pub fn parse_words<Args: Parser>(tool: &Tool, words: impl IntoIterator<Item = OsString>) -> Result<Args, Exit> {
    let matches = Args::command().name(tool.name()).try_get_matches_from(words);
    let args = matches.and_then(|mut matches| Args::from_arg_matches_mut(&mut matches));
    args.map_err(|said| match said.print().and_then(|()| stdout_is_open()) {
        _ if said.use_stderr() => Exit::Usage,
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            let _ = writeln!(io::stderr(), "error: cannot write to standard output: {error} [io]");
            Exit::Failure
        }
        _ => Exit::Success,
    })
}

/// Runs a tool. A panic is reported as an internal error.
pub fn run(tool: &'static str, body: impl FnOnce() -> Exit) -> ExitCode {
    std::panic::set_hook(Box::new(move |info| {
        if QUIET.load(Ordering::Relaxed) {
            return;
        }
        // There is nothing left to do if standard error is closed.
        let _ = io::stderr().lock().write_all(internal_error(tool, info).as_bytes());
    }));
    // No state of the run is used after a panic.
    let exit = catch_unwind(AssertUnwindSafe(body)).unwrap_or(Exit::Internal);
    progress::finish();
    ExitCode::from(exit)
}

fn internal_error(tool: &str, info: &PanicHookInfo<'_>) -> String {
    let message = info.payload_as_str().unwrap_or("unknown");
    let place = info
        .location()
        .map_or_else(|| "an unknown place".to_owned(), ToString::to_string);
    let mut text = format!(
        "{tool}: internal error: {message}\n  at {place}\nThis is a bug in {tool}, even if the input is invalid. \
         Please report it with these lines and the input:\n"
    );
    let arguments: Vec<_> = std::env::args_os().map(|a| a.to_string_lossy().into_owned()).collect();
    text.push_str(&format!("  command: {}\n", arguments.join(" ")));
    text.push_str(&format!("  version: {}\n", env!("CARGO_PKG_VERSION")));
    for (what, value) in DOING.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        text.push_str(&format!("  {what}: {value}\n"));
    }
    text
}

/// Reports diagnostics about a source; returns whether there was an error among them.
pub fn report(renderer: &Renderer, source: &Source, diagnostics: &[Diagnostic]) -> bool {
    // There is nothing left to do if standard error is closed.
    let _ = write_buffered(|out| renderer.render(source, diagnostics, out));
    diagnostics.iter().any(|d| d.severity == Severity::Error)
}

/// Reports a diagnostic without a source.
pub fn report_plain(renderer: &Renderer, diagnostic: &Diagnostic) {
    let _ = write_buffered(|out| renderer.render_plain(diagnostic, out));
}

/// The exit status for a result; reports the error.
pub fn exit(renderer: &Renderer, result: Result<(), Diagnostic>) -> Exit {
    match result {
        Ok(()) => Exit::Success,
        Err(error) => {
            report_plain(renderer, &error);
            Exit::Failure
        }
    }
}

/// Writes to standard error.
pub fn say(text: &str) {
    // There is nothing left to do if standard error is closed.
    let _ = write_buffered(|out| out.write_all(text.as_bytes()));
}

/// Buffers, since standard error is unbuffered and output should not be interleaved with that of other processes.
fn write_buffered(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut text = Vec::new();
    write(&mut text)?;
    progress::aside(|| io::stderr().lock().write_all(&text))
}

/// The input file: the named one, or standard input. If that is a terminal, the user probably forgot the file name:
/// reports that and returns `None`.
pub fn input_file<'a>(named: Option<&'a str>, renderer: &Renderer) -> Option<&'a str> {
    if named.is_none() && io::stdin().is_terminal() {
        let error =
            Diagnostic::error("usage", "there is no input").help("give a FILE, or `-` to type a program; see `--help`");
        report_plain(renderer, &error);
        return None;
    }
    Some(named.unwrap_or("-"))
}

/// The options that all tools have.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "General")]
pub struct Common {
    /// The style of diagnostics; default: fancy on a terminal, short otherwise
    ///
    /// `fancy` shows the source with annotations; `short` writes lines of the form `file:line:column: error: message
    /// [code]`, which editors recognize; `json` writes one object per line.
    #[arg(long, value_enum, value_name = "STYLE")]
    pub diagnostics: Option<Style>,

    /// When to use colours on standard error
    ///
    /// `auto` uses them on a terminal, unless the environment variable NO_COLOR is set.
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto")]
    pub color: ColorWhen,

    /// Accept operations that no dialect defines
    ///
    /// The verifier checks only the structure of unregistered operations, and passes assume nothing about them. They are
    /// written in MLIR's generic form: `%1 = "my.op"(%0) {a = 1} : (f32) -> f32`.
    #[arg(long)]
    pub allow_unregistered_dialect: bool,

    /// Limit memory to this many bytes: a number, optionally followed by K, M or G
    ///
    /// The default is three quarters of the free memory, or of the limit of the control group or the address space if
    /// that is lower. Everything that grows with the input counts: programs and other files, tensors, stacks. Exceeding
    /// the limit is an error.
    #[arg(long, value_name = "SIZE", value_parser = parse_size, hide_short_help = true)]
    pub max_memory: Option<u64>,

    /// Load a dialect from this file; may be repeated
    ///
    /// The file declares operations, their semantics and their derivatives. Operations of such a dialect are verified, run,
    /// differentiated and optimized like built-in ones. docs/dialects.md describes the format. MLIR's IRDL in generic
    /// form is accepted too; `--irdl-file` is an alias.
    #[arg(long, alias = "irdl-file", value_name = "FILE")]
    pub load_dialect: Vec<String>,

    /// Print a completion script for this shell
    ///
    /// It also completes the names of passes, operations and diagnostic codes, including those of `--load-dialect`.
    #[arg(long, value_enum, value_name = "SHELL", hide_short_help = true)]
    pub completions: Option<CompletionShell>,
}

impl Common {
    /// The dialects: the built-in ones and those of `--load-dialect`.
    ///
    /// # Errors
    /// The exit status if a file cannot be read or is wrong; the error has been reported.
    pub fn context(&self, tool: &Tool, renderer: &Renderer) -> Result<Arc<Context>, Exit> {
        if self.load_dialect.is_empty() {
            return Ok(tool.context());
        }
        let mut sources = Vec::new();
        for path in &self.load_dialect {
            sources.push(Source::read(path).map_err(|error| exit(renderer, Err(error)))?);
        }
        let files: Vec<DialectFile<'_>> = sources
            .iter()
            .map(|source| DialectFile {
                name: source.name(),
                text: source.bytes(),
            })
            .collect();
        tool.context_with(&files).map_err(|(file, errors)| {
            report(renderer, &sources[file], &errors);
            Exit::Failure
        })
    }

    /// The renderer of diagnostics for these options.
    pub fn renderer(&self) -> Renderer {
        Renderer::for_stderr(self.diagnostics, self.color)
    }
}

/// Shells that completions are written for.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum CompletionShell {
    /// GNU Bash
    Bash,
    /// Z shell
    Zsh,
    /// fish
    Fish,
}

/// Writes the completions of a tool with the command line `C`.
///
/// # Errors
/// Those of the writer.
pub fn write_completions<C: CommandFactory>(
    tool: &Tool,
    shell: CompletionShell,
    ctx: &Context,
    out: &mut dyn Write,
) -> io::Result<()> {
    let shell = match shell {
        CompletionShell::Bash => Shell::Bash,
        CompletionShell::Zsh => Shell::Zsh,
        CompletionShell::Fish => Shell::Fish,
    };
    let mut command = C::command().name(tool.name());
    // The generator requires `'static` names; the process ends after writing the completions.
    let ops = ctx.registered_ops().map(|op| &*String::from(op).leak());
    let ops: Vec<&'static str> = ops.collect();
    let passes: Vec<&'static str> = tool.passes.iter().map(|pass| pass.name()).collect();
    let codes: Vec<&'static str> = codes::names().collect();
    for (option, names) in [
        ("show_op", ops),
        ("pass", passes.clone()),
        ("help_pass", passes.clone()),
        ("print_ir_before", passes.clone()),
        ("print_ir_after", passes),
        ("explain", codes),
    ] {
        if command.get_arguments().any(|arg| arg.get_id() == option) {
            command = command.mut_arg(option, |arg| arg.value_parser(PossibleValuesParser::new(names)));
        }
    }
    let name = command.get_name().to_owned();
    // The generator panics if it cannot write.
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut command, name, &mut text);
    out.write_all(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_are_internal_errors() {
        remember("pipeline", "licm");
        remember("pipeline", "dce");
        let code = run("pir-test", || panic!("of no importance"));
        assert_eq!(format!("{code:?}"), format!("{:?}", ExitCode::from(70)));
        let _ = std::panic::take_hook();
    }
}
