//! `tensor`: shapes, numbers of sizes, and blocks that give elements.

use crate::mlir::tensor;
use pir_ir::text::print_type;
use pir_ir::{DYNAMIC, Diagnostic, OpView, Type, TypeData};

use super::{
    Checked, Slice, ensure, entry, groups_fit, int, ints, is_compatible, is_permutation, known, plural, report, shown,
    sized,
};

pub(in crate::ods) fn verify(op: OpView<'_>, errors: &mut Vec<Diagnostic>) {
    let sizes = op.body.num_operands(op.op);
    let checked = match op.name() {
        tensor::Empty::NAME => made(op, sizes),
        tensor::Splat::NAME => made(op, sizes.saturating_sub(1)),
        tensor::Generate::NAME => made(op, sizes).and_then(|()| generated(op)),
        tensor::Cast::NAME => cast(op),
        tensor::Dim::NAME => match shape(op, op.operand_type(0)) {
            Some(([], _)) => Err("a tensor of rank 0 has no extents".to_owned()),
            _ => Ok(()),
        },
        tensor::Rank::NAME => ensure(op.operand_type(0).is_some_and(|ty| is_tensor(op, ty)), || {
            "the operand must be a tensor".to_owned()
        }),
        tensor::FromElements::NAME => elements(op),
        "tensor.concat" => concatenated(op),
        tensor::ExtractSlice::NAME => sliced(op, op.operand_type(0), op.result_type(0)),
        tensor::InsertSlice::NAME | "tensor.parallel_insert_slice" => {
            sliced(op, op.operand_type(1), op.operand_type(0))
        }
        tensor::ExpandShape::NAME => reshaped(op, true),
        tensor::CollapseShape::NAME => reshaped(op, false),
        "tensor.pad" => padded(op),
        "tensor.gather" => places(op, op.operand_type(0), "gather_dims"),
        "tensor.pack" => packed(op, op.operand_type(0), op.result_type(0)),
        "tensor.unpack" => packed(op, op.result_type(0), op.operand_type(0)),
        "tensor.scatter" => places(op, op.operand_type(1), "scatter_dims"),
        _ => Ok(()),
    };
    report(op, checked, errors);
}

fn is_tensor(op: OpView<'_>, ty: Type) -> bool {
    matches!(
        op.ctx.type_data(ty),
        TypeData::Tensor { .. } | TypeData::EncodedTensor { .. } | TypeData::UnrankedTensor(_)
    )
}

/// The shape and the elements of a tensor of known rank.
fn shape<'a>(op: OpView<'a>, ty: Option<Type>) -> Option<(&'a [i64], Type)> {
    let ty = ty.filter(|&ty| is_tensor(op, ty))?;
    op.ctx.as_elements(ty)
}

fn made(op: OpView<'_>, sizes: usize) -> Checked {
    shape(op, op.result_type(0)).map_or(Ok(()), |(shape, _)| sized(shape, sizes))
}

/// The only block has an index for each dimension, and yields an element.
fn yields_elements(op: OpView<'_>, rank: usize, elem: Type) -> Checked {
    let Some(block) = entry(op, 0) else { return Ok(()) };
    let args = op.body.block_args(block);
    let fits = args.len() == rank && args.iter().all(|&arg| op.body.value_type(arg) == Type::INDEX);
    ensure(fits, || {
        format!(
            "its block must have {}",
            plural(rank, "argument of type `index`").replace("`s", "`")
        )
    })?;
    let end = op.body.last_op(block);
    let yielded = end
        .and_then(|end| op.body.get_operand(end, 0))
        .map(|value| op.body.value_type(value));
    ensure(yielded == Some(elem), || {
        format!(
            "its block must yield `{}`, found {}",
            print_type(op.ctx, elem),
            shown(op, yielded)
        )
    })
}

fn generated(op: OpView<'_>) -> Checked {
    match shape(op, op.result_type(0)) {
        Some((shape, elem)) => yields_elements(op, shape.len(), elem),
        None => Ok(()),
    }
}

fn cast(op: OpView<'_>) -> Checked {
    let (Some((from, a)), Some((to, b))) = (shape(op, op.operand_type(0)), shape(op, op.result_type(0))) else {
        return Ok(());
    };
    ensure(a == b && is_compatible(from, to), || {
        format!(
            "{} cannot be cast to {}",
            shown(op, op.operand_type(0)),
            shown(op, op.result_type(0))
        )
    })
}

fn elements(op: OpView<'_>) -> Checked {
    let Some((shape, _)) = shape(op, op.result_type(0)) else {
        return Ok(());
    };
    ensure(!shape.contains(&DYNAMIC), || {
        "the result must have a static shape".to_owned()
    })?;
    let wanted = shape.iter().try_fold(1i64, |count, &extent| count.checked_mul(extent));
    let found = op.body.num_operands(op.op);
    ensure(wanted == i64::try_from(found).ok(), || {
        format!(
            "{} cannot be {}",
            plural(found, "element"),
            shown(op, op.result_type(0))
        )
    })
}

