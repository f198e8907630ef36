use super::{CommandLine, check};
use crate::CheckError;

fn checked(arguments: &[&str], checks: &str, input: &str) -> Result<(), CheckError> {
    let mut all = vec!["checks"];
    all.extend(arguments);
    let command = CommandLine::parse(&all).unwrap();
    check(&command.options, "checks", checks, input)
}

#[track_caller]
fn passes(checks: &str, input: &str) {
    passes_with(&[], checks, input);
}

#[track_caller]
fn passes_with(arguments: &[&str], checks: &str, input: &str) {
    if let Err(error) = checked(arguments, checks, input) {
        panic!("{error}");
    }
}

/// Fails on the input, with a message that holds a text.
#[track_caller]
fn fails(checks: &str, input: &str, said: &str) {
    fails_with(&[], checks, input, said);
}

#[track_caller]
fn fails_with(arguments: &[&str], checks: &str, input: &str, said: &str) {
    match checked(arguments, checks, input) {
        Err(CheckError::Mismatch(message)) if message.contains(said) => {}
        other => panic!("not a mismatch with `{said}`: {other:#?}"),
    }
}

/// The check file itself is wrong.
#[track_caller]
fn invalid(checks: &str, said: &str) {
    match checked(&[], checks, "x\n") {
        Err(CheckError::Invalid(message)) if message.contains(said) => {}
        other => panic!("not invalid with `{said}`: {other:#?}"),
    }
}

#[test]
fn plain_in_order() {
    passes("// CHECK: a\n// CHECK: b\n", "x a\ny\nb\n");
    passes("CHECK: a\nCHECK: b\n", "a b\n");
    fails("CHECK: a\nCHECK: b\n", "b\na\n", "checks:2: CHECK: not found");
    fails("CHECK: a\nCHECK: a\n", "a\n", "checks:2");
    passes("CHECK:   a  b \n", "a \t b\n");
}

#[test]
fn prefixes() {
    let text = "A: a\nB: b\nAB: c\nXA: no\nA-FOO: no\nsome A: d\n";
    passes_with(&["--check-prefix=A"], text, "a d\n");
    passes_with(&["--check-prefixes=A,B"], text, "a b d\n");
    passes_with(&["--check-prefixes=AB", "-check-prefix", "A"], text, "a c d\n");
    fails_with(&["--check-prefixes=A,B"], text, "a d\n", "checks:2: B");
    let unused = checked(&["--check-prefixes=A,Z"], text, "a d\n");
    assert!(matches!(unused, Err(CheckError::Invalid(m)) if m.contains("`Z`")));
    passes_with(&["--check-prefixes=A,Z", "--allow-unused-prefixes"], text, "a d\n");
    invalid("nothing\n", "no directive begins with `CHECK`");
    assert!(CommandLine::parse(&["f", "--check-prefix=1"]).is_err());
    assert!(CommandLine::parse(&["f", "--check-prefix=A", "--check-prefix=A"]).is_err());
    assert!(CommandLine::parse(&["f", "--no-such"]).is_err());
    assert!(CommandLine::parse(&["--allow-empty"]).is_err());
}

#[test]
fn comments_hide_directives() {
    passes("RUN: x | FileCheck CHECK: no\nCOM: CHECK: no\nCHECK: a\n", "a\n");
    passes_with(&["--comment-prefixes=REM"], "REM: CHECK: no\nCHECK: a\n", "a\n");
    fails_with(
        &["--comment-prefixes=REM"],
        "COM: CHECK: b\nCHECK: a\n",
        "a\n",
        "checks:1",
    );
}

#[test]
fn next() {
    passes("CHECK: a\nCHECK-NEXT: b\n", "a\nb\n");
    fails("CHECK: a\nCHECK-NEXT: b\n", "a\nx\nb\n", "not on the line after");
    fails("CHECK: a\nCHECK-NEXT: b\n", "a b\nb\n", "same line as the previous");
    fails("CHECK: a\nCHECK-NEXT: b\n", "a\nx\n", "not found");
    invalid("CHECK-NEXT: a\n", "needs a `CHECK:`");
    invalid("CHECK-DAG: a\nCHECK-NEXT: a\n", "needs a `CHECK:`");
    passes(
        "CHECK: z\nCHECK-DAG: [[X:.]]1\nCHECK-DAG: [[Y:.]]2\nCHECK-NEXT: [[Y]][[X]]\n",
        "z\nb2\na1\nba\n",
    );
}

