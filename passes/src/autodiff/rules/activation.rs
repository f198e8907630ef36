//! Rules of activation functions, and of losses by element.

use pir_ir::ValueId;
use smallvec::{SmallVec, smallvec};

use super::super::cotangent::{filled_like, zeros_like};
use super::twins::{Expand, expanded};
use super::{Rule, RuleCx, rule};

pub(super) const RULES: &[Rule] = &[
    rule("pd.gelu", expanded),
    rule("pd.silu", expanded),
    rule("pd.swish", expanded),
    rule("pd.hardswish", expanded),
    rule("pd.mish", expanded),
    rule("pd.tanh_shrink", expanded),
    rule("pd.stanh", expanded),
    rule("pd.swiglu", expanded),
    rule("pd.log_loss", expanded),
    rule("pd.huber_loss", expanded),
    rule("pd.kldiv_loss", expanded),
    rule("pd.prelu", expanded),
    rule("pd.nll_loss", expanded),
    rule("pd.sigmoid_cross_entropy_with_logits", expanded),
    rule("pd.softsign", |cx| {
        let (g, x) = (cx.grad()?, cx.operand(0));
        let size = cx.unary("pd.abs", x)?;
        let more = cx.affine(size, 1.0, 1.0)?;
        let square = cx.unary("pd.square", more)?;
        let t = cx.divide(g, square)?;
        cx.add(0, t)
    }),
    rule("pd.bce_loss", bce_loss),
    rule("pd.softplus", |cx| {
        let (beta, threshold) = (cx.number("beta", 1.0), cx.number("threshold", 20.0));
        times(cx, |cx, x| {
            let scaled = cx.scaled(x, beta)?;
            let above = cx.above(scaled, threshold)?;
            let (slope, ones) = (cx.unary("pd.sigmoid", scaled)?, filled_like(cx.r, x, 1.0)?);
            cx.select(above, ones, slope)
        })
    }),
    rule("pd.elu", |cx| {
        let alpha = cx.number("alpha", 1.0);
        exponential(cx, 1.0, alpha, 1.0)
    }),
    rule("pd.selu", |cx| {
        let scale = cx.number("scale", 1.050_700_987_355_480_5);
        let alpha = cx.number("alpha", 1.673_263_242_354_377_2);
        exponential(cx, scale, scale * alpha, 1.0)
    }),
    rule("pd.celu", |cx| {
        let alpha = cx.number("alpha", 1.0);
        exponential(cx, 1.0, 1.0, 1.0 / alpha)
    }),
    rule("pd.leaky_relu", |cx| {
        let slope = cx.number("negative_slope", 0.02);
        let (g, x) = (cx.grad()?, cx.operand(0));
        let (positive, less) = (cx.above(x, 0.0)?, cx.scaled(g, slope)?);
        let t = cx.select(positive, g, less)?;
        cx.add(0, t)
    }),
    rule("pd.relu6", |cx| between(cx, 1.0, 0.0, 6.0)),
    rule("pd.hardtanh", |cx| {
        let (low, high) = (cx.number("t_min", 0.0), cx.number("t_max", 24.0));
        between(cx, 1.0, low, high)
    }),
    rule("pd.hardsigmoid", |cx| {
        let (slope, offset) = (cx.number("slope", 0.2), cx.number("offset", 0.5));
        if slope == 0.0 {
            cx.settle(0);
            return Ok(());
        }
        let ends = [-offset / slope, (1.0 - offset) / slope];
        between(cx, slope, ends[0].min(ends[1]), ends[0].max(ends[1]))
    }),
    rule("pd.logsigmoid", |cx| {
        times(cx, |cx, x| {
            let negative = cx.scaled(x, -1.0)?;
            cx.unary("pd.sigmoid", negative)
        })
    }),
    rule("pd.softshrink", outside),
    rule("pd.hardshrink", outside),
    rule("pd.thresholded_relu", |cx| {
        let (g, x) = (cx.grad()?, cx.operand(0));
        let threshold = cx.number("threshold", 1.0);
        let (above, zeros) = (cx.above(x, threshold)?, zeros_like(cx.r, g)?);
        let t = cx.select(above, g, zeros)?;
        cx.add(0, t)
    }),
    rule("pd.asinh", |cx| over_root(cx, 1.0)),
    rule("pd.acosh", |cx| over_root(cx, -1.0)),
    rule("pd.atanh", |cx| {
        let (g, x) = (cx.grad()?, cx.operand(0));
        let square = cx.unary("pd.square", x)?;
        let rest = cx.affine(square, -1.0, 1.0)?;
        let t = cx.divide(g, rest)?;
        cx.add(0, t)
    }),
];

