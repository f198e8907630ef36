//! Linear algebra and norms, in terms of elementary operations.

use pir_dialects::einsum::EinsumEquation;
use pir_dialects::pd::{self, Expr, Source};

use super::Rule;
use super::formula::{Op, adjoint, composite, derivative};
use super::reduce::{normalise, reduced_axes};

pub(super) const RULES: &[Rule] = &[
    composite!(Bmm, |op| op.x().matmul(op.y())).complex(),
    composite!(Mv, |op| op.x().matmul(op.vec())),
    composite!(Dot, |op| (op.x() * op.y()).sum_with(|o| o.axis([-1]))),
    composite!(Outer, |op| op.x().reshape([-1, 1]) * op.y().reshape([1, -1])),
    composite!(Linear, |op| {
        let product = op.x().matmul(op.weight());
        op.bias().map_or(product, |bias| product + bias)
    }),
    composite!(Addmm, |op| {
        let product = op.x().matmul(op.y()) * op.alpha();
        op.input() * op.beta() + product
    }),
    composite!(Kron, |op| {
        let (Some(a), Some(b)) = (op.x().static_shape(), op.y().static_shape()) else {
            return Err("it needs static shapes".to_owned());
        };
        let rank = a.len().max(b.len());
        let [a, b] = [a, b].map(|shape| [vec![1; rank - shape.len()], shape].concat());
        let left: Vec<i64> = a.iter().flat_map(|&d| [d, 1]).collect();
        let right: Vec<i64> = b.iter().flat_map(|&d| [1, d]).collect();
        let shape: Vec<i64> = a.iter().zip(&b).map(|(a, b)| a.saturating_mul(*b)).collect();
        (op.x().reshape(left) * op.y().reshape(right)).reshape(shape)
    }),
    composite!(Diagonal, |op| diagonal(op.x(), op.offset(), [op.axis1(), op.axis2()])),
    composite!(Trace, |op| diagonal(op.x(), op.offset(), [op.axis1(), op.axis2()])?
        .sum_with(|o| o.axis([-1]))),
    composite!(Diag, |op| {
        let (x, offset) = (op.x(), op.offset());
        if x.rank() == 2 {
            diagonal(x, offset, [0, 1])
        } else {
            let shape = x.static_shape().ok_or("it needs a static shape")?;
            let (n, (row, column)) = (shape[0], diagonal_start(offset));
            let size = n.saturating_add(offset.saturating_abs());
            let empty = op
                .scope()
                .full_with(&[size * size], op.padding_value(), |o| match x.elem() {
                    Some(elem) => o.dtype(elem),
                    None => o,
                });
            let places: Vec<i64> = (0..n).map(|k| (row + k) * size + column + k).collect();
            Ok(empty
                .scatter(op.scope().full_int_array(&places), x)
                .reshape([size, size]))
        }
    }),
    composite!(SquaredL2Norm, |op| op.x().square().sum().reshape([1])),
    composite!(FrobeniusNorm, |op| {
        let (x, all) = (
            op.x(),
            if op.reduce_all() {
                pd::Ints::Default(Vec::new())
            } else {
                op.axis()
            },
        );
        let axes = reduced_axes(all, x.rank())?;
        root(sum_over(x.square(), &axes, op.keep_dim()), 2.0)
    }),
    composite!(PNorm, p_norm),
    composite!(Logsumexp, |op| {
        let (x, given) = (op.x(), if op.reduce_all() { Vec::new() } else { op.axis() });
        let axes = reduced_axes(given, x.rank())?;
        if axes.is_empty() {
            x.assign()
        } else {
            // The maximum only keeps the exponentials small: its share of the derivative cancels.
            let most = x.max_with(|o| o.axis(&axes).keepdim(true));
            let out = sum_over((x - most).exp(), &axes, true).log() + most;
            if op.keepdim() {
                out
            } else {
                out.squeeze_with(|o| o.axis(&axes))
            }
        }
    }),
    composite!(MeanAll, |op| op.x().mean()),
    Rule {
        apply: |cx| match cx.is_static() {
            true => super::expanded(cx),
            false => (EINSUM_OF_OPEN_SHAPES.apply)(cx),
        },
        ..composite!(Einsum, einsum).complex()
    },
    composite!(SgdInplace, |op| {
        let rate = op.learning_rate().cast_like(op.param());
        op.param() - rate * op.grad()
    }),
    derivative!(AssignOutInplace, |_, g| g),
    composite!(Cumprod, cumprod),
];

/// Row and column where a diagonal starts.
fn diagonal_start(offset: i64) -> (i64, i64) {
    ((-offset).max(0), offset.max(0))
}