#[test]
fn same() {
    passes("CHECK: a\nCHECK-SAME: b\n", "a - b\n");
    fails("CHECK: a\nCHECK-SAME: b\n", "a\nb\n", "not on the same line");
    passes("CHECK: {{f|f32}}\nCHECK-SAME: {{^}}!\n", "f32!\n");
    invalid("CHECK-SAME: a\n", "needs a `CHECK:`");
}

#[test]
fn not() {
    passes("CHECK: a\nCHECK-NOT: b\nCHECK: c\n", "b\na\nc\nb\n");
    fails(
        "CHECK: a\nCHECK-NOT: b\nCHECK: c\n",
        "a\nb\nc\n",
        "checks:2: CHECK-NOT: must not match",
    );
    fails("CHECK: a\nCHECK-NOT: b\n", "a\nc\nb\n", "line 3, column 1");
    passes("CHECK: a\nCHECK-NOT: b\n", "b a\nc\n");
    fails("CHECK-NOT: b\n", "b\n", "must not match");
    passes("CHECK-NOT: b\n", "a\n");
    fails("CHECK-NOT: b\nCHECK-NOT: c\nCHECK: d\n", "c d\n", "checks:2");
    fails("CHECK-NOT: [[X]]\nCHECK: d\n", "d\n", "`X` is not defined");
    invalid("CHECK-NOT-NEXT: a\n", "cannot be combined");
    invalid("CHECK-NEXT-NOT: a\n", "cannot be combined");
    invalid("CHECK-DAG-NOT: a\n", "cannot be combined");
}

#[test]
fn dag() {
    passes("CHECK-DAG: a\nCHECK-DAG: b\nCHECK: c\n", "b\na\nc\n");
    fails("CHECK-DAG: a\nCHECK-DAG: b\nCHECK: c\n", "b\nc\na\n", "checks:3");
    fails("CHECK-DAG: a\nCHECK-DAG: b\n", "b\n", "checks:1: CHECK-DAG: not found");
    // Matches do not overlap.
    fails("CHECK-DAG: aa\nCHECK-DAG: aa\n", "aaa\n", "checks:2");
    passes("CHECK-DAG: aa\nCHECK-DAG: aa\n", "aaaa\n");
    passes("CHECK-DAG: a{{.}}\nCHECK-DAG: ab\n", "ax ab\n");
    passes("CHECK-DAG: [[X:%.]] = z\nCHECK-DAG: y [[X]]\n", "y %0\n%0 = z\ny %0\n");
    fails(
        "CHECK-DAG: [[X:%.]] = z\nCHECK-DAG: y [[X]]\n",
        "y %1\n%0 = z\n",
        "with `X` is `%0`",
    );
    // Directives that exclude separate groups.
    passes("CHECK-DAG: a\nCHECK-NOT: n\nCHECK-DAG: b\n", "a b n\n");
    fails("CHECK-DAG: a\nCHECK-NOT: n\nCHECK-DAG: b\n", "a n b\n", "CHECK-NOT");
    fails("CHECK-DAG: a\nCHECK-NOT: n\nCHECK-DAG: b\n", "b a\n", "checks:3");
}

#[test]
fn label() {
    let text = "CHECK-LABEL: f\nCHECK: a\nCHECK-LABEL: g\nCHECK: b\n";
    passes(text, "f\na\ng\nb\n");
    // Without the label, `a` would be found below.
    fails(text, "f\nx\ng\na\nb\n", "checks:2: CHECK: not found");
    fails(text, "f\na\nb\n", "checks:3: CHECK-LABEL: not found");
    // Each block fails on its own.
    let both = checked(&[], text, "f\ng\n").unwrap_err().to_string();
    assert!(both.contains("checks:2:") && both.contains("checks:4:"), "{both}");
    fails(
        "CHECK-LABEL: f\nCHECK-NOT: n\nCHECK-LABEL: g\n",
        "f\nn\ng\n",
        "CHECK-NOT",
    );
    passes("CHECK-LABEL: f\nCHECK-NOT: n\nCHECK-LABEL: g\n", "f\ng\nn\n");
    fails(
        "CHECK-LABEL: f\nCHECK-DAG: n\nCHECK-LABEL: g\n",
        "f\ng\nn\n",
        "CHECK-DAG",
    );
    invalid("CHECK-LABEL: [[X:a]]\n", "cannot define or use");
    invalid("CHECK-LABEL: a[[@LINE]]\n", "cannot define or use");
    passes("CHECK-LABEL: a[[#]]{{b|c}}\n", "a12c\n");
}

