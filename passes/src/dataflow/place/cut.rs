//! Balanced minimum cuts of a hypergraph.
//!
//! A value is sent to a device once, however many nodes read it there: so nets are cut (the node that defines a value,
//! and all that read it), not edges.
//!
//! # Algorithm
//! Recursive bisection. A large part is coarsened first: strongly connected vertices are merged, level by level
//! (Karypis and Kumar, 1998). The coarse part is cut by maximum flow between two seeds, or between the vertices fixed
//! to either side; if one side is too light, it is contracted together with one more vertex, and cut again (Yang and
//! Wong, "Efficient Network Flow Based Min-Cut Balanced Partitioning", 1994). During uncoarsening, single vertices
//! change sides if that makes the cut cheaper. Everything is done in the order of the vertices, so that the result is
//! deterministic.

#[cfg(test)]
mod tests;

use petgraph::algo::dinics;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;
use rustc_hash::FxHashMap;

/// The weight of nets that must not be cut.
const UNLIMITED: u64 = 1 << 50;
/// The most that a net counts, so that sums stay below [`UNLIMITED`].
const DEAREST: u64 = 1 << 34;
/// How many vertices are cut by flow; more are made fewer first.
const COARSE: usize = 40;
/// Nets with more pins do not indicate which nodes belong together.
const WIDE: usize = 16;
/// From how many places a cut starts.
const SEEDS: usize = 4;
/// How often all vertices are tried on the other side.
const ROUNDS: usize = 4;

/// Vertices, one of which sends a value to the others.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Net {
    /// The cost if they are not all in one part.
    pub(super) weight: u64,
    /// The vertices.
    pub(super) pins: Vec<u32>,
}

/// A hypergraph to cut.
#[derive(Clone, Default, Debug)]
pub(super) struct Problem {
    /// How much work each vertex is.
    pub(super) weights: Vec<u64>,
    /// The part that a vertex must be in.
    pub(super) fixed: Vec<Option<u32>>,
    /// The nets, which cost something if they are cut.
    pub(super) nets: Vec<Net>,
}

/// The vertices of some parts that are still one.
struct Pending {
    vertices: Vec<u32>,
    nets: Vec<Net>,
    parts: std::ops::Range<u32>,
}

/// The part of each vertex.
pub(super) fn assign(problem: &Problem, parts: u32) -> Vec<u32> {
    let count = problem.weights.len();
    let mut part_of = vec![0; count];
    let mut pending = vec![Pending {
        vertices: (0..count as u32).collect(),
        nets: problem.nets.clone(),
        parts: 0..parts.max(1),
    }];
    while let Some(Pending { vertices, nets, parts }) = pending.pop() {
        let many = parts.end - parts.start;
        if many == 1 {
            vertices.iter().for_each(|&v| part_of[v as usize] = parts.start);
            continue;
        }
        let middle = parts.start + many.div_ceil(2);
        let fixed = |v: u32| problem.fixed.get(v as usize).copied().flatten();
        let whole = Whole {
            weights: vertices.iter().map(|&v| problem.weights[v as usize]).collect(),
            side: vertices.iter().map(|&v| fixed(v).map(|p| p >= middle)).collect(),
            nets,
        };
        let total: u128 = whole.weights.iter().map(|&w| u128::from(w)).sum();
        let target = total * u128::from(middle - parts.start) / u128::from(many);
        let goal = Goal {
            target: u64::try_from(target).unwrap_or(u64::MAX),
            slack: u64::try_from(total / 10).unwrap_or(u64::MAX),
        };
        let right = bisect(&whole, goal);
        for (is_right, parts) in [(false, parts.start..middle), (true, middle..parts.end)] {
            let inside: Vec<usize> = (0..vertices.len()).filter(|&i| right[i] == is_right).collect();
            let mut number = vec![None; vertices.len()];
            (0_u32..).zip(&inside).for_each(|(at, &i)| number[i] = Some(at));
            pending.push(Pending {
                vertices: inside.iter().map(|&i| vertices[i]).collect(),
                nets: restrict(&whole.nets, |pin| number[pin as usize]),
                parts,
            });
        }
    }
    part_of
}

