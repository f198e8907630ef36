//! How often bodies are looked at and changed: with that, tests determine how the work of a pass grows, without a clock.

#[cfg(debug_assertions)]
thread_local! {
    static STEPS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Counts steps of this thread, in builds with debug assertions.
#[inline(always)]
pub(crate) fn count(by: usize) {
    #[cfg(debug_assertions)]
    STEPS.set(STEPS.get() + by as u64);
    #[cfg(not(debug_assertions))]
    let _ = by;
}

/// How often this thread has looked at an operation or at what defines a value, made a use, or moved an argument; the
/// bytes that it has read again of composed texts, and the parts of operations that it has looked for errors in.
/// `None` without debug assertions.
pub fn steps() -> Option<u64> {
    #[cfg(debug_assertions)]
    return Some(STEPS.get());
    #[cfg(not(debug_assertions))]
    None
}
