//! Programs do the same before and after passes.
//!
//! Programs are generated: nests of branches and loops that carry values around unchanged, changed, swapped and
//! unused, that compute what is invariant, print, push and pop. Each is run before and after single passes and
//! pipelines; what it fetches must be the same bit for bit, and what it prints the same text in the same order.
//!
//! `PIR_PROGRAMS=10000 cargo test --release --test equivalence` looks at more of them.

mod generate;
#[path = "../common/size.rs"]
mod size;
mod weaken;

use pir_interp::Tensor;
use pir_ir::Module;
use pir_ir::text::{ParseOptions, PrintOptions, parse, print};
use pir_ir::verify::verify;
use pir_passes::{PassManager, Pipeline};
use pir_tools::evaluate::KernelEvaluator;

use generate::{Random, bindings, blocks, functions, graph, program, with_lists};
use weaken::weaken;

fn read(text: &str) -> Module {
    let parsed = parse(&pir_dialects::context(), text.as_bytes(), &ParseOptions::default());
    assert!(parsed.diagnostics.is_empty(), "{text}\n{:#?}", parsed.diagnostics);
    let errors = verify(&parsed.module);
    assert!(errors.is_empty(), "{text}\n{errors:#?}");
    parsed.module
}

/// What a program fetches, in order, and prints.
type Shown = (Vec<(String, Tensor)>, String);

fn run(module: &Module) -> Result<Shown, String> {
    let mut printed = Vec::new();
    match pir_interp::run(module, &bindings(), &mut printed) {
        Ok(outcome) => {
            let results = outcome.results.into_iter().map(|r| (String::new(), r));
            let shown = outcome.fetched.into_iter().chain(results).collect();
            Ok((shown, String::from_utf8_lossy(&printed).into_owned()))
        }
        Err(error) => Err(format!("{error:?}")),
    }
}

fn same(a: &[(String, Tensor)], b: &[(String, Tensor)]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x.0 == y.0 && x.1.same_bits(&y.1))
}

fn count() -> u64 {
    size::programs(300)
}

/// Runs a pipeline on a copy of a module, and gives that.
#[track_caller]
fn after(module: &Module, pipeline: &str) -> Module {
    let mut copy = module.clone();
    let parsed = Pipeline::parse(pipeline).expect("the pipeline is right");
    let evaluator = KernelEvaluator;
    let mut manager = PassManager::new();
    manager.set_evaluator(&evaluator);
    if let Err(errors) = manager.run(&mut copy, &parsed) {
        let text = print(module, &PrintOptions::default());
        let broken = print(&copy, &PrintOptions::default());
        panic!(
            "{pipeline} fails on\n{text}\nwith {:#?}\nleaving\n{broken}",
            errors.first()
        );
    }
    copy
}

/// The same for a pipeline that may refuse the program, but must not leave an invalid one.
#[track_caller]
fn may_refuse(module: &Module, pipeline: &str) -> Option<Module> {
    let mut copy = module.clone();
    let parsed = Pipeline::parse(pipeline).expect("the pipeline is right");
    let evaluator = KernelEvaluator;
    let mut manager = PassManager::new();
    manager.set_evaluator(&evaluator);
    let Err(errors) = manager.run(&mut copy, &parsed) else {
        return Some(copy);
    };
    let refused = [
        "no-derivative",
        "stack-derivative",
        "list-derivative",
        "nothing-to-differentiate",
        "no-stablehlo",
    ];
    let text = print(module, &PrintOptions::default());
    assert!(
        errors.iter().all(|e| refused.contains(&e.code)),
        "{pipeline} fails on\n{text}\nwith {errors:#?}"
    );
    None
}

#[track_caller]
fn check(seed: u64, module: &Module, pipeline: &str) {
    // A program that fails may fail earlier, later or not at all when what fails is moved or not needed.
    let Ok((fetched, printed)) = run(module) else { return };
    let new = after(module, pipeline);
    let text = |m: &Module| print(m, &PrintOptions::default());
    let (new_fetched, new_printed) = run(&new).unwrap_or_else(|error| {
        panic!(
            "seed {seed}: after {pipeline} it fails:\n{}\nbecame\n{}\n{error}",
            text(module),
            text(&new)
        )
    });
    assert!(
        same(&fetched, &new_fetched) && printed == new_printed,
        "seed {seed}: {pipeline} changes what it does:\n{}\nbecame\n{}\n{fetched:?}\n{new_fetched:?}\n{printed}\n{new_printed}",
        text(module),
        text(&new)
    );
}

const PASSES: [&str; 7] = ["canonicalize", "sccp", "sink", "forward-args", "licm", "cse", "dce"];

