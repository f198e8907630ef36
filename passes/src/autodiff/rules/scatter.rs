//! Rules of sorting, and of operations that put elements at places or pick some.

use pir_ir::ValueId;
use smallvec::smallvec;

use super::super::cotangent::zeros_like;
use super::reduce::normalise;
use super::twins::{Expand, expanded};
use super::{Rule, RuleCx, rule};

pub(super) const RULES: &[Rule] = &[
    rule("pd.topk", sorted),
    rule("pd.argsort", sorted),
    rule("pd.cummax", sorted),
    rule("pd.cummin", sorted),
    rule("pd.kthvalue", |cx| {
        let (mut g, mut index) = (cx.grad()?, cx.result(1));
        if cx.rank(0) == 0 {
            return cx.add(0, g);
        }
        let axis = normalise(cx.view().int("axis").unwrap_or(-1), cx.rank(0))? as i64;
        if !cx.view().bool("keepdim").unwrap_or(false) {
            let list = cx.ints(&[axis]);
            g = cx.emit("pd.unsqueeze", &[g], &[("axis", list)])?;
            index = cx.emit("pd.unsqueeze", &[index], &[("axis", list)])?;
        }
        let t = put_back(cx, index, g, axis)?;
        cx.add(0, t)
    }),
    rule("pd.embedding", |cx| {
        let (index, g) = (cx.operand(0), cx.grad()?);
        if !cx.wants(1) {
            return Ok(());
        }
        let padding = cx.view().int("padding_idx").unwrap_or(-1);
        let shape = cx
            .static_shape(1)
            .ok_or("the derivative of `pd.embedding` needs a static shape")?;
        let mut g = g;
        if padding >= 0 {
            // Rows for the padding are constant.
            let value = cx.ctx().int_attr(padding);
            let none = cx.emit("pd.full_like", &[index], &[("value", value)])?;
            let counts = cx.emit("pd.not_equal", &[index, none], &[])?;
            let last = cx.ints(&[-1]);
            let counts = cx.emit("pd.unsqueeze", &[counts], &[("axis", last)])?;
            let zeros = zeros_like(cx.r, g)?;
            g = cx.select(counts, g, zeros)?;
        }
        let index = cx.reshaped(index, &[-1])?;
        let g = cx.reshaped(g, &[-1, shape[1]])?;
        if super::index::add_rows(cx, 1, 0, index, g)? {
            return Ok(());
        }
        let (axis, shape) = (cx.ctx().int_attr(0), cx.ints(&shape));
        let t = cx.emit("pd.gather_grad", &[index, g], &[("axis", axis), ("x_shape", shape)])?;
        cx.add(1, t)
    }),
    rule("pd.scatter", |cx| {
        let (index, g) = (cx.operand(1), cx.grad()?);
        let axis = cx.ctx().int_attr(0);
        // What was put there is read before it is overwritten: nobody else holds the cotangent then.
        if cx.wants(2) {
            let mut picked = cx.emit("pd.gather", &[g, index], &[("axis", axis)])?;
            // One row overwrites no other.
            let one = cx
                .static_shape(1)
                .is_some_and(|shape| shape.iter().product::<i64>() == 1);
            if !one && cx.view().bool("overwrite").unwrap_or(true) {
                picked = only_last(cx, picked, index, 0)?;
            }
            let t = super::shape::reshape_like(cx, picked, 2)?;
            cx.add(2, t)?;
        }
        if cx.wants(0) {
            // As many zeros as rows were put there, not as many as there are.
            let picked = match cx.static_shape(2) {
                Some(shape) => {
                    let (shape, dtype) = (cx.ints(&shape), cx.ctx().elem_type(cx.r.body.value_type(g)));
                    let (value, dtype) = (cx.ctx().float_attr(0.0), cx.ctx().type_attr(dtype));
                    cx.emit("pd.full", &[], &[("shape", shape), ("value", value), ("dtype", dtype)])?
                }
                None => {
                    let zeros = zeros_like(cx.r, g)?;
                    cx.emit("pd.gather", &[zeros, index], &[("axis", axis)])?
                }
            };
            let t = cx.emit("pd.scatter", &[g, index, picked], &[])?;
            cx.add(0, t)?;
        }
        Ok(())
    }),
    rule("pd.scatter_nd_add", |cx| {
        let (index, g) = (cx.operand(1), cx.grad()?);
        if cx.wants(0) {
            cx.add(0, g)?;
        }
        if cx.wants(2) {
            let t = cx.emit("pd.gather_nd", &[g, index], &[])?;
            cx.add(2, t)?;
        }
        Ok(())
    }),
    rule("pd.index_add", |cx| {
        let (index, g) = (cx.operand(1), cx.grad()?);
        if cx.wants(0) {
            cx.add(0, g)?;
        }
        if cx.wants(2) {
            let axis = cx.ctx().int_attr(cx.view().int("axis").unwrap_or(0));
            let t = cx.emit("pd.index_select", &[g, index], &[("axis", axis)])?;
            cx.add(2, t)?;
        }
        Ok(())
    }),
    rule("pd.put_along_axis", put_along_axis),
    rule("pd.index_sample", |cx| {
        let (index, g) = (cx.operand(1), cx.grad()?);
        let t = put_back(cx, index, g, 1)?;
        cx.add(0, t)
    }),
    rule("pd.masked_select", |cx| {
        let (mask, g) = (cx.operand(1), cx.grad()?);
        let shape = cx
            .static_shape(0)
            .ok_or("the derivative of `pd.masked_select` needs a static shape")?;
        let masked = cx
            .static_shape(1)
            .ok_or("the derivative of `pd.masked_select` needs a mask of a static shape")?;
        // Either may be spread over the other.
        let rank = shape.len().max(masked.len());
        let padded = |of: &[i64]| [vec![1; rank - of.len()], of.to_vec()].concat();
        let both: Vec<i64> = padded(&shape)
            .iter()
            .zip(padded(&masked))
            .map(|(&a, b)| if a == 1 { b } else { a })
            .collect();
        let all = cx.ints(&both);
        let mask = match masked == both {
            true => mask,
            false => cx.emit("pd.expand", &[mask], &[("shape", all)])?,
        };
        let places = cx.unary("pd.nonzero", mask)?;
        let t = cx.emit("pd.gather_nd_grad", &[places, g], &[("x_shape", all)])?;
        cx.add_reduced(0, t)
    }),
    rule("pd.masked_fill", expanded),
    rule("pd.strided_slice", |cx| {
        let shape = cx
            .static_shape(0)
            .ok_or("the derivative of `pd.strided_slice` needs a static shape")?;
        let list = |cx: &RuleCx<'_, '_>, name: &str| {
            cx.view()
                .ints(name)
                .map(<[i64]>::to_vec)
                .ok_or_else(|| format!("the derivative of `pd.strided_slice` needs constant `{name}`"))
        };
        let (axes, starts) = (list(cx, "axes")?, list(cx, "starts")?);
        let (ends, strides) = (list(cx, "ends")?, list(cx, "strides")?);
        let mut g = cx.grad()?;
        // The last axis was cut last: what it was cut from has the sizes of all before.
        let mut sizes = shape.clone();
        let mut cuts = Vec::new();
        for (i, &a) in axes.iter().enumerate() {
            let at = normalise(a, shape.len())?;
            let (start, count) = pir_dialects::window::stretch(sizes[at], starts[i], ends[i], strides[i])?;
            let rows: Vec<i64> = (0..count).map(|k| start + k * strides[i]).collect();
            cuts.push((at, rows, sizes.clone()));
            sizes[at] = count;
        }
        for (at, rows, before) in cuts.into_iter().rev() {
            let rows = cx.ints(&rows);
            let index = cx.emit("pd.full_int_array", &[], &[("value", rows)])?;
            let (axis, before) = (cx.ctx().int_attr(at as i64), cx.ints(&before));
            g = cx.emit("pd.gather_grad", &[index, g], &[("axis", axis), ("x_shape", before)])?;
        }
        cx.add(0, g)
    }),
    rule("pd.set_value_with_tensor", set_value),
    rule("pd.repeat_interleave", |cx| {
        let shape = cx
            .static_shape(0)
            .ok_or("the derivative of `pd.repeat_interleave` needs a static shape")?;
        let at = normalise(cx.view().int("axis").unwrap_or(0), shape.len())?;
        let repeats = cx.view().int("repeats").unwrap_or(1);
        let mut split = shape.clone();
        split.insert(at + 1, repeats);
        let g = cx.grad()?;
        let parts = cx.reshaped(g, &split)?;
        let axis = cx.ints(&[at as i64 + 1]);
        let t = cx.emit("pd.sum", &[parts], &[("axis", axis)])?;
        cx.add(0, t)
    }),
    rule("pd.unbind", |cx| {
        let axis = cx.ctx().int_attr(cx.view().int("axis").unwrap_or(0));
        let grads = cx.piece_grads()?;
        let t = cx.emit("pd.stack", &grads, &[("axis", axis)])?;
        cx.add(0, t)
    }),
    rule("pd.meshgrid", |cx| {
        cx.settle_rest();
        let elements = cx.elements();
        let count = elements.len();
        let given: Vec<Option<ValueId>> = match cx.list_grads.is_empty() {
            true => cx.grads.to_vec(),
            false => cx.list_grads.clone(),
        };
        for (at, (index, element, ty)) in elements.into_iter().enumerate() {
            let Some(&Some(g)) = given.get(at) else { continue };
            if !cx.wants_element(index) {
                continue;
            }
            let others: Vec<i64> = (0..count).filter(|&i| i != at).map(|i| i as i64).collect();
            let mut t = g;
            if !others.is_empty() {
                let others = cx.ints(&others);
                t = cx.emit("pd.sum", &[g], &[("axis", others)])?;
            }
            if cx.ctx().as_tensor(ty).is_none_or(|(shape, _)| shape.is_empty()) {
                t = cx.reshaped(t, &[])?;
            }
            cx.add_to_element(index, element, t)?;
        }
        Ok(())
    }),
    rule("pd.pad3d", |cx| {
        let shape = cx
            .static_shape(0)
            .ok_or("the derivative of `pd.pad3d` needs a static shape")?;
        let paddings = cx.int_list("paddings")?.ok_or("`pd.pad3d` without `paddings`")?;
        let mode = cx.view().str("mode").unwrap_or("constant").to_owned();
        let first = if cx.view().str("data_format") == Some("NDHWC") {
            1
        } else {
            2
        };
        let mut g = cx.grad()?;
        // The last axis was padded first.
        let mut before = shape.clone();
        let mut steps = Vec::new();
        for (at, pair) in (first..first + 3).rev().zip(paddings.chunks(2)) {
            let (n, size) = (shape[at], shape[at] + pair[0] + pair[1]);
            steps.push((at, pair[0], n, size, before.clone()));
            before[at] = size;
        }
        for (at, shift, n, size, before) in steps.into_iter().rev() {
            let axis = cx.ctx().int_attr(at as i64);
            let place = |k: i64| match (k - shift, &*mode) {
                (k, _) if (0..n).contains(&k) => Some(k),
                (_, "constant") => None,
                (k, "reflect") if k < 0 => Some(-k),
                (k, "reflect") => Some(2 * (n - 1) - k),
                (k, "circular") => Some(k.rem_euclid(n.max(1))),
                (k, _) => Some(k.clamp(0, (n - 1).max(0))),
            };
            let kept: Vec<i64> = (0..size).filter(|&k| place(k).is_some()).collect();
            let sources: Vec<i64> = kept.iter().filter_map(|&k| place(k)).collect();
            let (kept, sources) = (cx.ints(&kept), cx.ints(&sources));
            let kept = cx.emit("pd.full_int_array", &[], &[("value", kept)])?;
            let sources = cx.emit("pd.full_int_array", &[], &[("value", sources)])?;
            let shown = cx.emit("pd.index_select", &[g, kept], &[("axis", axis)])?;
            let before = cx.ints(&before);
            g = cx.emit(
                "pd.index_select_grad",
                &[sources, shown],
                &[("axis", axis), ("x_shape", before)],
            )?;
        }
        cx.add(0, g)
    }),
];

