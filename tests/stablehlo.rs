//! Programs that JAX lowered, run and differentiated by us, against what JAX computed: `tools/jax/record` made them.

#![allow(clippy::unwrap_used, reason = "in tests a panic is a failure")]

use std::fs;
use std::path::{Path, PathBuf};

use pir_interp::Tensor;
use pir_ir::Module;
use pir_ir::text::{ParseOptions, parse, print};
use pir_passes::Pipeline;
use pir_tools::arrays::read_arrays;
use pir_tools::driver::{LoadOptions, RunOptions, load, run_passes};
use pir_tools::source::Source;

/// How far from the expected values, of the largest element.
const TOLERANCE: f64 = 1e-9;

fn programs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/stablehlo");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = files
        .filter(|path| path.extension().is_some_and(|e| e == "mlir"))
        .collect();
    files.sort();
    assert!(files.len() > 40, "{} programs", files.len());
    files
}

fn after(file: &Path, passes: &str) -> Module {
    let source = Source::read(file.to_str().unwrap()).unwrap();
    let (mut module, _) = load(&pir_dialects::context(), &source, LoadOptions::default())
        .unwrap_or_else(|e| panic!("{}: {e:#?}", file.display()));
    if !passes.is_empty() {
        let options = RunOptions {
            verify: Some(Default::default()),
            observers: Vec::new(),
        };
        run_passes(&mut module, &Pipeline::parse(passes).unwrap(), options)
            .unwrap_or_else(|e| panic!("{}, {passes}: {e:#?}", file.display()));
    }
    // What is run is what one reads.
    let text = print(&module, &Default::default());
    let again = parse(&module.ctx, text.as_bytes(), &ParseOptions::default());
    assert_eq!(again.diagnostics, [], "{}, {passes}: {text}", file.display());
    again.module
}

/// Runs a program, and compares its first results with those that are recorded.
fn check(file: &Path, passes: &str, results: usize) {
    let module = after(file, passes);
    let arrays = read_arrays(file.with_extension("npz").to_str().unwrap()).unwrap();
    let array = |name: String| arrays.iter().find(|(n, _)| *n == name).map(|(_, array)| array);
    let inputs = pir_interp::inputs_of(&module, None).unwrap();
    let inputs = inputs.into_iter().enumerate();
    let options = pir_interp::Options {
        inputs: inputs
            .map(|(at, input)| (input.name, array(format!("arg:{at}")).unwrap().clone()))
            .collect(),
        ..Default::default()
    };
    let outcome = pir_interp::run(&module, &options, &mut Vec::new())
        .unwrap_or_else(|e| panic!("{}, {passes}: {e:?}", file.display()));
    let wanted = (0..).map_while(|at| array(format!("out:{at}"))).take(results);
    for (at, want) in wanted.enumerate() {
        assert_same(
            &format!("{}, {passes}, result {at}", file.display()),
            &outcome.results[at],
            want,
        );
    }
}

fn assert_same(what: &str, found: &Tensor, want: &Tensor) {
    assert_eq!((found.shape(), found.dtype()), (want.shape(), want.dtype()), "{what}");
    if let (Some((re, im)), Some((re_of_want, im_of_want))) = (found.parts().unwrap(), want.parts().unwrap()) {
        assert_same(what, &re, &re_of_want);
        return assert_same(what, &im, &im_of_want);
    }
    let (found, want) = (found.to_f64(), want.to_f64());
    let scale = want.iter().fold(1.0f64, |most, x| most.max(x.abs()));
    for (at, (x, y)) in found.iter().zip(&want).enumerate() {
        let same = (x - y).abs() <= TOLERANCE * scale || x.is_nan() && y.is_nan() || x == y;
        assert!(same, "{what}: element {at} is {x}, not {y}");
    }
}

#[test]
fn values() {
    for file in programs() {
        check(&file, "", 1);
        check(
            &file,
            "inline{max-size=100000},decompose,canonicalize,cse,licm,forward-args,dce",
            1,
        );
    }
}

#[test]
fn gradients() {
    for file in programs() {
        check(&file, "inline{max-size=100000},backward", usize::MAX);
    }
}

#[test]
fn gradients_of_what_is_optimized() {
    // What is decomposed has the derivatives of `pd`, which differ at kinks.
    let is_smooth = |file: &PathBuf| {
        !file
            .file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with("kinks"))
    };
    for file in programs().into_iter().filter(is_smooth) {
        let passes =
            "inline{max-size=100000},decompose,forward-args,canonicalize,cse,licm,backward,canonicalize,cse,dce";
        check(&file, passes, usize::MAX);
    }
}

#[test]
fn written_as_stablehlo_again() {
    let decomposed = "inline{max-size=100000},decompose,pd-to-stablehlo";
    for file in programs() {
        // Their control flow, and all that they compute, by way of `pd`.
        check(&file, "inline{max-size=100000},pd-to-stablehlo", 1);
        check(&file, decomposed, 1);
        check(
            &file,
            "inline{max-size=100000},decompose,O2,pd-to-stablehlo,canonicalize,cse",
            1,
        );
    }
}

