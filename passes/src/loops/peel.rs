//! `peel`: the first or the last iteration of a loop by itself.

use pir_ir::{
    Arith, Body, Context, Diagnostic, FlowEdit, FlowPoint, Module, OpId, Restated, Rewriter, Structured, Type, ValueId,
};
use smallvec::SmallVec;

use super::{Loop, copy_block, flag_later, mapped};
use crate::analysis::{Constants, Counter};
use crate::bodies::for_each_body_mut;
use crate::options::{OptionKind, OptionSpec};
use crate::pass::{Changed, Pass, PassContext, Scope};

/// The pass `peel`.
pub struct Peel;

impl Pass for Peel {
    fn name(&self) -> &'static str {
        "peel"
    }

    fn summary(&self) -> &'static str {
        "Peel the first or the last iteration off a loop"
    }

    fn description(&self) -> &'static str {
        "Copies the iteration into a `pd.if` before or after the loop; the `pd.if` tests whether the iteration takes \
         place. The last iteration can be peeled off a counting loop, one that compares a counter with a loop-invariant \
         bound and changes it by a constant. Only innermost loops without branches in the cond region are peeled."
    }

    fn options(&self) -> &'static [OptionSpec] {
        const OPTIONS: &[OptionSpec] = &[
            OptionSpec {
                name: "first",
                kind: OptionKind::Bool,
                default: Some("false"),
                help: "peel the first iteration; the default without `last`",
            },
            OptionSpec {
                name: "last",
                kind: OptionKind::Bool,
                default: Some("false"),
                help: "peel the last iteration",
            },
        ];
        OPTIONS
    }

    fn scope(&self) -> Scope {
        Scope::Body
    }

    fn run(&self, module: &mut Module, cx: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
        let last = cx.options.flag("last");
        let first = cx.options.flag("first") || !last;
        for_each_body_mut(module, |ctx, body| {
            let mut changed = false;
            for l in Loop::all(ctx, body) {
                if !l.is_innermost(ctx, body) || l.carries_handles(ctx, body) {
                    continue;
                }
                let mut rest = Some(l);
                if last && let Some(shorter) = peel_last(ctx, body, l) {
                    rest = Loop::of(ctx, body, shorter);
                    changed = true;
                }
                changed |= first && rest.is_some_and(|l| peel_first(ctx, body, l).is_some());
            }
            Ok(changed.into())
        })
    }
}

/// A branch on `flag` here, whose results take the place of those of the loop `old`: what comes next goes into the region
/// that runs if it holds, the other yields `skipped`.
fn branch(
    rewriter: &mut Rewriter<'_>,
    flow: Structured,
    old: OpId,
    flag: ValueId,
    types: &[Type],
    skipped: &[ValueId],
) {
    let regions = [rewriter.body.create_region(), rewriter.body.create_region()];
    let [then, other] = regions.map(|r| rewriter.body.create_block(r));
    let new = rewriter.op(flow.branch).operand(flag).results(types.iter().copied());
    let new = new.region(regions[0]).region(regions[1]).build();
    for (old, new) in rewriter.body.results(old).zip(rewriter.body.results(new)) {
        rewriter.take_name(old, new);
        rewriter.replace_value(old, new);
    }
    let skipped = skipped.iter().copied();
    rewriter.at_end(other).op(flow.yields).operands(skipped).build();
    rewriter.at_end(then);
}

fn result_types(body: &Body, op: OpId) -> SmallVec<[Type; 6]> {
    body.results(op).map(|r| body.value_type(r)).collect()
}

fn peel_first(ctx: &Context, body: &mut Body, l: Loop) -> Option<()> {
    let (flag, forwarded) = l.tested(body)?;
    let flow = ctx.structured()?;
    let operands = body.operands_vec(l.op);
    let types = result_types(body, l.op);
    let yielded = l.yielded(body);
    let mut rewriter = Rewriter::new(ctx, body);
    let mut restated = Restated::default();
    rewriter.before(l.op);
    let map = copy_block(&mut rewriter, &mut restated, l.cond, &operands);
    let first = mapped(&map, &forwarded);
    branch(&mut rewriter, flow, l.op, map.get_or_self(flag), &types, &first);
    let map = copy_block(&mut rewriter, &mut restated, l.body, &first);
    rewriter.move_here(l.op);
    rewriter.body.set_operands(l.op, &mapped(&map, &yielded));
    let results = rewriter.body.results(l.op);
    rewriter.op(flow.yields).operands(results).build();
    restated.finish(&mut rewriter);
    Some(())
}

/// Gives the loop that is left.
fn peel_last(ctx: &Context, body: &mut Body, l: Loop) -> Option<OpId> {
    let counter = Counter::of(ctx, body, l.op)?;
    let constants = Constants::new(ctx, None, false);
    let (flag, forwarded) = l.tested(body)?;
    let yielded = l.yielded(body);
    let types = result_types(body, l.op);
    let flag_ty = body.value_type(flag);
    let (flow, arithmetic) = (ctx.structured()?, ctx.arithmetic(flag_ty)?);
    // The original condition becomes an additional result.
    let mut edit = FlowEdit::new(ctx, body, l.op).ok()?;
    let is_left = edit.add(FlowPoint::Parent, flag_ty, &[(l.tests, flag)]);
    let ready = edit.check(body).ok()?;
    let mut rewriter = Rewriter::new(ctx, body);
    let mut restated = Restated::default();
    let (later, _) = flag_later(&mut rewriter, &constants, flag, &counter, 1)?;
    // The loop continues only if another iteration follows this one.
    let both = arithmetic.emit(&mut rewriter, Arith::And, &[flag, later], flag_ty);
    let done = ready.apply(&mut rewriter, &[]);
    rewriter.body.set_operand(l.test, 0, both);
    let (shorter, left) = (done.op, done.result(rewriter.body, is_left));
    rewriter.after(shorter);
    let results: SmallVec<[_; 6]> = rewriter.body.results(shorter).take(types.len()).collect();
    branch(&mut rewriter, flow, shorter, left, &types, &results);
    results
        .iter()
        .for_each(|&value| rewriter.body.set_value_name(value, None));
    let map = copy_block(&mut rewriter, &mut restated, l.body, &results);
    // The condition as it was before: what was added is not read.
    let map = copy_block(&mut rewriter, &mut restated, l.cond, &mapped(&map, &yielded));
    let last = mapped(&map, &forwarded);
    rewriter.op(flow.yields).operands(last).build();
    restated.finish(&mut rewriter);
    Some(shorter)
}
