//! Products, and normalized exponentials.

use pir_ir::Type;

use super::super::super::proto::Value;
use super::super::emit::{Emit, Result};
use super::Write;
use super::reduce::along;
use super::shape::transpose;

pub(super) const TABLE: &[(&str, Write)] = &[
    ("addmm", |e| {
        let (input, x, y, elem) = (e.input(0)?, e.input(1)?, e.input(2)?, e.elem()?);
        let product = product(e, "MatMul", &x, &y, (false, false), elem)?;
        let (alpha, beta) = (e.number("alpha", 1.0, elem)?, e.number("beta", 1.0, elem)?);
        let product = e.binary("Mul", &product, &alpha, elem)?;
        let input = e.binary("Mul", &input, &beta, elem)?;
        let out = e.binary("AddV2", &input, &product, elem)?;
        e.result(0, out)
    }),
    ("bmm", |e| {
        let (x, y, elem) = (e.input(0)?, e.input(1)?, e.elem()?);
        let out = product(e, "BatchMatMulV2", &x, &y, (false, false), elem)?;
        e.result(0, out)
    }),
    ("dot", |e| {
        let (x, y, elem) = (e.input(0)?, e.input(1)?, e.elem()?);
        let products = e.binary("Mul", &x, &y, elem)?;
        let sum = along(e, "Sum", &products, &[-1], false, elem)?;
        let (dims, _) = e.result_type(0)?;
        let out = e.reshape(sum, &dims, elem)?;
        e.result(0, out)
    }),
    ("einsum", |e| {
        let inputs = e.inputs()?;
        let attrs = [
            ("T", e.dtype(e.elem()?)?),
            ("N", Value::Int(inputs.len() as i64)),
            ("equation", Value::Bytes(e.view.str("equation").unwrap_or("").into())),
        ];
        e.node("Einsum", &inputs, &attrs);
        Ok(())
    }),
    ("log_softmax", |e| exponentials(e, "LogSoftmax")),
    ("log_softmax_grad", |e| {
        // g - exp(out) * sum(g)
        let (out, g, elem) = (e.input(0)?, e.input(1)?, e.elem()?);
        let axis = e.view.int("axis").unwrap_or(-1);
        let sum = along(e, "Sum", &g, &[axis], true, elem)?;
        let powers = e.unary("Exp", &out, elem)?;
        let part = e.binary("Mul", &powers, &sum, elem)?;
        let grad = e.binary("Sub", &g, &part, elem)?;
        e.result(0, grad)
    }),
    ("matmul", |e| {
        let transposed = (e.flag("transpose_x", false), e.flag("transpose_y", false));
        matmul(e, transposed)
    }),
    ("mv", |e| matmul(e, (false, false))),
    ("softmax", |e| exponentials(e, "Softmax")),
    ("softmax_grad", |e| {
        // (g - sum(g * out)) * out
        let (out, g, elem) = (e.input(0)?, e.input(1)?, e.elem()?);
        let axis = e.view.int("axis").unwrap_or(-1);
        let weighted = e.binary("Mul", &g, &out, elem)?;
        let sum = along(e, "Sum", &weighted, &[axis], true, elem)?;
        let centred = e.binary("Sub", &g, &sum, elem)?;
        let grad = e.binary("Mul", &centred, &out, elem)?;
        e.result(0, grad)
    }),
];

fn product(e: &mut Emit<'_, '_>, op: &str, x: &str, y: &str, transposed: (bool, bool), elem: Type) -> Result<String> {
    let names = match op {
        "MatMul" => ["transpose_a", "transpose_b"],
        _ => ["adj_x", "adj_y"],
    };
    let attrs = [
        ("T", e.dtype(elem)?),
        (names[0], Value::Bool(transposed.0)),
        (names[1], Value::Bool(transposed.1)),
    ];
    Ok(e.op(op, &[x.to_owned(), y.to_owned()], &attrs))
}

/// A product of any ranks: a vector on the left is a row, on the right a column.
fn matmul(e: &mut Emit<'_, '_>, mut transposed: (bool, bool)) -> Result<()> {
    let (mut x, mut y, elem) = (e.input(0)?, e.input(1)?, e.elem()?);
    let (xs, ys) = (e.operand_type(0)?.0, e.operand_type(1)?.0);
    if let &[n] = &xs[..] {
        x = e.reshape(x, &[1, n], elem)?;
        transposed.0 = false;
    }
    if let &[n] = &ys[..] {
        y = e.reshape(y, &[n, 1], elem)?;
        transposed.1 = false;
    }
    let op = if xs.len() <= 2 && ys.len() <= 2 {
        "MatMul"
    } else {
        "BatchMatMulV2"
    };
    let mut out = product(e, op, &x, &y, transposed, elem)?;
    if xs.len() == 1 || ys.len() == 1 {
        let (dims, _) = e.result_type(0)?;
        out = e.reshape(out, &dims, elem)?;
    }
    e.result(0, out)
}

/// The axis is the last one there.
fn exponentials(e: &mut Emit<'_, '_>, op: &str) -> Result<()> {
    let (x, (dims, elem)) = (e.input(0)?, e.operand_type(0)?);
    let rank = dims.len() as i64;
    let axis = e.view.int("axis").unwrap_or(-1).rem_euclid(rank.max(1));
    let ty = e.dtype(elem)?;
    if rank == 0 {
        return Err("a scalar has no axis".to_owned());
    }
    if axis == rank - 1 {
        e.node(op, &[x], &[("T", ty)]);
        return Ok(());
    }
    let mut perm: Vec<i64> = (0..rank).collect();
    perm.swap(axis as usize, rank as usize - 1);
    let turned = transpose(e, x, &perm, elem)?;
    let out = e.op(op, &[turned], &[("T", ty)]);
    let out = transpose(e, out, &perm, elem)?;
    e.result(0, out)
}
