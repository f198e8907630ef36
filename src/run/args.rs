//! The command line of `pir-run`.

use clap::{Parser, ValueEnum};

use super::value::Value;
use crate::cli::Common;
use crate::translate::From;

const LONG_ABOUT: &str = "\
Runs a program: text, or one that PaddlePaddle saved.

Inputs (`pd.data`, `pd.parameter`) are bound by their names, the arguments of a function by name or position. Values come \
from the command line and from files; the command line takes precedence. Results are printed, or written to a file.";

const EXAMPLES: &str = "\
Values:
  0.5, true       this number for every element
  [[1, 2], [3, 4]]
                  the elements, as lists of the declared shape
  ones, zeros     the same as 1 and 0
  rand            pseudo-random numbers that depend on --seed and the name only: floats from -1
                  to 1, integers from 0 to 9

Examples:
  Run a program on given values
      pir-run x.pir --input x=rand --input 'n=[3]'
  On values from a file, with results in another
      pir-run model.json --inputs data.npz --inputs weights.safetensors --output results.npz
  Differentiate, then run
      pir-opt --pass=backward x.pir | pir-run - --input x=ones
  Differentiate while running, to compare with that
      pir-run --eager-grad x.pir --input x=ones
  Run on two devices, and see how iterations overlap
      pir-run --dataflow=2 --trace trace.json x.pir --input x=ones
  Compare derivatives with finite differences
      pir-run --check-grad x.pir --input x=rand

Exit status:
  0   success
  1   the program or its inputs are wrong, execution failed, or a derivative is wrong
  2   the command line is wrong, or a derivative check is inconclusive
  70  an internal error of pir-run";

/// The command line.
#[derive(Parser, Debug)]
#[command(
    name = "pir-run",
    version,
    about = "Run programs with loops and branches, and check their derivatives",
    long_about = LONG_ABOUT,
    after_long_help = EXAMPLES,
    after_help = "`--help` gives details and examples."
)]
pub struct Args {
    /// The program; `-` or nothing reads standard input
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

    /// Bind inputs to the arrays of this file, by name; may be given several times
    ///
    /// The parameters of a program that PaddlePaddle saved, in a file `.pdiparams`, have no names: they are bound to
    /// the program's in the order of those.
    #[arg(long, value_name = "FILE.npz|FILE.safetensors|FILE.pdiparams")]
    pub inputs: Vec<String>,

