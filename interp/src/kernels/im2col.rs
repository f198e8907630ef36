//! Convolutions and their gradients as matrix products: the windows of an image become the columns of a matrix, which is multiplied with
//! the filters. Windows of one element are the image itself; for those that are equally far apart the matrix is not built.

use std::ops::Range;

use super::conv::Sizes;
use super::depthwise::{Job, Layout, Room, channel};
use super::gemm::{Product, Real, with_right};
use super::panels::Right;
use super::shifted::Shifted;
use super::winograd::{FilterTiles, Tiles};
use crate::exec::count_flops;
use crate::parallel;
use crate::simd::{self, Task};
use crate::tensor::Storage;
use crate::tensor::buffer::{self, done, filled, stale};

/// The indices of images and groups, with the ranges of the image, the result and the filter of each.
fn parts(s: &Sizes) -> impl Iterator<Item = [Range<usize>; 3]> {
    let sizes = [s.channels * s.area(), s.filters * s.columns(), s.filters * s.rows()];
    let (groups, empty) = (s.groups, sizes.contains(&0));
    let images = if empty { 0 } else { s.n };
    (0..images).flat_map(move |n| {
        (0..groups).map(move |g| {
            let at = n * groups + g;
            let range = |at: usize, size: usize| at * size..(at + 1) * size;
            [range(at, sizes[0]), range(at, sizes[1]), range(g, sizes[2])]
        })
    })
}

/// The windows of an image as columns of a matrix.
struct Columns<'v, T> {
    s: &'v Sizes,
    image: &'v [T],
    /// The rows of some channels, from a first one on.
    columns: &'v mut [T],
    first: usize,
}

impl<T: Real> Task for Columns<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let Columns {
            s,
            image,
            columns,
            first,
        } = self;
        let (count, area) = (s.columns(), s.area());
        columns.fill(T::default());
        for (c, columns) in columns.chunks_mut(s.rows() / s.channels * count).enumerate() {
            let image = &image[(first + c) * area..][..area];
            s.rows_of(|place, windows, at, step| {
                let to = &mut columns[place * count..][windows];
                if step == 1 {
                    to.copy_from_slice(&image[at..][..to.len()]);
                } else {
                    to.iter_mut()
                        .zip(image[at..].iter().step_by(step))
                        .for_each(|(to, &v)| *to = v);
                }
            });
        }
    }
}

/// Adds the columns to the places in the image that they are of.
struct Image<'v, T> {
    s: &'v Sizes,
    /// Some channels, from a first one on.
    image: &'v mut [T],
    columns: &'v [T],
    first: usize,
}

impl<T: Real> Task for Image<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let Image {
            s,
            image,
            columns,
            first,
        } = self;
        let (count, area) = (s.columns(), s.area());
        let size = s.rows() / s.channels * count;
        for (c, image) in image.chunks_mut(area).enumerate() {
            let columns = &columns[(first + c) * size..][..size];
            s.rows_of(|place, windows, at, step| {
                let from = &columns[place * count..][windows];
                if step == 1 {
                    image[at..].iter_mut().zip(from).for_each(|(to, &v)| *to += v);
                } else {
                    image[at..]
                        .iter_mut()
                        .step_by(step)
                        .zip(from)
                        .for_each(|(to, &v)| *to += v);
                }
            });
        }
    }
}

/// The columns of an image, in memory that is used again.
fn columns<'v, T: Real>(s: &Sizes, image: &'v [T], room: &'v mut [T]) -> &'v [T] {
    if s.is_pointwise() {
        return image;
    }
    let size = s.rows() / s.channels.max(1) * s.columns();
    let work = room.len() / 4;
    parallel::chunks(room, size, work, |first, columns| {
        let first = first / size.max(1);
        simd::run(Columns {
            s,
            image,
            columns,
            first,
        });
    });
    room
}

/// Memory for columns, if they are not the image.
fn room<T: Real>(s: &Sizes) -> Result<Storage<T>, String> {
    let direct = s.is_pointwise() || s.channels == 1;
    stale(if direct {
        0
    } else {
        s.rows().saturating_mul(s.columns())
    })
}

/// Calls `f` with the numbers and the parts of `size` elements of what is computed channel by channel, some of which share the memory for
/// copies. `work` is that of all together.
fn channels<T: Real>(
    out: &mut [T],
    size: usize,
    work: usize,
    f: impl Fn(usize, &mut Room<T>, &mut [T]) -> Result<(), String> + Sync,
) -> Result<(), String> {
    const PARTS: usize = 32;
    let size = size.max(1);
    let many = (out.len() / size).div_ceil(PARTS).max(1);
    parallel::try_chunks(out, many * size, work, |first, out| {
        let mut room = Room::default();
        let mut parts = out.chunks_exact_mut(size).enumerate();
        let result = parts.try_for_each(|(at, to)| f(first / size + at, &mut room, to));
        room.done();
        result
    })
}

