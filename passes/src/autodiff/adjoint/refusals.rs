//! Diagnostics about operations that the derivative cannot pass through.

use pir_dialects::stablehlo::refine::is_dynamic;
use pir_ir::text::print_type;
use pir_ir::{Body, Context, Dependence, Diagnostic, OpId, Type, TypeData, Use, ValueDef, ValueId};
use smallvec::SmallVec;

use crate::analysis::is_handle_type;
use crate::autodiff::activity::{Activity, Path};
use crate::autodiff::control_ops::ControlOps;
use crate::autodiff::differentiable::has_cotangent;
use crate::autodiff::naming::spelled;
use crate::autodiff::rules::RuleTable;
use crate::autodiff::stacks::Mode;

pub(super) fn no_rule(ctx: &Context, body: &Body, activity: &Activity, op: OpId) -> Diagnostic {
    let name = ctx.op_str(body.op_name(op));
    refusal(ctx, body, activity, op, format!("`{name}` has no derivative"))
}

/// There is a rule, but not for values of this type.
fn no_rule_for(ctx: &Context, body: &Body, activity: &Activity, op: OpId, ty: Type) -> Diagnostic {
    let name = ctx.op_str(body.op_name(op));
    let message = format!(
        "`{name}` has no derivative for values of type `{}`",
        print_type(ctx, ty)
    );
    refusal(ctx, body, activity, op, message)
}

/// The rule is a convention of reverse mode.
fn no_tangents(ctx: &Context, body: &Body, activity: &Activity, op: OpId) -> Diagnostic {
    let name = ctx.op_str(body.op_name(op));
    let message =
        format!("`{name}` has no tangents: its derivative in reverse mode is not the transpose of what it computes");
    refusal(ctx, body, activity, op, message)
}

/// A `custom_vjp` may compute something other than a derivative, for example clipped cotangents: it does not determine
/// tangents.
fn only_reverse(ctx: &Context, body: &Body, activity: &Activity, op: OpId) -> Diagnostic {
    let message = "the callee has a reverse-mode derivative (`custom_vjp`), which does not determine tangents";
    let diagnostic =
        Diagnostic::error("no-derivative", message).label(body.op_span(op), "the derivative passes through here");
    reached(ctx, body, activity, op, diagnostic)
        .help("run `inline{custom-vjp=true}` before `jvp` to differentiate the body of the function")
}

fn refusal(ctx: &Context, body: &Body, activity: &Activity, op: OpId, message: String) -> Diagnostic {
    let diagnostic =
        Diagnostic::error("no-derivative", message).label(body.op_span(op), "the derivative passes through here");
    let diagnostic = reached(ctx, body, activity, op, diagnostic);
    let diagnostic = match body.results(op).find(|&v| activity.is_useful(v)) {
        Some(value) => {
            let path = spelled_path(ctx, body, &activity.path_from(value));
            diagnostic.note(format!("it reaches an output by {path}"))
        }
        None => diagnostic,
    };
    let diagnostic = match body.view(ctx, op).semantics() {
        Some(_) => diagnostic.note("its row declares neither `vjp` nor `computes`"),
        None => diagnostic,
    };
    let view = body.view(ctx, op);
    diagnostic.help(match view.attr("callee") {
        Some(_) => "inline the called function first",
        None if is_dynamic(view) => {
            "give the shapes of the inputs: `--input-shape x=4x3`, or the pass `refine-shapes{shapes=\"x=4x3\"}`"
        }
        None => {
            "if no gradient is needed, insert a `pd.detach` before it, or select other outputs with `of=` or other \
             inputs with `wrt=`"
        }
    })
}

/// Gives the path from an input to an operation that cannot be differentiated.
pub(super) fn reached(ctx: &Context, body: &Body, activity: &Activity, op: OpId, diagnostic: Diagnostic) -> Diagnostic {
    let active = (0..body.num_operands(op)).find(|&index| activity.passes_from(ctx, body, Use { op, index }));
    let value = active.map(|index| body.operand(op, index));
    let value = value.or_else(|| body.operands(op).find(|&v| activity.is_active(v)));
    let Some(value) = value.or_else(|| activity.varied_inside(body, op)) else {
        return diagnostic;
    };
    let path = spelled_path(ctx, body, &activity.path_to(value));
    diagnostic.note(format!("it is reached from an input by {path}"))
}

fn spelled_path(ctx: &Context, body: &Body, path: &Path) -> String {
    let spelled = |path: &[ValueId]| -> Vec<String> { path.iter().map(|&v| spelled(ctx, body, v)).collect() };
    let mut parts = spelled(&path.start);
    if path.left_out > 0 {
        parts.push(format!("({} more)", path.left_out));
    }
    parts.extend(spelled(&path.end));
    parts.dedup();
    parts.join(" -> ")
}

