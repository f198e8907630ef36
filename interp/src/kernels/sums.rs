//! Sums, pairwise and in double precision: the error grows with the logarithm of the number of elements.

use crate::simd::{self, Task};
use crate::tensor::buffer::{done, room};
use crate::tensor::{Element, Storage};

/// The number of independent sums: those of some vectors.
const LANES: usize = 16;
/// The number of elements, or of rows, that are added one after the other.
const BLOCK: usize = 256;
/// The number of columns that are added up together.
const COLUMNS: usize = 128;
/// The most levels of pairs: a sum of `n` blocks has `log2 n`.
const LEVELS: usize = 64;

/// The sum of `f` of the elements. Of none it is zero.
#[inline(always)]
pub(super) fn sum<T: Copy>(values: &[T], f: impl Fn(T) -> f64 + Copy) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    if values.len() <= BLOCK {
        return block(values, f);
    }
    let mut levels = [0.0; LEVELS];
    let mut depth = 0;
    for (count, part) in values.chunks(BLOCK).enumerate() {
        let mut sum = block(part, f);
        // As many pairs are complete as the number of blocks so far has ones at its end.
        for _ in 0..count.trailing_ones() {
            depth -= 1;
            sum += levels[depth];
        }
        levels[depth] = sum;
        depth += 1;
    }
    levels[..depth]
        .iter()
        .rev()
        .copied()
        .reduce(|sum, part| part + sum)
        .unwrap_or(0.0)
}

#[inline(always)]
fn block<T: Copy>(values: &[T], f: impl Fn(T) -> f64) -> f64 {
    // Minus zero is the neutral element of addition, also for plus zero.
    let mut lanes = [-0.0; LANES];
    let (chunks, rest) = values.as_chunks::<LANES>();
    for chunk in chunks {
        for (sum, &v) in lanes.iter_mut().zip(chunk) {
            *sum += f(v);
        }
    }
    for (sum, &v) in lanes.iter_mut().zip(rest) {
        *sum += f(v);
    }
    let mut width = LANES;
    while width > 1 {
        width /= 2;
        for at in 0..width {
            lanes[at] += lanes[at + width];
        }
    }
    lanes[0]
}

/// The sums of the elements along the middle one of three dimensions, each multiplied by a factor.
pub(super) struct Middle<'v, T: Element> {
    pub(super) values: &'v [T],
    /// The extents of the dimensions.
    pub(super) shape: [usize; 3],
    /// What each sum is divided by.
    pub(super) divisor: f64,
}

impl<T: Element> Middle<'_, T> {
    /// Computes them.
    pub(super) fn sums(self) -> Result<Storage<T>, String> {
        let [outer, n, inner] = self.shape;
        let out = room::<T>(outer * inner)?;
        let blocks = n.div_ceil(BLOCK);
        let levels = blocks.checked_ilog2().map_or(1, |l| l as usize + 2);
        let room = room::<f64>(if inner == 1 { 0 } else { levels * inner.min(COLUMNS) })?;
        let (out, room) = simd::run(Run { of: self, out, room });
        done(room);
        Ok(out)
    }
}

struct Run<'v, T: Element> {
    of: Middle<'v, T>,
    out: Storage<T>,
    room: Storage<f64>,
}

impl<T: Element> Task for Run<'_, T> {
    type Output = (Storage<T>, Storage<f64>);

    #[inline(always)]
    fn run<const FMA: bool>(self) -> Self::Output {
        let Run { of, mut out, mut room } = self;
        let [outer, n, inner] = of.shape;
        let result = |sum: f64| T::from_f64(sum / of.divisor);
        if n == 0 {
            out.resize(outer * inner, result(0.0));
        } else if inner == 0 {
            // There are no sums.
        } else if inner == 1 {
            for row in of.values.chunks_exact(n) {
                out.push(result(sum(row, T::to_f64)));
            }
        } else {
            for part in of.values.chunks_exact(n * inner) {
                for first in (0..inner).step_by(COLUMNS) {
                    let columns = COLUMNS.min(inner - first);
                    add_rows(&part[first..], n, inner, columns, &mut room);
                    out.extend(room[..columns].iter().map(|&sum| result(sum)));
                }
            }
        }
        (out, room)
    }
}

