//! Nodes of images: blocks, colors, windows over channels and places.

use pir_dialects::pd::{Expr, ExprScope};
use pir_ir::Type;

use super::reader::{Input, Reader, Result};
use super::row::Row;
use super::windows::{MOST_PLACES, pair};

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
    // The hue is an angle: one is all around.
    ("AdjustHue", "T f32", "", |r, at| {
        adjusted(r, at, |[h, s, v], delta| {
            let turned = h + delta;
            [turned - turned.detach().floor(), s, v]
        })
    }),
    ("AdjustSaturation", "T f32", "", |r, at| {
        adjusted(r, at, |[h, s, v], scale| [h, (s * scale).clip(0.0, 1.0), v])
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
    ("HSVToRGB", "T", "", |r, at| {
        r.build(at, 1, |x| Ok(vec![of_hsv(x[0], [0, 1, 2].map(|k| channel(x[0], k)))]))
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
        r.build(at, 1, |x| Ok(vec![joined(x[0], hsv(x[0]))]))
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

/// Colors as hue, saturation and value.
fn hsv(x: Expr<'_>) -> [Expr<'_>; 3] {
    let [red, green, blue] = [0, 1, 2].map(|k| channel(x, k));
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
    [hue, black.select(saturation.zeros(), saturation), value]
}

/// Colors of hue, saturation and value, in the shape of an image.
fn of_hsv<'c>(image: Expr<'c>, [h, s, v]: [Expr<'c>; 3]) -> Expr<'c> {
    // How far a color is from its corner of the hexagon.
    let of = |corner: f64, sign: f64, offset: f64| {
        let far = (h.affine(6.0, -corner)).abs().affine(sign, offset);
        v * (s * (far.clip(0.0, 1.0) - 1.0) + 1.0)
    };
    joined(image, [of(3.0, 1.0, -1.0), of(2.0, -1.0, 2.0), of(4.0, -1.0, 2.0)])
}

/// An image whose hue, saturation and value are changed by a number.
fn adjusted(
    r: &mut Reader<'_>,
    at: usize,
    change: impl for<'c> Fn([Expr<'c>; 3], Expr<'c>) -> [Expr<'c>; 3],
) -> Result<()> {
    r.build(at, 2, |x| {
        let number = x[1].reshape([]).cast_like(x[0]);
        Ok(vec![of_hsv(x[0], change(hsv(x[0]), number))])
    })
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
