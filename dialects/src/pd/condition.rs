//! Conditions: single booleans.

use pir_ir::{Attr, AttrData, Context, DYNAMIC, Type};

/// Whether a type is a single boolean.
pub(crate) fn is_condition(ctx: &Context, ty: Type) -> bool {
    match ctx.as_tensor(ty) {
        Some((shape, elem)) => elem == Type::I1 && shape.iter().all(|&d| d == 1 || d == DYNAMIC),
        None => ty == Type::I1,
    }
}

/// The boolean of a constant.
pub(crate) fn truth(ctx: &Context, value: Attr) -> Option<bool> {
    match ctx.attr_data(value) {
        AttrData::Ints(items) => match items[..] {
            [one] => Some(one != 0),
            _ => None,
        },
        AttrData::Array(items) => match items[..] {
            [one] => ctx.attr_bool(one),
            _ => None,
        },
        _ => ctx.attr_bool(value),
    }
}
