//! Compares the kernels of MLIR's dialects with the code that MLIR compiles their operations to: `tools/mlir/record-kernels`
//! writes the cases and what that code computes.

#![allow(clippy::unwrap_used, reason = "in tests a panic is a failure")]

use std::fmt::Write;

use pir_interp::{DType, Options, Tensor};
use pir_ir::Module;
use pir_ir::text::{ParseOptions, parse};

/// Functions that libm approximates; implementations may differ in the last bits.
const ULPS: u64 = 2;

/// A line of the file that names an operation, and the rows below it.
struct Case<'a> {
    op: &'a str,
    operands: Vec<&'a str>,
    results: Vec<&'a str>,
    rows: Vec<&'a str>,
}

/// The types between parentheses, or the only one.
fn types(text: &str) -> Vec<&str> {
    let text = text.trim().trim_matches(['(', ')']);
    text.split(", ").filter(|ty| !ty.is_empty()).collect()
}

fn cases(text: &str) -> Vec<Case<'_>> {
    let mut cases: Vec<Case<'_>> = Vec::new();
    for line in text.lines() {
        if line.starts_with('"') {
            let (operands, results) = line.rsplit_once(" : ").unwrap().1.split_once(" -> ").unwrap();
            cases.push(Case {
                op: line,
                operands: types(operands),
                results: types(results),
                rows: Vec::new(),
            });
        } else {
            cases.last_mut().unwrap().rows.push(line);
        }
    }
    cases
}

/// A function that consists of one operation, of numbers or of tensors of that many.
fn program(case: &Case<'_>, count: Option<usize>) -> Module {
    let of = |ty: &&str| count.map_or_else(|| (*ty).to_owned(), |n| format!("tensor<{n}x{ty}>"));
    let list = |types: &[&str]| types.iter().map(of).collect::<Vec<_>>().join(", ");
    let (operands, results) = (list(&case.operands), list(&case.results));
    let names: Vec<String> = (0..case.results.len()).map(|at| format!("%y{at}")).collect();
    let names = names.join(", ");
    let mut op = case.op.rsplit_once(" : ").unwrap().0.to_owned();
    let args: Vec<String> = case
        .operands
        .iter()
        .enumerate()
        .map(|(at, ty)| format!("%{at}: {}", of(ty)))
        .collect();
    write!(op, " : ({operands}) -> ({results})").unwrap();
    let text = format!(
        "\"builtin.module\"() ({{
  \"func.func\"() <{{function_type = ({operands}) -> ({results}), sym_name = \"main\"}}> ({{
  ^bb0({}):
    {names} = {op}
    \"func.return\"({names}) : ({results}) -> ()
  }}) : () -> ()
}}) : () -> ()\n",
        args.join(", ")
    )
    .replace("^bb0():\n", "");
    let parsed = parse(&pir_dialects::context(), text.as_bytes(), &ParseOptions::default());
    assert!(parsed.diagnostics.is_empty(), "{:#?}\n{text}", parsed.diagnostics);
    parsed.module
}

/// Recorded numbers of a type.
fn tensor(shape: &[usize], ty: &str, words: &[&str]) -> Tensor {
    let words = words.iter();
    match ty {
        "f32" => Tensor::new(
            shape,
            words
                .map(|w| f32::from_bits(u32::from_str_radix(w, 16).unwrap()))
                .collect(),
        ),
        "f64" => Tensor::new(
            shape,
            words
                .map(|w| f64::from_bits(u64::from_str_radix(w, 16).unwrap()))
                .collect(),
        ),
        _ => {
            let dtype = match ty {
                "i1" => DType::I1,
                "i8" => DType::I8,
                "i32" => DType::I32,
                _ => DType::I64,
            };
            Tensor::new(shape, words.map(|w| w.parse::<i64>().unwrap()).collect()).and_then(|t| t.cast(dtype))
        }
    }
    .unwrap()
}

/// Consecutive numbers for consecutive floating-point numbers.
fn place(x: &Tensor) -> Vec<i64> {
    let ordered = |bits: i64, least: i64| if bits < 0 { least - bits } else { bits };
    match (x.view::<f32>(), x.view::<f64>()) {
        (Some(v), _) => v
            .iter()
            .map(|v| ordered((v.to_bits() as i32).into(), i32::MIN.into()))
            .collect(),
        (_, Some(v)) => v.iter().map(|v| ordered(v.to_bits() as i64, i64::MIN)).collect(),
        _ => x.to_i64(),
    }
}

