//! `StridedSlice` in full: ellipses, new axes, single elements, strides in both directions, and bounds some of which
//! are computed.

use pir_dialects::pd;
use pir_ir::{DYNAMIC, Type, ValueId};

use super::bounds::{Axis, Entry, Taken, bounds, entries, mask, plan};
use super::reader::{Reader, Result};

/// The places of the elements of a longer part are not listed.
const MOST: i64 = 1 << 16;

/// The numbers from one to before another, as a tensor.
fn range(r: &mut Reader<'_>, at: usize, start: i64, end: i64, step: i64) -> Result<ValueId> {
    let range = [
        ("start", r.ctx.int_attr(start)),
        ("end", r.ctx.int_attr(end)),
        ("step", r.ctx.int_attr(step)),
        ("dtype", r.ctx.type_attr(Type::I64)),
    ];
    r.helper(at, pd::Arange::NAME, &[], &range)
}

/// The places of the elements that are taken from an axis, as a tensor.
fn places(r: &mut Reader<'_>, at: usize, taken: &Taken) -> Result<ValueId> {
    let count = taken.count();
    if count > MOST {
        return range(r, at, taken.start, taken.end, taken.stride);
    }
    let places: Vec<i64> = (0..count).map(|n| taken.place(n)).collect();
    r.vector(at, &places, Type::I64)
}

/// A tensor with an axis of extent 1 more or less, by `pd.unsqueeze` or `pd.squeeze`.
fn with_axis(r: &mut Reader<'_>, at: usize, name: &str, value: ValueId, axis: usize) -> Result<ValueId> {
    let axis = [("axis", r.ctx.ints_attr(&[axis as i64]))];
    r.helper(at, name, &[value], &axis)
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
        if taken.is_whole(extent) {
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
    let index = places(r, at, taken)?;
    r.helper(
        at,
        pd::Gather::NAME,
        &[value, index],
        &[("axis", r.ctx.int_attr(taken.axis))],
    )
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

/// The bounds of an axis: what is left out is a number too.
fn ends(axis: &Axis, starts: &[Bound], ends: &[Bound]) -> [Bound; 2] {
    let bound = |open: bool, known: i64, given: &[Bound]| match open {
        true => Bound::Known(known),
        false => given[axis.entry],
    };
    [
        bound(axis.open[0], 0, starts),
        bound(axis.open[1], i64::from(i32::MAX), ends),
    ]
}

/// Reads a slice some of whose bounds are computed, axis by axis.
pub(super) fn read_computed(r: &mut Reader<'_>, at: usize, x: ValueId) -> Result<()> {
    let (dims, _) = r.dims(x)?;
    let strides = r.list(at, 3, "strides")?;
    let count = strides.len();
    let (starts, stops) = (bounds_of(r, at, 1, count)?, bounds_of(r, at, 2, count)?);
    let (mut value, mut gone, mut new) = (x, 0, Vec::new());
    for entry in entries(r, at, [starts.len(), stops.len(), count], dims.len())? {
        let own = match entry {
            Entry::New { out, .. } => {
                new.push(out as i64);
                continue;
            }
            // Of the axes in front of this one, those of single elements are gone.
            Entry::Axis(axis) => Axis {
                axis: axis.axis - gone,
                ..axis
            },
        };
        let axis = own.axis as i64;
        if own.single {
            value = element(r, at, value, axis, starts[own.entry])?;
            gone += 1;
            continue;
        }
        let [start, end] = ends(&own, &starts, &stops);
        value = match (strides[own.entry], start, end) {
            (1, ..) => stretch(r, at, value, axis, start, end)?,
            // The bounds of this axis are none of those that are computed.
            (stride, Bound::Known(start), Bound::Known(end)) => {
                let extent = dims_of_part(r, value, own.axis).ok_or("the shape of its input must be static")?;
                let taken = bounds(&own, extent, [start, end, stride])?;
                take(r, at, value, &taken)?
            }
            _ => return Err("strides other than 1 with computed bounds are not supported".to_owned()),
        };
    }
    match new.is_empty() {
        true => r.op(at, pd::Assign::NAME, &[value], &[]),
        false => r.op(at, pd::Unsqueeze::NAME, &[value], &[("axis", r.ctx.ints_attr(&new))]),
    }
}

/// Zeros of a shape, with a tensor at the places that a slice reads whose bounds begin at an input: what a slice gives its gradient
/// back to.
pub(super) fn spread(r: &mut Reader<'_>, at: usize, part: ValueId, dims: &[i64], first: usize) -> Result<ValueId> {
    if dims.iter().any(|&d| !(0..1 << 31).contains(&d)) {
        return Err("the shape that it is spread over is unknown or too large".to_owned());
    }
    let strides = r.list(at, first + 2, "strides")?;
    let count = strides.len();
    let (starts, stops) = (bounds_of(r, at, first, count)?, bounds_of(r, at, first + 1, count)?);
    // First it gets the axes that the slice dropped, and loses those that the slice made.
    let (mut value, mut axes) = (part, Vec::new());
    for entry in entries(r, at, [starts.len(), stops.len(), count], dims.len())? {
        match entry {
            Entry::New { before, .. } => value = with_axis(r, at, pd::Squeeze::NAME, value, before)?,
            Entry::Axis(own) => {
                if own.single {
                    value = with_axis(r, at, pd::Unsqueeze::NAME, value, own.axis)?;
                }
                axes.push(own);
            }
        }
    }
    for own in axes {
        let (extent, stride) = (dims[own.axis], strides[own.entry]);
        let places = match ends(&own, &starts, &stops) {
            [Bound::Known(start), Bound::Known(stop)] => {
                let taken = bounds(&own, extent, [start, stop, stride])?;
                if taken.is_whole(extent) {
                    continue;
                }
                places(r, at, &taken)?
            }
            _ if stride != 1 => return Err("strides other than 1 with computed bounds are not supported".to_owned()),
            [start, stop] => {
                let all = range(r, at, 0, extent, 1)?;
                match own.single {
                    true => {
                        let place = element(r, at, all, 0, start)?;
                        with_axis(r, at, pd::Unsqueeze::NAME, place, 0)?
                    }
                    false => stretch(r, at, all, 0, start, stop)?,
                }
            }
        };
        let mut shape = r.dims(value)?.0;
        *shape.get_mut(own.axis).ok_or("its gradient has too few dimensions")? = extent;
        let attrs = [
            ("axis", r.ctx.int_attr(own.axis as i64)),
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
                let rows = r.vector(at, &rows, Type::I64)?;
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
        bound = r.of_elem(at, bound, Type::I64)?;
        operands.push(r.helper(at, pd::Unsqueeze::NAME, &[bound], &[("axis", r.ctx.ints_attr(&[0]))])?);
    }
    r.helper(at, pd::Slice::NAME, &operands, &attrs)
}
