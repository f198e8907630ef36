//! Matrix products, softmax and normalizations.

use pir_dialects::stablehlo::linalg::{Call, Triangle};
use pir_dialects::stablehlo::ops;
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
    ("diagonal", |e| {
        let (dims, elem) = e.operand_type(0)?;
        let rank = dims.len() as i64;
        let x = e.input(0)?;
        let axis = |e: &Emit<'_, '_>, name, usual| e.view.int(name).unwrap_or(usual).rem_euclid(rank.max(1));
        let (first, second) = (axis(e, "axis1", 0), axis(e, "axis2", 1));
        let rest = (0..rank).filter(|axis| ![first, second].contains(axis));
        let order: Vec<i64> = rest.chain([first, second]).collect();
        let x = transpose(e, x, &order, elem)?;
        let offset = e.view.int("offset").unwrap_or(0);
        let k = e.axis(offset)?;
        let padding = e.num(0.0, elem)?;
        let attrs = [("T", e.dtype(elem)?), ("align", Value::Bytes("RIGHT_LEFT".into()))];
        e.node("MatrixDiagPartV3", &[x, k, padding], &attrs);
        Ok(())
    }),
    ("dot", |e| {
        let (x, y, elem) = (e.input(0)?, e.input(1)?, e.elem()?);
        let products = e.binary("Mul", &x, &y, elem)?;
        let sum = along(e, "Sum", &products, &[-1], false, elem)?;
        let (dims, _) = e.result_type(0)?;
        let out = e.reshape(sum, &dims, elem)?;
        e.result(0, out)
    }),
    ("cross_entropy_with_softmax", cross_entropy),
    ("eye", |e| {
        let (dims, elem) = e.result_type(0)?;
        for name in ["num_rows", "num_columns"] {
            e.view.sees(name);
        }
        let &[rows, columns] = &dims[..] else {
            return Err("its operand must be a matrix".to_owned());
        };
        let (count, one, zero) = (e.vector(&[rows.min(columns)])?, e.num(1.0, elem)?, e.num(0.0, elem)?);
        let attrs = [("T", e.dtype(elem)?), ("index_type", e.dtype(Type::I64)?)];
        let ones = e.op("Fill", &[count, one], &attrs);
        let [k, rows, columns] = [0, rows, columns].map(|n| e.axis(n));
        let attrs = [("T", e.dtype(elem)?), ("align", Value::Bytes("RIGHT_LEFT".into()))];
        e.node("MatrixDiagV3", &[ones, k?, rows?, columns?, zero], &attrs);
        Ok(())
    }),
    ("layer_norm", layer_norm),
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
    ("slogdet", |e| {
        let (x, elem) = (e.input(0)?, e.elem()?);
        let both = e.op("LogMatrixDeterminant", &[x], &[("T", e.dtype(elem)?)]);
        let parts = [both.clone(), format!("{both}:1")];
        let attrs = [("T", e.dtype(elem)?), ("N", Value::Int(2)), ("axis", Value::Int(0))];
        e.node("Pack", &parts, &attrs);
        Ok(())
    }),
    (ops::Cholesky::NAME, |e| {
        let (mut x, elem) = (e.input(0)?, e.elem()?);
        let lower = e.flag("lower", false);
        if !lower {
            x = turned(e, x)?;
        }
        let mut out = e.op("Cholesky", &[x], &[("T", e.dtype(elem)?)]);
        if !lower {
            out = turned(e, out)?;
        }
        e.result(0, out)
    }),
    (ops::CustomCall::NAME, lapack),
    (ops::TriangularSolve::NAME, triangular_solve),
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