/// Whether numbers are the same, all NaN being one.
fn same(op: &str, got: &Tensor, want: &Tensor) -> bool {
    if (got.shape(), got.dtype()) != (want.shape(), want.dtype()) {
        return false;
    }
    const EXACT: &[&str] = &[
        "absf",
        "ceil",
        "copysign",
        "floor",
        "fma",
        "round",
        "roundeven",
        "rsqrt",
        "sqrt",
        "trunc",
    ];
    let name = op.trim_start_matches('"').split('"').next().unwrap();
    let function = name.strip_prefix("math.").is_some_and(|name| !EXACT.contains(&name));
    let ulps = if function && got.dtype().is_float() { ULPS } else { 0 };
    let nan = |x: &Tensor| x.to_f64().into_iter().map(f64::is_nan).collect::<Vec<_>>();
    let (got_nan, want_nan) = (nan(got), nan(want));
    let zero = |x: f64| (x == 0.0).then_some(x.is_sign_negative());
    let signs = got.to_f64().into_iter().zip(want.to_f64()).all(|(a, b)| {
        let (a, b) = (zero(a), zero(b));
        a.is_none() || b.is_none() || a == b
    });
    let near = place(got)
        .into_iter()
        .zip(place(want))
        .map(|(a, b)| a.abs_diff(b) <= ulps);
    signs
        && near
            .zip(got_nan.into_iter().zip(want_nan))
            .all(|(near, nan)| match nan {
                (false, false) => near,
                (a, b) => a && b,
            })
}

fn run(module: &Module, inputs: Vec<Tensor>) -> Result<Vec<Tensor>, String> {
    let names = pir_interp::inputs_of(module, None).unwrap();
    let options = Options {
        inputs: names.into_iter().map(|input| input.name).zip(inputs).collect(),
        ..Options::default()
    };
    let outcome = pir_interp::run(module, &options, &mut std::io::sink()).map_err(|e| e.message)?;
    Ok(outcome.results)
}

/// Words that one column of rows consists of.
fn column<'a>(rows: &[&'a str], at: usize) -> Vec<&'a str> {
    let word = |row: &&'a str| row.split(' ').filter(|word| *word != "=").nth(at).unwrap();
    rows.iter().map(word).collect()
}

fn check(case: &Case<'_>, module: &Module, shape: &[usize], rows: &[&str], wrong: &mut Vec<String>) {
    let operands = case.operands.iter().enumerate();
    let inputs = operands.map(|(at, ty)| tensor(shape, ty, &column(rows, at))).collect();
    let outputs = case.results.iter().enumerate();
    let want: Vec<Tensor> = outputs
        .map(|(at, ty)| tensor(shape, ty, &column(rows, case.operands.len() + at)))
        .collect();
    match run(module, inputs) {
        Ok(got) if got.len() == want.len() && got.iter().zip(&want).all(|(a, b)| same(case.op, a, b)) => {}
        Ok(got) => wrong.push(format!("{}, {rows:?}: {got:?}", case.op)),
        Err(error) => wrong.push(format!("{}, {rows:?}: {error}", case.op)),
    }
}

fn text() -> String {
    std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/mlir.txt")).unwrap()
}

fn assert_none(wrong: &[String], tried: usize) {
    let shown: Vec<&str> = wrong.iter().take(60).map(String::as_str).collect();
    assert!(wrong.is_empty(), "{} of {tried}:\n{}", wrong.len(), shown.join("\n"));
}

#[test]
fn compiled_code_agrees_about_numbers() {
    let text = text();
    let (mut wrong, mut tried) = (Vec::new(), 0);
    for case in cases(&text) {
        let module = program(&case, None);
        for row in &case.rows {
            check(&case, &module, &[], &[row], &mut wrong);
            tried += 1;
        }
    }
    assert_none(&wrong, tried);
    assert!(tried > 9000, "{tried}");
}

/// A kernel may compute tensors in another way than single numbers.
#[test]
fn compiled_code_agrees_about_tensors() {
    let text = text();
    let (mut wrong, mut tried) = (Vec::new(), 0);
    // The operations of `index` take no tensors, and constants have no operands.
    let cases = cases(&text).into_iter();
    for case in cases.filter(|case| !case.op.starts_with("\"index.") && !case.operands.is_empty()) {
        let count = case.rows.len();
        check(&case, &program(&case, Some(count)), &[count], &case.rows, &mut wrong);
        tried += 1;
    }
    assert_none(&wrong, tried);
    assert!(tried > 200, "{tried}");
}

/// Poison may be any number: it is zero.
#[test]
fn poison_is_no_error() {
    for ty in ["i1", "i32", "index", "f64"] {
        let op = format!("\"ub.poison\"() : () -> {ty}");
        let case = cases(&op).remove(0);
        for (count, shape) in [(None, &[][..]), (Some(3), &[3])] {
            if count.is_none() || ty != "index" {
                let got = run(&program(&case, count), Vec::new()).unwrap();
                assert_eq!(
                    (got[0].shape(), got[0].to_f64()),
                    (shape, vec![0.0; count.unwrap_or(1)]),
                    "{ty}"
                );
            }
        }
    }
}
