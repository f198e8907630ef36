//! Numbers rounded to as many steps as integers of few bits have.

use pir_dialects::pd::Expr;

use super::reader::{Reader, Result};
use super::row::Row;

pub(super) const TABLE: &[Row] = &[
    (
        "FakeQuantWithMinMaxArgs",
        "f32",
        "min=-6 max=6 num_bits=8 narrow_range=false",
        |r, at| {
            let (low, high) = (r.float(at, "min", -6.0), r.float(at, "max", 6.0));
            let steps = steps(r, at);
            r.build(at, 1, |x| {
                let (low, high) = (x[0].scope().full(&[], low), x[0].scope().full(&[], high));
                Ok(vec![quantized(x[0], low, high, steps)])
            })
        },
    ),
    (
        "FakeQuantWithMinMaxVars",
        "f32 f32 f32",
        "num_bits=8 narrow_range=false",
        |r, at| {
            let steps = steps(r, at);
            r.build(at, 3, |x| Ok(vec![quantized(x[0], x[1], x[2], steps)]))
        },
    ),
    (
        "FakeQuantWithMinMaxVarsPerChannel",
        "f32 f32 f32",
        "num_bits=8 narrow_range=false",
        |r, at| {
            let steps = steps(r, at);
            r.build(at, 3, |x| Ok(vec![quantized(x[0], x[1], x[2], steps)]))
        },
    ),
    (
        "QuantizeAndDequantizeV2",
        "T T T",
        "signed_input=true num_bits=8 range_given=false round_mode=HALF_TO_EVEN narrow_range=false axis=-1",
        |r, at| {
            let range = Range::of(r, at, r.int(at, "num_bits").unwrap_or(8))?;
            r.build(at, 3, |x| Ok(vec![range.through(x)?]))
        },
    ),
    (
        "QuantizeAndDequantizeV3",
        "T T T i32",
        "signed_input=true range_given=true narrow_range=false axis=-1",
        |r, at| {
            let bits = r.scalar(at, 3, "number of bits")?;
            let range = Range::of(r, at, bits)?;
            r.build(at, 3, |x| Ok(vec![range.through(x)?]))
        },
    ),
    (
        "QuantizeAndDequantizeV4",
        "T T T",
        "signed_input=true num_bits=8 range_given=false round_mode=HALF_TO_EVEN narrow_range=false axis=-1",
        |r, at| {
            let range = Range::of(r, at, r.int(at, "num_bits").unwrap_or(8))?;
            r.build(at, 3, |x| Ok(vec![range.inside(x)?]))
        },
    ),
];

/// The numbers of the lowest and the highest step of a quantization.
fn steps(r: &Reader<'_>, at: usize) -> [f64; 2] {
    let bits = r.int(at, "num_bits").unwrap_or(8).clamp(2, 16);
    [
        f64::from(u8::from(r.flag(at, "narrow_range"))),
        f64::from((1u32 << bits) - 1),
    ]
}

/// Numbers rounded to steps between two ends, which are moved so that zero is a step. The derivative is that of the clamped number.
fn quantized<'c>(x: Expr<'c>, low: Expr<'c>, high: Expr<'c>, [first, last]: [f64; 2]) -> Expr<'c> {
    let scale = (high - low).affine(1.0 / (last - first), 0.0);
    let zero = first - low / scale;
    let zero = zero.clip(first, last).affine(1.0, 0.5).floor();
    let least = ((first - zero) * scale).detach();
    let most = ((last - zero) * scale).detach();
    let (below, above) = (x.less_than(least), x.greater_than(most));
    // The ends have the derivative of what they cut off.
    let ends = [(least, low), (most, high)].map(|(end, own)| (end + (own - own.detach())).expand_like(x));
    let kept = below.select(ends[0], above.select(ends[1], x));
    let (kept_there, scale) = (kept.detach(), scale.detach());
    let steps = ((kept_there - least) / scale).affine(1.0, 0.5).floor() * scale + least;
    kept + (steps - kept_there).detach()
}

/// The integers that numbers are rounded to, and how.
struct Range {
    least: f64,
    most: f64,
    given: bool,
    /// Whether halves are rounded up rather than to even integers.
    up: bool,
    /// The axis along which each part has a range of its own.
    axis: Option<usize>,
}

