//! Functions, and their operations on stacks.

use pir_ir::{Body, OpId, ValueId};
use rustc_hash::FxHashSet;

use super::Of;
use crate::autodiff::control_ops::ControlOps;

/// The body of a function, with the operations on stacks and those around them.
pub(super) struct Walked<'a> {
    pub(super) function: OpId,
    pub(super) body: &'a Body,
    pub(super) active: FxHashSet<OpId>,
}

impl<'a> Walked<'a> {
    pub(super) fn new(names: &ControlOps<'_>, scope: &'a Body, function: OpId) -> Option<Self> {
        let body = scope.isolated(function)?;
        let mut active = FxHashSet::default();
        for op in body.walk_all() {
            let mut values = body.operands(op).chain(body.results(op));
            if values.any(|value| names.is_stack(body, value)) {
                let mut at = Some(op);
                while let Some(op) = at.filter(|&op| active.insert(op)) {
                    at = body.parent_op(op);
                }
            }
        }
        Some(Walked { function, body, active })
    }

    pub(super) fn of<T>(&self, what: T) -> Of<T> {
        (self.function, what)
    }

    /// Whether an operation's regions read a stack that is created outside of it.
    pub(super) fn reads_outside(&self, names: &ControlOps<'_>, op: OpId) -> bool {
        let inside = |value: ValueId| {
            let mut at = self
                .body
                .value_block(value)
                .and_then(|block| self.body.block_parent(block));
            while let Some(parent) = at.filter(|&parent| parent != op) {
                at = self.body.parent_op(parent);
            }
            at == Some(op)
        };
        let nested = self
            .body
            .op_regions(op)
            .iter()
            .flat_map(|&region| self.body.walk(region));
        nested.into_iter().any(|op| {
            let writes = [names.push, names.create].contains(&self.body.op_name(op));
            let mut stacks = self.body.operands(op).filter(|&v| names.is_stack(self.body, v));
            !writes && stacks.any(|stack| !inside(stack))
        })
    }
}
