//! The command line of `pir-opt`.

use clap::Parser;

use pir_translate::graphdef::InputShape;

use crate::cli::Common;
use crate::driver::emission::Parameters;
use crate::driver::select::Counter;
use crate::driver::show::PrintScope;
use crate::formats::{From, To};

const LONG_ABOUT: &str = "\
Reads a program, runs passes on it and prints it.

The program can be in the text format of pir-opt, in MLIR (including StableHLO), saved by PaddlePaddle, or a TensorFlow \
GraphDef or SavedModel; pir-opt detects the format from the content. Without passes, it verifies and prints the program.";

const EXAMPLES: &str = "\
Examples:
  Check and reformat a program
      pir-opt x.pir
  Differentiate a program with loops and branches
      pir-opt --pass=backward x.pir
  Differentiate one output with respect to two inputs, between other passes
      pir-opt --pass='licm,backward{of=loss wrt=[x, %w]},dce' x.pir -o x_grad.pir
  Show what each pass changes, and how long it takes
      pir-opt --pass=licm,cse,dce --print-ir-after-change --timing x.pir
  Optimize, then differentiate
      pir-opt -O2 --pass=backward x.pir
  Run passes on functions only
      pir-opt --pass-pipeline='func.func(canonicalize,cse),dce' x.pir
  Write a reproducer for a failing pass, and run it
      pir-opt --pass=backward --emit-reproducer=bad.pir x.pir
      pir-opt --run-reproducer bad.pir
  Connect the tools with pipes
      pir-opt --pass=licm x.pir | pir-opt --pass=backward - | pir-run - --input x=ones

Exit status:
  0   success
  1   the program is invalid, or a pass failed; the diagnostics are on standard error
  2   the command line is invalid
  70  internal error in pir-opt";

/// The command line.
#[derive(Parser, Debug)]
#[command(
    name = "pir-opt",
    version,
    about = "Optimize and differentiate programs with loops and branches",
    long_about = LONG_ABOUT,
    after_long_help = EXAMPLES,
    after_help = "Use `--help` for all options and examples, and `--list-passes` for the passes."
)]
pub struct Args {
    /// The program to read; `-` or no FILE reads standard input
    #[arg(value_name = "FILE")]
    pub file: Option<String>,

    #[command(flatten)]
    #[allow(missing_docs)]
    pub passes: Passes,

    #[command(flatten)]
    #[allow(missing_docs)]
    pub output: Output,

    #[command(flatten)]
    #[allow(missing_docs)]
    pub watch: Watch,

    #[command(flatten)]
    #[allow(missing_docs)]
    pub debug: Debugging,

    #[command(flatten)]
    #[allow(missing_docs)]
    pub listing: Listing,

    #[command(flatten)]
    #[allow(missing_docs)]
    pub common: Common,
}

/// Which passes run.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Passes")]
pub struct Passes {
    /// Passes to run, in order: `a,b{option=value},c`; may be repeated
    ///
    /// A value is a word, a quoted string (`of="out:1"`) or a list (`wrt=[%x, "w_0"]`). `--list-passes` lists the
    /// passes and their options.
    #[arg(long, value_name = "PASSES")]
    pub pass: Vec<String>,

    /// Optimization level, from 0 to 3; runs before the passes of `--pass`
    ///
    /// 0 runs no passes, 1 runs a few fast ones, 2 optimizes fully, and 3 allows code growth. `-O2` is the same as a leading
    /// `--pass=O2`; `--print-pipeline` prints the passes.
    #[arg(short = 'O', value_name = "LEVEL", value_parser = clap::value_parser!(u8).range(0..=3))]
    pub optimize: Option<u8>,

    /// Passes to run, nested by operation: `builtin.module(func.func(cse,licm),dce)`
    ///
    /// The passes in parentheses after an operation run on each such operation, at any depth, in isolation. The outermost
    /// `builtin.module` is the program and may be omitted. `--pass` accepts this syntax too.
    #[arg(long, value_name = "PIPELINE", conflicts_with = "pass")]
    pub pass_pipeline: Option<String>,

    /// The number of functions to process in parallel; default: the number of hardware threads
    ///
    /// The output does not depend on this number.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), hide_short_help = true)]
    pub threads: Option<u16>,

    /// Verify the program after each pass that changed it (the default)
    #[arg(long, overrides_with = "no_verify_each", hide_short_help = true)]
    pub verify_each: bool,

    /// Verify the program only once, after reading it
    #[arg(long, overrides_with = "verify_each")]
    pub no_verify_each: bool,
}

/// Input and output.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Input and output")]
pub struct Output {
    /// Write the output to this file
    ///
    /// The file is replaced atomically, and only on success.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<String>,

