//! Reductions and running sums.

use pir_ir::{RegionId, Signedness, Type, TypeData};

use super::super::ops;
use super::elementwise::{like, truth};
use super::hlo::{Frame, Num, array, compare, converted, cut, filled, iota, joined, reshaped, reversed};
use super::{Cx, Rows, axis, rows};
use crate::pd::{Expr, Ints};

pub(super) const ROWS: Rows = rows! {
    Sum |c, op| total(c, op.axis(), ops::Add::NAME, Num::Int(0))?;
    Prod |c, op| total(c, op.axis(), ops::Multiply::NAME, Num::Int(1))?;
    Mean |c, op| mean(c, c.axes(op.axis(), c.x(0).rank())?)?;
    MeanAll |c, _| mean(c, c.axes(Ints::List(Vec::new()), c.x(0).rank())?)?;
    Max |c, op| extremum(c, c.axes(op.axis(), c.x(0).rank())?, true);
    Amax |c, op| extremum(c, c.axes(Ints::List(op.axis()), c.x(0).rank())?, true);
    Min |c, op| extremum(c, c.axes(op.axis(), c.x(0).rank())?, false);
    Amin |c, op| extremum(c, c.axes(Ints::List(op.axis()), c.x(0).rank())?, false);
    Any |c, op| {
        let x = truth(c.x(0));
        reshaped(c.reduce(ops::Or::NAME, x, Num::Int(0), &c.axes(op.axis(), x.rank())?), c.dims())
    };
    All |c, op| {
        let x = truth(c.x(0));
        reshaped(c.reduce(ops::And::NAME, x, Num::Int(1), &c.axes(op.axis(), x.rank())?), c.dims())
    };
    ReduceAs |c, _| {
        let x = c.x(0);
        let lead = x.rank().checked_sub(c.dims().len()).ok_or("the result has more dimensions than the operand")?;
        let is_summed = |at: &usize| at.checked_sub(lead).is_none_or(|own| c.dims()[own] != x.dims()[*at]);
        let axes: Vec<i64> = (0..x.rank()).filter(is_summed).map(|at| at as i64).collect();
        reshaped(wide(c, x, |x| c.reduce(ops::Add::NAME, x, Num::Int(0), &axes)), c.dims())
    };
    Argmax |c, op| arg_extremum(c, op.axis().constant(), op.flatten(), "GT");
    Argmin |c, op| arg_extremum(c, op.axis().constant(), op.flatten(), "LT");
    Logsumexp |c, op| {
        let x = c.x(0);
        let axes = if op.reduce_all() { Vec::new() } else { op.axis() };
        let axes = c.axes(Ints::List(axes), x.rank())?;
        let most = x.max_with(|o| o.axis(&axes).keepdim(true));
        // Infinities are not subtracted from themselves.
        let most = most.isfinite().select(most, like(most, 0.0));
        let sum = (x - most).exp().sum_with(|o| o.axis(&axes).keepdim(true));
        reshaped(sum.log() + most, c.dims())
    };
    Cumsum |c, op| {
        let at = c.int(op.axis(), "axis")?;
        running(c, ops::Add::NAME, Num::Int(0), (at, op.flatten()), op.exclusive(), op.reverse())?
    };
    Cumprod |c, op| {
        let at = op.dim().ok_or("`dim` is missing")?;
        running(c, ops::Multiply::NAME, Num::Int(1), (at, false), op.exclusive(), op.reverse())?
    };
};

/// Computes with halves in single precision, as the kernels do, which round once.
fn wide<'c>(c: &Cx<'c>, x: Expr<'c>, f: impl FnOnce(Expr<'c>) -> Expr<'c>) -> Expr<'c> {
    match x.elem() {
        Some(elem) if c.ctx().is_float(elem) && elem != Type::F32 && elem != Type::F64 => {
            converted(f(converted(x, Type::F32)), elem)
        }
        _ => f(x),
    }
}

/// Elements of the result's type along axes, combined.
fn total<'c>(c: &Cx<'c>, axes: Ints, combiner: &str, init: Num) -> Result<Expr<'c>, String> {
    let x = c.x(0);
    let axes = c.axes(axes, x.rank())?;
    let out = wide(c, converted(x, c.elem()), |x| c.reduce(combiner, x, init, &axes));
    Ok(reshaped(out, c.dims()))
}

fn mean<'c>(c: &Cx<'c>, axes: Vec<i64>) -> Result<Expr<'c>, String> {
    let x = c.x(0);
    if !c.is_float() {
        return Err("means of integers are not supported".to_owned());
    }
    let count: i64 = axes
        .iter()
        .map(|&at| x.dims().get(at as usize).copied().unwrap_or(1))
        .product();
    let out = wide(c, x, |x| {
        let sum = c.reduce(ops::Add::NAME, x, Num::Int(0), &axes);
        sum / like(sum, count as f64)
    });
    Ok(reshaped(out, c.dims()))
}

