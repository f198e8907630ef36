//! Types and attributes in the form of saved programs.

use std::fmt::Write;

use super::super::attributes::AS_WRITTEN;
use pir_ir::text::print_type;
use pir_ir::{Attr, AttrData, Context, DYNAMIC, FloatKind, Type, TypeData};

/// The names of an element type: in types, and in attributes.
fn element(ctx: &Context, ty: Type) -> Option<(&'static str, &'static str)> {
    Some(match ty {
        Type::I1 => ("bool", "bool"),
        Type::I8 => ("i8", "int8"),
        Type::UI8 => ("ui8", "uint8"),
        Type::I16 => ("i16", "int16"),
        Type::I32 => ("i32", "int32"),
        Type::I64 => ("i64", "int64"),
        Type::F16 => ("f16", "float16"),
        Type::BF16 => ("bf16", "bfloat16"),
        Type::F32 => ("f32", "float32"),
        Type::F64 => ("f64", "float64"),
        _ => match ctx.type_data(ty) {
            TypeData::Complex(Type::F32) => ("c64", "complex64"),
            TypeData::Complex(Type::F64) => ("c128", "complex128"),
            TypeData::Float(FloatKind::F8E4M3FN) => ("f8e4m3fn", "float8_e4m3fn"),
            TypeData::Float(FloatKind::F8E5M2) => ("f8e5m2", "float8_e5m2"),
            _ => return None,
        },
    })
}

/// The name of an element type in an attribute: `float32`.
pub(super) fn dtype(ctx: &Context, ty: Type) -> Result<&'static str, String> {
    element(ctx, ty).map(|(_, name)| name).ok_or_else(|| no_type(ctx, ty))
}

fn no_type(ctx: &Context, ty: Type) -> String {
    format!("there is no type `{}` in saved programs", print_type(ctx, ty))
}