fn concatenated(op: OpView<'_>) -> Checked {
    let (Some((to, elem)), Some(dim)) = (shape(op, op.result_type(0)), int(op, "dim")) else {
        return Ok(());
    };
    ensure(op.body.num_operands(op.op) > 0, || "it needs an operand".to_owned())?;
    let dim = usize::try_from(dim).ok().filter(|&dim| dim < to.len());
    let dim = dim.ok_or_else(|| format!("the dimension must be below {}", to.len()))?;
    let mut sum = Some(0i64);
    for value in op.body.operands(op.op) {
        let Some((from, of)) = shape(op, Some(op.body.value_type(value))) else {
            return Ok(());
        };
        ensure(of == elem && from.len() == to.len(), || {
            "operands and result must have the same elements and rank".to_owned()
        })?;
        let mut others = from.iter().zip(to).enumerate();
        let fits = others.all(|(at, (&a, &b))| at == dim || a == b || a == DYNAMIC || b == DYNAMIC);
        ensure(fits, || {
            "operands and result must have the same other extents".to_owned()
        })?;
        sum = sum
            .filter(|_| from[dim] != DYNAMIC)
            .map(|sum| sum.saturating_add(from[dim]));
    }
    ensure(sum.is_none_or(|sum| to[dim] == DYNAMIC || sum == to[dim]), || {
        format!("the operands have {} places there", sum.unwrap_or_default())
    })
}

/// A part of a tensor.
fn sliced(op: OpView<'_>, whole: Option<Type>, part: Option<Type>) -> Checked {
    let (Some((from, elem)), Some((to, of))) = (shape(op, whole), shape(op, part)) else {
        return Ok(());
    };
    let slice = Slice::of(op, from.len())?;
    let fits = elem == of && to.len() <= from.len() && slice.kept(to).is_some();
    ensure(fits, || {
        format!(
            "a slice of the sizes {} cannot be {}",
            slice.shown_sizes(),
            shown(op, part)
        )
    })
}

fn reshaped(op: OpView<'_>, expands: bool) -> Checked {
    let (Some((from, a)), Some((to, b))) = (shape(op, op.operand_type(0)), shape(op, op.result_type(0))) else {
        return Ok(());
    };
    ensure(a == b, || "operand and result must have the same elements".to_owned())?;
    match expands {
        true => groups_fit(op, from, to),
        false => groups_fit(op, to, from),
    }
}

fn padded(op: OpView<'_>) -> Checked {
    let (Some((from, elem)), Some((to, of))) = (shape(op, op.operand_type(0)), shape(op, op.result_type(0))) else {
        return Ok(());
    };
    let (Some(low), Some(high)) = (ints(op, "static_low"), ints(op, "static_high")) else {
        return Ok(());
    };
    ensure(low.len() == from.len() && high.len() == from.len(), || {
        format!(
            "it needs what is added on both sides for each of {}",
            plural(from.len(), "dimension")
        )
    })?;
    let extents = from.iter().zip(low.iter().zip(&high)).map(|(&extent, (&low, &high))| {
        match extent == DYNAMIC || low == i64::MIN || high == i64::MIN {
            true => DYNAMIC,
            false => extent.saturating_add(low).saturating_add(high),
        }
    });
    let extents: Vec<i64> = extents.collect();
    ensure(elem == of && is_compatible(&extents, to), || {
        format!("its result cannot be {}", shown(op, op.result_type(0)))
    })?;
    yields_elements(op, from.len(), elem)
}

/// Dimensions in order, of a tensor.
fn places(op: OpView<'_>, of: Option<Type>, name: &str) -> Checked {
    let (Some((shape, _)), Some(dims)) = (shape(op, of), ints(op, name)) else {
        return Ok(());
    };
    let fits = !dims.is_empty()
        && dims.windows(2).all(|pair| pair[0] < pair[1])
        && dims.iter().all(|&dim| (0..shape.len() as i64).contains(&dim));
    ensure(fits, || {
        format!(
            "`{name}` must have some of {}, in order",
            plural(shape.len(), "dimension")
        )
    })
}

/// Dimensions of a tensor in tiles, which are the last dimensions of another one.
fn packed(op: OpView<'_>, whole: Option<Type>, tiled: Option<Type>) -> Checked {
    let (Some((whole, _)), Some((tiled, _))) = (shape(op, whole), shape(op, tiled)) else {
        return Ok(());
    };
    let (Some(dims), Some(tiles)) = (ints(op, "inner_dims_pos"), ints(op, "static_inner_tiles")) else {
        return Ok(());
    };
    let rank = whole.len();
    let once = |list: &[i64]| list.iter().enumerate().all(|(at, dim)| !list[..at].contains(dim));
    ensure(
        once(&dims) && dims.iter().all(|&dim| (0..rank as i64).contains(&dim)),
        || {
            format!(
                "`inner_dims_pos` must have some of {}, each once",
                plural(rank, "dimension")
            )
        },
    )?;
    ensure(dims.len() == tiles.len() && tiled.len() == rank + tiles.len(), || {
        format!(
            "it needs a tile for each of {}, which are dimensions of the packed tensor",
            plural(dims.len(), "dimension")
        )
    })?;
    ensure(!tiles.contains(&0), || "a tile cannot have 0 places".to_owned())?;
    let order = ints(op, "outer_dims_perm").unwrap_or_default();
    ensure(order.is_empty() || is_permutation(&order, rank), || {
        format!("`outer_dims_perm` must have each of {} once", plural(rank, "dimension"))
    })?;
    let tiles: Vec<i64> = tiles.into_iter().map(known).collect();
    ensure(is_compatible(&tiles, &tiled[rank..]), || {
        "the packed tensor must end with the tiles".to_owned()
    })
}