    /// Bind an input to a value; may be given several times
    ///
    /// A value is a number, a list like `[[1, 2], [3, 4]]`, `rand`, `ones` or `zeros`.
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse_input)]
    pub input: Vec<(String, Value)>,

    /// The seed of random values
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,

    /// Stop with an error after this many executed operations; default: no limit
    #[arg(long, value_name = "N")]
    pub max_steps: Option<u64>,

    /// How to treat subnormal numbers (below 1.2e-38 in f32, 2.3e-308 in f64), which slow down arithmetic
    ///
    /// `flush`: among the inputs and the results of every operation, those of f32 and f64 become zeros of the same sign,
    /// as in training with other frameworks. `keep`: results are those of IEEE arithmetic. --check-grad and
    /// --eager-grad always keep them.
    #[arg(
        long,
        value_enum,
        value_name = "HOW",
        default_value = "flush",
        hide_short_help = true
    )]
    pub denormals: Denormals,

    /// The number of threads that large kernels share; default: one for each hardware thread
    ///
    /// The results do not depend on it.
    #[arg(
        long,
        env = "PIR_THREADS",
        hide_env_values = true,
        value_name = "N",
        value_parser = clap::value_parser!(u16).range(1..),
        hide_short_help = true
    )]
    pub threads: Option<u16>,

    /// Run this function; default: the top level, the only function, or `main`
    #[arg(long, visible_alias = "entry", value_name = "NAME")]
    pub function: Option<String>,

    /// Hand the program and its inputs to an engine that is installed: xla, iree, tensorflow or paddle
    ///
    /// The program is written for it, and run by the Python that the environment variable `PIR_PYTHON` names, or
    /// `python3`. `xla` needs jax, `iree` needs iree-base-compiler and iree-base-runtime, `tensorflow` and `paddle` the
    /// packages of these names. With `,check` the program is run here too; a difference that rounding does not explain is
    /// an error.
    #[arg(
        long,
        value_name = "ENGINE[,check]",
        value_parser = super::engine::parse,
        conflicts_with_all = ["check_grad", "eager_grad", "dataflow", "stats", "profile", "timing", "function"]
    )]
    pub engine: Option<super::engine::Chosen>,

    /// Write the results to this file, under the names of the fetches or `out:NUMBER`
    #[arg(short, long, value_name = "FILE.npz")]
    pub output: Option<String>,

    /// Report how long reading the program and its inputs, compiling it and running it took, on standard error
    #[arg(long, conflicts_with_all = ["check_grad", "eager_grad", "dataflow"])]
    pub timing: bool,

    /// Report where the time of the run went, by operation and loop: as a table on standard error, or in a file
    ///
    /// The end of the file's name is the format: `.txt` a table, `.json`, `.folded` stacks for flame graph tools, `.svg` a
    /// flame graph. Times are those of kernels; operations are measured one by one, so none are fused. Additions and
    /// multiplications are counted in products and convolutions, and compared with what a large product reaches here.
    #[arg(
        long,
        value_name = "FILE",
        num_args = 0..=1,
        require_equals = true,
        value_parser = super::profile::check,
        conflicts_with_all = ["check_grad", "eager_grad", "dataflow"]
    )]
    pub profile: Option<Option<String>>,

    /// Print execution statistics as JSON: to standard output with --output, else to standard error
    #[arg(long)]
    pub stats: bool,

    /// Differentiate a copy of the program and compare with finite differences and with forward mode, all in f64
    ///
    /// The step size adapts to the program, and the error is estimated: a gradient is `ok`, `WRONG`, or the comparison
    /// is `inconclusive`, as at a kink. An input of more than 2048 elements is compared along random directions and in
    /// some of its elements; `--check-grad=full` compares all. Calls are inlined.
    #[arg(
        long,
        value_name = "HOW",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "sample",
        conflicts_with_all = ["output", "stats"]
    )]
    pub check_grad: Option<CheckGrad>,

    /// Add the gradients of the outputs, computed by the eager engine from a trace of the run
    ///
    /// The results are those of the program that `pir-opt --pass=backward` makes, also for functions: `NAME_grad` for
    /// every float input without `stop_gradient`. The implementation is independent of that pass.
    #[arg(long, conflicts_with_all = ["check_grad", "stats"])]
    pub eager_grad: bool,

    /// Run the program as a dataflow graph, on this many devices
    ///
    /// Without a number, a program of graphs (`df.graph`) runs on the devices that it is for. A structured program is
    /// first converted to a graph by the pass `lower-to-dataflow` and, with more than one device, split by `partition`.
    /// Devices are threads. A deadlock is reported: which nodes wait, and for what.
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

    /// Pick the next node at random among the ready ones; the same number gives the same schedule
    ///
    /// Devices take turns, at random as well, instead of running as threads.
    #[arg(long, value_name = "N", requires = "dataflow")]
    pub schedule_seed: Option<u64>,

    /// Write an execution trace by device and iteration, in the format of chrome://tracing and Perfetto
    #[arg(long, value_name = "FILE.json", requires = "dataflow")]
    pub trace: Option<String>,

    /// The largest relative error that --check-grad accepts
    #[arg(long, value_name = "ERROR", default_value_t = 1e-6, requires = "check_grad")]
    pub tolerance: f64,

    #[command(flatten)]
    #[allow(missing_docs)]
    pub common: Common,
}

/// What becomes of subnormal numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Denormals {
    /// Replace them with zeros of the same sign
    Flush,
    /// Keep them
    Keep,
}

/// Which elements are compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum CheckGrad {
    /// Random directions in inputs with many elements
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
