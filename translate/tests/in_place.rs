//! How PaddlePaddle's changes in place are read, and written.

#![allow(clippy::unwrap_used)]

use pir_dialects::context;
use pir_ir::Module;
use pir_translate::paddle::{self, Options};

const HEAD: &str = r#"
    (%0) = "pd_op.data" () {dtype:float32,name:"x",shape:[2,3],stop_gradient:[false]} : () -> tensor<2x3xf32>
    (%1) = "builtin.parameter" () {parameter_name:"w",persistable:[true],stop_gradient:[false]} : () -> tensor<2x3xf32>
    (%2) = "pd_op.scale" (%0, %90) {bias:0,bias_after_scale:true} : (tensor<2x3xf32>, tensor<1xf32>) -> tensor<2x3xf32>
"#;

fn read(rest: &str) -> Result<Module, Vec<pir_ir::Diagnostic>> {
    let one = r#"(%90) = "pd_op.full" () {dtype:float32,shape:[1],value:2} : () -> tensor<1xf32>"#;
    let source = format!("{{\n    {one}\n{HEAD}{rest}}}");
    let options = Options {
        allow_unregistered: true,
    };
    paddle::read_printed(&context(), source.as_bytes(), options)
}

/// The text after the prologue.
fn translated(rest: &str) -> Vec<String> {
    let module = read(rest).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let text = pir_ir::text::print(&module, &Default::default());
    text.lines().skip(3).map(str::to_owned).collect()
}

fn refused(rest: &str) -> String {
    read(rest)
        .unwrap_err()
        .iter()
        .map(|e| format!("{} [{}]\n", e.message, e.code))
        .collect()
}

