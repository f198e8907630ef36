//! The command line of `pir-run`.

use clap::{Parser, ValueEnum};

use super::value::Value;
use crate::cli::Common;
use crate::formats::From;

const LONG_ABOUT: &str = "\
Runs a program, in any format that pir-opt reads.

Inputs (`pd.data`, `pd.parameter`) are bound by name, arguments of a function by name or position. Values come from the \
command line and from files; the command line takes precedence. Results are printed, or written to a file.";

const EXAMPLES: &str = "\
Values:
  0.5, true       the value of every element
  [[1, 2], [3, 4]]
                  the elements, as nested lists of the declared shape
  ones, zeros     the same as 1 and 0
  rand            pseudo-random numbers that depend only on --seed and the name of the input:
                  floats from -1 to 1, integers from 0 to 9

Examples:
  Run a program on values from the command line
      pir-run x.pir --input x=rand --input 'n=[3]'
  Read inputs from files, and write results to a file
      pir-run model.json --inputs data.npz --inputs weights.safetensors --output results.npz
  Differentiate, then run
      pir-opt --pass=backward x.pir | pir-run - --input x=ones
  Differentiate with the independent eager engine instead
      pir-run --eager-grad x.pir --input x=ones
  Run on two devices, and trace how iterations overlap
      pir-run --dataflow=2 --trace trace.json x.pir --input x=ones
  Compare derivatives with finite differences
      pir-run --check-grad x.pir --input x=rand

Exit status:
  0   success
  1   the program or its inputs are invalid, execution failed, or a derivative is wrong
  2   the command line is invalid, or a derivative check is inconclusive
  70  internal error in pir-run";

/// The command line.
#[derive(Parser, Debug)]
#[command(
    name = "pir-run",
    version,
    about = "Run programs with loops and branches, and check their derivatives",
    long_about = LONG_ABOUT,
    after_long_help = EXAMPLES,
    after_help = "Use `--help` for details and examples."
)]
pub struct Args {
    /// The program to read; `-` or no FILE reads standard input
    #[arg(value_name = "FILE")]
    pub file: Option<String>,

