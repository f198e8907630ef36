#![allow(clippy::unwrap_used, reason = "in tests a panic is a failure")]

use pir_ir::text::{ParseOptions, PrintOptions, parse, print};
use pir_ir::verify::{VerifyOptions, verify_with};
use pir_ir::{Derivative, MemoryEffects, ValueSpec, expand_composites};

use super::*;

fn one(name: &'static str) -> ValueSpec {
    crate::declare::value(name, "Tensor", pir_ir::Arity::One)
}

/// A row of a table of the tool has the same fields as one of a file.
#[test]
fn rows_of_the_tool_have_programs() {
    let mut def = OpDef::new("test.double", "x + x").with_effects(MemoryEffects::None);
    def.operands = vec![one("x")].into();
    def.results = vec![one("out")].into();
    def.derivative = Derivative::Operands(vec!["x".into()].into());
    attach_row(
        &mut def,
        Some("%out = pd.add (%x, %x)\nfunc.return (%out)"),
        None,
        &[None],
    );
    let mut builder = ContextBuilder::new();
    crate::register_all(&mut builder);
    let dialect = DialectDef {
        name: "test".into(),
        summary: "Of a table".into(),
        types: Vec::new(),
        other_types: true,
    };
    builder.register(dialect, [def]);
    let ctx = builder.build();
    let def = ctx.op_def(ctx.registered_op("test.double").unwrap()).unwrap();
    assert_eq!(def.semantics.as_ref().unwrap().check(&ctx, def), []);
    let text = "%x = pd.full {shape = [2], value = 1.0, dtype = f32}\n%y = test.double (%x)\n%z = test.double (%y)\npd.print (%z)\n";
    let parsed = parse(&ctx, text.as_bytes(), &ParseOptions::default());
    assert_eq!(parsed.diagnostics, []);
    let mut module = parsed.module;
    assert!(print(&module, &PrintOptions::default()).contains("%z = test.double (%y) : tensor<2xf32>"));
    assert!(expand_composites(&mut module, &|_| false).unwrap());
    let printed = print(&module, &PrintOptions::default());
    assert!(printed.contains("%z = pd.add (%y, %y) : tensor<2xf32>"), "{printed}");
}

fn context(text: &str) -> Result<Arc<Context>, Vec<Diagnostic>> {
    let file = DialectFile {
        name: "f.yaml",
        text: text.as_bytes(),
    };
    let mut builder = ContextBuilder::new();
    crate::register_all(&mut builder);
    context_with(builder, &[file]).map_err(|(_, errors)| errors)
}

/// A chain of operations, each of which uses the previous one twice in its composition.
#[test]
fn expansions_have_a_limit() {
    let mut text = String::from("dialect: big\nops:\n");
    for level in 0..40 {
        let inner = match level {
            0 => "pd.tanh".to_owned(),
            level => format!("big.l{}", level - 1),
        };
        text.push_str(&format!(
            "- op: l{level}\n  args: (Tensor x)\n  output: Tensor(out)\n  summary: s\n  computes: |\n    %a = {inner} (%x)\n    \
             %b = {inner} (%a)\n    func.return (%b)\n"
        ));
    }
    let ctx = context(&text).unwrap();
    let program = "%x = pd.full {shape = [2], value = 1.0, dtype = f32}\n%y = big.l39 (%x)\npd.print (%y)\n";
    let mut module = parse(&ctx, program.as_bytes(), &ParseOptions::default()).module;
    let errors = expand_composites(&mut module, &|_| false).unwrap_err();
    assert!(errors[0].message.contains("too many operations"), "{errors:?}");
}

#[test]
fn deep_definitions_are_refused() {
    let mut text = String::from("dialect: deep\nops:\n");
    for level in 0..60 {
        let inner = match level {
            0 => "pd.tanh".to_owned(),
            level => format!("deep.l{}", level - 1),
        };
        text.push_str(&format!(
            "- op: l{level}\n  args: (Tensor x)\n  output: Tensor(out)\n  summary: s\n  computes: |\n    %a = {inner} (%x)\n    func.return (%a)\n"
        ));
    }
    let errors = context(&text).unwrap_err();
    assert!(errors[0].message.contains("51 levels deep"), "{errors:?}");
}

