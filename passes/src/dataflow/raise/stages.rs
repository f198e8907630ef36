//! Branches that depend on themselves.
//!
//! TensorFlow's gradient of a conditional is computed by switches and merges of the same predicate, which read what the
//! conditional computed on either side, and whose operands depend on its result: one branch would have to end before it begins.
//! It is split in two. What depends on a merge of the branch, and what only that uses, gets a copy of the predicate. Values of
//! the earlier part that the later one reads leave it through a merge with zeros, and are switched again.

use pir_dialects::df::graph::{Graph, Node, NodeKind, Source};
use pir_dialects::{df, pd};
use pir_ir::{Body, Context, DYNAMIC, Rewriter, Type, ValueId};
use rustc_hash::FxHashMap;

use super::shape::{Owner, RegionId, Shape};

/// Chains of copies that are longer are not followed.
const DEEPEST: u32 = 64;

/// The graph with the later part of a branch as a branch of its own; nothing if no branch depends on itself, or if a value
/// that both parts need has no static shape.
pub(super) fn split(shape: &Shape<'_>) -> Option<Body> {
    let depth = |choice: u32| shape.depth(shape.choices[choice as usize].region);
    let mut choices: Vec<u32> = (0..shape.choices.len() as u32).collect();
    // The innermost first: what leaves it is in the branch around it.
    choices.sort_by_key(|&choice| std::cmp::Reverse(depth(choice)));
    choices.into_iter().find_map(|choice| Split::new(shape, choice)?.run())
}

/// The nodes that depend on some, with all nodes of a loop that one of them enters.
fn after(graph: &Graph, from: Vec<Node>) -> Vec<bool> {
    let mut seen = vec![false; graph.len()];
    let mut pending = from;
    while let Some(node) = pending.pop() {
        let data = graph
            .consumers(node)
            .iter()
            .filter(|c| !graph.is_back_edge(c.node, c.input));
        let mut targets: Vec<Node> = data.map(|c| c.node).collect();
        targets.extend(graph.control_consumers(node));
        if graph.kind(node) == NodeKind::Enter {
            let frame = graph.output_frame(node);
            targets.extend(graph.frame_nodes(frame));
            targets.extend(graph.enters(frame));
        }
        for target in targets {
            if !std::mem::replace(&mut seen[target.index()], true) {
                pending.push(target);
            }
        }
    }
    seen
}

struct Split<'s> {
    shape: &'s Shape<'s>,
    graph: &'s Graph,
    choice: u32,
    merges: Vec<Node>,
    /// The nodes of the later part.
    late: Vec<bool>,
    /// The side of the branch that a node is in.
    side: Vec<Option<usize>>,
    /// Whether a node is a switch of the branch.
    switches: Vec<bool>,
}

impl<'s> Split<'s> {
    fn new(shape: &'s Shape<'s>, choice: u32) -> Option<Self> {
        let graph = shape.graph;
        let merges: Vec<Node> = shape.choices[choice as usize]
            .merges
            .iter()
            .map(|(merge, _)| *merge)
            .collect();
        let late = after(graph, merges.clone());
        merges.iter().any(|merge| late[merge.index()]).then_some(())?;
        let mut split = Split {
            shape,
            graph,
            choice,
            merges,
            late,
            side: graph
                .nodes()
                .map(|n| shape.side_of(choice, shape.region_of[n.index()]))
                .collect(),
            switches: graph.nodes().map(|n| shape.switches(n) == Some(choice)).collect(),
        };
        split.widen();
        split.sink();
        Some(split)
    }

    /// A branch inside of this one is in either part as a whole.
    fn widen(&mut self) {
        let (graph, shape) = (self.graph, self.shape);
        let inner: Vec<u32> = (0..shape.choices.len() as u32)
            .filter(|&at| at != self.choice && shape.side_of(self.choice, shape.choices[at as usize].region).is_some())
            .collect();
        loop {
            let mut moved = Vec::new();
            for &at in &inner {
                let merges = &shape.choices[at as usize].merges;
                if !merges.iter().any(|(merge, _)| self.late[merge.index()]) {
                    continue;
                }
                let is_own = |node: &Node| {
                    shape.switches(*node) == Some(at)
                        || shape.side_of(at, shape.region_of[node.index()]).is_some()
                        || merges.iter().any(|(merge, _)| merge == node)
                };
                moved.extend(graph.nodes().filter(|node| !self.late[node.index()] && is_own(node)));
            }
            if moved.is_empty() {
                return;
            }
            for node in &moved {
                self.late[node.index()] = true;
            }
            for (late, also) in self.late.iter_mut().zip(after(graph, moved)) {
                *late |= also;
            }
        }
    }

