//! Attention, some rows at a time: their weights stay in the cache, and are never in memory as a whole (Rabe and Staats,
//! "Self-attention does not need O(n²) memory", 2021; here with whole rows, so that nothing has to be scaled again).

use pir_dialects::pd;

use super::broadcast::{MIXED, broadcast, strides};
use super::gemm::{Product, Real, with_right};
use super::line::{softmax_grad_of_rows, softmax_of_rows};
use super::panels::Right;
use super::vector::Lane;
use super::{Inputs, Outputs, Prepare, one};
use crate::parallel::{self, cut};
use crate::tensor::buffer::{done, filled, gathered, stale};
use crate::tensor::{DType, Element, Shape, Storage, Tensor, checked_count};

/// The bytes of the weights that are computed at once: a second-level cache.
const ROOM: usize = 1 << 20;
/// Fewer rows at once do not pay for copying the keys to panels.
const FEWEST: usize = 64;

pub(super) const KERNELS: &[(&str, Prepare)] = &[
    (pd::ScaledDotProductAttention::NAME, |s| {
        let scale = s.float("scale", 1.0);
        Ok(Box::new(move |inputs| {
            in_single_or_double(inputs, |inputs, is_double| {
                let [query, key, value, mask @ ..] = inputs else {
                    return Err(format!("expected 3 operands, found {}", inputs.len()));
                };
                let plan = Plan::new([query, key, value], mask.first())?;
                let data = match is_double {
                    true => f64::wrap(run(&plan, inputs, scale)?),
                    false => f32::wrap(run(&plan, inputs, scale as f32)?),
                };
                one(Tensor::from_parts(plan.shape, data))
            })
        }))
    }),
    (pd::ScaledDotProductAttentionGrad::NAME, |s| {
        let scale = s.float("scale", 1.0);
        Ok(Box::new(move |inputs| {
            in_single_or_double(inputs, |inputs, is_double| {
                let [query, key, value, g, mask @ ..] = inputs else {
                    return Err(format!("expected 4 operands, found {}", inputs.len()));
                };
                let plan = Plan::new([query, key, value], mask.first())?;
                let batches = [query, key, value].map(|x| x.shape().split_last_chunk::<2>().map(|(batch, _)| batch));
                if batches.iter().any(|batch| *batch != Some(&plan.batch[..])) || *g.shape() != *plan.shape {
                    return Err(
                        "the operands must have the same batch dimensions, and `out_grad` the shape of the result"
                            .to_owned(),
                    );
                }
                let data = match is_double {
                    true => gradients(&plan, inputs, scale)?.map(f64::wrap),
                    false => gradients(&plan, inputs, scale as f32)?.map(f32::wrap),
                };
                let shapes = [query, key, value].map(|x| Shape::from(x.shape()));
                Ok(shapes
                    .into_iter()
                    .zip(data)
                    .map(|(shape, data)| Tensor::from_parts(shape, data))
                    .collect())
            })
        }))
    }),
];

/// Computes with operands of one float element type, and whether that is double precision. Half precision is computed in single precision
/// and rounded once.
fn in_single_or_double(
    inputs: Inputs,
    f: impl Fn(&[Tensor], bool) -> Result<Outputs, String>,
) -> Result<Outputs, String> {
    let dtype = inputs.first().map(Tensor::dtype);
    let dtype = dtype.filter(|dtype| dtype.is_float());
    let dtype = dtype.ok_or("the operands must have a float element type")?;
    if inputs.iter().any(|x| x.dtype() != dtype) {
        return Err(MIXED.to_owned());
    }
    if matches!(dtype, DType::F32 | DType::F64) {
        return f(&inputs, dtype == DType::F64);
    }
    let wide: Inputs = inputs
        .into_iter()
        .map(|x| x.cast(DType::F32))
        .collect::<Result<_, _>>()?;
    let results = f(&wide, false)?;
    results.into_iter().map(|x| x.cast(dtype)).collect()
}

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

