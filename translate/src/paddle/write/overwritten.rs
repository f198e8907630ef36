//! Operations that PaddlePaddle only has in place: optimizer steps. Here, they return the new values and leave the
//! operands unchanged; later uses of such an operand read a copy.

use pir_ir::{BlockId, Body, OpId, ValueId};

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
