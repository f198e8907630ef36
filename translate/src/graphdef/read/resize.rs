//! Images of other sizes.

use pir_dialects::pd;
use pir_ir::{Attr, AttrData, Type, ValueId};

use super::nn::moved;
use super::reader::{Input, Reader, Result};
use super::row::Row;

const SIZES: &str = "align_corners=false half_pixel_centers=false";

pub(super) const TABLE: &[Row] = &[
    ("ResizeArea", "T i32", "align_corners=false", |r, at| {
        by_matrices(r, at, area)
    }),
    ("ResizeBicubic", "T i32", SIZES, |r, at| by_matrices(r, at, cubic)),
    ("ResizeBilinear", "T i32", SIZES, |r, at| by_matrices(r, at, linear)),
    ("ResizeBicubicGrad", "f32 T", SIZES, |r, at| back_to_image(r, at, cubic)),
    ("ResizeBilinearGrad", "f32 T", SIZES, |r, at| {
        back_to_image(r, at, linear)
    }),
    ("ResizeNearestNeighbor", "T i32", SIZES, nearest),
    ("ResizeNearestNeighborGrad", "T i32", SIZES, |r, at| {
        let (g, sizes) = (r.operand(at, 0)?, r.list(at, 1, "sizes")?);
        back(r, at, g, &sizes, |scale, row| vec![(scale.nearest(row), 1.0)])
    }),
    (
        "ScaleAndTranslate",
        "T i32 f32 f32",
        "kernel_type=lanczos3 antialias=true",
        scale_and_translate,
    ),
];

/// Where the elements of an axis are read. In single precision, as TensorFlow computes it.
#[derive(Clone, Copy)]
struct Scale {
    from: i64,
    scale: f32,
    aligned: bool,
    centered: bool,
}

impl Scale {
    fn of(r: &Reader<'_>, at: usize, from: i64, to: i64) -> Self {
        let aligned = r.flag(at, "align_corners");
        Scale {
            from,
            scale: match aligned && to > 1 {
                true => (from - 1) as f32 / (to - 1) as f32,
                false => from as f32 / to as f32,
            },
            aligned,
            centered: r.flag(at, "half_pixel_centers"),
        }
    }

    /// The position between elements: `low` is the one below; the second is the distance from it.
    fn place(&self, row: i64) -> (i64, f32) {
        let place = match self.centered {
            true => (row as f32 + 0.5) * self.scale - 0.5,
            false => row as f32 * self.scale,
        };
        (place.floor() as i64, place - place.floor())
    }

    fn inside(&self, place: i64) -> i64 {
        place.clamp(0, self.from - 1)
    }

    /// The nearest element.
    fn nearest(&self, row: i64) -> i64 {
        let place = match (self.aligned, self.centered) {
            (true, _) => (row as f32 * self.scale).round(),
            (false, true) => ((row as f32 + 0.5) * self.scale).floor(),
            (false, false) => (row as f32 * self.scale).floor(),
        };
        self.inside(place as i64)
    }
}

/// The share of each element that a place reads.
type Shares = fn(&Scale, i64) -> Vec<(i64, f64)>;

fn linear(scale: &Scale, row: i64) -> Vec<(i64, f64)> {
    let (low, share) = scale.place(row);
    let share = f64::from(share);
    vec![(scale.inside(low), 1.0 - share), (scale.inside(low + 1), share)]
}

/// The elements that lie in the stretch of a place, by how much of them does.
fn area(scale: &Scale, row: i64) -> Vec<(i64, f64)> {
    let (start, end) = (row as f32 * scale.scale, (row + 1) as f32 * scale.scale);
    let share = |place: i64| {
        let (low, high) = ((place as f32).max(start), ((place + 1) as f32).min(end));
        (scale.inside(place), f64::from((high - low) / scale.scale))
    };
    (start.floor() as i64..end.ceil() as i64).map(share).collect()
}

