//! What tests of programs share: running them, and comparing gradients with differences.

#![allow(
    dead_code,
    clippy::unwrap_used,
    reason = "each test binary uses a part; in tests a panic is a failure"
)]

pub mod verdicts;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pir_interp::{Options, Outcome, Tensor, eager, inputs_of};
use pir_ir::text::{ParseOptions, parse};
use pir_ir::verify::verify;
use pir_ir::{Context, Module, Type};
use pir_passes::{PassManager, Pipeline};

/// Inputs by name.
pub type Inputs = Vec<(String, Tensor)>;

/// Reads and verifies a program.
#[track_caller]
pub fn read(ctx: &Arc<Context>, text: &str) -> Module {
    let parsed = parse(ctx, text.as_bytes(), &ParseOptions::default());
    assert!(parsed.diagnostics.is_empty(), "{text}\n{:#?}", parsed.diagnostics);
    let errors = verify(&parsed.module);
    assert!(errors.is_empty(), "{text}\n{errors:#?}");
    parsed.module
}

/// Runs a pipeline, verifying after every pass.
#[track_caller]
pub fn passes(module: &mut Module, pipeline: &str) {
    let parsed = Pipeline::parse(pipeline).unwrap_or_else(|e| panic!("{e:#?}"));
    let result = PassManager::new().run(module, &parsed);
    if let Err(errors) = result {
        panic!(
            "{pipeline}: {errors:#?}\n{}",
            pir_ir::text::print(module, &Default::default())
        );
    }
}

/// Runs a program.
#[track_caller]
pub fn run(module: &Module, inputs: &Inputs) -> Outcome {
    let options = Options {
        inputs: inputs.iter().cloned().collect(),
        max_steps: Some(10_000_000),
        ..Options::default()
    };
    pir_interp::run(module, &options, &mut std::io::sink())
        .unwrap_or_else(|e| panic!("{e:#?}\n{}", pir_ir::text::print(module, &Default::default())))
}

/// A module as text.
pub fn text(module: &Module) -> String {
    pir_ir::text::print(module, &Default::default())
}

/// The bits of what a program fetches.
pub fn bits(outcome: &Outcome) -> Vec<(String, Vec<u64>)> {
    let fetched = outcome.fetched.iter();
    fetched
        .map(|(name, t)| (name.clone(), t.to_f64().iter().map(|x| x.to_bits()).collect()))
        .collect()
}

/// The programs with a loop of `n` iterations among the test files of differentiation, at least nine, with their names.
pub fn loop_programs() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("test-files/autodiff");
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.is_file()).collect();
    files.sort();
    let name = |path: &Path| path.file_stem().unwrap().to_string_lossy().into_owned();
    let read = files
        .iter()
        .map(|path| (name(path), std::fs::read_to_string(path).unwrap()));
    let loops: Vec<(String, String)> = read.filter(|(_, source)| source.contains("name = \"n\"")).collect();
    assert!(loops.len() >= 9, "{} files", loops.len());
    loops
}

/// Those without a listing of the specification, at least nine.
pub fn plain_loop_programs() -> Vec<(String, String)> {
    let mut plain = loop_programs();
    plain.retain(|(_, source)| !source.contains("listing"));
    assert!(plain.len() >= 9, "{} files", plain.len());
    plain
}

/// Deterministic numbers from an interval.
pub struct Numbers(u64);

