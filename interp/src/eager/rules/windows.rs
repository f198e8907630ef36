//! Convolutions and poolings.
//!
//! The windows are determined by execution, too: the operation is applied to an image of element indices.

use super::super::value::V;
use super::super::{Slot, Tensor};
use super::elementwise::failed;
use super::{Cx, Rule, composite};
use crate::tensor::Tensor as Dense;
use pir_dialects::pd;

pub(super) const RULES: &[Rule] = &[
    composite(pd::Conv2d::NAME, |c| vec![or_failed(c, conv(c))]),
    composite(pd::DepthwiseConv2d::NAME, |c| vec![or_failed(c, conv(c))]),
    composite(pd::Conv2dTranspose::NAME, |c| vec![or_failed(c, conv_transpose(c))]),
    composite(pd::Conv2dGrad::NAME, |c| match conv_grad(c) {
        Ok(grads) => grads.into(),
        Err(e) => vec![failed(c, &e)],
    }),
    composite(pd::Pool2d::NAME, |c| vec![or_failed(c, pool(c, pd::Pool2d::NAME))]),
    composite(pd::MaxPool2dWithIndex::NAME, |c| {
        vec![or_failed(c, pool(c, pd::MaxPool2dWithIndex::NAME))]
    }),
    composite(pd::Pool2dGrad::NAME, |c| vec![or_failed(c, pool_grad(c))]),
];

fn or_failed<'e>(c: &Cx<'e>, v: Result<V<'e>, String>) -> V<'e> {
    v.unwrap_or_else(|e| failed(c, &e))
}

fn is_last(c: &Cx<'_>) -> bool {
    c.text("data_format") == Some("NHWC")
}

fn channels_first<'e>(c: &Cx<'e>, x: &V<'e>) -> V<'e> {
    if is_last(c) {
        x.transpose(&[0, 3, 1, 2])
    } else {
        x.clone()
    }
}

fn channels_back<'e>(c: &Cx<'e>, x: &V<'e>) -> V<'e> {
    if is_last(c) {
        x.transpose(&[0, 2, 3, 1])
    } else {
        x.clone()
    }
}

fn four(v: &V<'_>) -> Result<[usize; 4], String> {
    v.tensor.as_ref().map_err(Clone::clone)?;
    let shape = v.shape();
    <[usize; 4]>::try_from(&shape[..]).map_err(|_| format!("expected four dimensions, found shape {shape:?}"))
}

/// The windows of a convolution over an image.
struct Windows {
    /// For each element of a filter and each window, the index in a channel; negative in the border.
    map: Vec<i64>,
    /// The rows and columns of windows.
    out: [usize; 2],
    /// The number of elements of a window.
    taps: usize,
    area: usize,
}

impl Windows {
    fn of(c: &Cx<'_>, [h, w]: [usize; 2], [kh, kw]: [usize; 2]) -> Result<Windows, String> {
        let ctx = c.engine.ctx();
        let taps = kh * kw;
        let numbers = (1..=h * w).map(|at| at as f64).collect();
        let image = Tensor::new(Dense::new(&[1, 1, h, w], numbers)?);
        // Each filter selects one element of its window.
        let picks = (0..taps * taps)
            .map(|at| f64::from(u8::from(at / taps == at % taps)))
            .collect();
        let filters = Tensor::new(Dense::new(&[taps, 1, kh, kw], picks)?);
        let mut attrs = ctx.dict_with(c.attrs(), "groups", ctx.int_attr(1));
        attrs = ctx.dict_with(attrs, "data_format", ctx.str_attr("NCHW"));
        let slots = [Slot::One(image), Slot::One(filters)];
        let found = c.engine.compute(ctx.op_name(pd::Conv2d::NAME), &slots, attrs)?;
        let found = found.first().ok_or("a convolution has no result")?;
        let &[_, _, rows, columns] = found.shape() else {
            return Err("a convolution must have four dimensions".to_owned());
        };
        Ok(Windows {
            map: found.to_f64().into_iter().map(|at| at as i64 - 1).collect(),
            out: [rows, columns],
            taps,
            area: h * w,
        })
    }

    fn count(&self) -> usize {
        self.out[0] * self.out[1]
    }

    /// The indices of all windows of all channels: `[images, channels, taps, windows]`.
    fn places<'e>(&self, c: &Cx<'e>, images: usize, channels: usize) -> V<'e> {
        let own = |at: usize| {
            let start = (at * self.area) as i64;
            self.map
                .iter()
                .map(move |&place| if place < 0 { -1 } else { start + place })
        };
        let places = (0..images * channels).flat_map(own).collect();
        V::constant(
            c.engine,
            Dense::new(&[images, channels, self.taps, self.count()], places),
        )
    }
}

