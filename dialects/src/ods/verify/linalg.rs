//! `linalg`: maps, shapes, blocks and yields of structured operations.

use pir_ir::text::print_type;
use pir_ir::{Attr, AttrData, DYNAMIC, Diagnostic, OpView, Type, TypeData, ValueId};
use smallvec::SmallVec;

use super::{
    Checked, MapText, attr, ensure, entry, int, ints, is_compatible, is_permutation, items, length, plural, report,
    segments, types, without,
};
use crate::mlir::lower::named::{ELEMENTWISE, NAMED};

pub(in crate::ods) fn verify(op: OpView<'_>, errors: &mut Vec<Diagnostic>) {
    let name = op.name().trim_start_matches("linalg.");
    let checked = match name {
        "generic" => generic(op),
        "map" => mapped(op),
        "reduce" => reduced(op),
        "transpose" => transposed(op),
        "broadcast" => broadcast(op),
        "index" => inside(op).and_then(|around| {
            let dim = int(op, "dim").unwrap_or(0);
            let loops = length(around, "iterator_types").filter(|_| around.name() == "linalg.generic");
            let fits = dim >= 0 && loops.is_none_or(|loops| usize::try_from(dim).is_ok_and(|dim| dim < loops));
            ensure(fits, || format!("there is no loop {dim}"))
        }),
        "yield" => inside(op).map(|_| ()),
        _ => match NAMED.iter().find(|(names, _)| names.contains(&name)) {
            Some((_, named)) => inferred(op, named.operands),
            None if ELEMENTWISE.contains(&name) => elementwise(op),
            None => Ok(()),
        },
    };
    report(op, checked, errors);
}

/// The operation of `linalg` that an operation is in.
fn inside<'a>(op: OpView<'a>) -> Result<OpView<'a>, String> {
    let around = op.body.parent_op(op.op).map(|around| op.body.view(op.ctx, around));
    let around = around.filter(|around| around.name().starts_with("linalg."));
    around.ok_or_else(|| "it must be in an operation of `linalg`".to_owned())
}

/// The operands, and how many of them are inputs: the others are written.
fn parts(op: OpView<'_>) -> Option<(SmallVec<[ValueId; 6]>, usize)> {
    let [inputs, outputs] = segments(op)?;
    let all: SmallVec<[ValueId; 6]> = op.body.operands(op.op).collect();
    (all.len() == inputs + outputs).then_some((all, inputs))
}

fn shape<'a>(op: OpView<'a>, value: ValueId) -> Option<(&'a [i64], Type)> {
    op.ctx.as_shaped(op.body.value_type(value))
}

/// The type of the elements; numbers are elements themselves.
fn elem(op: OpView<'_>, value: ValueId) -> Type {
    let ty = op.body.value_type(value);
    match op.ctx.type_data(ty) {
        TypeData::EncodedTensor { .. } | TypeData::Tensor { .. } | TypeData::MemRef { shape: Some(_), .. } => {
            op.ctx.as_elements(ty).map_or(ty, |shaped| shaped.1)
        }
        _ => ty,
    }
}

/// A result for each tensor that is written.
fn results(op: OpView<'_>, outputs: &[ValueId]) -> Checked {
    let is_tensor = |ty: Type| {
        matches!(
            op.ctx.type_data(ty),
            TypeData::Tensor { .. } | TypeData::EncodedTensor { .. }
        )
    };
    let mut tensors = types(op, outputs.iter().copied());
    tensors.retain(|ty| is_tensor(*ty));
    let found = types(op, op.body.results(op.op));
    ensure(found == tensors, || match found.len() == tensors.len() {
        true => "its results must have the types of the tensors that it writes".to_owned(),
        false => format!(
            "it writes {}, and has {}",
            plural(tensors.len(), "tensor"),
            plural(found.len(), "result")
        ),
    })
}

