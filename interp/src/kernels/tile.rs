//! Tiles of products: a few rows and vectors of the result, which stay in registers while the terms are added up.

use pulp::{Simd, WithSimd};

use super::gemm::Real;
use crate::simd;

/// The most vectors in a row of a tile.
pub(super) const WIDE: usize = 3;

/// Code that computes tiles of `M` rows of `N` vectors.
pub(super) trait Tiled {
    /// The result.
    type Output;

    /// Runs it.
    fn all<S: Simd, const M: usize, const N: usize>(self, simd: S) -> Self::Output;
}

/// Runs code with tiles of so many vectors, and as many rows as there are registers for.
pub(super) fn tiled<C: Tiled>(vectors: usize, code: C) -> C::Output {
    simd::dispatch(OfVectors { vectors, code })
}

struct OfVectors<C> {
    vectors: usize,
    code: C,
}

impl<C: Tiled> WithSimd for OfVectors<C> {
    type Output = C::Output;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> C::Output {
        match (S::REGISTER_COUNT >= 32, self.vectors) {
            (true, 1) => self.code.all::<S, 8, 1>(simd),
            (true, 2) => self.code.all::<S, 8, 2>(simd),
            (true, _) => self.code.all::<S, 8, WIDE>(simd),
            (false, 1) => self.code.all::<S, 4, 1>(simd),
            (false, 2) => self.code.all::<S, 4, 2>(simd),
            (false, _) => self.code.all::<S, 4, WIDE>(simd),
        }
    }
}

/// Some rows of the left matrix.
#[derive(Clone, Copy)]
pub(super) enum TileLeft<'v, T, const M: usize> {
    /// Term by term.
    Panel(&'v [T]),
    /// Row by row, of the same length.
    Rows([&'v [T]; M]),
}

impl<T, const M: usize> TileLeft<'_, T, M> {
    /// The number of terms.
    #[inline(always)]
    fn terms(&self) -> usize {
        match self {
            TileLeft::Panel(x) => x.len() / M,
            TileLeft::Rows(x) => x[0].len(),
        }
    }
}

/// Some columns of the right matrix.
#[derive(Clone, Copy)]
pub(super) enum TileRight<'v, T> {
    /// Term by term.
    Panel(&'v [T]),
    /// Where they are: the rows are `step` numbers apart.
    Rows { values: &'v [T], step: usize },
}

/// Where the products of a tile are written.
pub(super) struct TileResult<'v, T> {
    /// Rows that are `step` numbers apart.
    pub(super) values: &'v mut [T],
    pub(super) step: usize,
    /// The first column, and how many there are.
    pub(super) column: usize,
    pub(super) there: usize,
    /// Whether the result is added to.
    pub(super) add: bool,
    /// Whether subnormal sums become zeros.
    pub(super) flush: bool,
}

impl<'v, T: Real> TileResult<'v, T> {
    /// The first columns.
    pub(super) fn first(values: &'v mut [T], step: usize, there: usize, add: bool) -> Self {
        TileResult {
            values,
            step,
            column: 0,
            there,
            add,
            flush: false,
        }
    }

    #[inline(always)]
    fn put<S: Simd, const N: usize>(&mut self, simd: S, row: usize, sums: [T::Vector<S>; N]) {
        let lanes = size_of::<T::Vector<S>>() / size_of::<T>();
        let Some(row) = self.values.get_mut(row * self.step + self.column..) else {
            return;
        };
        let Some(row) = row.get_mut(..self.there) else {
            return;
        };
        if self.there == N * lanes {
            for (z, &sum) in T::vectors_mut::<S>(row).0.iter_mut().zip(&sums) {
                let sum = if self.add { T::sum(simd, sum, *z) } else { sum };
                *z = if self.flush { T::normal(simd, sum) } else { sum };
            }
            return;
        }
        let mut edge = [T::default(); WIDE * 16];
        for (to, &sum) in T::vectors_mut::<S>(&mut edge).0.iter_mut().zip(&sums) {
            *to = sum;
        }
        for (z, &sum) in row.iter_mut().zip(&edge) {
            let sum = if self.add { sum + *z } else { sum };
            *z = if self.flush { sum.flushed(T::ON) } else { sum };
        }
    }
}

/// The terms of a tile that are added up in one turn of its loop.
const TURN: usize = 4;

/// The products of `M` numbers, of which `$value` is the one in row `$row` of term `$at`, and `N` vectors, added up for all terms:
/// for those of `$turns`, [`TURN`] at a time, and then for those of `$rest`, one by one.
///
/// Each sum is a variable: as elements of an array, the compiler keeps them in memory in the profiles where it unrolls the loops
/// over rows and vectors too late, and writes all of them in each turn. It also does so if the loop may panic.
macro_rules! summed {
    ($simd:expr, $result:expr, $turns:expr, |$x:ident, $at:ident, $row:ident| $value:expr, $rest:expr, |$one:ident| $single:expr) => {
        summed!(@ $simd, $result, $turns, $x, $at, $row, $value, $rest, $one, $single;
            0 a, 1 b, 2 c, 3 d, 4 e, 5 f, 6 g, 7 h)
    };
    (@ $simd:expr, $result:expr, $turns:expr, $x:ident, $at:ident, $row:ident, $value:expr, $rest:expr, $one:ident, $single:expr;
        $($i:literal $sum:ident),*) => {{
        const { assert!(M <= 8 && N <= WIDE && TURN == 4) }
        let none = T::splat($simd, T::default());
        $(let mut $sum = (none, none, none);)*
        for ($x, y) in $turns {
            summed!(@term $simd, $at 0, $row, $value, y[0]; $($i $sum),*);
            summed!(@term $simd, $at 1, $row, $value, y[1]; $($i $sum),*);
            summed!(@term $simd, $at 2, $row, $value, y[2]; $($i $sum),*);
            summed!(@term $simd, $at 3, $row, $value, y[3]; $($i $sum),*);
        }
        for ($one, y) in $rest {
            summed!(@term $simd, _term 0, $row, $single, y; $($i $sum),*);
        }
        let mut result = $result;
        $(if $i < M {
            let mut sums = [none; N];
            for (to, from) in sums.iter_mut().zip([$sum.0, $sum.1, $sum.2]) {
                *to = from;
            }
            result.put($simd, $i, sums);
        })*
    }};
    (@term $simd:expr, $at:ident $term:literal, $row:ident, $value:expr, $y:expr; $($i:literal $sum:ident),*) => {
        $(if $i < M {
            let ($at, $row) = ($term, $i);
            let x = T::splat($simd, $value);
            $sum.0 = T::fused($simd, x, $y[0], $sum.0);
            if N > 1 {
                $sum.1 = T::fused($simd, x, $y[1], $sum.1);
            }
            if N > 2 {
                $sum.2 = T::fused($simd, x, $y[2], $sum.2);
            }
        })*
    };
}

/// A row of `N` vectors, of several terms.
type Turn<'v, S, T, const N: usize> = [&'v [<T as Real>::Vector<S>; N]; TURN];