/// The type of a value.
pub(super) fn type_of(ctx: &Context, ty: Type, out: &mut String) -> Result<(), String> {
    match ctx.type_data(ty) {
        TypeData::List(items) => {
            out.push_str(r##"{"#":"0.t_vec","D":["##);
            for (at, &item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                if matches!(ctx.type_data(item), TypeData::List(_)) {
                    return Err(no_type(ctx, ty));
                }
                tensor(ctx, item, out)?;
            }
            out.push_str("]}");
            Ok(())
        }
        TypeData::Dialect { name, .. } => match ctx.type_def(*name).name.strip_prefix("cf.") {
            Some(name) => {
                let _ = write!(out, r##"{{"#":"2.t_{name}"}}"##);
                Ok(())
            }
            None => Err(no_type(ctx, ty)),
        },
        _ => tensor(ctx, ty, out),
    }
}

fn tensor(ctx: &Context, ty: Type, out: &mut String) -> Result<(), String> {
    // A boolean that is not a tensor is a tensor of one element there, like the results of `has_elements`.
    let (shape, elem) = match ctx.as_tensor(ty) {
        Some(tensor) => tensor,
        None if ty == Type::I1 => (&[1i64][..], ty),
        None if ty == Type::NONE => {
            out.push_str(r##"{"#":"NULL"}"##);
            return Ok(());
        }
        None => return Err(no_type(ctx, ty)),
    };
    let (name, _) = element(ctx, elem).ok_or_else(|| no_type(ctx, ty))?;
    let _ = write!(out, r##"{{"#":"0.t_dtensor","D":[{{"#":"0.t_{name}"}},"##);
    integers(shape.iter().map(|&d| if d == DYNAMIC { -1 } else { d }), out);
    out.push_str(r##","NCHW",[],0]}"##);
    Ok(())
}

/// `[1,2]`.
pub(super) fn integers(values: impl IntoIterator<Item = i64>, out: &mut String) {
    out.push('[');
    for (at, value) in values.into_iter().enumerate() {
        let _ = write!(out, "{}{value}", if at > 0 { "," } else { "" });
    }
    out.push(']');
}

/// A text in quotes.
pub(super) fn string(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if (c as u32) < 0x20 => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

/// An attribute of a kind whose data is a plain piece of JSON.
pub(super) fn plain(kind: &str, data: &str) -> String {
    format!(r##"{{"#":"{kind}","D":{data}}}"##)
}

/// A floating-point attribute. Infinities and NaN are under a key of their own.
pub(super) fn float(kind: &str, value: f64) -> String {
    let word = match value {
        v if v.is_nan() => "NAN",
        f64::INFINITY => "INF",
        f64::NEG_INFINITY => "-INF",
        _ => return plain(kind, &format!("{value:?}")),
    };
    format!(r##"{{"#":"{kind}","VD":"{word}"}}"##)
}

/// A text attribute.
pub(super) fn text(value: &str) -> String {
    let mut data = String::new();
    string(value, &mut data);
    plain("0.a_str", &data)
}

/// A list of integers of one kind.
pub(super) fn list(kind: &str, values: &[i64]) -> String {
    let items: Vec<String> = values.iter().map(|v| plain(kind, &v.to_string())).collect();
    plain("0.a_array", &format!("[{}]", items.join(",")))
}

/// An element type as an attribute; none is undefined.
pub(super) fn dtype_attr(ctx: &Context, ty: Option<Type>) -> Result<String, String> {
    let name = match ty {
        Some(ty) => dtype(ctx, ty)?,
        None => "Undefined(ALL_DTYPE)",
    };
    Ok(plain("1.a_dtype", &format!("\"{name}\"")))
}

/// A device: `cpu`, `gpu:0`; otherwise the executor chooses.
pub(super) fn place(name: &str) -> String {
    let (kind, device) = name.split_once(':').unwrap_or((name, "0"));
    let kind = match kind {
        "cpu" => 1,
        "gpu" => 2,
        other => other.parse().unwrap_or(0),
    };
    let device: u32 = device.parse().unwrap_or(0);
    plain("1.a_place", &format!("[{kind},{device},\"\"]"))
}

/// An entry of a list of attributes.
pub(super) fn entry(name: &str, value: &str, out: &mut String) {
    if !out.is_empty() {
        out.push(',');
    }
    out.push_str(r##"{"N":"##);
    string(name, out);
    let _ = write!(out, r##","AT":{value}}}"##);
}

/// An attribute of an unknown operation: its type determines the kind.
pub(super) fn untyped(ctx: &Context, name: &str, attr: Attr) -> Result<String, String> {
    // Arrays may be nested: the open ones, the innermost on top.
    let mut open: Vec<(std::slice::Iter<'_, Attr>, Vec<String>)> = Vec::new();
    let mut next = Some(attr);
    loop {
        let mut done = match next.take() {
            Some(attr) => match ctx.attr_data(attr) {
                AttrData::Array(items) => {
                    open.push((items.iter(), Vec::new()));
                    None
                }
                _ => Some(leaf(ctx, name, attr)?),
            },
            None => None,
        };
        loop {
            let Some((items, texts)) = open.last_mut() else {
                return done.ok_or_else(|| format!("the attribute `{name}` is empty"));
            };
            texts.extend(done.take());
            match items.next() {
                Some(&item) => {
                    next = Some(item);
                    break;
                }
                None => {
                    done = Some(plain("0.a_array", &format!("[{}]", texts.join(","))));
                    open.pop();
                }
            }
        }
    }
}

fn leaf(ctx: &Context, name: &str, attr: Attr) -> Result<String, String> {
    Ok(match ctx.attr_data(attr) {
        AttrData::Bool(value) => plain("0.a_bool", if *value { "true" } else { "false" }),
        AttrData::Int { value, ty } => {
            let kind = match *ty {
                Type::I32 => "0.a_i32",
                Type::INDEX => "0.a_index",
                _ => "0.a_i64",
            };
            plain(kind, &value.to_string())
        }
        AttrData::Float { bits, ty } => {
            let kind = if *ty == Type::F32 { "0.a_f32" } else { "0.a_f64" };
            float(kind, f64::from_bits(*bits))
        }
        AttrData::Str(value) if name == "place" => place(value),
        AttrData::Str(value) if value.starts_with("Undefined") => plain("1.a_dtype", &format!("\"{value}\"")),
        AttrData::Str(value) => text(value),
        AttrData::Ints(values) => list("0.a_i64", values),
        AttrData::Type(ty) if element(ctx, *ty).is_some() => dtype_attr(ctx, Some(*ty))?,
        AttrData::Type(ty) => {
            let mut data = String::new();
            type_of(ctx, *ty, &mut data)?;
            plain("0.a_type", &data)
        }
        AttrData::Opaque(text) => match text.strip_prefix(AS_WRITTEN).and_then(|t| t.strip_suffix('>')) {
            Some(written) => written.to_owned(),
            None => return Err(format!("the attribute `{name}` cannot be expressed in saved programs")),
        },
        _ => return Err(format!("the attribute `{name}` cannot be expressed in saved programs")),
    })
}
