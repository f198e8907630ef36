//! The pages of `docs/reference/` match the declarations in the code. `BLESS=1` rewrites them.

use std::path::Path;

#[track_caller]
fn check(name: &str, expected: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference").join(name);
    if std::env::var_os("BLESS").is_some_and(|v| v == "1") {
        std::fs::create_dir_all(path.parent().unwrap_or(&path))
            .and_then(|()| std::fs::write(&path, expected))
            .unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        return;
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    if found != expected {
        let line = found.lines().zip(expected.lines()).take_while(|(a, b)| a == b).count();
        panic!(
            "docs/reference/{name} is stale from line {} on; `BLESS=1 cargo test --test reference` writes it anew\n\
             there:    {:?}\ndeclared: {:?}",
            line + 1,
            found.lines().nth(line),
            expected.lines().nth(line)
        );
    }
}

#[test]
fn passes() {
    check("passes.md", &pir_tools::reference::passes());
}

#[test]
fn dialects() {
    for name in pir_tools::reference::dialects() {
        let page = pir_tools::reference::dialect(&name).unwrap_or_default();
        check(&format!("dialects/{name}.md"), &page);
    }
}

#[test]
fn examples() {
    let ctx = pir_dialects::context();
    let mut count = 0;
    for op in ctx
        .ops()
        .filter(|op| pir_dialects::pd::family(&op.name).is_some() && !pir_dialects::pd::is_foreign(&op.name))
    {
        match pir_tools::reference::example(&ctx, op) {
            Ok(Some(text)) => assert!(text.contains("\n// "), "the example of {} gives nothing", op.name),
            Ok(None) => panic!("{} has no example", op.name),
            Err(errors) => panic!("the example of {} does not run: {errors:?}", op.name),
        }
        count += 1;
    }
    assert!(count > 200, "{count} examples");
}

#[test]
fn marks() {
    check("marks.md", &pir_tools::reference::marks());
}
