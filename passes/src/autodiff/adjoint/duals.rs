//! The duals of loops and branches.

use pir_dialects::cf;
use pir_ir::{Arith, BlockId, OpBuilder, OpId, ValueId};
use smallvec::SmallVec;

use super::{Adjoint, NO_DUAL, Trouble};
use crate::autodiff::control_ops::Tape;
use crate::autodiff::cotangent::Frame;

impl<'a> Adjoint<'_, 'a> {
    pub(super) fn loop_dual(
        &mut self,
        op: OpId,
        [cond, body]: [BlockId; 2],
        passes: [usize; 2],
        tape: Option<Tape>,
        captures: &[ValueId],
        frame: &mut Frame,
    ) -> Result<(), Trouble> {
        let (Some(cond_end), Some(body_end)) = (self.r.body.last_op(cond), self.r.body.last_op(body)) else {
            return Err(Trouble::Emit("a region is empty".to_owned()));
        };
        let cond_args = self.r.body.block_args(cond).to_vec();
        let body_args = self.r.body.block_args(body).to_vec();
        let results: Vec<ValueId> = self.r.body.results(op).collect();
        let operands = self.r.body.operands_vec(op);
        // Slots from cond to body and to the results, and slots from outside and from body to cond.
        let forward: Vec<usize> = (0..results.len().min(body_args.len()))
            .filter(|&i| {
                self.activity.is_varied(results[i])
                    && (self.activity.is_useful(results[i]) || self.activity.is_useful(body_args[i]))
            })
            .collect();
        let carried: Vec<usize> = (0..cond_args.len())
            .filter(|&j| self.activity.is_active(cond_args[j]))
            .collect();

        let incoming = forward.iter().map(|&i| results[i]).chain(captures.iter().copied());
        let inputs = self.take_all(frame, incoming)?;
        let here = self.r.point();

        // The adjoint of cond.
        let like: Vec<ValueId> = forward
            .iter()
            .map(|&i| body_args[i])
            .chain(captures.iter().copied())
            .collect();
        let dual_cond = self.dual_block(&like);
        self.r.at_end(dual_cond);
        self.pop_locals(tape.as_ref(), 0);
        let args = self.r.body.block_args(dual_cond).to_vec();
        let mut inner = Frame::default();
        for (&c, &arg) in captures.iter().zip(&args[forward.len()..]) {
            inner.enter(self.r, c, arg)?;
        }
        for (&i, &arg) in forward.iter().zip(&args) {
            let forwarded = self.r.body.operand(cond_end, i + passes[0]);
            self.add_incoming(&mut inner, forwarded, arg)?;
        }
        let ops = self.r.body.block_ops_vec(cond);
        self.block(cond, &ops, &mut inner)?;
        let outgoing = carried.iter().map(|&j| cond_args[j]).chain(captures.iter().copied());
        let yielded = self.take_all(&mut inner, outgoing)?;
        if let Some(tape) = &tape {
            let handle = self.primal_at.get_or_self(tape.handle);
            let empty = self.r.op(cf::IS_EMPTY).operand(handle).infer()?;
            let empty = self.r.body.result(empty, 0);
            self.r.name(empty, "done");
            let more = self.r.compute(Arith::Not, &[empty])?;
            self.r.name(more, "more");
            self.end_like(cond_end).operand(more).operands(yielded).build();
        }

        // The adjoint of body.
        let like: Vec<ValueId> = carried
            .iter()
            .map(|&j| cond_args[j])
            .chain(captures.iter().copied())
            .collect();
        let dual_body = self.dual_block(&like);
        self.r.at_end(dual_body);
        self.pop_locals(tape.as_ref(), 1);
        let args = self.r.body.block_args(dual_body).to_vec();
        let mut inner = Frame::default();
        for (&c, &arg) in captures.iter().zip(&args[carried.len()..]) {
            inner.enter(self.r, c, arg)?;
        }
        for (&j, &arg) in carried.iter().zip(&args) {
            let forwarded = self.r.body.operand(body_end, j + passes[1]);
            self.add_incoming(&mut inner, forwarded, arg)?;
        }
        let ops = self.r.body.block_ops_vec(body);
        self.block(body, &ops, &mut inner)?;
        let outgoing = forward.iter().map(|&i| body_args[i]).chain(captures.iter().copied());
        let yielded = self.take_all(&mut inner, outgoing)?;
        self.end_like(body_end).operands(yielded).build();

        // The dual itself.
        self.r.set_point(here);
        let regions = [dual_cond, dual_body].map(|b| self.r.body.block_region(b));
        let types: Vec<_> = like.iter().map(|&v| self.r.body.value_type(v)).collect();
        let name = self.names.dual(self.r.body, op).ok_or(NO_DUAL)?;
        let dual = self
            .r
            .op(name)
            .operands(inputs)
            .results(types)
            .region(regions[0].ok_or("a block without a region")?)
            .region(regions[1].ok_or("a block without a region")?)
            .build();
        for (at, &c) in captures.iter().enumerate() {
            let grad = self.r.body.result(dual, carried.len() + at);
            self.r.name_like(grad, c, "_grad");
            frame.enter(self.r, c, grad)?;
        }
        for (at, &j) in carried.iter().enumerate() {
            let grad = self.r.body.result(dual, at);
            self.r.name_like(grad, cond_args[j], "_grad");
            self.add_incoming(frame, operands[j], grad)?;
        }
        Ok(())
    }

    /// A terminator of the kind of another one, which ends the region of a dual that faces the region of that.
    fn end_like(&mut self, end: OpId) -> OpBuilder<'_, 'a> {
        let name = self.r.ctx.op_str(self.r.body.op_name(end));
        self.r.op(name)
    }

    /// Adds a cotangent that comes in through a slot, unless nothing flows on from the value.
    fn add_incoming(&mut self, frame: &mut Frame, value: ValueId, grad: ValueId) -> Result<(), Trouble> {
        if self.activity.is_active(value) {
            frame.add(self.r, value, grad)?;
        }
        Ok(())
    }

    pub(super) fn branch_dual(
        &mut self,
        op: OpId,
        blocks: [BlockId; 2],
        tape: Option<Tape>,
        captures: &[ValueId],
        frame: &mut Frame,
    ) -> Result<(), Trouble> {
        let results: Vec<ValueId> = self.r.body.results(op).collect();
        let mut grads: Vec<(usize, ValueId)> = results
            .iter()
            .enumerate()
            .filter(|&(_, &v)| frame.has(v))
            .map(|(i, &v)| (i, v))
            .collect();
        for (_, value) in &mut grads {
            *value = self.take_or_zeros(frame, *value)?;
        }
        let here = self.r.point();
        let mut regions: SmallVec<[_; 2]> = SmallVec::new();
        for (which, block) in blocks.into_iter().enumerate() {
            let end = self.r.body.last_op(block).ok_or("a branch is empty")?;
            let dual = self.dual_block(&[]);
            self.r.at_end(dual);
            self.pop_locals(tape.as_ref(), which);
            let mut inner = Frame::default();
            for &c in captures {
                inner.share(c, frame);
            }
            for &(i, grad) in &grads {
                let forwarded = self.r.body.operand(end, i);
                self.add_incoming(&mut inner, forwarded, grad)?;
            }
            let ops = self.r.body.block_ops_vec(block);
            self.block(block, &ops, &mut inner)?;
            let yielded = self.take_all(&mut inner, captures.iter().copied())?;
            self.end_like(end).operands(yielded).build();
            regions.push(self.r.body.block_region(dual).ok_or("a block without a region")?);
        }
        self.r.set_point(here);
        let operands = self
            .r
            .body
            .operands_vec(op)
            .into_iter()
            .map(|v| self.primal_at.get_or_self(v));
        let types: Vec<_> = captures.iter().map(|&v| self.r.body.value_type(v)).collect();
        let name = self.names.dual(self.r.body, op).ok_or(NO_DUAL)?;
        let mut builder = self.r.op(name).operands(operands).results(types);
        for region in regions {
            builder = builder.region(region);
        }
        let dual = builder.build();
        for (at, &c) in captures.iter().enumerate() {
            let grad = self.r.body.result(dual, at);
            self.r.name_like(grad, c, "_grad");
            frame.enter(self.r, c, grad)?;
        }
        Ok(())
    }
}
