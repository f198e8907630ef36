//! Rules of linear algebra and norms, told in ordinary operations.

use pir_dialects::letters::Letters;
use pir_ir::ValueId;
use smallvec::{SmallVec, smallvec};

use super::super::cotangent::{filled_like, zeros_like};
use super::reduce::normalise;
use super::twins::{Expand, expanded};
use super::{Rule, RuleCx, rule};

pub(super) const RULES: &[Rule] = &[
    rule("pd.bmm", expanded),
    rule("pd.mv", expanded),
    rule("pd.dot", expanded),
    rule("pd.outer", expanded),
    rule("pd.linear", expanded),
    rule("pd.addmm", expanded),
    rule("pd.kron", expanded),
    rule("pd.trace", expanded),
    rule("pd.diagonal", expanded),
    rule("pd.diag", expanded),
    rule("pd.squared_l2_norm", expanded),
    rule("pd.frobenius_norm", expanded),
    rule("pd.p_norm", expanded),
    rule("pd.logsumexp", expanded),
    rule("pd.mean_all", expanded),
    rule("pd.einsum", expanded),
    rule("pd.sgd_", expanded),
    rule("pd.assign_out_", |cx| {
        let g = cx.grad()?;
        cx.add(0, g)
    }),
    rule("pd.cumprod", expanded),
];

