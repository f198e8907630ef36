//! Stacks as tensors of static shape: the same results, to the last bit, and NaN where a bound was too low.

#![allow(clippy::unwrap_used, reason = "in tests a panic is a failure")]

mod common;
#[path = "equivalence/generate.rs"]
#[allow(dead_code, reason = "each test binary uses a part")]
mod generate;
#[path = "common/size.rs"]
mod size;

use common::{Inputs, inputs_for, passes, plain_loop_programs, read, run, text};
use pir_interp::Outcome;
use pir_ir::{Diagnostic, Module};
use pir_passes::{PassManager, Pipeline};

fn inputs(module: &Module, n: i64) -> Inputs {
    inputs_for(module, n, n as u64 + 1).0
}

/// The results as bits; all numbers that are none are the same.
fn bits(outcome: &Outcome) -> Vec<(String, Vec<u64>)> {
    let number = |x: f64| if x.is_nan() { f64::NAN.to_bits() } else { x.to_bits() };
    let fetched = outcome.fetched.iter();
    fetched
        .map(|(name, t)| (name.clone(), t.to_f64().into_iter().map(number).collect()))
        .collect()
}

/// Compares a program after a pipeline with what becomes of it by `lower-stacks`.
#[track_caller]
fn check(plain: &Module, pipeline: &str, lower: &str, trips: &[i64]) {
    let mut stacks = plain.clone();
    passes(&mut stacks, pipeline);
    let mut tensors = stacks.clone();
    passes(&mut tensors, lower);
    assert!(!text(&tensors).contains("_stack"), "{pipeline}\n{}", text(&tensors));
    for &n in trips {
        let inputs = inputs(plain, n);
        assert_eq!(
            bits(&run(&tensors, &inputs)),
            bits(&run(&stacks, &inputs)),
            "{pipeline},{lower}, {n} iterations\n{}",
            text(&tensors)
        );
    }
}

/// The errors of `lower-stacks` for a program.
fn refused(source: &str, pipeline: &str) -> Vec<Diagnostic> {
    let mut module = read(&pir_dialects::context(), source);
    let parsed = Pipeline::parse(pipeline).unwrap();
    PassManager::new().run(&mut module, &parsed).unwrap_err()
}

#[test]
fn every_kind_of_loop() {
    for (name, source) in plain_loop_programs() {
        println!("{name}");
        let plain = read(&pir_dialects::context(), &source);
        let trips = [0, 1, 2, 7, 16];
        // A result of integers that is on a stack cannot be NaN.
        let lower = match source.contains("%last = cf.pop_back") {
            true => "lower-stacks{bound=20,overflow=unchecked}",
            false => "lower-stacks{bound=20}",
        };
        for pipeline in [
            "backward",
            "backward,remat",
            "backward,remat{recompute=all}",
            "backward,remat{slots=3}",
        ] {
            check(&plain, pipeline, lower, &trips);
        }
        check(&plain, "backward,remat{slots}", lower, &trips);
    }
}

/// Runs a check on many generated programs, which gives whether it lowered the program; at least so many have to be.
fn generated(salt: u64, effects: bool, least: u64, check: impl Fn(u64, &str) -> bool) {
    let count = size::programs(600);
    let lowered = (0..count).filter(|&seed| {
        println!("seed {seed}");
        let mut random = generate::Random::new(seed ^ salt);
        check(seed, &generate::program(&mut random, effects))
    });
    let lowered = lowered.count() as u64;
    assert!(lowered > size::at_least(least), "{lowered} of {count}");
}

#[test]
fn generated_programs() {
    let ctx = pir_dialects::context();
    generated(0x57AC_2026, false, 50, |seed, source| {
        let plain = read(&ctx, source);
        let mut stacks = plain.clone();
        passes(&mut stacks, "backward");
        let has_stacks = text(&stacks).contains("_stack");
        if has_stacks {
            let pipeline = ["backward", "backward,remat", "backward,remat{slots=2}"][seed as usize % 3];
            check(&plain, pipeline, "lower-stacks{bound=8}", &[0, 1, 3, 6]);
        }
        has_stacks
    });
}

/// Programs that push and pop themselves, in loops and branches.
#[test]
fn generated_stacks() {
    let ctx = pir_dialects::context();
    generated(0x57AC_2027, true, 20, |seed, source| {
        // Integer divisions may fail.
        let may_fail = ["divide", "remainder", "mod"].iter().any(|op| source.contains(op));
        let is_checked = source.contains("cf.create_stack") && !may_fail;
        if is_checked {
            let pipeline = ["cse", "canonicalize", "O2"][seed as usize % 3];
            let lower = "lower-stacks{bound=8,overflow=unchecked}";
            check(&read(&ctx, source), pipeline, lower, &[0, 1, 3, 6]);
        }
        is_checked
    });
}

