//! Loops over parts of tensors that run on several threads.
//!
//! The parts do not depend on the number of threads, and each is computed by itself: so do the results.

use rayon::prelude::*;

/// The work, in elements that take about a nanosecond each, from which threads are worth their start.
const WORTH: usize = 1 << 16;

/// Whether so much work is shared between threads.
pub(crate) fn pays(work: usize) -> bool {
    work >= WORTH && rayon::current_num_threads() > 1
}

/// Calls `f` with parts of `size` elements and the index of the first one of each. `work` is that of all together.
pub(crate) fn chunks<T: Send>(values: &mut [T], size: usize, work: usize, f: impl Fn(usize, &mut [T]) + Sync) {
    let size = size.max(1);
    if values.len() > size && pays(work) {
        let parts = values.par_chunks_mut(size).enumerate();
        parts.for_each(|(at, part)| f(at * size, part));
    } else {
        let parts = values.chunks_mut(size).enumerate();
        parts.for_each(|(at, part)| f(at * size, part));
    }
}

/// The same for parts that may fail.
///
/// # Errors
/// That of a part.
pub(crate) fn try_chunks<T: Send>(
    values: &mut [T],
    size: usize,
    work: usize,
    f: impl Fn(usize, &mut [T]) -> Result<(), String> + Sync + Send,
) -> Result<(), String> {
    let size = size.max(1);
    if values.len() > size && pays(work) {
        let parts = values.par_chunks_mut(size).enumerate();
        parts.try_for_each(|(at, part)| f(at * size, part))
    } else {
        let mut parts = values.chunks_mut(size).enumerate();
        parts.try_for_each(|(at, part)| f(at * size, part))
    }
}

/// What `f` gives for the numbers below `count`, in their order.
pub(crate) fn map<R: Send>(count: usize, work: usize, f: impl Fn(usize) -> R + Sync + Send) -> Vec<R> {
    if count > 1 && pays(work) {
        (0..count).into_par_iter().map(f).collect()
    } else {
        (0..count).map(f).collect()
    }
}

/// Calls `f` with parts of two lists that belong together, of `sizes` elements each, and their number.
pub(crate) fn pairs<T: Send, U: Send>(
    values: &mut [T],
    others: &mut [U],
    sizes: [usize; 2],
    work: usize,
    f: impl Fn(usize, &mut [T], &mut [U]) + Sync,
) {
    let [size, other] = sizes.map(|size| size.max(1));
    if values.len() > size && pays(work) {
        let parts = values.par_chunks_mut(size).zip(others.par_chunks_mut(other));
        parts.enumerate().for_each(|(at, (part, others))| f(at, part, others));
    } else {
        let parts = values.chunks_mut(size).zip(others.chunks_mut(other));
        parts.enumerate().for_each(|(at, (part, others))| f(at, part, others));
    }
}
