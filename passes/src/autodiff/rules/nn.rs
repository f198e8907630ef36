//! Layers.
//!
//! Normalizations and losses are compositions. Those for which that would be wasteful have gradient operations.

use pir_dialects::pd::{self, Expr, Source};
use pir_dialects::window::Attributes;
use pir_ir::{DYNAMIC, Type};

use super::formula::{Cx, Formula, Op, adjoint, composite, derivative};
use super::reduce::normalise;
use super::{Rule, RuleCx, composite, expanded};

pub(super) const RULES: &[Rule] = &[
    derivative!(Conv2d, |op, g|
        let [input, filter] = op.input().conv2d_grad_with(op.filter(), g, |o| o.like(op));
        { input: input, filter: filter }
    ),
    derivative!(DepthwiseConv2d, |op, g|
        let [input, filter] = op.input().conv2d_grad_with(op.filter(), g, |o| o.like(op));
        { input: input, filter: filter }
    ),
    // A convolution is linear in the image and in the filter, and so is what gives the gradient of each: all derivatives are
    // convolutions again.
    adjoint!(Conv2dGrad, |op| {
        // Each gradient depends on two of the operands.
        op.settle_rest();
        let (x, filter, g) = (op.input(), op.filter(), op.out_grad());
        if let Some(for_image) = op.grad_of(0) {
            op.give_if_wanted(pd::Conv2dGrad::filter, || {
                for_image.conv2d_grad_with(filter, g, |o| o.like(op))[1]
            });
            op.give_if_wanted(pd::Conv2dGrad::out_grad, || {
                for_image.conv2d_with(filter, |o| o.like(op))
            });
        }
        if let Some(for_filter) = op.grad_of(1) {
            op.give_if_wanted(pd::Conv2dGrad::input, || {
                x.conv2d_grad_with(for_filter, g, |o| o.like(op))[0]
            });
            op.give_if_wanted(pd::Conv2dGrad::out_grad, || x.conv2d_with(for_filter, |o| o.like(op)));
        }
    }),
    // A transposed convolution is what gives the gradient of the image of a convolution.
    derivative!(Conv2dTranspose, |op, g|
        let () = has_explicit_borders(op)?;
        {
            x: g.conv2d_with(op.filter(), |o| o.like(op)),
            filter: g.conv2d_grad_with(op.filter(), op.x(), |o| o.like(op))[1],
        }
    ),
    derivative!(Pool2d, |op, g| op.x().pool2d_grad_with(
        op.out(),
        g,
        op.kernel_size(),
        |o| o.like(op)
    )),
    // Linear in the cotangent: for means its transpose is the pooling itself, for maxima it picks where they are.
    derivative!(Pool2dGrad, |op, g| match &*op.pooling_type() {
        "avg" => g.pool2d_with(op.kernel_size(), |o| o.like(op)),
        _ => pick_maxima(op, g)?,
    }),
    adjoint!(MaxPool2dWithIndex, |op| match op.grad_of(0) {
        None => op.settle_rest(),
        Some(g) => {
            let shape = op.image("NCHW", "the derivative of `pd.max_pool2d_with_index`")?;
            let [mask, g] = [op.mask(), g].map(|v| v.reshape([0, 0, -1]));
            let t =
                mask.take_along_axis_grad_with(g, |o| o.axis(2).x_shape(&[shape[0], shape[1], shape[2] * shape[3]]));
            op.give(pd::MaxPool2dWithIndex::x, t.reshape(shape));
        }
    }),
    derivative!(Softmax, |op, g| op.out().softmax_grad_with(g, |o| o.like(op))),
    Rule {
        op: pd::ScaledDotProductAttention::NAME,
        apply: attention_adjoint,
        ..composite::EXPANDED
    },
    derivative!(LogSoftmax, |op, g| op.out().log_softmax_grad_with(g, |o| o.like(op))),
    composite!(SoftmaxGrad, |op| {
        let (out, g) = (op.out(), op.out_grad());
        (g - (g * out).total(&[op.axis()])) * out
    }),
    composite!(LogSoftmaxGrad, |op| {
        let (g, sum) = (op.out_grad(), op.out_grad().total(&[op.axis()]));
        g - op.out().exp() * sum
    }),
    Rule {
        apply: layer_norm_adjoint,
        ..LAYER_NORM
    },
    composite!(GroupNorm, |op| {
        let (shape, groups) = (op.x().shape_of_batch().ok_or("it needs a static shape")?, op.groups());
        if groups < 1 {
            return Err("`groups` must be positive".to_owned());
        }
        let (n, rank) = (shape[0], shape.len());
        let (channels, area, is_last) = match op.data_format() == "NHWC" {
            true => (shape[rank - 1], &shape[1..rank - 1], true),
            false => (shape[1], &shape[2..], false),
        };
        let (area, per_group): (i64, i64) = (area.iter().product(), channels / groups);
        let (split, axes, before) = match is_last {
            true => ([n, area, groups, per_group], [1, 3], rank - 1),
            false => ([n, groups, per_group, area], [2, 3], 1),
        };
        let mut params = vec![1; rank];
        params[before] = channels;
        let moments = Moments::of(widened(op.x()).reshape(split), &axes, op.epsilon());
        let out = scaled_and_shifted(moments.normal.reshape(shape), op.scale(), op.bias(), &params).cast_like(op.x());
        [
            out,
            moments.mean.reshape([n, groups]),
            moments.variance.reshape([n, groups]),
        ]
    }),
    composite!(InstanceNorm, |op| {
        let shape = op.x().shape_of_batch().ok_or("it needs a static shape")?;
        let axes: Vec<i64> = (2..shape.len() as i64).collect();
        let moments = Moments::of(widened(op.x()), &axes, op.epsilon());
        let mut params = vec![1; shape.len()];
        params[1] = shape[1];
        let out = scaled_and_shifted(moments.normal, op.scale(), op.bias(), &params).cast_like(op.x());
        let rows = if shape[0] == DYNAMIC {
            DYNAMIC
        } else {
            shape[0] * shape[1]
        };
        [out, moments.mean.reshape([rows]), moments.factor.reshape([rows])]
    }),
    Rule {
        apply: batch_norm_adjoint,
        ..BATCH_NORM
    },
    composite!(CrossEntropyWithSoftmax, cross_entropy),
    adjoint!(Dropout, |op| match op.grad_of(0) {
        None => op.settle_rest(),
        Some(g) => {
            let (p, is_test) = (op.p(), op.is_test());
            let factor = match (is_test, op.mode() == "upscale_in_train") {
                (false, true) if p < 1.0 => 1.0 / (1.0 - p),
                (true, false) => 1.0 - p,
                _ => 1.0,
            };
            let g = if factor == 1.0 { g } else { g * factor };
            op.give(
                pd::Dropout::x,
                if is_test { g } else { g * op.mask().cast_like(op.x()) },
            );
        }
    }),
    adjoint!(CoalesceTensor, coalesce),
];

