//! Attention.

use super::{Call, Compose, Expr};

pub(super) const OPS: &[(&str, Compose)] = &[
    ("scaled_dot_product_attention", |op| {
        Ok(vec![weights(op)?.matmul(op.x("value")?)])
    }),
    ("scaled_dot_product_attention_grad", |op| {
        let (query, key, value, g) = (op.x("query")?, op.x("key")?, op.x("value")?, op.x("out_grad")?);
        let weights = weights(op)?;
        let for_weights = g.matmul_with(value, |o| o.transpose_y(true));
        let scores = weights.softmax_grad(for_weights) * op.float("scale")?;
        Ok(vec![
            scores.matmul(key),
            transposed(scores, query),
            transposed(weights, g),
        ])
    }),
];

/// The softmax of the scaled products of queries and keys.
fn weights<'c>(op: &Call<'c>) -> Result<Expr<'c>, String> {
    let (query, key) = (op.x("query")?, op.x("key")?);
    let scores = query.matmul_with(key, |o| o.transpose_y(true)) * op.float("scale")?;
    let scores = match op.some("mask") {
        Some(mask) => scores + mask,
        None => scores,
    };
    Ok(scores.softmax())
}

/// `xᵀ y`.
fn transposed<'c>(x: Expr<'c>, y: Expr<'c>) -> Expr<'c> {
    x.matmul_with(y, |o| o.transpose_x(true))
}
