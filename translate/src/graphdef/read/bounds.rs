//! What the bounds and masks of a `StridedSlice` select.

use pir_ir::Attr;

use super::reader::{Reader, Result};

/// The selection from one axis of the input.
pub(super) struct Taken {
    pub(super) axis: i64,
    pub(super) start: i64,
    pub(super) end: i64,
    pub(super) stride: i64,
    /// Whether it is one element, and the axis dropped.
    pub(super) single: bool,
}

impl Taken {
    /// Whether this is the whole axis, as it is.
    pub(super) fn is_whole(&self, extent: i64) -> bool {
        (self.start, self.end, self.stride) == (0, extent, 1)
    }

    /// The number of elements.
    pub(super) fn count(&self) -> i64 {
        let (span, stride) = (i128::from(self.end) - i128::from(self.start), i128::from(self.stride));
        match span.signum() == stride.signum() {
            true => ((span.abs() + stride.abs() - 1) / stride.abs()) as i64,
            false => 0,
        }
    }

    /// The place of an element on the axis, which must be one of those that are counted.
    pub(super) fn place(&self, element: i64) -> i64 {
        self.start + element * self.stride
    }
}

/// A description of the slice, axis by axis.
#[derive(Default)]
pub(super) struct Plan {
    pub(super) taken: Vec<Taken>,
    /// The axes of the result that are new.
    pub(super) new: Vec<i64>,
}

pub(super) fn mask(r: &Reader<'_>, at: usize, name: &str) -> i64 {
    r.int(at, name).unwrap_or(0)
}

/// What an entry of the bounds selects.
pub(super) enum Entry {
    /// A dimension of extent 1 that the slice makes: in the input it is in front of axis `before`, in the slice it is axis `out`.
    New {
        before: usize,
        out: usize,
    },
    Axis(Axis),
}

/// An axis of the input that an entry names.
#[derive(Clone, Copy)]
pub(super) struct Axis {
    pub(super) entry: usize,
    pub(super) axis: usize,
    /// Whether a single element is selected, and the axis dropped.
    pub(super) single: bool,
    /// Whether the bounds on either side are left out.
    pub(super) open: [bool; 2],
}

/// The entries of the bounds of a slice, whose `starts`, `ends` and `strides` have these lengths, but for its ellipsis; what is
/// sliced has `rank` dimensions.
pub(super) fn entries(r: &Reader<'_>, at: usize, lengths: [usize; 3], rank: usize) -> Result<Vec<Entry>> {
    let count = lengths[0];
    if lengths.iter().any(|&length| length != count) || count > 62 {
        return Err("its bounds differ in length".to_owned());
    }
    let masks = [
        "begin_mask",
        "end_mask",
        "shrink_axis_mask",
        "new_axis_mask",
        "ellipsis_mask",
    ];
    let [begin, end, shrink, new, ellipsis] = masks.map(|name| mask(r, at, name));
    let has = |mask: i64, entry: usize| mask >> entry & 1 == 1;
    let ellipses = (0..count).filter(|&entry| has(ellipsis, entry)).count();
    if ellipses > 1 {
        return Err("it has more than one ellipsis".to_owned());
    }
    let named = (0..count).filter(|&entry| !has(new | ellipsis, entry)).count();
    let rest = rank.checked_sub(named);
    let rest = rest.ok_or("it has more bounds than its input has dimensions")?;
    let (mut axis, mut out) = (0, 0);
    let mut entries = Vec::new();
    for entry in 0..count {
        if has(ellipsis, entry) {
            (axis, out) = (axis + rest, out + rest);
        } else if has(new, entry) {
            entries.push(Entry::New { before: axis, out });
            out += 1;
        } else {
            let single = has(shrink, entry);
            entries.push(Entry::Axis(Axis {
                entry,
                axis,
                single,
                open: [has(begin, entry) && !single, has(end, entry) || single],
            }));
            (axis, out) = (axis + 1, out + usize::from(!single));
        }
    }
    Ok(entries)
}

