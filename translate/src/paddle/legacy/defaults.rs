//! Attributes that no translator reads: they must have their default.
//!
//! The defaults are PaddlePaddle's own (`defaults.txt`, made by `tools/paddle/defaults`).

use pir_ir::Diagnostic;

use super::{Attribute, Op, error};

/// Attributes that select an implementation, or that are implied elsewhere.
const NOISE: &[&str] = &[
    "op_role",
    "op_role_var",
    "op_namescope",
    "op_callstack",
    "op_device",
    "with_quant_attr",
    "use_mkldnn",
    "use_onednn",
    "mkldnn_data_type",
    "onednn_data_type",
    "use_quantizer",
    "use_cudnn",
    "use_addto",
    "exhaustive_search",
    "workspace_size_MB",
    "skip_eager_deletion_vars",
    "force_cpu",
    "place_type",
    // The format of an embedding's gradient.
    "is_sparse",
    // For shape inference only.
    "infer_flags",
    // The operations whose semantics depend on it read it.
    "is_test",
    "sub_block",
];

pub(super) fn is_noise(name: &str) -> bool {
    NOISE.contains(&name)
}

/// The default of an attribute of an operation.
fn default(kind: &str, name: &str) -> Option<&'static str> {
    let line = include_str!("defaults.txt")
        .lines()
        .find_map(|line| line.strip_prefix(kind)?.strip_prefix('\t'))?;
    line.split('\t')
        .find_map(|entry| entry.strip_prefix(name)?.strip_prefix('='))
}

/// Whether an attribute has this value, as spelled in the table.
fn is(value: &Attribute, text: &str) -> bool {
    let items = || {
        let inside = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')).unwrap_or(text);
        inside.split(',').filter(|item| !item.is_empty())
    };
    let same = |value: f64, text: &str| text.parse::<f64>().is_ok_and(|usual| usual as f32 == value as f32);
    match value {
        Attribute::Bool(value) => text == if *value { "true" } else { "false" },
        Attribute::Int(value) => same(*value as f64, text) || matches!((*value, text), (0, "false") | (1, "true")),
        Attribute::Float(value) => same(*value, text),
        Attribute::Str(value) => value == text,
        Attribute::Ints(values) => {
            values.len() == items().count() && values.iter().zip(items()).all(|(&v, item)| same(v as f64, item))
        }
        Attribute::Floats(values) => {
            values.len() == items().count() && values.iter().zip(items()).all(|(&v, item)| same(v, item))
        }
        Attribute::Strs(values) => values.iter().map(String::as_str).eq(items()),
        Attribute::Block(_) => false,
    }
}

/// Whether an attribute that current versions of PaddlePaddle do not have is empty.
fn is_empty(value: &Attribute) -> bool {
    ["false", "0", "", "[]"].iter().any(|text| is(value, text))
}

/// The attributes of an operation that differ from the default and that no translator has read.
pub(super) fn unread(op: &Op) -> Option<Diagnostic> {
    let seen = op.seen.borrow();
    let says = |(name, value): &&(String, Attribute)| {
        let usual = default(&op.kind, name);
        !is_noise(name) && !seen.contains(name) && !usual.map_or_else(|| is_empty(value), |usual| is(value, usual))
    };
    let found: Vec<&(String, Attribute)> = op.attributes.iter().filter(says).collect();
    let (name, _) = found.first()?;
    let names: Vec<String> = found.iter().map(|(name, _)| format!("`{name}`")).collect();
    let more = if found.len() == 1 { "attribute" } else { "attributes" };
    let message = format!("the {more} {} of `{}` are not supported", names.join(", "), op.kind);
    let message = if found.len() == 1 {
        message.replace(" are not supported", " is not supported")
    } else {
        message
    };
    let help = match default(&op.kind, name) {
        Some(usual) => format!(
            "only `{name}` = {} is supported",
            if usual.is_empty() { "empty" } else { usual }
        ),
        None => "PaddlePaddle 3.3 has no such attribute: save the program without it".to_owned(),
    };
    Some(error(op.span, message).help(help))
}
