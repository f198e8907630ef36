//! `--verify-roundtrip`: what is printed is read as the same program.

use pir_ir::text::{self, ParseOptions, PrintOptions};
use pir_ir::{Diagnostic, Module, RegionId, ValueId, write_defaults};

use super::{LoadOptions, has_errors};
use crate::source::Source;

/// The forms that a program is printed in, by their names in messages.
const FORMS: &[(&str, PrintOptions)] = &[
    ("the text form", form(false, false)),
    ("the generic form", form(true, false)),
    ("MLIR's custom assembly", form(false, true)),
];

const fn form(generic: bool, mlir: bool) -> PrintOptions {
    PrintOptions {
        generic,
        mlir,
        elide_large: None,
    }
}

/// Prints a program in each form, reads that, and compares the generic form of both.
///
/// # Errors
/// The first difference of each form.
pub fn verify(module: &Module, options: &LoadOptions) -> Result<(), Vec<Diagnostic>> {
    let before = generic_form(module);
    let differs = |name: &str, options: &PrintOptions, load: &LoadOptions| {
        let printed = text::print(module, options);
        let allow_unregistered = load.allow_unregistered;
        let parsed = text::parse(&module.ctx, printed.as_bytes(), &ParseOptions { allow_unregistered });
        if has_errors(&parsed.diagnostics) {
            let first = parsed.diagnostics.first()?;
            let start = first.labels.first().map_or(0, |label| label.span.start as usize);
            let line = Source::new(name, printed.as_str()).position(start).line;
            let line = printed.lines().nth(line - 1).unwrap_or_default().trim();
            let message = format!("{name} cannot be parsed: {}", first.message);
            return Some(Diagnostic::error("roundtrip", message).note(format!("in the line `{line}`")));
        }
        let after = generic_form(&parsed.module);
        let (old, new) = first_difference(&before, &after)?;
        let message = format!("{name} is parsed as a different program");
        Some(Diagnostic::error("roundtrip", message).note(format!("`{}` becomes `{}`", old.trim(), new.trim())))
    };
    let errors = FORMS.iter().filter_map(|(name, form)| differs(name, form, options));
    let errors: Vec<Diagnostic> = errors.collect();
    match errors.is_empty() {
        true => Ok(()),
        false => Err(errors),
    }
}

/// A program in generic form: what has a default is written, and names of values and blocks, which mean nothing, are numbers.
fn generic_form(module: &Module) -> String {
    let mut module = module.clone();
    write_defaults(&mut module);
    let mut pending = vec![&mut module.body];
    while let Some(body) = pending.pop() {
        let values = (0..body.num_value_slots()).map(ValueId::new);
        values.for_each(|value| body.set_value_name(value, None));
        let regions = body.walk_all().flat_map(|op| body.op_regions(op).to_vec());
        let regions: Vec<RegionId> = std::iter::once(body.root()).chain(regions).collect();
        for region in regions {
            for block in body.region_blocks(region).to_vec() {
                body.set_block_label(block, None);
            }
        }
        pending.extend(body.isolated_ops_mut().map(|(_, _, inner)| inner));
    }
    text::print(&module, &form(true, false))
}

/// The first line of two texts in which they differ.
fn first_difference<'t>(old: &'t str, new: &'t str) -> Option<(&'t str, &'t str)> {
    let (mut old, mut new) = (old.lines(), new.lines());
    loop {
        match (old.next(), new.next()) {
            (None, None) => return None,
            (a, b) if a == b => {}
            (a, b) => return Some((a.unwrap_or("the end"), b.unwrap_or("the end"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_is_found() {
        assert_eq!(first_difference("a\nb\n", "a\nb\n"), None);
        assert_eq!(first_difference("a\nb\nc", "a\nd\nc"), Some(("b", "d")));
        assert_eq!(first_difference("a\nb", "a"), Some(("b", "the end")));
    }
}
