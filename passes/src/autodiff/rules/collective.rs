//! Collectives: linear maps between the tensors of all processes that run a program.
//!
//! What is differentiated is the sum of what the processes are seeded with, so a derivative is the transposed map, a collective
//! again: every process runs the same adjoint. PaddlePaddle's operations for parallel models (`mp_allreduce_sum`, `c_identity`)
//! take what follows for one computation that all processes repeat, as their own derivatives there do.

use pir_dialects::pd;
use pir_ir::{Attr, Type, ValueId};

use super::{Rule, RuleCx, rule};

pub(super) const RULES: &[Rule] = &[
    rule(pd::AllReduce::NAME, |cx| {
        transposed(cx, pd::AllReduce::NAME, &["ring_id"])
    }),
    rule(pd::CAllreduceSum::NAME, |cx| {
        let attrs = ["ring_id", "use_calc_stream", "use_model_parallel"];
        match cx.view().bool("use_model_parallel") {
            Some(true) => unchanged(cx),
            _ => transposed(cx, pd::CAllreduceSum::NAME, &attrs),
        }
    })
    .reverse_only(),
    rule(pd::MpAllreduceSum::NAME, unchanged).reverse_only(),
    rule(pd::CIdentity::NAME, |cx| {
        transposed(cx, pd::MpAllreduceSum::NAME, &["ring_id"])
    })
    .reverse_only(),
    rule(pd::AllToAll::NAME, |cx| {
        transposed(cx, pd::AllToAll::NAME, &["ring_id"])
    }),
    rule(pd::ReduceScatter::NAME, |cx| {
        transposed(cx, pd::AllGather::NAME, &["ring_id", "nranks"])
    }),
    rule(pd::AllGather::NAME, gathered),
    rule(pd::Reduce::NAME, |cx| {
        is_sum(cx)?;
        let root = cx.view().attr("root_id");
        collective(cx, pd::Broadcast::NAME, &["ring_id"], root.map(|root| ("root", root)))
    }),
    rule(pd::Broadcast::NAME, broadcast),
];

/// A reduction that is not a sum has no derivative.
fn is_sum(cx: &RuleCx<'_, '_>) -> Result<(), String> {
    match cx.view().int("reduce_type").unwrap_or(0) {
        0 => Ok(()),
        _ => Err("only sums over processes have a derivative".to_owned()),
    }
}

fn unchanged(cx: &mut RuleCx<'_, '_>) -> Result<(), String> {
    match cx.grads.first().copied().flatten() {
        Some(grad) => cx.add(0, grad),
        None => Ok(()),
    }
}

/// By another collective, with these attributes of the operation.
fn transposed(cx: &mut RuleCx<'_, '_>, name: &str, attrs: &[&str]) -> Result<(), String> {
    is_sum(cx)?;
    collective(cx, name, attrs, None)
}

fn collective(cx: &mut RuleCx<'_, '_>, name: &str, attrs: &[&str], more: Option<(&str, Attr)>) -> Result<(), String> {
    let Some(grad) = cx.grads.first().copied().flatten() else {
        return Ok(());
    };
    let ty = cx.operand_type(0);
    let out = emitted(cx, name, grad, ty, attrs, more);
    cx.add(0, out)
}

fn emitted(
    cx: &mut RuleCx<'_, '_>,
    name: &str,
    x: ValueId,
    ty: Type,
    attrs: &[&str],
    more: Option<(&str, Attr)>,
) -> ValueId {
    let given: Vec<_> = attrs
        .iter()
        .filter_map(|&attr| Some((attr, cx.view().attr(attr)?)))
        .chain(more)
        .collect();
    let mut op = cx.r.op(name).operand(x).result(ty);
    for (name, attr) in given {
        op = op.attr(name, attr);
    }
    op.value()
}

/// The rank of this process in the group of the operation.
fn rank(cx: &RuleCx<'_, '_>) -> Option<i64> {
    let is_global = cx.view().int("ring_id").unwrap_or(0) == 0;
    cx.rules.rank.filter(|_| is_global)
}

/// Each process gets the sum of its part: by `reduce_scatter`, or, if it is known which process this is, from the sum of all, which
/// processors without accelerators compute too.
fn gathered(cx: &mut RuleCx<'_, '_>) -> Result<(), String> {
    let Some(rank) = rank(cx) else {
        return transposed(cx, pd::ReduceScatter::NAME, &["ring_id", "nranks"]);
    };
    let Some(grad) = cx.grads.first().copied().flatten() else {
        return Ok(());
    };
    let rows = match cx.static_shape(0).as_deref() {
        Some([rows, ..]) => *rows,
        Some([]) => 1,
        None => return Err("it needs the shape of its operand".to_owned()),
    };
    let ty = cx.r.body.value_type(grad);
    let sum = emitted(cx, pd::AllReduce::NAME, grad, ty, &["ring_id"], None);
    let shape = cx.static_shape(0).unwrap_or_default();
    cx.formula(|op| {
        let part = op.scope().expr(sum).cut(0, rank * rows, (rank + 1) * rows);
        op.add_at(0, part.reshape(shape));
    })
}

/// The root gets the sum of all cotangents, the others nothing.
fn broadcast(cx: &mut RuleCx<'_, '_>) -> Result<(), String> {
    let rank = rank(cx).ok_or("it depends on the number of the process: give the option `rank`, for ring 0")?;
    let Some(grad) = cx.grads.first().copied().flatten() else {
        return Ok(());
    };
    let is_root = cx.view().int("root").unwrap_or(0) == rank;
    let ty = cx.operand_type(0);
    let sum = emitted(cx, pd::AllReduce::NAME, grad, ty, &["ring_id"], None);
    match is_root {
        true => cx.add(0, sum),
        // All take part in the sum.
        false => {
            cx.settle(0);
            Ok(())
        }
    }
}
