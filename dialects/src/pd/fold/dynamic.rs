//! Arguments that are attributes if they are constant, and otherwise operands: axes, shapes, factors.

use pir_ir::verify::compatible;
use pir_ir::{
    Arity, Attr, AttrData, AttrDict, AttrSpec, Context, InferArgs, OpDef, OpId, OpView, Rewriter, Type, ValueSpec,
};

/// The declared operands that may be attributes.
fn names<'a>(operands: &'a [ValueSpec], attrs: &'a [AttrSpec]) -> impl Iterator<Item = (&'a str, &'a str)> {
    let dynamic = operands
        .iter()
        .filter(|o| o.arity == Arity::Optional && o.ty != "Tensor");
    dynamic
        .filter(|o| attrs.iter().any(|a| a.name == o.name))
        .map(|o| (&*o.name, &*o.ty))
}

pub(super) fn has_dynamic(operands: &[ValueSpec], attrs: &[AttrSpec]) -> bool {
    // After a list of tensors, the operands could not be identified.
    names(operands, attrs).next().is_some() && operands.iter().all(|o| o.arity != Arity::Variadic)
}

/// Turns constant operands into attributes.
pub(super) fn operands_to_attributes(rewriter: &mut Rewriter<'_>, op: OpId, constants: &[Option<Attr>]) -> bool {
    if constants.iter().all(Option::is_none) {
        return false;
    }
    let view = rewriter.view(op);
    let Some(def) = view.def() else { return false };
    // The operands after the tensors are, in order, the arguments without an attribute.
    let missing: Vec<(&str, &str)> = names(&def.operands, &def.attrs)
        .filter(|(name, _)| view.attr(name).is_none())
        .collect();
    let required = def.operands.iter().filter(|o| o.arity == Arity::One).count();
    let tensors = def.operands.len() - names(&def.operands, &def.attrs).count();
    // If a tensor is optional, operands can be identified only if all are present.
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

/// Whether the operation is valid without the operand at `index` and with these attributes. An invalid constant fails
/// at run time, which may never happen; the program must not become invalid.
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

/// Converts a constant to the type of an argument.
fn as_argument(ctx: &Context, constant: Attr, declared: &str, given: Type) -> Option<Attr> {
    let (dims, _) = ctx.as_tensor(given)?;
    let count = dims
        .iter()
        .try_fold(1i64, |n, &d| if d < 0 { None } else { n.checked_mul(d) })?;
    if declared.starts_with("IntArray") {
        return match ctx.attr_data(constant) {
            AttrData::Ints(_) => Some(constant),
            // More than the rank of any tensor.
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
