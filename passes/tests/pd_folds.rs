//! The folds of the tensor operations, by way of `canonicalize`.

use pir_ir::text::{ParseOptions, PrintOptions, parse, print};
use pir_ir::verify::verify;
use pir_passes::{PassManager, Pipeline};

fn canonicalize(source: &str) -> String {
    run("canonicalize", source)
}

fn run(pipeline: &str, source: &str) -> String {
    let ctx = pir_dialects::context();
    let mut module = parse(&ctx, source.as_bytes(), &ParseOptions::default());
    assert!(module.diagnostics.is_empty(), "{source}\n{:#?}", module.diagnostics);
    let errors = verify(&module.module);
    assert!(errors.is_empty(), "{source}\n{errors:#?}");
    let pipeline = Pipeline::parse(pipeline).expect("the pass is there");
    PassManager::new()
        .run(&mut module.module, &pipeline)
        .unwrap_or_else(|errors| panic!("{source}\n{errors:#?}"));
    print(&module.module, &PrintOptions::default())
}

const INPUTS: &str = r#"
%x = pd.data {name = "x", shape = [2, 3], dtype = f32} : tensor<2x3xf32>
%n = pd.data {name = "n", shape = [2, 3], dtype = i64} : tensor<2x3xi64>
%b = pd.data {name = "b", shape = [2, 3], dtype = i1} : tensor<2x3xi1>
%d = pd.data {name = "d", shape = [-1, 3], dtype = f32} : tensor<?x3xf32>
"#;

/// The operation that the fetched value `%r` comes down to.
fn becomes(body: &str) -> String {
    becomes_by("canonicalize", body)
}

fn becomes_by(pipeline: &str, body: &str) -> String {
    let out = run(pipeline, &format!("{INPUTS}{body}\npd.fetch (%r) {{name = \"r\"}}\n"));
    let lines: Vec<&str> = out.lines().filter(|l| !l.contains("pd.data")).collect();
    lines.join("\n")
}

#[track_caller]
fn is(body: &str, value: &str) {
    assert_eq!(becomes(body), format!("pd.fetch ({value}) {{name = \"r\"}}"), "{body}");
}

#[track_caller]
fn stays(body: &str, op: &str) {
    assert!(becomes(body).contains(op), "{body}\nbecame\n{}", becomes(body));
}

fn full(name: &str, shape: &str, value: &str, ty: &str) -> String {
    format!("%{name} = pd.full {{shape = {shape}, value = {value}, dtype = {ty}}}\n")
}

#[test]
fn neutral_elements_that_change_nothing() {
    let one = full("k", "[1]", "1.0", "f32");
    is(&format!("{one}%r = pd.multiply (%x, %k)"), "%x");
    is(&format!("{one}%r = pd.multiply (%k, %x)"), "%x");
    is(&format!("{one}%r = pd.divide (%x, %k)"), "%x");
    is(
        &format!("{}%r = pd.subtract (%x, %k)", full("k", "[]", "0.0", "f32")),
        "%x",
    );
    is(&format!("{}%r = pd.add (%x, %k)", full("k", "[]", "-0.0", "f32")), "%x");
    is(&format!("{}%r = pd.add (%k, %n)", full("k", "[1]", "0", "i64")), "%n");
    is(
        &format!("{}%r = pd.multiply (%n, %k)", full("k", "[3]", "1", "i64")),
        "%n",
    );
    is(
        &format!("{}%r = pd.logical_and (%b, %k)", full("k", "[1]", "true", "i1")),
        "%b",
    );
    is(
        &format!("{}%r = pd.logical_or (%k, %b)", full("k", "[1]", "false", "i1")),
        "%b",
    );
    is("%r = pd.pow (%x) {y = 1.0}", "%x");
}

