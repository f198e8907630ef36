//! Gradients of gradients: the `_grad` twins that rules emit, in operations that have derivatives themselves.
//!
//! One table of expansions serves twice. The pass `decompose` puts the expansion in the twin's place; the gradient rule of
//! a twin emits the expansion where the adjoint is built and differentiates it there. So a twin has derivatives of every
//! order, and its expansion is told once.

use pir_ir::{OpId, Rewriter, Use, ValueId};
use rustc_hash::FxHashSet;
use smallvec::{SmallVec, smallvec};

use super::super::activity::{carries, is_differentiable};
use super::super::cotangent::{Frame, filled_like, is_list, zeros_like};
use super::{Rule, RuleCx, Rules, rule};

/// What computes the results of a twin from its operands.
pub(crate) type Expand = fn(&mut RuleCx<'_, '_>) -> Result<SmallVec<[ValueId; 2]>, String>;

/// The expansions by operation name.
pub(crate) const EXPANSIONS: &[(&str, Expand)] = &[
    // g * (1 - out²)
    ("pd.tanh_grad", |cx| {
        let (out, g) = (cx.operand(0), cx.operand(1));
        let sq = cx.unary("pd.square", out)?;
        let d = cx.affine(sq, -1.0, 1.0)?;
        Ok(smallvec![cx.multiply(g, d)?])
    }),
    // g * out * (1 - out)
    ("pd.sigmoid_grad", |cx| {
        let (out, g) = (cx.operand(0), cx.operand(1));
        let rest = cx.affine(out, -1.0, 1.0)?;
        let d = cx.multiply(out, rest)?;
        Ok(smallvec![cx.multiply(g, d)?])
    }),
    ("pd.relu_grad", |cx| {
        let (out, g) = (cx.operand(0), cx.operand(1));
        let zeros = zeros_like(cx.r, out)?;
        let positive = cx.emit("pd.greater_than", &[out, zeros], &[])?;
        Ok(smallvec![cx.emit("pd.where", &[positive, g, zeros], &[])?])
    }),
    // g / (2 * out)
    ("pd.sqrt_grad", |cx| {
        let (out, g) = (cx.operand(0), cx.operand(1));
        let half = cx.scaled(g, 0.5)?;
        Ok(smallvec![cx.divide(half, out)?])
    }),
    // -g / 2 * out³
    ("pd.rsqrt_grad", |cx| {
        let (out, g) = (cx.operand(0), cx.operand(1));
        let sq = cx.unary("pd.square", out)?;
        let cube = cx.multiply(sq, out)?;
        let d = cx.scaled(cube, -0.5)?;
        Ok(smallvec![cx.multiply(g, d)?])
    }),
    // Zero at zero, whatever the cotangent.
    ("pd.abs_grad", |cx| {
        let (x, g) = (cx.operand(0), cx.operand(1));
        let (zeros, negated) = (zeros_like(cx.r, x)?, cx.scaled(g, -1.0)?);
        let below = cx.emit("pd.less_than", &[x, zeros], &[])?;
        let t = cx.select(below, negated, zeros)?;
        let above = cx.emit("pd.greater_than", &[x, zeros], &[])?;
        Ok(smallvec![cx.select(above, g, t)?])
    }),
    ("pd.pow_grad", pow_grad),
    ("pd.clip_grad", clip_grad),
    ("pd.maximum_grad", |cx| shares(cx, "pd.greater_than", "pd.less_than")),
    ("pd.minimum_grad", |cx| shares(cx, "pd.less_than", "pd.greater_than")),
    ("pd.max_grad", extremum_grad),
    ("pd.min_grad", extremum_grad),
    ("pd.prod_grad", prod_grad),
    ("pd.slice_grad", slice_grad),
];

pub(super) const RULES: &[Rule] = &[
    rule("pd.tanh_grad", expanded),
    rule("pd.sigmoid_grad", expanded),
    rule("pd.relu_grad", expanded),
    rule("pd.sqrt_grad", expanded),
    rule("pd.rsqrt_grad", expanded),
    rule("pd.abs_grad", expanded),
    rule("pd.pow_grad", expanded),
    rule("pd.clip_grad", expanded),
    rule("pd.maximum_grad", expanded),
    rule("pd.minimum_grad", expanded),
    rule("pd.max_grad", expanded),
    rule("pd.min_grad", expanded),
    rule("pd.prod_grad", expanded),
    // What scatters is linear in the cotangent: its transpose picks again.
    rule("pd.slice_grad", |cx| {
        let attrs = super::index::bounds(cx);
        let mut operands: SmallVec<[ValueId; 3]> = smallvec![cx.grad()?];
        // Computed bounds stand behind the operand of which the shape is read.
        operands.extend((2..cx.num_operands()).map(|index| cx.operand(index)));
        let t = cx.emit("pd.slice", &operands, &attrs)?;
        cx.add(0, t)
    }),
    rule("pd.gather_grad", |cx| pick_again(cx, "pd.gather")),
    rule("pd.index_select_grad", |cx| pick_again(cx, "pd.index_select")),
    rule("pd.gather_nd_grad", |cx| pick_again(cx, "pd.gather_nd")),
    rule("pd.take_along_axis_grad", |cx| pick_again(cx, "pd.take_along_axis")),
];

