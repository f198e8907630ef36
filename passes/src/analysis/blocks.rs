//! The blocks of a region as a graph.

use pir_ir::{BlockId, Body, RegionId};
use rustc_hash::FxHashSet;

/// The reachable blocks of a region in reverse post-order: all predecessors of a block precede it, except along back
/// edges.
pub fn reverse_post_order(body: &Body, region: RegionId) -> Vec<BlockId> {
    let Some(entry) = body.entry_block(region) else {
        return Vec::new();
    };
    let mut order = Vec::new();
    let mut seen = FxHashSet::from_iter([entry]);
    let mut pending = vec![(entry, 0)];
    while let Some((block, next)) = pending.pop() {
        let successors = body.last_op(block).map_or(&[][..], |op| body.successors(op));
        // The last successor first, so that the first one comes first in the reversed order.
        match successors.len().checked_sub(next + 1).map(|at| successors[at]) {
            Some(successor) => {
                pending.push((block, next + 1));
                if body.block_region(successor.block) == Some(region) && seen.insert(successor.block) {
                    pending.push((successor.block, 0));
                }
            }
            None => order.push(block),
        }
    }
    order.reverse();
    order
}

/// Removes unreachable blocks. Returns whether there were any.
pub fn remove_unreachable_blocks(body: &mut Body) -> bool {
    let regions =
        std::iter::once(body.root()).chain(body.walk_all().flat_map(|op| body.op_regions(op).iter().copied()));
    let regions: Vec<RegionId> = regions.filter(|&r| body.region_blocks(r).len() > 1).collect();
    let mut removed = false;
    for region in regions {
        let reached = FxHashSet::from_iter(reverse_post_order(body, region));
        let blocks = body.region_blocks(region).iter().copied();
        let (kept, lost): (Vec<BlockId>, Vec<BlockId>) = blocks.partition(|b| reached.contains(b));
        if lost.is_empty() {
            continue;
        }
        // They may use each other's values in any order: all in one go, with the operands removed first.
        for &block in &lost {
            for op in body.block_ops_vec(block) {
                drop_operands(body, op);
            }
        }
        for &block in &lost {
            for op in body.block_ops_vec(block).into_iter().rev() {
                body.erase_op(op);
            }
        }
        body.set_region_blocks(region, kept);
        removed = true;
    }
    removed
}

/// Takes away what an operation, and everything in it, uses.
fn drop_operands(body: &mut Body, op: pir_ir::OpId) {
    let inner: Vec<_> = body.op_regions(op).iter().flat_map(|&r| body.walk(r)).collect();
    for op in inner.into_iter().chain([op]) {
        body.set_successors(op, &[]);
        body.set_operands(op, &[]);
    }
}
