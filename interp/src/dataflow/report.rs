//! Reports what waits in a deadlock.

use super::compile::{Graph, Keys, NONE};
use super::device::Device;
use super::shared::Rest;
use crate::exec::ExecError;

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
                for (&node, state) in known.nodes.iter().zip(&iteration.states) {
                    let known = &graph.nodes[node as usize];
                    let of = known.inputs + known.controls;
                    let have = of - state.data - state.control;
                    if !state.ready && have > 0 {
                        told = true;
                        let place = self.place(at as u32, number);
                        tell(format!("{} has {have} of {of} inputs{place}", known.label));
                    }
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
