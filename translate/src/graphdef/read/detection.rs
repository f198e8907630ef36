//! Functions of boxes, of sequences and of bits: boxes that do not overlap, losses of sequences, shifts.

use pir_dialects::pd;
use pir_dialects::stablehlo::ops as hlo;
use pir_ir::{AttrData, Type, TypeData, ValueId};

use super::random::word;
use super::reader::{Reader, Result};
use super::row::Row;
use super::slices::{Bound, stretch};

pub(super) const TABLE: &[Row] = &[
    ("Bitcast", "T", "type", |r, at| {
        let (x, elem) = (r.operand(at, 0)?, r.elem(at, "type")?);
        let (mut dims, from) = r.dims(x)?;
        let (Some(old), Some(new)) = (width(r, from), width(r, elem)) else {
            return Err("bit casts of this element type are not supported".to_owned());
        };
        if new < old {
            dims.push((old / new).into());
        } else if new > old && dims.pop() != Some((new / old).into()) {
            return Err("its last dimension must be the ratio of the bit widths".to_owned());
        }
        let ty = r.tensor(&dims, elem)?;
        let op = r.append(at, hlo::BitcastConvert::NAME, &[x], &[ty], &[])?;
        r.is_node(at, op);
        Ok(())
    }),
    ("LeftShift", "T T", "", |r, at| shift(r, at, true)),
    ("RightShift", "T T", "", |r, at| shift(r, at, false)),
    ("PopulationCount", "T", "", |r, at| {
        let x = r.operand(at, 0)?;
        let ty = r.body.value_type(x);
        let op = r.append(at, hlo::Popcnt::NAME, &[x], &[ty], &[])?;
        let count = r.body.result(op, 0);
        let byte = word(r, 8);
        r.op(at, pd::Cast::NAME, &[count], &[("dtype", r.ctx.type_attr(byte))])
    }),
    ("CTCLoss", "T i64 i32 i32 -> loss gradient", CTC, |r, at| {
        ctc(r, at, false)
    }),
    ("CTCLossV2", "f32 i64 i32 i32 -> loss gradient", CTC, |r, at| {
        ctc(r, at, true)
    }),
    ("NonMaxSuppression", "f32 f32 i32", "iou_threshold=0.5", |r, at| {
        let most = r.float(at, "iou_threshold", 0.5);
        let (kept, _) = suppress(r, at, most, None, false)?;
        r.op(at, pd::Assign::NAME, &[kept], &[])
    }),
    ("NonMaxSuppressionV2", "T T i32 T_threshold", "", |r, at| {
        let most = number(r, at, 3)?;
        let (kept, _) = suppress(r, at, most, None, false)?;
        r.op(at, pd::Assign::NAME, &[kept], &[])
    }),
    ("NonMaxSuppressionV3", "T T i32 T_threshold T_threshold", "", |r, at| {
        let (most, least) = (number(r, at, 3)?, number(r, at, 4)?);
        let (kept, _) = suppress(r, at, most, Some(least), false)?;
        r.op(at, pd::Assign::NAME, &[kept], &[])
    }),
    (
        "NonMaxSuppressionV4",
        "T T i32 T_threshold T_threshold -> selected_indices valid_outputs",
        "pad_to_max_output_size=false",
        |r, at| {
            let (most, least) = (number(r, at, 3)?, number(r, at, 4)?);
            let (kept, count) = suppress(r, at, most, Some(least), r.flag(at, "pad_to_max_output_size"))?;
            r.is_expressed(at, vec![kept, count], &[]);
            Ok(())
        },
    ),
    (
        "NonMaxSuppressionV5",
        "T T i32 T T T -> selected_indices selected_scores valid_outputs",
        "pad_to_max_output_size=false",
        |r, at| {
            let (most, least) = (number(r, at, 3)?, number(r, at, 4)?);
            if number(r, at, 5)? != 0.0 {
                return Err("soft suppression (`soft_nms_sigma` other than 0) is not supported".to_owned());
            }
            let is_padded = r.flag(at, "pad_to_max_output_size");
            let (kept, count) = suppress(r, at, most, Some(least), is_padded)?;
            let scores = r.operand(at, 1)?;
            let scores = r.express(at, &[scores, kept, count], |scope, x| {
                let all = x[0].gather_with(x[1], |o| o.axis(0));
                if !is_padded {
                    return Ok(vec![all]);
                }
                let &[length] = all.dims() else {
                    return Err("its scores must be a vector".to_owned());
                };
                let places = scope.arange_with(|o| o.start(0).end(length).step(1).dtype(Type::I32));
                Ok(vec![places.less_than(x[2]).select(all, all.zeros())])
            })?;
            r.is_expressed(at, vec![kept, scores[0], count], &[]);
            Ok(())
        },
    ),
];

