//! Programs from before PaddlePaddle 3: the listings of the specification, one that Paddle wrote in both forms, and what
//! is special about them.

#![allow(clippy::unwrap_used, reason = "a test ends at what it does not expect")]

use std::path::{Path, PathBuf};

use pir_interp::{Outcome, Tensor};
use pir_ir::text::print;
use pir_ir::{Diagnostic, Module};
use pir_tools::arrays::read_arrays;
use pir_tools::driver::{LoadOptions, load};
use pir_tools::source::Source;

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("test-files/paddle/legacy")
        .join(name)
}

fn read(source: &Source) -> Result<Module, Vec<Diagnostic>> {
    load(&pir_dialects::context(), source, LoadOptions::default()).map(|(module, _)| module)
}

fn program(name: &str) -> Module {
    let source = Source::read(file(name).to_str().unwrap()).unwrap();
    read(&source).unwrap_or_else(|e| panic!("{name}: {e:#?}"))
}

fn run(module: &Module, inputs: &[(&str, Tensor)]) -> Outcome {
    let options = pir_interp::Options {
        inputs: inputs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), value.clone()))
            .collect(),
        ..Default::default()
    };
    pir_interp::run(module, &options, &mut Vec::new()).unwrap()
}

#[test]
fn the_loop_of_the_specification_counts_to_ten() {
    let module = program("while.txt");
    let text = print(&module, &Default::default());
    // One loop with one condition, and nothing of the machinery around it.
    assert_eq!(text.matches("pd.less_than").count(), 1, "{text}");
    assert!(!text.contains("assign"), "{text}");
    let outcome = run(&module, &[]);
    assert_eq!(outcome.fetched.len(), 1);
    assert_eq!(outcome.fetched[0].0, "fill_constant_1.tmp_0");
    assert_eq!(outcome.fetched[0].1.to_i64(), [10]);
}

#[test]
fn the_branch_of_the_specification_is_one_operation() {
    let module = program("cond.txt");
    let text = print(&module, &Default::default());
    assert_eq!(text.matches("pd.if").count(), 1, "{text}");
    for gone in ["logical_not", "{dtype = i32} : tensor<1xi32>", "select_input"] {
        assert!(!text.contains(gone), "{text}");
    }
    let outcome = run(&module, &[]);
    let shapes: Vec<&[usize]> = outcome.fetched.iter().map(|(_, value)| value.shape()).collect();
    assert_eq!(shapes, [&[1, 2][..], &[2, 3]]);
    assert_eq!(outcome.fetched[0].1.to_i64(), [1, 1]);
    assert_eq!(outcome.fetched[1].1.to_f64(), [1.0; 6]);
}

#[test]
fn both_forms_of_a_program_compute_the_same() {
    let arrays = read_arrays(file("nested.npz").to_str().unwrap()).unwrap();
    let inputs: Vec<(&str, Tensor)> = arrays
        .iter()
        .filter(|(name, _)| !name.starts_with("out:"))
        .map(|(name, value)| (name.split_once(':').unwrap().1, value.clone()))
        .collect();
    let (_, want) = arrays.iter().find(|(name, _)| name == "out:mean_0").unwrap();
    for name in ["nested.txt", "nested.pdmodel"] {
        let outcome = run(&program(name), &inputs);
        let (_, got) = outcome.fetched.iter().find(|(name, _)| name == "mean_0").unwrap();
        let (got, want) = (got.to_f64()[0], want.to_f64()[0]);
        assert!((got - want).abs() < 1e-6, "{name}: {got}, not {want}");
    }
}

