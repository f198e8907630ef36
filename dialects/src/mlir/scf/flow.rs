//! How control and values flow.

use pir_ir::{Attr, FlowEdge, FlowPoint, OpView, RegionFlow, ValueId};
use smallvec::{SmallVec, smallvec};

use super::{IF, cases};
use crate::pd::condition::truth;

/// The number of operands of a region's terminator.
fn ends_with(op: OpView<'_>, region: usize) -> usize {
    let end = op
        .body
        .op_regions(op.op)
        .get(region)
        .and_then(|&r| op.body.region_terminator(r));
    end.map_or(0, |end| op.body.num_operands(end))
}

/// A loop that counts: its region gets the number, and after it the carried values.
pub(super) struct ForFlow;

impl ForFlow {
    /// The bounds and the step, as far as they are constants.
    fn bounds(op: OpView<'_>, constant: &dyn Fn(ValueId) -> Option<Attr>) -> [Option<i64>; 3] {
        [0, 1, 2].map(|at| {
            let value = op.operand(at)?;
            constant(value).and_then(|attr| op.ctx.attr_int(attr))
        })
    }
}

impl RegionFlow for ForFlow {
    fn edges(&self, op: OpView<'_>) -> SmallVec<[FlowEdge; 6]> {
        let inits = 3..op.body.num_operands(op.op).max(3);
        let yielded = 0..ends_with(op, 0);
        let inside = |from, operands| FlowEdge {
            at: 1,
            ..FlowEdge::new(from, FlowPoint::Region(0), operands)
        };
        smallvec![
            inside(FlowPoint::Parent, inits.clone()),
            FlowEdge::new(FlowPoint::Parent, FlowPoint::Parent, inits),
            inside(FlowPoint::Region(0), yielded.clone()),
            FlowEdge::new(FlowPoint::Region(0), FlowPoint::Parent, yielded),
        ]
    }

    fn runs_at_least_once(&self, op: OpView<'_>, _: usize) -> bool {
        let bound = |at| op.body.constant_int(op.ctx, op.operand(at)?);
        matches!((bound(0), bound(1)), (Some(lower), Some(upper)) if lower < upper)
    }

    fn is_repeated(&self, _: OpView<'_>, _: usize) -> bool {
        true
    }

    fn next(&self, op: OpView<'_>, from: FlowPoint, constant: &dyn Fn(ValueId) -> Option<Attr>) -> Option<FlowPoint> {
        let [lower, upper, _] = Self::bounds(op, constant);
        let empty = op.operand(0) == op.operand(1) || lower? >= upper?;
        (from == FlowPoint::Parent && empty).then_some(FlowPoint::Parent)
    }
}

/// A loop with a region that decides and one that is repeated.
pub(super) struct WhileFlow;

impl WhileFlow {
    fn flag(op: OpView<'_>) -> Option<ValueId> {
        let end = op.body.region_terminator(*op.body.op_regions(op.op).first()?)?;
        op.body.operands(end).next()
    }
}

impl RegionFlow for WhileFlow {
    fn edges(&self, op: OpView<'_>) -> SmallVec<[FlowEdge; 6]> {
        let forwarded = 1..ends_with(op, 0).max(1);
        let (before, after) = (FlowPoint::Region(0), FlowPoint::Region(1));
        smallvec![
            FlowEdge::new(FlowPoint::Parent, before, 0..op.body.num_operands(op.op)),
            FlowEdge::new(before, after, forwarded.clone()),
            FlowEdge::new(before, FlowPoint::Parent, forwarded),
            FlowEdge::new(after, before, 0..ends_with(op, 1)),
        ]
    }

    fn runs_at_least_once(&self, _: OpView<'_>, region: usize) -> bool {
        region == 0
    }

    fn is_repeated(&self, _: OpView<'_>, _: usize) -> bool {
        true
    }

