//! Drawings of a `df.graph`: a box for each frame.

use pir_dialects::df::graph::{FrameId, Graph, Node, NodeKind};
use pir_ir::Body;

use super::dot::{Drawing, EdgeStyle, Id, NodeStyle};

/// Draws the nodes of a graph; `device` is that of all of them, if it is the part of one.
pub(super) fn draw<'a>(drawing: &mut Drawing<'a>, body: &'a Body, graph: &Graph, prefix: usize, device: Option<i64>) {
    let count = graph.frames().len();
    let mut children: Vec<Vec<FrameId>> = vec![Vec::new(); count];
    for frame in graph.frames() {
        if let Some(parent) = graph.parent(frame) {
            children[parent.index()].push(frame);
        }
    }
    let mut members: Vec<Vec<Node>> = vec![Vec::new(); count];
    for node in graph.nodes() {
        // An enter is drawn in the frame that it leads to.
        let frame = match graph.kind(node) {
            NodeKind::Enter => graph.output_frame(node),
            _ => graph.frame_of(node),
        };
        members[frame.index()].push(node);
    }
    let constants: Vec<Option<String>> = graph
        .nodes()
        .map(|node| drawing.constant(body.view(drawing.ctx, graph.op(node))))
        .collect();
    // Nested frames come after the nodes.
    let mut pending = vec![(FrameId::ROOT, true)];
    while let Some((frame, first)) = pending.pop() {
        if !first {
            drawing.close();
            continue;
        }
        if let Some(name) = graph.frame_name(frame) {
            let title = format!("frame {}", drawing.ctx.str(name));
            drawing.open(&title);
            pending.push((frame, false));
        }
        for &node in &members[frame.index()] {
            if constants[node.index()].is_none() {
                draw_node(drawing, body, graph, (node, prefix), device, &constants);
            }
        }
        pending.extend(children[frame.index()].iter().rev().map(|&f| (f, true)));
    }
    draw_edges(drawing, graph, prefix, &constants);
}

fn draw_node(
    drawing: &mut Drawing<'_>,
    body: &Body,
    graph: &Graph,
    (node, prefix): (Node, usize),
    device: Option<i64>,
    constants: &[Option<String>],
) {
    let (op, kind) = (graph.op(node), graph.kind(node));
    let view = body.view(drawing.ctx, op);
    let id = Id::op(prefix, node.index());
    let style = match kind {
        NodeKind::Switch | NodeKind::LoopCond => NodeStyle::Condition,
        NodeKind::Merge | NodeKind::Enter | NodeKind::Exit | NodeKind::NextIteration => NodeStyle::Frame,
        NodeKind::Send | NodeKind::Recv => NodeStyle::Message,
        NodeKind::Stack | NodeKind::Push | NodeKind::Pop => NodeStyle::Stack,
        NodeKind::Identity | NodeKind::NoOp | NodeKind::Ordinary => drawing.kind(view, false),
    };
    if matches!(kind, NodeKind::Send | NodeKind::Recv) {
        drawing.message(view, kind == NodeKind::Send, id);
    }
    let mut lines = drawing.lines(view);
    // The box has the name of the frame.
    lines.retain(|line| !line.starts_with("frame = "));
    for source in graph.inputs(node) {
        if let Some(value) = &constants[source.node.index()] {
            lines.push(format!("with {value}"));
        }
    }
    let types = match kind {
        NodeKind::Send | NodeKind::NoOp => "".into(),
        _ => drawing.types(body, op),
    };
    let device = device.or_else(|| view.int("device"));
    drawing.node(id, style, &lines, &types, device);
}

fn draw_edges(drawing: &mut Drawing<'_>, graph: &Graph, prefix: usize, constants: &[Option<String>]) {
    let id = |node: Node| Id::op(prefix, node.index());
    for node in graph.nodes() {
        if constants[node.index()].is_some() {
            continue;
        }
        for (input, source) in (0_u32..).zip(graph.inputs(node)) {
            if constants[source.node.index()].is_some() {
                continue;
            }
            let side = match (graph.kind(source.node), source.output) {
                (NodeKind::Switch, 0) => "false",
                (NodeKind::Switch, _) => "true",
                _ => "",
            };
            let style = match (graph.is_back_edge(node, input), graph.kind(node)) {
                (true, _) => EdgeStyle::NextIteration,
                (_, NodeKind::Enter | NodeKind::Exit | NodeKind::Merge) => EdgeStyle::Carried,
                _ => EdgeStyle::Data,
            };
            drawing.edge(id(source.node), id(node), style, side);
        }
        for &from in graph.controls(node) {
            if constants[from.index()].is_none() {
                drawing.edge(id(from), id(node), EdgeStyle::Control, "");
            }
        }
    }
}
