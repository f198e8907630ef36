//! A compiled body: blocks of instructions on slots.

use pir_dialects::mlir::scf;
use pir_dialects::pd;
use pir_ir::{Body, OpId};
use smallvec::SmallVec;

use super::buffers::MemoryOp;
use super::chain::Chain;
use super::flow::Flow;
use super::shortcuts::Shortcut;
use super::slots::{Dst, Src, Srcs};
use crate::kernels::{InPlace, Kernel, Single};
use crate::tensor::DType;

pub(crate) enum Code {
    Kernel {
        kernel: Kernel,
        /// The in-place kernel for two tensors of one shape, if any.
        in_place: Option<InPlace>,
        inputs: Srcs,
        /// For each result that is a list, the number of its tensors; empty if none is.
        lists: Box<[Option<usize>]>,
    },
    If {
        condition: Src,
        init: Option<u32>,
        branches: [Option<u32>; 2],
    },
    While {
        operands: Srcs,
        init: Option<u32>,
        cond: u32,
        body: u32,
        stats: u32,
    },
    /// A loop that counts, with signs.
    For {
        bounds: [Src; 3],
        inits: Srcs,
        body: u32,
        dtype: DType,
        stats: u32,
    },
    /// The region of a number, or the first.
    Choose {
        number: Option<Src>,
        cases: Vec<i64>,
        branches: Vec<Option<u32>>,
    },
    /// The block of a number, or the first.
    Switch {
        number: Src,
        cases: Vec<i64>,
        targets: Vec<(u32, Srcs)>,
    },
    Assert {
        condition: Src,
        message: String,
    },
    Yield(Srcs),
    CondYield {
        condition: Src,
        values: Srcs,
    },
    Branch {
        target: u32,
        values: Srcs,
    },
    ConditionBranch {
        condition: Src,
        targets: [(u32, Srcs); 2],
    },
    Return(Srcs),
    Call {
        callee: String,
        operands: Srcs,
    },
    /// An operation of buffers.
    Memory {
        op: MemoryOp,
        operands: Srcs,
    },
    /// A tensor whose elements a region computes from their indices.
    Generate {
        extents: Vec<Option<usize>>,
        dtype: DType,
        operands: Srcs,
        body: u32,
    },
    /// `site` is the number of the instruction among those that make stacks.
    CreateStack {
        site: u32,
    },
    Push {
        stack: Src,
        value: Src,
        stats: Option<u32>,
    },
    Pop {
        stack: Src,
    },
    IsEmpty {
        stack: Src,
        tensor: Option<SmallVec<[usize; 4]>>,
    },
    /// Counts an iteration whose values are kept: here all are.
    Commit {
        kept: Src,
        trip: Src,
    },
    CopyStack {
        stack: Src,
    },
    /// Concatenates the tensors on a stack.
    JoinStack {
        stack: Src,
        axis: usize,
        /// The shape of the result for an empty stack.
        shape: Box<[usize]>,
        dtype: DType,
    },
    /// Stores the result in the slot of the first operand.
    InPlace {
        kernel: Kernel,
        target: u32,
        value: Src,
    },
    Combine(Srcs),
    Split(Src),
    Pass(Srcs),
    Input {
        name: String,
    },
    Fetch {
        name: String,
        value: Src,
    },
    Print {
        message: String,
        value: Src,
    },
    /// Symbols and the like.
    Nothing,
}

pub(crate) struct Instr {
    pub(crate) code: Code,
    pub(crate) results: Dst,
    pub(crate) op: OpId,
    /// The index of its execution counter.
    pub(crate) counter: u32,
    /// The group that starts here, if any.
    pub(super) group: Option<Box<Group>>,
    /// The operation if its result is one element.
    pub(super) single: Option<Single>,
    /// The chain that starts here, if any.
    pub(super) chain: Option<Box<Chain>>,
    /// What it does with the instructions behind it, if anything.
    pub(super) shortcut: Option<Shortcut>,
}

/// A place in a body: an instruction of a block.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct At {
    pub(crate) block: u32,
    pub(crate) pc: u32,
}

impl At {
    /// The beginning of a block.
    pub(super) fn start(block: u32) -> At {
        At { block, pc: 0 }
    }

