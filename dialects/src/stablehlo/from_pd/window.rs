//! Convolutions and poolings.

use pir_ir::Type;

use super::super::ops;
use super::hlo::{
    Frame, Num, array, constant, converted, cut, dialect, emit, filled, iota, joined, padded, pairs, reshaped,
    reversed, spread_along, transposed,
};
use super::reduce::{bound, first_of_equals};
use super::{Cx, Rows, rows};
use crate::pd::{self, Expr, Source};
use crate::window::{Attributes, Axis};

pub(super) const ROWS: Rows = rows! {
    Conv2d |c, _| Conv::of(c)?.forward(c, c.x(0), c.x(1));
    DepthwiseConv2d |c, _| Conv::of(c)?.forward(c, c.x(0), c.x(1));
    Conv2dGrad |c, _| {
        let conv = Conv::of(c)?;
        let (x, filter, g) = (conv.first(c.x(0)), c.x(1), conv.first(c.x(2)));
        let image = conv.image(c, filter, g, [x.dims()[2], x.dims()[3]])?;
        vec![converted(conv.back(image), c.elem()), conv.filter(c, x, filter, g)?]
    };
    Conv2dTranspose |c, _| {
        let conv = Conv::of(c)?;
        let dims = c.dims();
        let size = if conv.last { [dims[1], dims[2]] } else { [dims[2], dims[3]] };
        let image = conv.image(c, c.x(1), conv.first(c.x(0)), size)?;
        converted(conv.back(image), c.elem())
    };
    Pool2d |c, op| {
        let pool = Pool::of(c, c.ints(op.kernel_size(), "kernel_size")?)?;
        let x = pool.first(c.x(0));
        let out = match pool.mean {
            true => pool.averages(c, x)?,
            false => pool.greatest(c, x)?[0],
        };
        pool.back(out)
    };
    MaxPool2dWithIndex |c, op| {
        let pool = Pool::of(c, op.kernel_size().ok_or("`kernel_size` is missing")?)?;
        let [out, places] = pool.greatest(c, pool.first(c.x(0)))?;
        vec![pool.back(out), pool.back(converted(places, c.tensor(1).1))]
    };
    Pool2dGrad |c, op| {
        let pool = Pool::of(c, c.ints(op.kernel_size(), "kernel_size")?)?;
        let (x, g) = (pool.first(c.x(0)), pool.first(c.x(2)));
        let out = match pool.mean {
            true => pool.spread_averages(c, x, g)?,
            false => pool.to_greatest(c, x, g)?,
        };
        pool.back(out)
    };
};

fn text<'c>(c: &Cx<'c>, name: &str) -> Option<&'c str> {
    c.attribute(name).and_then(|attr| c.ctx().attr_str(attr))
}

fn attributes(c: &Cx<'_>) -> Attributes {
    let ints = |name: &str| Some(c.ctx().attr_ints(c.attribute(name)?)?.to_vec());
    Attributes::of(ints, text(c, "padding_algorithm").map(str::to_owned))
}

