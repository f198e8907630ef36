//! How many operations products and convolutions have made.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// The operations with additions and multiplications that products and convolutions have made.
static FLOPS: AtomicU64 = AtomicU64::new(0);

/// Counts additions and multiplications of a product or a convolution.
pub(crate) fn count_flops(count: usize) {
    FLOPS.fetch_add(count as u64, Relaxed);
}

/// How many have been counted so far.
pub(crate) fn flops() -> u64 {
    FLOPS.load(Relaxed)
}
