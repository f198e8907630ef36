//! `tensor.generate`: a region that runs once for each element.

use std::ops::ControlFlow;

use super::state::{Generating, Machine};
use crate::exec::error::ExecError;
use crate::exec::program::{At, Code};
use crate::exec::value::{Moving, Value, bind, tensor, write};
use crate::kernels::slices::filled_in;
use crate::tensor::{Element, Tensor};

impl Machine<'_, '_, '_> {
    /// Begins with a tensor, whose extents that are not known are given.
    pub(super) fn generate(&mut self, given: Vec<i64>) -> Result<ControlFlow<Vec<Value>>, ExecError> {
        let instr = (self.calls.last()).and_then(|call| self.programs[call.program].instr(call.at));
        let Some(Code::Generate { extents, dtype, .. }) = instr.map(|instr| &instr.code) else {
            return Err(ExecError::new("a tensor was expected"));
        };
        let shape = filled_in(extents, &mut given.into_iter()).map_err(ExecError::new)?;
        let result = Tensor::full(&shape, *dtype, 0.0).map_err(ExecError::new)?;
        if let Some(call) = self.calls.last_mut() {
            call.generating.push(Generating { result, made: 0 });
        }
        self.next_element()
    }

    /// Takes the element that the region gives.
    pub(super) fn generated(&mut self, values: Moving) -> Result<ControlFlow<Vec<Value>>, ExecError> {
        let value = values.into_iter().next().unwrap_or_default();
        let value = tensor(value)?;
        if let Some(state) = self.calls.last_mut().and_then(|call| call.generating.last_mut()) {
            crate::each_type!(value.data(), v => put(v, state))?;
        }
        self.next_element()
    }

    fn next_element(&mut self) -> Result<ControlFlow<Vec<Value>>, ExecError> {
        let Some(call) = self.calls.last_mut() else {
            return Ok(ControlFlow::Break(Vec::new()));
        };
        let program = &self.programs[call.program];
        let (Some(instr), Some(state)) = (program.instr(call.at), call.generating.last()) else {
            return Ok(ControlFlow::Break(Vec::new()));
        };
        let Code::Generate { body, .. } = &instr.code else {
            return Err(ExecError::new("a tensor was expected"));
        };
        if state.made < state.result.len() {
            let mut rest = state.made;
            let mut indices = Moving::new();
            for &extent in state.result.shape().iter().rev() {
                indices.push(Value::Tensor(Tensor::scalar((rest % extent) as i64)));
                rest /= extent;
            }
            indices.reverse();
            bind(&mut self.scratch, program.args(*body), &mut call.env, indices);
            call.at = At::start(*body);
            return Ok(ControlFlow::Continue(()));
        }
        if let Some(state) = call.generating.pop() {
            write(&mut call.env, instr.results, [Value::Tensor(state.result)]);
        }
        call.at = call.at.next();
        Ok(ControlFlow::Continue(()))
    }
}

fn put<T: Element>(value: &[T], state: &mut Generating) -> Result<(), ExecError> {
    let at = state.made;
    state.made += 1;
    let wrong = || ExecError::new("the region must yield an element of the tensor");
    let elements = state.result.unique::<T>().ok_or_else(wrong)?;
    *elements.get_mut(at).ok_or_else(wrong)? = *value.first().ok_or_else(wrong)?;
    Ok(())
}