const LAYER_NORM: Rule = composite!(LayerNorm, |op| {
    let (x, axes) = (widened(op.x()), row_axes(op)?);
    let moments = Moments::of(x, &axes, op.epsilon());
    let shape = match axes.len() {
        0 | 1 => Vec::new(),
        rows => {
            let shape = x.static_shape().ok_or("it needs a static shape")?;
            shape[shape.len() - rows..].to_vec()
        }
    };
    let out = scaled_and_shifted(moments.normal, op.scale(), op.bias(), &shape).cast_like(op.x());
    let [mean, variance] = [moments.mean, moments.variance].map(|v| v.squeeze_with(|o| o.axis(&axes)));
    [out, mean, variance]
});
const BATCH_NORM: Rule = composite!(BatchNorm, batch_norm);

/// The axes of a row.
fn row_axes(op: Op<'_, pd::LayerNorm>) -> Result<Vec<i64>, String> {
    let rank = op.x().rank();
    let begin = normalise(op.begin_norm_axis(), rank)?;
    Ok((begin as i64..rank as i64).collect())
}

/// In single precision what is of a lower one.
fn widened(x: Expr<'_>) -> Expr<'_> {
    match x.elem() {
        Some(Type::F16 | Type::BF16) => x.cast(Type::F32),
        _ => x,
    }
}

/// A tensor with mean 0 and variance 1 over axes, and what made it so.
struct Moments<'c> {
    mean: Expr<'c>,
    variance: Expr<'c>,
    /// One divided by the standard deviation.
    factor: Expr<'c>,
    normal: Expr<'c>,
}