/// A convolution as a matrix product: groups of filters with groups of windows.
struct Product<'e> {
    windows: Windows,
    places: V<'e>,
    groups: usize,
    /// Images, channels, rows and columns.
    image: [usize; 4],
    /// The shape of the filters.
    filter: [usize; 4],
}

impl<'e> Product<'e> {
    fn of(c: &Cx<'e>, image: [usize; 4], filter: [usize; 4]) -> Result<Self, String> {
        let [n, channels, h, w] = image;
        let windows = Windows::of(c, [h, w], [filter[2], filter[3]])?;
        let groups = usize::try_from(c.int("groups", 1)).unwrap_or(1).max(1);
        Ok(Product {
            places: windows.places(c, n, channels),
            windows,
            groups,
            image,
            filter,
        })
    }

    /// The number of elements of a column: those of a filter.
    fn depth(&self) -> usize {
        self.filter[1] * self.windows.taps
    }

    fn columns(&self, image: &V<'e>) -> V<'e> {
        let shape = [self.image[0], self.groups, self.depth(), self.windows.count()];
        image.take(&self.places).reshape(&shape)
    }

    fn filters(&self, filter: &V<'e>) -> V<'e> {
        filter.reshape(&[1, self.groups, self.filter[0] / self.groups, self.depth()])
    }

    /// A result, group by group.
    fn outs(&self, out: &V<'e>) -> V<'e> {
        let filters = self.filter[0] / self.groups;
        out.reshape(&[self.image[0], self.groups, filters, self.windows.count()])
    }

    /// An image from its columns; overlapping windows are added.
    fn back(&self, columns: &V<'e>) -> V<'e> {
        columns.reshape(&self.places.shape()).put(&self.places, &self.image)
    }
}

fn conv<'e>(c: &Cx<'e>) -> Result<V<'e>, String> {
    let (x, filter) = (channels_first(c, &c.x()), c.y());
    let product = Product::of(c, four(&x)?, four(&filter)?)?;
    let out = product.filters(&filter).matmul(&product.columns(&x));
    let [rows, columns] = product.windows.out;
    let out = out.reshape(&[product.image[0], product.filter[0], rows, columns]);
    Ok(channels_back(c, &out))
}

fn conv_grad<'e>(c: &Cx<'e>) -> Result<[V<'e>; 2], String> {
    let (x, filter, g) = (channels_first(c, &c.x()), c.y(), channels_first(c, &c.arg(2)));
    let product = Product::of(c, four(&x)?, four(&filter)?)?;
    let g = product.outs(&g);
    let dx = product.back(&product.filters(&filter).swapped().matmul(&g));
    let dw = g.matmul(&product.columns(&x).swapped()).sum(&[0], false);
    Ok([channels_back(c, &dx), dw.reshape(&product.filter)])
}

fn conv_transpose<'e>(c: &Cx<'e>) -> Result<V<'e>, String> {
    let (x, filter) = (channels_first(c, &c.x()), c.y());
    let out = channels_first(c, &V::constant(c.engine, Dense::full(&c.out_shape(0), x.dtype(), 0.0)));
    let product = Product::of(c, four(&out)?, four(&filter)?)?;
    let [_, _, rows, columns] = four(&x)?;
    if product.windows.out != [rows, columns] {
        return Err("the windows are not those of a convolution".to_owned());
    }
    let out = product.back(&product.filters(&filter).swapped().matmul(&product.outs(&x)));
    Ok(channels_back(c, &out))
}

/// The windows of a pooling.
struct Stretches {
    /// The indices in a channel that each window covers.
    cells: Vec<Vec<usize>>,
    /// The divisor of each mean.
    counts: Vec<f64>,
    /// The rows and columns of windows.
    out: [usize; 2],
}

