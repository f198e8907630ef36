//! Blocks of matrices as panels, in the order in which a product reads them.

use super::gemm::{Product, Real};

/// A right matrix.
pub(super) enum Right<'v, T> {
    /// A matrix with the layout of the [`Product`].
    Matrix(&'v [T]),
    /// Rows that begin at these places, and may overlap.
    Rows { values: &'v [T], starts: &'v [usize] },
}

impl<T: Real> Right<'_, T> {
    /// Copies a block of rows, beginning at `from`, into a panel of `width` columns, beginning at `column`; `there` of
    /// them exist.
    pub(super) fn pack(
        &self,
        p: Product,
        panel: &mut [T],
        width: usize,
        [from, terms]: [usize; 2],
        [column, there]: [usize; 2],
    ) {
        match *self {
            Right::Matrix(y) => {
                let [_, _, ry, cy] = p.steps();
                pack(panel, width, [terms, there], &y[from * ry + column * cy..], [ry, cy]);
            }
            Right::Rows { values, starts } => {
                if there < width {
                    panel.fill(T::default());
                }
                for (row, start) in panel.chunks_exact_mut(width).zip(&starts[from..from + terms]) {
                    row[..there].copy_from_slice(&values[start + column..][..there]);
                }
            }
        }
    }
}

/// Copies a block into a panel: for each of `terms`, a row of `width` numbers, padded with zeros.
pub(super) fn pack<T: Real>(
    panel: &mut [T],
    width: usize,
    [terms, there]: [usize; 2],
    from: &[T],
    [step, across]: [usize; 2],
) {
    if there < width {
        panel.fill(T::default());
    }
    if across == 1 {
        for (l, row) in panel.chunks_exact_mut(width).enumerate().take(terms) {
            row[..there].copy_from_slice(&from[l * step..][..there]);
        }
        return;
    }
    // Along the rows of the block, some terms at a time, so that the panel stays in the cache.
    const TERMS: usize = 16;
    for (first, panel) in panel.chunks_mut(TERMS * width).enumerate() {
        let first = first * TERMS;
        let terms = TERMS.min(terms - first);
        for column in 0..there {
            let from = &from[column * across + first * step..];
            let places = panel[column..].iter_mut().step_by(width);
            if step == 1 {
                places.zip(&from[..terms]).for_each(|(to, &v)| *to = v);
            } else {
                places
                    .zip(from.iter().step_by(step))
                    .take(terms)
                    .for_each(|(to, &v)| *to = v);
            }
        }
    }
}
