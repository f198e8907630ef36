//! What the documentation shows is true.
//!
//! In README.md, docs/ and the examples, a block marked `pir` is a program without errors, one marked `pir printed` is printed as it
//! is there, and one marked `console` shows commands after `$ ` and what they print: those that begin with
//! `pir-` or `cat ` are run in the folder of the repository. `BLESS=1` writes what they print. Blocks marked `file=PATH`
//! are the pieces of a file. Every type, operation and file in the last column of the glossary exists.

#![allow(clippy::unwrap_used)]

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use pir_ir::text::{PrintOptions, print};
use pir_tools::driver::{LoadOptions, load};
use pir_tools::source::Source;

/// A fenced block of a page.
struct Block {
    /// What is after the fence.
    info: String,
    /// The number of the line of the fence, from one.
    line: usize,
    text: String,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn pages() -> Vec<PathBuf> {
    let mut pages = vec![root().join("README.md")];
    for folder in ["docs", "docs/tutorial", "docs/guides", "examples/own-operation"] {
        for entry in fs::read_dir(root().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|e| e == "md") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    pages
}

fn blocks(page: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut inside = false;
    for (at, line) in page.split_inclusive('\n').enumerate() {
        match line.trim_end().strip_prefix("```") {
            Some(_) if inside => inside = false,
            Some(info) => {
                inside = true;
                blocks.push(Block {
                    info: info.to_owned(),
                    line: at + 1,
                    text: String::new(),
                });
            }
            None if inside => blocks.last_mut().unwrap().text.push_str(line),
            None => {}
        }
    }
    assert!(!inside, "a block is not closed");
    blocks
}

#[test]
fn programs_are_right() {
    let mut seen = 0;
    for path in pages() {
        let page = fs::read_to_string(&path).unwrap();
        for block in blocks(&page) {
            let mut words = block.info.split_whitespace();
            if words.next() != Some("pir") {
                continue;
            }
            seen += 1;
            let place = format!("{}:{}", path.display(), block.line);
            let source = Source::new(place.clone(), block.text.as_str());
            let (module, warnings) = load(&pir_dialects::context(), &source, LoadOptions::default())
                .unwrap_or_else(|errors| panic!("{place}: {errors:#?}"));
            assert!(warnings.is_empty(), "{place}: {warnings:#?}");
            if words.next() == Some("printed") {
                let printed = print(&module, &PrintOptions::default());
                assert_eq!(printed, block.text, "{place}");
            }
        }
    }
    assert!(seen > 5, "only {seen} programs were found");
}

/// `pip install .` takes the modules from `tools/python`, where symbolic links represent the files of two packages.
#[cfg(unix)]
#[test]
fn the_wheel_has_every_module() {
    for part in ["jax", "paddle"] {
        let names = |folder: PathBuf| -> HashSet<String> {
            let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
            let modules = files.filter(|path| path.extension().is_some_and(|e| e == "py") && path.exists());
            modules
                .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
                .collect()
        };
        let linked = names(root().join("tools/python/pir_opt").join(part));
        assert_eq!(
            linked,
            names(root().join("tools").join(part).join("pir_opt").join(part))
        );
        assert!(linked.contains("__init__.py"));
    }
}

/// What a command prints, as a terminal would show it.
fn run(command: &str) -> String {
    let tools = Path::new(env!("CARGO_BIN_EXE_pir-opt")).parent().unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(tools.to_owned()).chain(std::env::split_paths(&path))).unwrap();
    let output = Command::new("bash")
        .args(["-c", &format!("exec 2>&1; {command}")])
        .env("PATH", path)
        .current_dir(root())
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// The text of a block with the output of its commands as it is now.
fn replay(text: &str) -> String {
    let mut out = String::new();
    let mut kept = true;
    let mut lines = text.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let Some(first) = line.strip_prefix("$ ") else {
            // Output: of a command that was not run it stays.
            if kept {
                out.push_str(line);
            }
            continue;
        };
        out.push_str(line);
        let mut command = first.to_owned();
        while command.trim_end().ends_with('\\') {
            let more = lines.next().unwrap_or_default();
            out.push_str(more);
            command.push_str(more);
        }
        kept = !["pir-", "cat "].iter().any(|tool| command.starts_with(tool));
        if !kept {
            out.push_str(&run(&command));
            if !out.ends_with('\n') {
                out.push('\n');
            }
        }
    }
    out
}

#[cfg(unix)]
#[test]
fn commands_print_what_is_shown() {
    let bless = std::env::var_os("BLESS").is_some_and(|v| v == "1");
    for path in pages() {
        let page = fs::read_to_string(&path).unwrap();
        let mut new = page.clone();
        for block in blocks(&page).into_iter().filter(|b| b.info == "console") {
            let now = replay(&block.text);
            if bless {
                new = new.replace(&block.text, &now);
            } else {
                assert_eq!(
                    now,
                    block.text,
                    "{}:{}; `BLESS=1 cargo test --test docs` writes it anew",
                    path.display(),
                    block.line
                );
            }
        }
        if new != page {
            fs::write(&path, new).unwrap();
        }
    }
}

/// The files that a page shows, in one piece or several: a block marked `file=PATH` is the next piece of that file.
fn shown_files(page: &str) -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = Vec::new();
    for block in blocks(page) {
        let Some(file) = block
            .info
            .split_whitespace()
            .find_map(|word| word.strip_prefix("file="))
        else {
            continue;
        };
        match files.iter_mut().find(|(name, _)| name == file) {
            Some((_, text)) => {
                text.push('\n');
                text.push_str(&block.text);
            }
            None => files.push((file.to_owned(), block.text)),
        }
    }
    files
}

