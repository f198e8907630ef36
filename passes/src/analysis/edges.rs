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
    /// Which of them begin, or end, at a point, where there are many.
    by_point: Option<Box<[ByPoint; 2]>>,
}

/// Places of edges by a point.
type ByPoint = FxHashMap<FlowPoint, Vec<u32>>;

/// The edges at one point.
#[derive(Clone)]
enum At<'w> {
    /// Those of all that have this point on this side.
    Few(std::slice::Iter<'w, FlowEdge>, usize, FlowPoint),
    /// These of all.
    Many(&'w [FlowEdge], std::slice::Iter<'w, u32>),
}

impl<'w> Iterator for At<'w> {
    type Item = &'w FlowEdge;

    #[inline]
    fn next(&mut self) -> Option<&'w FlowEdge> {
        match self {
            At::Few(edges, 0, point) => edges.find(|edge| edge.from == *point),
            At::Few(edges, _, point) => edges.find(|edge| edge.to == *point),
            At::Many(edges, places) => places.next().map(|&at| &edges[at as usize]),
        }
    }
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
        self.edges.clear();
        if let Some(edges) = body.flow_edges(ctx, op) {
            self.edges.extend_from_slice(&edges);
        }
        self.by_point = self.are_many().then(|| {
            let mut by_point: Box<[ByPoint; 2]> = Box::default();
            let [from, to] = &mut *by_point;
            for (at, edge) in self.edges.iter().enumerate() {
                from.entry(edge.from).or_default().push(at as u32);
                to.entry(edge.to).or_default().push(at as u32);
            }
            by_point
        });
    }

    /// Whether they are looked up.
    pub(super) fn are_many(&self) -> bool {
        self.edges.len() > Self::FEW
    }

    #[inline]
    fn at(&self, side: usize, point: FlowPoint) -> At<'_> {
        match &self.by_point {
            None => At::Few(self.edges.iter(), side, point),
            Some(by_point) => {
                let places = by_point[side].get(&point).map_or(&[][..], Vec::as_slice);
                At::Many(&self.edges, places.iter())
            }
        }
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
