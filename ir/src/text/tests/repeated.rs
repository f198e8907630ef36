//! Operations in the generic form that come again.

use super::{PrintOptions, errors, reprint};

/// Each line four times, read and printed in the generic form: the same, but with the number of the copy in place of `@`.
#[track_caller]
fn four_times(line: &str) {
    let before = "%a = \"u.x\"() : () -> i32\n%b = \"u.x\"() : () -> i32\n%c = \"u.x\"() : () -> f32\n";
    let lines: String = (0..4).map(|at| line.replace('@', &at.to_string())).collect();
    let source = format!("{before}{lines}");
    let generic = PrintOptions {
        generic: true,
        ..PrintOptions::default()
    };
    assert_eq!(reprint(&source, &generic), source);
}

#[test]
fn operands_keep_their_places() {
    four_times("%d@ = \"u.y\"(%a, %a) : (i32, i32) -> i32\n%e@ = \"u.y\"(%d@, %a) : (i32, i32) -> i32\n");
    four_times("%d@ = \"u.y\"(%a, %b) : (i32, i32) -> i32\n%e@ = \"u.y\"(%b, %a) : (i32, i32) -> i32\n");
    four_times("%d@:2 = \"u.y\"(%a) : (i32) -> (i32, i32)\n\"u.z\"(%d@#1, %d@#0) : (i32, i32) -> ()\n");
}

#[test]
fn what_differs_is_seen() {
    // In a type, an attribute, and in what is neither first nor last in the line.
    four_times("%d@ = \"u.y\"(%a) : (i32) -> i32\n%e@ = \"u.y\"(%c) : (f32) -> i32\n");
    four_times("%d@ = \"u.y\"(%a) {p, q = @ : i32, r} : (i32) -> i32\n");
    four_times(
        "%d@ = \"u.y\"() {p, q = 1 : i32, r = 1 : i8} : () -> i32\n%e@ = \"u.y\"() {p, q = 2 : i32, r = 1 : i8} : () -> i32\n",
    );
    four_times("%d@ = \"u.y\"(%a) {q = \"%a\"} : (i32) -> i32\n%e@ = \"u.y\"(%a) {q = \"%b\"} : (i32) -> i32\n");
    four_times("%d@ = \"u.y\"(%a) : (i32) -> i32 loc(\"f\":@:1)\n%e@ = \"u.y\"(%a) : (i32) -> i32\n");
}

#[test]
fn comments_and_regions_stay() {
    four_times("// Comment @.\n%d@ = \"u.y\"(%a) : (i32) -> i32\n%e@ = \"u.y\"(%a) : (i32) -> i32\n");
    four_times(
        "\"u.y\"(%a) ({\n  %d = \"u.y\"(%a) : (i32) -> i32\n}) : (i32) -> ()\n%e@ = \"u.y\"(%a) : (i32) -> i32\n",
    );
}

#[test]
fn types_are_checked_each_time() {
    let line = "%d@ = \"pd.add\"(%x, %x) : (i32, i32) -> i32\n";
    let lines: String = (0..4).map(|at| line.replace('@', &at.to_string())).collect();
    let full = |name: &str, ty: &str| format!("%{name} = pd.full {{shape = [], value = 1, dtype = {ty}}} : {ty}\n");
    let wrong = "%e = \"pd.add\"(%y, %y) : (i32, i32) -> i32\n";
    let source = [&full("x", "i32"), &lines, &full("y", "f32"), wrong].concat();
    let found = errors(&source);
    assert!(!found.is_empty());
    assert!(found.iter().all(|(_, place)| place == "%y"), "{found:?}");
}
