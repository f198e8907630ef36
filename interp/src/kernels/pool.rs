//! Max and average pooling.

use pir_dialects::pd;
use pir_dialects::window::{Attributes, Axis};

use super::broadcast::transpose;
use super::conv::{attributes, inside};
use super::gemm::Real;
use super::pooling::{Largest, Marked, Means, Run, Shares, Stretch, Windows};
use super::{IntList, Ints, Kernel, Outputs, Prepare, Spec, one, take};
use crate::parallel;
use crate::simd;
use crate::tensor::buffer::{filled, scratch, stale};
use crate::tensor::{Data, Storage, Tensor, checked_count};

pub(super) const KERNELS: &[(&str, Prepare)] = &[
    (pd::Pool2d::NAME, |s| {
        let pool = Pool::of(s)?;
        Ok(Box::new(move |inputs| {
            let kernel = pool.kernel.get(&inputs)?;
            let [x] = take(inputs)?;
            let (x, windows) = pool.prepared(&x, kernel)?;
            one(pool.channels_back(pool.run(&x, &windows, false)?.0)?)
        }))
    }),
    (pd::MaxPool2dWithIndex::NAME, |s| {
        let mut pool = Pool::of(s)?;
        pool.mean = false;
        Ok(Box::new(move |inputs| {
            let kernel = pool.kernel.get(&inputs)?;
            let [x] = take(inputs)?;
            let (x, windows) = pool.prepared(&x, kernel)?;
            let (out, places) = pool.run(&x, &windows, true)?;
            let mask = Tensor::of(out.shape(), places)?;
            let mut results = Outputs::new();
            results.extend([pool.channels_back(out)?, pool.channels_back(mask)?]);
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

    fn windows(&self, [height, width]: [usize; 2], kernel: Option<Ints>) -> Result<Windows, String> {
        let size = [height as i64, width as i64];
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
        let of = |rows: Vec<Stretch>, columns: Vec<Stretch>, runs: Option<Vec<Run>>| Windows {
            rows,
            columns,
            runs,
            height,
            width,
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
            return Ok(of(shared(size[0], windows[0])?, shared(size[1], windows[1])?, None));
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
        let (rows, columns) = (along(&axes[0])?, along(&axes[1])?);
        let axis = Axis { dilation: 1, ..axes[1] };
        let run = |place: i64| {
            let windows = inside(&axis, place, columns.len());
            let first = windows.start as i64 * axis.stride + place - axis.before;
            Run {
                windows,
                first: first.max(0) as usize,
                step: axis.stride.max(1) as usize,
            }
        };
        // The places that a window has in the image; of windows that are large and far apart most are outside.
        let last = (columns.len() as i64 - 1) * axis.stride - axis.before;
        let reached = (-last).max(0)..axis.kernel.min(axis.size + axis.before);
        let most = (width as i64).saturating_mul(columns.len() as i64);
        if reached.end - reached.start > most {
            return Ok(of(rows, columns, None));
        }
        let _room = scratch::<Run>(usize::try_from(reached.end - reached.start).unwrap_or(0))?;
        let runs = reached.map(run).collect();
        Ok(of(rows, columns, Some(runs)))
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

    /// The image with the channels in front, and its windows.
    fn prepared(&self, x: &Tensor, kernel: Option<Ints>) -> Result<(Tensor, Windows), String> {
        let (first, [_, _, h, w]) = self.channels_first(x)?;
        Ok((first, self.windows([h, w], kernel)?))
    }

    /// The pooled image, of one with the channels in front; with `mark`, the index of each maximum in its channel.
    fn run(&self, x: &Tensor, windows: &Windows, mark: bool) -> Result<(Tensor, Storage<i32>), String> {
        let shape = windows.pooled(x.shape());
        let count = checked_count(&shape, 8)?;
        if mark && i32::try_from(windows.area()).is_err() {
            let Windows { height, width, .. } = windows;
            return Err(format!("the indices of {height} times {width} elements exceed i32"));
        }
        let (data, places) = match x.data() {
            Data::F32(x) => self.pooled::<f32>(windows, x, count, mark)?,
            Data::F64(x) => self.pooled::<f64>(windows, x, count, mark)?,
            _ => self.pooled::<f64>(windows, &x.doubles()?, count, mark)?,
        };
        Ok((Tensor::from_parts(shape, data).cast(x.dtype())?, places))
    }

    fn pooled<T: Real>(
        &self,
        windows: &Windows,
        x: &[T],
        count: usize,
        mark: bool,
    ) -> Result<(Data, Storage<i32>), String> {
        let (mut out, mut places) = (stale::<T>(count)?, filled(if mark { count } else { 0 }, 0)?);
        let (area, each) = (windows.area(), windows.rows.len() * windows.columns.len());
        let _lines = scratch::<f64>(windows.width)?;
        let work = x.len().saturating_mul(2);
        let channel = |first: usize| {
            x.get(first / each.max(1) * area..)
                .and_then(|x| x.get(..area))
                .unwrap_or(&[])
        };
        match (self.mean, mark) {
            (true, _) => parallel::chunks(&mut out, each, work, |first, out| {
                let (channel, sums) = (channel(first), &mut vec![0.0; windows.width + windows.columns.len()]);
                simd::run(Means {
                    windows,
                    channel,
                    sums,
                    out,
                });
            }),
            (false, false) => parallel::chunks(&mut out, each, work, |first, out| {
                let (channel, line) = (channel(first), &mut vec![T::default(); windows.width]);
                simd::run(Largest {
                    windows,
                    channel,
                    line,
                    out,
                });
            }),
            (false, true) => parallel::pairs(&mut out, &mut places, [each; 2], work, |at, out, places| {
                let channel = channel(at * each);
                simd::run(Marked {
                    windows,
                    channel,
                    out,
                    places,
                });
            }),
        }
        Ok((T::wrap(out), places))
    }
}

fn pool_grad(s: &Spec<'_>) -> Result<Kernel, String> {
    let pool = Pool::of(s)?;
    Ok(Box::new(move |inputs| {
        let kernel = pool.kernel.get(&inputs)?;
        let [x, _, g] = take(inputs)?;
        let (first, windows) = pool.prepared(&x, kernel)?;
        let (g, shape) = pool.channels_first(&g)?;
        if shape[..] != windows.pooled(first.shape())[..] {
            return Err(format!(
                "the gradient has shape {shape:?}, but the image has shape {:?}",
                x.shape()
            ));
        }
        let places = if pool.mean {
            Storage::default()
        } else {
            pool.run(&first, &windows, true)?.1
        };
        let data = match g.data() {
            Data::F32(g) => spread(&pool, &windows, g, &places, x.len())?,
            Data::F64(g) => spread(&pool, &windows, g, &places, x.len())?,
            _ => spread::<f64>(&pool, &windows, &g.doubles()?, &places, x.len())?,
        };
        let out = Tensor::from_parts(first.shape().into(), data).cast(x.dtype())?;
        one(pool.channels_back(out)?)
    }))
}

/// What the elements of the image get of the gradients of their windows.
fn spread<T: Real>(pool: &Pool, windows: &Windows, g: &[T], places: &[i32], count: usize) -> Result<Data, String> {
    let (area, each) = (windows.area(), windows.rows.len() * windows.columns.len());
    let mut out = stale::<T>(count)?;
    let _sums = scratch::<f64>(area)?;
    parallel::chunks(&mut out, area, g.len().saturating_mul(4), |first, out| {
        let range = first / area.max(1) * each..(first / area.max(1) + 1) * each;
        let (mut sums, g) = (vec![0.0; area], &g[range.clone()]);
        if pool.mean {
            simd::run(Shares {
                windows,
                g,
                sums: &mut sums,
            });
        } else {
            let all = places[range].iter().zip(g);
            all.for_each(|(&place, g)| sums[place as usize] += g.to_f64());
        }
        out.iter_mut().zip(sums).for_each(|(to, sum)| *to = T::from_f64(sum));
    });
    Ok(T::wrap(out))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(attributes: Attributes, ceil: bool, mean: bool, exclusive: bool) -> Pool {
        Pool {
            kernel: IntList::Missing,
            attributes,
            ceil,
            exclusive,
            channels_last: false,
            mean,
            global: false,
            adaptive: false,
        }
    }

    /// Windows that are equally far apart are computed together: as those that are not, one by one.
    #[test]
    fn runs_are_windows_one_by_one() {
        let special = [f64::NAN, f64::NEG_INFINITY, f64::INFINITY, -0.0, 0.0];
        let number = |at: usize| match at % 11 {
            0 => special[at / 11 % special.len()],
            _ => (at * 7 % 23) as f64 - 11.0,
        };
        let mut tried = 0;
        for size in [[1, 1], [5, 7], [6, 33], [9, 40]] {
            for kernel in [[1, 1], [2, 3], [3, 3], [5, 2]] {
                for strides in [[1, 1], [2, 2], [3, 1], [1, 4]] {
                    for paddings in [[0, 0, 0, 0], [1, 1, 1, 1], [2, 0, 1, 3]] {
                        for choice in 0..8 {
                            let attributes = Attributes {
                                strides: strides.to_vec(),
                                paddings: paddings.to_vec(),
                                dilations: vec![1, 1],
                                algorithm: "EXPLICIT".to_owned(),
                            };
                            let pool = pool(attributes, choice & 1 > 0, choice & 2 > 0, choice & 4 > 0);
                            let Ok(mut windows) = pool.windows(size, Some(Ints::from_slice(&kernel))) else {
                                continue;
                            };
                            let count = 2 * windows.rows.len() * windows.columns.len();
                            let x: Vec<f32> = (0..2 * windows.area()).map(|at| number(at) as f32).collect();
                            let bits = |data: &Data| match data {
                                // A sum that is not a number has any sign.
                                Data::F32(v) => v.iter().map(|v| if v.is_nan() { 0 } else { v.to_bits() }).collect(),
                                _ => Vec::new(),
                            };
                            let all = |windows: &Windows| {
                                [false, true].map(|mark| {
                                    let (data, places) = pool.pooled(windows, &x, count, mark).unwrap();
                                    (bits(&data), places.to_vec())
                                })
                            };
                            assert!(windows.runs.is_some());
                            let together = all(&windows);
                            windows.runs = None;
                            assert_eq!(
                                together,
                                all(&windows),
                                "{size:?} {kernel:?} {strides:?} {paddings:?} {choice}"
                            );
                            tried += 1;
                        }
                    }
                }
            }
        }
        assert!(tried > 500);
    }
}
