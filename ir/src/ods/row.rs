//! The first line of a row.

use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

use super::format;
use super::hooks::OdsHook;
use super::schema::{Arity, AttrKind, AttrKnown, AttrPresence, AttrRow, OdsRow, RegionRow, TypeFn, TypeRule, Value};
use crate::declare::{Effect, EffectKind, EffectTarget};
use crate::registry::MemoryEffects;
use crate::types::Type;

type Defines = FxHashMap<&'static str, &'static str>;

/// Reads a row.
pub(super) fn read(
    dialect: &str,
    header: &str,
    text: &str,
    hooks: &'static [OdsHook],
    defines: &Defines,
) -> Result<OdsRow, String> {
    let mut row = OdsRow::default();
    let mut rest = header;
    let mut word = "operands";
    let mut raw_values: Vec<(bool, &str)> = Vec::new();
    loop {
        rest = rest.trim_start();
        let open = rest.chars().next();
        match open {
            None => break,
            Some('(') => {
                let (inside, behind) = bracketed(rest, ')')?;
                rest = behind;
                for item in split(inside) {
                    match word {
                        "operands" => raw_values.push((false, item)),
                        "->" => raw_values.push((true, item)),
                        "regions" => row.regions.push(region(dialect, item)),
                        "successors" => {
                            let name = item.trim_end_matches('*');
                            row.successors.push((name.into(), name.len() < item.len()));
                        }
                        _ => return Err(format!("`{word}` has no list in `{header}`")),
                    }
                }
            }
            Some('{') => {
                let (inside, behind) = bracketed(rest, '}')?;
                rest = behind;
                for item in split(inside) {
                    row.attrs.push(attribute(item, defines)?);
                }
            }
            _ => {
                let end = rest.find([' ', '(', '{']).unwrap_or(rest.len());
                word = &rest[..end];
                rest = &rest[end..];
                match word {
                    "segments" => row.segments = true,
                    "result_segments" => row.result_segments = true,
                    "terminator" => row.is_terminator = true,
                    "own" => row.own = true,
                    "pure" => row.effects = MemoryEffects::None,
                    "reads" => row.effects = MemoryEffects::Declared(|_| on_memory(EffectKind::Read)),
                    "writes" => row.effects = MemoryEffects::Declared(|_| on_memory(EffectKind::Write)),
                    // The name of the operation comes first.
                    _ if header.starts_with(word) => word = "operands",
                    _ => {}
                }
            }
        }
    }
    for &(is_result, text) in &raw_values {
        let list = if is_result { &mut row.results } else { &mut row.operands };
        list.push(value(text)?);
    }
    for (at, &(_, text)) in raw_values.iter().enumerate() {
        let rule = rule(text.split_once(':').map_or("_", |(_, ty)| ty.trim()), &row)?;
        match at.checked_sub(row.operands.len()) {
            None => row.operands[at].rule = rule,
            Some(at) => row.results[at].rule = rule,
        }
    }
    format::read(&mut row, text, hooks)?;
    row.derive();
    Ok(row)
}

fn on_memory(kind: EffectKind) -> SmallVec<[Effect; 2]> {
    let target = EffectTarget::Memory;
    smallvec![Effect { kind, target }]
}

/// The text inside the brackets at the start, and the text after them.
fn bracketed(text: &str, close: char) -> Result<(&str, &str), String> {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        depth += i32::from(matches!(c, '(' | '{')) - i32::from(matches!(c, ')' | '}'));
        if depth == 0 && c == close {
            return Ok((&text[1..at], &text[at + 1..]));
        }
    }
    Err(format!("`{close}` is missing in `{text}`"))
}

/// Splits at commas outside of brackets.
fn split(text: &str) -> Vec<&str> {
    let (mut items, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, c) in text.char_indices() {
        depth += i32::from(matches!(c, '(' | '<' | '[')) - i32::from(matches!(c, ')' | '>' | ']'));
        if c == ',' && depth == 0 {
            items.push(text[start..at].trim());
            start = at + 1;
        }
    }
    items.push(text[start..].trim());
    items.retain(|item| !item.is_empty());
    items
}

fn value(text: &str) -> Result<Value, String> {
    let name = text.split_once(':').map_or(text, |(name, _)| name.trim());
    let (name, arity) = match name.chars().last() {
        Some('*') => (name.trim_end_matches('*'), Arity::Variadic),
        Some('?') => (name.trim_end_matches('?'), Arity::Optional),
        _ => (name, Arity::One),
    };
    Ok(Value {
        name: name.into(),
        arity,
        rule: TypeRule::Written,
    })
}

