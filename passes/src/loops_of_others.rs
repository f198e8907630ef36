//! Loops of other forms than `pd.while`, known by their flow of control alone: passes, and edits of what they carry.

use pir_ir::text::{PrintOptions, print};
use pir_ir::verify::verify;
use pir_ir::{Body, Context, Diagnostic, FlowEdit, FlowKind, FlowPoint, Module, OpId, Rewriter, Type};

use crate::testing::{expect, expect_same, lines, read};

const FOR: &str = r#"
    %n = t.in {name = "n"} : i64
    %x = t.in {name = "x"} : f32
    %a, %b = t.for (%n, %n, %n, %x, %x) do (%i: i64, %p: f32, %q: f32) {
      %s = t.add (%p, %q) : f32
      t.yield (%s, %q)
    } : f32, f32
    t.print (%a)
"#;

const TESTED: &str = r#"
    %c = t.in {name = "c"} : i1
    %x = t.in {name = "x"} : f32
    %a, %b = t.loop (%x, %x) cond (%p: f32, %q: f32) {
      t.print (%p)
      t.test (%c)
    } body (%r: f32, %s: f32) {
      %t = t.add (%r, %s) : f32
      t.yield (%t, %s)
    } : f32, f32
    t.print (%a)
"#;

fn text(module: &Module) -> String {
    print(module, &PrintOptions::default())
}

fn find(ctx: &Context, body: &Body, name: &str) -> OpId {
    body.walk_all()
        .find(|&op| ctx.op_str(body.op_name(op)) == name)
        .unwrap()
}

