//! The stages of a run on generated programs: reading, printing, verifying, hoisting, differentiating.
//!
//! `cargo bench` prints times; `tools/bench/compare` sets them beside `mlir-opt`.

use std::fmt::Write;
use std::sync::Arc;

use pir_ir::text::{ParseOptions, PrintOptions, parse, print};
use pir_ir::verify::verify;
use pir_ir::{Context, Module};
use pir_passes::{PassManager, Pipeline, VerifyEach};

fn main() {
    divan::main();
}

/// A loop whose body has `ops` operations, one after the other.
fn body_of(ops: usize) -> String {
    let mut text = "%n = pd.full {shape = [1], value = 3, dtype = i64} : tensor<1xi64>
%zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
%one = pd.full {shape = [1], value = 1, dtype = i64} : tensor<1xi64>
%x = pd.data {name = \"x\", shape = [4], dtype = f32} : tensor<4xf32>
%e, %r = pd.while (%zero, %x) cond (%i: tensor<1xi64>, %a: tensor<4xf32>) {
  %go = pd.less_than (%i, %n) : tensor<1xi1>
  cf.cond_yield (%go, %i, %a)
} body (%j: tensor<1xi64>, %v0: tensor<4xf32>) {\n"
        .to_owned();
    for i in 0..ops {
        let line = match i % 3 {
            0 => format!("  %v{} = pd.tanh (%v{i}) : tensor<4xf32>\n", i + 1),
            1 => format!("  %v{} = pd.multiply (%v{i}, %x) : tensor<4xf32>\n", i + 1),
            _ => format!("  %v{} = pd.add (%v{i}, %x) : tensor<4xf32>\n", i + 1),
        };
        text += &line;
    }
    let _ = write!(
        text,
        "  %next = pd.add (%j, %one) : tensor<1xi64>
  cf.yield (%next, %v{ops})
}} : tensor<1xi64>, tensor<4xf32>
%l = pd.sum (%r) : tensor<f32>
pd.fetch (%l) {{name = \"l\"}}\n"
    );
    text
}

fn read(ctx: &Arc<Context>, text: &str) -> Module {
    parse(ctx, text.as_bytes(), &ParseOptions::default()).module
}

#[divan::bench(args = [4_000, 20_000])]
fn reading(bencher: divan::Bencher<'_, '_>, ops: usize) {
    let (ctx, text) = (pir_dialects::context(), body_of(ops));
    bencher.bench(|| read(&ctx, &text));
}

#[divan::bench(args = [4_000, 20_000])]
fn printing(bencher: divan::Bencher<'_, '_>, ops: usize) {
    let module = read(&pir_dialects::context(), &body_of(ops));
    bencher.bench(|| print(&module, &PrintOptions::default()));
}

#[divan::bench(args = [4_000, 20_000])]
fn verifying(bencher: divan::Bencher<'_, '_>, ops: usize) {
    let module = read(&pir_dialects::context(), &body_of(ops));
    bencher.bench(|| verify(&module));
}

fn pass(bencher: divan::Bencher<'_, '_>, ops: usize, pipeline: &str) {
    let module = read(&pir_dialects::context(), &body_of(ops));
    let Ok(pipeline) = Pipeline::parse(pipeline) else {
        return;
    };
    bencher.with_inputs(|| module.clone()).bench_values(|mut module| {
        let mut manager = PassManager::new();
        manager.verify_each(VerifyEach::Never);
        let _ = manager.run(&mut module, &pipeline);
        module
    });
}

#[divan::bench(args = [4_000, 20_000])]
fn licm(bencher: divan::Bencher<'_, '_>, ops: usize) {
    pass(bencher, ops, "licm");
}

#[divan::bench(args = [4_000, 20_000])]
fn cse(bencher: divan::Bencher<'_, '_>, ops: usize) {
    pass(bencher, ops, "cse");
}

#[divan::bench(args = [4_000, 20_000])]
fn backward(bencher: divan::Bencher<'_, '_>, ops: usize) {
    pass(bencher, ops, "backward");
}
