//! Operations that are differentiated by their expansion: the expansion is emitted where the adjoint is built, and differentiated there. So
//! they have derivatives of every order. The pass `decompose` puts the expansion of a gradient operation in its place.

use pir_ir::{OpId, Rewriter, Use, ValueId};
use smallvec::SmallVec;

use super::super::cotangent::{Frame, is_list};
use super::super::dense::Fresh;
use super::super::differentiable::{carries, is_differentiable};
use super::{RuleCx, RuleTable};

/// Emits the operations that compute the results of an operation from its operands.
pub(crate) type Expand = fn(&mut RuleCx<'_, '_>) -> Result<SmallVec<[ValueId; 2]>, String>;

/// Emits the composition of an operation, and returns the replacements of its results.
pub(crate) fn expand(
    r: &mut Rewriter<'_>,
    rules: &RuleTable,
    op: OpId,
    made_of: Expand,
) -> Result<SmallVec<[ValueId; 2]>, String> {
    made_of(&mut RuleCx {
        rules,
        r,
        frame: &mut Frame::default(),
        op,
        primal_at: &|v| v,
        active: &|_| false,
        grads: SmallVec::new(),
        list_grads: Vec::new(),
        settled: SmallVec::new(),
        is_total: false,
    })
}

/// The rule of an operation with an expansion: the expansion is emitted and differentiated.
pub(crate) fn expanded(cx: &mut RuleCx<'_, '_>) -> Result<(), String> {
    let expand = cx.rules.expansion(cx.r.body, cx.op).ok_or("it has no expansion")?;
    let mark = cx.r.created_mark();
    let mut made = Fresh::since_now(cx.r);
    let results = expand(cx)?;
    let emitted: SmallVec<[OpId; 16]> = cx.r.created_since(mark).into();
    let wanted = (0..cx.num_operands()).filter(|&i| cx.wants(i));
    let mut wanted: SmallVec<[ValueId; 4]> = wanted.map(|i| cx.operand(i)).collect();
    wanted.sort_unstable();
    for &op in &emitted {
        let reached = carried(cx.r, op, &|v| made.contains(v) || wanted.binary_search(&v).is_ok());
        reached.into_iter().for_each(|v| made.insert(v));
    }
    let active = |v: ValueId| made.contains(v) || wanted.binary_search(&v).is_ok();
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
    // A function that one operation computes: its result is known, and is recorded in the place of its operand. With several
    // operands it would be recorded beside them. In XLA, a loop that carries a tensor copies it in each iteration, which costs as much
    // as computing it again, fused with the rest.
    let known: SmallVec<[(ValueId, ValueId); 2]> = match emitted[..] {
        [only] if cx.num_operands() == 1 && !cx.rules.from_operands => (0..results.len())
            .filter(|&at| cx.r.body.defining_op(results[at]) == Some(only))
            .map(|at| (results[at], cx.result(at)))
            .filter(|&(result, known)| cx.r.body.value_type(result) == cx.r.body.value_type(known))
            .collect(),
        _ => SmallVec::new(),
    };
    let primal_at = |value: ValueId| {
        let found = known.iter().find(|(result, _)| *result == value);
        found.map_or(value, |&(_, known)| known)
    };
    for &op in emitted.iter().rev() {
        let (grads, list_grads) = frame.take_results(cx.r, op);
        let none = grads.iter().chain(&list_grads).all(Option::is_none);
        if none || carried(cx.r, op, &active).is_empty() {
            continue;
        }
        let rule = cx.rules.get(cx.r.body, op);
        let rule = rule.ok_or_else(|| format!("`{}` has no derivative", cx.ctx().op_str(cx.r.body.op_name(op))))?;
        let mut inner = RuleCx {
            rules: cx.rules,
            r: cx.r,
            frame: &mut frame,
            op,
            primal_at: &primal_at,
            active: &active,
            grads,
            list_grads,
            settled: SmallVec::new(),
            is_total: false,
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
    // Operations that only the value of the twin needed.
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
    if from.is_empty() {
        return SmallVec::new();
    }
    body.results(op)
        .filter(|&v| is_differentiable(r.ctx, body.value_type(v)))
        .filter(|&v| from.iter().any(|&at| carries(r.ctx, body, at, v)))
        .collect()
}
