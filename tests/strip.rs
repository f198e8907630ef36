//! `backward` then `strip-backward` gives back the program, byte for byte.

#![allow(clippy::unwrap_used, reason = "in tests a panic is a failure")]

mod common;
#[path = "equivalence/generate.rs"]
#[allow(dead_code, reason = "each test binary uses a part")]
mod generate;
#[path = "common/size.rs"]
mod size;

use std::path::Path;
use std::sync::Arc;

use common::{inputs_for, passes, read, run};
use pir_interp::Tensor;
use pir_ir::text::{ParseOptions, parse, print};
use pir_ir::{Context, Module};
use pir_passes::autodiff::{BackwardOptions, StripBy, build_backward, prune_stacks, stack_locals, strip_backward};
use pir_passes::{PassManager, Pipeline};

use generate::{Random, program, sized};

fn text(module: &Module) -> String {
    print(module, &Default::default())
}

/// Differentiates and strips, within one run and by way of text.
#[track_caller]
fn round_trip(ctx: &Arc<Context>, plain: &Module, forward: &str, back: &str) {
    let before = text(plain);
    let mut with = plain.clone();
    passes(&mut with, forward);
    let derived = text(&with);
    assert_ne!(before, derived);
    passes(&mut with, back);
    let after = text(&with);
    assert!(
        before == after,
        "{forward},{back}\n{derived}\nbecame\n{after}\nand was\n{before}"
    );
    let mut with = read(ctx, &derived);
    passes(&mut with, back);
    let after = text(&with);
    assert!(
        before == after,
        "{forward},{back}, as text\n{derived}\nbecame\n{after}\nand was\n{before}"
    );
}

fn differentiate(module: &mut Module) {
    let options = BackwardOptions::default();
    stack_locals(module, &options).unwrap();
    build_backward(module, &options).unwrap();
    prune_stacks(module);
}

fn strip(module: &mut Module, by: StripBy) -> bool {
    strip_backward(module, by, &mut |d| panic!("{d:#?}"))
}

/// Does something for each seed, on all cores.
fn for_seeds(count: u64, f: impl Fn(u64) + Sync) {
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let f = &f;
            scope.spawn(move || (thread..count).step_by(threads as usize).for_each(f));
        }
    });
}

use size::programs as count;

#[test]
fn generated_programs_come_back() {
    let ctx = pir_dialects::context();
    for_seeds(count(10_000), |seed| {
        let mut random = Random::new(seed ^ 0x0571_1990);
        let size = 1 + random.below(3);
        let parsed = parse(
            &ctx,
            sized(&mut random, false, size, 2).as_bytes(),
            &ParseOptions::default(),
        );
        let mut module = parsed.module;
        let before = text(&module);
        differentiate(&mut module);
        // Every fourth by way of text.
        if seed % 4 == 0 {
            let derived = text(&module);
            assert!(before.len() < derived.len());
            module = parse(&ctx, derived.as_bytes(), &ParseOptions::default()).module;
        }
        assert!(strip(&mut module, StripBy::Marks(None)));
        let after = text(&module);
        assert!(before == after, "seed {seed}: became\n{after}\nand was\n{before}");
    });
}

#[test]
fn generated_programs_come_back_from_checkpoints() {
    let ctx = pir_dialects::context();
    for_seeds(count(600), |seed| {
        let mut random = Random::new(seed ^ 0x0571_1992);
        let plain = read(&ctx, &program(&mut random, false));
        let before = text(&plain);
        for slots in ["remat{slots}", "remat{slots=1}", "remat,remat{slots=2 recompute=all}"] {
            let mut module = plain.clone();
            passes(&mut module, &format!("backward,{slots}"));
            passes(&mut module, "strip-backward");
            let after = text(&module);
            assert!(
                before == after,
                "seed {seed}: {slots}: became\n{after}\nand was\n{before}"
            );
        }
    });
}

