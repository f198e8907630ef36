//! Converting Paddle's loops, whose condition is computed twice, to `pd.while`.

#![allow(clippy::unwrap_used)]

mod common;

use common::text;
use pir_dialects::context;
use pir_translate::paddle::{self, Options};

/// Reads a program that begins with two tensors `%0` and `%1` and a constant `%2`, and gives its text from there.
fn translated(rest: &str) -> String {
    let source = format!(
        r#"{{
    (%0) = "pd_op.data" () {{dtype:float32,name:"x",shape:[1],stop_gradient:[false]}} : () -> tensor<1xf32>
    (%1) = "pd_op.data" () {{dtype:float32,name:"y",shape:[1],stop_gradient:[false]}} : () -> tensor<1xf32>
    (%2) = "pd_op.full" () {{dtype:float32,shape:[1],value:3}} : () -> tensor<1xf32>
{rest}}}"#
    );
    let module = paddle::read_printed(&context(), source.as_bytes(), Options::default()).unwrap();
    text(&module).lines().skip(3).map(|line| format!("{line}\n")).collect()
}

#[test]
fn a_computed_condition_moves_into_its_region() {
    // Both the tanh and the comparison are part of the condition; the tanh in the body is also the next value.
    let text = translated(
        r#"
    (%3) = "pd_op.sin" (%0) : (tensor<1xf32>) -> tensor<1xf32>
    (%4) = "pd_op.less_than" (%3, %2) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xb>
    (%5) = "pd_op.while" (cond=%4, inputs=%0) {
    ^%arg_0 {stop_gradient:false}
        (%6) = "pd_op.tanh" (%arg_0) : (tensor<1xf32>) -> tensor<1xf32>
        (%7) = "pd_op.sin" (%6) : (tensor<1xf32>) -> tensor<1xf32>
        (%8) = "pd_op.less_than" (%7, %2) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xb>
        () = "cf.yield" (%8, %6) {} : (tensor<1xb>, tensor<1xf32>) ->
    }
    (%9) = "pd_op.exp" (%5) : (tensor<1xf32>) -> tensor<1xf32>
"#,
    );
    assert_eq!(
        text,
        "\
%1 = pd.while (%x) cond (%arg0: tensor<1xf32>) {
  %2 = pd.sin (%arg0) : tensor<1xf32>
  %3 = pd.less_than (%2, %0) : tensor<1xi1>
  cf.cond_yield (%3, %arg0)
} body (%arg0: tensor<1xf32>) {
  %4 = pd.tanh (%arg0) : tensor<1xf32>
  cf.yield (%4)
} : tensor<1xf32>
%5 = pd.exp (%1) : tensor<1xf32>
"
    );
}

#[test]
fn what_else_needs_the_condition_keeps_it() {
    let text = translated(
        r#"
    (%3) = "pd_op.sin" (%0) : (tensor<1xf32>) -> tensor<1xf32>
    (%4) = "pd_op.less_than" (%3, %2) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xb>
    (%5, %6) = "pd_op.while" (cond=%4, inputs=%0, %3) {
    ^%arg_0 {}, %arg_1 {}
        (%7) = "pd_op.tanh" (%arg_0) : (tensor<1xf32>) -> tensor<1xf32>
        (%8) = "pd_op.sin" (%7) : (tensor<1xf32>) -> tensor<1xf32>
        (%9) = "pd_op.less_than" (%8, %2) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xb>
        () = "cf.yield" (%9, %7, %8) {} : (tensor<1xb>, tensor<1xf32>, tensor<1xf32>) ->
    }
"#,
    );
    // The sine is carried itself: the condition reads it instead of computing it again.
    assert_eq!(
        text,
        "\
%1 = pd.sin (%x) : tensor<1xf32>
%2, %3 = pd.while (%x, %1) cond (%arg0: tensor<1xf32>, %arg1: tensor<1xf32>) {
  %4 = pd.less_than (%arg1, %0) : tensor<1xi1>
  cf.cond_yield (%4, %arg0, %arg1)
} body (%arg0: tensor<1xf32>, %arg1: tensor<1xf32>) {
  %5 = pd.tanh (%arg0) : tensor<1xf32>
  %6 = pd.sin (%5) : tensor<1xf32>
  cf.yield (%5, %6)
} : tensor<1xf32>, tensor<1xf32>
"
    );
}

