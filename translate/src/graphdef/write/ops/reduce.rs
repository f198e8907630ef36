//! Sums and other reductions, and their gradients.

use pir_ir::Type;

use super::super::super::proto::Value;
use super::super::super::types::INT64;
use super::super::emit::{Emit, List, Result};
use super::Write;

pub(super) const TABLE: &[(&str, Write)] = &[
    ("all", |e| truth(e, "All")),
    ("amax", |e| reduce(e, "Max")),
    ("amin", |e| reduce(e, "Min")),
    ("any", |e| truth(e, "Any")),
    ("cumprod", |e| {
        let axis = e.view.int("dim").ok_or("its axis is unknown")?;
        let axis = e.axis(axis)?;
        running(e, "Cumprod", axis)
    }),
    ("cumsum", |e| {
        if e.flag("flatten", false) {
            return Err("flatten the tensor with `pd.reshape` first".to_owned());
        }
        let axis = e.number("axis", -1.0, Type::I32)?;
        running(e, "Cumsum", axis)
    }),
    ("frobenius_norm", |e| {
        let (x, elem) = (e.input(0)?, e.elem()?);
        let square = e.unary("Square", &x, elem)?;
        let keep = e.flag("keep_dim", false);
        let axes = axes(e, if e.flag("reduce_all", false) { "" } else { "axis" })?;
        let sum = over(e, "Sum", square, axes, keep, elem)?;
        let out = e.unary("Sqrt", &sum, elem)?;
        e.result(0, out)
    }),
    ("logsumexp", |e| {
        let (x, elem) = (e.input(0)?, e.elem()?);
        let axes = match (e.flag("reduce_all", false), e.ints("axis")) {
            (true, _) => axes(e, "")?,
            (false, None) => e.vector(&[0])?,
            (false, Some(_)) => axes(e, "axis")?,
        };
        let keep = e.flag("keepdim", false);
        let top = over(e, "Max", x.clone(), axes.clone(), true, elem)?;
        let shifted = e.binary("Sub", &x, &top, elem)?;
        let powers = e.unary("Exp", &shifted, elem)?;
        let sum = over(e, "Sum", powers, axes.clone(), keep, elem)?;
        let log = e.unary("Log", &sum, elem)?;
        let top = if keep {
            top
        } else {
            over(e, "Max", x, axes, false, elem)?
        };
        let out = e.binary("AddV2", &log, &top, elem)?;
        e.result(0, out)
    }),
    ("max", |e| reduce(e, "Max")),
    ("max_grad", extremum_grad),
    ("mean", |e| reduce(e, "Mean")),
    ("mean_all", |e| {
        let (x, elem, axes) = (e.input(0)?, e.elem()?, axes(e, "")?);
        let out = over(e, "Mean", x, axes, false, elem)?;
        let (dims, _) = e.result_type(0)?;
        let out = if dims.is_empty() {
            out
        } else {
            e.reshape(out, &dims, elem)?
        };
        e.result(0, out)
    }),
    ("min", |e| reduce(e, "Min")),
    ("min_grad", extremum_grad),
    ("prod", |e| reduce(e, "Prod")),
    ("prod_grad", prod_grad),
    ("reduce_as", |e| {
        let (x, from) = (e.input(0)?, e.operand_type(0)?.0);
        let out = match e.view.ints("shape") {
            Some(_) => {
                let to = e.result_type(0)?.0;
                e.view.sees_operand(1);
                sum_static(e, x, &from, &to)?
            }
            None => sum_to(e, x, &from, 1)?,
        };
        e.result(0, out)
    }),
    ("sum", |e| reduce(e, "Sum")),
    ("squared_l2_norm", |e| {
        let (x, elem, axes) = (e.input(0)?, e.elem()?, axes(e, "")?);
        let square = e.unary("Square", &x, elem)?;
        let sum = over(e, "Sum", square, axes, false, elem)?;
        let (dims, _) = e.result_type(0)?;
        let out = e.reshape(sum, &dims, elem)?;
        e.result(0, out)
    }),
];

