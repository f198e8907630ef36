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
    let options = LoadOptions {
        allow_unregistered,
        ..LoadOptions::default()
    };
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
        "`my.op` cannot be written for PaddlePaddle: PaddlePaddle does not load the dialect `my`",
    );
    refused(
        &format!("{data}func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {{\n  func.return (%a)\n}}"),
        "`func.func` cannot be written",
    );
    refused(
        &format!("{data}%big = pd.full {{shape = [1], value = 9007199254740993, dtype = i64}} : tensor<1xi64>"),
        "9007199254740993 cannot be represented as a double",
    );
}

/// A loop whose condition records what it forwards, and the one that undoes it.
const RECORDING: &str = "\
%x = pd.data {name = \"x\", shape = [1], dtype = f32} : tensor<1xf32>
%ten = pd.full {shape = [1], value = 10.0, dtype = f32} : tensor<1xf32>
%y, %s = pd.while (%x) init (%a: tensor<1xf32>) {
  %s = cf.create_stack () : cf.stack
  cf.yield (%a, %s)
} cond (%a: tensor<1xf32>, %s: cf.stack) {
  %go = pd.less_than (%a, %ten) : tensor<1xi1>
  %b = pd.square (%a) : tensor<1xf32>
  cf.push_back (%s, %b)
  cf.cond_yield (%go, %b, %s)
} body (%a: tensor<1xf32>, %s: cf.stack) {
  cf.yield (%a, %s)
} : tensor<1xf32>, cf.stack
%z = pd.while (%x) cond (%a: tensor<1xf32>) {
  %b = cf.pop_back (%s) : tensor<1xf32>
  %done = cf.is_empty (%s) : i1
  %more = pd.logical_not (%done) : i1
  %c = pd.subtract (%b, %a) : tensor<1xf32>
  cf.cond_yield (%more, %c)
} body (%a: tensor<1xf32>) {
  cf.yield (%a)
} : tensor<1xf32>
pd.fetch (%z) {name = \"z\"}
";

#[test]
fn loops_carry_what_their_conditions_record() {
    for x in [2.0f32, 20.0] {
        let options = || pir_interp::Options {
            inputs: [("x".to_owned(), pir_interp::Tensor::new(&[1], vec![x]).unwrap())]
                .into_iter()
                .collect(),
            ..Default::default()
        };
        let module = module(RECORDING);
        let back = back(write(&module).unwrap(), false);
        // Whether the stack is empty is tested again, after the pop at the end of the body.
        assert_eq!(back.matches("cf.push_back").count(), 1, "{back}");
        assert_eq!(back.matches("cf.pop_back").count(), 1, "{back}");
        let [ours, theirs] =
            [module, self::module(&back)].map(|m| pir_interp::run(&m, &options(), &mut Vec::new()).unwrap().fetched);
        assert_eq!(ours[0].1.to_f64(), theirs[0].1.to_f64());
    }
}

#[test]
fn what_a_condition_records_is_refused_where_it_cannot_be_carried() {
    // The test is before the pop, which takes nothing off the stack before the loop.
    let pop = "  %b = cf.pop_back (%s) : tensor<1xf32>\n";
    let test = "  %more = pd.logical_not (%done) : i1\n";
    let late = RECORDING.replace(pop, "").replace(test, &format!("{test}{pop}"));
    refused(&late, "only a loop that pops from a stack can test");
    // A branch in the condition would be written twice.
    let push = "  cf.push_back (%s, %b)\n";
    let branch = RECORDING.replace(push, &format!("  pd.if (%go) then {{\n  {push}  }} else {{\n  }}\n"));
    refused(&branch, "recorded within the condition of a loop");
}

#[test]
fn functions_are_not_written_and_what_to_do_is_told() {
    let text = "%x = pd.data {name = \"x\", shape = [2], dtype = f32} : tensor<2xf32>\n\
                func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {\n  func.return (%a)\n}";
    let errors = write(&module(text)).unwrap_err();
    assert!(
        errors[0].help.as_deref().unwrap().contains("`inline,symbol-dce`"),
        "{errors:?}"
    );
}

#[test]
fn copies_of_stacks_are_refused_with_what_to_do() {
    let s = "%x = pd.data {name = \"x\", shape = [2], dtype = f32} : tensor<2xf32>\n\
             %s = cf.create_stack () : cf.stack\ncf.push_back (%s, %x)\n";
    for (op, help) in [
        ("%c = cf.copy_stack (%s) : cf.stack", "push the values on two stacks"),
        (
            "%j = cf.join_stack (%s) : tensor<?xf32>",
            "`unbatch-weight-grads` removes products of joined stacks",
        ),
    ] {
        let text = format!("{s}{op}");
        refused(&text, "cannot be written for PaddlePaddle");
        assert_eq!(write(&module(&text)).unwrap_err()[0].help.as_deref(), Some(help));
    }
}

#[test]
fn what_paddlepaddle_does_not_broadcast_or_have_is_written_in_its_operations() {
    let text = "%x = pd.data {name = \"x\", shape = [1], dtype = f64} : tensor<1xf64>\n\
                %y = pd.data {name = \"y\", shape = [3], dtype = f64} : tensor<3xf64>\n\
                %w = pd.data {name = \"w\", shape = [3, 2], dtype = f64} : tensor<3x2xf64>\n\
                %b = pd.data {name = \"b\", shape = [2], dtype = f64} : tensor<2xf64>\n\
                %angle = pd.atan2 (%x, %y) : tensor<3xf64>\n\
                %near = pd.isclose (%y, %x) : tensor<3xi1>\n\
                %i = pd.assign_value {shape = [3, 1], values = [0, 2, 1], dtype = i64} : tensor<3x1xi64>\n\
                %put = pd.put_along_axis (%w, %i, %x) {axis = 0} : tensor<3x2xf64>\n\
                %cut = pd.slice (%put) {axes = [-1], starts = [0], ends = [1]} : tensor<3x1xf64>\n\
                %outer = pd.outer (%angle, %y) : tensor<3x3xf64>\n\
                %linear = pd.linear (%outer, %w, %b) : tensor<3x2xf64>";
    let written = back(write(&module(text)).unwrap(), false);
    let ops: Vec<&str> = written.lines().filter_map(|line| line.split(' ').nth(2)).collect();
    for (op, count) in [
        ("pd.expand", 3),
        ("pd.atan2", 1),
        ("pd.reshape", 2),
        ("pd.multiply", 1),
        ("pd.matmul", 1),
    ] {
        assert_eq!(ops.iter().filter(|&&o| o == op).count(), count, "{op} in {written}");
    }
    assert!(written.contains("axes = [1]"), "{written}");
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
fn constant_operands_are_written_once_in_front_of_loops() {
    let text = "\
%n = pd.data {name = \"n\", shape = [1], dtype = f64} : tensor<1xf64>
%a = pd.while (%n) cond (%i: tensor<1xf64>) {
  %go = pd.less_than (%i, %n) : tensor<1xi1>
  cf.cond_yield (%go, %i)
} body (%i: tensor<1xf64>) {
  %j = pd.scale (%i) {scale = 2.0, bias = 0.1} : tensor<1xf64>
  %k = pd.scale (%j) {scale = 2.0} : tensor<1xf64>
  cf.yield (%k)
} : tensor<1xf64>
pd.fetch (%a) {name = \"a\"}
";
    let json = write(&module(text)).unwrap();
    let (front, looped) = json.split_once("\"1.while\"").unwrap();
    // The factor of both, and the bias that is added apart; PaddlePaddle computes an operation in a loop in each iteration.
    assert_eq!(front.matches("\"1.full\"").count(), 2);
    assert_eq!(looped.matches("\"1.scale\"").count(), 2);
    assert_eq!(looped.matches("\"1.full\"").count(), 0);
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

/// A program as PaddlePaddle saves it, of these operations.
fn saved_program(version: i64, ops: &str) -> String {
    format!(
        r##"{{"base_code":{{"magic":"pir","trainable":true,"version":{version}}},"program":{{"regions":[{{"#":"region_0","blocks":[{{"#":"block_0","args":[],"ops":[{ops}]}}]}}]}}}}"##
    )
}

const TYPE: &str = r##"{"#":"0.t_dtensor","D":[{"#":"0.t_f32"},[2],"NCHW",[],0]}"##;

fn saved_op(name: &str, attrs: &str, inputs: &[i64], outputs: &[i64], stops: bool) -> String {
    let inputs: Vec<String> = inputs.iter().map(|id| format!(r#"{{"%":{id}}}"#)).collect();
    let outputs: Vec<String> = outputs
        .iter()
        .map(|id| format!(r#"{{"%":{id},"TT":{TYPE}}}"#))
        .collect();
    let flags = vec![format!(r##"{{"#":"0.a_bool","D":{stops}}}"##); outputs.len()].join(",");
    format!(
        r##"{{"#":"{name}","A":[{attrs}],"I":[{}],"O":[{}],"OA":[{{"N":"stop_gradient","AT":{{"#":"0.a_array","D":[{flags}]}}}}]}}"##,
        inputs.join(","),
        outputs.join(","),
    )
}

fn saved_input() -> String {
    let attrs = r##"{"N":"name","AT":{"#":"0.a_str","D":"x"}},{"N":"shape","AT":{"#":"1.a_intarray","D":[2]}},{"N":"dtype","AT":{"#":"1.a_dtype","D":"float32"}}"##;
    saved_op("1.data", attrs, &[], &[1], false)
}

fn saved_fetch(id: i64) -> String {
    let attrs = r##"{"N":"name","AT":{"#":"0.a_str","D":"y"}},{"N":"col","AT":{"#":"0.a_i32","D":0}}"##;
    saved_op("1.fetch", attrs, &[id], &[99], false)
}

#[test]
fn gradients_stop_where_the_program_says_so() {
    // y = (x * x, at which gradients stop) * x
    for (name, stopped) in [("1.multiply", true), ("1.multiply", false)] {
        let ops = [
            saved_input(),
            saved_op(name, "", &[1, 1], &[2], stopped),
            saved_op("1.multiply", "", &[2, 1], &[3], false),
            saved_fetch(3),
        ];
        let source = Source::new("saved.json", saved_program(4, &ops.join(",")));
        let (module, _) = load(&pir_dialects::context(), &source, LoadOptions::default()).unwrap();
        let text = print(&module, &Default::default());
        assert_eq!(text.contains("pd.detach"), stopped, "{text}");
        let saved = write(&module).unwrap();
        // The flag goes back to where it is read.
        let flags = saved.matches(r##"[{"#":"0.a_bool","D":true}]"##).count();
        assert_eq!(flags, usize::from(stopped), "{saved}");
        assert_eq!(back(saved, false), text);
    }
    // Constants alone need no declaration.
    let full = r##"{"N":"shape","AT":{"#":"1.a_intarray","D":[2]}},{"N":"value","AT":{"#":"0.a_f64","D":1.5}},{"N":"dtype","AT":{"#":"1.a_dtype","D":"float32"}}"##;
    for stops in [true, false] {
        let ops = [
            saved_op("1.full", full, &[], &[1], stops),
            saved_op("1.tanh", "", &[1], &[2], stops),
            saved_fetch(2),
        ];
        let text = back(saved_program(4, &ops.join(",")), false);
        assert!(!text.contains("detach"), "{text}");
        assert_eq!(text.contains("stop_gradient = false"), !stops, "{text}");
        assert_eq!(back(write(&module(&text)).unwrap(), false), text);
    }
}

#[test]
fn the_kinds_of_attributes_of_unknown_operations_survive() {
    let kinds = [
        r##"{"#":"1.a_intarray","D":[1,2]}"##,
        r##"{"#":"1.a_scalar","D":["float32",1.5]}"##,
        r##"{"#":"0.a_array","D":[{"#":"0.a_i64","D":1},{"#":"0.a_i64","D":2}]}"##,
        r##"{"#":"0.a_array","D":[]}"##,
        r##"{"#":"0.a_c64","D":[1.0,2.0]}"##,
        r##"{"#":"1.a_dtype","D":"Undefined(ALL_DTYPE)"}"##,
        r##"{"#":"1.a_place","D":[0,0,""]}"##,
        r##"{"#":"4.a_process_mesh","D":[[2],[0,1],["a>b"]]}"##,
    ];
    let attr = |(at, kind): (usize, &&str)| {
        let name = if kind.contains("a_place") {
            "place".to_owned()
        } else {
            format!("a{at}")
        };
        format!(r#"{{"N":"{name}","AT":{kind}}}"#)
    };
    let attrs: Vec<String> = kinds.iter().enumerate().map(attr).collect();
    // What is omitted at the end has its place too.
    let ops = [
        saved_input(),
        saved_op("1.mystery", &attrs.join(","), &[1, 0, 0], &[2], false),
        saved_fetch(2),
    ];
    let text = back(saved_program(4, &ops.join(",")), false);
    let saved = write(&module(&text)).unwrap();
    for attr in &attrs {
        assert!(saved.contains(attr), "{attr} is missing in {saved}");
    }
    assert!(saved.contains(r##""I":[{"%":1},{"%":0},{"%":0}]"##), "{saved}");
}

#[test]
fn attributes_of_older_versions_are_written_as_those_of_the_newest() {
    let attrs = r##"{"N":"scale","AT":{"#":"0.a_array","D":[{"#":"0.a_f32","D":2.0}]}}"##;
    // In the newest version, too, an attribute has the type that the operation declares.
    for version in [3, 4] {
        let ops = [
            saved_input(),
            saved_op("1.nearest_interp", attrs, &[1], &[2], false),
            saved_fetch(2),
        ];
        let text = back(saved_program(version, &ops.join(",")), false);
        let saved = write(&module(&text)).unwrap();
        assert!(saved.contains(r##"{"#":"0.a_f64","D":2.0}"##), "{saved}");
    }
}

#[test]
fn results_that_older_versions_have_besides_are_left_out() {
    let shape = r##"{"N":"value","AT":{"#":"0.a_array","D":[{"#":"0.a_i64","D":2}]}},{"N":"dtype","AT":{"#":"1.a_dtype","D":"int64"}}"##;
    let ops = |read| {
        let ops = [
            saved_input(),
            saved_op("1.full_int_array", shape, &[], &[2], true)
                .replace("0.t_f32", "0.t_i64")
                .replace("[2],\"NCHW", "[1],\"NCHW"),
            saved_op("1.reshape", "", &[1, 2], &[3, 4], false),
            saved_fetch(read),
        ];
        Source::new("saved.json", saved_program(1, &ops.join(",")))
    };
    let read = |id| load(&pir_dialects::context(), &ops(id), LoadOptions::default());
    let (module, _) = read(3).unwrap();
    assert!(print(&module, &Default::default()).contains("%0 = pd.reshape (%x) {shape = [2]} : tensor<2xf32>"));
    assert!(
        read(4).unwrap_err()[0]
            .message
            .contains("value 4, which is not defined here")
    );
}

#[test]
fn flags_of_parameters_survive() {
    let parameter = format!(r##"{{"#":"p","A":[1,1,0,"w"],"DA":[],"QA":[],"O":{{"%":1,"TT":{TYPE}}},"OA":[0,0,0]}}"##);
    let text = back(saved_program(4, &[parameter.clone(), saved_fetch(1)].join(",")), false);
    assert!(
        text.contains("is_distributed = true, need_clip = false, persistable = false, trainable = false"),
        "{text}"
    );
    assert!(write(&module(&text)).unwrap().contains(&parameter));
}

#[test]
fn what_is_no_list_is_told_with_its_place() {
    let op = saved_op("1.tanh", "", &[1], &[2], false).replace(r##""I":[{"%":1}]"##, r##""I":{"%":1}"##);
    let source = saved_program(4, &[saved_input(), op].join(","));
    let at = source.find(r##"{"%":1},"O""##).unwrap();
    let errors = load(
        &pir_dialects::context(),
        &Source::new("saved.json", source),
        LoadOptions::default(),
    )
    .unwrap_err();
    assert_eq!(errors[0].message, "expected a list after `\"I\"`");
    assert_eq!(errors[0].labels[0].span.start as usize, at);
}

#[test]
fn operands_are_given_the_shape_that_kernels_ask_for() {
    let text = "\
%c = pd.data {name = \"c\", shape = [2, 1], dtype = i1} : tensor<2x1xi1>
%x = pd.data {name = \"x\", shape = [2, 3], dtype = f32} : tensor<2x3xf32>
%z = pd.full {shape = [], value = 0.0, dtype = f32} : tensor<f32>
%y = pd.where (%c, %x, %z) : tensor<2x3xf32>
pd.fetch (%y) {name = \"y\"}
";
    let back = back(write(&module(text)).unwrap(), false);
    assert_eq!(back.matches("pd.expand").count(), 2, "{back}");
}

/// A branch that pushes, and the branch that pops where the recorded condition is that of the first one or its negation.
#[test]
fn a_branch_with_a_negated_condition_mirrors_the_other_side() {
    let text = |condition: &str| {
        format!(
            "\
%s = cf.create_stack () : cf.stack
%t = cf.create_stack () : cf.stack
%x = pd.data {{name = \"x\", shape = [1], dtype = f32}} : tensor<1xf32>
%n = pd.full {{shape = [1], value = 4.0, dtype = f32}} : tensor<1xf32>
%half = pd.full {{shape = [1], value = 2.0, dtype = f32}} : tensor<1xf32>
%y = pd.while (%x) cond (%a: tensor<1xf32>) {{
  %go = pd.less_than (%a, %n) : tensor<1xi1>
  cf.cond_yield (%go, %a)
}} body (%a: tensor<1xf32>) {{
  %c = pd.less_than (%a, %half) : tensor<1xi1>
  %d = pd.logical_not (%c) : tensor<1xi1>
  pd.if (%{condition}) then {{
    %u = pd.scale (%a) {{scale = 10.0}} : tensor<1xf32>
    cf.push_back (%t, %u)
    cf.yield ()
  }} else {{
    %u = pd.scale (%a) {{scale = -1.0}} : tensor<1xf32>
    cf.push_back (%t, %u)
    cf.yield ()
  }}
  cf.push_back (%s, %d)
  %b = pd.scale (%a) {{bias = 1.0}} : tensor<1xf32>
  cf.yield (%b)
}} : tensor<1xf32>
%z = pd.while (%x) cond (%a: tensor<1xf32>) {{
  %done = cf.is_empty (%s) : i1
  %more = pd.logical_not (%done) : i1
  cf.cond_yield (%more, %a)
}} body (%a: tensor<1xf32>) {{
  %d = cf.pop_back (%s) : tensor<1xi1>
  %v = pd.if (%d) then {{
    %u = cf.pop_back (%t) : tensor<1xf32>
    %w = pd.scale (%u) {{bias = 100.0}} : tensor<1xf32>
    cf.yield (%w)
  }} else {{
    %u = cf.pop_back (%t) : tensor<1xf32>
    cf.yield (%u)
  }} : tensor<1xf32>
  %b = pd.add (%a, %v) : tensor<1xf32>
  cf.yield (%b)
}} : tensor<1xf32>
pd.fetch (%z) {{name = \"z\"}}
"
        )
    };
    for condition in ["c", "d"] {
        let plain = module(&text(condition));
        let options = LoadOptions::default();
        let saved = Source::new("saved.json", write(&plain).unwrap());
        let (again, _) = load(&pir_dialects::context(), &saved, options).unwrap();
        let [expected, found] = [&plain, &again].map(|module| {
            let options = pir_interp::Options {
                inputs: [("x".to_owned(), pir_interp::Tensor::new(&[1], vec![1.0f32]).unwrap())]
                    .into_iter()
                    .collect(),
                ..pir_interp::Options::default()
            };
            let fetched = pir_interp::run(module, &options, &mut std::io::sink()).unwrap().fetched;
            fetched[0].1.to_f64()
        });
        assert_eq!(expected, found, "{condition}");
    }
}

#[test]
fn an_operand_that_is_computed_in_place_of_is_no_other_operand() {
    let text = |updates: &str| {
        format!(
            "\
%x = pd.data {{name = \"x\", shape = [2, 2], dtype = f32}} : tensor<2x2xf32>
%y = pd.tanh (%x) : tensor<2x2xf32>
%z = pd.sin (%x) : tensor<2x2xf32>
%i = pd.full_int_array {{value = [1, 0]}} : tensor<2xi64>
%o = pd.scatter (%y, %i, %{updates}) : tensor<2x2xf32>
%p = pd.multiply (%y, %y) : tensor<2x2xf32>
pd.fetch (%o) {{name = \"o\"}}
pd.fetch (%p) {{name = \"p\", col = 1}}
"
        )
    };
    for (updates, copies) in [("z", 0), ("y", 1)] {
        let saved = write(&module(&text(updates))).unwrap();
        assert_eq!(saved.matches("1.assign\"").count(), copies);
    }
}

#[test]
fn negative_axes_count_the_dimensions_of_the_gathered_tensor() {
    let text = "\
%i = pd.full_int_array {value = [2, 1, 0, 0]} : tensor<4xi64>
%g = pd.data {name = \"g\", shape = [3, 4], dtype = f32} : tensor<3x4xf32>
%x = pd.gather_grad (%i, %g) {axis = -1, x_shape = [3, 4]} : tensor<3x4xf32>
pd.fetch (%x) {name = \"x\"}
";
    let plain = module(text);
    let again = module(&back(write(&plain).unwrap(), false));
    let options = pir_interp::Options {
        inputs: [(
            "g".to_owned(),
            pir_interp::Tensor::new(&[3, 4], (0..12u8).map(f32::from).collect::<Vec<f32>>()).unwrap(),
        )]
        .into_iter()
        .collect(),
        ..pir_interp::Options::default()
    };
    let [expected, found] = [plain, again].map(|module| {
        let fetched = pir_interp::run(&module, &options, &mut std::io::sink())
            .unwrap()
            .fetched;
        fetched[0].1.to_f64()
    });
    assert_eq!(expected, found);
}

#[test]
fn a_number_with_a_bias_in_double_precision_stays_a_number() {
    let text = "\
%x = pd.data {name = \"x\", shape = [], dtype = f64} : tensor<f64>
%y = pd.scale (%x) {bias = 0.1} : tensor<f64>
pd.fetch (%y) {name = \"y\"}
";
    let saved = write(&module(text)).unwrap();
    let full = saved.split("\"1.full\"").last().unwrap();
    assert!(full.contains("\"0.t_f64\"},[],"), "{saved}");
}