impl Numbers {
    pub fn new(seed: u64) -> Self {
        Numbers(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// The next of `[0, 1)`.
    pub fn unit(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn tensor(&mut self, shape: &[usize], low: f64, high: f64) -> Tensor {
        let count = shape.iter().product();
        Tensor::new(
            shape,
            (0..count)
                .map(|_| low + (high - low) * self.unit())
                .collect::<Vec<f64>>(),
        )
        .unwrap()
    }
}

/// Inputs for a program, pseudo-random floats and `n` for integers; and the names of the floats.
pub fn inputs_for(module: &Module, n: i64, seed: u64) -> (Inputs, Vec<String>) {
    let mut numbers = Numbers::new(seed);
    let (mut inputs, mut floats) = (Inputs::new(), Vec::new());
    for spec in inputs_of(module, None).unwrap() {
        let (shape, elem) = module.ctx.as_tensor(spec.ty).unwrap();
        let shape: Vec<usize> = shape.iter().map(|&d| d as usize).collect();
        let count = shape.iter().product();
        let value = if module.ctx.is_float(elem) {
            floats.push(spec.name.clone());
            numbers.tensor(&shape, 0.3, 0.9)
        } else if elem == Type::I1 {
            Tensor::new(&shape, vec![n % 2 == 0; count]).unwrap()
        } else {
            Tensor::new(&shape, vec![n; count]).unwrap()
        };
        inputs.push((spec.name, value));
    }
    (inputs, floats)
}

/// The sum of everything of floats that a program fetches.
fn total(module: &Module, inputs: &Inputs) -> f64 {
    let fetched = run(module, inputs).fetched;
    fetched
        .iter()
        .filter(|(_, t)| t.dtype().is_float())
        .map(|(_, t)| t.to_f64().iter().sum::<f64>())
        .sum()
}

/// Compares every gradient that a program with derivatives fetches as `NAME_grad` with central differences of the
/// program without, and with the eager engine. Gives the largest error of the former, relative to the size of the numbers.
#[track_caller]
pub fn compare_with_differences(plain: &Module, with: &Module, inputs: &Inputs, wrt: &[&str]) -> f64 {
    compare_with_eager(plain, with, inputs, wrt, 1);
    compare(&|inputs| total(plain, inputs), with, inputs, wrt, "_grad")
}

/// Compares what a program fetches as `NAME` with `suffix` with central differences of a function.
#[track_caller]
pub fn compare(f: &dyn Fn(&Inputs) -> f64, with: &Module, inputs: &Inputs, wrt: &[&str], suffix: &str) -> f64 {
    let grads = run(with, inputs).fetched;
    let mut worst = 0.0f64;
    for name in wrt {
        let grad = grads
            .iter()
            .find(|(n, _)| *n == format!("{name}{suffix}"))
            .unwrap_or_else(|| panic!("no {name}{suffix}"));
        let at = inputs.iter().position(|(n, _)| n == name).unwrap();
        let base = inputs[at].1.to_f64();
        assert_eq!(
            grad.1.shape(),
            inputs[at].1.shape(),
            "the gradient of {name} has another shape"
        );
        for (i, &g) in grad.1.to_f64().iter().enumerate() {
            let step = 1e-6 * base[i].abs().max(1.0);
            let moved = |by: f64| {
                let mut values = base.clone();
                values[i] += by;
                let mut inputs = inputs.clone();
                inputs[at].1 = Tensor::new(inputs[at].1.shape(), values).unwrap();
                f(&inputs)
            };
            let difference = (moved(step) - moved(-step)) / (2.0 * step);
            let error = (g - difference).abs() / difference.abs().max(1.0);
            assert!(!error.is_nan(), "{name}[{i}]: gradient {g}, difference {difference}");
            worst = worst.max(error);
        }
    }
    worst
}

/// Compares the gradients of order `order` that a program fetches with those that the eager engine computes from a trace of
/// the program without derivatives: both are exact but for rounding.
#[track_caller]
pub fn compare_with_eager(plain: &Module, with: &Module, inputs: &Inputs, wrt: &[&str], order: usize) {
    // The engine has no rules for operations of MLIR.
    let of_mlir = |op| {
        ["arith.", "math."]
            .iter()
            .any(|d| plain.body.view(&plain.ctx, op).name().starts_with(d))
    };
    if plain.body.walk_all().any(of_mlir) {
        return;
    }
    let before = eager::live();
    let options = Options {
        inputs: inputs.iter().cloned().collect(),
        max_steps: Some(10_000_000),
        ..Options::default()
    };
    let text = || pir_ir::text::print(plain, &Default::default());
    let trace = eager::trace(plain, &options, &mut std::io::sink()).unwrap_or_else(|e| panic!("{e:#?}\n{}", text()));
    let targets = eager::Targets {
        wrt: wrt.iter().map(|&name| name.to_owned()).collect(),
        ..eager::Targets::default()
    };
    let weights: Vec<f64> = (0..wrt.len()).map(weight).collect();
    let orders = trace.orders(&targets, &weights, order);
    let orders = orders.unwrap_or_else(|e| panic!("order {order}: {e}\n{}", text()));
    drop(trace);
    assert_eq!(eager::live(), before, "a history keeps itself alive");
    let fetched = run(with, inputs).fetched;
    for (name, eager) in &orders[order - 1] {
        let name = format!("{name}{}", suffix(order));
        let (_, pass) = fetched.iter().find(|(n, _)| *n == name).unwrap();
        assert_eq!(pass.shape(), eager.shape(), "the shape of {name}");
        let (pass, eager) = (pass.to_f64(), eager.to_f64());
        let scale = eager.iter().fold(1.0f64, |m, x| m.max(x.abs()));
        for (at, (p, e)) in pass.iter().zip(&eager).enumerate() {
            let same = (p - e).abs() <= 1e-11 * scale;
            assert!(
                same,
                "{name}[{at}] is {p} by the pass, {e} by the eager engine\n{}",
                text()
            );
        }
    }
}

/// Differentiates the gradients of a program of order `order - 1`, weighted with different numbers, and gives the program
/// of the next order. `module` holds those gradients under `NAME_grad`, `NAME_grad_2`, ….
#[track_caller]
pub fn next_order(module: &Module, wrt: &[&str], order: usize) -> Module {
    let mut with = module.clone();
    let of: Vec<String> = wrt.iter().map(|n| format!("{n}{}", suffix(order - 1))).collect();
    let seeds: Vec<String> = (0..wrt.len()).map(|i| weight(i).to_string()).collect();
    let options = format!(
        "of=[{}] wrt=[{}] seed=[{}]",
        of.join(","),
        wrt.join(","),
        seeds.join(",")
    );
    passes(&mut with, &format!("backward{{{options}}}"));
    with
}

/// The largest error of the gradients of order `order`, against central differences of those of the order before.
#[track_caller]
pub fn compare_order(before: &Module, with: &Module, inputs: &Inputs, wrt: &[&str], order: usize) -> f64 {
    let f = |inputs: &Inputs| {
        let fetched = run(before, inputs).fetched;
        let of = |name: &str| {
            fetched
                .iter()
                .find(|(n, _)| *n == format!("{name}{}", suffix(order - 1)))
        };
        let sum = |name: &str| of(name).unwrap().1.to_f64().iter().sum::<f64>();
        wrt.iter().enumerate().map(|(i, name)| weight(i) * sum(name)).sum()
    };
    compare(&f, with, inputs, wrt, &suffix(order))
}

fn weight(index: usize) -> f64 {
    1.0 - 0.375 * index as f64
}

fn suffix(order: usize) -> String {
    match order {
        1 => "_grad".to_owned(),
        _ => format!("_grad_{order}"),
    }
}

/// Differentiates a program and compares.
#[track_caller]
pub fn check_gradients(ctx: &Arc<Context>, text: &str, inputs: &Inputs, wrt: &[&str], tolerance: f64) {
    let plain = read(ctx, text);
    let mut with = plain.clone();
    passes(&mut with, "backward");
    let worst = compare_with_differences(&plain, &with, inputs, wrt);
    assert!(
        worst <= tolerance,
        "an error of {worst}\n{}",
        pir_ir::text::print(&with, &Default::default())
    );
}

/// Compares tangents along a direction with the product of gradients and that direction, and with a difference.
#[track_caller]
pub fn check_tangents(ctx: &Arc<Context>, text: &str, inputs: &Inputs, wrt: &[&str], tolerance: f64) {
    let plain = read(ctx, text);
    let (mut forward, mut reverse) = (plain.clone(), plain.clone());
    passes(&mut forward, "jvp");
    passes(&mut reverse, "backward");
    compare_tangents(&plain, &forward, &reverse, inputs, wrt, tolerance);
}

/// The same for programs that were differentiated already.
#[track_caller]
pub fn compare_tangents(
    plain: &Module,
    forward: &Module,
    reverse: &Module,
    inputs: &Inputs,
    wrt: &[&str],
    tolerance: f64,
) {
    let mut numbers = Numbers::new(wrt.len() as u64 + 99);
    let mut with = inputs.clone();
    for name in wrt {
        let (_, value) = inputs.iter().find(|(n, _)| n == name).unwrap();
        with.push((format!("{name}_tangent"), numbers.tensor(value.shape(), -1.0, 1.0)));
    }
    let direction = |name: &str| {
        let (_, v) = with.iter().find(|(n, _)| *n == format!("{name}_tangent")).unwrap();
        v.to_f64()
    };
    let fetched = run(forward, &with).fetched;
    let of_suffix = fetched.iter().filter(|(n, _)| n.ends_with("_tangent"));
    let tangent: f64 = of_suffix.map(|(_, t)| t.to_f64().iter().sum::<f64>()).sum();
    let gradients = run(reverse, inputs).fetched;
    let product: f64 = wrt
        .iter()
        .map(|name| {
            let (_, g) = gradients.iter().find(|(n, _)| *n == format!("{name}_grad")).unwrap();
            g.to_f64().iter().zip(direction(name)).map(|(g, v)| g * v).sum::<f64>()
        })
        .sum();
    let moved = |by: f64| {
        let mut inputs = inputs.clone();
        for (name, value) in inputs.iter_mut().filter(|(n, _)| wrt.contains(&n.as_str())) {
            let values: Vec<f64> = value
                .to_f64()
                .iter()
                .zip(direction(name))
                .map(|(x, v)| x + by * v)
                .collect();
            *value = Tensor::new(value.shape(), values).unwrap();
        }
        total(plain, &inputs)
    };
    let step = 1e-6;
    let difference = (moved(step) - moved(-step)) / (2.0 * step);
    let text = || pir_ir::text::print(forward, &Default::default());
    let near = |other: f64, tolerance: f64| (tangent - other).abs() <= tolerance * other.abs().max(1.0);
    assert!(
        near(product, 1e-10),
        "tangent {tangent}, by gradients {product}\n{}",
        text()
    );
    assert!(
        near(difference, tolerance),
        "tangent {tangent}, by differences {difference}\n{}",
        text()
    );
}

/// Differentiates a program twice and compares the second derivatives.
#[track_caller]
pub fn check_second_order(ctx: &Arc<Context>, text: &str, inputs: &Inputs, wrt: &[&str], tolerance: f64) {
    let plain = read(ctx, text);
    let mut first = plain.clone();
    passes(&mut first, "backward");
    let second = next_order(&first, wrt, 2);
    compare_with_eager(&plain, &second, inputs, wrt, 2);
    let worst = compare_order(&first, &second, inputs, wrt, 2);
    assert!(
        worst <= tolerance,
        "order 2: an error of {worst}\n{}",
        pir_ir::text::print(&second, &Default::default())
    );
}

/// A program around one or more lines that compute `%o` from `%x`, `%y`, …
fn program(inputs: &[(&str, &[usize])], lines: &str, out: &[usize]) -> String {
    let mut text = String::new();
    for (name, shape) in inputs {
        text += &format!("%{name} = pd.data {{name = \"{name}\", shape = {shape:?}, dtype = f64}}\n");
    }
    text += &format!("%weight = pd.data {{name = \"weight\", shape = {out:?}, dtype = f64, stop_gradient = true}}\n");
    text + lines
        + "\n%weighted = pd.multiply (%o, %weight)\n%loss = pd.sum (%weighted)\npd.fetch (%loss) {name = \"loss\"}\n"
}

/// Compares first and second derivatives of a program around one or more lines with differences. The result is weighted with
/// numbers that differ from element to element.
#[track_caller]
pub fn check_operation(ctx: &Arc<Context>, inputs: &[(&str, &[usize], f64, f64)], lines: &str, out: &[usize]) {
    let shapes: Vec<(&str, &[usize])> = inputs.iter().map(|&(n, s, _, _)| (n, s)).collect();
    let mut numbers = Numbers::new(lines.len() as u64 + 7);
    let mut values: Inputs = inputs
        .iter()
        .map(|&(n, s, a, b)| (n.to_owned(), numbers.tensor(s, a, b)))
        .collect();
    values.push(("weight".to_owned(), numbers.tensor(out, 0.5, 1.5)));
    let wrt: Vec<&str> = inputs.iter().map(|i| i.0).collect();
    let text = program(&shapes, lines, out);
    let plain = read(ctx, &text);
    let mut with = plain.clone();
    passes(&mut with, "backward");
    // In each case another mutation, so that each operation meets all of them somewhere.
    let mutation = verdicts::MUTATIONS[(lines.len() + out.len()) % 3];
    verdicts::check_verdicts(&plain, &with, &values, &[mutation], 3);
    check_gradients(ctx, &text, &values, &wrt, 2e-7);
    check_second_order(ctx, &text, &values, &wrt, 1e-6);
    check_tangents(ctx, &text, &values, &wrt, 1e-6);
}

/// Differentiates a program up to some order, with passes `between` the orders, and checks each against differences of the
/// one before, and against the eager engine, for 0 to 4 iterations of its loops.
#[track_caller]
pub fn check_orders(text: &str, between: &str, orders: usize) {
    let ctx = pir_dialects::context();
    let plain = read(&ctx, text);
    let (_, wrt) = inputs_for(&plain, 0, 1);
    let wrt: Vec<&str> = wrt.iter().map(String::as_str).collect();
    let mut before = plain.clone();
    passes(&mut before, "backward");
    for order in 2..=orders {
        if !between.is_empty() {
            passes(&mut before, between);
        }
        let with = next_order(&before, &wrt, order);
        for n in 0..=4 {
            let (inputs, _) = inputs_for(&plain, n, n as u64 + 1);
            compare_with_eager(&plain, &with, &inputs, &wrt, order);
            let worst = compare_order(&before, &with, &inputs, &wrt, order);
            assert!(
                worst < 1e-6,
                "order {order}, {n} iterations: an error of {worst}\n{}",
                pir_ir::text::print(&with, &Default::default())
            );
        }
        before = with;
    }
}
