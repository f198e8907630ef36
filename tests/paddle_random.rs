//! Random programs, written for PaddlePaddle and run by its executor, against the interpreter.
//!
//! PaddlePaddle is installed by `tools/paddle/setup`, which takes a while; where it cannot be, nothing is tested. So the
//! test is run by name: `cargo test --test paddle_random -- --ignored`.

#![allow(clippy::unwrap_used, reason = "in tests a panic is a failure")]

#[path = "common/mod.rs"]
mod common;
#[path = "equivalence/generate.rs"]
#[allow(dead_code, reason = "only programs without effects are wanted")]
mod generate;

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Inputs, Numbers};
use generate::Random;
use pir_interp::Tensor;
use pir_ir::text::print;
use pir_tools::arrays::write_npz;
use pir_tools::driver::{LoadOptions, load};
use pir_tools::source::Source;
use pir_translate::paddle;

/// How many random programs there are, unless `PIR_PROGRAMS` says it.
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

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The Python with PaddlePaddle, if it can be had.
fn python() -> Option<PathBuf> {
    let setup = Command::new(root().join("tools/paddle/setup")).output().unwrap();
    let said = String::from_utf8_lossy(&setup.stderr);
    match setup.status.code() {
        Some(0) => Some(root().join(String::from_utf8(setup.stdout).unwrap().trim())),
        Some(77) => {
            eprint!("skipped: {said}");
            None
        }
        status => panic!("tools/paddle/setup ended with {status:?}: {said}"),
    }
}

fn inputs(seed: u64) -> Inputs {
    let mut numbers = Numbers::new(seed);
    let whole = |value: f64| Tensor::new(&[1], vec![value as i64]).unwrap();
    vec![
        ("x".to_owned(), numbers.tensor(&[4], -1.0, 1.0)),
        ("y".to_owned(), numbers.tensor(&[4], -1.0, 1.0)),
        ("n".to_owned(), whole(numbers.unit() * 5.0)),
        ("z".to_owned(), whole(numbers.unit() * 3.0)),
        ("c".to_owned(), Tensor::new(&[1], vec![numbers.unit() < 0.5]).unwrap()),
    ]
}

fn save(folder: &Path, name: &str, tensors: &[(String, Tensor)]) {
    let mut bytes = Vec::new();
    write_npz(tensors.iter().map(|(n, t)| (n.as_str(), t)), &mut bytes).unwrap();
    std::fs::write(folder.join(name), bytes).unwrap();
}

#[test]
#[ignore = "needs PaddlePaddle"]
fn random_programs() {
    let Some(python) = python() else { return };
    let count = std::env::var("PIR_PROGRAMS").map_or(PROGRAMS, |n| n.parse().unwrap());
    let first: u64 = std::env::var("PIR_FIRST_PROGRAM").map_or(0, |n| n.parse().unwrap());
    let ctx = pir_dialects::context();
    let folder = tempfile::tempdir().unwrap();
    let mut manifest = String::new();
    let mut refused = 0;
    for seed in first..first + count {
        let mut random = Random::new(seed);
        let text = generate::program(&mut random, false);
        let inputs = inputs(seed);
        let given = format!("p{seed}.in.npz");
        save(folder.path(), &given, &inputs);
        let (kind, passes) = *random.pick(PIPELINES);
        let mut module = common::read(&ctx, &text);
        if !passes.is_empty() {
            common::passes(&mut module, passes);
        }
        let outcome = common::run(&module, &inputs).fetched;
        let wanted = format!("p{seed}.out.npz");
        save(folder.path(), &wanted, &outcome);
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
        let program = format!("p{seed}.{kind}.json");
        std::fs::write(folder.path().join(&program), &saved).unwrap();
        let _ = writeln!(manifest, "{program} {given} {wanted}");
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
    std::fs::write(folder.path().join("manifest"), manifest).unwrap();
    let ran = Command::new(python)
        .arg(root().join("tools/paddle/batch"))
        .arg(folder.path().join("manifest"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    eprint!("{said}");
    if !ran.status.success() {
        let kept = folder.keep();
        let complaint = String::from_utf8_lossy(&ran.stderr);
        panic!("{said}\n{complaint}\nthe programs are in {}", kept.display());
    }
}
