//! Hashes of half the size, for tables that keep one for each operation.

/// A hash of 32 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct ShortHash(u32);

impl ShortHash {
    /// As a hash table wants it, which looks at both ends.
    #[inline]
    pub(crate) fn wide(self) -> u64 {
        u64::from(self.0) << 32 | u64::from(self.0)
    }
}

impl From<u64> for ShortHash {
    #[inline]
    fn from(hash: u64) -> Self {
        Self((hash ^ hash >> 32) as u32)
    }
}
