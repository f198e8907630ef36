//! `StridedSlice` in full: ellipses, new axes, single elements, strides in both directions, and bounds some of which
//! are computed.

use pir_dialects::pd;
use pir_ir::{DYNAMIC, Type, ValueId};

use super::reader::{Reader, Result};

/// The selection from one axis of the input.
struct Taken {
    axis: i64,
    start: i64,
    end: i64,
    stride: i64,
    single: bool,
}

/// A description of the slice, axis by axis.
#[derive(Default)]
struct Plan {
    taken: Vec<Taken>,
    /// The axes of the result that are new.
    new: Vec<i64>,
}

/// A longer part is not read by the places of its elements.
const MOST: i64 = 1 << 16;

fn mask(r: &Reader<'_>, at: usize, name: &str) -> i64 {
    r.int(at, name).unwrap_or(0)
}

/// The masks of a slice, as attributes of its signature.
pub(super) const MASKS: &str = "begin_mask=0 end_mask=0 ellipsis_mask=0 new_axis_mask=0 shrink_axis_mask=0";

/// Whether a slice needs what is here.
pub(super) fn is_general(r: &Reader<'_>, at: usize) -> bool {
    let strides = r.known(at, 3).unwrap_or_default();
    let whole = mask(r, at, "begin_mask") | mask(r, at, "end_mask");
    let shrink = mask(r, at, "shrink_axis_mask");
    mask(r, at, "new_axis_mask") | mask(r, at, "ellipsis_mask") != 0
        || strides.iter().any(|&s| s < 0) && whole != 0
        || strides.iter().any(|&s| s != 1) && shrink != 0
}

/// Reads the slice.
pub(super) fn read(r: &mut Reader<'_>, at: usize, x: ValueId) -> Result<()> {
    let (dims, _) = r.dims(x)?;
    let plan = plan(r, at, &dims)?;
    let mut value = x;
    for taken in plan.taken.iter().filter(|t| !t.single) {
        let extent = dims[taken.axis as usize];
        if (taken.start, taken.end, taken.stride) == (0, extent, 1) {
            continue;
        }
        value = take(r, at, value, taken)?;
    }
    let single: Vec<&Taken> = plan.taken.iter().filter(|t| t.single).collect();
    if !single.is_empty() {
        let of = |f: fn(&Taken) -> i64| single.iter().map(|t| f(t)).collect::<Vec<i64>>();
        let attrs = [
            ("axes", r.ctx.ints_attr(&of(|t| t.axis))),
            ("starts", r.ctx.ints_attr(&of(|t| t.start))),
            ("ends", r.ctx.ints_attr(&of(|t| t.start + 1))),
            ("decrease_axis", r.ctx.ints_attr(&of(|t| t.axis))),
        ];
        value = r.helper(at, pd::Slice::NAME, &[value], &attrs)?;
    }
    match plan.new.is_empty() {
        true => r.op(at, pd::Assign::NAME, &[value], &[]),
        false => r.op(
            at,
            pd::Unsqueeze::NAME,
            &[value],
            &[("axis", r.ctx.ints_attr(&plan.new))],
        ),
    }
}

/// A stretch of one axis.
fn take(r: &mut Reader<'_>, at: usize, value: ValueId, taken: &Taken) -> Result<ValueId> {
    let one = |v: i64| r.ctx.ints_attr(&[v]);
    if taken.stride > 0 {
        let attrs = [
            ("axes", one(taken.axis)),
            ("starts", one(taken.start)),
            ("ends", one(taken.end.max(taken.start))),
            ("strides", one(taken.stride)),
        ];
        return r.helper(at, pd::StridedSlice::NAME, &[value], &attrs);
    }
    let mut places = Vec::new();
    let mut next = taken.start;
    while next > taken.end {
        places.push(next);
        next += taken.stride;
    }
    let index = [
        ("value", r.ctx.ints_attr(&places)),
        ("dtype", r.ctx.type_attr(Type::I64)),
    ];
    let index = r.helper(at, pd::FullIntArray::NAME, &[], &index)?;
    r.helper(
        at,
        pd::Gather::NAME,
        &[value, index],
        &[("axis", r.ctx.int_attr(taken.axis))],
    )
}

