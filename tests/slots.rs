//! Checkpointed loops: the same gradients, to the last bit, from few states and with as few steps as there can be.

#![allow(clippy::unwrap_used, reason = "in tests a panic is a failure")]

mod common;
#[path = "equivalence/generate.rs"]
#[allow(dead_code, reason = "each test binary uses a part")]
mod generate;
#[path = "common/parallel.rs"]
mod parallel;
#[path = "common/size.rs"]
mod size;

use std::path::Path;

use common::{Inputs, bits, inputs_for, passes, plain_loop_programs, read, run, text};
use pir_interp::Outcome;
use pir_ir::{Module, Severity};
use pir_passes::autodiff::{Recompute, RematOptions, rematerialize};

const TRIPS: [i64; 8] = [0, 1, 2, 3, 4, 7, 16, 50];
const SLOTS: [i64; 4] = [1, 2, 3, 0];

fn inputs(module: &Module, n: i64) -> Inputs {
    inputs_for(module, n, n as u64 + 1).0
}

fn with_slots(plain: &Module, pipeline: &str, slots: i64) -> Module {
    let mut module = plain.clone();
    passes(&mut module, &pipeline.replace("slots", &format!("slots={slots}")));
    module
}

/// Compares with the gradients without checkpoints, for all numbers of iterations and of slots.
#[track_caller]
fn check(plain: &Module, pipeline: &str) {
    let mut recording = plain.clone();
    passes(&mut recording, "backward");
    for slots in SLOTS {
        let module = with_slots(plain, pipeline, slots);
        for n in TRIPS {
            let inputs = inputs(plain, n);
            let expected = bits(&run(&recording, &inputs));
            let outcome = run(&module, &inputs);
            assert_eq!(
                bits(&outcome),
                expected,
                "{pipeline}, {slots} slots, {n} iterations\n{}",
                text(&module)
            );
            // What the program records for itself, it records.
            let pushed = |outcome: &Outcome| -> u64 {
                let loops = outcome.stats.loops.iter();
                let forward = loops.filter(|l| l.op == "pd.while" && l.depth == 0);
                forward.map(|l| l.pushed_values).sum()
            };
            assert_eq!(
                pushed(&outcome),
                pushed(&run(plain, &inputs)),
                "the loop records\n{}",
                text(&module)
            );
        }
    }
}

#[test]
fn every_kind_of_loop() {
    parallel::for_each(&plain_loop_programs(), |(name, source)| {
        println!("{name}");
        let plain = read(&pir_dialects::context(), source);
        check(&plain, "backward,remat{slots}");
        check(&plain, "backward,remat{slots recompute=all},cse,dce");
        check(&plain, "backward,remat,remat{slots}");
    });
}

const HEAD: &str = "%n = pd.data {name = \"n\", shape = [1], dtype = i64}
%zero = pd.full {shape = [1], value = 0, dtype = i64}
%one = pd.full {shape = [1], value = 1, dtype = i64}
%x = pd.data {name = \"x\", shape = [3], dtype = f64}
%y = pd.data {name = \"y\", shape = [3], dtype = f64}\n";

const TAIL: &str = "%loss = pd.sum (%sum)\npd.fetch (%loss) {name = \"loss\"}\n";

fn case(middle: &str) -> Module {
    read(&pir_dialects::context(), &format!("{HEAD}{middle}{TAIL}"))
}

/// The product counts the steps: it is taken in the body alone.
const SINES: &str = "%i_e, %sum = pd.while (%zero, %x) cond (%i, %a) {
  %c = pd.less_than (%i, %n)
  cf.cond_yield (%c, %i, %a)
} body (%i, %a) {
  %m = pd.sin (%a)
  %p = pd.multiply (%m, %y)
  %k = pd.add (%i, %one)
  cf.yield (%k, %p)
}\n";

#[test]
fn conditions_that_compute_and_values_that_move() {
    check(
        &case(
            "%i_e, %a_e, %s_e = pd.while (%zero, %x) cond (%i, %a) {
  %c = pd.less_than (%i, %n)
  %s = pd.sin (%a)
  %t = pd.multiply (%s, %y)
  cf.cond_yield (%c, %i, %t, %a)
} body (%i, %a, %s) {
  %p = pd.multiply (%a, %s)
  %k = pd.add (%i, %one)
  cf.yield (%k, %p)
}
%sum = pd.multiply (%a_e, %s_e)\n",
        ),
        "backward,remat{slots}",
    );
    check(
        &case(
            "%i_e, %a_e, %b_e, %j_e = pd.while (%zero, %x, %y, %one) cond (%i, %a, %b, %j) {
  %c = pd.less_than (%i, %n)
  cf.cond_yield (%c, %i, %a, %b, %j)
} body (%i, %a, %b, %j) {
  %p = pd.multiply (%a, %b)
  %q = pd.sin (%b)
  %f = pd.cast (%j) {dtype = f64}
  %r = pd.divide (%p, %f)
  %k = pd.add (%i, %one)
  %l = pd.add (%j, %k)
  cf.yield (%k, %q, %r, %l)
}
%sum = pd.add (%a_e, %b_e)\n",
        ),
        "backward,remat{slots}",
    );
}

