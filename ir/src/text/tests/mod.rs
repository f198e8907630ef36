//! Tests of reading and printing, with a small dialect of their own.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod chunks;
mod dialect;
mod elements;
mod literals;
mod names;
mod repeated;
mod types;

use super::{ParseOptions, PrintOptions, parse, print};
use dialect::context;

fn reprint(source: &str, options: &PrintOptions) -> String {
    let parsed = parse(
        &context(),
        source.as_bytes(),
        &ParseOptions {
            allow_unregistered: true,
        },
    );
    assert!(parsed.diagnostics.is_empty(), "{source}\n{:#?}", parsed.diagnostics);
    print(&parsed.module, options)
}

/// Reads, prints, and does so again: the second text must be the first.
fn fixed(source: &str) -> String {
    let once = reprint(source, &PrintOptions::default());
    assert_eq!(once, reprint(&once, &PrintOptions::default()));
    let generic = PrintOptions {
        generic: true,
        ..PrintOptions::default()
    };
    let as_generic = reprint(&once, &generic);
    assert_eq!(as_generic, reprint(&as_generic, &generic));
    once
}

#[track_caller]
fn same(source: &str) {
    assert_eq!(fixed(source), source);
}

#[track_caller]
fn errors(source: &str) -> Vec<(String, String)> {
    let parsed = parse(&context(), source.as_bytes(), &ParseOptions::default());
    parsed
        .diagnostics
        .into_iter()
        .map(|d| {
            let span = d.labels[0].span;
            (d.message, source[span.start as usize..span.end as usize].to_owned())
        })
        .collect()
}

#[test]
fn the_while_of_the_design() {
    same(
        "%ten = pd.full {shape = [1], value = 10, dtype = i64} : tensor<1xi64>
// counts
%i_2 = pd.while (%ten) cond (%arg1: tensor<1xi64>) {
  %go = pd.add (%arg1, %ten) : tensor<1xi1>
  cf.cond_yield (%go, %arg1)
} body (%arg2: tensor<1xi64>) {
  %i_3 = pd.add (%arg2, %ten) : tensor<1xi64>
  cf.yield (%i_3)
  // done
} : tensor<1xi64>
",
    );
}

#[test]
fn spellings_of_the_specification() {
    let text = fixed(
        "%i = pd.const(1)
         %i_2， %stack = pd.while(%i)
           init(%arg) {
             %stack = cf.create_stack() {} : ()->cf.stack
             cf.yield(%arg, %stack)
           }
           cond (%arg1, %stack){
             %c = pd.add(%arg1)
             cf.push_back(%stack, %arg1){}: (cf.stack, f32)->()
             cf.cond_yield (%c, %arg1, %stack)
           }
           body(%arg2, %stack)){
             %2 = cf.pop_back(%stack) {}: cf.stack -> f32
             pd.yield(%2, %stack)
           }
         pd.if(%i) { } else { }
         pd.while(%i) {
           ^bb0(%a):
             cf.cond_yield (%a, %a)
         } do {
           ^bb1(%a):
             cf.yield (%a)
         }",
    );
    assert_eq!(
        text,
        "%i = pd.const {value = 1} : f32
%i_2, %stack = pd.while (%i) init (%arg: f32) {
  %stack = cf.create_stack () : cf.stack
  cf.yield (%arg, %stack)
} cond (%arg1: f32, %stack: cf.stack) {
  %c = pd.add (%arg1) : f32
  cf.push_back (%stack, %arg1)
  cf.cond_yield (%c, %arg1, %stack)
} body (%arg2: f32, %stack: cf.stack) {
  %2 = cf.pop_back (%stack) : f32
  cf.yield (%2, %stack)
} : f32, cf.stack
pd.if (%i) then {
  cf.yield ()
} else {
  cf.yield ()
}
%3 = pd.while (%i) cond (%a: f32) {
  cf.cond_yield (%a, %a)
} body (%a: f32) {
  cf.yield (%a)
} : f32
"
    );
}

