//! Mappings and sets of the values and the operations of a body, for when most of those in a stretch have an entry. A hash table of all
//! pushes and pops of a large program is in no cache.

use pir_ir::{OpId, Rewriter, ValueId};
use smallvec::SmallVec;

/// A mapping of values to values, in an array by the numbers of the former.
#[derive(Default)]
pub(crate) struct DenseMap(Vec<Option<ValueId>>);

impl DenseMap {
    /// Maps `from` to `to`.
    pub(crate) fn insert(&mut self, from: ValueId, to: ValueId) {
        let at = from.index();
        if self.0.len() <= at {
            self.0.resize(at + 1, None);
        }
        self.0[at] = Some(to);
    }

    /// The value that `value` is mapped to.
    #[inline]
    pub(crate) fn get(&self, value: ValueId) -> Option<ValueId> {
        self.0.get(value.index()).copied().flatten()
    }

    /// The value that `value` is mapped to, or the value itself.
    #[inline]
    pub(crate) fn get_or_self(&self, value: ValueId) -> ValueId {
        self.get(value).unwrap_or(value)
    }

    /// Removes an entry.
    pub(crate) fn remove(&mut self, value: ValueId) {
        if let Some(entry) = self.0.get_mut(value.index()) {
            *entry = None;
        }
    }
}

/// A mapping of operations, in an array by their numbers.
#[derive(Debug)]
pub(crate) struct OpMap<T>(Vec<Option<T>>);

impl<T> Default for OpMap<T> {
    fn default() -> Self {
        OpMap(Vec::new())
    }
}

impl<T: Copy> OpMap<T> {
    /// Maps `op` to `to`.
    pub(crate) fn insert(&mut self, op: OpId, to: T) {
        let at = op.index();
        if self.0.len() <= at {
            self.0.resize(at + 1, None);
        }
        self.0[at] = Some(to);
    }

    /// What `op` is mapped to.
    #[inline]
    pub(crate) fn get(&self, op: OpId) -> Option<T> {
        self.0.get(op.index()).copied().flatten()
    }

    /// All entries, by the numbers of the operations.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (OpId, T)> + '_ {
        let entries = self.0.iter().enumerate();
        entries.filter_map(|(index, to)| Some((OpId::new(index), (*to)?)))
    }
}

/// A set of values that were made after some moment: few, and consecutive.
pub(crate) struct Fresh {
    first: usize,
    members: SmallVec<[bool; 64]>,
}

impl Fresh {
    /// An empty one.
    pub(crate) fn since_now(r: &Rewriter<'_>) -> Self {
        Fresh {
            first: r.body.num_value_slots(),
            members: SmallVec::new(),
        }
    }

    /// An empty one of values that were made after the same moment.
    pub(crate) fn emptied(&self) -> Self {
        Fresh {
            first: self.first,
            members: SmallVec::new(),
        }
    }

    /// Adds a value; nothing for one that was there before.
    pub(crate) fn insert(&mut self, value: ValueId) {
        if let Some(at) = value.index().checked_sub(self.first) {
            if self.members.len() <= at {
                self.members.resize(at + 1, false);
            }
            self.members[at] = true;
        }
    }

    /// Whether the value was added.
    pub(crate) fn contains(&self, value: ValueId) -> bool {
        let at = value.index().checked_sub(self.first);
        at.is_some_and(|at| self.members.get(at) == Some(&true))
    }
}