/// The sums of `columns` columns of `n` rows, at the beginning of `levels`.
#[inline(always)]
fn add_rows<T: Element>(values: &[T], n: usize, stride: usize, columns: usize, levels: &mut Vec<f64>) {
    levels.clear();
    for (count, first) in (0..n).step_by(BLOCK).enumerate() {
        let start = levels.len();
        levels.resize(start + columns, -0.0);
        for row in first..n.min(first + BLOCK) {
            let row = &values[row * stride..][..columns];
            for (sum, v) in levels[start..].iter_mut().zip(row) {
                *sum += v.to_f64();
            }
        }
        (0..count.trailing_ones()).for_each(|_| join(levels, columns));
    }
    while levels.len() > columns {
        join(levels, columns);
    }
}

/// Adds the last list of sums to the one before it.
#[inline(always)]
fn join(levels: &mut Vec<f64>, columns: usize) {
    let last = levels.len() - columns;
    let (before, behind) = levels.split_at_mut(last);
    for (sum, v) in before[last - columns..].iter_mut().zip(behind) {
        *sum += *v;
    }
    levels.truncate(last);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain<T: Element>(values: &[T]) -> f64 {
        sum(values, T::to_f64)
    }

    #[test]
    fn long_sums_are_accurate() {
        let n = 1_000_003;
        let tenths = vec![0.1f64; n];
        assert!((plain(&tenths) - 0.1 * n as f64).abs() < 1e-9);
        let small = vec![0.1f32; n];
        assert!((plain(&small) - f64::from(0.1f32) * n as f64).abs() < 1e-9);
        for n in 0..600 {
            let ints: Vec<f64> = (0..n).map(f64::from).collect();
            assert_eq!(plain(&ints), f64::from(n * (n - 1).max(0) / 2));
        }
        let columns = Middle {
            values: &tenths[..1_000_000],
            shape: [1, 250_000, 4],
            divisor: 1.0,
        };
        assert!(columns.sums().unwrap().iter().all(|sum| (sum - 25_000.0).abs() < 1e-10));
    }

    #[test]
    fn the_sign_of_zero_is_kept() {
        assert!(plain(&[-0.0f64]).is_sign_negative());
        assert!(plain(&[-0.0f64, 0.0]).is_sign_positive());
        assert!(plain::<f64>(&[]).is_sign_positive());
        let zeros = Middle {
            values: &[-0.0f64; 6],
            shape: [1, 3, 2],
            divisor: 1.0,
        };
        assert!(zeros.sums().unwrap().iter().all(|sum| sum.is_sign_negative()));
    }

    #[test]
    fn sums_along_every_axis() {
        for shape in [
            [1, 1, 1],
            [2, 3, 5],
            [3, 700, 1],
            [2, 1500, 3],
            [1, 5, 300],
            [4, 0, 3],
            [0, 2, 2],
            [2, 3, 0],
            [2, 257, 129],
        ] {
            let [outer, n, inner] = shape;
            let values: Vec<f32> = (0..outer * n * inner).map(|at| (at * 37 % 101) as f32 - 50.0).collect();
            let found = Middle {
                values: &values,
                shape,
                divisor: 2.0,
            }
            .sums()
            .unwrap();
            let wanted: Vec<f32> = (0..outer * inner)
                .map(|at| {
                    let all = (0..n).map(|k| values[(at / inner.max(1) * n + k) * inner + at % inner]);
                    all.sum::<f32>() / 2.0
                })
                .collect();
            assert_eq!(found[..], wanted, "{shape:?}");
        }
    }
}
