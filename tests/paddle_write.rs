//! Programs written in PaddlePaddle's form: what cannot be said, and what a saved program has that text has not.
//! That PaddlePaddle runs what is written is tested by tools/paddle/test.

#![allow(clippy::unwrap_used, reason = "a test ends at what it does not expect")]

use pir_ir::Module;
use pir_ir::text::{ParseOptions, parse, print};
use pir_tools::driver::{LoadOptions, load};
use pir_tools::source::Source;
use pir_translate::paddle::write;

fn module(text: &str) -> Module {
    let options = ParseOptions {
        allow_unregistered: true,
    };
    let parsed = parse(&pir_dialects::context(), text.as_bytes(), &options);
    assert_eq!(parsed.diagnostics, []);
    parsed.module
}

fn back(saved: String, allow_unregistered: bool) -> String {
    let options = LoadOptions { allow_unregistered };
    let (module, _) = load(&pir_dialects::context(), &Source::new("saved.json", saved), options).unwrap();
    print(&module, &Default::default())
}

#[track_caller]
fn refused(text: &str, message: &str) {
    let errors = write(&module(text)).unwrap_err();
    assert!(errors[0].message.contains(message), "{}", errors[0].message);
    let label = errors[0].labels.first().map(|l| l.span.start).unwrap_or(0);
    assert!(label > 0, "the error does not say where");
}

#[test]
fn what_cannot_be_said_is_an_error_that_says_where() {
    let data = "%x = pd.data {name = \"x\", shape = [2], dtype = f32} : tensor<2xf32>\n";
    refused(
        &format!("{data}%y = \"my.op\" (%x) : (tensor<2xf32>) -> tensor<2xf32>"),
        "`my.op` cannot be written for PaddlePaddle: PaddlePaddle has no dialect `my`",
    );
    refused(
        &format!("{data}func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {{\n  func.return (%a)\n}}"),
        "`func.func` cannot be written",
    );
    refused(
        &format!("{data}%big = pd.full {{shape = [1], value = 9007199254740993, dtype = i64}} : tensor<1xi64>"),
        "9007199254740993 is not a double",
    );
}

#[test]
fn a_condition_that_records_is_refused() {
    let text = "\
%x = pd.data {name = \"x\", shape = [1], dtype = f32} : tensor<1xf32>
%y, %s = pd.while (%x) init (%a: tensor<1xf32>) {
  %s = cf.create_stack () : cf.stack
  cf.yield (%a, %s)
} cond (%a: tensor<1xf32>, %s: cf.stack) {
  %go = pd.less_than (%a, %x) : tensor<1xi1>
  cf.push_back (%s, %a)
  cf.cond_yield (%go, %a, %s)
} body (%a: tensor<1xf32>, %s: cf.stack) {
  cf.yield (%a, %s)
} : tensor<1xf32>, cf.stack
";
    refused(text, "the condition of a loop records");
}

