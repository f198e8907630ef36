//! The structure of a `df.graph`: its nodes, the edges between them, and the frames of its loops.
//!
//! # Terms
//! A *node* is an operation of the graph other than `df.control`, which only declares control edges. A *data edge* goes
//! from a result of a node to an operand of another, a *control edge* from a node to a node. A *back edge* goes from a
//! `df.next_iteration` to a `df.merge`: it is the only edge that may close a cycle.
//!
//! A *frame* is the scope of a loop: the nodes between its `df.enter`s and its `df.exit`s. A node runs in the frame of
//! its inputs ([`Graph::frame_of`]), and its results and control edges are in that frame as well, except that those of
//! an enter are in the entered frame, and those of an exit in the parent of its frame ([`Graph::output_frame`]).
//!
//! # Algorithm
//! The nodes are sorted topologically, ignoring back edges; frames are determined in this order. Two enters lead to the
//! same frame if they run in the same one and have the same name. If the inputs of a node are in different frames
//! (which the verifier reports), the node is assigned to the deepest. The algorithm is linear in the size of the graph.
//! Nodes on a cycle without a back edge, and those that depend on them, are not ordered ([`Graph::cyclic`]), and count
//! as outside of all loops.

use crate::df;
use pir_ir::{Body, Context, Lists, OpId, Sym, ValueDef, ValueId};
use rustc_hash::FxHashMap;

/// A node of a graph, numbered in the order of the text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Node(pub u32);

impl Node {
    /// The number, for dense side tables.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A frame of a graph.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FrameId(pub u32);

impl FrameId {
    /// The root frame, outside of all loops.
    pub const ROOT: FrameId = FrameId(0);

    /// The number, for dense side tables.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The kind of a node.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum NodeKind {
    /// `df.switch`
    Switch,
    /// `df.merge`
    Merge,
    /// `df.enter`
    Enter,
    /// `df.exit`
    Exit,
    /// `df.next_iteration`
    NextIteration,
    /// `df.loop_cond`
    LoopCond,
    /// `df.identity`
    Identity,
    /// `df.no_op`
    NoOp,
    /// `df.send`
    Send,
    /// `df.recv`
    Recv,
    /// `df.stack`
    Stack,
    /// `df.stack_push`
    Push,
    /// `df.stack_pop`
    Pop,
    /// Any other operation.
    Ordinary,
}

impl NodeKind {
    /// The kind of an operation of this name; `None` for `df.control`, which is not a node.
    pub fn of(name: &str) -> Option<NodeKind> {
        Some(match name {
            df::CONTROL => return None,
            df::SWITCH => NodeKind::Switch,
            df::MERGE => NodeKind::Merge,
            df::ENTER => NodeKind::Enter,
            df::EXIT => NodeKind::Exit,
            df::NEXT_ITERATION => NodeKind::NextIteration,
            df::LOOP_COND => NodeKind::LoopCond,
            df::IDENTITY => NodeKind::Identity,
            df::NO_OP => NodeKind::NoOp,
            df::SEND => NodeKind::Send,
            df::RECV => NodeKind::Recv,
            df::STACK => NodeKind::Stack,
            df::STACK_PUSH => NodeKind::Push,
            df::STACK_POP => NodeKind::Pop,
            _ => NodeKind::Ordinary,
        })
    }
}

/// The result that an operand reads.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Source {
    /// The node.
    pub node: Node,
    /// The index of the result.
    pub output: u32,
}

/// A use of a result.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Consumer {
    /// The index of the result.
    pub output: u32,
    /// The node.
    pub node: Node,
    /// The index of the operand.
    pub input: u32,
}

/// A frame.
#[derive(Clone, Debug)]
struct FrameData {
    parent: Option<FrameId>,
    name: Option<Sym>,
    depth: u32,
}

