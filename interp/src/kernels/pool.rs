//! Max and average pooling.

use crate::tensor::Storage;
use crate::tensor::buffer::{filled, gathered, room, scratch};
use pir_dialects::pd;
use pir_dialects::window::{Attributes, Axis};

use super::broadcast::transpose;
use super::conv::attributes;
use super::{IntList, Ints, Kernel, Outputs, Prepare, Spec, one, take};
use crate::tensor::{Shape, Tensor, checked_count};

pub(super) const KERNELS: &[(&str, Prepare)] = &[
    (pd::Pool2d::NAME, |s| {
        let pool = Pool::of(s)?;
        Ok(Box::new(move |inputs| {
            let kernel = pool.kernel.get(&inputs)?;
            let [x] = take(inputs)?;
            one(pool.run(&x, kernel)?.0)
        }))
    }),
    (pd::MaxPool2dWithIndex::NAME, |s| {
        let mut pool = Pool::of(s)?;
        pool.mean = false;
        Ok(Box::new(move |inputs| {
            let kernel = pool.kernel.get(&inputs)?;
            let [x] = take(inputs)?;
            let (out, places) = pool.run(&x, kernel)?;
            let mask = Tensor::of(out.shape(), gathered(places.iter().map(|&p| p as i32))?)?;
            let mut results = Outputs::new();
            results.extend([out, mask]);
            Ok(results)
        }))
    }),
    (pd::Pool2dGrad::NAME, pool_grad),
];

struct Pool {
    kernel: IntList,
    attributes: Attributes,
    ceil: bool,
    exclusive: bool,
    channels_last: bool,
    mean: bool,
    global: bool,
    adaptive: bool,
}

/// The range of a window along one axis.
#[derive(Clone, Copy)]
struct Stretch {
    start: usize,
    end: usize,
    /// The number of elements that an average counts.
    count: usize,
}

impl Pool {
    fn of(s: &Spec<'_>) -> Result<Pool, String> {
        let mean = match s.text("pooling_type", "max") {
            "avg" => true,
            "max" => false,
            other => return Err(format!("`pooling_type` must be `max` or `avg`, not `{other}`")),
        };
        Ok(Pool {
            kernel: s.ints_or_operand("kernel_size"),
            attributes: attributes(s),
            ceil: s.flag("ceil_mode", false),
            exclusive: s.flag("exclusive", true),
            channels_last: s.text("data_format", "NCHW") == "NHWC",
            mean,
            global: s.flag("global_pooling", false),
            adaptive: s.flag("adaptive", false),
        })
    }

    fn stretches(&self, size: [usize; 2], kernel: Option<Ints>) -> Result<[Vec<Stretch>; 2], String> {
        let size = size.map(|n| n as i64);
        let kernel = match kernel.as_deref() {
            _ if self.global => size,
            Some(&[both]) => [both, both],
            Some(&[h, w]) => [h, w],
            other => return Err(format!("`kernel_size` must be two numbers, not {other:?}")),
        };
        let piece = |start: i64, end: i64, count: i64| Stretch {
            start: start as usize,
            end: end.max(start) as usize,
            count: count.max(0) as usize,
        };
        let shared = |size: i64, windows: i64| -> Result<Vec<Stretch>, String> {
            let count = checked_count(&[usize::try_from(windows).map_err(|_| "a negative size")?], 24)?;
            let _room = scratch::<Stretch>(count)?;
            let one = |at: i64| {
                let (start, end) = Axis::share(size, windows, at);
                piece(start, end, end - start)
            };
            Ok((0..windows).map(one).collect())
        };
        if self.global || self.adaptive {
            let windows = if self.global { [1, 1] } else { kernel };
            return Ok([shared(size[0], windows[0])?, shared(size[1], windows[1])?]);
        }
        let axes = self.attributes.axes(size, kernel)?;
        let along = |axis: &Axis| -> Result<Vec<Stretch>, String> {
            let windows = axis.windows(self.ceil)?;
            let _room = scratch::<Stretch>(checked_count(&[windows as usize], 24)?)?;
            let one = |at: i64| {
                let first = at * axis.stride - axis.before;
                let (start, end) = (first.max(0).min(axis.size), (first + axis.kernel).min(axis.size));
                // The border before the image counts, and an equally large one after it, but not what a window covers
                // beyond that.
                let covered = (first + axis.kernel).min(axis.size + axis.before) - first;
                piece(start, end, if self.exclusive { end - start } else { covered })
            };
            Ok((0..windows).map(one).collect())
        };
        Ok([along(&axes[0])?, along(&axes[1])?])
    }