/// The axes that an attribute or an operand names, or all.
fn axes(e: &mut Emit<'_, '_>, name: &str) -> Result<String> {
    let rank = e.operand_type(0)?.0.len() as i64;
    match e.list(name)? {
        Some(List::Operand(axes)) => Ok(axes),
        Some(List::Known(axes)) if !axes.is_empty() => e.vector(&axes),
        _ => {
            let all: Vec<i64> = (0..rank).collect();
            e.vector(&all)
        }
    }
}

/// A reduction over axes.
pub(super) fn over(e: &mut Emit<'_, '_>, op: &str, x: String, axes: String, keep: bool, elem: Type) -> Result<String> {
    let mut attrs = vec![("keep_dims", Value::Bool(keep)), ("Tidx", Value::Type(INT64))];
    if !matches!(op, "All" | "Any") {
        attrs.push(("T", e.dtype(elem)?));
    }
    Ok(e.op(op, &[x, axes], &attrs))
}

/// The same over constant axes.
pub(super) fn along(e: &mut Emit<'_, '_>, op: &str, x: &str, axes: &[i64], keep: bool, elem: Type) -> Result<String> {
    let axes = e.vector(axes)?;
    over(e, op, x.to_owned(), axes, keep, elem)
}

fn reduce(e: &mut Emit<'_, '_>, op: &str) -> Result<()> {
    let (from, to) = (e.elem()?, e.result_type(0)?.1);
    let x = e.input(0)?;
    let x = e.cast(x, from, to)?;
    let (axes, keep) = (axes(e, "axis")?, e.flag("keepdim", false));
    let out = over(e, op, x, axes, keep, to)?;
    e.result(0, out)
}

fn truth(e: &mut Emit<'_, '_>, op: &str) -> Result<()> {
    let (x, elem) = (e.input(0)?, e.elem()?);
    let x = e.cast(x, elem, Type::I1)?;
    let (axes, keep) = (axes(e, "axis")?, e.flag("keepdim", false));
    let out = over(e, op, x, axes, keep, Type::I1)?;
    e.result(0, out)
}

fn running(e: &mut Emit<'_, '_>, op: &str, axis: String) -> Result<()> {
    let (x, elem) = (e.input(0)?, e.elem()?);
    let attrs = [
        ("T", e.dtype(elem)?),
        ("exclusive", Value::Bool(e.flag("exclusive", false))),
        ("reverse", Value::Bool(e.flag("reverse", false))),
    ];
    e.node(op, &[x, axis], &attrs);
    Ok(())
}

/// Sums over the dimensions that a broadcast added or expanded.
fn sum_static(e: &mut Emit<'_, '_>, x: String, from: &[i64], to: &[i64]) -> Result<String> {
    if from == to {
        return Ok(x);
    }
    let elem = e.elem()?;
    let new = from.len().saturating_sub(to.len());
    let grown = |i: usize| i < new || from.get(i).is_some_and(|&d| d != 1) && to.get(i - new) == Some(&1);
    let axes: Vec<i64> = (0..from.len()).filter(|&i| grown(i)).map(|i| i as i64).collect();
    let sum = along(e, "Sum", &x, &axes, false, elem)?;
    e.reshape(sum, to, elem)
}

/// The same, to the shape of an operand.
pub(super) fn sum_to(e: &mut Emit<'_, '_>, x: String, from: &[i64], operand: usize) -> Result<String> {
    let (to, elem) = e.operand_type(operand)?;
    e.view.sees_operand(operand);
    if from.iter().chain(&to).all(|&d| d >= 0) {
        return sum_static(e, x, from, &to);
    }
    let shape = e.shape_of(operand)?;
    let ty = e.dtype(elem)?;
    let own = e.op(
        "Shape",
        std::slice::from_ref(&x),
        &[("T", ty.clone()), ("out_type", Value::Type(INT64))],
    );
    let axes = e.op(
        "BroadcastGradientArgs",
        &[shape.clone(), own],
        &[("T", Value::Type(INT64))],
    );
    let sum = over(e, "Sum", x, axes, false, elem)?;
    Ok(e.op("Reshape", &[sum, shape], &[("T", ty), ("Tshape", Value::Type(INT64))]))
}

