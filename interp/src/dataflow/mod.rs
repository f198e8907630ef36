//! The dataflow executor.
//!
//! The nodes of a `df.graph` are not ordered: a node runs when its inputs have arrived. A value that flows along an
//! edge is a token. It is either live, with a value, or dead, if it is on a branch that was not taken; and it belongs
//! to an iteration of a frame, which is a loop that was entered from an iteration of the parent frame. A node runs at
//! most once per iteration. Iterations of a loop overlap, as far as the loop allows.
//!
//! The graph is compiled to tables: every node has an index in its frame, and an iteration is an array of the nodes'
//! inputs. Frames are addressed by index. Only messages between devices have keys, since each device numbers frames
//! differently.
//!
//! Devices share only messages, the budget and the account of memory. There are as many threads as devices, and each runs
//! whichever device has work; with a seed devices take turns at random on one thread instead, so that the same seed gives
//! the same schedule.

mod compile;
mod compute;
mod deliver;
mod device;
mod frame;
mod key;
mod memory;
mod ready;
mod report;
mod run;
mod segments;
mod shared;
mod stats;
mod straight;
mod trace;

use pir_dialects::df;
use pir_ir::{Body, Module, OpId, Traits};

use crate::exec::{ExecError, InputSpec, entry, input_spec, top_level};
use crate::tensor::Tensor;

pub use run::run;
pub use stats::{DeviceStats, FrameStats, Stats};
pub use trace::{Event, Message};

/// How a graph is scheduled.
#[derive(Clone, Debug, Default)]
pub struct Schedule {
    /// With a seed, ready nodes are picked in a pseudo-random order. Without, they run in the order in which they
    /// became ready, and devices are threads.
    pub seed: Option<u64>,
    /// With a seed, still runs devices as threads: the schedule then depends on the machine.
    pub threads: bool,
    /// Records an execution trace.
    pub trace: bool,
    /// Counts live bytes for the statistics.
    pub count_memory: bool,
    /// Runs each node by itself, as is done whenever bytes are counted or a trace is recorded. Otherwise, nodes that can
    /// run one after the other without waiting do so.
    pub by_node: bool,
}

/// The result of a run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The fetched values by name, in the order of the text.
    pub fetched: Vec<(String, Tensor)>,
    /// The names of fetches that were dead, on a branch that was not taken.
    pub dead: Vec<String>,
    /// Execution statistics.
    pub stats: Stats,
    /// The trace of each device, if it was requested.
    pub events: Vec<(i64, Vec<Event>)>,
}

/// A graph in a program.
pub(crate) struct Found<'m> {
    pub(crate) body: &'m Body,
    pub(crate) device: i64,
}

/// The graphs of a program: at top level, or in the function.
fn graphs<'m>(module: &'m Module, function: Option<&str>) -> Result<Vec<Found<'m>>, ExecError> {
    let ctx = &*module.ctx;
    let scope = top_level(module);
    let mut found = match function {
        None => graphs_in(module, scope)?,
        Some(_) => Vec::new(),
    };
    if found.is_empty() {
        found = graphs_in(module, entry(module, function)?.body)?;
    }
    for (at, graph) in found.iter().enumerate() {
        if found[..at].iter().any(|other| other.device == graph.device) {
            return Err(ExecError::new(format!(
                "there are two graphs for device {}",
                graph.device
            )));
        }
    }
    if found.is_empty() {
        let error = ExecError::new("there is no `df.graph` to run");
        return Err(match crate::exec::functions(ctx, scope).is_empty() {
            true => error.help("`pir-opt --pass=lower-to-dataflow` creates one from a structured program"),
            false => error.help("a graph is created from the operations at top level, not from functions"),
        });
    }
    Ok(found)
}

fn module_block(body: &Body) -> Result<pir_ir::BlockId, ExecError> {
    body.entry_block(body.root())
        .ok_or_else(|| ExecError::new("the program has no operations"))
}

fn graphs_in<'m>(module: &Module, body: &'m Body) -> Result<Vec<Found<'m>>, ExecError> {
    let ctx = &*module.ctx;
    let block = module_block(body)?;
    let mut found: Vec<Found<'m>> = Vec::new();
    let mut beside: Option<OpId> = None;
    for op in body.block_ops(block) {
        let view = body.view(ctx, op);
        if view.name() == df::GRAPH {
            let graph = body.isolated(op).ok_or_else(|| ExecError::new("the graph is empty"))?;
            found.push(Found {
                body: graph,
                device: view.int("device").unwrap_or(0),
            });
        } else if body.isolated(op).is_none() && !view.has(Traits::SYMBOL) && !view.has(Traits::TERMINATOR) {
            beside.get_or_insert(op);
        }
    }
    match beside {
        Some(op) if !found.is_empty() => Err(ExecError::new("it is outside of the `df.graph`, so it does not run")
            .help("move it into the graph")
            .at(ctx, body, op)),
        _ => Ok(found),
    }
}

/// Whether a program contains a graph.
pub fn has_graph(module: &Module, function: Option<&str>) -> bool {
    graphs(module, function).is_ok()
}

/// The inputs of a program's graphs, in order.
///
/// # Errors
/// If there is no graph.
pub fn inputs_of(module: &Module, function: Option<&str>) -> Result<Vec<InputSpec>, ExecError> {
    let ctx = &*module.ctx;
    let mut inputs: Vec<InputSpec> = Vec::new();
    for graph in graphs(module, function)? {
        for op in graph.body.walk_all() {
            if let Some(input) = input_spec(ctx, graph.body, op)
                && !inputs.iter().any(|other| other.name == input.name)
            {
                inputs.push(input);
            }
        }
    }
    Ok(inputs)
}
