//! Loops that record, and are run again as far as the stack had no room.
//!
//! The iterations that the stack holds are the first ones: `cf.commit` counts them. The dual is emitted twice: first for the
//! iterations after these, as the dual of a loop that is run again from the state that they lead to; then for those that
//! were recorded.
//!
//! ```text
//! while (...) { ...; push; kept = commit (stack, kept, trip) }
//! state = ...                            // before iteration `kept`, if there are more
//! while (trips - kept times) { ... }     // the dual, of a loop that is run again
//! while_grad until `stack` is empty      // the dual
//! ```

use pir_dialects::cf;
use pir_ir::{Arith, FlowKind, Rewriter, ValueDef, ValueId, ValueMap};

use super::schedule::advanced;
use super::segments::is_plain;
use super::slots::Loop;
use crate::autodiff::control_ops::{ControlOps, Kit};
use crate::autodiff::loop_editing::Carry;
use crate::autodiff::tapes::Tapes;

/// The iterations that were not recorded: how many, and the state that they start from.
pub(super) struct Rest {
    pub(super) trips: ValueId,
    pub(super) first: Vec<ValueId>,
}

/// Whether the dual of the loop of a tape can be left and entered again between two iterations, and is in the same block as the loop.
pub(super) fn is_possible(r: &Rewriter<'_>, names: &ControlOps, tapes: &Tapes, at: usize) -> bool {
    let tape = &tapes.all[at];
    let block = |block| r.body.block_parent(block).and_then(|op| r.body.op_block(op));
    tape.kind == FlowKind::Loop && block(tape.forward) == block(tape.dual) && is_plain(r, names, tapes, at)
}

/// Counts the iterations of the loop of a tape that its stack holds, makes another dual for these, and emits the state after
/// them at the insertion point. `trips` is how many iterations there were, a result of the loop; `advance` emits one.
pub(super) fn apply(
    r: &mut Rewriter<'_>,
    names: &ControlOps,
    tapes: &Tapes,
    at: usize,
    (this, kit, numbers): (&Loop, Kit, [ValueId; 2]),
    (trips, first): (ValueId, &[ValueId]),
    advance: &mut dyn FnMut(&mut Rewriter<'_>, &[ValueId]) -> Vec<ValueId>,
) -> Option<Rest> {
    let dual = r.body.block_parent(tapes.all[at].dual)?;
    let ValueDef::Result(op, counted) = r.body.value_def(trips) else {
        return None;
    };
    let trip = *r.body.block_args(this.body).get(counted as usize)?;
    let count = kit.arith.count_type(r.ctx);
    let carry = Carry::plan(r, names, op, [count])?;
    let point = r.point();
    let zero = kit.count(r.before(op), 0, "none_kept");
    let carried = carry.apply(r, &[zero]);
    let kept = carried.first()?;
    r.name(kept.in_cond, "kept");
    r.name(kept.in_body, "kept");
    let inside = tapes.all[at].sides[1]?.inside;
    let commit = r.before(this.body_end).op(cf::COMMIT).operand(inside);
    let commit = commit.operand(kept.in_body).operand(trip);
    let next = commit.result(count).value();
    r.name(next, "kept_next");
    r.body.set_operand(kept.yielded.op, kept.yielded.index, next);
    let op = r.body.block_parent(this.cond)?;
    let (trips, kept) = (r.body.result(op, counted as usize), r.body.result(op, kept.result_at));
    r.name(kept, "kept");
    // The dual of what is on the stack goes on from what the dual of the others gives.
    let uses: Vec<_> = r
        .body
        .results(dual)
        .enumerate()
        .flat_map(|(i, v)| r.body.uses(v).map(move |u| (u, i)))
        .collect();
    let second = r.after(dual).clone_op(dual, &mut ValueMap::new());
    for (at, i) in uses {
        let value = r.body.result(second, i);
        r.body.set_operand(at.op, at.index, value);
    }
    for i in 0..r.body.num_operands(second) {
        let value = r.body.result(dual, i);
        r.body.set_operand(second, i, value);
    }
    r.set_point(point);
    let rest = kit.int(r, Arith::Subtract, trips, kept);
    r.name(rest, "rest");
    let any = kit.int(r, Arith::Minimum, rest, numbers[1]);
    let steps = kit.int(r, Arith::Multiply, any, kept);
    let first = match first.is_empty() {
        true => Vec::new(),
        false => advanced(r, kit, numbers, first, steps, advance),
    };
    Some(Rest { trips: rest, first })
}
