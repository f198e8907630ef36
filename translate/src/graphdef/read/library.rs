//! Operations of TensorFlow's library that are a few operations here: bounds, bins, orders, and extremes at places.

use pir_dialects::pd::{self, Expr};
use pir_ir::{Attr, Type, ValueId};

use super::super::proto::Value;
use super::bounds::Bounds;
use super::reader::{Reader, Result};
use super::row::Row;
use super::slices;

pub(super) const TABLE: &[Row] = &[
    // Which of the nearly largest elements are found depends on the device: those here are the largest.
    (
        "ApproxTopK",
        "T -> values indices",
        "k reduction_dimension=-1 recall_target=0.95 is_max_k=true reduction_input_size_override=-1 aggregate_to_topk=true",
        |r, at| {
            let (x, k, axis) = (
                r.operand(at, 0)?,
                r.int(at, "k"),
                r.int(at, "reduction_dimension").unwrap_or(-1),
            );
            let (largest, whole) = (
                r.flag_or(at, "is_max_k", true),
                r.flag_or(at, "aggregate_to_topk", true),
            );
            r.float(at, "recall_target", 0.95);
            if !whole || r.int(at, "reduction_input_size_override").unwrap_or(-1) != -1 {
                return Err("candidates of partitions (`aggregate_to_topk = false`) are not supported".to_owned());
            }
            let attrs = [
                ("k", r.ctx.int_attr(k.ok_or("its number `k` is missing")?)),
                ("axis", r.ctx.int_attr(axis)),
                ("largest", r.ctx.bool_attr(largest)),
            ];
            r.op_of(at, pd::Topk::NAME, &[x], &attrs, 2)?;
            let narrow = [("dtype", r.ctx.type_attr(Type::I32))];
            let places = r.values[at][1];
            r.values[at][1] = r.helper(at, pd::Cast::NAME, &[places], &narrow)?;
            Ok(())
        },
    ),
    ("Bucketize", "T", "boundaries", |r, at| {
        let bounds = match r.attr(at, "boundaries") {
            Some(Value::List(list)) => list.floats.iter().map(|&f| f64::from(f)).collect::<Vec<f64>>(),
            _ => Vec::new(),
        };
        r.build(at, 1, |x| {
            let start = x[0].zeros().cast(Type::I32);
            let sum = bounds.iter().fold(start, |sum, &bound| {
                let reached = x[0].greater_equal(x[0].filled(bound));
                sum + reached.cast(Type::I32)
            });
            Ok(vec![sum])
        })
    }),
    // Where the bounds decide, they have the derivative.
    ("ClipByValue", "T T T", "", |r, at| {
        r.build(at, 3, |x| {
            let (low, high) = (x[1].expand_like(x[0]), x[2].expand_like(x[0]));
            let inner = x[0].less_than(low).select(low, x[0]);
            Ok(vec![high.less_than(x[0]).select(high, inner)])
        })
    }),
    ("GuaranteeConst", "T", "", same),
    ("DeepCopy", "T", "", same),
    ("LinSpace", "T T Tidx", "", |r, at| {
        let count = r.scalar(at, 2, "number of points")?;
        if !(1..=1 << 24).contains(&count) {
            return Err("its number of points is out of range".to_owned());
        }
        let elem = {
            let start = r.operand(at, 0)?;
            r.dims(start)?.1
        };
        r.build(at, 2, |x| {
            if count == 1 {
                return Ok(vec![x[0].reshape([1])]);
            }
            let scope = x[0].scope();
            let places = scope
                .arange_with(|o| o.start(0).end(count - 1).step(1).dtype(Type::I64))
                .cast(elem);
            let step = (x[1] - x[0]).affine(1.0 / (count - 1) as f64, 0.0);
            let all = x[0].reshape([1]) + places * step.reshape([1]);
            Ok(vec![scope.concat_with(&[all, x[1].reshape([1])], |o| o.axis(0))])
        })
    }),
    ("Lu", "T -> lu p", "output_idx_type=DT_INT32", factors),
    ("NthElement", "T i32", "reverse=false", |r, at| {
        let (n, reverse) = (r.scalar(at, 1, "place")?, r.flag(at, "reverse"));
        let x = r.operand(at, 0)?;
        let extent = r.dims(x)?.0.last().copied().unwrap_or(0);
        if !(0..extent).contains(&n) {
            return Err(format!("its place {n} is out of range for the extent {extent}"));
        }
        r.build(at, 1, |x| {
            let rank = x[0].dims().len();
            let first = x[0].topk_with(|o| o.k(n + 1).axis(-1).largest(reverse))[0];
            let shape = &x[0].dims()[..rank - 1];
            Ok(vec![first.cut(rank - 1, n, n + 1).reshape(shape)])
        })
    }),
    (
        "StridedSliceGrad",
        "Index Index Index Index T",
        slices::MASKS,
        strided_slice_grad,
    ),
    ("TensorScatterMax", "T Tindices T", "bad_indices_policy=", |r, at| {
        extreme_at(r, at, true)
    }),
    ("TensorScatterMin", "T Tindices T", "bad_indices_policy=", |r, at| {
        extreme_at(r, at, false)
    }),
    (
        "TensorStridedSliceUpdate",
        "T Index Index Index T",
        slices::MASKS,
        |r, at| {
            let (x, rows) = (r.operand(at, 0)?, r.operand(at, 4)?);
            let (dims, _) = r.dims(x)?;
            if dims.iter().any(|&d| d < 0) {
                return Err("its shape must be known".to_owned());
            }
            // The places that are written to, and what is there.
            let ones = r.express(at, &[rows], |_, x| {
                Ok(vec![x[0].detach().filled(1.0).to(Some(Type::F32))])
            })?;
            let mask = slices::spread(r, at, ones[0], &dims, 1)?;
            let rows = slices::spread(r, at, rows, &dims, 1)?;
            let values = r.express(at, &[x, rows, mask], |_, x| {
                Ok(vec![x[2].above(0.5).select(x[1], x[0])])
            })?;
            r.is_expressed(at, values, &[]);
            Ok(())
        },
    ),
];

