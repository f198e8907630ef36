//! Operations that move elements about: each cotangent moves them back.

use pir_dialects::pd::{self, Expr, Given, Ints};
use pir_ir::Type;

use super::formula::{Op, adjoint, derivative};
use super::reduce::{constant, normalise};
use super::{Rule, rule};

pub(super) const RULES: &[Rule] = &[
    derivative!(Reshape, |op, g| g.reshape_like(op.x())).complex(),
    derivative!(Squeeze, |op, g| g.reshape_like(op.x())).complex(),
    derivative!(Unsqueeze, |op, g| g.reshape_like(op.x())).complex(),
    derivative!(Flatten, |op, g| g.reshape_like(op.x())).complex(),
    derivative!(Expand, |op, g| g.reduce_like(op.x())).complex(),
    derivative!(ExpandAs, |op, g| g.reduce_like(op.x())).complex(),
    derivative!(ReduceAs, |op, g| g.expand_like(op.x())).complex(),
    // y[.., r, n, ..] = x[.., n, ..]: split each repeated dimension in two and sum over the repetitions.
    derivative!(Tile, |op, g| {
        let shape = op.x().static_shape().ok_or("it needs a static shape")?;
        let repeat = op.repeat_times().constant().ok_or("it needs constant `repeat_times`")?;
        let rank = shape.len().max(repeat.len());
        let padded = |list: &[i64]| [vec![1; rank - list.len()], list.to_vec()].concat();
        let split: Vec<i64> = padded(&repeat)
            .into_iter()
            .zip(padded(&shape))
            .flat_map(|(r, n)| [r, n])
            .collect();
        let repetitions: Vec<i64> = (0..rank as i64).map(|axis| 2 * axis).collect();
        g.reshape(split).sum_with(|o| o.axis(repetitions)).reshape_like(op.x())
    })
    .complex(),
    adjoint!(Concat, concat).complex(),
    adjoint!(Stack, |op| {
        let (g, elements) = (op.grad(), op.elements());
        let axis = normalise(op.axis(), g.rank())?;
        for (at, element) in (0..).zip(elements) {
            if op.wants_at(element.index) {
                let t = g.cut(axis, at, at + 1).squeeze_with(|o| o.axis([axis as i64]));
                op.add_to(element, t);
            }
        }
    })
    .complex(),
    adjoint!(Split, |op| {
        let axis = constant(op.axis())?;
        op.give(pd::Split::x, op.scope().concat_with(&op.pieces(), |o| o.axis(axis)));
    })
    .complex(),
    adjoint!(SplitWithNum, |op| {
        let axis = constant(op.axis())?;
        op.give(
            pd::SplitWithNum::x,
            op.scope().concat_with(&op.pieces(), |o| o.axis(axis)),
        );
    })
    .complex(),
    adjoint!(Unstack, |op| op.give(
        pd::Unstack::x,
        op.scope().stack_with(&op.pieces(), |o| o.axis(op.axis()))
    ))
    .complex(),
    adjoint!(Unbind, |op| op.give(
        pd::Unbind::input,
        op.scope().stack_with(&op.pieces(), |o| o.axis(op.axis()))
    ))
    .complex(),
    rule("builtin.combine", |cx| {
        for index in 0..cx.num_operands() {
            if let Some(&Some(g)) = cx.list_grads.get(index) {
                cx.add(index, g)?;
            }
        }
        // An element that nothing reads has no cotangent.
        cx.settle_rest();
        Ok(())
    })
    .complex(),
    rule("builtin.split", |cx| {
        for (index, g) in cx.grads.clone().into_iter().enumerate() {
            if let Some(g) = g {
                cx.add_element(0, index, g)?;
            }
        }
        Ok(())
    })
    .complex(),
    // Their own transposes.
    derivative!(Tril, |op, g| g.tril_with(|o| o.like(op))).complex(),
    derivative!(Triu, |op, g| g.triu_with(|o| o.like(op))).complex(),
    derivative!(Flip, |op, g| g.flip(&op.axis().unwrap_or_default())).complex(),
    derivative!(Roll, |op, g| {
        match op.shifts() {
            Ints::Value(Given(Some(shifts))) => g.roll_with(op.scope().expr(shifts).neg(), |o| o.like(op)),
            shifts => {
                let shifts = shifts.constant().ok_or("its `shifts` are missing")?;
                let back: Vec<i64> = shifts.iter().map(|shift| -shift).collect();
                g.roll_with(back, |o| o.like(op))
            }
        }
    })
    .complex(),
];

/// Each operand gets its stretch of the cotangent. Where one begins is computed if a size before it is not known.
fn concat(op: Op<'_, pd::Concat>) -> Result<(), String> {
    let (g, elements) = (op.grad(), op.elements());
    let axis = normalise(constant(op.axis())?, g.rank())?;
    let mut known = 0;
    let mut computed: Option<Expr<'_>> = None;
    for element in elements {
        let shape = op.context().as_tensor(element.ty);
        let (shape, _) = shape.ok_or("`pd.concat` of something that is not a tensor")?;
        let size = shape[axis];
        if size >= 0 && computed.is_none() {
            if op.wants_at(element.index) {
                op.add_to(element, g.cut(axis, known, known + size));
            }
            known += size;
            continue;
        }
        let known = || op.scope().full_int_array_with(&[known], |o| o.dtype(Type::I64));
        let start = computed.unwrap_or_else(known);
        let end = match (size, element.element) {
            (0.., _) => start + size as f64,
            (_, None) => start + op.operand(element.index).shape().cut(0, axis as i64, axis as i64 + 1),
            _ => return Err("the derivative of `pd.concat` of a list needs static sizes along its axis".to_owned()),
        };
        if op.wants_at(element.index) {
            let t = g.slice(&[axis as i64], start, end);
            op.restate(t, element.ty);
            op.add_to(element, t);
        }
        computed = Some(end);
    }
    Ok(())
}