/// With the channels before the dimensions of space.
fn channels_first(x: Expr<'_>, last: bool) -> Expr<'_> {
    if last && x.rank() == 4 {
        transposed(x, &[0, 3, 1, 2])
    } else {
        x
    }
}

fn channels_back(x: Expr<'_>, last: bool) -> Expr<'_> {
    if last { transposed(x, &[0, 2, 3, 1]) } else { x }
}

struct Conv {
    attributes: Attributes,
    groups: i64,
    last: bool,
}

impl Conv {
    fn of(c: &Cx<'_>) -> Result<Conv, String> {
        let groups = c
            .attribute("groups")
            .and_then(|attr| c.ctx().attr_int(attr))
            .unwrap_or(1);
        match groups > 0 && c.x(0).rank() == 4 && c.x(1).rank() == 4 {
            true => Ok(Conv {
                attributes: attributes(c),
                groups,
                last: text(c, "data_format") == Some("NHWC"),
            }),
            false => Err("it needs an image and a filter of four dimensions, and at least one group".to_owned()),
        }
    }

    fn first<'c>(&self, x: Expr<'c>) -> Expr<'c> {
        channels_first(x, self.last)
    }

    fn back<'c>(&self, x: Expr<'c>) -> Expr<'c> {
        channels_back(x, self.last)
    }

    fn forward<'c>(&self, c: &Cx<'c>, x: Expr<'c>, filter: Expr<'c>) -> Result<Expr<'c>, String> {
        let x = self.first(x);
        let axes = self.axes([x.dims()[2], x.dims()[3]], filter)?;
        let windows = axes.map(|axis| Slide {
            stride: axis.stride,
            padding: (axis.before, axis.after),
            spread: 1,
            dilation: axis.dilation,
        });
        let out = slide(c, x, filter, windows, self.groups);
        Ok(converted(self.back(out), c.elem()))
    }

    fn axes(&self, size: [i64; 2], filter: Expr<'_>) -> Result<[Axis; 2], String> {
        self.attributes.axes(size, [filter.dims()[2], filter.dims()[3]])
    }

    /// The gradient of an image of some size: the cotangent spread by the stride, convolved with the filter turned around.
    fn image<'c>(&self, c: &Cx<'c>, filter: Expr<'c>, g: Expr<'c>, size: [i64; 2]) -> Result<Expr<'c>, String> {
        // The borders of `SAME` are those of the image that is given.
        let given = if self.attributes.algorithm == "SAME" && c.name == pd::Conv2dTranspose::NAME {
            [g.dims()[2], g.dims()[3]]
        } else {
            size
        };
        let axes = self.axes(given, filter)?;
        let &[filters, channels, kh, kw] = filter.dims() else {
            return Err("filters have four dimensions".to_owned());
        };
        let turned = reshaped(filter, &[self.groups, filters / self.groups, channels, kh, kw]);
        let turned = transposed(turned, &[0, 2, 1, 3, 4]);
        let turned = reshaped(turned, &[self.groups * channels, filters / self.groups, kh, kw]);
        let mut windows = Vec::new();
        for (at, axis) in axes.iter().enumerate() {
            let spread = (g.dims()[2 + at] - 1) * axis.stride + 1;
            let low = axis.reach() - axis.before - 1;
            windows.push(Slide {
                stride: 1,
                padding: (low, size[at] + axis.reach() - 1 - spread - low),
                spread: axis.stride,
                dilation: axis.dilation,
            });
        }
        Ok(slide(
            c,
            g,
            reversed(turned, &[2, 3]),
            [windows[0], windows[1]],
            self.groups,
        ))
    }

    /// The gradient of the filter: the image convolved with the cotangent, images as channels.
    fn filter<'c>(&self, c: &Cx<'c>, x: Expr<'c>, filter: Expr<'c>, g: Expr<'c>) -> Result<Expr<'c>, String> {
        let (&[n, channels, h, w], groups) = (x.dims(), self.groups) else {
            return Err("images have four dimensions".to_owned());
        };
        let axes = self.axes([h, w], filter)?;
        let image = reshaped(x, &[n, groups, channels / groups, h, w]);
        let image = reshaped(
            transposed(image, &[2, 1, 0, 3, 4]),
            &[channels / groups, groups * n, h, w],
        );
        let windows = [0, 1].map(|at| {
            let (axis, out) = (axes[at], g.dims()[2 + at]);
            let spread = (out - 1) * axis.stride + 1;
            Slide {
                stride: axis.dilation,
                padding: (axis.before, axis.reach() - 1 + spread - axis.size - axis.before),
                spread: 1,
                dilation: axis.stride,
            }
        });
        let out = slide(c, image, transposed(g, &[1, 0, 2, 3]), windows, groups);
        Ok(converted(transposed(out, &[1, 0, 2, 3]), c.tensor(1).1))
    }
}

/// How a filter goes along a dimension.
#[derive(Clone, Copy)]
struct Slide {
    stride: i64,
    padding: (i64, i64),
    /// The distance of the elements of the image.
    spread: i64,
    /// The distance of the elements of the filter.
    dilation: i64,
}

