//! Questions about types.

use super::Context;
use crate::types::{DYNAMIC, FloatKind, Type, TypeData};

impl Context {
    /// `tensor<shape x elem>`.
    pub fn tensor(&self, shape: &[i64], elem: Type) -> Type {
        self.intern_type(TypeData::Tensor {
            shape: shape.into(),
            elem,
        })
    }

    /// `(inputs) -> (results)`.
    pub fn function_type(&self, inputs: &[Type], results: &[Type]) -> Type {
        self.intern_type(TypeData::Function {
            inputs: inputs.into(),
            results: results.into(),
        })
    }

    /// The shape and the element type of a tensor type.
    pub fn as_tensor(&self, ty: Type) -> Option<(&[i64], Type)> {
        match self.type_data(ty) {
            TypeData::Tensor { shape, elem } => Some((shape, *elem)),
            _ => None,
        }
    }

    /// The element type of a tensor, or the type itself.
    pub fn elem_type(&self, ty: Type) -> Type {
        self.as_tensor(ty).map_or(ty, |(_, elem)| elem)
    }

    /// How many bytes an element of the type takes; anything that is no number counts as one of eight.
    pub fn elem_bytes(&self, elem: Type) -> u64 {
        match self.type_data(elem) {
            TypeData::Integer { width, .. } => u64::from(width.div_ceil(8)),
            TypeData::Float(FloatKind::F16 | FloatKind::BF16) => 2,
            TypeData::Float(FloatKind::F32) => 4,
            _ => 8,
        }
    }

    /// Whether values of the type have a derivative: floats and tensors of floats.
    pub fn is_float(&self, ty: Type) -> bool {
        matches!(self.type_data(self.elem_type(ty)), TypeData::Float(_))
    }

    /// Whether values of the type are integers or truth values: numbers, tensors and lists of such, and nothing else.
    pub fn is_discrete(&self, ty: Type) -> bool {
        let one = |ty| {
            let elem = self.type_data(self.elem_type(ty));
            matches!(elem, TypeData::Integer { .. } | TypeData::Index)
        };
        match self.type_data(ty) {
            TypeData::List(items) => items.iter().all(|&item| one(item)),
            _ => one(ty),
        }
    }

    /// Whether all dimensions of a tensor are known; true of anything that is not a tensor.
    pub fn is_static(&self, ty: Type) -> bool {
        self.as_tensor(ty)
            .is_none_or(|(shape, _)| shape.iter().all(|&d| d != DYNAMIC))
    }
}

impl Type {
    /// The float format of a type with one.
    pub fn float_kind(self, ctx: &Context) -> Option<FloatKind> {
        match ctx.type_data(self) {
            TypeData::Float(kind) => Some(*kind),
            _ => None,
        }
    }
}
