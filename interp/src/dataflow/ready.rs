//! What is in the queue of a device.

/// A node that can be run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ready {
    pub(super) frame: u32,
    pub(super) iteration: u64,
    pub(super) node: u32,
    pub(super) dead: bool,
    /// It has run, and what it waited for has come.
    pub(super) arrived: bool,
}
