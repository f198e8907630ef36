//! Every rule for control flow and stacks: a program that violates it, the message, its place, and the presence of
//! help.

#![allow(clippy::unwrap_used, reason = "in tests a panic is a failure")]

use pir_ir::text::{ParseOptions, parse};
use pir_ir::verify::verify;

const HEAD: &str = "%c = pd.full {shape = [], value = true, dtype = i1}
%x = pd.full {shape = [2], value = 1.0, dtype = f32}
%i = pd.full {shape = [1], value = 1, dtype = i64}
";

/// The diagnostics of the verifier: code, message, and the text of the first label.
fn said(text: &str) -> Vec<(&'static str, String, String)> {
    let ctx = pir_dialects::context();
    let source = format!("{HEAD}{text}");
    let parsed = parse(&ctx, source.as_bytes(), &ParseOptions::default());
    assert!(parsed.diagnostics.is_empty(), "{text}\n{:#?}", parsed.diagnostics);
    verify(&parsed.module)
        .into_iter()
        .map(|d| {
            assert!(d.help.is_some(), "{d:#?} has no help");
            let span = d.labels[0].span;
            (
                d.code,
                d.message,
                source[span.start as usize..span.end as usize].to_owned(),
            )
        })
        .collect()
}

#[track_caller]
fn wrong(code: &str, message: &str, at: &str, text: &str) {
    let said = said(text);
    let found = said
        .iter()
        .any(|(c, m, place)| *c == code && m.contains(message) && place == at);
    assert!(found, "no `{code}: {message}` at `{at}` in\n{text}\nbut {said:#?}");
}

#[track_caller]
fn right(text: &str) {
    assert_eq!(said(text), []);
}

#[test]
fn accepted() {
    right("pd.if (%c) then { }");
    right("pd.if (%c) then { } else { }");
    right("%r = pd.if (%c) then { cf.yield (%x) } else { cf.yield (%x) }");
    right(
        "%r, %s = pd.if (%c) init { %s = cf.create_stack () cf.yield (%s) }
  then (%s) { cf.push_back (%s, %x) cf.yield (%x, %s) } else (%s) { cf.yield (%x, %s) }",
    );
    right("%d = pd.full {shape = [1, 1], value = true, dtype = i1}\npd.if (%d) then { }");
    right("%y = pd.while (%x) cond (%a) { cf.cond_yield (%c, %a) } body (%b) { cf.yield (%b) }");
    right("%y = pd.while (%x) cond (%a) { cf.cond_yield (%c, %i) } body (%b) { cf.yield (%x) }");
    right("pd.while () cond { cf.cond_yield (%c) } body { cf.yield () }");
    right(
        "%y, %s = pd.while (%x) init (%a) { %s = cf.create_stack () cf.yield (%a, %s) }
  cond (%a, %s) { cf.cond_yield (%c, %a, %s) } body (%a, %s) { cf.push_back (%s, %s) cf.yield (%a, %s) }",
    );
    right("%y = pd.if (%c) then { cf.yield (%x) } else { cf.yield (%x) } : tensor<?xf32>");
    right(
        "%s = cf.create_stack ()\n%t = cf.create_stack ()\ncf.push_back (%s, %t)\n%u = cf.pop_back (%s) : cf.stack\n%e = cf.is_empty (%u)\n%k = cf.copy_stack (%u)",
    );
    right(
        "func.func @f(%a: i1) -> i1 {\n  pd.condition_branch %a, ^t(%a), ^e(%a)\n^t(%p: i1):\n  pd.branch ^e(%p)\n^e(%q: i1):\n  func.return (%q)\n}",
    );
}

#[test]
fn conditions() {
    wrong(
        "condition-type",
        "must be a single boolean, not `tensor<2xf32>`",
        "pd.if",
        "pd.if (%x) then { }",
    );
    wrong(
        "condition-type",
        "must be a single boolean",
        "pd.condition_branch",
        "func.func @f(%a: i64) {\n  pd.condition_branch %a, ^t, ^t\n^t:\n  func.return\n}",
    );
    wrong(
        "condition-type",
        "first operand of `cf.cond_yield`",
        "cf.cond_yield",
        "pd.while () cond { cf.cond_yield (%i) } body { cf.yield () }",
    );
}