/// The structure of the body of a `df.graph`. It does not borrow the body, and is invalidated by changes to it.
#[derive(Clone, Debug)]
pub struct Graph {
    ops: Vec<OpId>,
    kinds: Vec<NodeKind>,
    constant: Vec<bool>,
    /// The index of the node plus one, by operation.
    numbers: Vec<u32>,
    inputs: Lists<Source>,
    controls: Lists<Node>,
    consumers: Lists<Consumer>,
    control_consumers: Lists<Node>,
    control_ops: Vec<OpId>,
    order: Vec<Node>,
    cyclic: Vec<Node>,
    frames: Vec<FrameData>,
    frame_of: Vec<FrameId>,
    output_frame: Vec<FrameId>,
    frame_nodes: Lists<Node>,
    enters: Lists<Node>,
    exits: Lists<Node>,
    loop_conds: Lists<Node>,
}

impl Graph {
    /// Analyses the body of a `df.graph`. `None` if an operand is not the result of a node of the graph, which the
    /// verifier rejects.
    pub fn new(ctx: &Context, body: &Body) -> Option<Graph> {
        let block = body.entry_block(body.root());
        let mut ops = Vec::new();
        let mut kinds = Vec::new();
        let mut constant = Vec::new();
        let mut control_ops = Vec::new();
        let mut numbers = vec![0_u32; body.num_op_slots()];
        for op in block.into_iter().flat_map(|b| body.block_ops(b)) {
            match NodeKind::of(ctx.op_str(body.op_name(op))) {
                Some(kind) => {
                    ops.push(op);
                    kinds.push(kind);
                    let is_constant = kind == NodeKind::Enter && body.view(ctx, op).bool("constant") == Some(true);
                    constant.push(is_constant);
                    numbers[op.index()] = u32::try_from(ops.len()).ok()?;
                }
                None => control_ops.push(op),
            }
        }
        let source = |value: ValueId| match body.value_def(value) {
            ValueDef::Result(op, output) => {
                let number = numbers.get(op.index()).copied().unwrap_or(0).checked_sub(1)?;
                Some(Source {
                    node: Node(number),
                    output,
                })
            }
            _ => None,
        };
        let (mut inputs, mut consumers) = (Vec::new(), Vec::new());
        for (at, &op) in (0_u32..).zip(&ops) {
            for (input, operand) in (0_u32..).zip(body.operands(op)) {
                let from = source(operand)?;
                inputs.push((at, from));
                let (output, node) = (from.output, Node(at));
                consumers.push((from.node.0, Consumer { output, node, input }));
            }
        }
        let mut controls = Vec::new();
        for &op in &control_ops {
            let mut operands = body.operands(op);
            let Some(to) = operands.next() else { continue };
            let to = source(to)?.node;
            for from in operands {
                controls.push((to.0, source(from)?.node));
            }
        }
        // Duplicate control edges are merged.
        controls.sort_unstable();
        controls.dedup();
        let control_consumers: Vec<(u32, Node)> = controls.iter().map(|&(to, from)| (from.0, Node(to))).collect();
        let count = ops.len();
        let mut graph = Graph {
            inputs: Lists::from_pairs(count, &inputs),
            controls: Lists::from_pairs(count, &controls),
            consumers: Lists::from_pairs(count, &consumers),
            control_consumers: Lists::from_pairs(count, &control_consumers),
            ops,
            kinds,
            constant,
            numbers,
            control_ops,
            order: Vec::new(),
            cyclic: Vec::new(),
            frames: Vec::new(),
            frame_of: Vec::new(),
            output_frame: Vec::new(),
            frame_nodes: Lists::default(),
            enters: Lists::default(),
            exits: Lists::default(),
            loop_conds: Lists::default(),
        };
        graph.find_order();
        graph.find_frames(ctx, body);
        Some(graph)
    }

