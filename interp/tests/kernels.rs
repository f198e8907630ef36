//! Compares the kernels with numpy: `tools/fixtures/kernels.py` writes the cases and their expected results.

#![allow(clippy::unwrap_used, reason = "in tests a panic is a failure")]

use half::f16;
use pir_interp::tensor::Element;
use pir_interp::{DType, Options, Tensor};
use pir_ir::text::{ParseOptions, parse};
use rayon::prelude::*;

#[derive(Clone)]
struct Case<'a> {
    line: usize,
    op: &'a str,
    attrs: &'a str,
    inputs: Vec<Tensor>,
    outputs: Vec<Tensor>,
}

fn tensor(text: &str) -> Tensor {
    let mut words = text.split(' ');
    let (dtype, shape) = (words.next().unwrap(), words.next().unwrap());
    let dims = shape.trim_matches(['[', ']']).split(',').filter(|d| !d.is_empty());
    let shape: Vec<usize> = dims.map(|d| d.parse().unwrap()).collect();
    fn read<T: Element>(shape: &[usize], words: std::str::Split<'_, char>, one: impl Fn(&str) -> T) -> Tensor {
        Tensor::new(shape, words.map(one).collect()).unwrap()
    }
    match dtype {
        "i1" => read::<bool>(&shape, words, |w| w.parse().unwrap()),
        "i8" => read::<i8>(&shape, words, |w| w.parse().unwrap()),
        "i16" => read::<i16>(&shape, words, |w| w.parse().unwrap()),
        "i32" => read::<i32>(&shape, words, |w| w.parse().unwrap()),
        "i64" => read::<i64>(&shape, words, |w| w.parse().unwrap()),
        "ui8" => read::<u8>(&shape, words, |w| w.parse().unwrap()),
        "f16" => read::<f16>(&shape, words, |w| f16::from_f64(w.parse().unwrap())),
        "f32" => read::<f32>(&shape, words, |w| w.parse().unwrap()),
        "f64" => read::<f64>(&shape, words, |w| w.parse().unwrap()),
        other => panic!("an element type called {other}"),
    }
}

fn cases(text: &str) -> Vec<Case<'_>> {
    let mut cases: Vec<Case<'_>> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let last = cases.last_mut();
        if let Some(rest) = line.strip_prefix("in ") {
            last.unwrap().inputs.push(tensor(rest));
        } else if let Some(rest) = line.strip_prefix("out ") {
            last.unwrap().outputs.push(tensor(rest));
        } else {
            let (op, attrs) = line.split_once(' ').unwrap();
            cases.push(Case {
                line: at + 1,
                op,
                attrs,
                inputs: Vec::new(),
                outputs: Vec::new(),
            });
        }
    }
    cases
}

/// A program that consists of one operation.
fn program(case: &Case<'_>) -> String {
    let mut text = String::new();
    let mut operands = Vec::new();
    for (at, x) in case.inputs.iter().enumerate() {
        let (shape, dtype) = (x.shape(), x.dtype().name());
        text += &format!("%x{at} = pd.data {{name = \"x{at}\", shape = {shape:?}, dtype = {dtype}}}\n");
        operands.push(format!("%x{at}"));
    }
    let operands = operands.join(", ");
    let names: Vec<String> = (0..case.outputs.len()).map(|at| format!("%y{at}")).collect();
    text += &format!("{} = pd.{} ({operands}) {}\n", names.join(", "), case.op, case.attrs);
    for (at, name) in names.iter().enumerate() {
        text += &format!("pd.fetch ({name}) {{name = \"y{at}\"}}\n");
    }
    text
}

fn run(case: &Case<'_>, precise: bool) -> Result<Vec<Tensor>, String> {
    let ctx = pir_dialects::context();
    let parsed = parse(&ctx, program(case).as_bytes(), &ParseOptions::default());
    if let Some(first) = parsed.diagnostics.first() {
        return Err(format!("{}\n{}", first.message, program(case)));
    }
    let inputs = case.inputs.iter().enumerate();
    let options = Options {
        inputs: inputs.map(|(at, x)| (format!("x{at}"), x.clone())).collect(),
        precise,
        ..Options::default()
    };
    let outcome = pir_interp::run(&parsed.module, &options, &mut std::io::sink()).map_err(|e| e.message)?;
    Ok(outcome.fetched.into_iter().map(|(_, t)| t).collect())
}

