//! The product of two matrices.
//!
//! Large products use a library that packs both matrices into cache-sized blocks. For a vector and a matrix packing is
//! useless, and for a small product it takes longer than the product itself: these are computed here, row by row.

use ndarray::linalg::general_mat_mul;
use ndarray::{ArrayView2, ArrayViewMut2, LinalgScalar};

use crate::tensor::Element;

/// The sizes of a matrix product, and which operands are transposed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Product {
    pub(super) m: usize,
    pub(super) k: usize,
    pub(super) n: usize,
    pub(super) tx: bool,
    pub(super) ty: bool,
}

/// The size up to which products are computed here; beyond, the library was measured to be faster.
const SMALL: usize = 8 * 8 * 8;
/// The number of rows up to which products are computed here.
const THIN: usize = 2;

impl Product {
    /// The row and column strides of the operands.
    fn steps(self) -> [usize; 4] {
        let [rx, cx] = if self.tx { [1, self.m] } else { [self.k, 1] };
        let [ry, cy] = if self.ty { [1, self.k] } else { [self.n, 1] };
        [rx, cx, ry, cy]
    }

    /// The transposed product, whose operands are exchanged.
    fn turned(self) -> Product {
        Product {
            m: self.n,
            k: self.k,
            n: self.m,
            tx: !self.ty,
            ty: !self.tx,
        }
    }
}

/// Element types of matrix products.
pub(super) trait Real: Element + LinalgScalar + std::ops::AddAssign {
    /// The product of two matrices, written over `z`.
    fn gemm(p: Product, x: &[Self], y: &[Self], z: &mut [Self]) {
        if p.n == 1 && p.m > 1 {
            // A column is a transposed row.
            return Self::gemm(p.turned(), y, x, z);
        }
        // A matrix with one row or column is equal to its transpose in memory.
        let p = Product {
            tx: p.tx && p.m > 1 && p.k > 1,
            ty: p.ty && p.n > 1 && p.k > 1,
            ..p
        };
        let small = p.m.saturating_mul(p.k).saturating_mul(p.n) <= SMALL;
        match (p.tx, p.ty) {
            (_, false) if small || p.m <= THIN => rows(p, x, y, z),
            (false, true) if small || p.m <= THIN => dots(p, x, y, z),
            (true, true) if small => whole_rows(p, x, y, z, |sum, a, b| sum + a * b),
            _ => library(p, x, y, z),
        }
    }
}

impl Real for f32 {}
impl Real for f64 {}

/// Each row of the result is a linear combination of the rows of `y`, which are contiguous.
fn rows<T: Real>(p: Product, x: &[T], y: &[T], z: &mut [T]) {
    const AT_ONCE: usize = 4;
    let [rx, cx, ..] = p.steps();
    for (i, z) in z.chunks_exact_mut(p.n.max(1)).enumerate() {
        z.fill(T::default());
        let x = |l: usize| x[i * rx + l * cx];
        let mut all = y.chunks_exact(AT_ONCE * p.n.max(1));
        let mut l = 0;
        for group in &mut all {
            let (y0, rest) = group.split_at(p.n);
            let (y1, rest) = rest.split_at(p.n);
            let (y2, y3) = rest.split_at(p.n);
            let (a, b, c, d) = (x(l), x(l + 1), x(l + 2), x(l + 3));
            for ((((z, &p), &q), &r), &s) in z.iter_mut().zip(y0).zip(y1).zip(y2).zip(y3) {
                *z = *z + a * p + b * q + c * r + d * s;
            }
            l += AT_ONCE;
        }
        for y in all.remainder().chunks_exact(p.n.max(1)) {
            let a = x(l);
            z.iter_mut().zip(y).for_each(|(z, &y)| *z += a * y);
            l += 1;
        }
    }
}

