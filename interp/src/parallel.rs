//! Loops over parts of tensors that run on several threads.
//!
//! The parts do not depend on the number of threads, and each is computed by itself: so do the results. What runs on a
//! thread is a boxed job, so that the scheduler is compiled once, and not for each kernel and element type.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rayon::Yield;
use smallvec::SmallVec;

use crate::tensor::Element;
use crate::tensor::buffer::{Buffer, room, stale};

/// The amount of work, in elements that take about a nanosecond each, from which on starting threads pays off.
const WORTH: usize = 1 << 16;
/// The same if another thread is awake.
const WORTH_NOW: usize = 1 << 14;

/// Whether to share this amount of work between threads.
pub(crate) fn pays(work: usize) -> bool {
    threads(work) > 1
}

/// The number of threads that share this amount of work.
pub(crate) fn threads(work: usize) -> usize {
    match work >= WORTH || work >= WORTH_NOW && WATCHERS.load(Ordering::Relaxed) > 0 {
        true if ALONE.get() => 1,
        true => rayon::current_num_threads(),
        false => 1,
    }
}

thread_local! {
    /// Whether this thread runs one of so many jobs that each is computed by one thread.
    static ALONE: Cell<bool> = const { Cell::new(false) };
}

type Job<'s> = Box<dyn FnOnce() + Send + 's>;

/// How long a thread without work looks for some before it sleeps. Waking one takes up to 50 µs on virtual machines, as long as a
/// small kernel, and kernels follow each other. Libraries for OpenMP wait likewise, for longer.
const AWAKE: Duration = Duration::from_micros(200);

/// The jobs that keep threads awake, in all pools.
static WATCHERS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Whether such a job is on this thread.
    static WATCHES: Cell<bool> = const { Cell::new(false) };
}

/// Keeps the other threads of the pool awake for some time.
fn keep_awake() {
    let Some(home) = rayon::current_thread_index() else {
        return;
    };
    for _ in WATCHERS.load(Ordering::Relaxed) + 1..rayon::current_num_threads() {
        WATCHERS.fetch_add(1, Ordering::Relaxed);
        rayon::spawn(move || {
            // This thread has other work to do, and one job is enough for each of the others.
            if rayon::current_thread_index() != Some(home) && !WATCHES.replace(true) {
                watch_while(|| true);
                WATCHES.set(false);
            }
            WATCHERS.fetch_sub(1, Ordering::Relaxed);
        });
    }
}

/// Works as long as there is something to do, and for some time after that, unless the wait is over.
fn watch_while(waits: impl Fn() -> bool) {
    let mut last = Instant::now();
    while waits() && last.elapsed() < AWAKE {
        if let Some(Yield::Executed) = rayon::yield_now() {
            last = Instant::now();
        }
        for _ in 0..16 {
            std::hint::spin_loop();
        }
    }
}

/// The most jobs that a thread takes at once.
const AT_ONCE: usize = 8;

/// The jobs on one share of a list, first to last.
type Share<'s> = Box<dyn DoubleEndedIterator<Item = Job<'s>> + Send + 's>;