const HEAD: &str = "%n = pd.data {name = \"n\", shape = [], dtype = i64}
%zero = pd.full {shape = [], value = 0, dtype = i64}
%one = pd.full {shape = [], value = 1, dtype = i64}
%x = pd.data {name = \"x\", shape = [1, 3], dtype = f64}
%w = pd.data {name = \"w\", shape = [3, 3], dtype = f64}\n";

/// `h = tanh(h·w + x)`, so often.
fn steps(bound: &str) -> String {
    format!(
        "{HEAD}%i_e, %h = pd.while (%zero, %x) cond (%i, %a) {{
  %c = pd.less_than (%i, {bound})
  cf.cond_yield (%c, %i, %a)
}} body (%i, %a) {{
  %p = pd.matmul (%a, %w)
  %s = pd.add (%p, %x)
  %t = pd.tanh (%s)
  %k = pd.add (%i, %one)
  cf.yield (%k, %t)
}}
%loss = pd.sum (%h)
pd.fetch (%loss) {{name = \"loss\"}}\n"
    )
}

/// An inner loop in one branch of an outer one, and another branch in it.
const NESTED: &str = "%two = pd.full {shape = [], value = 2, dtype = i64}
%i_e, %h = pd.while (%zero, %x) cond (%i, %a) {
  %c = pd.less_than (%i, %n)
  cf.cond_yield (%c, %i, %a)
} body (%i, %a) {
  %r = pd.remainder (%i, %two)
  %even = pd.equal (%r, %zero)
  %b = pd.if (%even) then {
    %m = pd.add (%r, %two)
    %j_e, %d = pd.while (%zero, %a) cond (%j, %e) {
      %c = pd.less_than (%j, %m)
      cf.cond_yield (%c, %j, %e)
    } body (%j, %e) {
      %s = pd.sin (%e)
      %p = pd.multiply (%s, %e)
      %first = pd.equal (%j, %zero)
      %q = pd.if (%first) then {
        %u = pd.exp (%p)
        %v = pd.multiply (%u, %s)
        cf.yield (%v)
      } else {
        cf.yield (%p)
      }
      %k = pd.add (%j, %one)
      cf.yield (%k, %q)
    }
    cf.yield (%d)
  } else {
    %f = pd.cos (%a)
    %g = pd.multiply (%f, %a)
    cf.yield (%g)
  }
  %t = pd.add (%b, %x)
  %k = pd.add (%i, %one)
  cf.yield (%k, %t)
}
%loss = pd.sum (%h)
pd.fetch (%loss) {name = \"loss\"}\n";

const TRIPS: [i64; 12] = [0, 1, 2, 7, 31, 32, 33, 127, 128, 129, 200, 3];

#[test]
fn many_iterations() {
    let ctx = pir_dialects::context();
    let plain = read(&ctx, &steps("%n"));
    check(&plain, "backward", "lower-stacks{bound=200}", &TRIPS);
    check(&plain, "backward,remat{slots=5}", "lower-stacks", &TRIPS);
    check(&plain, "backward,remat{slots}", "lower-stacks", &TRIPS);
    let plain = read(&ctx, &format!("{HEAD}{NESTED}"));
    for pipeline in ["backward", "backward,sink-stacks"] {
        check(&plain, pipeline, "lower-stacks{bound=70}", &[0, 1, 2, 3, 7, 33, 70]);
    }
    check(
        &plain,
        "backward,remat{recompute=all}",
        "lower-stacks{bound=70}",
        &[0, 1, 2, 7, 70],
    );
}

#[test]
fn a_loop_that_counts_to_a_constant_needs_no_bound() {
    let ctx = pir_dialects::context();
    for trips in [0, 1, 2, 7, 31] {
        let ten = format!("%ten = pd.full {{shape = [], value = {trips}, dtype = i64}}\n");
        let plain = read(&ctx, &steps("%ten").replace("%i_e", &format!("{ten}%i_e")));
        for pipeline in [
            "backward",
            "backward,remat,batch-weight-grads",
            "backward,backward{of=x_grad}",
        ] {
            check(&plain, pipeline, "lower-stacks", &[0]);
        }
    }
}

#[test]
fn joined_stacks_are_the_buffers() {
    let ctx = pir_dialects::context();
    let plain = read(&ctx, &steps("%n"));
    let mut stacks = plain.clone();
    passes(&mut stacks, "backward,batch-weight-grads");
    assert!(text(&stacks).contains("cf.join_stack"));
    let mut tensors = stacks.clone();
    passes(&mut tensors, "lower-stacks{bound=40}");
    for n in [0, 1, 2, 7, 31, 40] {
        let inputs = inputs(&plain, n);
        let (stacks, tensors) = (run(&stacks, &inputs), run(&tensors, &inputs));
        for ((name, a), (_, b)) in stacks.fetched.iter().zip(&tensors.fetched) {
            for (a, b) in a.to_f64().iter().zip(b.to_f64()) {
                assert!((a - b).abs() <= 1e-12 * a.abs().max(1.0), "{name}, {n}: {a} {b}");
            }
        }
    }
}

#[test]
fn what_a_branch_takes_from_a_stack_if_there_is_something() {
    let source = format!(
        "{HEAD}%all = cf.create_stack () : cf.stack
%i_e, %h = pd.while (%zero, %x) cond (%i, %a) {{
  %c = pd.less_than (%i, %n)
  cf.cond_yield (%c, %i, %a)
}} body (%i, %a) {{
  %t = pd.sin (%a)
  cf.push_back (%all, %t)
  %k = pd.add (%i, %one)
  cf.yield (%k, %t)
}}
%five = pd.full {{shape = [], value = 5, dtype = i64}}
%j_e, %loss = pd.while (%zero, %h) cond (%j, %b) {{
  %c = pd.less_than (%j, %five)
  cf.cond_yield (%c, %j, %b)
}} body (%j, %b) {{
  %none = cf.is_empty (%all) : i1
  %some = pd.logical_not (%none) : i1
  %d = pd.if (%some) then {{
    %v = cf.pop_back (%all) : tensor<1x3xf64>
    %e = pd.add (%b, %v)
    cf.yield (%e)
  }} else {{
    %e = pd.multiply (%b, %x)
    cf.yield (%e)
  }}
  %k = pd.add (%j, %one)
  cf.yield (%k, %d)
}}
pd.fetch (%loss) {{name = \"loss\"}}\n"
    );
    let plain = read(&pir_dialects::context(), &source);
    check(
        &plain,
        "cse",
        "lower-stacks{bound=7,overflow=unchecked}",
        &[0, 1, 2, 5, 7],
    );
}

#[test]
fn second_derivatives() {
    let ctx = pir_dialects::context();
    for source in [steps("%n"), format!("{HEAD}{NESTED}")] {
        let plain = read(&ctx, &source);
        check(
            &plain,
            "backward,backward{of=x_grad}",
            "lower-stacks{bound=8}",
            &[0, 1, 2, 7, 8],
        );
    }
}

#[test]
fn more_iterations_than_the_bound_are_no_number() {
    let ctx = pir_dialects::context();
    for (source, bound) in [(steps("%n"), 8), (format!("{HEAD}{NESTED}"), 8)] {
        let plain = read(&ctx, &source);
        for (pipeline, lower) in [
            ("backward", "lower-stacks{bound=8,overflow=nan}"),
            ("backward,batch-weight-grads", "lower-stacks{bound=8,overflow=nan}"),
            ("backward,backward{of=x_grad}", "lower-stacks{bound=8,overflow=nan}"),
        ] {
            let mut module = plain.clone();
            passes(&mut module, &format!("{pipeline},{lower}"));
            for n in [bound, bound + 1, 3 * bound] {
                let outcome = run(&module, &inputs(&plain, n));
                for (name, tensor) in &outcome.fetched {
                    // The nested loops do not read it.
                    let is_zero = source.contains("%two") && name.starts_with("w_grad");
                    let wanted = n > bound && name != "loss" && !is_zero;
                    let are_none = tensor.to_f64().iter().all(|x| x.is_nan());
                    assert_eq!(are_none, wanted, "{pipeline}, {n}: {name} {:?}", tensor.to_f64());
                }
            }
            let unchecked = lower.replace("nan", "unchecked");
            let mut module = plain.clone();
            passes(&mut module, &format!("{pipeline},{unchecked}"));
            let outcome = run(&module, &inputs(&plain, 2 * bound));
            assert!(
                outcome
                    .fetched
                    .iter()
                    .all(|(_, t)| t.to_f64().iter().all(|x| x.is_finite()))
            );
        }
    }
}

#[test]
fn more_iterations_than_the_bound_are_run_again() {
    let ctx = pir_dialects::context();
    for source in [steps("%n"), format!("{HEAD}{NESTED}")] {
        let plain = read(&ctx, &source);
        for lower in [
            "lower-stacks{bound=8}",
            "lower-stacks{bound=1}",
            "remat{slots=2,segment=3,spill=true},lower-stacks{bound=5}",
            "remat{slots=2,segment=3,spill=true},lower-stacks{bound=9,total=12}",
        ] {
            check(&plain, "backward", lower, &[0, 1, 2, 7, 8, 9, 13, 33]);
        }
    }
}

#[test]
fn what_has_no_size_is_refused() {
    let errors = refused(&steps("%n"), "backward,lower-stacks");
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!(errors[0].code, "stack-bound");
    assert!(errors[0].help.as_ref().unwrap().contains("remat{slots=32,segment=128}"));
    let dynamic = "%x = pd.data {name = \"x\", shape = [-1], dtype = f64}
%s = cf.create_stack () : cf.stack
cf.push_back (%s, %x)
%y = cf.pop_back (%s) : tensor<?xf64>
pd.fetch (%y) {name = \"y\"}\n";
    let errors = refused(dynamic, "lower-stacks");
    assert_eq!(errors[0].code, "stack-element", "{errors:?}");
    let copied = "%x = pd.data {name = \"x\", shape = [2], dtype = f64}
%s = cf.create_stack () : cf.stack
cf.push_back (%s, %x)
%t = cf.copy_stack (%s) : cf.stack
%y = cf.pop_back (%t) : tensor<2xf64>
pd.fetch (%y) {name = \"y\"}\n";
    assert_eq!(refused(copied, "lower-stacks")[0].code, "stack-unknown");
}
