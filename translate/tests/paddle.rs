//! Reading PaddlePaddle's programs, saved and printed.

#![allow(clippy::unwrap_used)]

mod common;

use std::path::{Path, PathBuf};

use common::text;
use pir_dialects::context;
use pir_ir::Module;
use pir_translate::paddle::{self, Options};
use pir_translate::{Format, detect};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../test-files/paddle")
}

fn corpus() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "json"))
        .collect();
    files.sort();
    files
}

fn read(name: &str) -> Module {
    let source = std::fs::read(folder().join(format!("{name}.json"))).unwrap();
    paddle::read(&context(), &source).unwrap()
}

#[test]
fn every_program_of_the_corpus_reads_in_both_forms() {
    let files = corpus();
    assert_eq!(files.len(), 26);
    let mut printed_too = 0;
    for file in files {
        let source = std::fs::read(&file).unwrap();
        assert_eq!(detect(&source), Some(Format::PaddleJson));
        let saved = paddle::read(&context(), &source).unwrap_or_else(|e| panic!("{}: {e:?}", file.display()));
        assert!(
            !text(&saved).contains("full_int_array"),
            "a constant operand is left: {}",
            text(&saved)
        );
        let Ok(source) = std::fs::read(file.with_extension("paddle.txt")) else {
            continue;
        };
        printed_too += 1;
        assert_eq!(detect(&source), Some(Format::PaddleText));
        let printed = paddle::read_printed(&context(), &source, Options::default())
            .unwrap_or_else(|e| panic!("{}: {e:?}", file.display()));
        // Six digits are printed.
        let saved = text(&saved)
            .replace("0.10000000149011612", "0.1")
            .replace("0.1666666716337204", "0.166667");
        assert_eq!(text(&printed), saved, "{}", file.display());
    }
    assert_eq!(printed_too, 16);
}

#[test]
fn the_text_of_every_program_reads_back() {
    for file in corpus() {
        let module = paddle::read(&context(), &std::fs::read(&file).unwrap()).unwrap();
        let printed = text(&module);
        let again = pir_ir::text::parse(&module.ctx, printed.as_bytes(), &Default::default());
        assert_eq!(again.diagnostics, [], "{}", file.display());
        assert_eq!(text(&again.module), printed, "{}", file.display());
    }
}

