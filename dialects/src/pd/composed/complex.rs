//! Complex numbers and Fourier transforms, by the operations of StableHLO for them.

use std::f64::consts::PI;

use super::{Call, Compose, Expr, fits_in_table};
use crate::stablehlo::compute::{complex, conjugate, imaginary, real};
use crate::stablehlo::from_pd::{array, dialect};
use crate::stablehlo::ops as hlo;

pub(super) const OPS: &[(&str, Compose)] = &[
    ("complex", |op| {
        let [re, im] = op.spread(["real", "imag"])?;
        Ok(vec![complex(re, im)])
    }),
    ("real", |op| Ok(vec![real(op.x("x")?)])),
    ("imag", |op| Ok(vec![imaginary(op.x("x")?)])),
    ("conj", |op| Ok(vec![conjugate(op.x("x")?)])),
    ("angle", |op| {
        let x = op.x("x")?;
        Ok(vec![match x.is_complex() {
            true => imaginary(x).atan2(real(x)),
            false => x.less_than(x.zeros()).select(x.filled(PI), x.zeros()),
        }])
    }),
    ("as_complex", |op| {
        let x = op.x("x")?;
        let last = x.rank().checked_sub(1).ok_or("`x` must have at least one dimension")?;
        let [re, im] = [0, 1].map(|k| x.cut(last, k, k + 1).squeeze_with(|o| o.axis([last as i64])));
        Ok(vec![complex(re, im)])
    }),
    ("as_real", |op| {
        let x = op.x("x")?;
        Ok(vec![op.scope.stack_with(&[real(x), imaginary(x)], |o| o.axis(-1))])
    }),
    ("fft_c2c", |op| {
        let (x, lines) = Lines::of(op)?;
        let kind = if op.flag("forward")? { "FFT" } else { "IFFT" };
        let sizes = lines.sizes(x);
        Ok(vec![lines.back(lines.transformed(x, kind, &sizes)?, &sizes)])
    }),
    ("fft_r2c", |op| {
        let (x, lines) = Lines::of(op)?;
        let (sizes, forward) = (lines.sizes(x), op.flag("forward")?);
        let out = match (op.flag("onesided")?, forward) {
            (true, _) => lines.transformed(x, "RFFT", &sizes)?,
            (false, _) => lines.transformed(complex(x, x.zeros()), "FFT", &sizes)?,
        };
        // For real input, the transform with the other sign is the conjugate.
        let out = if forward { out } else { conjugate(out) };
        Ok(vec![lines.back(out, &sizes)])
    }),
    ("fft_c2r", |op| {
        let (x, lines) = Lines::of(op)?;
        let (mut sizes, rank) = (lines.sizes(x), x.rank());
        let (half, whole) = match (sizes.last().copied(), op.int("last_dim_size")?) {
            (Some(half), 0) => (half, 2 * (half - 1)),
            (Some(half), whole) => (half, whole),
            (None, _) => return Err("`x` must have at least one dimension".to_owned()),
        };
        if whole < 1 || half < whole / 2 + 1 {
            return Err("the last dimension of `x` is too short for `last_dim_size`".to_owned());
        }
        let x = if half == whole / 2 + 1 {
            x
        } else {
            x.cut(rank - 1, 0, whole / 2 + 1)
        };
        let x = if op.flag("forward")? { conjugate(x) } else { x };
        let last = sizes.len() - 1;
        sizes[last] = whole;
        Ok(vec![lines.back(lines.transformed(x, "IRFFT", &sizes)?, &sizes)])
    }),
    ("frame", |op| {
        let (x, length, hop) = (op.x("x")?, op.int("frame_length")?, op.int("hop_length")?);
        let (index, shape) = frames(&op.shape("x")?, op.int("axis")?, length, hop)?;
        let axis = if op.int("axis")? == 0 { 0 } else { x.rank() as i64 - 1 };
        let taken = x.index_select_with(op.scope.indices(&index), |o| o.axis(axis));
        Ok(vec![taken.reshape(shape)])
    }),
    ("overlap_add", |op| {
        let (x, shape, hop) = (op.x("x")?, op.shape("x")?, op.int("hop_length")?);
        let is_first = op.int("axis")? == 0;
        // The sum of what `frame` would take from each place.
        let (length, count, mut whole) = match (is_first, &shape[..]) {
            (true, &[count, length, ref rest @ ..]) => (length, count, [&[0], rest].concat()),
            (false, &[ref rest @ .., length, count]) => (length, count, [rest, &[0]].concat()),
            _ => return Err("`x` must have at least two dimensions".to_owned()),
        };
        let at = if is_first { 0 } else { whole.len() - 1 };
        whole[at] = (count - 1) * hop + length;
        let (index, _) = frames(&whole, op.int("axis")?, length, hop)?;
        let elem = x.elem().ok_or("the element type of `x` is unknown")?;
        let zeros = op.scope.full_of(op.scope.context().tensor(&whole, elem), 0.0);
        whole[at] = length * count;
        let flat = x.reshape(whole);
        Ok(vec![
            zeros.index_add_with(op.scope.indices(&index), flat, |o| o.axis(at as i64)),
        ])
    }),
];

