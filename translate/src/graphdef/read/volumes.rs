//! Convolutions and pooling of volumes: TensorFlow has them in the order NDHWC, `pd` in NCDHW with borders in numbers.

use pir_dialects::pd;
use pir_ir::{Attr, Type, ValueId};

use super::super::proto::Value;
use super::super::types::Number;
use super::reader::{Reader, Result};
use super::row::Row;
use super::windows::same;

const CONVOLUTION: &str = "strides padding data_format=NDHWC dilations=[]";
const POOLING: &str = "ksize strides padding data_format=NDHWC";

/// The order of `pd` from that of TensorFlow, and back.
const CHANNELS_FIRST: [i64; 5] = [0, 4, 1, 2, 3];
const CHANNELS_LAST: [i64; 5] = [0, 2, 3, 4, 1];

pub(super) const TABLE: &[Row] = &[
    ("AvgPool3D", "T", POOLING, |r, at| pool(r, at, "avg")),
    ("AvgPool3DGrad", "i32 T", POOLING, |r, at| {
        // A pool of averages is linear: what was pooled does not matter.
        let (sizes, g) = (r.list(at, 0, "sizes")?, r.operand(at, 1)?);
        let (_, elem) = r.dims(g)?;
        r.tensor(&sizes, elem)?;
        let zeros = super::constants::full(r, &sizes, Number::Float(0.0), elem);
        let x = r.helper(at, pd::Full::NAME, &[], &zeros)?;
        pool_grad(r, at, "avg", [x, g, g])
    }),
    ("Conv3D", "T T", CONVOLUTION, |r, at| {
        let (x, filter) = (r.operand(at, 0)?, r.operand(at, 1)?);
        let window = Window::of(r, at)?;
        let (dims, kernel) = (five(r, x)?, five(r, filter)?);
        let borders = window.borders(&dims, [kernel[0], kernel[1], kernel[2]])?;
        convolve(r, at, x, filter, &window, &borders)
    }),
    ("Conv3DBackpropInputV2", "Tshape T T", CONVOLUTION, transposed),
    ("MaxPool3D", "T", POOLING, |r, at| pool(r, at, "max")),
    ("MaxPool3DGrad", "TInput TInput T", POOLING, |r, at| {
        let operands = [r.operand(at, 0)?, r.operand(at, 1)?, r.operand(at, 2)?];
        pool_grad(r, at, "max", operands)
    }),
];

/// How a window moves over the three axes of a volume.
struct Window {
    strides: [i64; 3],
    dilations: [i64; 3],
    same: bool,
}

impl Window {
    fn of(r: &Reader<'_>, at: usize) -> Result<Window> {
        if r.text(at, "data_format").is_some_and(|format| format != "NDHWC") {
            return Err("the layout of its volumes is not supported".to_owned());
        }
        let same = match r.text(at, "padding").unwrap_or_default().as_str() {
            "SAME" => true,
            "VALID" => false,
            other => return Err(format!("the padding `{other}` is not supported")),
        };
        Ok(Window {
            strides: inner(r, at, "strides")?,
            dilations: inner(r, at, "dilations")?,
            same,
        })
    }

    /// The extent of what a window of this size gives, and the borders before and after each axis.
    fn borders(&self, dims: &[i64; 5], size: [i64; 3]) -> Result<Borders> {
        let (mut steps, mut around) = ([0; 3], Vec::new());
        for axis in 0..3 {
            let (extent, stride) = (dims[axis + 1], self.strides[axis]);
            let reach = (size[axis] - 1).saturating_mul(self.dilations[axis]).saturating_add(1);
            let (count, before, after) = match self.same {
                true => same(extent, reach, stride),
                false => ((extent - reach).div_euclid(stride) + 1, 0, 0),
            };
            if count < 1 || size[axis] < 1 {
                return Err("its window must be five numbers, 1 for the batch and the channels".to_owned());
            }
            steps[axis] = count;
            around.extend([before, after]);
        }
        Ok(Borders { steps, around })
    }
}

struct Borders {
    steps: [i64; 3],
    around: Vec<i64>,
}

/// The numbers of an attribute for depth, height and width; those for the other axes are 1.
fn inner(r: &Reader<'_>, at: usize, name: &str) -> Result<[i64; 3]> {
    let list = match r.attr(at, name) {
        Some(Value::List(list)) => list.ints.clone(),
        _ => Vec::new(),
    };
    match list[..] {
        [] => Ok([1; 3]),
        [1, a, b, c, 1] if [a, b, c].iter().all(|&v| (1..=1 << 14).contains(&v)) => Ok([a, b, c]),
        _ => Err(format!("its `{name}` do not match three dimensions")),
    }
}

