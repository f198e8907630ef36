//! Operands and the uses of values.
//!
//! The operands of an operation are in a row in one list of the body. Which uses a value has is only known once it has
//! been asked, or once an operand has changed: a program that is read, verified and printed needs no [`UseLists`].

use super::{ArenaRange, Body, ValueDef};
use crate::entity::{OpId, UseId, ValueId};
use crate::uses::UseLists;

impl Body {
    /// The lists of uses, which are made now if they are not there.
    #[inline]
    pub(crate) fn use_lists(&self) -> &UseLists {
        self.use_lists.get_or_init(|| {
            crate::steps::count(self.operands.len());
            // Until a change, each place in the list of operands belongs to an operation.
            let mut owners = vec![OpId::new(0); self.operands.len()];
            for (index, data) in self.ops.iter().enumerate() {
                owners[data.operands.range()].fill(OpId::new(index));
            }
            Box::new(UseLists::new(self.values.len(), &self.operands, &owners))
        })
    }

    /// Changes operands and with them the lists of uses, which are made first if they are not there.
    #[inline]
    fn relink(&mut self, change: impl FnOnce(&mut UseLists, &mut Vec<ValueId>)) {
        self.version += 1;
        self.use_lists();
        if let Some(lists) = self.use_lists.get_mut() {
            change(lists, &mut self.operands);
        }
    }

    /// Gives an operation that has none its operands.
    pub(crate) fn append_operands(&mut self, op: OpId, operands: &[ValueId]) {
        self.version += 1;
        self.ops[op.index()].operands = ArenaRange {
            start: self.operands.len() as u32,
            len: operands.len() as u32,
        };
        self.operands.extend_from_slice(operands);
        if let Some(lists) = self.use_lists.get_mut() {
            operands.iter().for_each(|&value| lists.push(value, op));
        }
    }

    /// Takes the uses of an operation out of the lists of its operands.
    pub(crate) fn unlink_operands(&mut self, op: OpId) {
        let slots = self.ops[op.index()].operands;
        if slots.len > 0 {
            self.relink(|lists, operands| {
                for index in slots.range() {
                    lists.unlink(UseId::new(index), operands[index]);
                }
            });
        }
    }

    /// Replaces one operand.
    pub fn set_operand(&mut self, op: OpId, index: usize, value: ValueId) {
        let at = self.ops[op.index()].operands.range().start + index;
        debug_assert!(index < self.num_operands(op));
        if self.operands[at] != value {
            self.relink(|lists, operands| {
                lists.unlink(UseId::new(at), operands[at]);
                operands[at] = value;
                lists.link(UseId::new(at), value);
            });
        }
    }

    /// Replaces all operands; successors keep their counts, so the count passed to them must not change.
    pub fn set_operands(&mut self, op: OpId, operands: &[ValueId]) {
        let old = self.ops[op.index()].operands;
        self.unlink_operands(op);
        if operands.len() <= old.len as usize {
            self.ops[op.index()].operands.len = operands.len() as u32;
            self.relink(|lists, all| {
                for (at, &value) in old.range().zip(operands) {
                    all[at] = value;
                    lists.link(UseId::new(at), value);
                }
            });
        } else {
            self.append_operands(op, operands);
        }
    }

    /// Adds an operand before the one at `index`.
    pub fn insert_operand(&mut self, op: OpId, index: usize, value: ValueId) {
        self.insert_operands(op, index, &[value]);
    }

    /// Adds operands before the one at `index`, all at once: each change of their number may move all of them.
    pub fn insert_operands(&mut self, op: OpId, index: usize, values: &[ValueId]) {
        if !values.is_empty() {
            let mut operands = self.operands_vec(op);
            operands.insert_from_slice(index, values);
            self.set_operands(op, &operands);
        }
    }

    /// Removes the operands from the one at `index` on.
    pub fn truncate_operands(&mut self, op: OpId, index: usize) {
        if index < self.num_operands(op) {
            let mut operands = self.operands_vec(op);
            operands.truncate(index);
            self.set_operands(op, &operands);
        }
    }

    /// Adds an operand at the end.
    pub fn push_operand(&mut self, op: OpId, value: ValueId) {
        let mut operands = self.operands_vec(op);
        operands.push(value);
        self.set_operands(op, &operands);
    }

    /// Removes one operand.
    pub fn erase_operand(&mut self, op: OpId, index: usize) {
        let mut operands = self.operands_vec(op);
        operands.remove(index);
        self.set_operands(op, &operands);
    }

    /// Replaces all uses of `old` with `new`, in time linear in the number of uses.
    ///
    /// Both must have the same type, or `old` be a placeholder, since a user may depend on the type.
    /// `Rewriter::replace_value` replaces values whose types differ in precision.
    pub fn replace_all_uses(&mut self, old: ValueId, new: ValueId) {
        debug_assert!(
            self.value_type(old) == self.value_type(new) || self.value_def(old) == ValueDef::None,
            "a value of another type takes the place of {old}"
        );
        self.replace_all_uses_as(old, new);
    }

    /// The same for replacements of any type.
    pub(crate) fn replace_all_uses_as(&mut self, old: ValueId, new: ValueId) {
        if old == new {
            return;
        }
        self.relink(|lists, operands| {
            while let Some(id) = lists.first(old) {
                lists.unlink(id, old);
                operands[id.index()] = new;
                lists.link(id, new);
            }
        });
    }
}
