//! The product of two matrices.
//!
//! - Large products go block by block. The blocks are copied into panels, in the order in which [`tile`] reads them: it
//!   keeps a part of the result in registers. A block of the right matrix that few rows are multiplied with is read where
//!   it is.
//! - For a vector and a matrix nothing is copied: the matrix is read once, at the speed of the memory.
//! - Rows times rows, the right matrix being transposed, are dot products of some rows at once.
//! - The panels of a matrix that does not change are kept with its elements ([`Operand::keep`]). They are added up in the same
//!   order as without, except where they replace dot products.
//!
//! The terms of an element are added in an order that does not depend on the other sizes, nor on the number of threads.

use std::ops::{Add, AddAssign, Mul, Sub};

use pulp::{Simd, WithSimd};

use super::gemm_rows::{all_dots, are_long, long_dots, rows};
use super::panels::{Cut, Operand, Right, pack_all};
use super::tile::{TileLeft, TileResult, TileRight, Tiled, tile, tiled};
use super::tiny::Scale;
use crate::exec::count_flops;
use crate::parallel;
use crate::simd;
use crate::tensor::Element;
use crate::tensor::buffer::{done, gathered, stale};
use crate::tensor::subnormal::{self, Flush};

/// The sizes of a matrix product, and which operands are transposed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Product {
    pub(super) m: usize,
    pub(super) k: usize,
    pub(super) n: usize,
    pub(super) tx: bool,
    pub(super) ty: bool,
}

/// The size up to which products are computed without vectors.
const SMALL: usize = 8 * 8 * 8;
/// The number of rows up to which the right matrix is multiplied row by row.
const THIN: usize = 2;
/// The number of terms up to which the result takes longer than the products.
const SHALLOW: usize = 2;
/// The number of terms from which on products of rows are dot products, up to half as many rows.
const DOTS: usize = 64;
/// The number of rows up to which they are if the panels of the right matrix are kept.
const FEW: usize = 6;
/// The number of rows from which on columns that begin at any place are copied, rather than read as parts of long dot products.
const MANY_ROWS: usize = 32;
/// The vectors of a row that are computed at once for few rows.
pub(super) const AT_ONCE: usize = 8;
/// The rows of the left matrix in a block.
const ROWS: usize = 96;
/// The rows of a left matrix up to which, where it is transposed, all of them are copied for a block.
const AT_ONCE_LEFT: usize = 1024;

impl Product {
    /// The row and column strides of the operands.
    pub(super) fn steps(self) -> [usize; 4] {
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

    /// About how many nanoseconds it takes.
    pub(super) fn work(self) -> usize {
        self.m.saturating_mul(self.k).saturating_mul(self.n) / 16
    }
}

/// Element types of matrix products.
pub(super) trait Real:
    Scale + Flush + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + AddAssign
{
    /// As many as a register holds.
    type Vector<S: Simd>: Copy;
    /// The same number in all places.
    fn splat<S: Simd>(simd: S, value: Self) -> Self::Vector<S>;
    /// `a * b + c`.
    fn fused<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>, c: Self::Vector<S>) -> Self::Vector<S>;
    /// The sum of two vectors.
    fn sum<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    /// Zeros of the same signs for subnormal numbers.
    fn normal<S: Simd>(simd: S, a: Self::Vector<S>) -> Self::Vector<S>;
    /// The sum of the numbers in a vector.
    fn total<S: Simd>(simd: S, a: Self::Vector<S>) -> Self;
    /// Numbers as vectors, and the remaining ones.
    fn vectors<S: Simd>(values: &[Self]) -> (&[Self::Vector<S>], &[Self]);
    /// Fewer numbers than a register holds, and zeros.
    fn partial<S: Simd>(simd: S, values: &[Self]) -> Self::Vector<S>;
    /// Writes the first numbers of a vector, as many as there is room for.
    fn put<S: Simd>(simd: S, values: &mut [Self], vector: Self::Vector<S>);
    /// Numbers as vectors for writing, and the remaining ones.
    fn vectors_mut<S: Simd>(values: &mut [Self]) -> (&mut [Self::Vector<S>], &mut [Self]);

