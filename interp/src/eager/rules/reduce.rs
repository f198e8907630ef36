//! Reductions and cumulative sums.

use super::super::value::V;
use super::elementwise::failed;
use super::{Cx, NONE, OUT, REST, Rule, X, composite, one};
use pir_dialects::pd;

pub(super) const RULES: &[Rule] = &[
    one(pd::Sum::NAME, REST, |c| spread(c, &c.grad())),
    one(pd::Mean::NAME, REST, |c| match c.axes() {
        Ok(axes) => {
            let shape = c.shape(0);
            let count: usize = axes.iter().map(|&a| shape[a]).product();
            spread(c, &(c.grad() * (1.0 / count as f64)))
        }
        Err(e) => failed(c, &e),
    }),
    one(pd::Max::NAME, X | OUT | REST, extremum),
    one(pd::Min::NAME, X | OUT | REST, extremum),
    composite(pd::Prod::NAME, |c| {
        let product = match c.axes() {
            Ok(axes) => product(&c.x(), &axes, c.bool("keepdim", false)),
            Err(e) => failed(c, &e),
        };
        vec![product]
    }),
    one(pd::Cumsum::NAME, REST, |c| {
        // The transpose of a cumulative sum runs in the other direction.
        let ctx = c.engine.ctx();
        let flat = c.bool("flatten", false);
        let axis = match (flat, c.axis("axis", -1, c.rank(0).max(1))) {
            (true, _) => 0,
            (false, Ok(axis)) => axis,
            (false, Err(e)) => return failed(c, &e),
        };
        let g = c.grad().op(
            pd::Cumsum::NAME,
            &[],
            &[
                ("axis", ctx.int_attr(axis as i64)),
                ("exclusive", ctx.bool_attr(c.bool("exclusive", false))),
                ("reverse", ctx.bool_attr(!c.bool("reverse", false))),
            ],
        );
        g.reshape(&c.shape(0))
    }),
    one(pd::ReduceAs::NAME, NONE, |c| {
        c.constant(1);
        c.grad().expand(&c.shape(0))
    }),
];

/// A reduced tensor, with reduced dimensions of extent 1.
pub(super) fn kept<'e>(c: &Cx<'e>, reduced: &V<'e>) -> V<'e> {
    match c.axes() {
        Ok(axes) => {
            let mut shape = c.shape(0);
            axes.iter().for_each(|&a| shape[a] = 1);
            reduced.reshape(&shape)
        }
        Err(e) => failed(c, &e),
    }
}

/// A reduced tensor, broadcast to the operand's shape.
fn spread<'e>(c: &Cx<'e>, reduced: &V<'e>) -> V<'e> {
    kept(c, reduced).cast(c.dtype(0)).expand(&c.shape(0))
}

/// The elements equal to the extremum share the gradient.
pub(super) fn extremum<'e>(c: &Cx<'e>) -> V<'e> {
    extremum_of(c, &c.x(), &c.out(), &c.grad())
}

pub(super) fn extremum_of<'e>(c: &Cx<'e>, x: &V<'e>, out: &V<'e>, g: &V<'e>) -> V<'e> {
    let chosen = x.with("equal", &kept(c, out)).with("logical_or", &x.call("isnan"));
    let count = match c.axes() {
        Ok(axes) => chosen.cast(x.dtype()).sum(&axes, true),
        Err(e) => failed(c, &e),
    };
    chosen.choose(&(kept(c, g) / count), &x.filled(0.0))
}

/// The product over axes as a tree of products: exact at zeros, for any order of derivatives.
pub(super) fn product<'e>(x: &V<'e>, axes: &[usize], keepdim: bool) -> V<'e> {
    let shape = x.shape();
    let rest: Vec<usize> = (0..shape.len()).filter(|a| !axes.contains(a)).collect();
    let order: Vec<usize> = axes.iter().chain(&rest).copied().collect();
    let count: usize = axes.iter().map(|&a| shape[a]).product();
    let others: usize = rest.iter().map(|&a| shape[a]).product();
    let mut v = x.transpose(&order).reshape(&[count, others]);
    let mut rows = count;
    let cut = |v: &V<'e>, start: usize, end: usize| {
        let map = (start * others..end * others).map(|at| at as i64).collect();
        let map = crate::tensor::Tensor::new(&[end - start, others], map);
        v.take(&V::constant(v.engine, map))
    };
    let mut odd: Option<V<'e>> = None;
    while rows > 1 {
        if rows % 2 == 1 {
            let last = cut(&v, rows - 1, rows);
            odd = Some(match odd {
                None => last,
                Some(odd) => odd * last,
            });
        }
        rows /= 2;
        v = cut(&v, 0, rows) * cut(&v, rows, 2 * rows);
    }
    if rows == 0 {
        v = V::constant(v.engine, crate::tensor::Tensor::full(&[1, others], x.dtype(), 1.0));
    }
    if let Some(odd) = odd {
        v = v * odd;
    }
    let out: Vec<usize> = (0..shape.len())
        .filter(|a| keepdim || !axes.contains(a))
        .map(|a| if axes.contains(&a) { 1 } else { shape[a] })
        .collect();
    v.reshape(&out)
}
