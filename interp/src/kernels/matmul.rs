//! Matrix products.

use std::ops::Range;
use std::time::{Duration, Instant};

use super::broadcast::{Rows, broadcast, strides};
use super::gemm::{Product, Real, whole};
use super::panels::Operand;
use super::{Prepare, one, take};
use crate::parallel;
use crate::tensor::buffer::{Derived, filled, stale};
use crate::tensor::{Buffer, DType, Data, Element, Shape, Storage, Tensor, checked_count};
use pir_dialects::pd;
use smallvec::SmallVec;

pub(super) const KERNELS: &[(&str, Prepare)] = &[(pd::Matmul::NAME, |s| {
    let (tx, ty) = (s.flag("transpose_x", false), s.flag("transpose_y", false));
    let (keep, flush) = ([s.is_invariant(0), s.is_invariant(1)], s.flush);
    Ok(Box::new(move |inputs| {
        let [x, y] = take(inputs)?;
        one(product(x, y, [tx, ty], keep, flush)?)
    }))
})];

/// All of them flush subnormal results.
pub(super) const FLUSHING: &[&str] = &[pd::Matmul::NAME];

/// Batched matrix product.
pub(super) fn matmul(x: Tensor, y: Tensor, tx: bool, ty: bool) -> Result<Tensor, String> {
    product(x, y, [tx, ty], [false; 2], false)
}

/// The same. What is derived from an operand is kept with it if it will be multiplied again. With `flush`, subnormal results become zeros.
fn product(x: Tensor, y: Tensor, [tx, ty]: [bool; 2], keep: [bool; 2], flush: bool) -> Result<Tensor, String> {
    if x.dtype() != y.dtype() {
        return Err(format!(
            "element types {} and {} differ",
            x.dtype().name(),
            y.dtype().name()
        ));
    }
    if x.rank() == 0 || y.rank() == 0 {
        return Err("a matrix product needs at least one dimension".to_owned());
    }
    let (rx, ry) = (x.rank(), y.rank());
    let (tx, ty) = (tx && rx > 1, ty && ry > 1);
    let x = if rx == 1 {
        let n = x.len();
        x.reshaped(&[1, n])?
    } else {
        x
    };
    let y = if ry == 1 {
        let n = y.len();
        y.reshaped(&[n, 1])?
    } else {
        y
    };
    let split = |t: &Tensor| -> (Shape, usize, usize) {
        let n = t.rank();
        (t.shape()[..n - 2].into(), t.shape()[n - 2], t.shape()[n - 1])
    };
    let ((xb, a, b), (yb, c, d)) = (split(&x), split(&y));
    let ((m, k), (k2, n)) = (if tx { (b, a) } else { (a, b) }, if ty { (d, c) } else { (c, d) });
    if k != k2 {
        return Err(format!(
            "the inner dimensions {k} and {k2} of {:?} and {:?} differ",
            x.shape(),
            y.shape()
        ));
    }
    let batch = broadcast(&xb, &yb)?;
    let mut shape = batch.clone();
    shape.extend([m, n]);
    let count = checked_count(&shape, x.dtype().size())?;
    let mut dims = Product { m, k, n, tx, ty };
    let (mut batch, mut xb) = (batch, xb);
    if !tx && yb.iter().all(|&d| d == 1) && xb.iter().product::<usize>() > 1 {
        // The same matrix for all: that many rows.
        dims.m *= xb.iter().product::<usize>();
        (batch, xb) = (Shape::new(), Shape::new());
    }
    let yb = if batch.is_empty() { Shape::new() } else { yb };
    let pairs = Rows::new(&batch, &strides(&xb, &batch), &strides(&yb, &batch));
    let data = match (x.data(), y.data()) {
        (Data::F32(v), Data::F32(w)) => f32::wrap(reals(v, w, keep, &pairs, count, dims, flush)?),
        (Data::F64(v), Data::F64(w)) => f64::wrap(reals(v, w, keep, &pairs, count, dims, flush)?),
        _ if x.dtype().is_float() => {
            // Half precision is computed in single precision and rounded once.
            let (wx, wy) = (single(x.data(), keep[0])?, single(y.data(), keep[1])?);
            let wide = f32::wrap(reals(&wx, &wy, keep, &pairs, count, dims, false)?);
            Tensor::from_parts(shape.clone(), wide).cast(x.dtype())?.into_parts().1
        }
        _ => {
            let (wx, wy) = (x.wholes()?, y.wholes()?);
            let gemm = |p, x: Range<usize>, y: Range<usize>, z: &mut [i64]| whole(p, &wx[x], &wy[y], z);
            let wide = i64::wrap(products(&pairs, count, dims, gemm)?);
            Tensor::from_parts(shape.clone(), wide).cast(x.dtype())?.into_parts().1
        }
    };
    let out = Tensor::from_parts(shape.clone(), data);
    if rx > 1 && ry > 1 {
        return Ok(out);
    }
    let rank = shape.len();
    let kept: Shape = shape
        .iter()
        .enumerate()
        .filter(|&(i, _)| !(ry == 1 && i == rank - 1 || rx == 1 && i == rank - 2))
        .map(|(_, &d)| d)
        .collect();
    out.reshaped(&kept)
}

