use crate::testing::{expect, expect_same, nest, run};

#[test]
fn out_of_both_regions_with_what_depends_on_it() {
    expect(
        "licm",
        r#"
        %i = t.in {name = "i"} : i64
        %ten = t.in {name = "ten"} : i64
        %i_2 = t.while (%i) cond (%arg1: i64) {
          %k = t.add (%ten, %ten) : i64
          %go = t.less (%arg1, %k) : i1
          t.test (%go, %arg1)
        } body (%arg2: i64) {
          %1 = t.const {value = 1} : i64
          %2 = t.add (%1, %ten) : i64
          %i_3 = t.add (%arg2, %2) : i64
          t.yield (%i_3)
        } : i64
        t.print (%i_2)
        "#,
        r#"
        %i = t.in {name = "i"} : i64
        %ten = t.in {name = "ten"} : i64
        %k = t.add (%ten, %ten) : i64
        %1 = t.const {value = 1} : i64
        %2 = t.add (%1, %ten) : i64
        %i_2 = t.while (%i) cond (%arg1: i64) {
          %go = t.less (%arg1, %k) : i1
          t.test (%go, %arg1)
        } body (%arg2: i64) {
          %i_3 = t.add (%arg2, %2) : i64
          t.yield (%i_3)
        } : i64
        t.print (%i_2)
        "#,
    );
}

#[test]
fn out_of_several_loops_at_once_as_far_as_operands_allow() {
    expect(
        "licm",
        r#"
        %c = t.in {name = "c"} : i1
        %x = t.in {name = "x"} : f32
        %r = t.while (%x) cond (%a: f32) {
          t.test (%c, %a)
        } body (%b: f32) {
          t.while cond {
            t.test (%c)
          } body {
            %all = t.add (%x, %x) : f32
            %one = t.add (%b, %all) : f32
            t.print (%one)
            t.yield ()
          }
          t.yield (%b)
        } : f32
        "#,
        r#"
        %c = t.in {name = "c"} : i1
        %x = t.in {name = "x"} : f32
        %all = t.add (%x, %x) : f32
        %r = t.while (%x) cond (%a: f32) {
          t.test (%c, %a)
        } body (%b: f32) {
          %one = t.add (%b, %all) : f32
          t.while cond {
            t.test (%c)
          } body {
            t.print (%one)
            t.yield ()
          }
          t.yield (%b)
        } : f32
        "#,
    );
}

#[test]
fn what_may_fail_only_where_it_is_certain_to_run() {
    // In the body it need not run at all.
    expect_same(
        "licm",
        r#"
        %c = t.in {name = "c"} : i1
        %x = t.in {name = "x"} : f32
        t.while cond {
          t.test (%c)
        } body {
          %d = t.div (%x, %x) : f32
          t.print (%d)
          t.yield ()
        }
        "#,
    );
    // The cond region runs at least once.
    expect(
        "licm",
        r#"
        %c = t.in {name = "c"} : i1
        %x = t.in {name = "x"} : f32
        %r = t.while cond {
          %d = t.div (%x, %x) : f32
          t.print (%d)
          %e = t.div (%d, %x) : f32
          t.test (%c, %e)
        } body (%b: f32) {
          t.yield ()
        } : f32
        "#,
        r#"
        %c = t.in {name = "c"} : i1
        %x = t.in {name = "x"} : f32
        %d = t.div (%x, %x) : f32
        %r = t.while cond {
          t.print (%d)
          %e = t.div (%d, %x) : f32
          t.test (%c, %e)
        } body (%b: f32) {
          t.yield ()
        } : f32
        "#,
    );
}

#[test]
fn reads_only_when_the_loop_does_not_write() {
    let source = |inner: &str| {
        format!(
            r#"
            %x = t.in {{name = "x"}} : f32
            %s = t.new () : t.stack
            t.while cond {{
              %e = t.empty (%s) : i1
              t.test (%e)
            }} body {{
              {inner}
              t.yield ()
            }}
            "#
        )
    };
    expect_same("licm", &source("t.push (%s, %x)"));
    // A print does not change a stack.
    expect(
        "licm",
        &source("t.print (%x)"),
        r#"
        %x = t.in {name = "x"} : f32
        %s = t.new () : t.stack
        %e = t.empty (%s) : i1
        t.while cond {
          t.test (%e)
        } body {
          t.print (%x)
          t.yield ()
        }
        "#,
    );
}

#[test]
fn resources_are_made_anew_in_each_iteration() {
    expect_same(
        "licm",
        r#"
        %c = t.in {name = "c"} : i1
        t.while cond {
          %s = t.new () : t.stack
          t.push (%s, %c)
          %e = t.empty (%s) : i1
          t.test (%e)
        } body {
          t.yield ()
        }
        "#,
    );
}

