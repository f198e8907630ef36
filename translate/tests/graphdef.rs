//! Round trips of TensorFlow graphs. tests/tensorflow.rs runs them in TensorFlow.

#![allow(clippy::unwrap_used, reason = "a test ends at what it does not expect")]

#[path = "../../tests/common/parallel.rs"]
mod parallel;

use pir_ir::Module;
use pir_ir::text::{ParseOptions, parse, print};
use pir_ir::verify::verify;
use pir_translate::graphdef::{Options, read, write, write_text};
use pir_translate::{Format, detect};

/// A loop that outputs the number of its iterations and its last value.
const LOOP: &str = include_str!("loop.pir");

fn module(text: &str) -> Module {
    let options = ParseOptions {
        allow_unregistered: true,
    };
    let parsed = parse(&pir_dialects::context(), text.as_bytes(), &options);
    assert_eq!(parsed.diagnostics, []);
    parsed.module
}

#[track_caller]
fn back(bytes: &[u8]) -> Module {
    assert_eq!(detect(bytes), Some(Format::GraphDef));
    let module = read(&pir_dialects::context(), bytes, &Options::default()).unwrap_or_else(|e| panic!("{e:#?}"));
    assert_eq!(verify(&module), [], "{}", print(&module, &Default::default()));
    module
}

fn text(module: &Module) -> String {
    print(module, &Default::default())
}

/// Writing and reading again gives the same graph.
#[track_caller]
fn round_trip(program: &str) -> String {
    let once = back(&write(&module(program), None).unwrap_or_else(|e| panic!("{e:#?}")));
    let twice = back(&write(&once, None).unwrap_or_else(|e| panic!("{e:#?}\n{}", text(&once))));
    assert_eq!(
        text(&once).matches("pd.fetch").count(),
        program.matches("pd.fetch").count()
    );
    // The first round trip spells out conditions and constants.
    let thrice = back(&write(&twice, None).unwrap_or_else(|e| panic!("{e:#?}\n{}", text(&twice))));
    assert_eq!(text(&twice), text(&thrice));
    text(&once)
}

#[track_caller]
fn refused(program: &str, message: &str) {
    let errors = write(&module(program), None).unwrap_err();
    assert!(errors[0].message.contains(message), "{}", errors[0].message);
    let start = errors[0].labels.first().map_or(0, |l| l.span.start);
    assert!(start > 0, "the error does not say where");
}