pub(super) const COMPOSITES: &[(&str, Expand)] = &[
    ("pd.bmm", product),
    ("pd.mv", product),
    ("pd.dot", |cx| {
        let (x, y) = (cx.operand(0), cx.operand(1));
        let products = cx.multiply(x, y)?;
        let last = cx.ints(&[-1]);
        Ok(smallvec![cx.emit("pd.sum", &[products], &[("axis", last)])?])
    }),
    ("pd.outer", |cx| {
        let (x, y) = (cx.operand(0), cx.operand(1));
        let (x, y) = (cx.reshaped(x, &[-1, 1])?, cx.reshaped(y, &[1, -1])?);
        Ok(smallvec![cx.multiply(x, y)?])
    }),
    ("pd.linear", |cx| {
        let (x, weight) = (cx.operand(0), cx.operand(1));
        let product = cx.emit("pd.matmul", &[x, weight], &[])?;
        Ok(smallvec![match cx.place(2) {
            Some(at) => cx.emit("pd.add", &[product, cx.operand(at)], &[])?,
            None => product,
        }])
    }),
    ("pd.addmm", |cx| {
        let (input, x, y) = (cx.operand(0), cx.operand(1), cx.operand(2));
        let (alpha, beta) = (cx.number("alpha", 1.0), cx.number("beta", 1.0));
        let product = cx.emit("pd.matmul", &[x, y], &[])?;
        let (product, input) = (cx.scaled(product, alpha)?, cx.scaled(input, beta)?);
        Ok(smallvec![cx.emit("pd.add", &[input, product], &[])?])
    }),
    ("pd.kron", |cx| {
        let (a, b) = match (cx.static_shape(0), cx.static_shape(1)) {
            (Some(a), Some(b)) => (a, b),
            _ => return Err("it needs static shapes".to_owned()),
        };
        let rank = a.len().max(b.len());
        let wide = |s: &[i64]| -> Vec<i64> {
            std::iter::repeat_n(1, rank - s.len())
                .chain(s.iter().copied())
                .collect()
        };
        let (a, b) = (wide(&a), wide(&b));
        let left: Vec<i64> = a.iter().flat_map(|&d| [d, 1]).collect();
        let right: Vec<i64> = b.iter().flat_map(|&d| [1, d]).collect();
        let shape: Vec<i64> = a.iter().zip(&b).map(|(a, b)| a.saturating_mul(*b)).collect();
        let (x, y) = (cx.operand(0), cx.operand(1));
        let (x, y) = (cx.reshaped(x, &left)?, cx.reshaped(y, &right)?);
        let out = cx.multiply(x, y)?;
        Ok(smallvec![cx.reshaped(out, &shape)?])
    }),
    ("pd.diagonal", |cx| Ok(smallvec![diagonal(cx, true)?])),
    ("pd.trace", |cx| {
        let parts = diagonal(cx, true)?;
        let last = cx.ints(&[-1]);
        Ok(smallvec![cx.emit("pd.sum", &[parts], &[("axis", last)])?])
    }),
    ("pd.diag", |cx| {
        if cx.rank(0) == 2 {
            return Ok(smallvec![diagonal(cx, false)?]);
        }
        let shape = cx.static_shape(0).ok_or("it needs a static shape")?;
        let (n, offset) = (shape[0], cx.view().int("offset").unwrap_or(0));
        let padding = cx.number("padding_value", 0.0);
        let size = n.saturating_add(offset.saturating_abs());
        let start = diagonal_start(offset);
        let x = cx.operand(0);
        let (whole, zero) = (cx.ints(&[size * size]), cx.ctx().float_attr(padding));
        let dtype = cx.ctx().type_attr(cx.ctx().elem_type(cx.operand_type(0)));
        let empty = cx.emit("pd.full", &[], &[("shape", whole), ("value", zero), ("dtype", dtype)])?;
        let places: Vec<i64> = (0..n).map(|k| (start.0 + k) * size + start.1 + k).collect();
        let index = index(cx, &places)?;
        let filled = cx.emit("pd.scatter", &[empty, index, x], &[])?;
        Ok(smallvec![cx.reshaped(filled, &[size, size])?])
    }),
    ("pd.squared_l2_norm", |cx| {
        let x = cx.operand(0);
        let squares = cx.unary("pd.square", x)?;
        let sum = cx.unary("pd.sum", squares)?;
        Ok(smallvec![cx.reshaped(sum, &[1])?])
    }),
    ("pd.frobenius_norm", |cx| {
        let x = cx.operand(0);
        let (axes, keepdim) = axes(cx, "keep_dim", &[])?;
        let squares = cx.unary("pd.square", x)?;
        let sum = cx.sum_over(squares, &axes, keepdim)?;
        Ok(smallvec![cx.root(sum, 2.0)?])
    }),
    ("pd.logsumexp", |cx| {
        let x = cx.operand(0);
        let (axes, keepdim) = axes(cx, "keepdim", &[0])?;
        let (list, yes) = (cx.ints(&axes), cx.ctx().bool_attr(true));
        if axes.is_empty() {
            return Ok(smallvec![cx.unary("pd.assign", x)?]);
        }
        // The maximum only keeps the exponentials small: its share of the derivative cancels.
        let most = cx.emit("pd.max", &[x], &[("axis", list), ("keepdim", yes)])?;
        let rest = cx.subtract(x, most)?;
        let powers = cx.unary("pd.exp", rest)?;
        let sum = cx.sum_over(powers, &axes, true)?;
        let log = cx.unary("pd.log", sum)?;
        let out = cx.emit("pd.add", &[log, most], &[])?;
        Ok(smallvec![match keepdim {
            true => out,
            false => cx.emit("pd.squeeze", &[out], &[("axis", list)])?,
        }])
    }),
    ("pd.mean_all", |cx| {
        let x = cx.operand(0);
        Ok(smallvec![cx.unary("pd.mean", x)?])
    }),
    ("pd.p_norm", p_norm),
    ("pd.einsum", einsum),
    ("pd.sgd_", |cx| {
        let (param, rate, grad) = (cx.operand(0), cx.operand(1), cx.operand(2));
        let rate = cx.cast_like(rate, 0)?;
        let step = cx.multiply(rate, grad)?;
        Ok(smallvec![cx.subtract(param, step)?])
    }),
    ("pd.cumprod", cumprod),
];

fn product(cx: &mut RuleCx<'_, '_>) -> Result<SmallVec<[ValueId; 2]>, String> {
    let (x, y) = (cx.operand(0), cx.operand(1));
    Ok(smallvec![cx.emit("pd.matmul", &[x, y], &[])?])
}

/// Row and column where a diagonal starts.
fn diagonal_start(offset: i64) -> (i64, i64) {
    ((-offset).max(0), offset.max(0))
}

fn index(cx: &mut RuleCx<'_, '_>, places: &[i64]) -> Result<ValueId, String> {
    let values = cx.ints(places);
    cx.emit("pd.full_int_array", &[], &[("value", values)])
}

