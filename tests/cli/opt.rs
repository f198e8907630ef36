//! `pir-opt`.

use std::fs;
use std::io::Read;
use std::process::Command;

use crate::run_tool::{command, in_folder, run, with_input};

const OPT: &str = env!("CARGO_BIN_EXE_pir-opt");

/// A program that needs no dialect.
const PROGRAM: &str = "%0 = \"a.b\"() : () -> f32\n\"c.d\"(%0) {x = [1, 2]} : (f32) -> ()\n";

fn opt(arguments: &[&str]) -> Command {
    command(OPT, arguments)
}

fn with_files(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

#[test]
fn help_teaches() {
    let help = run(opt(&["--help"])).ok();
    insta::assert_snapshot!(help);
    assert!(!run(opt(&["-h"])).ok().contains("Examples:"));
}

#[test]
fn reads_files_and_standard_input() {
    let folder = with_files(&[("a.pir", PROGRAM)]);
    let flag = "--allow-unregistered-dialect";
    assert_eq!(in_folder(folder.path(), opt(&[flag, "a.pir"])).ok(), PROGRAM);
    assert_eq!(with_input(opt(&[flag, "-"]), PROGRAM).ok(), PROGRAM);
    assert_eq!(with_input(opt(&[flag]), PROGRAM).ok(), PROGRAM);
    assert_eq!(with_input(opt(&[flag, "--verify-only"]), PROGRAM).ok(), "");
    assert_eq!(with_input(opt(&[]), "").ok(), "");
}

#[test]
fn drawings_are_written_like_output_files() {
    let folder = with_files(&[("a.pir", PROGRAM), ("old.dot", "old")]);
    let draw = |file: &str| {
        let pass = format!("--pass=view-graph{{file={file}}}");
        in_folder(folder.path(), opt(&["--allow-unregistered-dialect", &pass, "a.pir"]))
    };
    assert_eq!(draw("old.dot").ok(), PROGRAM);
    let drawing = fs::read_to_string(folder.path().join("old.dot")).unwrap();
    assert!(drawing.starts_with("digraph") && drawing.ends_with("}\n"), "{drawing}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    let refused = draw("\".\"").fails(1);
    assert!(
        refused.contains("cannot write `.`: it is a directory [view-graph]"),
        "{refused}"
    );
}

#[test]
fn diagnoses_the_input_in_three_styles() {
    let folder = with_files(&[("a.pir", PROGRAM)]);
    for style in ["fancy", "short", "json"] {
        let style = format!("--diagnostics={style}");
        insta::assert_snapshot!(
            style.trim_start_matches('-').replace('=', "_"),
            in_folder(folder.path(), opt(&[&style, "a.pir"])).fails(1)
        );
    }
    let default = in_folder(folder.path(), opt(&["a.pir"])).fails(1);
    assert!(default.starts_with("a.pir:1:7: error: "), "short when piped: {default}");
    let stdin = with_input(opt(&["-"]), PROGRAM).fails(1);
    assert!(stdin.starts_with("<stdin>:1:7: error: "), "{stdin}");
}

#[test]
fn files_that_cannot_be_read_are_told() {
    let folder = with_files(&[("loop.pir", PROGRAM)]);
    fs::create_dir(folder.path().join("folder")).unwrap();
    let said = |arguments: &[&str]| in_folder(folder.path(), opt(arguments)).fails(1);
    assert_eq!(
        said(&["lop.pir"]),
        "error: cannot read `lop.pir`: there is no such file [io]\nhelp: did you mean `loop.pir`?\n"
    );
    assert_eq!(
        said(&["folder"]),
        "error: cannot read `folder`: it is a directory [io]\n\
         help: give a file in it, or `-` for standard input\n"
    );
}

#[test]
fn wrong_command_lines_end_with_2() {
    assert!(run(opt(&["--no-such-option"])).fails(2).contains("--help"));
    assert!(run(opt(&["a", "b"])).fails(2).contains("unexpected argument"));
    let said = run(opt(&[
        "--pass=backward,,backwrd{of=}",
        "--pass=backward{off=x}",
        "no-such-file",
    ]))
    .fails(2);
    insta::assert_snapshot!(said);
}

#[test]
fn lists_and_prints_pipelines_without_input() {
    let list = run(opt(&["--list-passes"])).ok();
    for pass in pir_passes::PassRegistry::standard().iter() {
        assert!(
            list.contains(&format!("{} ", pass.name())) && list.contains(pass.summary()),
            "{}",
            pass.name()
        );
    }
    insta::assert_snapshot!(run(opt(&["--help-pass=strip-backward"])).ok());
    assert!(
        run(opt(&["--help-pass=licn"]))
            .fails(2)
            .contains("there is no pass `licn`; did you mean `licm`?")
    );
    let text = "backward{of=[loss, \"out 1\"], seed=[2]},prune-stacks";
    assert_eq!(
        run(opt(&[
            "--pass=backward{of=[loss \"out 1\"],seed=2}",
            "--pass",
            "prune-stacks",
            "--print-pipeline"
        ]))
        .ok(),
        format!("{text}\n")
    );
    assert_eq!(
        run(opt(&["--pass", text, "--print-pipeline"])).ok(),
        format!("{text}\n")
    );
}

#[test]
fn pipelines_name_what_passes_run_on() {
    let text = "builtin.module(func.func(cse,canonicalize{max-steps=3}),dce)";
    for option in ["--pass", "--pass-pipeline"] {
        let printed = run(opt(&[option, text, "--print-pipeline"])).ok();
        assert_eq!(printed, format!("{text}\n"));
    }
    let same = "%0 = pd.data {name = \"x\", shape = [4], dtype = f32} : tensor<4xf32>\n\
                %a = pd.tanh (%0) : tensor<4xf32>\n%b = pd.tanh (%0) : tensor<4xf32>\n\
                pd.fetch (%a) {name = \"a\"}\npd.fetch (%b) {name = \"b\"}\n\
                func.func @f (%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {\n  %a = pd.tanh (%x) : tensor<4xf32>\n  \
                %b = pd.tanh (%x) : tensor<4xf32>\n  func.return (%a, %b)\n}\n";
    let tanhs = |pipeline: &str| {
        let printed = with_input(opt(&["--pass-pipeline", pipeline]), same).ok();
        printed.matches("pd.tanh").count()
    };
    assert_eq!(tanhs(""), 4);
    assert_eq!(tanhs("func.func(cse)"), 3, "what is outside stays");
    assert_eq!(tanhs("builtin.module(func.func(cse))"), 3);
    assert_eq!(tanhs("builtin.module(cse)"), 2);
}

#[test]
fn wrong_pipelines_are_pointed_at() {
    let said = run(opt(&[
        "--pass-pipeline=builtin.module(func.fun(cse),pd.while(licm),func.func(backward),cs)",
    ]))
    .fails(2);
    insta::assert_snapshot!(said);
    assert!(!said.contains("unknown>"), "{said}");
    let short = run(opt(&["--diagnostics=short", "--pass-pipeline=licm,cs"])).fails(2);
    assert!(
        short.starts_with("--pass-pipeline:1:6: error: there is no pass `cs`"),
        "{short}"
    );
}

#[test]
fn lists_operations() {
    let list = run(opt(&["--list-ops"])).ok();
    for op in ["pd.tanh ", "cf.yield ", "func.func ", "pd.while_grad "] {
        assert!(list.lines().any(|line| line.starts_with(op)), "{op}");
    }
}

#[test]
fn completions_are_written() {
    for (shell, word) in [
        ("bash", "complete -F"),
        ("zsh", "#compdef pir-opt"),
        ("fish", "complete -c pir-opt"),
    ] {
        let script = run(opt(&["--completions", shell])).ok();
        assert!(script.contains(word) && script.contains("print-generic"), "{shell}");
    }
}

#[test]
fn outputs_are_replaced_as_a_whole() {
    let folder = with_files(&[("a.pir", PROGRAM), ("bad.pir", "nonsense"), ("out.pir", "old")]);
    let out = folder.path().join("out.pir");
    let said = in_folder(folder.path(), opt(&["bad.pir", "-o", "out.pir"]));
    assert_eq!(said.status, 1);
    assert_eq!(fs::read_to_string(&out).unwrap(), "old");
    let flag = "--allow-unregistered-dialect";
    assert_eq!(
        in_folder(folder.path(), opt(&[flag, "a.pir", "-o", "out.pir"])).ok(),
        ""
    );
    assert_eq!(fs::read_to_string(&out).unwrap(), PROGRAM);
    // Onto the input itself.
    in_folder(folder.path(), opt(&[flag, "out.pir", "-o", "out.pir"])).ok();
    assert_eq!(fs::read_to_string(&out).unwrap(), PROGRAM);
    let said = in_folder(folder.path(), opt(&[flag, "a.pir", "-o", "no/out.pir"])).fails(1);
    assert_eq!(
        said,
        "error: cannot write `no/out.pir`: its folder does not exist [io]\n"
    );
    assert_eq!(in_folder(folder.path(), opt(&[flag, "a.pir", "-o", "-"])).ok(), PROGRAM);
    assert_eq!(
        fs::read_dir(folder.path()).unwrap().count(),
        3,
        "nothing is left lying about"
    );
}

#[test]
fn a_closed_pipe_is_no_error() {
    let line = "\"a.b\"() : () -> ()\n";
    let folder = with_files(&[("a.pir", &line.repeat(100_000))]);
    for tool in [OPT, env!("CARGO_BIN_EXE_pir-translate")] {
        let mut child = command(tool, &["--allow-unregistered-dialect", "a.pir"])
            .current_dir(folder.path())
            .spawn()
            .unwrap();
        let mut first = vec![0; line.len()];
        child.stdout.take().unwrap().read_exact(&mut first).unwrap();
        assert_eq!(first, line.as_bytes());
        // No reader is left.
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), &*output.stderr), (Some(0), &b""[..]));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let mut command = opt(&["--list-passes"]);
    command.stdout(fs::File::options().write(true).open("/dev/full").unwrap());
    let said = run(command).fails(1);
    assert!(said.starts_with("error: cannot write to standard output: "), "{said}");
}

