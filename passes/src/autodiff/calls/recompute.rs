//! Tapes are taken back: `@f.adjoint` takes the arguments of `@f` again, and computes what it reads once more.
//!
//! That is for what cannot carry stacks from function to function: a further differentiation, and `lower-stacks` to tensors. In a chain of
//! calls of depth n, what is innermost is computed n times then.
//!
//! First each adjoint becomes one function with the one that records for it: what that pushes on its tape is what this pops. Then the calls
//! give no tapes any more: where the handle of one was recorded, the operands of the call are.

use pir_dialects::marks::{ADJOINT, AUGMENTED};
use pir_dialects::{cf, func};
use pir_ir::{Body, Context, Diagnostic, Module, OpId, Rewriter, Sym, Type, ValueId, ValueMap};
use rustc_hash::FxHashMap;

use super::forget_unread;
use crate::analysis::Provenance;
use crate::autodiff::control_ops::ControlOps;
use crate::autodiff::functions::functions;
use crate::autodiff::lower::pairs_of_handles;
use crate::autodiff::memory::buffer_arguments;
use crate::autodiff::tapes::pairs_of_duals;
use crate::bodies::inner_bodies_mut;

/// Takes all tapes of a module back.
///
/// # Errors
/// When other passes have left it unclear which call reads which tape.
pub(crate) fn recompute(module: &mut Module) -> Result<bool, Vec<Diagnostic>> {
    let ctx = module.ctx.clone();
    let mut changed = false;
    let mut pending = vec![&mut module.body];
    while let Some(scope) = pending.pop() {
        changed |= in_scope(&ctx, scope).map_err(|error| vec![*error])?;
        pending.extend(inner_bodies_mut(&ctx, scope));
    }
    Ok(changed)
}

/// The calls in a body that return a tape, with their callees and adjoints.
fn calls(ctx: &Context, body: &Body) -> Vec<(OpId, Sym, Sym)> {
    let with_marks = |op: OpId| {
        AUGMENTED.get(ctx, body.attrs(op))?;
        let &[callee] = func::callee(ctx, body, op)? else {
            return None;
        };
        Some((op, callee, ADJOINT.symbol(ctx, body.attrs(op))?))
    };
    body.walk_all().filter_map(with_marks).collect()
}

fn in_scope(ctx: &Context, scope: &mut Body) -> Result<bool, Box<Diagnostic>> {
    let functions = functions(ctx, scope);
    let mut adjoints: FxHashMap<Sym, Sym> = FxHashMap::default();
    let isolated: Vec<OpId> = scope.walk_all().filter(|&op| scope.isolated(op).is_some()).collect();
    let bodies = std::iter::once(&*scope).chain(isolated.iter().filter_map(|&op| scope.isolated(op)));
    adjoints.extend(
        bodies
            .flat_map(|body| calls(ctx, body))
            .map(|(_, callee, adjoint)| (callee, adjoint)),
    );
    if adjoints.is_empty() {
        return Ok(false);
    }
    let mut order: Vec<(Sym, Sym)> = adjoints.into_iter().collect();
    order.sort_by_key(|&(callee, _)| functions.get(&callee).copied());
    let mut pairs = pairs_of_handles(ctx, &ControlOps::new(ctx), scope, &functions);
    let mut unneeded = Vec::new();
    for (callee, adjoint) in order {
        // An adjoint that nothing needs may have been removed.
        if let (Some(&augmented), Some(&adjoint)) = (functions.get(&callee), functions.get(&adjoint)) {
            let takes_buffers = scope
                .isolated(augmented)
                .is_some_and(|inner| !buffer_arguments(ctx, inner).is_empty());
            if takes_buffers {
                let message = format!(
                    "`@{}` would have to be computed again, but changes buffers",
                    ctx.str(callee)
                );
                let error = Diagnostic::error("no-derivative", message);
                return Err(Box::new(error.label(scope.op_span(augmented), "this function")));
            }
            join(ctx, scope, augmented, adjoint)?;
            // Operations in it are others now.
            pairs.retain(|push, pop| push.0 != augmented && pop.0 != adjoint);
            unneeded.push(augmented);
        }
    }
    take_back(ctx, scope, FxHashMap::default())?;
    for function in isolated.into_iter().filter(|function| !unneeded.contains(function)) {
        if let Some(inner) = scope.isolated_mut(function) {
            let own = pairs
                .iter()
                .filter(|(push, pop)| push.0 == function && pop.0 == function);
            take_back(ctx, inner, own.map(|(push, pop)| (push.1, pop.1)).collect())?;
        }
    }
    let mut r = Rewriter::new(ctx, scope);
    for function in unneeded {
        r.erase_op(function);
    }
    Ok(true)
}

fn unclear(body: &Body, op: OpId, what: &str) -> Box<Diagnostic> {
    let message = format!("the tape of a call cannot be removed: {what}");
    Box::new(
        Diagnostic::error("stack-derivative", message)
            .label(body.op_span(op), "here")
            .note("the derivative cannot recompute a function unless its call is known")
            .help("run this immediately after `backward`"),
    )
}

