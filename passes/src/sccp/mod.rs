//! `sccp`: sparse conditional constant propagation.
//!
//! # Algorithm
//! Every value is unknown at first, then perhaps a constant, in the end perhaps one that varies; it only moves in this
//! direction. Blocks and regions count as run only when control is seen to come there: a branch whose condition is a
//! constant is taken one way, one whose condition is unknown not at all yet. A slot (a region or block argument, the
//! result of an `if` or a `while`) is what all those of its sources agree on from which control comes. Since this is
//! optimistic, a value that is carried around a loop is a constant if it enters as one and stays the same as long as it
//! is one, which no local rule can see.
//!
//! Operations are computed by their folds and by the evaluator of the driver. In the end uses of values that are
//! constants become uses of the constants, and operations that have become unnecessary go. That branches are taken and
//! loops removed, now that their conditions are constants, is left to `canonicalize`.
//!
//! # Conditions
//! * Values of types with dimensions that are not known vary.
//! * What is not a number is not propagated, and nothing that would fail, like a division by zero, is computed: both are
//!   the evaluator's rules.
//! * Constants pass into functions and out of them as `calls` specifies.
//! * A region of several blocks that belongs to an operation with regions is run with arguments that vary.

mod calls;
#[cfg(test)]
mod tests;

use std::cell::Cell;

use pir_ir::{
    Attr, BlockId, Body, Context, Diagnostic, FlowEdge, FlowPoint, FoldResult, Module, OpId, Sym, Traits, Type, Use,
    ValueDef, ValueId,
};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::analysis::{Constants, EffectAnalysis, Variables, has_simple_regions, successor_start};
use crate::bodies::{for_each_body_mut, inner_bodies_mut};
use crate::forward_args::{Replacer, is_entry_end};
use crate::pass::{Changed, ConstantEvaluator, Pass, PassContext, Scope};

/// Operations with more operands are not computed: each is looked at when an operand changes.
const MAX_OPERANDS: usize = 64;

/// The pass `sccp`.
pub struct Sccp;

impl Pass for Sccp {
    fn name(&self) -> &'static str {
        "sccp"
    }

    fn summary(&self) -> &'static str {
        "Propagate constants along executable control-flow edges"
    }

    fn description(&self) -> &'static str {
        "Sparse conditional constant propagation, through structured control flow and through blocks. A branch on a \
         constant is assumed to be taken in one direction only, and a loop-carried value is assumed to be constant \
         until the analysis finds a change. Constants propagate into private functions that are only called, and out of \
         functions that always return them. Uses of such values become uses of constants; `canonicalize` then removes \
         the branches that are not taken."
    }

    fn scope(&self) -> Scope {
        Scope::Body
    }

    fn run(&self, module: &mut Module, cx: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
        let across = across_calls(module, cx.services.evaluator);
        let within = for_each_body_mut(module, |ctx, body| {
            // A value that is changed in place is not a constant.
            let changes = !body.analysis::<Variables>(ctx).is_empty();
            Ok((!changes && sccp(ctx, body, cx.services.evaluator, None, None)).into())
        })?;
        Ok(within | across.into())
    }
}

/// The results for the functions of a scope: of each argument, and of each result.
#[derive(Default)]
struct Calls {
    args: FxHashMap<Sym, Vec<Known>>,
    results: FxHashMap<Sym, Vec<Known>>,
}

/// Propagates constants into functions that are called, and out of them.
fn across_calls(module: &mut Module, evaluator: Option<&dyn ConstantEvaluator>) -> bool {
    let ctx = module.ctx.clone();
    let mut changed = false;
    let mut pending = vec![(&mut module.body, true)];
    while let Some((body, top)) = pending.pop() {
        if let Some(calls) = calls::across(&ctx, body, top, evaluator) {
            for op in body.walk_all().collect::<Vec<_>>() {
                let view = body.view(&ctx, op);
                let name = view.str("sym_name").filter(|_| view.has(Traits::FUNCTION));
                let Some(name) = name.map(|name| ctx.sym(name)) else {
                    continue;
                };
                let Some(inner) = body.isolated_mut(op) else { continue };
                if inner.analysis::<Variables>(&ctx).is_empty() {
                    let args = calls.args.get(&name).map(|args| &**args);
                    changed |= sccp(&ctx, inner, evaluator, Some(&calls), args);
                }
            }
        }
        pending.extend(inner_bodies_mut(&ctx, body).map(|inner| (inner, false)));
    }
    changed
}

