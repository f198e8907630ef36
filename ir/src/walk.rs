//! Walks over the operations of a body, without recursion.

use smallvec::SmallVec;

use crate::body::Body;
use crate::entity::{BlockId, OpId, RegionId};

/// Every operation nested in a region, an operation before those inside it.
#[derive(Clone)]
pub struct PreOrder<'a> {
    body: &'a Body,
    /// Where to go on: the next operation, else the next block of the region.
    at: Level,
    /// Where to go on after that, in what is around it or beside it.
    stack: SmallVec<[Level; 4]>,
}

#[derive(Clone, Copy)]
struct Level {
    region: RegionId,
    block: usize,
    next: Option<OpId>,
}

impl Iterator for PreOrder<'_> {
    type Item = OpId;

    #[inline]
    fn next(&mut self) -> Option<OpId> {
        let op = match self.at.next {
            Some(op) => op,
            None => self.leave()?,
        };
        self.at.next = self.body.next_op(op);
        if self.body.extra(op).is_some() {
            self.enter(op);
        }
        Some(op)
    }
}

impl PreOrder<'_> {
    fn enter(&mut self, op: OpId) {
        if let Some((&first, others)) = self.body.op_regions(op).split_first() {
            self.stack.push(self.at);
            let others = others.iter().rev();
            self.stack.extend(others.map(|&region| Level::at(self.body, region)));
            self.at = Level::at(self.body, first);
        }
    }

    /// The next operation after the end of a block.
    fn leave(&mut self) -> Option<OpId> {
        loop {
            self.at.block += 1;
            match self.body.region_blocks(self.at.region).get(self.at.block) {
                Some(&block) => self.at.next = self.body.first_op(block),
                None => self.at = self.stack.pop()?,
            }
            if self.at.next.is_some() {
                return self.at.next;
            }
        }
    }
}

impl Level {
    fn at(body: &Body, region: RegionId) -> Self {
        let next = body.entry_block(region).and_then(|b| body.first_op(b));
        Level { region, block: 0, next }
    }
}

impl Body {
    /// Every operation nested in `region`, each before those inside it.
    pub fn walk(&self, region: RegionId) -> PreOrder<'_> {
        PreOrder {
            body: self,
            at: Level::at(self, region),
            stack: SmallVec::new(),
        }
    }

    /// Every operation of the body, each before those inside it.
    pub fn walk_all(&self) -> PreOrder<'_> {
        self.walk(self.root())
    }

    /// Every operation of the body, each after those inside it.
    pub fn post_order(&self) -> Vec<OpId> {
        // An operation is emitted when its last region has been left, so the pre-order over mirrored lists, reversed,
        // would do; collecting ends explicitly keeps the order of siblings.
        let mut out = Vec::new();
        let mut stack: Vec<(Option<OpId>, Level)> = vec![(None, Level::at(self, self.root()))];
        // Regions of the operation on top that have not been entered yet, in reverse.
        while let Some((owner, level)) = stack.last_mut() {
            if let Some(op) = level.next {
                level.next = self.next_op(op);
                let regions = self.op_regions(op);
                if regions.is_empty() {
                    out.push(op);
                } else {
                    for (at, &region) in regions.iter().enumerate().rev() {
                        // The last region carries the operation itself, which follows when it is left.
                        let owner = (at + 1 == regions.len()).then_some(op);
                        stack.push((owner, Level::at(self, region)));
                    }
                }
                continue;
            }
            level.block += 1;
            if let Some(&block) = self.region_blocks(level.region).get(level.block) {
                level.next = self.first_op(block);
                continue;
            }
            out.extend(*owner);
            stack.pop();
        }
        out
    }

    /// Every block of the body, an outer one before those nested in it.
    pub fn all_blocks(&self) -> Vec<BlockId> {
        let mut out = Vec::new();
        let mut pending: Vec<RegionId> = vec![self.root()];
        while let Some(region) = pending.pop() {
            for &block in self.region_blocks(region) {
                out.push(block);
                for op in self.block_ops(block) {
                    pending.extend(self.op_regions(op).iter().rev());
                }
            }
        }
        out
    }

    /// How deep a region is nested: 0 for the root.
    pub fn region_depth(&self, region: RegionId) -> usize {
        let mut depth = 0;
        let mut at = region;
        while let Some(outer) = self.region_parent(at).and_then(|op| self.op_region(op)) {
            depth += 1;
            at = outer;
        }
        depth
    }

    /// The operation in `block` that `op` is, or is nested in.
    pub fn ancestor_in_block(&self, op: OpId, block: BlockId) -> Option<OpId> {
        let mut at = op;
        loop {
            if self.op_block(at) == Some(block) {
                return Some(at);
            }
            at = self.parent_op(at)?;
        }
    }
}
