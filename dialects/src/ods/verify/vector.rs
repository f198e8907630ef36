//! `vector`: shapes and positions fit each other.

use pir_ir::{AttrData, Diagnostic, OpView, Type, TypeData, ValueId};

use super::linalg::over_loops;
use super::vector_memory::{access, gathered, loaded, scattered, stored, transfer};
use super::{Checked, attr, ensure, int, ints, is_permutation, length, plural, report, shown, without};

/// The shape of a vector, and its elements.
type Vector<'a> = (&'a [i64], Type);

pub(in crate::ods) fn verify(op: OpView<'_>, errors: &mut Vec<Diagnostic>) {
    let checked = match op.name() {
        "vector.shuffle" => shuffle(op),
        "vector.extract" => position(op, 0, op.result_type(0), "static_position"),
        "vector.insert" => position(op, 1, op.operand_type(0), "static_position"),
        "vector.broadcast" => broadcast(op),
        "vector.shape_cast" => shape_cast(op),
        "vector.transpose" => transpose(op),
        "vector.extract_strided_slice" => slice(op),
        "vector.insert_strided_slice" => placed(op),
        "vector.load" => access(op, 0, op.result_type(0), 1),
        "vector.store" => access(op, 1, op.operand_type(0), 2),
        "vector.maskedload" | "vector.expandload" => loaded(op),
        "vector.maskedstore" | "vector.compressstore" => stored(op),
        "vector.gather" => gathered(op),
        "vector.scatter" => scattered(op),
        "vector.transfer_read" => transfer(op, false),
        "vector.transfer_write" => transfer(op, true),
        "vector.reduction" => reduction(op),
        "vector.contract" => contract(op),
        "vector.from_elements" => {
            let found = op.body.num_operands(op.op);
            let wanted = vector(op, op.result_type(0)).map(|(shape, _)| shape.iter().product::<i64>());
            ensure(wanted.is_none_or(|wanted| i64::try_from(found) == Ok(wanted)), || {
                format!(
                    "{} cannot be {}",
                    plural(found, "element"),
                    shown(op, op.result_type(0))
                )
            })
        }
        "vector.multi_reduction" => multi_reduction(op),
        "vector.outerproduct" => outer_product(op),
        "vector.extractelement" => element(op, 0, 1),
        "vector.insertelement" => element(op, 1, 2),
        "vector.create_mask" => created_mask(op),
        "vector.constant_mask" => constant_mask(op),
        "vector.bitcast" => bitcast(op),
        "vector.scan" => scan(op),
        "vector.deinterleave" => deinterleaved(op),
        "vector.fma" => ensure(op.operand_type(0).is_none_or(|ty| is_of_floats(op, ty)), || {
            format!(
                "the operands must be of floats, found {}",
                shown(op, op.operand_type(0))
            )
        }),
        "vector.splat" => {
            let of = op
                .result_type(0)
                .and_then(|ty| op.ctx.as_elements(ty))
                .map(|shaped| shaped.1);
            ensure(of == op.operand_type(0), || {
                format!(
                    "{} does not consist of {}",
                    shown(op, op.result_type(0)),
                    shown(op, op.operand_type(0))
                )
            })
        }
        _ => Ok(()),
    };
    report(op, checked, errors);
}

/// A vector of known sizes.
fn vector<'a>(op: OpView<'a>, ty: Option<Type>) -> Option<Vector<'a>> {
    match op.ctx.type_data(ty?) {
        TypeData::Vector { shape, scalable, elem } if !scalable.contains(&true) => Some((shape, *elem)),
        _ => None,
    }
}

fn shuffle(op: OpView<'_>) -> Checked {
    let (Some((a, elem)), Some((b, of_b)), Some((to, of_to))) = (
        vector(op, op.operand_type(0)),
        vector(op, op.operand_type(1)),
        vector(op, op.result_type(0)),
    ) else {
        return Ok(());
    };
    let Some(mask) = ints(op, "mask") else { return Ok(()) };
    let extent = |shape: &[i64]| shape.first().copied().unwrap_or(1);
    let most = extent(a) + extent(b);
    if let Some(wrong) = mask.iter().find(|&&at| !(0..most).contains(&at)) {
        return Err(format!("its mask must select from {most} places, found {wrong}"));
    }
    ensure(to.len() == a.len().max(1) && a.len() == b.len(), || {
        "operands and result must have the same rank".to_owned()
    })?;
    ensure(to.first().copied() == i64::try_from(mask.len()).ok(), || {
        let found = shown(op, op.result_type(0));
        format!(
            "its mask selects {}, and its result is {found}",
            plural(mask.len(), "place")
        )
    })?;
    let inner = |shape: &[i64]| shape.get(1..).map(<[i64]>::to_vec).unwrap_or_default();
    ensure(
        elem == of_b && elem == of_to && inner(a) == inner(b) && inner(a) == inner(to),
        || "the operands and the result must have the same elements and inner dimensions".to_owned(),
    )
}

