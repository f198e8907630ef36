//! Operations that query and change shapes, and that move elements.

use pir_ir::Type;

use super::super::super::proto::{ListValue, Value};
use super::super::super::types::{INT32, INT64, Number};
use super::super::emit::{Emit, List, Result};
use super::Write;

pub(super) const TABLE: &[(&str, Write)] = &[
    ("arange", |e| {
        let (_, elem) = e.result_type(0)?;
        let start = e.number("start", 0.0, elem)?;
        let end = e.number("end", 0.0, elem)?;
        let step = e.number("step", 1.0, elem)?;
        let ty = e.dtype(elem)?;
        e.node("Range", &[start, end, step], &[("Tidx", ty)]);
        Ok(())
    }),
    ("concat", |e| {
        let axis = e.view.int("axis").unwrap_or(0);
        if e.view.attr("axis").is_none() && e.list("axis")?.is_some() {
            return Err("its axis is unknown".to_owned());
        }
        let mut inputs = e.inputs()?;
        let count = inputs.len() as i64;
        let ty = e.dtype(e.elem()?)?;
        if count == 1 {
            // One tensor alone is none of its inputs.
            e.node("Identity", &inputs, &[("T", ty)]);
            return Ok(());
        }
        inputs.push(e.axis(axis)?);
        let attrs = [("T", ty), ("N", Value::Int(count)), ("Tidx", Value::Type(INT32))];
        e.node("ConcatV2", &inputs, &attrs);
        Ok(())
    }),
    ("expand", |e| {
        let (dims, _) = e.result_type(0)?;
        let x = e.input(0)?;
        let shape = match (dims.iter().all(|&d| d >= 0), e.list("shape")?) {
            (true, _) => e.vector(&dims)?,
            (false, Some(List::Operand(shape))) => shape,
            _ => return Err("several dimensions of its result are unknown".to_owned()),
        };
        broadcast(e, x, shape)
    }),
    ("expand_as", |e| {
        let (x, shape) = (e.input(0)?, e.shape_of(1)?);
        broadcast(e, x, shape)
    }),
    ("flatten", |e| {
        // The shape of the result implies them.
        e.view.sees("start_axis");
        e.view.sees("stop_axis");
        to_shape(e)
    }),
    ("flip", |e| {
        let (x, ty) = (e.input(0)?, e.dtype(e.elem()?)?);
        let axes = e.ints("axis").ok_or("its axes are missing")?;
        let axes = e.vector(&axes)?;
        e.node("ReverseV2", &[x, axes], &[("T", ty), ("Tidx", Value::Type(INT64))]);
        Ok(())
    }),
    ("numel", |e| {
        let (x, ty) = (e.input(0)?, e.dtype(e.elem()?)?);
        e.node("Size", &[x], &[("T", ty), ("out_type", Value::Type(INT64))]);
        Ok(())
    }),
    ("pad", |e| {
        let (x, elem) = (e.input(0)?, e.elem()?);
        let sizes = e.ints("paddings").ok_or("its sizes are missing")?;
        let value = e.number("pad_value", 0.0, elem)?;
        let numbers: Vec<Number> = sizes.iter().map(|&v| Number::Int(v.into())).collect();
        let sizes = e.constant(INT64, &[sizes.len() as i64 / 2, 2], &numbers)?;
        let attrs = [("T", e.dtype(elem)?), ("Tpaddings", Value::Type(INT64))];
        e.node("PadV2", &[x, sizes, value], &attrs);
        Ok(())
    }),
    ("reshape", to_shape),
    ("roll", |e| {
        let (x, ty) = (e.input(0)?, e.dtype(e.elem()?)?);
        let (Some(List::Known(shifts)), axes) = (e.list("shifts")?, e.ints("axis").unwrap_or_default()) else {
            return Err("its shifts are unknown".to_owned());
        };
        if axes.len() != shifts.len() {
            return Err("its axes are missing".to_owned());
        }
        let (shifts, axes) = (e.vector(&shifts)?, e.vector(&axes)?);
        let attrs = [("T", ty), ("Tshift", Value::Type(INT64)), ("Taxis", Value::Type(INT64))];
        e.node("Roll", &[x, shifts, axes], &attrs);
        Ok(())
    }),
    ("shape", shape),
    ("shape64", shape),
    ("split", |e| {
        let x = e.input(0)?;
        // The shapes of the results imply the sizes.
        let _ = e.list("sections")?;
        let axis = e.view.int("axis").ok_or("its axis is unknown")?;
        let rank = e.operand_type(0)?.0.len() as i64;
        let at = axis.rem_euclid(rank.max(1)) as usize;
        let count = e.view.body.num_results(e.view.op);
        let size = |i: usize| {
            e.result_type(i)?
                .0
                .get(at)
                .copied()
                .ok_or_else(|| "its axis is out of range".to_owned())
        };
        let sizes = (0..count).map(size).collect::<Result<Vec<i64>>>()?;
        let (sizes, axis) = (e.vector(&sizes)?, e.axis(axis)?);
        let attrs = [
            ("T", e.dtype(e.elem()?)?),
            ("num_split", Value::Int(count as i64)),
            ("Tlen", Value::Type(INT64)),
        ];
        e.node("SplitV", &[x, sizes, axis], &attrs);
        Ok(())
    }),
    ("split_with_num", |e| {
        let x = e.input(0)?;
        // The number of results implies it.
        e.view.sees("num");
        let axis = e.view.int("axis").ok_or("its axis is unknown")?;
        let count = e.view.body.num_results(e.view.op) as i64;
        let axis = e.axis(axis)?;
        let attrs = [("T", e.dtype(e.elem()?)?), ("num_split", Value::Int(count))];
        e.node("Split", &[axis, x], &attrs);
        Ok(())
    }),
    ("squeeze", |e| {
        let (dims, _) = e.operand_type(0)?;
        let rank = dims.len() as i64;
        let axes: Vec<i64> = match e.list("axis")? {
            Some(List::Operand(_)) => return to_shape(e),
            Some(List::Known(axes)) if !axes.is_empty() => axes.iter().map(|a| a.rem_euclid(rank.max(1))).collect(),
            _ => (0..rank).collect(),
        };
        // Axes with another extent stay.
        let ones = (0i64..).zip(&dims).filter(|(i, d)| **d == 1 && axes.contains(i));
        let ones: Vec<i64> = ones.map(|(i, _)| i).collect();
        let (x, ty) = (e.input(0)?, e.dtype(e.elem()?)?);
        match ones.is_empty() {
            true => e.node("Identity", &[x], &[("T", ty)]),
            false => e.node("Squeeze", &[x], &[("T", ty), ("squeeze_dims", ints(ones))]),
        }
        Ok(())
    }),
    ("tile", |e| {
        let (x, ty) = (e.input(0)?, e.dtype(e.elem()?)?);
        let Some(List::Known(mut times)) = e.list("repeat_times")? else {
            return Err("its number of repetitions is unknown".to_owned());
        };
        let (mut dims, elem) = e.operand_type(0)?;
        let x = match times.len().checked_sub(dims.len()) {
            Some(more) if more > 0 => {
                dims.splice(0..0, vec![1; more]);
                e.reshape(x, &dims, elem)?
            }
            _ => x,
        };
        times.splice(0..0, vec![1; dims.len().saturating_sub(times.len())]);
        let times = e.vector(&times)?;
        e.node("Tile", &[x, times], &[("T", ty), ("Tmultiples", Value::Type(INT64))]);
        Ok(())
    }),
    ("transpose", |e| {
        let (x, elem) = (e.input(0)?, e.elem()?);
        let perm = e.ints("perm").ok_or("its permutation is missing")?;
        let rank = perm.len() as i64;
        let perm: Vec<i64> = perm.iter().map(|p| p.rem_euclid(rank.max(1))).collect();
        let out = transpose(e, x, &perm, elem)?;
        e.result(0, out)
    }),
    ("tril", |e| triangle(e, true)),
    ("triu", |e| triangle(e, false)),
    ("unbind", unpack),
    ("unsqueeze", |e| {
        // If the axes are dynamic, so is the shape of the result.
        let _ = e.list("axis")?;
        to_shape(e)
    }),
    ("unstack", unpack),
];

