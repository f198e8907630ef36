//! Memory that is requested before it is taken.
//!
//! A process has one [`Budget`], and parts of it may have smaller ones of their own. What grows with the input reserves
//! from the budget of its thread first: tensors, stacks, files that are read. A reservation that is refused is an
//! error like any other; memory that is not there would end the process.

use std::cell::RefCell;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use crate::diagnostics::Diagnostic;

/// What is given without looking for the limit, which takes a part of the time of a small run: 64 MiB.
const LITTLE: u64 = 1 << 26;

/// So many bytes, which many may take of. Cloning gives another handle of the same.
#[derive(Clone)]
pub struct Budget(Arc<Inner>);

struct Inner {
    limit: AtomicU64,
    /// Finds the limit, which until then is [`LITTLE`].
    find_limit: OnceLock<fn() -> u64>,
    is_found: OnceLock<()>,
    used: AtomicU64,
    /// The number of bytes that were refused, for the message.
    refused: AtomicU64,
    /// The one that this is a part of.
    whole: Option<Budget>,
}

thread_local! {
    static CURRENT: RefCell<Option<Budget>> = const { RefCell::new(None) };
}

/// Why memory is not given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Exhausted {
    /// The number of bytes requested.
    pub asked: u64,
    /// The number of bytes in use.
    pub used: u64,
    /// The limit in bytes; `None` if the system itself has no more memory.
    pub limit: Option<u64>,
}

impl fmt::Display for Exhausted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Exhausted { asked, used, limit } = self;
        match limit {
            Some(limit) => write!(
                f,
                "the program takes {used} bytes, and {asked} more would exceed the limit of {limit} bytes"
            ),
            None => write!(
                f,
                "the program takes {used} bytes, and the system cannot provide {asked} more"
            ),
        }
    }
}

impl std::error::Error for Exhausted {}

impl From<Exhausted> for Diagnostic {
    fn from(exhausted: Exhausted) -> Diagnostic {
        Diagnostic::error("memory", exhausted.to_string()).help("`--max-memory` sets the limit")
    }
}

impl From<Exhausted> for String {
    fn from(exhausted: Exhausted) -> String {
        exhausted.to_string()
    }
}

impl Budget {
    /// A budget by itself.
    pub fn new(limit: u64) -> Self {
        Self::with(limit, None)
    }

    /// A part of this one.
    pub fn part(&self, limit: u64) -> Self {
        Self::with(limit, Some(self.clone()))
    }

    fn with(limit: u64, whole: Option<Budget>) -> Self {
        Budget(Arc::new(Inner {
            limit: AtomicU64::new(limit),
            find_limit: OnceLock::new(),
            is_found: OnceLock::new(),
            used: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            whole,
        }))
    }