    /// The product of two matrices, written over `z`.
    ///
    /// # Errors
    /// If there is no memory for the blocks.
    fn gemm(p: Product, x: &[Self], y: &[Self], z: &mut [Self]) -> Result<(), String> {
        Self::product(p, x.into(), y.into(), z, false)
    }

    /// The same of operands whose panels may be kept. With `flush`, subnormal results become zeros.
    ///
    /// # Errors
    /// If there is no memory for the blocks.
    fn product(
        p: Product,
        x: Operand<'_, Self>,
        y: Operand<'_, Self>,
        z: &mut [Self],
        flush: bool,
    ) -> Result<(), String> {
        if p.n == 1 && p.m > 1 {
            // A column is a transposed row.
            return Self::product(p.turned(), y, x, z, flush);
        }
        // A matrix with one row or column is equal to its transpose in memory.
        let p = Product {
            tx: p.tx && p.m > 1 && p.k > 1,
            ty: p.ty && p.n > 1 && p.k > 1,
            ..p
        };
        if !p.tx
            && p.m <= DOTS
            && p.n >= DOTS
            && let Some([up, down]) = Self::scale(x.values)
        {
            let scaled = gathered(x.values.iter().map(|&x| x * up))?;
            Self::product(p, Operand::from(&scaled[..]), y, z, false)?;
            // What is too large now may not be so as it was.
            if Self::are_finite(z) {
                z.iter_mut().for_each(|z| *z = *z * down);
                if flush {
                    subnormal::flush(z);
                }
                return Ok(());
            }
        }
        count_flops(2 * p.m * p.k * p.n);
        let small = p.m.saturating_mul(p.k).saturating_mul(p.n) <= SMALL;
        let most = if y.has_panels() { FEW } else { DOTS / 2 };
        let dots = p.m <= THIN || p.m <= most && p.k >= DOTS;
        match (p.tx, p.ty) {
            (_, false) if small || p.k <= SHALLOW => rows(p, x.values, y.values, None, z),
            (_, false) if p.m <= THIN => rows(p, x.values, y.values, y.thin_panels(p), z),
            (false, true) if small || dots => all_dots(p, x.values, y.values, z),
            (false, true) if are_long(p) && x.is_alone() && y.is_alone() => {
                let starts: Vec<usize> = (0..p.n).map(|column| column * p.k).collect();
                long_dots(p, x.values, y.values, &starts, z, false);
            }
            (true, true) if small => whole_rows(p, x.values, y.values, z, |sum, a, b| sum + a * b),
            _ => {
                let right = y.panels(p).map_or(Right::Matrix(y.values), Right::Kept);
                return blocks(p, x, &right, z, [false, flush]);
            }
        }
        if flush {
            subnormal::flush(z);
        }
        Ok(())
    }
}

macro_rules! real {
    ($float:ident, $vectors:ident, $splat:ident, $fused:ident, $add:ident, $and:ident, $select:ident, $less:ident, $abs:ident, $total:ident, $from:ident, $from_mut:ident, $partial:ident, $put:ident) => {
        impl Real for $float {
            type Vector<S: Simd> = S::$vectors;

            #[inline(always)]
            fn splat<S: Simd>(simd: S, value: Self) -> S::$vectors {
                simd.$splat(value)
            }

            #[inline(always)]
            fn fused<S: Simd>(simd: S, a: S::$vectors, b: S::$vectors, c: S::$vectors) -> S::$vectors {
                simd.$fused(a, b, c)
            }

            #[inline(always)]
            fn sum<S: Simd>(simd: S, a: S::$vectors, b: S::$vectors) -> S::$vectors {
                simd.$add(a, b)
            }

            #[inline(always)]
            fn normal<S: Simd>(simd: S, a: S::$vectors) -> S::$vectors {
                let least = simd.$splat($float::MIN_POSITIVE);
                let sign = simd.$and(a, simd.$splat(-0.0));
                simd.$select(simd.$less(simd.$abs(a), least), sign, a)
            }

            #[inline(always)]
            fn total<S: Simd>(simd: S, a: S::$vectors) -> Self {
                simd.$total(a)
            }

            #[inline(always)]
            fn vectors<S: Simd>(values: &[Self]) -> (&[S::$vectors], &[Self]) {
                S::$from(values)
            }

            #[inline(always)]
            fn partial<S: Simd>(simd: S, values: &[Self]) -> S::$vectors {
                simd.$partial(values)
            }

            #[inline(always)]
            fn put<S: Simd>(simd: S, values: &mut [Self], vector: S::$vectors) {
                simd.$put(values, vector);
            }

            #[inline(always)]
            fn vectors_mut<S: Simd>(values: &mut [Self]) -> (&mut [S::$vectors], &mut [Self]) {
                S::$from_mut(values)
            }
        }
    };
}