/// The nets with renamed pins: nets with a single pin are dropped, equal ones merged.
fn restrict(nets: &[Net], to: impl Fn(u32) -> Option<u32>) -> Vec<Net> {
    let mut all: Vec<Net> = Vec::new();
    let mut known: FxHashMap<Vec<u32>, usize> = FxHashMap::default();
    for net in nets {
        let mut pins: Vec<u32> = net.pins.iter().filter_map(|&p| to(p)).collect();
        pins.sort_unstable();
        pins.dedup();
        if pins.len() < 2 {
            continue;
        }
        let at = *known.entry(pins.clone()).or_insert_with(|| {
            all.push(Net { weight: 0, pins });
            all.len() - 1
        });
        all[at].weight = all[at].weight.saturating_add(net.weight).min(DEAREST);
    }
    all
}

/// The hypergraph to cut in two.
struct Whole {
    weights: Vec<u64>,
    /// Whether a vertex must be on the right.
    side: Vec<Option<bool>>,
    nets: Vec<Net>,
}

/// How much the left side is to weigh.
#[derive(Clone, Copy)]
struct Goal {
    target: u64,
    slack: u64,
}

impl Goal {
    /// By how much a weight misses the goal.
    fn misses(self, weight: u64) -> u64 {
        weight.abs_diff(self.target).saturating_sub(self.slack)
    }
}

impl Whole {
    fn len(&self) -> usize {
        self.weights.len()
    }

    /// The nets of each vertex.
    fn nets_of(&self) -> Vec<Vec<u32>> {
        let mut of = vec![Vec::new(); self.len()];
        for (at, net) in (0_u32..).zip(&self.nets) {
            net.pins.iter().for_each(|&pin| of[pin as usize].push(at));
        }
        of
    }

    /// The weight of the left side.
    fn left_weight(&self, right: &[bool]) -> u64 {
        let weights = self.weights.iter().zip(right).filter(|(_, right)| !**right);
        weights.fold(0, |sum, (&w, _)| sum.saturating_add(w))
    }

    /// The cost of the nets between the sides.
    fn cost(&self, right: &[bool]) -> u64 {
        let is_cut = |net: &&Net| {
            let mut sides = net.pins.iter().map(|&p| right[p as usize]);
            let first = sides.next();
            sides.any(|side| Some(side) != first)
        };
        let cut = self.nets.iter().filter(is_cut);
        cut.fold(0, |sum, net| sum.saturating_add(net.weight))
    }

    /// Contracts vertices; `to` maps each to the new one.
    fn contract(&self, to: &[u32], count: usize) -> Whole {
        let mut weights = vec![0_u64; count];
        let mut side = vec![None; count];
        for (old, &new) in to.iter().enumerate() {
            let weight = &mut weights[new as usize];
            *weight = weight.saturating_add(self.weights[old]);
            side[new as usize] = side[new as usize].or(self.side[old]);
        }
        Whole {
            weights,
            side,
            nets: restrict(&self.nets, |pin| Some(to[pin as usize])),
        }
    }
}

/// Which vertices are on the right.
fn bisect(whole: &Whole, goal: Goal) -> Vec<bool> {
    // All that is fixed to a side is one vertex.
    let mut levels: Vec<(Whole, Vec<u32>)> = Vec::new();
    let (to, count) = join_fixed(whole);
    levels.push((whole.contract(&to, count), to));
    while let Some((finest, _)) = levels.last().filter(|(w, _)| w.len() > COARSE) {
        let (to, count) = pair(finest);
        if count == finest.len() {
            break;
        }
        let coarser = finest.contract(&to, count);
        levels.push((coarser, to));
    }
    let mut right = Vec::new();
    while let Some((level, to)) = levels.pop() {
        if right.is_empty() {
            right = cut(&level, goal);
        }
        refine(&level, goal, &mut right);
        right = to.iter().map(|&new| right[new as usize]).collect();
    }
    refine(whole, goal, &mut right);
    right
}

