//! The cotangents of the values of a block while its adjoint is built. A value without an entry has cotangent zero:
//! zeros stay symbolic until a region boundary asks for them.

use pir_dialects::pd::{self, evaluate};
use pir_ir::{Arith, ByValue, Context, OpId, Rewriter, Type, TypeData, ValueId};
use smallvec::SmallVec;

/// The cotangent of one value.
#[derive(Clone, Debug)]
pub(crate) enum Cotangent {
    /// The cotangent of a tensor or a scalar.
    One(ValueId),
    /// The cotangents of the elements of a list.
    List(Vec<Option<ValueId>>),
}

/// The cotangents of the values that are visible in a block.
#[derive(Clone, Default, Debug)]
pub(crate) struct Frame {
    entries: ByValue<Cotangent>,
}

impl Frame {
    /// Sets the cotangent of a value.
    pub(crate) fn set(&mut self, value: ValueId, grad: ValueId) {
        self.entries.insert(value, Cotangent::One(grad));
    }

    /// Sets the cotangent of a value, which may be a list.
    pub(crate) fn enter(&mut self, r: &mut Rewriter<'_>, value: ValueId, grad: ValueId) -> Result<(), String> {
        self.entries.remove(value);
        match is_list(r.ctx, r.body.value_type(value)) {
            true => self.add(r, value, grad),
            false => {
                self.set(value, grad);
                Ok(())
            }
        }
    }

    /// Takes over the cotangent that a value has elsewhere.
    pub(crate) fn share(&mut self, value: ValueId, from: &Frame) {
        if let Some(cotangent) = from.entries.get(value) {
            self.entries.insert(value, cotangent.clone());
        }
    }

    /// Adds to the cotangent of a value.
    pub(crate) fn add(&mut self, r: &mut Rewriter<'_>, value: ValueId, grad: ValueId) -> Result<(), String> {
        if let Some(types) = element_types(r.ctx, r.body.value_type(value)) {
            for (index, element) in elements(r, grad)?.into_iter().enumerate() {
                if types.get(index).is_some_and(|&ty| r.ctx.is_continuous(ty)) {
                    self.add_element(r, value, index, element)?;
                }
            }
            return Ok(());
        }
        let sum = match self.entries.get(value) {
            Some(&Cotangent::One(old)) => sum(r, old, grad)?,
            _ => grad,
        };
        if r.body.value_name(sum).is_none() {
            r.name_like(sum, value, "_grad");
        }
        self.set(value, sum);
        Ok(())
    }

    /// Adds to the cotangent of an element of a list.
    pub(crate) fn add_element(
        &mut self,
        r: &mut Rewriter<'_>,
        list: ValueId,
        index: usize,
        grad: ValueId,
    ) -> Result<(), String> {
        let len = match r.ctx.type_data(r.body.value_type(list)) {
            TypeData::List(items) => items.len(),
            _ => return Err("a list was expected".to_owned()),
        };
        if !self.has(list) {
            self.entries.insert(list, Cotangent::List(vec![None; len]));
        }
        if let Some(Cotangent::List(items)) = self.entries.get_mut(list)
            && let Some(slot) = items.get_mut(index)
        {
            *slot = Some(match *slot {
                Some(old) => r.compute(Arith::Add, &[old, grad])?,
                None => grad,
            });
        }
        Ok(())
    }

    /// Whether the value has a cotangent that is not zero.
    pub(crate) fn has(&self, value: ValueId) -> bool {
        self.entries.get(value).is_some()
    }

    /// The cotangent of a tensor.
    pub(crate) fn get(&self, value: ValueId) -> Option<ValueId> {
        match self.entries.get(value) {
            Some(&Cotangent::One(grad)) => Some(grad),
            _ => None,
        }
    }

    /// Removes and gives the cotangent of a tensor.
    pub(crate) fn take(&mut self, value: ValueId) -> Option<ValueId> {
        match self.entries.remove(value) {
            Some(Cotangent::One(grad)) => Some(grad),
            _ => None,
        }
    }

    /// Removes the cotangent of a list and gives it as a list, with zeros like the elements of `like`, which is visible
    /// where they are needed.
    pub(crate) fn take_whole(
        &mut self,
        r: &mut Rewriter<'_>,
        value: ValueId,
        like: ValueId,
    ) -> Result<ValueId, String> {
        let known = self.take_list(value);
        list_of(r, value, &known, like, "_grad")
    }

    /// Removes and gives the cotangents of the results of an operation, and those of the elements of the first result that
    /// is a list.
    pub(crate) fn take_results(
        &mut self,
        r: &Rewriter<'_>,
        op: OpId,
    ) -> (SmallVec<[Option<ValueId>; 2]>, Vec<Option<ValueId>>) {
        let list = r.body.results(op).find(|&v| is_list(r.ctx, r.body.value_type(v)));
        let elements = list.map(|v| self.take_list(v)).unwrap_or_default();
        let grads = r.body.results(op).map(|v| self.take(v)).collect();
        (grads, elements)
    }

