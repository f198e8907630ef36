//! Writing the CHECK lines of a file from what its RUN line prints.

use std::fs;
use std::path::Path;

use super::echo::without_directives;
use super::words::Command;
use super::{Config, Test, script, skipped};
use crate::CommandLine;

/// Marks a file whose CHECK lines are generated: in a separate comment, immediately above them.
pub const GENERATED: &str = "NOTE: checks below are generated; regenerate with BLESS=1";

/// How often the lines are written when the output depends on them, by their number for instance.
const ROUNDS: usize = 3;

/// Rewrites the CHECK lines below the mark from the current output of the first pipe into `FileCheck`, and returns
/// whether they have changed. A file without the mark, or one that is not tested here, is not changed.
///
/// # Errors
/// If there is no such pipe, a command in it fails, or the file cannot be read or written.
pub fn bless_file(path: &Path, config: &Config) -> Result<bool, String> {
    let place = |error: String| format!("{}: {error}", path.display());
    let read = || fs::read_to_string(path).map_err(|error| place(error.to_string()));
    let original = read()?;
    if mark(&original).is_none() {
        return Ok(false);
    }
    for _ in 0..ROUNDS {
        let old = read()?;
        let new = regenerate(path, config, &old).map_err(place)?;
        if new == old {
            return Ok(old != original);
        }
        fs::write(path, new).map_err(|error| place(error.to_string()))?;
    }
    Err(place(
        "the output depends on the CHECK lines: it changed with each rewriting".to_owned(),
    ))
}

/// The number of the line with the mark, and what makes that a comment.
fn mark(text: &str) -> Option<(usize, &str)> {
    text.lines().enumerate().find_map(|(at, line)| {
        let leader = line.trim().strip_suffix(GENERATED)?.trim_end();
        matches!(leader, "//" | "#").then_some((at, leader))
    })
}

fn regenerate(path: &Path, config: &Config, text: &str) -> Result<String, String> {
    let Some((mark, leader)) = mark(text) else {
        return Ok(text.to_owned());
    };
    let script = script::parse(text)?;
    if skipped(&script, config).is_some() {
        return Ok(text.to_owned());
    }
    let test = Test::new(path, config)?;
    let pipelines = script.lines.iter().flat_map(|line| &line.pipelines);
    for pipeline in pipelines {
        let Some((prefix, printing)) = file_check(&test, &pipeline.commands)? else {
            // It may write what a later one reads.
            test.commands(&pipeline.commands)?;
            continue;
        };
        let output = test.commands(printing)?;
        let output = String::from_utf8(output).map_err(|_| "the output is not UTF-8".to_owned())?;
        let block = block(leader, &prefix, &without_directives(text, &output))?;
        let begins = format!("{leader} {prefix}");
        let mut out = String::with_capacity(text.len());
        let mut lines = text.split_inclusive('\n');
        for line in lines.by_ref().take(mark + 1) {
            out.push_str(line);
        }
        if !out.ends_with('\n') {
            out.push('\n');
        }
        out.push_str(&block);
        out.extend(lines.skip_while(|line| is_check(line, &begins)));
        return Ok(out);
    }
    Err("no RUN line ends in `| FileCheck %s`".to_owned())
}

/// Whether a line is a directive, of those that are in a generated block.
fn is_check(line: &str, begins: &str) -> bool {
    let Some(rest) = line.trim_start().strip_prefix(begins) else {
        return false;
    };
    let rest = ["-NEXT", "-EMPTY"]
        .iter()
        .find_map(|kind| rest.strip_prefix(kind))
        .unwrap_or(rest);
    let rest = rest.strip_prefix("{LITERAL}").unwrap_or(rest);
    rest.starts_with(':')
}

/// The prefix of the directives and the commands in front, when the last command is `FileCheck` on the file itself.
fn file_check<'a>(test: &Test<'_>, commands: &'a [Command]) -> Result<Option<(String, &'a [Command])>, String> {
    let Some((last, printing)) = commands.split_last() else {
        return Ok(None);
    };
    let prepared = test.prepare(last)?;
    let Some((name, arguments)) = prepared.words.split_first() else {
        return Ok(None);
    };
    if name != "FileCheck" || prepared.inverted || printing.is_empty() {
        return Ok(None);
    }
    let command = CommandLine::parse(arguments)?;
    let itself = Path::new(&command.check_file) == test.path && command.input_file.is_none();
    let prefix = command.options.prefixes.into_iter().next();
    Ok(prefix.filter(|_| itself).map(|prefix| (prefix, printing)))
}

