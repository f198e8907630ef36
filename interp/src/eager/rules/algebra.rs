//! Linear algebra, norms, and cumulative products.

use pir_dialects::einsum::EinsumEquation;
use pir_dialects::pd;

use super::super::Slot;
use super::super::data_movement::numbers;
use super::super::value::V;
use super::elementwise::failed;
use super::{Cx, Rule, composite, data_movement, zero};
use crate::kernels::{axis, broadcast::strides_of};
use crate::tensor::Tensor as Dense;

pub(super) const RULES: &[Rule] = &[
    composite(pd::Bmm::NAME, |c| vec![c.x().matmul(&c.y())]),
    composite(pd::Mv::NAME, |c| vec![c.x().matmul(&c.y())]),
    composite(pd::Addmm::NAME, |c| {
        let product = c.y().matmul(&c.arg(2)) * c.float("alpha", 1.0);
        vec![c.x() * c.float("beta", 1.0) + product]
    }),
    composite(pd::Outer::NAME, |c| {
        let (rows, columns) = (c.shape(0).iter().product(), c.shape(1).iter().product());
        vec![c.x().reshape(&[rows, 1]) * c.y().reshape(&[1, columns])]
    }),
    composite(pd::Linear::NAME, |c| {
        let product = c.x().matmul(&c.y());
        vec![match c.declared(2) {
            Some(at) => product + c.arg(at),
            None => product,
        }]
    }),
    composite(pd::Dot::NAME, |c| {
        let products = c.x() * c.y();
        let last = products.rank().max(1) - 1;
        vec![products.sum(&[last], false)]
    }),
    composite(pd::Kron::NAME, |c| {
        let (x, y) = (c.x(), c.y());
        let rank = x.rank().max(y.rank());
        let wide = |v: &V<'_>, before: bool| -> Vec<usize> {
            let shape = v.shape();
            let dims = std::iter::repeat_n(1, rank - shape.len()).chain(shape.iter().copied());
            dims.flat_map(|d| if before { [d, 1] } else { [1, d] }).collect()
        };
        let product = x.reshape(&wide(&x, true)) * y.reshape(&wide(&y, false));
        vec![product.reshape(&c.out_shape(0))]
    }),
    composite(pd::Trace::NAME, |c| {
        let diagonal = numbers(&c.shape(0)).and_then(|numbers| {
            let ctx = c.engine.ctx();
            let found = c
                .engine
                .compute(ctx.op_name(pd::Diagonal::NAME), &[Slot::One(numbers)], c.attrs())?;
            found
                .into_iter()
                .next()
                .ok_or_else(|| "the diagonal is missing".to_owned())
        });
        let diagonal = V::constant(c.engine, diagonal);
        let last = diagonal.rank().max(1) - 1;
        vec![c.x().take(&diagonal).sum(&[last], false)]
    }),
    data_movement(pd::Diagonal::NAME),
    data_movement(pd::Diag::NAME),
    composite(pd::PNorm::NAME, |c| vec![p_norm(c)]),
    composite(pd::FrobeniusNorm::NAME, |c| {
        let axes = if c.bool("reduce_all", false) {
            Ok((0..c.rank(0)).collect())
        } else {
            c.axes()
        };
        match axes {
            Ok(axes) => vec![norm_of(&c.x().square().sum(&axes, true), 2.0).reshape(&c.out_shape(0))],
            Err(e) => vec![failed(c, &e)],
        }
    }),
    composite(pd::SquaredL2Norm::NAME, |c| {
        vec![c.x().square().sum(&whole(c), false).reshape(&[1])]
    }),
    composite(pd::MeanAll::NAME, |c| {
        let count: usize = c.shape(0).iter().product();
        vec![c.x().sum(&whole(c), false) * (1.0 / count as f64)]
    }),
    composite(pd::Logsumexp::NAME, |c| match summed_axes(c) {
        Ok(axes) => {
            let x = c.x();
            // The maximum does not affect the result, and is treated as a constant.
            let most = extremum(&x.detached(), pd::Max::NAME, &axes);
            let sum = (x - most.clone()).exp().sum(&axes, true);
            vec![(sum.call("log") + most).reshape(&c.out_shape(0))]
        }
        Err(e) => vec![failed(c, &e)],
    }),
    composite(pd::Cumprod::NAME, |c| vec![cumprod(c)]),
    composite(pd::Einsum::NAME, |c| vec![einsum(c).unwrap_or_else(|e| failed(c, &e))]),
    data_movement(pd::AssignOutInplace::NAME),
    composite(pd::SgdInplace::NAME, |c| {
        let rate = c.y();
        let count: usize = rate.shape().iter().product();
        let rate = if count == 1 { rate.reshape(&[]) } else { rate };
        vec![c.x() - rate * c.arg(2)]
    }),
    zero(pd::Bernoulli::NAME),
    zero(pd::Nonzero::NAME),
];

fn whole(c: &Cx<'_>) -> Vec<usize> {
    (0..c.rank(0)).collect()
}

/// The axes of `logsumexp`: the first one by default.
fn summed_axes(c: &Cx<'_>) -> Result<Vec<usize>, String> {
    let given = c.ints("axis")?.unwrap_or_else(|| vec![0]);
    if given.is_empty() || c.bool("reduce_all", false) || c.rank(0) == 0 {
        return Ok(whole(c));
    }
    given.iter().map(|&a| axis(a, c.rank(0))).collect()
}

