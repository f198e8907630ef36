use crate::testing::{expect, expect_same, nest, run};

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
fn deep_nests_take_linear_time() {
    let out = run("licm", &nest(20_000, "%inv = t.add (%x, %x) : f32\nt.print (%inv)\n"));
    assert!(out.lines().nth(2).unwrap().starts_with("%inv = "), "{:.300}", out);
}
