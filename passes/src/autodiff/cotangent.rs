//! The cotangents of the values of a block while its adjoint is built. A value without an entry has cotangent zero:
//! zeros stay symbolic until a region boundary asks for them.

use pir_ir::{Context, OpId, Rewriter, Type, TypeData, ValueId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::rules::emit;

/// The cotangent of one value.
#[derive(Clone, Debug)]
pub(crate) enum Cotangent {
    /// That of a tensor or a scalar.
    One(ValueId),
    /// Those of the elements of a list.
    List(Vec<Option<ValueId>>),
}

/// The cotangents of the values that are visible in a block.
#[derive(Clone, Default, Debug)]
pub(crate) struct Frame {
    entries: FxHashMap<ValueId, Cotangent>,
}

impl Frame {
    /// Sets the cotangent of a value.
    pub(crate) fn set(&mut self, value: ValueId, grad: ValueId) {
        self.entries.insert(value, Cotangent::One(grad));
    }

    /// Adds to the cotangent of a value.
    pub(crate) fn add(&mut self, r: &mut Rewriter<'_>, value: ValueId, grad: ValueId) -> Result<(), String> {
        let sum = match self.entries.get(&value) {
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
        let entry = self
            .entries
            .entry(list)
            .or_insert_with(|| Cotangent::List(vec![None; len]));
        if let Cotangent::List(items) = entry
            && let Some(slot) = items.get_mut(index)
        {
            *slot = Some(match *slot {
                Some(old) => emit(r, "pd.add", &[old, grad], &[])?,
                None => grad,
            });
        }
        Ok(())
    }

    /// Whether the value has a cotangent that is not zero.
    pub(crate) fn has(&self, value: ValueId) -> bool {
        self.entries.contains_key(&value)
    }

    /// The cotangent of a tensor.
    pub(crate) fn get(&self, value: ValueId) -> Option<ValueId> {
        match self.entries.get(&value) {
            Some(&Cotangent::One(grad)) => Some(grad),
            _ => None,
        }
    }

    /// Removes and gives the cotangent of a tensor.
    pub(crate) fn take(&mut self, value: ValueId) -> Option<ValueId> {
        match self.entries.remove(&value) {
            Some(Cotangent::One(grad)) => Some(grad),
            _ => None,
        }
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
        match self.entries.remove(&value) {
            Some(Cotangent::List(items)) => items,
            _ => Vec::new(),
        }
    }
}

/// Whether values of the type are lists.
pub(crate) fn is_list(ctx: &Context, ty: Type) -> bool {
    matches!(ctx.type_data(ty), TypeData::List(_))
}

/// `old + grad`, or `old - x` where `grad` is `-x`.
fn sum(r: &mut Rewriter<'_>, old: ValueId, grad: ValueId) -> Result<ValueId, String> {
    let negated = r.body.defining_op(grad).filter(|&op| {
        let view = r.body.view(r.ctx, op);
        view.name() == "pd.scale"
            && r.body.num_operands(op) == 1
            && view.f64("scale") == Some(-1.0)
            && view.f64("bias") == Some(0.0)
    });
    match negated {
        Some(op) => emit(r, "pd.subtract", &[old, r.body.operand(op, 0)], &[]),
        None => emit(r, "pd.add", &[old, grad], &[]),
    }
}

/// Zeros of the type of `like`, which is visible where they are needed.
pub(crate) fn zeros_like(r: &mut Rewriter<'_>, like: ValueId) -> Result<ValueId, String> {
    filled_like(r, like, 0.0)
}

/// A constant of the type of `like`.
pub(crate) fn filled_like(r: &mut Rewriter<'_>, like: ValueId, value: f64) -> Result<ValueId, String> {
    let ctx = r.ctx;
    let ty = r.body.value_type(like);
    let value = ctx.float_attr(value);
    if !ctx.is_static(ty) {
        return emit(r, "pd.full_like", &[like], &[("value", value)]);
    }
    let (shape, elem) = ctx.as_tensor(ty).map_or((&[][..], ty), |(shape, elem)| (shape, elem));
    let op = r
        .op("pd.full")
        .attr("shape", ctx.ints_attr(shape))
        .attr("value", value)
        .attr("dtype", ctx.type_attr(elem))
        .result(ty)
        .build();
    Ok(r.body.result(op, 0))
}
