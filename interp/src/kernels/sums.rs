//! Sums, pairwise and in double precision: the error grows with the logarithm of the number of elements.

use super::math::fused;
use crate::parallel;
use crate::simd::{self, Task};
use crate::tensor::buffer::{done, filled, room};
use crate::tensor::{Element, Storage};

/// The number of independent sums: those of some vectors.
const LANES: usize = 16;
/// The number of elements, or of rows, that are added one after the other.
const BLOCK: usize = 256;
/// The number of elements that a thread adds up at once.
const PART: usize = 1 << 14;
/// The number of columns that are added up together.
const COLUMNS: usize = 512;
/// The number of rows whose columns are summed together.
const ROWS: usize = 4;
/// The most levels of pairs: a sum of `n` blocks has `log2 n`.
const LEVELS: usize = 64;

/// The sum of `f` of the elements. Of none it is zero.
#[inline(always)]
pub(super) fn sum<T: Copy>(values: &[T], f: impl Fn(T) -> f64 + Copy) -> f64 {
    match values.is_empty() {
        true => 0.0,
        false => pairwise(values, Sum(f))[0],
    }
}

/// Sums of a block of elements. It is not a closure, which might be left out of line, where it is not compiled for the
/// instruction set.
trait Sums<T, const N: usize>: Copy {
    fn of(self, block: &[T]) -> [f64; N];
}

/// The sum of a function.
#[derive(Clone, Copy)]
struct Sum<F>(F);

impl<T: Copy, F: Fn(T) -> f64 + Copy> Sums<T, 1> for Sum<F> {
    #[inline(always)]
    fn of(self, block: &[T]) -> [f64; 1] {
        let Sum(f) = self;
        // Minus zero is the neutral element of addition, also for plus zero.
        let mut lanes = [-0.0; LANES];
        let (chunks, rest) = block.as_chunks::<LANES>();
        for chunk in chunks {
            for (sum, &v) in lanes.iter_mut().zip(chunk) {
                *sum += f(v);
            }
        }
        for (sum, &v) in lanes.iter_mut().zip(rest) {
            *sum += f(v);
        }
        [sum_of_lanes(lanes)]
    }
}

/// The sum of the differences from a number, and that of their squares.
#[derive(Clone, Copy)]
struct Differences<const FMA: bool>(f64);

impl<T: Element, const FMA: bool> Sums<T, 2> for Differences<FMA> {
    #[inline(always)]
    fn of(self, block: &[T]) -> [f64; 2] {
        // As many as stay in registers.
        const LANES: usize = 32;
        let Differences(from) = self;
        let mut lanes = [[0.0; LANES]; 2];
        let (chunks, rest) = block.as_chunks::<LANES>();
        let mut add = |at: usize, v: T| {
            let d = v.to_f64() - from;
            lanes[0][at] += d;
            lanes[1][at] = fused::<FMA>(d, d, lanes[1][at]);
        };
        for chunk in chunks {
            (0..LANES).for_each(|at| add(at, chunk[at]));
        }
        rest.iter().enumerate().for_each(|(at, &v)| add(at, v));
        [sum_of_lanes(lanes[0]), sum_of_lanes(lanes[1])]
    }
}

/// Adds the sums of blocks of elements, pair by pair.
#[inline(always)]
fn pairwise<T, const N: usize>(values: &[T], sums: impl Sums<T, N>) -> [f64; N] {
    if values.len() <= BLOCK {
        return sums.of(values);
    }
    let add = |a: [f64; N], b: [f64; N]| std::array::from_fn(|at| a[at] + b[at]);
    let mut levels = [[0.0; N]; LEVELS];
    let mut depth = 0;
    for (count, part) in values.chunks(BLOCK).enumerate() {
        let mut own = sums.of(part);
        // As many pairs are complete as the number of blocks so far has ones at its end.
        for _ in 0..count.trailing_ones() {
            depth -= 1;
            own = add(own, levels[depth]);
        }
        levels[depth] = own;
        depth += 1;
    }
    let all = levels[..depth].iter().rev().copied();
    all.reduce(|later, earlier| add(earlier, later)).unwrap_or([0.0; N])
}

/// What is made of lanes, a power of two, pair by pair: they do not wait for each other.
#[inline(always)]
pub(super) fn folded<T: Copy, const N: usize>(mut lanes: [T; N], f: impl Fn(T, T) -> T) -> T {
    let mut width = N;
    while width > 1 {
        width /= 2;
        for at in 0..width {
            lanes[at] = f(lanes[at], lanes[at + width]);
        }
    }
    lanes[0]
}

/// The sum of independent sums, a power of two.
#[inline(always)]
fn sum_of_lanes<const N: usize>(lanes: [f64; N]) -> f64 {
    folded(lanes, |a, b| a + b)
}