fn pipeline(random: &mut Random) -> String {
    let passes: Vec<&str> = (0..4).map(|_| *random.pick(&PASSES)).collect();
    passes.join(",")
}

/// Passes that have to do with derivatives, need an option to do anything, or make something else of a program.
const NOT_ALONE: [&str; 16] = [
    "jvp",
    "backward",
    "stack-locals",
    "build-backward",
    "prune-stacks",
    "decompose",
    "strip-backward",
    "training",
    "inference",
    // Looked at in `tests/lowering.rs`.
    "lower-to-dataflow",
    "view-graph",
    // Looked at below.
    "pd-to-stablehlo",
    // Looked at in `tests/lower_stacks.rs`, and in `tools/jax/gradients`.
    "lower-stacks",
    "jax-vjp",
    "split-vjp",
    // For functions of MLIR's dialects; `tools/mlir/gradients` covers them.
    "stacks-to-memref",
];

/// Passes with other options than the default ones.
const VARIANTS: [&str; 8] = [
    "licm{branches=false}",
    "unroll{factor=2}",
    "unroll{factor=3}",
    "unroll{max-ops=30}",
    "peel{last=true}",
    "peel{first=true last=true}",
    "rotate-while,unrotate-while",
    "canonicalize{max-steps=10}",
];

/// All passes that leave what a program does as it is.
fn all_passes() -> Vec<&'static str> {
    let passes = pir_passes::PassRegistry::standard();
    let named = passes.iter().map(|p| p.name());
    named.filter(|p| !NOT_ALONE.contains(p)).chain(VARIANTS).collect()
}

#[test]
fn random_pipelines_of_all_passes() {
    let passes = all_passes();
    let mut ran = 0;
    let programs = count() * 8;
    for seed in 0..programs {
        let mut random = Random::new(seed ^ 0xa11);
        let module = read(&program(&mut random, true));
        ran += usize::from(run(&module).is_ok());
        let length = 1 + random.below(5);
        let chosen: Vec<&str> = (0..length).map(|_| *random.pick(&passes)).collect();
        check(seed, &module, &chosen.join(","));
    }
    assert!(ran as u64 * 2 > programs, "only {ran} of {programs} programs ran");
}

/// Passes that differentiate, place, partition, or apply to gradients only; their output is checked elsewhere, and only
/// verified here.
const OTHERS: [&str; 10] = [
    // Directions are inputs of their own.
    "jvp",
    "backward",
    "stack-locals",
    "stack-locals,build-backward",
    "backward,prune-stacks",
    "backward,decompose",
    "backward,strip-backward",
    "backward,remat{recompute=all}",
    "training",
    "backward,inference",
];

#[test]
fn shapes_that_are_not_known_and_lists() {
    let passes = all_passes();
    let (mut ran, mut differentiated) = (0, 0);
    let programs = count() / 3;
    for seed in 0..programs {
        let mut random = Random::new(seed ^ 0x11_575);
        let effects = seed % 2 == 0;
        let text = match seed % 8 {
            0 => functions(&mut random),
            1 => program(&mut random, false),
            _ => with_lists(&mut random, effects),
        };
        let mut module = read(&text);
        weaken(&mut module, &mut random);
        ran += usize::from(run(&module).is_ok());
        for &pass in passes
            .iter()
            .filter(|p| !["stack-locals", "build-backward"].contains(p))
        {
            check(seed, &module, pass);
        }
        let length = 2 + random.below(5);
        let chosen: Vec<&str> = (0..length).map(|_| *random.pick(&passes)).collect();
        check(seed, &module, &chosen.join(","));
        if !effects && run(&module).is_ok() {
            for pipeline in OTHERS {
                if let Some(after) = may_refuse(&module, pipeline) {
                    differentiated += 1;
                    if pipeline == "jvp" {
                        continue;
                    }
                    run(&after).unwrap_or_else(|error| {
                        let text = |m: &Module| print(m, &PrintOptions::default());
                        panic!("seed {seed}: {pipeline}: {error}\n{}\n{}", text(&module), text(&after))
                    });
                }
            }
        }
    }
    assert!(ran as u64 * 2 > programs, "only {ran} of {programs} programs ran");
    assert!(
        differentiated as u64 > programs,
        "only {differentiated} were differentiated"
    );
}

