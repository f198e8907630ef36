//! Derivatives at singular points: zeros, ties, bounds, saturation, infinity. The policy is that of docs/autodiff.md.
//!
//! What PaddlePaddle gives there is in `tests/data/singular.txt`, which `tools/fixtures/singular.py` writes; where we differ, the
//! reason is here. The adjoint program, the tangents and the eager engine are compared with it.

#![allow(clippy::unwrap_used, reason = "in tests a panic is a failure")]

mod common;

use common::{Inputs, passes, read, run};
use pir_interp::{Options, Tensor, eager};

/// `NAME[SHAPE]` and elements.
fn tensor(shape: &str, values: &[&str]) -> Tensor {
    let shape = shape.trim_matches(['[', ']']);
    let shape: Vec<usize> = shape
        .split(',')
        .filter(|d| !d.is_empty())
        .map(|d| d.parse().unwrap())
        .collect();
    Tensor::new(&shape, values.iter().map(|v| v.parse().unwrap()).collect::<Vec<f64>>()).unwrap()
}

struct Case {
    lines: String,
    /// With whether it is a constant.
    inputs: Vec<(String, bool, Tensor)>,
    grads: Vec<(String, Vec<f64>)>,
}

fn cases() -> Vec<Case> {
    let text = include_str!("data/singular.txt");
    let mut cases: Vec<Case> = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["in", name, shape, ref values @ ..] => {
                let input = (
                    name.trim_end_matches('!').to_owned(),
                    name.ends_with('!'),
                    tensor(shape, values),
                );
                cases.last_mut().unwrap().inputs.push(input);
            }
            ["grad", name, shape, ref values @ ..] => {
                let grad = (name.to_owned(), tensor(shape, values).to_f64());
                cases.last_mut().unwrap().grads.push(grad);
            }
            _ => cases.push(Case {
                lines: line
                    .replace(" %", "\n%")
                    .replace("(\n%", "(%")
                    .replace(",\n%", ", %")
                    .replace("= \n%", "= %"),
                inputs: Vec::new(),
                grads: Vec::new(),
            }),
        }
    }
    cases
}

/// Determined by the other factors only.
const BY_THE_OTHERS: f64 = f64::MAX;

