//! Statistics along axes: medians, deviations, histograms, sums without what is not a number.

use pir_ir::Type;

use super::{Call, Compose, Expr, fits_in_table};

pub(super) const OPS: &[(&str, Compose)] = &[
    ("mode", mode),
    ("median", |op| middle(op, false)),
    ("nanmedian", |op| middle(op, true)),
    ("histogram", histogram),
    ("nansum", |op| {
        let (x, axes, keep) = (op.x("x")?, op.ints("axis")?, op.flag("keepdim")?);
        let known = x.isnan().select(x.zeros(), x);
        Ok(vec![match op.dtype() {
            Some(elem) => known.cast(elem).sum_with(|o| o.axis(&*axes).keepdim(keep).dtype(elem)),
            None => known.sum_with(|o| o.axis(&*axes).keepdim(keep)),
        }])
    }),
    ("std", |op| {
        let (x, keep) = (op.x("x")?, op.flag("keepdim")?);
        let (axes, shape) = (all_axes(op, x)?, op.shape("x")?);
        let count: i64 = axes.iter().map(|&axis| shape[axis as usize]).product();
        // `unbiased` chooses it before, and is not read there.
        let less = op.float("correction")?;
        if count as f64 <= less {
            return Err("the number of elements must exceed `correction`".to_owned());
        }
        let off = x - x.mean_with(|o| o.axis(&*axes).keepdim(true));
        let sum = off.square().sum_with(|o| o.axis(&*axes).keepdim(keep));
        Ok(vec![(sum * (1.0 / (count as f64 - less))).sqrt()])
    }),
    ("rms_norm", |op| {
        let (x, eps, shape) = (op.x("x")?, op.float("epsilon")?, op.shape("x")?);
        let lead = shape
            .len()
            .checked_sub(op.ints("normalized_shape")?.len())
            .ok_or("`normalized_shape` has more dimensions than `x`")?;
        let axes: Vec<i64> = (lead as i64..shape.len() as i64).collect();
        let inverse = (x.square().mean_with(|o| o.axis(&*axes).keepdim(true)) + eps).rsqrt();
        let out = match op.some("scale") {
            Some(scale) => x * inverse * scale,
            None => x * inverse,
        };
        let rows: i64 = shape[..lead].iter().product();
        Ok(op.wanted(&[("y", out), ("invvar", inverse.reshape([rows]))]))
    }),
    ("repeat_interleave_with_tensor_index", |op| {
        let (x, repeats, axis) = (op.x("x")?, op.x("repeats")?, op.axis("axis", op.x("x")?)?);
        // Which of the operand's elements an element of the result is of: how many end before it.
        let ends = repeats.cast(Type::I64).cumsum_with(|o| o.axis(0));
        let count = repeats.cast(Type::I64).sum_with(|o| o.dtype(Type::I64)).reshape([]);
        let at = op
            .scope
            .arange_with(|o| o.start(0.0).end(count).step(1.0).dtype(Type::I64));
        let before = ends.reshape([1, -1]).less_equal(at.reshape([-1, 1]));
        let index = before.cast(Type::I64).sum_with(|o| o.axis([1]).dtype(Type::I64));
        Ok(vec![x.index_select_with(index, |o| o.axis(axis as i64))])
    }),
];

/// The axes of an attribute, counted from the front; all, if there are none.
fn all_axes<'c>(op: &Call<'c>, x: Expr<'c>) -> Result<Vec<i64>, String> {
    let rank = x.rank() as i64;
    let axes = op.ints("axis")?;
    if axes.iter().any(|axis| !(-rank..rank).contains(axis)) {
        return Err(format!("`axis` = {axes:?} is out of range for rank {rank}"));
    }
    Ok(match axes.is_empty() {
        true => (0..rank).collect(),
        false => axes.into_iter().map(|axis| axis.rem_euclid(rank)).collect(),
    })
}

/// The element in the middle of those in order, or the mean of both; and their places. Of numbers alone, or not a number if one is not.
fn middle<'c>(op: &Call<'c>, skips: bool) -> Result<Vec<Expr<'c>>, String> {
    let (keep, x, shape) = (op.flag("keepdim")?, op.x("x")?, op.shape("x")?);
    let axes = all_axes(op, x)?;
    let is_mean = match op.text("mode")?.as_str() {
        "avg" => true,
        "min" => false,
        other => return Err(format!("`mode` must be `avg` or `min`, not `{other}`")),
    };
    // The axes become the last one.
    let mut order: Vec<i64> = (0..shape.len() as i64).filter(|axis| !axes.contains(axis)).collect();
    let lead: Vec<i64> = order.iter().map(|&axis| shape[axis as usize]).collect();
    order.extend(&axes);
    let n: i64 = axes.iter().map(|&axis| shape[axis as usize]).product();
    let at = lead.len();
    if n == 0 || lead.contains(&0) {
        return Err("`x` must not be empty".to_owned());
    }
    let lines = x.transpose(&order).reshape([&*lead, &[n]].concat());
    let ordered = lines.argsort_with(|o| o.axis(at as i64).stable(true));
    let last = [at as i64];
    let (values, places) = if skips {
        // NaN is greater than all numbers.
        let known = lines.isnan().logical_not().cast(Type::I64);
        let count = known.sum_with(|o| o.axis(last).keepdim(true).dtype(Type::I64));
        let half = |x: Expr<'c>| x.maximum(x.zeros()).floor_divide(x.filled(2.0));
        let take = |k: Expr<'c>| ordered.map(|x| x.take_along_axis_with(k, |o| o.axis(at as i64)));
        let [low, high] = [
            take(half(count - 1.0)),
            take(half(count).minimum(count.filled((n - 1) as f64))),
        ];
        let value = if is_mean { halfway(low[0], high[0]) } else { low[0] };
        (value, [low[1], high[1]])
    } else {
        let [low, high] = [(n - 1) / 2, n / 2].map(|k| ordered.map(|x| x.cut(at, k, k + 1)));
        let value = if is_mean { halfway(low[0], high[0]) } else { low[0] };
        let unknown = lines.isnan().any_with(|o| o.axis(last).keepdim(true));
        (unknown.select(value.filled(f64::NAN), value), [low[1], high[1]])
    };
    let mut dims = lead;
    if keep {
        dims = shape;
        axes.iter().for_each(|&axis| dims[axis as usize] = 1);
    }
    let places = match is_mean {
        true => op.scope.stack_with(&places.map(|x| x.reshape(&*dims)), |o| o.axis(-1)),
        false => places[0].reshape(&*dims),
    };
    Ok([values.reshape(dims), places][..op.results.len().min(2)].to_vec())
}

