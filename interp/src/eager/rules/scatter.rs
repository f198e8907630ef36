//! Scatter operations, and some that select or repeat elements.

use pir_dialects::pd;
use pir_ir::Attr;

use super::super::Slot;
use super::super::data_movement::numbers;
use super::super::value::V;
use super::elementwise::failed;
use super::reduce::extremum as first_extremum;
use super::{Cx, OUT, OUTPUTS, REST, Rule, X, composite, data_movement, one};
use crate::tensor::Tensor as Dense;

pub(super) const RULES: &[Rule] = &[
    data_movement(pd::Embedding::NAME),
    composite(pd::Scatter::NAME, |c| vec![or_failed(c, scatter(c))]),
    composite(pd::ScatterNdAdd::NAME, |c| {
        vec![or_failed(c, added(c, pd::GatherNd::NAME, &[]))]
    }),
    composite(pd::IndexAdd::NAME, |c| {
        let axis = c.engine.ctx().int_attr(c.int("axis", 0));
        vec![or_failed(c, added(c, pd::IndexSelect::NAME, &[("axis", axis)]))]
    }),
    composite(pd::PutAlongAxis::NAME, |c| vec![or_failed(c, put_along_axis(c))]),
    data_movement(pd::IndexSample::NAME),
    data_movement(pd::MaskedSelect::NAME),
    data_movement(pd::MaskedFill::NAME),
    data_movement(pd::StridedSlice::NAME),
    data_movement(pd::SetValueWithTensor::NAME),
    data_movement(pd::RepeatInterleave::NAME),
    data_movement(pd::Unbind::NAME),
    data_movement(pd::Meshgrid::NAME),
    data_movement(pd::Pad3d::NAME),
    one(pd::Topk::NAME, OUTPUTS | REST, sorted),
    one(pd::Argsort::NAME, OUTPUTS, sorted),
    one(pd::Cummax::NAME, OUTPUTS | REST, sorted),
    one(pd::Cummin::NAME, OUTPUTS | REST, sorted),
    one(pd::Kthvalue::NAME, OUTPUTS | REST, |c| {
        let shape = c.shape(0);
        if shape.is_empty() {
            return c.grad().reshape(&shape);
        }
        let found = c.axis("axis", -1, shape.len()).and_then(|at| {
            let mut kept = shape.clone();
            kept[at] = 1;
            let axis = c.engine.ctx().int_attr(at as i64);
            let index = c.result(1).reshape(&kept);
            Ok((
                places(c, pd::TakeAlongAxis::NAME, &shape, &index, &[("axis", axis)])?,
                kept,
            ))
        });
        match found {
            Ok((places, kept)) => c.grad().reshape(&kept).put(&places, &shape),
            Err(e) => failed(c, &e),
        }
    }),
    composite(pd::NllLoss::NAME, |c| match nll_loss(c) {
        Ok(results) => results,
        Err(e) => vec![failed(c, &e), failed(c, &e)],
    }),
    one(pd::Amax::NAME, X | OUT, first_extremum),
    one(pd::Amin::NAME, X | OUT, first_extremum),
];

/// The negative of the label's element along axis 1, weighted; and the sum of the weights.
fn nll_loss<'e>(c: &Cx<'e>) -> Result<Vec<V<'e>>, String> {
    let (shape, dims) = (c.shape(0), c.shape(1));
    let labels = c.input(1)?.to_i64();
    let ignored = c.int("ignore_index", -100);
    let classes = labels.iter().map(|&l| if l == ignored { 0 } else { l }).collect();
    let classes = V::constant(c.engine, Dense::new(&dims, classes));
    let counts = labels.iter().map(|&l| f64::from(u8::from(l != ignored))).collect();
    let mut weights = V::constant(c.engine, Dense::new(&dims, counts).and_then(|t| t.cast(c.dtype(0))));
    if let Some(at) = c.declared(2) {
        weights = c.arg(at).take(&classes) * weights;
    }
    let mut kept = shape.clone();
    kept[1] = 1;
    let axis = c.engine.ctx().int_attr(1);
    let places = places(
        c,
        pd::TakeAlongAxis::NAME,
        &shape,
        &classes.reshape(&kept),
        &[("axis", axis)],
    )?;
    let losses = -(c.x().take(&places).reshape(&dims) * weights.clone());
    let axes: Vec<usize> = (0..dims.len()).collect();
    let total = weights.sum(&axes, false);
    Ok(match c.text("reduction").unwrap_or("mean") {
        "none" => vec![losses, total.filled(0.0)],
        "sum" => vec![losses.sum(&axes, false), total],
        _ => vec![losses.sum(&axes, false) / total.clone(), total],
    })
}

fn or_failed<'e>(c: &Cx<'e>, v: Result<V<'e>, String>) -> V<'e> {
    v.unwrap_or_else(|e| failed(c, &e))
}

/// The indices at which a gathering operation finds each element of a tensor of a shape.
fn places<'e>(c: &Cx<'e>, op: &str, shape: &[usize], index: &V<'e>, attrs: &[(&str, Attr)]) -> Result<V<'e>, String> {
    let slots = [Slot::One(numbers(shape)?), Slot::One(index.tensor.clone()?)];
    let found = c
        .engine
        .compute(c.engine.ctx().op_name(op), &slots, c.engine.dict(attrs))?;
    Ok(V::constant(
        c.engine,
        found.into_iter().next().ok_or_else(|| "a result is missing".to_owned()),
    ))
}

