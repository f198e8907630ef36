//! The adjoint of `cf.copy_stack`.
//!
//! Where the copy was made, both stacks had the same contents, and their gradient stacks hold the cotangents of the
//! values that are still popped from each: those on top. So the two are added from the top.
//!
//! ```text
//! while from is not empty:  push (sums, pop from + (pop into, if there is one))
//! while sums is not empty:  push (into, pop sums)
//! ```

use pir_dialects::cf;
use pir_ir::{Arith, Rewriter, Structured, Type, ValueId};

use crate::autodiff::control_ops::ControlOps;
use crate::made::Made;

/// Adds the cotangents on `from` to those on `into`, from the top.
pub(super) fn merge(
    r: &mut Rewriter<'_>,
    names: &ControlOps,
    from: ValueId,
    into: ValueId,
    ty: Type,
) -> Result<(), String> {
    let flow = names.kit.ok_or("the dialect has no loop for this")?.flow;
    let sums = r.op(cf::CREATE_STACK).result(names.stack).value();
    r.name(sums, "sums");
    drain(r, flow, from, |r| {
        let grad = pop(r, from, ty);
        let none = r.op(cf::IS_EMPTY).operand(into).result(Type::I1).value();
        r.name(none, "none");
        let mut made = Made::new(r, flow);
        for alone in [true, false] {
            made.region(r, &[]);
            let sum = match alone {
                true => grad,
                false => {
                    let other = pop(r, into, ty);
                    add(r, other, grad)?
                }
            };
            made.yields(r, [sum]);
        }
        let op = made.branch(r, none, &[ty]);
        let sum = r.body.result(op, 0);
        r.op(cf::PUSH_BACK).operand(sums).operand(sum).build();
        Ok(())
    })?;
    drain(r, flow, sums, |r| {
        let grad = pop(r, sums, ty);
        r.op(cf::PUSH_BACK).operand(into).operand(grad).build();
        Ok(())
    })
}

fn pop(r: &mut Rewriter<'_>, stack: ValueId, ty: Type) -> ValueId {
    r.op(cf::POP_BACK).operand(stack).result(ty).value()
}

fn add(r: &mut Rewriter<'_>, a: ValueId, b: ValueId) -> Result<ValueId, String> {
    if !crate::autodiff::cotangent::is_list(r.ctx, r.body.value_type(a)) {
        return r.compute(Arith::Add, &[a, b]);
    }
    let mut split = |list| -> Result<Vec<ValueId>, String> {
        let op = r.op("builtin.split").operand(list).infer()?;
        Ok(r.body.results(op).collect())
    };
    let (a, b) = (split(a)?, split(b)?);
    let mut sums = Vec::new();
    for (a, b) in a.into_iter().zip(b) {
        sums.push(r.compute(Arith::Add, &[a, b])?);
    }
    let list = r.op("builtin.combine").operands(sums).infer()?;
    Ok(r.body.result(list, 0))
}

/// A loop that runs while a stack is not empty.
fn drain<'a>(
    r: &mut Rewriter<'a>,
    flow: Structured,
    stack: ValueId,
    step: impl FnOnce(&mut Rewriter<'a>) -> Result<(), String>,
) -> Result<(), String> {
    let mut made = Made::new(r, flow);
    made.region(r, &[]);
    let done = r.op(cf::IS_EMPTY).operand(stack).result(Type::I1).value();
    r.name(done, "done");
    let more = r.compute(Arith::Not, &[done])?;
    r.name(more, "more");
    made.tests(r, more, []);
    made.region(r, &[]);
    step(r)?;
    made.yields(r, []);
    made.repeat(r, &[], &[]);
    Ok(())
}