#[cfg(unix)]
#[test]
fn a_closed_standard_output_is_an_error() {
    let cube = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/examples/cube.pir");
    let (run_tool, translate) = (env!("CARGO_BIN_EXE_pir-run"), env!("CARGO_BIN_EXE_pir-translate"));
    let print = "%x = pd.full {shape = [1], value = 1.0, dtype = f64} : tensor<1xf64>\n%y = pd.print (%x) : tensor<1xf64>\n\
                 pd.fetch (%y) {name = \"y\"}\n";
    let folder = with_files(&[("print.pir", print)]);
    let closed = |tool: &str, arguments: &[&str]| {
        let mut shell = command("sh", &["-c", "\"$0\" \"$@\" >&-", tool]);
        shell.args(arguments);
        in_folder(folder.path(), shell)
    };
    for (tool, arguments) in [
        (OPT, &[cube][..]),
        (OPT, &["--list-passes"]),
        (OPT, &["--help"]),
        (OPT, &["--emit=paddle-json", "print.pir"]),
        (run_tool, &[cube, "--input", "x=1"]),
        (run_tool, &[cube, "--input", "x=1", "--check-grad"]),
        (run_tool, &[cube, "--input", "x=1", "--output", "-"]),
        // What the program prints is lost as well.
        (run_tool, &["print.pir", "--output", "out.npz"]),
        (translate, &[cube]),
        (translate, &["--version"]),
    ] {
        let said = closed(tool, arguments).fails(1);
        assert!(said.contains("it is closed"), "{said}");
    }
    // Nothing is lost here.
    assert_eq!(closed(OPT, &[cube, "--output", "out.pir"]).ok(), "");
    assert_eq!(run(opt(&["-o", "/dev/null", cube])).ok(), "");
    let mut thrown_away = opt(&[cube]);
    thrown_away.stdout(fs::File::options().read(true).write(true).open("/dev/null").unwrap());
    assert_eq!(run(thrown_away).ok(), "");
}

