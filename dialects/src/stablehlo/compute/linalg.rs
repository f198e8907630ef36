//! The derivatives of factorizations and triangular systems. The derivative is with respect to the elements that are
//! read: if only one half of a symmetric matrix is read, the other half has none. JAX symmetrizes the matrix first, so
//! that both halves get the same.
//!
//! The formulas are in Giles, *Collected matrix derivative results for forward and reverse mode algorithmic
//! differentiation* (2008), or follow from the same method.
//!
//! A cotangent of complex numbers is JAX's: a real loss changes by the real part of its product with a tangent. So functions without
//! conjugates have the formulas of real ones. For the others, whose results have conjugates, the formulas are those of the conjugates of
//! cotangents, with adjoints in the place of transposes.

use pir_ir::{AttrData, Type};

use super::super::linalg::{Call, Triangle, Triangular};
use super::super::ops;
use super::shape::{expand, permuted};
use super::{Cx, Results, complex, conjugate, eigen, imaginary, real};
use crate::pd::composed::matrix::lapack;
use crate::pd::{Expr, ExprScope};

/// The matrices of a batch transposed.
pub(crate) fn turned(x: Expr<'_>) -> Expr<'_> {
    let mut order: Vec<i64> = (0..x.rank() as i64).collect();
    let last = order.len();
    if last >= 2 {
        order.swap(last - 2, last - 1);
    }
    permuted(x, &order)
}

/// The adjoints of the matrices of a batch.
pub(crate) fn adjoint(x: Expr<'_>) -> Expr<'_> {
    conjugate(turned(x))
}

/// Real numbers in the type of others, which may be complex.
fn like<'c>(x: Expr<'c>, of: Expr<'c>) -> Expr<'c> {
    match of.is_complex() {
        true => complex(x, x.zeros()),
        false => x,
    }
}

/// The squares of absolute values.
fn squares(x: Expr<'_>) -> Expr<'_> {
    match x.is_complex() {
        true => real(x) * real(x) + imaginary(x) * imaginary(x),
        false => x * x,
    }
}

fn half(x: Expr<'_>, triangle: Triangle, unit: bool) -> Expr<'_> {
    match (triangle, unit) {
        (Triangle::Lower, false) => x.tril(),
        (Triangle::Lower, true) => x.tril_with(|o| o.diagonal(-1)),
        (Triangle::Upper, false) => x.triu(),
        (Triangle::Upper, true) => x.triu_with(|o| o.diagonal(1)),
    }
}

/// The lower half with half the diagonal.
fn phi(x: Expr<'_>) -> Expr<'_> {
    (x.tril() + x.tril_with(|o| o.diagonal(-1))) * 0.5
}

fn solve<'c>(c: &Cx<'c>, system: Triangular, a: Expr<'c>, b: Expr<'c>) -> Expr<'c> {
    triangular(c.scope, system, a, b)
}

/// The solution of a triangular system.
pub(crate) fn triangular<'c>(scope: ExprScope<'c>, system: Triangular, a: Expr<'c>, b: Expr<'c>) -> Expr<'c> {
    let ctx = scope.context();
    let flag = |value| ctx.attr(AttrData::Bool(value));
    let word = match (system.transposed, system.conjugated) {
        (false, _) => "NO_TRANSPOSE",
        (true, false) => "TRANSPOSE",
        (true, true) => "ADJOINT",
    };
    let attrs = [
        ("left_side", flag(system.left)),
        ("lower", flag(system.triangle == Triangle::Lower)),
        (
            "transpose_a",
            ctx.attr(AttrData::Opaque(format!("#stablehlo<transpose {word}>").into())),
        ),
        ("unit_diagonal", flag(system.unit)),
    ];
    let ids: Option<Vec<_>> = [a, b].iter().map(|x| x.id()).collect();
    let made = ids.map(|ids| scope.build(ops::TriangularSolve::NAME, &ids, &attrs, b.ty()));
    made.and_then(|made| made.first().copied()).unwrap_or(scope.nothing())
}

/// `inverse(a) b` of a triangular matrix, or that of its transpose.
fn from_left<'c>(c: &Cx<'c>, triangle: Triangle, unit: bool, transposed: bool, a: Expr<'c>, b: Expr<'c>) -> Expr<'c> {
    let left = true;
    solve(
        c,
        Triangular {
            left,
            triangle,
            unit,
            transposed,
            conjugated: false,
        },
        a,
        b,
    )
}

