//! Dominance: which definitions are sure to have run when an operation runs.
//!
//! Between blocks it is the dominator tree of the control-flow graph of a region, computed only for regions of more
//! than one block. Within a block, and between an operation and what is nested in it, it is order: every operation is
//! given the number at which a walk enters it and the number at which it leaves it, so that "before" and "inside" are
//! comparisons of numbers.

use petgraph::algo::dominators::simple_fast;
use petgraph::graph::{DiGraph, NodeIndex};
use rustc_hash::FxHashMap;

use crate::body::{Body, ValueDef};
use crate::entity::{BlockId, OpId, RegionId, ValueId};

/// The dominator tree of the blocks of one region.
#[derive(Clone, Debug, Default)]
pub struct DominatorTree {
    /// For each reachable block: its immediate dominator (none for the entry) and the interval of its subtree.
    nodes: FxHashMap<BlockId, Node>,
    children: FxHashMap<BlockId, Vec<BlockId>>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    idom: Option<BlockId>,
    enter: u32,
    leave: u32,
}

impl DominatorTree {
    /// The tree of a region's blocks. Successors in other regions, which are errors, are passed over.
    pub fn new(body: &Body, region: RegionId) -> Self {
        let blocks = body.region_blocks(region);
        let Some(&entry) = blocks.first() else {
            return Self::default();
        };
        let mut graph: DiGraph<BlockId, ()> = DiGraph::with_capacity(blocks.len(), blocks.len());
        let index: FxHashMap<BlockId, NodeIndex> = blocks.iter().map(|&b| (b, graph.add_node(b))).collect();
        for &block in blocks {
            for successor in body.last_op(block).map_or(&[][..], |op| body.successors(op)) {
                if let Some(&to) = index.get(&successor.block) {
                    graph.add_edge(index[&block], to, ());
                }
            }
        }
        let dominators = simple_fast(&graph, index[&entry]);
        let mut tree = Self::default();
        let idom = |block: BlockId| dominators.immediate_dominator(index[&block]).map(|n| graph[n]);
        for &block in blocks {
            if let Some(parent) = idom(block) {
                tree.children.entry(parent).or_default().push(block);
            }
        }
        let mut clock = 0;
        // A block is pushed a second time, to be left when its subtree is done.
        let mut pending = vec![(entry, false)];
        while let Some((block, done)) = pending.pop() {
            if done {
                if let Some(node) = tree.nodes.get_mut(&block) {
                    node.leave = clock;
                }
                continue;
            }
            let node = Node {
                idom: idom(block),
                enter: clock,
                leave: clock,
            };
            clock += 1;
            tree.nodes.insert(block, node);
            pending.push((block, true));
            pending.extend(tree.children(block).iter().rev().map(|&b| (b, false)));
        }
        tree
    }

    /// The blocks whose immediate dominator `block` is, in the order of the region.
    pub fn children(&self, block: BlockId) -> &[BlockId] {
        self.children.get(&block).map_or(&[], |c| c)
    }

    /// Whether control can get from the entry block to `block`.
    pub fn is_reachable(&self, block: BlockId) -> bool {
        self.nodes.contains_key(&block)
    }

    /// The immediate dominator of `block`; `None` for the entry block and unreachable blocks.
    pub fn immediate_dominator(&self, block: BlockId) -> Option<BlockId> {
        self.nodes.get(&block).and_then(|n| n.idom)
    }

    /// Whether `a` dominates `b`; every block dominates itself and unreachable blocks.
    pub fn dominates(&self, a: BlockId, b: BlockId) -> bool {
        match (self.nodes.get(&a), self.nodes.get(&b)) {
            _ if a == b => true,
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(a), Some(b)) => a.enter <= b.enter && b.enter < a.leave,
        }
    }
}

/// Dominance between everything in a body. It is a snapshot: edits that move or add operations make it stale.
#[derive(Clone, Debug)]
pub struct DominanceInfo {
    trees: FxHashMap<RegionId, DominatorTree>,
    /// The numbers at which a walk enters and leaves each operation.
    enter: Vec<u32>,
    leave: Vec<u32>,
}

