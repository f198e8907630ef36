//! Convolutions, pooling, normalization and losses.
//!
//! TensorFlow's filters are [height, width, channels, filters], those of `pd` [filters, channels, height, width].

use pir_dialects::pd;
use pir_ir::{Attr, ValueId};

use super::super::proto::Value;
use super::reader::{Reader, Result};
use super::row::Row;

const CONVOLUTION: &str = "strides padding explicit_paddings=[] data_format=NHWC dilations=[] use_cudnn_on_gpu=true";
const POOLING: &str = "ksize strides padding explicit_paddings=[] data_format=NHWC";

pub(super) const TABLE: &[Row] = &[
    ("AvgPool", "T", POOLING, |r, at| pool(r, at, "avg")),
    ("Conv2D", "T T", CONVOLUTION, |r, at| {
        let (x, filter) = (r.operand(at, 0)?, r.operand(at, 1)?);
        let window = Window::of(r, at)?;
        let filter = moved(r, at, filter, &[3, 2, 0, 1])?;
        // The channels of a group follow from the filter.
        let (channels, each) = (window.channels(r, x)?, r.dims(filter)?.0.get(1).copied().unwrap_or(0));
        let groups = if each > 0 && channels > 0 { channels / each } else { 1 };
        let attrs = window.attrs(r, Some(groups));
        r.op(at, pd::Conv2d::NAME, &[x, filter], &attrs)
    }),
    ("AvgPoolGrad", "i32 T", POOLING, |r, at| {
        // A pool of averages is linear: what was pooled does not matter.
        let (sizes, g) = (r.list(at, 0, "sizes")?, r.operand(at, 1)?);
        let x = zeros(r, at, &sizes, g)?;
        pool_grad(r, at, "avg", [x, g, g])
    }),
    ("Conv2DBackpropFilter", "T i32 T", CONVOLUTION, filter_grad),
    ("Conv2DBackpropInput", "i32 T T", CONVOLUTION, |r, at| {
        let sizes = r.list(at, 0, "sizes")?;
        let (filter, x) = (r.operand(at, 1)?, r.operand(at, 2)?);
        let window = Window::of(r, at)?;
        let filter = moved(r, at, filter, &[3, 2, 0, 1])?;
        transposed(r, at, &window, x, filter, &sizes)
    }),
    ("DepthwiseConv2dNative", "T T", CONVOLUTION, |r, at| {
        let (x, filter) = (r.operand(at, 0)?, r.operand(at, 1)?);
        let window = Window::of(r, at)?;
        let (dims, _) = r.dims(filter)?;
        let [height, width, channels, each] = dims[..] else {
            return Err("its filter must have four dimensions".to_owned());
        };
        // Each channel has its own filters, which are adjacent.
        let filter = moved(r, at, filter, &[2, 3, 0, 1])?;
        let shape = [channels * each, 1, height, width];
        let filter = r.helper(at, pd::Reshape::NAME, &[filter], &[("shape", r.ctx.ints_attr(&shape))])?;
        let attrs = window.attrs(r, Some(channels));
        r.op(at, pd::Conv2d::NAME, &[x, filter], &attrs)
    }),
    (
        "FusedBatchNormV3",
        "T U U U U -> y batch_mean batch_variance reserve_space_1 reserve_space_2 reserve_space_3",
        "epsilon=0.0001 exponential_avg_factor=1 data_format=NHWC is_training=true",
        batch_norm,
    ),
    ("MaxPool", "T", POOLING, |r, at| pool(r, at, "max")),
    ("MaxPoolGrad", "T T T", POOLING, |r, at| {
        let operands = [r.operand(at, 0)?, r.operand(at, 1)?, r.operand(at, 2)?];
        pool_grad(r, at, "max", operands)
    }),
    (
        "SparseSoftmaxCrossEntropyWithLogits",
        "T Tlabels -> loss backprop",
        "",
        cross_entropy,
    ),
    ("SoftmaxCrossEntropyWithLogits", "T T -> loss backprop", "", |r, at| {
        let (x, label) = (r.operand(at, 0)?, r.operand(at, 1)?);
        losses(r, at, x, label)
    }),
];

