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
mod random;
mod resize;
mod roots;
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

use pir_dialects::df;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use pir_ir::budget::Reservation;
use pir_ir::{BlockId, Body, Context, Diagnostic, Module, OpId, OpSpec, Span, Type, ValueId};
use prost::Message;
use rustc_hash::{FxHashMap, FxHashSet};

use super::Options;
use super::proto::{FunctionDef, GraphDef, NodeDef};
use super::types::Number;
use crate::schemas;
use crate::wire;
use scope::{Handle, Scope};

/// Why a node cannot be read.
type Result<T> = std::result::Result<T, String>;

/// A constant node: its dimensions, its numbers (one, or as many as elements, or none where they stay bytes), its element type.
type Constant = (Vec<i64>, Vec<Number>, i32);

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

/// Where an input comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Input {
    node: usize,
    index: usize,
}

/// Stop after this many errors.
const MOST_ERRORS: usize = 100;

/// The inputs and attributes of the current node that its reader has used.
#[derive(Default)]
struct Seen {
    attrs: Vec<String>,
    inputs: FxHashSet<usize>,
}

struct Reader<'c> {
    ctx: &'c Arc<Context>,
    options: &'c Options,
    /// The functions of the graph, and those that have been prepared.
    library: Rc<FxHashMap<String, FunctionDef>>,
    functions: FxHashMap<String, Rc<functions::Function>>,
    /// The functions of custom gradients.
    registered: Rc<FxHashMap<String, String>>,
    /// The calls around the nodes that are being read.
    path: Vec<String>,
    /// Types that are known only after the point where they are needed: by the name of a loop's variable or of a list.
    learned: FxHashMap<String, Type>,
    /// Whether something was learned, so that the graph must be read again.
    changed: bool,
    /// The lists whose elements have a learned shape.
    lists: FxHashMap<ValueId, String>,
    /// The values that do not represent tensors, by the position of their inferred type.
    missing: FxHashMap<ValueId, String>,
    nodes: Rc<Vec<NodeDef>>,
    /// The location of each node in the file.
    spans: Vec<Span>,
    seen: RefCell<Seen>,
    /// The nodes that could not be read, and their users.
    failed: Vec<bool>,
    /// The nodes that something wanted depends on.
    kept: Vec<bool>,
    devices: devices::Devices,
    body: Body,
    /// Where operations are appended.
    block: BlockId,
    /// The parameters, which are in front of all else in `front`.
    parameters: FxHashMap<String, ValueId>,
    front: BlockId,
    inputs: Vec<Vec<Input>>,
    controls: Vec<Vec<usize>>,
    constants: Vec<Option<Rc<Constant>>>,
    /// The numbers that the results of nodes are known to be.
    computed: Vec<Vec<Option<Rc<Constant>>>>,
    /// The results that have no value here.
    handles: Vec<Vec<Option<Handle>>>,
    /// The results of each node that was read.
    values: Vec<Vec<ValueId>>,
    /// A number that chooses one of several ways, where it is none of those before this one, and whether it is this one.
    ways: FxHashMap<(ValueId, i64), (ValueId, ValueId)>,
    /// Auxiliary operations of nodes: if no operand determines the iteration in which they run, they get the control dependences of the
    /// node.
    pieces: Vec<(ValueId, usize)>,
    /// Operands to set when all nodes have been read.
    back_edges: Vec<(OpId, usize, Input)>,
    /// Whether the graph has no control flow.
    plain: bool,
    errors: Vec<Diagnostic>,
}

impl<'c> Reader<'c> {
    fn new(
        ctx: &'c Arc<Context>,
        mut scope: Scope,
        library: Rc<FxHashMap<String, FunctionDef>>,
        options: &'c Options,
    ) -> Self {
        let mut body = Body::new();
        let root = body.root();
        let block = body.create_block(root);
        let mut reader = Reader {
            ctx,
            options,
            library,
            functions: FxHashMap::default(),
            registered: Rc::default(),
            path: Vec::new(),
            learned: FxHashMap::default(),
            changed: false,
            lists: FxHashMap::default(),
            missing: FxHashMap::default(),
            nodes: Rc::default(),
            spans: Vec::new(),
            seen: RefCell::default(),
            failed: Vec::new(),
            kept: Vec::new(),
            devices: devices::Devices::of(&[]),
            body,
            block,
            parameters: FxHashMap::default(),
            front: block,
            inputs: Vec::new(),
            controls: Vec::new(),
            constants: Vec::new(),
            computed: Vec::new(),
            handles: Vec::new(),
            values: Vec::new(),
            ways: FxHashMap::default(),
            pieces: Vec::new(),
            back_edges: Vec::new(),
            plain: true,
            errors: Vec::new(),
        };
        scope.swap(&mut reader);
        reader
    }

    fn fail(&mut self, at: usize, message: &str) {
        self.failed[at] = true;
        // Said already, of a node in a function.
        if message.is_empty() {
            return;
        }
        let node = &self.nodes[at];
        let mut text = format!("node `{}` (`{}`): {message}", self.place(at), node.op);
        if let Some(span) = self.spans.get(at) {
            text = format!("{text}, at byte {}", span.start);
        }
        self.errors.push(error(text));
    }

    /// The name of a node, with those of the calls around it.
    fn place(&self, at: usize) -> String {
        let name = &self.nodes[at].name;
        match self.path.is_empty() {
            true => name.clone(),
            false => format!("{}/{name}", self.path.join("/")),
        }
    }

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
        let switches = some(&|n| ops::is_control_flow(&n.op));
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
        let op = ops::plain_name(&self.nodes[at].op).to_owned();
        signature::check(self, at, &op)?;
        if self.constants[at].is_some() {
            return constants::check(self, at);
        }
        if self.plain && ops::is_control_flow(&op) {
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

    fn is(&self, at: usize, ops: &[&str]) -> bool {
        ops.contains(&self.nodes[at].op.as_str())
    }

    fn is_back_edge(&self, from: usize, to: usize) -> bool {
        self.is(from, &["NextIteration", "RefNextIteration"]) && self.is(to, &["Merge", "RefMerge"])
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

/// The integers of a constant.
fn whole_numbers((dims, numbers, _): &Constant) -> Option<Vec<i64>> {
    /// Lists of axes and dimensions are short.
    const LONGEST: i64 = 1 << 12;
    let count = dims.iter().try_fold(1i64, |n, &d| n.checked_mul(d))?;
    let int = |n: &Number| match n {
        Number::Int(value) => i64::try_from(*value).ok(),
        Number::Float(_) => None,
    };
    let values: Vec<i64> = numbers.iter().map(int).collect::<Option<_>>()?;
    match values[..] {
        // Its numbers are bytes.
        [] if count > 0 => None,
        [one] if (0..=LONGEST).contains(&count) => Some(vec![one; count as usize]),
        _ => Some(values),
    }
}