/// The mean of two numbers; that of integers is truncated.
fn halfway<'c>(x: Expr<'c>, y: Expr<'c>) -> Expr<'c> {
    match x.elem().is_some_and(|elem| x.scope().context().is_float(elem)) {
        true => (x + y) * 0.5,
        false => (x + y) / x.filled(2.0),
    }
}

/// How many numbers are in each of equal parts of a range, or of that of the numbers themselves.
fn histogram<'c>(op: &Call<'c>) -> Result<Vec<Expr<'c>>, String> {
    let (x, bins) = (op.x("input")?, op.int("bins")?);
    let is_whole = !x.elem().is_some_and(|elem| op.scope.context().is_float(elem));
    let [low, high] = [op.float("min")?, op.float("max")?].map(|end| if is_whole { end.trunc() } else { end });
    if low > high || bins < 1 || op.shape("input")?.contains(&0) {
        return Err("`bins` must be positive, `min` at most `max`, and `input` not empty".to_owned());
    }
    fits_in_table(&[bins, op.shape("input")?.iter().product()])?;
    let x = x.reshape([-1, 1]);
    let x = if is_whole { x.cast(Type::F64) } else { x };
    let (low, high) = match low < high {
        true => (x.filled(low), x.filled(high)),
        false => {
            let [low, high] = match low == 0.0 {
                true => [x.min(), x.max()].map(|end| end.reshape([1, 1])),
                false => return Err("`min` and `max` must differ, or both be 0".to_owned()),
            };
            // Equal numbers are in the middle of a range.
            let wide = low.equal(high);
            (wide.select(low - 1.0, low), wide.select(high + 1.0, high))
        }
    };
    let inside = x.greater_equal(low).logical_and(x.less_equal(high));
    let place = ((x - low) * bins as f64 / (high - low))
        .floor()
        .clip(0.0, (bins - 1) as f64);
    let numbers: Vec<f64> = (0..bins).map(|bin| bin as f64).collect();
    let hits = place.equal(op.numbers(&numbers, &[1, bins], x)).logical_and(inside);
    let is_dense = op.flag("density")?;
    let counted = match op.some("weight") {
        Some(weight) => hits.cast(Type::F32) * weight.cast(Type::F32).reshape([-1, 1]),
        None if is_dense => hits.cast(Type::F32),
        None => hits.cast(Type::I64),
    };
    let counts = counted.sum_with(|o| o.axis([0]));
    let counts = match is_dense {
        true => {
            let width = (high - low).max().cast_like(counts) * (1.0 / bins as f64);
            counts / (counts.sum() * width)
        }
        false => counts,
    };
    Ok(vec![counts])
}

/// The most frequent element along an axis, the smallest of several, and its last index.
fn mode<'c>(op: &Call<'c>) -> Result<Vec<Expr<'c>>, String> {
    let (x, shape, axis) = (op.x("x")?, op.shape("x")?, op.axis("axis", op.x("x")?)?);
    let n = shape[axis];
    fits_in_table(&[shape.iter().product(), n])?;
    let order: Vec<i64> = (0..shape.len() as i64)
        .filter(|&other| other != axis as i64)
        .chain([axis as i64])
        .collect();
    let lead: Vec<i64> = order[..order.len() - 1]
        .iter()
        .map(|&axis| shape[axis as usize])
        .collect();
    let (line, last) = ([&*lead, &[n]].concat(), [lead.len() as i64]);
    let lines = x.transpose(&order);
    let plain = lines.detach();
    let pairs = [&*lead, &[n, n]].concat();
    let (left, right) = (
        plain.unsqueeze_with(|o| o.axis([-1])),
        plain.unsqueeze_with(|o| o.axis([-2])),
    );
    let same = left.expand(&*pairs).equal(right.expand(&*pairs));
    let counts = same.cast(Type::I64).sum_with(|o| o.axis([-1]));
    let is_most = counts.equal(counts.max_with(|o| o.axis(last).keepdim(true)).expand(&*line));
    let largest = plain.max_with(|o| o.axis(last).keepdim(true)).expand(&*line);
    let least = is_most.select(plain, largest).min_with(|o| o.axis(last).keepdim(true));
    let numbers: Vec<i64> = (0..n).collect();
    let numbers = op.scope.indices(&numbers).expand(&*line);
    let is_here = plain.equal(least.expand(&*line));
    let place = is_here
        .select(numbers, numbers.zeros())
        .max_with(|o| o.axis(last).keepdim(true));
    let value = lines.take_along_axis_with(place, |o| o.axis(last[0]));
    let mut dims = shape;
    match op.flag("keepdim")? {
        true => dims[axis] = 1,
        false => {
            dims.remove(axis);
        }
    }
    Ok(op.wanted(&[("out", value.reshape(&*dims)), ("indices", place.reshape(&*dims))]))
}
