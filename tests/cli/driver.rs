//! How `pir-opt` observes passes, and how it finds faulty ones.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::run_tool::{Ran, command, in_folder, run, with_input};

const OPT: &str = env!("CARGO_BIN_EXE_pir-opt");
const LOOP: &str = include_str!("../../docs/examples/loop.pir");

/// Two functions and a top level; `cse` changes the second function only.
const FUNCTIONS: &str = r#"%0 = pd.data {name = "x", shape = [4], dtype = f32} : tensor<4xf32>
%1 = pd.tanh (%0) : tensor<4xf32>
pd.fetch (%1) {name = "out"}
func.func @first (%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = pd.tanh (%x) : tensor<4xf32>
  func.return (%a)
}
func.func @second (%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a = pd.tanh (%x) : tensor<4xf32>
  %b = pd.tanh (%x) : tensor<4xf32>
  func.return (%a, %b)
}
"#;

fn opt(arguments: &[&str]) -> Command {
    command(OPT, arguments)
}

/// What is said on standard error, of a run that must have gone well.
#[track_caller]
fn said(arguments: &[&str], input: &str) -> String {
    let ran = with_input(opt(arguments), input);
    assert_eq!(ran.status, 0, "{}", ran.err);
    ran.err
}

fn in_place(folder: &Path, arguments: &[&str]) -> Ran {
    in_folder(folder, opt(arguments))
}

#[test]
fn times_are_told_as_a_tree() {
    let err = said(&["--timing", "--pass=licm,backward,func.func(cse)"], LOOP);
    let names: Vec<&str> = err
        .lines()
        .skip(1)
        .map(|line| line.split_once("%  ").unwrap().1)
        .collect();
    assert_eq!(
        names,
        [
            "parse",
            "verify",
            "passes",
            "  licm",
            "  verify each",
            "  backward",
            "    stack-locals",
            "    verify each",
            "    build-backward",
            "    prune-stacks",
            "  func.func(cse)",
            "print",
            "total"
        ]
    );
    let last = err.lines().last().unwrap();
    assert!(last.contains(" 100.0%  total"), "{err}");
}

#[test]
fn statistics_are_told_in_every_build() {
    insta::assert_snapshot!(said(&["--pass-statistics", "--pass=licm,stack-locals,cse"], LOOP));
    // Those of several programs are added up.
    let two = format!("{LOOP}// -----\n{LOOP}");
    let err = said(&["--pass-statistics", "--pass=licm", "--split-input-file"], &two);
    assert!(
        err.contains("42 operations -> 42") && err.contains("2 moved out of loops"),
        "{err}"
    );
}

#[test]
fn programs_are_shown_around_passes() {
    let heads = |options: &[&str]| {
        let err = said(&[&["--pass=cse,licm,cse"], options].concat(), FUNCTIONS);
        let heads: Vec<_> = err
            .lines()
            .filter_map(|line| line.strip_prefix("// -----// "))
            .collect();
        heads.join("\n").replace(" //----- //", "")
    };
    assert_eq!(heads(&["--print-ir-before=licm"]), "IR before licm");
    assert_eq!(heads(&["--print-ir-after=licm"]), "IR after licm");
    assert_eq!(
        heads(&["--print-ir-after=licm,cse"]),
        "IR after cse\nIR after licm\nIR after cse"
    );
    assert_eq!(
        heads(&["--print-ir-after"]),
        "IR after cse\nIR after licm\nIR after cse"
    );
    assert_eq!(
        heads(&["--print-ir-before-all"]),
        "IR before cse\nIR before licm\nIR before cse"
    );
    assert_eq!(
        heads(&["--print-ir-before=cse", "--print-ir-after=licm"]),
        "IR before cse\nIR after licm\nIR before cse"
    );
    assert_eq!(heads(&["--print-ir-after-failure"]), "");
    let wrong = with_input(opt(&["--pass=cse", "--print-ir-after=lcm"]), FUNCTIONS).fails(2);
    assert!(
        wrong.contains("--print-ir-after: there is no pass `lcm`; did you mean `licm`?"),
        "{wrong}"
    );
}