pub(super) const COMPOSITES: &[(&str, Expand)] = &[
    ("pd.gelu", |cx| {
        let x = cx.operand(0);
        let part = if cx.view().bool("approximate").unwrap_or(false) {
            let square = cx.unary("pd.square", x)?;
            let factor = cx.affine(square, 0.044715, 1.0)?;
            let inner = cx.multiply(x, factor)?;
            let inner = cx.scaled(inner, (2.0 / std::f64::consts::PI).sqrt())?;
            cx.unary("pd.tanh", inner)?
        } else {
            let inner = cx.scaled(x, std::f64::consts::FRAC_1_SQRT_2)?;
            cx.unary("pd.erf", inner)?
        };
        let share = cx.affine(part, 0.5, 0.5)?;
        Ok(smallvec![cx.multiply(x, share)?])
    }),
    ("pd.prelu", |cx| {
        let (x, alpha, rank) = (cx.operand(0), cx.operand(1), cx.rank(0));
        let last = cx.view().str("data_format") == Some("NHWC");
        let mut shape = vec![1; rank];
        match cx.view().str("mode").unwrap_or("all") {
            "channel" => shape[if last { rank - 1 } else { 1 }] = -1,
            "element" => {
                let whole = cx
                    .static_shape(0)
                    .ok_or("the derivative of `pd.prelu` by element needs a static shape")?;
                shape[1..].copy_from_slice(&whole[1..]);
            }
            _ => {}
        }
        let slope = cx.reshaped(alpha, &shape)?;
        let (positive, less) = (cx.above(x, 0.0)?, cx.multiply(slope, x)?);
        Ok(smallvec![cx.select(positive, x, less)?])
    }),
    ("pd.nll_loss", nll_loss),
    ("pd.silu", |cx| {
        let x = cx.operand(0);
        Ok(smallvec![silu(cx, x)?])
    }),
    ("pd.swish", |cx| {
        let x = cx.operand(0);
        Ok(smallvec![silu(cx, x)?])
    }),
    ("pd.hardswish", |cx| {
        let x = cx.operand(0);
        let shifted = cx.affine(x, 1.0, 3.0)?;
        let share = cx.unary("pd.relu6", shifted)?;
        let out = cx.multiply(x, share)?;
        Ok(smallvec![cx.scaled(out, 1.0 / 6.0)?])
    }),
    ("pd.mish", |cx| {
        let x = cx.operand(0);
        let threshold = cx.ctx().float_attr(cx.number("lambda", 20.0));
        let soft = cx.emit("pd.softplus", &[x], &[("threshold", threshold)])?;
        let share = cx.unary("pd.tanh", soft)?;
        Ok(smallvec![cx.multiply(x, share)?])
    }),
    ("pd.tanh_shrink", |cx| {
        let x = cx.operand(0);
        let t = cx.unary("pd.tanh", x)?;
        Ok(smallvec![cx.subtract(x, t)?])
    }),
    ("pd.stanh", |cx| {
        let x = cx.operand(0);
        let (a, b) = (cx.number("scale_a", 0.67), cx.number("scale_b", 1.7159));
        let inner = cx.scaled(x, a)?;
        let t = cx.unary("pd.tanh", inner)?;
        Ok(smallvec![cx.scaled(t, b)?])
    }),
    ("pd.swiglu", |cx| {
        let (x, y) = match cx.num_operands() {
            1 => {
                let (num, axis) = (cx.ctx().int_attr(2), cx.ctx().int_attr(-1));
                let x = cx.operand(0);
                let op = cx.r.op("pd.split_with_num").operand(x);
                let op = op.attr("num", num).attr("axis", axis).infer()?;
                (cx.r.body.result(op, 0), cx.r.body.result(op, 1))
            }
            _ => (cx.operand(0), cx.operand(1)),
        };
        let gate = silu(cx, x)?;
        Ok(smallvec![cx.multiply(gate, y)?])
    }),
    ("pd.log_loss", |cx| {
        let (p, t) = (cx.operand(0), cx.operand(1));
        let e = cx.number("epsilon", 1e-4);
        let (p, q) = (cx.affine(p, 1.0, e)?, cx.affine(p, -1.0, 1.0 + e)?);
        Ok(smallvec![two_classes(cx, t, p, q)?])
    }),
    ("pd.huber_loss", |cx| {
        let (x, label) = (cx.operand(0), cx.operand(1));
        let delta = cx.number("delta", 1.0);
        let residual = cx.subtract(label, x)?;
        let size = cx.unary("pd.abs", residual)?;
        let far = cx.above(size, delta)?;
        let square = cx.unary("pd.square", residual)?;
        let (near, line) = (cx.scaled(square, 0.5)?, cx.affine(size, delta, -0.5 * delta * delta)?);
        Ok(smallvec![cx.select(far, line, near)?, residual])
    }),
    ("pd.kldiv_loss", |cx| {
        let (x, label) = (cx.operand(0), cx.operand(1));
        let parts = if cx.view().bool("log_target").unwrap_or(false) {
            let weight = cx.unary("pd.exp", label)?;
            let difference = cx.subtract(label, x)?;
            cx.multiply(weight, difference)?
        } else {
            // Where the label is zero, so is the part; its logarithm must not be taken there.
            let there = cx.above(label, 0.0)?;
            let (ones, zeros) = (filled_like(cx.r, label, 1.0)?, zeros_like(cx.r, label)?);
            let safe = cx.select(there, label, ones)?;
            let log = cx.unary("pd.log", safe)?;
            let difference = cx.subtract(log, x)?;
            let part = cx.multiply(safe, difference)?;
            cx.select(there, part, zeros)?
        };
        let reduction = cx.view().str("reduction").unwrap_or("mean").to_owned();
        let out = match &*reduction {
            "none" => parts,
            "mean" => cx.unary("pd.mean", parts)?,
            "batchmean" => {
                let shape = cx.static_shape(0).ok_or("it needs a static shape")?;
                let sum = cx.unary("pd.sum", parts)?;
                cx.scaled(sum, 1.0 / shape.first().copied().unwrap_or(1) as f64)?
            }
            _ => cx.unary("pd.sum", parts)?,
        };
        Ok(smallvec![out])
    }),
    ("pd.sigmoid_cross_entropy_with_logits", logits),
];

