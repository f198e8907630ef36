//! The graphs of the devices.

use pir_dialects::df::graph::{FrameId, Node};
use pir_dialects::df::{self, DEVICE_NAME};
use pir_dialects::marks::DEVICE;
use pir_dialects::pd;
use pir_ir::{Attr, BlockId, Body, Context, OpId, OpSpec, Rewriter, Type, ValueId, ValueMap};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::plan::{After, Gate, Message, Plan, What};

/// The graph of one device while it is built.
struct Part {
    body: Body,
    block: BlockId,
    /// The counterparts of the values of the whole graph.
    map: ValueMap,
    /// Operands whose values come later, by the value of the whole graph.
    open: Vec<(OpId, usize, ValueId)>,
    /// The tokens for nodes of other devices having run.
    done: FxHashMap<Message, ValueId>,
    /// The merge of each state machine, and the value that is live while the body runs.
    machines: FxHashMap<FrameId, (ValueId, ValueId)>,
    /// The values that nodes of other devices wait for: the pivots of the machines.
    pivots: FxHashMap<FrameId, ValueId>,
}

impl Part {
    fn new() -> Self {
        let mut body = Body::new();
        let root = body.root();
        let block = body.create_block(root);
        Part {
            body,
            block,
            map: ValueMap::new(),
            open: Vec::new(),
            done: FxHashMap::default(),
            machines: FxHashMap::default(),
            pivots: FxHashMap::default(),
        }
    }

    /// A rewriter at the end of the graph.
    fn end<'a>(&'a mut self, ctx: &'a Context) -> Rewriter<'a> {
        let mut rewriter = Rewriter::new(ctx, &mut self.body);
        rewriter.at_end(self.block);
        rewriter
    }

    /// Says that the node that gives `to` runs after others; values of the whole graph may come later.
    fn control(&mut self, ctx: &Context, to: ValueId, from: &[End]) {
        if from.is_empty() {
            return;
        }
        let mut operands: SmallVec<[ValueId; 6]> = SmallVec::new();
        operands.push(to);
        let mut open: SmallVec<[(usize, ValueId); 2]> = SmallVec::new();
        for &end in from {
            operands.push(match end {
                End::Here(value) => value,
                End::Whole(value, ty) => match self.map.get(value) {
                    Some(new) => new,
                    None => {
                        open.push((operands.len(), value));
                        self.body.create_placeholder(ty)
                    }
                },
            });
        }
        let op = self.end(ctx).op(df::CONTROL).operands(operands).build();
        self.open
            .extend(open.into_iter().map(|(index, value)| (op, index, value)));
    }
}

/// One end of a control edge.
#[derive(Clone, Copy)]
enum End {
    /// A value of the graph of the device.
    Here(ValueId),
    /// A value of the whole graph, with its type.
    Whole(ValueId, Type),
}

struct Builder<'a> {
    ctx: &'a Context,
    from: &'a Body,
    plan: &'a Plan<'a>,
    parts: Vec<Part>,
}

/// The graphs of all devices.
pub(super) fn build(ctx: &Context, from: &Body, plan: &Plan<'_>, devices: u32) -> Vec<Body> {
    let mut builder = Builder {
        ctx,
        from,
        plan,
        parts: (0..devices).map(|_| Part::new()).collect(),
    };
    for node in plan.graph.nodes() {
        builder.node(node);
    }
    let parts = builder.parts.into_iter().map(|mut part| {
        for (op, index, value) in part.open {
            if let Some(new) = part.map.get(value) {
                part.body.set_operand(op, index, new);
            }
        }
        part.body
    });
    parts.collect()
}

