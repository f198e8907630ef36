//! What is said of operations that the derivative cannot pass through.

use pir_ir::{Body, Context, Diagnostic, OpId, TypeData, ValueDef, ValueId};

use crate::analysis::is_handle_type;
use crate::autodiff::activity::{Activity, is_differentiable};
use crate::autodiff::rules::Rules;
use crate::autodiff::stacks::Mode;
use crate::autodiff::structure::Names;

pub(super) fn no_rule(ctx: &Context, body: &Body, activity: &Activity, op: OpId) -> Diagnostic {
    let name = ctx.op_str(body.op_name(op));
    let diagnostic = Diagnostic::error("no-derivative", format!("`{name}` has no derivative"))
        .label(body.op_span(op), "the derivative passes through here");
    let diagnostic = reached(ctx, body, activity, op, diagnostic);
    let inlined = "choose other outputs with `of=` or other inputs with `wrt=`";
    let help = match body.view(ctx, op).attr("callee") {
        Some(_) => "inline the called function first".to_owned(),
        None => inlined.to_owned(),
    };
    diagnostic.help(help)
}

/// Tells the way from an input to an operation that cannot be differentiated.
pub(super) fn reached(ctx: &Context, body: &Body, activity: &Activity, op: OpId, diagnostic: Diagnostic) -> Diagnostic {
    let Some(value) = body.operands(op).find(|&v| activity.is_active(v)) else {
        return diagnostic;
    };
    let path = activity.path_to(value).into_iter().map(|v| spelled(ctx, body, v));
    let path: Vec<String> = path.collect();
    diagnostic.note(format!("it is reached from an input by {}", path.join(" -> ")))
}

/// A value as a user would call it.
pub(crate) fn spelled(ctx: &Context, body: &Body, value: ValueId) -> String {
    match (body.value_name(value), body.value_def(value)) {
        (Some(name), _) => format!("%{}", ctx.name_text(name.name)),
        (None, ValueDef::Result(op, _)) => format!("`{}`", ctx.op_str(body.op_name(op))),
        _ => value.to_string(),
    }
}

/// Reports every operation that the derivative passes through and that has no rule, before anything is built.
pub(crate) fn check_rules(
    ctx: &Context,
    body: &Body,
    rules: &Rules,
    activity: &Activity,
    mode: Mode,
) -> Vec<Diagnostic> {
    let names = Names::new(ctx);
    let mut errors: Vec<Diagnostic> = body
        .walk_all()
        .filter(|&op| {
            // Values that come off a stack other than by a pop: it is not known which.
            let name = body.op_name(op);
            let joined = body.operands(op).any(|v| is_handle_type(ctx, body.value_type(v))) && name != names.pop;
            names.kind(body, op).is_none()
                && rules.get(body, op).is_none()
                && (joined && body.results(op).any(|v| activity.is_useful(v))
                    || body.results(op).any(|v| activity.is_active(v))
                        && body
                            .operands(op)
                            .any(|v| activity.is_active(v) && is_differentiable(ctx, body.value_type(v))))
        })
        .map(|op| no_rule(ctx, body, activity, op))
        .collect();
    errors.extend(nested_lists(ctx, body, activity));
    errors.extend(activity.stacks.refusals(ctx, &names, body, mode));
    errors
}

/// Reports lists of which the elements are more than tensors: they have no cotangents.
fn nested_lists(ctx: &Context, body: &Body, activity: &Activity) -> Vec<Diagnostic> {
    let nested = |value: ValueId| match ctx.type_data(body.value_type(value)) {
        TypeData::List(items) => items.iter().any(|&t| ctx.as_tensor(t).is_none()),
        _ => false,
    };
    let values = (0..body.num_value_slots()).map(ValueId::new);
    let active = values.filter(|&v| activity.is_active(v) && nested(v));
    let error = |value: ValueId| {
        let op = match body.value_def(value) {
            ValueDef::Result(op, _) => Some(op),
            ValueDef::Arg(block, _) => body.block_parent(block),
            ValueDef::None => None,
        };
        let message = format!(
            "the derivative passes through the list {} of `{}`, and only lists of tensors have derivatives",
            spelled(ctx, body, value),
            pir_ir::text::print_type(ctx, body.value_type(value)),
        );
        let error = Diagnostic::error("list-derivative", message);
        let error = match op {
            Some(op) => error.label(body.op_span(op), "the derivative passes through here"),
            None => error,
        };
        error.help("put the tensors into one list, or hand them on one by one")
    };
    active.map(error).collect()
}
