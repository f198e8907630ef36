//! Instructions on stacks.

use super::state::Activation;
use crate::exec::error::ExecError;
use crate::exec::memory::Memory;
use crate::exec::program::{Code, Instr};
use crate::exec::slots::Src;
use crate::exec::stacks::Stacks;
use crate::exec::stats::Stats;
use crate::exec::value::{Value, stack_of, tensor, write};
use crate::kernels::put;
use crate::tensor::Tensor;
use crate::tensor::buffer::filled;

/// Writes whether a stack has values to a slot that has a tensor for that; gives whether it has one.
pub(super) fn is_more(call: &mut Activation, stacks: &Stacks, stack: Src, to: u32) -> Result<bool, ExecError> {
    let more = !stacks.is_empty(stack_of(&call.env, stack)?);
    Ok(match &mut call.env[to as usize] {
        Value::Tensor(old) => put(old, more),
        _ => false,
    })
}

/// Runs an instruction on stacks. Tensors of at most `kept` elements stay in slots.
pub(super) fn stack(
    instr: &Instr,
    call: &mut Activation,
    stacks: &mut Stacks,
    kept: usize,
    stats: &mut Stats,
    memory: &mut Option<Memory>,
) -> Result<(), ExecError> {
    match &instr.code {
        Code::CreateStack { site } => {
            let stack = stacks.create(*site)?;
            write(&mut call.env, instr.results, [stack]);
        }
        Code::Push {
            stack,
            value,
            stats: counted,
        } => {
            let handle = stack_of(&call.env, *stack)?;
            stacks.push(handle, &mut call.env, *value, kept, stats, *counted, memory)?;
        }
        Code::Pop { stack } => {
            let handle = stack_of(&call.env, *stack)?;
            stacks.pop(handle, &mut call.env[instr.results.first as usize], kept, memory)?;
        }
        Code::IsEmpty { stack, tensor } => {
            let empty = stacks.is_empty(stack_of(&call.env, *stack)?);
            // The result of the last time has the same shape.
            let result = &mut call.env[instr.results.first as usize];
            if let Value::Tensor(old) = result
                && put(old, empty)
            {
                return Ok(());
            }
            let shape = tensor.as_deref().unwrap_or(&[]);
            let value = filled(1, empty)
                .and_then(|values| Tensor::of(shape, values))
                .map_err(ExecError::new)?;
            write(&mut call.env, instr.results, [Value::Tensor(value)]);
        }
        Code::Commit { kept, trip } => {
            let number = |src: Src| tensor(call.env[src.slot as usize].clone()).map(|t| t.to_i64());
            let (kept, trip) = (number(*kept)?, number(*trip)?);
            let next: Vec<i64> = kept.iter().map(|&n| n + i64::from(kept == trip)).collect();
            let next = Tensor::new(&[], next).map_err(ExecError::new)?;
            write(&mut call.env, instr.results, [Value::Tensor(next)]);
        }
        Code::CopyStack { stack } => {
            let handle = stack_of(&call.env, *stack)?;
            let copy = stacks.copy(handle, stats, memory)?;
            write(&mut call.env, instr.results, [copy]);
        }
        Code::JoinStack {
            stack,
            axis,
            shape,
            dtype,
        } => {
            let handle = stack_of(&call.env, *stack)?;
            let joined = stacks.emptied(handle, kept, memory, |parts| match parts.is_empty() {
                true => Tensor::full(shape, *dtype, 0.0),
                false => crate::kernels::join(parts, *axis),
            })?;
            write(
                &mut call.env,
                instr.results,
                [Value::Tensor(joined.map_err(ExecError::new)?)],
            );
        }
        _ => {}
    }
    Ok(())
}