#[test]
fn branches() {
    wrong(
        "if-yield",
        "expected 1 yielded value, one for each result, found 2",
        "cf.yield",
        "%r = pd.if (%c) then { cf.yield (%x) } else { cf.yield (%x, %x) } : tensor<2xf32>",
    );
    wrong(
        "if-yield",
        "has type `tensor<1xi64>`, but result #0 has type `tensor<2xf32>`",
        "cf.yield",
        "%r = pd.if (%c) then { cf.yield (%x) } else { cf.yield (%i) }",
    );
    wrong(
        "if-else-missing",
        "needs an `else`",
        "pd.if",
        "%r = pd.if (%c) then { cf.yield (%x) }",
    );
    wrong(
        "if-arguments",
        "has no arguments",
        "pd.if",
        "pd.if (%c) then (%a: f32) { } else { }",
    );
    wrong(
        "region-terminator",
        "must end in `cf.yield`",
        "func.return",
        "pd.if (%c) then { func.return } else { }",
    );
    wrong(
        "region-blocks",
        "exactly one block, not 2",
        "pd.if",
        "pd.if (%c) then {\n  pd.branch ^a\n^a:\n  cf.yield ()\n} else { }",
    );
}

#[test]
fn branches_with_stacks() {
    let with = |init: &str, then: &str, types: &str| {
        format!(
            "%r:2 = pd.if (%c) init {{ {init} }} then (%s: cf.stack) {{ {then} }} else (%s: cf.stack) {{ cf.yield (%x, %s) }} : {types}"
        )
    };
    let (init, then, types) = (
        "%s = cf.create_stack () cf.yield (%s)",
        "cf.yield (%x, %s)",
        "tensor<2xf32>, cf.stack",
    );
    right(&with(init, then, types));
    wrong(
        "if-init",
        "must create a stack and yield it, and do nothing else",
        "cf.yield",
        &with("%s = cf.create_stack () %t = pd.tanh (%x) cf.yield (%s)", then, types),
    );
    wrong(
        "if-init",
        "must create a stack",
        "cf.yield",
        &with("%s = cf.create_stack () cf.yield (%x)", then, types),
    );
    wrong(
        "if-stack-result",
        "must be its stack",
        "pd.if",
        "%r = pd.if (%c) init { %s = cf.create_stack () cf.yield (%s) } then (%s: cf.stack) { cf.yield (%x) } else (%s: cf.stack) { cf.yield (%x) } : tensor<2xf32>",
    );
    wrong(
        "if-stack-argument",
        "the stack as its only argument",
        "pd.if",
        "%r, %q = pd.if (%c) init { %s = cf.create_stack () cf.yield (%s) } then (%s: cf.stack, %a: f32) { cf.yield (%x, %s) } else (%s: cf.stack) { cf.yield (%x, %s) } : tensor<2xf32>, cf.stack",
    );
}

#[test]
fn loops() {
    wrong(
        "while-cond-arguments",
        "expected 2 operands, one for each cond region argument, found 1",
        "pd.while",
        "%y = pd.while (%x) cond (%a: tensor<2xf32>, %b: f32) { cf.cond_yield (%c, %a) } body (%b) { cf.yield (%b, %b) }",
    );
    wrong(
        "while-cond-arguments",
        "has type `tensor<2xf32>`, but cond region argument #0 has type `f32`",
        "pd.while",
        "%y = pd.while (%x) cond (%a: f32) { cf.cond_yield (%c, %x) } body (%b) { cf.yield (%b) }",
    );
    wrong(
        "while-body-arguments",
        "expected 2 forwarded values, one for each body region argument, found 1",
        "cf.cond_yield",
        "%y = pd.while (%x) cond (%a) { cf.cond_yield (%c, %a) } body (%b: tensor<2xf32>, %d: f32) { cf.yield (%b) }",
    );
    wrong(
        "result-count",
        "has 1 result with these operands, not 2",
        "pd.while",
        "%y, %z = pd.while (%x) cond (%a) { cf.cond_yield (%c, %a) } body (%b) { cf.yield (%b) } : tensor<2xf32>, f32",
    );
    wrong(
        "while-body-yield",
        "`pd.while` declares 1 cond region argument, but its region yields none",
        "cf.yield",
        "%y = pd.while (%x) cond (%a) { cf.cond_yield (%c, %a) } body (%b) { cf.yield () }",
    );
    wrong(
        "while-body-yield",
        "has type `tensor<1xi64>`",
        "cf.yield",
        "%y = pd.while (%x) cond (%a) { cf.cond_yield (%c, %a) } body (%b) { cf.yield (%i) }",
    );
    wrong(
        "region-terminator",
        "the region `cond` of `pd.while` must end in `cf.cond_yield`",
        "cf.yield",
        "pd.while () cond { cf.yield () } body { cf.yield () }",
    );
    wrong(
        "region-terminator",
        "the region `body` of `pd.while` must end in `cf.yield`",
        "func.return",
        "pd.while () cond { cf.cond_yield (%c) } body { func.return }",
    );
    wrong(
        "cond-yield-parent",
        "can only end the cond region of a `pd.while`",
        "cf.cond_yield",
        "pd.if (%c) then { cf.cond_yield (%c) } else { }",
    );
}

