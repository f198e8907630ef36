//! Rules of operations that pick elements: each cotangent is added where the elements came from.

use pir_ir::ValueId;

use super::reduce::normalise;
use super::{Rule, RuleCx, rule};

pub(super) const RULES: &[Rule] = &[
    rule("pd.slice", |cx| {
        let g = cx.grad()?;
        if slice_into(cx, g)? {
            return Ok(());
        }
        let mut attrs = bounds(cx);
        if cx.num_operands() == 1 {
            return scatter_back(cx, "pd.slice_grad", vec![g], attrs);
        }
        // Bounds that are computed stand behind what was cut, whose shape may be known all the same.
        attrs.extend(cx.static_shape(0).map(|shape| ("x_shape", cx.ints(&shape))));
        let mut operands = vec![g];
        operands.extend((0..cx.num_operands()).map(|index| cx.operand(index)));
        let t = cx.emit("pd.slice_grad", &operands, &attrs)?;
        cx.add(0, t)
    }),
    rule("pd.gather", |cx| picked(cx, "pd.gather_grad", "axis", 0)),
    rule("pd.index_select", |cx| picked(cx, "pd.index_select_grad", "axis", 0)),
    rule("pd.take_along_axis", |cx| {
        picked(cx, "pd.take_along_axis_grad", "axis", 0)
    }),
    rule("pd.gather_nd", |cx| {
        let (index, g) = (cx.operand(1), cx.grad()?);
        if let Some(sum) = cx.accumulator(0) {
            let sum = cx.emit("pd.scatter_nd_add", &[sum, index, g], &[])?;
            return cx.accumulated(0, sum);
        }
        scatter_back(cx, "pd.gather_nd_grad", vec![index, g], Vec::new())
    }),
];

/// The attributes that say what a slice cuts.
pub(super) fn bounds(cx: &RuleCx<'_, '_>) -> Vec<(&'static str, pir_ir::Attr)> {
    let names = ["axes", "starts", "ends", "decrease_axis"];
    let given = |name| Some((name, cx.view().attr(name)?));
    names.into_iter().filter_map(given).collect()
}

/// `x[index]` along an axis: reads the index and, if the shape of `x` is not known, `x` for its shape.
fn picked(cx: &mut RuleCx<'_, '_>, twin: &str, axis: &'static str, default: i64) -> Result<(), String> {
    let (index, g) = (cx.operand(1), cx.grad()?);
    let axis_value = match cx.view().attr(axis) {
        Some(attr) => cx.ctx().attr_int(attr).ok_or("the axis is not an integer")?,
        None if cx.num_operands() > 2 => {
            return Err(format!(
                "the derivative of `{}` needs a constant axis",
                cx.view().name()
            ));
        }
        None => default,
    };
    if twin != "pd.take_along_axis_grad" && add_rows(cx, 0, axis_value, index, g)? {
        return Ok(());
    }
    let attrs = vec![(axis, cx.ctx().int_attr(axis_value))];
    scatter_back(cx, twin, vec![index, g], attrs)
}

/// Adds rows to the sum that has been found of the cotangents of an operand from outside of a loop, in place of a tensor of
/// zeros with these rows: whoever owns the sum needs the time of the rows only. Whether there is such a sum.
pub(super) fn add_rows(
    cx: &mut RuleCx<'_, '_>,
    operand: usize,
    axis: i64,
    index: ValueId,
    rows: ValueId,
) -> Result<bool, String> {
    let rank = |value| {
        cx.ctx()
            .as_tensor(cx.r.body.value_type(value))
            .map(|(shape, _)| shape.len())
    };
    let Some(sum) = cx.accumulator(operand) else {
        return Ok(false);
    };
    if rank(index) != Some(1) || rank(rows) != rank(sum) {
        return Ok(false);
    }
    let axis = cx.ctx().int_attr(axis);
    let sum = cx.emit("pd.index_add", &[sum, index, rows], &[("axis", axis)])?;
    cx.accumulated(operand, sum)?;
    Ok(true)
}

/// The same for a slice along one axis, of a number of elements that is known.
fn slice_into(cx: &mut RuleCx<'_, '_>, g: ValueId) -> Result<bool, String> {
    let list = |name| cx.view().ints(name).map(<[i64]>::to_vec);
    let (Some(axes), Some(shape)) = (list("axes"), cx.static_shape(0)) else {
        return Ok(false);
    };
    let dropped = list("decrease_axis").unwrap_or_default();
    let (&[axis], true) = (axes.as_slice(), cx.accumulator(0).is_some()) else {
        return Ok(false);
    };
    let axis = normalise(axis, shape.len())?;
    let ty = cx.r.body.value_type(cx.r.body.result(cx.op, 0));
    let result = cx.ctx().as_tensor(ty).map_or(Vec::new(), |(shape, _)| shape.to_vec());
    let count = match dropped.is_empty() {
        true => result.get(axis).copied().unwrap_or(-1),
        false => 1,
    };
    // What is behind the tensor that is cut is where to begin, unless that is an attribute.
    let starts = match (list("starts"), cx.num_operands()) {
        (Some(starts), 1) => Err(starts),
        (None, 2..) if cx.is_vector_of_one(1) => Ok(cx.operand(1)),
        _ => return Ok(false),
    };
    if count < 0 || shape[axis] == 0 || !(dropped.is_empty() || dropped.len() == 1) {
        return Ok(false);
    }
    let n = shape[axis];
    let index = match starts {
        Err(starts) => {
            let &[start] = starts.as_slice() else { return Ok(false) };
            let start = if start < 0 { (start + n).max(0) } else { start.min(n) };
            let rows: Vec<i64> = (start..start + count).collect();
            let rows = cx.ints(&rows);
            cx.emit("pd.full_int_array", &[], &[("value", rows)])?
        }
        Ok(start) => {
            let steps: Vec<i64> = (0..count).collect();
            let (steps, size) = (cx.ints(&steps), cx.ints(&[n]));
            let size = cx.emit("pd.full_int_array", &[], &[("value", size)])?;
            let mut index = start;
            if count != 1 {
                let steps = cx.emit("pd.full_int_array", &[], &[("value", steps)])?;
                index = cx.emit("pd.add", &[start, steps], &[])?;
            }
            // A negative one counts from the end.
            cx.emit("pd.remainder", &[index, size], &[])?
        }
    };
    let mut rows = g;
    if !dropped.is_empty() {
        let axes = cx.ints(&[axis as i64]);
        rows = cx.emit("pd.unsqueeze", &[g], &[("axis", axes)])?;
    }
    add_rows(cx, 0, axis as i64, index, rows)
}

/// Emits a twin that makes zeros of the shape of the first operand and adds the cotangent into them. The shape is the
/// attribute `x_shape` when it is known, else a last operand.
fn scatter_back(
    cx: &mut RuleCx<'_, '_>,
    twin: &str,
    mut operands: Vec<ValueId>,
    mut attrs: Vec<(&'static str, pir_ir::Attr)>,
) -> Result<(), String> {
    match cx.static_shape(0) {
        Some(shape) => attrs.push(("x_shape", cx.ints(&shape))),
        None => operands.push(cx.operand(0)),
    }
    let t = cx.emit(twin, &operands, &attrs)?;
    cx.add(0, t)
}
