//! Every gradient rule against central differences in f64: over broadcasting, reductions, scalars and empty tensors.
//!
//! The result of the operation is weighted with numbers that differ from element to element, so that a transposition, a
//! wrong axis or a sign cannot hide. The second derivatives, which go through the gradient operations that the rules emit,
//! are compared with differences of the first ones.

#![allow(clippy::unwrap_used, reason = "in tests a panic is a failure")]

mod common;

use common::check_operation as check;

#[test]
fn unary() {
    let ctx = pir_dialects::context();
    let ops = [
        ("exp", -1.0, 1.0),
        ("expm1", -1.0, 1.0),
        ("log", 0.5, 2.0),
        ("log2", 0.5, 2.0),
        ("log10", 0.5, 2.0),
        ("log1p", -0.5, 1.0),
        ("sqrt", 0.5, 2.0),
        ("rsqrt", 0.5, 2.0),
        ("square", -1.0, 1.0),
        ("reciprocal", 0.5, 2.0),
        ("tanh", -1.0, 1.0),
        ("sinh", -1.0, 1.0),
        ("cosh", -1.0, 1.0),
        ("sin", -2.0, 2.0),
        ("cos", -2.0, 2.0),
        ("tan", -1.0, 1.0),
        ("asin", -0.9, 0.9),
        ("acos", -0.9, 0.9),
        ("atan", -2.0, 2.0),
        ("sigmoid", -2.0, 2.0),
        ("relu", 0.1, 1.0),
        ("relu", -1.0, -0.1),
        ("abs", 0.1, 1.0),
        ("abs", -1.0, -0.1),
        ("neg", -1.0, 1.0),
        ("erf", -1.5, 1.5),
        ("assign", -1.0, 1.0),
        ("increment", -1.0, 1.0),
        ("floor", 0.1, 0.9),
        ("sign", 0.1, 0.9),
    ];
    for (op, low, high) in ops {
        for shape in [&[2, 3][..], &[], &[0, 2]] {
            check(&ctx, &[("x", shape, low, high)], &format!("%o = pd.{op} (%x)"), shape);
        }
    }
}

#[test]
fn unary_with_attributes() {
    let ctx = pir_dialects::context();
    for line in [
        "%o = pd.scale (%x) {scale = -2.5, bias = 0.5, bias_after_scale = true}",
        "%o = pd.scale (%x) {scale = 3.0, bias = 0.5, bias_after_scale = false}",
        "%s = pd.full {shape = [1], value = -1.5, dtype = f32} %o = pd.scale (%x, %s) {bias = 1.0}",
        "%o = pd.pow (%x) {y = 3.0}",
        "%o = pd.pow (%x) {y = -1.5}",
        "%o = pd.pow (%x) {y = 0.0}",
        "%o = pd.clip (%x) {min = 0.0, max = 10.0}",
        "%o = pd.clip (%x) {min = 5.0, max = 10.0}",
        "%f = pd.cast (%x) {dtype = f64} %o = pd.tanh (%f)",
    ] {
        check(&ctx, &[("x", &[2, 3], 0.5, 1.5)], &line.replace("} %", "}\n%"), &[2, 3]);
    }
}

#[test]
fn binary_with_broadcasting() {
    let ctx = pir_dialects::context();
    let shapes: [(&[usize], &[usize], &[usize]); 7] = [
        (&[2, 3], &[2, 3], &[2, 3]),
        (&[2, 3], &[3], &[2, 3]),
        (&[2, 1], &[1, 3], &[2, 3]),
        (&[3], &[2, 1], &[2, 3]),
        (&[], &[2], &[2]),
        (&[], &[], &[]),
        (&[0, 3], &[3], &[0, 3]),
    ];
    for op in [
        "add",
        "subtract",
        "multiply",
        "divide",
        "elementwise_pow",
        "atan2",
        "maximum",
        "minimum",
        "fmax",
        "fmin",
        "remainder",
    ] {
        for (x, y, out) in shapes {
            check(
                &ctx,
                &[("x", x, 0.6, 1.4), ("y", y, 1.5, 2.5)],
                &format!("%o = pd.{op} (%x, %y)"),
                out,
            );
            if op.starts_with(['m', 'f']) {
                check(
                    &ctx,
                    &[("x", x, 1.6, 2.4), ("y", y, 0.5, 1.5)],
                    &format!("%o = pd.{op} (%x, %y)"),
                    out,
                );
            }
        }
        check(
            &ctx,
            &[("x", &[4], 0.6, 1.4)],
            &format!("%o = pd.{op} (%x, %x)")
                .replace("remainder", "multiply")
                .replace("maximum", "add")
                .replace("minimum", "add")
                .replace("fmax", "add")
                .replace("fmin", "add"),
            &[4],
        );
    }
    check(
        &ctx,
        &[("x", &[2, 1], -1.0, 1.0), ("y", &[3], -1.0, 1.0)],
        "%z = pd.full {shape = [2, 3], value = 0.0, dtype = f64}\n%s = pd.add (%x, %y)\n%c = pd.greater_than (%s, %z)\n%o = pd.where (%c, %x, %y)",
        &[2, 3],
    );
    check(
        &ctx,
        &[("x", &[2], -1.0, 1.0), ("y", &[2], -1.0, 1.0)],
        "%o = pd.add_n (%x, %y, %x)",
        &[2],
    );
}