#[test]
fn slots_with_the_same_initial_or_next_value_are_told_apart() {
    // Slots 0 and 1 start with the same value, slots 1 and 2 go on with the same one.
    let text = translated(
        r#"
    (%3) = "pd_op.less_than" (%0, %1) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xb>
    (%4, %5, %6) = "pd_op.while" (cond=%3, inputs=%0, %0, %1) {
    ^%arg_0 {}, %arg_1 {}, %arg_2 {}
        (%7) = "pd_op.tanh" (%arg_0) : (tensor<1xf32>) -> tensor<1xf32>
        (%8) = "pd_op.sin" (%arg_1) : (tensor<1xf32>) -> tensor<1xf32>
        (%9) = "pd_op.less_than" (%8, %8) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xb>
        () = "cf.yield" (%9, %7, %8, %8) {} : (tensor<1xb>) ->
    }
"#,
    );
    assert!(text.contains("pd.less_than (%arg1, %arg2)"), "{text}");
}

#[test]
fn an_invariant_carried_value_is_read_from_its_slot() {
    let text = translated(
        r#"
    (%3) = "pd_op.less_than" (%0, %1) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xb>
    (%4, %5) = "pd_op.while" (cond=%3, inputs=%0, %1) {
    ^%arg_0 {}, %arg_1 {}
        (%6) = "pd_op.tanh" (%arg_0) : (tensor<1xf32>) -> tensor<1xf32>
        (%7) = "pd_op.less_than" (%6, %arg_1) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xb>
        () = "cf.yield" (%7, %6, %arg_1) {} : (tensor<1xb>, tensor<1xf32>, tensor<1xf32>) ->
    }
"#,
    );
    assert!(text.contains("pd.less_than (%arg0, %arg1)"), "{text}");
    assert!(!text.contains("i1>)"), "the condition is not carried: {text}");
}

#[test]
fn a_condition_of_something_else_is_carried() {
    // The condition at the end of the body reads the old value: it differs from the one before the loop.
    let text = translated(
        r#"
    (%3) = "pd_op.less_than" (%0, %2) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xb>
    (%4) = "pd_op.while" (cond=%3, inputs=%0) {
    ^%arg_0 {}
        (%5) = "pd_op.tanh" (%arg_0) : (tensor<1xf32>) -> tensor<1xf32>
        (%6) = "pd_op.less_than" (%arg_0, %2) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xb>
        () = "cf.yield" (%6, %5) {} : (tensor<1xb>, tensor<1xf32>) ->
    }
"#,
    );
    assert_eq!(
        text,
        "\
%1 = pd.less_than (%x, %0) : tensor<1xi1>
%2 = pd.while (%1, %x) cond (%go: tensor<1xi1>, %arg0: tensor<1xf32>) {
  cf.cond_yield (%go, %arg0)
} body (%arg0: tensor<1xf32>) {
  %3 = pd.tanh (%arg0) : tensor<1xf32>
  %4 = pd.less_than (%arg0, %0) : tensor<1xi1>
  cf.yield (%4, %3)
} : tensor<1xf32>
"
    );
}

#[test]
fn different_attributes_are_different_computations() {
    let source = |scale: &str| {
        format!(
            r#"
    (%3) = "pd_op.scale" (%0) {{bias:1,bias_after_scale:true,scale:2}} : (tensor<1xf32>) -> tensor<1xf32>
    (%4) = "pd_op.less_than" (%3, %2) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xb>
    (%5) = "pd_op.while" (cond=%4, inputs=%0) {{
    ^%arg_0 {{}}
        (%6) = "pd_op.tanh" (%arg_0) : (tensor<1xf32>) -> tensor<1xf32>
        (%7) = "pd_op.scale" (%6) {{bias_after_scale:true,bias:1,scale:{scale}}} : (tensor<1xf32>) -> tensor<1xf32>
        (%8) = "pd_op.less_than" (%7, %2) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xb>
        () = "cf.yield" (%8, %6) {{}} : (tensor<1xb>, tensor<1xf32>) ->
    }}
"#
        )
    };
    let same = translated(&source("2"));
    assert!(same.contains("cond (%arg0: tensor<1xf32>)"), "{same}");
    let other = translated(&source("3"));
    assert!(
        other.contains("cond (%go: tensor<1xi1>, %arg0: tensor<1xf32>)"),
        "{other}"
    );
}