/// The least or the greatest number of a type.
pub(super) fn bound(c: &Cx<'_>, elem: Type, greatest: bool) -> Num {
    let signed = |width: u32| i64::MAX >> (64 - width);
    match *c.ctx().type_data(elem) {
        TypeData::Integer { width: 1, .. } => Num::Int(greatest.into()),
        TypeData::Integer {
            width,
            sign: Signedness::Unsigned,
        } => match greatest {
            true if width >= 64 => Num::Int(-1),
            true => Num::Int((1 << width) - 1),
            false => Num::Int(0),
        },
        TypeData::Integer { width, .. } if greatest => Num::Int(signed(width)),
        TypeData::Integer { width, .. } => Num::Int(-signed(width) - 1),
        _ if greatest => Num::Float(f64::INFINITY),
        _ => Num::Float(f64::NEG_INFINITY),
    }
}

fn extremum<'c>(c: &Cx<'c>, axes: Vec<i64>, greatest: bool) -> Expr<'c> {
    let name = if greatest {
        ops::Maximum::NAME
    } else {
        ops::Minimum::NAME
    };
    let init = bound(c, c.elem(), !greatest);
    reshaped(c.reduce(name, c.x(0), init, &axes), c.dims())
}

/// Selects from two elements with indices by a comparison, the smaller index if they are equal; NaN precedes all
/// numbers.
pub(super) fn first_of_equals(c: &Cx<'_>, elem: Type, index: Type, wins: &str) -> Option<RegionId> {
    let scalars = [elem, index, elem, index].map(|elem| c.ctx().tensor(&[], elem));
    c.region(&scalars, |args| {
        let &[a, i, b, j] = args else { return Vec::new() };
        let (better, equal) = (compare(wins, a, b, &[]), compare("EQ", a, b, &[]));
        let (better, equal) = match c.ctx().is_float(elem) {
            true => {
                let nans = [a.isnan(), b.isnan()];
                let both = nans[0].logical_and(nans[1]);
                let first = nans[0].logical_and(nans[1].logical_not());
                (better.logical_or(first), equal.logical_or(both))
            }
            false => (better, equal),
        };
        let takes = better.logical_or(equal.logical_and(compare("LT", i, j, &[])));
        vec![takes.select(a, b), takes.select(i, j)]
    })
}

/// The first index of the greatest or the least element; a NaN is before all others.
fn arg_extremum<'c>(c: &Cx<'c>, along: Option<f64>, flatten: bool, wins: &str) -> Result<Expr<'c>, String> {
    let mut x = c.x(0);
    let along = match along {
        Some(at) if !flatten => at as i64,
        _ => {
            x = reshaped(x, &[x.dims().iter().product()]);
            0
        }
    };
    if x.rank() == 0 {
        return Ok(filled(c.scope, c.dims(), c.elem(), Num::Int(0)));
    }
    let at = axis(along, x.rank())?;
    let elem = x.elem().unwrap_or(Type::NONE);
    let (x, elem) = match elem {
        Type::I1 => (converted(x, Type::I32), Type::I32),
        _ => (x, elem),
    };
    let index = iota(c.scope, x.dims(), at, c.elem());
    let inits = [
        filled(c.scope, &[], elem, bound(c, elem, wins != "GT")),
        filled(c.scope, &[], c.elem(), Num::Int(0)),
    ];
    let region = first_of_equals(c, elem, c.elem(), wins);
    let kept: Vec<i64> = (0..x.rank()).filter(|&d| d != at).map(|d| x.dims()[d]).collect();
    let types = [elem, c.elem()].map(|elem| c.ctx().tensor(&kept, elem));
    let attrs = [("dimensions", array(c.ctx(), &[at as i64]))];
    let results = c.with_regions(
        ops::Reduce::NAME,
        &[x, index, inits[0], inits[1]],
        &attrs,
        &[region],
        &types,
    );
    let found = results.get(1).copied().ok_or("an operand is missing")?;
    Ok(reshaped(found, c.dims()))
}

/// Running reductions.
fn running<'c>(
    c: &Cx<'c>,
    combiner: &str,
    init: Num,
    (along, flatten): (i64, bool),
    exclusive: bool,
    backwards: bool,
) -> Result<Expr<'c>, String> {
    let mut x = converted(c.x(0), c.elem());
    if flatten || x.rank() == 0 {
        x = reshaped(x, &[x.dims().iter().product()]);
    }
    let at = axis(if flatten { 0 } else { along }, x.rank())?;
    let size = x.dims()[at];
    if size == 0 {
        return Ok(reshaped(x, c.dims()));
    }
    if backwards {
        x = reversed(x, &[at as i64]);
    }
    if exclusive {
        let mut first = x.dims().to_vec();
        first[at] = 1;
        let first = filled(c.scope, &first, c.elem(), init);
        x = joined(c.scope, &[first, cut(x, at, 0, size - 1)], at);
    }
    let out = wide(c, x, |x| {
        c.fold_windows(combiner, x, init, &Frame::up_to(x.dims(), at), x.dims())
    });
    let out = if backwards { reversed(out, &[at as i64]) } else { out };
    Ok(reshaped(out, c.dims()))
}
