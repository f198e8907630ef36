//! Bessel functions, and functions with steps and of bits.

use super::{Call, Compose, Expr};
use crate::stablehlo::chlo;

pub(super) const OPS: &[(&str, Compose)] = &[
    ("trunc_divide", |op| {
        let (x, y) = (op.x("x")?, op.x("y")?);
        let quotient = x / y;
        Ok(vec![
            match quotient.elem().is_some_and(|elem| op.scope.context().is_float(elem)) {
                true => quotient.trunc(),
                // `pd.divide` truncates integers.
                false => quotient,
            },
        ])
    }),
    ("is_empty", |op| {
        let ty = *op.results.first().ok_or("the result is missing")?;
        let shape = op.x("x")?.static_shape().ok_or("the shape of `x` must be static")?;
        Ok(vec![op.scope.full_of(ty, f64::from(u8::from(shape.contains(&0))))])
    }),
    ("nextafter", |op| {
        let ids: Vec<_> = op.spread(["x", "y"])?.into_iter().filter_map(|x| x.id()).collect();
        Ok(op.scope.build(chlo::NextAfter::NAME, &ids, &[], None))
    }),
    ("clip_by_norm", |op| {
        let (x, most) = (op.x("x")?, op.float("max_norm")?);
        let norm = x.square().sum().sqrt();
        let is_long = norm.greater_than(norm.filled(most));
        let factor = is_long.select(norm.filled(most) / norm, norm.ones());
        Ok(vec![x * factor.reshape(vec![1; x.rank()])])
    }),
    ("norm", |op| {
        let (x, epsilon) = (op.x("x")?, op.float("epsilon")?);
        let axis = [op.axis("axis", x)? as i64];
        let norm = (x.square().sum_with(|o| o.axis(axis).keepdim(true)) + epsilon).sqrt();
        Ok(op.wanted(&[("out", x / norm), ("norm", norm)]))
    }),
    ("linear_v2", |op| {
        let (x, weight, bias) = (op.x("input")?, op.x("weight")?, op.x("bias")?);
        let weight = if op.flag("transpose_weight")? {
            weight.transpose(&[1, 0])
        } else {
            weight
        };
        Ok(vec![x.matmul(weight) + bias])
    }),
    ("fake_quantize_dequantize_abs_max", |op| {
        let x = op.x("x")?;
        let scale = x.detach().abs().max();
        let out = quantized(op, x, scale.reshape(vec![1; x.rank()]))?;
        Ok(op.wanted(&[("out", out), ("out_scale", scale.reshape([1]))]))
    }),
    ("fake_channel_wise_quantize_dequantize_abs_max", |op| {
        let (x, axis) = (op.x("x")?, op.axis("quant_axis", op.x("x")?)?);
        let others: Vec<i64> = (0..x.rank() as i64).filter(|&other| other != axis as i64).collect();
        let scale = x.detach().abs().max_with(|o| o.axis(&*others).keepdim(true));
        let out = quantized(op, x, scale)?;
        Ok(op.wanted(&[("out", out), ("out_scale", scale.reshape([-1]))]))
    }),
    ("fake_quantize_dequantize_moving_average_abs_max", |op| {
        let (x, old) = (op.x("x")?, op.x("in_scale")?);
        if op.flag("is_test")? {
            let out = quantized(op, x, old.reshape(vec![1; x.rank()]))?;
            return Ok(op.wanted(&[("out", out), ("out_scale", old)]));
        }
        let rate = op.float("moving_rate")?;
        let state = op.x("in_state")? * rate + 1.0;
        let accum = op.x("in_accum")? * rate + x.detach().abs().max().reshape([1]);
        let scale = accum / state;
        let out = quantized(op, x, scale.reshape(vec![1; x.rank()]))?;
        Ok(op.wanted(&[
            ("out", out),
            ("out_scale", scale),
            ("out_state", state),
            ("out_accum", accum),
        ]))
    }),
    ("i0", |op| Ok(vec![bessel(op.x("x")?, 0, false)])),
    ("i0e", |op| Ok(vec![bessel(op.x("x")?, 0, true)])),
    ("i1", |op| Ok(vec![bessel(op.x("x")?, 1, false)])),
    ("i1e", |op| Ok(vec![bessel(op.x("x")?, 1, true)])),
    ("heaviside", |op| {
        let [x, y] = op.spread(["x", "y"])?;
        let side = x.above(0.0).cast_like(y);
        Ok(vec![x.equal(x.zeros()).select(y, side)])
    }),
    ("bitwise_left_shift", |op| Ok(vec![op.x("x")? * powers(op)?])),
    ("bitwise_right_shift", |op| match op.flag("is_arithmetic")? {
        true => Ok(vec![op.x("x")?.floor_divide(powers(op)?)]),
        false => Err("only `is_arithmetic = true` is supported".to_owned()),
    }),
    ("lp_pool2d", |op| {
        let p = op.float("norm_type")?;
        let (size, paddings) = (op.ints("kernel_size")?, op.ints("paddings")?);
        if op.flag("adaptive")? || op.flag("global_pooling")? || op.flag("ceil_mode")? || paddings != [0, 0] {
            return Err(
                "only windows of one size are supported: no `adaptive`, `global_pooling`, `ceil_mode` or `paddings`"
                    .to_owned(),
            );
        }
        let (strides, format) = (op.ints("strides")?, op.text("data_format")?);
        if p.is_infinite() {
            // Not the size of it: PaddlePaddle takes the maximum.
            let pooled = op
                .x("x")?
                .pool2d_with(&*size, |o| o.strides(&strides).pooling_type("max").data_format(&format));
            return Ok(vec![pooled]);
        }
        let mean = op
            .x("x")?
            .pow(p)
            .pool2d_with(&*size, |o| o.strides(&strides).pooling_type("avg").data_format(&format));
        let sum = mean * size.iter().product::<i64>() as f64;
        Ok(vec![sum.pow(1.0 / p)])
    }),
    ("spectral_norm", |op| {
        let (x, dim, eps) = (op.x("weight")?, op.axis("dim", op.x("weight")?)?, op.float("eps")?);
        let mut shape = op.shape("weight")?;
        let mut order: Vec<i64> = (0..shape.len() as i64).collect();
        let first = order.remove(dim);
        order.insert(0, first);
        let rows = shape.remove(dim);
        let w = x.transpose(&order).reshape([rows, shape.iter().product()]);
        let (mut u, mut v) = (op.x("u")?.reshape([1, -1]), op.x("v")?.reshape([-1, 1]));
        for _ in 0..op.int("power_iters")? {
            v = unit(w.transpose(&[1, 0]).matmul(u.reshape([-1, 1])), eps);
            u = unit(w.matmul(v), eps).reshape([1, -1]);
        }
        let size = u.matmul(w).matmul(v);
        Ok(vec![x / size.reshape([])])
    }),
];

