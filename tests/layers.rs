//! The gradient rules of layers, activation functions, linear algebra and scattering against central differences in f64, of
//! first and second order.

#![allow(clippy::unwrap_used, reason = "in tests a panic is a failure")]

mod common;

use common::check_operation as check;

#[test]
fn convolutions() {
    let ctx = pir_dialects::context();
    type Case = (&'static str, [usize; 4], [usize; 4], [usize; 4]);
    let cases: [Case; 8] = [
        ("", [2, 2, 4, 5], [3, 2, 2, 3], [2, 3, 3, 3]),
        (
            "strides = [2, 1], paddings = [1, 0]",
            [1, 2, 4, 4],
            [2, 2, 3, 2],
            [1, 2, 2, 3],
        ),
        ("paddings = [1, 0, 0, 2]", [1, 1, 3, 3], [1, 1, 2, 2], [1, 1, 3, 4]),
        ("dilations = [2, 1]", [1, 1, 5, 3], [1, 1, 2, 2], [1, 1, 3, 2]),
        (
            "groups = 2, paddings = [1, 1]",
            [1, 4, 3, 3],
            [2, 2, 3, 3],
            [1, 2, 3, 3],
        ),
        (
            "padding_algorithm = \"SAME\", strides = [2, 2]",
            [1, 1, 5, 4],
            [1, 1, 3, 3],
            [1, 1, 3, 2],
        ),
        (
            "padding_algorithm = \"VALID\", paddings = [3, 3]",
            [1, 1, 3, 3],
            [1, 1, 2, 2],
            [1, 1, 2, 2],
        ),
        ("data_format = \"NHWC\"", [1, 3, 3, 2], [2, 2, 2, 2], [1, 2, 2, 2]),
    ];
    for (attrs, image, filter, out) in cases {
        let inputs: [(&str, &[usize], f64, f64); 2] = [("x", &image, -1.0, 1.0), ("y", &filter, -1.0, 1.0)];
        check(&ctx, &inputs, &format!("%o = pd.conv2d (%x, %y) {{{attrs}}}"), &out);
    }
    check(
        &ctx,
        &[("x", &[1, 2, 3, 3], -1.0, 1.0), ("y", &[2, 1, 2, 2], -1.0, 1.0)],
        "%o = pd.depthwise_conv2d (%x, %y) {groups = 2}",
        &[1, 2, 2, 2],
    );
    check(
        &ctx,
        &[("x", &[0, 1, 3, 3], -1.0, 1.0), ("y", &[2, 1, 2, 2], -1.0, 1.0)],
        "%o = pd.conv2d (%x, %y)",
        &[0, 2, 2, 2],
    );
    for (attrs, image, filter, out) in [
        ("", [1, 2, 2, 3], [2, 3, 2, 2], [1, 3, 3, 4]),
        (
            "strides = [2, 2], paddings = [1, 0]",
            [1, 1, 3, 2],
            [1, 1, 3, 2],
            [1, 1, 5, 4],
        ),
        (
            "strides = [2, 2], output_padding = [1, 0]",
            [1, 1, 2, 2],
            [1, 1, 2, 2],
            [1, 1, 5, 4],
        ),
        (
            "strides = [2, 2], output_size = [5, 4]",
            [1, 1, 2, 2],
            [1, 1, 2, 2],
            [1, 1, 5, 4],
        ),
        (
            "groups = 2, dilations = [1, 2]",
            [1, 2, 2, 2],
            [2, 2, 1, 2],
            [1, 4, 2, 4],
        ),
    ] {
        let inputs: [(&str, &[usize], f64, f64); 2] = [("x", &image, -1.0, 1.0), ("y", &filter, -1.0, 1.0)];
        check(
            &ctx,
            &inputs,
            &format!("%o = pd.conv2d_transpose (%x, %y) {{{attrs}}}"),
            &out,
        );
    }
}

#[test]
fn poolings() {
    let ctx = pir_dialects::context();
    for (attrs, image, out) in [
        ("kernel_size = [2, 2], strides = [2, 2]", [2, 2, 4, 4], [2, 2, 2, 2]),
        ("kernel_size = [3, 2], paddings = [1, 0]", [1, 1, 4, 3], [1, 1, 4, 2]),
        (
            "kernel_size = [2, 2], strides = [2, 2], ceil_mode = true",
            [1, 1, 5, 3],
            [1, 1, 3, 2],
        ),
        ("kernel_size = [3, 2], adaptive = true", [1, 2, 5, 4], [1, 2, 3, 2]),
        (
            "kernel_size = [1, 1], global_pooling = true",
            [1, 2, 3, 3],
            [1, 2, 1, 1],
        ),
        (
            "kernel_size = [2, 2], data_format = \"NHWC\"",
            [1, 3, 3, 2],
            [1, 2, 2, 2],
        ),
        (
            "kernel_size = [3, 3], strides = [2, 2], padding_algorithm = \"SAME\"",
            [1, 1, 4, 5],
            [1, 1, 2, 3],
        ),
    ] {
        for kind in ["max", "avg"] {
            let line = format!("%o = pd.pool2d (%x) {{{attrs}, pooling_type = \"{kind}\"}}");
            check(&ctx, &[("x", &image, -1.0, 1.0)], &line, &out);
        }
    }
    let line =
        "%o = pd.pool2d (%x) {kernel_size = [3, 3], paddings = [1, 1], exclusive = false, pooling_type = \"avg\"}";
    check(&ctx, &[("x", &[1, 1, 3, 3], -1.0, 1.0)], line, &[1, 1, 3, 3]);
    let line = "%o, %mask = pd.max_pool2d_with_index (%x) {kernel_size = [2, 2], strides = [1, 2]}";
    check(&ctx, &[("x", &[2, 1, 3, 4], -1.0, 1.0)], line, &[2, 1, 2, 2]);
}

#[test]
fn normalisations() {
    let ctx = pir_dialects::context();
    let x = |shape: &'static [usize]| ("x", shape, -1.0, 1.0);
    for (axis, shape) in [(-1, &[2, 3][..]), (0, &[3, 2]), (1, &[2, 3, 2]), (0, &[])] {
        for op in ["softmax", "log_softmax"] {
            if shape.is_empty() {
                continue;
            }
            check(
                &ctx,
                &[("x", shape, -1.0, 1.0)],
                &format!("%o = pd.{op} (%x) {{axis = {axis}}}"),
                shape,
            );
        }
    }
    let scale = |n: &'static [usize]| ("s", n, 0.5, 1.5);
    let shift = |n: &'static [usize]| ("b", n, -1.0, 1.0);
    check(
        &ctx,
        &[x(&[2, 3, 4]), scale(&[4]), shift(&[4])],
        "%o, %m, %v = pd.layer_norm (%x, %s, %b) {begin_norm_axis = 2}",
        &[2, 3, 4],
    );
    check(
        &ctx,
        &[x(&[2, 3, 2]), scale(&[6]), shift(&[6])],
        "%o, %m, %v = pd.layer_norm (%x, %s, %b) {begin_norm_axis = 1}",
        &[2, 3, 2],
    );
    check(
        &ctx,
        &[x(&[2, 3]), shift(&[3])],
        "%o, %m, %v = pd.layer_norm (%x, %b) {absent_operands = [1]}",
        &[2, 3],
    );
    check(
        &ctx,
        &[x(&[2, 3])],
        "%n, %m, %v = pd.layer_norm (%x)\n%o = pd.multiply (%m, %v)",
        &[2],
    );
    check(
        &ctx,
        &[x(&[2, 4, 2, 1]), scale(&[4]), shift(&[4])],
        "%o, %m, %v = pd.group_norm (%x, %s, %b) {groups = 2}",
        &[2, 4, 2, 1],
    );
    check(
        &ctx,
        &[x(&[2, 2, 1, 4]), scale(&[4]), shift(&[4])],
        "%o, %m, %v = pd.group_norm (%x, %s, %b) {groups = 2, data_format = \"NHWC\"}",
        &[2, 2, 1, 4],
    );
    check(
        &ctx,
        &[x(&[2, 2, 2, 2]), scale(&[2]), shift(&[2])],
        "%o, %m, %v = pd.instance_norm (%x, %s, %b)",
        &[2, 2, 2, 2],
    );
    let statistics = [("m", &[2][..], -0.5, 0.5), ("v", &[2][..], 0.5, 1.5)];
    for attrs in ["", "is_test = true", "use_global_stats = true"] {
        let line = format!("%o, %1, %2, %3, %4, %5 = pd.batch_norm (%x, %m, %v, %s, %b) {{{attrs}}}");
        let inputs = [x(&[3, 2, 2]), statistics[0], statistics[1], scale(&[2]), shift(&[2])];
        let given = match attrs {
            "" => vec![inputs[0], inputs[3], inputs[4]],
            _ => inputs.to_vec(),
        };
        let line = match attrs {
            "" => format!(
                "%m = pd.full {{shape = [2], value = 0.0, dtype = f64}}\n%v = pd.full {{shape = [2], value = 1.0, dtype = f64}}\n{line}"
            ),
            _ => line,
        };
        check(&ctx, &given, &line, &[3, 2, 2]);
    }
    let line = "%y, %o, %2, %3, %4, %5 = pd.batch_norm (%x, %m, %v, %s, %b) {data_format = \"NHWC\"}";
    let inputs = [x(&[3, 2, 2]), statistics[0], statistics[1], scale(&[2]), shift(&[2])];
    let line = format!(
        "{line}\n%used = pd.sum (%y)\n%more = pd.sum (%2)\n%both = pd.multiply (%used, %more)\n%o2 = pd.add (%o, %both)"
    );
    check(
        &ctx,
        &inputs,
        &line
            .replace("%o,", "%first,")
            .replace("(%o,", "(%first,")
            .replace("%o2", "%o"),
        &[2],
    );
}

#[test]
fn losses() {
    let ctx = pir_dialects::context();
    let x = ("x", &[3, 4][..], -1.0, 1.0);
    let label = "%l = pd.full_int_array {value = [2, 0, 3], dtype = i64}\n";
    check(
        &ctx,
        &[x],
        &format!("{label}%p, %o = pd.cross_entropy_with_softmax (%x, %l)"),
        &[3, 1],
    );
    check(
        &ctx,
        &[x],
        &format!(
            "{label}%k = pd.reshape (%l) {{shape = [3, 1]}}\n%o, %c = pd.cross_entropy_with_softmax (%x, %k) {{ignore_index = 0}}"
        ),
        &[3, 4],
    );
    check(
        &ctx,
        &[x],
        &format!("{label}%p, %o = pd.cross_entropy_with_softmax (%x, %l) {{ignore_index = 3}}"),
        &[3, 1],
    );
    check(
        &ctx,
        &[("x", &[3, 2][..], -1.0, 1.0), ("t", &[3, 2], 0.1, 0.9)],
        "%p, %o = pd.cross_entropy_with_softmax (%x, %t) {soft_label = true, axis = 0}",
        &[1, 2],
    );
    check(
        &ctx,
        &[("x", &[3, 2][..], 0.1, 0.9), ("t", &[3, 2], 0.1, 0.9)],
        "%p, %o = pd.cross_entropy_with_softmax (%x, %t) {soft_label = true, use_softmax = false}",
        &[3, 1],
    );
    let two = [("x", &[2, 3][..], 0.1, 0.9), ("t", &[2, 3][..], 0.1, 0.9)];
    for line in [
        "%o = pd.bce_loss (%x, %t)",
        "%o = pd.log_loss (%x, %t) {epsilon = 0.01}",
        "%o, %r = pd.huber_loss (%x, %t) {delta = 0.3}",
        "%r, %o = pd.huber_loss (%x, %t) {delta = 0.3}",
        "%o = pd.kldiv_loss (%x, %t) {reduction = \"none\"}",
        "%o = pd.kldiv_loss (%x, %t) {reduction = \"none\", log_target = true}",
        "%o = pd.sigmoid_cross_entropy_with_logits (%x, %t)",
        "%o = pd.sigmoid_cross_entropy_with_logits (%x, %t) {normalize = true}",
    ] {
        check(&ctx, &two, line, &[2, 3]);
    }
    let labels = "%l = pd.full_int_array {value = [2, 0, 1, 2], dtype = i64}\n";
    for (reduction, out) in [("mean", &[][..]), ("sum", &[]), ("none", &[4])] {
        for rest in ["", ", ignore_index = 0"] {
            let attrs = format!("{{reduction = \"{reduction}\"{rest}}}");
            let x = ("x", &[4, 3][..], -1.0, 1.0);
            check(
                &ctx,
                &[x],
                &format!("{labels}%o, %t = pd.nll_loss (%x, %l) {attrs}"),
                out,
            );
            let line = format!("{labels}%o, %t = pd.nll_loss (%x, %l, %w) {attrs}");
            check(&ctx, &[x, ("w", &[3], 0.5, 1.5)], &line, out);
        }
    }
    check(
        &ctx,
        &[("x", &[2, 3, 2], -1.0, 1.0), ("w", &[3], 0.5, 1.5)],
        &format!("{labels}%m = pd.reshape (%l) {{shape = [2, 2]}}\n%o, %t = pd.nll_loss (%x, %m, %w)"),
        &[],
    );
    for reduction in ["mean", "sum", "batchmean"] {
        check(
            &ctx,
            &two,
            &format!("%o = pd.kldiv_loss (%x, %t) {{reduction = \"{reduction}\"}}"),
            &[],
        );
    }
    check(
        &ctx,
        &[two[0], two[1], ("w", &[3], 0.5, 1.5)],
        "%o = pd.sigmoid_cross_entropy_with_logits (%x, %t, %w)",
        &[2, 3],
    );
}

#[test]
fn activations() {
    let ctx = pir_dialects::context();
    let stretches = [(-0.9, -0.1), (0.1, 0.9), (1.1, 1.9), (6.1, 7.0), (-7.0, -6.1)];
    for line in [
        "pd.gelu (%x)",
        "pd.gelu (%x) {approximate = true}",
        "pd.silu (%x)",
        "pd.swish (%x)",
        "pd.softplus (%x)",
        "pd.softplus (%x) {beta = 2.0, threshold = 2.0}",
        "pd.elu (%x) {alpha = 0.7}",
        "pd.selu (%x)",
        "pd.celu (%x) {alpha = 0.7}",
        "pd.leaky_relu (%x)",
        "pd.relu6 (%x)",
        "pd.hardswish (%x)",
        "pd.hardsigmoid (%x)",
        "pd.hardtanh (%x) {t_min = -1.0, t_max = 1.0}",
        "pd.mish (%x)",
        "pd.logsigmoid (%x)",
        "pd.softsign (%x)",
        "pd.tanh_shrink (%x)",
        "pd.softshrink (%x) {threshold = 1.0}",
        "pd.hardshrink (%x) {threshold = 1.0}",
        "pd.thresholded_relu (%x) {threshold = 1.0}",
        "pd.stanh (%x)",
        "pd.asinh (%x)",
    ] {
        for (low, high) in stretches {
            check(&ctx, &[("x", &[2, 2], low, high)], &format!("%o = {line}"), &[2, 2]);
        }
        check(&ctx, &[("x", &[], 0.1, 0.9)], &format!("%o = {line}"), &[]);
        check(&ctx, &[("x", &[0, 2], 0.1, 0.9)], &format!("%o = {line}"), &[0, 2]);
    }
    check(&ctx, &[("x", &[3], 1.1, 2.0)], "%o = pd.acosh (%x)", &[3]);
    check(&ctx, &[("x", &[3], -0.9, 0.9)], "%o = pd.atanh (%x)", &[3]);
    check(&ctx, &[("x", &[2, 4], -1.0, 1.0)], "%o = pd.swiglu (%x)", &[2, 2]);
    let two = [("x", &[2, 2][..], -1.0, 1.0), ("y", &[2, 2][..], -1.0, 1.0)];
    check(&ctx, &two, "%o = pd.swiglu (%x, %y)", &[2, 2]);
    for attrs in [
        "seed = 3",
        "seed = 3, mode = \"downscale_in_infer\"",
        "is_test = true, mode = \"downscale_in_infer\"",
        "is_test = true",
    ] {
        let line = format!("%o, %m = pd.dropout (%x) {{p = 0.4, {attrs}}}");
        check(&ctx, &[("x", &[3, 4], -1.0, 1.0)], &line, &[3, 4]);
    }
}

#[test]
fn linear_algebra() {
    let ctx = pir_dialects::context();
    let two = |a: &'static [usize], b: &'static [usize]| [("x", a, -1.0, 1.0), ("y", b, -1.0, 1.0)];
    check(&ctx, &two(&[2, 2, 3], &[2, 3, 2]), "%o = pd.bmm (%x, %y)", &[2, 2, 2]);
    check(&ctx, &two(&[2, 3], &[3]), "%o = pd.mv (%x, %y)", &[2]);
    check(&ctx, &two(&[3], &[3]), "%o = pd.dot (%x, %y)", &[]);
    check(&ctx, &two(&[2, 3], &[2, 3]), "%o = pd.dot (%x, %y)", &[2]);
    check(&ctx, &two(&[2, 3], &[2, 1]), "%o = pd.kron (%x, %y)", &[4, 3]);
    check(&ctx, &two(&[2], &[2, 3]), "%o = pd.kron (%x, %y)", &[2, 6]);
    check(
        &ctx,
        &[
            ("z", &[3], -1.0, 1.0),
            ("x", &[2, 2], -1.0, 1.0),
            ("y", &[2, 3], -1.0, 1.0),
        ],
        "%o = pd.addmm (%z, %x, %y) {beta = 0.5, alpha = 2.0}",
        &[2, 3],
    );
    let x = |shape: &'static [usize]| [("x", shape, -1.0, 1.0)];
    for (attrs, out) in [
        ("", &[4][..]),
        ("offset = -1", &[4]),
        ("offset = 1, axis1 = 2, axis2 = 0", &[3]),
    ] {
        check(&ctx, &x(&[2, 3, 4]), &format!("%o = pd.trace (%x) {{{attrs}}}"), out);
    }
    check(
        &ctx,
        &x(&[2, 3, 4]),
        "%o = pd.diagonal (%x) {offset = 1, axis1 = 1, axis2 = 2}",
        &[2, 3],
    );
    check(&ctx, &x(&[2, 3]), "%o = pd.diag (%x) {offset = 1}", &[2]);
    check(
        &ctx,
        &x(&[2]),
        "%o = pd.diag (%x) {offset = -1, padding_value = 3.0}",
        &[3, 3],
    );
    let x = |shape: &'static [usize]| [("x", shape, 0.5, 1.5)];
    check(&ctx, &x(&[2, 3]), "%o = pd.squared_l2_norm (%x)", &[1]);
    check(&ctx, &x(&[2, 3]), "%o = pd.mean_all (%x)", &[]);
    check(
        &ctx,
        &x(&[2, 3]),
        "%o = pd.frobenius_norm (%x) {axis = [0, 1], keep_dim = true}",
        &[1, 1],
    );
    for order in ["2.0", "1.0", "3.0", "1.5", "inf", "-inf", "0.0"] {
        check(
            &ctx,
            &x(&[2, 3]),
            &format!("%o = pd.p_norm (%x) {{porder = {order}}}"),
            &[2],
        );
        let line = format!("%o = pd.p_norm (%x) {{porder = {order}, axis = 0, keepdim = true}}");
        check(&ctx, &x(&[2, 3]), &line, &[1, 3]);
        check(
            &ctx,
            &x(&[2, 3]),
            &format!("%o = pd.p_norm (%x) {{porder = {order}, asvector = true}}"),
            &[],
        );
    }
    for (attrs, out) in [
        ("axis = [1]", &[2][..]),
        ("axis = [0, 1], keepdim = true", &[1, 1]),
        ("reduce_all = true", &[]),
    ] {
        check(&ctx, &x(&[2, 3]), &format!("%o = pd.logsumexp (%x) {{{attrs}}}"), out);
    }
    for attrs in [
        "dim = 0",
        "dim = 1, reverse = true",
        "dim = -1, exclusive = true",
        "dim = 0, exclusive = true, reverse = true",
    ] {
        check(&ctx, &x(&[3, 2]), &format!("%o = pd.cumprod (%x) {{{attrs}}}"), &[3, 2]);
    }
    for op in ["amax", "amin"] {
        check(&ctx, &x(&[2, 3]), &format!("%o = pd.{op} (%x) {{axis = [1]}}"), &[2]);
    }
    for (equation, a, b, out) in [
        ("ij,jk->ik", &[2, 3][..], &[3, 2][..], &[2, 2][..]),
        ("bij,bkj->bik", &[2, 2, 3], &[2, 1, 3], &[2, 2, 1]),
        ("ij,ij->", &[2, 3], &[2, 3], &[]),
        ("i,j->ji", &[2], &[3], &[3, 2]),
        ("ij,k->kj", &[2, 3], &[2], &[2, 3]),
    ] {
        let line = format!("%o = pd.einsum (%x, %y) {{equation = \"{equation}\"}}");
        check(&ctx, &[("x", a, -1.0, 1.0), ("y", b, -1.0, 1.0)], &line, out);
    }
    check(&ctx, &x(&[2, 3]), "%o = pd.einsum (%x) {equation = \"ij->j\"}", &[3]);
    check(
        &ctx,
        &[
            ("x", &[2, 3], -1.0, 1.0),
            ("y", &[3, 2], -1.0, 1.0),
            ("z", &[2, 2], -1.0, 1.0),
        ],
        "%o = pd.einsum (%x, %y, %z) {equation = \"ij,jk,kl->il\"}",
        &[2, 2],
    );
    check(
        &ctx,
        &[("x", &[2, 2], -1.0, 1.0), ("y", &[3], -1.0, 1.0)],
        "%o = pd.outer (%x, %y)",
        &[4, 3],
    );
    let layer = [
        ("x", &[2, 2, 3][..], -1.0, 1.0),
        ("w", &[3, 4], -1.0, 1.0),
        ("b", &[4], -1.0, 1.0),
    ];
    check(&ctx, &layer, "%o = pd.linear (%x, %w, %b)", &[2, 2, 4]);
    check(&ctx, &layer[..2], "%o = pd.linear (%x, %w)", &[2, 2, 4]);
    let x = ("x", &[2, 3, 2][..], -1.0, 1.0);
    for (shape, attrs) in [
        (&[1][..], "{}"),
        (&[3], "{mode = \"channel\"}"),
        (&[2], "{mode = \"channel\", data_format = \"NHWC\"}"),
        (&[3, 2], "{mode = \"element\"}"),
    ] {
        let slope = ("a", shape, 0.1, 0.5);
        check(
            &ctx,
            &[x, slope],
            &format!("%o = pd.prelu (%x, %a) {attrs}"),
            &[2, 3, 2],
        );
    }
    check(
        &ctx,
        &[
            ("x", &[2, 2], -1.0, 1.0),
            ("r", &[1], 0.1, 0.2),
            ("y", &[2, 2], -1.0, 1.0),
        ],
        "%o = pd.sgd_ (%x, %r, %y)",
        &[2, 2],
    );
}

#[test]
fn windows_that_are_set() {
    let ctx = pir_dialects::context();
    let cases: [(&str, &[usize]); 7] = [
        ("starts = [1], ends = [3], steps = [1], axes = [0]", &[2, 4]),
        (
            "starts = [-2], ends = [-1], steps = [1], axes = [0], decrease_axes = [0]",
            &[4],
        ),
        (
            "starts = [2, 0], ends = [-9, 9], steps = [-1, 2], axes = [0, 1]",
            &[3, 2],
        ),
        (
            "starts = [0, 1], ends = [9, 2], steps = [2, 1], axes = [0, 1], decrease_axes = [1]",
            &[1],
        ),
        (
            "starts = [0], ends = [2], steps = [1], axes = [0], none_axes = [1]",
            &[2, 1, 1],
        ),
        (
            "starts = [1], ends = [2], steps = [1], axes = [0], decrease_axes = [0], none_axes = [1, 2]",
            &[4, 1],
        ),
        ("starts = [3], ends = [3], steps = [1], axes = [0]", &[1, 4]),
    ];
    for (attrs, values) in cases {
        let inputs: [(&str, &[usize], f64, f64); 2] = [("x", &[3, 4], -1.0, 1.0), ("y", values, -1.0, 1.0)];
        check(
            &ctx,
            &inputs,
            &format!("%o = pd.set_value_with_tensor (%x, %y) {{{attrs}}}"),
            &[3, 4],
        );
    }
    // Bounds that are computed.
    let bounds =
        "%s = pd.full_int_array {value = [1], dtype = i64}\n%e = pd.full_int_array {value = [2], dtype = i64}\n";
    for line in [
        "%o = pd.set_value_with_tensor (%x, %y, %s, %e) {axes = [1], decrease_axes = [1], steps = [1]}",
        "%o = pd.set_value_with_tensor (%x, %y, %e) {axes = [1], decrease_axes = [1], starts = [1], steps = [1], absent_operands = [2]}",
    ] {
        let inputs: [(&str, &[usize], f64, f64); 2] = [("x", &[3, 4], -1.0, 1.0), ("y", &[3], -1.0, 1.0)];
        check(&ctx, &inputs, &format!("{bounds}{line}"), &[3, 4]);
    }
}

#[test]
fn picking_and_putting() {
    let ctx = pir_dialects::context();
    let x = ("x", &[3, 4][..], -1.0, 1.0);
    for (line, out) in [
        ("%o, %i = pd.topk (%x) {k = 2}", &[3, 2][..]),
        ("%o, %i = pd.topk (%x) {k = 2, axis = 0, largest = false}", &[2, 4]),
        ("%o, %i = pd.argsort (%x) {axis = 0, descending = true}", &[3, 4]),
        ("%o, %i = pd.argsort (%x)", &[3, 4]),
        ("%o, %i = pd.kthvalue (%x) {k = 2}", &[3]),
        ("%o, %i = pd.kthvalue (%x) {k = 3, axis = 0, keepdim = true}", &[1, 4]),
        ("%o, %i = pd.cummax (%x)", &[3, 4]),
        ("%o, %i = pd.cummin (%x) {axis = 0, dtype = i32}", &[3, 4]),
        (
            "%o = pd.strided_slice (%x) {axes = [0, 1], starts = [2, 0], ends = [-10, 4], strides = [-1, 2]}",
            &[3, 2],
        ),
        ("%o = pd.repeat_interleave (%x) {repeats = 2, axis = 1}", &[3, 8]),
        ("%o = pd.assign_out_ (%x, %x)", &[3, 4]),
        (
            "%a, %b, %c = pd.unbind (%x) {axis = 0}\n%o = pd.multiply (%a, %c)",
            &[4],
        ),
        (
            "%i = pd.full {shape = [3, 2], value = 1, dtype = i64}\n%o = pd.index_sample (%x, %i)",
            &[3, 2],
        ),
        (
            "%s = pd.full_int_array {value = [1, -3], dtype = i64}\n%e = pd.full_int_array {value = [2, 99], dtype = i64}\n\
             %o = pd.slice (%x, %s, %e) {axes = [0, 1], decrease_axis = [0]}",
            &[3],
        ),
        (
            "%e = pd.full_int_array {value = [2], dtype = i64}\n%p = pd.slice (%x, %e) {axes = [0], starts = [0]}\n\
             %q = pd.square (%p)\n%o = pd.concat (%x, %q, %x) {axis = 0}",
            &[8, 4],
        ),
        ("%y = pd.square (%x)\n%o = pd.stack (%x, %y)", &[2, 3, 4]),
        (
            "%z = pd.full {shape = [3, 4], value = 0.0, dtype = f64}\n%m = pd.greater_than (%x, %z)\n%s = pd.masked_select (%x, %m)\n%o = pd.sum (%s)",
            &[],
        ),
        (
            "%f = pd.full_int_array {value = [2, 0, 2, 1], dtype = i64}\n%i = pd.reshape (%f) {shape = [2, 2]}\n%o = pd.embedding (%i, %x)",
            &[2, 2, 4],
        ),
        (
            "%f = pd.full_int_array {value = [2, 0, 2, 1], dtype = i64}\n%o = pd.embedding (%f, %x) {padding_idx = 2}",
            &[4, 4],
        ),
    ] {
        check(&ctx, &[x], line, out);
    }
    let rows = "%i = pd.full_int_array {value = [2, 0, 2], dtype = i64}\n";
    let updates = ("y", &[3, 4][..], -1.0, 1.0);
    for line in [
        "%o = pd.scatter (%x, %i, %y)",
        "%o = pd.scatter (%x, %i, %y) {overwrite = false}",
        "%o = pd.index_add (%x, %i, %y) {axis = 0}",
        "%j = pd.reshape (%i) {shape = [3, 1]}\n%o = pd.scatter_nd_add (%x, %j, %y)",
        "%j = pd.reshape (%i) {shape = [3, 1]}\n%k = pd.expand (%j) {shape = [3, 4]}\n%o = pd.put_along_axis (%x, %k, %y) {axis = 0}",
        "%j = pd.reshape (%i) {shape = [3, 1]}\n%k = pd.expand (%j) {shape = [3, 4]}\n%o = pd.put_along_axis (%x, %k, %y) {axis = 0, reduce = \"add\"}",
    ] {
        check(&ctx, &[x, updates], &format!("{rows}{line}"), &[3, 4]);
    }
    check(
        &ctx,
        &[x, ("y", &[], -1.0, 1.0)],
        "%z = pd.full {shape = [3, 4], value = 0.0, dtype = f64}\n%m = pd.greater_than (%x, %z)\n%o = pd.masked_fill (%x, %m, %y)",
        &[3, 4],
    );
    check(
        &ctx,
        &[("x", &[2], -1.0, 1.0), ("y", &[3], -1.0, 1.0)],
        "%a, %b = pd.meshgrid (%x, %y)\n%o = pd.multiply (%a, %b)",
        &[2, 3],
    );
    for mode in ["constant", "reflect", "replicate", "circular"] {
        let line = format!("%o = pd.pad3d (%x) {{paddings = [1, 2, 1, 0, 0, 1], mode = \"{mode}\", pad_value = 2.0}}");
        check(&ctx, &[("x", &[1, 2, 2, 2, 3], -1.0, 1.0)], &line, &[1, 2, 3, 3, 6]);
    }
}

#[test]
fn recurrent_networks() {
    let ctx = pir_dialects::context();
    for (mode, gates, states, both) in [("RNN_TANH", 1, 1, false), ("LSTM", 4, 2, false), ("GRU", 3, 1, true)] {
        let directions = if both { 2 } else { 1 };
        let rows = 2 * gates;
        let (w_input, w_state, bias, state) = ([rows, 2], [rows, 2], [rows], [directions, 1, 2]);
        let mut inputs: Vec<(String, &[usize])> = vec![("x".to_owned(), &[2, 1, 2])];
        let mut names = Vec::new();
        for d in 0..directions {
            inputs.extend([(format!("wi{d}"), &w_input[..]), (format!("ws{d}"), &w_state[..])]);
            names.push(format!("%wi{d}, %ws{d}"));
        }
        for d in 0..directions {
            inputs.extend([(format!("bi{d}"), &bias[..]), (format!("bs{d}"), &bias[..])]);
            names.push(format!("%bi{d}, %bs{d}"));
        }
        let state_names: Vec<String> = (0..states).map(|s| format!("h{s}")).collect();
        inputs.extend(state_names.iter().map(|n| (n.clone(), &state[..])));
        let inputs: Vec<(&str, &[usize], f64, f64)> = inputs.iter().map(|(n, s)| (n.as_str(), *s, -1.0, 1.0)).collect();
        let list: Vec<String> = state_names.iter().map(|n| format!("%{n}")).collect();
        let parts: Vec<String> = (0..states).map(|s| format!("%last{s}")).collect();
        let line = format!(
            "%states = builtin.combine ({})\n%weights = builtin.combine ({})\n\
             %unused = pd.full {{shape = [0], value = 0, dtype = i64}}\n\
             %out, %1, %last, %2 = pd.rnn (%x, %states, %weights, %unused) {{absent_operands = [3], is_bidirec = {both}, \
             input_size = 2, hidden_size = 2, num_layers = 1, mode = \"{mode}\"}}\n\
             {} = builtin.split (%last)\n%t = pd.sum (%last0)\n%o = pd.multiply (%out, %t)",
            list.join(", "),
            names.join(", "),
            parts.join(", "),
        );
        check(&ctx, &inputs, &line, &[2, 1, 2 * directions]);
    }
}
