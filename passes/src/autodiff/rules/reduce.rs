//! Reductions.

use pir_dialects::pd::{self, Expr, Ints, Number};

use super::Rule;
use super::formula::derivative;

pub(super) const RULES: &[Rule] = &[
    derivative!(Sum, |op, g| spread(g, op.x(), op.axis(), op.keepdim())).complex(),
    derivative!(Mean, |op, g| {
        let (x, axes) = (op.x(), reduced_axes(op.axis(), op.x().rank())?);
        let count = |shape: &[i64]| axes.iter().map(|&a| shape[a as usize]).product::<i64>();
        let share = match x.static_shape() {
            Some(shape) => g * (1.0 / count(&shape) as f64),
            // The number of elements of one mean is known when the program runs: numel(x) / numel(out).
            None => {
                let (n, m) = (x.numel(), op.out().numel());
                let (n, m) = (n.cast_like(x), m.cast_like(x));
                g * (m / n)
            }
        };
        spread(share, x, op.axis(), op.keepdim())
    })
    .complex(),
    derivative!(Max, |op, g| let axes = reduced_axes(op.axis(), op.x().rank())?; {
        x: op.x().max_grad_with(op.out(), g, |o| o.axis(&axes).keepdim(op.keepdim())),
    }),
    derivative!(Min, |op, g| let axes = reduced_axes(op.axis(), op.x().rank())?; {
        x: op.x().min_grad_with(op.out(), g, |o| o.axis(&axes).keepdim(op.keepdim())),
    }),
    derivative!(Amax, |op, g| let axes = reduced_axes(op.axis(), op.x().rank())?; {
        x: op.x().max_grad_with(op.out(), g, |o| o.axis(&axes).keepdim(op.keepdim())),
    }),
    derivative!(Amin, |op, g| let axes = reduced_axes(op.axis(), op.x().rank())?; {
        x: op.x().min_grad_with(op.out(), g, |o| o.axis(&axes).keepdim(op.keepdim())),
    }),
    derivative!(Prod, |op, g| let axes = reduced_axes(op.axis(), op.x().rank())?; {
        x: op.x().prod_grad_with(op.out(), g, |o| o.axis(&axes).keepdim(op.keepdim())),
    }),
    // The transpose of a running sum is the running sum from the other end.
    derivative!(Cumsum, |op, g| {
        let axis = if op.flatten() { 0 } else { constant(op.axis())? };
        let sum = g.cumsum_with(|o| {
            let o = o.axis(axis);
            let o = if op.exclusive() { o.exclusive(true) } else { o };
            o.reverse(!op.reverse())
        });
        if op.flatten() { sum.reshape_like(op.x()) } else { sum }
    })
    .complex(),
];

/// The axes of a reduction, counted from the front; all of them when none is given.
pub(super) fn reduced_axes(axes: impl Into<Ints>, rank: usize) -> Result<Vec<i64>, String> {
    let axes = axes.into().constant().ok_or("it needs a constant `axis`")?;
    if axes.is_empty() {
        return Ok((0..rank as i64).collect());
    }
    let axes: Result<Vec<usize>, String> = axes.iter().map(|&axis| normalise(axis, rank)).collect();
    let mut axes: Vec<i64> = axes?.into_iter().map(|axis| axis as i64).collect();
    axes.sort_unstable();
    axes.dedup();
    Ok(axes)
}

/// An axis that is a constant.
pub(super) fn constant(axis: Number) -> Result<i64, String> {
    let axis = axis.constant().ok_or("it needs a constant `axis`")?;
    Ok(axis as i64)
}

/// An axis counted from the front.
pub(super) fn normalise(axis: i64, rank: usize) -> Result<usize, String> {
    let at = if axis < 0 { axis + rank as i64 } else { axis };
    usize::try_from(at)
        .ok()
        .filter(|&a| a < rank)
        .ok_or_else(|| format!("axis {axis} is out of range for rank {rank}"))
}

/// The permutation that undoes another.
pub(super) fn inverse(perm: &[i64], rank: usize) -> Result<Vec<i64>, String> {
    let mut inverse = vec![0; perm.len()];
    for (to, &from) in perm.iter().enumerate() {
        inverse[normalise(from, rank)?] = to as i64;
    }
    Ok(inverse)
}

/// The cotangent of a reduction over the dimensions that were reduced.
fn spread<'c>(g: Expr<'c>, x: Expr<'c>, axes: Ints, keepdim: bool) -> Result<Expr<'c>, String> {
    let axes = reduced_axes(axes, x.rank())?;
    // The summed dimensions have the extent one: broadcasting does the rest.
    let is_wide = keepdim || axes.len() == x.rank();
    let g = if is_wide { g } else { g.unsqueeze_with(|o| o.axis(axes)) };
    Ok(g.cast_like(x).expand_like(x))
}