#[test]
fn functions_blocks_and_packs() {
    same(
        "func.func private @ext(tensor<4xf32>) -> (f32, f32)
func.func @f(%x: f32 {a.b = 1}) -> f32 attributes {my.note = \"n\"} {
  pd.condition_branch %x, ^then(%x), ^else
^then(%v: f32):
  %r:2 = pd.full {n = 2} : f32, f32
  func.return (%r#1)
^else:
  %y = func.call @f (%x) : f32
  func.return (%y)
}
builtin.module @m {
  %x = pd.full {a = @m::@f, b = [1, 2], c = [1, 2.5], d = {e = unit2}} : tensor<?x0xf32>
}
"
        .replace("unit2", "true")
        .as_str(),
    );
}

#[test]
fn visibilities_are_words_where_they_are_known() {
    same("func.func private @f()\nfunc.func nested @g()\nfunc.func @h() attributes {sym_visibility = \"rrivate\"}\n");
    same("func.func @f() attributes {sym_visibility = 1}\n");
    let found = errors("func.func private public @f()\n");
    assert_eq!(found[0].0, "expected `@`, found `public`");
}

#[test]
fn names_are_unique_where_they_meet() {
    let text = fixed(
        "\"t.a\"() ({ %x = pd.full : f32 }) : () -> ()\n%x = pd.full : f32\n\"t.a\"() ({ %y = pd.full : f32 }) : () -> ()",
    );
    assert!(text.contains("%x = pd.full") && !text.contains("%x_1"), "{text}");
}

#[test]
fn numbers_survive() {
    same(
        "pd.fetch {a = 1, b = 1.0, c = -0.0, d = 1.0e+21, e = 0.1 : f32, f = 3 : i8, g = 0x7FF8000000000001 : f64, h = 0xFFC00001 : f32, i = 170141183460469231731687303715884105728}\n",
    );
}

#[test]
fn every_error_has_its_place() {
    let found =
        errors("%a = pd.ad (%b) : f32\n%c = pd.add (%d) : f32\npd.fetch (%c)\npd.fetch (x)\n%c = pd.full : f99");
    let expected = [
        ("there is no operation `pd.ad`", "pd.ad"),
        ("there is no value `%d` here", "%d"),
        ("`x` is not a value", "x"),
        ("`f99` is not a type", "f99"),
    ];
    let expected: Vec<_> = expected.map(|(m, s)| (m.to_owned(), s.to_owned())).into();
    assert_eq!(found, expected);
}

#[test]
fn a_value_of_a_region_is_not_visible_outside() {
    let source = "%c = pd.full : i1\npd.if (%c) then {\n  %y = pd.full : f32\n}\npd.fetch (%y)";
    let parsed = parse(&context(), source.as_bytes(), &ParseOptions::default());
    assert!(
        parsed.diagnostics[0]
            .help
            .as_ref()
            .is_some_and(|h| h.contains("not visible outside"))
    );
}

#[test]
fn a_hundred_thousand_nested_regions() {
    let depth = 100_000;
    let source = format!(
        "%c = pd.full : i1\n{}{}",
        "pd.if (%c) then {\n".repeat(depth),
        "}\n".repeat(depth)
    );
    let text = fixed(&source);
    assert_eq!(text.matches("then").count(), depth);
}

#[test]
fn deep_attributes_and_types() {
    let depth = 50_000;
    let source = format!(
        "pd.fetch {{a = {}1{}}}",
        "[".repeat(depth),
        ".0]".replace(".0", "").repeat(depth)
    );
    fixed(&source);
    let source = format!("pd.fetch {{a = {}f32{}}}", "vec<".repeat(depth), ">".repeat(depth));
    fixed(&source);
}

#[test]
fn directives_of_tests_are_not_kept() {
    let text = fixed(
        "// RUN: pir-opt %s | FileCheck %s --check-prefixes=A,LONG-B
// CHECK-NEXT: x
// A: x
// A-COUNT-2: x
// LONG-B-NOT: x
// CHECK{LITERAL}: x
// expected-error@+1 {{x}}
// NOTE: kept
// AB: kept
// CHECK the weather
pd.fetch
// A-DAG: x
",
    );
    assert_eq!(text, "// NOTE: kept\n// AB: kept\n// CHECK the weather\npd.fetch ()\n");
}

#[test]
fn blocks_of_the_specification() {
    let text = fixed(
        "func.func @f(%cond: i1) -> f32 {
    %1 = pd.const(1)
    %2 = pd.const(2)
    pd.condition_branch %cond, ^then_block(%1), else_block(%2)
  ^then_block(%val_1):
    func.return %val_1
  ^else_block(%val_2):
    func.return %val_2
}",
    );
    assert!(text.contains("^then_block(%val_1: f32):"), "{text}");
    assert!(
        text.contains("pd.condition_branch %cond, ^then_block(%1), ^else_block(%2)"),
        "{text}"
    );
}

