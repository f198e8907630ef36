//! Tests of constants: `dense<…>` and `array<…>`.

use std::sync::Arc;

use super::super::{PrintOptions, parse_attr, parse_type, print_attr};
use crate::budget::Budget;
use crate::{AttrData, Context, ContextBuilder, Elements, ElementsError, ElementsForm};

fn context() -> Arc<Context> {
    ContextBuilder::new().build()
}

/// The constant in a text and its printed form, or the error.
fn read(ctx: &Arc<Context>, text: &str) -> Result<(Elements, String), String> {
    let attr = parse_attr(ctx, text).map_err(|error| error.message)?;
    match ctx.attr_elements(attr) {
        Some(elements) => Ok((elements.clone(), print_attr(ctx, attr))),
        None => Err(format!("kept as {}", print_attr(ctx, attr))),
    }
}

#[test]
fn constants_are_printed_as_mlir_prints_them() {
    let ctx = context();
    for text in [
        "dense<1.000000e+00> : tensor<f32>",
        "dense<[1.000000e+00, 2.500000e+00, -0.000000e+00]> : tensor<3xf32>",
        "dense<[0.123456784, 3.14159274]> : vector<2xf32>",
        "dense<[0x7F800000, 1.401300e-45]> : tensor<2xf32>",
        "dense<0x7FC00000> : tensor<f32>",
        "dense<[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]> : tensor<2x2x2xi16>",
        "dense<true> : tensor<3xi1>",
        "dense<[true, false]> : tensor<2xi1>",
        "dense<> : tensor<2x0xf32>",
        "dense<(1.000000e+00,2.000000e+00)> : tensor<3xcomplex<f32>>",
        "dense<[(1,-2), (3,4)]> : tensor<2xcomplex<i32>>",
        "dense<[18446744073709551615, 1]> : tensor<2xui64>",
        "dense<[7, -8, -1]> : tensor<3xi4>",
        "dense<[9.997550e-02, 0x7C00]> : tensor<2xf16>",
        "dense<0x3FFF8000000000000000> : tensor<f80>",
        "array<i64: 1, 0>",
        "array<i64>",
        "array<i1: true, false>",
        "array<i8: -1, 127>",
        "array<f32: 1.000000e+00, 1.000000e-01>",
    ] {
        assert_eq!(read(&ctx, text).map(|(_, text)| text).as_deref(), Ok(text));
    }
    for (text, printed) in [
        (
            "dense<[[1, 1], [1, 1]]> : tensor<2x2xi32>",
            "dense<1> : tensor<2x2xi32>",
        ),
        ("dense<[255, 0x10]> : tensor<2xi8>", "dense<[-1, 16]> : tensor<2xi8>"),
        ("dense<\"0x0102\"> : tensor<2xi8>", "dense<[1, 2]> : tensor<2xi8>"),
        ("dense<\"0x01\"> : tensor<2xi8>", "dense<1> : tensor<2xi8>"),
        // Eight truth values in a byte, and one in each.
        (
            "dense<\"0x05\"> : tensor<3xi1>",
            "dense<[true, false, true]> : tensor<3xi1>",
        ),
        (
            "dense<\"0x010001\"> : tensor<3xi1>",
            "dense<[true, false, true]> : tensor<3xi1>",
        ),
        ("dense<\"0xFF\"> : tensor<20xi1>", "dense<true> : tensor<20xi1>"),
        ("dense<[ // one\n 1, 2]> : tensor<2xi8>", "dense<[1, 2]> : tensor<2xi8>"),
        ("dense<1.0> : tensor<0xf32>", "dense<> : tensor<0xf32>"),
    ] {
        assert_eq!(read(&ctx, text).map(|(_, text)| text).as_deref(), Ok(printed), "{text}");
    }
}

#[test]
fn wrong_constants_are_refused() {
    let ctx = context();
    for (text, why) in [
        (
            "dense<[1, 2, 3]> : tensor<2xi32>",
            "the elements have shape [3], but the type is `tensor<2xi32>`",
        ),
        (
            "dense<\"0x010203\"> : tensor<2xi8>",
            "3 bytes, but `tensor<2xi8>` has 2",
        ),
        ("dense<\"0xZZ\"> : tensor<i8>", "these are not hexadecimal digits"),
        ("dense<\"0x012\"> : tensor<i8>", "the last byte has one digit"),
        ("dense<> : tensor<2xf32>", "0 bytes, but `tensor<2xf32>` has 8"),
        (
            "dense<1> : tensor<2xf32>",
            "`1` is an integer, and the elements are floats",
        ),
        ("dense<foo> : tensor<2xf32>", "`foo` is not a number"),
        (
            "dense<0x123456789> : tensor<f32>",
            "`0x123456789` is not a number of 32 bits",
        ),
        ("dense<300> : tensor<2xi8>", "300 does not fit in 8 bits"),
        (
            "dense<1.0> : tensor<complex<f32>>",
            "`1.0` is not a complex number; write `(1.0, 2.0)`",
        ),
        ("array<i32: 1.0>", "`1.0` is not an integer"),
        ("array<i1: 2>", "2 does not fit in 1 bits"),
        ("array<i8: 1,>", "`` is not an integer"),
    ] {
        assert_eq!(read(&ctx, text).map(|_| ()).unwrap_err(), why, "{text}");
    }
    // What an `f64` or 64 bits cannot hold is kept as it is written.
    for text in [
        "dense<1.0> : tensor<f128>",
        "dense<1> : tensor<i128>",
        "dense_resource<x> : tensor<4xf32>",
    ] {
        assert_eq!(read(&ctx, text).map(|_| ()).unwrap_err(), format!("kept as {text}"));
    }
}