fn pick_again(cx: &mut RuleCx<'_, '_>, op: &str) -> Result<(), String> {
    let (index, g) = (cx.operand(0), cx.grad()?);
    let attrs: Vec<_> = cx.view().attr("axis").map(|a| ("axis", a)).into_iter().collect();
    let t = cx.emit(op, &[g, index], &attrs)?;
    cx.add(1, t)
}

/// Emits the expansion of an operation, and gives what stands for its results. `None` if it has none.
pub(crate) fn expand(r: &mut Rewriter<'_>, rules: &Rules, op: OpId) -> Option<Result<SmallVec<[ValueId; 2]>, String>> {
    let expand = rules.gradient(r.body, op)?;
    Some(expand(&mut RuleCx {
        rules,
        r,
        frame: &mut Frame::default(),
        op,
        image: &|v| v,
        active: &|_| false,
        grads: SmallVec::new(),
        list_grads: Vec::new(),
        settled: SmallVec::new(),
    }))
}

/// The rule of an operation with an expansion: the expansion is emitted and differentiated.
pub(crate) fn expanded(cx: &mut RuleCx<'_, '_>) -> Result<(), String> {
    let expand = cx.rules.expansion(cx.r.body, cx.op).ok_or("it has no expansion")?;
    let mark = cx.r.created_mark();
    let results = expand(cx)?;
    let emitted = cx.r.created_since(mark).to_vec();
    let mut active: FxHashSet<ValueId> = (0..cx.num_operands())
        .filter(|&i| cx.wants(i))
        .map(|i| cx.operand(i))
        .collect();
    for &op in &emitted {
        let reached = carried(cx.r, op, &|v| active.contains(&v));
        active.extend(reached);
    }
    let mut frame = Frame::default();
    for (&result, grad) in results.iter().zip(cx.grads.clone()) {
        if let Some(grad) = grad {
            frame.add(cx.r, result, grad)?;
        }
        if is_list(cx.r.ctx, cx.r.body.value_type(result)) {
            for (element, grad) in std::mem::take(&mut cx.list_grads).into_iter().enumerate() {
                if let Some(grad) = grad {
                    frame.add_element(cx.r, result, element, grad)?;
                }
            }
        }
    }
    for &op in emitted.iter().rev() {
        let (grads, list_grads) = frame.take_results(cx.r, op);
        let none = grads.iter().chain(&list_grads).all(Option::is_none);
        if none || carried(cx.r, op, &|v| active.contains(&v)).is_empty() {
            continue;
        }
        let rule = cx.rules.get(cx.r.body, op);
        let rule = rule.ok_or_else(|| format!("`{}` has no derivative", cx.ctx().op_str(cx.r.body.op_name(op))))?;
        let mut inner = RuleCx {
            rules: cx.rules,
            r: cx.r,
            frame: &mut frame,
            op,
            image: &|v| v,
            active: &|v| active.contains(&v),
            grads,
            list_grads,
            settled: SmallVec::new(),
        };
        inner.apply(rule)?;
    }
    for index in 0..cx.num_operands() {
        if !cx.wants(index) {
            continue;
        }
        let value = cx.operand(index);
        // What the expansion computes with and has no cotangent has none; what it does not read, it knows nothing of.
        let is_read = results.contains(&value) || emitted.iter().any(|&op| cx.r.body.operands(op).any(|v| v == value));
        if is_read {
            cx.settle(index);
        }
        if !is_list(cx.r.ctx, cx.r.body.value_type(value)) {
            if let Some(grad) = frame.take(value) {
                cx.add(index, grad)?;
            }
            continue;
        }
        for (element, grad) in frame.take_list(value).into_iter().enumerate() {
            if let Some(grad) = grad {
                cx.add_element(index, element, grad)?;
            }
        }
    }
    // What only the twin's own value needed.
    for &op in emitted.iter().rev() {
        if !cx.r.body.results(op).any(|v| cx.r.body.has_uses(v)) {
            cx.r.erase_op(op);
        }
    }
    Ok(())
}

