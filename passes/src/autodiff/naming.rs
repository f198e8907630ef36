//! Names of new values, and of values in messages.

use pir_ir::{Body, Context, ValueDef, ValueId};
use rustc_hash::FxHashSet;

/// `base`, with a number if the name is taken, as in a program that was differentiated before.
pub(crate) fn free_name(base: &str, taken: &mut FxHashSet<String>) -> String {
    let mut name = base.to_owned();
    let mut number = 2;
    while !taken.insert(name.clone()) {
        name = format!("{base}_{number}");
        number += 1;
    }
    name
}

/// A value as a user would call it.
pub(crate) fn spelled(ctx: &Context, body: &Body, value: ValueId) -> String {
    match (body.value_name(value), body.value_def(value)) {
        (Some(name), _) => format!("%{}", ctx.name_text(name.name)),
        (None, ValueDef::Result(op, _)) => format!("`{}`", ctx.op_str(body.op_name(op))),
        _ => value.to_string(),
    }
}
