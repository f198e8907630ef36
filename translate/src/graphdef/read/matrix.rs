//! Nodes that take matrices apart: their diagonals, systems of equations, factors.

use pir_dialects::pd;
use pir_ir::{Type, ValueId};

use super::reader::{Reader, Result};
use super::row::Row;

pub(super) const TABLE: &[Row] = &[
    ("BandedTriangularSolve", "T T", "lower=true adjoint=false", banded_solve),
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
        diag(r, at, Some(4))
    }),
    ("MatrixDiagPart", "T", "", |r, at| diag_part(r, at, 0)),
    ("MatrixDiagPartV2", "T i32 T", "", diag_parts),
    ("MatrixDiagPartV3", "T i32 T", "align=RIGHT_LEFT", diag_parts),
    ("MatrixSetDiag", "T T", "", set_diag),
    ("MatrixSetDiagV2", "T T i32", "", set_diag),
    ("MatrixSetDiagV3", "T T i32", "align=RIGHT_LEFT", set_diag),
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
        let lower = r.flag_or(at, "lower", true);
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
        let (name, attr, results) = match r.flag_or(at, "compute_v", true) {
            true => (pd::Eigh::NAME, "UPLO", 2),
            false => (pd::Eigvalsh::NAME, "uplo", 1),
        };
        r.op_of(at, name, &[x], &[(attr, r.ctx.str_attr("L"))], results)
    }),
    ("Svd", "T -> s u v", "compute_uv=true full_matrices=false", |r, at| {
        let x = r.operand(at, 0)?;
        let (whole, vectors) = (r.flag(at, "full_matrices"), r.flag_or(at, "compute_uv", true));
        if !vectors {
            return r.op(at, pd::Svdvals::NAME, &[x], &[]);
        }
        let attrs = [("full_matrices", r.ctx.bool_attr(whole))];
        r.op_of(at, pd::Svd::NAME, &[x], &attrs, 3)?;
        let [left, values, right] = r.values[at][..] else {
            return Err("`compute_uv` must be true".to_owned());
        };
        r.values[at] = vec![values, left, turned(r, at, right)?];
        Ok(())
    }),
];

/// A system of equations whose matrix is given by its diagonals: that of a row of the matrix is in the column of the same number.
fn banded_solve(r: &mut Reader<'_>, at: usize) -> Result<()> {
    /// A larger matrix is not written out.
    const LARGEST: i64 = 1 << 10;
    let bands = r.operand(at, 0)?;
    let lower = r.flag_or(at, "lower", true);
    let adjoint = r.flag(at, "adjoint");
    let (dims, elem) = r.dims(bands)?;
    let &[.., count, n] = &dims[..] else {
        return Err("its bands must be matrices".to_owned());
    };
    if !(1..=LARGEST).contains(&n) || !(1..=n).contains(&count) || r.ctx.is_complex(elem) {
        return Err(format!(
            "its bands must be real, of known extents, of at most {LARGEST} numbers"
        ));
    }
    let rank = dims.len();
    r.build(at, 2, |x| {
        let ones = x[0].scope().full_with(&[n, n], 1.0, |o| o.dtype(elem));
        let diagonal = |band: i64| {
            let row = x[0].cut(rank - 2, band, band + 1).transpose(&swapped(rank));
            // How far it is below the main diagonal, which is the last one of an upper matrix.
            let below = if lower { band } else { band + 1 - count };
            let own = |below: i64| ones.tril_with(|o| o.diagonal(-below));
            row * (own(below) - own(below + 1))
        };
        let matrix = (0..count).map(diagonal).reduce(|a, b| a + b).ok_or("it has no bands")?;
        Ok(vec![matrix.triangular_solve_with(x[1], |o| {
            o.upper(!lower).transpose(adjoint).unitriangular(false)
        })])
    })
}

/// The order of axes with the last two exchanged.
fn swapped(rank: usize) -> Vec<i64> {
    let mut order: Vec<i64> = (0..rank as i64).collect();
    order.swap(rank - 2, rank - 1);
    order
}

