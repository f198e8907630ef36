//! Loops that are run again in runs of iterations: the same gradients, to the last bit, and no bound is needed.

#![allow(clippy::unwrap_used, reason = "in tests a panic is a failure")]

mod common;
#[path = "equivalence/generate.rs"]
#[allow(dead_code, reason = "each test binary uses a part")]
mod generate;
#[path = "common/size.rs"]
mod size;

use common::{Inputs, bits, inputs_for, passes, plain_loop_programs, read, run, text};
use pir_ir::Module;

fn inputs(module: &Module, n: i64) -> Inputs {
    inputs_for(module, n, n as u64 + 1).0
}

/// Compares with what `backward` alone gives.
#[track_caller]
fn check(plain: &Module, pipelines: &[&str], trips: &[i64]) {
    let mut recording = plain.clone();
    passes(&mut recording, "backward");
    for pipeline in pipelines {
        let mut module = recording.clone();
        passes(&mut module, pipeline);
        for &n in trips {
            let inputs = inputs(plain, n);
            assert_eq!(
                bits(&run(&module, &inputs)),
                bits(&run(&recording, &inputs)),
                "{pipeline}, {n} iterations\n{}",
                text(&module)
            );
        }
    }
}

#[test]
fn every_kind_of_loop() {
    for (name, source) in plain_loop_programs() {
        println!("{name}");
        let plain = read(&pir_dialects::context(), &source);
        let trips = [0, 1, 2, 3, 4, 5, 7, 16];
        let pipelines = [
            "remat{slots=1,segment=1}",
            "remat{slots=2,segment=3}",
            "remat{segment=4}",
            "remat{slots=3,segment=4,recompute=all}",
            "remat,remat{slots=2,segment=2},cse,dce",
        ];
        check(&plain, &pipelines, &trips);
    }
}

const HEAD: &str = "%n = pd.data {name = \"n\", shape = [], dtype = i64}
%zero = pd.full {shape = [], value = 0, dtype = i64}
%one = pd.full {shape = [], value = 1, dtype = i64}
%two = pd.full {shape = [], value = 2, dtype = i64}
%x = pd.data {name = \"x\", shape = [3], dtype = f64}
%y = pd.data {name = \"y\", shape = [3], dtype = f64}\n";

const TAIL: &str = "%loss = pd.sum (%h)\npd.fetch (%loss) {name = \"loss\"}\n";

fn case(middle: &str) -> Module {
    read(&pir_dialects::context(), &format!("{HEAD}{middle}{TAIL}"))
}

/// Several values, a branch, and values that change places.
const BRANCH: &str = "%i_e, %h, %g = pd.while (%zero, %x, %y) cond (%i, %a, %b) {
  %c = pd.less_than (%i, %n)
  cf.cond_yield (%c, %i, %a, %b)
} body (%i, %a, %b) {
  %r = pd.remainder (%i, %two)
  %even = pd.equal (%r, %zero)
  %d = pd.if (%even) then {
    %s = pd.sin (%a)
    %t = pd.tanh (%s)
    %p = pd.multiply (%t, %s)
    cf.yield (%p)
  } else {
    %s = pd.cos (%b)
    %p = pd.multiply (%a, %s)
    cf.yield (%p)
  }
  %e = pd.multiply (%d, %x)
  %f = pd.add (%e, %y)
  %k = pd.add (%i, %one)
  cf.yield (%k, %b, %f)
}\n";

/// A loop of unknown length in one, and one of known length in that.
const NESTED: &str = "%i_e, %h = pd.while (%zero, %x) cond (%i, %a) {
  %c = pd.less_than (%i, %n)
  cf.cond_yield (%c, %i, %a)
} body (%i, %a) {
  %m = pd.add (%i, %one)
  %j_e, %d = pd.while (%zero, %a) cond (%j, %e) {
    %c = pd.less_than (%j, %m)
    cf.cond_yield (%c, %j, %e)
  } body (%j, %e) {
    %l_e, %q = pd.while (%zero, %e) cond (%l, %u) {
      %c = pd.less_than (%l, %two)
      cf.cond_yield (%c, %l, %u)
    } body (%l, %u) {
      %s = pd.sin (%u)
      %v = pd.multiply (%s, %y)
      %k = pd.add (%l, %one)
      cf.yield (%k, %v)
    }
    %w = pd.add (%q, %x)
    %k = pd.add (%j, %one)
    cf.yield (%k, %w)
  }
  %t = pd.tanh (%d)
  %k = pd.add (%i, %one)
  cf.yield (%k, %t)
}\n";