/// What it fetches becomes the results of a function; the elements are computed in the same way.
#[test]
fn as_stablehlo() {
    let mut compared = 0;
    for seed in 0..count() * 4 {
        let mut random = Random::new(seed ^ 0x51ab);
        let module = read(&program(&mut random, false));
        let (Ok((fetched, _)), Some(new)) = (run(&module), may_refuse(&module, "pd-to-stablehlo")) else {
            continue;
        };
        let text = |m: &Module| print(m, &PrintOptions::default());
        assert!(
            verify(&new).is_empty(),
            "seed {seed}: {}\n{:#?}",
            text(&new),
            verify(&new)
        );
        let shown = run(&new).unwrap_or_else(|error| panic!("seed {seed}: {}\n{error}", text(&new)));
        compared += fetched.len();
        let same = fetched.len() == shown.0.len()
            && fetched.iter().zip(&shown.0).all(|(x, y)| {
                let (x, y) = (x.1.to_f64(), y.1.to_f64());
                x.len() == y.len() && x.iter().zip(&y).all(|(x, y)| x == y || x.is_nan() && y.is_nan())
            });
        assert!(
            same,
            "seed {seed}:\n{}\nbecame\n{}\n{fetched:?}\n{:?}",
            text(&module),
            text(&new),
            shown.0
        );
    }
    assert!(compared as u64 > count(), "only {compared} results were compared");
}

#[test]
fn each_form_of_loops() {
    for seed in 0..count() {
        let mut random = Random::new(seed ^ 0x100b);
        let module = read(&program(&mut random, true));
        for pass in VARIANTS {
            check(seed, &module, pass);
        }
        for pass in ["rotate-while", "unroll", "peel", "O3"] {
            check(seed, &module, pass);
        }
    }
}

#[test]
fn pipelines_that_differentiate() {
    for seed in 0..count() / 3 {
        let mut random = Random::new(seed ^ 0x7ea1);
        let module = read(&program(&mut random, false));
        // In another order of rounding: only that they run, and that they come back.
        if run(&module).is_ok() {
            assert!(run(&after(&module, "training")).is_ok(), "seed {seed}");
            check(seed, &module, "backward,inference");
        }
    }
}

#[test]
fn each_pass_and_pipelines_of_them() {
    let mut ran = 0;
    for seed in 0..count() {
        let mut random = Random::new(seed);
        let module = read(&program(&mut random, true));
        ran += usize::from(run(&module).is_ok());
        for pass in PASSES {
            check(seed, &module, pass);
        }
        check(seed, &module, &pipeline(&mut random));
    }
    // Programs that fail show nothing.
    assert!(ran as u64 * 2 > count(), "only {ran} of {} programs ran", count());
}

#[test]
fn programs_with_derivatives() {
    let mut ran = 0;
    for seed in 0..count() {
        let mut random = Random::new(seed ^ 0x5eed);
        let module = read(&program(&mut random, false));
        let with_derivative = after(&module, "backward");
        ran += usize::from(run(&with_derivative).is_ok());
        check(seed, &with_derivative, "forward-args,licm,cse,canonicalize,dce");
        check(seed, &with_derivative, &pipeline(&mut random));
        check(seed, &with_derivative, "outline{min-size=1}");
        check(seed, &with_derivative, "remat");
        check(seed, &with_derivative, "remat{recompute=all}");
        check(
            seed,
            &with_derivative,
            "remat{recompute=all},forward-args,licm,cse,canonicalize,dce,remat",
        );
        if seed % 4 == 0 {
            let twice = after(&module, "backward,backward{of=x_grad}");
            check(seed, &twice, "remat");
            check(seed, &twice, "remat{recompute=all}");
            let recorded_all = after(&module, "stack-locals,build-backward");
            check(seed, &recorded_all, "prune-stacks");
            check(seed, &recorded_all, "remat{recompute=all}");
        }
    }
    assert!(ran as u64 * 2 > count(), "only {ran} of {} programs ran", count());
}

#[test]
fn sums_that_accumulate_in_place() {
    let mut in_place = 0;
    for seed in 0..count() {
        let mut random = Random::new(seed ^ 0xacc);
        let module = read(&program(&mut random, false));
        let with_derivative = after(&module, "backward");
        let changed = after(&with_derivative, "inplace-accumulate");
        in_place += print(&changed, &PrintOptions::default())
            .matches("pd.inplace_add")
            .count();
        check(seed, &with_derivative, "inplace-accumulate");
        // Passes after it must not take what changes for what does not.
        check(seed, &changed, "forward-args,licm,cse,canonicalize,dce");
        check(seed, &changed, &pipeline(&mut random));
        let more = read(&program(&mut random, true));
        check(seed, &more, &format!("inplace-accumulate,{}", pipeline(&mut random)));
    }
    assert!(in_place as u64 * 4 > count(), "only {in_place} in {} programs", count());
}

