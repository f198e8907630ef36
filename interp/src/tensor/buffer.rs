//! The memory of tensors, which is used again.
//!
//! A loop makes tensors of the same few sizes and drops them, over and over. What the last holder of a small buffer
//! drops is kept by its thread for the next tensor of about its size, so that a loop asks the allocator for nothing.

use std::cell::RefCell;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use super::Element;

/// Elements of the largest buffers that are kept. Beyond, an allocation is little beside what is computed.
const LARGEST: usize = (1 << 15) - 1;
/// Sizes that are kept: up to seven elements each, then four for each power of two.
const CLASSES: usize = class(LARGEST) + 1;
/// Buffers that are kept of each size.
const KEPT: usize = 32;
/// Bytes that are kept in all, for each element type and thread.
const KEPT_BYTES: usize = 1 << 20;

/// The largest size that is kept and not above `count`.
const fn class(count: usize) -> usize {
    if count < 4 {
        return count;
    }
    let power = count.ilog2() as usize;
    (power - 1) * 4 + (count >> (power - 2) & 3)
}

/// The smallest size that is kept and not below `count`.
const fn rounded(count: usize) -> usize {
    if count < 4 || count > LARGEST {
        return count;
    }
    count.next_multiple_of(1 << (count.ilog2() - 2))
}

/// The elements of a tensor; cloning shares them.
pub struct Buffer<T: Element> {
    /// Always there but while it is dropped.
    values: Option<Arc<Vec<T>>>,
}

/// What a thread keeps for tensors to come.
pub struct Pool<T> {
    /// Each of them empty and held by nobody else: what tensors share is an allocation of its own.
    shells: Vec<Arc<Vec<T>>>,
    /// Empty lists with memory, by its size.
    spare: [Vec<Vec<T>>; CLASSES],
    bytes: usize,
}

impl<T> Pool<T> {
    /// Nothing is kept yet.
    pub(super) const fn new() -> Self {
        Pool {
            shells: Vec::new(),
            spare: [const { Vec::new() }; CLASSES],
            bytes: 0,
        }
    }

    fn take(&mut self, count: usize) -> Option<Vec<T>> {
        let values = self.spare.get_mut(class(rounded(count)))?.pop()?;
        self.bytes -= values.capacity() * size_of::<T>();
        Some(values)
    }

    fn put(&mut self, mut values: Vec<T>) {
        let bytes = values.capacity() * size_of::<T>();
        if let Some(list) = self.spare.get_mut(class(values.capacity()))
            && bytes != 0
            && list.len() < KEPT
            && self.bytes + bytes <= KEPT_BYTES
        {
            values.clear();
            self.bytes += bytes;
            list.push(values);
        }
    }
}

/// The pool of each element type in each thread.
pub type Local<T> = RefCell<Pool<T>>;

/// An empty list with room for so many elements.
pub(crate) fn room<T: Element>(count: usize) -> Vec<T> {
    let kept = T::pooled(|pool| pool.take(count)).flatten();
    kept.unwrap_or_else(|| Vec::with_capacity(rounded(count)))
}

/// A list of so many equal elements.
pub(crate) fn filled<T: Element>(count: usize, value: T) -> Vec<T> {
    if count > LARGEST {
        // Of zeros the system has fresh pages.
        return vec![value; count];
    }
    let mut values = room(count);
    values.resize(count, value);
    values
}

/// A list of what an iterator gives, which knows about how much that is.
pub(crate) fn gathered<T: Element>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut values = room(items.size_hint().0);
    values.extend(items);
    values
}

/// Gives the memory of a list back that became no tensor.
pub(crate) fn done<T: Element>(values: Vec<T>) {
    T::pooled(|pool| pool.put(values));
}

impl<T: Element> Buffer<T> {
    /// The elements for writing, if nobody else holds them.
    pub(crate) fn get_mut(&mut self) -> Option<&mut [T]> {
        Some(Arc::get_mut(self.values.as_mut()?)?)
    }

