//! Append-only interning of immutable data, shared between threads.
//!
//! Reading the data of an id takes no lock, so that passes over different functions do not disturb each other.

use std::borrow::Borrow;
use std::hash::{BuildHasher, Hash};
use std::sync::Mutex;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

/// A set of values of type `T`, each with a dense 32-bit id that is never reused.
pub(crate) struct Interner<T> {
    table: Mutex<HashTable<u32>>,
    items: boxcar::Vec<T>,
}

impl<T: Hash + Eq> Interner<T> {
    pub(crate) fn new() -> Self {
        Self {
            table: Mutex::new(HashTable::new()),
            items: boxcar::Vec::new(),
        }
    }

    /// The id of the value equal to `key`; `make` builds it when it is new.
    pub(crate) fn intern<Q>(&self, key: &Q, make: impl FnOnce() -> T) -> u32
    where
        T: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let hash = FxBuildHasher.hash_one(key);
        let mut table = self.table.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(&id) = table.find(hash, |&id| self.items[id as usize].borrow() == key) {
            return id;
        }
        let id = self.items.push(make()) as u32;
        table.insert_unique(hash, id, |&id| FxBuildHasher.hash_one(self.items[id as usize].borrow()));
        id
    }

    /// The id of the value equal to `key`, if it was ever interned.
    pub(crate) fn find<Q>(&self, key: &Q) -> Option<u32>
    where
        T: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let hash = FxBuildHasher.hash_one(key);
        let table = self.table.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        table.find(hash, |&id| self.items[id as usize].borrow() == key).copied()
    }

    #[inline]
    pub(crate) fn get(&self, id: u32) -> &T {
        &self.items[id as usize]
    }
}
