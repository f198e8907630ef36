//! Compiles the operations of a `df.graph` to dense tables.

use pir_dialects::df;
use std::sync::Arc;

use pir_ir::{Body, Context, OpId, Span, Traits};
use rustc_hash::FxHashMap;

use super::key::frame_name;
use super::segments;
use super::straight::is_straight;
use crate::exec::compile::Compiler;
use crate::exec::program::Code;
use crate::exec::{ExecError, Options, check_input};
use crate::kernels::Inputs;
use crate::tensor::Tensor;

/// The index that means "none".
pub(super) const NONE: u32 = u32::MAX;
/// The port of control edges.
pub(super) const CONTROL: u32 = u32::MAX;

/// The action of a node.
pub(super) enum NodeAction {
    Switch,
    Merge {
        /// Whether something reads which of the inputs arrived.
        indexed: bool,
    },
    Enter {
        /// The index of the entered frame.
        child: u32,
        constant: bool,
    },
    Exit,
    NextIteration,
    /// Forwards its operands.
    Pass,
    /// Only has control edges.
    Nothing,
    Send {
        edge: u32,
    },
    Recv {
        edge: u32,
    },
    Stack,
    Push {
        swap: bool,
    },
    Pop,
    Input(Tensor),
    /// An operation of structured programs.
    Op(Code),
}

/// An edge from a result of a node, or from the node itself, to an input of another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    /// The result, or [`CONTROL`].
    pub(super) port: u32,
    pub(super) target: u32,
    pub(super) input: u32,
    /// The index of the target among the nodes of its frame, and the slot of the input in an iteration.
    pub(super) index: u32,
    pub(super) slot: u32,
    /// Whether the target is a merge.
    pub(super) merges: bool,
    /// Whether no later edge has the same result: it takes the value along.
    pub(super) last: bool,
    /// Whether nothing waits for its tokens: the target runs only after the source (see [`super::segments`]).
    pub(super) silent: bool,
    /// Whether the target knows the value already.
    pub(super) constant: bool,
}

impl Edge {
    /// An edge whose target has no place in a frame yet.
    fn new(port: u32, target: u32, input: u32) -> Edge {
        Edge {
            port,
            target,
            input,
            index: 0,
            slot: 0,
            merges: false,
            last: false,
            silent: false,
            constant: false,
        }
    }
}

pub(super) struct Node {
    pub(super) kind: NodeAction,
    /// Its name in messages.
    pub(super) label: Arc<str>,
    pub(super) span: Span,
    /// The index of its execution counter.
    pub(super) counter: u32,
    /// The number of data inputs.
    pub(super) inputs: u32,
    /// The number of control inputs.
    pub(super) controls: u32,
    /// The frame that it runs in; [`NONE`] if it never runs.
    pub(super) frame: u32,
    /// The first node of its segment.
    pub(super) head: u32,
    /// The index of the segment in the frame.
    pub(super) index: u32,
    /// The number of data and of control inputs that it waits for: those whose edges are not silent.
    pub(super) waits: (u32, u32),
    /// The slot of its first input in an iteration.
    pub(super) slot: u32,
    /// Its edges, and the members of the segment that it begins.
    pub(super) edges: (u32, u32),
    pub(super) members: (u32, u32),
    /// Whether [`super::straight`] runs it.
    pub(super) straight: bool,
    /// The slot of its only user, if that waits for nothing.
    pub(super) sole: u32,
    /// Its value, if it is a constant, and whether all users know it.
    pub(super) quiet: bool,
    pub(super) known: Option<Tensor>,
    /// The operands that are constants of its segment or of one before; empty if none is. They are in no slot.
    pub(super) constants: Box<[Option<Tensor>]>,
}

