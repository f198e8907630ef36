//! Operations that create or move elements.

use pir_ir::{Attr, AttrData, Type};

use super::elementwise::like;
use super::hlo::{
    Num, compare, constant, converted, cut, filled, iota, joined, padded, reshaped, reversed, sliced, spread,
    spread_along, transposed,
};
use super::{Cx, Results, Rows, all_axes, axis, one_each, rows};
use crate::pd::{Expr, Number, Source};
use crate::window::stretch;

pub(super) const ROWS: Rows = rows! {
    Full |c, op| number(c, op.value());
    Const |c, op| number(c, op.value());
    Constant |c, op| number(c, op.value());
    FullLike |c, op| number(c, op.value());
    FullIntArray |c, op| values(c, op.attribute("value"));
    AssignValue |c, op| values(c, op.attribute("values"));
    Arange |c, op| arange(c, op.start(), op.step());
    Shape |c, _| sizes(c);
    Shape64 |c, _| sizes(c);
    Numel |c, _| filled(c.scope, c.dims(), c.elem(), Num::Int(c.x(0).dims().iter().product()));
    Eye |c, _| {
        let index = |at| iota(c.scope, c.dims(), at, Type::I64);
        converted(compare("EQ", index(0), index(1), c.dims()), c.elem())
    };
    Reshape |c, _| reshaped(c.x(0), c.dims());
    Squeeze |c, _| reshaped(c.x(0), c.dims());
    Unsqueeze |c, _| reshaped(c.x(0), c.dims());
    Flatten |c, _| reshaped(c.x(0), c.dims());
    Expand |c, _| spread(c.x(0), c.dims());
    ExpandAs |c, _| spread(c.x(0), c.dims());
    Transpose |c, op| {
        let perm = op.perm().ok_or("`perm` is missing")?;
        transposed(c.x(0), &all_axes(&perm, c.x(0).rank())?)
    };
    Tile |c, _| {
        // Each dimension becomes two; the first of them is repeated.
        let (x, dims) = (c.x(0), c.dims());
        let lead = dims.len() - x.rank();
        let own: Vec<i64> = (0..dims.len()).map(|at| at.checked_sub(lead).map_or(1, |at| x.dims()[at])).collect();
        let split: Vec<i64> = own.iter().zip(dims).flat_map(|(&own, &dim)| [dim / own.max(1), own]).collect();
        let places: Vec<i64> = (lead..dims.len()).map(|at| 2 * at as i64 + 1).collect();
        reshaped(spread_along(x, &places, &split), dims)
    };
    Concat |c, op| {
        let parts = op.x();
        let at = axis(c.int(op.axis(), "axis")?, parts.first().map_or(0, |x| x.rank()))?;
        joined(c.scope, &parts, at)
    };
    Stack |c, op| {
        let parts: Vec<Expr<'_>> = op.x();
        let at = axis(op.axis(), c.dims().len())?;
        let mut dims = c.dims().to_vec();
        dims[at] = 1;
        let parts: Vec<Expr<'_>> = parts.into_iter().map(|x| reshaped(x, &dims)).collect();
        joined(c.scope, &parts, at)
    };
    Split |c, op| pieces(c, op.axis());
    SplitWithNum |c, op| pieces(c, op.axis());
    Unstack |c, op| pieces(c, Number::Int(op.axis()));
    Unbind |c, op| pieces(c, Number::Int(op.axis()));
    Tril |c, op| triangle(c, "LE", op.diagonal());
    Triu |c, op| triangle(c, "GE", op.diagonal());
    Flip |c, op| {
        let axes = op.axis().ok_or("`axis` is missing")?;
        reversed(c.x(0), &all_axes(&axes, c.x(0).rank())?)
    };
    Roll |c, op| {
        let (x, shifts) = (c.x(0), c.ints(op.shifts(), "shifts")?);
        let axes = op.axis();
        let (mut out, axes) = match axes.is_empty() {
            true => (reshaped(x, &[x.dims().iter().product()]), vec![0]),
            false => (x, axes),
        };
        for (at, by) in axes.into_iter().zip(shifts) {
            let at = axis(at, out.rank())?;
            let size = out.dims()[at];
            let by = by.rem_euclid(size.max(1));
            if by != 0 {
                out = joined(c.scope, &[cut(out, at, size - by, size), cut(out, at, 0, size - by)], at);
            }
        }
        reshaped(out, x.dims())
    };
    Pad |c, op| {
        let paddings = op.paddings().ok_or("`paddings` is missing")?;
        let widths: Vec<(i64, i64, i64)> = paddings.chunks_exact(2).map(|pair| (pair[0], pair[1], 0)).collect();
        let value = scalar_like(c, c.x(0), op.pad_value());
        match widths.len() == c.x(0).rank() {
            true => padded(c.x(0), value, &widths),
            false => return Err("`paddings` needs two numbers for each dimension".to_owned()),
        }
    };
    Meshgrid |c, op| {
        let parts: Vec<Expr<'_>> = op.inputs();
        let dims = c.dims();
        parts.into_iter().enumerate().map(|(at, x)| {
            spread_along(reshaped(x, &[x.dims().iter().product()]), &[at as i64], dims)
        }).collect::<Vec<_>>()
    };
    Pad3d |c, op| {
        let paddings = c.ints(op.paddings(), "paddings")?;
        if c.x(0).rank() != 5 || paddings.len() != 6 {
            return Err("it needs five dimensions and six paddings".to_owned());
        }
        let first = if op.data_format() == "NDHWC" { 1 } else { 2 };
        let pairs = [2, 1, 0].into_iter().map(|at| first + at).zip(paddings.chunks_exact(2));
        if op.mode() == "constant" {
            let mut widths = vec![(0, 0, 0); 5];
            pairs.for_each(|(at, pair)| widths[at] = (pair[0], pair[1], 0));
            padded(c.x(0), filled(c.scope, &[], c.elem(), Num::Float(op.pad_value())), &widths)
        } else {
            let mut x = c.x(0);
            for (at, pair) in pairs {
                let size = x.dims()[at];
                let shown = |at: i64| match &*op.mode() {
                    "reflect" if at < 0 => -at,
                    "reflect" if at >= size => 2 * (size - 1) - at,
                    "circular" => at.rem_euclid(size.max(1)),
                    _ => at.clamp(0, (size - 1).max(0)),
                };
                let rows: Vec<i64> = (-pair[0]..size + pair[1]).map(shown).collect();
                x = x.index_select_with(c.scope.indices(&rows), |o| o.axis(at as i64));
            }
            x
        }
    };
    SequenceMask |c, _| {
        let (x, dims) = (c.x(0), c.dims());
        let elem = x.elem().unwrap_or(Type::I64);
        let map: Vec<i64> = (0..x.rank() as i64).collect();
        let inside = compare("LT", iota(c.scope, dims, x.rank(), elem), spread_along(x, &map, dims), dims);
        converted(inside, c.elem())
    };
    Slice |c, op| {
        let x = c.x(0);
        let axes = op.axes().ok_or("`axes` is missing")?;
        let (starts, ends) = (c.ints(op.starts(), "starts")?, c.ints(op.ends(), "ends")?);
        one_each(&axes, &[&starts, &ends])?;
        let mut window = Window::whole(x);
        for ((&at, &start), &end) in axes.iter().zip(&starts).zip(&ends) {
            let at = axis(at, x.rank())?;
            let clamp = |n: i64| if n < 0 { (n + x.dims()[at]).max(0) } else { n.min(x.dims()[at]) };
            window.starts[at] = clamp(start);
            window.ends[at] = clamp(end).max(clamp(start));
        }
        reshaped(window.of(x), c.dims())
    };
    StridedSlice |c, op| {
        let x = c.x(0);
        let axes = op.axes().ok_or("`axes` is missing")?;
        let (starts, ends) = (c.ints(op.starts(), "starts")?, c.ints(op.ends(), "ends")?);
        let strides = c.ints(op.strides(), "strides")?;
        one_each(&axes, &[&starts, &ends, &strides])?;
        let (mut window, mut backwards) = (Window::whole(x), Vec::new());
        for (index, &at) in axes.iter().enumerate() {
            let at = axis(at, x.rank())?;
            window.set(at, stretch(x.dims()[at], starts[index], ends[index], strides[index])?, strides[index]);
            if strides[index] < 0 {
                backwards.push(at as i64);
            }
        }
        reversed(window.of(x), &backwards)
    };
    RepeatInterleave |c, op| {
        let x = c.x(0);
        let at = axis(op.axis(), x.rank())?;
        let mut split = x.dims().to_vec();
        split.insert(at + 1, op.repeats().unwrap_or(1));
        let places: Vec<i64> = (0..x.rank()).map(|i| if i > at { i + 1 } else { i } as i64).collect();
        reshaped(spread_along(x, &places, &split), c.dims())
    };
};