/// The convolution of images with filters: `count` numbers.
///
/// # Errors
/// If there is no memory for it.
pub(super) fn forward<T: Real>(s: &Sizes, x: &[T], filter: &[T], count: usize) -> Result<Storage<T>, String> {
    let all: Vec<_> = parts(s).collect();
    if all.is_empty() {
        return filled(count, T::default());
    }
    let size = s.filters * s.columns();
    if s.channels == 1 {
        count_flops(2 * count * s.rows());
        let layout = Layout::new(s);
        if !parallel::pays(count * s.rows() / 4) {
            // Each result is made when it is computed, so that it is in the cache.
            let (mut out, mut room) = (buffer::room(count)?, Room::default());
            for [image, result, own] in all {
                out.resize(result.end, T::default());
                let (image, filters) = (&x[image], &filter[own]);
                channel(&layout, Job::Out { image, filters }, &mut room, &mut out[result])?;
            }
            room.done();
            return Ok(out);
        }
        let mut out = stale(count)?;
        channels(&mut out, size, count * s.rows() / 4, |at, room, to| {
            let [image, _, own] = all[at].clone();
            let (image, filters) = (&x[image], &filter[own]);
            channel(&layout, Job::Out { image, filters }, room, to)
        })?;
        return Ok(out);
    }
    let mut out = stale(count)?;
    if let Some(near) = Near::of::<T>(s) {
        near.convolve([x, filter], false, &all, &mut out)?;
        return Ok(out);
    }
    let mut room = room::<T>(s)?;
    let p = Product {
        m: s.filters,
        k: s.rows(),
        n: s.columns(),
        tx: false,
        ty: false,
    };
    for [image, result, own] in all {
        let columns = columns(s, &x[image], &mut room);
        T::gemm(p, &filter[own], columns, &mut out[result])?;
    }
    done(room);
    Ok(out)
}

/// The images, filters and results of all parts.
fn jobs<'v, T: Real>(
    s: &Sizes,
    [x, filter]: [&'v [T]; 2],
    all: &'v [[Range<usize>; 3]],
    out: &'v mut [T],
) -> impl Iterator<Item = (&'v [T], &'v [T], &'v mut [T])> {
    let results = out.chunks_exact_mut(s.filters * s.columns());
    let parts = all.iter().cloned().zip(results);
    parts.map(move |([image, _, own], to)| (&x[image], &filter[own], to))
}

/// How images are convolved without the matrix of their windows.
enum Near<'s> {
    Tiles(&'s Sizes, Tiles),
    Shifted(&'s Sizes, Shifted<'s>),
}

