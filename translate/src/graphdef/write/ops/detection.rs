//! Functions of boxes, of sequences, of volumes and of bits.

use pir_dialects::stablehlo::ops;
use pir_ir::{Type, TypeData};

use super::super::super::proto::{ListValue, Value};
use super::super::super::types::{BOOL, INT32, INT64, Number};
use super::super::emit::{Emit, Result};
use super::Write;
use super::shape::transpose;

pub(super) const TABLE: &[(&str, Write)] = &[
    ("gammaincc", |e| {
        let (inputs, elem) = ([e.input(0)?, e.input(1)?], e.elem()?);
        e.node("Igammac", &inputs, &[("T", e.dtype(elem)?)]);
        Ok(())
    }),
    // The boxes are in the order of their scores.
    ("nms", |e| {
        let (boxes, (dims, elem)) = (e.input(0)?, e.operand_type(0)?);
        let count = dims.first().copied().filter(|&n| n >= 0 && elem == Type::F32);
        let count = count.ok_or("its boxes must be a known number of f32 boxes")?;
        let (zero, less) = (e.num(0.0, Type::F32)?, e.num(-1.0, Type::F32)?);
        let end = e.num(-(count as f64), Type::F32)?;
        let scores = e.op("Range", &[zero, end, less], &[("Tidx", e.dtype(Type::F32)?)]);
        let most = e.constant(INT32, &[], &[Number::Int(count.into())])?;
        let threshold = e.number("threshold", 1.0, Type::F32)?;
        let least = e.num(f64::NEG_INFINITY, Type::F32)?;
        let attrs = [("T", e.dtype(elem)?), ("T_threshold", e.dtype(elem)?)];
        let kept = e.op("NonMaxSuppressionV3", &[boxes, scores, most, threshold, least], &attrs);
        let out = e.cast(kept, Type::I32, Type::I64)?;
        e.result(0, out)
    }),
    ("pool3d_grad", pool3d_grad),
    (ops::BitcastConvert::NAME, |e| {
        let (x, from, to) = (e.input(0)?, e.elem()?, e.result_type(0)?.1);
        e.node("Bitcast", &[x], &[("T", e.dtype(from)?), ("type", e.dtype(to)?)]);
        Ok(())
    }),
    (ops::Popcnt::NAME, |e| {
        let (x, elem) = (e.input(0)?, e.elem()?);
        let count = e.op("PopulationCount", &[x], &[("T", e.dtype(elem)?)]);
        let byte = e.w.ctx.intern_type(TypeData::Integer {
            width: 8,
            sign: pir_ir::Signedness::Unsigned,
        });
        let out = e.cast(count, byte, elem)?;
        e.result(0, out)
    }),
    (ops::ShiftLeft::NAME, |e| shift(e, "LeftShift", Beyond::Zero)),
    (ops::ShiftRightArithmetic::NAME, |e| {
        shift(e, "RightShift", Beyond::Sign)
    }),
    (ops::ShiftRightLogical::NAME, |e| shift(e, "RightShift", Beyond::Zero)),
    ("warpctc", ctc),
];

/// What a shift by all bits or more gives.
#[derive(Clone, Copy, PartialEq)]
enum Beyond {
    Zero,
    Sign,
}

/// TensorFlow shifts by a number of bits between 0 and the largest one.
fn shift(e: &mut Emit<'_, '_>, op: &str, beyond: Beyond) -> Result<()> {
    let (x, by, elem) = (e.input(0)?, e.input(1)?, e.elem()?);
    let TypeData::Integer { width, sign } = *e.w.ctx.type_data(elem) else {
        return Err("its elements must be integers".to_owned());
    };
    let is_unsigned = sign == pir_ir::Signedness::Unsigned;
    if op == "RightShift" && is_unsigned == (beyond == Beyond::Sign) {
        return Err("in TensorFlow, the element type selects between arithmetic and logical shifts".to_owned());
    }
    let (bits, zero) = (e.num(f64::from(width), elem)?, e.num(0.0, elem)?);
    let above = e.binary("GreaterEqual", &by, &zero, elem)?;
    let below = e.binary("Less", &by, &bits, elem)?;
    let inside = e.op("LogicalAnd", &[above, below], &[]);
    let out = match beyond {
        Beyond::Zero => {
            let out = e.binary(op, &x, &by, elem)?;
            e.select(&inside, &out, &zero, elem)?
        }
        Beyond::Sign => {
            let last = e.num(f64::from(width - 1), elem)?;
            let by = e.select(&inside, &by, &last, elem)?;
            e.binary(op, &x, &by, elem)?
        }
    };
    e.result(0, out)
}