/// The place of each number of each frame, and the shape of all: a frame is a column, or a row where the axis is the first.
fn frames(shape: &[i64], axis: i64, length: i64, hop: i64) -> Result<(Vec<i64>, Vec<i64>), String> {
    let Some((&size, rest)) = (if axis == 0 {
        shape.split_first()
    } else {
        shape.split_last()
    }) else {
        return Err("`x` must have at least one dimension".to_owned());
    };
    if length < 1 || hop < 1 || size < length {
        return Err(
            "`frame_length` and `hop_length` must be positive, and `frame_length` at most the extent of the axis"
                .to_owned(),
        );
    }
    let count = (size - length) / hop + 1;
    fits_in_table(&[count, length])?;
    Ok(match axis {
        0 => (
            (0..count * length).map(|at| at / length * hop + at % length).collect(),
            [&[count, length], rest].concat(),
        ),
        _ => (
            (0..length * count).map(|at| at % count * hop + at / count).collect(),
            [rest, &[length, count]].concat(),
        ),
    })
}

/// The axes of a transform, which are made the last ones.
struct Lines {
    /// The order of the dimensions in which they are.
    order: Vec<i64>,
    count: usize,
    /// The exponent of the scale of sums, as a power of the number of terms.
    power: f64,
}

impl Lines {
    /// The operand with its dimensions in order.
    fn of<'c>(op: &Call<'c>) -> Result<(Expr<'c>, Self), String> {
        let (x, rank) = (op.x("x")?, op.shape("x")?.len() as i64);
        let axes = op.ints("axes")?;
        let axes: Vec<i64> = axes
            .iter()
            .map(|&axis| if axis < 0 { axis + rank } else { axis })
            .collect();
        let mut order: Vec<i64> = (0..rank).filter(|axis| !axes.contains(axis)).collect();
        order.extend(&axes);
        if order.len() as i64 != rank || axes.is_empty() || axes.len() > 3 {
            return Err("`axes` must name one to three dimensions".to_owned());
        }
        let power = match (&*op.text("normalization")?, op.flag("forward")?) {
            ("backward", true) | ("forward", false) => 0.0,
            ("backward", false) | ("forward", true) => -1.0,
            ("ortho", _) => -0.5,
            (other, _) => {
                return Err(format!(
                    "`normalization` must be `backward`, `ortho` or `forward`, not `{other}`"
                ));
            }
        };
        let count = axes.len();
        let lines = Lines { order, count, power };
        Ok((lines.turned(x, &lines.order), lines))
    }

    fn turned<'c>(&self, x: Expr<'c>, order: &[i64]) -> Expr<'c> {
        match order.is_sorted() {
            true => x,
            false => x.transpose(order),
        }
    }

    fn sizes(&self, x: Expr<'_>) -> Vec<i64> {
        x.dims()[x.rank() - self.count..].to_vec()
    }

    /// Sums without a factor.
    fn transformed<'c>(&self, x: Expr<'c>, kind: &str, sizes: &[i64]) -> Result<Expr<'c>, String> {
        let ctx = x.scope().context();
        let attrs = [
            ("fft_type", dialect(ctx, &format!("<fft_type {kind}>"))),
            ("fft_length", array(ctx, sizes)),
        ];
        let made = x.scope().build(hlo::Fft::NAME, x.id().as_slice(), &attrs, None);
        let out = made
            .first()
            .copied()
            .ok_or("the type of the transform cannot be inferred")?;
        // The inverse has divided by their number.
        Ok(match kind.starts_with('I') {
            true => out * sizes.iter().map(|&size| size as f64).product::<f64>(),
            false => out,
        })
    }

    /// The result with its factor, and with its dimensions as they were.
    fn back<'c>(&self, x: Expr<'c>, sizes: &[i64]) -> Expr<'c> {
        let terms: f64 = sizes.iter().map(|&size| size as f64).product();
        let mut order = vec![0; self.order.len()];
        (0..).zip(&self.order).for_each(|(at, &axis)| order[axis as usize] = at);
        let scaled = if self.power == 0.0 {
            x
        } else {
            x * terms.powf(self.power)
        };
        self.turned(scaled, &order)
    }
}