/// The columns of matrices, as lists.
struct Column<'l> {
    axis: usize,
    line: &'l [i64],
}

impl Column<'_> {
    fn of<'c>(&self, a: Expr<'c>, k: i64) -> Expr<'c> {
        a.cut(self.axis, k, k + 1).reshape(self.line)
    }
}

/// The factors of a matrix whose rows are permuted, step by step: the largest element of a column on and below the diagonal comes to the
/// diagonal, and its multiples are subtracted from the rows below.
fn factors(r: &mut Reader<'_>, at: usize) -> Result<()> {
    /// Each step is a few operations.
    const LARGEST: i64 = 64;
    let index = r.elem(at, "output_idx_type").unwrap_or(Type::I32);
    let x = r.operand(at, 0)?;
    let (dims, elem) = r.dims(x)?;
    let &[ref lead @ .., n, width] = &dims[..] else {
        return Err("its input must be a matrix".to_owned());
    };
    if n != width || !(1..=LARGEST).contains(&n) || lead.iter().any(|&d| d < 0) || !r.ctx.is_float(elem) {
        return Err(format!(
            "its input must be square real matrices of known shape, of at most {LARGEST} rows"
        ));
    }
    let rank = dims.len();
    let (rows, columns) = (rank - 2, rank - 1);
    let line = [lead, &[n]].concat();
    let values = r.express(at, &[x], |scope, x| {
        let places = scope.arange_with(|o| o.start(0).end(n).step(1).dtype(Type::I64));
        let places = places.expand(&line[..]);
        let (mut a, mut order) = (x[0], places);
        let column = Column {
            axis: columns,
            line: &line,
        };
        for k in 0..n {
            let from = places.greater_equal(places.filled(k as f64));
            let sizes = from.select(column.of(a, k).abs(), column.of(a, k).filled(-1.0));
            let best = sizes
                .argmax_with(|o| o.axis(-1).keepdims(true).dtype(Type::I64))
                .expand(&line[..]);
            let (own, other) = (places.equal(places.filled(k as f64)), places.equal(best));
            let taken = own.select(best, other.select(places.filled(k as f64), places));
            order = order.take_along_axis_with(taken, |o| o.axis(columns as i64 - 1));
            let taken = taken.reshape([&line[..], &[1]].concat()).expand(&dims[..]);
            a = a.take_along_axis_with(taken, |o| o.axis(rows as i64));
            let pivot = a.cut(rows, k, k + 1);
            let below = places.greater_than(places.filled(k as f64));
            let factor = column.of(a, k) / column.of(pivot.expand(&dims[..]), k);
            let factor = below.select(factor, factor.zeros()).reshape([&line[..], &[1]].concat());
            let right = below.reshape([lead, &[1, n]].concat()).expand(&dims[..]);
            let pivot = pivot.expand(&dims[..]);
            let rest = a - factor.expand(&dims[..]) * right.select(pivot, pivot.zeros());
            let here = own.reshape([lead, &[1, n]].concat()).expand(&dims[..]);
            let under = below.reshape([&line[..], &[1]].concat()).expand(&dims[..]);
            a = here.logical_and(under).select(factor.expand(&dims[..]), rest);
        }
        Ok(vec![a, order.to(Some(index))])
    })?;
    r.is_expressed(at, values, &[x]);
    Ok(())
}