/// Edits the operation called `name` and gives the program, which is right, or why it was not edited: then it is the same.
fn edit(
    source: &str,
    name: &str,
    f: impl Fn(&mut Rewriter<'_>, OpId) -> Result<(), pir_ir::Refused>,
) -> Result<String, String> {
    let mut module = read(source);
    let ctx = module.ctx.clone();
    let before = text(&module);
    let op = find(&ctx, &module.body, name);
    let done = f(&mut Rewriter::new(&ctx, &mut module.body), op);
    let errors: Vec<Diagnostic> = verify(&module);
    assert!(errors.is_empty(), "{}\n{errors:#?}", text(&module));
    match done {
        Ok(()) => Ok(text(&module)),
        Err(refused) => {
            assert_eq!(before, text(&module), "changed and refused");
            assert_eq!(refused.diagnostic(&module.body).code, "flow-edit");
            Err(refused.why.to_owned())
        }
    }
}

#[track_caller]
fn expect_edit(source: &str, name: &str, f: impl Fn(&mut Rewriter<'_>, OpId) -> Result<(), pir_ir::Refused>, to: &str) {
    let edited = edit(source, name, f).unwrap();
    assert!(lines(&edited) == lines(to), "{edited}\nexpected:\n{to}");
}

#[test]
fn forms_are_told_from_the_ways_of_control() {
    let source = format!(
        "{FOR}{}",
        "t.while cond {\nt.test (%c)\n} body {\nt.yield\n}\nt.if (%c) then {\nt.yield\n} else {\nt.yield\n}\n"
    );
    let module = read(&format!("%c = t.in {{name = \"c\"}} : i1\n{source}"));
    let kind = |name| {
        module
            .body
            .flow_kind(&module.ctx, find(&module.ctx, &module.body, name))
    };
    assert_eq!(kind("t.while"), Some(FlowKind::Loop));
    assert_eq!(kind("t.if"), Some(FlowKind::Branch));
    assert_eq!(kind("t.for"), None);
    assert_eq!(kind("t.in"), None);
}

#[test]
fn what_never_changes_is_forwarded() {
    expect(
        "forward-args",
        FOR,
        r#"
        %n = t.in {name = "n"} : i64
        %x = t.in {name = "x"} : f32
        %a = t.for (%n, %n, %n, %x) do (%i: i64, %p: f32) {
          %s = t.add (%p, %x) : f32
          t.yield (%s)
        } : f32
        t.print (%a)
        "#,
    );
    expect(
        "forward-args",
        TESTED,
        r#"
        %c = t.in {name = "c"} : i1
        %x = t.in {name = "x"} : f32
        %a = t.loop (%x) cond (%p: f32) {
          t.print (%p)
          t.test (%c)
        } body (%r: f32) {
          %t = t.add (%r, %x) : f32
          t.yield (%t)
        } : f32
        t.print (%a)
        "#,
    );
}

#[test]
fn invariants_leave_and_what_counts_stays() {
    expect(
        "licm",
        r#"
        %n = t.in {name = "n"} : i64
        %a = t.for (%n, %n, %n, %n) do (%i: i64, %p: i64) {
          %s = t.add (%n, %n) : i64
          %j = t.add (%i, %s) : i64
          t.yield (%j)
        } : i64
        t.print (%a)
        "#,
        r#"
        %n = t.in {name = "n"} : i64
        %s = t.add (%n, %n) : i64
        %a = t.for (%n, %n, %n, %n) do (%i: i64, %p: i64) {
          %j = t.add (%i, %s) : i64
          t.yield (%j)
        } : i64
        t.print (%a)
        "#,
    );
    // The number of the iteration is not a constant, though only constants lead into the loop; and it is not carried.
    expect_same(
        "sccp,forward-args,dce",
        r#"
        %zero = t.const {value = 0} : i64
        %n = t.in {name = "n"} : i64
        %a = t.for (%zero, %n, %n, %zero) do (%i: i64, %p: i64) {
          %s = t.add (%i, %p) : i64
          t.yield (%s)
        } : i64
        t.print (%a)
        "#,
    );
}

#[test]
fn the_first_iteration_of_any_tested_loop() {
    expect(
        "peel",
        r#"
        %x = t.in {name = "x"} : i64
        %r = t.while (%x) cond (%a: i64) {
          %go = t.less (%a, %x) : i1
          t.test (%go, %a)
        } body (%b: i64) {
          %n = t.add (%b, %x) : i64
          t.yield (%n)
        } : i64
        t.print (%r)
        "#,
        r#"
        %x = t.in {name = "x"} : i64
        %go = t.less (%x, %x) : i1
        %r = t.if (%go) then {
          %n = t.add (%x, %x) : i64
          %r = t.while (%n) cond (%a: i64) {
            %go_1 = t.less (%a, %x) : i1
            t.test (%go_1, %a)
          } body (%b: i64) {
            %n_1 = t.add (%b, %x) : i64
            t.yield (%n_1)
          } : i64
          t.yield (%r)
        } else {
          t.yield (%x)
        } : i64
        t.print (%r)
        "#,
    );
}

#[test]
fn a_value_is_added_everywhere() {
    let carry = |r: &mut Rewriter<'_>, op: OpId| {
        let mut edit = FlowEdit::new(r.ctx, r.body, op)?;
        let lane = edit.carry(Type::F32);
        let ready = edit.check(r.body)?;
        let initial = r.body.operand(op, r.body.num_operands(op) - 1);
        let done = ready.apply(r, &[initial]);
        for arg in done.inputs(r.body, lane) {
            r.name(arg, "new");
        }
        let result = done.result(r.body, lane);
        r.name(result, "out");
        assert_eq!(done.result_at(lane), 2);
        Ok(())
    };
    expect_edit(
        FOR,
        "t.for",
        carry,
        r#"
        %n = t.in {name = "n"} : i64
        %x = t.in {name = "x"} : f32
        %a, %b, %out = t.for (%n, %n, %n, %x, %x, %x) do (%i: i64, %p: f32, %q: f32, %new: f32) {
          %s = t.add (%p, %q) : f32
          t.yield (%s, %q, %new)
        } : f32, f32, f32
        t.print (%a)
        "#,
    );
    expect_edit(
        TESTED,
        "t.loop",
        carry,
        r#"
        %c = t.in {name = "c"} : i1
        %x = t.in {name = "x"} : f32
        %a, %b, %out = t.loop (%x, %x, %x) cond (%p: f32, %q: f32, %new: f32) {
          t.print (%p)
          t.test (%c)
        } body (%r: f32, %s: f32, %new: f32) {
          %t = t.add (%r, %s) : f32
          t.yield (%t, %s, %new)
        } : f32, f32, f32
        t.print (%a)
        "#,
    );
}

#[test]
fn values_are_removed_replaced_and_reordered_as_a_whole() {
    let change = |r: &mut Rewriter<'_>, op: OpId, f: fn(&mut FlowEdit<'_>, &Body)| {
        let mut edit = FlowEdit::new(r.ctx, r.body, op)?;
        f(&mut edit, r.body);
        edit.check(r.body)?.apply(r, &[]);
        Ok(())
    };
    for (source, name) in [(FOR, "t.for"), (TESTED, "t.loop")] {
        // It is used inside, and no replacement is given.
        let refused = edit(source, name, |r, op| change(r, op, |e, body| e.remove_carried(body, 1)));
        assert_eq!(refused, Err("this uses a value that is to be removed".to_owned()));
        let refused = edit(source, name, |r, op| change(r, op, |e, body| e.remove_carried(body, 0)));
        assert_eq!(refused, Err("this uses a value that is to be removed".to_owned()));
        // Nothing is known to start it from.
        let refused = edit(source, name, |r, op| {
            change(r, op, |e, _| {
                e.add(FlowPoint::Parent, Type::F32, &[]);
            })
        });
        assert_eq!(refused, Err("a region has no values to forward".to_owned()));
    }
    let replace = |r: &mut Rewriter<'_>, op: OpId| {
        let outside = r.body.operand(op, 3);
        let mut edit = FlowEdit::new(r.ctx, r.body, op)?;
        edit.replace(r.body, FlowPoint::Parent, 1, outside);
        edit.check(r.body)?.apply(r, &[]);
        Ok(())
    };
    expect_edit(
        FOR,
        "t.for",
        replace,
        r#"
        %n = t.in {name = "n"} : i64
        %x = t.in {name = "x"} : f32
        %a = t.for (%n, %n, %n, %x) do (%i: i64, %p: f32) {
          %s = t.add (%p, %x) : f32
          t.yield (%s)
        } : f32
        t.print (%a)
        "#,
    );
    expect_edit(
        FOR,
        "t.for",
        |r, op| change(r, op, |e, _| e.permute(FlowPoint::Parent, vec![1, 0])),
        r#"
        %n = t.in {name = "n"} : i64
        %x = t.in {name = "x"} : f32
        %b, %a = t.for (%n, %n, %n, %x, %x) do (%i: i64, %q: f32, %p: f32) {
          %s = t.add (%p, %q) : f32
          t.yield (%q, %s)
        } : f32, f32
        t.print (%a)
        "#,
    );
}

