//! Visibility and dominance of operands.
//!
//! A walk in program order keeps, for each value, whether it is visible at this point. A value becomes visible after
//! its definition and ceases to be when the region, or the subtree of the dominator tree, that it is defined in is
//! left: blocks of a region are walked in pre-order of that tree, so what is visible is what dominates. A region of
//! one block needs no tree. The work is one test per operand; only an error costs more.

use rustc_hash::FxHashMap;

use crate::body::{Body, ValueDef};
use crate::context::Context;
use crate::declare::Traits;
use crate::diagnostics::Diagnostic;
use crate::dominance::DominatorTree;
use crate::entity::{OpId, RegionId, ValueId};
use crate::registry::OpDef;

use super::declared::Checker;
use super::describe::describe_value;
use super::memory::{Memory, Task};
use super::options::MAX_ERRORS;

struct Walk<'a> {
    ctx: &'a Context,
    body: &'a Body,
    visible: Vec<bool>,
    /// The values that are visible, in the order in which they became so.
    trail: Vec<ValueId>,
    trees: FxHashMap<RegionId, DominatorTree>,
}

/// Reports operands that are not visible where they are used.
pub(super) fn check(
    &Checker { ctx, body, options }: &Checker<'_>,
    owner: Option<&OpDef>,
    memory: &mut Memory,
    errors: &mut Vec<Diagnostic>,
) {
    let mut walk = Walk {
        ctx,
        body,
        visible: std::mem::take(&mut memory.visible),
        trail: std::mem::take(&mut memory.trail),
        trees: FxHashMap::default(),
    };
    walk.visible.clear();
    walk.visible.resize(body.num_value_slots(), false);
    walk.trail.clear();
    walk.trail.reserve_exact(body.num_value_slots());
    // MLIR's modules are graphs.
    let graph =
        |def: &OpDef| def.has(Traits::GRAPH_REGION) || options.allow_unregistered && def.has(Traits::SYMBOL_TABLE);
    if owner.is_some_and(graph) {
        walk.define_all(body.root());
    }
    let mut tasks = std::mem::take(&mut memory.tasks);
    tasks.push(Task::Region(body.root()));
    while let Some(task) = tasks.pop() {
        match task {
            Task::Region(region) => walk.region(region, &mut tasks),
            Task::Dominating(block) => {
                tasks.push(Task::Leave(walk.trail.len()));
                if let Some(tree) = body.block_region(block).and_then(|r| walk.trees.get(&r)) {
                    tasks.extend(tree.children(block).iter().rev().map(|&b| Task::Dominating(b)));
                }
                tasks.push(Task::Block(block));
            }
            Task::Block(block) => {
                for &arg in body.block_args(block) {
                    walk.define(arg);
                }
                tasks.extend(body.first_op(block).map(Task::Op));
            }
            Task::Op(first) => {
                // Operations without regions are finished at once.
                let mut op = first;
                let has_regions = loop {
                    walk.operands(op, errors);
                    if errors.len() >= MAX_ERRORS {
                        return;
                    }
                    if !body.op_regions(op).is_empty() {
                        break true;
                    }
                    body.results(op).for_each(|r| walk.define(r));
                    match body.next_op(op) {
                        Some(next) => op = next,
                        None => break false,
                    }
                };
                if !has_regions {
                    continue;
                }
                tasks.extend(body.next_op(op).map(Task::Op));
                tasks.push(Task::Define(op));
                let def = ctx.op_def(body.op_name(op));
                // An unknown operation may have a graph region, without control flow between blocks.
                let graph = def.map_or(options.allow_unregistered, |d| d.has(Traits::GRAPH_REGION));
                for &region in body.op_regions(op).iter().rev() {
                    if graph && (def.is_some() || body.single_block(region).is_some()) {
                        tasks.push(Task::Leave(walk.trail.len()));
                        walk.define_all(region);
                    }
                    tasks.push(Task::Region(region));
                }
            }
            Task::Define(op) => body.results(op).for_each(|r| walk.define(r)),
            Task::Leave(mark) => {
                for value in walk.trail.drain(mark..) {
                    walk.visible[value.index()] = false;
                }
            }
        }
    }
    (memory.visible, memory.trail, memory.tasks) = (walk.visible, walk.trail, tasks);
}