/// A convolution with the channels first.
fn slide<'c>(c: &Cx<'c>, x: Expr<'c>, filter: Expr<'c>, along: [Slide; 2], groups: i64) -> Expr<'c> {
    let ctx = c.ctx();
    let elem = match x.elem() {
        // Halves are computed in single precision and rounded once.
        Some(Type::F16 | Type::BF16) => Type::F32,
        elem => elem.unwrap_or(Type::NONE),
    };
    let (x, filter) = (converted(x, elem), converted(filter, elem));
    let of = |f: fn(&Slide) -> i64| array(ctx, &along.each_ref().map(f));
    let sizes = [0, 1].map(|at| {
        let Slide {
            stride,
            padding,
            spread,
            dilation,
        } = along[at];
        let image = (x.dims()[2 + at] - 1) * spread + 1 + padding.0 + padding.1;
        (image - ((filter.dims()[2 + at] - 1) * dilation + 1)) / stride + 1
    });
    let attrs = [
        ("batch_group_count", ctx.int_attr(1)),
        (
            "dimension_numbers",
            dialect(ctx, ".conv<[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]>"),
        ),
        ("feature_group_count", ctx.int_attr(groups)),
        ("lhs_dilation", of(|s| s.spread)),
        ("padding", pairs(ctx, &along.map(|s| s.padding))),
        ("rhs_dilation", of(|s| s.dilation)),
        ("window_strides", of(|s| s.stride)),
    ];
    let ty = ctx.tensor(&[x.dims()[0], filter.dims()[0], sizes[0], sizes[1]], elem);
    emit(c.scope, ops::Convolution::NAME, &[x, filter], &attrs, ty)
}

/// The windows along a dimension.
struct Windows {
    /// The first element of each, the one after the last, and how many an average counts.
    parts: Vec<(i64, i64, i64)>,
    /// The window that slides, if they are all alike.
    slides: Option<Slides>,
}

struct Slides {
    kernel: i64,
    stride: i64,
    padding: (i64, i64),
}

struct Pool {
    mean: bool,
    last: bool,
    axes: [Windows; 2],
}

impl Pool {
    fn of(c: &Cx<'_>, kernel: Vec<i64>) -> Result<Pool, String> {
        let last = text(c, "data_format") == Some("NHWC");
        let &[_, a, b, d] = c.x(0).dims() else {
            return Err("four dimensions are needed".to_owned());
        };
        let size = if last { [a, b] } else { [b, d] };
        let kernel = match kernel[..] {
            [both] => [both, both],
            [h, w] => [h, w],
            _ => return Err("`kernel_size` must be two numbers".to_owned()),
        };
        let flag = |name: &str, default| c.flag(name).unwrap_or(default);
        let (global, exclusive) = (flag("global_pooling", false), flag("exclusive", true));
        let windows: Vec<Windows> = if global || flag("adaptive", false) {
            let count = if global { [1, 1] } else { kernel };
            [0, 1].map(|at| Windows::shares(size[at], count[at])).into()
        } else {
            let axes = attributes(c).axes(size, kernel)?;
            let ceil = flag("ceil_mode", false);
            axes.iter()
                .map(|axis| Windows::sliding(axis, ceil, exclusive))
                .collect::<Result<_, _>>()?
        };
        let axes = <[Windows; 2]>::try_from(windows).map_err(|_| "two dimensions are needed")?;
        let mean = text(c, "pooling_type") == Some("avg") && c.name != pd::MaxPool2dWithIndex::NAME;
        Ok(Pool { mean, last, axes })
    }

