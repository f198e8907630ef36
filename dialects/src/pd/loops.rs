//! Simplification of loops.

use pir_ir::{Attr, OpId, Rewriter, Type, ValueId};
use rustc_hash::FxHashMap;

/// If the condition forwards its arguments in another order, they are forwarded in the original order, and the body's
/// arguments and the loop's results are permuted. (MLIR aligns the arguments of `scf.while` in the same way.)
pub(super) fn align(r: &mut Rewriter<'_>, op: OpId, _: &[Option<Attr>]) -> bool {
    try_align(r, op).is_some()
}

fn try_align(r: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let &[.., cond, body] = r.body.op_regions(op) else {
        return None;
    };
    let (cond, body) = (r.body.single_block(cond)?, r.body.single_block(body)?);
    let end = r.body.last_op(cond)?;
    let args = r.body.block_args(cond).to_vec();
    let forwarded: Vec<ValueId> = r.body.operands(end).skip(1).collect();
    let count = r.body.block_args(body).len();
    if forwarded == args || forwarded.len() != args.len() || count != args.len() || r.body.num_results(op) != count {
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
    let from: Vec<usize> = from.into_iter().collect::<Option<_>>()?;
    for (at, &arg) in args.iter().enumerate() {
        r.body.set_operand(end, at + 1, arg);
    }
    let old_args = r.body.block_args(body).to_vec();
    for &at in &from {
        let (old, name) = (old_args[at], r.body.value_name(old_args[at]));
        let new = r.body.add_block_arg(body, r.body.value_type(old), name);
        r.body.replace_all_uses(old, new);
    }
    r.body.retain_block_args(body, |at| at >= count);
    let operands = r.body.operands_vec(op);
    let results: Vec<ValueId> = r.body.results(op).collect();
    let types: Vec<Type> = from.iter().map(|&at| r.body.value_type(results[at])).collect();
    let new = r.recreate(op, &operands, &types);
    for (&at, value) in from.iter().zip(r.body.results(new)) {
        r.stand_in(results[at], value);
    }
    r.erase_op(op);
    Some(())
}
