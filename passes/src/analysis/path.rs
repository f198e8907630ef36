//! The path that control takes through an operation with regions, if constants determine it.
//!
//! The path is followed step by step: from the operation into a region, from region to region, and back. At a choice,
//! the deciding value is evaluated with the values that enter the regions at this step. If the condition of a loop is
//! known in every iteration, the loop becomes a list of regions, which can be inlined.

use std::cell::RefCell;

use pir_ir::{
    Attr, BlockId, Body, Context, FlowEdge, FlowPoint, FoldResult, OpId, RegionId, Restated, Rewriter, ValueDef,
    ValueId, ValueMap,
};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};

use super::constants::Constants;
use super::edges::Ways;
use super::equality::regions_equal;

/// How many operations are evaluated to learn where control goes next.
const MAX_EVALUATED: usize = 64;

/// How far to follow a way.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    /// A way is known too if it does not matter, since the regions it may lead to hold the same.
    pub(crate) compare: bool,
    /// How many steps there may be more than regions.
    pub(crate) more_steps: usize,
    /// How many operations may be copied: those of regions that control comes through more than once.
    pub(crate) copies: usize,
    /// Whether operations with regions may be copied.
    pub(crate) copy_regions: bool,
}

impl Limits {
    /// Nothing is compared. One region may come twice, but must be small: the condition of a loop that runs once.
    pub(crate) const SMALL: Limits = Limits {
        compare: false,
        more_steps: 1,
        copies: 16,
        copy_regions: false,
    };
}

struct Step {
    region: RegionId,
    /// The values bound to the arguments of the region, in the words of the step before.
    values: SmallVec<[ValueId; 4]>,
}

/// A way from an operation, through some of its regions, and back.
pub(crate) struct Path {
    op: OpId,
    steps: Vec<Step>,
    /// The values of the results, in terms of the last step.
    results: SmallVec<[ValueId; 4]>,
    /// Whether the way leads out of the operation again.
    ended: bool,
}

/// The way control takes through an operation, if it is known.
pub(crate) fn known_path(constants: &Constants<'_>, body: &Body, op: OpId, limits: Limits) -> Option<Path> {
    follow(constants, body, op, limits, None).filter(|path| path.ended)
}

/// Whether [`Limits::compare`] can make a difference for an operation: control has a choice of regions somewhere.
pub(crate) fn has_choice_of_regions(ctx: &Context, body: &Body, op: OpId) -> bool {
    let ways = Ways::of(ctx, body, op);
    let regions = (0..body.op_regions(op).len()).map(FlowPoint::Region);
    let is_choice = |from: FlowPoint| {
        let mut from = ways.from(from);
        from.clone().nth(1).is_some() && from.all(|way| way.to != FlowPoint::Parent)
    };
    std::iter::once(FlowPoint::Parent).chain(regions).any(is_choice)
}

/// The regions that control is certain to come through before a region of an operation, each once.
pub(crate) fn regions_before(
    constants: &Constants<'_>,
    body: &Body,
    op: OpId,
    region: RegionId,
) -> Option<SmallVec<[RegionId; 2]>> {
    let path = follow(constants, body, op, Limits::SMALL, Some(region)).filter(|path| !path.ended)?;
    Some(path.steps.iter().map(|s| s.region).collect())
}