/// A part of the vector `of` at a place, of the type `part`.
fn position(op: OpView<'_>, of: usize, part: Option<Type>, name: &str) -> Checked {
    let Some((shape, elem)) = vector(op, op.operand_type(of)) else {
        return Ok(());
    };
    let Some(places) = ints(op, name) else { return Ok(()) };
    ensure(places.len() <= shape.len(), || {
        format!(
            "the vector has {}, found {}",
            plural(shape.len(), "dimension"),
            plural(places.len(), "position")
        )
    })?;
    for (at, (&place, &extent)) in places.iter().zip(shape).enumerate() {
        // The smallest integer marks a dynamic operand.
        ensure(place == i64::MIN || (0..extent).contains(&place), || {
            format!("position {at} must be below {extent}, found {place}")
        })?;
    }
    let rest = &shape[places.len()..];
    let fits = match vector(op, part) {
        Some((found, inner)) => found == rest && inner == elem || found == [1] && rest.is_empty() && inner == elem,
        None => rest.is_empty() && part == Some(elem) || has_unknown_size(op, part),
    };
    ensure(fits, || {
        format!(
            "the part at {} cannot be {}",
            plural(places.len(), "position"),
            shown(op, part)
        )
    })
}

fn has_unknown_size(op: OpView<'_>, ty: Option<Type>) -> bool {
    ty.is_some_and(|ty| matches!(op.ctx.type_data(ty), TypeData::Vector { scalable, .. } if scalable.contains(&true)))
}

fn broadcast(op: OpView<'_>) -> Checked {
    let Some((to, elem)) = vector(op, op.result_type(0)) else {
        return Ok(());
    };
    let from = op.operand_type(0);
    if has_unknown_size(op, from) {
        return Ok(());
    }
    let (shape, of) = vector(op, from).unwrap_or((&[], from.unwrap_or(elem)));
    let fits = shape.len() <= to.len()
        && shape
            .iter()
            .rev()
            .zip(to.iter().rev())
            .all(|(&from, &to)| from == to || from == 1);
    ensure(of == elem && fits, || {
        format!(
            "{} cannot be broadcast to {}",
            shown(op, from),
            shown(op, op.result_type(0))
        )
    })
}

fn shape_cast(op: OpView<'_>) -> Checked {
    let (Some((from, elem)), Some((to, of_to))) = (vector(op, op.operand_type(0)), vector(op, op.result_type(0)))
    else {
        return Ok(());
    };
    let count = |shape: &[i64]| shape.iter().try_fold(1i64, |count, &extent| count.checked_mul(extent));
    ensure(elem == of_to && count(from) == count(to), || {
        let (from, to) = (shown(op, op.operand_type(0)), shown(op, op.result_type(0)));
        format!("{from} and {to} must have the same number of the same elements")
    })
}

fn transpose(op: OpView<'_>) -> Checked {
    let (Some((from, elem)), Some((to, of_to))) = (vector(op, op.operand_type(0)), vector(op, op.result_type(0)))
    else {
        return Ok(());
    };
    let Some(order) = ints(op, "permutation") else {
        return Ok(());
    };
    ensure(is_permutation(&order, from.len()), || {
        format!(
            "its permutation must have each of {} once",
            plural(from.len(), "dimension")
        )
    })?;
    let made = order
        .iter()
        .filter_map(|&at| from.get(usize::try_from(at).ok()?).copied());
    ensure(elem == of_to && made.eq(to.iter().copied()), || {
        format!("its result cannot be {}", shown(op, op.result_type(0)))
    })
}

fn slice(op: OpView<'_>) -> Checked {
    let (Some((from, elem)), Some((to, of_to))) = (vector(op, op.operand_type(0)), vector(op, op.result_type(0)))
    else {
        return Ok(());
    };
    let (Some(offsets), Some(sizes), Some(strides)) = (ints(op, "offsets"), ints(op, "sizes"), ints(op, "strides"))
    else {
        return Ok(());
    };
    ensure(
        offsets.len() == sizes.len() && sizes.len() == strides.len() && sizes.len() <= from.len(),
        || "it needs an offset, a size and a stride for each of the first dimensions".to_owned(),
    )?;
    for (at, ((&offset, &size), &stride)) in offsets.iter().zip(&sizes).zip(&strides).enumerate() {
        let extent = from[at];
        ensure(stride == 1, || format!("stride {at} must be 1, found {stride}"))?;
        ensure(
            (0..extent).contains(&offset) && size >= 1 && offset.saturating_add(size) <= extent,
            || format!("offset {offset} and size {size} do not fit dimension {at}, which has {extent} places"),
        )?;
    }
    let made = sizes.iter().chain(&from[sizes.len()..]);
    ensure(elem == of_to && made.eq(to), || {
        format!("its result cannot be {}", shown(op, op.result_type(0)))
    })
}