impl<'c> Moments<'c> {
    fn of(x: Expr<'c>, axes: &[i64], epsilon: f64) -> Self {
        let mean = x.average(axes);
        let centred = x - mean;
        let variance = centred.square().average(axes);
        let factor = (variance + epsilon).rsqrt();
        let normal = centred * factor;
        Moments {
            mean,
            variance,
            factor,
            normal,
        }
    }

    /// What normalizes an element: the mean and the factor.
    fn of_elements(self) -> [Expr<'c>; 2] {
        [self.mean, self.factor]
    }
}

/// Applies a scale and a shift, each in a shape.
fn scaled_and_shifted<'c>(x: Expr<'c>, scale: Option<Expr<'c>>, bias: Option<Expr<'c>>, shape: &[i64]) -> Expr<'c> {
    let shaped = |param: Expr<'c>| if shape.is_empty() { param } else { param.reshape(shape) };
    let scaled = scale.map_or(x, |scale| x * shaped(scale).cast_like(x));
    bias.map_or(scaled, |bias| scaled + shaped(bias).cast_like(x))
}

/// The gradient of a tensor that is given mean 0 and variance 1 over axes, by that of the result; and what is divided by the number of
/// elements there: the sums of `g` and of `g` times the result.
fn normal_gradient<'c>(normal: Expr<'c>, g: Expr<'c>, sums: [Expr<'c>; 2], factor: Expr<'c>, count: f64) -> Expr<'c> {
    let [mean, slope] = sums.map(|sum| sum * (1.0 / count));
    (g - mean - normal * slope) * factor
}

/// The cotangent of the normalized tensor, and the number of elements over which moments are taken, if it is the only one, and of single
/// or double precision: then a formula takes fewer operations than differentiating the moments.
fn plain<'c>(cx: Cx<'c>, x: Expr<'c>, axes: &[i64]) -> Option<(Expr<'c>, f64)> {
    let g = cx.grad_of(0)?;
    let is_only = cx.grads().iter().skip(1).all(Option::is_none);
    let shape = x.static_shape()?;
    let count: i64 = axes.iter().map(|&axis| shape[axis as usize]).product();
    (is_only && matches!(x.elem(), Some(Type::F32 | Type::F64)) && count > 0).then_some((g, count as f64))
}

fn layer_norm_adjoint(cx: &mut RuleCx<'_, '_>) -> Result<(), String> {
    {
        let is_total = cx.is_total;
        let formula = Formula::new(cx);
        let op = formula.view::<pd::LayerNorm>();
        let (x, axes) = (op.x(), row_axes(op)?);
        if let Some((g, count)) = plain(formula.cx(), x, &axes) {
            let (before, rows) = x.dims().split_at(x.rank() - axes.len());
            let shape = [before, &vec![1; axes.len()]].concat();
            let [mean, factor] = match is_total {
                true => Moments::of(x, &axes, op.epsilon()).of_elements(),
                false => {
                    let [mean, variance] = [op.mean(), op.variance()].map(|v| v.cast_like(x).reshape(&shape));
                    [mean, (variance + op.epsilon()).rsqrt()]
                }
            };
            let normal = (x - mean) * factor;
            op.give_if_wanted(pd::LayerNorm::bias, || sum_of_rows(g, rows));
            op.give_if_wanted(pd::LayerNorm::scale, || sum_of_rows(g * normal, rows));
            op.give_if_wanted(pd::LayerNorm::x, || {
                let g = scaled_and_shifted(g, op.scale(), None, rows);
                let sums = [g, g * normal].map(|v| v.total(&axes));
                normal_gradient(normal, g, sums, factor, count)
            });
            op.settle_rest();
            return formula.finish();
        }
    }
    expanded(cx)
}

