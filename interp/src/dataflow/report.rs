//! Reports what waits in a deadlock.

use rustc_hash::FxHashMap;

use super::compile::{Graph, Keys, NONE, Node};
use super::device::Device;
use super::frame::Iteration;
use super::shared::Rest;
use crate::exec::ExecError;
use crate::exec::value::Value;

/// The maximal number of entries; further ones are counted.
const MOST: usize = 12;

/// Explains why a run is incomplete; `None` if it is complete.
pub(super) fn waiting(devices: &[Device<'_>], rest: &Rest, keys: &Keys) -> Option<ExecError> {
    let mut lines: Vec<String> = Vec::new();
    let several = devices.len() > 1;
    let prefix = |device: &Device<'_>| match several {
        true => format!("device {}: ", device.graph.device),
        false => String::new(),
    };
    for (key, ticket) in &rest.awaited {
        let Some(device) = devices.get(ticket.device as usize) else {
            continue;
        };
        let label = &device.graph.nodes[ticket.node as usize].label;
        let (name, sent) = keys.edges.get(key.edge as usize).map_or(("", false), |(k, s)| (k, *s));
        let why = if sent { "" } else { "; no `df.send` has this key" };
        let place = device.place(ticket.frame, ticket.iteration);
        lines.push(format!(
            "{}{label} waits for a message with the key \"{name}\"{place}{why}",
            prefix(device)
        ));
    }
    for device in devices {
        device.tokens(&mut |line| lines.push(format!("{}{line}", prefix(device))));
    }
    if lines.is_empty() {
        return None;
    }
    let mut error = ExecError::new("no node can run, but the run is not complete").help(
        "every node needs all of its inputs in the same iteration of the same frame, dead ones included; every df.recv \
         needs a df.send",
    );
    let more = lines.len().saturating_sub(MOST);
    lines.truncate(MOST);
    error.notes = lines;
    if more > 0 {
        error.notes.push(format!("and {more} more"));
    }
    Some(error)
}

impl Device<'_> {
    /// The iteration of a frame as a suffix for messages.
    pub(super) fn place(&self, frame: u32, iteration: u64) -> String {
        let mut text = String::new();
        let (mut at, mut number) = (frame, iteration);
        while let Some(Some(active)) = self.frames.get(at as usize) {
            if active.parent == NONE {
                break;
            }
            if text.len() > 200 {
                text.push_str(", …");
                break;
            }
            let of = if text.is_empty() { ", in" } else { " of" };
            let name = &self.graph.frames[active.frame as usize].name;
            text.push_str(&format!("{of} iteration {number} of the frame `{name}`"));
            (at, number) = (active.parent, active.parent_iteration);
        }
        text
    }

    /// Reports waiting values, active frames, and nodes that never ran.
    fn tokens(&self, tell: &mut impl FnMut(String)) {
        let graph: &Graph = self.graph;
        for (at, active) in self.frames.iter().enumerate() {
            let Some(active) = active else { continue };
            let known = &graph.frames[active.frame as usize];
            let mut told = false;
            for (number, iteration) in (active.first..).zip(&active.iterations) {
                for (node, have) in arrived(graph, active.frame, &active.constants, iteration) {
                    let known = &graph.nodes[node as usize];
                    told = true;
                    let place = self.place(at as u32, number);
                    let of = known.inputs + known.controls;
                    tell(format!("{} has {have} of {of} inputs{place}", known.label));
                }
            }
            if active.parent != NONE {
                let place = self.place(active.parent, active.parent_iteration);
                if active.pending_enters > 0 {
                    tell(format!(
                        "the frame `{}` waits for {} of {} `df.enter`{place}",
                        known.name, active.pending_enters, known.enters
                    ));
                } else if !told {
                    tell(format!(
                        "the frame `{}` is in iteration {}, which has not ended{place}",
                        known.name,
                        active.next().saturating_sub(1)
                    ));
                }
            }
        }
        for left in &self.left {
            let node = &graph.nodes[left.node as usize];
            let name = &graph.frames[node.frame as usize].name;
            tell(format!(
                "{} had {} of {} inputs when iteration {} of the frame `{name}` ended",
                node.label,
                left.have,
                node.inputs + node.controls,
                left.iteration
            ));
        }
        let mut never = graph.nodes.iter().filter(|node| node.frame == NONE);
        if let Some(node) = never.next() {
            let more = match never.count() {
                0 => String::new(),
                count => format!(" and {count} more"),
            };
            tell(format!("{}{more} can never run: its operands depend on it", node.label));
        }
    }
}

/// The nodes of an iteration that have some inputs and have not run, in their order, with the number of these inputs.
pub(super) fn arrived(
    graph: &Graph,
    frame: u32,
    constants: &[(u32, Option<Value>)],
    iteration: &Iteration,
) -> Vec<(u32, u32)> {
    let known = &graph.frames[frame as usize];
    let state = |node: &Node| &iteration.states[node.index as usize];
    let is_touched = |&head: &u32| {
        let node = &graph.nodes[head as usize];
        !state(node).ready && (state(node).data, state(node).control) != node.waits
    };
    // A silent edge has a token only if a segment on the way has another one, or if the token is given.
    if !known.given && !known.heads.iter().any(is_touched) {
        return Vec::new();
    }
    // The tokens of silent edges are not counted: they have arrived if their source has run.
    let mut silent: FxHashMap<u32, u32> = FxHashMap::default();
    let ran = known
        .nodes
        .iter()
        .filter(|&&node| state(&graph.nodes[node as usize]).ready);
    for &source in ran.chain(constants.iter().map(|(node, _)| node)) {
        for edge in graph.edges_of(source).iter().filter(|edge| edge.silent) {
            *silent.entry(edge.target).or_default() += 1;
        }
    }
    let nodes = known.nodes.iter().filter_map(|&at| {
        let node = &graph.nodes[at as usize];
        let counted = match node.head == at {
            true => node.waits.0 + node.waits.1 - state(node).data - state(node).control,
            false => 0,
        };
        let have = counted + silent.get(&at).copied().unwrap_or(0);
        (!state(node).ready && have > 0).then_some((at, have))
    });
    nodes.collect()
}
