//! Products that need no copies of blocks: of few rows, which are combined, and of rows with rows.

use pulp::{Simd, WithSimd};

use super::gemm::{AT_ONCE, Product, Real};
use crate::parallel;
use crate::simd;

/// Each row of the result is a linear combination of the rows of `y`, which are contiguous, or in `panels`.
pub(super) fn rows<T: Real>(p: Product, x: &[T], y: &[T], panels: Option<&[T]>, z: &mut [T]) {
    // For a single row, threads share the columns.
    let part = match p.m {
        1 => (1usize << 16).div_ceil(p.k.max(1)).next_multiple_of(256),
        _ => (1usize << 14).div_ceil(p.n.max(1) * p.k.max(1)) * p.n,
    };
    parallel::chunks(z, part, p.work(), |first, z| {
        let combined = Combined {
            p,
            x,
            y,
            panels,
            z,
            first,
        };
        simd::dispatch(combined);
    });
}

/// Some rows of a product, or some columns of its only row, from an element on.
struct Combined<'v, T> {
    p: Product,
    x: &'v [T],
    y: &'v [T],
    /// The columns of `y`, as [`thin`](super::panels::thin) copies them.
    panels: Option<&'v [T]>,
    z: &'v mut [T],
    first: usize,
}

impl<T: Real> WithSimd for Combined<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Combined {
            p,
            x,
            y,
            panels,
            z,
            first,
        } = self;
        let [rx, cx, ..] = p.steps();
        let lanes = size_of::<T::Vector<S>>() / size_of::<T>();
        let (top, left) = (first / p.n.max(1), first % p.n.max(1));
        let width = p.n.min(z.len()).max(1);
        for (i, z) in z.chunks_exact_mut(width).enumerate() {
            let x = &x[(top + i) * rx..];
            let mut at = 0;
            while at < width {
                let (y, z) = (&y[left + at..], &mut z[at..]);
                let panel = panels.map(|panels| &panels[((left + at) * p.k).min(panels.len())..]);
                at += match (z.len() / lanes, panel) {
                    (AT_ONCE.., None) => combine::<S, T, AT_ONCE>(simd, [p.k, cx, p.n], x, y, z),
                    (AT_ONCE.., Some(y)) => combine::<S, T, AT_ONCE>(simd, [p.k, cx, AT_ONCE * lanes], x, y, z),
                    (1.., None) => combine::<S, T, 1>(simd, [p.k, cx, p.n], x, y, z),
                    (1.., Some(y)) => combine::<S, T, 1>(simd, [p.k, cx, lanes], x, y, z),
                    (0, _) => {
                        z[0] = (0..p.k).fold(T::default(), |sum, l| sum + x[l * cx] * y[l * p.n]);
                        1
                    }
                };
            }
        }
    }
}

/// Sums up multiples of rows, in `N` vectors that stay in registers; how many elements these are.
#[inline(always)]
fn combine<S: Simd, T: Real, const N: usize>(
    simd: S,
    [k, step, n]: [usize; 3],
    x: &[T],
    y: &[T],
    z: &mut [T],
) -> usize {
    let width = N * size_of::<T::Vector<S>>() / size_of::<T>();
    let mut sums = [T::splat(simd, T::default()); N];
    for l in 0..k {
        let factor = T::splat(simd, x[l * step]);
        let Some(y) = T::vectors::<S>(&y[l * n..][..width]).0.first_chunk::<N>() else {
            break;
        };
        for j in 0..N {
            sums[j] = T::fused(simd, factor, y[j], sums[j]);
        }
    }
    T::vectors_mut::<S>(z).0[..N].copy_from_slice(&sums);
    width
}

/// Each element is a dot product of a row of `x` and a row of `y`, both contiguous.
pub(super) fn all_dots<T: Real>(p: Product, x: &[T], y: &[T], z: &mut [T]) {
    let k = p.k.max(1);
    let part = match p.m {
        1 => (1usize << 16).div_ceil(k).next_multiple_of(DOT_COLUMNS),
        _ => p.n * DOT_ROWS,
    };
    parallel::chunks(z, part, p.work(), |first, z| {
        let (row, column) = (first / p.n.max(1), first % p.n.max(1));
        let width = p.n.min(z.len()).max(1);
        let (x, y) = (&x[row * p.k..], &y[column * p.k..]);
        simd::dispatch(Dots { k: p.k, width, x, y, z });
    });
}

