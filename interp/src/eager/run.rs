//! Executes a program operation by operation on eager tensors.
//!
//! The instructions are those of the structured executor. Loops, branches and calls leave nothing in the trace, and a
//! stack holds eager tensors: a pop returns the tensor that was pushed, with its history.

use std::io::Write;
use std::rc::Rc;

use pir_dialects::pd;
use pir_ir::budget::Reservation;
use pir_ir::{OpId, Type};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::custom::{Custom, Customs};
use super::{Engine, Slot, Tensor};
use crate::exec::compile::Compiler;
use crate::exec::program::{Code, Instr, Program};
use crate::exec::slots::{Dst, Src, Srcs};
use crate::exec::{Entry, ExecError, Options, check_input, functions};
use crate::kernels::Inputs;
use crate::tensor::Tensor as Dense;

/// The maximal call depth.
const MAX_CALLS: usize = 100_000;

#[derive(Clone, Default)]
enum Value {
    #[default]
    None,
    Slot(Slot),
    Stack(usize),
}

type Values = SmallVec<[Value; 4]>;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Root,
    Init,
    Branch,
    Cond,
    Body,
}

#[derive(Clone, Copy)]
struct RegionFrame {
    block: u32,
    pc: u32,
    role: Role,
}

struct Activation {
    /// The call of a function that names its derivative, which is not recorded.
    unrecorded: Option<(Custom, OpId, Vec<Slot>)>,
    program: usize,
    env: Vec<Value>,
    frames: Vec<RegionFrame>,
}

/// The result of a run.
pub(super) struct Ran {
    pub(super) fetched: Vec<(String, Tensor)>,
    pub(super) results: Vec<Tensor>,
    pub(super) inputs: FxHashMap<String, Tensor>,
}

pub(super) struct Tracer<'m, 'o> {
    engine: &'o Engine,
    programs: Vec<Rc<Program<'m>>>,
    by_name: FxHashMap<String, usize>,
    options: &'o Options,
    out: &'o mut dyn Write,
    calls: Vec<Activation>,
    stacks: Vec<Vec<Value>>,
    /// The memory of the stacks.
    held: Reservation,
    steps: u64,
    fetched: Vec<(String, Tensor)>,
    inputs: FxHashMap<String, Tensor>,
    custom: Option<Rc<Customs>>,
}

impl<'m, 'o> Tracer<'m, 'o> {
    /// A run of a program with the inputs of the options.
    pub(super) fn new(
        engine: &'o Engine,
        entry: &Entry<'m>,
        options: &'o Options,
        out: &'o mut dyn Write,
        custom: Option<Rc<Customs>>,
    ) -> Result<Self, ExecError> {
        let ctx = engine.ctx();
        let mut tracer = Self::compiled(engine, entry, options, out, custom)?;
        let mut args = Values::new();
        if entry.is_function
            && let Some(block) = entry.body.entry_block(entry.body.root())
        {
            for (at, &arg) in entry.body.block_args(block).iter().enumerate() {
                let name = entry.body.value_name(arg);
                let name = name.map_or_else(|| format!("arg{at}"), |n| ctx.name_text(n.name).into());
                let value = tracer.input(&name, entry.body.value_type(arg), false, false)?;
                args.push(Value::Slot(Slot::One(value)));
            }
        }
        tracer.enter(0, args)?;
        Ok(tracer)
    }

    /// A run of a function on tensors.
    pub(super) fn with_arguments(
        engine: &'o Engine,
        entry: &Entry<'m>,
        options: &'o Options,
        out: &'o mut dyn Write,
        custom: Option<Rc<Customs>>,
        args: Vec<Tensor>,
    ) -> Result<Self, ExecError> {
        let mut tracer = Self::compiled(engine, entry, options, out, custom)?;
        tracer.enter(0, args.into_iter().map(|t| Value::Slot(Slot::One(t))).collect())?;
        Ok(tracer)
    }

    fn compiled(
        engine: &'o Engine,
        entry: &Entry<'m>,
        options: &'o Options,
        out: &'o mut dyn Write,
        custom: Option<Rc<Customs>>,
    ) -> Result<Self, ExecError> {
        let ctx = engine.ctx();
        let mut compiler = Compiler::new(ctx);
        let mut programs = vec![Rc::new(compiler.compile(entry.body)?)];
        let mut by_name = FxHashMap::default();
        for (name, body) in functions(ctx, entry.scope) {
            if std::ptr::eq(body, entry.body) {
                by_name.insert(name, 0);
            } else if let Ok(program) = compiler.compile(body) {
                // Functions that are not called need not be executable.
                by_name.insert(name, programs.len());
                programs.push(Rc::new(program));
            }
        }
        Ok(Tracer {
            engine,
            programs,
            by_name,
            options,
            out,
            calls: Vec::new(),
            stacks: Vec::new(),
            held: Reservation::default(),
            steps: 0,
            fetched: Vec::new(),
            inputs: FxHashMap::default(),
            custom,
        })
    }

