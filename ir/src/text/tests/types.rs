//! Tests of types of dialects.

use std::sync::Arc;

use super::super::{ParseOptions, PrintOptions, parse, parse_type, print, print_type};
use crate::{
    Context, ContextBuilder, DYNAMIC, DialectDef, DialectType, Type, TypeData, TypeDef, TypeParam, TypeParamKind,
};

struct Token;
impl DialectType for Token {
    const NAME: &'static str = "t.token";
}

struct Array;
impl DialectType for Array {
    const NAME: &'static str = "t.array";
}

fn context(other_types: bool) -> Arc<Context> {
    let mut array = TypeDef::of::<Array>("")
        .with_param("shape", TypeParamKind::Shape)
        .with_param("element", TypeParamKind::Type)
        .with_param("count", TypeParamKind::Int)
        .with_param("note", TypeParamKind::Attr);
    array.params.to_mut()[3].optional = true;
    array.verify = Some(|_, params| match params[2] {
        TypeParam::Int(0) => Err("an array of none".to_owned()),
        _ => Ok(()),
    });
    let types = vec![
        TypeDef::of::<Token>(""),
        array,
        TypeDef::new("t.all", "").with_param("of", TypeParamKind::Types),
    ];
    let mut builder = ContextBuilder::new();
    let dialect = DialectDef {
        name: "t".into(),
        summary: "".into(),
        types,
        other_types,
    };
    builder.register(dialect, []);
    builder.build()
}

/// Reads a type; what was wrong with it as code, message and help.
fn read(ctx: &Arc<Context>, text: &str) -> Result<Type, String> {
    parse_type(ctx, text).map_err(|d| format!("{}: {}; {}", d.code, d.message, d.help.as_deref().unwrap_or_default()))
}

#[test]
fn declared_types_are_typed() {
    let ctx = context(false);
    let token = ctx.dialect_type::<Token>();
    assert_eq!(read(&ctx, "t.token"), Ok(token));
    assert_eq!(read(&ctx, "!t.token"), Ok(token));
    assert_eq!(print_type(&ctx, token), "t.token");
    assert!(ctx.is_dialect_type::<Token>(token) && !ctx.is_dialect_type::<Array>(token));
    let array = read(&ctx, "!t.array<2x?xtensor<4x!t.token>, -3, {a = [1]}>").unwrap();
    let params = ctx.type_params::<Array>(array).unwrap();
    assert_eq!(params[0], TypeParam::Shape([2, DYNAMIC].into()));
    assert_eq!(params[1], TypeParam::Type(ctx.tensor(&[4], token)));
    assert_eq!(params[2], TypeParam::Int(-3));
    assert_eq!(
        print_type(&ctx, array),
        "!t.array<2x?xtensor<4xt.token>, -3, {a = [1]}>"
    );
    for text in ["!t.array<f32, 1>", "!t.all<f32, i1, t.token>", "!t.all"] {
        let ty = read(&ctx, text).unwrap();
        assert_eq!(read(&ctx, &print_type(&ctx, ty)), Ok(ty), "{text}");
    }
}

#[test]
fn types_print_with_a_bang_in_the_generic_form() {
    let ctx = context(false);
    let text = "%0 = \"u.x\"() : () -> !t.array<2x!t.token, 1>\n%1 = \"u.x\"() : () -> !t.token\n";
    let parsed = parse(
        &ctx,
        text.as_bytes(),
        &ParseOptions {
            allow_unregistered: true,
        },
    );
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    let options = PrintOptions {
        generic: true,
        ..PrintOptions::default()
    };
    assert_eq!(print(&parsed.module, &options), text);
}

#[test]
fn wrong_types_are_refused() {
    let ctx = context(false);
    for (text, wanted) in [
        (
            "!t.tokne",
            "unknown-type: `t.tokne` is not a type; did you mean `!t.token`?",
        ),
        (
            "t.tokne",
            "unknown-type: `t.tokne` is not a type; did you mean `t.token`?",
        ),
        (
            "!t.tokne<f32>",
            "unknown-type: `t.tokne` is not a type; did you mean `!t.token`?",
        ),
        (
            "!t.array",
            "type-parameters: `t.array` lacks its parameter `shape`; the type is written `t.array<shape x element, count, note?>`",
        ),
        (
            "!t.array<2xf32, 0>",
            "type-parameters: an array of none; the type is written `t.array<shape x element, count, note?>`",
        ),
        (
            "!t.array<2xf32, x>",
            "syntax: expected an integer, found `x`; a number of at most 64 bits",
        ),
        (
            "!t.token<f32>",
            "syntax: expected `>`, found `f32`; the type is written `t.token`",
        ),
    ] {
        assert_eq!(read(&ctx, text).unwrap_err(), wanted);
    }
}