#[test]
fn what_only_looks_neutral_stays() {
    // -0 + 0 is 0.
    stays(
        &format!("{}%r = pd.add (%x, %k)", full("k", "[1]", "0.0", "f32")),
        "pd.add",
    );
    stays(
        &format!("{}%r = pd.subtract (%x, %k)", full("k", "[1]", "-0.0", "f32")),
        "pd.subtract",
    );
    // NaN times zero is NaN.
    stays(
        &format!("{}%r = pd.multiply (%x, %k)", full("k", "[1]", "0.0", "f32")),
        "pd.multiply",
    );
    // The constant gives the result its shape.
    stays(
        &format!("{}%r = pd.multiply (%x, %k)", full("k", "[4, 2, 3]", "1.0", "f32")),
        "pd.multiply",
    );
    // Truth values come of numbers.
    stays(
        &format!("{}%r = pd.logical_and (%n, %k)", full("k", "[2, 3]", "1", "i64")),
        "pd.logical_and",
    );
    stays("%k = pd.neg (%x)\n%r = pd.abs (%k)", "pd.neg");
    // Unknown dimensions may be different.
    stays("%r = pd.reshape (%d) {shape = [-1, 3]}", "pd.reshape");
    stays("%r = pd.reshape (%x) {shape = [3, 2]}", "pd.reshape");
    stays("%r = pd.transpose (%x) {perm = [1, 0]}", "pd.transpose");
    stays("%r = pd.cast (%x) {dtype = f64}", "pd.cast");
    stays("%r = pd.add_n (%x, %x)", "pd.add_n");
}

#[test]
fn operations_that_undo_each_other_or_do_nothing() {
    is("%k = pd.neg (%x)\n%r = pd.neg (%k)", "%x");
    is("%k = pd.logical_not (%b)\n%r = pd.logical_not (%k)", "%b");
    is(
        "%k = pd.transpose (%x) {perm = [1, 0]}\n%r = pd.transpose (%k) {perm = [1, 0]}",
        "%x",
    );
    is("%r = pd.transpose (%x) {perm = [0, 1]}", "%x");
    is(
        "%k = pd.reshape (%x) {shape = [6]}\n%r = pd.reshape (%k) {shape = [2, 3]}",
        "%x",
    );
    is("%r = pd.reshape (%x) {shape = [-1, 3]}", "%x");
    is("%r = pd.cast (%x) {dtype = f32}", "%x");
    is("%r = pd.cast (%d) {dtype = f32}", "%d");
    is("%r = pd.assign (%x)", "%x");
    is("%r = pd.add_n (%x)", "%x");
    is("%r = pd.expand (%x) {shape = [2, 3]}", "%x");
    is("%r = pd.reduce_as (%x, %x)", "%x");
    is("%r = pd.where (%b, %x, %x)", "%x");
    is("%r = pd.maximum (%x, %x)", "%x");
    is(
        &format!("{}%r = pd.where (%k, %x, %d)", full("k", "[2, 3]", "true", "i1")),
        "%x",
    );
}

#[test]
fn three_transpositions_are_one() {
    let out = canonicalize(
        r#"
        %x = pd.data {name = "x", shape = [2, 3, 4], dtype = f32}
        %a = pd.transpose (%x) {perm = [1, 2, 0]}
        %b = pd.transpose (%a) {perm = [2, 1, 0]}
        %c = pd.reshape (%b) {shape = [24]}
        %e = pd.reshape (%c) {shape = [4, 6]}
        pd.fetch (%b) {name = "b"}
        pd.fetch (%e) {name = "e"}
        "#,
    );
    assert!(
        out.contains("%b = pd.transpose (%x) {perm = [0, 2, 1]} : tensor<2x4x3xf32>"),
        "{out}"
    );
    assert!(
        out.contains("%e = pd.reshape (%b) {shape = [4, 6]} : tensor<4x6xf32>"),
        "{out}"
    );
}

#[test]
fn integers_are_computed() {
    let constants = format!("{}{}", full("p", "[1]", "7", "i64"), full("q", "[1]", "-2", "i64"));
    let value = |op: &str| {
        let out = becomes(&format!("{constants}%r = pd.{op} (%p, %q)"));
        let (_, rest) = out.split_once("value = ").unwrap_or_else(|| panic!("{out}"));
        rest.split(',').next().unwrap_or_default().to_owned()
    };
    assert_eq!(value("add"), "5");
    assert_eq!(value("subtract"), "9");
    assert_eq!(value("multiply"), "-14");
    assert_eq!(value("divide"), "-3");
    assert_eq!(value("less_than"), "false");
    assert_eq!(value("greater_equal"), "true");
    // What does not fit is left to the kernels, and so is what fails.
    let big = format!(
        "{}{}",
        full("p", "[1]", "9223372036854775807", "i64"),
        full("q", "[1]", "0", "i64")
    );
    stays(&format!("{big}%r = pd.add (%p, %p)"), "pd.add");
    stays(&format!("{big}%r = pd.divide (%p, %q)"), "pd.divide");
}

