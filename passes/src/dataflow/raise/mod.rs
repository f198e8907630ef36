//! `raise-from-dataflow`: from a graph of nodes to operations with regions.
//!
//! The way back from `lower-to-dataflow`. [`shape`] determines which region each node belongs to, and in which order. Then one
//! walk over the regions makes the operations: what only handed values on is gone, merges are results of branches or
//! arguments of loops. Stacks are made at top level and seen from the regions; the loops that count still count.
//!
//! # Conditions
//! * The graph is that of one device, and keeps the rules of the verifier.
//! * Its merges are those of loops, or of the two sides of a branch.
//! * What the body of a loop uses of the condition comes through a switch.

mod pivots;
mod shape;
mod slots;
mod stages;

use std::cell::LazyCell;

use pir_dialects::df::graph::{FrameId, Graph, Node, NodeKind, Source};
use pir_dialects::{cf, pd};
use pir_ir::{AttrDict, BlockId, Body, Context, Diagnostic, Module, OpId, OpSpec, Traits, Type, ValueId, ValueName};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::{Which, for_each_graph};
use crate::pass::{Changed, Pass, PassContext};
use pivots::Origins;
use shape::{Item, ROOT, RegionId, Shape, refuse};
use slots::Slots;

/// The pass `raise-from-dataflow`.
pub struct RaiseFromDataflow;

impl Pass for RaiseFromDataflow {
    fn name(&self) -> &'static str {
        "raise-from-dataflow"
    }

    fn summary(&self) -> &'static str {
        "Raise dataflow graphs to branches and loops"
    }

    fn description(&self) -> &'static str {
        "Replaces each `df.graph` with operations: the switches and merges of one predicate with a `pd.if`, each frame \
         with a `pd.while`. Any graph that `lower-to-dataflow` made can be raised unless it was partitioned. For other \
         graphs, an error names the node that matches no branch or loop."
    }

    fn run(&self, module: &mut Module, cx: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
        let mut raised = 0;
        for_each_graph(module, Which::All, |ctx, outer, op| {
            if outer.attr(ctx, op, "device").is_some() {
                return Err(Box::new(
                    Diagnostic::error("dataflow-raise", "the graph of one of several devices cannot be raised")
                        .label(outer.op_span(op), "here")
                        .help("raise before `partition`: a program runs on one device"),
                ));
            }
            raise(ctx, outer, op).map_err(Box::new)?;
            raised += 1;
            Ok(())
        })?;
        cx.count("raised", raised);
        Ok((raised > 0).into())
    }
}

fn raise(ctx: &Context, outer: &mut Body, op: OpId) -> Result<(), Diagnostic> {
    let Some(mut body) = outer.take_isolated(op) else {
        return Ok(());
    };
    let mut refused = None;
    // A branch that depends on itself is split, as often as there are parts.
    for _ in 0..MOST_SPLITS {
        let Err(why) = raise_or_split(ctx, outer, op, body) else {
            return Ok(());
        };
        let (error, parts) = *why;
        // The message is about the graph as it is.
        let error = refused.get_or_insert(error);
        match parts {
            Some(parts) => body = parts,
            None => return Err(error.clone()),
        }
    }
    refused.map_or(Ok(()), Err)
}

/// More branches that depend on themselves, or parts of them, are not expected.
const MOST_SPLITS: usize = 256;

/// Why a graph was not raised, and the graph with a branch split that depends on itself.
type Refused = Box<(Diagnostic, Option<Body>)>;

fn raise_or_split(ctx: &Context, outer: &mut Body, op: OpId, body: Body) -> Result<(), Refused> {
    let Some(graph) = Graph::new(ctx, &body) else {
        outer.set_isolated(op, body);
        return Ok(());
    };
    // Pivots are interpreted as `lower-to-dataflow` writes them and, if that is inconsistent, as those of the branches
    // that they merge into, as in TensorFlow's graphs.
    // So are switches whose way is decided already.
    let origins = Origins::new(&graph);
    let found = LazyCell::new(|| pivots::find(&graph, &origins));
    let mut refused = None;
    for (decided, theirs) in [(false, false), (false, true), (true, false), (true, true)] {
        if theirs && found.is_empty() {
            continue;
        }
        let pivots = if theirs { found.clone() } else { FxHashMap::default() };
        let mut trial = outer.clone();
        match raise_graph(ctx, &mut trial, op, &body, (&graph, &origins), (pivots, decided)) {
            Ok(()) => {
                *outer = trial;
                return Ok(());
            }
            // The message is that of the usual reading, with the pivots of TensorFlow's branches.
            Err(error) if !decided => refused = Some(error),
            Err(_) => {}
        }
    }
    let Some(error) = refused else { return Ok(()) };
    let parts = [true, false].into_iter().find_map(|theirs| {
        let pivots = if theirs { found.clone() } else { FxHashMap::default() };
        let shape = Shape::placed(ctx, &body, (&graph, &origins), pivots, theirs).ok()?;
        stages::split(&shape)
    });
    Err(Box::new((error, parts)))
}

