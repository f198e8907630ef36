//! Attributes of PaddlePaddle's operations that ours do not have: kept as notes, `paddle.name`, and written back.

use pir_ir::{Attr, Body, Context, OpView};

/// What the names of notes begin with.
pub(super) const PREFIX: &str = "paddle.";

/// Renames attributes that are neither declared nor marks of the tools.
pub(super) fn keep(ctx: &Context, body: &mut Body) {
    let ops: Vec<_> = body.walk_all().collect();
    for op in ops {
        let Some(def) = ctx.op_def(body.op_name(op)) else {
            continue;
        };
        let entries = ctx.dict_entries(body.attrs(op));
        let is_foreign = |name: &str| {
            let is_mark = || ctx.marks().iter().any(|mark| mark.name == name && mark.may_sit_on(def));
            !name.contains('.') && def.attrs.iter().all(|spec| spec.name != name) && !is_mark()
        };
        if entries.iter().all(|&(name, _)| !is_foreign(ctx.str(name))) {
            continue;
        }
        let renamed: Vec<_> = entries
            .iter()
            .map(|&(name, attr)| match ctx.str(name) {
                text if is_foreign(text) => (ctx.sym(&format!("{PREFIX}{text}")), attr),
                _ => (name, attr),
            })
            .collect();
        body.set_attrs(op, ctx.dict(&renamed));
    }
}

/// The attribute of Paddle's of this name: ours, or the note of it.
pub(super) fn get(view: OpView<'_>, name: &str) -> Option<Attr> {
    view.attr(name).or_else(|| view.attr(&format!("{PREFIX}{name}")))
}
