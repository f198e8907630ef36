use super::*;
use crate::options::{OptionKind, OptionSpec};
use crate::pass::{Changed, PassContext};
use pir_ir::Module;

struct Plain;
impl Pass for Plain {
    fn name(&self) -> &'static str {
        "plain"
    }
    fn summary(&self) -> &'static str {
        "without options"
    }
    fn description(&self) -> &'static str {
        ""
    }
    fn run(&self, _: &mut Module, _: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
        Ok(Changed::No)
    }
}

struct Rich;
impl Pass for Rich {
    fn name(&self) -> &'static str {
        "rich"
    }
    fn summary(&self) -> &'static str {
        "with options"
    }
    fn description(&self) -> &'static str {
        ""
    }
    fn options(&self) -> &'static [OptionSpec] {
        const fn opt(name: &'static str, kind: OptionKind, default: Option<&'static str>) -> OptionSpec {
            OptionSpec {
                name,
                kind,
                default,
                help: "some help",
            }
        }
        const ALL: &[OptionSpec] = &[
            opt("of", OptionKind::List, None),
            opt("wrt", OptionKind::List, Some("[a, \"b c\"]")),
            opt("seed", OptionKind::Str, None),
            opt("slots", OptionKind::Int(0, i64::MAX), Some("4")),
            opt("fast", OptionKind::Bool, Some("false")),
            opt("mode", OptionKind::Enum(&["eager", "lazy"]), Some("lazy")),
        ];
        ALL
    }
    fn run(&self, _: &mut Module, _: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
        Ok(Changed::No)
    }
}

const PASSES: &[&dyn Pass] = &[&Plain, &Rich];

fn parse(text: &str) -> Pipeline {
    Pipeline::parse_with(text, PASSES, None).unwrap()
}

/// The code, message, first label with the text under it, and help of the errors.
fn errors(text: &str) -> Vec<(&'static str, String, String, String)> {
    let errors = Pipeline::parse_with(text, PASSES, None).unwrap_err();
    errors
        .into_iter()
        .map(|e| {
            let label = &e.labels[0];
            let under = &text[label.span.start as usize..label.span.end as usize];
            (e.code, e.message, format!("{under}: {}", label.text), e.help.unwrap())
        })
        .collect()
}

#[test]
fn reads_bare_quoted_and_list_values() {
    let p =
        parse(" plain , rich{ of=out:1 , wrt=[%x,\"w_0\" b] seed=\"a \\\"b\\\"\", fast mode=eager slots = 7 },plain{}");
    assert_eq!(p.invocations.len(), 3);
    let o = &p.invocations[1].options;
    assert_eq!(o.list("of"), Some(vec!["out:1".to_owned()]));
    assert_eq!(o.list("wrt"), Some(vec!["%x".into(), "w_0".into(), "b".into()]));
    assert_eq!(o.text("seed").as_deref(), Some("a \"b\""));
    assert!(o.flag("fast"));
    assert_eq!(o.text("mode").as_deref(), Some("eager"));
    assert_eq!(o.int("slots"), Some(7));
    assert!(parse("").invocations.is_empty());
    assert!(parse("  ").invocations.is_empty());
}

#[test]
fn options_that_are_not_given_have_their_defaults() {
    let p = parse("rich");
    let o = &p.invocations[0].options;
    assert_eq!(o.list("of"), None);
    assert_eq!(o.list("wrt"), Some(vec!["a".to_owned(), "b c".to_owned()]));
    assert_eq!(o.int("slots"), Some(4));
    assert!(!o.flag("fast"));
    assert!(!o.is_given("fast"));
}

#[test]
fn printing_and_reading_gives_the_same() {
    for text in [
        "plain,rich,plain",
        "rich{of=[out:1, \"a b\", \"\", \"q\\\"\\\\\\n\"], fast=true, slots=9},plain",
        "rich{seed=\"\", mode=eager}",
        "rich{wrt=[]}",
    ] {
        let p = parse(text);
        assert_eq!(p.to_string(), text);
        assert_eq!(parse(&p.to_string()).to_string(), text);
    }
}

#[test]
fn unknown_names_are_answered_with_the_nearest() {
    assert_eq!(
        errors("plian,rich{seedd=1, zzzz=2},plain{x=1}"),
        [
            (
                "unknown-pass",
                "there is no pass `plian`".into(),
                "plian: no such pass".into(),
                "did you mean `plain`?".into()
            ),
            (
                "unknown-option",
                "the pass `rich` has no option `seedd`".into(),
                "seedd: no such option".into(),
                "did you mean `seed`?".into()
            ),
            (
                "unknown-option",
                "the pass `rich` has no option `zzzz`".into(),
                "zzzz: no such option".into(),
                "`rich` takes of, wrt, seed, slots, fast, mode".into()
            ),
            (
                "unknown-option",
                "the pass `plain` has no option `x`".into(),
                "x: no such option".into(),
                "`plain` takes no options".into()
            ),
        ]
    );
}

#[test]
fn bad_values_say_what_is_expected() {
    let found: Vec<_> = errors("rich{slots=-1 fast=maybe mode=\"x\" seed=[a] of slots=3,slots=4}")
        .into_iter()
        .map(|e| (e.0, e.2))
        .collect();
    assert_eq!(
        found,
        [
            ("bad-option", "-1: expected a whole number of at least 0".to_owned()),
            ("bad-option", "maybe: expected true or false".into()),
            ("bad-option", "\"x\": expected `eager` or `lazy`".into()),
            ("bad-option", "[a]: expected a string, not a list".into()),
            ("bad-option", "of: expected a list of strings after `of=`".into()),
            ("duplicate-option", "slots: given again here".into()),
        ]
    );
}