#[test]
fn kernels_read_numbers() {
    let ctx = context();
    let (ints, _) = read(&ctx, "dense<[[1, -2], [3, 4]]> : tensor<2x2xi32>").unwrap();
    assert_eq!(ints.as_slice::<i32>(), Some(&[1, -2, 3, 4][..]));
    assert_eq!(
        (ints.as_slice::<u32>(), ints.as_slice::<f32>()),
        (Some(&[1, u32::MAX - 1, 3, 4][..]), None)
    );
    assert_eq!(ints.ints().unwrap().collect::<Vec<_>>(), [1, -2, 3, 4]);
    assert_eq!([0, 1, 3, 4].map(|at| ints.int(at)), [Some(1), Some(-2), Some(4), None]);
    assert_eq!(ints.floats().unwrap().collect::<Vec<_>>(), [1.0, -2.0, 3.0, 4.0]);
    assert!(ints.bools().is_none() && !ints.is_splat());
    let (splat, _) = read(&ctx, "dense<0.5> : tensor<3xf16>").unwrap();
    assert_eq!((splat.len(), splat.bytes().len(), splat.is_splat()), (3, 2, true));
    assert_eq!(splat.floats().unwrap().collect::<Vec<_>>(), [0.5; 3]);
    let (bools, _) = read(&ctx, "dense<[true, false]> : tensor<2xi1>").unwrap();
    assert_eq!(bools.bools().unwrap().collect::<Vec<_>>(), [true, false]);
    assert_eq!(bools.ints().unwrap().collect::<Vec<_>>(), [1, 0]);
    let (unsigned, _) = read(&ctx, "dense<[18446744073709551615, 1]> : tensor<2xui64>").unwrap();
    assert!(unsigned.ints().is_none());
    assert_eq!(
        (unsigned.int(0), unsigned.int(1), bools.int(1), splat.int(0)),
        (None, Some(1), Some(0), None)
    );
    assert_eq!(unsigned.floats().unwrap().next(), Some(18446744073709551616.0));
    let (complex, _) = read(&ctx, "dense<[(1.0,2.0), (3.0,4.0)]> : tensor<2xcomplex<f32>>").unwrap();
    assert_eq!(complex.as_slice::<f32>(), Some(&[1.0, 2.0, 3.0, 4.0][..]));
    let (array, _) = read(&ctx, "array<i64: 5, -6>").unwrap();
    assert_eq!(
        (array.form(), array.as_slice::<i64>()),
        (ElementsForm::Array, Some(&[5, -6][..]))
    );
}

#[test]
fn equal_constants_are_one() {
    let ctx = context();
    let ty = parse_type(&ctx, "tensor<2xi16>").unwrap();
    let made = Elements::from_bytes(&ctx, ty, &[1, 0, 2, 0]).unwrap();
    let made = ctx.attr(AttrData::Elements(made));
    assert_eq!(made, parse_attr(&ctx, "dense<[1, 2]> : tensor<2xi16>").unwrap());
    assert_ne!(made, parse_attr(&ctx, "dense<[1, 3]> : tensor<2xi16>").unwrap());
    assert!(matches!(
        Elements::from_bytes(&ctx, ty, &[1]),
        Err(ElementsError::Len(4, 1))
    ));
}

#[test]
fn large_constants_are_bytes() {
    let ctx = context();
    let digits: String = (0..400_000u32).map(|at| format!("{:02X}", at * 7 % 251)).collect();
    let text = format!("dense<\"0x{digits}\"> : tensor<100000xi32>");
    let before = Budget::current().used();
    let (elements, printed) = read(&ctx, &text).unwrap();
    assert!(printed == text);
    assert!(Budget::current().used() >= before + 400_000);
    assert_eq!(elements.bytes().len(), 400_000);
    let small = Budget::new(300_000);
    let entered = small.enter();
    let error = read(&context(), &text).map(|_| ()).unwrap_err();
    assert!(error.contains("limit of 300000 bytes"), "{error}");
    drop(entered);
    let source = format!("\"u.x\"() {{a = {text}}} : () -> ()\n\"u.x\"() {{a = dense<1> : tensor<9xi8>}} : () -> ()\n");
    let elided = PrintOptions {
        elide_large: Some(10),
        ..PrintOptions::default()
    };
    assert_eq!(
        super::reprint(&source, &elided),
        "\"u.x\"() {a = dense_resource<__elided__> : tensor<100000xi32>} : () -> ()\n\"u.x\"() {a = dense<1> : tensor<9xi8>} : () -> ()\n"
    );
}

#[test]
fn resources_are_kept() {
    let source = "\"u.x\"() {a = dense_resource<big> : tensor<2xi8>} : () -> ()\n{-#\n  dialect_resources: {\n    builtin: {\n      big: \"0x040000000102\"\n    }\n  }\n#-}\n";
    assert_eq!(super::reprint(source, &PrintOptions::default()), source);
}
