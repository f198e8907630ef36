//! Slices of known numbers.

use super::super::reader::Reader;
use super::{Array, input, int_attr, list};

/// One axis of a slice: where it begins, its step, and how many elements it has; no axis of the result if that is `None`.
struct Cut {
    start: i64,
    step: i64,
    count: Option<i64>,
}

/// A `StridedSlice` with all of its masks.
pub(super) fn strided(r: &Reader<'_>, at: usize) -> Option<Array> {
    let whole = input(r, at, 0)?;
    let (begin, end, strides) = (list(r, at, 1)?, list(r, at, 2)?, list(r, at, 3)?);
    (begin.len() == end.len() && begin.len() == strides.len()).then_some(())?;
    let has = |name: &str, entry: usize| entry < 63 && int_attr(r, at, name) >> entry & 1 == 1;
    // The axes that no entry names are where the ellipsis is, or at the end.
    let named = |entry: &usize| !has("new_axis_mask", *entry) && !has("ellipsis_mask", *entry);
    let open = whole.rank().checked_sub((0..begin.len()).filter(named).count())?;
    let (mut axis, mut cuts, mut dims) = (0, Vec::new(), Vec::new());
    let mut left = Some(open);
    let mut keep = |axis: &mut usize, cuts: &mut Vec<Cut>, dims: &mut Vec<i64>| {
        for _ in 0..left.take().unwrap_or(0) {
            let extent = whole.dims[*axis];
            cuts.push(Cut {
                start: 0,
                step: 1,
                count: Some(extent),
            });
            dims.push(extent);
            *axis += 1;
        }
    };
    for entry in 0..begin.len() {
        if has("ellipsis_mask", entry) {
            keep(&mut axis, &mut cuts, &mut dims);
        } else if has("new_axis_mask", entry) {
            dims.push(1);
        } else {
            let (extent, step) = (*whole.dims.get(axis)?, strides[entry]);
            axis += 1;
            (step != 0 && step != i64::MIN).then_some(())?;
            let absolute = |n: i64| if n < 0 { n + extent } else { n };
            if has("shrink_axis_mask", entry) {
                let start = if has("begin_mask", entry) {
                    0
                } else {
                    absolute(begin[entry])
                };
                cuts.push(Cut {
                    start,
                    step: 1,
                    count: None,
                });
                continue;
            }
            // Backwards, places are between the one before the first element and the last one.
            let (low, high) = if step > 0 { (0, extent) } else { (-1, extent - 1) };
            let place = |masked: bool, number: i64, whole: i64| match masked {
                true => whole,
                false => absolute(number).clamp(low, high),
            };
            let (front, back) = if step > 0 { (low, high) } else { (high, low) };
            let start = place(has("begin_mask", entry), begin[entry], front);
            let end = place(has("end_mask", entry), end[entry], back);
            let distance = if step > 0 { end - start } else { start - end };
            let count = ((distance + step.abs() - 1) / step.abs()).max(0);
            cuts.push(Cut {
                start,
                step,
                count: Some(count),
            });
            dims.push(count);
        }
    }
    keep(&mut axis, &mut cuts, &mut dims);
    let part = Array::made(cuts.iter().filter_map(|cut| cut.count).collect(), |place| {
        let mut place = place.iter();
        let own = cuts.iter().map(|cut| match cut.count {
            Some(_) => place.next().map(|&at| cut.start + at * cut.step),
            None => Some(cut.start),
        });
        whole.get(&own.collect::<Option<Vec<_>>>()?)
    })?;
    part.reshaped(dims)
}

/// A `Slice`: from places, as many elements as sizes say.
pub(super) fn sized(r: &Reader<'_>, at: usize) -> Option<Array> {
    let (whole, begin, sizes) = (input(r, at, 0)?, list(r, at, 1)?, list(r, at, 2)?);
    (begin.len() == whole.rank() && sizes.len() == whole.rank()).then_some(())?;
    let extents = whole.dims.iter().zip(begin.iter().zip(&sizes));
    let dims = extents.map(|(&extent, (&start, &size))| if size == -1 { extent - start } else { size });
    Array::made(dims.collect(), |place| {
        whole.get(
            &place
                .iter()
                .zip(&begin)
                .map(|(at, start)| at + start)
                .collect::<Vec<_>>(),
        )
    })
}