real!(
    f32,
    f32s,
    splat_f32s,
    mul_add_e_f32s,
    add_f32s,
    and_f32s,
    select_f32s,
    less_than_f32s,
    abs_f32s,
    reduce_sum_f32s,
    as_simd_f32s,
    as_mut_simd_f32s,
    partial_load_f32s,
    partial_store_f32s
);
real!(
    f64,
    f64s,
    splat_f64s,
    mul_add_e_f64s,
    add_f64s,
    and_f64s,
    select_f64s,
    less_than_f64s,
    abs_f64s,
    reduce_sum_f64s,
    as_simd_f64s,
    as_mut_simd_f64s,
    partial_load_f64s,
    partial_store_f64s
);

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
pub(super) fn whole(p: Product, x: &[i64], y: &[i64], z: &mut [i64]) -> Result<(), String> {
    whole_rows(p, x, y, z, |sum, a, b| sum.wrapping_add(a.wrapping_mul(b)));
    Ok(())
}

/// The rows of a tile, and the numbers in a vector.
pub(super) fn registers<T: Real>() -> [usize; 2] {
    simd::dispatch(Registers::<T>(std::marker::PhantomData))
}

struct Registers<T>(std::marker::PhantomData<T>);

impl<T: Real> WithSimd for Registers<T> {
    type Output = [usize; 2];

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> [usize; 2] {
        let rows = if S::REGISTER_COUNT >= 32 { 8 } else { 4 };
        [rows, size_of::<T::Vector<S>>() / size_of::<T>()]
    }
}

/// The product with a right matrix of any layout; with `add`, it is added to the result.
///
/// # Errors
/// If there is no memory for the blocks.
pub(super) fn with_right<T: Real>(p: Product, x: &[T], y: &Right<'_, T>, z: &mut [T], add: bool) -> Result<(), String> {
    count_flops(2 * p.m * p.k * p.n);
    if let Right::Columns { values, starts } = *y
        && are_long(p)
        && p.m < MANY_ROWS
    {
        long_dots(p, x, values, starts, z, add);
        return Ok(());
    }
    blocks(p, x.into(), y, z, [add, false])
}

