//! The operations that convolve images, and the sizes of convolutions.

use std::ops::Range;

use pir_dialects::pd;
use pir_dialects::window::{Attributes, Axis};

use super::broadcast::transpose;
use super::gemm::Real;
use super::im2col::{filter, forward, image};
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
    pub(super) n: usize,
    pub(super) groups: usize,
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
    pub(super) fn rows(&self) -> usize {
        self.channels * (self.axes[0].kernel * self.axes[1].kernel) as usize
    }

    /// The number of windows.
    pub(super) fn columns(&self) -> usize {
        self.windows[0] * self.windows[1]
    }

    /// The elements of an image of one channel.
    pub(super) fn area(&self) -> usize {
        (self.axes[0].size * self.axes[1].size) as usize
    }

    /// Those of the convolution that computes the gradient of the image from that of the result, with the filters turned around, if
    /// windows are one element apart.
    pub(super) fn backwards(&self) -> Option<Sizes> {
        let turned = |axis: &Axis, windows: usize| {
            let reach = axis.reach();
            let before = reach - 1 - axis.before;
            Axis {
                size: windows as i64,
                before,
                after: axis.size - 1 + reach - before - windows as i64,
                ..*axis
            }
        };
        let [ay, ax] = &self.axes;
        let axes = [turned(ay, self.windows[0]), turned(ax, self.windows[1])];
        let is_next = self.axes.iter().all(|axis| axis.stride == 1 && axis.size > 0);
        let sizes = Sizes::new(self.n, self.groups, self.filters, self.channels, axes);
        sizes.ok().filter(|s| is_next && s.columns() == self.area())
    }

    /// Whether the windows are the elements of the image.
    pub(super) fn is_pointwise(&self) -> bool {
        let pointwise = |axis: &Axis| axis.kernel == 1 && axis.stride == 1 && axis.before == 0;
        self.axes.iter().all(pointwise) && self.columns() == self.area()
    }

    /// Calls `f` for each row of windows in which a position of the window overlaps the image, for one channel: with
    /// the number of the position, the range of windows, the offset of the first image element, and the stride to the
    /// next one.
    #[inline(always)]
    pub(super) fn rows_of(&self, mut f: impl FnMut(usize, Range<usize>, usize, usize)) {
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
pub(super) fn inside(axis: &Axis, place: i64, windows: usize) -> Range<usize> {
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