#[test]
fn parts_of_programs_are_shown() {
    let shown = |scope: &str| {
        let scope = format!("--print-ir-scope={scope}");
        said(&["--pass=cse", "--print-ir-after", &scope], FUNCTIONS)
    };
    insta::assert_snapshot!(["function", "loop", "op"].map(shown).join(""));
    let before = said(
        &["--pass=cse", "--print-ir-before", "--print-ir-scope=function"],
        FUNCTIONS,
    );
    assert!(
        before.contains("@first") && before.contains("@second") && !before.contains("pd.data"),
        "{before}"
    );
}

#[test]
fn changes_are_shown_as_differences() {
    let options = ["--pass=licm,cse", "--print-ir-after-change"];
    let plain = said(&options, FUNCTIONS);
    insta::assert_snapshot!(plain);
    let colored = said(&[&options[..], &["--color=always"]].concat(), FUNCTIONS);
    assert!(
        colored.contains("\x1b[31m-  %b = pd.tanh (%x) : tensor<4xf32>\x1b[0m\n"),
        "{colored:?}"
    );
    assert_eq!(said(&[&options[..], &["--color=never"]].concat(), FUNCTIONS), plain);
}

#[test]
fn colors_are_used_when_asked_for() {
    let error = |color: &str| with_input(opt(&["--diagnostics=fancy", color]), "nonsense").fails(1);
    assert!(error("--color=always").contains('\x1b'));
    assert!(!error("--color=auto").contains('\x1b'));
    assert!(!error("--color=never").contains('\x1b'));
}

#[test]
fn programs_are_shown_after_failures() {
    let ran = with_input(opt(&["--pass=cse,debug-break", "--print-ir-after-failure"]), FUNCTIONS);
    assert_eq!(ran.status, 1);
    assert!(
        ran.err
            .starts_with("// -----// IR after debug-break failed //----- //\n"),
        "{}",
        ran.err
    );
    assert!(ran.err.contains("\"debug.broken\"()"), "{}", ran.err);
    assert!(
        ran.err.contains("the pass `debug-break` produced this invalid program"),
        "{}",
        ran.err
    );
    let unverified = with_input(opt(&["--pass=debug-break", "--no-verify-each"]), FUNCTIONS).ok();
    assert!(unverified.contains("\"debug.broken\"()"), "{unverified}");
}

#[test]
fn programs_are_written_into_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.pir"), LOOP).unwrap();
    let out = in_place(folder.path(), &["--pass=licm,backward", "--dump-to-dir=d/e", "a.pir"]).ok();
    let read = |name: &str| fs::read_to_string(folder.path().join("d/e").join(name)).unwrap();
    let mut names: Vec<_> = fs::read_dir(folder.path().join("d/e"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(
        names,
        [
            "000-input.pir",
            "001-licm.pir",
            "002-stack-locals.pir",
            "003-build-backward.pir",
            "004-prune-stacks.pir"
        ]
    );
    assert_eq!(read("004-prune-stacks.pir"), out);
    assert_eq!(read("000-input.pir"), in_place(folder.path(), &["a.pir"]).ok());
    // Files of an earlier run are replaced, not written over: what another process reads stays whole.
    let before = read("000-input.pir");
    fs::hard_link(folder.path().join("d/e/000-input.pir"), folder.path().join("kept")).unwrap();
    in_place(
        folder.path(),
        &["--dump-to-dir=d/e", "--pass=dce", "d/e/004-prune-stacks.pir"],
    )
    .ok();
    assert_eq!(read("000-input.pir"), out);
    assert_eq!(fs::read_to_string(folder.path().join("kept")).unwrap(), before);
    let failed = in_place(folder.path(), &["--pass=debug-break", "--dump-to-dir=f", "a.pir"]);
    assert_eq!(failed.status, 1);
    assert!(folder.path().join("f/002-debug-break.failed.pir").exists());
    let error = in_place(folder.path(), &["--dump-to-dir=a.pir/x", "a.pir"]).fails(1);
    assert!(
        error.starts_with("error: cannot create the folder `a.pir/x`"),
        "{error}"
    );
}

#[test]
fn crashes_of_passes_are_caught_and_named() {
    let ran = with_input(opt(&["--pass=cse,func.func(debug-panic)"]), FUNCTIONS);
    assert_eq!((ran.status, &*ran.out), (70, ""));
    assert!(ran.err.contains("  pass: debug-panic\n"), "{}", ran.err);
    assert!(
        ran.err
            .contains("<stdin>: error: the pass `debug-panic` crashed: as `debug-panic` was asked to"),
        "{}",
        ran.err
    );
    assert!(
        ran.err
            .contains("help: use `--emit-reproducer=FILE` to write a reproducer"),
        "{}",
        ran.err
    );
}

#[test]
fn reproducers_run_again() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("a.pir"), LOOP).unwrap();
    let out = in_place(
        folder,
        &["--pass=licm,backward{wrt=[x]}", "--emit-reproducer=r.pir", "a.pir"],
    )
    .ok();
    assert!(in_place(folder, &["--run-reproducer", "r.pir"]).ok().ends_with(&out));
    let pipeline = in_place(folder, &["--run-reproducer", "r.pir", "--print-pipeline"]).ok();
    assert_eq!(pipeline, "licm,backward{wrt=[x]}\n");
    let text = fs::read_to_string(folder.join("r.pir")).unwrap();
    let line = "// configuration: --pass-pipeline='licm,backward{wrt=[x]}'";
    assert!(text.lines().any(|other| other == line), "{text}");
    let none = in_place(folder, &["--run-reproducer", "a.pir"]).fails(1);
    assert!(none.starts_with("error: `a.pir` is not a reproducer"), "{none}");
    fs::write(folder.join("bad.pir"), "// configuration: --no-such\n").unwrap();
    let bad = in_place(folder, &["--run-reproducer", "bad.pir"]).fails(1);
    assert!(
        bad.starts_with("error: invalid configuration in `bad.pir`: unexpected argument '--no-such'"),
        "{bad}"
    );
}

