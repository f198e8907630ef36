//! The command line of `pir-opt`.

use clap::Parser;

use crate::cli::Common;

const LONG_ABOUT: &str = "\
Reads a program, runs passes on it and prints it.

A program is text in an MLIR-like form, or one that PaddlePaddle saved (PIR JSON); which of the two is seen from the \
content. Without passes the program is only checked and printed in the form that all tools agree on.";

const EXAMPLES: &str = "\
Examples:
  Check and reformat a program
      pir-opt x.pir
  Differentiate a program with loops and branches
      pir-opt --pass=backward x.pir
  The same for one output and two inputs, with the order of passes as written
      pir-opt --pass='licm,backward{of=loss wrt=[x, %w]},dce' x.pir -o x_grad.pir
  Look at the program after each pass
      pir-opt --pass=backward --print-ir-after-all x.pir
  In a pipeline of processes
      pir-opt --pass=licm x.pir | pir-opt --pass=backward - | pir-run - --input x=ones

Exit status:
  0   success
  1   the program is wrong, or a pass failed; what and where is said on standard error
  2   the command line is wrong
  70  an error in pir-opt itself";

/// The command line.
#[derive(Parser, Debug)]
#[command(
    name = "pir-opt",
    version,
    about = "Optimize and differentiate programs with loops and branches",
    long_about = LONG_ABOUT,
    after_long_help = EXAMPLES,
    after_help = "`--help` says more and gives examples, `--list-passes` tells the passes."
)]
pub struct Args {
    /// The program; `-` or nothing reads standard input
    #[arg(value_name = "FILE")]
    pub file: Option<String>,

    /// Passes to run, in order: `a,b{option=value},c`; may be given several times
    ///
    /// A value is a word, a quoted text (`of="out:1"`) or a list (`wrt=[%x, "w_0"]`). `--list-passes` tells the passes
    /// and their options.
    #[arg(long, value_name = "PASSES")]
    pub pass: Vec<String>,

    /// Passes to run, with the operations that they run on: `builtin.module(func.func(cse,licm),symbol-dce)`
    ///
    /// The passes in the parentheses behind an operation run on each such operation, at any depth, and look at nothing
    /// else. `builtin.module` at the outermost place is the program and may be left out. `--pass` takes this form too.
    #[arg(long, value_name = "PIPELINE", conflicts_with = "pass")]
    pub pass_pipeline: Option<String>,

    /// Write to this file; it is replaced as a whole, and only on success
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<String>,

    /// Print MLIR's generic form, which `mlir-opt --allow-unregistered-dialect` reads
    #[arg(long)]
    pub print_generic: bool,

    /// Print no program, only say what is wrong with it
    #[arg(long)]
    pub verify_only: bool,

    /// Tell the passes and their options
    #[arg(long)]
    pub list_passes: bool,

    /// Tell the operations of all dialects
    #[arg(long)]
    pub list_ops: bool,

    /// Print the passes that would be run, in the form that `--pass` takes
    #[arg(long)]
    pub print_pipeline: bool,

    /// Print the program to standard error after each pass
    #[arg(long)]
    pub print_ir_after_all: bool,

    /// Verify the program after each pass that changed it (the default)
    #[arg(long, overrides_with = "no_verify_each")]
    pub verify_each: bool,

    /// Verify the program only once, after reading it
    #[arg(long)]
    pub no_verify_each: bool,

    /// Take the parts of the input between lines `// -----` for programs of their own
    #[arg(long)]
    pub split_input_file: bool,

    #[command(flatten)]
    #[allow(missing_docs)]
    pub common: Common,
}
