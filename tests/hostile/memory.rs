//! What would take more memory than there is: each input ends with a diagnostic, and before it has taken much more than
//! the limit.

use std::fmt::Write;
use std::process::Stdio;

use crate::tools::{refused, tool};

const LIMIT: &str = "40M";
/// The peak of a process with the limit, including the code of a debug build, and memory that the allocator retains: 67 to 92 MB were
/// measured.
const PEAK: u64 = 110 << 20;

/// The output of a tool with these arguments and this input, and its peak memory.
fn run(name: &str, arguments: &[&str], input: &[u8]) -> (std::process::Output, u64) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("input");
    std::fs::write(&path, input).unwrap();
    let mut child = tool(name)
        .arg(&path)
        .args(["--max-memory", LIMIT])
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        // The peak so far, if the system reports it.
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse::<u64>().ok());
        peak = peak.max(kilobytes.unwrap_or(0) << 10);
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    (child.wait_with_output().unwrap(), peak)
}

#[track_caller]
fn exhausted(case: &str, name: &str, arguments: &[&str], input: impl AsRef<[u8]>) {
    let (output, peak) = run(name, arguments, input.as_ref());
    println!("{case}: {} MB", peak >> 20);
    refused(&output, "the limit of");
    assert!(peak < PEAK, "{case}: {} MB", peak >> 20);
}

/// A loop without end.
fn endless(before: &str, body: &str) -> String {
    format!(
        "%z = pd.full {{shape = [], value = 0, dtype = i64}}\n%o = pd.full {{shape = [], value = 1, dtype = i64}}\n\
         %t = pd.full {{shape = [], value = true, dtype = i1}}\n{before}\n\
         %n = pd.while (%z) cond (%i: tensor<i64>) {{ cf.cond_yield (%t, %i) }} body (%j: tensor<i64>) {{\n{body}\n\
         %k = pd.add (%j, %o)\ncf.yield (%k) }} : tensor<i64>\npd.fetch (%n) {{name = \"n\"}}\n"
    )
}

#[test]
fn runs() {
    let stack = "%s = cf.create_stack ()";
    let list = endless(stack, "%l = builtin.combine (%j, %j, %j)\ncf.push_back (%s, %l)");
    let push = endless(stack, "cf.push_back (%s, %j)");
    let copies = endless(&format!("{stack}\ncf.push_back (%s, %z)"), "%c = cf.copy_stack (%s)");
    let stacks = endless(stack, "%q = cf.create_stack ()\ncf.push_back (%s, %q)");
    let fetches = endless("", "pd.fetch (%j) {name = \"j\"}");
    for (case, program) in [
        ("lists", &list),
        ("a stack", &push),
        ("copies", &copies),
        ("stacks", &stacks),
        ("fetches", &fetches),
    ] {
        exhausted(case, "pir-run", &[], program);
    }
    exhausted("an eager stack", "pir-run", &["--eager-grad"], &push);
    let tape = "%x = pd.data {name = \"x\", shape = [], dtype = f64}\n%t = pd.full {shape = [], value = true, dtype = i1}\n\
                %y = pd.while (%x) cond (%a: tensor<f64>) { cf.cond_yield (%t, %a) } body (%b: tensor<f64>) {\n\
                %c = pd.tanh (%b)\ncf.yield (%c) } : tensor<f64>\npd.fetch (%y) {name = \"y\"}\n";
    exhausted("a history", "pir-run", &["--eager-grad", "--input=x=1"], tape);
}

#[test]
fn short_programs_with_large_tensors() {
    let data = "%x = pd.data {name = \"x\", shape = [1000000000], dtype = f64}\npd.fetch (%x) {name = \"y\"}\n";
    for value in ["x=1", "x=ones", "x=rand"] {
        exhausted(value, "pir-run", &["--input", value], data);
    }
    let shape = "shape = [1000000000], dtype = f32";
    for line in [
        format!("pd.full {{{shape}, value = 0.0}}"),
        format!("pd.uniform {{{shape}, min = 0.0, max = 1.0, seed = 1}}"),
        format!("pd.gaussian {{{shape}, mean = 0.0, std = 1.0, seed = 1}}"),
        "pd.randperm {n = 1000000000, seed = 1, dtype = i64}".to_owned(),
        "pd.arange {start = 0, end = 1000000000, step = 1, dtype = i64}".to_owned(),
        "pd.repeat_interleave (%a) {repeats = 1000000000, axis = 0}".to_owned(),
        "pd.tile (%a) {repeat_times = [1000000000]}".to_owned(),
        "pd.pad (%a) {paddings = [1000000000, 0], pad_value = 0.0}".to_owned(),
    ] {
        let program = format!(
            "%a = pd.full {{shape = [1], value = 1.0, dtype = f32}}\n%y = {line}\npd.fetch (%y) {{name = \"y\"}}\n"
        );
        exhausted(&line, "pir-run", &[], program);
    }
}

#[test]
fn long_sources() {
    let mut attributes = "\"a.b\"() {".to_owned();
    for at in 0..500_000 {
        write!(attributes, "a{at} = {at}, ").unwrap();
    }
    attributes.push_str("z = 1} : () -> ()\n");
    let types: String = (0..400_000).map(|n| format!("tensor<{n}xf32>, ")).collect();
    let head = "{\"base_code\":{\"magic\":\"pir\",\"version\":1},\"program\":";
    let node = b"\x0a\x09\x0a\x01a\x12\x04NoOp";
    for (case, source) in [
        (
            "numbers",
            format!("\"a.b\"() {{v = [{}1]}} : () -> ()\n", "1, ".repeat(4_000_000)).into_bytes(),
        ),
        ("attributes", attributes.into_bytes()),
        (
            "types",
            format!("\"a.b\"() {{v = [{types}f32]}} : () -> ()\n").into_bytes(),
        ),
        ("operations", "\"a.b\"() : () -> ()\n".repeat(1_200_000).into_bytes()),
        ("lines", [&b"\n".repeat(4_000_000)[..], b"x"].concat()),
        (
            "text",
            format!("\"a.b\"() {{v = \"{}\"}} : () -> ()\n", "x".repeat(30_000_000)).into_bytes(),
        ),
        ("JSON", format!("{head}[{}0]}}", "0,".repeat(5_000_000)).into_bytes()),
        ("nodes", node.repeat(1_000_000)),
        ("empty nodes", [&node[..], &b"\x0a\x00".repeat(2_000_000)].concat()),
    ] {
        for tool in ["pir-opt", "pir-run"] {
            exhausted(case, tool, &["--allow-unregistered-dialect"], &source);
        }
    }
}

/// Errors are counted, too.
#[test]
fn many_errors() {
    let source = format!(
        "{{\"base_code\":{{\"magic\":\"pir\",\"version\":1}},\"program\":{{\"regions\":[{}{{}}]}}}}",
        "{},".repeat(200_000)
    );
    let (output, peak) = run("pir-opt", &[], source.as_bytes());
    refused(&output, "error");
    assert!(peak < PEAK, "{} MB", peak >> 20);
}
