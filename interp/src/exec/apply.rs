//! Applies kernels to the values of an environment.

use super::ExecError;
use super::memory::Memory;
use super::slots::{Dst, Src, Srcs};
use super::value::{Value, not_a_tensor, read, write};
use crate::kernels::{InPlace, Inputs, Kernel, Outputs, Single};

/// Computes in place of an operand that is not needed any more; false if that is not possible.
pub(super) fn in_place_of(env: &mut [Value], f: InPlace, inputs: &Srcs, result: u32) -> bool {
    let &[a, b] = inputs.as_slice() else { return false };
    for (target, other, swapped) in [(a, b, false), (b, a, true)] {
        if !target.last || target.slot == other.slot {
            continue;
        }
        let mut value = std::mem::take(&mut env[target.slot as usize]);
        let done = match (&mut value, &env[other.slot as usize]) {
            (Value::Tensor(target), Value::Tensor(other)) => f(target, other, swapped),
            _ => false,
        };
        if !done {
            env[target.slot as usize] = value;
            continue;
        }
        if other.last {
            env[other.slot as usize] = Value::None;
        }
        env[result as usize] = value;
        return true;
    }
    false
}

/// Computes one element into a new tensor; false if that is not possible.
pub(super) fn placed(env: &mut [Value], single: &Single, inputs: &Srcs, result: u32, flush: bool, kept: usize) -> bool {
    if inputs.iter().any(|src| src.slot == result) {
        return false;
    }
    let Some(place) = single.place() else { return false };
    env[result as usize] = Value::Tensor(place);
    renewed(env, single, inputs, result, flush, kept)
}

/// Computes one element into the tensor that the instruction made before; false if that is not possible. Operands of at most `kept` elements
/// stay in their slots.
pub(super) fn renewed(
    env: &mut [Value],
    single: &Single,
    inputs: &Srcs,
    result: u32,
    flush: bool,
    kept: usize,
) -> bool {
    let slot = |src: Option<&Src>| src.map(|src| src.slot as usize);
    let (Some(first), Some(last)) = (slot(inputs.first()), slot(inputs.last())) else {
        return false;
    };
    let result = result as usize;
    let done = match (inputs.len(), first == last) {
        (1, _) | (2, true) => match env.get_disjoint_mut([result, first]) {
            Ok([Value::Tensor(to), Value::Tensor(x)]) => single.run(to, &[&*x, &*x][..inputs.len()], flush),
            _ => false,
        },
        (2, false) => match env.get_disjoint_mut([result, first, last]) {
            Ok([Value::Tensor(to), Value::Tensor(x), Value::Tensor(y)]) => single.run(to, &[x, y], flush),
            _ => false,
        },
        _ => false,
    };
    if done {
        for src in inputs.iter().filter(|src| src.last) {
            let value = &mut env[src.slot as usize];
            // For the next run of the instruction that makes it.
            if !matches!(value, Value::Tensor(tensor) if tensor.len() <= kept.max(1)) {
                *value = Value::None;
            }
        }
    }
    done
}

/// Applies a kernel. Returns whether live memory must be counted.
pub(super) fn apply(
    memory: &mut Option<Memory>,
    env: &mut [Value],
    kernel: &Kernel,
    inputs: &Srcs,
    lists: &[Option<usize>],
    to: Dst,
) -> Result<bool, ExecError> {
    let mut operands = Inputs::new();
    for &src in inputs {
        match read(env, src) {
            Value::Tensor(t) => operands.push(t),
            Value::List(items) => operands.extend(items),
            other => return Err(not_a_tensor(&other)),
        }
    }
    let freed = memory.as_ref().map_or(0, |_| Memory::freed(&operands));
    let results = kernel(operands).map_err(ExecError::new)?;
    let count = memory.as_mut().is_some_and(|memory| {
        let made = results.iter().map(|tensor| tensor.bytes() as u64).sum();
        memory.made(made, freed)
    });
    if lists.is_empty() {
        write(env, to, results.into_iter().map(Value::Tensor));
        return Ok(count);
    }
    write(env, to, listed(results, lists)?);
    Ok(count)
}

/// The results of a kernel as values; some are lists of tensors.
pub(crate) fn listed(results: Outputs, lists: &[Option<usize>]) -> Result<Vec<Value>, ExecError> {
    let mut results = results.into_iter();
    let value = |length: &Option<usize>| match *length {
        Some(length) => Some(Value::List(results.by_ref().take(length).collect())),
        None => results.next().map(Value::Tensor),
    };
    let values: Option<Vec<Value>> = lists.iter().map(value).collect();
    values.ok_or_else(|| ExecError::new("a result is missing"))
}
