//! Norms, and other reductions computed in double precision.

use super::nn::{each_line, of_axis};
use super::reduce::Groups;
use super::{IntList, Kernel, Prepare, Spec, axis, one, take};
use crate::tensor::{Data, Shape, Tensor};
use pir_dialects::pd;

pub(super) const KERNELS: &[(&str, Prepare)] = &[
    (pd::Logsumexp::NAME, |s| {
        over_axes(s, "keepdim", |g| {
            let most = g.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            match most.is_finite() {
                true => most + g.iter().map(|v| (v - most).exp()).sum::<f64>().ln(),
                false => g.iter().map(|v| v.exp()).sum::<f64>().ln(),
            }
        })
    }),
    (pd::FrobeniusNorm::NAME, |s| {
        over_axes(s, "keep_dim", |g| g.iter().map(|v| v * v).sum::<f64>().sqrt())
    }),
    (pd::PNorm::NAME, |s| {
        let order = s.float("porder", 2.0);
        let all = s.flag("asvector", false);
        let (at, keepdim) = (s.int("axis", -1), s.flag("keepdim", false));
        Ok(Box::new(move |inputs| {
            let [x] = take(inputs)?;
            let axes: Vec<usize> = match all || x.rank() == 0 {
                true => (0..x.rank()).collect(),
                false => vec![axis(at, x.rank())?],
            };
            one(reduced(&x, &axes, keepdim, |g| norm(g, order))?)
        }))
    }),
    (pd::SquaredL2Norm::NAME, |_| {
        Ok(Box::new(|inputs| {
            let [x] = take(inputs)?;
            let sum: f64 = x.to_f64().iter().map(|v| v * v).sum();
            one(Tensor::new(&[1], vec![sum])?.cast(x.dtype())?)
        }))
    }),
    (pd::MeanAll::NAME, |_| {
        Ok(Box::new(|inputs| {
            let [x] = take(inputs)?;
            let mean = x.to_f64().iter().sum::<f64>() / x.len() as f64;
            one(Tensor::scalar(mean).cast(x.dtype())?)
        }))
    }),
    (pd::Cumprod::NAME, |s| {
        let (at, exclusive, reverse) = (s.int("dim", 0), s.flag("exclusive", false), s.flag("reverse", false));
        Ok(Box::new(move |inputs| {
            let [x] = take(inputs)?;
            let (at, shape) = of_axis(at, x.shape())?;
            let mut values = x.to_f64();
            each_line(&shape, at, |first, step, n| {
                let mut product = 1.0;
                for k in 0..n {
                    let place = first + step * if reverse { n - 1 - k } else { k };
                    let next = product * values[place];
                    values[place] = if exclusive { product } else { next };
                    product = next;
                }
            });
            one(Tensor::new(x.shape(), values)?.cast(x.dtype())?)
        }))
    }),
    // The parameter is part of the program's environment, not of this run.
    (pd::AssignOutInplace::NAME, |_| {
        Ok(Box::new(|inputs| {
            let [x, _] = take(inputs)?;
            one(x)
        }))
    }),
];

fn norm(values: &[f64], order: f64) -> f64 {
    let sizes = values.iter().map(|v| v.abs());
    match order {
        f64::INFINITY => sizes.fold(0.0, f64::max),
        f64::NEG_INFINITY => sizes.fold(f64::INFINITY, f64::min),
        0.0 => sizes.filter(|&v| v != 0.0).count() as f64,
        1.0 => sizes.sum(),
        2.0 => sizes.map(|v| v * v).sum::<f64>().sqrt(),
        p => sizes.map(|v| v.powf(p)).sum::<f64>().powf(1.0 / p),
    }
}

fn reduced(x: &Tensor, axes: &[usize], keepdim: bool, f: impl Fn(&[f64]) -> f64) -> Result<Tensor, String> {
    let shape: Shape = (x.shape().iter().enumerate())
        .filter_map(|(i, &d)| match axes.contains(&i) {
            false => Some(d),
            true => keepdim.then_some(1),
        })
        .collect();
    let groups = Groups::new(&x.cast(crate::DType::F64)?, axes)?;
    let data: Data = groups.each(groups.x.view::<f64>().unwrap_or_default(), f)?;
    Tensor::from_parts(shape, data).cast(x.dtype())
}

fn over_axes(s: &Spec<'_>, keepdim: &str, f: fn(&[f64]) -> f64) -> Result<Kernel, String> {
    let (axes, all, keepdim) = (
        s.ints_or_operand("axis"),
        s.flag("reduce_all", false),
        s.flag(keepdim, false),
    );
    let axes = match axes {
        // The default of the op table.
        IntList::Missing if s.view.name() == pd::Logsumexp::NAME => IntList::Known(vec![0]),
        axes => axes,
    };
    Ok(Box::new(move |inputs| {
        let axes = axes.get(&inputs)?.unwrap_or_default();
        let [x] = take(inputs)?;
        let mut axes: Vec<usize> = match axes.is_empty() || all {
            true => (0..x.rank()).collect(),
            false => axes.iter().map(|&a| axis(a, x.rank())).collect::<Result<_, _>>()?,
        };
        axes.sort_unstable();
        axes.dedup();
        one(reduced(&x, &axes, keepdim, f)?)
    }))
}
