//! The derivative of eigenvalues and eigenvectors of general matrices.
//!
//! A perturbation of `A = V w inverse(V)` is `P = inverse(V) dA V` in the basis of the vectors: `dw` is its diagonal, and the vectors are
//! turned by `P_ij / (w_j - w_i)` (Giles, *An extended collection of matrix derivative results*, 2008). That leaves a factor for each
//! vector, which LAPACK chooses so that it has the length one and its largest element is real.

use super::linalg::{places, turned};
use super::shape::expand;
use super::{Cx, Results, complex, conjugate, imaginary, real};
use crate::pd::Expr;
use crate::pd::composed::matrix::{self, lapack};

/// The cotangent of a matrix from the results of `geev` and their cotangents.
pub(super) fn vjp<'c>(c: &Cx<'c>, has_right: bool, y: &[Expr<'c>], g: &[Expr<'c>]) -> Results<'c> {
    let is_real = !c.x(0).is_complex();
    let (values, values_bar, [left, right], [left_bar, right_bar]) = match (y, g) {
        // A real loss changes by the real part of a cotangent times a tangent.
        (&[re, im, left, right, ..], &[re_bar, im_bar, left_bar, right_bar, ..]) if is_real => (
            complex(re, im),
            complex(re_bar, im_bar.neg()),
            [left, right],
            [left_bar, right_bar],
        ),
        (&[values, left, right, ..], &[values_bar, left_bar, right_bar, ..]) => {
            (values, values_bar, [left, right], [left_bar, right_bar])
        }
        _ => return Err("a result is missing".to_owned()),
    };
    let vectors = if has_right { right } else { with_right(c)? };
    let mut out = cotangent(c, values, vectors, values_bar, has_right.then_some(right_bar))?;
    if matches!(c.call, Ok(super::Call::General { left: true, .. })) {
        // These are the right ones of the adjoint.
        let none = values.zeros();
        let of_left = cotangent(c, conjugate(values), left, none, Some(left_bar))?;
        out = out + conjugate(turned(of_left));
    }
    Ok(vec![if is_real { real(out) } else { out }])
}

/// The right eigenvectors, which were not asked for.
fn with_right<'c>(c: &Cx<'c>) -> Result<Expr<'c>, String> {
    let made = lapack(
        "geev",
        &[c.x(0)],
        &[("compute_left", b'N'), ("compute_right", b'V')],
        &c.types,
    );
    let at = if c.x(0).is_complex() { 2 } else { 3 };
    made.get(at).copied().ok_or_else(|| "a result is missing".to_owned())
}

/// The cotangent of a complex matrix from those of its eigenvalues and right eigenvectors.
fn cotangent<'c>(
    c: &Cx<'c>,
    values: Expr<'c>,
    vectors: Expr<'c>,
    values_bar: Expr<'c>,
    vectors_bar: Option<Expr<'c>>,
) -> Result<Expr<'c>, String> {
    let dims = vectors.dims();
    let (&[ref lead @ .., n], rank) = (values.dims(), dims.len()) else {
        return Err("eigenvalues of matrices are needed".to_owned());
    };
    let row = |x: Expr<'c>| expand(x.reshape([lead, &[1, n]].concat()), dims);
    let column = |x: Expr<'c>| expand(x.reshape([lead, &[n, 1]].concat()), dims);
    let number = |at: usize| places(c, dims, at);
    let diagonal = number(rank - 2).equal(number(rank - 1));
    let mut inner = diagonal.select(row(values_bar), vectors.zeros());
    if let Some(bar) = vectors_bar {
        let sums = [rank as i64 - 2];
        // The component of the cotangent along each vector.
        let factor = (bar * vectors).sum_with(|o| o.axis(sums).keepdim(true));
        let size = real(vectors) * real(vectors) + imaginary(vectors) * imaginary(vectors);
        let largest = size.argmax_with(|o| o.axis(sums[0]).keepdims(true));
        let is_largest = expand(largest, dims).equal(number(rank - 2));
        let spread = |x: Expr<'c>| expand(x, dims);
        let (length, turn) = (spread(real(factor)), spread(imaginary(factor)));
        let safe = is_largest.select(real(vectors), length.ones());
        let turn = is_largest.select(turn / safe, length.zeros());
        let of_length = conjugate(vectors) * complex(length, length.zeros());
        let bar = bar - of_length + complex(turn.zeros(), turn.neg());
        let gap = diagonal.select(vectors.ones(), row(values) - column(values));
        let off = turned(vectors).matmul(bar) / gap;
        inner = diagonal.select(inner, off);
    }
    Ok(turned(inverse(c, vectors)?).matmul(inner).matmul(turned(vectors)))
}

/// The inverse of complex matrices, by that of real ones of twice the size.
fn inverse<'c>(c: &Cx<'c>, x: Expr<'c>) -> Result<Expr<'c>, String> {
    let (re, im, rank) = (real(x), imaginary(x), x.rank());
    let n = x.dims()[rank - 1];
    let beside = |a, b| c.scope.concat_with(&[a, b], |o| o.axis(-1));
    let both = c
        .scope
        .concat_with(&[beside(re, im.neg()), beside(im, re)], |o| o.axis(-2));
    let all = matrix::inverse(both)?;
    let left = all.cut(rank - 1, 0, n);
    Ok(complex(left.cut(rank - 2, 0, n), left.cut(rank - 2, n, 2 * n)))
}