fn plan(r: &Reader<'_>, at: usize, dims: &[i64]) -> Result<Plan> {
    let (starts, ends, strides) = (
        r.list(at, 1, "bounds")?,
        r.list(at, 2, "bounds")?,
        r.list(at, 3, "strides")?,
    );
    let masks = [
        "begin_mask",
        "end_mask",
        "shrink_axis_mask",
        "new_axis_mask",
        "ellipsis_mask",
    ]
    .map(|m| mask(r, at, m));
    let has = |which: usize, entry: usize| entry < 63 && masks[which] >> entry & 1 == 1;
    let count = starts.len();
    if ends.len() != count || strides.len() != count || count > 62 {
        return Err("its bounds differ in length".to_owned());
    }
    let named = (0..count).filter(|&i| !has(3, i) && !has(4, i)).count();
    let rest = dims
        .len()
        .checked_sub(named)
        .ok_or("it has more bounds than its input has dimensions")?;
    let (mut axis, mut out) = (0usize, 0i64);
    let mut plan = Plan::default();
    for entry in 0..count {
        if has(4, entry) {
            axis += rest;
            out += rest as i64;
        } else if has(3, entry) {
            plan.new.push(out);
            out += 1;
        } else {
            let extent = dims
                .get(axis)
                .copied()
                .filter(|&d| d >= 0)
                .ok_or("the shape of its input must be static")?;
            let taken = bounds(
                axis,
                extent,
                [starts[entry], ends[entry], strides[entry]],
                [has(0, entry), has(1, entry), has(2, entry)],
            )?;
            out += i64::from(!taken.single);
            plan.taken.push(taken);
            axis += 1;
        }
    }
    Ok(plan)
}

/// The stretch of one axis, with all numbers in range.
fn bounds(axis: usize, extent: i64, [start, end, stride]: [i64; 3], [first, last, single]: [bool; 3]) -> Result<Taken> {
    let axis = axis as i64;
    let place = |v: i64| if v < 0 { v.saturating_add(extent) } else { v };
    if single {
        let start = place(start);
        return match (0..extent).contains(&start) {
            true => Ok(Taken {
                axis,
                start,
                end: start + 1,
                stride: 1,
                single,
            }),
            false => Err(format!("its index {start} is out of range")),
        };
    }
    let (low, high) = match stride {
        1.. => (0, extent),
        0 => return Err("a stride of 0".to_owned()),
        _ => (-1, extent - 1),
    };
    let (from, to) = if stride > 0 { (low, high) } else { (high, low) };
    let start = if first { from } else { place(start).clamp(low, high) };
    let end = if last { to } else { place(end).clamp(low, high) };
    Ok(Taken {
        axis,
        start,
        end,
        stride,
        single,
    })
}

/// A bound: a number, or what gives one.
#[derive(Clone, Copy)]
pub(super) enum Bound {
    Known(i64),
    Computed(ValueId),
}

/// The bounds in an input, one for each axis that is named.
fn bounds_of(r: &mut Reader<'_>, at: usize, index: usize, count: usize) -> Result<Vec<Bound>> {
    if let Some(known) = r.known(at, index) {
        return Ok(known.into_iter().map(Bound::Known).collect());
    }
    let from = r.input(at, index)?.node;
    if r.is(from, &["Pack"]) && r.num_inputs(from) == count {
        let parts = r.inputs[from].clone();
        let one = |r: &mut Reader<'_>, part| {
            let known = r.computed(part).and_then(|c| super::reader::whole_numbers(c));
            match known.as_deref() {
                Some(&[value]) => Ok(Bound::Known(value)),
                _ => Ok(Bound::Computed(r.value(part)?)),
            }
        };
        return parts.into_iter().map(|part| one(r, part)).collect();
    }
    let all = r.operand(at, index)?;
    let one = |r: &mut Reader<'_>, entry: usize| {
        let attrs = [
            ("axes", r.ctx.ints_attr(&[0])),
            ("starts", r.ctx.ints_attr(&[entry as i64])),
            ("ends", r.ctx.ints_attr(&[entry as i64 + 1])),
            ("decrease_axis", r.ctx.ints_attr(&[0])),
        ];
        Ok(Bound::Computed(r.helper(at, pd::Slice::NAME, &[all], &attrs)?))
    };
    (0..count).map(|entry| one(r, entry)).collect()
}