fn same(r: &mut Reader<'_>, at: usize) -> Result<()> {
    let x = r.operand(at, 0)?;
    r.op(at, pd::Assign::NAME, &[x], &[])
}

/// Zeros, with the gradient of a slice where the slice was.
fn strided_slice_grad(r: &mut Reader<'_>, at: usize) -> Result<()> {
    let g = r.operand(at, 4)?;
    let elem = r.dims(g)?.1;
    if let Some(shape) = r.known(at, 0) {
        let bounds = match r.known(at, 1).is_some() && r.known(at, 2).is_some() {
            true => Bounds::new(r, at, 1, shape.len()).ok(),
            false => None,
        };
        if let Some(bounds) = bounds.filter(|bounds| bounds.strides.iter().all(|&s| s == 1)) {
            let mut attrs = bounds.attrs(r);
            attrs.push(("x_shape", r.ctx.ints_attr(&shape)));
            return r.op(at, pd::SliceGrad::NAME, &[g], &attrs);
        }
        let out = slices::spread(r, at, g, &shape, 1)?;
        return r.op(at, pd::Assign::NAME, &[out], &[]);
    }
    // Of a tensor whose extents are computed: bounds that are known are those of the slice.
    let rank = match r.inputs[at]
        .first()
        .and_then(|input| r.values[input.node].get(input.index))
    {
        Some(&shape) => r.dims(shape)?.0.first().copied().filter(|&n| n >= 0),
        None => None,
    };
    let rank = rank.ok_or("the rank of its result is unknown")?;
    let attrs = plain_bounds(r, at, rank as usize)?;
    let shape = r.operand(at, 0)?;
    let zeros = r.express(at, &[shape], |scope, x| {
        let zero = scope.full_with(&[], 0.0, |o| o.dtype(elem));
        Ok(vec![zero, x[0].to(Some(Type::I64))])
    })?;
    let whole = r.helper(at, pd::Expand::NAME, &zeros, &[])?;
    r.op(at, pd::SliceGrad::NAME, &[g, whole], &attrs)
}

/// The attributes of a slice of known bounds, one element of each step.
fn plain_bounds(r: &Reader<'_>, at: usize, rank: usize) -> Result<Vec<(&'static str, Attr)>> {
    let bounds = Bounds::new(r, at, 1, rank)?;
    match bounds.strides.iter().all(|&s| s == 1) {
        true => Ok(bounds.attrs(r)),
        false => Err("strides of a tensor whose shape is computed are not supported".to_owned()),
    }
}

/// Whether a number is larger than another one, or smaller.
fn better<'c>(largest: bool, a: Expr<'c>, b: Expr<'c>) -> Expr<'c> {
    match largest {
        true => a.greater_than(b),
        false => a.less_than(b),
    }
}