#[test]
fn twice_differentiated_programs_come_back() {
    let ctx = pir_dialects::context();
    for seed in 0..count(80) {
        let mut random = Random::new(seed ^ 0x0571_1991);
        let plain = read(&ctx, &program(&mut random, false));
        let mut once = plain.clone();
        passes(&mut once, "backward");
        // Printing makes names unique, by numbers that depend on what else is there.
        let once = read(&ctx, &text(&once));
        let mut twice = once.clone();
        passes(
            &mut twice,
            if seed % 2 == 0 {
                "backward"
            } else {
                "backward{of=[x_grad, out1] wrt=[y]}"
            },
        );
        let twice = read(&ctx, &text(&twice));
        let mut back = twice.clone();
        passes(&mut back, "strip-backward{orders=1}");
        assert_eq!(text(&back), text(&once), "seed {seed}");
        passes(&mut back, "strip-backward{orders=1}");
        assert_eq!(text(&back), text(&plain), "seed {seed}");
        let mut back = twice.clone();
        passes(&mut back, "strip-backward");
        assert_eq!(text(&back), text(&plain), "seed {seed}");
        for remat in [
            "remat",
            "remat{recompute=all}",
            "remat{slots}",
            "remat{slots=1 recompute=all}",
        ] {
            let mut back = twice.clone();
            passes(&mut back, remat);
            let mut back = read(&ctx, &text(&back));
            passes(&mut back, "strip-backward");
            assert_eq!(text(&back), text(&plain), "seed {seed}, {remat}");
        }
    }
}

/// How often each operation is in a program.
fn census(module: &Module) -> Vec<String> {
    let mut names = Vec::new();
    module.for_each_body(|body| {
        names.extend(body.walk_all().map(|op| module.ctx.op_str(body.op_name(op)).to_owned()));
    });
    names.sort();
    names
}

#[test]
fn by_liveness_nothing_but_the_program_is_left() {
    let ctx = pir_dialects::context();
    for seed in 0..count(80) {
        let mut random = Random::new(seed ^ 0x0571_1992);
        let plain = read(&ctx, &program(&mut random, false));
        let mut with = plain.clone();
        passes(&mut with, "backward");
        if seed % 2 == 0 {
            passes(&mut with, "backward{of=x_grad}");
        }
        passes(&mut with, "strip-backward{by=liveness}");
        let mut expected = plain.clone();
        passes(&mut expected, "dce");
        passes(&mut with, "dce");
        assert_eq!(text(&with), text(&expected), "seed {seed}");
        // Other passes may do more or less on the larger program, but no gradient, no stack and no dual is left.
        let mut with = plain.clone();
        let others = "forward-args,licm,cse,canonicalize,dce";
        passes(
            &mut with,
            &format!("backward,{others},strip-backward{{by=liveness}},{others}"),
        );
        let rest: Vec<String> = census(&with)
            .into_iter()
            .filter(|name| name.contains("_grad") || name.contains("stack") || name.contains("_back"))
            .collect();
        assert!(rest.is_empty(), "seed {seed}: {rest:?}\n{}", text(&with));
    }
}

/// What a program fetches under the names of the generator's outputs, bit for bit.
fn outputs(module: &Module) -> Vec<(String, Tensor)> {
    let vector = |v: [f64; 4]| Tensor::new(&[4], v.to_vec()).unwrap();
    let inputs = vec![
        ("x".to_owned(), vector([0.5, -0.0, -1.25, 3.0])),
        ("y".to_owned(), vector([0.0, 2.0, -0.75, 0.125])),
        ("n".to_owned(), Tensor::new(&[1], vec![3i64]).unwrap()),
        ("z".to_owned(), Tensor::new(&[1], vec![0i64]).unwrap()),
        ("c".to_owned(), Tensor::new(&[1], vec![true]).unwrap()),
    ];
    run(module, &inputs).fetched
}

#[test]
fn behind_other_passes_the_program_still_does_the_same() {
    let ctx = pir_dialects::context();
    let all = [
        "canonicalize",
        "sccp",
        "sink",
        "forward-args",
        "licm",
        "cse",
        "dce",
        "inplace-accumulate",
    ];
    for seed in 0..count(150) {
        let mut random = Random::new(seed ^ 0x0571_1993);
        let plain = read(&ctx, &program(&mut random, false));
        let between: Vec<&str> = (0..3).map(|_| *random.pick(&all)).collect();
        let by = *random.pick(&["", "{by=liveness}", "{orders=1}"]);
        let pipeline = format!("backward,{},strip-backward{by}", between.join(","));
        let mut with = plain.clone();
        passes(&mut with, &pipeline);
        let (expected, found) = (outputs(&plain), outputs(&with));
        let same = |a: &[(String, Tensor)], b: &[(String, Tensor)]| {
            a.len() <= b.len() && a.iter().zip(b).all(|(x, y)| x.0 == y.0 && x.1.same_bits(&y.1))
        };
        assert!(
            same(&expected, &found),
            "seed {seed}: {pipeline}\n{}\nbecame\n{}",
            text(&plain),
            text(&with)
        );
        if by == "{by=liveness}" {
            assert_eq!(expected.len(), found.len(), "seed {seed}: {pipeline}\n{}", text(&with));
        }
    }
}