/// The lattice of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Known {
    /// Nothing yet: control has not come there.
    Nothing,
    Constant(Attr),
    Varies,
}

/// Which ways control takes through an operation with regions.
#[derive(Default)]
struct Flow {
    /// The reached points from which not all edges are taken.
    open: SmallVec<[FlowPoint; 4]>,
    taken: FxHashSet<(FlowPoint, FlowPoint)>,
}

struct Solver<'a> {
    ctx: &'a Context,
    body: &'a Body,
    constants: &'a Constants<'a>,
    known: Vec<Known>,
    runs: FxHashSet<BlockId>,
    flows: FxHashMap<OpId, Flow>,
    /// Whether all regions of an operation have one block.
    simple: FxHashMap<OpId, bool>,
    /// The successors that terminators go to.
    taken: FxHashMap<OpId, SmallVec<[usize; 2]>>,
    blocks: Vec<BlockId>,
    changed: Vec<ValueId>,
    /// The constants that functions return.
    calls: Option<&'a Calls>,
}

fn sccp(
    ctx: &Context,
    body: &mut Body,
    evaluator: Option<&dyn ConstantEvaluator>,
    calls: Option<&Calls>,
    args: Option<&[Known]>,
) -> bool {
    let constants = Constants::new(ctx, evaluator, false);
    let known = Solver::solved(ctx, body, &constants, calls, args).known;
    rewrite(ctx, body, &constants, &known)
}

impl<'a> Solver<'a> {
    /// Solves a body whose arguments are known to be these, or may be anything.
    fn solved(
        ctx: &'a Context,
        body: &'a Body,
        constants: &'a Constants<'a>,
        calls: Option<&'a Calls>,
        args: Option<&[Known]>,
    ) -> Self {
        let mut solver = Solver {
            ctx,
            body,
            constants,
            known: vec![Known::Nothing; body.num_value_slots()],
            runs: FxHashSet::default(),
            flows: FxHashMap::default(),
            simple: FxHashMap::default(),
            taken: FxHashMap::default(),
            blocks: Vec::new(),
            changed: Vec::new(),
            calls,
        };
        solver.solve(args);
        solver
    }

    fn solve(&mut self, args: Option<&[Known]>) {
        if let Some(entry) = self.body.entry_block(self.body.root()) {
            for (at, &arg) in self.body.block_args(entry).iter().enumerate() {
                self.meet(
                    arg,
                    args.and_then(|args| args.get(at).copied()).unwrap_or(Known::Varies),
                );
            }
            self.enter(entry);
        }
        loop {
            if let Some(block) = self.blocks.pop() {
                for op in self.body.block_ops(block) {
                    self.visit(op);
                }
            } else if let Some(value) = self.changed.pop() {
                for at in self.body.uses(value) {
                    self.visit_use(at);
                }
            } else {
                return;
            }
        }
    }

    fn enter(&mut self, block: BlockId) {
        if self.runs.insert(block) {
            self.blocks.push(block);
        }
    }

    /// Something unknown enters a block.
    fn enter_from_outside(&mut self, block: BlockId) {
        for &arg in self.body.block_args(block) {
            self.meet(arg, Known::Varies);
        }
        self.enter(block);
    }

    fn of(&self, value: ValueId) -> Known {
        self.known.get(value.index()).copied().unwrap_or(Known::Varies)
    }