/// One operation, where there is no derivative in the mask, and the operands have the same batch dimensions.
fn attention_adjoint(cx: &mut RuleCx<'_, '_>) -> Result<(), String> {
    {
        let formula = Formula::new(cx);
        let op = formula.view::<pd::ScaledDotProductAttention>();
        let (query, key, value) = (op.query(), op.key(), op.value());
        let batch = |x: Expr<'_>| {
            let shape = x
                .static_shape()
                .filter(|_| matches!(x.elem(), Some(Type::F32 | Type::F64)))?;
            let (batch, _) = shape.split_last_chunk::<2>()?;
            Some(batch.to_vec())
        };
        let batches = [query, key, value].map(batch);
        if batches.iter().all(|batch| batch.is_some() && *batch == batches[0])
            && !op.wants(pd::ScaledDotProductAttention::mask)
        {
            let (g, mask) = (formula.cx().grad(), op.mask());
            let [for_query, for_key, for_value] = query.scaled_dot_product_attention_grad_with(key, value, g, |o| {
                let o = o.like(op);
                mask.into_iter().fold(o, |o, mask| o.mask(mask))
            });
            op.give_if_wanted(pd::ScaledDotProductAttention::query, || for_query);
            op.give_if_wanted(pd::ScaledDotProductAttention::key, || for_key);
            op.give_if_wanted(pd::ScaledDotProductAttention::value, || for_value);
            op.settle_rest();
            return formula.finish();
        }
    }
    expanded(cx)
}

/// The sum over the dimensions in front of those of a row, as a vector.
fn sum_of_rows<'c>(x: Expr<'c>, row: &[i64]) -> Expr<'c> {
    let axes: Vec<i64> = (0..(x.rank() - row.len()) as i64).collect();
    let sum = if axes.is_empty() {
        x
    } else {
        x.sum_with(|o| o.axis(axes))
    };
    sum.reshape([row.iter().product::<i64>()])
}

fn batch_norm_adjoint(cx: &mut RuleCx<'_, '_>) -> Result<(), String> {
    {
        let is_total = cx.is_total;
        let formula = Formula::new(cx);
        let op = formula.view::<pd::BatchNorm>();
        let (shape, axes) = channels(op)?;
        let (x, scale) = (op.x(), op.scale());
        let mut params = [Some(op.mean()), Some(op.variance()), scale, op.bias()]
            .into_iter()
            .flatten();
        if params.all(|param| param.elem() == x.elem())
            && let Some((g, _)) = plain(formula.cx(), x, &axes)
        {
            if has_given_moments(op) {
                given_moments_adjoint(op, g, &shape, &axes);
                op.settle_rest();
                return formula.finish();
            }
            let [mean, factor] = match is_total {
                true => Moments::of(x, &axes, op.epsilon())
                    .of_elements()
                    .map(|v| v.squeeze_with(|o| o.axis(&axes))),
                false => [op.saved_mean(), op.saved_variance()],
            };
            let [for_x, for_scale, for_bias] = x.channel_norm_grad_with(mean, factor, g, |o| {
                let o = o.data_format(&op.data_format());
                scale.into_iter().fold(o, |o, scale| o.scale(scale))
            });
            op.give(pd::BatchNorm::x, for_x);
            op.give(pd::BatchNorm::scale, for_scale);
            op.give(pd::BatchNorm::bias, for_bias);
            op.settle_rest();
            return formula.finish();
        }
    }
    expanded(cx)
}

