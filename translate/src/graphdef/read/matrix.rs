//! Nodes that take matrices apart: their diagonals, systems of equations, factors.

use pir_dialects::pd;
use pir_ir::{Type, ValueId};

use super::ops::Row;
use super::{Reader, Result};

pub(super) const TABLE: &[Row] = &[
    ("Diag", "T", "", |r, at| {
        let x = r.operand(at, 0)?;
        match r.dims(x)?.0.len() {
            1 => diag(r, at, None),
            _ => Err("only vectors are supported as diagonals".to_owned()),
        }
    }),
    ("DiagPart", "T", "", |r, at| {
        let x = r.operand(at, 0)?;
        match r.dims(x)?.0.len() {
            2 => diag_part(r, at, 0),
            _ => Err("only diagonals of matrices are supported".to_owned()),
        }
    }),
    ("LogMatrixDeterminant", "T -> sign log_abs_determinant", "", |r, at| {
        let x = r.operand(at, 0)?;
        let both = r.helper(at, pd::Slogdet::NAME, &[x], &[])?;
        let parts = [("axis", r.ctx.int_attr(0)), ("num", r.ctx.int_attr(2))];
        r.op_of(at, pd::Unstack::NAME, &[both], &parts, 2)
    }),
    ("MatrixDiag", "T", "", |r, at| diag(r, at, None)),
    ("MatrixDiagV2", "T i32 i32 i32 T", "", |r, at| diag(r, at, Some(4))),
    ("MatrixDiagV3", "T i32 i32 i32 T", "align=RIGHT_LEFT", |r, at| {
        // Where the shorter of several diagonals stand: there is one.
        let _ = r.text(at, "align");
        diag(r, at, Some(4))
    }),
    ("MatrixDiagPart", "T", "", |r, at| diag_part(r, at, 0)),
    ("MatrixDiagPartV2", "T i32 T", "", |r, at| {
        let k = band(r, at, 1)?;
        diag_part(r, at, k)
    }),
    ("MatrixDiagPartV3", "T i32 T", "align=RIGHT_LEFT", |r, at| {
        let _ = r.text(at, "align");
        let k = band(r, at, 1)?;
        diag_part(r, at, k)
    }),
    ("MatrixSetDiag", "T T", "", |r, at| set_diag(r, at, 0)),
    ("MatrixSetDiagV2", "T T i32", "", |r, at| {
        let k = band(r, at, 2)?;
        set_diag(r, at, k)
    }),
    ("MatrixSetDiagV3", "T T i32", "align=RIGHT_LEFT", |r, at| {
        let _ = r.text(at, "align");
        let k = band(r, at, 2)?;
        set_diag(r, at, k)
    }),
    ("MatrixSolve", "T T", "adjoint=false", |r, at| {
        let operands = r.operands(at, 2)?;
        let (mut matrix, sides) = (operands[0], operands[1]);
        if r.dims(matrix)?.0.len() != r.dims(sides)?.0.len() {
            return Err("its inputs have different ranks".to_owned());
        }
        if r.flag(at, "adjoint") {
            matrix = turned(r, at, matrix)?;
        }
        r.op(at, pd::Solve::NAME, &[matrix, sides], &[])
    }),
    ("MatrixTriangularSolve", "T T", "lower=true adjoint=false", |r, at| {
        let operands = r.operands(at, 2)?;
        let lower = r.attr(at, "lower").is_none() || r.flag(at, "lower");
        let attrs = [
            ("upper", r.ctx.bool_attr(!lower)),
            ("transpose", r.ctx.bool_attr(r.flag(at, "adjoint"))),
            ("unitriangular", r.ctx.bool_attr(false)),
        ];
        r.op(at, pd::TriangularSolve::NAME, &operands, &attrs)
    }),
    ("Qr", "T -> q r", "full_matrices=false", |r, at| {
        let x = r.operand(at, 0)?;
        let mode = if r.flag(at, "full_matrices") {
            "complete"
        } else {
            "reduced"
        };
        r.op_of(at, pd::Qr::NAME, &[x], &[("mode", r.ctx.str_attr(mode))], 2)
    }),
    ("SelfAdjointEigV2", "T -> e v", "compute_v=true", |r, at| {
        let x = r.operand(at, 0)?;
        let (name, attr, results) = match r.attr(at, "compute_v").is_none() || r.flag(at, "compute_v") {
            true => (pd::Eigh::NAME, "UPLO", 2),
            false => (pd::Eigvalsh::NAME, "uplo", 1),
        };
        r.op_of(at, name, &[x], &[(attr, r.ctx.str_attr("L"))], results)
    }),
    ("Svd", "T -> s u v", "compute_uv=true full_matrices=false", |r, at| {
        let x = r.operand(at, 0)?;
        let (whole, vectors) = (
            r.flag(at, "full_matrices"),
            r.attr(at, "compute_uv").is_none() || r.flag(at, "compute_uv"),
        );
        if !vectors {
            return r.op(at, pd::Svdvals::NAME, &[x], &[]);
        }
        let attrs = [("full_matrices", r.ctx.bool_attr(whole))];
        r.op_of(at, pd::Svd::NAME, &[x], &attrs, 3)?;
        let [left, values, right] = r.values[at][..] else {
            return Err("it returns no vectors".to_owned());
        };
        r.values[at] = vec![values, left, turned(r, at, right)?];
        Ok(())
    }),
];

/// Matrices with rows and columns exchanged.
fn turned(r: &mut Reader<'_>, at: usize, x: ValueId) -> Result<ValueId> {
    let rank = r.dims(x)?.0.len();
    let mut order: Vec<i64> = (0..rank as i64).collect();
    if rank < 2 {
        return Err("its input is not a matrix".to_owned());
    }
    order.swap(rank - 2, rank - 1);
    r.helper(at, pd::Transpose::NAME, &[x], &[("perm", r.ctx.ints_attr(&order))])
}