#[test]
fn variable_scope() {
    let text = "CHECK: [[X:a]][[$Y:b]]\nCHECK-LABEL: L\nCHECK: [[$Y]]";
    passes_with(&["--enable-var-scope"], text, "ab\nL\nb\n");
    let local = "CHECK: [[X:a]]\nCHECK-LABEL: L\nCHECK: [[X]]";
    passes(local, "a\nL\na\n");
    fails_with(&["--enable-var-scope"], local, "a\nL\na\n", "`X` is not defined");
    let number = "CHECK: [[#X:]]\nCHECK-LABEL: L\nCHECK: [[#X]]";
    passes(number, "1\nL\n1\n");
    fails_with(&["--enable-var-scope"], number, "1\nL\n1\n", "`X` is not defined");
    passes_with(&["--enable-var-scope", "-DX=a"], "CHECK: [[X]]\n", "a\n");
}

#[test]
fn empty() {
    passes("CHECK: a\nCHECK-EMPTY:\nCHECK-NEXT: b\n", "a\n\nb\n");
    fails("CHECK: a\nCHECK-EMPTY:\n", "a\nb\nc\n\nd\n", "not on the line after");
    fails("CHECK: a\nCHECK-EMPTY:\nCHECK: b\n", "a\nb\n", "not on the line after");
    fails("CHECK: a\nCHECK-EMPTY:\nCHECK: b\n", "a\n\nc\n", "checks:3");
    fails("CHECK: a\nCHECK-EMPTY:\n", "a\n ", "not found");
    fails("CHECK: a\nCHECK-EMPTY:\n", "a", "not found");
    passes("CHECK: a\nCHECK-EMPTY:\nCHECK-EMPTY:\nCHECK-NEXT: b\n", "a\n\n\nb\n");
    invalid("CHECK: x\nCHECK-EMPTY: a\n", "takes no pattern");
}

#[test]
fn count() {
    passes("CHECK-COUNT-3: a\nCHECK: b\n", "a a\nab\n");
    fails("CHECK-COUNT-3: a\nCHECK: b\n", "a a\nb\n", "found only 2 of 3");
    passes("CHECK-COUNT-2: a\nCHECK-NOT: a\nCHECK: b\n", "aab\n");
    fails("CHECK-COUNT-2: a\nCHECK-NOT: a\nCHECK: b\n", "aaab\n", "CHECK-NOT");
    invalid("CHECK-COUNT-0: a\n", "above zero");
    invalid("CHECK-COUNT-x: a\n", "above zero");
    invalid("CHECK-COUNT-2-NEXT: a\n", "above zero");
}

#[test]
fn literal() {
    passes("CHECK{LITERAL}: [[1, {{2}}]]\n", "[[1, {{2}}]]\n");
    fails("CHECK{LITERAL}: {{a}}\n", "a\n", "not found");
    passes("CHECK: a\nCHECK-NEXT{LITERAL}: [[b]]\n", "a\n[[b]]\n");
    passes("CHECK-COUNT-2{LITERAL}: [[\n", "[[[[\n");
    passes("CHECK{FOO}: a\nCHECK: b\n", "b\n");
}

#[test]
fn malformed() {
    invalid("CHECK:\n", "has no pattern");
    invalid("CHECK_NEXT: a\n", "misspelled");
    invalid("CHECK: {{a\n", "no `}}`");
    invalid("CHECK: {{}}\n", "is empty");
    invalid("CHECK: {{a{3}}}\n", "no `}`");
    invalid("CHECK: {{\\d}}\n", "POSIX");
    invalid("CHECK: [[a\n", "no `]]`");
    invalid("CHECK: [[1, 2]]\n", "literal `[[`");
    invalid("CHECK: [[ X:a]]\n", "name");
    invalid("CHECK: [[X:(]]\n", "no `)`");
}

#[test]
fn regexes() {
    passes("CHECK: a{{[0-9]+}}b{{(x|y)}}\n", "a12by\n");
    fails("CHECK: a{{[0-9]+}}b\n", "axb\n", "not found");
    passes("CHECK: a.b\n", "a.b\n");
    fails("CHECK: a.b{{.}}\n", "axb1\n", "not found");
    fails("CHECK: a{{.*}}b\n", "a\nb\n", "not found");
    passes("CHECK: a{{$}}\nCHECK: {{^}}b\n", "ab\na\nb\n");
    fails("CHECK: {{^}}b\n", "ab\n", "not found");
    passes("CHECK: {{x}}}\n", "x}\n");
    passes("CHECK: {{[^,]*}},\n", "a,\n");
}