#[test]
fn names_of_the_program_stay() {
    let ctx = pir_dialects::context();
    let source = "// Before everything.
%x = pd.data {name = \"x\", shape = [2], dtype = f64} : tensor<2xf64>
%n = pd.data {name = \"n\", shape = [], dtype = i64} : tensor<i64>
%stack = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
%one = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
// Two loops: one records, one counts.
%r:2 = pd.while (%stack, %x) cond (%trip: tensor<i64>, %a: tensor<2xf64>) {
  %go = pd.less_than (%trip, %n) : tensor<i1>
  cf.cond_yield (%go, %trip, %a)
} body (%trip: tensor<i64>, %trips: tensor<2xf64>) {
  // Inside.
  %x_grad = pd.tanh (%trips) : tensor<2xf64>
  %trip_next = pd.add (%trip, %one) : tensor<i64>
  cf.yield (%trip_next, %x_grad)
} : tensor<i64>, tensor<2xf64>
%trips, %no_trips = pd.while (%stack, %r#1) cond (%i: tensor<i64>, %a: tensor<2xf64>) {
  %go = pd.less_than (%i, %n) : tensor<i1>
  cf.cond_yield (%go, %i, %a)
} body (%i: tensor<i64>, %a: tensor<2xf64>) {
  %b = pd.scale (%a) {scale = 3.0} : tensor<2xf64>
  %stack_1 = pd.add (%i, %one) : tensor<i64>
  cf.yield (%stack_1, %b)
} : tensor<i64>, tensor<2xf64>
%stack_1 = pd.add (%trips, %r#0) : tensor<i64>
%7 = pd.sin (%no_trips) : tensor<2xf64>
%x_grad = pd.tanh (%7) : tensor<2xf64>
%dead = pd.exp (%x_grad) : tensor<2xf64>
pd.fetch (%x_grad) {name = \"y\"}
pd.fetch (%stack_1) {name = \"steps\"}
// After everything.
";
    let plain = read(&ctx, source);
    assert_eq!(text(&plain), source);
    round_trip(&ctx, &plain, "backward", "strip-backward");
    round_trip(&ctx, &plain, "backward,backward", "strip-backward");
    round_trip(&ctx, &plain, "backward{of=y seed=x}", "strip-backward");
    round_trip(
        &ctx,
        &plain,
        "backward,backward",
        "strip-backward{orders=1},strip-backward",
    );
    round_trip(&ctx, &plain, "stack-locals,build-backward", "strip-backward");
}

#[test]
fn functions_get_their_types_back() {
    let ctx = pir_dialects::context();
    let source = "func.func @f(%x: tensor<2xf64>, %k: tensor<2xi64>, %s: tensor<2xf64>) -> tensor<2xf64> {
  %p = pd.multiply (%x, %s) : tensor<2xf64>
  func.return (%p)
}
func.func @identity(%x: tensor<2xf64>) -> tensor<2xf64> {
  func.return (%x)
}
";
    let plain = read(&ctx, source);
    assert_eq!(text(&plain), source);
    for options in ["", "{seed=x}", "{of=%x wrt=x}"] {
        round_trip(&ctx, &plain, &format!("backward{options}"), "strip-backward");
        round_trip(
            &ctx,
            &plain,
            &format!("backward{options},backward{options}"),
            "strip-backward",
        );
    }
    let mut with = plain.clone();
    passes(&mut with, "backward,backward,strip-backward{by=liveness}");
    assert_eq!(text(&with), source);
}

#[test]
fn what_somebody_appended_stays() {
    let ctx = pir_dialects::context();
    let source = "%x = pd.data {name = \"x\", shape = [2], dtype = f64} : tensor<2xf64>
%y = pd.tanh (%x) : tensor<2xf64>
pd.fetch (%y) {name = \"y\"}
";
    let mut module = read(&ctx, source);
    passes(&mut module, "backward");
    let more = format!(
        "{}%z = pd.sin (%x_grad) : tensor<2xf64>\npd.fetch (%z) {{name = \"z\"}}\n",
        text(&module)
    );
    let mut with = read(&ctx, &more);
    passes(&mut with, "strip-backward");
    let after = text(&with);
    assert!(
        after.contains("pd.tanh_grad") && after.contains("name = \"z\"") && !after.contains("name = \"x_grad\""),
        "{after}"
    );
    assert!(!after.contains("backward ="), "{after}");
}

#[test]
fn files_come_back() {
    let ctx = pir_dialects::context();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("test-files/autodiff");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "pir") {
            continue;
        }
        let source = std::fs::read_to_string(&path).unwrap();
        let plain = read(&ctx, &source);
        let backward = Pipeline::parse("backward").unwrap();
        if PassManager::new().run(&mut plain.clone(), &backward).is_err() {
            continue;
        }
        println!("{}", path.display());
        round_trip(&ctx, &plain, "backward", "strip-backward");
        round_trip(&ctx, &plain, "stack-locals,build-backward", "strip-backward");
        round_trip(&ctx, &plain, "backward,remat", "strip-backward");
        round_trip(&ctx, &plain, "backward,remat{recompute=all}", "strip-backward");
        round_trip(&ctx, &plain, "backward,remat{slots}", "strip-backward");
        round_trip(
            &ctx,
            &plain,
            "backward,remat{recompute=none slots=1},remat",
            "strip-backward",
        );
        round_trip(&ctx, &plain, "backward,remat{slots=1}", "strip-backward");
        round_trip(&ctx, &plain, "backward,remat{slots=3 recompute=all}", "strip-backward");
        round_trip(&ctx, &plain, "backward,remat,remat{slots=1}", "strip-backward");
        round_trip(
            &ctx,
            &plain,
            "backward,remat,backward,remat{recompute=all}",
            "strip-backward",
        );
        round_trip(&ctx, &plain, "backward,backward", "strip-backward");
        round_trip(
            &ctx,
            &plain,
            "backward,backward",
            "strip-backward{orders=1},strip-backward{orders=1}",
        );
        seen += 1;
    }
    assert!(seen >= 10, "{seen} files");
}

/// Stacks that are copied, forwarded and selected: the program's own use of them is preserved.
#[test]
fn programs_with_stacks_of_their_own_come_back() {
    let ctx = pir_dialects::context();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("test-files/autodiff/handles");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let source = std::fs::read_to_string(&path).unwrap();
        let parsed = parse(&ctx, source.as_bytes(), &ParseOptions::default());
        let backward = Pipeline::parse("backward").unwrap();
        let plain = parsed.module;
        if !parsed.diagnostics.is_empty() || PassManager::new().run(&mut plain.clone(), &backward).is_err() {
            continue;
        }
        println!("{}", path.display());
        for forward in [
            "backward",
            "backward,remat",
            "backward,remat{slots}",
            "backward,remat{slots=1}",
        ] {
            round_trip(&ctx, &plain, forward, "strip-backward");
        }
        seen += 1;
        // The extents of its inputs are unknown.
        if source.contains('?') || source.contains("shape = [-1") {
            continue;
        }
        let (inputs, _) = inputs_for(&plain, 3, 1);
        let results = |pipeline: &str| -> Vec<(String, Vec<f64>)> {
            let mut module = plain.clone();
            passes(&mut module, pipeline);
            let fetched = run(&module, &inputs).fetched;
            fetched
                .into_iter()
                .map(|(name, tensor)| (name, tensor.to_f64()))
                .collect()
        };
        let with = results("backward");
        for slots in ["backward,remat{slots}", "backward,remat{slots=1},cse,dce"] {
            assert_eq!(results(slots), with, "{slots}");
        }
        for back in [
            "backward,strip-backward{by=liveness}",
            "backward,cse,licm,dce,strip-backward{by=liveness}",
        ] {
            assert_eq!(results(back), results("dce"), "{back}");
        }
    }
    assert!(seen >= 8, "{seen} files");
}
