//! Products of tensors: sums by letters, of complex matrices, of bands.

use pir_dialects::pd;
use pir_ir::ValueId;

use super::reader::{Reader, Result};
use super::row::Row;
use super::spectrum;

const MATRICES: &str = "adj_x=false adj_y=false grad_x=false grad_y=false";

pub(super) const TABLE: &[Row] = &[
    ("BatchMatMul", "T T", MATRICES, product),
    ("BatchMatMulV2", "T T", MATRICES, product),
    ("Cross", "T T", "", |r, at| {
        r.build(at, 2, |x| {
            let last = x[0]
                .rank()
                .checked_sub(1)
                .ok_or("its inputs must have at least one dimension")?;
            let part = |k: i64| [x[0].cut(last, k, k + 1), x[1].cut(last, k, k + 1)];
            let [a, b] = [
                [part(0)[0], part(1)[0], part(2)[0]],
                [part(0)[1], part(1)[1], part(2)[1]],
            ];
            let minor = |i: usize, j: usize| a[i] * b[j] - a[j] * b[i];
            let all = [minor(1, 2), minor(2, 0), minor(0, 1)];
            Ok(vec![x[0].scope().concat_with(&all, |o| o.axis(last as i64))])
        })
    }),
    ("Einsum", "T*", "equation", einsum),
    ("TridiagonalMatMul", "T T T T", "", |r, at| {
        r.build(at, 4, |x| {
            let rank = x[3].rank();
            let (rows, count) = (rank - 2, x[3].dims().get(rank - 2).copied().unwrap_or(0));
            if rank < 2 || count < 1 {
                return Err("the size of its matrices is unknown".to_owned());
            }
            // Each diagonal is a row as long as the matrix is high.
            let shape = [&x[3].dims()[..rank - 1], &[1]].concat();
            let [above, on, below] = [x[0], x[1], x[2]].map(|d| d.reshape(&*shape));
            let moved = |by: i64| {
                let mut borders = vec![0; 2 * rank];
                borders[2 * rows + usize::from(by > 0)] = 1;
                let kept = match by > 0 {
                    true => x[3].cut(rows, 1, count),
                    false => x[3].cut(rows, 0, count - 1),
                };
                kept.pad_with(&borders, |o| o.pad_value(0.0))
            };
            Ok(vec![above * moved(1) + on * x[3] + below * moved(-1)])
        })
    }),
    (
        "TridiagonalSolve",
        "T T",
        "partial_pivoting=true perturb_singular=false",
        |r, at| {
            // The result does not depend on how rows are exchanged, but for its rounding.
            let _ = r.flag(at, "partial_pivoting");
            let operands = r.operands(at, 2)?;
            let values = r.express(at, &operands, |scope, x| {
                let (rank, n) = (x[0].rank(), x[0].dims().last().copied().unwrap_or(0));
                if rank < 2 || n < 1 {
                    return Err("the size of its matrices is unknown".to_owned());
                }
                let row = |k: i64| x[0].cut(rank - 2, k, k + 1);
                // Element i of the upper diagonal is in row i, element i of the lower one too: the last and the first count for nothing.
                let mut matrix = None;
                for (k, offset) in [(0, 1), (1, 0), (2, -1)] {
                    let index: Vec<i64> = (0..n).map(|i| i + offset).collect();
                    let is_there = scope.indices(&index).reshape([n, 1]);
                    let columns: Vec<i64> = (0..n).collect();
                    let is_there = is_there.equal(scope.indices(&columns).reshape([1, n]));
                    let shape = [&x[0].dims()[..rank - 2], &[n, 1]].concat();
                    let spread = row(k).reshape(&*shape);
                    let part = is_there.select(spread, spread.zeros());
                    matrix = Some(match matrix {
                        Some(sum) => part + sum,
                        None => part,
                    });
                }
                let matrix = matrix.ok_or("its diagonals must have three rows")?;
                let ids: Option<Vec<ValueId>> = [matrix, x[1]].iter().map(|x| x.id()).collect();
                let solved = ids.map(|ids| scope.build(pd::Solve::NAME, &ids, &[], None));
                Ok(solved.unwrap_or_default())
            })?;
            r.is_expressed(at, values, &[]);
            Ok(())
        },
    ),
];