/// Reads a slice some of whose bounds are computed, axis by axis.
pub(super) fn read_computed(r: &mut Reader<'_>, at: usize, x: ValueId) -> Result<()> {
    let (dims, _) = r.dims(x)?;
    let strides = r.list(at, 3, "strides")?;
    let count = strides.len();
    let (starts, ends) = (bounds_of(r, at, 1, count)?, bounds_of(r, at, 2, count)?);
    if starts.len() != count || ends.len() != count || count > 62 {
        return Err("its bounds differ in length".to_owned());
    }
    let has = |r: &Reader<'_>, name: &str, entry: usize| mask(r, at, name) >> entry & 1 == 1;
    let is_named = |r: &Reader<'_>, e: &usize| !has(r, "new_axis_mask", *e) && !has(r, "ellipsis_mask", *e);
    let named = (0..count).filter(|e| is_named(r, e)).count();
    let rest = dims
        .len()
        .checked_sub(named)
        .ok_or("it has more bounds than its input has dimensions")?;
    let (mut value, mut axis, mut out, mut new) = (x, 0i64, 0i64, Vec::new());
    for entry in 0..count {
        if has(r, "ellipsis_mask", entry) {
            (axis, out) = (axis + rest as i64, out + rest as i64);
            continue;
        }
        if has(r, "new_axis_mask", entry) {
            new.push(out);
            out += 1;
            continue;
        }
        // Axes in front of this one that are gone.
        if has(r, "shrink_axis_mask", entry) {
            value = element(r, at, value, axis, starts[entry])?;
            continue;
        }
        let start = if has(r, "begin_mask", entry) {
            Bound::Known(0)
        } else {
            starts[entry]
        };
        let end = if has(r, "end_mask", entry) {
            Bound::Known(i64::from(i32::MAX))
        } else {
            ends[entry]
        };
        value = match (strides[entry], start, end) {
            (1, ..) => stretch(r, at, value, axis, start, end)?,
            // The bounds of this axis are none of those that are computed.
            (stride, Bound::Known(start), Bound::Known(end)) => {
                let extent = usize::try_from(axis).ok().and_then(|a| dims_of_part(r, value, a));
                let extent = extent.ok_or("the shape of its input must be static")?;
                let open = ["begin_mask", "end_mask"].map(|name| has(r, name, entry));
                let taken = bounds(axis as usize, extent, [start, end, stride], [open[0], open[1], false])?;
                take(r, at, value, &taken)?
            }
            _ => return Err("strides other than 1 with computed bounds are not supported".to_owned()),
        };
        (axis, out) = (axis + 1, out + 1);
    }
    match new.is_empty() {
        true => r.op(at, pd::Assign::NAME, &[value], &[]),
        false => r.op(at, pd::Unsqueeze::NAME, &[value], &[("axis", r.ctx.ints_attr(&new))]),
    }
}