/// A diagonal of each matrix, picked from the matrix as a row.
fn diagonal(cx: &mut RuleCx<'_, '_>, with_axes: bool) -> Result<ValueId, String> {
    let shape = cx.static_shape(0).ok_or("it needs a static shape")?;
    let rank = shape.len();
    let named = |name: &str, default: i64| match with_axes {
        true => cx.view().int(name).unwrap_or(default),
        false => default,
    };
    let (first, second) = (normalise(named("axis1", 0), rank)?, normalise(named("axis2", 1), rank)?);
    let offset = cx.view().int("offset").unwrap_or(0);
    let start = diagonal_start(offset);
    let (rows, columns) = (shape[first], shape[second]);
    let length = (rows - start.0).min(columns - start.1).max(0);
    let rest: Vec<usize> = (0..rank).filter(|&a| a != first && a != second).collect();
    let order: Vec<i64> = rest.iter().chain(&[first, second]).map(|&a| a as i64).collect();
    let mut merged: Vec<i64> = rest.iter().map(|&a| shape[a]).collect();
    merged.push(rows * columns);
    let (x, order) = (cx.operand(0), cx.ints(&order));
    let moved = cx.emit("pd.transpose", &[x], &[("perm", order)])?;
    let row = cx.reshaped(moved, &merged)?;
    let places: Vec<i64> = (0..length).map(|k| (start.0 + k) * columns + start.1 + k).collect();
    let index = index(cx, &places)?;
    let axis = cx.ctx().int_attr(rest.len() as i64);
    cx.emit("pd.index_select", &[row, index], &[("axis", axis)])
}

/// The axes of a reduction, counted from the front, and whether they stay.
fn axes(cx: &RuleCx<'_, '_>, keepdim: &str, default: &[i64]) -> Result<(Vec<i64>, bool), String> {
    let rank = cx.rank(0);
    let given = cx.int_list("axis")?.unwrap_or_else(|| default.to_vec());
    let all = given.is_empty() || cx.view().bool("reduce_all").unwrap_or(false);
    let mut axes = match all {
        true => (0..rank as i64).collect(),
        false => given
            .iter()
            .map(|&a| normalise(a, rank).map(|a| a as i64))
            .collect::<Result<Vec<_>, _>>()?,
    };
    axes.sort_unstable();
    axes.dedup();
    Ok((axes, cx.view().bool(keepdim).unwrap_or(false)))
}

fn p_norm(cx: &mut RuleCx<'_, '_>) -> Result<SmallVec<[ValueId; 2]>, String> {
    let rank = cx.rank(0);
    let keepdim = cx.view().bool("keepdim").unwrap_or(false);
    let axes: Vec<i64> = match cx.view().bool("asvector").unwrap_or(false) || rank == 0 {
        true => (0..rank as i64).collect(),
        false => vec![normalise(cx.view().int("axis").unwrap_or(-1), rank)? as i64],
    };
    let order = cx.number("porder", 2.0);
    let x = cx.operand(0);
    if order == 2.0 {
        let squares = cx.unary("pd.square", x)?;
        let sum = cx.sum_over(squares, &axes, keepdim)?;
        return Ok(smallvec![cx.root(sum, 2.0)?]);
    }
    let size = cx.unary("pd.abs", x)?;
    if order == 0.0 {
        let there = cx.above(size, 0.0)?;
        let ones = cx.cast_like(there, 0)?;
        return Ok(smallvec![cx.sum_over(ones, &axes, keepdim)?]);
    }
    if order == 1.0 {
        return Ok(smallvec![cx.sum_over(size, &axes, keepdim)?]);
    }
    if order.is_infinite() {
        let op = if order > 0.0 { "pd.max" } else { "pd.min" };
        let (list, keep) = (cx.ints(&axes), cx.ctx().bool_attr(keepdim));
        return Ok(smallvec![cx.emit(op, &[size], &[("axis", list), ("keepdim", keep)])?]);
    }
    let y = cx.ctx().float_attr(order);
    let powers = cx.emit("pd.pow", &[size], &[("y", y)])?;
    let sum = cx.sum_over(powers, &axes, keepdim)?;
    Ok(smallvec![cx.root(sum, order)?])
}