fn join_fixed(whole: &Whole) -> (Vec<u32>, usize) {
    let mut joined = [None; 2];
    let mut count = 0;
    let mut fresh = || {
        count += 1;
        count - 1
    };
    let to = whole
        .side
        .iter()
        .map(|side| match side {
            Some(right) => *joined[usize::from(*right)].get_or_insert_with(&mut fresh),
            None => fresh(),
        })
        .collect();
    (to, count as usize)
}

/// Matches each vertex with the one to which it is most strongly connected.
fn pair(whole: &Whole) -> (Vec<u32>, usize) {
    const FREE: u32 = u32::MAX;
    let nets_of = whole.nets_of();
    let total: u64 = whole.weights.iter().fold(0, |sum, &w| sum.saturating_add(w));
    let heaviest = total / COARSE as u64 * 2;
    let fits = |a: usize, b: usize| !matches!((whole.side[a], whole.side[b]), (Some(x), Some(y)) if x != y);
    let mut to = vec![FREE; whole.len()];
    let mut count = 0_u32;
    let mut score = vec![0_u64; whole.len()];
    let mut alone = Vec::new();
    for v in 0..whole.len() {
        if to[v] != FREE {
            continue;
        }
        let mut near = Vec::new();
        for &net in &nets_of[v] {
            let net = &whole.nets[net as usize];
            if net.pins.len() > WIDE {
                continue;
            }
            let share = (net.weight * WIDE as u64 / (net.pins.len() as u64 - 1)).max(1);
            for u in net.pins.iter().map(|&u| u as usize) {
                let light = whole.weights[u].saturating_add(whole.weights[v]) <= heaviest;
                if u != v && to[u] == FREE && light && fits(u, v) {
                    if score[u] == 0 {
                        near.push(u);
                    }
                    score[u] += share;
                }
            }
        }
        let best = near.iter().copied().max_by_key(|&u| (score[u], std::cmp::Reverse(u)));
        near.iter().for_each(|&u| score[u] = 0);
        match best {
            Some(u) => {
                (to[u], to[v]) = (count, count);
                count += 1;
            }
            None => alone.push(v),
        }
    }
    // Vertices without a neighbour, if there are too many: adjacent ones in the program are merged.
    let crowded = (count as usize + alone.len()) * 5 > whole.len() * 4;
    let mut alone = alone
        .into_iter()
        .filter(|&v| to[v] == FREE)
        .collect::<Vec<_>>()
        .into_iter()
        .peekable();
    while let Some(v) = alone.next() {
        to[v] = count;
        if let Some(u) = alone.next_if(|&u| crowded && fits(u, v)) {
            to[u] = count;
        }
        count += 1;
    }
    (to, count as usize)
}

/// The best of some cuts, which start from different seeds.
fn cut(whole: &Whole, goal: Goal) -> Vec<bool> {
    let nets_of = whole.nets_of();
    let free: Vec<usize> = (0..whole.len()).filter(|&v| whole.side[v].is_none()).collect();
    let seeded = whole.side.contains(&Some(false));
    let seeds = (0..if seeded { 1 } else { SEEDS }).map(|i| free.get(i * free.len() / SEEDS).copied());
    let cuts = seeds.map(|seed| {
        let mut right = grow(whole, &nets_of, goal, seed.filter(|_| !seeded));
        refine(whole, goal, &mut right);
        swap(whole, goal, &mut right);
        let (misses, cost) = (goal.misses(whole.left_weight(&right)), whole.cost(&right));
        (misses, cost, right)
    });
    let best = cuts.min_by_key(|(misses, cost, _)| (*misses, *cost));
    best.map(|(_, _, right)| right).unwrap_or_default()
}