#[test]
fn reductions() {
    let ctx = pir_dialects::context();
    for op in ["sum", "mean", "max", "min", "prod"] {
        for (attrs, out) in [
            ("", &[][..]),
            ("{axis = [0]}", &[3, 4]),
            ("{axis = [1]}", &[2, 4]),
            ("{axis = [-1], keepdim = true}", &[2, 3, 1]),
            ("{axis = [0, 2]}", &[3]),
            ("{axis = [0, 1, 2], keepdim = true}", &[1, 1, 1]),
        ] {
            check(
                &ctx,
                &[("x", &[2, 3, 4], 0.5, 1.5)],
                &format!("%o = pd.{op} (%x) {attrs}"),
                out,
            );
        }
        check(&ctx, &[("x", &[], 0.5, 1.5)], &format!("%o = pd.{op} (%x)"), &[]);
    }
    check(&ctx, &[("x", &[0, 3], 0.5, 1.5)], "%o = pd.sum (%x) {axis = [0]}", &[3]);
    for attrs in [
        "{axis = 0}",
        "{axis = 1}",
        "{axis = -1, reverse = true}",
        "{axis = 1, exclusive = true}",
        "{axis = 0, exclusive = true, reverse = true}",
    ] {
        check(
            &ctx,
            &[("x", &[3, 4], 0.5, 1.5)],
            &format!("%o = pd.cumsum (%x) {attrs}"),
            &[3, 4],
        );
    }
    check(
        &ctx,
        &[("x", &[2, 3, 4], 0.5, 1.5)],
        "%o = pd.reduce_as (%x) {shape = [3, 1]}",
        &[3, 1],
    );
}

