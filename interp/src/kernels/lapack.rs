//! Factorizations of matrices and triangular systems, as StableHLO has them and as JAX calls LAPACK for them. All are computed in
//! double precision and rounded once.
//!
//! The algorithms are those of Golub and Van Loan, *Matrix Computations*: Cholesky and LU by outer products, QR by Householder's
//! reflections with LAPACK's signs, eigenvalues by Jacobi's rotations.

use pir_dialects::stablehlo::linalg::{Call, Triangle, Triangular};
use pir_dialects::stablehlo::ops;
use smallvec::smallvec;

use super::{Inputs, Kernel, Outputs, Prepare, Spec, general, one, singular, take};
use crate::tensor::{DType, Shape, Tensor};

pub(super) const KERNELS: &[(&str, Prepare)] = &[
    (ops::Cholesky::NAME, prepare),
    (ops::TriangularSolve::NAME, prepare),
    (ops::CustomCall::NAME, prepare),
];

fn prepare(s: &Spec<'_>) -> Result<Kernel, String> {
    let call = Call::of(s.view)?;
    Ok(Box::new(move |inputs| match call {
        Call::Cholesky(triangle) => factor(triangle, inputs),
        Call::Potrf(triangle) => potrf(triangle, inputs),
        Call::Solve(system) => solve(system, inputs),
        Call::Lu => getrf(inputs),
        Call::Qr => geqrf(inputs),
        Call::Reflections => orgqr(inputs),
        Call::Eigen { triangle, .. } => syevd(triangle, inputs),
        Call::General { left, right } => general::geev(left, right, inputs),
        Call::Singular { full, .. } => singular::gesdd(full, inputs),
    }))
}

/// The factor over zeros; of a matrix that has none, NaN.
fn factor(triangle: Triangle, inputs: Inputs) -> Result<Outputs, String> {
    let [a] = take(inputs)?;
    let batch = Batch::of(&a)?;
    let n = batch.square()?;
    let mut all = a.to_f64();
    for matrix in all.chunks_mut(batch.size()) {
        if cholesky(matrix, n, triangle == Triangle::Lower) != 0 {
            matrix.fill(f64::NAN);
        }
        keep(matrix, n, triangle);
    }
    one(tensor(a.shape(), all, a.dtype())?)
}

/// Matrices in the last two dimensions.
pub(super) struct Batch {
    pub(super) count: usize,
    pub(super) rows: usize,
    pub(super) columns: usize,
}

impl Batch {
    pub(super) fn of(x: &Tensor) -> Result<Self, String> {
        let (lead, &[rows, columns]) = x.shape().split_at(x.rank().saturating_sub(2)) else {
            return Err(format!("expected matrices, found a tensor of shape {:?}", x.shape()));
        };
        let count = lead.iter().product();
        Ok(Batch { count, rows, columns })
    }

    /// The elements of a matrix, at least one, so that there are chunks.
    pub(super) fn size(&self) -> usize {
        (self.rows * self.columns).max(1)
    }

    pub(super) fn square(&self) -> Result<usize, String> {
        match self.rows == self.columns {
            true => Ok(self.rows),
            false => Err(format!("a matrix of {} by {} is not square", self.rows, self.columns)),
        }
    }
}

pub(super) fn tensor(shape: &[usize], values: Vec<f64>, dtype: DType) -> Result<Tensor, String> {
    Tensor::new(shape, values)?.cast(dtype)
}

/// Integers for each matrix: `each`, or one.
pub(super) fn integers(batch: &[usize], each: Option<usize>, values: Vec<i32>) -> Result<Tensor, String> {
    let shape: Shape = batch.iter().copied().chain(each).collect();
    Tensor::new(&shape, values)
}

pub(super) fn lead(x: &Tensor) -> &[usize] {
    &x.shape()[..x.rank().saturating_sub(2)]
}

