//! Edges of control between operations, regions and blocks, and the values that they pass.

use pir_ir::{BlockId, Body, Context, OpId, ValueId};
use rustc_hash::FxHashMap;

/// A terminator that passes operands to a block, and to which of its successors.
pub(super) type Predecessors = FxHashMap<BlockId, Vec<(OpId, usize)>>;

/// The predecessors of each block.
pub(super) fn predecessors(body: &Body) -> Predecessors {
    let mut map = Predecessors::default();
    body.walk_all().for_each(|op| note_successors(body, op, &mut map));
    map
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
