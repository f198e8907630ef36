//! Lists passes, operations and dialects.

use std::io::{self, Write};

use pir_ir::Context;
use pir_passes::{Pass, PassRegistry};

/// The width of descriptions, in columns.
const WIDTH: usize = 100;

/// Writes names, summaries and options of all passes.
pub(super) fn passes(passes: &PassRegistry, out: &mut dyn Write) -> io::Result<()> {
    let width = passes.iter().map(|p| p.name().len()).max().unwrap_or(0);
    for pass in passes.iter() {
        writeln!(out, "{:width$}  {}", pass.name(), pass.summary())?;
        for option in pass.options() {
            let default = option.default.map_or_else(String::new, |d| format!(" (default: {d})"));
            writeln!(
                out,
                "{:width$}    {}=: {}; {}{default}",
                "", option.name, option.kind, option.help
            )?;
        }
    }
    Ok(())
}

/// Writes the summary, the description and the options of a pass.
pub(super) fn pass(pass: &dyn Pass, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}: {}", pass.name(), pass.summary())?;
    for paragraph in pass.description().split("\n\n").filter(|text| !text.is_empty()) {
        writeln!(out)?;
        let mut column = 0;
        for word in paragraph.split_whitespace() {
            let width = word.chars().count();
            let separator = match column {
                0 => "",
                _ if column + width < WIDTH => " ",
                _ => "\n",
            };
            write!(out, "{separator}{word}")?;
            column = if separator == " " { column + 1 + width } else { width };
        }
        writeln!(out)?;
    }
    if !pass.options().is_empty() {
        writeln!(out, "\noptions")?;
    }
    for option in pass.options() {
        let default = option.default.map_or_else(String::new, |d| format!(" (default: {d})"));
        writeln!(out, "  {}=: {}; {}{default}", option.name, option.kind, option.help)?;
    }
    Ok(())
}

/// Writes names and summaries of all operations, by name.
pub(super) fn ops(ctx: &Context, out: &mut dyn Write) -> io::Result<()> {
    let mut ops: Vec<_> = ctx.ops().map(|op| (&*op.name, &*op.summary)).collect();
    ops.sort();
    let width = ops.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, summary) in ops {
        writeln!(out, "{name:width$}  {summary}")?;
    }
    Ok(())
}

/// Writes the names of all dialects in one line, in order, including those of which only the text is known.
pub(super) fn dialects(ctx: &Context, out: &mut dyn Write) -> io::Result<()> {
    let known = ctx.dialects().map(|dialect| &*dialect.name);
    let mut names: Vec<_> = known
        .chain(ctx.all_ods().filter_map(|(op, _)| Some(op.split_once('.')?.0)))
        .collect();
    names.sort_unstable();
    names.dedup();
    writeln!(out, "Available Dialects: {}", names.join(","))
}