/// Zeros of a shape, with a tensor at the places that a slice reads whose bounds begin at an input: what a slice gives its gradient
/// back to.
pub(super) fn spread(r: &mut Reader<'_>, at: usize, part: ValueId, dims: &[i64], first: usize) -> Result<ValueId> {
    let strides = r.list(at, first + 2, "strides")?;
    let count = strides.len();
    let (starts, ends) = (bounds_of(r, at, first, count)?, bounds_of(r, at, first + 1, count)?);
    if starts.len() != count || ends.len() != count || count > 62 || dims.iter().any(|&d| !(0..1 << 31).contains(&d)) {
        return Err("its bounds differ in length".to_owned());
    }
    let masks = MASKS.split_whitespace().filter_map(|m| m.split('=').next());
    let masks: Vec<i64> = masks.map(|name| mask(r, at, name)).collect();
    let has = |which: usize, entry: usize| masks[which] >> entry & 1 == 1;
    let (begin, end, ellipsis, new, shrink) = (0, 1, 2, 3, 4);
    let named = (0..count).filter(|&e| !has(new, e) && !has(ellipsis, e)).count();
    let rest = dims.len().checked_sub(named);
    let rest = rest.ok_or("it has more bounds than its result has dimensions")?;
    // First it gets the axes that the slice dropped, and loses those that the slice made.
    let (mut value, mut axis, mut out) = (part, 0usize, 0usize);
    let mut entries = Vec::new();
    for entry in 0..count {
        if has(ellipsis, entry) {
            (axis, out) = (axis + rest, out + rest);
        } else if has(new, entry) {
            value = r.helper(
                at,
                pd::Squeeze::NAME,
                &[value],
                &[("axis", r.ctx.ints_attr(&[out as i64]))],
            )?;
        } else {
            if has(shrink, entry) {
                value = r.helper(
                    at,
                    pd::Unsqueeze::NAME,
                    &[value],
                    &[("axis", r.ctx.ints_attr(&[out as i64]))],
                )?;
            }
            entries.push((entry, axis));
            (axis, out) = (axis + 1, out + 1);
        }
    }
    for (entry, axis) in entries {
        let extent = dims[axis];
        let (start, stop, stride, single) = (starts[entry], ends[entry], strides[entry], has(shrink, entry));
        let open = [has(begin, entry), has(end, entry), single];
        let bound = |bound: Bound, open: bool| match (bound, open) {
            (Bound::Known(number), _) => Some(number),
            (Bound::Computed(_), true) => Some(0),
            (Bound::Computed(_), false) => None,
        };
        let known = (bound(start, open[0]), bound(stop, open[1] || single));
        let places = match known {
            (Some(start), Some(stop)) => {
                let taken = bounds(axis, extent, [start, stop, stride], open)?;
                if (taken.start, taken.end, taken.stride) == (0, extent, 1) {
                    continue;
                }
                let mut places = Vec::new();
                let mut next = taken.start;
                while if taken.stride > 0 {
                    next < taken.end
                } else {
                    next > taken.end
                } {
                    places.push(next);
                    next += taken.stride;
                }
                let numbers = [
                    ("value", r.ctx.ints_attr(&places)),
                    ("dtype", r.ctx.type_attr(Type::I64)),
                ];
                r.helper(at, pd::FullIntArray::NAME, &[], &numbers)?
            }
            _ if stride != 1 => return Err("strides other than 1 with computed bounds are not supported".to_owned()),
            _ => {
                let range = [
                    ("start", r.ctx.int_attr(0)),
                    ("end", r.ctx.int_attr(extent)),
                    ("step", r.ctx.int_attr(1)),
                    ("dtype", r.ctx.type_attr(Type::I64)),
                ];
                let all = r.helper(at, pd::Arange::NAME, &[], &range)?;
                match single {
                    true => {
                        let place = element(r, at, all, 0, start)?;
                        r.helper(at, pd::Unsqueeze::NAME, &[place], &[("axis", r.ctx.ints_attr(&[0]))])?
                    }
                    false => {
                        let start = if open[0] { Bound::Known(0) } else { start };
                        let stop = if open[1] {
                            Bound::Known(i64::from(i32::MAX))
                        } else {
                            stop
                        };
                        stretch(r, at, all, 0, start, stop)?
                    }
                }
            }
        };
        let mut shape = r.dims(value)?.0;
        *shape.get_mut(axis).ok_or("its gradient has too few dimensions")? = extent;
        let attrs = [
            ("axis", r.ctx.int_attr(axis as i64)),
            ("x_shape", r.ctx.ints_attr(&shape)),
        ];
        value = r.helper(at, pd::GatherGrad::NAME, &[places, value], &attrs)?;
    }
    Ok(value)
}

/// The static extent of an axis.
fn dims_of_part(r: &Reader<'_>, value: ValueId, axis: usize) -> Option<i64> {
    let (dims, _) = r.dims(value).ok()?;
    dims.get(axis).copied().filter(|&extent| extent >= 0)
}

/// Reads a `Slice` that begins where is computed: as many rows of each axis from there. TensorFlow refuses a place out of range.
pub(super) fn slice_computed(r: &mut Reader<'_>, at: usize, x: ValueId, sizes: &[i64]) -> Result<()> {
    let starts = bounds_of(r, at, 1, sizes.len())?;
    if starts.len() != sizes.len() || r.dims(x)?.0.len() != sizes.len() {
        return Err("its bounds differ in length".to_owned());
    }
    let mut value = x;
    for (axis, (&start, &size)) in (0i64..).zip(starts.iter().zip(sizes)) {
        value = match (start, size) {
            (Bound::Known(start), -1) => stretch(
                r,
                at,
                value,
                axis,
                Bound::Known(start),
                Bound::Known(i64::from(i32::MAX)),
            )?,
            (Bound::Known(start), size @ 0..) => stretch(
                r,
                at,
                value,
                axis,
                Bound::Known(start),
                Bound::Known(start.saturating_add(size)),
            )?,
            (_, -1) => stretch(r, at, value, axis, start, Bound::Known(i64::from(i32::MAX)))?,
            (Bound::Computed(start), size @ 0..) => {
                let rows: Vec<i64> = (0..size.min(MOST)).collect();
                if size > MOST {
                    return Err("its size exceeds the extent of its input".to_owned());
                }
                let rows = [("value", r.ctx.ints_attr(&rows)), ("dtype", r.ctx.type_attr(Type::I64))];
                let rows = r.helper(at, pd::FullIntArray::NAME, &[], &rows)?;
                let start = r.helper(at, pd::Cast::NAME, &[start], &[("dtype", r.ctx.type_attr(Type::I64))])?;
                let rows = r.helper(at, pd::Add::NAME, &[rows, start], &[])?;
                r.helper(at, pd::Gather::NAME, &[value, rows], &[("axis", r.ctx.int_attr(axis))])?
            }
            _ => return Err("its sizes must be at least -1".to_owned()),
        };
    }
    r.op(at, pd::Assign::NAME, &[value], &[])
}