/// `b inverse(a)`, or with the transpose.
fn from_right<'c>(c: &Cx<'c>, triangle: Triangle, unit: bool, transposed: bool, a: Expr<'c>, b: Expr<'c>) -> Expr<'c> {
    let left = false;
    solve(
        c,
        Triangular {
            left,
            triangle,
            unit,
            transposed,
            conjugated: false,
        },
        a,
        b,
    )
}

/// The cotangents of coefficients and right-hand sides.
fn solve_vjp<'c>(c: &Cx<'c>, system: Triangular, x: Expr<'c>, g: Expr<'c>) -> Vec<Expr<'c>> {
    if system.conjugated {
        // By the conjugates of the coefficients, and their cotangent.
        let plain = Triangular {
            conjugated: false,
            ..system
        };
        let mut both = solved_vjp(c, plain, conjugate(c.x(0)), x, g);
        both[0] = conjugate(both[0]);
        return both;
    }
    solved_vjp(c, system, c.x(0), x, g)
}

/// That of a system without conjugates, of the coefficients `a`.
fn solved_vjp<'c>(c: &Cx<'c>, system: Triangular, a: Expr<'c>, x: Expr<'c>, g: Expr<'c>) -> Vec<Expr<'c>> {
    let b = solve(
        c,
        Triangular {
            transposed: !system.transposed,
            ..system
        },
        a,
        g,
    );
    let outer = match system.left {
        true => b.matmul(turned(x)),
        false => turned(x).matmul(b),
    };
    let outer = if system.transposed { turned(outer) } else { outer };
    vec![half(outer, system.triangle, system.unit).neg(), b]
}

/// The cotangent of a matrix from that of its factor; the other half of the result is that of the operand if `kept` is set.
fn cholesky_vjp<'c>(c: &Cx<'c>, triangle: Triangle, kept: bool, y: Expr<'c>, g: Expr<'c>) -> Expr<'c> {
    let lower = |x: Expr<'c>| if triangle == Triangle::Lower { x } else { turned(x) };
    let (l, bar) = (lower(y).tril(), lower(g));
    let inner = phi(adjoint(l).matmul(conjugate(bar).tril()));
    let inner = from_left(c, Triangle::Lower, false, true, conjugate(l), inner);
    let inner = from_right(c, Triangle::Lower, false, false, l, inner);
    let mut out = conjugate(phi(inner + adjoint(inner)));
    if kept {
        out = out + bar.triu_with(|o| o.diagonal(1));
    }
    lower(out)
}

/// The cotangents of the operands from the results and their cotangents.
pub(super) fn vjp<'c>(c: &Cx<'c>, y: &[Expr<'c>], g: &[Expr<'c>]) -> Results<'c> {
    let call = c.call.clone()?;
    let (&[first, ..], &[bar, ..]) = (y, g) else {
        return Err("a result is missing".to_owned());
    };
    match call {
        Call::Cholesky(triangle) => Ok(vec![cholesky_vjp(c, triangle, false, first, bar)]),
        Call::Potrf(triangle) => Ok(vec![cholesky_vjp(c, triangle, true, first, bar)]),
        Call::Solve(system) => Ok(solve_vjp(c, system, first, bar)),
        Call::Lu => lu_vjp(c, first, y[1], bar).map(|grad| vec![grad]),
        Call::Eigen { triangle, vectors } => {
            let half = if triangle == Triangle::Lower { b'L' } else { b'U' };
            let again = || lapack("syevd", &[c.x(0)], &[("mode", b'V'), ("uplo", half)], &c.types);
            let (v, v_bar) = match vectors {
                true => (Some(first), bar),
                false => (again().first().copied(), bar.zeros()),
            };
            let v = v.ok_or("there are no eigenvectors")?;
            Ok(vec![eigen_vjp(c, triangle, [v, y[1]], [v_bar, g[1]])])
        }
        Call::General { right, .. } => eigen::vjp(c, right, y, g),
        Call::Singular {
            full: true,
            vectors: true,
        } => Err("full singular vectors have no derivative".to_owned()),
        Call::Singular { vectors, .. } => match (y, g) {
            (&[_, s, u, v, ..], &[_, s_bar, u_bar, v_bar, ..]) => {
                let [u, v, u_bar, v_bar] = match vectors {
                    true => [u, v, u_bar, v_bar],
                    false => {
                        let [u, v] = thin(c, s.dims())?;
                        [u, v, u.zeros(), v.zeros()]
                    }
                };
                Ok(vec![singular_vjp([u, s, v], [u_bar, s_bar, v_bar])])
            }
            _ => Err("a result is missing".to_owned()),
        },
        Call::Qr | Call::Reflections => Err("it is differentiated through its composition".to_owned()),
    }
}