#[test]
fn reproducers_of_failures_hold_the_pass_that_failed() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("a.pir"), LOOP).unwrap();
    for (pass, status) in [("debug-panic", 70), ("debug-fail", 1), ("debug-break", 1)] {
        let passes = format!("--pass=licm,{pass},cse");
        let ran = in_place(folder, &[&passes, "--emit-reproducer=r.pir", "a.pir"]);
        assert_eq!(ran.status, status, "{}", ran.err);
        let told = format!(
            "the program before `{pass}` is in `r.pir`; run `pir-opt --run-reproducer r.pir` to reproduce the failure"
        );
        assert!(ran.err.contains(&told), "{}", ran.err);
        let text = fs::read_to_string(folder.join("r.pir")).unwrap();
        assert!(text.contains(&format!("--pass-pipeline='{pass}'\n")), "{text}");
        let hoisted = in_place(folder, &["--pass=licm", "a.pir"]).ok();
        assert!(
            text.ends_with(&hoisted),
            "the program as it was before the pass: {text}"
        );
        let again = in_place(folder, &["--run-reproducer", "r.pir"]);
        assert_eq!(again.status, status, "{}", again.err);
        assert!(again.err.contains(pass), "{}", again.err);
    }
}

#[test]
fn a_limit_finds_the_pass_that_makes_the_difference() {
    let tanhs = |limit: &str| {
        let limit = format!("--opt-bisect-limit={limit}");
        let ran = with_input(opt(&["--pass=licm,func.func(cse),dce", &limit]), FUNCTIONS);
        assert_eq!(ran.status, 0, "{}", ran.err);
        (ran.out.matches("pd.tanh").count(), ran.err)
    };
    let (all, err) = tanhs("-1");
    assert_eq!(all, 3);
    assert_eq!(
        err,
        "bisect: running pass 1: licm\nbisect: running pass 2: cse on @first\nbisect: running pass 3: cse on @second\n\
         bisect: running pass 4: dce\n"
    );
    let (two, err) = tanhs("2");
    assert_eq!(two, 4);
    assert!(
        err.contains("bisect: running pass 2: cse on @first\nbisect: not running pass 3: cse on @second\n"),
        "{err}"
    );
    assert_eq!(tanhs("3").0, 3);
    assert_eq!(tanhs("0").0, 4);
}

#[test]
fn counters_choose_runs_of_a_pass() {
    let counter = "--debug-counter=cse:skip=1,count=1";
    let ran = with_input(opt(&["--pass=func.func(cse)", counter]), FUNCTIONS);
    assert_eq!(
        ran.err,
        "debug-counter: skipping cse 1 on @first\ndebug-counter: running cse 2 on @second\n"
    );
    assert_eq!(ran.out.matches("pd.tanh").count(), 3);
    let ran = with_input(
        opt(&["--pass=func.func(cse)", "--debug-counter=cse:count=1"]),
        FUNCTIONS,
    );
    assert_eq!(ran.out.matches("pd.tanh").count(), 4);
    let wrong = run(opt(&["--debug-counter=csee:count=1"])).fails(2);
    assert!(
        wrong.contains("there is no pass `csee`; did you mean `cse`?"),
        "{wrong}"
    );
}

