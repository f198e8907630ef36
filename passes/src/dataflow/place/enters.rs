//! A constant enter for each device that reads it.

use std::collections::{BTreeMap, BTreeSet};

use pir_dialects::df::graph::{Graph, Node};
use pir_ir::{Body, Context, OpId, Rewriter, ValueId, ValueMap};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Gives each device that reads a constant enter a copy of it, and removes unused enters. `device_of` maps the other
/// nodes to devices. Returns the devices of the resulting enters.
pub(super) fn copy(ctx: &Context, body: &mut Body, graph: &Graph, device_of: &[Option<u32>]) -> FxHashMap<OpId, u32> {
    let enters = || graph.nodes().filter(|n| device_of[n.index()].is_none());
    let devices = reading_devices(graph, device_of);
    let mut placed: FxHashMap<OpId, u32> = FxHashMap::default();
    let mut copies: FxHashMap<ValueId, BTreeMap<u32, ValueId>> = FxHashMap::default();
    let mut originals: FxHashMap<OpId, Vec<OpId>> = FxHashMap::default();
    let mut r = Rewriter::new(ctx, body);
    for node in enters() {
        let op = graph.op(node);
        let value = r.body.result(op, 0);
        for (at, &device) in devices[node.index()].iter().enumerate() {
            let new = if at == 0 {
                op
            } else {
                let new = r.after(op).clone_op(op, &mut ValueMap::new());
                originals.entry(op).or_default().push(new);
                new
            };
            placed.insert(new, device);
            let new = r.body.result(new, 0);
            copies.entry(value).or_default().insert(device, new);
        }
    }
    copy_controls(&mut r, graph, &originals);
    // Only omitted operations read an omitted one.
    let unread = enters().map(|n| graph.op(n)).filter(|op| !placed.contains_key(op));
    let mut unread: Vec<OpId> = unread.collect();
    unread.sort_unstable();
    remove(&mut r, graph, &unread);
    redirect(&mut r, graph, device_of, &placed, &copies);
    placed
}

/// The devices that read each constant enter, themselves or through others.
fn reading_devices(graph: &Graph, device_of: &[Option<u32>]) -> Vec<BTreeSet<u32>> {
    let mut devices: Vec<BTreeSet<u32>> = vec![BTreeSet::new(); graph.len()];
    for &node in graph.order().iter().rev().filter(|n| device_of[n.index()].is_none()) {
        let nodes = graph.consumers(node).iter().map(|c| c.node);
        let mut all = BTreeSet::new();
        for reader in nodes.chain(graph.control_consumers(node).iter().copied()) {
            match device_of[reader.index()] {
                Some(device) => {
                    all.insert(device);
                }
                None => all.extend(devices[reader.index()].iter().copied()),
            }
        }
        devices[node.index()] = all;
    }
    devices
}

/// Copies of an enter wait for the same nodes as the enter.
fn copy_controls(r: &mut Rewriter<'_>, graph: &Graph, originals: &FxHashMap<OpId, Vec<OpId>>) {
    for &control in graph.control_ops() {
        let of = r.body.operands(control).next().and_then(|to| r.body.defining_op(to));
        for &new in of.and_then(|op| originals.get(&op)).into_iter().flatten() {
            let value = r.body.result(new, 0);
            let control = r.after(control).clone_op(control, &mut ValueMap::new());
            r.body.set_operand(control, 0, value);
        }
    }
}

/// Removes unused enters; `unread` is sorted.
fn remove(r: &mut Rewriter<'_>, graph: &Graph, unread: &[OpId]) {
    for &control in graph.control_ops() {
        let to = r.body.operands(control).next();
        let to = to.and_then(|to| r.body.defining_op(to));
        if to.is_some_and(|op| unread.binary_search(&op).is_ok()) {
            r.erase_op(control);
        }
    }
    let order: Vec<Node> = graph.order().iter().rev().copied().collect();
    for op in order.into_iter().map(|n| graph.op(n)) {
        if unread.binary_search(&op).is_ok() {
            r.erase_op(op);
        }
    }
}

/// Lets each user read the enter of its device.
fn redirect(
    r: &mut Rewriter<'_>,
    graph: &Graph,
    device_of: &[Option<u32>],
    placed: &FxHashMap<OpId, u32>,
    copies: &FxHashMap<ValueId, BTreeMap<u32, ValueId>>,
) {
    let device = |op: OpId| placed.get(&op).copied().or_else(|| device_of[graph.node(op)?.index()]);
    let block = r.body.entry_block(r.body.root());
    let ops = block.map(|b| r.body.block_ops_vec(b)).unwrap_or_default();
    for op in ops {
        // A control edge is on the device of the node that it leads to.
        let owner = match device(op) {
            Some(device) => Some(device),
            None => {
                let to = r.body.operands(op).next();
                to.and_then(|to| r.body.defining_op(to)).and_then(device)
            }
        };
        let Some(owner) = owner else { continue };
        let operands: SmallVec<[ValueId; 6]> = r.body.operands_vec(op);
        for (index, value) in operands.into_iter().enumerate() {
            if device(op).is_none() && index == 0 {
                continue;
            }
            let new = copies.get(&value).and_then(|of| of.get(&owner));
            if let Some(&new) = new.filter(|&&new| new != value) {
                r.body.set_operand(op, index, new);
            }
        }
    }
}
