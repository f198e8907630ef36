//! Products.

use super::super::attrs::List;
use super::super::dims::Dot;
use super::super::ops;
use super::shape::{inverse, permuted, spread};
use super::{Cx, One};
use crate::pd::Expr;

pub(super) const TABLE: &[(&str, One)] = &[
    (ops::DotGeneral::NAME, dot_general),
    (ops::Dot::NAME, |c| Ok(c.x(0).matmul(c.x(1)))),
    (ops::Convolution::NAME, convolution),
];

/// Dimensions in groups, each group as one dimension.
fn grouped<'c>(x: Expr<'c>, groups: &[&List]) -> Expr<'c> {
    let order: Vec<i64> = groups.iter().flat_map(|group| group.iter().copied()).collect();
    let size = |group: &List| group.iter().map(|&at| x.dims()[at as usize]).product::<i64>();
    let shape: Vec<i64> = groups.iter().map(|group| size(group)).collect();
    permuted(x, &order).reshape(shape)
}

fn dot_general<'c>(c: &Cx<'c>) -> Result<Expr<'c>, String> {
    let (lhs, rhs) = (c.x(0), c.x(1));
    let dot = Dot::read(c.attrs, lhs.dims(), rhs.dims())?;
    let left = Dot::free(&dot.lhs_batch, &dot.lhs_contract, lhs.rank());
    let right = Dot::free(&dot.rhs_batch, &dot.rhs_contract, rhs.rank());
    // Without a batch these are products of matrices, and so are the gradients: `batch-weight-grads` looks for these.
    let first = usize::from(dot.lhs_batch.is_empty());
    let lhs = grouped(lhs, &[&dot.lhs_batch, &left, &dot.lhs_contract][first..]);
    let rhs = grouped(rhs, &[&dot.rhs_batch, &dot.rhs_contract, &right][first..]);
    Ok(lhs.matmul(rhs).reshape(c.dims()).to(Some(c.elem())))
}

/// The places of dimensions in `[b, 0, 1, f]`: those of two letters, then those of space.
fn places(list: &str, letters: [&str; 2]) -> Option<Vec<i64>> {
    let words: Vec<&str> = list.trim_matches(['[', ']']).split(',').map(str::trim).collect();
    let place = |word: &str| words.iter().position(|&w| w == word).map(|at| at as i64);
    let spatial = (0..words.len().checked_sub(2)?).map(|at| place(&at.to_string()));
    letters.into_iter().map(place).chain(spatial).collect()
}

fn convolution<'c>(c: &Cx<'c>) -> Result<Expr<'c>, String> {
    let text = c
        .attrs
        .text("dimension_numbers")
        .ok_or("it needs `dimension_numbers`")?;
    let parts: Option<[Vec<i64>; 3]> = text.split_once('<').and_then(|(_, inside)| {
        let (operands, result) = inside.trim_end_matches('>').split_once("->")?;
        let (lhs, rhs) = operands.split_once(']')?;
        let rhs = rhs.trim_start_matches('x');
        Some([
            places(lhs, ["b", "f"])?,
            places(rhs, ["o", "i"])?,
            places(result, ["b", "f"])?,
        ])
    });
    let [lhs, rhs, result] =
        parts.ok_or("`dimension_numbers` must be `#stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>`")?;
    let ranks = [c.x(0).rank(), c.x(1).rank(), c.dims().len()];
    if ranks != [lhs.len(), rhs.len(), result.len()] || ranks != [lhs.len(); 3] {
        return Err("`dimension_numbers` must have the dimensions of the operands and the result".to_owned());
    }
    let rank = lhs.len() - 2;
    let list = |name, default| c.attrs.list_or(name, default, rank);
    let (mut strides, mut dilations) = (list("window_strides", 1)?, list("rhs_dilation", 1)?);
    let mut paddings = c.attrs.list_or("padding", 0, 2 * rank)?;
    let (base, reversal) = (list("lhs_dilation", 1)?, list("window_reversal", 0)?);
    let (groups, batch_groups) = (c.attrs.int("feature_group_count")?, c.attrs.int("batch_group_count")?);
    if !(1..=2).contains(&rank) || batch_groups != 1 {
        return Err("only convolutions along one or two dimensions without groups of batches are supported".to_owned());
    }
    let (mut x, mut filter) = (c.x(0).transpose(&lhs), c.x(1).transpose(&rhs));
    let reversed: Vec<i64> = (0..rank)
        .filter(|&at| reversal[at] != 0)
        .map(|at| at as i64 + 2)
        .collect();
    if !reversed.is_empty() {
        filter = filter.flip(&reversed);
    }
    if base.iter().any(|&n| n != 1) || paddings.iter().any(|&n| n < 0) {
        let side = |last: usize| -> List {
            [0, 0]
                .into_iter()
                .chain((0..rank).map(|at| paddings[2 * at + last]))
                .collect()
        };
        let interior: List = [0, 0].into_iter().chain(base.iter().map(|&n| n - 1)).collect();
        let zero = c.scope.full_with(&[], 0, |o| o.dtype(c.elem()));
        x = spread(x, zero.cast_like(x), &side(0), &side(1), &interior);
        paddings.fill(0);
    }
    // A line is an image of one row.
    if rank == 1 {
        let row = |dims: &[i64]| vec![dims[0], dims[1], 1, dims[2]];
        (x, filter) = (x.reshape(row(x.dims())), filter.reshape(row(filter.dims())));
        for list in [&mut strides, &mut dilations] {
            list.insert(0, 1);
        }
        paddings.insert_many(0, [0, 0]);
    }
    let mut out = x.conv2d_with(filter, |o| {
        o.strides(&strides)
            .paddings(&paddings)
            .dilations(&dilations)
            .groups(groups)
            .data_format("NCHW")
    });
    if let (1, &[batch, features, _, width]) = (rank, out.dims()) {
        out = out.reshape([batch, features, width]);
    }
    Ok(permuted(out, &inverse(&result)))
}
