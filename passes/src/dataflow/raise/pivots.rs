//! Which branch a pivot belongs to.
//!
//! A switch whose data is its own predicate indicates to nodes without operands which side of a branch is taken.
//! TensorFlow makes it from the predicate itself, and the other switches of the branch from a copy of it, one for each
//! branch. So the pivot belongs to the branch that the nodes it controls lead to: through what they, or their users,
//! read or are merged with.

use pir_dialects::df::graph::{Graph, Node, NodeKind, Source};
use rustc_hash::{FxHashMap, FxHashSet};

/// The values that are forwarded as other ones: by copies, by either side of a switch. All are found at once, since chains are as
/// long as branches are deep.
pub(super) struct Origins(Vec<Option<Source>>);

impl Origins {
    pub(super) fn new(graph: &Graph) -> Self {
        let mut origins = Self(vec![None; graph.len()]);
        let mut chain = Vec::new();
        for node in graph.nodes() {
            let (mut at, mut origin) = (node, None);
            // A chain of copies that is closed has no origin, but ends.
            while let Some(before) = Self::before(graph, at).filter(|_| chain.len() <= graph.len()) {
                chain.push(at);
                origin = origins.0[before.node.index()].or(Some(before));
                if origin != Some(before) {
                    break;
                }
                at = before.node;
            }
            for on_it in chain.drain(..) {
                origins.0[on_it.index()] = origin;
            }
        }
        origins
    }

    /// The value that a node forwards.
    fn before(graph: &Graph, node: Node) -> Option<Source> {
        let hands_on = match graph.kind(node) {
            NodeKind::Identity | NodeKind::Switch => true,
            NodeKind::Enter => graph.is_constant_enter(node),
            _ => false,
        };
        graph.inputs(node).first().copied().filter(|_| hands_on)
    }

    /// The value that is forwarded as this one.
    pub(super) fn of(&self, source: Source) -> Source {
        self.0[source.node.index()].unwrap_or(source)
    }
}

/// The value that a source is a copy of, in the same branch.
fn copied(graph: &Graph, mut source: Source) -> Source {
    while graph.kind(source.node) == NodeKind::Identity
        && let Some(&before) = graph.inputs(source.node).first()
    {
        source = before;
    }
    source
}

/// The predicates of pivots, in place of their own, by the switch.
pub(super) fn find(graph: &Graph, origins: &Origins) -> FxHashMap<Node, Source> {
    let mut found = FxHashMap::default();
    // A graph may be made to have many pivots of large branches.
    let mut budget = 64 * graph.len() + 4096;
    for node in graph.nodes().filter(|&n| graph.kind(n) == NodeKind::Switch) {
        let &[data, pred] = graph.inputs(node) else { continue };
        if origins.of(data) == origins.of(pred)
            && let Some(pred) = branch_of(graph, node, pred, &mut budget)
        {
            found.insert(node, pred);
        }
    }
    found
}

/// The copy of the predicate by which the branch is known that a pivot meets.
fn branch_of(graph: &Graph, pivot: Node, own: Source, budget: &mut usize) -> Option<Source> {
    // Branches inside each other may be decided by one value: a copy in another branch is the predicate of that one.
    let of = copied(graph, own);
    // Nodes that depend on the pivot, and nodes that something merged with them depends on.
    let (mut behind, mut before) = (vec![pivot], Vec::new());
    let mut seen: FxHashSet<Node> = FxHashSet::from_iter([pivot]);
    loop {
        *budget = budget.checked_sub(1)?;
        let (node, forward) = match (before.pop(), behind.pop()) {
            (Some(node), kept) => {
                behind.extend(kept);
                (node, false)
            }
            (None, Some(node)) => (node, true),
            (None, None) => return None,
        };
        let merges = graph.kind(node) == NodeKind::Merge;
        if graph.kind(node) == NodeKind::Switch && node != pivot {
            let pred = graph.inputs(node).get(1).copied();
            if let Some(pred) = pred.filter(|&p| p != own && copied(graph, p) == of) {
                return Some(pred);
            }
        }
        // A loop is in the branch that its enters are in.
        let frame = match graph.kind(node) {
            NodeKind::Enter => Some(graph.output_frame(node)),
            NodeKind::Exit => Some(graph.frame_of(node)),
            _ => None,
        };
        if let Some(frame) = frame {
            before.extend(graph.enters(frame).iter().copied().filter(|n| seen.insert(*n)));
        }
        if node != pivot && graph.kind(node) != NodeKind::Exit {
            let inputs = graph.inputs(node).iter().map(|s| s.node);
            before.extend(inputs.filter(|n| seen.insert(*n)));
        }
        if forward && !merges && !matches!(graph.kind(node), NodeKind::Enter | NodeKind::NextIteration) {
            let users = graph.consumers(node).iter().map(|c| c.node);
            let all = users.chain(graph.control_consumers(node).iter().copied());
            behind.extend(all.filter(|n| seen.insert(*n)));
        }
    }
}
