//! Which regions the nodes of a graph belong to.
//!
//! # Algorithm
//! Nodes are visited so that inputs come first, and everything that enters a frame before the nodes in it. A node is in
//! the innermost of the regions that its inputs are in, where the results of a switch are in one side of a branch, or if
//! the condition of the loop decides, in the body. A merge of the two sides of a branch is where the branch is. A loop is
//! in the innermost of the regions of its enters.
//!
//! Each node, branch and loop is an *item* of a region; an item depends on another one of its region if something in it
//! uses something in that. Items are ordered along these dependencies, and as in the text where they leave a choice.

use pir_dialects::df::graph::{FrameId, Graph, Node, NodeKind, Source};
use pir_ir::{Body, Context, Diagnostic};
use rustc_hash::FxHashMap;

use super::pivots::Origins;

/// The number of a region.
pub(super) type RegionId = u32;

/// The region that is in no branch and no loop.
pub(super) const ROOT: RegionId = 0;

/// The owner of a region.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Owner {
    Top,
    /// A side of a branch.
    Branch(u32, usize),
    Cond(FrameId),
    Body(FrameId),
}

#[derive(Debug)]
pub(super) struct Region {
    pub(super) owner: Owner,
    pub(super) parent: Option<RegionId>,
    depth: u32,
    /// How deep it is in its frame: inputs of one node are in one frame.
    local: u32,
    /// Its items, in the order in which they are to be written.
    pub(super) items: Vec<Item>,
}

/// A branch.
#[derive(Debug)]
pub(super) struct Choice {
    pub(super) region: RegionId,
    pub(super) pred: Source,
    /// The regions of the sides, that of a false predicate first.
    pub(super) sides: [RegionId; 2],
    /// The merges of what the sides give, each with the operand for either side.
    pub(super) merges: Vec<(Node, [Source; 2])>,
}

/// An item of a region.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Item {
    Node(Node),
    Branch(u32),
    Loop(FrameId),
}

pub(super) struct Shape<'a> {
    pub(super) graph: &'a Graph,
    origins: &'a Origins,
    ctx: &'a Context,
    body: &'a Body,
    pub(super) regions: Vec<Region>,
    pub(super) choices: Vec<Choice>,
    choice_of: FxHashMap<(RegionId, Source), u32>,
    /// The predicates of pivots whose branch has another one than they have.
    pivots: FxHashMap<Node, Source>,
    /// Whether an enclosing branch determines the switch, so that it is not a branch itself.
    decided: bool,
    pub(super) region_of: Vec<RegionId>,
    /// The regions of the condition and the body of each frame.
    pub(super) loops: Vec<[RegionId; 2]>,
}

/// An error about a node that no structured program has.
pub(super) fn refuse(ctx: &Context, body: &Body, graph: &Graph, node: Node, why: &str) -> Diagnostic {
    let op = graph.op(node);
    let name = ctx.op_str(body.op_name(op));
    Diagnostic::error("dataflow-raise", format!("`{name}` cannot be raised: {why}"))
        .label(body.op_span(op), "here")
        .help("graphs that `lower-to-dataflow` made can be raised before they are partitioned")
}

impl<'a> Shape<'a> {
    /// Finds the branches and loops of a graph. `pivots` are the predicates of pivots that have others than their branches.
    /// With `decided`, a switch by the predicate of a branch around it makes none where only that side of it is used, as in
    /// TensorFlow's gradients of loops in branches.
    pub(super) fn new(
        ctx: &'a Context,
        body: &'a Body,
        graph: (&'a Graph, &'a Origins),
        pivots: FxHashMap<Node, Source>,
        decided: bool,
    ) -> Result<Self, Diagnostic> {
        let mut shape = Shape::placed(ctx, body, graph, pivots, decided)?;
        shape.sort()?;
        Ok(shape)
    }

    /// The same without an order of what is in the branches and loops.
    pub(super) fn placed(
        ctx: &'a Context,
        body: &'a Body,
        (graph, origins): (&'a Graph, &'a Origins),
        pivots: FxHashMap<Node, Source>,
        decided: bool,
    ) -> Result<Self, Diagnostic> {
        let mut shape = Shape {
            graph,
            origins,
            ctx,
            body,
            regions: vec![Region {
                owner: Owner::Top,
                parent: None,
                depth: 0,
                local: 0,
                items: Vec::new(),
            }],
            choices: Vec::new(),
            choice_of: FxHashMap::default(),
            pivots,
            decided,
            region_of: vec![ROOT; graph.len()],
            loops: vec![[ROOT; 2]; graph.frames().len()],
        };
        for step in shape.order()? {
            match step {
                Step::Node(node) => shape.place(node)?,
                Step::Frame(frame) => shape.place_frame(frame),
            }
        }
        // In the order of the text.
        for choice in &mut shape.choices {
            choice.merges.sort_unstable_by_key(|(node, _)| *node);
        }
        Ok(shape)
    }

