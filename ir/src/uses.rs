//! The lists of the uses of values.

use crate::entity::{OpId, UseId, ValueId};

/// The doubly linked lists of the uses of all values.
#[derive(Clone, PartialEq, Default, Debug)]
pub(crate) struct UseLists {
    /// For each value its first use. The use before that is the last. May end before the last values, without uses.
    first: Vec<Option<UseId>>,
    /// For each operand its place in the list of its value.
    links: Vec<Link>,
}

#[derive(Clone, PartialEq, Debug)]
struct Link {
    owner: OpId,
    /// Before the first is the last.
    prev: UseId,
    next: Option<UseId>,
}

impl UseLists {
    /// The use lists before any edit: uses are in the order of creation. `owners` are the operations that the operands
    /// belong to.
    pub(crate) fn new(values: usize, operands: &[ValueId], owners: &[OpId]) -> Self {
        let mut lists = UseLists {
            first: vec![None; values],
            links: Vec::with_capacity(operands.len()),
        };
        for (&value, &owner) in operands.iter().zip(owners) {
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

    /// Reserves memory for this many more values and operands.
    pub(crate) fn reserve(&mut self, values: usize, operands: usize) {
        self.first.reserve(values);
        self.links.reserve(operands);
    }

    /// Adds an operand after all others.
    pub(crate) fn push(&mut self, value: ValueId, owner: OpId) {
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
    pub(crate) fn link(&mut self, id: UseId, value: ValueId) {
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
    pub(crate) fn unlink(&mut self, id: UseId, value: ValueId) {
        let Link { prev, next, .. } = self.links[id.index()];
        let first = self.first(value);
        if first == Some(id) {
            *self.first_mut(value) = next;
        } else {
            self.links[prev.index()].next = next;
        }
        // After the last one is the first, which may be the one that goes.
        if let Some(after) = next.or(first) {
            self.links[after.index()].prev = prev;
        }
    }
}