    /// The format to read
    #[arg(
        long,
        value_enum,
        value_name = "FORMAT",
        default_value = "auto",
        hide_short_help = true
    )]
    pub from: From,

    /// Bind inputs to the arrays in this file, by name; may be repeated
    ///
    /// The arrays in PaddlePaddle's `.pdiparams` files have no names. They are bound to the program's parameters in the
    /// order of the parameters' names.
    #[arg(long, value_name = "FILE.npz|FILE.safetensors|FILE.pdiparams")]
    pub inputs: Vec<String>,

    /// Bind an input to a value; may be repeated
    ///
    /// A value is a number, a list like `[[1, 2], [3, 4]]`, `rand`, `ones` or `zeros`.
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse_input)]
    pub input: Vec<(String, Value)>,

    /// The seed of pseudo-random values
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,

    /// Fail after executing this many operations; default: no limit
    #[arg(long, value_name = "N")]
    pub max_steps: Option<u64>,

    /// How to treat subnormal numbers (below 1.2e-38 in f32, 2.3e-308 in f64), which slow down arithmetic
    ///
    /// `flush` replaces subnormal f32 and f64 inputs and results of every operation with zeros of the same sign, as other
    /// frameworks do in training. `keep` computes with IEEE arithmetic. --check-grad and --eager-grad always keep
    /// subnormal numbers.
    #[arg(
        long,
        value_enum,
        value_name = "HOW",
        default_value = "flush",
        hide_short_help = true
    )]
    pub denormals: Denormals,

    /// Compute operations on f32 in double precision, and round their results once
    ///
    /// Without this option, some functions, sums of few elements, products and convolutions of f32 are computed in single
    /// precision, which is faster, with errors of some units in the last place.
    #[arg(long, conflicts_with_all = ["eager_grad", "engine"], hide_short_help = true)]
    pub precise: bool,

    /// The number of threads for large kernels; default: the number of hardware threads
    ///
    /// The results do not depend on this number.
    #[arg(
        long,
        env = "PIR_THREADS",
        hide_env_values = true,
        value_name = "N",
        value_parser = clap::value_parser!(u16).range(1..),
        hide_short_help = true
    )]
    pub threads: Option<u16>,

    /// The function to run; default: the top level, the only function, or `main`
    #[arg(long, visible_alias = "entry", value_name = "NAME")]
    pub function: Option<String>,

    /// Run the program on an external engine: xla, iree, tensorflow or paddle
    ///
    /// The program is exported, and run by the Python interpreter that the environment variable `PIR_PYTHON` names, or
    /// by `python3`. `xla` needs the package jax, `iree` needs iree-base-compiler and iree-base-runtime, `tensorflow` and
    /// `paddle` need the packages of these names. With `,check`, pir-run executes the program too, and reports an error
    /// if the results differ by more than rounding.
    #[arg(
        long,
        value_name = "ENGINE[,check]",
        value_parser = super::engine::parse,
        conflicts_with_all = ["check_grad", "eager_grad", "dataflow", "stats", "profile", "timing", "function"]
    )]
    pub engine: Option<super::engine::Chosen>,

    /// Write the results to this file, under the names of their fetches or `out:NUMBER`
    #[arg(short, long, value_name = "FILE.npz")]
    pub output: Option<String>,

    /// Report the time of reading the program and its inputs, of compiling, and of running, on standard error
    #[arg(long, conflicts_with_all = ["check_grad", "eager_grad", "dataflow"])]
    pub timing: bool,

    /// Report the run time by operation and loop, as a table on standard error or in a file
    ///
    /// The file extension selects the format: `.txt` for a table, `.json`, `.folded` for flame graph tools, `.svg` for a
    /// flame graph. Times are those of kernels. Operations are measured one at a time, so none are fused. For matrix
    /// products and convolutions, the report compares the floating-point rate with that of a large matrix product on this
    /// machine.
    #[arg(
        long,
        value_name = "FILE",
        num_args = 0..=1,
        require_equals = true,
        value_parser = super::profile::check,
        conflicts_with_all = ["check_grad", "eager_grad", "dataflow"]
    )]
    pub profile: Option<Option<String>>,

    /// Print execution statistics as JSON, to standard output with --output, else to standard error
    #[arg(long)]
    pub stats: bool,

    /// Compare gradients with finite differences and with forward mode, in f64
    ///
    /// The check runs on a copy of the program, with calls inlined. The step size adapts to the program, and the error of
    /// the differences is estimated. A gradient is `ok` or `WRONG`, or the comparison is `inconclusive`, for example at a
    /// kink. Inputs of more than 2048 elements are compared along random directions and in a sample of their elements;
    /// `--check-grad=full` compares every element.
    #[arg(
        long,
        value_name = "HOW",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "sample",
        conflicts_with_all = ["output", "stats"]
    )]
    pub check_grad: Option<CheckGrad>,

    /// Also compute gradients, with the eager engine, from a trace of the run
    ///
    /// The results have the same names as those of `pir-opt --pass=backward`, also for functions: `NAME_grad` for every
    /// float input without `stop_gradient`. The implementation is independent of that pass.
    #[arg(long, conflicts_with_all = ["check_grad", "stats"])]
    pub eager_grad: bool,

    /// Run the program as a dataflow graph, on this many devices
    ///
    /// Without a number, a program of `df.graph`s runs on the devices that the graphs name. A structured program is
    /// first converted with the pass `lower-to-dataflow` and, for more than one device, split with `partition`. Each
    /// device is a thread. A deadlock is reported with the waiting nodes and what they wait for.
    #[arg(
        long,
        value_name = "DEVICES",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "1",
        value_parser = clap::value_parser!(u32).range(1..=64),
        conflicts_with_all = ["check_grad", "eager_grad"]
    )]
    pub dataflow: Option<u32>,

    /// Execute ready nodes in a pseudo-random order; the same seed gives the same schedule
    ///
    /// The devices run interleaved in one thread, also in a pseudo-random order.
    #[arg(long, value_name = "N", requires = "dataflow")]
    pub schedule_seed: Option<u64>,

    /// Write an execution trace by device and iteration, in the format of chrome://tracing and Perfetto
    #[arg(long, value_name = "FILE.json", requires = "dataflow")]
    pub trace: Option<String>,

    /// The maximum relative error that --check-grad accepts
    #[arg(long, value_name = "ERROR", default_value_t = 1e-6, requires = "check_grad")]
    pub tolerance: f64,

    #[command(flatten)]
    #[allow(missing_docs)]
    pub common: Common,
}

/// The treatment of subnormal numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Denormals {
    /// Replace subnormal numbers with zeros of the same sign
    Flush,
    /// Keep subnormal numbers
    Keep,
}

/// Which elements are compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum CheckGrad {
    /// Random directions, and a sample of the elements, of inputs with many elements
    Sample,
    /// Every element of every input
    Full,
}

fn parse_input(text: &str) -> Result<(String, Value), String> {
    let (name, value) = text
        .split_once('=')
        .ok_or("expected NAME=VALUE, for example `x=ones` or `x=[1, 2]`")?;
    let name = name.trim();
    if name.is_empty() {
        return Err("expected a name before `=`".to_owned());
    }
    let value = Value::parse(value).map_err(|error| match error.at {
        0 => error.to_string(),
        at => format!("{error}, at `{}`", excerpt(&value[at.min(value.len())..])),
    })?;
    Ok((name.to_owned(), value))
}

/// The beginning of a text, for messages.
fn excerpt(text: &str) -> String {
    if text.is_empty() {
        return "the end".to_owned();
    }
    text.chars().take(20).collect()
}
