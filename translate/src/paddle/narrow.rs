//! Shapes that PaddlePaddle leaves open, or states wrongly, though they follow from constants and from types.

use pir_dialects::pd;
use pir_ir::{Body, Context, DYNAMIC, OpId, Type, ValueId, infer_by_semantics};
use rustc_hash::FxHashSet;

use super::constants::constant;

/// More elements are not counted on.
const MOST: i64 = 1 << 31;

/// Sets these shapes, and those that follow from them. What a loop carries and what a branch gives keep the types that they have.
pub(crate) fn narrow(ctx: &Context, body: &mut Body) {
    let ops: Vec<OpId> = body.walk_all().collect();
    let mut changed: FxHashSet<ValueId> = FxHashSet::default();
    for op in ops {
        let types = match result(ctx, body, op) {
            Some(ty) => vec![ty],
            None if is_open_composite(ctx, body, op)
                || body.op_regions(op).is_empty() && body.operands(op).any(|v| changed.contains(&v)) =>
            {
                let view = body.view(ctx, op);
                let inferred = view.with_infer_args(|args| Some(view.def()?.infer.unwrap_or(infer_by_semantics)(args)));
                let Some(Some(Ok(types))) = inferred else { continue };
                types.into_vec()
            }
            None => continue,
        };
        let results: Vec<ValueId> = body.results(op).collect();
        for (value, ty) in results.into_iter().zip(types) {
            if body.value_type(value) != ty {
                body.set_value_type(value, ty);
                changed.insert(value);
            }
        }
    }
}

/// Whether PaddlePaddle leaves shapes of results open that follow from what the operation is composed of.
fn is_open_composite(ctx: &Context, body: &Body, op: OpId) -> bool {
    let mut operands = body.operands(op).map(|value| body.value_type(value));
    let mut results = body.results(op).map(|value| body.value_type(value));
    operands.all(|ty| ctx.is_static(ty)) && results.any(|ty| !ctx.is_static(ty)) && body.view(ctx, op).is_composite()
}

/// The type of the only result of an operation whose shape is not as it is written.
fn result(ctx: &Context, body: &Body, op: OpId) -> Option<Type> {
    let operand = |index| body.operands(op).nth(index);
    let dims = match ctx.op_str(body.op_name(op)) {
        pd::Linspace::NAME | pd::Logspace::NAME => {
            let number = ctx.attr_f64(constant(ctx, body, operand(2)?)?)?;
            let number = (number.fract() == 0.0).then_some(number as i64)?;
            (0..=MOST).contains(&number).then(|| vec![number])?
        }
        // Of computed bounds PaddlePaddle takes those that it does not know for others.
        pd::Slice::NAME if body.num_operands(op) > 1 => {
            let view = body.view(ctx, op);
            let (axes, without) = (view.ints("axes")?, view.ints("decrease_axis").unwrap_or(&[]));
            let (from, _) = ctx.as_tensor(body.value_type(operand(0)?))?;
            let (own, _) = ctx.as_tensor(body.value_type(body.results(op).next()?))?;
            let kept = (0..from.len() as i64).filter(|axis| !without.contains(axis));
            let kept: Vec<i64> = kept.collect();
            let extent = |(&axis, &own): (&i64, &i64)| if axes.contains(&axis) { DYNAMIC } else { own };
            (kept.len() == own.len()).then(|| kept.iter().zip(own).map(extent).collect())?
        }
        // The signs and the logarithms, of each matrix.
        pd::Slogdet::NAME => {
            let (dims, _) = ctx.as_tensor(body.value_type(operand(0)?))?;
            let (batch, _) = dims.split_last_chunk::<2>()?;
            [&[2], batch].concat()
        }
        _ => return None,
    };
    let (_, elem) = ctx.as_tensor(body.value_type(body.results(op).next()?))?;
    Some(ctx.tensor(&dims, elem))
}