/// Functions of LAPACK that TensorFlow has as operations.
fn lapack(e: &mut Emit<'_, '_>) -> Result<()> {
    let call = Call::of(*e.view)?;
    for name in [
        "call_target_name",
        "mhlo.backend_config",
        "operand_layouts",
        "result_layouts",
    ] {
        e.view.sees(name);
    }
    let (x, elem) = (e.input(0)?, e.elem()?);
    let ty = ("T", e.dtype(elem)?);
    // Nothing here reads the function's other results: the rest of its operand, and whether it succeeded.
    let body = e.view.body;
    let is_read = |index: usize| {
        body.results(e.view.op)
            .nth(index)
            .is_some_and(|value| body.has_uses(value))
    };
    let (unread, op, attrs, order): (&[usize], _, _, &[usize]) = match call {
        Call::Eigen {
            triangle: Triangle::Lower,
            vectors: true,
        } => (
            &[2],
            "SelfAdjointEigV2",
            vec![("compute_v", Value::Bool(true))],
            &[1, 0],
        ),
        Call::Singular { full, vectors: true } => {
            let attrs = vec![("compute_uv", Value::Bool(true)), ("full_matrices", Value::Bool(full))];
            (&[0, 4], "Svd", attrs, &[1, 2, 3])
        }
        _ => return Err("TensorFlow has no operation for it".to_owned()),
    };
    if unread.iter().any(|&index| is_read(index)) {
        return Err("its status result, or the overwritten operand, is used".to_owned());
    }
    let attrs = [vec![ty.clone()], attrs].concat();
    let all = e.op(op, std::slice::from_ref(&x), &attrs);
    for (place, &index) in order.iter().enumerate() {
        let part = e.op("Identity", &[format!("{all}:{place}")], std::slice::from_ref(&ty));
        // The last vectors are rows here.
        let part = match (op, index) {
            ("Svd", 3) => swapped(e, part, index)?,
            _ => part,
        };
        e.result(index, part)?;
    }
    Ok(())
}

/// A value with the rows and columns that a result has, exchanged.
fn swapped(e: &mut Emit<'_, '_>, x: String, index: usize) -> Result<String> {
    let (dims, elem) = e.result_type(index)?;
    let mut order: Vec<i64> = (0..dims.len() as i64).collect();
    let rank = order.len();
    if rank < 2 {
        return Err("its result must be a matrix".to_owned());
    }
    order.swap(rank - 2, rank - 1);
    transpose(e, x, &order, elem)
}

/// The first operand, or a value of its rank, with rows and columns exchanged.
fn turned(e: &mut Emit<'_, '_>, x: String) -> Result<String> {
    let (dims, elem) = e.operand_type(0)?;
    let mut order: Vec<i64> = (0..dims.len() as i64).collect();
    let rank = order.len();
    if rank < 2 {
        return Err("its operand must be a matrix".to_owned());
    }
    order.swap(rank - 2, rank - 1);
    transpose(e, x, &order, elem)
}

/// A system on the right is the transposed one on the left.
fn triangular_solve(e: &mut Emit<'_, '_>) -> Result<()> {
    let (mut a, mut b, elem) = (e.input(0)?, e.input(1)?, e.elem()?);
    let (left, lower) = (e.flag("left_side", true), e.flag("lower", false));
    let text = e
        .view
        .attr("transpose_a")
        .map(|attr| pir_ir::text::print_attr(e.w.ctx, attr));
    let is_transposed = match text.as_deref() {
        Some(text) if text.contains("NO_TRANSPOSE") => false,
        Some(text) if text.contains("TRANSPOSE") || text.contains("ADJOINT") => true,
        _ => return Err("its `transpose_a` is unknown".to_owned()),
    };
    if e.flag("unit_diagonal", false) {
        let (dims, _) = e.operand_type(0)?;
        let lead = &dims[..dims.len().saturating_sub(1)];
        let (shape, one) = (e.vector(lead)?, e.num(1.0, elem)?);
        let attrs = [("T", e.dtype(elem)?), ("index_type", e.dtype(Type::I64)?)];
        let ones = e.op("Fill", &[shape, one], &attrs);
        a = e.op("MatrixSetDiag", &[a, ones], &[("T", e.dtype(elem)?)]);
    }
    if !left {
        b = turned(e, b)?;
    }
    let attrs = [
        ("T", e.dtype(elem)?),
        ("lower", Value::Bool(lower)),
        ("adjoint", Value::Bool(is_transposed == left)),
    ];
    let mut out = e.op("MatrixTriangularSolve", &[a, b], &attrs);
    if !left {
        out = turned(e, out)?;
    }
    e.result(0, out)
}

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
    // A product of batches takes adjoints, whose numbers are conjugated.
    let conjugates = op != "MatMul" && e.is_complex(elem);
    let side = |e: &mut Emit<'_, '_>, x: &str, is_transposed: bool| match conjugates && is_transposed {
        true => e.unary("Conj", x, elem),
        false => Ok(x.to_owned()),
    };
    let operands = [side(e, x, transposed.0)?, side(e, y, transposed.1)?];
    Ok(e.op(op, &operands, &attrs))
}

/// A matrix product of any ranks: a vector on the left is a row, on the right a column.
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