/// Replaces the whole graph with the graphs of the devices.
pub(super) fn replace(ctx: &Context, outer: &mut Body, op: OpId, bodies: Vec<Body>, names: &FxHashMap<u32, Attr>) {
    for (device, body) in (0_u32..).zip(bodies) {
        let mut attrs = DEVICE.set(ctx, outer.attrs(op), ctx.int_attr(i64::from(device)));
        if let Some(&name) = names.get(&device) {
            attrs = ctx.dict_with(attrs, DEVICE_NAME, name);
        }
        let new = outer.create_op(OpSpec {
            attrs,
            span: outer.op_span(op),
            ..OpSpec::new(outer.op_name(op))
        });
        outer.insert_before(op, new);
        outer.set_isolated(new, body);
        if let Some(comment) = outer.comment(op).filter(|_| device == 0).map(str::to_owned) {
            outer.set_comment(new, &comment);
        }
    }
    outer.erase_op(op);
}

impl Builder<'_> {
    /// A value of the whole graph.
    fn value(&self, message: Message) -> Option<ValueId> {
        let output = match message.what {
            What::Value(output) => output as usize,
            What::Done => 0,
        };
        self.from.results(self.plan.graph.op(message.node)).nth(output)
    }

    /// Copies a node to its device, with receives before it and sends after it.
    fn node(&mut self, node: Node) {
        let plan = self.plan;
        let device = plan.device[node.index()];
        for source in plan.graph.inputs(node) {
            if plan.device[source.node.index()] != device {
                self.receive(Message {
                    node: source.node,
                    what: What::Value(source.output),
                    to: device,
                });
            }
        }
        let controls = plan.graph.controls(node).iter();
        let after: Vec<End> = controls.filter_map(|&from| self.after(node, from, device)).collect();
        let (ctx, from) = (self.ctx, self.from);
        let op = plan.graph.op(node);
        let part = &mut self.parts[device as usize];
        let later = from.operands(op).enumerate();
        let later = later.filter(|&(_, v)| part.map.get(v).is_none());
        let later: SmallVec<[(usize, ValueId); 2]> = later.collect();
        let mut rewriter = Rewriter::new(ctx, &mut part.body);
        let new = rewriter.at_end(part.block).import_op(from, op, &mut part.map);
        part.open
            .extend(later.into_iter().map(|(index, value)| (new, index, value)));
        let attrs = DEVICE.remove(ctx, part.body.attrs(new));
        let attrs = ctx.dict_without(attrs, DEVICE_NAME);
        part.body.set_attrs(new, attrs);
        if let Some(comment) = from.comment(op) {
            part.body.set_comment(new, comment);
        }
        if let Some(to) = part.body.results(new).next() {
            part.control(ctx, to, &after);
        }
        self.send(node);
    }

    /// The value that a node waits for, on its device.
    fn after(&mut self, node: Node, from: Node, device: u32) -> Option<End> {
        Some(match self.plan.after(node, from) {
            After::Here(from) => {
                let value = self.from.results(self.plan.graph.op(from)).next()?;
                End::Whole(value, self.from.value_type(value))
            }
            After::Received(message) => End::Here(self.done(message)?),
            After::Machine(frame) => End::Here(self.pivot(frame, device)?),
        })
    }

    /// Sends what other devices want of a node.
    fn send(&mut self, node: Node) {
        let (ctx, plan) = (self.ctx, self.plan);
        let first = Message {
            node,
            what: What::Value(0),
            to: 0,
        };
        let device = plan.device[node.index()];
        let sent = plan.messages.range(first..).take_while(|(m, _)| m.node == node);
        let mut token = None;
        for (&message, key) in sent {
            let Some(value) = self.value(message).and_then(|v| self.parts[device as usize].map.get(v)) else {
                continue;
            };
            let part = &mut self.parts[device as usize];
            let sent = match (message.what, token) {
                (What::Value(_), _) => value,
                (What::Done, Some(token)) => token,
                (What::Done, None) => {
                    let zero = zero(&mut part.end(ctx));
                    part.control(ctx, zero, &[End::Here(value)]);
                    *token.insert(zero)
                }
            };
            let mut rewriter = part.end(ctx);
            let send = rewriter.op(df::SEND).operand(sent);
            let send = with_ends(ctx, send, key, device, message.to)
                .result(df::control_type(ctx))
                .value();
            rewriter.name(send, "sent");
        }
    }

    /// The received value.
    fn receive(&mut self, message: Message) -> Option<ValueId> {
        let value = self.value(message)?;
        let of = |b: &Self| match message.what {
            What::Value(_) => b.parts[message.to as usize].map.get(value),
            What::Done => b.parts[message.to as usize].done.get(&message).copied(),
        };
        if let Some(known) = of(self) {
            return Some(known);
        }
        let gate = self.gate(self.plan.graph.output_frame(message.node), message.to);
        // The condition of a loop comes with its machine.
        if let Some(known) = of(self) {
            return Some(known);
        }
        Some(self.receive_after(message, value, gate))
    }

    fn receive_after(&mut self, message: Message, value: ValueId, gate: Option<End>) -> ValueId {
        let (ctx, from) = (self.ctx, self.from);
        let device = self.plan.device[message.node.index()];
        let key = self.plan.messages.get(&message).map_or("", |k| k);
        let part = &mut self.parts[message.to as usize];
        let mut rewriter = part.end(ctx);
        let ty = match message.what {
            What::Value(_) => from.value_type(value),
            What::Done => token_type(ctx),
        };
        let recv = with_ends(ctx, rewriter.op(df::RECV), key, device, message.to)
            .result(ty)
            .value();
        match message.what {
            What::Value(_) => {
                let name = from.value_name(value).filter(|n| !n.pack);
                part.body.set_value_name(recv, name);
                part.map.insert(value, recv);
            }
            What::Done => rewriter.name(recv, "token"),
        }
        part.control(ctx, recv, gate.as_slice());
        recv
    }

    /// A value that is alive if and when a node of another device has run.
    fn done(&mut self, message: Message) -> Option<ValueId> {
        if let Some(&known) = self.parts[message.to as usize].done.get(&message) {
            return Some(known);
        }
        let received = self.receive(message)?;
        let ctx = self.ctx;
        let part = &mut self.parts[message.to as usize];
        // The control edges of a recv are alive even if what was sent is dead.
        let ty = part.body.value_type(received);
        let mut rewriter = part.end(ctx);
        let value = rewriter.op(df::IDENTITY).operand(received).result(ty).value();
        rewriter.name_like(value, received, "_done");
        part.done.insert(message, value);
        Some(value)
    }

    /// The value that receives in a frame wait for on a device; `None` outside of all loops.
    fn gate(&mut self, frame: FrameId, device: u32) -> Option<End> {
        let graph = self.plan.graph;
        let mut missing = Vec::new();
        let mut at = frame;
        while let Some(parent) = graph.parent(at) {
            let known = self.parts[device as usize].machines.contains_key(&at);
            if known || self.plan.gate(at, device) != Gate::Machine {
                break;
            }
            missing.push((at, parent));
            at = parent;
        }
        while let Some((at, parent)) = missing.pop() {
            let outer = self.known_gate(parent, device);
            self.machine(at, device, outer);
        }
        self.known_gate(frame, device)
    }

    fn known_gate(&self, frame: FrameId, device: u32) -> Option<End> {
        self.plan.graph.parent(frame)?;
        if let Gate::Merge(merge) = self.plan.gate(frame, device) {
            let value = self.from.results(self.plan.graph.op(merge)).next()?;
            return Some(End::Whole(value, self.from.value_type(value)));
        }
        let machine = self.parts[device as usize].machines.get(&frame);
        machine.map(|&(merge, _)| End::Here(merge))
    }

    /// The state machine of a loop on a device, driven by the received condition.
    fn machine(&mut self, frame: FrameId, device: u32, outer: Option<End>) {
        let (ctx, plan, from) = (self.ctx, self.plan, self.from);
        let Some(condition) = plan.graph.loop_cond(frame) else {
            return;
        };
        let part = &mut self.parts[device as usize];
        let start = zero(&mut part.end(ctx));
        part.control(ctx, start, outer.as_slice());
        let mut enter = part.end(ctx);
        let mut enter = enter.op(df::ENTER).operand(start).result(token_type(ctx));
        if let Some(name) = plan.graph.frame_name(frame) {
            enter = enter.attr("frame", ctx.str_attr(ctx.str(name)));
        }
        let mut enters = plan.graph.enters(frame).iter();
        if let Some(limit) = enters.find_map(|&n| from.attr(ctx, plan.graph.op(n), "parallel_iterations")) {
            enter = enter.attr("parallel_iterations", limit);
        }
        let enter = enter.value();
        part.end(ctx).name(enter, "first_step");
        let back = part.body.create_placeholder(token_type(ctx));
        let index = ctx.tensor(&[], Type::I32);
        let mut rewriter = part.end(ctx);
        let merge = rewriter.op(df::MERGE).operand(enter).operand(back);
        let merge_op = merge.result(token_type(ctx)).result(index).build();
        let merge = rewriter.body.result(merge_op, 0);
        rewriter.name(merge, "step");
        let index = rewriter.body.result(merge_op, 1);
        rewriter.name(index, "step_from");
        let Some(go) = from.results(plan.graph.op(condition)).next() else {
            return;
        };
        let message = Message {
            node: condition,
            what: What::Value(0),
            to: device,
        };
        let mut open = false;
        let predicate = match part.map.get(go) {
            Some(known) => known,
            None if plan.device[condition.index()] != device => self.receive_after(message, go, Some(End::Here(merge))),
            None => {
                open = true;
                part.body.create_placeholder(from.value_type(go))
            }
        };
        let part = &mut self.parts[device as usize];
        let mut rewriter = part.end(ctx);
        let switch = rewriter.op(df::SWITCH).operand(merge).operand(predicate);
        let switch = switch.results([token_type(ctx); 2]).build();
        let (stopped, running) = (rewriter.body.result(switch, 0), rewriter.body.result(switch, 1));
        rewriter.name(stopped, "stopped");
        rewriter.name(running, "running");
        let next = rewriter
            .op(df::NEXT_ITERATION)
            .operand(running)
            .result(token_type(ctx))
            .value();
        rewriter.name(next, "next_step");
        rewriter.body.set_operand(merge_op, 1, next);
        if open {
            part.open.push((switch, 1, go));
        }
        part.machines.insert(frame, (merge, running));
    }

    /// A value that is alive while the body of a loop runs, on a device with a state machine.
    fn pivot(&mut self, frame: FrameId, device: u32) -> Option<ValueId> {
        self.gate(frame, device);
        let ctx = self.ctx;
        let part = &mut self.parts[device as usize];
        if let Some(&known) = part.pivots.get(&frame) {
            return Some(known);
        }
        let &(_, running) = part.machines.get(&frame)?;
        let mut rewriter = part.end(ctx);
        let pivot = rewriter
            .op(df::IDENTITY)
            .operand(running)
            .result(token_type(ctx))
            .value();
        rewriter.name(pivot, "pivot");
        part.pivots.insert(frame, pivot);
        Some(pivot)
    }
}

/// The type of the token that signals that a node has run.
fn token_type(ctx: &Context) -> Type {
    ctx.tensor(&[], Type::I32)
}

fn zero(rewriter: &mut Rewriter<'_>) -> ValueId {
    let ctx = rewriter.ctx;
    let zero = rewriter
        .op(pd::Full::NAME)
        .attr("shape", ctx.ints_attr(&[]))
        .attr("value", ctx.int_attr(0))
        .attr("dtype", ctx.type_attr(Type::I32))
        .result(token_type(ctx))
        .value();
    rewriter.name(zero, "zero");
    zero
}

fn with_ends<'r, 'a>(
    ctx: &Context,
    op: pir_ir::OpBuilder<'r, 'a>,
    key: &str,
    from: u32,
    to: u32,
) -> pir_ir::OpBuilder<'r, 'a> {
    op.attr("key", ctx.str_attr(key))
        .attr("from", ctx.int_attr(i64::from(from)))
        .attr("to", ctx.int_attr(i64::from(to)))
}
