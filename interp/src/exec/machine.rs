//! The machine that executes instructions.

mod control;
mod generate;
mod setup;
mod stack;
mod state;

use std::ops::ControlFlow;
use std::time::Instant;

use pir_ir::budget::Budget;

use super::apply::{apply, in_place_of, placed, renewed};
use super::error::ExecError;
use super::memory::Exceeded;
use super::options::Outcome;
use super::program::{At, Block, Code, Instr, Program};
use super::shortcuts::Shortcut;
use super::value::{Moving, Value, bind, gather, hand_over, integer, not_a_tensor, read, tensor, truth, write};
use crate::tensor::Tensor;
use control::leave_region;
use stack::{is_more, stack};
use state::Counter;

pub(super) use setup::Compiled;
pub(super) use state::Machine;

/// The number of active calls in which values stay that are not needed any more.
const MAX_KEEPING: usize = 16;

impl<'p, 'm> Machine<'p, 'm, '_> {
    pub(super) fn run(mut self) -> Result<Outcome, ExecError> {
        let start = Instant::now();
        let results = loop {
            match self.step() {
                Ok(ControlFlow::Continue(())) => {}
                Ok(ControlFlow::Break(values)) => break values,
                Err(error) => return Err(self.located(error)),
            }
        };
        let profile = self.clocks.as_ref().map(|clocks| {
            let name = |at| self.by_name.iter().find(|(_, program)| **program == Ok(at));
            let names: Vec<String> = (0..self.programs.len())
                .map(|at| name(at).map_or_else(|| "top level".to_owned(), |(name, _)| format!("@{name}")))
                .collect();
            let programs: Vec<_> = names.iter().map(String::as_str).zip(self.programs).collect();
            clocks.profile(self.ctx, &programs, &self.stats.loops, start.elapsed())
        });
        for (name, count) in self.names.iter().zip(&self.counts) {
            if *count > 0 {
                self.stats.executions.insert(name.clone(), *count);
            }
        }
        let results: Result<Vec<Option<Tensor>>, ExecError> = results.into_iter().map(|v| self.given_back(v)).collect();
        let results = results?.into_iter().flatten().collect();
        for (name, buffer) in std::mem::take(&mut self.given) {
            // A buffer that the function has deallocated holds nothing.
            if let Ok(Some(contents)) = self.given_back(buffer) {
                self.fetched.push((name, contents));
            }
        }
        Ok(Outcome {
            fetched: self.fetched,
            results,
            stats: self.stats,
            profile,
        })
    }

    /// The value as a caller sees it.
    fn given_back(&self, value: Value) -> Result<Option<Tensor>, ExecError> {
        match value {
            Value::Tensor(tensor) => Ok(Some(tensor)),
            Value::Buffer(view) => self.buffers.contents(&view).map(Some),
            _ => Ok(None),
        }
    }

    fn located(&self, mut error: ExecError) -> ExecError {
        if error.help.is_none() && Budget::current().refused() > self.refused {
            let stacks = self.stacks.bytes();
            error = error.help(format!(
                "{stacks} bytes of tensors are on stacks; `--max-memory` sets the limit"
            ));
        }
        let here = self.calls.last().and_then(|call| {
            let program = &self.programs[call.program];
            Some((program.body, program.instr(call.at)?.op))
        });
        match here {
            Some((body, op)) => error.at(self.ctx, body, op),
            None => error,
        }
    }

    fn step(&mut self) -> Result<ControlFlow<Vec<Value>>, ExecError> {
        let Some(call) = self.calls.last() else {
            return Ok(ControlFlow::Break(Vec::new()));
        };
        let program = &self.programs[call.program];
        match self.go(program)? {
            Stop::Before(instr, block) => self.control(program, instr, block),
            Stop::Again => Ok(ControlFlow::Continue(())),
            // The operations at top level have no terminator.
            Stop::End => self.leave(Moving::new()),
        }
    }

    /// How many elements the values may have that stay in their slots.
    fn kept(&self, program: &Program<'_>) -> usize {
        // All that stays counts for a memory limit, and in each of the calls of a recursion.
        match self.memory.is_some() || self.calls.len() > MAX_KEEPING {
            true => 0,
            false => program.kept,
        }
    }

    /// Runs kernels, and goes to and from the regions of branches and loops.
    fn go(&mut self, program: &'p Program<'m>) -> Result<Stop<'p>, ExecError> {
        let kept = self.kept(program);
        let Some(call) = self.calls.last_mut() else {
            return Ok(Stop::End);
        };
        let mut at = call.at;
        let mut block = &program.blocks[at.block as usize];
        // Most instructions run in this inner loop.
        loop {
            call.at = at;
            let instrs = &block.instrs;
            let Some(instr) = instrs.get(at.pc as usize) else {
                return Ok(Stop::End);
            };
            // A memory limit must see each operation's results, and a step limit must stop exactly.
            let max_steps = self.options.max_steps;
            let within = |before: u64, steps: usize| max_steps.is_none_or(|max| before + steps as u64 <= max);
            let mut done = 0;
            if self.memory.is_none() {
                if let Some(chain) = &instr.chain
                    && within(self.steps, chain.len())
                    && chain.run(&mut call.env, kept, self.options.flush_subnormals, &mut self.registers)?
                {
                    done = chain.len();
                } else if let Some(group) = &instr.group
                    && within(self.steps, group.len())
                    && group.run(&mut call.env, &instrs[at.pc as usize..])?
                {
                    done = group.len();
                }
            }
            if done > 0 {
                for instr in &instrs[at.pc as usize..][..done] {
                    self.counts[instr.counter as usize] += 1;
                }
                self.steps += done as u64;
                at.pc += done as u32;
                continue;
            }
            self.steps += 1;
            if !within(self.steps, 0) {
                return Err(
                    ExecError::new(format!("the run did not end within {} steps", self.steps - 1))
                        .help("is the loop infinite? `--max-steps` sets the limit"),
                );
            }
            self.counts[instr.counter as usize] += 1;
            let shortcut = instr.shortcut.as_ref();
            let shortcut = shortcut.filter(|s| self.memory.is_none() && within(self.steps, s.len()));
            let (kernel, in_place, inputs, lists) = match &instr.code {
                Code::Kernel {
                    kernel,
                    in_place,
                    inputs,
                    lists,
                } => (kernel, in_place, inputs, lists),
                Code::CreateStack { .. } | Code::Push { .. } | Code::Pop { .. } | Code::IsEmpty { .. } => {
                    if let (Code::IsEmpty { stack, .. }, Some(&Shortcut::More { to })) = (&instr.code, shortcut)
                        && is_more(call, &self.stacks, *stack, to)?
                    {
                        self.counts[instrs[at.pc as usize + 1].counter as usize] += 1;
                        self.steps += 1;
                        at.pc += 2;
                        continue;
                    }
                    stack(instr, call, &mut self.stacks, kept, &mut self.stats, &mut self.memory)?;
                    at.pc += 1;
                    continue;
                }
                code => {
                    let next = match code {
                        Code::Yield(values) => leave_region(program, call, &mut self.stats, block, values, None, kept)?,
                        Code::CondYield { condition, values } => {
                            let more = truth(&call.env, *condition)?;
                            leave_region(program, call, &mut self.stats, block, values, Some(more), kept)?
                        }
                        Code::If {
                            condition,
                            init,
                            branches,
                        } => {
                            let own = match (init, shortcut) {
                                (Some(init), Some(&Shortcut::OwnStack { site, to })) => {
                                    call.env[to as usize] = self.stacks.create(site)?;
                                    for instr in &program.blocks[*init as usize].instrs {
                                        self.counts[instr.counter as usize] += 1;
                                        self.steps += 1;
                                    }
                                    true
                                }
                                _ => false,
                            };
                            Some(match init {
                                Some(init) if !own => At::start(*init),
                                _ => {
                                    let branch = branches[usize::from(!truth(&call.env, *condition)?)];
                                    branch.map_or(at.next(), At::start)
                                }
                            })
                        }
                        _ => None,
                    };
                    let Some(next) = next else {
                        return Ok(Stop::Before(instr, block));
                    };
                    at = next;
                    block = &program.blocks[at.block as usize];
                    continue;
                }
            };
            let flush = self.options.flush_subnormals;
            let result = instr.results.first;
            let single = instr.single.as_ref().filter(|_| self.memory.is_none());
            if !single.is_some_and(|single| renewed(&mut call.env, single, inputs, result, flush, kept)) {
                let done = in_place.is_some_and(|f| in_place_of(&mut call.env, f, inputs, result));
                if done
                    && flush
                    && let Value::Tensor(result) = &mut call.env[result as usize]
                {
                    result.flush_subnormals().map_err(ExecError::new)?;
                }
                let done =
                    done || single.is_some_and(|single| placed(&mut call.env, single, inputs, result, flush, kept));
                if !done && apply(&mut self.memory, &mut call.env, kernel, inputs, lists, instr.results)? {
                    self.count_memory()?;
                    self.advance();
                    return Ok(Stop::Again);
                }
            }
            at.pc += 1;
        }
    }

    /// Runs an instruction that decides where control continues, or any other, which is followed by the next one.
    fn control(
        &mut self,
        program: &'p Program<'m>,
        instr: &'p Instr,
        block: &'p Block,
    ) -> Result<ControlFlow<Vec<Value>>, ExecError> {
        let Some(call) = self.calls.last_mut() else {
            return Ok(ControlFlow::Break(Vec::new()));
        };
        match &instr.code {
            Code::While {
                operands,
                init,
                cond,
                stats,
                ..
            } => {
                self.stats.loops[*stats as usize].entered += 1;
                call.trips.push(0);
                let values = gather(&mut self.scratch, &mut call.env, operands);
                let first = init.unwrap_or(*cond);
                bind(&mut self.scratch, program.args(first), &mut call.env, values);
                call.at = At::start(first);
                return Ok(ControlFlow::Continue(()));
            }
            Code::For {
                bounds, inits, stats, ..
            } => {
                let [number, upper, step] = [0, 1, 2].map(|at| integer(&call.env, bounds[at]));
                let (number, upper, step) = (number?, upper?, step?);
                if step <= 0 {
                    return Err(ExecError::new(format!(
                        "the step of a loop must be positive, not {step}"
                    )));
                }
                self.stats.loops[*stats as usize].entered += 1;
                call.trips.push(0);
                call.counters.push(Counter { number, upper, step });
                let values = gather(&mut self.scratch, &mut call.env, inits);
                return self.count(values);
            }
            Code::Choose {
                number,
                cases,
                branches,
            } => {
                let at = match number {
                    Some(number) => case(cases, integer(&call.env, *number)?),
                    None => 0,
                };
                if let Some(block) = branches.get(at).copied().flatten() {
                    call.at = At::start(block);
                    return Ok(ControlFlow::Continue(()));
                }
            }
            Code::Switch { number, cases, targets } => {
                let at = case(cases, integer(&call.env, *number)?);
                let (target, values) = targets
                    .get(at)
                    .ok_or_else(|| ExecError::new("a successor is missing"))?;
                let values = gather(&mut self.scratch, &mut call.env, values);
                return self.jump(*target, values);
            }
            Code::Yield(values) | Code::CondYield { values, .. } => return self.yielded(block, values),
            Code::Branch { target, values } => {
                let values = gather(&mut self.scratch, &mut call.env, values);
                return self.jump(*target, values);
            }
            Code::ConditionBranch { condition, targets } => {
                let (target, values) = &targets[usize::from(!truth(&call.env, *condition)?)];
                let values = gather(&mut self.scratch, &mut call.env, values);
                return self.jump(*target, values);
            }
            Code::Return(values) => {
                let values = gather(&mut self.scratch, &mut call.env, values);
                return self.leave(values);
            }
            Code::Call { callee, operands } => {
                let missing = || ExecError::new(format!("there is no function @{callee} that can be run"));
                let program = self.by_name.get(callee).cloned().ok_or_else(missing)??;
                let values = gather(&mut self.scratch, &mut call.env, operands);
                self.enter(program, values)?;
                return Ok(ControlFlow::Continue(()));
            }
            Code::Generate { operands, .. } => {
                let given: Result<Vec<i64>, ExecError> = operands.iter().map(|&src| integer(&call.env, src)).collect();
                return self.generate(given?);
            }
            _ => self.data(program, instr)?,
        }
        self.advance();
        Ok(ControlFlow::Continue(()))
    }

    /// Runs an instruction that only computes or moves values.
    fn data(&mut self, program: &'p Program<'m>, instr: &'p Instr) -> Result<(), ExecError> {
        let kept = self.kept(program);
        let Some(call) = self.calls.last_mut() else {
            return Ok(());
        };
        match &instr.code {
            Code::Assert { condition, message } => {
                if !truth(&call.env, *condition)? {
                    return Err(ExecError::new(format!("assertion failed: {message}")));
                }
            }
            Code::Memory { op, operands } => {
                if let Some(value) = self.buffers.run(op, operands, &call.env, &mut call.allocas)? {
                    write(&mut call.env, instr.results, [value]);
                }
            }
            Code::InPlace { kernel, target, value } => {
                let value = tensor(read(&mut call.env, *value))?;
                // Moved out, so that the kernel can reuse its memory if it is not shared.
                let old = tensor(std::mem::take(&mut call.env[*target as usize]))?;
                let mut results = kernel([old, value].into_iter().collect()).map_err(ExecError::new)?;
                let sum = results
                    .pop()
                    .ok_or_else(|| ExecError::new("the kernel returned no result"))?;
                call.env[*target as usize] = Value::Tensor(sum);
            }
            Code::Combine(values) => {
                let items = gather(&mut self.scratch, &mut call.env, values);
                write(&mut call.env, instr.results, [Value::list(items)?]);
            }
            Code::Split(list) => match read(&mut call.env, *list) {
                Value::List(items) => write(&mut call.env, instr.results, items.into_iter().map(Value::Tensor)),
                other => return Err(not_a_tensor(&other)),
            },
            Code::Pass(values) => {
                let values = gather(&mut self.scratch, &mut call.env, values);
                hand_over(&mut self.scratch, &mut call.env, instr.results, values);
            }
            Code::Input { .. } | Code::Fetch { .. } | Code::Print { .. } => self.outside(program, instr)?,
            _ => stack(instr, call, &mut self.stacks, kept, &mut self.stats, &mut self.memory)?,
        }
        Ok(())
    }

    /// Runs an instruction that exchanges values with the outside.
    fn outside(&mut self, program: &'p Program<'m>, instr: &'p Instr) -> Result<(), ExecError> {
        let Some(call) = self.calls.last_mut() else {
            return Ok(());
        };
        match &instr.code {
            Code::Input { name } => {
                let body = program.body;
                let value =
                    crate::exec::check_input(self.ctx, self.options, name, body.value_type(body.result(instr.op, 0)))?;
                write(&mut call.env, instr.results, [Value::Tensor(value)]);
            }
            Code::Fetch { name, value } => {
                let value = tensor(read(&mut call.env, *value))?;
                if let Some(memory) = &mut self.memory {
                    memory.hold(&value);
                }
                self.held.room_for_one(&mut self.fetched).map_err(ExecError::new)?;
                self.held.grow(name.len() as u64).map_err(ExecError::new)?;
                self.fetched.push((name.clone(), value));
            }
            Code::Print { message, value } => {
                let value = tensor(read(&mut call.env, *value))?;
                let space = if message.is_empty() { "" } else { " " };
                let written = writeln!(self.out, "{message}{space}{value}");
                written.map_err(|e| ExecError::new(format!("the output cannot be written: {e}")))?;
                write(&mut call.env, instr.results, [Value::Tensor(value)]);
            }
            _ => {}
        }
        Ok(())
    }

    /// Goes on behind the current instruction.
    fn advance(&mut self) {
        if let Some(call) = self.calls.last_mut() {
            call.at = call.at.next();
        }
    }

    fn count_memory(&mut self) -> Result<(), ExecError> {
        let Some(memory) = &mut self.memory else { return Ok(()) };
        let slots = self.calls.iter().flat_map(|call| &call.env);
        memory.count(slots).map_err(|Exceeded { live, stacks, limit }| {
            ExecError::new(format!(
                "the tensors of the program take {live} bytes now, more than the limit of {limit} bytes"
            ))
            .help(format!("{stacks} of them are on stacks; `--max-memory` sets the limit"))
        })
    }
}

/// Where a run of kernels stops.
enum Stop<'p> {
    /// At an instruction of another kind, which has been counted, in a block.
    Before(&'p Instr, &'p Block),
    /// After a kernel whose results had to be counted.
    Again,
    /// At the end of the block.
    End,
}

/// The place of a number among those of regions or blocks; 0 is that of all others.
fn case(cases: &[i64], number: i64) -> usize {
    cases.iter().position(|&case| case == number).map_or(0, |at| at + 1)
}
