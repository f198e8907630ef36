//! `shrink-stacks`: pushes what the reader makes of a value in place of the value.
//!
//! ```text
//! %kept = df.stack_push (%s, %x)               %size = pd.numel (%x)
//! …                                            %kept = df.stack_push (%s, %size)
//! %popped = df.stack_pop (%t)         ==>      …
//! %size = pd.numel (%popped)                   %popped = df.stack_pop (%t)
//! ```
//!
//! # Conditions
//! * All uses of the popped value are equal operations on that value alone, with equal attributes.
//! * The operation may be speculated, and gives one value, which is smaller.
//! * No handle may refer to another stack.

use pir_dialects::df;
use pir_dialects::df::graph::{Graph, Node, NodeKind};
use pir_dialects::marks::DEVICE;
use pir_ir::{AttrDict, Body, Context, Diagnostic, Module, OpId, OpName, Rewriter, Speculatability, Type, ValueMap};

use super::place::bytes;
use super::stacks::{self, Tape};
use super::{Which, for_each_graph};
use crate::pass::{Changed, Pass, PassContext};

/// How often all stacks are looked at.
const ROUNDS: usize = 4;

/// The pass `shrink-stacks`.
pub struct ShrinkStacks;

impl Pass for ShrinkStacks {
    fn name(&self) -> &'static str {
        "shrink-stacks"
    }

    fn summary(&self) -> &'static str {
        "Record reductions of values instead of the values"
    }

    fn description(&self) -> &'static str {
        "If the only use of the values popped from a stack of a `df.graph` is one reduction (shape, number of elements, \
         sum, …), the pass computes it before the push and records its result instead. The reduction must be free of \
         effects, have one operand, and produce a smaller value."
    }

    fn run(&self, module: &mut Module, cx: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
        let mut shrunk = 0;
        for_each_graph(module, Which::All, |ctx, outer, op| {
            if let Some(body) = outer.isolated_mut(op) {
                shrunk += shrink(ctx, body);
            }
            Ok(())
        })?;
        cx.count("shrunk", shrunk);
        Ok((shrunk > 0).into())
    }
}

fn shrink(ctx: &Context, body: &mut Body) -> usize {
    let mut shrunk = 0;
    // A popped value may have been popped elsewhere and recorded again.
    for _ in 0..ROUNDS {
        let Some(graph) = Graph::new(ctx, body) else { break };
        let tapes = stacks::find(ctx, body, &graph);
        let found = tapes.iter().map(|tape| (tape, reduction(ctx, body, &graph, tape)));
        let found: Vec<(&Tape, Reduction)> = found.filter_map(|(tape, r)| Some((tape, r?))).collect();
        for (tape, reduction) in &found {
            apply(ctx, body, &graph, tape, reduction);
        }
        shrunk += found.len();
        if found.is_empty() {
            break;
        }
    }
    shrunk
}

/// The reduction that all readers of a stack apply to the popped values.
struct Reduction {
    name: OpName,
    attrs: AttrDict,
    result: Type,
    readers: Vec<Node>,
}

fn reduction(ctx: &Context, body: &Body, graph: &Graph, tape: &Tape) -> Option<Reduction> {
    let &first = tape.pops.first()?;
    let reader = graph.consumers(first).first()?.node;
    let op = graph.op(reader);
    let all = tape.pops.iter().flat_map(|&pop| graph.consumers(pop));
    let reduction = Reduction {
        name: body.op_name(op),
        attrs: ctx.dict_sorted(DEVICE.remove(ctx, body.attrs(op))),
        result: body.view(ctx, op).result_type(0)?,
        readers: all.map(|c| c.node).collect(),
    };
    let same = reduction.readers.iter().all(|&node| {
        let view = body.view(ctx, graph.op(node));
        let attrs = ctx.dict_sorted(DEVICE.remove(ctx, body.attrs(view.op)));
        body.op_name(view.op) == reduction.name
            && attrs == reduction.attrs
            && view.result_type(0) == Some(reduction.result)
            && body.num_results(view.op) == 1
            && graph.inputs(node).len() == 1
            && graph.controls(node).is_empty()
            && graph.kind(node) == NodeKind::Ordinary
            && body.op_regions(view.op).is_empty()
            && view.own_effects().is_empty()
            && view.speculatability() == Speculatability::Always
    });
    let size = |ty: Type| {
        if ctx.is_static(ty) { bytes(ctx, ty) } else { u64::MAX }
    };
    let less = tape.pops.iter().chain(&tape.pushes).all(|&n| {
        let ty = body.view(ctx, graph.op(n)).result_type(0);
        ty.is_some_and(|ty| ctx.as_tensor(ty).is_some() && size(reduction.result) < size(ty))
    });
    let one = tape.made.len() == 1 && !tape.pushes.is_empty();
    // Users of a pushed value run after the push; a control edge can express that, except for a merge.
    let waits = tape
        .pushes
        .iter()
        .flat_map(|&p| graph.consumers(p))
        .all(|c| graph.kind(c.node) != NodeKind::Merge && body.num_results(graph.op(c.node)) > 0);
    (same && less && one && waits).then_some(reduction)
}

fn apply(ctx: &Context, body: &mut Body, graph: &Graph, tape: &Tape, reduction: &Reduction) {
    let mut r = Rewriter::new(ctx, body);
    let Some(&model) = reduction.readers.first() else {
        return;
    };
    let model = graph.op(model);
    for &push in &tape.pushes {
        let op = graph.op(push);
        let (value, pushed) = (r.body.operand(op, 1), r.body.result(op, 0));
        let new = reduce(&mut r, op, model, reduction);
        let small = r.body.result(new, 0);
        for consumer in graph.consumers(push) {
            let reader = graph.op(consumer.node);
            r.body.set_operand(reader, consumer.input as usize, value);
            let to = r.body.result(reader, 0);
            r.after(reader).op(df::CONTROL).operand(to).operand(pushed).build();
        }
        r.body.set_operand(op, 1, small);
        r.body.set_value_type(pushed, reduction.result);
    }
    for &pop in &tape.pops {
        let popped = r.body.result(graph.op(pop), 0);
        r.body.set_value_type(popped, reduction.result);
        for consumer in graph.consumers(pop) {
            let reader = graph.op(consumer.node);
            let name = r.body.result(reader, 0);
            r.take_name(name, popped);
            r.replace_op(reader, &[popped]);
        }
    }
}

/// The reduction of what a push records, before it and on the same device.
fn reduce(r: &mut Rewriter<'_>, push: OpId, model: OpId, reduction: &Reduction) -> OpId {
    let value = r.body.operand(push, 1);
    let mut map = ValueMap::new();
    map.insert(r.body.operand(model, 0), value);
    let new = r.before(push).clone_op(model, &mut map);
    let attrs = match DEVICE.get(r.ctx, r.body.attrs(push)) {
        Some(device) => r.ctx.dict_with(reduction.attrs, "device", device),
        None => reduction.attrs,
    };
    r.body.set_attrs(new, attrs);
    let result = r.body.result(new, 0);
    r.body.set_value_name(result, None);
    r.name_like(result, value, "_reduced");
    new
}
