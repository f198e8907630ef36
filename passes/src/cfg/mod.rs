//! Between the two forms of control flow: operations with regions, and blocks.

mod lift;
mod lower;
mod mlir;
mod repeat;
mod structure;

pub use lift::LiftCfg;
pub use lower::LowerToCfg;
pub(crate) use mlir::lift_copy;

use pir_dialects::pd;
use pir_ir::{BlockId, Body, OpId, Rewriter, Successor, ValueId};

use crate::analysis::reverse_post_order;

/// Goes on with a block, from the insertion point.
pub(crate) fn branch_to(rewriter: &mut Rewriter<'_>, block: BlockId, values: &[ValueId]) -> OpId {
    let branch = rewriter.op(pd::Branch::NAME).operands(values.iter().copied()).build();
    let operands = values.len() as u32;
    rewriter.body.set_successors(branch, &[Successor { block, operands }]);
    branch
}

/// Brings the blocks of a body into an order in which control meets them. Those that it does not meet come last.
pub(crate) fn sort_blocks(body: &mut Body) {
    let root = body.root();
    let mut order = reverse_post_order(body, root);
    let mut is_listed = vec![false; order.iter().map(|b| b.index() + 1).max().unwrap_or(0)];
    for block in &order {
        is_listed[block.index()] = true;
    }
    let others = body.region_blocks(root).iter().copied();
    let others: Vec<BlockId> = others
        .filter(|b| !is_listed.get(b.index()).is_some_and(|l| *l))
        .collect();
    order.extend(others);
    body.set_region_blocks(root, order);
}