/// The results of an operation that a derivative is carried to from some operands.
pub(crate) fn carried(r: &Rewriter<'_>, op: OpId, active: &dyn Fn(ValueId) -> bool) -> SmallVec<[ValueId; 4]> {
    let body = &*r.body;
    let operands = (0..body.num_operands(op)).filter(|&index| active(body.operand(op, index)));
    let from: SmallVec<[Use; 4]> = operands.map(|index| Use { op, index }).collect();
    body.results(op)
        .filter(|&v| is_differentiable(r.ctx, body.value_type(v)))
        .filter(|&v| from.iter().any(|&at| carries(r.ctx, body, at, v)))
        .collect()
}

fn pow_grad(cx: &mut RuleCx<'_, '_>) -> Result<SmallVec<[ValueId; 2]>, String> {
    let (x, g) = (cx.operand(0), cx.operand(1));
    if let Some(at) = cx.given_as_operand("y") {
        return super::scalars::power_grad(cx, at);
    }
    let y = cx.view().f64("y").ok_or("it needs an exponent `y`")?;
    if y == 0.0 {
        cx.settle_rest();
        // Not 0 * x^-1, which is not a number at zero.
        return Ok(smallvec![zeros_like(cx.r, x)?]);
    }
    let less = cx.ctx().float_attr(y - 1.0);
    let power = cx.emit("pd.pow", &[x], &[("y", less)])?;
    let d = cx.scaled(power, y)?;
    Ok(smallvec![cx.multiply(g, d)?])
}

fn clip_grad(cx: &mut RuleCx<'_, '_>) -> Result<SmallVec<[ValueId; 2]>, String> {
    let (x, g) = (cx.operand(0), cx.operand(1));
    let mut inside = None;
    for (name, test) in [("min", "pd.greater_equal"), ("max", "pd.less_equal")] {
        if let Some(bound) = cx.bound(name, x)? {
            let within = cx.emit(test, &[x, bound], &[])?;
            inside = Some(match inside {
                Some(inside) => cx.emit("pd.logical_and", &[inside, within], &[])?,
                None => within,
            });
        }
    }
    let Some(inside) = inside else { return Ok(smallvec![g]) };
    let zeros = zeros_like(cx.r, x)?;
    Ok(smallvec![cx.emit("pd.where", &[inside, g, zeros], &[])?])
}

/// The larger or the smaller of two: the winner gets the cotangent, each half of it when they are equal. The loser gets zero,
/// whatever the cotangent.
fn shares(cx: &mut RuleCx<'_, '_>, x_wins: &str, y_wins: &str) -> Result<SmallVec<[ValueId; 2]>, String> {
    let (x, y, g) = (cx.operand(0), cx.operand(1), cx.operand(2));
    let (zeros, half) = (zeros_like(cx.r, g)?, cx.scaled(g, 0.5)?);
    let tie = cx.emit("pd.equal", &[x, y], &[])?;
    let shared = cx.select(tie, half, zeros)?;
    let mut out = SmallVec::new();
    for (index, wins) in [x_wins, y_wins].into_iter().enumerate() {
        let wins = cx.emit(wins, &[x, y], &[])?;
        let t = cx.select(wins, g, shared)?;
        out.push(cx.reduce_to(t, index)?);
    }
    Ok(out)
}

/// The axes of a reduction, and what makes room for them in a result without them.
fn room(cx: &mut RuleCx<'_, '_>, reduced: ValueId, axes: &[usize]) -> Result<ValueId, String> {
    let keepdim = cx.view().bool("keepdim").unwrap_or(false);
    if keepdim || axes.is_empty() {
        return Ok(reduced);
    }
    let axes: Vec<i64> = axes.iter().map(|&a| a as i64).collect();
    let axes = cx.ints(&axes);
    cx.emit("pd.unsqueeze", &[reduced], &[("axis", axes)])
}

/// The elements that are equal to the extremum share the cotangent.
fn extremum_grad(cx: &mut RuleCx<'_, '_>) -> Result<SmallVec<[ValueId; 2]>, String> {
    let (x, out, g) = (cx.operand(0), cx.operand(1), cx.operand(2));
    let axes = cx.reduced_axes()?;
    let (out, g) = (room(cx, out, &axes)?, room(cx, g, &axes)?);
    let dtype = cx.ctx().type_attr(cx.ctx().elem_type(cx.operand_type(0)));
    // A NaN is what comes of every NaN.
    let (equal, unknown) = (cx.emit("pd.equal", &[x, out], &[])?, cx.unary("pd.isnan", x)?);
    let equal = cx.emit("pd.logical_or", &[equal, unknown], &[])?;
    let mask = cx.emit("pd.cast", &[equal], &[("dtype", dtype)])?;
    let all: Vec<i64> = axes.iter().map(|&a| a as i64).collect();
    let (all, keepdim) = (cx.ints(&all), cx.ctx().bool_attr(true));
    let count = cx.emit("pd.sum", &[mask], &[("axis", all), ("keepdim", keepdim)])?;
    let (share, zeros) = (cx.divide(g, count)?, zeros_like(cx.r, x)?);
    Ok(smallvec![cx.select(equal, share, zeros)?])
}

