//! Operations that select elements by index.

use pir_ir::Type;

use super::super::super::proto::Value;
use super::super::super::types::{INT32, INT64, Number};
use super::super::emit::{Emit, Result};
use super::Write;

pub(super) const TABLE: &[(&str, Write)] = &[
    ("argmax", |e| arg(e, "ArgMax")),
    ("argmin", |e| arg(e, "ArgMin")),
    ("embedding", |e| {
        if e.view.int("padding_idx").unwrap_or(-1) >= 0 {
            return Err("`padding_idx` has no equivalent in TensorFlow".to_owned());
        }
        // `sparse` selects how PaddlePaddle stores the gradient.
        e.view.sees("sparse");
        let (index, table) = (e.input(0)?, e.input(1)?);
        gather(e, table, index, 1, 0, 0)
    }),
    ("gather", gather_rows),
    ("gather_grad", gather_grad),
    ("gather_nd", |e| {
        let inputs = [e.input(0)?, e.input(1)?];
        let attrs = [
            ("Tparams", e.dtype(e.elem()?)?),
            ("Tindices", e.dtype(e.operand_type(1)?.1)?),
        ];
        e.node("GatherNd", &inputs, &attrs);
        Ok(())
    }),
    ("gather_nd_grad", |e| {
        let (index, g, elem) = (e.input(0)?, e.input(1)?, e.operand_type(1)?.1);
        let indices = e.elem()?;
        let (dims, _) = e.result_type(0)?;
        let Value::Type(code) = e.dtype(indices)? else {
            return Err("the type of its indices is unknown".to_owned());
        };
        let is_known = dims.iter().all(|&d| d >= 0);
        let shape = match is_known {
            true => {
                let numbers: Vec<Number> = dims.iter().map(|&d| Number::Int(d.into())).collect();
                e.constant(code, &[dims.len() as i64], &numbers)?
            }
            false if e.is_operand("x") => {
                let shape = e.shape_of(2)?;
                e.cast(shape, Type::I64, indices)?
            }
            false => return Err("its shape is unknown".to_owned()),
        };
        let attrs = [("T", e.dtype(elem)?), ("Tindices", Value::Type(code))];
        e.node("ScatterNd", &[index, g, shape], &attrs);
        Ok(())
    }),
    ("index_add", index_add),
    ("index_select", gather_rows),
    ("index_select_grad", gather_grad),
    ("one_hot", |e| {
        let x = e.input(0)?;
        let (_, elem) = e.result_type(0)?;
        let classes = e.number("num_classes", 1.0, Type::I32)?;
        let (on, off) = (e.num(1.0, elem)?, e.num(0.0, elem)?);
        let attrs = [
            ("T", e.dtype(elem)?),
            ("TI", e.dtype(e.elem()?)?),
            ("axis", Value::Int(-1)),
        ];
        e.node("OneHot", &[x, classes, on, off], &attrs);
        Ok(())
    }),
    ("scatter", |e| {
        if !e.flag("overwrite", true) {
            return Err("`overwrite = false` has no equivalent in TensorFlow".to_owned());
        }
        let (x, index, rows) = (e.input(0)?, e.input(1)?, e.input(2)?);
        let (elem, indices) = (e.elem()?, e.operand_type(1)?.1);
        let index = e.reshape(index, &[-1, 1], indices)?;
        let attrs = [("T", e.dtype(elem)?), ("Tindices", e.dtype(indices)?)];
        let out = e.op("TensorScatterUpdate", &[x, index, rows], &attrs);
        e.result(0, out)
    }),
    ("scatter_nd_add", |e| {
        let inputs = [e.input(0)?, e.input(1)?, e.input(2)?];
        let attrs = [("T", e.dtype(e.elem()?)?), ("Tindices", e.dtype(e.operand_type(1)?.1)?)];
        e.node("TensorScatterAdd", &inputs, &attrs);
        Ok(())
    }),
    ("take_along_axis", |e| {
        let elem = e.elem()?;
        let along = Along::of(e, e.operand_type(0)?.0, 1)?;
        let index = along.index(e, 1)?;
        let x = e.input(0)?;
        let rows = along.rows(e, x, &along.dims, elem)?;
        let axis = e.axis(1)?;
        let attrs = [
            ("Tparams", e.dtype(elem)?),
            ("Tindices", Value::Type(INT64)),
            ("Taxis", Value::Type(INT32)),
            ("batch_dims", Value::Int(1)),
        ];
        let found = e.op("GatherV2", &[rows, index, axis], &attrs);
        let found = along.back(e, found, &along.places, elem)?;
        e.result(0, found)
    }),
    ("take_along_axis_grad", |e| {
        let (dims, elem) = e.result_type(0)?;
        let along = Along::of(e, dims, 0)?;
        let index = along.index(e, 0)?;
        for shaped in 2..e.num_operands() {
            e.view.sees_operand(shaped);
        }
        let (count, last) = (along.count(), along.last(&along.dims));
        let whole = |e: &mut Emit<'_, '_>, n: i64| e.constant(INT64, &[], &[Number::Int(n.into())]);
        let (zero, total, step) = (whole(e, 0)?, whole(e, count * last)?, whole(e, last)?);
        let starts = e.op("Range", &[zero, total.clone(), step], &[("Tidx", Value::Type(INT64))]);
        let starts = e.reshape(starts, &[-1, 1], Type::I64)?;
        let index = e.binary("AddV2", &index, &starts, Type::I64)?;
        let g = e.input(1)?;
        let g = along.rows(e, g, &along.places, elem)?;
        let attrs = [
            ("T", e.dtype(elem)?),
            ("Tindices", Value::Type(INT64)),
            ("Tnumsegments", Value::Type(INT64)),
        ];
        let sums = e.op("UnsortedSegmentSum", &[g, index, total], &attrs);
        let sums = along.back(e, sums, &along.dims, elem)?;
        e.result(0, sums)
    }),
    ("argsort", |e| {
        let (x, (dims, elem)) = (e.input(0)?, e.operand_type(0)?);
        let rank = dims.len() as i64;
        let last = e.view.int("axis").unwrap_or(-1).rem_euclid(rank.max(1)) == rank - 1;
        let count = dims.last().copied().filter(|&d| d >= 0 && last);
        let count = count.ok_or("only the last axis, of known extent, can be expressed")?;
        // Equal elements keep their order there too.
        let _ = e.flag("stable", false);
        let largest = e.flag("descending", false);
        let k = e.scalar(Number::Int(count.into()), Type::I32)?;
        let (values, places) = first_of(e, x, k, elem, largest)?;
        e.result(0, values)?;
        e.result(1, places)
    }),
    ("topk", topk),
];

