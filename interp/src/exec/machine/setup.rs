//! The initial state of a machine.

use std::io::Write;
use std::sync::Arc;

use pir_ir::budget::{Budget, Reservation};
use pir_ir::{Body, Context, TypeData};
use rustc_hash::FxHashMap;

use super::state::Machine;
use crate::exec::buffers::{Buffers, global};
use crate::exec::chain::Registers;
use crate::exec::compile::Compiler;
use crate::exec::entry::{Entry, functions};
use crate::exec::error::ExecError;
use crate::exec::memory::Memory;
use crate::exec::options::Options;
use crate::exec::profile::Clocks;
use crate::exec::program::{At, Program};
use crate::exec::stacks::Stacks;
use crate::exec::stats::Stats;
use crate::exec::value::{Moving, Value, bind};
use crate::tensor::Tensor;

/// The maximal call depth.
const MAX_CALLS: usize = 100_000;

/// The compiled bodies of a module.
pub(in crate::exec) struct Compiled<'m> {
    programs: Vec<Program<'m>>,
    /// The programs of functions, or why they cannot be run.
    by_name: FxHashMap<String, Result<usize, ExecError>>,
    compiler: Compiler<'m>,
}

impl<'m> Compiled<'m> {
    pub(in crate::exec) fn new(ctx: &'m Arc<Context>, entry: &Entry<'m>, options: &Options) -> Result<Self, ExecError> {
        let mut compiler = Compiler::new(ctx);
        compiler.fuse_from = options.fuse_from.unwrap_or(compiler.fuse_from);
        compiler.flush = options.flush_subnormals;
        compiler.precise = options.precise;
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
        Ok(Compiled {
            programs,
            by_name,
            compiler,
        })
    }
}

impl<'p, 'm, 'o> Machine<'p, 'm, 'o> {
    pub(in crate::exec) fn new(
        ctx: &'m Context,
        entry: &Entry<'m>,
        compiled: &'p mut Compiled<'m>,
        options: &'o Options,
        out: &'o mut dyn Write,
    ) -> Result<Self, ExecError> {
        let compiler = &mut compiled.compiler;
        let counts = vec![0; compiler.counters.len()];
        let mut machine = Machine {
            ctx,
            programs: &compiled.programs,
            by_name: &compiled.by_name,
            options,
            out,
            calls: Vec::new(),
            stacks: Stacks::default(),
            buffers: Buffers::new(globals(ctx, entry.scope)),
            given: Vec::new(),
            spare: Vec::new(),
            counts,
            names: std::mem::take(&mut compiler.counters),
            clocks: compiler.clocks.take(),
            stats: Stats {
                loops: std::mem::take(&mut compiler.loops),
                ..Stats::default()
            },
            memory: options.max_memory.map(Memory::new),
            steps: 0,
            fetched: Vec::new(),
            held: Reservation::default(),
            refused: Budget::current().refused(),
            registers: Registers::default(),
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

    pub(super) fn enter(&mut self, program: usize, args: Moving) -> Result<(), ExecError> {
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
        bind(&mut self.scratch, code.args(code.entry), &mut call.env, args);
        call.at = At::start(code.entry);
        self.calls.push(call);
        Ok(())
    }

    /// The input `name`, checked against its type.
    pub(super) fn input(&self, name: &str, ty: pir_ir::Type) -> Result<Tensor, ExecError> {
        crate::exec::check_input(self.ctx, self.options, name, ty)
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