    fn channels_first(&self, x: &Tensor) -> Result<(Tensor, [usize; 4]), String> {
        let x = match self.channels_last {
            true if x.rank() == 4 => transpose(x, &[0, 3, 1, 2])?,
            _ => x.clone(),
        };
        let shape: [usize; 4] = x
            .shape()
            .try_into()
            .map_err(|_| format!("expected four dimensions, found shape {:?}", x.shape()))?;
        Ok((x, shape))
    }

    fn channels_back(&self, x: Tensor) -> Result<Tensor, String> {
        match self.channels_last {
            true => transpose(&x, &[0, 2, 3, 1]),
            false => Ok(x),
        }
    }

    /// The pooled image, and the index of each maximum in its channel.
    fn run(&self, x: &Tensor, kernel: Option<Ints>) -> Result<(Tensor, Storage<i64>), String> {
        let (first, [n, c, h, w]) = self.channels_first(x)?;
        let [rows, columns] = self.stretches([h, w], kernel)?;
        let shape = Shape::from_slice(&[n, c, rows.len(), columns.len()]);
        let count = checked_count(&shape, 8)?;
        let values = first.doubles()?;
        let (mut out, mut places) = (room(count)?, room(if self.mean { 0 } else { count })?);
        for channel in channels(&values, [n, c, h, w], count) {
            for row in &rows {
                for column in &columns {
                    let cells = (row.start..row.end).flat_map(|y| (column.start..column.end).map(move |x| y * w + x));
                    if self.mean {
                        let sum: f64 = cells.map(|at| channel[at]).sum();
                        out.push(sum / (row.count * column.count).max(1) as f64);
                        continue;
                    }
                    let wins = |v: f64, best: f64| v > best || v.is_nan() && !best.is_nan();
                    let better = |best: usize, at: usize| if wins(channel[at], channel[best]) { at } else { best };
                    let best = cells.reduce(better);
                    out.push(best.map_or(f64::NEG_INFINITY, |at| channel[at]));
                    places.push(best.unwrap_or(0) as i64);
                }
            }
        }
        let out = Tensor::of(&shape, out)?.cast(x.dtype())?;
        Ok((self.channels_back(out)?, places))
    }
}

/// The channels of all images; none if the result is empty.
fn channels(values: &[f64], [n, c, h, w]: [usize; 4], count: usize) -> impl Iterator<Item = &[f64]> {
    let all = if count == 0 { 0 } else { n * c };
    (0..all).map(move |at| &values[at * h * w..(at + 1) * h * w])
}

fn pool_grad(s: &Spec<'_>) -> Result<Kernel, String> {
    let pool = Pool::of(s)?;
    Ok(Box::new(move |inputs| {
        let kernel = pool.kernel.get(&inputs)?;
        let [x, _, g] = take(inputs)?;
        let (_, [n, c, h, w]) = pool.channels_first(&x)?;
        let [rows, columns] = pool.stretches([h, w], kernel.clone())?;
        let (g, shape) = pool.channels_first(&g)?;
        if shape != [n, c, rows.len(), columns.len()] {
            return Err(format!(
                "the gradient has shape {shape:?}, but the image has shape {:?}",
                x.shape()
            ));
        }
        let grads = g.doubles()?;
        let mut out = filled(x.len(), 0.0)?;
        let windows = rows.len() * columns.len();
        if pool.mean {
            for (at, &g) in grads.iter().enumerate() {
                let (row, column) = (rows[at % windows / columns.len()], columns[at % columns.len()]);
                let share = g / (row.count * column.count).max(1) as f64;
                for y in row.start..row.end {
                    let start = (at / windows * h + y) * w;
                    out[start + column.start..start + column.end]
                        .iter_mut()
                        .for_each(|v| *v += share);
                }
            }
        } else if h * w > 0 {
            let (_, places) = pool.run(&x, kernel)?;
            for (at, (&g, &place)) in grads.iter().zip(places.iter()).enumerate() {
                out[at / windows * h * w + place as usize] += g;
            }
        }
        let out = Tensor::of(&[n, c, h, w], out)?.cast(x.dtype())?;
        one(pool.channels_back(out)?)
    }))
}
