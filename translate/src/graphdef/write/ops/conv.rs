//! Convolutions and pooling of images.
//!
//! TensorFlow's kernels for processors know the order NHWC only, and filters as [height, width, channels, filters]: what has
//! another order is transposed. A convolution whose groups have several channels is written as one for each group.

use pir_ir::Type;

use super::super::super::proto::{ListValue, Value};
use super::super::super::types::{INT32, INT64, Number};
use super::super::emit::{Emit, Result};
use super::Write;
use super::shape::transpose;

pub(super) const TABLE: &[(&str, Write)] = &[
    ("conv2d", conv),
    ("conv2d_grad", conv_grad),
    ("conv2d_transpose", conv_transpose),
    ("depthwise_conv2d", conv),
    ("pool2d", pool),
    ("pool2d_grad", pool_grad),
];

/// The order of axes, the steps of the window and the border.
#[derive(Clone)]
struct Window {
    last: bool,
    strides: Vec<i64>,
    dilations: Vec<i64>,
    padding: &'static str,
    paddings: Vec<i64>,
}

impl Window {
    fn of(e: &Emit<'_, '_>) -> Result<Window> {
        let pair = |name: &str, default: i64| {
            e.ints(name)
                .filter(|v| v.len() == 2)
                .unwrap_or_else(|| vec![default; 2])
        };
        let explicit = e.ints("paddings").unwrap_or_default();
        let explicit = match explicit[..] {
            [y, x] => vec![y, y, x, x],
            [_, _, _, _] => explicit,
            _ => vec![0; 4],
        };
        let (padding, paddings) = match e.view.str("padding_algorithm").unwrap_or("EXPLICIT") {
            "SAME" => ("SAME", vec![0; 4]),
            "VALID" => ("VALID", vec![0; 4]),
            _ if explicit == [0; 4] => ("VALID", explicit),
            _ => ("EXPLICIT", explicit),
        };
        Ok(Window {
            last: e.view.str("data_format").unwrap_or("NCHW") == "NHWC",
            strides: pair("strides", 1),
            dilations: pair("dilations", 1),
            padding,
            paddings,
        })
    }

    /// An image with the channels last.
    fn image(&self, e: &mut Emit<'_, '_>, x: String, elem: Type) -> Result<String> {
        match self.last {
            true => Ok(x),
            false => transpose(e, x, &[0, 2, 3, 1], elem),
        }
    }

    fn back(&self, e: &mut Emit<'_, '_>, x: String, elem: Type) -> Result<String> {
        match self.last {
            true => Ok(x),
            false => transpose(e, x, &[0, 3, 1, 2], elem),
        }
    }

    /// The extents of an image, with the channels last.
    fn dims(&self, dims: &[i64]) -> Result<[i64; 4]> {
        let (&[n, a, b, c], true) = (dims, dims.iter().all(|&d| d >= 0)) else {
            return Err("the shape of its image is unknown".to_owned());
        };
        Ok(if self.last { [n, a, b, c] } else { [n, b, c, a] })
    }

    fn attrs(&self, e: &Emit<'_, '_>, elem: Type, convolution: bool) -> Result<Vec<(&'static str, Value)>> {
        let around = |v: &[i64]| list(vec![1, v[0], v[1], 1]);
        let mut attrs = vec![
            ("T", e.dtype(elem)?),
            ("strides", around(&self.strides)),
            ("padding", Value::Bytes(self.padding.into())),
            ("data_format", Value::Bytes(b"NHWC".to_vec())),
        ];
        if convolution {
            attrs.push(("dilations", around(&self.dilations)));
        }
        if self.padding == "EXPLICIT" {
            let paddings = [&[0, 0][..], &self.paddings, &[0, 0]].concat();
            attrs.push(("explicit_paddings", list(paddings)));
        }
        Ok(attrs)
    }
}

fn list(ints: Vec<i64>) -> Value {
    Value::List(ListValue {
        ints,
        ..ListValue::default()
    })
}

/// The number of filters of each channel in a depthwise convolution, or 0 for one over all channels of a group; and the
/// number of groups with several channels.
fn each(e: &Emit<'_, '_>, window: &Window, image: usize, filter: usize) -> Result<(i64, i64)> {
    let groups = e.view.int("groups").unwrap_or(1);
    let channels = window.dims(&e.operand_type(image)?.0)?[3];
    let filters = e.operand_type(filter)?.0.first().copied().unwrap_or(0);
    match groups {
        1 => Ok((0, 1)),
        _ if groups == channels => Ok((filters / groups.max(1), 1)),
        2.. if channels % groups == 0 && filters % groups == 0 => Ok((0, groups)),
        _ => Err("`groups` does not match the channels".to_owned()),
    }
}

