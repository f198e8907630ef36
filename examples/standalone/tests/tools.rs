//! The tools do with an operation of the dialect all that they do with one of their own.

#![allow(clippy::unwrap_used, reason = "in tests a panic is a failure")]

use std::io::Write;
use std::process::{Command, Stdio};

const OPT: &str = env!("CARGO_BIN_EXE_demo-opt");
const RUN: &str = env!("CARGO_BIN_EXE_demo-run");

const PROGRAM: &str = "%x = pd.data {name = \"x\", shape = [3], dtype = f64} : tensor<3xf64>
%n = pd.neg (%x)
%y = demo.cube (%n)
pd.fetch (%y) {name = \"y\"}
";

/// A loop of cubes, whose operands the derivative needs in reverse.
const LOOP: &str = "%x = pd.data {name = \"x\", shape = [3], dtype = f64} : tensor<3xf64>
%zero = pd.full {shape = [], value = 0, dtype = i64}
%n = pd.full {shape = [], value = 3, dtype = i64}
%k, %y = pd.while (%zero, %x) cond (%i, %v) {
  %more = pd.less_than (%i, %n)
  cf.cond_yield (%more, %i, %v)
} body (%j, %w) {
  %c = demo.cube (%w)
  %s = pd.tanh (%c)
  %next = pd.increment (%j)
  cf.yield (%next, %s)
}
pd.fetch (%y) {name = \"y\"}
";

/// What a tool writes for an input; that it fails is a failure unless it is expected.
fn output(tool: &str, args: &[&str], input: &str, succeeds: bool) -> String {
    let mut command = Command::new(tool);
    command
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let ended = child.wait_with_output().unwrap();
    let (out, err) = (
        String::from_utf8(ended.stdout).unwrap(),
        String::from_utf8(ended.stderr).unwrap(),
    );
    assert_eq!(ended.status.success(), succeeds, "{args:?}\n{out}{err}");
    if succeeds { out } else { err }
}

#[test]
fn the_kernel_computes() {
    let out = output(RUN, &["--input", "x=[1, 2, -3]", "-"], PROGRAM, true);
    assert!(out.contains("[-1") && out.contains("-8") && out.contains("27"), "{out}");
    // So it does when `canonicalize` computes with constants.
    let constant = "%x = pd.full {shape = [2], value = 2.0, dtype = f32}\n%y = demo.cube (%x)\npd.print (%y)\n";
    let out = output(OPT, &["--pass=canonicalize"], constant, true);
    assert!(out.contains("value = 8.0") && !out.contains("demo.cube"), "{out}");
}

#[test]
fn the_derivative_agrees_with_finite_differences() {
    let input = ["--input", "x=[0.5, -0.25, 1]"];
    for program in [PROGRAM, LOOP] {
        let out = output(RUN, &["--check-grad", input[0], input[1]], program, true);
        assert!(
            out.lines().any(|row| row.starts_with("x ") && row.contains(" ok ")),
            "{out}"
        );
    }
    let reverse = output(OPT, &["--pass=backward"], PROGRAM, true);
    let out = output(RUN, &input, &reverse, true);
    assert!(out.contains("x_grad = tensor<3xf64> [-0.75, -0.1875, -3"), "{out}");
    // Forward mode transposes the same rule.
    output(OPT, &["--pass=jvp"], LOOP, true);
}

#[test]
fn the_pattern_and_the_pass_rewrite() {
    let out = output(OPT, &["--pass=canonicalize"], PROGRAM, true);
    assert!(out.contains("demo.cube (%x)") && out.contains("%y = pd.neg"), "{out}");
    let out = output(OPT, &["--pass=func.func(cse),expand-cubes"], PROGRAM, true);
    assert!(out.contains("%y = pd.multiply") && !out.contains("demo.cube"), "{out}");
}

#[test]
fn the_tool_tells_of_them() {
    assert!(output(OPT, &["--list-passes"], "", true).contains("expand-cubes"));
    assert!(output(OPT, &["--list-ops"], "", true).contains("demo.cube"));
    assert!(output(OPT, &["--show-op", "demo.cube"], "", true).contains("%out: Tensor = demo.cube (%x: Tensor)"));
    assert!(output(OPT, &["--help"], "", true).contains("Usage: demo-opt"));
    assert!(output(OPT, &["--completions=bash"], "", true).contains("demo.cube"));
    assert!(output(OPT, &["--pass=expand-cube"], PROGRAM, false).contains("did you mean `expand-cubes`?"));
    assert!(output(OPT, &[], "%x = demo.cub ()", false).contains("demo.cube"));
}
