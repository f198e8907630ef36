//! Questions about types.

use std::any::TypeId;

use super::Context;
use crate::float_kind::FloatKind;
use crate::type_def::{DialectType, TypeDef};
use crate::types::{DYNAMIC, Type, TypeData, TypeName, TypeParam};

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

    /// The type that `T` names, without parameters; a type that is not registered if its dialect is not.
    pub fn dialect_type<T: DialectType>(&self) -> Type {
        self.parameterized_type::<T>([])
    }

    /// The type that `T` names, with parameters that match its definition.
    pub fn parameterized_type<T: DialectType>(&self, params: impl Into<Box<[TypeParam]>>) -> Type {
        let params = params.into();
        self.intern_type(match self.declared_types.by_key.get(&TypeId::of::<T>()) {
            Some(&name) => TypeData::Dialect { name, params },
            None => TypeData::Unregistered(T::NAME.into()),
        })
    }

    /// The parameters of a type if it is the one that `T` names.
    pub fn type_params<T: DialectType>(&self, ty: Type) -> Option<&[TypeParam]> {
        match self.type_data(ty) {
            TypeData::Dialect { name, params } => {
                let is_it = self.declared_types.defs[name.0 as usize].key == Some(TypeId::of::<T>());
                is_it.then_some(params)
            }
            _ => None,
        }
    }

    /// Whether a type is the one that `T` names.
    pub fn is_dialect_type<T: DialectType>(&self, ty: Type) -> bool {
        self.type_params::<T>(ty).is_some()
    }

    /// The definition of a type of a registered dialect.
    pub fn type_def(&self, name: TypeName) -> &TypeDef {
        &self.declared_types.defs[name.0 as usize]
    }

    /// The type of a registered dialect that is called `dialect.type`.
    pub fn find_type_def(&self, name: &str) -> Option<TypeName> {
        self.declared_types.by_name.get(name).copied()
    }

    /// The definitions of the types of all registered dialects.
    pub fn type_defs(&self) -> &[TypeDef] {
        &self.declared_types.defs
    }

    /// Whether a type is one of a dialect, whose values may be handles, and no builtin one.
    pub fn is_of_dialect(&self, ty: Type) -> bool {
        matches!(self.type_data(ty), TypeData::Dialect { .. } | TypeData::Unregistered(_))
    }

    /// The shape and the element type of a tensor type.
    pub fn as_tensor(&self, ty: Type) -> Option<(&[i64], Type)> {
        match self.type_data(ty) {
            TypeData::Tensor { shape, elem } => Some((shape, *elem)),
            _ => None,
        }
    }

    /// The shape and the element type of a type that constants may be of: tensors with or without an encoding, memrefs and
    /// vectors.
    pub fn as_elements(&self, ty: Type) -> Option<(&[i64], Type)> {
        match self.type_data(ty) {
            TypeData::Tensor { shape, elem }
            | TypeData::EncodedTensor { shape, elem, .. }
            | TypeData::MemRef {
                shape: Some(shape),
                elem,
                ..
            }
            | TypeData::Vector { shape, elem, .. } => Some((shape, *elem)),
            _ => None,
        }
    }

    /// The element type of a tensor, or the type itself.
    pub fn elem_type(&self, ty: Type) -> Type {
        self.as_tensor(ty).map_or(ty, |(_, elem)| elem)
    }

    /// The shape and the type of the elements of tensors and of buffers of known rank.
    pub fn as_shaped(&self, ty: Type) -> Option<(&[i64], Type)> {
        match self.type_data(ty) {
            TypeData::Tensor { .. } | TypeData::MemRef { .. } => self.as_elements(ty),
            _ => None,
        }
    }

    /// The size of an element of the type in bytes. Other types count as 8 bytes.
    pub fn elem_bytes(&self, elem: Type) -> u64 {
        match self.type_data(elem) {
            TypeData::Integer { width, .. } => u64::from(width.div_ceil(8)),
            TypeData::Float(kind) => u64::from(kind.bits().div_ceil(8)),
            // No complex number is one of complex numbers.
            TypeData::Complex(part) => 2 * self.elem_bytes(*part),
            _ => 8,
        }
    }

    /// `f32`, …
    pub fn float_type(&self, kind: FloatKind) -> Type {
        self.intern_type(TypeData::Float(kind))
    }

    /// `complex<part>`.
    pub fn complex_type(&self, part: Type) -> Type {
        self.intern_type(TypeData::Complex(part))
    }

    /// Whether values of the type have a derivative: floats and tensors of floats.
    pub fn is_float(&self, ty: Type) -> bool {
        matches!(self.type_data(self.elem_type(ty)), TypeData::Float(_))
    }

    /// The type of the parts, of complex numbers or tensors of these.
    pub fn complex_part(&self, ty: Type) -> Option<Type> {
        match *self.type_data(self.elem_type(ty)) {
            TypeData::Complex(part) => Some(part),
            _ => None,
        }
    }

    /// Whether values of the type are complex numbers, or tensors of these.
    pub fn is_complex(&self, ty: Type) -> bool {
        self.complex_part(ty).is_some()
    }

    /// Whether values of the type change continuously: floats, complex numbers of floats, and tensors of these.
    pub fn is_continuous(&self, ty: Type) -> bool {
        match self.type_data(self.elem_type(ty)) {
            TypeData::Float(_) => true,
            TypeData::Complex(part) => matches!(self.type_data(*part), TypeData::Float(_)),
            _ => false,
        }
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
