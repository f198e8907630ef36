//! The stacks of a run.

use pir_ir::budget::Reservation;

use super::ExecError;
use super::memory::Memory;
use super::stats::Stats;
use super::value::{Value, tensor};
use crate::tensor::Tensor;

/// The size of a list on a stack, without the elements of its tensors.
fn spine(value: &Value) -> u64 {
    match value {
        Value::List(items) => size_of_val(&**items) as u64,
        _ => 0,
    }
}

/// The size of a list of values.
fn room_of(list: &Vec<Value>) -> u64 {
    (list.capacity() * size_of::<Value>()) as u64
}

/// The number of empty stacks whose memory is kept for reuse.
const SPARE: usize = 64;
/// That of so many stacks is kept if they have room for few values: each iteration may record a branch on one of its own.
const SMALL_SPARE: usize = 4096;
const SMALL: usize = 16;

#[derive(Default)]
pub(super) struct Stacks {
    all: Vec<Vec<Value>>,
    bytes: u64,
    /// The memory of the stacks' lists, including nested lists.
    held: Reservation,
    /// Memory of emptied stacks: a nested loop creates a stack in each iteration.
    spare: Vec<Vec<Value>>,
}

impl Stacks {
    /// A new stack.
    pub(super) fn create(&mut self) -> Result<Value, ExecError> {
        let handle = u32::try_from(self.all.len()).map_err(|_| ExecError::new("there are too many stacks"))?;
        self.held.room_for_one(&mut self.all).map_err(ExecError::new)?;
        self.all.push(Vec::new());
        Ok(Value::Stack(handle))
    }

    /// The size of all tensors on the stacks.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn is_empty(&self, handle: usize) -> bool {
        self.all[handle].is_empty()
    }

    /// `counted` is the loop that contains the push.
    pub(super) fn push(
        &mut self,
        handle: usize,
        value: Value,
        stats: &mut Stats,
        counted: Option<u32>,
        memory: &mut Option<Memory>,
    ) -> Result<(), ExecError> {
        let stack = &mut self.all[handle];
        if stack.capacity() == 0
            && let Some(spare) = self.spare.pop()
        {
            *stack = spare;
        }
        self.held.room_for_one(stack).map_err(ExecError::new)?;
        self.held.grow(spine(&value)).map_err(ExecError::new)?;
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
        self.all[handle].push(value);
        Ok(())
    }

    /// Moves the last value to a slot.
    pub(super) fn pop(&mut self, handle: usize, to: &mut Value, memory: &mut Option<Memory>) -> Result<(), ExecError> {
        let stack = &mut self.all[handle];
        let Some(value) = stack.pop() else {
            return Err(ExecError::new("the stack is empty").help("every pop needs a push before it"));
        };
        *to = value;
        if stack.is_empty() {
            let list = std::mem::take(stack);
            let most = if list.capacity() <= SMALL { SMALL_SPARE } else { SPARE };
            match self.spare.len() < most {
                true => self.spare.push(list),
                false => self.held.shrink(room_of(&list)),
            }
        }
        self.held.shrink(spine(to));
        if let Some(memory) = memory {
            memory.pop(to);
        }
        self.bytes -= to.bytes();
        Ok(())
    }

    /// A new stack with the values of another one.
    pub(super) fn copy(
        &mut self,
        handle: usize,
        stats: &mut Stats,
        memory: &mut Option<Memory>,
    ) -> Result<Value, ExecError> {
        let old = &self.all[handle];
        let spines: u64 = old.iter().map(spine).sum();
        let bytes = size_of_val(&**old) as u64 + spines;
        self.held.grow(bytes).map_err(ExecError::new)?;
        let copy = self.all[handle].clone();
        self.bytes += copy.iter().map(Value::bytes).sum::<u64>();
        stats.peak_stack_bytes = stats.peak_stack_bytes.max(self.bytes);
        if let Some(memory) = memory {
            copy.iter().for_each(|value| memory.push(value));
        }
        let new = self.create()?;
        if let Some(stack) = self.all.last_mut() {
            *stack = copy;
        }
        Ok(new)
    }

    /// Removes all tensors from a stack, bottom first.
    pub(super) fn drain(&mut self, handle: usize, memory: &mut Option<Memory>) -> Result<Vec<Tensor>, ExecError> {
        let values = std::mem::take(&mut self.all[handle]);
        self.held
            .shrink(room_of(&values) + values.iter().map(spine).sum::<u64>());
        for value in &values {
            if let Some(memory) = memory {
                memory.pop(value);
            }
            self.bytes -= value.bytes();
        }
        values.into_iter().map(tensor).collect()
    }
}
