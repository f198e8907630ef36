//! Programs as graphs of dataflow: lowered, run under several schedules, and raised again.
//!
//! `PIR_PROGRAMS=1000 cargo test --release --test lowering` looks at more of them.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "in tests a panic is a failure")]

#[path = "equivalence/generate.rs"]
#[allow(dead_code, reason = "a part of it is used")]
mod generate;
#[path = "common/size.rs"]
mod size;

use std::fmt::Write;

use pir_interp::Tensor;
use pir_interp::dataflow::{self, Schedule};
use pir_ir::text::{ParseOptions, PrintOptions, parse, print};
use pir_ir::verify::verify;
use pir_ir::{Diagnostic, Module};
use pir_passes::{PassManager, Pipeline};

use generate::{Random, bindings, program};

fn read(text: &str) -> Module {
    let parsed = parse(&pir_dialects::context(), text.as_bytes(), &ParseOptions::default());
    assert!(parsed.diagnostics.is_empty(), "{text}\n{:#?}", parsed.diagnostics);
    let errors = verify(&parsed.module);
    assert!(errors.is_empty(), "{text}\n{errors:#?}");
    parsed.module
}

fn text(module: &Module) -> String {
    print(module, &PrintOptions::default())
}

fn after(module: &Module, pipeline: &str) -> Result<Module, Vec<Diagnostic>> {
    let mut copy = module.clone();
    let parsed = Pipeline::parse(pipeline).expect("the pipeline is right");
    PassManager::new().run(&mut copy, &parsed)?;
    Ok(copy)
}

#[track_caller]
fn must(module: &Module, pipeline: &str) -> Module {
    after(module, pipeline).unwrap_or_else(|errors| {
        let messages: Vec<&str> = errors.iter().map(|e| &*e.message).collect();
        panic!("{pipeline}: {messages:#?}\n{}", text(module))
    })
}

/// What a program fetches, by name, and prints.
type Shown = (Vec<(String, Tensor)>, String);

fn shown(fetched: Vec<(String, Tensor)>, printed: Vec<u8>) -> Shown {
    let mut fetched = fetched;
    fetched.sort_by(|a, b| a.0.cmp(&b.0));
    (fetched, String::from_utf8_lossy(&printed).into_owned())
}

fn run(module: &Module) -> Option<Shown> {
    let mut printed = Vec::new();
    let outcome = pir_interp::run(module, &bindings(), &mut printed).ok()?;
    Some(shown(outcome.fetched, printed))
}

#[track_caller]
fn run_graph(module: &Module, schedule: &Schedule, what: &str) -> Shown {
    let mut printed = Vec::new();
    let outcome = dataflow::run(module, &bindings(), schedule, &mut printed)
        .unwrap_or_else(|e| panic!("{what}: {schedule:?}: {e:#?}\n{}", text(module)));
    shown(outcome.fetched, printed)
}

#[track_caller]
fn same(a: &Shown, b: &Shown, what: &str, program: &Module, graph: &Module) {
    let values = a.0.len() == b.0.len() && a.0.iter().zip(&b.0).all(|(x, y)| x.0 == y.0 && x.1.same_bits(&y.1));
    assert!(
        values && a.1 == b.1,
        "{what}:\n{}\nbecame\n{}\n{a:?}\n{b:?}",
        text(program),
        text(graph)
    );
}

fn schedules() -> Vec<Schedule> {
    let seeded = |seed, threads| Schedule {
        seed: Some(seed),
        threads,
        ..Schedule::default()
    };
    vec![Schedule::default(), seeded(1, false), seeded(2, false), seeded(3, true)]
}

/// Lowers a program, runs the graph, raises it, and runs that.
#[track_caller]
fn check(seed: u64, module: &Module, wanted: &Shown, graph: &Module) {
    let what = format!("seed {seed}");
    for schedule in schedules() {
        same(wanted, &run_graph(graph, &schedule, &what), &what, module, graph);
    }
    let raised = must(graph, "raise-from-dataflow");
    let again = run(&raised).unwrap_or_else(|| panic!("{what}: fails when raised:\n{}", text(&raised)));
    same(wanted, &again, &what, module, &raised);
    // A raised graph can be lowered again if the program has no stacks of its own.
    if !text(&raised).contains("cf.create_stack") {
        let twice = must(&raised, "lower-to-dataflow");
        same(
            wanted,
            &run_graph(&twice, &Schedule::default(), &what),
            &what,
            module,
            &twice,
        );
        let raised_twice = must(&twice, "raise-from-dataflow");
        let (a, b) = (text(&raised), text(&raised_twice));
        let differs = a.lines().zip(b.lines()).find(|(a, b)| a != b);
        assert!(a == b, "{what}: not the same text: {differs:?}");
    }
}

fn count() -> u64 {
    size::programs(250)
}

#[test]
fn programs_with_effects() {
    let (mut ran, mut refused) = (0, 0);
    for seed in 0..count() {
        let module = read(&program(&mut Random::new(seed ^ 0xd47a), true));
        let Some(wanted) = run(&module) else { continue };
        match after(&module, "lower-to-dataflow") {
            Ok(graph) => check(seed, &module, &wanted, &graph),
            Err(errors) => {
                assert!(errors.iter().all(|e| e.code == "dataflow-stack"), "{errors:#?}");
                refused += 1;
                continue;
            }
        }
        ran += 1;
    }
    assert!(ran * 4 > count(), "{ran} of {} ran, {refused} were refused", count());
}

