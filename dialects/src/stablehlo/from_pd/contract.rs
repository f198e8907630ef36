//! Products.

use pir_ir::Type;

use super::super::ops;
use super::hlo::{converted, dialect, emit, reshaped, spread};
use super::{Cx, Rows, rows};
use crate::pd::Expr;

pub(super) const ROWS: Rows = rows! {
    Matmul |c, op| matmul(c, c.x(0), c.x(1), [op.transpose_x(), op.transpose_y()]);
    Bmm |c, _| matmul(c, c.x(0), c.x(1), [false; 2]);
    Mv |c, _| matmul(c, c.x(0), c.x(1), [false; 2]);
};

/// The batched product of matrices, where a vector is a matrix of one row or column.
fn matmul<'c>(c: &Cx<'c>, x: Expr<'c>, y: Expr<'c>, transposes: [bool; 2]) -> Result<Expr<'c>, String> {
    if x.rank() == 0 || y.rank() == 0 {
        return Err("a matrix product needs at least one dimension".to_owned());
    }
    let flip = [transposes[0] && x.rank() > 1, transposes[1] && y.rank() > 1];
    let x = if x.rank() == 1 {
        reshaped(x, &[1, x.dims()[0]])
    } else {
        x
    };
    let y = if y.rank() == 1 {
        reshaped(y, &[y.dims()[0], 1])
    } else {
        y
    };
    let half = [Type::F16, Type::BF16];
    let is_half = x.elem().is_some_and(|elem| half.contains(&elem));
    // Half-precision products are computed in single precision and rounded once; booleans have no products.
    let inner = match x.elem() {
        _ if is_half => Type::F32,
        Some(Type::I1) => Type::I32,
        Some(elem) => elem,
        None => return Ok(c.scope.nothing()),
    };
    let (x, y) = (converted(x, inner), converted(y, inner));
    // A matrix without batches is shared by those of the other side: its free dimension goes to the front.
    let (xb, yb) = (x.rank() - 2, y.rank() - 2);
    if yb == 0 && xb > 0 && !flip[0] {
        let out = dot(x, y, 0, [x.rank() - 1, usize::from(flip[1])]);
        return Ok(reshaped(converted(out, c.elem()), c.dims()));
    }
    let batch: Vec<i64> = (0..xb.max(yb))
        .map(|at| {
            let of = |dims: &[i64], rank: usize| (at + rank).checked_sub(xb.max(yb)).map_or(1, |at| dims[at]);
            let (a, b) = (of(x.dims(), xb), of(y.dims(), yb));
            if a == 1 { b } else { a }
        })
        .collect();
    let wide = |x: Expr<'c>| {
        let dims: Vec<i64> = batch.iter().chain(&x.dims()[x.rank() - 2..]).copied().collect();
        spread(x, &dims)
    };
    let (x, y, n) = (wide(x), wide(y), batch.len());
    let out = dot(x, y, n, [n + usize::from(!flip[0]), n + usize::from(flip[1])]);
    Ok(reshaped(converted(out, c.elem()), c.dims()))
}

/// The contraction of one dimension of each operand, batched over the leading `batch` dimensions.
pub(super) fn dot<'c>(x: Expr<'c>, y: Expr<'c>, batch: usize, over: [usize; 2]) -> Expr<'c> {
    let ctx = x.scope().context();
    let list: Vec<String> = (0..batch).map(|at| at.to_string()).collect();
    let batches = match batch {
        0 => String::new(),
        _ => {
            let list = list.join(", ");
            format!("lhs_batching_dimensions = [{list}], rhs_batching_dimensions = [{list}], ")
        }
    };
    let text = format!(
        ".dot<{batches}lhs_contracting_dimensions = [{}], rhs_contracting_dimensions = [{}]>",
        over[0], over[1]
    );
    let free = |x: Expr<'c>, over: usize| {
        (batch..x.rank())
            .filter(move |&at| at != over)
            .map(move |at| x.dims()[at])
    };
    let dims: Vec<i64> = x.dims()[..batch]
        .iter()
        .copied()
        .chain(free(x, over[0]))
        .chain(free(y, over[1]))
        .collect();
    let attrs = [("dot_dimension_numbers", dialect(ctx, &text))];
    let ty = ctx.tensor(&dims, x.elem().unwrap_or(Type::NONE));
    emit(x.scope(), ops::DotGeneral::NAME, &[x, y], &attrs, ty)
}
