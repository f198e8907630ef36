//! Gradients of filters with 3 by 3 elements by F(3×3, 2×2): a tile of 2 by 2 gradients of results and the 4 by 4 elements of the image
//! that they belong to take 16 products for each channel and filter in place of 36. The products of all tiles are added up before they
//! are transformed back, so that they are 16 products of matrices, whose terms are the tiles.
//!
//! What is transformed is copied first, with the numbers of all channels of a panel side by side, as the panel has them.

use std::ops::Range;

use pulp::Simd;

use super::{MANY, PLACES, SIDE, TAPS, apart, is_small, part, transform};
use crate::exec::count_flops;
use crate::kernels::conv::Sizes;
use crate::kernels::gemm::{Product, Real};
use crate::kernels::panels::Cut;
use crate::kernels::tile::{TileLeft, TileResult, TileRight, Tiled, tile, tiled};
use crate::parallel;
use crate::simd::{self, Task};
use crate::tensor::DType;
use crate::tensor::buffer::{done, filled, stale};

/// How many tiles are transformed, about, before they are multiplied: their panels stay in the cache.
const TILES: usize = 256;

/// The tiles of the gradients of results.
pub(in crate::kernels) struct FilterTiles<'s> {
    s: &'s Sizes,
    /// In both directions.
    tiles: [usize; 2],
    height: usize,
    vectors: usize,
    width: usize,
}