/// The number of the only diagonal of a band.
fn band(r: &mut Reader<'_>, at: usize, index: usize) -> Result<i64> {
    let band = r.list(at, index, "diagonal")?;
    match band[..] {
        [k] => Some(k),
        [low, high] if low == high => Some(low),
        _ => None,
    }
    .filter(|k| i32::try_from(*k).is_ok())
    .ok_or_else(|| "bands of several diagonals are not supported".to_owned())
}

/// The extents of matrices.
fn sizes(r: &Reader<'_>, x: ValueId) -> Result<[i64; 2]> {
    let (dims, _) = r.dims(x)?;
    match dims[..] {
        [.., rows, columns] if rows >= 0 && columns >= 0 => Ok([rows, columns]),
        _ => Err("the sizes of its matrices are unknown".to_owned()),
    }
}

/// Where a matrix has its diagonal `k`, and the elements of one there: as columns that are as high as the matrix.
fn on_diagonal(r: &mut Reader<'_>, at: usize, x: ValueId, [rows, columns]: [i64; 2], k: i64) -> Result<[ValueId; 2]> {
    let (dims, _) = r.dims(x)?;
    let before = (-k).max(0);
    let length = (rows - before).min(columns - k.max(0));
    let (Some(&given), true) = (dims.last(), length > 0) else {
        return Err(format!("matrices of {rows} × {columns} have no diagonal {k}"));
    };
    if given != length {
        return Err(format!(
            "diagonal {k} of matrices of {rows} × {columns} has {length} elements, found {given}"
        ));
    }
    let mut borders = vec![0; 2 * dims.len()];
    let last = borders.len() - 2;
    borders[last] = before;
    borders[last + 1] = rows - before - length;
    let attrs = [
        ("paddings", r.ctx.ints_attr(&borders)),
        ("pad_value", r.ctx.float_attr(0.0)),
    ];
    let high = r.helper(at, pd::Pad::NAME, &[x], &attrs)?;
    let behind = [("axis", r.ctx.ints_attr(&[-1]))];
    let high = r.helper(at, pd::Unsqueeze::NAME, &[high], &behind)?;
    let mut numbers = |start: i64, end: i64| {
        let attrs = [
            ("start", r.ctx.int_attr(start)),
            ("end", r.ctx.int_attr(end)),
            ("step", r.ctx.int_attr(1)),
            ("dtype", r.ctx.type_attr(Type::I64)),
        ];
        r.helper(at, pd::Arange::NAME, &[], &attrs)
    };
    let (of_row, column) = (numbers(k, rows + k)?, numbers(0, columns)?);
    let of_row = r.helper(at, pd::Unsqueeze::NAME, &[of_row], &behind)?;
    let is_there = r.helper(at, pd::Equal::NAME, &[of_row, column], &[])?;
    Ok([is_there, high])
}

/// Matrices with a diagonal, and zero or a number elsewhere.
fn diag(r: &mut Reader<'_>, at: usize, padding: Option<usize>) -> Result<()> {
    let x = r.operand(at, 0)?;
    let (dims, elem) = r.dims(x)?;
    let length = dims.last().copied().filter(|&extent| extent >= 0);
    let length = length.ok_or("the length of its diagonal is unknown")?;
    let (mut k, mut size) = (0, [length; 2]);
    if padding.is_some() {
        k = band(r, at, 1)?;
        let given = [
            r.scalar(at, 2, "number of rows")?,
            r.scalar(at, 3, "number of columns")?,
        ];
        let least = [length + (-k).max(0), length + k.max(0)];
        let square = least[0].max(least[1]);
        size = match given {
            [-1, -1] => [square; 2],
            [-1, columns] => [least[0], columns],
            [rows, -1] => [rows, least[1]],
            both => both,
        };
    }
    let other = match padding {
        Some(index) => r.operand(at, index)?,
        None => {
            let zero = super::ops::number_of(r.ctx, elem, 0.0);
            let attrs = [
                ("shape", r.ctx.ints_attr(&[])),
                ("value", zero),
                ("dtype", r.ctx.type_attr(elem)),
            ];
            r.helper(at, pd::Full::NAME, &[], &attrs)?
        }
    };
    let [is_there, high] = on_diagonal(r, at, x, size, k)?;
    r.op(at, pd::Where::NAME, &[is_there, high, other], &[])
}

/// A diagonal of each matrix.
fn diag_part(r: &mut Reader<'_>, at: usize, k: i64) -> Result<()> {
    let x = r.operand(at, 0)?;
    if r.num_inputs(at) == 3 {
        // What fills up the shorter of several diagonals: there is one.
        r.input(at, 2)?;
    }
    let [rows, columns] = sizes(r, x)?;
    if rows + k.min(0) <= 0 || columns - k.max(0) <= 0 {
        return Err(format!("matrices of {rows} × {columns} have no diagonal {k}"));
    }
    let rank = r.dims(x)?.0.len() as i64;
    let attrs = [
        ("offset", r.ctx.int_attr(k)),
        ("axis1", r.ctx.int_attr(rank - 2)),
        ("axis2", r.ctx.int_attr(rank - 1)),
    ];
    r.op(at, pd::Diagonal::NAME, &[x], &attrs)
}

/// Matrices with another diagonal.
fn set_diag(r: &mut Reader<'_>, at: usize, k: i64) -> Result<()> {
    let (x, diagonal) = (r.operand(at, 0)?, r.operand(at, 1)?);
    let size = sizes(r, x)?;
    let [is_there, high] = on_diagonal(r, at, diagonal, size, k)?;
    r.op(at, pd::Where::NAME, &[is_there, high, x], &[])
}
