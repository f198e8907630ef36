//! Convolutions with windows of 3 by 3 elements that are one element apart, by the minimal filtering algorithm F(2×2, 3×3) (S. Winograd,
//! "Arithmetic Complexity of Computations", 1980; A. Lavin and S. Gray, "Fast Algorithms for Convolutional Neural Networks", 2016): a
//! tile of 2 by 2 results takes 16 products for each channel and filter in place of 36. Images and filters are transformed, so that the
//! products of all channels are 16 products of matrices.
//!
//! A result depends on the elements of its window alone, and where it is not finite, the convolution is computed as others are.

mod filter;

use std::ops::Range;

use pir_dialects::window::Axis;
use pulp::Simd;

use super::conv::Sizes;
use super::gemm::{Product, Real};
use super::panels::Cut;
use super::shifted::Shifted;
use super::tile::{TileLeft, TileResult, TileRight, Tiled, WIDE, tile, tiled};
use crate::exec::count_flops;
use crate::parallel;
use crate::simd::{self, Task};
use crate::tensor::DType;
use crate::tensor::buffer::{done, stale};

pub(super) use filter::FilterTiles;

/// The elements of a tile of the image in one direction, and of all of it.
const SIDE: usize = 4;
const PLACES: usize = SIDE * SIDE;
/// The elements of a window.
const TAPS: usize = 9;
/// The channels and filters from which on transforming takes little of the time, and the tiles.
const MANY: usize = 32;
/// The most filters of a part.
const FILTERS: usize = 64;

/// How far the matrices of two places are apart: what is written to all of them in turn must not share a place in the cache.
fn apart(channels: usize, width: usize) -> usize {
    const LINE: usize = 16;
    (channels * width).next_multiple_of(LINE) + LINE
}

/// Whether windows have three elements in this direction, and are one element apart.
fn is_small(axis: &Axis) -> bool {
    axis.kernel == 3 && axis.stride == 1 && axis.dilation == 1
}

/// The filters of a part. Each part reads all tiles: few filters make one part for each thread.
fn part(filters: usize, height: usize, work: usize) -> usize {
    let each = filters.div_ceil(parallel::threads(work));
    each.next_multiple_of(height).min(FILTERS)
}

/// The tiles of a convolution. They are numbered as windows of 4 by 4 elements that are two elements apart, with those that are thrown
/// away.
pub(super) struct Tiles {
    /// The convolution with such windows.
    sizes: Sizes,
    results: [usize; 2],
    /// The tiles of a row, with one that is thrown away.
    wide: usize,
    count: usize,
    filters: usize,
    height: usize,
    vectors: usize,
    width: usize,
}

impl Tiles {
    /// The tiles, if the algorithm applies and pays.
    pub(super) fn of<T: Real>(s: &Sizes) -> Option<Tiles> {
        // Rounding errors are somewhat larger: what is computed in double precision keeps its digits.
        if T::DTYPE != DType::F32 || !s.axes.iter().all(is_small) || s.channels < MANY || s.filters < MANY {
            return None;
        }
        let tiles = s.windows.map(|n| n.div_ceil(2));
        let along = |at: usize| Axis {
            kernel: SIDE as i64,
            stride: 2,
            after: 2 * tiles[at] as i64 + 2 - s.axes[at].size - s.axes[at].before,
            ..s.axes[at]
        };
        let sizes = Sizes::new(1, 1, s.channels, 1, [along(0), along(1)]).ok()?;
        let wide = tiles[1] + 1;
        let count = tiles[0].checked_mul(wide)?.checked_sub(1)?;
        let cut = Cut::of::<T>(Product {
            m: s.filters,
            k: s.channels,
            n: count,
            tx: false,
            ty: false,
        });
        let all = count.next_multiple_of(cut.width);
        // What is computed for nothing must not take what is saved.
        let pays = cut.vectors > 1 && count >= MANY && s.columns() * 9 > all * 25;
        (pays && sizes.windows == tiles).then_some(Tiles {
            sizes,
            results: s.windows,
            wide,
            count,
            filters: s.filters,
            height: cut.height,
            vectors: cut.vectors,
            width: cut.width,
        })
    }