/// Running products without division: `n²` numbers for a line of `n`, but right for zeros and differentiable again.
fn cumprod(cx: &mut RuleCx<'_, '_>) -> Result<SmallVec<[ValueId; 2]>, String> {
    let mut shape = cx.static_shape(0).ok_or("it needs a static shape")?;
    let x = cx.operand(0);
    let scalar = shape.is_empty();
    if scalar {
        // A line of one element.
        shape.push(1);
    }
    let axis = normalise(cx.view().int("dim").unwrap_or(0), shape.len())?;
    let flag = |name: &str| cx.view().bool(name).unwrap_or(false);
    let (exclusive, reverse) = (flag("exclusive"), flag("reverse"));
    let n = shape[axis];
    // Row k of a square holds the factors of product k, and ones.
    let mut row = shape.clone();
    row.insert(axis, 1);
    let mut square = row.clone();
    square[axis] = n;
    let rows = cx.reshaped(x, &row)?;
    let square = cx.ints(&square);
    let matrix = cx.emit("pd.expand", &[rows], &[("shape", square)])?;
    let (full, one) = (cx.ints(&[n, n]), cx.ctx().float_attr(1.0));
    let dtype = cx.ctx().type_attr(cx.ctx().elem_type(cx.operand_type(0)));
    let ones = cx.emit("pd.full", &[], &[("shape", full), ("value", one), ("dtype", dtype)])?;
    let (op, diagonal) = match (reverse, exclusive) {
        (false, false) => ("pd.tril", 0),
        (false, true) => ("pd.tril", -1),
        (true, false) => ("pd.triu", 0),
        (true, true) => ("pd.triu", 1),
    };
    let diagonal = cx.ctx().int_attr(diagonal);
    let inside = cx.emit(op, &[ones], &[("diagonal", diagonal)])?;
    let inside = cx.above(inside, 0.5)?;
    let mut mask: Vec<i64> = vec![n, n];
    mask.resize(2 + shape.len() - axis - 1, 1);
    let inside = cx.reshaped(inside, &mask)?;
    let ones = filled_like(cx.r, matrix, 1.0)?;
    let factors = cx.select(inside, matrix, ones)?;
    let over = cx.ints(&[axis as i64 + 1]);
    let out = cx.emit("pd.prod", &[factors], &[("axis", over)])?;
    Ok(smallvec![if scalar { cx.reshaped(out, &[])? } else { out }])
}

/// Two operands at a time: each as a batch of matrices, multiplied, and the letters put back in order.
fn einsum(cx: &mut RuleCx<'_, '_>) -> Result<SmallVec<[ValueId; 2]>, String> {
    let letters = Letters::parse(cx.view().str("equation").unwrap_or(""))?;
    let mut parts = Vec::new();
    for index in 0..cx.num_operands() {
        let shape = cx.static_shape(index).ok_or("it needs static shapes")?;
        let own = letters.inputs.get(index).ok_or("the operands must not be lists")?;
        let sized: Vec<(char, i64)> = own.iter().copied().zip(shape).collect();
        parts.push((cx.operand(index), sized));
    }
    let mut rest = parts.into_iter();
    let mut left = rest.next().ok_or("there are no operands")?;
    let mut later = rest.as_slice().to_vec();
    while !later.is_empty() {
        let right = later.remove(0);
        let kept = |c: char| letters.output.contains(&c) || later.iter().any(|p| p.1.iter().any(|l| l.0 == c));
        left = contract(cx, left, right, &kept)?;
    }
    let (value, own) = drop_letters(cx, left, &|c| letters.output.contains(&c))?;
    let order: Vec<i64> = letters
        .output
        .iter()
        .filter_map(|c| own.iter().position(|l| l.0 == *c).map(|at| at as i64))
        .collect();
    let order = cx.ints(&order);
    Ok(smallvec![cx.emit("pd.transpose", &[value], &[("perm", order)])?])
}

type Part = (ValueId, Vec<(char, i64)>);

