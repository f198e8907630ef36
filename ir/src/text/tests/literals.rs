//! Tests of literals that are kept as text, of aliases, and of the ends of lines.

use super::super::{ParseOptions, PrintOptions, parse, parse_attr};
use super::{context, reprint};

#[test]
fn a_carriage_return_ends_a_line() {
    let text = "// c\r\"u.a\"() : () -> ()\r// d\r\n\"u.b\"() : () -> ()\r";
    assert_eq!(
        reprint(text, &PrintOptions::default()),
        "// c\n\"u.a\"() : () -> ()\n// d\n\"u.b\"() : () -> ()\n"
    );
}

#[test]
fn literals_that_are_certainly_wrong() {
    let read = |attr: &str| parse_attr(&context(), attr).map(|_| ()).map_err(|e| e.code);
    for wrong in [
        "dense<[1, 2, 3]> : tensor<2xi32>",
        "dense<[[1], [2, 3]]> : tensor<2x2xi32>",
        "dense<300> : tensor<2xi8>",
        "dense<1.5> : tensor<2xi32>",
        "dense<1> : tensor<?xi32>",
        "dense<1> : i32",
        "300 : i8",
        "-1 : ui8",
        "0x1FF : i8",
        "1.5 : i32",
        "1 : tensor<2xi32>",
        "affine_map<hello>",
        "affine_map<(d0) -> (d1)>",
        "affine_set<(d0) : (d0 >= )",
        "loc(1)",
        "memref<xyz>",
        "vector<?xf32>",
        "complex<f32, f32>",
        "complex<index>",
        "tuple<i32,>",
    ] {
        assert!(read(wrong).is_err(), "{wrong}");
    }
    for right in [
        "dense<[1, 2]> : tensor<2xi32>",
        "dense<true> : tensor<2xi1>",
        "dense<\"0x0102\"> : tensor<2xi8>",
        "dense<> : tensor<0xf32>",
        "dense<[(1.0, 2.0)]> : tensor<1xcomplex<f32>>",
        "255 : i8",
        "-128 : i8",
        "18446744073709551615 : ui64",
        "0x7FC00000 : f32",
        "affine_map<(d0, d1)[s0] -> (d0 + s0 floordiv 2, -d1 mod 3)>",
        "affine_set<(d0) : (d0 - 1 >= 0, d0 == 3)>",
        "loc(fused[\"a\", unknown])",
        "memref<?x4xf32, affine_map<(d0, d1) -> (d1, d0)>, 3>",
        "memref<*xf32>",
        "vector<[4]x2xf32>",
        "complex<f32>",
        "tuple<i32, memref<f32>>",
        "tuple<>",
        "tensor<4xf32, #s.e<x>>",
    ] {
        assert_eq!(read(right), Ok(()), "{right}");
    }
}

#[test]
fn aliases_are_defined_somewhere() {
    let allow_unregistered = true;
    let code = |text: &str| {
        let parsed = parse(&context(), text.as_bytes(), &ParseOptions { allow_unregistered });
        parsed.diagnostics.first().map(|error| error.message.clone())
    };
    assert_eq!(
        code("\"u.a\"() {x = #b} : () -> ()\n").as_deref(),
        Some("there is no alias `#b`")
    );
    assert_eq!(
        code("%0 = \"u.a\"() : () -> !b\n").as_deref(),
        Some("there is no alias `!b`")
    );
    assert_eq!(
        code("\"u.a\"() {x = #b.c, y = #d<e>, z = #late} : () -> ()\n#late = 1\n"),
        None
    );
}