/// The static properties of a frame.
pub(super) struct FrameInfo {
    pub(super) name: String,
    /// A hash of the name, for the keys of messages.
    pub(super) hash: u64,
    /// The parent frame; [`NONE`] for the root.
    pub(super) parent: u32,
    pub(super) depth: usize,
    /// Its index among the child frames of the parent.
    pub(super) place: u32,
    pub(super) children: u32,
    pub(super) parallel: u64,
    /// The number of enter nodes that lead to it.
    pub(super) enters: u32,
    pub(super) nodes: Vec<u32>,
    /// The nodes that begin segments.
    pub(super) heads: Vec<u32>,
    /// Whether the values of constant enters are there before anything runs in it.
    pub(super) given: bool,
    pub(super) slots: u32,
}

/// A compiled graph: the program of one device.
pub(super) struct Graph {
    pub(super) device: i64,
    pub(super) nodes: Vec<Node>,
    pub(super) edges: Vec<Edge>,
    /// The nodes by segment, in the order in which they run.
    pub(super) members: Vec<u32>,
    /// The root comes first.
    pub(super) frames: Vec<FrameInfo>,
    /// The nodes without inputs.
    pub(super) sources: Vec<u32>,
}

impl Graph {
    /// Notes with each edge what is read of its target, whose place is known now.
    fn place_edges(&mut self) {
        for edge in &mut self.edges {
            let target = &self.nodes[edge.target as usize];
            edge.merges = matches!(target.kind, NodeAction::Merge { .. });
            edge.index = target.index;
            edge.slot = target.slot + if edge.merges { 0 } else { edge.input };
        }
        for node in &self.nodes {
            let edges = &mut self.edges[node.edges.0 as usize..node.edges.1 as usize];
            for at in 0..edges.len() {
                let port = edges[at].port;
                edges[at].last = port != CONTROL && edges[at + 1..].iter().all(|edge| edge.port != port);
            }
        }
        for node in &mut self.nodes {
            if let [edge] = &self.edges[node.edges.0 as usize..node.edges.1 as usize]
                && edge.silent
                && edge.port == 0
                && node.straight
            {
                node.sole = edge.slot;
            }
        }
    }

    /// Gives a constant to the kernels that are known to run after it, whenever it does.
    fn place_constant(&mut self, source: u32) {
        let node = &self.nodes[source as usize];
        let NodeAction::Op(Code::Kernel { kernel, lists, .. }) = &node.kind else {
            return;
        };
        if node.inputs > 0 || !lists.is_empty() {
            return;
        }
        // Errors are reported when the node runs.
        let Some(value) = kernel(Inputs::new()).ok().and_then(|mut results| results.pop()) else {
            return;
        };
        for edge in &mut self.edges[node.edges.0 as usize..node.edges.1 as usize] {
            let target = &mut self.nodes[edge.target as usize];
            if edge.port != 0 || !edge.silent || !matches!(target.kind, NodeAction::Op(Code::Kernel { .. })) {
                continue;
            }
            edge.constant = true;
            if target.constants.is_empty() {
                target.constants = std::iter::repeat_n(None, target.inputs as usize).collect();
            }
            target.constants[edge.input as usize] = Some(value.clone());
        }
        let quiet = self.edges_of(source).iter().all(|edge| edge.constant);
        let node = &mut self.nodes[source as usize];
        (node.known, node.quiet) = (Some(value), quiet);
    }

    pub(super) fn edges_of(&self, node: u32) -> &[Edge] {
        let (first, end) = self.nodes[node as usize].edges;
        &self.edges[first as usize..end as usize]
    }

    /// The nodes of the segment that a node begins, itself first.
    pub(super) fn members_of(&self, head: u32) -> &[u32] {
        let (first, end) = self.nodes[head as usize].members;
        &self.members[first as usize..end as usize]
    }
}

/// Numbers the keys of messages, in the same way for all devices.
#[derive(Default)]
pub(super) struct Keys {
    numbers: FxHashMap<(String, i64, i64), u32>,
    /// The key, and whether some node sends under it.
    pub(super) edges: Vec<(String, bool)>,
}