/// The slice of a tensor of these extents, whose bounds are known.
pub(super) fn plan(r: &Reader<'_>, at: usize, dims: &[i64]) -> Result<Plan> {
    let (starts, ends, strides) = (
        r.list(at, 1, "bounds")?,
        r.list(at, 2, "bounds")?,
        r.list(at, 3, "strides")?,
    );
    let mut plan = Plan::default();
    for entry in entries(r, at, [starts.len(), ends.len(), strides.len()], dims.len())? {
        match entry {
            Entry::New { out, .. } => plan.new.push(out as i64),
            Entry::Axis(axis) => {
                let extent = dims[axis.axis];
                if extent < 0 {
                    return Err("the shape of its input must be static".to_owned());
                }
                let numbers = [starts[axis.entry], ends[axis.entry], strides[axis.entry]];
                plan.taken.push(bounds(&axis, extent, numbers)?);
            }
        }
    }
    Ok(plan)
}

/// The stretch of one axis, with all numbers in range.
pub(super) fn bounds(axis: &Axis, extent: i64, [start, end, stride]: [i64; 3]) -> Result<Taken> {
    let ([first, last], single, axis) = (axis.open, axis.single, axis.axis as i64);
    let place = |v: i64| if v < 0 { v.saturating_add(extent) } else { v };
    if single && stride <= 0 {
        return Err("where it takes a single element, its stride must be positive".to_owned());
    }
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

/// The bounds of a `StridedSlice` as attributes, for the axes that it slices; numbers out of range are left to inference.
pub(super) struct Bounds {
    pub(super) axes: Vec<i64>,
    pub(super) starts: Vec<i64>,
    pub(super) ends: Vec<i64>,
    pub(super) strides: Vec<i64>,
    pub(super) shrink: Vec<i64>,
}

impl Bounds {
    pub(super) fn new(r: &Reader<'_>, at: usize, first: usize, rank: usize) -> Result<Bounds> {
        let (starts, ends) = (r.list(at, first, "bounds")?, r.list(at, first + 1, "bounds")?);
        let strides = r.list(at, first + 2, "strides")?;
        let mut bounds = Bounds {
            axes: Vec::new(),
            starts: Vec::new(),
            ends: Vec::new(),
            strides: Vec::new(),
            shrink: Vec::new(),
        };
        for entry in entries(r, at, [starts.len(), ends.len(), strides.len()], rank)? {
            let Entry::Axis(Axis {
                entry,
                axis,
                single,
                open,
            }) = entry
            else {
                return Err("new axes are not supported".to_owned());
            };
            let (start, end, stride) = (starts[entry], ends[entry], strides[entry]);
            if open == [true, true] && stride == 1 {
                continue;
            }
            if stride <= 0 && (open[0] || open[1]) {
                return Err("negative strides over whole dimensions are not supported".to_owned());
            }
            bounds.axes.push(axis as i64);
            bounds.starts.push(if open[0] { 0 } else { start });
            bounds.ends.push(match (single, open[1]) {
                // For index -1, `start + 1` would be 0, which is the front: slice to the end.
                (true, _) if start != -1 => start.saturating_add(1),
                (_, true) => i64::from(i32::MAX),
                _ => end,
            });
            bounds.strides.push(stride);
            if single {
                bounds.shrink.push(axis as i64);
            }
        }
        Ok(bounds)
    }

    pub(super) fn attrs(&self, r: &Reader<'_>) -> Vec<(&'static str, Attr)> {
        vec![
            ("axes", r.ctx.ints_attr(&self.axes)),
            ("starts", r.ctx.ints_attr(&self.starts)),
            ("ends", r.ctx.ints_attr(&self.ends)),
            ("decrease_axis", r.ctx.ints_attr(&self.shrink)),
        ]
    }
}