    /// The input `name`: a single leaf, however often it is read.
    fn input(&mut self, name: &str, ty: Type, stop: bool, persistable: bool) -> Result<Tensor, ExecError> {
        let data = check_input(self.engine.ctx(), self.options, name, ty)?;
        if let Some(tensor) = self.inputs.get(name) {
            return Ok(tensor.clone());
        }
        let tensor = Tensor::new(data);
        tensor.set_name(name);
        tensor.set_stop_gradient(stop || !tensor.dtype().is_float());
        tensor.set_persistable(persistable);
        self.inputs.insert(name.to_owned(), tensor.clone());
        Ok(tensor)
    }

    fn enter(&mut self, program: usize, args: Values) -> Result<(), ExecError> {
        if self.calls.len() >= MAX_CALLS {
            return Err(ExecError::new(format!("more than {MAX_CALLS} calls are active")));
        }
        let code = &self.programs[program];
        let mut env = Vec::new();
        env.resize_with(code.slots, Value::default);
        bind(code, &mut env, code.entry, args);
        let root = RegionFrame {
            block: code.entry,
            pc: 0,
            role: Role::Root,
        };
        self.calls.push(Activation {
            unrecorded: None,
            program,
            env,
            frames: vec![root],
        });
        Ok(())
    }

    pub(super) fn run(mut self) -> Result<Ran, ExecError> {
        let results = loop {
            match self.step() {
                Ok(None) => {}
                Ok(Some(values)) => break values,
                Err(error) => return Err(self.located(error)),
            }
        };
        let tensors = results.into_iter().filter_map(|v| match v {
            Value::Slot(Slot::One(tensor)) => Some(tensor),
            _ => None,
        });
        Ok(Ran {
            results: tensors.collect(),
            fetched: self.fetched,
            inputs: self.inputs,
        })
    }

    fn located(&self, error: ExecError) -> ExecError {
        let here = self.calls.last().and_then(|call| {
            let frame = call.frames.last()?;
            let program = &self.programs[call.program];
            let instr = program.blocks[frame.block as usize].instrs.get(frame.pc as usize)?;
            Some((program.body, instr.op))
        });
        match here {
            Some((body, op)) => error.at(self.engine.ctx(), body, op),
            None => error,
        }
    }

    /// Executes an instruction. Returns the results when the program has ended.
    fn step(&mut self) -> Result<Option<Values>, ExecError> {
        let Some((program, frame)) = self
            .calls
            .last()
            .and_then(|call| Some((call.program, *call.frames.last()?)))
        else {
            return Ok(Some(Values::new()));
        };
        let program = self.programs[program].clone();
        let Some(instr) = program.blocks[frame.block as usize].instrs.get(frame.pc as usize) else {
            // The operations at top level have no terminator.
            return self.leave(Values::new());
        };
        self.steps += 1;
        if self.options.max_steps.is_some_and(|max| self.steps > max) {
            return Err(
                ExecError::new(format!("the run did not end within {} steps", self.steps - 1))
                    .help("is the loop infinite? `--max-steps` sets the limit"),
            );
        }
        self.control(&program, instr, frame.role)
    }