pub(super) const COMPOSITES: &[(&str, Expand)] = &[("pd.masked_fill", |cx| {
    let (x, mask, value) = (cx.operand(0), cx.operand(1), cx.operand(2));
    let value = cx.cast_like(value, 0)?;
    Ok(smallvec![cx.select(mask, value, x)?])
})];

/// What was picked along an axis by indices that are a result: the cotangent goes back to where the elements were.
fn sorted(cx: &mut RuleCx<'_, '_>) -> Result<(), String> {
    let (g, index) = (cx.grad()?, cx.result(1));
    if cx.rank(0) == 0 {
        return cx.add(0, g);
    }
    let axis = normalise(cx.view().int("axis").unwrap_or(-1), cx.rank(0))?;
    let t = put_back(cx, index, g, axis as i64)?;
    cx.add(0, t)
}

/// Zeros of the shape of the first operand, with a cotangent added at indices along an axis.
fn put_back(cx: &mut RuleCx<'_, '_>, index: ValueId, g: ValueId, axis: i64) -> Result<ValueId, String> {
    let mut operands = vec![index, g];
    let mut attrs = vec![("axis", cx.ctx().int_attr(axis))];
    match cx.static_shape(0) {
        Some(shape) => attrs.push(("x_shape", cx.ints(&shape))),
        None => operands.push(cx.operand(0)),
    }
    cx.emit("pd.take_along_axis_grad", &operands, &attrs)
}

