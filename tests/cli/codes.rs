//! The pages of `docs/codes/`: the wrong program of each section has the error, the right one has none, and what
//! the section describes the effect of `--fix`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::run_tool::{self, Ran, command, with_input};

const OPT: &str = env!("CARGO_BIN_EXE_pir-opt");
const RUN: &str = env!("CARGO_BIN_EXE_pir-run");
const TRANSLATE: &str = env!("CARGO_BIN_EXE_pir-translate");

/// A block ```` ```LANGUAGE wrong|right [fix] [pir-run|pir-translate] [file=NAME] [OPTION…] ````.
struct Program {
    tool: &'static str,
    args: Vec<String>,
    /// It follows from the wrong one by `--fix`.
    by_fix: bool,
    /// The file that it is in, if it is not read from standard input.
    file: Option<String>,
    text: String,
}

struct Section {
    code: String,
    /// Further files, in blocks ```` ```LANGUAGE file=NAME ````.
    files: Vec<(String, String)>,
    /// None for a code of [`WITHOUT_PROGRAM`].
    programs: Option<(Program, Program)>,
}

/// Codes that no short program gives, and why.
const WITHOUT_PROGRAM: &[(&str, &str)] = &[
    ("too-large", "needs an input of 4 GiB"),
    ("roundtrip", "every program that we know is read as it was printed"),
    ("remat-size", "needs a loop of more than 16,384 operations"),
    ("flow-edit", "is given by passes of libraries"),
    (
        "print-op-stats",
        "needs a standard error stream that cannot be written to",
    ),
    ("paddle-operand", "all rows so far accept such operands"),
    ("engine", "depends on what is installed"),
    ("too-many", "needs more than 100 errors"),
    ("successor-region", "the reader reports `undefined-block`"),
    ("not-visible", "the reader reports `undefined-value`"),
    ("unregistered-op", "the reader reports `unknown-op`"),
    ("not-differentiable", "the verifier reports `region-blocks`"),
    (
        "lift-value",
        "values of other types serve as placeholders in all programs that we know",
    ),
    ("no-mlir", "every operation of a known derivative has a counterpart"),
    (
        "df-no-condition",
        "the verifier refuses such graphs; passes of libraries may make them",
    ),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The words after the language of each block, with its text.
fn blocks(section: &str) -> Vec<(Vec<&str>, &str)> {
    let mut found = Vec::new();
    let mut rest = section;
    while let Some((_, after)) = rest.split_once("\n```") {
        let (info, after) = after.split_once('\n').unwrap();
        let end = if after.starts_with("```") {
            0
        } else {
            after.find("\n```").unwrap() + 1
        };
        found.push((info.split_whitespace().skip(1).collect(), &after[..end]));
        rest = &after[end + 3..];
    }
    found
}

fn program(blocks: &[(Vec<&str>, &str)], kind: &str) -> Option<Program> {
    let (words, text) = blocks.iter().find(|block| block.0.first() == Some(&kind))?;
    let mut program = Program {
        tool: OPT,
        args: Vec::new(),
        by_fix: false,
        file: None,
        text: (*text).to_owned(),
    };
    for &word in &words[1..] {
        match word {
            "fix" => program.by_fix = true,
            "pir-run" => program.tool = RUN,
            "pir-translate" => program.tool = TRANSLATE,
            _ => match word.strip_prefix("file=") {
                Some(name) => program.file = Some(name.to_owned()),
                None => program.args.push(word.to_owned()),
            },
        }
    }
    Some(program)
}

fn sections() -> Vec<Section> {
    let mut sections = Vec::new();
    for entry in fs::read_dir(root().join("docs/codes")).unwrap() {
        let page = fs::read_to_string(entry.unwrap().path()).unwrap();
        for section in page.split("\n## `").skip(1) {
            let (code, text) = section.split_once("`\n").unwrap();
            let blocks = blocks(text);
            let named = |(words, text): &(Vec<&str>, &str)| {
                let name = words.first()?.strip_prefix("file=")?;
                Some((name.to_owned(), (*text).to_owned()))
            };
            sections.push(Section {
                code: code.to_owned(),
                files: blocks.iter().filter_map(named).collect(),
                programs: program(&blocks, "wrong").zip(program(&blocks, "right")),
            });
        }
    }
    assert!(sections.len() > 50);
    sections
}

/// Runs a program in a folder with the files of its section.
fn run(section: &Section, program: &Program, more: &[&str]) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    let own = program.file.iter().map(|name| (name, &program.text));
    for (name, text) in section.files.iter().map(|(name, text)| (name, text)).chain(own) {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let mut args: Vec<&str> = program.args.iter().map(String::as_str).collect();
    args.extend(more);
    if program.file.is_none() {
        args.push("-");
    }
    let mut command = command(program.tool, &args);
    command.current_dir(folder.path());
    with_input(command, &program.text)
}

#[test]
fn the_help_of_each_code_works() {
    let mut failures = Vec::new();
    for section in sections() {
        let code = &section.code;
        let Some((wrong, right)) = &section.programs else {
            assert!(
                WITHOUT_PROGRAM.iter().any(|entry| entry.0 == code),
                "{code} has no programs"
            );
            continue;
        };
        let mut expect = |holds: bool, what: &str, shown: &str| {
            if !holds {
                failures.push(format!("{code}: {what}: {shown}"));
            }
        };
        let said = run(&section, wrong, &["--diagnostics=json"]);
        let is_error = |line: &&str| line.contains("\"severity\":\"error\"");
        // The style of an error in the command line is an option too.
        let error = said.err.lines().find(is_error);
        let first = error.or(said.err.lines().next()).unwrap_or_default();
        let status = if error.is_some() { 1..=2 } else { 0..=0 };
        expect(status.contains(&said.status), "the exit status is wrong", &said.err);
        expect(
            first.contains(&format!("\"code\":\"{code}\"")),
            "has another code",
            &said.err,
        );
        expect(first.contains("\"help\":\""), "has no help", first);
        let good = run(&section, right, &[]);
        expect((good.status, good.err.as_str()) == (0, ""), "is not right", &good.err);
        let of_program = wrong.args.is_empty() && wrong.tool == OPT;
        expect(
            (of_program && first.contains("\"edits\":[")) == right.by_fix,
            "has an edit, or none",
            first,
        );
        if right.by_fix {
            let fixed = run(&section, wrong, &["--fix"]);
            expect((fixed.status, &fixed.out) == (0, &right.text), "--fix", &fixed.err);
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
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

/// The codes in calls of `error(` and `warning(`: the first word with hyphens among the arguments.
fn codes_of(source: &str) -> BTreeSet<String> {
    let mut codes = BTreeSet::new();
    for call in ["error(", "warning("] {
        for (at, _) in source.match_indices(call) {
            let rest = &source[at + call.len()..];
            // The arguments before it are places: `error(op, "code", …)`.
            let Some((places, rest)) = rest.split_once('"') else {
                continue;
            };
            let is_place = |c: char| c.is_alphanumeric() || "_.&*, \n".contains(c);
            if !places.chars().all(is_place) {
                continue;
            }
            let word = rest.split('"').next().unwrap_or_default();
            if word.contains('-') && word.bytes().all(|b| b.is_ascii_lowercase() || b == b'-') {
                codes.insert(word.to_owned());
            }
        }
    }
    codes
}

#[test]
fn every_code_has_a_section() {
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
    let missing: Vec<_> = used.iter().filter(|(code, _)| !explained.contains(*code)).collect();
    assert!(
        missing.is_empty(),
        "codes without a section in docs/codes/: {missing:#?}"
    );
    assert!(used.len() > 140, "only {} codes were found", used.len());
}
