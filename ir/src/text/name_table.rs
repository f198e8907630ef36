//! A place for each name of a value.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::names::Name;

/// How many places are made at a time.
const CHUNK: usize = 1 << 10;

/// How many pieces are looked at to find one that may be taken for other names.
const LOOK_AT: usize = 4;

/// How many names a piece is expected to have at least.
const FEWEST: usize = 256;

/// A table by name, in chunks that keep their place when the table grows, so that names with the same word and numbers near each other, as
/// most are, are found with
#[derive(Debug)]
pub(super) struct NameTable<T> {
    none: T,
    /// For each list of [`Name::place`] its pieces.
    lists: Box<[List<T>; Name::NUM_LISTS]>,
    /// How many pieces may still be made, or taken for other names. Numbers far from each other would take one each.
    room: usize,
    /// Names of pieces that are not made any more.
    rest: FxHashMap<Name, T>,
}

#[derive(Debug)]
struct List<T> {
    /// By their place; those without a name are empty.
    chunks: Vec<Box<[T]>>,
    /// The chunks that are not empty, in the order of their last use.
    made: VecDeque<u32>,
}

/// Where a name is in its piece. Equal numbers after different words are not at equal distances from the beginnings of
/// their pieces, since caches would keep them in the same few places.
#[inline]
fn in_chunk(list: usize, at: usize) -> usize {
    (at + list * 41) % CHUNK
}

impl<T> List<T> {
    /// One of the pieces that were not looked at for the longest time, if it is spare. Those of other lists are not: a
    /// word that comes once would take the piece of one that comes in each function.
    fn take_spare(&mut self, is_spare: impl Fn(&T) -> bool) -> Option<Box<[T]>> {
        for _ in 0..LOOK_AT.min(self.made.len()) {
            let at = self.made.pop_front()?;
            let piece = &mut self.chunks[at as usize];
            if piece.iter().all(&is_spare) {
                return Some(std::mem::take(piece));
            }
            self.made.push_back(at);
        }
        None
    }
}

impl<T: Copy> NameTable<T> {
    /// A table in which all names have `none`. It may take about as much memory as `names` names, and more for those that
    /// are entered.
    pub(super) fn new(none: T, names: usize) -> Self {
        let mut table = Self {
            none,
            lists: Box::new(std::array::from_fn(|_| List {
                chunks: Vec::new(),
                made: VecDeque::new(),
            })),
            room: 16,
            rest: FxHashMap::default(),
        };
        table.make_room(names);
        table
    }

    /// Lets the table take the memory of more names.
    pub(super) fn make_room(&mut self, names: usize) {
        // Once there was none, what is in the rest stays there.
        if self.room > 0 {
            self.room += names / FEWEST;
        }
    }

    /// The entry of a name.
    #[inline]
    pub(super) fn get(&self, name: Name) -> T {
        let (list, at) = name.place();
        match self.lists[list]
            .chunks
            .get(at / CHUNK)
            .and_then(|chunk| chunk.get(in_chunk(list, at)))
        {
            Some(&found) => found,
            None => self.get_rest(name),
        }
    }

    #[cold]
    fn get_rest(&self, name: Name) -> T {
        self.rest.get(&name).copied().unwrap_or(self.none)
    }

    /// The index of a name. Indices for which `is_spare` holds may be reused.
    #[inline]
    pub(super) fn slot(&mut self, name: Name, is_spare: impl Fn(&T) -> bool) -> &mut T {
        let (list, at) = name.place();
        let is_made = self.lists[list]
            .chunks
            .get(at / CHUNK)
            .is_some_and(|chunk| !chunk.is_empty());
        if !is_made && !self.make(list, at / CHUNK, is_spare) {
            return self.rest.entry(name).or_insert(self.none);
        }
        &mut self.lists[list].chunks[at / CHUNK][in_chunk(list, at)]
    }

    #[cold]
    fn make(&mut self, list: usize, chunk: usize, is_spare: impl Fn(&T) -> bool) -> bool {
        if self.room == 0 {
            return false;
        }
        self.room -= 1;
        let list = &mut self.lists[list];
        let memory = match list.take_spare(is_spare) {
            Some(mut memory) => {
                memory.fill(self.none);
                memory
            }
            None => vec![self.none; CHUNK].into(),
        };
        if list.chunks.len() <= chunk {
            list.chunks.resize_with(chunk + 1, Box::default);
        }
        list.chunks[chunk] = memory;
        list.made.push_back(chunk as u32);
        true
    }

    /// The names with an entry, and some without one, with their entries.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Name, &T)> {
        let chunks = self.lists.iter().enumerate().flat_map(|(list, List { chunks, .. })| {
            let chunks = chunks.iter().enumerate();
            chunks.flat_map(move |(chunk, slots)| {
                let names = (chunk * CHUNK..).take(slots.len());
                names.map(move |at| (Name::at(list, at), &slots[in_chunk(list, at)]))
            })
        });
        chunks.chain(self.rest.iter().map(|(&name, slot)| (name, slot)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_near_and_far_keep_what_they_have() {
        // Far more pieces than there is room for.
        let names = (0..200).map(|at| Name::numbered(at % 3, at * 80_000 % Name::MAX_LIST as u32));
        let names: Vec<Name> = names.chain((0..3000).map(|at| Name::numbered(5, at))).collect();
        let mut table = NameTable::new(0, 100);
        for (at, &name) in names.iter().enumerate() {
            assert_eq!(table.get(name), 0);
            *table.slot(name, |_| false) = at + 1;
            table.make_room(1000 * (at % 2));
        }
        for (at, &name) in names.iter().enumerate() {
            assert_eq!(table.get(name), at + 1);
        }
        let mut found: Vec<Name> = table.iter().filter(|(_, at)| **at > 0).map(|(name, _)| name).collect();
        let mut all = names.clone();
        found.sort_unstable();
        all.sort_unstable();
        assert_eq!(found, all);
    }

    #[test]
    fn without_room_the_rest_is_hashed() {
        let mut table = NameTable::new(0, 0);
        for at in 0..40 {
            *table.slot(Name::numbered(0, at * 5000), |_| false) = at;
        }
        assert!(!table.rest.is_empty());
        assert!((0..40).all(|at| table.get(Name::numbered(0, at * 5000)) == at));
    }

    #[test]
    fn spare_pieces_are_taken() {
        let mut table = NameTable::new(0, 100_000);
        for at in 0..100_000 {
            // Up and down at once, and always the same.
            for name in [
                Name::numbered(0, at),
                Name::numbered(1, 200_000 - at),
                Name::numbered(2, at % 7),
            ] {
                *table.slot(name, |&old| old + 100 < at) = at;
            }
        }
        assert!(table.rest.is_empty());
        assert_eq!(table.get(Name::numbered(0, 99_999)), 99_999);
        assert_eq!(table.get(Name::numbered(1, 100_001)), 99_999);
    }
}