/// Makes one function, of arguments and cotangents, of the one that gives a tape and the one that takes it.
fn join(ctx: &Context, scope: &mut Body, augmented: OpId, adjoint: OpId) -> Result<(), Box<Diagnostic>> {
    let names = ControlOps::new(ctx);
    let (Some(forward), Some(dual)) = (scope.isolated(augmented), scope.isolated(adjoint)) else {
        return Ok(());
    };
    let wrong = |what: &str| Err(unclear(scope, adjoint, what));
    let mut body = forward.clone();
    let blocks = body.single_block(body.root()).zip(dual.single_block(dual.root()));
    let Some((block, dual_block)) = blocks else {
        return wrong("its function has several blocks");
    };
    let ends = body.last_op(block).zip(dual.last_op(dual_block));
    let (Some((end, dual_end)), [tape_taken, cotangents @ ..]) = (ends, dual.block_args(dual_block)) else {
        return wrong("its function takes no tape");
    };
    let tape = body.operands(end).next_back();
    let Some((tape, create)) = tape.and_then(|tape| Some((tape, body.defining_op(tape)?))) else {
        return wrong("its function returns no tape");
    };
    let on = |body: &Body, block, name, tape| -> Vec<OpId> {
        let ops = body.block_ops(block);
        ops.filter(|&op| body.op_name(op) == name && body.operand(op, 0) == tape)
            .collect()
    };
    let pushes = on(&body, block, names.push, tape);
    let pops = on(dual, dual_block, names.pop, *tape_taken);
    let is_known = body.op_name(create) == names.create
        && pushes.len() == pops.len()
        && body.uses(tape).count() == pushes.len() + 1
        && dual.uses(*tape_taken).count() == pops.len();
    if !is_known {
        return wrong("the pushed values differ from the popped ones");
    }
    let mut map = ValueMap::new();
    for &cotangent in cotangents {
        let name = dual.value_name(cotangent).filter(|name| !name.pack);
        map.insert(cotangent, body.add_block_arg(block, dual.value_type(cotangent), name));
    }
    for (&push, &pop) in pushes.iter().rev().zip(&pops) {
        map.insert(dual.result(pop, 0), body.operand(push, 1));
    }
    let mut r = Rewriter::new(ctx, &mut body);
    r.before(end);
    for op in dual
        .block_ops(dual_block)
        .filter(|op| *op != dual_end && !pops.contains(op))
    {
        r.import_op(dual, op, &mut map);
    }
    let gradients: Vec<ValueId> = dual.operands(dual_end).map(|value| map.get_or_self(value)).collect();
    r.body.set_operands(end, &gradients);
    for &op in pushes.iter().chain([&create]) {
        r.erase_op(op);
    }
    let types =
        |values: &mut dyn Iterator<Item = ValueId>| -> Vec<Type> { values.map(|v| body.value_type(v)).collect() };
    let inputs = types(&mut body.block_args(block).iter().copied());
    let results = types(&mut body.operands(end));
    scope.set_isolated(adjoint, body);
    func::set_type(ctx, scope, adjoint, &inputs, &results);
    Ok(())
}

/// Lets the calls of a body give no tapes. `pops` are the pops of pushes, as far as they are known.
fn take_back(ctx: &Context, body: &mut Body, mut pops: FxHashMap<OpId, OpId>) -> Result<(), Box<Diagnostic>> {
    let calls = calls(ctx, body);
    if calls.is_empty() {
        return Ok(());
    }
    let names = ControlOps::new(ctx);
    pops.extend(pairs_of_duals(&names, body, &body.analysis::<Provenance>(ctx)));
    let mut r = Rewriter::new(ctx, body);
    for (call, _, adjoint) in calls {
        let Some(tape) = r.body.results(call).next_back() else {
            continue;
        };
        let operands = r.body.operands_vec(call);
        let reads = |r: &Rewriter<'_>, op: OpId| func::callee(ctx, r.body, op) == Some(&[adjoint][..]);
        for at in r.body.uses(tape).collect::<Vec<_>>() {
            if reads(&r, at.op) {
                take_operands(&mut r, at.op, &operands);
                continue;
            }
            let pop = pops.get(&at.op).copied().filter(|_| at.index == 1);
            let Some(pop) = pop else {
                return Err(unclear(r.body, at.op, "it has uses other than the adjoint"));
            };
            let stack = [r.body.operand(at.op, 0), r.body.operand(pop, 0)];
            r.before(at.op);
            for &value in &operands {
                r.op(cf::PUSH_BACK).operand(stack[0]).operand(value).build();
            }
            r.before(pop);
            let mut popped = Vec::new();
            for &value in operands.iter().rev() {
                let ty = r.body.value_type(value);
                let again = r.op(cf::POP_BACK).operand(stack[1]).result(ty).value();
                r.take_name(value, again);
                popped.push(again);
            }
            popped.reverse();
            for at in r.body.uses(r.body.result(pop, 0)).collect::<Vec<_>>() {
                match reads(&r, at.op) {
                    true => take_operands(&mut r, at.op, &popped),
                    false => return Err(unclear(r.body, at.op, "it has uses other than the adjoint")),
                }
            }
            r.erase_op(pop);
            r.erase_op(at.op);
        }
    }
    forget_unread(ctx, body);
    Ok(())
}

/// Makes a call of an adjoint take operands instead of the tape.
fn take_operands(r: &mut Rewriter<'_>, call: OpId, operands: &[ValueId]) {
    let mut all = operands.to_vec();
    all.extend(r.body.operands(call).skip(1));
    r.body.set_operands(call, &all);
}
