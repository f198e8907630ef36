//! Rules about single nodes, messages and cycles.

use pir_ir::verify::compatible;
use pir_ir::{Body, Diagnostic, EffectKind, OpView, Traits};
use rustc_hash::FxHashMap;

use super::Rules;
use crate::df::graph::{Node, NodeKind};
use crate::df::is_stack;
use crate::pd::condition::is_condition;

/// Checks that the body of a graph is one block of nodes.
pub(super) fn shape(op: OpView<'_>, body: &Body, errors: &mut Vec<Diagnostic>) -> bool {
    let before = errors.len();
    let blocks = body.region_blocks(body.root());
    if blocks.len() != 1 || blocks.iter().any(|&b| !body.block_args(b).is_empty()) {
        errors.push(
            Diagnostic::error("graph-blocks", "a `df.graph` has one block, without arguments")
                .label(op.body.op_span(op.op), "here")
                .help("use `df.switch` and `df.merge` for control flow, not blocks, and `pd.data` for inputs"),
        );
        return false;
    }
    for inner in blocks.iter().flat_map(|&b| body.block_ops(b)) {
        let view = body.view(op.ctx, inner);
        let ends = view.has(Traits::TERMINATOR) || !body.successors(inner).is_empty();
        if ends || !body.op_regions(inner).is_empty() || body.isolated(inner).is_some() {
            errors.push(
                Diagnostic::error(
                    "graph-node",
                    format!(
                        "`{}` is not a node: it {}",
                        view.name(),
                        if ends { "ends a block" } else { "has regions" }
                    ),
                )
                .label(body.op_span(inner), "in a graph")
                .help(
                    "`lower-to-dataflow` lowers branches and loops to nodes; write the program without a graph, and \
                        lower it",
                ),
            );
        }
    }
    errors.len() == before
}

