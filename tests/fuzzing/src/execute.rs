//! Programs through passes, and run.

use std::fmt::Write;

use pir_interp::{ExecError, InputSpec, Options, Tensor, inputs_of};
use pir_ir::text::{PrintOptions, print};
use pir_ir::{Context, Module};
use pir_passes::{PASS_CRASH, PassManager, Pipeline};
use pir_tools::evaluate::KernelEvaluator;

use crate::random::Random;
use crate::targets::{context, read, round_trip};

/// Steps of a run.
const STEPS: u64 = 3000;
/// Bytes of the tensors of a run, and of one.
const MEMORY: u64 = 8 << 20;
const TENSOR: usize = 1 << 20;

/// Passes after which a program does something else, or more.
const CHANGING: &[&str] = &[
    "backward",
    "stack-locals",
    "build-backward",
    "prune-stacks",
    "decompose",
    "strip-backward",
    "jvp",
    "training",
    "inference",
    // Sums are formed in another order.
    "batch-weight-grads",
    // Graphs of dataflow are for another executor.
    "lower-to-dataflow",
    "place",
    "partition",
];

/// Passes with other options than the default ones.
const VARIANTS: &[&str] = &[
    "licm{branches=false}",
    "unroll{factor=2}",
    "unroll{max-ops=30}",
    "peel{first=true last=true}",
    "canonicalize{max-steps=10}",
    "remat{recompute=all}",
    "outline{min-size=1}",
    "backward,strip-backward",
];

/// The pipeline of an input: what its first line says behind `//!`, or one that follows from its bytes.
fn pipeline_of(bytes: &[u8]) -> String {
    let first = bytes.split(|&b| b == b'\n').next().unwrap_or_default();
    if let Some(said) = first.strip_prefix(b"//!") {
        return String::from_utf8_lossy(said).trim().to_owned();
    }
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325u64, |h, &b| {
        (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3)
    });
    let mut random = Random::new(hash);
    let names = pir_passes::all_passes().iter().map(|pass| pass.name());
    // It would draw every program on the terminal.
    let names = names.filter(|&name| name != "view-graph");
    let all: Vec<&str> = names.chain(VARIANTS.iter().copied()).collect();
    let count = 1 + random.below(4);
    let chosen: Vec<&str> = (0..count).filter_map(|_| random.pick(&all).copied()).collect();
    chosen.join(",")
}

fn changes(pipeline: &Pipeline) -> bool {
    pipeline.invocations.iter().any(|i| CHANGING.contains(&i.pass.name()))
}

/// Something for an input of a program: small numbers, positive and negative.
fn value(ctx: &Context, spec: &InputSpec) -> Option<Tensor> {
    let (dims, elem) = ctx.as_tensor(spec.ty).unwrap_or((&[], spec.ty));
    let dims: Vec<usize> = dims
        .iter()
        .map(|&d| if d < 0 { Some(2) } else { usize::try_from(d).ok() })
        .collect::<Option<_>>()?;
    let dtype = pir_interp::kernels::dtype_of(ctx, elem)?;
    let count = dims.iter().try_fold(1usize, |n, &d| n.checked_mul(d))?;
    if count > TENSOR / 8 {
        return None;
    }
    let numbers: Vec<f64> = (0..count)
        .map(|i| (i % 7) as f64 - 2.0 + 0.25 * (i % 3) as f64)
        .collect();
    Tensor::new(&dims, numbers).ok().map(|t| t.cast(dtype))
}

struct Shown {
    fetched: Vec<(String, Tensor)>,
    printed: String,
}

fn run(module: &Module, steps: u64) -> Result<Shown, ExecError> {
    let inputs = inputs_of(module, None)?;
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
    let outcome = pir_interp::run(module, &options, &mut printed)?;
    let results = outcome.results.into_iter().map(|t| (String::new(), t));
    Ok(Shown {
        fetched: outcome.fetched.into_iter().chain(results).collect(),
        printed: String::from_utf8_lossy(&printed).into_owned(),
    })
}

fn is_limit(error: &ExecError) -> bool {
    let message = &error.message;
    message.contains("limit") || message.contains("steps") || message.contains("calls are under way")
}

fn same(a: &Shown, b: &Shown) -> bool {
    let pairs = a.fetched.iter().zip(&b.fetched);
    a.printed == b.printed
        && a.fetched.len() == b.fetched.len()
        && pairs.into_iter().all(|(x, y)| x.0 == y.0 && x.1.same_bits(&y.1))
}

/// Reads a program, runs a pipeline that follows from its bytes, and executes it before and after, with limits.
pub fn execute(bytes: &[u8]) {
    pir_interp::tensor::set_max_bytes(TENSOR);
    let Ok(pipeline) = Pipeline::parse(&pipeline_of(bytes)) else {
        return;
    };
    let ctx = context();
    let Some(module) = read(&ctx, bytes, false) else { return };
    let before = run(&module, STEPS);
    let mut after = module.clone();
    let evaluator = KernelEvaluator::default();
    let mut manager = PassManager::new();
    manager.set_evaluator(&evaluator);
    let text = |m: &Module| print(m, &PrintOptions::default());
    if let Err(errors) = manager.run(&mut after, &pipeline) {
        for error in &errors {
            let fault = error.code == PASS_CRASH || error.notes.iter().any(|n| n.contains("an error of the pass"));
            assert!(!fault, "{pipeline}: {error:#?}\n{}", text(&module));
        }
        return;
    }
    round_trip(&ctx, &after, false);
    let shown = run(&after, STEPS * 10);
    let Ok(before) = before else { return };
    if changes(&pipeline) {
        return;
    }
    match shown {
        Ok(shown) if same(&before, &shown) => {}
        Err(error) if is_limit(&error) => {}
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
                text(&module),
                text(&after)
            );
        }
    }
}
