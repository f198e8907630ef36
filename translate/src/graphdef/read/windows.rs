//! Windows that move over images and volumes: their elements as channels, and the largest sum with a filter.

use pir_dialects::pd::Expr;
use pir_dialects::window;

use super::super::proto::Value;
use super::reader::{Reader, Result};
use super::row::Row;

/// More places in a window are written out as too many operations.
pub(super) const MOST_PLACES: i64 = 256;
const WINDOW: &str = "strides rates padding";

pub(super) const TABLE: &[Row] = &[
    ("Dilation2D", "T T", WINDOW, dilation),
    ("Dilation2DBackpropFilter", "T T T", WINDOW, |r, at| {
        dilation_back(r, at, true)
    }),
    ("Dilation2DBackpropInput", "T T T", WINDOW, |r, at| {
        dilation_back(r, at, false)
    }),
    ("ExtractImagePatches", "T", "ksizes strides rates padding", |r, at| {
        let rates = numbers(r, at, "rates")?;
        patches(r, at, &rates)
    }),
    ("ExtractVolumePatches", "T", "ksizes strides padding", |r, at| {
        patches(r, at, &[1; 3])
    }),
];

/// The numbers of an attribute for the axes between the batch and the channels.
fn numbers(r: &Reader<'_>, at: usize, name: &str) -> Result<Vec<i64>> {
    match r.attr(at, name) {
        Some(Value::List(list)) => match &list.ints[..] {
            [1, inner @ .., 1] if !inner.is_empty() && inner.iter().all(|n| (1..1 << 20).contains(n)) => {
                Ok(inner.to_vec())
            }
            _ => Err(format!("its `{name}` are not supported")),
        },
        _ => Err(format!("it has no `{name}`")),
    }
}

/// The numbers of an attribute for the two axes of images.
pub(super) fn pair(r: &Reader<'_>, at: usize, name: &str) -> Result<[i64; 2]> {
    let numbers = numbers(r, at, name)?;
    <[i64; 2]>::try_from(numbers).map_err(|_| format!("its `{name}` are not supported"))
}

/// The number of windows along an axis where one begins at each step, and the padding before and after the axis that they need.
pub(super) fn same(extent: i64, size: i64, stride: i64) -> (i64, i64, i64) {
    let count = extent.div_euclid(stride) + i64::from(extent % stride != 0);
    let [before, after] = window::same(extent, size, stride);
    (count, before, after)
}

/// The number of windows along an axis, and the padding before and after it.
fn along(padding: &str, extent: i64, size: i64, stride: i64) -> Result<(i64, i64, i64)> {
    match padding {
        "VALID" if extent >= size => Ok(((extent - size) / stride + 1, 0, 0)),
        "SAME" => Ok(same(extent, size, stride)),
        _ => Err("its windows do not fit in the image".to_owned()),
    }
}

/// The windows of an image or a volume, whose first axis is the batch and whose last one the channels.
struct Windows {
    sizes: Vec<i64>,
    strides: Vec<i64>,
    rates: Vec<i64>,
    /// The extents of the axes in between.
    extents: Vec<i64>,
    /// The number of windows along each axis, and the padding before and after it.
    counts: Vec<(i64, i64, i64)>,
}

impl Windows {
    fn of(r: &Reader<'_>, at: usize, dims: &[i64], sizes: &[i64], strides: &[i64], rates: &[i64]) -> Result<Windows> {
        let padding = r.text(at, "padding").unwrap_or_default();
        let axes = sizes.len();
        if dims.len() != axes + 2 || strides.len() != axes || rates.len() != axes {
            return Err("its input and its windows differ in the number of dimensions".to_owned());
        }
        let extents = dims[1..=axes].to_vec();
        let places = sizes.iter().try_fold(1i64, |n, &size| n.checked_mul(size));
        let few = places.is_some_and(|n| (1..=MOST_PLACES).contains(&n));
        if !few || extents.iter().any(|d| !(1..1 << 31).contains(d)) {
            return Err("its shape is unknown, or its windows are too large".to_owned());
        }
        let count = |axis: usize| {
            along(
                &padding,
                extents[axis],
                (sizes[axis] - 1) * rates[axis] + 1,
                strides[axis],
            )
        };
        Ok(Windows {
            counts: (0..axes).map(count).collect::<Result<_>>()?,
            sizes: sizes.to_vec(),
            strides: strides.to_vec(),
            rates: rates.to_vec(),
            extents,
        })
    }

