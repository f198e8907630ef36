//! Sums of float32 are as near to those of float64 as their condition allows.
//!
//! The error of a sum is relative to the sum of the absolute values: the contribution of an element is rounded a few
//! times, whatever the number of elements. Sequential addition would lose a bit whenever that number doubles.

#![allow(clippy::unwrap_used, reason = "in tests a panic is a failure")]

use pir_interp::{Options, Tensor};
use pir_ir::text::{ParseOptions, parse};

/// Numbers from -0.5 to 1.5, whose sums grow: then sequential addition loses most.
fn numbers(count: usize, seed: u64) -> Vec<f32> {
    let mut state = seed;
    let next = |_| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1u64 << 24) as f32 * 2.0 - 0.5
    };
    (0..count).map(next).collect()
}

/// The result of a program for inputs of one element type, for which `{t}` is a placeholder.
fn run(program: &str, element: &str, inputs: &[(&str, Vec<usize>, Vec<f32>)]) -> Vec<f64> {
    let ctx = pir_dialects::context();
    let parsed = parse(
        &ctx,
        program.replace("{t}", element).as_bytes(),
        &ParseOptions::default(),
    );
    assert!(parsed.diagnostics.is_empty(), "{:#?}", parsed.diagnostics);
    let mut options = Options::default();
    for (name, shape, values) in inputs {
        let tensor = if element == "f32" {
            Tensor::new(shape, values.clone())
        } else {
            Tensor::new(shape, values.iter().map(|&v| f64::from(v)).collect::<Vec<f64>>())
        };
        options.inputs.insert((*name).into(), tensor.unwrap());
    }
    let outcome = pir_interp::run(&parsed.module, &options, &mut Vec::new()).unwrap();
    outcome.fetched[0].1.to_f64()
}

/// The largest error, in rounding units of the sum of absolute values.
fn error(program: &str, inputs: &[(&str, Vec<usize>, Vec<f32>)]) -> f64 {
    let near = run(program, "f32", inputs);
    let exact = run(program, "f64", inputs);
    let absolute: Vec<_> = inputs
        .iter()
        .map(|(name, shape, values)| (*name, shape.clone(), values.iter().map(|v| v.abs()).collect()))
        .collect();
    let condition = run(program, "f64", &absolute);
    assert_eq!(near.len(), exact.len());
    let errors = near.iter().zip(&exact).zip(&condition);
    errors.map(|((n, e), c)| (n - e).abs() / c).fold(0.0, f64::max) / f64::from(f32::EPSILON / 2.0)
}

#[track_caller]
fn within(limit: f64, program: &str, inputs: &[(&str, Vec<usize>, Vec<f32>)]) {
    let error = error(program, inputs);
    assert!(
        error <= limit,
        "off by {error:.1} roundings of the sum of absolute values:\n{program}"
    );
}

const SIZES: [usize; 3] = [1_000, 30_000, 1_000_000];

#[test]
fn sums_and_means() {
    for size in SIZES {
        for op in ["sum", "mean"] {
            let program = format!(
                "%x = pd.data {{name = \"x\", shape = [{size}], dtype = {{t}}}}\n%y = pd.{op} (%x)\npd.fetch (%y) {{name = \"y\"}}\n"
            );
            within(8.0, &program, &[("x", vec![size], numbers(size, 1))]);
        }
        // Along an axis other than the last.
        let rows = size / 8;
        let program = format!(
            "%x = pd.data {{name = \"x\", shape = [{rows}, 8], dtype = {{t}}}}\n%y = pd.sum (%x) {{axis = [0]}}\npd.fetch (%y) {{name = \"y\"}}\n"
        );
        within(8.0, &program, &[("x", vec![rows, 8], numbers(rows * 8, 2))]);
    }
}