    fn constant(&self, value: ValueId) -> Option<Attr> {
        match self.of(value) {
            Known::Constant(attr) => Some(attr),
            Known::Nothing | Known::Varies => None,
        }
    }

    /// The value may also be this.
    fn meet(&mut self, value: ValueId, new: Known) {
        let old = self.of(value);
        let new = match (old, new) {
            (_, Known::Nothing) | (Known::Varies, _) => return,
            (_, Known::Constant(_)) if !self.ctx.is_static(self.body.value_type(value)) => Known::Varies,
            (Known::Constant(a), Known::Constant(b)) if a == b => return,
            (Known::Constant(_), _) => Known::Varies,
            (Known::Nothing, new) => new,
        };
        self.known[value.index()] = new;
        self.changed.push(value);
    }

    /// `to` may be what `from` is.
    fn pass_on(&mut self, from: ValueId, to: ValueId) {
        let same = self.body.value_type(from) == self.body.value_type(to);
        match self.of(from) {
            Known::Constant(_) if !same => self.meet(to, Known::Varies),
            known => self.meet(to, known),
        }
    }

    fn vary(&mut self, op: OpId) {
        self.body.results(op).for_each(|r| self.meet(r, Known::Varies));
    }

    fn has_flow(&mut self, op: OpId) -> bool {
        let body = self.body;
        let has_flow = body.region_flow(self.ctx, op).is_some();
        has_flow && *self.simple.entry(op).or_insert_with(|| has_simple_regions(body, op))
    }

    /// The operation whose flow an operation takes part in, and the point that control is at there.
    fn flow_point(&mut self, op: OpId) -> Option<(OpId, FlowPoint)> {
        // Most operations neither have regions nor end one.
        if self.body.is_plain(op) && self.body.next_op(op).is_some() {
            return None;
        }
        if self.has_flow(op) {
            return Some((op, FlowPoint::Parent));
        }
        let region = self.body.op_region(op)?;
        let parent = self.body.region_parent(region)?;
        if self.body.region_terminator(region) != Some(op) || !self.has_flow(parent) {
            return None;
        }
        Some((parent, FlowPoint::Region(self.body.region_index(region)?)))
    }

    fn runs(&self, op: OpId) -> bool {
        self.body.op_block(op).is_some_and(|b| self.runs.contains(&b))
    }

    /// An operand has changed.
    fn visit_use(&mut self, at: Use) {
        if !self.runs(at.op) {
            return;
        }
        if !self.body.successors(at.op).is_empty() {
            self.branch(at.op);
            self.pass_to_successors(at);
        } else if let Some((op, point)) = self.flow_point(at.op) {
            // It may decide the control flow from any point that has been reached.
            let open = self.flows.get(&op).map(|f| f.open.clone()).unwrap_or_default();
            for from in open {
                self.decide(op, from);
            }
            self.pass_to_regions(op, point, at);
        } else {
            self.visit(at.op);
        }
    }

    fn visit(&mut self, op: OpId) {
        if !self.body.successors(op).is_empty() {
            self.vary(op);
            self.branch(op);
        } else if let Some((op, point)) = self.flow_point(op) {
            self.decide(op, point);
        } else if !self.body.op_regions(op).is_empty() {
            self.vary(op);
            for &region in self.body.op_regions(op) {
                for &block in self.body.region_blocks(region) {
                    self.enter_from_outside(block);
                }
            }
        } else {
            self.fold(op);
        }
    }

