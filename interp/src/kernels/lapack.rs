//! Factorizations of matrices and triangular systems, as StableHLO has them and as JAX calls LAPACK for them. All are computed in
//! double precision and rounded once.
//!
//! The algorithms are those of Golub and Van Loan, *Matrix Computations*: Cholesky and LU by outer products, QR by Householder's
//! reflections with LAPACK's signs, eigenvalues by Jacobi's rotations. They are the same for real and for complex numbers, with
//! conjugates in the latter.

use std::ops::Range;

use pir_dialects::stablehlo::linalg::{Call, Triangle, Triangular};
use pir_dialects::stablehlo::ops;
use smallvec::smallvec;

use super::number::{Number, Rotation, square_sum};
use super::{Inputs, Kernel, Outputs, Prepare, Spec, general, one, singular, take};
use crate::tensor::{Complex, DType, Shape, Tensor};

pub(super) const KERNELS: &[(&str, Prepare)] = &[
    (ops::Cholesky::NAME, prepare),
    (ops::TriangularSolve::NAME, prepare),
    (ops::CustomCall::NAME, prepare),
];

fn prepare(s: &Spec<'_>) -> Result<Kernel, String> {
    let call = Call::of(s.view)?;
    let is_complex = s.view.operand_type(0).is_some_and(|ty| s.view.ctx.is_complex(ty));
    Ok(match is_complex {
        true => kernel::<Complex<f64>>(call),
        false => kernel::<f64>(call),
    })
}

fn kernel<N: Number>(call: Call) -> Kernel {
    Box::new(move |inputs| match call {
        Call::Cholesky(triangle) => factor::<N>(triangle, inputs),
        Call::Potrf(triangle) => potrf::<N>(triangle, inputs),
        Call::Solve(system) => solve::<N>(system, inputs),
        Call::Lu => getrf::<N>(inputs),
        Call::Qr => geqrf::<N>(inputs),
        Call::Reflections => orgqr::<N>(inputs),
        Call::Eigen { triangle, .. } => syevd::<N>(triangle, inputs),
        Call::General { left, right } => general::geev(left, right, inputs),
        Call::Singular { full, .. } => singular::gesdd::<N>(full, inputs),
    })
}

/// The factor over zeros; of a matrix that has none, NaN.
fn factor<N: Number>(triangle: Triangle, inputs: Inputs) -> Result<Outputs, String> {
    let [a] = take(inputs)?;
    let batch = Batch::of(&a)?;
    let n = batch.square()?;
    let mut all = N::elements(&a)?;
    for matrix in all.chunks_mut(batch.size()) {
        if cholesky(matrix, n, triangle == Triangle::Lower) != 0 {
            matrix.fill(N::of(f64::NAN));
        }
        keep(matrix, n, triangle);
    }
    one(N::tensor(a.shape(), all, a.dtype())?)
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

/// Real numbers that belong to numbers of a type, like their sizes.
pub(super) fn real(shape: &[usize], values: Vec<f64>, of: DType) -> Result<Tensor, String> {
    let dtype = match of {
        DType::C64 => DType::F32,
        DType::C128 => DType::F64,
        real => real,
    };
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
fn keep<N: Number>(a: &mut [N], n: usize, triangle: Triangle) {
    for i in 0..n {
        for j in 0..n {
            if triangle.has_not(i, j) {
                a[i * n + j] = N::default();
            }
        }
    }
}

/// Replaces a triangle with the factor; the other one does not change. The number of the leading minor that is not positive, counted from one, or zero.
fn cholesky<N: Number>(a: &mut [N], n: usize, lower: bool) -> i32 {
    let at = |i: usize, j: usize| if lower { i * n + j } else { j * n + i };
    for j in 0..n {
        let rest = a[at(j, j)].re() - (0..j).map(|k| a[at(j, k)].square()).sum::<f64>();
        // Not a number is not positive either.
        if rest.is_nan() || rest <= 0.0 {
            return j as i32 + 1;
        }
        let pivot = rest.sqrt();
        a[at(j, j)] = N::of(pivot);
        for i in j + 1..n {
            let sum: N = (0..j).map(|k| a[at(i, k)] * a[at(j, k)].conj()).sum();
            a[at(i, j)] = (a[at(i, j)] - sum) / N::of(pivot);
        }
    }
    0
}

fn potrf<N: Number>(triangle: Triangle, inputs: Inputs) -> Result<Outputs, String> {
    let [a] = take(inputs)?;
    let batch = Batch::of(&a)?;
    let n = batch.square()?;
    let mut all = N::elements(&a)?;
    let mut info: Vec<i32> = all
        .chunks_mut(batch.size())
        .map(|matrix| cholesky(matrix, n, triangle == Triangle::Lower))
        .collect();
    info.resize(batch.count, 0);
    Ok(smallvec![
        N::tensor(a.shape(), all, a.dtype())?,
        integers(lead(&a), None, info)?
    ])
}

/// Solves a triangular system with the right-hand sides in the columns, or from the right in the rows.
fn solve<N: Number>(system: Triangular, inputs: Inputs) -> Result<Outputs, String> {
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
    let (mut coefficients, mut all) = (N::elements(&a)?, N::elements(&b)?);
    if system.conjugated {
        coefficients.iter_mut().for_each(|x| *x = x.conj());
    }
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
                let sum: N = known.map(|j| entry(i, j) * b[place(j)]).sum();
                let rest = b[place(i)] - sum;
                b[place(i)] = if system.unit { rest } else { rest / entry(i, i) };
            }
        }
    }
    one(N::tensor(b.shape(), all, b.dtype())?)
}

