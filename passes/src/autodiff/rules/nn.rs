//! Rules of layers.
//!
//! A normalisation or a loss is told once, in ordinary operations ([`COMPOSITES`]); its rule emits them where the adjoint
//! is built and differentiates them there. What would be wasteful so has a gradient operation of its own.

use pir_dialects::window::Attributes;
use pir_ir::{Attr, ValueId};
use smallvec::{SmallVec, smallvec};

use super::super::cotangent::zeros_like;
use super::reduce::normalise;
use super::twins::{Expand, expanded};
use super::{Rule, RuleCx, rule};

pub(super) const RULES: &[Rule] = &[
    rule("pd.conv2d", conv),
    rule("pd.depthwise_conv2d", conv),
    rule("pd.conv2d_grad", conv_grad),
    rule("pd.conv2d_transpose", conv_transpose),
    rule("pd.pool2d", pool),
    rule("pd.pool2d_grad", pool_grad),
    rule("pd.max_pool2d_with_index", |cx| {
        let Some(g) = cx.grads.first().copied().flatten() else {
            cx.settle_rest();
            return Ok(());
        };
        let mask = cx.result(1);
        let shape = cx.image("the derivative of `pd.max_pool2d_with_index`")?;
        let t = scatter(cx, mask, g, &shape)?;
        cx.add(0, t)
    }),
    rule("pd.softmax", |cx| from_result(cx, "pd.softmax_grad")),
    rule("pd.log_softmax", |cx| from_result(cx, "pd.log_softmax_grad")),
    rule("pd.softmax_grad", expanded),
    rule("pd.log_softmax_grad", expanded),
    rule("pd.layer_norm", expanded),
    rule("pd.group_norm", expanded),
    rule("pd.instance_norm", expanded),
    rule("pd.batch_norm", expanded),
    rule("pd.cross_entropy_with_softmax", expanded),
    rule("pd.dropout", |cx| {
        let Some(g) = cx.grads.first().copied().flatten() else {
            cx.settle_rest();
            return Ok(());
        };
        let p = cx.view().f64("p").unwrap_or(0.5);
        let test = cx.view().bool("is_test").unwrap_or(false);
        let upscale = cx.view().str("mode").is_none_or(|m| m == "upscale_in_train");
        let factor = match (test, upscale) {
            (false, true) if p < 1.0 => 1.0 / (1.0 - p),
            (true, false) => 1.0 - p,
            _ => 1.0,
        };
        let mut t = if factor == 1.0 { g } else { cx.scaled(g, factor)? };
        if !test {
            let mask = cx.result(1);
            let mask = cx.cast_like(mask, 0)?;
            t = cx.multiply(t, mask)?;
        }
        cx.add(0, t)
    }),
    rule("pd.coalesce_tensor", coalesce),
];

/// Gradient operations in operations that have derivatives themselves.
pub(super) const EXPANSIONS: &[(&str, Expand)] = &[
    // (g - Σ g * out) * out
    ("pd.softmax_grad", |cx| {
        let (out, g) = (cx.operand(0), cx.operand(1));
        let weighted = cx.multiply(g, out)?;
        let axis = cx.view().int("axis").unwrap_or(-1);
        let sum = cx.total(weighted, &[axis])?;
        let rest = cx.subtract(g, sum)?;
        Ok(smallvec![cx.multiply(rest, out)?])
    }),
    // g - exp(out) * Σ g
    ("pd.log_softmax_grad", |cx| {
        let (out, g) = (cx.operand(0), cx.operand(1));
        let axis = cx.view().int("axis").unwrap_or(-1);
        let sum = cx.total(g, &[axis])?;
        let share = cx.unary("pd.exp", out)?;
        let share = cx.multiply(share, sum)?;
        Ok(smallvec![cx.subtract(g, share)?])
    }),
];

