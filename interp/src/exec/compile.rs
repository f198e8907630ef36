//! Compiles a body to instructions.

use std::sync::Arc;

use pir_dialects::mlir::{self, branch, scf};
use pir_dialects::{cf, df, func, pd};
use pir_ir::{BlockId, Body, Context, Dependence, OpId, OpView, Traits, Type, TypeData, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::buffers::memory_op;
use super::chains::chains;
use super::fuse::{LEAST, group};
use super::last_uses::LastUses;
use super::late;
use super::profile::Clocks;
use super::program::{Block, Code, Instr, Kind, Program, kept, nest};
use super::shortcuts;
use super::slots::{Dst, Slots, Src, Srcs};
use super::stats::LoopStats;
use super::{ExecError, input_name};
use crate::kernels::slices::extents;
use crate::kernels::{Kernel, Kernels, dtype_of};
use crate::tensor::{DType, Tensor};

/// Whether a result in single precision may be rounded: that of a function of real numbers, which has a derivative. What only moves
/// elements, compares them or takes their bits is the same in any precision.
fn is_rounded(op: OpView<'_>) -> bool {
    let is_single = |&at: &usize| (op.operand_type(at)).is_some_and(|ty| op.ctx.elem_type(ty) == Type::F32);
    let count = op.body.num_operands(op.op);
    let reads = (0..count).any(|at| is_single(&at) && op.dependence(at) == Dependence::Differentiable);
    reads && !op.has(Traits::MOVEMENT) && op.has_no_effects()
}

/// The kernel on operands in double precision, whose results are rounded to the types that the operation has.
fn widened(kernel: Kernel, op: OpView<'_>) -> Kernel {
    let results = op.body.results(op.op).map(|value| op.body.value_type(value));
    let types: Vec<Option<DType>> = results.map(|ty| dtype_of(op.ctx, op.ctx.elem_type(ty))).collect();
    Box::new(move |inputs| {
        let wide = |x: Tensor| match x.dtype() {
            DType::F32 => x.cast(DType::F64),
            _ => Ok(x),
        };
        let results = kernel(inputs.into_iter().map(wide).collect::<Result<_, _>>()?)?;
        let typed = results.into_iter().zip(types.iter().chain(std::iter::repeat(&None)));
        let rounded = typed.map(|(x, &ty)| match (x.dtype(), ty) {
            (DType::F64, Some(DType::F32)) => x.cast(DType::F32),
            _ => Ok(x),
        });
        rounded.collect()
    })
}

/// Shared by the compilation of all bodies of a run.
pub(crate) struct Compiler<'c> {
    pub(crate) ctx: &'c Arc<Context>,
    pub(crate) kernels: &'c Kernels,
    pub(crate) counters: Vec<String>,
    by_name: FxHashMap<String, u32>,
    pub(crate) loops: Vec<LoopStats>,
    /// The number of instructions that make stacks.
    stacks: u32,
    /// The minimal number of elements for fusing operations.
    pub(crate) fuse_from: usize,
    /// Whether subnormal results become zeros.
    pub(crate) flush: bool,
    /// Whether single precision is computed in double precision.
    pub(crate) precise: bool,
    /// The clocks of the operations, if they are measured.
    pub(crate) clocks: Option<Clocks>,
}

impl<'c> Compiler<'c> {
    pub(crate) fn new(ctx: &'c Arc<Context>) -> Self {
        Compiler {
            ctx,
            kernels: Kernels::of(ctx),
            counters: Vec::new(),
            by_name: FxHashMap::default(),
            loops: Vec::new(),
            stacks: 0,
            fuse_from: LEAST,
            flush: false,
            precise: false,
            clocks: None,
        }
    }

    /// The index of an operation's execution counter.
    pub(crate) fn counter(&mut self, name: &str) -> u32 {
        if let Some(&at) = self.by_name.get(name) {
            return at;
        }
        let at = self.counters.len() as u32;
        self.counters.push(name.to_owned());
        self.by_name.insert(name.to_owned(), at);
        at
    }

