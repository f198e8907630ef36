//! Walks over the operations of a body, without recursion.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::body::Body;
use crate::entity::{BlockId, OpId, RegionId};

/// A body with as few operations is walked to find some of them.
const FEW_OPS: usize = 32;

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

    /// The operations with regions, each before those inside it, in the order of [`walk_all`](Self::walk_all): analyses of control
    /// flow do not have to visit all the others. Only a block with several of them is visited, for their order.
    pub fn ops_with_regions(&self) -> Vec<OpId> {
        if self.num_op_slots() <= FEW_OPS {
            let all = self.walk_all();
            return all.filter(|&op| !self.op_regions(op).is_empty()).collect();
        }
        let mut in_block: FxHashMap<BlockId, SmallVec<[OpId; 2]>> = FxHashMap::default();
        for region in (0..self.num_region_slots()).map(RegionId::new) {
            // An operation is found by the first of its regions.
            let op = self.region_parent(region).filter(|&op| self.is_alive(op));
            if let Some(op) = op.filter(|&op| self.op_regions(op).first() == Some(&region))
                && let Some(block) = self.op_block(op)
            {
                in_block.entry(block).or_default().push(op);
            }
        }
        for (&block, ops) in in_block.iter_mut().filter(|(_, ops)| ops.len() > 1) {
            ops.clear();
            ops.extend(self.block_ops(block).filter(|&op| !self.op_regions(op).is_empty()));
        }
        let mut out = Vec::new();
        let mut pending = Vec::new();
        let mut enter = |pending: &mut Vec<OpId>, region: RegionId| {
            for block in self.region_blocks(region).iter().rev() {
                pending.extend(in_block.remove(block).into_iter().flatten().rev());
            }
        };
        enter(&mut pending, self.root());
        while let Some(op) = pending.pop() {
            out.push(op);
            for &region in self.op_regions(op).iter().rev() {
                enter(&mut pending, region);
            }
        }
        out
    }

    /// The operations with regions, each after those inside it, in the order of [`post_order`](Self::post_order).
    pub fn ops_with_regions_inside_out(&self) -> Vec<OpId> {
        let mut out = Vec::new();
        let mut around: Vec<OpId> = Vec::new();
        for op in self.ops_with_regions() {
            let parent = self.parent_op(op);
            while let Some(left) = around.pop_if(|outer| parent != Some(*outer)) {
                out.push(left);
            }
            around.push(op);
        }
        out.extend(around.into_iter().rev());
        out
    }

    /// Every operation of the body, each after those inside it.
    pub fn post_order(&self) -> Vec<OpId> {
        // An operation is emitted when its last region has been left, so the pre-order over mirrored lists, reversed,
        // would do; collecting ends explicitly keeps the order of siblings.
        let mut out = Vec::with_capacity(self.num_op_slots());
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::ContextBuilder;
    use crate::edit::OpSpec;

    /// Nested operations, two to a block and each with two regions, among others without regions.
    fn nested(depth: usize) -> Body {
        let ctx = ContextBuilder::new().build();
        let name = ctx.op_name("t.op");
        let mut body = Body::new();
        let mut blocks = vec![body.create_block(body.root())];
        for _ in 0..depth {
            let mut inner = Vec::new();
            for block in blocks {
                for regions in [0, 2, 0, 1] {
                    let regions: Vec<RegionId> = (0..regions).map(|_| body.create_region()).collect();
                    inner.extend(regions.iter().map(|&region| body.create_block(region)));
                    let op = body.create_op(OpSpec {
                        regions: &regions,
                        ..OpSpec::new(name)
                    });
                    // The order of creation is not that of the block.
                    match body.first_op(block).filter(|_| regions.len() == 1) {
                        Some(first) => body.insert_before(first, op),
                        None => body.append_op(block, op),
                    }
                }
            }
            blocks = inner;
        }
        body
    }

    #[test]
    fn operations_with_regions_are_in_the_order_of_walks() {
        for depth in [0, 1, 2, 4] {
            let mut body = nested(depth);
            let victim = body.walk_all().find(|&op| body.op_regions(op).len() == 1);
            for erased in [None, victim] {
                erased.into_iter().for_each(|op| body.erase_op(op));
                let with_regions = |op: &OpId| !body.op_regions(*op).is_empty();
                let walked: Vec<OpId> = body.walk_all().filter(with_regions).collect();
                assert_eq!(body.ops_with_regions(), walked);
                let inside_out: Vec<OpId> = body.post_order().into_iter().filter(with_regions).collect();
                assert_eq!(body.ops_with_regions_inside_out(), inside_out);
            }
        }
    }
}
