//! Run-time values, and operations on their slots.

use std::sync::Arc;

use smallvec::SmallVec;

use super::ExecError;
use super::slots::{Dst, Src, Srcs};
use crate::tensor::Tensor;

pub(super) type Extents = SmallVec<[i64; 4]>;

/// A view of a buffer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct View {
    pub(super) handle: u32,
    pub(super) offset: i64,
    pub(super) sizes: Extents,
    pub(super) strides: Extents,
}

/// A run-time value.
#[derive(Clone, Default, Debug)]
pub enum Value {
    /// Not computed yet, or moved out by its last use.
    #[default]
    None,
    /// A tensor or a scalar.
    Tensor(Tensor),
    /// A list of tensors.
    List(Box<[Tensor]>),
    /// A handle of a stack.
    Stack(u32),
    /// A view of a buffer.
    Buffer(Arc<View>),
}

impl Value {
    /// A list of tensors, collected into an exactly sized allocation.
    pub(crate) fn list(
        values: impl IntoIterator<Item = Value, IntoIter: ExactSizeIterator>,
    ) -> Result<Value, ExecError> {
        let values = values.into_iter();
        let mut items = Vec::with_capacity(values.len());
        for value in values {
            items.push(tensor(value)?);
        }
        Ok(Value::List(items.into()))
    }

    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Value::Tensor(t) => t.bytes() as u64,
            Value::List(items) => items.iter().map(|t| t.bytes() as u64).sum(),
            Value::None | Value::Stack(_) | Value::Buffer(_) => 0,
        }
    }
}

/// The values of one operation.
pub(crate) type Values = SmallVec<[Value; 4]>;
/// Values passed from one block to another.
pub(super) type Moving = Vec<Value>;

pub(super) fn read(env: &mut [Value], src: Src) -> Value {
    let slot = &mut env[src.slot as usize];
    if src.last { std::mem::take(slot) } else { slot.clone() }
}

/// Reads values into a list that reuses the memory of `scratch`.
pub(super) fn gather(scratch: &mut Moving, env: &mut [Value], srcs: &Srcs) -> Moving {
    let mut values = std::mem::take(scratch);
    values.clear();
    values.extend(srcs.iter().map(|&src| read(env, src)));
    values
}

pub(super) fn write(env: &mut [Value], dst: Dst, values: impl IntoIterator<Item = Value>) {
    for (slot, value) in env[dst.first as usize..(dst.first + dst.count) as usize]
        .iter_mut()
        .zip(values)
    {
        *slot = value;
    }
}

/// Assigns values to slots, one after the other, but those that are there already. A value of a slot that has at most `kept` elements stays, in
/// the slot of the new one.
// Each iteration of a loop does this twice, and a branch once; a call takes a third of it.
#[inline(always)]
pub(super) fn carry(env: &mut [Value], from: &Srcs, to: impl Iterator<Item = u32>, kept: usize) {
    for (&src, slot) in from.iter().zip(to) {
        let slot = slot as usize;
        match &env[slot] {
            _ if src.slot as usize == slot => {}
            Value::Tensor(old) if src.last && old.len() <= kept => env.swap(src.slot as usize, slot),
            _ => env[slot] = read(env, src),
        }
    }
}

/// Assigns values to the results of an operation, and returns their list for reuse.
pub(super) fn hand_over(scratch: &mut Moving, env: &mut [Value], dst: Dst, mut values: Moving) {
    write(env, dst, values.drain(..));
    *scratch = values;
}

/// Assigns values to the arguments of a block, and returns their list for reuse.
pub(super) fn bind(scratch: &mut Moving, args: &[u32], env: &mut [Value], mut values: Moving) {
    for (&slot, value) in args.iter().zip(values.drain(..)) {
        env[slot as usize] = value;
    }
    *scratch = values;
}

pub(super) fn truth(env: &[Value], src: Src) -> Result<bool, ExecError> {
    match &env[src.slot as usize] {
        Value::Tensor(t) => t
            .truth()
            .ok_or_else(|| ExecError::new("a condition must be a single boolean")),
        other => Err(not_a_tensor(other)),
    }
}

/// A single integer.
pub(super) fn integer(env: &[Value], src: Src) -> Result<i64, ExecError> {
    match &env[src.slot as usize] {
        Value::Tensor(t) if t.len() == 1 => Ok(t.to_i64()[0]),
        Value::Tensor(_) => Err(ExecError::new("a single integer was expected")),
        other => Err(not_a_tensor(other)),
    }
}

pub(super) fn stack_of(env: &[Value], src: Src) -> Result<usize, ExecError> {
    match env[src.slot as usize] {
        Value::Stack(handle) => Ok(handle as usize),
        _ => Err(ExecError::new("a stack was expected")),
    }
}

pub(crate) fn tensor(value: Value) -> Result<Tensor, ExecError> {
    match value {
        Value::Tensor(t) => Ok(t),
        other => Err(not_a_tensor(&other)),
    }
}

pub(crate) fn not_a_tensor(value: &Value) -> ExecError {
    ExecError::new(match value {
        Value::None => "a value is used before it is computed",
        Value::List(_) => "a tensor was expected, not a list",
        Value::Stack(_) => "a tensor was expected, not a stack",
        Value::Buffer(_) => "a tensor was expected, not a buffer",
        Value::Tensor(_) => "a list was expected, not a tensor",
    })
}