/// The parts of a tensor along its last of four axes. TensorFlow's gradients know no groups of several channels.
fn split(e: &mut Emit<'_, '_>, x: String, count: i64, elem: Type) -> Result<Vec<String>> {
    if count == 1 {
        return Ok(vec![x]);
    }
    let axis = e.axis(3)?;
    let attrs = [("T", e.dtype(elem)?), ("num_split", Value::Int(count))];
    let parts = e.op("Split", &[axis, x], &attrs);
    let name = |at: i64| {
        if at == 0 {
            parts.clone()
        } else {
            format!("{parts}:{at}")
        }
    };
    Ok((0..count).map(name).collect())
}

fn join(e: &mut Emit<'_, '_>, mut parts: Vec<String>, elem: Type) -> Result<String> {
    if parts.len() == 1 {
        return Ok(parts.remove(0));
    }
    let attrs = [
        ("T", e.dtype(elem)?),
        ("Tidx", Value::Type(INT32)),
        ("N", Value::Int(parts.len() as i64)),
    ];
    parts.push(e.axis(3)?);
    Ok(e.op("ConcatV2", &parts, &attrs))
}

/// A filter as TensorFlow has it.
fn filter_of(e: &mut Emit<'_, '_>, filter: String, dims: &[i64], each: i64, elem: Type) -> Result<String> {
    if each == 0 {
        return transpose(e, filter, &[2, 3, 1, 0], elem);
    }
    let &[filters, _, height, width] = dims else {
        return Err("its filter must have four dimensions".to_owned());
    };
    let apart = e.reshape(filter, &[filters / each, each, height, width], elem)?;
    transpose(e, apart, &[2, 3, 0, 1], elem)
}

fn conv(e: &mut Emit<'_, '_>) -> Result<()> {
    let window = Window::of(e)?;
    let (x, filter, elem) = (e.input(0)?, e.input(1)?, e.elem()?);
    let (each, groups) = each(e, &window, 0, 1)?;
    let image = window.image(e, x, elem)?;
    let kernel = e.operand_type(1)?.0;
    let filter = filter_of(e, filter, &kernel, each, elem)?;
    let attrs = window.attrs(e, elem, true)?;
    let op = if each == 0 { "Conv2D" } else { "DepthwiseConv2dNative" };
    let (images, filters) = (split(e, image, groups, elem)?, split(e, filter, groups, elem)?);
    let parts = images
        .into_iter()
        .zip(filters)
        .map(|(x, filter)| e.op(op, &[x, filter], &attrs));
    let parts = parts.collect();
    let out = join(e, parts, elem)?;
    let out = window.back(e, out, elem)?;
    e.result(0, out)
}

fn conv_grad(e: &mut Emit<'_, '_>) -> Result<()> {
    let window = Window::of(e)?;
    let (x, filter, g, elem) = (e.input(0)?, e.input(1)?, e.input(2)?, e.elem()?);
    let (each, groups) = each(e, &window, 0, 1)?;
    let kernel = e.operand_type(1)?.0;
    let &[filters, channels, height, width] = &kernel[..] else {
        return Err("its filter must have four dimensions".to_owned());
    };
    let mut sizes = window.dims(&e.operand_type(0)?.0)?;
    sizes[3] /= groups;
    let image = window.image(e, x, elem)?;
    let g = window.image(e, g, elem)?;
    let filter = filter_of(e, filter, &kernel, each, elem)?;
    let attrs = window.attrs(e, elem, true)?;
    let (to_image, to_filter) = match each {
        0 => ("Conv2DBackpropInput", "Conv2DBackpropFilter"),
        _ => (
            "DepthwiseConv2dNativeBackpropInput",
            "DepthwiseConv2dNativeBackpropFilter",
        ),
    };
    let sizes = narrow(e, &sizes)?;
    let (images, slopes) = (split(e, image, groups, elem)?, split(e, g, groups, elem)?);
    let mut parts = Vec::new();
    for (filter, g) in split(e, filter, groups, elem)?.into_iter().zip(&slopes) {
        parts.push(e.op(to_image, &[sizes.clone(), filter, g.clone()], &attrs));
    }
    let dx = join(e, parts, elem)?;
    let dx = window.back(e, dx, elem)?;
    e.result(0, dx)?;
    let shape = match each {
        0 => narrow(e, &[height, width, channels, filters / groups])?,
        _ => narrow(e, &[height, width, filters / each, each])?,
    };
    let mut parts = Vec::new();
    for (image, g) in images.into_iter().zip(slopes) {
        parts.push(e.op(to_filter, &[image, shape.clone(), g], &attrs));
    }
    let dw = join(e, parts, elem)?;
    let dw = match each {
        0 => transpose(e, dw, &[3, 2, 0, 1], elem)?,
        _ => {
            let apart = transpose(e, dw, &[2, 3, 0, 1], elem)?;
            e.reshape(apart, &kernel, elem)?
        }
    };
    e.result(1, dw)
}

