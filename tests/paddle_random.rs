//! Random programs, written for PaddlePaddle and run by its executor, against the interpreter.
//!
//! PaddlePaddle is installed by `tools/paddle/setup`, which takes a while; where it cannot be, nothing is tested. So the
//! test is run by name: `cargo test --test paddle_random -- --ignored`.

#![allow(clippy::unwrap_used, reason = "in tests a panic is a failure")]

#[path = "common/batch.rs"]
mod batch;
#[path = "common/mod.rs"]
mod common;
#[path = "equivalence/generate.rs"]
#[allow(dead_code, reason = "only programs without effects are wanted")]
mod generate;

use batch::Batch;
use generate::Random;
use pir_ir::text::print;
use pir_tools::driver::{LoadOptions, load};
use pir_tools::source::Source;
use pir_translate::paddle;

/// How many random programs there are, unless `PIR_PROGRAMS` is set.
const PROGRAMS: u64 = 150;

/// What is done with each: nothing, what makes gradients of it, and what comes before and after that.
const PIPELINES: &[(&str, &str)] = &[
    ("plain", ""),
    ("optimized", "licm,cse,canonicalize,dce"),
    ("gradients", "backward{wrt=[x,y]}"),
    (
        "recomputed",
        "licm,cse,canonicalize,dce,backward{wrt=[x,y]},remat,canonicalize,licm,cse,forward-args,dce",
    ),
    (
        "twice",
        "backward{wrt=[x,y]},backward{of=\"x_grad\", wrt=[x]},canonicalize,cse,dce",
    ),
];

#[test]
#[ignore = "needs PaddlePaddle"]
fn random_programs() {
    let Some(python) = batch::python("paddle") else { return };
    let count = std::env::var("PIR_PROGRAMS").map_or(PROGRAMS, |n| n.parse().unwrap());
    let first: u64 = std::env::var("PIR_FIRST_PROGRAM").map_or(0, |n| n.parse().unwrap());
    let ctx = pir_dialects::context();
    let mut batch = Batch::new();
    let mut refused = 0;
    for seed in first..first + count {
        let mut random = Random::new(seed);
        let text = generate::program(&mut random, false);
        let inputs = batch::inputs(seed);
        let given = format!("p{seed}.in.npz");
        batch.tensors(&given, &inputs);
        let (kind, passes) = *random.pick(PIPELINES);
        let mut module = common::read(&ctx, &text);
        if !passes.is_empty() {
            common::passes(&mut module, passes);
        }
        let outcome = common::run(&module, &inputs).fetched;
        let wanted = format!("p{seed}.out.npz");
        batch.tensors(&wanted, &outcome);
        let saved = match paddle::write(&module) {
            Ok(saved) => saved,
            Err(errors) => {
                // Where and how often its executor lets values be recorded, decides whether it can be said: it is rare
                // that it cannot.
                assert_eq!(errors[0].code, "paddle-stack", "{errors:#?}");
                refused += 1;
                continue;
            }
        };
        batch.program(
            &format!("p{seed}.{kind}.json"),
            saved.as_ref(),
            &format!("{given} {wanted}"),
        );
        // What was written is read as a program that can be written, and does the same.
        let (back, _) = load(&ctx, &Source::new("saved.json", saved), LoadOptions::default()).unwrap();
        let again = common::run(&back, &inputs).fetched;
        for ((name, got), (_, want)) in again.iter().zip(&outcome) {
            // A negation is a product there, and has another zero.
            let same = got
                .to_f64()
                .iter()
                .zip(want.to_f64())
                .all(|(&g, w)| g == w || g.is_nan() && w.is_nan());
            assert!(
                same,
                "{seed} {kind}, `{name}`:\n{}",
                print(&module, &Default::default())
            );
        }
    }
    assert!(refused * 20 <= count, "{refused} of {count} programs are not written");
    batch.run(&python, "tools/paddle/batch");
}