/// The relative tolerance for differences from numpy: exact computations must agree exactly.
fn tolerance(op: &str, dtype: DType) -> f64 {
    const EXACT: &[&str] = &[
        "sqrt",
        "reciprocal",
        "relu",
        "square",
        "abs",
        "neg",
        "sign",
        "floor",
        "ceil",
        "trunc",
        "round",
        "add",
        "subtract",
        "multiply",
        "divide",
        "remainder",
        "floor_divide",
        "maximum",
        "minimum",
        "fmax",
        "fmin",
        "where",
        "max",
        "min",
        "scale",
        "clip",
        "cast",
        "transpose",
        "reshape",
        "expand",
        "concat",
        "pad",
        "slice",
        "full",
        "one_hot",
        "tril",
        "triu",
        "relu_grad",
    ];
    if EXACT.contains(&op) {
        return 0.0;
    }
    match dtype {
        DType::F16 => 1e-3,
        DType::F32 => 3e-7,
        _ => 2e-14,
    }
}

fn same(op: &str, got: &Tensor, want: &Tensor) -> bool {
    if got.shape() != want.shape() || got.dtype() != want.dtype() {
        return false;
    }
    if !got.dtype().is_float() {
        return got.to_i64() == want.to_i64();
    }
    let tolerance = tolerance(op, got.dtype());
    // The error of a sum is that of its largest terms; and numpy approaches zero differently.
    let sums = [
        "sum",
        "mean",
        "reduce_as",
        "cumsum",
        "gather_grad",
        "index_select_grad",
        "take_along_axis_grad",
        "gather_nd_grad",
        "conv2d",
        "depthwise_conv2d",
        "conv2d_grad",
        "conv2d_transpose",
        "bmm",
        "mv",
        "dot",
        "addmm",
        "linear",
        "einsum",
        "trace",
        "scaled_dot_product_attention",
        "scaled_dot_product_attention_grad",
        "channel_norm_grad",
        // Differences of nearly equal numbers.
        "gelu",
        "tanh_shrink",
    ];
    // Of what is normalized, the error is that of numbers about one, before they are shifted.
    let normalized = ["layer_norm", "group_norm", "instance_norm", "batch_norm"];
    let size = match op {
        "matmul" => 100.0,
        _ if normalized.contains(&op) => 1.0,
        _ if sums.contains(&op) => 10.0,
        _ => 0.0,
    };
    let near = |(a, b): (f64, f64)| {
        if a == b {
            a != 0.0 || size != 0.0 || a.is_sign_negative() == b.is_sign_negative()
        } else {
            a.is_nan() && b.is_nan() || (a - b).abs() <= tolerance * b.abs().max(size)
        }
    };
    got.to_f64().into_iter().zip(want.to_f64()).all(near)
}

/// The output of `tools/fixtures/kernels.py` and `layers.py`.
fn text() -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/");
    let files = ["kernels.txt", "layers.txt"].map(|name| std::fs::read_to_string(folder.to_owned() + name).unwrap());
    files.concat()
}

#[test]
fn numpy_agrees() {
    agrees(false);
}

/// In double precision, too, whatever the types are.
#[test]
fn numpy_agrees_with_what_is_rounded_once() {
    agrees(true);
}

