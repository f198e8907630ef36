//! Spellings that users of `mlir-opt` are used to: passes as options, `-cse --canonicalize`, and options by MLIR's names.

use std::ffi::OsString;

use clap::CommandFactory;
use pir_passes::PassRegistry;

use super::Args;

/// MLIR's options, and ours.
const OPTIONS: &[(&str, &str)] = &[
    ("mlir-print-op-generic", "--print-generic"),
    ("mlir-print-debuginfo", "--print-debuginfo"),
    ("mlir-print-ir-before-all", "--print-ir-before-all"),
    ("mlir-print-ir-after-all", "--print-ir-after-all"),
    ("mlir-print-ir-after-change", "--print-ir-after-change"),
    ("mlir-print-ir-before", "--print-ir-before"),
    ("mlir-print-ir-after", "--print-ir-after"),
    ("mlir-timing", "--timing"),
    ("mlir-pass-statistics", "--pass-statistics"),
    ("mlir-disable-threading", "--threads=1"),
    ("mlir-elide-elementsattrs-if-larger", "--elide-large-attributes"),
    ("dump-pass-pipeline", "--print-pipeline"),
];

/// The command line with what is MLIR's in our words, in the same order.
pub(super) fn translate(passes: &PassRegistry, words: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let command = Args::command();
    let is_ours = |name: &str| command.get_arguments().any(|arg| arg.get_long() == Some(name));
    let mut all = Vec::new();
    let mut ended = false;
    for (at, word) in words.enumerate() {
        ended |= word == "--";
        let translated = word.to_str().filter(|_| at > 0 && !ended).and_then(|text| {
            let double = text.starts_with("--");
            let inside = text.strip_prefix("--").or_else(|| text.strip_prefix('-'))?;
            let (name, value) = match inside.split_once('=') {
                Some((name, value)) => (name, format!("={value}")),
                None => (inside, String::new()),
            };
            if let Some((_, ours)) = OPTIONS.iter().find(|option| option.0 == name) {
                return Some(format!("{ours}{value}"));
            }
            if is_ours(name) {
                // With one dash a word of several letters is a list of short options.
                return (!double && name.len() > 1).then(|| format!("--{inside}"));
            }
            let is_level = name.starts_with('O');
            let is_pass = value.is_empty() && !is_level && passes.find(name).is_some();
            is_pass.then(|| format!("--pass={name}"))
        });
        all.push(translated.map_or(word, OsString::from));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translated(words: &[&str]) -> Vec<String> {
        let words = std::iter::once("pir-opt")
            .chain(words.iter().copied())
            .map(OsString::from);
        let all = translate(&PassRegistry::standard(), words);
        all[1..]
            .iter()
            .map(|word| word.to_string_lossy().into_owned())
            .collect()
    }

    #[test]
    fn passes_are_options_in_order() {
        assert_eq!(
            translated(&["-cse", "x.mlir", "--loop-invariant-code-motion", "-O2", "-o", "y"]),
            [
                "--pass=cse",
                "x.mlir",
                "--pass=loop-invariant-code-motion",
                "-O2",
                "-o",
                "y"
            ]
        );
    }

    #[test]
    fn options_of_mlir_are_ours() {
        assert_eq!(
            translated(&[
                "-mlir-print-op-generic",
                "--mlir-elide-elementsattrs-if-larger=8",
                "-pass-pipeline=cse"
            ]),
            ["--print-generic", "--elide-large-attributes=8", "--pass-pipeline=cse"]
        );
    }

    #[test]
    fn what_is_not_known_stays() {
        assert_eq!(
            translated(&["--frobnicate", "-", "--", "-cse"]),
            ["--frobnicate", "-", "--", "-cse"]
        );
    }
}