#[test]
fn string_variables() {
    passes("CHECK: [[X:%[a-z]+]] =\nCHECK: use [[X]]\n", "%a =\nuse %b\nuse %a\n");
    fails(
        "CHECK: [[X:%[a-z]+]] =\nCHECK: use [[X]]\n",
        "%a =\nuse %b\n",
        "with `X` is `%a`",
    );
    passes("CHECK: [[X:[0-9]+]] [[X]]\n", "12 34 34\n");
    fails("CHECK: [[X:[0-9]+]] [[X]];\n", "12 34;\n", "not found");
    // The value is not an expression.
    passes("CHECK: [[X:.*]] end\nCHECK: [[X]]\n", "a.*b end\na.*b\n");
    fails("CHECK: [[X:.*]] end\nCHECK: [[X]]\n", "a.b end\naxb\n", "not found");
    fails("CHECK: [[X]]\n", "a\n", "`X` is not defined");
    passes("CHECK: [[[X:a]]] [[[X]]]\n", "[a] [a]\n");
    passes("CHECK: [[X:a]]1\nCHECK: [[X:b]]2\nCHECK: [[X]]3\n", "a1 b2 b3\n");
    // A redefinition reads the old value first.
    passes("CHECK: [[X:a]]1\nCHECK: [[X]] [[X:b]]\nCHECK: [[X]]3\n", "a1 a b b3\n");
    passes("CHECK: [[X:f|f32]]\nCHECK: [[X]];\n", "f32\nf; f32;\n");
    fails("CHECK: [[X:f|f32]]\nCHECK: [[X]];\n", "f32\nf; f3;\n", "not found");
    passes("CHECK: [[X:[[:alpha:]]+]]![[X]]\n", "ab!ab\n");
    passes_with(&["-DX=a+"], "CHECK: [[X]]\n", "a+\n");
}

#[test]
fn numbers() {
    passes("CHECK: [[#N:]]\nCHECK: [[#N+1]] [[#N-1]]\n", "7\n8 6\n");
    fails("CHECK: [[#N:]]\nCHECK: [[#N+1]]\n", "7\n9\n", "with `N` is 7");
    passes("CHECK: [[# N : 3 ]]\nCHECK: [[#==N]] [[# == N]]\n", "3\n3 3\n");
    fails("CHECK: [[#N: 3]]\n", "4\n", "not found");
    passes("CHECK: [[#%x,N:]]\nCHECK: [[#N+1]]\n", "0f\n10\n");
    passes("CHECK: [[#%X,N:]]\nCHECK: [[#%#.4x,N+1]]\n", "F\n0x0010\n");
    passes("CHECK: [[#N:]]\nCHECK: [[#%d,N-5]]\n", "1\n-4\n");
    fails("CHECK: [[#N:]]\nCHECK: [[#N-5]]\n", "1\n-4\n", "negative");
    passes(
        "CHECK: [[#add(2,mul(3,4))]] [[#max(2,3)-1]] [[#min(2,3)]] [[#div(7,2)]] [[#sub(5,(2))]]\n",
        "14 2 2 3 3\n",
    );
    passes("CHECK: a[[#]]b[[#%x,]]c\n", "a1bfc\n");
    fails("CHECK: [[#M]]\n", "1\n", "`M` is not defined");
    fails("CHECK: [[#div(1,0)]]\n", "1\n", "cannot be computed");
    passes_with(&["-D#N=4"], "CHECK: [[#N]]\n", "4\n");
    invalid("CHECK: [[#N:]] [[#N]]\n", "same directive");
    invalid("CHECK: [[N:1]]\nCHECK: [[#N:]]\n", "string variable already");
    invalid("CHECK: [[#N:]]\nCHECK: [[N:1]]\n", "numeric variable already");
    invalid("CHECK: [[#%x,A:]] [[#%u,B:]]\nCHECK: [[#A+B]]\n", "differ in format");
    for wrong in [
        "[[#2*3]]",
        "[[#%f]]",
        "[[#1:]]",
        "[[#foo(1,2)]]",
        "[[#(1]]",
        "[[#N:==]]",
        "[[#%x N]]",
        "[[#%x]]",
        "[[#@X]]",
    ] {
        invalid(&format!("CHECK: {wrong}\n"), "");
    }
    let deep = format!("CHECK: [[#{}1{}]]\n", "(".repeat(500), ")".repeat(500));
    invalid(&deep, "too deeply");
    fails("CHECK: [[#N:]]\nCHECK: [[N]]\n", "1\n1\n", "`[[#N]]` uses it");
}

