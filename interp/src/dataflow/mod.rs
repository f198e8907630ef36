//! The dataflow executor.
//!
//! A `df.graph` has no order: a node runs when its inputs are there. A value that flows along an edge is a token: it is
//! live, with a value, or dead, which says that it is on a branch that was not taken; and it belongs to an iteration of a
//! frame, which is a loop that was entered from an iteration of the frame around it. A node runs at most once in an
//! iteration. Iterations of a loop overlap, as far as the loop allows.
//!
//! The graph is compiled to tables: every node has a place among the nodes of its frame, and an iteration is an array of
//! what has come for each of them. Frames are addressed by numbers. Only messages between devices have keys, since the
//! devices number their frames each in its own way.
//!
//! Devices share nothing but messages, the budget and the account of memory. They run as threads; with a seed they take
//! turns on one thread instead, at random, so that the same seed gives the same schedule.

mod compile;
mod compute;
mod device;
mod frame;
mod key;
mod memory;
mod ready;
mod report;
mod run;
mod shared;
mod stats;
mod trace;

use pir_ir::{Body, Module, OpId, Traits};

use crate::exec::{ExecError, InputSpec, entry, input_spec, top_level};
use crate::tensor::Tensor;

pub use run::run;
pub use stats::{DeviceStats, FrameStats, Stats};
pub use trace::{Event, Message};

/// How to run a graph.
#[derive(Clone, Debug, Default)]
pub struct Schedule {
    /// With a seed, nodes that are ready are picked at random, the same ones for the same seed. Without, they are run in
    /// the order in which they became ready, and devices are threads.
    pub seed: Option<u64>,
    /// Picks at random, but lets devices be threads all the same: what they do depends on the machine.
    pub threads: bool,
    /// Records what ran when.
    pub trace: bool,
    /// Counts the bytes that are live, for the statistics.
    pub count_memory: bool,
}

/// What a run gave.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What was fetched, by name, in the order of the text.
    pub fetched: Vec<(String, Tensor)>,
    /// The names of what was not fetched because it is on a branch that was not taken.
    pub dead: Vec<String>,
    /// Counts.
    pub stats: Stats,
    /// For each device what ran when, if that was asked for.
    pub events: Vec<(i64, Vec<Event>)>,
}

/// A graph in a program.
pub(crate) struct Found<'m> {
    pub(crate) body: &'m Body,
    pub(crate) device: i64,
}

/// The graphs of a program: those at top level, or those of the function.
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
            true => error.help("`pir-opt --pass=lower-to-dataflow` makes one of a structured program"),
            false => error.help("a graph is made of the operations at top level, not of functions"),
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
        if view.name() == "df.graph" {
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
        Some(op) if !found.is_empty() => Err(ExecError::new("it stands beside a `df.graph`, where it is not run")
            .help("put it inside")
            .at(ctx, body, op)),
        _ => Ok(found),
    }
}

/// Whether a program holds a graph to run.
pub fn has_graph(module: &Module, function: Option<&str>) -> bool {
    graphs(module, function).is_ok()
}

/// The inputs that the graphs of a program want, in order.
///
/// # Errors
/// When there is no graph.
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