/// The five extents of a tensor.
fn five(r: &Reader<'_>, value: ValueId) -> Result<[i64; 5]> {
    let (dims, _) = r.dims(value)?;
    let known = dims.iter().all(|&d| (0..=1 << 31).contains(&d));
    (dims.try_into().ok())
        .filter(|_| known)
        .ok_or_else(|| "its inputs must have five known dimensions".to_owned())
}

fn moved(r: &mut Reader<'_>, at: usize, x: ValueId, order: &[i64]) -> Result<ValueId> {
    r.helper(at, pd::Transpose::NAME, &[x], &[("perm", r.ctx.ints_attr(order))])
}

/// An operation on volumes of the order NCDHW, whose result has the shape of `pd`'s composition.
fn windowed(
    r: &mut Reader<'_>,
    at: usize,
    name: &str,
    operands: &[ValueId],
    (dims, elem): ([i64; 5], Type),
    attrs: &[(&str, Attr)],
) -> Result<()> {
    let ty = r.tensor(&dims, elem)?;
    let op = r.append(at, name, operands, &[ty], attrs)?;
    let result = r.body.result(op, 0);
    r.op(
        at,
        pd::Transpose::NAME,
        &[result],
        &[("perm", r.ctx.ints_attr(&CHANNELS_LAST))],
    )
}

/// A convolution with a filter as TensorFlow has it: [depth, height, width, channels, filters].
fn convolve(
    r: &mut Reader<'_>,
    at: usize,
    x: ValueId,
    filter: ValueId,
    window: &Window,
    borders: &Borders,
) -> Result<()> {
    let ([batch, .., channels], [.., each, filters]) = (five(r, x)?, five(r, filter)?);
    if each < 1 || channels % each != 0 {
        return Err("its number of channels does not match the filter".to_owned());
    }
    let (_, elem) = r.dims(x)?;
    let x = moved(r, at, x, &CHANNELS_FIRST)?;
    let filter = moved(r, at, filter, &[4, 3, 0, 1, 2])?;
    let attrs = [
        ("strides", r.ctx.ints_attr(&window.strides)),
        ("paddings", r.ctx.ints_attr(&borders.around)),
        ("dilations", r.ctx.ints_attr(&window.dilations)),
        ("groups", r.ctx.int_attr(channels / each)),
    ];
    let [d, h, w] = borders.steps;
    windowed(
        r,
        at,
        pd::Conv3d::NAME,
        &[x, filter],
        ([batch, filters, d, h, w], elem),
        &attrs,
    )
}

fn pool(r: &mut Reader<'_>, at: usize, kind: &str) -> Result<()> {
    let x = r.operand(at, 0)?;
    let dims = five(r, x)?;
    let (_, elem) = r.dims(x)?;
    let Pooling {
        attrs,
        steps: [d, h, w],
    } = pooling(r, at, kind, &dims)?;
    let x = moved(r, at, x, &CHANNELS_FIRST)?;
    windowed(
        r,
        at,
        pd::Pool3d::NAME,
        &[x],
        ([dims[0], dims[4], d, h, w], elem),
        &attrs,
    )
}

/// The gradient of a pool of `x`, by its result and the cotangent of that.
fn pool_grad(r: &mut Reader<'_>, at: usize, kind: &str, [x, out, g]: [ValueId; 3]) -> Result<()> {
    let [batch, d, h, w, channels] = five(r, x)?;
    let (_, elem) = r.dims(x)?;
    let Pooling { attrs, steps } = pooling(r, at, kind, &[batch, d, h, w, channels])?;
    if five(r, g)?[1..4] != steps {
        return Err("its sizes do not match its other inputs".to_owned());
    }
    let mut operands = Vec::new();
    for value in [x, out, g] {
        operands.push(moved(r, at, value, &CHANNELS_FIRST)?);
    }
    windowed(
        r,
        at,
        pd::Pool3dGrad::NAME,
        &operands,
        ([batch, channels, d, h, w], elem),
        &attrs,
    )
}

