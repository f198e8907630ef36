//! How much memory the tensors of a run take, for a limit on it.
//!
//! A buffer counts once, however many values share it. What inputs, stacks and fetches hold is kept account of; what
//! the slots of the environments hold is estimated from above between two counts, and counted when the estimate is over
//! the limit. So the answer is exact, and counting is rare.

use rustc_hash::{FxHashMap, FxHashSet};

use super::value::Value;
use crate::each_type;
use crate::tensor::Tensor;

pub(super) struct Memory {
    limit: u64,
    /// What is live at most.
    estimate: u64,
    /// Buffers that are held outside of the slots, and how often.
    held: FxHashMap<usize, u32>,
    held_bytes: u64,
    /// The part of it that is on stacks.
    stack_bytes: u64,
}

/// What is live, when it is too much.
pub(super) struct Exceeded {
    pub(super) live: u64,
    pub(super) stacks: u64,
    pub(super) limit: u64,
}

/// Where the elements are: the same for tensors that share them.
pub(crate) fn address(tensor: &Tensor) -> usize {
    each_type!(tensor.data(), v => v.address())
}

fn is_only_owner(tensor: &Tensor) -> bool {
    each_type!(tensor.data(), v => v.is_unique())
}

pub(crate) fn tensors(value: &Value) -> &[Tensor] {
    match value {
        Value::Tensor(tensor) => std::slice::from_ref(tensor),
        Value::List(items) => items,
        Value::None | Value::Stack(_) => &[],
    }
}

impl Memory {
    pub(super) fn new(limit: u64) -> Self {
        Memory {
            limit,
            estimate: 0,
            held: FxHashMap::default(),
            held_bytes: 0,
            stack_bytes: 0,
        }
    }

    /// Something outside of the slots holds a tensor from now on.
    pub(super) fn hold(&mut self, tensor: &Tensor) {
        let count = self.held.entry(address(tensor)).or_default();
        *count += 1;
        if *count == 1 {
            self.held_bytes += tensor.bytes() as u64;
        }
    }

    /// What is held now is live before the first operation.
    pub(super) fn begin(&mut self) {
        self.estimate = self.held_bytes;
    }

    /// A value is pushed on a stack.
    pub(super) fn push(&mut self, value: &Value) {
        let before = self.held_bytes;
        tensors(value).iter().for_each(|tensor| self.hold(tensor));
        self.stack_bytes += self.held_bytes - before;
    }

    /// A value is popped from a stack.
    pub(super) fn pop(&mut self, value: &Value) {
        for tensor in tensors(value) {
            let address = address(tensor);
            let Some(count) = self.held.get_mut(&address) else {
                continue;
            };
            *count -= 1;
            if *count == 0 {
                self.held.remove(&address);
                let bytes = tensor.bytes() as u64;
                self.held_bytes = self.held_bytes.saturating_sub(bytes);
                self.stack_bytes = self.stack_bytes.saturating_sub(bytes);
            }
        }
    }

    /// What operands will be freed by the operation that takes them.
    pub(super) fn freed(operands: &[Tensor]) -> u64 {
        let only = operands.iter().filter(|tensor| is_only_owner(tensor));
        only.map(|tensor| tensor.bytes() as u64).sum()
    }

    /// An operation has made tensors. Whether what is live must be counted.
    pub(super) fn made(&mut self, made: u64, freed: u64) -> bool {
        self.estimate = (self.estimate + made).saturating_sub(freed);
        self.estimate > self.limit
    }

    /// Counts what is live, given the slots.
    pub(super) fn count<'v>(&mut self, slots: impl Iterator<Item = &'v Value>) -> Result<(), Exceeded> {
        let mut seen: FxHashSet<usize> = FxHashSet::default();
        let mut live = self.held_bytes;
        for tensor in slots.flat_map(tensors) {
            let address = address(tensor);
            if !self.held.contains_key(&address) && seen.insert(address) {
                live += tensor.bytes() as u64;
            }
        }
        self.estimate = live;
        match live > self.limit {
            true => Err(Exceeded {
                live,
                stacks: self.stack_bytes,
                limit: self.limit,
            }),
            false => Ok(()),
        }
    }
}