fn rule(text: &str, row: &OdsRow) -> Result<TypeRule, String> {
    Ok(match text {
        "_" => TypeRule::Written,
        "index" => TypeRule::Fixed(Type::INDEX),
        "i1" => TypeRule::Fixed(Type::I1),
        "i32" => TypeRule::Fixed(Type::I32),
        "i64" => TypeRule::Fixed(Type::I64),
        text if text.len() == 1 => TypeRule::Same(text.as_bytes()[0].wrapping_sub(b'T') & 7),
        text => {
            let call = text.strip_suffix(')').and_then(|text| text.split_once('('));
            let (function, of) = call.ok_or_else(|| format!("`{text}` is not a type constraint"))?;
            if function == "typeof" {
                let attr = row.attr(of).ok_or_else(|| format!("there is no attribute `{of}`"))?;
                return Ok(TypeRule::OfAttr(attr));
            }
            if function == "each" {
                let slot = row.slot(of).ok_or_else(|| format!("there is no operand `{of}`"))?;
                return Ok(TypeRule::Each(slot));
            }
            let function = match function {
                "elem" => TypeFn::Elem,
                "i1" => TypeFn::I1,
                "tensor" => TypeFn::Tensor,
                "inputs" => TypeFn::Inputs,
                "results" => TypeFn::Results,
                "half" => TypeFn::Half,
                "double" => TypeFn::Double,
                _ => return Err(format!("`{function}` is not a type constraint")),
            };
            let slot = row
                .slot(of)
                .ok_or_else(|| format!("there is no operand or result `{of}`"))?;
            TypeRule::From(function, slot)
        }
    })
}

/// `#arith.fastmath<none>`, or `#index<cmp_predicate eq>`.
pub(crate) fn words_text(kind: &AttrKind, inside: &str) -> String {
    match kind {
        AttrKind::Words {
            prefix, angle: true, ..
        } => format!("{prefix}<{inside}>"),
        AttrKind::Words { prefix, .. } => match prefix.split_once('.') {
            Some((dialect, name)) => format!("{dialect}<{name} {inside}>"),
            None => format!("{prefix}<{inside}>"),
        },
        _ => inside.to_owned(),
    }
}

/// `body implicit yield keep`: an implicit terminator that is printed all the same; `results`, if the operation has results.
fn region(dialect: &str, text: &str) -> RegionRow {
    let mut words = text.split_whitespace();
    let name = words.next().unwrap_or_default();
    let mut region = RegionRow {
        name: name.trim_end_matches('*').into(),
        variadic: name.ends_with('*'),
        terminator: None,
        forwards: false,
        keep: false,
        keep_with_results: false,
    };
    while let Some(word) = words.next() {
        match word {
            "implicit" => region.terminator = words.next().map(|op| format!("{dialect}.{op}").into()),
            "forwards" => region.forwards = true,
            "results" => region.keep_with_results = true,
            _ => region.keep = true,
        }
    }
    region
}

/// `name: KIND`, `name?: KIND`, `name: KIND = default`, `name?: KIND = implied`.
fn attribute(text: &str, defines: &Defines) -> Result<AttrRow, String> {
    let wrong = || format!("`{text}` is not an attribute");
    let (name, kind) = text.split_once(':').ok_or_else(wrong)?;
    let (kind, default) = match kind.split_once(" = ") {
        Some((kind, default)) => (kind.trim(), Some(default.trim())),
        None => (kind.trim(), None),
    };
    let optional = name.ends_with('?');
    let kind = *defines.get(kind).unwrap_or(&kind);
    let mut words = kind.split_whitespace();
    let int = |text: Option<&str>| match text {
        Some("i32") => Ok(Type::I32),
        Some("i64") => Ok(Type::I64),
        Some("i1") => Ok(Type::I1),
        Some("index") => Ok(Type::INDEX),
        _ => Err(wrong()),
    };
    let kind = match words.next() {
        Some("any" | "map") => AttrKind::Any,
        Some("unit") => AttrKind::Unit,
        Some("bool") => AttrKind::Bool,
        Some("str") => AttrKind::Str,
        Some("sym") => AttrKind::SymName,
        Some("symref") => AttrKind::SymRef,
        Some("type") => AttrKind::Type,
        Some("int") => AttrKind::Int(int(words.next())?),
        Some("ints") => AttrKind::Ints(words.next().ok_or_else(wrong)?.into()),
        Some("enum") => AttrKind::Enum {
            ty: int(words.next())?,
            words: words
                .map(|word| {
                    word.split_once('=')
                        .and_then(|(word, n)| Some((word.into(), n.parse().ok()?)))
                })
                .collect::<Option<_>>()
                .ok_or_else(wrong)?,
        },
        Some(form @ ("angle" | "angles" | "word")) => AttrKind::Words {
            prefix: words.next().ok_or_else(wrong)?.into(),
            words: words.map(Into::into).collect(),
            angle: form != "word",
            separator: if form == "angles" { ", " } else { "," },
        },
        _ => return Err(wrong()),
    };
    let default = default.map(|text| match &kind {
        AttrKind::Words { .. } => words_text(&kind, text).into(),
        _ => text.into(),
    });
    let presence = match (default, optional) {
        (Some(text), true) => AttrPresence::Implied(text),
        (Some(text), false) => AttrPresence::Default(text),
        (None, true) => AttrPresence::Optional,
        (None, false) => AttrPresence::Required,
    };
    Ok(AttrRow {
        name: name.trim().trim_start_matches('~').trim_end_matches('?').into(),
        kind,
        presence,
        loose: name.trim().starts_with('~'),
        known: AttrKnown::default(),
    })
}
