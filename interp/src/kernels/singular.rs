//! Singular values, by Jacobi's rotations of columns (one-sided, M. Hestenes, 1958), in double precision.

use smallvec::smallvec;

use super::lapack::{Batch, SWEEPS, integers, lead, tensor};
use super::{Inputs, Outputs, take};
use crate::tensor::Shape;

/// The operand, the singular values in falling order, the vectors in columns and in rows, and whether they were found. The vectors in
/// columns have the sign that makes the last of their largest elements positive; LAPACK does not say which they have.
pub(super) fn gesdd(full: bool, inputs: Inputs) -> Result<Outputs, String> {
    let [a] = take(inputs)?;
    let batch = Batch::of(&a)?;
    let (m, n) = (batch.rows, batch.columns);
    let k = m.min(n);
    let (left, right) = if full { (m, n) } else { (k, k) };
    let (mut values, mut u, mut v, mut info) = (Vec::new(), Vec::new(), Vec::new(), vec![0; batch.count]);
    let all = a.to_f64();
    for (at, info) in info.iter_mut().enumerate() {
        let matrix = |i: usize, j: usize| all[at * batch.size() + i * n + j];
        // The columns of the matrix, or of its transpose: at most as many as their length.
        let (count, length) = (k, m.max(n));
        let mut columns: Vec<Vec<f64>> = (0..count)
            .map(|j| {
                (0..length)
                    .map(|i| if m >= n { matrix(i, j) } else { matrix(j, i) })
                    .collect()
            })
            .collect();
        let mut turns: Vec<Vec<f64>> = (0..count).map(|j| unit(count, j)).collect();
        if !orthogonal(&mut columns, &mut turns) {
            *info = 1;
        }
        let size = |x: &[f64]| dot(x, x).sqrt();
        let mut order: Vec<(f64, usize)> = columns.iter().map(|x| size(x)).zip(0..).collect();
        order.sort_by(|x, y| y.0.total_cmp(&x.0));
        let largest = order.first().map_or(0.0, |first| first.0);
        let (mut long, mut short) = (Vec::new(), Vec::new());
        for &(size, from) in &order {
            values.push(size);
            // For a zero singular value, any orthogonal direction will do.
            if size > largest * 1e-300 {
                long.push(columns[from].iter().map(|x| x / size).collect());
            }
            short.push(turns[from].clone());
        }
        let longs = if m >= n { left } else { right };
        complete(&mut long, length, longs.max(count));
        complete(&mut short, count, if m >= n { right } else { left });
        let (mut columns, mut rows) = if m >= n { (long, short) } else { (short, long) };
        for (column, row) in columns.iter_mut().zip(&mut rows) {
            let best = column
                .iter()
                .fold(0.0, |best: f64, x| if x.abs() >= best.abs() { *x } else { best });
            if best < 0.0 {
                column.iter_mut().chain(row.iter_mut()).for_each(|x| *x = -*x);
            }
        }
        u.extend((0..m).flat_map(|i| columns[..left].iter().map(move |column| column[i])));
        v.extend(rows[..right].iter().flatten());
    }
    let shape = |last: &[usize]| -> Shape { lead(&a).iter().chain(last).copied().collect() };
    let (of_values, of_u, of_v) = (shape(&[k]), shape(&[m, left]), shape(&[right, n]));
    Ok(smallvec![
        a.clone(),
        tensor(&of_values, values, a.dtype())?,
        tensor(&of_u, u, a.dtype())?,
        tensor(&of_v, v, a.dtype())?,
        integers(lead(&a), None, info)?
    ])
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

fn unit(length: usize, at: usize) -> Vec<f64> {
    (0..length).map(|i| f64::from(u8::from(i == at))).collect()
}

/// Rotates pairs of columns until all are orthogonal, and others in the same way; whether that was reached.
fn orthogonal(columns: &mut [Vec<f64>], others: &mut [Vec<f64>]) -> bool {
    for _ in 0..SWEEPS {
        let mut is_done = true;
        for p in 0..columns.len() {
            for q in p + 1..columns.len() {
                let (x, y, z) = (
                    dot(&columns[p], &columns[p]),
                    dot(&columns[q], &columns[q]),
                    dot(&columns[p], &columns[q]),
                );
                if z.abs() <= 1e-16 * (x * y).sqrt() || z == 0.0 {
                    continue;
                }
                is_done = false;
                let slope = (y - x) / (2.0 * z);
                let sign = if slope < 0.0 { -1.0 } else { 1.0 };
                let t = sign / (slope.abs() + slope.hypot(1.0));
                let c = 1.0 / t.hypot(1.0);
                for list in [&mut *columns, &mut *others] {
                    let (first, second) = list.split_at_mut(q);
                    for (a, b) in first[p].iter_mut().zip(&mut second[0]) {
                        (*a, *b) = (c * (*a - t * *b), c * (t * *a + *b));
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
fn complete(vectors: &mut Vec<Vec<f64>>, length: usize, count: usize) {
    while vectors.len() < count.min(length) {
        let rest = |at: usize| {
            let mut rest = unit(length, at);
            // Twice, for what rounding leaves.
            for known in vectors.iter().chain(vectors.iter()) {
                let part = dot(&rest, known);
                rest.iter_mut().zip(known).for_each(|(x, y)| *x -= part * y);
            }
            (dot(&rest, &rest).sqrt(), rest)
        };
        let Some((size, best)) = (0..length).map(rest).max_by(|x, y| x.0.total_cmp(&y.0)) else {
            return;
        };
        vectors.push(best.into_iter().map(|x| x / size).collect());
    }
}