/// A diagonal of each matrix, picked from the matrix as a row.
fn diagonal(x: Expr<'_>, offset: i64, axes: [i64; 2]) -> Result<Expr<'_>, String> {
    let shape = x.static_shape().ok_or("it needs a static shape")?;
    let rank = shape.len();
    let (first, second) = (normalise(axes[0], rank)?, normalise(axes[1], rank)?);
    let (row, column) = diagonal_start(offset);
    let (rows, columns) = (shape[first], shape[second]);
    let length = (rows - row).min(columns - column).max(0);
    let rest: Vec<usize> = (0..rank).filter(|&a| a != first && a != second).collect();
    let order: Vec<i64> = rest.iter().chain(&[first, second]).map(|&a| a as i64).collect();
    let mut merged: Vec<i64> = rest.iter().map(|&a| shape[a]).collect();
    merged.push(rows * columns);
    let places: Vec<i64> = (0..length).map(|k| (row + k) * columns + column + k).collect();
    let lines = x.transpose(&order).reshape(merged);
    Ok(lines.index_select_with(x.scope().full_int_array(&places), |o| o.axis(rest.len() as i64)))
}

fn sum_over<'c>(x: Expr<'c>, axes: &[i64], keepdim: bool) -> Expr<'c> {
    match axes {
        // No axes would mean all of them.
        [] => x,
        _ => x.sum_with(|o| o.axis(axes).keepdim(keepdim)),
    }
}

/// A root of a non-negative value, with derivative zero at zero: the minimum of a norm.
fn root(x: Expr<'_>, order: f64) -> Expr<'_> {
    let is_positive = x.above(0.0);
    let (ones, zeros) = (x.ones(), x.zeros());
    // A NaN stays one.
    let is_taken = is_positive.logical_or(x.isnan());
    let safe = is_taken.select(x, ones);
    let root = if order == 2.0 {
        safe.sqrt()
    } else {
        safe.pow(1.0 / order)
    };
    is_taken.select(root, zeros)
}

fn p_norm<'c>(op: Op<'c, pd::PNorm>) -> Result<Expr<'c>, String> {
    let (x, keepdim, order) = (op.x(), op.keepdim(), op.porder());
    let axes = match op.asvector() || x.rank() == 0 {
        true => (0..x.rank() as i64).collect(),
        false => vec![normalise(op.axis(), x.rank())? as i64],
    };
    let sum = |x| sum_over(x, &axes, keepdim);
    Ok(match order {
        2.0 => root(sum(x.square()), 2.0),
        1.0 => sum(x.abs()),
        0.0 => sum(x.abs().above(0.0).cast_like(x)),
        f64::INFINITY => x.abs().max_with(|o| o.axis(&axes).keepdim(keepdim)),
        f64::NEG_INFINITY => x.abs().min_with(|o| o.axis(&axes).keepdim(keepdim)),
        order => root(sum(x.abs().pow(order)), order),
    })
}

/// Running products without division: `n²` numbers for a line of `n`, but right for zeros and differentiable again.
fn cumprod<'c>(op: Op<'c, pd::Cumprod>) -> Result<Expr<'c>, String> {
    let (x, mut shape) = (op.x(), op.x().static_shape().ok_or("it needs a static shape")?);
    let is_scalar = shape.is_empty();
    if is_scalar {
        // A line of one element.
        shape.push(1);
    }
    let axis = normalise(op.dim().unwrap_or(0), shape.len())?;
    let n = shape[axis];
    // Row k of a square holds the factors of product k, and ones.
    let mut row = shape.clone();
    row.insert(axis, 1);
    let mut square = row.clone();
    square[axis] = n;
    let matrix = x.reshape(row).expand(square);
    let ones = op.scope().full_with(&[n, n], 1.0, |o| match x.elem() {
        Some(elem) => o.dtype(elem),
        None => o,
    });
    let inside = match (op.reverse(), op.exclusive()) {
        (false, exclusive) => ones.tril_with(|o| o.diagonal(-i64::from(exclusive))),
        (true, exclusive) => ones.triu_with(|o| o.diagonal(exclusive.into())),
    };
    let mut mask = vec![n, n];
    mask.resize(2 + shape.len() - axis - 1, 1);
    let inside = inside.above(0.5).reshape(mask);
    let factors = inside.select(matrix, matrix.ones());
    let out = factors.prod_with(|o| o.axis([axis as i64 + 1]));
    Ok(if is_scalar { out.reshape([]) } else { out })
}

type Sized = Vec<(char, i64)>;
type Part<'c> = (Expr<'c>, Sized);