/// Operations in ordinary ones.
pub(super) const COMPOSITES: &[(&str, Expand)] = &[
    ("pd.layer_norm", |cx| {
        let rank = cx.rank(0);
        let begin = normalise(cx.view().int("begin_norm_axis").unwrap_or(1), rank)?;
        let axes: Vec<i64> = (begin as i64..rank as i64).collect();
        let x = cx.operand(0);
        let moments = moments(cx, x, &axes)?;
        let mut shape = Vec::new();
        if rank - begin > 1 {
            let all = cx.static_shape(0).ok_or("it needs a static shape")?;
            shape.extend_from_slice(&all[begin..]);
        }
        let out = scaled_and_shifted(cx, &moments, 1, &shape)?;
        let dropped = cx.ints(&axes);
        let mean = cx.emit("pd.squeeze", &[moments.mean], &[("axis", dropped)])?;
        let variance = cx.emit("pd.squeeze", &[moments.variance], &[("axis", dropped)])?;
        Ok(smallvec![out, mean, variance])
    }),
    ("pd.group_norm", |cx| {
        let shape = cx.static_shape(0).ok_or("it needs a static shape")?;
        let groups = cx.view().int("groups").unwrap_or(-1);
        let last = cx.view().str("data_format") == Some("NHWC");
        let channels = if last { shape[shape.len() - 1] } else { shape[1] };
        if groups < 1 {
            return Err("`groups` must be positive".to_owned());
        }
        let per_group = channels / groups;
        let area: i64 = match last {
            true => shape[1..shape.len() - 1].iter().product(),
            false => shape[2..].iter().product(),
        };
        let (split, axes, mut params) = match last {
            true => ([shape[0], area, groups, per_group], [1, 3], vec![1; shape.len() - 1]),
            false => ([shape[0], groups, per_group, area], [2, 3], vec![1]),
        };
        params.push(channels);
        params.resize(shape.len(), 1);
        let split = cx.ints(&split);
        let x = cx.operand(0);
        let x = cx.emit("pd.reshape", &[x], &[("shape", split)])?;
        let mut moments = moments(cx, x, &axes)?;
        let whole = cx.ints(&shape);
        moments.normal = cx.emit("pd.reshape", &[moments.normal], &[("shape", whole)])?;
        let out = scaled_and_shifted(cx, &moments, 1, &params)?;
        let rows = cx.ints(&[shape[0], groups]);
        let mean = cx.emit("pd.reshape", &[moments.mean], &[("shape", rows)])?;
        let variance = cx.emit("pd.reshape", &[moments.variance], &[("shape", rows)])?;
        Ok(smallvec![out, mean, variance])
    }),
    ("pd.instance_norm", |cx| {
        let shape = cx.static_shape(0).ok_or("it needs a static shape")?;
        let axes: Vec<i64> = (2..shape.len() as i64).collect();
        let x = cx.operand(0);
        let moments = moments(cx, x, &axes)?;
        let mut params = vec![1; shape.len()];
        params[1] = shape[1];
        let out = scaled_and_shifted(cx, &moments, 1, &params)?;
        let rows = cx.ints(&[shape[0] * shape[1]]);
        let mean = cx.emit("pd.reshape", &[moments.mean], &[("shape", rows)])?;
        let factor = cx.emit("pd.reshape", &[moments.factor], &[("shape", rows)])?;
        Ok(smallvec![out, mean, factor])
    }),
    ("pd.batch_norm", batch_norm),
    ("pd.cross_entropy_with_softmax", cross_entropy),
];

/// A tensor with mean 0 and variance 1 over axes, and what made it so.
struct Moments {
    mean: ValueId,
    variance: ValueId,
    /// One divided by the standard deviation.
    factor: ValueId,
    normal: ValueId,
}

fn moments(cx: &mut RuleCx<'_, '_>, x: ValueId, axes: &[i64]) -> Result<Moments, String> {
    let mean = cx.average(x, axes)?;
    let centred = cx.subtract(x, mean)?;
    let squares = cx.unary("pd.square", centred)?;
    let variance = cx.average(squares, axes)?;
    let factor = inverse_deviation(cx, variance)?;
    let normal = cx.multiply(centred, factor)?;
    Ok(Moments {
        mean,
        variance,
        factor,
        normal,
    })
}

