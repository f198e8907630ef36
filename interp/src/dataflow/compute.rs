//! Executes nodes.

use smallvec::smallvec;

use super::compile::{Node, NodeAction};
use super::device::{Device, Outputs};
use super::key::Key;
use super::ready::Ready;
use super::shared::Ticket;
use super::straight::{apply, combine, rouse};
use crate::exec::ExecError;
use crate::exec::apply::listed;
use crate::exec::program::Code;
use crate::exec::value::{Value, Values, not_a_tensor, tensor};
use crate::kernels::{InPlace, Kernel};
use crate::tensor::Tensor;

impl Device<'_> {
    /// The results of a node; `None` if it waits for another device.
    pub(super) fn compute(&mut self, node: &Node, at: Ready) -> Result<Option<Outputs>, ExecError> {
        // These two also run when they are dead, since the other end waits for the message.
        match &node.kind {
            NodeAction::Recv { edge } => {
                let ticket = Ticket {
                    device: self.number,
                    frame: at.frame,
                    iteration: at.iteration,
                    node: at.node,
                };
                let message = self.shared.receive(self.key(*edge, at), ticket)?;
                return Ok(message.map(|value| smallvec![value]));
            }
            NodeAction::Send { edge } => {
                let value = Some(self.only(at)?).filter(|value| !at.dead && !matches!(value, Value::None));
                if matches!(value, Some(Value::Stack(_))) {
                    return Err(ExecError::new("a stack cannot be sent to another device"));
                }
                if let Some(value) = &value {
                    self.counts.sent_values += 1;
                    self.counts.sent_bytes += value.bytes();
                }
                self.shared.send(self.key(*edge, at), value)?;
                return Ok(Some(Outputs::new()));
            }
            NodeAction::Merge { indexed } => {
                let value = self.only(at)?;
                if at.dead {
                    return Ok(Some(Outputs::new()));
                }
                let mut outputs: Outputs = smallvec![Some(value)];
                if *indexed {
                    outputs.push(Some(Value::Tensor(Tensor::scalar(self.winner(at) as i32))));
                }
                return Ok(Some(outputs));
            }
            NodeAction::Op(Code::Kernel {
                kernel,
                in_place,
                lists,
                ..
            }) if !at.dead => {
                return self.kernel(at, node, kernel, *in_place, lists).map(Some);
            }
            NodeAction::Enter { .. } | NodeAction::Exit | NodeAction::NextIteration | NodeAction::Pass
                if !at.dead && node.inputs == 1 =>
            {
                return Ok(Some(smallvec![Some(self.only(at)?)]));
            }
            _ => {}
        }
        if at.dead {
            self.consume(at, node.inputs)?.fill_with(Value::default);
            if matches!(node.kind, NodeAction::Op(Code::Fetch { .. })) {
                self.dead_fetches.push(at.node);
            }
            return Ok(Some(Outputs::new()));
        }
        let mut inputs = self.take(at, node.inputs)?;
        Ok(Some(match &node.kind {
            NodeAction::Switch => {
                let [data, condition] = two(inputs)?;
                let condition = tensor(condition)?
                    .truth()
                    .ok_or_else(|| ExecError::new("a condition must be a single boolean"))?;
                match condition {
                    true => smallvec![None, Some(data)],
                    false => smallvec![Some(data), None],
                }
            }
            NodeAction::Stack => {
                let handle = self.stacks.len() as u32;
                self.held.room_for_one(&mut self.stacks).map_err(ExecError::new)?;
                self.stacks.push(Vec::new());
                smallvec![Some(Value::Stack(handle))]
            }
            NodeAction::Push { swap } => {
                let [handle, value] = two(inputs)?;
                let space = self.stack_space(*swap);
                self.account.hold_in(&self.shared.spaces, space, &value);
                let counts = &mut self.counts;
                counts.pushed_values += 1;
                counts.pushed_bytes += value.bytes();
                counts.stack_bytes += value.bytes();
                counts.peak_stack_bytes = counts.peak_stack_bytes.max(counts.stack_bytes);
                let mut held = std::mem::take(&mut self.held);
                let stack = self.stack(&handle)?;
                held.room_for_one(stack).map_err(ExecError::new)?;
                stack.push((value.clone(), *swap));
                self.held = held;
                smallvec![Some(value)]
            }
            NodeAction::Pop => {
                let handle = inputs.pop().unwrap_or_default();
                let Some((value, swap)) = self.stack(&handle)?.pop() else {
                    return Err(ExecError::new("the stack is empty").help("every pop needs a push before it"));
                };
                let space = self.stack_space(swap);
                self.account.release_in(&self.shared.spaces, space, &value);
                self.counts.stack_bytes -= value.bytes();
                smallvec![Some(value)]
            }
            NodeAction::Input(value) => {
                let value = Value::Tensor(value.clone());
                // The caller keeps it alive until the end.
                self.account.hold(&self.shared.spaces, &value);
                smallvec![Some(value)]
            }
            NodeAction::Op(code) => self.operation(code, inputs, at)?,
            _ => inputs.into_iter().map(Some).collect(),
        }))
    }

    /// The results of a kernel.
    fn kernel(
        &mut self,
        at: Ready,
        node: &Node,
        kernel: &Kernel,
        in_place: Option<InPlace>,
        lists: &[Option<usize>],
    ) -> Result<Outputs, ExecError> {
        let (shared, number) = (self.shared, self.number as usize);
        let slots = self.consume(at, node.inputs)?;
        rouse(shared, number, slots);
        if let Some(operand) = combine(in_place, slots, &node.constants) {
            return Ok(smallvec![Some(std::mem::take(&mut slots[operand]))]);
        }
        let results = apply(kernel, slots, &node.constants)?;
        Ok(match lists.is_empty() {
            true => results.into_iter().map(|t| Some(Value::Tensor(t))).collect(),
            false => listed(results, lists)?.into_iter().map(Some).collect(),
        })
    }

    fn operation(&mut self, code: &Code, inputs: Values, at: Ready) -> Result<Outputs, ExecError> {
        Ok(match code {
            Code::Combine(_) => {
                smallvec![Some(Value::list(inputs)?)]
            }
            Code::Split(_) => match inputs.into_iter().next() {
                Some(Value::List(items)) => items.into_iter().map(|t| Some(Value::Tensor(t))).collect(),
                other => return Err(not_a_tensor(&other.unwrap_or_default())),
            },
            Code::Fetch { .. } => {
                let value = tensor(inputs.into_iter().next().unwrap_or_default())?;
                self.account.hold(&self.shared.spaces, &Value::Tensor(value.clone()));
                self.fetched.push((at.node, value));
                Outputs::new()
            }
            Code::Print { message, .. } => {
                let value = tensor(inputs.into_iter().next().unwrap_or_default())?;
                let space = if message.is_empty() { "" } else { " " };
                // The receiver lives as long as the run.
                self.has_printed = true;
                let _ = self.prints.send(format!("{message}{space}{value}"));
                smallvec![Some(Value::Tensor(value))]
            }
            _ => inputs.into_iter().map(Some).collect(),
        })
    }

    fn key(&self, edge: u32, at: Ready) -> Key {
        let frame = self.frames.get(at.frame as usize).and_then(Option::as_ref);
        Key {
            edge,
            frame: frame.map_or(0, |frame| frame.id),
            iteration: at.iteration,
        }
    }

    fn stack_space(&self, swap: bool) -> usize {
        match swap {
            true => self.shared.spaces.host(),
            false => self.number as usize,
        }
    }

    fn stack(&mut self, handle: &Value) -> Result<&mut Vec<(Value, bool)>, ExecError> {
        match handle {
            Value::Stack(handle) => self.stacks.get_mut(*handle as usize),
            _ => None,
        }
        .ok_or_else(|| ExecError::new("a stack was expected"))
    }
}

fn two(inputs: Values) -> Result<[Value; 2], ExecError> {
    let mut inputs = inputs.into_iter();
    match (inputs.next(), inputs.next()) {
        (Some(a), Some(b)) => Ok([a, b]),
        _ => Err(ExecError::new("expected two operands")),
    }
}
