//! The kinds of types and attributes as MLIR calls them.

use pir_ir::text::print_attr;
use pir_ir::{Attr, AttrData, Context, ElementsForm, FloatKind, TypeData, TypeParam};

/// The kinds of MLIR's builtin dialect that have names of their own.
pub(super) const BUILTIN: &[&str] = &[
    "!builtin.integer",
    "!builtin.index",
    "!builtin.none",
    "!builtin.f32",
    "!builtin.f64",
    "!builtin.complex",
    "!builtin.function",
    "!builtin.memref",
    "!builtin.opaque",
    "!builtin.tensor",
    "!builtin.tuple",
    "!builtin.unranked_memref",
    "!builtin.unranked_tensor",
    "!builtin.vector",
    "#builtin.affine_map",
    "#builtin.array",
    "#builtin.dense_array",
    "#builtin.dense_int_or_fp_elements",
    "#builtin.dense_resource_elements",
    "#builtin.dictionary",
    "#builtin.distinct",
    "#builtin.float",
    "#builtin.integer",
    "#builtin.integer_set",
    "#builtin.opaque",
    "#builtin.sparse_elements",
    "#builtin.strided_layout",
    "#builtin.string",
    "#builtin.symbol_ref",
    "#builtin.type",
    "#builtin.unit",
];

/// Whether there may be such a kind: those of other dialects are not known here.
pub(super) fn may_be(name: &str) -> bool {
    match name.get(1..).and_then(|name| name.strip_prefix("builtin.")) {
        Some(own) => BUILTIN.contains(&name) || name.starts_with('!') && FloatKind::from_name(own).is_some(),
        None => name.len() > 3 && name.contains('.'),
    }
}

/// Whether a value is of the kind. A type is also an attribute that holds a type.
pub(super) fn is_of(ctx: &Context, value: Attr, base: &str) -> bool {
    let is_type = matches!(ctx.attr_data(value), AttrData::Type(_));
    is_type && base == "#builtin.type" || kind(ctx, value).is_some_and(|kind| kind == base)
}

/// The kind of a type or an attribute: `!builtin.f32`, `#my.pair`.
pub(super) fn kind(ctx: &Context, value: Attr) -> Option<String> {
    let builtin = match ctx.attr_data(value) {
        AttrData::Type(ty) => {
            let name = match ctx.type_data(*ty) {
                TypeData::Integer { .. } => "integer",
                TypeData::Float(kind) => kind.name(),
                TypeData::Index => "index",
                TypeData::None => "none",
                TypeData::Tensor { .. } | TypeData::EncodedTensor { .. } => "tensor",
                TypeData::UnrankedTensor(_) => "unranked_tensor",
                TypeData::MemRef { shape: None, .. } => "unranked_memref",
                TypeData::MemRef { .. } => "memref",
                TypeData::Vector { .. } => "vector",
                TypeData::Complex(_) => "complex",
                TypeData::Tuple(_) => "tuple",
                TypeData::Function { .. } => "function",
                TypeData::List(_) => return None,
                TypeData::Dialect { name, .. } => return Some(format!("!{}", ctx.type_def(*name).name)),
                TypeData::Unregistered(text) => return Some(format!("!{}", name_of(text))),
            };
            return Some(format!("!builtin.{name}"));
        }
        AttrData::Unit => "unit",
        AttrData::Bool(_) | AttrData::Int { .. } => "integer",
        AttrData::Float { .. } => "float",
        AttrData::Str(_) => "string",
        AttrData::Ints(_) | AttrData::Array(_) => "array",
        AttrData::Dict(_) => "dictionary",
        AttrData::Symbol(_) => "symbol_ref",
        AttrData::Elements(elements) => match elements.form() {
            ElementsForm::Dense => "dense_int_or_fp_elements",
            ElementsForm::Array => "dense_array",
        },
        AttrData::Opaque(text) if text.starts_with('#') => return Some(name_of(text).to_owned()),
        AttrData::Opaque(text) => match name_of(text) {
            "affine_map" => "affine_map",
            "affine_set" => "integer_set",
            "dense_resource" => "dense_resource_elements",
            "sparse" => "sparse_elements",
            "strided" => "strided_layout",
            "distinct" => "distinct",
            _ => return None,
        },
    };
    Some(format!("#builtin.{builtin}"))
}

/// The text before the parameters.
fn name_of(text: &str) -> &str {
    text.split(['<', '[', '(']).next().unwrap_or(text).trim()
}

/// The parameters of a type or an attribute of a dialect, as text; none if it is of another kind than `base`.
pub(super) fn parameters(ctx: &Context, value: Attr, base: &str) -> Option<Vec<String>> {
    if kind(ctx, value)? != base {
        return None;
    }
    let text: &str = match ctx.attr_data(value) {
        AttrData::Type(ty) => match ctx.type_data(*ty) {
            TypeData::Unregistered(text) => text,
            TypeData::Dialect { params, .. } => {
                let text = |param: &TypeParam| match param {
                    TypeParam::Attr(attr) => Some(print_attr(ctx, *attr)),
                    _ => None,
                };
                return params.iter().map(text).collect();
            }
            _ => return None,
        },
        AttrData::Opaque(text) => text,
        _ => return None,
    };
    let Some(open) = text.find('<') else {
        return Some(Vec::new());
    };
    let inner = text[open + 1..].trim_end().strip_suffix('>')?;
    Some(split(inner).into_iter().map(str::to_owned).collect())
}

/// The parts between commas that are in no brackets and no quotes.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut from, mut depth) = (Vec::new(), 0, 0usize);
    let (mut quoted, mut escaped, mut before) = (false, false, ' ');
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ if quoted => {}
            '<' | '(' | '[' | '{' => depth += 1,
            '>' if before == '-' => {}
            '>' | ')' | ']' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(text[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
        before = c;
    }
    let last = text[from..].trim();
    if !(last.is_empty() && parts.is_empty()) {
        parts.push(last);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_split_at_their_commas() {
        assert_eq!(split(""), Vec::<&str>::new());
        assert_eq!(split(r#" f32, "a,\"b>" "#), ["f32", r#""a,\"b>""#]);
        assert_eq!(
            split("tensor<2x3xf32, #a.b<1, 2>>, (i32) -> i32, [1, 2]"),
            ["tensor<2x3xf32, #a.b<1, 2>>", "(i32) -> i32", "[1, 2]"]
        );
    }
}