#[test]
fn bodies_name_their_own() {
    // The module's names are hidden in the function, and back after the module; the function's are not visible outside.
    same(
        "%x = pd.full () : f32
builtin.module @m {
  %x = pd.full () : f32
  %y = pd.full () : f32
  builtin.module @n {
    %x = pd.full () : f32
  }
  %x_1 = pd.add (%x, %y) : f32
}
pd.fetch (%x)
",
    );
    let found = errors("builtin.module @m {\n  %y = pd.full : f32\n}\npd.fetch (%y)");
    assert_eq!(found, [("there is no value `%y` here".to_owned(), "%y".to_owned())]);
    // Blocks without labels are numbered in each body by itself.
    let blocks = "  pd.condition_branch %x, ^bb1, ^bb2\n^bb1:\n  func.return (%x)\n^bb2:\n  func.return (%x)\n";
    let two = ["f", "g"]
        .map(|f| format!("func.func @{f}(%x: i1) -> i1 {{\n{blocks}}}\n"))
        .concat();
    same(&two);
}

#[test]
fn a_use_may_stand_far_before_its_definition() {
    // Each definition looks up only the uses of its own name.
    let uses: String = (0..20_000).map(|i| format!("pd.fetch (%v{i})\n")).collect();
    let definitions: String = (0..20_000).map(|i| format!("%v{i} = pd.full : f32\n")).collect();
    let parsed = parse(&context(), (uses + &definitions).as_bytes(), &ParseOptions::default());
    assert!(parsed.diagnostics.is_empty(), "{:#?}", parsed.diagnostics.first());
}

#[test]
fn aliases_that_double_are_refused() {
    let mut text = String::from("#a0 = [1 : i32, \"x\"]\n!t0 = (f32) -> f32\n");
    for i in 1..64 {
        text += &format!("#a{i} = [#a{0}, #a{0}]\n!t{i} = (!t{0}) -> !t{0}\n", i - 1);
    }
    text += "pd.fetch {a = #a63, t = !t63}\n";
    let found = errors(&text);
    assert!(
        found.iter().all(|(message, _)| message.contains("too large")),
        "{found:?}"
    );
    assert!(!found.is_empty());
}

#[test]
fn aliases_stay_on_their_side_of_what_uses_them() {
    // What is kept as text in front of the definition must not be written out when it is read again.
    let text = "\
#b = dense<1>
\"u.x\"() {a = #a, b = #u.y<#b>} : () -> () loc(#loc)
#a = [1, 2]
#loc = loc(\"f.py\":1:2)
";
    let options = PrintOptions {
        generic: true,
        ..PrintOptions::default()
    };
    assert_eq!(reprint(text, &options), text);
}

