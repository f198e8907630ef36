//! Bessel functions, and functions with steps and of bits.

use super::{Call, Compose, Expr};

pub(super) const OPS: &[(&str, Compose)] = &[
    ("i0", |op| Ok(vec![bessel(op.x("x")?, 0, false)])),
    ("i0e", |op| Ok(vec![bessel(op.x("x")?, 0, true)])),
    ("i1", |op| Ok(vec![bessel(op.x("x")?, 1, false)])),
    ("i1e", |op| Ok(vec![bessel(op.x("x")?, 1, true)])),
    ("heaviside", |op| {
        let shape = op.result_shape()?;
        let (x, y) = (op.x("x")?.expand(&*shape), op.x("y")?.expand(&*shape));
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