/// Sums over the letters that are not kept.
fn drop_letters(cx: &mut RuleCx<'_, '_>, (value, own): Part, kept: &dyn Fn(char) -> bool) -> Result<Part, String> {
    let gone: Vec<i64> = (0..own.len()).filter(|&i| !kept(own[i].0)).map(|i| i as i64).collect();
    if gone.is_empty() {
        return Ok((value, own));
    }
    let value = cx.sum_over(value, &gone, false)?;
    Ok((value, own.into_iter().filter(|l| kept(l.0)).collect()))
}

fn contract(cx: &mut RuleCx<'_, '_>, left: Part, right: Part, kept: &dyn Fn(char) -> bool) -> Result<Part, String> {
    let has = |part: &Part, c: char| part.1.iter().any(|l| l.0 == c);
    let (a, b) = (left.1.clone(), right.1.clone());
    let in_right = |c: char| b.iter().any(|l| l.0 == c);
    let in_left = |c: char| a.iter().any(|l| l.0 == c);
    let left = drop_letters(cx, left, &|c| kept(c) || in_right(c))?;
    let right = drop_letters(cx, right, &|c| kept(c) || in_left(c))?;
    let pick = |part: &Part, f: &dyn Fn(char) -> bool| -> Vec<(char, i64)> {
        part.1.iter().copied().filter(|l| f(l.0)).collect()
    };
    let batch = pick(&left, &|c| has(&right, c) && kept(c));
    let inner = pick(&left, &|c| has(&right, c) && !kept(c));
    let rows = pick(&left, &|c| !has(&right, c));
    let columns = pick(&right, &|c| !has(&left, c));
    let mut as_matrices = |part: &Part, groups: [&[(char, i64)]; 2]| -> Result<ValueId, String> {
        let all = batch.iter().chain(groups[0]).chain(groups[1]);
        let order: Vec<i64> = all
            .filter_map(|l| part.1.iter().position(|o| o.0 == l.0).map(|at| at as i64))
            .collect();
        let order = cx.ints(&order);
        let moved = cx.emit("pd.transpose", &[part.0], &[("perm", order)])?;
        let size = |letters: &[(char, i64)]| letters.iter().map(|l| l.1).product::<i64>();
        cx.reshaped(moved, &[size(&batch), size(groups[0]), size(groups[1])])
    };
    let x = as_matrices(&left, [&rows, &inner])?;
    let y = as_matrices(&right, [&inner, &columns])?;
    let product = cx.emit("pd.matmul", &[x, y], &[])?;
    let own: Vec<(char, i64)> = batch.into_iter().chain(rows).chain(columns).collect();
    let shape: Vec<i64> = own.iter().map(|l| l.1).collect();
    Ok((cx.reshaped(product, &shape)?, own))
}

impl RuleCx<'_, '_> {
    /// A root of what is no less than zero, with derivative zero at zero: so it is with norms, of which zero is the least.
    fn root(&mut self, x: ValueId, order: f64) -> Result<ValueId, String> {
        let positive = self.above(x, 0.0)?;
        let (ones, zeros) = (filled_like(self.r, x, 1.0)?, zeros_like(self.r, x)?);
        // A NaN stays one.
        let unknown = self.unary("pd.isnan", x)?;
        let taken = self.emit("pd.logical_or", &[positive, unknown], &[])?;
        let safe = self.select(taken, x, ones)?;
        let root = match order {
            2.0 => self.unary("pd.sqrt", safe)?,
            _ => {
                let inverse = self.ctx().float_attr(1.0 / order);
                self.emit("pd.pow", &[safe], &[("y", inverse)])?
            }
        };
        self.select(taken, root, zeros)
    }

    pub(super) fn reshaped(&mut self, x: ValueId, shape: &[i64]) -> Result<ValueId, String> {
        let shape = self.ints(shape);
        self.emit("pd.reshape", &[x], &[("shape", shape)])
    }

    fn sum_over(&mut self, x: ValueId, axes: &[i64], keepdim: bool) -> Result<ValueId, String> {
        // No axes would mean all of them.
        if axes.is_empty() {
            return Ok(x);
        }
        let (axes, keepdim) = (self.ints(axes), self.ctx().bool_attr(keepdim));
        self.emit("pd.sum", &[x], &[("axis", axes), ("keepdim", keepdim)])
    }
}
