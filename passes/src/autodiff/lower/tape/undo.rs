//! Loops and branches that read what others wrote: they have to go the same ways in reverse.

use std::rc::Rc;

use pir_dialects::mlir::arith;
use pir_ir::{BlockId, Body, FlowKind, OpId, Type, ValueDef, ValueId};

use super::walked::Walked;
use super::{Done, Event, Of, Run};
use crate::autodiff::lower::on_tape::numbers;

impl Run<'_> {
    /// A loop or a branch that consumes the records of another one.
    pub(super) fn undo(
        &mut self,
        walked: &Walked<'_>,
        op: OpId,
        kind: FlowKind,
        blocks: [Option<BlockId>; 2],
        tape: &mut Vec<Event>,
    ) -> Done {
        let before = tape.pop();
        let other = "it does not read the values that the corresponding loop or branch wrote";
        let parts = match (&before, kind) {
            (Some(Event::Loop { op: forward, parts }), FlowKind::Loop) => {
                self.count_down(walked, op, *forward);
                parts.clone()
            }
            (Some(Event::Branch { parts, condition }), FlowKind::Branch) => {
                let own = walked.of(walked.body.operand(op, 0));
                if !self.same(own, *condition, 64) {
                    return Err(self.reason(
                        walked,
                        op,
                        "it may take a different branch than the one that wrote the values",
                    ));
                }
                parts.clone()
            }
            _ => return Err(self.reason(walked, op, other)),
        };
        for (part, block) in parts.iter().zip(blocks) {
            let mut left = part.to_vec();
            if let Some(block) = block {
                self.block(walked, block, &mut left)?;
            }
            if !left.is_empty() {
                return Err(self.reason(
                    walked,
                    op,
                    "it does not read all values that the corresponding loop or branch wrote",
                ));
            }
        }
        match before {
            Some(Event::Loop { op: forward, parts }) => self.ends_with(walked, op, blocks, forward, &parts, tape.len()),
            _ => Ok(()),
        }
    }

    /// A loop that reads has to run as often as the one that wrote: as long as its stack is not empty.
    fn ends_with(
        &mut self,
        walked: &Walked<'_>,
        op: OpId,
        blocks: [Option<BlockId>; 2],
        forward: Of<OpId>,
        parts: &[Rc<Vec<Event>>; 2],
        place: usize,
    ) -> Done {
        let wrong = self.reason(
            walked,
            op,
            "its trip count may differ from that of the loop that wrote the values",
        );
        let Some((test, stack)) = self.tested(walked, blocks[0]) else {
            return Err(wrong);
        };
        self.tests.push((walked.of(test), stack));
        let Some((create, block, len)) = self.stacks[stack].made else {
            return Err(wrong);
        };
        let Some(body) = self.scope.isolated(forward.0).filter(|_| create.0 == forward.0) else {
            return Err(wrong);
        };
        // Nothing else is on it, and nothing came on the tape since it was made.
        let alone = body.uses(body.result(create.1, 0)).all(|at| {
            let pushes = at.index == 0 && body.op_name(at.op) == self.names.push;
            !pushes || body.parent_op(at.op) == Some(forward.1)
        });
        if !alone || len != place || body.op_block(forward.1) != Some(block) {
            return Err(wrong);
        }
        let own = || parts.iter().flat_map(|part| part.iter());
        let number = own().find_map(|event| match event {
            // A tensor without elements leaves nothing.
            Event::Number { on, ty, .. } if *on == stack => {
                let (ty, count) = numbers(self.ctx, *ty)?;
                (count > 0).then_some((ty, None))
            }
            _ => None,
        });
        let handle = || {
            own().find_map(|event| match event {
                Event::Handle { on, item, .. } if *on == stack => Some((Type::INDEX, Some(*item))),
                _ => None,
            })
        };
        let Some((witness, item)) = number.or_else(handle) else {
            return Err(wrong);
        };
        self.stacks[stack].witness = Some(witness);
        if let Some(item) = item {
            // Its handle has to leave a record: how much there was when it was made, or what a call made leaves, a zero.
            self.stacks[item].witness.get_or_insert(Type::INDEX);
        }
        Ok(())
    }

    /// The stack as long as which is not empty a loop runs.
    fn tested(&self, walked: &Walked<'_>, block: Option<BlockId>) -> Option<(OpId, usize)> {
        let body = walked.body;
        let end = body.last_op(block?)?;
        let negation = body.defining_op(body.get_operand(end, 0)?)?;
        let truth = body.defining_op(body.get_operand(negation, 1)?)?;
        let empty = body.defining_op(body.operand(negation, 0))?;
        let asks = self.ctx.op_str(body.op_name(negation)) == arith::Xori::NAME
            && body.view(self.ctx, truth).bool("value") == Some(true)
            && body.op_name(empty) == self.names.is_empty;
        let stack = self.handles.get(&walked.of(body.operand(empty, 0)));
        Some((empty, *stack.filter(|_| asks)?))
    }

    /// The value that was pushed, if it is one that is popped.
    pub(super) fn primal_at(&self, value: Of<ValueId>) -> Of<ValueId> {
        self.images.get(&value).copied().unwrap_or(value)
    }

    /// Whether two values are equal, whenever both are computed: they are the same, or computed of the same.
    pub(super) fn same(&self, a: Of<ValueId>, b: Of<ValueId>, fuel: usize) -> bool {
        let (a, b) = (self.primal_at(a), self.primal_at(b));
        if a == b {
            return true;
        }
        let (Some(left), Some(right)) = (self.scope.isolated(a.0), self.scope.isolated(b.0)) else {
            return false;
        };
        let (ValueDef::Result(x, i), ValueDef::Result(y, j)) = (left.value_def(a.1), right.value_def(b.1)) else {
            return false;
        };
        let pure = |body: &Body, op: OpId| {
            let view = body.view(self.ctx, op);
            view.def().is_some() && view.own_effects().is_empty() && body.op_regions(op).is_empty()
        };
        let alike = left.op_name(x) == right.op_name(y) && left.attrs(x) == right.attrs(y) && i == j;
        fuel > 0
            && alike
            && pure(left, x)
            && pure(right, y)
            && left.num_operands(x) == right.num_operands(y)
            && left
                .operands(x)
                .zip(right.operands(y))
                .all(|(v, w)| self.same((a.0, v), (b.0, w), fuel - 1))
    }
}
