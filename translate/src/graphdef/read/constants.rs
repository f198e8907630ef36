//! Constants, which are made operations where something reads their values.

use pir_ir::{Attr, Type, ValueId};

use super::super::proto::{NodeDef, Value};
use super::super::types::{self, INT32, INT64, Number};
use super::{Constant, Reader, Result};

/// Floats are put together from as many pieces at most.
const PIECES: usize = 4096;

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

/// Makes the operations of a constant.
pub(super) fn make(reader: &mut Reader<'_>, at: usize) -> Result<()> {
    let Some((dims, numbers, code)) = reader.constants[at].clone() else {
        return Err("it is not a constant".to_owned());
    };
    let unknown = || format!("elements of type {} are not known here", types::name(code));
    let elem = types::elem(reader.ctx, code).ok_or_else(unknown)?;
    reader.tensor(&dims, elem)?;
    let ctx = reader.ctx;
    if let [value] = numbers[..] {
        let attrs = full(reader, &dims, value, elem);
        let attrs: Vec<(&str, Attr)> = attrs.iter().map(|(n, a)| (*n, *a)).collect();
        return reader.op(at, "pd.full", &[], &attrs);
    }
    let ints: Option<Vec<i64>> = numbers
        .iter()
        .map(|n| match n {
            Number::Int(value) => i64::try_from(*value).ok(),
            Number::Float(_) => None,
        })
        .collect();
    if let Some(ints) = ints.filter(|_| code == INT64 || code == INT32) {
        let attrs = [("value", ctx.ints_attr(&ints)), ("dtype", ctx.type_attr(elem))];
        if dims.len() == 1 {
            return reader.op(at, "pd.full_int_array", &[], &attrs);
        }
        let flat = reader.helper(at, "pd.full_int_array", &[], &attrs)?;
        return reader.op(at, "pd.reshape", &[flat], &[("shape", ctx.ints_attr(&dims))]);
    }
    // Stretches of equal numbers, one behind the other.
    let mut pieces: Vec<ValueId> = Vec::new();
    for run in numbers.chunk_by(|a, b| types::same(*a, *b)) {
        if pieces.len() == PIECES {
            return Err(format!("it is a constant of {} numbers", numbers.len()));
        }
        let attrs = full(reader, &[run.len() as i64], run[0], elem);
        pieces.push(reader.helper(at, "pd.full", &[], &attrs)?);
    }
    let axis = [("axis", ctx.int_attr(0))];
    if dims.len() == 1 {
        return reader.op(at, "pd.concat", &pieces, &axis);
    }
    let flat = reader.helper(at, "pd.concat", &pieces, &axis)?;
    reader.op(at, "pd.reshape", &[flat], &[("shape", ctx.ints_attr(&dims))])
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
