//! Drawings of programs with regions: a box for each region, and edges along the ways that control takes values.

use pir_ir::{BlockId, Body, FlowPoint, OpId, RegionId, Traits, Use, ValueDef, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::Task;
use super::dot::{Drawing, EdgeStyle, Id, NodeStyle};
use crate::analysis::is_handle_type;
use crate::autodiff::{Recorded, recorded};

/// A step of a walk over a body.
enum Step {
    Block(BlockId, bool),
    Op(Option<OpId>, bool),
    Open(String),
    Close,
    /// The results of an operation with regions.
    Results(OpId),
}

struct Structured<'d, 'a> {
    drawing: &'d mut Drawing<'a>,
    body: &'a Body,
    prefix: usize,
    recorded: Recorded,
    /// The values of constants that are not drawn.
    constants: FxHashMap<ValueId, String>,
    /// Regions that only forward what they get: what makes a stack.
    passed: FxHashSet<RegionId>,
    /// The constants that region arguments and results may be.
    notes: FxHashMap<ValueId, Vec<String>>,
}

/// Draws a body; gives what draws the bodies in it.
pub(super) fn draw<'a>(drawing: &mut Drawing<'a>, body: &'a Body, prefix: usize, next: &mut usize) -> Vec<Task<'a>> {
    let ctx = drawing.ctx;
    let mut this = Structured {
        recorded: recorded(ctx, body),
        drawing,
        body,
        prefix,
        constants: FxHashMap::default(),
        passed: FxHashSet::default(),
        notes: FxHashMap::default(),
    };
    this.prepare();
    let blocks = body.region_blocks(body.root()).iter().rev();
    let mut steps: Vec<Step> = blocks.map(|&b| Step::Block(b, false)).collect();
    let mut inner = Vec::new();
    while let Some(step) = steps.pop() {
        match step {
            Step::Open(title) => this.drawing.open(&title),
            Step::Close => this.drawing.close(),
            Step::Op(None, _) => {}
            Step::Block(block, derivative) => {
                this.values(body.block_args(block).iter().copied());
                steps.push(Step::Op(body.first_op(block), derivative));
            }
            Step::Results(op) => this.values(body.results(op)),
            Step::Op(Some(op), derivative) => {
                let view = body.view(ctx, op);
                let derivative = derivative || view.attr("backward").is_some() || view.name().ends_with("_grad");
                steps.push(Step::Op(body.next_op(op), derivative));
                if let Some(isolated) = body.isolated(op) {
                    inner.push(super::inner(view, isolated, *next));
                    *next += 1;
                } else if !this.is_left_out(op) {
                    this.op(op, derivative, &mut steps);
                }
            }
        }
    }
    inner
}

impl Structured<'_, '_> {
    /// Finds what is not drawn as nodes.
    fn prepare(&mut self) {
        let (ctx, body) = (self.drawing.ctx, self.body);
        for op in body.walk_all() {
            if let Some(value) = self.drawing.constant(body.view(ctx, op)) {
                self.constants.insert(body.result(op, 0), value);
            }
        }
        for op in body.walk_all() {
            for &region in body.op_regions(op) {
                let Some(block) = body.single_block(region) else {
                    continue;
                };
                let last = body.last_op(block);
                let trivial = body.block_ops(block).all(|o| Some(o) == last || self.is_left_out(o));
                if trivial && body.flow_edges(ctx, op).is_some() && body.op_regions(op).len() == 3 {
                    self.passed.insert(region);
                }
            }
        }
        for op in body.walk_all() {
            for index in 0..body.num_operands(op) {
                let value = self.origin(body.operand(op, index));
                let Some(constant) = self.constants.get(&value).cloned() else {
                    continue;
                };
                for target in body.flow_targets(ctx, Use { op, index }).unwrap_or_default() {
                    self.notes.entry(target).or_default().push(constant.clone());
                }
            }
        }
    }

    /// A handle of a stack whose recorded values have edges, or an unused value.
    fn is_hidden(&self, value: ValueId) -> bool {
        let unused = self.body.uses(value).next().is_none();
        unused || self.recorded.handles.contains(&value) || self.is_passed(value)
    }

    /// An argument of a region that only hands it on.
    fn is_passed(&self, value: ValueId) -> bool {
        match self.body.value_def(value) {
            ValueDef::Arg(block, _) => self.body.block_region(block).is_some_and(|r| self.passed.contains(&r)),
            _ => false,
        }
    }

    /// An operation without a node: a constant, a push that has an edge, or what makes a stack.
    fn is_left_out(&self, op: OpId) -> bool {
        let mut results = self.body.results(op);
        self.recorded.pushes.contains(&op)
            || (self.body.num_results(op) == 1
                && results.all(|v| self.constants.contains_key(&v) || self.recorded.handles.contains(&v))
                && self.body.num_operands(op) == 0)
    }

    /// The definition of a value outside of regions that only forward it.
    fn origin(&self, mut value: ValueId) -> ValueId {
        while self.is_passed(value) {
            let sources = self.body.flow_sources(self.drawing.ctx, value).unwrap_or_default();
            let [source] = sources[..] else { break };
            value = self.body.operand(source.op, source.index);
        }
        value
    }

    /// The node of a value.
    fn id(&self, value: ValueId) -> Id {
        match self.body.value_def(value) {
            ValueDef::Result(op, _) if self.body.flow_edges(self.drawing.ctx, op).is_none() => {
                Id::op(self.prefix, op.index())
            }
            _ => Id::value(self.prefix, value.index()),
        }
    }

    fn values(&mut self, values: impl Iterator<Item = ValueId>) {
        for value in values {
            if !self.is_hidden(value) {
                self.value(value);
            }
        }
    }

    /// The node of a region argument, or of a result of an operation with regions.
    fn value(&mut self, value: ValueId) {
        let name = self
            .drawing
            .name(self.body, value)
            .unwrap_or_else(|| "value".to_owned());
        let mut lines = vec![name];
        if let Some(notes) = self.notes.get(&value) {
            lines.push(format!("from {}", notes.join(", ")));
        }
        let types = self.drawing.type_of(self.body.value_type(value));
        let id = self.id(value);
        let style = match is_handle_type(self.drawing.ctx, self.body.value_type(value)) {
            true => NodeStyle::Stack,
            false => NodeStyle::Carried,
        };
        self.drawing.node(id, style, &lines, &types, None);
    }

    fn op(&mut self, op: OpId, derivative: bool, steps: &mut Vec<Step>) {
        let (ctx, body) = (self.drawing.ctx, self.body);
        let view = body.view(ctx, op);
        let flows = body.flow_edges(ctx, op).is_some();
        let regions = body.op_regions(op);
        if flows {
            steps.push(Step::Results(op));
        }
        if !regions.is_empty() {
            steps.push(Step::Close);
            let names = view.def().map_or(&[][..], |def| &def.regions);
            for (at, &region) in regions.iter().enumerate().rev() {
                if self.passed.contains(&region) {
                    // The forwarded values come from before the operation.
                    if let Some(end) = body.region_terminator(region) {
                        self.edges(end);
                    }
                    continue;
                }
                steps.push(Step::Close);
                let blocks = body.region_blocks(region).iter().rev();
                steps.extend(blocks.map(|&b| Step::Block(b, derivative)));
                let title = region_name(names, at, regions.len());
                steps.push(Step::Open(title));
            }
            self.drawing.open(view.name());
        }
        // An operation with regions has a node for what it reads itself, like a condition.
        let read = self.edges(op);
        let ends_region = view.has(Traits::TERMINATOR) && body.flow_of_operands(ctx, op).is_some();
        if (flows || ends_region) && !read {
            return;
        }
        let id = Id::op(self.prefix, op.index());
        let (style, mut lines, types) = match flows || ends_region {
            true => (NodeStyle::Condition, vec![view.name().to_owned()], "".into()),
            false => (
                self.drawing.kind(view, derivative),
                self.drawing.lines(view),
                self.drawing.types(body, op),
            ),
        };
        if !ends_region && !flows {
            let constants = body.operands(op).filter_map(|v| self.constants.get(&self.origin(v)));
            lines.extend(constants.map(|value| format!("with {value}")));
        }
        self.drawing.node(id, style, &lines, &types, view.int("device"));
        if ends_region {
            self.ways_on(op, id);
        }
    }

    /// Draws what follows a condition below it: the region that control goes on with.
    fn ways_on(&mut self, op: OpId, id: Id) {
        let (ctx, body) = (self.drawing.ctx, self.body);
        let Some((parent, from)) = body.flow_of_operands(ctx, op) else {
            return;
        };
        for edge in body.flow_edges(ctx, parent).unwrap_or_default() {
            let inputs = body.flow_inputs(parent, edge.to);
            if edge.from == from
                && let Some(&first) = inputs.iter().find(|&&v| !self.is_hidden(v))
            {
                let first = self.id(first);
                let label = if edge.to == FlowPoint::Parent { "false" } else { "true" };
                self.drawing.edge(id, first, EdgeStyle::Carried, label);
            }
        }
    }

    /// Draws the results of a loop below what its body yields.
    fn results_below(&mut self, from: Id, at: usize, parent: OpId) {
        let results: Vec<ValueId> = self.body.results(parent).filter(|&v| !self.is_hidden(v)).collect();
        // Every yielded value is above the first result, and the first one above every result.
        for result in results.into_iter().take(if at == 0 { usize::MAX } else { 1 }) {
            let id = self.id(result);
            self.drawing.below(from, id);
        }
    }

    /// Draws the edges to an operation and along its control flow. Whether one leads to the operation itself.
    fn edges(&mut self, op: OpId) -> bool {
        let (ctx, body) = (self.drawing.ctx, self.body);
        let here = Id::op(self.prefix, op.index());
        let mut read = false;
        for index in 0..body.num_operands(op) {
            let value = self.origin(body.operand(op, index));
            if self.recorded.handles.contains(&value) {
                continue;
            }
            let targets = body.flow_targets(ctx, Use { op, index });
            read |= targets.as_ref().is_none_or(|targets| targets.is_empty());
            if self.constants.contains_key(&value) {
                continue;
            }
            let from = self.id(value);
            match targets {
                Some(targets) if !targets.is_empty() => {
                    for target in targets {
                        if !self.is_hidden(target) {
                            let style = self.way(op, target);
                            let to = self.id(target);
                            self.drawing.edge(from, to, style, "");
                            let parent = body.flow_of_operands(ctx, op).map(|found| found.0);
                            if let (EdgeStyle::NextIteration, Some(parent)) = (style, parent) {
                                self.results_below(from, index, parent);
                            }
                        }
                    }
                }
                _ => self.drawing.edge(from, here, EdgeStyle::Data, ""),
            }
        }
        if let Some(&push) = self.recorded.partner.get(&op) {
            let value = self.origin(body.operand(push, 1));
            if !self.constants.contains_key(&value) {
                let from = self.id(value);
                self.drawing.edge(from, here, EdgeStyle::Recorded, "");
            }
        }
        read
    }

    /// Whether the forwarded values of an operation go to the next iteration.
    fn way(&self, op: OpId, target: ValueId) -> EdgeStyle {
        let from = self.body.flow_of_operands(self.drawing.ctx, op).map(|found| found.1);
        let to = self.body.flow_place(target).map(|found| found.1);
        match (from, to) {
            (Some(FlowPoint::Region(from)), Some(FlowPoint::Region(to))) if to <= from => EdgeStyle::NextIteration,
            _ => EdgeStyle::Carried,
        }
    }
}

/// The label of a region. Definitions with an optional region in front name more than there are.
fn region_name(names: &[pir_ir::RegionSpec], at: usize, count: usize) -> String {
    let missing = names.len().saturating_sub(count);
    let spec = names.get(at + missing).or(names.last());
    let keyword = spec.and_then(|spec| spec.keywords.first());
    keyword.map_or_else(|| format!("region {at}"), |&word| word.to_owned())
}
