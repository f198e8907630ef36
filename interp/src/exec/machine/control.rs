//! How control goes on: jumps, calls that end, loops that count, and regions that end.

use std::ops::ControlFlow;

use super::state::{Activation, Machine};
use crate::exec::error::ExecError;
use crate::exec::program::{At, Block, Code, Program, Role};
use crate::exec::slots::Srcs;
use crate::exec::stats::Stats;
use crate::exec::value::{Moving, Value, bind, carry, gather, hand_over, truth};
use crate::tensor::{DType, Tensor};

/// The number of activations kept for reuse.
const MAX_SPARE: usize = 16;

impl Machine<'_, '_, '_> {
    pub(super) fn jump(&mut self, target: u32, values: Moving) -> Result<ControlFlow<Vec<Value>>, ExecError> {
        if let Some(call) = self.calls.last_mut() {
            call.at = At::start(target);
            bind(
                &mut self.scratch,
                self.programs[call.program].args(target),
                &mut call.env,
                values,
            );
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Leaves a body.
    pub(super) fn leave(&mut self, values: Moving) -> Result<ControlFlow<Vec<Value>>, ExecError> {
        if let Some(mut ended) = self.calls.pop() {
            ended.env.clear();
            ended.trips.clear();
            ended.counters.clear();
            ended.generating.clear();
            self.buffers.leave(&mut ended.allocas);
            if self.spare.len() < MAX_SPARE {
                self.spare.push(ended);
            }
        }
        let Some(caller) = self.calls.last_mut() else {
            return Ok(ControlFlow::Break(values));
        };
        if let Some(instr) = self.programs[caller.program].instr(caller.at) {
            hand_over(&mut self.scratch, &mut caller.env, instr.results, values);
            caller.at = caller.at.next();
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Goes on with a loop that counts, whose instruction is the current one, or leaves it.
    pub(super) fn count(&mut self, mut values: Moving) -> Result<ControlFlow<Vec<Value>>, ExecError> {
        let Some(call) = self.calls.last_mut() else {
            return Ok(ControlFlow::Break(values));
        };
        let program = &self.programs[call.program];
        let (Some(instr), Some(&counter)) = (program.instr(call.at), call.counters.last()) else {
            return Ok(ControlFlow::Break(values));
        };
        let Code::For { body, dtype, stats, .. } = &instr.code else {
            return Err(ExecError::new("a loop was expected"));
        };
        let stats = &mut self.stats.loops[*stats as usize];
        if counter.number < counter.upper {
            stats.begin_iteration(&mut call.trips);
            let number = Tensor::scalar(counter.number).cast(*dtype).map_err(ExecError::new)?;
            values.insert(0, Value::Tensor(number));
            bind(&mut self.scratch, program.args(*body), &mut call.env, values);
            call.at = At::start(*body);
            return Ok(ControlFlow::Continue(()));
        }
        call.counters.pop();
        stats.leave(&mut call.trips);
        hand_over(&mut self.scratch, &mut call.env, instr.results, values);
        call.at = call.at.next();
        Ok(ControlFlow::Continue(()))
    }

    /// Leaves a region whose values go neither to a loop's next region nor to the results of its operation.
    pub(super) fn yielded(&mut self, block: &Block, values: &Srcs) -> Result<ControlFlow<Vec<Value>>, ExecError> {
        let Some(call) = self.calls.last_mut() else {
            return Ok(ControlFlow::Break(Vec::new()));
        };
        let program = &self.programs[call.program];
        // To the arguments of the region that they are from: one may be needed for another.
        let values = gather(&mut self.scratch, &mut call.env, values);
        if block.role == Role::Root {
            return self.leave(values);
        }
        call.at = block.around;
        match program.instr(call.at).map(|instr| &instr.code) {
            Some(Code::For { dtype, .. }) => {
                if let Some(counter) = call.counters.last_mut() {
                    counter.number = wrapped(counter.number.wrapping_add(counter.step), *dtype);
                }
                self.count(values)
            }
            Some(Code::Generate { .. }) => self.generated(values),
            _ => Err(ExecError::new(
                "a region ends in a way that its operation does not have",
            )),
        }
    }
}

/// Leaves a region of a branch, or of a loop with a condition, which is `more` at the end of its region: where control continues. `None` for
/// other regions, which are still to be left.
pub(super) fn leave_region(
    program: &Program<'_>,
    call: &mut Activation,
    stats: &mut Stats,
    block: &Block,
    values: &Srcs,
    more: Option<bool>,
    kept: usize,
) -> Result<Option<At>, ExecError> {
    let Some(instr) = program.instr(block.around).filter(|_| block.role != Role::Root) else {
        return Ok(None);
    };
    let next = match (&instr.code, block.role, more) {
        (
            Code::If {
                condition, branches, ..
            },
            Role::Init,
            _,
        ) => branches[usize::from(!truth(&call.env, *condition)?)],
        (Code::If { .. } | Code::Choose { .. }, ..) => None,
        (Code::While { cond, .. }, Role::Init | Role::Body, _) => Some(*cond),
        (Code::While { body, stats: at, .. }, _, Some(true)) => {
            stats.loops[*at as usize].begin_iteration(&mut call.trips);
            Some(*body)
        }
        (Code::While { stats: at, .. }, ..) => {
            stats.loops[*at as usize].leave(&mut call.trips);
            None
        }
        _ => return Ok(None),
    };
    // Arguments of another region and results are no values of the region that ends, so none is overwritten before it is
    // read.
    Ok(Some(match next {
        Some(next) => {
            carry(&mut call.env, values, program.args(next).iter().copied(), kept);
            At::start(next)
        }
        None => {
            carry(&mut call.env, values, instr.results.slots(), kept);
            block.around.next()
        }
    }))
}

/// A number as it is in integers of fewer bits.
fn wrapped(number: i64, dtype: DType) -> i64 {
    let bits = 64 - 8 * dtype.size().min(8) as u32;
    number << bits >> bits
}
