//! Differences between two printed programs.

use std::fmt::Write;
use std::time::Duration;

use similar::{ChangeTag, DiffTag, TextDiff};

/// The format of differences.
#[derive(Debug)]
pub struct Diff<'a> {
    /// The name of the old text.
    pub old_name: &'a str,
    /// The name of the new text.
    pub new_name: &'a str,
    /// Context lines around a change.
    pub context: usize,
    /// Whether removed lines are red, and added ones green.
    pub color: bool,
}

const RED: &str = "\x1b[31m";
const GREEN: &str = "\x1b[32m";
const CYAN: &str = "\x1b[36m";
const BOLD: &str = "\x1b[1m";
const RESET: &str = "\x1b[0m";

/// The time limit for a minimal difference; after that, any correct one is returned.
const PATIENCE: Duration = Duration::from_secs(5);

/// The differences in the format of `diff -u`. The header of a hunk names the enclosing function.
pub fn unified(diff: &Diff<'_>, old: &str, new: &str) -> String {
    let mut out = String::new();
    let mut line = |color: &str, text: std::fmt::Arguments<'_>| {
        // Writing to a string does not fail.
        let _ = match diff.color && !color.is_empty() {
            true => writeln!(out, "{color}{text}{RESET}"),
            false => writeln!(out, "{text}"),
        };
    };
    line(BOLD, format_args!("--- {}", diff.old_name));
    line(BOLD, format_args!("+++ {}", diff.new_name));
    let lines = TextDiff::configure().timeout(PATIENCE).diff_lines(old, new);
    let heads: Vec<(usize, &str)> = new
        .lines()
        .enumerate()
        .filter(|(_, line)| line.starts_with(|c: char| c.is_alphabetic() || c == '"') && line.ends_with('{'))
        .collect();
    for group in lines.grouped_ops(diff.context) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else {
            continue;
        };
        let (old_from, old_to) = (first.old_range().start, last.old_range().end);
        let (new_from, new_to) = (first.new_range().start, last.new_range().end);
        let place = |from: usize, to: usize| match to - from {
            // As in `diff`: an empty range has the number of the line before it.
            0 => format!("{from},0"),
            1 => format!("{}", from + 1),
            count => format!("{},{count}", from + 1),
        };
        // The function of the change, not of the context lines.
        let changed = group.iter().find(|op| op.tag() != DiffTag::Equal);
        let line_at = changed.map_or(new_from, |op| op.new_range().start);
        let at = heads.partition_point(|&(at, _)| at <= line_at).checked_sub(1);
        let head = at.map_or("", |at| heads[at].1.trim_end_matches([' ', '{']));
        let space = if head.is_empty() { "" } else { " " };
        let head: String = head.chars().take(60).collect();
        line(
            CYAN,
            format_args!(
                "@@ -{} +{} @@{space}{head}",
                place(old_from, old_to),
                place(new_from, new_to)
            ),
        );
        for change in group.iter().flat_map(|op| lines.iter_changes(op)) {
            let text = change.value().trim_end_matches('\n');
            match change.tag() {
                ChangeTag::Equal => line("", format_args!(" {text}")),
                ChangeTag::Delete => line(RED, format_args!("-{text}")),
                ChangeTag::Insert => line(GREEN, format_args!("+{text}")),
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_look_as_those_of_diff() {
        let old = "func.func @f () {\n  a\n  b\n  c\n  d\n  e\n}\n";
        let new = "func.func @f () {\n  a\n  b\n  c\n  x\n  e\n  f\n}\n";
        let diff = |context, color| Diff {
            old_name: "before p",
            new_name: "after p",
            context,
            color,
        };
        let head = "--- before p\n+++ after p\n";
        assert_eq!(
            unified(&diff(1, false), old, new),
            format!("{head}@@ -4,4 +4,5 @@ func.func @f ()\n   c\n-  d\n+  x\n   e\n+  f\n }}\n")
        );
        assert_eq!(
            unified(&diff(0, false), old, new),
            format!("{head}@@ -5 +5 @@ func.func @f ()\n-  d\n+  x\n@@ -6,0 +7 @@ func.func @f ()\n+  f\n")
        );
        let colored = unified(&diff(0, true), old, new);
        assert!(
            colored.contains("\x1b[31m-  d\x1b[0m\n\x1b[32m+  x\x1b[0m\n"),
            "{colored:?}"
        );
        assert_eq!(unified(&diff(3, false), old, old), head);
    }
}