#[test]
fn a_constant_condition_stays_outside() {
    // `while True` with a break that never comes: the condition is the same value before the loop and in the body.
    let text = translated(
        r#"
    (%3) = "pd_op.less_than" (%1, %2) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xb>
    (%4) = "pd_op.while" (cond=%3, inputs=%0) {
    ^%arg_0 {}
        (%5) = "pd_op.tanh" (%arg_0) : (tensor<1xf32>) -> tensor<1xf32>
        () = "cf.yield" (%3, %5) {} : (tensor<1xb>, tensor<1xf32>) ->
    }
"#,
    );
    assert!(text.contains("cf.cond_yield (%1, %arg0)"), "{text}");
}

#[test]
fn deep_conditions_do_not_recurse() {
    // A chain of 10,000 operations, each of which reads its operand twice.
    let chain = |first: usize, start: &str| {
        let mut text = String::new();
        for i in 0..10_000 {
            let x = if i == 0 {
                start.to_owned()
            } else {
                format!("%{}", first + i - 1)
            };
            text += &format!(
                "(%{}) = \"pd_op.add\" ({x}, {x}) : (tensor<1xf32>) -> tensor<1xf32>\n",
                first + i
            );
        }
        text
    };
    let text = translated(&format!(
        r#"
    {}
    (%100000) = "pd_op.less_than" (%10009, %2) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xb>
    (%100001) = "pd_op.while" (cond=%100000, inputs=%0) {{
    ^%arg_0 {{}}
        (%100002) = "pd_op.tanh" (%arg_0) : (tensor<1xf32>) -> tensor<1xf32>
        {}
        (%200000) = "pd_op.less_than" (%120009, %2) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xb>
        () = "cf.yield" (%200000, %100002) {{}} : (tensor<1xb>, tensor<1xf32>) ->
    }}
"#,
        chain(10, "%0"),
        chain(110_010, "%100002"),
    ));
    assert_eq!(text.matches("pd.add").count(), 10_000, "in the condition region only");
}

#[test]
fn loops_that_do_not_fit_are_told() {
    let source = r#"{
    (%0) = "pd_op.data" () {dtype:bool,name:"p",shape:[1]} : () -> tensor<1xb>
    (%1) = "pd_op.while" (cond=%0, inputs=%0) {
    ^%arg_0 {}
        () = "cf.yield" (%arg_0) {} : (tensor<1xb>) ->
    }
}"#;
    let errors = paddle::read_printed(&context(), source.as_bytes(), Options::default()).unwrap_err();
    assert_eq!(errors.len(), 1);
    assert!(errors[0].message.contains("do not agree"), "{errors:?}");
}

