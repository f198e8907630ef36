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