/// The only block takes elements of the operands, and yields those of what is written.
fn block(op: OpView<'_>, takes: &[ValueId], gives: &[ValueId]) -> Checked {
    let Some(block) = entry(op, 0) else { return Ok(()) };
    let args = types(op, op.body.block_args(block).iter().copied());
    let wanted: SmallVec<[Type; 6]> = takes.iter().map(|&value| elem(op, value)).collect();
    ensure(args == wanted, || match args.len() == wanted.len() {
        true => "the arguments of its block must be elements of the operands".to_owned(),
        false => format!(
            "its block must have {}, found {}",
            plural(wanted.len(), "argument"),
            args.len()
        ),
    })?;
    let Some(end) = op.body.last_op(block) else {
        return Ok(());
    };
    let yielded = types(op, op.body.operands(end));
    let wanted: SmallVec<[Type; 6]> = gives.iter().map(|&value| elem(op, value)).collect();
    ensure(yielded == wanted, || match yielded.len() == wanted.len() {
        true => "its block must yield elements of what is written".to_owned(),
        false => format!(
            "its block must yield {}, found {}",
            plural(wanted.len(), "value"),
            yielded.len()
        ),
    })
}

fn generic(op: OpView<'_>) -> Checked {
    let Some((all, inputs)) = parts(op) else { return Ok(()) };
    let outputs = &all[inputs..];
    let (maps, Some(loops)) = (attr(op, "indexing_maps"), length(op, "iterator_types")) else {
        return Ok(());
    };
    let maps = match maps {
        Some(AttrData::Array(maps)) => &maps[..],
        Some(AttrData::Ints(none)) if none.is_empty() => &[],
        _ => return Ok(()),
    };
    ensure(maps.len() == all.len(), || {
        format!(
            "it needs a map for each of {}, found {}",
            plural(all.len(), "operand"),
            maps.len()
        )
    })?;
    over_loops(op, maps, loops, &all, |value| shape(op, value))?;
    results(op, outputs)?;
    block(op, &all, outputs)
}

/// Each operand has the dimensions that its map specifies, of the same extents; `shape` returns those of operands that
/// are not elements.
pub(super) fn over_loops<'a>(
    op: OpView<'a>,
    maps: &[Attr],
    loops: usize,
    operands: &[ValueId],
    shape: impl Fn(ValueId) -> Option<(&'a [i64], Type)>,
) -> Checked {
    let mut extents = vec![DYNAMIC; loops];
    for (at, (&map, &value)) in maps.iter().zip(operands).enumerate() {
        let Some(map) = MapText::of(op.ctx.attr_data(map)) else {
            return Ok(());
        };
        ensure(map.symbols.is_empty(), || format!("map {at} must have no symbols"))?;
        let (dims, indices) = (map.dims, map.results);
        ensure(dims.len() == loops, || {
            format!(
                "map {at} must have {}, found {}",
                plural(loops, "dimension"),
                dims.len()
            )
        })?;
        let rank = shape(value).map_or(0, |shape| shape.0.len());
        let is_known = shape(value).is_some() || op.ctx.as_elements(op.body.value_type(value)).is_none();
        ensure(!is_known || indices.len() == rank, || {
            format!(
                "operand {at} has {}, and its map {}",
                plural(rank, "dimension"),
                plural(indices.len(), "result")
            )
        })?;
        let Some((shape, _)) = shape(value) else { continue };
        for (index, &extent) in indices.iter().zip(shape) {
            // By place: each map has names of its own. Only indices that are dimensions determine their extents.
            let Some(dim) = dims.iter().position(|dim| dim == index) else {
                continue;
            };
            same_extent(&mut extents[dim], extent, at)?;
        }
    }
    Ok(())
}

/// Keeps an extent, or fails if another one is known.
fn same_extent(known: &mut i64, extent: i64, operand: usize) -> Checked {
    if *known == DYNAMIC {
        *known = extent;
    }
    ensure(extent == DYNAMIC || *known == extent, || {
        format!("operand {operand} has an extent of {extent} where another one has {known}")
    })
}

/// A named operation, whose operands have indices that are letters, or go in steps.
fn inferred(op: OpView<'_>, indices: &[&str]) -> Checked {
    let Some((all, inputs)) = parts(op) else { return Ok(()) };
    let outputs = &all[inputs..];
    // By letters.
    let mut extents = [DYNAMIC; 256];
    for (at, (&value, &own)) in all.iter().zip(indices).enumerate() {
        let own = items(own);
        let Some((shape, _)) = shape(op, value) else { continue };
        ensure(shape.len() == own.len(), || {
            format!(
                "operand {at} must have {}, found {}",
                plural(own.len(), "dimension"),
                shape.len()
            )
        })?;
        for (index, &extent) in own.iter().zip(shape).filter(|(index, _)| !index.contains('+')) {
            let letter = index.bytes().next().unwrap_or_default();
            same_extent(&mut extents[usize::from(letter)], extent, at)?;
        }
    }
    results(op, outputs)
}

