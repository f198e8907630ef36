//! Attributes that only PaddlePaddle's operations have: kept as annotations, `paddle.name`, and written back.

use pir_dialects::formats;
use pir_ir::{Arity, Attr, Body, Context, Diagnostic, OpView};

/// The prefix of annotations.
pub(super) const PREFIX: &str = "paddle.";

/// Renames attributes that are neither declared nor marks of the tools. An attribute that PaddlePaddle's operation does
/// not declare is an error.
pub(super) fn keep(ctx: &Context, body: &mut Body, errors: &mut Vec<Diagnostic>) {
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
        let form = def.name.strip_prefix("pd.").and_then(formats::paddle);
        let is_theirs =
            |name: &str| name == "place" || form.is_some_and(|form| form.attributes.iter().any(|a| a.name == name));
        let axes = ctx
            .dict_get(body.attrs(op), "axis")
            .and_then(|axes| ctx.attr_ints(axes));
        let shape = body.get_operand(op, 0).and_then(|x| ctx.as_tensor(body.value_type(x)));
        // PaddlePaddle also sets the flag if the axes are all axes.
        let are_all = match axes {
            // If all are omitted.
            None => body.num_operands(op) == def.operands.iter().filter(|spec| spec.arity == Arity::One).count(),
            Some(axes) => axes.is_empty() || shape.is_some_and(|(shape, _)| axes.len() >= shape.len()),
        };
        for &(name, attr) in entries.iter().filter(|&&(name, _)| is_foreign(ctx.str(name))) {
            let name = ctx.str(name);
            let contradicts = name == "reduce_all" && ctx.attr_bool(attr) == Some(true) && !are_all;
            if contradicts || (def.name.starts_with("pd.") && !is_theirs(name)) {
                let message = match contradicts {
                    true => format!("`{}` has `reduce_all`, but not all axes", def.name),
                    false => format!("PaddlePaddle 3.3 has no attribute `{name}` of `{}`", def.name),
                };
                errors.push(
                    Diagnostic::error("paddle-attribute", message)
                        .label(body.op_span(op), "in this operation")
                        .help("remove the attribute; a name with a dot, like `my.note`, is kept as an annotation"),
                );
            }
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

/// The attribute with this name in PaddlePaddle: declared, or an annotation.
pub(super) fn get(view: OpView<'_>, name: &str) -> Option<Attr> {
    view.attr(name).or_else(|| view.attr(&format!("{PREFIX}{name}")))
}