/// The factors, the row that each was exchanged with, counted from one, and the first pivot that is zero.
fn getrf<N: Number>(inputs: Inputs) -> Result<Outputs, String> {
    let [a] = take(inputs)?;
    let batch = Batch::of(&a)?;
    let (m, n) = (batch.rows, batch.columns);
    let (mut all, mut pivots, mut info) = (N::elements(&a)?, Vec::new(), Vec::new());
    for a in all
        .chunks_mut(batch.size())
        .take(if m * n == 0 { 0 } else { batch.count })
    {
        let mut failed = 0;
        for k in 0..m.min(n) {
            let size = |i: usize, a: &[N]| a[i * n + k].size();
            // The first of equals.
            let pivot = (k + 1..m).fold(k, |best, i| if size(i, a) > size(best, a) { i } else { best });
            pivots.push(pivot as i32 + 1);
            if a[pivot * n + k] == N::default() {
                failed = if failed == 0 { k as i32 + 1 } else { failed };
                continue;
            }
            (0..n).for_each(|j| a.swap(k * n + j, pivot * n + j));
            for i in k + 1..m {
                a[i * n + k] = a[i * n + k] / a[k * n + k];
                for j in k + 1..n {
                    a[i * n + j] = a[i * n + j] - a[i * n + k] * a[k * n + j];
                }
            }
        }
        info.push(failed);
    }
    info.resize(batch.count, 0);
    Ok(smallvec![
        N::tensor(a.shape(), all, a.dtype())?,
        integers(lead(&a), Some(m.min(n)), pivots)?,
        integers(lead(&a), None, info)?
    ])
}

/// Householder's reflections below the triangle, and their factors.
fn geqrf<N: Number>(inputs: Inputs) -> Result<Outputs, String> {
    let [a] = take(inputs)?;
    let batch = Batch::of(&a)?;
    let (m, n) = (batch.rows, batch.columns);
    let (mut all, mut factors) = (N::elements(&a)?, Vec::new());
    for a in all
        .chunks_mut(batch.size())
        .take(if m * n == 0 { 0 } else { batch.count })
    {
        for k in 0..m.min(n) {
            let below = (k + 1..m).map(|i| a[i * n + k].square()).sum::<f64>();
            let head = a[k * n + k];
            if below == 0.0 && head == N::of(head.re()) {
                factors.push(N::default());
                continue;
            }
            let diagonal = N::of(-head.re().signum() * (head.square() + below).sqrt());
            let factor = (diagonal - head) / diagonal;
            (k + 1..m).for_each(|i| a[i * n + k] = a[i * n + k] / (head - diagonal));
            a[k * n + k] = diagonal;
            factors.push(factor);
            // The adjoint of the reflection makes the column real.
            let below: Vec<N> = (k + 1..m).map(|i| a[i * n + k]).collect();
            reflect(&below, a, n, k, k + 1..n, factor.conj());
        }
    }
    let shape: Shape = lead(&a).iter().copied().chain([m.min(n)]).collect();
    Ok(smallvec![
        N::tensor(a.shape(), all, a.dtype())?,
        N::tensor(&shape, factors, a.dtype())?
    ])
}

/// Reflects columns of a matrix of `n` columns, from row `k` on, by the vector that is 1 there and `below` in the rows after it.
fn reflect<N: Number>(below: &[N], a: &mut [N], n: usize, k: usize, columns: Range<usize>, factor: N) {
    let rows = |at: usize| (k + 1 + at) * n;
    for j in columns {
        let others: N = below.iter().enumerate().map(|(at, v)| v.conj() * a[rows(at) + j]).sum();
        let sum = factor * (a[k * n + j] + others);
        a[k * n + j] = a[k * n + j] - sum;
        for (at, &v) in below.iter().enumerate() {
            a[rows(at) + j] = a[rows(at) + j] - sum * v;
        }
    }
}

