//! Operations that create or move elements.

use pir_ir::{Attr, AttrData, Context, Elements, Type};

use super::super::attrs::List;
use super::super::{ops, sdy};
use super::{Cx, One};
use crate::pd::Expr;

pub(super) const TABLE: &[(&str, One)] = &[
    (ops::Constant::NAME, constant),
    (ops::Iota::NAME, |c| {
        let at = c.attrs.int("iota_dimension")? as usize;
        let size = *c.dims().get(at).ok_or("`iota_dimension` is out of range")?;
        let numbers = c.scope.arange_with(|o| o.start(0).end(size).step(1).dtype(c.elem()));
        let mut shape = vec![1; c.dims().len()];
        shape[at] = size;
        Ok(expand(numbers.reshape(shape), c.dims()))
    }),
    (ops::BroadcastInDim::NAME, |c| {
        let (map, x) = (c.attrs.list("broadcast_dimensions")?, c.x(0));
        let mut order: Vec<i64> = (0..map.len() as i64).collect();
        order.sort_by_key(|&at| map[at as usize]);
        let x = permuted(x, &order);
        let mut shape = vec![1; c.dims().len()];
        for &at in &order {
            shape[map[at as usize] as usize] = c.x(0).dims()[at as usize];
        }
        let x = if x.dims() == shape { x } else { x.reshape(shape) };
        Ok(expand(x, c.dims()))
    }),
    (ops::Reshape::NAME, |c| Ok(c.x(0).reshape(c.dims()))),
    (sdy::ShardingConstraint::NAME, |c| Ok(c.x(0))),
    (ops::Transpose::NAME, |c| {
        Ok(c.x(0).transpose(&c.attrs.list("permutation")?))
    }),
    (ops::Reverse::NAME, |c| Ok(c.x(0).flip(&c.attrs.list("dimensions")?))),
    (ops::Slice::NAME, |c| {
        let list = |name| c.attrs.list(name);
        Ok(cut(
            c.x(0),
            &list("start_indices")?,
            &list("limit_indices")?,
            &list("strides")?,
        ))
    }),
    (ops::Pad::NAME, pad),
    (ops::Concatenate::NAME, |c| {
        let at = c.attrs.int("dimension")?;
        Ok(match c.operands[..] {
            [one] => one,
            _ => c.scope.concat_with(&c.operands, |o| o.axis(at)),
        })
    }),
];

/// The element that all of a constant are.
pub(super) fn splat(ctx: &Context, attr: Attr) -> Option<f64> {
    let elements = ctx
        .attr_elements(attr)
        .filter(|elements| elements.is_splat() && !elements.is_complex());
    elements?.floats()?.next()
}

fn constant<'c>(c: &Cx<'c>) -> Result<Expr<'c>, String> {
    let (ctx, dims, elem) = (c.ctx(), c.dims(), c.elem());
    let elements = c.attrs.get("value").and_then(|value| ctx.attr_elements(value));
    let elements = elements.ok_or("`value` must be a constant")?;
    let unsupported = "constants of this element type are not supported";
    if let Some(part) = ctx.complex_part(elem) {
        return complex_constant(c, elements, part);
    }
    if ctx.is_float(elem) {
        let numbers: Vec<f64> = elements.floats().ok_or(unsupported)?.collect();
        return Ok(match numbers[..] {
            [number, ..] if elements.is_splat() => c.scope.full_of(c.types[0], number),
            _ => {
                let list = AttrData::Array(numbers.iter().map(|&n| ctx.float_attr(n)).collect());
                c.scope.assign_value_with(dims, ctx.attr(list), |o| o.dtype(elem))
            }
        });
    }
    // Not all integers are floats, and of `ui64` not all are in `i64`, where they wrap around.
    let bits = || Some(elements.bits()?.map(|bits| bits as i64).collect());
    let numbers: Option<Vec<i64>> = elements.ints().map(Iterator::collect).or_else(bits);
    let numbers = numbers.ok_or(unsupported)?;
    Ok(match numbers[..] {
        [number, ..] if elements.is_splat() => c.scope.full_with(dims, number, |o| o.dtype(elem)),
        _ => c
            .scope
            .assign_value_with(dims, ctx.ints_attr(&numbers), |o| o.dtype(elem)),
    })
}

