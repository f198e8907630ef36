//! `pir-run`.

use std::fs;
use std::path::Path;
use std::process::Command;

use pir_interp::Tensor;
use pir_tools::arrays::{read_arrays, write_npz};

use crate::run_tool::{command, in_folder, run, with_input};

const RUN: &str = env!("CARGO_BIN_EXE_pir-run");
const OPT: &str = env!("CARGO_BIN_EXE_pir-opt");
const CUBE: &str = include_str!("../../docs/examples/cube.pir");
const LOOP: &str = include_str!("../../docs/examples/loop.pir");

fn pir_run(arguments: &[&str]) -> Command {
    command(RUN, arguments)
}

#[test]
fn help_teaches() {
    insta::assert_snapshot!(run(pir_run(&["--help"])).ok());
}

#[test]
fn results_do_not_depend_on_the_threads() {
    let program = "%x = pd.data {name = \"x\", shape = [200, 700], dtype = f32} : tensor<200x700xf32>\n\
                   %y = pd.matmul (%x, %x) {transpose_y = true} : tensor<200x200xf32>\n\
                   %z = pd.softmax (%y) : tensor<200x200xf32>\npd.fetch (%z) {name = \"z\"}\n";
    let folder = tempfile::tempdir().unwrap();
    let bytes = |threads: &str| {
        let file = folder.path().join(format!("{threads}.npz"));
        let file = file.to_str().unwrap();
        let mut tool = pir_run(&["--input=x=rand", "--output", file]);
        tool.env("PIR_THREADS", threads);
        with_input(tool, program).ok();
        read_arrays(file).unwrap().remove(0).1
    };
    let one = bytes("1");
    assert!(["2", "3"].iter().all(|threads| bytes(threads).same_bits(&one)));
    let refused = with_input(pir_run(&["--threads=0"]), program);
    assert!(refused.fails(2).contains("--threads"));
}

#[test]
fn results_are_printed() {
    assert_eq!(
        with_input(pir_run(&["--input", "x=[2, 3]"]), CUBE).ok(),
        "y = tensor<2xf64> [8, 27]\n"
    );
    assert_eq!(
        with_input(pir_run(&["-", "--input=x=ones"]), CUBE).ok(),
        "y = tensor<2xf64> [1, 1]\n"
    );
    let random = |seed| with_input(pir_run(&["--input", "x=rand", "--seed", seed]), CUBE).ok();
    assert_eq!(random("1"), random("1"));
    assert_ne!(random("1"), random("2"));
}

#[test]
fn the_shell_pipeline_of_the_readme_works() {
    let hoisted = with_input(command(OPT, &["--pass=licm"]), CUBE).ok();
    let differentiated = with_input(command(OPT, &["--pass=backward", "-"]), &hoisted).ok();
    assert_eq!(
        with_input(pir_run(&["-", "--input", "x=ones"]), &differentiated).ok(),
        "y = tensor<2xf64> [1, 1]\nx_grad = tensor<2xf64> [3, 3]\n"
    );
}

#[test]
fn functions_are_run_by_name_and_position() {
    let program = "func.func @sum(%a: tensor<2xf32>, %b: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {\n  \
                     %c = pd.add (%a, %b)\n  func.return (%c, %a)\n}\n\
                   func.func @other() {\n  func.return\n}\n";
    for inputs in [["a=1", "b=[2, 3]"], ["%a=1", "%b=[2, 3]"], ["0=1", "1=[2, 3]"]] {
        let arguments = ["--function", "sum", "--input", inputs[0], "--input", inputs[1]];
        assert_eq!(
            with_input(pir_run(&arguments), program).ok(),
            "out:0 = tensor<2xf32> [3, 4]\nout:1 = tensor<2xf32> [1, 1]\n"
        );
    }
    let said = with_input(pir_run(&[]), program).fails(1);
    assert!(
        said.contains("several functions") && said.contains("sum, other"),
        "{said}"
    );
    let said = with_input(pir_run(&["--function=smu"]), program).fails(1);
    assert!(said.contains("there is no function @smu"), "{said}");
}

