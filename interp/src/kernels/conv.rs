//! Convolutions by im2col: the windows of an image become the columns of a matrix, which is multiplied with the
//! filters. Windows of one element are the image itself; those that are one element apart need no matrix.

use std::ops::Range;

use pir_dialects::pd;
use pir_dialects::window::{Attributes, Axis};

use super::broadcast::transpose;
use super::depthwise::{Job, Layout, channel};
use super::gemm::{Product, Real};
use super::shifted::Shifted;
use super::{Kernel, Outputs, Prepare, Spec, one, take};
use crate::exec::count_flops;
use crate::parallel;
use crate::simd::{self, Task};
use crate::tensor::buffer::{self, done, filled, stale};
use crate::tensor::{DType, Data, Shape, Storage, Tensor, checked_count};

pub(super) const KERNELS: &[(&str, Prepare)] = &[
    (pd::Conv2d::NAME, conv),
    (pd::DepthwiseConv2d::NAME, conv),
    (pd::Conv2dGrad::NAME, |s| {
        let conv = Conv::of(s)?;
        let wanted = [s.reads(0), s.reads(1)];
        Ok(Box::new(move |inputs| {
            let [x, filter, g] = take(inputs)?;
            let (x, g) = (conv.channels_first(&x)?, conv.channels_first(&g)?);
            let shape = conv.over(x.shape(), filter.shape())?;
            if g.shape() != &shape.out()[..] {
                return Err(format!(
                    "the gradient has shape {:?}, but the image has shape {:?}",
                    g.shape(),
                    shape.out()
                ));
            }
            // Unused results are not computed.
            let dx = match wanted[0] {
                true => product(Which::Image, &shape, &filter, &g, &shape.image())?,
                false => Tensor::full(&shape.image(), x.dtype(), 0.0)?,
            };
            let dw = match wanted[1] {
                true => product(Which::Filter, &shape, &x, &g, filter.shape())?,
                false => Tensor::full(filter.shape(), x.dtype(), 0.0)?,
            };
            let mut out = Outputs::new();
            out.extend([conv.channels_back(dx)?, dw]);
            Ok(out)
        }))
    }),
    (pd::Conv2dTranspose::NAME, |s| {
        let conv = Conv::of(s)?;
        let more = s.ints("output_padding").unwrap_or_default();
        let size = s.ints_or_operand("output_size");
        Ok(Box::new(move |inputs| {
            let size = size.get(&inputs)?.unwrap_or_default();
            let [x, filter] = take(inputs)?;
            let x = conv.channels_first(&x)?;
            let shape = conv.under(x.shape(), filter.shape(), &more, &size)?;
            one(conv.channels_back(product(Which::Image, &shape, &filter, &x, &shape.image())?)?)
        }))
    }),
];

fn conv(s: &Spec<'_>) -> Result<Kernel, String> {
    let conv = Conv::of(s)?;
    Ok(Box::new(move |inputs| {
        let [x, filter] = take(inputs)?;
        let x = conv.channels_first(&x)?;
        let shape = conv.over(x.shape(), filter.shape())?;
        one(conv.channels_back(product(Which::Out, &shape, &x, &filter, &shape.out())?)?)
    }))
}

/// The window attributes.
pub(super) fn attributes(s: &Spec<'_>) -> Attributes {
    Attributes::of(
        |name| s.ints(name),
        Some(s.text("padding_algorithm", "EXPLICIT").to_owned()),
    )
}

struct Conv {
    attributes: Attributes,
    groups: usize,
    channels_last: bool,
}

/// The sizes of a convolution.
pub(super) struct Sizes {
    n: usize,
    groups: usize,
    /// The channels and filters of a group.
    pub(super) channels: usize,
    pub(super) filters: usize,
    pub(super) axes: [Axis; 2],
    pub(super) windows: [usize; 2],
}

fn four(shape: &[usize]) -> Result<[usize; 4], String> {
    shape
        .try_into()
        .map_err(|_| format!("expected four dimensions, found shape {shape:?}"))
}

impl Conv {
    fn of(s: &Spec<'_>) -> Result<Conv, String> {
        Ok(Conv {
            attributes: attributes(s),
            groups: usize::try_from(s.int("groups", 1))
                .ok()
                .filter(|&g| g > 0)
                .ok_or("`groups` must be positive")?,
            channels_last: s.text("data_format", "NCHW") == "NHWC",
        })
    }

    fn channels_first(&self, x: &Tensor) -> Result<Tensor, String> {
        match self.channels_last {
            true if x.rank() == 4 => transpose(x, &[0, 3, 1, 2]),
            _ => Ok(x.clone()),
        }
    }

    fn channels_back(&self, x: Tensor) -> Result<Tensor, String> {
        match self.channels_last {
            true => transpose(&x, &[0, 2, 3, 1]),
            false => Ok(x),
        }
    }

