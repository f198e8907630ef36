//! Nodes that select elements by index or condition, and whose edge cases differ from those of the operations here.

use pir_dialects::pd;
use pir_ir::{DYNAMIC, Type, ValueId};

use super::reader::{Reader, Result};

/// `Select`: the condition has the shape of the operands, or is a scalar, or selects rows.
pub(super) fn select(r: &mut Reader<'_>, at: usize) -> Result<()> {
    let [condition, x, y] = [r.operand(at, 0)?, r.operand(at, 1)?, r.operand(at, 2)?];
    let (given, wanted) = (r.dims(condition)?.0, r.dims(x)?.0);
    let condition = match (given.len(), wanted.len()) {
        // A condition over rows: all axes after the first have extent 1.
        (1, 2..) => {
            let behind: Vec<i64> = (1..wanted.len() as i64).collect();
            r.helper(
                at,
                pd::Unsqueeze::NAME,
                &[condition],
                &[("axis", r.ctx.ints_attr(&behind))],
            )?
        }
        (0, _) => condition,
        (a, b) if a == b => condition,
        _ => return Err("its condition must have the shape of the other inputs, or select rows".to_owned()),
    };
    if r.dims(y)?.0.len() != wanted.len() {
        return Err("its inputs have different ranks".to_owned());
    }
    r.op(at, pd::Where::NAME, &[condition, x, y], &[])
}

/// `OneHot`: an index out of range gives a row of `off_value`.
pub(super) fn one_hot(r: &mut Reader<'_>, at: usize) -> Result<()> {
    let (mut index, depth) = (r.operand(at, 0)?, r.scalar(at, 1, "depth")?);
    let (on, off) = (r.operand(at, 2)?, r.operand(at, 3)?);
    if depth < 0 {
        return Err(format!("its depth is {depth}"));
    }
    let rank = r.dims(index)?.0.len() as i64;
    let axis = r.int(at, "axis").unwrap_or(-1);
    let place = if axis == -1 { rank } else { axis };
    if !(0..=rank).contains(&place) {
        return Err(format!(
            "its axis {axis} is out of range for its result of rank {}",
            rank + 1
        ));
    }
    index = r.of_elem(at, index, Type::I64)?;
    index = r.helper(
        at,
        pd::Unsqueeze::NAME,
        &[index],
        &[("axis", r.ctx.ints_attr(&[place]))],
    )?;
    let ends = [
        ("start", r.ctx.int_attr(0)),
        ("end", r.ctx.int_attr(depth)),
        ("step", r.ctx.int_attr(1)),
        ("dtype", r.ctx.type_attr(Type::I64)),
    ];
    let mut classes = r.helper(at, pd::Arange::NAME, &[], &ends)?;
    let behind: Vec<i64> = (1..=rank - place).collect();
    if !behind.is_empty() {
        classes = r.helper(
            at,
            pd::Unsqueeze::NAME,
            &[classes],
            &[("axis", r.ctx.ints_attr(&behind))],
        )?;
    }
    let here = r.helper(at, pd::Equal::NAME, &[index, classes], &[])?;
    r.op(at, pd::Where::NAME, &[here, on, off], &[])
}