const CTC: &str = "preprocess_collapse_repeated=false ctc_merge_repeated=true ignore_longer_outputs_than_inputs=false";

/// The bits of an element.
fn width(r: &Reader<'_>, elem: Type) -> Option<u32> {
    match r.ctx.type_data(elem) {
        TypeData::Integer {
            width: width @ (8 | 16 | 32 | 64),
            ..
        } => Some(*width),
        TypeData::Float(kind) => Some(kind.bits()),
        _ => None,
    }
}

/// A shift by a number of bits between 0 and the largest one.
fn shift(r: &mut Reader<'_>, at: usize, left: bool) -> Result<()> {
    let operands = r.operands(at, 2)?;
    let elem = r.dims(operands[0])?.1;
    let Some(bits) = width(r, elem) else {
        return Err("its elements must be integers".to_owned());
    };
    let is_unsigned = matches!(
        r.ctx.type_data(elem),
        TypeData::Integer {
            sign: pir_ir::Signedness::Unsigned,
            ..
        }
    );
    let both = r.express(at, &operands, |_, x| {
        let whole = x[0] + x[1].zeros();
        let by = x[1].clip(0.0, f64::from(bits - 1)) + x[0].zeros();
        Ok(vec![whole, by])
    })?;
    let name = match (left, is_unsigned) {
        (true, _) => hlo::ShiftLeft::NAME,
        (false, true) => hlo::ShiftRightLogical::NAME,
        (false, false) => hlo::ShiftRightArithmetic::NAME,
    };
    let ty = r.body.value_type(both[0]);
    let op = r.append(at, name, &both, &[ty], &[])?;
    r.is_node(at, op);
    Ok(())
}

/// A constant float.
fn number(r: &mut Reader<'_>, at: usize, index: usize) -> Result<f64> {
    let value = r.constant(at, index).and_then(|(_, numbers, _)| match numbers[..] {
        [number] => Some(number.f64()),
        _ => None,
    });
    r.input(at, index)?;
    value.ok_or_else(|| format!("its threshold, input {index}, must be a constant"))
}

/// The indices of the boxes of the highest scores that none of a higher score overlaps, and how many there are. A padded list has
/// zeros at its end.
fn suppress(
    r: &mut Reader<'_>,
    at: usize,
    most: f64,
    least: Option<f64>,
    is_padded: bool,
) -> Result<(ValueId, ValueId)> {
    let length = r.scalar(at, 2, "number of boxes")?;
    let (boxes, scores) = (r.operand(at, 0)?, r.operand(at, 1)?);
    let (&[count, 4], Type::F32) = (&r.dims(boxes)?.0[..], r.dims(boxes)?.1) else {
        return Err("its boxes must have shape N×4 and type f32".to_owned());
    };
    if !(0..=1 << 20).contains(&count) || !(0..=1 << 20).contains(&length) {
        return Err("the number of its boxes is unknown, or too large".to_owned());
    }
    let sorted = r.express(at, &[boxes, scores], |scope, x| {
        let order = x[1].detach().argsort_with(|o| o.axis(0).descending(true).stable(true))[1];
        let rows = x[0].detach().gather_with(order, |o| o.axis(0));
        let (a, b) = (rows.cut(1, 0, 2), rows.cut(1, 2, 4));
        Ok(vec![
            scope.concat_with(&[a.minimum(b), a.maximum(b)], |o| o.axis(1)),
            order,
        ])
    })?;
    let ty = r.ctx.tensor(&[-1], Type::I64);
    let op = r.append(
        at,
        pd::Nms::NAME,
        &sorted[..1],
        &[ty],
        &[("threshold", r.ctx.float_attr(most))],
    )?;
    r.is_piece(at, op);
    let kept = r.body.result(op, 0);
    let made = r.express(at, &[kept, sorted[1], scores], |scope, x| {
        // Boxes of a low score come last, so that they overlap none of those before.
        let limit = match least {
            Some(least) if least > f64::NEG_INFINITY => {
                x[2].detach().above(least).cast(Type::I64).sum_with(|o| o.axis([0]))
            }
            _ => scope.full_with(&[], count as f64, |o| o.dtype(Type::I64)),
        };
        let rest = scope.full_with(&[length], count as f64, |o| o.dtype(Type::I64));
        let first = scope
            .concat_with(&[x[0], rest], |o| o.axis(0))
            .cut(0, 0, length)
            .reshape([length]);
        let is_kept = first.less_than(limit);
        let places = is_kept.select(first, first.zeros());
        let indices = x[1].gather_with(places, |o| o.axis(0));
        let indices = is_kept.select(indices, indices.zeros()).cast(Type::I32);
        let found = is_kept.cast(Type::I32).sum_with(|o| o.axis([0])).to(Some(Type::I32));
        Ok(vec![indices, found])
    })?;
    match is_padded {
        true => Ok((made[0], made[1])),
        false => {
            let part = stretch(r, at, made[0], 0, Bound::Known(0), Bound::Computed(made[1]))?;
            Ok((part, made[1]))
        }
    }
}

