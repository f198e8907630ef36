//! Reading in pieces.

use super::context;
use crate::text::reader::parser::Parser;
use crate::text::{ParseOptions, Parsed, PrintOptions, parse_in_chunks, print};

/// What is read in pieces, and what is read at once; with the places of all operations.
fn in_pieces(text: &str, pieces: usize) -> Option<(String, String)> {
    let options = ParseOptions {
        allow_unregistered: true,
    };
    let show = |parsed: Parsed| {
        assert!(parsed.diagnostics.is_empty(), "{:#?}", parsed.diagnostics);
        let mut all = print(&parsed.module, &PrintOptions::default());
        parsed.module.for_each_body(|body| {
            let spans = body
                .walk_all()
                .map(|op| format!("{:?} {:?}\n", body.op_span(op), body.loc(op).is_some()));
            all.extend(spans);
        });
        all
    };
    let ctx = context();
    let parsed = parse_in_chunks(&ctx, text.as_bytes(), options, pieces)?;
    let at_once = Parser::new(&ctx, text.as_bytes(), options).run();
    Some((show(parsed), show(at_once)))
}

#[test]
fn pieces_are_read_as_the_whole() {
    let function = |at: usize| {
        let line = |line| format!("  %a{line} = pd.full () : f32 loc(\"there\")\n  // inside\n");
        let lines: String = (0..at % 5).map(line).collect();
        format!(
            "\n// CHECK-X: @f\n// number {at}\n\n// of many\nfunc.func @f{at}(%x: f32) -> f32 {{ // here\n\
             {lines}  func.return (%x)\n}} // behind\n"
        )
    };
    let functions: String = (0..50).map(function).collect();
    let head = "// RUN: pir-opt --check-prefix=CHECK-X\n// a program\n%x = pd.full () : f32\n";
    for (before, after, cut) in [
        ("", "", true),
        (head, "", true),
        ("\u{feff}", "// the end", true),
        ("#a = 1\n", "", true),
        (
            "// of all\n#a = 1 // one\n\n// two\n!a = f32\n// of the first\n",
            "",
            true,
        ),
        ("#b = #x.y<1>\n", "", true),
        // These depend on what is around them.
        ("", "\n%y = pd.full () : f32\n", false),
        ("#a = 1\n#a = 2\n", "", false),
        ("#a =\n  1\n", "", false),
        ("", " #a = 1\n", false),
        ("", "!a = f32\n", false),
        ("", "{-# a #-}\n", false),
        ("x.a () {\n", "\n}\n", false),
        ("\"x.a\"() {s = \"\n", "\n\"} : () -> ()\n", false),
    ] {
        let text = format!("{before}{functions}{after}");
        for pieces in 2..9 {
            match in_pieces(&text, pieces) {
                Some((in_pieces, at_once)) => assert!(cut && in_pieces == at_once, "{before} {after}\n{in_pieces}"),
                None => assert!(!cut, "{before} {after}"),
            }
        }
    }
    assert_eq!(in_pieces("%x = pd.full () : f32\n", 4), None);
    let broken = functions.replacen("func.return (%x)\n}", "func.return (%z)\n}", 40);
    assert_eq!(in_pieces(&broken, 4), None);
}

#[test]
fn pieces_have_the_aliases_in_front() {
    let head = "// one\n#a = [1, 2]\n!a = tensor<4xf32>\n#b = [#a, 3]\n";
    let function = |at: usize| {
        format!("func.func @f{at}(%x: !a) -> !a {{\n  %y = x.y (%x) {{k = #b, l = #a}} : !a\n  func.return (%y)\n}}\n")
    };
    let functions: String = (0..50).map(function).collect();
    let (in_pieces_text, at_once) = in_pieces(&format!("{head}{functions}"), 5).expect("pieces");
    assert_eq!(in_pieces_text, at_once);
    assert!(at_once.contains("k = [[1, 2], 3]"), "{at_once}");
    // Text that is kept refers to an alias, which is printed in front of all.
    let kept = format!("{head}{functions}").replace("l = #a", "l = #x.y<#a>");
    assert_eq!(in_pieces(&kept, 5), None);
    // One that is not defined.
    assert_eq!(
        in_pieces(&format!("{head}{functions}").replace("l = #a", "l = #c"), 5),
        None
    );
}

#[test]
fn short_texts_have_no_pieces() {
    for text in ["", "\n", "a", "\n\n\n", "func.func @f() {", "\nfunc.func"] {
        for pieces in 0..9 {
            assert!(in_pieces(text, pieces).is_none(), "{text}");
        }
    }
}