/// The singular vectors, in columns and in rows, which were not asked for.
fn thin<'c>(c: &Cx<'c>, values: &[i64]) -> Result<[Expr<'c>; 2], String> {
    let (&[ref lead @ .., k], &[.., m, n]) = (values, c.x(0).dims()) else {
        return Err("the operand must be a matrix".to_owned());
    };
    let mut types = c.types.clone();
    for (at, last) in [(2, [m, k]), (3, [k, n])] {
        let elem = c.tensor(at).1;
        types[at] = c.ctx().tensor(&[lead, &last[..]].concat(), elem);
    }
    match lapack("gesdd", &[c.x(0)], &[("mode", b'S')], &types)[..] {
        [_, _, u, v, ..] => Ok([u, v]),
        _ => Err("there are no singular vectors".to_owned()),
    }
}

fn lu_vjp<'c>(c: &Cx<'c>, lu: Expr<'c>, pivots: Expr<'c>, bar: Expr<'c>) -> Result<Expr<'c>, String> {
    use Triangle::{Lower, Upper};
    let &[.., m, n] = lu.dims() else {
        return Err("the operand must be a matrix".to_owned());
    };
    let (size, rank) = (m.min(n), lu.rank());
    let part = |x: Expr<'c>, rows: [i64; 2], columns: [i64; 2]| {
        x.cut(rank - 2, rows[0], rows[1]).cut(rank - 1, columns[0], columns[1])
    };
    let square = part(lu, [0, size], [0, size]);
    let mut lower_bar = part(bar, [0, size], [0, size]).tril_with(|o| o.diagonal(-1));
    let mut upper_bar = part(bar, [0, size], [0, size]).triu();
    // Rows below the square are `a2 inverse(u)`, columns after it `inverse(l) a2`.
    let mut rest = None;
    if m > n {
        let below = from_right(c, Upper, false, true, square, part(bar, [n, m], [0, n]));
        upper_bar = upper_bar - turned(part(lu, [n, m], [0, n])).matmul(below);
        rest = Some(below);
    }
    if n > m {
        let behind = from_left(c, Lower, true, true, square, part(bar, [0, m], [m, n]));
        lower_bar = lower_bar - behind.matmul(turned(part(lu, [0, m], [m, n])));
        rest = Some(behind);
    }
    let unit = square.tril_with(|o| o.diagonal(-1));
    // The ones on the diagonal of the lower factor do not count: what is above the diagonal is dropped.
    let lower = (turned(unit).matmul(lower_bar) + lower_bar).tril_with(|o| o.diagonal(-1));
    let upper = upper_bar.matmul(turned(square.triu())).triu();
    let inner = from_left(c, Lower, true, true, square, lower + upper);
    let mut out = from_right(c, Upper, false, true, square, inner);
    if let Some(rest) = rest {
        out = c
            .scope
            .concat_with(&[out, rest], |o| o.axis(if m > n { -2 } else { -1 }));
    }
    let order = row_order(c.scope, pivots, m).argsort_with(|o| o.axis(-1).stable(true))[1];
    let mut column = order.dims().to_vec();
    column.push(1);
    Ok(out.take_along_axis_with(expand(order.reshape(column), lu.dims()), |o| o.axis(-2)))
}