#[test]
fn aliases_are_kept_if_what_is_printed_mentions_them() {
    let generic = |text: &str| {
        let options = PrintOptions {
            generic: true,
            ..PrintOptions::default()
        };
        let once = reprint(text, &options);
        assert_eq!(reprint(&once, &options), once);
        once
    };
    // By the text of an operation, by a definition that is printed, or by what an alias denotes.
    let named = "#a = loc(\"a\")\n#b = loc(fused[#a])\n#c = loc(fused[#b])\n";
    let op = |attrs: &str| format!("\"u.x\"(){attrs} : () -> ()\n");
    assert_eq!(generic(&(named.to_owned() + &op(""))), op(""));
    let by_text = named.to_owned() + &op(" {l = loc(fused[#c])}");
    assert_eq!(generic(&by_text), by_text);
    let by_meaning = named.to_owned() + "#d = [#c]\n" + &op(" {l = #d}");
    let written_out = "#a = loc(\"a\")\n#b = loc(fused[#a])\n".to_owned() + &op(" {l = [loc(fused[#b])]}");
    assert_eq!(generic(&by_meaning), written_out);
    // By nothing that is kept of a declaration.
    let declared = named.to_owned() + "func.func private @f(f32 loc(#c)) -> f32\n";
    assert!(!generic(&declared).contains("loc"));
    // By attributes of arguments and results of a declaration.
    let declared = named.to_owned() + "func.func private @f(f32 {x.y = loc(#b)}) -> (f32 {x.y = loc(#c)})\n";
    assert!(generic(&declared).contains("arg_attrs = [{x.y = loc("));
    // The same tensor type in a definition that is not printed, and in an operation.
    let types = "!t = !u.t<3>\n!q = tensor<4x!u.q<!t>>\n";
    let used = "%0 = \"u.x\"() : () -> tensor<4x!u.q<!t>>\n";
    assert_eq!(generic(&(types.to_owned() + used)), "!t = !u.t<3>\n".to_owned() + used);
    // What only a definition that is not printed mentions before does not move after it for that.
    let late = "#a = loc(fused[#b])\n#b = loc(\"b\")\n".to_owned() + &op(" {l = loc(fused[#b])}");
    let front = "#b = loc(\"b\")\n".to_owned() + &op(" {l = loc(fused[#b])}");
    assert_eq!(generic(&late), front);
    // What occurs as an alias in front of its definition, in the meaning of another, must not become what it means.
    let itself = "#a = [#b]\n#b = [1, 2]\n".to_owned() + &op(" {l = #a}");
    assert_eq!(generic(&itself), op(" {l = [#b]}") + "#b = [1, 2]\n");
}

#[test]
fn long_outputs_keep_their_lines() {
    // Output leaves in pieces; none of them may end a line early or join two.
    let lines: String = (0..20_000).map(|i| format!("%v{i} = pd.full () : f32\n")).collect();
    assert_eq!(reprint(&lines, &PrintOptions::default()), lines);
}