/// `UnsortedSegmentSum`: adds each row to the segment of its index, of `count`; negative indices are dropped.
pub(super) fn segment_sum(r: &mut Reader<'_>, at: usize, count: i64) -> Result<()> {
    let (mut data, mut index) = (r.operand(at, 0)?, r.operand(at, 1)?);
    let (dims, rows) = (r.dims(data)?.0, r.dims(index)?.0);
    let fits = |(a, b): (&i64, &i64)| a == b || *a == DYNAMIC || *b == DYNAMIC;
    if count < 0 || rows.len() > dims.len() || !dims.iter().zip(&rows).all(fits) {
        return Err("its segment numbers do not match the summed tensor".to_owned());
    }
    let rest: Vec<i64> = dims.get(rows.len()..).unwrap_or_default().to_vec();
    // One index per row.
    if rows.len() != 1 {
        if rest.contains(&DYNAMIC) {
            return Err("the shape of the summed tensor is unknown".to_owned());
        }
        let total = rows.iter().try_fold(1i64, |n, &d| (d >= 0).then(|| n.checked_mul(d))?);
        let flat = [&[total.unwrap_or(-1)][..], &rest].concat();
        if total.is_none() && rest.contains(&0) {
            return Err("the shape of the summed tensor is unknown".to_owned());
        }
        data = reshaped(r, at, data, &flat)?;
        index = reshaped(r, at, index, &flat[..1])?;
    }
    let known = r
        .constant(at, 1)
        .map(|(_, numbers, _)| !numbers.is_empty() && numbers.iter().all(|n| n.f64() >= 0.0));
    if known != Some(true) {
        let zero_index = like(r, at, index, 0.0)?;
        let kept = r.helper(at, pd::GreaterEqual::NAME, &[index, zero_index], &[])?;
        index = r.helper(at, pd::Where::NAME, &[kept, index, zero_index], &[])?;
        let behind: Vec<i64> = (1..=rest.len() as i64).collect();
        let mask = match behind.is_empty() {
            true => kept,
            false => r.helper(at, pd::Unsqueeze::NAME, &[kept], &[("axis", r.ctx.ints_attr(&behind))])?,
        };
        let zeros = like(r, at, data, 0.0)?;
        data = r.helper(at, pd::Where::NAME, &[mask, data, zeros], &[])?;
    }
    let shape = [&[count][..], &rest].concat();
    if shape.contains(&DYNAMIC) {
        return Err("the shape of the summed tensor is unknown".to_owned());
    }
    let attrs = [("axis", r.ctx.int_attr(0)), ("x_shape", r.ctx.ints_attr(&shape))];
    r.op(at, pd::GatherGrad::NAME, &[index, data], &attrs)
}

/// Reshapes to a shape with at most one dynamic dimension.
fn reshaped(r: &mut Reader<'_>, at: usize, x: ValueId, dims: &[i64]) -> Result<ValueId> {
    r.helper(at, pd::Reshape::NAME, &[x], &[("shape", r.ctx.ints_attr(dims))])
}

/// A tensor of the shape of another one, filled with one number.
pub(super) fn like(r: &mut Reader<'_>, at: usize, x: ValueId, value: f64) -> Result<ValueId> {
    let (_, elem) = r.dims(x)?;
    let attrs = [
        ("value", super::row::number_of(r.ctx, elem, value)),
        ("dtype", r.ctx.type_attr(elem)),
    ];
    r.helper(at, pd::FullLike::NAME, &[x], &attrs)
}

/// `Reshape`. A dimension of 0 is an extent of 0 in TensorFlow; in `pd.reshape` it copies the extent of the input.
pub(super) fn reshape(r: &mut Reader<'_>, at: usize) -> Result<()> {
    let x = r.operand(at, 0)?;
    let Some(mut wanted) = r.known(at, 1) else {
        return super::const_operands::with_shape(r, at, pd::Reshape::NAME, x, 1);
    };
    let (dims, elem) = r.dims(x)?;
    if !wanted.contains(&0) {
        return r.op(at, pd::Reshape::NAME, &[x], &[("shape", r.ctx.ints_attr(&wanted))]);
    }
    // The tensor is empty: an inferred extent is 0 too.
    if dims.contains(&DYNAMIC) || !dims.contains(&0) {
        return Err(format!("its input is not empty, but its shape {wanted:?} is"));
    }
    for dim in &mut wanted {
        *dim = if *dim == -1 { 0 } else { *dim };
    }
    let attrs = [
        ("shape", r.ctx.ints_attr(&wanted)),
        ("value", super::row::number_of(r.ctx, elem, 0.0)),
        ("dtype", r.ctx.type_attr(elem)),
    ];
    r.op(at, pd::Full::NAME, &[], &attrs)
}