/// Part of each dimension, from the front.
struct Window {
    starts: Vec<i64>,
    ends: Vec<i64>,
    strides: Vec<i64>,
}

impl Window {
    fn whole(x: Expr<'_>) -> Self {
        Window {
            starts: vec![0; x.rank()],
            ends: x.dims().to_vec(),
            strides: vec![1; x.rank()],
        }
    }

    /// So many elements from one on, forwards or backwards.
    fn set(&mut self, at: usize, (start, count): (i64, i64), stride: i64) {
        let first = if stride < 0 {
            start + (count - 1).max(0) * stride
        } else {
            start
        };
        let first = if count == 0 { 0 } else { first };
        self.starts[at] = first;
        self.strides[at] = stride.abs();
        self.ends[at] = if count == 0 {
            0
        } else {
            first + (count - 1) * stride.abs() + 1
        };
    }

    fn of<'c>(&self, x: Expr<'c>) -> Expr<'c> {
        sliced(x, &self.starts, &self.ends, &self.strides)
    }
}

/// A number for computing with an expression, as a scalar.
pub(super) fn scalar_like<'c>(c: &Cx<'c>, x: Expr<'c>, number: Number) -> Expr<'c> {
    let elem = x.elem().unwrap_or(Type::NONE);
    match number {
        Number::Value(_) => reshaped(x.number(number), &[]),
        Number::Int(n) => filled(c.scope, &[], elem, Num::Int(n)),
        number => match number.constant() {
            Some(n) => filled(c.scope, &[], elem, Num::Float(n)),
            None => c.scope.fail("a number is missing"),
        },
    }
}