/// The elements in single precision.
fn single(data: &Data, keep: bool) -> Result<Buffer<f32>, String> {
    let convert = || match data.cast(DType::F32)? {
        Data::F32(values) => Ok(values),
        _ => Err("these are no floats".to_owned()),
    };
    let kept = match data {
        Data::F16(values) if keep => values.derived(Derived::Single, |_| convert().ok()),
        Data::BF16(values) if keep => values.derived(Derived::Single, |_| convert().ok()),
        _ => None,
    };
    kept.map_or_else(convert, |kept| Ok(kept.clone()))
}

fn reals<T: Real>(
    x: &Buffer<T>,
    y: &Buffer<T>,
    [left, right]: [bool; 2],
    pairs: &Rows,
    count: usize,
    p: Product,
    flush: bool,
) -> Result<Storage<T>, String> {
    products(pairs, count, p, |p, of_x, of_y, z| {
        T::product(p, part(x, of_x, left), part(y, of_y, right), z, flush)
    })
}

/// A matrix of a buffer. What is kept is that of the only one.
fn part<T: Real>(buffer: &Buffer<T>, range: Range<usize>, keep: bool) -> Operand<'_, T> {
    match range.len() == buffer.len() {
        true => Operand::keep(buffer, keep),
        false => Operand::from(&buffer[range]),
    }
}

/// The products of matrices that begin at the places of `pairs`; `gemm` is given the ranges of their elements.
fn products<T: Element>(
    pairs: &Rows,
    count: usize,
    p: Product,
    gemm: impl Fn(Product, Range<usize>, Range<usize>, &mut [T]) -> Result<(), String> + Sync,
) -> Result<Storage<T>, String> {
    let size = p.m * p.n;
    if size == 0 || p.k == 0 {
        return filled(count, T::default());
    }
    let mut out = stale(count)?;
    let (sx, sy) = (p.m * p.k, p.k * p.n);
    let step = |i: usize, (a, b)| ((a + i * pairs.steps[0]) * sx, (b + i * pairs.steps[1]) * sy);
    let rows = pairs
        .offsets()
        .flat_map(|row| (0..pairs.length).map(move |i| step(i, row)));
    let starts: SmallVec<[(usize, usize); 1]> = rows.collect();
    if let [(a, b)] = starts[..] {
        // Sharing parts out costs a tenth of the time of a small product.
        gemm(p, a..a + sx, b..b + sy, &mut out)?;
        return Ok(out);
    }
    let work = p.work().saturating_mul(starts.len());
    parallel::try_chunks(&mut out, size, work, |at, z| {
        let (a, b) = starts[at / size];
        gemm(p, a..a + sx, b..b + sy, z)
    })?;
    Ok(out)
}

/// The rate of a product of two large matrices with all threads, in additions and multiplications per second: of `f32`, and of `f64`. It
/// takes about a tenth of a second to measure.
///
/// # Errors
/// If there is no memory for the matrices.
pub fn peak_flops() -> Result<[f64; 2], String> {
    fn best<T: Real>() -> Result<f64, String> {
        const N: usize = 512;
        let p = Product {
            m: N,
            k: N,
            n: N,
            tx: false,
            ty: false,
        };
        let (x, mut z) = (vec![T::from_f64(0.5); N * N], vec![T::default(); N * N]);
        let mut best = f64::INFINITY;
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_millis(50) {
            let start = Instant::now();
            T::gemm(p, &x, &x, &mut z)?;
            best = best.min(start.elapsed().as_secs_f64());
        }
        Ok(2.0 * (N * N * N) as f64 / best)
    }
    Ok([best::<f32>()?, best::<f64>()?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transposed_and_batched() {
        let x = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]].concat();
        let across = [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]].concat();
        let expected = [14.0, 32.0, 32.0, 77.0];
        for (tx, ty) in [(false, false), (false, true), (true, false), (true, true)] {
            let (left, rows) = if tx { (&across, [1, 3, 2]) } else { (&x, [1, 2, 3]) };
            let (right, columns) = if ty { (&x, [2, 3]) } else { (&across, [3, 2]) };
            for dtype in [DType::F32, DType::F64] {
                let tensor =
                    |shape: &[usize], v: &[f64]| Tensor::new(shape, v.to_vec()).map(|t| t.cast(dtype).unwrap());
                let (left, right) = (tensor(&rows, left), tensor(&columns, right));
                let product = left.and_then(|l| matmul(l, right?, tx, ty)).map(|t| t.to_f64());
                assert_eq!(product.as_deref(), Ok(&expected[..]));
            }
        }
        let empty = |shape: &[usize]| Tensor::new::<f32>(shape, Vec::new());
        let nothing = empty(&[2, 0]).and_then(|l| matmul(l, empty(&[0, 2])?, false, false));
        assert_eq!(nothing.map(|t| t.to_f64()), Ok(vec![0.0; 4]));
    }
}
