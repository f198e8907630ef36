//! Operations with numbers that may be operands of one element.

use super::super::value::V;
use super::elementwise::{failed, slope_in_base, slope_in_exponent};
use super::{Cx, Grads, INPUTS, NONE, OUT, REST, Rule, X, all_of, composite, one};
use crate::tensor::Tensor as Dense;
use pir_dialects::pd;

pub(super) const RULES: &[Rule] = &[
    all_of(pd::Scale::NAME, X | REST | INPUTS, scale),
    all_of(pd::Pow::NAME, X | REST, |c| {
        let mut grads: Grads<'_> = vec![None; c.num_inputs()];
        let Some(at) = c.operand_called("y") else {
            grads[0] = Some(match c.number("y")? {
                // Not 0 * x^-1, which is NaN at zero.
                Some(0.0) => c.x().filled(0.0),
                Some(y) => c.grad() * c.x().pow(y - 1.0) * y,
                None => failed(c, "the exponent is missing"),
            });
            return Ok(grads);
        };
        let y = c.scalar(at, c.dtype(0));
        grads[0] = c.wants(0).then(|| c.grad() * slope_in_base(&c.x(), &y));
        grads[at] = (c.wants(at)).then(|| c.summed(at, &(c.grad() * slope_in_exponent(&c.x(), &y))));
        Ok(grads)
    }),
    all_of(pd::Clip::NAME, X | REST | INPUTS, |c| {
        let mut grads: Grads<'_> = vec![None; c.num_inputs()];
        let (g, zeros) = (c.grad(), c.x().filled(0.0));
        let (low, high) = bounds(c)?;
        let under = c.x().with("less_than", &low);
        let over = c.x().with("greater_than", &high);
        grads[0] = Some(within(&c.x(), &low, &high).choose(&g, &zeros));
        if let Some(at) = c.operand_called("min") {
            grads[at] = Some(c.summed(at, &under.choose(&g, &zeros)));
        }
        if let Some(at) = c.operand_called("max") {
            grads[at] = Some(c.summed(at, &under.choose(&zeros, &over.choose(&g, &zeros))));
        }
        Ok(grads)
    }),
    composite(pd::ClipGrad::NAME, |c| {
        c.others_constant();
        vec![match bounds(c) {
            Ok((low, high)) => within(&c.x(), &low, &high).choose(&c.y(), &c.x().filled(0.0)),
            Err(e) => failed(c, &e),
        }]
    }),
    composite(pd::PowGrad::NAME, |c| {
        vec![match c.operand_called("y") {
            Some(at) => {
                let y = c.scalar(at, c.dtype(0));
                c.y() * slope_in_base(&c.x(), &y)
            }
            None => match c.number("y") {
                Ok(Some(0.0)) => c.y() * c.x().filled(0.0),
                Ok(Some(y)) => c.y() * c.x().pow(y - 1.0) * y,
                Ok(None) => failed(c, "the exponent is missing"),
                Err(e) => failed(c, &e),
            },
        }]
    }),
    all_of(pd::Full::NAME, NONE, filled),
    all_of(pd::Const::NAME, NONE, filled),
    all_of(pd::Constant::NAME, NONE, filled),
    all_of(pd::FullLike::NAME, NONE, |c| {
        // Only the shape of the first operand is used.
        c.constant(0);
        filled(c)
    }),
    all_of(pd::Arange::NAME, NONE, |c| {
        let mut grads: Grads<'_> = vec![None; c.num_inputs()];
        let count = c.out_shape(0).iter().product::<usize>();
        let places = Dense::new(&[count], (0..count as i64).collect()).and_then(|t| t.cast(c.grad().dtype()));
        let places = V::constant(c.engine, places);
        if let Some(at) = c.operand_called("start") {
            grads[at] = Some(c.summed(at, &c.grad()));
        }
        if let Some(at) = c.operand_called("step") {
            grads[at] = Some(c.summed(at, &(c.grad() * places)));
        }
        // The number of elements is piecewise constant.
        c.others_constant();
        Ok(grads)
    }),
    all_of(pd::Uniform::NAME, REST | INPUTS | OUT, |c| {
        let ctx = c.engine.ctx();
        let mut grads: Grads<'_> = vec![None; c.num_inputs()];
        // The interpolation weights, as a vector, so that a shape operand does not matter.
        let count = c.out_shape(0).iter().product::<usize>();
        let mut attrs = ctx.dict_with(c.attrs(), "shape", ctx.ints_attr(&[count as i64]));
        for (name, bound) in [("min", 0.0), ("max", 1.0)] {
            attrs = ctx.dict_with(attrs, name, ctx.float_attr(bound));
        }
        let unit = c.engine.compute(c.op(), &[], attrs)?;
        let unit = unit
            .into_iter()
            .next()
            .ok_or_else(|| "the numbers are missing".to_owned());
        let unit = V::constant(c.engine, unit).reshape(&c.out_shape(0));
        if let Some(at) = c.operand_called("max") {
            grads[at] = Some(c.summed(at, &(c.grad() * unit.clone())));
        }
        if let Some(at) = c.operand_called("min") {
            grads[at] = Some(c.summed(at, &(c.grad() * (1.0 - unit))));
        }
        Ok(grads)
    }),
    one(pd::Print::NAME, NONE, |c| c.grad()),
];

/// `scale * x + bias`, or `scale * (x + bias)`.
fn scale<'e>(c: &Cx<'e>) -> Result<Grads<'e>, String> {
    let mut grads: Grads<'e> = vec![None; c.num_inputs()];
    let (factor, bias) = (c.operand_called("scale"), c.operand_called("bias"));
    let after = c.bool("bias_after_scale", true);
    let g = c.grad();
    let inner = match factor {
        Some(at) => g.clone() * c.scalar(at, c.dtype(0)),
        None => g.clone() * c.float("scale", 1.0),
    };
    if let Some(at) = bias {
        grads[at] = Some(c.summed(at, if after { &g } else { &inner }));
    }
    if let Some(at) = factor.filter(|&at| c.wants(at)) {
        let shifted = match bias {
            _ if after => c.x(),
            Some(bias) => c.x() + c.scalar(bias, c.dtype(0)),
            None => c.x() + c.float("bias", 0.0),
        };
        grads[at] = Some(c.summed(at, &(g * shifted)));
    }
    grads[0] = Some(inner);
    Ok(grads)
}

fn filled<'e>(c: &Cx<'e>) -> Result<Grads<'e>, String> {
    let mut grads: Grads<'e> = vec![None; c.num_inputs()];
    if let Some(at) = c.operand_called("value") {
        grads[at] = Some(c.summed(at, &c.grad()));
    }
    Ok(grads)
}

/// The bounds of a `pd.clip`, broadcast to the shape of its operand.
fn bounds<'e>(c: &Cx<'e>) -> Result<(V<'e>, V<'e>), String> {
    let bound = |name, default| c.number(name).map(|v| c.x().filled(v.unwrap_or(default)));
    Ok((bound("min", f64::NEG_INFINITY)?, bound("max", f64::INFINITY)?))
}

/// One where a number is inside the bounds; zero for NaN.
fn within<'e>(x: &V<'e>, low: &V<'e>, high: &V<'e>) -> V<'e> {
    x.with("greater_equal", low)
        .with("logical_and", &x.with("less_equal", high))
}