#[test]
fn syntax_errors_point_at_the_place() {
    let found = |text: &str| -> Vec<String> { errors(text).into_iter().map(|e| e.2).collect() };
    assert_eq!(found("plain,,plain"), [",: expected the name of a pass"]);
    assert_eq!(found("plain,"), [": expected the name of a pass"]);
    assert_eq!(found("plain rich"), ["r: expected `,` or the end"]);
    assert_eq!(found("rich{seed=a"), [": expected `}`"]);
    assert_eq!(found("rich{seed=\"a}"), [": expected `\"`", ": expected `}`"]);
    assert_eq!(found("rich{of=[a"), [": expected `]`", ": expected `}`"]);
    assert_eq!(found("rich{of=[[a]], fast}"), ["[: expected a value"]);
    assert_eq!(
        found("rich{=a, fast=3x}"),
        ["=: expected the name of an option", "3x: expected true or false"]
    );
    assert_eq!(found("rich}"), ["}: expected `,` or the end"]);
    assert_eq!(found("rich{seed=}"), ["}: expected a value"]);
}

#[test]
fn any_text_is_read_or_refused_without_panic() {
    let pieces = [
        "rich", "{", "}", "[", "]", "=", ",", "\"", "\\", " ", "é", "of", "\u{0}", "(", ")", "f(",
    ];
    let mut state = 1u64;
    for _ in 0..40_000 {
        let mut text = String::new();
        for _ in 0..8 {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            text.push_str(pieces[(state >> 33) as usize % pieces.len()]);
        }
        if let Ok(p) = Pipeline::parse_with(&text, PASSES, None) {
            let again = Pipeline::parse_with(&p.to_string(), PASSES, None).unwrap();
            assert_eq!(again.to_string(), p.to_string());
            let paths = |p: &Pipeline| p.invocations.iter().map(|i| i.path.clone()).collect::<Vec<_>>();
            assert_eq!(paths(&again), paths(&p), "{text}");
        }
    }
}

#[test]
fn forwarding_takes_what_the_pass_declares() {
    let p = parse("rich{seed=s, fast}");
    let i = Invocation::forwarding(&Rich, &p.invocations[0].options);
    assert_eq!(i.to_string(), "rich{seed=s, fast=true}");
    assert_eq!(
        Invocation::forwarding(&Plain, &p.invocations[0].options).to_string(),
        "plain"
    );
}

#[test]
fn anchors_nest_and_print_as_they_are_read() {
    for text in [
        "builtin.module(func.func(plain,rich{slots=9}),plain)",
        "func.func(plain)",
        "plain,func.func(plain),plain",
        "builtin.module(builtin.module(plain),func.func(rich))",
    ] {
        assert_eq!(parse(text).to_string(), text);
    }
    let p = parse(" builtin.module ( func.func( plain , rich{slots=9} ) , plain ) ");
    assert_eq!(p.to_string(), "builtin.module(func.func(plain,rich{slots=9}),plain)");
    assert_eq!(p.invocations[0].path.len(), 2);
    assert_eq!(
        parse("func.func(plain),func.func(plain)").to_string(),
        "func.func(plain,plain)"
    );
    assert_eq!(parse("func.func(),plain").to_string(), "plain");
}

#[test]
fn anchors_are_checked() {
    let ctx = pir_dialects::context();
    let said = |text: &str| -> Vec<String> {
        let errors = Pipeline::parse_with(text, PASSES, Some(&ctx)).unwrap_err();
        let one = |e: Diagnostic| {
            let span = e.labels[0].span;
            let under = &text[span.start as usize..span.end as usize];
            format!("{} `{under}` {} [{}]", e.message, e.help.unwrap(), e.code)
        };
        errors.into_iter().map(one).collect()
    };
    assert_eq!(
        said("func.fun(plain),pd.while(plain),func.func"),
        [
            "there is no operation `func.fun` `func.fun` did you mean `func.func`? [unknown-anchor]",
            "passes cannot run on each `pd.while` in isolation `pd.while` passes run on `builtin.module`, `func.func` [bad-anchor]",
            "there is no pass `func.func` `func.func` `func.func` is an operation; passes on it are written \
             `func.func(cse,licm)` [unknown-pass]",
        ]
    );
    assert_eq!(
        said("func.func(plain)"),
        [
            "the pass `plain` cannot run on each `func.func` in isolation `plain` write it outside of the parentheses: \
          `func.func(…),plain` [bad-anchor]"
        ]
    );
    let messages = |text: &str| errors(text).into_iter().map(|e| e.1).collect::<Vec<_>>();
    assert_eq!(messages("func.func(plain"), ["the parenthesis is not closed"]);
    assert_eq!(messages("plain)"), ["expected `,` or the end, found `)`"]);
    assert_eq!(messages("f(plain}"), ["expected `,` or `)`, found `}`"]);
    assert_eq!(messages("f(plain,)"), ["expected the name of a pass, found `)`"]);
    assert!(messages(&"f(".repeat(100_000))[0].contains("expected a pass"));
}
