//! The machine that executes instructions.

mod generate;

use std::io::Write;
use std::ops::ControlFlow;
use std::time::Instant;

use generate::Generating;
use pir_ir::budget::{Budget, Reservation};
use pir_ir::{Body, Context, TypeData};
use rustc_hash::FxHashMap;

use super::apply::{apply, in_place_of};
use super::buffers::{Buffers, global};
use super::compile::Compiler;
use super::memory::{Exceeded, Memory};
use super::profile::Clocks;
use super::program::{Code, Instr, Program};
use super::stacks::Stacks;
use super::stats::Stats;
use super::value::{
    Moving, Value, bind, gather, hand_over, integer, not_a_tensor, read, stack_of, tensor, truth, write,
};
use super::{Entry, ExecError, Options, Outcome, functions};
use crate::tensor::buffer::filled;
use crate::tensor::{DType, Tensor};

/// The maximal call depth.
const MAX_CALLS: usize = 100_000;
/// The number of activations kept for reuse.
const MAX_SPARE: usize = 16;
/// The number of trip counts kept per loop.
const MAX_TRIP_COUNTS: usize = 1000;

/// The role of a region in its operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Role {
    Root,
    Init,
    Branch,
    Cond,
    Body,
}

#[derive(Clone, Copy, Debug)]
struct RegionFrame {
    block: u32,
    pc: u32,
    role: Role,
}

/// The activation of a body.
#[derive(Default)]
struct Activation {
    program: usize,
    env: Vec<Value>,
    frames: Vec<RegionFrame>,
    /// The trip counts of the enclosing loops.
    trips: Vec<u64>,
    /// The counters of the enclosing loops that count.
    counters: Vec<Counter>,
    /// The tensors that regions are making elements of.
    generating: Vec<Generating>,
    /// The buffers that are given back when the function returns.
    allocas: Vec<u32>,
    /// The memory of the environment.
    held: Reservation,
}

/// Where a loop that counts is.
#[derive(Clone, Copy, Debug)]
struct Counter {
    number: i64,
    upper: i64,
    step: i64,
}

pub(super) struct Machine<'m, 'o> {
    ctx: &'m Context,
    programs: Vec<Program<'m>>,
    /// The programs of functions, or why they cannot be run.
    by_name: FxHashMap<String, Result<usize, ExecError>>,
    options: &'o Options,
    out: &'o mut dyn Write,
    calls: Vec<Activation>,
    /// Activations of returned calls, for reuse.
    spare: Vec<Activation>,
    stacks: Stacks,
    buffers: Buffers,
    /// The buffers that the function was given, by the names of its arguments.
    given: Vec<(String, Value)>,
    counts: Vec<u64>,
    names: Vec<String>,
    /// The clocks of the operations, if they are measured.
    clocks: Option<Clocks>,
    stats: Stats,
    /// The account of live memory, if there is a limit.
    memory: Option<Memory>,
    steps: u64,
    fetched: Vec<(String, Tensor)>,
    /// The memory of the fetched list, without the tensors.
    held: Reservation,
    /// The number of refused reservations before the run.
    refused: u64,
    /// A list for passing values, reused so that loops do not allocate.
    scratch: Moving,
}

