//! Types of MLIR's elementwise operations: numbers, and vectors and tensors of numbers.

use pir_ir::{Context, Type, TypeData};

/// The type of the elements of a vector or a tensor, or the type itself.
pub fn element(ctx: &Context, ty: Type) -> Type {
    match ctx.type_data(ty) {
        TypeData::Tensor { elem, .. }
        | TypeData::EncodedTensor { elem, .. }
        | TypeData::Vector { elem, .. }
        | TypeData::UnrankedTensor(elem) => *elem,
        _ => ty,
    }
}

/// The same with other elements.
pub fn with_element(ctx: &Context, ty: Type, elem: Type) -> Type {
    ctx.intern_type(match ctx.type_data(ty).clone() {
        TypeData::Tensor { shape, .. } => TypeData::Tensor { shape, elem },
        TypeData::EncodedTensor { shape, encoding, .. } => TypeData::EncodedTensor { shape, elem, encoding },
        TypeData::Vector { shape, scalable, .. } => TypeData::Vector { shape, scalable, elem },
        TypeData::UnrankedTensor(_) => TypeData::UnrankedTensor(elem),
        _ => return elem,
    })
}

/// The number of bits of an integer type without a sign; 64 of index.
pub fn int_width(ctx: &Context, elem: Type) -> Option<u32> {
    match ctx.type_data(elem) {
        TypeData::Integer {
            width,
            sign: pir_ir::Signedness::Signless,
        } => Some(*width),
        TypeData::Index => Some(64),
        _ => None,
    }
}
