//! Loops for which the tape has enough room before they begin.
//!
//! Every push checks the room, and the check prevents compilers from keeping the tape in registers and from vectorizing
//! iterations. The trip count of a counting loop is known in advance, so room for all of its pushes is made before the
//! loop, if they are not in another loop, and no call in it gets a tape.

use pir_dialects::func;
use pir_ir::{Body, OpId, Relation, Type, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::analysis::Counter;
use crate::autodiff::control_ops::ControlOps;

/// How often a loop runs, and how many numbers of each type one run pushes.
pub(super) struct Reservation {
    pub(super) start: ValueId,
    pub(super) bound: ValueId,
    pub(super) step: i64,
    pub(super) counts: Vec<(Type, usize)>,
}

/// The loops of a function.
#[derive(Default)]
pub(super) struct Reservations {
    loops: FxHashMap<OpId, Reservation>,
    pushes: FxHashSet<OpId>,
}

impl Reservations {
    /// `moved` gives the type of the numbers that are pushed, and how many.
    pub(super) fn new(
        names: &ControlOps<'_>,
        body: &Body,
        ops: &[OpId],
        moved: &dyn Fn(OpId) -> Option<(Type, usize)>,
    ) -> Self {
        let mut this = Reservations::default();
        // The innermost loop around each push, and what prevents the transformation.
        let mut pushed: FxHashMap<OpId, Vec<OpId>> = FxHashMap::default();
        let mut order = Vec::new();
        // Loops around others that push, and around calls that get a tape.
        let mut shared: FxHashSet<OpId> = FxHashSet::default();
        let is_loop = |op: OpId| names.form(body, op).is_some_and(|form| form.loop_blocks().is_some());
        let outer =
            |op: OpId| std::iter::successors(body.parent_op(op), |&op| body.parent_op(op)).find(|&op| is_loop(op));
        let share = |shared: &mut FxHashSet<OpId>, mut at: Option<OpId>| {
            while let Some(op) = at.filter(|&op| shared.insert(op)) {
                at = outer(op);
            }
        };
        let gets_tape = |op: OpId| {
            let mut values = body.operands(op).chain(body.results(op));
            func::callee(names.ctx, body, op).is_some() && values.any(|value| names.is_stack(body, value))
        };
        for &op in ops {
            if body.op_name(op) == names.push {
                if let Some(around) = outer(op) {
                    let list = pushed.entry(around).or_default();
                    if list.is_empty() {
                        order.push(around);
                        share(&mut shared, outer(around));
                    }
                    list.push(op);
                }
            } else if gets_tape(op) {
                share(&mut shared, outer(op));
            }
        }
        for op in order {
            let Some(counter) = Counter::of(names.ctx, body, op).filter(|_| !shared.contains(&op)) else {
                continue;
            };
            let counts_up = counter.step > 0 && counter.relation == Relation::Less && counter.is_bare();
            let is_index =
                body.value_type(counter.start) == Type::INDEX && body.value_type(counter.bound) == Type::INDEX;
            let repeated = names
                .form(body, op)
                .and_then(|form| form.loop_blocks())
                .map(|blocks| blocks[1]);
            // What decides whether to go on runs once more.
            let once_each = |push: &OpId| repeated.is_some_and(|block| body.ancestor_in_block(*push, block).is_some());
            if !counts_up || !is_index || !pushed[&op].iter().all(once_each) {
                continue;
            }
            let mut counts: Vec<(Type, usize)> = Vec::new();
            for &push in &pushed[&op] {
                let Some((ty, count)) = moved(push) else { continue };
                match counts.iter_mut().find(|known| known.0 == ty) {
                    Some(known) => known.1 = known.1.saturating_add(count),
                    None => counts.push((ty, count)),
                }
                this.pushes.insert(push);
            }
            let (start, bound, step) = (counter.start, counter.bound, counter.step);
            this.loops.insert(
                op,
                Reservation {
                    start,
                    bound,
                    step,
                    counts,
                },
            );
        }
        this
    }

    /// The room that a loop needs.
    pub(super) fn of(&self, op: OpId) -> Option<&Reservation> {
        self.loops.get(&op)
    }

    /// Whether there is room for the pushed value.
    pub(super) fn has(&self, push: OpId) -> bool {
        self.pushes.contains(&push)
    }
}