    fn fold(&mut self, op: OpId) {
        let body = self.body;
        let count = body.num_results(op);
        if count == 0 || body.results(op).all(|r| self.of(r) == Known::Varies) {
            return;
        }
        if body.view(self.ctx, op).has(Traits::CONSTANT) && count == 1 {
            let result = body.result(op, 0);
            let known = self.constants.of(body, result).map_or(Known::Varies, Known::Constant);
            return self.meet(result, known);
        }
        if let Some(results) = self
            .calls
            .and_then(|calls| calls.results.get(&calls::called(self.ctx, body, op)?))
        {
            for (result, &known) in body.results(op).zip(results) {
                self.meet(result, known);
            }
            return;
        }
        if body.num_operands(op) > MAX_OPERANDS || body.isolated(op).is_some() {
            return self.vary(op);
        }
        if body.operands(op).any(|v| self.of(v) == Known::Nothing) {
            return;
        }
        let folded = self.constants.fold(body, op, &|v| self.constant(v));
        let Some(folded) = folded.filter(|f| f.len() == count) else {
            return self.vary(op);
        };
        for (result, folded) in body.results(op).zip(folded) {
            match folded {
                FoldResult::Constant(attr) => self.meet(result, Known::Constant(attr)),
                // Only for an operand is this looked at again when it changes.
                FoldResult::Value(v) if body.operands(op).any(|o| o == v) => self.pass_on(v, result),
                FoldResult::Value(_) => self.meet(result, Known::Varies),
            }
        }
    }

    /// Asks where control goes, given what is known: `None` while that depends on something unknown, else the answer.
    fn ask<T>(&self, question: impl FnOnce(&dyn Fn(ValueId) -> Option<Attr>) -> Option<T>) -> Option<Option<T>> {
        let too_early = Cell::new(false);
        let answer = question(&|value| {
            too_early.set(too_early.get() || self.of(value) == Known::Nothing);
            self.constant(value)
        });
        (answer.is_some() || !too_early.get()).then_some(answer)
    }

    fn branch(&mut self, op: OpId) {
        let body = self.body;
        let count = body.successors(op).len();
        if self.taken.get(&op).is_some_and(|t| t.len() == count) {
            return;
        }
        let view = body.view(self.ctx, op);
        let choose = view.def().and_then(|d| d.choose);
        let Some(chosen) = self.ask(|constant| choose.and_then(|c| c(view, constant))) else {
            return;
        };
        for index in (0..count).filter(|&i| chosen.is_none_or(|c| c == i)) {
            let taken = self.taken.entry(op).or_default();
            if taken.contains(&index) {
                continue;
            }
            taken.push(index);
            let block = body.successors(op)[index].block;
            for (value, &arg) in body.successor_operands(op, index).zip(body.block_args(block)) {
                self.pass_on(value, arg);
            }
            self.enter(block);
        }
    }

    fn pass_to_successors(&mut self, at: Use) {
        let body = self.body;
        for index in self.taken.get(&at.op).cloned().unwrap_or_default() {
            let successor = body.successors(at.op)[index];
            let place = at.index.checked_sub(successor_start(body, at.op, index));
            if let Some(place) = place.filter(|&p| p < successor.operands as usize)
                && let Some(&arg) = body.block_args(successor.block).get(place)
            {
                self.pass_on(body.operand(at.op, at.index), arg);
            }
        }
    }

    fn edges_from(&self, op: OpId, from: FlowPoint) -> SmallVec<[FlowEdge; 6]> {
        let flow = self.body.region_flow(self.ctx, op);
        flow.map(|flow| flow.edges_from(self.body.view(self.ctx, op), from))
            .unwrap_or_default()
    }