fn number<'c>(c: &Cx<'c>, value: Number) -> Expr<'c> {
    let (dims, elem, ctx) = (c.dims(), c.elem(), c.ctx());
    match value {
        Number::Value(given) => match given.0 {
            Some(value) => {
                let value = reshaped(c.scope.expr(value), &[]);
                spread(converted(value, elem), dims)
            }
            None => c.scope.nothing(),
        },
        Number::Attr(attr, value) => match ctx.attr_int(attr) {
            Some(value) => filled(c.scope, dims, elem, Num::Int(value)),
            None => filled(c.scope, dims, elem, Num::Float(value)),
        },
        other => match other.constant() {
            Some(value) => filled(c.scope, dims, elem, Num::Float(value)),
            None => c.scope.fail("`value` is missing"),
        },
    }
}

fn values<'c>(c: &Cx<'c>, list: Option<Attr>) -> Result<Expr<'c>, String> {
    let ctx = c.ctx();
    let numbers: Option<Vec<Num>> = match ctx.attr_data(list.ok_or("the numbers are missing")?) {
        AttrData::Ints(list) => Some(list.iter().map(|&n| Num::Int(n)).collect()),
        AttrData::Elements(elements) => match elements.ints() {
            Some(ints) => Some(ints.map(Num::Int).collect()),
            None => elements.floats().map(|numbers| numbers.map(Num::Float).collect()),
        },
        AttrData::Array(list) => list
            .iter()
            .map(|&attr| match (ctx.attr_int(attr), ctx.attr_bool(attr)) {
                (Some(n), _) => Some(Num::Int(n)),
                (_, Some(truth)) => Some(Num::Int(truth.into())),
                _ => ctx.attr_f64(attr).map(Num::Float),
            })
            .collect(),
        _ => None,
    };
    let numbers = numbers.ok_or("the values must be numbers")?;
    Ok(constant(c.scope, c.dims(), c.elem(), numbers.into_iter()))
}

fn arange<'c>(c: &Cx<'c>, start: Number, step: Number) -> Result<Expr<'c>, String> {
    let (&[count], elem) = (c.dims(), c.elem()) else {
        return Err("a range has one dimension".to_owned());
    };
    let (start, step) = match (start.constant(), step.constant()) {
        (Some(start), Some(step)) => (start, step),
        _ => return Err("`start` and `step` must be constant".to_owned()),
    };
    let is_float = c.ctx().is_float(elem);
    if (start, step) == (0.0, 1.0) && (elem != Type::I1) {
        return Ok(iota(c.scope, &[count], 0, elem));
    }
    if start.fract() == 0.0 && step.fract() == 0.0 && !is_float && elem != Type::I1 {
        let numbers = iota(c.scope, &[count], 0, elem);
        return Ok(numbers * like(numbers, step) + like(numbers, start));
    }
    // As the kernel computes them: in double precision, and rounded once.
    let list = (0..count).map(|i| Num::Float(start + step * i as f64));
    Ok(constant(c.scope, &[count], elem, list))
}

fn sizes<'c>(c: &Cx<'c>) -> Expr<'c> {
    let list = c.x(0).dims().iter().map(|&n| Num::Int(n));
    constant(c.scope, c.dims(), c.elem(), list)
}

/// The pieces of a tensor that the results are, one after the other.
fn pieces<'c>(c: &Cx<'c>, along: Number) -> Results<'c> {
    let x = c.x(0);
    let at = axis(c.int(along, "axis")?, x.rank())?;
    let mut start = 0;
    Ok((0..c.types.len())
        .map(|index| {
            let dims = c.tensor(index).0;
            // A result without the dimension is one element of it.
            let size = if dims.len() == x.rank() { dims[at] } else { 1 };
            let piece = cut(x, at, start, start + size);
            start += size;
            reshaped(piece, dims)
        })
        .collect())
}

/// Zeros on one side of a diagonal of the last two dimensions.
fn triangle<'c>(c: &Cx<'c>, keeps: &str, diagonal: i64) -> Result<Expr<'c>, String> {
    let (x, dims) = (c.x(0), c.dims());
    if dims.len() < 2 {
        return Err("it needs two dimensions".to_owned());
    }
    let row = iota(c.scope, dims, dims.len() - 2, Type::I64);
    let column = iota(c.scope, dims, dims.len() - 1, Type::I64);
    let kept = compare(keeps, column, row + like(row, diagonal as f64), dims);
    Ok(kept.select(x, like(x, 0.0)))
}