/// The result in single precision is that in double precision, rounded; without the option, some differ.
#[test]
fn results_are_rounded_once() {
    let numbers = |seed: usize| {
        let values = (0..12 * 256).map(|at| ((at * 7919 + seed * 104_729) % 4001) as f32 / 400.0 - 5.0);
        Tensor::new(&[12, 256], values.collect::<Vec<f32>>()).unwrap()
    };
    for (op, attrs) in [
        ("tanh", ""),
        ("gelu", ""),
        ("silu", ""),
        ("softmax", "{axis = -1}"),
        ("sum", "{axis = [1]}"),
        ("multiply", ""),
        ("matmul", "{transpose_y = true}"),
    ] {
        let count = if matches!(op, "multiply" | "matmul") { 2 } else { 1 };
        let single = Case {
            line: 0,
            op,
            attrs,
            inputs: (0..count).map(numbers).collect(),
            outputs: vec![Tensor::scalar(0f32)],
        };
        let double = Case {
            inputs: single
                .inputs
                .iter()
                .map(|x| x.clone().cast(DType::F64).unwrap())
                .collect(),
            ..single.clone()
        };
        let rounded = run(&double, false).unwrap().remove(0).cast(DType::F32).unwrap();
        assert!(run(&single, true).unwrap()[0].same_bits(&rounded), "{op}");
        if !matches!(op, "multiply" | "sum") {
            assert!(!run(&single, false).unwrap()[0].same_bits(&rounded), "{op}");
        }
    }
}

fn agrees(precise: bool) {
    let text = text();
    let cases = cases(&text);
    let check = |case: &Case| match run(case, precise) {
        Ok(got) => {
            let fits = got.len() == case.outputs.len();
            let right = fits && got.iter().zip(&case.outputs).all(|(a, b)| same(case.op, a, b));
            (!right).then(|| {
                format!(
                    "line {}: {} {}\n  got  {got:?}\n  want {:?}",
                    case.line, case.op, case.attrs, case.outputs
                )
            })
        }
        Err(error) => Some(format!("line {}: {}: {error}", case.line, case.op)),
    };
    let wrong: Vec<String> = cases.par_iter().filter_map(check).collect();
    let shown: Vec<&str> = wrong.iter().take(20).map(String::as_str).collect();
    assert!(
        wrong.is_empty(),
        "{} of {} cases:\n{}",
        wrong.len(),
        cases.len(),
        shown.join("\n")
    );
}

/// The programs that JAX's results are recorded of, and the operations that those of MLIR are.
fn recorded() -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/stablehlo");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let programs = files.filter(|path| path.extension().is_some_and(|end| end == "mlir"));
    let mlir = std::iter::once(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/mlir.txt").into());
    let files = programs.chain(mlir);
    files.map(|path| std::fs::read_to_string(path).unwrap()).collect()
}