    /// Print MLIR's generic form
    ///
    /// `mlir-opt --allow-unregistered-dialect` reads this form.
    #[arg(long)]
    pub print_generic: bool,

    /// Print operations of MLIR's dialects in their custom assembly, as `mlir-opt` does
    #[arg(long, hide_short_help = true, conflicts_with = "print_generic")]
    pub print_mlir: bool,

    /// Print the source location of every operation: `loc("x.mlir":3:5)`
    ///
    /// An operation that a pass created has the location of the operation that it was created from, or `loc(unknown)`.
    /// `--mlir-print-debuginfo` is an alias.
    #[arg(long, hide_short_help = true)]
    pub print_debuginfo: bool,

    /// Elide lists and strings with more than N elements when printing; default: 16
    ///
    /// The output cannot be parsed again.
    #[arg(
        long,
        value_name = "N",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "16",
        hide_short_help = true
    )]
    pub elide_large_attributes: Option<usize>,
    /// The format to read
    #[arg(
        long,
        value_enum,
        value_name = "FORMAT",
        default_value = "auto",
        hide_short_help = true
    )]
    pub from: From,

    /// The outputs of a TensorFlow graph to read: `node`, `node:1`; nodes that they do not depend on are skipped
    ///
    /// For a SavedModel, the names of outputs of the signature. Without this option, all outputs are read.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', hide_short_help = true)]
    pub outputs: Vec<String>,

    /// Accept nodes of a TensorFlow graph with a custom gradient, and differentiate the operations themselves
    #[arg(long, hide_short_help = true)]
    pub derive_custom_gradients: bool,

    /// The signature of a SavedModel to read; default: `serving_default`
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    pub signature: Option<String>,

    /// The static shape of an input that has dynamic dimensions: `x=4x6x3`
    ///
    /// A single number is the extent of all dynamic dimensions of all inputs. TensorFlow graphs are read with these shapes;
    /// for other programs, the pass `refine-shapes` applies them before the passes of `--pass`.
    #[arg(long, value_name = "NAME=SHAPE", value_delimiter = ',', value_parser = InputShape::parse, hide_short_help = true)]
    pub input_shape: Vec<InputShape>,

    /// The format to print
    #[arg(
        long,
        value_enum,
        value_name = "FORMAT",
        default_value = "text",
        conflicts_with = "print_generic"
    )]
    pub emit: To,

    /// The TensorFlow cluster that will run the written graph: a JSON file, as for `tf.train.ClusterSpec`
    ///
    /// Each node gets the full name of a device of the cluster: the device that its attribute `tf.device` names, else the
    /// device with the number of its attribute `device`, else the first one.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub cluster: Option<String>,

    /// How to write the parameters of a program for TensorFlow
    ///
    /// The default is `variables` if a SavedModel provides their values, and `inputs` otherwise.
    #[arg(long, value_enum, value_name = "KIND", hide_short_help = true)]
    pub parameters: Option<Parameters>,

    /// The folder of the SavedModel that provides the values of parameters; default: the input
    #[arg(long, value_name = "FOLDER", hide_short_help = true)]
    pub variables: Option<String>,

    /// Print the program in each text form, parse the result, and report the first difference
    #[arg(long, hide_short_help = true)]
    pub verify_roundtrip: bool,

    /// Report errors and warnings, but do not print the program
    #[arg(long)]
    pub verify_only: bool,

    /// Print statistics instead of the program: operations by name, nesting, loops, values, types
    #[arg(
        long,
        value_enum,
        value_name = "FORM",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "text",
        conflicts_with = "verify_only"
    )]
    pub stats: Option<StatsForm>,

    /// Apply the edits that errors suggest to the file
    ///
    /// An edit is applied only if parsing and verification get further with it. The rest of the text does not change. The
    /// file is replaced atomically; standard input is edited to standard output. Remaining errors are reported.
    #[arg(
        long,
        conflicts_with_all = ["pass", "pass_pipeline", "optimize", "run_reproducer", "emit", "print_generic", "print_mlir",
            "verify_only", "stats", "split_input_file", "verify_diagnostics"]
    )]
    pub fix: bool,

    /// Split the input at lines `// -----` into separate programs
    #[arg(long)]
    pub split_input_file: bool,

    /// Check diagnostics against `expected-error` comments in the input; do not print the program
    ///
    /// `// expected-error {{text}}` expects an error on its own line; `expected-error@+1`, `@-1`, `@above`, `@below` and
    /// `@unknown` select another line. `expected-warning`, `expected-note` and `expected-remark` expect the other
    /// severities. With the suffix `-re`, `{{…}}` inside the text is a regular expression. Every diagnostic must be
    /// expected, and every expected diagnostic must occur.
    #[arg(long, conflicts_with = "stats", hide_short_help = true)]
    pub verify_diagnostics: bool,
}

