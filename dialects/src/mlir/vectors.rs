//! Vectors as tensors: what executes tensors executes vectors of known sizes too.

use pir_ir::{Attr, AttrData, Body, Context, Elements, ElementsForm, Module, OpView, Type, TypeData};

/// Gives all vectors of a module the types of tensors with the same elements, in its functions' types too. The operations of `vector` expand to
/// operations on tensors. Vectors whose size only the machine knows stay what they are, as do those inside of buffers.
pub fn vectors_to_tensors(module: &mut Module) {
    let ctx = module.ctx.clone();
    let mut pending = vec![&mut module.body];
    while let Some(body) = pending.pop() {
        vectors_to_tensors_in(&ctx, body);
        pending.extend(body.isolated_ops_mut().map(|(_, _, inner)| inner));
    }
}

/// Whether an operation of `vector` has vectors that did not become tensors.
pub fn has_vectors(op: OpView<'_>) -> bool {
    let is_vector = |value| matches!(op.ctx.type_data(op.body.value_type(value)), TypeData::Vector { .. });
    op.name().starts_with("vector.") && op.body.operands(op.op).chain(op.body.results(op.op)).any(is_vector)
}

/// The same for one body, without the functions that it defines.
pub fn vectors_to_tensors_in(ctx: &Context, body: &mut Body) {
    for op in body.walk_all().collect::<Vec<_>>() {
        let blocks = body.op_regions(op).iter().flat_map(|&r| body.region_blocks(r));
        let args = blocks.flat_map(|&block| body.block_args(block));
        let values: Vec<_> = body.results(op).chain(args.copied()).collect();
        for value in values {
            if let Some(ty) = tensor(ctx, body.value_type(value)) {
                body.set_value_type(value, ty);
            }
        }
        let mut entries = ctx.dict_entries(body.attrs(op)).to_vec();
        let mut found = false;
        for (_, value) in &mut entries {
            if let Some(made) = attribute(ctx, *value) {
                *value = made;
                found = true;
            }
        }
        if found {
            body.set_attrs(op, ctx.dict(&entries));
        }
    }
    for &block in body.region_blocks(body.root()).to_vec().iter() {
        for arg in body.block_args(block).to_vec() {
            if let Some(ty) = tensor(ctx, body.value_type(arg)) {
                body.set_value_type(arg, ty);
            }
        }
    }
}

/// The type with tensors in place of vectors; nothing if it has none.
fn tensor(ctx: &Context, ty: Type) -> Option<Type> {
    match ctx.type_data(ty) {
        TypeData::Vector { shape, scalable, elem } if !scalable.contains(&true) => Some(ctx.tensor(shape, *elem)),
        // Functions of functions have no values here.
        TypeData::Function { inputs, results } => {
            let list =
                |types: &[Type]| -> Vec<Type> { types.iter().map(|&ty| shallow(ctx, ty).unwrap_or(ty)).collect() };
            let found = inputs
                .iter()
                .chain(results.iter())
                .any(|&ty| shallow(ctx, ty).is_some());
            found.then(|| ctx.function_type(&list(inputs), &list(results)))
        }
        _ => None,
    }
}

fn shallow(ctx: &Context, ty: Type) -> Option<Type> {
    match ctx.type_data(ty) {
        TypeData::Function { .. } => None,
        _ => tensor(ctx, ty),
    }
}

/// The attribute with a tensor's elements in place of a vector's, or of such a type.
fn attribute(ctx: &Context, attr: Attr) -> Option<Attr> {
    match ctx.attr_data(attr) {
        AttrData::Type(ty) => tensor(ctx, *ty).map(|ty| ctx.type_attr(ty)),
        AttrData::Elements(elements) if elements.form() == ElementsForm::Dense => {
            let ty = tensor(ctx, elements.ty())?;
            let made = Elements::from_bytes(ctx, ty, elements.bytes()).ok()?;
            Some(ctx.attr(AttrData::Elements(made)))
        }
        _ => None,
    }
}
