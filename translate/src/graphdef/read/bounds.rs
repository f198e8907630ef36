//! The bounds and masks of a `StridedSlice` of adjacent elements.

use pir_ir::Attr;

use super::reader::{Reader, Result};

/// The bounds of a `StridedSlice`, for the axes that it slices.
pub(super) struct Bounds {
    pub(super) axes: Vec<i64>,
    pub(super) starts: Vec<i64>,
    pub(super) ends: Vec<i64>,
    pub(super) strides: Vec<i64>,
    pub(super) shrink: Vec<i64>,
}

/// The masks of a `StridedSlice`: `begin_mask`, `end_mask` and `shrink_axis_mask`.
pub(super) struct Masks {
    pub(super) begin: i64,
    pub(super) end: i64,
    pub(super) shrink: i64,
}

impl Masks {
    pub(super) fn new(r: &Reader<'_>, at: usize) -> Result<Masks> {
        let mask = |name| r.int(at, name).unwrap_or(0);
        if mask("new_axis_mask") != 0 || mask("ellipsis_mask") != 0 {
            return Err("new axes and ellipses are not supported".to_owned());
        }
        Ok(Masks {
            begin: mask("begin_mask"),
            end: mask("end_mask"),
            shrink: mask("shrink_axis_mask"),
        })
    }

    pub(super) fn has(mask: i64, axis: usize) -> bool {
        axis < 63 && mask >> axis & 1 == 1
    }
}

impl Bounds {
    pub(super) fn new(r: &Reader<'_>, at: usize, first: usize, rank: usize) -> Result<Bounds> {
        let (starts, ends) = (r.list(at, first, "bounds")?, r.list(at, first + 1, "bounds")?);
        let (strides, masks) = (r.list(at, first + 2, "strides")?, Masks::new(r, at)?);
        if starts.len() != ends.len() || starts.len() != strides.len() || starts.len() > rank {
            return Err("its bounds differ in length".to_owned());
        }
        let mut bounds = Bounds {
            axes: Vec::new(),
            starts: Vec::new(),
            ends: Vec::new(),
            strides: Vec::new(),
            shrink: Vec::new(),
        };
        for (axis, ((&start, &end), &stride)) in starts.iter().zip(&ends).zip(&strides).enumerate() {
            let shrink = Masks::has(masks.shrink, axis);
            let whole = (Masks::has(masks.begin, axis), Masks::has(masks.end, axis));
            if whole == (true, true) && stride == 1 && !shrink {
                continue;
            }
            if stride <= 0 && (whole.0 || whole.1) {
                return Err("negative strides over whole dimensions are not supported".to_owned());
            }
            bounds.axes.push(axis as i64);
            bounds.starts.push(if whole.0 { 0 } else { start });
            bounds.ends.push(match (shrink, whole.1) {
                // For index -1, `start + 1` would be 0, which is the front: slice to the end.
                (true, _) if start == -1 => i64::from(i32::MAX),
                (true, _) => start.saturating_add(1),
                (_, true) => i64::from(i32::MAX),
                _ => end,
            });
            bounds.strides.push(stride);
            if shrink {
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
