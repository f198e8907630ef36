//! Mappings and sets of the values and the operations of a body, for when most of those in a stretch have an entry. A hash table of all
//! pushes and pops of a large program is in no cache.

use std::marker::PhantomData;

use pir_ir::{OpId, Rewriter, ValueId};
use smallvec::SmallVec;

/// What entities are numbered by.
pub(crate) trait Id: Copy {
    /// The entity of a number.
    fn of(index: usize) -> Self;
    /// The number of the entity.
    fn number(self) -> usize;
}

macro_rules! id {
    ($ty:ty) => {
        impl Id for $ty {
            #[inline]
            fn of(index: usize) -> Self {
                Self::new(index)
            }

            #[inline]
            fn number(self) -> usize {
                self.index()
            }
        }
    };
}

id!(OpId);
id!(ValueId);

/// A mapping of entities, in an array by their numbers.
#[derive(Debug)]
pub(crate) struct Dense<K, T>(Vec<Option<T>>, PhantomData<K>);

/// A mapping of values to values.
pub(crate) type DenseMap = Dense<ValueId, ValueId>;
/// A mapping of operations.
pub(crate) type OpMap<T> = Dense<OpId, T>;

impl<K, T> Default for Dense<K, T> {
    fn default() -> Self {
        Dense(Vec::new(), PhantomData)
    }
}

impl<K: Id, T: Copy> Dense<K, T> {
    /// Maps `from` to `to`.
    pub(crate) fn insert(&mut self, from: K, to: T) {
        let at = from.number();
        if self.0.len() <= at {
            self.0.resize(at + 1, None);
        }
        self.0[at] = Some(to);
    }

    /// What `from` is mapped to.
    #[inline]
    pub(crate) fn get(&self, from: K) -> Option<T> {
        self.0.get(from.number()).copied().flatten()
    }

    /// Removes an entry.
    pub(crate) fn remove(&mut self, from: K) {
        if let Some(entry) = self.0.get_mut(from.number()) {
            *entry = None;
        }
    }

    /// All entries, by the numbers of the entities.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (K, T)> + '_ {
        let entries = self.0.iter().enumerate();
        entries.filter_map(|(index, to)| Some((K::of(index), (*to)?)))
    }
}

impl DenseMap {
    /// The value that `value` is mapped to, or the value itself.
    #[inline]
    pub(crate) fn get_or_self(&self, value: ValueId) -> ValueId {
        self.get(value).unwrap_or(value)
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
