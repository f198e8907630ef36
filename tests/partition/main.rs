//! A program has the same results on one device and on several, for any placement of its nodes.
//!
//! Structured programs and their gradients are lowered to dataflow, each node is placed on a random device (or by
//! `place`), and the graph is partitioned and run under random schedules. Fetched values must equal those of the
//! structured interpreter, bit for bit.
//!
//! `PIR_PROGRAMS=10000 cargo test --release --test partition` runs more of them.

#![allow(clippy::unwrap_used, reason = "in tests a panic is a failure")]

#[path = "../common/mod.rs"]
mod common;
#[path = "../equivalence/generate.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod generate;
#[path = "../common/size.rs"]
mod size;

use std::path::{Path, PathBuf};

use common::{inputs_for, read};
use generate::{Random, bindings, program, sized};
use pir_interp::dataflow::{self, Schedule};
use pir_interp::{Options, Tensor};
use pir_ir::text::{PrintOptions, print};
use pir_ir::{Body, Context, Module, OpId};
use pir_passes::{PassManager, Pipeline};

fn count() -> u64 {
    size::programs(60)
}

fn text(module: &Module) -> String {
    print(module, &PrintOptions::default())
}

/// Runs a pipeline on a copy; what stops it is an answer as well.
fn after(module: &Module, pipeline: &str) -> Result<Module, String> {
    let mut copy = module.clone();
    let parsed = Pipeline::parse(pipeline).unwrap();
    match PassManager::new().run(&mut copy, &parsed) {
        Ok(_) => Ok(copy),
        Err(errors) => Err(format!("{pipeline}: {errors:#?}\n{}", text(module))),
    }
}

type Fetched = Vec<(String, Tensor)>;

fn sorted(mut fetched: Fetched) -> Fetched {
    fetched.sort_by(|a, b| a.0.cmp(&b.0));
    fetched
}

fn same(a: &Fetched, b: &Fetched) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x.0 == y.0 && x.1.same_bits(&y.1))
}

/// What the structured program fetches; nothing for one that fails.
fn structured(module: &Module, options: &Options) -> Option<Fetched> {
    let outcome = pir_interp::run(module, options, &mut std::io::sink()).ok()?;
    Some(sorted(outcome.fetched))
}

fn run_graphs(module: &Module, options: &Options, seed: u64) -> Result<Fetched, String> {
    let schedule = Schedule {
        seed: Some(seed),
        ..Schedule::default()
    };
    let outcome = dataflow::run(module, options, &schedule, &mut std::io::sink());
    outcome.map(|o| sorted(o.fetched)).map_err(|e| format!("{e:#?}"))
}

/// Puts nodes of the graphs of a program on random devices, a share of them on none.
fn scatter(module: &mut Module, devices: u32, random: &mut Random, unplaced: usize) {
    let ctx = module.ctx.clone();
    let graphs: Vec<OpId> = module.body.walk_all().collect();
    for op in graphs {
        if let Some(body) = module.body.isolated_mut(op) {
            scatter_graph(&ctx, body, devices, random, unplaced);
        }
    }
}

fn scatter_graph(ctx: &Context, body: &mut Body, devices: u32, random: &mut Random, unplaced: usize) {
    let ops: Vec<OpId> = body.walk_all().collect();
    for op in ops {
        let is_node = ctx.op_str(body.op_name(op)) != "df.control";
        if is_node && random.below(100) >= unplaced {
            let device = ctx.int_attr(random.below(devices as usize) as i64);
            body.set_attrs(op, ctx.dict_with(body.attrs(op), "device", device));
        }
    }
}

/// How many operations of a name the graphs of a program have.
fn number_of(module: &Module, name: &str) -> usize {
    let mut found = 0;
    module.for_each_body(|body| {
        let is_meant = |op: &OpId| module.ctx.op_str(body.op_name(*op)) == name;
        found += body.walk_all().filter(is_meant).count();
    });
    found
}

