//! Sorting, and what is like it.

use pir_ir::Type;

use super::super::ops;
use super::hlo::{Frame, Num, compare, converted, cut, filled, iota, reshaped, vector};
use super::reduce::bound;
use super::{Cx, Results, Rows, axis, rows};

pub(super) const ROWS: Rows = rows! {
    Argsort |c, op| sorted(c, op.axis(), op.descending(), None);
    Topk |c, op| {
        let k = c.int(op.k(), "k")?;
        sorted(c, op.axis(), op.largest(), Some((0, k)))
    };
    Kthvalue |c, op| sorted(c, op.axis(), false, Some((op.k() - 1, op.k())));
    Cummax |c, op| so_far(c, op.axis(), "GE");
    Cummin |c, op| so_far(c, op.axis(), "LE");
};

/// The elements along an axis with their indices, in order: stable, NaN exceeds everything. Then some of them.
fn sorted<'c>(c: &Cx<'c>, along: i64, descending: bool, some: Option<(i64, i64)>) -> Results<'c> {
    let x = vector(c.x(0));
    let at = axis(along, x.rank())?;
    let (elem, index) = (x.elem().ok_or("an operand is missing")?, c.tensor(1).1);
    let places = iota(c.scope, x.dims(), at, index);
    let scalars = [elem, elem, index, index].map(|elem| c.ctx().tensor(&[], elem));
    let region = c.region(&scalars, |args| {
        let &[a, b, ..] = args else { return Vec::new() };
        let (a, b) = if descending { (b, a) } else { (a, b) };
        let less = compare("LT", a, b, &[]);
        vec![match c.ctx().is_float(elem) {
            true => less.logical_or(a.isnan().logical_not().logical_and(b.isnan())),
            false => less,
        }]
    });
    let attrs = [
        ("dimension", c.ctx().int_attr(at as i64)),
        ("is_stable", c.ctx().bool_attr(true)),
    ];
    let types = [elem, index].map(|elem| c.ctx().tensor(x.dims(), elem));
    let all = c.with_regions(ops::Sort::NAME, &[x, places], &attrs, &[region], &types);
    Ok(all
        .into_iter()
        .enumerate()
        .map(|(result, x)| {
            let part = some.map_or(x, |(start, end)| cut(x, at, start, end));
            reshaped(part, c.tensor(result).0)
        })
        .collect())
}

/// The extremum up to each element and its index: the last of equals; NaN exceeds everything.
fn so_far<'c>(c: &Cx<'c>, along: i64, wins: &str) -> Results<'c> {
    let x = vector(c.x(0));
    let at = axis(along, x.rank())?;
    let elem = x.elem().ok_or("an operand is missing")?;
    if x.dims()[at] == 0 {
        return Err("there is nothing along the axis".to_owned());
    }
    let places = iota(c.scope, x.dims(), at, Type::I64);
    let scalars = [elem, Type::I64, elem, Type::I64].map(|elem| c.ctx().tensor(&[], elem));
    let region = c.region(&scalars, |args| {
        let &[a, i, b, j] = args else { return Vec::new() };
        // Entries that represent nothing have the index -1.
        let later = compare("GT", j, i, &[]);
        let (first, second) = (later.select(a, b), later.select(b, a));
        let wins = compare(wins, second, first, &[]);
        let wins = match c.ctx().is_float(elem) {
            true => wins.logical_or(second.isnan()),
            false => wins,
        };
        let none = compare("LT", i.minimum(j), filled(c.scope, &[], Type::I64, Num::Int(0)), &[]);
        let wins = wins.logical_or(none);
        vec![wins.select(second, first), wins.select(i.maximum(j), i.minimum(j))]
    });
    let inits = [
        filled(c.scope, &[], elem, bound(c, elem, wins == "LE")),
        filled(c.scope, &[], Type::I64, Num::Int(-1)),
    ];
    let types = [elem, Type::I64].map(|elem| c.ctx().tensor(x.dims(), elem));
    let operands = [x, places, inits[0], inits[1]];
    let all = c.reduce_windows(&operands, &Frame::up_to(x.dims(), at), region, &types);
    Ok(all
        .into_iter()
        .enumerate()
        .map(|(result, x)| reshaped(converted(x, c.tensor(result).1), c.tensor(result).0))
        .collect())
}