/// `(1 - t) * x - w * log(sigmoid(x))`: the weight comes as 1 + (pos_weight - 1) * t
fn logits(cx: &mut RuleCx<'_, '_>) -> Result<SmallVec<[ValueId; 2]>, String> {
    let (x, label) = (cx.operand(0), cx.operand(1));
    let ignored = cx.view().int("ignore_index").unwrap_or(-100) as f64;
    let rest = cx.affine(label, -1.0, 1.0)?;
    let linear = cx.multiply(rest, x)?;
    let mut log = cx.unary("pd.logsigmoid", x)?;
    if let Some(at) = cx.place(2) {
        let weight = cx.operand(at);
        log = cx.multiply(weight, log)?;
    }
    let loss = cx.subtract(linear, log)?;
    let none = filled_like(cx.r, label, ignored)?;
    let counts = cx.emit("pd.not_equal", &[label, none], &[])?;
    let zeros = zeros_like(cx.r, loss)?;
    let mut out = cx.select(counts, loss, zeros)?;
    if cx.view().bool("normalize").unwrap_or(false) {
        let number = cx.cast_like(counts, 0)?;
        let count = cx.unary("pd.sum", number)?;
        let ones = filled_like(cx.r, count, 1.0)?;
        let count = cx.emit("pd.maximum", &[count, ones], &[])?;
        out = cx.divide(out, count)?;
    }
    Ok(smallvec![out])
}