impl Rules<'_> {
    /// The rules about single nodes.
    pub(super) fn nodes(&mut self) {
        let graph = self.graph;
        for node in graph.nodes() {
            match graph.kind(node) {
                NodeKind::Switch => self.predicate(node, 1, "predicate"),
                NodeKind::LoopCond => self.predicate(node, 0, "operand"),
                NodeKind::Merge => self.merge(node),
                NodeKind::Enter => self.enter(node),
                NodeKind::Push | NodeKind::Pop => self.stack(node),
                _ => {}
            }
        }
    }

    fn view(&self, node: Node) -> OpView<'_> {
        self.body.view(self.ctx, self.graph.op(node))
    }

    fn predicate(&mut self, node: Node, at: usize, what: &str) {
        let Some(ty) = self.view(node).operand_type(at) else {
            return;
        };
        if !is_condition(self.ctx, ty) {
            let ty = pir_ir::text::print_type(self.ctx, ty);
            let message = format!(
                "the {what} of `{}` must be a single boolean, not `{ty}`",
                self.name(node)
            );
            self.error(
                node,
                "condition-type",
                message,
                "here",
                "a condition has type `i1`, `tensor<i1>` or `tensor<1xi1>`; compare, or reduce with `pd.all`",
            );
        }
    }

    fn merge(&mut self, node: Node) {
        let view = self.view(node);
        let result = view.result_type(0);
        let wrong = (0..self.graph.inputs(node).len()).find(|&at| {
            !(view.operand_type(at).zip(result)).is_some_and(|(ty, result)| compatible(self.ctx, ty, result))
        });
        if let Some(at) = wrong {
            let spelled = |ty: Option<_>| ty.map(|t| pir_ir::text::print_type(self.ctx, t)).unwrap_or_default();
            let message = format!(
                "operand {at} of `df.merge` has type `{}`, its result `{}`",
                spelled(view.operand_type(at)),
                spelled(result)
            );
            let help = "all operands must have the type of the result";
            self.error(node, "merge-type", message, "here", help);
        }
    }

    fn enter(&mut self, node: Node) {
        let view = self.view(node);
        let (named, parallel) = (
            view.str("frame").is_some_and(|f| !f.is_empty()),
            view.int("parallel_iterations"),
        );
        if !named {
            let message = "the name of a frame must not be empty".to_owned();
            let help = "name the frame of each loop: `{frame = \"while_0\"}`";
            self.error(node, "frame-name", message, "enters a frame without a name", help);
        }
        if let Some(parallel) = parallel.filter(|&n| n < 1) {
            let message = format!("`parallel_iterations` is {parallel}, so no iteration could run");
            let help = "`parallel_iterations` must be at least 1; 1 runs the iterations sequentially";
            self.error(node, "parallel-iterations", message, "here", help);
        }
    }

    fn stack(&mut self, node: Node) {
        if let Some(ty) = self.view(node).operand_type(0).filter(|&t| !is_stack(self.ctx, t)) {
            let ty = pir_ir::text::print_type(self.ctx, ty);
            let message = format!("the first operand of `{}` must be a stack, not `{ty}`", self.name(node));
            self.error(
                node,
                "graph-stack",
                message,
                "expects a `df.stack`",
                "`df.stack` creates stacks",
            );
        }
    }

    /// Messages between devices: each is sent once and received once, by the devices that it names.
    pub(super) fn messages(&mut self) {
        let graph = self.graph;
        let mut seen: FxHashMap<(bool, String), Node> = FxHashMap::default();
        for node in graph.nodes() {
            let sends = match graph.kind(node) {
                NodeKind::Send => true,
                NodeKind::Recv => false,
                _ => continue,
            };
            let view = self.view(node);
            let key = view.str("key").unwrap_or_default().to_owned();
            let (from, to) = (view.int("from"), view.int("to"));
            let here = if sends { from } else { to };
            if key.is_empty() {
                let message = "the key of a message must not be empty".to_owned();
                let help = "the key matches the two ends of a message";
                self.error(node, "message-key", message, "here", help);
            } else if seen.insert((sends, key.clone()), node).is_some() {
                let message = format!(
                    "two messages are {} with the key \"{key}\"",
                    if sends { "sent" } else { "received" }
                );
                let help = "give each message a unique key";
                self.error(node, "message-key", message, "the key is taken", help);
            }
            if from == to {
                let message = format!("`{}` sends from a device to itself", self.name(node));
                let help = "use the value directly if it stays on a device";
                self.error(node, "message-device", message, "here", help);
            } else if let Some(device) = self.device.filter(|&d| here != Some(d)) {
                let attr = if sends { "from" } else { "to" };
                let message = format!(
                    "`{}` names a device other than that of its graph, {device}",
                    self.name(node)
                );
                let help = format!("`{attr}` must be the device of its graph");
                self.error(node, "message-device", message, "here", &help);
            }
        }
    }

    /// Reports cycles without a back edge. Returns whether there are none.
    pub(super) fn cycles(&mut self) -> bool {
        let graph = self.graph;
        let cyclic = graph.cyclic();
        let Some(&first) = cyclic.first() else { return true };
        // Each of them has a predecessor among them, so following predecessors finds the cycle.
        let mut is_cyclic = vec![false; graph.len()];
        cyclic.iter().for_each(|n| is_cyclic[n.index()] = true);
        let mut seen = vec![false; graph.len()];
        let mut at = first;
        while !std::mem::replace(&mut seen[at.index()], true) {
            let data = (0_u32..).zip(graph.inputs(at));
            let data = data
                .filter(|&(input, _)| !graph.is_back_edge(at, input))
                .map(|(_, s)| s.node);
            match data
                .chain(graph.controls(at).iter().copied())
                .find(|n| is_cyclic[n.index()])
            {
                Some(before) => at = before,
                None => break,
            }
        }
        let message = format!("`{}` waits for itself", self.name(at));
        self.error(
            at,
            "graph-cycle",
            message,
            "on a cycle",
            "only an edge from a `df.next_iteration` to a `df.merge` may close a cycle",
        );
        false
    }

    /// Whether a node is an input or an output of the program.
    pub(super) fn is_outside(&self, node: Node) -> Option<bool> {
        if self.graph.kind(node) != NodeKind::Ordinary {
            return None;
        }
        let view = self.view(node);
        // Nothing is known about an unregistered operation.
        view.def()?;
        let effects = view.own_effects();
        let world = |kind| effects.iter().any(|e| e.kind == kind && e.target.is_shared());
        if world(EffectKind::Write) {
            return (self.body.num_results(self.graph.op(node)) == 0).then_some(false);
        }
        world(EffectKind::Read).then_some(true)
    }
}