/// The axes of a reduction that is known, and the shape that its result has if they are kept.
fn reduced(e: &mut Emit<'_, '_>) -> Result<(Vec<i64>, Vec<i64>)> {
    let (dims, _) = e.operand_type(0)?;
    let rank = dims.len() as i64;
    // The result is reshaped.
    e.view.sees("keepdim");
    let all = e.flag("reduce_all", false);
    let axes: Vec<i64> = match e.list("axis")? {
        _ if all => (0..rank).collect(),
        Some(List::Operand(_)) => return Err("its axes are unknown".to_owned()),
        Some(List::Known(axes)) if !axes.is_empty() => axes.iter().map(|a| a.rem_euclid(rank.max(1))).collect(),
        _ => (0..rank).collect(),
    };
    let kept = (0i64..)
        .zip(&dims)
        .map(|(i, &d)| if axes.contains(&i) { 1 } else { d })
        .collect();
    Ok((axes, kept))
}

/// Ties share the gradient evenly.
fn extremum_grad(e: &mut Emit<'_, '_>) -> Result<()> {
    let (x, out, g, elem) = (e.input(0)?, e.input(1)?, e.input(2)?, e.elem()?);
    let (axes, kept) = reduced(e)?;
    let out = e.reshape(out, &kept, elem)?;
    let g = e.reshape(g, &kept, elem)?;
    let chosen = e.binary("Equal", &x, &out, elem)?;
    let chosen = e.cast(chosen, Type::I1, elem)?;
    let ties = along(e, "Sum", &chosen, &axes, true, elem)?;
    let share = e.binary("RealDiv", &g, &ties, elem)?;
    let grad = e.binary("Mul", &chosen, &share, elem)?;
    e.result(0, grad)
}

/// The gradient of a product: the product of all other elements, those before and those after.
fn prod_grad(e: &mut Emit<'_, '_>) -> Result<()> {
    let (x, g, (dims, elem)) = (e.input(0)?, e.input(2)?, e.operand_type(0)?);
    e.view.sees_operand(1);
    let (axes, kept) = reduced(e)?;
    if dims.iter().any(|&d| d < 0) {
        return Err("its shape is unknown".to_owned());
    }
    let rest = (0..dims.len() as i64).filter(|axis| !axes.contains(axis));
    let order: Vec<i64> = rest.chain(axes.iter().copied()).collect();
    let extents: Vec<i64> = order.iter().map(|&axis| dims[axis as usize]).collect();
    let count: i64 = axes.iter().map(|&axis| dims[axis as usize]).product();
    let flat = [&extents[..extents.len() - axes.len()], &[count]].concat();
    let rows = super::shape::transpose(e, x, &order, elem)?;
    let rows = e.reshape(rows, &flat, elem)?;
    let last = e.axis(-1)?;
    let mut others = |reverse| {
        let attrs = [
            ("T", e.dtype(elem)?),
            ("exclusive", Value::Bool(true)),
            ("reverse", Value::Bool(reverse)),
        ];
        Ok::<_, String>(e.op("Cumprod", &[rows.clone(), last.clone()], &attrs))
    };
    let (before, behind) = (others(false)?, others(true)?);
    let product = e.binary("Mul", &before, &behind, elem)?;
    let product = e.reshape(product, &extents, elem)?;
    let mut back = vec![0; order.len()];
    for (place, &axis) in order.iter().enumerate() {
        back[axis as usize] = place as i64;
    }
    let product = super::shape::transpose(e, product, &back, elem)?;
    let g = e.reshape(g, &kept, elem)?;
    let out = e.binary("Mul", &product, &g, elem)?;
    e.result(0, out)
}
