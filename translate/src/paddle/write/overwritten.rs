//! Operations that PaddlePaddle only has in place: optimizer steps and normalizations. Here, they return the new values and leave the
//! operands unchanged; later uses of such an operand read a copy.

use pir_dialects::{formats, marks, pd};
use pir_ir::{BlockId, Body, OpId, OpView, ValueId};

use super::super::inplace::written_back;
use super::{Id, Writer};

impl Writer<'_> {
    /// Copies the values that an operation will change in place although they are used later.
    pub(super) fn copies_before(&mut self, op: OpId) -> Result<Vec<(ValueId, Id)>, String> {
        let body = self.body;
        let view = body.view(self.ctx, op);
        let mut copies = Vec::new();
        let Some(pairs) = view.def().and_then(|_| written_back(view)) else {
            return Ok(copies);
        };
        for value in pairs.iter().filter_map(|&(operand, _)| body.get_operand(op, operand)) {
            if copies.iter().any(|&(copied, _)| copied == value) || !self.is_read_later(value, op) {
                continue;
            }
            if body.value_block(value) != body.op_block(op) {
                return Err(
                    "it changes a value of the surrounding region in place, which is read afterwards".to_owned(),
                );
            }
            let copy = self.assign(self.id(value), body.value_type(value));
            copies.push((value, copy));
        }
        Ok(copies)
    }

    /// Copies what PaddlePaddle's executor may compute in place of, if it is another operand too: it overwrites the operand while the
    /// operation still reads the other.
    pub(super) fn unaliased(&mut self, op: OpView<'_>, mut inputs: Vec<Id>) -> Vec<Id> {
        let overwritten = || formats::paddle_facts(op.name()).and_then(|facts| facts.overwritten);
        let places = match (op.name().ends_with("_double_grad"), overwritten()) {
            (true, _) => 0..inputs.len(),
            (false, Some(place)) => place..place + 1,
            (false, None) => return inputs,
        };
        for place in places {
            let Some(&id) = inputs.get(place).filter(|&&id| id != 0) else {
                continue;
            };
            let value = op.body.operands(op.op).find(|&value| self.id(value) == id);
            if let Some(value) = value.filter(|_| inputs.iter().filter(|&&other| other == id).count() > 1) {
                inputs[place] = self.assign(id, op.body.value_type(value));
            }
        }
        inputs
    }

    /// Whether a running statistic of `pd.batch_norm` is read by nothing else, and then becomes what the operation gives.
    pub(super) fn is_replaced(&self, norm: OpView<'_>, at: usize) -> bool {
        let body = self.body;
        let (Some(old), Some(new)) = (norm.operand(at), body.results(norm.op).nth(at)) else {
            return false;
        };
        let takes = |reader: OpId| {
            let same_block = body.op_block(reader) == body.op_block(norm.op);
            same_block
                && body.view(self.ctx, reader).name() == pd::AssignOutInplace::NAME
                && body.operand(reader, 0) == new
                && body.operand(reader, 1) == old
        };
        let of_norm = body.uses(old).filter(|at| at.op == norm.op).count();
        let readers = || body.uses(old).map(|at| at.op).filter(|&op| op != norm.op);
        body.value_block(old) == body.op_block(norm.op)
            && norm.ints(&marks::ABSENT_RESULTS.name).is_none()
            && of_norm == 1
            && readers().count() == 1
            && readers().all(takes)
    }

    /// Whether a `pd.assign_out_` is that of such a statistic.
    pub(super) fn is_statistic(&self, assignment: OpView<'_>) -> bool {
        let norm = assignment.operand(0).and_then(|new| self.body.defining_op(new));
        let norm = norm.map(|norm| self.body.view(self.ctx, norm));
        norm.is_some_and(|norm| {
            let is_given = |&at: &usize| self.body.results(norm.op).nth(at) == assignment.operand(0);
            norm.name() == pd::BatchNorm::NAME
                && !has_fixed_statistics(norm)
                && [1, 2].iter().any(|at| is_given(at) && self.is_replaced(norm, *at))
        })
    }

    fn is_read_later(&mut self, value: ValueId, op: OpId) -> bool {
        let body = self.body;
        if self.order.is_empty() {
            self.order = vec![0; body.num_op_slots()];
            for (place, op) in (0u32..).zip(body.walk_all()) {
                self.order[op.index()] = place;
            }
        }
        let around = ancestors(body, op, body.value_block(value));
        body.uses(value)
            .map(|at| at.op)
            .filter(|&reader| reader != op)
            .any(|reader| {
                let readers = ancestors(body, reader, body.value_block(value));
                let common = around.iter().find_map(|&(outer, mine)| {
                    let &(_, theirs) = readers.iter().find(|&&(other, _)| other == outer)?;
                    Some(mine == theirs)
                });
                match common {
                    // Other operations in the same loop run again, and of a branch only one side runs.
                    Some(same_side) => {
                        let shared = |outer: OpId| readers.iter().any(|&(other, _)| other == outer);
                        around.iter().any(|&(outer, _)| shared(outer) && self.repeats(outer))
                            || (same_side && self.order[reader.index()] > self.order[op.index()])
                    }
                    None => self.order[reader.index()] > self.order[op.index()],
                }
            })
    }

    fn repeats(&self, op: OpId) -> bool {
        let view = self.body.view(self.ctx, op);
        self.body
            .region_flow(self.ctx, op)
            .is_none_or(|flow| (0..self.body.op_regions(op).len()).any(|at| flow.is_repeated(view, at)))
    }
}

/// Whether a normalization leaves its running statistics as they are.
pub(super) fn has_fixed_statistics(norm: OpView<'_>) -> bool {
    let flag = |name: &str| norm.bool(name) == Some(true);
    flag("use_global_stats") || (flag("is_test") && !flag("trainable_statistics"))
}

/// The enclosing operations of one, up to those of the block `home`, the innermost first, each with the region that
/// contains it.
fn ancestors(body: &Body, mut op: OpId, home: Option<BlockId>) -> Vec<(OpId, Option<pir_ir::RegionId>)> {
    let mut all = Vec::new();
    while body.op_block(op) != home {
        let region = body.op_region(op);
        let Some(parent) = body.parent_op(op) else { break };
        all.push((parent, region));
        op = parent;
    }
    all
}
