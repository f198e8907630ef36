//! Nodes of images: blocks, colors, windows over channels and places.

use pir_dialects::pd::{Expr, ExprScope};
use pir_ir::Type;

use super::super::proto::Value;
use super::reader::{Input, Reader, Result};
use super::row::Row;

/// More places in a window are written out as too many operations.
const MOST_PLACES: i64 = 256;
const WINDOW: &str = "strides rates padding";

const LRN: &str = "depth_radius=5 bias=1 alpha=1 beta=0.5";

/// A normalization over neighbouring channels.
struct Lrn {
    radius: i64,
    bias: f64,
    alpha: f64,
    beta: f64,
}

impl Lrn {
    fn of(r: &Reader<'_>, at: usize) -> Result<Lrn> {
        let float = |name, usual| r.float(at, name, usual);
        let radius = r.int(at, "depth_radius").unwrap_or(5);
        if !(0..=MOST_PLACES / 2).contains(&radius) {
            return Err("its window is too wide".to_owned());
        }
        Ok(Lrn {
            radius,
            bias: float("bias", 1.0),
            alpha: float("alpha", 1.0),
            beta: float("beta", 0.5),
        })
    }

    /// The sums over the neighbours of each channel.
    fn sum<'c>(&self, x: Expr<'c>) -> Result<Expr<'c>> {
        let depth = *x.dims().last().ok_or("its input must have at least one dimension")?;
        let last = x.rank() - 1;
        let mut borders = vec![0; 2 * x.rank()];
        borders[2 * last..].fill(self.radius);
        let wide = x.pad_with(&borders, |o| o.pad_value(0.0));
        let all = (0..=2 * self.radius).map(|k| wide.cut(last, k, k + depth));
        all.reduce(|a, b| a + b).ok_or_else(|| "its window is empty".to_owned())
    }
}

