//! The slots of loops: which merges and switches are arguments and results of the program.
//!
//! `lower-to-dataflow` adds loop-carried tokens that only represent order. Such a slot is idle: it starts from a
//! separate constant, and only operations that forward it use it. It is dropped, since program order implies it.

use pir_dialects::df::graph::{FrameId, Graph, Node, NodeKind};
use rustc_hash::FxHashSet;

use super::is_constant;
use super::shape::Shape;

/// The slots of one loop.
#[derive(Default, Debug)]
pub(super) struct FrameSlots {
    /// The merges, which are the arguments of the condition.
    pub(super) merges: Vec<Node>,
    /// The switches by the condition, which are what that forwards.
    pub(super) switches: Vec<Node>,
}

/// The slots of all loops.
pub(super) struct Slots {
    frames: Vec<FrameSlots>,
    unused: FxHashSet<Node>,
}

impl Slots {
    pub(super) fn new(shape: &Shape<'_>) -> Self {
        let graph = shape.graph;
        let mut frames: Vec<FrameSlots> = graph.frames().map(|_| FrameSlots::default()).collect();
        let mut idle: FxHashSet<Node> = FxHashSet::default();
        let mut unused: FxHashSet<Node> = FxHashSet::default();
        for node in graph.nodes().filter(|&n| graph.is_loop_merge(n)) {
            match carried_for_nothing(shape, node) {
                Some((switch, start)) => {
                    idle.extend([node, switch]);
                    unused.insert(start);
                }
                None => frames[graph.frame_of(node).index()].merges.push(node),
            }
        }
        for node in graph.nodes().filter(|&n| shape.is_loop_switch(n) && !idle.contains(&n)) {
            let exits = graph.consumers(node).iter().any(|c| c.output == 0);
            if exits || is_used(graph, node) {
                frames[graph.frame_of(node).index()].switches.push(node);
            }
        }
        Slots { frames, unused }
    }

    pub(super) fn of(&self, frame: FrameId) -> &FrameSlots {
        &self.frames[frame.index()]
    }

    /// Whether a constant is but what an idle slot starts with.
    pub(super) fn is_unused(&self, node: Node) -> bool {
        self.unused.contains(&node)
    }
}

/// Whether the live result of a switch has uses other than an unused identity.
fn is_used(graph: &Graph, switch: Node) -> bool {
    let mut pending: Vec<Node> = Vec::new();
    let next = |consumers: &mut dyn Iterator<Item = Node>, pending: &mut Vec<Node>| {
        for node in consumers {
            if graph.kind(node) != NodeKind::Identity {
                return true;
            }
            pending.push(node);
        }
        false
    };
    if next(
        &mut graph.consumers(switch).iter().filter(|c| c.output == 1).map(|c| c.node),
        &mut pending,
    ) {
        return true;
    }
    while let Some(node) = pending.pop() {
        if next(&mut graph.consumers(node).iter().map(|c| c.node), &mut pending) {
            return true;
        }
    }
    false
}

/// If the value of a slot is only forwarded from iteration to iteration: its switch, and its constant initial value.
fn carried_for_nothing(shape: &Shape<'_>, merge: Node) -> Option<(Node, Node)> {
    let graph = shape.graph;
    let enter = graph
        .inputs(merge)
        .iter()
        .find(|s| graph.kind(s.node) == NodeKind::Enter)?;
    let start = graph.inputs(enter.node).first()?.node;
    if !is_constant(shape.ctx(), shape.body(), graph.op(start)) || graph.consumers(start).len() != 1 {
        return None;
    }
    let mut switch = None;
    let mut back = false;
    let mut pending = vec![merge];
    while let Some(node) = pending.pop() {
        for consumer in graph.consumers(node) {
            let next = consumer.node;
            match graph.kind(next) {
                NodeKind::Identity => pending.push(next),
                NodeKind::Switch
                    if shape.is_loop_switch(next) && consumer.input == 0 && switch.is_none_or(|s| s == next) =>
                {
                    switch = Some(next);
                    pending.push(next);
                }
                NodeKind::Exit if graph.consumers(next).is_empty() => {}
                NodeKind::NextIteration if graph.consumers(next).iter().all(|c| c.node == merge) => back = true,
                _ => return None,
            }
        }
    }
    switch.filter(|_| back).map(|switch| (switch, start))
}
