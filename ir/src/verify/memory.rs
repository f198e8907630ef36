//! Memory that is reused when several bodies are verified.

use crate::body::Body;
use crate::entity::{BlockId, OpId, OpName, RegionId, ValueId};
use crate::recent::RecentSets;
use crate::types::{AttrDict, Type};

/// How many sets of operations are remembered: as many as differ in a program of JAX.
const SETS: usize = 128;
/// How many operands those have at most.
const OPERANDS: usize = 4;

/// An operation that was found to be as its definition declares, with at most one result.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Fitting {
    name: OpName,
    attrs: AttrDict,
    operands: [Type; OPERANDS],
    result: Type,
}

/// Memory reused for the next body.
pub(super) struct Memory {
    /// Operations without regions that are as declared: that follows from the name, the attributes and the types of operands
    /// and result alone, but for the place of a terminator, and the same come again and again.
    known: RecentSets<Fitting>,
    /// For each value of a body whether it is visible, the visible ones, and what is left to do; for their memory.
    pub(super) visible: Vec<bool>,
    pub(super) trail: Vec<ValueId>,
    pub(super) tasks: Vec<Task>,
}

impl Default for Memory {
    fn default() -> Self {
        Memory {
            known: RecentSets::new(SETS),
            visible: Vec::new(),
            trail: Vec::new(),
            tasks: Vec::new(),
        }
    }
}

/// An operation in the form in which it is remembered, if it is simple enough, and its hash.
pub(super) struct Simple(Fitting, u64);

impl Simple {
    #[inline]
    pub(super) fn of(body: &Body, op: OpId) -> Option<Self> {
        let count = body.num_operands(op);
        if count > OPERANDS || body.num_results(op) > 1 || body.extra(op).is_some() {
            return None;
        }
        // No value has the type `none` but one that could not be read, so that it determines how many there are.
        let mut operands = [Type::NONE; OPERANDS];
        for (ty, value) in operands.iter_mut().zip(body.operands(op)) {
            *ty = body.value_type(value);
            if *ty == Type::NONE {
                return None;
            }
        }
        let result = body.results(op).next().map(|result| body.value_type(result));
        if result == Some(Type::NONE) {
            return None;
        }
        let fitting = Fitting {
            name: body.op_name(op),
            attrs: body.attrs(op),
            operands,
            result: result.unwrap_or(Type::NONE),
        };
        let what = fitting.name.index() as u64 | u64::from(fitting.attrs.0) << 32;
        let [first, second, ..] = operands.map(|ty| ty.index() as u64);
        let mixed = what ^ first << 12 ^ second << 24 ^ (fitting.result.index() as u64) << 48;
        Some(Simple(fitting, mixed.wrapping_mul(0x9E37_79B9_7F4A_7C15)))
    }
}

impl Memory {
    /// Whether such an operation was found to be as declared.
    #[inline]
    pub(super) fn fits(&self, &Simple(op, hash): &Simple) -> bool {
        self.known.find(hash, |known| *known == op).is_some()
    }

    /// Remembers that such an operation is as declared.
    pub(super) fn remember(&mut self, Simple(op, hash): Simple) {
        self.known.keep(hash, op);
    }
}

/// The remaining work of a walk.
pub(super) enum Task {
    /// Walk a region.
    Region(RegionId),
    /// Walk a block, then those that it dominates.
    Dominating(BlockId),
    /// Walk a block alone.
    Block(BlockId),
    /// Check an operation, walk what is in it, go on with the next.
    Op(OpId),
    /// The operation has been walked: its results are visible from here on.
    Define(OpId),
    /// Forget what became visible since that many values were.
    Leave(usize),
}