    /// Moves to the later part what only that uses.
    fn sink(&mut self) {
        let graph = self.graph;
        for &node in graph.order().iter().rev() {
            // Of a branch or a loop inside, either all of it moves or nothing.
            let kind = graph.kind(node);
            let stays = matches!(
                kind,
                NodeKind::Enter | NodeKind::Exit | NodeKind::Merge | NodeKind::Switch
            ) || !self.shape.choices[self.choice as usize]
                .sides
                .contains(&self.shape.region_of[node.index()])
                || self.late[node.index()];
            let users = || {
                let data = graph.consumers(node).iter().map(|c| c.node);
                data.chain(graph.control_consumers(node).iter().copied())
            };
            let leaves = users().next().is_some() && users().all(|user| self.late[user.index()]);
            if !stays && leaves {
                self.late[node.index()] = true;
            }
        }
    }

    /// Whether a node belongs to the later part: one of its nodes, or of its merges.
    fn is_changed(&self, node: Node) -> bool {
        self.late[node.index()] && (self.side[node.index()].is_some() || self.merges.contains(&node))
    }

    fn run(self) -> Option<Body> {
        let (graph, shape) = (self.graph, self.shape);
        let (ctx, mut body) = (shape.ctx(), shape.body().clone());
        let block = body.entry_block(body.root())?;
        let early = |n: &Node| self.switches[n.index()] && !self.late[n.index()];
        let anchor = graph.nodes().find(early)?;
        let mut w = Writer {
            split: &self,
            ctx,
            pred: value(shape.body(), graph, shape.choices[self.choice as usize].pred)?,
            anchor: body.result(graph.op(anchor), 0),
            again: None,
            pivots: [None; 2],
            sources: FxHashMap::default(),
            r: Rewriter::new(ctx, &mut body),
        };
        w.r.at_end(block);
        let again = w.copy_of_predicate()?;
        for node in graph.nodes() {
            let op = graph.op(node);
            if self.switches[node.index()] && self.late[node.index()] {
                w.r.body.set_operand(op, 1, again);
                if graph.inputs(node).first() == Some(graph.inputs(node).get(1)?) {
                    w.r.body.set_operand(op, 0, again);
                }
            }
            if !self.is_changed(node) {
                continue;
            }
            for (index, &source) in graph.inputs(node).iter().enumerate() {
                if !graph.is_back_edge(node, index as u32)
                    && let Some(value) = w.converted(source, 0)?
                {
                    w.r.body.set_operand(op, index, value);
                }
            }
        }
        w.controls()?;
        drop(w);
        Some(body)
    }
}

fn value(body: &Body, graph: &Graph, source: Source) -> Option<ValueId> {
    body.results(graph.op(source.node)).nth(source.output as usize)
}

struct Writer<'w, 's> {
    split: &'w Split<'s>,
    ctx: &'w Context,
    /// The predicate, and a result of a switch of the earlier part.
    pred: ValueId,
    anchor: ValueId,
    /// The copy of the predicate for the later part, and what it makes of itself for either side.
    again: Option<ValueId>,
    pivots: [Option<ValueId>; 2],
    /// What the later part reads instead of a value of the earlier one.
    sources: FxHashMap<Source, ValueId>,
    r: Rewriter<'w>,
}

impl Writer<'_, '_> {
    fn op(&mut self, name: &str, operands: &[ValueId], types: &[Type]) -> Option<Vec<ValueId>> {
        let op = self
            .r
            .op(name)
            .operands(operands.iter().copied())
            .results(types.iter().copied())
            .build();
        Some(self.r.body.results(op).collect())
    }

    fn copy_of_predicate(&mut self) -> Option<ValueId> {
        let ty = self.r.body.value_type(self.pred);
        let copy = *self.op(df::IDENTITY, &[self.pred], &[ty])?.first()?;
        self.control(copy, &[self.anchor])?;
        self.again = Some(copy);
        Some(copy)
    }

    fn control(&mut self, target: ValueId, sources: &[ValueId]) -> Option<()> {
        self.op(df::CONTROL, &[&[target], sources].concat(), &[]).map(|_| ())
    }

    /// A value on a side of the later part.
    fn switched(&mut self, data: ValueId, pred: ValueId) -> Option<Vec<ValueId>> {
        let ty = self.r.body.value_type(data);
        self.op(df::SWITCH, &[data, pred], &[ty, ty])
    }