    /// Convolves images, each with filters, and writes over its results; whether all of them are finite. Filters that are `turned` have
    /// filters and channels exchanged, and their windows in reverse.
    ///
    /// # Errors
    /// If there is no memory for what is transformed.
    pub(super) fn convolve<'v, T: Real>(
        &self,
        jobs: impl Iterator<Item = (&'v [T], &'v [T], &'v mut [T])>,
        turned: bool,
    ) -> Result<bool, String> {
        let layout = Shifted::of_any(&self.sizes).ok_or("the tiles are too many")?;
        let (channels, area) = (self.sizes.channels, self.results[0] * self.results[1]);
        let copied = channels * layout.channel();
        let panels = self.count.div_ceil(self.width);
        let [left, right] = [self.height, self.width].map(|width| PLACES * apart(channels, width));
        // The last panel reads beyond the last channel.
        let mut copy = stale::<T>(copied + self.width)?;
        let mut weights = stale::<T>(self.filters.div_ceil(self.height) * left)?;
        let mut tiles = stale::<T>(panels * right)?;
        let mut last: &[T] = &[];
        let mut all_finite = true;
        for (image, filters, to) in jobs {
            if !std::ptr::eq(last, filters) {
                last = filters;
                parallel::chunks(&mut weights, left, self.filters * channels * 4, |first, to| {
                    let first = first / left * self.height;
                    simd::run(Weights {
                        filters,
                        turned,
                        own: first..self.filters.min(first + self.height),
                        count: self.filters,
                        channels,
                        height: self.height,
                        to,
                    });
                });
            }
            let (image_copy, tail) = copy.split_at_mut(copied);
            layout.copy_all(image, image_copy);
            tail.fill(T::default());
            let from = &copy[..];
            parallel::chunks(&mut tiles, right, panels * right / 4, |first, to| {
                simd::run(Image {
                    starts: layout.starts(),
                    from: &from[first / right * self.width..],
                    width: self.width,
                    to,
                });
            });
            count_flops(2 * self.filters * channels * PLACES * self.count);
            let (weights, tiles) = (&weights[..], &tiles[..]);
            let work = self.filters * channels * self.count;
            let each = part(self.filters, self.height, work);
            let parts = to.chunks_mut(each * area);
            let mut finite: Vec<(bool, &mut [T])> = parts.map(|part| (true, part)).collect();
            parallel::chunks(&mut finite, 1, work, |at, part| {
                for (is_finite, to) in part {
                    let results = Results {
                        tiles: self,
                        weights: &weights[at * each / self.height * left..],
                        image: tiles,
                        to,
                    };
                    *is_finite = tiled(self.vectors, results);
                }
            });
            all_finite &= finite.iter().all(|(is_finite, _)| *is_finite);
        }
        done(copy);
        done(weights);
        done(tiles);
        Ok(all_finite)
    }
}

/// The transformed filters of a panel: for each place of a tile and each channel, a number for each filter.
struct Weights<'v, T> {
    filters: &'v [T],
    turned: bool,
    /// The filters of the panel, of so many.
    own: Range<usize>,
    count: usize,
    channels: usize,
    height: usize,
    to: &'v mut [T],
}

impl<T: Real> Task for Weights<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        match self.height {
            8 => self.of::<8>(),
            _ => self.of::<4>(),
        }
    }
}

impl<T: Real> Weights<'_, T> {
    #[inline(always)]
    fn of<const H: usize>(self) {
        for c in 0..self.channels {
            let mut taps = [[T::default(); H]; TAPS];
            if self.turned {
                let first = c * self.count + self.own.start;
                let given = self.filters.as_chunks::<TAPS>().0[first..].iter().take(self.own.len());
                for (at, from) in given.enumerate() {
                    taps.iter_mut().rev().zip(from).for_each(|(to, &tap)| to[at] = tap);
                }
            } else {
                for (at, filter) in self.own.clone().enumerate() {
                    let from = &self.filters.as_chunks::<TAPS>().0[filter * self.channels + c];
                    taps.iter_mut().zip(from).for_each(|(to, &tap)| to[at] = tap);
                }
            }
            let [top, middle, bottom] = [0, 3, 6].map(|first| spread([taps[first], taps[first + 1], taps[first + 2]]));
            for (x, ((top, middle), bottom)) in top.into_iter().zip(middle).zip(bottom).enumerate() {
                let column = spread([top, middle, bottom]);
                for (y, numbers) in column.iter().enumerate() {
                    let at = (y * SIDE + x) * apart(self.channels, H) + c * H;
                    self.to[at..][..H].copy_from_slice(numbers);
                }
            }
        }
    }
}

/// Three weights in one direction, of several filters, as those of the four products.
#[inline(always)]
fn spread<T: Real, const H: usize>([a, b, c]: [[T; H]; 3]) -> [[T; H]; SIDE] {
    let half = T::from_f64(0.5);
    let mut out = [a, b, b, c];
    for at in 0..H {
        let (sum, middle) = ((a[at] + c[at]) * half, b[at] * half);
        out[1][at] = sum + middle;
        out[2][at] = sum - middle;
    }
    out
}

/// The transformed tiles of a panel: for each place and channel, a number for each tile.
struct Image<'v, T> {
    /// Where the elements at each place begin, channel by channel.
    starts: &'v [usize],
    from: &'v [T],
    width: usize,
    to: &'v mut [T],
}