impl<'s> FilterTiles<'s> {
    /// The tiles, if the algorithm applies and pays.
    pub(in crate::kernels) fn of<T: Real>(s: &'s Sizes) -> Option<FilterTiles<'s>> {
        // Rounding errors are somewhat larger: what is computed in double precision keeps its digits.
        if T::DTYPE != DType::F32 || !s.axes.iter().all(is_small) || s.channels < MANY || s.filters < MANY {
            return None;
        }
        let tiles = s.windows.map(|n| n.div_ceil(2));
        let count = tiles[0].checked_mul(tiles[1])?;
        let cut = Cut::of::<T>(Product {
            m: s.filters,
            k: count,
            n: s.channels,
            tx: false,
            ty: false,
        });
        // What is computed for nothing must not take what is saved, nor the panels of a row much memory.
        let pays = cut.vectors > 1 && count.checked_mul(s.n)? >= MANY && s.columns() * 9 > count * 25;
        let pays = pays && tiles[1] <= 4 * TILES;
        pays.then_some(FilterTiles {
            s,
            tiles,
            height: cut.height,
            vectors: cut.vectors,
            width: cut.width,
        })
    }

    /// Writes the gradients of the filters of all groups, by images and the gradients of results; whether all are finite.
    ///
    /// # Errors
    /// If there is no memory for what is transformed.
    pub(in crate::kernels) fn gradients<T: Real>(&self, x: &[T], g: &[T], out: &mut [T]) -> Result<bool, String> {
        let s = self.s;
        let (lines, across) = (s.n * self.tiles[0], self.tiles[1]);
        // Steps of about the same size.
        let steps = lines.div_ceil((TILES / across).max(1));
        let most = lines.div_ceil(steps);
        let [left, right] = [self.height, self.width].map(|width| PLACES * apart(most * across, width));
        let columns = s.channels.div_ceil(self.width);
        let mut weights = stale::<T>(s.filters.div_ceil(self.height) * left)?;
        let mut tiles = stale::<T>(columns * right)?;
        let work = s.filters * s.channels * most * across;
        let each = part(s.filters, self.height, work);
        // The sums of all panels of a part, if there are several steps.
        let pair = PLACES * self.height * self.width;
        let kept = if steps > 1 { each / self.height * columns } else { 1 };
        let mut sums = stale::<T>(s.filters.div_ceil(each) * kept * pair)?;
        count_flops(2 * s.n * s.groups * s.filters * s.channels * PLACES * self.tiles[0] * across);
        let mut all_finite = true;
        for (group, out) in out.chunks_exact_mut(s.filters * s.rows()).enumerate() {
            let images = Channels {
                values: x,
                all: s.groups * s.channels,
                own: group * s.channels..(group + 1) * s.channels,
                size: [s.axes[0].size as usize, s.axes[1].size as usize],
                before: [s.axes[0].before, s.axes[1].before],
                side: SIDE,
            };
            let results = Channels {
                values: g,
                all: s.groups * s.filters,
                own: group * s.filters..(group + 1) * s.filters,
                size: s.windows,
                before: [0, 0],
                side: 2,
            };
            for first in (0..lines).step_by(most) {
                let rows = first..lines.min(first + most);
                let terms = rows.len() * across;
                let spread = |panel: Panel<'_, T>| simd::run(Spread(panel));
                self.transform(&results, self.height, &rows, &mut weights, left, spread)?;
                let differences = |panel: Panel<'_, T>| simd::run(Differences(panel));
                self.transform(&images, self.width, &rows, &mut tiles, right, differences)?;
                let (weights, tiles) = (&weights[..], &tiles[..]);
                let parts = out.chunks_mut(each * s.rows()).zip(sums.chunks_exact_mut(kept * pair));
                let mut parts: Vec<_> = parts.map(|(out, sums)| (true, out, sums)).collect();
                parallel::chunks(&mut parts, 1, work, |at, parts| {
                    for (is_finite, out, sums) in parts {
                        let sums = Sums {
                            of: self,
                            weights: &weights[at * each / self.height * left..],
                            tiles,
                            apart: [left / PLACES, right / PLACES],
                            terms,
                            is_first: first == 0,
                            is_last: rows.end == lines,
                            sums,
                            out,
                        };
                        *is_finite = tiled(self.vectors, sums);
                    }
                });
                all_finite &= parts.iter().all(|(is_finite, ..)| *is_finite);
            }
        }
        [weights, tiles, sums].into_iter().for_each(done);
        Ok(all_finite)
    }

    /// Computes panels of `size` numbers, each of `width` channels, for some rows of tiles.
    fn transform<T: Real>(
        &self,
        given: &Channels<'_, T>,
        width: usize,
        rows: &Range<usize>,
        panels: &mut [T],
        size: usize,
        compute: impl Fn(Panel<'_, T>) + Sync,
    ) -> Result<(), String> {
        let [down, across] = self.tiles;
        let work = given.own.len() * rows.len() * across * 4;
        parallel::try_chunks(panels, size, work, |at, to| {
            let mut room = filled(given.side * (2 * across + given.side - 2) * width, T::default())?;
            compute(Panel {
                channels: given.panel(at / size, width),
                rows: rows.clone(),
                down,
                width,
                apart: size / PLACES,
                room: &mut room,
                to,
            });
            done(room);
            Ok(())
        })
    }
}

/// Some of all channels of images, or those of results, which are filters.
struct Channels<'v, T> {
    values: &'v [T],
    all: usize,
    own: Range<usize>,
    size: [usize; 2],
    /// The width of the border in front of an image.
    before: [i64; 2],
    /// The elements of a tile in one direction.
    side: usize,
}

impl<'v, T: Real> Channels<'v, T> {
    /// Those of a panel.
    fn panel(&self, number: usize, width: usize) -> Channels<'v, T> {
        let first = self.own.start + number * width;
        Channels {
            own: first..self.own.end.min(first + width),
            ..*self
        }
    }

    /// Writes a row of an image with its border, the numbers of all channels side by side. A row that is not there is zero.
    #[inline(always)]
    fn lay(&self, image: usize, row: usize, width: usize, to: &mut [T]) {
        let ([high, wide], [above, before]) = (self.size, self.before);
        let Some(row) = usize::try_from(row as i64 - above).ok().filter(|&row| row < high) else {
            return to.fill(T::default());
        };
        let (skipped, border) = ((-before).max(0) as usize, before.max(0) as usize * width);
        for (at, c) in self.own.clone().enumerate() {
            let from = &self.values[((image * self.all + c) * high + row) * wide..][..wide];
            let places = to.iter_mut().skip(border + at).step_by(width);
            places.zip(from.iter().skip(skipped)).for_each(|(to, &v)| *to = v);
        }
    }
}

