//! Reads graphs: a `GraphDef` becomes a `df.graph`, or a structured program if it has no control flow.
//!
//! Operands in TensorFlow that are attributes in the dialect `pd` (axes, shapes) are read from constants, which become
//! operations only where something else reads them. Shapes are inferred from the operations, starting at the
//! placeholders.

mod arrays;
mod bounds;
mod build;
mod composed;
mod const_operands;
mod constants;
mod contract;
mod controls;
mod custom;
mod detection;
mod devices;
mod expressions;
mod fold;
mod functions;
mod images;
mod known;
mod library;
mod lists;
mod matrix;
mod nested;
mod nn;
mod node;
mod ops;
mod places;
mod quantize;
mod random;
mod reader;
mod resize;
mod roots;
mod row;
mod scope;
mod select;
mod sets;
mod signature;
mod slices;
mod slopes;
mod sparse;
mod special;
mod spectrum;
mod stacks;
mod switches;
mod volumes;
mod windows;

use pir_dialects::df;
use std::rc::Rc;
use std::sync::Arc;

use pir_ir::budget::Reservation;
use pir_ir::{Context, Diagnostic, Module, OpSpec, Span};
use prost::Message;
use rustc_hash::FxHashMap;

use super::Options;
use super::proto::{FunctionDef, GraphDef, NodeDef};
use crate::schemas;
use crate::wire;
use reader::{Input, Reader, Result, Seen};
use scope::Scope;

/// Reads a message.
pub(super) fn read(
    ctx: &Arc<Context>,
    source: &[u8],
    options: &Options,
) -> std::result::Result<Module, Vec<Diagnostic>> {
    let mut held = Reservation::default();
    let faults = wire::check(source, &schemas::GRAPH, &mut held);
    if !faults.is_empty() {
        let tell = |f: wire::Fault| {
            error(format!(
                "this is not a TensorFlow graph: {}, at byte {}",
                f.message, f.at
            ))
        };
        return Err(faults.into_iter().map(tell).collect());
    }
    let graph = GraphDef::decode(source).map_err(|e| vec![error(format!("this is not a TensorFlow graph: {e}"))])?;
    graph_of(ctx, graph, &wire::spans(source, 1), options)
}

/// How often a graph is read, until the types of all loops and lists are known.
const MOST_READINGS: usize = 40;

/// Reads a decoded message.
pub(super) fn graph_of(
    ctx: &Arc<Context>,
    graph: GraphDef,
    spans: &[Span],
    options: &Options,
) -> std::result::Result<Module, Vec<Diagnostic>> {
    let library = graph.library.unwrap_or_default();
    let registered = library.gradients.into_iter().map(|g| (g.name, g.function));
    let registered: Rc<FxHashMap<String, String>> = Rc::new(registered.collect());
    let library = library.functions;
    let name = |f: FunctionDef| (f.signature.as_ref().map(|s| s.name.clone()).unwrap_or_default(), f);
    let library: Rc<FxHashMap<String, FunctionDef>> = Rc::new(library.into_iter().map(name).collect());
    let nodes = Rc::new(graph.nodes);
    let scope = Scope::new(nodes, spans.to_vec());
    let mut learned = FxHashMap::default();
    for _ in 0..MOST_READINGS {
        let mut reader = Reader::new(ctx, scope.again(), library.clone(), options);
        reader.learned = learned;
        reader.registered = registered.clone();
        reader.run();
        if !reader.changed {
            return match reader.errors.is_empty() {
                true => Ok(reader.module()),
                false => Err(reader.errors),
            };
        }
        learned = reader.learned;
    }
    Err(vec![error(
        "the types of loop-carried values do not reach a fixed point".to_owned(),
    )])
}

fn error(message: String) -> Diagnostic {
    Diagnostic::error("graphdef", message)
}

/// Stop after this many errors.
const MOST_ERRORS: usize = 100;

impl<'c> Reader<'c> {
    fn run(&mut self) {
        self.connect();
        if !self.errors.is_empty() {
            return;
        }
        let outputs = match self.outputs() {
            Ok(outputs) => outputs,
            Err(message) => return self.errors.push(error(message)),
        };
        if let Some(name) = self.unknown_input() {
            let message = format!("`--input-shape` names the input `{name}`, which the graph does not have");
            return self.errors.push(error(message));
        }
        let roots: Vec<usize> = outputs.iter().map(|(_, input)| input.node).collect();
        self.prune(&roots);
        let kept = |at: &usize| self.kept[*at];
        let some = |test: &dyn Fn(&NodeDef) -> bool| (0..self.nodes.len()).filter(kept).any(|at| test(&self.nodes[at]));
        let switches = some(&|n| row::is_control_flow(&n.op));
        let functional = some(&|n| functions::TABLE.iter().any(|row| row.0 == n.op));
        self.plain = !switches && (functional || !some(&|n| !n.device.is_empty()));
        self.devices = devices::Devices::of(&self.nodes);
        self.read_nodes();
        let errors = self.errors.len();
        self.close();
        if errors > 0 {
            // The types of values that come back to merges may show that the assumed ones were wrong.
            self.errors.truncate(errors);
            return;
        }
        self.fetch(&outputs);
        if !self.plain {
            self.write_controls();
        }
    }