/// The rows of both matrices whose dot products are computed together.
const DOT_ROWS: usize = 4;
const DOT_COLUMNS: usize = 4;

struct Dots<'v, T> {
    k: usize,
    /// The number of elements in a row of the result.
    width: usize,
    x: &'v [T],
    y: &'v [T],
    z: &'v mut [T],
}

impl<T: Real> WithSimd for Dots<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Dots { k, width, x, y, z } = self;
        if z.len() == width && k > 0 {
            one_row::<S, T>(simd, &x[..k], y, z);
            return;
        }
        for (j, y) in y
            .chunks(DOT_COLUMNS * k.max(1))
            .take(width.div_ceil(DOT_COLUMNS))
            .enumerate()
        {
            let j = j * DOT_COLUMNS;
            for (i, z) in z.chunks_mut(DOT_ROWS * width).enumerate() {
                let x = &x[i * DOT_ROWS * k..];
                if z.len() == DOT_ROWS * width && width - j >= DOT_COLUMNS && S::REGISTER_COUNT >= 32 {
                    dots::<S, T, DOT_ROWS, DOT_COLUMNS>(simd, [k, width, j], x, y, z);
                    continue;
                }
                for (i, z) in z.chunks_exact_mut(width).enumerate() {
                    let x = &x[i * k..];
                    if width - j >= DOT_COLUMNS {
                        dots::<S, T, 1, DOT_COLUMNS>(simd, [k, width, j], x, y, z);
                    } else {
                        for j in j..width {
                            dots::<S, T, 1, 1>(simd, [k, width, j], x, &y[j % DOT_COLUMNS * k..], z);
                        }
                    }
                }
            }
        }
    }
}

/// The dot products of one row, `x`, without the loops over rows: for few terms, these take longer than the products.
#[inline(always)]
fn one_row<S: Simd, T: Real>(simd: S, x: &[T], y: &[T], z: &mut [T]) {
    let k = x.len();
    let (groups, others) = z.as_chunks_mut::<DOT_COLUMNS>();
    let (y, y_others) = y.split_at(groups.len() * DOT_COLUMNS * k);
    for (y, z) in y.chunks_exact(DOT_COLUMNS * k).zip(groups) {
        dots::<S, T, 1, DOT_COLUMNS>(simd, [k, DOT_COLUMNS, 0], x, y, z);
    }
    for (y, z) in y_others.chunks_exact(k).zip(others) {
        dots::<S, T, 1, 1>(simd, [k, 1, 0], x, y, std::slice::from_mut(z));
    }
}

/// The dot products of some rows, written from a column on. The order of the terms does not depend on their number.
#[inline(always)]
fn dots<S: Simd, T: Real, const M: usize, const N: usize>(
    simd: S,
    [k, width, column]: [usize; 3],
    x: &[T],
    y: &[T],
    z: &mut [T],
) {
    let x: [_; M] = std::array::from_fn(|at| T::vectors::<S>(&x[at * k..][..k]));
    let y: [_; N] = std::array::from_fn(|at| T::vectors::<S>(&y[at * k..][..k]));
    let sums = whole_terms::<S, T, M, N>(simd, x.map(|x| x.0), y.map(|y| y.0));
    for i in 0..M {
        for j in 0..N {
            let rest = x[i].1.iter().zip(y[j].1);
            let rest = rest.fold(T::default(), |sum, (&a, &b)| sum + a * b);
            z[i * width + column + j] = T::total(simd, sums[i][j]) + rest;
        }
    }
}

