//! The form of loops and branches, derived from the region-flow interface instead of from the names of operations.

use crate::body::{Body, OpView};
use crate::context::Context;
use crate::declare::FlowPoint;
use crate::entity::{BlockId, OpId, RegionId};
use crate::registry::RegionFlow;

/// The control flow of an operation with two regions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FlowKind {
    /// The first decides whether to continue, and forwards the values of the other region or the results of the loop; the other leads
    /// back to the first.
    Loop,
    /// One of them runs.
    Branch,
}

/// The parts of a loop or a branch.
#[derive(Clone, Debug)]
pub struct FlowForm {
    /// Which of the two it is.
    pub kind: FlowKind,
    /// The region that runs once, before the others.
    pub entry: Option<RegionId>,
    /// The block of the deciding and that of the repeated region, or the blocks of the two branches. One that is empty, or has several
    /// blocks, is `None`.
    pub blocks: [Option<BlockId>; 2],
    /// The regions that these are the blocks of, by their places.
    pub points: [FlowPoint; 2],
    /// The first operand of the terminator of each that is forwarded: before it, the one of a loop has its flag.
    pub passes: [usize; 2],
}

impl FlowForm {
    /// The blocks that exist.
    pub fn present(&self) -> impl Iterator<Item = BlockId> + '_ {
        self.blocks.iter().flatten().copied()
    }

    /// Both blocks, when it is a loop.
    pub fn loop_blocks(&self) -> Option<[BlockId; 2]> {
        match (self.kind, self.blocks) {
            (FlowKind::Loop, [Some(test), Some(repeated)]) => Some([test, repeated]),
            _ => None,
        }
    }
}

/// The kind, the number of entry regions (at most one), and the regions after.
fn shape(flow: &dyn RegionFlow, op: OpView<'_>) -> Option<(FlowKind, usize, [usize; 2], [usize; 2])> {
    let edges = flow.edges(op);
    let count = op.body.op_regions(op.op).len();
    let mut from = FlowPoint::Parent;
    let mut first = edges.iter().filter(|e| e.from == from);
    let (only, more) = (first.next()?, first.next());
    let entry = match (only.to, more) {
        (FlowPoint::Region(0), None) if !flow.is_repeated(op, 0) && count == 3 => {
            from = FlowPoint::Region(0);
            1
        }
        _ => 0,
    };
    if count != entry + 2 {
        return None;
    }
    let mut starts = edges.iter().filter(|e| e.from == from);
    let leads_out = |at: usize| {
        let mut out = edges.iter().filter(|e| e.from == FlowPoint::Region(at));
        out.all(|e| e.to == FlowPoint::Parent)
    };
    match (starts.next()?, starts.next()) {
        (start, None) => {
            let FlowPoint::Region(test) = start.to else { return None };
            let repeated = (entry..count).find(|&at| at != test)?;
            let mut out = None;
            let mut on = None;
            for edge in edges.iter().filter(|e| e.from == FlowPoint::Region(test)) {
                match edge.to {
                    FlowPoint::Parent => out = Some(edge.operands.start),
                    FlowPoint::Region(at) if at == repeated => on = Some(edge.operands.start),
                    FlowPoint::Region(_) => return None,
                }
            }
            let mut back = edges.iter().filter(|e| e.from == FlowPoint::Region(repeated));
            let (back, None) = (back.next()?, back.next()) else {
                return None;
            };
            let known = on.is_some() && out == on && back.to == FlowPoint::Region(test);
            known.then_some((FlowKind::Loop, entry, [test, repeated], [on?, back.operands.start]))
        }
        (..) => {
            let regions = [entry, entry + 1];
            regions
                .iter()
                .all(|&at| leads_out(at))
                .then_some((FlowKind::Branch, entry, regions, [0, 0]))
        }
    }
}

impl Body {
    /// The control flow of an operation, if it is a loop or a branch of two regions, with or without an entry region.
    pub fn flow_kind(&self, ctx: &Context, op: OpId) -> Option<FlowKind> {
        let flow = self.region_flow(ctx, op)?;
        Some(shape(flow, self.view(ctx, op))?.0)
    }

    /// The parts of a loop or a branch.
    pub fn flow_form(&self, ctx: &Context, op: OpId) -> Option<FlowForm> {
        let flow = self.region_flow(ctx, op)?;
        let (kind, entry, parts, passes) = shape(flow, self.view(ctx, op))?;
        let regions = self.op_regions(op);
        Some(FlowForm {
            kind,
            entry: regions.first().copied().filter(|_| entry == 1),
            blocks: parts.map(|at| self.single_block(regions[at])),
            points: parts.map(FlowPoint::Region),
            passes,
        })
    }
}
