//! Lists of different lengths one after the other, in two allocations.

/// Lists of owners that are numbered from 0: the *compressed sparse row* form. How many items each owner has is given
/// first, then they are entered; both in any order of the owners.
#[derive(Clone, Debug)]
pub struct Lists<T> {
    /// The end of each owner's items; they begin at the end of the previous owner's.
    ends: Vec<u32>,
    items: Vec<T>,
}

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Self {
            ends: Vec::new(),
            items: Vec::new(),
        }
    }
}

impl<T: Copy> Lists<T> {
    /// Lists of as many items as `counts` gives for each owner, to be entered with [`push`](Self::push). Until then
    /// `filler` takes their places, and [`get`](Self::get) does not determine what is whose.
    pub fn with_counts(counts: Vec<u32>, filler: T) -> Self {
        let mut ends = counts;
        // Where the items of each owner begin; entering them moves that to where they end.
        let mut total = 0;
        for end in &mut ends {
            total += std::mem::replace(end, total);
        }
        Self {
            ends,
            items: vec![filler; total as usize],
        }
    }

    /// The lists of `count` owners, each in the order of the pairs of an owner and an item.
    ///
    /// # Panics
    /// If an owner is not below `count`.
    pub fn from_pairs(count: usize, pairs: &[(u32, T)]) -> Self {
        let mut counts = vec![0; count];
        for &(owner, _) in pairs {
            counts[owner as usize] += 1;
        }
        let Some(&(_, filler)) = pairs.first() else {
            return Self {
                ends: counts,
                items: Vec::new(),
            };
        };
        let mut lists = Self::with_counts(counts, filler);
        for &(owner, item) in pairs {
            lists.push(owner as usize, item);
        }
        lists
    }

    /// Enters the next item of an owner that has fewer than its count.
    #[inline]
    pub fn push(&mut self, owner: usize, item: T) {
        let end = &mut self.ends[owner];
        self.items[*end as usize] = item;
        *end += 1;
    }

    /// The items of an owner; none of one that there is not.
    #[inline]
    pub fn get(&self, owner: usize) -> &[T] {
        let Some(&end) = self.ends.get(owner) else { return &[] };
        let start = owner.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.items[start as usize..end as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_owner_has_its_own_in_order() {
        let lists = Lists::from_pairs(4, &[(2, 'a'), (0, 'b'), (2, 'c'), (3, 'd')]);
        assert_eq!(lists.get(0), ['b']);
        assert_eq!(lists.get(1), []);
        assert_eq!(lists.get(2), ['a', 'c']);
        assert_eq!(lists.get(3), ['d']);
        assert_eq!(lists.get(4), []);
        assert_eq!(Lists::<char>::from_pairs(3, &[]).get(2), []);
    }
}
