//! Activation functions, composed of TensorFlow's operations.

use pir_ir::Type;

use super::super::emit::{Emit, Result};
use super::Write;

pub(super) const TABLE: &[(&str, Write)] = &[
    ("celu", |e| {
        let (x, elem) = (e.input(0)?, e.elem()?);
        let alpha = e.number("alpha", 1.0, elem)?;
        let scaled = e.binary("RealDiv", &x, &alpha, elem)?;
        exponential(e, &x, &scaled, &alpha, elem)
    }),
    ("elu", |e| {
        let (x, elem) = (e.input(0)?, e.elem()?);
        let alpha = e.number("alpha", 1.0, elem)?;
        exponential(e, &x, &x, &alpha, elem)
    }),
    ("gelu", gelu),
    ("hardshrink", |e| {
        let (x, elem) = (e.input(0)?, e.elem()?);
        let (limit, zero) = (e.number("threshold", 0.5, elem)?, e.num(0.0, elem)?);
        let size = e.unary("Abs", &x, elem)?;
        let above = e.binary("Greater", &size, &limit, elem)?;
        let out = e.select(&above, &x, &zero, elem)?;
        e.result(0, out)
    }),
    ("hardsigmoid", |e| {
        let (x, elem) = (e.input(0)?, e.elem()?);
        let (slope, offset) = (e.number("slope", 0.2, elem)?, e.number("offset", 0.5, elem)?);
        let scaled = e.binary("Mul", &x, &slope, elem)?;
        let shifted = e.binary("AddV2", &scaled, &offset, elem)?;
        let out = limited(e, &shifted, 0.0, 1.0, elem)?;
        e.result(0, out)
    }),
    ("hardswish", |e| {
        let (x, elem) = (e.input(0)?, e.elem()?);
        let (three, six) = (e.num(3.0, elem)?, e.num(6.0, elem)?);
        let shifted = e.binary("AddV2", &x, &three, elem)?;
        let gate = limited(e, &shifted, 0.0, 6.0, elem)?;
        let product = e.binary("Mul", &x, &gate, elem)?;
        let out = e.binary("RealDiv", &product, &six, elem)?;
        e.result(0, out)
    }),
    ("hardtanh", |e| {
        let (x, elem) = (e.input(0)?, e.elem()?);
        let (low, high) = (e.view.f64("t_min").unwrap_or(0.0), e.view.f64("t_max").unwrap_or(24.0));
        let out = limited(e, &x, low, high, elem)?;
        e.result(0, out)
    }),
    ("leaky_relu", |e| {
        let (x, elem) = (e.input(0)?, e.elem()?);
        let (slope, zero) = (e.number("negative_slope", 0.02, elem)?, e.num(0.0, elem)?);
        let below = e.binary("Mul", &x, &slope, elem)?;
        let positive = e.binary("Greater", &x, &zero, elem)?;
        let out = e.select(&positive, &x, &below, elem)?;
        e.result(0, out)
    }),
    ("logsigmoid", |e| {
        let (x, elem) = (e.input(0)?, e.elem()?);
        let negated = e.unary("Neg", &x, elem)?;
        let soft = e.unary("Softplus", &negated, elem)?;
        let out = e.unary("Neg", &soft, elem)?;
        e.result(0, out)
    }),
    ("mish", |e| {
        let (x, elem) = (e.input(0)?, e.elem()?);
        let soft = e.unary("Softplus", &x, elem)?;
        let gate = e.unary("Tanh", &soft, elem)?;
        let out = e.binary("Mul", &x, &gate, elem)?;
        e.result(0, out)
    }),
    ("selu", |e| {
        let (x, elem) = (e.input(0)?, e.elem()?);
        let scale = e.number("scale", 1.050_700_987_355_480_5, elem)?;
        let alpha = e.number("alpha", 1.673_263_242_354_377_2, elem)?;
        let zero = e.num(0.0, elem)?;
        let powers = e.unary("Expm1", &x, elem)?;
        let below = e.binary("Mul", &powers, &alpha, elem)?;
        let positive = e.binary("Greater", &x, &zero, elem)?;
        let chosen = e.select(&positive, &x, &below, elem)?;
        let out = e.binary("Mul", &chosen, &scale, elem)?;
        e.result(0, out)
    }),
    ("silu", silu),
    ("softplus", |e| {
        let (x, elem) = (e.input(0)?, e.elem()?);
        let (beta, limit) = (e.number("beta", 1.0, elem)?, e.number("threshold", 20.0, elem)?);
        let scaled = e.binary("Mul", &x, &beta, elem)?;
        let soft = e.unary("Softplus", &scaled, elem)?;
        let soft = e.binary("RealDiv", &soft, &beta, elem)?;
        let linear = e.binary("Greater", &scaled, &limit, elem)?;
        let out = e.select(&linear, &x, &soft, elem)?;
        e.result(0, out)
    }),
    ("softshrink", |e| {
        let (x, elem) = (e.input(0)?, e.elem()?);
        let (limit, zero) = (e.number("threshold", 0.5, elem)?, e.num(0.0, elem)?);
        let (sign, size) = (e.unary("Sign", &x, elem)?, e.unary("Abs", &x, elem)?);
        let rest = e.binary("Sub", &size, &limit, elem)?;
        let rest = e.binary("Maximum", &rest, &zero, elem)?;
        let out = e.binary("Mul", &sign, &rest, elem)?;
        e.result(0, out)
    }),
    ("stanh", |e| {
        let (x, elem) = (e.input(0)?, e.elem()?);
        let (a, b) = (e.number("scale_a", 0.67, elem)?, e.number("scale_b", 1.7159, elem)?);
        let scaled = e.binary("Mul", &x, &a, elem)?;
        let tanh = e.unary("Tanh", &scaled, elem)?;
        let out = e.binary("Mul", &tanh, &b, elem)?;
        e.result(0, out)
    }),
    ("swish", silu),
    ("tanh_shrink", |e| {
        let (x, elem) = (e.input(0)?, e.elem()?);
        let tanh = e.unary("Tanh", &x, elem)?;
        let out = e.binary("Sub", &x, &tanh, elem)?;
        e.result(0, out)
    }),
    ("thresholded_relu", |e| {
        let (x, elem) = (e.input(0)?, e.elem()?);
        let (limit, value) = (e.number("threshold", 1.0, elem)?, e.number("value", 0.0, elem)?);
        let above = e.binary("Greater", &x, &limit, elem)?;
        let out = e.select(&above, &x, &value, elem)?;
        e.result(0, out)
    }),
];