/// The elements of the operands of an attention.
struct Attention<'p, T> {
    plan: &'p Plan,
    /// Of the queries, keys and values.
    values: [&'p [T]; 3],
    mask: Option<&'p [T]>,
    scale: T,
}

impl<'p, T: Real + Lane> Attention<'p, T> {
    fn new(plan: &'p Plan, operands: &'p [Tensor], mask: Option<&'p Tensor>, scale: T) -> Result<Self, String> {
        let view = |x: &'p Tensor| x.view().ok_or(MIXED);
        let [query, key, value, ..] = operands else {
            return Err("an operand is missing".to_owned());
        };
        Ok(Attention {
            plan,
            values: [view(query)?, view(key)?, view(value)?],
            mask: mask.map(view).transpose()?,
            scale,
        })
    }

    /// The matrix of an operand with this number.
    fn matrix(&self, at: usize, number: usize) -> &'p [T] {
        let &Plan { m, n, d, e, .. } = self.plan;
        let size = [m * d, n * d, n * e][at];
        &self.values[at][self.plan.start(&self.plan.steps[at], number)..][..size]
    }

    /// The scaled queries of some rows of the matrix with this number.
    fn queries(&self, number: usize, first: usize, m: usize) -> Result<Storage<T>, String> {
        let d = self.plan.d;
        // There are more weights than elements of the query.
        gathered(
            self.matrix(0, number)[first * d..][..m * d]
                .iter()
                .map(|&q| q * self.scale),
        )
    }

    /// The weights of these rows.
    fn weights(
        &self,
        number: usize,
        first: usize,
        m: usize,
        queries: &[T],
        keys: &Often<'_, T>,
    ) -> Result<Storage<T>, String> {
        let &Plan { n, d, .. } = self.plan;
        let mut weights: Storage<T> = stale(m * n)?;
        match d {
            0 => weights.fill(T::default()),
            _ => keys.product(by_rows(m, d, n), queries, &mut weights)?,
        }
        if let Some(mask) = self.mask {
            let rank = self.plan.batch.len();
            let start = self.plan.start(&self.plan.in_mask[..rank], number);
            let [row_step, step] = [0, 1].map(|at| self.plan.in_mask[rank + at]);
            for (row, weights) in weights.chunks_exact_mut(n).enumerate() {
                let mask = &mask[start + (first + row) * row_step..];
                match step {
                    1 => weights.iter_mut().zip(mask).for_each(|(weight, &mask)| *weight += mask),
                    _ => weights.iter_mut().for_each(|weight| *weight += mask[0]),
                }
            }
        }
        softmax_of_rows(&mut weights, n)?;
        Ok(weights)
    }
}

/// A matrix that is the right one of a product for each part of the rows.
struct Often<'v, T> {
    values: &'v [T],
    /// Its panels, if there is more than one part.
    panels: Option<Storage<T>>,
}

impl<'v, T: Real> Often<'v, T> {
    fn new(p: Product, values: &'v [T], is_often: bool) -> Result<Self, String> {
        let panels = is_often.then(|| Right::Matrix(values).panels(p)).transpose()?;
        Ok(Often { values, panels })
    }

    fn product(&self, p: Product, x: &[T], z: &mut [T]) -> Result<(), String> {
        match &self.panels {
            Some(panels) => with_right(p, x, &Right::Kept(panels), z, false),
            None => T::gemm(p, x, self.values, z),
        }
    }

    /// Keeps the memory for the next ones.
    fn done(self) {
        self.panels.into_iter().for_each(done);
    }
}

/// The product of rows with rows.
fn by_rows(m: usize, k: usize, n: usize) -> Product {
    Product {
        m,
        k,
        n,
        tx: false,
        ty: true,
    }
}

/// The product of rows with columns.
fn by_columns(m: usize, k: usize, n: usize) -> Product {
    Product {
        m,
        k,
        n,
        tx: false,
        ty: false,
    }
}