    fn first<'c>(&self, x: Expr<'c>) -> Expr<'c> {
        channels_first(x, self.last)
    }

    fn back<'c>(&self, x: Expr<'c>) -> Expr<'c> {
        channels_back(x, self.last)
    }

    /// The window of a `reduce_window`, if the windows are all alike.
    fn slides(&self) -> Option<Frame> {
        let [h, w] = [self.axes[0].slides.as_ref()?, self.axes[1].slides.as_ref()?];
        Some(Frame {
            sizes: vec![1, 1, h.kernel, w.kernel],
            strides: vec![1, 1, h.stride, w.stride],
            padding: vec![(0, 0), (0, 0), h.padding, w.padding],
        })
    }

    fn shape(&self, x: Expr<'_>) -> [i64; 4] {
        let [h, w] = self.axes.each_ref().map(|axis| axis.parts.len() as i64);
        [x.dims()[0], x.dims()[1], h, w]
    }

    /// How many elements an average counts, for each window.
    fn counts<'c>(&self, c: &Cx<'c>, like: Expr<'c>, dims: &[i64]) -> Expr<'c> {
        let elem = like.elem().unwrap_or(Type::NONE);
        let along = |axis: &Windows, place: i64| {
            let counts = axis.parts.iter().map(|part| Num::Int(part.2));
            spread_along(
                constant(c.scope, &[axis.parts.len() as i64], elem, counts),
                &[place],
                dims,
            )
        };
        let count = along(&self.axes[0], 2) * along(&self.axes[1], 3);
        count.maximum(filled(c.scope, dims, elem, Num::Int(1)))
    }

    /// For each window and element of a dimension whether it is one of the window's.
    fn members<'c>(&self, c: &Cx<'c>, at: usize, elem: Type, size: i64) -> Expr<'c> {
        let parts = &self.axes[at].parts;
        let inside = parts
            .iter()
            .flat_map(|part| (0..size).map(move |n| Num::Int((part.0 <= n && n < part.1).into())));
        constant(c.scope, &[parts.len() as i64, size], elem, inside)
    }

    fn averages<'c>(&self, c: &Cx<'c>, x: Expr<'c>) -> Result<Expr<'c>, String> {
        let (dims, elem) = (self.shape(x), x.elem().ok_or("an operand is missing")?);
        let sum = match self.slides() {
            Some(frame) => c.fold_windows(ops::Add::NAME, x, Num::Int(0), &frame, &dims),
            None => {
                let [rows, columns] = [0, 1].map(|at| self.members(c, at, elem, x.dims()[2 + at]));
                rows.matmul(x).matmul_with(columns, |o| o.transpose_y(true))
            }
        };
        Ok(sum / self.counts(c, x, &dims))
    }

    /// The cotangent of each window shared by its elements.
    fn spread_averages<'c>(&self, c: &Cx<'c>, x: Expr<'c>, g: Expr<'c>) -> Result<Expr<'c>, String> {
        let elem = g.elem().ok_or("an operand is missing")?;
        let share = g / self.counts(c, g, g.dims());
        let (Some(h), Some(w)) = (&self.axes[0].slides, &self.axes[1].slides) else {
            let [rows, columns] = [0, 1].map(|at| self.members(c, at, elem, x.dims()[2 + at]));
            return Ok(transposed(rows, &[1, 0]).matmul(share).matmul(columns));
        };
        let zero = filled(c.scope, &[], elem, Num::Int(0));
        let mut widths = vec![(0, 0, 0); 2];
        for (at, slides) in [h, w].into_iter().enumerate() {
            let spread = (g.dims()[2 + at] - 1) * slides.stride + 1;
            let low = slides.kernel - 1 - slides.padding.0;
            widths.push((
                low,
                x.dims()[2 + at] + slides.kernel - 1 - spread - low,
                slides.stride - 1,
            ));
        }
        let apart = padded(share, zero, &widths);
        let frame = Frame {
            sizes: vec![1, 1, h.kernel, w.kernel],
            strides: vec![1; 4],
            padding: vec![(0, 0); 4],
        };
        Ok(c.fold_windows(ops::Add::NAME, apart, Num::Int(0), &frame, x.dims()))
    }

    /// The greatest element of each window and its place in its channel: the first of equals; NaN exceeds everything.
    fn greatest<'c>(&self, c: &Cx<'c>, x: Expr<'c>) -> Result<[Expr<'c>; 2], String> {
        let elem = x.elem().ok_or("an operand is missing")?;
        let width = filled(c.scope, x.dims(), Type::I64, Num::Int(x.dims()[3]));
        let places = iota(c.scope, x.dims(), 2, Type::I64) * width + iota(c.scope, x.dims(), 3, Type::I64);
        let region = |c: &Cx<'c>| first_of_equals(c, elem, Type::I64, "GT");
        let inits = [
            filled(c.scope, &[], elem, bound(c, elem, false)),
            filled(c.scope, &[], Type::I64, Num::Int(i64::MAX)),
        ];
        let types = |dims: &[i64]| [elem, Type::I64].map(|elem| c.ctx().tensor(dims, elem));
        let found = match self.slides() {
            Some(frame) => {
                let operands = [x, places, inits[0], inits[1]];
                c.reduce_windows(&operands, &frame, region(c), &types(&self.shape(x)))
            }
            None => {
                let mut pair = vec![x, places];
                for at in [2, 3] {
                    pair = self.greatest_along(c, pair, &inits, at, &region, &types);
                }
                pair
            }
        };
        <[Expr<'c>; 2]>::try_from(found).map_err(|_| "an operand is missing".to_owned())
    }

    /// The same along one dimension, window by window.
    fn greatest_along<'c>(
        &self,
        c: &Cx<'c>,
        pair: Vec<Expr<'c>>,
        inits: &[Expr<'c>],
        at: usize,
        region: &dyn Fn(&Cx<'c>) -> Option<pir_ir::RegionId>,
        types: &dyn Fn(&[i64]) -> [Type; 2],
    ) -> Vec<Expr<'c>> {
        let mut dims = pair[0].dims().to_vec();
        dims[at] = 1;
        let mut kept = dims.clone();
        kept.remove(at);
        let attrs = [("dimensions", array(c.ctx(), &[at as i64]))];
        let (mut values, mut places) = (Vec::new(), Vec::new());
        for &(start, end, _) in &self.axes[at - 2].parts {
            let mut operands: Vec<Expr<'c>> = pair.iter().map(|&x| cut(x, at, start, end)).collect();
            operands.extend(inits);
            let found = c.with_regions(ops::Reduce::NAME, &operands, &attrs, &[region(c)], &types(&kept));
            if let [value, place] = found[..] {
                values.push(reshaped(value, &dims));
                places.push(reshaped(place, &dims));
            }
        }
        vec![joined(c.scope, &values, at), joined(c.scope, &places, at)]
    }

    /// The cotangent of each window given to its greatest element.
    fn to_greatest<'c>(&self, c: &Cx<'c>, x: Expr<'c>, g: Expr<'c>) -> Result<Expr<'c>, String> {
        let [_, places] = self.greatest(c, x)?;
        let (&[n, channels, h, w], elem) = (x.dims(), x.elem().ok_or("an operand is missing")?) else {
            return Err("four dimensions are needed".to_owned());
        };
        let windows = g.dims()[2] * g.dims()[3];
        let zeros = filled(c.scope, &[n * channels, h * w], elem, Num::Int(0));
        let flat = [n * channels, windows];
        let out = zeros.put_along_axis_with(reshaped(places, &flat), reshaped(g, &flat), 1, |o| o.reduce("add"));
        Ok(out.reshape(x.dims()))
    }
}