#[test]
fn loops_in_loops_are_run_again_with_their_records() {
    check(
        &case(
            "%two = pd.full {shape = [1], value = 2, dtype = i64}
%i_e, %sum = pd.while (%zero, %x) cond (%i, %a) {
  %c = pd.less_than (%i, %n)
  cf.cond_yield (%c, %i, %a)
} body (%i, %a) {
  %j_e, %b_e = pd.while (%zero, %a) cond (%j, %b) {
    %few = pd.less_equal (%j, %two)
    %c = pd.less_than (%j, %i)
    %d = pd.logical_and (%few, %c)
    cf.cond_yield (%d, %j, %b)
  } body (%j, %b) {
    %m = pd.sin (%b)
    %p = pd.multiply (%m, %y)
    %k = pd.add (%j, %one)
    cf.yield (%k, %p)
  }
  %l_e, %d_e = pd.while (%zero, %b_e) cond (%l, %d) {
    %c = pd.less_than (%l, %two)
    cf.cond_yield (%c, %l, %d)
  } body (%l, %d) {
    %p = pd.add (%d, %y)
    %k = pd.add (%l, %one)
    cf.yield (%k, %p)
  }
  %s = pd.sum (%d_e)
  %h = pd.full {shape = [], value = 6.0, dtype = f64}
  %big = pd.greater_than (%s, %h)
  %r = pd.if (%big) then {
    %t = pd.tanh (%d_e)
    cf.yield (%t)
  } else {
    %t = pd.multiply (%d_e, %b_e)
    cf.yield (%t)
  }
  %k = pd.add (%i, %one)
  cf.yield (%k, %r)
}\n",
        ),
        "backward,remat{slots}",
    );
}

/// The least number of steps forward for `l` iterations from `c` states, by trying every place for the next state.
fn least_steps(l: usize, c: usize) -> u64 {
    let mut table = vec![vec![0u64; l + 1]; c + 1];
    for states in 1..=c {
        for length in 2..=l {
            let alone = (length as u64 * (length as u64 - 1)) / 2;
            let by_split = (1..length)
                .filter(|_| states > 1)
                .map(|m| m as u64 + table[states - 1][length - m] + table[states][m]);
            table[states][length] = by_split.min().map_or(alone, |best| best.min(alone));
        }
    }
    table[c][l]
}

#[test]
fn no_schedule_takes_fewer_steps_or_less_memory() {
    let plain = case(SINES);
    for slots in SLOTS {
        let module = with_slots(&plain, "backward,remat{slots}", slots);
        for n in TRIPS {
            let stats = run(&module, &inputs(&plain, n)).stats;
            let allowed = match slots {
                0 => (0..).find(|&k| 1i64 << k >= n).unwrap(),
                given => given,
            } as u64;
            // Three numbers, and which iteration they are of; the first state is on the stack as well.
            assert!(
                stats.peak_stack_bytes <= (allowed + 1) * (3 * 8 + 8),
                "{slots} slots, {n} iterations: {} bytes",
                stats.peak_stack_bytes
            );
            let replayed: u64 = stats
                .loops
                .iter()
                .filter(|l| l.name.as_deref() == Some("replayed"))
                .map(|l| l.iterations)
                .sum();
            // The operands of the loop are one more state that is there.
            assert_eq!(
                replayed,
                least_steps(n as usize, allowed as usize + 1),
                "{slots} slots, {n} iterations"
            );
        }
    }
    assert!(least_steps(50, 4) < 50 * 4);
}

#[test]
fn memory_does_not_grow_with_the_number_of_iterations() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("test-files/autodiff/loops");
    for entry in std::fs::read_dir(folder).unwrap() {
        let source = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        if !source.contains("name = \"n\"") || source.matches("pd.while").count() > 2 {
            continue;
        }
        let source = source.replace("256", "8").replace("1024", "32").replace("f32", "f64");
        let plain = read(&pir_dialects::context(), &source);
        let module = with_slots(&plain, "backward,remat{slots}", 3);
        let peak = |n| run(&module, &inputs(&plain, n)).stats.peak_stack_bytes;
        assert!(peak(60) <= peak(10), "{} bytes rather than {}", peak(60), peak(10));
    }
}

