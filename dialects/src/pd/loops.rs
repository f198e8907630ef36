//! Simplification of loops.

use pir_ir::{Attr, FlowEdit, FlowPoint, OpId, Rewriter, ValueId};
use rustc_hash::FxHashMap;

/// If the condition forwards its arguments in another order, they are forwarded in the original order, and the body's
/// arguments and the loop's results are permuted. (MLIR aligns the arguments of `scf.while` in the same way.)
pub(super) fn align(r: &mut Rewriter<'_>, op: OpId, _: &[Option<Attr>]) -> bool {
    try_align(r, op).is_some()
}

fn try_align(r: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let form = r.body.flow_form(r.ctx, op)?;
    let ([cond, body], passes) = (form.loop_blocks()?, form.passes[0]);
    let args = r.body.block_args(cond).to_vec();
    let forwarded: Vec<ValueId> = r.body.operands(r.body.last_op(cond)?).skip(passes).collect();
    let count = r.body.block_args(body).len();
    if forwarded == args || forwarded.len() != args.len() || count != args.len() {
        return None;
    }
    // The index of each argument.
    let place: FxHashMap<ValueId, usize> = args.iter().enumerate().map(|(at, &arg)| (arg, at)).collect();
    let mut from = vec![None; count];
    for (at, value) in forwarded.iter().enumerate() {
        if from[*place.get(value)?].replace(at).is_some() {
            return None;
        }
    }
    let mut edit = FlowEdit::new(r.ctx, r.body, op).ok()?;
    edit.permute(FlowPoint::Parent, from.into_iter().collect::<Option<_>>()?);
    edit.check(r.body).ok()?.apply(r, &[]);
    Some(())
}