/// Sets the other triangle to zero.
fn keep(a: &mut [f64], n: usize, triangle: Triangle) {
    for i in 0..n {
        for j in 0..n {
            if triangle.has_not(i, j) {
                a[i * n + j] = 0.0;
            }
        }
    }
}

/// Replaces a triangle with the factor; the other one does not change. The number of the leading minor that is not positive, counted from one, or zero.
fn cholesky(a: &mut [f64], n: usize, lower: bool) -> i32 {
    let at = |i: usize, j: usize| if lower { i * n + j } else { j * n + i };
    for j in 0..n {
        let rest = a[at(j, j)] - (0..j).map(|k| a[at(j, k)] * a[at(j, k)]).sum::<f64>();
        // Not a number is not positive either.
        if rest.is_nan() || rest <= 0.0 {
            return j as i32 + 1;
        }
        let pivot = rest.sqrt();
        a[at(j, j)] = pivot;
        for i in j + 1..n {
            let sum: f64 = (0..j).map(|k| a[at(i, k)] * a[at(j, k)]).sum();
            a[at(i, j)] = (a[at(i, j)] - sum) / pivot;
        }
    }
    0
}

fn potrf(triangle: Triangle, inputs: Inputs) -> Result<Outputs, String> {
    let [a] = take(inputs)?;
    let batch = Batch::of(&a)?;
    let n = batch.square()?;
    let mut all = a.to_f64();
    let mut info: Vec<i32> = all
        .chunks_mut(batch.size())
        .map(|matrix| cholesky(matrix, n, triangle == Triangle::Lower))
        .collect();
    info.resize(batch.count, 0);
    Ok(smallvec![
        tensor(a.shape(), all, a.dtype())?,
        integers(lead(&a), None, info)?
    ])
}

/// Solves a triangular system with the right-hand sides in the columns, or from the right in the rows.
fn solve(system: Triangular, inputs: Inputs) -> Result<Outputs, String> {
    let [a, b] = take(inputs)?;
    let (of, to) = (Batch::of(&a)?, Batch::of(&b)?);
    let n = of.square()?;
    if lead(&a) != lead(&b) || n != if system.left { to.rows } else { to.columns } {
        return Err(format!(
            "a system of shape {:?} does not match a right side of shape {:?}",
            a.shape(),
            b.shape()
        ));
    }
    let (coefficients, mut all) = (a.to_f64(), b.to_f64());
    // From the right it is the transposed system from the left.
    let transposed = system.transposed == system.left;
    let is_lower = (system.triangle == Triangle::Lower) != transposed;
    let (count, step, next) = match system.left {
        true => (to.columns, to.columns, 1),
        false => (to.rows, 1, to.columns),
    };
    for (a, b) in coefficients.chunks(of.size()).zip(all.chunks_mut(to.size())) {
        let entry = |i: usize, j: usize| if transposed { a[j * n + i] } else { a[i * n + j] };
        for side in 0..if b.len() > 1 || to.rows * to.columns == 1 {
            count
        } else {
            0
        } {
            let place = |i: usize| side * next + i * step;
            for turn in 0..n {
                let i = if is_lower { turn } else { n - 1 - turn };
                let known = if is_lower { 0..i } else { i + 1..n };
                let sum: f64 = known.map(|j| entry(i, j) * b[place(j)]).sum();
                let rest = b[place(i)] - sum;
                b[place(i)] = if system.unit { rest } else { rest / entry(i, i) };
            }
        }
    }
    one(tensor(b.shape(), all, b.dtype())?)
}

