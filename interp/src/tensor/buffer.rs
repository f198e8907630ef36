//! A pool for the memory of tensors.
//!
//! A loop creates tensors of a few sizes and drops them, over and over. Small buffers without references are kept by
//! their thread for the next tensor of about the same size, so that a loop does not allocate; so are some large ones.
//!
//! A buffer also keeps what kernels derive from its elements, until these may change.

use std::any::Any;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::OnceLock;

use half::{bf16, f16};
use pir_ir::budget::{self, Budget, Reservation};
use triomphe::Arc;

use super::{Complex, Element};

/// Larger buffers are not pooled: an allocation costs little compared to computing the elements.
pub(crate) const LARGEST: usize = (1 << 15) - 1;
/// Size classes: up to seven elements each, then four per power of two.
const CLASSES: usize = class(LARGEST) + 1;
/// The number of buffers kept per size class, and of large lists.
const KEPT: usize = 1024;
/// The number of bytes kept per element type and thread.
const KEPT_BYTES: usize = 16 << 20;

/// The bytes of the large lists of kernels that are kept, and of those of tensors on several threads. A layer of a model needs some, and
/// of a new one each page has to be cleared.
const LARGE_BYTES: usize = 64 << 20;

/// The bytes of tensors that are kept for the next ones on one thread, of those that may be in the cache still.
const HOT_BYTES: usize = 8 << 20;

/// The bytes from which on a tensor is in no cache when it is dropped: as many are kept as on several threads, since no other memory
/// would be faster.
const COLD_BYTES: usize = 4 << 20;

/// The largest size class not above `count`.
const fn class(count: usize) -> usize {
    if count < 4 {
        return count;
    }
    let power = count.ilog2() as usize;
    (power - 1) * 4 + (count >> (power - 2) & 3)
}

/// The smallest class size not below `count`.
const fn rounded(count: usize) -> usize {
    if count < 4 || count > LARGEST {
        return count;
    }
    count.next_multiple_of(1 << (count.ilog2() - 2))
}

/// The overhead of a buffer: the reference counts and the allocator's headers.
const HEAD: usize = 64;

/// Unshared elements, with the reservation of their memory.
#[derive(Default)]
pub struct Storage<T> {
    values: Vec<T>,
    held: Reservation,
}

impl<T> Storage<T> {
    /// Adopts existing elements, if the budget allows.
    ///
    /// # Errors
    /// If it does not.
    pub fn adopt(values: Vec<T>) -> Result<Self, String> {
        let held = budget::reserve(bytes_of(&values))?;
        Ok(Storage { values, held })
    }

    /// Adopts a few existing elements, regardless of the budget.
    pub(crate) fn of_few(values: Vec<T>) -> Self {
        let held = Reservation::of_existing(bytes_of(&values));
        Storage { values, held }
    }

    /// Allocates memory.
    fn fresh(count: usize) -> Result<Self, String> {
        let bytes = count.saturating_mul(size_of::<T>()).saturating_add(HEAD);
        let held = budget::reserve(bytes)?;
        let mut values = Vec::new();
        match values.try_reserve_exact(count) {
            Ok(()) => Ok(Storage { values, held }),
            Err(_) => Err(Budget::current().system_refused(bytes as u64).into()),
        }
    }

    /// Adjusts the reservation to the list's capacity, and to this thread's budget.
    fn settle(&mut self) {
        let bytes = bytes_of(&self.values);
        if self.held.bytes() != bytes as u64 {
            self.held = Reservation::of_existing(bytes);
        }
    }

    /// The elements without their reservation.
    pub fn into_values(mut self) -> Vec<T> {
        std::mem::take(&mut self.values)
    }
}

fn bytes_of<T>(values: &Vec<T>) -> usize {
    values.capacity() * size_of::<T>() + HEAD
}

impl<T> Deref for Storage<T> {
    type Target = Vec<T>;

    #[inline]
    fn deref(&self) -> &Vec<T> {
        &self.values
    }
}

impl<T> DerefMut for Storage<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Vec<T> {
        &mut self.values
    }
}

/// What kernels can derive from the elements of a buffer; it may keep one of each kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Derived {
    /// The panels of a right matrix.
    Right,
    /// Those of a transposed one.
    RightAcross,
    /// The panels of a left matrix.
    Left,
    /// Those of a transposed one.
    LeftAcross,
    /// The elements in single precision.
    Single,
}

type Kept = [OnceLock<Box<dyn Any + Send + Sync>>; Derived::Single as usize + 1];

/// The elements of buffers that share them.
struct Shared<T> {
    values: Storage<T>,
    /// What is derived from the elements. Whoever can change them drops it.
    derived: OnceLock<Box<Kept>>,
}

