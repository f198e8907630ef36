//! `StridedSlice` with known bounds in full: ellipses, new axes, single elements, steps in both directions.

use pir_dialects::pd;
use pir_ir::ValueId;

use super::{Reader, Result};

/// What is taken of one axis of the input.
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

fn mask(r: &Reader<'_>, at: usize, name: &str) -> i64 {
    r.int(at, name).unwrap_or(0)
}

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
        ("dtype", r.ctx.type_attr(pir_ir::Type::I64)),
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
        return Err("its bounds do not fit".to_owned());
    }
    let named = (0..count).filter(|&i| !has(3, i) && !has(4, i)).count();
    let rest = dims.len().checked_sub(named).ok_or("it has more bounds than axes")?;
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
                .ok_or("the shape of its input must be known")?;
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