/// Cuts by flow, again and again, until the sides are balanced.
fn grow(whole: &Whole, nets_of: &[Vec<u32>], goal: Goal, seed: Option<usize>) -> Vec<bool> {
    let count = whole.len();
    let mut left: Vec<bool> = whole.side.iter().map(|s| *s == Some(false)).collect();
    let mut right: Vec<bool> = whole.side.iter().map(|s| *s == Some(true)).collect();
    if let Some(seed) = seed {
        left[seed] = true;
    }
    if !right.contains(&true)
        && let Some(last) = farthest(whole, nets_of, &left)
    {
        right[last] = true;
    }
    let mut best: Option<(u64, u64, Vec<bool>)> = None;
    loop {
        let (cost, reached) = min_cut(whole, &left, &right);
        let beyond: Vec<bool> = reached.iter().map(|r| !r).collect();
        let weight = whole.left_weight(&beyond);
        let misses = goal.misses(weight);
        if best.as_ref().is_none_or(|(m, c, _)| (misses, cost) < (*m, *c)) {
            best = Some((misses, cost, beyond));
        }
        if misses == 0 {
            break;
        }
        let (grows, other) = if weight < goal.target {
            left.clone_from(&reached);
            (&mut left, &right)
        } else {
            right = reached.iter().map(|r| !r).collect();
            (&mut right, &left)
        };
        let Some(next) = nearest(whole, nets_of, grows, other) else {
            break;
        };
        grows[next] = true;
    }
    best.map(|(_, _, right)| right).unwrap_or_else(|| vec![false; count])
}

/// The vertex that is farthest from a set: the last one of a search in breadth, or one that it does not find.
fn farthest(whole: &Whole, nets_of: &[Vec<u32>], from: &[bool]) -> Option<usize> {
    let mut seen = from.to_vec();
    let mut used = vec![false; whole.nets.len()];
    let mut order: Vec<usize> = (0..from.len()).filter(|&v| from[v]).collect();
    let mut at = 0;
    while let Some(&v) = order.get(at) {
        at += 1;
        for &net in &nets_of[v] {
            if std::mem::replace(&mut used[net as usize], true) {
                continue;
            }
            for u in whole.nets[net as usize].pins.iter().map(|&u| u as usize) {
                if !std::mem::replace(&mut seen[u], true) {
                    order.push(u);
                }
            }
        }
    }
    let missed = (0..seen.len()).rev().find(|&v| !seen[v]);
    missed.or_else(|| order.last().copied().filter(|&v| !from[v]))
}

/// The vertex outside of two sets that is most strongly connected to the first; the first one if none is connected.
fn nearest(whole: &Whole, nets_of: &[Vec<u32>], to: &[bool], other: &[bool]) -> Option<usize> {
    let touches: Vec<bool> = whole
        .nets
        .iter()
        .map(|n| n.pins.iter().any(|&p| to[p as usize]))
        .collect();
    let says = |v: usize| {
        let nets = nets_of[v].iter().filter(|&&n| touches[n as usize]);
        nets.fold(0_u64, |sum, &n| sum.saturating_add(whole.nets[n as usize].weight))
    };
    let free = (0..to.len()).filter(|&v| !to[v] && !other[v]);
    free.max_by_key(|&v| (says(v), std::cmp::Reverse(v)))
}

