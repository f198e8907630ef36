//! Operations that read and write elements at computed indices. An index that is out of range is an error in `pd`; negative ones count from
//! the end.

use pir_ir::Type;

use super::super::ops;
use super::elementwise::like;
use super::hlo::{
    Num, array, binary, compare, converted, dialect, emit, filled, iota, joined, padded, reshaped, spread, spread_along,
};
use super::{Cx, Rows, axis, one_each, rows};
use crate::pd::Expr;
use crate::window::{set_axes, stretch};

pub(super) const ROWS: Rows = rows! {
    Gather |c, op| rows_at(c, c.x(0), op.index(), c.int(op.axis(), "axis")?);
    IndexSelect |c, op| rows_at(c, c.x(0), op.index(), op.axis());
    GatherGrad |c, op| rows_back(c, op.index(), op.out_grad(), op.axis());
    IndexSelectGrad |c, op| rows_back(c, op.index(), op.out_grad(), op.axis());
    IndexAdd |c, op| {
        let at = axis(op.axis(), c.x(0).rank())?;
        put_rows(c, op.x(), op.index(), op.add_value(), at, Some(ops::Add::NAME))
    };
    Scatter |c, op| {
        let (x, updates) = (op.x(), op.updates());
        let mut dims = x.dims().to_vec();
        *dims.first_mut().ok_or("the operand needs at least one dimension")? = op.index().dims().iter().product();
        let updates = reshaped(updates, &dims);
        if op.overwrite() {
            return super::IntoResults::list(put_rows(c, x, op.index(), updates, 0, None));
        }
        // The sum starts from zero, not from the previous element.
        let zeros = put_rows(c, x, op.index(), like(updates, 0.0), 0, None)?;
        put_rows(c, zeros, op.index(), updates, 0, Some(ops::Add::NAME))
    };
    GatherNd |c, op| {
        let (x, index) = (c.x(0), op.index());
        let (depth, lead) = tuple(index)?;
        let places = within(c, index, &x.dims()[..depth]);
        let sizes: Vec<i64> = (0..x.rank()).map(|at| if at < depth { 1 } else { x.dims()[at] }).collect();
        gather(c, x, places, &Numbers::tuples(x.rank(), depth, lead), &sizes, c.dims())
    };
    GatherNdGrad |c, op| put_tuples(c, filled(c.scope, c.dims(), c.elem(), Num::Int(0)), op.index(), op.out_grad());
    ScatterNdAdd |c, op| put_tuples(c, op.x(), op.index(), op.updates());
    TakeAlongAxis |c, op| along(c, c.x(0), op.index(), op.axis());
    IndexSample |c, op| along(c, c.x(0), op.index(), 1);
    TakeAlongAxisGrad |c, op| {
        let zeros = filled(c.scope, c.dims(), c.elem(), Num::Int(0));
        put_along(c, zeros, op.index(), op.out_grad(), op.axis(), Some(ops::Add::NAME))
    };
    PutAlongAxis |c, op| {
        let combiner = match &*op.reduce() {
            "assign" => None,
            "add" => Some(ops::Add::NAME),
            "mul" | "multiply" => Some(ops::Multiply::NAME),
            "amax" => Some(ops::Maximum::NAME),
            "amin" => Some(ops::Minimum::NAME),
            other => return Err(format!("`reduce` must be `assign`, `add`, `mul`, `amax` or `amin`, not `{other}`")),
        };
        let values = spread(op.values(), op.indices().dims());
        put_along(c, c.x(0), op.indices(), values, op.axis().unwrap_or(0), combiner)
    };
    Embedding |c, op| {
        let (index, padding) = (c.x(0), op.padding_idx());
        let found = rows_at(c, op.weight(), index, 0)?;
        match padding < 0 {
            true => found,
            false => {
                let is_padding = compare("EQ", index, like(index, padding as f64), index.dims());
                let mut dims = index.dims().to_vec();
                dims.push(1);
                spread(reshaped(is_padding, &dims), c.dims()).select(like(found, 0.0), found)
            }
        }
    };
    OneHot |c, _| {
        let (x, dims) = (c.x(0), c.dims());
        let last = dims.len().checked_sub(1).ok_or("the operand needs at least one dimension")?;
        let places = converted(reshaped(x, &dims[..last]), Type::I64);
        let places = spread_along(places, &(0..last as i64).collect::<Vec<_>>(), dims);
        let numbers = iota(c.scope, dims, last, places.elem().unwrap_or(Type::I64));
        converted(compare("EQ", places, numbers, dims), c.elem())
    };
    SetValueWithTensor |c, op| set_value(c, op)?;
};

