//! Nodes that must be on the same device.
//!
//! An enter and a next-iteration are on the device of their merge, a switch is on that of what makes its data, an exit on
//! that of its switch, and all that has a stack for an operand or a result is on one device. Constant enters belong to no
//! group: each device that reads one gets its own.

use petgraph::unionfind::UnionFind;
use pir_dialects::df;
use pir_dialects::df::graph::{Graph, Node, NodeKind};
use pir_ir::{Body, Context, OpId};

/// Nodes grouped by device.
pub(super) struct Groups {
    /// The group of each node; nothing for constant enters.
    pub(super) of: Vec<Option<u32>>,
    /// The device that is requested, for each group.
    pub(super) asked: Vec<Option<u32>>,
}

/// Whether each device that reads the node gets a copy.
pub(super) fn is_copied(ctx: &Context, body: &Body, graph: &Graph, node: Node) -> bool {
    graph.is_constant_enter(node) && !has_stack(ctx, body, graph.op(node))
}

/// Whether an operand or a result is a stack.
pub(in crate::dataflow) fn has_stack(ctx: &Context, body: &Body, op: OpId) -> bool {
    let mut values = body.operands(op).chain(body.results(op));
    values.any(|v| df::is_stack(ctx, body.value_type(v)))
}

/// Puts the nodes of a graph in groups; `asked` gives the device that was requested for a node.
pub(super) fn find(ctx: &Context, body: &Body, graph: &Graph, asked: impl Fn(Node) -> Option<u32>) -> Groups {
    let copied: Vec<bool> = graph.nodes().map(|n| is_copied(ctx, body, graph, n)).collect();
    let mut joined = UnionFind::<usize>::new(graph.len());
    // Nodes that follow others determine the device of a group only if nothing else does.
    let mut follows = vec![false; graph.len()];
    for node in graph.nodes().filter(|n| !copied[n.index()]) {
        match graph.kind(node) {
            NodeKind::Enter | NodeKind::NextIteration => {
                for merge in graph
                    .consumers(node)
                    .iter()
                    .filter(|c| graph.kind(c.node) == NodeKind::Merge)
                {
                    joined.union(node.index(), merge.node.index());
                    follows[node.index()] = true;
                }
            }
            NodeKind::Switch | NodeKind::Exit => {
                let data = graph.inputs(node).first().map(|s| s.node);
                let is_exit = graph.kind(node) == NodeKind::Exit;
                if let Some(data) =
                    data.filter(|&d| !copied[d.index()] && (!is_exit || graph.kind(d) == NodeKind::Switch))
                {
                    joined.union(node.index(), data.index());
                    follows[node.index()] = true;
                }
            }
            _ => {}
        }
        for (operand, source) in body.operands(graph.op(node)).zip(graph.inputs(node)) {
            if df::is_stack(ctx, body.value_type(operand)) {
                joined.union(node.index(), source.node.index());
                follows[node.index()] |= graph.kind(node) != NodeKind::Stack;
            }
        }
    }
    let mut numbers = vec![None; graph.len()];
    let mut groups = Groups {
        of: vec![None; graph.len()],
        asked: Vec::new(),
    };
    for leads in [true, false] {
        for node in graph.nodes().filter(|n| !copied[n.index()]) {
            let number = *numbers[joined.find_mut(node.index())].get_or_insert_with(|| {
                groups.asked.push(None);
                groups.asked.len() as u32 - 1
            });
            groups.of[node.index()] = Some(number);
            if leads != follows[node.index()] {
                let device = &mut groups.asked[number as usize];
                *device = device.or_else(|| asked(node));
            }
        }
    }
    groups
}
