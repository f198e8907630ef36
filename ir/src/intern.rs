//! Append-only interning of immutable data, shared between threads.
//!
//! Reading the data of an id takes no lock, so that passes over different functions do not disturb each other.

use std::borrow::Borrow;
use std::convert::Infallible;
use std::hash::{BuildHasher, Hash};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard};

use append_only_vec::AppendOnlyVec;
use ecow::EcoString;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use rustc_hash::FxBuildHasher;

fn short_hash<T: Hash + ?Sized>(value: &T) -> u32 {
    let hash = FxBuildHasher.hash_one(value);
    hash as u32 ^ (hash >> 32) as u32
}

/// The table needs 64 bits; it uses the upper and the lower ones.
fn spread(hash: u32) -> u64 {
    u64::from(hash).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// How many tables there are: threads that intern different values seldom wait for each other.
const TABLES: usize = 16;

/// Ids of values with their hashes, so that growing a table reads no value.
pub(crate) struct Ids([Mutex<HashTable<(u32, u32)>>; TABLES]);

impl Default for Ids {
    fn default() -> Self {
        Ids([const { Mutex::new(HashTable::new()) }; TABLES])
    }
}

impl Ids {
    /// The table of a hash. Its lowest bits select it; in the table, all bits count.
    fn table(&self, hash: u32) -> MutexGuard<'_, HashTable<(u32, u32)>> {
        let table = &self.0[hash as usize % TABLES];
        table.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Enters the id of a value that has none.
    pub(crate) fn insert(&self, hash: u32, id: u32) {
        self.table(hash)
            .insert_unique(spread(hash), (hash, id), |&(hash, _)| spread(hash));
    }

    /// The id of a value with this hash: one that is the same, or the one that `make` gives it.
    fn intern<K>(&self, hash: u32, key: K, is: impl Fn(&K, u32) -> bool, make: impl FnOnce(K) -> u32) -> u32 {
        let Ok(id) = self.try_intern(hash, key, is, |key| Ok::<_, Infallible>(make(key)));
        id
    }

    /// The same, where `make` may give none.
    ///
    /// # Errors
    /// That of `make`.
    pub(crate) fn try_intern<K, E>(
        &self,
        hash: u32,
        key: K,
        is: impl Fn(&K, u32) -> bool,
        make: impl FnOnce(K) -> Result<u32, E>,
    ) -> Result<u32, E> {
        let same = |&(h, id): &(u32, u32)| h == hash && is(&key, id);
        match self.table(hash).entry(spread(hash), same, |&(hash, _)| spread(hash)) {
            Entry::Occupied(entry) => Ok(entry.get().1),
            Entry::Vacant(entry) => {
                let id = make(key)?;
                entry.insert((hash, id));
                Ok(id)
            }
        }
    }
}

/// A set of values of type `T`, each with a dense 32-bit id that is never reused.
pub(crate) struct Interner<T> {
    ids: Ids,
    items: boxcar::Vec<T>,
}

impl<T: Hash + Eq> Interner<T> {
    pub(crate) fn new() -> Self {
        Self {
            ids: Ids::default(),
            items: boxcar::Vec::new(),
        }
    }

    /// The id of the value equal to `key`; `make` builds it when it is new.
    pub(crate) fn intern<Q>(&self, key: &Q, make: impl FnOnce() -> T) -> u32
    where
        T: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let is = |key: &&Q, id| self.get(id).borrow() == *key;
        let push = |_| self.items.push(make()) as u32;
        self.ids.intern(short_hash(key), key, is, push)
    }

    /// The id of a value that is at hand.
    pub(crate) fn intern_owned(&self, value: T) -> u32 {
        let is = |value: &T, id| self.get(id) == value;
        let push = |value| self.items.push(value) as u32;
        self.ids.intern(short_hash(&value), value, is, push)
    }

    pub(crate) fn len(&self) -> usize {
        self.items.count()
    }

    #[inline]
    pub(crate) fn get(&self, id: u32) -> &T {
        &self.items[id as usize]
    }
}

/// A set of strings, each with a dense 32-bit id that is never reused. Short ones are stored in place.
pub(crate) struct StrInterner {
    ids: Ids,
    items: AppendOnlyVec<EcoString>,
}

impl StrInterner {
    pub(crate) fn new() -> Self {
        Self {
            ids: Ids::default(),
            items: AppendOnlyVec::new(),
        }
    }

    /// The hash that [`StrInterner::intern_hashed`] asks for.
    pub(crate) fn hash(text: &[u8]) -> u32 {
        short_hash(text)
    }

    pub(crate) fn intern(&self, text: &str) -> u32 {
        self.intern_hashed(Self::hash(text.as_bytes()), text)
    }

    /// The id of a string whose hash is known.
    pub(crate) fn intern_hashed(&self, hash: u32, text: &str) -> u32 {
        let push = |text| self.items.push(EcoString::from(text)) as u32;
        self.ids.intern(hash, text, |text, id| self.get(id) == *text, push)
    }

    /// The id of a string, if it was ever interned.
    pub(crate) fn find(&self, text: &str) -> Option<u32> {
        let hash = Self::hash(text.as_bytes());
        let table = self.ids.table(hash);
        let found = table.find(spread(hash), |&(h, id)| h == hash && self.get(id) == text);
        found.map(|&(_, id)| id)
    }

    #[inline]
    pub(crate) fn get(&self, id: u32) -> &str {
        &self.items[id as usize]
    }
}

/// How many names are kept in [`RecentNames`], a power of two.
const RECENT: usize = 128;

/// The numbers of names by where in memory their texts are: passes make operations by constant texts, which stay in place. Only a
/// hint: the text is compared before a number is used.
pub(crate) struct RecentNames([AtomicU32; RECENT]);

impl Default for RecentNames {
    fn default() -> Self {
        RecentNames([const { AtomicU32::new(u32::MAX) }; RECENT])
    }
}

impl RecentNames {
    fn place(&self, text: &str) -> &AtomicU32 {
        // Texts are next to each other, so that the lowest bits of their addresses tell them apart.
        let at = text.as_ptr().addr();
        &self.0[(at ^ at >> 7) % RECENT]
    }

    /// The number that was kept for a text; `text_of` gives the texts of those that are kept.
    #[inline]
    pub(crate) fn get<'a>(&self, text: &str, text_of: impl FnOnce(u32) -> &'a str) -> Option<u32> {
        let id = self.place(text).load(Ordering::Acquire);
        (id != u32::MAX && text_of(id) == text).then_some(id)
    }

    pub(crate) fn keep(&self, text: &str, id: u32) {
        self.place(text).store(id, Ordering::Release);
    }
}
