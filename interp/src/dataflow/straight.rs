//! Runs the nodes of a segment whose results stay in the iteration: most of all.
//!
//! The iteration is looked up once for all of them, and values go from slot to slot.

use super::compile::{NONE, Node, NodeAction};
use super::deliver::Delivery;
use super::device::{Device, Outputs as Results};
use super::ready::Ready;
use super::shared::Shared;
use crate::exec::ExecError;
use crate::exec::program::Code;
use crate::exec::value::{Value, not_a_tensor};
use crate::kernels::{InPlace, Inputs, Kernel, Outputs};
use crate::tensor::Tensor;

/// An operation on more bytes may take longer than to wake a thread.
const LONG: u64 = 1 << 14;

/// Whether the results of a node go to nodes of its own iteration only, and need nothing but its inputs.
pub(super) fn is_straight(kind: &NodeAction, inputs: u32) -> bool {
    match kind {
        NodeAction::Op(Code::Kernel { lists, .. }) => lists.is_empty(),
        NodeAction::Merge { indexed } => !indexed,
        NodeAction::Pass => inputs == 1,
        NodeAction::Switch => inputs == 2,
        _ => false,
    }
}

/// An error, and the node that it is about.
type At<T> = Result<T, (u32, ExecError)>;

impl Device<'_> {
    /// Runs the first of the given nodes, which are all live, up to one that is not straight. Returns their number.
    pub(super) fn straight(&mut self, at: Ready, members: &[u32]) -> Result<usize, ExecError> {
        self.run_straight(at, members)
            .map_err(|(node, error)| self.located(Ready { node, ..at }, error))
    }

    fn run_straight(&mut self, at: Ready, members: &[u32]) -> At<usize> {
        let (graph, shared) = (self.graph, self.shared);
        let Some(&first) = members.first().filter(|&&first| graph.nodes[first as usize].straight) else {
            return Ok(0);
        };
        let number = self.number as usize;
        let mut delivery = Delivery::new(
            graph,
            &shared.spaces,
            &mut self.account,
            &mut self.ready,
            &mut self.frames,
            (at.frame, at.iteration),
        )
        .map_err(|error| (first, error))?;
        for (done, &member) in members.iter().enumerate() {
            let node = &graph.nodes[member as usize];
            if !node.straight {
                return Ok(done);
            }
            self.counts.live[node.counter as usize] += 1;
            let result = shared
                .step()
                .and_then(|()| run(&mut delivery, shared, number, member, node));
            result.map_err(|error| (member, error))?;
        }
        Ok(members.len())
    }
}

#[inline]
fn run(delivery: &mut Delivery<'_>, shared: &Shared, number: usize, at: u32, node: &Node) -> Result<(), ExecError> {
    if node.quiet {
        return Ok(());
    }
    if let Some(value) = &node.known {
        return delivery.constant(at, value);
    }
    let first = node.slot as usize;
    match &node.kind {
        NodeAction::Op(Code::Kernel { kernel, in_place, .. }) => {
            let slots = &mut delivery.iteration.slots[first..first + node.inputs as usize];
            rouse(shared, number, slots);
            if let Some(operand) = combine(*in_place, slots, &node.constants) {
                return hand_over(delivery, at, node, first + operand);
            }
            let mut results = apply(kernel, slots, &node.constants)?;
            match results.len() {
                1 => match results.pop() {
                    Some(result) => delivery.port(at, 0, Value::Tensor(result)),
                    None => Ok(()),
                },
                _ => {
                    let mut results: Results = results.into_iter().map(|t| Some(Value::Tensor(t))).collect();
                    delivery.all(at, &mut results, false)
                }
            }
        }
        NodeAction::Switch => {
            let taken = match std::mem::take(&mut delivery.iteration.slots[first + 1]) {
                Value::Tensor(condition) => condition.truth(),
                other => return Err(not_a_tensor(&other)),
            };
            let taken = taken.ok_or_else(|| ExecError::new("a condition must be a single boolean"))?;
            let data = std::mem::take(&mut delivery.iteration.slots[first]);
            delivery.port(at, u32::from(taken), data)
        }
        // Merges and identities.
        _ => hand_over(delivery, at, node, first),
    }
}

/// Delivers the value in a slot. To an only user that waits for nothing it is moved.
#[inline]
fn hand_over(delivery: &mut Delivery<'_>, at: u32, node: &Node, slot: usize) -> Result<(), ExecError> {
    let slots = &mut delivery.iteration.slots;
    if node.sole != NONE {
        // That slot is empty.
        slots.swap(slot, node.sole as usize);
        return Ok(());
    }
    let value = std::mem::take(&mut slots[slot]);
    delivery.port(at, 0, value)
}

/// Wakes a thread for other devices before an operation that takes long.
#[inline]
pub(super) fn rouse(shared: &Shared, number: usize, slots: &[Value]) {
    if shared.may_rouse(number) && slots.iter().map(Value::bytes).sum::<u64>() > LONG {
        shared.rouse(number);
    }
}

/// Computes the result of two operands in place of one of them, if that is possible, and returns which. An operand that
/// is a constant is not in its slot.
#[inline]
pub(super) fn combine(f: Option<InPlace>, slots: &mut [Value], constants: &[Option<Tensor>]) -> Option<usize> {
    let f = f?;
    match (slots, constants) {
        ([x, y], []) => {
            let (Value::Tensor(a), Value::Tensor(b)) = (&mut *x, &mut *y) else {
                return None;
            };
            if f(a, b, false) {
                *y = Value::None;
                return Some(0);
            }
            f(b, a, true).then(|| {
                *x = Value::None;
                1
            })
        }
        ([Value::Tensor(a), _], [None, Some(b)]) => f(a, b, false).then_some(0),
        ([_, Value::Tensor(b)], [Some(a), None]) => f(b, a, true).then_some(1),
        _ => None,
    }
}

/// The results of a kernel. Its operands stay in their slots until it has them: most are single numbers, for which moving them costs
/// more than computing with them.
pub(super) fn apply(kernel: &Kernel, slots: &mut [Value], constants: &[Option<Tensor>]) -> Result<Outputs, ExecError> {
    let mut operands = Inputs::new();
    for (at, slot) in slots.iter_mut().enumerate() {
        if let Some(Some(constant)) = constants.get(at) {
            operands.push(constant.clone());
            continue;
        }
        match std::mem::take(slot) {
            Value::Tensor(t) => operands.push(t),
            Value::List(items) => operands.extend(items),
            other => return Err(not_a_tensor(&other)),
        }
    }
    kernel(operands).map_err(ExecError::new)
}