#[test]
fn files_are_shown_as_they_are() {
    let mut seen = 0;
    for path in pages() {
        for (file, text) in shown_files(&fs::read_to_string(&path).unwrap()) {
            seen += 1;
            let is = fs::read_to_string(root().join(&file)).unwrap();
            assert_eq!(text, is, "{} shows {file}", path.display());
        }
    }
    assert!(seen > 4, "only {seen} files were found");
}

/// Follows the last chapter of the tutorial literally. It builds all crates, which takes minutes.
#[cfg(unix)]
#[test]
#[ignore = "builds all crates; .ci/run does it"]
fn the_tutorial_adds_an_operation_and_a_pass() {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(root(), folder.path().join("pir-opt")).unwrap();
    let demo = folder.path().join("demo");
    let chapter = fs::read_to_string(root().join("docs/tutorial/6-extending.md")).unwrap();
    for (file, text) in shown_files(&chapter) {
        let inside = match file.rsplit_once("/src/") {
            Some((_, inside)) => format!("src/{inside}"),
            None => file.rsplit('/').next().unwrap().to_owned(),
        };
        let path = demo.join(inside);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    fs::copy(root().join("Cargo.lock"), demo.join("Cargo.lock")).unwrap();
    let commands = blocks(&chapter)
        .into_iter()
        .rfind(|block| block.info == "sh")
        .unwrap()
        .text;
    let mut outputs = commands.lines().map(|line| {
        let output = Command::new("bash")
            .args(["-c", line])
            .env("CARGO_TARGET_DIR", folder.path().join("target"))
            // Nobody debugs it or builds it again: both would take time and space.
            .env("CARGO_PROFILE_DEV_DEBUG", "0")
            .env("CARGO_INCREMENTAL", "0")
            .current_dir(&demo)
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{line}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    });
    let mut next = || outputs.next().unwrap();
    assert!(next().contains("%y = pd.neg (%0)"), "the pattern");
    assert!(!next().contains("demo.cube"), "the pass");
    assert!(next().contains("x_grad"), "the derivative");
    assert!(next().contains("ok"), "the check");
    assert!(next().contains("x³"), "the description");
}

/// Adds the identifiers in the code of a folder, without those in comments.
fn identifiers(folder: &Path, found: &mut HashSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            identifiers(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
            let words = code.flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && c != '_'));
            found.extend(words.map(str::to_owned));
        }
    }
}

#[test]
fn the_glossary_names_what_exists() {
    let page = fs::read_to_string(root().join("docs/glossary.md")).unwrap();
    let mut known: HashSet<String> = ["pir_ir".to_owned(), "pir_interp".to_owned()].into();
    for folder in ["ir", "dialects", "passes", "interp", "translate", "."] {
        identifiers(&root().join(folder).join("src"), &mut known);
    }
    let ctx = pir_dialects::context();
    let mut seen = 0;
    for row in page.lines().filter(|line| line.starts_with("| ")) {
        let place = row.trim_end_matches('|').rsplit('|').next().unwrap();
        for name in place.split('`').skip(1).step_by(2) {
            seen += 1;
            let exists = match name {
                _ if name.contains('/') => root().join(name).exists(),
                _ if name.contains('.') => ctx.registered_op(name).is_some(),
                _ => name.trim_end_matches('!').split("::").all(|part| known.contains(part)),
            };
            assert!(exists, "docs/glossary.md names `{name}`, which does not exist: {row}");
        }
    }
    assert!(seen > 50, "only {seen} names were found");
}