/// Puts what a graph does before the operation `op` that it belongs to, and removes that. After an error `outer` is of no use.
fn raise_graph(
    ctx: &Context,
    outer: &mut Body,
    op: OpId,
    body: &Body,
    (graph, origins): (&Graph, &Origins),
    (pivots, decided): (FxHashMap<Node, Source>, bool),
) -> Result<(), Diagnostic> {
    let shape = Shape::new(ctx, body, (graph, origins), pivots, decided)?;
    let slots = Slots::new(&shape);
    let spans = shape.spans();
    let mut raising = Raising {
        ctx,
        from: body,
        graph,
        shape: &shape,
        slots: &slots,
        spans,
        to: outer,
        at: op,
        values: FxHashMap::default(),
        ops: FxHashMap::default(),
    };
    raising.run()?;
    let mut end = body
        .entry_block(body.root())
        .and_then(|b| body.end_comment(b))
        .map(str::to_owned);
    if let (Some(text), Some(next)) = (end.take(), outer.next_op(op)) {
        let text = match outer.comment(next) {
            Some(more) => format!("{text}\n{more}"),
            None => text,
        };
        outer.set_comment(next, &text);
    }
    outer.erase_op(op);
    Ok(())
}

/// The remaining work.
enum Task {
    /// The items of a region, from one on, at the end of a block.
    Items(RegionId, usize, Option<BlockId>),
    /// The yields of the sides of a branch.
    Join(u32),
    /// The terminator of a loop's condition.
    Decide(FrameId),
    /// The yields of a loop's body.
    Close(FrameId),
}

struct Raising<'a> {
    ctx: &'a Context,
    from: &'a Body,
    graph: &'a Graph,
    shape: &'a Shape<'a>,
    slots: &'a Slots,
    /// When regions are entered and left, in a walk through all of them.
    spans: Vec<(u32, u32)>,
    to: &'a mut Body,
    /// The insertion point of operations at top level.
    at: OpId,
    /// The value of a result, and the region in which it is defined.
    values: FxHashMap<Source, (ValueId, RegionId)>,
    /// The branches and loops, by the first of their regions.
    ops: FxHashMap<RegionId, OpId>,
}