#[test]
fn shapes_that_are_known_are_constants() {
    assert!(becomes("%r = pd.shape (%x)").contains("pd.full_int_array {value = [2, 3], dtype = i64}"));
    assert!(becomes("%r = pd.numel (%x)").contains("pd.full {shape = [], value = 6, dtype = i64}"));
    assert!(
        becomes("%r = pd.full_like (%x) {value = 0.5}").contains("pd.full {shape = [2, 3], value = 0.5, dtype = f32}")
    );
    stays("%r = pd.shape (%d)", "pd.shape");
    stays("%r = pd.full_like (%d) {value = 0.5}", "pd.full_like");
}

#[test]
fn numbers_in_another_shape_or_type() {
    let third = full("k", "[]", "0.1", "f32");
    let becomes = |op: &str| becomes(&format!("{third}%r = {op}"));
    assert!(becomes("pd.expand (%k) {shape = [4]}").contains("%r = pd.full {shape = [4], value = 0.1, dtype = f32}"));
    assert!(becomes("pd.reshape (%k) {shape = [1, 1]}").contains("pd.full {shape = [1, 1], value = 0.1, dtype = f32}"));
    // The number is that of the f32.
    assert!(becomes("pd.cast (%k) {dtype = f64}").contains("value = 0.10000000149011612, dtype = f64"));
    assert!(becomes("pd.cast (%k) {dtype = i64}").contains("pd.cast"));
    assert!(becomes("pd.reduce_as (%x, %k)").contains("pd.reduce_as"));
}

#[test]
fn constant_operands_become_attributes() {
    let out = becomes("%s = pd.full_int_array {value = [3, 2], dtype = i64}\n%r = pd.reshape (%x, %s)");
    assert!(out.contains("pd.reshape (%x) {shape = [3, 2]}"), "{out}");
    assert!(!out.contains("full_int_array"), "{out}");
    let out = becomes("%s = pd.full {shape = [1], value = 0.5, dtype = f32}\n%r = pd.scale (%x, %s)");
    assert!(out.contains("pd.scale (%x) {scale = 0.5}"), "{out}");
}

#[test]
fn short_constants_are_written_out() {
    let out = becomes("%k = pd.const {value = 2}\n%r = pd.add (%n, %k)");
    assert!(
        out.contains("%k = pd.full {shape = [], value = 2, dtype = i64} : tensor<i64>"),
        "{out}"
    );
}

#[test]
fn branches_and_loops_whose_way_is_known() {
    is(
        r#"
        %one = pd.full {shape = [1], value = 1, dtype = i64}
        %two = pd.full {shape = [1], value = 2, dtype = i64}
        %c = pd.less_than (%one, %two)
        %r = pd.if (%c) then {
          cf.yield (%x)
        } else {
          %y = pd.tanh (%x)
          cf.yield (%y)
        }
        "#,
        "%x",
    );
    is(
        r#"
        %three = pd.full {shape = [1], value = 3, dtype = i64}
        %i, %r = pd.while (%three, %x) cond (%a: tensor<1xi64>, %y: tensor<2x3xf32>) {
          %go = pd.less_than (%a, %three)
          cf.cond_yield (%go, %a, %y)
        } body (%p: tensor<1xi64>, %q: tensor<2x3xf32>) {
          %z = pd.tanh (%q)
          cf.yield (%p, %z)
        }
        "#,
        "%x",
    );
}