#[test]
fn stacks_hold_single_values() {
    let text = translated(
        r#"
    (%3, %4, %5) = "cf.stack_create" () {} : () -> cf.stack, cf.inlet, cf.outlet
    (%6) = "pd_op.less_than" (%0, %2) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xb>
    (%7) = "pd_op.while" (cond=%6, inputs=%0) {
    ^%arg_0 {}
        (%8) = "pd_op.tanh" (%arg_0) : (tensor<1xf32>) -> tensor<1xf32>
        () = "cf.tuple_push" (%4, %arg_0, %8) {} : (cf.inlet, tensor<1xf32>, tensor<1xf32>) ->
        (%9) = "pd_op.less_than" (%8, %2) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xb>
        () = "cf.yield" (%9, %8) {} : (tensor<1xb>, tensor<1xf32>) ->
    }
    (%10) = "cf.has_elements" (%3) {} : (cf.stack) -> tensor<1xb>
    (%11) = "pd_op.while" (cond=%10, inputs=%7) {
    ^%arg_1 {}
        (%12, %13) = "cf.tuple_pop" (%5) {} : (cf.outlet) -> tensor<1xf32>, tensor<1xf32>
        (%14) = "pd_op.multiply" (%12, %13) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
        (%15) = "cf.has_elements" (%3) {} : (cf.stack) -> tensor<1xb>
        () = "cf.yield" (%15, %14) {} : (tensor<1xb>, tensor<1xf32>) ->
    }
    () = "cf.tuple_push" (%4) {} : (cf.inlet) ->
    () = "cf.tuple_pop" (%5) {} : (cf.outlet) ->
"#,
    );
    assert_eq!(
        text,
        "\
%1 = cf.create_stack () : cf.stack
%2 = pd.while (%x) cond (%arg0: tensor<1xf32>) {
  %3 = pd.less_than (%arg0, %0) : tensor<1xi1>
  cf.cond_yield (%3, %arg0)
} body (%arg0: tensor<1xf32>) {
  %4 = pd.tanh (%arg0) : tensor<1xf32>
  cf.push_back (%1, %arg0)
  cf.push_back (%1, %4)
  cf.yield (%4)
} : tensor<1xf32>
%5 = pd.while (%2) cond (%arg1: tensor<1xf32>) {
  %6 = cf.is_empty (%1) : i1
  %7 = pd.logical_not (%6) : i1
  cf.cond_yield (%7, %arg1)
} body (%arg1: tensor<1xf32>) {
  %8 = cf.pop_back (%1) : tensor<1xf32>
  %9 = cf.pop_back (%1) : tensor<1xf32>
  %10 = pd.multiply (%9, %8) : tensor<1xf32>
  cf.yield (%10)
} : tensor<1xf32>
%11 = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
cf.push_back (%1, %11)
%12 = cf.pop_back (%1) : tensor<i64>
"
    );
}

#[test]
fn what_changes_after_the_condition_was_computed_keeps_it_there() {
    // The test precedes the pop: in the condition region it would give another result.
    let text = translated(
        r#"
    (%3, %4, %5) = "cf.stack_create" () {} : () -> cf.stack, cf.inlet, cf.outlet
    (%6) = "cf.has_elements" (%3) {} : (cf.stack) -> tensor<1xb>
    (%7) = "pd_op.while" (cond=%6, inputs=%0) {
    ^%arg_0 {}
        (%8) = "cf.has_elements" (%3) {} : (cf.stack) -> tensor<1xb>
        (%9) = "cf.tuple_pop" (%5) {} : (cf.outlet) -> tensor<1xf32>
        () = "cf.yield" (%8, %9) {} : (tensor<1xb>, tensor<1xf32>) ->
    }
"#,
    );
    assert!(text.contains("cond (%go: i1, %arg0: tensor<1xf32>)"), "{text}");
}

#[test]
fn running_statistics_and_parameters_change_in_place() {
    let source = br#"{
    (%0) = "pd_op.data" () {dtype:float32,name:"x",shape:[4,2]} : () -> tensor<4x2xf32>
    (%1) = "pd_op.data" () {dtype:float32,name:"m",shape:[2]} : () -> tensor<2xf32>
    (%2) = "pd_op.data" () {dtype:float32,name:"v",shape:[2]} : () -> tensor<2xf32>
    (%3, %4, %5, %6, %7, %8) = "pd_op.batch_norm_" (%0, %1, %2, %1, %2) {data_format:"NCHW",epsilon:1e-05,is_test:false,momentum:0.9,trainable_statistics:false,use_global_stats:false} : (tensor<4x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<4x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<-1xui8>
    (%9, %10) = "pd_op.sgd_" (%1, %2, %5, <<NULL VALUE>>) {multi_precision:false} : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, <<NULL TYPE>>) -> tensor<2xf32>, <<NULL TYPE>>
    (%11) = "pd_op.fetch" (%1) {col:0,name:"m"} : (tensor<2xf32>) -> tensor<2xf32>
    (%12) = "pd_op.fetch" (%0) {col:1,name:"x"} : (tensor<4x2xf32>) -> tensor<4x2xf32>
}"#;
    let module = paddle::read_printed(&context(), source, Options::default()).unwrap();
    let text = pir_ir::text::print(&module, &Default::default());
    let rest: Vec<&str> = text.lines().skip(3).collect();
    assert_eq!(
        rest,
        [
            "%0, %1, %2, %3, %4, %5 = pd.batch_norm (%x, %m, %v, %m, %v) : tensor<4x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<0xf32>",
            "%6 = pd.sgd_ (%1, %2, %2) : tensor<2xf32>",
            "pd.fetch (%6) {name = \"m\"}",
            "pd.fetch (%x) {name = \"x\", col = 1}",
        ]
    );
}

