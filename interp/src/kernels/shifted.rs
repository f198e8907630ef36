//! Convolutions whose windows are equally far apart: for each place of the window, the elements that windows have there are a row of the
//! image, shifted.
//!
//! An image is copied with its border, its columns and rows that are a stride apart next to each other. If the windows that begin in the
//! border are computed too, and their results thrown away, those of all windows have one element of each place in a row, without gaps.
//! So the matrix that is multiplied with the filters needs not be built: its rows overlap in the copy.

use std::ops::Range;

use super::conv::Sizes;
use super::gemm::{Product, Real, with_right};
use super::panels::Right;
use crate::parallel;
use crate::tensor::buffer::{done, stale};

/// Along an axis, the elements of what is a stride apart in a copied channel, how many such parts are needed, and the stride.
fn extent(s: &Sizes, at: usize) -> Option<[usize; 3]> {
    let axis = &s.axes[at];
    let more = usize::try_from((axis.kernel - 1).checked_mul(axis.dilation)?).ok()?;
    let stride = usize::try_from(axis.stride).ok().filter(|&stride| stride > 0)?;
    let extent = s.windows[at].checked_add(more / stride)?;
    (s.windows[at] > 0).then_some([extent, stride.min(more + 1), stride])
}

/// How the images of a group of channels are copied.
pub(super) struct Shifted<'s> {
    s: &'s Sizes,
    /// Along both axes: the elements of what is a stride apart in a copied channel, and how many such parts are needed.
    extents: [usize; 2],
    phases: [usize; 2],
    /// Where the row of each place begins.
    starts: Vec<usize>,
}

