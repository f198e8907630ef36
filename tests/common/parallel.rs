//! Long lists of independent cases, on as many threads as the machine has.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Calls a function for each item. The threads take the items in order; what they print is captured as the test's, and a panic in
/// one fails the test.
pub fn for_each<T: Sync>(items: &[T], each: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads.min(items.len()) {
            scope.spawn(|| {
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    each(item);
                }
            });
        }
    });
}
