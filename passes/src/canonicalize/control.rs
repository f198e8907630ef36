//! The way control takes through an operation with regions, where constants tell.

use pir_ir::{Attr, Body, Context, FlowEdge, FlowPoint, FoldResult, OpId, RegionId, ValueId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::constants::Constants;
use crate::analysis::regions_equal;

/// How many operations are evaluated to learn where control goes, and how long the chains may be.
const MAX_EVALUATED: usize = 64;

/// A way from an operation, through some of its regions, each at most once, and back.
pub(super) struct Path {
    /// The regions on the way, with the values that are bound to their arguments.
    regions: SmallVec<[(RegionId, SmallVec<[ValueId; 4]>); 2]>,
    /// The values that the results stand for.
    results: SmallVec<[ValueId; 4]>,
}

/// The way control takes through an operation, if it is known. With `compare`, a way is known too if it does not matter,
/// since the regions it may lead to hold the same.
pub(super) fn known_path(constants: &Constants<'_>, body: &Body, op: OpId, compare: bool) -> Option<Path> {
    let ctx = constants.ctx();
    let flow = body.region_flow(ctx, op)?;
    let view = body.view(ctx, op);
    let edges = flow.edges(view);
    // Region arguments on the way so far, and what is bound to them.
    let mut bound: FxHashMap<ValueId, ValueId> = FxHashMap::default();
    let mut path = Path {
        regions: SmallVec::new(),
        results: SmallVec::new(),
    };
    let mut from = FlowPoint::Parent;
    loop {
        let source = body.flow_source_op(op, from)?;
        let to = {
            let evaluation = Evaluation {
                constants,
                body,
                bound: &bound,
                op,
            };
            let mut ways = edges.iter().filter(|e| e.from == from);
            match (ways.next(), ways.next()) {
                (Some(only), None) => only.to,
                _ => match flow.next(view, from, &|value| evaluation.constant(value)) {
                    Some(to) => to,
                    None if compare => any_of_equals((ctx, body), op, from, &edges)?,
                    None => return None,
                },
            }
        };
        let edge = edges.iter().find(|e| e.from == from && e.to == to)?;
        let inputs = body.flow_inputs(op, to);
        let values: SmallVec<[ValueId; 4]> = body
            .operands(source)
            .skip(edge.operands.start)
            .take(edge.operands.len())
            .collect();
        if values.len() != inputs.len() {
            return None;
        }
        match to {
            FlowPoint::Parent => {
                path.results = values;
                return Some(path);
            }
            FlowPoint::Region(index) => {
                let region = *body.op_regions(op).get(index)?;
                body.single_block(region)?;
                // Coming by a second time, control goes round in a loop.
                if path.runs(region) {
                    return None;
                }
                bound.extend(inputs.iter().copied().zip(values.iter().copied()));
                path.regions.push((region, values));
                from = to;
            }
        }
    }
}

/// The first of the regions that control may go to from a point, if all hold the same, get the same and lead out of the
/// operation.
fn any_of_equals(body_ctx: (&Context, &Body), op: OpId, from: FlowPoint, edges: &[FlowEdge]) -> Option<FlowPoint> {
    let (ctx, body) = body_ctx;
    let mut ways = edges.iter().filter(|e| e.from == from);
    let first = ways.next()?;
    let region = |to: FlowPoint| match to {
        FlowPoint::Region(index) => body.op_regions(op).get(index).copied(),
        FlowPoint::Parent => None,
    };
    let leads_out = |to: FlowPoint| edges.iter().filter(|e| e.from == to).all(|e| e.to == FlowPoint::Parent);
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
    pub(super) fn runs(&self, region: RegionId) -> bool {
        self.regions.iter().any(|(r, _)| *r == region)
    }

    /// Puts what runs in the place of the operation. Gives the operations that were moved.
    pub(super) fn inline(self, body: &mut Body, op: OpId) -> Vec<OpId> {
        let mut moved = Vec::new();
        let mut results = self.results;
        // Values that arguments stand for; what is bound later may be an argument bound before.
        for at in 0..self.regions.len() {
            let (region, values) = &self.regions[at];
            let Some(block) = body.single_block(*region) else {
                continue;
            };
            for (&arg, &value) in body.block_args(block).to_vec().iter().zip(values) {
                let value = resolve(body, &self.regions[..at], value);
                body.replace_all_uses(arg, value);
            }
        }
        for value in &mut results {
            *value = resolve(body, &self.regions, *value);
        }
        for (region, _) in &self.regions {
            let Some(block) = body.single_block(*region) else {
                continue;
            };
            let end = body.last_op(block);
            for inner in body.block_ops_vec(block) {
                if Some(inner) != end {
                    body.unlink_op(inner);
                    body.insert_before(op, inner);
                    moved.push(inner);
                }
            }
        }
        for (result, value) in body.results(op).zip(results) {
            if body.value_name(value).is_none() {
                let name = body.value_name(result).filter(|n| !n.pack);
                body.set_value_name(value, name);
            }
            body.replace_all_uses(result, value);
        }
        body.erase_op(op);
        moved
    }
}

/// What a value stands for after the arguments of the regions have been replaced.
fn resolve(body: &Body, regions: &[(RegionId, SmallVec<[ValueId; 4]>)], mut value: ValueId) -> ValueId {
    // Later regions are bound to arguments of earlier ones, so one pass backward follows the chain.
    for (region, values) in regions.iter().rev() {
        let args = body.single_block(*region).map_or(&[][..], |b| body.block_args(b));
        if let Some(at) = args.iter().position(|&a| a == value) {
            value = values.get(at).copied().unwrap_or(value);
        }
    }
    value
}

/// Constants on the way so far, with arguments standing for what is bound to them.
struct Evaluation<'a> {
    constants: &'a Constants<'a>,
    body: &'a Body,
    bound: &'a FxHashMap<ValueId, ValueId>,
    op: OpId,
}

