//! The directives of a test file.

use super::words::{Pipeline, parse_line};

/// The keywords of a test file.
#[derive(Debug, Default)]
pub(crate) struct Script {
    pub(crate) lines: Vec<RunLine>,
    /// Features without which the file is not tested.
    pub(crate) requires: Vec<String>,
    /// Features with which it is not tested.
    pub(crate) unsupported: Vec<String>,
    /// Features with which it must fail.
    pub(crate) xfail: Vec<String>,
}

/// A `RUN:` line, with those that continue it.
#[derive(Debug)]
pub(crate) struct RunLine {
    /// The number of its first line.
    pub(crate) number: usize,
    /// As it was written.
    pub(crate) text: String,
    /// Run one after the other, as long as they succeed.
    pub(crate) pipelines: Vec<Pipeline>,
}

/// Whether a file has RUN lines.
pub(crate) fn has_run_lines(text: &str) -> bool {
    text.lines().any(|line| keyword(line, "RUN:").is_some())
}

/// The text after a keyword in a separate comment.
fn keyword<'a>(line: &'a str, word: &str) -> Option<&'a str> {
    let rest = line
        .trim_start()
        .strip_prefix("//")
        .or_else(|| line.trim_start().strip_prefix('#'))?;
    Some(
        rest.trim_start_matches(['/', '#', ' ', '\t'])
            .strip_prefix(word)?
            .trim(),
    )
}

pub(crate) fn parse(text: &str) -> Result<Script, String> {
    let mut script = Script::default();
    let mut open: Option<(usize, String)> = None;
    for (at, line) in text.lines().enumerate() {
        for (word, list) in [
            ("REQUIRES:", &mut script.requires),
            ("UNSUPPORTED:", &mut script.unsupported),
            ("XFAIL:", &mut script.xfail),
        ] {
            if let Some(features) = keyword(line, word) {
                let features = features.split(',').map(|feature| feature.trim().to_owned());
                list.extend(features.filter(|feature| !feature.is_empty()));
            }
        }
        let Some(command) = keyword(line, "RUN:") else { continue };
        let (number, mut whole) = open.take().unwrap_or((at + 1, String::new()));
        match command.strip_suffix('\\') {
            Some(begun) => {
                whole.push_str(begun);
                open = Some((number, whole));
            }
            None => {
                whole.push_str(command);
                let pipelines = parse_line(&whole).map_err(|error| format!("line {number}: {error}"))?;
                script.lines.push(RunLine {
                    number,
                    text: whole,
                    pipelines,
                });
            }
        }
    }
    if let Some((number, _)) = open {
        return Err(format!("line {number}: the last RUN line ends in `\\`"));
    }
    if script.lines.is_empty() {
        return Err("there is no RUN line".to_owned());
    }
    Ok(script)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords() {
        let script = parse(
            "// RUN: a b\n# RUN: c \\\n# other\n# RUN:  d\n// XFAIL: *\n//REQUIRES: x, y\n// UNSUPPORTED: z\n\
             text // RUN: no\n// CHECK: RUN: no\n",
        )
        .unwrap();
        assert_eq!(script.lines.len(), 2);
        assert_eq!((script.lines[0].number, &*script.lines[0].text), (1, "a b"));
        assert_eq!((script.lines[1].number, &*script.lines[1].text), (2, "c d"));
        assert_eq!(script.xfail, ["*"]);
        assert_eq!(script.requires, ["x", "y"]);
        assert_eq!(script.unsupported, ["z"]);
    }

    #[test]
    fn mistakes() {
        assert!(parse("// CHECK: a\n").unwrap_err().contains("no RUN line"));
        assert!(parse("// RUN: a \\\n").unwrap_err().contains("ends in"));
        assert!(parse("\n// RUN: a '\n").unwrap_err().starts_with("line 2:"));
        assert!(has_run_lines("# RUN: a"));
        assert!(!has_run_lines("RUN: a"));
    }
}