/// A selection of elements along an axis, by indices of the same rank. With this axis last, the others are rows.
struct Along {
    dims: Vec<i64>,
    places: Vec<i64>,
    order: Vec<i64>,
}

impl Along {
    fn of(e: &Emit<'_, '_>, dims: Vec<i64>, index: usize) -> Result<Along> {
        let (places, _) = e.operand_type(index)?;
        let rank = dims.len() as i64;
        let axis = e.view.int("axis").unwrap_or(0).rem_euclid(rank.max(1));
        let same = (0..dims.len()).all(|at| at as i64 == axis || places.get(at) == dims.get(at));
        let small = |dims: &[i64]| {
            let count = dims.iter().try_fold(1i64, |n, &d| n.checked_mul(d));
            dims.iter().all(|&d| d > 0) && count.is_some_and(|n| n < 1 << 40)
        };
        if rank == 0 || places.len() != dims.len() || !same || !small(&dims) || !small(&places) {
            return Err("its indices are broadcast, or its shape is unknown".to_owned());
        }
        let order = (0..rank).filter(|&at| at != axis).chain([axis]).collect();
        Ok(Along { dims, places, order })
    }

    /// The extent of the last axis.
    fn last(&self, dims: &[i64]) -> i64 {
        self.order.last().map_or(1, |&axis| dims[axis as usize])
    }

    fn count(&self) -> i64 {
        self.dims.iter().product::<i64>() / self.last(&self.dims)
    }

    fn rows(&self, e: &mut Emit<'_, '_>, x: String, dims: &[i64], elem: Type) -> Result<String> {
        let x = super::shape::transpose(e, x, &self.order, elem)?;
        e.reshape(x, &[self.count(), self.last(dims)], elem)
    }