/// The cost of the cheapest cut between two sets, and the side of the first.
fn min_cut(whole: &Whole, left: &[bool], right: &[bool]) -> (u64, Vec<bool>) {
    let mut graph: DiGraph<(), u64> = DiGraph::new();
    let (source, sink) = (graph.add_node(()), graph.add_node(()));
    let vertices: Vec<NodeIndex> = left.iter().map(|_| graph.add_node(())).collect();
    for (at, &vertex) in vertices.iter().enumerate() {
        if left[at] {
            graph.add_edge(source, vertex, UNLIMITED);
        }
        if right[at] {
            graph.add_edge(vertex, sink, UNLIMITED);
        }
    }
    for net in &whole.nets {
        if let [a, b] = net.pins[..] {
            let (a, b) = (vertices[a as usize], vertices[b as usize]);
            graph.add_edge(a, b, net.weight);
            graph.add_edge(b, a, net.weight);
            continue;
        }
        let (enter, leave) = (graph.add_node(()), graph.add_node(()));
        graph.add_edge(enter, leave, net.weight);
        for &pin in &net.pins {
            graph.add_edge(vertices[pin as usize], enter, UNLIMITED);
            graph.add_edge(leave, vertices[pin as usize], UNLIMITED);
        }
    }
    let (cost, flows) = dinics(&graph, source, sink);
    let mut reached = vec![false; graph.node_count()];
    reached[source.index()] = true;
    let mut pending = vec![source];
    while let Some(at) = pending.pop() {
        let forward = graph
            .edges(at)
            .filter(|e| flows[e.id().index()] < *e.weight())
            .map(|e| e.target());
        let back = graph.edges_directed(at, petgraph::Direction::Incoming);
        let back = back.filter(|e| flows[e.id().index()] > 0).map(|e| e.source());
        for next in forward.chain(back) {
            if !std::mem::replace(&mut reached[next.index()], true) {
                pending.push(next);
            }
        }
    }
    (cost, vertices.iter().map(|v| reached[v.index()]).collect())
}

/// Lets single vertices change sides where that makes the cut cheaper, or the sides more equal at the same cost.
fn refine(whole: &Whole, goal: Goal, right: &mut [bool]) {
    let nets_of = whole.nets_of();
    let mut on_side: Vec<[u32; 2]> = whole.nets.iter().map(|_| [0; 2]).collect();
    for (net, counts) in whole.nets.iter().zip(&mut on_side) {
        net.pins
            .iter()
            .for_each(|&p| counts[usize::from(right[p as usize])] += 1);
    }
    let mut weight = whole.left_weight(right);
    for _ in 0..ROUNDS {
        let mut changed = false;
        for v in (0..right.len()).filter(|&v| whole.side[v].is_none()) {
            let here = usize::from(right[v]);
            let (mut gain, mut loss) = (0_u64, 0_u64);
            for &net in &nets_of[v] {
                let net_weight = whole.nets[net as usize].weight;
                let counts = on_side[net as usize];
                if counts[here] == 1 {
                    gain = gain.saturating_add(net_weight);
                }
                if counts[1 - here] == 0 {
                    loss = loss.saturating_add(net_weight);
                }
            }
            let moved = if right[v] {
                weight.saturating_add(whole.weights[v])
            } else {
                weight.saturating_sub(whole.weights[v])
            };
            let (before, after) = (goal.misses(weight), goal.misses(moved));
            let better = gain > loss && after <= before;
            let fairer = gain == loss && after < before;
            if better || fairer {
                right[v] = !right[v];
                weight = moved;
                for &net in &nets_of[v] {
                    on_side[net as usize][here] -= 1;
                    on_side[net as usize][1 - here] += 1;
                }
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
}

/// Lets two vertices change sides where that makes the cut cheaper; for few vertices.
fn swap(whole: &Whole, goal: Goal, right: &mut [bool]) {
    if whole.len() > COARSE {
        return;
    }
    let free: Vec<usize> = (0..whole.len()).filter(|&v| whole.side[v].is_none()).collect();
    let mut best = (goal.misses(whole.left_weight(right)), whole.cost(right));
    for _ in 0..ROUNDS {
        let mut changed = false;
        for (at, &a) in free.iter().enumerate() {
            for &b in &free[at + 1..] {
                if right[a] == right[b] {
                    continue;
                }
                right.swap(a, b);
                let now = (goal.misses(whole.left_weight(right)), whole.cost(right));
                if now < best {
                    best = now;
                    changed = true;
                } else {
                    right.swap(a, b);
                }
            }
        }
        if !changed {
            break;
        }
    }
}