/// Each element is a dot product of a row of `x` and a row of `y`, both contiguous.
fn dots<T: Real>(p: Product, x: &[T], y: &[T], z: &mut [T]) {
    let k = p.k.max(1);
    for (x, z) in x.chunks_exact(k).zip(z.chunks_exact_mut(p.n.max(1))) {
        for (z, y) in z.iter_mut().zip(y.chunks_exact(k)) {
            *z = dot(x, y);
        }
    }
}

fn dot<T: Real>(x: &[T], y: &[T]) -> T {
    const LANES: usize = 16;
    let mut lanes = [T::default(); LANES];
    let (xs, ys) = (x.chunks_exact(LANES), y.chunks_exact(LANES));
    let rest = xs.remainder().iter().zip(ys.remainder());
    let rest = rest.fold(T::default(), |sum, (&a, &b)| sum + a * b);
    for (x, y) in xs.zip(ys) {
        for ((sum, &a), &b) in lanes.iter_mut().zip(x).zip(y) {
            *sum += a * b;
        }
    }
    let mut width = LANES;
    while width > 1 {
        width /= 2;
        for at in 0..width {
            lanes[at] += lanes[at + width];
        }
    }
    lanes[0] + rest
}

/// Element by element, for any layout.
fn whole_rows<T: Element>(p: Product, x: &[T], y: &[T], z: &mut [T], add: impl Fn(T, T, T) -> T) {
    let [rx, cx, ry, cy] = p.steps();
    for (i, z) in z.chunks_exact_mut(p.n.max(1)).enumerate() {
        for (j, z) in z.iter_mut().enumerate() {
            *z = (0..p.k).fold(T::default(), |sum, l| add(sum, x[i * rx + l * cx], y[l * ry + j * cy]));
        }
    }
}

/// The product of integers, with wrapping.
pub(super) fn whole(p: Product, x: &[i64], y: &[i64], z: &mut [i64]) {
    whole_rows(p, x, y, z, |sum, a, b| sum.wrapping_add(a.wrapping_mul(b)));
}

fn library<T: Real>(p: Product, x: &[T], y: &[T], z: &mut [T]) {
    fn view<T>(v: &[T], rows: usize, columns: usize, transposed: bool) -> Option<ArrayView2<'_, T>> {
        Some(match transposed {
            false => ArrayView2::from_shape((rows, columns), v).ok()?,
            true => ArrayView2::from_shape((columns, rows), v).ok()?.reversed_axes(),
        })
    }
    let (a, b) = (view(x, p.m, p.k, p.tx), view(y, p.k, p.n, p.ty));
    if let (Some(a), Some(b), Ok(mut c)) = (a, b, ArrayViewMut2::from_shape((p.m, p.n), z)) {
        general_mat_mul(T::one(), &a, &b, T::zero(), &mut c);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares every size near the thresholds, in every layout, with plain sums.
    #[test]
    fn all_ways_agree() {
        fn check<T: Real>(p: Product, tolerance: f64) {
            let number = |seed: usize| move |at: usize| T::from_f64(((at * 7 + seed) % 23) as f64 / 8.0 - 1.25);
            let x: Vec<T> = (0..p.m * p.k).map(number(3)).collect();
            let y: Vec<T> = (0..p.k * p.n).map(number(11)).collect();
            // The previous content must not matter.
            let mut z = vec![T::from_f64(f64::NAN); p.m * p.n];
            let mut expected = vec![T::default(); p.m * p.n];
            T::gemm(p, &x, &y, &mut z);
            whole_rows(p, &x, &y, &mut expected, |sum, a, b| sum + a * b);
            for (z, e) in z.iter().zip(&expected) {
                assert!((z.to_f64() - e.to_f64()).abs() <= tolerance, "{p:?}");
            }
        }
        let sizes = [1, 2, 3, 4, 5, 8, 9, 17, 33];
        for m in sizes {
            for k in sizes {
                for n in sizes {
                    for (tx, ty) in [(false, false), (false, true), (true, false), (true, true)] {
                        let p = Product { m, k, n, tx, ty };
                        check::<f32>(p, 1e-3);
                        check::<f64>(p, 1e-11);
                    }
                }
            }
        }
    }
}