    fn find_order(&mut self) {
        let mut missing: Vec<u32> = self
            .nodes()
            .map(|node| {
                let data = (0_u32..).zip(self.inputs(node));
                let data = data.filter(|&(input, _)| !self.is_back_edge(node, input)).count();
                (data + self.controls(node).len()) as u32
            })
            .collect();
        let mut order: Vec<Node> = self.nodes().filter(|n| missing[n.index()] == 0).collect();
        let mut at = 0;
        while let Some(&node) = order.get(at) {
            at += 1;
            let data = self.consumers(node).iter();
            let data = data.filter(|c| !self.is_back_edge(c.node, c.input)).map(|c| c.node);
            for next in data.chain(self.control_consumers(node).iter().copied()) {
                let left = &mut missing[next.index()];
                *left -= 1;
                if *left == 0 {
                    order.push(next);
                }
            }
        }
        self.cyclic = self.nodes().filter(|n| missing[n.index()] > 0).collect();
        self.order = order;
    }

    fn find_frames(&mut self, ctx: &Context, body: &Body) {
        let mut frames = vec![FrameData {
            parent: None,
            name: None,
            depth: 0,
        }];
        let mut by_name: FxHashMap<(FrameId, Sym), FrameId> = FxHashMap::default();
        let mut frame_of = vec![FrameId::ROOT; self.len()];
        let mut output_frame = vec![FrameId::ROOT; self.len()];
        for &node in &self.order {
            let inputs = (0_u32..).zip(self.inputs(node));
            let inputs = inputs
                .filter(|&(input, _)| !self.is_back_edge(node, input))
                .map(|(_, source)| source.node);
            let frame = inputs
                .chain(self.controls(node).iter().copied())
                .map(|from| output_frame[from.index()])
                .max_by_key(|f| frames[f.index()].depth)
                .unwrap_or(FrameId::ROOT);
            frame_of[node.index()] = frame;
            output_frame[node.index()] = match self.kind(node) {
                NodeKind::Enter => {
                    let name = ctx.sym(body.view(ctx, self.op(node)).str("frame").unwrap_or_default());
                    *by_name.entry((frame, name)).or_insert_with(|| {
                        frames.push(FrameData {
                            parent: Some(frame),
                            name: Some(name),
                            depth: frames[frame.index()].depth + 1,
                        });
                        FrameId(frames.len() as u32 - 1)
                    })
                }
                NodeKind::Exit => frames[frame.index()].parent.unwrap_or(FrameId::ROOT),
                _ => frame,
            };
        }
        let of_kind = |kind: NodeKind, frames_of: &[FrameId]| -> Vec<(u32, Node)> {
            let nodes = self.nodes().filter(|&n| self.kind(n) == kind);
            nodes.map(|n| (frames_of[n.index()].0, n)).collect()
        };
        let count = frames.len();
        let all: Vec<(u32, Node)> = self.nodes().map(|n| (frame_of[n.index()].0, n)).collect();
        let enters = Lists::from_pairs(count, &of_kind(NodeKind::Enter, &output_frame));
        let exits = Lists::from_pairs(count, &of_kind(NodeKind::Exit, &frame_of));
        let loop_conds = Lists::from_pairs(count, &of_kind(NodeKind::LoopCond, &frame_of));
        self.frame_nodes = Lists::from_pairs(count, &all);
        (self.enters, self.exits, self.loop_conds) = (enters, exits, loop_conds);
        (self.frames, self.frame_of, self.output_frame) = (frames, frame_of, output_frame);
    }

    /// The number of nodes.
    pub fn len(&self) -> usize {
        self.ops.len()
    }

