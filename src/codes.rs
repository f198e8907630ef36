//! The diagnostic codes that `docs/codes/` explains.

/// The pages. A section begins with a heading that is a code.
const PAGES: &[&str] = &[
    include_str!("../docs/codes/text.md"),
    include_str!("../docs/codes/operations.md"),
    include_str!("../docs/codes/control-flow.md"),
    include_str!("../docs/codes/functions.md"),
    include_str!("../docs/codes/passes.md"),
    include_str!("../docs/codes/derivatives.md"),
    include_str!("../docs/codes/stacks.md"),
    include_str!("../docs/codes/dataflow.md"),
    include_str!("../docs/codes/formats.md"),
];

/// The codes that have a section, with its text.
pub(crate) fn sections() -> impl Iterator<Item = (&'static str, &'static str)> {
    let sections = PAGES.iter().flat_map(|page| page.split("\n## `").skip(1));
    sections.filter_map(|section| section.split_once("`\n"))
}

/// The codes that have a section.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    sections().map(|section| section.0)
}