#[test]
fn files_bind_inputs_and_take_results() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let x = Tensor::new(&[2], vec![2.0, 3.0]).unwrap();
    let mut bytes = Vec::new();
    write_npz([("x", &x)], &mut bytes).unwrap();
    fs::write(file("in.npz"), bytes).unwrap();
    fs::write(file("cube.pir"), CUBE).unwrap();
    let here = |arguments: &[&str]| in_folder(folder.path(), pir_run(arguments));
    assert_eq!(
        here(&["cube.pir", "--inputs", "in.npz"]).ok(),
        "y = tensor<2xf64> [8, 27]\n"
    );
    assert_eq!(
        here(&["cube.pir", "--inputs", "in.npz", "--input", "x=[1, 2]"]).ok(),
        "y = tensor<2xf64> [1, 8]\n",
        "the command line goes first"
    );
    assert_eq!(
        here(&["cube.pir", "--inputs", "in.npz", "--output", "out.npz"]).ok(),
        ""
    );
    let results = read_arrays(file("out.npz").to_str().unwrap()).unwrap();
    assert_eq!((results.len(), &*results[0].0), (1, "y"));
    assert!(results[0].1.same_bits(&Tensor::new(&[2], vec![8.0, 27.0]).unwrap()));
    assert!(
        here(&["cube.pir", "--inputs", "no.npz"])
            .fails(1)
            .contains("there is no such file")
    );
    let said = here(&["cube.pir", "--inputs", "cube.pir"]).fails(1);
    assert!(said.contains("cannot read tensors from `cube.pir`"), "{said}");
}

#[test]
fn saved_parameters_are_bound_in_the_order_of_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let program = r#"%b = pd.parameter {name = "b"} : tensor<2xf32>
%a = pd.parameter {name = "a"} : tensor<f32>
%none = pd.parameter {name = "none"} : tensor<0xui8>
%y = pd.multiply (%b, %a) : tensor<2xf32>
pd.fetch (%y) {name = "y"}
"#;
    // As PaddlePaddle saves them: versions and levels, a description, elements.
    let tensor = |description: &[u8], values: &[f32]| {
        let size = u32::try_from(description.len()).unwrap().to_le_bytes();
        let values = values.iter().flat_map(|value| value.to_le_bytes());
        let head = [0; 16].into_iter().chain(size).chain(description.iter().copied());
        head.chain(values).collect::<Vec<u8>>()
    };
    let (a, b) = (tensor(&[8, 5], &[10.0]), tensor(&[8, 5, 16, 2], &[1.0, 2.0]));
    fs::write(folder.path().join("net.pir"), program).unwrap();
    fs::write(folder.path().join("net.pdiparams"), [&a[..], &b].concat()).unwrap();
    fs::write(folder.path().join("other.pdiparams"), &b).unwrap();
    let run = |file: &str, more: &[&str]| {
        let arguments = [&["net.pir", "--inputs", file], more].concat();
        in_folder(folder.path(), pir_run(&arguments))
    };
    assert_eq!(run("net.pdiparams", &[]).ok(), "y = tensor<2xf32> [10, 20]\n");
    let said = run("other.pdiparams", &[]).fails(1);
    assert!(said.contains("has 1 parameters, but the program has 2"), "{said}");
    let timed = run("net.pdiparams", &["--timing"]);
    assert_eq!(timed.status, 0);
    for stage in ["read", "inputs", "compile", "run", "write"] {
        assert!(timed.err.contains(stage), "{}", timed.err);
    }
}

/// A Python that gives the inputs as the results: what it is called with are `-c`, a script and three files.
#[cfg(unix)]
fn copying_python(folder: &Path) -> std::path::PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let python = folder.join("python");
    fs::write(
        &python,
        "#!/bin/sh\ncase $3 in *.mlir) exit 1;; esac\ncp \"$4\" \"$5\"\n",
    )
    .unwrap();
    fs::set_permissions(&python, fs::Permissions::from_mode(0o755)).unwrap();
    python
}