/// Zeros in place of the cotangents of rows that another row of the same index overwrote: put in order, the last row of each
/// index is the one whose number is found there.
fn only_last(cx: &mut RuleCx<'_, '_>, picked: ValueId, index: ValueId, axis: i64) -> Result<ValueId, String> {
    let rows = cx
        .static_shape(0)
        .ok_or("the derivative of `pd.scatter` needs a static shape")?;
    let count = cx
        .static_shape(1)
        .ok_or("the derivative of `pd.scatter` needs a static shape")?;
    let count: i64 = count.iter().product();
    let (end, none) = (cx.ctx().int_attr(count), cx.ints(&[rows[0]]));
    let number = cx.emit("pd.arange", &[], &[("end", end)])?;
    let (zero, dtype) = (cx.ctx().int_attr(0), cx.ctx().type_attr(pir_ir::Type::I64));
    let empty = cx.emit("pd.full", &[], &[("shape", none), ("value", zero), ("dtype", dtype)])?;
    let index = cx.reshaped(index, &[count])?;
    let owner = cx.emit("pd.scatter", &[empty, index, number], &[])?;
    let axis = cx.ctx().int_attr(axis);
    let found = cx.emit("pd.gather", &[owner, index], &[("axis", axis)])?;
    let mine = cx.emit("pd.equal", &[found, number], &[])?;
    let mut shape = vec![count];
    let ty = cx.r.body.value_type(picked);
    shape.resize(cx.ctx().as_tensor(ty).map_or(1, |(s, _)| s.len()), 1);
    let mine = cx.reshaped(mine, &shape)?;
    let zeros = zeros_like(cx.r, picked)?;
    cx.select(mine, picked, zeros)
}

