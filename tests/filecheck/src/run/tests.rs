use super::*;

fn outcome_with(config: &Config, text: &str) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a test.pir");
    fs::write(&path, text).unwrap();
    run_file(&path, config)
}

fn outcome(text: &str) -> Outcome {
    outcome_with(&Config::default(), text)
}

#[track_caller]
fn passes(text: &str) {
    assert_eq!(outcome(text), Outcome::Passed);
}

#[track_caller]
fn fails(text: &str, said: &[&str]) {
    match outcome(text) {
        Outcome::Failed(message) if said.iter().all(|part| message.contains(part)) => {}
        other => panic!("not a failure with {said:?}: {other:#?}"),
    }
}

#[test]
fn pipes_into_file_check() {
    passes("// RUN: echo a b | FileCheck %s\n// CHECK: a b\n");
    fails(
        "// RUN: echo b | FileCheck %s\n// CHECK: a\n",
        &[
            "a test.pir:1: RUN: echo b | FileCheck %s",
            "exit status 1",
            "a test.pir:2: CHECK: not found",
        ],
    );
    passes("// RUN: echo x | FileCheck %s --check-prefix=X\n// X: x\n// CHECK: a\n");
    fails("// RUN: echo x | FileCheck %s\n", &["exit status 2", "no directive"]);
}

#[test]
fn directives_do_not_match_themselves() {
    fails("// RUN: cat %s | FileCheck %s\n// CHECK: a\n", &["the input is empty"]);
    fails("// RUN: cat %s | FileCheck %s\n// CHECK: a\nb\n", &["not found"]);
    passes(
        "// RUN: cat %s | FileCheck %s\n// CHECK: a\n// CHECK-NEXT: b\n// CHECK-NOT: CHECK\n\
         a\nb // CHECK-NOT: RUN\n",
    );
}

#[test]
fn several_lines_and_continuation() {
    passes("// RUN: echo a > %t\n// RUN: cat %t \\\n// RUN:   | FileCheck %s\n// CHECK: a\n");
    fails(
        "// RUN: true\n\n// RUN: false\n// RUN: true\n",
        &["a test.pir:3: RUN: false", "exit status 1"],
    );
    passes("// RUN: echo a > x && cat x | FileCheck %s\n// CHECK: a\n");
    fails("// RUN: false && true\n", &["exit status 1"]);
}

#[test]
fn every_command_of_a_pipe_counts() {
    fails(
        "// RUN: cat missing | true\n",
        &["cat missing: exit status 1", "--- standard error", "No such file"],
    );
}

