//! A cache in which each item has one place.
//!
//! The same names, types and attributes come again and again in a program. To find one costs a comparison; an item takes
//! the place of the one that was there.

/// A direct-mapped cache. It takes no memory before something is kept.
pub(crate) struct Recent<T> {
    items: Vec<T>,
    places: usize,
}

impl<T: Default> Recent<T> {
    /// With so many places, a power of two.
    pub(crate) fn new(places: usize) -> Self {
        debug_assert!(places.is_power_of_two());
        Recent {
            items: Vec::new(),
            places,
        }
    }

    /// What is kept at a place, if it is what is looked for. Places are counted modulo their number.
    #[inline]
    pub(crate) fn find(&self, place: usize, is: impl FnOnce(&T) -> bool) -> Option<&T> {
        self.items.get(place & (self.places - 1)).filter(|item| is(item))
    }

    /// A place for what is to be kept.
    #[inline]
    pub(crate) fn place(&mut self, place: usize) -> &mut T {
        if self.items.is_empty() {
            self.items.resize_with(self.places, T::default);
        }
        &mut self.items[place & (self.places - 1)]
    }
}
