//! Attention, some rows at a time: their weights stay in the cache, and are never in memory as a whole (Rabe and Staats,
//! "Self-attention does not need O(n²) memory", 2021; here with whole rows, so that nothing has to be scaled again).

use pir_dialects::pd;

use super::broadcast::{MIXED, broadcast, strides};
use super::gemm::{Product, Real};
use super::line::softmax_of_rows;
use super::vector::Lane;
use super::{Inputs, Prepare, one};
use crate::parallel;
use crate::tensor::buffer::{done, filled, gathered, stale};
use crate::tensor::{DType, Element, Shape, Storage, Tensor, checked_count};

/// The bytes of the weights that are computed at once: a second-level cache.
const ROOM: usize = 1 << 20;
/// Fewer rows at once do not pay for copying the keys to panels.
const FEWEST: usize = 64;

pub(super) const KERNELS: &[(&str, Prepare)] = &[(pd::ScaledDotProductAttention::NAME, |s| {
    let scale = s.float("scale", 1.0);
    Ok(Box::new(move |inputs| {
        let [query, key, value, mask @ ..] = &inputs[..] else {
            return Err(format!("expected 3 operands, found {}", inputs.len()));
        };
        let dtype = query.dtype();
        if !dtype.is_float() {
            return Err("the operands must have a float element type".to_owned());
        }
        if inputs.iter().any(|x| x.dtype() != dtype) {
            return Err(MIXED.to_owned());
        }
        let plan = Plan::new([query, key, value], mask.first())?;
        let data = match dtype {
            DType::F64 => f64::wrap(run(&plan, &inputs, scale)?),
            _ => {
                // Half precision is computed in single precision and rounded once.
                let wide = inputs.into_iter().map(|x| x.cast(DType::F32));
                f32::wrap(run(&plan, &wide.collect::<Result<Inputs, _>>()?, scale as f32)?)
            }
        };
        one(Tensor::from_parts(plan.shape, data).cast(dtype)?)
    }))
})];

/// The extents, and where the matrices of the operands are.
struct Plan {
    m: usize,
    n: usize,
    d: usize,
    e: usize,
    batch: Shape,
    /// The steps between the matrices of the queries, keys and values along each dimension of the batch, in elements.
    steps: [Shape; 3],
    /// The steps in the mask along the dimensions of the weights.
    in_mask: Shape,
    /// The shape of the result.
    shape: Shape,
}

impl Plan {
    fn new(matrices: [&Tensor; 3], mask: Option<&Tensor>) -> Result<Self, String> {
        let split = |x: &Tensor| match x.shape().split_last_chunk::<2>() {
            Some((batch, &matrix)) => Ok((Shape::from(batch), matrix)),
            None => Err("an operand must have at least two dimensions".to_owned()),
        };
        let [query, key, value] = matrices;
        let ((of_query, [m, d]), (of_key, [n, width]), (of_value, [rows, e])) =
            (split(query)?, split(key)?, split(value)?);
        if d != width || n != rows {
            let shapes = matrices.map(|x| format!("{:?}", x.shape())).join(", ");
            return Err(format!("the shapes {shapes} do not belong together"));
        }
        let batch = broadcast(&broadcast(&of_query, &of_key)?, &of_value)?;
        let steps = [(of_query, m * d), (of_key, n * d), (of_value, n * e)].map(|(own, size)| {
            let steps = strides(&own, &batch);
            steps.into_iter().map(|step| step * size).collect()
        });
        let mut weights = batch.clone();
        weights.extend([m, n]);
        let in_mask = match mask {
            Some(mask) if broadcast(&weights, mask.shape())? == weights => strides(mask.shape(), &weights),
            Some(_) => return Err("the mask must broadcast to the weights".to_owned()),
            None => Shape::new(),
        };
        let mut shape = batch.clone();
        shape.extend([m, e]);
        Ok(Plan {
            m,
            n,
            d,
            e,
            batch,
            steps,
            in_mask,
            shape,
        })
    }

    /// Where the matrix of this number begins.
    fn start(&self, steps: &[usize], mut number: usize) -> usize {
        let mut start = 0;
        for (&extent, step) in self.batch.iter().zip(steps).rev() {
            start += number % extent * step;
            number /= extent;
        }
        start
    }
}

fn run<T: Real + Lane>(plan: &Plan, inputs: &[Tensor], scale: T) -> Result<Storage<T>, String> {
    let values: Option<Vec<&[T]>> = inputs.iter().map(Tensor::view).collect();
    let values = values.ok_or(MIXED)?;
    let &Plan { m, n, d, e, .. } = plan;
    let count = checked_count(&plan.shape, size_of::<T>())?;
    if count == 0 || n == 0 {
        return filled(count, T::default());
    }
    let mut out = stale(count)?;
    let rows = (ROOM / size_of::<T>() / n).max(FEWEST).min(m);
    let part = |number: usize, first: usize, out: &mut [T]| -> Result<(), String> {
        let m = out.len() / e;
        let [query, key, value] = [0, 1, 2].map(|at| &values[at][plan.start(&plan.steps[at], number)..]);
        let mut weights: Storage<T> = stale(m * n)?;
        let p = Product {
            m,
            k: d,
            n,
            tx: false,
            ty: true,
        };
        // There are more weights than elements of the query.
        let query = gathered(query[first * d..][..m * d].iter().map(|&q| q * scale))?;
        match d {
            0 => weights.fill(T::default()),
            _ => T::gemm(p, &query, &key[..n * d], &mut weights)?,
        }
        done(query);
        if let Some(mask) = values.get(3) {
            let rank = plan.batch.len();
            let start = plan.start(&plan.in_mask[..rank], number);
            for (row, weights) in weights.chunks_exact_mut(n).enumerate() {
                let from = start + (first + row) * plan.in_mask[rank];
                for (column, weight) in weights.iter_mut().enumerate() {
                    *weight += mask[from + column * plan.in_mask[rank + 1]];
                }
            }
        }
        softmax_of_rows(&mut weights, n)?;
        T::gemm(
            Product {
                m,
                k: n,
                n: e,
                tx: false,
                ty: false,
            },
            &weights,
            &value[..n * e],
            out,
        )?;
        done(weights);
        Ok(())
    };
    // Parts do not depend on the number of threads, and none is of two matrices: each with its number and its first row.
    let matrices = out.chunks_exact_mut(m * e).enumerate();
    let mut parts: Vec<(usize, usize, &mut [T])> = matrices
        .flat_map(|(number, out)| {
            let parts = out.chunks_mut(rows * e).enumerate();
            parts.map(move |(at, out)| (number, at * rows, out))
        })
        .collect();
    let work = count.saturating_mul(n).saturating_mul(d + e) / e / 16;
    parallel::try_chunks(&mut parts, 1, work, |_, parts| {
        parts
            .iter_mut()
            .try_for_each(|(number, first, out)| part(*number, *first, out))
    })?;
    Ok(out)
}
