//! Maxima of windows of different sizes, whose places are those of a sequence that a number determines (B. Graham, 2014).

use pir_dialects::pd;
use smallvec::smallvec;

use super::{Inputs, Kernel, Outputs, Prepare, Spec, one, take};
use crate::tensor::{DType, Shape, Tensor, checked_count};

pub(super) const KERNELS: &[(&str, Prepare)] = &[
    (pd::FractionalMaxPool2d::NAME, |s| pool::<2>(s)),
    (pd::FractionalMaxPool2dGrad::NAME, |_| unpool::<2>()),
    (pd::FractionalMaxPool3d::NAME, |s| pool::<3>(s)),
    (pd::FractionalMaxPool3dGrad::NAME, |_| unpool::<3>()),
];

fn pool<const N: usize>(s: &Spec<'_>) -> Result<Kernel, String> {
    let given = s.float("random_u", 0.0) as f32;
    if !(given > 0.0 && given < 1.0) {
        return Err("`random_u` must be between 0 and 1: random numbers are not drawn".to_owned());
    }
    let each = |name: &str| -> Result<[usize; N], String> {
        let values = s.ints(name).unwrap_or_else(|| vec![0; N]);
        let sizes: Option<Vec<usize>> = values.iter().map(|&n| usize::try_from(n).ok()).collect();
        sizes
            .and_then(|sizes| sizes.try_into().ok())
            .ok_or_else(|| format!("`{name}` must be {N} sizes"))
    };
    let (sizes, windows) = (each("output_size")?, each("kernel_size")?);
    let is_single = s.is_absent(1);
    Ok(Box::new(move |inputs| {
        let [x] = take(inputs)?;
        let (lead, extents) = split::<N>(x.shape())?;
        let shape: Shape = lead.iter().chain(&sizes).copied().collect();
        let count = checked_count(&shape, 8)?;
        if x.is_empty() {
            return Err("`x` must not be empty".to_owned());
        }
        let mut bounds = Vec::with_capacity(N);
        for axis in 0..N {
            bounds.push(ranges(extents[axis], sizes[axis], windows[axis], given)?);
        }
        let values = x.to_f64();
        let (mut out, mut places) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let whole = extents.iter().product::<usize>();
        for image in values.chunks_exact(whole) {
            for window in 0..sizes.iter().product() {
                let (mut rest, mut at) = (window, [(0, 0); N]);
                for axis in (0..N).rev() {
                    at[axis] = bounds[axis][rest % sizes[axis]];
                    rest /= sizes[axis];
                }
                let mut best = (f64::NEG_INFINITY, -1i64);
                let elements: usize = at.iter().map(|(start, end)| end.saturating_sub(*start)).product();
                for element in 0..elements {
                    let (mut rest, mut place, mut stride) = (element, 0, 1);
                    for axis in (0..N).rev() {
                        let (start, end) = at[axis];
                        place += (start + rest % (end - start)) * stride;
                        rest /= end - start;
                        stride *= extents[axis];
                    }
                    if image[place] > best.0 {
                        best = (image[place], place as i64);
                    }
                }
                out.push(best.0);
                places.push(best.1);
            }
        }
        let out = Tensor::new(&shape, out)?.cast(x.dtype())?;
        match is_single {
            true => one(out),
            false => Ok(smallvec![out, Tensor::new(&shape, places)?.cast(DType::I32)?]),
        }
    }))
}

/// The batch and the channels, and the extents of an image or a volume.
fn split<const N: usize>(shape: &[usize]) -> Result<(&[usize], [usize; N]), String> {
    match shape.split_at_checked(2) {
        Some((lead, extents)) if extents.len() == N => Ok((lead, std::array::from_fn(|axis| extents[axis]))),
        _ => Err(format!("`x` must have {} dimensions", N + 2)),
    }
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

fn unpool<const N: usize>() -> Result<Kernel, String> {
    Ok(Box::new(|inputs: Inputs| -> Result<Outputs, String> {
        let [x, places, slopes] = take(inputs)?;
        let (_, extents) = split::<N>(x.shape())?;
        let (_, sizes) = split::<N>(places.shape())?;
        if places.shape() != slopes.shape() {
            return Err("the shapes of places and cotangents do not match".to_owned());
        }
        let mut out = vec![0.0; x.len()];
        if x.is_empty() {
            return one(Tensor::new(x.shape(), out)?.cast(x.dtype())?);
        }
        let (each, whole) = (
            sizes.iter().fold(1usize, |n, &size| n.saturating_mul(size)),
            extents.iter().product::<usize>(),
        );
        for (at, (place, slope)) in places.to_i64().into_iter().zip(slopes.to_f64()).enumerate() {
            let place = usize::try_from(place).ok().filter(|&place| place < whole);
            if let Some(own) = place.and_then(|place| out.get_mut(at / each.max(1) * whole + place)) {
                *own += slope;
            }
        }
        one(Tensor::new(x.shape(), out)?.cast(x.dtype())?)
    }))
}