    /// Reads the nodes that are kept.
    fn read_nodes(&mut self) {
        if !self.errors.is_empty() {
            return;
        }
        for at in self.order() {
            // A user of a node that cannot be read would only repeat the error.
            let lost = |input: &Input| self.failed[input.node] && !self.is_back_edge(input.node, at);
            if self.inputs[at].iter().any(lost) {
                self.failed[at] = true;
            } else if let Err(message) = self.node(at) {
                self.fail(at, &message);
                if self.errors.len() >= MOST_ERRORS {
                    return;
                }
            } else if self.computed[at].is_empty() && self.constants[at].is_none() {
                fold::fold(self, at);
            }
        }
    }

    /// Reads a node, and checks that every input and attribute of it was used.
    fn node(&mut self, at: usize) -> Result<()> {
        *self.seen.borrow_mut() = Seen::default();
        if self.nodes[at].op == functions::ARGUMENT {
            return Ok(());
        }
        let op = row::plain_name(&self.nodes[at].op).to_owned();
        signature::check(self, at, &op)?;
        if self.constants[at].is_some() {
            return constants::check(self, at);
        }
        if self.plain && row::is_control_flow(&op) {
            return Err(
                "it is in the function of a loop or a branch that is kept: `lower_control_flow=True` lowers all of them, and \
                 `lower_control_flow=False` none"
                    .to_owned(),
            );
        }
        if self.forwards_handle(at) {
            return Ok(());
        }
        // Reads inside of functions do not belong to this node.
        let before = self.path.len();
        ops::read(self, at, &op)?;
        debug_assert_eq!(self.path.len(), before);
        if functions::TABLE.iter().any(|row| row.0 == op) {
            return Ok(());
        }
        signature::rest(self, at, &op)
    }

    /// Resolves the names of the inputs.
    fn connect(&mut self) {
        let mut places: FxHashMap<&str, usize> = FxHashMap::default();
        let mut errors = Vec::new();
        for (at, node) in self.nodes.iter().enumerate() {
            if places.insert(&node.name, at).is_some() {
                errors.push(error(format!("two nodes have the name `{}`", node.name)));
            }
        }
        for node in self.nodes.iter() {
            let (mut inputs, mut controls) = (Vec::new(), Vec::new());
            for text in &node.inputs {
                let (name, control) = match text.strip_prefix('^') {
                    Some(name) => (name, true),
                    None => (text.as_str(), false),
                };
                let (name, index) = match name.rsplit_once(':') {
                    Some((name, index)) if index.bytes().all(|b| b.is_ascii_digit()) => (name, index.parse().ok()),
                    _ => (name, Some(0)),
                };
                match (places.get(name), index) {
                    (Some(&from), _) if control => controls.push(from),
                    (Some(&node), Some(index)) => inputs.push(Input { node, index }),
                    _ => errors.push(error(format!(
                        "node `{}` (`{}`) reads `{text}`, but there is no such node",
                        node.name, node.op
                    ))),
                }
            }
            self.inputs.push(inputs);
            self.controls.push(controls);
        }
        self.errors.extend(errors);
    }

    /// The nodes in topological order.
    fn order(&mut self) -> Vec<usize> {
        let mut missing = vec![0usize; self.nodes.len()];
        let mut readers: Vec<Vec<usize>> = vec![Vec::new(); self.nodes.len()];
        for (at, missing) in missing.iter_mut().enumerate() {
            if !self.kept[at] {
                continue;
            }
            for input in &self.inputs[at] {
                if !self.is_back_edge(input.node, at) && self.kept[input.node] {
                    *missing += 1;
                    readers[input.node].push(at);
                }
            }
        }
        // In the order of the file where the edges allow it.
        let mut order: Vec<usize> = (0..self.nodes.len())
            .filter(|&at| missing[at] == 0 && self.kept[at])
            .collect();
        let mut next = 0;
        while let Some(&at) = order.get(next) {
            next += 1;
            for &reader in &readers[at] {
                missing[reader] -= 1;
                if missing[reader] == 0 {
                    order.push(reader);
                }
            }
        }
        if let Some(at) = (0..self.nodes.len()).find(|&at| missing[at] > 0) {
            self.fail(
                at,
                "it depends on itself: only a `NextIteration` that a `Merge` reads may close a cycle",
            );
        }
        order
    }

    // ----- finishing -----

    /// Sets the back edges of merges.
    fn close(&mut self) {
        for (op, index, input) in std::mem::take(&mut self.back_edges) {
            match self.value(input) {
                Ok(value) => {
                    self.body.set_operand(op, index, value);
                    self.settle(op, index, input);
                }
                Err(message) => self.fail(input.node, &message),
            }
        }
    }

    fn module(self) -> Module {
        if self.plain {
            return Module {
                ctx: self.ctx.clone(),
                body: self.body,
            };
        }
        let mut module = Module::new(self.ctx.clone());
        let graph = module.body.create_op(OpSpec::new(self.ctx.op_name(df::GRAPH)));
        module.body.set_isolated(graph, self.body);
        let top = module.top();
        module.body.append_op(top, graph);
        module
    }
}
