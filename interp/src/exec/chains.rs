//! Finds chains of elementwise operations in a block.

use pir_ir::{Body, Context, Type, ValueId};
use rustc_hash::FxHashMap;

use super::chain::{Chain, WORTH, kind};
use super::flow::Flow;
use super::program::{Code, Instr};
use super::slots::{Slots, Src};
use crate::kernels::steps::Step;
use crate::kernels::{Kernels, known_count};
use crate::tensor::{Shape, checked_count};

/// The maximum number of operations of a chain.
const MOST: usize = 64;

/// Finds the chains in a block, and attaches them to their first instructions.
pub(super) fn chains(ctx: &Context, body: &Body, kernels: &Kernels, slots: &Slots, instrs: &mut [Instr]) {
    let shape = |value: ValueId| ctx.as_tensor(body.value_type(value));
    let step = |instr: &Instr| -> Option<Step> {
        let Code::Kernel { inputs, lists, .. } = &instr.code else {
            return None;
        };
        if !lists.is_empty() || instr.results.count != 1 {
            return None;
        }
        let (result, elem) = shape(body.results(instr.op).next()?)?;
        if elem != Type::F32 && elem != Type::F64 {
            return None;
        }
        let reads = |value| shape(value).is_some_and(|(of, ty)| ty == elem && kind(of, result, 1).is_some());
        let dynamic = result.iter().any(|&d| d < 0);
        if !dynamic && !body.operands(instr.op).all(reads) {
            return None;
        }
        let step = kernels.step(body.view(ctx, instr.op))?;
        (step.operands() == inputs.len()).then_some(step)
    };
    let mut start = 0;
    while start < instrs.len() {
        let ty = body
            .results(instrs[start].op)
            .next()
            .map(|value| body.value_type(value));
        let like_first = |instr: &Instr| body.results(instr.op).next().map(|value| body.value_type(value)) == ty;
        let steps: Vec<Step> = instrs[start..]
            .iter()
            .take(MOST)
            .take_while(|instr| like_first(instr))
            .map_while(step)
            .collect();
        let length = steps.len();
        let count = ty
            .and_then(|ty| ctx.as_tensor(ty))
            .and_then(|(shape, _)| known_count(shape));
        // A single element is computed without tiles.
        let single = instrs[start].single.is_some();
        if length > 1 && !single || length == 1 && count.is_none_or(|n| n >= WORTH as i64) {
            let flow = Flow::of(body, &instrs[start..start + length]);
            let shapes = flow.as_ref().and_then(|flow| {
                let operands = instrs[start..start + length]
                    .iter()
                    .flat_map(|instr| body.operands(instr.op));
                let operands: FxHashMap<u32, ValueId> = operands.map(|value| (slots.at(value), value)).collect();
                let shape = |src: &Src| {
                    let (shape, _) = shape(*operands.get(&src.slot)?)?;
                    let shape: Shape = shape.iter().map(|&d| usize::try_from(d).ok()).collect::<Option<_>>()?;
                    checked_count(&shape, 1).is_ok().then_some(shape)
                };
                flow.outside.iter().map(shape).collect()
            });
            let chain = flow.and_then(|flow| Chain::of(flow, steps, shapes));
            instrs[start].chain = chain.map(Box::new);
        }
        start += length.max(1);
    }
}
