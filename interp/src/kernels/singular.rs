//! Singular values, by Jacobi's rotations of columns (one-sided, M. Hestenes, 1958), in double precision.

use smallvec::smallvec;

use super::lapack::{Batch, SWEEPS, integers, lead, real, to_positive};
use super::number::{Number, Rotation, square_sum};
use super::{Inputs, Outputs, take};
use crate::tensor::Shape;

/// The operand, the singular values in falling order, the vectors in columns and in rows, and whether they were found. The vectors in
/// columns have the factor that makes the last of their largest elements positive; LAPACK does not specify which they have.
pub(super) fn gesdd<N: Number>(full: bool, inputs: Inputs) -> Result<Outputs, String> {
    let [a] = take(inputs)?;
    let batch = Batch::of(&a)?;
    let (m, n) = (batch.rows, batch.columns);
    let k = m.min(n);
    let (left, right) = if full { (m, n) } else { (k, k) };
    let (mut values, mut u, mut v, mut info) = (Vec::new(), Vec::new(), Vec::new(), vec![0; batch.count]);
    let all = N::elements(&a)?;
    for (at, info) in info.iter_mut().enumerate() {
        let matrix = |i: usize, j: usize| all[at * batch.size() + i * n + j];
        // The columns of the matrix, or of its adjoint: at most as many as their length.
        let (count, length) = (k, m.max(n));
        let mut columns: Vec<Vec<N>> = (0..count)
            .map(|j| {
                (0..length)
                    .map(|i| if m >= n { matrix(i, j) } else { matrix(j, i).conj() })
                    .collect()
            })
            .collect();
        let mut turns: Vec<Vec<N>> = (0..count).map(|j| unit(count, j)).collect();
        if !orthogonal(&mut columns, &mut turns) {
            *info = 1;
        }
        let size = |x: &[N]| square_sum(x).sqrt();
        let mut order: Vec<(f64, usize)> = columns.iter().map(|x| size(x)).zip(0..).collect();
        order.sort_by(|x, y| y.0.total_cmp(&x.0));
        let largest = order.first().map_or(0.0, |first| first.0);
        let (mut long, mut short) = (Vec::new(), Vec::new());
        for &(size, from) in &order {
            values.push(size);
            // For a zero singular value, any orthogonal direction will do.
            if size > largest * 1e-300 {
                long.push(columns[from].iter().map(|&x| x / N::of(size)).collect());
            }
            short.push(turns[from].clone());
        }
        let longs = if m >= n { left } else { right };
        complete(&mut long, length, longs.max(count));
        complete(&mut short, count, if m >= n { right } else { left });
        let (mut columns, mut rows) = if m >= n { (long, short) } else { (short, long) };
        for (column, row) in columns.iter_mut().zip(&mut rows) {
            let turn = to_positive(column.iter().copied());
            column.iter_mut().chain(row.iter_mut()).for_each(|x| *x = *x * turn);
        }
        u.extend((0..m).flat_map(|i| columns[..left].iter().map(move |column| column[i])));
        v.extend(rows[..right].iter().flatten().map(|x| x.conj()));
    }
    let shape = |last: &[usize]| -> Shape { lead(&a).iter().chain(last).copied().collect() };
    let (of_values, of_u, of_v) = (shape(&[k]), shape(&[m, left]), shape(&[right, n]));
    Ok(smallvec![
        a.clone(),
        real(&of_values, values, a.dtype())?,
        N::tensor(&of_u, u, a.dtype())?,
        N::tensor(&of_v, v, a.dtype())?,
        integers(lead(&a), None, info)?
    ])
}

fn dot<N: Number>(x: &[N], y: &[N]) -> N {
    x.iter().zip(y).map(|(&x, &y)| x.conj() * y).sum()
}

fn unit<N: Number>(length: usize, at: usize) -> Vec<N> {
    (0..length).map(|i| N::of(f64::from(u8::from(i == at)))).collect()
}

/// Rotates pairs of columns until all are orthogonal, and others in the same way; whether that was reached.
fn orthogonal<N: Number>(columns: &mut [Vec<N>], others: &mut [Vec<N>]) -> bool {
    for _ in 0..SWEEPS {
        let mut is_done = true;
        for p in 0..columns.len() {
            for q in p + 1..columns.len() {
                let (x, y) = (square_sum(&columns[p]), square_sum(&columns[q]));
                let z = dot(&columns[p], &columns[q]);
                if z.square().sqrt() <= 1e-16 * (x * y).sqrt() {
                    continue;
                }
                let Some(turn) = Rotation::of(x, y, z) else { continue };
                is_done = false;
                for list in [&mut *columns, &mut *others] {
                    let (first, second) = list.split_at_mut(q);
                    for (a, b) in first[p].iter_mut().zip(&mut second[0]) {
                        (*a, *b) = turn.columns(*a, *b);
                    }
                }
            }
        }
        if is_done {
            return true;
        }
    }
    false
}

/// Adds directions that are orthogonal to all there are.
fn complete<N: Number>(vectors: &mut Vec<Vec<N>>, length: usize, count: usize) {
    while vectors.len() < count.min(length) {
        let rest = |at: usize| {
            let mut rest: Vec<N> = unit(length, at);
            // Twice, for what rounding leaves.
            for known in vectors.iter().chain(vectors.iter()) {
                let part = dot(known, &rest);
                rest.iter_mut().zip(known).for_each(|(x, &y)| *x = *x - part * y);
            }
            (square_sum(&rest).sqrt(), rest)
        };
        let Some((size, best)) = (0..length).map(rest).max_by(|x, y| x.0.total_cmp(&y.0)) else {
            return;
        };
        vectors.push(best.into_iter().map(|x| x / N::of(size)).collect());
    }
}
