//! Counts live objects, for tests that detect reference cycles.

use std::cell::Cell;

thread_local! {
    static TENSORS: Cell<isize> = const { Cell::new(0) };
    static NODES: Cell<isize> = const { Cell::new(0) };
}

/// The number of live tensors and gradient nodes of this thread.
pub fn live() -> (isize, isize) {
    (TENSORS.get(), NODES.get())
}

// At the end of a thread, its thread-local variables may be destroyed before the objects that it holds.
pub(super) fn tensor(by: isize) {
    let _ = TENSORS.try_with(|count| count.set(count.get() + by));
}

pub(super) fn node(by: isize) {
    let _ = NODES.try_with(|count| count.set(count.get() + by));
}
