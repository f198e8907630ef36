//! Operands and the uses of values.
//!
//! The operands of an operation stand in a row in one list of the body. Which uses a value has is only known once it has
//! been asked, or once an operand has changed: a program that is read, verified and printed needs no [`UseLists`].

use crate::body::{Body, Slots, ValueDef};
use crate::entity::{OpId, UseId, ValueId};

/// The doubly linked lists of the uses of all values.
#[derive(Clone, Default, Debug)]
pub(crate) struct UseLists {
    /// For each value its first use. The use before that is the last. May end before the last values, without uses.
    first: Vec<Option<UseId>>,
    /// For each operand its place in the list of its value.
    links: Vec<Link>,
}

#[derive(Clone, Debug)]
struct Link {
    owner: OpId,
    /// Before the first is the last.
    prev: UseId,
    next: Option<UseId>,
}

impl UseLists {
    /// The lists of a body none of whose operands has changed: uses are in the order in which they were made.
    fn new(body: &Body) -> Self {
        crate::steps::count(body.operands.len());
        // Until a change, each place in the list of operands belongs to an operation.
        let mut owners = vec![OpId::new(0); body.operands.len()];
        for (index, data) in body.ops.iter().enumerate() {
            owners[data.operands.range()].fill(OpId::new(index));
        }
        let mut lists = UseLists {
            first: vec![None; body.values.len()],
            links: Vec::with_capacity(body.operands.len()),
        };
        for (&value, owner) in body.operands.iter().zip(owners) {
            lists.push(value, owner);
        }
        lists
    }

    #[inline]
    pub(crate) fn first(&self, value: ValueId) -> Option<UseId> {
        self.first.get(value.index()).copied().flatten()
    }

    #[inline]
    pub(crate) fn next(&self, id: UseId) -> Option<UseId> {
        self.links[id.index()].next
    }

    #[inline]
    pub(crate) fn owner(&self, id: UseId) -> OpId {
        self.links[id.index()].owner
    }

    fn first_mut(&mut self, value: ValueId) -> &mut Option<UseId> {
        if self.first.len() <= value.index() {
            self.first.resize(value.index() + 1, None);
        }
        &mut self.first[value.index()]
    }

    /// Adds an operand behind all others.
    fn push(&mut self, value: ValueId, owner: OpId) {
        let id = UseId::new(self.links.len());
        let prev = match *self.first_mut(value).get_or_insert(id) {
            first if first == id => id,
            first => {
                let last = std::mem::replace(&mut self.links[first.index()].prev, id);
                self.links[last.index()].next = Some(id);
                last
            }
        };
        self.links.push(Link {
            owner,
            prev,
            next: None,
        });
    }

    /// Puts a use at the end of the list of a value.
    fn link(&mut self, id: UseId, value: ValueId) {
        crate::steps::count(1);
        let first = *self.first_mut(value).get_or_insert(id);
        let last = if first == id {
            id
        } else {
            self.links[first.index()].prev
        };
        self.links[last.index()].next = Some(id);
        self.links[first.index()].prev = id;
        let this = &mut self.links[id.index()];
        (this.prev, this.next) = (last, None);
    }

    /// Takes a use out of the list of its value.
    fn unlink(&mut self, id: UseId, value: ValueId) {
        let Link { prev, next, .. } = self.links[id.index()];
        let first = self.first(value);
        if first == Some(id) {
            *self.first_mut(value) = next;
        } else {
            self.links[prev.index()].next = next;
        }
        // Behind the last one is the first, which may be the one that goes.
        if let Some(after) = next.or(first) {
            self.links[after.index()].prev = prev;
        }
    }
}

impl Body {
    /// The lists of uses, which are made now if they are not there.
    #[inline]
    pub(crate) fn use_lists(&self) -> &UseLists {
        self.use_lists.get_or_init(|| Box::new(UseLists::new(self)))
    }

    /// Changes operands and with them the lists of uses, which are made first if they are not there.
    #[inline]
    fn relink(&mut self, change: impl FnOnce(&mut UseLists, &mut Vec<ValueId>)) {
        self.use_lists();
        if let Some(lists) = self.use_lists.get_mut() {
            change(lists, &mut self.operands);
        }
    }

    /// Gives an operation that has none its operands.
    pub(crate) fn append_operands(&mut self, op: OpId, operands: &[ValueId]) {
        self.ops[op.index()].operands = Slots {
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

    /// Makes all uses of `old` uses of `new`, in the time of the number of uses.
    ///
    /// Both must be of one type, or `old` a placeholder: what uses a value may go with its own type only. A value whose
    /// type says more or less takes the place of another by `Rewriter::replace_value`.
    pub fn replace_all_uses(&mut self, old: ValueId, new: ValueId) {
        debug_assert!(
            self.value_type(old) == self.value_type(new) || self.value_def(old) == ValueDef::None,
            "a value of another type takes the place of {old}"
        );
        self.replace_all_uses_as(old, new);
    }

    /// The same, of any type.
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