/// The columns of the product of reflections.
fn orgqr<N: Number>(inputs: Inputs) -> Result<Outputs, String> {
    let [a, factors] = take(inputs)?;
    let batch = Batch::of(&a)?;
    let (m, n) = (batch.rows, batch.columns);
    let count = factors.shape().last().copied().unwrap_or(0);
    if count > m.min(n) || factors.len() != batch.count * count {
        return Err(format!("factors of shape {:?} for {:?}", factors.shape(), a.shape()));
    }
    let (reflections, all) = (N::elements(&a)?, N::elements(&factors)?);
    let mut out = vec![N::default(); reflections.len()];
    for (at, q) in out
        .chunks_mut(batch.size())
        .enumerate()
        .take(if m * n == 0 { 0 } else { batch.count })
    {
        let v = &reflections[at * m * n..];
        (0..m.min(n)).for_each(|i| q[i * n + i] = N::of(1.0));
        for k in (0..count).rev() {
            let below: Vec<N> = (k + 1..m).map(|i| v[i * n + k]).collect();
            reflect(&below, q, n, k, 0..n, all[at * count + k]);
        }
    }
    one(N::tensor(a.shape(), out, a.dtype())?)
}

/// How often all pairs of columns are rotated at most; a dozen times are enough.
pub(super) const SWEEPS: usize = 60;

/// The eigenvectors of a symmetric or Hermitian matrix in columns, in the order of the eigenvalues, and the eigenvalues. The factor
/// of a vector makes the last of its largest elements positive; LAPACK leaves it open.
fn syevd<N: Number>(triangle: Triangle, inputs: Inputs) -> Result<Outputs, String> {
    let [a] = take(inputs)?;
    let batch = Batch::of(&a)?;
    let n = batch.square()?;
    let (mut all, mut values, mut info) = (N::elements(&a)?, Vec::new(), vec![0; batch.count]);
    for (at, matrix) in all
        .chunks_mut(batch.size())
        .enumerate()
        .take(if n == 0 { 0 } else { batch.count })
    {
        let mut work = matrix.to_vec();
        for i in 0..n {
            for j in 0..n {
                if triangle.has_not(i, j) {
                    work[i * n + j] = matrix[j * n + i].conj();
                } else if i == j {
                    // Its imaginary part is not read.
                    work[i * n + j] = N::of(matrix[i * n + j].re());
                }
            }
        }
        let mut vectors: Vec<N> = (0..n * n).map(|p| N::of(f64::from(u8::from(p / n == p % n)))).collect();
        if !rotate(&mut work, &mut vectors, n) {
            info[at] = 1;
        }
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|&i, &j| work[i * n + i].re().total_cmp(&work[j * n + j].re()));
        for (to, &from) in order.iter().enumerate() {
            values.push(work[from * n + from].re());
            let turn = to_positive((0..n).map(|i| vectors[i * n + from]));
            (0..n).for_each(|i| matrix[i * n + to] = turn * vectors[i * n + from]);
        }
    }
    let shape: Shape = lead(&a).iter().copied().chain([n]).collect();
    Ok(smallvec![
        N::tensor(a.shape(), all, a.dtype())?,
        real(&shape, values, a.dtype())?,
        integers(lead(&a), None, info)?
    ])
}

/// The factor that makes the last of the largest elements real and positive.
pub(super) fn to_positive<N: Number>(elements: impl Iterator<Item = N>) -> N {
    let largest = elements.fold(N::default(), |best, x| if x.size() >= best.size() { x } else { best });
    largest.direction().conj()
}

/// Jacobi's rotations until what is beside the diagonal is rounding; whether that was reached.
fn rotate<N: Number>(a: &mut [N], vectors: &mut [N], n: usize) -> bool {
    let total = square_sum(a);
    for _ in 0..SWEEPS {
        let beside: f64 = (0..n * n).filter(|p| p / n != p % n).map(|p| a[p].square()).sum();
        if beside <= total * 1e-31 {
            return true;
        }
        for p in 0..n {
            for q in p + 1..n {
                let Some(turn) = Rotation::of(a[p * n + p].re(), a[q * n + q].re(), a[p * n + q]) else {
                    continue;
                };
                for k in 0..n {
                    let (x, y) = (a[k * n + p], a[k * n + q]);
                    (a[k * n + p], a[k * n + q]) = turn.columns(x, y);
                }
                for k in 0..n {
                    let (x, y) = (a[p * n + k].conj(), a[q * n + k].conj());
                    let (x, y) = turn.columns(x, y);
                    (a[p * n + k], a[q * n + k]) = (x.conj(), y.conj());
                }
                // But for rounding.
                (a[p * n + q], a[q * n + p]) = (N::default(), N::default());
                for k in 0..n {
                    let (x, y) = (vectors[k * n + p], vectors[k * n + q]);
                    (vectors[k * n + p], vectors[k * n + q]) = turn.columns(x, y);
                }
            }
        }
    }
    false
}