impl Keys {
    fn number(&mut self, body: &Body, ctx: &Context, op: OpId, sends: bool) -> u32 {
        let view = body.view(ctx, op);
        let key = view.str("key").unwrap_or_default().to_owned();
        let ends = (view.int("from").unwrap_or(0), view.int("to").unwrap_or(0));
        let next = self.edges.len() as u32;
        let number = *self.numbers.entry((key.clone(), ends.0, ends.1)).or_insert(next);
        if number == next {
            self.edges.push((key, false));
        }
        if let Some(edge) = self.edges.get_mut(number as usize) {
            edge.1 |= sends;
        }
        number
    }
}

/// Shared by the compilation of a run's graphs.
pub(super) struct Setup<'c, 'o> {
    pub(super) compiler: Compiler<'c>,
    pub(super) options: &'o Options,
    pub(super) keys: Keys,
    /// Whether segments may have several nodes.
    join: bool,
}

impl<'c, 'o> Setup<'c, 'o> {
    pub(super) fn new(ctx: &'c Arc<Context>, options: &'o Options, join: bool) -> Self {
        let mut compiler = Compiler::new(ctx);
        compiler.flush = options.flush_subnormals;
        compiler.precise = options.precise;
        Setup {
            compiler,
            options,
            keys: Keys::default(),
            join,
        }
    }

    fn kind(&mut self, body: &Body, op: OpId) -> Result<NodeAction, ExecError> {
        let ctx = self.compiler.ctx;
        let view = body.view(ctx, op);
        Ok(match view.name() {
            df::SWITCH => NodeAction::Switch,
            df::MERGE => NodeAction::Merge {
                indexed: body.results(op).nth(1).is_some_and(|index| body.has_uses(index)),
            },
            df::ENTER => NodeAction::Enter {
                child: NONE,
                constant: view.bool("constant").unwrap_or(false),
            },
            df::EXIT => NodeAction::Exit,
            df::NEXT_ITERATION => NodeAction::NextIteration,
            df::IDENTITY | df::LOOP_COND => NodeAction::Pass,
            df::NO_OP => NodeAction::Nothing,
            df::SEND => NodeAction::Send {
                edge: self.keys.number(body, ctx, op, true),
            },
            df::RECV => NodeAction::Recv {
                edge: self.keys.number(body, ctx, op, false),
            },
            df::STACK => NodeAction::Stack,
            df::STACK_PUSH => NodeAction::Push {
                swap: view.bool("swap").unwrap_or(false),
            },
            df::STACK_POP => NodeAction::Pop,
            _ => match self.compiler.single(body, op)? {
                Code::Input { name } => {
                    let ty = body.value_type(body.result(op, 0));
                    NodeAction::Input(check_input(ctx, self.options, &name, ty)?)
                }
                Code::Kernel {
                    kernel,
                    in_place,
                    inputs,
                    lists,
                } => NodeAction::Op(Code::Kernel {
                    kernel,
                    // Only the kernel knows of subnormal numbers.
                    in_place: in_place.filter(|_| !self.options.flush_subnormals),
                    inputs,
                    lists,
                }),
                code
                @ (Code::Combine(_) | Code::Split(_) | Code::Pass(_) | Code::Fetch { .. } | Code::Print { .. }) => {
                    NodeAction::Op(code)
                }
                _ => {
                    return Err(ExecError::new("this cannot be a node of a dataflow graph")
                        .help("`pir-opt --pass=lower-to-dataflow` converts a structured program to a graph"));
                }
            },
        })
    }