/// One element of an axis, which is gone then.
fn element(r: &mut Reader<'_>, at: usize, value: ValueId, axis: i64, place: Bound) -> Result<ValueId> {
    let here = [("axis", r.ctx.ints_attr(&[axis]))];
    let index = match place {
        Bound::Known(place) => {
            let end = if place == -1 {
                i64::from(i32::MAX)
            } else {
                place.saturating_add(1)
            };
            let attrs = [
                ("axes", r.ctx.ints_attr(&[axis])),
                ("starts", r.ctx.ints_attr(&[place])),
                ("ends", r.ctx.ints_attr(&[end])),
                ("decrease_axis", r.ctx.ints_attr(&[axis])),
            ];
            return r.helper(at, pd::Slice::NAME, &[value], &attrs);
        }
        Bound::Computed(index) => index,
    };
    // Negative numbers count from the end.
    let zero = super::select::like(r, at, index, 0.0)?;
    let extent = extent(r, at, value, axis, index)?;
    let from_end = r.helper(at, pd::Add::NAME, &[index, extent], &[])?;
    let is_negative = r.helper(at, pd::LessThan::NAME, &[index, zero], &[])?;
    let index = r.helper(at, pd::Where::NAME, &[is_negative, from_end, index], &[])?;
    let index = r.helper(at, pd::Unsqueeze::NAME, &[index], &[("axis", r.ctx.ints_attr(&[0]))])?;
    let row = r.helper(at, pd::Gather::NAME, &[value, index], &[("axis", r.ctx.int_attr(axis))])?;
    r.helper(at, pd::Squeeze::NAME, &[row], &here)
}

/// The extent of an axis, of the type of an index.
fn extent(r: &mut Reader<'_>, at: usize, value: ValueId, axis: i64, index: ValueId) -> Result<ValueId> {
    let (dims, _) = r.dims(value)?;
    let known = usize::try_from(axis).ok().and_then(|a| dims.get(a)).copied();
    match known.ok_or("it has more bounds than its input has dimensions")? {
        DYNAMIC => {
            let shape = r.helper(at, pd::Shape::NAME, &[value], &[])?;
            let attrs = [
                ("axes", r.ctx.ints_attr(&[0])),
                ("starts", r.ctx.ints_attr(&[axis])),
                ("ends", r.ctx.ints_attr(&[axis + 1])),
                ("decrease_axis", r.ctx.ints_attr(&[0])),
            ];
            let extent = r.helper(at, pd::Slice::NAME, &[shape], &attrs)?;
            let (_, elem) = r.dims(index)?;
            r.helper(at, pd::Cast::NAME, &[extent], &[("dtype", r.ctx.type_attr(elem))])
        }
        extent => super::select::like(r, at, index, extent as f64),
    }
}

/// A stretch of an axis.
pub(super) fn stretch(
    r: &mut Reader<'_>,
    at: usize,
    value: ValueId,
    axis: i64,
    start: Bound,
    end: Bound,
) -> Result<ValueId> {
    let mut attrs = vec![
        ("axes", r.ctx.ints_attr(&[axis])),
        ("decrease_axis", r.ctx.ints_attr(&[])),
    ];
    if let (Bound::Known(start), Bound::Known(end)) = (start, end) {
        if (start, end) == (0, i64::from(i32::MAX)) {
            return Ok(value);
        }
        attrs.extend([("starts", r.ctx.ints_attr(&[start])), ("ends", r.ctx.ints_attr(&[end]))]);
        return r.helper(at, pd::Slice::NAME, &[value], &attrs);
    }
    let mut operands = vec![value];
    let like = match (start, end) {
        (Bound::Computed(value), _) | (_, Bound::Computed(value)) => value,
        _ => return Err("its bounds differ in length".to_owned()),
    };
    for bound in [start, end] {
        let mut bound = match bound {
            Bound::Computed(value) => value,
            Bound::Known(number) => super::select::like(r, at, like, number as f64)?,
        };
        if r.dims(bound)?.1 != Type::I64 {
            bound = r.helper(at, pd::Cast::NAME, &[bound], &[("dtype", r.ctx.type_attr(Type::I64))])?;
        }
        operands.push(r.helper(at, pd::Unsqueeze::NAME, &[bound], &[("axis", r.ctx.ints_attr(&[0]))])?);
    }
    r.helper(at, pd::Slice::NAME, &operands, &attrs)
}