#[test]
fn loops_come_back() {
    let text = round_trip(LOOP);
    for part in [
        "df.enter (%n) {frame = \"w\", constant = true, device = 0}",
        "%i:2 = df.merge (%i0, %ni)",
        "df.loop_cond",
        "df.control (%one, %pivot)",
        "%af_true = df.identity (%af#1) {device = 0}",
        "pd.tanh (%af_true) {device = 1}",
        "pd.fetch (%k) {name = \"count\", device = 0}",
    ] {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
}

#[test]
fn programs_without_control_flow_stay_plain() {
    let program = "\
%x = pd.data {name = \"x\", shape = [2, 3], dtype = f32} : tensor<2x3xf32>
%w = pd.parameter {name = \"w:0\"} : tensor<3x4xf32>
%y = pd.matmul (%x, %w) : tensor<2x4xf32>
%s = pd.sum (%y) {axis = [1], keepdim = true} : tensor<2x1xf32>
%d = pd.divide (%y, %s) : tensor<2x4xf32>
%t = pd.transpose (%d) {perm = [1, 0]} : tensor<4x2xf32>
%r = pd.reshape (%t) {shape = [8]} : tensor<8xf32>
%a, %b = pd.split (%r) {sections = [3, 5], axis = 0} : tensor<3xf32>, tensor<5xf32>
%c = pd.concat (%b, %a) {axis = 0} : tensor<8xf32>
%g = pd.slice (%c) {axes = [0], starts = [-3], ends = [100]} : tensor<3xf32>
%e = pd.scale (%g) {scale = 2.0, bias = 1.0} : tensor<3xf32>
%f = pd.full {shape = [3], value = 0.5, dtype = f32} : tensor<3xf32>
%m = pd.maximum (%e, %f) : tensor<3xf32>
%h = pd.cast (%m) {dtype = i64} : tensor<3xi64>
pd.fetch (%m) {name = \"out 0\"}
pd.fetch (%h) {name = \"x\"}
";
    let text = round_trip(program);
    assert!(!text.contains("df."), "{text}");
    for part in [
        "pd.parameter {name = \"w:0\"}",
        "pd.slice (%c) {axes = [0], starts = [-3], ends = [100]",
        "{name = \"out 0\"}",
        "pd.split (%r) {sections = [3, 5], axis = 0}",
    ] {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
}

#[test]
fn names_are_valid_and_unique() {
    let text = write_text(&module(LOOP), None).unwrap();
    let mut names: Vec<&str> = text.lines().filter_map(|l| l.strip_prefix("  name: ")).collect();
    let count = names.len();
    assert!(count > 25, "{count} in {text}");
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
}

#[test]
fn devices_are_consistent() {
    let text = write_text(&module(LOOP), None).unwrap();
    let node = |name: &str| {
        let start = text
            .find(&format!("  name: \"{name}\"\n"))
            .unwrap_or_else(|| panic!("{name}"));
        text[start..].split("\nnode {").next().unwrap()
    };
    // The multiplication on the second device has a constant there.
    assert!(node("u").contains("device:CPU:1"));
    assert!(node("xc").contains("device:CPU:1"));
    assert!(node("na").contains("device:CPU:0"));
    assert!(node("nc").contains("device:CPU:0"));
}

#[test]
fn partitioned_graphs_become_one() {
    let program = r#"
"df.graph"() ({
  %x = pd.data {name = "x", shape = [4], dtype = f64} : tensor<4xf64>
  %s = df.send (%x) {key = "e0", from = 0 : i64, to = 1 : i64} : !df.control
  %r = df.recv {key = "e1", from = 1 : i64, to = 0 : i64} : tensor<4xf64>
  pd.fetch (%r) {name = "out"}
}) {device = 0 : i64} : () -> ()
"df.graph"() ({
  %x = df.recv {key = "e0", from = 0 : i64, to = 1 : i64} : tensor<4xf64>
  %y = pd.tanh (%x) : tensor<4xf64>
  %s = df.send (%y) {key = "e1", from = 1 : i64, to = 0 : i64} : !df.control
}) {device = 1 : i64} : () -> ()
"#;
    let text = write_text(&module(program), None).unwrap();
    assert_eq!(text.matches("node {").count(), 3, "{text}");
    assert_eq!(text.matches("device:CPU:1").count(), 1);
    refused(
        &program.replace(
            "key = \"e1\", from = 1 : i64, to = 0 : i64} : tensor",
            "key = \"e2\", from = 1 : i64, to = 0 : i64} : tensor",
        ),
        "no node in the module sends it",
    );
}

#[test]
fn what_cannot_be_said_is_an_error_that_says_where() {
    let data = "%x = pd.data {name = \"x\", shape = [2], dtype = f32} : tensor<2xf32>\n";
    refused(
        &format!("{data}%y = \"my.op\" (%x) : (tensor<2xf32>) -> tensor<2xf32>"),
        "`my.op` cannot be written for TensorFlow",
    );
    refused(
        &format!("{data}%y = pd.nonzero (%x) : tensor<?x1xi64>"),
        "`pd.nonzero` cannot be written for TensorFlow: TensorFlow has no operation for it",
    );
    refused(
        "%c = pd.data {name = \"c\", shape = [1], dtype = i1} : tensor<1xi1>\npd.if (%c) then {\n} else {\n}",
        "`pd.if` cannot be written for TensorFlow: a graph has no regions",
    );
}

#[test]
fn damaged_files_are_read_or_reported() {
    let bytes = write(&module(LOOP), None).unwrap();
    let ctx = pir_dialects::context();
    let mut failures = 0;
    for end in 0..bytes.len() {
        match read(&ctx, &bytes[..end], &Options::default()) {
            Ok(module) => drop(verify(&module)),
            Err(errors) => failures += usize::from(!errors.is_empty()),
        }
    }
    assert!(failures > bytes.len() / 2);
    // Several mutations of every byte.
    let places: Vec<usize> = (0..bytes.len()).collect();
    parallel::for_each(&places, |&at| {
        for change in [0x01, 0x80, 0xff] {
            let mut bytes = bytes.clone();
            bytes[at] ^= change;
            if let Ok(module) = read(&ctx, &bytes, &Options::default()) {
                drop(verify(&module));
            }
        }
    });
}