/// The dimensions of a gather or a scatter.
struct Numbers {
    /// Dimensions of the result, or of the updates, that a window has.
    offset: Vec<usize>,
    /// Dimensions of the operand that a window has not.
    gone: Vec<usize>,
    /// Which dimension of the operand each component of an index is for.
    map: Vec<usize>,
    /// The dimension of the indices that their components are along.
    vector: usize,
}

impl Numbers {
    /// Slices at indices along a dimension.
    fn rows(rank: usize, at: usize) -> Self {
        Numbers {
            offset: (0..rank).filter(|&d| d != at).collect(),
            gone: vec![at],
            map: vec![at],
            vector: 1,
        }
    }

    /// Slices at index tuples of `depth` components, after `lead` batch dimensions.
    fn tuples(rank: usize, depth: usize, lead: usize) -> Self {
        Numbers {
            offset: (lead..lead + rank - depth).collect(),
            gone: (0..depth).collect(),
            map: (0..depth).collect(),
            vector: lead,
        }
    }

    /// Single elements, at index tuples with a component for each dimension.
    fn elements(rank: usize) -> Self {
        Numbers::tuples(rank, rank, rank)
    }

    fn text(&self, kind: &str, names: [&str; 3]) -> String {
        let lists = [&self.offset, &self.gone, &self.map];
        let fields = names.into_iter().zip(lists).filter(|(_, list)| !list.is_empty());
        let field = |(name, list): (&str, &Vec<usize>)| {
            let list: Vec<String> = list.iter().map(usize::to_string).collect();
            format!("{name} = [{}]", list.join(", "))
        };
        let mut fields: Vec<String> = fields.map(field).collect();
        if self.vector != 0 {
            fields.push(format!("index_vector_dim = {}", self.vector));
        }
        format!(".{kind}<{}>", fields.join(", "))
    }
}

fn gather<'c>(c: &Cx<'c>, x: Expr<'c>, index: Expr<'c>, numbers: &Numbers, sizes: &[i64], dims: &[i64]) -> Expr<'c> {
    let ctx = c.ctx();
    let names = ["offset_dims", "collapsed_slice_dims", "start_index_map"];
    let attrs = [
        ("dimension_numbers", dialect(ctx, &numbers.text("gather", names))),
        ("indices_are_sorted", ctx.bool_attr(false)),
        ("slice_sizes", array(ctx, sizes)),
    ];
    let ty = ctx.tensor(dims, x.elem().unwrap_or(Type::NONE));
    emit(c.scope, ops::Gather::NAME, &[x, index], &attrs, ty)
}

/// Combines elements with updates; without a combiner the last update stays.
fn scatter<'c>(c: &Cx<'c>, [x, index, updates]: [Expr<'c>; 3], numbers: &Numbers, combiner: Option<&str>) -> Expr<'c> {
    let ctx = c.ctx();
    let names = [
        "update_window_dims",
        "inserted_window_dims",
        "scatter_dims_to_operand_dims",
    ];
    let attrs = [
        ("indices_are_sorted", ctx.bool_attr(false)),
        (
            "scatter_dimension_numbers",
            dialect(ctx, &numbers.text("scatter", names)),
        ),
        ("unique_indices", ctx.bool_attr(false)),
    ];
    let elem = x.elem().unwrap_or(Type::NONE);
    let scalar = ctx.tensor(&[], elem);
    let region = match combiner {
        Some(name) => c.combiner(name, elem),
        None => c.region(&[scalar, scalar], |args| args[1..].to_vec()),
    };
    let ty = ctx.tensor(x.dims(), elem);
    c.with_region(ops::Scatter::NAME, &[x, index, updates], &attrs, region, ty)
}

/// Indices into dimensions, one for each component of the last dimension, or a single one; those that count from the end are made to count
/// from the front.
fn within<'c>(c: &Cx<'c>, index: Expr<'c>, sizes: &[i64]) -> Expr<'c> {
    let index = match index.elem() {
        Some(Type::I32 | Type::I64) => index,
        _ => converted(index, Type::I64),
    };
    let elem = index.elem().unwrap_or(Type::NONE);
    let sizes = match sizes {
        &[one] => like(index, one as f64),
        _ => spread(
            super::hlo::constant(c.scope, &[sizes.len() as i64], elem, sizes.iter().map(|&n| Num::Int(n))),
            index.dims(),
        ),
    };
    let zero = like(index, 0.0);
    compare("LT", index, zero, index.dims()).select(binary(ops::Add::NAME, index, sizes, index.dims()), index)
}

/// The slices at indices along an axis.
fn rows_at<'c>(c: &Cx<'c>, x: Expr<'c>, index: Expr<'c>, along: i64) -> Result<Expr<'c>, String> {
    let at = axis(along, x.rank())?;
    let count: i64 = index.dims().iter().product();
    let index = within(c, reshaped(index, &[count]), &[x.dims()[at]]);
    let mut dims = x.dims().to_vec();
    let mut sizes = dims.clone();
    (dims[at], sizes[at]) = (count, 1);
    let numbers = Numbers::rows(x.rank(), at);
    Ok(reshaped(gather(c, x, index, &numbers, &sizes, &dims), c.dims()))
}