/// `Mean` of integers: the 64-bit sum, divided and truncated.
pub(super) fn whole_mean(r: &mut Reader<'_>, at: usize, x: ValueId, axes: &[i64]) -> Result<()> {
    let (dims, elem) = r.dims(x)?;
    let mut count = 1i64;
    for &axis in axes {
        let place = usize::try_from(axis.rem_euclid(dims.len().max(1) as i64)).unwrap_or(0);
        let extent = dims.get(place).copied().filter(|&d| d >= 0);
        count = extent
            .and_then(|d| count.checked_mul(d))
            .ok_or("the number of averaged integers must be static")?;
    }
    if count == 0 {
        return Err("the mean of an empty set of integers is undefined".to_owned());
    }
    let keep = r.ctx.bool_attr(r.flag(at, "keep_dims"));
    let wide = ("dtype", r.ctx.type_attr(Type::I64));
    let attrs = [("axis", r.ctx.ints_attr(axes)), ("keepdim", keep), wide];
    let sum = r.helper(at, pd::Sum::NAME, &[x], &attrs)?;
    let count = r.helper(
        at,
        pd::FullLike::NAME,
        &[sum],
        &[("value", r.ctx.int_attr(count)), wide],
    )?;
    if elem == Type::I64 {
        return r.op(at, pd::Divide::NAME, &[sum, count], &[]);
    }
    let mean = r.helper(at, pd::Divide::NAME, &[sum, count], &[])?;
    r.op(at, pd::Cast::NAME, &[mean], &[("dtype", r.ctx.type_attr(elem))])
}

/// `GatherV2`: slices at indices of any shape, whose dimensions replace the axis.
pub(super) fn gather(r: &mut Reader<'_>, at: usize) -> Result<()> {
    if let Some(batch) = r.int(at, "batch_dims").filter(|&n| n != 0) {
        return gather_in_batches(r, at, batch);
    }
    let (x, index, axis) = (r.operand(at, 0)?, r.operand(at, 1)?, r.scalar(at, 2, "axis")?);
    gather_rows(r, at, x, index, axis)
}

/// Slices along an axis, at indices of any shape.
pub(super) fn gather_rows(r: &mut Reader<'_>, at: usize, x: ValueId, index: ValueId, axis: i64) -> Result<()> {
    let (dims, places) = (r.dims(x)?.0, r.dims(index)?.0);
    let rank = dims.len() as i64;
    if !(-rank..rank).contains(&axis) {
        return Err(format!("its axis {axis} is out of range for its input of rank {rank}"));
    }
    let axis = if axis < 0 { axis + rank } else { axis };
    let attrs = [("axis", r.ctx.int_attr(axis))];
    if places.len() == 1 {
        return r.op(at, pd::Gather::NAME, &[x, index], &attrs);
    }
    let place = usize::try_from(axis).unwrap_or(0);
    let (before, behind) = dims.split_at(place.min(dims.len()));
    let shape = [before, &places, behind.get(1..).unwrap_or_default()].concat();
    let unknown = shape.iter().filter(|&&d| d < 0).count();
    if unknown > 1 || shape.contains(&0) {
        return Err("the shape of its result is unknown or empty".to_owned());
    }
    let flat = reshaped(r, at, index, &[-1])?;
    let rows = r.helper(at, pd::Gather::NAME, &[x, flat], &attrs)?;
    let shape: Vec<i64> = shape.iter().map(|&d| d.max(-1)).collect();
    r.op(at, pd::Reshape::NAME, &[rows], &[("shape", r.ctx.ints_attr(&shape))])
}

/// `GatherV2` with batch dimensions: the concatenated batches form one list of slices.
fn gather_in_batches(r: &mut Reader<'_>, at: usize, batch: i64) -> Result<()> {
    let (x, index, axis) = (r.operand(at, 0)?, r.operand(at, 1)?, r.scalar(at, 2, "axis")?);
    let ((dims, _), (places, kind)) = (r.dims(x)?, r.dims(index)?);
    let count = if batch < 0 { batch + places.len() as i64 } else { batch };
    let axis = if axis < 0 { axis + dims.len() as i64 } else { axis };
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    if count >= dims.len() || count > places.len() || usize::try_from(axis) != Ok(count) {
        return Err("only the axis after the batch dimensions is supported".to_owned());
    }
    let product = |dims: &[i64]| dims.iter().try_fold(1i64, |n, &d| n.checked_mul(d));
    let known = dims.iter().chain(&places).all(|&d| d > 0);
    let (Some(batches), Some(each), true) = (product(&dims[..count]), product(&places[count..]), known) else {
        return Err("the shape of its result is unknown or empty".to_owned());
    };
    let extent = dims[count];
    let rows = batches.checked_mul(extent).ok_or("its extents are too large")?;
    let flat = reshaped(r, at, x, &[&[rows][..], &dims[count + 1..]].concat())?;
    let index = reshaped(r, at, index, &[batches, each])?;
    let starts = [
        ("start", r.ctx.int_attr(0)),
        ("end", r.ctx.int_attr(rows)),
        ("step", r.ctx.int_attr(extent)),
        ("dtype", r.ctx.type_attr(kind)),
    ];
    let starts = r.helper(at, pd::Arange::NAME, &[], &starts)?;
    let starts = reshaped(r, at, starts, &[batches, 1])?;
    let index = r.helper(at, pd::Add::NAME, &[index, starts], &[])?;
    let index = reshaped(r, at, index, &[-1])?;
    let found = r.helper(at, pd::Gather::NAME, &[flat, index], &[("axis", r.ctx.int_attr(0))])?;
    let shape = [&places[..], &dims[count + 1..]].concat();
    r.op(at, pd::Reshape::NAME, &[found], &[("shape", r.ctx.ints_attr(&shape))])
}