/// The row that each row of the factors comes from: exchanges, made one after the other, as a product of permutations in pairs.
pub(crate) fn row_order<'c>(scope: ExprScope<'c>, pivots: Expr<'c>, rows: i64) -> Expr<'c> {
    let (&[ref lead @ .., count], rank) = (pivots.dims(), pivots.rank()) else {
        return scope.nothing();
    };
    let all = [lead, &[count, rows]].concat();
    let numbers = |size: i64, at: usize| {
        let mut shape = vec![1; rank + 1];
        shape[at] = size;
        let list = scope.arange_with(|o| o.start(0).end(size).step(1).dtype(Type::I64));
        expand(list.reshape(shape), &all)
    };
    let partner = pivots.to(Some(Type::I64)) - pivots.to(Some(Type::I64)).ones();
    let partner = expand(partner.reshape([lead, &[count, 1]].concat()), &all);
    let (own, row) = (numbers(count, rank - 1), numbers(rows, rank));
    let mut steps = row.equal(own).select(partner, row.equal(partner).select(own, row));
    let mut count = count;
    while count > 1 {
        let pairs = count / 2;
        let at = [rank as i64 - 1];
        let every_other = |first: i64| steps.strided_slice(&at, [first], [first + 2 * pairs - 1], [2]);
        let mut next = every_other(0).take_along_axis_with(every_other(1), |o| o.axis(-1));
        if count % 2 == 1 {
            let last = steps.cut(rank - 1, count - 1, count);
            next = scope.concat_with(&[next, last], |o| o.axis(-2));
        }
        (steps, count) = (next, pairs + count % 2);
    }
    steps.reshape([lead, &[rows]].concat())
}

/// The index of each element of a tensor in one dimension.
pub(super) fn places<'c>(c: &Cx<'c>, dims: &[i64], axis: usize) -> Expr<'c> {
    let mut shape = vec![1; dims.len()];
    shape[axis] = dims[axis];
    let end = dims[axis];
    let list = c.scope.arange_with(|o| o.start(0).end(end).step(1).dtype(Type::I64));
    expand(list.reshape(shape), dims)
}

fn eigen_vjp<'c>(c: &Cx<'c>, triangle: Triangle, [v, w]: [Expr<'c>; 2], [v_bar, w_bar]: [Expr<'c>; 2]) -> Expr<'c> {
    let dims = v.dims();
    let (&[ref lead @ .., n], rank) = (w.dims(), dims.len()) else {
        return c.scope.nothing();
    };
    let (w, w_bar, v_bar) = (like(w, v), like(w_bar, v), conjugate(v_bar));
    let row = expand(w.reshape([lead, &[1, n]].concat()), dims);
    let column = expand(w.reshape([lead, &[n, 1]].concat()), dims);
    let diagonal = places(c, dims, rank - 2).equal(places(c, dims, rank - 1));
    let gap = diagonal.select(row.ones(), row - column);
    let off = diagonal.select(row.zeros(), adjoint(v).matmul(v_bar) / gap);
    let middle = diagonal.select(expand(w_bar.reshape([lead, &[1, n]].concat()), dims), off);
    let full = v.matmul(middle).matmul(adjoint(v));
    let lower = conjugate(phi(full + adjoint(full)));
    match triangle {
        Triangle::Lower => lower,
        Triangle::Upper => adjoint(lower),
    }
}

/// The cotangent of a matrix from those of its singular values, of the vectors in columns, and of those in rows (J. Townsend,
/// *Differentiating the singular value decomposition*, 2016). The factors of complex vectors are those of the vectors in columns, as in
/// JAX: those in rows keep theirs.
fn singular_vjp<'c>([u, s, v]: [Expr<'c>; 3], [u_bar, s_bar, v_bar]: [Expr<'c>; 3]) -> Expr<'c> {
    let &[ref lead @ .., k] = s.dims() else {
        return s.scope().nothing();
    };
    let (s, s_bar) = (like(s, u), like(s_bar, u));
    let (u_bar, v_bar) = (conjugate(u_bar), conjugate(v_bar));
    let square = [lead, &[k, k]].concat();
    let across = |x: Expr<'c>| expand(x.reshape([lead, &[1, k]].concat()), &square);
    let (row, column) = (across(s), turned(across(s)));
    let number = across(expand(
        s.scope().arange_with(|o| o.start(0).end(k).step(1).dtype(Type::I64)),
        s.dims(),
    ));
    let diagonal = number.equal(turned(number));
    let gap = diagonal.select(row.ones(), row * row - column * column);
    // The rotation of the vectors among each other.
    let inner = |of: Expr<'c>| diagonal.select(of.zeros(), (of - adjoint(of)) / gap);
    let (left, right) = (adjoint(u).matmul(u_bar), v.matmul(adjoint(v_bar)));
    let mut middle = inner(left) * row + column * inner(right) + diagonal.select(across(s_bar), row.zeros());
    if u.is_complex() {
        let turns = complex(real(left).zeros(), imaginary(left)) / row;
        middle = middle + diagonal.select(turns, row.zeros());
    }
    let mut out = u.matmul(middle).matmul(v);
    // And what turns them out of the space that they span.
    let (m, n) = (u.dims()[u.rank() - 2], v.dims()[v.rank() - 1]);
    let over = |x: Expr<'c>| x.reshape([lead, &[1, k]].concat());
    if m > k {
        out = out + ((u_bar - u.matmul(left)) / over(s)).matmul(v);
    }
    if n > k {
        out = out + (u / over(s)).matmul(v_bar - adjoint(right).matmul(v));
    }
    conjugate(out)
}

/// Up to how many reflections are written out where they are differentiated.
const MAX_REFLECTIONS: i64 = 64;

/// Rows and columns, and the number of reflections.
fn reflections(a: Expr<'_>) -> Result<[i64; 3], String> {
    match a.dims() {
        &[.., m, n] if m.min(n) <= MAX_REFLECTIONS => Ok([m, n, m.min(n)]),
        _ => Err(format!(
            "the derivative of a QR decomposition of more than {MAX_REFLECTIONS} columns is not supported"
        )),
    }
}

/// Ones in a column from one row to another.
fn ones_in<'c>(c: &Cx<'c>, rows: i64, from: i64, to: i64) -> Expr<'c> {
    let numbers: Vec<i64> = (0..rows).map(|row| i64::from((from..to).contains(&row))).collect();
    c.list(&numbers, Type::I64).to(Some(c.elem())).reshape([rows, 1])
}