    fn pivot(&mut self, side: usize) -> Option<ValueId> {
        if let Some(pivot) = self.pivots[side] {
            return Some(pivot);
        }
        let again = self.again?;
        let both = self.switched(again, again)?;
        let ty = self.r.body.value_type(again);
        let pivot = *self.op(df::IDENTITY, &[both[side]], &[ty])?.first()?;
        self.pivots[side] = Some(pivot);
        Some(pivot)
    }

    /// What the later part reads instead of a value; `Some(None)` if it reads the value itself.
    fn converted(&mut self, source: Source, depth: u32) -> Option<Option<ValueId>> {
        let (split, graph, at) = (self.split, self.split.graph, source.node.index());
        if split.late[at] || !(split.switches[at] || split.side[at].is_some()) {
            return Some(None);
        }
        if let Some(&made) = self.sources.get(&source) {
            return Some(Some(made));
        }
        (depth < DEEPEST).then_some(())?;
        let kind = graph.kind(source.node);
        let inputs = graph.inputs(source.node);
        let made = if split.switches[at] {
            let again = self.again?;
            let data = match inputs.first() == inputs.get(1) {
                true => again,
                false => value(split.shape.body(), graph, *inputs.first()?)?,
            };
            self.switched(data, again)?[source.output as usize]
        } else if kind == NodeKind::Identity || kind == NodeKind::Switch {
            let mut operands = Vec::new();
            for &input in inputs {
                let own = value(split.shape.body(), graph, input)?;
                operands.push(self.converted(input, depth + 1)?.unwrap_or(own));
            }
            match kind {
                NodeKind::Switch => self.switched(operands[0], *operands.get(1)?)?[source.output as usize],
                _ => operands[0],
            }
        } else {
            self.exported(source)?
        };
        self.sources.insert(source, made);
        Some(Some(made))
    }

    /// A value that leaves the earlier part: on the other side, it is zero.
    fn exported(&mut self, source: Source) -> Option<ValueId> {
        let (split, ctx) = (self.split, self.ctx);
        let side = split.side[source.node.index()]?;
        let region: RegionId = split.shape.region_of[source.node.index()];
        (region == split.shape.choices[split.choice as usize].sides[side]).then_some(())?;
        let own = value(split.shape.body(), split.graph, source)?;
        let ty = self.r.body.value_type(own);
        let (dims, elem) = ctx.as_tensor(ty)?;
        (!dims.contains(&DYNAMIC) && !ctx.is_complex(elem)).then_some(())?;
        let dims = dims.to_vec();
        let number = match (ctx.is_float(elem), elem == Type::I1) {
            (true, _) => ctx.float_attr(0.0),
            (_, true) => ctx.bool_attr(false),
            _ => ctx.int_attr(0),
        };
        let zeros = self
            .r
            .op(pd::Full::NAME)
            .attr("shape", ctx.ints_attr(&dims))
            .attr("value", number);
        let zeros = zeros.attr("dtype", ctx.type_attr(elem)).result(ty).build();
        let zeros = self.r.body.result(zeros, 0);
        self.control(zeros, &[self.anchor])?;
        let other = self.switched(zeros, self.pred)?[1 - side];
        let merged = self.op(df::MERGE, &[other, own], &[ty, ctx.tensor(&[], Type::I32)])?;
        let again = self.again?;
        Some(self.switched(merged[0], again)?[side])
    }

    /// What waited for a node of the earlier part waits for the later part to be on its side.
    fn controls(&mut self) -> Option<()> {
        let (split, graph) = (self.split, self.split.graph);
        let body = split.shape.body();
        for &op in graph.control_ops() {
            let operands: Vec<ValueId> = body.operands(op).collect();
            let node = |value: ValueId| graph.node(body.defining_op(value)?);
            let Some(target) = operands.first().and_then(|&v| node(v)) else {
                continue;
            };
            if !split.is_changed(target) {
                continue;
            }
            for (index, &source) in operands.iter().enumerate().skip(1) {
                let Some(from) = node(source) else { continue };
                let at = from.index();
                if split.late[at] || !(split.switches[at] || split.side[at].is_some()) {
                    continue;
                }
                // A switch itself is on neither side.
                let pivot = match split.side[target.index()].or(split.side[at]) {
                    Some(side) => self.pivot(side)?,
                    None => self.again?,
                };
                self.r.body.set_operand(op, index, pivot);
            }
        }
        Some(())
    }
}

/// The side of a branch that a region is in.
impl Shape<'_> {
    fn side_of(&self, choice: u32, mut region: RegionId) -> Option<usize> {
        loop {
            let at = &self.regions[region as usize];
            match at.owner {
                Owner::Branch(own, side) if own == choice => return Some(side),
                _ => region = at.parent?,
            }
        }
    }
}
