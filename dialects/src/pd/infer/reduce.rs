//! Reductions.

use pir_ir::{DYNAMIC, InferArgs, Type, TypeData};

use super::{Dims, Shaped, Types, axes, axis, dtype, flag, int, ints, is_operand, one, operand, spelled};

fn reduced(args: &InferArgs<'_>, keepdim: &str) -> Result<Shaped, String> {
    let x = operand(args, 0)?;
    let keepdim = flag(args, keepdim);
    if is_operand(args, "axis") {
        if keepdim {
            return Ok(Shaped {
                dims: x.dims.iter().map(|_| DYNAMIC).collect(),
                ..x
            });
        }
        return Err("the axes are not constant, so the rank of the result is unknown".to_owned());
    }
    let named = ints(args, "axis").unwrap_or_default();
    let mut gone = vec![named.is_empty(); x.dims.len()];
    for at in axes("axis", &named, x.dims.len())? {
        gone[at] = true;
    }
    let dims: Dims = x
        .dims
        .iter()
        .zip(&gone)
        .filter_map(|(&d, &gone)| match (gone, keepdim) {
            (false, _) => Some(d),
            (true, true) => Some(1),
            (true, false) => None,
        })
        .collect();
    Ok(Shaped { dims, ..x })
}

pub(in super::super) fn reduce(args: InferArgs<'_>) -> Types {
    one(reduced(&args, "keepdim")?.ty(args.ctx))
}

pub(in super::super) fn sum(args: InferArgs<'_>) -> Types {
    let x = reduced(&args, "keepdim")?;
    one(Shaped {
        elem: dtype(&args).unwrap_or(widened(&args, x.elem)),
        ..x
    }
    .ty(args.ctx))
}

/// The accumulator type for booleans and i32. Shorter integers wrap, as in Paddle.
fn widened(args: &InferArgs<'_>, elem: Type) -> Type {
    match args.ctx.type_data(elem) {
        TypeData::Integer { width: 1 | 32, .. } => Type::I64,
        _ => elem,
    }
}

pub(in super::super) fn reduce_truth(args: InferArgs<'_>) -> Types {
    one(Shaped {
        elem: Type::I1,
        ..reduced(&args, "keepdim")?
    }
    .ty(args.ctx))
}

pub(in super::super) fn arg_reduce(args: InferArgs<'_>) -> Types {
    let elem = dtype(&args).unwrap_or(Type::I64);
    if flag(&args, "flatten") {
        let rank = match flag(&args, "keepdims") {
            true => operand(&args, 0)?.dims.len(),
            false => 0,
        };
        return one(args.ctx.tensor(&vec![1; rank], elem));
    }
    one(Shaped {
        elem,
        ..reduced(&args, "keepdims")?
    }
    .ty(args.ctx))
}

pub(in super::super) fn cumsum(args: InferArgs<'_>) -> Types {
    let x = operand(&args, 0)?;
    if flag(&args, "flatten") {
        let n = super::count(&x.dims).unwrap_or(DYNAMIC);
        return one(args.ctx.tensor(&[n], x.elem));
    }
    if !is_operand(&args, "axis") {
        axis(int(&args, "axis").unwrap_or(-1), x.dims.len().max(1))?;
    }
    one(x.ty(args.ctx))
}

pub(in super::super) fn reduce_as(args: InferArgs<'_>) -> Types {
    let x = operand(&args, 0)?;
    if args.operands.len() > 1 {
        let target = operand(&args, 1)?;
        // A sum over no axes leaves the type unchanged.
        let elem = if target.dims == x.dims {
            x.elem
        } else {
            widened(&args, x.elem)
        };
        return one(Shaped { elem, ..target }.ty(args.ctx));
    }
    let shape = ints(&args, "shape").ok_or("it needs a `target` or the attribute `shape`")?;
    let back = super::broadcast(&shape, &x.dims)?;
    if back.len() != x.dims.len() || back.iter().zip(&x.dims).any(|(a, b)| a != b && *b != DYNAMIC) {
        return Err(format!(
            "`{}` cannot be broadcast from shape {}",
            spelled(&args, x.ty(args.ctx)),
            super::dims_text(&shape)
        ));
    }
    one(Shaped {
        elem: if shape[..] == x.dims[..] {
            x.elem
        } else {
            widened(&args, x.elem)
        },
        dims: shape.into_iter().collect(),
        ..x
    }
    .ty(args.ctx))
}
