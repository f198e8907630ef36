//! Types that follow from others.

use smallvec::SmallVec;

use super::schema::TypeFn;
use crate::context::Context;
use crate::types::{Type, TypeData};

impl Context {
    /// Applies a type function; `None` if the type is of another kind.
    pub(crate) fn ods_type(&self, function: TypeFn, ty: Type) -> Option<SmallVec<[Type; 4]>> {
        let one = |ty| Some(SmallVec::from_slice(&[ty]));
        match (function, self.type_data(ty)) {
            (TypeFn::Elem, data) => one(element(data)?),
            (TypeFn::I1, data) => one(self.with_element(data, Type::I1)),
            (
                TypeFn::Tensor,
                TypeData::MemRef {
                    shape: Some(shape),
                    elem,
                    ..
                },
            ) => one(self.tensor(shape, *elem)),
            (TypeFn::Tensor, TypeData::MemRef { elem, .. }) => one(self.intern_type(TypeData::UnrankedTensor(*elem))),
            (TypeFn::Inputs, TypeData::Function { inputs, .. }) => Some(inputs.iter().copied().collect()),
            (TypeFn::Results, TypeData::Function { results, .. }) => Some(results.iter().copied().collect()),
            (TypeFn::Half | TypeFn::Double, TypeData::Vector { shape, scalable, elem }) => {
                let (mut shape, mut scalable) = (shape.to_vec(), scalable.to_vec());
                match (shape.last_mut(), function) {
                    (Some(last), TypeFn::Half) => *last /= 2,
                    (Some(last), _) => *last = last.saturating_mul(2),
                    (None, TypeFn::Half) => {}
                    (None, _) => {
                        shape.push(2);
                        scalable.push(false);
                    }
                }
                one(self.intern_type(TypeData::Vector {
                    shape: shape.into(),
                    scalable: scalable.into(),
                    elem: *elem,
                }))
            }
            _ => None,
        }
    }

    /// A type of the same shape with other elements.
    fn with_element(&self, data: &TypeData, elem: Type) -> Type {
        let data = match data {
            TypeData::Tensor { shape, .. } => TypeData::Tensor {
                shape: shape.clone(),
                elem,
            },
            TypeData::EncodedTensor { shape, encoding, .. } => TypeData::EncodedTensor {
                shape: shape.clone(),
                elem,
                encoding: *encoding,
            },
            TypeData::UnrankedTensor(_) => TypeData::UnrankedTensor(elem),
            TypeData::Vector { shape, scalable, .. } => TypeData::Vector {
                shape: shape.clone(),
                scalable: scalable.clone(),
                elem,
            },
            _ => return elem,
        };
        self.intern_type(data)
    }
}

/// The element type of a shaped type.
fn element(data: &TypeData) -> Option<Type> {
    match data {
        TypeData::Tensor { elem, .. }
        | TypeData::EncodedTensor { elem, .. }
        | TypeData::UnrankedTensor(elem)
        | TypeData::MemRef { elem, .. }
        | TypeData::Vector { elem, .. }
        | TypeData::Complex(elem) => Some(*elem),
        _ => None,
    }
}
