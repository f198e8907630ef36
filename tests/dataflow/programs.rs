//! Structured programs and their graphs do the same: on one device and on several, under random schedules.
//!
//! `PIR_PROGRAMS=10000 cargo test --release --test dataflow` looks at more of them.

use std::fs;
use std::path::Path;

use pir_interp::dataflow::{self, Schedule};
use pir_interp::{Options, Tensor};
use pir_ir::Module;
use pir_ir::text::{PrintOptions, print};
use pir_ir::verify::verify;
use pir_passes::{PassManager, Pipeline};

use super::generate::{Random, bindings, sized};
use super::{read, seeded};

fn inputs() -> Options {
    Options {
        max_steps: Some(3_000_000),
        ..bindings()
    }
}

/// What a program fetches, sorted by name, and prints.
#[derive(Debug)]
struct Shown {
    fetched: Vec<(String, Tensor)>,
    printed: String,
}

impl Shown {
    fn new(mut fetched: Vec<(String, Tensor)>, printed: Vec<u8>) -> Self {
        fetched.sort_by(|a, b| a.0.cmp(&b.0));
        Shown {
            fetched,
            printed: String::from_utf8(printed).unwrap(),
        }
    }

    fn is(&self, other: &Shown) -> bool {
        let same = self.fetched.iter().zip(&other.fetched);
        self.fetched.len() == other.fetched.len()
            && same.into_iter().all(|(a, b)| a.0 == b.0 && a.1.same_bits(&b.1))
            && self.printed == other.printed
    }
}

/// The program after a pipeline, if that does not refuse it.
fn after(module: &Module, pipeline: &str) -> Option<Module> {
    let mut copy = module.clone();
    let parsed = Pipeline::parse(pipeline).unwrap();
    PassManager::new().run(&mut copy, &parsed).ok()?;
    Some(copy)
}

fn text(module: &Module) -> String {
    print(module, &PrintOptions::default())
}

fn count() -> u64 {
    crate::size::programs(150)
}

/// The schedule of the program with this seed on `devices` devices.
fn schedule(seed: u64, devices: u64) -> Schedule {
    let mut schedule = seeded(seed * 3 + devices);
    schedule.threads = seed % 4 == 3;
    schedule.count_memory = seed % 8 < 2;
    if seed.is_multiple_of(16) {
        schedule.seed = None;
    }
    schedule
}

/// Compares a structured program with its graphs; whether there was one.
#[track_caller]
fn compare(seed: u64, module: &Module, options: &Options, expected: &Shown) -> bool {
    let Some(whole) = after(module, "lower-to-dataflow") else {
        return false;
    };
    for devices in 1..=3 {
        let graphs = match devices {
            1 => whole.clone(),
            _ => after(&whole, &format!("partition{{devices={devices}}}"))
                .unwrap_or_else(|| panic!("seed {seed}: it cannot be split:\n{}", text(&whole))),
        };
        assert!(verify(&graphs).is_empty(), "seed {seed}: {devices}");
        // One thread is quick; on several devices it takes the more time that they wait.
        for again in 0..if devices == 1 { 3 } else { 1 } {
            let schedule = schedule(seed + again * 1_000_003, devices);
            let mut printed = Vec::new();
            let outcome = dataflow::run(&graphs, options, &schedule, &mut printed).unwrap_or_else(|error| {
                panic!(
                    "seed {seed}, {schedule:?}:\n{}\nfails as\n{}\n{error:#?}",
                    text(module),
                    text(&graphs)
                )
            });
            assert_eq!(
                outcome.stats.unreceived,
                0,
                "seed {seed}:\n{}\n{}",
                text(module),
                text(&graphs)
            );
            let shown = Shown::new(outcome.fetched, printed);
            assert!(
                shown.is(expected),
                "seed {seed}, {schedule:?}:\n{}\nis not the same as\n{}\n{expected:?}\n{shown:?}",
                text(module),
                text(&graphs)
            );
        }
    }
    true
}

/// Compares generated programs after a pipeline; refused programs are skipped.
fn agree(first: u64, effects: bool, pipeline: &str, refused: u64) {
    let mut compared = 0;
    for seed in first..first + count() {
        let mut random = Random::new(seed);
        let size = 3 + random.below(5);
        let module = read(&sized(&mut random, effects, size, 3));
        let Some(module) = after(&module, pipeline) else {
            continue;
        };
        let (mut printed, options) = (Vec::new(), inputs());
        let Ok(outcome) = pir_interp::run(&module, &options, &mut printed) else {
            continue;
        };
        let expected = Shown::new(outcome.fetched, printed);
        compared += u64::from(compare(seed, &module, &options, &expected));
    }
    assert!(compared * 100 >= count() * (100 - refused), "{compared} of {}", count());
}

/// Pseudo-random floats, and five for integers.
fn inputs_of(module: &Module) -> Options {
    let mut random = Random::new(7);
    let mut options = Options::default();
    for spec in pir_interp::inputs_of(module, None).unwrap() {
        let (shape, elem) = module.ctx.as_tensor(spec.ty).unwrap();
        let shape: Vec<usize> = shape.iter().map(|&d| d as usize).collect();
        let count = shape.iter().product();
        let floats = (0..count).map(|_| random.below(1000) as f64 / 1000.0 - 0.4).collect();
        let tensor = match module.ctx.is_float(elem) {
            true => Tensor::new::<f64>(&shape, floats).unwrap(),
            false => Tensor::new(&shape, vec![5i64; count]).unwrap(),
        };
        let dtype = pir_interp::kernels::dtype_of(&module.ctx, spec.ty).unwrap();
        options.inputs.insert(spec.name, tensor.cast(dtype).unwrap());
    }
    options
}

#[test]
fn gradients_of_real_loops_agree_with_their_graphs() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("test-files/autodiff/loops");
    let mut files = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let source = read(&fs::read_to_string(&path).unwrap());
        let options = inputs_of(&source);
        files += 1;
        for pipeline in [
            "backward",
            "backward,remat{recompute=elementwise},canonicalize,cse,licm,dce",
        ] {
            let module = after(&source, pipeline).unwrap();
            let outcome = pir_interp::run(&module, &options, &mut std::io::sink()).unwrap();
            let expected = Shown::new(outcome.fetched, Vec::new());
            assert!(expected.fetched.len() > 1);
            for seed in 0..2 {
                assert!(
                    compare(seed, &module, &options, &expected),
                    "{}: {pipeline}",
                    path.display()
                );
            }
        }
    }
    assert!(files >= 8);
}

#[test]
fn programs_agree_with_their_graphs() {
    agree(0, false, "canonicalize", 2);
}

#[test]
fn gradients_agree_with_their_graphs() {
    agree(1_000_000, false, "backward", 10);
}

#[test]
fn optimized_gradients_agree_with_their_graphs() {
    agree(2_000_000, false, "backward,remat,canonicalize,cse,licm,dce", 10);
}

#[test]
fn effects_agree_with_their_graphs() {
    agree(3_000_000, true, "canonicalize", 60);
}