impl<'s> Shifted<'s> {
    /// The layout, if few results are thrown away.
    pub(super) fn of(s: &'s Sizes) -> Option<Shifted<'s>> {
        let [wide, ..] = extent(s, 1)?;
        match s.windows[1] * 5 < wide.saturating_mul(4) {
            true => None,
            false => Self::of_any(s),
        }
    }

    /// The layout, however many results are thrown away; `None` if it is too large.
    pub(super) fn of_any(s: &'s Sizes) -> Option<Shifted<'s>> {
        let [high, down, sy] = extent(s, 0)?;
        let [wide, across, sx] = extent(s, 1)?;
        let part = high.checked_mul(wide)?;
        let channel = part.checked_mul(down)?.checked_mul(across)?;
        channel.checked_mul(s.channels)?;
        let [ay, ax] = &s.axes;
        let mut starts = Vec::with_capacity(s.channels * (ay.kernel * ax.kernel) as usize);
        for c in 0..s.channels {
            for ky in 0..ay.kernel {
                let y = (ky * ay.dilation) as usize;
                let row = c * channel + y % sy * across * part + y / sy * wide;
                starts.extend((0..ax.kernel).map(|kx| {
                    let x = (kx * ax.dilation) as usize;
                    row + x % sx * part + x / sx
                }));
            }
        }
        Some(Shifted {
            s,
            extents: [high, wide],
            phases: [down, across],
            starts,
        })
    }

    /// Where the row of each place begins in a copy, channel by channel.
    pub(super) fn starts(&self) -> &[usize] {
        &self.starts
    }

    /// The elements of a copied channel.
    pub(super) fn channel(&self) -> usize {
        self.extents[0] * self.extents[1] * self.phases[0] * self.phases[1]
    }

    /// The results of a filter, with those that are thrown away.
    fn results(&self) -> usize {
        (self.s.windows[0] - 1) * self.extents[1] + self.s.windows[1]
    }

    /// Convolves images, each with filters, and writes over its results.
    ///
    /// # Errors
    /// If there is no memory for the copies.
    pub(super) fn convolve<'v, T: Real>(
        &self,
        jobs: impl Iterator<Item = (&'v [T], &'v [T], &'v mut [T])>,
    ) -> Result<(), String> {
        let (copied, all) = (self.s.channels * self.channel(), self.results());
        let results = self.s.filters * all;
        let (mut copy, mut room) = (stale::<T>(copied)?, stale::<T>(results)?);
        let p = Product {
            m: self.s.filters,
            k: self.starts.len(),
            n: all,
            tx: false,
            ty: false,
        };
        let (width, channel) = (self.s.windows[1], self.s.columns());
        for (image, filters, to) in jobs {
            self.copy_all(image, &mut copy);
            let (values, starts) = (&copy[..], &self.starts[..]);
            with_right(p, filters, &Right::Rows { values, starts }, &mut room, false)?;
            let from = &room[..];
            parallel::chunks(to, channel, results / 4, |first, to| {
                let from = &from[first / channel * all..][..all];
                for (to, from) in to.chunks_exact_mut(width).zip(from.chunks(self.extents[1])) {
                    to.copy_from_slice(&from[..width]);
                }
            });
        }
        done(copy);
        done(room);
        Ok(())
    }

    /// The gradients of filters by images and the gradients of results: they are written to a range of `out`, or added to what is there.
    ///
    /// # Errors
    /// If there is no memory for the copies.
    pub(super) fn filters<'v, T: Real>(
        &self,
        jobs: impl Iterator<Item = (&'v [T], &'v [T], Range<usize>, bool)>,
        out: &mut [T],
    ) -> Result<(), String> {
        let (copied, all) = (self.s.channels * self.channel(), self.results());
        let (mut copy, mut room) = (stale::<T>(copied)?, stale::<T>(self.s.filters * all)?);
        let p = Product {
            m: self.s.filters,
            k: all,
            n: self.starts.len(),
            tx: false,
            ty: true,
        };
        let (width, channel) = (self.s.windows[1], self.s.columns());
        for (image, g, own, add) in jobs {
            self.copy_all(image, &mut copy);
            // The windows that are thrown away count for nothing.
            parallel::chunks(&mut room, all, g.len() / 4, |first, to| {
                let from = &g[first / all * channel..][..channel];
                for (to, from) in to.chunks_mut(self.extents[1]).zip(from.chunks_exact(width)) {
                    to[..width].copy_from_slice(from);
                    to[width..].fill(T::default());
                }
            });
            let (values, starts) = (&copy[..], &self.starts[..]);
            with_right(p, &room, &Right::Columns { values, starts }, &mut out[own], add)?;
        }
        done(copy);
        done(room);
        Ok(())
    }

    /// Copies the channels of an image.
    pub(super) fn copy_all<T: Real>(&self, image: &[T], copy: &mut [T]) {
        let (area, channel) = (self.s.area(), self.channel());
        let work = copy.len() / 4;
        parallel::chunks(copy, channel, work, |first, copy| {
            self.copy(&image[first / channel * area..][..area], copy);
        });
    }

    /// Copies a channel with its border, which may be one that is missing.
    fn copy<T: Real>(&self, image: &[T], copy: &mut [T]) {
        let [ay, ax] = &self.s.axes;
        let ([high, wide], width) = (self.extents, ax.size as usize);
        let step = ax.stride.max(1) as usize;
        for (at, row) in copy.chunks_exact_mut(wide).enumerate() {
            let (phase, at) = (at / high, (at % high) as i64);
            let (down, across) = ((phase / self.phases[1]) as i64, (phase % self.phases[1]) as i64);
            let y = at * ay.stride + down - ay.before;
            if y < 0 || y >= ay.size {
                row.fill(T::default());
                continue;
            }
            // The columns in front of the image, and the first one that is in it.
            let first = across - ax.before;
            let before = (-first)
                .max(0)
                .unsigned_abs()
                .div_ceil(step as u64)
                .min(row.len() as u64) as usize;
            let first = first + (before * step) as i64;
            let from = image[y as usize * width..][..width]
                .get(first.max(0) as usize..)
                .unwrap_or(&[]);
            let count = from.len().div_ceil(step).min(row.len() - before);
            row[..before].fill(T::default());
            let to = &mut row[before..before + count];
            match step {
                1 => to.copy_from_slice(&from[..count]),
                2 => {
                    let pairs = from.as_chunks::<2>().0;
                    to.iter_mut().zip(pairs).for_each(|(to, pair)| *to = pair[0]);
                    to.iter_mut()
                        .skip(pairs.len())
                        .zip(from.last())
                        .for_each(|(to, &v)| *to = v);
                }
                _ => to
                    .iter_mut()
                    .zip(from.iter().step_by(step))
                    .for_each(|(to, &v)| *to = v),
            }
            row[before + count..].fill(T::default());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::depthwise::tests::{axis, numbers};
    use super::super::im2col::{filter, forward, image};
    use super::*;

    /// Results and gradients of two images in two groups of channels.
    #[test]
    fn they_are_what_their_sums_say() {
        for (high, wide, channels, filters) in [
            ([5, 3, 1, 1, 1, 1], [20, 3, 1, 1, 1, 1], 2, 3),
            ([7, 3, 1, 2, 0, 4], [60, 2, 1, 3, 5, 0], 3, 20),
            ([3, 1, 1, 1, 0, 0], [30, 5, 1, 1, 2, 2], 70, 2),
            ([6, 2, 1, 1, -1, 1], [40, 3, 1, 1, -2, 3], 2, 2),
            ([4, 4, 1, 1, 0, 0], [9, 2, 1, 1, 1, 0], 2, 1),
            ([9, 3, 2, 1, 1, 1], [40, 3, 2, 1, 1, 1], 2, 5),
            ([8, 7, 2, 1, 3, 3], [51, 7, 2, 1, 3, 3], 3, 9),
            ([7, 1, 2, 1, 0, 0], [33, 1, 3, 1, 0, 0], 4, 2),
            ([9, 2, 3, 2, 1, 0], [50, 3, 2, 3, 4, 5], 2, 3),
            ([8, 2, 2, 1, -1, 2], [60, 2, 2, 2, -3, 1], 2, 2),
        ] {
            let (n, groups) = (2, 2);
            let s = Sizes::new(n, groups, channels, filters, [axis(high), axis(wide)]).unwrap();
            assert!(Shifted::of(&s).is_some(), "{high:?} {wide:?}");
            let [ay, ax] = &s.axes;
            let (area, count, places) = (s.area(), s.columns(), (ay.kernel * ax.kernel) as usize);
            let x = numbers(n * groups * channels * area, 7);
            let weights = numbers(groups * filters * channels * places, 11);
            let g = numbers(n * groups * filters * count, 4);
            let mut wanted = [vec![0.0; g.len()], vec![0.0; x.len()], vec![0.0; weights.len()]];
            for at in 0..g.len() * channels * places {
                let (place, rest) = (at % places, at / places);
                let (c, out) = (rest % channels, rest / channels);
                let (window, filter) = (out % count, out / count);
                let (group, image) = (filter / filters % groups, filter / filters);
                let (oy, ox) = ((window / s.windows[1]) as i64, (window % s.windows[1]) as i64);
                let y = oy * ay.stride + place as i64 / ax.kernel * ay.dilation - ay.before;
                let x_at = ox * ax.stride + place as i64 % ax.kernel * ax.dilation - ax.before;
                if (0..ay.size).contains(&y) && (0..ax.size).contains(&x_at) {
                    let pixel = (image * channels + c) * area + (y * ax.size + x_at) as usize;
                    let weight = ((group * filters + filter % filters) * channels + c) * places + place;
                    wanted[0][out] += weights[weight] * x[pixel];
                    wanted[1][pixel] += weights[weight] * g[out];
                    wanted[2][weight] += g[out] * x[pixel];
                }
            }
            let found = [
                forward(&s, &x, &weights, g.len()).unwrap(),
                image(&s, &weights, &g, x.len()).unwrap(),
                filter(&s, &x, &g, weights.len()).unwrap(),
            ];
            for (found, wanted) in found.iter().zip(&wanted) {
                assert_eq!(&found[..], wanted, "{high:?} {wide:?}");
            }
        }
        let narrow = [axis([5, 3, 1, 1, 1, 1]), axis([7, 3, 1, 1, 1, 1])];
        let s = Sizes::new(1, 1, 2, 2, narrow).unwrap();
        assert!(Shifted::of(&s).is_none());
    }
}
