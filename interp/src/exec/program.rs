//! A compiled body: blocks of instructions on slots.

use pir_ir::{Body, OpId};
use smallvec::SmallVec;

use super::buffers::MemoryOp;
use super::chain::Chain;
use super::flow::Flow;
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
    CreateStack,
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
}

#[derive(Default)]
pub(crate) struct Block {
    pub(crate) args: SmallVec<[u32; 4]>,
    pub(crate) instrs: Vec<Instr>,
}

/// A compiled body.
pub(crate) struct Program<'m> {
    pub(crate) body: &'m Body,
    pub(crate) blocks: Vec<Block>,
    pub(crate) entry: u32,
    pub(crate) slots: usize,
}

impl Program<'_> {
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
