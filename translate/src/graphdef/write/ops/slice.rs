//! Slices, and writing to them.

use pir_dialects::pd;
use pir_ir::Type;

use super::super::super::proto::Value;
use super::super::super::types::{INT32, INT64};
use super::super::emit::{Emit, List, Result};
use super::Write;

pub(super) const TABLE: &[(&str, Write)] = &[
    ("set_value_with_tensor", |e| {
        let (starts, ends) = (known(e, "starts")?, known(e, "ends")?);
        let steps = known(e, "steps")?;
        let dropped = e.ints("decrease_axes").unwrap_or_default();
        if !e.ints("none_axes").unwrap_or_default().is_empty() {
            return Err("its values have more dimensions than the window".to_owned());
        }
        let (dims, elem) = e.operand_type(0)?;
        let mut bounds = Bounds::new(e, starts, ends, Some(steps))?;
        bounds.shrink_mask = dropped.iter().fold(0, |mask, axis| mask | 1 << axis);
        let shape = bounds.window(&dims)?;
        let (x, mut values) = (e.input(0)?, e.input(1)?);
        if e.operand_type(1)?.0 != shape {
            let shape = e.vector(&shape)?;
            let attrs = [("T", e.dtype(elem)?), ("Tidx", Value::Type(INT64))];
            values = e.op("BroadcastTo", &[values, shape], &attrs);
        }
        let [begin, end, strides] = bounds.tensors(e)?;
        let attrs = bounds.attrs(e.dtype(elem)?);
        e.node("TensorStridedSliceUpdate", &[x, begin, end, strides, values], &attrs);
        Ok(())
    }),
    ("slice", slice),
    ("slice_grad", slice_grad),
    ("strided_slice", |e| {
        let (starts, ends) = (known(e, "starts")?, known(e, "ends")?);
        let strides = known(e, "strides")?;
        let bounds = Bounds::new(e, starts, ends, Some(strides))?;
        let x = e.input(0)?;
        let [begin, end, strides] = bounds.tensors(e)?;
        let attrs = bounds.attrs(e.dtype(e.elem()?)?);
        e.node("StridedSlice", &[x, begin, end, strides], &attrs);
        Ok(())
    }),
];

/// Bounds that must be numbers.
fn known(e: &mut Emit<'_, '_>, name: &str) -> Result<Vec<i64>> {
    match e.list(name)? {
        Some(List::Known(values)) => Ok(values),
        _ => Err("its bounds are unknown".to_owned()),
    }
}

/// The bounds of a slice, for all axes up to the last sliced one.
struct Bounds {
    starts: Vec<i64>,
    ends: Vec<i64>,
    strides: Vec<i64>,
    begin_mask: i64,
    end_mask: i64,
    shrink_mask: i64,
}

impl Bounds {
    fn new(e: &Emit<'_, '_>, starts: Vec<i64>, ends: Vec<i64>, strides: Option<Vec<i64>>) -> Result<Bounds> {
        let axes = e.ints("axes").ok_or("its axes are missing")?;
        let rank = match e.view.name() {
            pd::SliceGrad::NAME => e.result_type(0)?.0.len(),
            _ => e.operand_type(0)?.0.len(),
        };
        let mut bounds = Bounds {
            starts: vec![0; rank],
            ends: vec![0; rank],
            strides: vec![1; rank],
            begin_mask: (1i64 << rank.min(62)) - 1,
            end_mask: (1i64 << rank.min(62)) - 1,
            shrink_mask: 0,
        };
        for (at, &axis) in axes.iter().enumerate() {
            let axis = axis.rem_euclid(rank.max(1) as i64) as usize;
            let (Some(&start), Some(&end)) = (starts.get(at), ends.get(at)) else {
                return Err("its bounds must have a number for each axis".to_owned());
            };
            if let (Some(s), Some(t)) = (bounds.starts.get_mut(axis), bounds.ends.get_mut(axis)) {
                (*s, *t) = (start, end);
            }
            bounds.begin_mask &= !(1 << axis);
            bounds.end_mask &= !(1 << axis);
            if let (Some(stride), Some(s)) = (strides.as_ref().and_then(|s| s.get(at)), bounds.strides.get_mut(axis)) {
                *s = *stride;
            }
        }
        for axis in e.ints("decrease_axis").unwrap_or_default() {
            bounds.shrink_mask |= 1 << axis.rem_euclid(rank.max(1) as i64);
        }
        Ok(bounds)
    }

    /// The shape of the window in a tensor, without the axes that it drops.
    fn window(&self, dims: &[i64]) -> Result<Vec<i64>> {
        let mut shape = Vec::new();
        for (axis, &extent) in dims.iter().enumerate() {
            let (has, stride) = (|mask: i64| mask >> axis & 1 == 1, self.strides[axis]);
            if extent < 0 || stride <= 0 {
                return Err("its window must be known, with positive steps".to_owned());
            }
            let place = |value: i64| (if value < 0 { value + extent } else { value }).clamp(0, extent);
            let start = if has(self.begin_mask) {
                0
            } else {
                place(self.starts[axis])
            };
            let end = if has(self.end_mask) {
                extent
            } else {
                place(self.ends[axis])
            };
            if !has(self.shrink_mask) {
                shape.push(((end - start).max(0) + stride - 1) / stride);
            }
        }
        Ok(shape)
    }

