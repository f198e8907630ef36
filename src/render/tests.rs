use std::time::Instant;

use pir_ir::{Diagnostic, Span};

use super::{Look, Renderer, Style};
use crate::source::Source;

fn show(style: Style, source: &Source, diagnostics: &[Diagnostic]) -> String {
    let mut out = Vec::new();
    Renderer::new(style, Look::PLAIN)
        .render(source, diagnostics, &mut out)
        .unwrap();
    String::from_utf8(out).unwrap()
}

/// The span of the first `needle`.
fn span(source: &Source, needle: &str) -> Span {
    let at = memchr::memmem::find(source.bytes(), needle.as_bytes()).unwrap();
    Span::new(at, at + needle.len())
}

fn example() -> (Source, Diagnostic) {
    let source = Source::new(
        "x.pir",
        "// ü\n%a = pd.full {value = 1}\n%b = pd.tahn (%a) : tensor<1xf32>\n\n\n\n\npd.fetch (%b)\n",
    );
    let diagnostic = Diagnostic::error("unknown-op", "there is no operation `pd.tahn`")
        .label(span(&source, "pd.tahn"), "not registered")
        .label(span(&source, "(%b)"), "its result is used here")
        .help("did you mean `pd.tanh`?")
        .note("the dialect `pd` is known");
    (source, diagnostic)
}

#[test]
fn fancy() {
    let (source, diagnostic) = example();
    insta::assert_snapshot!(show(Style::Fancy, &source, &[diagnostic]));
}

#[test]
fn ascii() {
    let (source, diagnostic) = example();
    let look = Look {
        unicode: false,
        ..Look::PLAIN
    };
    let mut out = Vec::new();
    Renderer::new(Style::Fancy, look)
        .render(&source, &[diagnostic], &mut out)
        .unwrap();
    assert!(out.is_ascii() || out.windows(2).any(|w| w == "ü".as_bytes()));
    assert!(!String::from_utf8(out).unwrap().contains('─'));
}

#[test]
fn short() {
    let (source, diagnostic) = example();
    let plain = Diagnostic::warning("empty", "the program\nis empty");
    insta::assert_snapshot!(show(Style::Short, &source, &[diagnostic, plain]));
}

#[test]
fn json() {
    let (source, diagnostic) = example();
    let text = show(Style::Json, &source, std::slice::from_ref(&diagnostic));
    assert_eq!(text.lines().count(), 1);
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["severity"], "error");
    assert_eq!(value["code"], "unknown-op");
    assert_eq!(value["file"], "x.pir");
    assert_eq!(value["help"], "did you mean `pd.tanh`?");
    assert_eq!(value["notes"][0], "the dialect `pd` is known");
    let first = &value["spans"][0];
    assert_eq!(first["label"], "not registered");
    assert_eq!(first["start"]["line"], 3);
    assert_eq!(first["start"]["column"], 6);
    assert_eq!(first["start"]["offset"], diagnostic.labels[0].span.start);
    assert_eq!(first["end"]["column"], 13);
}

#[test]
fn several_labels_on_one_line() {
    let source = Source::new("x.pir", "%c = pd.add (%a, %b) : tensor<2xf32>");
    let diagnostic = Diagnostic::error("shape", "the shapes do not broadcast")
        .label(span(&source, "pd.add"), "")
        .label(span(&source, "%a"), "tensor<2xf32>")
        .label(span(&source, "%b"), "tensor<3xf32>");
    insta::assert_snapshot!(show(Style::Fancy, &source, &[diagnostic]));
}

#[test]
fn lines_of_megabytes_are_cropped_on_both_sides() {
    let mut text = String::from("%a = pd.full {value = [");
    for i in 0..400_000 {
        text.push_str(&format!("{i}, "));
    }
    let middle = text.len();
    text.push_str("oops, ");
    for i in 0..400_000 {
        text.push_str(&format!("{i}, "));
    }
    text.push_str("]}\n");
    let source = Source::new("x.pir", text);
    let diagnostic = Diagnostic::error("syntax", "not a number")
        .label(Span::new(middle, middle + 4), "this")
        .label(Span::new(0, 2), "in the definition of this");
    let start = Instant::now();
    let shown = show(Style::Fancy, &source, std::slice::from_ref(&diagnostic));
    assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
    assert!(shown.len() < 2000, "{} bytes", shown.len());
    assert!(shown.contains("…, 399994, "), "{shown}");
    insta::assert_snapshot!(shown);
    let short = show(Style::Short, &source, &[diagnostic]);
    assert!(short.starts_with(&format!("x.pir:1:{}: error: not a number: this [syntax]\n", middle + 1)));
}

