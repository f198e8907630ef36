//! Products.

use super::super::attrs::List;
use super::super::dims::{Dot, convolution_places};
use super::super::ops;
use super::shape::{cut, inverse, permuted, spread};
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

fn convolution<'c>(c: &Cx<'c>) -> Result<Expr<'c>, String> {
    let [lhs, rhs, result] = convolution_places(c.attrs)?;
    let ranks = [c.x(0).rank(), c.x(1).rank(), c.dims().len()];
    if ranks != [lhs.len(), rhs.len(), result.len()] || ranks != [lhs.len(); 3] {
        return Err("`dimension_numbers` must have the dimensions of the operands and the result".to_owned());
    }
    let rank = lhs.len() - 2;
    let list = |name, default| c.attrs.list_or(name, default, rank);
    let (base, reversal) = (list("lhs_dilation", 1)?, list("window_reversal", 0)?);
    let (groups, batch_groups) = (c.attrs.int("feature_group_count")?, c.attrs.int("batch_group_count")?);
    if groups < 1 || batch_groups < 1 || groups > 1 && batch_groups > 1 {
        return Err("`feature_group_count` and `batch_group_count` must be positive, and one of them 1".to_owned());
    }
    let mut slide = Slide {
        strides: list("window_strides", 1)?,
        dilations: list("rhs_dilation", 1)?,
        paddings: c.attrs.list_or("padding", 0, 2 * rank)?,
        groups: groups * batch_groups,
    };
    let (mut x, mut filter) = (c.x(0).transpose(&lhs), c.x(1).transpose(&rhs));
    if batch_groups > 1 {
        x = batch_to_features(x, batch_groups)?;
    }
    let reversed: Vec<i64> = (0..rank)
        .filter(|&at| reversal[at] != 0)
        .map(|at| at as i64 + 2)
        .collect();
    if !reversed.is_empty() {
        filter = filter.flip(&reversed);
    }
    if base.iter().any(|&n| n != 1) || slide.paddings.iter().any(|&n| n < 0) {
        let interior: List = [0, 0].into_iter().chain(base.iter().map(|&n| n - 1)).collect();
        x = slide.padded(c, x, rank, &interior);
    }
    Ok(permuted(slide.over(c, x, filter)?, &inverse(&result)))
}