#[test]
fn everything_that_shares_the_tensor_changes() {
    let text = translated(
        r#"
    (%3) = "pd_op.add_" (%2, %0) {} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    (%4) = "pd_op.share_data_" (%2) {stop_gradient:[true]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    (%5) = "pd_op.tanh_" (%3) {} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    (%6) = "pd_op.multiply" (%2, %3) {} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    (%7) = "pd_op.multiply" (%6, %4) {} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
"#,
    );
    assert_eq!(
        text,
        [
            "%1 = pd.add (%0, %x) : tensor<2x3xf32>",
            "%2 = pd.tanh (%1) : tensor<2x3xf32>",
            "%3 = pd.detach (%2) : tensor<2x3xf32>",
            "%4 = pd.multiply (%2, %2) : tensor<2x3xf32>",
            "%5 = pd.multiply (%4, %3) : tensor<2x3xf32>",
        ]
    );
}

#[test]
fn windows_are_set_to_constants_and_tensors() {
    let text = translated(
        r#"
    (%3) = "pd_op.full_int_array" () {dtype:int64,value:[1]} : () -> tensor<1xi64>
    (%4) = "pd_op.full_int_array" () {dtype:int64,value:[2]} : () -> tensor<1xi64>
    (%5) = "pd_op.full_int_array" () {dtype:int64,value:[1]} : () -> tensor<1xi64>
    (%6) = "pd_op.set_value_" (%2, %3, %4, %5) {axes:[0],decrease_axes:[0],none_axes:[],shape:[1],values:[0.5]} : (tensor<2x3xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x3xf32>
    (%7) = "pd_op.set_value_with_tensor_" (%2, %0, %3, %4, %5) {axes:[0],decrease_axes:[],none_axes:[]} : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x3xf32>
    (%8) = "pd_op.tanh" (%2) {} : (tensor<2x3xf32>) -> tensor<2x3xf32>
"#,
    );
    assert_eq!(
        text,
        [
            "%1 = pd.full {shape = [1], value = 0.5, dtype = f32} : tensor<1xf32>",
            "%2 = pd.set_value_with_tensor (%0, %1) {starts = [1], ends = [2], steps = [1], axes = [0], decrease_axes = [0]} : tensor<2x3xf32>",
            "%3 = pd.set_value_with_tensor (%2, %x) {starts = [1], ends = [2], steps = [1], axes = [0]} : tensor<2x3xf32>",
            "%4 = pd.tanh (%3) : tensor<2x3xf32>",
        ]
    );
}

#[test]
fn parameters_keep_what_they_are_changed_to() {
    let text = translated(
        r#"
    (%3) = "pd_op.add_" (%1, %0) {} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    (%4) = "pd_op.tanh_" (%1) {} : (tensor<2x3xf32>) -> tensor<2x3xf32>
"#,
    );
    assert_eq!(
        text[..],
        [
            "%1 = pd.add (%w, %x) : tensor<2x3xf32>",
            "%2 = pd.assign_out_ (%1, %w) : tensor<2x3xf32>",
            "%3 = pd.tanh (%2) : tensor<2x3xf32>",
            "%4 = pd.assign_out_ (%3, %2) : tensor<2x3xf32>",
        ]
    );
}

#[test]
fn what_is_lost_is_not_read() {
    let text = refused(
        r#"
    (%3) = "pd_op.full" () {dtype:bool,shape:[1],value:1} : () -> tensor<1xb>
    (%4) = "pd_op.while" (cond=%3, inputs=%2) {
    ^%arg_0 {}
        (%5) = "pd_op.tanh_" (%arg_0) {} : (tensor<2x3xf32>) -> tensor<2x3xf32>
        (%6) = "pd_op.full" () {dtype:bool,shape:[1],value:0} : () -> tensor<1xb>
        () = "cf.yield" (%6, %5) {} : (tensor<1xb>, tensor<2x3xf32>) ->
    }
    (%7) = "pd_op.tanh" (%2) {} : (tensor<2x3xf32>) -> tensor<2x3xf32>
"#,
    );
    assert_eq!(
        text,
        "`pd.tanh` has changed this value in place, and its new value is unknown [in-place]\n"
    );
    let text = refused(
        r#"
    (%3) = "pd_op.share_data_" (%2) {stop_gradient:[true]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    (%4) = "pd_op.tanh_" (%3) {} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    (%5) = "pd_op.tanh" (%2) {} : (tensor<2x3xf32>) -> tensor<2x3xf32>
"#,
    );
    assert!(text.contains("`pd.tanh` has changed this value in place"), "{text}");
}

#[test]
fn what_is_not_known_is_kept() {
    let text = translated(
        r#"
    (%3) = "pd_op.decayed_adagrad_" (%2, %0, %1) {} : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    (%4) = "pd_op.dpsgd_" (%1, %2) {} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    (%5) = "pd_op.tanh" (%2) {} : (tensor<2x3xf32>) -> tensor<2x3xf32>
"#,
    );
    assert!(
        text[0].starts_with("%1 = \"pd.decayed_adagrad_\"(%0, %x, %w)"),
        "{text:#?}"
    );
    assert!(text[1].starts_with("%2 = \"pd.dpsgd_\"(%w, %0)"), "{text:#?}");
    assert_eq!(text[2], "%3 = pd.tanh (%0) : tensor<2x3xf32>");
}

#[test]
fn steps_of_optimizers_are_what_their_operands_become() {
    let text = translated(
        r#"
    (%3) = "builtin.parameter" () {parameter_name:"m",persistable:[true]} : () -> tensor<2x3xf32>
    (%4) = "builtin.parameter" () {parameter_name:"p",persistable:[true]} : () -> tensor<1xf32>
    (%5) = "pd_op.full" () {dtype:float32,shape:[1],value:0.5} : () -> tensor<1xf32>
    (%6, %7, %8, %9, %10, %11, %12) = "pd_op.adam_" (%1, %2, %4, %3, %3, <<NULL VALUE>>, %4, %4, <<NULL VALUE>>, <<NULL VALUE>>, %5, %5, %5) {amsgrad:false,lazy_mode:false,min_row_size_to_use_multithread:1000,multi_precision:false,use_global_beta_pow:false} : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<1xf32>, tensor<2x3xf32>, tensor<2x3xf32>, <<NULL TYPE>>, tensor<1xf32>, tensor<1xf32>, <<NULL TYPE>>, <<NULL TYPE>>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, <<NULL TYPE>>, tensor<1xf32>, tensor<1xf32>, <<NULL TYPE>>
    (%13) = "pd_op.tanh" (%1) {} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    (%14) = "pd_op.tanh" (%4) {} : (tensor<1xf32>) -> tensor<1xf32>
    (%15) = "builtin.combine" (%1, %3) {} : (tensor<2x3xf32>, tensor<2x3xf32>) -> vec[tensor<2x3xf32>,tensor<2x3xf32>]
    (%16) = "builtin.combine" (%2, %2) {} : (tensor<2x3xf32>, tensor<2x3xf32>) -> vec[tensor<2x3xf32>,tensor<2x3xf32>]
    (%17) = "builtin.combine" (%4) {} : (tensor<1xf32>) -> vec[tensor<1xf32>]
    (%18, %19, %20) = "pd_op.merged_momentum_" (%15, %16, %16, %17, <<NULL VALUE>>) {mu:0.5,multi_precision:false,regularization_coeff:[0.25,0],regularization_method:["l2_decay",""],rescale_grad:1,use_nesterov:false} : (vec[tensor<2x3xf32>,tensor<2x3xf32>], vec[tensor<2x3xf32>,tensor<2x3xf32>], vec[tensor<2x3xf32>,tensor<2x3xf32>], vec[tensor<1xf32>], <<NULL TYPE>>) -> vec[tensor<0xf32>,tensor<0xf32>], vec[tensor<0xf32>,tensor<0xf32>], <<NULL TYPE>>
    (%21) = "pd_op.tanh" (%1) {} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    (%22) = "pd_op.tanh" (%3) {} : (tensor<2x3xf32>) -> tensor<2x3xf32>
"#,
    );
    let wanted = [
        "%m = pd.parameter {name = \"m\"} : tensor<2x3xf32>",
        "%p = pd.parameter {name = \"p\"} : tensor<1xf32>",
        "%1, %2, %3, %4, %5 = pd.adam_ (%w, %0, %p, %m, %m, %p, %p) {beta1 = 0.5, beta2 = 0.5, epsilon = 0.5, absent_operands = [5, 8, 9]} : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<1xf32>, tensor<1xf32>",
        "%6 = pd.tanh (%1) : tensor<2x3xf32>",
        "%7 = pd.tanh (%5) : tensor<1xf32>",
        "%8, %9 = pd.momentum_ (%1, %0, %0, %5) {mu = 0.5, regularization_method = \"l2_decay\", regularization_coeff = 0.25} : tensor<2x3xf32>, tensor<2x3xf32>",
        "%10, %11 = pd.momentum_ (%3, %9, %9, %5) {mu = 0.5} : tensor<2x3xf32>, tensor<2x3xf32>",
        "%12 = pd.tanh (%8) : tensor<2x3xf32>",
        "%13 = pd.tanh (%10) : tensor<2x3xf32>",
    ];
    assert_eq!(
        text.iter().filter(|line| !line.contains("combine")).collect::<Vec<_>>(),
        wanted
    );
}

#[test]
fn running_statistics_that_are_parameters_are_kept() {
    let norm = |attributes: &str| {
        format!(
            r#"
    (%3) = "builtin.parameter" () {{parameter_name:"m",persistable:[true]}} : () -> tensor<3xf32>
    (%4) = "builtin.parameter" () {{parameter_name:"v",persistable:[true]}} : () -> tensor<3xf32>
    (%5, %6, %7, %8, %9, %10) = "pd_op.batch_norm_" (%0, %3, %4, <<NULL VALUE>>, <<NULL VALUE>>) {{data_format:"NCHW",epsilon:1e-05,momentum:0.9,{attributes}}} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, <<NULL TYPE>>, <<NULL TYPE>>) -> tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<-1xui8>
    (%11) = "pd_op.tanh" (%3) {{}} : (tensor<3xf32>) -> tensor<3xf32>
"#
        )
    };
    let kept = translated(&norm("is_test:false,trainable_statistics:false,use_global_stats:false"));
    let tail = [
        "%7 = pd.assign_out_ (%2, %m) : tensor<3xf32>",
        "%8 = pd.assign_out_ (%3, %v) : tensor<3xf32>",
        "%9 = pd.tanh (%7) : tensor<3xf32>",
    ];
    assert_eq!(kept[kept.len() - 3..], tail, "{kept:#?}");
    for fixed in [
        "is_test:true,trainable_statistics:false,use_global_stats:false",
        "is_test:false,trainable_statistics:false,use_global_stats:true",
    ] {
        let text = translated(&norm(fixed));
        assert_eq!(text.last().unwrap(), "%7 = pd.tanh (%m) : tensor<3xf32>", "{text:#?}");
    }
}

#[test]
fn unknown_operations_may_change_constants_and_conditions() {
    let text = translated(
        r#"
    (%3) = "pd_op.full" () {dtype:float32,shape:[1],value:2} : () -> tensor<1xf32>
    (%4) = "pd_op.frobnicate_" (%3) {} : (tensor<1xf32>) -> tensor<1xf32>
    (%5) = "pd_op.scale" (%0, %3) {bias:0,bias_after_scale:true} : (tensor<2x3xf32>, tensor<1xf32>) -> tensor<2x3xf32>
    (%6) = "pd_op.full_int_array" () {dtype:int64,value:[0]} : () -> tensor<1xi64>
    (%7) = "pd_op.frobnicate_" (%6) {} : (tensor<1xi64>) -> tensor<1xi64>
    (%8) = "pd_op.sum" (%5, %6) {dtype:"",keepdim:false} : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<-1xf32>
"#,
    );
    assert_eq!(text[2], "%3 = pd.scale (%x, %1) : tensor<2x3xf32>");
    assert!(text[5].starts_with("%6 = pd.sum (%3, %4)"), "{text:#?}");
    // An unknown operation without an underscore changes nothing: gradient operations share the constant axes of their
    // primals.
    let text = translated(
        r#"
    (%3) = "pd_op.full_int_array" () {dtype:int64,value:[0]} : () -> tensor<1xi64>
    (%4) = "pd_op.sum" (%0, %3) {dtype:"",keepdim:false} : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<3xf32>
    (%5) = "pd_op.frobnicate_grad" (%0, %4, %3) {} : (tensor<2x3xf32>, tensor<3xf32>, tensor<1xi64>) -> tensor<2x3xf32>
"#,
    );
    assert!(text[1].contains("pd.sum (%x) {axis = [0]"), "{text:#?}");
    // The condition was computed before the change.
    let loops = |before: &str, inside: &str| {
        translated(&format!(
            r#"
    (%3) = "pd_op.data" () {{dtype:float32,name:"n",shape:[1]}} : () -> tensor<1xf32>
    (%4) = "pd_op.full" () {{dtype:float32,shape:[1],value:0}} : () -> tensor<1xf32>
    (%5) = "pd_op.less_than" (%4, %3) {{}} : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xb>
    {before}
    (%7) = "pd_op.while" (cond=%5, inputs=%4) {{
    ^%arg_0 {{}}
        (%8) = "pd_op.exp" (%arg_0) {{}} : (tensor<1xf32>) -> tensor<1xf32>
        (%9) = "pd_op.less_than" (%8, %3) {{}} : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xb>
        {inside}
        () = "cf.yield" (%9, %8) {{}} : (tensor<1xb>, tensor<1xf32>) ->
    }}
"#
        ))
        .join("\n")
    };
    let change = r#"(%6) = "pd_op.frobnicate_" (%3) {} : (tensor<1xf32>) -> tensor<1xf32>"#;
    assert!(loops("", "").contains("cond (%arg0: tensor<1xf32>)"));
    for text in [loops(change, ""), loops("", change)] {
        assert!(
            text.contains("cond (%go: tensor<1xi1>, %arg0: tensor<1xf32>)"),
            "{text}"
        );
    }
}

#[test]
fn attributes_of_older_programs_are_read_or_refused() {
    let program = |ops: &str| {
        let source = format!(
            "{{ // block 0
    var x : LOD_TENSOR.shape(2,3).dtype(float32).stop_gradient(False)
    var y : LOD_TENSOR.shape(2,3).dtype(float32).stop_gradient(False)

    {ops}
}}
"
        );
        paddle::read_program_text(&context(), source.as_bytes(), Options::default())
    };
    let errors = program(
        "{Out=['y']} = swish(inputs={X=['x']}, beta = 2.0, use_mkldnn = True, op_role = 1)
    {Out=['y']} = elementwise_add(inputs={X=['y'], Y=['x']}, Scale_x = 0.5, Scale_y = 1.0, shiny = 7, dull = False, axis = -1)
    {Out=['y']} = less_than(inputs={X=['y'], Y=['x']}, axis = 1)",
    )
    .unwrap_err();
    let messages: Vec<&str> = errors.iter().map(|error| &*error.message).collect();
    let wanted = [
        "the attribute `beta` of `swish` is not supported",
        "the attributes `Scale_x`, `shiny` of `elementwise_add` are not supported",
        "the attribute `axis` of `less_than` is not supported",
    ];
    assert_eq!(messages, wanted);
    let module = program(
        "{Out=['y']} = swish(inputs={X=['x']}, beta = 1.0, use_mkldnn = True)
    {Out=['y']} = cumprod(inputs={X=['y']}, dim = 1, exclusive = True, reverse = False)",
    )
    .unwrap();
    let text = pir_ir::text::print(&module, &Default::default());
    assert!(text.contains("{dim = 1, exclusive = true}"), "{text}");
}

