//! `print-op-stats`: the number of operations by name.

use std::collections::BTreeMap;
use std::io::Write as _;

use pir_ir::{Diagnostic, Module};

use crate::options::{OptionKind, OptionSpec};
use crate::pass::{Changed, Pass, PassContext};

/// The pass `print-op-stats`.
pub struct PrintOpStats;

impl Pass for PrintOpStats {
    fn name(&self) -> &'static str {
        "print-op-stats"
    }

    fn summary(&self) -> &'static str {
        "Print the number of operations by name"
    }

    fn description(&self) -> &'static str {
        "Writes the names of the operations of the program, those in regions and functions included, in their order, and how often \
         each is there, to the standard error stream. The pass does not change the program."
    }

    fn options(&self) -> &'static [OptionSpec] {
        const OPTIONS: &[OptionSpec] = &[OptionSpec {
            name: "json",
            kind: OptionKind::Bool,
            default: Some("false"),
            help: "write an object of JSON, with the names as keys",
        }];
        OPTIONS
    }

    fn run(&self, module: &mut Module, cx: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
        let text = stats(module, cx.options.flag("json"));
        std::io::stderr().lock().write_all(text.as_bytes()).map_err(|error| {
            let message = format!("cannot write to the standard error stream: {error}");
            vec![Diagnostic::error("print-op-stats", message).help("let the standard error stream be written to")]
        })?;
        Ok(Changed::No)
    }
}

fn stats(module: &Module, json: bool) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    module.for_each_body(|body| {
        for op in body.walk_all() {
            *counts.entry(module.ctx.op_str(body.op_name(op))).or_default() += 1;
        }
    });
    if json {
        let entries: Vec<String> = counts
            .iter()
            .map(|(name, count)| format!("  \"{name}\" : {count}"))
            .collect();
        return format!("{{\n{}\n}}\n", entries.join(",\n"));
    }
    let dialect = |name: &str| name.find('.').unwrap_or(name.len());
    let before = counts.keys().map(|name| dialect(name)).max().unwrap_or(0);
    let behind = counts.keys().map(|name| name.len() - dialect(name)).max().unwrap_or(0);
    let mut text = "Operations encountered:\n-----------------------\n".to_owned();
    for (name, count) in counts {
        // Dots are below each other.
        let (front, rest) = name.split_at(dialect(name));
        text.push_str(&format!("  {front:>before$}{rest:<behind$} , {count}\n"));
    }
    text
}
