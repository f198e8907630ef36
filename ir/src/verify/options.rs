//! Options and limits of the verifier.

/// Stop after this many errors.
pub(super) const MAX_ERRORS: usize = 200;

/// Options of the verifier.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct VerifyOptions {
    /// Accept unregistered operations, which are hardly verified.
    pub allow_unregistered: bool,
}