    /// The kernel of an operation as it is to be run: subnormal results may have to become zeros, and it may be measured.
    fn finished(&mut self, body: &Body, op: OpId, (kernel, flush): (Kernel, bool)) -> Kernel {
        let view = body.view(self.ctx, op);
        // Operations that only move numbers create no subnormal ones; filling may.
        let fills =
            view.attr("value").is_some() || view.attr("pad_value").is_some() || view.operand_called("value").is_some();
        let kernel: Kernel = match flush && (fills || !view.has(Traits::MOVEMENT)) {
            false => kernel,
            true => Box::new(move |inputs| {
                let mut results = kernel(inputs)?;
                results.iter_mut().try_for_each(Tensor::flush_subnormals)?;
                Ok(results)
            }),
        };
        match &mut self.clocks {
            None => kernel,
            Some(clocks) => clocks.measured(body, op, kernel),
        }
    }

    /// The code of an operation that moves none of its operands.
    pub(crate) fn single(&mut self, body: &Body, op: OpId) -> Result<Code, ExecError> {
        let mut unit = Unit {
            compiler: self,
            body,
            op,
            slots: &Slots::default(),
            last_uses: &LastUses::default(),
            loop_of: &mut FxHashMap::default(),
        };
        unit.code()
    }

    pub(crate) fn compile<'m>(&mut self, body: &'m Body) -> Result<Program<'m>, ExecError> {
        let entry = body
            .entry_block(body.root())
            .ok_or_else(|| ExecError::new("there is nothing to run"))?;
        let ctx = self.ctx;
        let slots = Slots::of(ctx, body);
        let last_uses = LastUses::of(ctx, body);
        let mut loop_of: FxHashMap<OpId, u32> = FxHashMap::default();
        let all = body.all_blocks();
        let size = all.iter().map(|b| b.index() + 1).max().unwrap_or(0);
        let mut blocks: Vec<Block> = Vec::new();
        blocks.resize_with(size, Block::default);
        for block in all {
            let mut instrs = Vec::new();
            for op in body.block_ops(block) {
                let mut unit = Unit {
                    compiler: self,
                    body,
                    op,
                    slots: &slots,
                    last_uses: &last_uses,
                    loop_of: &mut loop_of,
                };
                let code = unit.code().map_err(|e| e.at(ctx, body, op))?;
                let results = body.results(op);
                let first = results.clone().next().map_or(0, |v| v.index() as u32);
                let counter = self.counter(ctx.op_str(body.op_name(op)));
                instrs.push(Instr {
                    code,
                    results: Dst {
                        first,
                        count: results.len() as u32,
                    },
                    op,
                    counter,
                    group: None,
                    single: None,
                    chain: None,
                    shortcut: None,
                });
            }
            if self.clocks.is_none() && !self.precise {
                for instr in &mut instrs {
                    instr.single = self.kernels.single(body.view(ctx, instr.op));
                }
                group(ctx, body, &mut instrs, self.fuse_from);
                chains(ctx, body, self.kernels, &slots, &mut instrs);
            }
            let args = body.block_args(block).iter().map(|&v| slots.at(v)).collect();
            blocks[block.index()] = Block {
                args,
                instrs,
                ..Block::default()
            };
        }
        nest(body, &mut blocks);
        if self.clocks.is_none() {
            shortcuts::find(self, body, &mut blocks);
        }
        Ok(Program {
            body,
            blocks,
            entry: entry.index() as u32,
            slots: body.num_value_slots(),
            kept: kept(body.num_value_slots()),
        })
    }
}

struct Unit<'u, 'c, 'm> {
    compiler: &'u mut Compiler<'c>,
    body: &'m Body,
    op: OpId,
    slots: &'u Slots,
    last_uses: &'u LastUses,
    loop_of: &'u mut FxHashMap<OpId, u32>,
}