/// What `tools/fixtures/legacy.py` wrote: a program for an operation, and what PaddlePaddle computes with it.
#[test]
fn operations_compute_what_paddle_does() {
    let mut names: Vec<PathBuf> = std::fs::read_dir(file("ops"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    names.retain(|path| path.extension().is_some_and(|e| e == "npz"));
    names.sort();
    assert!(names.len() > 60, "{} programs", names.len());
    let mut wrong = Vec::new();
    for path in names {
        let arrays = read_arrays(path.to_str().unwrap()).unwrap();
        let module = program(path.with_extension("pdmodel").to_str().unwrap());
        let of = |kind: &str| -> Vec<(&str, &Tensor)> {
            let own = arrays.iter();
            own.filter_map(|(name, value)| Some((name.strip_prefix(kind)?, value)))
                .collect()
        };
        let inputs: Vec<(&str, Tensor)> = of("in:")
            .into_iter()
            .map(|(name, value)| (name, value.clone()))
            .collect();
        let outcome = run(&module, &inputs);
        for (name, want) in of("out:") {
            let got = outcome.fetched.iter().find(|(n, _)| n == name).map(|(_, value)| value);
            let near = |got: &Tensor| {
                let pairs = got.to_f64().into_iter().zip(want.to_f64());
                got.len() == want.len()
                    && pairs
                        .into_iter()
                        .all(|(a, b)| a == b || (a - b).abs() <= 2e-5 * b.abs().max(1.0))
            };
            if !got.is_some_and(near) {
                wrong.push(format!("{}: {name}: {got:?}, not {want:?}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

const HEAD: &str = "\
{ // block 0
    var x : LOD_TENSOR.shape(2, 3).dtype(float32).stop_gradient(False)
    var c : LOD_TENSOR.shape(1,).dtype(bool).stop_gradient(True)
    var b : LOD_TENSOR.shape(2,).dtype(float32).stop_gradient(False)
    var y : LOD_TENSOR.shape(2, 3).dtype(float32).stop_gradient(False)
    var z : LOD_TENSOR.shape(2, 3).dtype(float32).stop_gradient(False)
";

fn text(lines: &str) -> Source {
    Source::new("program.txt", format!("{HEAD}{lines}"))
}

fn floats(shape: &[usize], values: &[f64]) -> Tensor {
    Tensor::new(shape, values.iter().map(|&v| v as f32).collect()).unwrap()
}

#[test]
fn a_block_alone_changes_a_variable_or_not() {
    let source = text(
        "\
    {Out=['y']} = scale(inputs={ScaleTensor=[], X=['x']}, bias = 1.0, bias_after_scale = True, scale = 1.0)
    {Out=['y'], Scope=['s']} = conditional_block(inputs={Cond=['c'], Input=[]}, is_scalar_condition = True, sub_block = block[1])
    {Out=['z']} = assign(inputs={X=['y']})
}
{ // block 1
    {Out=['y']} = scale(inputs={X=['y']}, bias = 0.0, bias_after_scale = True, scale = 10.0)
}
",
    );
    let module = read(&source).unwrap();
    for (condition, want) in [(true, 20.0), (false, 2.0)] {
        let c = Tensor::new(&[1], vec![condition]).unwrap();
        let outcome = run(&module, &[("x", floats(&[2, 3], &[1.0; 6])), ("c", c)]);
        assert_eq!(outcome.fetched.len(), 1);
        assert_eq!(outcome.fetched[0].0, "z");
        assert_eq!(outcome.fetched[0].1.to_f64(), [want; 6]);
    }
}

#[test]
fn an_axis_lines_up_operands() {
    let source = text("    {Out=['y']} = elementwise_add(inputs={X=['x'], Y=['b']}, axis = 0)\n}\n");
    let outcome = run(
        &read(&source).unwrap(),
        &[("x", floats(&[2, 3], &[0.0; 6])), ("b", floats(&[2], &[1.0, 2.0]))],
    );
    assert_eq!(outcome.fetched[0].1.to_f64(), [1.0, 1.0, 1.0, 2.0, 2.0, 2.0]);
}

#[test]
fn errors_say_where() {
    for (lines, message) in [
        (
            "    {Out=['y']} = tahn(inputs={X=['x']})\n}\n",
            "unknown operation `pd.tahn`",
        ),
        ("    {Out=['y']} = tanh(inputs={X=['w']})\n}\n", "`w` has no value here"),
        ("    {Out=['y']} = tanh(X=['x'])\n}\n", "expected an operation"),
        (
            "    {Out=['y']} = scale(inputs={ScaleTensor=['b'], X=['x']}, scale = 1.0)\n}\n",
            "the operand `ScaleTensor` of `scale` is not supported",
        ),
        (
            "    {Out=['y']} = scale(inputs={X=['x']}, scale = 1.0, scale = 2.0)\n}\n",
            "the attribute `scale` of `scale` has two values",
        ),
        (
            "    {Out=['y']} = while(inputs={Condition=['c'], X=['x']}, sub_block = block[0])\n}\n",
            "`while` has no block",
        ),
        (
            "    {Out=['y']} = select_input(inputs={Mask=['c'], X=['x', 'x']})\n}\n",
            "does not select between two",
        ),
    ] {
        let errors = read(&text(lines)).unwrap_err();
        assert!(errors[0].message.contains(message), "{}", errors[0].message);
        assert!(errors[0].labels[0].span.start as usize >= HEAD.len(), "{message}");
    }
}

#[test]
fn broken_messages_are_errors() {
    let good = std::fs::read(file("nested.pdmodel")).unwrap();
    for length in (16..good.len()).step_by(97) {
        let source = Source::new("cut.pdmodel", good[..length].to_vec());
        assert!(read(&source).is_err(), "the first {length} bytes were accepted");
    }
    // A corrupted byte must never cause a crash.
    for at in (16..good.len()).step_by(61) {
        let mut bytes = good.clone();
        bytes[at] ^= 0x15;
        let _ = read(&Source::new("wrong.pdmodel", bytes));
    }
}

#[test]
fn depth_is_no_matter() {
    let depth = 3000;
    let mut source = format!("{HEAD}    {{Out=['y']}} = tanh(inputs={{X=['x']}})\n");
    for index in 1..=depth {
        source.push_str(&format!(
            "    {{Out=['y']}} = conditional_block(inputs={{Cond=['c']}}, sub_block = block[{index}])\n}}\n{{ // block {index}\n"
        ));
    }
    source.push_str("    {Out=['y']} = tanh(inputs={X=['y']})\n}\n");
    let module = read(&Source::new("deep.txt", source)).unwrap();
    assert_eq!(print(&module, &Default::default()).matches("pd.if").count(), depth);
}