fn unit(x: Expr<'_>, eps: f64) -> Expr<'_> {
    x / (x.square().sum().sqrt() + eps).reshape([1, 1])
}

/// Two to the power of the other operand, of the type of the first.
fn powers<'c>(op: &Call<'c>) -> Result<Expr<'c>, String> {
    let y = op.x("y")?;
    Ok(y.filled(2.0).elementwise_pow(y).cast_like(op.x("x")?))
}

/// Where the asymptotic series begins to be as precise as the sum of powers.
const FAR: f64 = 20.0;

/// The modified Bessel function of an order of 0 or 1; scaled by the exponential of the size of its argument, if that is asked for.
fn bessel(x: Expr<'_>, order: i32, is_scaled: bool) -> Expr<'_> {
    let size = x.abs();
    let is_near = size.less_than(x.filled(FAR));
    // All terms are positive, so that nothing cancels.
    let near = is_near.select(x, x.zeros());
    let quarter = near.square() * 0.25;
    let sum = (1..=48).rev().fold(x.ones(), |sum, k| {
        quarter * sum * (1.0 / f64::from(k * (k + order))) + 1.0
    });
    let sum = if order == 1 { near * sum * 0.5 } else { sum };
    let far = is_near.select(x.filled(FAR), size);
    let tail = (1..=24).rev().fold(x.ones(), |sum, k| {
        let odd = f64::from(2 * k - 1);
        sum / far * ((odd * odd - 4.0 * f64::from(order)) / f64::from(8 * k)) + 1.0
    });
    let tail = tail / (far * (2.0 * std::f64::consts::PI)).sqrt();
    let tail = if order == 1 { tail * x.sign().detach() } else { tail };
    match is_scaled {
        true => is_near.select(sum * (-near.abs()).exp(), tail),
        false => is_near.select(sum, tail * far.exp()),
    }
}

/// Rounds to the nearest multiple of a scale, with a straight-through derivative.
fn quantized<'c>(op: &Call<'c>, x: Expr<'c>, scale: Expr<'c>) -> Result<Expr<'c>, String> {
    let levels = ((1i64 << (op.int("bit_length")? - 1).clamp(1, 31)) - 1) as f64;
    let plain = x.detach();
    let place = plain.minimum(scale).maximum(-scale) / scale * levels;
    let rounded = match op.int("round_type")? {
        0 => place.round(),
        // Halves away from zero.
        _ => place.sign() * (place.abs() + 0.5).floor(),
    };
    Ok(x + (rounded * scale * (1.0 / levels) - plain))
}
