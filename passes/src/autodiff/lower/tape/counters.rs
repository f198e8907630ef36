//! Values that a loop counts down as another one counted them up.

use pir_dialects::mlir::arith;
use pir_ir::{Body, OpId, ValueId};

use super::walked::Walked;
use super::{Of, Run};
use crate::autodiff::structure::Names;

/// A carried value whose condition forwards it unchanged.
struct Lane {
    /// The value before the first iteration.
    start: ValueId,
    /// The value in an iteration.
    inner: ValueId,
    /// The value for the next iteration.
    next: ValueId,
    /// The value after the last iteration.
    result: ValueId,
}

/// The lanes of a loop.
fn lanes(names: &Names<'_>, body: &Body, op: OpId) -> Vec<Lane> {
    let form = names.form(body, op).filter(|form| form.entry.is_none());
    let Some(([test, repeated], form)) = form.and_then(|form| Some((form.loop_blocks()?, form))) else {
        return Vec::new();
    };
    let (Some(decide), Some(back)) = (body.last_op(test), body.last_op(repeated)) else {
        return Vec::new();
    };
    let lane = |(at, &inner): (usize, &ValueId)| {
        let forwarded = body.get_operand(decide, form.passes[0] + at)?;
        let slot = body.block_args(test).iter().position(|&arg| arg == forwarded)?;
        Some(Lane {
            start: body.get_operand(op, slot)?,
            inner,
            next: body.get_operand(back, form.passes[1] + slot)?,
            result: body.results(op).nth(at)?,
        })
    };
    let args = body.block_args(repeated).iter().enumerate();
    args.filter_map(lane).collect()
}

impl Run<'_> {
    /// Notes which values a loop counts down that the loop whose records it reads counted up: they start from the results of that, and go
    /// back by the same steps. By induction from the last iteration on, each is the value that the other loop had in the same iteration:
    /// whole numbers wrap, so that the difference undoes the sum.
    pub(super) fn count_down(&mut self, walked: &Walked<'_>, op: OpId, forward: Of<OpId>) {
        let Some(body) = self.scope.isolated(forward.0) else {
            return;
        };
        let up = lanes(self.names, body, forward.1);
        for down in lanes(self.names, walked.body, op) {
            let start = self.image(walked.of(down.start));
            let Some(lane) = up.iter().find(|lane| (forward.0, lane.result) == start) else {
                continue;
            };
            let (Some(sum), Some(difference)) = (
                self.computed(body, lane.next, arith::Addi::NAME),
                self.computed(walked.body, down.next, arith::Subi::NAME),
            ) else {
                continue;
            };
            let step = match sum {
                [inner, step] if inner == lane.inner => step,
                [step, inner] if inner == lane.inner => step,
                _ => continue,
            };
            if difference[0] == down.inner && self.same(walked.of(difference[1]), (forward.0, step), 64) {
                let counted = self.image((forward.0, lane.inner));
                self.images.insert(walked.of(down.next), counted);
            }
        }
    }

    /// The operands of the operation of a name that computes a value.
    fn computed(&self, body: &Body, value: ValueId, name: &str) -> Option<[ValueId; 2]> {
        let op = body.defining_op(value)?;
        let operands = [body.get_operand(op, 0)?, body.get_operand(op, 1)?];
        (self.ctx.op_str(body.op_name(op)) == name).then_some(operands)
    }
}