/// Checkpoints, and gives what is said of loops that are not.
fn remarks(module: &mut Module) -> (usize, Vec<String>) {
    let options = RematOptions {
        recompute: Recompute::Elementwise,
        slots: Some(2),
        segment: None,
        spill: false,
    };
    let mut said = Vec::new();
    let done = rematerialize(module, options, &mut |d| {
        assert_eq!(d.severity, Severity::Note);
        said.push(d.labels[0].text.clone());
    });
    (done, said)
}

#[test]
fn what_would_not_do_the_same_again_goes_on_recording() {
    let mut plain = case(&SINES.replace("%k =", "pd.print (%p)\n  %k ="));
    passes(&mut plain, "backward");
    let mut module = plain.clone();
    let (done, said) = remarks(&mut module);
    assert_eq!((done, said.len()), (0, 1));
    assert!(said[0].contains("effect"), "{said:?}");
    let mut minimal = plain.clone();
    passes(&mut minimal, "remat");
    assert_eq!(text(&module), text(&minimal));

    // In a branch, next to one that is not: both are run again.
    let inner = SINES.replace("\n", "\n  ").replace("%sum", "%in");
    let plain = case(&format!(
        "%go = pd.less_than (%zero, %n)
%r = pd.if (%go) then {{
  {inner}
  cf.yield (%in)
}} else {{
  cf.yield (%x)
}}
{}",
        SINES.replace("%x)", "%r)")
    ));
    let mut recording = plain.clone();
    passes(&mut recording, "backward");
    let mut module = recording.clone();
    let (done, said) = remarks(&mut module);
    assert_eq!((done, said.len()), (2, 0), "{said:?}");
    for n in TRIPS {
        let inputs = inputs(&plain, n);
        assert_eq!(bits(&run(&module, &inputs)), bits(&run(&recording, &inputs)));
    }
}

#[test]
fn of_a_second_derivative_the_loop_itself_is_checkpointed() {
    let plain = case(SINES);
    let mut recording = plain.clone();
    passes(&mut recording, "backward,backward{of=x_grad}");
    let mut module = recording.clone();
    let (done, said) = remarks(&mut module);
    println!("{said:?}");
    assert!(done >= 1);
    for n in TRIPS {
        let inputs = inputs(&plain, n);
        assert_eq!(
            bits(&run(&module, &inputs)),
            bits(&run(&recording, &inputs)),
            "{n}\n{}",
            text(&module)
        );
    }
    // A checkpointed derivative is a program like any other.
    let module = with_slots(&plain, "backward,remat{slots},backward{of=x_grad}", 2);
    for n in TRIPS {
        let inputs = inputs(&plain, n);
        let close = |a: &Outcome, b: &Outcome| {
            for ((name, a), (_, b)) in a.fetched.iter().zip(&b.fetched) {
                for (a, b) in a.to_f64().iter().zip(b.to_f64()) {
                    assert!((a - b).abs() <= 1e-12 * b.abs().max(1.0), "{name}, {n}: {a} {b}");
                }
            }
        };
        close(&run(&module, &inputs), &run(&recording, &inputs));
    }
}

#[test]
fn generated_programs_have_the_same_gradients_and_come_back() {
    let ctx = pir_dialects::context();
    let mut checkpointed = 0;
    let count = size::programs(1000);
    for seed in 0..count {
        let mut random = generate::Random::new(seed ^ 0x0571_2026);
        let source = generate::program(&mut random, false);
        let plain = read(&ctx, &source);
        let mut recording = plain.clone();
        passes(&mut recording, "backward");
        let slots = SLOTS[seed as usize % 4];
        let mut module = recording.clone();
        let options = RematOptions {
            recompute: Recompute::Elementwise,
            slots: Some(slots),
            segment: None,
            spill: false,
        };
        checkpointed += rematerialize(&mut module, options, &mut |_| ());
        if text(&module) == text(&recording) {
            continue;
        }
        for n in [0, 1, 3, 6] {
            let inputs = inputs(&plain, n);
            assert_eq!(
                bits(&run(&module, &inputs)),
                bits(&run(&recording, &inputs)),
                "seed {seed}, {slots} slots\n{}",
                text(&module)
            );
        }
        let mut back = read(&ctx, &text(&module));
        passes(&mut back, "strip-backward");
        assert_eq!(text(&back), text(&plain), "seed {seed}, {slots} slots");
    }
    assert!(checkpointed as u64 > size::at_least(15), "{checkpointed} of {count}");
}
