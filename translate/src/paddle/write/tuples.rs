//! Writes stack operations according to the plan.

use pir_dialects::pd;
use pir_ir::{OpId, Type, ValueId};

use super::stacks::{Exit, Item};
use super::{Id, Writer};

impl Writer<'_> {
    pub(super) fn push(&mut self, op: OpId) {
        // All pushes of a block except the last are merged into it.
        if let Some((stack, items)) = self.plan.pushes.get(&op).cloned() {
            let mut inputs = vec![Self::stack(stack)[1]];
            let values = items.iter().filter_map(|item| match *item {
                Item::Value(value) => Some(value),
                _ => None,
            });
            let lists = self.combined_here(op, &values.collect::<Vec<ValueId>>());
            for item in items {
                inputs.push(match item {
                    Item::Value(value) | Item::Count(value) => self.id(value),
                    Item::Last(stack, at, _) => self.last(op, stack, at),
                });
            }
            self.raw("2.tuple_push", "", &inputs, &[]);
            lists.into_iter().for_each(|(list, id)| self.bind(list, id));
        }
    }

    /// Combines those values again that are lists from outside of the block of an operation: PaddlePaddle's executor does not keep their
    /// tensors. Gives the numbers that they had.
    pub(super) fn combined_here(&mut self, op: OpId, values: &[ValueId]) -> Vec<(ValueId, Id)> {
        let body = self.body;
        let mut before = Vec::new();
        for &value in values {
            let list = body.defining_op(value);
            let list = list.filter(|&list| body.view(self.ctx, list).name() == "builtin.combine");
            let Some(list) = list.filter(|&list| body.op_block(list) != body.op_block(op)) else {
                continue;
            };
            let ids: Vec<Id> = body.operands(list).map(|value| self.id(value)).collect();
            let here = self.raw("0.combine", "", &ids, &[body.value_type(value)]);
            before.push((value, self.id(value)));
            self.bind(value, here);
        }
        before
    }

    /// The last value recorded by a condition, where it is visible.
    fn last(&mut self, op: OpId, stack: usize, at: usize) -> Id {
        let body = self.body;
        let found = self.lasts.get(&stack).and_then(|(ids, block)| {
            let mut here = body.op_block(op);
            while here.is_some_and(|here| here != *block) {
                here = here.and_then(|h| body.block_parent(h)).and_then(|op| body.op_block(op));
            }
            here.and_then(|_| ids.get(at).copied())
        });
        found.unwrap_or_else(|| {
            let message = "a value that the condition of a loop records cannot be written for PaddlePaddle: \
                           the last one is not visible here";
            self.error(op, "paddle-stack", message.to_owned());
            0
        })
    }

    pub(super) fn pop(&mut self, op: OpId) {
        let Some((stack, items)) = self.plan.pops.get(&op).cloned() else {
            return;
        };
        // The values that the condition before the loop pops were not pushed.
        if self.plan.replayed.get(&op).is_some_and(|l| !self.again.contains(l)) {
            for (at, item) in items.into_iter().enumerate() {
                if let Item::Value(value) = item {
                    let id = self.last(op, stack, at);
                    self.bind(value, id);
                }
            }
            return;
        }
        let count = self.ctx.tensor(&[1], Type::I64);
        let types: Vec<Type> = items
            .iter()
            .map(|item| match *item {
                Item::Value(value) => self.body.value_type(value),
                Item::Count(_) => count,
                Item::Last(_, _, ty) => ty,
            })
            .collect();
        let first = self.raw("2.tuple_pop", "", &[Self::stack(stack)[2]], &types);
        for (id, item) in (first..).zip(items) {
            match item {
                Item::Value(value) | Item::Count(value) => self.bind(value, id),
                Item::Last(stack, at, _) => {
                    let Some(block) = self.body.op_block(op) else { continue };
                    let (ids, visible) = self.lasts.entry(stack).or_insert((Vec::new(), block));
                    *visible = block;
                    ids.resize(ids.len().max(at + 1), 0);
                    ids[at] = id;
                }
            }
        }
    }

    pub(super) fn is_empty(&mut self, op: OpId) {
        let flag = self.ctx.tensor(&[1], Type::I1);
        let Some(result) = self.body.results(op).next() else {
            return;
        };
        match self.plan.exits.get(&op) {
            Some(&Exit::Empty(stack)) => {
                let some = self.raw("2.has_elements", "", &Self::stack(stack)[..1], &[flag]);
                self.negations.insert(result, some);
                let negated = |user: OpId| self.ctx.op_str(self.body.op_name(user)) == pd::LogicalNot::NAME;
                if !self.body.uses(result).all(|u| negated(u.op)) {
                    let id = self.raw("1.logical_not", "", &[some], &[flag]);
                    self.bind(result, id);
                }
            }
            Some(Exit::Counter(looped)) => {
                let counter = self.counters.get(looped).copied().unwrap_or(0);
                let zero = self.full(&[1], 0.0, Type::I64);
                let id = self.raw("1.less_equal", "", &[counter, zero], &[flag]);
                self.bind(result, id);
            }
            None => {}
        }
    }

    /// Writes the negation of a test for emptiness as Paddle's own test.
    pub(super) fn negated(&mut self, op: OpId) -> bool {
        let value = self.body.operands(op).next();
        let (Some(&id), Some(result)) = (value.and_then(|v| self.negations.get(&v)), self.body.results(op).next())
        else {
            return false;
        };
        self.bind(result, id);
        true
    }
}