/// The loss of connectionist temporal classification, and its derivative: the labels are a sparse matrix of known places.
fn ctc(r: &mut Reader<'_>, at: usize, blank_first: bool) -> Result<()> {
    let merges = r.flag_or(at, "ctc_merge_repeated", true);
    let collapses = r.flag(at, "preprocess_collapse_repeated");
    if !merges || collapses || r.flag(at, "ignore_longer_outputs_than_inputs") {
        return Err("repeated labels that are not merged, and labels that are too long, are not supported".to_owned());
    }
    let places = r.list(at, 1, "places of labels")?;
    let (logits, labels, times) = (r.operand(at, 0)?, r.operand(at, 2)?, r.operand(at, 3)?);
    let (&[time, batch, classes], elem) = (&r.dims(logits)?.0[..], r.dims(logits)?.1) else {
        return Err("its logits must have three dimensions".to_owned());
    };
    if time < 0 || !(0..=1 << 20).contains(&batch) || classes < 1 {
        return Err("the shape of its logits is unknown".to_owned());
    }
    let width = places
        .chunks(2)
        .filter_map(|pair| pair.get(1))
        .max()
        .map_or(0, |last| last + 1);
    if !(0..=1 << 16).contains(&width) {
        return Err("an index of its labels is missing".to_owned());
    }
    let count = places.len() as i64 / 2;
    let mut table = vec![count; usize::try_from(batch * width).unwrap_or(0)];
    let mut lengths = vec![0i64; usize::try_from(batch).unwrap_or(0)];
    for (label, pair) in (0..).zip(places.chunks_exact(2)) {
        let row = usize::try_from(pair[0]).ok().filter(|&row| row < lengths.len());
        let row = row.ok_or("the batch index of a label is out of range")?;
        // The labels of a sequence follow each other.
        if pair[1] != lengths[row] {
            return Err("the labels of each sequence must be contiguous and in order".to_owned());
        }
        lengths[row] += 1;
        if let Some(slot) = table.get_mut(row * width as usize + pair[1] as usize) {
            *slot = label;
        }
    }
    let labels = r.express(at, &[labels], |scope, x| {
        let none = scope.full_with(&[1], 0.0, |o| o.dtype(Type::I32));
        let all = scope.concat_with(&[x[0], none], |o| o.axis(0));
        let rows = all.index_select_with(scope.indices(&table), |o| o.axis(0));
        Ok(vec![rows.reshape([batch, width])])
    })?[0];
    let lengths = r.vector(at, &lengths, Type::I64)?;
    let types = [r.tensor(&[batch, 1], elem)?, r.tensor(&[time, batch, classes], elem)?];
    let blank = if blank_first { 0 } else { classes - 1 };
    let attrs = [
        ("blank", r.ctx.int_attr(blank)),
        ("norm_by_times", r.ctx.attr(AttrData::Bool(false))),
    ];
    let op = r.append(at, pd::Warpctc::NAME, &[logits, labels, times, lengths], &types, &attrs)?;
    r.is_piece(at, op);
    let (loss, gradient) = (r.body.result(op, 0), r.body.result(op, 1));
    let values = r.express(at, &[loss, gradient], |_, x| {
        Ok(vec![x[0].reshape([batch]), x[1].detach()])
    })?;
    r.is_expressed(at, values, &[]);
    Ok(())
}