/// Matrices with rows and columns exchanged.
fn turned(r: &mut Reader<'_>, at: usize, x: ValueId) -> Result<ValueId> {
    let rank = r.dims(x)?.0.len();
    if rank < 2 {
        return Err("its input must be a matrix".to_owned());
    }
    let order = [("perm", r.ctx.ints_attr(&swapped(rank)))];
    r.helper(at, pd::Transpose::NAME, &[x], &order)
}

/// The lowest and the highest diagonal of a band.
fn band(r: &mut Reader<'_>, at: usize, index: usize) -> Result<[i64; 2]> {
    /// A wider band is written out as too many operations.
    const WIDEST: i64 = 256;
    let band = r.list(at, index, "diagonal")?;
    let ends = match band[..] {
        [k] => Some([k, k]),
        [low, high] if low <= high => Some([low, high]),
        _ => None,
    };
    let is_small =
        |&[low, high]: &[i64; 2]| i32::try_from(low).is_ok() && i32::try_from(high).is_ok() && high - low < WIDEST;
    ends.filter(is_small)
        .ok_or_else(|| "its band is malformed, or too wide".to_owned())
}

/// Whether a shorter diagonal is aligned at the end of its row: those above the main one, or those below it.
fn is_right(r: &Reader<'_>, at: usize, k: i64) -> Result<bool> {
    // The version before puts all at the beginning.
    let usual = if r.nodes[at].op.ends_with("V3") {
        "RIGHT_LEFT"
    } else {
        "LEFT_LEFT"
    };
    let align = r.text(at, "align").unwrap_or_else(|| usual.to_owned());
    let (above, below) = align
        .split_once('_')
        .ok_or("its `align` must be one of `LEFT_RIGHT`, `RIGHT_LEFT`, `LEFT_LEFT`, `RIGHT_RIGHT`")?;
    match if k > 0 { above } else { below } {
        "RIGHT" => Ok(k != 0),
        "LEFT" => Ok(false),
        _ => Err("its `align` must be one of `LEFT_RIGHT`, `RIGHT_LEFT`, `LEFT_LEFT`, `RIGHT_RIGHT`".to_owned()),
    }
}

/// How long the diagonal `k` of a matrix is.
fn length([rows, columns]: [i64; 2], k: i64) -> i64 {
    (rows - (-k).max(0)).min(columns - k.max(0))
}

/// The diagonals of a band, from a row for each, the highest first.
fn apart(
    r: &mut Reader<'_>,
    at: usize,
    x: ValueId,
    size: [i64; 2],
    [low, high]: [i64; 2],
) -> Result<Vec<(i64, ValueId)>> {
    let (dims, _) = r.dims(x)?;
    if low == high {
        return Ok(vec![(low, x)]);
    }
    let &[.., count, longest] = &dims[..] else {
        return Err("its diagonals must have at least two dimensions".to_owned());
    };
    if count != high - low + 1 {
        return Err(format!("found {count} diagonals, expected {}", high - low + 1));
    }
    let mut all = Vec::new();
    for k in low..=high {
        let (length, at_end) = (length(size, k), is_right(r, at, k)?);
        if !(1..=longest).contains(&length) {
            return Err(format!("diagonal {k} is out of range"));
        }
        let start = if at_end { longest - length } else { 0 };
        let axes = [dims.len() as i64 - 2, dims.len() as i64 - 1];
        let bounds = [
            ("axes", r.ctx.ints_attr(&axes)),
            ("starts", r.ctx.ints_attr(&[high - k, start])),
            ("ends", r.ctx.ints_attr(&[high - k + 1, start + length])),
            ("decrease_axis", r.ctx.ints_attr(&axes[..1])),
        ];
        all.push((k, r.helper(at, pd::Slice::NAME, &[x], &bounds)?));
    }
    Ok(all)
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
    let length = length([rows, columns], k);
    let (Some(&given), true) = (dims.last(), length > 0) else {
        return Err(format!(
            "diagonal {k} is out of range for matrices of {rows} × {columns}"
        ));
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
    let (mut ends, mut size) = ([0; 2], [length; 2]);
    if padding.is_some() {
        ends = band(r, at, 1)?;
        let given = [
            r.scalar(at, 2, "number of rows")?,
            r.scalar(at, 3, "number of columns")?,
        ];
        // The band nearest to the main diagonal is the longest.
        let least = [length + (-ends[1]).max(0), length + ends[0].max(0)];
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
            let zero = super::row::number_of(r.ctx, elem, 0.0);
            let attrs = [
                ("shape", r.ctx.ints_attr(&[])),
                ("value", zero),
                ("dtype", r.ctx.type_attr(elem)),
            ];
            r.helper(at, pd::Full::NAME, &[], &attrs)?
        }
    };
    put(r, at, x, size, ends, other)
}

