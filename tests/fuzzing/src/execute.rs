//! Programs through passes, and run.

use std::fmt::Write;
use std::sync::Arc;

use pir_interp::dataflow::{self, Schedule};
use pir_interp::{ExecError, InputSpec, Options, Tensor};
use pir_ir::text::{PrintOptions, print};
use pir_ir::{Context, Module};
use pir_passes::{PASS_CRASH, PassManager, Pipeline};
use pir_tools::evaluate::KernelEvaluator;

use crate::generate::{self, bindings};
use crate::pipelines;
use crate::targets::{context, read, round_trip};

/// Steps of a run.
const STEPS: u64 = 3000;
/// Bytes of the tensors of a run, and of one.
const MEMORY: u64 = 8 << 20;
const TENSOR: usize = 1 << 20;
/// Passes may enlarge programs; longer texts are not worth checking further.
const LONG: usize = 1 << 20;

/// Passes after which a program does more. What it did before it still does.
const ADDING: &[&str] = &[
    "backward",
    "stack-locals",
    "build-backward",
    "prune-stacks",
    "strip-backward",
    "jvp",
    "training",
    "inference",
];

/// Passes after which a program computes the same in another order, with other operations, or as a function.
const ROUNDING: &[&str] = &[
    "decompose",
    "batch-weight-grads",
    "unbatch-weight-grads",
    "training",
    "inference",
    "pd-to-stablehlo",
    "jax-vjp",
];

/// What a pipeline may do to what a program shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Keeps {
    All,
    What,
    Nothing,
}

fn keeps(pipeline: &Pipeline) -> Keeps {
    let has = |names: &[&str]| pipeline.invocations.iter().any(|i| names.contains(&i.pass.name()));
    // What is to be kept may be nothing.
    let dropped = pipeline
        .invocations
        .iter()
        .any(|i| i.pass.name() == "symbol-dce" && i.options.is_given("keep"));
    match (has(ROUNDING) || dropped, has(ADDING)) {
        (true, _) => Keeps::Nothing,
        (_, true) => Keeps::What,
        _ => Keeps::All,
    }
}

/// The pipeline of an input: the text after `//!` in its first line, or one that follows from its bytes.
fn pipeline_of(bytes: &[u8]) -> String {
    let first = bytes.split(|&b| b == b'\n').next().unwrap_or_default();
    if let Some(said) = first.strip_prefix(b"//!") {
        return String::from_utf8_lossy(said).trim().to_owned();
    }
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325u64, |h, &b| {
        (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3)
    });
    pipelines::pipeline(&mut generate::Random::new(hash))
}

/// Something for an input of a program: what generated programs want by that name, or small numbers, positive and negative.
fn value(ctx: &Context, spec: &InputSpec) -> Option<Tensor> {
    let (dims, elem) = ctx.as_tensor(spec.ty).unwrap_or((&[], spec.ty));
    let dims: Vec<usize> = dims
        .iter()
        .map(|&d| if d < 0 { Some(2) } else { usize::try_from(d).ok() })
        .collect::<Option<_>>()?;
    let dtype = pir_interp::kernels::dtype_of(ctx, elem)?;
    if let Some(bound) = bindings().inputs.remove(&spec.name)
        && bound.shape() == dims
        && bound.dtype() == dtype
    {
        return Some(bound);
    }
    let count = dims.iter().try_fold(1usize, |n, &d| n.checked_mul(d))?;
    if count > TENSOR / 8 {
        return None;
    }
    let numbers: Vec<f64> = (0..count)
        .map(|i| (i % 7) as f64 - 2.0 + 0.25 * (i % 3) as f64)
        .collect();
    Tensor::new(&dims, numbers).ok()?.cast(dtype).ok()
}

struct Shown {
    fetched: Vec<(String, Tensor)>,
    printed: String,
    graph: bool,
}

/// Runs a program, or a graph of dataflow in an order that follows from the seed.
fn run(module: &Module, steps: u64, seed: Option<u64>) -> Result<Shown, ExecError> {
    let graph = dataflow::has_graph(module, None);
    let inputs = match graph {
        true => dataflow::inputs_of(module, None)?,
        false => pir_interp::inputs_of(module, None)?,
    };
    let inputs = inputs
        .into_iter()
        .filter_map(|spec| Some((spec.name.clone(), value(&module.ctx, &spec)?)));
    let options = Options {
        inputs: inputs.collect(),
        max_steps: Some(steps),
        max_memory: Some(MEMORY),
        ..Options::default()
    };
    let mut printed = Vec::new();
    let fetched = if graph {
        let schedule = Schedule {
            seed,
            ..Schedule::default()
        };
        dataflow::run(module, &options, &schedule, &mut printed)?.fetched
    } else {
        let outcome = pir_interp::run(module, &options, &mut printed)?;
        let results = outcome.results.into_iter().enumerate();
        let results = results.map(|(at, result)| (format!("result {at}"), result));
        outcome.fetched.into_iter().chain(results).collect()
    };
    Ok(Shown {
        fetched,
        printed: String::from_utf8_lossy(&printed).into_owned(),
        graph,
    })
}

