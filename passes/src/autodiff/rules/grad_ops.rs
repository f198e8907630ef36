//! Gradient operations, which rules emit: their compositions of operations that have derivatives themselves.

use pir_dialects::pd::{self, Expr, Ints, Number, Source};

use super::Rule;
use super::formula::{Op, composite, derivative};
use super::reduce::{inverse, normalise, reduced_axes};
use super::scalars::{bound, slope_in_base};

pub(super) const RULES: &[Rule] = &[
    composite!(TanhGrad, |op| op.out_grad() * (1.0 - op.out().square())),
    composite!(SigmoidGrad, |op| op.out_grad() * (op.out() * (1.0 - op.out()))),
    composite!(ReluGrad, |op| {
        let zeros = op.out().zeros();
        op.out().greater_than(zeros).select(op.out_grad(), zeros)
    }),
    composite!(SqrtGrad, |op| op.out_grad() * 0.5 / op.out()),
    composite!(RsqrtGrad, |op| op.out_grad() * (op.out().square() * op.out() * -0.5)),
    // Zero at zero, whatever the cotangent.
    composite!(AbsGrad, |op| {
        let (x, g) = (op.x(), op.out_grad());
        let (zeros, negated) = (x.zeros(), -g);
        let below = x.less_than(zeros).select(negated, zeros);
        x.greater_than(zeros).select(g, below)
    }),
    composite!(PowGrad, |op| {
        let (x, g) = (op.x(), op.out_grad());
        match (op.y(), op.y().constant()) {
            // Not 0 * x^-1, which is not a number at zero.
            (_, Some(0.0)) => {
                op.settle_rest();
                x.zeros()
            }
            (_, Some(y)) => g * (x.pow(y - 1.0) * y),
            (Number::Missing, _) => op.scope().fail("it needs an exponent `y`"),
            (y, None) => slope_in_base(x, x.number(y), g),
        }
    }),
    composite!(ClipGrad, |op| {
        let (x, g) = (op.x(), op.out_grad());
        let low = bound(op.min(), x).map(|low| x.greater_equal(low));
        let high = bound(op.max(), x).map(|high| x.less_equal(high));
        let inside = match (low, high) {
            (Some(low), Some(high)) => Some(low.logical_and(high)),
            (low, high) => low.or(high),
        };
        inside.map_or(g, |inside| inside.select(g, x.zeros()))
    }),
    composite!(MaximumGrad, |op| shares(
        [op.x(), op.y()],
        op.out_grad(),
        Expr::greater_than,
        Expr::less_than
    )),
    composite!(MinimumGrad, |op| shares(
        [op.x(), op.y()],
        op.out_grad(),
        Expr::less_than,
        Expr::greater_than
    )),
    composite!(MaxGrad, |op| extremum_grad(
        op.x(),
        op.out(),
        op.out_grad(),
        op.axis(),
        op.keepdim()
    )),
    composite!(MinGrad, |op| extremum_grad(
        op.x(),
        op.out(),
        op.out_grad(),
        op.axis(),
        op.keepdim()
    )),
    composite!(ProdGrad, prod_grad),
    // A scatter is linear in the cotangent: its transpose picks again.
    derivative!(SliceGrad, |op, g| g.slice_with(
        &op.axes().unwrap_or_default(),
        op.starts(),
        op.ends(),
        |o| o.like(op)
    ))
    .of(slice_grad)
    .complex(),
    derivative!(GatherGrad, |op, g| g.gather_with(op.index(), |o| o.like(op))).complex(),
    derivative!(IndexSelectGrad, |op, g| g.index_select_with(op.index(), |o| o.like(op))).complex(),
    derivative!(GatherNdGrad, |op, g| g.gather_nd(op.index())).complex(),
    derivative!(TakeAlongAxisGrad, |op, g| g
        .take_along_axis_with(op.index(), |o| o.like(op))),
];

/// The larger or the smaller of two: the winner gets the cotangent, each half of it when they are equal. The loser gets zero,
/// whatever the cotangent.
fn shares<'c>(
    [x, y]: [Expr<'c>; 2],
    g: Expr<'c>,
    x_wins: fn(Expr<'c>, Expr<'c>) -> Expr<'c>,
    y_wins: fn(Expr<'c>, Expr<'c>) -> Expr<'c>,
) -> [Expr<'c>; 2] {
    let (zeros, half) = (g.zeros(), g * 0.5);
    let shared = x.equal(y).select(half, zeros);
    let of = |wins: Expr<'c>, like| wins.select(g, shared).reduce_like(like);
    [of(x_wins(x, y), x), of(y_wins(x, y), y)]
}

