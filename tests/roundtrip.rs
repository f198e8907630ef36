//! Printing is a fixed point: the output can be read, and prints the same again, in both forms, for every program in
//! the repository and for the output of passes.

#![allow(clippy::unwrap_used, reason = "in tests a panic is a failure")]

#[path = "equivalence/generate.rs"]
#[allow(dead_code, reason = "programs are not run here")]
mod generate;
#[path = "common/parallel.rs"]
mod parallel;
#[path = "common/size.rs"]
mod size;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pir_ir::text::{ParseOptions, PrintOptions, parse, print};
use pir_ir::{Body, Context, Module};
use pir_passes::{PassManager, Pipeline};
use pir_tools::driver::{LoadOptions, load};
use pir_tools::source::Source;

fn files(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, out);
        } else if path.extension().is_some_and(|e| e == "pir" || e == "json") {
            out.push(path);
        }
    }
}

/// The shape of a body: operations in order, with operands as places of definition, types, attributes and regions.
fn shape(ctx: &Context, body: &Body) -> Vec<String> {
    let mut numbers = std::collections::HashMap::new();
    for block in body.all_blocks() {
        for &arg in body.block_args(block) {
            let next = numbers.len();
            numbers.insert(arg, next);
        }
    }
    for op in body.walk_all() {
        for value in body.results(op) {
            let next = numbers.len();
            numbers.insert(value, next);
        }
    }
    body.walk_all()
        .map(|op| {
            let operands: Vec<usize> = body.operands(op).map(|v| numbers[&v]).collect();
            let types: Vec<_> = body
                .results(op)
                .map(|v| pir_ir::text::print_type(ctx, body.value_type(v)))
                .collect();
            let attrs: Vec<String> = ctx
                .dict_entries(ctx.dict_sorted(body.attrs(op)))
                .iter()
                .map(|&(n, a)| format!("{}={}", ctx.str(n), pir_ir::text::print_attr(ctx, a)))
                .collect();
            let depth = body.op_region(op).map_or(0, |r| body.region_depth(r));
            format!(
                "{depth} {} {operands:?} {types:?} {attrs:?}",
                ctx.op_str(body.op_name(op))
            )
        })
        .collect()
}

/// For all bodies in the order of the text, which differs from the order of creation.
fn shapes(module: &Module) -> Vec<Vec<String>> {
    let mut out = Vec::new();
    let mut pending = vec![&module.body];
    while let Some(body) = pending.pop() {
        out.push(shape(&module.ctx, body));
        let inner: Vec<&Body> = body.walk_all().filter_map(|op| body.isolated(op)).collect();
        pending.extend(inner.into_iter().rev());
    }
    out
}

#[track_caller]
fn check(ctx: &Arc<Context>, module: &Module, name: &str) {
    for generic in [false, true] {
        let options = PrintOptions {
            generic,
            ..PrintOptions::default()
        };
        let once = print(module, &options);
        let parsed = parse(ctx, once.as_bytes(), &ParseOptions::default());
        assert!(
            parsed.diagnostics.is_empty(),
            "{name}: {:#?}\n{once}",
            parsed.diagnostics
        );
        assert_eq!(shapes(module), shapes(&parsed.module), "{name}");
        assert_eq!(once, print(&parsed.module, &options), "{name}");
    }
}

#[test]
fn every_program_and_what_passes_make_of_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = Vec::new();
    files(&root.join("test-files"), &mut paths);
    files(&root.join("docs/examples"), &mut paths);
    let ctx = pir_dialects::context();
    let seen = AtomicUsize::new(0);
    parallel::for_each(&paths, |path| {
        let name = path.display().to_string();
        let text = std::fs::read(path).unwrap();
        // Files with errors are there for their errors.
        let Ok((module, _)) = load(&ctx, &Source::new(name.clone(), text), LoadOptions::default()) else {
            return;
        };
        seen.fetch_add(1, Ordering::Relaxed);
        check(&ctx, &module, &name);
        for pipeline in [
            "licm,cse,canonicalize,forward-args,dce",
            "stack-locals,build-backward",
            "backward",
        ] {
            let mut changed = module.clone();
            let parsed = Pipeline::parse(pipeline).unwrap();
            if PassManager::new().run(&mut changed, &parsed).is_ok() {
                check(&ctx, &changed, &format!("{name} after {pipeline}"));
            }
        }
    });
    let seen = seen.into_inner();
    assert!(seen > 30, "{seen} programs");
}

#[test]
fn generated_programs() {
    let ctx = pir_dialects::context();
    for seed in 0..size::programs(300) {
        let mut random = generate::Random::new(seed);
        let text = match seed % 4 {
            0 => generate::blocks(&mut random),
            1 => generate::functions(&mut random),
            2 => generate::graph(&mut random),
            _ => generate::program(&mut random, seed % 2 == 0),
        };
        let parsed = parse(&ctx, text.as_bytes(), &ParseOptions::default());
        assert!(parsed.diagnostics.is_empty(), "{text}\n{:#?}", parsed.diagnostics);
        check(&ctx, &parsed.module, &format!("seed {seed}"));
    }
}
