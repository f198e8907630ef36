//! Rules of operations that pick elements: each cotangent is added where the elements came from.

use super::{Rule, RuleCx, rule};

pub(super) const RULES: &[Rule] = &[
    rule("pd.slice", |cx| {
        let g = cx.grad()?;
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
    let attrs = vec![(axis, cx.ctx().int_attr(axis_value))];
    scatter_back(cx, twin, vec![index, g], attrs)
}

/// Emits a twin that makes zeros of the shape of the first operand and adds the cotangent into them. The shape is the
/// attribute `x_shape` when it is known, else a last operand.
fn scatter_back(
    cx: &mut RuleCx<'_, '_>,
    twin: &str,
    mut operands: Vec<pir_ir::ValueId>,
    mut attrs: Vec<(&'static str, pir_ir::Attr)>,
) -> Result<(), String> {
    match cx.static_shape(0) {
        Some(shape) => attrs.push(("x_shape", cx.ints(&shape))),
        None => operands.push(cx.operand(0)),
    }
    let t = cx.emit(twin, &operands, &attrs)?;
    cx.add(0, t)
}
