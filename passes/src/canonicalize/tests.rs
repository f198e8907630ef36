use pir_ir::{Attr, Module, OpView};
use smallvec::{SmallVec, smallvec};

use crate::testing::{expect, expect_same, read, run};
use crate::{Changed, ConstantEvaluator, PassManager, Pipeline};

#[test]
fn simplifications_make_operations_that_are_looked_at_again() {
    expect(
        "canonicalize",
        r#"
        %x = t.in {name = "x"} : i64
        %two = t.const {value = 2} : i64
        %zero = t.const {value = 0} : i64
        %y = t.sub (%x, %zero) : i64
        %z = t.sub (%y, %two) : i64
        t.print (%z)
        "#,
        r#"
        %x = t.in {name = "x"} : i64
        %0 = t.const {value = -2} : i64
        %z = t.add (%x, %0) : i64
        t.print (%z)
        "#,
    );
}

#[test]
fn a_branch_on_a_constant() {
    let source = |value: bool| {
        format!(
            r#"
            %x = t.in {{name = "x"}} : i64
            %c = t.const {{value = {value}}} : i1
            %r = t.if (%c) then {{
              %p = t.add (%x, %x) : i64
              t.print (%p)
              t.yield (%p)
            }} else {{
              t.yield (%x)
            }} : i64
            t.print (%r)
            "#
        )
    };
    expect(
        "canonicalize",
        &source(true),
        r#"
        %x = t.in {name = "x"} : i64
        %p = t.add (%x, %x) : i64
        t.print (%p)
        t.print (%p)
        "#,
    );
    expect(
        "canonicalize",
        &source(false),
        r#"
        %x = t.in {name = "x"} : i64
        t.print (%x)
        "#,
    );
}

#[test]
fn a_loop_that_runs_stays() {
    expect_same(
        "canonicalize",
        r#"
        %n = t.const {value = 3} : i64
        %zero = t.const {value = 0} : i64
        %one = t.const {value = 1} : i64
        %r = t.while (%zero) cond (%i: i64) {
          %go = t.less (%i, %n) : i1
          t.test (%go, %i)
        } body (%p: i64) {
          %q = t.add (%p, %one) : i64
          t.yield (%q)
        } : i64
        t.print (%r)
        "#,
    );
}

#[test]
fn nests_of_decided_branches_take_linear_time() {
    let depth = 20_000;
    let mut source = String::from("%x = t.in {name = \"x\"} : i64\n%c = t.const {value = true} : i1\n");
    source.push_str(&"t.if (%c) then {\n".repeat(depth));
    source.push_str("t.print (%x)\n");
    source.push_str(&"t.yield\n}\n".repeat(depth));
    let out = run("canonicalize", &source);
    assert_eq!(out, "%x = t.in {name = \"x\"} : i64\nt.print (%x)\n");
}

#[test]
fn fuel_runs_out_when_told() {
    let source = r#"
        %x = t.in {name = "x"} : i64
        %zero = t.const {value = 0} : i64
        %a = t.add (%x, %zero) : i64
        %b = t.add (%a, %zero) : i64
        t.print (%b)
        "#;
    let out = run("canonicalize{max-steps=1}", source);
    assert_eq!(out.matches("t.add").count(), 1);
    expect_same("canonicalize{max-steps=0}", source);
}

/// Divides integers.
struct Divider;
impl ConstantEvaluator for Divider {
    fn evaluate(&self, op: OpView<'_>, operands: &[Attr]) -> Option<SmallVec<[Attr; 2]>> {
        let [x, y] = operands else { return None };
        let (x, y) = (op.ctx.attr_int(*x)?, op.ctx.attr_int(*y)?);
        (op.name() == "t.div").then_some(())?;
        Some(smallvec![op.ctx.int_attr(x.checked_div(y)?)])
    }
}

#[test]
fn the_evaluator_computes_what_folds_do_not() {
    let evaluate = |source: &str| -> (Module, Changed) {
        let mut module = read(source);
        let pipeline = Pipeline::parse("canonicalize").unwrap();
        let changed = PassManager::new()
            .set_evaluator(&Divider)
            .run(&mut module, &pipeline)
            .unwrap();
        (module, changed)
    };
    let source = r#"
        %a = t.const {value = 7} : i64
        %b = t.const {value = 2} : i64
        %q = t.div (%a, %b) : i64
        t.print (%q)
        "#;
    let (module, changed) = evaluate(source);
    assert_eq!(changed, Changed::Yes);
    let text = pir_ir::text::print(&module, &pir_ir::text::PrintOptions::default());
    assert_eq!(text, "%q = t.const {value = 3} : i64\nt.print (%q)\n");
    let (_, changed) = evaluate(&source.replace("value = 2", "value = 0"));
    assert_eq!(changed, Changed::No);
}