/// `Relu6`, also of integers.
pub(super) fn relu6(r: &mut Reader<'_>, at: usize) -> Result<()> {
    let x = r.operand(at, 0)?;
    let (_, elem) = r.dims(x)?;
    if r.ctx.is_float(elem) {
        return r.op(at, pd::Relu6::NAME, &[x], &[]);
    }
    let (zero, six) = (like(r, at, x, 0.0)?, like(r, at, x, 6.0)?);
    let above = r.helper(at, pd::Maximum::NAME, &[x, zero], &[])?;
    r.op(at, pd::Minimum::NAME, &[above, six], &[])
}

/// `Maximum` and `Minimum`: of equal floats, the first one has the derivative. `pd.maximum` shares it.
pub(super) fn extremum(r: &mut Reader<'_>, at: usize, greatest: bool) -> Result<()> {
    let operands = r.operands(at, 2)?;
    let (x, y) = (operands[0], operands[1]);
    let (_, elem) = r.dims(x)?;
    if !r.ctx.is_float(elem) {
        let name = if greatest { pd::Maximum::NAME } else { pd::Minimum::NAME };
        return r.op(at, name, &operands, &[]);
    }
    let is_number = |r: &Reader<'_>, index| {
        let constant = r.constant(at, index);
        constant.is_some_and(|(_, numbers, _)| numbers.iter().all(|n| !n.f64().is_nan()))
    };
    // A NaN wins, whichever it is.
    if is_number(r, 1) {
        let second = if greatest {
            pd::LessThan::NAME
        } else {
            pd::GreaterThan::NAME
        };
        let second = r.helper(at, second, &[x, y], &[])?;
        return r.op(at, pd::Where::NAME, &[second, y, x], &[]);
    }
    let first = if greatest {
        pd::GreaterEqual::NAME
    } else {
        pd::LessEqual::NAME
    };
    let mut first = r.helper(at, first, &[x, y], &[])?;
    if !is_number(r, 0) {
        let none = r.helper(at, pd::Isnan::NAME, &[x], &[])?;
        first = r.helper(at, pd::LogicalOr::NAME, &[first, none], &[])?;
    }
    r.op(at, pd::Where::NAME, &[first, x, y], &[])
}

/// The constants of `Selu`.
pub(super) const SCALE: f64 = 1.050_700_987_355_480_5;
pub(super) const ALPHA: f64 = 1.673_263_242_354_377_2;

/// `Selu`, whose derivative at zero is that from above.
pub(super) fn selu(r: &mut Reader<'_>, at: usize) -> Result<()> {
    let x = r.operand(at, 0)?;
    let zero = like(r, at, x, 0.0)?;
    let scaled = |r: &mut Reader<'_>, x, factor: f64| {
        let attrs = [("scale", r.ctx.float_attr(factor)), ("bias", r.ctx.float_attr(0.0))];
        r.helper(at, pd::Scale::NAME, &[x], &attrs)
    };
    let below = r.helper(at, pd::LessThan::NAME, &[x, zero], &[])?;
    // Unselected values must be finite.
    let low = r.helper(at, pd::Where::NAME, &[below, x, zero], &[])?;
    let power = r.helper(at, pd::Expm1::NAME, &[low], &[])?;
    let (low, high) = (scaled(r, power, SCALE * ALPHA)?, scaled(r, x, SCALE)?);
    r.op(at, pd::Where::NAME, &[below, low, high], &[])
}