fn inverse_deviation(cx: &mut RuleCx<'_, '_>, variance: ValueId) -> Result<ValueId, String> {
    let epsilon = cx.view().f64("epsilon").unwrap_or(1e-5);
    let shifted = cx.affine(variance, 1.0, epsilon)?;
    cx.unary("pd.rsqrt", shifted)
}

/// Applies the scale and the shift that are the optional operands at `first` and behind it, in a shape.
fn scaled_and_shifted(
    cx: &mut RuleCx<'_, '_>,
    moments: &Moments,
    first: usize,
    shape: &[i64],
) -> Result<ValueId, String> {
    let mut out = moments.normal;
    for (declared, op) in [(first, "pd.multiply"), (first + 1, "pd.add")] {
        if let Some(at) = cx.place(declared) {
            let mut param = cx.operand(at);
            if !shape.is_empty() {
                let shape = cx.ints(shape);
                param = cx.emit("pd.reshape", &[param], &[("shape", shape)])?;
            }
            out = cx.emit(op, &[out, param], &[])?;
        }
    }
    Ok(out)
}

fn batch_norm(cx: &mut RuleCx<'_, '_>) -> Result<SmallVec<[ValueId; 2]>, String> {
    let rank = cx.rank(0);
    let last = cx.view().str("data_format") == Some("NHWC");
    let flag = |name: &str| cx.view().bool(name).unwrap_or(false);
    let fixed = flag("is_test") && !flag("trainable_statistics") || flag("use_global_stats");
    let momentum = cx.view().f64("momentum").unwrap_or(0.9);
    let channel = if last { rank - 1 } else { 1 };
    let channels = match cx.ctx().as_tensor(cx.operand_type(0)) {
        Some((shape, _)) if shape.len() > 1 && shape[channel] >= 0 => shape[channel],
        _ => return Err("it needs a known number of channels".to_owned()),
    };
    let mut shape = vec![1; rank];
    shape[channel] = channels;
    let spread = cx.ints(&shape);
    let (x, mean, variance) = (cx.operand(0), cx.operand(1), cx.operand(2));
    let reserve = {
        let (none, zero) = (cx.ints(&[0]), cx.ctx().float_attr(0.0));
        let dtype = cx.ctx().type_attr(cx.ctx().elem_type(cx.operand_type(0)));
        cx.emit("pd.full", &[], &[("shape", none), ("value", zero), ("dtype", dtype)])?
    };
    if fixed {
        let factor = inverse_deviation(cx, variance)?;
        let wide_mean = cx.emit("pd.reshape", &[mean], &[("shape", spread)])?;
        let wide_factor = cx.emit("pd.reshape", &[factor], &[("shape", spread)])?;
        let centred = cx.subtract(x, wide_mean)?;
        let normal = cx.multiply(centred, wide_factor)?;
        let moments = Moments {
            mean,
            variance,
            factor,
            normal,
        };
        let out = scaled_and_shifted(cx, &moments, 3, &shape)?;
        return Ok(smallvec![out, mean, variance, mean, factor, reserve]);
    }
    let axes: Vec<i64> = (0..rank).filter(|&a| a != channel).map(|a| a as i64).collect();
    let moments = moments(cx, x, &axes)?;
    let out = scaled_and_shifted(cx, &moments, 3, &shape)?;
    let dropped = cx.ints(&axes);
    let flat = |cx: &mut RuleCx<'_, '_>, v| cx.emit("pd.squeeze", &[v], &[("axis", dropped)]);
    let (own_mean, own_variance) = (flat(cx, moments.mean)?, flat(cx, moments.variance)?);
    let factor = flat(cx, moments.factor)?;
    let running = |cx: &mut RuleCx<'_, '_>, old: ValueId, new: ValueId| {
        let (old, new) = (cx.scaled(old, momentum)?, cx.scaled(new, 1.0 - momentum)?);
        cx.emit("pd.add", &[old, new], &[])
    };
    let (mean_out, variance_out) = (running(cx, mean, own_mean)?, running(cx, variance, own_variance)?);
    Ok(smallvec![out, mean_out, variance_out, own_mean, factor, reserve])
}

