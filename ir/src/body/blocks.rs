//! Blocks and regions of a body.

use super::Body;
use crate::entity::{BlockId, OpId, RegionId, Sym, ValueId};
use crate::types::Attr;

impl Body {
    /// The arguments of a block.
    #[inline]
    pub fn block_args(&self, block: BlockId) -> &[ValueId] {
        &self.blocks[block.index()].args
    }

    /// The location of a block argument that was written out.
    pub fn arg_loc(&self, arg: ValueId) -> Option<Attr> {
        self.arg_locs.get(&arg).copied()
    }

    /// The region that a block is in.
    #[inline]
    pub fn block_region(&self, block: BlockId) -> Option<RegionId> {
        self.blocks[block.index()].region
    }

    /// The label of a block in the text, without the `^`.
    pub fn block_label(&self, block: BlockId) -> Option<Sym> {
        self.blocks[block.index()].label
    }

    /// The operation that a block is nested in, within this body.
    pub fn block_parent(&self, block: BlockId) -> Option<OpId> {
        self.block_region(block).and_then(|r| self.region_parent(r))
    }

    /// Comment lines after the last operation of the block.
    pub fn end_comment(&self, block: BlockId) -> Option<&str> {
        self.end_comments.get(&block).map(|c| &**c)
    }

    /// The first operation of a block.
    #[inline]
    pub fn first_op(&self, block: BlockId) -> Option<OpId> {
        self.blocks[block.index()].first
    }

    /// The last operation of a block, whether it is a terminator or not.
    #[inline]
    pub fn last_op(&self, block: BlockId) -> Option<OpId> {
        self.blocks[block.index()].last
    }

    /// The operations of a block, in order.
    pub fn block_ops(&self, block: BlockId) -> BlockOps<'_> {
        BlockOps {
            body: self,
            next: self.first_op(block),
        }
    }

    /// The operations of a block as a vector, for when the body is changed meanwhile.
    pub fn block_ops_vec(&self, block: BlockId) -> Vec<OpId> {
        self.block_ops(block).collect()
    }

    /// The blocks of a region, the entry block first.
    #[inline]
    pub fn region_blocks(&self, region: RegionId) -> &[BlockId] {
        &self.regions[region.index()].blocks
    }

    /// The entry block of a region.
    #[inline]
    pub fn entry_block(&self, region: RegionId) -> Option<BlockId> {
        self.region_blocks(region).first().copied()
    }

    /// The operation that a region belongs to; `None` for the root.
    #[inline]
    pub fn region_parent(&self, region: RegionId) -> Option<OpId> {
        self.regions[region.index()].parent
    }

    /// The only block of a region that has exactly one.
    pub fn single_block(&self, region: RegionId) -> Option<BlockId> {
        match self.region_blocks(region) {
            &[block] => Some(block),
            _ => None,
        }
    }

    /// Whether `inner` is `outer` or nested in it.
    pub fn region_contains(&self, outer: RegionId, inner: RegionId) -> bool {
        let mut at = Some(inner);
        while let Some(region) = at {
            if region == outer {
                return true;
            }
            at = self.region_parent(region).and_then(|op| self.op_region(op));
        }
        false
    }
}

/// The operations of a block.
#[derive(Clone)]
pub struct BlockOps<'a> {
    body: &'a Body,
    next: Option<OpId>,
}

impl Iterator for BlockOps<'_> {
    type Item = OpId;

    #[inline]
    fn next(&mut self) -> Option<OpId> {
        let op = self.next?;
        self.next = self.body.next_op(op);
        Some(op)
    }
}
