//! The work of every pass grows linearly: counted in steps of debug builds, so that it does not depend on the machine.

#![allow(clippy::unwrap_used, reason = "in tests a panic is a failure")]

#[path = "../benches/programs/mod.rs"]
mod programs;
#[path = "common/size.rs"]
mod size;

use std::sync::Arc;

use pir_ir::text::{ParseOptions, locate, parse};
use pir_ir::{Context, Module};
use pir_passes::{PassManager, PassRegistry, Pipeline, VerifyEach};
use pir_tools::evaluate::KernelEvaluator;
use programs::{
    arguments, attributes, branches, call_chain, cases, constants, failing_calls, functions, list, nest, pipeline_for,
    regions, row, stacks, unknown, weights, wide,
};

/// A way to write a program of a size, and the smallest of the sizes: the larger ones are twice and four times as large.
type Kind = (&'static str, fn(usize) -> String, usize);

const KINDS: [Kind; 13] = [
    ("loops in a row", row, 12),
    ("carried values", wide, 100),
    ("nested loops", nest, 40),
    ("functions", functions, 12),
    ("arguments", arguments, 100),
    ("nested branches", branches, 40),
    ("stacks", stacks, 100),
    ("constants", constants, 400),
    ("regions of one operation", regions, 60),
    ("nested unknown operations", unknown, 100),
    ("a chain of calls", call_chain, 40),
    ("one list of all values", list, 200),
    ("weights of a loop", weights, 50),
];

/// Programs that are only read, and found to be wrong.
const READ: [Kind; 4] = [
    ("cases", cases, 60),
    ("regions of one operation", regions, 60),
    ("unknown attributes", attributes, 1000),
    ("failing calls", failing_calls, 400),
];

/// A part of the work may grow a little faster, like what is sorted.
const MOST: f64 = 2.15;

fn read(ctx: &Arc<Context>, text: &str) -> Module {
    let parsed = parse(
        ctx,
        text.as_bytes(),
        &ParseOptions {
            allow_unregistered: true,
        },
    );
    assert!(parsed.diagnostics.is_empty(), "{:#?}", parsed.diagnostics.first());
    parsed.module
}

fn run(module: &mut Module, pipeline: &str) -> Option<()> {
    let evaluator = KernelEvaluator;
    let mut manager = PassManager::new();
    manager.verify_each(VerifyEach::Never).set_evaluator(&evaluator);
    manager.run(module, &Pipeline::parse(pipeline).unwrap()).ok().map(drop)
}

/// The steps that a pipeline takes on a program of a size; nothing when it refuses the program.
fn steps(ctx: &Arc<Context>, write: fn(usize) -> String, size: usize, before: &str, pipeline: &str) -> Option<f64> {
    let mut module = read(ctx, &write(size));
    run(&mut module, before)?;
    let start = pir_ir::steps()?;
    run(&mut module, pipeline)?;
    Some((pir_ir::steps()? - start) as f64)
}

/// By how much more the work grows from the second to the third of three sizes than from the first to the second: two
/// when it is linear, whatever it takes beside.
fn growth(ctx: &Arc<Context>, (_, write, size): Kind, before: &str, pipeline: &str) -> Option<f64> {
    let [few, some, many] = [1, 2, 4].map(|times| steps(ctx, write, size * times, before, pipeline));
    Some((many? - some?) / (some? - few?).max(1.0))
}

/// The known cases; the text states the reason.
fn is_known(before: &str, pipeline: &str, kind: &str) -> bool {
    // The adjoint of the adjoint carries the gradient of what is computed in front of the outermost loop through all of
    // them, for each loop: the program itself grows like that. With `cse` before it does not.
    let twice = before.is_empty() && pipeline == "backward,backward" && kind == "nested loops";
    // A buffer of an inner loop or branch is carried by all loops and branches around it, so that the program itself is
    // quadratic in the depth. Where loops may be run again (`overflow=remat`), the work for nested ones is cubic. Likewise each
    // region of an operation yields the buffers of all others.
    let buffers =
        pipeline == "lower-stacks{bound=4}" && (kind.starts_with("nested") || kind == "regions of one operation");
    twice || buffers
}

#[test]
fn the_work_of_every_pass_is_linear() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    // What other threads do is not counted.
    let failures = pool.install(|| {
        let ctx = pir_dialects::context();
        let mut pipelines: Vec<(&str, String)> = PassRegistry::standard()
            .iter()
            .filter(|pass| !pass.name().starts_with("debug-") && pass.name() != "view-graph")
            .map(|pass| pipeline_for(pass.name()))
            .collect();
        pipelines.push(("", "backward,backward".to_owned()));
        pipelines.push(("cse", "backward,backward".to_owned()));
        let mut failures = Vec::new();
        // Below the full size, each pipeline is tried on some kinds, and each kind with some pipelines.
        let stride = if size::percent() < 100 { 4 } else { 1 };
        for (at, (before, pipeline)) in pipelines.iter().enumerate() {
            for kind in KINDS.iter().copied().skip(at % stride).step_by(stride) {
                let known = is_known(before, pipeline, kind.0);
                if let Some(ratio) = growth(&ctx, kind, before, pipeline).filter(|&ratio| ratio > MOST && !known) {
                    failures.push(format!("{pipeline} on {}: {ratio:.2}", kind.0));
                }
            }
        }
        failures
    });
    assert!(
        failures.is_empty(),
        "these grow faster than the program:\n{}",
        failures.join("\n")
    );
}

#[test]
fn the_work_of_reading_and_of_errors_is_linear() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let failures: Vec<String> = pool.install(|| {
        let growth = READ.into_iter().filter_map(|(kind, write, size)| {
            let [few, some, many] = [1, 2, 4].map(|times| {
                // What one context has read before, it does not read again.
                let ctx = pir_dialects::context();
                let (text, start) = (write(size * times), pir_ir::steps());
                let mut parsed = parse(&ctx, text.as_bytes(), &ParseOptions::default());
                parsed.diagnostics.extend(pir_ir::verify::verify(&parsed.module));
                locate(text.as_bytes(), &mut parsed.diagnostics);
                Some((pir_ir::steps()? - start?) as f64)
            });
            let ratio = (many? - some?) / (some? - few?).max(1.0);
            (ratio > MOST).then(|| format!("{kind}: {ratio:.2}"))
        });
        growth.collect()
    });
    assert!(
        failures.is_empty(),
        "these grow faster than the program:\n{}",
        failures.join("\n")
    );
}