#[test]
fn diagnostics_are_compared_with_comments() {
    let good = "// expected-error@+1 {{there is no operation `pd.tahn`}}\n%0 = pd.tahn ()\n// -----\n\
                %1 = pd.tahn () // expected-error-re {{there is no {{op[a-z]*}}}}\n// -----\n\
                pd.fecth () // expected-error {{pd.fecth}}\n// -----\n// expected-error@below {{pd.fecth}}\npd.fecth ()\n";
    let options = ["--verify-diagnostics", "--split-input-file"];
    assert_eq!(with_input(opt(&options), good).ok(), "");
    let bad = "pd.fecth ()\n// -----\n// expected-warning@-2 {{never}}\n// expected-remark@unknown {{nor this}}\n";
    insta::assert_snapshot!(with_input(opt(&options), bad).fails(1));
    let crash = with_input(
        opt(&["--verify-diagnostics", "--pass=debug-panic"]),
        "// expected-error@unknown {{crashed}}\n",
    );
    assert_eq!(crash.status, 70, "a crash is never expected");
    let wrong = with_input(opt(&options), "// expected-error@nowhere {{x}}\n").fails(1);
    assert!(wrong.contains("`@nowhere` is not a place"), "{wrong}");
}

#[test]
fn large_attributes_are_cut_short() {
    let list = (0..100).map(|n| n.to_string()).collect::<Vec<_>>().join(", ");
    let program = format!("\"a.b\"() {{x = [{list}]}} : () -> ()\n");
    let printed = |option: &str| with_input(opt(&["--allow-unregistered-dialect", option]), &program).ok();
    assert!(printed("--elide-large-attributes").len() < 120);
    assert!(printed("--elide-large-attributes=3").len() < 60);
    assert_eq!(printed("--elide-large-attributes=100"), program);
}

#[test]
fn operations_are_described() {
    insta::assert_snapshot!(run(opt(&["--show-op=pd.while"])).ok());
    let tanh = run(opt(&["--show-op", "pd.tanh"])).ok();
    assert!(
        tanh.contains("gradient:         pd.tanh_grad") && tanh.contains("effects:          none"),
        "{tanh}"
    );
    let unknown = run(opt(&["--show-op=pd.whlie"])).fails(2);
    assert_eq!(
        unknown,
        "error: there is no operation `pd.whlie` [unknown-op]\nhelp: did you mean `pd.while`?\n"
    );
}

#[test]
fn programs_are_told_in_numbers() {
    insta::assert_snapshot!(with_input(opt(&["--stats"]), LOOP).ok());
    let json = with_input(opt(&["--stats=json"]), FUNCTIONS).ok();
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value["operations"], 10);
    assert_eq!(value["functions"], 2);
    assert_eq!(value["ops"]["pd.tanh"], 4);
    assert_eq!(value["types"]["tensor<4xf32>"], 7);
    let two = format!("{FUNCTIONS}// -----\n{LOOP}");
    let json = with_input(opt(&["--stats=json", "--split-input-file"]), &two).ok();
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value[1]["loops"], 1);
}

#[cfg(unix)]
#[test]
fn completions_are_scripts() {
    for shell in ["bash", "zsh", "fish"] {
        let script = run(opt(&["--completions", shell])).ok();
        for option in ["print-ir-scope", "show-op", "pass-pipeline", "debug-counter"] {
            assert!(script.contains(option), "{shell}: {option}");
        }
        let mut check = command(shell, &["-n"]);
        check.stdin(std::process::Stdio::piped());
        // Not every machine has every shell.
        if check
            .spawn()
            .is_ok_and(|mut child| child.kill().is_ok() && child.wait().is_ok())
        {
            assert_eq!(with_input(command(shell, &["-n"]), &script).ok(), "", "{shell}");
        }
    }
}

