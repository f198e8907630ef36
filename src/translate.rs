//! `pir-translate`: reads a program in one format and writes it in another.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use pir_ir::text::{self, PrintOptions};
use pir_ir::{Context, Diagnostic, Module};

use crate::cli::{self, Common, Exit};
use crate::driver::emission::Emission;
use crate::driver::{self, LoadOptions};
use crate::formats::{From, To};
use crate::output::write_output;
use crate::progress;
use crate::source::Source;
use crate::tool::Tool;

const LONG_ABOUT: &str = "\
Reads a program in one format and writes it in another.

The input format is detected from the content, unless `--from` names it. `pir-opt` and `pir-run` read the same formats; use \
this tool to inspect a program, or to store it in another format.";

const EXAMPLES: &str = "\
Examples:
  Print a program that PaddlePaddle saved
      pir-translate model.json
  Save it as text
      pir-translate --from=paddle-json --to=text model.json -o model.pir
  Write a program for PaddlePaddle
      pir-translate --to=paddle-json model.pir -o model.json
  Print a program in PaddlePaddle's notation
      pir-translate --to=paddle-text model.pir
  Write a graph for TensorFlow
      pir-opt --pass=lower-to-dataflow model.pir | pir-translate --to=graphdef -o model.pb
  Pass a program to MLIR's tools
      pir-translate --to=generic model.json | mlir-opt --allow-unregistered-dialect

Exit status:
  0   success
  1   the program is invalid; the diagnostics are on standard error
  2   the command line is invalid
  70  internal error in pir-translate";

/// The command line.
#[derive(Parser, Debug)]
#[command(
    name = "pir-translate",
    version,
    about = "Translate programs between formats",
    long_about = LONG_ABOUT,
    after_long_help = EXAMPLES,
    after_help = "Use `--help` for details and examples."
)]
pub struct Args {
    /// The program to read; `-` or no FILE reads standard input
    #[arg(value_name = "FILE")]
    pub file: Option<String>,

    /// The format to read
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "auto")]
    pub from: From,

    /// The format to write
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text")]
    pub to: To,

    /// Write the output to this file
    ///
    /// The file is replaced atomically, and only on success.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<String>,

    #[command(flatten)]
    #[allow(missing_docs)]
    pub common: Common,
}

impl Tool {
    /// The main function of a tool like `pir-translate`: reads a program in one format and writes it in another.
    pub fn translate(&self) -> ExitCode {
        cli::run(self.name(), || main(self))
    }
}

/// Runs the tool.
pub fn main(tool: &Tool) -> Exit {
    let args: Args = match cli::parse(tool) {
        Ok(args) => args,
        Err(exit) => return exit,
    };
    let renderer = args.common.renderer();
    crate::memory::limit(args.common.max_memory);
    let output = args.output.as_deref();
    let finish = |result| cli::exit(&renderer, result);
    let ctx = match args.common.context(tool, &renderer) {
        Ok(ctx) => ctx,
        Err(exit) => return exit,
    };
    if let Some(shell) = args.common.completions {
        return finish(write_output(output, |out| {
            cli::write_completions::<Args>(tool, shell, &ctx, out)
        }));
    }
    let Some(file) = cli::input_file(args.file.as_deref(), &renderer) else {
        return Exit::Usage;
    };
    cli::remember("input", file);
    let source = match Source::read(file) {
        Ok(source) => source,
        Err(diagnostic) => return finish(Err(diagnostic)),
    };
    if let Err(diagnostic) = driver::threads_for(&source) {
        return finish(Err(diagnostic));
    }
    progress::start(&format!("reading {}", source.name()));
    match read(&args, &ctx, &source) {
        Ok((mut module, warnings)) => {
            progress::doing(|| format!("converting {}", source.name()));
            cli::report(&renderer, &source, &warnings);
            let saved = match driver::emit(&mut module, args.to, &Emission::default()) {
                Ok(saved) => saved,
                Err(errors) => {
                    cli::report(&renderer, &source, &errors);
                    return Exit::Failure;
                }
            };
            progress::finish();
            let exit = finish(match (&saved, args.to) {
                (Some(bytes), To::SavedModel) => Emission::default().write_folder(output, bytes),
                _ => write_output(output, |out| match &saved {
                    Some(bytes) => out.write_all(bytes),
                    None => write(&module, args.to, out),
                }),
            });
            // The process ends here; freeing the memory piece by piece would only take time.
            std::mem::forget(module);
            exit
        }
        Err(errors) => {
            cli::report(&renderer, &source, &errors);
            Exit::Failure
        }
    }
}

fn read(args: &Args, ctx: &Arc<Context>, source: &Source) -> Result<(Module, Vec<Diagnostic>), Vec<Diagnostic>> {
    let options = LoadOptions {
        allow_unregistered: args.common.allow_unregistered_dialect,
        ..LoadOptions::default()
    };
    driver::load_as(ctx, source, args.from.format(source), options)
}

fn write(module: &Module, to: To, out: &mut dyn Write) -> io::Result<()> {
    let options = PrintOptions {
        generic: to == To::Generic,
        ..PrintOptions::default()
    };
    text::print_to(module, &options, out)
}