#[test]
fn loops_with_stacks() {
    let with = |init: &str| {
        format!(
            "%y, %s = pd.while (%x) init (%a: tensor<2xf32>) {{ {init} }} cond (%a: tensor<2xf32>, %s: cf.stack) {{ cf.cond_yield (%c, %a, %s) }} body (%a, %s) {{ cf.yield (%a, %s) }}"
        )
    };
    right(&with("%s = cf.create_stack () cf.yield (%a, %s)"));
    wrong(
        "while-init",
        "yield it after its arguments",
        "cf.yield",
        &with("%s = cf.create_stack () cf.yield (%x, %s)"),
    );
    wrong(
        "while-init",
        "and do nothing else",
        "cf.yield",
        &with("%s = cf.create_stack () %t = pd.tanh (%a) cf.yield (%a, %s)"),
    );
    wrong(
        "while-stack-result",
        "must be its stack",
        "pd.while",
        "%y = pd.while (%x) init (%a) { %s = cf.create_stack () cf.yield (%a, %s) } cond (%a, %s) { cf.cond_yield (%c, %a) } body (%a) { cf.yield (%a, %a) }",
    );
    wrong(
        "while-init-arguments",
        "expected 2 operands, one for each init region argument, found 1",
        "pd.while",
        "%y, %s = pd.while (%x) init (%a: tensor<2xf32>, %b: f32) { %s = cf.create_stack () cf.yield (%a, %s) } cond (%a: tensor<2xf32>, %s: cf.stack) { cf.cond_yield (%c, %a, %s) } body (%a, %s) { cf.yield (%a, %s) }",
    );
}

#[test]
fn stacks() {
    wrong(
        "stack-operand",
        "must be a stack, not `tensor<2xf32>`",
        "cf.push_back",
        "cf.push_back (%x, %x)",
    );
    wrong(
        "stack-operand",
        "must be a stack",
        "cf.pop_back",
        "%y = cf.pop_back (%x) : f32",
    );
    wrong(
        "stack-operand",
        "must be a stack",
        "cf.is_empty",
        "%y = cf.is_empty (%x)",
    );
    wrong(
        "stack-operand",
        "must be a stack",
        "cf.copy_stack",
        "%y = cf.copy_stack (%x)",
    );
    wrong(
        "result-type",
        "but is cf.stack",
        "cf.create_stack",
        "%y = cf.create_stack () : f32",
    );
}

#[test]
fn functions() {
    wrong(
        "function-results",
        "@f returns (tensor<2xf32>), but its type declares (f32)",
        "func.return",
        "func.func @f(%a: tensor<2xf32>) -> f32 {\n  func.return (%a)\n}",
    );
    wrong(
        "function-arguments",
        "differ from those of its type",
        "func.func",
        "\"func.func\"() ({\n^bb0(%a: f32):\n  \"func.return\"(%a) : (f32) -> ()\n}) {sym_name = \"f\", function_type = (f64) -> f32} : () -> ()",
    );
    wrong(
        "function-type",
        "is not a function type",
        "func.func",
        "\"func.func\"() ({\n^bb0(%a: f32):\n  \"func.return\"() : () -> ()\n}) {sym_name = \"f\", function_type = f32} : () -> ()",
    );
}

#[test]
fn visibility_and_dominance() {
    let text =
        "%r = pd.if (%c) then {\n  %y = pd.tanh (%x)\n  cf.yield (%y)\n} else {\n  cf.yield (%x)\n}\n%z = pd.exp (%y)";
    let parsed = parse(
        &pir_dialects::context(),
        format!("{HEAD}{text}").as_bytes(),
        &ParseOptions::default(),
    );
    assert_eq!(parsed.diagnostics[0].code, "undefined-value");
    assert!(
        parsed.diagnostics[0]
            .help
            .as_deref()
            .unwrap()
            .contains("not visible outside")
    );
    let codes: Vec<_> = said("%z = pd.exp (%y) : tensor<2xf32>\n%y = pd.tanh (%x)")
        .into_iter()
        .map(|s| s.0)
        .collect();
    assert_eq!(codes.len(), 1, "{codes:?}");
}