#[test]
fn not_inverts_refusals_only() {
    passes("// RUN: not false\n");
    passes("// RUN: not not true\n");
    passes("// RUN: not grep x no-such-file\n");
    fails("// RUN: not true\n", &["not true: exit status 0"]);
    passes("// RUN: echo a | not FileCheck %s\n// CHECK: b\n");
    let mut config = Config::default();
    config.programs.insert("crash".to_owned(), "/bin/sh".into());
    for (script, said) in [("exit 101", "exit status 101"), ("kill -9 $$", "ended by a signal")] {
        let run = format!("// RUN: not crash -c '{script}'\n");
        match outcome_with(&config, &run) {
            Outcome::Failed(message) => {
                assert!(message.contains(said) && message.contains("not a refusal"), "{message}")
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn substitutions() {
    passes("// RUN: echo %S/x %%s %arg0 100% | FileCheck %s\n// CHECK: /x %s %arg0 100%\n// CHECK-NOT: %S\n");
    passes("// RUN: cp %s %t && diff %s %t\n");
    fails("// RUN: echo %{nothing}\n", &["stands for nothing"]);
    let mut config = Config::default();
    config
        .substitutions
        .insert("inputs".to_owned(), "some where".to_owned());
    let text = "// RUN: printf '[%%s]' %{inputs}/x | FileCheck %s\n// CHECK: [some where/x]\n";
    assert_eq!(outcome_with(&config, text), Outcome::Passed);
}

#[test]
fn redirections() {
    passes("// RUN: echo a > f\n// RUN: echo b >> f\n// RUN: cat < f | FileCheck %s\n// CHECK: a\n// CHECK-NEXT: b\n");
    passes("// RUN: not cat missing 2> f\n// RUN: FileCheck %s < f\n// CHECK: No such file\n");
    passes("// RUN: not cat missing 2>&1 | FileCheck %s\n// CHECK: No such file\n");
    passes("// RUN: not cat missing > f 2>&1\n// RUN: FileCheck %s --input-file=f\n// CHECK: No such file\n");
    passes("// RUN: echo x | not FileCheck %s 2>&1 | grep 'not found'\n// CHECK: a\n");
    fails("// RUN: cat < missing\n", &["cannot read `missing`"]);
    fails("// RUN: echo a > no/such\n", &["cannot write `no/such`"]);
}

#[test]
fn environment() {
    let mut config = Config::default();
    config.programs.insert("shell".to_owned(), "/bin/sh".into());
    let text = "// RUN: env FOO=bar shell -c 'echo \"$FOO\"' | FileCheck %s\n// CHECK: bar\n";
    assert_eq!(outcome_with(&config, text), Outcome::Passed);
}

#[test]
fn unknown_programs() {
    fails("// RUN: pir-nothing %s\n", &["`pir-nothing` is not a program"]);
    fails("// RUN: not bash -c x\n", &["`bash` is not a program"]);
    fails("// RUN: not\n", &["a command is missing"]);
}

#[test]
fn features() {
    let requires = |feature: &str| format!("// REQUIRES: {feature}\n// RUN: false\n");
    assert_eq!(outcome(&requires("gpu")), Outcome::Ignored("requires gpu".to_owned()));
    fails(&requires("!gpu"), &["exit status 1"]);
    let unsupported = "// UNSUPPORTED: gpu\n// RUN: true\n";
    passes(unsupported);
    let mut config = Config::default();
    config.features.insert("gpu".to_owned());
    assert!(matches!(outcome_with(&config, &requires("gpu")), Outcome::Failed(_)));
    assert!(matches!(outcome_with(&config, &requires("!gpu")), Outcome::Ignored(_)));
    assert_eq!(
        outcome_with(&config, unsupported),
        Outcome::Ignored("unsupported with gpu".to_owned())
    );
}

#[test]
fn expected_failures() {
    passes("// XFAIL: *\n// RUN: false\n");
    fails("// XFAIL: *\n// RUN: true\n", &["passes, and should fail"]);
    fails("// XFAIL: gpu\n// RUN: false\n", &["exit status 1"]);
    fails("// XFAIL: *\n", &["no RUN line"]);
}

#[test]
fn time_is_limited() {
    let config = Config {
        timeout: Duration::from_millis(50),
        ..Config::default()
    };
    match outcome_with(&config, "// RUN: not sleep 20\n") {
        Outcome::Failed(message) => assert!(message.contains("killed after 0.05 s"), "{message}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn large_outputs_flow() {
    let line = "x".repeat(1000);
    let body: String = (0..2000).map(|n| format!("{n} {line}\n")).collect();
    passes(&format!(
        "// RUN: cat %s | cat | FileCheck %s\n// CHECK: {{{{^}}}}1999 xx\n{body}"
    ));
    // A reader that stops early is not an error.
    passes(&format!(
        "// RUN: cat %s | head -c 20 | wc -c | FileCheck %s\n// CHECK: 20\n{body}"
    ));
}

#[test]
fn expected_errors() {
    let text = "// RUN: not cat %s 2>&1 | expected-errors %s\n";
    fails(text, &["not cat"]);
    passes("// RUN: echo '<stdin>:2:1: error: bad' | expected-errors %s\n// expected-error {{bad}}\n");
    fails(
        "// RUN: echo '<stdin>:3:1: error: bad' | expected-errors %s\n// expected-error {{bad}}\n",
        &["unexpected"],
    );
    passes("// RUN: echo \"%s:2:1: error: bad\" | expected-errors %s\n// expected-error {{bad}}\n");
    fails("// RUN: echo | expected-errors\n", &["takes one file"]);
}

#[test]
fn files_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::write(root.join("readme"), "RUN: true\n").unwrap();
    fs::write(root.join("data"), b"\xff// RUN: true\n").unwrap();
    assert!(collect(root).unwrap_err().contains("no test file"));
    assert!(collect(&root.join("missing")).unwrap_err().contains("cannot list"));
    fs::create_dir_all(root.join("b/inputs")).unwrap();
    for (path, text) in [
        ("b/x.json", "// RUN: true\n"),
        ("b/inputs/x.pir", "// RUN: true\n"),
        ("a.pir", ""),
    ] {
        fs::write(root.join(path), text).unwrap();
    }
    assert_eq!(collect(root).unwrap(), [root.join("a.pir"), root.join("b/x.json")]);
}