/// Block by block: whether they are added to what is there, and whether subnormal results become zeros.
fn blocks<T: Real>(
    p: Product,
    x: Operand<'_, T>,
    y: &Right<'_, T>,
    z: &mut [T],
    [add, flush]: [bool; 2],
) -> Result<(), String> {
    let Cut {
        height,
        vectors,
        width,
        depth,
        count,
    } = Cut::of::<T>(p);
    let few = !p.ty && p.m <= 2 * height;
    let (in_place, direct) = match *y {
        Right::Matrix(y) if few => (true, y),
        _ => (false, &[][..]),
    };
    let room = match y {
        Right::Kept(_) => 0,
        _ if in_place => width,
        _ => count,
    };
    let mut panels = stale::<T>(depth * room)?;
    let kept_left = x.left_panels(p);
    let x = x.values;
    let step = if in_place { p.n.max(1) } else { count };
    // Columns of the left matrix are read faster the more of them are read at once.
    let at_once = p.tx && kept_left.is_none() && p.m <= AT_ONCE_LEFT;
    let padded_left = p.m.next_multiple_of(height);
    let mut left_panels = stale::<T>(if at_once { depth * padded_left } else { 0 })?;
    let [rx, cx, ry, _] = p.steps();
    // Few rows are shared between threads too: an even number of parts of about the same size.
    let parts = p.m.div_ceil(ROWS).max(1).next_multiple_of(2);
    let rows = p.m.div_ceil(parts).next_multiple_of(height);
    let [across, down] = [p.n.div_ceil(step), p.k.div_ceil(depth)];
    for at in 0..across * down {
        let (column, from) = if at_once {
            (at % across, at / across)
        } else {
            (at / down, at % down)
        };
        let (column, from) = (column * step, from * depth);
        let columns = step.min(p.n - column);
        let terms = depth.min(p.k - from);
        if at_once && column == 0 {
            let part = p.m.div_ceil(2).next_multiple_of(height) * terms;
            let panels = &mut left_panels[..padded_left * terms];
            parallel::chunks(panels, part, p.m * terms, |first, panels| {
                let first = first / terms;
                let there = &x[first * rx + from * cx..];
                pack_all(panels, height, [terms, p.m - first], there, [cx, rx]);
            });
        }
        let left_block = match kept_left {
            Some(all) => Some(&all[from * padded_left..]),
            None => at_once.then_some(&left_panels[..]),
        };
        let whole = if in_place { columns / width * width } else { 0 };
        let work = terms * (columns - whole);
        let padded = (columns - whole).next_multiple_of(width);
        let packed = match *y {
            Right::Kept(all) => &all[column * p.k + from * padded..][..terms * padded],
            _ => {
                let packed = &mut panels[..terms * padded];
                parallel::chunks(packed, terms * width, work, |first, panel| {
                    let first = whole + first / terms.max(1);
                    let there = width.min(columns - first);
                    y.pack(p, panel, width, [from, terms], [column + first, there]);
                });
                &*packed
            }
        };
        parallel::try_chunks(z, rows * p.n, p.work(), |first, z| {
            let first = first / p.n;
            let size = (z.len() / p.n).next_multiple_of(height) * terms;
            let mut own = stale::<T>(if p.tx && left_block.is_none() { size } else { 0 })?;
            let there = &x[first * rx + from * cx..];
            let left = match left_block {
                Some(all) => Left::Panels(&all[first * terms..][..size]),
                None if p.tx => {
                    pack_all(&mut own, height, [terms, p.m - first], there, [cx, rx]);
                    Left::Panels(&own)
                }
                None => Left::Rows {
                    values: there,
                    step: rx,
                },
            };
            let block = Block {
                n: p.n,
                column,
                columns,
                terms,
                whole,
                add: add || from > 0,
                flush: flush && from + terms == p.k,
            };
            let tiles = Tiles {
                block,
                x: left,
                y: &direct[(from * ry).min(direct.len())..],
                packed,
                z,
            };
            tiled(vectors, tiles);
            done(own);
            Ok(())
        })?;
    }
    done(panels);
    done(left_panels);
    Ok(())
}

/// The extents of a block of columns of the result.
#[derive(Clone, Copy)]
struct Block {
    /// The columns of the result.
    n: usize,
    column: usize,
    columns: usize,
    terms: usize,
    /// The number of columns that are not copied to panels.
    whole: usize,
    /// Whether the result is added to.
    add: bool,
    /// Whether subnormal sums become zeros.
    flush: bool,
}

/// Rows of the left matrix, for the terms of a block.
enum Left<'v, T> {
    /// Copied to panels.
    Panels(&'v [T]),
    /// Where they are, so many numbers apart: a tile reads a few of them at once, each from the beginning to the end.
    Rows { values: &'v [T], step: usize },
}

struct Tiles<'v, T> {
    block: Block,
    x: Left<'v, T>,
    /// The right matrix, from the first term on.
    y: &'v [T],
    /// Panels of the right matrix.
    packed: &'v [T],
    /// Rows of the result.
    z: &'v mut [T],
}

