//! The cost of a placement: a simple model.
//!
//! A node is as much work as its results have elements; one that combines elements (a matrix product) as much as the square
//! root of the product of the sizes of its operands and results, which for a matrix product is the number of its
//! multiplications. A message costs what it weighs in bytes, and something for being sent. A loop is taken to run
//! [`TRIPS`] times each time that it is entered, a dimension that is not known to be [`EXTENT`].

use pir_dialects::df::graph::{FrameId, Graph, Node, NodeKind};
use pir_ir::{Body, Context, Traits, Type, ValueId};

use super::cut::{Net, Problem};
use super::groups::Groups;

/// How often a loop is taken to run.
const TRIPS: u64 = 10;
/// How deep loops are counted.
const DEPTHS: u32 = 6;
/// The assumed extent of an unknown dimension.
const EXTENT: u64 = 16;
/// The cost of a message beside its bytes.
const MESSAGE: u64 = 64;

/// How many elements a value has.
fn elements(ctx: &Context, ty: Type) -> u64 {
    let Some((shape, _)) = ctx.as_tensor(ty) else { return 1 };
    let extents = shape.iter().map(|&d| u64::try_from(d).unwrap_or(EXTENT));
    extents.fold(1, u64::saturating_mul)
}

/// How many bytes a value has.
pub(in crate::dataflow) fn bytes(ctx: &Context, ty: Type) -> u64 {
    elements(ctx, ty).saturating_mul(ctx.elem_bytes(ctx.elem_type(ty)))
}

fn work(ctx: &Context, body: &Body, graph: &Graph, node: Node) -> u64 {
    let op = graph.op(node);
    if graph.kind(node) != NodeKind::Ordinary {
        return 1;
    }
    let size = |v: ValueId| elements(ctx, body.value_type(v)).max(1);
    let results = body.results(op).map(size).fold(1, u64::max);
    let view = body.view(ctx, op);
    if view.has(Traits::ELEMENTWISE) || view.has(Traits::MOVEMENT) || view.has(Traits::CONSTANT) {
        return results;
    }
    let operands = body.operands(op).map(size);
    let largest = operands.clone().fold(results, u64::max);
    if operands.len() < 2 {
        return largest;
    }
    // Not more than the two largest operands: others are biases and the like.
    let mut sizes: Vec<u64> = operands.collect();
    sizes.sort_unstable_by_key(|&s| std::cmp::Reverse(s));
    let product = sizes.iter().take(2).map(|&s| u128::from(s)).product::<u128>();
    let product = product.saturating_mul(u128::from(results));
    u64::try_from(product.isqrt()).unwrap_or(u64::MAX).max(largest)
}

/// The assumed number of executions of nodes in a frame.
fn times(graph: &Graph, frame: FrameId) -> u64 {
    let depth = u32::try_from(graph.depth(frame)).unwrap_or(DEPTHS);
    TRIPS.pow(depth.min(DEPTHS))
}

/// The groups as vertices, and the values that are read by other groups as nets.
pub(super) fn problem(ctx: &Context, body: &Body, graph: &Graph, groups: &Groups) -> Problem {
    let mut problem = Problem {
        weights: vec![0; groups.asked.len()],
        fixed: groups.asked.clone(),
        nets: Vec::new(),
    };
    for node in graph.nodes() {
        if let Some(group) = groups.of[node.index()] {
            let weight = &mut problem.weights[group as usize];
            let more = work(ctx, body, graph, node).saturating_mul(times(graph, graph.frame_of(node)));
            // A bound, so that sums are exact.
            *weight = weight.saturating_add(more).min(1 << 40);
        }
    }
    for node in graph.nodes() {
        let Some(group) = groups.of[node.index()] else { continue };
        let often = times(graph, graph.output_frame(node));
        let first = body.results(graph.op(node)).next();
        let mut consumers = graph.consumers(node).to_vec();
        consumers.sort_unstable();
        for of_one in consumers.chunk_by(|a, b| a.output == b.output) {
            let output = of_one.first().map_or(0, |c| c.output) as usize;
            let pins = readers(graph, groups, of_one.iter().map(|c| c.node));
            let value = body.results(graph.op(node)).nth(output).or(first);
            let size = value.map_or(0, |v| bytes(ctx, body.value_type(v)));
            add_net(
                &mut problem,
                group,
                pins,
                size.saturating_add(MESSAGE).saturating_mul(often),
            );
        }
        // What copies of enters wait for, is mostly available on the devices.
        let pins = members(groups, graph.control_consumers(node));
        add_net(&mut problem, group, pins, MESSAGE.saturating_mul(often));
    }
    // Each device that takes part in a loop is sent the condition.
    for frame in graph.frames() {
        if let Some(group) = graph.loop_cond(frame).and_then(|n| groups.of[n.index()]) {
            let pins = members(groups, graph.frame_nodes(frame));
            add_net(
                &mut problem,
                group,
                pins,
                (MESSAGE + 1).saturating_mul(times(graph, frame)),
            );
        }
    }
    problem
}

/// The groups of some nodes; for a constant enter, whose copies are on the devices that read them, those of its readers.
fn readers(graph: &Graph, groups: &Groups, nodes: impl Iterator<Item = Node>) -> Vec<u32> {
    let mut all = Vec::new();
    // An enter has one source: each is met once.
    let mut pending: Vec<Node> = nodes.collect();
    while let Some(node) = pending.pop() {
        match groups.of[node.index()] {
            Some(group) => all.push(group),
            None => pending.extend(graph.consumers(node).iter().map(|c| c.node)),
        }
    }
    sorted(all)
}

/// The groups that some nodes are in; constant enters are in none.
fn members(groups: &Groups, nodes: &[Node]) -> Vec<u32> {
    sorted(nodes.iter().filter_map(|n| groups.of[n.index()]).collect())
}

/// The groups in order, each once.
fn sorted(mut groups: Vec<u32>) -> Vec<u32> {
    groups.sort_unstable();
    groups.dedup();
    groups
}

fn add_net(problem: &mut Problem, from: u32, mut pins: Vec<u32>, weight: u64) {
    if pins.iter().all(|&p| p == from) {
        return;
    }
    if let Err(at) = pins.binary_search(&from) {
        pins.insert(at, from);
    }
    let weight = weight.min(1 << 34);
    problem.nets.push(Net { weight, pins });
}