/// The operand with updates added at the indices from which an operation would gather.
fn added<'e>(c: &Cx<'e>, op: &str, attrs: &[(&str, Attr)]) -> Result<V<'e>, String> {
    let shape = c.shape(0);
    let places = places(c, op, &shape, &c.y(), attrs)?;
    Ok(c.x() + c.arg(2).reshape(&places.shape()).put(&places, &shape))
}

fn scatter<'e>(c: &Cx<'e>) -> Result<V<'e>, String> {
    let shape = c.shape(0);
    let axis = c.engine.ctx().int_attr(0);
    let index = c.y();
    let index = index.reshape(&[index.shape().iter().product()]);
    let places = places(c, pd::Gather::NAME, &shape, &index, &[("axis", axis)])?;
    let updates = c.arg(2).reshape(&places.shape());
    let kept = if c.bool("overwrite", true) {
        last_ones(&places, &updates)?
    } else {
        updates.filled(1.0)
    };
    let hit = updates.filled(1.0).put(&places, &shape);
    let rest = c.x() * hit.test("equal", &hit.filled(0.0));
    Ok(rest + (updates * kept).put(&places, &shape))
}

/// One for the last update of each index, zero for earlier ones.
fn last_ones<'e>(places: &V<'e>, like: &V<'e>) -> Result<V<'e>, String> {
    let at = places.tensor.clone()?.to_i64();
    let mut seen = rustc_hash::FxHashSet::default();
    let mut ones: Vec<f64> = at.iter().rev().map(|&p| f64::from(u8::from(seen.insert(p)))).collect();
    ones.reverse();
    let ones = Dense::new(&places.shape(), ones).and_then(|t| t.cast(like.dtype()));
    Ok(V::constant(places.engine, ones))
}

fn put_along_axis<'e>(c: &Cx<'e>) -> Result<V<'e>, String> {
    let shape = c.shape(0);
    let axis = c.engine.ctx().int_attr(c.int("axis", 0));
    let places = places(c, pd::TakeAlongAxis::NAME, &shape, &c.y(), &[("axis", axis)])?;
    let values = c.arg(2).expand(&places.shape());
    let hit = values.filled(1.0).put(&places, &shape);
    let has_self = c.bool("include_self", true);
    let free = hit.test("equal", &hit.filled(0.0));
    let start = if has_self { c.x() } else { c.x() * free.clone() };
    match c.text("reduce").unwrap_or("assign") {
        "add" => return Ok(start + values.put(&places, &shape)),
        "mean" => {
            let own = if has_self { hit.filled(1.0) } else { free };
            return Ok((start + values.put(&places, &shape)) / (own + hit));
        }
        "assign" => {
            let kept = last_ones(&places, &values)?;
            return Ok(c.x() * free + (values * kept).put(&places, &shape));
        }
        mode @ ("amax" | "amin") => {
            let ctx = c.engine.ctx();
            let own = ctx.bool_attr(has_self);
            let attrs = [("axis", axis), ("reduce", ctx.str_attr(mode)), ("include_self", own)];
            let out = c.x().detached();
            let out = out.op(pd::PutAlongAxis::NAME, &[&c.y(), &values.detached()], &attrs);
            let (kept, chosen) = (c.x().test("equal", &out), values.test("equal", &out.take(&places)));
            let kept = if has_self { kept } else { kept * free };
            let count = kept.clone() + chosen.put(&places, &shape);
            return Ok((c.x() * kept + (values * chosen).put(&places, &shape)) / count);
        }
        _ => {}
    }
    // Multiplies one factor per index at a time: all first factors, then all second ones, and so on.
    let at = places.tensor.clone()?.to_i64();
    let mut counts = rustc_hash::FxHashMap::default();
    let turns: Vec<usize> = at
        .iter()
        .map(|&p| {
            let count = counts.entry(p).or_insert(0usize);
            *count += 1;
            *count
        })
        .collect();
    let mut product = if has_self { start } else { start + (1.0 - free) };
    for turn in 1..=turns.iter().copied().max().unwrap_or(0) {
        let own = turns.iter().map(|&t| f64::from(u8::from(t == turn))).collect();
        let own = Dense::new(&places.shape(), own).and_then(|t| t.cast(values.dtype()));
        let own = V::constant(c.engine, own);
        let factor = (values.clone() * own.clone()).put(&places, &shape) + (1.0 - own.put(&places, &shape));
        product = product * factor;
    }
    Ok(product)
}

/// Each gradient goes back to the position of the element before sorting.
fn sorted<'e>(c: &Cx<'e>) -> V<'e> {
    let shape = c.shape(0);
    if shape.is_empty() {
        return c.grad().reshape(&shape);
    }
    let axis = c.engine.ctx().int_attr(c.int("axis", -1));
    match places(c, pd::TakeAlongAxis::NAME, &shape, &c.result(1), &[("axis", axis)]) {
        Ok(places) => c.grad().put(&places, &shape),
        Err(e) => failed(c, &e),
    }
}