impl<T: Real> Tiled for Tiles<'_, T> {
    type Output = ();

    #[inline(always)]
    fn all<S: Simd, const M: usize, const N: usize>(self, simd: S) {
        let Tiles { block, x, y, packed, z } = self;
        let width = N * size_of::<T::Vector<S>>() / size_of::<T>();
        for first in (0..block.columns).step_by(width) {
            let right = match first < block.whole {
                true => TileRight::Rows {
                    values: &y[block.column + first..],
                    step: block.n,
                },
                false => TileRight::Panel(&packed[(first - block.whole) * block.terms..][..block.terms * width]),
            };
            let there = width.min(block.columns - first);
            for (at, z) in z.chunks_mut(M * block.n).enumerate() {
                let left = match x {
                    Left::Panels(x) => TileLeft::Panel(&x[at * M * block.terms..][..M * block.terms]),
                    Left::Rows { values, step } => {
                        let mut rows = [&[][..]; M];
                        for (i, row) in rows.iter_mut().enumerate() {
                            // What a row that is not there gives is not stored.
                            let number = at * M + i.min(z.len() / block.n - 1);
                            *row = &values[number * step..][..block.terms];
                        }
                        TileLeft::Rows(rows)
                    }
                };
                let result = TileResult {
                    values: z,
                    step: block.n,
                    column: block.column + first,
                    there,
                    add: block.add,
                    flush: block.flush,
                };
                tile::<S, T, M, N>(simd, left, right, result);
            }
        }
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
            T::gemm(p, &x, &y, &mut z).unwrap();
            whole_rows(p, &x, &y, &mut expected, |sum, a, b| sum + a * b);
            for (z, e) in z.iter().zip(&expected) {
                assert!((z.to_f64() - e.to_f64()).abs() <= tolerance, "{p:?}");
            }
        }
        let sizes = [1, 2, 3, 4, 5, 8, 9, 17, 33, 70];
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

    /// Subnormal results are replaced in every way of computing them, and nothing else changes.
    #[test]
    fn subnormal_results_become_zeros() {
        let sizes = [
            (1, 70, 40),
            (2, 2, 300),
            (7, 9, 17),
            (8, 64, 48),
            (40, 300, 70),
            (5, 600, 9),
            (20, 30, 600),
        ];
        for (m, k, n) in sizes {
            for (tx, ty) in [(false, false), (false, true), (true, false), (true, true)] {
                let p = Product { m, k, n, tx, ty };
                // Sums of about the size of the smallest normal number.
                let number = |at: usize| {
                    let mixed = (at as u32 ^ 0x5bd1_e995).wrapping_mul(747_796_405);
                    (mixed ^ mixed >> 15).wrapping_mul(2_246_822_519) as i32 as f32 / 2f32.powi(31)
                };
                let x: Vec<f32> = (0..m * k).map(|at| number(at) * 1e-19).collect();
                let scale = 3e-19 / (k as f32).sqrt();
                let y: Vec<f32> = (0..k * n).map(|at| number(at + m * k) * scale).collect();
                let (mut z, mut expected) = (vec![f32::NAN; m * n], vec![f32::NAN; m * n]);
                f32::product(p, (&x[..]).into(), (&y[..]).into(), &mut z, true).unwrap();
                f32::gemm(p, &x, &y, &mut expected).unwrap();
                assert!(expected.iter().any(|e| e.is_small()), "{p:?}");
                assert!(expected.iter().any(|e| e.is_normal()), "{p:?}");
                let expected = expected.iter().map(|e| if e.is_small() { e.zero() } else { *e });
                assert!(z.iter().zip(expected).all(|(z, e)| z.to_bits() == e.to_bits()), "{p:?}");
            }
        }
    }

    /// Sizes of several blocks, in every layout.
    #[test]
    fn blocks_join() {
        for (m, k, n) in [
            (130, 300, 500),
            (16, 600, 100),
            (20, 70, 1000),
            (9, 257, 49),
            (3, 300, 481),
            (37, 2000, 50),
            (6, 3301, 7),
        ] {
            for (tx, ty) in [(false, false), (false, true), (true, false), (true, true)] {
                let p = Product { m, k, n, tx, ty };
                // Sums of these are exact.
                let number = |seed: usize| move |at: usize| ((at * 7 + seed) % 23) as f32 - 11.0;
                let x: Vec<f32> = (0..m * k).map(number(3)).collect();
                let y: Vec<f32> = (0..k * n).map(number(11)).collect();
                let (mut z, mut expected) = (vec![f32::NAN; m * n], vec![0.0; m * n]);
                f32::gemm(p, &x, &y, &mut z).unwrap();
                whole_rows(p, &x, &y, &mut expected, |sum, a, b| sum + a * b);
                assert_eq!(z, expected, "{p:?}");
            }
        }
    }
}