#[test]
fn parts_of_a_file_are_programs_of_their_own() {
    let text = "\"a.b\"() : () -> ()\n// -----\nnonsense\n// -----\n%0 = \"a.b\"() : () -> f32\n";
    let ran = with_input(opt(&["--allow-unregistered-dialect", "--split-input-file"]), text);
    assert_eq!(ran.status, 1);
    assert!(ran.err.starts_with("<stdin>:3:1: error: "), "{}", ran.err);
    assert_eq!(ran.out, "\"a.b\"() : () -> ()\n// -----\n%0 = \"a.b\"() : () -> f32\n");
}

#[test]
fn pass_failures_name_the_pass() {
    let said = with_input(opt(&["--pass=backward"]), "").fails(1);
    insta::assert_snapshot!(said);
}

#[test]
fn tools_work_in_shell_pipelines() {
    let program = include_str!("../../docs/examples/loop.pir");
    let hoisted = with_input(opt(&["--pass=licm"]), program).ok();
    let piped = with_input(opt(&["--pass=backward", "-"]), &hoisted).ok();
    let at_once = with_input(opt(&["--pass=licm", "--pass=backward"]), program).ok();
    assert_eq!(piped, at_once);
    assert!(piped.contains("pd.while_grad") && piped.contains("{name = \"x_grad\"}"));
    // What was printed is printed the same again, and MLIR's form is read back.
    assert_eq!(with_input(opt(&["-"]), &piped).ok(), piped);
    let generic = with_input(opt(&["--print-generic", "-"]), &piped).ok();
    assert_eq!(with_input(opt(&["-"]), &generic).ok(), piped);
}

#[test]
fn programs_are_shown_after_each_pass() {
    let program = include_str!("../../docs/examples/loop.pir");
    let ran = with_input(opt(&["--pass=licm,backward", "--print-ir-after-all"]), program);
    assert_eq!(ran.status, 0);
    let heads: Vec<_> = ran.err.lines().filter(|line| line.starts_with("// -----//")).collect();
    assert_eq!(
        heads,
        ["licm", "stack-locals", "build-backward", "prune-stacks"]
            .map(|pass| format!("// -----// IR after {pass} //----- //"))
    );
    assert!(
        ran.err.trim_end().ends_with(ran.out.trim_end()),
        "the last is the output"
    );
}
