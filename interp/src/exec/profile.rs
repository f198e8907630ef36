//! Where the time of a run goes: [`Options::profile`](super::Options::profile).
//!
//! Each kernel is wrapped in a clock when it is compiled, so that a run without a profile has nothing to pay. Operations are
//! measured one by one: none are fused, and none take the shortcuts of small tensors.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use pir_ir::{Body, Context, OpId, Span};
use rustc_hash::FxHashMap;

use super::program::{Code, Program};
use super::stats::LoopStats;
use crate::kernels::{Inputs, Kernel, flops};
use crate::tensor::{DType, Tensor};

/// The measurements of an operation.
#[derive(Default, Debug)]
pub(crate) struct Clock {
    calls: AtomicU64,
    nanos: AtomicU64,
    bytes: AtomicU64,
    flops: AtomicU64,
}

/// The clocks of the operations of all bodies, by the address of the body.
#[derive(Default, Debug)]
pub(crate) struct Clocks(FxHashMap<(usize, OpId), Arc<Clock>>);

impl Clocks {
    /// The kernel, measured.
    pub(crate) fn measured(&mut self, body: &Body, op: OpId, kernel: Kernel) -> Kernel {
        let clock = Arc::clone(self.0.entry((std::ptr::from_ref(body).addr(), op)).or_default());
        Box::new(move |inputs: Inputs| {
            let size = |tensors: &[Tensor]| tensors.iter().map(|tensor| tensor.bytes() as u64).sum::<u64>();
            let (read, before) = (size(&inputs), flops());
            let start = Instant::now();
            let results = kernel(inputs);
            let nanos = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
            let written = results.as_ref().map_or(0, |results| size(results));
            for (counter, more) in [
                (&clock.calls, 1),
                (&clock.nanos, nanos),
                (&clock.bytes, read + written),
                (&clock.flops, flops() - before),
            ] {
                counter.fetch_add(more, Relaxed);
            }
            results
        })
    }

    /// The profile of a run of these programs, which took `total`.
    pub(super) fn profile(
        &self,
        ctx: &Context,
        programs: &[(&str, &Program<'_>)],
        loops: &[LoopStats],
        total: Duration,
    ) -> Profile {
        let mut rows: Vec<Row> = Vec::new();
        for &(name, program) in programs {
            let body = program.body;
            let top = rows.len();
            rows.push(Row {
                op: name.to_owned(),
                ..Row::default()
            });
            let mut iterations = FxHashMap::default();
            for instr in program.blocks.iter().flat_map(|block| &block.instrs) {
                if let Code::While { stats, .. } | Code::For { stats, .. } = instr.code {
                    iterations.insert(instr.op, loops.get(stats as usize).map_or(0, |l| l.iterations));
                }
            }
            let mut row_of = FxHashMap::default();
            for op in body.walk_all() {
                let clock = self.0.get(&(std::ptr::from_ref(body).addr(), op));
                if clock.is_none() && body.op_regions(op).is_empty() {
                    continue;
                }
                let get = |of: fn(&Clock) -> &AtomicU64| clock.map_or(0, |clock| of(clock).load(Relaxed));
                let result = body.results(op).next();
                let parent = body.parent_op(op).and_then(|parent| row_of.get(&parent).copied());
                row_of.insert(op, rows.len());
                rows.push(Row {
                    op: ctx.op_str(body.op_name(op)).to_owned(),
                    name: result.and_then(|value| Some(ctx.name_text(body.value_name(value)?.name).into())),
                    span: Some(body.op_span(op)),
                    parent: Some(parent.unwrap_or(top)),
                    iterations: iterations.get(&op).copied(),
                    calls: get(|clock| &clock.calls),
                    time: Duration::from_nanos(get(|clock| &clock.nanos)),
                    bytes: get(|clock| &clock.bytes),
                    flops: get(|clock| &clock.flops),
                    is_double: result
                        .is_some_and(|value| crate::kernels::dtype_of(ctx, body.value_type(value)) == Some(DType::F64)),
                    inside: Duration::ZERO,
                });
            }
        }
        // Inner rows follow outer ones.
        for at in (0..rows.len()).rev() {
            let (time, own) = (rows[at].inside, rows[at].time);
            rows[at].inside = time + own;
            if let Some(parent) = rows[at].parent {
                rows[parent].inside += time + own;
            }
        }
        Profile { rows, total }
    }
}

/// The operations of a program, and what each took.
#[derive(Clone, Debug)]
pub struct Profile {
    /// The functions, loops, branches and operations in the order of the program, outer ones before inner ones.
    pub rows: Vec<Row>,
    /// The time of the run: beside the operations, it has that of control flow, stacks and buffers.
    pub total: Duration,
}

/// An operation, or a function.
#[derive(Clone, Default, Debug)]
pub struct Row {
    /// The name of the operation, or of the function with `@`.
    pub op: String,
    /// The name of its first result.
    pub name: Option<String>,
    /// Its place; functions have none.
    pub span: Option<Span>,
    /// The row of the operation or function that it is in.
    pub parent: Option<usize>,
    /// For a loop: the number of iterations.
    pub iterations: Option<u64>,
    /// How often its kernel was called.
    pub calls: u64,
    /// The time in its kernel.
    pub time: Duration,
    /// The time in its kernel and those of the operations inside.
    pub inside: Duration,
    /// The bytes of its operands and results, of all calls.
    pub bytes: u64,
    /// The additions and multiplications of products and convolutions, of all calls; others are not counted.
    pub flops: u64,
    /// Whether its first result holds `f64`.
    pub is_double: bool,
}