/// A result of a reduction with room for the axes that it lacks.
fn widened<'c>(reduced: Expr<'c>, axes: &[i64], keepdim: bool) -> Expr<'c> {
    match keepdim || axes.is_empty() {
        true => reduced,
        false => reduced.unsqueeze_with(|o| o.axis(axes)),
    }
}

/// The elements that are equal to the extremum share the cotangent.
fn extremum_grad<'c>(x: Expr<'c>, out: Expr<'c>, g: Expr<'c>, axes: Ints, keepdim: bool) -> Result<Expr<'c>, String> {
    let axes = reduced_axes(axes, x.rank())?;
    let (out, g) = (widened(out, &axes, keepdim), widened(g, &axes, keepdim));
    // NaN propagates.
    let (equal, unknown) = (x.equal(out), x.isnan());
    let equal = equal.logical_or(unknown);
    let count = equal.cast_like(x).sum_with(|o| o.axis(&axes).keepdim(true));
    Ok(equal.select(g / count, x.zeros()))
}

/// The product of all elements but one, for each: `n²` numbers for a product of `n`, but right for zeros and
/// differentiable again.
fn prod_grad<'c>(op: Op<'c, pd::ProdGrad>) -> Result<Expr<'c>, String> {
    let shape = op.x().static_shape().ok_or("it needs a static shape")?;
    let axes = reduced_axes(op.axis(), shape.len())?;
    let kept: Vec<i64> = (0..shape.len() as i64).filter(|a| !axes.contains(a)).collect();
    let order: Vec<i64> = kept.iter().chain(&axes).copied().collect();
    let sizes = |axes: &[i64]| axes.iter().map(|&a| shape[a as usize]).collect::<Vec<i64>>();
    let (count, groups): (i64, i64) = (sizes(&axes).iter().product(), sizes(&kept).iter().product());
    let rows = op.x().transpose(&order).reshape([groups, 1, count]);
    let matrix = rows.expand([groups, count, count]);
    // Ones on the diagonal omit the element itself.
    let ones = matrix.ones();
    let others = ones.triu_with(|o| o.diagonal(1)) + ones.tril_with(|o| o.diagonal(-1));
    let factors = others.not_equal(matrix.zeros()).select(matrix, ones);
    let products = factors.prod_with(|o| o.axis([-1])).reshape(sizes(&order));
    let products = products.transpose(&inverse(&order, order.len())?);
    Ok(widened(op.out_grad(), &axes, op.keepdim()) * products)
}

/// Zeros around the cotangent.
fn slice_grad(cx: &mut super::RuleCx<'_, '_>) -> Result<smallvec::SmallVec<[pir_ir::ValueId; 2]>, String> {
    let formula = super::formula::Formula::new(cx);
    let op = formula.view::<pd::SliceGrad>();
    let shape = op.x_shape();
    let (axes, starts, ends) = match (op.axes(), op.starts().constant(), op.ends().constant()) {
        _ if op.attribute("x_shape").is_none() => return Err("it needs a static shape".to_owned()),
        (Some(a), Some(b), Some(c)) if a.len() == b.len() && a.len() == c.len() => (a, b, c),
        _ => return Err("it needs constant `starts` and `ends`".to_owned()),
    };
    let mut paddings = vec![0; 2 * shape.len()];
    for ((axis, start), end) in axes.into_iter().zip(starts).zip(ends) {
        let axis = normalise(axis, shape.len())?;
        let size = shape[axis];
        let clamp = |at: i64| if at < 0 { (at + size).max(0) } else { at.min(size) };
        paddings[2 * axis] = clamp(start);
        paddings[2 * axis + 1] = size - clamp(end).max(clamp(start));
    }
    let dropped = op.decrease_axis();
    let g = widened(op.out_grad(), &dropped, false);
    formula.results(g.pad_with(&paddings, |o| o.pad_value(0.0)))
}