fn cross_entropy(cx: &mut RuleCx<'_, '_>) -> Result<SmallVec<[ValueId; 2]>, String> {
    let (x, mut label) = (cx.operand(0), cx.operand(1));
    let axis = normalise(cx.view().int("axis").unwrap_or(-1), cx.rank(0))? as i64;
    let ignored = cx.view().int("ignore_index").unwrap_or(-100);
    let soft = cx.view().bool("soft_label").unwrap_or(false);
    let at = cx.ctx().int_attr(axis);
    let (softmax, logs) = match cx.view().bool("use_softmax").unwrap_or(true) {
        true => (
            cx.emit("pd.softmax", &[x], &[("axis", at)])?,
            cx.emit("pd.log_softmax", &[x], &[("axis", at)])?,
        ),
        false => (x, cx.unary("pd.log", x)?),
    };
    if soft {
        let weighted = cx.multiply(label, logs)?;
        let sum = cx.total(weighted, &[axis])?;
        return Ok(smallvec![softmax, cx.scaled(sum, -1.0)?]);
    }
    if cx.rank(1) < cx.rank(0) {
        let axes = cx.ints(&[axis]);
        label = cx.emit("pd.unsqueeze", &[label], &[("axis", axes)])?;
    }
    // An ignored label need not be an index: class 0 stands for it.
    let number = |cx: &mut RuleCx<'_, '_>, value: i64| {
        let value = cx.ctx().int_attr(value);
        cx.emit("pd.full_like", &[label], &[("value", value)])
    };
    let (none, zero) = (number(cx, ignored)?, number(cx, 0)?);
    let counts = cx.emit("pd.not_equal", &[label, none], &[])?;
    let class = cx.emit("pd.where", &[counts, label, zero], &[])?;
    let picked = cx.emit("pd.take_along_axis", &[logs, class], &[("axis", at)])?;
    let loss = cx.scaled(picked, -1.0)?;
    let zeros = zeros_like(cx.r, loss)?;
    Ok(smallvec![softmax, cx.emit("pd.where", &[counts, loss, zeros], &[])?])
}

const CONV: &[&str] = &[
    "strides",
    "paddings",
    "padding_algorithm",
    "dilations",
    "groups",
    "data_format",
];

const POOL: &[&str] = &[
    "kernel_size",
    "strides",
    "paddings",
    "ceil_mode",
    "exclusive",
    "data_format",
    "pooling_type",
    "global_pooling",
    "adaptive",
    "padding_algorithm",
];

/// Adds what an operation gives for the operands that are asked for.
fn conv(cx: &mut RuleCx<'_, '_>) -> Result<(), String> {
    let (x, filter, g) = (cx.operand(0), cx.operand(1), cx.grad()?);
    let grads = conv_grads(cx, x, filter, g)?;
    for (index, grad) in grads.into_iter().enumerate() {
        if cx.wants(index) {
            cx.add(index, grad)?;
        }
    }
    Ok(())
}

fn conv_grads(cx: &mut RuleCx<'_, '_>, x: ValueId, filter: ValueId, g: ValueId) -> Result<[ValueId; 2], String> {
    let attrs = cx.given(CONV);
    let mut op = cx.r.op("pd.conv2d_grad").operands([x, filter, g]);
    for (name, value) in attrs {
        op = op.attr(name, value);
    }
    let op = op.infer()?;
    Ok([cx.r.body.result(op, 0), cx.r.body.result(op, 1)])
}