#[test]
fn persistable_variables_of_older_programs_are_kept() {
    let source = "{ // block 0
    var w : LOD_TENSOR.shape(2,).dtype(float32).stop_gradient(False)
    persist var step : LOD_TENSOR.shape(1,).dtype(int64).stop_gradient(True)

    {Out=['step']} = increment(inputs={X=['step']}, step = 1.0)
    {Out=['w']} = fill_constant(inputs={}, dtype = 5, shape = [2], value = 1.0)
}
";
    let module = paddle::read_program_text(&context(), source.as_bytes(), Options::default()).unwrap();
    let text = pir_ir::text::print(&module, &Default::default());
    assert!(text.contains("= pd.assign_out_ (%0, %step)"), "{text}");
    assert!(!text.contains("pd.assign_out_ (%w"), "{text}");
    // Statistics change in training only.
    for (attributes, kept) in [
        ("is_test = False", 2),
        ("is_test = True", 0),
        ("is_test = False, use_global_stats = True", 0),
    ] {
        let source = format!(
            "{{ // block 0
    var x : LOD_TENSOR.shape(4,2).dtype(float32).stop_gradient(False)
    var y : LOD_TENSOR.shape(4,2).dtype(float32).stop_gradient(False)
    persist var m : LOD_TENSOR.shape(2,).dtype(float32).stop_gradient(True)
    persist var v : LOD_TENSOR.shape(2,).dtype(float32).stop_gradient(True)

    {{MeanOut=['m'], VarianceOut=['v'], Y=['y']}} = batch_norm(inputs={{Mean=['m'], Variance=['v'], X=['x']}}, {attributes})
}}
"
        );
        let module = paddle::read_program_text(&context(), source.as_bytes(), Options::default()).unwrap();
        let text = pir_ir::text::print(&module, &Default::default());
        assert_eq!(text.matches("pd.assign_out_").count(), kept, "{text}");
    }
}