#[test]
#[cfg(unix)]
fn another_engine_is_given_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let python = copying_python(folder.path());
    let run = |python: &Path, engine: &str, result: &str| {
        let program = format!(
            "%x = pd.data {{name = \"x\", shape = [2], dtype = f32}} : tensor<2xf32>\n\
             %y = pd.add (%x, %x) : tensor<2xf32>\npd.fetch ({result}) {{name = \"x\"}}\n"
        );
        let mut command = pir_run(&[&format!("--engine={engine}"), "--input=x=[1, 2]"]);
        command.env("PIR_PYTHON", python);
        with_input(command, &program)
    };
    let same = run(&python, "tensorflow,check", "%x");
    assert_eq!(same.out, "x = tensor<2xf32> [1, 2]\n");
    assert!(same.err.contains("`x` equal"), "{}", same.err);
    assert_eq!(run(&python, "paddle", "%y").ok(), "x = tensor<2xf32> [1, 2]\n");
    let other = run(&python, "paddle,check", "%y");
    assert_eq!(other.status, 1);
    assert!(other.err.contains("DIFFERENT: maximum difference 2"), "{}", other.err);
    assert!(run(&python, "xla", "%x").fails(1).contains("the engine `xla` failed"));
    assert!(
        run(Path::new("/nowhere/python"), "iree", "%x")
            .fails(1)
            .contains("`PIR_PYTHON` to a Python interpreter")
    );
    assert!(
        run(&python, "abacus", "%x")
            .fails(2)
            .contains("the engines are xla, iree")
    );
    assert!(run(&python, "xla,chek", "%x").fails(2).contains("only `check`"));
}

#[test]
fn a_profile_has_the_work_of_each_operation() {
    let program = r#"%x = pd.data {name = "x", shape = [2, 3], dtype = f64} : tensor<2x3xf64>
%w = pd.full {shape = [3, 3], value = 0.5, dtype = f64} : tensor<3x3xf64>
%one = pd.full {shape = [1], value = 1, dtype = i64} : tensor<1xi64>
%four = pd.full {shape = [1], value = 4, dtype = i64} : tensor<1xi64>
%zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
%n, %y = pd.while (%zero, %x) cond (%i: tensor<1xi64>, %a: tensor<2x3xf64>) {
  %go = pd.less_than (%i, %four) : tensor<1xi1>
  cf.cond_yield (%go, %i, %a)
} body (%j: tensor<1xi64>, %b: tensor<2x3xf64>) {
  %next = pd.add (%j, %one) : tensor<1xi64>
  %c = pd.matmul (%b, %w) : tensor<2x3xf64>
  cf.yield (%next, %c)
} : tensor<1xi64>, tensor<2x3xf64>
pd.fetch (%y) {name = "y"}
"#;
    let folder = tempfile::tempdir().unwrap();
    let run = |options: &[&str]| {
        let mut command = pir_run(&[&["--input=x=ones"], options].concat());
        command.current_dir(folder.path());
        with_input(command, program)
    };
    let table = run(&["--profile"]);
    assert_eq!(table.out, run(&[]).ok());
    assert!(table.err.contains("           4  pd.while %n :6\n"), "{}", table.err);
    assert!(table.err.contains("of peak"), "{}", table.err);
    run(&["--profile=p.json"]).ok();
    let profile: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(folder.path().join("p.json")).unwrap()).unwrap();
    let rows = profile["rows"].as_array().unwrap();
    let product = rows.iter().find(|row| row["op"] == "pd.matmul").unwrap();
    // Two operands and a result of f64, four times.
    assert_eq!(product["calls"], 4);
    assert_eq!(product["bytes"], 4 * 8 * (6 + 9 + 6));
    assert_eq!(product["flops"], 4 * 2 * 2 * 3 * 3);
    assert_eq!((&product["name"], &product["line"]), (&"c".into(), &11.into()));
    let outer = &rows[product["parent"].as_u64().unwrap() as usize];
    assert_eq!((&outer["op"], &outer["iterations"]), (&"pd.while".into(), &4.into()));
    let seconds = |row: &serde_json::Value, of: &str| row[of].as_f64().unwrap();
    let inside: f64 = rows
        .iter()
        .filter(|row| row["parent"] == product["parent"])
        .map(|row| seconds(row, "seconds"))
        .sum();
    assert!((seconds(outer, "seconds_inside") - inside).abs() < 1e-9);
    run(&["--profile=p.folded"]).ok();
    let folded = fs::read_to_string(folder.path().join("p.folded")).unwrap();
    assert!(
        folded.contains("top level;pd.while %n :6;pd.matmul %c :11 "),
        "{folded}"
    );
    run(&["--profile=p.svg"]).ok();
    let drawn = fs::read_to_string(folder.path().join("p.svg")).unwrap();
    assert!(drawn.starts_with("<svg ") && drawn.ends_with("</svg>\n"), "{drawn}");
    assert!(
        run(&["--profile=p.doc"])
            .fails(2)
            .contains("the file extension must be")
    );
}

