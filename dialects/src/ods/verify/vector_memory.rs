//! Operations of `vector` that read and write buffers and tensors.

use pir_ir::{AttrData, OpView, Type, TypeData};

use super::vector::same_shape;
use super::{Checked, MapText, attr, ensure, plural, segments, shown};

/// The buffer `of` is read or written as vectors.
pub(super) fn access(op: OpView<'_>, of: usize, value: Option<Type>, indices: usize) -> Checked {
    indexed(op, of, op.body.num_operands(op.op).saturating_sub(indices))?;
    of_elements(op, of, value)
}

/// An index for each dimension of the buffer `of`.
fn indexed(op: OpView<'_>, of: usize, found: usize) -> Checked {
    let rank = op
        .operand_type(of)
        .and_then(|ty| op.ctx.as_elements(ty))
        .map(|shaped| shaped.0.len());
    ensure(rank.is_none_or(|rank| rank == found), || {
        format!("it needs {}, found {found}", plural(rank.unwrap_or(0), "index"))
    })
}

fn of_elements(op: OpView<'_>, of: usize, value: Option<Type>) -> Checked {
    let (Some(buffer), Some(value)) = (op.operand_type(of), value) else {
        return Ok(());
    };
    let (TypeData::MemRef { elem, .. }, TypeData::Vector { elem: own, .. }) =
        (op.ctx.type_data(buffer), op.ctx.type_data(value))
    else {
        return Ok(());
    };
    ensure(elem == own || *elem == value, || {
        format!(
            "{} does not hold elements of {}",
            shown(op, Some(buffer)),
            shown(op, Some(value))
        )
    })
}

/// A masked load, with other elements where the mask is false. The last operands are the mask and the latter.
pub(super) fn loaded(op: OpView<'_>) -> Checked {
    let count = op.body.num_operands(op.op);
    let Some(mask) = count.checked_sub(2) else {
        return Ok(());
    };
    indexed(op, 0, mask - 1)?;
    of_elements(op, 0, op.result_type(0))?;
    same_shape(op, op.operand_type(mask), op.result_type(0), "the mask and the result")?;
    passed(op, count - 1)
}

fn passed(op: OpView<'_>, at: usize) -> Checked {
    ensure(op.operand_type(at) == op.result_type(0), || {
        format!(
            "operand {at} must have the type of the result, found {}",
            shown(op, op.operand_type(at))
        )
    })
}

pub(super) fn stored(op: OpView<'_>) -> Checked {
    let Some(value) = op.body.num_operands(op.op).checked_sub(1) else {
        return Ok(());
    };
    indexed(op, 0, value.saturating_sub(2))?;
    of_elements(op, 0, op.operand_type(value))?;
    same_shape(
        op,
        op.operand_type(value - 1),
        op.operand_type(value),
        "the mask and the value",
    )
}

pub(super) fn gathered(op: OpView<'_>) -> Checked {
    let Some(places) = op.body.num_operands(op.op).checked_sub(3) else {
        return Ok(());
    };
    indexed(op, 0, places - 1)?;
    let base = op
        .operand_type(0)
        .and_then(|ty| op.ctx.as_elements(ty))
        .map(|shaped| shaped.1);
    let elem = op
        .result_type(0)
        .and_then(|ty| op.ctx.as_elements(ty))
        .map(|shaped| shaped.1);
    ensure(base.is_none() || base == elem, || {
        "the result must have the elements of the operand".to_owned()
    })?;
    same_shape(
        op,
        op.operand_type(places),
        op.result_type(0),
        "the indices and the result",
    )?;
    same_shape(
        op,
        op.operand_type(places + 1),
        op.result_type(0),
        "the mask and the result",
    )?;
    passed(op, places + 2)
}

pub(super) fn scattered(op: OpView<'_>) -> Checked {
    let Some(places) = op.body.num_operands(op.op).checked_sub(3) else {
        return Ok(());
    };
    let value = op.operand_type(places + 2);
    indexed(op, 0, places - 1)?;
    of_elements(op, 0, value)?;
    same_shape(op, op.operand_type(places), value, "the indices and the value")?;
    same_shape(op, op.operand_type(places + 1), value, "the mask and the value")
}

/// A rectangle of a tensor or a buffer, and how its dimensions are those of a vector.
pub(super) fn transfer(op: OpView<'_>, writes: bool) -> Checked {
    let (source, value) = match writes {
        true => (op.operand_type(1), op.operand_type(0)),
        false => (op.operand_type(0), op.result_type(0)),
    };
    let (Some((shape, elem)), Some(value)) = (source.and_then(|ty| op.ctx.as_elements(ty)), value) else {
        return Ok(());
    };
    let TypeData::Vector { shape: to, .. } = op.ctx.type_data(value) else {
        return Ok(());
    };
    let indices = match segments::<4>(op) {
        Some([_, indices, ..]) if !writes => indices,
        Some([_, _, indices, _]) => indices,
        _ => return Ok(()),
    };
    ensure(indices == shape.len(), || {
        format!("it needs {}, found {indices}", plural(shape.len(), "index"))
    })?;
    let Some(map) = attr(op, "permutation_map").and_then(MapText::of) else {
        return Ok(());
    };
    ensure(map.symbols.is_empty(), || "its map must have no symbols".to_owned())?;
    let (dims, results) = (map.dims, map.results);
    ensure(dims.len() == shape.len(), || {
        format!(
            "its map must have {}, found {}",
            plural(shape.len(), "dimension"),
            dims.len()
        )
    })?;
    let inner = match op.ctx.type_data(elem) {
        TypeData::Vector { shape, .. } => shape.len(),
        _ => 0,
    };
    ensure(results.len() + inner == to.len(), || {
        format!(
            "its map must have {}, found {}",
            plural(to.len().saturating_sub(inner), "result"),
            results.len()
        )
    })?;
    let fits = results.iter().all(|result| *result == "0" || dims.contains(result));
    ensure(fits, || "each result of its map must be a dimension or 0".to_owned())?;
    let used: Vec<&&str> = results.iter().filter(|result| **result != "0").collect();
    let is_once = used.iter().enumerate().all(|(at, result)| !used[..at].contains(result));
    ensure(is_once, || "its map must have each dimension once at most".to_owned())?;
    ensure(!writes || used.len() == results.len(), || {
        "what is written cannot be broadcast".to_owned()
    })?;
    let Some(AttrData::Array(bounds)) = attr(op, "in_bounds") else {
        return Ok(());
    };
    ensure(bounds.len() == results.len(), || {
        format!(
            "`in_bounds` must have {}, found {}",
            plural(results.len(), "flag"),
            bounds.len()
        )
    })?;
    let mut both = results.iter().zip(bounds);
    let fits = both.all(|(result, &flag)| *result != "0" || matches!(op.ctx.attr_data(flag), AttrData::Bool(true)));
    ensure(fits, || "a dimension that is broadcast must be in bounds".to_owned())
}
