//! By marks: removes what `backward` inserted, and nothing else.
//!
//! The appended part is after the mark. Operations that `backward` inserted before it, to record values and to count,
//! are only read after the mark: so a stack whose readers all are after the mark belongs to the derivative, and the
//! stacks and counts recorded on it are known by the pushes.

use pir_dialects::marks::{BACKWARD, RECORDED};
use pir_ir::{BlockId, Body, Context, Derivative, Diagnostic, FlowKind, OpId, Rewriter, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::super::control_ops::{ControlOps, locals};
use super::super::loop_editing::{remove_stack, uncount_trips};
use super::{fetches_gradient, marks, outermost};

/// Undoes the last `orders` differentiations of a body.
pub(super) fn run(ctx: &Context, body: &mut Body, orders: Option<usize>, report: &mut dyn FnMut(Diagnostic)) -> bool {
    let Some((block, end)) = outermost(ctx, body) else {
        return false;
    };
    let marks = marks(ctx, body, block);
    let undone = &marks[marks.len() - orders.unwrap_or(usize::MAX).min(marks.len())..];
    let Some(&(first, _)) = undone.first() else {
        if let Some(op) = body.block_ops(block).find(|&op| fetches_gradient(ctx, body, op)) {
            report(
                Diagnostic::warning("no-marks", "nothing is marked as a part of a derivative")
                    .label(body.op_span(op), "this may be a gradient")
                    .note("passes may have removed the mark that `backward` left")
                    .help("`strip-backward{by=liveness}` needs no marks: it removes what no other result needs"),
            );
        }
        return false;
    };
    if let Some(end) = end {
        let gradients: usize = undone.iter().map(|&(_, count)| count).sum();
        body.truncate_operands(end, body.num_operands(end).saturating_sub(gradients));
    }
    let mut part = Vec::new();
    let mut at = Some(first);
    while let Some(op) = at.filter(|&op| Some(op) != end) {
        part.push(op);
        at = body.next_op(op);
    }
    let names = ControlOps::new(ctx);
    let kept = kept(ctx, &names, body, &part, end);
    let mut r = Rewriter::new(ctx, body);
    let mut made = Made::default();
    made.unread(&names, &r, block, first);
    for &op in part.iter().rev().filter(|op| !kept.contains(op)) {
        made.read_by(&names, &r, op);
        r.erase_op(op);
    }
    if kept.contains(&first) {
        let attrs = BACKWARD.remove(ctx, r.body.attrs(first));
        r.body.set_attrs(first, attrs);
    }
    made.remove(&names, &mut r);
    // Values computed for a record that another pass has since removed.
    for op in r.body.walk_all().collect::<Vec<OpId>>() {
        if RECORDED.get(ctx, r.body.attrs(op)).is_some() && !r.body.results(op).any(|value| r.body.has_uses(value)) {
            r.erase_op(op);
        }
    }
    true
}

/// The operations of the appended part that must be kept, because an inserted operation is not a gradient: a print, a
/// fetch of another name, and their operands.
fn kept(ctx: &Context, names: &ControlOps, body: &Body, part: &[OpId], end: Option<OpId>) -> FxHashSet<OpId> {
    let inside: FxHashSet<OpId> = part.iter().copied().collect();
    let block = part.first().and_then(|&op| body.op_block(op));
    let mut kept = FxHashSet::default();
    let mut pending: Vec<OpId> = Vec::new();
    let needed = |value: ValueId, pending: &mut Vec<OpId>| {
        pending.extend(body.defining_op(value).filter(|op| inside.contains(op)));
    };
    end.into_iter()
        .flat_map(|end| body.operands(end))
        .for_each(|value| needed(value, &mut pending));
    for &op in part {
        let view = body.view(ctx, op);
        let derived = view.str("name").is_some_and(|name| name.contains(super::SUFFIX));
        // The effects of an operation with a derivative only order it, like those of collectives: it is there for its
        // results.
        let computes = |op: OpId| {
            let derivative = ctx.op_def(body.op_name(op)).map(|def| &def.derivative);
            body.num_results(op) > 0 && matches!(derivative, Some(Derivative::Operands(_)))
        };
        let shown = |op: OpId| {
            let effects = body.view(ctx, op).own_effects();
            !computes(op) && effects.iter().any(|e| e.target.is_shared())
        };
        if !derived && (shown(op) || nested(body, op).any(shown)) {
            pending.push(op);
        }
    }
    while let Some(op) = pending.pop() {
        if !kept.insert(op) {
            continue;
        }
        for inner in std::iter::once(op).chain(nested(body, op)) {
            for value in body.operands(inner) {
                needed(value, &mut pending);
                // Who reads a stack needs those who push on it.
                if names.is_stack(body, value) {
                    let users = body.uses(value).filter_map(|u| body.ancestor_in_block(u.op, block?));
                    pending.extend(users.filter(|op| inside.contains(op)));
                }
            }
        }
    }
    kept
}

fn nested(body: &Body, op: OpId) -> impl Iterator<Item = OpId> + '_ {
    body.op_regions(op).iter().flat_map(|&region| body.walk(region))
}

