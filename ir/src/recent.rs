//! A cache in which each item has one place.
//!
//! The same names, types and attributes come again and again in a program. To find one costs a comparison; an item takes
//! the place of the one that was there.

/// A direct-mapped cache of values by keys. It takes no memory before something is kept.
pub(crate) struct Recent<K, V> {
    items: Vec<Option<(K, V)>>,
    places: usize,
}

impl<K, V> Recent<K, V> {
    /// With this many entries, a power of two.
    pub(crate) fn new(places: usize) -> Self {
        debug_assert!(places.is_power_of_two());
        Recent {
            items: Vec::new(),
            places,
        }
    }

    /// The entry at a place, if its key matches. Places are counted modulo their number.
    #[inline]
    pub(crate) fn find(&self, place: usize, is: impl FnOnce(&K) -> bool) -> Option<&(K, V)> {
        let item = self.items.get(place & (self.places - 1))?.as_ref();
        item.filter(|item| is(&item.0))
    }

    /// The entry at a place.
    #[inline]
    pub(crate) fn at(&mut self, place: usize) -> &mut Option<(K, V)> {
        if self.items.is_empty() {
            self.items.resize_with(self.places, || None);
        }
        &mut self.items[place & (self.places - 1)]
    }

    /// Replaces the entry of a place.
    #[inline]
    pub(crate) fn keep(&mut self, place: usize, key: K, value: V) {
        *self.at(place) = Some((key, value));
    }
}

/// How many places an item can have in [`RecentSets`].
const WAYS: usize = 4;

/// A cache in which each item has one of a few places, by its hash: what comes in turn does not take the place of each other. It takes
/// no memory before something is kept.
pub(crate) struct RecentSets<V> {
    /// Items with their hashes.
    sets: Vec<[Option<(u64, V)>; WAYS]>,
    len: usize,
}

impl<V> RecentSets<V> {
    /// With this many sets of places, a power of two below 512. The upper bits of hashes have to be good ones.
    pub(crate) fn new(len: usize) -> Self {
        debug_assert!(len.is_power_of_two() && len <= 256);
        RecentSets { sets: Vec::new(), len }
    }

    /// Forgets all items.
    pub(crate) fn clear(&mut self) {
        self.sets.clear();
    }

    /// The set of a hash. The upper bits of a product depend on all bits of its factors.
    #[inline]
    fn set(&self, hash: u64) -> usize {
        (hash >> 56) as usize & (self.len - 1)
    }

    /// An item that was kept.
    #[inline]
    pub(crate) fn find(&self, hash: u64, is: impl Fn(&V) -> bool) -> Option<&V> {
        let mut items = self.sets.get(self.set(hash))?.iter().flatten();
        items.find(|item| item.0 == hash && is(&item.1)).map(|item| &item.1)
    }

    /// Takes an item out, until it is kept again.
    #[inline]
    pub(crate) fn take(&mut self, hash: u64, is: impl Fn(&V) -> bool) -> Option<V> {
        let set = self.set(hash);
        let places = self.sets.get_mut(set)?;
        let found = places
            .iter_mut()
            .find_map(|place| place.take_if(|item| item.0 == hash && is(&item.1)));
        found.map(|item| item.1)
    }

    /// Keeps an item, in place of one with this hash or of the one that was kept before the others.
    pub(crate) fn keep(&mut self, hash: u64, item: V) {
        if self.sets.is_empty() {
            self.sets.resize_with(self.len, || [const { None }; WAYS]);
        }
        let set = self.set(hash);
        let places = &mut self.sets[set];
        let is_free = |place: &Option<(u64, V)>| place.as_ref().is_none_or(|item| item.0 == hash);
        let at = places.iter().position(is_free).unwrap_or_else(|| {
            places.rotate_right(1);
            0
        });
        places[at] = Some((hash, item));
    }
}

#[cfg(test)]
mod tests {
    use super::RecentSets;

    #[test]
    fn items_with_the_same_place_are_kept() {
        let mut recent = RecentSets::new(2);
        assert_eq!(recent.find(7, |_| true), None);
        for round in 0..5u64 {
            for item in 0..4u64 {
                recent.keep(item, (item, round));
            }
        }
        for item in 0..4u64 {
            assert_eq!(recent.find(item, |found| found.0 == item), Some(&(item, 4)));
        }
        assert_eq!(recent.find(1, |found| found.1 == 3), None);
        assert_eq!(recent.take(2, |_| true), Some((2, 4)));
        assert_eq!(recent.find(2, |_| true), None);
        recent.keep(2, (2, 5));
        // The one that was kept before the others makes room.
        recent.keep(9, (9, 0));
        assert_eq!(recent.find(3, |_| true), None);
        assert!(recent.find(9, |_| true).is_some());
        recent.clear();
        assert_eq!(recent.find(9, |_| true), None);
    }
}