/// Runs jobs on all threads. Each begins with its own share, the same part of every list, which is in the cache of its core if an
/// earlier kernel computed it there; then it takes jobs from the end of what the others have left: some at first, single ones in the end.
/// A job is made when a thread is ready for it. This thread looks for the end of the last ones for some time before it sleeps: waking
/// it would take as long as a job.
fn spread(shares: Vec<Share<'_>>) {
    keep_awake();
    let many = shares.iter().map(|share| share.size_hint().0).sum::<usize>() >= 2 * shares.len();
    // A thread that runs jobs holds a reference; what they write is seen at the end of the scope.
    let (shares, busy) = (shares.into_iter().map(Mutex::new).collect::<Vec<_>>(), Arc::new(()));
    let take = |number: usize, own: bool| {
        let mut share = shares[number].lock().unwrap_or_else(PoisonError::into_inner);
        let left = share.size_hint().0 / if own { 2 } else { 4 };
        let mut some: SmallVec<[Job<'_>; AT_ONCE]> = SmallVec::new();
        for _ in 0..left.clamp(1, AT_ONCE) {
            some.extend(if own { share.next() } else { share.next_back() });
        }
        // Counted before another thread can find that there are no more.
        (!some.is_empty()).then(|| (some, Arc::clone(&busy)))
    };
    let work = || {
        let own = rayon::current_thread_index().unwrap_or_default() % shares.len();
        for number in (own..shares.len()).chain(0..own) {
            while let Some((some, _busy)) = take(number, number == own) {
                let before = ALONE.replace(many);
                some.into_iter().for_each(|job| job());
                ALONE.set(before);
            }
        }
    };
    rayon::in_place_scope(|scope| {
        for _ in 1..shares.len() {
            scope.spawn(|_| work());
        }
        work();
        watch_while(|| Arc::strong_count(&busy) > 1);
    });
}

/// Calls `f` with parts of `size` elements and the index of the first one of each. `work` is that of all together.
pub(crate) fn chunks<T: Send>(values: &mut [T], size: usize, work: usize, f: impl Fn(usize, &mut [T]) + Sync) {
    let size = size.max(1);
    let mut none = vec![(); values.len().div_ceil(size)];
    pairs(values, &mut none, [size, 1], work, |at, part, _| f(at * size, part));
}

/// The same for parts that may fail.
///
/// # Errors
/// That of a part.
pub(crate) fn try_chunks<T: Send>(
    values: &mut [T],
    size: usize,
    work: usize,
    f: impl Fn(usize, &mut [T]) -> Result<(), String> + Sync,
) -> Result<(), String> {
    let failure = Mutex::new(Ok(()));
    chunks(values, size, work, |at, part| {
        if let Err(why) = f(at, part) {
            *failure.lock().unwrap_or_else(PoisonError::into_inner) = Err(why);
        }
    });
    failure.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// The results of `f` for the numbers below `count`, in order.
pub(crate) fn map<R: Send>(count: usize, work: usize, f: impl Fn(usize) -> R + Sync) -> Vec<R> {
    let mut out: Vec<Option<R>> = std::iter::repeat_with(|| None).take(count).collect();
    chunks(&mut out, 1, work, |at, place| place.fill_with(|| Some(f(at))));
    out.into_iter().flatten().collect()
}

/// What is done with a part of two lists, given its number.
type OnParts<'s, T, U> = dyn Fn(usize, &mut [T], &mut [U]) + Sync + 's;

/// Calls `f` with parts of two lists that belong together, of `sizes` elements each, and their number.
pub(crate) fn pairs<T: Send, U: Send>(
    values: &mut [T],
    others: &mut [U],
    sizes: [usize; 2],
    work: usize,
    f: impl Fn(usize, &mut [T], &mut [U]) + Sync,
) {
    fn pairs<'s, T: Send, U: Send>(
        (mut values, mut others): (&'s mut [T], &'s mut [U]),
        [size, other]: [usize; 2],
        threads: usize,
        f: &'s OnParts<'s, T, U>,
    ) {
        let count = values.len().div_ceil(size);
        if threads.min(count) < 2 {
            let parts = values.chunks_mut(size).zip(others.chunks_mut(other)).enumerate();
            return parts.for_each(|(at, (part, others))| f(at, part, others));
        }
        let shares = (0..threads).map(|number| -> Share<'s> {
            let [start, end] = [number, number + 1].map(|number| number * count / threads);
            let own = cut(&mut values, (end - start) * size).chunks_mut(size);
            let parts = (start..end).zip(own.zip(cut(&mut others, (end - start) * other).chunks_mut(other)));
            Box::new(parts.map(move |(at, (part, others))| -> Job<'s> { Box::new(move || f(at, part, others)) }))
        });
        spread(shares.collect());
    }
    pairs((values, others), sizes.map(|size| size.max(1)), threads(work), &f);
}

/// Takes elements from the start of a list: so many, or as many as there are.
pub(crate) fn cut<'s, T>(values: &mut &'s mut [T], count: usize) -> &'s mut [T] {
    let all = std::mem::take(values);
    let (first, rest) = all.split_at_mut(count.min(all.len()));
    *values = rest;
    first
}