    /// The budget of the process. It is not limited until a limit is set.
    pub fn of_process() -> &'static Budget {
        static PROCESS: OnceLock<Budget> = OnceLock::new();
        PROCESS.get_or_init(|| Budget::new(u64::MAX))
    }

    /// The budget of this thread: that of the process, unless [`enter`](Self::enter) has replaced it.
    pub fn current() -> Budget {
        let own = CURRENT.try_with(|current| current.borrow().clone());
        own.ok().flatten().unwrap_or_else(|| Self::of_process().clone())
    }

    /// Makes it the budget of this thread until the returned guard is dropped.
    #[must_use = "it lasts as long as what is given back"]
    pub fn enter(&self) -> Entered {
        let before = CURRENT.try_with(|current| current.replace(Some(self.clone())));
        Entered {
            before: before.ok().flatten(),
        }
    }

    /// Sets the limit. What is taken already stays.
    pub fn set_limit(&self, limit: u64) {
        self.0.limit.store(limit, Ordering::Relaxed);
        // Another one is not looked for.
        self.0.is_found.get_or_init(|| ());
    }

    /// Sets the limit to what `find` gives, which is called when more than 64 MiB are requested or the limit is asked for; unless
    /// a limit has been set.
    pub fn set_limit_by(&self, find: fn() -> u64) {
        if self.0.is_found.get().is_none() && self.0.find_limit.set(find).is_ok() {
            self.0.limit.store(LITTLE, Ordering::Relaxed);
        }
    }

    /// The limit in bytes.
    pub fn limit(&self) -> u64 {
        if let Some(find) = self.0.find_limit.get() {
            self.0
                .is_found
                .get_or_init(|| self.0.limit.store(find(), Ordering::Relaxed));
        }
        self.0.limit.load(Ordering::Relaxed)
    }

    /// Whether these bytes are a small part of the limit.
    pub fn is_little(&self, bytes: u64) -> bool {
        let known = self.0.limit.load(Ordering::Relaxed) / 12;
        bytes <= known || bytes <= self.limit() / 12
    }

    /// The number of bytes in use.
    pub fn used(&self) -> u64 {
        self.0.used.load(Ordering::Relaxed)
    }

    /// The number of refusals.
    pub fn refused(&self) -> u64 {
        self.0.refused.load(Ordering::Relaxed)
    }

    /// Whether the budget of this thread is this one.
    fn is_current(&self) -> bool {
        let same = CURRENT.try_with(|current| match &*current.borrow() {
            Some(own) => Arc::ptr_eq(&own.0, &self.0),
            None => Arc::ptr_eq(&Self::of_process().0, &self.0),
        });
        same.unwrap_or(true)
    }

    /// Reserves this many bytes.
    ///
    /// # Errors
    /// If that exceeds the limit.
    pub fn reserve(&self, bytes: u64) -> Result<Reservation, Exhausted> {
        self.take(bytes)?;
        Ok(Reservation {
            budget: Some(self.clone()),
            bytes,
        })
    }

    fn take(&self, bytes: u64) -> Result<(), Exhausted> {
        let inner = &*self.0;
        let add = |limit: u64| {
            let sum = |used: u64| used.checked_add(bytes).filter(|&used| used <= limit);
            inner.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, sum)
        };
        let is_given = add(inner.limit.load(Ordering::Relaxed));
        let is_given = is_given.or_else(|_| add(self.limit()));
        if let Err(used) = is_given {
            let limit = self.limit();
            inner.refused.fetch_add(1, Ordering::Relaxed);
            return Err(Exhausted {
                asked: bytes,
                used,
                limit: Some(limit),
            });
        }
        if let Some(whole) = &inner.whole
            && let Err(refused) = whole.take(bytes)
        {
            inner.used.fetch_sub(bytes, Ordering::Relaxed);
            inner.refused.fetch_add(1, Ordering::Relaxed);
            return Err(refused);
        }
        Ok(())
    }

    /// Adds memory that is in use already.
    fn add(&self, bytes: u64) {
        let mut budget = Some(self);
        while let Some(Budget(inner)) = budget {
            inner.used.fetch_add(bytes, Ordering::Relaxed);
            budget = inner.whole.as_ref();
        }
    }

    fn give_back(&self, bytes: u64) {
        let mut budget = Some(self);
        while let Some(Budget(inner)) = budget {
            inner.used.fetch_sub(bytes, Ordering::Relaxed);
            budget = inner.whole.as_ref();
        }
    }

    /// Records that the system did not provide reserved memory.
    pub fn system_refused(&self, bytes: u64) -> Exhausted {
        self.0.refused.fetch_add(1, Ordering::Relaxed);
        Exhausted {
            asked: bytes,
            used: self.used(),
            limit: None,
        }
    }
}

impl fmt::Debug for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Budget({} of {})", self.used(), self.limit())
    }
}

/// The budget that a thread had before.
#[derive(Debug)]
pub struct Entered {
    before: Option<Budget>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        let before = self.before.take();
        // When the thread ends, nothing is left to be set.
        let _ = CURRENT.try_with(|current| current.replace(before));
    }
}

/// Reserves from the budget of this thread.
///
/// # Errors
/// When it would be more than the limit.
pub fn reserve(bytes: usize) -> Result<Reservation, Exhausted> {
    Budget::current().reserve(bytes as u64)
}

/// Bytes that are reserved until this is dropped.
#[derive(Default, Debug)]
pub struct Reservation {
    budget: Option<Budget>,
    bytes: u64,
}

impl Reservation {
    /// A reservation of memory that is in use already; it may exceed the limit, so that further requests fail.
    pub fn of_existing(bytes: usize) -> Self {
        let budget = Budget::current();
        budget.add(bytes as u64);
        Reservation {
            budget: Some(budget),
            bytes: bytes as u64,
        }
    }