/// For each place and tile, a number for each channel of a panel.
struct Panel<'v, T> {
    channels: Channels<'v, T>,
    /// The rows of tiles, of which an image has `down`.
    rows: Range<usize>,
    down: usize,
    width: usize,
    /// How far the matrices of two places are apart.
    apart: usize,
    /// As many rows of an image as a tile has, with their borders.
    room: &'v mut [T],
    to: &'v mut [T],
}

/// The transformed gradients of results.
struct Spread<'v, T>(Panel<'v, T>);

impl<T: Real> Task for Spread<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        match self.0.width {
            8 => self.of::<8>(),
            _ => self.of::<4>(),
        }
    }
}

impl<T: Real> Spread<'_, T> {
    #[inline(always)]
    fn of<const H: usize>(self) {
        let Panel {
            channels,
            rows,
            down,
            apart,
            room,
            to,
            ..
        } = self.0;
        let (upper, lower) = room.split_at_mut(room.len() / 2);
        let mut term = 0;
        for row in rows {
            let (image, y) = (row / down, row % down);
            channels.lay(image, 2 * y, H, upper);
            channels.lay(image, 2 * y + 1, H, lower);
            let (upper, lower) = (upper.as_chunks::<H>().0, lower.as_chunks::<H>().0);
            for (upper, lower) in upper.as_chunks::<2>().0.iter().zip(lower.as_chunks::<2>().0) {
                let [left, right] = [0, 1].map(|at| spread(upper[at], lower[at]));
                for (down, (left, right)) in left.iter().zip(&right).enumerate() {
                    for (across, numbers) in spread(*left, *right).iter().enumerate() {
                        let at = (down * SIDE + across) * apart + term * H;
                        to[at..][..H].copy_from_slice(numbers);
                    }
                }
                term += 1;
            }
        }
    }
}

/// Two numbers in one direction, of several filters, as those of the four products.
#[inline(always)]
fn spread<T: Real, const H: usize>(a: [T; H], b: [T; H]) -> [[T; H]; SIDE] {
    let half = T::from_f64(0.5);
    let mut out = [a; SIDE];
    for at in 0..H {
        out[3][at] = T::default() - b[at];
        let (a, b) = (a[at] * half, b[at] * half);
        out[1][at] = a + b;
        out[2][at] = a - b;
    }
    out
}

/// The transformed elements of images. The row with number `n` of an image is in place `n % 4` of the room.
struct Differences<'v, T>(Panel<'v, T>);

impl<T: Real> Task for Differences<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        match self.0.width {
            width if width % 16 == 0 => self.of::<16>(),
            width if width % 8 == 0 => self.of::<8>(),
            _ => self.of::<4>(),
        }
    }
}

impl<T: Real> Differences<'_, T> {
    #[inline(always)]
    fn of<const W: usize>(self) {
        let Panel {
            channels,
            rows,
            down,
            width,
            apart,
            room,
            to,
        } = self.0;
        let size = room.len() / SIDE;
        let mut term = 0;
        for (at, row) in rows.enumerate() {
            let (image, y) = (row / down, row % down);
            // The first rows are the last ones of the tiles above.
            let first = if at == 0 || y == 0 { 0 } else { 2 };
            for row in 2 * y + first..2 * y + SIDE {
                channels.lay(image, row, width, &mut room[row % SIDE * size..][..size]);
            }
            for x in 0..size / width / 2 - 1 {
                for lane in (0..width).step_by(W) {
                    let mut values = [[T::default(); W]; PLACES];
                    for (place, value) in values.iter_mut().enumerate() {
                        let (row, column) = (2 * y + place / SIDE, 2 * x + place % SIDE);
                        if let Some(from) = room[row % SIDE * size + column * width + lane..].first_chunk() {
                            *value = *from;
                        }
                    }
                    transform(&mut values, apart, &mut to[term * width + lane..]);
                }
                term += 1;
            }
        }
    }
}