/// The loss of each row, whose classes have these probabilities, and its gradient.
fn losses(r: &mut Reader<'_>, at: usize, x: ValueId, probabilities: ValueId) -> Result<()> {
    let axis = [("axis", r.ctx.int_attr(-1))];
    let rows = [("axis", r.ctx.ints_attr(&[-1])), ("keepdim", r.ctx.bool_attr(false))];
    let negated = [("scale", r.ctx.float_attr(-1.0)), ("bias", r.ctx.float_attr(0.0))];
    let log = r.helper(at, pd::LogSoftmax::NAME, &[x], &axis)?;
    let product = r.helper(at, pd::Multiply::NAME, &[probabilities, log], &[])?;
    let sum = r.helper(at, pd::Sum::NAME, &[product], &rows)?;
    let loss = r.helper(at, pd::Scale::NAME, &[sum], &negated)?;
    let soft = r.helper(at, pd::Softmax::NAME, &[x], &axis)?;
    let slope = r.helper(at, pd::Subtract::NAME, &[soft, probabilities], &[])?;
    r.values[at] = vec![loss, slope];
    Ok(())
}

/// The axes of a tensor in another order.
pub(super) fn moved(r: &mut Reader<'_>, at: usize, x: ValueId, order: &[i64]) -> Result<ValueId> {
    r.helper(at, pd::Transpose::NAME, &[x], &[("perm", r.ctx.ints_attr(order))])
}

/// The largest step and border, and the largest extent that is computed with.
const MOST: i64 = 1 << 20;
const WIDEST: i64 = 1 << 31;

/// How a window moves over the two axes of an image.
struct Window {
    strides: Vec<i64>,
    dilations: Vec<i64>,
    /// "SAME", "VALID", or "EXPLICIT" with four numbers.
    padding: String,
    paddings: Vec<i64>,
    format: String,
}

impl Window {
    fn of(r: &Reader<'_>, at: usize) -> Result<Window> {
        let format = r.text(at, "data_format").unwrap_or_else(|| "NHWC".to_owned());
        let axes = match format.as_str() {
            "NHWC" => [1, 2],
            "NCHW" => [2, 3],
            _ => return Err(format!("the layout `{format}` is not supported")),
        };
        let list = |name: &str| match r.attr(at, name) {
            Some(Value::List(list)) => list.ints.clone(),
            _ => Vec::new(),
        };
        let both = |values: &[i64]| {
            axes.iter()
                .map(|&a: &usize| values.get(a).copied().unwrap_or(1))
                .collect()
        };
        let _ = r.flag(at, "use_cudnn_on_gpu");
        let (strides, dilations, explicit) = (list("strides"), list("dilations"), list("explicit_paddings"));
        for values in [&strides, &dilations] {
            let others = values.iter().enumerate().filter(|(a, _)| !axes.contains(a));
            if others.into_iter().any(|(_, &v)| v != 1) {
                return Err("strides and dilations over the batch or the channels are not supported".to_owned());
            }
            if values.iter().any(|v| !(1..=MOST).contains(v)) {
                return Err("its strides and dilations must be at least 1".to_owned());
            }
        }
        if explicit.iter().any(|border| !(0..=MOST).contains(border)) {
            return Err("its paddings must be at least 0".to_owned());
        }
        let padding = r.text(at, "padding").unwrap_or_default();
        let paddings = match padding.as_str() {
            "EXPLICIT" => axes
                .iter()
                .flat_map(|&a| [2 * a, 2 * a + 1])
                .map(|i| explicit.get(i).copied().unwrap_or(0))
                .collect(),
            "SAME" | "VALID" => vec![0, 0],
            _ => return Err(format!("the padding `{padding}` is not supported")),
        };
        Ok(Window {
            strides: both(&strides),
            dilations: both(&dilations),
            padding,
            paddings,
            format,
        })
    }

    /// The border in front of an axis, and both together, where windows need `wanted` numbers more than there are.
    fn borders(&self, axis: usize, wanted: i64) -> (i64, i64) {
        match self.padding.as_str() {
            "SAME" => (wanted.max(0) / 2, wanted.max(0)),
            "VALID" => (0, 0),
            _ => {
                let [first, last] = [0, 1].map(|side| self.paddings[2 * axis + side]);
                (first, first + last)
            }
        }
    }

    fn channels(&self, r: &Reader<'_>, x: ValueId) -> Result<i64> {
        let (dims, _) = r.dims(x)?;
        let axis = if self.format == "NHWC" { 3 } else { 1 };
        dims.get(axis)
            .copied()
            .ok_or_else(|| "its input must have four dimensions".to_owned())
    }

