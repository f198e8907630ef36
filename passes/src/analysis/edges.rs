//! Edges of control between operations, regions and blocks, and the values that they pass.

use pir_ir::{BlockId, Body, Context, FlowEdge, FlowPoint, OpId, ValueId};
use rustc_hash::FxHashMap;

/// A terminator that passes operands to a block, and to which of its successors.
pub(super) type Predecessors = FxHashMap<BlockId, Vec<(OpId, usize)>>;

/// The predecessors of each block.
pub(super) fn predecessors(body: &Body) -> Predecessors {
    let mut map = Predecessors::default();
    body.walk_all().for_each(|op| note_successors(body, op, &mut map));
    map
}

/// The ways of control through one operation, looked up by where they begin or end: there are as many of them as regions.
#[derive(Default)]
pub(crate) struct Ways {
    edges: Vec<FlowEdge>,
    /// Which of them begin, or end, at a point; empty when there are few.
    by_point: [FxHashMap<FlowPoint, Vec<u32>>; 2],
}

impl Ways {
    /// As many are compared one by one.
    const FEW: usize = 16;

    /// The ways of an operation; none if its control flow is unknown.
    pub(crate) fn of(ctx: &Context, body: &Body, op: OpId) -> Ways {
        let mut ways = Ways::default();
        ways.set(ctx, body, op);
        ways
    }

    /// Replaces the ways by those of another operation.
    pub(super) fn set(&mut self, ctx: &Context, body: &Body, op: OpId) {
        if self.are_many() {
            self.by_point.iter_mut().for_each(FxHashMap::clear);
        }
        self.edges.clear();
        if let Some(edges) = body.flow_edges(ctx, op) {
            self.edges.extend_from_slice(&edges);
        }
        if self.are_many() {
            let [from, to] = &mut self.by_point;
            for (at, edge) in self.edges.iter().enumerate() {
                from.entry(edge.from).or_default().push(at as u32);
                to.entry(edge.to).or_default().push(at as u32);
            }
        }
    }

    /// Whether they are looked up.
    pub(super) fn are_many(&self) -> bool {
        self.edges.len() > Self::FEW
    }

    fn at(&self, side: usize, point: FlowPoint) -> impl Iterator<Item = &FlowEdge> + Clone {
        let (few, many): (&[FlowEdge], &[u32]) = match self.are_many() {
            true => (&[], self.by_point[side].get(&point).map_or(&[], Vec::as_slice)),
            false => (&self.edges, &[]),
        };
        let few = few.iter().filter(move |edge| [edge.from, edge.to][side] == point);
        few.chain(many.iter().map(|&at| &self.edges[at as usize]))
    }

    /// The edges from a point.
    pub(crate) fn from(&self, point: FlowPoint) -> impl Iterator<Item = &FlowEdge> + Clone {
        self.at(0, point)
    }

    /// The edges to a point.
    pub(crate) fn to(&self, point: FlowPoint) -> impl Iterator<Item = &FlowEdge> + Clone {
        self.at(1, point)
    }
}

pub(super) fn note_successors(body: &Body, op: OpId, map: &mut Predecessors) {
    for (index, successor) in body.successors(op).iter().enumerate() {
        map.entry(successor.block).or_default().push((op, index));
    }
}

/// The place among the operands of `op` of the first one passed to the successor `index`.
pub(crate) fn successor_start(body: &Body, op: OpId, index: usize) -> usize {
    let before: u32 = body.successors(op).iter().take(index).map(|s| s.operands).sum();
    body.num_own_operands(op) + before as usize
}

/// Whether an argument or result has to stay for another reason than its value: operations give handles a meaning by
/// their place.
pub(super) fn is_fixed_slot(ctx: &Context, body: &Body, value: ValueId) -> bool {
    ctx.is_of_dialect(body.value_type(value))
}

/// Whether each region of an operation has at most one block, so that its one terminator determines where values come from.
pub fn has_simple_regions(body: &Body, op: OpId) -> bool {
    body.op_regions(op).iter().all(|&r| body.region_blocks(r).len() < 2)
}