/// The factors, the row that each was exchanged with, counted from one, and the first pivot that is zero.
fn getrf(inputs: Inputs) -> Result<Outputs, String> {
    let [a] = take(inputs)?;
    let batch = Batch::of(&a)?;
    let (m, n) = (batch.rows, batch.columns);
    let (mut all, mut pivots, mut info) = (a.to_f64(), Vec::new(), Vec::new());
    for a in all
        .chunks_mut(batch.size())
        .take(if m * n == 0 { 0 } else { batch.count })
    {
        let mut failed = 0;
        for k in 0..m.min(n) {
            let size = |i: usize, a: &[f64]| a[i * n + k].abs();
            // The first of equals.
            let pivot = (k + 1..m).fold(k, |best, i| if size(i, a) > size(best, a) { i } else { best });
            pivots.push(pivot as i32 + 1);
            if a[pivot * n + k] == 0.0 {
                failed = if failed == 0 { k as i32 + 1 } else { failed };
                continue;
            }
            (0..n).for_each(|j| a.swap(k * n + j, pivot * n + j));
            for i in k + 1..m {
                a[i * n + k] /= a[k * n + k];
                for j in k + 1..n {
                    a[i * n + j] -= a[i * n + k] * a[k * n + j];
                }
            }
        }
        info.push(failed);
    }
    info.resize(batch.count, 0);
    Ok(smallvec![
        tensor(a.shape(), all, a.dtype())?,
        integers(lead(&a), Some(m.min(n)), pivots)?,
        integers(lead(&a), None, info)?
    ])
}

/// Householder's reflections below the triangle, and their factors.
fn geqrf(inputs: Inputs) -> Result<Outputs, String> {
    let [a] = take(inputs)?;
    let batch = Batch::of(&a)?;
    let (m, n) = (batch.rows, batch.columns);
    let (mut all, mut factors) = (a.to_f64(), Vec::new());
    for a in all
        .chunks_mut(batch.size())
        .take(if m * n == 0 { 0 } else { batch.count })
    {
        for k in 0..m.min(n) {
            let below = (k + 1..m).map(|i| a[i * n + k] * a[i * n + k]).sum::<f64>();
            if below == 0.0 {
                factors.push(0.0);
                continue;
            }
            let head = a[k * n + k];
            let diagonal = -head.signum() * (head * head + below).sqrt();
            let factor = (diagonal - head) / diagonal;
            (k + 1..m).for_each(|i| a[i * n + k] /= head - diagonal);
            a[k * n + k] = diagonal;
            factors.push(factor);
            for j in k + 1..n {
                let sum = a[k * n + j] + (k + 1..m).map(|i| a[i * n + k] * a[i * n + j]).sum::<f64>();
                a[k * n + j] -= factor * sum;
                for i in k + 1..m {
                    a[i * n + j] -= factor * sum * a[i * n + k];
                }
            }
        }
    }
    let shape: Shape = lead(&a).iter().copied().chain([m.min(n)]).collect();
    Ok(smallvec![
        tensor(a.shape(), all, a.dtype())?,
        tensor(&shape, factors, a.dtype())?
    ])
}

/// The columns of the product of reflections.
fn orgqr(inputs: Inputs) -> Result<Outputs, String> {
    let [a, factors] = take(inputs)?;
    let batch = Batch::of(&a)?;
    let (m, n) = (batch.rows, batch.columns);
    let count = factors.shape().last().copied().unwrap_or(0);
    if count > m.min(n) || factors.len() != batch.count * count {
        return Err(format!("factors of shape {:?} for {:?}", factors.shape(), a.shape()));
    }
    let (reflections, all) = (a.to_f64(), factors.to_f64());
    let mut out = vec![0.0; reflections.len()];
    for (at, q) in out
        .chunks_mut(batch.size())
        .enumerate()
        .take(if m * n == 0 { 0 } else { batch.count })
    {
        let v = &reflections[at * m * n..];
        (0..m.min(n)).for_each(|i| q[i * n + i] = 1.0);
        for k in (0..count).rev() {
            let factor = all[at * count + k];
            for j in 0..n {
                let sum = q[k * n + j] + (k + 1..m).map(|i| v[i * n + k] * q[i * n + j]).sum::<f64>();
                q[k * n + j] -= factor * sum;
                for i in k + 1..m {
                    q[i * n + j] -= factor * sum * v[i * n + k];
                }
            }
        }
    }
    one(tensor(a.shape(), out, a.dtype())?)
}