    /// The places in the rows; negative ones count from the end.
    fn index(&self, e: &mut Emit<'_, '_>, operand: usize) -> Result<String> {
        let (_, kind) = e.operand_type(operand)?;
        let index = e.input(operand)?;
        let index = self.rows(e, index, &self.places, kind)?;
        let index = e.cast(index, kind, Type::I64)?;
        let zero = e.num(0.0, Type::I64)?;
        let extent = e.constant(INT64, &[], &[Number::Int(self.last(&self.dims).into())])?;
        let negative = e.binary("Less", &index, &zero, Type::I64)?;
        let from_end = e.binary("AddV2", &index, &extent, Type::I64)?;
        e.select(&negative, &from_end, &index, Type::I64)
    }

    /// Rows as a tensor of this shape, with the axes in their order.
    fn back(&self, e: &mut Emit<'_, '_>, x: String, dims: &[i64], elem: Type) -> Result<String> {
        let shape: Vec<i64> = self.order.iter().map(|&axis| dims[axis as usize]).collect();
        let x = e.reshape(x, &shape, elem)?;
        let mut order = vec![0; dims.len()];
        for (at, &axis) in self.order.iter().enumerate() {
            order[axis as usize] = at as i64;
        }
        super::shape::transpose(e, x, &order, elem)
    }
}

fn arg(e: &mut Emit<'_, '_>, op: &str) -> Result<()> {
    let (mut x, (dims, elem)) = (e.input(0)?, e.operand_type(0)?);
    let (shape, out) = e.result_type(0)?;
    let flat = e.flag("flatten", false);
    if flat {
        x = e.reshape(x, &[-1], elem)?;
    }
    let axis = if flat {
        0
    } else {
        e.view.int("axis").ok_or("its axis is unknown")?
    };
    let axis = e.axis(axis)?;
    let attrs = [
        ("T", e.dtype(elem)?),
        ("Tidx", Value::Type(INT32)),
        ("output_type", e.dtype(out)?),
    ];
    let mut place = e.op(op, &[x, axis], &attrs);
    if e.flag("keepdims", false) || flat && shape.len() == dims.len() {
        place = e.reshape(place, &shape, out)?;
    }
    e.result(0, place)
}

/// `GatherV2` of operand `table` with the indices in operand `index`.
fn gather(e: &mut Emit<'_, '_>, x: String, indices: String, table: usize, index: usize, axis: i64) -> Result<()> {
    let axis = e.axis(axis)?;
    let attrs = [
        ("Tparams", e.dtype(e.operand_type(table)?.1)?),
        ("Tindices", e.dtype(e.operand_type(index)?.1)?),
        ("Taxis", Value::Type(INT32)),
        ("batch_dims", Value::Int(0)),
    ];
    e.node("GatherV2", &[x, indices, axis], &attrs);
    Ok(())
}

fn gather_rows(e: &mut Emit<'_, '_>) -> Result<()> {
    let (x, index) = (e.input(0)?, flat_index(e, 1)?);
    let axis = match (e.view.int("axis"), e.num_operands()) {
        (Some(axis), _) => axis,
        (None, 2) => 0,
        _ => return Err("its axis is unknown".to_owned()),
    };
    gather(e, x, index, 0, 1, axis)
}

/// Indices, flattened to a vector.
fn flat_index(e: &mut Emit<'_, '_>, operand: usize) -> Result<String> {
    let (index, (dims, elem)) = (e.input(operand)?, e.operand_type(operand)?);
    match dims.len() {
        2 => e.reshape(index, &[-1], elem),
        _ => Ok(index),
    }
}

