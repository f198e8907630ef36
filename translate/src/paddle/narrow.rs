//! Shapes that PaddlePaddle leaves open, or states wrongly, though they follow from constants and from types.

use pir_dialects::pd;
use pir_ir::{Body, Context, OpId, Type, ValueId};
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
            None if body.op_regions(op).is_empty() && body.operands(op).any(|v| changed.contains(&v)) => {
                let view = body.view(ctx, op);
                let inferred =
                    view.with_infer_args(|args| view.def().and_then(|def| def.infer).map(|infer| infer(args)));
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

/// The type of the only result of an operation whose shape is not as it is written.
fn result(ctx: &Context, body: &Body, op: OpId) -> Option<Type> {
    let operand = |index| body.operands(op).nth(index);
    let dims = match ctx.op_str(body.op_name(op)) {
        pd::Linspace::NAME | pd::Logspace::NAME => {
            let number = ctx.attr_f64(constant(ctx, body, operand(2)?)?)?;
            let number = (number.fract() == 0.0).then_some(number as i64)?;
            (0..=MOST).contains(&number).then(|| vec![number])?
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
