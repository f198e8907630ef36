//! Elementwise operations that have no equivalent, or one that depends on the type.

use super::super::super::proto::Value;
use super::super::super::types::BOOL;
use super::super::emit::{Emit, Result};
use super::Write;

pub(super) const TABLE: &[(&str, Write)] = &[
    ("abs_grad", |e| {
        let (x, g, elem) = (e.input(0)?, e.input(1)?, e.elem()?);
        let sign = e.unary("Sign", &x, elem)?;
        let out = e.binary("Mul", &sign, &g, elem)?;
        e.result(0, out)
    }),
    ("bitwise_and", |e| bits(e, "BitwiseAnd", "LogicalAnd")),
    ("bitwise_not", |e| bits(e, "Invert", "LogicalNot")),
    ("bitwise_or", |e| bits(e, "BitwiseOr", "LogicalOr")),
    ("bitwise_xor", |e| bits(e, "BitwiseXor", "NotEqual")),
    ("cast", |e| {
        let (x, from, to) = (e.input(0)?, e.elem()?, e.result_type(0)?.1);
        let out = e.cast(x, from, to)?;
        e.result(0, out)
    }),
    ("clip", |e| {
        let (x, elem) = (e.input(0)?, e.elem()?);
        let low = e.number("min", f64::NEG_INFINITY, elem)?;
        let high = e.number("max", f64::INFINITY, elem)?;
        let above = e.binary("Maximum", &x, &low, elem)?;
        let out = e.binary("Minimum", &above, &high, elem)?;
        e.result(0, out)
    }),
    ("clip_grad", |e| {
        let (x, g, elem) = (e.input(0)?, e.input(1)?, e.elem()?);
        let low = e.number("min", f64::NEG_INFINITY, elem)?;
        let high = e.number("max", f64::INFINITY, elem)?;
        let above = e.binary("GreaterEqual", &x, &low, elem)?;
        let below = e.binary("LessEqual", &x, &high, elem)?;
        let inside = e.op("LogicalAnd", &[above, below], &[]);
        let zero = e.num(0.0, elem)?;
        let out = e.select(&inside, &g, &zero, elem)?;
        e.result(0, out)
    }),
    ("divide", |e| {
        let float = e.is_float(e.elem()?) || e.is_complex(e.elem()?);
        binary(e, if float { "RealDiv" } else { "TruncateDiv" })
    }),
    ("fmax", |e| without_nan(e, "Maximum")),
    ("fmin", |e| without_nan(e, "Minimum")),
    ("increment", |e| {
        let (x, elem) = (e.input(0)?, e.elem()?);
        let by = e.number("value", 1.0, elem)?;
        let out = e.binary("AddV2", &x, &by, elem)?;
        e.result(0, out)
    }),
    ("log10", |e| logarithm(e, std::f64::consts::LN_10)),
    ("log2", |e| logarithm(e, std::f64::consts::LN_2)),
    ("logical_and", |e| logical(e, "LogicalAnd")),
    ("logical_not", |e| logical(e, "LogicalNot")),
    ("logical_or", |e| logical(e, "LogicalOr")),
    ("logical_xor", |e| {
        let (x, y) = (truth(e, 0)?, truth(e, 1)?);
        e.node("NotEqual", &[x, y], &[("T", Value::Type(BOOL))]);
        Ok(())
    }),
    ("masked_fill", |e| {
        let (x, mask, value, elem) = (e.input(0)?, truth(e, 1)?, e.input(2)?, e.elem()?);
        let out = e.select(&mask, &value, &x, elem)?;
        e.result(0, out)
    }),
    ("maximum_grad", |e| extremum_grad(e, "Greater")),
    ("minimum_grad", |e| extremum_grad(e, "Less")),
    ("pow", |e| {
        let (x, elem) = (e.input(0)?, e.elem()?);
        let y = e.number("y", 1.0, elem)?;
        let out = e.binary("Pow", &x, &y, elem)?;
        e.result(0, out)
    }),
    ("pow_grad", |e| {
        let (x, g, elem) = (e.input(0)?, e.input(1)?, e.elem()?);
        if e.view.f64("y") == Some(0.0) {
            let out = e.unary("ZerosLike", &g, elem)?;
            return e.result(0, out);
        }
        let y = e.number("y", 1.0, elem)?;
        let one = e.num(1.0, elem)?;
        let less = e.binary("Sub", &y, &one, elem)?;
        let power = e.binary("Pow", &x, &less, elem)?;
        let scaled = e.binary("Mul", &g, &y, elem)?;
        let out = e.binary("Mul", &scaled, &power, elem)?;
        e.result(0, out)
    }),
    ("round", |e| {
        let (x, elem) = (e.input(0)?, e.elem()?);
        if e.view.int("decimals").is_some_and(|decimals| decimals != 0) {
            return Err("its attribute `decimals` has no equivalent in TensorFlow".into());
        }
        // TensorFlow's operation makes zeros of integers.
        let out = match e.is_float(elem) {
            true => e.unary("Round", &x, elem)?,
            false => x,
        };
        e.result(0, out)
    }),
    ("scale", scale),
    ("trunc", |e| {
        let (x, elem) = (e.input(0)?, e.elem()?);
        if !e.is_float(elem) {
            return e.result(0, x);
        }
        let (sign, size) = (e.unary("Sign", &x, elem)?, e.unary("Abs", &x, elem)?);
        let floor = e.unary("Floor", &size, elem)?;
        let out = e.binary("Mul", &sign, &floor, elem)?;
        e.result(0, out)
    }),
    ("where", |e| {
        let (condition, x, y) = (truth(e, 0)?, e.input(1)?, e.input(2)?);
        let elem = e.operand_type(1)?.1;
        let out = e.select(&condition, &x, &y, elem)?;
        e.result(0, out)
    }),
];

