//! The stacks of a graph, with the nodes that push on them and pop from them.

use petgraph::unionfind::UnionFind;
use pir_dialects::df;
use pir_dialects::df::graph::{Graph, Node, NodeKind};
use pir_ir::{Body, Context};

/// A stack, or several that the handles do not distinguish.
#[derive(Clone, Default, Debug)]
pub(super) struct Tape {
    /// The nodes that make the stacks.
    pub(super) made: Vec<Node>,
    /// The nodes that push.
    pub(super) pushes: Vec<Node>,
    /// The nodes that pop.
    pub(super) pops: Vec<Node>,
}

/// The stacks of a graph, in the order of the text.
pub(super) fn find(ctx: &Context, body: &Body, graph: &Graph) -> Vec<Tape> {
    let mut joined = UnionFind::<usize>::new(graph.len());
    for node in graph.nodes() {
        // A node that only looks like a reader of two stacks: a push of a handle on a stack of stacks joins them, which is safe.
        for (operand, source) in body.operands(graph.op(node)).zip(graph.inputs(node)) {
            if df::is_stack(ctx, body.value_type(operand)) {
                joined.union(node.index(), source.node.index());
            }
        }
    }
    let mut numbers = vec![None; graph.len()];
    let mut tapes: Vec<Tape> = Vec::new();
    for node in graph.nodes() {
        let kind = graph.kind(node);
        if !matches!(kind, NodeKind::Stack | NodeKind::Push | NodeKind::Pop) {
            continue;
        }
        let at = *numbers[joined.find_mut(node.index())].get_or_insert_with(|| {
            tapes.push(Tape::default());
            tapes.len() - 1
        });
        let tape = &mut tapes[at];
        match kind {
            NodeKind::Stack => tape.made.push(node),
            NodeKind::Push => tape.pushes.push(node),
            _ => tape.pops.push(node),
        }
    }
    tapes
}
