//! Operations that are a few operations here.

use pir_dialects::pd;
use pir_ir::ValueId;

use super::super::types::Number;
use super::reader::{Reader, Result};
use super::row::Row;
use super::select::like;
use super::{constants, slices};

pub(super) const TABLE: &[Row] = &[
    ("BatchToSpaceND", "T Tblock_shape Tcrops", "", |r, at| {
        let x = r.operand(at, 0)?;
        let (block, crops) = (r.list(at, 1, "block")?, r.list(at, 2, "crops")?);
        let (dims, all) = blocks(r, x, &block, &crops)?;
        let count = block.len();
        let batch = dims[0] / all;
        // The places in a block come out of the batch, after the axes that they belong to.
        let apart = [&block[..], &[batch], &dims[1..]].concat();
        let mut order = vec![count as i64];
        order.extend((0..count).flat_map(|axis| [(count + 1 + axis) as i64, axis as i64]));
        order.extend((count + 1 + count..apart.len()).map(|axis| axis as i64));
        let apart = r.helper(at, pd::Reshape::NAME, &[x], &[("shape", r.ctx.ints_attr(&apart))])?;
        let moved = r.helper(at, pd::Transpose::NAME, &[apart], &[("perm", r.ctx.ints_attr(&order))])?;
        let mut whole = vec![batch];
        whole.extend((0..count).map(|axis| dims[axis + 1] * block[axis]));
        whole.extend(&dims[count + 1..]);
        let space = r.helper(at, pd::Reshape::NAME, &[moved], &[("shape", r.ctx.ints_attr(&whole))])?;
        let axes: Vec<i64> = (1..=count as i64).collect();
        let starts: Vec<i64> = (0..count).map(|axis| crops[2 * axis]).collect();
        let ends: Vec<i64> = (0..count).map(|axis| whole[axis + 1] - crops[2 * axis + 1]).collect();
        if starts.iter().zip(&ends).any(|(start, end)| start > end) {
            return Err("its result is empty".to_owned());
        }
        let bounds = [
            ("axes", r.ctx.ints_attr(&axes)),
            ("starts", r.ctx.ints_attr(&starts)),
            ("ends", r.ctx.ints_attr(&ends)),
        ];
        r.op(at, pd::Slice::NAME, &[space], &bounds)
    }),
    ("BesselI0", "T", "", |r, at| bessel(r, at, pd::I0::NAME)),
    ("BesselI0e", "T", "", |r, at| bessel(r, at, pd::I0e::NAME)),
    ("BesselI1", "T", "", |r, at| bessel(r, at, pd::I1::NAME)),
    ("BesselI1e", "T", "", |r, at| bessel(r, at, pd::I1e::NAME)),
    ("BiasAddGrad", "T", "data_format=NHWC", |r, at| {
        let x = r.operand(at, 0)?;
        let rank = r.dims(x)?.0.len() as i64;
        let axes: Vec<i64> = (0..rank - 1).collect();
        let attrs = [("axis", r.ctx.ints_attr(&axes)), ("keepdim", r.ctx.bool_attr(false))];
        r.op(at, pd::Sum::NAME, &[x], &attrs)
    }),
    ("DivNoNan", "T T", "", |r, at| {
        let operands = r.operands(at, 2)?;
        let (x, y) = (operands[0], operands[1]);
        // The divisor is exchanged first, so that no gradient meets the quotient by zero.
        let (zero, one) = (like(r, at, y, 0.0)?, like(r, at, y, 1.0)?);
        let nothing = r.helper(at, pd::Equal::NAME, &[y, zero], &[])?;
        let safe = r.helper(at, pd::Where::NAME, &[nothing, one, y], &[])?;
        let quotient = r.helper(at, pd::Divide::NAME, &[x, safe], &[])?;
        let empty = like(r, at, quotient, 0.0)?;
        let shape = r.dims(quotient)?.0;
        let nothing = match r.dims(nothing)?.0 == shape {
            true => nothing,
            false => r.helper(at, pd::Expand::NAME, &[nothing], &[("shape", r.ctx.ints_attr(&shape))])?,
        };
        r.op(at, pd::Where::NAME, &[nothing, empty, quotient], &[])
    }),
    ("EuclideanNorm", "T Tidx", "keep_dims=false", |r, at| {
        let (x, axes) = (r.operand(at, 0)?, r.list(at, 1, "axes")?);
        let square = r.helper(at, pd::Square::NAME, &[x], &[])?;
        let keep = r.ctx.bool_attr(r.flag(at, "keep_dims"));
        let attrs = [("axis", r.ctx.ints_attr(&axes)), ("keepdim", keep)];
        let sum = match axes.is_empty() {
            true => square,
            false => r.helper(at, pd::Sum::NAME, &[square], &attrs)?,
        };
        r.op(at, pd::Sqrt::NAME, &[sum], &[])
    }),
    // TensorFlow leaves what was in memory, unless it is to be cleared.
    ("Empty", "i32", "dtype init=false", |r, at| {
        let (dims, elem) = (r.list(at, 0, "shape")?, r.elem(at, "dtype")?);
        r.flag(at, "init");
        r.tensor(&dims, elem)?;
        let zero = match r.ctx.is_float(elem) {
            true => Number::Float(0.0),
            false => Number::Int(0),
        };
        let attrs = constants::full(r, &dims, zero, elem);
        r.op(at, pd::Full::NAME, &[], &attrs)
    }),
    ("L2Loss", "T", "", |r, at| {
        let x = r.operand(at, 0)?;
        let rank = r.dims(x)?.0.len() as i64;
        let square = r.helper(at, pd::Square::NAME, &[x], &[])?;
        let axes: Vec<i64> = (0..rank).collect();
        let sum = match rank {
            0 => square,
            _ => {
                let all = [("axis", r.ctx.ints_attr(&axes)), ("keepdim", r.ctx.bool_attr(false))];
                r.helper(at, pd::Sum::NAME, &[square], &all)?
            }
        };
        let half = [("scale", r.ctx.float_attr(0.5)), ("bias", r.ctx.float_attr(0.0))];
        r.op(at, pd::Scale::NAME, &[sum], &half)
    }),
    ("MulNoNan", "T T", "", |r, at| {
        r.build(at, 2, |x| {
            // Values that are not finite count for nothing where the other factor is zero.
            let rest = x[0].affine(0.0, 0.0);
            let lost = x[1]
                .equal(x[1].zeros())
                .logical_and(rest.equal(rest.zeros()).logical_not());
            Ok(vec![lost.select(x[0].zeros(), x[0]) * x[1]])
        })
    }),
    ("Ndtri", "T", "", |r, at| {
        let x = r.operand(at, 0)?;
        let mut scaled = |x, scale: f64, bias: f64| {
            let attrs = [("scale", r.ctx.float_attr(scale)), ("bias", r.ctx.float_attr(bias))];
            r.helper(at, pd::Scale::NAME, &[x], &attrs)
        };
        let around = scaled(x, 2.0, -1.0)?;
        let inverse = r.helper(at, pd::Erfinv::NAME, &[around], &[])?;
        let attrs = [
            ("scale", r.ctx.float_attr(std::f64::consts::SQRT_2)),
            ("bias", r.ctx.float_attr(0.0)),
        ];
        r.op(at, pd::Scale::NAME, &[inverse], &attrs)
    }),
    ("Rank", "T", "", |r, at| {
        let x = r.operand(at, 0)?;
        let rank = r.dims(x)?.0.len() as i64;
        let value = Number::Int(rank.into());
        let attrs = constants::full(r, &[], value, pir_ir::Type::I32);
        r.op(at, pd::Full::NAME, &[], &attrs)
    }),
    ("Slice", "T Index Index", "", slice),
    ("SpaceToBatchND", "T Tblock_shape Tpaddings", "", |r, at| {
        let x = r.operand(at, 0)?;
        let (block, borders) = (r.list(at, 1, "block")?, r.list(at, 2, "borders")?);
        let (dims, _) = blocks(r, x, &block, &borders)?;
        let count = block.len();
        let mut sizes = vec![0; 2 * dims.len()];
        sizes[2..2 + borders.len()].copy_from_slice(&borders);
        let attrs = [
            ("paddings", r.ctx.ints_attr(&sizes)),
            ("pad_value", r.ctx.float_attr(0.0)),
        ];
        let wide = r.helper(at, pd::Pad::NAME, &[x], &attrs)?;
        // The places in a block go in front of the batch.
        let (mut apart, mut order, mut whole) = (vec![dims[0]], Vec::new(), vec![dims[0]]);
        for axis in 0..count {
            let extent = dims[axis + 1] + borders[2 * axis] + borders[2 * axis + 1];
            if extent % block[axis] != 0 {
                return Err("its block shape does not match its crops or paddings".to_owned());
            }
            apart.extend([extent / block[axis], block[axis]]);
            order.push(2 * axis as i64 + 2);
            whole.push(extent / block[axis]);
            whole[0] *= block[axis];
        }
        order.push(0);
        order.extend((0..count as i64).map(|axis| 2 * axis + 1));
        order.extend((2 * count + 1..2 * count + dims.len() - count).map(|axis| axis as i64));
        apart.extend(&dims[count + 1..]);
        whole.extend(&dims[count + 1..]);
        let apart = r.helper(at, pd::Reshape::NAME, &[wide], &[("shape", r.ctx.ints_attr(&apart))])?;
        let moved = r.helper(at, pd::Transpose::NAME, &[apart], &[("perm", r.ctx.ints_attr(&order))])?;
        r.op(at, pd::Reshape::NAME, &[moved], &[("shape", r.ctx.ints_attr(&whole))])
    }),
    ("SquaredDifference", "T T", "", |r, at| {
        let operands = r.operands(at, 2)?;
        let apart = r.helper(at, pd::Subtract::NAME, &operands, &[])?;
        r.op(at, pd::Square::NAME, &[apart], &[])
    }),
    ("TensorScatterSub", "T Tindices T", "bad_indices_policy=", |r, at| {
        r.build(at, 3, |x| Ok(vec![x[0].scatter_nd_add(x[1], -x[2])]))
    }),
    ("TruncateDiv", "T T", "", |r, at| {
        // The quotient of integers is truncated already.
        r.build(at, 2, |x| Ok(vec![(x[0] / x[1]).trunc()]))
    }),
    ("TruncateMod", "T T", "", |r, at| {
        r.build(at, 2, |x| Ok(vec![x[0] - (x[0] / x[1]).trunc() * x[1]]))
    }),
    ("Xdivy", "T T", "", |r, at| {
        unless_zero(r, at, 1.0, |r, x, y| r.helper(at, pd::Divide::NAME, &[x, y], &[]))
    }),
    ("Xlog1py", "T T", "", |r, at| {
        unless_zero(r, at, 0.0, |r, x, y| {
            let log = r.helper(at, pd::Log1p::NAME, &[y], &[])?;
            r.helper(at, pd::Multiply::NAME, &[x, log], &[])
        })
    }),
    ("Xlogy", "T T", "", |r, at| {
        unless_zero(r, at, 1.0, |r, x, y| {
            let log = r.helper(at, pd::Log::NAME, &[y], &[])?;
            r.helper(at, pd::Multiply::NAME, &[x, log], &[])
        })
    }),
];