#[test]
fn changes_in_place_give_new_values() {
    let text = translated(
        r#"
    (%3) = "pd_op.less_than" (%0, %2) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xb>
    (%4, %5) = "pd_op.while" (cond=%3, inputs=%0, %1) {
    ^%arg_0 {}, %arg_1 {}
        (%6) = "pd_op.increment_" (%arg_0) {value:1} : (tensor<1xf32>) -> tensor<1xf32>
        (%7) = "pd_op.tanh" (%arg_0) : (tensor<1xf32>) -> tensor<1xf32>
        (%8) = "pd_op.assign_out_" (%7, %arg_1) {} : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
        (%9) = "pd_op.less_than" (%6, %2) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xb>
        () = "cf.yield" (%9, %arg_0, %arg_1) {} : (tensor<1xb>) ->
    }
"#,
    );
    assert_eq!(
        text,
        "\
%1, %2 = pd.while (%x, %y) cond (%arg0: tensor<1xf32>, %arg1: tensor<1xf32>) {
  %3 = pd.less_than (%arg0, %0) : tensor<1xi1>
  cf.cond_yield (%3, %arg0, %arg1)
} body (%arg0: tensor<1xf32>, %arg1: tensor<1xf32>) {
  %4 = pd.increment (%arg0) : tensor<1xf32>
  %5 = pd.tanh (%4) : tensor<1xf32>
  %6 = pd.assign (%5) : tensor<1xf32>
  cf.yield (%4, %6)
} : tensor<1xf32>, tensor<1xf32>
"
    );
}

#[test]
fn changes_in_place_of_outer_values_are_carried() {
    // In a branch in a loop: the other branch yields the old value, and the loop carries it.
    let text = translated(
        r#"
    (%3) = "pd_op.less_than" (%0, %2) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xb>
    (%9) = "pd_op.while" (cond=%3, inputs=%1) {
    ^%arg_0 {}
        (%4) = "pd_op.less_than" (%0, %1) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xb>
        () = "pd_op.if" (%4) {} -> {
            (%5) = "pd_op.add_" (%0, %arg_0) {} : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
            () = "cf.yield" () {} : () ->
        } else {
            () = "cf.yield" () {} : () ->
        }
        (%6) = "pd_op.increment_" (%0) {value:1} : (tensor<1xf32>) -> tensor<1xf32>
        (%7) = "pd_op.less_than" (%0, %2) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xb>
        () = "cf.yield" (%7, %arg_0) {} : (tensor<1xb>, tensor<1xf32>) ->
    }
    (%8) = "pd_op.tanh" (%0) : (tensor<1xf32>) -> tensor<1xf32>
"#,
    );
    assert_eq!(
        text,
        "\
%1, %2 = pd.while (%y, %x) cond (%arg0: tensor<1xf32>, %x_1: tensor<1xf32>) {
  %3 = pd.less_than (%x_1, %0) : tensor<1xi1>
  cf.cond_yield (%3, %arg0, %x_1)
} body (%arg0: tensor<1xf32>, %x_2: tensor<1xf32>) {
  %4 = pd.less_than (%x_2, %y) : tensor<1xi1>
  %5 = pd.if (%4) then {
    %6 = pd.add (%x_2, %arg0) : tensor<1xf32>
    cf.yield (%6)
  } else {
    cf.yield (%x_2)
  } : tensor<1xf32>
  %7 = pd.increment (%5) : tensor<1xf32>
  cf.yield (%arg0, %7)
} : tensor<1xf32>, tensor<1xf32>
%8 = pd.tanh (%2) : tensor<1xf32>
"
    );
}