/// Partitions a lowered program in some ways, and runs each under some schedules. Tells how many messages there were in
/// all that the devices could send.
#[track_caller]
fn check(what: &str, lowered: &Module, options: &Options, expected: &Fetched, random: &mut Random) -> usize {
    let mut messages = 0;
    let ways: [(u32, usize); 5] = [(1, 0), (2, 0), (3, 0), (2, 100), (4, 50)];
    for (devices, unplaced) in ways {
        let mut placed = lowered.clone();
        scatter(&mut placed, devices, random, unplaced);
        let split =
            after(&placed, &format!("partition{{devices={devices}}}")).unwrap_or_else(|e| panic!("{what}: {e}"));
        let sent = number_of(&split, "df.send");
        assert_eq!(sent, number_of(&split, "df.recv"), "{what}");
        assert_eq!(sent > 0, sent > 0 && devices > 1, "{what}");
        messages += sent;
        for seed in 0..2 {
            let got = run_graphs(&split, options, seed);
            let right = got.as_ref().is_ok_and(|got| same(got, expected));
            assert!(
                right,
                "{what}: {devices} devices, schedule {seed}: {got:?}\nin place of {expected:?}\n{}\nfrom\n{}",
                text(&split),
                text(&placed)
            );
        }
    }
    messages
}

#[test]
fn nodes_anywhere() {
    let (mut ran, mut messages) = (0, 0);
    for seed in 0..count() {
        let mut random = Random::new(seed);
        let module = read(&pir_dialects::context(), &program(&mut random, false));
        let Some(expected) = structured(&module, &bindings()) else {
            continue;
        };
        let lowered = after(&module, "lower-to-dataflow").unwrap();
        ran += 1;
        messages += check(&format!("seed {seed}"), &lowered, &bindings(), &expected, &mut random);
    }
    assert!(ran * 2 > count(), "only {ran} of {} programs ran", count());
    assert!(messages as u64 > 20 * ran, "only {messages} messages in {ran} programs");
}

#[test]
fn gradients_anywhere() {
    let mut ran = 0;
    for seed in 0..count() / 2 {
        let mut random = Random::new(seed ^ 0x9ad);
        let module = read(&pir_dialects::context(), &sized(&mut random, false, 5, 3));
        let module = after(&module, "backward").unwrap();
        let Some(expected) = structured(&module, &bindings()) else {
            continue;
        };
        let lowered = after(&module, "lower-to-dataflow").unwrap();
        ran += 1;
        let _ = check(&format!("seed {seed}"), &lowered, &bindings(), &expected, &mut random);
        for more in ["shrink-stacks", "swap-stacks{min-bytes=0}"] {
            let changed = after(&lowered, more).unwrap();
            let _ = check(
                &format!("seed {seed}, {more}"),
                &changed,
                &bindings(),
                &expected,
                &mut random,
            );
        }
    }
    assert!(ran * 2 > count() / 2, "only {ran} of {} programs ran", count() / 2);
}

fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("test-files").join(folder);
    let entries = std::fs::read_dir(folder).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|e| e.unwrap().path()).filter(|p| p.is_file()).collect();
    paths.sort();
    paths
}

/// The gradients of every kind of loop, for no iteration and for several.
#[test]
fn every_kind_of_loop() {
    let ctx = pir_dialects::context();
    let mut seen = 0;
    for path in files("autodiff").into_iter().chain(files("autodiff/loops")) {
        let source = std::fs::read_to_string(&path).unwrap();
        let takes_trips = source.contains("name = \"n\"");
        // Graphs are made from the operations at top level.
        if !takes_trips && !source.contains("pd.while") || source.contains("func.func") {
            continue;
        }
        let plain = read(&ctx, &source);
        for pipeline in [
            "backward",
            "backward,backward{of=x_grad}",
            "backward,remat{recompute=all}",
        ] {
            let Ok(module) = after(&plain, pipeline) else { continue };
            let lowered = match after(&module, "lower-to-dataflow") {
                Ok(lowered) => lowered,
                // The order of the program's own stacks cannot be expressed in a graph.
                Err(error) if pipeline == "backward" && !source.contains("create_stack") => {
                    panic!("{}: {error}", path.display())
                }
                Err(_) => continue,
            };
            let trips: &[i64] = if takes_trips { &[0, 1, 3] } else { &[0] };
            for &n in trips {
                let mut random = Random::new(n as u64);
                let (inputs, _) = inputs_for(&plain, n, n as u64 + 1);
                let options = Options {
                    inputs: inputs.into_iter().collect(),
                    max_steps: Some(10_000_000),
                    ..Options::default()
                };
                let Some(expected) = structured(&module, &options) else {
                    continue;
                };
                let what = format!("{} {pipeline} {n}", path.display());
                let _ = check(&what, &lowered, &options, &expected, &mut random);
                seen += 1;
            }
        }
    }
    assert!(seen > 40, "only {seen} runs");
}
