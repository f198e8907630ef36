//! Verifiers of control flow: the rules of the specification, sections 1 and 2, each with a separate message.

use crate::cf;
use pir_ir::verify::{compatible, describe_value};
use pir_ir::{BlockId, Diagnostic, OpId, OpView, Part, RegionId, Type, ValueId};

use super::condition::is_condition;
use crate::cf::is_stack;

fn error(op: OpView<'_>, at: OpId, code: &'static str, message: String, help: &str) -> Diagnostic {
    let mut diagnostic = Diagnostic::error(code, message)
        .label(op.body.op_span(at), "here")
        .help(help);
    if at != op.op {
        diagnostic = diagnostic.label(
            op.body.op_span(op.op),
            format!("in the regions of this `{}`", op.name()),
        );
    }
    diagnostic
}

fn spelled(op: OpView<'_>, ty: Type) -> String {
    pir_ir::text::print_type(op.ctx, ty)
}

/// The operand at `index` must be a boolean.
pub(super) fn condition(op: OpView<'_>, index: usize, errors: &mut Vec<Diagnostic>) {
    if let Some(ty) = op.operand_type(index).filter(|&t| !is_condition(op.ctx, t)) {
        errors.push(error(
            op,
            op.op,
            "condition-type",
            format!(
                "the condition of `{}` must be a single boolean, not `{}`",
                op.name(),
                spelled(op, ty)
            ),
            "a condition has type `i1`, `tensor<i1>` or `tensor<1xi1>`; compare, or reduce with `pd.all`",
        ));
    }
}

/// The single block of a region, and its terminator, which must be `terminator`.
fn block_ending_in(
    op: OpView<'_>,
    region: RegionId,
    name: &str,
    terminator: &str,
    errors: &mut Vec<Diagnostic>,
) -> Option<(BlockId, OpId)> {
    let Some(block) = op.body.single_block(region) else {
        let count = op.body.region_blocks(region).len();
        errors.push(error(
            op,
            op.op,
            "region-blocks",
            format!(
                "the region `{name}` of `{}` must have exactly one block, not {count}",
                op.name()
            ),
            "branches between blocks are only possible in functions",
        ));
        return None;
    };
    let Some(end) = op.body.last_op(block) else {
        errors.push(error(
            op,
            op.op,
            "region-terminator",
            format!("the region `{name}` of `{}` must end in `{terminator}`", op.name()),
            &format!("add `{terminator} (…)`"),
        ));
        return None;
    };
    if op.ctx.op_str(op.body.op_name(end)) != terminator {
        errors.push(error(
            op,
            end,
            "region-terminator",
            format!("the region `{name}` of `{}` must end in `{terminator}`", op.name()),
            &format!("add `{terminator} (…)` after this operation, or replace it"),
        ));
        return None;
    }
    Some((block, end))
}

/// Checks that values match the values they are bound to, in number and in types.
struct Binding<'a> {
    code: &'static str,
    /// The operation whose operands the given values are.
    at: OpId,
    /// How many operands of it are before them; `None` if they are not its operands as they are written.
    first: Option<usize>,
    /// The name of a given value in messages, in the singular.
    given: &'a str,
    /// The name of a wanted value in messages, in the singular.
    wanted: &'a str,
    help: &'a str,
}

fn bind(op: OpView<'_>, binding: &Binding<'_>, given: &[Type], wanted: &[Type], errors: &mut Vec<Diagnostic>) {
    let Binding {
        code,
        at,
        first,
        given: g,
        wanted: w,
        help,
    } = *binding;
    if given.is_empty() && !wanted.is_empty() && at != op.op {
        let count = counted(wanted.len(), w);
        let message = format!("`{}` declares {count}, but its region yields none", op.name());
        errors.push(with_last_value(op, at, wanted, error(op, at, code, message, help)));
        return;
    }
    if given.len() != wanted.len() {
        let message = format!(
            "expected {}, one for each {w}, found {}",
            counted(wanted.len(), g),
            given.len()
        );
        errors.push(match first {
            Some(first) if given.len() > wanted.len() => {
                too_many(op, binding, first, given.len(), wanted.len(), message)
            }
            _ => error(op, at, code, message, help),
        });
        return;
    }
    for (index, (&a, &b)) in given.iter().zip(wanted).enumerate() {
        if !compatible(op.ctx, a, b) {
            let (a, b) = (spelled(op, a), spelled(op, b));
            let message = format!("{g} #{index} has type `{a}`, but {w} #{index} has type `{b}`");
            let mut diagnostic = error(op, at, code, message, help);
            if let (Some(first), Some(label)) = (first, diagnostic.labels.first_mut()) {
                label.part = Some(Part::Operand(first + index));
                label.text.clone_from(&a);
            }
            if w == RESULT {
                let from = op.body.op_span(op.op);
                diagnostic = diagnostic
                    .label_part(from, Part::ResultType(index), format!("declared as `{b}`"))
                    .help(format!("yield a value of type `{b}`, or declare the result as `{a}`"));
                if others_yield(op, at, index, &a) {
                    diagnostic = diagnostic.edit_part(from, Part::ResultType(index), a);
                }
            }
            errors.push(diagnostic);
        }
    }
}

