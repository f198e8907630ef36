//! Matrix products.

use super::super::value::V;
use super::{Cx, Rule, X, Y, two};
use pir_dialects::pd;

pub(super) const RULES: &[Rule] = &[two(
    pd::Matmul::NAME,
    X | Y,
    |c| {
        // z = x·y in matrices without flags: dx = dz·yᵀ.
        let (_, y, g) = matrices(c);
        let dx = g.matmul(&y.swapped());
        back(c, 0, "transpose_x", dx)
    },
    |c| {
        let (x, _, g) = matrices(c);
        let dy = x.swapped().matmul(&g);
        back(c, 1, "transpose_y", dy)
    },
)];

/// The factors as matrices that need no transposition, and the gradient of their product. A vector on the left is a
/// row, one on the right a column.
fn matrices<'e>(c: &Cx<'e>) -> (V<'e>, V<'e>, V<'e>) {
    let (mut x, mut y, mut g) = (c.x(), c.y(), c.grad());
    let mut shape = g.shape().to_vec();
    let (row, column) = (c.rank(0) == 1, c.rank(1) == 1);
    if column {
        y = y.reshape(&[c.shape(1)[0], 1]);
        shape.push(1);
    } else if c.bool("transpose_y", false) {
        y = y.swapped();
    }
    if row {
        x = x.reshape(&[1, c.shape(0)[0]]);
        shape.insert(shape.len() - 1, 1);
    } else if c.bool("transpose_x", false) {
        x = x.swapped();
    }
    if row || column {
        g = g.reshape(&shape);
    }
    (x, y, g)
}

/// The gradient of a factor from that of its matrix. The caller sums broadcast dimensions.
fn back<'e>(c: &Cx<'e>, at: usize, flag: &str, d: V<'e>) -> V<'e> {
    if c.rank(at) == 1 {
        // The inserted dimension is the second to last, or the last.
        let mut shape = d.shape().to_vec();
        let drop = shape.len().saturating_sub(if at == 0 { 2 } else { 1 });
        if drop < shape.len() {
            shape.remove(drop);
        }
        return d.reshape(&shape);
    }
    if c.bool(flag, false) { d.swapped() } else { d }
}
