//! Rules about messages between the graphs of several devices: sends and receives must match.

use crate::df;
use pir_ir::{Body, Context, Diagnostic, OpId, OpView, Sym, Type};
use rustc_hash::FxHashMap;

use super::super::graph::{Graph, NodeKind};
use pir_ir::verify::compatible;

/// One end of a message.
struct End<'a> {
    body: &'a Body,
    op: OpId,
    /// The type of the message.
    ty: Option<Type>,
    /// The path of its frame: see [`Paths`].
    path: u32,
    devices: (Option<i64>, Option<i64>),
}

/// Frames by their names and those of their parents, which are the same on all devices. The root is 0.
#[derive(Default)]
struct Paths {
    numbers: FxHashMap<(u32, Sym), u32>,
    /// The parent path, and the name.
    all: Vec<(u32, Sym)>,
}

impl Paths {
    /// The paths of the frames of a graph.
    fn of(&mut self, graph: &Graph) -> Vec<u32> {
        let mut paths: Vec<u32> = Vec::with_capacity(graph.frames().len());
        for frame in graph.frames() {
            paths.push(match (graph.parent(frame), graph.frame_name(frame)) {
                (Some(parent), Some(name)) => {
                    let key = (paths[parent.index()], name);
                    let all = &mut self.all;
                    *self.numbers.entry(key).or_insert_with(|| {
                        all.push(key);
                        all.len() as u32
                    })
                }
                _ => 0,
            });
        }
        paths
    }

    /// A path in messages.
    fn place(&self, ctx: &Context, path: u32) -> String {
        let mut names: Vec<&str> = Vec::new();
        let mut at = path;
        while let Some(&(around, name)) = at.checked_sub(1).and_then(|i| self.all.get(i as usize)) {
            if names.len() == 8 {
                names.push("…");
                break;
            }
            names.push(ctx.str(name));
            at = around;
        }
        names.reverse();
        match names[..] {
            [] => "outside of all loops".to_owned(),
            _ => format!("in the frame \"{}\"", names.join("/")),
        }
    }
}

/// Compares sends and receives between sibling graphs, when the first of them is verified. The peers of a single graph
/// may be in other files.
pub(super) fn agree(op: OpView<'_>, errors: &mut Vec<Diagnostic>) {
    let Some(block) = op.body.op_block(op.op) else { return };
    let is_graph = |&at: &OpId| op.body.view(op.ctx, at).name() == df::GRAPH;
    let mut graphs = op.body.block_ops(block).filter(is_graph);
    if graphs.next() != Some(op.op) {
        return;
    }
    let mut devices = vec![op.int("device")];
    let mut paths = Paths::default();
    let (mut sent, mut received) = (FxHashMap::default(), Vec::new());
    let mut add = |at: OpId| {
        let Some(body) = op.body.isolated(at) else { return false };
        // Errors of a graph by itself are reported elsewhere.
        if body.region_blocks(body.root()).len() != 1 {
            return false;
        }
        let Some(graph) = Graph::new(op.ctx, body).filter(|g| g.cyclic().is_empty()) else {
            return false;
        };
        let places = paths.of(&graph);
        for node in graph.nodes() {
            let kind = graph.kind(node);
            if !matches!(kind, NodeKind::Send | NodeKind::Recv) {
                continue;
            }
            let view = body.view(op.ctx, graph.op(node));
            let sends = kind == NodeKind::Send;
            let end = End {
                body,
                op: view.op,
                ty: if sends {
                    view.operand_type(0)
                } else {
                    view.result_type(0)
                },
                path: places[graph.frame_of(node).index()],
                devices: (view.int("from"), view.int("to")),
            };
            let key = view.str("key").unwrap_or_default();
            match sends {
                true => drop(sent.entry(key).or_insert(end)),
                false => received.push((key, end)),
            }
        }
        true
    };
    if !add(op.op) {
        return;
    }
    let mut alone = true;
    for at in graphs {
        alone = false;
        devices.push(op.body.view(op.ctx, at).int("device"));
        if !add(at) {
            return;
        }
    }
    // Two graphs for one device belong to different programs, and it is unknown how the others are divided.
    let mut named: Vec<i64> = devices.iter().copied().flatten().collect();
    named.sort_unstable();
    let mixed = named.windows(2).any(|pair| pair[0] == pair[1]);
    if alone || mixed {
        return;
    }
    for (key, recv) in &received {
        match sent.remove(key) {
            Some(send) => compare(op, &paths, key, &send, recv, errors),
            None if devices.contains(&recv.devices.0) => {
                let message = format!("no message is sent with the key \"{key}\", so this node waits forever");
                let help = "the graph of the sending device has no `df.send` with this key";
                errors.push(at(recv, "message-pair", message, "received here").help(help));
            }
            None => {}
        }
    }
    let mut unread: Vec<(&&str, &End<'_>)> = sent
        .iter()
        .filter(|(_, send)| devices.contains(&send.devices.1))
        .collect();
    unread.sort_by_key(|(key, _)| **key);
    for (key, send) in unread {
        let message = format!("no node receives the message with the key \"{key}\"");
        let help = "the graph of the receiving device has no `df.recv` with this key";
        errors.push(at(send, "message-pair", message, "sent here").help(help));
    }
}

fn at(end: &End<'_>, code: &'static str, message: String, label: &str) -> Diagnostic {
    Diagnostic::error(code, message).label(end.body.op_span(end.op), label)
}

fn compare(op: OpView<'_>, paths: &Paths, key: &str, send: &End<'_>, recv: &End<'_>, errors: &mut Vec<Diagnostic>) {
    let mut differ = |code, message: String, help: &str| {
        let sent = send.body.op_span(send.op);
        errors.push(
            at(recv, code, message, "received here")
                .label(sent, "sent here")
                .help(help),
        );
    };
    if send.devices != recv.devices {
        let message = format!("the two ends of the message \"{key}\" name different devices");
        differ(
            "message-device",
            message,
            "`from` and `to` must be the same at both ends",
        );
    }
    if let (Some(sent), Some(received)) = (send.ty, recv.ty)
        && !compatible(op.ctx, sent, received)
    {
        let [sent, received] = [sent, received].map(|ty| pir_ir::text::print_type(op.ctx, ty));
        let message = format!("the message \"{key}\" is sent with type `{sent}`, but received with type `{received}`");
        differ(
            "message-type",
            message,
            "the received value must have the type of the sent value",
        );
    }
    if send.path != recv.path {
        let [from, to] = [send, recv].map(|end| paths.place(op.ctx, end.path));
        let message = format!("the message \"{key}\" is sent {from}, but received {to}");
        let help = "messages are addressed by frame and iteration: a `df.recv` needs a control edge from a node of \
                    the frame, like those that `partition` creates";
        differ("message-frame", message, help);
    }
}
