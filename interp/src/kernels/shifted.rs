//! Convolutions whose windows are one element apart: for each place of the window, the elements that windows have there
//! are a row of the image, shifted.
//!
//! An image is copied with its border. If the windows that begin in the border are computed too, and their results thrown
//! away, those of all windows have one element of each place in a row, without gaps. So the matrix that is multiplied
//! with the filters needs not be built: its rows overlap in the copy.

use super::conv::Sizes;
use super::gemm::{Product, Real, with_rows};
use crate::parallel;
use crate::tensor::buffer::{done, stale};

/// How the images of a group of channels are copied.
pub(super) struct Shifted<'s> {
    s: &'s Sizes,
    /// The extents of a copied channel.
    high: usize,
    wide: usize,
    /// Where the row of each place begins.
    starts: Vec<usize>,
}

impl<'s> Shifted<'s> {
    /// The layout, if the convolution has one, and few results are thrown away.
    pub(super) fn of(s: &'s Sizes) -> Option<Shifted<'s>> {
        let extent = |at: usize| {
            let axis = &s.axes[at];
            let more = usize::try_from((axis.kernel - 1).checked_mul(axis.dilation)?).ok()?;
            (axis.stride == 1 && s.windows[at] > 0).then(|| s.windows[at].saturating_add(more))
        };
        let (high, wide) = (extent(0)?, extent(1)?);
        if s.windows[1] * 5 < wide.saturating_mul(4) {
            return None;
        }
        let channel = high.checked_mul(wide)?;
        channel.checked_mul(s.channels)?;
        let [ay, ax] = &s.axes;
        let mut starts = Vec::with_capacity(s.channels * (ay.kernel * ax.kernel) as usize);
        for c in 0..s.channels {
            for ky in 0..ay.kernel {
                let row = c * channel + (ky * ay.dilation) as usize * wide;
                starts.extend((0..ax.kernel).map(|kx| row + (kx * ax.dilation) as usize));
            }
        }
        Some(Shifted { s, high, wide, starts })
    }

    /// The elements of a copy, and of results with those that are thrown away.
    fn sizes(&self) -> [usize; 2] {
        let all = (self.s.windows[0] - 1) * self.wide + self.s.windows[1];
        [self.s.channels * self.high * self.wide, self.s.filters * all]
    }

    /// Convolves images, each with filters, and writes over its results.
    ///
    /// # Errors
    /// If there is no memory for the copies.
    pub(super) fn convolve<'v, T: Real>(
        &self,
        jobs: impl Iterator<Item = (&'v [T], &'v [T], &'v mut [T])>,
    ) -> Result<(), String> {
        let [copied, results] = self.sizes();
        let (mut copy, mut room) = (stale::<T>(copied)?, stale::<T>(results)?);
        let all = results / self.s.filters.max(1);
        let p = Product {
            m: self.s.filters,
            k: self.starts.len(),
            n: all,
            tx: false,
            ty: false,
        };
        let (width, channel) = (self.s.windows[1], self.s.windows[0] * self.s.windows[1]);
        for (image, filters, to) in jobs {
            let area = self.s.area();
            parallel::chunks(&mut copy, self.high * self.wide, copied / 4, |first, copy| {
                let c = first / (self.high * self.wide);
                self.copy(&image[c * area..][..area], copy);
            });
            with_rows(p, filters, &copy, &self.starts, &mut room)?;
            let from = &room[..];
            parallel::chunks(to, channel, results / 4, |first, to| {
                let from = &from[first / channel * all..][..all];
                for (to, from) in to.chunks_exact_mut(width).zip(from.chunks(self.wide)) {
                    to.copy_from_slice(&from[..width]);
                }
            });
        }
        done(copy);
        done(room);
        Ok(())
    }

    /// Copies a channel with its border, which may be one that is missing.
    fn copy<T: Real>(&self, image: &[T], copy: &mut [T]) {
        let [ay, ax] = &self.s.axes;
        let width = ax.size as usize;
        for (at, row) in copy.chunks_exact_mut(self.wide).enumerate() {
            let y = at as i64 - ay.before;
            if y < 0 || y >= ay.size {
                row.fill(T::default());
                continue;
            }
            let from = &image[y as usize * width..][..width];
            let before = (ax.before.max(0) as usize).min(row.len());
            let from = &from[((-ax.before).max(0) as usize).min(width)..];
            let count = from.len().min(row.len() - before);
            row[..before].fill(T::default());
            row[before..before + count].copy_from_slice(&from[..count]);
            row[before + count..].fill(T::default());
        }
    }
}

#[cfg(test)]
mod tests {
    use pir_dialects::window::Axis;

    use super::*;

    fn axis([size, kernel, dilation, before, after]: [i64; 5]) -> Axis {
        Axis {
            size,
            kernel,
            stride: 1,
            dilation,
            before,
            after,
        }
    }

    #[test]
    fn they_are_what_their_sums_say() {
        for (high, wide, channels, filters) in [
            ([5, 3, 1, 1, 1], [20, 3, 1, 1, 1], 2, 3),
            ([7, 3, 2, 0, 4], [60, 2, 3, 5, 0], 3, 20),
            ([3, 1, 1, 0, 0], [30, 5, 1, 2, 2], 70, 2),
            ([6, 2, 1, -1, 1], [40, 3, 1, -2, 3], 2, 2),
            ([4, 4, 1, 0, 0], [9, 2, 1, 1, 0], 1, 1),
        ] {
            let s = Sizes::new(1, 1, channels, filters, [axis(high), axis(wide)]).unwrap();
            let [ay, ax] = &s.axes;
            let places = (ay.kernel * ax.kernel) as usize;
            // Numbers whose products and sums are exact.
            let numbers = |count: usize, factor: usize| -> Vec<f32> {
                (0..count).map(|at| (at * factor % 15) as f32 - 7.0).collect()
            };
            let image = numbers(channels * s.area(), 7);
            let weights = numbers(filters * channels * places, 11);
            let count = s.windows[0] * s.windows[1];
            let mut wanted = vec![0.0; filters * count];
            for at in 0..filters * count * channels * places {
                let (place, rest) = (at % places, at / places);
                let (c, rest) = (rest % channels, rest / channels);
                let (window, filter) = (rest % count, rest / count);
                let (oy, ox) = ((window / s.windows[1]) as i64, (window % s.windows[1]) as i64);
                let y = oy + place as i64 / ax.kernel * ay.dilation - ay.before;
                let x = ox + place as i64 % ax.kernel * ax.dilation - ax.before;
                if (0..ay.size).contains(&y) && (0..ax.size).contains(&x) {
                    let pixel = c * s.area() + (y * ax.size + x) as usize;
                    wanted[filter * count + window] += weights[(filter * channels + c) * places + place] * image[pixel];
                }
            }
            let mut found = vec![f32::NAN; filters * count];
            let shifted = Shifted::of(&s).unwrap();
            let job = (&image[..], &weights[..], &mut found[..]);
            shifted.convolve(std::iter::once(job)).unwrap();
            assert_eq!(found, wanted, "{high:?} {wide:?}");
        }
        let strided = Axis {
            stride: 2,
            ..axis([20, 3, 1, 1, 1])
        };
        let s = Sizes::new(1, 1, 2, 2, [axis([5, 3, 1, 1, 1]), strided]).unwrap();
        assert!(Shifted::of(&s).is_none());
    }
}