    /// The elements alone; copied if others share them.
    pub(crate) fn into_vec(mut self) -> Vec<T> {
        match self.values.as_mut().and_then(Arc::get_mut) {
            // The shell is kept when it is dropped.
            Some(values) => std::mem::take(values),
            None => gathered(self.iter().copied()),
        }
    }

    /// Whether nobody else holds the elements.
    pub(crate) fn is_unique(&self) -> bool {
        self.values.as_ref().is_none_or(|values| Arc::strong_count(values) == 1)
    }

    /// What is the same for buffers that share their elements, and for no others.
    pub(crate) fn address(&self) -> usize {
        self.values.as_ref().map_or(0, |values| Arc::as_ptr(values).addr())
    }
}

impl<T: Element> From<Vec<T>> for Buffer<T> {
    fn from(values: Vec<T>) -> Self {
        let shell = T::pooled(|pool| pool.shells.pop()).flatten();
        let values = match shell {
            Some(mut shell) => {
                match Arc::get_mut(&mut shell) {
                    Some(inside) => *inside = values,
                    None => shell = Arc::new(values),
                }
                shell
            }
            None => Arc::new(values),
        };
        Buffer { values: Some(values) }
    }
}

impl<T: Element> Deref for Buffer<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        self.values.as_ref().map_or(&[], |values| values)
    }
}

impl<T: Element> Clone for Buffer<T> {
    #[inline]
    fn clone(&self) -> Self {
        Buffer {
            values: self.values.clone(),
        }
    }
}

impl<T: Element + fmt::Debug> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<T: Element> Drop for Buffer<T> {
    fn drop(&mut self) {
        let Some(mut shared) = self.values.take() else { return };
        let Some(values) = Arc::get_mut(&mut shared) else {
            return;
        };
        let values = std::mem::take(values);
        T::pooled(|pool| {
            pool.put(values);
            if pool.shells.len() < KEPT {
                pool.shells.push(shared);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        for count in 0..=LARGEST {
            let size = rounded(count);
            assert!(size >= count && size - count <= count / 4, "{count}");
            assert!(
                class(count) <= class(size) && class(count + 1) - class(count) <= 1,
                "{count}"
            );
            // What a class holds is not smaller than what is asked of it.
            assert!(size == count || class(size) == class(count) + 1, "{count}");
        }
    }

    #[test]
    fn memory_is_used_again() {
        let first = Buffer::from(filled(5, 1.5f32));
        let (place, shell) = (first.as_ptr(), first.address());
        let shared = first.clone();
        assert!(!first.is_unique());
        drop(first);
        assert!(shared.is_unique());
        assert_eq!(*shared, [1.5; 5]);
        drop(shared);
        let second = Buffer::from(gathered([1.0f32; 5].into_iter()));
        assert_eq!((second.as_ptr(), second.address()), (place, shell));
        assert_eq!(*second, [1.0; 5]);
        // Of a shared buffer the elements are copied.
        let kept = second.clone();
        let copied = second.into_vec();
        assert_ne!(copied.as_ptr(), place);
        let moved = kept.into_vec();
        assert_eq!(moved.as_ptr(), place);
    }

    #[test]
    fn no_more_is_kept_than_is_said() {
        let make = |count| Buffer::from(filled(count, 7i16));
        let few: Vec<_> = (0..3 * KEPT).map(|_| make(9)).collect();
        drop(few);
        let large: Vec<_> = (0..3 * KEPT).map(|_| make(LARGEST / 2)).collect();
        drop(large);
        drop(make(LARGEST + 1));
        let kept = i16::pooled(|pool| {
            let lists: Vec<usize> = pool.spare.iter().map(Vec::len).collect();
            (pool.bytes, lists[class(10)], pool.shells.len())
        });
        let (bytes, of_nine, shells) = kept.unwrap_or_default();
        assert!(bytes <= KEPT_BYTES && bytes > KEPT_BYTES / 2);
        assert_eq!((of_nine, shells), (KEPT, KEPT));
        assert_eq!(*make(3), [7; 3]);
    }
}