/// The cotangents of normalization by given moments. Those of the parameters are two sums over a channel; that of `x` is a multiple.
fn given_moments_adjoint<'c>(op: Op<'c, pd::BatchNorm>, g: Expr<'c>, shape: &[i64], axes: &[i64]) {
    let sum = |v: Expr<'c>| v.sum_with(|o| o.axis(axes));
    let factor = (op.variance() + op.epsilon()).rsqrt();
    let slope = op.scale().map_or(factor, |scale| factor * scale);
    op.give_if_wanted(pd::BatchNorm::x, || g * slope.reshape(shape));
    op.give_if_wanted(pd::BatchNorm::bias, || sum(g));
    op.give_if_wanted(pd::BatchNorm::mean, || -(sum(g) * slope));
    if [pd::BatchNorm::scale, pd::BatchNorm::variance]
        .iter()
        .any(|&of| op.wants(of))
    {
        let steep = sum(g * (op.x() - op.mean().reshape(shape)));
        op.give_if_wanted(pd::BatchNorm::scale, || steep * factor);
        op.give_if_wanted(pd::BatchNorm::variance, || steep * slope * factor.square() * -0.5);
    }
}

/// A shape that broadcasts one number for each channel, and the other axes.
fn channels(op: Op<'_, pd::BatchNorm>) -> Result<(Vec<i64>, Vec<i64>), String> {
    let x = op.x();
    let channel = if op.data_format() == "NHWC" {
        x.rank().saturating_sub(1)
    } else {
        1
    };
    let mut shape = vec![1; x.rank()];
    match x.dims().get(channel) {
        Some(&channels @ 0..) if x.rank() > 1 => shape[channel] = channels,
        _ => return Err("it needs a known number of channels".to_owned()),
    }
    let axes = (0..x.rank()).filter(|&a| a != channel).map(|a| a as i64).collect();
    Ok((shape, axes))
}

/// Whether mean and variance are operands, and not those of the tensor.
fn has_given_moments(op: Op<'_, pd::BatchNorm>) -> bool {
    op.is_test() && !op.trainable_statistics() || op.use_global_stats()
}

fn batch_norm<'c>(op: Op<'c, pd::BatchNorm>) -> Result<[Expr<'c>; 6], String> {
    let (x, mean, variance) = (op.x(), op.mean(), op.variance());
    let (shape, axes) = channels(op)?;
    let reserve = op.empty_like(x);
    if has_given_moments(op) {
        let factor = (variance + op.epsilon()).rsqrt();
        let (wide_mean, wide_factor) = (mean.reshape(&shape), factor.reshape(&shape));
        let normal = (x - wide_mean) * wide_factor;
        let out = scaled_and_shifted(normal, op.scale(), op.bias(), &shape);
        return Ok([out, mean, variance, mean, factor, reserve]);
    }
    let moments = Moments::of(x, &axes, op.epsilon());
    let out = scaled_and_shifted(moments.normal, op.scale(), op.bias(), &shape);
    let [own_mean, own_variance, factor] =
        [moments.mean, moments.variance, moments.factor].map(|v| v.squeeze_with(|o| o.axis(&axes)));
    let running = |old: Expr<'c>, new: Expr<'c>| old * op.momentum() + new * (1.0 - op.momentum());
    Ok([
        out,
        running(mean, own_mean),
        running(variance, own_variance),
        own_mean,
        factor,
        reserve,
    ])
}

fn cross_entropy<'c>(op: Op<'c, pd::CrossEntropyWithSoftmax>) -> Result<[Expr<'c>; 2], String> {
    let (x, label) = (op.input(), op.label());
    let axis = normalise(op.axis(), x.rank())? as i64;
    let (softmax, logs) = match op.use_softmax() {
        true => (x.softmax_with(|o| o.axis(axis)), x.log_softmax_with(|o| o.axis(axis))),
        false => (x, x.log()),
    };
    if op.soft_label() {
        return Ok([softmax, -(label * logs).total(&[axis])]);
    }
    let is_narrow = label.rank() < x.rank();
    let label = if is_narrow {
        label.unsqueeze_with(|o| o.axis([axis]))
    } else {
        label
    };
    // An ignored label need not be a valid index: it is replaced with class 0.
    let number = |value: i64| label.full_like_with(|o| o.value(value));
    let (none, zero) = (number(op.ignore_index()), number(0));
    let counts = label.not_equal(none);
    let class = counts.select(label, zero);
    let loss = -logs.take_along_axis_with(class, |o| o.axis(axis));
    Ok([softmax, counts.select(loss, loss.zeros())])
}