#[test]
fn functions_of_several_blocks() {
    let mut ran = 0;
    for seed in 0..count() {
        let mut random = Random::new(seed ^ 0xb10c);
        let module = read(&blocks(&mut random));
        ran += usize::from(run(&module).is_ok());
        for pass in PASSES {
            check(seed, &module, pass);
        }
        check(seed, &module, &pipeline(&mut random));
    }
    assert!(ran as u64 * 2 > count(), "only {ran} of {} programs ran", count());
}

#[test]
fn functions_that_call_functions() {
    let mut ran = 0;
    for seed in 0..count() {
        let mut random = Random::new(seed ^ 0xca11);
        let module = read(&functions(&mut random));
        ran += usize::from(run(&module).is_ok());
        check(seed, &module, "inline");
        check(seed, &module, "symbol-dce");
        check(seed, &module, "outline{min-size=1}");
        check(seed, &module, "inline,outline{min-size=2}");
        check(seed, &module, "inline{max-size=10},symbol-dce");
        check(
            seed,
            &module,
            &format!("{},inline,symbol-dce,{}", pipeline(&mut random), pipeline(&mut random)),
        );
    }
    assert!(ran as u64 * 2 > count(), "only {ran} of {} programs ran", count());
}

/// How many blocks the functions of a module have at most.
fn most_blocks(module: &Module) -> usize {
    let mut most = 0;
    module.for_each_body(|body| most = most.max(body.region_blocks(body.root()).len()));
    most
}

#[test]
fn between_regions_and_blocks() {
    let (mut ran, mut lowered) = (0, 0);
    for seed in 0..count() / 2 {
        let mut random = Random::new(seed ^ 0xcf9);
        let text = if seed % 2 == 0 {
            functions(&mut random)
        } else {
            blocks(&mut random)
        };
        let module = read(&text);
        ran += usize::from(run(&module).is_ok());
        lowered += usize::from(most_blocks(&after(&module, "lower-to-cfg")) > most_blocks(&module));
        for pipeline in ["lift-cfg", "lower-to-cfg,lift-cfg"] {
            let lifted = after(&module, pipeline);
            assert_eq!(
                most_blocks(&lifted),
                1,
                "seed {seed}: {pipeline} leaves blocks in\n{text}"
            );
            check(seed, &module, pipeline);
        }
        check(seed, &module, "lower-to-cfg");
        let (before, between) = (pipeline(&mut random), pipeline(&mut random));
        check(
            seed,
            &module,
            &format!("{before},lower-to-cfg,{between},lift-cfg,{before}"),
        );
    }
    assert!(ran as u64 * 4 > count(), "only {ran} of {} programs ran", count() / 2);
    assert!(
        lowered as u64 * 4 > count(),
        "only {lowered} of {} have regions",
        count()
    );
}

#[test]
fn graphs_of_blocks() {
    let (mut ran, mut lifted) = (0, 0);
    for seed in 0..count() / 2 {
        let mut random = Random::new(seed ^ 0x9a9);
        let module = read(&graph(&mut random));
        ran += usize::from(run(&module).is_ok());
        check(seed, &module, &pipeline(&mut random));
        let mut copy = module.clone();
        let parsed = Pipeline::parse("lift-cfg").expect("the pipeline is right");
        match PassManager::new().run(&mut copy, &parsed) {
            Ok(_) => {
                lifted += 1;
                check(seed, &module, "lift-cfg");
                check(
                    seed,
                    &module,
                    &format!("{},lift-cfg,lower-to-cfg,lift-cfg", pipeline(&mut random)),
                );
            }
            Err(errors) => {
                let codes: Vec<&str> = errors.iter().map(|e| e.code).collect();
                let text = print(&module, &PrintOptions::default());
                assert!(
                    matches!(codes[..], ["irreducible" | "lift-endless"]),
                    "seed {seed}: {errors:#?}\n{text}"
                );
            }
        }
    }
    assert!(ran as u64 * 4 > count(), "only {ran} of {} programs ran", count() / 2);
    assert!(
        lifted as u64 * 4 > count(),
        "only {lifted} of {} were lifted",
        count() / 2
    );
}

#[test]
fn what_was_simplified_stays_simple() {
    for seed in 0..count() / 2 {
        let mut random = Random::new(seed ^ 0xf1f1);
        let module = read(&program(&mut random, true));
        // What `canonicalize` frees may make more free: that is for `dce`.
        for pass in PASSES.iter().copied().filter(|&p| p != "canonicalize") {
            let once = after(&module, pass);
            let twice = after(&once, pass);
            let text = |m: &Module| print(m, &PrintOptions::default());
            assert_eq!(
                text(&once),
                text(&twice),
                "seed {seed}: {pass} has more to do the second time"
            );
        }
    }
}