/// The loss of sequences: TensorFlow's labels are a sparse matrix, and its blank is the last class.
fn ctc(e: &mut Emit<'_, '_>) -> Result<()> {
    let ((logits, elem), (shape, of)) = (e.operand_type(0)?, e.operand_type(1)?);
    let (&[_, batch, classes], &[_, width], true) = (&logits[..], &shape[..], of == Type::I32) else {
        return Err("its shapes must be known, and its labels i32".to_owned());
    };
    if batch < 0 || classes < 1 || width < 0 || e.view.int("blank").unwrap_or(0) != classes - 1 {
        return Err("a blank that is not the last class has no equivalent in TensorFlow".to_owned());
    }
    if e.flag("norm_by_times", false) || e.num_operands() != 4 {
        return Err("a loss without lengths, or divided by them, has no equivalent in TensorFlow".to_owned());
    }
    let (x, labels, times) = (e.input(0)?, e.input(1)?, e.input(2)?);
    let (lengths, times) = (e.wide(3)?, {
        let from = e.operand_type(2)?.1;
        e.cast(times, from, Type::I32)?
    });
    let lengths = e.reshape(lengths, &[batch, 1], Type::I64)?;
    let numbers: Vec<i64> = (0..width).collect();
    let places = e.vector(&numbers)?;
    let is_label = e.binary("Less", &places, &lengths, Type::I64)?;
    let indices = e.op("Where", &[is_label], &[("T", Value::Type(BOOL))]);
    let attrs = [("Tparams", e.dtype(of)?), ("Tindices", Value::Type(INT64))];
    let values = e.op("GatherNd", &[labels, indices.clone()], &attrs);
    let ty = ("T", e.dtype(elem)?);
    let loss = e.op("CTCLoss", &[x, indices, values, times], std::slice::from_ref(&ty));
    if e.view.body.num_results(e.view.op) > 1 {
        let slope = e.op("Identity", &[format!("{loss}:1")], &[ty]);
        e.result(1, slope)?;
    }
    let out = e.reshape(loss, &[batch, 1], elem)?;
    e.result(0, out)
}

/// The gradient of a pool of volumes, whose borders are those of one of TensorFlow's paddings.
fn pool3d_grad(e: &mut Emit<'_, '_>) -> Result<()> {
    const LAST: [i64; 5] = [0, 2, 3, 4, 1];
    const FIRST: [i64; 5] = [0, 4, 1, 2, 3];
    let (dims, elem) = e.operand_type(0)?;
    let of = |name: &str| e.ints(name).unwrap_or_default();
    let (size, strides, borders) = (of("kernel_size"), of("strides"), of("paddings"));
    let is_max = e.view.str("pooling_type") == Some("max");
    let is_plain = e.view.str("data_format") == Some("NCDHW") && e.view.str("padding_algorithm") == Some("EXPLICIT");
    let others = ["ceil_mode", "global_pooling", "adaptive"].map(|name| e.flag(name, false));
    let counts_inside = e.flag("exclusive", true);
    if !is_plain || others.contains(&true) || size.len() != 3 || strides.len() != 3 || dims.len() != 5 {
        return Err("its window has no equivalent in TensorFlow".to_owned());
    }
    let borders = match borders.len() {
        3 => borders.iter().flat_map(|&n| [n, n]).collect(),
        _ => borders,
    };
    let mut same = Vec::new();
    for axis in 0..3 {
        let (extent, step) = (dims[axis + 2], strides[axis]);
        if extent < 1 || step < 1 || size[axis] < 1 {
            return Err("its strides and its shape must be known".to_owned());
        }
        let whole = (((extent + step - 1) / step - 1) * step + size[axis] - extent).max(0);
        same.extend([whole / 2, whole - whole / 2]);
    }
    let padding = match () {
        () if borders.iter().all(|&n| n == 0) => "VALID",
        () if borders == same && (is_max || counts_inside) => "SAME",
        () => return Err("its paddings have no equivalent in TensorFlow".to_owned()),
    };
    let g = e.input(2)?;
    let g = transpose(e, g, &LAST, elem)?;
    let list = |of: &[i64]| {
        Value::List(ListValue {
            ints: [&[1], of, &[1]].concat(),
            ..ListValue::default()
        })
    };
    let mut attrs = vec![
        ("ksize", list(&size)),
        ("strides", list(&strides)),
        ("padding", Value::Bytes(padding.into())),
        ("data_format", Value::Bytes("NDHWC".into())),
        ("T", e.dtype(elem)?),
    ];
    let out = if is_max {
        let (x, out) = (e.input(0)?, e.input(1)?);
        let (x, out) = (transpose(e, x, &LAST, elem)?, transpose(e, out, &LAST, elem)?);
        attrs.push(("TInput", e.dtype(elem)?));
        e.op("MaxPool3DGrad", &[x, out, g], &attrs)
    } else {
        for index in 0..2 {
            e.view.sees_operand(index);
        }
        let sizes = LAST.map(|axis| Number::Int(dims[axis as usize].into()));
        let sizes = e.constant(INT32, &[5], &sizes)?;
        e.op("AvgPool3DGrad", &[sizes, g], &attrs)
    };
    let out = transpose(e, out, &FIRST, elem)?;
    e.result(0, out)
}