impl Walk<'_> {
    /// Reports operands that are not visible.
    #[inline]
    fn operands(&mut self, op: OpId, errors: &mut Vec<Diagnostic>) {
        for operand in self.body.operands(op) {
            if !self.visible[operand.index()] {
                errors.extend(self.explain(op, operand));
                // It is reported once.
                self.define(operand);
            }
        }
    }

    #[inline]
    fn define(&mut self, value: ValueId) {
        if !std::mem::replace(&mut self.visible[value.index()], true) {
            self.trail.push(value);
        }
    }

    fn define_all(&mut self, region: RegionId) {
        for &block in self.body.region_blocks(region) {
            for op in self.body.block_ops(block) {
                self.body.results(op).for_each(|r| self.define(r));
            }
        }
    }

    fn region(&mut self, region: RegionId, tasks: &mut Vec<Task>) {
        match self.body.region_blocks(region) {
            [] => {}
            &[block] => {
                tasks.push(Task::Leave(self.trail.len()));
                tasks.push(Task::Block(block));
            }
            blocks => {
                let tree = DominatorTree::new(self.body, region);
                for &block in blocks.iter().rev().filter(|&&b| !tree.is_reachable(b)) {
                    tasks.push(Task::Leave(self.trail.len()));
                    tasks.push(Task::Block(block));
                }
                tasks.push(Task::Dominating(blocks[0]));
                self.trees.insert(region, tree);
            }
        }
    }

    /// Why the value is not visible at the operation; `None` when it need not be, in code that is never reached.
    fn explain(&self, op: OpId, value: ValueId) -> Option<Diagnostic> {
        let (ctx, body) = (self.ctx, self.body);
        let name = describe_value(ctx, body, value);
        let span = body.op_span(op);
        let user = ctx.op_str(body.op_name(op));
        let defined_at = match body.value_def(value) {
            ValueDef::Result(def, _) if body.is_alive(def) && body.op_block(def).is_some() => Some(body.op_span(def)),
            ValueDef::Arg(block, _) => body.block_parent(block).map(|p| body.op_span(p)).or(Some(span)),
            _ => None,
        };
        let (Some(defined_at), Some(region)) = (defined_at, body.value_region(value)) else {
            return Some(
                Diagnostic::error("undefined-value", format!("`{user}` uses {name}, which is not defined"))
                    .label(span, "used here")
                    .help("the operation that defined it was removed, or was never put into a block"),
            );
        };
        let inside = body.op_region(op).is_some_and(|r| body.region_contains(region, r));
        if !inside {
            let error = Diagnostic::error(
                "not-visible",
                format!("{name} is not visible here: a value defined in a region is not visible outside it"),
            );
            let parent = body.region_parent(region).map(|p| ctx.op_str(body.op_name(p)));
            return Some(
                error
                    .label(span, "used here")
                    .label(defined_at, "defined here")
                    .help(format!(
                        "yield it from the region, and use the result of `{}`",
                        parent.unwrap_or("the operation")
                    )),
            );
        }
        // The operation in the region of the definition that the use is, or is nested in.
        let mut at = op;
        while body.op_region(at) != Some(region) {
            at = body.parent_op(at)?;
        }
        let (from, to) = (body.value_block(value)?, body.op_block(at)?);
        if from == to {
            let inside_itself = body.defining_op(value) == Some(at) && at != op;
            return Some(
                Diagnostic::error("use-before-definition", format!("{name} is used before it is defined"))
                    .label(span, "used here")
                    .label(defined_at, "defined here")
                    .help(match inside_itself {
                        true => "the results of an operation are not visible in its own regions",
                        false => "move the definition before the use",
                    }),
            );
        }
        if let Some(tree) = self.trees.get(&region)
            && tree.dominates(from, to)
        {
            return None;
        }
        Some(
            Diagnostic::error(
                "not-dominated",
                format!("{name} may be undefined here: its block does not dominate this one"),
            )
            .label(span, "used here")
            .label(defined_at, "defined here")
            .help("define it in a block that every path to here passes, or pass it as a block argument"),
        )
    }
}
