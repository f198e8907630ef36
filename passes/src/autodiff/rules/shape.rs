//! Rules of operations that move elements about: each cotangent moves them back.

use pir_ir::{Type, TypeData, ValueId};

use super::reduce::normalise;
use super::{Rule, RuleCx, rule};

pub(super) const RULES: &[Rule] = &[
    rule("pd.reshape", reshape_back),
    rule("pd.squeeze", reshape_back),
    rule("pd.unsqueeze", reshape_back),
    rule("pd.flatten", reshape_back),
    rule("pd.expand", reduce_back),
    rule("pd.expand_as", reduce_back),
    rule("pd.reduce_as", |cx| {
        let g = cx.grad()?;
        let t = match cx.static_shape(0) {
            Some(shape) => {
                let shape = cx.ints(&shape);
                cx.emit("pd.expand", &[g], &[("shape", shape)])?
            }
            None => {
                let x = cx.operand(0);
                cx.emit("pd.expand_as", &[g, x], &[])?
            }
        };
        cx.add(0, t)
    }),
    rule("pd.tile", |cx| {
        // y[.., r, n, ..] = x[.., n, ..]: split each repeated dimension in two and sum over the repetitions.
        let g = cx.grad()?;
        let shape = cx
            .static_shape(0)
            .ok_or("the derivative of `pd.tile` needs a static shape")?;
        let mut repeat = cx.int_list("repeat_times")?.ok_or("`pd.tile` without `repeat_times`")?;
        let rank = shape.len().max(repeat.len());
        repeat.splice(0..0, std::iter::repeat_n(1, rank - repeat.len()));
        let padded: Vec<i64> = std::iter::repeat_n(1, rank - shape.len())
            .chain(shape.iter().copied())
            .collect();
        let split: Vec<i64> = repeat.iter().zip(&padded).flat_map(|(&r, &n)| [r, n]).collect();
        let axes: Vec<i64> = (0..rank as i64).map(|i| 2 * i).collect();
        let (split, axes) = (cx.ints(&split), cx.ints(&axes));
        let t = cx.emit("pd.reshape", &[g], &[("shape", split)])?;
        let t = cx.emit("pd.sum", &[t], &[("axis", axes)])?;
        let t = reshape_like(cx, t, 0)?;
        cx.add(0, t)
    }),
    rule("pd.concat", concat),
    rule("pd.stack", |cx| {
        let g = cx.grad()?;
        let elements = cx.elements();
        let rank = elements
            .first()
            .and_then(|e| cx.ctx().as_tensor(e.2))
            .map_or(0, |(s, _)| s.len())
            + 1;
        let axis = normalise(cx.single_axis("axis", 0)?, rank)?;
        for (at, (index, element, _)) in elements.into_iter().enumerate() {
            if cx.wants_element(index) {
                let t = cut(cx, g, axis, at as i64, at as i64 + 1)?;
                let axes = cx.ints(&[axis as i64]);
                let t = cx.emit("pd.squeeze", &[t], &[("axis", axes)])?;
                cx.add_to_element(index, element, t)?;
            }
        }
        Ok(())
    }),
    rule("pd.split", join_back),
    rule("pd.split_with_num", join_back),
    rule("pd.unstack", |cx| {
        let axis = cx.single_axis("axis", 0)?;
        let grads = cx.piece_grads()?;
        let axis = cx.ctx().int_attr(axis);
        let t = cx.emit("pd.stack", &grads, &[("axis", axis)])?;
        cx.add(0, t)
    }),
    rule("builtin.combine", |cx| {
        for index in 0..cx.num_operands() {
            if let Some(&Some(g)) = cx.list_grads.get(index) {
                cx.add(index, g)?;
            }
        }
        // An element that nothing reads has no cotangent.
        cx.settle_rest();
        Ok(())
    }),
    rule("builtin.split", |cx| {
        for (index, g) in cx.grads.clone().into_iter().enumerate() {
            if let Some(g) = g {
                cx.add_element(0, index, g)?;
            }
        }
        Ok(())
    }),
    rule("pd.tril", |cx| same_again(cx, "pd.tril", &["diagonal"])),
    rule("pd.triu", |cx| same_again(cx, "pd.triu", &["diagonal"])),
    rule("pd.flip", |cx| same_again(cx, "pd.flip", &["axis"])),
    rule("pd.roll", |cx| {
        let g = cx.grad()?;
        let shifts: Vec<i64> = cx
            .int_list("shifts")?
            .ok_or("`pd.roll` without `shifts`")?
            .iter()
            .map(|s| -s)
            .collect();
        let mut attrs = vec![("shifts", cx.ints(&shifts))];
        attrs.extend(cx.view().attr("axis").map(|a| ("axis", a)));
        let t = cx.emit("pd.roll", &[g], &attrs)?;
        cx.add(0, t)
    }),
];