fn put_along_axis(cx: &mut RuleCx<'_, '_>) -> Result<(), String> {
    let (index, g) = (cx.operand(1), cx.grad()?);
    let attrs = cx.given(&["axis"]);
    let mode = cx.view().str("reduce").unwrap_or("assign").to_owned();
    match &*mode {
        "assign" | "add" => {}
        _ => {
            return Err(format!(
                "`pd.put_along_axis` has no derivative for `reduce` = \"{mode}\""
            ));
        }
    }
    if cx.wants(0) {
        let mut t = g;
        if mode == "assign" {
            let picked = cx.emit("pd.take_along_axis", &[g, index], &attrs)?;
            let zeros = zeros_like(cx.r, picked)?;
            t = cx.emit("pd.put_along_axis", &[g, index, zeros], &attrs)?;
        }
        cx.add(0, t)?;
    }
    if cx.wants(2) {
        let mut t = cx.emit("pd.take_along_axis", &[g, index], &attrs)?;
        if mode == "assign" {
            // Of those put in one place the last counts: it is the one whose number is found there.
            let shape = cx
                .static_shape(1)
                .ok_or("the derivative of `pd.put_along_axis` needs a static shape")?;
            let end = cx.ctx().int_attr(shape.iter().product());
            let number = cx.emit("pd.arange", &[], &[("end", end)])?;
            let number = cx.reshaped(number, &shape)?;
            let (zero, dtype) = (cx.ctx().int_attr(0), cx.ctx().type_attr(pir_ir::Type::I64));
            let whole = cx
                .static_shape(0)
                .ok_or("the derivative of `pd.put_along_axis` needs a static shape")?;
            let whole = cx.ints(&whole);
            let empty = cx.emit("pd.full", &[], &[("shape", whole), ("value", zero), ("dtype", dtype)])?;
            let owner = cx.emit("pd.put_along_axis", &[empty, index, number], &attrs)?;
            let found = cx.emit("pd.take_along_axis", &[owner, index], &attrs)?;
            let mine = cx.emit("pd.equal", &[found, number], &[])?;
            let zeros = zeros_like(cx.r, t)?;
            t = cx.select(mine, t, zeros)?;
        }
        cx.add_reduced(2, t)?;
    }
    Ok(())
}