/// The sum of the differences from a number, and that of their squares, in one pass.
#[inline(always)]
pub(super) fn differences<T: Element, const FMA: bool>(values: &[T], from: f64) -> [f64; 2] {
    pairwise(values, Differences::<FMA>(from))
}

/// The sum of numbers in single precision: four are added as they are, and their sums as those of [`sum`]. Each has an
/// error of two roundings at most.
#[inline(always)]
pub(super) fn sum_of_singles(values: &[f32]) -> f64 {
    const WIDTH: usize = 4 * LANES;
    if values.is_empty() {
        return 0.0;
    }
    // Minus zero is the neutral element.
    let mut total = -0.0;
    for block in values.chunks(LANES * BLOCK) {
        let mut lanes = [-0.0f64; LANES];
        let (chunks, rest) = block.as_chunks::<WIDTH>();
        for chunk in chunks {
            for (at, sum) in lanes.iter_mut().enumerate() {
                let four = (chunk[at] + chunk[at + LANES]) + (chunk[at + 2 * LANES] + chunk[at + 3 * LANES]);
                *sum += f64::from(four);
            }
        }
        for rest in rest.chunks(LANES) {
            for (sum, &v) in lanes.iter_mut().zip(rest) {
                *sum += f64::from(v);
            }
        }
        total += sum_of_lanes(lanes);
    }
    // Sums of four may be infinite although all together are not.
    if total.is_finite() {
        total
    } else {
        sum(values, f64::from)
    }
}

/// The sum of the differences from a number and that of their squares, of numbers in single precision; four are added as they are. Each
/// difference, and each sum of four, has an error of a few roundings. Squares may overflow, or be zero.
#[inline(always)]
pub(super) fn differences_of_singles(values: &[f32], from: f32) -> [f64; 2] {
    const WIDTH: usize = 4 * LANES;
    let (mut sums, mut squares) = ([0.0f64; LANES], [0.0f64; LANES]);
    let (chunks, rest) = values.as_chunks::<WIDTH>();
    for chunk in chunks {
        for (at, (sum, square)) in sums.iter_mut().zip(&mut squares).enumerate() {
            let a = chunk[at] - from;
            let b = chunk[at + LANES] - from;
            let c = chunk[at + 2 * LANES] - from;
            let d = chunk[at + 3 * LANES] - from;
            *sum += f64::from((a + b) + (c + d));
            *square += f64::from(d.mul_add(d, c * c) + b.mul_add(b, a * a));
        }
    }
    for rest in rest.chunks(LANES) {
        for ((sum, square), &v) in sums.iter_mut().zip(&mut squares).zip(rest) {
            let d = f64::from(v - from);
            *sum += d;
            *square += d * d;
        }
    }
    [sum_of_lanes(sums), sum_of_lanes(squares)]
}

/// The sum of the numbers `g`, and that of their products with what becomes of `x` with this mean and factor; in single precision but
/// for the sums of four, as those of [`differences_of_singles`].
#[inline(always)]
pub(super) fn products_of_singles(g: &[f32], x: &[f32], [mean, factor]: [f32; 2]) -> [f64; 2] {
    const WIDTH: usize = 4 * LANES;
    let normal = |x: f32| (x - mean) * factor;
    let (mut sums, mut products) = ([0.0f64; LANES], [0.0f64; LANES]);
    let ((g, g_rest), (x, x_rest)) = (g.as_chunks::<WIDTH>(), x.as_chunks::<WIDTH>());
    for (g, x) in g.iter().zip(x) {
        for (at, (sum, product)) in sums.iter_mut().zip(&mut products).enumerate() {
            let part = |number: usize| (g[at + number * LANES], normal(x[at + number * LANES]));
            let [(a, p), (b, q), (c, r), (d, s)] = [part(0), part(1), part(2), part(3)];
            *sum += f64::from((a + b) + (c + d));
            *product += f64::from(d.mul_add(s, c * r) + b.mul_add(q, a * p));
        }
    }
    for (g, x) in g_rest.chunks(LANES).zip(x_rest.chunks(LANES)) {
        for ((sum, product), (&g, &x)) in sums.iter_mut().zip(&mut products).zip(g.iter().zip(x)) {
            *sum += f64::from(g);
            *product += f64::from(g) * f64::from(normal(x));
        }
    }
    [sum_of_lanes(sums), sum_of_lanes(products)]
}

