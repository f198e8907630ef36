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
