//! Directives that come back in the output.
//!
//! The comments of a program survive parsing and printing, those with RUN and CHECK lines too. A directive that was
//! compared with such an output could match itself, and would always pass.

use std::borrow::Cow;
use std::collections::HashSet;

/// The text without the comments that are directives in the check file.
pub(crate) fn without_directives<'a>(check_text: &str, text: &'a str) -> Cow<'a, str> {
    let directives: HashSet<&str> = check_text.lines().filter_map(comment).collect();
    if directives.is_empty() || !text.lines().any(|line| echoed(line, &directives).is_some()) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        match echoed(line, &directives).map(|at| line[..at].trim_end()) {
            None => out.push_str(line),
            Some("") => {}
            Some(rest) => {
                out.push_str(rest);
                out.push('\n');
            }
        }
    }
    Cow::Owned(out)
}

/// The place in a line where a directive of the check file begins.
fn echoed(line: &str, directives: &HashSet<&str>) -> Option<usize> {
    let comment = comment(line)?;
    let start = line.trim_end().len() - comment.len();
    directives.contains(comment).then_some(start)
}

/// The comment in a line if that looks like a directive: a word in capitals and a colon.
fn comment(line: &str) -> Option<&str> {
    let line = line.trim_end();
    ["//", "#"].iter().find_map(|leader| {
        line.match_indices(leader).find_map(|(at, _)| {
            let body = line[at..].trim_start_matches(['/', '#', ' ', '\t']);
            let (word, _) = body.split_once(':')?;
            let word = word.split('{').next().unwrap_or_default();
            let capital = word.starts_with(|c: char| c.is_ascii_uppercase());
            let rest = word
                .chars()
                .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '-' || c == '_');
            (capital && rest).then_some(&line[at..])
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_directives_of_the_file_are_dropped() {
        let checks = "// RUN: x\n// CHECK: a\n%x = b // CHECK-NEXT{LITERAL}: c\n# NOTE: d\n// Note: e\n";
        let text = "  // CHECK: a\n%x = b  // CHECK-NEXT{LITERAL}: c\n// CHECK: z\n# NOTE: d\n// Note: e\n// RUN: x\n";
        assert_eq!(without_directives(checks, text), "%x = b\n// CHECK: z\n// Note: e\n");
        assert!(matches!(without_directives(checks, "a\n"), Cow::Borrowed(_)));
        assert!(matches!(without_directives("", text), Cow::Borrowed(_)));
    }
}
