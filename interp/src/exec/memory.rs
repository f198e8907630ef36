//! Counts the memory of a run's tensors, for a limit.
//!
//! A buffer counts once, however many values share it. The memory held by inputs, stacks and fetches is tracked; that
//! of the environments' slots is bounded from above between two counts, and counted when the bound exceeds the limit.
//! So the result is exact, and counting is rare.

use rustc_hash::{FxHashMap, FxHashSet};

use super::value::Value;
use crate::each_type;
use crate::tensor::Tensor;

pub(super) struct Memory {
    limit: u64,
    /// An upper bound of the live bytes.
    estimate: u64,
    /// Reference counts of the buffers held outside of slots.
    held: FxHashMap<usize, u32>,
    held_bytes: u64,
    /// The part of them that is on stacks.
    stack_bytes: u64,
}

/// The live bytes, if they exceed the limit.
pub(super) struct Exceeded {
    pub(super) live: u64,
    pub(super) stacks: u64,
    pub(super) limit: u64,
}

/// The address of the elements: equal for tensors that share them.
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
        Value::None | Value::Stack(_) | Value::Buffer(_) => &[],
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

    /// Adds a reference from outside of the slots.
    pub(super) fn hold(&mut self, tensor: &Tensor) {
        let count = self.held.entry(address(tensor)).or_default();
        *count += 1;
        if *count == 1 {
            self.held_bytes += tensor.bytes() as u64;
        }
    }

    /// Starts the run: what is held now is live before the first operation.
    pub(super) fn begin(&mut self) {
        self.estimate = self.held_bytes;
    }

    /// Tracks a push on a stack.
    pub(super) fn push(&mut self, value: &Value) {
        let before = self.held_bytes;
        tensors(value).iter().for_each(|tensor| self.hold(tensor));
        self.stack_bytes += self.held_bytes - before;
    }

    /// Tracks a pop from a stack.
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

    /// The bytes that an operation frees by consuming its operands.
    pub(super) fn freed(operands: &[Tensor]) -> u64 {
        let only = operands.iter().filter(|tensor| is_only_owner(tensor));
        only.map(|tensor| tensor.bytes() as u64).sum()
    }

    /// Tracks the results of an operation. Returns whether live memory must be counted.
    pub(super) fn made(&mut self, made: u64, freed: u64) -> bool {
        self.estimate = (self.estimate + made).saturating_sub(freed);
        self.estimate > self.limit
    }

    /// Counts live memory, given the slots.
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