#[test]
fn gradients_written_as_stablehlo() {
    let passes = "inline{max-size=100000},backward,pd-to-stablehlo";
    let mut written = 0;
    for file in programs() {
        // Stacks are lowered by a pass of their own.
        let source = Source::read(file.to_str().unwrap()).unwrap();
        let (mut module, _) = load(&pir_dialects::context(), &source, LoadOptions::default()).unwrap();
        match run_passes(&mut module, &Pipeline::parse(passes).unwrap(), RunOptions::default()) {
            Ok(_) => {
                written += 1;
                check(&file, passes, usize::MAX);
            }
            Err(errors) => {
                let stacks = |e: &pir_ir::Diagnostic| e.code == "no-stablehlo" && e.help.is_some();
                assert!(errors.iter().any(stacks), "{}: {errors:#?}", file.display());
            }
        }
    }
    assert!(written > 20, "only {written} gradients were written");
}

/// The example of each row of `pd`.
#[test]
fn examples_of_operations() {
    let ctx = pir_dialects::context();
    let (mut compared, mut refused) = (0, Vec::new());
    for def in ctx.ops().filter(|def| def.name.starts_with("pd.")) {
        let text = def.example.to_string();
        let parsed = parse(&ctx, text.as_bytes(), &ParseOptions::default());
        let has_inputs = ["pd.data", "pd.feed", "pd.parameter"]
            .iter()
            .any(|name| text.contains(name));
        if text.is_empty() || has_inputs || !parsed.diagnostics.is_empty() {
            continue;
        }
        let mut module = parsed.module;
        pir_tools::reference::fetch_unused(&mut module);
        let run = |module: &Module| {
            let outcome = pir_interp::run(module, &Default::default(), &mut Vec::new());
            outcome.unwrap_or_else(|e| panic!("{}: {e:?}\n{}", def.name, print(module, &Default::default())))
        };
        let before: Vec<Tensor> = run(&module).fetched.into_iter().map(|fetched| fetched.1).collect();
        let options = RunOptions {
            verify: Some(Default::default()),
            observers: Vec::new(),
        };
        match run_passes(&mut module, &Pipeline::parse("pd-to-stablehlo").unwrap(), options) {
            Ok(_) => {}
            Err(errors) => {
                assert!(
                    errors.iter().all(|e| e.code == "no-stablehlo"),
                    "{}: {errors:#?}",
                    def.name
                );
                refused.push(def.name.to_string());
                continue;
            }
        }
        let after = run(&module).results;
        assert_eq!(before.len(), after.len(), "{}", def.name);
        for (x, y) in before.iter().zip(&after) {
            compared += 1;
            assert_eq!((x.shape(), x.dtype()), (y.shape(), y.dtype()), "{}", def.name);
            for (x, y) in x.to_f64().into_iter().zip(y.to_f64()) {
                let same = (x - y).abs() <= 2e-6 * (1.0 + x.abs()) || x.is_nan() && y.is_nan() || x == y;
                assert!(
                    same,
                    "{}: {y} in place of {x}\n{}",
                    def.name,
                    print(&module, &Default::default())
                );
            }
        }
    }
    // Effects, random numbers, shapes that depend on values, handles; and control flow between blocks.
    assert!(compared > 240, "only {compared} results were compared");
    assert!(refused.len() < 20, "{refused:?}");
}

/// Folds change no bit: of signed zeros, NaN and infinities.
#[test]
fn folds_are_exact() {
    check_folds("folds.mlir", 12);
    check_folds("folds-bounds.mlir", 0);
}

/// Runs a file before and after folding, which must remove at least `fewer` operations.
fn check_folds(name: &str, fewer: usize) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("test-files/stablehlo")
        .join(name);
    let floats = Tensor::new(&[2, 3], vec![-0.0, f64::NAN, f64::INFINITY, 1.5, -2.0, 0.0]).unwrap();
    let ints = Tensor::new(&[2, 3], vec![-3i32, -2, 0, 1, i32::MAX, i32::MIN]).unwrap();
    let truths = Tensor::new(&[2, 3], vec![true, false, true, false, true, true]).unwrap();
    let inputs = [("x", floats), ("i", ints), ("p", truths)];
    let run = |passes: &str| {
        let options = pir_interp::Options {
            inputs: inputs.iter().map(|(name, x)| (name.to_string(), x.clone())).collect(),
            ..Default::default()
        };
        let module = after(&file, passes);
        (
            module.num_ops(),
            pir_interp::run(&module, &options, &mut Vec::new()).unwrap().results,
        )
    };
    let ((whole, before), (folded, after)) = (run(""), run("canonicalize"));
    assert!(folded + fewer < whole, "{whole} operations, {folded} folded");
    assert_eq!(before.len(), after.len());
    for (at, (x, y)) in before.iter().zip(&after).enumerate() {
        assert!(x.same_bits(y), "result {at}: {y:?} in place of {x:?}");
    }
}
