//! Passes on programs in dataflow form, `df.graph`.

mod lower;
mod partition;
mod place;
mod raise;
mod shrink;
mod stacks;
mod swap;
mod view;

use pir_dialects::df;
use pir_dialects::marks::DEVICE;
use pir_ir::{Body, Context, Diagnostic, Module, OpId};

use crate::bodies::atomically;

pub use lower::LowerToDataflow;
pub use partition::Partition;
pub use place::Place;
pub use raise::RaiseFromDataflow;
pub use shrink::ShrinkStacks;
pub use swap::SwapStacks;
pub use view::ViewGraph;

/// Which graphs a pass is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    /// All.
    All,
    /// Graphs that are not split by device.
    Whole,
}

/// Runs `f` on graphs: on the body that contains one, and the operation. If it fails for one, none is changed.
fn for_each_graph(
    module: &mut Module,
    which: Which,
    f: impl FnMut(&Context, &mut Body, OpId) -> Result<(), Box<Diagnostic>>,
) -> Result<(), Vec<Diagnostic>> {
    atomically(module, |module| visit_graphs(module, which, f))
}

fn visit_graphs(
    module: &mut Module,
    which: Which,
    mut f: impl FnMut(&Context, &mut Body, OpId) -> Result<(), Box<Diagnostic>>,
) -> Result<(), Vec<Diagnostic>> {
    let ctx = module.ctx.clone();
    let mut errors = Vec::new();
    let mut pending = vec![&mut module.body];
    while let Some(body) = pending.pop() {
        let is_graph = |op: &OpId| ctx.op_str(body.op_name(*op)) == df::GRAPH && body.isolated(*op).is_some();
        let is_meant = |op: &OpId| which == Which::All || DEVICE.get(&ctx, body.attrs(*op)).is_none();
        let graphs: Vec<OpId> = body.walk_all().filter(is_graph).filter(is_meant).collect();
        for graph in graphs {
            if let Err(error) = f(&ctx, body, graph) {
                errors.push(*error);
            }
        }
        let inner = body.isolated_ops_mut();
        pending.extend(
            inner
                .filter(|(_, name, _)| ctx.op_str(*name) != df::GRAPH)
                .map(|(_, _, body)| body),
        );
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}