    /// Removes and gives the cotangents of the elements of a list.
    pub(crate) fn take_list(&mut self, value: ValueId) -> Vec<Option<ValueId>> {
        match self.entries.remove(value) {
            Some(Cotangent::List(items)) => items,
            _ => Vec::new(),
        }
    }
}

/// Whether values of the type are lists.
pub(crate) fn is_list(ctx: &Context, ty: Type) -> bool {
    matches!(ctx.type_data(ty), TypeData::List(_))
}

/// The types of the elements of lists of a type.
fn element_types(ctx: &Context, ty: Type) -> Option<Vec<Type>> {
    match ctx.type_data(ty) {
        TypeData::List(items) => Some(items.to_vec()),
        _ => None,
    }
}

/// A list of cotangents or tangents of the elements of a list, with zeros like the elements of `like` for unknown ones.
pub(crate) fn list_of(
    r: &mut Rewriter<'_>,
    value: ValueId,
    known: &[Option<ValueId>],
    like: ValueId,
    suffix: &str,
) -> Result<ValueId, String> {
    let types = element_types(r.ctx, r.body.value_type(value)).ok_or("a list was expected")?;
    let mut shapes: Option<Vec<ValueId>> = None;
    let mut all = Vec::new();
    for (index, &ty) in types.iter().enumerate() {
        if let Some(&Some(grad)) = known.get(index) {
            all.push(grad);
            continue;
        }
        if r.ctx.as_tensor(ty).is_none() {
            let ty = pir_ir::text::print_type(r.ctx, ty);
            return Err(format!("a list with an element of type `{ty}` has no derivative"));
        }
        if r.ctx.is_static(ty) {
            all.push(evaluate(r, |scope| scope.full_of(ty, 0.0))?);
            continue;
        }
        let shapes = match &mut shapes {
            Some(shapes) => shapes,
            none => none.insert(elements(r, like)?),
        };
        let like = *shapes.get(index).ok_or("a list is shorter than its type")?;
        all.push(zeros_like(r, like)?);
    }
    let list = r.op("builtin.combine").operands(all).infer()?;
    let list = r.body.result(list, 0);
    r.name_like(list, value, suffix);
    Ok(list)
}

/// The elements of a list.
pub(crate) fn elements(r: &mut Rewriter<'_>, list: ValueId) -> Result<Vec<ValueId>, String> {
    if let Some(op) = r.body.defining_op(list)
        && r.view(op).name() == "builtin.combine"
    {
        return Ok(r.body.operands(op).collect());
    }
    let split = r.op("builtin.split").operand(list).infer()?;
    Ok(r.body.results(split).collect())
}

/// `old + grad`, or `old - x` where `grad` is `-x`.
fn sum(r: &mut Rewriter<'_>, old: ValueId, grad: ValueId) -> Result<ValueId, String> {
    let negated = r.body.defining_op(grad).filter(|&op| {
        let view = r.body.view(r.ctx, op);
        view.name() == pd::Scale::NAME
            && r.body.num_operands(op) == 1
            && view.f64("scale") == Some(-1.0)
            && view.f64("bias") == Some(0.0)
    });
    match negated {
        Some(op) => r.compute(Arith::Subtract, &[old, r.body.operand(op, 0)]),
        None => r.compute(Arith::Add, &[old, grad]),
    }
}

/// The cotangent in the other convention: that of a complex number is multiplied with the tangent here, as in JAX, and its conjugate
/// is in PaddlePaddle, which is the direction of steepest ascent.
pub(crate) fn conjugated(r: &mut Rewriter<'_>, grad: ValueId) -> ValueId {
    let ty = r.body.value_type(grad);
    match r.ctx.is_complex(ty) {
        true => r.op(pd::Conj::NAME).operand(grad).result(ty).value(),
        false => grad,
    }
}

/// Zeros of a type.
///
/// # Errors
/// When it is no tensor of static shape.
pub(crate) fn zeros_of(r: &mut Rewriter<'_>, ty: Type) -> Result<ValueId, String> {
    let elem = r.ctx.elem_type(ty);
    match r.ctx.as_tensor(ty) {
        Some((shape, _)) if r.ctx.is_static(ty) => pd::full_with(r, shape, 0, |o| o.dtype(elem)),
        _ => Err("the function that computes its derivative takes a cotangent of unknown shape".to_owned()),
    }
}

/// Zeros of the type of `like`, which is visible where they are needed.
pub(crate) fn zeros_like(r: &mut Rewriter<'_>, like: ValueId) -> Result<ValueId, String> {
    if is_list(r.ctx, r.body.value_type(like)) {
        return list_of(r, like, &[], like, "_grad");
    }
    r.filled_like(like, 0.0)
}
