//! The adjoints of accesses of buffers ([`memory`](crate::autodiff::memory)).

use pir_dialects::mlir::memref;
use pir_ir::{Arith, DYNAMIC, Diagnostic, OpId, TypeData, ValueId};

use super::{Adjoint, Failure};
use crate::autodiff::cotangent::{Frame, zeros_like};
use crate::autodiff::memory::{Access, aliased, is_buffer, make_shadow, move_elements};

const NO_SHADOW: &str = "it has no shadow here";

impl Adjoint<'_, '_> {
    /// Makes the shadows of the buffers that a block makes.
    pub(super) fn make_shadows(&mut self, ops: &[OpId]) -> Result<(), Failure> {
        for &op in ops {
            let Some(buffer) = self.activity.memory.gives(self.r.body, op) else {
                continue;
            };
            if !aliased(self.r.ctx, self.r.body, op).is_empty() {
                self.alias_shadow(op, buffer)?;
                continue;
            }
            let dynamic = match self.r.ctx.type_data(self.r.body.value_type(buffer)) {
                TypeData::MemRef { shape: Some(shape), .. } => {
                    shape.iter().filter(|&&extent| extent == DYNAMIC).count()
                }
                _ => 0,
            };
            let sizes: Vec<ValueId> = self
                .r
                .body
                .operands(op)
                .take(dynamic)
                .map(|v| self.primal_at.get_or_self(v))
                .collect();
            let shadow = make_shadow(self.r, buffer, &sizes).map_err(|why| self.buffer_failed(op, &why))?;
            self.shadows.insert(buffer, shadow);
        }
        Ok(())
    }

    /// Applies an aliasing operation to the shadows of its buffers.
    fn alias_shadow(&mut self, op: OpId, buffer: ValueId) -> Result<(), Failure> {
        let mut operands = Vec::new();
        for value in self.r.body.operands_vec(op) {
            operands.push(match is_buffer(self.r.ctx, self.r.body.value_type(value)) {
                true => self
                    .shadows
                    .get(value)
                    .ok_or_else(|| self.buffer_failed(op, NO_SHADOW))?,
                false => self.primal_at.get_or_self(value),
            });
        }
        let (name, attrs) = (self.r.ctx.op_str(self.r.body.op_name(op)), self.r.body.attrs(op));
        let ty = self.r.body.value_type(buffer);
        let shadow = self.r.op(name).operands(operands).attrs(attrs).result(ty).value();
        self.r.name_like(shadow, buffer, "_grad");
        self.shadows.insert(buffer, shadow);
        Ok(())
    }

    /// The adjoint of a call that takes buffers: it takes the tape, the cotangents of the results and the shadows.
    pub(super) fn on_call(&mut self, op: OpId, frame: &mut Frame) -> Result<(), Failure> {
        let failed = |this: &Self, why: &str| this.buffer_failed(op, why);
        let custom = self.rules.custom(op).cloned();
        let custom = custom.ok_or_else(|| failed(self, "the called function has no adjoint"))?;
        let results: Vec<ValueId> = self.r.body.results(op).collect();
        let tape = results.last().ok_or_else(|| failed(self, "the call returns no tape"))?;
        let mut args = vec![self.primal_at.get_or_self(*tape)];
        for &result in &results {
            if self.r.ctx.is_continuous(self.r.body.value_type(result)) {
                let grad = self.take_or_zeros(frame, result);
                args.push(grad.map_err(|_| failed(self, "the shape of a result is unknown"))?);
            }
        }
        let operands = self.r.body.operands_vec(op);
        for &operand in &operands {
            if is_buffer(self.r.ctx, self.r.body.value_type(operand)) {
                let shadow = self.shadows.get(operand);
                args.push(shadow.ok_or_else(|| failed(self, NO_SHADOW))?);
            }
        }
        let mut grads = custom.emit(self.r, &args).into_iter();
        for operand in operands {
            if self.r.ctx.is_continuous(self.r.body.value_type(operand))
                && let Some(grad) = grads.next()
                && self.activity.is_active(operand)
            {
                frame.add(self.r, operand, grad).map_err(|why| failed(self, &why))?;
            }
        }
        Ok(())
    }

    fn buffer_failed(&self, op: OpId, why: &str) -> Failure {
        let message = format!("the derivative cannot pass through this buffer: {why}");
        Box::new(Diagnostic::error("no-derivative", message).label(self.r.body.op_span(op), "differentiated here"))
    }

    /// The adjoint of an allocation: the shadow is no longer needed.
    pub(super) fn on_alloc(&mut self, _op: OpId, buffer: Option<ValueId>) {
        if let Some(shadow) = buffer.and_then(|buffer| self.shadows.get(buffer)) {
            self.r.op(memref::Dealloc::NAME).operand(shadow).build();
        }
    }

    /// The adjoint of a load, a store or a copy.
    pub(super) fn on_buffer(&mut self, op: OpId, access: Option<Access>, frame: &mut Frame) -> Result<(), Failure> {
        let operands = self.r.body.operands_vec(op);
        let shadow = |this: &Self, at: usize| {
            let found = operands.get(at).and_then(|&buffer| this.shadows.get(buffer));
            found.ok_or_else(|| this.buffer_failed(op, NO_SHADOW))
        };
        let failed = |this: &Self, why: String| this.buffer_failed(op, &why);
        if access == Some(Access::Copy) {
            let (from, to) = (shadow(self, 1)?, shadow(self, 0)?);
            return move_elements(self.r, from, to).map_err(|why| failed(self, why));
        }
        let stores = access == Some(Access::Store);
        let at = usize::from(stores);
        let shadow = shadow(self, at)?;
        let place: Vec<ValueId> = operands[at + 1..]
            .iter()
            .map(|&v| self.primal_at.get_or_self(v))
            .collect();
        let value = if stores { operands[0] } else { self.r.body.result(op, 0) };
        let ty = self.r.body.value_type(value);
        let added = if stores { None } else { frame.take(value) };
        if !stores && added.is_none() {
            return Ok(());
        }
        let load = self.r.op(memref::Load::NAME).operand(shadow);
        let grad = load.operands(place.iter().copied()).result(ty).value();
        let next = match added {
            Some(added) => self.r.compute(Arith::Add, &[grad, added]),
            None => zeros_like(self.r, grad),
        };
        let next = next.map_err(|why| failed(self, why))?;
        let store = self.r.op(memref::Store::NAME).operands([next, shadow]);
        store.operands(place).build();
        match stores && self.activity.is_active(value) {
            true => frame.add(self.r, value, grad).map_err(|why| failed(self, why)),
            false => Ok(()),
        }
    }
}
