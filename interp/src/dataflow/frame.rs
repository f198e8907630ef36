//! Active frames and their iterations.

use std::collections::VecDeque;
use std::sync::Arc;

use super::compile::{Graph, NONE};
use crate::exec::value::Value;

/// The inputs of a segment in an iteration.
#[derive(Clone, Copy, Debug)]
pub(super) struct State {
    /// The number of missing data inputs.
    pub(super) data: u32,
    /// The number of missing control inputs.
    pub(super) control: u32,
    /// The number of dead inputs.
    pub(super) dead: u32,
    /// For a merge: the input that arrived first.
    pub(super) winner: u32,
    /// For a merge: no further live value can arrive.
    pub(super) over: bool,
    /// Whether it is queued, or has run.
    pub(super) ready: bool,
}

#[derive(Default)]
pub(super) struct Iteration {
    /// The number of nodes that are ready or running.
    pub(super) outstanding: u32,
    /// The number of active child frames.
    pub(super) inside: u32,
    /// The child frames, by their index in the parent.
    pub(super) children: Vec<u32>,
    pub(super) states: Vec<State>,
    pub(super) slots: Vec<Value>,
}

/// An active frame.
pub(super) struct Active {
    /// The index of the frame in the graph.
    pub(super) frame: u32,
    /// Its number in the keys of messages.
    pub(super) id: u64,
    pub(super) parent: u32,
    pub(super) parent_iteration: u64,
    /// The active iterations.
    pub(super) iterations: VecDeque<Iteration>,
    /// The number of the first active iteration.
    pub(super) first: u64,
    pub(super) pending_enters: u32,
    /// The values of constant enters, by node.
    pub(super) constants: Vec<(u32, Option<Value>)>,
    /// Values for the next iteration, by the node that they come from.
    pub(super) deferred: Vec<(u32, Value)>,
    /// The exits that were dead in the last iteration.
    pub(super) dead_exits: Vec<u32>,
    /// Its path in traces.
    pub(super) path: Arc<str>,
}

impl Active {
    /// The number of the next iteration.
    pub(super) fn next(&self) -> u64 {
        self.first + self.iterations.len() as u64
    }

    pub(super) fn iteration(&mut self, number: u64) -> Option<&mut Iteration> {
        let at = number.checked_sub(self.first)?;
        self.iterations.get_mut(usize::try_from(at).ok()?)
    }

    /// Whether the oldest iteration has completed.
    pub(super) fn front_is_done(&self) -> bool {
        self.iterations
            .front()
            .is_some_and(|it| it.outstanding == 0 && it.inside == 0 && (self.first > 0 || self.pending_enters == 0))
    }
}

/// Unused iterations per frame of the graph, and their initial states.
pub(super) struct Pool {
    fresh: Vec<Box<[State]>>,
    unused: Vec<Vec<Iteration>>,
}

impl Pool {
    pub(super) fn new(graph: &Graph) -> Self {
        let fresh = graph.frames.iter().map(|frame| {
            let states = frame.heads.iter().map(|&node| {
                let node = &graph.nodes[node as usize];
                State {
                    data: node.waits.0,
                    control: node.waits.1,
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

    /// Takes an iteration of a frame.
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

    /// Returns an iteration whose slots are empty.
    pub(super) fn give(&mut self, frame: u32, iteration: Iteration) {
        self.unused[frame as usize].push(iteration);
    }
}
