//! The tree of the regions of a body, with questions about ancestors answered in logarithmic time however deep it is.

use pir_ir::{Analysis, Body, Context, RegionId, ValueId};

use super::edges::has_simple_regions;

/// The regions of a body by depth. It stays right when operations without regions are moved.
#[derive(PartialEq)]
pub struct RegionTree {
    nodes: Vec<Node>,
}

#[derive(Clone, Copy, Default, PartialEq)]
struct Node {
    parent: u32,
    /// A distant ancestor: from each region the root is reached in a logarithmic number of such steps.
    jump: u32,
    depth: u32,
    /// How many regions from the root down to this one, itself included, do not run at most once and perhaps not.
    barriers: u32,
}

impl Analysis for RegionTree {
    fn compute(ctx: &Context, body: &Body) -> Self {
        let root = body.root().index();
        let mut nodes = vec![Node::default(); body.num_region_slots()];
        if let Some(node) = nodes.get_mut(root) {
            (node.parent, node.jump) = (root as u32, root as u32);
        }
        for op in body.ops_with_regions() {
            let regions = body.op_regions(op);
            let Some(parent) = body.op_region(op) else {
                continue;
            };
            let is_simple = has_simple_regions(body, op);
            for (index, &region) in regions.iter().enumerate() {
                let above = nodes[parent.index()];
                let far = nodes[above.jump as usize];
                let balanced = above.depth - far.depth == far.depth - nodes[far.jump as usize].depth;
                let view = body.view(ctx, op);
                let optional = is_simple
                    && body
                        .region_flow(ctx, op)
                        .is_some_and(|f| !f.is_repeated(view, index) && !f.runs_at_least_once(view, index));
                nodes[region.index()] = Node {
                    parent: parent.index() as u32,
                    jump: if balanced { far.jump } else { parent.index() as u32 },
                    depth: above.depth + 1,
                    barriers: above.barriers + u32::from(!optional),
                };
            }
        }
        Self { nodes }
    }
}

impl RegionTree {
    fn up(&self, mut at: u32, goes_on: impl Fn(Node) -> bool) -> u32 {
        while goes_on(self.nodes[at as usize]) {
            let Node { parent, jump, .. } = self.nodes[at as usize];
            at = if goes_on(self.nodes[jump as usize]) {
                jump
            } else {
                parent
            };
        }
        at
    }

    /// Whether `inner` is `outer` or nested in it. Regions that are newer than the tree are asked of the body.
    pub fn contains(&self, body: &Body, outer: RegionId, inner: RegionId) -> bool {
        if outer.index().max(inner.index()) < self.nodes.len() {
            self.common(outer, inner) == outer
        } else {
            body.region_contains(outer, inner)
        }
    }

    /// The region at `depth` that a region is, or is nested in; the root is at depth 0.
    pub fn ancestor(&self, region: RegionId, depth: u32) -> RegionId {
        RegionId::new(self.up(region.index() as u32, |n| n.depth > depth) as usize)
    }

    /// The region directly in an operation of `outer` that `inner` is, or is nested in.
    pub fn below(&self, outer: RegionId, inner: RegionId) -> RegionId {
        self.ancestor(inner, self.nodes[outer.index()].depth + 1)
    }

    /// The innermost region that both are, or are nested in.
    pub fn common(&self, a: RegionId, b: RegionId) -> RegionId {
        let (mut x, mut y) = (a.index() as u32, b.index() as u32);
        let depth = self.nodes[x as usize].depth.min(self.nodes[y as usize].depth);
        x = self.up(x, |n| n.depth > depth);
        y = self.up(y, |n| n.depth > depth);
        while x != y {
            let (p, q) = (self.nodes[x as usize], self.nodes[y as usize]);
            (x, y) = if p.jump == q.jump {
                (p.parent, q.parent)
            } else {
                (p.jump, q.jump)
            };
        }
        RegionId::new(x as usize)
    }

    /// The innermost region inside of `home` that all uses of some values of it are in, and to which only branches lead.
    pub fn branch_of_uses(
        &self,
        body: &Body,
        home: RegionId,
        values: impl Iterator<Item = ValueId>,
    ) -> Option<RegionId> {
        let mut users = values.flat_map(|value| body.uses(value)).map(|used| used.op);
        let mut all = body.op_region(users.next()?)?;
        for user in users {
            if all == home {
                return None;
            }
            all = self.common(all, body.op_region(user)?);
        }
        let branch = self.deepest_branch(home, all);
        (branch != home).then_some(branch)
    }

    /// The innermost region on the way from `outer` down to `inner`, which is nested in it, to which only regions lead
    /// that run at most once and perhaps not at all: branches, but no loops.
    pub fn deepest_branch(&self, outer: RegionId, inner: RegionId) -> RegionId {
        let barriers = self.nodes[outer.index()].barriers;
        RegionId::new(self.up(inner.index() as u32, |n| n.barriers > barriers) as usize)
    }
}