impl<'s> Near<'s> {
    /// The fastest way, if there is one.
    fn of<T: Real>(s: &'s Sizes) -> Option<Near<'s>> {
        if s.is_pointwise() {
            return None;
        }
        match Tiles::of::<T>(s) {
            Some(tiles) => Some(Near::Tiles(s, tiles)),
            None => Shifted::of(s).map(|shifted| Near::Shifted(s, shifted)),
        }
    }

    /// Convolves images part by part, and writes over the results. Filters that are `turned` have filters and channels of each group
    /// exchanged, and their windows in reverse.
    fn convolve<T: Real>(
        &self,
        [x, filter]: [&[T]; 2],
        turned: bool,
        all: &[[Range<usize>; 3]],
        out: &mut [T],
    ) -> Result<(), String> {
        let any;
        let (s, shifted) = match self {
            Near::Shifted(s, shifted) => (*s, shifted),
            Near::Tiles(s, tiles) => {
                if tiles.convolve(jobs(s, [x, filter], all, &mut *out), turned)? {
                    return Ok(());
                }
                // A result is not finite.
                any = Shifted::of_any(s).ok_or("the windows are too many")?;
                (*s, &any)
            }
        };
        if !turned {
            return shifted.convolve(jobs(s, [x, filter], all, out));
        }
        let mut straight = stale(filter.len())?;
        let size = s.filters * s.rows();
        for (to, from) in straight.chunks_exact_mut(size).zip(filter.chunks_exact(size)) {
            turn(s, from, to);
        }
        shifted.convolve(jobs(s, [x, &straight], all, out))?;
        done(straight);
        Ok(())
    }
}

/// The filters of a group, given with channels and filters exchanged and windows in reverse.
fn turn<T: Real>(s: &Sizes, from: &[T], to: &mut [T]) {
    let places = s.rows() / s.channels;
    // What some filters get is written side by side.
    const FILTERS: usize = 16;
    let (size, work) = (FILTERS * s.rows(), to.len());
    parallel::chunks(to, size, work, |first, to| {
        let part = first / size;
        for (channel, from) in from.chunks_exact(s.filters * places).enumerate() {
            let from = from[part * FILTERS * places..].chunks_exact(places);
            for (to, from) in to.chunks_exact_mut(s.rows()).zip(from) {
                let to = to[channel * places..][..places].iter_mut();
                to.zip(from.iter().rev()).for_each(|(to, &v)| *to = v);
            }
        }
    });
}

/// The gradient of the images by that of the result.
///
/// # Errors
/// If there is no memory for it.
pub(super) fn image<T: Real>(s: &Sizes, filter: &[T], g: &[T], count: usize) -> Result<Storage<T>, String> {
    let all: Vec<_> = parts(s).collect();
    let back = s.backwards().filter(|_| s.channels > 1 && !all.is_empty());
    if let Some(near) = back.as_ref().and_then(Near::of::<T>) {
        let turned_around = |[image, result, own]: &[Range<usize>; 3]| [result.clone(), image.clone(), own.clone()];
        let all: Vec<_> = all.iter().map(turned_around).collect();
        let mut out = stale(count)?;
        near.convolve([g, filter], true, &all, &mut out)?;
        return Ok(out);
    }
    let mut out = filled(count, T::default())?;
    if s.channels == 1 && !all.is_empty() {
        count_flops(2 * g.len() * s.rows());
        let layout = Layout::of_images(s);
        channels(&mut out, s.area(), g.len() * s.rows() / 4, |at, room, to| {
            let [_, result, own] = all[at].clone();
            let (filters, g) = (&filter[own], &g[result]);
            channel(&layout, Job::Image { filters, g }, room, to)
        })?;
        return Ok(out);
    }
    let mut room = room::<T>(s)?;
    let p = Product {
        m: s.rows(),
        k: s.filters,
        n: s.columns(),
        tx: true,
        ty: false,
    };
    for [image, result, own] in all {
        let x = &mut out[image];
        if s.is_pointwise() {
            T::gemm(p, &filter[own], &g[result], x)?;
            continue;
        }
        T::gemm(p, &filter[own], &g[result], &mut room)?;
        let (columns, area) = (&room[..], s.area());
        parallel::chunks(x, area, columns.len() / 4, |first, image| {
            let first = first / area;
            simd::run(Image {
                s,
                image,
                columns,
                first,
            });
        });
    }
    done(room);
    Ok(out)
}

/// The gradient of the filters by that of the result.
///
/// # Errors
/// If there is no memory for it.
pub(super) fn filter<T: Real>(s: &Sizes, x: &[T], g: &[T], count: usize) -> Result<Storage<T>, String> {
    let all: Vec<_> = parts(s).collect();
    let is_written = s.channels > 1 && !all.is_empty();
    let mut out = if is_written {
        stale(count)?
    } else {
        filled(count, T::default())?
    };
    let size = s.filters * s.rows();
    if s.channels == 1 && !all.is_empty() {
        count_flops(2 * g.len() * s.rows());
        let layout = Layout::new(s);
        channels(&mut out, size, g.len() * s.rows() / 4, |at, room, to| {
            let mut images = all.iter().skip(at).step_by(s.groups).cloned();
            images.try_for_each(|[image, result, _]| {
                let (image, g) = (&x[image], &g[result]);
                channel(&layout, Job::Filter { image, g }, room, to)
            })
        })?;
        return Ok(out);
    }
    if let Some(tiles) = FilterTiles::of::<T>(s).filter(|_| is_written)
        && tiles.gradients(x, g, &mut out)?
    {
        return Ok(out);
    }
    // The first image of each group writes over what is there.
    let jobs = all.into_iter().enumerate();
    let jobs = jobs.map(|(at, [image, result, own])| (&x[image], &g[result], own, at >= s.groups));
    if let Some(shifted) = Shifted::of(s).filter(|_| !s.is_pointwise()) {
        shifted.filters(jobs, &mut out)?;
        return Ok(out);
    }
    let mut room = room::<T>(s)?;
    let p = Product {
        m: s.filters,
        k: s.columns(),
        n: s.rows(),
        tx: false,
        ty: true,
    };
    for (image, g, own, add) in jobs {
        let columns = columns(s, image, &mut room);
        match add {
            true => with_right(p, g, &Right::Matrix(columns), &mut out[own], add)?,
            false => T::gemm(p, g, columns, &mut out[own])?,
        }
    }
    done(room);
    Ok(out)
}
