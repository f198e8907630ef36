//! `--explain`: what a diagnostic code means, from the pages of `docs/codes/`.

use pir_ir::{Diagnostic, nearest};

use crate::codes::{names, sections};

/// The title of a block, from the words after its fence.
fn title(info: &str) -> String {
    let (kind, words): (Vec<&str>, Vec<&str>) = (info.split_whitespace().skip(1))
        .filter(|word| *word != "fix")
        .partition(|word| matches!(*word, "wrong" | "right") || word.starts_with("file="));
    let mut title = match (kind.first(), kind.last().and_then(|word| word.strip_prefix("file="))) {
        (Some(&"wrong"), Some(file)) => format!("Invalid, as `{file}`"),
        (Some(&"right"), Some(file)) => format!("Valid, as `{file}`"),
        (_, Some(file)) => format!("The file `{file}`"),
        (Some(&"wrong"), None) => "Invalid".to_owned(),
        _ => "Valid".to_owned(),
    };
    if !words.is_empty() {
        title.push_str(&format!(", with `{}`", words.join(" ")));
    }
    title
}

/// A section for a terminal: its programs are indented.
fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut inside = false;
    for line in text.lines() {
        match line.strip_prefix("```") {
            Some("") => inside = false,
            Some(info) => {
                inside = true;
                out.push_str(&format!("{}:\n\n", title(info)));
            }
            None if inside => out.push_str(&format!("    {line}\n")),
            None => out.push_str(&format!("{line}\n")),
        }
    }
    out
}

/// The section of a code.
pub(super) fn explain(code: &str) -> Result<String, Diagnostic> {
    // As it is printed, in brackets.
    let code = code.trim_start_matches('[').trim_end_matches(']');
    if let Some((_, text)) = sections().find(|section| section.0 == code) {
        return Ok(format!("{code}\n\n{}", plain(text.trim())));
    }
    let error = Diagnostic::error("unknown-code", format!("there is no diagnostic code `{code}`"));
    Err(match nearest(code, names()) {
        Some(near) => error.help(format!("did you mean `{near}`?")),
        None => error
            .help("a diagnostic has its code in brackets at the end of its first line; docs/codes/ lists all codes"),
    })
}
