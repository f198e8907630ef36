//! Writes graphs as a `GraphDef`.
//!
//! The graphs of several devices are merged into one: a receive becomes the value that was sent, and control loops of
//! receiving devices become unreachable from the outputs and are dropped. TensorFlow partitions the graph again, by the
//! `device` of each node.

mod emit;
mod names;
mod ops;
mod place;
mod view;

pub(super) use ops::knows;

use pir_dialects::df::cluster::Cluster;
use pir_dialects::{df, pd};
use pir_ir::{Body, Context, Diagnostic, Module, OpId, OpView, Type, ValueDef, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

pub(super) use place::device_name;

use super::proto::{GraphDef, NodeDef, VersionDef};
use pir_dialects::df::DEVICE_NAME;

/// The version of the format that is written: that of TensorFlow 2.21.
const PRODUCER: i32 = 2000;

/// The environment of writing a graph.
#[derive(Clone, Default, Debug)]
pub(super) struct Surroundings<'a> {
    /// The cluster that runs the graph: each node gets one of its devices.
    pub(super) cluster: Option<&'a Cluster>,
    /// The nodes of a graph that this one is added to.
    pub(super) taken: FxHashSet<String>,
    /// The nodes there that are variables, by the names of parameters; all parameters are inputs if there are none.
    pub(super) variables: FxHashMap<String, String>,
}

/// Writes the graphs of a module.
///
/// # Errors
/// Everything that TensorFlow's graphs cannot express, with its location.
pub(super) fn graph(module: &Module, around: Surroundings<'_>) -> Result<GraphDef, Vec<Diagnostic>> {
    let mut writer = Writer::new(&module.ctx, around);
    writer.collect(module);
    writer.connect();
    if writer.errors.is_empty() {
        writer.name();
        writer.place();
        writer.type_stacks();
        writer.measure();
        writer.find_sides();
        for at in 0..writer.nodes.len() {
            writer.emit(at);
        }
    }
    match writer.errors.is_empty() {
        true => Ok(GraphDef {
            nodes: writer.out,
            library: None,
            versions: Some(VersionDef { producer: PRODUCER }),
        }),
        false => Err(writer.errors),
    }
}

/// A value of one of the graphs: the graph's index and the value.
type Value = (usize, ValueId);

/// A node of one of the graphs.
struct Node<'a> {
    graph: usize,
    body: &'a Body,
    op: OpId,
    name: String,
    /// The number of the device, if devices are written at all.
    device: Option<i64>,
    /// The number of frames around it.
    depth: usize,
    /// Its control inputs.
    controls: Vec<usize>,
}

struct Writer<'a> {
    ctx: &'a Context,
    nodes: Vec<Node<'a>>,
    /// The bodies of the graphs.
    bodies: Vec<&'a Body>,
    /// The node that defines a value.
    defs: FxHashMap<Value, usize>,
    /// The keys of received values.
    received: FxHashMap<Value, &'a str>,
    /// The sent value of each key.
    sent: FxHashMap<&'a str, Value>,
    /// Control edges in the source: to a value, from values.
    edges: Vec<(Value, Vec<Value>)>,
    /// Whether nodes get devices.
    placed: bool,
    cluster: Option<&'a Cluster>,
    /// The nodes that are variables, by the names of parameters.
    variables: FxHashMap<String, String>,
    /// The names of devices that differ from those derived from their numbers.
    device_names: FxHashMap<i64, String>,
    /// The names of copies of constant enters, on other devices than the node itself.
    copies: FxHashMap<(usize, i64), String>,
    taken: FxHashSet<String>,
    /// How often each name was requested.
    numbers: FxHashMap<String, usize>,
    /// The outputs of switches that a node reads through an identity.
    sides: FxHashSet<(usize, usize)>,
    /// The element types of stacks.
    stack_types: FxHashMap<usize, Type>,
    /// Constants and anchors shared by several nodes.
    shared: FxHashMap<String, String>,
    out: Vec<NodeDef>,
    errors: Vec<Diagnostic>,
}

impl<'a> Writer<'a> {
    fn new(ctx: &'a Context, around: Surroundings<'a>) -> Self {
        Writer {
            ctx,
            nodes: Vec::new(),
            bodies: Vec::new(),
            defs: FxHashMap::default(),
            received: FxHashMap::default(),
            sent: FxHashMap::default(),
            edges: Vec::new(),
            placed: around.cluster.is_some(),
            cluster: around.cluster,
            variables: around.variables,
            device_names: FxHashMap::default(),
            copies: FxHashMap::default(),
            taken: around.taken,
            numbers: FxHashMap::default(),
            sides: FxHashSet::default(),
            stack_types: FxHashMap::default(),
            shared: FxHashMap::default(),
            out: Vec::new(),
            errors: Vec::new(),
        }
    }

    fn error(&mut self, body: &Body, op: OpId, message: String) -> &mut Diagnostic {
        let error = Diagnostic::error("unwritable-op", message).label(body.op_span(op), "");
        self.errors.push(error);
        let last = self.errors.len() - 1;
        &mut self.errors[last]
    }

