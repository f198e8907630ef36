//! How control goes on: jumps, calls that end, loops that count, and regions that end.

use std::ops::ControlFlow;

use super::state::{Machine, RegionFrame, Role};
use crate::exec::error::ExecError;
use crate::exec::program::{Code, Instr};
use crate::exec::slots::Srcs;
use crate::exec::value::{Moving, Value, bind, carry, gather, hand_over, truth};
use crate::tensor::{DType, Tensor};

/// The number of activations kept for reuse.
const MAX_SPARE: usize = 16;
/// The number of trip counts kept per loop.
const MAX_TRIP_COUNTS: usize = 1000;

impl Machine<'_, '_, '_> {
    pub(super) fn advance(&mut self) {
        if let Some(frame) = self.calls.last_mut().and_then(|c| c.frames.last_mut()) {
            frame.pc += 1;
        }
    }

    pub(super) fn jump(&mut self, target: u32, values: Moving) -> Result<ControlFlow<Vec<Value>>, ExecError> {
        if let Some(call) = self.calls.last_mut()
            && let Some(frame) = call.frames.last_mut()
        {
            (frame.block, frame.pc) = (target, 0);
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
            ended.frames.clear();
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
        if let Some(frame) = caller.frames.last_mut()
            && let Some(instr) = self.programs[caller.program].blocks[frame.block as usize]
                .instrs
                .get(frame.pc as usize)
        {
            hand_over(&mut self.scratch, &mut caller.env, instr.results, values);
            frame.pc += 1;
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Goes on with a loop that counts, whose instruction is the current one, or leaves it.
    pub(super) fn count(&mut self, mut values: Moving) -> Result<ControlFlow<Vec<Value>>, ExecError> {
        let Some(call) = self.calls.last_mut() else {
            return Ok(ControlFlow::Break(values));
        };
        let program = &self.programs[call.program];
        let instr = call
            .frames
            .last()
            .map(|f| &program.blocks[f.block as usize].instrs[f.pc as usize]);
        let (Some(instr), Some(&counter)) = (instr, call.counters.last()) else {
            return Ok(ControlFlow::Break(values));
        };
        let Code::For { body, dtype, stats, .. } = &instr.code else {
            return Err(ExecError::new("a loop was expected"));
        };
        let stats = &mut self.stats.loops[*stats as usize];
        if counter.number < counter.upper {
            stats.iterations += 1;
            if let Some(trips) = call.trips.last_mut() {
                *trips += 1;
            }
            let number = Tensor::scalar(counter.number).cast(*dtype).map_err(ExecError::new)?;
            values.insert(0, Value::Tensor(number));
            bind(&mut self.scratch, program.args(*body), &mut call.env, values);
            let role = Role::Body;
            call.frames.push(RegionFrame {
                block: *body,
                pc: 0,
                role,
            });
            return Ok(ControlFlow::Continue(()));
        }
        call.counters.pop();
        let trips = call.trips.pop().unwrap_or_default();
        if stats.trip_counts.len() < MAX_TRIP_COUNTS {
            stats.trip_counts.push(trips);
        }
        hand_over(&mut self.scratch, &mut call.env, instr.results, values);
        self.advance();
        Ok(ControlFlow::Continue(()))
    }

    /// Leaves a region: its operation determines where control continues. `more` is the condition of a loop.
    pub(super) fn yielded(
        &mut self,
        role: Role,
        values: &Srcs,
        more: Option<bool>,
    ) -> Result<ControlFlow<Vec<Value>>, ExecError> {
        let Some(call) = self.calls.last_mut() else {
            return Ok(ControlFlow::Break(Vec::new()));
        };
        let program = &self.programs[call.program];
        if role == Role::Root {
            let values = gather(&mut self.scratch, &mut call.env, values);
            return self.leave(values);
        }
        call.frames.pop();
        let Some(&parent) = call.frames.last() else {
            return Ok(ControlFlow::Break(Vec::new()));
        };
        let instr: &Instr = &program.blocks[parent.block as usize].instrs[parent.pc as usize];
        if let Code::For { dtype, .. } = instr.code {
            if let Some(counter) = call.counters.last_mut() {
                counter.number = wrapped(counter.number.wrapping_add(counter.step), dtype);
            }
            // To the arguments of the region that they are from: one may be needed for another.
            let values = gather(&mut self.scratch, &mut call.env, values);
            return self.count(values);
        }
        if let Code::Generate { .. } = instr.code {
            let values = gather(&mut self.scratch, &mut call.env, values);
            return self.generated(values);
        }
        let next = match (&instr.code, role, more) {
            (
                Code::If {
                    condition, branches, ..
                },
                Role::Init,
                _,
            ) => branches[usize::from(!truth(&call.env, *condition)?)].map(|b| (b, Role::Branch)),
            (Code::While { cond, .. }, Role::Init | Role::Body, _) => Some((*cond, Role::Cond)),
            (Code::While { body, stats, .. }, Role::Cond, Some(true)) => {
                self.stats.loops[*stats as usize].iterations += 1;
                if let Some(trips) = call.trips.last_mut() {
                    *trips += 1;
                }
                Some((*body, Role::Body))
            }
            (Code::While { stats, .. }, Role::Cond, Some(false)) => {
                let trips = call.trips.pop().unwrap_or_default();
                let counts = &mut self.stats.loops[*stats as usize].trip_counts;
                if counts.len() < MAX_TRIP_COUNTS {
                    counts.push(trips);
                }
                None
            }
            _ => None,
        };
        // Arguments of another region and results are no values of the region that ends, so none is overwritten before it is
        // read.
        match next {
            Some((block, role)) => {
                carry(&mut call.env, values, program.args(block).iter().copied());
                call.frames.push(RegionFrame { block, pc: 0, role });
            }
            None => {
                carry(&mut call.env, values, instr.results.slots());
                self.advance();
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// A number as it is in integers of fewer bits.
fn wrapped(number: i64, dtype: DType) -> i64 {
    let bits = 64 - 8 * dtype.size().min(8) as u32;
    number << bits >> bits
}
