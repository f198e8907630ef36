//! Operations of MLIR's `tensor`. They move elements, so their derivatives move cotangents; what is added to a few elements of a cotangent
//! changes these only, which bufferization makes a change in place.

use pir_dialects::mlir::{arith, sizes, tensor};
use pir_dialects::stablehlo::from_pd::array;
use pir_ir::text::segment_sizes;
use pir_ir::{Arith, AttrData, Type, ValueId};

use super::{Rule, RuleCx, rule};
use crate::autodiff::cotangent::zeros_like;
use crate::autodiff::elements::{fold_elements, index, number};

pub(super) const RULES: &[Rule] = &[
    rule(tensor::Cast::NAME, |cx| restated(cx, tensor::Cast::NAME, &[])),
    rule(tensor::CollapseShape::NAME, |cx| {
        restated(cx, tensor::ExpandShape::NAME, &["reassociation"])
    }),
    rule(tensor::ExpandShape::NAME, |cx| {
        restated(cx, tensor::CollapseShape::NAME, &["reassociation"])
    }),
    rule(tensor::Extract::NAME, extract),
    rule(tensor::Insert::NAME, insert),
    rule(tensor::FromElements::NAME, from_elements),
    rule(tensor::Splat::NAME, splat),
    rule(tensor::ExtractSlice::NAME, extract_slice),
    rule(tensor::InsertSlice::NAME, insert_slice),
];

type Done = Result<(), String>;

fn grad(cx: &RuleCx<'_, '_>) -> Result<ValueId, String> {
    let first = cx.grads.first().copied().flatten();
    first.ok_or_else(|| "its result has no cotangent".to_owned())
}

/// The operands from `from` on, where the rule emits.
fn operands(cx: &RuleCx<'_, '_>, from: usize) -> Vec<ValueId> {
    (from..cx.num_operands()).map(|at| cx.operand(at)).collect()
}

/// The cotangent under the type of the operand, by an operation with these attributes of the differentiated one.
fn restated(cx: &mut RuleCx<'_, '_>, by: &str, kept: &[&str]) -> Done {
    let (grad, ty) = (grad(cx)?, cx.operand_type(0));
    let attrs: Vec<_> = kept
        .iter()
        .filter_map(|&name| Some((name, cx.view().attr(name)?)))
        .collect();
    let shape = match by {
        tensor::ExpandShape::NAME => Some(cx.static_shape(0).ok_or("the shape of the operand is unknown")?),
        _ => None,
    };
    if by == tensor::CollapseShape::NAME && !cx.ctx().is_static(ty) {
        return Err("the shape of the operand is unknown".to_owned());
    }
    let shape = shape.map(|shape| array(cx.ctx(), &shape));
    let mut op = cx.r.op(by).operand(grad);
    for (name, value) in attrs {
        op = op.attr(name, value);
    }
    if let Some(shape) = shape {
        op = op.attr("static_output_shape", shape);
    }
    let grad = op.result(ty).value();
    cx.add(0, grad)
}

/// The sum of the cotangents of an operand so far, if there is one, or zeros.
fn so_far(cx: &mut RuleCx<'_, '_>, index: usize) -> Result<(ValueId, bool), String> {
    let operand = cx.r.body.operand(cx.op, index);
    match cx.frame.get(operand) {
        Some(sum) => Ok((sum, true)),
        None => {
            let like = cx.operand(index);
            Ok((zeros_like(cx.r, like)?, false))
        }
    }
}

/// How a part of a tensor is read, and how a tensor with another part is made.
type Get = fn(&mut RuleCx<'_, '_>, ValueId, Type, &[ValueId]) -> Result<ValueId, String>;
type Put = fn(&mut RuleCx<'_, '_>, ValueId, ValueId, &[ValueId]) -> Result<ValueId, String>;

/// Adds the cotangent of a part to that of the tensor that it was read from.
fn add_part(cx: &mut RuleCx<'_, '_>, get: Get, put: Put) -> Done {
    let (grad, at) = (grad(cx)?, operands(cx, 1));
    let (sum, is_sum) = so_far(cx, 0)?;
    let grad = match is_sum {
        true => {
            let ty = cx.r.body.value_type(grad);
            let old = get(cx, sum, ty, &at)?;
            cx.r.compute(Arith::Add, &[old, grad])?
        }
        false => grad,
    };
    let sum = put(cx, grad, sum, &at)?;
    cx.accumulated(0, sum)
}

fn extract(cx: &mut RuleCx<'_, '_>) -> Done {
    add_part(cx, element, put)
}

/// An element of a tensor.
fn element(cx: &mut RuleCx<'_, '_>, tensor: ValueId, ty: Type, place: &[ValueId]) -> Result<ValueId, String> {
    let op = cx.r.op(tensor::Extract::NAME).operand(tensor);
    Ok(op.operands(place.iter().copied()).result(ty).value())
}

/// A tensor with another element.
fn put(cx: &mut RuleCx<'_, '_>, value: ValueId, tensor: ValueId, place: &[ValueId]) -> Result<ValueId, String> {
    let ty = cx.r.body.value_type(tensor);
    let op = cx.r.op(tensor::Insert::NAME).operands([value, tensor]);
    Ok(op.operands(place.iter().copied()).result(ty).value())
}

