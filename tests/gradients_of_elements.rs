//! Gradients of operations of MLIR's `tensor` and of complex numbers, against central differences.

#![allow(clippy::unwrap_used, reason = "in tests a panic is a failure")]

mod common;

use common::{Inputs, Numbers, check_tangents, compare_tangents, passes, read};
use pir_interp::{Options, Tensor};
use pir_ir::Module;

/// Every operation of `tensor` that has a rule.
const TENSORS: &str = "func.func @f(%x: f64, %y: f64, %z: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %a = tensor.from_elements %x, %y, %z, %x, %y, %y : tensor<2x3xf64>
  %b = math.sin %a : tensor<2x3xf64>
  %all = tensor.splat %z : tensor<2x3xf64>
  %c = arith.mulf %b, %all : tensor<2x3xf64>
  %row = tensor.extract_slice %c[1, 0] [1, 3] [1, 1] : tensor<2x3xf64> to tensor<3xf64>
  %e = math.exp %row : tensor<3xf64>
  %d = tensor.insert_slice %e into %c[0, 0] [1, 3] [1, 1] : tensor<3xf64> into tensor<2x3xf64>
  %flat = tensor.collapse_shape %d [[0, 1]] : tensor<2x3xf64> into tensor<6xf64>
  %g = tensor.insert %y into %flat[%c2] : tensor<6xf64>
  %loose = tensor.cast %g : tensor<6xf64> to tensor<?xf64>
  %tight = tensor.cast %loose : tensor<?xf64> to tensor<6xf64>
  %h = tensor.expand_shape %tight [[0, 1]] output_shape [3, 2] : tensor<6xf64> into tensor<3x2xf64>
  %p = tensor.extract %h[%c0, %c1] : tensor<3x2xf64>
  %q = tensor.extract %h[%c1, %c0] : tensor<3x2xf64>
  %r = tensor.extract %h[%c2, %c1] : tensor<3x2xf64>
  %s = tensor.extract %flat[%c3] : tensor<6xf64>
  %t = arith.mulf %p, %q : f64
  %u = arith.mulf %t, %r : f64
  %v = arith.addf %u, %s : f64
  return %v : f64
}";

fn run(module: &Module, function: &str, numbers: &[f64]) -> Vec<f64> {
    let given = ["x", "y", "z"].into_iter().zip(numbers);
    let options = Options {
        function: Some(function.to_owned()),
        inputs: given
            .map(|(name, &value)| (name.to_owned(), Tensor::scalar(value)))
            .collect(),
        ..Options::default()
    };
    let results = pir_interp::run(module, &options, &mut std::io::sink()).unwrap().results;
    results.iter().map(|result| result.to_f64()[0]).collect()
}

#[test]
fn tensors() {
    let plain = read(&pir_dialects::context(), TENSORS);
    let mut with = plain.clone();
    passes(&mut with, "backward");
    let start = [0.7, -0.4, 0.9];
    let results = run(&with, "f_grad", &start);
    assert_eq!(results[0], run(&plain, "f", &start)[0]);
    for (at, gradient) in results[1..].iter().enumerate() {
        let [above, below] = [1e-6, -1e-6].map(|step| {
            let mut moved = start;
            moved[at] += step;
            run(&plain, "f", &moved)[0]
        });
        let difference = (above - below) / 2e-6;
        assert!(
            difference.abs() > 1e-2 && (gradient - difference).abs() <= 1e-8,
            "{at}: {gradient}, by differences {difference}"
        );
    }
}