impl<T> Shared<T> {
    fn new(values: Storage<T>) -> Self {
        Shared {
            values,
            derived: OnceLock::new(),
        }
    }

    /// The elements for writing.
    fn change(&mut self) -> &mut Storage<T> {
        self.derived.take();
        &mut self.values
    }
}

/// The elements of a tensor; cloning shares them.
#[derive(Default)]
pub struct Buffer<T: Element> {
    /// `None` if they were moved out.
    values: Option<Arc<Shared<T>>>,
}

/// The buffers that a thread keeps for reuse.
pub struct Pool<T> {
    /// Empty and unshared: `Arc` allocations for sharing tensors.
    shells: Vec<Arc<Shared<T>>>,
    /// Lists of any elements, by size class of their capacity.
    spare: [Vec<Storage<T>>; CLASSES],
    bytes: usize,
    /// Large lists that kernels computed in.
    large: Large<T>,
    /// Those of tensors, and of tensors that are in no cache.
    tensors: Large<T>,
    cold: Large<T>,
}

/// Large lists, the last one last.
struct Large<T> {
    lists: VecDeque<Storage<T>>,
    bytes: usize,
}

impl<T> Large<T> {
    const fn new() -> Self {
        Large {
            lists: VecDeque::new(),
            bytes: 0,
        }
    }

    /// A list of `count` to `most` elements: the last one of that size, or the smallest one in which there is room.
    fn take(&mut self, count: usize, most: usize) -> Option<Storage<T>> {
        let mut best: Option<(usize, usize)> = None;
        for (at, values) in self.lists.iter().enumerate().rev() {
            let size = values.capacity();
            if size >= count && size < best.map_or(most.saturating_add(1), |(least, _)| least) {
                best = Some((size, at));
            }
            if size == count {
                break;
            }
        }
        let values = self.lists.remove(best?.1)?;
        self.bytes -= bytes_of(&values);
        values.held.is_current().then_some(values)
    }

    /// Adds a list; the first ones are given back, such that all have so many bytes at most.
    fn put(&mut self, values: Storage<T>, most: usize) {
        self.bytes += bytes_of(&values);
        self.lists.push_back(values);
        while self.bytes > most || self.lists.len() > KEPT {
            let Some(first) = self.lists.pop_front() else { break };
            self.bytes -= bytes_of(&first);
        }
    }
}

impl<T> Pool<T> {
    /// An empty pool.
    pub(super) const fn new() -> Self {
        Pool {
            shells: Vec::new(),
            spare: [const { Vec::new() }; CLASSES],
            bytes: 0,
            large: Large::new(),
            tensors: Large::new(),
            cold: Large::new(),
        }
    }

    /// The list of a tensor of about `count` elements. A large one may be there for long, so that little of it may be unused.
    fn take(&mut self, count: usize) -> Option<Storage<T>> {
        if count > LARGEST {
            let most = count.saturating_add(count / 4);
            let kept = self.tensors.take(count, most);
            return kept.or_else(|| self.cold.take(count, most));
        }
        let values = self.spare.get_mut(class(rounded(count)))?.pop()?;
        self.bytes -= values.capacity() * size_of::<T>();
        // Memory kept from another run is not counted in this one.
        values.held.is_current().then_some(values)
    }

    /// Adds the list of a tensor, if it is to be kept.
    fn put(&mut self, values: Storage<T>) {
        if values.capacity() > LARGEST {
            return match bytes_of(&values) >= COLD_BYTES {
                true => self.cold.put(values, LARGE_BYTES),
                false => self.tensors.put(values, tensor_bytes()),
            };
        }
        let bytes = values.capacity() * size_of::<T>();
        if let Some(list) = self.spare.get_mut(class(values.capacity()))
            && bytes != 0
            && list.len() < KEPT
            && self.bytes + bytes <= KEPT_BYTES
        {
            self.bytes += bytes;
            list.push(values);
        }
    }

    /// Frees all memory that is kept.
    fn clear(&mut self) {
        self.spare.iter_mut().for_each(Vec::clear);
        self.bytes = 0;
        (self.large, self.tensors, self.cold) = (Large::new(), Large::new(), Large::new());
    }
}

/// The pool of an element type in a thread.
pub type Local<T> = RefCell<Pool<T>>;

/// Frees the memory that this thread keeps.
fn clear_pools() {
    fn clear<T: Element>() {
        T::pooled(Pool::clear);
    }
    clear::<bool>();
    clear::<i8>();
    clear::<i16>();
    clear::<i32>();
    clear::<i64>();
    clear::<u8>();
    clear::<f16>();
    clear::<bf16>();
    clear::<f32>();
    clear::<f64>();
    clear::<Complex<f32>>();
    clear::<Complex<f64>>();
}

