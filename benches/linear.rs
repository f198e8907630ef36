//! How the time of every pass grows with the program.
//!
//! `tools/bench/linear` prints a table: for each registered pass and each kind of program, the time for one that is 1,000
//! times as large over the time for the small one.

mod programs;

use std::sync::Arc;
use std::time::{Duration, Instant};

use pir_ir::text::{ParseOptions, parse};
use pir_ir::{Context, Module};
use pir_passes::{PassManager, PassRegistry, Pipeline, VerifyEach};
use pir_tools::evaluate::KernelEvaluator;
use programs::{nest, pipeline_for, row, wide};

/// A way to write a program of a size.
type Write1 = fn(usize) -> String;

/// Kinds of programs, with the size of the small one.
const KINDS: [(&str, Write1, usize); 3] = [
    ("loops in a row", row, 5),
    ("carried values", wide, 10),
    ("nested loops", nest, 5),
];
const FACTOR: usize = 1000;

fn read(ctx: &Arc<Context>, text: &str) -> Module {
    let parsed = parse(ctx, text.as_bytes(), &ParseOptions::default());
    assert!(parsed.diagnostics.is_empty(), "{:#?}", parsed.diagnostics.first());
    parsed.module
}

/// The CPU time of this thread, where the system provides it; on a busy machine, wall-clock time is unreliable. It is
/// exact to a few milliseconds.
fn now() -> Duration {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    match stat.and_then(|s| s.split_whitespace().next()?.parse().ok()) {
        Some(nanoseconds) => Duration::from_nanos(nanoseconds),
        None => START.get_or_init(Instant::now).elapsed(),
    }
}

/// The time that something takes, by doing it many times.
fn cost(mut f: impl FnMut()) -> Duration {
    let start = now();
    let (mut count, mut batch) = (0, 1);
    loop {
        (0..batch).for_each(|_| f());
        count += batch;
        batch *= 2;
        let time = now().saturating_sub(start);
        if time >= Duration::from_millis(150) {
            return time / count;
        }
    }
}

fn run(module: &mut Module, pipeline: &Pipeline) {
    let evaluator = KernelEvaluator;
    let mut manager = PassManager::new();
    manager.verify_each(VerifyEach::Never).set_evaluator(&evaluator);
    let result = manager.run(module, pipeline);
    assert!(result.is_ok(), "{pipeline}: {:#?}", result.err());
}

/// The time that a pipeline takes on a program.
fn measure(module: &Module, pipeline: &Pipeline) -> Duration {
    let both = cost(|| run(&mut module.clone(), pipeline));
    let copying = cost(|| drop(std::hint::black_box(module.clone())));
    both.saturating_sub(copying).max(Duration::from_nanos(1))
}

fn main() {
    // `cargo test` runs benches too, without this.
    if !std::env::args().any(|a| a == "--bench") {
        return;
    }
    let only: Option<String> = std::env::args().skip(1).find(|a| !a.starts_with("--"));
    let titles: Vec<&str> = KINDS.iter().map(|(title, ..)| *title).collect();
    println!("| pass | {} |\n|---{}|", titles.join(" | "), "|---".repeat(KINDS.len()));
    let ctx = pir_dialects::context();
    let inputs: Vec<[Module; 2]> = KINDS
        .iter()
        .map(|(_, write, size)| [read(&ctx, &write(*size)), read(&ctx, &write(size * FACTOR))])
        .collect();
    for pass in PassRegistry::standard().iter() {
        let name = pass.name();
        if pass.is_preset() || only.as_ref().is_some_and(|o| o != name) {
            continue;
        }
        let (before, pipeline) = pipeline_for(name);
        let (Ok(before), Ok(pipeline)) = (Pipeline::parse(before), Pipeline::parse(&pipeline)) else {
            continue;
        };
        print!("| `{pipeline}` |");
        for [small, large] in &inputs {
            let prepared = |module: &Module| {
                let mut module = module.clone();
                run(&mut module, &before);
                module
            };
            let few = measure(&prepared(small), &pipeline);
            let many = measure(&prepared(large), &pipeline);
            print!(" {:.0} |", many.as_secs_f64() / few.as_secs_f64());
        }
        println!();
    }
}
