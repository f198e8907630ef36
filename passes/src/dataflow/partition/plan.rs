//! The messages between devices, and the devices that need a state machine for a loop.

use std::collections::{BTreeMap, BTreeSet};

use pir_dialects::df::graph::{FrameId, Graph, Node, NodeKind};
use pir_ir::{Body, Context, Diagnostic};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::dataflow::place::has_stack;

/// The part of a node that is sent.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum What {
    /// One of its results.
    Value(u32),
    /// The fact that it has run.
    Done,
}

/// A message that a device receives.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Message {
    pub(super) node: Node,
    pub(super) what: What,
    pub(super) to: u32,
}

/// The predecessor of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum After {
    /// A node of the same device.
    Here(Node),
    /// The receipt of a message.
    Received(Message),
    /// The running body of a loop, as signalled by the device's state machine.
    Machine(FrameId),
}

/// The order of receives of a device in a loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Gate {
    /// A merge of the loop.
    Merge(Node),
    /// The merge of the state machine.
    Machine,
}

/// The plan for one graph.
pub(super) struct Plan<'g> {
    pub(super) graph: &'g Graph,
    /// The device of each node.
    pub(super) device: Vec<u32>,
    /// The messages, with their keys.
    pub(super) messages: BTreeMap<Message, String>,
    /// The predecessors that replace control edges from other devices, by the node that they lead to and the node that they come from.
    after: FxHashMap<(Node, Node), After>,
    /// For each frame, the merge that its condition is computed from, on the same device.
    merges: Vec<Option<Node>>,
}