fn block(leader: &str, prefix: &str, output: &str) -> Result<String, String> {
    let mut out = String::new();
    let mut first = true;
    // Nothing can be said about empty lines before the first directive.
    for line in output.lines().skip_while(|line| line.is_empty()) {
        let kind = if first { "" } else { "-NEXT" };
        first = false;
        let line = line.trim_end();
        if line.is_empty() {
            out.push_str(&format!("{leader} {prefix}-EMPTY:\n"));
            continue;
        }
        let literal = if line.contains("{{") || line.contains("[[") {
            "{LITERAL}"
        } else {
            ""
        };
        out.push_str(&format!("{leader} {prefix}{kind}{literal}: {line}\n"));
    }
    match out.is_empty() {
        true => Err("nothing is printed".to_owned()),
        false => Ok(out),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Outcome, run_file};
    use super::*;

    /// Blesses a file twice, and gives what became of it.
    fn blessed(text: &str) -> Result<String, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.pir");
        fs::write(&path, text).unwrap();
        let config = Config::default();
        let changed = bless_file(&path, &config)?;
        let new = fs::read_to_string(&path).unwrap();
        assert_eq!(changed, new != text);
        if changed {
            assert!(!bless_file(&path, &config)?);
            assert_eq!(run_file(&path, &config), Outcome::Passed);
        }
        Ok(new)
    }

    fn note() -> String {
        format!("// {GENERATED}\n")
    }

    #[test]
    fn checks_are_written() {
        let head = format!("// RUN: grep '^[ %%]' %s | FileCheck %s\n{}", note());
        let tail = "// other\n%a = x\n  %b = [[1, {{2}}]]\n%c\n";
        let new = "// CHECK: %a = x\n// CHECK-NEXT{LITERAL}:   %b = [[1, {{2}}]]\n// CHECK-NEXT: %c\n";
        for old in ["", "// CHECK: old\n// CHECK-EMPTY:\n// CHECK-NEXT{LITERAL}: [[\n"] {
            assert_eq!(
                blessed(&format!("{head}{old}{tail}")).unwrap(),
                format!("{head}{new}{tail}")
            );
        }
        let right = format!("{head}{new}{tail}");
        assert_eq!(blessed(&right).unwrap(), right);
    }

    #[test]
    fn empty_lines_and_prefixes() {
        let head = format!(
            "// RUN: true\n// RUN: printf '\\na\\n\\n b\\n' | FileCheck --check-prefixes=X,Y %s\n// RUN: true\n{}",
            note()
        );
        // Only the block directly below the mark is generated.
        assert_eq!(
            blessed(&format!("{head}// X: b\n// Y-NOT: c\n// X-NOT: d\n")).unwrap(),
            format!("{head}// X: a\n// X-EMPTY:\n// X-NEXT:  b\n// Y-NOT: c\n// X-NOT: d\n")
        );
    }

    #[test]
    fn other_files_stay() {
        let text = "// RUN: echo a | FileCheck %s\n// CHECK: b\n";
        assert_eq!(blessed(text).unwrap(), text);
        let skipped = format!(
            "// REQUIRES: nothing\n// RUN: echo a | FileCheck %s\n{}// CHECK: b\n",
            note()
        );
        assert_eq!(blessed(&skipped).unwrap(), skipped);
        let quoted = format!("{text}%s = \"{GENERATED}\"\n");
        assert_eq!(blessed(&quoted).unwrap(), quoted);
    }

    #[test]
    fn what_cannot_be_blessed() {
        let says = |run: &str| blessed(&format!("// RUN: {run}\n{}// CHECK: a\n", note())).unwrap_err();
        assert!(says("echo a").contains("no RUN line ends in"));
        assert!(says("cat missing | FileCheck %s").contains("No such file"));
        assert!(says("printf '' | FileCheck %s").contains("nothing is printed"));
        assert!(says("echo a | FileCheck other").contains("cannot read `other`"));
        // Each run sees the lines of the one before.
        let growing = "cat %s | sed 's/^.. CHECK/x/' | FileCheck %s";
        assert!(says(growing).contains("changed with each rewriting"));
    }
}