const TRIPS: [i64; 11] = [0, 1, 2, 7, 31, 32, 33, 127, 128, 129, 200];

#[test]
fn many_iterations_without_a_bound() {
    let pipelines = [
        "remat{slots=4,segment=32}",
        "remat{slots=4,segment=32},lower-stacks",
        "remat{segment=8},lower-stacks",
        "remat{slots=32,segment=128},lower-stacks",
    ];
    check(&case(BRANCH), &pipelines, &TRIPS);
}

#[test]
fn loops_in_loops_without_a_bound() {
    let pipelines = [
        "remat{slots=2,segment=3}",
        "remat{slots=2,segment=3},lower-stacks",
        "remat{segment=4},lower-stacks",
        "remat{slots=32,segment=128},lower-stacks",
    ];
    check(&case(NESTED), &pipelines, &[0, 1, 2, 3, 7, 12, 33]);
}

#[test]
fn conditions_that_compute_are_run_by_single_iterations() {
    let moved = "%i_e, %h, %s_e = pd.while (%zero, %x, %y) cond (%i, %a, %b) {
  %c = pd.less_than (%i, %n)
  %s = pd.sin (%a)
  %t = pd.multiply (%s, %b)
  cf.cond_yield (%c, %i, %t, %a)
} body (%i, %a, %s) {
  %p = pd.multiply (%a, %s)
  %k = pd.add (%i, %one)
  cf.yield (%k, %p, %s)
}\n";
    check(
        &case(moved),
        &["remat{slots=2,segment=3}", "remat{slots=2,segment=3},lower-stacks"],
        &[0, 1, 2, 3, 7, 33],
    );
}

#[test]
fn memory_does_not_grow_with_the_number_of_iterations() {
    let plain = case(BRANCH);
    let mut module = plain.clone();
    passes(&mut module, "backward,remat{slots=4,segment=16}");
    let peak = |n| run(&module, &inputs(&plain, n)).stats.peak_stack_bytes;
    assert!(peak(64) > 0);
    assert_eq!(peak(200), peak(1000), "a run and four states");
}

#[test]
fn generated_programs_have_the_same_gradients_and_come_back() {
    let ctx = pir_dialects::context();
    let mut changed = 0;
    let count = size::programs(500);
    for seed in 0..count {
        let mut random = generate::Random::new(seed ^ 0x5E67_2026);
        let plain = read(&ctx, &generate::program(&mut random, false));
        let mut recording = plain.clone();
        passes(&mut recording, "backward");
        let pipeline = [
            "remat{slots=1,segment=2}",
            "remat{segment=3}",
            "remat{slots=2,segment=1}",
        ][seed as usize % 3];
        let mut module = recording.clone();
        passes(&mut module, pipeline);
        if !text(&module).contains("capacity") {
            continue;
        }
        changed += 1;
        for n in [0, 1, 3, 6] {
            let inputs = inputs(&plain, n);
            assert_eq!(
                bits(&run(&module, &inputs)),
                bits(&run(&recording, &inputs)),
                "seed {seed}, {pipeline}\n{}",
                text(&module)
            );
        }
        let mut back = read(&ctx, &text(&module));
        passes(&mut back, "strip-backward");
        assert_eq!(text(&back), text(&plain), "seed {seed}, {pipeline}");
    }
    assert!(changed > size::at_least(10), "{changed} of {count}");
}
