//! Which values are constants.

use crate::body::Body;
use crate::context::Context;
use crate::declare::{FoldResult, Traits};
use crate::entity::ValueId;
use crate::types::{Attr, AttrData, TypeData};

impl Body {
    /// The constant that a value is, if a constant operation defines it, in the form of [`FoldResult::Constant`].
    pub fn constant(&self, ctx: &Context, value: ValueId) -> Option<Attr> {
        let op = self.defining_op(value)?;
        let view = self.view(ctx, op);
        let fold = view.def().filter(|d| d.has(Traits::CONSTANT))?.fold?;
        match fold(view, &[]).as_deref() {
            Some(&[FoldResult::Constant(attr)]) => Some(attr),
            _ => None,
        }
    }

    /// The whole number that a value is, if that is a constant.
    pub fn constant_int(&self, ctx: &Context, value: ValueId) -> Option<i128> {
        let view = self.view(ctx, self.defining_op(value)?);
        if view.has(Traits::CONSTANT)
            && let Some(attr) = view.attr("value")
        {
            // What most counters start from; folding would create the attribute once more.
            if let AttrData::Int { value, .. } = *ctx.attr_data(attr)
                && view.def().is_some_and(|def| def.fold.is_some())
                && view.operand(0).is_none()
                && view
                    .result_type(0)
                    .is_some_and(|ty| matches!(ctx.type_data(ctx.elem_type(ty)), TypeData::Integer { width: 2.., .. }))
            {
                return Some(value);
            }
            if let Some(elements) = ctx.attr_elements(attr) {
                return (elements.len() == 1)
                    .then(|| elements.ints()?.next().map(i128::from))
                    .flatten();
            }
        }
        match ctx.attr_data(self.constant(ctx, value)?) {
            AttrData::Int { value, .. } => Some(*value),
            AttrData::Ints(items) => <[i64; 1]>::try_from(&items[..]).ok().map(|[one]| one.into()),
            _ => None,
        }
    }
}
