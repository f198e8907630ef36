//! The pages of `docs/codes/`: the wrong program of each section has the error, the right one has none, and what
//! `--fix` does is what the section says.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::run_tool::{self, Ran, command, with_input};

const OPT: &str = env!("CARGO_BIN_EXE_pir-opt");

struct Program {
    args: Vec<String>,
    /// It follows from the wrong one by `--fix`.
    by_fix: bool,
    text: String,
}

struct Section {
    code: String,
    wrong: Program,
    right: Program,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The block whose info string begins with `kind`.
fn block(section: &str, kind: &str) -> Program {
    let fence = format!("```pir {kind}");
    let at = section
        .find(&fence)
        .unwrap_or_else(|| panic!("no {kind} program: {section}"));
    let (info, rest) = section[at + fence.len()..].split_once('\n').unwrap();
    let mut args: Vec<String> = info.split_whitespace().map(str::to_owned).collect();
    let by_fix = args.first().is_some_and(|word| word == "fix");
    if by_fix {
        args.remove(0);
    }
    Program {
        args,
        by_fix,
        text: rest[..rest.find("```").unwrap()].to_owned(),
    }
}

fn sections() -> Vec<Section> {
    let mut sections = Vec::new();
    for entry in fs::read_dir(root().join("docs/codes")).unwrap() {
        let page = fs::read_to_string(entry.unwrap().path()).unwrap();
        for section in page.split("\n## `").skip(1) {
            let (code, text) = section.split_once("`\n").unwrap();
            sections.push(Section {
                code: code.to_owned(),
                wrong: block(text, "wrong"),
                right: block(text, "right"),
            });
        }
    }
    assert!(sections.len() > 50);
    sections
}

fn run(program: &Program, more: &[&str]) -> Ran {
    let own = program.args.iter().map(String::as_str);
    let args: Vec<&str> = own.chain(more.iter().copied()).collect();
    with_input(command(OPT, &args), &program.text)
}

#[test]
fn the_help_of_each_code_works() {
    for Section { code, wrong, right } in sections() {
        let said = run(&wrong, &["--diagnostics=json", "-"]);
        assert!(matches!(said.status, 1 | 2), "{code}: {}", said.err);
        let is_error = |line: &&str| line.contains("\"severity\":\"error\"");
        // The style of an error in the command line is an option too.
        let first = said.err.lines().find(is_error).unwrap_or_default();
        assert!(first.contains(&format!("\"code\":\"{code}\"")), "{code}: {}", said.err);
        assert!(first.contains("\"help\":\""), "{code} has no help: {first}");
        let good = run(&right, &["-"]);
        assert_eq!((good.status, good.err.as_str()), (0, ""), "{code}");
        let of_program = wrong.args.is_empty();
        assert_eq!(
            of_program && first.contains("\"edits\":["),
            right.by_fix,
            "{code}: {first}"
        );
        if right.by_fix {
            let fixed = run(&wrong, &["--fix", "-"]);
            assert_eq!((fixed.status, &fixed.out), (0, &right.text), "{code}: {}", fixed.err);
        }
    }
}

#[test]
fn each_section_is_explained() {
    for Section { code, .. } in sections() {
        let text = run_tool::run(command(OPT, &["--explain", &code])).ok();
        assert!(text.starts_with(&format!("{code}\n\n")), "{code}: {text}");
    }
}

#[test]
fn files_are_fixed_in_place() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.pir");
    let program = "// Kept.\n%x   = pd.data {name = \"x\", shape = [4], dtype = f32}\n%y = pd.tahn (%x)\n";
    fs::write(&file, program).unwrap();
    let path = file.to_str().unwrap();
    let ran = run_tool::run(command(OPT, &["--fix", path]));
    assert_eq!((ran.status, ran.out.as_str()), (0, ""), "{}", ran.err);
    assert!(ran.err.contains("1 error was fixed"), "{}", ran.err);
    let fixed = program.replace("tahn", "tanh");
    assert_eq!(fs::read_to_string(&file).unwrap(), fixed);
    // Nothing is left to do: the file stays.
    let before = fs::metadata(&file).unwrap().modified().unwrap();
    assert_eq!(run_tool::run(command(OPT, &["--fix", path])).ok(), "");
    assert_eq!(fs::metadata(&file).unwrap().modified().unwrap(), before);
}

#[test]
fn errors_without_an_edit_are_left() {
    let program = "%x = pd.data {name = \"x\", shape = [4], dtype = f32}\n\
                   %y = pd.tahn (%x)\n%z = pd.quux (%x)\n%w = pd.sigmiod (%y)\n";
    let ran = with_input(command(OPT, &["--fix", "-"]), program);
    assert_eq!(ran.status, 1);
    assert_eq!(ran.out, program.replace("tahn", "tanh").replace("sigmiod", "sigmoid"));
    assert!(
        ran.err.contains("2 of 3 errors fixed") && ran.err.contains("pd.quux"),
        "{}",
        ran.err
    );
}

#[test]
fn edits_that_do_not_help_are_not_made() {
    // The name that is suggested takes other operands.
    let program = "%x = pd.data {name = \"x\", shape = [4], dtype = f32}\n%y = pd.matmull (%x) : tensor<4xf32>\n";
    let ran = with_input(command(OPT, &["--fix", "-"]), program);
    assert_eq!((ran.status, ran.out.as_str()), (1, program), "{}", ran.err);
}

fn sources(folder: &Path, all: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && path.file_name().is_some_and(|name| name != "tests") {
            sources(&path, all);
        } else if path.extension().is_some_and(|e| e == "rs") && path.file_stem().is_some_and(|name| name != "tests") {
            all.push(path);
        }
    }
}

/// The codes that are written behind `error(` and `warning(`.
fn codes_of(source: &str) -> BTreeSet<String> {
    let mut codes = BTreeSet::new();
    for call in ["error(", "warning("] {
        for (at, _) in source.match_indices(call) {
            let rest = source[at + call.len()..].trim_start();
            let Some(word) = rest.strip_prefix('"').and_then(|rest| rest.split('"').next()) else {
                continue;
            };
            if word.contains('-') && word.bytes().all(|b| b.is_ascii_lowercase() || b == b'-') {
                codes.insert(word.to_owned());
            }
        }
    }
    codes
}

/// The list may only become shorter.
#[test]
fn codes_without_a_section_are_listed() {
    let mut files = Vec::new();
    for folder in [
        "ir/src",
        "dialects/src",
        "passes/src",
        "interp/src",
        "translate/src",
        "src",
    ] {
        sources(&root().join(folder), &mut files);
    }
    let mut used: BTreeMap<String, PathBuf> = BTreeMap::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let code = text.split("#[cfg(test)]\nmod ").next().unwrap();
        used.extend(codes_of(code).into_iter().map(|code| (code, file.clone())));
    }
    let explained: BTreeSet<String> = sections().into_iter().map(|section| section.code).collect();
    let listed = include_str!("../data/codes-without-section.txt");
    let listed: BTreeSet<&str> = listed.lines().filter(|line| !line.starts_with('#')).collect();
    for (code, file) in &used {
        let known = explained.contains(code) || listed.contains(code.as_str());
        assert!(known, "`{code}` ({}) has no section in docs/codes/", file.display());
    }
    for code in listed {
        assert!(
            used.contains_key(code),
            "`{code}` is used nowhere: remove it from the list"
        );
        assert!(
            !explained.contains(code),
            "`{code}` has a section: remove it from the list"
        );
    }
}