#[test]
fn every_kernel_has_cases() {
    let text = text();
    let tried: std::collections::BTreeSet<String> = cases(&text).iter().map(|case| format!("pd.{}", case.op)).collect();
    let kernels = pir_interp::kernels::Kernels::standard();
    // The same kernels under other names.
    let others = ["pd.assign", "pd.const", "pd.constant", "pd.inplace_add"];
    // These take lists: `tests/paddle.rs` has a program with both.
    let lists = ["pd.rnn", "pd.coalesce_tensor"];
    // Their results' types are written: `test-files/run/assert.pir`, unit tests of kernels and `tools/paddle/sweep` run them.
    let written = [
        "pd.assert",
        "pd.box_coder",
        "pd.distribute_fpn_proposals",
        "pd.eig",
        "pd.eig_grad",
        "pd.eigvals",
        "pd.fractional_max_pool2d",
        "pd.fractional_max_pool2d_grad",
        "pd.fractional_max_pool3d",
        "pd.fractional_max_pool3d_grad",
        "pd.gammaincc",
        "pd.generate_proposals",
        "pd.matrix_nms",
        "pd.multiclass_nms3",
        "pd.nms",
        "pd.prior_box",
        "pd.psroi_pool",
        "pd.psroi_pool_grad",
        "pd.roi_align",
        "pd.roi_align_grad",
        "pd.roi_pool",
        "pd.roi_pool_grad",
        "pd.rrelu",
        "pd.unique",
        "pd.unique_consecutive",
        "pd.viterbi_decode",
        "pd.warpctc",
        "pd.warprnnt",
        "pd.yolo_box",
        "pd.yolo_loss",
        "pd.yolo_loss_grad",
    ];
    // MLIR compiles it to what LLVM may take for any number; `tests/mlir_kernels.rs` runs it.
    let poison = ["ub.poison"];
    // `tests/stablehlo.rs` compares these with JAX, and `tests/mlir_kernels.rs` with what MLIR compiles.
    let recorded = recorded();
    // `tools/mlir/generate` compares these with programs compiled by clang.
    let tensors = include_str!("../../test-files/run/mlir-tensors.mlir");
    let missing: Vec<&str> = kernels
        .names()
        .filter(|name| !recorded.contains(&format!("\"{name}\"")))
        .filter(|name| !tried.contains(*name) && !others.contains(name) && !lists.contains(name))
        .filter(|name| !written.contains(name) && !poison.contains(name) && !tensors.contains(&format!("= {name}")))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// The error of an operation when it is executed, or when it is parsed.
fn failure(text: &str) -> String {
    let ctx = pir_dialects::context();
    let parsed = parse(&ctx, text.as_bytes(), &ParseOptions::default());
    if let Some(first) = parsed.diagnostics.first() {
        return format!("not read: {}", first.message);
    }
    match pir_interp::run(&parsed.module, &Options::default(), &mut std::io::sink()) {
        Ok(_) => "it runs".to_owned(),
        Err(error) => error.message,
    }
}

/// The `%x` of a program, of a type that does not reveal the error statically.
fn full(shape: &str, value: &str, dtype: &str) -> String {
    format!("%x = pd.full {{shape = {shape}, value = {value}, dtype = {dtype}}}\n")
}

#[test]
fn what_cannot_be_computed_is_said() {
    let zero = full("[2]", "0", "i32");
    let cases = [
        (
            format!("{zero}%y = pd.divide (%x, %x)"),
            "an integer is divided by zero",
        ),
        (
            format!("{zero}%y = pd.remainder (%x, %x)"),
            "an integer is divided by zero",
        ),
        (
            format!("{zero}%y = pd.floor_divide (%x, %x)"),
            "an integer is divided by zero",
        ),
        (
            full("[2]", "5", "i64") + "%y = pd.gather (%x, %x)",
            "index 5 is out of range for 2 elements",
        ),
        (
            full("[2]", "-3", "i64") + "%y = pd.gather (%x, %x)",
            "index -3 is out of range",
        ),
        (
            full("[3]", "1.0", "f32") + "%y = pd.bitwise_and (%x, %x)",
            "integer element type",
        ),
        (full("[2]", "3", "i64") + "%y = pd.exp (%x)", "float element type"),
        (
            full("[0]", "1.0", "f32") + "%y = pd.max (%x)",
            "the extremum of an empty set is undefined",
        ),
        (
            full("[0]", "1.0", "f32") + "%y = pd.argmin (%x) {axis = 0}",
            "the extremum of an empty set is undefined",
        ),
        (
            "%y = pd.arange {start = 0, end = 5, step = 0, dtype = i64}".to_owned(),
            "step",
        ),
        (
            "%y = pd.arange {start = 0, end = 1000000000000000, step = 1, dtype = i64}".to_owned(),
            "larger than",
        ),
        (full("[1000000, 1000000]", "1.0", "f32"), "larger than"),
        (full("[9223372036854775807, 3]", "1.0", "f32"), "larger than"),
        (full("[9223372036854775807, 3, 0]", "1.0", "f32"), "larger than"),
        (
            full("[1]", "1.0", "f32") + "%y = pd.expand (%x) {shape = [100000, 100000]}",
            "larger than",
        ),
        (
            full("[9]", "1.0", "f32") + "%y = pd.tile (%x) {repeat_times = [9223372036854775807]}",
            "large",
        ),
        (
            full("[2]", "1.0", "f32") + "%y = pd.pad (%x) {paddings = [4611686018427387904, 1]}",
            "larger than",
        ),
        (
            full("[1]", "3", "i64") + "%y = pd.one_hot (%x) {num_classes = 2}",
            "index 3 is out of range",
        ),
    ];
    for (text, part) in cases {
        let said = failure(&text);
        assert!(said.contains(part), "{text}\n  said: {said}");
    }
}

#[test]
fn nothing_is_soon_done() {
    // Iterating over a huge dimension of an empty tensor would not terminate, and offsets of its elements would exhaust
    // the memory.
    let huge = full("[1099511627776, 0]", "1.0", "f32");
    for op in [
        "%y = pd.concat (%x, %x) {axis = 1}",
        "%y = pd.add (%x, %x)",
        "%y = pd.transpose (%x) {perm = [1, 0]}",
        "%y = pd.slice (%x) {axes = [1], starts = [0], ends = [0]}",
        "%y = pd.cumsum (%x) {axis = 1}",
        "%y = pd.sum (%x) {axis = [0]}",
        "%y = pd.matmul (%x, %x) {transpose_x = true}",
        "%y = pd.flip (%x) {axis = [0]}",
        "%y = pd.roll (%x) {shifts = [1], axis = [0]}",
        "%y = pd.stack (%x, %x) {axis = 0}",
        "%y = pd.max (%x) {axis = [0]}",
        "%y = pd.tril (%x)",
        "%y = pd.split (%x) {sections = [0], axis = 1}",
        "%y = pd.expand (%x) {shape = [3, -1, -1]}",
        "%y = pd.tile (%x) {repeat_times = [2, 2]}",
        "%y = pd.pad (%x) {paddings = [0, 0, 0, 0]}",
        "%i = pd.full {shape = [2], value = 1, dtype = i64}\n%y = pd.gather (%x, %i) {axis = 0}",
    ] {
        let said = failure(&format!("{huge}{op}"));
        assert_eq!(said, "it runs", "{op}");
    }
    // Their results are too large, which is an error.
    for op in [
        "%y = pd.sum (%x) {axis = [1]}",
        "%y = pd.matmul (%x, %x) {transpose_y = true}",
        "%y = pd.unstack (%x) {axis = 0}",
    ] {
        let said = failure(&format!("{huge}{op}"));
        assert_ne!(said, "it runs", "{op}");
    }
}

#[test]
fn small_floats_are_rounded_once() {
    use half::bf16;
    let run = |lines: &str, inputs: [(&str, Tensor); 2]| {
        let ctx = pir_dialects::context();
        let data: String = inputs
            .iter()
            .map(|(n, t)| {
                format!(
                    "%{n} = pd.data {{name = \"{n}\", shape = {:?}, dtype = bf16}}\n",
                    t.shape()
                )
            })
            .collect();
        let text = data + lines + "\npd.fetch (%z) {name = \"z\"}";
        let parsed = parse(&ctx, text.as_bytes(), &ParseOptions::default());
        assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
        let options = Options {
            inputs: inputs.into_iter().map(|(n, t)| (n.to_owned(), t)).collect(),
            ..Options::default()
        };
        let outcome = pir_interp::run(&parsed.module, &options, &mut std::io::sink()).unwrap();
        outcome.fetched[0].1.to_f64()
    };
    let of = |shape: &[usize], values: &[f32]| {
        Tensor::new(shape, values.iter().map(|&v| bf16::from_f32(v)).collect()).unwrap()
    };
    // 256 + 1 is halfway between 256 and 258: sequential addition would lose all the ones.
    let row = of(&[1, 5], &[256.0, 1.0, 1.0, 1.0, 1.0]);
    let ones = of(&[5, 1], &[1.0; 5]);
    assert_eq!(
        run("%z = pd.matmul (%x, %y)", [("x", row.clone()), ("y", ones)]),
        [260.0]
    );
    assert_eq!(
        run("%z = pd.sum (%x)", [("x", row.clone()), ("y", row.clone())]),
        [260.0]
    );
    assert_eq!(
        run("%z = pd.mean (%x)", [("x", row.clone()), ("y", row.clone())]),
        [52.0]
    );
    let (x, y) = (of(&[2], &[256.0, 3.0]), of(&[], &[1.0]));
    assert_eq!(
        run("%z = pd.add (%x, %y)", [("x", x.clone()), ("y", y.clone())]),
        [256.0, 4.0]
    );
    assert_eq!(
        run("%z = pd.divide (%y, %x)", [("x", x), ("y", y)]),
        [0.00390625, f64::from(bf16::from_f32(1.0 / 3.0))]
    );
}
