//! Gradients through buffers, also of buffers that are arguments, against central differences.

#![allow(clippy::unwrap_used, reason = "in tests a panic is a failure")]

mod common;

use common::{Inputs, Numbers, passes, read};
use pir_interp::{Options, Tensor};
use pir_ir::Module;

/// Functions `@f(%x: f64, %b: memref<6xf64>) -> f64`.
const PROGRAMS: &[(&str, &str)] = &[
    (
        "overwriting in a loop",
        "func.func @f(%x: f64, %b: memref<6xf64>) -> f64 {
           %c0 = arith.constant 0 : index
           %c1 = arith.constant 1 : index
           %c6 = arith.constant 6 : index
           %y = scf.for %i = %c1 to %c6 step %c1 iter_args(%a = %x) -> (f64) {
             %h = arith.subi %i, %c1 : index
             %p = memref.load %b[%h] : memref<6xf64>
             %q = memref.load %b[%i] : memref<6xf64>
             %s = math.sin %q : f64
             %r = arith.mulf %s, %p : f64
             memref.store %r, %b[%i] : memref<6xf64>
             %t = arith.mulf %a, %r : f64
             %u = arith.addf %t, %p : f64
             scf.yield %u : f64
           }
           %e = memref.load %b[%c0] : memref<6xf64>
           %z = arith.mulf %y, %e : f64
           return %z : f64
         }",
    ),
    (
        "branches and copies",
        "func.func @f(%x: f64, %b: memref<6xf64>) -> f64 {
           %c0 = arith.constant 0 : index
           %c1 = arith.constant 1 : index
           %c2 = arith.constant 2 : index
           %c6 = arith.constant 6 : index
           %zero = arith.constant 0.0 : f64
           %a = memref.alloc() : memref<6xf64>
           memref.copy %b, %a : memref<6xf64> to memref<6xf64>
           scf.for %i = %c0 to %c6 step %c1 {
             %p = memref.load %a[%i] : memref<6xf64>
             %g = arith.cmpf ogt, %p, %zero : f64
             scf.if %g {
               %e = math.exp %p : f64
               %q = arith.mulf %e, %x : f64
               memref.store %q, %a[%i] : memref<6xf64>
             } else {
               memref.store %x, %a[%i] : memref<6xf64>
               memref.store %p, %b[%c2] : memref<6xf64>
             }
           }
           memref.copy %a, %b : memref<6xf64> to memref<6xf64>
           %y = scf.for %i = %c0 to %c6 step %c1 iter_args(%s = %zero) -> (f64) {
             %p = memref.load %b[%i] : memref<6xf64>
             %q = arith.mulf %p, %p : f64
             %t = arith.addf %s, %q : f64
             scf.yield %t : f64
           }
           memref.dealloc %a : memref<6xf64>
           return %y : f64
         }",
    ),
    (
        "functions that take buffers",
        "func.func private @swap(%b: memref<6xf64>, %i: index, %j: index) {
           %p = memref.load %b[%i] : memref<6xf64>
           %q = memref.load %b[%j] : memref<6xf64>
           %r = math.cos %q : f64
           memref.store %r, %b[%i] : memref<6xf64>
           memref.store %p, %b[%j] : memref<6xf64>
           return
         }
         func.func private @at(%b: memref<6xf64>, %i: index, %x: f64) -> f64 {
           %p = memref.load %b[%i] : memref<6xf64>
           %q = arith.mulf %p, %x : f64
           return %q : f64
         }
         func.func @f(%x: f64, %b: memref<6xf64>) -> f64 {
           %c0 = arith.constant 0 : index
           %c1 = arith.constant 1 : index
           %c5 = arith.constant 5 : index
           %y = scf.for %i = %c0 to %c5 step %c1 iter_args(%a = %x) -> (f64) {
             %j = arith.addi %i, %c1 : index
             func.call @swap(%b, %i, %j) : (memref<6xf64>, index, index) -> ()
             %t = func.call @at(%b, %i, %a) : (memref<6xf64>, index, f64) -> f64
             %u = arith.addf %t, %x : f64
             scf.yield %u : f64
           }
           %z = call @at(%b, %c5, %y) : (memref<6xf64>, index, f64) -> f64
           return %z : f64
         }",
    ),
];

fn run(module: &Module, function: &str, inputs: &Inputs) -> pir_interp::Outcome {
    let options = Options {
        function: Some(function.to_owned()),
        inputs: inputs.iter().cloned().collect(),
        ..Options::default()
    };
    pir_interp::run(module, &options, &mut std::io::sink()).unwrap()
}

#[test]
fn gradients_of_buffers_are_those_of_differences() {
    for (name, text) in PROGRAMS {
        let plain = read(&pir_dialects::context(), text);
        let mut with = plain.clone();
        passes(&mut with, "backward");
        let mut numbers = Numbers::new(7);
        let start = numbers.tensor(&[7], -0.9, 0.9).to_f64();
        let inputs = |numbers: &[f64]| -> Inputs {
            let elements = Tensor::new(&[6], numbers[1..].to_vec()).unwrap();
            vec![
                ("x".to_owned(), Tensor::new(&[], vec![numbers[0]]).unwrap()),
                ("b".to_owned(), elements),
            ]
        };
        let value = |numbers: &[f64]| run(&plain, "f", &inputs(numbers)).results[0].to_f64()[0];
        let mut with_shadow = inputs(&start);
        with_shadow.push(("b_grad".to_owned(), Tensor::new(&[6], vec![0.0; 6]).unwrap()));
        let done = run(&with, "f_grad", &with_shadow);
        let left = done.fetched.iter().find(|(name, _)| name == "b_grad").unwrap();
        let gradients: Vec<f64> = done.results[1].to_f64().into_iter().chain(left.1.to_f64()).collect();
        assert_eq!(done.results[0].to_f64()[0], value(&start), "{name}");
        for (at, gradient) in gradients.iter().enumerate() {
            let [above, below] = [1e-6, -1e-6].map(|step| {
                let mut moved = start.clone();
                moved[at] += step;
                value(&moved)
            });
            let difference = (above - below) / 2e-6;
            assert!(
                (gradient - difference).abs() <= 1e-7 * difference.abs().max(1.0),
                "{name}: {at}: {gradient}, by differences {difference}"
            );
        }
        assert!(
            gradients.iter().filter(|gradient| **gradient != 0.0).count() > 2,
            "{name}: {gradients:?}"
        );
    }
}