#[test]
fn line_numbers() {
    passes(
        "CHECK: [[@LINE]] [[@LINE+1]] [[#@LINE+2]]\nCHECK: [[@LINE-1]]\n",
        "1 2 3\n1\n",
    );
    fails("\n\nCHECK: [[@LINE]]\n", "1\n", "not found");
    invalid("CHECK: [[@LINE + 1]]\n", "without blanks");
    invalid("CHECK: [[@FOO]]\n", "@LINE");
}

#[test]
fn full_lines() {
    let flag = &["--match-full-lines"];
    passes_with(flag, "CHECK: a\nCHECK-NEXT: b{{.}}\n", "  a \nbc\n");
    fails_with(flag, "CHECK: a\n", "ab\n", "not found");
    passes_with(flag, "CHECK: {{a|b}}\n", "ab\nb\n");
    fails_with(flag, "CHECK: {{a|b}}\n", "ab\n", "not found");
    // As in FileCheck, a directive that excludes matches parts of lines.
    fails_with(flag, "CHECK-NOT: a\n", "ab\n", "must not match");
    let strict = &["--match-full-lines", "--strict-whitespace"];
    passes_with(strict, "CHECK:  a\n", "  a\n");
    fails_with(strict, "CHECK: a\n", "a\n", "not found");
}

#[test]
fn white_space_and_case() {
    passes("CHECK: a b\n", "a   b\r\n");
    fails_with(&["--strict-whitespace"], "CHECK: a b\n", "a   b\n", "not found");
    passes_with(&["--strict-whitespace"], "CHECK:   a b\n", "a b\n");
    fails("CHECK: A\n", "a\n", "not found");
    fails_with(&["--ignore-case"], "CHECK: [[X:A]] [[X]]\n", "a A\n", "not found");
    passes_with(&["--ignore-case"], "CHECK: A{{B}}\nCHECK: c\n", "abC\n");
}

#[test]
fn implicit_nots() {
    let flag = &["--implicit-check-not=bad"];
    passes_with(flag, "CHECK: x\nCHECK: y\n", "x\nz\ny\n");
    for input in ["bad x y\n", "x bad y\n", "x y bad\n"] {
        fails_with(
            flag,
            "CHECK: x\nCHECK: y\n",
            input,
            "--implicit-check-not=bad: must not match",
        );
    }
    fails_with(flag, "CHECK-NOT: zz\n", "bad\n", "--implicit-check-not=bad");
}

#[test]
fn empty_input() {
    let empty = checked(&[], "CHECK-NOT: a\n", "");
    assert!(matches!(empty, Err(CheckError::Invalid(m)) if m.contains("the input is empty")));
    passes_with(&["--allow-empty"], "CHECK-NOT: a\n", "");
    fails_with(&["--allow-empty"], "CHECK: a\n", "", "not found");
}

#[test]
fn ignored_options() {
    passes_with(
        &["--dump-input=always", "--dump-input", "fail", "-v", "-vv", "--color"],
        "CHECK: a\n",
        "a\n",
    );
}

#[test]
fn messages_show_where_and_what_is_near() {
    let error = checked(
        &[],
        "// CHECK: [[X:%.*]] = start\n// CHECK: pd.multiply ([[X]], %b)\n",
        "%a = start\n  foo\n  pd.multiply (%b, %a)\nlast\n",
    );
    assert_eq!(
        error.unwrap_err().to_string(),
        "checks:2: CHECK: not found in the input\n\
         \x20   // CHECK: pd.multiply ([[X]], %b)\n\
         \x20 with `X` is `%a`\n\
         \x20 searched from line 1, column 11 to the end\n\
         \x20    1 | %a = start\n\
         \x20    2 |  foo\n\
         \x20    3 |  pd.multiply (%b, %a)\n\
         \x20    4 | last\n\
         \x20 the nearest line:\n\
         \x20    3 |  pd.multiply (%b, %a)\n"
    );
    let error = checked(&[], "CHECK: a\nCHECK-NOT: b+\n", "a\n xb+x\n");
    assert_eq!(
        error.unwrap_err().to_string(),
        "checks:2: CHECK-NOT: must not match here, and does\n\
         \x20   CHECK-NOT: b+\n\
         \x20 it matches in line 2, column 3\n\
         \x20    2 |  xb+x\n\
         \x20      |   ^^\n"
    );
}
