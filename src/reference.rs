//! The pages of `docs/reference/`, made from what the code declares.

use std::fmt::Write;

use pir_passes::{Pass, all_passes};

/// Stands at the top of each page.
const MARK: &str = "<!-- Made from the code by `BLESS=1 cargo test --test reference`. Do not edit. -->\n";

/// The page of all passes.
pub fn passes() -> String {
    let mut page = format!(
        "{MARK}\n# Passes\n\nPasses run in the order in which `pir-opt --pass=…` names them; `pir-opt --list-passes` \
         prints a short form of this page.\n\n| Pass | |\n| --- | --- |\n"
    );
    for pass in all_passes() {
        let name = pass.name();
        // Writing to a string does not fail, here and below.
        let _ = writeln!(page, "| [`{name}`](#{name}) | {} |", pass.summary());
    }
    for &pass in all_passes() {
        section(&mut page, pass);
    }
    page
}

fn section(page: &mut String, pass: &dyn Pass) {
    let _ = write!(page, "\n## {}\n\n{}.\n", pass.name(), pass.summary());
    if !pass.description().is_empty() {
        let _ = write!(page, "\n{}\n", pass.description());
    }
    if pass.options().is_empty() {
        return;
    }
    page.push_str("\n| Option | Value | Default | |\n| --- | --- | --- | --- |\n");
    for option in pass.options() {
        let default = option.default.map_or_else(String::new, |d| format!("`{d}`"));
        let _ = writeln!(
            page,
            "| `{}` | {} | {default} | {} |",
            option.name,
            cell(&option.kind.to_string()),
            cell(option.help)
        );
    }
}

/// A text as a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
