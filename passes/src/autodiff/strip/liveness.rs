//! By liveness: what nothing needs without the gradients is removed.
//!
//! A stack is dead when nothing alive reads it; then its users are what makes it, pushes, and the yields and results that
//! hand it on. The pops were removed before, with the duals that they are in, because no result that stays needs them.

use pir_dialects::marks::BACKWARD;
use pir_ir::{Body, Context, OpId, Rewriter};

use super::super::control_ops::ControlOps;
use super::super::loop_editing::remove_stack;
use super::{fetches_gradient, is_gradient, marks, outermost};
use crate::analysis::{EffectAnalysis, Liveness, Roots, sweep};

/// Removes the gradients of a body and what is dead without them.
pub(super) fn run(ctx: &Context, body: &mut Body) -> bool {
    let Some((block, end)) = outermost(ctx, body) else {
        return false;
    };
    let mut found = false;
    for op in body.block_ops_vec(block) {
        if fetches_gradient(ctx, body, op) {
            body.erase_op(op);
            found = true;
        }
    }
    if let Some(end) = end {
        // In a function names are all there is to go by, unless marks are left.
        let marked: usize = marks(ctx, body, block).iter().map(|&(_, count)| count).sum();
        let mut left = if marked > 0 { marked } else { usize::MAX };
        let mut kept = body.num_operands(end);
        while left > 0 && kept > 0 {
            let name = body.value_name(body.operand(end, kept - 1));
            if marked == 0 && !name.is_some_and(|name| is_gradient(&ctx.name_text(name.name))) {
                break;
            }
            kept -= 1;
            left -= 1;
            found = true;
        }
        body.truncate_operands(end, kept);
    }
    if !found {
        return false;
    }
    let facts = body.analysis::<EffectAnalysis>(ctx);
    let live = Liveness::new(ctx, body, facts.effects(), Roots::Observed);
    sweep(ctx, body, &live);
    let names = ControlOps::new(ctx);
    let mut r = Rewriter::new(ctx, body);
    for op in r.body.walk_all().collect::<Vec<OpId>>() {
        if names.form(r.body, op).is_some_and(|s| s.entry.is_some()) {
            remove_stack(&mut r, &names, op);
        }
    }
    for op in body.block_ops_vec(block) {
        if BACKWARD.get(ctx, body.attrs(op)).is_some() {
            let attrs = BACKWARD.remove(ctx, body.attrs(op));
            body.set_attrs(op, attrs);
        }
    }
    true
}
