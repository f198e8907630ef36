//! Attention.

use super::Compose;

pub(super) const OPS: &[(&str, Compose)] = &[("scaled_dot_product_attention", |op| {
    let (query, key) = (op.x("query")?, op.x("key")?);
    let scores = query.matmul_with(key, |o| o.transpose_y(true)) * op.float("scale")?;
    let scores = match op.some("mask") {
        Some(mask) => scores + mask,
        None => scores,
    };
    Ok(vec![scores.softmax().matmul(op.x("value")?)])
})];