/// Keys' convolution with a cubic kernel; with centered pixels those of its four elements that exist count, without them what is
/// outside is the outermost element. TensorFlow knows 1024 places between two elements.
fn cubic(scale: &Scale, row: i64) -> Vec<(i64, f64)> {
    const PLACES: f32 = 1024.0;
    let a = if scale.centered { -0.5 } else { -0.75 };
    let kernel = |x: f64| match x.abs() {
        x if x <= 1.0 => ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0,
        x => ((a * x - 5.0 * a) * x + 8.0 * a) * x - 4.0 * a,
    };
    let (low, share) = scale.place(row);
    let share = f64::from((share * PLACES).round_ties_even() / PLACES);
    let shares = (-1..=2).map(|next| (low + next, kernel(share - next as f64)));
    if !scale.centered {
        return shares.map(|(place, share)| (scale.inside(place), share)).collect();
    }
    let inner: Vec<_> = shares.filter(|&(place, _)| scale.inside(place) == place).collect();
    let sum: f64 = inner.iter().map(|(_, share)| share).sum();
    inner.into_iter().map(|(place, share)| (place, share / sum)).collect()
}

/// A weight by the distance.
type Kernel = fn(f32) -> f32;

/// A kernel of `ScaleAndTranslate`, and how far it reaches.
fn kernel(name: &str) -> Result<(f32, Kernel)> {
    fn lanczos(x: f32, reach: f32) -> f32 {
        use std::f32::consts::PI;
        match x {
            x if x > reach => 0.0,
            x if x <= 1e-3 => 1.0,
            x => reach * (PI * x).sin() * (PI * x / reach).sin() / (PI * PI * x * x),
        }
    }
    Ok(match name {
        "lanczos1" => (1.0, |x| lanczos(x, 1.0)),
        "lanczos3" => (3.0, |x| lanczos(x, 3.0)),
        "lanczos5" => (5.0, |x| lanczos(x, 5.0)),
        "gaussian" => (1.5, |x| if x >= 1.5 { 0.0 } else { (-2.0 * x * x).exp() }),
        "box" => (0.5, |x| match x {
            x if x < 0.5 => 1.0,
            x if x > 0.5 => 0.0,
            _ => 0.5,
        }),
        "triangle" => (1.0, |x| (1.0 - x).max(0.0)),
        "keyscubic" => (2.0, |x| match x {
            x if x >= 2.0 => 0.0,
            x if x >= 1.0 => ((-0.5 * x + 2.5) * x - 4.0) * x + 2.0,
            x => ((1.5 * x - 2.5) * x) * x + 1.0,
        }),
        "mitchellcubic" => (2.0, |x| match x {
            x if x >= 2.0 => 0.0,
            x if x >= 1.0 => (((-7.0 / 18.0) * x + 2.0) * x - 10.0 / 3.0) * x + 16.0 / 9.0,
            x => (((7.0 / 6.0) * x - 2.0) * x) * x + 8.0 / 9.0,
        }),
        other => return Err(format!("the kernel `{other}` is not supported")),
    })
}

/// The floats that follow from constants and shapes: how much larger an image is to be.
fn known(r: &Reader<'_>, input: Input, depth: usize) -> Option<Vec<f32>> {
    /// Longer computations are none of scales.
    const DEEPEST: usize = 8;
    if let Some(constant) = r.computed(input) {
        return Some(constant.1.iter().map(|n| n.f64() as f32).collect());
    }
    let part = |index: usize| known(r, *r.inputs[input.node].get(index)?, depth + 1);
    match r.nodes[input.node].op.as_str() {
        _ if depth > DEEPEST => None,
        "Cast" | "Identity" => part(0),
        "Div" | "RealDiv" => {
            let (a, b) = (part(0)?, part(1)?);
            let at = |list: &[f32], i: usize| list.get(i.min(list.len().checked_sub(1)?)).copied();
            (0..a.len().max(b.len()))
                .map(|i| Some(at(&a, i)? / at(&b, i)?))
                .collect()
        }
        _ => None,
    }
}