    fn view(&self, at: usize) -> OpView<'a> {
        let node = &self.nodes[at];
        node.body.view(self.ctx, node.op)
    }

    /// Collects the nodes of the module's graphs, or its operations if it has no graphs and no nested regions.
    fn collect(&mut self, module: &'a Module) {
        let (ctx, body) = (self.ctx, &module.body);
        let mut graphs: Vec<(&'a Body, Option<i64>)> = Vec::new();
        let mut others = Vec::new();
        // Graphs are at top level or in functions.
        let mut bodies = vec![body];
        while let Some(body) = bodies.pop() {
            let blocks = body.region_blocks(body.root());
            for op in blocks.iter().flat_map(|&b| body.block_ops(b)) {
                let view = body.view(ctx, op);
                match (view.name(), body.isolated(op)) {
                    (df::GRAPH, Some(inner)) => {
                        let device = self.own_device(view);
                        graphs.push((inner, device));
                    }
                    ("func.return", _) => {}
                    (_, Some(inner)) => bodies.push(inner),
                    _ => others.push((body, op)),
                }
            }
        }
        match graphs.is_empty() {
            true => graphs.push((body, None)),
            false => {
                if let Some(&(body, op)) = others.first() {
                    let message = format!("`{}` is outside of the graph", ctx.op_str(body.op_name(op)));
                    self.error(body, op, message);
                }
            }
        }
        for (graph, (body, device)) in graphs.into_iter().enumerate() {
            self.bodies.push(body);
            let blocks = body.region_blocks(body.root());
            for op in blocks.iter().flat_map(|&b| body.block_ops(b)) {
                self.operation(graph, body, op, device);
            }
        }
    }

    /// The number of an operation's device. Records its name, unless there is a cluster, which names all devices.
    fn own_device(&mut self, view: OpView<'_>) -> Option<i64> {
        let (device, name) = (view.int("device"), view.str(DEVICE_NAME));
        let problem = match (self.cluster, device, name) {
            (Some(cluster), _, Some(name)) => match cluster.find(name) {
                Ok(number) => return i64::try_from(number).ok(),
                Err(why) => why,
            },
            (Some(cluster), Some(device), None) => {
                if usize::try_from(device).is_ok_and(|d| d < cluster.len()) {
                    return Some(device);
                }
                format!("there is no device {device}: the cluster has {}", cluster.len())
            }
            (None, Some(device), Some(name)) => {
                let known = self.device_names.entry(device).or_insert_with(|| name.to_owned());
                if known == name {
                    return Some(device);
                }
                format!("the device {device} has two names, `{known}` and `{name}`")
            }
            _ => return device,
        };
        self.error(view.body, view.op, problem);
        None
    }

    /// The name of a device.
    fn device_name(&self, device: i64) -> String {
        if let (Some(cluster), Ok(number)) = (self.cluster, usize::try_from(device)) {
            return cluster.name(number).unwrap_or_default();
        }
        self.device_names
            .get(&device)
            .cloned()
            .unwrap_or_else(|| device_name(device))
    }

    fn operation(&mut self, graph: usize, body: &'a Body, op: OpId, device: Option<i64>) {
        let view = body.view(self.ctx, op);
        let operand = |at: usize| view.operand(at).map(|v| (graph, v));
        match view.name() {
            df::CONTROL => {
                if let Some(to) = operand(0) {
                    let from = body.operands(op).skip(1).map(|v| (graph, v)).collect();
                    self.edges.push((to, from));
                }
            }
            df::SEND => {
                if let (Some(key), Some(value)) = (view.str("key"), operand(0)) {
                    self.sent.insert(key, value);
                    // The source of a control edge is the node that computes the value.
                    if let Some(result) = body.results(op).next() {
                        self.received.insert((graph, result), key);
                    }
                }
            }
            df::RECV => {
                if let (Some(key), Some(result)) = (view.str("key"), body.results(op).next()) {
                    self.received.insert((graph, result), key);
                }
            }
            name => {
                if !body.op_regions(op).is_empty() || body.isolated(op).is_some() {
                    let message = format!("`{name}` cannot be written for TensorFlow: a graph has no regions");
                    self.error(body, op, message).help =
                        Some("run `--pass=lower-to-dataflow`, which lowers branches and loops to a graph".to_owned());
                    return;
                }
                let at = self.nodes.len();
                let own = self.own_device(view).or(device);
                self.placed |= own.is_some();
                for result in body.results(op) {
                    self.defs.insert((graph, result), at);
                }
                self.nodes.push(Node {
                    graph,
                    body,
                    op,
                    name: String::new(),
                    device: own,
                    depth: 0,
                    controls: Vec::new(),
                });
            }
        }
    }

    /// Resolves a received value to the one that was sent.
    fn origin(&self, mut value: Value) -> Option<Value> {
        for _ in 0..=self.received.len() {
            match self.received.get(&value) {
                Some(key) => value = *self.sent.get(key)?,
                None => return Some(value),
            }
        }
        None
    }

    /// The node that defines an operand, and the index of the result.
    fn source(&self, at: usize, operand: usize) -> Option<(usize, usize)> {
        let node = &self.nodes[at];
        let value = self.view(at).operand(operand)?;
        let (graph, value) = self.origin((node.graph, value))?;
        let index = match self.bodies[graph].value_def(value) {
            ValueDef::Result(_, index) => index as usize,
            _ => return None,
        };
        Some((*self.defs.get(&(graph, value))?, index))
    }

    fn sources(&self, at: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        let count = self.nodes[at].body.num_operands(self.nodes[at].op);
        (0..count).filter_map(move |i| self.source(at, i))
    }

    /// Resolves control edges, reports unconnected ones, and drops nodes without users.
    fn connect(&mut self) {
        for at in 0..self.nodes.len() {
            let (body, op) = (self.nodes[at].body, self.nodes[at].op);
            let missing = (0..body.num_operands(op)).find(|&i| self.source(at, i).is_none());
            if let Some(i) = missing {
                let name = self.ctx.op_str(body.op_name(op));
                let message = format!("operand {i} of `{name}` is received, but no node in the module sends it");
                self.error(body, op, message);
            }
        }
        let node_of = |writer: &Self, value: Value| {
            let value = writer.origin(value)?;
            writer.defs.get(&value).copied()
        };
        let mut seen: FxHashSet<(usize, usize)> = FxHashSet::default();
        for (to, from) in std::mem::take(&mut self.edges) {
            // A received value is available where it was computed.
            let Some(&to) = self.defs.get(&to) else { continue };
            for value in from {
                if let Some(from) = node_of(self, value)
                    && from != to
                    && seen.insert((to, from))
                {
                    self.nodes[to].controls.push(from);
                }
            }
        }
        if !self.received.is_empty() {
            self.drop_unreached();
        }
    }

    /// Drops nodes that no output depends on: the control loops of receiving devices.
    fn drop_unreached(&mut self) {
        let mut reached = vec![false; self.nodes.len()];
        let is_output = |at: &usize| {
            matches!(
                self.view(*at).name(),
                pd::Fetch::NAME | pd::ShadowOutput::NAME | pd::Print::NAME
            )
        };
        let mut pending: Vec<usize> = (0..self.nodes.len()).filter(is_output).collect();
        while let Some(at) = pending.pop() {
            if !std::mem::replace(&mut reached[at], true) {
                pending.extend(self.sources(at).map(|(from, _)| from));
                pending.extend(&self.nodes[at].controls);
            }
        }
        let mut places = vec![0; reached.len()];
        let mut kept = 0;
        for (place, &reached) in places.iter_mut().zip(&reached) {
            *place = kept;
            kept += usize::from(reached);
        }
        let nodes = std::mem::take(&mut self.nodes);
        self.nodes = nodes
            .into_iter()
            .zip(&reached)
            .filter_map(|(n, &r)| r.then_some(n))
            .collect();
        for node in &mut self.nodes {
            for control in &mut node.controls {
                *control = places[*control];
            }
        }
        self.defs.retain(|_, at| reached[*at]);
        for at in self.defs.values_mut() {
            *at = places[*at];
        }
    }

    /// Finds the sides of switches that are read by other operations than those that move values.
    fn find_sides(&mut self) {
        let mut sides = FxHashSet::default();
        for at in (0..self.nodes.len()).filter(|&at| self.reads_side(at)) {
            sides.extend(
                self.sources(at)
                    .filter(|&(from, _)| self.view(from).name() == df::SWITCH),
            );
        }
        self.sides = sides;
    }

    /// The number of frames around each node: an enter adds one, an exit removes one.
    fn measure(&mut self) {
        let mut consumers: Vec<Vec<usize>> = vec![Vec::new(); self.nodes.len()];
        let mut pending = Vec::new();
        let mut known = vec![false; self.nodes.len()];
        for (at, known) in known.iter_mut().enumerate() {
            let before: Vec<usize> = self
                .sources(at)
                .map(|(from, _)| from)
                .chain(self.nodes[at].controls.iter().copied())
                .collect();
            if before.is_empty() {
                *known = true;
                pending.push(at);
            }
            for from in before {
                consumers[from].push(at);
            }
        }
        // All other edges stay within a frame, so that any predecessor determines the depth.
        while let Some(at) = pending.pop() {
            let depth = match self.view(at).name() {
                df::EXIT => self.nodes[at].depth.saturating_sub(1),
                _ => self.nodes[at].depth,
            };
            for &to in &consumers[at] {
                if !std::mem::replace(&mut known[to], true) {
                    let enters = self.view(to).name() == df::ENTER;
                    self.nodes[to].depth = depth + usize::from(enters);
                    pending.push(to);
                }
            }
        }
    }
}