/// The diagonals of a band in matrices, which have other elements elsewhere.
fn put(r: &mut Reader<'_>, at: usize, x: ValueId, size: [i64; 2], ends: [i64; 2], other: ValueId) -> Result<()> {
    let mut all = other;
    for (k, diagonal) in apart(r, at, x, size, ends)? {
        let [is_there, high] = on_diagonal(r, at, diagonal, size, k)?;
        all = r.helper(at, pd::Where::NAME, &[is_there, high, all], &[])?;
    }
    r.is_expressed(at, vec![all], &[]);
    Ok(())
}

/// The diagonals of a band, each a row, filled up to the length of the longest.
fn diag_parts(r: &mut Reader<'_>, at: usize) -> Result<()> {
    let ends = band(r, at, 1)?;
    let [low, high] = ends;
    if low == high {
        return diag_part(r, at, low);
    }
    let (x, padding) = (r.operand(at, 0)?, r.operand(at, 2)?);
    let size = sizes(r, x)?;
    let longest = length(size, if low > 0 { low } else { high.min(0) });
    let rank = r.dims(x)?.0.len() as i64;
    let mut rows = Vec::new();
    for k in (low..=high).rev() {
        let (length, at_end) = (length(size, k), is_right(r, at, k)?);
        if length < 1 {
            return Err(format!(
                "diagonal {k} is out of range for matrices of {} × {}",
                size[0], size[1]
            ));
        }
        let attrs = [
            ("offset", r.ctx.int_attr(k)),
            ("axis1", r.ctx.int_attr(rank - 2)),
            ("axis2", r.ctx.int_attr(rank - 1)),
        ];
        let row = r.helper(at, pd::Diagonal::NAME, &[x], &attrs)?;
        let mut parts = vec![row];
        if length < longest {
            let mut shape = r.dims(row)?.0;
            if let Some(last) = shape.last_mut() {
                *last = longest - length;
            }
            let rest = r.helper(at, pd::Expand::NAME, &[padding], &[("shape", r.ctx.ints_attr(&shape))])?;
            parts.insert(if at_end { 0 } else { 1 }, rest);
        }
        rows.push(r.helper(at, pd::Concat::NAME, &parts, &[("axis", r.ctx.int_attr(rank - 2))])?);
    }
    r.op(at, pd::Stack::NAME, &rows, &[("axis", r.ctx.int_attr(-2))])
}

/// A diagonal of each matrix.
fn diag_part(r: &mut Reader<'_>, at: usize, k: i64) -> Result<()> {
    let x = r.operand(at, 0)?;
    let _ = r.text(at, "align");
    if r.num_inputs(at) == 3 {
        // The padding of the shorter diagonals: there is one.
        r.input(at, 2)?;
    }
    let [rows, columns] = sizes(r, x)?;
    if rows + k.min(0) <= 0 || columns - k.max(0) <= 0 {
        return Err(format!(
            "diagonal {k} is out of range for matrices of {rows} × {columns}"
        ));
    }
    let rank = r.dims(x)?.0.len() as i64;
    let attrs = [
        ("offset", r.ctx.int_attr(k)),
        ("axis1", r.ctx.int_attr(rank - 2)),
        ("axis2", r.ctx.int_attr(rank - 1)),
    ];
    r.op(at, pd::Diagonal::NAME, &[x], &attrs)
}

/// Matrices with other diagonals.
fn set_diag(r: &mut Reader<'_>, at: usize) -> Result<()> {
    let ends = match r.num_inputs(at) {
        3 => band(r, at, 2)?,
        _ => [0; 2],
    };
    let (x, diagonal) = (r.operand(at, 0)?, r.operand(at, 1)?);
    let size = sizes(r, x)?;
    put(r, at, diagonal, size, ends, x)
}
