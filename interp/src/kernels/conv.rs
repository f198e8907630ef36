//! Convolutions by im2col: the windows of an image become the columns of a matrix, which is multiplied with the
//! filters.

use crate::tensor::Storage;
use crate::tensor::buffer::filled;
use pir_dialects::pd;
use pir_dialects::window::{Attributes, Axis};

use super::broadcast::transpose;
use super::gemm::{Product, Real};
use super::{Kernel, Outputs, Prepare, Spec, one, take};
use crate::tensor::{DType, Data, Shape, Tensor, checked_count};

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
                return Err(format!("a gradient of shape {:?} for {:?}", g.shape(), shape.out()));
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
struct Sizes {
    n: usize,
    groups: usize,
    /// The channels and filters of a group.
    channels: usize,
    filters: usize,
    axes: [Axis; 2],
    windows: [usize; 2],
}

fn four(shape: &[usize]) -> Result<[usize; 4], String> {
    shape
        .try_into()
        .map_err(|_| format!("four dimensions are needed, not {shape:?}"))
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
                "an image of shape {image:?} in {} groups does not fit filters of shape {filter:?}",
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
                "an image of shape {out:?} in {} groups does not fit filters of shape {filter:?}",
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
    fn new(n: usize, groups: usize, channels: usize, filters: usize, axes: [Axis; 2]) -> Result<Sizes, String> {
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

    /// Calls `f` with the indices in the columns and in the channels of a group, wherever a window overlaps the image.
    fn each(&self, mut f: impl FnMut(usize, usize)) {
        let [ay, ax] = &self.axes;
        let (h, w) = (ay.size, ax.size);
        let mut column = 0;
        for c in 0..self.channels as i64 {
            for ky in 0..ay.kernel {
                for kx in 0..ax.kernel {
                    for oy in 0..self.windows[0] as i64 {
                        let y = oy * ay.stride + ky * ay.dilation - ay.before;
                        if !(0..h).contains(&y) {
                            column += self.windows[1];
                            continue;
                        }
                        let row = (c * h + y) * w;
                        let first = kx * ax.dilation - ax.before;
                        for ox in 0..self.windows[1] as i64 {
                            let x = ox * ax.stride + first;
                            if (0..w).contains(&x) {
                                f(column, (row + x) as usize);
                            }
                            column += 1;
                        }
                    }
                }
            }
        }
    }
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
        _ => return Err("a convolution is of floats".to_owned()),
    };
    Ok(Tensor::from_parts(shape.into(), data))
}

/// The indices of images and groups, with the ranges of the image, the result and the filter of each.
fn parts(s: &Sizes) -> impl Iterator<Item = [std::ops::Range<usize>; 3]> {
    let area = (s.axes[0].size * s.axes[1].size) as usize;
    let sizes = [s.channels * area, s.filters * s.columns(), s.filters * s.rows()];
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

fn forward<T: Real>(s: &Sizes, x: &[T], filter: &[T], count: usize) -> Result<Storage<T>, String> {
    let mut out = filled(count, T::default())?;
    let mut columns = filled(s.rows().saturating_mul(s.columns()), T::default())?;
    let p = Product {
        m: s.filters,
        k: s.rows(),
        n: s.columns(),
        tx: false,
        ty: false,
    };
    for [image, result, own] in parts(s) {
        let x = &x[image];
        s.each(|column, at| columns[column] = x[at]);
        T::gemm(p, &filter[own], &columns, &mut out[result]);
    }
    Ok(out)
}

fn image<T: Real>(s: &Sizes, filter: &[T], g: &[T], count: usize) -> Result<Storage<T>, String> {
    let mut out = filled(count, T::default())?;
    let mut columns = filled(s.rows().saturating_mul(s.columns()), T::default())?;
    let p = Product {
        m: s.rows(),
        k: s.filters,
        n: s.columns(),
        tx: true,
        ty: false,
    };
    for [image, result, own] in parts(s) {
        T::gemm(p, &filter[own], &g[result], &mut columns);
        let x = &mut out[image];
        s.each(|column, at| x[at] += columns[column]);
    }
    Ok(out)
}

fn filter<T: Real>(s: &Sizes, x: &[T], g: &[T], count: usize) -> Result<Storage<T>, String> {
    let mut out = filled(count, T::default())?;
    let mut columns = filled(s.rows().saturating_mul(s.columns()), T::default())?;
    let mut part = filled(s.filters * s.rows(), T::default())?;
    let p = Product {
        m: s.filters,
        k: s.columns(),
        n: s.rows(),
        tx: false,
        ty: true,
    };
    for [image, result, own] in parts(s) {
        let x = &x[image];
        s.each(|column, at| columns[column] = x[at]);
        T::gemm(p, &g[result], &columns, &mut part);
        out[own].iter_mut().zip(part.iter()).for_each(|(sum, &v)| *sum += v);
    }
    Ok(out)
}