/// Sizes, which these operations want in 32 bits.
fn narrow(e: &mut Emit<'_, '_>, sizes: &[i64]) -> Result<String> {
    let sizes = e.vector(sizes)?;
    let attrs = [("SrcT", Value::Type(INT64)), ("DstT", Value::Type(INT32))];
    Ok(e.op("Cast", &[sizes], &attrs))
}

fn conv_transpose(e: &mut Emit<'_, '_>) -> Result<()> {
    let window = Window::of(e)?;
    e.view.sees("output_padding");
    e.view.sees("output_size");
    if e.view.int("groups").unwrap_or(1) != 1 || e.num_operands() != 2 {
        return Err("groups and computed sizes have no equivalent in TensorFlow".to_owned());
    }
    let (x, filter, elem) = (e.input(0)?, e.input(1)?, e.elem()?);
    let image = window.image(e, x, elem)?;
    let filter = transpose(e, filter, &[2, 3, 1, 0], elem)?;
    let sizes = window.dims(&e.result_type(0)?.0)?;
    let sizes = narrow(e, &sizes)?;
    let attrs = window.attrs(e, elem, true)?;
    let out = e.op("Conv2DBackpropInput", &[sizes, filter, image], &attrs);
    let out = window.back(e, out, elem)?;
    e.result(0, out)
}

/// How a window pools. TensorFlow's windows stay inside of an image: a border is a larger image there.
struct Pooling {
    window: Window,
    max: bool,
    attrs: Vec<(&'static str, Value)>,
    /// The extents of the image, and of the border: above, below, left and right.
    dims: [i64; 4],
    border: [i64; 4],
    /// By what a mean over a window is multiplied, if that counts fewer elements, for all places of the result.
    scale: Option<([i64; 2], Vec<Number>)>,
}

impl Pooling {
    /// For the image that is the first operand.
    fn of(e: &Emit<'_, '_>, elem: Type) -> Result<Self> {
        let mut window = Window::of(e)?;
        let max = e.view.str("pooling_type").unwrap_or("max") == "max";
        let dims = window.dims(&e.operand_type(0)?.0)?;
        let inside = [dims[1], dims[2]];
        let mut size = e
            .ints("kernel_size")
            .filter(|s| s.len() == 2)
            .ok_or("its window is unknown")?;
        if e.flag("adaptive", false) && size != [1, 1] {
            return Err("adaptive windows have no equivalent in TensorFlow".to_owned());
        }
        if e.flag("global_pooling", false) || e.flag("adaptive", false) {
            size = inside.to_vec();
        }
        let (ceil, exclusive) = (e.flag("ceil_mode", false), e.flag("exclusive", true));
        let mut pooling = Pooling {
            attrs: Vec::new(),
            max,
            dims,
            border: [0; 4],
            scale: None,
            window: Window {
                padding: "VALID",
                ..window.clone()
            },
        };
        if window.padding == "SAME" && (max || exclusive) {
            pooling.window.padding = "SAME";
        } else {
            let mut counts = [Vec::new(), Vec::new()];
            for axis in 0..2 {
                let (extent, step, size) = (inside[axis], window.strides[axis], size[axis]);
                if step < 1 || size < 1 {
                    return Err("its strides are missing".to_owned());
                }
                if window.padding == "SAME" {
                    let whole = ((extent + step - 1) / step - 1) * step + size - extent;
                    window.paddings[2 * axis] = whole.max(0) / 2;
                    window.paddings[2 * axis + 1] = whole.max(0) - whole.max(0) / 2;
                }
                let (before, mut behind) = (window.paddings[2 * axis], window.paddings[2 * axis + 1]);
                let room = extent + before + behind - size;
                if room < 0 || before < 0 || behind < 0 {
                    return Err("its window must be two numbers".to_owned());
                }
                let steps = if ceil { (room + step - 1) / step } else { room / step } + 1;
                behind += ((steps - 1) * step - room).max(0);
                pooling.border[2 * axis] = before;
                pooling.border[2 * axis + 1] = behind;
                // The image begins after the border.
                let count = |at: i64| {
                    let start = at * step - before;
                    (start + size).min(extent) - start.max(0)
                };
                counts[axis] = (0..steps).map(count).collect();
            }
            let is_part = counts[0].iter().any(|&n| n != size[0]) || counts[1].iter().any(|&n| n != size[1]);
            if !max && is_part {
                if ceil && !exclusive {
                    return Err("means over partially padded windows have no equivalent in TensorFlow".to_owned());
                }
                let all = (size[0] * size[1]) as f64;
                let scales = counts[0].iter().flat_map(|y| counts[1].iter().map(move |x| x * y));
                let scales = scales.map(|count| Number::Float(all / count.max(1) as f64)).collect();
                let places = [counts[0].len() as i64, counts[1].len() as i64];
                pooling.scale = exclusive.then_some((places, scales));
            }
        }
        pooling.attrs = pooling.window.attrs(e, elem, false)?;
        pooling.attrs.push(("ksize", list(vec![1, size[0], size[1], 1])));
        Ok(pooling)
    }