    fn attrs(&self, r: &Reader<'_>, groups: Option<i64>) -> Vec<(&'static str, Attr)> {
        let mut attrs = vec![
            ("strides", r.ctx.ints_attr(&self.strides)),
            ("paddings", r.ctx.ints_attr(&self.paddings)),
            ("padding_algorithm", r.ctx.str_attr(&self.padding)),
            ("data_format", r.ctx.str_attr(&self.format)),
        ];
        if let Some(groups) = groups {
            attrs.push(("dilations", r.ctx.ints_attr(&self.dilations)));
            attrs.push(("groups", r.ctx.int_attr(groups)));
        }
        attrs
    }
}

/// The transpose of a convolution, of a stated size.
fn transposed(
    r: &mut Reader<'_>,
    at: usize,
    window: &Window,
    x: ValueId,
    filter: ValueId,
    sizes: &[i64],
) -> Result<()> {
    if window.format != "NHWC" || window.dilations != [1, 1] {
        return Err("only transposed convolutions in NHWC without dilation are supported".to_owned());
    }
    let (from, _) = r.dims(x)?;
    let (kernel, _) = r.dims(filter)?;
    let (&[_, high, wide, _], &[_, tall, broad, _]) = (&from[..], sizes) else {
        return Err("its sizes must be four numbers".to_owned());
    };
    // The convolution that it undoes has borders of these sizes.
    let mut paddings = Vec::new();
    let mut extra = Vec::new();
    for (axis, (inside, outside)) in [(high, tall), (wide, broad)].into_iter().enumerate() {
        let (stride, size) = (window.strides[axis], kernel.get(axis + 2).copied().unwrap_or(1));
        if [inside, outside, size].iter().any(|n| !(1..=WIDEST).contains(n)) {
            return Err("its sizes do not match its other inputs".to_owned());
        }
        let (first, total) = window.borders(axis, (inside - 1) * stride + size - outside);
        // Elements after the last window are filled.
        let behind = outside - ((inside - 1) * stride + size - total);
        if behind < 0 {
            return Err("its sizes do not match its other inputs".to_owned());
        }
        paddings.extend([first, total - first]);
        extra.push(behind);
    }
    let attrs = [
        ("strides", r.ctx.ints_attr(&window.strides)),
        ("paddings", r.ctx.ints_attr(&paddings)),
        ("output_padding", r.ctx.ints_attr(&extra)),
        ("data_format", r.ctx.str_attr("NHWC")),
    ];
    r.op(at, pd::Conv2dTranspose::NAME, &[x, filter], &attrs)
}

fn pool(r: &mut Reader<'_>, at: usize, kind: &str) -> Result<()> {
    let x = r.operand(at, 0)?;
    let attrs = pooling(r, at, kind)?;
    r.op(at, pd::Pool2d::NAME, &[x], &attrs)
}

fn pool_grad(r: &mut Reader<'_>, at: usize, kind: &str, operands: [ValueId; 3]) -> Result<()> {
    let attrs = pooling(r, at, kind)?;
    r.op(at, pd::Pool2dGrad::NAME, &operands, &attrs)
}

/// Zeros of this shape.
fn zeros(r: &mut Reader<'_>, at: usize, dims: &[i64], like: ValueId) -> Result<ValueId> {
    let (_, elem) = r.dims(like)?;
    r.tensor(dims, elem)?;
    let attrs = super::constants::full(r, dims, super::super::types::Number::Float(0.0), elem);
    r.helper(at, pd::Full::NAME, &[], &attrs)
}

