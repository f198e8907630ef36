//! Constants. They become operations only where something reads their values.

use pir_dialects::pd;
use pir_dialects::stablehlo::ops as hlo;
use pir_ir::{Attr, AttrData, Elements, Type, TypeData};

use super::super::proto::{NodeDef, Value};
use super::super::types::{self, INT32, INT64, Number};
use super::reader::{Constant, Reader, Result};

/// The constant that a node is.
pub(super) fn of(node: &NodeDef) -> Option<Constant> {
    if node.op != "Const" {
        return None;
    }
    let Some(Value::Tensor(tensor)) = &node.attrs.get("value")?.value else {
        return None;
    };
    let (dims, numbers) = types::numbers(tensor)?;
    Some((dims, numbers, tensor.dtype))
}

/// Checks the type, the shape and the attributes of a constant.
pub(super) fn check(reader: &Reader<'_>, at: usize) -> Result<()> {
    let (Some(constant), Some(Value::Type(said))) = (&reader.constants[at], reader.attr(at, "dtype")) else {
        return Err("it has no type `dtype`".to_owned());
    };
    let code = &constant.2;
    match code == said {
        true => Ok(()),
        false => Err(format!(
            "it declares {}, but holds {}",
            types::name(*said),
            types::name(*code)
        )),
    }
}

/// Creates the operations of a constant.
pub(super) fn make(reader: &mut Reader<'_>, at: usize) -> Result<()> {
    let constant = reader.constants[at].clone().ok_or("it is not a constant")?;
    let (dims, numbers, code) = &*constant;
    let code = *code;
    let unknown = || format!("elements of type {} are not supported", types::name(code));
    let elem = types::elem(reader.ctx, code).ok_or_else(unknown)?;
    reader.tensor(dims, elem)?;
    let ctx = reader.ctx;
    if let TypeData::Complex(part) = *ctx.type_data(elem) {
        return complex(reader, at, dims, part);
    }
    if numbers.is_empty() {
        return dense(reader, at, dims, elem);
    }
    if let [value] = numbers[..] {
        let attrs = full(reader, dims, value, elem);
        let attrs: Vec<(&str, Attr)> = attrs.iter().map(|(n, a)| (*n, *a)).collect();
        return reader.op(at, pd::Full::NAME, &[], &attrs);
    }
    // All numbers in one attribute.
    let values = match numbers.iter().map(whole).collect::<Option<Vec<i64>>>() {
        Some(ints) => ctx.ints_attr(&ints),
        None => {
            let number = |n: &Number| match n {
                Number::Float(value) => Some(ctx.float_attr(*value)),
                Number::Int(_) => None,
            };
            let floats: Option<Vec<Attr>> = numbers.iter().map(number).collect();
            let floats = floats.ok_or("its integers exceed 64 bits")?;
            ctx.attr(AttrData::Array(floats.into()))
        }
    };
    if dims.len() == 1 && (code == INT64 || code == INT32) {
        let attrs = [("value", values), ("dtype", ctx.type_attr(elem))];
        return reader.op(at, pd::FullIntArray::NAME, &[], &attrs);
    }
    let attrs = [
        ("shape", ctx.ints_attr(dims)),
        ("dtype", ctx.type_attr(elem)),
        ("values", values),
    ];
    reader.op(at, pd::AssignValue::NAME, &[], &attrs)
}

/// A constant of many numbers, which stay bytes.
fn dense(reader: &mut Reader<'_>, at: usize, dims: &[i64], elem: Type) -> Result<()> {
    let nodes = reader.nodes.clone();
    let Some(Value::Tensor(tensor)) = nodes[at].attrs.get("value").and_then(|a| a.value.as_ref()) else {
        return Err("its tensor is malformed".to_owned());
    };
    let content = types::content(tensor).ok_or("its tensor is malformed")?;
    let ctx = reader.ctx;
    let elements = Elements::from_bytes(ctx, ctx.tensor(dims, elem), &content);
    let elements = elements.map_err(|_| "its tensor is malformed, or there is no memory for it")?;
    let attrs = [
        ("shape", ctx.ints_attr(dims)),
        ("dtype", ctx.type_attr(elem)),
        ("values", ctx.attr(AttrData::Elements(elements))),
    ];
    reader.op(at, pd::AssignValue::NAME, &[], &attrs)
}

/// A constant of complex numbers: one of their real parts, and one of the imaginary ones.
fn complex(reader: &mut Reader<'_>, at: usize, dims: &[i64], part: Type) -> Result<()> {
    let nodes = reader.nodes.clone();
    let parts = match nodes[at].attrs.get("value").and_then(|a| a.value.as_ref()) {
        Some(Value::Tensor(tensor)) => types::parts(tensor),
        _ => None,
    };
    let parts = parts.ok_or("its tensor is malformed")?;
    let count = dims.iter().try_fold(1i64, |n, &d| n.checked_mul(d));
    let mut values = Vec::new();
    for numbers in parts {
        let ctx = reader.ctx;
        values.push(match numbers[..] {
            [value] => {
                let attrs = full(reader, dims, value, part);
                reader.helper(at, pd::Full::NAME, &[], &attrs)?
            }
            _ if i64::try_from(numbers.len()).ok() != count => return Err("its tensor is malformed".to_owned()),
            _ => {
                let numbers: Vec<Attr> = numbers.iter().map(|n| ctx.float_attr(n.f64())).collect();
                let attrs = [
                    ("shape", ctx.ints_attr(dims)),
                    ("dtype", ctx.type_attr(part)),
                    ("values", ctx.attr(AttrData::Array(numbers.into()))),
                ];
                reader.helper(at, pd::AssignValue::NAME, &[], &attrs)?
            }
        });
    }
    reader.op(at, hlo::Complex::NAME, &values, &[])
}

fn whole(number: &Number) -> Option<i64> {
    match number {
        Number::Int(value) => i64::try_from(*value).ok(),
        Number::Float(_) => None,
    }
}

/// The attributes of `pd.full`.
pub(super) fn full(reader: &Reader<'_>, dims: &[i64], value: Number, elem: Type) -> [(&'static str, Attr); 3] {
    let ctx = reader.ctx;
    let value = match value {
        Number::Int(value) if elem == Type::I1 => ctx.bool_attr(value != 0),
        Number::Int(value) => match i64::try_from(value) {
            Ok(value) => ctx.int_attr(value),
            Err(_) => ctx.float_attr(value as f64),
        },
        Number::Float(value) => ctx.float_attr(value),
    };
    [
        ("shape", ctx.ints_attr(dims)),
        ("value", value),
        ("dtype", ctx.type_attr(elem)),
    ]
}
