//! The stacks of a run, and what they hold.

use super::ExecError;
use super::memory::Memory;
use super::stats::Stats;
use super::value::{Value, tensor};
use crate::tensor::Tensor;

/// Memory of empty stacks that is kept for others.
const SPARE: usize = 64;

#[derive(Default)]
pub(super) struct Stacks {
    all: Vec<Vec<Value>>,
    bytes: u64,
    /// Memory of stacks that became empty: a loop in a loop makes a stack each time around.
    spare: Vec<Vec<Value>>,
}

impl Stacks {
    /// A new stack.
    pub(super) fn create(&mut self) -> Value {
        let handle = self.all.len() as u32;
        self.all.push(Vec::new());
        Value::Stack(handle)
    }

    pub(super) fn is_empty(&self, handle: usize) -> bool {
        self.all[handle].is_empty()
    }

    /// `counted` is the loop that the push belongs to.
    pub(super) fn push(
        &mut self,
        handle: usize,
        value: Value,
        stats: &mut Stats,
        counted: Option<u32>,
        memory: &mut Option<Memory>,
    ) {
        let bytes = value.bytes();
        stats.pushed_values += 1;
        stats.pushed_bytes += bytes;
        self.bytes += bytes;
        stats.peak_stack_bytes = stats.peak_stack_bytes.max(self.bytes);
        if let Some(counts) = counted.and_then(|s| stats.loops.get_mut(s as usize)) {
            counts.pushed_values += 1;
            counts.pushed_bytes += bytes;
        }
        if let Some(memory) = memory {
            memory.push(&value);
        }
        let stack = &mut self.all[handle];
        if stack.capacity() == 0
            && let Some(spare) = self.spare.pop()
        {
            *stack = spare;
        }
        stack.push(value);
    }

    pub(super) fn pop(&mut self, handle: usize, memory: &mut Option<Memory>) -> Result<Value, ExecError> {
        let stack = &mut self.all[handle];
        let Some(value) = stack.pop() else {
            return Err(ExecError::new("the stack is empty").help("every pop needs a push before it"));
        };
        if stack.is_empty() {
            let list = std::mem::take(stack);
            if self.spare.len() < SPARE {
                self.spare.push(list);
            }
        }
        if let Some(memory) = memory {
            memory.pop(&value);
        }
        self.bytes -= value.bytes();
        Ok(value)
    }

    /// A new stack with the values of another one.
    pub(super) fn copy(&mut self, handle: usize, stats: &mut Stats, memory: &mut Option<Memory>) -> Value {
        let copy = self.all[handle].clone();
        self.bytes += copy.iter().map(Value::bytes).sum::<u64>();
        stats.peak_stack_bytes = stats.peak_stack_bytes.max(self.bytes);
        if let Some(memory) = memory {
            copy.iter().for_each(|value| memory.push(value));
        }
        let new = self.create();
        if let Some(stack) = self.all.last_mut() {
            *stack = copy;
        }
        new
    }

    /// Takes all tensors off a stack, the lowest first.
    pub(super) fn drain(&mut self, handle: usize, memory: &mut Option<Memory>) -> Result<Vec<Tensor>, ExecError> {
        let values = std::mem::take(&mut self.all[handle]);
        for value in &values {
            if let Some(memory) = memory {
                memory.pop(value);
            }
            self.bytes -= value.bytes();
        }
        values.into_iter().map(tensor).collect()
    }
}