#[test]
fn a_loop_gets_its_condition_region() {
    assert_eq!(
        text(&read("seed_while_count")),
        "\
%0 = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
%1 = pd.full {shape = [1], value = 10, dtype = i64} : tensor<1xi64>
%2 = pd.while (%0) cond (%arg0: tensor<1xi64>) {
  %3 = pd.less_than (%arg0, %1) : tensor<1xi1>
  cf.cond_yield (%3, %arg0)
} body (%arg0: tensor<1xi64>) {
  %4 = pd.scale (%arg0) {bias = 1.0} : tensor<1xi64>
  cf.yield (%4)
} : tensor<1xi64>
pd.fetch (%2) {name = \"out:0\"}
pd.fetch (%1) {name = \"out:1\", col = 1}
"
    );
}

#[test]
fn nested_loops_get_theirs() {
    assert_eq!(
        text(&read("nested_while")),
        "\
%x = pd.data {name = \"x\", shape = [4], dtype = f32} : tensor<4xf32>
%0 = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
%1 = pd.full {shape = [4], value = 0.5, dtype = f32, stop_gradient = false} : tensor<4xf32>
%2 = pd.full {shape = [1], value = 3, dtype = i64} : tensor<1xi64>
%3 = pd.full {shape = [1], value = 4, dtype = i64} : tensor<1xi64>
%4, %5 = pd.while (%0, %1) cond (%arg0: tensor<1xi64>, %arg1: tensor<4xf32>) {
  %6 = pd.less_than (%arg0, %2) : tensor<1xi1>
  cf.cond_yield (%6, %arg0, %arg1)
} body (%arg0: tensor<1xi64>, %arg1: tensor<4xf32>) {
  %7 = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
  %8, %9 = pd.while (%7, %arg1) cond (%arg2: tensor<1xi64>, %arg3: tensor<4xf32>) {
    %10 = pd.less_than (%arg2, %3) : tensor<1xi1>
    cf.cond_yield (%10, %arg2, %arg3)
  } body (%arg2: tensor<1xi64>, %arg3: tensor<4xf32>) {
    %11 = pd.scale (%arg2) {bias = 1.0} : tensor<1xi64>
    %12 = pd.multiply (%arg3, %x) : tensor<4xf32>
    %13 = pd.sin (%12) : tensor<4xf32>
    %14 = pd.add (%13, %arg3) : tensor<4xf32>
    cf.yield (%11, %14)
  } : tensor<1xi64>, tensor<4xf32>
  %15 = pd.scale (%arg0) {bias = 1.0} : tensor<1xi64>
  %16 = pd.tanh (%9) : tensor<4xf32>
  cf.yield (%15, %16)
} : tensor<1xi64>, tensor<4xf32>
%17 = pd.sum (%5) : tensor<f32>
pd.fetch (%5) {name = \"out:0\"}
pd.fetch (%17) {name = \"out:1\", col = 1}
"
    );
}

#[test]
fn deep_programs_read() {
    let depth = 20_000;
    let mut source =
        String::from(r#"{"base_code":{"magic":"pir","version":4},"program":{"regions":[{"blocks":[{"args":[],"ops":["#);
    source.push_str(r##"{"#":"1.data","A":[],"I":[],"O":[{"%":1,"TT":{"#":"0.t_bool"}}]}"##);
    for _ in 0..depth {
        source.push_str(r##",{"#":"1.if","A":[],"I":[{"%":1}],"O":[],"regions":[{"blocks":[{"args":[],"ops":["##);
        source.push_str(r##"{"#":"1.tanh","A":[],"I":[{"%":1}],"O":[{"%":1,"TT":{"#":"0.t_bool"}}]}"##);
    }
    source.push_str(&r#"]}]},{"blocks":[]}]}"#.repeat(depth));
    source.push_str("]}]}]}}");
    let module = paddle::read(&context(), source.as_bytes()).unwrap();
    assert_eq!(
        module.num_ops(),
        1 + 4 * depth,
        "an if, a tanh and two yields at each level"
    );
}

fn messages(ops: &str) -> Vec<(String, String)> {
    let source = format!(
        r#"{{"base_code":{{"magic":"pir","version":4}},"program":{{"regions":[{{"blocks":[{{"args":[],"ops":[{ops}]}}]}}]}}}}"#
    );
    let errors = paddle::read(&context(), source.as_bytes()).unwrap_err();
    errors
        .into_iter()
        .map(|e| {
            let span = e.labels[0].span;
            let place = &source[span.start as usize..span.end as usize];
            (e.message, place.chars().take(24).collect())
        })
        .collect()
}

#[test]
fn errors_name_the_operation_and_its_place() {
    let full = r##"{"#":"1.full","A":[{"N":"shape","AT":{"#":"9.a_odd"}}],"I":[],"O":[{"%":1,"TT":{"#":"0.t_f32"}}]}"##;
    let tahn = r##"{"#":"1.tahn","A":[],"I":[{"%":1}],"O":[{"%":2,"TT":{"#":"0.t_f32"}}]}"##;
    let tanh = r##"{"#":"1.tanh","A":[],"I":[{"%":7}],"O":[{"%":3,"TT":{"#":"0.t_f32"}}]}"##;
    let strange = r##"{"#":"77.x","A":[],"I":[],"O":[{"%":4,"TT":{"#":"0.t_dtensor","D":[{"#":"0.t_f32"},[-2]]}}]}"##;
    // The value of the first one is poisoned, so that its use is not another error.
    let ops = [full, tahn, tanh, strange].join(",");
    let expected = [
        ("the attribute kind `9.a_odd` is unknown", "{\"#\":\"9.a_odd\"}"),
        ("unknown operation `pd.tahn`", "{\"#\":\"1.tahn\",\"A\":[],\"I\":[{\"%"),
        (
            "operand 0 of `pd.tanh` is value 7, which is not defined here",
            "{\"#\":\"1.tanh\",\"A\":[],\"I\":[{\"%",
        ),
        (
            "the dialect of the operation `77.x` is unknown",
            "{\"#\":\"77.x\",\"A\":[],\"I\":[],\"",
        ),
    ];
    let found = messages(&ops);
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for ((message, place), (want, want_place)) in found.iter().zip(expected) {
        assert_eq!(message, want);
        assert_eq!(place, &want_place.chars().take(24).collect::<String>());
    }
}

#[test]
fn attributes_are_given_once() {
    let rank = |value| format!(r##"{{"N":"axis","AT":{{"#":"0.a_i32","D":{value}}}}}"##);
    let op = |attrs: &str| format!(r##"{{"#":"1.full","A":[{attrs}],"I":[],"O":[{{"%":1,"TT":{{"#":"0.t_f32"}}}}]}}"##);
    let said = [(
        "attribute `axis` of `pd.full` is given twice".to_owned(),
        op("")[..16].to_owned(),
    )];
    for attrs in [[rank(1), rank(2)], [rank(1), rank(1)]] {
        let found = messages(&op(&attrs.join(",")));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].0, said[0].0);
        assert!(found[0].1.starts_with(&said[0].1), "{found:?}");
    }
    let printed = "{\n    (%0) = \"pd_op.full\" () {shape:[1],value:1,shape:[2]} : () -> tensor<1xf32>\n}\n";
    let errors = paddle::read_printed(&context(), printed.as_bytes(), Options::default()).unwrap_err();
    assert_eq!(errors[0].message, "attribute `shape` of `pd.full` is given twice");
    let place = errors[0].labels[0].span;
    assert!(printed[place.start as usize..place.end as usize].starts_with("(%0) = "));
}

/// Unknown, duplicate and missing keys are reported with their places.
#[test]
fn every_key_is_accounted_for() {
    let program = |ops: &str| {
        format!(
            r##"{{"base_code":{{"magic":"pir","trainable":true,"version":4,"by":1}},"program":{{"regions":[{{"#":"region_0",
            "blocks":[{{"#":"block_0","args":[],"ops":[{ops}]}},{{"#":"block_1","args":[],"ops":[]}}]}}]}}}}"##
        )
    };
    let source = program(
        r##"{"#":"1.relu","A":[],"I":[{"%":1,"$":2}],"O":[{"%":2,"%":3}],"attrs":[]},{"#":"1.exp","A":[{"N":"x"}],"I":[]}"##,
    );
    let errors = paddle::read(&context(), source.as_bytes()).unwrap_err();
    let found: Vec<(&str, &str)> = errors
        .iter()
        .map(|e| {
            let span = e.labels[0].span;
            (e.message.as_str(), &source[span.start as usize..span.end as usize])
        })
        .collect();
    for wanted in [
        ("unknown key `by` in `base_code`", "\"by\""),
        ("unknown key `$` in an operand", "\"$\""),
        ("`%` is given twice in a result", "\"%\""),
        ("unknown key `attrs` in the operation `1.relu`", "\"attrs\""),
        ("`AT` is missing in an attribute", r#"{"N":"x"}"#),
        (
            "`O` is missing in the operation `1.exp`",
            r##"{"#":"1.exp","A":[{"N":"x"}],"I":[]}"##,
        ),
        (
            "a program has one region with one block: this block would never run",
            r##"{"#":"block_1","args":[],"ops":[]}"##,
        ),
    ] {
        assert!(found.contains(&wanted), "{wanted:?} is not in {found:#?}");
    }
}

#[test]
fn names_of_types_are_words() {
    let op = |kind: &str| {
        let ty = format!(r##"{{"#":"{kind}","D":[{{"#":"0.t_f32"}},[2],"NCHW"]}}"##);
        format!(r##"{{"#":"1.data","A":[],"I":[],"O":[{{"%":1,"TT":{ty}}}]}}"##)
    };
    for (kind, shown) in [
        ("1.t_a\\u0014b", "1.t_a\\u{14}b"),
        ("1.t_vec", "1.t_vec"),
        ("1.t_", "1.t_"),
    ] {
        let found = messages(&op(kind));
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].0, format!("the type `{shown}` is unknown"));
        assert!(found[0].1.starts_with(r##"{"#":"1.t_"##), "{found:?}");
    }
    let printed = "{\n    (%0) = \"pd_op.x\" () {} : () -> vec<1xf32>\n}\n";
    let errors = paddle::read_printed(&context(), printed.as_bytes(), Options::default()).unwrap_err();
    assert!(
        errors[0].message.contains("`vec` is not a type"),
        "{}",
        errors[0].message
    );
}

#[test]
fn broken_files_are_told() {
    let message = |source: &str| {
        paddle::read(&context(), source.as_bytes()).unwrap_err()[0]
            .message
            .clone()
    };
    assert_eq!(message("{}"), "this is not a saved program: `base_code` is missing");
    assert_eq!(
        message(r#"{"base_code":{"magic":"old"}}"#),
        "this is not a saved program: `magic` is not \"pir\""
    );
    assert_eq!(
        message(r#"{"base_code":{"magic":"pir","version":0}}"#),
        "the version of the saved program is missing or not positive"
    );
    assert_eq!(
        message(r#"{"base_code":{"magic":"pir","version":4},"program":{}}"#),
        "`regions` is missing in `program`"
    );
    assert_eq!(
        message(r#"{"base_code":{"magic":"pir","version":4},"program":{"regions":[]}}"#),
        "the program has no block of operations"
    );
    assert_eq!(
        message(r#"{"base_code":{"magic":"pir","version":5},"program":{"regions":[]}}"#),
        "the saved program has version 5, but 4 is the newest supported version"
    );
    assert_eq!(
        message("{\"base_code\":"),
        "expected a value, found the end of the file"
    );
    // A program cut off anywhere is an error, never a panic.
    let whole = std::fs::read(folder().join("while_in_if.json")).unwrap();
    for end in (0..whole.len() - 1).step_by(97) {
        assert!(paddle::read(&context(), &whole[..end]).is_err());
    }
}

#[test]
fn unknown_operations_are_kept_when_asked_for() {
    let source = br##"{"base_code":{"magic":"pir","version":4},"program":{"regions":[{"blocks":[{"args":[],"ops":[
        {"#":"1.data","A":[],"I":[],"O":[{"%":1,"TT":{"#":"0.t_dtensor","D":[{"#":"0.t_f32"},[-1,4],"NCHW",[],0]}}]},
        {"#":"1.odd","A":[{"N":"a","AT":{"#":"0.a_i32","D":3}},{"N":"b","AT":{"#":"0.a_array","D":[{"#":"0.a_f32","D":0.5}]}},
                          {"N":"c","AT":{"#":"0.a_f64","VD":"-INF"}},{"N":"d","AT":{"#":"1.a_place","D":[1,0,""]}}],
         "I":[{"%":1},{"%":0},{"%":1}],"O":[{"%":2,"TT":{"#":"0.t_bf16"}},{"%":0,"TT":{"#":"NULL"}}]}]}]}]}}"##;
    let options = Options {
        allow_unregistered: true,
    };
    let module = paddle::read_with(&context(), source, options).unwrap();
    let last = pir_ir::text::print(&module, &Default::default())
        .lines()
        .last()
        .unwrap_or_default()
        .to_owned();
    assert_eq!(
        last,
        "%1 = \"pd.odd\"(%0, %0) {a = 3 : i32, b = [0.5 : f32], c = 0xFFF0000000000000 : f64, d = \"cpu\", absent_operands = [1], \
         absent_results = [1]} : (tensor<?x4xf32>, tensor<?x4xf32>) -> bf16"
    );
}

#[test]
fn lists_are_spread() {
    let text = text(&read("gru_cell_loop"));
    assert!(
        text.contains(
            "%12, %13, %14 = pd.split_with_num (%9) {num = 3, axis = 1} : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>\n"
        ),
        "{text}"
    );
    assert!(!text.contains("builtin"), "{text}");
    let source = r#"{
    (%0) = "pd_op.data" () {dtype:float32,name:"x",shape:[2,4]} : () -> tensor<2x4xf32>
    (%1) = "pd_op.full" () {dtype:int32,shape:[1],value:1} : () -> tensor<1xi32>
    (%2) = "builtin.combine" (%0, %0) {} : (tensor<2x4xf32>, tensor<2x4xf32>) -> vec[tensor<2x4xf32>,tensor<2x4xf32>]
    (%3) = "pd_op.concat" (%2, %1) {} : (vec[tensor<2x4xf32>,tensor<2x4xf32>], tensor<1xi32>) -> tensor<2x8xf32>
    (%4) = "pd_op.split_with_num" (%3, %1) {num:2} : (tensor<2x8xf32>, tensor<1xi32>) -> vec[tensor<2x4xf32>,tensor<2x4xf32>]
    (%5) = "pd_op.stack" (%4) {axis:0} : (vec[tensor<2x4xf32>,tensor<2x4xf32>]) -> tensor<2x2x4xf32>
    (%6) = "pd_op.sum" (%5, %1) {} : (tensor<2x2x4xf32>, tensor<1xi32>) -> tensor<2x4xf32>
}"#;
    let module = paddle::read_printed(&context(), source.as_bytes(), Options::default()).unwrap();
    assert_eq!(
        common::text(&module),
        "\
%x = pd.data {name = \"x\", shape = [2, 4], dtype = f32} : tensor<2x4xf32>
%0 = pd.concat (%x, %x) {axis = 1} : tensor<2x8xf32>
%1, %2 = pd.split_with_num (%0) {num = 2, axis = 1} : tensor<2x4xf32>, tensor<2x4xf32>
%3 = pd.stack (%1, %2) : tensor<2x2x4xf32>
%4 = pd.sum (%3) {axis = [1]} : tensor<2x4xf32>
"
    );
}