pub(super) const TABLE: &[Row] = &[
    ("AdjustContrastv2", "T f32", "", |r, at| {
        r.build(at, 2, |x| {
            let rank = x[0].rank() as i64;
            let mean = x[0].average(&[rank - 3, rank - 2]);
            Ok(vec![(x[0] - mean) * x[1].reshape([]).cast_like(x[0]) + mean])
        })
    }),
    (
        "CropAndResize",
        "T f32 i32 i32",
        "method=bilinear extrapolation_value=0",
        crop_and_resize,
    ),
    ("DepthToSpace", "T", "block_size data_format=NHWC", |r, at| {
        let (block, [n, h, w, c]) = blocks(r, at)?;
        if c % (block * block) != 0 {
            return Err("its number of channels must be divisible by the square of `block_size`".to_owned());
        }
        let (deep, [high, wide]) = (c / (block * block), [h * block, w * block]);
        rearranged(
            r,
            at,
            [
                (
                    &[n, h, w, block, block, deep],
                    &[0, 1, 3, 2, 4, 5],
                    &[n, high, wide, deep],
                ),
                (
                    &[n, block, block, deep, h, w],
                    &[0, 3, 4, 1, 5, 2],
                    &[n, deep, high, wide],
                ),
            ],
        )
    }),
    ("Dilation2D", "T T", WINDOW, dilation),
    ("ExtractImagePatches", "T", "ksizes strides rates padding", patches),
    (
        "FakeQuantWithMinMaxArgs",
        "f32",
        "min=-6 max=6 num_bits=8 narrow_range=false",
        |r, at| {
            let (low, high) = (r.float(at, "min", -6.0), r.float(at, "max", 6.0));
            let steps = steps(r, at);
            r.build(at, 1, |x| {
                let (low, high) = (x[0].scope().full(&[], low), x[0].scope().full(&[], high));
                Ok(vec![quantized(x[0], low, high, steps)])
            })
        },
    ),
    (
        "FakeQuantWithMinMaxVars",
        "f32 f32 f32",
        "num_bits=8 narrow_range=false",
        |r, at| {
            let steps = steps(r, at);
            r.build(at, 3, |x| Ok(vec![quantized(x[0], x[1], x[2], steps)]))
        },
    ),
    (
        "FakeQuantWithMinMaxVarsPerChannel",
        "f32 f32 f32",
        "num_bits=8 narrow_range=false",
        |r, at| {
            let steps = steps(r, at);
            r.build(at, 3, |x| Ok(vec![quantized(x[0], x[1], x[2], steps)]))
        },
    ),
    ("HSVToRGB", "T", "", |r, at| {
        r.build(at, 1, |x| {
            let [h, s, v] = [0, 1, 2].map(|k| channel(x[0], k));
            // How far a color is from its corner of the hexagon.
            let of = |corner: f64, sign: f64, offset: f64| {
                let far = (h.affine(6.0, -corner)).abs().affine(sign, offset);
                v * (s * (far.clip(0.0, 1.0) - 1.0) + 1.0)
            };
            Ok(vec![joined(
                x[0],
                [of(3.0, 1.0, -1.0), of(2.0, -1.0, 2.0), of(4.0, -1.0, 2.0)],
            )])
        })
    }),
    ("LRN", "T", LRN, |r, at| {
        let lrn = Lrn::of(r, at)?;
        r.build(at, 1, |x| {
            let scale = lrn.sum(x[0].square())?.affine(lrn.alpha, lrn.bias);
            Ok(vec![x[0] / scale.pow(lrn.beta)])
        })
    }),
    ("LRNGrad", "T T T", LRN, |r, at| {
        let lrn = Lrn::of(r, at)?;
        r.build(at, 3, |x| {
            let (g, x, out) = (x[0], x[1], x[2]);
            let scale = lrn.sum(x.square())?.affine(lrn.alpha, lrn.bias);
            let others = lrn.sum(g * out / scale)?;
            Ok(vec![
                g / scale.pow(lrn.beta) - x * others * (2.0 * lrn.alpha * lrn.beta),
            ])
        })
    }),
    (
        "MaxPoolWithArgmax",
        "T -> output argmax",
        "ksize strides padding Targmax=DT_INT64 include_batch_in_index=false",
        max_pool_with_argmax,
    ),
    ("RGBToHSV", "T", "", |r, at| {
        r.build(at, 1, |x| {
            let [red, green, blue] = [0, 1, 2].map(|k| channel(x[0], k));
            let value = red.maximum(green).maximum(blue);
            let range = value - red.minimum(green).minimum(blue);
            let (gray, black) = (range.equal(range.zeros()), value.equal(value.zeros()));
            let divisor = gray.select(range.ones(), range).affine(6.0, 0.0);
            let of_green = (blue - red) / divisor + 2.0 / 6.0;
            let of_blue = (red - green) / divisor + 4.0 / 6.0;
            let of_red = (green - blue) / divisor;
            let hue = red
                .equal(value)
                .select(of_red, green.equal(value).select(of_green, of_blue));
            let hue = hue.less_than(hue.zeros()).select(hue + 1.0, hue);
            let saturation = range / black.select(value.ones(), value);
            let hue = gray.select(hue.zeros(), hue);
            let saturation = black.select(saturation.zeros(), saturation);
            Ok(vec![joined(x[0], [hue, saturation, value])])
        })
    }),
    ("SpaceToDepth", "T", "block_size data_format=NHWC", |r, at| {
        let (block, [n, h, w, c]) = blocks(r, at)?;
        if h % block != 0 || w % block != 0 {
            return Err("its height and width must be divisible by `block_size`".to_owned());
        }
        let (deep, [high, wide]) = (c * block * block, [h / block, w / block]);
        rearranged(
            r,
            at,
            [
                (
                    &[n, high, block, wide, block, c],
                    &[0, 1, 3, 2, 4, 5],
                    &[n, high, wide, deep],
                ),
                (
                    &[n, c, high, block, wide, block],
                    &[0, 3, 5, 1, 2, 4],
                    &[n, deep, high, wide],
                ),
            ],
        )
    }),
];