/// A complex constant, from the parts of its elements.
fn complex_constant<'c>(c: &Cx<'c>, elements: &Elements, part: Type) -> Result<Expr<'c>, String> {
    let numbers = elements
        .floats()
        .ok_or("constants of this element type are not supported")?;
    let numbers: Vec<f64> = numbers.collect();
    let parts = [0, 1].map(|first| {
        let parts = numbers.iter().skip(first).step_by(2);
        let values = || parts.clone().map(|&n| c.ctx().float_attr(n)).collect();
        match numbers[..] {
            [re, im, ..] if elements.is_splat() => {
                let number = if first == 0 { re } else { im };
                c.scope.full_of(c.ctx().tensor(c.dims(), part), number)
            }
            _ => {
                let list = c.ctx().attr(AttrData::Array(values()));
                c.scope.assign_value_with(c.dims(), list, |o| o.dtype(part))
            }
        }
    });
    Ok(super::complex(parts[0], parts[1]))
}

/// Dimensions of one repeated to a shape.
pub(super) fn expand<'c>(x: Expr<'c>, dims: &[i64]) -> Expr<'c> {
    match x.dims() == dims {
        true => x,
        false => x.expand(dims),
    }
}

/// Dimensions in another order.
pub(super) fn permuted<'c>(x: Expr<'c>, order: &[i64]) -> Expr<'c> {
    if order.is_sorted() { x } else { x.transpose(order) }
}

/// The order that takes one back.
pub(super) fn inverse(order: &[i64]) -> Vec<i64> {
    let mut inverse: Vec<i64> = (0..order.len() as i64).collect();
    inverse.sort_by_key(|&at| order[at as usize]);
    inverse
}

pub(super) fn cut<'c>(x: Expr<'c>, starts: &[i64], limits: &[i64], strides: &[i64]) -> Expr<'c> {
    // A failed operand has no dimensions.
    if x.rank() != starts.len() {
        return x;
    }
    let whole = |at: usize| starts[at] == 0 && limits[at] == x.dims()[at] && strides[at] == 1;
    let axes: List = (0..starts.len()).filter(|&at| !whole(at)).map(|at| at as i64).collect();
    let of = |list: &[i64]| -> Vec<i64> { axes.iter().map(|&at| list[at as usize]).collect() };
    match of(strides).iter().all(|&stride| stride == 1) {
        _ if axes.is_empty() => x,
        true => x.slice(&axes, of(starts), of(limits)),
        false => x.strided_slice(&axes, of(starts), of(limits), of(strides)),
    }
}

fn pad<'c>(c: &Cx<'c>) -> Result<Expr<'c>, String> {
    let list = |name| c.attrs.list(name);
    let (low, high, interior) = (
        list("edge_padding_low")?,
        list("edge_padding_high")?,
        list("interior_padding")?,
    );
    Ok(spread(c.x(0), c.x(1), &low, &high, &interior))
}

/// Puts a value around and between the elements of a tensor.
pub(super) fn spread<'c>(x: Expr<'c>, value: Expr<'c>, low: &[i64], high: &[i64], interior: &[i64]) -> Expr<'c> {
    let rank = low.len();
    if x.rank() != rank {
        return x;
    }
    // Negative padding may cut off interior elements.
    let inner: Vec<i64> = (0..rank)
        .map(|at| x.dims()[at] + (x.dims()[at] - 1).max(0) * interior[at])
        .collect();
    let outer: Vec<i64> = (0..rank)
        .map(|at| inner[at] + low[at].max(0) + high[at].max(0))
        .collect();
    let mut padded = x;
    if outer != x.dims() {
        let space = expand(value.reshape(vec![1; rank]), &outer);
        let starts: Vec<i64> = low.iter().map(|&n| n.max(0)).collect();
        let ends: Vec<i64> = (0..rank).map(|at| starts[at] + inner[at]).collect();
        let steps: Vec<i64> = interior.iter().map(|&n| n + 1).collect();
        let axes: Vec<i64> = (0..rank as i64).collect();
        padded = match x.dims().contains(&0) {
            true => space,
            false => space.set_value_with_tensor(x, starts, ends, steps, &axes),
        };
    }
    let first: Vec<i64> = low.iter().map(|&n| (-n).max(0)).collect();
    let last: Vec<i64> = (0..rank).map(|at| outer[at] - (-high[at]).max(0)).collect();
    cut(padded, &first, &last, &vec![1; rank])
}

/// A constant list of the integers of a type.
pub(super) fn ints<'c>(c: &Cx<'c>, values: &[i64]) -> Expr<'c> {
    c.list(values, Type::I64)
}
