//! The command line of `pir-opt`.

use clap::Parser;

use pir_translate::graphdef::InputShape;

use crate::cli::Common;
use crate::driver::emission::Parameters;
use crate::driver::select::Counter;
use crate::driver::show::PrintScope;
use crate::translate::{From, To};

const LONG_ABOUT: &str = "\
Reads a program, runs passes on it and prints it.

A program is text in an MLIR-like form, MLIR, StableHLO, a program that PaddlePaddle saved, or a GraphDef of TensorFlow; \
the format is detected from the content. Without passes, the program is checked and printed.";

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
  Run some passes on functions only
      pir-opt --pass-pipeline='func.func(canonicalize,cse),dce' x.pir
  Write a reproducer of a failing pass, and run it
      pir-opt --pass=backward --emit-reproducer=bad.pir x.pir
      pir-opt --run-reproducer bad.pir
  In a pipeline of processes
      pir-opt --pass=licm x.pir | pir-opt --pass=backward - | pir-run - --input x=ones

Exit status:
  0   success
  1   the program is wrong, or a pass failed; standard error has the diagnostics
  2   the command line is wrong
  70  an internal error of pir-opt";

/// The command line.
#[derive(Parser, Debug)]
#[command(
    name = "pir-opt",
    version,
    about = "Optimize and differentiate programs with loops and branches",
    long_about = LONG_ABOUT,
    after_long_help = EXAMPLES,
    after_help = "`--help` lists all options and gives examples, `--list-passes` lists the passes."
)]
pub struct Args {
    /// The program; `-` or nothing reads standard input
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
    /// Passes to run, in order: `a,b{option=value},c`; may be given several times
    ///
    /// A value is a word, a quoted string (`of="out:1"`) or a list (`wrt=[%x, "w_0"]`). `--list-passes` lists the
    /// passes and their options.
    #[arg(long, value_name = "PASSES")]
    pub pass: Vec<String>,

    /// Optimize before the other passes: 0 not at all, 1 quickly, 2 fully, 3 with a larger program
    ///
    /// `-O2` is `--pass=O2`; `--print-pipeline` prints the passes.
    #[arg(short = 'O', value_name = "LEVEL", value_parser = clap::value_parser!(u8).range(0..=3))]
    pub optimize: Option<u8>,

    /// Passes to run, with the operations that they run on: `builtin.module(func.func(cse,licm),dce)`
    ///
    /// The passes in parentheses after an operation run on each such operation, at any depth, and see nothing outside of it.
    /// `builtin.module` at the outermost level is the program and may be omitted. `--pass` accepts this form too.
    #[arg(long, value_name = "PIPELINE", conflicts_with = "pass")]
    pub pass_pipeline: Option<String>,

    /// The number of functions to process in parallel; default: one for each hardware thread
    ///
    /// The output does not depend on it.
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
    /// Write to this file; it is replaced as a whole, and only on success
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<String>,

    /// Print MLIR's generic form, which `mlir-opt --allow-unregistered-dialect` reads
    #[arg(long)]
    pub print_generic: bool,

    /// Print MLIR's custom assembly of operations of MLIR's dialects, as `mlir-opt` does
    #[arg(long, hide_short_help = true, conflicts_with = "print_generic")]
    pub print_mlir: bool,

    /// Print where operations come from, `loc("x.mlir":3:5)`, also where the source does not say so
    ///
    /// What a pass made has the place of what it made it from, or `loc(unknown)`. `--mlir-print-debuginfo` is this option too.
    #[arg(long, hide_short_help = true)]
    pub print_debuginfo: bool,

    /// Elide lists and strings with more than N elements when printing; default: 16
    ///
    /// The output is for reading only: it cannot be parsed.
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

    /// The outputs to read of a graph of TensorFlow: `node`, `node:1`; only what they depend on is read
    ///
    /// Of a SavedModel, the names of outputs of the signature. Without this, all outputs are read.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', hide_short_help = true)]
    pub outputs: Vec<String>,

    /// Read nodes of a graph of TensorFlow that have a custom gradient, and differentiate what they compute
    #[arg(long, hide_short_help = true)]
    pub derive_custom_gradients: bool,

    /// The signature to read of a SavedModel; default: `serving_default`
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    pub signature: Option<String>,

    /// The shape of an input where the program leaves dimensions open: `x=4x6x3`
    ///
    /// A number alone is the extent of all open dimensions of all inputs. Graphs of TensorFlow are read with these shapes; all other
    /// programs get them by the pass `refine-shapes`, before those of `--pass`.
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