#[test]
fn other_types_are_kept_as_text() {
    for (ctx, text) in [
        (context(false), "!u.some<[1], \"x>\", 2 x 3>"),
        (context(true), "!t.tokne<f32>"),
    ] {
        let ty = read(&ctx, text).unwrap();
        assert_eq!(*ctx.type_data(ty), TypeData::Unregistered(text[1..].into()));
        assert_eq!(print_type(&ctx, ty), text);
    }
}

#[test]
fn builtin_types_are_printed_as_mlir_prints_them() {
    let ctx = context(false);
    for text in [
        "si8",
        "ui64",
        "i0",
        "i16777215",
        "index",
        "none",
        "f8E5M2",
        "f8E4M3",
        "f8E4M3FN",
        "f8E5M2FNUZ",
        "f8E4M3FNUZ",
        "f8E4M3B11FNUZ",
        "f8E3M4",
        "f8E8M0FNU",
        "f6E2M3FN",
        "f6E3M2FN",
        "f4E2M1FN",
        "tf32",
        "f80",
        "f128",
        "complex<f32>",
        "complex<i32>",
        "tensor<0x?x3xui8>",
        "tensor<2xcomplex<f64>>",
        "tensor<2xvector<4xf32>>",
        "tensor<2x!foo.bar>",
        "tensor<*xf32>",
        "tensor<2xf32, \"x\">",
        "tensor<?x?xf32, #foo.enc<[a]>>",
        "memref<4x?xf32>",
        "memref<4x4xf32, affine_map<(d0, d1) -> (d1, d0)>>",
        "memref<4x4xf32, strided<[4, 1], offset: 2>>",
        "memref<4xf32, 1>",
        "memref<4xf32, 1 : i32>",
        "memref<4xf32, \"a\">",
        "memref<4xf32, #foo<bar>, #gpu.address_space<workgroup>>",
        "memref<*xf32, 1>",
        "memref<2xmemref<3xvector<4xf32>>>",
        "vector<[4]x2xf32>",
        "vector<f32>",
        "vector<4xindex>",
        "tuple<>",
        "tuple<tuple<i32>, f32>",
        "() -> (() -> ())",
        "(() -> (), i32) -> (f32, f32)",
    ] {
        let ty = read(&ctx, text).unwrap();
        assert_eq!(print_type(&ctx, ty), text);
    }
    for (text, printed) in [
        ("(f32) -> (f32)", "(f32) -> f32"),
        ("memref<2xf32, affine_map<(d0) -> (d0)>>", "memref<2xf32>"),
        ("memref<2xf32, affine_map<(d0) -> (d0)>, 1>", "memref<2xf32, 1>"),
        ("memref<2xf32, 0>", "memref<2xf32>"),
        ("tensor< 2 x ? x f32 >", "tensor<2x?xf32>"),
    ] {
        assert_eq!(read(&ctx, text).map(|ty| print_type(&ctx, ty)).as_deref(), Ok(printed));
    }
}

#[test]
fn builtin_types_that_mlir_refuses() {
    let ctx = context(false);
    for (text, code) in [
        ("f8E9M9", "unknown-type"),
        ("i16777216", "unknown-type"),
        ("complex<index>", "element-type"),
        ("complex<complex<f32>>", "element-type"),
        ("tensor<2xtensor<2xf32>>", "element-type"),
        ("tensor<2xmemref<2xf32>>", "element-type"),
        ("tensor<2xtuple<i32>>", "element-type"),
        ("tensor<2x(i32) -> i32>", "element-type"),
        ("tensor<2xnone>", "element-type"),
        ("tensor<*xf32, 1>", "syntax"),
        ("memref<2xtensor<2xf32>>", "element-type"),
        ("memref<2xnone>", "element-type"),
        ("memref<2xf32, 1, 2>", "memref-type"),
        ("memref<2xf32, >", "syntax"),
        ("vector<2x!foo.bar>", "element-type"),
        ("vector<2xcomplex<f32>>", "element-type"),
        ("vector<0xf32>", "dimension"),
        ("vector<-1xf32>", "syntax"),
        ("vector<?xf32>", "syntax"),
        ("vector<[]xf32>", "dimension"),
    ] {
        let error = read(&ctx, text).expect_err(text);
        assert!(error.starts_with(&format!("{code}: ")), "{text}: {error}");
    }
}
