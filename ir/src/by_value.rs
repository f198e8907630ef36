//! Mappings of values of which most are small.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::entity::ValueId;

/// How many entries are searched from end to end.
const FEW: usize = 8;

/// A mapping of values that is searched from end to end as long as it is small: passes make one for nearly every operation that they
/// copy, expand or transpose.
#[derive(Clone, Debug)]
pub struct ByValue<T> {
    few: SmallVec<[(ValueId, T); 4]>,
    /// All of them, when there were too many.
    many: Option<FxHashMap<ValueId, T>>,
}

impl<T> Default for ByValue<T> {
    fn default() -> Self {
        ByValue {
            few: SmallVec::new(),
            many: None,
        }
    }
}

impl<T> ByValue<T> {
    /// What `value` is mapped to.
    pub fn get(&self, value: ValueId) -> Option<&T> {
        match &self.many {
            Some(many) => many.get(&value),
            None => self.few.iter().find(|entry| entry.0 == value).map(|entry| &entry.1),
        }
    }

    /// The same, to be changed.
    pub fn get_mut(&mut self, value: ValueId) -> Option<&mut T> {
        match &mut self.many {
            Some(many) => many.get_mut(&value),
            None => (self.few.iter_mut().find(|entry| entry.0 == value)).map(|entry| &mut entry.1),
        }
    }

    /// Maps `value` to `to`.
    pub fn insert(&mut self, value: ValueId, to: T) {
        if let Some(slot) = self.get_mut(value) {
            *slot = to;
            return;
        }
        match &mut self.many {
            Some(many) => drop(many.insert(value, to)),
            None if self.few.len() < FEW => self.few.push((value, to)),
            None => {
                let all = self.few.drain(..).chain([(value, to)]);
                self.many = Some(all.collect());
            }
        }
    }

    /// Removes an entry, and gives what the value was mapped to.
    pub fn remove(&mut self, value: ValueId) -> Option<T> {
        match &mut self.many {
            Some(many) => many.remove(&value),
            None => {
                let at = self.few.iter().position(|entry| entry.0 == value)?;
                Some(self.few.swap_remove(at).1)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_and_many() {
        for count in [1, FEW, FEW + 1, 40] {
            let mut map = ByValue::default();
            let values: Vec<ValueId> = (0..count).map(ValueId::new).collect();
            for &value in &values {
                map.insert(value, 0);
                map.insert(value, value.index());
            }
            assert!(values.iter().all(|&v| map.get(v) == Some(&v.index())));
            assert_eq!(map.get(ValueId::new(count)), None);
            assert_eq!(map.remove(values[0]), Some(0));
            assert_eq!((map.remove(values[0]), map.get(values[0])), (None, None));
            assert!(values[1..].iter().all(|&v| map.get(v) == Some(&v.index())));
        }
    }
}