/// `ScaleAndTranslate`: each row and each column is a sum of those around a place, by a kernel.
fn scale_and_translate(r: &mut Reader<'_>, at: usize) -> Result<()> {
    let (x, sizes) = (r.operand(at, 0)?, r.list(at, 1, "sizes")?);
    let (reach, kernel) = kernel(&r.text(at, "kernel_type").unwrap_or_else(|| "lanczos3".to_owned()))?;
    let antialias = r.flag_or(at, "antialias", true);
    let numbers = |index| -> Result<[f32; 2]> {
        let input = r.input(at, index)?;
        match known(r, input, 0).ok_or("its scale and translation must be constants")?[..] {
            [a, b] => Ok([a, b]),
            [a] => Ok([a; 2]),
            _ => Err("its scale and translation must be two numbers".to_owned()),
        }
    };
    let (scales, shifts) = (numbers(2)?, numbers(3)?);
    let shares = |axis: usize, from: i64, row: i64| {
        let inverse = 1.0 / scales[axis];
        let wide = if antialias { inverse.max(1.0) } else { 1.0 };
        let place = (row as f32 + 0.5) * inverse - inverse * shifts[axis];
        if !(0.0..=from as f32).contains(&place) {
            return Vec::new();
        }
        let inside = |end: f32| (end as i64).clamp(0, from - 1);
        let first = inside((place - reach * wide - 0.5).ceil());
        let last = inside((place + reach * wide - 0.5).floor());
        let share = |source: i64| kernel(((source as f32 + 0.5 - place) / wide).abs());
        let sum: f32 = (first..=last).map(share).sum();
        let sum = if sum.abs() >= 1000.0 * f32::MIN_POSITIVE {
            sum
        } else {
            1.0
        };
        (first..=last)
            .map(|source| (source, f64::from(share(source) / sum)))
            .collect()
    };
    with_matrices(r, at, x, &sizes, false, |_, axis, from, _, row| shares(axis, from, row))
}

/// Each row and each column of the result is a sum of few. So they are products with matrices.
fn by_matrices(r: &mut Reader<'_>, at: usize, shares: Shares) -> Result<()> {
    let (x, sizes) = (r.operand(at, 0)?, r.list(at, 1, "sizes")?);
    // The result has elements of f32, whatever those of the image are.
    let x = r.of_elem(at, x, Type::F32)?;
    with_matrices(r, at, x, &sizes, false, |r, _, from, to, row| {
        shares(&Scale::of(r, at, from, to), row)
    })
}

/// The gradient of an image that was resized: the same matrices, transposed.
fn back_to_image(r: &mut Reader<'_>, at: usize, shares: Shares) -> Result<()> {
    let (g, image) = (r.operand(at, 0)?, r.operand(at, 1)?);
    let sizes = match r.dims(image)?.0[..] {
        [_, height, width, _] => [height, width],
        _ => return Err("its image must have four dimensions".to_owned()),
    };
    let elem = r.dims(image)?.1;
    back(r, at, g, &sizes, shares)?;
    let [value] = r.values[at][..] else { return Ok(()) };
    match elem {
        Type::F32 => Ok(()),
        elem => r.op(at, pd::Cast::NAME, &[value], &[("dtype", r.ctx.type_attr(elem))]),
    }
}

fn back(r: &mut Reader<'_>, at: usize, g: ValueId, sizes: &[i64], shares: Shares) -> Result<()> {
    with_matrices(r, at, g, sizes, true, |r, _, from, to, row| {
        shares(&Scale::of(r, at, from, to), row)
    })
}