/// The larger, or the smaller, of what is at a place and of what is put there.
fn extreme_at(r: &mut Reader<'_>, at: usize, largest: bool) -> Result<()> {
    /// So many elements may the masked rows have.
    const MOST: i64 = 1 << 26;
    r.text(at, "bad_indices_policy");
    let operands = r.operands(at, 3)?;
    let ((dims, elem), places) = (r.dims(operands[0])?, r.dims(operands[1])?.0);
    let Some((&depth, lead)) = places.split_last() else {
        return Err("its indices must have at least one dimension".to_owned());
    };
    let known = dims.iter().chain(&places).all(|&d| d >= 0) && depth >= 1 && depth <= dims.len() as i64;
    if !known || !r.ctx.is_float(elem) {
        return Err("its elements must be floats, and its shapes known".to_owned());
    }
    let (front, rest) = dims.split_at(depth as usize);
    let (rows, count): (i64, i64) = (front.iter().product(), lead.iter().product());
    let total = rows
        .checked_mul(count)
        .and_then(|n| rest.iter().try_fold(n, |n, &d| n.checked_mul(d)));
    if total.is_none_or(|n| n > MOST) {
        return Err("its rows are too many".to_owned());
    }
    let mut strides = vec![1i64; front.len()];
    for axis in (0..front.len().saturating_sub(1)).rev() {
        strides[axis] = strides[axis + 1] * front[axis + 1];
    }
    let values = r.express(at, &operands, |scope, x| {
        // What is at the places now, which refuses those out of range.
        let now = x[0].gather_nd(x[1]);
        let put = better(largest, x[2], now)
            .select(x[2], now)
            .reshape([&[1, count], rest].concat());
        let flat = (x[1].to(Some(Type::I64)) * scope.indices(&strides)).sum_with(|o| o.axis([-1]));
        let numbers = scope.arange_with(|o| o.start(0).end(rows).step(1).dtype(Type::I64));
        let own = numbers.reshape([rows, 1]).equal(flat.reshape([1, count]));
        let whole = [&[rows, count], rest].concat();
        let own = own
            .reshape([&[rows, count][..], &vec![1; rest.len()]].concat())
            .expand(&whole[..]);
        let least = if largest { f64::NEG_INFINITY } else { f64::INFINITY };
        let put = put.expand(&whole[..]);
        let picked = own.select(put, put.filled(least));
        let best = match largest {
            true => picked.max_with(|o| o.axis([1])),
            false => picked.min_with(|o| o.axis([1])),
        };
        let flat = x[0].reshape([&[rows], rest].concat());
        Ok(vec![better(largest, best, flat).select(best, flat).reshape(&dims[..])])
    })?;
    r.is_expressed(at, values, &operands);
    Ok(())
}

/// The sum over the axes along which a tensor was spread, as TensorFlow's own gradients of unknown shapes have it: they reshape the sum
/// to the shape of the tensor, which it has here already.
pub(super) fn reduced_as(r: &mut Reader<'_>, at: usize, x: ValueId) -> Result<bool> {
    let axes = r.input(at, 1)?;
    if !r.is(axes.node, &["BroadcastGradientArgs"]) {
        return Ok(false);
    }
    let from = r.inputs[axes.node]
        .get(axes.index)
        .copied()
        .ok_or("its axes are missing")?;
    let own = match r.nodes[from.node].op.as_str() {
        "Shape" => r.inputs[from.node].first().copied(),
        "ShapeN" => r.inputs[from.node].get(from.index).copied(),
        _ => None,
    };
    let only_reshaped = (0..r.nodes.len())
        .filter(|&node| r.inputs[node].iter().any(|input| input.node == at))
        .all(|node| r.is(node, &["Reshape"]));
    let (Some(own), true) = (own, only_reshaped) else {
        return Ok(false);
    };
    r.flag(at, "keep_dims");
    let own = r.value(own)?;
    r.op(at, pd::ReduceAs::NAME, &[x, own], &[])?;
    Ok(true)
}
