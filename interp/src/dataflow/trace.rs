//! Execution traces.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::compile::{Node, NodeAction};
use super::key;
use super::ready::Ready;

/// One execution of a node.
#[derive(Clone, Debug)]
pub struct Event {
    /// The name of the node.
    pub node: Arc<str>,
    /// When it started, relative to the start of the run.
    pub begin: Duration,
    /// How long it took.
    pub duration: Duration,
    /// The frame, with the iterations of its parents: `outer[2]/inner`; empty for the root.
    pub frame: Arc<str>,
    /// The iteration of the frame.
    pub iteration: u64,
    /// Whether the node was dead.
    pub dead: bool,
    /// The message that it sent or received.
    pub message: Option<Message>,
}

/// A message between devices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Message {
    /// The same number at both ends.
    pub id: u64,
    /// Whether this is the sending end.
    pub sends: bool,
}

/// Longer paths are truncated: they would make the cost quadratic in the depth.
const MAX_PATH: usize = 200;

pub(super) struct Recorder {
    zero: Instant,
    pub(super) events: Vec<Event>,
}

impl Recorder {
    pub(super) fn new(zero: Instant) -> Self {
        Recorder {
            zero,
            events: Vec::new(),
        }
    }

    pub(super) fn now(&self) -> Duration {
        self.zero.elapsed()
    }

    /// The path of a frame, from that of its parent.
    pub(super) fn path(&self, outer: &str, parent: u32, iteration: u64, name: &str) -> Arc<str> {
        // The root is not part of the path.
        if parent == 0 {
            return name.into();
        }
        let outer = if outer.len() > MAX_PATH { "…" } else { outer };
        format!("{outer}[{iteration}]/{name}").into()
    }

    pub(super) fn record(&mut self, node: &Node, at: Ready, begin: Duration, frame: Arc<str>, id: u64) {
        let message = match node.kind {
            NodeAction::Send { edge } => Some((edge, true)),
            NodeAction::Recv { edge } => Some((edge, false)),
            _ => None,
        };
        self.events.push(Event {
            node: node.label.clone(),
            begin,
            duration: self.now().saturating_sub(begin),
            frame,
            iteration: at.iteration,
            dead: at.dead,
            message: message.map(|(edge, sends)| Message {
                id: key::frame(id, at.iteration, u64::from(edge)),
                sends,
            }),
        });
    }
}
