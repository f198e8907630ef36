//! The stacks of a run.

use pir_ir::budget::Reservation;

use super::ExecError;
use super::memory::Memory;
use super::slots::Src;
use super::stats::Stats;
use super::value::{Value, read, tensor};
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
/// The bytes of tensors that stay behind the values of stacks.
const BEHIND: u64 = 16 << 20;

/// The values of a stack. A loop that runs again records values of the same types again: behind the values are tensors that have been in
/// the slots that values were popped to, for the slots of the values that will be pushed there.
#[derive(Default)]
struct List {
    values: Vec<Value>,
    /// The number of values that are on the stack.
    len: usize,
}

/// A stack. There may be one for each iteration of a loop, so that those without values are small.
#[derive(Clone, Copy)]
struct Stack {
    /// The number of its list, or [`NONE`].
    list: u32,
    /// The instruction that made it, by number.
    site: u32,
}

/// That of a stack without values.
const NONE: u32 = u32::MAX;

#[derive(Default)]
pub(super) struct Stacks {
    all: Vec<Stack>,
    lists: Vec<List>,
    bytes: u64,
    /// The size of the tensors behind the values.
    behind: u64,
    /// The memory of the stacks' lists, including nested lists.
    held: Reservation,
    /// The lists of emptied stacks, by the instruction that made them: a nested loop creates a stack in each iteration.
    spare: Vec<Vec<u32>>,
    /// The number of these that have room for few values, and of the others.
    spares: [usize; 2],
    /// The lists that have no memory.
    unused: Vec<u32>,
}

/// A tensor of at most so many elements.
fn few(value: &Value, most: usize) -> Option<&Tensor> {
    match value {
        Value::Tensor(tensor) if tensor.len() <= most => Some(tensor),
        _ => None,
    }
}

/// Whether values are tensors of one type.
fn alike(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Tensor(a), Value::Tensor(b)) => a.dtype() == b.dtype() && a.shape() == b.shape(),
        _ => false,
    }
}

impl List {
    /// The tensors behind the values, in bytes.
    fn behind(&self) -> u64 {
        self.values.iter().skip(self.len).map(Value::bytes).sum()
    }
}

impl Stacks {
    /// A new stack, made by an instruction.
    pub(super) fn create(&mut self, site: u32) -> Result<Value, ExecError> {
        let too_many = |_| ExecError::new("there are too many stacks");
        let handle = u32::try_from(self.all.len()).map_err(too_many)?;
        self.held.room_for_one(&mut self.all).map_err(ExecError::new)?;
        self.all.push(Stack { list: NONE, site });
        Ok(Value::Stack(handle))
    }