fn bessel(r: &mut Reader<'_>, at: usize, name: &str) -> Result<()> {
    let x = r.operand(at, 0)?;
    r.op(at, name, &[x], &[])
}

/// A function of two operands that is zero where the first one is: there the second one is `harmless`, so that neither its value nor its
/// derivative counts.
fn unless_zero(
    r: &mut Reader<'_>,
    at: usize,
    harmless: f64,
    compute: impl Fn(&mut Reader<'_>, ValueId, ValueId) -> Result<ValueId>,
) -> Result<()> {
    let operands = r.operands(at, 2)?;
    let (x, y) = (operands[0], operands[1]);
    let (zero, other) = (like(r, at, x, 0.0)?, like(r, at, y, harmless)?);
    let is_zero = r.helper(at, pd::Equal::NAME, &[x, zero], &[])?;
    let safe = r.helper(at, pd::Where::NAME, &[is_zero, other, y], &[])?;
    let value = compute(r, x, safe)?;
    let nothing = like(r, at, value, 0.0)?;
    r.op(at, pd::Where::NAME, &[is_zero, nothing, value], &[])
}

/// The shape of a tensor whose axes after the batch are divided into blocks, and the number of places in a block.
fn blocks(r: &Reader<'_>, x: ValueId, block: &[i64], borders: &[i64]) -> Result<(Vec<i64>, i64)> {
    /// Larger numbers are not valid paddings.
    const MOST: i64 = 1 << 20;
    let (dims, _) = r.dims(x)?;
    let places = block
        .iter()
        .try_fold(1i64, |n, &size| n.checked_mul(size).filter(|&n| n <= MOST));
    let (Some(places), true) = (places, dims.len() > block.len() && borders.len() == 2 * block.len()) else {
        return Err("its block shape does not match its crops or paddings".to_owned());
    };
    let sound = block.iter().all(|&size| size > 0)
        && borders.iter().all(|border| (0..=MOST).contains(border))
        && dims.iter().all(|&d| (0..=1 << 31).contains(&d));
    match sound {
        true => Ok((dims, places)),
        false => Err("its shape must be known and divisible by its block shape".to_owned()),
    }
}

/// `Slice`: a size of -1 is all that follows.
fn slice(r: &mut Reader<'_>, at: usize) -> Result<()> {
    let x = r.operand(at, 0)?;
    let sizes = r.list(at, 2, "sizes")?;
    if r.known(at, 1).is_none() {
        return slices::slice_computed(r, at, x, &sizes);
    }
    let starts = r.list(at, 1, "beginnings")?;
    let (dims, _) = r.dims(x)?;
    if starts.len() != dims.len() || sizes.len() != dims.len() {
        return Err("its bounds do not match the rank of its input".to_owned());
    }
    let mut ends = Vec::new();
    for ((&start, &size), &extent) in starts.iter().zip(&sizes).zip(&dims) {
        let end = if size == -1 {
            i64::from(i32::MAX)
        } else {
            start.saturating_add(size)
        };
        let fits = start >= 0 && size >= -1 && (extent < 0 || start <= extent && (size == -1 || end <= extent));
        if !fits {
            return Err(format!(
                "a slice of {size} from {start} is out of the bounds of an axis of {extent}"
            ));
        }
        ends.push(end);
    }
    let axes: Vec<i64> = (0..dims.len() as i64).collect();
    if axes.is_empty() {
        return r.op(at, pd::Assign::NAME, &[x], &[]);
    }
    let attrs = [
        ("axes", r.ctx.ints_attr(&axes)),
        ("starts", r.ctx.ints_attr(&starts)),
        ("ends", r.ctx.ints_attr(&ends)),
    ];
    r.op(at, pd::Slice::NAME, &[x], &attrs)
}