    pub(super) fn ctx(&self) -> &'a Context {
        self.ctx
    }

    pub(super) fn body(&self) -> &'a Body {
        self.body
    }

    fn refuse(&self, node: Node, why: &str) -> Diagnostic {
        refuse(self.ctx, self.body, self.graph, node, why)
    }

    fn add_region(&mut self, owner: Owner, parent: RegionId, local: u32) -> RegionId {
        let depth = self.regions[parent as usize].depth + 1;
        self.regions.push(Region {
            owner,
            parent: Some(parent),
            depth,
            local,
            items: Vec::new(),
        });
        self.regions.len() as RegionId - 1
    }

    /// The nodes and the frames in topological order: a frame after its entering values and before its nodes.
    fn order(&self) -> Result<Vec<Step>, Diagnostic> {
        let graph = self.graph;
        let count = graph.len();
        // Frames are numbered after the nodes.
        let mut missing = vec![0_u32; count + graph.frames().len()];
        let successors = |at: usize| -> Vec<usize> {
            if at >= count {
                let enters = graph.enters(FrameId((at - count) as u32)).iter();
                return enters.flat_map(|&e| self.targets(e)).map(Node::index).collect();
            }
            let node = Node(at as u32);
            if graph.kind(node) == NodeKind::Enter {
                return vec![count + graph.output_frame(node).index()];
            }
            self.targets(node).map(Node::index).collect()
        };
        for at in 0..missing.len() {
            for to in successors(at) {
                missing[to] += 1;
            }
        }
        let mut order: Vec<usize> = (0..missing.len()).filter(|&at| missing[at] == 0).collect();
        let mut at = 0;
        while let Some(&next) = order.get(at) {
            at += 1;
            for to in successors(next) {
                missing[to] -= 1;
                if missing[to] == 0 {
                    order.push(to);
                }
            }
        }
        if let Some(stuck) = (0..count).find(|&at| missing[at] > 0) {
            return Err(self.refuse(Node(stuck as u32), "a value that enters its loop depends on the loop"));
        }
        let step = |at: usize| match at.checked_sub(count) {
            Some(frame) => Step::Frame(FrameId(frame as u32)),
            None => Step::Node(Node(at as u32)),
        };
        Ok(order.into_iter().map(step).collect())
    }

    /// The nodes that wait for a node, back edges left aside.
    fn targets(&self, node: Node) -> impl Iterator<Item = Node> {
        let graph = self.graph;
        let data = graph
            .consumers(node)
            .iter()
            .filter(move |c| !graph.is_back_edge(c.node, c.input));
        data.map(|c| c.node)
            .chain(graph.control_consumers(node).iter().copied())
    }

    /// Whether the condition of the loop decides a switch.
    pub(super) fn is_loop_switch(&self, node: Node) -> bool {
        let cond = self.graph.loop_cond(self.graph.frame_of(node));
        self.graph.kind(node) == NodeKind::Switch
            && cond.is_some()
            && self.graph.inputs(node).get(1).map(|p| p.node) == cond
    }

    /// The region that a result is in.
    fn of_source(&mut self, source: Source) -> Result<RegionId, Diagnostic> {
        let node = source.node;
        let here = self.region_of[node.index()];
        match self.graph.kind(node) {
            NodeKind::Enter => Ok(self.loops[self.graph.output_frame(node).index()][0]),
            NodeKind::Switch if self.is_loop_switch(node) => {
                if source.output == 0 {
                    return Ok(here);
                }
                Ok(self.loops[self.graph.frame_of(node).index()][1])
            }
            NodeKind::Switch => {
                let Some(&pred) = self.graph.inputs(node).get(1) else {
                    return Ok(here);
                };
                let pred = self.pivots.get(&node).copied().unwrap_or(pred);
                if self.decided && self.is_decided(here, pred, source) {
                    return Ok(here);
                }
                let choice = self.choice(here, pred);
                Ok(self.choices[choice as usize].sides[usize::from(source.output == 1)])
            }
            _ => Ok(here),
        }
    }

    /// The branch that a switch belongs to.
    pub(super) fn switches(&self, node: Node) -> Option<u32> {
        if self.graph.kind(node) != NodeKind::Switch || self.is_loop_switch(node) {
            return None;
        }
        let here = self.region_of[node.index()];
        let pred = *self.graph.inputs(node).get(1)?;
        let pred = self.pivots.get(&node).copied().unwrap_or(pred);
        let is_used = |output: u32| self.graph.consumers(node).iter().any(|c| c.output == output);
        let decided = |output: u32| self.is_decided(here, pred, Source { node, output });
        if self.decided && (0..2).any(|output| is_used(output) && decided(output)) {
            return None;
        }
        self.choice_of.get(&(here, pred)).copied()
    }

    pub(super) fn depth(&self, region: RegionId) -> u32 {
        self.regions[region as usize].depth
    }

    /// Whether a region is on the side of a branch by a predicate that a result of a switch is, and its other side is not used.
    fn is_decided(&self, region: RegionId, pred: Source, result: Source) -> bool {
        let used = self.graph.consumers(result.node).iter();
        if used.into_iter().any(|c| c.output != result.output) {
            return false;
        }
        let pred = self.origins.of(pred);
        let mut at = Some(region);
        while let Some(region) = at {
            let Region { owner, parent, .. } = &self.regions[region as usize];
            if let Owner::Branch(choice, side) = *owner
                && side == result.output as usize
                && self.origins.of(self.choices[choice as usize].pred) == pred
            {
                return true;
            }
            at = *parent;
        }
        false
    }

    fn choice(&mut self, region: RegionId, pred: Source) -> u32 {
        if let Some(&choice) = self.choice_of.get(&(region, pred)) {
            return choice;
        }
        let choice = self.choices.len() as u32;
        let local = self.regions[region as usize].local + 1;
        let sides = [0, 1].map(|side| self.add_region(Owner::Branch(choice, side), region, local));
        self.choices.push(Choice {
            region,
            pred,
            sides,
            merges: Vec::new(),
        });
        self.choice_of.insert((region, pred), choice);
        choice
    }

    fn innermost(&self, a: RegionId, b: RegionId) -> RegionId {
        if self.regions[b as usize].local > self.regions[a as usize].local {
            b
        } else {
            a
        }
    }

    fn place_frame(&mut self, frame: FrameId) {
        if frame == FrameId::ROOT {
            return;
        }
        let enters = self.graph.enters(frame).to_vec();
        let mut regions = enters.iter().map(|e| self.region_of[e.index()]);
        let Some(first) = regions.next() else { return };
        let parent = regions.fold(first, |a, b| self.innermost(a, b));
        let cond = self.add_region(Owner::Cond(frame), parent, 0);
        let body = self.add_region(Owner::Body(frame), parent, 1);
        self.loops[frame.index()] = [cond, body];
    }

    fn place(&mut self, node: Node) -> Result<(), Diagnostic> {
        let graph = self.graph;
        let start = self.loops[graph.frame_of(node).index()][0];
        let kind = graph.kind(node);
        if matches!(kind, NodeKind::Send | NodeKind::Recv) {
            return Err(self.refuse(node, "a program runs on one device"));
        }
        let mut region = start;
        if kind == NodeKind::Exit {
            region = self.regions[start as usize].parent.unwrap_or(ROOT);
        } else if kind == NodeKind::Merge && !graph.is_loop_merge(node) {
            region = self.place_merge(node)?;
        } else if kind != NodeKind::Merge {
            for &source in graph.inputs(node) {
                let from = self.of_source(source)?;
                if graph.kind(source.node) == NodeKind::Switch && source.output == 0 && self.is_loop_switch(source.node)
                {
                    return Err(self.refuse(node, "only an exit can use the final values of a loop"));
                }
                region = self.innermost(region, from);
            }
            for &from in graph.controls(node) {
                let from = match graph.kind(from) {
                    NodeKind::Enter => start,
                    _ => self.region_of[from.index()],
                };
                region = self.innermost(region, from);
            }
        }
        self.region_of[node.index()] = region;
        Ok(())
    }

    /// A merge of the two sides of a branch.
    fn place_merge(&mut self, node: Node) -> Result<RegionId, Diagnostic> {
        let why = "it does not merge the values of the two sides of one branch";
        let &[a, b] = self.graph.inputs(node) else {
            return Err(self.refuse(node, why));
        };
        let (ra, rb) = (self.of_source(a)?, self.of_source(b)?);
        let owner = |r: RegionId| self.regions[r as usize].owner;
        let (choice, sides) = match (owner(ra), owner(rb)) {
            (Owner::Branch(c, 0), Owner::Branch(d, 1)) if c == d => (c, [a, b]),
            (Owner::Branch(c, 1), Owner::Branch(d, 0)) if c == d => (c, [b, a]),
            _ => return Err(self.refuse(node, why)),
        };
        if self.graph.consumers(node).iter().any(|c| c.output == 1) {
            return Err(self.refuse(node, "the index of its live operand is used"));
        }
        let choice = &mut self.choices[choice as usize];
        choice.merges.push((node, sides));
        Ok(choice.region)
    }

    // ----- items -----

    fn item_of(&self, region: RegionId) -> Option<Item> {
        match self.regions[region as usize].owner {
            Owner::Top => None,
            Owner::Branch(choice, _) => Some(Item::Branch(choice)),
            Owner::Cond(frame) | Owner::Body(frame) => Some(Item::Loop(frame)),
        }
    }

    fn index(&self, item: Item) -> usize {
        match item {
            Item::Node(node) => node.index(),
            Item::Branch(choice) => self.graph.len() + choice as usize,
            Item::Loop(frame) => self.graph.len() + self.choices.len() + frame.index(),
        }
    }

    /// The items of the innermost common region, one of which depends on the other, if something in `to` uses something
    /// in `from`.
    fn dependency(&self, from: (Item, RegionId), to: (Item, RegionId)) -> Option<(Item, Item)> {
        let ((mut a, mut ra), (mut b, mut rb)) = (from, to);
        while ra != rb {
            let (item, region) = if self.regions[ra as usize].depth >= self.regions[rb as usize].depth {
                (&mut a, &mut ra)
            } else {
                (&mut b, &mut rb)
            };
            *item = self.item_of(*region)?;
            *region = self.regions[*region as usize].parent?;
        }
        (a != b).then_some((a, b))
    }

    /// Orders the items of each region.
    fn sort(&mut self) -> Result<(), Diagnostic> {
        let graph = self.graph;
        let total = graph.len() + self.choices.len() + graph.frames().len();
        let mut before: Vec<Vec<Item>> = vec![Vec::new(); total];
        let mut listed = vec![false; total];
        let mut lists: Vec<Vec<Item>> = vec![Vec::new(); self.regions.len()];
        for node in graph.nodes() {
            // The container of an item is an item as well, listed at the position of its first member.
            let (mut item, mut region) = (Item::Node(node), self.region_of[node.index()]);
            while !std::mem::replace(&mut listed[self.index(item)], true) {
                lists[region as usize].push(item);
                match (self.item_of(region), self.regions[region as usize].parent) {
                    (Some(outer), Some(parent)) => (item, region) = (outer, parent),
                    _ => break,
                }
            }
            let here = (Item::Node(node), self.region_of[node.index()]);
            let data = (0_u32..).zip(graph.inputs(node));
            let data = data
                .filter(|&(input, _)| !graph.is_back_edge(node, input))
                .map(|(_, s)| s.node);
            for from in data.chain(graph.controls(node).iter().copied()) {
                let there = (Item::Node(from), self.region_of[from.index()]);
                if let Some((a, b)) = self.dependency(there, here) {
                    before[self.index(b)].push(a);
                }
            }
        }
        for (at, choice) in (0_u32..).zip(&self.choices) {
            let branch = (Item::Branch(at), choice.region);
            let mut needs = |from: Node| {
                let there = (Item::Node(from), self.region_of[from.index()]);
                if let Some((a, b)) = self.dependency(there, branch) {
                    before[self.index(b)].push(a);
                }
            };
            needs(choice.pred.node);
            // A value that a side only forwards reaches it through a switch before the branch.
            for source in choice.merges.iter().flat_map(|(_, sides)| sides) {
                needs(source.node);
            }
            for (merge, _) in &choice.merges {
                before[merge.index()].push(Item::Branch(at));
                if !std::mem::replace(&mut listed[self.index(Item::Branch(at))], true) {
                    lists[choice.region as usize].push(Item::Branch(at));
                }
            }
        }
        for (region, items) in lists.iter().enumerate() {
            self.regions[region].items = self.sorted(items, &before)?;
        }
        Ok(())
    }

    /// Items in an order in which what they depend on comes first.
    fn sorted(&self, items: &[Item], before: &[Vec<Item>]) -> Result<Vec<Item>, Diagnostic> {
        let mut sorted = Vec::with_capacity(items.len());
        let mut state: FxHashMap<usize, bool> = FxHashMap::default();
        for &item in items {
            let mut stack = vec![(item, 0)];
            if state.contains_key(&self.index(item)) {
                continue;
            }
            state.insert(self.index(item), false);
            while let Some((item, next)) = stack.pop() {
                let at = self.index(item);
                let Some(&first) = before[at].get(next) else {
                    state.insert(at, true);
                    sorted.push(item);
                    continue;
                };
                stack.push((item, next + 1));
                match state.get(&self.index(first)) {
                    Some(true) => {}
                    Some(false) => {
                        let node = match first {
                            Item::Node(node) => node,
                            Item::Branch(choice) => {
                                let choice = &self.choices[choice as usize];
                                choice.merges.first().map_or(choice.pred.node, |(node, _)| *node)
                            }
                            Item::Loop(frame) => self.graph.enters(frame).first().copied().unwrap_or(Node(0)),
                        };
                        return Err(self.refuse(node, "two branches by one predicate depend on each other"));
                    }
                    None => {
                        state.insert(self.index(first), false);
                        stack.push((first, 0));
                    }
                }
            }
        }
        Ok(sorted)
    }
}

enum Step {
    Node(Node),
    Frame(FrameId),
}