    /// Compiles the graph in the body of a `df.graph`.
    pub(super) fn graph(&mut self, body: &Body, device: i64) -> Result<Graph, ExecError> {
        let ctx = self.compiler.ctx;
        let block = body
            .single_block(body.root())
            .ok_or_else(|| ExecError::new("a graph must have one block"))?;
        let mut nodes: Vec<Node> = Vec::new();
        let mut ops: Vec<OpId> = Vec::new();
        let mut controls: Vec<OpId> = Vec::new();
        let mut node_of = vec![NONE; body.num_op_slots()];
        for op in body.block_ops(block) {
            if body.view(ctx, op).name() == df::CONTROL {
                controls.push(op);
                continue;
            }
            let kind = self.kind(body, op).map_err(|e| e.at(ctx, body, op))?;
            node_of[op.index()] = nodes.len() as u32;
            ops.push(op);
            let straight = is_straight(&kind, body.num_operands(op) as u32);
            nodes.push(Node {
                kind,
                label: label(ctx, body, op).into(),
                span: body.op_span(op),
                counter: self.compiler.counter(body.view(ctx, op).name()),
                inputs: body.num_operands(op) as u32,
                controls: 0,
                frame: NONE,
                head: NONE,
                index: 0,
                waits: (0, 0),
                slot: 0,
                edges: (0, 0),
                members: (0, 0),
                straight,
                sole: NONE,
                quiet: false,
                known: None,
                constants: Box::default(),
            });
        }
        let defining = |value| body.defining_op(value).map_or(NONE, |op| node_of[op.index()]);
        let mut edges: Vec<(u32, Edge)> = Vec::new();
        for (target, &op) in ops.iter().enumerate() {
            for (input, value) in body.operands(op).enumerate() {
                let source = defining(value);
                if source == NONE {
                    return Err(ExecError::new("an operand does not come from a node").at(ctx, body, op));
                }
                let first = body.result(ops[source as usize], 0);
                let port = (value.index() - first.index()) as u32;
                edges.push((source, Edge::new(port, target as u32, input as u32)));
            }
        }
        let mut after: Vec<(u32, u32)> = Vec::new();
        for op in controls {
            let mut values = body.operands(op).map(defining);
            let target = values.next().unwrap_or(NONE);
            for source in values {
                if source == NONE || target == NONE {
                    return Err(ExecError::new("an operand does not come from a node").at(ctx, body, op));
                }
                after.push((source, target));
            }
        }
        after.sort_unstable();
        after.dedup();
        for (source, target) in after {
            nodes[target as usize].controls += 1;
            edges.push((source, Edge::new(CONTROL, target, 0)));
        }
        edges.sort_by_key(|&(source, _)| source);
        let mut first = 0;
        while let Some(&(source, _)) = edges.get(first) {
            let count = edges[first..].iter().take_while(|e| e.0 == source).count();
            nodes[source as usize].edges = (first as u32, (first + count) as u32);
            first += count;
        }
        let mut graph = Graph {
            device,
            nodes,
            edges: edges.into_iter().map(|(_, edge)| edge).collect(),
            members: Vec::new(),
            frames: Vec::new(),
            sources: Vec::new(),
        };
        Frames {
            ctx,
            body,
            ops: &ops,
            by_name: FxHashMap::default(),
        }
        .find(&mut graph)?;
        segments::divide(&mut graph, self.join);
        graph.place_edges();
        for (at, &op) in ops.iter().enumerate() {
            if self.join && body.view(ctx, op).has(Traits::CONSTANT) {
                graph.place_constant(at as u32);
            }
        }
        Ok(graph)
    }
}

/// The name of an operation in messages.
fn label(ctx: &Context, body: &Body, op: OpId) -> String {
    let name = ctx.op_str(body.op_name(op));
    match body.results(op).next().and_then(|v| body.value_name(v)) {
        Some(value) => format!("`%{}` (`{name}`)", ctx.name_text(value.name)),
        None => match body.view(ctx, op).str("name") {
            Some(called) => format!("`{name}` \"{called}\""),
            None => format!("`{name}`"),
        },
    }
}

/// Determines the frame of each node.
struct Frames<'a> {
    ctx: &'a Context,
    body: &'a Body,
    ops: &'a [OpId],
    by_name: FxHashMap<(u32, String), u32>,
}

