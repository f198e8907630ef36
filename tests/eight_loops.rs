//! The eight loops of `test-files/autodiff/loops`, narrow and in f64: derivatives of orders 1 and 2, of two of them of
//! order 3, for no iteration and for several.

#![allow(clippy::unwrap_used, reason = "in tests a panic is a failure")]

mod common;

use std::path::Path;

use common::{check_orders, compare_with_differences, inputs_for, passes, read};

const LOOPS: [&str; 8] = [
    "tanh_rnn",
    "lstm",
    "gru",
    "newton",
    "power_iteration",
    "if_in_while",
    "while_in_while",
    "invariants",
];

/// A state of three numbers in place of 256.
fn narrow(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("test-files/autodiff/loops/{name}.pir"));
    let text = std::fs::read_to_string(path).unwrap();
    text.replace("1024", "12").replace("256", "3").replace("f32", "f64")
}

#[test]
fn first_derivatives() {
    for name in LOOPS {
        let plain = read(&pir_dialects::context(), &narrow(name));
        for pipeline in [
            "backward",
            "backward,remat",
            "backward,remat{recompute=all}",
            "backward,remat{slots=2}",
            "licm,forward-args,cse,backward,canonicalize,cse,dce",
            "backward,batch-weight-grads,inplace-accumulate",
            "backward,sink-stacks,remat",
        ] {
            let mut with = plain.clone();
            passes(&mut with, pipeline);
            for n in 0..=4 {
                let (inputs, wrt) = inputs_for(&plain, n, n as u64 + 1);
                let wrt: Vec<&str> = wrt.iter().map(String::as_str).collect();
                let worst = compare_with_differences(&plain, &with, &inputs, &wrt);
                assert!(worst < 1e-6, "{name}, {pipeline}, {n} iterations: {worst}");
            }
        }
    }
}

#[test]
fn second_derivatives() {
    for name in LOOPS {
        for between in [
            "",
            "canonicalize,cse,dce",
            "remat{slots=2}",
            "batch-weight-grads",
            "batch-weight-grads,canonicalize,cse,dce",
            "sink-stacks",
        ] {
            println!("{name} {between}");
            check_orders(&narrow(name), between, 2);
        }
    }
}

#[test]
fn third_derivatives() {
    for name in ["tanh_rnn", "newton", "if_in_while"] {
        println!("{name}");
        check_orders(&narrow(name), "", 3);
    }
}