#[test]
fn far_spans_are_cut_to_their_first_line() {
    let mut text = String::from("%r = pd.while (%i) cond {\n");
    for _ in 0..1000 {
        text.push_str("  line\n");
    }
    text.push('}');
    let source = Source::new("x.pir", text.clone());
    let diagnostic = Diagnostic::error("e", "wrong").label(Span::new(5, text.len()), "the whole loop");
    let shown = show(Style::Fancy, &source, &[diagnostic]);
    assert!(shown.lines().count() < 12, "{shown}");
    assert!(shown.contains("the whole loop"));
}

#[test]
fn hostile_sources_and_spans_do_no_harm() {
    let texts: [&[u8]; 8] = [
        b"",
        b"\n",
        b"\n\n\n",
        b"\r\n\r\n",
        b"a\rb\n\tc",
        b"\xff\xfe\x80 abc \xc3\n\xe2\x82",
        "\u{1b}[31mred\u{1b}[0m \u{202e}desrever ü€😀\u{301}".as_bytes(),
        b"\0\0\0",
    ];
    for text in texts {
        let source = Source::new("x", text);
        for start in 0..=text.len() + 2 {
            for end in [0, start, start + 1, start + 3, text.len(), text.len() + 9] {
                let diagnostic = Diagnostic::error("e", "message \u{1b}[2J")
                    .label(Span::new(start, end), "first")
                    .label(Span::new(0, 1), "second")
                    .label(Span::new(text.len() / 2, text.len()), "");
                for style in [Style::Fancy, Style::Short, Style::Json] {
                    let shown = show(style, &source, std::slice::from_ref(&diagnostic));
                    assert!(!shown.contains('\u{1b}') && !shown.contains('\u{202e}') || style == Style::Json);
                    assert!(
                        style == Style::Json || shown.contains("first"),
                        "{start}..{end} {text:?}\n{shown}"
                    );
                }
            }
        }
    }
}

#[test]
fn every_label_is_drawn_wherever_it_is() {
    // Lines of several lengths, in every distance that affects how snippets are joined.
    let line = |i: usize| match i % 3 {
        0 => format!("line {i}\n"),
        1 => format!("{}\n", "long ".repeat(200)),
        _ => "\n".to_owned(),
    };
    let text: String = (0..30).map(line).collect();
    let source = Source::new("x", text);
    for a in 0..30 {
        for b in 0..30 {
            let label = |l: usize, at: usize| {
                let range = source.line_range(l);
                let start = (range.start + at).min(range.end);
                Span::new(start, start + 2)
            };
            let diagnostic = Diagnostic::error("e", "m")
                .label(label(a, 3), "FIRST")
                .label(label(b, 700), "SECOND")
                .label(label(b, 900), "THIRD");
            let shown = show(Style::Fancy, &source, &[diagnostic]);
            for word in ["FIRST", "SECOND", "THIRD"] {
                assert!(shown.contains(word), "{a} {b} {word}\n{shown}");
            }
            let primary = source.position(label(a, 3).start as usize);
            assert!(
                shown.contains(&format!("[x:{}:{}]", primary.line, primary.column)),
                "{a} {b}\n{shown}"
            );
        }
    }
}

#[test]
fn many_diagnostics_end_in_a_summary() {
    let source = Source::new("x.pir", "text\n");
    let mut all = vec![Diagnostic::error("e", "wrong").label(Span::new(0, 4), ""); 250];
    all.push(Diagnostic::warning("w", "odd"));
    let shown = show(Style::Short, &source, &all);
    assert_eq!(shown.lines().count(), 101);
    assert_eq!(
        shown.lines().last(),
        Some("note: 150 more errors and 1 other diagnostics in `x.pir` are not shown [too-many]")
    );
}

#[test]
fn long_messages_are_cut() {
    let source = Source::new("x.pir", "text\n");
    let diagnostic = Diagnostic::error("e", "x".repeat(1 << 20)).label(Span::new(0, 4), "y".repeat(1 << 20));
    for style in [Style::Fancy, Style::Short] {
        let shown = show(style, &source, std::slice::from_ref(&diagnostic));
        assert!(shown.len() < 10_000, "{style:?}: {}", shown.len());
    }
}

#[test]
fn parts_of_a_source_are_numbered_as_in_the_whole() {
    let whole = Source::new("x.pir", "a\n// -----\nb\nbad\n");
    let part = &whole.split()[1];
    let diagnostic = Diagnostic::error("e", "m").label(span(part, "bad"), "here");
    let shown = show(Style::Fancy, part, &[diagnostic]);
    assert!(shown.contains("[x.pir:4:1]") && shown.contains(" 4 │ bad"), "{shown}");
}