/// Reports every operation that the derivative passes through and that has no rule, or none for its types, before anything
/// is built. What is built afterwards relies on it: whatever is active has a cotangent.
pub(crate) fn check_rules(
    ctx: &Context,
    body: &Body,
    rules: &RuleTable,
    activity: &Activity,
    mode: Mode,
) -> Vec<Diagnostic> {
    let names = ControlOps::new(ctx);
    let mut errors: Vec<Diagnostic> = Vec::new();
    let mut fine = FineTypes::default();
    for op in body.walk_all() {
        // Nothing passes through an operation that only computes, unless to a result.
        if body.op_regions(op).is_empty() && !body.results(op).any(|v| activity.is_useful(v)) {
            continue;
        }
        if activity.passes_opaque(body, op) {
            errors.push(no_rule(ctx, body, activity, op));
            continue;
        }
        // The control flow in between is unknown.
        if mode == Mode::Reverse && activity.memory.pass_through(op) && names.kind(body, op).is_none() {
            errors.push(no_rule(ctx, body, activity, op));
            continue;
        }
        // How control goes through its regions is known, but it is neither a loop nor a branch of two, or has no adjoint.
        let in_reverse = || mode != Mode::Reverse || names.dual(body, op).is_some();
        if body.region_flow(ctx, op).is_some()
            && rules.get(body, op).is_none()
            && activity.passes_through(body, op)
            && (names.form(body, op).is_none() || !in_reverse())
        {
            errors.push(no_rule(ctx, body, activity, op));
            continue;
        }
        let is_pop = body.op_name(op) == names.pop;
        if mode == Mode::Reverse && activity.memory.active_access(ctx, body, op).is_some() {
            continue;
        }
        if names.kind(body, op).is_some() || body.flow_of_operands(ctx, op).is_some() {
            continue;
        }
        let rule = rules.get(body, op);
        let has_rule = rule.is_some();
        // Values that come off a stack other than by a pop, or off one that something unknown gave: it is not known which.
        let unknown = |index| body.view(ctx, op).dependence(index) == Dependence::Undeclared;
        let handle = |index| is_handle_type(ctx, body.value_type(body.operand(op, index)));
        let joined = || !is_pop && (0..body.num_operands(op)).any(|index| handle(index) && unknown(index));
        if !has_rule && joined() && body.results(op).any(|v| activity.is_useful(v)) {
            errors.push(no_rule(ctx, body, activity, op));
        } else if activity.passes(ctx, body, op) {
            match has_rule {
                true if mode == Mode::Forward && rules.custom(op).is_some() => {
                    errors.push(only_reverse(ctx, body, activity, op));
                }
                false => errors.push(no_rule(ctx, body, activity, op)),
                true if mode == Mode::Forward && rule.is_some_and(|rule| !rule.is_transpose) => {
                    errors.push(no_tangents(ctx, body, activity, op));
                }
                true => {
                    let view = body.view(ctx, op);
                    let for_complex = || {
                        let rule = rule.filter(|rule| !rule.holds_for(view));
                        rule.and_then(|_| view.complex_type())
                    };
                    let ty = unsupported(ctx, body, activity, op, &mut fine).or_else(for_complex);
                    errors.extend(ty.map(|ty| no_rule_for(ctx, body, activity, op, ty)));
                }
            }
        }
    }
    errors.extend(nested_lists(ctx, body, activity));
    errors.extend(activity.stacks.refusals(ctx, &names, body, mode));
    if mode == Mode::Reverse {
        errors.extend(activity.memory.refusals(ctx, body));
    }
    errors
}

/// Some of the types that a derivative passes through: few come in a program, and each again and again.
type FineTypes = SmallVec<[Type; 4]>;

/// The type of an operand or a result that the derivative passes through, if it can have no cotangent. Integers are only on
/// the way after an operation that declares nothing, and that is reported.
fn unsupported(ctx: &Context, body: &Body, activity: &Activity, op: OpId, fine: &mut FineTypes) -> Option<Type> {
    for index in 0..body.num_operands(op) {
        let (at, operand) = (Use { op, index }, body.operand(op, index));
        if !activity.is_active(operand) {
            continue;
        }
        for result in body.results(op) {
            let types = [operand, result].map(|v| body.value_type(v));
            if types.iter().all(|ty| fine.contains(ty)) {
                continue;
            }
            if activity.is_useful(result) && activity.carries(ctx, body, at, result) {
                for ty in types {
                    if fine.contains(&ty) {
                        continue;
                    }
                    if !has_cotangent(ctx, ty) && !ctx.is_discrete(ty) {
                        return Some(ty);
                    }
                    if fine.len() < fine.inline_size() {
                        fine.push(ty);
                    }
                }
            }
        }
    }
    None
}

/// Reports lists with elements other than tensors: they have no cotangents.
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
            "the derivative passes through the list {} of `{}`, but only lists of tensors have derivatives",
            spelled(ctx, body, value),
            print_type(ctx, body.value_type(value)),
        );
        let error = Diagnostic::error("list-derivative", message);
        let error = match op {
            Some(op) => error.label(body.op_span(op), "the derivative passes through here"),
            None => error,
        };
        error.help("put the tensors into one list, or pass them separately")
    };
    active.map(error).collect()
}