/// The gradient of the filter is a convolution over the images, with the channels as the batch. The stride of the
/// windows becomes the dilation of the filter.
fn filter_grad(r: &mut Reader<'_>, at: usize) -> Result<()> {
    let (x, sizes, g) = (r.operand(at, 0)?, r.list(at, 1, "sizes")?, r.operand(at, 2)?);
    let window = Window::of(r, at)?;
    if window.format != "NHWC" {
        return Err("only images in NHWC are supported".to_owned());
    }
    let (from, to) = (r.dims(x)?.0, r.dims(g)?.0);
    let (&[_, tall, broad, channels], &[_, high, wide, _], &[rows, columns, each, _]) =
        (&from[..], &to[..], &sizes[..])
    else {
        return Err("its inputs must have four dimensions".to_owned());
    };
    if each != channels {
        return Err("the gradient of a grouped filter is not supported".to_owned());
    }
    let mut paddings = Vec::new();
    for (axis, (extent, steps, size)) in [(tall, high, rows), (broad, wide, columns)].into_iter().enumerate() {
        if [extent, steps, size].iter().any(|n| !(1..=WIDEST).contains(n)) {
            return Err("its shapes must be static".to_owned());
        }
        let (stride, reach) = (window.strides[axis], (size - 1) * window.dilations[axis] + 1);
        let wanted = (steps - 1) * stride + reach - extent;
        let (first, _) = window.borders(axis, wanted);
        // Elements that no window reaches are cut off.
        let last = wanted - first;
        paddings.extend([first, last]);
    }
    let (x, g) = (moved(r, at, x, &[3, 0, 1, 2])?, moved(r, at, g, &[3, 0, 1, 2])?);
    let cut: Vec<(i64, i64)> = (0..2)
        .filter(|a| paddings[2 * a + 1] < 0)
        .map(|a| (a as i64 + 2, paddings[2 * a + 1]))
        .collect();
    let x = match cut.is_empty() {
        true => x,
        false => {
            let bounds = [
                ("axes", r.ctx.ints_attr(&cut.iter().map(|c| c.0).collect::<Vec<_>>())),
                ("starts", r.ctx.ints_attr(&vec![0; cut.len()])),
                ("ends", r.ctx.ints_attr(&cut.iter().map(|c| c.1).collect::<Vec<_>>())),
            ];
            r.helper(at, pd::Slice::NAME, &[x], &bounds)?
        }
    };
    let paddings: Vec<i64> = paddings.into_iter().map(|p| p.max(0)).collect();
    let attrs = [
        ("strides", r.ctx.ints_attr(&window.dilations)),
        ("dilations", r.ctx.ints_attr(&window.strides)),
        ("paddings", r.ctx.ints_attr(&paddings)),
        ("padding_algorithm", r.ctx.str_attr("EXPLICIT")),
        ("data_format", r.ctx.str_attr("NCHW")),
        ("groups", r.ctx.int_attr(1)),
    ];
    let slopes = r.helper(at, pd::Conv2d::NAME, &[x, g], &attrs)?;
    r.op(
        at,
        pd::Transpose::NAME,
        &[slopes],
        &[("perm", r.ctx.ints_attr(&[2, 3, 0, 1]))],
    )
}

/// The attributes of pooling.
fn pooling(r: &Reader<'_>, at: usize, kind: &str) -> Result<Vec<(&'static str, Attr)>> {
    let window = Window::of(r, at)?;
    let axes = if window.format == "NHWC" { [1, 2] } else { [2, 3] };
    let sizes = match r.attr(at, "ksize") {
        Some(Value::List(list)) => list.ints.clone(),
        _ => Vec::new(),
    };
    if sizes.len() != 4 || (0..4).any(|a| !axes.contains(&a) && sizes[a] != 1) {
        return Err("windows over the batch or the channels are not supported".to_owned());
    }
    let size: Vec<i64> = axes.iter().map(|&a| sizes[a]).collect();
    let mut attrs = window.attrs(r, None);
    attrs.push(("kernel_size", r.ctx.ints_attr(&size)));
    attrs.push(("pooling_type", r.ctx.str_attr(kind)));
    Ok(attrs)
}