fn is_limit(error: &ExecError) -> bool {
    let message = &error.message;
    message.contains("limit") || message.contains("steps") || message.contains("calls are active")
}

/// What two runs fetched, so that it can be compared.
type Fetched<'s> = Vec<&'s (String, Tensor)>;

fn fetched<'s>(of: &'s Shown, other: &'s Shown, keeps: Keeps) -> Fetched<'s> {
    let mut all: Fetched<'s> = of.fetched.iter().collect();
    if keeps == Keeps::What {
        all.retain(|(name, _)| other.fetched.iter().any(|(n, _)| n == name));
    }
    // Graphs fetch in the order in which values come.
    if of.graph || other.graph {
        all.sort_by(|a, b| a.0.cmp(&b.0));
    }
    all
}

fn same(a: &Shown, b: &Shown, keeps: Keeps) -> bool {
    let (x, y) = (fetched(a, b, keeps), fetched(b, a, keeps));
    a.printed == b.printed && x.len() == y.len() && x.iter().zip(&y).all(|(x, y)| x.0 == y.0 && x.1.same_bits(&y.1))
}

/// Runs a pipeline on a program, and the program before and after it.
fn check(ctx: &Arc<Context>, module: &Module, pipeline: &Pipeline) {
    let before = run(module, STEPS, None);
    let mut after = module.clone();
    let evaluator = KernelEvaluator;
    let mut manager = PassManager::new();
    manager.set_evaluator(&evaluator);
    let text = |m: &Module| print(m, &PrintOptions::default());
    if let Err(errors) = manager.run(&mut after, pipeline) {
        for error in &errors {
            let fault = error.code == PASS_CRASH || error.notes.iter().any(|n| n.contains("a bug in the pass"));
            assert!(!fault, "{pipeline}: {error:#?}\n{}", text(module));
        }
        return;
    }
    if text(&after).len() > LONG {
        return;
    }
    round_trip(ctx, &after, false);
    let keeps = keeps(pipeline);
    for seed in [None, Some(1)] {
        let shown = run(&after, STEPS * 10, seed);
        let Ok(before) = &before else { return };
        match shown {
            _ if keeps == Keeps::Nothing => (),
            Ok(shown) if same(before, &shown, keeps) => {
                if !shown.graph {
                    return;
                }
            }
            Err(error) if is_limit(&error) => (),
            other => {
                let mut said = String::new();
                let _ = match other {
                    Ok(shown) => write!(
                        said,
                        "{:?}\nbecame\n{:?}\n{}\n{}",
                        before.fetched, shown.fetched, before.printed, shown.printed
                    ),
                    Err(error) => write!(said, "fails: {error:?}"),
                };
                panic!(
                    "{pipeline} changes what a program does\n{}\nbecame\n{}\n{said}",
                    text(module),
                    text(&after)
                );
            }
        }
    }
}

/// Reads a program, runs a pipeline that follows from its bytes, and executes it before and after, with limits.
pub fn execute(bytes: &[u8]) {
    pir_interp::tensor::set_max_bytes(TENSOR);
    let Ok(pipeline) = Pipeline::parse(&pipeline_of(bytes)) else {
        return;
    };
    let ctx = context();
    if let Some(module) = read(&ctx, bytes, false) {
        check(&ctx, &module, &pipeline);
    }
}

/// The number of bytes of an input that select the pipeline.
const OF_PIPELINE: usize = 24;

/// Makes a program and a pipeline of the bytes, and executes the program before and after.
pub fn generated(bytes: &[u8]) {
    pir_interp::tensor::set_max_bytes(TENSOR);
    let (&kind, rest) = bytes.split_first().unwrap_or((&0, &[]));
    let (first, second) = rest.split_at(rest.len().min(OF_PIPELINE));
    let mut random = generate::Random::of(second);
    let program = match kind % 6 {
        0 => generate::program(&mut random, true),
        1 => generate::program(&mut random, false),
        2 => generate::functions(&mut random),
        3 => generate::blocks(&mut random),
        4 => generate::graph(&mut random),
        _ => generate::sized(&mut random, true, 12, 4),
    };
    let wanted = pipelines::pipeline(&mut generate::Random::of(first));
    let ctx = context();
    let Some(module) = read(&ctx, program.as_bytes(), false) else {
        panic!("a program that is made is wrong\n{program}")
    };
    match Pipeline::parse(&wanted) {
        Ok(pipeline) => check(&ctx, &module, &pipeline),
        // Some options restrict their values further.
        Err(errors) => assert!(!errors.is_empty(), "{wanted} is refused without a reason"),
    }
}
