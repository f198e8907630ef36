//! Constants and inputs.

use pir_ir::{AttrData, DYNAMIC, InferArgs, Type};

use super::{Shaped, Types, dtype, ints, one, operand};

fn static_shape(args: &InferArgs<'_>) -> Result<Vec<i64>, String> {
    let shape = ints(args, "shape").ok_or("it needs `shape`, a list of integers")?;
    match shape.iter().find(|&&d| d < 0) {
        Some(d) => Err(format!("a dimension cannot be {d}")),
        None => Ok(shape),
    }
}

pub(in super::super) fn full(args: InferArgs<'_>) -> Types {
    let shape = static_shape(&args)?;
    one(args.ctx.tensor(&shape, dtype(&args).unwrap_or(Type::F32)))
}

pub(in super::super) fn full_int_array(args: InferArgs<'_>) -> Types {
    let values = ints(&args, "value").ok_or("it needs `value`, a list of integers")?;
    one(args
        .ctx
        .tensor(&[values.len() as i64], dtype(&args).unwrap_or(Type::I64)))
}

pub(in super::super) fn assign_value(args: InferArgs<'_>) -> Types {
    let shape = static_shape(&args)?;
    let values = args.attr("values").ok_or("it needs `values`, a list of numbers")?;
    let given = match args.ctx.attr_data(values) {
        AttrData::Ints(values) => values.len(),
        AttrData::Array(values) => values.len(),
        AttrData::Elements(elements) if !elements.is_complex() => elements.len(),
        _ => return Err("`values` must be a list of numbers".to_owned()),
    };
    let count = shape.iter().try_fold(1i64, |n, &d| n.checked_mul(d));
    if count != i64::try_from(given).ok() {
        return Err(format!("`values` has {given} numbers, which do not match its shape"));
    }
    one(args.ctx.tensor(&shape, dtype(&args).unwrap_or(Type::F32)))
}

pub(in super::super) fn constant(args: InferArgs<'_>) -> Types {
    let elem = match (args.attr("value").map(|v| args.ctx.attr_data(v)), args.operand_type(0)) {
        (Some(AttrData::Int { ty, .. } | AttrData::Float { ty, .. }), _) => *ty,
        (Some(AttrData::Bool(_)), _) => Type::I1,
        (Some(_), _) => return Err("`value` must be a number".to_owned()),
        (None, Some(ty)) => args.ctx.elem_type(ty),
        (None, None) => return Err("it needs a `value`".to_owned()),
    };
    let shape = ints(&args, "shape").unwrap_or_default();
    one(args.ctx.tensor(&shape, dtype(&args).unwrap_or(elem)))
}

pub(in super::super) fn full_like(args: InferArgs<'_>) -> Types {
    let x = operand(&args, 0)?;
    let elem = dtype(&args).unwrap_or(x.elem);
    one(Shaped { elem, ..x }.ty(args.ctx))
}

pub(in super::super) fn arange(args: InferArgs<'_>) -> Types {
    let number = |name: &str| args.attr(name).and_then(|a| args.ctx.attr_f64(a));
    let elem = dtype(&args).unwrap_or(Type::I64);
    let length = match (
        number("start").unwrap_or(0.0),
        number("end"),
        number("step").unwrap_or(1.0),
    ) {
        (_, _, 0.0) => return Err("`step` cannot be 0".to_owned()),
        (start, Some(end), step) if args.operands.is_empty() => {
            let n = ((end - start) / step).ceil().max(0.0);
            if n < 9.0e15 {
                n as i64
            } else {
                return Err("the result is too large".to_owned());
            }
        }
        _ => DYNAMIC,
    };
    one(args.ctx.tensor(&[length], elem))
}

pub(in super::super) fn shape(args: InferArgs<'_>) -> Types {
    let x = operand(&args, 0)?;
    one(args.ctx.tensor(&[x.dims.len() as i64], Type::I64))
}

pub(in super::super) fn numel(args: InferArgs<'_>) -> Types {
    operand(&args, 0)?;
    one(args.ctx.tensor(&[], Type::I64))
}

pub(in super::super) fn data(args: InferArgs<'_>) -> Types {
    let shape = ints(&args, "shape").ok_or("it needs `shape`, a list of integers")?;
    match shape.iter().find(|&&d| d < DYNAMIC) {
        Some(d) => Err(format!("a dimension cannot be {d}")),
        None => one(args.ctx.tensor(&shape, dtype(&args).unwrap_or(Type::F32))),
    }
}