fn reduction(op: OpView<'_>) -> Checked {
    let Some((shape, elem)) = vector(op, op.operand_type(0)) else {
        return Ok(());
    };
    ensure(shape.len() <= 1, || {
        format!("the vector must have at most 1 dimension, found {}", shape.len())
    })?;
    ensure(op.result_type(0) == Some(elem), || {
        format!("its result must be an element, found {}", shown(op, op.result_type(0)))
    })
}

fn is_of_floats(op: OpView<'_>, ty: Type) -> bool {
    matches!(op.ctx.type_data(ty), TypeData::Vector { elem, .. } if op.ctx.is_float(*elem))
}

/// Vectors of the same shape, be their sizes known or not.
pub(super) fn same_shape(op: OpView<'_>, a: Option<Type>, b: Option<Type>, names: &str) -> Checked {
    let parts = |ty: Option<Type>| match op.ctx.type_data(ty?) {
        TypeData::Vector { shape, scalable, .. } => Some((shape, scalable)),
        _ => None,
    };
    ensure(parts(a) == parts(b), || {
        format!(
            "{names} must have the same shape, found {} and {}",
            shown(op, a),
            shown(op, b)
        )
    })
}

fn placed(op: OpView<'_>) -> Checked {
    let (Some((from, elem)), Some((to, of))) = (vector(op, op.operand_type(0)), vector(op, op.operand_type(1))) else {
        return Ok(());
    };
    let (Some(offsets), Some(strides)) = (ints(op, "offsets"), ints(op, "strides")) else {
        return Ok(());
    };
    ensure(elem == of && from.len() <= to.len(), || {
        format!(
            "{} is no part of {}",
            shown(op, op.operand_type(0)),
            shown(op, op.operand_type(1))
        )
    })?;
    ensure(offsets.len() == to.len() && strides.len() == from.len(), || {
        format!(
            "it needs {} and {}",
            plural(to.len(), "offset"),
            plural(from.len(), "stride")
        )
    })?;
    ensure(strides.iter().all(|&stride| stride == 1), || {
        "strides must be 1".to_owned()
    })?;
    let before = to.len() - from.len();
    for (at, (&offset, &extent)) in offsets.iter().zip(to).enumerate() {
        let size = at.checked_sub(before).map_or(1, |at| from[at]);
        ensure(
            (0..extent).contains(&offset) && offset.saturating_add(size) <= extent,
            || format!("offset {offset} and size {size} do not fit dimension {at}, which has {extent} places"),
        )?;
    }
    Ok(())
}

/// A product summed over some loops: left and right, and what is added to, with a map each.
fn contract(op: OpView<'_>) -> Checked {
    let operands: Vec<ValueId> = op.body.operands(op.op).take(3).collect();
    let (Some(AttrData::Array(maps)), Some(loops)) = (attr(op, "indexing_maps"), length(op, "iterator_types")) else {
        return Ok(());
    };
    ensure(maps.len() == 3 && operands.len() == 3, || {
        format!("it needs 3 maps for 3 operands, found {}", maps.len())
    })?;
    let elem = |at: usize| vector(op, op.operand_type(at)).map(|(_, elem)| elem);
    ensure(elem(0).is_none() || elem(1).is_none() || elem(0) == elem(1), || {
        "operands 0 and 1 must have the same elements".to_owned()
    })?;
    ensure(op.operand_type(2) == op.result_type(0), || {
        "operand 2 must have the type of the result".to_owned()
    })?;
    over_loops(op, maps, loops, &operands, |value| {
        vector(op, Some(op.body.value_type(value)))
    })
}

fn multi_reduction(op: OpView<'_>) -> Checked {
    let (Some((from, elem)), Some(dims)) = (vector(op, op.operand_type(0)), ints(op, "reduction_dims")) else {
        return Ok(());
    };
    let kept = without(from, &dims);
    let fits = match vector(op, op.result_type(0)) {
        Some((found, of)) => found == kept && of == elem,
        None => kept.is_empty() && op.result_type(0) == Some(elem),
    };
    ensure(fits, || {
        format!("its result cannot be {}", shown(op, op.result_type(0)))
    })
}