    /// The image with its border, the channels last.
    fn image(&self, e: &mut Emit<'_, '_>, x: String, elem: Type) -> Result<String> {
        let image = self.window.image(e, x, elem)?;
        if self.border == [0; 4] {
            return Ok(image);
        }
        let [above, below, left, right] = self.border;
        let sizes = [0, 0, above, below, left, right, 0, 0].map(|n| Number::Int(n.into()));
        let sizes = e.constant(INT64, &[4, 2], &sizes)?;
        let fill = match self.max {
            true => f64::NEG_INFINITY,
            false => 0.0,
        };
        let fill = e.num(fill, elem)?;
        let attrs = [("T", e.dtype(elem)?), ("Tpaddings", Value::Type(INT64))];
        Ok(e.op("PadV2", &[image, sizes, fill], &attrs))
    }

    /// The extents of the image with its border.
    fn extents(&self) -> [i64; 4] {
        let [n, height, width, channels] = self.dims;
        let [above, below, left, right] = self.border;
        [n, height + above + below, width + left + right, channels]
    }

    /// A mean over a window as one over what it holds of the image; its cotangent likewise.
    fn scaled(&self, e: &mut Emit<'_, '_>, x: String, elem: Type) -> Result<String> {
        let Some(([height, width], scales)) = &self.scale else {
            return Ok(x);
        };
        let Value::Type(code) = e.dtype(elem)? else {
            return Err("its element type is unknown".to_owned());
        };
        let scales = e.constant(code, &[1, *height, *width, 1], scales)?;
        e.binary("Mul", &x, &scales, elem)
    }

    /// The image without its border.
    fn inner(&self, e: &mut Emit<'_, '_>, x: String, elem: Type) -> Result<String> {
        if self.border == [0; 4] {
            return Ok(x);
        }
        let (starts, sizes) = (
            e.vector(&[0, self.border[0], self.border[2], 0])?,
            e.vector(&self.dims)?,
        );
        let attrs = [("T", e.dtype(elem)?), ("Index", Value::Type(INT64))];
        Ok(e.op("Slice", &[x, starts, sizes], &attrs))
    }
}

fn pool(e: &mut Emit<'_, '_>) -> Result<()> {
    let (x, elem) = (e.input(0)?, e.elem()?);
    let pooling = Pooling::of(e, elem)?;
    let image = pooling.image(e, x, elem)?;
    let out = e.op(
        if pooling.max { "MaxPool" } else { "AvgPool" },
        &[image],
        &pooling.attrs,
    );
    let out = pooling.scaled(e, out, elem)?;
    let out = pooling.window.back(e, out, elem)?;
    e.result(0, out)
}

fn pool_grad(e: &mut Emit<'_, '_>) -> Result<()> {
    let (x, out, g, elem) = (e.input(0)?, e.input(1)?, e.input(2)?, e.elem()?);
    let pooling = Pooling::of(e, elem)?;
    let g = pooling.window.image(e, g, elem)?;
    let dx = match pooling.max {
        true => {
            let image = pooling.image(e, x, elem)?;
            let out = pooling.window.image(e, out, elem)?;
            e.op("MaxPoolGrad", &[image, out, g], &pooling.attrs)
        }
        false => {
            let g = pooling.scaled(e, g, elem)?;
            let sizes = narrow(e, &pooling.extents())?;
            e.op("AvgPoolGrad", &[sizes, g], &pooling.attrs)
        }
    };
    let dx = pooling.inner(e, dx, elem)?;
    let dx = pooling.window.back(e, dx, elem)?;
    e.result(0, dx)
}
