//! References to slots of an environment.

use smallvec::SmallVec;

/// An operand: a slot, and whether this is the last use of its value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Src {
    pub(crate) slot: u32,
    pub(crate) last: bool,
}

pub(crate) type Srcs = SmallVec<[Src; 3]>;

/// A range of consecutive slots.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dst {
    pub(crate) first: u32,
    pub(crate) count: u32,
}

impl Dst {
    pub(crate) fn slots(self) -> impl Iterator<Item = u32> {
        self.first..self.first + self.count
    }
}