/// The sums of the products of some terms for some filters, which become gradients in the last step; whether all are finite.
struct Sums<'v, 's, T> {
    of: &'v FilterTiles<'s>,
    weights: &'v [T],
    tiles: &'v [T],
    /// How far the matrices of two places are apart, in panels of filters and of channels.
    apart: [usize; 2],
    terms: usize,
    is_first: bool,
    is_last: bool,
    /// For each panel of filters and each one of channels, or for one of each at a time: the sums by place and filter.
    sums: &'v mut [T],
    out: &'v mut [T],
}

impl<T: Real> Tiled for Sums<'_, '_, T> {
    type Output = bool;

    #[inline(always)]
    fn all<S: Simd, const M: usize, const N: usize>(self, simd: S) -> bool {
        let (channels, width) = (self.of.s.channels, self.of.width);
        let [left, right] = self.apart;
        let pair = PLACES * M * width;
        let mut are_finite = true;
        for (column, tiles) in self.tiles.chunks_exact(PLACES * right).enumerate() {
            let there = width.min(channels - column * width);
            let parts = self
                .out
                .chunks_mut(M * channels * TAPS)
                .zip(self.weights.chunks_exact(PLACES * left));
            for (row, (out, weights)) in parts.enumerate() {
                let at = row * channels.div_ceil(width) + column;
                let sums = &mut self.sums[if self.is_first && self.is_last { 0 } else { at * pair }..][..pair];
                let places = weights.chunks_exact(left).zip(tiles.chunks_exact(right));
                for (sums, (weights, tiles)) in sums.chunks_exact_mut(M * width).zip(places) {
                    let (left, right) = (
                        TileLeft::Panel(&weights[..self.terms * M]),
                        TileRight::Panel(&tiles[..self.terms * width]),
                    );
                    tile::<S, T, M, N>(simd, left, right, TileResult::first(sums, width, width, !self.is_first));
                }
                if !self.is_last {
                    continue;
                }
                for (filter, out) in out.chunks_exact_mut(channels * TAPS).enumerate() {
                    let out = &mut out[column * width * TAPS..][..there * TAPS];
                    let sums = &sums[filter * width..];
                    are_finite &= match width {
                        width if width % 16 == 0 => gradients::<T, 16>(sums, [width, M * width], out),
                        width if width % 8 == 0 => gradients::<T, 8>(sums, [width, M * width], out),
                        _ => gradients::<T, 4>(sums, [width, M * width], out),
                    };
                }
            }
        }
        are_finite
    }
}

/// The gradients of a filter for some channels, from their sums, which are a step apart by place; whether all are finite.
#[inline(always)]
fn gradients<T: Real, const W: usize>(sums: &[T], [width, step]: [usize; 2], out: &mut [T]) -> bool {
    // Zero times a number that is not finite is none.
    let mut rest = [T::default(); W];
    for (lane, out) in (0..width).step_by(W).zip(out.chunks_mut(W * TAPS)) {
        let mut places = [[T::default(); W]; PLACES];
        for (place, to) in places.iter_mut().enumerate() {
            if let Some(from) = sums[place * step + lane..].first_chunk() {
                *to = *from;
            }
        }
        let row = |y: usize| joined([0, 1, 2, 3].map(|x| places[y * SIDE + x]));
        let rows = [row(0), row(1), row(2), row(3)];
        let [left, middle, right] = [0, 1, 2].map(|x| joined(rows.map(|row| row[x])));
        let mut write = |to: &mut [[T; TAPS]; W]| {
            for y in 0..3 {
                for (x, numbers) in [left[y], middle[y], right[y]].iter().enumerate() {
                    for at in 0..W {
                        to[at][y * 3 + x] = numbers[at];
                        rest[at] += numbers[at] * T::default();
                    }
                }
            }
        };
        let out = out.as_chunks_mut::<TAPS>().0;
        if let Some(to) = out.first_chunk_mut() {
            write(to);
        } else {
            let mut taps = [[T::default(); TAPS]; W];
            write(&mut taps);
            out.copy_from_slice(&taps[..out.len()]);
        }
    }
    rest.iter().fold(T::default(), |sum, &rest| sum + rest) == T::default()
}