#[test]
fn sums_in_place_are_sums_in_one_block_and_refused_across_regions() {
    let text = "\
%x = pd.data {name = \"x\", shape = [2], dtype = f32} : tensor<2xf32>
%c = pd.data {name = \"c\", shape = [1], dtype = i1} : tensor<1xi1>
%s = pd.full {shape = [2], value = 1.0, dtype = f32} : tensor<2xf32>
pd.inplace_add (%s, %x)
pd.fetch (%s) {name = \"s\"}
";
    let back = back(write(&module(text)).unwrap(), false);
    assert!(
        back.contains("%1 = pd.add (%0, %x)") && back.contains("pd.fetch (%1)"),
        "{back}"
    );
    let branch = text.replace(
        "pd.inplace_add (%s, %x)",
        "pd.if (%c) then {\n  pd.inplace_add (%s, %x)\n} else {\n}",
    );
    refused(
        &branch,
        "`pd.inplace_add` cannot be written for PaddlePaddle: it changes a value of the surrounding",
    );
}

#[test]
fn unknown_operations_survive() {
    let text = "\
%x = pd.data {name = \"x\", shape = [2], dtype = f32} : tensor<2xf32>
%y, %z = \"pd.mystery\" (%x) {a = 1 : i32, b = [0.5 : f32, 2.0 : f32], c = \"text\", d = true, dtype = f32, \
place = \"cpu\", absent_operands = [0], absent_results = [1]} : tensor<2xf32>, tensor<3xi64>
pd.fetch (%y) {name = \"y\"}
";
    let saved = write(&module(text)).unwrap();
    assert!(saved.contains(r##""I":[{"%":0},{"%":1}]"##), "{saved}");
    let once = back(saved, true);
    for part in [
        "a = 1 : i32",
        "b = [0.5 : f32, 2.0 : f32]",
        "c = \"text\"",
        "d = true",
        "dtype = f32",
        "absent_operands = [0]",
        "absent_results = [1]",
    ] {
        assert!(once.contains(part), "{part} is missing in\n{once}");
    }
    let again = back(write(&module(&once)).unwrap(), true);
    assert_eq!(once, again);
}

#[test]
fn numbers_that_json_has_no_word_for_survive() {
    for value in ["inf", "-inf", "nan"] {
        let text = format!(
            "%x = pd.full {{shape = [], value = {value}, dtype = f32}} : tensor<f32>\npd.fetch (%x) {{name = \"x\"}}\n"
        );
        let saved = write(&module(&text)).unwrap();
        // Its reader knows NaN in capital letters only.
        let word = format!("\"VD\":\"{}\"", value.to_uppercase());
        assert!(saved.contains(&word), "{saved}");
        let before = print(&module(&text), &Default::default());
        // Neither names nor columns are saved.
        assert_eq!(back(saved, false).replace("%0", "%x"), before);
    }
}

#[test]
fn doubles_keep_their_factors_and_biases() {
    let text = "\
%x = pd.data {name = \"x\", shape = [2], dtype = f64} : tensor<2xf64>
%y = pd.scale (%x) {scale = 0.1, bias = 0.2} : tensor<2xf64>
pd.fetch (%y) {name = \"y\"}
";
    let text = back(write(&module(text)).unwrap(), false);
    assert!(text.contains("scale = 0.1"), "{text}");
    assert!(text.contains("value = 0.2, dtype = f64"), "{text}");
}

#[test]
fn values_are_copied_where_a_loop_would_take_them_away() {
    // The constant is the initial value of two loops, and read by a third operation.
    let text = "\
%n = pd.full {shape = [1], value = 3, dtype = i64} : tensor<1xi64>
%zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
%a = pd.while (%zero) cond (%i: tensor<1xi64>) {
  %go = pd.less_than (%i, %n) : tensor<1xi1>
  cf.cond_yield (%go, %i)
} body (%i: tensor<1xi64>) {
  %j = pd.scale (%i) {bias = 1.0} : tensor<1xi64>
  cf.yield (%j)
} : tensor<1xi64>
%b = pd.add (%a, %zero) : tensor<1xi64>
pd.fetch (%b) {name = \"b\"}
";
    assert_eq!(write(&module(text)).unwrap().matches("1.assign").count(), 1);
    let own = text.replace("(%a, %zero)", "(%a, %n)");
    assert_eq!(write(&module(&own)).unwrap().matches("1.assign").count(), 0);
}

#[test]
fn depth_is_no_matter() {
    let depth = 20_000;
    let mut text = String::from("%c = pd.full {shape = [1], value = true, dtype = i1} : tensor<1xi1>\n");
    text.push_str(&"pd.if (%c) then {\n".repeat(depth));
    text.push_str(&"} else {\n}\n".repeat(depth));
    let saved = write(&module(&text)).unwrap();
    assert_eq!(saved.matches("1.if").count(), depth);
}
