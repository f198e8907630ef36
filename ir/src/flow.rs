//! How values flow through operations with regions, as declared by [`RegionFlow`](crate::RegionFlow).
//!
//! Forward: what an operand becomes (arguments of a region, results). Backward: which operands a result or a region
//! argument may come from. Both take the time of the answer, so that a worklist over them is linear.

use smallvec::SmallVec;

use crate::body::{Body, Use, ValueDef};
use crate::context::Context;
use crate::declare::{FlowEdge, FlowPoint};
use crate::entity::{OpId, RegionId, ValueId};
use crate::registry::RegionFlow;

impl Body {
    /// The control-flow interface of an operation.
    pub fn region_flow<'c>(&self, ctx: &'c Context, op: OpId) -> Option<&'c dyn RegionFlow> {
        // Most operations have no regions.
        self.extra(op)?;
        ctx.op_def(self.op_name(op)).and_then(|def| def.flow)
    }

    /// All ways that control can take through an operation. `None` when it has no control-flow interface.
    pub fn flow_edges(&self, ctx: &Context, op: OpId) -> Option<SmallVec<[FlowEdge; 6]>> {
        Some(self.region_flow(ctx, op)?.edges(self.view(ctx, op)))
    }

    /// The index of a region in its operation.
    pub fn region_index(&self, region: RegionId) -> Option<usize> {
        let op = self.region_parent(region)?;
        let regions = self.op_regions(op);
        // Regions are mostly numbered in their order, and an operation may have many.
        let sorted = regions.binary_search(&region).ok();
        sorted.or_else(|| regions.iter().position(|&r| r == region))
    }

    /// The terminator of a region with exactly one block, if that has operations.
    pub fn region_terminator(&self, region: RegionId) -> Option<OpId> {
        self.single_block(region).and_then(|b| self.last_op(b))
    }

    /// The values that control binds at a flow point: region arguments, or results of `op`.
    pub fn flow_inputs(&self, op: OpId, point: FlowPoint) -> SmallVec<[ValueId; 6]> {
        match point {
            FlowPoint::Parent => self.results(op).collect(),
            FlowPoint::Region(region) => self.region_args(op, region).into(),
        }
    }

    /// How many those are.
    pub fn num_flow_inputs(&self, op: OpId, point: FlowPoint) -> usize {
        match point {
            FlowPoint::Parent => self.num_results(op),
            FlowPoint::Region(region) => self.region_args(op, region).len(),
        }
    }

    /// The arguments of the entry block of a region, by the index of the region in its operation.
    fn region_args(&self, op: OpId, region: usize) -> &[ValueId] {
        let entry = self.op_regions(op).get(region).and_then(|&r| self.entry_block(r));
        entry.map_or(&[], |block| self.block_args(block))
    }

    /// The operation whose operands control takes along from a flow point: `op` itself, or a region's terminator.
    pub fn flow_source_op(&self, op: OpId, point: FlowPoint) -> Option<OpId> {
        match point {
            FlowPoint::Parent => Some(op),
            FlowPoint::Region(index) => self.op_regions(op).get(index).and_then(|&r| self.region_terminator(r)),
        }
    }

    /// The operation whose region flow the operands of `user` take part in, and the point that they leave from: the user
    /// itself when it has regions with flow, else its parent when the user is the terminator of a region with flow.
    pub fn flow_of_operands(&self, ctx: &Context, user: OpId) -> Option<(OpId, FlowPoint)> {
        // Most operations have no regions, and are not terminators.
        if !self.is_plain(user) && self.region_flow(ctx, user).is_some() {
            return Some((user, FlowPoint::Parent));
        }
        if self.next_op(user).is_some() {
            return None;
        }
        let region = self.op_region(user)?;
        let parent = self.region_parent(region)?;
        self.region_flow(ctx, parent)?;
        (self.region_terminator(region) == Some(user))
            .then_some((parent, FlowPoint::Region(self.region_index(region)?)))
    }

    /// The values that an operand is bound to when control enters or leaves regions. `None` when the user is an ordinary operation; empty
    /// for an operand that is only read, like a condition.
    pub fn flow_targets(&self, ctx: &Context, at: Use) -> Option<SmallVec<[ValueId; 4]>> {
        let (op, from) = self.flow_of_operands(ctx, at.op)?;
        let edges = self.region_flow(ctx, op)?.edges_from(self.view(ctx, op), from);
        let mut targets = SmallVec::new();
        for edge in &edges {
            let target = edge.input_of(at.index);
            targets.extend(target.and_then(|input| self.flow_input(op, edge.to, input)));
        }
        Some(targets)
    }

    /// The value that control binds at a flow point, at a place.
    pub fn flow_input(&self, op: OpId, point: FlowPoint, index: usize) -> Option<ValueId> {
        match point {
            FlowPoint::Parent => (index < self.num_results(op)).then(|| self.result(op, index)),
            FlowPoint::Region(region) => self.region_args(op, region).get(index).copied(),
        }
    }

    /// The operation that binds a result or a region argument, with the point and the place there. It may be one without
    /// region flow. `None` for arguments of other blocks than the first, and for what nothing defines.
    pub fn flow_place(&self, value: ValueId) -> Option<(OpId, FlowPoint, usize)> {
        match self.value_def(value) {
            ValueDef::Result(op, index) => Some((op, FlowPoint::Parent, index as usize)),
            ValueDef::Arg(block, index) => {
                let region = self.block_region(block)?;
                let op = self.region_parent(region)?;
                if self.entry_block(region) != Some(block) {
                    return None;
                }
                Some((op, FlowPoint::Region(self.region_index(region)?), index as usize))
            }
            ValueDef::None => None,
        }
    }

    /// The operands that a result or a region argument may come from. `None` when an ordinary operation defines the
    /// value, or nothing that is known.
    pub fn flow_sources(&self, ctx: &Context, value: ValueId) -> Option<SmallVec<[Use; 4]>> {
        let (op, to, index) = self.flow_place(value)?;
        let edges = self.region_flow(ctx, op)?.edges_to(self.view(ctx, op), to);
        Some(edges.iter().filter_map(|e| self.edge_source(op, e, index)).collect())
    }

    /// The operand that is bound at a place when control takes this way of an operation.
    pub fn edge_source(&self, op: OpId, edge: &FlowEdge, index: usize) -> Option<Use> {
        let at = edge.operand_of(index)?;
        let source = self.flow_source_op(op, edge.from)?;
        (at < self.num_operands(source)).then_some(Use { op: source, index: at })
    }
}