/// Where our gradient is another than PaddlePaddle's: operation, element of the operand, our gradient, and why.
const DIFFERENT: &[(&str, f64, f64, &str)] = &[
    (
        r#"pd.abs (%x)"#,
        f64::INFINITY,
        1.0,
        "the slope is one: Paddle divides infinity by itself",
    ),
    (
        r#"pd.abs (%x)"#,
        f64::NEG_INFINITY,
        -1.0,
        "the slope is one: Paddle divides infinity by itself",
    ),
    (r#"pd.silu (%x)"#, -800.0, 0.0, "the limit: Paddle overflows"),
    (
        r#"pd.logsigmoid (%x)"#,
        f64::NEG_INFINITY,
        1.0,
        "the limit: Paddle overflows",
    ),
    (
        r#"pd.hardswish (%x)"#,
        f64::INFINITY,
        1.0,
        "linear there: Paddle multiplies infinity by zero",
    ),
    (
        r#"pd.hardswish (%x)"#,
        f64::NEG_INFINITY,
        0.0,
        "linear there: Paddle multiplies infinity by zero",
    ),
    (
        r#"pd.celu (%x) {alpha = 0.5}"#,
        800.0,
        1.0,
        "linear there: Paddle overflows",
    ),
    (
        r#"pd.celu (%x) {alpha = 1.0}"#,
        f64::INFINITY,
        1.0,
        "linear there: Paddle overflows",
    ),
    (
        r#"pd.leaky_relu (%x) {negative_slope = 0.125}"#,
        0.0,
        0.125,
        "either slope will do: torch takes this one",
    ),
    (
        r#"pd.leaky_relu (%x) {negative_slope = 0.01}"#,
        f64::NAN,
        0.01,
        "neither is right",
    ),
    (
        r#"pd.hardshrink (%x) {threshold = 0.5}"#,
        0.5,
        0.0,
        "a leap: torch takes the slope on the inside",
    ),
    (
        r#"pd.hardshrink (%x) {threshold = 0.5}"#,
        -0.5,
        0.0,
        "a leap: torch takes the slope on the inside",
    ),
    (
        r#"pd.prod (%x) {axis = [1]}"#,
        0.0,
        BY_THE_OTHERS,
        "a product is smooth at zero: Paddle divides by it",
    ),
    (
        r#"pd.p_norm (%x) {porder = 0x7FF0000000000000 : f64, axis = 1}"#,
        2.0,
        1.0 / 3.0,
        "ties share: ones are no subgradient",
    ),
    (
        r#"pd.p_norm (%x) {porder = 0x7FF0000000000000 : f64, axis = 1}"#,
        -2.0,
        -1.0 / 3.0,
        "ties share: ones are no subgradient",
    ),
    (
        r#"pd.p_norm (%x) {porder = 0xFFF0000000000000 : f64, axis = 1}"#,
        2.0,
        1.0 / 3.0,
        "ties share: ones are no subgradient",
    ),
    (
        r#"pd.p_norm (%x) {porder = 0xFFF0000000000000 : f64, axis = 1}"#,
        -2.0,
        -1.0 / 3.0,
        "ties share: ones are no subgradient",
    ),
    (
        r#"pd.sigmoid_cross_entropy_with_logits (%x, %y)"#,
        0.0,
        0.5,
        "smooth there: sigmoid(x) - y",
    ),
    (r#"pd.max (%x)"#, f64::NAN, 0.5, "a NaN is what comes of each of them"),
    (r#"pd.max (%x)"#, 1.0, 0.0, "a NaN is what comes of the others"),
    (
        r#"pd.sqrt (%m)"#,
        -1.0,
        0.0,
        "what is not chosen gets nothing, even of an infinite gradient",
    ),
    (
        r#"pd.sqrt (%m)"#,
        0.0,
        0.0,
        "what is not chosen gets nothing, even of an infinite gradient",
    ),
];

fn agree(ours: f64, theirs: f64) -> bool {
    ours == theirs || ours.is_nan() && theirs.is_nan() || (ours - theirs).abs() <= 1e-6 * theirs.abs().max(1.0)
}

fn same(x: f64, y: f64) -> bool {
    x == y || x.is_nan() && y.is_nan()
}

/// In rows of three.
fn product_of_others(values: &[f64], at: usize) -> f64 {
    let row = at / 3 * 3;
    (row..row + 3).filter(|&k| k != at).map(|k| values[k]).product()
}

#[test]
fn as_paddle_or_for_a_reason() {
    let ctx = pir_dialects::context();
    let (mut wrong, mut compared) = (Vec::new(), 0);
    let mut used = vec![false; DIFFERENT.len()];
    for case in cases() {
        let mut text = String::new();
        for (name, constant, value) in &case.inputs {
            text += &format!(
                "%{name} = pd.data {{name = \"{name}\", shape = {:?}, dtype = f64, stop_gradient = {constant}}}\n",
                value.shape()
            );
        }
        text += &format!(
            "{}\n%loss = pd.sum (%o)\npd.fetch (%loss) {{name = \"loss\"}}\n",
            case.lines
        );
        let plain = read(&ctx, &text);
        let inputs: Inputs = case.inputs.iter().map(|(n, _, v)| (n.clone(), v.clone())).collect();
        let mut results = Vec::new();
        for pipeline in ["backward", "backward,decompose,canonicalize,cse,dce"] {
            let mut with = plain.clone();
            passes(&mut with, pipeline);
            let fetched = run(&with, &inputs).fetched;
            let grads = case.grads.iter().map(|(name, _)| {
                let name = format!("{name}_grad");
                fetched.iter().find(|(n, _)| *n == name).unwrap().1.to_f64()
            });
            results.push((pipeline, grads.collect::<Vec<_>>()));
        }
        let options = Options {
            inputs: inputs.iter().cloned().collect(),
            ..Options::default()
        };
        let trace = eager::trace(&plain, &options, &mut std::io::sink()).unwrap();
        let wrt: Vec<String> = case.grads.iter().map(|g| g.0.clone()).collect();
        let targets = eager::Targets {
            wrt,
            ..eager::Targets::default()
        };
        let found = trace.orders(&targets, &vec![1.0; case.grads.len()], 1).unwrap();
        results.push(("eager", found[0].iter().map(|(_, t)| t.to_f64()).collect()));
        // Along ones the tangent is the sum of the gradients.
        let mut forward = plain.clone();
        passes(&mut forward, "jvp");
        let mut along = inputs.clone();
        for (name, grads) in &case.grads {
            let (_, _, like) = case.inputs.iter().find(|i| i.0 == *name).unwrap();
            let ones = Tensor::new(like.shape(), vec![1.0; grads.len()]).unwrap();
            along.push((format!("{name}_tangent"), ones));
        }
        let sum: f64 = results[0].1.iter().flatten().sum();
        let fetched = run(&forward, &along).fetched;
        let tangent = fetched.iter().find(|(n, _)| n == "loss_tangent").unwrap().1.to_f64()[0];
        // An infinite slope after a tangent that happens to be zero is NaN; a single operation has no such case.
        if case.lines.lines().count() == 1 && sum.is_finite() && !agree(tangent, sum) {
            wrong.push(format!(
                "{}: the tangent is {tangent}, the sum of the gradients {sum}",
                case.lines
            ));
        }
        let op = case.lines.lines().last().unwrap().split_once("= ").unwrap().1;
        for (way, grads) in results {
            for ((name, theirs), ours) in case.grads.iter().zip(&grads) {
                assert_eq!(theirs.len(), ours.len(), "{text}");
                let of = case.inputs.iter().find(|i| i.0 == *name).unwrap().2.to_f64();
                for (at, (&theirs, &ours)) in theirs.iter().zip(ours).enumerate() {
                    compared += 1;
                    // Where they agree, there is no difference to excuse.
                    let excused = |d: &(&str, f64, f64, &str)| d.0 == op && same(d.1, of[at]);
                    let known = DIFFERENT.iter().position(excused).filter(|_| !agree(ours, theirs));
                    let expected = known.map_or(theirs, |k| {
                        used[k] = true;
                        match DIFFERENT[k].2 {
                            BY_THE_OTHERS => product_of_others(&of, at),
                            ours => ours,
                        }
                    });
                    if !agree(ours, expected) {
                        let x = of[at];
                        wrong.push(format!(
                            "(r#\"{op}\"#, {x:?}, {ours:?}, \"\"), // {way}: Paddle {theirs}"
                        ));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {compared}\n{}", wrong.len(), wrong.join("\n"));
    assert!(compared > 2000, "{compared}");
    assert!(used.iter().all(|&u| u), "{used:?}");
}