    /// Whether the graph has no nodes.
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    /// All nodes, in the order of the text.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = Node> + DoubleEndedIterator + use<> {
        (0..self.ops.len() as u32).map(Node)
    }

    /// The operation of a node.
    pub fn op(&self, node: Node) -> OpId {
        self.ops[node.index()]
    }

    /// The node of an operation.
    pub fn node(&self, op: OpId) -> Option<Node> {
        let number = self.numbers.get(op.index()).copied().unwrap_or(0);
        number.checked_sub(1).map(Node)
    }

    /// The node and the index of the result that a value is.
    pub fn source(&self, body: &Body, value: ValueId) -> Option<Source> {
        match body.value_def(value) {
            ValueDef::Result(op, output) => self.node(op).map(|node| Source { node, output }),
            _ => None,
        }
    }

    /// The kind of a node.
    pub fn kind(&self, node: Node) -> NodeKind {
        self.kinds[node.index()]
    }

    /// Whether a node is a constant enter, whose value is available in every iteration.
    pub fn is_constant_enter(&self, node: Node) -> bool {
        self.constant[node.index()]
    }

    /// The sources of a node's operands, in order.
    pub fn inputs(&self, node: Node) -> &[Source] {
        self.inputs.get(node.index())
    }

    /// The sources of control edges to a node, without duplicates, in the order of the text.
    pub fn controls(&self, node: Node) -> &[Node] {
        self.controls.get(node.index())
    }

    /// The uses of a node's results, in the order of the text.
    pub fn consumers(&self, node: Node) -> &[Consumer] {
        self.consumers.get(node.index())
    }

    /// The targets of control edges from a node, without duplicates, in the order of the text.
    pub fn control_consumers(&self, node: Node) -> &[Node] {
        self.control_consumers.get(node.index())
    }

    /// The operations that declare control edges, in the order of the text.
    pub fn control_ops(&self) -> &[OpId] {
        &self.control_ops
    }

    /// Whether an operand of a node is a back edge.
    pub fn is_back_edge(&self, node: Node, input: u32) -> bool {
        self.kind(node) == NodeKind::Merge
            && (self.inputs(node).get(input as usize)).is_some_and(|s| self.kind(s.node) == NodeKind::NextIteration)
    }

    /// Whether a merge belongs to a loop: it has a back edge.
    pub fn is_loop_merge(&self, node: Node) -> bool {
        let inputs = self.inputs(node).iter();
        self.kind(node) == NodeKind::Merge && inputs.into_iter().any(|s| self.kind(s.node) == NodeKind::NextIteration)
    }

    /// The nodes in topological order, ignoring back edges; without those of [`Graph::cyclic`].
    pub fn order(&self) -> &[Node] {
        &self.order
    }

    /// The nodes on a cycle without a back edge, and those that depend on them.
    pub fn cyclic(&self) -> &[Node] {
        &self.cyclic
    }

    /// All frames, parents first. The first is [`FrameId::ROOT`].
    pub fn frames(&self) -> impl ExactSizeIterator<Item = FrameId> + DoubleEndedIterator + use<> {
        (0..self.frames.len() as u32).map(FrameId)
    }

    /// The frame in which a node runs: that of its inputs.
    pub fn frame_of(&self, node: Node) -> FrameId {
        self.frame_of[node.index()]
    }

    /// The frame of a node's results and control edges.
    pub fn output_frame(&self, node: Node) -> FrameId {
        self.output_frame[node.index()]
    }

    /// The frame that a frame is in; nothing for [`FrameId::ROOT`].
    pub fn parent(&self, frame: FrameId) -> Option<FrameId> {
        self.frames[frame.index()].parent
    }

    /// The name of a frame; nothing for [`FrameId::ROOT`].
    pub fn frame_name(&self, frame: FrameId) -> Option<Sym> {
        self.frames[frame.index()].name
    }

    /// The number of frames around a frame.
    pub fn depth(&self, frame: FrameId) -> usize {
        self.frames[frame.index()].depth as usize
    }

    /// The nodes that run in a frame, not counting nested frames: including its exits, and the enters of nested frames.
    pub fn frame_nodes(&self, frame: FrameId) -> &[Node] {
        self.frame_nodes.get(frame.index())
    }

    /// The enters of a frame.
    pub fn enters(&self, frame: FrameId) -> &[Node] {
        self.enters.get(frame.index())
    }

    /// The exits of a frame.
    pub fn exits(&self, frame: FrameId) -> &[Node] {
        self.exits.get(frame.index())
    }

    /// The loop conditions of a frame: one, if the graph is well-formed and the frame not [`FrameId::ROOT`].
    pub fn loop_conds(&self, frame: FrameId) -> &[Node] {
        self.loop_conds.get(frame.index())
    }

    /// The loop condition of a frame.
    pub fn loop_cond(&self, frame: FrameId) -> Option<Node> {
        self.loop_conds(frame).first().copied()
    }
}
