//! Counters at the end of their loops.
//!
//! If a loop counts to a constant, the final value of the counter is known, and so are values that differ from it by a
//! constant. Once the loop's own results are unused, the loop is dead if it has no effects: it only counted.

use pir_ir::{Body, FlowPoint, TypeData, ValueId};
use smallvec::SmallVec;

use crate::analysis::{Constants, Counter, FlowOps};

/// Replaces results of loops that are constants. Gives whether there were any.
pub(crate) fn replace_final_values(constants: &Constants<'_>, body: &mut Body, flow: &FlowOps) -> bool {
    let ctx = constants.ctx();
    let mut found: Vec<(ValueId, i64)> = Vec::new();
    for &op in &flow.ops {
        // Only integers count.
        let counts = |r: ValueId| {
            body.has_uses(r)
                && matches!(
                    ctx.type_data(ctx.elem_type(body.value_type(r))),
                    TypeData::Integer { .. }
                )
        };
        if !body.results(op).any(counts) {
            continue;
        }
        let Some(counter) = Counter::of(ctx, body, op) else {
            continue;
        };
        if counter.trips(ctx, body).is_none() {
            continue;
        }
        let end = body.flow_source_op(op, FlowPoint::Region(counter.regions.0));
        for result in body.results(op).filter(|&r| counts(r)) {
            let sources = body.flow_sources(ctx, result).unwrap_or_default();
            let [source] = sources[..] else { continue };
            let value = body.operand(source.op, source.index);
            if Some(source.op) == end
                && body.value_type(value) == body.value_type(result)
                && let Some(number) = counter.at_end(ctx, body, value)
            {
                found.push((result, number));
            }
        }
    }
    let mut changed = false;
    for (result, number) in found {
        let Some(op) = body.defining_op(result) else { continue };
        let (attr, ty) = (ctx.int_attr(number), body.value_type(result));
        if let Some(constant) = constants.materialize(body, op, attr, ty) {
            let uses: SmallVec<[_; 4]> = body.uses(result).collect();
            changed |= !uses.is_empty();
            let name = body.value_name(result).filter(|n| !n.pack);
            body.set_value_name(constant, name);
            body.replace_all_uses(result, constant);
        }
    }
    changed
}
