//! The rules of graphs, each with its own code, message and help.
//!
//! An executor trusts the graph: breaking one of these rules causes a deadlock, an endless loop or wrong values without
//! an error. All rules are checked on the whole graph, in time linear in its size: first those about single nodes, then
//! cycles, frames and liveness, and finally the messages between the graphs of several devices. Rules that depend on
//! others are not checked where those are violated.

mod alive;
mod devices;
mod frames;
mod nodes;

use pir_ir::{Body, Context, Diagnostic, OpId, OpView};

use super::graph::{FrameId, Graph, Node, NodeKind, Source};

/// Stop after this many errors.
const MAX_ERRORS: usize = 100;

/// Verifies a graph.
pub(super) fn graph(op: OpView<'_>, errors: &mut Vec<Diagnostic>) {
    let Some(body) = op.body.isolated(op.op) else { return };
    if !nodes::shape(op, body, errors) {
        return;
    }
    // An operand that is not the result of a node has been reported.
    let Some(graph) = Graph::new(op.ctx, body) else { return };
    let mut repeats = vec![false; graph.frames().len()];
    for node in graph.nodes().filter(|&n| graph.kind(n) == NodeKind::NextIteration) {
        repeats[graph.frame_of(node).index()] = true;
    }
    let mut rules = Rules {
        ctx: op.ctx,
        body,
        graph: &graph,
        device: op.int("device"),
        repeats,
        errors: Vec::new(),
    };
    rules.check();
    rules.errors.truncate(MAX_ERRORS);
    errors.append(&mut rules.errors);
    devices::agree(op, errors);
}

struct Rules<'a> {
    ctx: &'a Context,
    body: &'a Body,
    graph: &'a Graph,
    /// The device of the graph, if it has one.
    device: Option<i64>,
    /// Whether a frame may have more than one iteration.
    repeats: Vec<bool>,
    errors: Vec<Diagnostic>,
}

impl Rules<'_> {
    fn check(&mut self) {
        self.nodes();
        self.messages();
        if !self.cycles() {
            return;
        }
        let before = self.errors.len();
        self.edges();
        self.frames();
        if self.errors.len() == before {
            self.constants();
            self.branches();
        }
    }

    fn error(&mut self, at: Node, code: &'static str, message: String, label: &str, help: &str) {
        self.error_at(self.graph.op(at), code, message, label, help);
    }

    fn error_at(&mut self, op: OpId, code: &'static str, message: String, label: &str, help: &str) {
        self.errors.push(
            Diagnostic::error(code, message)
                .label(self.body.op_span(op), label)
                .help(help),
        );
    }

    fn name(&self, node: Node) -> &str {
        self.ctx.op_str(self.body.op_name(self.graph.op(node)))
    }

    fn frame(&self, frame: FrameId) -> String {
        match self.graph.frame_name(frame) {
            Some(name) => format!("the frame \"{}\"", self.ctx.str(name)),
            None => "no loop".to_owned(),
        }
    }

    /// A value in messages.
    fn value(&self, source: Source) -> String {
        let op = self.graph.op(source.node);
        let value = self.body.results(op).nth(source.output as usize);
        match value.and_then(|v| self.body.value_name(v)) {
            Some(name) => format!("`%{}`", self.ctx.name_text(name.name)),
            None => format!("the result of `{}`", self.name(source.node)),
        }
    }
}