    /// Executes an instruction that decides where control continues, or any other, which is followed by the next one.
    fn control(&mut self, program: &Program<'m>, instr: &Instr, role: Role) -> Result<Option<Values>, ExecError> {
        let Some(call) = self.calls.last_mut() else {
            return Ok(Some(Values::new()));
        };
        let env = &mut call.env;
        match &instr.code {
            Code::If {
                condition,
                init,
                branches,
            } => {
                let block = match init {
                    Some(init) => Some((*init, Role::Init)),
                    None => branches[usize::from(!truth(env, *condition)?)].map(|b| (b, Role::Branch)),
                };
                if let Some((block, role)) = block {
                    call.frames.push(RegionFrame { block, pc: 0, role });
                    return Ok(None);
                }
            }
            Code::While {
                operands, init, cond, ..
            } => {
                let values = gather(env, operands);
                let (block, role) = init.map_or((*cond, Role::Cond), |b| (b, Role::Init));
                bind(program, env, block, values);
                call.frames.push(RegionFrame { block, pc: 0, role });
                return Ok(None);
            }
            Code::Yield(values) => {
                let values = gather(env, values);
                return self.yielded(program, role, values, None);
            }
            Code::CondYield { condition, values } => {
                let more = truth(env, *condition)?;
                let values = gather(env, values);
                return self.yielded(program, role, values, Some(more));
            }
            Code::Branch { target, values } => {
                let values = gather(env, values);
                jump(program, call, *target, values);
                return Ok(None);
            }
            Code::ConditionBranch { condition, targets } => {
                let (target, values) = &targets[usize::from(!truth(env, *condition)?)];
                let values = gather(env, values);
                jump(program, call, *target, values);
                return Ok(None);
            }
            Code::Return(values) => {
                let values = gather(env, values);
                return self.leave(values);
            }
            Code::Call { callee, operands } => {
                let values = gather(env, operands);
                let Some(&callee_program) = self.by_name.get(callee) else {
                    return Err(ExecError::new(format!(
                        "there is no function @{callee} that can be run"
                    )));
                };
                let custom = self.custom.as_ref().filter(|_| self.engine.is_recording());
                let unrecorded = match custom.and_then(|custom| custom.derivative(callee)) {
                    Some(custom) => {
                        let operands = values.iter().cloned().map(slot).collect::<Result<_, _>>()?;
                        self.engine.recording.set(false);
                        Some((custom, instr.op, operands))
                    }
                    None => None,
                };
                self.enter(callee_program, values)?;
                if let Some(call) = self.calls.last_mut() {
                    call.unrecorded = unrecorded;
                }
                return Ok(None);
            }
            _ => self.data(program, instr)?,
        }
        self.advance();
        Ok(None)
    }

    /// Executes an instruction that computes or moves values.
    fn data(&mut self, program: &Program<'m>, instr: &Instr) -> Result<(), ExecError> {
        let Some(call) = self.calls.last_mut() else {
            return Ok(());
        };
        let env = &mut call.env;
        match &instr.code {
            Code::Kernel {
                kernel, inputs, lists, ..
            } => {
                let operands: Vec<Slot> = inputs
                    .iter()
                    .map(|&src| slot(read(env, src)))
                    .collect::<Result<_, _>>()?;
                let flat: Inputs = operands.iter().flat_map(Slot::tensors).map(Tensor::data).collect();
                let mut results = kernel(flat).map_err(ExecError::new)?.into_iter();
                let results = match lists.is_empty() {
                    true => results.map(|t| vec![t]).collect(),
                    false => lists
                        .iter()
                        .map(|n| results.by_ref().take(n.unwrap_or(1)).collect())
                        .collect(),
                };
                let (name, attrs) = (program.body.op_name(instr.op), program.body.attrs(instr.op));
                let results = self.engine.record(name, attrs, &operands, results);
                let results = results.map_err(ExecError::new)?;
                let values = results.into_iter().enumerate().map(|(at, mut items)| {
                    let list = matches!(lists.get(at), Some(Some(_)));
                    match items.pop() {
                        Some(item) if !list => Value::Slot(Slot::One(item)),
                        last => {
                            items.extend(last);
                            Value::Slot(Slot::List(items))
                        }
                    }
                });
                write(env, instr.results, values);
            }
            Code::InPlace { kernel, target, value } => {
                let value = tensor(read(env, *value))?;
                let old = tensor(env[*target as usize].clone())?;
                let sum = kernel(Inputs::from_iter([old.data(), value.data()])).map_err(ExecError::new)?;
                // The variable changes, not the tensor: saved tensors stay unchanged.
                let (name, attrs) = (program.body.op_name(instr.op), program.body.attrs(instr.op));
                let operands = [Slot::One(old), Slot::One(value)];
                let sum = self.engine.record(name, attrs, &operands, vec![sum.into_vec()]);
                let sum = sum.map_err(ExecError::new)?;
                let sum = sum.into_iter().flatten().next();
                let sum = sum.ok_or_else(|| ExecError::new("the kernel returned no result"))?;
                env[*target as usize] = Value::Slot(Slot::One(sum));
            }
            Code::Combine(values) => {
                let items = gather(env, values).into_iter().map(tensor).collect::<Result<_, _>>()?;
                write(env, instr.results, [Value::Slot(Slot::List(items))]);
            }
            Code::Split(list) => match read(env, *list) {
                Value::Slot(Slot::List(items)) => {
                    let items = items.into_iter().map(|t| Value::Slot(Slot::One(t)));
                    write(env, instr.results, items);
                }
                other => return Err(unexpected(&other)),
            },
            Code::Pass(values) => {
                let values = gather(env, values);
                write(env, instr.results, values);
            }
            Code::Input { name } => {
                let view = program.body.view(self.engine.ctx(), instr.op);
                let (stop, persistable) = (
                    view.bool("stop_gradient") == Some(true),
                    view.name() == pd::Parameter::NAME,
                );
                let ty = program.body.value_type(program.body.result(instr.op, 0));
                let value = self.input(name, ty, stop, persistable)?;
                if let Some(call) = self.calls.last_mut() {
                    write(&mut call.env, instr.results, [Value::Slot(Slot::One(value))]);
                }
            }
            Code::Fetch { name, value } => {
                let value = tensor(read(env, *value))?;
                self.fetched.push((name.clone(), value));
            }
            Code::Print { message, value } => {
                let value = tensor(read(env, *value))?;
                let space = if message.is_empty() { "" } else { " " };
                let written = writeln!(self.out, "{message}{space}{}", value.data());
                written.map_err(|e| ExecError::new(format!("the output cannot be written: {e}")))?;
                write(env, instr.results, [Value::Slot(Slot::One(value))]);
            }
            Code::For { .. } | Code::Choose { .. } | Code::Switch { .. } | Code::Assert { .. } => {
                return Err(ExecError::new("the eager engine does not run this operation")
                    .help("`scf-to-pd` converts it to `pd.while` and `pd.if`"));
            }
            Code::Memory { .. } | Code::Generate { .. } => {
                return Err(ExecError::new(
                    "the eager engine does not support buffers and regions that compute elements",
                ));
            }
            Code::Nothing => {}
            _ => self.stack(instr)?,
        }
        Ok(())
    }

