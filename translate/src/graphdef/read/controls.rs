//! Control edges: what runs after what, and in which iteration.

use pir_dialects::df;
use pir_ir::{OpId, OpSpec, ValueId};

use super::reader::Reader;

impl Reader<'_> {
    /// Writes control edges, each to all operations of a node.
    pub(super) fn write_controls(&mut self) {
        let mut to: Vec<(ValueId, usize)> = (0..self.nodes.len())
            .filter_map(|at| Some((*self.values[at].first()?, at)))
            .collect();
        let pieces = std::mem::take(&mut self.pieces);
        to.extend(pieces.into_iter().filter(|&(value, _)| self.is_free(value)));
        for (value, at) in to {
            let mut from: Vec<ValueId> = vec![value];
            let mut controls = self.controls[at].clone();
            if self.is_free(value) {
                // The node runs in the frame of its operands, attributes included.
                for input in &self.inputs[at] {
                    match self.constants[input.node] {
                        Some(_) => controls.extend(&self.controls[input.node]),
                        None => from.extend(self.values[input.node].get(input.index)),
                    }
                }
                let own = self.body.defining_op(value).map(|op| self.body.operands_vec(op));
                from.retain(|v| !own.iter().flatten().any(|o| o == v));
            }
            for node in controls {
                if self.values[node].is_empty() && self.constants[node].is_some() {
                    // A control edge from a constant forwards the constant's own control edges.
                    let inner = self.controls[node].clone();
                    from.extend(inner.iter().filter_map(|&n| self.values[n].first().copied()));
                    continue;
                }
                from.extend(self.values[node].first());
            }
            from.dedup();
            if from.len() > 1 {
                let name = self.ctx.op_name(df::CONTROL);
                let op = self.body.create_op(OpSpec {
                    operands: &from,
                    ..OpSpec::new(name)
                });
                let root = self.body.root();
                if let Some(block) = self.body.entry_block(root) {
                    self.body.append_op(block, op);
                }
            }
        }
    }

    /// Whether no operand of an operation determines the iteration in which it runs. A stack is outside of all.
    fn is_free(&self, value: ValueId) -> bool {
        let Some(op) = self.body.defining_op(value) else {
            return false;
        };
        let name = |op: OpId| self.ctx.op_str(self.body.op_name(op));
        let constant = |op: OpId| name(op) == df::ENTER && self.body.view(self.ctx, op).bool("constant") == Some(true);
        let every = |v: ValueId| self.body.defining_op(v).is_some_and(constant);
        name(op) != df::STACK && self.body.operands(op).all(every)
    }
}