/// The bytes of large tensors that are kept for the next ones: on one thread as many as may be in the cache still, with several more, as
/// clearing memory is what the others wait for.
fn tensor_bytes() -> usize {
    // Outside a pool, asking for the number of threads would start them.
    match rayon::current_thread_index().map(|_| rayon::current_num_threads()) {
        None | Some(1) => HOT_BYTES,
        Some(_) => LARGE_BYTES,
    }
}

/// An empty list with capacity.
pub(crate) fn room<T: Element>(count: usize) -> Result<Storage<T>, String> {
    if let Some(mut kept) = T::pooled(|pool| pool.take(count)).flatten() {
        kept.clear();
        return Ok(kept);
    }
    allocated(rounded(count))
}

/// An empty list with new memory; what this thread keeps is freed if there is none without.
fn allocated<T: Element>(count: usize) -> Result<Storage<T>, String> {
    Storage::fresh(count).or_else(|_| {
        clear_pools();
        Storage::fresh(count)
    })
}

/// A list of equal elements.
pub(crate) fn filled<T: Element>(count: usize, value: T) -> Result<Storage<T>, String> {
    if count > LARGEST && value == T::default() {
        // For zeros the system provides fresh pages; whether there is enough memory is checked first.
        let Storage { values, held } = allocated::<T>(count)?;
        drop(values);
        return Ok(Storage {
            values: vec![value; count],
            held,
        });
    }
    let mut values = room(count)?;
    values.resize(count, value);
    Ok(values)
}

/// A buffer with unspecified elements, all of which will be overwritten.
pub(crate) fn stale<T: Element>(count: usize) -> Result<Storage<T>, String> {
    let take = |pool: &mut Pool<T>| match pool.take(count) {
        None if count > LARGEST => pool.large.take(count, count.saturating_mul(2)),
        kept => kept,
    };
    let mut values = match T::pooled(take).flatten() {
        Some(mut kept) => {
            kept.resize(count, T::default());
            kept
        }
        None => filled(count, T::default())?,
    };
    if cfg!(debug_assertions) {
        // What is not overwritten shows in the results.
        let poison = Some(T::from_f64(f64::NAN)).filter(|nan| nan.to_f64().is_nan());
        values.fill(poison.unwrap_or_else(|| T::from_i64(77)));
    }
    Ok(values)
}

/// The element of a scalar. Such a small buffer is counted, but not checked against the budget.
pub(crate) fn one<T: Element>(value: T) -> Storage<T> {
    room(1).map_or_else(
        |_| Storage::of_few(vec![value]),
        |mut values| {
            values.push(value);
            values
        },
    )
}

/// Collects an iterator with an approximate size hint.
pub(crate) fn gathered<T: Element>(items: impl Iterator<Item = T>) -> Result<Storage<T>, String> {
    let mut values = room(items.size_hint().0)?;
    values.extend(items);
    values.settle();
    Ok(values)
}

/// Reserves scratch memory for a kernel; dropping the result releases it.
pub(crate) fn scratch<T>(count: usize) -> Result<Reservation, String> {
    Ok(budget::reserve(count.saturating_mul(size_of::<T>()))?)
}

/// Returns the memory of a list that did not become a tensor.
pub(crate) fn done<T: Element>(values: Storage<T>) {
    T::pooled(|pool| match values.capacity() > LARGEST {
        true => pool.large.put(values, LARGE_BYTES),
        false => pool.put(values),
    });
}

impl<T: Element> Buffer<T> {
    /// The elements for writing, if they are unshared.
    pub(crate) fn get_mut(&mut self) -> Option<&mut [T]> {
        Some(Arc::get_mut(self.values.as_mut()?)?.change())
    }

    /// The elements alone; copied if they are shared.
    pub(crate) fn into_storage(mut self) -> Result<Storage<T>, String> {
        match self.values.as_mut().and_then(Arc::get_mut) {
            // Dropping the shell returns it to the pool.
            Some(shared) => Ok(std::mem::take(shared.change())),
            None => gathered(self.iter().copied()),
        }
    }

    /// Whether the elements are unshared.
    pub(crate) fn is_unique(&self) -> bool {
        self.values.as_ref().is_none_or(Arc::is_unique)
    }

    /// An address that is equal exactly for buffers that share their elements.
    pub(crate) fn address(&self) -> usize {
        self.values.as_ref().map_or(0, |values| Arc::as_ptr(values).addr())
    }