/// Operations that only serve the removed part. An operation is identified by one of its blocks, which is kept when the
/// operation is recreated.
#[derive(Default)]
struct Made {
    pending: Vec<BlockId>,
    /// The results of each that served.
    results: FxHashMap<BlockId, Vec<usize>>,
    /// Stacks of their own.
    created: Vec<OpId>,
}

impl Made {
    fn value(&mut self, names: &ControlOps, r: &Rewriter<'_>, value: ValueId) {
        let Some(op) = r.body.defining_op(value) else { return };
        if r.body.op_name(op) == names.create {
            self.created.push(op);
        } else if let Some(block) = names.form(r.body, op).and_then(|s| s.present().next()) {
            let at = r.body.results(op).position(|v| v == value);
            self.results.entry(block).or_default().extend(at);
            self.pending.push(block);
        }
    }

    /// Notes what an operation, or one inside it, reads.
    fn read_by(&mut self, names: &ControlOps, r: &Rewriter<'_>, op: OpId) {
        for inner in std::iter::once(op).chain(nested(r.body, op)) {
            for value in r.body.operands(inner) {
                self.value(names, r, value);
            }
        }
    }

    /// Notes the stacks before `first` that hold all locals, as before pruning, since not all of them need be read.
    fn unread(&mut self, names: &ControlOps, r: &Rewriter<'_>, block: BlockId, first: OpId) {
        let before = r.body.block_ops(block).take_while(|&op| op != first);
        let mut handles = Vec::new();
        for op in before.flat_map(|op| std::iter::once(op).chain(nested(r.body, op))) {
            let Some(structure) = names.form(r.body, op) else {
                continue;
            };
            let handle = r.body.results(op).next_back().filter(|_| structure.entry.is_some());
            let records_all = |block: BlockId| {
                let own = r.body.block_args(block).last().copied();
                own.is_some_and(|own| {
                    let pushed = r
                        .body
                        .uses(own)
                        .filter(|u| u.index == 0 && r.body.op_name(u.op) == names.push)
                        .map(|u| r.body.operand(u.op, 1));
                    pushed.collect::<FxHashSet<_>>() == locals(names, r.body, block).collect::<FxHashSet<_>>()
                })
            };
            if let Some(handle) = handle
                && names.is_stack(r.body, handle)
                && structure.present().all(records_all)
            {
                handles.push(handle);
            }
        }
        for handle in handles.into_iter().rev() {
            self.value(names, r, handle);
        }
    }

    fn remove(&mut self, names: &ControlOps, r: &mut Rewriter<'_>) {
        loop {
            if let Some(op) = self.created.pop() {
                self.remove_created(names, r, op);
            } else if let Some(block) = self.pending.pop() {
                if let Some(results) = self.results.remove(&block) {
                    self.remove_results(names, r, block, results);
                }
            } else {
                return;
            }
        }
    }

    fn remove_created(&mut self, names: &ControlOps, r: &mut Rewriter<'_>, op: OpId) {
        if !r.body.is_alive(op) {
            return;
        }
        let handle = r.body.result(op, 0);
        let users: Vec<OpId> = r.body.uses(handle).map(|u| u.op).collect();
        let pushed_on = |u: pir_ir::Use| u.index == 0 && r.body.op_name(u.op) == names.push;
        if r.body.uses(handle).all(pushed_on) {
            for push in users {
                self.remove_push(names, r, push);
            }
            r.erase_op(op);
        }
    }

    fn remove_push(&mut self, names: &ControlOps, r: &mut Rewriter<'_>, push: OpId) {
        let value = r.body.operand(push, 1);
        self.value(names, r, value);
        r.erase_op(push);
        // Operations computed only for the record.
        if let Some(op) = r.body.defining_op(value)
            && RECORDED.get(r.ctx, r.body.attrs(op)).is_some()
            && !r.body.has_uses(value)
        {
            r.erase_op(op);
        }
    }

    fn remove_results(&mut self, names: &ControlOps, r: &mut Rewriter<'_>, block: BlockId, mut results: Vec<usize>) {
        let Some(mut op) = r.body.block_parent(block) else {
            return;
        };
        results.sort_unstable();
        results.dedup();
        // The last first, so that places stay right.
        for at in results.into_iter().rev() {
            let Some(structure) = names.form(r.body, op) else {
                return;
            };
            let Some(value) = r.body.get_result(op, at) else {
                continue;
            };
            if !names.is_stack(r.body, value) {
                if structure.kind == FlowKind::Loop {
                    op = uncount_trips(r, names, op, at).unwrap_or(op);
                }
                continue;
            }
            if structure.entry.is_none() || at + 1 != r.body.num_results(op) || r.body.has_uses(value) {
                continue;
            }
            let mut pushes = Vec::new();
            let dead = structure.present().all(|block| {
                let handle = r.body.block_args(block).last();
                handle.is_some_and(|&handle| {
                    r.body.uses(handle).all(|u| {
                        let push = u.index == 0 && r.body.op_name(u.op) == names.push;
                        if push {
                            pushes.push(u.op);
                        }
                        push || r.body.next_op(u.op).is_none()
                    })
                })
            });
            if dead {
                for push in pushes {
                    self.remove_push(names, r, push);
                }
                op = remove_stack(r, names, op).unwrap_or(op);
            }
        }
    }
}