#[test]
fn what_is_no_dialect_is_refused() {
    let cases = [
        ("", "expected a mapping"),
        ("[]", "expected a mapping"),
        ("ops: []", "`dialect` is missing"),
        ("dialect: a-b\nops: []", "is not a valid name of a dialect"),
        ("dialect: func\nops: []", "the dialect `func` is already registered"),
        ("dialect: a\nops: 3", "expected a list"),
        ("dialect: a\nops: [3]", "expected a mapping"),
        ("dialect: a\nopps: []", "unknown field `opps`"),
        ("dialect: a\nops: [{op: b}]", "the field `args` is missing"),
        (
            "dialect: a\nops: [{op: b, args: x, output: y, summary: s}]",
            "expected parentheses",
        ),
        (
            "dialect: a\nops: [{op: b, args: (Tensor x), output: y, summary: s}]",
            "expected `Tensor(NAME)`",
        ),
        (
            "dialect: a\nops: [{op: b, args: [], output: y, summary: s}]",
            "expected a string in `args`",
        ),
        (
            "dialect: a\nops: [{op: b, args: (Tensor x), output: Tensor(o), summary: s, effects: some}]",
            "expected `none`",
        ),
    ];
    for (text, message) in cases {
        let errors = context(text).unwrap_err();
        assert!(errors[0].message.contains(message), "{text}: {errors:?}");
    }
}

/// The properties that a row does not state follow from what it computes.
#[test]
fn effects_follow_from_the_program() {
    let text = "dialect: e\nops:\n- op: loud\n  args: (Tensor x)\n  output: Tensor(out)\n  summary: s\n  computes: |\n    pd.print (%x)\n    \
                func.return (%x)\n- op: quiet\n  args: (Tensor x)\n  output: Tensor(out)\n  summary: s\n  computes: |\n    \
                %y = pd.tanh (%x)\n    func.return (%y)\n";
    let ctx = context(text).unwrap();
    let program = "%x = pd.full {shape = [2], value = 1.0, dtype = f32}\n%y = e.loud (%x)\n%z = e.quiet (%x)\n";
    let module = parse(&ctx, program.as_bytes(), &ParseOptions::default()).module;
    let ops: Vec<_> = module.body.walk_all().map(|op| module.body.view(&ctx, op)).collect();
    assert!(!ops[1].own_effects().is_empty());
    assert!(ops[2].own_effects().is_empty());
    assert_eq!(ops[2].speculatability(), pir_ir::Speculatability::Always);
    let none = text.replacen("  summary: s", "  summary: s\n  effects: none", 1);
    let errors = context(&none).unwrap_err();
    assert!(errors[0].message.contains("has effects"), "{errors:?}");
}

/// The same programs are rejected as by `mlir-opt`: `tools/mlir/record-irdl` recorded its messages.
#[test]
fn irdl_is_checked_as_mlir_does() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../test-files/irdl");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let (dialect, cases, verdicts) = (read("d.irdl"), read("cases.mlir"), read("verdicts.txt"));
    let file = DialectFile {
        name: "d.irdl",
        text: dialect.as_bytes(),
    };
    let mut builder = ContextBuilder::new();
    crate::register_all(&mut builder);
    let ctx = context_with(builder, &[file]).unwrap();
    let cases: Vec<&str> = cases.split("// -----\n").collect();
    assert_eq!(cases.len(), verdicts.lines().count());
    assert!(cases.len() > 100);
    let mut different = Vec::new();
    for (case, verdict) in cases.iter().zip(verdicts.lines()) {
        // With the option, operations of every dialect are accepted, even of registered ones.
        let allow_unregistered = !verdict.contains("unregistered operation");
        let parsed = parse(&ctx, case.as_bytes(), &ParseOptions { allow_unregistered });
        let mut errors = parsed.diagnostics;
        if errors.is_empty() {
            errors = verify_with(&parsed.module, VerifyOptions { allow_unregistered });
        }
        if errors.is_empty() != (verdict == "ok") {
            different.push(format!("{case}{verdict}\nours: {errors:?}"));
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n\n"));
}