    /// Executes an instruction on stacks.
    fn stack(&mut self, instr: &Instr) -> Result<(), ExecError> {
        let Some(call) = self.calls.last_mut() else {
            return Ok(());
        };
        let env = &mut call.env;
        match &instr.code {
            Code::CreateStack { .. } => {
                write(env, instr.results, [Value::Stack(self.stacks.len())]);
                self.held.room_for_one(&mut self.stacks).map_err(ExecError::new)?;
                self.stacks.push(Vec::new());
            }
            Code::Push { stack, value, .. } => {
                let handle = stack_of(env, *stack)?;
                let value = read(env, *value);
                let stack = &mut self.stacks[handle];
                self.held.room_for_one(stack).map_err(ExecError::new)?;
                stack.push(value);
            }
            Code::Pop { stack } => {
                let Some(value) = self.stacks[stack_of(env, *stack)?].pop() else {
                    return Err(ExecError::new("the stack is empty").help("every pop needs a push before it"));
                };
                write(env, instr.results, [value]);
            }
            Code::IsEmpty { stack, tensor } => {
                let empty = self.stacks[stack_of(env, *stack)?].is_empty();
                let value = Dense::new(tensor.as_deref().unwrap_or(&[]), vec![empty]).map_err(ExecError::new)?;
                write(env, instr.results, [Value::Slot(Slot::One(Tensor::new(value)))]);
            }
            Code::CopyStack { stack } => {
                self.held.room_for_one(&mut self.stacks).map_err(ExecError::new)?;
                let old = &self.stacks[stack_of(env, *stack)?];
                self.held.grow(size_of_val(&**old) as u64).map_err(ExecError::new)?;
                let copy = old.clone();
                write(env, instr.results, [Value::Stack(self.stacks.len())]);
                self.stacks.push(copy);
            }
            Code::Commit { .. } => {
                return Err(ExecError::new("the engine does not differentiate through `cf.commit`")
                    .help("omit `remat{spill=true}`"));
            }
            Code::JoinStack { .. } => {
                return Err(
                    ExecError::new("the engine does not differentiate through `cf.join_stack`")
                        .help("run `unbatch-weight-grads` before"),
                );
            }
            _ => {}
        }
        Ok(())
    }

    fn advance(&mut self) {
        if let Some(frame) = self.calls.last_mut().and_then(|c| c.frames.last_mut()) {
            frame.pc += 1;
        }
    }

