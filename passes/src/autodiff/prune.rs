//! Step 3, `prune-stacks`: values that the derivative does not read are not recorded.
//!
//! Pushes and pops are paired first: the pops of a stack are in the regions of one dual, those of a region in the
//! reverse order of the pushes of the corresponding region. A handle that was itself recorded is followed through its
//! pair, from the outside in. Then, from the inside out, since an inner handle is read by the inner pops only, a pair
//! is removed if its popped value is unused, or available without a record ([`invariants`](super::invariants)). If only
//! the shape of a value is read, the shape is recorded ([`shapes`]). A value that is recorded more than once in a region,
//! as `cse` lets it be, is recorded once. A loop that its stack terminates, and that records
//! nothing any more, counts its trips instead. Last, stacks without readers are removed, with their init regions and
//! results.
//!
//! A stack with any other use is not changed. (The idea of removing pushes and pops together is also in Enzyme's MLIR
//! passes; there on init, push and pop triples.)

use pir_ir::{BlockId, Body, Context, FlowKind, OpId, Rewriter, ValueId};
use rustc_hash::FxHashMap;

use super::control_ops::ControlOps;
use super::functions::is_mlir;
use super::invariants::Invariants;
use super::loop_carried_reuse;
use super::loop_editing::{CountDown, CountTrips, remove_stack};
use super::remat::recompute_cheap;
use super::shapes;
use super::tapes::{Tape, Tapes};

/// Prunes the stacks of one body.
pub(crate) fn run(ctx: &Context, body: &mut Body) {
    let names = ControlOps::avoiding(ctx, body, &["trips", "trip_next", "trip", "no_trips"]);
    let mut tapes = Tapes::new(ctx, &names, body);
    let mut invariants = Invariants::new(ctx, body);
    let duals = tapes.duals(body);
    let mut r = Rewriter::new(ctx, body);
    for at in (0..tapes.all.len()).rev() {
        merge_equal(&mut r, &names, &mut tapes, at);
        for pair @ (push, pop) in std::mem::take(&mut tapes.all[at].pairs) {
            let popped = r.body.result(pop, 0);
            if r.body.has_uses(popped) {
                let value = r.body.operand(push, 1);
                match invariants.recompute(&mut r, value, pop, &duals, &tapes) {
                    Some(again) => tapes.remove(&mut r, pair, Some(again)),
                    None => {
                        shapes::record(&mut r, &mut tapes, pair);
                        tapes.all[at].pairs.push(pair);
                    }
                }
            } else {
                tapes.remove(&mut r, pair, None);
            }
        }
        loop_carried_reuse::run(&mut r, &names, &mut tapes, at);
        finish(&mut r, &names, &tapes, at);
    }
    remove_dead_stacks(&mut r, &names);
    if is_mlir(ctx, body) {
        recompute_cheap(ctx, body);
    }
}

/// Of the pairs of one value in the same regions, the one whose pop comes first serves all.
pub(super) fn merge_equal(r: &mut Rewriter<'_>, names: &ControlOps, tapes: &mut Tapes, at: usize) {
    let pairs = std::mem::take(&mut tapes.all[at].pairs);
    let mut first: FxHashMap<(ValueId, Option<BlockId>), ValueId> = FxHashMap::default();
    first.reserve(pairs.len());
    let mut kept = Vec::with_capacity(pairs.len());
    // What is pushed last is popped first.
    for pair @ (push, pop) in pairs.into_iter().rev() {
        let key = (r.body.operand(push, 1), r.body.op_block(pop));
        match first.get(&key).filter(|_| !names.is_stack(r.body, key.0)) {
            Some(&popped) => tapes.remove(r, pair, Some(popped)),
            None => {
                first.insert(key, r.body.result(pop, 0));
                kept.push(pair);
            }
        }
    }
    kept.reverse();
    tapes.all[at].pairs = kept;
}

/// When nothing is recorded any more, the dual of a loop needs another way to determine when to end.
pub(crate) fn finish(r: &mut Rewriter<'_>, names: &ControlOps, tapes: &Tapes, at: usize) {
    let tape = &tapes.all[at];
    if tape.pairs.is_empty() && tape.kind == FlowKind::Loop {
        replace_exit_test(r, names, tape, tapes);
    }
}

/// A dual that ran as long as the stack was not empty runs as often as the loop did.
fn replace_exit_test(r: &mut Rewriter<'_>, names: &ControlOps, tape: &Tape, tapes: &Tapes) -> Option<()> {
    let &[empty] = tape.empties() else { return None };
    let trips = CountTrips::plan(r, names, r.body.block_parent(tape.forward)?)?;
    let left = CountDown::plan(r, names, r.body.block_parent(tape.dual)?, empty, &[])?;
    let (_, trips) = trips.apply(r, names);
    // Where the handle was recorded, the count is recorded in its place.
    let recorded = r.body.defining_op(tape.handle).and_then(|pop| tapes.partner(pop));
    let count = match recorded {
        Some((push, _)) => {
            r.body.set_operand(push, 1, trips);
            let ty = r.body.value_type(trips);
            r.body.set_value_type(tape.handle, ty);
            r.name(tape.handle, &names.spelled("trips"));
            // The pushes are in order of definition; any place after the definition will do.
            tape.handle
        }
        None => trips,
    };
    let zero = left.zero(r, names);
    left.apply(r, names, zero, &[count]);
    Some(())
}

/// Removes stacks that are pushed on but never read, outer ones first: what they recorded may be inner handles.
pub(crate) fn remove_dead_stacks(r: &mut Rewriter<'_>, names: &ControlOps) {
    let concerns = |&op: &OpId| !r.body.is_plain(op) || r.body.op_name(op) == names.create;
    for op in r.body.walk_all().filter(concerns).collect::<Vec<_>>() {
        if !r.body.is_alive(op) {
            continue;
        }
        if r.body.op_name(op) == names.create {
            let handle = r.body.result(op, 0);
            let uses: Vec<_> = r.body.uses(handle).collect();
            if uses.iter().all(|u| u.index == 0 && r.body.op_name(u.op) == names.push) {
                for u in uses {
                    r.erase_op(u.op);
                }
                r.erase_op(op);
            }
            continue;
        }
        let Some(structure) = names.form(r.body, op) else {
            continue;
        };
        if structure.entry.is_none() {
            continue;
        }
        let Some(handle) = r.body.results(op).next_back().filter(|&v| names.is_stack(r.body, v)) else {
            continue;
        };
        if r.body.has_uses(handle) {
            continue;
        }
        let handles: Vec<ValueId> = structure
            .present()
            .filter_map(|b| r.body.block_args(b).last().copied())
            .collect();
        let mut pushes = Vec::new();
        let dead = handles.iter().all(|&h| {
            r.body.uses(h).all(|u| {
                let push = u.index == 0 && r.body.op_name(u.op) == names.push;
                if push {
                    pushes.push(u.op);
                }
                push || r.body.next_op(u.op).is_none()
            })
        });
        if dead {
            for push in pushes {
                r.erase_op(push);
            }
            remove_stack(r, names, op);
        }
    }
}