fn has_explicit_borders(op: Op<'_, pd::Conv2dTranspose>) -> Result<(), String> {
    match &*op.padding_algorithm() {
        "SAME" => Err("it needs explicit `paddings`".to_owned()),
        _ => Ok(()),
    }
}

/// A cotangent of the pooled image where the maxima are.
fn pick_maxima<'c>(op: Op<'c, pd::Pool2dGrad>, g: Expr<'c>) -> Result<Expr<'c>, String> {
    let is_last = op.data_format() == "NHWC";
    let [x, g] = [op.x(), g].map(|v| if is_last { v.transpose(&[0, 3, 1, 2]) } else { v });
    let shape = op.image(&op.data_format(), "a second derivative of `pd.pool2d`")?;
    let kernel = op.kernel_size().constant().ok_or("it needs a constant `kernel_size`")?;
    let paddings = explicit_paddings(op, &shape, &kernel)?;
    let [_, mask] = x.max_pool2d_with_index_with(&kernel, |o| o.paddings(&paddings).like(op));
    let windows = mask.static_shape().ok_or("it needs a static shape")?;
    let &[n, c, h, w] = &windows[..] else {
        return Err("it needs an image".to_owned());
    };
    let flat = g.reshape([shape[0], shape[1], shape[2] * shape[3]]);
    let picked = flat
        .take_along_axis_with(mask.reshape([n, c, h * w]), |o| o.axis(2))
        .reshape(windows);
    Ok(if is_last {
        picked.transpose(&[0, 2, 3, 1])
    } else {
        picked
    })
}

/// The borders of a pooling, for one that takes no others than explicit ones.
fn explicit_paddings(op: Op<'_, pd::Pool2dGrad>, shape: &[i64; 4], kernel: &[i64]) -> Result<Vec<i64>, String> {
    if op.global_pooling() || op.adaptive() {
        return Ok(vec![0, 0]);
    }
    let window = Attributes {
        strides: op.strides(),
        paddings: op.paddings(),
        dilations: vec![1, 1],
        algorithm: op.padding_algorithm(),
    };
    let kernel = [kernel.first(), kernel.last()].map(|k| k.copied().unwrap_or(1));
    let [y, x] = window.axes([shape[2], shape[3]], kernel)?;
    Ok(vec![y.before, y.after, x.before, x.after])
}

fn coalesce(op: Op<'_, pd::CoalesceTensor>) -> Result<(), String> {
    op.settle_rest();
    if op.set_constant() {
        return Ok(());
    }
    let (own, fused) = (op.list_grads(), op.grad_of(1));
    let mut start = 0;
    for (place, element) in op.elements().into_iter().enumerate() {
        if let Some(&Some(g)) = own.get(place) {
            op.add_to(element, g);
        }
        let Some(fused) = fused else { continue };
        let shape = op
            .context()
            .as_tensor(element.ty)
            .map_or(Vec::new(), |(shape, _)| shape.to_vec());
        if shape.iter().any(|&d| d < 0) {
            return Err("the derivative of `pd.coalesce_tensor` needs static shapes".to_owned());
        }
        let end = start + shape.iter().product::<i64>();
        if op.wants_at(element.index) {
            op.add_to(element, fused.cut(0, start, end).reshape(shape));
        }
        start = end;
    }
    Ok(())
}

impl<'c> Cx<'c> {
    /// The shape of the first operand, an image, with channels first.
    fn image(self, format: &str, what: &str) -> Result<[i64; 4], String> {
        match self.operand_at(0).static_shape().as_deref() {
            Some(&[n, h, w, c]) if format == "NHWC" => Ok([n, c, h, w]),
            Some(&[n, c, h, w]) => Ok([n, c, h, w]),
            _ => Err(format!("{what} needs a static shape")),
        }
    }
}
