//! The queue entries of a device.

/// A node that is ready.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ready {
    pub(super) frame: u32,
    pub(super) iteration: u64,
    pub(super) node: u32,
    pub(super) dead: bool,
    /// Whether it has run before, and the message that it waited for has arrived.
    pub(super) arrived: bool,
}