#[test]
fn programs_without_effects() {
    let mut ran = 0;
    for seed in 0..count() {
        let module = read(&program(&mut Random::new(seed ^ 0xf10), false));
        let Some(wanted) = run(&module) else { continue };
        check(seed, &module, &wanted, &must(&module, "lower-to-dataflow"));
        ran += 1;
    }
    assert!(ran * 2 > count(), "only {ran} of {} programs ran", count());
}

#[test]
fn programs_with_derivatives() {
    let mut ran = 0;
    for seed in 0..count() {
        let module = read(&program(&mut Random::new(seed ^ 0x6ead), false));
        let module = must(&module, "backward");
        let Some(wanted) = run(&module) else { continue };
        check(seed, &module, &wanted, &must(&module, "lower-to-dataflow"));
        ran += 1;
    }
    assert!(ran * 2 > count(), "only {ran} of {} programs ran", count());
}

/// Nested deeper than a stack could hold.
const DEEP: usize = 30_000;

#[test]
fn deep_branches() {
    let mut source = String::from("%x = pd.data {name = \"x\", shape = [4], dtype = f64} : tensor<4xf64>\n");
    source.push_str("%c = pd.data {name = \"c\", shape = [1], dtype = i1} : tensor<1xi1>\n");
    for at in 0..DEEP {
        let _ = writeln!(source, "%r{at} = pd.if (%c) then {{");
    }
    source.push_str("%t = pd.tanh (%x) : tensor<4xf64>\ncf.yield (%t)\n");
    for at in (0..DEEP).rev() {
        source.push_str("} else {\ncf.yield (%x)\n} : tensor<4xf64>\n");
        let _ = match at {
            0 => writeln!(source, "pd.fetch (%r0) {{name = \"r\"}}"),
            _ => writeln!(source, "cf.yield (%r{at})"),
        };
    }
    deep(&source);
}

#[test]
fn deep_loops() {
    let mut source = String::from("%b = pd.data {name = \"x\", shape = [4], dtype = f64} : tensor<4xf64>\n");
    source.push_str("%c = pd.data {name = \"c\", shape = [1], dtype = i1} : tensor<1xi1>\n");
    source.push_str("%no = pd.full {shape = [1], value = false, dtype = i1} : tensor<1xi1>\n");
    for at in 0..DEEP {
        let start = if at == 0 {
            "%b".to_owned()
        } else {
            format!("%b{}", at - 1)
        };
        let _ = writeln!(
            source,
            "%q{at}, %r{at} = pd.while (%c, {start}) cond (%d{at}: tensor<1xi1>, %a{at}: tensor<4xf64>) {{\n\
             cf.cond_yield (%d{at}, %d{at}, %a{at})\n}} body (%e{at}: tensor<1xi1>, %b{at}: tensor<4xf64>) {{"
        );
    }
    let _ = writeln!(
        source,
        "%t = pd.tanh (%b{}) : tensor<4xf64>\ncf.yield (%no, %t)",
        DEEP - 1
    );
    for at in (0..DEEP).rev() {
        source.push_str("} : tensor<1xi1>, tensor<4xf64>\n");
        let _ = match at {
            0 => writeln!(source, "pd.fetch (%r0) {{name = \"r\"}}"),
            _ => writeln!(source, "cf.yield (%no, %r{at})"),
        };
    }
    deep(&source);
}

#[track_caller]
fn deep(source: &str) {
    let module = read(source);
    let wanted = run(&module).expect("it runs");
    let graph = must(&module, "lower-to-dataflow");
    let raised = must(&graph, "raise-from-dataflow");
    let again = run(&raised).expect("it runs again");
    assert!(wanted.0[0].1.same_bits(&again.0[0].1));
}

/// A graph does not join stacks, so products behind a loop go back into it.
#[test]
fn batched_products() {
    let module = read(
        "%zero = pd.full {shape = [], value = 0, dtype = i64}\n\
         %one = pd.full {shape = [], value = 1, dtype = i64}\n\
         %three = pd.full {shape = [], value = 3, dtype = i64}\n\
         %x = pd.data {name = \"x\", shape = [4], dtype = f64}\n\
         %row = pd.reshape (%x) {shape = [1, 4]}\n\
         %column = pd.reshape (%x) {shape = [4, 1]}\n\
         %w = pd.matmul (%column, %row)\n\
         %n, %h = pd.while (%zero, %row) cond (%i, %a) {\n\
         %go = pd.less_than (%i, %three)\ncf.cond_yield (%go, %i, %a)\n\
         } body (%j, %b) {\n\
         %p = pd.matmul (%b, %w)\n%t = pd.tanh (%p)\n%next = pd.add (%j, %one)\ncf.yield (%next, %t)\n}\n\
         %loss = pd.sum (%h)\npd.fetch (%loss) {name = \"loss\"}",
    );
    let plain = must(&module, "backward");
    let batched = must(&plain, "batch-weight-grads");
    assert!(text(&batched).contains("cf.join_stack"));
    let wanted = run(&plain).expect("it runs");
    check(0, &plain, &wanted, &must(&batched, "lower-to-dataflow"));
}
