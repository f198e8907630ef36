//! `unroll`: several iterations of a loop one after the other.

use pir_ir::{Arith, Body, Context, Diagnostic, FlowEdit, FlowPoint, Module, OpId, Restated, Rewriter};
use smallvec::SmallVec;

use super::{Loop, copy_block, flag_later, grows, mapped};
use crate::analysis::{Constants, Counter, EffectAnalysis, Limits, has_unknown_effects, known_path};
use crate::bodies::for_each_body_mut;
use crate::options::{OptionKind, OptionSpec};
use crate::pass::{Changed, Pass, PassContext, Scope};

/// The pass `unroll`.
pub struct Unroll;

impl Pass for Unroll {
    fn name(&self) -> &'static str {
        "unroll"
    }

    fn summary(&self) -> &'static str {
        "Unroll loops"
    }

    fn description(&self) -> &'static str {
        "`full` replaces a loop whose conditions can all be evaluated with its iterations, inner loops first. `factor` \
         applies to innermost loops that compare a counter with a loop-invariant bound and change it by a constant: \
         each new iteration executes `factor` old ones while at least that many remain, and a copy of the original loop \
         executes the rest. The cond region must have no branches and no effects."
    }

    fn options(&self) -> &'static [OptionSpec] {
        const OPTIONS: &[OptionSpec] = &[
            OptionSpec {
                name: "factor",
                kind: OptionKind::Int(2, 64),
                default: None,
                help: "the number of old iterations in each new iteration",
            },
            OptionSpec {
                name: "full",
                kind: OptionKind::Bool,
                default: Some("false"),
                help: "unroll loops completely; the default without `factor`",
            },
            OptionSpec {
                name: "max-ops",
                kind: OptionKind::Int(0, 1_000_000),
                default: Some("1024"),
                help: "the maximum number of operations to copy for each loop",
            },
        ];
        OPTIONS
    }

    fn scope(&self) -> Scope {
        Scope::Body
    }

    fn run(&self, module: &mut Module, cx: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
        let factor = cx.options.int("factor");
        let full = cx.options.flag("full") || factor.is_none();
        let copies = cx
            .options
            .int("max-ops")
            .and_then(|n| usize::try_from(n).ok())
            .unwrap_or(0);
        for_each_body_mut(module, |ctx, body| {
            let mut changed = false;
            if full && !has_unknown_effects(ctx, body) {
                changed |= unroll_all(&Constants::new(ctx, cx.services.evaluator, false), body, copies);
            }
            if let Some(factor) = factor {
                let facts = body.analysis::<EffectAnalysis>(ctx);
                for l in Loop::all(ctx, body) {
                    changed |= unroll_by(ctx, body, &facts, l, factor, copies).is_some();
                }
            }
            Ok(changed.into())
        })
    }
}

/// Replaces loops by their iterations.
fn unroll_all(constants: &Constants<'_>, body: &mut Body, copies: usize) -> bool {
    let ctx = constants.ctx();
    let limits = Limits {
        compare: false,
        more_steps: usize::MAX,
        copies,
        copy_regions: true,
    };
    let mut changed = false;
    for op in body.post_order() {
        let repeats = body
            .region_flow(ctx, op)
            .is_some_and(|flow| (0..body.op_regions(op).len()).any(|r| flow.is_repeated(body.view(ctx, op), r)));
        if repeats && let Some(path) = known_path(constants, body, op, limits) {
            path.inline(ctx, body);
            changed = true;
        }
    }
    changed
}

fn size(body: &Body, op: OpId) -> usize {
    body.op_regions(op).iter().map(|&r| body.walk(r).count()).sum()
}

/// Executes `factor` iterations at a time while at least that many remain.
fn unroll_by(
    ctx: &Context,
    body: &mut Body,
    facts: &EffectAnalysis,
    l: Loop,
    factor: i64,
    copies: usize,
) -> Option<()> {
    if !l.is_innermost(ctx, body) || l.carries_handles(ctx, body) || !l.tests_quietly(body, facts) {
        return None;
    }
    let counter = Counter::of(ctx, body, l.op)?;
    if size(body, l.op).checked_mul(usize::try_from(factor).ok()?)? > copies {
        return None;
    }
    // The number of remaining iterations must follow from the last of them being one.
    if counter.step == 0 || grows(&counter) != (counter.step > 0) || counter.relation == pir_ir::Relation::NotEqual {
        return None;
    }
    counter.step.checked_mul(factor - 1)?;
    let mut rewriter = Rewriter::new(ctx, body);
    rewriter.before(l.op);
    let copy = rewriter.clone_op(l.op, &mut Default::default());
    let done = unroll_copy(&mut rewriter, l, copy, factor);
    if done.is_none() {
        rewriter.erase_op(copy);
    }
    done
}

/// Makes a copy of a loop do `factor` iterations at a time, and the loop the rest. When that cannot be done, the loop is as
/// it was, whatever the copy is.
fn unroll_copy(rewriter: &mut Rewriter<'_>, l: Loop, copy: OpId, factor: i64) -> Option<()> {
    let ctx = rewriter.ctx;
    let constants = Constants::new(ctx, None, false);
    let (_, forwarded) = l.tested(rewriter.body)?;
    let yielded = l.yielded(rewriter.body);
    let many = Loop::of(ctx, rewriter.body, copy)?;
    let (flag, many_forwarded) = many.tested(rewriter.body)?;
    let counter = Counter::of(ctx, rewriter.body, copy)?;
    let (later, number) = flag_later(rewriter, &constants, flag, &counter, factor - 1)?;
    let ty = rewriter.body.value_type(flag);
    let truths = ctx.arithmetic(ty)?;
    let numbers = ctx.arithmetic(rewriter.body.value_type(number))?;
    let mut both = truths.emit(rewriter, Arith::And, &[flag, later], ty);
    // Unless it has run over: then it is on the wrong side of where it began.
    let first = rewriter.body.operand(rewriter.body.defining_op(number)?, 0);
    let order = if grows(&counter) { Arith::Greater } else { Arith::Less };
    let ahead = numbers.emit(rewriter, order, &[number, first], ty);
    both = truths.emit(rewriter, Arith::And, &[both, ahead], ty);
    // The arguments come out as well: the rest begins with them.
    let args: SmallVec<[_; 6]> = rewriter.body.block_args(many.cond).into();
    let mut edit = FlowEdit::new(ctx, rewriter.body, copy).ok()?;
    for &arg in &args {
        edit.add(FlowPoint::Parent, rewriter.body.value_type(arg), &[(many.tests, arg)]);
    }
    let new = edit.check(rewriter.body).ok()?.apply(rewriter, &[]).op;
    rewriter.body.set_operand(many.test, 0, both);
    // More iterations, copied from the loop as it was.
    rewriter.before(many.end);
    let mut next = rewriter.body.operands_vec(many.end);
    let mut restated = Restated::default();
    for _ in 1..factor {
        let map = copy_block(rewriter, &mut restated, l.cond, &next);
        let values = mapped(&map, &forwarded);
        let map = copy_block(rewriter, &mut restated, l.body, &values);
        next = mapped(&map, &yielded);
    }
    rewriter.body.set_operands(many.end, &next);
    let results: SmallVec<[_; 6]> = rewriter.body.results(new).collect();
    results
        .iter()
        .for_each(|&value| rewriter.body.set_value_name(value, None));
    rewriter.body.set_operands(l.op, &results[many_forwarded.len()..]);
    restated.finish(rewriter);
    Some(())
}
