//! Counts of what is alive, by which tests see that nothing keeps itself alive.

use std::cell::Cell;

thread_local! {
    static TENSORS: Cell<isize> = const { Cell::new(0) };
    static NODES: Cell<isize> = const { Cell::new(0) };
}

/// The tensors and gradient nodes of this thread that are alive.
pub fn live() -> (isize, isize) {
    (TENSORS.get(), NODES.get())
}

// When a thread ends its variables may be gone before what it still holds.
pub(super) fn tensor(by: isize) {
    let _ = TENSORS.try_with(|count| count.set(count.get() + by));
}

pub(super) fn node(by: isize) {
    let _ = NODES.try_with(|count| count.set(count.get() + by));
}
