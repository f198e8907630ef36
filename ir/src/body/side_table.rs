//! Tables in which most bodies have nothing.

use std::hash::Hash;

use rustc_hash::FxHashMap;

/// A table that takes no more than a pointer while nothing is in it: there are as many as functions.
#[derive(Clone, Debug)]
pub(crate) struct SideTable<K, V>(Option<Box<FxHashMap<K, V>>>);

impl<K, V> Default for SideTable<K, V> {
    fn default() -> Self {
        SideTable(None)
    }
}

impl<K: Hash + Eq, V> SideTable<K, V> {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    #[inline]
    pub(crate) fn get(&self, key: &K) -> Option<&V> {
        self.0.as_ref()?.get(key)
    }

    pub(crate) fn insert(&mut self, key: K, value: V) -> Option<V> {
        self.0.get_or_insert_default().insert(key, value)
    }

    pub(crate) fn remove(&mut self, key: &K) -> Option<V> {
        let table = self.0.as_mut()?;
        let found = table.remove(key);
        if table.is_empty() {
            self.0 = None;
        }
        found
    }
}