#[test]
fn what_is_read_behind_a_change_is_a_copy_there() {
    let source = r#"
%w = pd.parameter {name = "w"} : tensor<2xf32>
%r = pd.full {shape = [1], value = 0.1, dtype = f32} : tensor<1xf32>
%n = pd.sgd_ (%w, %r, %w) : tensor<2xf32>
%y = pd.tanh (%w) : tensor<2xf32>
pd.fetch (%y) {name = "y"}
pd.fetch (%n) {name = "n"}
"#;
    let parsed = pir_ir::text::parse(&context(), source.as_bytes(), &Default::default());
    assert!(parsed.diagnostics.is_empty());
    let written = paddle::write_printed(&parsed.module).unwrap();
    let names: Vec<&str> = written.lines().filter_map(|line| line.split('"').nth(1)).collect();
    let at = |name: &str| names.iter().position(|n| *n == name).unwrap();
    assert!(
        at("pd_op.assign") < at("pd_op.sgd_") && at("pd_op.sgd_") < at("pd_op.tanh"),
        "{written}"
    );
    let copy = written.lines().find(|line| line.contains("pd_op.assign")).unwrap();
    let copy = copy
        .trim()
        .split(')')
        .next()
        .unwrap()
        .trim_start_matches('(')
        .to_owned();
    let tanh = written.lines().find(|line| line.contains("pd_op.tanh")).unwrap();
    assert!(tanh.contains(&format!("({copy})")), "{written}");
}