fn outer_product(op: OpView<'_>) -> Checked {
    let Some((left, elem)) = vector(op, op.operand_type(0)) else {
        return Ok(());
    };
    ensure(left.len() == 1, || "operand 0 must have 1 dimension".to_owned())?;
    let Some((to, of)) = vector(op, op.result_type(0)) else {
        return Ok(());
    };
    let wanted: Vec<i64> = match vector(op, op.operand_type(1)) {
        Some((right, _)) => {
            ensure(right.len() == 1, || "operand 1 must have 1 dimension".to_owned())?;
            vec![left[0], right[0]]
        }
        None if has_unknown_size(op, op.operand_type(1)) => return Ok(()),
        None => left.to_vec(),
    };
    ensure(to == wanted && of == elem, || {
        format!("its result cannot be {}", shown(op, op.result_type(0)))
    })?;
    ensure(
        op.operand_type(2).is_none_or(|ty| Some(ty) == op.result_type(0)),
        || "operand 2 must have the type of the result".to_owned(),
    )
}

/// An element of a vector, at a place unless there is just one.
fn element(op: OpView<'_>, of: usize, place: usize) -> Checked {
    let Some((shape, _)) = vector(op, op.operand_type(of)) else {
        return Ok(());
    };
    let has_place = op.operand_type(place).is_some();
    match shape.len() {
        0 => ensure(!has_place, || "a vector without dimensions has one place".to_owned()),
        1 => ensure(has_place, || "it needs a place".to_owned()),
        rank => Err(format!("the vector must have at most 1 dimension, found {rank}")),
    }
}

fn created_mask(op: OpView<'_>) -> Checked {
    let rank = match op.result_type(0).map(|ty| op.ctx.type_data(ty)) {
        Some(TypeData::Vector { shape, .. }) => shape.len().max(1),
        _ => return Ok(()),
    };
    let found = op.body.num_operands(op.op);
    ensure(found == rank, || {
        format!("it needs {}, found {found}", plural(rank, "operand"))
    })
}

fn constant_mask(op: OpView<'_>) -> Checked {
    let (Some((shape, _)), Some(sizes)) = (vector(op, op.result_type(0)), ints(op, "mask_dim_sizes")) else {
        return Ok(());
    };
    let shape = if shape.is_empty() { &[1][..] } else { shape };
    ensure(sizes.len() == shape.len(), || {
        format!("it needs {}, found {}", plural(shape.len(), "size"), sizes.len())
    })?;
    let fits = sizes
        .iter()
        .zip(shape)
        .all(|(&size, &extent)| (0..=extent).contains(&size));
    ensure(fits, || {
        format!("its sizes do not fit {}", shown(op, op.result_type(0)))
    })?;
    ensure(!sizes.contains(&0) || sizes.iter().all(|&size| size == 0), || {
        "if one size is 0, all must be".to_owned()
    })
}

fn bitcast(op: OpView<'_>) -> Checked {
    let (Some((from, a)), Some((to, b))) = (vector(op, op.operand_type(0)), vector(op, op.result_type(0))) else {
        return Ok(());
    };
    ensure(from.len() == to.len(), || {
        "operand and result must have the same rank".to_owned()
    })?;
    let (Some((&last, rest)), Some((&end, others))) = (from.split_last(), to.split_last()) else {
        return Ok(());
    };
    ensure(rest == others, || "only the last dimensions may differ".to_owned())?;
    let bits = |ty: Type| match op.ctx.type_data(ty) {
        TypeData::Integer { width, .. } => Some(i64::from(*width)),
        _ => Some(i64::from(ty.float_kind(op.ctx)?.bits())),
    };
    let (Some(a), Some(b)) = (bits(a), bits(b)) else {
        return Ok(());
    };
    ensure(last.saturating_mul(a) == end.saturating_mul(b), || {
        "the last dimensions must have the same bits".to_owned()
    })
}

fn scan(op: OpView<'_>) -> Checked {
    let (Some((from, elem)), Some(dim)) = (vector(op, op.operand_type(0)), int(op, "reduction_dim")) else {
        return Ok(());
    };
    let dim = usize::try_from(dim).ok().filter(|&dim| dim < from.len());
    let dim = dim.ok_or_else(|| format!("its dimension must be below {}", from.len()))?;
    let kept = without(from, &[dim as i64]);
    let fits = vector(op, op.operand_type(1)).is_none_or(|(found, of)| found == kept && of == elem);
    ensure(fits, || {
        format!("the initial value cannot be {}", shown(op, op.operand_type(1)))
    })
}

fn deinterleaved(op: OpView<'_>) -> Checked {
    let Some((from, elem)) = vector(op, op.operand_type(0)) else {
        return Ok(());
    };
    let Some((&last, rest)) = from.split_last() else {
        return Err("a vector without dimensions has no halves".to_owned());
    };
    let fits = |at: usize| {
        vector(op, op.result_type(at)).is_none_or(|(found, of)| {
            of == elem
                && found
                    .split_last()
                    .is_some_and(|(&end, others)| end * 2 == last && others == rest)
        })
    };
    ensure(last % 2 == 0 && fits(0) && fits(1), || {
        format!("its results must be the halves of {}", shown(op, op.operand_type(0)))
    })
}