/// The sums of the four products in one direction as the gradients of three weights.
#[inline(always)]
fn joined<T: Real, const W: usize>([a, b, c, d]: [[T; W]; SIDE]) -> [[T; W]; 3] {
    let mut out = [a, b, d];
    for at in 0..W {
        let sum = b[at] + c[at];
        out[0][at] += sum;
        out[1][at] = b[at] - c[at];
        out[2][at] += sum;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::tests::{axis, numbers};
    use super::*;

    /// Gradients of several images, groups and steps, of odd and even sizes, with other borders than one.
    #[test]
    fn they_are_what_their_sums_say() {
        for (n, groups, high, wide, channels, filters) in [
            (1, 1, axis(14, 1, 1), axis(14, 1, 1), 32, 40),
            (1, 2, axis(13, 1, 1), axis(29, 1, 1), 33, 43),
            (3, 1, axis(12, 0, 0), axis(21, 2, 1), 40, 32),
            (2, 1, axis(30, 2, 2), axis(27, -1, 3), 35, 33),
            (5, 1, axis(8, 1, 1), axis(8, 1, 1), 32, 73),
            (1, 1, axis(4, 1, 1), axis(1034, 1, 1), 32, 32),
        ] {
            let s = Sizes::new(n, groups, channels, filters, [high, wide]).unwrap();
            let tiles = FilterTiles::of::<f32>(&s).unwrap();
            let x = numbers(n * groups * channels * s.area(), 7);
            let g = numbers(n * groups * filters * s.columns(), 11);
            let mut found = vec![f32::NAN; groups * filters * s.rows()];
            assert!(tiles.gradients(&x, &g, &mut found).unwrap());
            for (at, found) in found.iter().enumerate() {
                let (tap, c) = (at % TAPS, at / TAPS % channels);
                let (filter, group) = (at / s.rows(), at / s.rows() / filters);
                let mut wanted = 0.0;
                for image in 0..n {
                    let x = &x[(image * groups * channels + group * channels + c) * s.area()..][..s.area()];
                    let g = &g[(image * groups * filters + filter) * s.columns()..][..s.columns()];
                    for (window, g) in g.iter().enumerate() {
                        let y = (window / s.windows[1]) as i64 + tap as i64 / 3 - high.before;
                        let x_at = (window % s.windows[1]) as i64 + tap as i64 % 3 - wide.before;
                        if (0..high.size).contains(&y) && (0..wide.size).contains(&x_at) {
                            wanted += g * x[(y * wide.size + x_at) as usize];
                        }
                    }
                }
                assert_eq!(*found, wanted, "{high:?} {wide:?} {at}");
            }
            // An infinite number is reported, so that another method computes the gradients that it is in.
            let mut x = x;
            x[(high.size / 2 * wide.size + wide.size / 2) as usize] = f32::INFINITY;
            assert!(!tiles.gradients(&x, &g, &mut found).unwrap());
        }
        let few = Sizes::new(1, 1, 8, 64, [axis(56, 1, 1), axis(56, 1, 1)]).unwrap();
        assert!(FilterTiles::of::<f32>(&few).is_none());
        assert!(FilterTiles::of::<f64>(&few).is_none());
    }
}