impl<'m, 'o> Machine<'m, 'o> {
    pub(super) fn new(
        ctx: &'m Context,
        entry: &Entry<'m>,
        options: &'o Options,
        out: &'o mut dyn Write,
    ) -> Result<Self, ExecError> {
        let mut compiler = Compiler::new(ctx);
        compiler.fuse_from = options.fuse_from.unwrap_or(compiler.fuse_from);
        compiler.flush = options.flush_subnormals;
        compiler.clocks = options.profile.then(Clocks::default);
        let mut programs = vec![compiler.compile(entry.body)?];
        let mut by_name = FxHashMap::default();
        for (name, body) in functions(ctx, entry.scope) {
            if std::ptr::eq(body, entry.body) {
                by_name.insert(name, Ok(0));
                continue;
            }
            // Functions that are not called need not be executable.
            let program = compiler.compile(body).map(|program| {
                programs.push(program);
                programs.len() - 1
            });
            by_name.insert(name, program);
        }
        let counts = vec![0; compiler.counters.len()];
        let mut machine = Machine {
            ctx,
            programs,
            by_name,
            options,
            out,
            calls: Vec::new(),
            stacks: Stacks::default(),
            buffers: Buffers::new(globals(ctx, entry.scope)),
            given: Vec::new(),
            spare: Vec::new(),
            counts,
            names: compiler.counters,
            clocks: compiler.clocks,
            stats: Stats {
                loops: compiler.loops,
                ..Stats::default()
            },
            memory: options.max_memory.map(Memory::new),
            steps: 0,
            fetched: Vec::new(),
            held: Reservation::default(),
            refused: Budget::current().refused(),
            scratch: Moving::new(),
        };
        if let Some(memory) = &mut machine.memory {
            // The caller keeps them alive until the end.
            options.inputs.values().for_each(|tensor| memory.hold(tensor));
            memory.begin();
        }
        let mut args = Moving::new();
        if entry.is_function {
            let block = entry
                .body
                .entry_block(entry.body.root())
                .ok_or_else(|| ExecError::new("the function has no body"))?;
            for (at, &arg) in entry.body.block_args(block).iter().enumerate() {
                let name = entry
                    .body
                    .value_name(arg)
                    .map_or_else(|| format!("arg{at}"), |n| ctx.name_text(n.name).into());
                let ty = entry.body.value_type(arg);
                let tensor = machine.input(&name, ty)?;
                args.push(match ctx.type_data(ty) {
                    TypeData::MemRef { .. } => {
                        let buffer = machine.buffers.create(&tensor)?;
                        machine.given.push((name, buffer.clone()));
                        buffer
                    }
                    _ => Value::Tensor(tensor),
                });
            }
        }
        machine.enter(0, args)?;
        Ok(machine)
    }

    fn enter(&mut self, program: usize, args: Moving) -> Result<(), ExecError> {
        if self.calls.len() >= MAX_CALLS {
            return Err(
                ExecError::new(format!("more than {MAX_CALLS} calls are active")).help("is the recursion infinite?")
            );
        }
        let code = &self.programs[program];
        let mut call = self.spare.pop().unwrap_or_default();
        call.program = program;
        let room = (code.slots * size_of::<Value>()) as u64;
        if let Some(more) = room.checked_sub(call.held.bytes()) {
            call.held.grow(more).map_err(ExecError::new)?;
        }
        call.env.resize_with(code.slots, Value::default);
        bind(&mut self.scratch, code, &mut call.env, code.entry, args);
        call.frames.push(RegionFrame {
            block: code.entry,
            pc: 0,
            role: Role::Root,
        });
        self.calls.push(call);
        Ok(())
    }

    /// The input `name`, checked against its type.
    fn input(&self, name: &str, ty: pir_ir::Type) -> Result<Tensor, ExecError> {
        super::check_input(self.ctx, self.options, name, ty)
    }

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
            let programs: Vec<_> = names.iter().map(String::as_str).zip(&self.programs).collect();
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