/// The gradient of a gather: adds rows at their indices.
fn gather_grad(e: &mut Emit<'_, '_>) -> Result<()> {
    let index = flat_index(e, 0)?;
    let (mut g, elem, indices) = (e.input(1)?, e.operand_type(1)?.1, e.elem()?);
    let (dims, _) = e.result_type(0)?;
    let rank = dims.len() as i64;
    let axis = e.view.int("axis").unwrap_or(0).rem_euclid(rank.max(1));
    let rows = *dims.get(axis as usize).ok_or("its shape is unknown")?;
    let mut perm: Vec<i64> = (0..rank).collect();
    perm.swap(0, axis as usize);
    if axis != 0 {
        g = super::shape::transpose(e, g, &perm, elem)?;
    }
    let rows = match rows {
        0.. => e.constant(INT64, &[], &[Number::Int(rows.into())])?,
        // The extent is that of the tensor that was gathered from.
        _ if e.is_operand("x") => {
            let shape = e.shape_of(2)?;
            let (place, axis) = (e.constant(INT32, &[], &[Number::Int(axis.into())])?, e.axis(0)?);
            let attrs = [
                ("Tparams", Value::Type(INT64)),
                ("Tindices", Value::Type(INT32)),
                ("Taxis", Value::Type(INT32)),
                ("batch_dims", Value::Int(0)),
            ];
            e.op("GatherV2", &[shape, place, axis], &attrs)
        }
        _ => return Err("its shape is unknown".to_owned()),
    };
    let attrs = [
        ("T", e.dtype(elem)?),
        ("Tindices", e.dtype(indices)?),
        ("Tnumsegments", Value::Type(INT64)),
    ];
    let mut out = e.op("UnsortedSegmentSum", &[g, index, rows], &attrs);
    if axis != 0 {
        out = super::shape::transpose(e, out, &perm, elem)?;
    }
    e.result(0, out)
}

/// The largest elements along the last axis, in order, or the smallest, and their places. The smallest are the largest of the negated ones;
/// integers are inverted, since the least one has no negative.
fn first_of(e: &mut Emit<'_, '_>, x: String, k: String, elem: Type, largest: bool) -> Result<(String, String)> {
    let turn = if e.is_float(elem) { "Neg" } else { "Invert" };
    let key = match largest {
        true => x,
        false => e.unary(turn, &x, elem)?,
    };
    let attrs = [
        ("T", e.dtype(elem)?),
        ("sorted", Value::Bool(true)),
        ("Tk", Value::Type(INT32)),
        ("index_type", Value::Type(INT64)),
    ];
    let found = e.op("TopKV2", &[key, k], &attrs);
    let values = e.unary(if largest { "Identity" } else { turn }, &found, elem)?;
    let places = e.op("Identity", &[format!("{found}:1")], &[("T", Value::Type(INT64))]);
    Ok((values, places))
}

/// The first elements of an axis. TensorFlow has those along the last axis.
fn topk(e: &mut Emit<'_, '_>) -> Result<()> {
    let (mut x, (dims, elem)) = (e.input(0)?, e.operand_type(0)?);
    let rank = dims.len() as i64;
    let axis = e.view.int("axis").unwrap_or(-1).rem_euclid(rank.max(1));
    let largest = e.flag("largest", true);
    let mut order: Vec<i64> = (0..rank).collect();
    if let Some(last) = order.len().checked_sub(1) {
        order.swap(axis as usize, last);
    }
    if axis != rank - 1 {
        x = super::shape::transpose(e, x, &order, elem)?;
    }
    let k = e.number("k", 1.0, Type::I32)?;
    let (mut values, mut places) = first_of(e, x, k, elem, largest)?;
    if axis != rank - 1 {
        values = super::shape::transpose(e, values, &order, elem)?;
        places = super::shape::transpose(e, places, &order, Type::I64)?;
    }
    e.result(0, values)?;
    e.result(1, places)
}

/// Adds rows at indices.
fn index_add(e: &mut Emit<'_, '_>) -> Result<()> {
    let (dims, elem) = e.operand_type(0)?;
    let rank = dims.len() as i64;
    let (mut x, index, mut rows) = (e.input(0)?, e.input(1)?, e.input(2)?);
    let indices = e.operand_type(1)?.1;
    let axis = e.view.int("axis").unwrap_or(0).rem_euclid(rank.max(1));
    let mut perm: Vec<i64> = (0..rank).collect();
    perm.swap(0, axis as usize);
    if axis != 0 {
        x = super::shape::transpose(e, x, &perm, elem)?;
        rows = super::shape::transpose(e, rows, &perm, elem)?;
    }
    let index = e.reshape(index, &[-1, 1], indices)?;
    let attrs = [("T", e.dtype(elem)?), ("Tindices", e.dtype(indices)?)];
    let mut out = e.op("TensorScatterAdd", &[x, index, rows], &attrs);
    if axis != 0 {
        out = super::shape::transpose(e, out, &perm, elem)?;
    }
    e.result(0, out)
}