    /// The size of all tensors on the stacks.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn is_empty(&self, handle: usize) -> bool {
        self.all[handle].list == NONE
    }

    /// A list for a stack without values: the last one of a stack that the same instruction made.
    fn list(&mut self, handle: usize) -> Result<usize, ExecError> {
        let Stack { list, site } = self.all[handle];
        if list != NONE {
            return Ok(list as usize);
        }
        let list = match self.spare.get_mut(site as usize).and_then(Vec::pop) {
            Some(list) => {
                let is_large = self.lists[list as usize].values.capacity() > SMALL;
                self.spares[usize::from(is_large)] -= 1;
                list
            }
            None => self.new_list()?,
        };
        self.all[handle].list = list;
        Ok(list as usize)
    }

    /// A list without memory.
    fn new_list(&mut self) -> Result<u32, ExecError> {
        if let Some(list) = self.unused.pop() {
            return Ok(list);
        }
        self.held.room_for_one(&mut self.lists).map_err(ExecError::new)?;
        self.lists.push(List::default());
        // There are no more lists than stacks.
        Ok(self.lists.len() as u32 - 1)
    }

    /// Keeps the list of an emptied stack for another one, or gives its memory back.
    fn recycle(&mut self, handle: usize) {
        let Stack { list: at, site } = self.all[handle];
        self.all[handle].list = NONE;
        let list = &mut self.lists[at as usize];
        let (kind, most) = match list.values.capacity() <= SMALL {
            true => (0, SMALL_SPARE),
            false => (1, SPARE),
        };
        if self.spares[kind] < most {
            self.spares[kind] += 1;
            let site = site as usize;
            if self.spare.len() <= site {
                self.spare.resize_with(site + 1, Vec::new);
            }
            self.spare[site].push(at);
        } else {
            self.behind -= list.behind();
            self.held.shrink(room_of(&list.values));
            *list = List::default();
            self.unused.push(at);
        }
    }

    /// Moves a value from its slot, or copies it if that is not its last use. If it has at most `kept` elements, its slot may get another
    /// tensor of its type, for the next value. `counted` is the loop that contains the push.
    #[allow(clippy::too_many_arguments, reason = "they are the state of a run")]
    pub(super) fn push(
        &mut self,
        handle: usize,
        env: &mut [Value],
        value: Src,
        kept: usize,
        stats: &mut Stats,
        counted: Option<u32>,
        memory: &mut Option<Memory>,
    ) -> Result<(), ExecError> {
        let slot = &mut env[value.slot as usize];
        let at = self.list(handle)?;
        let List { values, len } = &mut self.lists[at];
        if *len == values.len() {
            self.held.room_for_one(values).map_err(ExecError::new)?;
            values.push(Value::None);
        }
        self.held.grow(spine(slot)).map_err(ExecError::new)?;
        let bytes = slot.bytes();
        stats.pushed_values += 1;
        stats.pushed_bytes += bytes;
        self.bytes += bytes;
        stats.peak_stack_bytes = stats.peak_stack_bytes.max(self.bytes);
        if let Some(counts) = counted.and_then(|s| stats.loops.get_mut(s as usize)) {
            counts.pushed_values += 1;
            counts.pushed_bytes += bytes;
        }
        if let Some(memory) = memory {
            memory.push(slot);
        }
        let place = &mut values[*len];
        *len += 1;
        self.behind -= place.bytes();
        if value.last && few(place, kept).is_some() && alike(place, slot) {
            std::mem::swap(place, slot);
        } else {
            *place = read(env, value);
        }
        Ok(())
    }

    /// Moves the last value to a slot. If that had a tensor of at most `kept` elements, this stays for the next value.
    pub(super) fn pop(
        &mut self,
        handle: usize,
        to: &mut Value,
        kept: usize,
        memory: &mut Option<Memory>,
    ) -> Result<(), ExecError> {
        let list = self.lists.get_mut(self.all[handle].list as usize);
        let Some(list) = list.filter(|list| list.len > 0) else {
            return Err(ExecError::new("the stack is empty").help("every pop needs a push before it"));
        };
        list.len -= 1;
        let last = list.len;
        let place = &mut list.values[last];
        let bytes = few(to, kept).map(|old| old.bytes() as u64);
        match bytes.filter(|bytes| self.behind + bytes <= BEHIND) {
            Some(bytes) => {
                std::mem::swap(place, to);
                self.behind += bytes;
            }
            None => *to = std::mem::take(place),
        }
        self.held.shrink(spine(to));
        if let Some(memory) = memory {
            memory.pop(to);
        }
        self.bytes -= to.bytes();
        if last == 0 {
            self.recycle(handle);
        }
        Ok(())
    }

    /// A new stack with the values of another one.
    pub(super) fn copy(
        &mut self,
        handle: usize,
        stats: &mut Stats,
        memory: &mut Option<Memory>,
    ) -> Result<Value, ExecError> {
        let Stack { list, site } = self.all[handle];
        let old = self.lists.get(list as usize);
        let old = old.map_or(&[][..], |list| &list.values[..list.len]);
        let spines: u64 = old.iter().map(spine).sum();
        let bytes = size_of_val(old) as u64 + spines;
        self.held.grow(bytes).map_err(ExecError::new)?;
        let values = old.to_vec();
        self.bytes += values.iter().map(Value::bytes).sum::<u64>();
        stats.peak_stack_bytes = stats.peak_stack_bytes.max(self.bytes);
        if let Some(memory) = memory {
            values.iter().for_each(|value| memory.push(value));
        }
        let new = self.create(site)?;
        if !values.is_empty() {
            let list = self.new_list()?;
            if let Some(stack) = self.all.last_mut() {
                stack.list = list;
            }
            let len = values.len();
            self.lists[list as usize] = List { values, len };
        }
        Ok(new)
    }

    /// Removes all tensors from a stack, and gives what is made of them, bottom first. If all have at most `kept` elements, they stay for the
    /// next values.
    pub(super) fn emptied<R>(
        &mut self,
        handle: usize,
        kept: usize,
        memory: &mut Option<Memory>,
        make: impl FnOnce(&[Tensor]) -> R,
    ) -> Result<R, ExecError> {
        let Some(list) = self.lists.get_mut(self.all[handle].list as usize) else {
            return Ok(make(&[]));
        };
        self.behind -= list.behind();
        list.values.truncate(list.len);
        list.len = 0;
        for value in &list.values {
            if let Some(memory) = memory {
                memory.pop(value);
            }
            self.bytes -= value.bytes();
            self.held.shrink(spine(value));
        }
        let parts: Result<Vec<Tensor>, ExecError> = list.values.drain(..).map(tensor).collect();
        let parts = parts?;
        let made = make(&parts);
        let bytes: u64 = parts.iter().map(|part| part.bytes() as u64).sum();
        if self.behind + bytes <= BEHIND && parts.iter().all(|part| part.len() <= kept) {
            self.behind += bytes;
            list.values.extend(parts.into_iter().map(Value::Tensor));
        }
        self.recycle(handle);
        Ok(made)
    }
}