/// The same for shares by the axis, its extents before and after, and the place. With `back`, the gradient of an image of these sizes.
fn with_matrices(
    r: &mut Reader<'_>,
    at: usize,
    x: ValueId,
    sizes: &[i64],
    back: bool,
    shares: impl Fn(&Reader<'_>, usize, i64, i64, i64) -> Vec<(i64, f64)>,
) -> Result<()> {
    /// A larger image is not resized by a matrix.
    const MOST: i64 = 1 << 11;
    let (dims, elem) = r.dims(x)?;
    let (&[_, height, width, _], &[high, wide]) = (&dims[..], sizes) else {
        return Err("its input must have four dimensions".to_owned());
    };
    if [height, width, high, wide].iter().any(|n| !(1..=MOST).contains(n)) || !r.ctx.is_float(elem) {
        return Err("its sizes are unknown or too large".to_owned());
    }
    let matrix = |r: &mut Reader<'_>, axis: usize, from: i64, to: i64| {
        let (from, to) = if back { (to, from) } else { (from, to) };
        let mut weights = vec![0.0; (from * to) as usize];
        for row in 0..to {
            for (place, share) in shares(r, axis, from, to, row) {
                weights[(row * from + place) as usize] += share;
            }
        }
        let values: Vec<Attr> = weights.into_iter().map(|w| r.ctx.float_attr(w)).collect();
        let attrs = [
            ("shape", r.ctx.ints_attr(&[to, from])),
            ("dtype", r.ctx.type_attr(elem)),
            ("values", r.ctx.attr(AttrData::Array(values.into()))),
        ];
        r.helper(at, pd::AssignValue::NAME, &[], &attrs)
    };
    let image = moved(r, at, x, &[0, 3, 1, 2])?;
    let (rows, columns) = (matrix(r, 0, height, high)?, matrix(r, 1, width, wide)?);
    let flipped = [("transpose_x", r.ctx.bool_attr(back))];
    let tall = r.helper(at, pd::Matmul::NAME, &[rows, image], &flipped)?;
    let flipped = [("transpose_y", r.ctx.bool_attr(!back))];
    let broad = r.helper(at, pd::Matmul::NAME, &[tall, columns], &flipped)?;
    let last = [("perm", r.ctx.ints_attr(&[0, 2, 3, 1]))];
    r.op(at, pd::Transpose::NAME, &[broad], &last)
}

/// `ResizeNearestNeighbor`: rows are repeated by a whole factor, or selected.
fn nearest(r: &mut Reader<'_>, at: usize) -> Result<()> {
    /// A longer axis is not selected from by a list.
    const MOST: i64 = 1 << 16;
    let (x, sizes) = (r.operand(at, 0)?, r.list(at, 1, "sizes")?);
    let (dims, _) = r.dims(x)?;
    let mut value = x;
    for (axis, &size) in [1usize, 2].into_iter().zip(&sizes) {
        let extent = dims.get(axis).copied().unwrap_or(-1);
        let scale = Scale::of(r, at, extent, size);
        if extent < 1 || !(1..=MOST).contains(&size) {
            return Err("its sizes are unknown or too large".to_owned());
        }
        value = match size % extent == 0 && !scale.aligned {
            true => repeated(r, at, value, axis, size / extent)?,
            false => {
                let rows: Vec<i64> = (0..size).map(|row| scale.nearest(row)).collect();
                let rows = r.helper(at, pd::FullIntArray::NAME, &[], &[("value", r.ctx.ints_attr(&rows))])?;
                let along = [("axis", r.ctx.int_attr(axis as i64))];
                r.helper(at, pd::IndexSelect::NAME, &[value, rows], &along)?
            }
        };
    }
    r.op(at, pd::Assign::NAME, &[value], &[])
}

/// Each row is repeated: a new axis after it, which is merged with it.
fn repeated(r: &mut Reader<'_>, at: usize, x: ValueId, axis: usize, factor: i64) -> Result<ValueId> {
    let behind = [("axis", r.ctx.ints_attr(&[axis as i64 + 1]))];
    let wide = r.helper(at, pd::Unsqueeze::NAME, &[x], &behind)?;
    let mut times = vec![1; 5];
    times[axis + 1] = factor;
    let times = [("repeat_times", r.ctx.ints_attr(&times))];
    let many = r.helper(at, pd::Tile::NAME, &[wide], &times)?;
    let (mut shape, _) = r.dims(x)?;
    shape[axis] *= factor;
    r.helper(at, pd::Reshape::NAME, &[many], &[("shape", r.ctx.ints_attr(&shape))])
}