/// The name of a result in messages.
const RESULT: &str = "result";

/// Whether all regions yield a value of a type at `index`; `at` is the terminator of one that does.
fn others_yield(op: OpView<'_>, at: OpId, index: usize, ty: &str) -> bool {
    op.body.op_regions(op.op).iter().all(|&region| {
        let Some(end) = op.body.region_terminator(region) else {
            return false;
        };
        let value = op.body.operands(end).nth(index);
        end == at || value.is_some_and(|v| spelled(op, op.body.value_type(v)) == ty)
    })
}

/// Offers to yield the results of the last operation of a region, if they are what the region should yield.
fn with_last_value(op: OpView<'_>, end: OpId, wanted: &[Type], diagnostic: Diagnostic) -> Diagnostic {
    let last = op.body.op_block(end).and_then(|block| {
        let before = op.body.block_ops(block).take_while(|&o| o != end);
        before.last()
    });
    let Some(last) = last else { return diagnostic };
    let results: Vec<ValueId> = op.body.results(last).collect();
    let fits = results.len() == wanted.len()
        && results
            .iter()
            .zip(wanted)
            .all(|(&value, &ty)| compatible(op.ctx, op.body.value_type(value), ty));
    let names: Vec<String> = results.iter().map(|&v| describe_value(op.ctx, op.body, v)).collect();
    if !fits || !names.iter().all(|name| name.starts_with('%')) {
        return diagnostic;
    }
    let line = format!("{} ({})", cf::YIELD, names.join(", "));
    let help = format!("end the region in `{line}`");
    diagnostic
        .help(help)
        .edit_part(op.body.op_span(end), Part::BlockEnd, line)
}

/// Points at the first of the values that nothing takes, and offers to remove one that is alone.
fn too_many(
    op: OpView<'_>,
    binding: &Binding<'_>,
    first: usize,
    given: usize,
    wanted: usize,
    message: String,
) -> Diagnostic {
    let Binding {
        code,
        at,
        given: g,
        wanted: w,
        help,
        ..
    } = *binding;
    let extra = first + wanted;
    let mut diagnostic = error(op, at, code, message, help);
    if let Some(label) = diagnostic.labels.first_mut() {
        label.part = Some(Part::Operand(extra));
        label.text = format!("there is no {w} for this {g}");
    }
    if given != wanted + 1 {
        return diagnostic;
    }
    let name = op
        .body
        .operands(at)
        .nth(extra)
        .map(|v| describe_value(op.ctx, op.body, v));
    diagnostic
        .help(format!(
            "remove {}, or add a {w} for it",
            name.as_deref().unwrap_or("it")
        ))
        .edit_part(op.body.op_span(at), Part::OperandAndComma(extra), "")
}

/// A count with a name, given in the singular.
fn counted(count: usize, name: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {name}{plural}")
}

fn types(op: OpView<'_>, values: impl IntoIterator<Item = ValueId>) -> Vec<Type> {
    values.into_iter().map(|v| op.body.value_type(v)).collect()
}