fn silu(cx: &mut RuleCx<'_, '_>, x: ValueId) -> Result<ValueId, String> {
    let share = cx.unary("pd.sigmoid", x)?;
    cx.multiply(x, share)
}

/// `(p - t) / (p * (1 - p))`, finite where a probability is saturated; the logarithms of the label's are no less than -100.
fn bce_loss(cx: &mut RuleCx<'_, '_>) -> Result<(), String> {
    let (g, p) = (cx.grad()?, cx.operand(0));
    let q = cx.affine(p, -1.0, 1.0)?;
    if cx.wants(0) {
        let t = cx.operand(1);
        let (difference, product) = (cx.subtract(p, t)?, cx.multiply(p, q)?);
        let least = filled_like(cx.r, product, 1e-12)?;
        let product = cx.emit("pd.maximum", &[product, least], &[])?;
        let slope = cx.divide(difference, product)?;
        let slope = cx.multiply(g, slope)?;
        cx.add_reduced(0, slope)?;
    }
    if cx.wants(1) {
        let mut logs = Vec::new();
        for v in [q, p] {
            let log = cx.unary("pd.log", v)?;
            let least = filled_like(cx.r, log, -100.0)?;
            logs.push(cx.emit("pd.maximum", &[log, least], &[])?);
        }
        let slope = cx.subtract(logs[0], logs[1])?;
        let slope = cx.multiply(g, slope)?;
        cx.add_reduced(1, slope)?;
    }
    Ok(())
}

/// `-t * log(p) - (1 - t) * log(q)`
fn two_classes(cx: &mut RuleCx<'_, '_>, t: ValueId, p: ValueId, q: ValueId) -> Result<ValueId, String> {
    let (p, q) = (cx.unary("pd.log", p)?, cx.unary("pd.log", q)?);
    let rest = cx.affine(t, -1.0, 1.0)?;
    let (one, other) = (cx.multiply(t, p)?, cx.multiply(rest, q)?);
    let sum = cx.emit("pd.add", &[one, other], &[])?;
    cx.scaled(sum, -1.0)
}

fn times(
    cx: &mut RuleCx<'_, '_>,
    d: impl Fn(&mut RuleCx<'_, '_>, ValueId) -> Result<ValueId, String>,
) -> Result<(), String> {
    let (g, x) = (cx.grad()?, cx.operand(0));
    let d = d(cx, x)?;
    let t = cx.multiply(g, d)?;
    cx.add(0, t)
}

/// With derivative `scale` where x is positive, else `factor * exp(rate * x)`.
fn exponential(cx: &mut RuleCx<'_, '_>, scale: f64, factor: f64, rate: f64) -> Result<(), String> {
    times(cx, |cx, x| {
        let (positive, zeros) = (cx.above(x, 0.0)?, zeros_like(cx.r, x)?);
        // Where it is not chosen, the exponential must not overflow.
        let safe = cx.select(positive, zeros, x)?;
        let power = cx.scaled(safe, rate)?;
        let power = cx.unary("pd.exp", power)?;
        let (slope, ones) = (cx.scaled(power, factor)?, filled_like(cx.r, x, scale)?);
        cx.select(positive, ones, slope)
    })
}

/// With derivative `slope` between two numbers, else zero.
fn between(cx: &mut RuleCx<'_, '_>, slope: f64, low: f64, high: f64) -> Result<(), String> {
    let (g, x) = (cx.grad()?, cx.operand(0));
    let above = cx.above(x, low)?;
    let end = filled_like(cx.r, x, high)?;
    let below = cx.emit("pd.less_than", &[x, end], &[])?;
    let inside = cx.emit("pd.logical_and", &[above, below], &[])?;
    let g = if slope == 1.0 { g } else { cx.scaled(g, slope)? };
    let zeros = zeros_like(cx.r, g)?;
    let t = cx.select(inside, g, zeros)?;
    cx.add(0, t)
}