/// The same in double precision.
#[inline(always)]
pub(super) fn products<T: Element, const FMA: bool>(g: &[T], x: &[T], [mean, factor]: [f64; 2]) -> [f64; 2] {
    let (mut sums, mut products) = ([0.0f64; LANES], [0.0f64; LANES]);
    for (g, x) in g.chunks(LANES).zip(x.chunks(LANES)) {
        for ((sum, product), (g, x)) in sums.iter_mut().zip(&mut products).zip(g.iter().zip(x)) {
            let g = g.to_f64();
            *sum += g;
            *product = fused::<FMA>(g, (x.to_f64() - mean) * factor, *product);
        }
    }
    [sum_of_lanes(sums), sum_of_lanes(products)]
}

/// The sums of rows of numbers in single precision, each divided by a number.
pub(super) fn rows_of_singles(values: &[f32], [count, n]: [usize; 2], divisor: f64) -> Result<Storage<f32>, String> {
    let mut out = filled(count, 0.0)?;
    parallel::chunks(&mut out, PART.div_ceil(n.max(1)), values.len() / 4, |first, out| {
        let values = &values[first * n..][..out.len() * n];
        simd::run(Singles {
            values,
            n,
            out,
            divisor,
        });
    });
    Ok(out)
}

/// The sum of all numbers, divided by a number.
pub(super) fn total(values: &[f32], divisor: f64) -> f32 {
    let mut out = [0.0];
    simd::run(Singles {
        values,
        n: values.len(),
        out: &mut out,
        divisor,
    });
    out[0]
}

struct Singles<'v> {
    values: &'v [f32],
    n: usize,
    out: &'v mut [f32],
    divisor: f64,
}

impl Task for Singles<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        for (at, out) in self.out.iter_mut().enumerate() {
            *out = (sum_of_singles(&self.values[at * self.n..][..self.n]) / self.divisor) as f32;
        }
    }
}

/// The sums of the elements along the middle one of three dimensions, each multiplied by a factor.
pub(super) struct Middle<'v, T: Element> {
    pub(super) values: &'v [T],
    /// The extents of the dimensions.
    pub(super) shape: [usize; 3],
    /// The divisor of each sum.
    pub(super) divisor: f64,
}

/// What is added of the elements and their places in the last dimension.
pub(super) trait Term<T>: Copy + Sync {
    /// That of one element.
    fn one(self, v: T, at: usize) -> f64;

    /// The sum for four elements of the same place.
    #[inline(always)]
    fn four(self, [a, b, c, d]: [T; 4], at: usize) -> f64 {
        (self.one(a, at) + self.one(b, at)) + (self.one(c, at) + self.one(d, at))
    }
}

impl<T: Element, F: Fn(f64, usize) -> f64 + Copy + Sync> Term<T> for F {
    #[inline(always)]
    fn one(self, v: T, at: usize) -> f64 {
        self(v.to_f64(), at)
    }
}

/// Numbers in single precision, of which four are added as they are, as in [`sum_of_singles`].
#[derive(Clone, Copy)]
struct Singles4;

impl Term<f32> for Singles4 {
    #[inline(always)]
    fn one(self, v: f32, _: usize) -> f64 {
        v.into()
    }

    #[inline(always)]
    fn four(self, [a, b, c, d]: [f32; 4], _: usize) -> f64 {
        ((a + b) + (c + d)).into()
    }
}

impl Middle<'_, f32> {
    /// Computes them from sums of four in single precision. Each has an error of two roundings at most.
    pub(super) fn sums_of_singles(self) -> Result<Storage<f32>, String> {
        let sums: Storage<f32> = self.sums_of(Singles4)?;
        // Sums of four may be infinite although all together are not.
        if sums.iter().fold(true, |all, sum| all & sum.is_finite()) {
            return Ok(sums);
        }
        self.sums()
    }
}

impl<T: Element> Middle<'_, T> {
    /// Computes them.
    pub(super) fn sums(&self) -> Result<Storage<T>, String> {
        self.sums_of(|v, _| v)
    }

    /// The sums of a term.
    pub(super) fn sums_of<U: Element>(&self, f: impl Term<T>) -> Result<Storage<U>, String> {
        let [outer, n, inner] = self.shape;
        let mut out = filled(outer * inner, U::default())?;
        let (of, work, size) = (self, self.values.len() / 4, PART.div_ceil(n.max(1)));
        if inner == 1 {
            parallel::chunks(&mut out, size, work, |first, out| simd::run(Rows { of, first, out, f }));
            return Ok(out);
        }
        let columns = COLUMNS.min(inner);
        let levels = n.div_ceil(BLOCK).checked_ilog2().map_or(0, |l| l as usize + 2);
        parallel::chunks(&mut out, size.max(columns), work, |first, out| {
            // The sums of some columns and blocks of rows; others may follow.
            let room = room::<f64>(levels * columns).unwrap_or_default();
            done(simd::run(Columns {
                of,
                first,
                out,
                room,
                f,
            }));
        });
        Ok(out)
    }
}

