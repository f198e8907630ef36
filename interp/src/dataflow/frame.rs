//! Frames that are being run, and their iterations.

use std::collections::VecDeque;
use std::sync::Arc;

use super::compile::{Graph, NONE};
use crate::exec::value::Value;

/// What has come for a node in an iteration.
#[derive(Clone, Copy, Debug)]
pub(super) struct State {
    /// How many values have not come, dead ones included.
    pub(super) data: u32,
    /// How many nodes that it comes after have not run.
    pub(super) control: u32,
    /// How much of what came is dead.
    pub(super) dead: u32,
    /// Of a merge the input that came first.
    pub(super) winner: u32,
    /// Of a merge: nothing live comes any more.
    pub(super) over: bool,
    /// It was given to those that are run, or has run.
    pub(super) ready: bool,
}

#[derive(Default)]
pub(super) struct Iteration {
    /// Nodes that are ready or being run.
    pub(super) outstanding: u32,
    /// Frames that were entered from here and are not done.
    pub(super) inside: u32,
    /// Which frames these are, by their place in the parent.
    pub(super) children: Vec<u32>,
    pub(super) states: Vec<State>,
    pub(super) slots: Vec<Value>,
}

/// A frame that was entered.
pub(super) struct Active {
    /// Which one of the graph's.
    pub(super) frame: u32,
    /// What it is called in keys of messages.
    pub(super) id: u64,
    pub(super) parent: u32,
    pub(super) parent_iteration: u64,
    /// Those that are not done.
    pub(super) iterations: VecDeque<Iteration>,
    /// The number of the first of them.
    pub(super) first: u64,
    pub(super) pending_enters: u32,
    /// What constant enters gave, and which these are.
    pub(super) constants: Vec<(u32, Option<Value>)>,
    /// What waits for the next iteration, and where it comes from.
    pub(super) deferred: Vec<(u32, Value)>,
    /// The exits that were dead in the highest iteration.
    pub(super) dead_exits: Vec<u32>,
    /// What it is called in a trace.
    pub(super) path: Arc<str>,
}

impl Active {
    /// The number of the iteration that has not begun.
    pub(super) fn next(&self) -> u64 {
        self.first + self.iterations.len() as u64
    }

    pub(super) fn iteration(&mut self, number: u64) -> Option<&mut Iteration> {
        let at = number.checked_sub(self.first)?;
        self.iterations.get_mut(usize::try_from(at).ok()?)
    }

    /// Whether the oldest iteration is done.
    pub(super) fn front_is_done(&self) -> bool {
        self.iterations
            .front()
            .is_some_and(|it| it.outstanding == 0 && it.inside == 0 && (self.first > 0 || self.pending_enters == 0))
    }
}

/// Iterations that are not used, for each frame of the graph, and what they look like when they begin.
pub(super) struct Pool {
    fresh: Vec<Box<[State]>>,
    unused: Vec<Vec<Iteration>>,
}

impl Pool {
    pub(super) fn new(graph: &Graph) -> Self {
        let fresh = graph.frames.iter().map(|frame| {
            let states = frame.nodes.iter().map(|&node| {
                let node = &graph.nodes[node as usize];
                State {
                    data: node.inputs,
                    control: node.controls,
                    dead: 0,
                    winner: NONE,
                    over: false,
                    ready: false,
                }
            });
            states.collect()
        });
        Pool {
            fresh: fresh.collect(),
            unused: graph.frames.iter().map(|_| Vec::new()).collect(),
        }
    }

    /// A new iteration of a frame of the graph.
    pub(super) fn take(&mut self, graph: &Graph, frame: u32) -> Iteration {
        let at = frame as usize;
        let mut iteration = self.unused[at].pop().unwrap_or_default();
        iteration.states.clear();
        iteration.states.extend_from_slice(&self.fresh[at]);
        iteration.children.clear();
        iteration.children.resize(graph.frames[at].children as usize, NONE);
        iteration
            .slots
            .resize_with(graph.frames[at].slots as usize, Value::default);
        iteration
    }

    /// Gives one back; nothing is in its slots.
    pub(super) fn give(&mut self, frame: u32, iteration: Iteration) {
        self.unused[frame as usize].push(iteration);
    }
}