/// Follows control until it leaves the operation, or is to enter a region.
fn follow(constants: &Constants<'_>, body: &Body, op: OpId, limits: Limits, until: Option<RegionId>) -> Option<Path> {
    let ctx = constants.ctx();
    let flow = body.region_flow(ctx, op)?;
    let view = body.view(ctx, op);
    let edges = flow.edges(view);
    let mut evaluation = Evaluation::new(constants, body, op);
    let mut from = FlowPoint::Parent;
    let mut copies = 0;
    loop {
        let source = body.flow_source_op(op, from)?;
        let mut ways = edges.iter().filter(|e| e.from == from);
        let to = match (ways.next(), ways.next()) {
            (Some(only), None) => only.to,
            _ => match flow.next(view, from, &|v| evaluation.constant((v, evaluation.steps.len()))) {
                Some(to) => to,
                None if limits.compare => any_of_equals(ctx, body, op, from, &edges)?,
                None => return None,
            },
        };
        let edge = edges.iter().find(|e| e.from == from && e.to == to)?;
        let operands = body.operands(source).skip(edge.operands.start);
        let values: SmallVec<[ValueId; 4]> = operands.take(edge.operands.len()).collect();
        if values.len() != body.flow_inputs(op, to).len() {
            return None;
        }
        match to {
            FlowPoint::Parent => {
                return Some(Path {
                    op,
                    steps: evaluation.steps,
                    results: values,
                    ended: true,
                });
            }
            FlowPoint::Region(index) => {
                let region = *body.op_regions(op).get(index)?;
                if until == Some(region) {
                    return Some(Path {
                        op,
                        steps: evaluation.steps,
                        results: values,
                        ended: false,
                    });
                }
                let block = body.single_block(region)?;
                if evaluation.steps.iter().rev().take(8).any(|s| s.region == region) {
                    copies += cost(body, block, limits)?;
                    if copies > limits.copies {
                        return None;
                    }
                }
                if evaluation.steps.len() >= limits.more_steps.saturating_add(body.op_regions(op).len()) {
                    return None;
                }
                evaluation.steps.push(Step { region, values });
                from = to;
            }
        }
    }
}

/// How many operations there are to be copied in a block; `None` for too many.
fn cost(body: &Body, block: BlockId, limits: Limits) -> Option<usize> {
    let mut count = 1;
    for op in body.block_ops(block) {
        // No more is counted than matters.
        let inside = body.op_regions(op).iter().flat_map(|&r| body.walk(r));
        count += 1 + inside.take(limits.copies + 1).count();
        if count > limits.copies || !limits.copy_regions && !body.op_regions(op).is_empty() {
            return None;
        }
    }
    Some(count)
}

/// The first of the regions that control may go to from a point, if all hold the same, get the same and lead out of the
/// operation.
fn any_of_equals(ctx: &Context, body: &Body, op: OpId, from: FlowPoint, edges: &[FlowEdge]) -> Option<FlowPoint> {
    let mut ways = edges.iter().filter(|e| e.from == from);
    let first = ways.next()?;
    let region = |to: FlowPoint| match to {
        FlowPoint::Region(index) => body.op_regions(op).get(index).copied(),
        FlowPoint::Parent => None,
    };
    let (flow, view) = (body.region_flow(ctx, op)?, body.view(ctx, op));
    let leads_out = |to: FlowPoint| flow.edges_from(view, to).iter().all(|e| e.to == FlowPoint::Parent);
    let same = |other: &FlowEdge| {
        let (Some(a), Some(b)) = (region(first.to), region(other.to)) else {
            return false;
        };
        other.operands == first.operands && leads_out(other.to) && regions_equal(ctx, body, &[a], &[b])
    };
    (leads_out(first.to) && ways.all(same)).then_some(first.to)
}

impl Path {
    /// Whether control comes through the region.
    pub(crate) fn runs(&self, region: RegionId) -> bool {
        self.steps.iter().any(|s| s.region == region)
    }

    /// Replaces the operation with the regions on the path; regions that run several times are copied. Returns the
    /// inlined operations.
    pub(crate) fn inline(self, ctx: &Context, body: &mut Body) -> Vec<OpId> {
        let op = self.op;
        let mut placed = Vec::new();
        let mut rewriter = Rewriter::new(ctx, body);
        rewriter.before(op);
        let last_visits = self.last_visits();
        let mut restated = Restated::default();
        // The current names of the values of the previous step.
        let mut names = ValueMap::new();
        for (at, step) in self.steps.iter().enumerate() {
            let values: SmallVec<[ValueId; 4]> = step.values.iter().map(|&v| names.get_or_self(v)).collect();
            names = ValueMap::new();
            let Some(block) = rewriter.body.single_block(step.region) else {
                continue;
            };
            let end = rewriter.body.last_op(block);
            let args: SmallVec<[ValueId; 4]> = rewriter.body.block_args(block).into();
            let inner = rewriter.body.block_ops_vec(block);
            let inner = inner.into_iter().filter(|&o| Some(o) != end);
            for (&arg, &value) in args.iter().zip(&values) {
                let ty = rewriter.body.value_type(arg);
                let stated = match last_visits.contains(&at) {
                    true => value,
                    false => restated.state(&mut rewriter, value, ty),
                };
                names.insert(arg, stated);
            }
            if last_visits.contains(&at) {
                for (&arg, &value) in args.iter().zip(&values) {
                    rewriter.replace_value(arg, value);
                }
                for moved in inner {
                    rewriter.move_here(moved);
                    placed.push(moved);
                }
            } else {
                for original in inner {
                    placed.push(rewriter.clone_op(original, &mut names));
                }
            }
        }
        for (result, value) in rewriter.body.results(op).zip(&self.results) {
            let (value, body) = (names.get_or_self(*value), &mut *rewriter.body);
            if body.value_name(value).is_none() {
                let name = body.value_name(result).filter(|n| !n.pack);
                body.set_value_name(value, name);
            }
            rewriter.replace_value(result, value);
        }
        rewriter.body.erase_op(op);
        restated.finish(&mut rewriter);
        placed
    }

