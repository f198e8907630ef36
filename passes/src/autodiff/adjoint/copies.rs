//! The adjoint of `cf.copy_stack`.
//!
//! Where the copy was made, both stacks had the same contents, and their gradient stacks hold the cotangents of the
//! values that are still popped from each: those on top. So the two are added from the top.
//!
//! ```text
//! while from is not empty:  push (sums, pop from + (pop into, if there is one))
//! while sums is not empty:  push (into, pop sums)
//! ```

use pir_dialects::pd;
use pir_ir::{BlockId, Rewriter, Type, ValueId};

use crate::autodiff::structure::Names;

/// Adds the cotangents on `from` to those on `into`, from the top.
pub(super) fn merge(r: &mut Rewriter<'_>, names: &Names, from: ValueId, into: ValueId, ty: Type) -> Result<(), String> {
    let sums = r.op("cf.create_stack").result(names.stack).value();
    r.name(sums, "sums");
    drain(r, from, |r| {
        let grad = pop(r, from, ty);
        let none = r.op("cf.is_empty").operand(into).result(Type::I1).value();
        r.name(none, "none");
        let here = r.point();
        let mut regions = Vec::new();
        for alone in [true, false] {
            let region = r.body.create_region();
            let block = r.body.create_block(region);
            r.at_end(block);
            let sum = match alone {
                true => grad,
                false => {
                    let other = pop(r, into, ty);
                    add(r, other, grad)?
                }
            };
            r.op("cf.yield").operand(sum).build();
            regions.push(region);
        }
        r.set_point(here);
        let mut builder = r.op(pd::If::NAME).operand(none).result(ty);
        for region in regions {
            builder = builder.region(region);
        }
        let sum = builder.value();
        r.op("cf.push_back").operand(sums).operand(sum).build();
        Ok(())
    })?;
    drain(r, sums, |r| {
        let grad = pop(r, sums, ty);
        r.op("cf.push_back").operand(into).operand(grad).build();
        Ok(())
    })
}

fn pop(r: &mut Rewriter<'_>, stack: ValueId, ty: Type) -> ValueId {
    r.op("cf.pop_back").operand(stack).result(ty).value()
}

fn add(r: &mut Rewriter<'_>, a: ValueId, b: ValueId) -> Result<ValueId, String> {
    if !crate::autodiff::cotangent::is_list(r.ctx, r.body.value_type(a)) {
        return pd::add(r, a, b);
    }
    let mut split = |list| -> Result<Vec<ValueId>, String> {
        let op = r.op("builtin.split").operand(list).infer()?;
        Ok(r.body.results(op).collect())
    };
    let (a, b) = (split(a)?, split(b)?);
    let mut sums = Vec::new();
    for (a, b) in a.into_iter().zip(b) {
        sums.push(pd::add(r, a, b)?);
    }
    let list = r.op("builtin.combine").operands(sums).infer()?;
    Ok(r.body.result(list, 0))
}

/// A loop that runs while a stack is not empty.
fn drain<'a>(
    r: &mut Rewriter<'a>,
    stack: ValueId,
    step: impl FnOnce(&mut Rewriter<'a>) -> Result<(), String>,
) -> Result<(), String> {
    let here = r.point();
    let blocks: [BlockId; 2] = [(); 2].map(|()| {
        let region = r.body.create_region();
        r.body.create_block(region)
    });
    r.at_end(blocks[0]);
    let done = r.op("cf.is_empty").operand(stack).result(Type::I1).value();
    r.name(done, "done");
    let more = pd::logical_not(r, done)?;
    r.name(more, "more");
    r.op("cf.cond_yield").operand(more).build();
    r.at_end(blocks[1]);
    step(r)?;
    r.op("cf.yield").build();
    r.set_point(here);
    let [cond, body] = blocks.map(|block| r.body.block_region(block).ok_or("a block without a region"));
    r.op(pd::While::NAME).region(cond?).region(body?).build();
    Ok(())
}
