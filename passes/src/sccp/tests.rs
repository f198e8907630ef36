use crate::testing::{expect, expect_same, nest, run};

#[test]
fn a_value_that_stays_the_same_as_long_as_it_is_the_same() {
    // Each next value of %a is computed from a branch that is not taken while it is 1.
    expect(
        "sccp",
        r#"
        %c = t.in {name = "c"} : i1
        %one = t.const {value = 1} : i64
        %two = t.const {value = 2} : i64
        %r = t.while (%one) cond (%a: i64) {
          t.test (%c, %a)
        } body (%b: i64) {
          %same = t.less (%b, %two) : i1
          %next = t.if (%same) then {
            %zero = t.const {value = 0} : i64
            %sum = t.add (%b, %zero) : i64
            t.yield (%sum)
          } else {
            t.print (%b)
            t.yield (%two)
          } : i64
          t.print (%next)
          t.yield (%next)
        } : i64
        t.print (%r)
        "#,
        r#"
        %c = t.in {name = "c"} : i1
        %one = t.const {value = 1} : i64
        %two = t.const {value = 2} : i64
        %r = t.const {value = 1} : i64
        %r_1 = t.while (%one) cond (%a: i64) {
          %a_1 = t.const {value = 1} : i64
          t.test (%c, %a_1)
        } body (%b: i64) {
          %b_1 = t.const {value = 1} : i64
          %same = t.const {value = true} : i1
          %next = t.const {value = 1} : i64
          %next_1 = t.if (%same) then {
            %zero = t.const {value = 0} : i64
            %sum = t.const {value = 1} : i64
            t.yield (%sum)
          } else {
            t.print (%b_1)
            t.yield (%two)
          } : i64
          t.print (%next)
          t.yield (%next)
        } : i64
        t.print (%r)
        "#,
    );
}

#[test]
fn a_counter_and_what_is_computed_from_it_vary() {
    expect_same(
        "sccp",
        r#"
        %zero = t.const {value = 0} : i64
        %one = t.const {value = 1} : i64
        %ten = t.const {value = 10} : i64
        %r = t.while (%zero) cond (%a: i64) {
          %go = t.less (%a, %ten) : i1
          t.test (%go, %a)
        } body (%b: i64) {
          %next = t.add (%b, %one) : i64
          t.yield (%next)
        } : i64
        t.print (%r)
        "#,
    );
}

#[test]
fn a_loop_that_does_not_run_changes_nothing() {
    expect(
        "sccp",
        r#"
        %one = t.const {value = 1} : i64
        %r = t.while (%one) cond (%a: i64) {
          %go = t.less (%a, %a) : i1
          t.test (%go, %a)
        } body (%b: i64) {
          %x = t.in {name = "x"} : i64
          t.yield (%x)
        } : i64
        t.print (%r)
        "#,
        r#"
        %one = t.const {value = 1} : i64
        %r = t.const {value = 1} : i64
        %r_1 = t.while (%one) cond (%a: i64) {
          %a_1 = t.const {value = 1} : i64
          %go = t.const {value = false} : i1
          t.test (%go, %a_1)
        } body (%b: i64) {
          %x = t.in {name = "x"} : i64
          t.yield (%x)
        } : i64
        t.print (%r)
        "#,
    );
}

#[test]
fn branches_that_agree_and_that_do_not() {
    expect(
        "sccp",
        r#"
        %c = t.in {name = "c"} : i1
        %r, %s = t.if (%c) then {
          %p = t.const {value = 2} : i64
          t.yield (%p, %p)
        } else {
          %one = t.const {value = 1} : i64
          %q = t.add (%one, %one) : i64
          t.yield (%q, %one)
        } : i64, i64
        %t = t.add (%r, %r) : i64
        t.print (%t)
        t.print (%s)
        "#,
        r#"
        %c = t.in {name = "c"} : i1
        %r = t.const {value = 2} : i64
        %r_1, %s = t.if (%c) then {
          %p = t.const {value = 2} : i64
          t.yield (%p, %p)
        } else {
          %one = t.const {value = 1} : i64
          %q = t.const {value = 2} : i64
          t.yield (%q, %one)
        } : i64, i64
        %t = t.const {value = 4} : i64
        t.print (%t)
        t.print (%s)
        "#,
    );
}

#[test]
fn blocks() {
    expect(
        "sccp",
        r#"
        t.func @f(%x: i64) -> i64 {
          %one = t.const {value = 1} : i64
          t.br ^loop(%one)
        ^loop(%a: i64):
          %two = t.const {value = 2} : i64
          %low = t.less (%a, %two) : i1
          t.fork %low, ^same, ^other
        ^same:
          %c = t.less (%x, %a) : i1
          t.fork %c, ^loop(%a), ^end(%a, %x)
        ^other:
          t.br ^loop(%x)
        ^end(%r: i64, %y: i64):
          %s = t.add (%r, %y) : i64
          t.return (%s)
        }
        "#,
        r#"
        t.func @f(%x: i64) -> i64 {
          %one = t.const {value = 1} : i64
          t.br ^loop(%one)
        ^loop(%a: i64):
          %a_1 = t.const {value = 1} : i64
          %two = t.const {value = 2} : i64
          %low = t.const {value = true} : i1
          t.fork %low, ^same, ^other
        ^same:
          %c = t.less (%x, %a_1) : i1
          t.fork %c, ^loop(%a_1), ^end(%a_1, %x)
        ^other:
          t.br ^loop(%x)
        ^end(%r: i64, %y: i64):
          %r_1 = t.const {value = 1} : i64
          %s = t.add (%r_1, %y) : i64
          t.return (%s)
        }
        "#,
    );
}

#[test]
fn the_arguments_of_a_function_vary() {
    expect_same(
        "sccp",
        r#"
        t.func @f(%x: i64) -> i64 {
          %one = t.const {value = 1} : i64
          %s = t.add (%x, %one) : i64
          t.return (%s)
        }
        "#,
    );
}

#[test]
fn deep_nests() {
    let out = run(
        "sccp",
        &nest(
            20_000,
            "%k = t.const {value = 1} : i64\n%l = t.add (%k, %k) : i64\nt.print (%l)\n",
        ),
    );
    assert!(out.contains("%l = t.const {value = 2}"));
}