/// A convolution is linear in the image and in the filter, and so is what gives the gradient of each: all derivatives are
/// convolutions again.
fn conv_grad(cx: &mut RuleCx<'_, '_>) -> Result<(), String> {
    // Each gradient depends on two of the operands.
    cx.settle_rest();
    let (x, filter, g) = (cx.operand(0), cx.operand(1), cx.operand(2));
    let attrs = cx.given(CONV);
    if let Some(for_image) = cx.grads.first().copied().flatten() {
        if cx.wants(1) {
            let t = conv_grads(cx, for_image, filter, g)?[1];
            cx.add(1, t)?;
        }
        if cx.wants(2) {
            let t = cx.emit("pd.conv2d", &[for_image, filter], &attrs)?;
            cx.add(2, t)?;
        }
    }
    if let Some(for_filter) = cx.grads.get(1).copied().flatten() {
        if cx.wants(0) {
            let t = conv_grads(cx, x, for_filter, g)?[0];
            cx.add(0, t)?;
        }
        if cx.wants(2) {
            let t = cx.emit("pd.conv2d", &[x, for_filter], &attrs)?;
            cx.add(2, t)?;
        }
    }
    Ok(())
}

/// A transposed convolution is what gives the gradient of the image of a convolution.
fn conv_transpose(cx: &mut RuleCx<'_, '_>) -> Result<(), String> {
    if cx.view().str("padding_algorithm") == Some("SAME") {
        return Err("the derivative of `pd.conv2d_transpose` needs explicit `paddings`".to_owned());
    }
    let (x, filter, g) = (cx.operand(0), cx.operand(1), cx.grad()?);
    let attrs = cx.given(CONV);
    if cx.wants(0) {
        let t = cx.emit("pd.conv2d", &[g, filter], &attrs)?;
        cx.add(0, t)?;
    }
    if cx.wants(1) {
        let t = conv_grads(cx, g, filter, x)?[1];
        cx.add(1, t)?;
    }
    Ok(())
}

fn pool(cx: &mut RuleCx<'_, '_>) -> Result<(), String> {
    let (x, out, g) = (cx.operand(0), cx.result(0), cx.grad()?);
    let attrs = cx.given(POOL);
    let mut operands = vec![x, out, g];
    operands.extend((1..cx.num_operands()).map(|i| cx.operand(i)));
    let t = cx.emit("pd.pool2d_grad", &operands, &attrs)?;
    cx.add(0, t)
}

/// Linear in the cotangent: for means its transpose is the pooling itself, for maxima it picks where they are.
fn pool_grad(cx: &mut RuleCx<'_, '_>) -> Result<(), String> {
    let g = cx.grad()?;
    let attrs = cx.given(POOL);
    if cx.view().str("pooling_type") == Some("avg") {
        let mut operands = vec![g];
        operands.extend((3..cx.num_operands()).map(|i| cx.operand(i)));
        let t = cx.emit("pd.pool2d", &operands, &attrs)?;
        return cx.add(2, t);
    }
    let last = cx.view().str("data_format") == Some("NHWC");
    let first_to_last = cx.ints(&[0, 2, 3, 1]);
    let last_to_first = cx.ints(&[0, 3, 1, 2]);
    let (mut x, mut g) = (cx.operand(0), g);
    if last {
        x = cx.emit("pd.transpose", &[x], &[("perm", last_to_first)])?;
        g = cx.emit("pd.transpose", &[g], &[("perm", last_to_first)])?;
    }
    let shape = cx.image("a second derivative of `pd.pool2d`")?;
    let attrs = explicit(cx, &shape)?;
    let op = {
        let mut op = cx.r.op("pd.max_pool2d_with_index").operand(x);
        for (name, value) in attrs {
            op = op.attr(name, value);
        }
        op.infer()?
    };
    let mask = cx.r.body.result(op, 1);
    let mask_type = cx.r.body.value_type(mask);
    let windows = cx.ctx().as_tensor(mask_type).map(|(shape, _)| shape.to_vec());
    let windows = windows
        .filter(|w| w.iter().all(|&d| d >= 0))
        .ok_or("it needs a static shape")?;
    let flat = cx.ints(&[shape[0], shape[1], shape[2] * shape[3]]);
    let g = cx.emit("pd.reshape", &[g], &[("shape", flat)])?;
    let rows = cx.ints(&[windows[0], windows[1], windows[2] * windows[3]]);
    let mask = cx.emit("pd.reshape", &[mask], &[("shape", rows)])?;
    let axis = cx.ctx().int_attr(2);
    let t = cx.emit("pd.take_along_axis", &[g, mask], &[("axis", axis)])?;
    let windows = cx.ints(&windows);
    let mut t = cx.emit("pd.reshape", &[t], &[("shape", windows)])?;
    if last {
        t = cx.emit("pd.transpose", &[t], &[("perm", first_to_last)])?;
    }
    cx.add(2, t)
}