fn channel(x: Expr<'_>, k: i64) -> Expr<'_> {
    x.cut(x.rank() - 1, k, k + 1)
}

fn joined<'c>(x: Expr<'c>, parts: [Expr<'c>; 3]) -> Expr<'c> {
    x.scope().concat_with(&parts, |o| o.axis(x.rank() as i64 - 1))
}

fn is_channels_last(r: &Reader<'_>, at: usize) -> Result<bool> {
    match r.text(at, "data_format").as_deref().unwrap_or("NHWC") {
        "NHWC" => Ok(true),
        "NCHW" => Ok(false),
        other => Err(format!("the layout `{other}` is not supported")),
    }
}

/// The size of blocks, and the extents of images: how many, the height, the width and the channels.
fn blocks(r: &mut Reader<'_>, at: usize) -> Result<(i64, [i64; 4])> {
    let (x, block) = (r.operand(at, 0)?, r.int(at, "block_size").unwrap_or(0));
    let (dims, _) = r.dims(x)?;
    let known = dims.iter().all(|d| (1..1 << 31).contains(d)) && (1..1 << 15).contains(&block);
    match (&dims[..], is_channels_last(r, at)?) {
        (&[n, h, w, c], true) | (&[n, c, h, w], false) if known => Ok((block, [n, h, w, c])),
        _ => Err("the shape of its images is unknown".to_owned()),
    }
}

/// A reshape, a transposition and another reshape.
type Moves<'a> = (&'a [i64], &'a [i64], &'a [i64]);

/// Elements moved as for images whose channels are last, or as for the others.
fn rearranged(r: &mut Reader<'_>, at: usize, moves: [Moves<'_>; 2]) -> Result<()> {
    let (apart, order, whole) = moves[usize::from(!is_channels_last(r, at)?)];
    r.build(at, 1, |x| Ok(vec![x[0].reshape(apart).transpose(order).reshape(whole)]))
}

/// The numbers of the lowest and the highest step of a quantization.
fn steps(r: &Reader<'_>, at: usize) -> [f64; 2] {
    let bits = r.int(at, "num_bits").unwrap_or(8).clamp(2, 16);
    [
        f64::from(u8::from(r.flag(at, "narrow_range"))),
        f64::from((1u32 << bits) - 1),
    ]
}

/// Numbers rounded to steps between two ends, which are moved so that zero is a step. The derivative is that of the clamped number.
fn quantized<'c>(x: Expr<'c>, low: Expr<'c>, high: Expr<'c>, [first, last]: [f64; 2]) -> Expr<'c> {
    let scale = (high - low).affine(1.0 / (last - first), 0.0);
    let zero = first - low / scale;
    let zero = zero.clip(first, last).affine(1.0, 0.5).floor();
    let least = ((first - zero) * scale).detach();
    let most = ((last - zero) * scale).detach();
    let (below, above) = (x.less_than(least), x.greater_than(most));
    // The ends have the derivative of what they cut off.
    let ends = [(least, low), (most, high)].map(|(end, own)| (end + (own - own.detach())).expand_like(x));
    let kept = below.select(ends[0], above.select(ends[1], x));
    let (kept_there, scale) = (kept.detach(), scale.detach());
    let steps = ((kept_there - least) / scale).affine(1.0, 0.5).floor() * scale + least;
    kept + (steps - kept_there).detach()
}

/// Strides or rates of the two axes of images.
fn pair(r: &Reader<'_>, at: usize, name: &str) -> Result<[i64; 2]> {
    match r.attr(at, name) {
        Some(Value::List(list)) => match list.ints[..] {
            [1, y, x, 1] if (1..1 << 20).contains(&y) && (1..1 << 20).contains(&x) => Ok([y, x]),
            _ => Err(format!("its `{name}` are not supported")),
        },
        _ => Err(format!("it has no `{name}`")),
    }
}

/// The number of windows along an axis, and the padding before and after it.
fn windows(padding: &str, extent: i64, size: i64, stride: i64) -> Result<(i64, i64, i64)> {
    match padding {
        "VALID" if extent >= size => Ok(((extent - size) / stride + 1, 0, 0)),
        "SAME" => {
            let count = (extent + stride - 1) / stride;
            let border = ((count - 1) * stride + size - extent).max(0);
            Ok((count, border / 2, border - border / 2))
        }
        _ => Err("its windows do not fit in the image".to_owned()),
    }
}