impl<'g> Plan<'g> {
    /// Plans a graph whose nodes all have a device. `keys` counts those of the module.
    pub(super) fn new(
        ctx: &Context,
        body: &Body,
        graph: &'g Graph,
        keys: &mut usize,
    ) -> Result<Plan<'g>, Box<Diagnostic>> {
        let device = |node| {
            let device = body.view(ctx, graph.op(node)).int("device");
            device.and_then(|d| u32::try_from(d).ok()).unwrap_or(0)
        };
        let device: Vec<u32> = graph.nodes().map(device).collect();
        let merges = graph
            .frames()
            .map(|frame| merge_of_condition(graph, &device, frame))
            .collect();
        let mut plan = Plan {
            graph,
            device,
            messages: BTreeMap::new(),
            after: FxHashMap::default(),
            merges,
        };
        let mut messages = BTreeSet::new();
        for node in graph.nodes() {
            let to = plan.device[node.index()];
            for source in graph.inputs(node) {
                if plan.device[source.node.index()] != to {
                    let what = What::Value(source.output);
                    let node = source.node;
                    messages.insert(Message { node, what, to });
                }
            }
        }
        plan.add(messages);
        plan.add_conditions(ctx, body)?;
        // A sent value also shows that its node has run, so tokens come last.
        let mut tokens = BTreeSet::new();
        let mut machines: Vec<(FrameId, u32)> = Vec::new();
        for node in graph.nodes() {
            for &from in graph.controls(node) {
                let after = plan.find_after(ctx, body, node, from);
                match after {
                    After::Here(_) => continue,
                    After::Received(message) => {
                        tokens.insert(message);
                    }
                    After::Machine(frame) => machines.push((frame, plan.device[node.index()])),
                }
                plan.after.insert((node, from), after);
            }
        }
        let more: BTreeSet<Message> = tokens.into_iter().filter(|m| !plan.messages.contains_key(m)).collect();
        plan.add(more);
        for (frame, to) in machines {
            plan.add_condition(frame, to);
        }
        plan.add_conditions(ctx, body)?;
        for (message, key) in &mut plan.messages {
            let op = graph.op(message.node);
            let output = match message.what {
                What::Value(output) => output as usize,
                What::Done => 0,
            };
            let name = body.results(op).nth(output).and_then(|v| body.value_name(v));
            let name = name.map_or("value".into(), |n| ctx.name_text(n.name));
            let before = match message.what {
                What::Value(_) => "",
                What::Done => "after_",
            };
            *key = format!("{before}{name}_{keys}");
            *keys += 1;
        }
        Ok(plan)
    }

    fn add(&mut self, messages: BTreeSet<Message>) {
        let messages = messages.into_iter().map(|m| (m, String::new()));
        self.messages.extend(messages);
    }

    /// The predecessor of the receives of a loop on a device.
    pub(super) fn gate(&self, frame: FrameId, device: u32) -> Gate {
        let merge = self.merges[frame.index()];
        match merge.filter(|m| self.device[m.index()] == device) {
            Some(merge) => Gate::Merge(merge),
            None => Gate::Machine,
        }
    }

    /// The condition of a loop is sent to a state machine on another device.
    fn add_condition(&mut self, frame: FrameId, to: u32) {
        if let Some(node) = self.graph.loop_cond(frame)
            && self.device[node.index()] != to
        {
            let what = What::Value(0);
            self.messages.entry(Message { node, what, to }).or_default();
        }
    }

    /// Adds the conditions of all loops that a device receives something in, and of those around them.
    fn add_conditions(&mut self, ctx: &Context, body: &Body) -> Result<(), Box<Diagnostic>> {
        let places = self
            .messages
            .keys()
            .map(|m| (self.graph.output_frame(m.node), m.to, m.node));
        let mut pending: Vec<(FrameId, u32, Node)> = places.collect();
        let mut seen: FxHashSet<(FrameId, u32)> = FxHashSet::default();
        while let Some((frame, to, of)) = pending.pop() {
            let Some(parent) = self.graph.parent(frame) else {
                continue;
            };
            if self.gate(frame, to) != Gate::Machine || !seen.insert((frame, to)) {
                continue;
            }
            if self.graph.loop_cond(frame).is_none() {
                let name = self.graph.frame_name(frame).map_or("", |n| ctx.str(n));
                let message = format!("the frame `{name}` is on several devices and has no `df.loop_cond`");
                let span = body.op_span(self.graph.op(of));
                let error = Diagnostic::error("df-no-condition", message).label(span, "this is sent within it");
                return Err(Box::new(error.help(
                    "`df.loop_cond` determines on each device whether there is another iteration",
                )));
            }
            self.add_condition(frame, to);
            pending.push((parent, to, of));
        }
        Ok(())
    }

    /// How a node waits for another one, as required by a control edge.
    pub(super) fn after(&self, node: Node, from: Node) -> After {
        self.after.get(&(node, from)).copied().unwrap_or(After::Here(from))
    }

    fn find_after(&self, ctx: &Context, body: &Body, node: Node, from: Node) -> After {
        let to = self.device[node.index()];
        if self.device[from.index()] == to {
            return After::Here(from);
        }
        let frame = self.graph.output_frame(from);
        if self.is_untimed(ctx, body, node) && self.is_pivot(from) && self.gate(frame, to) == Gate::Machine {
            return After::Machine(frame);
        }
        // The control edges of a switch are never dead, its results are.
        let values = Message {
            node: from,
            what: What::Value(0),
            to: 0,
        };
        let mut sent = self.messages.range(values..).map(|(m, _)| *m);
        let sent = sent
            .by_ref()
            .take_while(|m| m.node == from)
            .find(|m| m.to == to && m.what != What::Done);
        let sent = sent.filter(|_| self.graph.kind(from) != NodeKind::Switch);
        let what = sent.map_or(What::Done, |m| m.what);
        After::Received(Message { node: from, what, to })
    }

    /// Whether it makes no difference when a node runs, but only whether it does: a constant, and what brings a value into a
    /// loop. What only orders others is not among them.
    fn is_untimed(&self, ctx: &Context, body: &Body, node: Node) -> bool {
        let op = self.graph.op(node);
        match self.graph.kind(node) {
            NodeKind::Enter => self.graph.is_constant_enter(node) && !has_stack(ctx, body, op),
            NodeKind::Ordinary => body.num_operands(op) == 0 && body.view(ctx, op).own_effects().is_empty(),
            _ => false,
        }
    }

    /// Whether a node is alive exactly if the body of its loop is run.
    fn is_pivot(&self, node: Node) -> bool {
        let graph = self.graph;
        let condition = graph.loop_cond(graph.output_frame(node));
        if graph.kind(node) != NodeKind::Identity || !graph.controls(node).is_empty() || condition.is_none() {
            return false;
        }
        let Some(switch) = graph.inputs(node).first().filter(|s| s.output == 1) else {
            return false;
        };
        match graph.inputs(switch.node) {
            [data, predicate] => {
                graph.kind(switch.node) == NodeKind::Switch
                    && graph.is_loop_merge(data.node)
                    && Some(predicate.node) == condition
                    && graph.controls(switch.node).is_empty()
            }
            _ => false,
        }
    }
}

/// A merge of a loop on the device of its condition: one that the condition is computed from, if there is one, since
/// iterations do not start later for waiting for it.
fn merge_of_condition(graph: &Graph, device: &[u32], frame: FrameId) -> Option<Node> {
    let condition = graph.loop_cond(frame)?;
    let here = |node: Node| device[node.index()] == device[condition.index()] && graph.is_loop_merge(node);
    let mut seen: FxHashSet<Node> = FxHashSet::default();
    let mut order = vec![condition];
    let mut at = 0;
    while let Some(&node) = order.get(at) {
        at += 1;
        if here(node) && graph.frame_of(node) == frame {
            return Some(node);
        }
        if graph.is_loop_merge(node) {
            continue;
        }
        let data = graph.inputs(node).iter().map(|s| s.node);
        for next in data.chain(graph.controls(node).iter().copied()) {
            if graph.output_frame(next) == frame && graph.frame_of(next) == frame && seen.insert(next) {
                order.push(next);
            }
        }
    }
    graph.frame_nodes(frame).iter().copied().find(|&n| here(n))
}