/// A binary operation whose operands have one type.
pub(super) fn binary(e: &mut Emit<'_, '_>, op: &str) -> Result<()> {
    let inputs = [e.input(0)?, e.input(1)?];
    let (x, y) = (e.operand_type(0)?.1, e.operand_type(1)?.1);
    if x != y {
        return Err("its operands have different element types".to_owned());
    }
    let attrs = [("T", e.dtype(x)?)];
    e.node(op, &inputs, &attrs);
    Ok(())
}

/// An operand converted to booleans.
fn truth(e: &mut Emit<'_, '_>, index: usize) -> Result<String> {
    let (x, elem) = (e.input(index)?, e.operand_type(index)?.1);
    e.cast(x, elem, pir_ir::Type::I1)
}

fn logical(e: &mut Emit<'_, '_>, op: &str) -> Result<()> {
    let inputs = (0..e.num_operands()).map(|i| truth(e, i)).collect::<Result<Vec<_>>>()?;
    e.node(op, &inputs, &[]);
    Ok(())
}

fn bits(e: &mut Emit<'_, '_>, op: &str, truths: &str) -> Result<()> {
    let (inputs, elem) = (e.inputs()?, e.elem()?);
    let ty = ("T", e.dtype(elem)?);
    match (elem == pir_ir::Type::I1, truths) {
        (true, "NotEqual") => e.node(truths, &inputs, &[ty]),
        (true, _) => e.node(truths, &inputs, &[]),
        (false, _) => e.node(op, &inputs, &[ty]),
    }
    Ok(())
}

fn logarithm(e: &mut Emit<'_, '_>, base: f64) -> Result<()> {
    let (x, elem) = (e.input(0)?, e.elem()?);
    let natural = e.unary("Log", &x, elem)?;
    let base = e.num(base, elem)?;
    let out = e.binary("RealDiv", &natural, &base, elem)?;
    e.result(0, out)
}

/// The extremum of two tensors that ignores NaN: the other operand where one is NaN.
fn without_nan(e: &mut Emit<'_, '_>, op: &str) -> Result<()> {
    let (x, y, elem) = (e.input(0)?, e.input(1)?, e.elem()?);
    let mut out = e.binary(op, &x, &y, elem)?;
    if e.is_float(elem) {
        for (one, other) in [(&x, &y), (&y, &x)] {
            let nan = e.unary("IsNan", one, elem)?;
            out = e.select(&nan, other, &out, elem)?;
        }
    }
    e.result(0, out)
}

/// The gradient goes to the extremum; ties are split.
fn extremum_grad(e: &mut Emit<'_, '_>, wins: &str) -> Result<()> {
    let (x, y, g, elem) = (e.input(0)?, e.input(1)?, e.input(2)?, e.elem()?);
    let tie = e.binary("Equal", &x, &y, elem)?;
    let half = e.num(0.5, elem)?;
    let zero = e.num(0.0, elem)?;
    let halved = e.binary("Mul", &g, &half, elem)?;
    for (index, (a, b)) in [(&x, &y), (&y, &x)].into_iter().enumerate() {
        let won = e.binary(wins, a, b, elem)?;
        let rest = e.select(&tie, &halved, &zero, elem)?;
        let share = e.select(&won, &g, &rest, elem)?;
        let (from, _) = e.operand_type(2)?;
        let share = super::reduce::sum_to(e, share, &from, index)?;
        e.result(index, share)?;
    }
    Ok(())
}

fn scale(e: &mut Emit<'_, '_>) -> Result<()> {
    let (x, elem) = (e.input(0)?, e.elem()?);
    // Those of integers are truncated.
    let by = e.number("scale", 1.0, elem)?;
    let shift = e.number("bias", 0.0, elem)?;
    let out = match e.flag("bias_after_scale", true) {
        true => {
            let scaled = e.binary("Mul", &x, &by, elem)?;
            e.binary("AddV2", &scaled, &shift, elem)?
        }
        false => {
            let shifted = e.binary("AddV2", &x, &shift, elem)?;
            e.binary("Mul", &shifted, &by, elem)?
        }
    };
    e.result(0, out)
}