/// `BatchMatMul`; an adjoint matrix is transposed and, if complex, conjugated.
fn product(r: &mut Reader<'_>, at: usize) -> Result<()> {
    let mut operands = r.operands(at, 2)?;
    let sides = [r.flag(at, "adj_x"), r.flag(at, "adj_y")];
    for (operand, adjoint) in operands.iter_mut().zip(sides) {
        if adjoint {
            *operand = spectrum::conjugate(r, at, *operand)?;
        }
    }
    let attrs = [
        ("transpose_x", r.ctx.bool_attr(sides[0])),
        ("transpose_y", r.ctx.bool_attr(sides[1])),
    ];
    let attrs: Vec<_> = attrs
        .into_iter()
        .zip(sides)
        .filter(|(_, on)| *on)
        .map(|(attr, _)| attr)
        .collect();
    r.op(at, pd::Matmul::NAME, &operands, &attrs)
}

/// `Einsum`. A letter that an operand has twice selects a diagonal; the dimensions of an ellipsis get unused letters.
fn einsum(r: &mut Reader<'_>, at: usize) -> Result<()> {
    let equation: String = r.text(at, "equation").ok_or("it has no equation")?;
    let equation: String = equation.chars().filter(|c| !c.is_whitespace()).collect();
    let (left, right) = equation.split_once("->").ok_or("its equation has no arrow")?;
    let mut operands = r.operands(at, r.num_inputs(at))?;
    let words: Vec<&str> = left.split(',').collect();
    if words.len() != operands.len() {
        return Err(format!(
            "`{left}` names {} operands, and it has {}",
            words.len(),
            operands.len()
        ));
    }
    let unused: Vec<char> = ('a'..='z')
        .chain('A'..='Z')
        .filter(|c| !equation.contains(*c))
        .collect();
    let mut widest = 0;
    let mut spelled: Vec<Vec<char>> = Vec::new();
    for (word, &operand) in words.iter().zip(&operands) {
        let rank = r.dims(operand)?.0.len();
        spelled.push(match word.split_once("...") {
            None => word.chars().collect(),
            Some((before, behind)) => {
                let count = rank
                    .checked_sub(before.len() + behind.len())
                    .ok_or("its equation does not match the ranks of its inputs")?;
                widest = widest.max(count);
                // The last letters, since axes are aligned at the end.
                let letters = unused.get(..count).ok_or("it has too many axes")?;
                before
                    .chars()
                    .chain(letters.iter().rev().copied())
                    .chain(behind.chars())
                    .collect()
            }
        });
    }
    let wide: String = unused
        .get(..widest)
        .ok_or("it has too many axes")?
        .iter()
        .rev()
        .collect();
    let right = right.replace("...", &wide);
    for (letters, operand) in spelled.iter_mut().zip(&mut operands) {
        // Each letter once, the doubled ones at the end.
        while let Some((first, second)) = doubled(letters) {
            let attrs = [
                ("offset", r.ctx.int_attr(0)),
                ("axis1", r.ctx.int_attr(first as i64)),
                ("axis2", r.ctx.int_attr(second as i64)),
            ];
            *operand = r.helper(at, pd::Diagonal::NAME, &[*operand], &attrs)?;
            let letter = letters.remove(second);
            letters.remove(first);
            letters.push(letter);
        }
    }
    let left: Vec<String> = spelled.iter().map(|letters| letters.iter().collect()).collect();
    let plain = format!("{}->{right}", left.join(","));
    r.op(at, pd::Einsum::NAME, &operands, &[("equation", r.ctx.str_attr(&plain))])
}

fn doubled(letters: &[char]) -> Option<(usize, usize)> {
    let at = |(first, letter): (usize, &char)| {
        let second = letters.iter().skip(first + 1).position(|other| other == letter)?;
        Some((first, first + 1 + second))
    };
    letters.iter().enumerate().find_map(at)
}