    /// The next instruction.
    pub(super) fn next(self) -> At {
        At {
            pc: self.pc + 1,
            ..self
        }
    }
}

/// An operation whose regions run one after the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// Perhaps a region for what the branches take, and two branches.
    If,
    /// Perhaps a region for what the loop starts from, the condition, and the body.
    While,
}

impl Kind {
    /// That of operations with a name.
    pub(super) fn of(name: &str) -> Option<Kind> {
        match name {
            pd::If::NAME | pd::IfGrad::NAME | scf::IF => Some(Kind::If),
            pd::While::NAME | pd::WhileGrad::NAME | scf::WHILE => Some(Kind::While),
            _ => None,
        }
    }
}

/// What a region is for in its operation.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) enum Role {
    /// It is that of a function, or of the program.
    #[default]
    Root,
    Init,
    Branch,
    Cond,
    Body,
}

#[derive(Default)]
pub(crate) struct Block {
    pub(crate) args: SmallVec<[u32; 4]>,
    pub(crate) instrs: Vec<Instr>,
    /// The role of its region.
    pub(super) role: Role,
    /// The operation that has its region, if it is not the root.
    pub(super) around: At,
}

impl Code {
    /// The role of a region.
    fn role(&self, region: usize) -> Role {
        match self {
            Code::If { init: Some(_), .. } | Code::While { init: Some(_), .. } if region == 0 => Role::Init,
            Code::While { init, .. } if region == usize::from(init.is_some()) => Role::Cond,
            Code::While { .. } | Code::For { .. } | Code::Generate { .. } => Role::Body,
            _ => Role::Branch,
        }
    }
}

/// Notes for each block which operation has its region.
pub(super) fn nest(body: &Body, blocks: &mut [Block]) {
    for block in 0..blocks.len() {
        for pc in 0..blocks[block].instrs.len() {
            let Instr { op, code, .. } = &blocks[block].instrs[pc];
            let regions = body.op_regions(*op).iter().enumerate();
            let inside =
                regions.flat_map(|(at, &region)| body.region_blocks(region).iter().map(move |&inside| (at, inside)));
            let inside: SmallVec<[(Role, usize); 4]> =
                inside.map(|(at, inside)| (code.role(at), inside.index())).collect();
            for (role, inside) in inside {
                let around = At {
                    block: block as u32,
                    pc: pc as u32,
                };
                (blocks[inside].role, blocks[inside].around) = (role, around);
            }
        }
    }
}

/// A compiled body.
pub(crate) struct Program<'m> {
    pub(crate) body: &'m Body,
    pub(crate) blocks: Vec<Block>,
    pub(crate) entry: u32,
    pub(crate) slots: usize,
    /// Values of at most so many elements stay in their slots after their last use, so that the next one is written over them.
    pub(super) kept: usize,
}

/// The most elements of a value that is written over the last one of its slot. A larger one is rather written over an operand, which is in the
/// cache.
const LARGEST_KEPT: usize = 1 << 11;
/// The most bytes of values that are not needed any more.
const KEPT_BYTES: usize = 1 << 22;

/// How many elements the values may have that stay in so many slots.
pub(super) fn kept(slots: usize) -> usize {
    LARGEST_KEPT.min(KEPT_BYTES / size_of::<f64>() / slots.max(1))
}

impl Program<'_> {
    /// The instruction at a place.
    pub(super) fn instr(&self, at: At) -> Option<&Instr> {
        self.blocks[at.block as usize].instrs.get(at.pc as usize)
    }

    /// The slots of the arguments of a block.
    pub(super) fn args(&self, block: u32) -> &[u32] {
        &self.blocks[block as usize].args
    }
}

/// Consecutive elementwise operations.
pub(crate) struct Group {
    pub(super) flow: Flow,
    /// The minimal number of elements.
    pub(super) least: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_slots_keep_little() {
        assert_eq!(kept(0), LARGEST_KEPT);
        for slots in [1, 100, 1_000, 200_000, 10_000_000] {
            assert!(kept(slots) * size_of::<f64>() * slots <= KEPT_BYTES, "{slots}");
        }
    }
}