fn stretches(c: &Cx<'_>, op: &str, rest: usize, [h, w]: [usize; 2]) -> Result<Stretches, String> {
    let ctx = c.engine.ctx();
    let attrs = ctx.dict_with(c.attrs(), "data_format", ctx.str_attr("NCHW"));
    let ask = |kind: &str, values: Vec<f64>| -> Result<Dense, String> {
        let image = Tensor::new(Dense::new(&[1, 1, h, w], values)?);
        let mut slots = vec![Slot::One(image)];
        for at in rest..c.num_inputs() {
            slots.push(Slot::One(c.input(at)?));
        }
        let attrs = ctx.dict_with(attrs, "pooling_type", ctx.str_attr(kind));
        let found = c.engine.compute(ctx.op_name(op), &slots, attrs)?;
        found
            .into_iter()
            .next()
            .ok_or_else(|| "a pooling has no result".to_owned())
    };
    // The largest index in a window is at its last corner, the largest negative one at its first.
    let numbers = |sign: f64| (0..h * w).map(|at| sign * at as f64).collect();
    let last = ask("max", numbers(1.0))?;
    let first = ask("max", numbers(-1.0))?.to_f64();
    let shares = if op == pd::Pool2d::NAME {
        ask("avg", vec![1.0; h * w])?.to_f64()
    } else {
        Vec::new()
    };
    let &[_, _, rows, columns] = last.shape() else {
        return Err("a pooling must have four dimensions".to_owned());
    };
    let (mut all, mut counts) = (Vec::new(), Vec::new());
    for (at, (last, first)) in last.to_f64().into_iter().zip(first).enumerate() {
        let mut cells = Vec::new();
        if last.is_finite() {
            let (last, first) = (last as usize, -first as usize);
            for row in first / w..=last / w {
                cells.extend((first % w..=last % w).map(|column| row * w + column));
            }
        }
        // The mean of ones is the fraction of the window inside the image.
        counts.push(cells.len() as f64 / shares.get(at).copied().unwrap_or(1.0));
        all.push(cells);
    }
    Ok(Stretches {
        cells: all,
        counts,
        out: [rows, columns],
    })
}

/// A pooling as a linear map that depends on the elements: the elements that each result sums, and the divisors. The
/// first of equal maxima is selected.
struct Pool<'e> {
    places: V<'e>,
    factors: V<'e>,
    image: [usize; 4],
    out: [usize; 4],
}

impl<'e> Pool<'e> {
    fn of(c: &Cx<'e>, op: &str, rest: usize, x: &V<'e>) -> Result<Self, String> {
        let image @ [n, channels, h, w] = four(x)?;
        let Stretches {
            cells: windows,
            counts,
            out: [rows, columns],
        } = stretches(c, op, rest, [h, w])?;
        let mean = op == pd::Pool2d::NAME && c.text("pooling_type") == Some("avg");
        let values = x.tensor.clone()?.to_f64();
        let widest = if mean {
            windows.iter().map(Vec::len).max().unwrap_or(0)
        } else {
            1
        };
        let (mut places, mut factors) = (Vec::new(), Vec::new());
        for channel in 0..n * channels {
            let start = channel * h * w;
            for (cells, count) in windows.iter().zip(&counts) {
                factors.push(if mean { 1.0 / count.max(1.0) } else { 1.0 });
                if mean {
                    places.extend(cells.iter().map(|cell| (start + cell) as i64));
                    places.extend(std::iter::repeat_n(-1, widest - cells.len()));
                    continue;
                }
                let value = |cell: usize| values[start + cell];
                let wins = |a: f64, b: f64| a > b || a.is_nan() && !b.is_nan();
                let best = cells
                    .iter()
                    .copied()
                    .reduce(|best, cell| if wins(value(cell), value(best)) { cell } else { best });
                places.push(best.map_or(-1, |cell| (start + cell) as i64));
            }
        }
        let count = rows * columns;
        let factors = Dense::new(&[n, channels, count, 1], factors).and_then(|t| t.cast(x.dtype()));
        Ok(Pool {
            places: V::constant(c.engine, Dense::new(&[n, channels, count, widest], places)),
            factors: V::constant(c.engine, factors),
            image,
            out: [n, channels, rows, columns],
        })
    }
}

fn pool<'e>(c: &Cx<'e>, op: &str) -> Result<V<'e>, String> {
    let x = channels_first(c, &c.x());
    let pool = Pool::of(c, op, 1, &x)?;
    let out = x.take(&pool.places).sum(&[3], true) * pool.factors;
    Ok(channels_back(c, &out.reshape(&pool.out)))
}

fn pool_grad<'e>(c: &Cx<'e>) -> Result<V<'e>, String> {
    // The selected elements are piecewise constant.
    c.others_constant();
    let x = channels_first(c, &c.x().detached());
    let pool = Pool::of(c, pd::Pool2d::NAME, 3, &x)?;
    let g = channels_first(c, &c.arg(2)).reshape(&pool.factors.shape()) * pool.factors;
    let image = g.expand(&pool.places.shape()).put(&pool.places, &pool.image);
    Ok(channels_back(c, &image))
}
