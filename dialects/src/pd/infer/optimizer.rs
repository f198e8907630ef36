//! Optimizer steps.

use pir_ir::{DYNAMIC, InferArgs, Type};
use smallvec::SmallVec;

use super::{Shaped, Types, count, dims_text, ints};
use crate::pd;

/// The type of the operand that is declared as `name`, if it is present.
fn named(args: &InferArgs<'_>, name: &str) -> Option<Type> {
    let place = args.def.operands.iter().position(|spec| spec.name == name)?;
    let absent = ints(args, "absent_operands").unwrap_or_default();
    let before = absent.iter().filter(|&&at| at < place as i64).count();
    if absent.contains(&(place as i64)) {
        return None;
    }
    args.operand_type(place.checked_sub(before)?)
}

/// A result `x_out` for each operand `x` that it updates. All state has the shape of the parameter, except for the
/// learning rate and powers, which are single numbers.
pub(in super::super) fn step(args: InferArgs<'_>) -> Types {
    let tensor = |name: &str| -> Result<Option<Shaped>, String> {
        let Some(ty) = named(&args, name) else { return Ok(None) };
        let shaped = Shaped::of(args.ctx, ty).filter(|x| args.ctx.is_float(x.elem));
        shaped
            .map(Some)
            .ok_or_else(|| format!("the operand `{name}` must be a tensor of floats"))
    };
    let param = tensor("param")?.ok_or("the operand `param` is missing")?;
    let state = args
        .def
        .results
        .iter()
        .filter_map(|spec| spec.name.strip_suffix("_out"));
    // These steps keep powers, or rates, for each element.
    let has_numbers = !matches!(
        &*args.def.name,
        pd::NadamInplace::NAME | pd::RadamInplace::NAME | pd::RpropInplace::NAME
    );
    let is_number = |name: &str| {
        (name.ends_with("_pow") || name == "learning_rate") && (has_numbers || !state.clone().any(|own| own == name))
    };
    for name in state.clone().chain(["grad", "learning_rate", "beta1_pow"]) {
        let Some(x) = tensor(name)? else { continue };
        let same = |(&a, &b): (&i64, &i64)| a == b || a == DYNAMIC || b == DYNAMIC;
        let fits = match is_number(name) {
            true => count(&x.dims).is_none_or(|n| n == 1),
            false => x.dims.len() == param.dims.len() && x.dims.iter().zip(&param.dims).all(same),
        };
        if !fits {
            let (shape, wanted) = (dims_text(&x.dims), dims_text(&param.dims));
            return Err(match is_number(name) {
                true => format!("the operand `{name}` must be a single number, but has shape {shape}"),
                false => format!("the operand `{name}` has shape {shape}, but `param` has shape {wanted}"),
            });
        }
    }
    Ok(state
        .filter_map(|name| named(&args, name))
        .collect::<SmallVec<[Type; 2]>>())
}