#[test]
fn what_was_executed_is_counted() {
    let differentiated = with_input(command(OPT, &["--pass=backward"]), CUBE).ok();
    let ran = with_input(pir_run(&["--input=x=ones", "--stats"]), &differentiated);
    assert_eq!(ran.status, 0);
    assert_eq!(ran.out.lines().count(), 2);
    let stats: serde_json::Value = serde_json::from_str(&ran.err).unwrap();
    assert_eq!(stats["executions"]["pd.while"], 1);
    assert_eq!(stats["pushed_values"], 3);
    assert_eq!(stats["pushed_bytes"], 48);
    assert_eq!(stats["peak_stack_bytes"], 48);
    assert_eq!(stats["loops"][0]["trip_counts"], serde_json::json!([3]));
    assert_eq!(stats["loops"][0]["bytes_per_iteration"], 16.0);
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.npz");
    let text = with_input(
        pir_run(&["--input=x=1", "--stats", "-o", out.to_str().unwrap()]),
        &differentiated,
    )
    .ok();
    assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), stats);
}

#[test]
fn gradients_are_compared_with_differences() {
    let table = with_input(pir_run(&["--check-grad", "--input", "x=rand"]), LOOP).ok();
    assert!(table.starts_with("input  elements  max abs error"), "{table}");
    let row: Vec<_> = table.lines().nth(1).unwrap().split_whitespace().take(5).collect();
    assert_eq!((row[0], row[1], row[4]), ("x", "4", "ok"), "{table}");
    // In a function, and in float32.
    let program = "func.func @f(%n: tensor<i64>, %a: tensor<3xf32>, %b: tensor<f32>) -> tensor<3xf32> {\n  \
                     %c = pd.multiply (%a, %b)\n  %d = pd.exp (%c)\n  func.return (%d)\n}\n";
    let table = with_input(
        pir_run(&["--check-grad", "--input=n=1", "--input=a=rand", "--input=b=0.5"]),
        program,
    )
    .ok();
    let names: Vec<_> = table
        .lines()
        .skip(1)
        .map(|l| l.split_whitespace().next().unwrap())
        .collect();
    assert_eq!(names, ["a", "b"], "{table}");
}

fn checked(line: &str, value: &str, more: &[&str]) -> (i32, String) {
    let program =
        format!("%x = pd.data {{name = \"x\", shape = [2], dtype = f64}}\n{line}\npd.fetch (%y) {{name = \"y\"}}\n");
    let value = format!("x={value}");
    let ran = with_input(
        pir_run(&[&["--check-grad", "--input", &value], more].concat()),
        &program,
    );
    assert_eq!(ran.err, "");
    (ran.status, ran.out)
}

#[test]
fn what_differences_do_not_tell_ends_with_2() {
    // At a kink there is no derivative.
    let (status, said) = checked("%y = pd.relu (%x)", "[0, 1]", &[]);
    assert_eq!(status, 2, "{said}");
    assert!(
        said.contains("inconclusive  [0]: 0.0, differences give 0.0 ± ")
            && said.ends_with("; there is no derivative: 0.0 from below, 1.0 from above\n"),
        "{said}"
    );
    for (line, value) in [
        ("%y = pd.log (%x)", "[-1, 1]"),
        ("%y = pd.sqrt (%x)", "[0, 1]"),
        ("%y = pd.floor (%x)", "[1, 0.5]"),
        // The other element is so large that this one is lost.
        ("%y = pd.sum (%x)", "[1e-14, 1e30]"),
    ] {
        let (status, said) = checked(line, value, &[]);
        assert!(status == 2 && said.contains("inconclusive"), "{line}: {status}\n{said}");
    }
}