    /// The sizes for convolving an image.
    fn over(&self, image: &[usize], filter: &[usize]) -> Result<Sizes, String> {
        let ([n, c, h, w], [m, channels, kh, kw]) = (four(image)?, four(filter)?);
        if channels.checked_mul(self.groups) != Some(c) || m % self.groups != 0 {
            return Err(format!(
                "an image of shape {image:?} in {} groups does not match filters of shape {filter:?}",
                self.groups
            ));
        }
        let axes = self.attributes.axes([h as i64, w as i64], [kh as i64, kw as i64])?;
        Sizes::new(n, self.groups, channels, m / self.groups, axes)
    }

    /// The sizes of the convolution with the given result.
    fn under(&self, out: &[usize], filter: &[usize], more: &[i64], size: &[i64]) -> Result<Sizes, String> {
        let ([n, m, h, w], [filters, channels, kh, kw]) = (four(out)?, four(filter)?);
        if filters != m || m % self.groups != 0 {
            return Err(format!(
                "an image of shape {out:?} in {} groups does not match filters of shape {filter:?}",
                self.groups
            ));
        }
        let mut axes = self.attributes.axes([h as i64, w as i64], [kh as i64, kw as i64])?;
        for (i, axis) in axes.iter_mut().enumerate() {
            let nth = |list: &[i64]| list.get(i).or(list.first()).copied();
            axis.size = match nth(size) {
                Some(size) if size >= 0 => size,
                Some(size) => return Err(format!("an image of size {size}")),
                None => axis.transposed(nth(more).unwrap_or(0))?,
            };
        }
        let sizes = Sizes::new(n, self.groups, channels, m / self.groups, axes)?;
        if sizes.windows != [h, w] {
            return Err(format!(
                "an image of {} by {} has {:?} windows, not {:?}",
                axes[0].size,
                axes[1].size,
                sizes.windows,
                [h, w]
            ));
        }
        Ok(sizes)
    }
}

impl Sizes {
    pub(super) fn new(
        n: usize,
        groups: usize,
        channels: usize,
        filters: usize,
        axes: [Axis; 2],
    ) -> Result<Sizes, String> {
        let windows = [axes[0].windows(false)? as usize, axes[1].windows(false)? as usize];
        let sizes = Sizes {
            n,
            groups,
            channels,
            filters,
            axes,
            windows,
        };
        checked_count(&[sizes.rows(), windows[0], windows[1]], 8)?;
        Ok(sizes)
    }

    fn image(&self) -> Shape {
        let [h, w] = [self.axes[0].size as usize, self.axes[1].size as usize];
        Shape::from_slice(&[self.n, self.groups * self.channels, h, w])
    }

    fn out(&self) -> Shape {
        Shape::from_slice(&[self.n, self.groups * self.filters, self.windows[0], self.windows[1]])
    }

    /// The number of elements of a window in all channels of a group.
    fn rows(&self) -> usize {
        self.channels * (self.axes[0].kernel * self.axes[1].kernel) as usize
    }

    fn columns(&self) -> usize {
        self.windows[0] * self.windows[1]
    }

    /// The elements of an image of one channel.
    pub(super) fn area(&self) -> usize {
        (self.axes[0].size * self.axes[1].size) as usize
    }

    /// Whether the windows are the elements of the image.
    fn is_pointwise(&self) -> bool {
        let pointwise = |axis: &Axis| axis.kernel == 1 && axis.stride == 1 && axis.before == 0;
        self.axes.iter().all(pointwise) && self.columns() == self.area()
    }

    /// Calls `f` for each row of windows in which a position of the window overlaps the image, for one channel: with
    /// the number of the position, the range of windows, the offset of the first image element, and the stride to the
    /// next one.
    #[inline(always)]
    fn rows_of(&self, mut f: impl FnMut(usize, Range<usize>, usize, usize)) {
        let [ay, ax] = &self.axes;
        let mut place = 0;
        for ky in 0..ay.kernel {
            for kx in 0..ax.kernel {
                let (rows, columns) = (inside(ay, ky, self.windows[0]), inside(ax, kx, self.windows[1]));
                for oy in rows {
                    let y = oy as i64 * ay.stride + ky * ay.dilation - ay.before;
                    let x = columns.start as i64 * ax.stride + kx * ax.dilation - ax.before;
                    if !columns.is_empty() {
                        let first = oy * self.windows[1];
                        let windows = first + columns.start..first + columns.end;
                        f(place, windows, (y * ax.size + x) as usize, ax.stride as usize);
                    }
                }
                place += 1;
            }
        }
    }
}

/// The windows in which a place of the kernel is inside of the image.
fn inside(axis: &Axis, place: i64, windows: usize) -> Range<usize> {
    let before = axis.before - place * axis.dilation;
    let first = before.max(0).unsigned_abs().div_ceil(axis.stride.unsigned_abs().max(1)) as usize;
    let last = match axis.size + before {
        0.. => (axis.size + before)
            .unsigned_abs()
            .div_ceil(axis.stride.unsigned_abs().max(1)) as usize,
        _ => 0,
    };
    first.min(windows)..last.clamp(first.min(windows), windows)
}