/// A list of integers as an attribute.
pub(super) fn ints(ints: Vec<i64>) -> Value {
    Value::List(ListValue {
        ints,
        ..ListValue::default()
    })
}

/// Permutes the dimensions.
pub(super) fn transpose(e: &mut Emit<'_, '_>, x: String, perm: &[i64], elem: Type) -> Result<String> {
    let perm = e.vector(perm)?;
    let attrs = [("T", e.dtype(elem)?), ("Tperm", Value::Type(INT64))];
    Ok(e.op("Transpose", &[x, perm], &attrs))
}

fn shape(e: &mut Emit<'_, '_>) -> Result<()> {
    let (x, ty) = (e.input(0)?, e.dtype(e.elem()?)?);
    let (_, out) = e.result_type(0)?;
    let attrs = [("T", ty), ("out_type", e.dtype(out)?)];
    e.node("Shape", &[x], &attrs);
    Ok(())
}

/// Reshapes to the shape of the result.
fn to_shape(e: &mut Emit<'_, '_>) -> Result<()> {
    let (x, (dims, elem)) = (e.input(0)?, e.result_type(0)?);
    let unknown = dims.iter().filter(|&&d| d < 0).count();
    let out = match e.list("shape")? {
        Some(List::Operand(shape)) if unknown > 1 => {
            let attrs = [("T", e.dtype(elem)?), ("Tshape", Value::Type(INT64))];
            e.op("Reshape", &[x, shape], &attrs)
        }
        _ => e.reshape(x, &dims, elem)?,
    };
    e.result(0, out)
}