    /// What a caller outside sees of a value.
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
            let frame = call.frames.last()?;
            let program = &self.programs[call.program];
            let instr = program.blocks[frame.block as usize].instrs.get(frame.pc as usize)?;
            Some((program.body, instr.op))
        });
        match here {
            Some((body, op)) => error.at(self.ctx, body, op),
            None => error,
        }
    }

    fn step(&mut self) -> Result<ControlFlow<Vec<Value>>, ExecError> {
        let Some(call) = self.calls.last_mut() else {
            return Ok(ControlFlow::Break(Vec::new()));
        };
        let program = &self.programs[call.program];
        let Some(&frame) = call.frames.last() else {
            return Ok(ControlFlow::Break(Vec::new()));
        };
        let instrs = &program.blocks[frame.block as usize].instrs;
        let mut pc = frame.pc;
        // Instructions without control flow run in this inner loop.
        let instr = loop {
            let Some(instr) = instrs.get(pc as usize) else {
                // The operations at top level have no terminator.
                return self.leave(Moving::new());
            };
            // A memory limit must see each operation's results, and a step limit must stop exactly.
            let within = |steps: usize| (self.options.max_steps).is_none_or(|max| self.steps + steps as u64 <= max);
            let mut done = 0;
            if self.memory.is_none() {
                if let Some(chain) = &instr.chain
                    && within(chain.len())
                    && chain.run(&mut call.env, self.options.flush_subnormals)?
                {
                    done = chain.len();
                } else if let Some(group) = &instr.group
                    && within(group.len())
                    && group.run(&mut call.env, &instrs[pc as usize..])?
                {
                    done = group.len();
                }
            }
            if done > 0 {
                for instr in &instrs[pc as usize..][..done] {
                    self.counts[instr.counter as usize] += 1;
                }
                self.steps += done as u64;
                pc += done as u32;
                if let Some(frame) = call.frames.last_mut() {
                    frame.pc = pc;
                }
                continue;
            }
            self.steps += 1;
            if self.options.max_steps.is_some_and(|max| self.steps > max) {
                return Err(
                    ExecError::new(format!("the run did not end within {} steps", self.steps - 1))
                        .help("is the loop infinite? `--max-steps` sets the limit"),
                );
            }
            self.counts[instr.counter as usize] += 1;
            let Code::Kernel {
                kernel,
                in_place,
                inputs,
                lists,
            } = &instr.code
            else {
                break instr;
            };
            let done = in_place.is_some_and(|f| in_place_of(&mut call.env, f, inputs, instr.results.first));
            if done
                && self.options.flush_subnormals
                && let Value::Tensor(result) = &mut call.env[instr.results.first as usize]
            {
                result.flush_subnormals().map_err(ExecError::new)?;
            }
            if !done && apply(&mut self.memory, &mut call.env, kernel, inputs, lists, instr.results)? {
                self.count_memory()?;
                self.advance();
                return Ok(ControlFlow::Continue(()));
            }
            pc += 1;
            if let Some(frame) = call.frames.last_mut() {
                frame.pc = pc;
            }
        };
        match &instr.code {
            Code::Kernel { .. } | Code::Nothing => {}
            Code::If {
                condition,
                init,
                branches,
            } => {
                let block = match init {
                    Some(init) => Some((*init, Role::Init)),
                    None => branches[usize::from(!truth(&call.env, *condition)?)].map(|b| (b, Role::Branch)),
                };
                if let Some((block, role)) = block {
                    call.frames.push(RegionFrame { block, pc: 0, role });
                    return Ok(ControlFlow::Continue(()));
                }
            }
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
                let (block, role) = init.map_or((*cond, Role::Cond), |b| (b, Role::Init));
                bind(&mut self.scratch, program, &mut call.env, block, values);
                call.frames.push(RegionFrame { block, pc: 0, role });
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
                    let role = Role::Branch;
                    call.frames.push(RegionFrame { block, pc: 0, role });
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
            Code::Assert { condition, message } => {
                if !truth(&call.env, *condition)? {
                    return Err(ExecError::new(format!("assertion failed: {message}")));
                }
            }
            Code::Yield(values) => {
                let values = gather(&mut self.scratch, &mut call.env, values);
                return self.yielded(frame.role, values, None);
            }
            Code::CondYield { condition, values } => {
                let more = truth(&call.env, *condition)?;
                let values = gather(&mut self.scratch, &mut call.env, values);
                return self.yielded(frame.role, values, Some(more));
            }
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
            Code::Memory { op, operands } => {
                if let Some(value) = self.buffers.run(op, operands, &call.env, &mut call.allocas)? {
                    write(&mut call.env, instr.results, [value]);
                }
            }
            Code::Generate { operands, .. } => {
                let given: Result<Vec<i64>, ExecError> = operands.iter().map(|&src| integer(&call.env, src)).collect();
                return self.generate(given?);
            }
            Code::CreateStack => {
                let stack = self.stacks.create()?;
                write(&mut call.env, instr.results, [stack]);
            }
            Code::Push { stack, value, stats } => {
                let handle = stack_of(&call.env, *stack)?;
                let value = read(&mut call.env, *value);
                self.stacks
                    .push(handle, value, &mut self.stats, *stats, &mut self.memory)?;
            }
            Code::Pop { stack } => {
                let value = self.stacks.pop(stack_of(&call.env, *stack)?, &mut self.memory)?;
                write(&mut call.env, instr.results, [value]);
            }
            Code::IsEmpty { stack, tensor } => {
                let empty = self.stacks.is_empty(stack_of(&call.env, *stack)?);
                let shape = tensor.as_deref().unwrap_or(&[]);
                let value = filled(1, empty)
                    .and_then(|values| Tensor::of(shape, values))
                    .map_err(ExecError::new)?;
                write(&mut call.env, instr.results, [Value::Tensor(value)]);
            }
            Code::Commit { kept, trip } => {
                let number = |src: super::program::Src| tensor(call.env[src.slot as usize].clone()).map(|t| t.to_i64());
                let (kept, trip) = (number(*kept)?, number(*trip)?);
                let next: Vec<i64> = kept.iter().map(|&n| n + i64::from(kept == trip)).collect();
                let next = Tensor::new(&[], next).map_err(ExecError::new)?;
                write(&mut call.env, instr.results, [Value::Tensor(next)]);
            }
            Code::CopyStack { stack } => {
                let handle = stack_of(&call.env, *stack)?;
                let copy = self.stacks.copy(handle, &mut self.stats, &mut self.memory)?;
                write(&mut call.env, instr.results, [copy]);
            }
            Code::JoinStack {
                stack,
                axis,
                shape,
                dtype,
            } => {
                let handle = stack_of(&call.env, *stack)?;
                let parts = self.stacks.drain(handle, &mut self.memory)?;
                let joined = match parts.is_empty() {
                    true => Tensor::full(shape, *dtype, 0.0),
                    false => crate::kernels::join(&parts, *axis),
                };
                write(
                    &mut call.env,
                    instr.results,
                    [Value::Tensor(joined.map_err(ExecError::new)?)],
                );
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
            Code::Input { name } => {
                let (program, op) = (call.program, instr.op);
                let results = instr.results;
                let body = self.programs[program].body;
                let value = self.input(name, body.value_type(body.result(op, 0)))?;
                if let Some(call) = self.calls.last_mut() {
                    write(&mut call.env, results, [Value::Tensor(value)]);
                }
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
        }
        self.advance();
        Ok(ControlFlow::Continue(()))
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

    fn advance(&mut self) {
        if let Some(frame) = self.calls.last_mut().and_then(|c| c.frames.last_mut()) {
            frame.pc += 1;
        }
    }

    fn jump(&mut self, target: u32, values: Moving) -> Result<ControlFlow<Vec<Value>>, ExecError> {
        if let Some(call) = self.calls.last_mut()
            && let Some(frame) = call.frames.last_mut()
        {
            (frame.block, frame.pc) = (target, 0);
            bind(
                &mut self.scratch,
                &self.programs[call.program],
                &mut call.env,
                target,
                values,
            );
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Leaves a body.
    fn leave(&mut self, values: Moving) -> Result<ControlFlow<Vec<Value>>, ExecError> {
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
    fn count(&mut self, mut values: Moving) -> Result<ControlFlow<Vec<Value>>, ExecError> {
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
            bind(&mut self.scratch, program, &mut call.env, *body, values);
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
    fn yielded(
        &mut self,
        role: Role,
        values: Moving,
        more: Option<bool>,
    ) -> Result<ControlFlow<Vec<Value>>, ExecError> {
        let Some(call) = self.calls.last_mut() else {
            return Ok(ControlFlow::Break(values));
        };
        let program = &self.programs[call.program];
        if role == Role::Root {
            return self.leave(values);
        }
        call.frames.pop();
        let Some(&parent) = call.frames.last() else {
            return Ok(ControlFlow::Break(values));
        };
        let instr: &Instr = &program.blocks[parent.block as usize].instrs[parent.pc as usize];
        if let Code::For { dtype, .. } = instr.code {
            if let Some(counter) = call.counters.last_mut() {
                counter.number = wrapped(counter.number.wrapping_add(counter.step), dtype);
            }
            return self.count(values);
        }
        if let Code::Generate { .. } = instr.code {
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
        match next {
            Some((block, role)) => {
                bind(&mut self.scratch, program, &mut call.env, block, values);
                call.frames.push(RegionFrame { block, pc: 0, role });
            }
            None => {
                hand_over(&mut self.scratch, &mut call.env, instr.results, values);
                self.advance();
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// The values of the buffers of a module, by name.
fn globals(ctx: &Context, scope: &Body) -> FxHashMap<String, Result<Tensor, String>> {
    let block = scope.single_block(scope.root());
    let ops = block.into_iter().flat_map(|block| scope.block_ops(block));
    ops.filter_map(|op| {
        let view = scope.view(ctx, op);
        Some((view.str("sym_name")?.to_owned(), global(ctx, view)?))
    })
    .collect()
}

/// The place of a number among those of regions or blocks; 0 is that of all others.
fn case(cases: &[i64], number: i64) -> usize {
    cases.iter().position(|&case| case == number).map_or(0, |at| at + 1)
}

/// A number as it is in integers of fewer bits.
fn wrapped(number: i64, dtype: DType) -> i64 {
    let bits = 64 - 8 * dtype.size().min(8) as u32;
    number << bits >> bits
}