impl DominanceInfo {
    /// Computes dominance for a body.
    pub fn new(body: &Body) -> Self {
        let mut info = Self {
            trees: FxHashMap::default(),
            enter: vec![u32::MAX; body.num_op_slots()],
            leave: vec![0; body.num_op_slots()],
        };
        let mut note_region = |region: RegionId| {
            if body.region_blocks(region).len() > 1 {
                info.trees.insert(region, DominatorTree::new(body, region));
            }
        };
        note_region(body.root());
        let mut around = Vec::new();
        for (clock, op) in body.walk_all().enumerate() {
            (info.enter[op.index()], info.leave[op.index()]) = (clock as u32, clock as u32 + 1);
            if !body.op_regions(op).is_empty() {
                body.op_regions(op).iter().copied().for_each(&mut note_region);
                around.push(op);
            }
        }
        // What is inside has been walked later.
        for op in around.into_iter().rev() {
            let last = body
                .op_regions(op)
                .iter()
                .rev()
                .flat_map(|&r| body.region_blocks(r).iter().rev())
                .find_map(|&b| body.last_op(b));
            info.leave[op.index()] = last.map_or(info.enter[op.index()] + 1, |l| info.leave[l.index()]);
        }
        info
    }

    /// The dominator tree of a region that has more than one block.
    pub fn tree(&self, region: RegionId) -> Option<&DominatorTree> {
        self.trees.get(&region)
    }

    /// Whether `inner` is `outer` or nested in it.
    pub fn contains(&self, outer: OpId, inner: OpId) -> bool {
        let at = self.enter[inner.index()];
        self.enter[outer.index()] <= at && at < self.leave[outer.index()]
    }

    /// Whether every way to `b` leads through `a`, both blocks of one region; true when they are the same.
    pub fn block_dominates(&self, body: &Body, a: BlockId, b: BlockId) -> bool {
        if a == b {
            return true;
        }
        match (body.block_region(a), body.block_region(b)) {
            (Some(ra), Some(rb)) if ra == rb => self.trees.get(&ra).is_some_and(|t| t.dominates(a, b)),
            _ => false,
        }
    }

    /// Whether `a` has run whenever `b` runs, and the results of `a` are visible there: `b` may be nested in an
    /// operation after `a`. An operation does not dominate itself or what is nested in it.
    pub fn op_dominates(&self, body: &Body, a: OpId, b: OpId) -> bool {
        let Some(block) = body.op_block(a) else { return false };
        if self.contains(a, b) || self.enter[b.index()] == u32::MAX {
            return false;
        }
        let before = self.enter[a.index()] < self.enter[b.index()];
        if body.op_block(b) == Some(block) {
            return before;
        }
        self.visible_from(body, block, b, before)
    }

    /// Whether the value is defined and visible where `op` runs.
    pub fn value_dominates(&self, body: &Body, value: ValueId, op: OpId) -> bool {
        match body.value_def(value) {
            ValueDef::Result(def, _) => self.op_dominates(body, def, op),
            ValueDef::Arg(block, _) => body.op_block(op) == Some(block) || self.visible_from(body, block, op, true),
            ValueDef::None => false,
        }
    }

    /// Whether what `block` defines is visible at `op`, which is in another block; `before` states whether the
    /// definition comes earlier in a walk, which decides when both are below the same block.
    fn visible_from(&self, body: &Body, block: BlockId, op: OpId, before: bool) -> bool {
        let Some(region) = body.block_region(block) else {
            return false;
        };
        if !self.trees.contains_key(&region) {
            // The only block: whatever is numbered between its first and its last operation is in it or below.
            let (Some(first), Some(last)) = (body.first_op(block), body.last_op(block)) else {
                return false;
            };
            let at = self.enter[op.index()];
            return before && self.enter[first.index()] <= at && at < self.leave[last.index()];
        }
        // The block of the region that the use is in or below.
        let mut at = op;
        loop {
            let (Some(b), Some(r)) = (body.op_block(at), body.op_region(at)) else {
                return false;
            };
            if r == region {
                return if b == block {
                    before
                } else {
                    self.block_dominates(body, block, b)
                };
            }
            match body.parent_op(at) {
                Some(parent) => at = parent,
                None => return false,
            }
        }
    }
}
