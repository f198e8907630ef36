//! Gradients of elementwise operations.

use super::binary::zip_floats;
use super::broadcast::expand;
use super::steps::tanh_grad;
use super::unary::number;
use super::{Inputs, Kernel, Outputs, Prepare, one, take};
use crate::tensor::Storage;
use crate::tensor::buffer::gathered;
use crate::tensor::{Element, Shape, Tensor};
use pir_dialects::pd;

pub(super) const KERNELS: &[(&str, Prepare)] = &[
    (pd::TanhGrad::NAME, |_| floats(tanh_grad::<f32>, tanh_grad::<f64>)),
    (pd::SigmoidGrad::NAME, |_| {
        floats(|o, g| g * o * (1.0 - o), |o, g| g * o * (1.0 - o))
    }),
    (pd::ReluGrad::NAME, |_| {
        floats(
            |o, g| if o > 0.0 { g } else { 0.0 },
            |o, g| if o > 0.0 { g } else { 0.0 },
        )
    }),
    (pd::SqrtGrad::NAME, |_| floats(|o, g| g * 0.5 / o, |o, g| g * 0.5 / o)),
    (pd::RsqrtGrad::NAME, |_| {
        floats(|o, g| -0.5 * g * o * o * o, |o, g| -0.5 * g * o * o * o)
    }),
    (pd::AbsGrad::NAME, |_| {
        floats(
            |x, g| {
                if x > 0.0 {
                    g
                } else if x < 0.0 {
                    -g
                } else {
                    x * 0.0
                }
            },
            |x, g| {
                if x > 0.0 {
                    g
                } else if x < 0.0 {
                    -g
                } else {
                    x * 0.0
                }
            },
        )
    }),
    (pd::PowGrad::NAME, |s| {
        let (y, place) = (s.float("y", 1.0), s.operand_called("y"));
        Ok(Box::new(move |inputs| {
            let y = number(&inputs, place, y)?;
            let [x, g] = take(inputs)?;
            // The derivative of a constant is zero also at zero, where the formula gives 0 * inf.
            if y == 0.0 {
                return one(zip_floats(x, g, |_, _| 0.0, |_, _| 0.0)?);
            }
            let (z, less) = (y as f32, (y - 1.0) as f32);
            one(zip_floats(
                x,
                g,
                |x, g| g * z * x.powf(less),
                |x, g| g * y * x.powf(y - 1.0),
            )?)
        }))
    }),
    (pd::ClipGrad::NAME, |s| {
        let bounds = (s.float("min", f64::NEG_INFINITY), s.float("max", f64::INFINITY));
        let places = (s.operand_called("min"), s.operand_called("max"));
        Ok(Box::new(move |inputs| {
            let min = number(&inputs, places.0, bounds.0)?;
            let max = number(&inputs, places.1, bounds.1)?;
            let [x, g] = take(inputs)?;
            let (low, high) = (min as f32, max as f32);
            one(zip_floats(
                x,
                g,
                |x, g| if x >= low && x <= high { g } else { 0.0 },
                |x, g| if x >= min && x <= max { g } else { 0.0 },
            )?)
        }))
    }),
    (pd::MaximumGrad::NAME, |_| {
        Ok(Box::new(|inputs| extremum_grad(inputs, |x, y| x > y)))
    }),
    (pd::MinimumGrad::NAME, |_| {
        Ok(Box::new(|inputs| extremum_grad(inputs, |x, y| x < y)))
    }),
];

fn floats(
    f: impl Fn(f32, f32) -> f32 + Send + Sync + 'static,
    d: impl Fn(f64, f64) -> f64 + Send + Sync + 'static,
) -> Result<Kernel, String> {
    Ok(Box::new(move |inputs| {
        let [x, y] = take(inputs)?;
        one(zip_floats(x, y, &f, &d)?)
    }))
}

fn extremum_grad(inputs: Inputs, wins: fn(f64, f64) -> bool) -> Result<Outputs, String> {
    let [x, y, g] = take(inputs)?;
    if !x.dtype().is_float() {
        return Err("the operands must have a float element type".to_owned());
    }
    let shape: Shape = g.shape().into();
    let (ex, ey) = (expand(&x, &shape)?.doubles()?, expand(&y, &shape)?.doubles()?);
    let gs = g.doubles()?;
    // The share of x: all, none, or half for a tie. An operand that is not selected gets zero, even from an infinite
    // gradient.
    let share = |g: f64, a: f64, b: f64| match () {
        () if wins(a, b) => g,
        () if a == b => g * 0.5,
        () => 0.0,
    };
    let all = gs.iter().zip(ex.iter().zip(ey.iter()));
    let gx = gathered(all.clone().map(|(&g, (&a, &b))| share(g, a, b)))?;
    let gy = gathered(all.map(|(&g, (&a, &b))| share(g, b, a)))?;
    let back = |values: Storage<f64>, like: &Tensor| -> Result<Tensor, String> {
        let full = Tensor::from_parts(shape.clone(), f64::wrap(values));
        super::reduce::reduce_as(&full, like.shape())?.cast(like.dtype())
    };
    let mut out = Outputs::new();
    out.extend([back(gx, &x)?, back(gy, &y)?]);
    Ok(out)
}
