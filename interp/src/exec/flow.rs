//! The dataflow between consecutive operations that are computed together.

use smallvec::SmallVec;

use super::slots::Src;

/// An operand of an operation in a group.
#[derive(Clone, Copy)]
pub(super) struct Operand {
    pub(super) from: Source,
    /// Whether this is the last use in the group.
    pub(super) last: bool,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Source {
    /// An outside value, by index.
    Outside(usize),
    /// The result of an operation of the group.
    Step(usize),
}

/// The dataflow between consecutive operations.
pub(crate) struct Flow {
    pub(super) steps: Vec<SmallVec<[Operand; 3]>>,
    /// The outside values, and whether each has its last use in the group.
    pub(super) outside: Vec<Src>,
    /// The steps whose results are used outside, and their slots.
    pub(super) wanted: Vec<(usize, u32)>,
}