/// The largest sum of a window and a filter.
fn dilation(r: &mut Reader<'_>, at: usize) -> Result<()> {
    let (x, filter) = (r.operand(at, 0)?, r.operand(at, 1)?);
    let (strides, rates) = (pair(r, at, "strides")?, pair(r, at, "rates")?);
    let padding = r.text(at, "padding").unwrap_or_default();
    let (&[_, h, w, _], &[fh, fw, _]) = (&r.dims(x)?.0[..], &r.dims(filter)?.0[..]) else {
        return Err("its input must have four dimensions, and its filter three".to_owned());
    };
    if [h, w].iter().any(|d| !(1..1 << 31).contains(d)) || fh < 1 || fw < 1 || fh.saturating_mul(fw) > MOST_PLACES {
        return Err("its shapes are unknown, or its filter is too large".to_owned());
    }
    let high = windows(&padding, h, (fh - 1) * rates[0] + 1, strides[0])?;
    let wide = windows(&padding, w, (fw - 1) * rates[1] + 1, strides[1])?;
    r.build(at, 2, |x| {
        let borders = [0, 0, high.1, high.2, wide.1, wide.2, 0, 0];
        let padded = match borders.iter().any(|&b| b > 0) {
            true => x[0].pad_with(&borders, |o| o.pad_value(f64::from(f32::MIN))),
            false => x[0],
        };
        let mut best: Option<Expr<'_>> = None;
        for (i, j) in (0..fh).flat_map(|i| (0..fw).map(move |j| (i, j))) {
            let from = [i * rates[0], j * rates[1]];
            let ends = [
                from[0] + (high.0 - 1) * strides[0] + 1,
                from[1] + (wide.0 - 1) * strides[1] + 1,
            ];
            let window = padded.strided_slice(&[1, 2], from, ends, strides);
            let sum = window + x[1].cut(0, i, i + 1).cut(1, j, j + 1);
            best = Some(best.map_or(sum, |best| best.less_than(sum).select(sum, best)));
        }
        best.map(|best| vec![best])
            .ok_or_else(|| "its filter is empty".to_owned())
    })
}

/// Windows, whose elements become channels, one after the other.
fn patches(r: &mut Reader<'_>, at: usize) -> Result<()> {
    let x = r.operand(at, 0)?;
    let (sizes, strides, rates) = (pair(r, at, "ksizes")?, pair(r, at, "strides")?, pair(r, at, "rates")?);
    let padding = r.text(at, "padding").unwrap_or_default();
    let &[_, h, w, _] = &r.dims(x)?.0[..] else {
        return Err("its input must have four dimensions".to_owned());
    };
    let is_known = [h, w].iter().all(|d| (1..1 << 31).contains(d));
    if !is_known || sizes[0].saturating_mul(sizes[1]) > MOST_PLACES {
        return Err("its shape is unknown, or its windows are too large".to_owned());
    }
    let high = windows(&padding, h, (sizes[0] - 1) * rates[0] + 1, strides[0])?;
    let wide = windows(&padding, w, (sizes[1] - 1) * rates[1] + 1, strides[1])?;
    r.build(at, 1, |x| {
        let borders = [0, 0, high.1, high.2, wide.1, wide.2, 0, 0];
        let padded = match borders.iter().any(|&b| b > 0) {
            true => x[0].pad_with(&borders, |o| o.pad_value(0.0)),
            false => x[0],
        };
        let places = (0..sizes[0]).flat_map(|i| (0..sizes[1]).map(move |j| (i, j)));
        let window = |(i, j): (i64, i64)| {
            let from = [i * rates[0], j * rates[1]];
            let ends = [
                from[0] + (high.0 - 1) * strides[0] + 1,
                from[1] + (wide.0 - 1) * strides[1] + 1,
            ];
            padded.strided_slice(&[1, 2], from, ends, strides)
        };
        let all: Vec<Expr<'_>> = places.map(window).collect();
        Ok(vec![x[0].scope().concat_with(&all, |o| o.axis(3))])
    })
}

/// The largest of windows without borders, and where it is.
fn max_pool_with_argmax(r: &mut Reader<'_>, at: usize) -> Result<()> {
    let x = r.operand(at, 0)?;
    let (size, strides) = (pair(r, at, "ksize")?, pair(r, at, "strides")?);
    let elem = r.elem(at, "Targmax").unwrap_or(Type::I64);
    let (padding, with_batch) = (r.text(at, "padding"), r.flag(at, "include_batch_in_index"));
    let &[n, h, w, c] = &r.dims(x)?.0[..] else {
        return Err("its input must have four dimensions".to_owned());
    };
    if [n, h, w, c].iter().any(|d| !(1..1 << 31).contains(d)) || padding.as_deref() != Some("VALID") {
        return Err("only the padding VALID and images of known shape are supported".to_owned());
    }
    let index = Input { node: at, index: 1 };
    let is_read = (0..r.nodes.len()).any(|node| r.kept[node] && r.inputs[node].contains(&index));
    let values = r.express(at, &[x], |scope, x| {
        let first = x[0].transpose(&[0, 3, 1, 2]);
        if !is_read {
            let most = first.pool2d_with(&size[..], |o| o.strides(&strides).pooling_type("max"));
            return Ok(vec![most.transpose(&[0, 2, 3, 1])]);
        }
        let [most, place] = first.max_pool2d_with_index_with(&size, |o| o.strides(&strides).paddings(&[0, 0]));
        let (most, place) = (
            most.transpose(&[0, 2, 3, 1]),
            place.transpose(&[0, 2, 3, 1]).to(Some(Type::I64)),
        );
        let mut place = place.affine(c as f64, 0.0) + counted(scope, c, &[c]);
        if with_batch {
            place = place + counted(scope, n, &[n, 1, 1, 1]).affine((h * w * c) as f64, 0.0);
        }
        Ok(vec![most, place.to(Some(elem))])
    })?;
    r.is_expressed(at, values, &[]);
    Ok(())
}

