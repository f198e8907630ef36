//! Paddle's stacks.
//!
//! In PaddlePaddle, `cf.stack_create` gives a stack and two handles for its ends, and tuples are pushed and popped;
//! here there is only the stack, and single values are pushed. An empty tuple counts an iteration, so a value must be
//! pushed for it here.

use pir_dialects::{cf, pd};
use pir_ir::{Body, Context, OpId, Type, ValueDef, ValueId};

use super::build::{Builder, SourceOp};

/// Translates an operation on stacks; false for any other operation.
pub(crate) fn translate(builder: &mut Builder<'_>, source: &SourceOp) -> bool {
    match source.name.as_str() {
        "cf.stack_create" => create(builder, source),
        "cf.tuple_push" => push(builder, source),
        "cf.tuple_pop" => pop(builder, source),
        "cf.has_elements" => has_elements(builder, source),
        _ => return false,
    }
    true
}

fn create(builder: &mut Builder<'_>, source: &SourceOp) {
    let ty = cf::stack_type(builder.ctx);
    let stack = builder.emit(cf::CREATE_STACK, &[], Some(ty), &[], source.span);
    for &(id, _) in &source.results {
        builder.define_if(id, stack);
    }
}

fn push(builder: &mut Builder<'_>, source: &SourceOp) {
    let values: Vec<ValueId> = builder.operands(source);
    let Some((&stack, values)) = values.split_first() else {
        return;
    };
    for &value in values {
        builder.emit(cf::PUSH_BACK, &[stack, value], None, &[], source.span);
    }
    if values.is_empty() {
        let ctx = builder.ctx;
        let attrs = [
            ("shape", ctx.ints_attr(&[])),
            ("value", ctx.int_attr(0)),
            ("dtype", ctx.type_attr(Type::I64)),
        ];
        let ty = ctx.tensor(&[], Type::I64);
        if let Some(token) = builder.emit(pd::Full::NAME, &[], Some(ty), &attrs, source.span) {
            builder.emit(cf::PUSH_BACK, &[stack, token], None, &[], source.span);
        }
    }
}

fn pop(builder: &mut Builder<'_>, source: &SourceOp) {
    let Some(&stack) = builder.operands(source).first() else {
        return;
    };
    // The value that was pushed last is popped first.
    for &(id, ty) in source.results.iter().rev() {
        let value = builder.emit(cf::POP_BACK, &[stack], Some(ty.unwrap_or(Type::NONE)), &[], source.span);
        builder.define_if(id, value);
    }
    if source.results.is_empty() {
        let ty = builder.ctx.tensor(&[], Type::I64);
        builder.emit(cf::POP_BACK, &[stack], Some(ty), &[], source.span);
    }
}

fn has_elements(builder: &mut Builder<'_>, source: &SourceOp) {
    let Some(&stack) = builder.operands(source).first() else {
        return;
    };
    let Some(empty) = builder.emit(cf::IS_EMPTY, &[stack], Some(Type::I1), &[], source.span) else {
        return;
    };
    let some = builder.emit(pd::LogicalNot::NAME, &[empty], Some(Type::I1), &[], source.span);
    for &(id, _) in &source.results {
        builder.define_if(id, some);
    }
}

/// The stacks of a program.
pub(super) fn created(ctx: &Context, body: &Body) -> Vec<ValueId> {
    let is_stack = |&op: &OpId| ctx.op_str(body.op_name(op)) == cf::CREATE_STACK;
    let created = body.walk_all().filter(is_stack);
    created.filter_map(|op| body.results(op).next()).collect()
}

/// What is [`recorded`] on any of them.
pub(super) fn all_recorded(ctx: &Context, body: &Body) -> Vec<(ValueId, ValueId)> {
    let stacks = created(ctx, body).into_iter();
    stacks.flat_map(|stack| recorded(ctx, body, stack)).collect()
}

/// The values that are pushed on a stack, each with the one that is popped for it. PaddlePaddle pushes one tuple in one block, and pops it
/// in another; of other stacks nothing is known.
pub(super) fn recorded(ctx: &Context, body: &Body, stack: ValueId) -> Vec<(ValueId, ValueId)> {
    let named = |name: &str| -> Option<Vec<OpId>> {
        let is_named = |op: OpId| ctx.op_str(body.op_name(op)) == name;
        let mut users = body.uses(stack).map(|used| used.op).filter(|&op| is_named(op));
        let block = users.next().and_then(|op| body.op_block(op))?;
        users.all(|op| body.op_block(op) == Some(block)).then(|| {
            let all = body.block_ops(block);
            all.filter(|&op| is_named(op) && body.get_operand(op, 0) == Some(stack))
                .collect()
        })
    };
    let (Some(pushes), Some(pops)) = (named(cf::PUSH_BACK), named(cf::POP_BACK)) else {
        return Vec::new();
    };
    if pushes.len() != pops.len() {
        return Vec::new();
    }
    // The value that was pushed last is popped first.
    let pairs = pushes.iter().zip(pops.iter().rev());
    pairs
        .filter_map(|(&push, &pop)| Some((body.get_operand(push, 1)?, body.results(pop).next()?)))
        .collect()
}

/// The value that was pushed where one is popped.
pub(super) fn pushed(ctx: &Context, body: &Body, popped: ValueId) -> Option<ValueId> {
    let ValueDef::Result(op, _) = body.value_def(popped) else {
        return None;
    };
    let is_pop = ctx.op_str(body.op_name(op)) == cf::POP_BACK;
    let stack = body.get_operand(op, 0).filter(|_| is_pop)?;
    let pairs = recorded(ctx, body, stack);
    pairs
        .into_iter()
        .find_map(|(value, result)| (result == popped).then_some(value))
}