impl<T: Real> Task for Image<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        match self.width {
            width if width % 16 == 0 => self.of::<16>(),
            width if width % 8 == 0 => self.of::<8>(),
            _ => self.of::<4>(),
        }
    }
}

impl<T: Real> Image<'_, T> {
    #[inline(always)]
    fn of<const L: usize>(self) {
        let channels = self.starts.len() / PLACES;
        for (c, starts) in self.starts.as_chunks::<PLACES>().0.iter().enumerate() {
            for first in (0..self.width).step_by(L) {
                let mut values = [[T::default(); L]; PLACES];
                for (value, start) in values.iter_mut().zip(starts) {
                    if let Some(from) = self.from[start + first..].first_chunk::<L>() {
                        *value = *from;
                    }
                }
                let at = c * self.width + first;
                transform(&mut values, apart(channels, self.width), &mut self.to[at..]);
            }
        }
    }
}

/// Transforms elements of some tiles, and writes those of each place, so far apart.
#[inline(always)]
fn transform<T: Real, const L: usize>(values: &mut [[T; L]; PLACES], apart: usize, to: &mut [T]) {
    for at in 0..SIDE {
        differences(values, [0, 1, 2, 3].map(|x| at * SIDE + x));
    }
    for at in 0..SIDE {
        differences(values, [0, 1, 2, 3].map(|y| y * SIDE + at));
    }
    for (place, value) in values.iter().enumerate() {
        to[place * apart..][..L].copy_from_slice(value);
    }
}

/// Four elements in one direction as those of the four products.
#[inline(always)]
fn differences<T: Real, const L: usize>(values: &mut [[T; L]; PLACES], places: [usize; SIDE]) {
    let [a, b, c, d] = places.map(|place| values[place]);
    let [to_a, to_b, to_c, to_d] = places;
    for at in 0..L {
        values[to_a][at] = a[at] - c[at];
        values[to_b][at] = b[at] + c[at];
        values[to_c][at] = c[at] - b[at];
        values[to_d][at] = b[at] - d[at];
    }
}

/// The results of some filters; whether all are finite.
struct Results<'v, T> {
    tiles: &'v Tiles,
    weights: &'v [T],
    image: &'v [T],
    to: &'v mut [T],
}

impl<T: Real> Tiled for Results<'_, T> {
    type Output = bool;

    #[inline(always)]
    fn all<S: Simd, const M: usize, const N: usize>(self, simd: S) -> bool {
        let Results {
            tiles,
            weights,
            image,
            to,
        } = self;
        let channels = tiles.sizes.channels;
        let [high, across] = tiles.results;
        let width = tiles.width;
        let mut products = [[[T::default(); WIDE * 16]; 8]; PLACES];
        // Zero times a number that is not finite is none.
        let zero = T::default();
        let mut rest = zero;
        let (left, right) = (apart(channels, M), apart(channels, width));
        for (panel, image) in image.chunks_exact(PLACES * right).enumerate() {
            let first = panel * width;
            let there = width.min(tiles.count - first);
            let filters = to.chunks_mut(M * high * across);
            for (to, weights) in filters.zip(weights.chunks_exact(PLACES * left)) {
                let parts = weights.chunks_exact(left).zip(image.chunks_exact(right));
                for (products, (weights, image)) in products.iter_mut().zip(parts) {
                    let (left, right) = (
                        TileLeft::Panel(&weights[..channels * M]),
                        TileRight::Panel(&image[..channels * width]),
                    );
                    let to = TileResult::first(products.as_flattened_mut(), WIDE * 16, width, false);
                    tile::<S, T, M, N>(simd, left, right, to);
                }
                for (at, to) in to.chunks_exact_mut(high * across).enumerate() {
                    let results = combined(&products, at);
                    let mut l = 0;
                    while l < there {
                        let (y, x) = ((first + l) / tiles.wide, (first + l) % tiles.wide);
                        // The last tile of a row is thrown away.
                        let count = (tiles.wide - x).min(there - l);
                        let kept = count.min((tiles.wide - 1).saturating_sub(x));
                        for (down, results) in results.iter().enumerate().take(high - 2 * y) {
                            let row = &mut to[(2 * y + down) * across..][..across];
                            let [even, odd] = results;
                            let row = &mut row[2 * x..across.min(2 * (x + kept))];
                            let (pairs, single) = row.as_chunks_mut::<2>();
                            let both = even[l..l + kept].iter().zip(&odd[l..l + kept]);
                            for (pair, (&even, &odd)) in pairs.iter_mut().zip(both) {
                                *pair = [even, odd];
                                rest += even * zero + odd * zero;
                            }
                            if let Some(last) = single.first_mut() {
                                *last = even[l + kept - 1];
                                rest += *last * zero;
                            }
                        }
                        l += count;
                    }
                }
            }
        }
        rest == zero
    }
}

