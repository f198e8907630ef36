//! Values that a loop counts down as another one counted them up.

use pir_dialects::mlir::arith;
use pir_ir::{Body, OpId, ValueId};

use super::walked::Walked;
use super::{Of, Run};
use crate::autodiff::control_ops::ControlOps;
use crate::autodiff::loop_editing::{InLoop, place_in_loop};

/// The values that a loop carries and whose condition forwards them unchanged: the argument of the repeated region, where it comes from,
/// and the result.
fn lanes(names: &ControlOps<'_>, body: &Body, op: OpId) -> Vec<(ValueId, InLoop, ValueId)> {
    let form = names.form(body, op).filter(|form| form.entry.is_none());
    let Some([_, repeated]) = form.and_then(|form| form.loop_blocks()) else {
        return Vec::new();
    };
    let args = body.block_args(repeated).iter().zip(body.results(op));
    args.filter_map(|(&arg, result)| Some((arg, place_in_loop(names, body, op, arg)?, result)))
        .collect()
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
        for (inner, down, _) in lanes(self.names, walked.body, op) {
            let start = self.primal_at(walked.of(down.start));
            let Some((counted, lane, _)) = up.iter().find(|(.., result)| (forward.0, *result) == start) else {
                continue;
            };
            let (Some(sum), Some(difference)) = (
                self.computed(body, lane.next, arith::Addi::NAME),
                self.computed(walked.body, down.next, arith::Subi::NAME),
            ) else {
                continue;
            };
            let step = match sum {
                [value, step] if value == *counted => step,
                [step, value] if value == *counted => step,
                _ => continue,
            };
            if difference[0] == inner && self.same(walked.of(difference[1]), (forward.0, step), 64) {
                let counted = self.primal_at((forward.0, *counted));
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
