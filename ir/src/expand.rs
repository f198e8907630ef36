//! Putting what operations compute in their places.

use crate::body::{Body, OpView};
use crate::context::Context;
use crate::diagnostics::Diagnostic;
use crate::entity::OpId;
use crate::module::Module;
use crate::rewriter::Rewriter;

/// The maximum number of operations that expansions may add. Operations that expand to two others, which expand to two
/// others, would otherwise exhaust the memory.
const MAX_GROWTH: usize = 1_000_000;

/// Replaces composite operations by their expansions, including those in expansions. Operations that `keep` wants stay. Whether something
/// changed.
///
/// # Errors
/// The operations that cannot be expanded.
pub fn expand_composites(module: &mut Module, keep: &dyn Fn(OpView<'_>) -> bool) -> Result<bool, Vec<Diagnostic>> {
    expand_composites_but(module, keep, &|_| false)
}

/// The same; operations that cannot be expanded stay if `may_stay` allows it.
///
/// # Errors
/// The other operations that cannot be expanded.
pub fn expand_composites_but(
    module: &mut Module,
    keep: &dyn Fn(OpView<'_>) -> bool,
    may_stay: &dyn Fn(OpView<'_>) -> bool,
) -> Result<bool, Vec<Diagnostic>> {
    let ctx = module.ctx.clone();
    if !ctx.has_composites() {
        return Ok(false);
    }
    let mut growth = MAX_GROWTH.saturating_add(module.num_ops().saturating_mul(64));
    let mut changed = false;
    let mut pending = vec![&mut module.body];
    while let Some(body) = pending.pop() {
        changed |= expand_in(&ctx, body, keep, may_stay, &mut growth)?;
        pending.extend(body.isolated_ops_mut().map(|(_, _, inner)| inner));
    }
    Ok(changed)
}

/// The same for one body, without nested ones.
///
/// # Errors
/// The operations that cannot be expanded.
pub fn expand_composites_in(
    ctx: &Context,
    body: &mut Body,
    keep: &dyn Fn(OpView<'_>) -> bool,
) -> Result<bool, Vec<Diagnostic>> {
    if !ctx.has_composites() {
        return Ok(false);
    }
    let mut growth = MAX_GROWTH.saturating_add(body.num_ops().saturating_mul(64));
    expand_in(ctx, body, keep, &|_| false, &mut growth)
}

/// Whether an operation of the module is composite and not wanted by `keep`.
pub fn has_composites(module: &Module, keep: &dyn Fn(OpView<'_>) -> bool) -> bool {
    let mut found = false;
    if module.ctx.has_composites() {
        module.for_each_body(|body| {
            let mut ops = body.walk_all().map(|op| body.view(&module.ctx, op));
            found |= ops.any(|op| op.is_composite() && !keep(op));
        });
    }
    found
}

fn expand_in(
    ctx: &Context,
    body: &mut Body,
    keep: &dyn Fn(OpView<'_>) -> bool,
    may_stay: &dyn Fn(OpView<'_>) -> bool,
    growth: &mut usize,
) -> Result<bool, Vec<Diagnostic>> {
    let mut r = Rewriter::new(ctx, body);
    // From the front: operations with regions are expanded before those in them, which they read.
    let mut pending: Vec<OpId> = r.body.walk_all().collect();
    pending.reverse();
    let (mut changed, mut errors) = (false, Vec::new());
    while let Some(op) = pending.pop() {
        if !r.body.is_alive(op) {
            continue;
        }
        let view = r.view(op);
        if !view.is_composite() || keep(view) {
            continue;
        }
        let Some(semantics) = ctx.semantics(r.body.op_name(op)) else {
            continue;
        };
        let span = r.body.op_span(op);
        r.before(op).set_span(span);
        let mark = r.body.num_op_slots();
        let operands = r.body.operands_vec(op);
        match semantics.expand(&mut r, op, &operands) {
            Ok(values) => {
                // Expansions may hold composite operations in turn; they never hold themselves.
                let made = mark..r.body.num_op_slots();
                let size = made.len();
                pending.extend(made.map(OpId::new));
                for (old, new) in r.body.results(op).collect::<Vec<_>>().into_iter().zip(values) {
                    // A parameter that is returned keeps its name.
                    if r.body.defining_op(new).is_some_and(|made| made.index() >= mark) {
                        r.take_name(old, new);
                    }
                    r.replace_value(old, new);
                }
                r.erase_op(op);
                changed = true;
                let Some(left) = growth.checked_sub(size) else {
                    let message = "the expansion of the operations of this program has too many operations";
                    let error = Diagnostic::error("expansion", message).label(span, "this operation is expanded");
                    return Err(vec![
                        error.help("write an operation that is used often as a loop, or give it a kernel"),
                    ]);
                };
                *growth = left;
            }
            Err(_) if may_stay(r.view(op)) => r.erase_from(mark),
            Err(why) => errors.push(Diagnostic::error("expansion", why).label(span, "this operation")),
        }
    }
    match errors.is_empty() {
        true => Ok(changed),
        false => Err(errors),
    }
}
