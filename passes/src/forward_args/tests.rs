use crate::testing::{expect, expect_same};

#[test]
fn a_value_carried_unchanged() {
    expect(
        "forward-args",
        r#"
        %i = t.in {name = "i"} : i64
        %ten = t.in {name = "ten"} : i64
        %i_2, %ten2 = t.while (%i, %ten) cond (%arg1: i64, %arg2: i64) {
          %go = t.less (%arg1, %arg2) : i1
          t.test (%go, %arg1, %arg2)
        } body (%arg3: i64, %arg4: i64) {
          %i_3 = t.add (%arg3, %arg4) : i64
          t.yield (%i_3, %arg4)
        } : i64, i64
        t.print (%ten2)
        t.print (%i_2)
        "#,
        r#"
        %i = t.in {name = "i"} : i64
        %ten = t.in {name = "ten"} : i64
        %i_2 = t.while (%i) cond (%arg1: i64) {
          %go = t.less (%arg1, %ten) : i1
          t.test (%go, %arg1)
        } body (%arg3: i64) {
          %i_3 = t.add (%arg3, %ten) : i64
          t.yield (%i_3)
        } : i64
        t.print (%ten)
        t.print (%i_2)
        "#,
    );
}

#[test]
fn values_that_change_places_with_their_likes() {
    expect(
        "forward-args",
        r#"
        %c = t.in {name = "c"} : i1
        %x = t.in {name = "x"} : f32
        %r, %s = t.while (%x, %x) cond (%a: f32, %b: f32) {
          t.print (%a)
          t.test (%c, %b, %a)
        } body (%d: f32, %e: f32) {
          t.yield (%e, %d)
        } : f32, f32
        t.print (%s)
        "#,
        r#"
        %c = t.in {name = "c"} : i1
        %x = t.in {name = "x"} : f32
        t.while cond {
          t.print (%x)
          t.test (%c)
        } body {
          t.yield ()
        }
        t.print (%x)
        "#,
    );
    // With different likes they do change.
    expect_same(
        "forward-args",
        r#"
        %c = t.in {name = "c"} : i1
        %x = t.in {name = "x"} : f32
        %y = t.in {name = "y"} : f32
        %r, %s = t.while (%x, %y) cond (%a: f32, %b: f32) {
          t.print (%a)
          t.test (%c, %a, %b)
        } body (%d: f32, %e: f32) {
          t.yield (%e, %d)
        } : f32, f32
        t.print (%s)
        "#,
    );
}

#[test]
fn through_nested_loops_and_branches() {
    expect(
        "forward-args",
        r#"
        %c = t.in {name = "c"} : i1
        %x = t.in {name = "x"} : f32
        %r = t.while (%x) cond (%a: f32) {
          t.test (%c, %a)
        } body (%b: f32) {
          %k = t.if (%c) then {
            %in = t.while (%b) cond (%e: f32) {
              t.test (%c, %e)
            } body (%g: f32) {
              t.print (%g)
              t.yield (%g)
            } : f32
            t.yield (%in)
          } else {
            t.yield (%b)
          } : f32
          t.yield (%k)
        } : f32
        t.print (%r)
        "#,
        r#"
        %c = t.in {name = "c"} : i1
        %x = t.in {name = "x"} : f32
        t.while cond {
          t.test (%c)
        } body {
          t.if (%c) then {
            t.while cond {
              t.test (%c)
            } body {
              t.print (%x)
              t.yield ()
            }
            t.yield ()
          } else {
            t.yield ()
          }
          t.yield ()
        }
        t.print (%x)
        "#,
    );
}

#[test]
fn the_same_constant_everywhere() {
    expect(
        "forward-args",
        r#"
        %c = t.in {name = "c"} : i1
        %k = t.const {value = 1} : i64
        %r = t.while (%k) cond (%a: i64) {
          t.test (%c, %a)
        } body (%b: i64) {
          %k2 = t.const {value = 1} : i64
          t.print (%b)
          t.yield (%k2)
        } : i64
        %s = t.if (%c) then {
          %p = t.const {value = 2} : i64
          t.yield (%p)
        } else {
          %q = t.const {value = 2} : i64
          t.yield (%q)
        } : i64
        t.print (%s)
        "#,
        r#"
        %c = t.in {name = "c"} : i1
        %k = t.const {value = 1} : i64
        t.while cond {
          t.test (%c)
        } body {
          %k2 = t.const {value = 1} : i64
          t.print (%k)
          t.yield ()
        }
        %p = t.const {value = 2} : i64
        t.if (%c) then {
          %p_1 = t.const {value = 2} : i64
          t.yield ()
        } else {
          %q = t.const {value = 2} : i64
          t.yield ()
        }
        t.print (%p)
        "#,
    );
}

#[test]
fn different_constants_and_types_are_not_the_same() {
    expect_same(
        "forward-args",
        r#"
        %c = t.in {name = "c"} : i1
        %s = t.if (%c) then {
          %p = t.const {value = 2} : i64
          t.yield (%p)
        } else {
          %q = t.const {value = 3} : i64
          t.yield (%q)
        } : i64
        t.print (%s)
        "#,
    );
}

#[test]
fn a_value_of_the_region_itself_cannot_be_used_outside() {
    expect_same(
        "forward-args",
        r#"
        %c = t.in {name = "c"} : i1
        %x = t.in {name = "x"} : f32
        %r = t.while (%x) cond (%a: f32) {
          %d = t.add (%x, %x) : f32
          t.test (%c, %d)
        } body (%b: f32) {
          t.print (%b)
          t.yield (%b)
        } : f32
        t.print (%r)
        "#
        .replace("(%x) cond (%a: f32)", "cond")
        .replace("t.yield (%b)", "t.yield ()")
        .as_str(),
    );
}

#[test]
fn a_changing_value_and_a_swap_with_it() {
    expect_same(
        "forward-args",
        r#"
        %c = t.in {name = "c"} : i1
        %x = t.in {name = "x"} : f32
        %r = t.while (%x) cond (%a: f32) {
          t.test (%c, %a)
        } body (%b: f32) {
          %d = t.add (%b, %x) : f32
          t.yield (%d)
        } : f32
        t.print (%r)
        "#,
    );
}

#[test]
fn arguments_of_blocks() {
    expect(
        "forward-args",
        r#"
        t.func @f(%c: i1, %x: f32) -> f32 {
          t.br ^loop(%x)
        ^loop(%p: f32):
          t.fork %c, ^loop(%p), ^end(%p)
        ^end(%q: f32):
          t.return (%q)
        }
        "#,
        r#"
        t.func @f(%c: i1, %x: f32) -> f32 {
          t.br ^loop
        ^loop:
          t.fork %c, ^loop, ^end
        ^end:
          t.return (%x)
        }
        "#,
    );
}

#[test]
fn long_chains_of_loops() {
    use std::fmt::Write;
    let mut source = String::from("%c = t.in {name = \"c\"} : i1\n%v0 = t.in {name = \"x\"} : f32\n");
    for i in 0..2000 {
        let _ = writeln!(
            source,
            "%v{} = t.while (%v{i}) cond (%a{i}: f32) {{\nt.test (%c, %a{i})\n}} body (%b{i}: f32) {{\n\
             t.yield (%b{i})\n}} : f32",
            i + 1
        );
    }
    source.push_str("t.print (%v2000)\n");
    let out = crate::testing::run("forward-args", &source);
    assert!(out.trim_end().ends_with("t.print (%v0)"), "{}", &out[out.len() - 200..]);
}