    /// Leaves a body. Returns its results if it has no caller.
    fn leave(&mut self, mut values: Values) -> Result<Option<Values>, ExecError> {
        let left = self.calls.pop();
        let Some(caller) = self.calls.last_mut() else {
            return Ok(Some(values));
        };
        if let Some((custom, call, operands)) = left.and_then(|call| call.unrecorded) {
            self.engine.recording.set(true);
            let body = self.programs[caller.program].body;
            let results = values.into_iter().map(|v| Ok(vec![tensor(v)?.data()]));
            let results = results.collect::<Result<Vec<_>, ExecError>>()?;
            let (name, attrs) = (body.op_name(call), body.attrs(call));
            let results = self.engine.record_with(name, attrs, &operands, results, Some(custom));
            let results = results.map_err(ExecError::new)?.into_iter().flatten();
            values = results.map(|t| Value::Slot(Slot::One(t))).collect();
        }
        if let Some(frame) = caller.frames.last_mut()
            && let Some(instr) = self.programs[caller.program].blocks[frame.block as usize]
                .instrs
                .get(frame.pc as usize)
        {
            write(&mut caller.env, instr.results, values);
            frame.pc += 1;
        }
        Ok(None)
    }

    /// Leaves a region: its operation determines where control continues. `more` is the condition of a loop.
    fn yielded(
        &mut self,
        program: &Program<'m>,
        role: Role,
        values: Values,
        more: Option<bool>,
    ) -> Result<Option<Values>, ExecError> {
        if role == Role::Root {
            return self.leave(values);
        }
        let Some(call) = self.calls.last_mut() else {
            return Ok(Some(values));
        };
        call.frames.pop();
        let Some(&parent) = call.frames.last() else {
            return Ok(Some(values));
        };
        let instr = &program.blocks[parent.block as usize].instrs[parent.pc as usize];
        let next = match (&instr.code, role, more) {
            (
                Code::If {
                    condition, branches, ..
                },
                Role::Init,
                _,
            ) => branches[usize::from(!truth(&call.env, *condition)?)].map(|b| (b, Role::Branch)),
            (Code::While { cond, .. }, Role::Init | Role::Body, _) => Some((*cond, Role::Cond)),
            (Code::While { body, .. }, Role::Cond, Some(true)) => Some((*body, Role::Body)),
            _ => None,
        };
        match next {
            Some((block, role)) => {
                bind(program, &mut call.env, block, values);
                call.frames.push(RegionFrame { block, pc: 0, role });
            }
            None => {
                write(&mut call.env, instr.results, values);
                self.advance();
            }
        }
        Ok(None)
    }
}

fn jump(program: &Program<'_>, call: &mut Activation, target: u32, values: Values) {
    if let Some(frame) = call.frames.last_mut() {
        (frame.block, frame.pc) = (target, 0);
    }
    bind(program, &mut call.env, target, values);
}

fn read(env: &mut [Value], src: Src) -> Value {
    let slot = &mut env[src.slot as usize];
    if src.last { std::mem::take(slot) } else { slot.clone() }
}

fn gather(env: &mut [Value], srcs: &Srcs) -> Values {
    srcs.iter().map(|&src| read(env, src)).collect()
}

fn write(env: &mut [Value], dst: Dst, values: impl IntoIterator<Item = Value>) {
    let slots = &mut env[dst.first as usize..(dst.first + dst.count) as usize];
    slots.iter_mut().zip(values).for_each(|(slot, value)| *slot = value);
}

fn bind(program: &Program<'_>, env: &mut [Value], block: u32, values: Values) {
    for (&slot, value) in program.blocks[block as usize].args.iter().zip(values) {
        env[slot as usize] = value;
    }
}

fn truth(env: &[Value], src: Src) -> Result<bool, ExecError> {
    let truth = tensor(env[src.slot as usize].clone())?.data().truth();
    truth.ok_or_else(|| ExecError::new("a condition must be a single boolean"))
}

fn stack_of(env: &[Value], src: Src) -> Result<usize, ExecError> {
    match env[src.slot as usize] {
        Value::Stack(handle) => Ok(handle),
        _ => Err(ExecError::new("a stack was expected")),
    }
}

fn slot(value: Value) -> Result<Slot, ExecError> {
    match value {
        Value::Slot(slot) => Ok(slot),
        other => Err(unexpected(&other)),
    }
}

fn tensor(value: Value) -> Result<Tensor, ExecError> {
    match value {
        Value::Slot(Slot::One(tensor)) => Ok(tensor),
        other => Err(unexpected(&other)),
    }
}

fn unexpected(value: &Value) -> ExecError {
    ExecError::new(match value {
        Value::None => "a value is used before it is computed",
        Value::Slot(Slot::List(_)) => "a tensor was expected, not a list",
        Value::Slot(Slot::One(_)) => "a list was expected, not a tensor",
        Value::Stack(_) => "a tensor was expected, not a stack",
    })
}