/// Each operand gets its stretch of the cotangent. Where one begins is computed if a size before it is not known.
fn concat(cx: &mut RuleCx<'_, '_>) -> Result<(), String> {
    let g = cx.grad()?;
    let elements = cx.elements();
    let mut sizes = Vec::new();
    let mut rank = 0;
    for ty in elements.iter().map(|e| e.2) {
        let (shape, _) = cx
            .ctx()
            .as_tensor(ty)
            .ok_or("`pd.concat` of something that is not a tensor")?;
        rank = shape.len();
        sizes.push(shape.to_vec());
    }
    let axis = normalise(cx.single_axis("axis", 0)?, rank)?;
    let mut known = 0;
    let mut computed: Option<ValueId> = None;
    for ((index, element, ty), shape) in elements.into_iter().zip(sizes) {
        let size = shape[axis];
        if size >= 0 && computed.is_none() {
            if cx.wants_element(index) {
                let t = cut(cx, g, axis, known, known + size)?;
                cx.add_to_element(index, element, t)?;
            }
            known += size;
            continue;
        }
        let start = match computed {
            Some(start) => start,
            None => {
                let attrs = [("value", cx.ints(&[known])), ("dtype", cx.ctx().type_attr(Type::I64))];
                cx.emit("pd.full_int_array", &[], &attrs)?
            }
        };
        let end = if size >= 0 {
            cx.affine(start, 1.0, size as f64)?
        } else if element.is_none() {
            let whole = cx.operand(index);
            let shape = cx.emit("pd.shape", &[whole], &[])?;
            let size = cut(cx, shape, 0, axis as i64, axis as i64 + 1)?;
            cx.emit("pd.add", &[start, size], &[])?
        } else {
            return Err("the derivative of `pd.concat` of a list needs static sizes along its axis".to_owned());
        };
        if cx.wants_element(index) {
            let axes = cx.ints(&[axis as i64]);
            let t = cx.emit("pd.slice", &[g, start, end], &[("axes", axes)])?;
            cx.r.body.set_value_type(t, ty);
            cx.add_to_element(index, element, t)?;
        }
        computed = Some(end);
    }
    Ok(())
}

/// The elements `start..end` along an axis.
pub(super) fn cut(cx: &mut RuleCx<'_, '_>, x: ValueId, axis: usize, start: i64, end: i64) -> Result<ValueId, String> {
    let (axes, starts, ends) = (cx.ints(&[axis as i64]), cx.ints(&[start]), cx.ints(&[end]));
    cx.emit("pd.slice", &[x], &[("axes", axes), ("starts", starts), ("ends", ends)])
}

/// Gives a gradient the shape of an operand.
pub(super) fn reshape_like(cx: &mut RuleCx<'_, '_>, g: ValueId, index: usize) -> Result<ValueId, String> {
    let ty = cx.operand_type(index);
    if cx.r.body.value_type(g) == ty && cx.ctx().is_static(ty) {
        return Ok(g);
    }
    match cx.static_shape(index) {
        Some(shape) => {
            let shape = cx.ints(&shape);
            cx.emit("pd.reshape", &[g], &[("shape", shape)])
        }
        None => {
            let x = cx.operand(index);
            let shape = cx.unary("pd.shape", x)?;
            let ty = cx.operand_type(index);
            let op = cx.r.op("pd.reshape").operand(g).operand(shape).result(ty).build();
            Ok(cx.r.body.result(op, 0))
        }
    }
}