/// The sums of rows, from a first one on.
struct Rows<'v, T: Element, U, F> {
    of: &'v Middle<'v, T>,
    first: usize,
    out: &'v mut [U],
    f: F,
}

impl<T: Element, U: Element, F: Term<T>> Task for Rows<'_, T, U, F> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let Rows { of, first, out, f } = self;
        let n = of.shape[1];
        for (at, out) in out.iter_mut().enumerate() {
            let row = &of.values[(first + at) * n..][..n];
            *out = U::from_f64(sum(row, |v: T| f.one(v, 0)) / of.divisor);
        }
    }
}

/// The sums of columns, from a first one on.
struct Columns<'v, T: Element, U, F> {
    of: &'v Middle<'v, T>,
    first: usize,
    out: &'v mut [U],
    room: Storage<f64>,
    f: F,
}

impl<T: Element, U: Element, F: Term<T>> Task for Columns<'_, T, U, F> {
    type Output = Storage<f64>;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> Storage<f64> {
        let Columns {
            of,
            first,
            mut out,
            mut room,
            f,
        } = self;
        let [_, n, inner] = of.shape;
        let mut at = first;
        while !out.is_empty() {
            let (outer, first) = (at / inner, at % inner);
            let columns = COLUMNS.min(inner - first).min(out.len());
            let (part, rest) = out.split_at_mut(columns);
            (out, at) = (rest, at + columns);
            add_rows(
                &of.values[outer * n * inner..],
                [n, inner, first, columns],
                &mut room,
                f,
            );
            for (out, &sum) in part.iter_mut().zip(&room[..]) {
                *out = U::from_f64(sum / of.divisor);
            }
        }
        room
    }
}

/// The sums of `columns` columns of `n` rows, from the column `first` on, at the beginning of `levels`.
#[inline(always)]
fn add_rows<T: Element>(values: &[T], [n, stride, first, columns]: [usize; 4], levels: &mut Vec<f64>, f: impl Term<T>) {
    levels.clear();
    if n == 0 {
        levels.resize(columns, 0.0);
    }
    for (count, top) in (0..n).step_by(BLOCK).enumerate() {
        let start = levels.len();
        levels.resize(start + columns, -0.0);
        let bottom = n.min(top + BLOCK);
        let row = |row: usize| &values[row * stride + first..][..columns];
        let whole = bottom - (bottom - top) % ROWS;
        let sums = &mut levels[start..][..columns];
        for at in (top..whole).step_by(ROWS) {
            // The sums are read and written once for several rows.
            let [a, b, c, d] = [row(at), row(at + 1), row(at + 2), row(at + 3)];
            for (at, sum) in sums.iter_mut().enumerate() {
                *sum += f.four([a[at], b[at], c[at], d[at]], first + at);
            }
        }
        for at in whole..bottom {
            for (at, (sum, v)) in sums.iter_mut().zip(row(at)).enumerate() {
                *sum += f.one(*v, first + at);
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
    fn sums_in_single_precision() {
        for n in [0, 1, 5, 63, 64, 65, 200, 5000, 10_007] {
            let values: Vec<f32> = (0..n).map(|at| ((at * 37 % 1009) as f32 - 400.0) / 3.0).collect();
            let (found, wanted) = (sum_of_singles(&values), sum(&values, f64::from));
            let size = sum(&values, |v| f64::from(v).abs());
            assert!((found - wanted).abs() <= 1.2e-7 * size, "{n}: {found} for {wanted}");
        }
        assert!(sum_of_singles(&[-0.0; 100]).is_sign_negative());
        assert!(sum_of_singles(&[-0.0, 0.0]).is_sign_positive());
        assert!(sum_of_singles(&[]).is_sign_positive());
        let mut large = [0.0; 64];
        large[0] = f32::MAX;
        large[16] = f32::MAX;
        large[1] = -f32::MAX;
        assert_eq!(sum_of_singles(&large), f64::from(f32::MAX));
        large[5] = f32::INFINITY;
        assert_eq!(sum_of_singles(&large), f64::INFINITY);
    }

    #[test]
    fn differences_are_those_of_two_passes() {
        for n in [1, 7, 32, 255, 256, 257, 1000, 5000] {
            let values: Vec<f32> = (0..n).map(|at| 1e4 + (at * 37 % 101) as f32).collect();
            let first = f64::from(values[0]);
            let [found, squares] = differences::<f32, false>(&values, first);
            let d = |v: f32| f64::from(v) - first;
            assert_eq!(
                (found, squares),
                (sum(&values, d), sum(&values, |v| d(v) * d(v))),
                "{n}"
            );
        }
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