/// With derivative one further from zero than the threshold, else zero.
fn outside(cx: &mut RuleCx<'_, '_>) -> Result<(), String> {
    let (g, x) = (cx.grad()?, cx.operand(0));
    let threshold = cx.number("threshold", 0.5);
    let size = cx.unary("pd.abs", x)?;
    let (far, zeros) = (cx.above(size, threshold)?, zeros_like(cx.r, g)?);
    let t = cx.select(far, g, zeros)?;
    cx.add(0, t)
}

/// With derivative `1 / sqrt(x² + offset)`.
fn over_root(cx: &mut RuleCx<'_, '_>, offset: f64) -> Result<(), String> {
    times(cx, |cx, x| {
        let square = cx.unary("pd.square", x)?;
        let sum = cx.affine(square, 1.0, offset)?;
        cx.unary("pd.rsqrt", sum)
    })
}

/// Minus what the label picks along axis 1, weighted.
fn nll_loss(cx: &mut RuleCx<'_, '_>) -> Result<SmallVec<[ValueId; 2]>, String> {
    let (x, label, elem) = (cx.operand(0), cx.operand(1), cx.ctx().elem_type(cx.operand_type(0)));
    let reduction = cx.view().str("reduction").unwrap_or("mean").to_owned();
    let ignored = cx.view().int("ignore_index").unwrap_or(-100);
    let ignored = cx.ctx().int_attr(ignored);
    let ignored = cx.emit("pd.full_like", &[label], &[("value", ignored)])?;
    let counts = cx.emit("pd.not_equal", &[label, ignored], &[])?;
    let zeros = zeros_like(cx.r, label)?;
    let class = cx.select(counts, label, zeros)?;
    let mut weights = cx.cast_like(counts, 0)?;
    if let Some(at) = cx.place(2) {
        let flat = cx.reshaped(class, &[-1])?;
        let axis = cx.ctx().int_attr(0);
        let own = cx.emit("pd.gather", &[cx.operand(at), flat], &[("axis", axis)])?;
        let own = super::shape::reshape_like(cx, own, 1)?;
        weights = cx.multiply(own, weights)?;
    }
    let (list, axis) = (cx.ints(&[1]), cx.ctx().int_attr(1));
    let index = cx.emit("pd.unsqueeze", &[class], &[("axis", list)])?;
    let picked = cx.emit("pd.take_along_axis", &[x, index], &[("axis", axis)])?;
    let picked = cx.emit("pd.squeeze", &[picked], &[("axis", list)])?;
    let losses = cx.multiply(picked, weights)?;
    let losses = cx.scaled(losses, -1.0)?;
    let (shape, dtype, zero) = (cx.ints(&[]), cx.ctx().type_attr(elem), cx.ctx().float_attr(0.0));
    if reduction == "none" {
        let total = cx.emit("pd.full", &[], &[("shape", shape), ("value", zero), ("dtype", dtype)])?;
        return Ok(smallvec![losses, total]);
    }
    let (sum, total) = (cx.unary("pd.sum", losses)?, cx.unary("pd.sum", weights)?);
    let out = if reduction == "sum" {
        sum
    } else {
        cx.divide(sum, total)?
    };
    Ok(smallvec![out, total])
}

impl RuleCx<'_, '_> {
    pub(super) fn number(&self, name: &str, default: f64) -> f64 {
        self.view().f64(name).unwrap_or(default)
    }

    /// Where x is above a number.
    pub(super) fn above(&mut self, x: ValueId, value: f64) -> Result<ValueId, String> {
        let value = filled_like(self.r, x, value)?;
        self.emit("pd.greater_than", &[x, value], &[])
    }

    pub(super) fn select(&mut self, condition: ValueId, x: ValueId, y: ValueId) -> Result<ValueId, String> {
        self.emit("pd.where", &[condition, x, y], &[])
    }
}
