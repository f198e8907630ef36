//! Loops in branches: their initial state is recorded around them, since their duals are in the duals of the branches.

use pir_ir::{BlockId, FlowKind, OpId, Rewriter, ValueId};
use rustc_hash::FxHashSet;

use super::slots::{Loop, nested};
use crate::autodiff::tapes::{Side, Tapes};

impl Loop {
    /// Makes the branch around the loop record what is needed to run the loop again: its trip count, its initial state,
    /// and the outer values that `needed` operations read. Returns the first two as they are known at the dual.
    pub(super) fn take_along(
        &mut self,
        r: &mut Rewriter<'_>,
        tapes: &mut Tapes,
        at: usize,
        needed: &[&FxHashSet<OpId>],
        (trips, first): (ValueId, Vec<ValueId>),
    ) -> (ValueId, Vec<ValueId>) {
        let Some(branch) = self.branch else {
            return (trips, first);
        };
        let (Some(op), Some(dual)) = (r.body.block_parent(self.cond), r.body.block_parent(tapes.all[at].dual)) else {
            return (trips, first);
        };
        let block = r.body.op_block(op);
        let side = tapes.all[branch]
            .sides
            .into_iter()
            .flatten()
            .find(|side| Some(side.forward) == block);
        let Some((side, end)) = side.and_then(|side| Some((side, r.body.last_op(side.forward)?))) else {
            return (trips, first);
        };
        let mut read: Vec<ValueId> = std::iter::once(trips).chain(first.iter().copied()).collect();
        for block in [self.cond, self.body] {
            let needed = |op: &OpId| needed.iter().any(|ops| ops.contains(op));
            for op in r.body.block_ops(block).filter(needed) {
                for inner in std::iter::once(op).chain(nested(r, op)) {
                    read.extend(r.body.operands(inner));
                }
            }
            // The forwarded values.
            read.extend(r.body.last_op(block).into_iter().flat_map(|end| r.body.operands(end)));
        }
        let mut seen: FxHashSet<ValueId> = FxHashSet::default();
        for value in read {
            let home = r.body.value_block(value);
            let sees = |op: OpId| home.is_some_and(|home| r.body.ancestor_in_block(op, home).is_some());
            if !seen.insert(value) || !sees(op) || sees(dual) {
                continue;
            }
            // A value of another region is recorded there: all of its dual may read it then.
            let around = home.and_then(|home| side_around(r, tapes, home, dual));
            let popped = recorded(r, tapes, around.unwrap_or((branch, side, end)), value, dual);
            self.outer.extend(popped.map(|popped| (value, popped)));
        }
        let known = self.around();
        (
            known.get_or_self(trips),
            first.into_iter().map(|value| known.get_or_self(value)).collect(),
        )
    }

    /// The branch around the loop no longer records the stack of the loop.
    pub(super) fn drop_handle(&self, r: &mut Rewriter<'_>, tapes: &mut Tapes, at: usize) {
        let (handle, Some(branch)) = (tapes.all[at].handle, self.branch) else {
            return;
        };
        let pairs = &mut tapes.all[branch].pairs;
        if let Some(place) = pairs.iter().position(|&(_, pop)| r.body.result(pop, 0) == handle)
            && !r.body.has_uses(handle)
        {
            let pair = pairs.remove(place);
            tapes.remove(r, pair, None);
        }
    }
}

/// The tape and the side of a region that records, which holds a dual in its own dual, and the end of the region.
fn side_around(r: &Rewriter<'_>, tapes: &Tapes, home: BlockId, dual: OpId) -> Option<(usize, Side, OpId)> {
    let sides = tapes.all.iter().enumerate();
    let mut sides = sides.flat_map(|(at, tape)| tape.sides.iter().flatten().map(move |&side| (at, side)));
    let holds = |side: &Side| side.forward == home && r.body.ancestor_in_block(dual, side.dual).is_some();
    let (at, side) = sides.find(|(_, side)| holds(side))?;
    Some((at, side, r.body.last_op(home)?))
}

/// The counterpart of a value that a region records, in front of an operation of the dual; recorded again if there is
/// none.
fn recorded(
    r: &mut Rewriter<'_>,
    tapes: &mut Tapes,
    (tape, side, end): (usize, Side, OpId),
    value: ValueId,
    reader: OpId,
) -> Option<ValueId> {
    let front = r.body.ancestor_in_block(reader, side.dual)?;
    let pops = tapes.all[tape].pairs.iter();
    let pops = pops.filter(|&&(push, _)| r.body.operand(push, 1) == value);
    let pops: Vec<OpId> = pops.map(|&(_, pop)| pop).collect();
    let stands_before =
        |pop: &&OpId| r.body.op_block(**pop) == Some(side.dual) && r.body.is_before_in_block(**pop, front);
    if let Some(&pop) = pops.iter().find(stands_before) {
        return Some(r.body.result(pop, 0));
    }
    super::apply::add_pair(r, tapes, tape, side, end, value);
    let &(_, pop) = tapes.all[tape].pairs.last()?;
    Some(r.body.result(pop, 0))
}

/// The tape of the branch around a loop, whose dual is in the dual of the branch.
pub(super) fn branch_around(r: &Rewriter<'_>, tapes: &Tapes, at: usize, op: OpId, dual: OpId) -> Option<usize> {
    let pop = r.body.defining_op(tapes.all[at].handle)?;
    let (push, outer) = tapes.partner(pop)?;
    let stands = r.body.op_block(push) == r.body.op_block(op) && r.body.op_block(pop) == r.body.op_block(dual);
    (stands && tapes.all[outer].kind == FlowKind::Branch).then_some(outer)
}
