//! Delivers the results of nodes in an iteration.

use std::collections::VecDeque;

use super::compile::{CONTROL, Graph, NONE, NodeAction};
use super::frame::{Active, Iteration};
use super::memory::{Account, Spaces};
use super::ready::Ready;
use crate::exec::ExecError;
use crate::exec::value::Value;
use crate::tensor::Tensor;

/// The error for a value that is late.
pub(super) fn broken() -> ExecError {
    ExecError::new("a value arrived for an iteration that has ended").help("is the graph well-formed?")
}

/// An iteration of an active frame, and what changes when values arrive in it.
pub(super) struct Delivery<'d> {
    graph: &'d Graph,
    spaces: &'d Spaces,
    account: &'d mut Account,
    ready: &'d mut VecDeque<Ready>,
    frame: u32,
    number: u64,
    pub(super) iteration: &'d mut Iteration,
}

impl<'d> Delivery<'d> {
    /// # Errors
    /// If the iteration has ended.
    #[inline]
    pub(super) fn new(
        graph: &'d Graph,
        spaces: &'d Spaces,
        account: &'d mut Account,
        ready: &'d mut VecDeque<Ready>,
        frames: &'d mut [Option<Active>],
        (frame, number): (u32, u64),
    ) -> Result<Self, ExecError> {
        let active = frames.get_mut(frame as usize).and_then(Option::as_mut);
        let iteration = active.and_then(|active| active.iteration(number)).ok_or_else(broken)?;
        Ok(Delivery {
            graph,
            spaces,
            account,
            ready,
            frame,
            number,
            iteration,
        })
    }

    /// Delivers the only live result of a node.
    #[inline]
    pub(super) fn port(&mut self, source: u32, port: u32, value: Value) -> Result<(), ExecError> {
        let mut value = Some(value);
        self.run(source, false, |at, last| match (at == port, last) {
            (false, _) => None,
            (true, true) => value.take(),
            (true, false) => value.clone(),
        })
    }

    /// Delivers a constant to those that do not know it.
    pub(super) fn constant(&mut self, source: u32, value: &Tensor) -> Result<(), ExecError> {
        self.run(source, false, |_, _| Some(Value::Tensor(value.clone())))
    }

    /// Delivers the results of a node. The last user of a value gets it without a copy, so that it can compute in place.
    pub(super) fn all(&mut self, source: u32, outputs: &mut [Option<Value>], dead: bool) -> Result<(), ExecError> {
        self.run(source, dead, |port, last| {
            let value = outputs.get_mut(port as usize)?;
            if last { value.take() } else { value.clone() }
        })
    }

    /// Delivers values to the users of a node, and signals the nodes that have control edges from it. `value` gives that of a
    /// result, and receives whether this is the last request; `None` is a dead value.
    #[inline]
    fn run(
        &mut self,
        source: u32,
        dead: bool,
        mut value: impl FnMut(u32, bool) -> Option<Value>,
    ) -> Result<(), ExecError> {
        let graph = self.graph;
        let kind = &graph.nodes[source as usize].kind;
        let iteration = &mut *self.iteration;
        for edge in graph.edges_of(source) {
            if edge.silent {
                if edge.port != CONTROL
                    && !edge.constant
                    && let Some(value) = value(edge.port, edge.last)
                {
                    self.account.hold(self.spaces, &value);
                    iteration.slots[edge.slot as usize] = value;
                }
                continue;
            }
            let merges = edge.merges;
            let state = &mut iteration.states[edge.index as usize];
            let label = || &graph.nodes[edge.target as usize].label;
            let twice = || ExecError::new(format!("{} gets a value twice in one iteration", label()));
            if edge.port == CONTROL {
                state.control = state.control.checked_sub(1).ok_or_else(twice)?;
                let dead_control = dead && !matches!(kind, NodeAction::Switch);
                state.dead += u32::from(dead_control && !merges);
            } else {
                state.data = state.data.checked_sub(1).ok_or_else(twice)?;
                match value(edge.port, edge.last) {
                    Some(_) if merges && (state.ready || state.winner != NONE) => {
                        let error = ExecError::new(format!("two operands of {} are live", label()));
                        return Err(error
                            .help("the forwarded operand is undetermined: a merge joins the two sides of one branch"));
                    }
                    Some(value) => {
                        if merges {
                            state.winner = edge.input;
                        }
                        self.account.hold(self.spaces, &value);
                        iteration.slots[edge.slot as usize] = value;
                    }
                    None => {
                        state.dead += 1;
                        // The entering value is dead, so no iteration can give the merge a live one.
                        state.over |= merges && matches!(kind, NodeAction::Enter { .. });
                    }
                }
            }
            let complete = match merges {
                true => state.winner != NONE || state.over || state.dead == graph.nodes[edge.target as usize].inputs,
                false => state.data == 0,
            };
            if state.ready || !complete || state.control > 0 {
                continue;
            }
            state.ready = true;
            iteration.outstanding += 1;
            self.ready.push_back(Ready {
                frame: self.frame,
                iteration: self.number,
                node: edge.target,
                dead: match merges {
                    true => state.winner == NONE,
                    false => state.dead > 0,
                },
                arrived: false,
            });
        }
        Ok(())
    }
}