/// `Softmax` and `LogSoftmax` work on the last axis.
fn exponentials(e: &mut Emit<'_, '_>, op: &str) -> Result<()> {
    let (x, (dims, elem)) = (e.input(0)?, e.operand_type(0)?);
    let rank = dims.len() as i64;
    let axis = e.view.int("axis").unwrap_or(-1).rem_euclid(rank.max(1));
    let ty = e.dtype(elem)?;
    if rank == 0 {
        return Err("its operand must have at least one dimension".to_owned());
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

/// Normalizes rows to mean 0 and variance 1, then scales and shifts them.
fn layer_norm(e: &mut Emit<'_, '_>) -> Result<()> {
    let (x, (dims, elem)) = (e.input(0)?, e.operand_type(0)?);
    let begin = e
        .view
        .int("begin_norm_axis")
        .unwrap_or(1)
        .rem_euclid(dims.len().max(1) as i64);
    let columns = dims.get(begin as usize..).unwrap_or(&[]);
    let width = columns
        .iter()
        .try_fold(1i64, |n, &d| (d >= 0).then(|| n.checked_mul(d)).flatten());
    let width = width.ok_or("the length of its rows is unknown")?;
    let rows = e.reshape(x, &[-1, width], elem)?;
    let mean = along(e, "Mean", &rows, &[1], true, elem)?;
    let centred = e.binary("Sub", &rows, &mean, elem)?;
    let square = e.unary("Square", &centred, elem)?;
    let variance = along(e, "Mean", &square, &[1], true, elem)?;
    let epsilon = e.number("epsilon", 1e-5, elem)?;
    let shifted = e.binary("AddV2", &variance, &epsilon, elem)?;
    let factor = e.unary("Rsqrt", &shifted, elem)?;
    let mut out = e.binary("Mul", &centred, &factor, elem)?;
    for (name, op) in [("scale", "Mul"), ("bias", "AddV2")] {
        if let Some(by) = e.optional(name)? {
            let by = e.reshape(by, &[width], elem)?;
            out = e.binary(op, &out, &by, elem)?;
        }
    }
    for (index, value) in [out, mean, variance].into_iter().enumerate() {
        if index < e.view.body.num_results(e.view.op) {
            let (dims, elem) = e.result_type(index)?;
            let value = e.reshape(value, &dims, elem)?;
            e.result(index, value)?;
        }
    }
    Ok(())
}

/// The softmax along the last axis, and the negative logarithm of the label's probability.
fn cross_entropy(e: &mut Emit<'_, '_>) -> Result<()> {
    let (x, (dims, elem)) = (e.input(0)?, e.operand_type(0)?);
    let (label, (shape, indices)) = (e.input(1)?, e.operand_type(1)?);
    let last = dims.len() as i64 - 1;
    let classes = *dims
        .last()
        .filter(|&&d| d >= 0)
        .ok_or("the number of its classes is unknown")?;
    if e.view.int("axis").unwrap_or(-1).rem_euclid(last + 1) != last || !e.flag("use_softmax", true) {
        return Err("only softmax along the last axis can be expressed".to_owned());
    }
    if (0..classes).contains(&e.view.int("ignore_index").unwrap_or(-100)) {
        return Err("an ignored class cannot be expressed".to_owned());
    }
    let weights = if e.flag("soft_label", false) {
        label
    } else {
        let mut label = label;
        if shape.len() == dims.len() {
            label = e.reshape(label, &shape[..shape.len() - 1], indices)?;
        }
        // An index outside of the classes gives a row of zeros.
        let depth = e.num(classes as f64, Type::I32)?;
        let (on, off) = (e.num(1.0, elem)?, e.num(0.0, elem)?);
        let attrs = [
            ("T", e.dtype(elem)?),
            ("TI", e.dtype(indices)?),
            ("axis", Value::Int(-1)),
        ];
        e.op("OneHot", &[label, depth, on, off], &attrs)
    };
    let logarithms = e.unary("LogSoftmax", &x, elem)?;
    let parts = e.binary("Mul", &weights, &logarithms, elem)?;
    let sum = along(e, "Sum", &parts, &[-1], true, elem)?;
    let loss = e.unary("Neg", &sum, elem)?;
    let softmax = e.unary("Softmax", &x, elem)?;
    e.result(0, softmax)?;
    let (dims, _) = e.result_type(1)?;
    let loss = e.reshape(loss, &dims, elem)?;
    e.result(1, loss)
}