fn limited(e: &mut Emit<'_, '_>, x: &str, low: f64, high: f64, elem: Type) -> Result<String> {
    let (low, high) = (e.num(low, elem)?, e.num(high, elem)?);
    let above = e.binary("Maximum", x, &low, elem)?;
    e.binary("Minimum", &above, &high, elem)
}

/// `x`, or `alpha * (exp(scaled) - 1)` where it is not positive.
fn exponential(e: &mut Emit<'_, '_>, x: &str, scaled: &str, alpha: &str, elem: Type) -> Result<()> {
    let zero = e.num(0.0, elem)?;
    let powers = e.unary("Expm1", scaled, elem)?;
    let below = e.binary("Mul", &powers, alpha, elem)?;
    let positive = e.binary("Greater", x, &zero, elem)?;
    let out = e.select(&positive, x, &below, elem)?;
    e.result(0, out)
}

fn silu(e: &mut Emit<'_, '_>) -> Result<()> {
    let (x, elem) = (e.input(0)?, e.elem()?);
    let gate = e.unary("Sigmoid", &x, elem)?;
    let out = e.binary("Mul", &x, &gate, elem)?;
    e.result(0, out)
}

fn gelu(e: &mut Emit<'_, '_>) -> Result<()> {
    let (x, elem) = (e.input(0)?, e.elem()?);
    let half = e.num(0.5, elem)?;
    let halved = e.binary("Mul", &x, &half, elem)?;
    let gate = if e.flag("approximate", false) {
        let (a, b) = (
            e.num((2.0 / std::f64::consts::PI).sqrt(), elem)?,
            e.num(0.044715, elem)?,
        );
        let square = e.unary("Square", &x, elem)?;
        let cube = e.binary("Mul", &square, &x, elem)?;
        let part = e.binary("Mul", &cube, &b, elem)?;
        let sum = e.binary("AddV2", &x, &part, elem)?;
        let inner = e.binary("Mul", &sum, &a, elem)?;
        let tanh = e.unary("Tanh", &inner, elem)?;
        let one = e.num(1.0, elem)?;
        e.binary("AddV2", &tanh, &one, elem)?
    } else {
        let root = e.num(-std::f64::consts::FRAC_1_SQRT_2, elem)?;
        let inner = e.binary("Mul", &x, &root, elem)?;
        e.unary("Erfc", &inner, elem)?
    };
    let out = e.binary("Mul", &halved, &gate, elem)?;
    e.result(0, out)
}
