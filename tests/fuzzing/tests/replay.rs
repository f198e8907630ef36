//! The fuzzers' targets on inputs that are the same in every run: the test files, past failures, and mutations of the
//! test files. `PIR_FUZZ_CASES=100000 cargo test --release -p pir-fuzzing` runs more of them; `PIR_FUZZ_SEED` selects
//! others.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

use pir_fuzzing::{Random, Target, mutate, regressions, seeds, target};
use pir_tools::progress;

/// How large inputs may grow.
const LONGEST: usize = 32 << 10;

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// The mutated inputs of all targets that have started, and how many of them are done.
static TOTAL: AtomicUsize = AtomicUsize::new(0);
static DONE: AtomicUsize = AtomicUsize::new(0);

/// Runs a target on an input, and saves the input if the target panics.
fn survive(target: Target, name: &str, bytes: &[u8]) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| (target.run)(bytes))) {
        let path = format!("{}/{}-{name}", env!("CARGO_TARGET_TMPDIR"), target.name);
        let path = path.replace(' ', "-");
        let kept = std::fs::write(&path, bytes);
        println!("{}: {name} goes wrong: {path} {kept:?}", target.name);
        std::panic::resume_unwind(panic);
    }
}

fn replay(name: &str, cases: u64) {
    let Some(target) = target(name) else {
        panic!("there is no target {name}")
    };
    for (name, bytes) in regressions(name) {
        survive(target, &name, &bytes);
    }
    let seeds = seeds(name);
    assert!(!seeds.is_empty(), "{name} has nothing to start with");
    for (name, bytes) in &seeds {
        survive(target, name, bytes);
    }
    let first = number("PIR_FUZZ_SEED").unwrap_or_default() << 32;
    let cases = number("PIR_FUZZ_CASES").unwrap_or(cases);
    TOTAL.fetch_add(cases as usize, Ordering::Relaxed);
    progress::start("fuzzing");
    for case in first..first + cases {
        let mut random = Random::new(case);
        if let (Some((_, a)), Some((_, b))) = (random.pick(&seeds), random.pick(&seeds)) {
            let input = mutate(&mut random, target.name, a, b, LONGEST);
            survive(target, &format!("case {case}"), &input);
        }
        let done = DONE.fetch_add(1, Ordering::Relaxed) + 1;
        let total = TOTAL.load(Ordering::Relaxed);
        progress::count(done, total, || format!("fuzzing {}", target.name));
        if done == total {
            progress::finish();
        }
    }
}

#[test]
fn text() {
    replay("text", 300);
}

#[test]
fn paddle_json() {
    replay("paddle_json", 100);
}

#[test]
fn paddle_text() {
    replay("paddle_text", 200);
}

#[test]
fn paddle_program() {
    replay("paddle_program", 100);
}

#[test]
fn paddle_program_text() {
    replay("paddle_program_text", 100);
}

#[test]
fn graphdef() {
    replay("graphdef", 200);
}

#[test]
fn arrays() {
    replay("arrays", 300);
}

#[test]
fn pipeline() {
    replay("pipeline", 1000);
}

#[test]
fn execute() {
    replay("execute", 300);
}

#[test]
fn generated() {
    replay("generated", 150);
}