/// How a list is divided into parts.
#[derive(Clone, Copy)]
pub(crate) struct Division {
    /// The number of elements that are not divided.
    pub(crate) unit: usize,
    /// The units that a thread changes at once.
    pub(crate) part: usize,
    /// The units that are copied before they are changed.
    pub(crate) piece: usize,
}

impl Division {
    /// Parts of about so many elements, which are copied whole.
    pub(crate) fn of(unit: usize, elements: usize) -> Division {
        let part = (elements / unit.max(1)).max(1);
        Division {
            unit,
            part,
            piece: part,
        }
    }
}

/// Changes parts of elements, as [`changed`] does.
///
/// # Errors
/// That of a part, or if there is no memory for the copies.
pub(crate) fn changed_parts<T: Element>(
    values: Buffer<T>,
    division: Division,
    work: usize,
    f: impl Fn(usize, &mut [T]) -> Result<(), String> + Sync,
) -> Result<Buffer<T>, String> {
    let mut none = vec![(); values.len().div_ceil(division.unit.max(1))];
    changed(values, &mut none, division, work, |first, part, _| f(first, part))
}

/// Changes parts of elements, with one of another list for each unit, as [`pairs`] does: in place, or, if the elements are shared,
/// in copies. They are copied right before they are changed, so that they are in the cache. `f` is given the number of the first unit.
///
/// # Errors
/// That of a part, or if there is no memory for the copies.
pub(crate) fn changed<T: Element, U: Send>(
    mut values: Buffer<T>,
    others: &mut [U],
    division: Division,
    work: usize,
    f: impl Fn(usize, &mut [T], &mut [U]) -> Result<(), String> + Sync,
) -> Result<Buffer<T>, String> {
    let [unit, units, piece] = [division.unit, division.part, division.piece].map(|size| size.max(1));
    let size = unit * units;
    let failure = Mutex::new(Ok(()));
    let change = |first: usize, part: &mut [T], others: &mut [U]| {
        if let Err(why) = f(first, part, others) {
            *failure.lock().unwrap_or_else(PoisonError::into_inner) = Err(why);
        }
    };
    if let Some(own) = values.get_mut() {
        pairs(own, others, [size, units], work, |at, part, others| {
            change(at * units, part, others)
        });
    } else if values.len() > size && pays(work) {
        let mut out = stale(values.len())?;
        pairs(&mut out, others, [size, units], work, |at, part, others| {
            part.copy_from_slice(&values[at * size..][..part.len()]);
            change(at * units, part, others);
        });
        values = out.into();
    } else {
        let mut out = room(values.len())?;
        let pieces = values.chunks(unit * piece).zip(others.chunks_mut(piece));
        for (at, (part, others)) in pieces.enumerate() {
            let start = out.len();
            out.extend_from_slice(part);
            change(at * piece, &mut out[start..], others);
        }
        values = out.into();
    }
    failure.into_inner().unwrap_or_else(PoisonError::into_inner)?;
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_is_visited_once() {
        for threads in 1..=3 {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            for (count, sizes) in [
                (0, [4, 1]),
                (1, [4, 1]),
                (7, [4, 1]),
                (8, [4, 2]),
                (1000, [3, 5]),
                (1001, [1, 1]),
            ] {
                let mut values = vec![0; count];
                let mut others = vec![0; count.div_ceil(sizes[0]) * sizes[1]];
                pool.install(|| {
                    pairs(&mut values, &mut others, sizes, usize::MAX, |at, values, others| {
                        assert_eq!(others.len(), sizes[1]);
                        values.iter_mut().for_each(|value| *value += at + 1);
                        others.iter_mut().for_each(|other| *other += at + 1);
                    });
                });
                let numbers = |size: usize, count: usize| (0..count).map(|at| at / size + 1).collect::<Vec<_>>();
                assert_eq!(values, numbers(sizes[0], count), "{threads} {count} {sizes:?}");
                assert_eq!(others, numbers(sizes[1], others.len()), "{threads} {count} {sizes:?}");
            }
        }
    }
}