impl Range {
    fn of(r: &Reader<'_>, at: usize, bits: i64) -> Result<Range> {
        if !(1..=62).contains(&bits) {
            return Err("its number of bits is out of range".to_owned());
        }
        let (signed, narrow) = (r.flag_or(at, "signed_input", true), r.flag(at, "narrow_range"));
        // Only the third version takes its number of bits as an input, and its range as given.
        let given = r.flag_or(at, "range_given", r.num_inputs(at) == 4);
        let up = match r.text(at, "round_mode").as_deref() {
            None | Some("HALF_TO_EVEN") => false,
            Some("HALF_UP") => true,
            Some(other) => return Err(format!("its `round_mode` {other} is not known")),
        };
        let half = 2f64.powi(bits as i32 - 1);
        let (least, most) = match signed {
            true => (-half, half - 1.0),
            false => (0.0, 2.0 * half - 1.0),
        };
        Ok(Range {
            least: if narrow { least + 1.0 } else { least },
            most,
            given,
            up,
            axis: usize::try_from(r.int(at, "axis").unwrap_or(-1)).ok(),
        })
    }

    /// The two inputs that name the smallest and the largest number.
    fn named<'c>(&self, x: &[Expr<'c>]) -> Result<[Expr<'c>; 2]> {
        let mut shape = vec![1; x[0].rank()];
        if let Some(axis) = self.axis {
            *shape.get_mut(axis).ok_or("its `axis` is out of range")? = -1;
            return Ok([x[1], x[2]].map(|end| end.reshape(&shape[..])));
        }
        Ok([x[1], x[2]].map(|end| end.reshape([])))
    }

    /// The smallest and the largest number.
    fn ends<'c>(&self, x: &[Expr<'c>]) -> Result<[Expr<'c>; 2]> {
        let image = x[0];
        let others: Vec<i64> = (0..image.rank() as i64)
            .filter(|&axis| Some(axis as usize) != self.axis)
            .collect();
        Ok(match self.axis {
            _ if self.given => self.named(x)?,
            _ if image.rank() == 0 => [image, image],
            None => [image.min(), image.max()],
            Some(_) => [
                image.min_with(|o| o.axis(&others[..]).keepdim(true)),
                image.max_with(|o| o.axis(&others[..]).keepdim(true)),
            ],
        })
    }

    /// The numbers of the steps, without a derivative.
    fn rounded<'c>(&self, x: Expr<'c>, [low, high]: [Expr<'c>; 2]) -> Expr<'c> {
        let (x, low, high) = (x.detach(), low.detach(), high.detach());
        // An end whose integer has another sign, or is zero, does not determine the scale.
        let side = |integer: f64, end: Expr<'c>| {
            let says = (end * integer).above(0.0);
            let scale = end.filled(integer) / says.select(end, end.ones());
            says.select(scale, end.filled(f64::from(f32::MAX)))
        };
        let (of_low, of_high) = (side(self.least, low), side(self.most, high));
        let by_low = of_low.less_than(of_high);
        let integer = by_low.select(low.filled(self.least), low.filled(self.most));
        let end = by_low.select(low, high);
        let scale = by_low.select(of_low, of_high);
        let inverse = end / integer;
        let least = by_low.select(low, inverse.affine(self.least, 0.0));
        let most = by_low.select(inverse.affine(self.most, 0.0), high);
        let kept = match self.given {
            true => x.minimum(most).maximum(least),
            false => x,
        };
        let steps = kept * scale;
        let steps = match self.up {
            true => steps.affine(1.0, 0.5).floor(),
            false => steps.round(),
        };
        // Rounding may lead beyond the ends.
        let steps = match self.given {
            true => steps,
            false => steps.clip(self.least, self.most),
        };
        steps * inverse
    }

    /// The derivative is one.
    fn through<'c>(&self, x: &[Expr<'c>]) -> Result<Expr<'c>> {
        let steps = self.rounded(x[0], self.ends(x)?);
        Ok(steps.detach() + (x[0] - x[0].detach()))
    }

    /// The derivative is one between the ends that the inputs name, also where these are not the range, and zero beyond them, as in
    /// TensorFlow; the ends themselves have none.
    fn inside<'c>(&self, x: &[Expr<'c>]) -> Result<Expr<'c>> {
        let steps = self.rounded(x[0], self.ends(x)?);
        let (image, [low, high]) = (x[0], self.named(x)?);
        let beyond = image.less_than(low).logical_or(image.greater_than(high));
        Ok(steps.detach() + beyond.select(image.zeros(), image - image.detach()))
    }
}