impl Unit<'_, '_, '_> {
    fn view(&self) -> OpView<'_> {
        self.body.view(self.compiler.ctx, self.op)
    }

    fn srcs(&self, values: impl IntoIterator<Item = ValueId>) -> Srcs {
        let mut srcs: Srcs = values
            .into_iter()
            .map(|value| Src {
                slot: self.slots.at(value),
                last: self.last_uses.is_last(value, self.op),
            })
            .collect();
        // If an operation uses a value several times, only the last use moves it. Few operands are compared pairwise,
        // many are looked up.
        if srcs.len() <= 8 {
            for at in 0..srcs.len() {
                let slot = srcs[at].slot;
                srcs[at].last &= srcs[at + 1..].iter().all(|behind| behind.slot != slot);
            }
        } else {
            let mut behind = FxHashSet::default();
            for src in srcs.iter_mut().rev() {
                src.last &= behind.insert(src.slot);
            }
        }
        srcs
    }

    /// An operand that is read but not moved: a condition is read again.
    fn kept(&self, index: usize) -> Result<Src, ExecError> {
        let value = self
            .view()
            .operand(index)
            .ok_or_else(|| ExecError::new("an operand is missing"))?;
        Ok(Src {
            slot: self.slots.at(value),
            last: false,
        })
    }

    fn operands(&self) -> Srcs {
        self.srcs(self.body.operands(self.op))
    }

    fn block(&self, region: usize) -> Result<Option<u32>, ExecError> {
        let region = self
            .body
            .op_regions(self.op)
            .get(region)
            .ok_or_else(|| ExecError::new("a region is missing"))?;
        Ok(self.body.entry_block(*region).map(|b: BlockId| b.index() as u32))
    }

    fn must(&self, region: usize) -> Result<u32, ExecError> {
        self.block(region)?.ok_or_else(|| ExecError::new("a region is empty"))
    }

    fn attr_text(&self, name: &str) -> String {
        self.view().str(name).unwrap_or_default().to_owned()
    }

    fn code(&mut self) -> Result<Code, ExecError> {
        let ctx = self.compiler.ctx;
        let name = ctx.op_str(self.body.op_name(self.op));
        if let Some(code) = self.control(name)? {
            return Ok(code);
        }
        if let Some(code) = self.stack(name)? {
            return Ok(code);
        }
        Ok(match name {
            pd::InplaceAdd::NAME => {
                let (target, value) = (self.kept(0)?, self.kept(1)?);
                let value = match self.operands().last() {
                    Some(&last) if last.slot != target.slot => last,
                    _ => value,
                };
                Code::InPlace {
                    kernel: self.prepared()?,
                    target: target.slot,
                    value,
                }
            }
            "builtin.combine" => Code::Combine(self.operands()),
            "builtin.split" => Code::Split(self.kept(0)?),
            "builtin.unrealized_conversion_cast" => Code::Pass(self.operands()),
            pd::Fetch::NAME | pd::ShadowOutput::NAME => Code::Fetch {
                name: self.attr_text("name"),
                value: self.kept(0)?,
            },
            pd::Print::NAME => Code::Print {
                message: self.attr_text("message"),
                value: self.kept(0)?,
            },
            df::GRAPH => return Err(ExecError::graph()),
            _ => {
                if let Some(op) = memory_op(self.view()) {
                    let operands = self.operands();
                    let op = op.map_err(ExecError::new)?;
                    return Ok(Code::Memory { op, operands });
                }
                if let Some(name) = input_name(ctx, self.body, self.op) {
                    return Ok(Code::Input { name });
                }
                if self.body.isolated(self.op).is_some() || self.view().has(Traits::SYMBOL) {
                    return Ok(Code::Nothing);
                }
                self.kernel(name)?
            }
        })
    }

    /// Regions, blocks and calls; `None` for other operations.
    fn control(&mut self, name: &str) -> Result<Option<Code>, ExecError> {
        let ctx = self.compiler.ctx;
        let init = usize::from(self.body.op_regions(self.op).len() == 3);
        let kind = Kind::of(name);
        Ok(Some(match name {
            _ if kind == Some(Kind::If) => Code::If {
                condition: self.kept(0)?,
                init: if init == 1 { self.block(0)? } else { None },
                branches: [self.block(init)?, self.block(init + 1)?],
            },
            scf::FOR => {
                let stats = self.new_loop();
                let ty = self
                    .view()
                    .operand_type(0)
                    .ok_or_else(|| ExecError::new("a bound is missing"))?;
                Code::For {
                    bounds: [self.kept(0)?, self.kept(1)?, self.kept(2)?],
                    inits: self.srcs(self.body.operands(self.op).skip(3)),
                    body: self.must(0)?,
                    dtype: dtype_of(ctx, ty).ok_or_else(|| ExecError::new("integers of this width cannot be run"))?,
                    stats,
                }
            }
            scf::INDEX_SWITCH | scf::EXECUTE_REGION => {
                let count = self.body.op_regions(self.op).len();
                Code::Choose {
                    number: if name == scf::INDEX_SWITCH {
                        Some(self.kept(0)?)
                    } else {
                        None
                    },
                    cases: scf::cases(self.view()).unwrap_or_default(),
                    branches: (0..count).map(|region| self.block(region)).collect::<Result<_, _>>()?,
                }
            }
            branch::SWITCH => {
                let count = self.body.successors(self.op).len();
                Code::Switch {
                    number: self.kept(0)?,
                    cases: branch::case_values(self.view())
                        .ok_or_else(|| ExecError::new("its case values are unknown"))?,
                    targets: (0..count).map(|at| self.successor(at)).collect::<Result<_, _>>()?,
                }
            }
            branch::ASSERT => Code::Assert {
                condition: self.kept(0)?,
                message: self.attr_text("msg"),
            },
            _ if kind == Some(Kind::While) => {
                let stats = self.new_loop();
                Code::While {
                    operands: self.operands(),
                    init: if init == 1 { self.block(0)? } else { None },
                    cond: self.must(init)?,
                    body: self.must(init + 1)?,
                    stats,
                }
            }
            cf::YIELD | scf::YIELD | mlir::tensor::Yield::NAME => Code::Yield(self.operands()),
            cf::COND_YIELD | scf::CONDITION => {
                let mut values = self.operands();
                let condition = Src {
                    last: false,
                    ..values.remove(0)
                };
                Code::CondYield { condition, values }
            }
            pd::Branch::NAME | branch::BR => {
                let (target, values) = self.successor(0)?;
                Code::Branch { target, values }
            }
            pd::ConditionBranch::NAME | branch::COND_BR => Code::ConditionBranch {
                condition: self.kept(0)?,
                targets: [self.successor(0)?, self.successor(1)?],
            },
            "func.return" | "pd.return" => Code::Return(self.operands()),
            "func.call" => {
                let path = func::callee(ctx, self.body, self.op);
                let path = path.ok_or_else(|| ExecError::new("the callee is not a symbol"))?;
                let callee = path.last().map(|&s| ctx.str(s).to_owned()).unwrap_or_default();
                Code::Call {
                    callee,
                    operands: self.operands(),
                }
            }
            mlir::tensor::Generate::NAME => {
                let ty = self.view().result_type(0);
                Code::Generate {
                    extents: extents(self.view()).map_err(ExecError::new)?,
                    dtype: ty
                        .and_then(|ty| dtype_of(ctx, ty))
                        .ok_or_else(|| ExecError::new("tensors of this type are not supported"))?,
                    operands: self.operands(),
                    body: self.must(0)?,
                }
            }
            _ => return Ok(None),
        }))
    }

    /// Operations on stacks; `None` for others.
    fn stack(&mut self, name: &str) -> Result<Option<Code>, ExecError> {
        let ctx = self.compiler.ctx;
        Ok(Some(match name {
            cf::CREATE_STACK => {
                let site = self.compiler.stacks;
                self.compiler.stacks += 1;
                Code::CreateStack { site }
            }
            cf::PUSH_BACK => {
                let operands = self.operands();
                let &[stack, value] = operands.as_slice() else {
                    return Err(ExecError::new("it needs a stack and a value"));
                };
                Code::Push {
                    stack,
                    value,
                    stats: self.innermost_loop(),
                }
            }
            cf::POP_BACK => Code::Pop { stack: self.kept(0)? },
            cf::IS_EMPTY => {
                let ty = self.view().result_type(0);
                let shape = ty
                    .and_then(|t| ctx.as_tensor(t))
                    .map(|(shape, _)| shape.iter().map(|_| 1).collect());
                Code::IsEmpty {
                    stack: self.kept(0)?,
                    tensor: shape,
                }
            }
            cf::COMMIT => {
                let (kept, trip) = (self.kept(1)?, self.kept(2)?);
                Code::Commit { kept, trip }
            }
            cf::COPY_STACK => Code::CopyStack { stack: self.kept(0)? },
            cf::JOIN_STACK => {
                let axis = self.view().int("axis").and_then(|axis| usize::try_from(axis).ok());
                let ty = self.view().result_type(0);
                let (shape, elem) = ty
                    .and_then(|ty| ctx.as_tensor(ty))
                    .ok_or_else(|| ExecError::new("the result is not a tensor"))?;
                Code::JoinStack {
                    stack: self.kept(0)?,
                    axis: axis.unwrap_or(0),
                    shape: shape.iter().map(|&d| usize::try_from(d).unwrap_or(0)).collect(),
                    dtype: dtype_of(ctx, elem)
                        .ok_or_else(|| ExecError::new("tensors of this type are not supported"))?,
                }
            }
            _ => return Ok(None),
        }))
    }

    /// An operation that a kernel computes.
    fn kernel(&mut self, name: &str) -> Result<Code, ExecError> {
        let ctx = self.compiler.ctx;
        let length = |v: ValueId| match ctx.type_data(self.body.value_type(v)) {
            TypeData::List(items) => Some(items.len()),
            _ => None,
        };
        let mut lists: Box<[Option<usize>]> = self.body.results(self.op).map(length).collect();
        if lists.iter().all(Option::is_none) {
            lists = Box::default();
        }
        Ok(Code::Kernel {
            kernel: self.prepared()?,
            in_place: match self.compiler.clocks.is_some() || self.compiler.precise {
                true => None,
                false => self.compiler.kernels.in_place(name),
            },
            inputs: self.operands(),
            lists,
        })
    }

    /// The kernel for the operation.
    fn prepared(&mut self) -> Result<Kernel, ExecError> {
        let (ctx, compiler) = (self.compiler.ctx, &mut *self.compiler);
        let view = self.body.view(ctx, self.op);
        let precise = compiler.precise && is_rounded(view);
        let kernel = compiler.kernels.prepare_for(view, compiler.flush, precise);
        match kernel {
            Some(kernel) => {
                let (kernel, flush) = kernel.map_err(ExecError::new)?;
                let kernel = if precise { widened(kernel, view) } else { kernel };
                Ok(compiler.finished(self.body, self.op, (kernel, flush)))
            }
            None => {
                // The operations that it expands to are widened by themselves.
                if let Some(kernel) = late::kernel(ctx, view, [compiler.flush, compiler.precise]) {
                    return Ok(compiler.finished(self.body, self.op, (kernel, false)));
                }
                let error = ExecError::new("there is no kernel for this operation");
                Err(error.help(match view.semantics() {
                    Some(_) => "its row has no `computes`, and it has no kernel",
                    None => "operations of this dialect can be read and printed, but not executed",
                }))
            }
        }
    }

    fn successor(&self, index: usize) -> Result<(u32, Srcs), ExecError> {
        let successor = self
            .body
            .successors(self.op)
            .get(index)
            .ok_or_else(|| ExecError::new("a successor is missing"))?;
        // Both successors may need a value, so it is not moved.
        let values = self
            .body
            .successor_operands(self.op, index)
            .map(|v| Src {
                slot: self.slots.at(v),
                last: false,
            })
            .collect();
        Ok((successor.block.index() as u32, values))
    }

    /// The innermost loop around the operation being compiled.
    fn innermost_loop(&self) -> Option<u32> {
        let mut at = self.body.parent_op(self.op);
        while let Some(op) = at {
            if let Some(&stats) = self.loop_of.get(&op) {
                return Some(stats);
            }
            at = self.body.parent_op(op);
        }
        None
    }

    fn new_loop(&mut self) -> u32 {
        let ctx = self.compiler.ctx;
        let depth = self
            .innermost_loop()
            .map_or(0, |outer| self.compiler.loops[outer as usize].depth + 1);
        let name = self.body.results(self.op).next().and_then(|v| self.body.value_name(v));
        let stats = LoopStats {
            op: self.view().name().to_owned(),
            name: name.map(|n| ctx.name_text(n.name).into()),
            depth,
            ..LoopStats::default()
        };
        let at = self.compiler.loops.len() as u32;
        self.compiler.loops.push(stats);
        self.loop_of.insert(self.op, at);
        at
    }
}