/// Combines slices at indices along an axis.
fn put_rows<'c>(
    c: &Cx<'c>,
    x: Expr<'c>,
    index: Expr<'c>,
    updates: Expr<'c>,
    at: usize,
    combiner: Option<&str>,
) -> Result<Expr<'c>, String> {
    let count: i64 = index.dims().iter().product();
    let index = within(c, reshaped(index, &[count]), &[x.dims()[at]]);
    let mut dims = x.dims().to_vec();
    dims[at] = count;
    let numbers = Numbers::rows(x.rank(), at);
    Ok(scatter(c, [x, index, reshaped(updates, &dims)], &numbers, combiner))
}

/// Zeros with a gradient added at the slices that were taken.
fn rows_back<'c>(c: &Cx<'c>, index: Expr<'c>, g: Expr<'c>, along: i64) -> Result<Expr<'c>, String> {
    let zeros = filled(c.scope, c.dims(), c.elem(), Num::Int(0));
    put_rows(c, zeros, index, g, axis(along, c.dims().len())?, Some(ops::Add::NAME))
}

/// How many components the tuples of an index have, and how many dimensions are before them.
fn tuple(index: Expr<'_>) -> Result<(usize, usize), String> {
    let (&depth, lead) = index.dims().split_last().ok_or("the index has no dimensions")?;
    Ok((depth as usize, lead.len()))
}

fn put_tuples<'c>(c: &Cx<'c>, x: Expr<'c>, index: Expr<'c>, updates: Expr<'c>) -> Result<Expr<'c>, String> {
    let (depth, lead) = tuple(index)?;
    let index_in = within(c, index, &x.dims()[..depth]);
    let dims: Vec<i64> = index.dims()[..lead].iter().chain(&x.dims()[depth..]).copied().collect();
    let numbers = Numbers::tuples(x.rank(), depth, lead);
    Ok(scatter(
        c,
        [x, index_in, reshaped(updates, &dims)],
        &numbers,
        Some(ops::Add::NAME),
    ))
}

/// For each element of an index along an axis all components of its place, as the last dimension.
fn places<'c>(c: &Cx<'c>, x: Expr<'c>, index: Expr<'c>, at: usize) -> Expr<'c> {
    let own = within(c, index, &[x.dims()[at]]);
    let elem = own.elem().unwrap_or(Type::NONE);
    let mut wide = index.dims().to_vec();
    wide.push(1);
    let parts: Vec<Expr<'c>> = (0..x.rank())
        .map(|d| match d == at {
            true => reshaped(own, &wide),
            false => iota(c.scope, &wide, d, elem),
        })
        .collect();
    joined(c.scope, &parts, index.rank())
}

fn along<'c>(c: &Cx<'c>, x: Expr<'c>, index: Expr<'c>, at: i64) -> Result<Expr<'c>, String> {
    let at = axis(at, x.rank())?;
    let numbers = Numbers::elements(x.rank());
    Ok(gather(
        c,
        x,
        places(c, x, index, at),
        &numbers,
        &vec![1; x.rank()],
        c.dims(),
    ))
}

fn put_along<'c>(
    c: &Cx<'c>,
    x: Expr<'c>,
    index: Expr<'c>,
    updates: Expr<'c>,
    at: i64,
    combiner: Option<&str>,
) -> Result<Expr<'c>, String> {
    let at = axis(at, x.rank())?;
    let numbers = Numbers::elements(x.rank());
    Ok(scatter(c, [x, places(c, x, index, at), updates], &numbers, combiner))
}