    fn next(&self, op: OpView<'_>, from: FlowPoint, constant: &dyn Fn(ValueId) -> Option<Attr>) -> Option<FlowPoint> {
        if from != FlowPoint::Region(0) {
            return None;
        }
        match truth(op.ctx, constant(Self::flag(op)?)?)? {
            true => Some(FlowPoint::Region(1)),
            false => Some(FlowPoint::Parent),
        }
    }

    fn branch_condition(&self, op: OpView<'_>, from: FlowPoint, to: FlowPoint) -> Option<(ValueId, bool)> {
        let flag = (from == FlowPoint::Region(0)).then(|| Self::flag(op))??;
        Some((flag, to == FlowPoint::Region(1)))
    }
}

/// A choice of one region, by a truth value or by a number.
pub(super) struct BranchFlow;

impl BranchFlow {
    fn point(op: OpView<'_>, region: usize) -> FlowPoint {
        let blocks = op.body.op_regions(op.op).get(region).map(|&r| op.body.region_blocks(r));
        match blocks.is_none_or(<[_]>::is_empty) {
            true => FlowPoint::Parent,
            false => FlowPoint::Region(region),
        }
    }
}

impl RegionFlow for BranchFlow {
    fn edges(&self, op: OpView<'_>) -> SmallVec<[FlowEdge; 6]> {
        let mut edges = SmallVec::new();
        for region in 0..op.body.op_regions(op.op).len() {
            let to = Self::point(op, region);
            edges.push(FlowEdge::new(FlowPoint::Parent, to, 0..0));
            if to != FlowPoint::Parent {
                edges.push(FlowEdge::new(to, FlowPoint::Parent, 0..ends_with(op, region)));
            }
        }
        edges
    }

    fn edges_from(&self, op: OpView<'_>, from: FlowPoint) -> SmallVec<[FlowEdge; 6]> {
        let mut edges = SmallVec::new();
        match from {
            FlowPoint::Region(region) if Self::point(op, region) == from => {
                edges.push(FlowEdge::new(from, FlowPoint::Parent, 0..ends_with(op, region)));
            }
            FlowPoint::Region(_) => {}
            FlowPoint::Parent => {
                let regions = 0..op.body.op_regions(op.op).len();
                edges.extend(regions.map(|region| FlowEdge::new(from, Self::point(op, region), 0..0)));
            }
        }
        edges
    }

    fn edges_to(&self, op: OpView<'_>, to: FlowPoint) -> SmallVec<[FlowEdge; 6]> {
        match to {
            FlowPoint::Region(region) if Self::point(op, region) == to => {
                SmallVec::from_iter([FlowEdge::new(FlowPoint::Parent, to, 0..0)])
            }
            FlowPoint::Region(_) => SmallVec::new(),
            FlowPoint::Parent => {
                let mut edges = self.edges(op);
                edges.retain(|edge| edge.to == to);
                edges
            }
        }
    }

    fn runs_at_least_once(&self, _: OpView<'_>, _: usize) -> bool {
        false
    }

    fn is_repeated(&self, _: OpView<'_>, _: usize) -> bool {
        false
    }

    fn is_fixed(&self, _: OpView<'_>, from: FlowPoint) -> bool {
        from == FlowPoint::Parent
    }

    fn next(&self, op: OpView<'_>, from: FlowPoint, constant: &dyn Fn(ValueId) -> Option<Attr>) -> Option<FlowPoint> {
        if from != FlowPoint::Parent {
            return None;
        }
        let known = constant(op.operand(0)?)?;
        let region = match cases(op) {
            None => usize::from(!truth(op.ctx, known)?),
            Some(cases) => {
                let number = op.ctx.attr_int(known)?;
                cases.iter().position(|&case| case == number).map_or(0, |at| at + 1)
            }
        };
        Some(Self::point(op, region))
    }

    fn branch_condition(&self, op: OpView<'_>, _: FlowPoint, to: FlowPoint) -> Option<(ValueId, bool)> {
        match to {
            FlowPoint::Region(branch) if op.name() == IF => Some((op.operand(0)?, branch == 0)),
            _ => None,
        }
    }
}
