//! Arguments that are attributes when they are constant and else operands: axes, shapes, factors.

use pir_ir::verify::compatible;
use pir_ir::{Arity, Attr, AttrData, AttrDict, Context, InferArgs, OpDef, OpId, OpView, Rewriter, Type};

/// The declared operands that could be attributes.
fn names(def: &OpDef) -> impl Iterator<Item = (&str, &str)> {
    let dynamic = def
        .operands
        .iter()
        .filter(|o| o.arity == Arity::Optional && o.ty != "Tensor");
    dynamic
        .filter(|o| def.attrs.iter().any(|a| a.name == o.name))
        .map(|o| (&*o.name, &*o.ty))
}

pub(super) fn has_dynamic(def: &OpDef) -> bool {
    // Behind a list of tensors there is no telling which operand is which.
    names(def).next().is_some() && def.operands.iter().all(|o| o.arity != Arity::Variadic)
}

/// Makes attributes of operands that are constants.
pub(super) fn operands_to_attributes(rewriter: &mut Rewriter<'_>, op: OpId, constants: &[Option<Attr>]) -> bool {
    let view = rewriter.view(op);
    let Some(def) = view.def() else { return false };
    // The operands behind the tensors are, in order, the arguments that are no attributes.
    let missing: Vec<(&str, &str)> = names(def).filter(|(name, _)| view.attr(name).is_none()).collect();
    let required = def.operands.iter().filter(|o| o.arity == Arity::One).count();
    let tensors = def.operands.len() - names(def).count();
    // Where a tensor may be left out, all must be there to tell which operand is which.
    if tensors > required && view.body.num_operands(op) != tensors + missing.len() {
        return false;
    }
    for (at, (name, ty)) in missing.into_iter().enumerate() {
        let index = tensors + at;
        let (Some(Some(constant)), Some(given)) = (constants.get(index), view.operand_type(index)) else {
            continue;
        };
        if let Some(attr) = as_argument(view.ctx, *constant, ty, given) {
            let attrs = view.ctx.dict_with(view.body.attrs(op), name, attr);
            if !is_accepted(view, def, index, attrs) {
                continue;
            }
            rewriter.body.set_attrs(op, attrs);
            rewriter.body.erase_operand(op, index);
            return true;
        }
    }
    false
}

/// Whether the operation is right without the operand at `index` and with these attributes. What a constant makes wrong
/// fails when it is run, which may never happen; the program is not to become one that is refused.
fn is_accepted(view: OpView<'_>, def: &OpDef, index: usize, attrs: AttrDict) -> bool {
    let Some(infer) = def.infer else { return true };
    let mut operands = view.body.operands_vec(view.op);
    operands.remove(index);
    let inferred = infer(InferArgs {
        ctx: view.ctx,
        body: view.body,
        def,
        operands: &operands,
        attrs,
        regions: &[],
    });
    inferred.is_ok_and(|types| {
        let fits = |(&ty, value)| compatible(view.ctx, ty, view.body.value_type(value));
        types.iter().zip(view.body.results(view.op)).all(fits)
    })
}

/// A constant of a type as the value of an argument.
fn as_argument(ctx: &Context, constant: Attr, declared: &str, given: Type) -> Option<Attr> {
    let (dims, _) = ctx.as_tensor(given)?;
    let count = dims
        .iter()
        .try_fold(1i64, |n, &d| if d < 0 { None } else { n.checked_mul(d) })?;
    if declared.starts_with("IntArray") {
        return match ctx.attr_data(constant) {
            AttrData::Ints(_) => Some(constant),
            // So many dimensions no tensor has.
            AttrData::Int { .. } if count <= 64 => {
                let item = ctx.attr_int(constant)?;
                Some(ctx.ints_attr(&vec![item; usize::try_from(count).ok()?]))
            }
            _ => None,
        };
    }
    match ctx.attr_data(constant) {
        AttrData::Int { .. } | AttrData::Float { .. } | AttrData::Bool(_) if count == 1 => Some(constant),
        AttrData::Ints(items) => match items[..] {
            [one] => Some(ctx.int_attr(one)),
            _ => None,
        },
        _ => None,
    }
}
