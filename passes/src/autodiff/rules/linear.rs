//! Products and transposition.

use pir_dialects::pd::{self, Expr};

use super::Rule;
use super::formula::derivative;
use super::reduce::inverse;

pub(super) const RULES: &[Rule] = &[
    // With z = op(x) · op(y), each cotangent is a product again, in the order that the transpositions ask for. A vector takes
    // part as a matrix of one row (on the left) or one column (on the right); transposing it does nothing.
    derivative!(Matmul, |op, g|
        let (x, y) = (op.x(), op.y());
        let is_vector = match [x.rank(), y.rank()] {
            [0, _] | [_, 0] => return Err("`pd.matmul` of a scalar".to_owned()),
            ranks => ranks.map(|rank| rank == 1),
        };
        let (tx, ty) = (!is_vector[0] && op.transpose_x(), !is_vector[1] && op.transpose_y());
        // The result lacks the dimensions of the vectors.
        let g = with_dimension(with_dimension(g, is_vector[1], -1), is_vector[0], -2);
        {
            x: {
                let y = with_dimension(y, is_vector[1], -1);
                let t = if tx { product(y, g, ty, true) } else { product(g, y, false, !ty) };
                without_dimension(t, is_vector[0], -2).reduce_like(x)
            },
            y: {
                let x = with_dimension(x, is_vector[0], 0);
                // Of one matrix for a batch, it is one product of all rows, and no sum of products.
                let (x, g) = match (y.rank(), tx, row_length(x), row_length(g)) {
                    (2, false, Some(length), Some(of_g)) => (x.reshape([-1, length]), g.reshape([-1, of_g])),
                    _ => (x, g),
                };
                let t = if ty { product(g, x, true, tx) } else { product(x, g, !tx, false) };
                without_dimension(t, is_vector[1], -1).reduce_like(y)
            },
        }
    )
    .complex(),
    derivative!(Transpose, |op, g| {
        let perm = op.perm().ok_or("`pd.transpose` without its permutation `perm`")?;
        g.transpose(&inverse(&perm, op.x().rank())?)
    })
    .complex(),
];

/// The length of the rows of a batch of matrices, if it is known.
fn row_length(x: Expr<'_>) -> Option<i64> {
    let length = *x.dims().last()?;
    (x.rank() > 2 && length > 0).then_some(length)
}

fn product<'c>(x: Expr<'c>, y: Expr<'c>, tx: bool, ty: bool) -> Expr<'c> {
    x.matmul_with(y, |o| o.transpose_x(tx).transpose_y(ty))
}

fn with_dimension(x: Expr<'_>, is_missing: bool, axis: i64) -> Expr<'_> {
    if is_missing {
        x.unsqueeze_with(|o| o.axis([axis]))
    } else {
        x
    }
}

fn without_dimension(x: Expr<'_>, is_extra: bool, axis: i64) -> Expr<'_> {
    if is_extra {
        x.squeeze_with(|o| o.axis([axis]))
    } else {
        x
    }
}