/// `FusedBatchNormV3` with given statistics, or with those of the batch.
fn batch_norm(r: &mut Reader<'_>, at: usize) -> Result<()> {
    let [x, scale, offset, mean, variance] = r.operands(at, 5)?[..] else {
        return Err("it must have five inputs".to_owned());
    };
    let format = r.text(at, "data_format").unwrap_or_else(|| "NHWC".to_owned());
    let training = r.flag_or(at, "is_training", true);
    let epsilon = r.float(at, "epsilon", 1e-4);
    match r.attr(at, "exponential_avg_factor") {
        Some(Value::Float(factor)) if training && *factor != 1.0 => {
            return Err("an `exponential_avg_factor` other than 1 is not supported".to_owned());
        }
        _ => {}
    }
    let (dims, _) = r.dims(x)?;
    let channel = match format.as_str() {
        "NHWC" => dims.len().saturating_sub(1),
        "NCHW" => 1,
        _ => return Err(format!("the layout `{format}` is not supported")),
    };
    let (mean, variance) = match training {
        false => (mean, variance),
        true => {
            let axes: Vec<i64> = (0..dims.len()).filter(|&a| a != channel).map(|a| a as i64).collect();
            let over = [("axis", r.ctx.ints_attr(&axes)), ("keepdim", r.ctx.bool_attr(false))];
            let mean = r.helper(at, pd::Mean::NAME, &[x], &over)?;
            let spread = spread(r, at, mean, &dims, channel)?;
            let apart = r.helper(at, pd::Subtract::NAME, &[x, spread], &[])?;
            let square = r.helper(at, pd::Square::NAME, &[apart], &[])?;
            (mean, r.helper(at, pd::Mean::NAME, &[square], &over)?)
        }
    };
    let shift = [("scale", r.ctx.float_attr(1.0)), ("bias", r.ctx.float_attr(epsilon))];
    let shifted = r.helper(at, pd::Scale::NAME, &[variance], &shift)?;
    let factor = r.helper(at, pd::Rsqrt::NAME, &[shifted], &[])?;
    let factor = r.helper(at, pd::Multiply::NAME, &[factor, scale], &[])?;
    let parts = [mean, factor, offset].map(|part| spread(r, at, part, &dims, channel));
    let [mean_at, factor, offset] = parts;
    let apart = r.helper(at, pd::Subtract::NAME, &[x, mean_at?], &[])?;
    let scaled = r.helper(at, pd::Multiply::NAME, &[apart, factor?], &[])?;
    let y = r.helper(at, pd::Add::NAME, &[scaled, offset?], &[])?;
    let unbiased = match training {
        false => variance,
        true => {
            // The variance that it gives out is that of a sample.
            let count: i64 = dims
                .iter()
                .enumerate()
                .filter(|(a, _)| *a != channel)
                .map(|(_, &d)| d)
                .product();
            let factor = count as f64 / (count - 1).max(1) as f64;
            let by = [("scale", r.ctx.float_attr(factor)), ("bias", r.ctx.float_attr(0.0))];
            if dims.contains(&pir_ir::DYNAMIC) {
                return Err("the shape of its input must be static".to_owned());
            }
            r.helper(at, pd::Scale::NAME, &[variance], &by)?
        }
    };
    // The reserved results are for TensorFlow's own gradient.
    r.values[at] = vec![y, mean, unbiased];
    Ok(())
}

/// One number for each channel, over a whole tensor.
fn spread(r: &mut Reader<'_>, at: usize, x: ValueId, dims: &[i64], channel: usize) -> Result<ValueId> {
    if channel + 1 == dims.len() {
        return Ok(x);
    }
    let shape: Vec<i64> = (0..dims.len()).map(|a| if a == channel { -1 } else { 1 }).collect();
    r.helper(at, pd::Reshape::NAME, &[x], &[("shape", r.ctx.ints_attr(&shape))])
}

/// `SparseSoftmaxCrossEntropyWithLogits`: the loss of each row, and its gradient.
fn cross_entropy(r: &mut Reader<'_>, at: usize) -> Result<()> {
    let (x, label) = (r.operand(at, 0)?, r.operand(at, 1)?);
    let (dims, elem) = r.dims(x)?;
    let &[_, classes] = &dims[..] else {
        return Err("its input must have two dimensions".to_owned());
    };
    if classes < 0 {
        return Err("the number of classes is unknown".to_owned());
    }
    let (_, kind) = r.dims(label)?;
    let range = [
        ("start", r.ctx.int_attr(0)),
        ("end", r.ctx.int_attr(classes)),
        ("step", r.ctx.int_attr(1)),
        ("dtype", r.ctx.type_attr(kind)),
    ];
    let places = r.helper(at, pd::Arange::NAME, &[], &range)?;
    let behind = [("axis", r.ctx.ints_attr(&[1]))];
    let column = r.helper(at, pd::Unsqueeze::NAME, &[label], &behind)?;
    let here = r.helper(at, pd::Equal::NAME, &[column, places], &[])?;
    let hot = r.helper(at, pd::Cast::NAME, &[here], &[("dtype", r.ctx.type_attr(elem))])?;
    losses(r, at, x, hot)
}