/// The rows of a panel, and those of the last terms.
#[inline(always)]
fn of_panel<S: Simd, T: Real, const N: usize>(
    panel: &[T],
) -> (
    impl Iterator<Item = Turn<'_, S, T, N>>,
    impl Iterator<Item = &[T::Vector<S>; N]>,
) {
    let (turns, rest) = T::vectors::<S>(panel).0.as_chunks::<N>().0.as_chunks::<TURN>();
    (turns.iter().map(|turn| turn.each_ref()), rest.iter())
}

/// The same of a matrix whose rows are `step` numbers apart.
#[inline(always)]
fn of_rows<S: Simd, T: Real, const N: usize>(
    values: &[T],
    step: usize,
    terms: usize,
) -> (
    impl Iterator<Item = Turn<'_, S, T, N>>,
    impl Iterator<Item = &[T::Vector<S>; N]>,
) {
    let row = |row| T::vectors::<S>(row).0.first_chunk::<N>();
    let turns = values.chunks(TURN * step.max(1)).map_while(move |turn| {
        let mut rows = turn.chunks(step.max(1)).map_while(row);
        Some([rows.next()?, rows.next()?, rows.next()?, rows.next()?])
    });
    let rest = values.get(terms / TURN * TURN * step..).unwrap_or_default();
    (turns, rest.chunks(step.max(1)).map_while(row))
}

/// Computes a tile.
#[inline(always)]
pub(super) fn tile<S: Simd, T: Real, const M: usize, const N: usize>(
    simd: S,
    left: TileLeft<'_, T, M>,
    right: TileRight<'_, T>,
    result: TileResult<'_, T>,
) {
    match right {
        TileRight::Panel(panel) => times(simd, left, of_panel::<S, T, N>(panel), result),
        TileRight::Rows { values, step } => times(simd, left, of_rows::<S, T, N>(values, step, left.terms()), result),
    }
}

/// Computes a tile of the rows of vectors for all turns, and of those of the last terms.
#[inline(always)]
fn times<'v, S: Simd, T: Real, const M: usize, const N: usize>(
    simd: S,
    left: TileLeft<'_, T, M>,
    (turns, rest): (
        impl Iterator<Item = Turn<'v, S, T, N>>,
        impl Iterator<Item = &'v [T::Vector<S>; N]>,
    ),
    result: TileResult<'_, T>,
) where
    T::Vector<S>: 'v,
{
    match left {
        TileLeft::Panel(x) => {
            let (x, x_rest) = x.as_chunks::<M>().0.as_chunks::<TURN>();
            let (turns, rest) = (x.iter().zip(turns), x_rest.iter().zip(rest));
            summed!(simd, result, turns, |x, at, row| x[at][row], rest, |x| x[row]);
        }
        TileLeft::Rows(x) => {
            let [count, last] = [left.terms() / TURN, left.terms() % TURN];
            let rows = x.map(|x| &x.as_chunks::<TURN>().0[..count]);
            let ends = x.map(|x| &x[count * TURN..][..last]);
            let (turns, rest) = ((0..count).zip(turns), (0..last).zip(rest));
            summed!(simd, result, turns, |l, at, row| rows[row][l][at], rest, |l| ends[row]
                [l]);
        }
    }
}
