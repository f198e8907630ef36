//! Elementwise operations.

use pir_ir::verify::describe_value;
use pir_ir::{InferArgs, Type, TypeData};
use smallvec::SmallVec;

use super::{Shaped, Types, broadcast, dtype, one, operand, spelled};

pub(in super::super) fn unchanged(args: InferArgs<'_>) -> Types {
    operand(&args, 0)?;
    one(args.operand_type(0).unwrap_or(Type::NONE))
}

/// The type of the operand; of a complex one, with elements of the type of its parts.
pub(in super::super) fn magnitude(args: InferArgs<'_>) -> Types {
    let x = operand(&args, 0)?;
    match args.ctx.type_data(x.elem) {
        TypeData::Complex(part) => one(args.ctx.tensor(&x.dims, *part)),
        _ => unchanged(args),
    }
}

fn broadcast_operands(args: &InferArgs<'_>, first: usize) -> Result<Shaped, String> {
    let (x, y) = (operand(args, first)?, operand(args, first + 1)?);
    if x.elem != y.elem {
        // An integer is converted to the float that it meets.
        let to_first = args.ctx.is_float(x.elem) || !args.ctx.is_float(y.elem);
        let (from, to) = if to_first { (first + 1, x.elem) } else { (first, y.elem) };
        return Err(format!(
            "element types `{}` and `{}` differ; convert one: `pd.cast ({}) {{dtype = {}}}`",
            spelled(args, x.elem),
            spelled(args, y.elem),
            describe_value(args.ctx, args.body, args.operands[from]),
            spelled(args, to)
        ));
    }
    Ok(Shaped {
        dims: broadcast(&x.dims, &y.dims)?,
        elem: x.elem,
        tensor: x.tensor || y.tensor,
    })
}

/// The type of the operand; the bounds must be in order, where they are known.
pub(in super::super) fn clip(args: InferArgs<'_>) -> Types {
    let bound = |name: &str| args.attr(name).and_then(|attr| args.ctx.attr_f64(attr));
    match (bound("min"), bound("max")) {
        (Some(min), Some(max)) if min > max => Err(format!("`min` = {min} must not exceed `max` = {max}")),
        _ => unchanged(args),
    }
}

pub(in super::super) fn elementwise(args: InferArgs<'_>) -> Types {
    // Usually nothing is broadcast.
    if let (Some(x), Some(y)) = (args.operand_type(0), args.operand_type(1))
        && x == y
        && Shaped::is(args.ctx, x)
    {
        return one(x);
    }
    one(broadcast_operands(&args, 0)?.ty(args.ctx))
}

/// The result for integers is f64.
pub(in super::super) fn atan2(args: InferArgs<'_>) -> Types {
    let out = broadcast_operands(&args, 0)?;
    let elem = match args.ctx.type_data(out.elem) {
        TypeData::Integer { .. } => Type::F64,
        _ => out.elem,
    };
    one(Shaped { elem, ..out }.ty(args.ctx))
}

pub(in super::super) fn elementwise_grad(args: InferArgs<'_>) -> Types {
    broadcast_operands(&args, 0)?;
    Ok(args.operands.iter().take(2).map(|&v| args.body.value_type(v)).collect())
}

pub(in super::super) fn compare(args: InferArgs<'_>) -> Types {
    one(Shaped {
        elem: Type::I1,
        ..broadcast_operands(&args, 0)?
    }
    .ty(args.ctx))
}

pub(in super::super) fn truth(args: InferArgs<'_>) -> Types {
    one(Shaped {
        elem: Type::I1,
        ..operand(&args, 0)?
    }
    .ty(args.ctx))
}

pub(in super::super) fn select(args: InferArgs<'_>) -> Types {
    let condition = operand(&args, 0)?;
    if condition.elem != Type::I1 {
        return Err(format!(
            "the condition must have element type `i1`, not `{}`",
            spelled(&args, condition.elem)
        ));
    }
    let both = broadcast_operands(&args, 1)?;
    let dims = broadcast(&condition.dims, &both.dims)?;
    one(Shaped {
        dims,
        tensor: both.tensor || condition.tensor,
        ..both
    }
    .ty(args.ctx))
}

pub(in super::super) fn cast(args: InferArgs<'_>) -> Types {
    let elem = dtype(&args).ok_or("it needs `dtype`")?;
    one(Shaped {
        elem,
        ..operand(&args, 0)?
    }
    .ty(args.ctx))
}

pub(in super::super) fn add_n(args: InferArgs<'_>) -> Types {
    let elements: SmallVec<[Type; 4]> = super::elements(&args);
    let first = *elements.first().ok_or("it needs at least one operand")?;
    match elements
        .iter()
        .find(|&&t| t != first && args.ctx.is_static(t) && args.ctx.is_static(first))
    {
        Some(&other) => Err(format!(
            "all operands must have type `{}`, not `{}`",
            spelled(&args, first),
            spelled(&args, other)
        )),
        None => one(first),
    }
}