/// The two by two results of the tiles of a panel, for one filter.
#[inline(always)]
fn combined<T: Real, const W: usize, const H: usize>(
    products: &[[[T; W]; H]; PLACES],
    filter: usize,
) -> [[[T; W]; 2]; 2] {
    let mut out = [[[T::default(); W]; 2]; 2];
    for l in 0..W {
        let of = |place: usize| products[place][filter][l];
        let row = |y: usize| {
            let [a, b, c, d] = [0, 1, 2, 3].map(|x| of(y * SIDE + x));
            [a + b + c, b - c - d]
        };
        let rows = [row(0), row(1), row(2), row(3)];
        for x in 0..2 {
            let [a, b, c, d] = rows.map(|row| row[x]);
            out[0][x][l] = a + b + c;
            out[1][x][l] = b - c - d;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn axis(size: i64, before: i64, after: i64) -> Axis {
        Axis {
            size,
            kernel: 3,
            stride: 1,
            dilation: 1,
            before,
            after,
        }
    }

    /// Numbers whose products and sums are exact.
    pub(super) fn numbers(count: usize, factor: usize) -> Vec<f32> {
        (0..count).map(|at| (at * factor % 15) as f32 * 2.0 - 14.0).collect()
    }

    /// Results of several panels, of odd and even sizes, with other borders than one, and of several images with the same filters.
    #[test]
    fn they_are_what_their_sums_say() {
        for (high, wide, channels, filters) in [
            (axis(14, 1, 1), axis(14, 1, 1), 32, 40),
            (axis(13, 1, 1), axis(29, 1, 1), 33, 71),
            (axis(12, 0, 0), axis(21, 2, 1), 40, 32),
            (axis(30, 2, 2), axis(9, -1, 3), 35, 130),
        ] {
            let s = Sizes::new(1, 1, channels, filters, [high, wide]).unwrap();
            let tiles = Tiles::of::<f32>(&s).unwrap();
            let images = [7, 4].map(|factor| numbers(channels * s.area(), factor));
            let weights = numbers(filters * channels * TAPS, 11);
            let count = s.columns();
            let mut found = vec![f32::NAN; 2 * filters * count];
            let results = found.chunks_exact_mut(filters * count);
            let jobs = images
                .iter()
                .zip(results)
                .map(|(image, to)| (&image[..], &weights[..], to));
            assert!(tiles.convolve(jobs, false).unwrap());
            for (image, found) in images.iter().zip(found.chunks_exact(filters * count)) {
                let mut wanted = vec![0.0; filters * count];
                for (at, to) in wanted.iter_mut().enumerate() {
                    let (filter, window) = (at / count, at % count);
                    let (oy, ox) = ((window / s.windows[1]) as i64, (window % s.windows[1]) as i64);
                    for c in 0..channels {
                        for tap in 0..TAPS {
                            let (y, x) = (oy + tap as i64 / 3 - high.before, ox + tap as i64 % 3 - wide.before);
                            if (0..high.size).contains(&y) && (0..wide.size).contains(&x) {
                                let pixel = image[c * s.area() + (y * wide.size + x) as usize];
                                *to += pixel * weights[(filter * channels + c) * TAPS + tap];
                            }
                        }
                    }
                }
                assert_eq!(found, wanted, "{high:?} {wide:?}");
            }
            // The same filters, given with filters and channels exchanged.
            let mut turned = vec![0.0; weights.len()];
            for (at, &weight) in weights.iter().enumerate() {
                let (filter, c, tap) = (at / TAPS / channels, at / TAPS % channels, at % TAPS);
                turned[(c * filters + filter) * TAPS + TAPS - 1 - tap] = weight;
            }
            let mut again = vec![f32::NAN; filters * count];
            let job = (&images[0][..], &turned[..], &mut again[..]);
            assert!(tiles.convolve(std::iter::once(job), true).unwrap());
            assert_eq!(again, found[..filters * count]);
            // An infinite element is reported, so that another method computes the windows that contain it.
            let mut image = images[0].clone();
            image[(high.size / 2 * wide.size + wide.size / 2) as usize] = f32::INFINITY;
            let mut out = vec![0.0; filters * count];
            let job = (&image[..], &weights[..], &mut out[..]);
            assert!(!tiles.convolve(std::iter::once(job), false).unwrap());
        }
        for (s, why) in [
            (
                Sizes::new(1, 1, 8, 64, [axis(56, 1, 1), axis(56, 1, 1)]),
                "few channels",
            ),
            (Sizes::new(1, 1, 512, 512, [axis(7, 1, 1), axis(7, 1, 1)]), "few tiles"),
        ] {
            assert!(Tiles::of::<f32>(&s.unwrap()).is_none(), "{why}");
        }
    }
}