#[test]
fn integers_and_truth_values_absorb() {
    let zero = full("k", "[1]", "0", "i64");
    let nothing = "%r = pd.full {shape = [2, 3], value = 0, dtype = i64} : tensor<2x3xi64>";
    assert!(becomes(&format!("{zero}%r = pd.multiply (%n, %k)")).starts_with(nothing));
    assert!(becomes("%r = pd.subtract (%n, %n)").starts_with(nothing));
    let (yes, no) = (full("k", "[1]", "true", "i1"), full("k", "[1]", "false", "i1"));
    assert!(becomes(&format!("{no}%r = pd.logical_and (%b, %k)")).contains("value = false"));
    assert!(becomes(&format!("{yes}%r = pd.logical_or (%k, %b)")).contains("value = true"));
    assert!(becomes("%r = pd.equal (%n, %n)").contains("value = true"));
    assert!(becomes("%r = pd.less_than (%n, %n)").contains("value = false"));
    // Zero times infinity, and NaN minus itself or compared to itself.
    let zero = full("k", "[1]", "0.0", "f32");
    stays(&format!("{zero}%r = pd.multiply (%x, %k)"), "pd.multiply");
    stays("%r = pd.subtract (%x, %x)", "pd.subtract");
    stays("%r = pd.equal (%x, %x)", "pd.equal");
    stays("%r = pd.divide (%n, %n)", "pd.divide");
}

#[test]
fn rules_for_ordinary_numbers_are_asked_for() {
    let zero = full("k", "[2, 3]", "0.0", "f32");
    let fast = |body: &str| becomes_by("canonicalize{fast-math=true}", body);
    let fetch = |value: &str| format!("pd.fetch ({value}) {{name = \"r\"}}");
    stays(&format!("{zero}%r = pd.add (%x, %k)"), "pd.add");
    assert_eq!(fast(&format!("{zero}%r = pd.add (%x, %k)")), fetch("%x"));
    assert!(fast(&format!("{zero}%r = pd.multiply (%x, %k)")).starts_with("%r = pd.full"));
    assert!(fast("%r = pd.subtract (%x, %x)").contains("value = 0.0"));
    assert!(fast("%r = pd.divide (%x, %x)").contains("value = 1.0"));
    assert!(fast("%r = pd.equal (%x, %x)").contains("value = true"));
    // Zero divided by zero fails.
    assert!(fast("%r = pd.divide (%n, %n)").contains("pd.divide"));
}

#[test]
fn conversions_that_lose_nothing() {
    let twice = |between: &str, to: &str| {
        format!("%w = pd.cast (%x) {{dtype = {between}}}\n%r = pd.cast (%w) {{dtype = {to}}}")
    };
    is(&twice("f64", "f32"), "%x");
    assert!(becomes(&twice("f64", "f16")).starts_with("%r = pd.cast (%x) {dtype = f16}"));
    stays(&twice("f16", "f32"), "%w = ");
    stays(&twice("i64", "f32"), "%w = ");
    is("%w = pd.cast (%b) {dtype = i64}\n%r = pd.cast (%w) {dtype = i1}", "%b");
    let ints = "%w = pd.cast (%n) {dtype = i32}\n%r = pd.cast (%w) {dtype = i64}";
    stays(ints, "%w = ");
    stays(
        "%w = pd.cast (%n) {dtype = f64}\n%r = pd.cast (%w) {dtype = i64}",
        "%w = ",
    );
}

#[test]
fn negations_of_conditions() {
    let of = |ty: &str| format!("%l = pd.less_than (%{ty}, %{ty}2)\n%r = pd.logical_not (%l)");
    let more = "%n2 = pd.abs (%n)\n%x2 = pd.abs (%x)\n";
    assert!(becomes(&format!("{more}{}", of("n"))).contains("%r = pd.greater_equal (%n, %n2)"));
    // Neither holds if one of them is NaN.
    stays(&format!("{more}{}", of("x")), "pd.logical_not");
    let select = "%c = pd.logical_not (%b)\n%y = pd.tanh (%x)\n%r = pd.where (%c, %x, %y)";
    assert!(becomes(select).contains("%r = pd.where (%b, %y, %x)"));
    let truth = full("t", "[2, 3]", "true", "i1") + &full("f", "[2, 3]", "false", "i1");
    is(&format!("{truth}%r = pd.where (%b, %t, %f)"), "%b");
}