/// The largest or smallest element over axes, which stay as dimensions of extent 1.
fn extremum<'e>(x: &V<'e>, op: &str, axes: &[usize]) -> V<'e> {
    if axes.is_empty() {
        return x.clone();
    }
    let ctx = x.engine.ctx();
    let axes: Vec<i64> = axes.iter().map(|&a| a as i64).collect();
    x.op(
        op,
        &[],
        &[("axis", ctx.ints_attr(&axes)), ("keepdim", ctx.bool_attr(true))],
    )
}

fn p_norm<'e>(c: &Cx<'e>) -> V<'e> {
    let x = c.x();
    let axes = match c.bool("asvector", false) || c.rank(0) == 0 {
        true => Ok(whole(c)),
        false => axis(c.int("axis", -1), c.rank(0)).map(|at| vec![at]),
    };
    let axes = match axes {
        Ok(axes) => axes,
        Err(e) => return failed(c, &e),
    };
    let size = x.call("abs");
    let norm = match c.float("porder", 2.0) {
        f64::INFINITY => extremum(&size, pd::Max::NAME, &axes),
        f64::NEG_INFINITY => extremum(&size, pd::Min::NAME, &axes),
        0.0 => size.detached().sum(&axes, true).filled(0.0),
        1.0 => size.sum(&axes, true),
        2.0 => norm_of(&x.square().sum(&axes, true), 2.0),
        p => norm_of(&size.pow(p).sum(&axes, true), p),
    };
    norm.reshape(&c.out_shape(0))
}

/// A root of a sum of powers. Where the sum is zero, it is treated as a constant.
fn norm_of<'e>(sum: &V<'e>, p: f64) -> V<'e> {
    let nothing = sum.with("equal", &sum.filled(0.0));
    let safe = nothing.choose(&sum.filled(1.0), sum);
    let root = if p == 2.0 { safe.call("sqrt") } else { safe.pow(1.0 / p) };
    nothing.choose(&sum.filled(0.0), &root)
}

fn cumprod<'e>(c: &Cx<'e>) -> V<'e> {
    let shape = c.shape(0);
    let x = if shape.is_empty() { c.x().reshape(&[1]) } else { c.x() };
    let at = match axis(c.int("dim", 0), shape.len().max(1)) {
        Ok(at) => at,
        Err(e) => return failed(c, &e),
    };
    let n = x.shape().get(at).copied().unwrap_or(0);
    let (exclusive, reverse) = (c.bool("exclusive", false), c.bool("reverse", false));
    let mut parts = Vec::with_capacity(n);
    let mut product: Option<V<'e>> = None;
    for k in 0..n {
        let k = if reverse { n - 1 - k } else { k };
        let own = x.part(at, k, k + 1);
        let before = product.take().unwrap_or_else(|| own.filled(1.0));
        let next = before.clone() * own;
        parts.push(if exclusive { before } else { next.clone() });
        product = Some(next);
    }
    if reverse {
        parts.reverse();
    }
    V::concat(c.engine, &parts, at).reshape(&shape)
}

/// The elements at which all dimensions with the same letter have the same index, and the letters.
fn on_diagonals<'e>(x: V<'e>, letters: &[char]) -> Result<(V<'e>, Vec<char>), String> {
    let mut own: Vec<char> = Vec::new();
    letters.iter().for_each(|c| match own.contains(c) {
        true => {}
        false => own.push(*c),
    });
    if own.len() == letters.len() {
        return Ok((x, own));
    }
    let shape = x.shape();
    let full = strides_of(&shape);
    let of = |c: char, from: &[usize]| {
        letters
            .iter()
            .zip(from)
            .filter(move |(l, _)| **l == c)
            .map(|(_, &n)| n)
            .collect::<Vec<_>>()
    };
    let extents: Vec<usize> = own
        .iter()
        .map(|&c| of(c, &shape).first().copied().unwrap_or(1))
        .collect();
    let steps: Vec<usize> = own.iter().map(|&c| of(c, &full).iter().sum()).collect();
    let lines = strides_of(&extents);
    let place = |n: usize| {
        (0..own.len())
            .map(|i| n / lines[i] % extents[i] * steps[i])
            .sum::<usize>() as i64
    };
    let places = (0..extents.iter().product()).map(place).collect();
    let places = V::constant(x.engine, Dense::new(&extents, places));
    Ok((x.take(&places), own))
}

/// Broadcasts every operand to all indices, multiplies, and sums.
fn einsum<'e>(c: &Cx<'e>) -> Result<V<'e>, String> {
    let count = c
        .text("equation")
        .unwrap_or_default()
        .split("->")
        .next()
        .map_or(0, |left| left.split(',').count());
    let ranks = (0..count).map(|at| c.arg(at).shape().len());
    let letters = EinsumEquation::parse(c.text("equation").unwrap_or_default(), ranks)?;
    let summed = letters.summed();
    let all: Vec<char> = letters.output.iter().chain(&summed).copied().collect();
    let mut product: Option<V<'e>> = None;
    for (at, own) in letters.inputs.iter().enumerate() {
        let (x, own) = on_diagonals(c.arg(at), own)?;
        let place = |letter: &char| own.iter().position(|l| l == letter);
        let perm: Vec<usize> = all.iter().filter_map(place).collect();
        let dims = x.shape();
        let shape: Vec<usize> = all
            .iter()
            .map(|l| place(l).and_then(|p| dims.get(p).copied()).unwrap_or(1))
            .collect();
        let spread = x.transpose(&perm).reshape(&shape);
        product = Some(match product {
            None => spread,
            Some(product) => product * spread,
        });
    }
    let product = product.ok_or("an operand is missing")?;
    let axes: Vec<usize> = (letters.output.len()..all.len()).collect();
    Ok(product.sum(&axes, false))
}