    /// What `make` derives from the elements. The first result of a kind is kept with them until they are dropped or may change;
    /// `None` if that is of another type, or if there is nothing.
    pub(crate) fn derived<D: Any + Send + Sync>(
        &self,
        kind: Derived,
        make: impl FnOnce(&[T]) -> Option<D>,
    ) -> Option<&D> {
        let shared = self.values.as_ref()?;
        let place = &shared.derived.get_or_init(Box::default)[kind as usize];
        if place.get().is_none() {
            // Another thread may be faster.
            let _ = place.set(Box::new(make(&shared.values)?));
        }
        place.get()?.downcast_ref()
    }
}

impl<T: Element> From<Storage<T>> for Buffer<T> {
    fn from(mut values: Storage<T>) -> Self {
        values.settle();
        let shell = T::pooled(|pool| pool.shells.pop()).flatten();
        let values = match shell {
            Some(mut shell) => {
                match Arc::get_mut(&mut shell) {
                    Some(inside) => *inside.change() = values,
                    None => shell = Arc::new(Shared::new(values)),
                }
                shell
            }
            None => Arc::new(Shared::new(values)),
        };
        Buffer { values: Some(values) }
    }
}

impl<T: Element> Deref for Buffer<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        self.values.as_ref().map_or(&[], |shared| &shared.values)
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
        let Some(inside) = Arc::get_mut(&mut shared) else {
            return;
        };
        let values = std::mem::take(inside.change());
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
            // A class is not smaller than the requested size.
            assert!(size == count || class(size) == class(count) + 1, "{count}");
        }
    }

    #[test]
    fn memory_is_used_again() {
        let first = Buffer::from(filled(5, 1.5f32).unwrap());
        let (place, shell) = (first.as_ptr(), first.address());
        let shared = first.clone();
        assert!(!first.is_unique());
        drop(first);
        assert!(shared.is_unique());
        assert_eq!(*shared, [1.5; 5]);
        drop(shared);
        let second = Buffer::from(gathered([1.0f32; 5].into_iter()).unwrap());
        assert_eq!((second.as_ptr(), second.address()), (place, shell));
        assert_eq!(*second, [1.0; 5]);
        // The elements of a shared buffer are copied.
        let kept = second.clone();
        let copied = second.into_storage().unwrap();
        assert_ne!(copied.as_ptr(), place);
        let moved = kept.into_storage().unwrap();
        assert_eq!(moved.as_ptr(), place);
    }

    #[test]
    fn large_memory_is_used_again() {
        const COUNT: usize = COLD_BYTES / size_of::<f32>() / 2;
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let make = |count| Buffer::from(stale::<f32>(count).unwrap());
                let (short, long) = (make(LARGEST + 9), make(LARGEST + 99));
                let place = short.as_ptr();
                drop((short, long));
                // The smallest one in which there is room, however it is filled.
                assert_eq!(room::<f32>(LARGEST + 5).unwrap().as_ptr(), place);
                drop([COUNT - HEAD; 5].map(make));
                drop([2 * COUNT; 5].map(make));
                f32::pooled(|pool| [pool.tensors.bytes, pool.cold.bytes]).unwrap()
            })
        };
        let [hot, cold] = on(1);
        assert!(hot <= HOT_BYTES && cold > 4 * COLD_BYTES && cold <= LARGE_BYTES);
        assert!(on(2)[0] > HOT_BYTES);
    }

    #[test]
    fn derived_values_go_when_elements_may_change() {
        let sum = |b: &Buffer<f32>| b.derived(Derived::Right, |v| Some(v.iter().sum::<f32>())).copied();
        let mut first = Buffer::from(gathered([1.0f32, 2.0].into_iter()).unwrap());
        assert_eq!(sum(&first), Some(3.0));
        // It is kept, with what shares the elements too, and by kind.
        let other = first.clone();
        assert_eq!(other.derived(Derived::Right, |_| Some(0.0f32)), Some(&3.0));
        assert_eq!(other.derived(Derived::RightAcross, |_| Some(5.0f32)), Some(&5.0));
        assert_eq!(other.derived(Derived::Right, |_| Some(7u8)), None);
        assert!(first.get_mut().is_none());
        drop(other);
        first.get_mut().unwrap()[0] = 4.0;
        assert_eq!(sum(&first), Some(6.0));
        // Nor does it stay with memory that is used again.
        let address = first.address();
        drop(first);
        let second = Buffer::from(gathered([1.0f32, 1.0].into_iter()).unwrap());
        assert_eq!(second.address(), address);
        assert_eq!(sum(&second), Some(2.0));
        let moved = Buffer::from(second.into_storage().unwrap());
        assert_eq!(moved.derived(Derived::Right, |_| None::<f32>), None);
    }

    #[test]
    fn no_more_is_kept_than_is_said() {
        let make = |count| Buffer::from(filled(count, 7i16).unwrap());
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
