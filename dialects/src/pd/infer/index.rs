//! Operations that gather elements.

use pir_ir::{DYNAMIC, InferArgs, TypeData};

use super::{Dims, Shaped, Types, axis, int, ints, is_operand, one, operand, spelled};

/// The number of elements of the slice `start..end` of a dimension, with clamped bounds.
fn stretch(dim: i64, start: i64, end: i64) -> i64 {
    if dim == DYNAMIC {
        // The bounds are an upper limit; the slice may have fewer elements.
        return DYNAMIC;
    }
    let clamp = |v: i64| {
        if v < 0 {
            v.saturating_add(dim).max(0)
        } else {
            v.min(dim)
        }
    };
    (clamp(end) - clamp(start)).max(0)
}

pub(in super::super) fn slice(args: InferArgs<'_>) -> Types {
    let x = operand(&args, 0)?;
    let axes = ints(&args, "axes").ok_or("it needs `axes`")?;
    let mut dims = x.dims.clone();
    let bounds = (ints(&args, "starts"), ints(&args, "ends"));
    for (i, &a) in axes.iter().enumerate() {
        let at = axis(a, dims.len())?;
        dims[at] = match &bounds {
            (Some(starts), Some(ends)) if starts.len() == axes.len() && ends.len() == axes.len() => {
                stretch(x.dims[at], starts[i], ends[i])
            }
            (Some(_), Some(_)) => return Err("`axes`, `starts` and `ends` differ in length".to_owned()),
            _ => DYNAMIC,
        };
    }
    let mut gone = vec![false; dims.len()];
    for a in ints(&args, "decrease_axis").unwrap_or_default() {
        let at = axis(a, dims.len())?;
        if !matches!(dims[at], 1 | DYNAMIC) {
            return Err(format!("axis {a} has {} elements and cannot be removed", dims[at]));
        }
        gone[at] = true;
    }
    let dims: Dims = dims.iter().zip(gone).filter(|(_, g)| !g).map(|(&d, _)| d).collect();
    one(args.ctx.tensor(&dims, x.elem))
}

fn index_operand(args: &InferArgs<'_>, at: usize) -> Result<Shaped, String> {
    let index = operand(args, at)?;
    if !matches!(
        args.ctx.type_data(index.elem),
        TypeData::Integer { width: 32 | 64, .. } | TypeData::Index
    ) {
        return Err(format!(
            "an index must have element type `i32` or `i64`, not `{}`",
            spelled(args, index.elem)
        ));
    }
    Ok(index)
}

pub(in super::super) fn gather(args: InferArgs<'_>) -> Types {
    let (x, index) = (operand(&args, 0)?, index_operand(&args, 1)?);
    if is_operand(&args, "axis") && args.operands.len() > 2 {
        return Err("the axis is not constant".to_owned());
    }
    let at = axis(int(&args, "axis").unwrap_or(0), x.dims.len())?;
    let mut dims: Dims = x.dims[..at].into();
    match index.dims.len() {
        0 => {}
        1 => dims.push(index.dims[0]),
        // A column of indices is treated as a vector.
        2 if index.dims[1] == 1 => dims.push(index.dims[0]),
        _ => return Err("the index must be a vector".to_owned()),
    }
    dims.extend_from_slice(&x.dims[at + 1..]);
    one(args.ctx.tensor(&dims, x.elem))
}

pub(in super::super) fn gather_nd(args: InferArgs<'_>) -> Types {
    let (x, index) = (operand(&args, 0)?, index_operand(&args, 1)?);
    let (&depth, lead) = index
        .dims
        .split_last()
        .ok_or("the index needs at least one dimension")?;
    let depth = usize::try_from(depth).map_err(|_| "the length of the index tuples is unknown")?;
    if depth > x.dims.len() {
        return Err(format!("index tuples of {depth} for {} dimensions", x.dims.len()));
    }
    let dims: Dims = lead.iter().chain(&x.dims[depth..]).copied().collect();
    one(args.ctx.tensor(&dims, x.elem))
}

pub(in super::super) fn take_along_axis(args: InferArgs<'_>) -> Types {
    let (x, index) = (operand(&args, 0)?, index_operand(&args, 1)?);
    axis(int(&args, "axis").unwrap_or(0), x.dims.len())?;
    if x.dims.len() != index.dims.len() {
        return Err(format!(
            "the index has {} dimensions, the operand {}",
            index.dims.len(),
            x.dims.len()
        ));
    }
    one(Shaped { elem: x.elem, ..index }.ty(args.ctx))
}

/// Gradients of gathering operations: of the shape of the gathered tensor.
pub(in super::super) fn scatter_back(args: InferArgs<'_>) -> Types {
    let required = args
        .def
        .operands
        .iter()
        .filter(|o| o.arity == pir_ir::Arity::One)
        .count();
    let grad = operand(&args, required - 1)?;
    if args.operands.len() > required {
        return one(args.operand_type(required).unwrap_or(grad.elem));
    }
    let shape = ints(&args, "x_shape").ok_or("it needs the operand `x` or the attribute `x_shape`")?;
    if shape.iter().any(|&d| d < 0) {
        return Err("`x_shape` cannot have negative dimensions".to_owned());
    }
    one(args.ctx.tensor(&shape, grad.elem))
}

pub(in super::super) fn one_hot(args: InferArgs<'_>) -> Types {
    let index = index_operand(&args, 0)?;
    let classes = int(&args, "num_classes").unwrap_or(DYNAMIC);
    let mut dims = index.dims.clone();
    dims.push(classes.max(DYNAMIC));
    one(args.ctx.tensor(&dims, pir_ir::Type::F32))
}

pub(in super::super) fn sequence_mask(args: InferArgs<'_>) -> Types {
    let lengths = index_operand(&args, 0)?;
    let width = if is_operand(&args, "max_len") {
        None
    } else {
        int(&args, "max_len")
    };
    let mut dims = lengths.dims.clone();
    // A negative width means the longest sequence.
    dims.push(width.filter(|&w| w >= 0).unwrap_or(DYNAMIC));
    let elem = args.attr("out_dtype").and_then(|a| args.ctx.attr_type(a));
    one(args.ctx.tensor(&dims, elem.unwrap_or(pir_ir::Type::I64)))
}