#[test]
fn output_does_not_depend_on_the_threads() {
    let mut program = String::new();
    for at in 0..2500 {
        program.push_str(&format!(
            "func.func @f{at} (%x: tensor<{0}xf32>) -> (tensor<{0}xf32>, tensor<{0}xf32>) {{\n  \
             %k = pd.full {{shape = [], value = {at}.5, dtype = f32}} : tensor<f32>\n  \
             %a = pd.multiply (%x, %k) : tensor<{0}xf32>\n  %b = pd.multiply (%x, %k) : tensor<{0}xf32>\n  \
             %c = pd.add (%a, %b) : tensor<{0}xf32>\n  func.return (%c, %b)\n}}\n",
            at % 7 + 1
        ));
    }
    for pipeline in [
        "cse,canonicalize,licm,forward-args,dce",
        "func.func(cse,canonicalize,licm,dce)",
    ] {
        let pass = format!("--pass={pipeline}");
        let with = |threads: &str| with_input(opt(&[&pass, "--threads", threads]), &program).ok();
        let one = with("1");
        assert!(one.len() < program.len());
        for threads in ["2", "5"] {
            assert!(with(threads) == one, "{pipeline} with {threads} threads");
        }
        assert!(with_input(opt(&[&pass]), &program).ok() == one, "{pipeline}");
    }
    assert!(run(opt(&["--threads=0"])).fails(2).contains("--threads"));
}

#[test]
fn levels_go_before_other_passes() {
    let printed = |options: &[&str]| run(opt(&[options, &["--print-pipeline"]].concat())).ok();
    assert_eq!(printed(&["-O2", "--pass=inline"]), printed(&["--pass=O2,inline"]));
    assert_eq!(
        printed(&["--pass-pipeline=inline", "-O", "1"]),
        printed(&["--pass=O1,inline"])
    );
    assert_eq!(printed(&["-O0"]), "\n");
    assert!(run(opt(&["-O4"])).fails(2).contains("0..=3"));
    assert_eq!(with_input(opt(&["-O1"]), FUNCTIONS).ok().matches("pd.tanh").count(), 3);
}

#[test]
fn passes_on_functions_do_the_same_as_passes_on_all() {
    let program = &FUNCTIONS[FUNCTIONS.find("func.func").unwrap()..];
    let mut seen = 0;
    for pass in pir_passes::PassRegistry::standard().iter() {
        if pass.scope() == pir_passes::Scope::Body {
            seen += 1;
            let on = |pipeline: String| with_input(opt(&["--pass", &pipeline]), program).ok();
            let name = pass.name();
            assert_eq!(on(name.to_owned()), on(format!("func.func({name})")), "{name}");
        }
    }
    assert!(seen >= 5);
}

#[test]
fn the_first_failure_is_reproduced() {
    let folder = tempfile::tempdir().unwrap();
    let text = "\"first\"() : () -> ()\n// -----\n\"second\"() : () -> ()\n";
    fs::write(folder.path().join("a.pir"), text).unwrap();
    let arguments = [
        "--split-input-file",
        "--allow-unregistered-dialect",
        "--pass=debug-fail",
        "--emit-reproducer=r",
        "a.pir",
    ];
    assert_eq!(in_place(folder.path(), &arguments).status, 1);
    let text = fs::read_to_string(folder.path().join("r")).unwrap();
    assert!(
        text.contains("first") && text.contains("' --allow-unregistered-dialect\n"),
        "{text}"
    );
    assert_eq!(in_place(folder.path(), &["--run-reproducer", "r"]).status, 1);
}

#[test]
fn short_help_is_short() {
    let short = run(opt(&["-h"])).ok();
    insta::assert_snapshot!(short);
    assert!(short.lines().count() < 60);
}

#[test]
fn progress_is_for_terminals() {
    // Nothing of it is to be seen in a pipe, however long it takes.
    assert!(with_input(opt(&["--pass=debug-sleep"]), LOOP).ok().contains("pd.while"));
}

/// What a terminal shows.
#[cfg(target_os = "linux")]
#[test]
fn progress_is_shown_on_terminals() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.pir"), LOOP).unwrap();
    let shown = |pass: &str| {
        let line = format!("{OPT} --pass={pass} a.pir -o out.pir");
        let mut script = command("script", &["-qec", &line, "/dev/null"]);
        script.env("TERM", "xterm");
        script
            .current_dir(folder.path())
            .output()
            .ok()
            .map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
    };
    // The program that makes a terminal may not be there.
    let Some(long) = shown("debug-sleep") else { return };
    assert!(long.contains("running debug-sleep"), "{long:?}");
    assert_eq!(shown("cse").unwrap(), "", "what is quick is quiet");
}