impl Windows {
    /// As many windows as equal as possible.
    fn shares(size: i64, count: i64) -> Windows {
        let part = |at| {
            let (start, end) = Axis::share(size, count, at);
            (start, end, end - start)
        };
        let slides = (count > 0 && size % count == 0).then(|| Slides {
            kernel: size / count,
            stride: (size / count).max(1),
            padding: (0, 0),
        });
        Windows {
            parts: (0..count).map(part).collect(),
            slides,
        }
    }

    fn sliding(axis: &Axis, ceil: bool, exclusive: bool) -> Result<Windows, String> {
        let count = axis.windows(ceil)?;
        let part = |at: i64| {
            let first = at * axis.stride - axis.before;
            let (start, end) = (first.max(0).min(axis.size), (first + axis.kernel).min(axis.size));
            let covered = (first + axis.kernel).min(axis.size + axis.before) - first;
            (
                start,
                end.max(start),
                if exclusive {
                    (end - start).max(0)
                } else {
                    covered.max(0)
                },
            )
        };
        let behind = (count - 1) * axis.stride + axis.kernel - axis.size - axis.before;
        let slides = Slides {
            kernel: axis.kernel,
            stride: axis.stride,
            padding: (axis.before, behind),
        };
        Ok(Windows {
            parts: (0..count).map(part).collect(),
            slides: Some(slides),
        })
    }
}