/// Puts values in a window, which begins at a place that is known, or computed.
fn set_value<'c>(c: &Cx<'c>, op: crate::pd::View<&Cx<'c>, crate::pd::SetValueWithTensor>) -> Result<Expr<'c>, String> {
    let (x, axes) = (c.x(0), op.axes().ok_or("`axes` is missing")?);
    let lists = (
        c.ints(op.starts(), "starts"),
        c.ints(op.ends(), "ends"),
        c.ints(op.steps(), "steps")?,
    );
    let (starts, ends, steps) = match lists {
        (Ok(starts), Ok(ends), steps) => (starts, ends, steps),
        (Err(why), ..) | (_, Err(why), _) => return move_in(c, op, &axes).ok_or(why),
    };
    let or = |list: Vec<i64>, missing: i64| {
        if list.is_empty() {
            vec![missing; axes.len()]
        } else {
            list
        }
    };
    let (starts, ends, steps) = (or(starts, 0), or(ends, i64::MAX), or(steps, 1));
    one_each(&axes, &[&starts, &ends, &steps])?;
    let mut window: Vec<(i64, i64, i64)> = x.dims().iter().map(|&n| (0, n, 1)).collect();
    let mut backwards = Vec::new();
    for (i, &at) in axes.iter().enumerate() {
        let at = axis(at, x.rank())?;
        let (start, count) = stretch(x.dims()[at], starts[i], ends[i], steps[i])?;
        let first = if steps[i] < 0 {
            start + (count - 1).max(0) * steps[i]
        } else {
            start
        };
        if steps[i] < 0 {
            backwards.push(at as i64);
        }
        window[at] = (first, count, steps[i].abs());
    }
    if window.iter().any(|window| window.1 == 0) {
        return Ok(x);
    }
    let (lost, new) = (op.decrease_axes(), op.none_axes());
    let shape: Vec<i64> = set_axes(window.len(), &lost, &new)
        .iter()
        .map(|at| at.map_or(1, |at| window[at].1))
        .collect();
    let values = op.values();
    // Dimensions beyond those of the window have extent 1.
    let surplus = values.rank().saturating_sub(shape.len());
    let values = spread(reshaped(values, &values.dims()[surplus..]), &shape);
    let values = reshaped(values, &window.iter().map(|window| window.1).collect::<Vec<_>>());
    let values = super::hlo::reversed(values, &backwards);
    let widths: Vec<(i64, i64, i64)> = (x.dims().iter().zip(&window))
        .map(|(&n, &(start, count, step))| (start, n - (start + (count - 1) * step + 1), step - 1))
        .collect();
    if values.dims() == x.dims() {
        return Ok(values);
    }
    let scalar = |elem, n| filled(c.scope, &[], elem, Num::Int(n));
    let inside = filled(c.scope, values.dims(), Type::I1, Num::Int(1));
    let inside = padded(inside, scalar(Type::I1, 0), &widths);
    Ok(inside.select(padded(values, scalar(c.elem(), 0), &widths), x))
}

/// The same where the start is computed and the end is a known number after it.
fn move_in<'c>(
    c: &Cx<'c>,
    op: crate::pd::View<&Cx<'c>, crate::pd::SetValueWithTensor>,
    axes: &[i64],
) -> Option<Expr<'c>> {
    let (crate::pd::Ints::Value(starts), crate::pd::Ints::Value(ends)) = (op.starts(), op.ends()) else {
        return None;
    };
    let (starts, ends) = (c.scope.expr(starts.0?), ends.0?);
    let mut sizes = None;
    c.build.with(&mut |r| {
        let op = r.body.defining_op(ends).map(|op| r.view(op));
        let op = op.filter(|op| op.name() == ops::Add::NAME && op.operand(0) == starts.id());
        sizes = op.and_then(|op| super::constant(r, op.operand(1)?));
    });
    let (x, values, sizes) = (c.x(0), op.values(), sizes?);
    let mut window = x.dims().to_vec();
    for (&at, &size) in axes.iter().zip(&sizes) {
        window[axis(at, x.rank()).ok()?] = size;
    }
    if !op.decrease_axes().is_empty() || !op.none_axes().is_empty() || starts.rank() != 1 {
        return None;
    }
    let values = spread(values, &window);
    let zero = filled(c.scope, &[], starts.elem()?, Num::Int(0));
    let mut operands = vec![x, values];
    operands.extend((0..x.rank()).map(|d| {
        let place = axes.iter().position(|&at| axis(at, x.rank()).ok() == Some(d));
        place.map_or(zero, |at| {
            reshaped(super::hlo::cut(starts, 0, at as i64, at as i64 + 1), &[])
        })
    }));
    let ty = c.ctx().tensor(x.dims(), x.elem()?);
    Some(emit(c.scope, ops::DynamicUpdateSlice::NAME, &operands, &[], ty))
}