/// The cotangent of an operand is the product of that of the result with the other operands, with the letters of the operand.
const EINSUM_OF_OPEN_SHAPES: Rule = adjoint!(Einsum, |op| {
    let ranks = (0..op.count()).map(|index| op.operand(index).rank());
    let equation = op.equation().unwrap_or_default();
    let letters = EinsumEquation::parse(&equation, ranks)?;
    // What they represent may be broadcast to each other.
    if equation.contains("...") {
        return Err("it needs static shapes".to_owned());
    }
    for (at, element) in op.elements().into_iter().enumerate() {
        if !op.wants_at(element.index) {
            continue;
        }
        let others: Vec<usize> = (0..op.count()).filter(|&other| other != at).collect();
        let word = |index: usize| letters.inputs.get(index).into_iter().flatten().collect::<String>();
        let result: String = letters.output.iter().collect();
        let (own, given) = (
            word(at),
            others.iter().fold(result, |all, &index| all + "," + &word(index)),
        );
        let is_once = |c: char| own.matches(c).count() == 1;
        if !own.chars().all(|c| is_once(c) && given.contains(c)) {
            return Err("it needs static shapes".to_owned());
        }
        let operands: Vec<_> = std::iter::once(op.grad())
            .chain(others.into_iter().map(|index| op.operand(index)))
            .collect();
        op.add_to(element, op.scope().einsum(&operands, &format!("{given}->{own}")));
    }
});

/// Contracts two operands at a time: as batched matrix products, with the letters put back in order.
fn einsum<'c>(op: Op<'c, pd::Einsum>) -> Result<Expr<'c>, String> {
    let ranks = (0..op.count()).map(|index| op.operand(index).rank());
    let letters = EinsumEquation::parse(&op.equation().unwrap_or_default(), ranks)?;
    let mut parts = Vec::new();
    for index in 0..op.count() {
        let operand = op.operand(index);
        let shape = operand.static_shape().ok_or("it needs static shapes")?;
        let own = letters.inputs.get(index).ok_or("the operands must not be lists")?;
        parts.push(on_diagonals((operand, own.iter().copied().zip(shape).collect())));
    }
    let mut rest = parts.into_iter();
    let mut left = rest.next().ok_or("there are no operands")?;
    while let Some(right) = rest.next() {
        let later = rest.as_slice();
        let kept = |c: char| letters.output.contains(&c) || later.iter().any(|p| p.1.iter().any(|l| l.0 == c));
        left = contract(left, right, &kept);
    }
    let (value, own) = drop_letters(left, &|c| letters.output.contains(&c));
    let place = |c: &char| own.iter().position(|l| l.0 == *c).map(|at| at as i64);
    let order: Vec<i64> = letters.output.iter().filter_map(place).collect();
    Ok(value.transpose(&order))
}

/// The diagonals of dimensions that have the same letter.
fn on_diagonals<'c>((mut value, mut own): Part<'c>) -> Part<'c> {
    while let Some((first, second)) =
        (0..own.len()).find_map(|at| Some((own[..at].iter().position(|l| l.0 == own[at].0)?, at)))
    {
        value = value.diagonal_with(|o| o.axis1(first as i64).axis2(second as i64));
        own.remove(second);
        let letter = own.remove(first);
        own.push(letter);
    }
    (value, own)
}

/// Sums over the letters that are not kept.
fn drop_letters<'c>((value, own): Part<'c>, kept: &dyn Fn(char) -> bool) -> Part<'c> {
    let gone: Vec<i64> = (0..own.len()).filter(|&i| !kept(own[i].0)).map(|i| i as i64).collect();
    let own = own.into_iter().filter(|l| kept(l.0)).collect();
    (sum_over(value, &gone, false), own)
}

fn contract<'c>(left: Part<'c>, right: Part<'c>, kept: &dyn Fn(char) -> bool) -> Part<'c> {
    let (a, b) = (left.1.clone(), right.1.clone());
    let in_left = |c: char| a.iter().any(|l| l.0 == c);
    let in_right = |c: char| b.iter().any(|l| l.0 == c);
    let left = drop_letters(left, &|c| kept(c) || in_right(c));
    let right = drop_letters(right, &|c| kept(c) || in_left(c));
    let pick =
        |part: &Part<'_>, f: &dyn Fn(char) -> bool| -> Sized { part.1.iter().copied().filter(|l| f(l.0)).collect() };
    let batch = pick(&left, &|c| in_right(c) && kept(c));
    let inner = pick(&left, &|c| in_right(c) && !kept(c));
    let rows = pick(&left, &|c| !in_right(c));
    let columns = pick(&right, &|c| !in_left(c));
    let size = |letters: &Sized| letters.iter().map(|l| l.1).product::<i64>();
    let as_matrices = |part: &Part<'c>, groups: [&Sized; 2]| {
        let all = batch.iter().chain(groups[0]).chain(groups[1]);
        let place = |l: &(char, i64)| part.1.iter().position(|o| o.0 == l.0).map(|at| at as i64);
        let order: Vec<i64> = all.filter_map(place).collect();
        part.0
            .transpose(&order)
            .reshape([size(&batch), size(groups[0]), size(groups[1])])
    };
    let x = as_matrices(&left, [&rows, &inner]);
    let y = as_matrices(&right, [&inner, &columns]);
    let product = x.matmul(y);
    let own: Sized = batch.into_iter().chain(rows).chain(columns).collect();
    let shape: Vec<i64> = own.iter().map(|l| l.1).collect();
    (product.reshape(shape), own)
}