/// The derivative of a real number by the parts of complex ones.
#[test]
fn complex_numbers() {
    let text = "%x = pd.data {name = \"x\", shape = [3, 2], dtype = f64} : tensor<3x2xf64>
%w = pd.data {name = \"w\", shape = [3, 2], dtype = f64} : tensor<3x2xf64>
%a = pd.as_complex (%x) : tensor<3xcomplex<f64>>
%b = pd.as_complex (%w) : tensor<3xcomplex<f64>>
%c = pd.conj (%b) : tensor<3xcomplex<f64>>
%p = pd.multiply (%a, %c) : tensor<3xcomplex<f64>>
%q = pd.multiply (%p, %a) : tensor<3xcomplex<f64>>
%r = pd.as_real (%q) : tensor<3x2xf64>
%s = pd.multiply (%r, %w) : tensor<3x2xf64>
%loss = pd.sum (%s) : tensor<f64>
pd.fetch (%loss) {name = \"loss\"}
";
    let mut numbers = Numbers::new(11);
    let inputs: Inputs = ["x", "w"]
        .map(|name| (name.to_owned(), numbers.tensor(&[3, 2], -1.0, 1.0)))
        .into();
    check_tangents(&pir_dialects::context(), text, &inputs, &["x", "w"], 1e-6);
}

/// Functions of complex numbers whose derivatives have conjugates in PaddlePaddle's gradient operations.
#[test]
fn functions_of_complex_numbers() {
    let functions = [
        ("pd.inverse (%z)", "3x3x"),
        ("pd.det (%z)", ""),
        ("pd.cumsum (%z) {axis = 1}", "3x3x"),
        ("pd.elementwise_pow (%z, %w)", "3x3x"),
        ("pd.pad (%z) {paddings = [0, 1, 1, 0]}", "4x4x"),
    ];
    for (function, shape) in functions {
        let (complex, parts) = (format!("tensor<{shape}complex<f64>>"), format!("tensor<{shape}2xf64>"));
        let text = format!(
            "%x = pd.data {{name = \"x\", shape = [3, 3], dtype = f64}} : tensor<3x3xf64>
%y = pd.data {{name = \"y\", shape = [3, 3], dtype = f64}} : tensor<3x3xf64>
%z = pd.complex (%x, %y) : tensor<3x3xcomplex<f64>>
%w = pd.complex (%y, %x) : tensor<3x3xcomplex<f64>>
%f = {function} : {complex}
%r = pd.as_real (%f) : {parts}
%s = pd.sin (%r) : {parts}
%loss = pd.sum (%s) : tensor<f64>
pd.fetch (%loss) {{name = \"loss\"}}
"
        );
        let mut numbers = Numbers::new(7);
        let inputs: Inputs = ["x", "y"]
            .map(|name| (name.to_owned(), numbers.tensor(&[3, 3], 0.2, 1.0)))
            .into();
        let plain = read(&pir_dialects::context(), &text);
        let (mut forward, mut reverse) = (plain.clone(), plain.clone());
        passes(&mut forward, "jvp,decompose");
        passes(&mut reverse, "backward,decompose");
        compare_tangents(&plain, &forward, &reverse, &inputs, &["x", "y"], 1e-6);
    }
}

/// Products with no zero, with one and with two among the factors of an element, with and without the element itself.
#[test]
fn products_along_an_axis() {
    for own in [true, false] {
        let text = format!(
            "%x = pd.data {{name = \"x\", shape = [4], dtype = f64}} : tensor<4xf64>
%u = pd.data {{name = \"u\", shape = [6], dtype = f64}} : tensor<6xf64>
%i = pd.full_int_array {{value = [0, 0, 1, 1, 2, 2]}} : tensor<6xi64>
%o = pd.put_along_axis (%x, %i, %u) {{axis = 0, reduce = \"mul\", include_self = {own}}} : tensor<4xf64>
%s = pd.sin (%o) : tensor<4xf64>
%loss = pd.sum (%s) : tensor<f64>
pd.fetch (%loss) {{name = \"loss\"}}
"
        );
        let given = |values: &[f64]| Tensor::new(&[values.len()], values.to_vec()).unwrap();
        let inputs: Inputs = [
            ("x".to_owned(), given(&[0.7, -0.4, 1.1, 0.3])),
            ("u".to_owned(), given(&[0.5, -1.2, 0.0, 0.8, 0.0, 0.0])),
        ]
        .into();
        check_tangents(&pir_dialects::context(), &text, &inputs, &["x", "u"], 1e-6);
    }
}
