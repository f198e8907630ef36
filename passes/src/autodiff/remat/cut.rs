//! The choice of the values to record: a minimum cut.
//!
//! A needed value must be recorded, or be recomputed from others that are available. Each value is split in two, joined
//! by an edge whose capacity is the cost of recording it; edges of infinite capacity lead from operands to values that
//! may be recomputed, from the source to values that may not, and from needed values to the sink. Then the cheapest set
//! of records is a minimum cut (Griewank and Walther, "Evaluating Derivatives", 2008, ask for such sets; Moses et al.
//! compute them by maximum flow in Enzyme, SC 2021). Of all minimum cuts the one nearest to the needed values is taken:
//! it recomputes least.
//!
//! Values without a choice are settled first: those that are free, those that must be recorded since they are needed
//! and cannot be recomputed, and those that follow. The rest falls into components, which are small, since expensive
//! values separate them.

use petgraph::Direction;
use petgraph::algo::dinics;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::unionfind::UnionFind;
use petgraph::visit::EdgeRef;
use rustc_hash::FxHashMap;

/// More than what any set of records costs.
pub(super) const UNLIMITED: u64 = 1 << 50;

/// The largest component that is cut; a larger one stays recorded as it was.
pub(in crate::autodiff) const LARGEST: usize = 1 << 14;

/// A value, as the choice sees it.
#[derive(Clone, Debug, Default)]
pub(in crate::autodiff) struct Node {
    /// The cost of recording it; zero if it exists anyway.
    pub(in crate::autodiff) cost: u64,
    /// Whether it may be recomputed from the nodes `from`, all of which precede it.
    pub(in crate::autodiff) again: bool,
    pub(in crate::autodiff) from: Vec<usize>,
    /// Whether the derivative reads it.
    pub(in crate::autodiff) needed: bool,
}

/// Which nodes to record, and how many there are in the largest component that was too large to choose in.
pub(in crate::autodiff) fn choose_within(nodes: &[Node], largest: usize) -> (Vec<bool>, Option<usize>) {
    let mut recorded = vec![false; nodes.len()];
    let mut there = vec![false; nodes.len()];
    for (at, node) in nodes.iter().enumerate() {
        recorded[at] = node.cost > 0 && node.needed && !node.again;
        there[at] = node.cost == 0 || recorded[at] || node.again && node.from.iter().all(|&f| there[f]);
    }
    // The remaining values, backwards from the needed ones.
    let mut open = vec![false; nodes.len()];
    let mut components = UnionFind::new(nodes.len());
    for at in (0..nodes.len()).rev() {
        let node = &nodes[at];
        open[at] |= node.needed && !there[at];
        if open[at] && node.again {
            for &from in node.from.iter().filter(|&&f| !there[f]) {
                open[from] = true;
                components.union(at, from);
            }
        }
    }
    let mut members: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
    let mut order = Vec::new();
    for at in (0..nodes.len()).filter(|&at| open[at]) {
        let component = components.find_mut(at);
        let entry = members.entry(component).or_insert_with(|| {
            order.push(component);
            Vec::new()
        });
        entry.push(at);
    }
    let mut too_large = None;
    for component in order {
        let members = &members[&component];
        if members.len() > largest {
            too_large = too_large.max(Some(members.len()));
            members.iter().for_each(|&at| recorded[at] = nodes[at].needed);
        } else {
            cut(nodes, &there, members, &mut recorded);
        }
    }
    (recorded, too_large)
}

fn cut(nodes: &[Node], there: &[bool], members: &[usize], recorded: &mut [bool]) {
    let mut graph: DiGraph<(), u64> = DiGraph::with_capacity(2 * members.len() + 2, 4 * members.len());
    let (source, sink) = (graph.add_node(()), graph.add_node(()));
    let index: FxHashMap<usize, usize> = members.iter().enumerate().map(|(i, &at)| (at, i)).collect();
    let halves: Vec<[NodeIndex; 2]> = members
        .iter()
        .map(|_| [graph.add_node(()), graph.add_node(())])
        .collect();
    for (&at, &[enter, leave]) in members.iter().zip(&halves) {
        let node = &nodes[at];
        graph.add_edge(enter, leave, node.cost);
        if !node.again {
            graph.add_edge(source, enter, UNLIMITED);
        }
        for from in node.from.iter().filter(|&&f| node.again && !there[f]) {
            if let Some(&i) = index.get(from) {
                graph.add_edge(halves[i][1], enter, UNLIMITED);
            }
        }
        if node.needed {
            graph.add_edge(leave, sink, UNLIMITED);
        }
    }
    let (_, flows) = dinics(&graph, source, sink);
    // Backwards from the sink along residual edges: the reached nodes are on the sink side of the cut.
    let mut behind = vec![false; graph.node_count()];
    let mut pending = vec![sink];
    behind[sink.index()] = true;
    while let Some(at) = pending.pop() {
        let before = graph
            .edges_directed(at, Direction::Incoming)
            .filter(|e| flows[e.id().index()] < *e.weight())
            .map(|e| e.source());
        let back = graph
            .edges_directed(at, Direction::Outgoing)
            .filter(|e| flows[e.id().index()] > 0)
            .map(|e| e.target());
        for next in before.chain(back) {
            if !std::mem::replace(&mut behind[next.index()], true) {
                pending.push(next);
            }
        }
    }
    for (&at, &[enter, leave]) in members.iter().zip(&halves) {
        recorded[at] = behind[leave.index()] && !behind[enter.index()];
    }
}