/// The attributes of a pooling as those of one that gives indices, which has no other than explicit borders.
fn explicit(cx: &RuleCx<'_, '_>, shape: &[i64; 4]) -> Result<Vec<(&'static str, Attr)>, String> {
    let list = |name: &str| cx.view().ints(name).map(<[i64]>::to_vec);
    let kernel = list("kernel_size").ok_or("it needs a constant `kernel_size`")?;
    let mut attrs = cx.given(&["strides", "global_pooling", "adaptive", "ceil_mode"]);
    attrs.push(("kernel_size", cx.ints(&kernel)));
    let algorithm = cx.view().str("padding_algorithm").unwrap_or("EXPLICIT");
    let whole = |name: &str| cx.view().bool(name).unwrap_or(false);
    if whole("global_pooling") || whole("adaptive") {
        return Ok(attrs);
    }
    let window = Attributes {
        strides: list("strides").unwrap_or_else(|| vec![1, 1]),
        paddings: list("paddings").unwrap_or_else(|| vec![0, 0]),
        dilations: vec![1, 1],
        algorithm: algorithm.to_owned(),
    };
    let kernel = [kernel.first(), kernel.last()].map(|k| k.copied().unwrap_or(1));
    let [y, x] = window.axes([shape[2], shape[3]], kernel)?;
    attrs.push(("paddings", cx.ints(&[y.before, y.after, x.before, x.after])));
    Ok(attrs)
}

/// Zeros of the shape of an image, with a cotangent added at places in each channel.
fn scatter(cx: &mut RuleCx<'_, '_>, mask: ValueId, g: ValueId, shape: &[i64; 4]) -> Result<ValueId, String> {
    let merged = cx.ints(&[0, 0, -1]);
    let rows = |cx: &mut RuleCx<'_, '_>, v| cx.emit("pd.reshape", &[v], &[("shape", merged)]);
    let (mask, g) = (rows(cx, mask)?, rows(cx, g)?);
    let flat = cx.ints(&[shape[0], shape[1], shape[2] * shape[3]]);
    let axis = cx.ctx().int_attr(2);
    let t = cx.emit(
        "pd.take_along_axis_grad",
        &[mask, g],
        &[("axis", axis), ("x_shape", flat)],
    )?;
    let whole = cx.ints(shape);
    cx.emit("pd.reshape", &[t], &[("shape", whole)])
}

/// An operation along an axis whose gradient is told from its result.
fn from_result(cx: &mut RuleCx<'_, '_>, twin: &str) -> Result<(), String> {
    let (out, g) = (cx.result(0), cx.grad()?);
    let attrs = cx.given(&["axis"]);
    let t = cx.emit(twin, &[out, g], &attrs)?;
    cx.add(0, t)
}

