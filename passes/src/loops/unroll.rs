//! `unroll`: several iterations of a loop one behind the other.

use pir_dialects::pd;
use pir_ir::{Body, Context, Diagnostic, Module, OpId, Restated, Rewriter};
use smallvec::SmallVec;

use super::{Loop, copy_block, flag_later, grows, mapped};
use crate::analysis::{Constants, Counter, Facts, Limits, has_unknown_effects, known_path};
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
        "Put several iterations of a loop one behind the other"
    }

    fn description(&self) -> &'static str {
        "With `full`, a loop whose every condition can be computed is replaced by its iterations, inner loops first. With \
         `factor`, a loop that compares a counter, which changes by a constant, with a bound from outside does so many \
         iterations at a time as long as that many are left; the loop as it was does the rest. That is done to loops \
         without loops inside, whose cond region has neither branches nor effects."
    }

    fn options(&self) -> &'static [OptionSpec] {
        const OPTIONS: &[OptionSpec] = &[
            OptionSpec {
                name: "factor",
                kind: OptionKind::Int(2, 64),
                default: None,
                help: "how many iterations to do at a time",
            },
            OptionSpec {
                name: "full",
                kind: OptionKind::Bool,
                default: Some("false"),
                help: "replace whole loops by their iterations; the default if there is no factor",
            },
            OptionSpec {
                name: "max-ops",
                kind: OptionKind::Int(0, 1_000_000),
                default: Some("1024"),
                help: "leave a loop alone if more operations than this would be copied",
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
                changed |= unroll_all(&Constants::new(ctx, cx.evaluator, false), body, copies);
            }
            if let Some(factor) = factor {
                let facts = body.analysis::<Facts>(ctx);
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

/// Does `factor` iterations at a time, as long as so many are left.
fn unroll_by(ctx: &Context, body: &mut Body, facts: &Facts, l: Loop, factor: i64, copies: usize) -> Option<()> {
    if !l.is_innermost(ctx, body) || l.carries_handles(ctx, body) || !l.tests_quietly(body, facts) {
        return None;
    }
    let counter = Counter::of(ctx, body, l.op)?;
    if size(body, l.op).checked_mul(usize::try_from(factor).ok()?)? > copies {
        return None;
    }
    // That so many are left must follow from the last of them being one.
    if counter.step == 0 || grows(&counter) != (counter.step > 0) || counter.relation == pir_ir::Relation::NotEqual {
        return None;
    }
    counter.step.checked_mul(factor - 1)?;
    let constants = Constants::new(ctx, None, false);
    let (_, forwarded) = l.tested(body)?;
    let yielded = l.yielded(body);
    let operands = body.operands_vec(l.op);
    let mut rewriter = Rewriter::new(ctx, body);
    rewriter.before(l.op);
    let copy = rewriter.clone_op(l.op, &mut Default::default());
    let many = Loop::of(ctx, rewriter.body, copy)?;
    let (flag, many_forwarded) = many.tested(rewriter.body)?;
    let many_counter = Counter::of(ctx, rewriter.body, copy)?;
    let (later, number) = flag_later(&mut rewriter, &constants, flag, &many_counter, factor - 1)?;
    let ty = rewriter.body.value_type(flag);
    let mut both = rewriter
        .op(pd::LogicalAnd::NAME)
        .operands([flag, later])
        .result(ty)
        .value();
    // Unless it has run over: then it is on the wrong side of where it began.
    let first = rewriter
        .body
        .defining_op(number)
        .map(|add| rewriter.body.operand(add, 0))?;
    let order = if grows(&counter) {
        pd::GreaterThan::NAME
    } else {
        pd::LessThan::NAME
    };
    let ahead = rewriter.op(order).operands([number, first]).result(ty).value();
    both = rewriter
        .op(pd::LogicalAnd::NAME)
        .operands([both, ahead])
        .result(ty)
        .value();
    // The arguments come out as well: the rest begins with them.
    let args: SmallVec<[_; 6]> = rewriter.body.block_args(many.cond).into();
    let mut tested = SmallVec::<[_; 6]>::from_slice(&[both]);
    tested.extend(many_forwarded.iter().chain(&args).copied());
    rewriter.body.set_operands(many.test, &tested);
    for &arg in &args {
        let ty = rewriter.body.value_type(arg);
        rewriter.body.add_block_arg(many.body, ty, None);
    }
    // More iterations, copied from the loop as it was.
    rewriter.before(many.end);
    let mut next = rewriter.body.operands_vec(many.end);
    let mut restated = Restated::default();
    for _ in 1..factor {
        let map = copy_block(&mut rewriter, &mut restated, l.cond, &next);
        let values = mapped(&map, &forwarded);
        let map = copy_block(&mut rewriter, &mut restated, l.body, &values);
        next = mapped(&map, &yielded);
    }
    rewriter.body.set_operands(many.end, &next);
    let types: SmallVec<[_; 6]> = tested[1..].iter().map(|&v| rewriter.body.value_type(v)).collect();
    let new = rewriter.recreate(copy, &operands, &types);
    rewriter.body.erase_op(copy);
    let rest: SmallVec<[_; 6]> = rewriter.body.results(new).skip(many_forwarded.len()).collect();
    rewriter.body.set_operands(l.op, &rest);
    restated.finish(&mut rewriter);
    Some(())
}
