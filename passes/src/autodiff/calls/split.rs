//! A function that was differentiated becomes one that records and one that reads the records.
//!
//! What the derivative reads of the first part, at the outermost level, is pushed on the tape, in order of definition, and popped in the
//! reverse order; the stacks of loops and branches are among it. Constants are in both.

use pir_dialects::cf;
use pir_dialects::func;
use pir_dialects::marks::{ADJOINT_FUNCTION, BACKWARD, COTANGENTS};
use pir_ir::{AttrDict, BlockId, Body, Context, OpId, OpSpec, Rewriter, Sym, Traits, Type, TypeData, ValueId};
use rustc_hash::FxHashSet;

use super::{forget_unread, take_away};
use crate::analysis::Variables;
use crate::autodiff::{prune, signature};

/// A function that was differentiated: what it computed before, and what was appended.
struct Parts {
    block: BlockId,
    forward: Vec<OpId>,
    dual: Vec<OpId>,
    end: OpId,
    /// The number of arguments that are not cotangents.
    arguments: usize,
    /// The number of results that are not gradients; the last of them is the tape.
    results: usize,
}

/// Splits a function in the scope of a symbol table. One that nothing was appended to only loses its mark.
pub(super) fn split(ctx: &Context, scope: &mut Body, function: OpId) {
    let attrs = scope.attrs(function);
    let adjoint = ADJOINT_FUNCTION.symbol(ctx, attrs);
    let counts = signature::cotangents(ctx, scope, function);
    let attrs = COTANGENTS.remove(ctx, ADJOINT_FUNCTION.remove(ctx, attrs));
    scope.set_attrs(function, attrs);
    let ty = scope
        .view(ctx, function)
        .ty("function_type")
        .map(|ty| ctx.type_data(ty));
    let (Some(TypeData::Function { inputs, results }), Some((cotangents, gradients)), Some(adjoint)) =
        (ty, counts, adjoint)
    else {
        return;
    };
    let Some(inner) = scope.isolated_mut(function) else {
        return;
    };
    // Pushes and pops in different functions cannot be paired.
    if inner.analysis::<Variables>(ctx).is_empty() {
        prune::run(ctx, inner);
    }
    forget_unread(ctx, inner);
    let arguments = inputs.len().saturating_sub(cotangents);
    let kept = results.len().saturating_sub(gradients);
    let Some(parts) = parts(ctx, inner, arguments, kept) else {
        return;
    };
    take_away(ctx, inner, &BACKWARD);
    let recorded = parts.recorded(ctx, inner);
    let mut dual = inner.clone();
    parts.make_adjoint(ctx, &mut dual, &recorded);
    parts.make_augmented(ctx, inner, &recorded);
    func::set_type(ctx, scope, function, &inputs[..arguments], &results[..kept]);
    let taken: Vec<Type> = std::iter::once(cf::stack_type(ctx))
        .chain(inputs[arguments..].iter().copied())
        .collect();
    declare(ctx, scope, function, adjoint, (&taken, &results[kept..]), dual);
}

fn parts(ctx: &Context, body: &Body, arguments: usize, results: usize) -> Option<Parts> {
    let block = body.single_block(body.root())?;
    let mut forward = body.block_ops_vec(block);
    let end = forward.pop()?;
    let first = forward
        .iter()
        .position(|&op| BACKWARD.get(ctx, body.attrs(op)).is_some())?;
    let dual = forward.split_off(first);
    Some(Parts {
        block,
        forward,
        dual,
        end,
        arguments,
        results,
    })
}

impl Parts {
    /// The values of the first part that the second one reads, in order of definition.
    fn recorded(&self, ctx: &Context, body: &Body) -> Vec<ValueId> {
        let inside = |&op: &OpId| {
            let nested = body.op_regions(op).iter().flat_map(|&region| body.walk(region));
            std::iter::once(op).chain(nested).collect::<Vec<_>>()
        };
        let dual = self.dual.iter().flat_map(inside).flat_map(|op| body.operands(op));
        let read: FxHashSet<ValueId> = dual.chain(body.operands(self.end).skip(self.results)).collect();
        let arguments = body.block_args(self.block).iter().copied().take(self.arguments);
        let computed = self.forward.iter().filter(|&&op| !is_constant(ctx, body, op));
        arguments
            .chain(computed.flat_map(|&op| body.results(op)))
            .filter(|value| read.contains(value))
            .collect()
    }

    /// The function that records.
    fn make_augmented(&self, ctx: &Context, body: &mut Body, recorded: &[ValueId]) {
        let kept: Vec<ValueId> = body.operands(self.end).take(self.results).collect();
        body.set_operands(self.end, &kept);
        let mut r = Rewriter::new(ctx, body);
        for &op in self.dual.iter().rev() {
            r.erase_op(op);
        }
        if let Some(&tape) = kept.last() {
            for &value in recorded {
                r.before(self.end)
                    .op(cf::PUSH_BACK)
                    .operand(tape)
                    .operand(value)
                    .build();
            }
        }
        body.retain_block_args(self.block, |at| at < self.arguments);
    }

    /// The function that reads the records.
    fn make_adjoint(&self, ctx: &Context, body: &mut Body, recorded: &[ValueId]) {
        let gradients: Vec<ValueId> = body.operands(self.end).skip(self.results).collect();
        body.set_operands(self.end, &gradients);
        let old = body.block_args(self.block).to_vec();
        let tape = body.add_block_arg(self.block, cf::stack_type(ctx), None);
        for &cotangent in old.iter().skip(self.arguments) {
            let (ty, name) = (body.value_type(cotangent), body.value_name(cotangent));
            let argument = body.add_block_arg(self.block, ty, name.filter(|name| !name.pack));
            body.replace_all_uses(cotangent, argument);
        }
        let mut r = Rewriter::new(ctx, body);
        r.name(tape, "tape");
        r.at_start(self.block);
        for &value in recorded.iter().rev() {
            let ty = r.body.value_type(value);
            let popped = r.op(cf::POP_BACK).operand(tape).result(ty).value();
            r.replace_and_rename(value, popped);
        }
        for &op in self.forward.iter().rev() {
            let is_read = r.body.results(op).any(|value| r.body.has_uses(value));
            if !(is_read && is_constant(ctx, r.body, op)) {
                r.erase_op(op);
            }
        }
        body.retain_block_args(self.block, |at| at >= old.len());
    }
}

fn is_constant(ctx: &Context, body: &Body, op: OpId) -> bool {
    body.view(ctx, op).has(Traits::CONSTANT) && body.num_operands(op) == 0
}

/// Adds a function after another one, with its attributes.
fn declare(ctx: &Context, scope: &mut Body, after: OpId, name: Sym, types: (&[Type], &[Type]), body: Body) {
    let mut attrs: AttrDict = scope.attrs(after);
    for of_values in ["arg_attrs", "res_attrs"] {
        attrs = ctx.dict_without(attrs, of_values);
    }
    attrs = ctx.dict_with(attrs, "sym_name", ctx.str_attr(ctx.str(name)));
    let ty = ctx.function_type(types.0, types.1);
    let mut spec = OpSpec::new(scope.op_name(after));
    spec.attrs = ctx.dict_with(attrs, "function_type", ctx.type_attr(ty));
    spec.span = scope.op_span(after);
    let function = scope.create_op(spec);
    scope.set_isolated(function, body);
    scope.insert_after(after, function);
}
