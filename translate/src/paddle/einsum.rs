//! Gradients of `einsum`.
//!
//! PaddlePaddle's operation has two more results, which its gradient operation reads: what it has computed with, and its
//! operands, as `x_shape`. Here it has none of them, and the gradient operation becomes the products that it computes.

use pir_dialects::einsum::EinsumEquation;
use pir_dialects::pd;
use pir_ir::{Span, Type, TypeData, ValueId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::build::{Builder, SourceId, SourceOp};

type Values = SmallVec<[ValueId; 2]>;

/// The operands of `einsum` by the numbers of its result `x_shape`: of the list, and of its elements.
#[derive(Default)]
pub(super) struct Operands {
    lists: FxHashMap<SourceId, Values>,
    elements: FxHashMap<SourceId, ValueId>,
}

impl Builder<'_> {
    /// Records the operands, and appends what a gradient operation computes; false if the operation is still to be appended.
    pub(super) fn einsum(&mut self, source: &SourceOp) -> bool {
        let (first, result) = (source.operands.first(), source.results.first());
        let (Some(first), Some(&(result, ty))) = (first, result) else {
            return false;
        };
        match &*source.name {
            pd::Einsum::NAME => {
                let operands = self.lists.get(first).into_iter().flatten();
                let operands: Values = operands.filter_map(|&id| self.value(id)).collect();
                if let Some(&(shapes, _)) = source.results.get(2) {
                    self.einsums.lists.insert(shapes, operands);
                }
                false
            }
            "builtin.split" => {
                let operands = self.einsums.lists.get(first).into_iter().flatten();
                let elements = source.results.iter().map(|&(id, _)| id).zip(operands.copied());
                self.einsums.elements.extend(elements);
                false
            }
            "builtin.combine"
                if !source.operands.is_empty() && source.operands.iter().all(|id| self.surplus.contains(id)) =>
            {
                let operands = source.operands.iter().map(|id| self.einsums.elements.get(id).copied());
                if let Some(operands) = operands.collect::<Option<Values>>() {
                    self.einsums.lists.insert(result, operands);
                }
                self.surplus.insert(result);
                true
            }
            pd::EinsumGrad::NAME => self.einsum_grad(source, result, ty).is_some(),
            _ => false,
        }
    }

    /// The cotangent of each operand, as products of the cotangent of the result and the other operands.
    fn einsum_grad(&mut self, source: &SourceOp, result: SourceId, ty: Option<Type>) -> Option<()> {
        let (ctx, span) = (self.ctx, source.span);
        let operands = self.einsums.lists.get(source.operands.first()?)?.clone();
        let grad = self.value(*source.operands.get(2)?)?;
        let equation = source.attrs.iter().find(|(name, _)| ctx.str(*name) == "equation")?.1;
        let shapes = operands.iter().map(|&value| ctx.as_tensor(self.body.value_type(value)));
        let shapes: Vec<(&[i64], Type)> = shapes.collect::<Option<_>>()?;
        let equation =
            EinsumEquation::parse(ctx.attr_str(equation)?, shapes.iter().map(|(shape, _)| shape.len())).ok()?;
        if ty.is_none()
            || equation.inputs.len() != operands.len()
            || shapes
                .iter()
                .any(|(_, elem)| !ctx.is_float(*elem) && !ctx.is_complex(*elem))
        {
            return None;
        }
        let mut grads = Values::new();
        for (at, (shape, elem)) in shapes.into_iter().enumerate() {
            let (mut terms, mut factors) = (vec![String::from_iter(&equation.output)], Values::from_elem(grad, 1));
            for other in (0..operands.len()).filter(|&other| other != at) {
                terms.push(String::from_iter(&equation.inputs[other]));
                let (value, ty) = (operands[other], self.body.value_type(operands[other]));
                factors.push(match ctx.is_complex(ctx.elem_type(ty)) {
                    true => self.emit(pd::Conj::NAME, &[value], Some(ty), &[], span)?,
                    false => value,
                });
            }
            let indices = &equation.inputs[at];
            let is_first = |place: usize| !indices[..place].contains(&indices[place]);
            let is_read = |place: usize| terms.iter().any(|term| term.contains(indices[place]));
            let read: Vec<usize> = (0..indices.len()).filter(|&at| is_first(at) && is_read(at)).collect();
            let kept: String = read.iter().map(|&place| indices[place]).collect();
            let extents: Vec<i64> = read.iter().map(|&place| shape[place]).collect();
            if terms.len() > 1 || terms[0] != kept {
                let attrs = [("equation", ctx.str_attr(&format!("{}->{kept}", terms.join(","))))];
                let product = self.emit(
                    pd::Einsum::NAME,
                    &factors,
                    Some(ctx.tensor(&extents, elem)),
                    &attrs,
                    span,
                )?;
                factors = Values::from_elem(product, 1);
            }
            grads.push(self.spread(factors[0], &read, indices, (shape, elem), span)?);
        }
        let types: Vec<Type> = grads.iter().map(|&grad| self.body.value_type(grad)).collect();
        let list = ctx.intern_type(TypeData::List(types.into()));
        let list = self.emit("builtin.combine", &grads, Some(list), &[], span)?;
        self.define_if(result, Some(list));
        Some(())
    }

    /// The cotangent of an operand from one with the indices at these places: it is the same along the others, which are summed
    /// over, and zero where an index that the operand has twice has two values.
    fn spread(
        &mut self,
        grad: ValueId,
        read: &[usize],
        indices: &[char],
        (shape, elem): (&[i64], Type),
        span: Span,
    ) -> Option<ValueId> {
        let ctx = self.ctx;
        if read.len() == indices.len() {
            return Some(grad);
        }
        if shape.contains(&pir_ir::DYNAMIC) {
            return None;
        }
        let at = |places: &[usize]| -> Vec<i64> {
            let extents = shape.iter().enumerate();
            extents
                .map(|(at, &extent)| if places.contains(&at) { extent } else { 1 })
                .collect()
        };
        let reshaped = |builder: &mut Self, value: ValueId, shape: &[i64]| {
            let attrs = [("shape", ctx.ints_attr(shape))];
            builder.emit(pd::Reshape::NAME, &[value], Some(ctx.tensor(shape, elem)), &attrs, span)
        };
        let (mut out, mut places) = (reshaped(self, grad, &at(read))?, read.to_vec());
        for place in 0..indices.len() {
            let first = indices.iter().position(|index| *index == indices[place])?;
            if first == place {
                continue;
            }
            let size = ctx.int_attr(shape[place]);
            let attrs = [
                ("num_rows", size),
                ("num_columns", size),
                ("dtype", ctx.type_attr(elem)),
            ];
            let identity = self.emit(
                pd::Eye::NAME,
                &[],
                Some(ctx.tensor(&[shape[place]; 2], elem)),
                &attrs,
                span,
            )?;
            let identity = reshaped(self, identity, &at(&[first, place]))?;
            places.extend([first, place]);
            out = self.emit(
                pd::Multiply::NAME,
                &[out, identity],
                Some(ctx.tensor(&at(&places), elem)),
                &[],
                span,
            )?;
        }
        let attrs = [("shape", ctx.ints_attr(shape))];
        self.emit(pd::Expand::NAME, &[out], Some(ctx.tensor(shape, elem)), &attrs, span)
    }
}