/// The cost of a choice.
pub(super) fn cost(nodes: &[Node], recorded: &[bool]) -> u64 {
    let chosen = nodes.iter().zip(recorded).filter(|(_, r)| **r);
    chosen.fold(0, |sum, (node, _)| sum.saturating_add(node.cost))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "in tests a panic is a failure")]

    use super::*;

    fn node(cost: u64, again: bool, from: &[usize], needed: bool) -> Node {
        Node {
            cost,
            again,
            from: from.to_vec(),
            needed,
        }
    }

    #[test]
    fn what_follows_from_an_argument_is_not_recorded() {
        let nodes = [
            node(8, false, &[], true),
            node(8, true, &[0], true),
            node(8, true, &[0, 1], true),
        ];
        assert_eq!(choose_within(&nodes, LARGEST).0, [true, false, false]);
    }

    #[test]
    fn a_narrow_place_is_found() {
        // Two expensive values, their sum, and three wide functions of it.
        let nodes = [
            node(8, false, &[], false),
            node(8, false, &[], false),
            node(8, true, &[0, 1], false),
            node(8, true, &[2], true),
            node(8, true, &[2], true),
            node(8, true, &[2], true),
        ];
        assert_eq!(
            choose_within(&nodes, LARGEST).0,
            [false, false, true, false, false, false]
        );
    }

    #[test]
    fn of_equal_choices_the_one_that_computes_least() {
        let nodes = [
            node(8, false, &[], false),
            node(8, true, &[0], false),
            node(8, true, &[1], true),
        ];
        assert_eq!(choose_within(&nodes, LARGEST).0, [false, false, true]);
    }

    /// The least cost by trying every set, for all graphs of a pseudo-random sequence.
    #[test]
    fn no_set_of_records_is_cheaper() {
        let mut state = 1u64;
        let mut next = |n: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % n
        };
        for _ in 0..2000 {
            let count = 2 + next(8) as usize;
            let nodes: Vec<Node> = (0..count)
                .map(|at| {
                    let from: Vec<usize> = (0..at).filter(|_| next(3) == 0).collect();
                    node(next(5), !from.is_empty() && next(4) > 0, &from, next(3) == 0)
                })
                .collect();
            let suffices = |set: &dyn Fn(usize) -> bool| {
                let mut there = vec![false; count];
                for (at, node) in nodes.iter().enumerate() {
                    there[at] = set(at) || node.cost == 0 || node.again && node.from.iter().all(|&f| there[f]);
                }
                nodes.iter().zip(there).all(|(n, t)| t || !n.needed)
            };
            let found = choose_within(&nodes, LARGEST).0;
            assert!(suffices(&|at| found[at]), "{nodes:?}");
            let best = (0u32..1 << count)
                .filter(|set| suffices(&|at| set >> at & 1 == 1))
                .map(|set| {
                    (0..count)
                        .filter(|at| set >> at & 1 == 1)
                        .map(|at| nodes[at].cost)
                        .sum::<u64>()
                })
                .min()
                .unwrap();
            assert_eq!(cost(&nodes, &found), best, "{nodes:?}");
        }
    }

    #[test]
    fn what_is_too_large_stays_recorded() {
        // 1 and 2 follow from 0: recording that alone is the cheapest.
        let nodes = [
            node(8, false, &[], false),
            node(8, true, &[0], true),
            node(8, true, &[0], true),
        ];
        assert_eq!(choose_within(&nodes, 3), (vec![true, false, false], None));
        assert_eq!(choose_within(&nodes, 2), (vec![false, true, true], Some(3)));
    }
}
