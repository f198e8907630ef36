//! The rows by which nodes are read.

use pir_ir::{Attr, Context, Type};

use super::reader::{Reader, Result};

/// A function that reads a node.
pub(super) type Read = fn(&mut Reader<'_>, usize) -> Result<()>;

/// Operations that exist only in graphs.
pub(super) fn is_control_flow(op: &str) -> bool {
    matches!(
        op,
        "Switch"
            | "RefSwitch"
            | "_SwitchN"
            | "Merge"
            | "RefMerge"
            | "Enter"
            | "RefEnter"
            | "Exit"
            | "RefExit"
            | "NextIteration"
            | "RefNextIteration"
            | "LoopCond"
            | "StackV2"
            | "StackPushV2"
            | "StackPopV2"
    )
}

/// An operation, the types of its inputs and its attributes as in [`super::signature`], and its reader.
pub(super) type Row = (&'static str, &'static str, &'static str, Read);

/// The name of an operation without the prefix `Ref`.
pub(super) fn plain_name(op: &str) -> &str {
    op.strip_prefix("Ref")
        .filter(|rest| is_control_flow(rest))
        .unwrap_or(op)
}

/// A number as an attribute of the type of a constant.
pub(super) fn number_of(ctx: &Context, elem: Type, value: f64) -> Attr {
    match elem {
        Type::I1 => ctx.bool_attr(value != 0.0),
        elem if ctx.is_float(elem) => ctx.float_attr(value),
        _ => ctx.int_attr(value as i64),
    }
}