#[test]
fn right_gradients_of_all_sizes_are_ok() {
    for (line, value) in [
        ("%y = pd.sqrt (%x)", "[1e-9, 1e200]"),
        ("%y = pd.log (%x)", "[1e-12, 1e300]"),
        ("%y = pd.exp (%x)", "[700, -700]"),
        ("%y = pd.reciprocal (%x)", "[1e-5, -1e5]"),
        ("%y = pd.square (%x)", "[0, 1e100]"),
        ("%y = pd.softmax (%x)", "[0.5, 2]"),
        ("%y = pd.relu (%x)", "[1e-9, -1e-9]"),
        ("%y = pd.floor (%x)", "[0.5, 1.5]"),
    ] {
        let (status, said) = checked(line, value, &[]);
        assert!(status == 0 && said.contains("  ok  "), "{line}: {status}\n{said}");
    }
}

#[test]
fn large_inputs_are_compared_along_directions() {
    let program =
        "%x = pd.data {name = \"x\", shape = [3000], dtype = f32}\n%y = pd.tanh (%x)\npd.fetch (%y) {name = \"y\"}\n";
    let said = |how: &str| with_input(pir_run(&[how, "--input=x=rand"]), program).ok();
    let some = said("--check-grad");
    assert!(
        some.contains("  ok  ")
            && some.contains("`x` was compared along 24 random directions and in 24 of its 3000 elements"),
        "{some}"
    );
}

#[test]
fn programs_with_calls_are_compared() {
    let program = "func.func private @f(%a: tensor<2xf64>) -> tensor<2xf64> {\n  %b = pd.exp (%a)\n  func.return (%b)\n}\n\
                   %x = pd.data {name = \"x\", shape = [2], dtype = f64}\n\
                   %y = func.call (%x) {callee = @f} : tensor<2xf64>\npd.fetch (%y) {name = \"y\"}\n";
    let said = with_input(pir_run(&["--check-grad", "--input=x=rand"]), program).ok();
    assert!(said.contains("x             2") && said.contains("  ok  "), "{said}");
}

#[test]
fn inputs_without_values_and_values_without_inputs_are_told() {
    let program = "%weight = pd.parameter {name = \"weight\"} : tensor<2x3xf32>\n\
                   %x = pd.data {name = \"x\", shape = [4, 2], dtype = f32} : tensor<4x2xf32>\n\
                   %y = pd.matmul (%x, %weight)\npd.fetch (%y) {name = \"y\"}\n";
    insta::assert_snapshot!(with_input(pir_run(&["--diagnostics=fancy"]), program).fails(1));
    insta::assert_snapshot!(
        with_input(
            pir_run(&["--input", "wieght=1", "--input", "weight=[1, 2]", "--input", "x=ones"]),
            program
        )
        .fails(1)
    );
}

#[test]
fn wrong_command_lines_end_with_2() {
    let said = |arguments: &[&str]| run(pir_run(arguments)).fails(2);
    assert!(said(&["--input", "x"]).contains("expected NAME=VALUE"));
    assert!(said(&["--input", "x=[1, 2"]).contains("expected `]`, at `the end`"));
    assert!(said(&["--input", "x=one"]).contains("expected a number, a list like"));
    assert!(said(&["--tolerance=1"]).contains("--check-grad"));
    assert!(said(&["--check-grad", "--stats"]).contains("cannot be used with"));
}

#[test]
fn failures_have_places() {
    let program = "%s = cf.create_stack ()\n%v = cf.pop_back (%s) : tensor<f32>\npd.fetch (%v) {name = \"v\"}\n";
    let said = with_input(pir_run(&[]), program).fails(1);
    assert!(
        said.starts_with("<stdin>:2:6: error: `cf.pop_back` failed: the stack is empty"),
        "{said}"
    );
}