fn reshape_back(cx: &mut RuleCx<'_, '_>) -> Result<(), String> {
    let g = cx.grad()?;
    let t = reshape_like(cx, g, 0)?;
    cx.add(0, t)
}

fn reduce_back(cx: &mut RuleCx<'_, '_>) -> Result<(), String> {
    let g = cx.grad()?;
    cx.add_reduced(0, g)
}

/// An operation that is its own transpose.
fn same_again(cx: &mut RuleCx<'_, '_>, op: &str, attrs: &[&'static str]) -> Result<(), String> {
    let g = cx.grad()?;
    let attrs: Vec<_> = attrs
        .iter()
        .filter_map(|&name| cx.view().attr(name).map(|a| (name, a)))
        .collect();
    let t = cx.emit(op, &[g], &attrs)?;
    cx.add(0, t)
}

/// The pieces of a split, put together again.
fn join_back(cx: &mut RuleCx<'_, '_>) -> Result<(), String> {
    let axis = cx.single_axis("axis", 0)?;
    let grads = cx.piece_grads()?;
    let axis = cx.ctx().int_attr(axis);
    let t = cx.emit("pd.concat", &grads, &[("axis", axis)])?;
    cx.add(0, t)
}

impl RuleCx<'_, '_> {
    /// The tensors that a variadic operation takes, one by one or in lists: operand, element in a list, type.
    pub(super) fn elements(&self) -> Vec<(usize, Option<usize>, Type)> {
        let mut out = Vec::new();
        for index in 0..self.num_operands() {
            let ty = self.operand_type(index);
            match self.ctx().type_data(ty) {
                TypeData::List(items) => out.extend(items.iter().enumerate().map(|(at, &t)| (index, Some(at), t))),
                _ => out.push((index, None, ty)),
            }
        }
        out
    }

    pub(super) fn wants_element(&self, index: usize) -> bool {
        self.wants(index)
    }

    pub(super) fn add_to_element(&mut self, index: usize, element: Option<usize>, g: ValueId) -> Result<(), String> {
        match element {
            Some(at) => self.add_element(index, at, g),
            None => self.add(index, g),
        }
    }

    /// The cotangents of all pieces of a split, zeros where there is none.
    pub(super) fn piece_grads(&mut self) -> Result<Vec<ValueId>, String> {
        let first = self.r.body.result(self.op, 0);
        let types: Option<Vec<Type>> = match self.ctx().type_data(self.r.body.value_type(first)) {
            TypeData::List(items) => Some(items.to_vec()),
            _ => None,
        };
        let mut out = Vec::new();
        match types {
            Some(types) => {
                for (at, ty) in types.into_iter().enumerate() {
                    out.push(match self.list_grads.get(at).copied().flatten() {
                        Some(g) => g,
                        None => self.zeros_of(ty)?,
                    });
                }
            }
            None => {
                for at in 0..self.r.body.num_results(self.op) {
                    out.push(match self.grads[at] {
                        Some(g) => g,
                        None => {
                            let like = self.result(at);
                            super::super::cotangent::zeros_like(self.r, like)?
                        }
                    });
                }
            }
        }
        Ok(out)
    }

    fn zeros_of(&mut self, ty: Type) -> Result<ValueId, String> {
        let ctx = self.ctx();
        let (shape, elem) = ctx.as_tensor(ty).ok_or("a piece that is not a tensor")?;
        if !ctx.is_static(ty) {
            return Err("the derivative of a split with an unused piece needs static shapes".to_owned());
        }
        let op = self
            .r
            .op("pd.full")
            .attr("shape", ctx.ints_attr(shape))
            .attr("value", ctx.float_attr(0.0))
            .attr("dtype", ctx.type_attr(elem))
            .result(ty)
            .build();
        Ok(self.r.body.result(op, 0))
    }
}