    /// The cluster that runs the graph to write for TensorFlow: a JSON file as for `tf.train.ClusterSpec`
    ///
    /// Nodes get the full names of its devices: of the device that `tf.device` names, of that of this number, or of the first.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub cluster: Option<String>,

    /// What the parameters of a program become that is written for TensorFlow
    ///
    /// Without this they are variables if there is a SavedModel that has them, else inputs.
    #[arg(long, value_enum, value_name = "KIND", hide_short_help = true)]
    pub parameters: Option<Parameters>,

    /// The folder of the SavedModel that holds the values of parameters; default: the input
    #[arg(long, value_name = "FOLDER", hide_short_help = true)]
    pub variables: Option<String>,

    /// Print the program that was read in each form, read that again, and report the first difference
    #[arg(long, hide_short_help = true)]
    pub verify_roundtrip: bool,

    /// Print no program, only its errors and warnings
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

    /// Make the edits that errors suggest, in the file
    ///
    /// An edit is made only if the program is read and verified further with it. The rest of the text does not change. The file
    /// is replaced as a whole; standard input is edited to standard output. The errors that are left are reported.
    #[arg(
        long,
        conflicts_with_all = ["pass", "pass_pipeline", "optimize", "run_reproducer", "emit", "print_generic", "print_mlir",
            "verify_only", "stats", "split_input_file", "verify_diagnostics"]
    )]
    pub fix: bool,

    /// Split the input at lines `// -----` and treat each part as a program
    #[arg(long)]
    pub split_input_file: bool,

    /// Compare errors, warnings and notes with comments in the input; print no program
    ///
    /// `// expected-error {{text}}` expects an error on its line, or on another one: `expected-error@+1`, `@-1`,
    /// `@above`, `@below`, `@unknown`. `expected-warning`, `expected-note` and `expected-remark` are the same for
    /// others; with the suffix `-re`, `{{…}}` inside the text is a regular expression. All diagnostics must be
    /// expected, and all expected ones must occur.
    #[arg(long, conflicts_with = "stats", hide_short_help = true)]
    pub verify_diagnostics: bool,
}

/// The format of a program's statistics.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub enum StatsForm {
    /// For reading
    Text,
    /// For programs
    Json,
}

/// Options that observe passes. All of their output goes to standard error.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Watching passes (on standard error)")]
pub struct Watch {
    /// Report how long reading, verifying, each pass and printing took
    #[arg(long)]
    pub timing: bool,

    /// Report what these passes did: what they counted, and each line that they changed
    ///
    /// `--pass-statistics` and `--print-ir-after-change` show more of all passes.
    #[arg(long, value_name = "PASS,…", value_delimiter = ',', hide_short_help = true)]
    pub debug_only: Option<Vec<String>>,

    /// Report what each pass did: operations before and after, and its counters
    #[arg(long)]
    pub pass_statistics: bool,

    /// Print the program before these passes; without names, before all
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

    /// Print the program after these passes; without names, after all
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

    /// Print what each pass changed, in the form of `diff -u`
    #[arg(long)]
    pub print_ir_after_change: bool,

    /// Print the program as left by a pass that failed
    #[arg(long, hide_short_help = true)]
    pub print_ir_after_failure: bool,

    /// Which part of the program these print
    ///
    /// After a pass, only the functions, loops or operations that changed. For a diff, `op` leaves out the context
    /// lines.
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
#[command(next_help_heading = "Finding errors of passes")]
pub struct Debugging {
    /// Write a reproducer: a file with the program and the passes, for --run-reproducer
    ///
    /// If a pass fails or crashes, it contains only that pass, and the program before it.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub emit_reproducer: Option<String>,

    /// Run the passes given at the top of the input
    #[arg(
        long,
        conflicts_with_all = ["pass", "pass_pipeline", "optimize", "emit_reproducer"],
        hide_short_help = true
    )]
    pub run_reproducer: bool,

    /// Run only the first N passes, and print them; -1 runs all
    ///
    /// A pass on functions counts once for each function. Bisecting N finds the run that makes the difference.
    #[arg(long, value_name = "N", allow_negative_numbers = true, hide_short_help = true)]
    pub opt_bisect_limit: Option<i64>,

    /// Skip runs of a pass, then let some follow: `licm:skip=3,count=2`; may be given several times
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

    /// List the dialects, as `mlir-opt` does
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

    /// Print the passes that would run, in the form that `--pass` takes
    #[arg(long)]
    pub print_pipeline: bool,
}
