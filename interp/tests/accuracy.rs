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

/// An operation with its results, the shape of its operand, and the group and the channel of each element.
type Norm<'a> = (&'a str, usize, &'a [usize], fn(usize) -> usize, fn(usize) -> usize);

/// Tensors of several blocks, which threads share.
const NORMS: [Norm<'_>; 7] = [
    ("layer_norm (%x, %s, %b)", 3, &[90, 900], |at| at / 900, |at| at % 900),
    (
        "layer_norm (%x, %s, %b)",
        3,
        &[3, 40_000],
        |at| at / 40_000,
        |at| at % 40_000,
    ),
    (
        "group_norm (%x, %s, %b) {groups = 4}",
        3,
        &[3, 8, 60, 60],
        |at| at / 7200,
        |at| at / 3600 % 8,
    ),
    (
        "group_norm (%x, %s, %b) {groups = 4, data_format = \"NHWC\"}",
        3,
        &[3, 60, 60, 8],
        |at| at / 28_800 * 4 + at % 8 / 2,
        |at| at % 8,
    ),
    (
        "instance_norm (%x, %s, %b)",
        3,
        &[3, 8, 60, 60],
        |at| at / 3600,
        |at| at / 3600 % 8,
    ),
    (
        "batch_norm (%x, %m, %m, %s, %b)",
        6,
        &[3, 8, 60, 60],
        |at| at / 3600 % 8,
        |at| at / 3600 % 8,
    ),
    (
        "batch_norm (%x, %m, %m, %s, %b) {data_format = \"NHWC\"}",
        6,
        &[3, 60, 60, 8],
        |at| at % 8,
        |at| at % 8,
    ),
];

#[test]
fn norms_of_every_layout() {
    for (op, results, shape, group, channel) in NORMS {
        let count: usize = shape.iter().product();
        let [groups, channels] = [group, channel].map(|of| (0..count).map(of).max().unwrap() + 1);
        let values = numbers(count, 3);
        let (scale, bias) = (numbers(channels, 4), numbers(channels, 5));
        let names: Vec<String> = (0..results).map(|at| format!("%y{at}")).collect();
        let mut program = String::new();
        for (name, shape) in [("x", shape), ("s", &[channels]), ("b", &[channels]), ("m", &[channels])] {
            program += &format!("%{name} = pd.data {{name = \"{name}\", shape = {shape:?}, dtype = {{t}}}}\n");
        }
        program += &format!("{} = pd.{op}\npd.fetch (%y0) {{name = \"y\"}}\n", names.join(", "));
        let inputs = [
            ("x", shape.to_vec(), values.clone()),
            ("s", vec![channels], scale.clone()),
            ("b", vec![channels], bias.clone()),
            ("m", vec![channels], vec![0.0; channels]),
        ];
        let mut moments = vec![[0.0; 3]; groups];
        for (at, &v) in values.iter().enumerate() {
            let v = f64::from(v);
            let sums = &mut moments[group(at)];
            *sums = [sums[0] + 1.0, sums[1] + v, sums[2] + v * v];
        }
        let wanted = values.iter().enumerate().map(|(at, &v)| {
            let [n, sum, squares] = moments[group(at)];
            let (mean, channel) = (sum / n, channel(at));
            let factor = 1.0 / (squares / n - mean * mean + 1e-5).sqrt();
            (f64::from(v) - mean) * factor * f64::from(scale[channel]) + f64::from(bias[channel])
        });
        for (element, tolerance) in [("f32", 3e-7), ("f64", 1e-11)] {
            let found = run(&program, element, &inputs);
            for (at, (found, wanted)) in found.iter().zip(wanted.clone()).enumerate() {
                let error = (found - wanted).abs();
                assert!(
                    error <= tolerance * wanted.abs().max(1.0),
                    "{op} of {element}: {found} for {wanted} at {at}"
                );
            }
        }
    }
}