fn coalesce(cx: &mut RuleCx<'_, '_>) -> Result<(), String> {
    cx.settle_rest();
    if cx.view().bool("set_constant").unwrap_or(false) {
        return Ok(());
    }
    let fused = cx.grads.get(1).copied().flatten();
    let mut start = 0;
    for (place, (index, element, ty)) in cx.elements().into_iter().enumerate() {
        if let Some(&Some(g)) = cx.list_grads.get(place)
            && cx.wants_element(index)
        {
            cx.add_to_element(index, element, g)?;
        }
        let Some(fused) = fused else { continue };
        let shape = cx.ctx().as_tensor(ty).map_or(Vec::new(), |(shape, _)| shape.to_vec());
        let count: i64 = shape.iter().product();
        if shape.iter().any(|&d| d < 0) {
            return Err("the derivative of `pd.coalesce_tensor` needs static shapes".to_owned());
        }
        if cx.wants_element(index) {
            let (axes, starts, ends) = (cx.ints(&[0]), cx.ints(&[start]), cx.ints(&[start + count]));
            let attrs = [("axes", axes), ("starts", starts), ("ends", ends)];
            let part = cx.emit("pd.slice", &[fused], &attrs)?;
            let shape = cx.ints(&shape);
            let part = cx.emit("pd.reshape", &[part], &[("shape", shape)])?;
            cx.add_to_element(index, element, part)?;
        }
        start += count;
    }
    Ok(())
}

impl RuleCx<'_, '_> {
    /// Where the operand that is declared at `index` is among those given: optional ones before it may be absent.
    pub(super) fn place(&self, index: usize) -> Option<usize> {
        let absent = self.view().ints("absent_operands").unwrap_or_default();
        if absent.contains(&(index as i64)) {
            return None;
        }
        let before = absent.iter().filter(|&&a| a < index as i64).count();
        index.checked_sub(before).filter(|&at| at < self.num_operands())
    }

    /// Those attributes of the operation that are given.
    pub(super) fn given(&self, names: &[&'static str]) -> Vec<(&'static str, Attr)> {
        let view = self.view();
        names
            .iter()
            .filter_map(|&name| view.attr(name).map(|value| (name, value)))
            .collect()
    }

    pub(super) fn subtract(&mut self, x: ValueId, y: ValueId) -> Result<ValueId, String> {
        self.emit("pd.subtract", &[x, y], &[])
    }

    /// The sum over axes, which stay as dimensions of one.
    pub(super) fn total(&mut self, x: ValueId, axes: &[i64]) -> Result<ValueId, String> {
        // A scalar counts as a vector of one element.
        let ty = self.r.body.value_type(x);
        if self.ctx().as_tensor(ty).is_none_or(|(shape, _)| shape.is_empty()) {
            return Ok(x);
        }
        let (axes, keepdim) = (self.ints(axes), self.ctx().bool_attr(true));
        self.emit("pd.sum", &[x], &[("axis", axes), ("keepdim", keepdim)])
    }

    /// The mean over axes, which stay as dimensions of one.
    pub(super) fn average(&mut self, x: ValueId, axes: &[i64]) -> Result<ValueId, String> {
        if axes.is_empty() {
            return Ok(x);
        }
        let (axes, keepdim) = (self.ints(axes), self.ctx().bool_attr(true));
        self.emit("pd.mean", &[x], &[("axis", axes), ("keepdim", keepdim)])
    }

    /// A value in the element type of an operand.
    pub(super) fn cast_like(&mut self, x: ValueId, index: usize) -> Result<ValueId, String> {
        let elem = self.ctx().elem_type(self.operand_type(index));
        if self.ctx().elem_type(self.r.body.value_type(x)) == elem {
            return Ok(x);
        }
        let dtype = self.ctx().type_attr(elem);
        self.emit("pd.cast", &[x], &[("dtype", dtype)])
    }

    /// The shape of the first operand, an image, with channels first.
    fn image(&self, what: &str) -> Result<[i64; 4], String> {
        let shape = self.static_shape(0);
        let last = self.view().str("data_format") == Some("NHWC");
        match shape.as_deref() {
            Some(&[n, h, w, c]) if last => Ok([n, c, h, w]),
            Some(&[n, c, h, w]) => Ok([n, c, h, w]),
            _ => Err(format!("{what} needs a static shape")),
        }
    }
}
