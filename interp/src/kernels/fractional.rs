//! Maxima of windows of different sizes, whose places are those of a sequence that a number determines (B. Graham, 2014).

use pir_dialects::pd;
use smallvec::smallvec;

use super::{Inputs, Kernel, Outputs, Prepare, Spec, one, take};
use crate::tensor::{DType, Tensor, checked_count};

pub(super) const KERNELS: &[(&str, Prepare)] = &[
    (pd::FractionalMaxPool2d::NAME, pool),
    (pd::FractionalMaxPool2dGrad::NAME, unpool),
];

fn pool(s: &Spec<'_>) -> Result<Kernel, String> {
    let given = s.float("random_u", 0.0) as f32;
    if !(given > 0.0 && given < 1.0) {
        return Err("`random_u` must be from 0 to 1: random numbers are not drawn".to_owned());
    }
    let pair = |name: &str| -> Result<[usize; 2], String> {
        let values = s.ints(name).unwrap_or_else(|| vec![0, 0]);
        let sizes: Option<Vec<usize>> = values.iter().map(|&n| usize::try_from(n).ok()).collect();
        sizes
            .and_then(|sizes| sizes.try_into().ok())
            .ok_or_else(|| format!("`{name}` must be two sizes"))
    };
    let (sizes, windows) = (pair("output_size")?, pair("kernel_size")?);
    let is_single = s.is_absent(1);
    Ok(Box::new(move |inputs| {
        let [x] = take(inputs)?;
        let &[n, c, h, w] = x.shape() else {
            return Err("`x` must have four dimensions".to_owned());
        };
        let rows = ranges(h, sizes[0], windows[0], given)?;
        let columns = ranges(w, sizes[1], windows[1], given)?;
        let values = x.to_f64();
        let shape = [n, c, sizes[0], sizes[1]];
        let count = checked_count(&shape, 8)?;
        let (mut out, mut places) = (Vec::with_capacity(count), Vec::with_capacity(count));
        for image in values.chunks_exact((h * w).max(1)) {
            for (top, bottom) in &rows {
                for (left, right) in &columns {
                    let mut best = (f64::NEG_INFINITY, -1i64);
                    for row in *top..*bottom {
                        for column in *left..*right {
                            let at = row * w + column;
                            if image[at] > best.0 {
                                best = (image[at], at as i64);
                            }
                        }
                    }
                    out.push(best.0);
                    places.push(best.1);
                }
            }
        }
        let out = Tensor::new(&shape, out)?.cast(x.dtype())?;
        match is_single {
            true => one(out),
            false => Ok(smallvec![out, Tensor::new(&shape, places)?.cast(DType::I32)?]),
        }
    }))
}

/// The windows along an axis. Those of no given size are next to each other. Where they begin is computed in single precision, as there.
fn ranges(extent: usize, count: usize, window: usize, given: f32) -> Result<Vec<(usize, usize)>, String> {
    let (size, many) = (extent as f32, count as f32);
    if count == 0 || count > extent || window > extent {
        return Err(format!("{count} windows do not fit on an axis of {extent} elements"));
    }
    let (alpha, u) = match window {
        0 => {
            let (alpha, base) = (size / many, (extent / count) as f32);
            let most = ((base + 2.0) / alpha - 1.0).min((size + 1.0 - base) / alpha - (many - 1.0));
            (alpha, given * most)
        }
        // The windows are as far apart as the last one allows.
        _ if count > 1 => ((size - window as f32) / (many - 1.0), given),
        _ => (0.0, given),
    };
    let first = (alpha * u) as i64;
    let at = |k: usize| ((k as f32 + u) * alpha) as i64 - first;
    let bounded = |n: i64| usize::try_from(n).unwrap_or(0).min(extent);
    Ok((0..count)
        .map(|k| {
            let end = if window == 0 { at(k + 1) } else { at(k) + window as i64 };
            (bounded(at(k)), bounded(end))
        })
        .collect())
}

fn unpool(_: &Spec<'_>) -> Result<Kernel, String> {
    Ok(Box::new(|inputs: Inputs| -> Result<Outputs, String> {
        let [x, places, slopes] = take(inputs)?;
        let &[_, _, h, w] = x.shape() else {
            return Err("`x` must have four dimensions".to_owned());
        };
        if places.shape() != slopes.shape() || places.rank() != 4 {
            return Err("the shapes of places and cotangents do not match".to_owned());
        }
        let each = places.shape()[2] * places.shape()[3];
        let mut out = vec![0.0; x.len()];
        for (at, (place, slope)) in places.to_i64().into_iter().zip(slopes.to_f64()).enumerate() {
            let place = usize::try_from(place).ok().filter(|&place| place < h * w);
            if let Some(own) = place.and_then(|place| out.get_mut(at / each.max(1) * h * w + place)) {
                *own += slope;
            }
        }
        one(Tensor::new(x.shape(), out)?.cast(x.dtype())?)
    }))
}