/// The rows whose weights are computed at once.
fn rows_at_once<T>(plan: &Plan, room: usize) -> usize {
    (room / size_of::<T>() / plan.n).max(FEWEST).min(plan.m)
}

fn run<T: Real + Lane>(plan: &Plan, inputs: &[Tensor], scale: T) -> Result<Storage<T>, String> {
    let attention = Attention::new(plan, inputs, inputs.get(3), scale)?;
    let &Plan { m, n, d, e, .. } = plan;
    let count = checked_count(&plan.shape, size_of::<T>())?;
    if count == 0 || n == 0 {
        return filled(count, T::default());
    }
    let mut out = stale(count)?;
    let rows = rows_at_once::<T>(plan, ROOM);
    let work = count.saturating_mul(n).saturating_mul(d + e) / e / 16;
    let matrices: usize = plan.batch.iter().product();
    let often = rows < m;
    let rights = parallel::map(matrices, if often { work } else { 0 }, |number| {
        let (keys, values) = (attention.matrix(1, number), attention.matrix(2, number));
        let keys = Often::new(by_rows(rows, d, n), keys, often && d > 0)?;
        Ok([keys, Often::new(by_columns(rows, n, e), values, often)?])
    });
    let rights: Vec<[Often<'_, T>; 2]> = rights.into_iter().collect::<Result<_, String>>()?;
    let part = |number: usize, first: usize, out: &mut [T]| -> Result<(), String> {
        let m = out.len() / e;
        let [keys, values] = &rights[number];
        let queries = attention.queries(number, first, m)?;
        let weights = attention.weights(number, first, m, &queries, keys)?;
        done(queries);
        values.product(by_columns(m, n, e), &weights, out)?;
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
    parallel::try_chunks(&mut parts, 1, work, |_, parts| {
        parts
            .iter_mut()
            .try_for_each(|(number, first, out)| part(*number, *first, out))
    })?;
    rights.into_iter().flatten().for_each(Often::done);
    Ok(out)
}

/// The gradients by the queries, keys and values. Each matrix is computed by one thread, since all of its rows add to those of the keys and
/// values; of a single one, the products are shared.
fn gradients<T: Real + Lane>(plan: &Plan, inputs: &[Tensor], scale: T) -> Result<[Storage<T>; 3], String> {
    let attention = Attention::new(plan, inputs, inputs.get(4), scale)?;
    let cotangents: &[T] = inputs.get(3).and_then(Tensor::view).ok_or(MIXED)?;
    let &Plan { m, n, d, e, .. } = plan;
    let matrices: usize = plan.batch.iter().product();
    let sizes = [m * d, n * d, n * e];
    let is_empty = matrices == 0 || m == 0 || n == 0 || e == 0;
    let room = |size: usize| match is_empty || d == 0 {
        true => filled(matrices * size, T::default()),
        false => stale(matrices * size),
    };
    let [mut for_query, mut for_key, mut for_value] = [room(sizes[0])?, room(sizes[1])?, room(sizes[2])?];
    if is_empty {
        return Ok([for_query, for_key, for_value]);
    }
    let rows = rows_at_once::<T>(plan, ROOM / 2);
    let of_matrix =
        |number: usize, for_query: &mut [T], for_key: &mut [T], for_value: &mut [T]| -> Result<(), String> {
            let [key, value] = [1, 2].map(|at| attention.matrix(at, number));
            let often = rows < m && d > 0;
            let keys = Often::new(by_rows(rows, d, n), key, often)?;
            let key_columns = Often::new(by_columns(rows, n, d), key, often)?;
            let values = Often::new(by_rows(rows, e, n), value, often)?;
            for first in (0..m).step_by(rows) {
                let m = rows.min(m - first);
                let g = &cotangents[(number * plan.m + first) * e..][..m * e];
                let queries = attention.queries(number, first, m)?;
                let weights = attention.weights(number, first, m, &queries, &keys)?;
                let across = |k| Product {
                    tx: true,
                    ..by_columns(n, m, k)
                };
                with_right(across(e), &weights, &Right::Matrix(g), for_value, first > 0)?;
                if d > 0 {
                    let mut scores: Storage<T> = stale(m * n)?;
                    values.product(by_rows(m, e, n), g, &mut scores)?;
                    softmax_grad_of_rows(&mut scores, &weights, n)?;
                    let for_query = &mut for_query[first * d..][..m * d];
                    key_columns.product(by_columns(m, n, d), &scores, for_query)?;
                    for_query.iter_mut().for_each(|q| *q = *q * scale);
                    with_right(across(d), &scores, &Right::Matrix(&queries), for_key, first > 0)?;
                    done(scores);
                }
                done(weights);
                done(queries);
            }
            [keys, key_columns, values].into_iter().for_each(Often::done);
            Ok(())
        };
    let mut rest = [&mut for_query, &mut for_key, &mut for_value].map(|all| &mut all[..]);
    let mut all: Vec<(usize, [&mut [T]; 3])> = (0..matrices)
        .map(|number| (number, std::array::from_fn(|at| cut(&mut rest[at], sizes[at]))))
        .collect();
    let work = matrices.saturating_mul(m * n).saturating_mul(5 * d.max(e)) / 16;
    parallel::try_chunks(&mut all, 1, work, |_, all| {
        all.iter_mut()
            .try_for_each(|(number, [query, key, value])| of_matrix(*number, query, key, value))
    })?;
    drop(all);
    Ok([for_query, for_key, for_value])
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests {
    use super::*;

    fn waves(shape: &[usize], step: f64) -> Tensor {
        let values = (0..shape.iter().product()).map(|at: usize| (at as f64 * step).sin());
        Tensor::new(shape, values.collect::<Vec<f64>>()).unwrap()
    }

    /// Some rows of a matrix.
    fn of_rows(x: &Tensor, rows: std::ops::Range<usize>) -> Tensor {
        let width = x.shape()[1];
        let values = x.view::<f64>().unwrap()[rows.start * width..rows.end * width].to_vec();
        Tensor::new(&[rows.len(), width], values).unwrap()
    }

    #[test]
    fn many_parts_are_like_one() {
        let [m, n, d, e] = [200, 2500, 9, 7];
        let (query, key, value, g) = (
            waves(&[m, d], 0.7),
            waves(&[n, d], 1.3),
            waves(&[n, e], 0.9),
            waves(&[m, e], 0.4),
        );
        let near = |a: &[f64], b: &[f64]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12);
        let compute = |query: &Tensor, g: &Tensor| {
            let plan = Plan::new([query, &key, &value], None).unwrap();
            let inputs = [query.clone(), key.clone(), value.clone(), g.clone()];
            let results = run(&plan, &inputs[..3], 0.6).unwrap();
            (
                rows_at_once::<f64>(&plan, ROOM) < plan.m,
                results,
                gradients(&plan, &inputs, 0.6).unwrap(),
            )
        };
        let (has_parts, all, [for_query, for_key, for_value]) = compute(&query, &g);
        assert!(has_parts);
        let mut sums = [vec![0.0; n * d], vec![0.0; n * e]];
        for first in (0..m).step_by(40) {
            let rows = first..first + 40;
            let (has_parts, some, [query, key, value]) =
                compute(&of_rows(&query, rows.clone()), &of_rows(&g, rows.clone()));
            assert!(!has_parts);
            assert!(near(&some, &all[rows.start * e..rows.end * e]), "{rows:?}");
            assert!(near(&query, &for_query[rows.start * d..rows.end * d]), "{rows:?}");
            for (sums, part) in sums.iter_mut().zip([key, value]) {
                sums.iter_mut().zip(part.iter()).for_each(|(sum, x)| *sum += x);
            }
        }
        assert!(near(&sums[0], &for_key) && near(&sums[1], &for_value));
    }
}
