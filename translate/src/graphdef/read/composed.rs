//! Operations that are a few operations here.

use pir_dialects::pd;

use super::ops::Row;
use super::select::like;
use super::{Reader, Result};

pub(super) const TABLE: &[Row] = &[
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
    ("Rank", "T", "", |r, at| {
        let x = r.operand(at, 0)?;
        let rank = r.dims(x)?.0.len() as i64;
        let value = super::types::Number::Int(rank.into());
        let attrs = super::constants::full(r, &[], value, pir_ir::Type::I32);
        r.op(at, pd::Full::NAME, &[], &attrs)
    }),
    ("Slice", "T Index Index", "", slice),
    ("SquaredDifference", "T T", "", |r, at| {
        let operands = r.operands(at, 2)?;
        let apart = r.helper(at, pd::Subtract::NAME, &operands, &[])?;
        r.op(at, pd::Square::NAME, &[apart], &[])
    }),
];

/// `Slice`: a size of -1 is all that follows.
fn slice(r: &mut Reader<'_>, at: usize) -> Result<()> {
    let x = r.operand(at, 0)?;
    let (starts, sizes) = (r.list(at, 1, "beginnings")?, r.list(at, 2, "sizes")?);
    let (dims, _) = r.dims(x)?;
    if starts.len() != dims.len() || sizes.len() != dims.len() {
        return Err("its bounds do not fit".to_owned());
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
                "a stretch of {size} from {start} is not in an axis of {extent}"
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