/// What is put into a window has its cotangent from there; what it was put into has none there.
fn set_value(cx: &mut RuleCx<'_, '_>) -> Result<(), String> {
    let g = cx.grad()?;
    let names = [
        "axes",
        "starts",
        "ends",
        "steps",
        "decrease_axes",
        "none_axes",
        "absent_operands",
    ];
    let attrs: Vec<_> = names.iter().filter_map(|&n| Some((n, cx.view().attr(n)?))).collect();
    let bounds: Vec<ValueId> = (2..cx.num_operands()).map(|at| cx.operand(at)).collect();
    if cx.wants(0) {
        let elem = cx.ctx().elem_type(cx.operand_type(0));
        let (none, value, elem) = (cx.ints(&[]), cx.ctx().float_attr(0.0), cx.ctx().type_attr(elem));
        let zero = cx.emit("pd.full", &[], &[("shape", none), ("value", value), ("dtype", elem)])?;
        let operands: Vec<ValueId> = [g, zero].iter().chain(&bounds).copied().collect();
        let t = cx.emit("pd.set_value_with_tensor", &operands, &attrs)?;
        cx.add(0, t)?;
    }
    if !cx.wants(1) {
        return Ok(());
    }
    let ints = |cx: &RuleCx<'_, '_>, name: &str| cx.view().ints(name).map(<[i64]>::to_vec);
    let axes = ints(cx, "axes").unwrap_or_default();
    let lost = ints(cx, "decrease_axes").unwrap_or_default();
    let mut window = g;
    if !axes.is_empty() {
        // Behind the values stand those of the bounds that are computed, and where one is not, its place is told.
        let absent = ints(cx, "absent_operands").unwrap_or_default();
        let mut computed = bounds.iter();
        let mut is_computed = [false; 3];
        for (at, is_computed) in is_computed.iter_mut().enumerate() {
            *is_computed = !absent.contains(&(at as i64 + 2)) && computed.next().is_some();
        }
        let all = |value: i64| vec![value; axes.len()];
        let list = |cx: &RuleCx<'_, '_>, name, missing| (name, cx.ints(&ints(cx, name).unwrap_or(all(missing))));
        let mut given = vec![list(cx, "starts", 0), list(cx, "ends", i64::MAX), list(cx, "steps", 1)];
        let by_one = !is_computed[2] && ints(cx, "steps").is_none_or(|steps| steps.iter().all(|&step| step == 1));
        let mut operands = vec![g];
        operands.extend(bounds);
        let kept: Vec<i64> = absent.iter().map(|at| at - 1).filter(|&at| at > 0).collect();
        for at in (0..3).rev().filter(|&at| is_computed[at]) {
            given.remove(at);
        }
        if by_one {
            given.retain(|(name, _)| *name != "steps");
        }
        for (name, _) in given.iter_mut().filter(|(name, _)| *name == "steps") {
            *name = "strides";
        }
        given.push(("axes", cx.ints(&axes)));
        if is_computed.contains(&true) && !kept.is_empty() {
            given.push(("absent_operands", cx.ints(&kept)));
        }
        let cut = if by_one { "pd.slice" } else { "pd.strided_slice" };
        window = cx.emit(cut, &operands, &given)?;
    }
    let shape = pir_dialects::window::set_axes(cx.rank(0), &lost, &ints(cx, "none_axes").unwrap_or_default());
    let new: Vec<i64> = (0i64..)
        .zip(&shape)
        .filter_map(|(at, axis)| axis.is_none().then_some(at))
        .collect();
    for (list, op) in [(lost, "pd.squeeze"), (new, "pd.unsqueeze")] {
        if !list.is_empty() {
            let list = cx.ints(&list);
            window = cx.emit(op, &[window], &[("axis", list)])?;
        }
    }
    cx.add_reduced(1, window)
}
