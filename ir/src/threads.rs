//! When work is shared out among threads.

/// Fewer operations than this are dealt with before another thread has woken up.
const WORTH_THREADS: usize = 10_000;

/// Whether it pays off to process parts with these numbers of operations on the threads of the pool that this is called in. The largest
/// part takes one thread as long as it takes anyway, so the others must be worth it: the memory of what is changed on another thread is
/// not used again on this one.
pub fn pays_off_on_threads(sizes: impl Iterator<Item = usize>) -> bool {
    let (mut all, mut largest) = (0, 0);
    for size in sizes {
        all += size;
        largest = largest.max(size);
    }
    all - largest >= WORTH_THREADS && rayon::current_num_threads() > 1
}