/// The attributes of a pool of a volume, and the extents of its result.
struct Pooling {
    attrs: Vec<(&'static str, Attr)>,
    steps: [i64; 3],
}

fn pooling(r: &Reader<'_>, at: usize, kind: &str, dims: &[i64; 5]) -> Result<Pooling> {
    let (window, size) = (Window::of(r, at)?, inner(r, at, "ksize")?);
    let borders = window.borders(dims, size)?;
    let flag = |value: bool| r.ctx.bool_attr(value);
    let attrs = vec![
        ("kernel_size", r.ctx.ints_attr(&size)),
        ("strides", r.ctx.ints_attr(&window.strides)),
        ("paddings", r.ctx.ints_attr(&borders.around)),
        ("ceil_mode", flag(false)),
        ("exclusive", flag(true)),
        ("data_format", r.ctx.str_attr("NCDHW")),
        ("pooling_type", r.ctx.str_attr(kind)),
        ("global_pooling", flag(false)),
        ("adaptive", flag(false)),
        ("padding_algorithm", r.ctx.str_attr("EXPLICIT")),
    ];
    Ok(Pooling {
        attrs,
        steps: borders.steps,
    })
}

/// The transpose of a convolution: one with the filter reversed, of a volume with zeros between its elements.
fn transposed(r: &mut Reader<'_>, at: usize) -> Result<()> {
    let sizes = r.list(at, 0, "sizes")?;
    let (filter, g) = (r.operand(at, 1)?, r.operand(at, 2)?);
    let window = Window::of(r, at)?;
    let ([_, outside @ .., _], kernel, dims) = (
        <[i64; 5]>::try_from(sizes).map_err(|_| "its sizes must be five numbers")?,
        five(r, filter)?,
        five(r, g)?,
    );
    if outside.iter().any(|extent| !(1..=1 << 31).contains(extent)) {
        return Err("its sizes do not match its other inputs".to_owned());
    }
    let whole = [dims[0], outside[0], outside[1], outside[2], dims[4]];
    let undone = window.borders(&whole, [kernel[0], kernel[1], kernel[2]])?;
    if undone.steps[..] != dims[1..4] || dims.contains(&0) {
        return Err("its sizes do not match its other inputs".to_owned());
    }
    let mut value = g;
    let mut around = Vec::new();
    for axis in 0..3 {
        let (extent, stride) = (dims[axis + 1], window.strides[axis]);
        if stride > 1 {
            value = apart(r, at, value, axis as i64 + 1, extent, stride)?;
        }
        // The elements before the first and after the last one.
        let reach = (kernel[axis] - 1) * window.dilations[axis];
        let front = reach - undone.around[2 * axis];
        let behind = outside[axis] + reach - front - ((extent - 1) * stride + 1);
        around.push([front, behind]);
    }
    let cut = around.iter().flatten().any(|&n| n < 0);
    if cut {
        return Err("the paddings of the transposed convolution exceed its filter".to_owned());
    }
    let reversed = [("axis", r.ctx.ints_attr(&[0, 1, 2]))];
    let filter = r.helper(at, pd::Flip::NAME, &[filter], &reversed)?;
    let filter = moved(r, at, filter, &[0, 1, 2, 4, 3])?;
    let borders = Borders {
        steps: outside,
        around: around.into_iter().flatten().collect(),
    };
    let plain = Window {
        strides: [1; 3],
        ..window
    };
    convolve(r, at, value, filter, &plain, &borders)
}

/// A volume with `stride - 1` zeros after each element of an axis but the last.
fn apart(r: &mut Reader<'_>, at: usize, x: ValueId, axis: i64, extent: i64, stride: i64) -> Result<ValueId> {
    let (mut shape, _) = r.dims(x)?;
    let behind = [("axis", r.ctx.ints_attr(&[axis + 1]))];
    let wide = r.helper(at, pd::Unsqueeze::NAME, &[x], &behind)?;
    let mut sizes = vec![0; 12];
    sizes[2 * (axis as usize + 1) + 1] = stride - 1;
    let filled = [
        ("paddings", r.ctx.ints_attr(&sizes)),
        ("pad_value", r.ctx.float_attr(0.0)),
    ];
    let wide = r.helper(at, pd::Pad::NAME, &[wide], &filled)?;
    shape[axis as usize] = extent * stride;
    let flat = r.helper(at, pd::Reshape::NAME, &[wide], &[("shape", r.ctx.ints_attr(&shape))])?;
    let bounds = [
        ("axes", r.ctx.ints_attr(&[axis])),
        ("starts", r.ctx.ints_attr(&[0])),
        ("ends", r.ctx.ints_attr(&[(extent - 1) * stride + 1])),
    ];
    r.helper(at, pd::Slice::NAME, &[flat], &bounds)
}