impl Raising<'_> {
    fn run(&mut self) -> Result<(), Diagnostic> {
        let mut tasks = vec![Task::Items(ROOT, 0, None)];
        while let Some(task) = tasks.pop() {
            match task {
                Task::Items(region, at, block) => {
                    let Some(&item) = self.shape.regions[region as usize].items.get(at) else {
                        continue;
                    };
                    tasks.push(Task::Items(region, at + 1, block));
                    match item {
                        Item::Node(node) => self.node(node, block)?,
                        Item::Branch(choice) => self.branch(choice, block, &mut tasks)?,
                        Item::Loop(frame) => self.enter(frame, region, block, &mut tasks)?,
                    }
                }
                Task::Join(choice) => self.join(choice)?,
                Task::Decide(frame) => self.decide(frame)?,
                Task::Close(frame) => self.close(frame)?,
            }
        }
        Ok(())
    }

    fn refuse(&self, node: Node, why: &str) -> Diagnostic {
        refuse(self.ctx, self.from, self.graph, node, why)
    }

    fn put(&mut self, op: OpId, block: Option<BlockId>) {
        match block {
            Some(block) => self.to.append_op(block, op),
            None => self.to.insert_before(self.at, op),
        }
    }

    fn copy_notes(&mut self, node: Node, op: OpId) {
        let old = self.graph.op(node);
        if let Some(comment) = self.from.comment(old) {
            self.to.set_comment(op, comment);
        }
        if let Some(loc) = self.from.loc(old) {
            self.to.set_loc(op, loc);
        }
    }

    fn result(&self, source: Source) -> Option<ValueId> {
        self.from
            .results(self.graph.op(source.node))
            .nth(source.output as usize)
    }

    fn ty(&self, source: Source) -> Type {
        self.result(source).map_or(Type::NONE, |v| self.from.value_type(v))
    }

    /// Defines the value of a result in a region.
    fn define(&mut self, source: Source, value: ValueId, region: RegionId) {
        self.values.insert(source, (value, region));
        if let Some(name) = self.result(source).and_then(|v| self.from.value_name(v)) {
            self.to.set_value_name(value, Some(ValueName { pack: false, ..name }));
        }
    }

    /// The result that a node forwards, if it does nothing else.
    fn handed_on(&self, source: Source) -> Option<Source> {
        let inputs = self.graph.inputs(source.node);
        match self.graph.kind(source.node) {
            NodeKind::Identity | NodeKind::LoopCond => inputs.first().copied(),
            NodeKind::Switch if !self.shape.is_loop_switch(source.node) => inputs.first().copied(),
            NodeKind::Enter if self.graph.is_constant_enter(source.node) => inputs.first().copied(),
            NodeKind::Push => inputs.get(1).copied(),
            _ => None,
        }
    }

    /// The value of a result, as seen from a region.
    fn value(&mut self, source: Source, user: Node, region: RegionId) -> Result<ValueId, Diagnostic> {
        let mut way: SmallVec<[Source; 4]> = SmallVec::new();
        let mut at = source;
        let (value, home) = loop {
            if let Some(&found) = self.values.get(&at) {
                break found;
            }
            match self.handed_on(at) {
                Some(before) => {
                    way.push(at);
                    at = before;
                }
                None => return Err(self.refuse(at.node, "it has no structured counterpart")),
            }
        };
        for source in way {
            self.values.insert(source, (value, home));
        }
        let ((from, to), (inner, _)) = (self.spans[home as usize], self.spans[region as usize]);
        if !(from..to).contains(&inner) {
            return Err(self.refuse(
                user,
                "it uses a value of another region that is not passed to its own region",
            ));
        }
        Ok(value)
    }

    fn node(&mut self, node: Node, block: Option<BlockId>) -> Result<(), Diagnostic> {
        let old = self.graph.op(node);
        let region = self.shape.region_of[node.index()];
        let name = match self.graph.kind(node) {
            NodeKind::Ordinary if self.slots.is_unused(node) => return Ok(()),
            NodeKind::Ordinary => self.from.op_name(old),
            NodeKind::Stack => self.ctx.op_name(cf::CREATE_STACK),
            NodeKind::Push => self.ctx.op_name(cf::PUSH_BACK),
            NodeKind::Pop => self.ctx.op_name(cf::POP_BACK),
            _ => return Ok(()),
        };
        let mut operands: SmallVec<[ValueId; 4]> = SmallVec::new();
        for &source in self.graph.inputs(node) {
            operands.push(self.value(source, node, region)?);
        }
        let mut results: SmallVec<[Type; 2]> = self.from.results(old).map(|v| self.from.value_type(v)).collect();
        match self.graph.kind(node) {
            NodeKind::Stack => results = SmallVec::from_slice(&[cf::stack_type(self.ctx)]),
            NodeKind::Push => results.clear(),
            _ => {}
        }
        let op = self.to.create_op(OpSpec {
            operands: &operands,
            results: &results,
            attrs: self.ctx.dict_without(self.from.attrs(old), "swap"),
            span: self.from.op_span(old),
            ..OpSpec::new(name)
        });
        self.put(op, block);
        self.copy_notes(node, op);
        for (output, value) in (0_u32..).zip(self.to.results(op)) {
            self.define(Source { node, output }, value, region);
        }
        Ok(())
    }

    /// Makes an operation with two regions, each with a block.
    fn make(
        &mut self,
        name: &str,
        like: Node,
        operands: &[ValueId],
        results: &[Type],
        block: Option<BlockId>,
    ) -> (OpId, [BlockId; 2]) {
        let regions = [self.to.create_region(), self.to.create_region()];
        let blocks = regions.map(|r| self.to.create_block(r));
        let op = self.to.create_op(OpSpec {
            operands,
            results,
            regions: &regions,
            span: self.from.op_span(self.graph.op(like)),
            ..OpSpec::new(self.ctx.op_name(name))
        });
        self.put(op, block);
        self.copy_notes(like, op);
        (op, blocks)
    }

    fn end(&mut self, block: BlockId, name: &str, operands: &[ValueId]) {
        let op = self.to.create_op(OpSpec {
            operands,
            attrs: AttrDict::EMPTY,
            ..OpSpec::new(self.ctx.op_name(name))
        });
        self.to.append_op(block, op);
    }

    /// The block of a region of an operation that has been made.
    fn block(&self, op: OpId, index: usize) -> Option<BlockId> {
        self.to.op_regions(op).get(index).and_then(|&r| self.to.entry_block(r))
    }

    // ----- branches -----

    /// The merges of a branch, except those that only order effects.
    fn merges(&self, choice: u32) -> Vec<(Node, [Source; 2])> {
        let choice = &self.shape.choices[choice as usize];
        let tells = |mut source: Source| {
            while self.graph.kind(source.node) == NodeKind::Identity
                && let Some(&before) = self.graph.inputs(source.node).first()
            {
                source = before;
            }
            let inputs = self.graph.inputs(source.node);
            self.graph.kind(source.node) == NodeKind::Switch && inputs.first() == Some(&choice.pred)
        };
        let merges = choice.merges.iter();
        let idle = |m: &&(Node, [Source; 2])| self.graph.consumers(m.0).is_empty() && m.1.into_iter().all(tells);
        merges.filter(|m| !idle(m)).copied().collect()
    }

    fn branch(&mut self, choice: u32, block: Option<BlockId>, tasks: &mut Vec<Task>) -> Result<(), Diagnostic> {
        let shape = &self.shape.choices[choice as usize];
        let (region, pred, [no, yes]) = (shape.region, shape.pred, shape.sides);
        let condition = self.value(pred, pred.node, region)?;
        let merges = self.merges(choice);
        let results: Vec<Type> = merges
            .iter()
            .map(|&(node, _)| self.ty(Source { node, output: 0 }))
            .collect();
        let (op, [then, otherwise]) = self.make(pd::If::NAME, pred.node, &[condition], &results, block);
        for (at, &(node, _)) in merges.iter().enumerate() {
            let value = self.to.result(op, at);
            self.define(Source { node, output: 0 }, value, region);
        }
        self.ops.insert(no, op);
        tasks.push(Task::Join(choice));
        tasks.push(Task::Items(no, 0, Some(otherwise)));
        tasks.push(Task::Items(yes, 0, Some(then)));
        Ok(())
    }

    fn join(&mut self, choice: u32) -> Result<(), Diagnostic> {
        let sides = self.shape.choices[choice as usize].sides;
        let Some(&op) = self.ops.get(&sides[0]) else {
            return Ok(());
        };
        let merges = self.merges(choice);
        for (side, region) in sides.into_iter().enumerate() {
            let Some(block) = self.block(op, 1 - side) else {
                continue;
            };
            let mut values = Vec::with_capacity(merges.len());
            for (node, sources) in &merges {
                values.push(self.value(sources[side], *node, region)?);
            }
            if side == 0 && values.is_empty() && self.to.first_op(block).is_none() {
                if let Some(region) = self.to.block_region(block) {
                    self.to.set_region_blocks(region, Vec::new());
                }
                continue;
            }
            self.end(block, cf::YIELD, &values);
        }
        Ok(())
    }

    // ----- loops -----

    fn enter(
        &mut self,
        frame: FrameId,
        region: RegionId,
        block: Option<BlockId>,
        tasks: &mut Vec<Task>,
    ) -> Result<(), Diagnostic> {
        let [cond, body] = self.shape.loops[frame.index()];
        let Some(&first) = self.graph.enters(frame).first() else {
            return Ok(());
        };
        if self.graph.loop_cond(frame).is_none() {
            return Err(self.refuse(first, "the loop has no condition"));
        }
        let slots = self.slots.of(frame);
        let mut inits = Vec::with_capacity(slots.merges.len());
        for &merge in &slots.merges {
            let enter = self
                .graph
                .inputs(merge)
                .iter()
                .find(|s| self.graph.kind(s.node) == NodeKind::Enter);
            let Some(&init) = enter.and_then(|s| self.graph.inputs(s.node).first()) else {
                return Err(self.refuse(merge, "no value enters it"));
            };
            inits.push(self.value(init, merge, region)?);
        }
        let results: Vec<Type> = slots
            .switches
            .iter()
            .map(|&node| self.ty(Source { node, output: 0 }))
            .collect();
        let (op, [first_block, second]) = self.make(pd::While::NAME, first, &inits, &results, block);
        for &node in &slots.merges {
            let source = Source { node, output: 0 };
            let arg = self.to.add_block_arg(first_block, self.ty(source), None);
            self.define(source, arg, cond);
        }
        for (at, &node) in slots.switches.iter().enumerate() {
            let source = Source { node, output: 1 };
            let arg = self.to.add_block_arg(second, self.ty(source), None);
            self.define(source, arg, body);
            let result = self.to.result(op, at);
            let exits = self.graph.consumers(node).iter().filter(|c| c.output == 0);
            for exit in exits.filter(|c| self.graph.kind(c.node) == NodeKind::Exit) {
                let source = Source {
                    node: exit.node,
                    output: 0,
                };
                self.define(source, result, region);
            }
        }
        self.ops.insert(cond, op);
        tasks.push(Task::Close(frame));
        tasks.push(Task::Items(body, 0, Some(second)));
        tasks.push(Task::Decide(frame));
        tasks.push(Task::Items(cond, 0, Some(first_block)));
        Ok(())
    }

    fn decide(&mut self, frame: FrameId) -> Result<(), Diagnostic> {
        let [cond, _] = self.shape.loops[frame.index()];
        let (Some(&op), Some(go)) = (self.ops.get(&cond), self.graph.loop_cond(frame)) else {
            return Ok(());
        };
        let Some(block) = self.block(op, 0) else { return Ok(()) };
        let mut values = vec![self.value(Source { node: go, output: 0 }, go, cond)?];
        for &switch in &self.slots.of(frame).switches {
            let Some(&data) = self.graph.inputs(switch).first() else {
                continue;
            };
            values.push(self.value(data, switch, cond)?);
        }
        self.end(block, cf::COND_YIELD, &values);
        Ok(())
    }

    fn close(&mut self, frame: FrameId) -> Result<(), Diagnostic> {
        let [cond, body] = self.shape.loops[frame.index()];
        let Some(&op) = self.ops.get(&cond) else { return Ok(()) };
        let Some(block) = self.block(op, 1) else { return Ok(()) };
        let mut values = Vec::new();
        for &merge in &self.slots.of(frame).merges {
            let back = self
                .graph
                .inputs(merge)
                .iter()
                .find(|s| self.graph.kind(s.node) == NodeKind::NextIteration);
            let Some((back, &next)) = back.and_then(|s| Some((s.node, self.graph.inputs(s.node).first()?))) else {
                return Err(self.refuse(merge, "it has no back edge"));
            };
            values.push(self.value(next, back, body)?);
        }
        self.end(block, cf::YIELD, &values);
        Ok(())
    }
}

/// Whether an operation makes a constant.
fn is_constant(ctx: &Context, body: &Body, op: OpId) -> bool {
    body.view(ctx, op).has(Traits::CONSTANT)
}

impl Shape<'_> {
    /// When each region is entered and left in a walk through all of them.
    fn spans(&self) -> Vec<(u32, u32)> {
        // Regions come after the ones that contain them.
        let mut sizes = vec![1_u32; self.regions.len()];
        for at in (0..self.regions.len()).rev() {
            if let Some(parent) = self.regions[at].parent {
                sizes[parent as usize] += sizes[at];
            }
        }
        let mut spans = vec![(0, 0); self.regions.len()];
        let mut next = vec![0_u32; self.regions.len()];
        for at in 0..self.regions.len() {
            let start = match self.regions[at].parent {
                Some(parent) => {
                    let start = next[parent as usize];
                    next[parent as usize] += sizes[at];
                    start
                }
                None => 0,
            };
            spans[at] = (start, start + sizes[at]);
            next[at] = start + 1;
        }
        spans
    }
}
