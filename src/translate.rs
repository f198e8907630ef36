//! `pir-translate`: reads a program in one format and writes it in another.

use std::io::{self, Write};
use std::sync::Arc;

use clap::{Parser, ValueEnum};
use pir_ir::text::{self, PrintOptions};
use pir_ir::{Context, Diagnostic, Module};

use crate::cli::{self, Common, Exit};
use crate::driver::emission::Emission;
use crate::driver::{self, LoadOptions};
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

/// An input format.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum From {
    /// Detect the format from the content
    Auto,
    /// The text format of pir-opt, or MLIR's generic form
    Text,
    /// A program that PaddlePaddle saved: PIR JSON
    PaddleJson,
    /// A program as PaddlePaddle prints it: `print(program)`
    PaddleText,
    /// A program of PaddlePaddle 2: `.pdmodel`, `__model__`
    PaddleProgram,
    /// A program as PaddlePaddle 2 prints it
    PaddleProgramText,
    /// A TensorFlow graph: GraphDef, `graph.pb`
    Graphdef,
    /// A TensorFlow graph as text: `graph.pbtxt`
    GraphdefText,
    /// A TensorFlow model: the folder of a SavedModel
    SavedModel,
}

impl From {
    /// The format of a source: as requested, or detected; `None` for text.
    pub(crate) fn format(self, source: &Source) -> Option<pir_translate::Format> {
        match self {
            From::Auto => pir_translate::detect(source.bytes()),
            From::Text => None,
            From::PaddleJson => Some(pir_translate::Format::PaddleJson),
            From::PaddleText => Some(pir_translate::Format::PaddleText),
            From::PaddleProgram => Some(pir_translate::Format::PaddleProgram),
            From::PaddleProgramText => Some(pir_translate::Format::PaddleProgramText),
            From::Graphdef => Some(pir_translate::Format::GraphDef),
            From::GraphdefText => Some(pir_translate::Format::GraphDefText),
            From::SavedModel => Some(pir_translate::Format::SavedModel),
        }
    }
}

/// An output format.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum To {
    /// The text format of pir-opt
    Text,
    /// MLIR's generic form
    Generic,
    /// StableHLO for XLA: the generic form, after the pass `pd-to-stablehlo`
    Stablehlo,
    /// A program that PaddlePaddle loads and runs: PIR JSON
    PaddleJson,
    /// A program as PaddlePaddle prints it: `print(program)`
    PaddleText,
    /// A graph that TensorFlow loads and runs: GraphDef, from a program lowered to dataflow
    Graphdef,
    /// A TensorFlow graph as text: `graph.pbtxt`
    GraphdefText,
    /// A model that TensorFlow loads: the folder of a SavedModel, with a signature for gradients
    SavedModel,
}

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
        Ok((module, warnings)) => {
            progress::doing(|| format!("converting {}", source.name()));
            cli::report(&renderer, &source, &warnings);
            let saved = match driver::emit(&module, args.to, &Emission::default()) {
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
