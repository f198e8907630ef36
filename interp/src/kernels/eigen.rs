//! Eigenvalues and eigenvectors of general matrices as PaddlePaddle has them, with their derivative.

use pir_dialects::pd;
use smallvec::smallvec;

use super::boxes::input;
use super::{Kernel, Prepare, Spec, general, one};
use crate::tensor::{Complex, DType, Data, Tensor};

pub(super) const KERNELS: &[(&str, Prepare)] = &[
    (pd::Eig::NAME, |s| found(s, true)),
    (pd::Eigvals::NAME, |s| found(s, false)),
    (pd::EigGrad::NAME, gradient),
];

type C = Complex<f64>;

const ZERO: C = C::new(0.0, 0.0);

/// The eigenvalues, and the vectors in columns, of the length one.
fn found(s: &Spec<'_>, vectors: bool) -> Result<Kernel, String> {
    let vectors = vectors && s.view.result_type(1).is_some();
    Ok(Box::new(move |inputs| {
        let x = input(&inputs, Some(0))?;
        let complex = match x.dtype() {
            DType::F32 => DType::C64,
            DType::F64 => DType::C128,
            _ => return Err("the operand must hold real numbers".to_owned()),
        };
        let made = general::geev(false, vectors, inputs)?;
        let [re, im, _, right, _] =
            <[Tensor; 5]>::try_from(made.into_vec()).map_err(|_| "the operation must have five results")?;
        let values: Vec<C> = re
            .to_f64()
            .into_iter()
            .zip(im.to_f64())
            .map(|(re, im)| C::new(re, im))
            .collect();
        let values = Tensor::new(re.shape(), values)?.cast(complex)?;
        match vectors {
            true => Ok(smallvec![values, right]),
            false => one(values),
        }
    }))
}

/// The derivative by a matrix A = V·diag(w)·V⁻¹ (M. Giles, 2008) with vectors of the length one: with G = Vᴴ·v̄, whose diagonal would change
/// lengths, it is V⁻ᴴ·(diag(w̄) + (G - Vᴴ·V·diag(Re G)) / conj(wⱼ - wᵢ))·Vᴴ, of which the real part is that of a real matrix.
fn gradient(s: &Spec<'_>) -> Result<Kernel, String> {
    let result = s.result_dtype(0)?;
    Ok(Box::new(move |inputs| {
        let [w, v, w_bar, v_bar] = [0, 1, 2, 3].map(|at| input(&inputs, Some(at)).and_then(numbers));
        let (w, v, w_bar, v_bar) = (w?, v?, w_bar?, v_bar?);
        let shape = input(&inputs, Some(1))?.shape();
        let n = shape.last().copied().unwrap_or(0);
        if n == 0 || v.len() != v_bar.len() || w.len() != w_bar.len() || w.len() * n != v.len() {
            return Err("the shapes of eigenvalues, vectors and cotangents do not match".to_owned());
        }
        let mut out = Vec::with_capacity(v.len());
        for (at, v) in v.chunks_exact(n * n).enumerate() {
            let (own, square) = (at * n..(at + 1) * n, at * n * n..(at + 1) * n * n);
            let (w, w_bar) = (&w[own.clone()], &w_bar[own]);
            let (by_vectors, lengths) = (adjoint_times(v, &v_bar[square], n), adjoint_times(v, v, n));
            let inner = |k: usize| {
                let (i, j) = (k / n, k % n);
                if i == j {
                    return w_bar[i];
                }
                let change = C::new(by_vectors[j * n + j].re, 0.0);
                (by_vectors[k] - lengths[k] * change) / (w[j] - w[i]).conj()
            };
            let inner: Vec<C> = (0..n * n).map(inner).collect();
            let adjoint: Vec<C> = (0..n * n).map(|k| v[k % n * n + k / n].conj()).collect();
            out.extend(solved(adjoint.clone(), times(&inner, &adjoint, n), n)?);
        }
        // Keeps as many complex numbers as the result has.
        let out = Tensor::new(shape, out)?;
        one(match result {
            DType::C64 | DType::C128 => out.cast(result)?,
            _ => Tensor::new(shape, out.to_f64())?.cast(result)?,
        })
    }))
}

fn numbers(x: &Tensor) -> Result<Vec<C>, String> {
    match x.clone().cast(DType::C128)?.into_parts().1 {
        Data::C128(values) => Ok(values.to_vec()),
        _ => Err("the operand must hold complex numbers".to_owned()),
    }
}

fn times(a: &[C], b: &[C], n: usize) -> Vec<C> {
    let element = |k: usize| (0..n).fold(ZERO, |sum, m| sum + a[k / n * n + m] * b[m * n + k % n]);
    (0..n * n).map(element).collect()
}

fn adjoint_times(a: &[C], b: &[C], n: usize) -> Vec<C> {
    let element = |k: usize| (0..n).fold(ZERO, |sum, m| sum + a[m * n + k / n].conj() * b[m * n + k % n]);
    (0..n * n).map(element).collect()
}

/// The solution of a·x = b, by elimination with the largest element of each column.
fn solved(mut a: Vec<C>, mut b: Vec<C>, n: usize) -> Result<Vec<C>, String> {
    for k in 0..n {
        let pivot = (k..n)
            .max_by(|&i, &j| a[i * n + k].abs().total_cmp(&a[j * n + k].abs()))
            .unwrap_or(k);
        if a[pivot * n + k] == ZERO {
            return Err("the eigenvectors are linearly dependent".to_owned());
        }
        for m in 0..n {
            a.swap(k * n + m, pivot * n + m);
            b.swap(k * n + m, pivot * n + m);
        }
        for i in (0..n).filter(|&i| i != k) {
            let factor = a[i * n + k] / a[k * n + k];
            for m in 0..n {
                let (own, other) = (a[k * n + m], b[k * n + m]);
                a[i * n + m] = a[i * n + m] - factor * own;
                b[i * n + m] = b[i * n + m] - factor * other;
            }
        }
    }
    Ok((0..n * n).map(|k| b[k] / a[k / n * n + k / n]).collect())
}