/// How often all pairs of columns are rotated at most; a dozen times are enough.
pub(super) const SWEEPS: usize = 60;

/// The eigenvectors of a symmetric matrix in columns, in the order of the eigenvalues, and the eigenvalues. The sign of
/// a vector makes the last of its largest elements positive; LAPACK leaves it open.
fn syevd(triangle: Triangle, inputs: Inputs) -> Result<Outputs, String> {
    let [a] = take(inputs)?;
    let batch = Batch::of(&a)?;
    let n = batch.square()?;
    let (mut all, mut values, mut info) = (a.to_f64(), Vec::new(), vec![0; batch.count]);
    for (at, matrix) in all
        .chunks_mut(batch.size())
        .enumerate()
        .take(if n == 0 { 0 } else { batch.count })
    {
        let mut work = matrix.to_vec();
        for i in 0..n {
            for j in 0..n {
                if triangle.has_not(i, j) {
                    work[i * n + j] = matrix[j * n + i];
                }
            }
        }
        let mut vectors: Vec<f64> = (0..n * n).map(|p| f64::from(u8::from(p / n == p % n))).collect();
        if !rotate(&mut work, &mut vectors, n) {
            info[at] = 1;
        }
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|&i, &j| work[i * n + i].total_cmp(&work[j * n + j]));
        for (to, &from) in order.iter().enumerate() {
            values.push(work[from * n + from]);
            let column = (0..n).map(|i| vectors[i * n + from]);
            let largest = column.fold(0.0, |best: f64, v| if v.abs() >= best.abs() { v } else { best });
            let sign = if largest < 0.0 { -1.0 } else { 1.0 };
            (0..n).for_each(|i| matrix[i * n + to] = sign * vectors[i * n + from]);
        }
    }
    let shape: Shape = lead(&a).iter().copied().chain([n]).collect();
    Ok(smallvec![
        tensor(a.shape(), all, a.dtype())?,
        tensor(&shape, values, a.dtype())?,
        integers(lead(&a), None, info)?
    ])
}

/// Jacobi's rotations until what is beside the diagonal is rounding; whether that was reached.
fn rotate(a: &mut [f64], vectors: &mut [f64], n: usize) -> bool {
    let total: f64 = a.iter().map(|v| v * v).sum();
    for _ in 0..SWEEPS {
        let beside: f64 = (0..n * n).filter(|p| p / n != p % n).map(|p| a[p] * a[p]).sum();
        if beside <= total * 1e-31 {
            return true;
        }
        for p in 0..n {
            for q in p + 1..n {
                let entry = a[p * n + q];
                if entry == 0.0 {
                    continue;
                }
                let slope = (a[q * n + q] - a[p * n + p]) / (2.0 * entry);
                let sign = if slope < 0.0 { -1.0 } else { 1.0 };
                let t = sign / (slope.abs() + slope.hypot(1.0));
                let c = 1.0 / t.hypot(1.0);
                let s = t * c;
                for k in 0..n {
                    let (x, y) = (a[k * n + p], a[k * n + q]);
                    (a[k * n + p], a[k * n + q]) = (c * x - s * y, s * x + c * y);
                }
                for k in 0..n {
                    let (x, y) = (a[p * n + k], a[q * n + k]);
                    (a[p * n + k], a[q * n + k]) = (c * x - s * y, s * x + c * y);
                }
                // But for rounding.
                (a[p * n + q], a[q * n + p]) = (0.0, 0.0);
                for k in 0..n {
                    let (x, y) = (vectors[k * n + p], vectors[k * n + q]);
                    (vectors[k * n + p], vectors[k * n + q]) = (c * x - s * y, s * x + c * y);
                }
            }
        }
    }
    false
}