/// The sums of the products of some rows with others, of the same length, place by place.
#[inline(always)]
fn whole_terms<S: Simd, T: Real, const M: usize, const N: usize>(
    simd: S,
    x: [&[T::Vector<S>]; M],
    y: [&[T::Vector<S>]; N],
) -> [[T::Vector<S>; N]; M] {
    let mut sums = [[T::splat(simd, T::default()); N]; M];
    let length = x[0].len();
    let (x, y) = (x.map(|x| &x[..length]), y.map(|y| &y[..length]));
    for l in 0..length {
        for i in 0..M {
            for j in 0..N {
                sums[i][j] = T::fused(simd, x[i][l], y[j][l], sums[i][j]);
            }
        }
    }
    sums
}

/// The terms of long dot products that are added at once: those of some rows stay in the nearest cache.
const TERMS: usize = 1536;
/// The rows of a part.
const ROWS: usize = 16;

/// Whether products of rows with rows are added up faster where they are than from panels: copying these takes about as long as the
/// products with few of the other rows.
pub(super) fn are_long(p: Product) -> bool {
    let few = p.m.saturating_mul(p.n) <= 64 * p.m.saturating_add(p.n);
    !p.tx && p.ty && p.k >= 512 && p.m >= DOT_ROWS && few
}

/// Dot products of the rows of `x`, which are contiguous, with those that begin at `starts`; with `add`, they are added to the result.
pub(super) fn long_dots<T: Real>(p: Product, x: &[T], values: &[T], starts: &[usize], z: &mut [T], add: bool) {
    parallel::chunks(z, ROWS * p.n, p.work(), |first, z| {
        let x = &x[first / p.n.max(1) * p.k..];
        for from in (0..p.k).step_by(TERMS) {
            let terms = TERMS.min(p.k - from);
            simd::dispatch(LongDots {
                k: p.k,
                terms,
                x: &x[from..],
                y: &values[from..],
                starts,
                z: &mut *z,
                add: add || from > 0,
            });
        }
    });
}

struct LongDots<'v, T> {
    k: usize,
    terms: usize,
    x: &'v [T],
    y: &'v [T],
    starts: &'v [usize],
    z: &'v mut [T],
    add: bool,
}

impl<T: Real> WithSimd for LongDots<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let rows = self.z.len() / self.starts.len().max(1);
        for column in (0..self.starts.len()).step_by(DOT_COLUMNS) {
            let columns = DOT_COLUMNS.min(self.starts.len() - column);
            for row in (0..rows).step_by(DOT_ROWS) {
                if rows - row >= DOT_ROWS && columns == DOT_COLUMNS && S::REGISTER_COUNT >= 32 {
                    self.tile::<S, DOT_ROWS, DOT_COLUMNS>(simd, row, column);
                    continue;
                }
                for row in row..rows.min(row + DOT_ROWS) {
                    match columns {
                        DOT_COLUMNS => self.tile::<S, 1, DOT_COLUMNS>(simd, row, column),
                        _ => (column..column + columns).for_each(|at| self.tile::<S, 1, 1>(simd, row, at)),
                    }
                }
            }
        }
    }
}

impl<T: Real> LongDots<'_, T> {
    /// The products of `M` rows and `N` columns. The order of the terms does not depend on these.
    #[inline(always)]
    fn tile<S: Simd, const M: usize, const N: usize>(&mut self, simd: S, row: usize, column: usize) {
        let x: [_; M] = std::array::from_fn(|at| T::vectors::<S>(&self.x[(row + at) * self.k..][..self.terms]));
        let y: [_; N] = std::array::from_fn(|at| T::vectors::<S>(&self.y[self.starts[column + at]..][..self.terms]));
        let sums = whole_terms::<S, T, M, N>(simd, x.map(|x| x.0), y.map(|y| y.0));
        let width = self.starts.len();
        for i in 0..M {
            let rest = T::partial(simd, x[i].1);
            for j in 0..N {
                let sum = T::fused(simd, rest, T::partial(simd, y[j].1), sums[i][j]);
                let z = &mut self.z[(row + i) * width + column + j];
                let sum = T::total(simd, sum);
                *z = if self.add { *z + sum } else { sum };
            }
        }
    }
}