#[test]
fn whole_branches_and_what_is_invariant_in_others() {
    expect(
        "licm",
        r#"
        %c = t.in {name = "c"} : i1
        %x = t.in {name = "x"} : f32
        %r = t.while (%x) cond (%a: f32) {
          t.test (%c, %a)
        } body (%b: f32) {
          %whole = t.if (%c) then {
            %p = t.add (%x, %x) : f32
            t.yield (%p)
          } else {
            t.yield (%x)
          } : f32
          %part = t.if (%c) then {
            %q = t.add (%whole, %x) : f32
            %q2 = t.add (%q, %b) : f32
            t.yield (%q2)
          } else {
            t.yield (%b)
          } : f32
          t.yield (%part)
        } : f32
        "#,
        r#"
        %c = t.in {name = "c"} : i1
        %x = t.in {name = "x"} : f32
        %whole = t.if (%c) then {
          %p = t.add (%x, %x) : f32
          t.yield (%p)
        } else {
          t.yield (%x)
        } : f32
        %q = t.add (%whole, %x) : f32
        %r = t.while (%x) cond (%a: f32) {
          t.test (%c, %a)
        } body (%b: f32) {
          %part = t.if (%c) then {
            %q2 = t.add (%q, %b) : f32
            t.yield (%q2)
          } else {
            t.yield (%b)
          } : f32
          t.yield (%part)
        } : f32
        "#,
    );
    // A branch with something in it that may fail is not run before the loop runs.
    expect_same(
        "licm",
        r#"
        %c = t.in {name = "c"} : i1
        %x = t.in {name = "x"} : f32
        t.while cond {
          t.test (%c)
        } body {
          %r = t.if (%c) then {
            %d = t.div (%x, %x) : f32
            t.yield (%d)
          } else {
            t.yield (%x)
          } : f32
          t.print (%r)
          t.yield ()
        }
        "#,
    );
}

#[test]
fn nothing_out_of_branches_when_that_is_not_wanted_or_no_loop_is_left() {
    let source = r#"
        %c = t.in {name = "c"} : i1
        %x = t.in {name = "x"} : f32
        %o = t.if (%c) then {
          %r = t.while (%x) cond (%a: f32) {
            t.test (%c, %a)
          } body (%b: f32) {
            %d = t.if (%c) then {
              %p = t.add (%x, %x) : f32
              %q = t.add (%b, %p) : f32
              t.yield (%q)
            } else {
              t.yield (%b)
            } : f32
            t.yield (%d)
          } : f32
          t.yield (%r)
        } else {
          t.yield (%x)
        } : f32
        t.print (%o)
        "#;
    expect_same("licm{branches=false}", source);
    // To before the loop, but not out of the branch that the loop is in.
    let sum = "%p = t.add (%x, %x) : f32\n";
    let moved = source
        .replace(sum, "")
        .replace("%r = t.while", &format!("{sum}%r = t.while"));
    expect("licm", source, &moved);
}

#[test]
fn whole_loops_only_where_they_are_certain_to_run() {
    let source = |cond: &str, body: &str| {
        format!(
            r#"
            %c = t.in {{name = "c"}} : i1
            %x = t.in {{name = "x"}} : f32
            %r = t.while (%x) cond (%a: f32) {{
              {cond}t.test (%c, %a)
            }} body (%b: f32) {{
              {body}t.yield (%b)
            }} : f32
            t.print (%r)
            "#
        )
    };
    // It may not end. In the cond region it runs for certain.
    let inner = "%i = t.while (%x) cond (%p: f32) {\nt.test (%c, %p)\n} body (%q: f32) {\nt.yield (%q)\n} : f32\n";
    let tail = "t.print (%i)\n";
    expect_same("licm", &source("", &format!("{inner}{tail}")));
    let out = source(tail, "").replace("%r = t.while", &format!("{inner}%r = t.while"));
    expect("licm", &source(&format!("{inner}{tail}"), ""), &out);
    // So it does in a body that is known to be entered, unless something is written before.
    let entered = |cond: &str, body: &str| {
        let constant = "%yes = t.const {value = true} : i1\n%r = t.while";
        let source = source(cond, body).replace("%r = t.while", constant);
        source.replacen("t.test (%c, %a)", "t.test (%yes, %a)", 1)
    };
    let out = entered("", tail).replace("%r = t.while", &format!("{inner}%r = t.while"));
    expect("licm", &entered("", &format!("{inner}{tail}")), &out);
    expect_same("licm", &entered("t.print (%x)\n", &format!("{inner}{tail}")));
}

#[test]
fn a_branch_in_a_branch_that_captures_a_middle_level() {
    // The inner branch of the branch uses %b of the outer loop: it leaves the inner loop only.
    expect(
        "licm",
        r#"
        %c = t.in {name = "c"} : i1
        %x = t.in {name = "x"} : f32
        %r = t.while (%x) cond (%a: f32) {
          t.test (%c, %a)
        } body (%b: f32) {
          t.while cond {
            t.test (%c)
          } body {
            %o = t.if (%c) then {
              %i = t.if (%c) then {
                %p = t.add (%b, %x) : f32
                t.yield (%p)
              } else {
                t.yield (%x)
              } : f32
              t.yield (%i)
            } else {
              t.yield (%x)
            } : f32
            t.print (%o)
            t.yield ()
          }
          t.yield (%b)
        } : f32
        "#,
        r#"
        %c = t.in {name = "c"} : i1
        %x = t.in {name = "x"} : f32
        %r = t.while (%x) cond (%a: f32) {
          t.test (%c, %a)
        } body (%b: f32) {
          %o = t.if (%c) then {
            %i = t.if (%c) then {
              %p = t.add (%b, %x) : f32
              t.yield (%p)
            } else {
              t.yield (%x)
            } : f32
            t.yield (%i)
          } else {
            t.yield (%x)
          } : f32
          t.while cond {
            t.test (%c)
          } body {
            t.print (%o)
            t.yield ()
          }
          t.yield (%b)
        } : f32
        "#,
    );
}

#[test]
fn deep_nests_take_linear_time() {
    let out = run("licm", &nest(20_000, "%inv = t.add (%x, %x) : f32\nt.print (%inv)\n"));
    assert!(out.lines().nth(2).unwrap().starts_with("%inv = "), "{:.300}", out);
}