    /// The bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether it is of the budget of this thread.
    pub fn is_current(&self) -> bool {
        self.budget.as_ref().is_some_and(Budget::is_current)
    }

    /// Reserves more.
    ///
    /// # Errors
    /// When it would be more than the limit.
    pub fn grow(&mut self, bytes: u64) -> Result<(), Exhausted> {
        // Counting takes as long as moving a small value.
        if bytes == 0 {
            return Ok(());
        }
        let budget = self.budget.get_or_insert_with(Budget::current);
        budget.take(bytes)?;
        self.bytes += bytes;
        Ok(())
    }

    /// Gives a part back.
    pub fn shrink(&mut self, bytes: u64) {
        let bytes = bytes.min(self.bytes);
        self.bytes -= bytes;
        if let Some(budget) = self.budget.as_ref().filter(|_| bytes > 0) {
            budget.give_back(bytes);
        }
    }

    /// Makes room in a list for one more element, which may double it: while it moves, there is both.
    ///
    /// # Errors
    /// When it would be more than the limit, or more than the system has.
    pub fn room_for_one<T>(&mut self, list: &mut Vec<T>) -> Result<(), Exhausted> {
        if list.len() < list.capacity() {
            return Ok(());
        }
        let size = size_of::<T>().max(1) as u64;
        let old = list.capacity() as u64;
        let new = (old * 2).max(4);
        self.grow(new * size)?;
        if list.try_reserve_exact((new - list.len() as u64) as usize).is_err() {
            self.shrink(new * size);
            return Err(Budget::current().system_refused(new * size));
        }
        self.shrink(old * size);
        Ok(())
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if let Some(budget) = &self.budget {
            budget.give_back(self.bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_reserved_is_given_back() {
        let whole = Budget::new(100);
        let part = whole.part(60);
        let a = part.reserve(50).unwrap();
        assert_eq!((whole.used(), part.used()), (50, 50));
        assert_eq!(
            part.reserve(20).unwrap_err(),
            Exhausted {
                asked: 20,
                used: 50,
                limit: Some(60)
            }
        );
        let b = whole.reserve(45).unwrap();
        assert_eq!(part.reserve(6).unwrap_err().limit, Some(100));
        assert_eq!((whole.used(), part.used()), (95, 50));
        drop((a, b));
        assert_eq!((whole.used(), part.used(), part.refused()), (0, 0, 2));
        assert!(whole.reserve(u64::MAX).is_err());
    }

    #[test]
    fn a_limit_is_found_when_it_matters() {
        let budget = Budget::new(u64::MAX);
        budget.set_limit_by(|| 3 * LITTLE);
        assert_eq!(budget.0.is_found.get(), None);
        let first = budget.reserve(LITTLE).unwrap();
        assert!(budget.is_little(LITTLE / 12));
        assert_eq!(budget.0.is_found.get(), None);
        let second = budget.reserve(LITTLE).unwrap();
        assert_eq!((budget.0.is_found.get(), budget.limit()), (Some(&()), 3 * LITTLE));
        assert_eq!(budget.reserve(LITTLE + 1).unwrap_err().limit, Some(3 * LITTLE));
        drop((first, second));
        let other = Budget::new(u64::MAX);
        other.set_limit_by(|| 5);
        assert_eq!(other.limit(), 5);
        assert!(other.reserve(6).is_err() && other.reserve(5).is_ok() && !other.is_little(1));
    }

    #[test]
    fn threads_have_budgets() {
        let own = Budget::new(1000);
        let entered = own.enter();
        let mut list: Vec<u64> = Vec::new();
        let mut held = reserve(0).unwrap();
        let pushed = (0..).take_while(|&n| held.room_for_one(&mut list).map(|()| list.push(n)).is_ok());
        // 64 of eight bytes, since 128 would be more.
        assert_eq!(pushed.count(), 64);
        assert_eq!((held.bytes(), own.used()), (512, 512));
        assert!(held.is_current());
        drop(entered);
        assert!(!held.is_current());
        let more = Reservation::of_existing(1);
        assert!(more.is_current());
        drop(held);
        assert_eq!(own.used(), 0);
    }
}