#[test]
fn spellings_do_not_matter() {
    // What is spelled as it is printed is read at one go; what is not must mean the same.
    let plain = "%a, %b = pd.full {k = [1, 2], t = f32} : f32, tensor<4xf32>
// a comment
%c = pd.add (%a, %b) : f32
pd.fetch (%c)
pd.fetch {name = \"x\"}
pd.fetch (%c) {name = \"y\"}
";
    same(plain);
    for (from, to) in [
        (" = pd", " =  pd"),
        (" (", "("),
        ("full {", "full () {"),
        (", ", " ,"),
        (" : ", ": "),
        ("\n", "\n\n"),
        ("\n", " \n"),
        (" {", "\n{"),
        (" : ", "\n: "),
    ] {
        assert_eq!(fixed(&plain.replace(from, to)), plain, "{from:?} as {to:?}");
    }
}

#[test]
fn what_follows_a_line_may_belong_to_it() {
    let long = "%a = pd.full ()\n: f32\npd.fetch (%a)\n{name = \"x\"}\npd.fetch (%a)\nattributes {name = \"y\"}\n%b = pd.full () : f32\nloc(\"f\":1:2)";
    let short = "%a = pd.full () : f32\npd.fetch (%a) {name = \"x\"}\npd.fetch (%a) {name = \"y\"}\n%b = pd.full () : f32 loc(\"f\":1:2)\n";
    assert_eq!(fixed(long), short);
}

#[test]
fn the_value_of_a_constant_is_an_attribute() {
    let rest = "%b = pd.full () : f32\n";
    let short = fixed(&format!("%a = pd.const(1) : f32\n{rest}"));
    assert_eq!(fixed(&format!("%a = pd.const (1) : f32\n{rest}")), short);
    assert_eq!(fixed(&format!("%a = \"pd.const\"(1) : () -> f32\n{rest}")), short);
    let twice = errors("%a = pd.const (1) {value = 1} : f32\n%b = \"pd.const\"(1) {value = 1} : () -> f32\n");
    assert_eq!(twice.len(), 2, "{twice:?}");
}

#[test]
fn operands_of_another_type_are_found_again() {
    let found = errors(
        "%a:2 = pd.full () : f32, f32
\"pd.fetch\"(%a#0, // not %a#1
%a#1) : (f32, f64) -> ()
pd.fetch (%a#0, %a#1 : f32, i1)
pd.fetch %a#1, %a#0 : f32, i8
",
    );
    let places: Vec<&str> = found.iter().map(|(_, place)| &**place).collect();
    assert_eq!(places, ["%a#1", "%a#1", "%a#0"], "{found:?}");
}

#[test]
fn errors_in_plain_operations() {
    let found = errors(
        "%a = pd.full () : f32
%b = pd.full () : f33
%c = pd.add (%a, %d) : f32
%e = pd.add (%a, %a) : f32, f32
%a = pd.add (%a, %b) {k = 1, k = 2} : f32
%a = pd.add (%a, %e) : f32
",
    );
    let places: Vec<&str> = found.iter().map(|(_, place)| &**place).collect();
    assert_eq!(places, ["f33", "%d", "%e", "k", "%a"], "{found:?}");
}

#[test]
fn threads_print_the_same() {
    let function = |at: usize| {
        let body: String = (0..at % 40).map(|i| format!("  %v{i} = pd.full () : f32\n")).collect();
        let nested = format!("  builtin.module @m {{\n    %x = pd.full () : f32\n    // inside {at}\n  }}\n");
        let nested = if at.is_multiple_of(7) { &*nested } else { "" };
        format!("// number {at}\nfunc.func @f{at}(%x: f32) -> f32 {{\n{body}{nested}  func.return (%x)\n}}\n")
    };
    let functions: String = (0..3000).map(function).collect();
    let between = "%x = pd.full () : f32\n%x_1 = pd.full () : f32\n";
    let inner: String = functions.lines().map(|line| format!("  {line}\n")).collect();
    let text = format!(
        "{functions}{between}{}builtin.module @all {{\n{inner}}}\n{between}",
        function(3)
    )
    .replacen("@f3(", "@g(", 2)
    .replacen(between, "%y = pd.full () : f32\n", 1);
    let parsed = parse(&context(), text.as_bytes(), &ParseOptions::default());
    assert!(parsed.diagnostics.is_empty(), "{:#?}", parsed.diagnostics.first());
    for generic in [false, true] {
        let options = PrintOptions {
            generic,
            ..PrintOptions::default()
        };
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| print(&parsed.module, &options))
        };
        let (one, four) = (with(1), with(4));
        assert!(one == four, "generic: {generic}");
        assert!(generic || one == text);
    }
}

#[test]
fn what_was_read_before_means_the_same_only_where_it_may() {
    let source = r##""x.a"() <{k = #a, l = #b<1>}> : () -> !t
"x.a"() <{k = #a, l = #b<1>}> : () -> !t
#a = 1
!t = f32
%a = "x.a"() <{k = #a, l = #b<1>}> : () -> !t
%b = "x.a"() <{k = #a, l = #b<1>}> : () -> !t
"x.a"() {k = #a, l = #b<1>} : () -> i6
"x.a"() <{k = #a, l = #b<1>}> {m} : () -> i64
%r:2 = "x.c"(%a) {k = #b<#a>} : (f32) -> (f32, i64)
"x.b"(%r#0, %r#1) {k = #b<#a>} : (f32, i64) -> ()
"x.b"(%r#0, %a) : (f32, f32) -> (f32)
"##;
    let expected = r##"%0 = "x.a"() <{k = #a, l = #b<1>}> : () -> !t
%1 = "x.a"() <{k = #a, l = #b<1>}> : () -> !t
%a = "x.a"() <{k = 1 : i64, l = #b<1>}> : () -> f32
%b = "x.a"() <{k = 1 : i64, l = #b<1>}> : () -> f32
%2 = "x.a"() {k = 1 : i64, l = #b<1>} : () -> i6
%3 = "x.a"() <{k = 1 : i64, l = #b<1>}> {m} : () -> i64
%r:2 = "x.c"(%a) {k = #b<#a>} : (f32) -> (f32, i64)
"x.b"(%r#0, %r#1) {k = #b<#a>} : (f32, i64) -> ()
%4 = "x.b"(%r#0, %a) : (f32, f32) -> f32
#a = 1
!t = f32
"##;
    let options = ParseOptions {
        allow_unregistered: true,
    };
    let parsed = parse(&context(), source.as_bytes(), &options);
    assert!(parsed.diagnostics.is_empty(), "{:#?}", parsed.diagnostics.first());
    let generic = PrintOptions {
        generic: true,
        ..PrintOptions::default()
    };
    assert_eq!(print(&parsed.module, &generic), expected);
}