    /// The steps after which control does not come through their region again.
    fn last_visits(&self) -> FxHashSet<usize> {
        let last: FxHashMap<RegionId, usize> = self.steps.iter().enumerate().map(|(at, s)| (s.region, at)).collect();
        last.into_values().collect()
    }
}

/// Constants on the way so far.
struct Evaluation<'a> {
    constants: &'a Constants<'a>,
    body: &'a Body,
    op: OpId,
    steps: Vec<Step>,
    /// The results so far: values of the operation's own regions, at a step.
    known: RefCell<FxHashMap<(ValueId, usize), Option<Attr>>>,
}

/// A value at a step; outside of the operation before the first one.
type At = (ValueId, usize);

impl<'a> Evaluation<'a> {
    fn new(constants: &'a Constants<'a>, body: &'a Body, op: OpId) -> Self {
        Self {
            constants,
            body,
            op,
            steps: Vec::new(),
            // Room for what the condition of a loop takes, at once.
            known: RefCell::new(FxHashMap::with_capacity_and_hasher(14, Default::default())),
        }
    }

    /// The value of an argument of a step, in the previous step.
    fn through(&self, mut at: At) -> At {
        while let (ValueDef::Arg(block, index), Some(step)) = (self.body.value_def(at.0), at.1.checked_sub(1)) {
            let step = &self.steps[step];
            if self.body.block_region(block) != Some(step.region) {
                break;
            }
            let Some(&value) = step.values.get(index as usize) else {
                break;
            };
            at = (value, at.1 - 1);
        }
        at
    }

    /// The constant that a value is at a step.
    fn constant(&self, at: At) -> Option<Attr> {
        let body = self.body;
        let target = self.through(at);
        // The operations that the value depends on, each pushed again after its operands.
        let mut pending: SmallVec<[(At, bool); 16]> = smallvec![(target, false)];
        let mut evaluated = 0;
        while let Some((at, operands_done)) = pending.pop() {
            if self.known.borrow().contains_key(&at) {
                continue;
            }
            if let Some(constant) = self.constants.of(body, at.0) {
                self.known.borrow_mut().insert(at, Some(constant));
                continue;
            }
            // Only values computed inside the operation: others are left to folding.
            let op = body
                .defining_op(at.0)
                .filter(|&op| at.1 > 0 && body.parent_op(op) == Some(self.op) && body.op_regions(op).is_empty());
            let Some(op) = op else {
                self.known.borrow_mut().insert(at, None);
                continue;
            };
            if !operands_done {
                evaluated += 1;
                if evaluated > MAX_EVALUATED {
                    return None;
                }
                pending.push((at, true));
                let operands = body.operands(op).map(|o| self.through((o, at.1)));
                pending.extend(operands.map(|o| (o, false)));
                continue;
            }
            let folded = self
                .constants
                .fold(body, op, &|o| self.look_up(self.through((o, at.1))));
            let mut folded = folded.unwrap_or_default().into_iter();
            for result in body.results(op) {
                let constant = match folded.next() {
                    Some(FoldResult::Constant(attr)) => Some(attr),
                    Some(FoldResult::Value(v)) => self.look_up(self.through((v, at.1))),
                    None => None,
                };
                self.known.borrow_mut().insert((result, at.1), constant);
            }
        }
        self.look_up(target)
    }

    /// The known value at a step.
    fn look_up(&self, at: At) -> Option<Attr> {
        let known = self.known.borrow().get(&at).copied();
        known.unwrap_or_else(|| self.constants.of(self.body, at.0))
    }
}