fn broadcast(e: &mut Emit<'_, '_>, x: String, shape: String) -> Result<()> {
    let attrs = [("T", e.dtype(e.elem()?)?), ("Tidx", Value::Type(INT64))];
    e.node("BroadcastTo", &[x, shape], &attrs);
    Ok(())
}

fn unpack(e: &mut Emit<'_, '_>) -> Result<()> {
    let x = e.input(0)?;
    // The number of results implies it.
    e.view.sees("num");
    let attrs = [
        ("T", e.dtype(e.elem()?)?),
        ("num", Value::Int(e.view.body.num_results(e.view.op) as i64)),
        ("axis", Value::Int(e.view.int("axis").unwrap_or(0))),
    ];
    e.node("Unpack", &[x], &attrs);
    Ok(())
}

/// Sets one side of a diagonal to zero.
fn triangle(e: &mut Emit<'_, '_>, lower: bool) -> Result<()> {
    let (x, elem) = (e.input(0)?, e.elem()?);
    // TensorFlow refuses one beyond the corners, from where on nothing or all is kept.
    let diagonal = e.view.int("diagonal").unwrap_or(0);
    let diagonal = match e.operand_type(0)?.0[..] {
        [.., rows, columns] if rows >= 0 && columns >= 0 => diagonal.clamp(-rows, columns),
        _ => diagonal,
    };
    // `MatrixBandPart` keeps a band that includes the main diagonal: it computes the part to keep, or the part to
    // subtract.
    let kept = if lower { diagonal >= 0 } else { diagonal <= 0 };
    let (below, above) = match (lower, kept) {
        (true, true) => (-1, diagonal),
        (true, false) => (-diagonal - 1, -1),
        (false, true) => (-diagonal, -1),
        (false, false) => (-1, diagonal - 1),
    };
    let (below, above) = (
        e.constant(INT64, &[], &[Number::Int(below.into())])?,
        e.constant(INT64, &[], &[Number::Int(above.into())])?,
    );
    let attrs = [("T", e.dtype(elem)?), ("Tindex", Value::Type(INT64))];
    if kept {
        e.node("MatrixBandPart", &[x, below, above], &attrs);
        return Ok(());
    }
    let ones = e.unary("OnesLike", &x, elem)?;
    let band = e.op("MatrixBandPart", &[ones, below, above], &attrs);
    let band = e.cast(band, elem, Type::I1)?;
    let zero = e.num(0.0, elem)?;
    let out = e.select(&band, &zero, &x, elem)?;
    e.result(0, out)
}