/// The product of all elements but one, for each: `n²` numbers for a product of `n`, but right for zeros and
/// differentiable again.
fn prod_grad(cx: &mut RuleCx<'_, '_>) -> Result<SmallVec<[ValueId; 2]>, String> {
    let (x, g) = (cx.operand(0), cx.operand(2));
    let shape = cx.static_shape(0).ok_or("it needs a static shape")?;
    let axes = cx.reduced_axes()?;
    let kept: Vec<usize> = (0..shape.len()).filter(|a| !axes.contains(a)).collect();
    let order: Vec<i64> = kept.iter().chain(&axes).map(|&a| a as i64).collect();
    let count: i64 = axes.iter().map(|&a| shape[a]).product();
    let groups: i64 = kept.iter().map(|&a| shape[a]).product();
    let ctx = cx.ctx();
    let perm = cx.ints(&order);
    let moved = cx.emit("pd.transpose", &[x], &[("perm", perm)])?;
    let row = cx.ints(&[groups, 1, count]);
    let rows = cx.emit("pd.reshape", &[moved], &[("shape", row)])?;
    let square = cx.ints(&[groups, count, count]);
    let matrix = cx.emit("pd.expand", &[rows], &[("shape", square)])?;
    // Ones on the diagonal leave out the element itself.
    let ones = filled_like(cx.r, matrix, 1.0)?;
    let (up, down) = (ctx.int_attr(1), ctx.int_attr(-1));
    let upper = cx.emit("pd.triu", &[ones], &[("diagonal", up)])?;
    let lower = cx.emit("pd.tril", &[ones], &[("diagonal", down)])?;
    let others = cx.emit("pd.add", &[upper, lower], &[])?;
    let zeros = zeros_like(cx.r, matrix)?;
    let off = cx.emit("pd.not_equal", &[others, zeros], &[])?;
    let factors = cx.emit("pd.where", &[off, matrix, ones], &[])?;
    let last = cx.ints(&[-1]);
    let products = cx.emit("pd.prod", &[factors], &[("axis", last)])?;
    let moved_shape: Vec<i64> = order.iter().map(|&a| shape[a as usize]).collect();
    let moved_shape = cx.ints(&moved_shape);
    let products = cx.emit("pd.reshape", &[products], &[("shape", moved_shape)])?;
    let mut back = vec![0; order.len()];
    for (to, &from) in order.iter().enumerate() {
        back[from as usize] = to as i64;
    }
    let back = cx.ints(&back);
    let products = cx.emit("pd.transpose", &[products], &[("perm", back)])?;
    let g = room(cx, g, &axes)?;
    Ok(smallvec![cx.multiply(g, products)?])
}

/// Zeros around the cotangent.
fn slice_grad(cx: &mut RuleCx<'_, '_>) -> Result<SmallVec<[ValueId; 2]>, String> {
    let g = cx.operand(0);
    let list = |cx: &RuleCx<'_, '_>, name: &str| {
        let attr = cx.view().attr(name);
        attr.and_then(|a| cx.ctx().attr_ints(a)).map(<[i64]>::to_vec)
    };
    let shape = list(cx, "x_shape").ok_or("it needs a static shape")?;
    let (axes, starts, ends) = match (list(cx, "axes"), list(cx, "starts"), list(cx, "ends")) {
        (Some(a), Some(b), Some(c)) if a.len() == b.len() && a.len() == c.len() => (a, b, c),
        _ => return Err("it needs constant `starts` and `ends`".to_owned()),
    };
    let mut paddings = vec![0; 2 * shape.len()];
    for ((axis, start), end) in axes.into_iter().zip(starts).zip(ends) {
        let axis = super::reduce::normalise(axis, shape.len())?;
        let size = shape[axis];
        let clamp = |at: i64| if at < 0 { (at + size).max(0) } else { at.min(size) };
        let start = clamp(start);
        paddings[2 * axis] = start;
        paddings[2 * axis + 1] = size - clamp(end).max(start);
    }
    let mut g = g;
    let dropped = list(cx, "decrease_axis").unwrap_or_default();
    if !dropped.is_empty() {
        let axes = cx.ints(&dropped);
        g = cx.emit("pd.unsqueeze", &[g], &[("axis", axes)])?;
    }
    let (paddings, zero) = (cx.ints(&paddings), cx.ctx().float_attr(0.0));
    Ok(smallvec![cx.emit(
        "pd.pad",
        &[g],
        &[("paddings", paddings), ("pad_value", zero)]
    )?])
}