impl Frames<'_> {
    fn find(&mut self, graph: &mut Graph) -> Result<(), ExecError> {
        graph.frames.push(FrameInfo {
            name: String::new(),
            hash: 0,
            parent: NONE,
            depth: 0,
            place: 0,
            children: 0,
            parallel: 1,
            enters: 0,
            nodes: Vec::new(),
            heads: Vec::new(),
            given: false,
            slots: 0,
        });
        let sources = (0..graph.nodes.len() as u32).filter(|&n| {
            let node = &graph.nodes[n as usize];
            node.inputs == 0 && node.controls == 0
        });
        graph.sources = sources.collect();
        let mut pending: Vec<u32> = graph.sources.iter().rev().copied().collect();
        for &source in &graph.sources {
            graph.nodes[source as usize].frame = 0;
        }
        while let Some(node) = pending.pop() {
            let frame = self.frame_behind(graph, node)?;
            let (first, end) = graph.nodes[node as usize].edges;
            for at in first..end {
                let target = graph.edges[at as usize].target;
                let other = graph.nodes[target as usize].frame;
                if other == NONE {
                    graph.nodes[target as usize].frame = frame;
                    pending.push(target);
                } else if other != frame {
                    return Err(self.error(target, self.two_frames(graph, node, frame, target)));
                }
            }
        }
        for at in 0..graph.nodes.len() {
            let node = &mut graph.nodes[at];
            let Some(frame) = graph.frames.get_mut(node.frame as usize) else {
                continue;
            };
            if frame.parent != NONE && matches!(node.kind, NodeAction::Op(Code::Fetch { .. })) {
                return Err(self.error(at as u32, ExecError::new("nothing can be fetched inside a frame")));
            }
            frame.nodes.push(at as u32);
            node.slot = frame.slots;
            frame.slots += match node.kind {
                // A merge keeps the input that arrives first, a receive its message.
                NodeAction::Merge { .. } | NodeAction::Recv { .. } => 1,
                _ => node.inputs,
            };
        }
        Ok(())
    }

    fn error(&self, node: u32, error: ExecError) -> ExecError {
        error.at(self.ctx, self.body, self.ops[node as usize])
    }

    fn two_frames(&self, graph: &Graph, from: u32, frame: u32, target: u32) -> ExecError {
        let called = |frame: u32| match graph.frames.get(frame as usize) {
            Some(f) if f.parent != NONE => format!("the frame `{}`", f.name),
            _ => "no frame".to_owned(),
        };
        ExecError::new(format!(
            "its operand from {} is in {}, but the others are in {}",
            graph.nodes[from as usize].label,
            called(frame),
            called(graph.nodes[target as usize].frame)
        ))
        .help("values enter a frame only through `df.enter`, and leave it only through `df.exit`")
    }

    /// The frame of a node's results.
    fn frame_behind(&mut self, graph: &mut Graph, node: u32) -> Result<u32, ExecError> {
        let frame = graph.nodes[node as usize].frame;
        let parent = graph.frames[frame as usize].parent;
        let view = self.body.view(self.ctx, self.ops[node as usize]);
        match &mut graph.nodes[node as usize].kind {
            NodeAction::Enter { child, .. } => {
                let name = view.str("frame").unwrap_or_default().to_owned();
                let next = graph.frames.len() as u32;
                let inner = *self.by_name.entry((frame, name.clone())).or_insert(next);
                *child = inner;
                if inner == next {
                    let parallel = view.int("parallel_iterations").unwrap_or(10);
                    if parallel < 1 {
                        let error = ExecError::new("`parallel_iterations` must be at least 1");
                        return Err(self.error(node, error));
                    }
                    let outer = &mut graph.frames[frame as usize];
                    let place = outer.children;
                    outer.children += 1;
                    let depth = outer.depth + 1;
                    graph.frames.push(FrameInfo {
                        hash: frame_name(&name),
                        name,
                        parent: frame,
                        depth,
                        place,
                        children: 0,
                        parallel: parallel as u64,
                        enters: 0,
                        nodes: Vec::new(),
                        heads: Vec::new(),
                        given: false,
                        slots: 0,
                    });
                }
                graph.frames[inner as usize].enters += 1;
                Ok(inner)
            }
            NodeAction::Exit | NodeAction::NextIteration if parent == NONE => {
                Err(self.error(node, ExecError::new("it is in no frame")))
            }
            NodeAction::Exit => Ok(parent),
            _ => Ok(frame),
        }
    }
}