/// The numbers from zero as a shape.
fn counted<'c>(scope: ExprScope<'c>, count: i64, shape: &[i64]) -> Expr<'c> {
    let numbers = scope.arange_with(|o| o.start(0).end(count).step(1).dtype(Type::I64));
    numbers.reshape(shape)
}

/// Parts of images, between whose elements is interpolated.
fn crop_and_resize(r: &mut Reader<'_>, at: usize) -> Result<()> {
    let sizes = r.list(at, 3, "size")?;
    let method = r.text(at, "method").unwrap_or_else(|| "bilinear".to_owned());
    let outside = r.float(at, "extrapolation_value", 0.0);
    let (x, boxes) = (r.operand(at, 0)?, r.operand(at, 1)?);
    let (&[_, h, w, c], &[count, 4], &[high, wide]) = (&r.dims(x)?.0[..], &r.dims(boxes)?.0[..], &sizes[..]) else {
        return Err("its inputs must be images of four dimensions, boxes and a size".to_owned());
    };
    if method != "bilinear" || [h, w, c, count, high, wide].iter().any(|d| !(1..1 << 24).contains(d)) {
        return Err("only a constant `crop_size` with bilinear interpolation is supported".to_owned());
    }
    r.build(at, 3, |x| {
        let scope = x[0].scope();
        // Along an axis: the places, whether they are inside, and the shape that puts them along it.
        let along = |axis: i64, extent: i64, parts: i64| {
            let at = |k: i64| x[1].cut(1, k, k + 1);
            let last = (extent - 1) as f64;
            let (low, high) = (at(axis), at(axis + 2));
            match parts {
                1 => (low + high).affine(0.5 * last, 0.0),
                _ => {
                    let step = (high - low).affine(last / (parts - 1) as f64, 0.0);
                    low.affine(last, 0.0) + step * counted(scope, parts, &[1, parts]).cast_like(step)
                }
            }
        };
        let places = [
            along(0, h, high).reshape([count, high, 1]),
            along(1, w, wide).reshape([count, 1, wide]),
        ];
        let mut is_inside: Option<Expr<'_>> = None;
        let (mut sides, mut weights) = (Vec::new(), Vec::new());
        for (place, extent) in places.into_iter().zip([h, w]) {
            let last = place.filled((extent - 1) as f64);
            let here = place.greater_equal(place.zeros()).logical_and(place.less_equal(last));
            is_inside = Some(is_inside.map_or(here, |all| all.logical_and(here)));
            let low = place.detach().floor();
            sides.push([low, low + 1.0].map(|side| side.clip(0.0, (extent - 1) as f64).cast(Type::I64)));
            weights.push(place - low);
        }
        let image = x[2].to(Some(Type::I64)).reshape([count, 1, 1]);
        let corner = |y: usize, z: usize| {
            let index = [image, sides[0][y], sides[1][z]].map(|i| i.expand([count, high, wide]));
            x[0].gather_nd(scope.stack_with(&index, |o| o.axis(3)))
        };
        let across = weights[1].reshape([count, 1, wide, 1]);
        let down = weights[0].reshape([count, high, 1, 1]);
        let row = |y: usize| corner(y, 0) + (corner(y, 1) - corner(y, 0)) * across;
        let (top, bottom) = (row(0), row(1));
        let all = top + (bottom - top) * down;
        let is_inside = is_inside.ok_or("its axes are missing")?.reshape([count, high, wide, 1]);
        Ok(vec![
            is_inside
                .expand([count, high, wide, c])
                .select(all, all.filled(outside)),
        ])
    })
}
