//! The pages of `docs/reference/`, generated from the declarations.

mod example;

use std::fmt::Write;
use std::sync::Arc;

use pir_dialects::formats;
use pir_interp::kernels::Kernels;
use pir_ir::{Arity, Context, Derivative, MarkedOps, OpDef, Presence, Traits, ValueSpec};
use pir_passes::{Pass, PassRegistry};

/// How many successors are shown of an operation that has any number of them.
const MAX_SUCCESSORS: usize = 2;

pub use example::{example, fetch_unused};

/// The first line of each page.
const MARK: &str = "<!-- Made from the code by `BLESS=1 cargo test --test reference`. Do not edit. -->\n";

/// The page of all passes.
pub fn passes() -> String {
    let mut page = format!(
        "{MARK}\n# Passes\n\nPasses run in the order in which `pir-opt --pass=…` names them; `pir-opt --list-passes` \
         prints a short form of this page.\n\n| Pass | |\n| --- | --- |\n"
    );
    let passes = PassRegistry::standard();
    for pass in passes.iter() {
        let name = pass.name();
        // Writing to a string does not fail, here and below.
        let _ = writeln!(page, "| [`{name}`](#{name}) | {} |", pass.summary());
    }
    for pass in passes.iter() {
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

/// The page of a dialect; `None` if there is none of this name.
pub fn dialect(name: &str) -> Option<String> {
    let ctx = pir_dialects::context();
    let dialect = ctx.dialect(name)?;
    let mut page = format!(
        "{MARK}\n# The dialect `{name}`\n\n{}.\n\nOperations are shown in their custom syntax: operands in \
         parentheses, attributes in braces. An attribute of type `IntArray` or `Scalar` may also be given as an \
         operand after the tensors. Examples are followed by their output; the elements of their inputs are 1, 2, 3, \
         ….\n",
        dialect.summary
    );
    if !dialect.types.is_empty() {
        let types: Vec<_> = dialect.types.iter().map(|def| format!("`{}`", def.syntax())).collect();
        let _ = write!(page, "\nTypes: {}.\n", types.join(", "));
    }
    let prefix = format!("{name}.");
    let mut ops: Vec<&OpDef> = ctx.ops().filter(|op| op.name.starts_with(&prefix)).collect();
    ops.sort_by(|a, b| a.name.cmp(&b.name));
    let (foreign, own): (Vec<_>, Vec<_>) = ops.into_iter().partition(|op| pir_dialects::pd::is_foreign(&op.name));
    for op in own {
        operation(&mut page, &ctx, op);
    }
    let kernels = Kernels::standard();
    let (runs, declared): (Vec<_>, Vec<_>) = foreign.into_iter().partition(|op| execution(&kernels, op).is_some());
    signatures(
        &mut page,
        "Operations from PaddlePaddle's declarations",
        "These operations are declared from PaddlePaddle's wheel; the types of their results must be written. They are \
         executed by a kernel, by a composition of other operations, which may refuse attributes and dynamic shapes, or, \
         for a gradient operation, by the gradient rule of its operation if it has one. `--show-op` shows which.",
        &runs,
    );
    signatures(
        &mut page,
        "Operations that only PaddlePaddle runs",
        "These operations are declared from PaddlePaddle's wheel; the types of their results must be written. They are \
         read, verified, optimized and written, but not executed here. In programs for PaddlePaddle, their derivative is \
         its operation of the same name with `_grad`.",
        &declared,
    );
    Some(page)
}

fn signatures(page: &mut String, title: &str, about: &str, ops: &[&OpDef]) {
    if ops.is_empty() {
        return;
    }
    let _ = write!(page, "\n## {title}\n\n{about}\n\n```\n");
    for op in ops {
        let _ = writeln!(page, "{}", signature(op));
    }
    page.push_str("```\n");
}

/// How an operation is executed: by a kernel or through other operations; `None` for structure, and for what only the
/// executor of another system runs.
pub(crate) fn execution(kernels: &Kernels, op: &OpDef) -> Option<&'static str> {
    if kernels.has(&op.name) {
        Some("by a kernel")
    } else if op.is_composite() {
        Some("by its composition")
    } else if pir_dialects::pd::is_foreign(&op.name) && op.name.ends_with("_grad") {
        Some("by the gradient rule of its operation, if it has one")
    } else {
        None
    }
}

/// The page of the marks: attributes that the tools set on operations of any dialect.
pub fn marks() -> String {
    let mut page = format!(
        "{MARK}\n# Marks\n\nAn operation may have the attributes of its definition, which the pages of the \
         dialects list, and these marks of the tools. An attribute with a dot in its name, like `my.note`, is preserved and \
         has no meaning. Any other name is an error.\n\n| Mark | Type | Operations | |\n| --- | --- | --- | --- |\n"
    );
    for mark in pir_dialects::context().marks() {
        let on = match &mark.on {
            MarkedOps::Any => "all".to_owned(),
            MarkedOps::Named(names) => {
                let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
                names.join(", ")
            }
        };
        let _ = writeln!(
            page,
            "| `{}` | {} | {on} | {} |",
            mark.name,
            mark.ty,
            cell(&mark.summary)
        );
    }
    page
}

/// The names of all dialects.
pub fn dialects() -> Vec<String> {
    pir_dialects::context().dialects().map(|d| d.name.to_string()).collect()
}

fn operation(page: &mut String, ctx: &Arc<Context>, op: &OpDef) {
    let _ = write!(
        page,
        "\n## {}\n\n{}\n\n```\n{}\n```\n",
        op.name,
        op.summary,
        signature(op)
    );
    if !op.description.is_empty() {
        let _ = write!(page, "\n{}\n", op.description);
    }
    table(page, op);
    let mut facts = Vec::new();
    let traits: Vec<String> = op
        .traits
        .iter_names()
        .map(|(name, _)| name.to_lowercase().replace('_', " "))
        .collect();
    if !traits.is_empty() {
        facts.push(format!("Traits: {}.", traits.join(", ")));
    }
    if !op.operands.is_empty() && !op.results.is_empty() {
        match &op.derivative {
            Derivative::Undeclared if pir_dialects::pd::family(&op.name).is_some() => {
                facts.push("Differentiating through it is an error.".to_owned());
            }
            Derivative::Undeclared => {}
            Derivative::None => facts.push("No derivative.".to_owned()),
            Derivative::Operands(names) => {
                let names: Vec<String> = names.iter().map(|name| format!("`%{name}`")).collect();
                facts.push(format!("Derivative in {}.", names.join(", ")));
            }
        }
    }
    if let Some(backward) = &op.backward {
        facts.push(format!("Gradient: `{backward}`."));
    }
    if !op.no_need_buffer.is_empty() {
        facts.push(format!("Only the shape is read of: {}.", op.no_need_buffer.join(", ")));
    }
    if !facts.is_empty() {
        let _ = write!(page, "\n{}\n", facts.join(" "));
    }
    let names: Vec<String> = names(op)
        .iter()
        .map(|(format, names)| format!("{format}: `{}`", names.join("`, `")))
        .collect();
    if !names.is_empty() {
        let _ = write!(page, "\n{}.\n", names.join("; "));
    }
    // A test checks that examples run.
    if let Ok(Some(example)) = example(ctx, op) {
        let _ = write!(page, "\n```\n{example}\n```\n");
    }
}

/// The operands, attributes and results of an operation.
fn table(page: &mut String, op: &OpDef) {
    if op.operands.is_empty() && op.attrs.is_empty() && op.results.is_empty() {
        return;
    }
    page.push_str("\n| | Name | Type | Default |\n| --- | --- | --- | --- |\n");
    let mut row = |what: &str, name: &str, ty: &str, default: &str| {
        let _ = writeln!(page, "| {what} | `{name}` | {} | {} |", cell(ty), cell(default));
    };
    let value = |what: &str, spec: &ValueSpec, row: &mut dyn FnMut(&str, &str, &str, &str)| {
        let more = match spec.arity {
            Arity::One => "",
            Arity::Optional => ", optional",
            Arity::Variadic => ", variadic",
        };
        let ty = spec.ty.trim_end_matches("[]");
        row(what, &format!("%{}", spec.name), &format!("{ty}{more}"), "");
    };
    for spec in op.operands.iter() {
        // Attributes that may be operands are listed as attributes.
        if op.attrs.iter().all(|attr| attr.name != spec.name) {
            value("operand", spec, &mut row);
        }
    }
    for attr in op.attrs.iter() {
        let default = match attr.default.as_deref() {
            None => "required".to_owned(),
            Some(default) => as_written(default).map_or_else(|| "none".to_owned(), |text| format!("`{text}`")),
        };
        row("attribute", &attr.name, &attr.ty, &default);
    }
    for spec in op.results.iter() {
        value("result", spec, &mut row);
    }
}

/// A default in the syntax of the text format; `None` if the attribute has none.
pub(crate) fn as_written(default: &str) -> Option<String> {
    match default {
        "" | "undefined" => None,
        list if list.starts_with('{') => Some(format!("[{}]", list.trim_matches(['{', '}']))),
        text => Some(text.to_owned()),
    }
}

/// The names of an operation in other formats.
pub(crate) fn names(op: &OpDef) -> Vec<(&'static str, Vec<&'static str>)> {
    let paddle = op
        .name
        .strip_prefix("pd.")
        .and_then(formats::paddle)
        .map(|form| form.name);
    let all = [
        ("PaddlePaddle", paddle.into_iter().collect()),
        ("ProgramDesc", formats::program_desc_names(&op.name).collect()),
        ("TensorFlow", formats::tensorflow_names(&op.name).collect::<Vec<_>>()),
    ];
    all.into_iter().filter(|(_, names)| !names.is_empty()).collect()
}

/// The syntax of an operation.
pub(crate) fn signature(op: &OpDef) -> String {
    let values = |specs: &[ValueSpec]| -> Vec<String> {
        let one = |spec: &ValueSpec| {
            let more = match spec.arity {
                Arity::One => "",
                Arity::Optional => "?",
                Arity::Variadic => "…",
            };
            format!("%{}{more}: {}", spec.name, spec.ty)
        };
        specs.iter().map(one).collect()
    };
    let mut text = String::new();
    if !op.results.is_empty() {
        let _ = write!(text, "{} = ", values(&op.results).join(", "));
    }
    text.push_str(&op.name);
    if op.traits.contains(Traits::SYMBOL) {
        text.push_str(" @name");
    }
    if !op.operands.is_empty() {
        let _ = write!(text, " ({})", values(&op.operands).join(", "));
    }
    for successor in 0..op.successors.min(MAX_SUCCESSORS) {
        let _ = write!(text, "{} ^block{successor}(…)", if successor == 0 { "" } else { "," });
    }
    if !op.attrs.is_empty() {
        let attrs: Vec<String> = op
            .attrs
            .iter()
            .map(|attr| {
                let default = attr.default.as_deref().and_then(as_written);
                let default = default.map_or_else(String::new, |d| format!(" = {d}"));
                format!("{}: {}{default}", attr.name, attr.ty)
            })
            .collect();
        let _ = write!(text, " {{{}}}", attrs.join(", "));
    }
    for region in &op.regions {
        let region_text = match region.keywords.first() {
            Some(keyword) => format!("{keyword} {{ … }}"),
            None => "{ … }".to_owned(),
        };
        let _ = match region.presence {
            Presence::Required => write!(text, " {region_text}"),
            Presence::Repeated => write!(text, " {region_text}…"),
            Presence::MayBeEmpty | Presence::MayBeAbsent => write!(text, " [{region_text}]"),
        };
    }
    text
}