/// Operands of the same shape, or numbers.
fn elementwise(op: OpView<'_>) -> Checked {
    let Some((all, inputs)) = parts(op) else { return Ok(()) };
    let (inputs, outputs) = all.split_at(inputs);
    let whole = outputs.first().and_then(|&value| shape(op, value));
    if let Some((whole, _)) = whole {
        for (at, &value) in inputs.iter().enumerate() {
            let Some((own, _)) = shape(op, value) else { continue };
            ensure(own.is_empty() || is_compatible(own, whole), || {
                format!("operand {at} must have the shape of what is written")
            })?;
        }
    }
    results(op, outputs)
}

fn mapped(op: OpView<'_>) -> Checked {
    let all: Vec<ValueId> = op.body.operands(op.op).collect();
    let Some((&output, inputs)) = all.split_last() else {
        return Err("it needs an operand that is written".to_owned());
    };
    if let Some((whole, _)) = shape(op, output) {
        for (at, &value) in inputs.iter().enumerate() {
            let fits = shape(op, value).is_none_or(|(own, _)| is_compatible(own, whole));
            ensure(fits, || format!("operand {at} must have the shape of what is written"))?;
        }
    }
    results(op, &[output])?;
    block(op, inputs, &[output])
}

fn reduced(op: OpView<'_>) -> Checked {
    let all: Vec<ValueId> = op.body.operands(op.op).collect();
    let (inputs, outputs) = all.split_at(all.len() / 2);
    let Some(dims) = ints(op, "dimensions") else {
        return Ok(());
    };
    ensure(dims.windows(2).all(|pair| pair[0] < pair[1]), || {
        "its dimensions must be in order".to_owned()
    })?;
    for (&from, &to) in inputs.iter().zip(outputs) {
        let (Some((from, _)), Some((to, _))) = (shape(op, from), shape(op, to)) else {
            continue;
        };
        ensure(dims.iter().all(|&dim| (0..from.len() as i64).contains(&dim)), || {
            format!("its dimensions must be below {}", from.len())
        })?;
        ensure(is_compatible(&without(from, &dims), to), || {
            "what is written must have the dimensions that stay".to_owned()
        })?;
    }
    let same = |list: &[ValueId]| {
        list.windows(2)
            .all(|pair| match (shape(op, pair[0]), shape(op, pair[1])) {
                (Some((a, _)), Some((b, _))) => a == b,
                _ => true,
            })
    };
    ensure(same(inputs) && same(outputs), || {
        "all inputs, and all that is written, must have the same shape".to_owned()
    })?;
    results(op, outputs)?;
    block(op, &all, outputs)
}

/// The shapes of what is read and of what is written.
type Moved<'a> = (&'a [i64], &'a [i64]);

/// The only input and output.
fn moved(op: OpView<'_>) -> Result<Option<Moved<'_>>, String> {
    let all: Vec<ValueId> = op.body.operands(op.op).collect();
    let &[from, to] = &all[..] else {
        return Err(format!("it needs 2 operands, found {}", all.len()));
    };
    results(op, &[to])?;
    ensure(elem(op, from) == elem(op, to), || {
        format!("it moves elements of `{}`", print_type(op.ctx, elem(op, from)))
    })?;
    Ok(shape(op, from).zip(shape(op, to)).map(|(from, to)| (from.0, to.0)))
}

fn transposed(op: OpView<'_>) -> Checked {
    let Some((from, to)) = moved(op)? else { return Ok(()) };
    let Some(order) = ints(op, "permutation") else {
        return Ok(());
    };
    ensure(is_permutation(&order, from.len()), || {
        format!(
            "its permutation must have each of {} once",
            plural(from.len(), "dimension")
        )
    })?;
    let made: Vec<i64> = order.iter().map(|&at| from[at as usize]).collect();
    ensure(is_compatible(&made, to), || {
        "what is written must have the permuted shape".to_owned()
    })
}

fn broadcast(op: OpView<'_>) -> Checked {
    let Some((from, to)) = moved(op)? else { return Ok(()) };
    let Some(added) = ints(op, "dimensions") else {
        return Ok(());
    };
    ensure(added.iter().all(|&dim| (0..to.len() as i64).contains(&dim)), || {
        format!("its dimensions must be below {}", to.len())
    })?;
    ensure(is_compatible(&without(to, &added), from), || {
        "the input must have the dimensions that are not added".to_owned()
    })
}