    /// The places in a window, in order.
    fn places(&self) -> impl Iterator<Item = Vec<i64>> + '_ {
        let count: i64 = self.sizes.iter().product();
        (0..count).map(|mut number| {
            let mut place = vec![0; self.sizes.len()];
            for (at, &size) in place.iter_mut().zip(&self.sizes).rev() {
                *at = number % size;
                number /= size;
            }
            place
        })
    }

    /// The input with its padding.
    fn padded<'c>(&self, x: Expr<'c>, value: f64) -> Expr<'c> {
        let mut borders = vec![0, 0];
        borders.extend(self.counts.iter().flat_map(|&(_, before, after)| [before, after]));
        borders.extend([0, 0]);
        match borders.iter().any(|&border| border > 0) {
            true => x.pad_with(&borders, |o| o.pad_value(value)),
            false => x,
        }
    }

    /// The elements that are at a place of all windows.
    fn at<'c>(&self, padded: Expr<'c>, place: &[i64]) -> Expr<'c> {
        let axes: Vec<i64> = (1..=place.len() as i64).collect();
        let from: Vec<i64> = place.iter().zip(&self.rates).map(|(at, rate)| at * rate).collect();
        let steps = from.iter().zip(self.counts.iter().zip(&self.strides));
        let ends: Vec<i64> = steps
            .map(|(from, (count, stride))| from + (count.0 - 1) * stride + 1)
            .collect();
        padded.strided_slice(&axes, from, ends, &self.strides)
    }

    /// An image of zeros, with these elements at a place of all windows.
    fn back<'c>(&self, part: Expr<'c>, place: &[i64]) -> Expr<'c> {
        let mut whole = part;
        for (axis, &at) in place.iter().enumerate() {
            let (count, before, after) = self.counts[axis];
            let (stride, from) = (self.strides[axis], at * self.rates[axis]);
            let mut shape = whole.dims().to_vec();
            if stride > 1 {
                // Zeros between the elements: those of a new axis after this one.
                shape.insert(axis + 2, 1);
                let mut borders = vec![0; 2 * shape.len()];
                borders[2 * (axis + 2) + 1] = stride - 1;
                let apart = whole.reshape(&shape[..]).pad_with(&borders, |o| o.pad_value(0.0));
                shape.remove(axis + 2);
                shape[axis + 1] *= stride;
                whole = apart.reshape(&shape[..]).cut(axis + 1, 0, (count - 1) * stride + 1);
            }
            let extent = self.extents[axis] + before + after;
            let mut borders = vec![0; 2 * (place.len() + 2)];
            borders[2 * (axis + 1)] = from;
            borders[2 * (axis + 1) + 1] = extent - from - ((count - 1) * stride + 1);
            whole = whole
                .pad_with(&borders, |o| o.pad_value(0.0))
                .cut(axis + 1, before, extent - after);
        }
        whole
    }
}

/// The windows of a dilation.
fn dilated(r: &mut Reader<'_>, at: usize) -> Result<Windows> {
    let (x, filter) = (r.operand(at, 0)?, r.operand(at, 1)?);
    let (strides, rates) = (pair(r, at, "strides")?, pair(r, at, "rates")?);
    let (dims, filter) = (r.dims(x)?.0, r.dims(filter)?.0);
    let (4, &[fh, fw, _]) = (dims.len(), &filter[..]) else {
        return Err("its input must have four dimensions, and its filter three".to_owned());
    };
    Windows::of(r, at, &dims, &[fh, fw], &strides, &rates)
}

/// The largest sum of each window with a filter, and the number of the first place that gives it.
fn largest<'c>(windows: &Windows, x: Expr<'c>, filter: Expr<'c>) -> Result<(Expr<'c>, Expr<'c>)> {
    let padded = windows.padded(x, f64::from(f32::MIN));
    let mut best: Option<(Expr<'c>, Expr<'c>)> = None;
    for (number, place) in windows.places().enumerate() {
        let own = filter.cut(0, place[0], place[0] + 1).cut(1, place[1], place[1] + 1);
        let sum = windows.at(padded, &place) + own;
        best = Some(match best {
            None => (sum, sum.filled(0.0)),
            Some((best, which)) => {
                let better = best.less_than(sum);
                (
                    better.select(sum, best),
                    better.select(sum.filled(number as f64), which),
                )
            }
        });
    }
    best.ok_or_else(|| "its filter is empty".to_owned())
}

/// The largest sum of a window and a filter.
fn dilation(r: &mut Reader<'_>, at: usize) -> Result<()> {
    let windows = dilated(r, at)?;
    r.build(at, 2, |x| Ok(vec![largest(&windows, x[0], x[1])?.0]))
}

/// The gradient of a dilation: each element goes to the place that its sum is from.
fn dilation_back(r: &mut Reader<'_>, at: usize, to_filter: bool) -> Result<()> {
    let windows = dilated(r, at)?;
    r.build(at, 3, |x| {
        let (_, which) = largest(&windows, x[0], x[1])?;
        let part = |number: usize| which.equal(which.filled(number as f64)).select(x[2], x[2].zeros());
        let parts = windows.places().enumerate();
        Ok(vec![match to_filter {
            true => {
                let sums: Vec<Expr<'_>> = parts
                    .map(|(number, _)| part(number).sum_with(|o| o.axis([0, 1, 2])))
                    .collect();
                x[0].scope().stack_with(&sums, |o| o.axis(0)).reshape_like(x[1])
            }
            false => {
                let all = parts.map(|(number, place)| windows.back(part(number), &place));
                all.reduce(|a, b| a + b).ok_or("its filter is empty")?
            }
        }])
    })
}

/// Windows, whose elements become channels, one after the other.
fn patches(r: &mut Reader<'_>, at: usize, rates: &[i64]) -> Result<()> {
    let x = r.operand(at, 0)?;
    let (sizes, strides) = (numbers(r, at, "ksizes")?, numbers(r, at, "strides")?);
    let dims = r.dims(x)?.0;
    let windows = Windows::of(r, at, &dims, &sizes, &strides, rates)?;
    r.build(at, 1, |x| {
        let padded = windows.padded(x[0], 0.0);
        let all: Vec<Expr<'_>> = windows.places().map(|place| windows.at(padded, &place)).collect();
        Ok(vec![x[0].scope().concat_with(&all, |o| o.axis(dims.len() as i64 - 1))])
    })
}