#[test]
fn loops_without_end_are_given_up() {
    let program = "%t = pd.full {shape = [], value = true, dtype = i1}\npd.while () cond {\n  cf.cond_yield (%t)\n} body {\n  cf.yield ()\n}\n";
    let said = with_input(pir_run(&["--max-steps=1000"]), program).fails(1);
    assert!(said.contains("the run did not end within 1000 steps"), "{said}");
}

#[test]
fn nesting_costs_no_more_than_its_length() {
    let depth = 30_000;
    let program = format!(
        "%c = pd.full {{shape = [], value = true, dtype = i1}}\n{}{}pd.fetch (%c) {{name = \"c\"}}\n",
        "pd.if (%c) then {\n".repeat(depth),
        "}\n".repeat(depth)
    );
    let start = std::time::Instant::now();
    assert_eq!(with_input(pir_run(&[]), &program).ok(), "c = tensor<i1> true\n");
    // It takes under a second; climbing from every use took a minute.
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

/// A loop that pushes `n` tensors of 8,000 bytes.
const PUSHES: &str = r#"%n = pd.data {name = "n", shape = [1], dtype = i64} : tensor<1xi64>
%i0 = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
%one = pd.full {shape = [1], value = 1, dtype = i64} : tensor<1xi64>
%x0 = pd.full {shape = [1000], value = 0.5, dtype = f64} : tensor<1000xf64>
%i, %x, %stack = pd.while (%i0, %x0) init (%a: tensor<1xi64>, %b: tensor<1000xf64>) {
  %s = cf.create_stack () : cf.stack
  cf.yield (%a, %b, %s)
} cond (%a: tensor<1xi64>, %b: tensor<1000xf64>, %s: cf.stack) {
  %more = pd.less_than (%a, %n) : tensor<1xi1>
  cf.cond_yield (%more, %a, %b, %s)
} body (%a: tensor<1xi64>, %b: tensor<1000xf64>, %s: cf.stack) {
  cf.push_back (%s, %b)
  %c = pd.tanh (%b) : tensor<1000xf64>
  %next = pd.add (%a, %one) : tensor<1xi64>
  cf.yield (%next, %c, %s)
}
%sum = pd.sum (%x) : tensor<f64>
pd.fetch (%i) {name = "i"}
"#;

#[test]
fn memory_is_limited_where_it_is_exceeded() {
    let ran = |n: &str, size: &str| {
        let n = format!("n=[{n}]");
        with_input(pir_run(&["--max-memory", size, "--input", &n]), PUSHES)
    };
    assert_eq!(ran("50", "1M").ok(), "i = tensor<1xi64> [50]\n");
    let said = ran("500", "1M").fails(1);
    assert!(
        said.starts_with("<stdin>:13:8: error: `pd.tanh` failed: the tensors of the program take 10"),
        "{said}"
    );
    assert!(said.contains("more than the limit of 1048576 bytes"), "{said}");
    assert!(
        said.contains("of them are on stacks; `--max-memory` sets the limit"),
        "{said}"
    );
    // One more than fits: 130 pushed, one made, and the small ones.
    assert_eq!(ran("129", "1048000").status, 0);
    assert_eq!(ran("130", "1048000").status, 1);
    let first = ran("1", "1000").fails(1);
    assert!(first.contains("<stdin>:4:7: error: `pd.full` failed"), "{first}");
    assert!(
        run(pir_run(&["--max-memory=lots"]))
            .fails(2)
            .contains("`lots` is not a size")
    );
}

#[test]
fn what_is_shared_or_dead_takes_no_memory() {
    // Each value is dead when the next is there, and reshaping shares.
    let mut program = "%v0 = pd.full {shape = [1000], value = 0.5, dtype = f64} : tensor<1000xf64>\n".to_owned();
    for at in 0..50 {
        program.push_str(&format!(
            "%r{at} = pd.reshape (%v{at}) {{shape = [1000]}}\n%v{} = pd.tanh (%r{at})\n",
            at + 1
        ));
    }
    program.push_str("%s = pd.sum (%v50)\npd.fetch (%s) {name = \"s\"}\n");
    assert!(
        with_input(pir_run(&["--max-memory=16K"]), &program)
            .ok()
            .starts_with("s = ")
    );
    assert_eq!(with_input(pir_run(&["--max-memory=7K"]), &program).status, 1);
}