impl Evaluation<'_> {
    fn through(&self, mut value: ValueId) -> ValueId {
        while let Some(&next) = self.bound.get(&value) {
            value = next;
        }
        value
    }

    /// The constant that a value is when control comes here for the first time.
    fn constant(&self, value: ValueId) -> Option<Attr> {
        let body = self.body;
        let mut known: FxHashMap<ValueId, Attr> = FxHashMap::default();
        let value = self.through(value);
        // The operations that the value depends on, each pushed again behind its operands.
        let mut pending = vec![(value, false)];
        let mut evaluated = 0;
        while let Some((value, operands_done)) = pending.pop() {
            if known.contains_key(&value) {
                continue;
            }
            if let Some(constant) = self.constants.of(body, value) {
                known.insert(value, constant);
                continue;
            }
            // Only what is computed in the operation itself: the rest is what folding says it is.
            let op = body.defining_op(value)?;
            if body.parent_op(op) != Some(self.op) || !body.op_regions(op).is_empty() {
                continue;
            }
            if !operands_done {
                evaluated += 1;
                if evaluated > MAX_EVALUATED {
                    return None;
                }
                pending.push((value, true));
                pending.extend(body.operands(op).map(|o| (self.through(o), false)).filter(|(o, _)| {
                    // Unknown arguments and values from outside stay unknown.
                    body.defining_op(*o).is_some() && !known.contains_key(o)
                }));
                continue;
            }
            let folded = self.constants.fold(body, op, &|o| known.get(&self.through(o)).copied());
            for (result, folded) in body.results(op).zip(folded.unwrap_or_default()) {
                let constant = match folded {
                    FoldResult::Constant(attr) => Some(attr),
                    FoldResult::Value(v) => {
                        let v = self.through(v);
                        known.get(&v).copied().or_else(|| self.constants.of(body, v))
                    }
                };
                if let Some(constant) = constant {
                    known.insert(result, constant);
                }
            }
        }
        known.get(&value).copied()
    }
}