/// A value that replaces the first operand must have its type.
pub(super) fn in_place(op: OpView<'_>, errors: &mut Vec<Diagnostic>) {
    let (Some(x), Some(y)) = (op.operand_type(0), op.operand_type(1)) else {
        return;
    };
    let shape = |ty| op.ctx.as_tensor(ty).map_or(&[][..], |(shape, _)| shape);
    let (to, from) = (shape(x), shape(y));
    let fits = op.ctx.elem_type(x) == op.ctx.elem_type(y)
        && from.len() <= to.len()
        && to
            .iter()
            .rev()
            .zip(from.iter().rev())
            .all(|(&t, &f)| f == 1 || f < 0 || t < 0 || t == f);
    if !fits {
        errors.push(error(
            op,
            op.op,
            "in-place-type",
            format!(
                "`{}` cannot store the sum of `{}` and `{}` in the first operand",
                op.name(),
                spelled(op, x),
                spelled(op, y)
            ),
            "the element types must be the same, and the second operand must broadcast to the first",
        ));
    }
}

/// `pd.if` and `pd.if_grad`.
pub(super) fn if_op(op: OpView<'_>, errors: &mut Vec<Diagnostic>) {
    condition(op, 0, errors);
    let results = types(op, op.body.results(op.op));
    let (init, then, other) = match *op.body.op_regions(op.op) {
        [then, other] => (None, then, other),
        [init, then, other] => (Some(init), then, other),
        _ => return,
    };
    if let Some(init) = init {
        init_of_if(op, init, errors);
        if !results.last().is_some_and(|&t| is_stack(op.ctx, t)) {
            errors.push(error(
                op,
                op.op,
                "if-stack-result",
                format!(
                    "the last result of a `{}` with an init region must be its stack",
                    op.name()
                ),
                "yield the stack last from both branches: `… : T, cf.stack`",
            ));
        }
    }
    for (region, name) in [(then, "then"), (other, "else")] {
        if name == "else" && op.body.region_blocks(region).is_empty() {
            if results.len() > usize::from(init.is_some()) {
                errors.push(error(
                    op,
                    op.op,
                    "if-else-missing",
                    format!("a `{}` with results needs an `else` region", op.name()),
                    "add `else { … cf.yield (…) }`, or drop the results",
                ));
            }
            continue;
        }
        let Some((block, end)) = block_ending_in(op, region, name, cf::YIELD, errors) else {
            continue;
        };
        let args = types(op, op.body.block_args(block).iter().copied());
        match (init, &args[..]) {
            (None, []) => {}
            (None, _) => errors.push(error(
                op,
                op.op,
                "if-arguments",
                format!(
                    "the region `{name}` of a `{}` without init region has no arguments",
                    op.name()
                ),
                "use the values of the surrounding region directly",
            )),
            (Some(_), [one]) if is_stack(op.ctx, *one) => {}
            (Some(_), _) => errors.push(error(
                op,
                op.op,
                "if-stack-argument",
                format!(
                    "the region `{name}` of a `{}` with an init region has the stack as its only argument",
                    op.name()
                ),
                &format!("write `{name} (%stack: cf.stack) {{ … }}`"),
            )),
        }
        let binding = Binding {
            code: "if-yield",
            at: end,
            first: Some(0),
            given: "yielded value",
            wanted: RESULT,
            help: "end both branches in a `cf.yield` with one value for each result, of the same type",
        };
        bind(op, &binding, &types(op, op.body.operands(end)), &results, errors);
    }
}

fn init_of_if(op: OpView<'_>, region: RegionId, errors: &mut Vec<Diagnostic>) {
    let Some((block, end)) = block_ending_in(op, region, "init", cf::YIELD, errors) else {
        return;
    };
    let ops: Vec<OpId> = op.body.block_ops(block).collect();
    let creates = ops.len() == 2 && op.ctx.op_str(op.body.op_name(ops[0])) == cf::CREATE_STACK;
    let yields =
        creates && op.body.num_operands(end) == 1 && op.body.defining_op(op.body.operand(end, 0)) == Some(ops[0]);
    if !yields || !op.body.block_args(block).is_empty() {
        errors.push(error(
            op,
            end,
            "if-init",
            format!(
                "the init region of a `{}` must create a stack and yield it, and do nothing else",
                op.name()
            ),
            "write `init { %stack = cf.create_stack () cf.yield (%stack) }`",
        ));
    }
}