    fn tensors(&self, e: &mut Emit<'_, '_>) -> Result<[String; 3]> {
        Ok([e.vector(&self.starts)?, e.vector(&self.ends)?, e.vector(&self.strides)?])
    }

    fn attrs(&self, ty: Value) -> Vec<(&'static str, Value)> {
        vec![
            ("T", ty),
            ("Index", Value::Type(INT64)),
            ("begin_mask", Value::Int(self.begin_mask)),
            ("end_mask", Value::Int(self.end_mask)),
            ("ellipsis_mask", Value::Int(0)),
            ("new_axis_mask", Value::Int(0)),
            ("shrink_axis_mask", Value::Int(self.shrink_mask)),
        ]
    }
}

fn slice(e: &mut Emit<'_, '_>) -> Result<()> {
    // PaddlePaddle uses it for shape inference only.
    e.view.sees("infer_flags");
    let (Some(starts), Some(ends)) = (e.list("starts")?, e.list("ends")?) else {
        return Err("its bounds are missing".to_owned());
    };
    let x = e.input(0)?;
    let ty = e.dtype(e.elem()?)?;
    if let (List::Known(starts), List::Known(ends)) = (&starts, &ends) {
        let bounds = Bounds::new(e, starts.clone(), ends.clone(), None)?;
        let [begin, end, strides] = bounds.tensors(e)?;
        e.node("StridedSlice", &[x, begin, end, strides], &bounds.attrs(ty));
        return Ok(());
    }
    let ([begin, end, strides], bounds) = computed(e, starts, ends)?;
    e.node("StridedSlice", &[x, begin, end, strides], &bounds.attrs(ty));
    Ok(())
}

/// Bounds that are operands, for the axes in order; earlier axes are not sliced.
fn computed(e: &mut Emit<'_, '_>, starts: List, ends: List) -> Result<([String; 3], Bounds)> {
    let axes = e.ints("axes").ok_or("its axes are missing")?;
    let first = axes.first().copied().unwrap_or(0);
    if !axes.iter().zip(first..).all(|(&a, b)| a == b) || first < 0 {
        return Err("its bounds must be known unless its axes are ascending".to_owned());
    }
    let zeros = vec![0; axes.len()];
    let mut bounds = Bounds::new(e, zeros.clone(), zeros, None)?;
    bounds.strides.truncate(first as usize + axes.len());
    let mut ends_of = |list: List| -> Result<String> {
        let own = match list {
            List::Known(values) => e.vector(&values)?,
            List::Operand(value) => value,
        };
        // A single bound may be a scalar.
        let own = e.reshape(own, &[axes.len() as i64], Type::I64)?;
        if first == 0 {
            return Ok(own);
        }
        let before = e.vector(&vec![0; first as usize])?;
        let axis = e.axis(0)?;
        let attrs = [
            ("T", Value::Type(INT64)),
            ("N", Value::Int(2)),
            ("Tidx", Value::Type(INT32)),
        ];
        Ok(e.op("ConcatV2", &[before, own, axis], &attrs))
    };
    let (begin, end) = (ends_of(starts)?, ends_of(ends)?);
    let strides = e.vector(&bounds.strides)?;
    Ok(([begin, end, strides], bounds))
}

fn slice_grad(e: &mut Emit<'_, '_>) -> Result<()> {
    e.view.sees("infer_flags");
    let (g, elem) = (e.input(0)?, e.elem()?);
    let (starts, ends) = match (e.ints("starts"), e.ints("ends"), e.num_operands()) {
        (Some(starts), Some(ends), _) => (List::Known(starts), List::Known(ends)),
        // Computed operands come last.
        (None, None, count @ 3..) => {
            let (starts, ends) = (e.wide(count - 2)?, e.wide(count - 1)?);
            // Between is what was sliced; its shape is that of the result.
            if count > 3 {
                e.view.sees_operand(1);
            }
            (List::Operand(starts), List::Operand(ends))
        }
        _ => return Err("its bounds are unknown".to_owned()),
    };
    let (dims, _) = e.result_type(0)?;
    let shape = match dims.iter().all(|&d| d >= 0) {
        true => e.vector(&dims)?,
        false => e.shape_of(1)?,
    };
    let ([begin, end, strides], bounds) = match (starts, ends) {
        (List::Known(starts), List::Known(ends)) => {
            let bounds = Bounds::new(e, starts, ends, None)?;
            (bounds.tensors(e)?, bounds)
        }
        (starts, ends) => computed(e, starts, ends)?,
    };
    let attrs = bounds.attrs(e.dtype(elem)?);
    e.node("StridedSliceGrad", &[shape, begin, end, strides, g], &attrs);
    Ok(())
}