fn insert(cx: &mut RuleCx<'_, '_>) -> Done {
    let (grad, place) = (grad(cx)?, operands(cx, 2));
    let elem = cx.operand_type(0);
    if cx.wants(0) {
        let element = element(cx, grad, elem, &place)?;
        cx.add(0, element)?;
    }
    if cx.wants(1) {
        let zero = number(cx.r, elem, 0.0);
        let rest = put(cx, zero, grad, &place)?;
        cx.add(1, rest)?;
    }
    Ok(())
}

fn from_elements(cx: &mut RuleCx<'_, '_>) -> Done {
    let grad = grad(cx)?;
    let ty = cx.r.body.value_type(grad);
    let (shape, elem) = cx
        .ctx()
        .as_tensor(ty)
        .map(|(shape, elem)| (shape.to_vec(), elem))
        .ok_or("it returns no tensor")?;
    for at in 0..cx.num_operands() {
        if !cx.wants(at) {
            continue;
        }
        let mut rest = i64::try_from(at).map_err(|_| "there are too many elements")?;
        let mut place: Vec<i64> = Vec::new();
        for &extent in shape.iter().rev() {
            place.push(rest % extent.max(1));
            rest /= extent.max(1);
        }
        let place: Vec<ValueId> = place.into_iter().rev().map(|at| index(cx.r, at.into())).collect();
        let element = element(cx, grad, elem, &place)?;
        cx.add(at, element)?;
    }
    Ok(())
}

/// The sum of all elements.
fn splat(cx: &mut RuleCx<'_, '_>) -> Done {
    let (grad, elem) = (grad(cx)?, cx.operand_type(0));
    let shape = cx.ctx().as_tensor(cx.r.body.value_type(grad));
    let shape = shape.ok_or("a tensor was expected")?.0.to_vec();
    let sizes = sizes(cx.r, grad);
    let zero = number(cx.r, elem, 0.0);
    let sum = fold_elements(cx.r, &shape, &sizes, zero, |r, place, sum| {
        let element = r
            .op(tensor::Extract::NAME)
            .operand(grad)
            .operands(place.iter().copied());
        let element = element.result(elem).value();
        Ok(r.op(arith::Addf::NAME).operands([sum, element]).result(elem).value())
    })?;
    cx.add(0, sum)
}

/// The attributes of an operation on slices, with how many operands of each kind there are.
fn slice_attrs(cx: &RuleCx<'_, '_>, inserts: bool) -> Result<Vec<(&'static str, pir_ir::Attr)>, String> {
    let mut attrs = Vec::new();
    for name in ["static_offsets", "static_sizes", "static_strides"] {
        attrs.push((name, cx.view().attr(name).ok_or("its slice is unknown")?));
    }
    // The counts of offsets, sizes and strides are the last ones.
    let counts = match cx
        .view()
        .attr("operandSegmentSizes")
        .map(|attr| cx.ctx().attr_data(attr))
    {
        Some(AttrData::Elements(elements)) => elements.ints().map(|counts| counts.collect::<Vec<i64>>()),
        _ => None,
    };
    let counts = counts.ok_or("its number of operands is unknown")?;
    let own = if inserts { vec![1, 1] } else { vec![1] };
    let all: Vec<i64> = own
        .into_iter()
        .chain(counts[counts.len().saturating_sub(3)..].iter().copied())
        .collect();
    attrs.push(("operandSegmentSizes", segment_sizes(cx.ctx(), &all)));
    Ok(attrs)
}

fn slice(cx: &mut RuleCx<'_, '_>, of: ValueId, ty: Type, at: &[ValueId]) -> Result<ValueId, String> {
    let attrs = slice_attrs(cx, false)?;
    let op =
        cx.r.op(tensor::ExtractSlice::NAME)
            .operand(of)
            .operands(at.iter().copied());
    Ok(attrs
        .into_iter()
        .fold(op, |op, (name, value)| op.attr(name, value))
        .result(ty)
        .value())
}

fn put_slice(cx: &mut RuleCx<'_, '_>, part: ValueId, into: ValueId, at: &[ValueId]) -> Result<ValueId, String> {
    let (attrs, ty) = (slice_attrs(cx, true)?, cx.r.body.value_type(into));
    let op =
        cx.r.op(tensor::InsertSlice::NAME)
            .operands([part, into])
            .operands(at.iter().copied());
    Ok(attrs
        .into_iter()
        .fold(op, |op, (name, value)| op.attr(name, value))
        .result(ty)
        .value())
}

fn extract_slice(cx: &mut RuleCx<'_, '_>) -> Done {
    add_part(cx, slice, put_slice)
}

fn insert_slice(cx: &mut RuleCx<'_, '_>) -> Done {
    let (grad, at) = (grad(cx)?, operands(cx, 2));
    let ty = cx.operand_type(0);
    if cx.wants(0) {
        let part = slice(cx, grad, ty, &at)?;
        cx.add(0, part)?;
    }
    if cx.wants(1) {
        let like = cx.operand(0);
        let zeros = zeros_like(cx.r, like)?;
        let rest = put_slice(cx, zeros, grad, &at)?;
        cx.add(1, rest)?;
    }
    Ok(())
}