/// Which of result, image and filter is computed from the other two.
#[derive(Clone, Copy)]
enum Which {
    Out,
    Image,
    Filter,
}

/// `a` and `b` are image and filter for the result, filter and result for the image, image and result for the filter.
fn product(which: Which, s: &Sizes, a: &Tensor, b: &Tensor, shape: &[usize]) -> Result<Tensor, String> {
    let dtype = a.dtype();
    if b.dtype() != dtype {
        return Err(format!(
            "element types {} and {} differ",
            dtype.name(),
            b.dtype().name()
        ));
    }
    let count = checked_count(shape, dtype.size())?;
    fn run<T: Real>(which: Which, s: &Sizes, a: &[T], b: &[T], count: usize) -> Result<Data, String> {
        Ok(T::wrap(match which {
            Which::Out => forward(s, a, b, count)?,
            Which::Image => image(s, a, b, count)?,
            Which::Filter => filter(s, a, b, count)?,
        }))
    }
    let data = match (a.data(), b.data()) {
        (Data::F32(a), Data::F32(b)) => run::<f32>(which, s, a, b, count)?,
        (Data::F64(a), Data::F64(b)) => run::<f64>(which, s, a, b, count)?,
        _ if dtype.is_float() => {
            // Half precision is computed in single precision and rounded once.
            return product(which, s, &a.cast(DType::F32)?, &b.cast(DType::F32)?, shape)?.cast(dtype);
        }
        _ => return Err("a convolution needs a float element type".to_owned()),
    };
    Ok(Tensor::from_parts(shape.into(), data))
}

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

fn forward<T: Real>(s: &Sizes, x: &[T], filter: &[T], count: usize) -> Result<Storage<T>, String> {
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
            let mut out = buffer::room(count)?;
            for [image, result, own] in all {
                out.resize(result.end, T::default());
                let (image, filters) = (&x[image], &filter[own]);
                channel(&layout, Job::Out { image, filters }, &mut out[result])?;
            }
            return Ok(out);
        }
        let mut out = stale(count)?;
        parallel::try_chunks(&mut out, size, count * s.rows() / 4, |first, to| {
            let [image, _, own] = all[first / size].clone();
            let (image, filters) = (&x[image], &filter[own]);
            channel(&layout, Job::Out { image, filters }, to)
        })?;
        return Ok(out);
    }
    let mut out = stale(count)?;
    if let Some(shifted) = Shifted::of(s).filter(|_| !s.is_pointwise()) {
        let results = out.chunks_exact_mut(size);
        shifted.convolve(
            all.into_iter()
                .zip(results)
                .map(|([image, _, own], to)| (&x[image], &filter[own], to)),
        )?;
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

fn image<T: Real>(s: &Sizes, filter: &[T], g: &[T], count: usize) -> Result<Storage<T>, String> {
    let mut out = filled(count, T::default())?;
    let all: Vec<_> = parts(s).collect();
    if s.channels == 1 && !all.is_empty() {
        count_flops(2 * g.len() * s.rows());
        let layout = Layout::new(s);
        parallel::try_chunks(&mut out, s.area(), g.len() * s.rows() / 4, |first, to| {
            let [_, result, own] = all[first / s.area()].clone();
            let (filters, g) = (&filter[own], &g[result]);
            channel(&layout, Job::Image { filters, g }, to)
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

fn filter<T: Real>(s: &Sizes, x: &[T], g: &[T], count: usize) -> Result<Storage<T>, String> {
    let mut out = filled(count, T::default())?;
    let all: Vec<_> = parts(s).collect();
    let size = s.filters * s.rows();
    if s.channels == 1 && !all.is_empty() {
        count_flops(2 * g.len() * s.rows());
        let layout = Layout::new(s);
        parallel::try_chunks(&mut out, size, g.len() * s.rows() / 4, |first, to| {
            let mut images = all.iter().skip(first / size).step_by(s.groups).cloned();
            images.try_for_each(|[image, result, _]| {
                let (image, g) = (&x[image], &g[result]);
                channel(&layout, Job::Filter { image, g }, to)
            })
        })?;
        return Ok(out);
    }
    let (mut room, mut part) = (room::<T>(s)?, stale::<T>(size)?);
    let p = Product {
        m: s.filters,
        k: s.columns(),
        n: s.rows(),
        tx: false,
        ty: true,
    };
    for [image, result, own] in all {
        let columns = columns(s, &x[image], &mut room);
        T::gemm(p, &g[result], columns, &mut part)?;
        out[own].iter_mut().zip(part.iter()).for_each(|(sum, &v)| *sum += v);
    }
    done(room);
    done(part);
    Ok(out)
}