/// The format of a program's statistics.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub enum StatsForm {
    /// A table
    Text,
    /// JSON
    Json,
}

/// Options that observe passes. All of their output goes to standard error.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Observing passes (on standard error)")]
pub struct Watch {
    /// Report the time of reading, verifying, each pass, and printing
    #[arg(long)]
    pub timing: bool,

    /// Report the counters of these passes and each line that they changed
    ///
    /// `--pass-statistics` and `--print-ir-after-change` report more, for all passes.
    #[arg(long, value_name = "PASS,…", value_delimiter = ',', hide_short_help = true)]
    pub debug_only: Option<Vec<String>>,

    /// Report the counters of each pass, and operation counts
    ///
    /// The operation counts are those before and after the pass.
    #[arg(long)]
    pub pass_statistics: bool,

    /// Print the program before these passes; without names, before every pass
    #[arg(
        long,
        value_name = "PASS,…",
        num_args = 0..=1,
        require_equals = true,
        value_delimiter = ',',
        default_missing_value = "",
        hide_short_help = true
    )]
    pub print_ir_before: Option<Vec<String>>,

    /// Print the program after these passes; without names, after every pass
    #[arg(
        long,
        value_name = "PASS,…",
        num_args = 0..=1,
        require_equals = true,
        value_delimiter = ',',
        default_missing_value = ""
    )]
    pub print_ir_after: Option<Vec<String>>,

    /// Print the program before each pass
    #[arg(long, hide_short_help = true)]
    pub print_ir_before_all: bool,

    /// Print the program after each pass
    #[arg(long, hide_short_help = true)]
    pub print_ir_after_all: bool,

    /// Print the changes of each pass, in the format of `diff -u`
    #[arg(long)]
    pub print_ir_after_change: bool,

    /// Print the program after a pass that failed
    #[arg(long, hide_short_help = true)]
    pub print_ir_after_failure: bool,

    /// The part of the program that the `--print-ir-…` options print
    ///
    /// After a pass, only the functions, loops or operations that it changed are printed. In a diff, `op` omits the
    /// context lines.
    #[arg(
        long,
        value_enum,
        value_name = "SCOPE",
        default_value = "module",
        hide_short_help = true
    )]
    pub print_ir_scope: PrintScope,

    /// Write the program after each pass into this folder: `000-input.pir`, `001-licm.pir`, …
    #[arg(long, value_name = "DIR", hide_short_help = true)]
    pub dump_to_dir: Option<String>,
}

/// Options for finding a faulty pass.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Debugging passes")]
pub struct Debugging {
    /// Write a reproducer, a file with the program and the passes, for --run-reproducer
    ///
    /// If a pass fails or crashes, the reproducer contains only that pass and the program before it.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub emit_reproducer: Option<String>,

    /// Run the passes that the reproducer in the input specifies
    #[arg(
        long,
        conflicts_with_all = ["pass", "pass_pipeline", "optimize", "emit_reproducer"],
        hide_short_help = true
    )]
    pub run_reproducer: bool,

    /// Run only the first N passes, and report each; -1 runs all
    ///
    /// A pass on functions counts once for each function. Bisect N to find the run that causes a problem.
    #[arg(long, value_name = "N", allow_negative_numbers = true, hide_short_help = true)]
    pub opt_bisect_limit: Option<i64>,

    /// Skip the first runs of a pass and limit the number of further runs: `licm:skip=3,count=2`; may be repeated
    #[arg(long, value_name = "PASS:skip=N,count=N", value_parser = Counter::parse, hide_short_help = true)]
    pub debug_counter: Vec<Counter>,
}

/// Information that needs no program.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Information")]
pub struct Listing {
    /// List the passes and their options
    #[arg(long)]
    pub list_passes: bool,

    /// Describe a pass and its options
    #[arg(long, value_name = "PASS", hide_short_help = true)]
    pub help_pass: Option<String>,

    /// List the dialects, in the format of `mlir-opt`
    #[arg(long, hide_short_help = true)]
    pub show_dialects: bool,

    /// List the operations of all dialects
    #[arg(long)]
    pub list_ops: bool,

    /// Describe an operation: operands, attributes, regions, traits, effects, gradient
    #[arg(long, value_name = "OP")]
    pub show_op: Option<String>,

    /// Explain a diagnostic code, with examples
    #[arg(long, value_name = "CODE")]
    pub explain: Option<String>,

    /// Print the passes that would run, in the syntax of `--pass`
    #[arg(long)]
    pub print_pipeline: bool,
}