/// Groups of a batch become groups of features: each is convolved with its own filters.
fn batch_to_features(x: Expr<'_>, groups: i64) -> Result<Expr<'_>, String> {
    let (&[batch, features, ref space @ ..], 0) = (x.dims(), x.dims().first().map_or(1, |n| n % groups)) else {
        return Err("`batch_group_count` must divide the batch".to_owned());
    };
    let split = [&[groups, batch / groups, features], space].concat();
    let order: Vec<i64> = [1, 0].into_iter().chain(2..split.len() as i64).collect();
    let joined = [&[batch / groups, groups * features], space].concat();
    Ok(x.reshape(split).transpose(&order).reshape(joined))
}

/// How a filter goes over an image, by the dimensions of space.
struct Slide {
    strides: List,
    dilations: List,
    paddings: List,
    groups: i64,
}

impl Slide {
    /// The image with its first `count` spatial dimensions padded, so that they need no further padding.
    fn padded<'c>(&mut self, c: &Cx<'c>, x: Expr<'c>, count: usize, interior: &[i64]) -> Expr<'c> {
        let side = |last: usize| -> List {
            let of = |at: usize| match at.checked_sub(2) {
                Some(at) if at < count => self.paddings[2 * at + last],
                _ => 0,
            };
            (0..x.rank()).map(of).collect()
        };
        let zero = c.scope.full_with(&[], 0, |o| o.dtype(c.elem()));
        let x = spread(x, zero.cast_like(x), &side(0), &side(1), interior);
        self.paddings[..2 * count].fill(0);
        x
    }

    /// The convolution of `[batch, features, space…]` with `[filters, features, space…]`.
    fn over<'c>(mut self, c: &Cx<'c>, x: Expr<'c>, filter: Expr<'c>) -> Result<Expr<'c>, String> {
        let (&[batch, features, ref space @ ..], &[filters, of, ref window @ ..]) = (x.dims(), filter.dims()) else {
            return Err("images and filters need two dimensions and the spatial ones".to_owned());
        };
        match space.len() {
            // A line is an image of one row, a point one of one element.
            rank @ (0 | 1) => {
                let ones = vec![1; 2 - rank];
                for list in [&mut self.strides, &mut self.dilations] {
                    list.insert_many(0, ones.iter().copied());
                }
                self.paddings.insert_many(0, vec![0; 2 * ones.len()]);
                let (x, filter) = (
                    x.reshape([&[batch, features], &ones[..], space].concat()),
                    filter.reshape([&[filters, of], &ones[..], window].concat()),
                );
                let out = self.over(c, x, filter)?;
                let found = out.dims().get(2 + ones.len()..).unwrap_or_default().to_vec();
                Ok(out.reshape([vec![batch, filters], found].concat()))
            }
            2 => Ok(x.conv2d_with(filter, |o| {
                o.strides(&self.strides)
                    .paddings(&self.paddings)
                    .dilations(&self.dilations)
                    .groups(self.groups)
                    .data_format("NCHW")
            })),
            rank => {
                let x = self.padded(c, x, rank - 2, &vec![0; rank + 2]);
                self.by_planes(c, x, filter)
            }
        }
    }

    /// The sum over the positions along all spatial dimensions but the last two, each a convolution of images. These
    /// dimensions have no padding.
    fn by_planes<'c>(&self, c: &Cx<'c>, x: Expr<'c>, filter: Expr<'c>) -> Result<Expr<'c>, String> {
        let (dims, window) = (x.dims(), filter.dims());
        let (rank, deep) = (x.rank(), x.rank() - 4);
        let mut depth = Vec::new();
        for at in 0..deep {
            let reach = (window[2 + at] - 1) * self.dilations[at] + 1;
            depth.push(((dims[2 + at] - reach).div_euclid(self.strides[at]) + 1).max(0));
        }
        let planes: i64 = depth.iter().product();
        let places: i64 = window[2..2 + deep].iter().product();
        if planes == 0 || places > MAX_PLACES {
            return Err(format!(
                "a window must fit in the image, and have at most {MAX_PLACES} elements along all but the last two \
                 dimensions"
            ));
        }
        // The planes of an image become images.
        let order: Vec<i64> = [0].into_iter().chain(2..2 + deep as i64).chain([1]).collect();
        let order: Vec<i64> = order.into_iter().chain(rank as i64 - 2..rank as i64).collect();
        let mut sum: Option<Expr<'c>> = None;
        for place in 0..places {
            let (mut rest, mut at) = (place, vec![0; deep]);
            for d in (0..deep).rev() {
                (at[d], rest) = (rest % window[2 + d], rest / window[2 + d]);
            }
            let (mut starts, mut ends, mut steps) = (vec![0; rank], dims.to_vec(), vec![1; rank]);
            let (mut first, mut behind) = (vec![0; rank], window.to_vec());
            for d in 0..deep {
                starts[2 + d] = at[d] * self.dilations[d];
                ends[2 + d] = starts[2 + d] + (depth[d] - 1) * self.strides[d] + 1;
                steps[2 + d] = self.strides[d];
                (first[2 + d], behind[2 + d]) = (at[d], at[d] + 1);
            }
            let images = cut(x, &starts, &ends, &steps).transpose(&order);
            let images = images.reshape([&[dims[0] * planes, dims[1]], &dims[rank - 2..]].concat());
            let part = cut(filter, &first, &behind, &vec![1; rank]);
            let part = part.reshape([&window[..2], &window[rank - 2..]].concat());
            let plane = Slide {
                strides: self.strides[deep..].into(),
                dilations: self.dilations[deep..].into(),
                paddings: self.paddings[2 * deep..].into(),
                groups: self.groups,
            };
            let out = plane.over(c, images, part)?;
            sum = Some(sum.map_or(out, |sum| sum + out));
        }
        let sum = sum.ok_or("the window has no elements")?;
        let &[_, filters, high, wide] = sum.dims() else {
            return Err("the convolution of the planes is unsupported".to_owned());
        };
        let sum = sum.reshape([&[dims[0]], &depth[..], &[filters, high, wide]].concat());
        Ok(sum.transpose(&inverse(&order)))
    }
}

/// How many convolutions of images one of more dimensions may become.
const MAX_PLACES: i64 = 512;