/// `pd.while` and `pd.while_grad`.
pub(super) fn while_op(op: OpView<'_>, errors: &mut Vec<Diagnostic>) {
    let (init, cond, body) = match *op.body.op_regions(op.op) {
        [cond, body] => (None, cond, body),
        [init, cond, body] => (Some(init), cond, body),
        _ => return,
    };
    let operands = types(op, op.body.operands(op.op));
    let results = types(op, op.body.results(op.op));
    let entered = match init {
        Some(region) => {
            let Some(entered) = init_of_while(op, region, &operands, errors) else {
                return;
            };
            if !results.last().is_some_and(|&t| is_stack(op.ctx, t)) {
                errors.push(error(
                    op,
                    op.op,
                    "while-stack-result",
                    format!(
                        "the last result of a `{}` with an init region must be its stack",
                        op.name()
                    ),
                    "forward the stack last from the cond region: `cf.cond_yield (%c, …, %stack)`",
                ));
            }
            entered
        }
        None => operands,
    };
    let cond = block_ending_in(op, cond, "cond", cf::COND_YIELD, errors);
    let body = block_ending_in(op, body, "body", cf::YIELD, errors);
    let (Some((cond_block, cond_end)), Some((body_block, body_end))) = (cond, body) else {
        return;
    };
    let cond_args = types(op, op.body.block_args(cond_block).iter().copied());
    let body_args = types(op, op.body.block_args(body_block).iter().copied());
    let forwarded = types(op, op.body.operands(cond_end).skip(1));
    if let Some(flag) = op
        .body
        .operands(cond_end)
        .next()
        .map(|v| op.body.value_type(v))
        .filter(|&t| !is_condition(op.ctx, t))
    {
        errors.push(error(
            op,
            cond_end,
            "condition-type",
            format!(
                "the first operand of `cf.cond_yield` must be a single boolean, not `{}`",
                spelled(op, flag)
            ),
            "a condition has type `i1`, `tensor<i1>` or `tensor<1xi1>`; compare, or reduce with `pd.all`",
        ));
    }
    let given = if init.is_some() {
        "value from the init region"
    } else {
        "operand"
    };
    let mut check = |code, (at, first), given, wanted, help, a: &[Type], b: &[Type]| {
        bind(
            op,
            &Binding {
                code,
                at,
                first,
                given,
                wanted,
                help,
            },
            a,
            b,
            errors,
        );
    };
    check(
        "while-cond-arguments",
        (op.op, init.is_none().then_some(0)),
        given,
        "cond region argument",
        "the cond region must have one argument for each operand, of the same type",
        &entered,
        &cond_args,
    );
    check(
        "while-body-arguments",
        (cond_end, Some(1)),
        "forwarded value",
        "body region argument",
        "the body region must have an argument for each value that `cf.cond_yield` forwards after the condition",
        &forwarded,
        &body_args,
    );
    check(
        "while-body-yield",
        (body_end, Some(0)),
        "yielded value",
        "cond region argument",
        "end the body in a `cf.yield` with one value for each argument of the cond region, of the same type",
        &types(op, op.body.operands(body_end)),
        &cond_args,
    );
}

/// Checks the init region of a loop and returns the types that it yields.
fn init_of_while(
    op: OpView<'_>,
    region: RegionId,
    operands: &[Type],
    errors: &mut Vec<Diagnostic>,
) -> Option<Vec<Type>> {
    let (block, end) = block_ending_in(op, region, "init", cf::YIELD, errors)?;
    let args = op.body.block_args(block).to_vec();
    let binding = Binding {
        code: "while-init-arguments",
        at: op.op,
        first: Some(0),
        given: "operand",
        wanted: "init region argument",
        help: "the init region must have one argument for each operand, of the same type",
    };
    bind(op, &binding, operands, &types(op, args.iter().copied()), errors);
    let ops: Vec<OpId> = op.body.block_ops(block).collect();
    let yielded: Vec<ValueId> = op.body.operands(end).collect();
    let creates = ops.len() == 2 && op.ctx.op_str(op.body.op_name(ops[0])) == cf::CREATE_STACK;
    let passes = yielded
        .split_last()
        .is_some_and(|(&stack, rest)| rest == &args[..] && creates && op.body.defining_op(stack) == Some(ops[0]));
    if !passes {
        errors.push(error(
            op,
            end,
            "while-init",
            format!(
                "the init region of a `{}` must create a stack and yield it after its arguments, and do nothing else",
                op.name()
            ),
            "write `init (%a: T) { %stack = cf.create_stack () cf.yield (%a, %stack) }`",
        ));
    }
    Some(types(op, yielded))
}