#[test]
fn matrix_products() {
    let ctx = pir_dialects::context();
    type Case = (&'static [usize], &'static [usize], bool, bool, &'static [usize]);
    let cases: [Case; 15] = [
        (&[2, 3], &[3, 4], false, false, &[2, 4]),
        (&[3, 2], &[3, 4], true, false, &[2, 4]),
        (&[2, 3], &[4, 3], false, true, &[2, 4]),
        (&[3, 2], &[4, 3], true, true, &[2, 4]),
        (&[5, 2, 3], &[5, 3, 4], false, false, &[5, 2, 4]),
        (&[5, 2, 3], &[3, 4], false, false, &[5, 2, 4]),
        (&[5, 2, 3], &[4, 3], false, true, &[5, 2, 4]),
        (&[5, 3, 2], &[3, 4], true, false, &[5, 2, 4]),
        (&[2, 1, 2, 3], &[3, 4], false, false, &[2, 1, 2, 4]),
        (&[2, 3], &[5, 4, 3], false, true, &[5, 2, 4]),
        (&[5, 1, 3, 2], &[2, 3, 4], true, false, &[5, 2, 2, 4]),
        (&[3], &[3], false, false, &[]),
        (&[3], &[3, 4], false, false, &[4]),
        (&[2, 3], &[3], false, false, &[2]),
        (&[5, 3, 2], &[3], true, false, &[5, 2]),
    ];
    for (x, y, tx, ty, out) in cases {
        let line = format!("%o = pd.matmul (%x, %y) {{transpose_x = {tx}, transpose_y = {ty}}}");
        check(&ctx, &[("x", x, -1.0, 1.0), ("y", y, -1.0, 1.0)], &line, out);
    }
    check(
        &ctx,
        &[("x", &[3], -1.0, 1.0), ("y", &[5, 4, 3], -1.0, 1.0)],
        "%o = pd.matmul (%x, %y) {transpose_y = true}",
        &[5, 4],
    );
    check(
        &ctx,
        &[("x", &[0, 3], -1.0, 1.0), ("y", &[3, 2], -1.0, 1.0)],
        "%o = pd.matmul (%x, %y)",
        &[0, 2],
    );
    check(
        &ctx,
        &[("x", &[0, 2, 3], -1.0, 1.0), ("y", &[3, 2], -1.0, 1.0)],
        "%o = pd.matmul (%x, %y)",
        &[0, 2, 2],
    );
}

#[test]
fn shapes() {
    let ctx = pir_dialects::context();
    for (line, out) in [
        ("%o = pd.transpose (%x) {perm = [2, 0, 1]}", &[4, 2, 3][..]),
        ("%o = pd.transpose (%x) {perm = [-2, -1, 0]}", &[3, 4, 2]),
        ("%o = pd.reshape (%x) {shape = [4, -1]}", &[4, 6]),
        ("%o = pd.reshape (%x) {shape = [0, 12]}", &[2, 12]),
        (
            "%u = pd.unsqueeze (%x) {axis = [1, -1]}\n%o = pd.squeeze (%u) {axis = [1]}",
            &[2, 3, 4, 1],
        ),
        ("%o = pd.flatten (%x) {start_axis = 1, stop_axis = 2}", &[2, 12]),
        ("%o = pd.expand (%x) {shape = [5, 2, 3, 4]}", &[5, 2, 3, 4]),
        (
            "%r = pd.reshape (%x) {shape = [2, 1, 12]}\n%o = pd.expand (%r) {shape = [-1, 3, 12]}",
            &[2, 3, 12],
        ),
        (
            "%r = pd.sum (%x) {axis = [1], keepdim = true}\n%o = pd.expand_as (%r, %x)",
            &[2, 3, 4],
        ),
        ("%o = pd.tile (%x) {repeat_times = [2, 1, 3]}", &[4, 3, 12]),
        ("%o = pd.tile (%x) {repeat_times = [2, 1, 1, 1]}", &[2, 2, 3, 4]),
        ("%y = pd.tanh (%x)\n%o = pd.concat (%x, %y, %x) {axis = 1}", &[2, 9, 4]),
        (
            "%y = pd.tanh (%x)\n%l = builtin.combine (%x, %y)\n%o = pd.concat (%l) {axis = -1}",
            &[2, 3, 8],
        ),
        ("%y = pd.tanh (%x)\n%o = pd.stack (%x, %y) {axis = 1}", &[2, 2, 3, 4]),
        (
            "%a, %b = pd.split (%x) {sections = [1, 3], axis = 2}\n%t = pd.sum (%a)\n%o = pd.multiply (%b, %t)",
            &[2, 3, 3],
        ),
        (
            "%a, %b = pd.split (%x) {sections = [1, -1], axis = 2}\n%o = pd.tanh (%b)",
            &[2, 3, 3],
        ),
        (
            "%y = pd.tanh (%x)\n%l = builtin.combine (%x, %y)\n%a, %b = builtin.split (%l)\n%o = pd.multiply (%b, %a)",
            &[2, 3, 4],
        ),
        (
            "%a, %b = pd.split_with_num (%x) {num = 2, axis = -1}\n%o = pd.multiply (%b, %a)",
            &[2, 3, 2],
        ),
        ("%a, %b = pd.unstack (%x) {axis = 0}\n%o = pd.divide (%b, %a)", &[3, 4]),
        ("%o = pd.tril (%x) {diagonal = 1}", &[2, 3, 4]),
        ("%o = pd.triu (%x) {diagonal = -1}", &[2, 3, 4]),
        ("%o = pd.flip (%x) {axis = [0, 2]}", &[2, 3, 4]),
        ("%o = pd.roll (%x) {shifts = [1, -1], axis = [0, 2]}", &[2, 3, 4]),
        ("%o = pd.roll (%x) {shifts = [5]}", &[2, 3, 4]),
        (
            "%o = pd.pad (%x) {paddings = [1, 0, 0, 2, 1, 1], pad_value = 3.0}",
            &[3, 5, 6],
        ),
        (
            "%o = pd.slice (%x) {axes = [1, 2], starts = [1, -3], ends = [100, -1]}",
            &[2, 2, 2],
        ),
        (
            "%o = pd.slice (%x) {axes = [0, 2], starts = [1, 0], ends = [2, 3], decrease_axis = [0]}",
            &[3, 3],
        ),
        (
            "%i = pd.full_int_array {value = [2, 0, 2], dtype = i64}\n%o = pd.gather (%x, %i) {axis = 1}",
            &[2, 3, 4],
        ),
        (
            "%i = pd.full_int_array {value = [1, 1, 0], dtype = i32}\n%o = pd.index_select (%x, %i) {axis = 0}",
            &[3, 3, 4],
        ),
        (
            "%i = pd.full {shape = [2, 3, 1], value = 2, dtype = i64}\n%o = pd.take_along_axis (%x, %i) {axis = 2}",
            &[2, 3, 1],
        ),
        (
            "%f = pd.full_int_array {value = [1, 0, 1, 0], dtype = i64}\n%i = pd.reshape (%f) {shape = [2, 2]}\n%o = pd.gather_nd (%x, %i)",
            &[2, 4],
        ),
    ] {
        check(&ctx, &[("x", &[2, 3, 4], 0.5, 1.5)], line, out);
    }
}