    /// Control is at a point of an operation with regions: where it goes from there.
    fn decide(&mut self, op: OpId, from: FlowPoint) {
        let body = self.body;
        let edges = self.edges_from(op, from);
        let flow = self.flows.entry(op).or_default();
        if edges.iter().all(|e| flow.taken.contains(&(from, e.to))) {
            return;
        }
        if !flow.open.contains(&from) {
            flow.open.push(from);
        }
        let only = edges.len() == 1;
        let view = body.view(self.ctx, op);
        let next = self.ask(|constant| match body.region_flow(self.ctx, op) {
            Some(flow) if !only => flow.next(view, from, constant),
            _ => None,
        });
        let Some(next) = next else { return };
        for edge in &edges {
            let flow = self.flows.entry(op).or_default();
            if next.is_some_and(|to| to != edge.to) || !flow.taken.insert((from, edge.to)) {
                continue;
            }
            let inputs = body.flow_inputs(op, edge.to);
            let source = body.flow_source_op(op, from);
            for (index, &input) in inputs.iter().enumerate() {
                match source.and_then(|s| body.get_operand(s, edge.operand_of(index)?)) {
                    Some(value) => self.pass_on(value, input),
                    None => self.meet(input, Known::Varies),
                }
            }
            if let FlowPoint::Region(region) = edge.to
                && let Some(block) = body.op_regions(op).get(region).and_then(|&r| body.entry_block(r))
            {
                self.enter(block);
            }
        }
        let flow = self.flows.entry(op).or_default();
        if edges.iter().all(|e| flow.taken.contains(&(from, e.to))) {
            flow.open.retain(|open| *open != from);
        }
    }

    /// Hands one operand on, along the ways that are taken.
    fn pass_to_regions(&mut self, op: OpId, from: FlowPoint, at: Use) {
        let body = self.body;
        for edge in self.edges_from(op, from) {
            let taken = self.flows.get(&op).is_some_and(|f| f.taken.contains(&(from, edge.to)));
            if taken && let Some(input) = edge.input_of(at.index).and_then(|i| body.flow_input(op, edge.to, i)) {
                self.pass_on(body.operand(at.op, at.index), input);
            }
        }
    }
}

/// Replaces values that are known to be constant with constants.
fn rewrite(ctx: &Context, body: &mut Body, constants: &Constants<'_>, known: &[Known]) -> bool {
    let facts = body.analysis::<EffectAnalysis>(ctx);
    let mut changed = false;
    let mut of_args: FxHashMap<(BlockId, Attr, Type), ValueId> = FxHashMap::default();
    for block in body.all_blocks() {
        let args: SmallVec<[ValueId; 4]> = body.block_args(block).into();
        let ops = body.block_ops_vec(block);
        let Some(&first) = ops.first() else { continue };
        for arg in args {
            let Some(&Known::Constant(attr)) = known.get(arg.index()) else {
                continue;
            };
            let key = (block, attr, body.value_type(arg));
            let made = of_args.get(&key).copied();
            if let Some(constant) = replace(ctx, body, constants, arg, attr, first, made) {
                of_args.insert(key, constant);
                changed = true;
            }
        }
        for op in ops {
            if body.view(ctx, op).has(Traits::CONSTANT) {
                continue;
            }
            let mut replaced = false;
            for result in body.results(op) {
                if let Some(&Known::Constant(attr)) = known.get(result.index()) {
                    replaced |= replace(ctx, body, constants, result, attr, op, None).is_some();
                }
            }
            changed |= replaced;
            let leaf = body.op_regions(op).is_empty();
            if replaced && leaf && !body.op_has_uses(op) && facts.is_removable(body.view(ctx, op)) {
                body.erase_op(op);
            }
        }
    }
    changed
}

/// Makes the uses of a value uses of a constant, one that is there or a new one before `anchor`, and gives that.
fn replace(
    ctx: &Context,
    body: &mut Body,
    constants: &Constants<'_>,
    value: ValueId,
    attr: Attr,
    anchor: OpId,
    made: Option<ValueId>,
) -> Option<ValueId> {
    if body.uses(value).all(|at| is_entry_end(ctx, body, at.op)) {
        return None;
    }
    let ty = body.value_type(value);
    let constant = match made {
        Some(made) => made,
        None => {
            let made = constants.materialize(body, anchor, attr, ty)?;
            if body.value_name(made).is_none() {
                // An argument keeps its name as well: the printer makes them different.
                let name = body.value_name(value).filter(|n| !n.pack);
                body.set_value_name(made, name);
            }
            made
        }
    };
    debug_assert!(!matches!(body.value_def(constant), ValueDef::None));
    Replacer::default().replace(ctx, body, value, constant);
    Some(constant)
}
