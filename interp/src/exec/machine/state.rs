//! The state of the machine.

use std::io::Write;

use pir_ir::Context;
use pir_ir::budget::Reservation;
use rustc_hash::FxHashMap;

use crate::exec::buffers::Buffers;
use crate::exec::chain::Registers;
use crate::exec::error::ExecError;
use crate::exec::memory::Memory;
use crate::exec::options::Options;
use crate::exec::profile::Clocks;
use crate::exec::program::{At, Program};
use crate::exec::stacks::Stacks;
use crate::exec::stats::Stats;
use crate::exec::value::{Moving, Value};
use crate::tensor::Tensor;

/// The activation of a body.
#[derive(Default)]
pub(super) struct Activation {
    pub(super) program: usize,
    pub(super) env: Vec<Value>,
    /// The next instruction. Regions need no stack: the operation around one is known.
    pub(super) at: At,
    /// The trip counts of the enclosing loops.
    pub(super) trips: Vec<u64>,
    /// The counters of the enclosing loops that count.
    pub(super) counters: Vec<Counter>,
    /// The tensors that regions are making elements of.
    pub(super) generating: Vec<Generating>,
    /// The buffers that are given back when the function returns.
    pub(super) allocas: Vec<u32>,
    /// The memory of the environment.
    pub(super) held: Reservation,
}

/// Where a loop that counts is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counter {
    pub(super) number: i64,
    pub(super) upper: i64,
    pub(super) step: i64,
}

pub(in crate::exec) struct Machine<'p, 'm, 'o> {
    pub(super) ctx: &'m Context,
    pub(super) programs: &'p [Program<'m>],
    /// The programs of functions, or why they cannot be run.
    pub(super) by_name: &'p FxHashMap<String, Result<usize, ExecError>>,
    pub(super) options: &'o Options,
    pub(super) out: &'o mut dyn Write,
    pub(super) calls: Vec<Activation>,
    /// Activations of returned calls, for reuse.
    pub(super) spare: Vec<Activation>,
    pub(super) stacks: Stacks,
    pub(super) buffers: Buffers,
    /// The buffers that the function was given, by the names of its arguments.
    pub(super) given: Vec<(String, Value)>,
    pub(super) counts: Vec<u64>,
    pub(super) names: Vec<String>,
    /// The clocks of the operations, if they are measured.
    pub(super) clocks: Option<Clocks>,
    pub(super) stats: Stats,
    /// The account of live memory, if there is a limit.
    pub(super) memory: Option<Memory>,
    pub(super) steps: u64,
    pub(super) fetched: Vec<(String, Tensor)>,
    /// The memory of the fetched list, without the tensors.
    pub(super) held: Reservation,
    /// The number of refused reservations before the run.
    pub(super) refused: u64,
    /// The registers of chains.
    pub(super) registers: Registers,
    /// A list for passing values, reused so that loops do not allocate.
    pub(super) scratch: Moving,
}

/// A tensor whose elements are being made.
pub(super) struct Generating {
    pub(super) result: Tensor,
    /// How many there are.
    pub(super) made: usize,
}