#[test]
fn a_branch_gets_a_result_from_each_side_or_none() {
    let source = r#"
        %c = t.in {name = "c"} : i1
        %x = t.in {name = "x"} : f32
        %y = t.in {name = "y"} : f32
        t.if (%c) then {
          t.yield
        } else {
          t.yield
        }
    "#;
    let give = |r: &mut Rewriter<'_>, op: OpId, sides: usize| {
        let values = [1, 2].map(|at| r.body.block_ops(r.body.op_block(op).unwrap()).nth(at).unwrap());
        let values = values.map(|op| r.body.result(op, 0));
        let given: Vec<_> = values
            .into_iter()
            .enumerate()
            .map(|(at, v)| (FlowPoint::Region(at), v))
            .collect();
        let mut edit = FlowEdit::new(r.ctx, r.body, op)?;
        let lane = edit.add(FlowPoint::Parent, Type::F32, &given[..sides]);
        let done = edit.check(r.body)?.apply(r, &[]);
        let result = done.result(r.body, lane);
        r.name(result, "z");
        Ok(())
    };
    assert_eq!(
        edit(source, "t.if", |r, op| give(r, op, 1)),
        Err("a region has no values to forward".to_owned())
    );
    expect_edit(
        source,
        "t.if",
        |r, op| give(r, op, 2),
        r#"
        %c = t.in {name = "c"} : i1
        %x = t.in {name = "x"} : f32
        %y = t.in {name = "y"} : f32
        %z = t.if (%c) then {
          t.yield (%x)
        } else {
          t.yield (%y)
        } : f32
        "#,
    );
}

/// The code of the passes, line by line, with the place; not that of tests.
fn code() -> Vec<(String, String)> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut pending = vec![root.clone()];
    let mut lines = Vec::new();
    while let Some(at) = pending.pop() {
        if at.is_dir() {
            pending.extend(std::fs::read_dir(at).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        let name = at.strip_prefix(&root).unwrap().to_string_lossy().into_owned();
        if name.ends_with("tests.rs") || name == "testing.rs" || name == "loops_of_others.rs" {
            continue;
        }
        let text = std::fs::read_to_string(&at).unwrap();
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        lines.extend(code.map(|line| (name.clone(), line.to_owned())));
    }
    assert!(lines.len() > 10_000, "only {} lines", lines.len());
    lines
}

#[track_caller]
fn expect_only_in(places: &[&str], words: &[&str]) {
    let named = |line: &str| words.iter().any(|word| line.contains(word));
    let mut met = vec![false; places.len()];
    for (name, line) in code().into_iter().filter(|(_, line)| named(line)) {
        let place = places.iter().position(|place| name.starts_with(place));
        met[place.unwrap_or_else(|| panic!("{name}: {line}"))] = true;
    }
    assert!(met.iter().all(|&met| met), "not all of these need it: {places:?}");
}

#[test]
fn no_pass_knows_loops_and_branches_by_name() {
    // Passes that create them from blocks, from graphs, or for the elements of tensors and buffers.
    expect_only_in(
        &["cfg/", "dataflow/", "autodiff/elements.rs"],
        &[
            "pd::While",
            "pd::If",
            "\"pd.while",
            "\"pd.if",
            "\"cf.yield\"",
            "\"cf.cond_yield\"",
            "cf::YIELD",
            "cf::COND_YIELD",
        ],
    );
}

#[test]
fn no_pass_spells_the_arithmetic_of_adjoints_and_counts() {
    // Passes that create branches from blocks or graphs from loops, accumulate in place, or use buffers, whose counters are their own;
    // and one that recognizes the mask of attention.
    expect_only_in(
        &["cfg/", "dataflow/", "inplace.rs", "autodiff/lower/", "attention.rs"],
        &[
            "pd::Add",
            "pd::add(",
            "pd::Subtract",
            "pd::subtract(",
            "pd::LogicalNot",
            "pd::LogicalAnd",
            "pd::Increment",
            "pd::GreaterThan",
            "pd::LessThan",
            "pd::zeros",
            "pd::select",
        ],
    );
}
