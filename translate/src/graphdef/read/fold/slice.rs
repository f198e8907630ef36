//! Slices of known numbers.

use super::super::bounds::{self, Taken};
use super::super::reader::Reader;
use super::{Array, input, list};

/// A `StridedSlice` with all of its masks.
pub(super) fn strided(r: &Reader<'_>, at: usize) -> Option<Array> {
    let whole = input(r, at, 0)?;
    let plan = bounds::plan(r, at, &whole.dims).ok()?;
    // The axes that no entry names are whole.
    let axes = (0i64..).zip(&whole.dims);
    let all = axes.map(|(axis, &end)| Taken {
        axis,
        start: 0,
        end,
        stride: 1,
        single: false,
    });
    let mut taken: Vec<Taken> = all.collect();
    for part in plan.taken {
        let axis = part.axis as usize;
        taken[axis] = part;
    }
    let mut dims: Vec<i64> = taken.iter().filter(|part| !part.single).map(Taken::count).collect();
    let part = Array::made(dims.clone(), |place| {
        let mut place = place.iter();
        let own = taken.iter().map(|part| match part.single {
            true => Some(part.start),
            false => place.next().map(|&element| part.place(element)),
        });
        whole.get(&own.collect::<Option<Vec<_>>>()?)
    })?;
    for axis in plan.new {
        dims.insert(usize::try_from(axis).ok().filter(|&axis| axis <= dims.len())?, 1);
    }
    part.reshaped(dims)
}

/// A `Slice`: from places, as many elements as the sizes specify.
pub(super) fn sized(r: &Reader<'_>, at: usize) -> Option<Array> {
    let (whole, begin, sizes) = (input(r, at, 0)?, list(r, at, 1)?, list(r, at, 2)?);
    (begin.len() == whole.rank() && sizes.len() == whole.rank()).then_some(())?;
    let extents = whole.dims.iter().zip(begin.iter().zip(&sizes));
    let dims = extents.map(|(&extent, (&start, &size))| match size {
        -1 => extent.checked_sub(start),
        size => Some(size),
    });
    Array::made(dims.collect::<Option<_>>()?, |place| {
        let own = place.iter().zip(&begin).map(|(at, start)| at.checked_add(*start));
        whole.get(&own.collect::<Option<Vec<_>>>()?)
    })
}