/// Reflections of the columns one after the other, with LAPACK's signs.
fn qr<'c>(c: &Cx<'c>) -> Results<'c> {
    let (mut r, rank) = (c.x(0), c.x(0).rank());
    let [m, n, count] = reflections(r)?;
    let (mut columns, mut factors) = (Vec::new(), Vec::new());
    for k in 0..count {
        let column = r.cut(rank - 1, k, k + 1);
        let head = column.cut(rank - 2, k, k + 1);
        let below = column * ones_in(c, m, k + 1, m);
        let rest = squares(below).sum_with(|o| o.axis([rank as i64 - 2]).keepdim(true));
        let beside = if head.is_complex() {
            rest + imaginary(head) * imaginary(head)
        } else {
            rest
        };
        let is_zero = beside.equal(rest.zeros());
        let size = is_zero.select(rest.ones(), squares(head) + rest).sqrt();
        let along = if head.is_complex() { real(head) } else { head };
        let diagonal = like(along.greater_equal(along.zeros()).select(size.neg(), size), head);
        let factor = is_zero.select(head.zeros(), (diagonal - head) / diagonal);
        let below = below / is_zero.select(head.ones(), head - diagonal);
        let v = below + ones_in(c, m, k, k + 1);
        r = r - conjugate(factor) * v.matmul(adjoint(v).matmul(r));
        columns.push(below);
        factors.push(factor.reshape([&r.dims()[..rank - 2], &[1]].concat()));
    }
    if n > count {
        columns.push(r.cut(rank - 1, count, n).zeros());
    }
    let below = c.scope.concat_with(&columns, |o| o.axis(-1));
    Ok(vec![r.triu() + below, c.scope.concat_with(&factors, |o| o.axis(-1))])
}

/// The columns of the product of reflections.
fn product<'c>(c: &Cx<'c>) -> Results<'c> {
    let (a, rank) = (c.x(0), c.x(0).rank());
    let [m, n, _] = reflections(a)?;
    let count = c.x(1).dims().last().copied().unwrap_or(0);
    let part = c.ctx().complex_part(c.elem()).unwrap_or(c.elem());
    let mut q = expand(like(c.scope.eye_with(m, n, |o| o.dtype(part)), a), a.dims());
    for k in (0..count).rev() {
        let v = a.cut(rank - 1, k, k + 1) * ones_in(c, m, k + 1, m) + ones_in(c, m, k, k + 1);
        let factor = c.x(1).cut(rank - 2, k, k + 1);
        let factor = factor.reshape([&a.dims()[..rank - 2], &[1, 1]].concat());
        q = q - factor * v.matmul(adjoint(v).matmul(q));
    }
    Ok(vec![q])
}

/// The results of a call that has no formula for its derivative.
pub(super) fn custom_call<'c>(c: &Cx<'c>) -> Results<'c> {
    match c.call.clone()? {
        Call::Qr => qr(c),
        Call::Reflections => product(c),
        _ => Err("it has no composition".to_owned()),
    }
}
