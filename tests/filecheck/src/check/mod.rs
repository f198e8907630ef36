//! The checker: directives in a check file against a text.

mod directive;
mod engine;
mod numeric;
mod options;
mod pattern;
mod report;
mod variables;

#[cfg(test)]
mod tests;

pub use options::{CommandLine, Options};

use crate::CheckError;

/// Checks `input` against the directives in `check_text`, which is called `check_name` in messages.
///
/// # Errors
/// If the directives are wrong, or the input does not pass.
pub fn check(options: &Options, check_name: &str, check_text: &str, input: &str) -> Result<(), CheckError> {
    if input.is_empty() && !options.allow_empty {
        return Err(CheckError::Invalid(format!(
            "{check_name}: the input is empty (`--allow-empty` permits that)"
        )));
    }
    let canonical = canonicalise(check_text, options);
    let (checks, variables) = directive::parse(options, &canonical)
        .map_err(|e| CheckError::Invalid(format!("{check_name}:{}: {}", e.line, e.message)))?;
    let input = canonicalise(input, options);
    let failures = engine::run(options, &checks, &input, variables);
    if failures.is_empty() {
        return Ok(());
    }
    let rendered: Vec<String> = failures
        .iter()
        .map(|failure| report::render(failure, check_name, &canonical, &input))
        .collect();
    Err(CheckError::Mismatch(rendered.join("\n")))
}

/// Line ends become `\n`, and runs of horizontal white space one blank each unless white space counts.
fn canonicalise(text: &str, options: &Options) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\r' if chars.peek() == Some(&'\n') => {}
            ' ' | '\t' if !options.strict_whitespace => {
                while matches!(chars.peek(), Some(' ' | '\t')) {
                    chars.next();
                }
                out.push(' ');
            }
            c => out.push(c),
        }
    }
    out
}
